//! The path from the bridge's commands to the hard IP: the queue of commands, the queue of reads that need credits, and
//! the FIFO of the transmit stream.
//!
//! A packet is read out of the queue of commands when it is whole, and goes word by word into the transmit FIFO, which
//! takes about 11 words while the hard IP is not ready. A request for an interrupt message goes through the same queue,
//! but not through the FIFO (RTL that Quartus 16.0 generates for the Stratix V Avalon-MM bridge, 128 bits).

use std::collections::VecDeque;

use super::{CREDIT_CYCLES, MSI_CYCLES, TAGS};
use crate::{
    bus::{Answer, Bus},
    extent::Extent,
    pcie::Pcie,
};

/// Cycles from a command's being written into the queue to its being read.
const QUEUED: u64 = 4;
/// Cycles from a word's being written into the FIFO to its standing at the hard IP.
const BUFFERED: u64 = 3;
/// Words that the transmit FIFO and the registers around it take.
const FIFO: usize = 11;
/// Commands in the queue with which no further one is begun.
const COMMANDS: usize = 8;
/// Reads that wait for credits.
const ASIDE: usize = 64;

/// A command.
#[derive(Debug)]
pub(super) enum Command {
    /// A packet of writes, whose dwords are in a buffer.
    Write {
        /// Bus address of the first beat; `None` if no memory is there.
        address: Option<u64>,
        extent: Extent,
        beats: u32,
        slot: u32,
    },
    Read {
        tag: u8,
        address: Option<u64>,
        bytes: u32,
        /// An injected fault of the read as a whole.
        fault: Option<Answer>,
    },
    Message,
    /// A completion for the host, of one dword.
    Answer,
}

/// A word in the FIFO.
#[derive(Debug)]
struct Word {
    at: u64,
    /// The packet whose last word it is.
    ends: Option<Command>,
}

#[derive(Debug)]
pub(super) struct Transmit {
    commands: VecDeque<(u64, Command)>,
    aside: VecDeque<Command>,
    /// The packet that goes into the FIFO, and its words that are still to go.
    current: Option<(Command, u32)>,
    fifo: VecDeque<Word>,
    /// First cycle in which the control moves again.
    next: u64,
    /// Beats of writes that wait in front of the FIFO.
    pub(super) beats: u32,
    /// Cycles at which credits for reads come back.
    returns: VecDeque<u64>,
    credits: Option<u32>,
    /// Time at which the completion for the host has crossed the link.
    pub(super) answered: Option<u64>,
}

/// Destination of packets, with the time.
pub(super) struct Exit<'a> {
    pub pcie: &'a mut Pcie,
    pub bus: &'a mut Bus,
    /// Whether the hard IP takes a word in this cycle, if the link has room.
    pub ready: bool,
    /// Femtoseconds.
    pub now: u64,
    pub cycle: u64,
}

impl Transmit {
    pub(super) fn new(credits: Option<u32>) -> Self {
        Self {
            commands: VecDeque::with_capacity(16),
            aside: VecDeque::new(),
            current: None,
            fifo: VecDeque::with_capacity(16),
            next: 0,
            beats: 0,
            returns: VecDeque::new(),
            credits,
            answered: None,
        }
    }

    /// Returns whether a command may begin, or be written into the queue.
    pub(super) fn has_room(&self) -> bool {
        self.commands.len() <= COMMANDS
    }

    /// Returns whether nothing is on its way.
    pub(super) fn quiet(&self) -> bool {
        self.commands.is_empty()
            && self.aside.is_empty()
            && self.current.is_none()
            && self.fifo.is_empty()
    }

    /// Writes a command into the queue.
    pub(super) fn push(&mut self, cycle: u64, command: Command) {
        self.commands.push_back((cycle + QUEUED, command));
    }

    /// Drops all commands, and all packets on their way.
    pub(super) fn reset(&mut self, pcie: &mut Pcie) {
        let mut all: Vec<_> = self.commands.drain(..).map(|(_, one)| one).collect();
        all.extend(self.aside.drain(..));
        all.extend(self.current.take().map(|(one, _)| one));
        all.extend(self.fifo.drain(..).filter_map(|word| word.ends));
        for command in all {
            if let Command::Write { slot, .. } = command {
                pcie.release(slot);
            }
        }
        self.returns.clear();
        self.beats = 0;
        self.next = 0;
    }

