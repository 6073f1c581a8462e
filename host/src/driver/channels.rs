//! The channels of a board: their owners, and how they are opened and closed.

use super::Inner;
use super::backend::Allocation;
use crate::error::{Error, Result};
use peerlane_core::channel::{self, LocalRange, Moderation, Settings};
use peerlane_core::fpga_memory::Content;
use peerlane_core::queue::Occupancy;
use peerlane_core::record;
use peerlane_core::regs::Completion;
use peerlane_core::table::{self, Reach};

/// A channel that a context holds.
pub(crate) struct Channel {
    pub(crate) range: LocalRange,
    pub(crate) moderation: Moderation,
    pub(crate) ring: Allocation,
    /// Number of its restarts.
    pub(crate) generation: u32,
    /// It takes no doorbells until its context knows the new generation.
    pub(crate) untold: bool,
    /// Its page and ring were handed to the library.
    pub(crate) handed_out: bool,
    /// The driver has made a probe with it, and keeps it.
    pub(crate) probed: bool,
    /// Events of the board that were acknowledged.
    pub(crate) seen: u64,
    /// Error of a doorbell, from a call that could not report it. Until the channel is stopped or restarted, no
    /// doorbells are rung, and queries return the error.
    pub(crate) trouble: Option<Error>,
    /// Doorbells were not rung because of that: they count as refused.
    pub(crate) refused: bool,
    /// Slots of the ring that those doorbells should have reported as free.
    pub(crate) owed: u16,
    /// No context holds it, but it could not be closed.
    lost: bool,
}

/// Returns the bytes of a slot of a ring that holds no record.
fn empty_slot(slot: u32) -> impl Iterator<Item = u8> {
    let mut dwords = [0; record::DWORDS];
    for (dword, value) in record::emptied(slot) {
        dwords[dword] = value;
    }
    dwords.into_iter().flat_map(u32::to_le_bytes)
}

impl Inner {
    /// Returns log2 of the records in a channel's ring.
    pub(crate) fn ring_log2(&self) -> u32 {
        Occupancy::ring_log2(self.caps.queue_depth())
    }

    pub(crate) fn ring_bytes(&self) -> u64 {
        (Completion::SIZE as u64) << self.ring_log2()
    }

    /// Returns the channel of a context.
    pub(crate) fn channel(&mut self, number: u32) -> Result<&mut Channel> {
        let slot = self.channels.get_mut(number as usize);
        let state = slot.and_then(Option::as_mut);
        state.ok_or_else(|| Error::Broken {
            reason: format!("channel {number} is not open"),
        })
    }

    /// Claims a free channel. It reaches no FPGA memory, and takes no doorbells yet.
    pub(crate) fn claim(&mut self) -> Result<u32> {
        self.attend()?;
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
            probed: false,
            seen: self.events,
            trouble: None,
            refused: false,
            owed: 0,
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

    /// Removes all records from the ring of a channel that is held.
    pub(crate) fn empty_ring(&mut self, number: u32) -> Result<()> {
        let emptied: Vec<u8> = (0..1 << self.ring_log2()).flat_map(empty_slot).collect();
        match self.channels.get(number as usize) {
            Some(Some(state)) => {
                Ok((self.board.backend).write_memory(state.ring.id, 0, &emptied)?)
            }
            _ => Ok(()),
        }
    }

    /// Restarts a channel that is held and idle, from its ring's first slot on. It takes doorbells again when its
    /// context knows of the restart.
    pub(crate) fn restart(&mut self, number: u32) -> Result<()> {
        let ring_log2 = self.ring_log2();
        self.empty_ring(number)?;
        let Some(Some(state)) = self.channels.get_mut(number as usize) else {
            return Ok(());
        };
        state.untold = true;
        state.trouble = None;
        state.refused = false;
        state.owed = 0;
        let settings = Settings {
            ring: state.ring.address,
            ring_log2,
            range: state.range,
            moderation: state.moderation,
        };
        let steps = channel::prepare(number, &settings);
        self.board.run("opened a channel", steps)
    }

    /// Stops a channel from accepting descriptors; it continues with those that it has. Returns its generation. `None`:
    /// it has no descriptors, because its context does not know of the last start yet.
    pub(crate) fn begin_stop(&mut self, number: u32) -> Result<Option<u32>> {
        let state = self.channel(number)?;
        let generation = state.generation;
        if state.untold {
            return Ok(None);
        }
        let [stop, _] = channel::drain(number);
        self.board.run("stopped a channel", [stop])?;
        Ok(Some(generation))
    }

    /// Lets a channel accept descriptors again after [`begin_stop`](Self::begin_stop), when its descriptors have ended,
    /// or after an abort. All records are in the ring then.
    pub(crate) fn end_stop(&mut self, number: u32, abort: bool) -> Result<()> {
        let board = &mut self.board;
        if abort {
            board.run("aborted a channel", channel::abort(number))?;
        }
        let steps = table::fence(Reach::Host).chain([channel::resume(number)]);
        board.run("stopped a channel", steps)?;
        // Descriptors whose doorbell was rung have their records. The others count as refused.
        self.channel(number)?.trouble = None;
        Ok(())
    }

    /// Closes a context's channel.
    pub(crate) fn close(&mut self, number: u32) {
        let closed = self.try_close(number);
        let Some(slot) = self.channels.get_mut(number as usize) else {
            return;
        };
        match closed {
            Ok(()) => {
                if let Some(state) = slot.take() {
                    self.board.backend.free(state.ring.id);
                    self.fpga.free(number, Content::Unknown);
                }
            }
            // The board may still write records, even if it does not answer at the moment.
            Err(_) => {
                if let Some(state) = slot {
                    state.lost = true;
                }
            }
        }
    }

    fn try_close(&mut self, number: u32) -> Result<()> {
        self.board.check_there()?;
        let board = &mut self.board;
        board.run("aborted a channel", channel::abort(number))?;
        self.take_away(number)
    }

    /// Takes an idle channel out of use. Its regions were unregistered before.
    fn take_away(&mut self, number: u32) -> Result<()> {
        self.forget_window(number);
        // Before the channel has another owner.
        self.close_streams(number)?;
        let board = &mut self.board;
        board.run("closed a channel", channel::close(number))?;
        board.run("reached the fence", table::fence(Reach::Host))?;
        board.check_port()
    }

    /// Closes the channels that could not be closed before a reset, and frees the memory that was kept because of that.
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
