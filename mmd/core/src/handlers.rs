//! The runtime's handlers, and the times at which they may be called.

use crate::end::{self, Owed};
use crate::messages::say;
use crate::sync::{Condvar, Mutex, MutexGuard, ThreadId, current};
use std::ffi::{c_int, c_void};
use std::ptr::with_exposed_provenance_mut;
use std::sync::PoisonError;

/// `aocl_mmd_interrupt_handler_fn`.
pub type InterruptHandler = unsafe extern "C" fn(c_int, *mut c_void);

/// `aocl_mmd_status_handler_fn`.
pub type StatusHandler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, c_int);

/// `aocl_mmd_device_interrupt_handler_fn`; its second argument is an `aocl_mmd_interrupt_info`.
pub type DeviceHandler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void);

/// A handler with the pointer that it is called with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handler<F> {
    function: F,
    /// The pointer's address, exposed.
    user: usize,
    /// Whether the runtime is there until all of the program's destructors have run.
    stays: bool,
}

impl<F> Handler<F> {
    fn new(function: Option<F>, user: *mut c_void) -> Option<Self> {
        let user = user.expose_provenance();
        let stays = false;
        function.map(|function| Self {
            function,
            user,
            stays,
        })
    }

    fn user(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.user)
    }
}

/// The handler of a transfer's end, if there is one.
pub(crate) type Listener = Option<Handler<StatusHandler>>;

/// Kinds of handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Interrupt,
    Status,
}

#[derive(Debug, Default)]
struct State {
    interrupt: Option<Handler<InterruptHandler>>,
    status: Listener,
    device: Option<Handler<DeviceHandler>>,
    /// Calls that have not returned.
    calls: Vec<Call>,
    /// Calls so far; the number of the next one.
    number: u64,
}

/// A handler's call in progress.
#[derive(Debug)]
struct Call {
    kind: Kind,
    thread: ThreadId,
    number: u64,
}

/// The handlers of a board.
#[derive(Debug, Default)]
pub(crate) struct Handlers {
    state: Mutex<State>,
    /// Notified when a handler has returned.
    returned: Condvar,
}

