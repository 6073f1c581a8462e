//! The channels of a board: who holds them, and how they come and go.

use super::Inner;
use super::backend::Allocation;
use crate::error::{Error, Result};
use peerlane_core::channel::{self, LocalRange, Moderation, Settings};
use peerlane_core::fpga_memory::Content;
use peerlane_core::queue::Occupancy;
use peerlane_core::regs::Completion;
use peerlane_core::table::{self, Reach};
use std::time::Duration;

/// A channel that a context holds.
pub(crate) struct Channel {
    pub(crate) range: LocalRange,
    pub(crate) moderation: Moderation,
    pub(crate) ring: Allocation,
    /// Times that it was started anew.
    pub(crate) generation: u32,
    /// It takes no doorbells before its context has been told of the generation.
    pub(crate) untold: bool,
    /// Its page and ring were handed to the library.
    pub(crate) handed_out: bool,
    /// Events of the board that were acknowledged.
    pub(crate) seen: u64,
    /// What went wrong where it could not be said.
    pub(crate) trouble: Option<Error>,
    /// Nobody holds it, but it could not be closed.
    lost: bool,
}

impl Inner {
    /// log2 of the records in a channel's ring.
    pub(crate) fn ring_log2(&self) -> u32 {
        Occupancy::ring_log2(self.caps.queue_depth())
    }

    pub(crate) fn ring_bytes(&self) -> u64 {
        (Completion::SIZE as u64) << self.ring_log2()
    }

    /// The channel of a context.
    pub(crate) fn channel(&mut self, number: u32) -> Result<&mut Channel> {
        let slot = self.channels.get_mut(number as usize);
        let state = slot.and_then(Option::as_mut);
        state.ok_or_else(|| Error::Broken {
            reason: format!("channel {number} is not open"),
        })
    }

    /// Takes a free channel. It reaches no FPGA memory, and takes no doorbells yet.
    pub(crate) fn claim(&mut self) -> Result<u32> {
        if self.board.gone {
            return Err(Error::Gone);
        }
        let Some(free) = self.channels.iter().position(Option::is_none) else {
            return Err(Error::ChannelsTaken {
                channels: self.caps.channels,
            });
        };
        let number = free as u32;
        let ring = self.board.backend.allocate(self.ring_bytes())?;
        self.channels[free] = Some(Channel {
            range: LocalRange::EMPTY,
            moderation: Moderation::default(),
            ring,
            generation: 0,
            untold: true,
            handed_out: false,
            seen: self.events,
            trouble: None,
            lost: false,
        });
        match self.restart(number) {
            Ok(()) => Ok(number),
            Err(error) => {
                self.close(number);
                Err(error)
            }
        }
    }

    /// Starts a channel that is held and at rest from its ring's first slot on. It takes doorbells when
    /// its context has been told.
    pub(crate) fn restart(&mut self, number: u32) -> Result<()> {
        let ring_log2 = self.ring_log2();
        let zeros = vec![0; self.ring_bytes() as usize];
        let Some(Some(state)) = self.channels.get_mut(number as usize) else {
            return Ok(());
        };
        state.untold = true;
        state.trouble = None;
        let settings = Settings {
            ring: state.ring.address,
            ring_log2,
            range: state.range,
            moderation: state.moderation,
        };
        (self.board.backend).write_memory(state.ring.id, 0, &zeros)?;
        let steps = channel::prepare(number, &settings);
        self.board.run("opened a channel", steps)
    }

    /// Ends what a channel was given, by itself within `drain` or else by an abort; whether something
    /// had to be aborted. All records are in the ring then.
    pub(crate) fn stop_channel(&mut self, number: u32, drain: Duration) -> Result<bool> {
        if self.channel(number)?.untold {
            return Ok(false);
        }
        let board = &mut self.board;
        let begin = board.backend.now();
        // Accepts nothing more, and works on.
        let [stop, _] = channel::drain(number);
        board.run("stopped a channel", [stop])?;
        let aborted = loop {
            if !board.busy(number)? {
                break false;
            }
            if board.backend.now().saturating_sub(begin) >= drain {
                break true;
            }
            board.backend.pause(super::board::POLL)?;
        };
        if aborted {
            board.run("aborted a channel", channel::abort(number))?;
        }
        let steps = table::fence(Reach::Host).chain([channel::resume(number)]);
        board.run("stopped a channel", steps)?;
        Ok(aborted)
    }

    /// Gives the channel of a context back that is closed.
    pub(crate) fn close(&mut self, number: u32) {
        let closed = self.try_close(number);
        let Some(slot) = self.channels.get_mut(number as usize) else {
            return;
        };
        match closed {
            // A board that is gone writes no more records.
            Ok(()) | Err(Error::Gone) => {
                if let Some(state) = slot.take() {
                    self.board.backend.free(state.ring.id);
                    self.fpga.free(number, Content::Unknown);
                }
            }
            Err(_) => {
                if let Some(state) = slot {
                    state.lost = true;
                }
            }
        }
    }

    fn try_close(&mut self, number: u32) -> Result<()> {
        if self.board.gone {
            return Err(Error::Gone);
        }
        let board = &mut self.board;
        board.run("aborted a channel", channel::abort(number))?;
        self.take_away(number)
    }

    /// Takes a channel at rest out of use. Its regions are gone before it.
    fn take_away(&mut self, number: u32) -> Result<()> {
        let board = &mut self.board;
        board.run("closed a channel", channel::close(number))?;
        board.run("reached the fence", table::fence(Reach::Host))?;
        board.check_port()
    }

    /// After a reset: closes the channels that could not be closed before, and gives back
    /// the memory that was kept because of that.
    pub(crate) fn give_up_lost(&mut self) -> Result<()> {
        for number in 0..self.caps.channels {
            let slot = &self.channels[number as usize];
            if slot.as_ref().is_some_and(|state| state.lost) {
                self.take_away(number)?;
                if let Some(state) = self.channels[number as usize].take() {
                    self.board.backend.free(state.ring.id);
                    self.fpga.free(number, Content::Unknown);
                }
            }
        }
        self.regions.collect_kept(&mut self.board);
        Ok(())
    }
}
