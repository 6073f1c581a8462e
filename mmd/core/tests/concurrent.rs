//! The runtime's handlers under all orders of the threads that call, replace and remove them (loom). A handler that
//! runs after it was removed uses an object that its owner has freed: here a cell, whose uses loom checks.

use handlers::Handlers;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Functions that `mmd/core` has under these names.
mod end {
    pub(crate) struct Owed;

    pub(crate) fn call(_: bool, handler: impl FnOnce()) -> bool {
        handler();
        true
    }

    pub(crate) fn tell(_: Owed, handler: impl FnOnce()) {
        handler();
    }

    pub(crate) fn stays(_: *const std::ffi::c_void) -> bool {
        false
    }
}

mod messages {
    pub(crate) fn say(_: impl std::fmt::Display) {}
}

mod sync {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::{ThreadId, current};
}

#[allow(dead_code, reason = "a part of it is tried here")]
#[path = "../src/handlers.rs"]
mod handlers;

/// Object that a handler uses.
type Used = UnsafeCell<u32>;

fn user(used: &Arc<Used>) -> *mut c_void {
    Arc::as_ptr(used).cast_mut().cast()
}

unsafe extern "C" fn interrupt(_: c_int, used: *mut c_void) {
    // SAFETY: it was set with a pointer to this, and each test keeps it to its end.
    let used = unsafe { &*used.cast::<Used>() };
    // SAFETY: loom fails the test if another thread writes it at the same time.
    used.with(|value| assert_eq!(unsafe { *value }, 0));
}

/// Object that the handler of transfers uses, with the calls that have begun.
#[derive(Default)]
struct Told {
    used: UnsafeCell<u32>,
    calls: Mutex<u32>,
    called: Condvar,
}

unsafe extern "C" fn status(handle: c_int, told: *mut c_void, _: *mut c_void, _: c_int) {
    // SAFETY: as above.
    let told = unsafe { &*told.cast::<Told>() };
    *told.calls.lock().unwrap() += 1;
    told.called.notify_all();
    let used = std::ptr::from_ref(&told.used).cast_mut().cast();
    // SAFETY: as above.
    unsafe { interrupt(handle, used) };
}

/// Frees the object as the handler's owner: no handler may use it any more.
fn given_back(used: &Used) {
    // SAFETY: as above.
    used.with_mut(|value| unsafe { *value = 1 });
}

/// Makes handlers with one for interrupts.
fn set() -> (Arc<Handlers>, Arc<Used>) {
    let handlers = Arc::new(Handlers::default());
    let used = Arc::new(Used::new(0));
    // SAFETY: the object that it uses lives to the test's end.
    unsafe { handlers.set_interrupt(Some(interrupt), user(&used)) };
    (handlers, used)
}

fn spawn(handlers: &Arc<Handlers>, body: fn(&Handlers)) -> thread::JoinHandle<()> {
    let handlers = Arc::clone(handlers);
    thread::spawn(move || body(&handlers))
}

#[test]
fn a_handler_of_transfers_is_not_at_work_when_it_was_replaced() {
    loom::model(|| {
        let handlers = Arc::new(Handlers::default());
        let told = Arc::new(Told::default());
        let user = Arc::as_ptr(&told).cast_mut().cast();
        // SAFETY: the object that it uses lives to the test's end.
        unsafe { handlers.set_status(Some(status), user) };
        let listener = handlers.listener();
        let theirs = Arc::clone(&handlers);
        let call = thread::spawn(move || theirs.ended(listener, 1, 2, end::Owed));
        // The owner knows that all transfers that began with it have ended.
        let mut calls = told.calls.lock().unwrap();
        while *calls == 0 {
            calls = told.called.wait(calls).unwrap();
        }
        drop(calls);
        // SAFETY: there is no handler.
        unsafe { handlers.set_status(None, null_mut()) };
        given_back(&told.used);
        call.join().unwrap();
    });
}

#[test]
fn a_handler_of_interrupts_is_not_at_work_when_it_was_taken_away() {
    let ways: [fn(&Handlers); 3] = [
        Handlers::forget_interrupt,
        // SAFETY: there is no handler.
        |handlers| unsafe { handlers.set_interrupt(None, null_mut()) },
        |handlers| handlers.without_interrupt(|| (true, ())),
    ];
    for take in ways {
        loom::model(move || {
            let (handlers, used) = set();
            let call = spawn(&handlers, |handlers| assert!(handlers.interrupt(1)));
            take(&handlers);
            given_back(&used);
            call.join().unwrap();
        });
    }
}

/// One thread closes the board while another programs it: both return, and the handler stays removed.
#[test]
fn two_that_take_it_away_both_return() {
    loom::model(|| {
        let (handlers, used) = set();
        let call = spawn(&handlers, |handlers| assert!(handlers.interrupt(1)));
        let other = spawn(&handlers, |handlers| {
            handlers.without_interrupt(|| (true, ()))
        });
        handlers.forget_interrupt();
        call.join().unwrap();
        other.join().unwrap();
        assert!(!handlers.has_interrupt());
        given_back(&used);
    });
}

/// A thread that waits for a call in progress does not wait for calls that begin later.
#[test]
fn a_transfer_that_waits_for_the_handler_goes_on() {
    loom::model(|| {
        let (handlers, _used) = set();
        let calls = spawn(&handlers, |handlers| {
            handlers.interrupt(1);
            handlers.interrupt(1);
        });
        handlers.until_returned();
        calls.join().unwrap();
    });
}
