// SPDX-License-Identifier: GPL-2.0

//! The window into FPGA memory: one a board, which one context at a time holds and may map.
//!
//! A mapping shows the board's window while its context holds it and the board is awake ([`crate::views`]), else an
//! empty page. Pages are put in when they are touched; whenever the memory that they show changes, they are removed
//! first. The lock is held from the check of the holder until the page is in the table, so no page is put in after
//! that.

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

/// The holder of the window, and its address.
#[derive(Clone, Copy)]
struct Lease {
    channel: u32,
    window: Window,
    /// It is at this address: no failure occurred when it was last moved.
    placed: bool,
}

/// The window of a board.
#[pin_data]
pub(crate) struct Lending {
    #[pin]
    lease: Mutex<Option<Lease>>,
}

impl Lending {
    /// Makes a window without a holder.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self { lease <- new_mutex!(None) })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Lease>> {
        self.lease.lock()
    }
}

impl Board {
    /// Returns the bytes of the window; 0: the board has none.
    pub(crate) fn window_bytes(&self) -> usize {
        match self.hw.place().window {
            Some(_) => window::BYTES as usize,
            None => 0,
        }
    }

    /// Returns the window of a channel, if the channel holds it.
    pub(crate) fn window_of(&self, channel: u32) -> Option<Window> {
        let lease = (*self.lending.lock())?;
        (lease.channel == channel).then_some(lease.window)
    }

    /// Lends the window to a context, or moves it. Its channel may access the memory that the window shows.
    pub(crate) fn lend_window(&self, context: &Context, window: Window) -> Result {
        let channel = context.channel;
        let asleep = self.views.asleep();
        let mut held = self.lending.lock();
        match &*held {
            Some(lease) if lease.channel != channel => return Err(EBUSY),
            _ if *asleep => return Err(EAGAIN),
            _ => {}
        }
        if held.is_some() {
            self.hide_window(context);
        }
        if let Err(failure) = self.hw.run(window.place()) {
            // Its holder keeps it. If it may be anywhere by now, also at half of a new address, it is not shown until
            // it was moved successfully.
            if let (Some(lease), false) = (&mut *held, matches!(failure, Failure::Away)) {
                lease.placed = false;
            }
            return Err(failure.into());
        }
        *held = Some(Lease {
            channel,
            window,
            placed: true,
        });
        // Its mapping may show empty pages.
        context.unmap_window();
        Ok(())
    }

    /// Takes the window from a context. `ENOENT`: it does not hold it.
    pub(crate) fn return_window(&self, context: &Context) -> Result {
        let mut held = self.lending.lock();
        match &*held {
            Some(lease) if lease.channel == context.channel => {}
            _ => return Err(ENOENT),
        }
        self.hide_window(context);
        *held = None;
        Ok(())
    }

    /// Moves the window of a board that is being started to its earlier place. A block keeps its window through a
    /// reset, but after a new configuration of the FPGA it is at 0, although its holder has another address.
    pub(crate) fn replace_window(&self, epoch: Epoch) -> Result<(), Failure> {
        if let Some(lease) = &mut *self.lending.lock() {
            self.hw.upkeep(epoch, lease.window.place())?;
            lease.placed = true;
        }
        Ok(())
    }

    /// Passes the frame of a page of the window to `insert`, or `None` if a channel does not hold it.
    pub(crate) fn with_window<R>(
        &self,
        channel: u32,
        page: usize,
        insert: impl FnOnce(Option<usize>) -> R,
    ) -> R {
        let held = self.lending.lock();
        let shows = |lease: &Lease| lease.channel == channel && lease.placed;
        let frame = match held.as_ref().is_some_and(shows) {
            true => self.window_pfn(page),
            false => None,
        };
        insert(frame)
    }

    /// Removes the pages of the window that a context has in its tables, and makes sure that no store through them is
    /// in progress any more.
    fn hide_window(&self, context: &Context) {
        context.unmap_window();
        // No processor makes new stores. The earlier ones have arrived when a load from the same slave is answered:
        // it passes none of them, neither on the link (PCI Express Base Specification, 2.4.1) nor in the bridges
        // between the hard IP and the slave.
        self.hw.load_from_window();
    }

    /// Returns the frame of a page of the window.
    fn window_pfn(&self, page: usize) -> Option<usize> {
        let first = self.bar_pfn(self.hw.place().window?)?;
        Some(first + page)
    }
}
