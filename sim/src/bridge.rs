//! Altera's V-series Avalon-MM bridge: the `Txs` port of the hard IP, its path to the transmit stream, and its memory
//! for completions.
//!
//! # Sources
//! Rules without another source are those of the RTL that Quartus 16.0 generates for the Stratix V Avalon-MM bridge
//! (`altera_pcie_sv_hip_avmm`, 128 bits, addresses of 64 bits); cycle counts are of runs of that RTL. The one of the
//! Cyclone V and Arria V in Quartus 17.0 has nearly the same text. The user guide is *Stratix V Avalon-MM Interface for
//! PCIe Solutions* (683411): bursts of at most 512 bytes and eight reads (A.4.2, A.4.3), interrupts (6), translation by
//! windows ("Avalon-MM to PCI Express address translation").
//!
//! # Rules
//! - **Commands** (`Bridge::tick`). One machine takes reads, writes and requests for interrupt messages. `waitrequest`
//!   is high but for the beats of a burst and the one cycle of a read.
//! - **Writes.** The first beat is taken in the sixth cycle. A burst is cut every 128 bytes where Max Payload Size is
//!   128, else every 256, from its first beat on, and at each 4 KiB. From command to command it takes `n + 5 + 2p`
//!   cycles for `n` beats in `p` packets. A packet leaves when its last beat has come: 10 cycles later its first beat
//!   stands at the hard IP. About 44 beats, or 15 bursts of one beat, are taken while the hard IP is not ready.
//! - **Byte enables** (`enables`). Runs of whole dwords at the ends of a burst are right. Other enables
//!   write bytes that are not enabled, or leave out bytes that are.
//! - **Reads.** Eight may be owed. A read takes 8 cycles for each packet, of at most 512 bytes. Tags are 4 bits and go
//!   up by one. Without a credit or a tag reads go aside and later commands pass them. The request stands at the hard
//!   IP 13 cycles after the read was taken.
//! - **Completions** (`answers`). One costs 4 cycles and one for each word. They are accepted by their tag alone,
//!   whenever they come, poisoned or not. One without data is dropped: its tag is owed until a reset, and so are all
//!   later reads. Nothing times out.
//! - **Bus Master Enable** is read where a command would start. Commands that were taken leave, and a burst that has
//!   begun is finished.
//! - **Interrupts.** A rise of the request, with MSI enabled, waits for its turn in the command machine and goes
//!   through the queue of commands, but not through the transmit FIFO: the hard IP may get it before an earlier record.
//!   While one waits for its turn, no command begins, and no completion for the host is written into that queue: with
//!   Bus Master Enable off the host's reads are not answered then.
//! - **Reset** is the hard IP's application reset and clears everything. A reset of the block's own inputs clears
//!   nothing in the bridge.
//!
//! # Assumptions: no public source
//! - All of it with 64 or 256 bits: the rules above with other words. No RTL of these was run.
//! - `MSI_CYCLES`: how soon the hard IP acknowledges a message.
//! - `CREDIT_CYCLES`, and the bytes that the hard IP holds for the link (`TxsConfig::write_buffer`).
//! - `ANSWER_CYCLES`: the way of a host's read through the bridge is one wait; that it takes 29 cycles in all with a
//!   slave of four, on an idle bridge, was measured. The host's reads and writes take no turn of the completions.
//! - After a 4 KiB boundary inside a burst the translation takes 4 cycles: read in the RTL, not measured.
//! - A packet whose first beat is a run of dwords and whose last is not is too long by some dwords in the RTL
//!   (`enables::extent`); the model ends it with its last beat.
//! - `waitrequest` beyond the bridge's own, and gaps in its read data (`TxsConfig::backpressure`, `response_gaps`):
//!   those of an interconnect in front. The host is answered while that holds the master, also inside of a burst, where
//!   the RTL answers no read: tests read registers then.
//! - `crate::Board::link_reset` without a reset of the block: a burst that has begun goes on. On a board the block is
//!   reset together with the bridge.

