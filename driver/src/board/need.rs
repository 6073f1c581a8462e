// SPDX-License-Identifier: GPL-2.0

//! Contexts that must keep nothing, because somebody needs what they keep.
//!
//! Without this, what was let go for a region could be kept anew, again and again, before that region is tried
//! once more. A region must also not be refused for regions that were kept when it was tried and are gone when
//! the driver looks for them: another process may have let them go, or have used them again.
//! [`Board::departures`] counts those.

use super::Board;
use crate::logic::regs::chan;
use kernel::sync::atomic::{ordering, Atomic};

/// Who needs what is kept.
pub(super) struct Needs {
    /// For each channel, how many need what its context keeps.
    of_channels: [Atomic<u32>; chan::COUNT],
    /// Times that something that was kept was let go, or is used again.
    departures: Atomic<u64>,
}

impl Needs {
    /// Nobody needs anything.
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

/// Somebody's need of what the contexts of some channels keep, while it lives.
pub(crate) struct Need<'a> {
    board: &'a Board,
    /// One bit a channel.
    channels: u64,
}

impl Need<'_> {
    /// From now on the context of a channel keeps nothing more.
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

/// The same of all boards.
static DEPARTURES: Atomic<u64> = Atomic::new(0);

impl Board {
    /// A need of nobody's yet.
    pub(crate) fn need(&self) -> Need<'_> {
        Need {
            board: self,
            channels: 0,
        }
    }

    /// Whether somebody needs what the context of a channel keeps.
    pub(crate) fn is_pressed(&self, channel: u32) -> bool {
        self.needs.of_channels[channel as usize].load(ordering::Relaxed) > 0
    }

    /// Something that was kept is gone, or is used again.
    pub(crate) fn kept_less(&self) {
        self.needs.departures.fetch_add(1, ordering::Release);
        DEPARTURES.fetch_add(1, ordering::Release);
    }

    /// Changes when something that was kept is gone, or is used again. What is not kept any more by the
    /// time that [`let_go`](Self::let_go) has run something is counted.
    pub(crate) fn departures(&self) -> Departures {
        Departures {
            own: self.needs.departures.load(ordering::Acquire),
            all: DEPARTURES.load(ordering::Acquire),
        }
    }
}
