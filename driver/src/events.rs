// SPDX-License-Identifier: GPL-2.0

//! What a context's waiters are told: interrupts, restarts, the board's end.

use core::ptr::NonNull;
use kernel::{
    bindings,
    error::from_err_ptr,
    fs::File,
    new_mutex, new_poll_condvar,
    prelude::*,
    sync::{
        poll::{PollCondVar, PollTable},
        CondVarTimeoutResult, Mutex,
    },
    time::Jiffies,
};

/// A reference to an eventfd.
pub(crate) struct EventFd(NonNull<bindings::eventfd_ctx>);

// SAFETY: the kernel counts references to it and locks it itself.
unsafe impl Send for EventFd {}

impl EventFd {
    /// The eventfd behind a file descriptor of the calling process.
    pub(crate) fn from_fd(fd: i32) -> Result<Self> {
        // SAFETY: any number may be asked for.
        let raw = from_err_ptr(unsafe { bindings::eventfd_ctx_fdget(fd) })?;
        NonNull::new(raw).map(Self).ok_or(EBADF)
    }

    fn signal(&self) {
        // SAFETY: we hold a reference.
        unsafe { bindings::eventfd_signal_mask(self.0.as_ptr(), 0) }
    }
}

impl Drop for EventFd {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and nobody uses it after us.
        unsafe { bindings::eventfd_ctx_put(self.0.as_ptr()) }
    }
}

/// What has happened to a context so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Interrupts, and other reasons to look at the ring.
    pub(crate) events: u64,
    /// Times that the channel was started anew.
    pub(crate) generation: u32,
    /// The board does not answer, or has been let go.
    pub(crate) gone: bool,
    /// Times that the owner of a region has taken its memory back.
    pub(crate) revoked: u32,
}

struct State {
    seen: Seen,
    /// `events` as the user knows them.
    acknowledged: u64,
    eventfd: Option<EventFd>,
}

/// How a wait ended.
#[derive(PartialEq, Eq)]
pub(crate) enum Woken {
    /// Something has happened.
    Event,
    /// The time is over.
    Late,
    /// A signal has come.
    Signal,
}

/// The events of one context. Its lock is the last in every order.
#[pin_data]
pub(crate) struct Events {
    #[pin]
    state: Mutex<State>,
    #[pin]
    changed: PollCondVar,
}

impl Events {
    /// Nothing has happened.
    pub(crate) fn new() -> impl PinInit<Self> {
        let seen = Seen {
            events: 0,
            generation: 0,
            gone: false,
            revoked: 0,
        };
        pin_init!(Self {
            state <- new_mutex!(State { seen, acknowledged: 0, eventfd: None }),
            changed <- new_poll_condvar!(),
        })
    }

    /// What has happened so far.
    pub(crate) fn seen(&self) -> Seen {
        self.state.lock().seen
    }

    /// The same, for the user, who knows of it then.
    pub(crate) fn acknowledge(&self) -> Seen {
        let mut state = self.state.lock();
        state.acknowledged = state.seen.events;
        state.seen
    }

    fn tell(&self, change: impl FnOnce(&mut Seen)) {
        let mut state = self.state.lock();
        change(&mut state.seen);
        state.seen.events += 1;
        if let Some(eventfd) = &state.eventfd {
            eventfd.signal();
        }
        drop(state);
        self.changed.notify_all();
    }

    /// There may be new records in the ring.
    pub(crate) fn interrupt(&self) {
        self.tell(|_| ());
    }

    /// The channel starts again at the first slot of its ring.
    pub(crate) fn restarted(&self) {
        self.tell(|seen| seen.generation += 1);
    }

    /// A region's memory was taken back.
    pub(crate) fn revoked(&self) {
        self.tell(|seen| seen.revoked += 1);
    }

    /// The board is gone for good.
    pub(crate) fn gone(&self) {
        self.tell(|seen| seen.gone = true);
    }

    /// Adds to this eventfd from now on, or to none. The old one is handed back, to be let go
    /// without our lock.
    pub(crate) fn set_eventfd(&self, eventfd: Option<EventFd>) -> Option<EventFd> {
        core::mem::replace(&mut self.state.lock().eventfd, eventfd)
    }

    /// Waits until more has happened than was seen, for so many jiffies at most; leaves what is
    /// left of them.
    pub(crate) fn wait(&self, seen: u64, limit: &mut Jiffies) -> Woken {
        let mut state = self.state.lock();
        while state.seen.events == seen && !state.seen.gone {
            match self.changed.wait_interruptible_timeout(&mut state, *limit) {
                CondVarTimeoutResult::Woken { jiffies } => *limit = jiffies,
                CondVarTimeoutResult::Timeout => {
                    if state.seen.events == seen {
                        return Woken::Late;
                    }
                }
                CondVarTimeoutResult::Signal { .. } => return Woken::Signal,
            }
        }
        Woken::Event
    }

    /// What `poll` has to say: readable while there are events that were not acknowledged.
    pub(crate) fn poll(&self, file: &File, table: PollTable<'_>) -> bindings::__poll_t {
        table.register_wait(file, &self.changed);
        let state = self.state.lock();
        let mut mask = 0;
        if state.acknowledged != state.seen.events {
            mask |= bindings::POLLIN;
        }
        if state.seen.gone {
            mask |= bindings::POLLHUP | bindings::POLLERR;
        }
        mask
    }
}