mod answers;
mod enables;
mod rates;
#[cfg(test)]
mod tests;
mod transmit;

pub use crate::config::BURST_BYTES;
use answers::Answers;
pub(crate) use answers::{Given, WIDEST};
use enables::Beats;
pub use rates::BridgeRates;
use transmit::{Command, Exit, Transmit};

use crate::{
    bus::{Answer, Bus},
    config::BoardConfig,
    link::LinkConfig,
    pcie::Pcie,
    violation::{Clock, Log, Rule},
};

/// Reads that may be owed (user guide 683411, A.4.3).
pub const READS: u32 = 8;
/// Tags of the bridge.
const TAGS: usize = 16;
/// Cycles of a completion besides its words.
const COMPLETION_CYCLES: u32 = 4;
/// Cycles from the first beat of a read's last completion at the bridge to the read's first word.
const GIVE_CYCLES: u32 = 9;
/// Cycles from a read's being taken to its request's standing at the hard IP.
const ASK_CYCLES: u32 = 13;
/// Cycles of the command machine for a packet of a read.
const READ_CYCLES: u32 = 8;
/// Cycles of the translation of an address, also where nothing is translated.
const TRANSLATE: u32 = 4;
/// Beats of writes in front of the transmit FIFO with which the bridge takes no further one.
const BEATS: u32 = 32;
/// Cycles in which each word of the configuration has its turn on `tl_cfg`: 16 words of 8 cycles.
const MASTER_CYCLES: u64 = 128;
/// Cycles in which nothing is sent because the hard IP has a message to acknowledge.
const MSI_CYCLES: u64 = 4;
/// Cycles until the credit of a read comes back.
const CREDIT_CYCLES: u64 = 40;
/// Cycles of a host's read in the bridge besides those of the slave and of the transmit side.
const ANSWER_CYCLES: u64 = 16;

/// The signals of a master in a cycle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub read: bool,
    pub write: bool,
    /// Whether a model in front of the bridge holds the master.
    pub held: bool,
    pub address: u64,
    pub burst: u32,
    pub enable: u64,
    pub data: &'a [u32],
}

/// The part of the signals that the bridge took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub read: bool,
    /// Whether a beat of a write was taken.
    pub beat: bool,
    /// Whether it was the first of its burst.
    pub first: bool,
}

/// Translation of a 32-bit `Txs` address: all windows of one size (user guide 683411, "Avalon-MM
/// to PCI Express address translation").
#[derive(Debug, Clone, Default)]
pub(crate) struct Windows {
    pub shift: u32,
    pub bases: Vec<u64>,
}

/// The command machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// The address of a write is translated for so many cycles more.
    WriteWait(u32),
    /// Beats are taken.
    Burst,
    /// Beats would be too many.
    Hold,
    /// A packet is complete.
    Packet,
    /// Its command is written into the queue.
    Header,
    ReadWait(u32),
    ReadHeader,
    Message,
}

/// The write burst, or the read, that the machine is at.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Address of the next beat, or byte.
    address: u64,
    /// Beats, or bytes of a read, still to come.
    left: u32,
    /// Address of the first beat of the packet.
    begins: u64,
    /// Beats of the packet.
    beats: u32,
    first: u64,
    last: u64,
    single: bool,
    /// Whether a packet of the burst has been sent.
    later: bool,
    fault: Option<Answer>,
}

/// The bridge.
#[derive(Debug)]
pub(crate) struct Bridge {
    width: u32,
    payload: u32,
    request: u32,
    /// Whether addresses are translated by windows.
    translates: bool,
    pub(crate) windows: Windows,
    state: State,
    /// Cycles until the translation of a read is over.
    settles: u32,
    open: Open,
    packet: [u8; BURST_BYTES as usize],
    next_tag: u8,
    transmit: Transmit,
    answers: Answers,
    /// Whether an interrupt message waits for its turn.
    message: bool,
    /// Whether MSI is enabled.
    pub(crate) msi: bool,
    /// Bus Master Enable as the bridge has seen it.
    master: bool,
    /// A completion for the host, from this cycle on.
    answer: Option<u64>,
}

