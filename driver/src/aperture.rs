// SPDX-License-Identifier: GPL-2.0

//! The window into FPGA memory: one a board, which one context at a time holds and may map.
//!
//! A mapping shows the board's window while its context holds it and the board is awake, else a
//! page with nothing in it. Pages come when they are touched; whenever what they may show changes,
//! they are taken away first. The lock is held from the look at the holder until the page is in
//! the table, and while pages are taken away, so none is put in behind that.

use crate::{
    board::Board,
    hw::Failure,
    logic::aperture::{self, Aperture},
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
    aperture: Aperture,
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
    pub(crate) fn aperture_bytes(&self) -> usize {
        match self.hw.place().window {
            Some(_) => aperture::BYTES as usize,
            None => 0,
        }
    }

    /// Where the window of a channel stands, if that holds it.
    pub(crate) fn aperture_of(&self, channel: u32) -> Option<Aperture> {
        let lease = self.lending.lock().lease?;
        (lease.channel == channel).then_some(lease.aperture)
    }

    /// Lends the window to a channel that may touch what it shows, or moves it for that.
    pub(crate) fn lend_aperture(&self, channel: u32, aperture: Aperture) -> Result {
        let mut state = self.lending.lock();
        match &state.lease {
            Some(lease) if lease.channel != channel => return Err(EBUSY),
            _ if state.asleep => return Err(EAGAIN),
            _ => {}
        }
        self.hide_aperture(&state);
        state.lease = None;
        self.hw.run(aperture.place())?;
        state.lease = Some(Lease { channel, aperture });
        self.show_aperture(&state);
        Ok(())
    }

    /// Takes the window back from a channel. `ENOENT`: it does not hold it.
    pub(crate) fn return_aperture(&self, channel: u32) -> Result {
        let mut state = self.lending.lock();
        if state.lease.is_none_or(|lease| lease.channel != channel) {
            return Err(ENOENT);
        }
        self.hide_aperture(&state);
        state.lease = None;
        Ok(())
    }

    /// Until [`wake_aperture`](Self::wake_aperture) mappings show nothing: the block forgets where
    /// the window stands, and would show the first bytes of its memory.
    pub(crate) fn rest_aperture(&self) {
        let mut state = self.lending.lock();
        self.hide_aperture(&state);
        state.asleep = true;
    }

    /// Puts the window where it stood.
    pub(crate) fn wake_aperture(&self) -> Result<(), Failure> {
        let mut state = self.lending.lock();
        if let Some(lease) = &state.lease {
            self.hw.run(lease.aperture.place())?;
        }
        state.asleep = false;
        self.show_aperture(&state);
        Ok(())
    }

    /// Hands the frame of a page of the window to `insert`, or none if a channel is not to see it.
    pub(crate) fn with_aperture<R>(
        &self,
        channel: u32,
        page: usize,
        insert: impl FnOnce(Option<usize>) -> R,
    ) -> R {
        let state = self.lending.lock();
        let holds = state.lease.is_some_and(|lease| lease.channel == channel);
        let frame = match holds && !state.asleep {
            true => self.aperture_pfn(page),
            false => None,
        };
        insert(frame)
    }

    /// Takes the pages away that the holder has in its tables, and sees that no store through them
    /// is under way any more.
    fn hide_aperture(&self, state: &State) {
        let Some(lease) = &state.lease else { return };
        self.with_user(lease.channel, |user| user.unmap_aperture());
        // No processor makes new ones. Those that were made have arrived when a load from the same
        // slave is answered: it passes none of them, neither on the link (PCI Express Base
        // Specification, 2.4.1) nor in the bridges between the hard IP and the slave.
        self.hw.load_from_window();
    }

    /// The frame of a page of the window.
    fn aperture_pfn(&self, page: usize) -> Option<usize> {
        let first = self.bar_pfn(self.hw.place().window?)?;
        Some(first + page)
    }

    /// Takes the empty pages away that the holder was given while it was not to see the window.
    fn show_aperture(&self, state: &State) {
        if let Some(lease) = &state.lease {
            self.with_user(lease.channel, |user| user.unmap_aperture());
        }
    }
}
