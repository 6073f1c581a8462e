//! The runtime's handlers, and when they may be called.

use crate::abi::{DeviceHandler, InterruptHandler, StatusHandler};
use crate::end;
use std::ffi::{c_int, c_void};
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// A handler with the pointer that it is called with.
#[derive(Debug, Clone, Copy)]
struct Handler<F> {
    function: F,
    /// The pointer's address, exposed.
    user: usize,
}

impl<F> Handler<F> {
    fn new(function: Option<F>, user: *mut c_void) -> Option<Self> {
        let user = user.expose_provenance();
        function.map(|function| Self { function, user })
    }

    fn user(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.user)
    }
}

#[derive(Debug, Default)]
struct State {
    interrupt: Option<Handler<InterruptHandler>>,
    status: Option<Handler<StatusHandler>>,
    device: Option<Handler<DeviceHandler>>,
    /// The thread in which the interrupt handler runs.
    running: Option<ThreadId>,
    /// How often it has returned.
    returns: u64,
}

/// The handlers of a board.
#[derive(Debug, Default)]
pub(crate) struct Handlers {
    state: Mutex<State>,
    /// The interrupt handler has returned.
    returned: Condvar,
}

impl Handlers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the interrupt handler. The one before has returned when this does, unless it is the caller.
    ///
    /// # Safety
    /// The function can be called with the pointer from any thread until another one is set.
    pub(crate) unsafe fn set_interrupt(
        &self,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) {
        let mut state = self.lock();
        state.interrupt = Handler::new(function, user);
        drop(self.until_this_returned(state));
    }

    /// Sets the handler of transfers' ends.
    ///
    /// # Safety
    /// As [`set_interrupt`](Self::set_interrupt).
    pub(crate) unsafe fn set_status(&self, function: Option<StatusHandler>, user: *mut c_void) {
        self.lock().status = Handler::new(function, user);
    }

    /// Sets the handler of the board's exceptions. This board tells of none: the BSPs have no signal for
    /// them, so the handler is only kept.
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

    /// Calls the interrupt handler, if there is one. Never from within an access of the runtime's to a
    /// kernel's registers: the handler makes such accesses under the runtime's lock for them.
    pub(crate) fn interrupt(&self, handle: c_int) {
        let mut state = self.lock();
        let Some(handler) = state.interrupt else {
            return;
        };
        state.running = Some(std::thread::current().id());
        drop(state);
        // SAFETY: who set it has promised that it can be called so.
        end::call(|| unsafe { (handler.function)(handle, handler.user()) });
        let mut state = self.lock();
        state.running = None;
        state.returns += 1;
        drop(state);
        self.returned.notify_all();
    }

    /// Tells the end of a transfer, to the handler that is set now.
    pub(crate) fn ended(&self, handle: c_int, op: usize) {
        let handler = self.lock().status;
        let Some(handler) = handler else {
            end::say("a transfer has ended, but no status handler is set");
            return;
        };
        let op = with_exposed_provenance_mut(op);
        // SAFETY: who set it has promised that it can be called so, and `op` is what the transfer was
        // begun with.
        end::call(|| unsafe { (handler.function)(handle, handler.user(), op, 0) });
    }

    /// Has the interrupt handler called no more. It has returned when this does, unless it is the caller.
    pub(crate) fn forget_interrupt(&self) {
        let mut state = self.lock();
        state.interrupt = None;
        drop(self.until_this_returned(state));
    }

    /// Has the interrupt handler called no more while `f` works, and gives it back unless `f` says that the
    /// runtime sets it anew.
    pub(crate) fn without_interrupt<T>(&self, f: impl FnOnce() -> (bool, T)) -> T {
        let mut state = self.lock();
        let before = state.interrupt.take();
        drop(self.until_this_returned(state));
        let (anew, result) = f();
        if !anew {
            self.lock().interrupt = before;
        }
        result
    }

    /// Waits for the end of the interrupt handler's call, if one is under way, unless it is the caller's own.
    pub(crate) fn until_returned(&self) {
        drop(self.until_this_returned(self.lock()));
    }

    fn until_this_returned<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let me = std::thread::current().id();
        let before = state.returns;
        while state.returns == before && state.running.is_some_and(|thread| thread != me) {
            state = (self.returned.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }
}