impl Bridge {
    pub(crate) fn new(config: &BoardConfig, width: u32, address_bits: u32) -> Self {
        Self {
            width,
            payload: payload(&config.link),
            request: config.link.max_read_request.min(BURST_BYTES),
            translates: address_bits <= 32,
            windows: Windows::default(),
            state: State::Idle,
            settles: 0,
            open: Open {
                address: 0,
                left: 0,
                begins: 0,
                beats: 0,
                first: 0,
                last: 0,
                single: false,
                later: false,
                fault: None,
            },
            packet: [0; BURST_BYTES as usize],
            next_tag: 0,
            transmit: Transmit::new(config.txs.non_posted_credits),
            answers: Answers::new(width),
            message: false,
            msi: true,
            master: true,
            answer: None,
        }
    }

    /// Resets the bridge, as the hard IP's application reset. A burst that has begun continues in front of it if
    /// `keep_burst`.
    pub(crate) fn reset(&mut self, pcie: &mut Pcie, keep_burst: bool) {
        let burst = matches!(
            self.state,
            State::WriteWait(_) | State::Burst | State::Hold | State::Packet | State::Header
        );
        self.transmit.reset(pcie);
        if burst && keep_burst {
            self.transmit.beats = self.open.beats;
        } else {
            self.state = State::Idle;
        }
        self.settles = 0;
        self.next_tag = 0;
        self.answers = Answers::new(self.width);
        self.message = false;
        self.answer = None;
        self.transmit.answered = None;
    }

    /// Returns whether the largest number of reads is owed words.
    pub(crate) fn reads_full(&self) -> bool {
        self.answers.full()
    }

    /// Returns the number of reads that are owed words.
    pub(crate) fn owed(&self) -> usize {
        self.answers.owed()
    }

    /// Returns whether no write and no request is on its way to the hard IP.
    pub(crate) fn quiet(&self) -> bool {
        self.state == State::Idle && !self.message && self.transmit.quiet()
    }

    /// Returns whether something is on its way that leaves by itself.
    pub(crate) fn busy(&self) -> bool {
        !self.transmit.quiet() || self.message && self.master
    }

    /// Returns whether the next beat belongs to a burst that has begun.
    pub(crate) fn in_burst(&self) -> bool {
        self.open.left > 0 && (self.open.later || self.open.beats > 0)
    }

    /// Handles a rise of the OR of the enabled interrupts.
    pub(crate) fn interrupt(&mut self) {
        self.message |= self.msi;
    }

    /// Takes the data of a host's read.
    pub(crate) fn answer_host(&mut self, cycle: u64) {
        self.answer = Some(cycle + ANSWER_CYCLES);
        self.transmit.answered = None;
    }

    /// Returns the time at which the completion of the host's read crosses the link, once it is known.
    pub(crate) fn host_answered(&self) -> Option<u64> {
        self.transmit.answered
    }

    /// Returns `waitrequest` in this cycle.
    #[inline]
    pub(crate) fn waits(&self, read: bool) -> bool {
        match self.state {
            State::Burst => false,
            State::Idle => !(read && self.takes_read()),
            _ => true,
        }
    }

    fn takes_read(&self) -> bool {
        self.settles == 0 && self.master && !self.message && !self.answers.full()
    }

    /// Returns the bus address of a `Txs` address.
    fn translate(&self, address: u64, cycle: u64, log: &mut Log) -> Option<u64> {
        if !self.translates {
            return Some(address);
        }
        let windows = &self.windows;
        let base = windows.bases.get((address >> windows.shift) as usize);
        if base.is_none() {
            log.add(
                Clock::Pcie,
                cycle,
                "txs_address",
                Rule::OutOfRange,
                format!("{address:#x} is not in any window"),
            );
        }
        Some(base? | (address & ((1 << windows.shift) - 1)))
    }