impl Handlers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces a handler, and waits until the earlier one has returned from all calls that had begun, without those of
    /// the calling thread: a handler may replace itself. The earlier handler is not called any more when this returns,
    /// and the objects that it uses may be freed.
    fn replace<T>(&self, kind: Kind, swap: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let before = swap(&mut state);
        drop(self.until_returned_from(state, kind));
        before
    }

    fn until_returned_from<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        kind: Kind,
    ) -> MutexGuard<'a, State> {
        let (me, now) = (current().id(), state.number);
        let others = |call: &Call| call.kind == kind && call.thread != me && call.number < now;
        while state.calls.iter().any(others) {
            state = (self.returned.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Calls the handler that `handler` gives, and returns its result; `None`: there is no handler. No lock is held
    /// during the call.
    fn call<F: Copy, T>(
        &self,
        kind: Kind,
        handler: impl FnOnce(&State) -> Option<Handler<F>>,
        call: impl FnOnce(Handler<F>) -> T,
    ) -> Option<T> {
        let mut state = self.lock();
        let handler = handler(&state)?;
        let number = state.number;
        state.number += 1;
        state.calls.push(Call {
            kind,
            thread: current().id(),
            number,
        });
        drop(state);
        let result = call(handler);
        self.lock().calls.retain(|call| call.number != number);
        self.returned.notify_all();
        Some(result)
    }

    /// Sets the interrupt handler. The earlier one has returned when this returns, unless it is the caller.
    ///
    /// # Safety
    /// The function can be called with the pointer from any thread until another one is set.
    pub(crate) unsafe fn set_interrupt(
        &self,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) {
        let mut new = Handler::new(function, user);
        if let Some(new) = &mut new {
            new.stays = end::stays(new.function as *const c_void);
        }
        self.replace(Kind::Interrupt, |state| state.interrupt = new);
    }

    /// Sets the handler of the ends of transfers that begin from now on. Calls of the earlier handler that have begun
    /// have returned when this returns, unless that handler is the caller.
    ///
    /// # Safety
    /// As [`set_interrupt`](Self::set_interrupt), and after that until all transfers that began with it have ended.
    pub(crate) unsafe fn set_status(&self, function: Option<StatusHandler>, user: *mut c_void) {
        let new = Handler::new(function, user);
        self.replace(Kind::Status, |state| state.status = new);
    }

    /// Sets the handler of the board's exceptions. This board reports none: the BSPs have no signal for them, so the
    /// handler is only stored.
    ///
    /// # Safety
    /// As [`set_interrupt`](Self::set_interrupt).
    pub(crate) unsafe fn set_device(&self, function: Option<DeviceHandler>, user: *mut c_void) {
        self.lock().device = Handler::new(function, user);
    }

    /// Whether there is an interrupt handler.
    pub(crate) fn has_interrupt(&self) -> bool {
        self.lock().interrupt.is_some()
    }

    /// Calls the interrupt handler, if there is one; `false`: it cannot be called now, because the process is at its
    /// end. Do not call this during an access of the runtime's to a kernel's registers: the handler makes such accesses
    /// under the runtime's lock for them.
    pub(crate) fn interrupt(&self, handle: c_int) -> bool {
        let called = self.call(
            Kind::Interrupt,
            |state| state.interrupt,
            |handler| {
                // SAFETY: the code that set the handler has promised that it can be called in this way.
                let call = || unsafe { (handler.function)(handle, handler.user()) };
                end::call(handler.stays, call)
            },
        );
        called.unwrap_or(true)
    }

    /// Returns the handler that is set now, for the end of a transfer that begins now. The runtime's copy between two
    /// boards sets a handler of its own in the meantime, which ends the process when it is called for another operation
    /// (`acl_hal_mmd_copy_globalmem_to_globalmem`, `acl_hal_mmd.cpp`).
    pub(crate) fn listener(&self) -> Listener {
        self.lock().status
    }

    /// Reports the end of a transfer, which is owed to the runtime.
    pub(crate) fn ended(&self, listener: Listener, handle: c_int, op: usize, owed: Owed) {
        let op = with_exposed_provenance_mut(op);
        let told = self.call(
            Kind::Status,
            |_| listener,
            |handler| {
                // SAFETY: the code that set the handler has promised that it can be called in this way, and the
                // transfer was begun with `op`.
                let call = || unsafe { (handler.function)(handle, handler.user(), op, 0) };
                end::tell(owed, call);
            },
        );
        if told.is_none() {
            say("a transfer has ended, but no status handler is set");
        }
    }

    /// Removes the interrupt handler. It has returned when this returns, unless it is the caller.
    pub(crate) fn forget_interrupt(&self) {
        self.replace(Kind::Interrupt, |state| state.interrupt = None);
    }

    /// Removes the interrupt handler while `f` works, and restores it unless `f` reports that the runtime sets it
    /// again. It is also restored if `f` panics.
    pub(crate) fn without_interrupt<T>(&self, f: impl FnOnce() -> (bool, T)) -> T {
        /// Restores the handler when it is dropped.
        struct Back<'a>(&'a Handlers, Option<Handler<InterruptHandler>>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                if let Some(before) = self.1.take() {
                    self.0.lock().interrupt = Some(before);
                }
            }
        }
        let before = self.replace(Kind::Interrupt, |state| state.interrupt.take());
        let mut back = Back(self, before);
        let (anew, result) = f();
        if anew {
            back.1 = None;
        }
        result
    }

    /// Waits for the end of the interrupt handler's call, if one is in progress, unless it is the caller's own.
    pub(crate) fn until_returned(&self) {
        drop(self.until_returned_from(self.lock(), Kind::Interrupt));
    }
}
