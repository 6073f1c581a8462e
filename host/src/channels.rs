//! The channels of a device: who holds them, and how they come and go.

use crate::backend::{MemoryId, MemoryKind};
use crate::channel::ChannelOptions;
use crate::engine::Inner;
use crate::error::{Error, Result};
use crate::transfers::Lane;
use peerlane_core::channel::{self, LocalRange, Moderation, Settings};
use peerlane_core::descriptor::Direction;
use peerlane_core::owners::Owners;
use peerlane_core::queue::Occupancy;
use peerlane_core::regs::chan;
use peerlane_core::ring::Ring;
use peerlane_core::table::{self, Reach};
use std::time::Duration;

/// A channel that somebody holds.
pub(crate) struct ChannelState {
    range: LocalRange,
    moderation: Moderation,
    /// How long it may end its work when nobody holds it any more.
    drain: Duration,
    pub(crate) ring: Ring,
    pub(crate) ring_memory: MemoryId,
    ring_address: u64,
    pub(crate) occupancy: Occupancy,
    lanes: [Lane; 2],
    /// Why it cannot be used before an abort or a reset.
    pub(crate) trouble: Option<String>,
    /// Nobody holds it, but it could not be closed.
    lost: bool,
}

impl ChannelState {
    pub(crate) fn lane(&mut self, direction: Direction) -> &mut Lane {
        match direction {
            Direction::Write => &mut self.lanes[0],
            Direction::Read => &mut self.lanes[1],
        }
    }

    pub(crate) fn lanes(&self) -> &[Lane; 2] {
        &self.lanes
    }

    /// The first transfer of a direction that has pieces off the board.
    pub(crate) fn first_waiting(&self, direction: Direction) -> Option<u64> {
        let lane = match direction {
            Direction::Write => &self.lanes[0],
            Direction::Read => &self.lanes[1],
        };
        lane.waiting.front().copied()
    }

    /// Whether no transfer up to this name has anything on the board or waiting for it.
    fn rests(&self, up_to: u64) -> bool {
        self.lanes.iter().all(|lane| {
            let waiting = lane.waiting.front().is_none_or(|id| *id > up_to);
            let flying = (lane.flights.front()).is_none_or(|flight| flight.transfer > up_to);
            waiting && flying
        })
    }

    fn settings(&self) -> Settings {
        Settings {
            ring: self.ring_address,
            ring_log2: self.ring.size_log2(),
            range: self.range,
            moderation: self.moderation,
        }
    }
}

impl Inner {
    /// Takes a free channel and opens it.
    pub(crate) fn claim(&mut self, options: &ChannelOptions) -> Result<u32> {
        if self.board.gone {
            return Err(Error::Gone);
        }
        let memory = self.caps.memory_bytes();
        let range = options.range.clone().unwrap_or(0..memory);
        let range = LocalRange::new(range, memory).map_err(Error::LocalRange)?;
        let free = (self.channels.iter()).position(Option::is_none);
        let Some(free) = free else {
            return Err(Error::ChannelsTaken {
                channels: self.caps.channels,
            });
        };
        let number = free as u32;
        let broken = |error: &dyn ToString| Error::Broken {
            reason: error.to_string(),
        };
        let depth = self.caps.queue_depth();
        let ring = Ring::new(Occupancy::ring_log2(depth), number).map_err(|e| broken(&e))?;
        let occupancy = Occupancy::new(depth, ring.entries()).map_err(|e| broken(&e))?;
        let backend = &mut self.board.backend;
        let memory = backend.allocate(MemoryKind::Host, ring.bytes(), true)?;
        let [segment, ..] = memory.segments[..] else {
            return Err(broken(&"the backend gave memory of no segments"));
        };
        let state = ChannelState {
            range,
            moderation: options.moderation,
            drain: options.drain,
            ring,
            ring_memory: memory.id,
            ring_address: segment.address,
            occupancy,
            lanes: Default::default(),
            trouble: None,
            lost: false,
        };
        self.channels[free] = Some(state);
        match self.restart(number) {
            Ok(()) => Ok(number),
            Err(error) => {
                self.close(number);
                Err(error)
            }
        }
    }

    /// The channel of the device's own queue; the first call claims it.
    pub(crate) fn own_channel(&mut self) -> Result<u32> {
        match self.own {
            Some(number) => Ok(number),
            None => {
                let number = self.claim(&ChannelOptions::default())?;
                self.own = Some(number);
                Ok(number)
            }
        }
    }

    /// Opens a channel that is held and at rest, from its ring's first slot on.
    pub(crate) fn restart(&mut self, number: u32) -> Result<()> {
        let Some(state) = held(&mut self.channels, number) else {
            return Ok(());
        };
        let zeros = vec![0; state.ring.bytes() as usize];
        let board = &mut self.board;
        board.backend.write_memory(state.ring_memory, 0, &zeros)?;
        board.run("opened a channel", channel::open(number, &state.settings()))?;
        // Room as the board sees it: what it refuses would be lost.
        let free = board.read(channel::page(number, chan::QUEUE_FREE))?;
        let [write, read] = channel::queue_free(free);
        let slots = write.min(read).min(self.caps.queue_depth());
        let entries = state.ring.entries();
        let broken = |reason: String| Error::Broken { reason };
        state.occupancy =
            Occupancy::new(slots, entries).map_err(|error| broken(error.to_string()))?;
        state.ring =
            Ring::new(state.ring.size_log2(), number).map_err(|error| broken(error.to_string()))?;
        state.trouble = None;
        Ok(())
    }