    /// Advances the bridge by a cycle. The master's command has been taken where [`Bridge::waits`] was false.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call, with different accesses"
    )]
    pub(crate) fn tick(
        &mut self,
        shown: &Shown<'_>,
        ready: bool,
        now: u64,
        cycle: u64,
        pcie: &mut Pcie,
        bus: &mut Bus,
        log: &mut Log,
    ) -> Taken {
        if self.answer.is_some_and(|at| at <= cycle)
            && (self.state == State::Idle || shown.held)
            && !self.message
            && self.transmit.has_room()
        {
            self.answer = None;
            self.transmit.push(cycle, Command::Answer);
        }
        let taken = self.command(shown, now, cycle, pcie, bus, log);
        if cycle.is_multiple_of(MASTER_CYCLES) {
            self.master = bus.is_master();
        }
        let mut exit = Exit {
            pcie,
            bus,
            ready,
            now,
            cycle,
        };
        self.transmit.tick(&mut self.answers.tags, &mut exit);
        if self.answers.ready(cycle) {
            pcie.hand_completion(now, |arrived| self.answers.take(cycle, arrived));
        }
        self.answers.store(cycle);
        taken
    }

    /// Returns the word that the master sees in the next cycle.
    #[inline]
    pub(crate) fn give(&mut self) -> Option<Given> {
        self.answers.give()
    }

    /// Advances the command machine by a cycle.
    fn command(
        &mut self,
        shown: &Shown<'_>,
        now: u64,
        cycle: u64,
        pcie: &mut Pcie,
        bus: &mut Bus,
        log: &mut Log,
    ) -> Taken {
        let mut taken = Taken::default();
        self.state = match self.state {
            State::Idle => return self.idle(shown, now, bus),
            State::WriteWait(0) if self.transmit.beats <= BEATS && shown.write => State::Burst,
            State::WriteWait(left) => State::WriteWait(left.saturating_sub(1)),
            State::Burst if !shown.write && self.transmit.beats <= BEATS => State::Burst,
            State::Burst if !shown.write => State::Hold,
            State::Burst => {
                taken.beat = true;
                taken.first = !self.open.later && self.open.beats == 0;
                let full = self.transmit.beats > BEATS;
                match self.beat(shown) {
                    true => State::Packet,
                    false if full => State::Hold,
                    false => State::Burst,
                }
            }
            State::Hold if self.transmit.beats > BEATS => State::Hold,
            State::Hold => State::Burst,
            State::Packet if self.transmit.has_room() => State::Header,
            State::Packet => State::Packet,
            State::Header => {
                self.send_packet(cycle, pcie, log);
                match self.open.left {
                    0 => State::Idle,
                    _ if self.open.address.is_multiple_of(4096) => State::WriteWait(TRANSLATE - 1),
                    _ => State::Burst,
                }
            }
            State::ReadWait(0) if self.transmit.has_room() => State::ReadHeader,
            State::ReadWait(left) => State::ReadWait(left.saturating_sub(1)),
            State::ReadHeader => {
                self.send_read(cycle, log);
                match self.open.left {
                    0 => {
                        // The machine is idle, but its translation is not.
                        self.settles = READ_CYCLES - TRANSLATE - 2;
                        State::Idle
                    }
                    _ => State::ReadWait(READ_CYCLES - 2),
                }
            }
            State::Message => {
                self.message = false;
                self.transmit.push(cycle, Command::Message);
                State::Idle
            }
        };
        taken
    }

    /// Handles a cycle in which a command may begin.
    fn idle(&mut self, shown: &Shown<'_>, now: u64, bus: &mut Bus) -> Taken {
        let mut taken = Taken::default();
        let beats = shown.burst.max(1);
        let settled = self.settles == 0;
        self.settles = self.settles.saturating_sub(1);
        if self.message {
            if self.master && self.transmit.has_room() {
                self.state = State::Message;
            }
            return taken;
        }
        let base = shown.address - shown.address % u64::from(self.width);
        if shown.write {
            let room = self.transmit.has_room() && self.transmit.beats <= BEATS;
            if self.master && room && settled {
                self.open = Open {
                    address: base,
                    left: beats,
                    begins: base,
                    beats: 0,
                    first: shown.enable,
                    last: 0,
                    single: beats == 1,
                    later: false,
                    fault: None,
                };
                self.state = State::WriteWait(TRANSLATE - 1);
            }
        } else if shown.read && settled && self.takes_read() {
            taken.read = true;
            let only = Beats {
                count: 1,
                first: shown.enable,
                last: shown.enable,
                single: true,
                later: false,
            };
            let (skip, bytes) = match beats {
                1 => {
                    let extent = enables::extent(&only, self.width / 4);
                    (extent.skip * 4, extent.dwords * 4)
                }
                _ => (0, (beats * self.width).min(BURST_BYTES)),
            };
            self.answers.owe(beats, now);
            self.open.address = base + u64::from(skip);
            self.open.left = bytes;
            self.open.fault = bus.fault_of_read();
            self.open.later = false;
            self.open.beats = 0;
            self.state = State::ReadWait(TRANSLATE - 1);
        }
        taken
    }

    /// Takes a beat; returns `true` if its packet is complete.
    fn beat(&mut self, shown: &Shown<'_>) -> bool {
        let open = &mut self.open;
        let from = (open.beats * self.width) as usize;
        let room = self.packet[from..from + self.width as usize].chunks_exact_mut(4);
        for (bytes, word) in room.zip(shown.data) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        open.beats += 1;
        open.left -= 1;
        open.last = shown.enable;
        open.address = open.address.wrapping_add(u64::from(self.width));
        self.transmit.beats += 1;
        open.left == 0
            || open.beats * self.width == self.payload
            || open.address.is_multiple_of(4096)
    }

    /// Writes the command of a packet of writes into the queue.
    fn send_packet(&mut self, cycle: u64, pcie: &mut Pcie, log: &mut Log) {
        let open = self.open;
        let all = enables::all(self.width);
        let extent = enables::extent(
            &Beats {
                count: open.beats,
                first: if open.later { all } else { open.first },
                last: open.last,
                single: open.single,
                later: open.later,
            },
            self.width / 4,
        );
        let from = (extent.skip * 4) as usize;
        let data = &self.packet[from..from + extent.dwords as usize * 4];
        let slot = pcie.store(data);
        let address = self.translate(open.begins, cycle, log);
        self.transmit.push(
            cycle,
            Command::Write {
                address,
                extent,
                beats: open.beats,
                slot,
            },
        );
        self.open.begins = open.address;
        self.open.beats = 0;
        self.open.later = true;
    }

    /// Writes the command of a packet of a read into the queue.
    fn send_read(&mut self, cycle: u64, log: &mut Log) {
        let open = self.open;
        let to_4k = 4096 - (open.address % 4096) as u32;
        let bytes = open.left.min(self.request).min(to_4k);
        let address = self.translate(open.address, cycle, log);
        self.transmit.push(
            cycle,
            Command::Read {
                tag: self.next_tag,
                address,
                bytes,
                fault: open.fault,
            },
        );
        self.next_tag = (self.next_tag + 1) % TAGS as u8;
        self.open.address = open.address.wrapping_add(u64::from(bytes));
        self.open.left -= bytes;
    }
}

/// Returns the number of bytes at which a burst is cut.
fn payload(link: &LinkConfig) -> u32 {
    link.max_payload.clamp(128, 256)
}
