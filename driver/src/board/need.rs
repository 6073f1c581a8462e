// SPDX-License-Identifier: GPL-2.0

//! Contexts that must cache nothing, because another registration needs their cached regions.
//!
//! Without this, regions of the kind that was evicted for a registration could be cached again and again, before that
//! registration is tried once more. A region must also not be refused because of regions that were cached when it was
//! tried and are gone when the driver looks for them: another process may have evicted them, or have used them again.
//! [`Board::departures`] counts those.

use super::Board;
use crate::logic::regs::chan;
use kernel::sync::atomic::{ordering, Atomic};

/// Needs of registrations for cached regions.
pub(super) struct Needs {
    /// For each channel, the number of registrations that need its context's cached regions.
    of_channels: [Atomic<u32>; chan::COUNT],
    /// Times that a cached region was evicted, or is used again.
    departures: Atomic<u64>,
}

impl Needs {
    /// Makes the state without needs.
    pub(super) fn none() -> Self {
        Self {
            of_channels: [const { Atomic::new(0) }; chan::COUNT],
            departures: Atomic::new(0),
        }
    }
}

/// Counts of cached regions that are gone, or are used again.
#[derive(Clone, Copy)]
pub(crate) struct Departures {
    /// Of a board.
    pub(crate) own: u64,
    /// Of all boards.
    pub(crate) all: u64,
}

/// One registration's need for the cached regions of some channels, while it lives.
pub(crate) struct Need<'a> {
    board: &'a Board,
    /// One bit a channel.
    channels: u64,
}

impl Need<'_> {
    /// Makes the context of a channel cache nothing more from now on.
    pub(crate) fn press(&mut self, channel: u32) {
        if self.channels & 1 << channel == 0 {
            self.channels |= 1 << channel;
            self.board.needs.of_channels[channel as usize].fetch_add(1, ordering::Relaxed);
        }
    }
}

impl Drop for Need<'_> {
    fn drop(&mut self) {
        for (channel, needs) in self.board.needs.of_channels.iter().enumerate() {
            if self.channels & 1 << channel != 0 {
                needs.fetch_add(u32::MAX, ordering::Relaxed);
            }
        }
    }
}

/// Times that a cached region of any board was evicted, or is used again.
static DEPARTURES: Atomic<u64> = Atomic::new(0);

impl Board {
    /// Makes a need that concerns no channel yet.
    pub(crate) fn need(&self) -> Need<'_> {
        Need {
            board: self,
            channels: 0,
        }
    }

    /// Whether a registration needs the cached regions of the context of a channel.
    pub(crate) fn is_pressed(&self, channel: u32) -> bool {
        self.needs.of_channels[channel as usize].load(ordering::Relaxed) > 0
    }

    /// Records that a cached region is gone, or is used again.
    pub(crate) fn kept_less(&self) {
        self.needs.departures.fetch_add(1, ordering::Release);
        DEPARTURES.fetch_add(1, ordering::Release);
    }

    /// Returns counts that change when a cached region is gone, or is used again. When [`let_go`](Self::let_go)
    /// returns, every region that is not cached any more is counted.
    pub(crate) fn departures(&self) -> Departures {
        Departures {
            own: self.needs.departures.load(ordering::Acquire),
            all: DEPARTURES.load(ordering::Acquire),
        }
    }
}