    /// Returns whether a read may leave: there are credits and a tag for it.
    fn may_read(&self, tags: u32) -> bool {
        let used = self.returns.len() as u32;
        self.credits.is_none_or(|credits| used < credits) && tags < TAGS as u32
    }

    /// Advances the control by a cycle. Counts the tags in use.
    #[inline]
    pub(super) fn tick(&mut self, tags: &mut u32, exit: &mut Exit<'_>) {
        let cycle = exit.cycle;
        while self.returns.front().is_some_and(|at| *at <= cycle) {
            self.returns.pop_front();
        }
        if let Some(word) = self.fifo.front()
            && word.at <= cycle
            && exit.ready
            && !exit.pcie.full()
            && let Some(Word {
                ends: Some(command),
                ..
            }) = self.fifo.pop_front()
        {
            self.leave(command, exit);
        }
        if self.next > cycle {
            return;
        }
        if self.current.is_some() {
            self.advance(tags, exit);
        } else {
            self.begin(*tags, exit);
        }
    }

    /// Looks for the next command.
    fn begin(&mut self, tags: u32, exit: &mut Exit<'_>) {
        let cycle = exit.cycle;
        if self.may_read(tags)
            && let Some(read) = self.aside.pop_front()
        {
            self.current = Some((read, 1));
            self.next = cycle + 2;
            return;
        }
        if self.commands.front().is_none_or(|(at, _)| *at > cycle) {
            return;
        }
        let Some((_, command)) = self.commands.pop_front() else {
            return;
        };
        let words = match &command {
            Command::Read { .. } if !self.aside.is_empty() || !self.may_read(tags) => {
                debug_assert!(self.aside.len() < ASIDE, "16 tags are in use at most");
                self.aside.push_back(command);
                self.next = cycle + 2;
                return;
            }
            Command::Read { .. } | Command::Message => 1,
            Command::Write { beats, .. } => 1 + beats,
            Command::Answer => 2,
        };
        self.current = Some((command, words));
    }

    /// Moves a word of the packet into the FIFO. A message goes to the hard IP at once, past the words in the FIFO, and
    /// nothing follows until it is acknowledged.
    fn advance(&mut self, tags: &mut u32, exit: &mut Exit<'_>) {
        let cycle = exit.cycle;
        if matches!(self.current, Some((Command::Message, _))) {
            self.current = None;
            self.next = cycle + MSI_CYCLES;
            exit.pcie.interrupt(exit.now);
            return;
        }
        if self.fifo.len() >= FIFO {
            return;
        }
        let Some((command, left)) = &mut self.current else {
            return;
        };
        match command {
            Command::Write { beats, .. } => self.beats -= u32::from(*left <= *beats),
            Command::Read { .. } => {
                *tags += 1;
                if self.credits.is_some() {
                    self.returns.push_back(cycle + CREDIT_CYCLES);
                }
                self.next = cycle + 2;
            }
            Command::Answer | Command::Message => {}
        }
        *left -= 1;
        let ends = match *left {
            0 => self.current.take().map(|(command, _)| command),
            _ => None,
        };
        let at = cycle + BUFFERED;
        self.fifo.push_back(Word { at, ends });
    }

    /// Handles a packet at the hard IP.
    fn leave(&mut self, command: Command, exit: &mut Exit<'_>) {
        let (pcie, now) = (&mut *exit.pcie, exit.now);
        match command {
            Command::Write {
                address,
                extent,
                slot,
                ..
            } => {
                if let Some(address) = address {
                    let at = address + u64::from(extent.skip) * 4;
                    pcie.write_extent(now, at, &extent, slot, exit.bus);
                }
                pcie.release(slot);
            }
            Command::Read {
                tag,
                address: Some(address),
                bytes,
                fault,
            } => {
                pcie.ask(now, tag, (address, bytes), fault, exit.bus);
            }
            Command::Read { address: None, .. } | Command::Message => {}
            Command::Answer => self.answered = Some(pcie.host_answer(now)),
        }
    }
}
