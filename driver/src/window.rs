// SPDX-License-Identifier: GPL-2.0

//! The window into FPGA memory: one a board, which one context at a time holds and may map.
//!
//! A mapping shows the board's window while its context holds it and the board is awake, else a
//! page with nothing in it. Pages come when they are touched; whenever what they may show changes,
//! they are taken away first. The lock is held from the look at the holder until the page is in
//! the table, so none is put in behind that.

use crate::{
    board::Board,
    context::Context,
    hw::Failure,
    logic::{
        lifecycle::Epoch,
        window::{self, Window},
    },
};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{Mutex, MutexGuard},
};

/// Who holds the window, and where it stands.
#[derive(Clone, Copy)]
struct Lease {
    channel: u32,
    window: Window,
    /// It stands there: nothing went wrong when it was last moved.
    placed: bool,
}

struct State {
    lease: Option<Lease>,
    /// Nobody may reach the window: the block is not awake, or not looked at yet. No reset moves the window, but
    /// where the FPGA was configured anew it stands at 0, whatever its holder was told.
    asleep: bool,
}

/// The window of a board.
#[pin_data]
pub(crate) struct Lending {
    #[pin]
    state: Mutex<State>,
}

impl Lending {
    /// Nobody holds it.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            state <- new_mutex!(State { lease: None, asleep: true }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Board {
    /// Bytes of the window; 0: the board has none.
    pub(crate) fn window_bytes(&self) -> usize {
        match self.hw.place().window {
            Some(_) => window::BYTES as usize,
            None => 0,
        }
    }

    /// Where the window of a channel stands, if that holds it.
    pub(crate) fn window_of(&self, channel: u32) -> Option<Window> {
        let lease = self.lending.lock().lease?;
        (lease.channel == channel).then_some(lease.window)
    }

    /// Lends the window to a context whose channel may touch what it shows, or moves it for that.
    pub(crate) fn lend_window(&self, context: &Context, window: Window) -> Result {
        let channel = context.channel;
        let mut state = self.lending.lock();
        match &state.lease {
            Some(lease) if lease.channel != channel => return Err(EBUSY),
            _ if state.asleep => return Err(EAGAIN),
            _ => {}
        }
        if state.lease.is_some() {
            self.hide_window(context);
        }
        if let Err(failure) = self.hw.run(window.place()) {
            // Its holder keeps it. If it may stand anywhere by now, at half of a new address too, it is
            // not shown until it was put somewhere.
            if let (Some(lease), false) = (&mut state.lease, matches!(failure, Failure::Away)) {
                lease.placed = false;
            }
            return Err(failure.into());
        }
        state.lease = Some(Lease {
            channel,
            window,
            placed: true,
        });
        // It may have empty pages.
        context.unmap_window();
        Ok(())
    }

    /// Takes the window back from a context. `ENOENT`: it does not hold it.
    pub(crate) fn return_window(&self, context: &Context) -> Result {
        let mut state = self.lending.lock();
        match &state.lease {
            Some(lease) if lease.channel == context.channel => {}
            _ => return Err(ENOENT),
        }
        self.hide_window(context);
        state.lease = None;
        Ok(())
    }

    /// Takes away what processes see of the BAR, their channels' pages, the window and the OpenCL side: until
    /// [`show_views`](Self::show_views) mappings show nothing. A function that is reset or sleeps
    /// takes no access. A block keeps its window through a reset; one that was configured anew meanwhile would
    /// show the first bytes of its memory, until the driver has looked and put the window where it stood.
    ///
    /// An empty page, not a fault that waits: whoever waits there holds its address space's lock,
    /// for as long as a sleep may last, and cannot be frozen. What is stored into the page is lost
    /// like all that was under way; a process learns of that by its context's generation.
    pub(crate) fn hide_views(&self) {
        self.lending.lock().asleep = true;
        self.hide_kernels();
        // From here on no page is put in. Stores to the channels' pages have arrived when the next
        // register is read, those through the window when a load from it is answered.
        self.for_each_user(|user| user.unmap_views());
        self.hw.load_from_window();
    }

    /// Puts the window where it stood, and lets processes see their views again.
    pub(crate) fn show_views(&self, epoch: Epoch) -> Result<(), Failure> {
        {
            let mut state = self.lending.lock();
            if let Some(lease) = &mut state.lease {
                self.hw.upkeep(epoch, lease.window.place())?;
                lease.placed = true;
            }
            state.asleep = false;
        }
        // They have empty pages.
        self.for_each_user(|user| user.unmap_views());
        Ok(())
    }

    /// Hands the frame of a channel's page to `insert`, or none while it is not to be seen.
    pub(crate) fn with_page<R>(
        &self,
        channel: u32,
        insert: impl FnOnce(Option<usize>) -> R,
    ) -> R {
        let state = self.lending.lock();
        let frame = match state.asleep {
            true => None,
            false => self.page_pfn(channel),
        };
        insert(frame)
    }

    /// Hands the frame of a page of the window to `insert`, or none if a channel is not to see it.
    pub(crate) fn with_window<R>(
        &self,
        channel: u32,
        page: usize,
        insert: impl FnOnce(Option<usize>) -> R,
    ) -> R {
        let state = self.lending.lock();
        let shows = |lease: Lease| lease.channel == channel && lease.placed;
        let frame = match state.lease.is_some_and(shows) && !state.asleep {
            true => self.window_pfn(page),
            false => None,
        };
        insert(frame)
    }

    /// Takes the pages away that a context has in its tables, and sees that no store through them
    /// is under way any more.
    fn hide_window(&self, context: &Context) {
        context.unmap_window();
        // No processor makes new ones. Those that were made have arrived when a load from the same
        // slave is answered: it passes none of them, neither on the link (PCI Express Base
        // Specification, 2.4.1) nor in the bridges between the hard IP and the slave.
        self.hw.load_from_window();
    }

    /// The frame of a page of the window.
    fn window_pfn(&self, page: usize) -> Option<usize> {
        let first = self.bar_pfn(self.hw.place().window?)?;
        Some(first + page)
    }
}
