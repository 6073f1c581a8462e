// SPDX-License-Identifier: GPL-2.0

//! Who needs what others keep: as long as somebody does, they keep nothing more of it.
//!
//! Otherwise what was let go for a region could be kept anew, again and again, before that region is
//! tried once more.

use super::Board;
use crate::logic::regs::chan;
use kernel::sync::atomic::{ordering, Atomic};

/// For each channel, how many need what its context keeps.
pub(super) struct Needs([Atomic<u32>; chan::COUNT]);

impl Needs {
    /// Nobody needs anything.
    pub(super) fn none() -> Self {
        Self([const { Atomic::new(0) }; chan::COUNT])
    }
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
            self.board.needs.0[channel as usize].fetch_add(1, ordering::Relaxed);
        }
    }
}

impl Drop for Need<'_> {
    fn drop(&mut self) {
        for (channel, needs) in self.board.needs.0.iter().enumerate() {
            if self.channels & 1 << channel != 0 {
                needs.fetch_add(u32::MAX, ordering::Relaxed);
            }
        }
    }
}

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
        self.needs.0[channel as usize].load(ordering::Relaxed) > 0
    }
}
