// SPDX-License-Identifier: GPL-2.0

//! Events that a context's waiters are notified of: interrupts, restarts, the board's end.

use crate::{
    ffi::peerlane_monotonic_to_host,
    logic::{
        events::{Account, Seen},
        uapi::NEVER,
    },
};
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
    time::{Delta, Jiffies},
};

/// A reference to an eventfd.
pub(crate) struct EventFd(NonNull<bindings::eventfd_ctx>);

// SAFETY: the kernel counts references to it and locks it itself.
unsafe impl Send for EventFd {}

impl EventFd {
    /// Returns the eventfd of a file descriptor of the calling process.
    pub(crate) fn from_fd(fd: i32) -> Result<Self> {
        // SAFETY: any number may be asked for.
        let raw = from_err_ptr(unsafe { bindings::eventfd_ctx_fdget(fd) })?;
        NonNull::new(raw).map(Self).ok_or(EBADF)
    }

    /// Adds 1 to it.
    pub(crate) fn signal(&self) {
        // SAFETY: we hold a reference.
        unsafe { bindings::eventfd_signal_mask(self.0.as_ptr(), 0) }
    }
}

impl Drop for EventFd {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and is not used any more.
        unsafe { bindings::eventfd_ctx_put(self.0.as_ptr()) }
    }
}

struct State {
    account: Account,
    eventfd: Option<EventFd>,
}

/// A moment of the host's `CLOCK_MONOTONIC`, in nanoseconds.
///
/// It does not move when a call is interrupted by a signal and made again.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(i64);

impl Deadline {
    /// No end.
    pub(crate) const NEVER: Self = Self(NEVER);

    /// Converts a time that the calling process names by the clock of its time namespace. `EINVAL`: the clock never
    /// shows such a time.
    pub(crate) fn from_user(ns: i64) -> Result<Self> {
        if ns < 0 {
            return Err(EINVAL);
        }
        // SAFETY: it reads the caller's time namespace, which a process has as long as it runs.
        let host = unsafe { peerlane_monotonic_to_host(ns) };
        // The clock of a time namespace can be later than the host's. Then the sum overflows for a late time.
        match ns == NEVER || host < 0 {
            true => Ok(Self::NEVER),
            false => Ok(Self(host)),
        }
    }

    /// Returns the moment so much later than now.
    pub(crate) fn after(delta: Delta) -> Self {
        Self(now().saturating_add(delta.as_nanos()))
    }

    /// Returns the time until then; `None` if it is over.
    pub(crate) fn left(&self) -> Option<Delta> {
        let left = self.0.saturating_sub(now());
        (left > 0).then(|| Delta::from_nanos(left))
    }
}

/// Returns `CLOCK_MONOTONIC`, in nanoseconds.
pub(crate) fn now() -> i64 {
    // SAFETY: it may be called everywhere.
    unsafe { bindings::ktime_get() }
}

/// Converts a time to jiffies, or to a few weeks if it is longer.
fn jiffies(delta: Delta) -> Jiffies {
    let ms = delta.as_nanos().unsigned_abs().div_ceil(1_000_000);
    // `msecs_to_jiffies` takes a time that is too long for ever.
    kernel::time::msecs_to_jiffies(ms.min(i32::MAX as u64) as u32)
}

/// Results of a wait.
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
    /// Makes the events of a new context: none has happened.
    pub(crate) fn new() -> impl PinInit<Self> {
        let account = Account::new();
        pin_init!(Self {
            state <- new_mutex!(State { account, eventfd: None }),
            changed <- new_poll_condvar!(),
        })
    }

    /// Returns the events so far.
    pub(crate) fn seen(&self) -> Seen {
        self.state.lock().account.seen()
    }

    /// Records the events that the user has seen.
    pub(crate) fn told(&self, seen: &Seen) {
        self.state.lock().account.told(seen);
    }

    fn tell<R>(&self, change: impl FnOnce(&mut Account) -> R) -> R {
        let mut state = self.state.lock();
        let result = change(&mut state.account);
        if let Some(eventfd) = &state.eventfd {
            eventfd.signal();
        }
        drop(state);
        self.changed.notify_all();
        result
    }

    /// Notifies of possible new records in the ring.
    pub(crate) fn interrupt(&self) {
        self.tell(Account::event);
    }

    /// Notifies that the channel starts again at the first slot of its ring. Returns the new generation.
    pub(crate) fn restarted(&self) -> u32 {
        self.tell(Account::restarted)
    }

    /// Notifies that a region's memory was invalidated by its owner.
    pub(crate) fn revoked(&self) {
        self.tell(Account::revoked);
    }

    /// Notifies that the board is gone permanently.
    pub(crate) fn gone(&self) {
        self.tell(Account::gone);
    }

    /// Sets the eventfd to which events are added from now on, or none. The old one is returned, to be released
    /// without our lock.
    pub(crate) fn set_eventfd(&self, eventfd: Option<EventFd>) -> Option<EventFd> {
        core::mem::replace(&mut self.state.lock().eventfd, eventfd)
    }

    /// Waits until more has happened than was seen, or the time is over: not before, and up to a jiffy later.
    pub(crate) fn wait(&self, seen: u64, deadline: Deadline) -> Woken {
        let mut state = self.state.lock();
        loop {
            let now = state.account.seen();
            if now.events != seen || now.gone {
                return Woken::Event;
            }
            let Some(left) = deadline.left() else {
                return Woken::Late;
            };
            let woken = self
                .changed
                .wait_interruptible_timeout(&mut state, jiffies(left));
            if let CondVarTimeoutResult::Signal { .. } = woken {
                return Woken::Signal;
            }
        }
    }

    /// Returns the result of `poll`: readable while there are events that the user has not seen.
    pub(crate) fn poll(&self, file: &File, table: PollTable<'_>) -> bindings::__poll_t {
        table.register_wait(file, &self.changed);
        let state = self.state.lock();
        let mut mask = 0;
        if state.account.has_news() {
            mask |= bindings::POLLIN;
        }
        if state.account.seen().gone {
            mask |= bindings::POLLHUP | bindings::POLLERR;
        }
        mask
    }
}
