//! Handlers that are removed while they are at work. `tests/concurrent.rs` has the same in every order of threads.

use crate::end::Owed;
use crate::handlers::Handlers;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Objects that a handler uses, which are freed when the handler is removed.
#[derive(Default)]
struct Use {
    alive: AtomicBool,
    inside: AtomicBool,
    go: AtomicBool,
    late: AtomicUsize,
}

fn user(of: &'static Use) -> *mut c_void {
    of.alive.store(true, Ordering::SeqCst);
    std::ptr::from_ref(of).cast_mut().cast()
}

fn used() -> &'static Use {
    kept(Use::default())
}

/// Leaks the target of a handler's pointer; a list of all targets shows a leak detector that they are still reachable.
fn kept<T: Sync>(of: T) -> &'static T {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let of: &'static T = Box::leak(Box::new(of));
    KEPT.lock().unwrap().push(std::ptr::from_ref(of).addr());
    of
}

fn slow(of: *mut c_void) {
    // SAFETY: it was set with a pointer to this, which is never freed.
    let of = unsafe { &*of.cast::<Use>() };
    of.inside.store(true, Ordering::SeqCst);
    while !of.go.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let late = !of.alive.load(Ordering::SeqCst);
    of.late.fetch_add(usize::from(late), Ordering::SeqCst);
}

unsafe extern "C" fn slow_status(_: c_int, of: *mut c_void, _: *mut c_void, _: c_int) {
    slow(of);
}

unsafe extern "C" fn slow_interrupt(_: c_int, of: *mut c_void) {
    slow(of);
}

/// Runs a handler in another thread while `take` removes it; returns whether the handler used its target too late.
fn taken(handlers: &Handlers, of: &'static Use, call: fn(&Handlers), take: impl FnOnce()) -> bool {
    std::thread::scope(|scope| {
        scope.spawn(|| call(handlers));
        let begin = Instant::now();
        while !of.inside.load(Ordering::SeqCst) {
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            of.go.store(true, Ordering::SeqCst);
        });
        take();
        of.alive.store(false, Ordering::SeqCst);
    });
    of.late.load(Ordering::SeqCst) > 0
}

#[test]
fn no_handler_is_at_work_when_it_was_taken_away() {
    let handlers = Handlers::default();
    let of = used();
    // SAFETY: the target of its pointer is never freed.
    unsafe { handlers.set_status(Some(slow_status), user(of)) };
    let none = std::ptr::null_mut();
    // SAFETY: there is no handler.
    let take = || unsafe { handlers.set_status(None, none) };
    assert!(!taken(
        &handlers,
        of,
        |handlers| handlers.ended(handlers.listener(), 1, 2, Owed::new()),
        take
    ));
    let interrupted: [&dyn Fn(); 3] = [
        // SAFETY: as above.
        &|| unsafe { handlers.set_interrupt(None, none) },
        &|| handlers.forget_interrupt(),
        &|| handlers.without_interrupt(|| (true, ())),
    ];
    for take in interrupted {
        let of = used();
        // SAFETY: the target of its pointer is never freed.
        unsafe { handlers.set_interrupt(Some(slow_interrupt), user(of)) };
        let call = |handlers: &Handlers| assert!(handlers.interrupt(1));
        assert!(!taken(&handlers, of, call, take));
        assert!(!handlers.has_interrupt());
    }
}

#[test]
fn a_handler_may_take_itself_away() {
    unsafe extern "C" fn own(_: c_int, handlers: *mut c_void) {
        // SAFETY: it was set with a pointer to this.
        let handlers = unsafe { &*handlers.cast::<Handlers>() };
        handlers.forget_interrupt();
        // SAFETY: there is no handler.
        unsafe { handlers.set_interrupt(None, std::ptr::null_mut()) };
        handlers.until_returned();
    }
    let handlers = kept(Handlers::default());
    let user = std::ptr::from_ref(handlers).cast_mut().cast();
    // SAFETY: it lives as long as the process.
    unsafe { handlers.set_interrupt(Some(own), user) };
    handlers.interrupt(1);
    assert!(!handlers.has_interrupt());
}

#[test]
fn a_panic_gives_the_handler_back() {
    let handlers = Handlers::default();
    // SAFETY: the target of its pointer is never freed.
    unsafe { handlers.set_interrupt(Some(slow_interrupt), user(used())) };
    let panics = || handlers.without_interrupt(|| -> (bool, ()) { panic!("planted") });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
    assert!(caught.is_err() && handlers.has_interrupt());
}