    /// Notes that a channel's bookkeeping does not fit the board's.
    pub(crate) fn broken(&mut self, number: u32, reason: &dyn ToString) -> Error {
        let reason = format!("channel {number}: {}", reason.to_string());
        if let Some(state) = held(&mut self.channels, number) {
            state.trouble = Some(reason.clone());
        }
        Error::Broken { reason }
    }

    /// Whether a channel can be used.
    pub(crate) fn usable(&self, number: u32) -> Result<()> {
        if self.board.gone {
            return Err(Error::Gone);
        }
        let state = self.channels.get(number as usize);
        match state.and_then(Option::as_ref).map(|s| &s.trouble) {
            Some(None) => Ok(()),
            Some(Some(reason)) => Err(Error::Broken {
                reason: reason.clone(),
            }),
            None => Err(Error::Broken {
                reason: format!("channel {number} is not open"),
            }),
        }
    }

    /// Whether a channel has ended all transfers up to this name.
    pub(crate) fn rests(&self, number: u32, up_to: u64) -> bool {
        let state = self.channels.get(number as usize);
        (state.and_then(Option::as_ref)).is_none_or(|state| state.rests(up_to))
    }

    /// How long a channel may end its work when it is closed.
    pub(crate) fn drain_limit(&self, number: u32) -> Duration {
        let state = self.channels.get(number as usize);
        (state.and_then(Option::as_ref)).map_or(Duration::ZERO, |state| state.drain)
    }

    /// Sees that the board agrees that a channel at rest is at rest.
    pub(crate) fn confirm_rest(&mut self, number: u32) -> Result<()> {
        let steps = channel::drain(number).into_iter();
        let steps = steps.chain([channel::resume(number)]);
        self.board.run("drained a channel", steps)
    }

    /// Ends what a channel has under way as aborted.
    pub(crate) fn abort(&mut self, number: u32) -> Result<()> {
        if self.board.gone {
            return Err(Error::Gone);
        }
        let steps = channel::abort(number)
            .into_iter()
            .chain(table::fence(Reach::Host));
        self.board.run("aborted a channel", steps)?;
        self.end_all(number)?;
        self.restart(number)
    }

    /// Takes note of how a channel's transfers have ended, and ends those as aborted that
    /// left no record. The board must have done with the channel.
    pub(crate) fn end_all(&mut self, number: u32) -> Result<()> {
        if held(&mut self.channels, number).is_none() {
            return Ok(());
        }
        // A broken ring says nothing more.
        self.drain(number)?;
        let aborted = self.transfers.abort(number);
        if let Some(state) = held(&mut self.channels, number) {
            state.lanes = Default::default();
        }
        aborted.into_iter().try_for_each(|id| self.finish(id))
    }

    /// Gives a channel back whose work has ended, or ends it.
    pub(crate) fn close(&mut self, number: u32) {
        let closed = self.try_close(number);
        let Some(slot) = self.channels.get_mut(number as usize) else {
            return;
        };
        match closed {
            // A board that is gone writes no more records.
            Ok(()) | Err(Error::Gone) => {
                if let Some(state) = slot.take() {
                    self.board.backend.free(state.ring_memory);
                }
            }
            Err(error) => {
                if let Some(state) = slot {
                    state.lost = true;
                    state.trouble = Some(error.to_string());
                }
            }
        }
    }

    fn try_close(&mut self, number: u32) -> Result<()> {
        let mut ended = Err(Error::Gone);
        if self.rests(number, u64::MAX) && self.usable(number).is_ok() {
            ended = self.board.run("drained a channel", channel::drain(number));
        }
        if ended.is_err() {
            ended = self.board.run("aborted a channel", channel::abort(number));
        }
        // Where the board did not end it, descriptors still name the regions' entries.
        if matches!(ended, Ok(()) | Err(Error::Gone)) {
            self.end_all(number)?;
        }
        ended?;
        self.take_away(number)
    }

    /// Takes a channel at rest out of use, and from the regions that were its.
    fn take_away(&mut self, number: u32) -> Result<()> {
        let board = &mut self.board;
        board.run("closed a channel", channel::close(number))?;
        let owner = Owners::channel(number);
        self.resources.take_from(board, owner)?;
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
                    self.board.backend.free(state.ring_memory);
                }
            }
        }
        self.resources.collect_kept(&mut self.board);
        Ok(())
    }
}

fn held(channels: &mut [Option<ChannelState>], number: u32) -> Option<&mut ChannelState> {
    channels.get_mut(number as usize)?.as_mut()
}
