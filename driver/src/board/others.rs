// SPDX-License-Identifier: GPL-2.0

//! All boards of the machine. Cached regions of one board can be in the way of another board: they take locked memory
//! of a process, and room in the BAR of a GPU.

use super::Board;
use kernel::{prelude::*, sync::Arc};

/// The largest number of boards that the driver drives.
pub(crate) const MOST: usize = 64;

kernel::sync::global_lock! {
    // SAFETY: `init` is called before there is a board.
    /// Boards that are bound, by their numbers. Nothing is locked or dropped under it.
    unsafe(uninit) static BOARDS: Mutex<[Option<Arc<Board>>; MOST]> = [const { None }; MOST];
}

/// Prepares this file.
///
/// # Safety
/// Called once, before anything else here.
pub(crate) unsafe fn init() {
    // SAFETY: by contract.
    unsafe { BOARDS.init() }
}

/// A board's place among all, while it lives.
pub(crate) struct Listed(usize);

impl Listed {
    /// Adds a board, whose number no other board has.
    pub(crate) fn new(board: &Arc<Board>, number: u32) -> Self {
        let place = number as usize;
        BOARDS.lock()[place] = Some(board.clone());
        Self(place)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let board = BOARDS.lock()[self.0].take();
        drop(board);
    }
}

impl Board {
    /// Calls `f` with each board but this one, while that is bound. The caller's own file keeps the module.
    pub(crate) fn for_each_other(self: &Arc<Self>, mut f: impl FnMut(&Arc<Board>)) {
        for place in 0..MOST {
            let board = BOARDS.lock()[place].clone();
            let other = board.filter(|board| !Arc::ptr_eq(board, self));
            if let Some(other) = other {
                if let Ok(_inside) = other.gate.enter() {
                    f(&other);
                }
            }
        }
    }
}
