// SPDX-License-Identifier: GPL-2.0

//! Views: processes' mappings of a board's BAR. They show their channels' pages, the window into FPGA memory, and the
//! interface to the OpenCL kernels.
//!
//! All of them are shown while the board is awake. [`crate::window`] and [`crate::opencl`] know to which context a
//! view belongs. A lock is held from the check whether the board is awake until the page is in the table, so no page
//! is put in after [`Board::hide_views`].

use crate::{board::Board, file::Area, hw::Failure, logic::lifecycle::Epoch};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{Mutex, MutexGuard},
};

/// Whether a board's views are shown.
#[pin_data]
pub(crate) struct Views {
    /// No process may reach the board: it is not awake, or was not checked yet.
    #[pin]
    asleep: Mutex<bool>,
}

impl Views {
    /// Makes the views of a board that was not started yet.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self { asleep <- new_mutex!(true) })
    }

    /// Locks the state that says whether the board is not awake. It does not change while the lock is held.
    pub(crate) fn asleep(&self) -> MutexGuard<'_, bool> {
        self.asleep.lock()
    }
}

impl Board {
    /// Hides the BAR from processes: until [`show_views`](Self::show_views) mappings show nothing. A function that is
    /// reset or sleeps takes no access. A block that was configured again in the meantime would show the first bytes
    /// of its memory in the window, until the driver has checked it and moved the window to its earlier place.
    ///
    /// Mappings show an empty page; a fault does not wait. A thread that waits in a fault would hold its address
    /// space's lock for as long as a sleep may last, and cannot be frozen. Stores to the page are lost like all
    /// transfers that were in progress; a process is notified of that by its context's generation.
    pub(crate) fn hide_views(&self) {
        self.unmap_views();
        // Stores to the channels' pages have arrived when the next register is read, those through the window when a
        // load from it is answered.
        self.hw.load_from_window();
    }

    /// Hides the views without a load. The BAR of an FPGA without a configuration does not answer.
    pub(crate) fn unmap_views(&self) {
        // From here on no page is put in.
        *self.views.asleep() = true;
        self.for_each_user(|user| user.unmap_views());
    }

    /// Moves the window to its earlier place, and lets processes see their views again.
    pub(crate) fn show_views(&self, epoch: Epoch) -> Result<(), Failure> {
        {
            let mut asleep = self.views.asleep();
            self.replace_window(epoch)?;
            *asleep = false;
        }
        // Their mappings show empty pages.
        self.for_each_user(|user| user.unmap_views());
        Ok(())
    }

    /// Passes the frame of a page of the BAR that a channel's context may see to `insert`, or `None` if it must not
    /// be seen.
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
            // Memory, not a part of the BAR.
            Area::Ring => insert(None),
        }
    }
}
