// SPDX-License-Identifier: GPL-2.0

//! What processes see of a board's BAR: their channels' pages, the window into FPGA memory, and the interface to
//! the OpenCL kernels.
//!
//! All of it is seen while the board is awake. Whose a view is, [`crate::window`] and [`crate::opencl`] know; from
//! the look whether the board is awake until the page is in the table a lock is held, so none is put in behind
//! [`Board::hide_views`].

use crate::{board::Board, file::Area, hw::Failure, logic::lifecycle::Epoch};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{Mutex, MutexGuard},
};

/// Whether a board's views are to be seen.
#[pin_data]
pub(crate) struct Views {
    /// Nobody may reach the board: it is not awake, or not looked at yet.
    #[pin]
    asleep: Mutex<bool>,
}

impl Views {
    /// Of a board that nobody has started yet.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self { asleep <- new_mutex!(true) })
    }

    /// Whether the board is not awake. That does not change as long as this is held.
    pub(crate) fn asleep(&self) -> MutexGuard<'_, bool> {
        self.asleep.lock()
    }
}

impl Board {
    /// Takes away what processes see of the BAR: until [`show_views`](Self::show_views) mappings show nothing. A
    /// function that is reset or sleeps takes no access. A block that was configured anew meanwhile would show the
    /// first bytes of its memory in the window, until the driver has looked and put the window where it stood.
    ///
    /// An empty page, not a fault that waits: whoever waits there holds its address space's lock,
    /// for as long as a sleep may last, and cannot be frozen. What is stored into the page is lost
    /// like all that was under way; a process learns of that by its context's generation.
    pub(crate) fn hide_views(&self) {
        self.unmap_views();
        // Stores to the channels' pages have arrived when the next register is read, those through the window when a
        // load from it is answered.
        self.hw.load_from_window();
    }

    /// Hides them without a load. The BAR of an FPGA without a configuration does not answer.
    pub(crate) fn unmap_views(&self) {
        // From here on no page is put in.
        *self.views.asleep() = true;
        self.for_each_user(|user| user.unmap_views());
    }

    /// Puts the window where it stood, and lets processes see their views again.
    pub(crate) fn show_views(&self, epoch: Epoch) -> Result<(), Failure> {
        {
            let mut asleep = self.views.asleep();
            self.replace_window(epoch)?;
            *asleep = false;
        }
        // They have empty pages.
        self.for_each_user(|user| user.unmap_views());
        Ok(())
    }

    /// Hands the frame of a page of the BAR that a channel's context may see to `insert`, or none if it is not to be
    /// seen.
    pub(crate) fn with_view<R>(
        &self,
        channel: u32,
        area: Area,
        page: usize,
        insert: impl FnOnce(Option<usize>) -> R,
    ) -> R {
        let asleep = self.views.asleep();
        match area {
            _ if *asleep => insert(None),
            Area::Page => insert(self.page_pfn(channel)),
            Area::Window => self.with_window(channel, page, insert),
            Area::Kernels => self.with_kernels(channel, page, insert),
            // Memory, no part of the BAR.
            Area::Ring => insert(None),
        }
    }
}
