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
    logic::window::{self, Window},
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
}

struct State {
    lease: Option<Lease>,
    /// The block has forgotten where the window stands, or is about to.
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
            state <- new_mutex!(State { lease: None, asleep: false }),
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
        if state.lease.take().is_some() {
            self.hide_window(context);
        }
        self.hw.run(window.place())?;
        state.lease = Some(Lease { channel, window });
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

    /// Until [`wake_window`](Self::wake_window) mappings show nothing: the block forgets where
    /// the window stands, and would show the first bytes of its memory.
    pub(crate) fn rest_window(&self) {
        let lease = {
            let mut state = self.lending.lock();
            state.asleep = true;
            state.lease
        };
        // From here on no page of the window is put in.
        if let Some(lease) = lease {
            self.with_user(lease.channel, |user| self.hide_window(user));
        }
    }

    /// Puts the window where it stood.
    pub(crate) fn wake_window(&self) -> Result<(), Failure> {
        let lease = {
            let mut state = self.lending.lock();
            if let Some(lease) = &state.lease {
                self.hw.run(lease.window.place())?;
            }
            state.asleep = false;
            state.lease
        };
        // The holder has empty pages.
        if let Some(lease) = lease {
            self.with_user(lease.channel, |user| user.unmap_window());
        }
        Ok(())
    }

    /// Hands the frame of a page of the window to `insert`, or none if a channel is not to see it.
    pub(crate) fn with_window<R>(
        &self,
        channel: u32,
        page: usize,
        insert: impl FnOnce(Option<usize>) -> R,
    ) -> R {
        let state = self.lending.lock();
        let holds = state.lease.is_some_and(|lease| lease.channel == channel);
        let frame = match holds && !state.asleep {
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
