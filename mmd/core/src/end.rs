//! Messages, and the end of the process's use of a board.

use std::cell::Cell;
use std::fmt::Display;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the end of the process waits at most for handlers that run in other threads: longer than they take on a
/// computer that is busy, for the runtime ends the process if somebody is in it then (`l_global_lock_uninit`,
/// `acl_thread.cpp` of intel/fpga-runtime-for-opencl v2025.0). One that waits for the thread which ends the process
/// never returns.
const LAST_CALL: Duration = Duration::from_secs(5);

thread_local! {
    /// Handlers that run in this thread.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// The process is at its end: the runtime's own data may be gone.
static EXITING: AtomicBool = AtomicBool::new(false);

/// Handlers that run now, in this process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Writes a line to standard error. Nothing else can be done where that is closed.
///
/// It is one call of `write`, without the lock of the standard library's stream: a child that a fork makes would wait
/// for ever for a lock that another thread of its parent has.
pub(crate) fn say(message: impl Display) {
    let line = format!("Peerlane MMD: {message}\n");
    let mut left = line.as_bytes();
    while !left.is_empty() {
        // SAFETY: so many bytes are there.
        let written = unsafe { libc::write(libc::STDERR_FILENO, left.as_ptr().cast(), left.len()) };
        match usize::try_from(written) {
            Ok(written) => left = &left[written..],
            Err(_) if std::io::Error::last_os_error().kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Ends the process, because OpenCL cannot be told what happened: in sentences.
pub(crate) fn end(message: impl Display) -> ! {
    say(format_args!(
        "{message} OpenCL has no way to hear of this, so the program ends here."
    ));
    std::process::abort()
}

/// Does something that OpenCL cannot be told the failure of: a panic ends the process. It must not unwind into C, and
/// a thread that is gone would never tell the end of what was given to it.
pub(crate) fn vital<T>(f: impl FnOnce() -> T) -> T {
    // What a panic leaves behind nobody looks at any more.
    catch_unwind(AssertUnwindSafe(f))
        .unwrap_or_else(|_| end("An error of this library (see above)."))
}

/// Calls into the runtime, unless the process is at its end.
pub(crate) fn call(handler: impl FnOnce()) {
    RUNNING.fetch_add(1, Ordering::SeqCst);
    OWN.set(OWN.get() + 1);
    if !EXITING.load(Ordering::SeqCst) {
        handler();
    }
    OWN.set(OWN.get() - 1);
    RUNNING.fetch_sub(1, Ordering::SeqCst);
}

/// Has no handler called from the beginning of the process's end on. The runtime's objects are destroyed
/// at exit, after this: functions that were registered later run earlier (POSIX.1-2017, `atexit`), and the
/// runtime was loaded before it opened a board.
pub(crate) fn at_exit() {
    extern "C" fn exit() {
        EXITING.store(true, Ordering::SeqCst);
        // A handler that runs may be the one which ends the process.
        let own = OWN.get();
        let begin = Instant::now();
        while RUNNING.load(Ordering::SeqCst) > own && begin.elapsed() < LAST_CALL {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    /// A child that a fork makes has the thread that forked, and no other (POSIX.1-2017, `fork`): what the parent's
    /// threads were in, nobody there ever leaves.
    extern "C" fn forked() {
        RUNNING.store(OWN.get(), Ordering::SeqCst);
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: as below. In the child it touches an atomic number and one of the thread's own.
        let registered = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        if registered != 0 {
            say("a forked process may take seconds to end: pthread_atfork failed");
        }
        // SAFETY: it is a function of this library, which is never unloaded, and calls nothing that may be
        // destroyed before it.
        let registered = unsafe { libc::atexit(exit) };
        if registered != 0 {
            say("the end of the process may be disturbed by interrupts: atexit failed");
        }
    });
}
