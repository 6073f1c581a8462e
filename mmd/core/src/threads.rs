//! The library's threads in another program.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::thread::{Builder, JoinHandle};

/// Signals of a thread's own faults.
const FAULTS: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Signals of a thread, as they were.
struct Blocked(libc::sigset_t);

impl Blocked {
    /// Blocks signals of the calling thread: the application handles its signals in its own threads. Signals of a
    /// thread's own [`FAULTS`] stay unblocked: where one is blocked, the system ends a process without its handlers.
    fn all() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: both are written by these calls, which cannot fail with these arguments
        // (POSIX.1-2017, `sigfillset`, `sigdelset` and `pthread_sigmask`).
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            for fault in FAULTS {
                libc::sigdelset(all.as_mut_ptr(), fault);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Self(before.assume_init())
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set is the one that the system gave.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

/// Starts a thread in which signals are blocked, but for those of its own faults.
pub(crate) fn spawn(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    // A thread begins with the mask of the one that starts it.
    let _blocked = Blocked::all();
    Builder::new().name(name.into()).spawn(body)
}

/// Waits for a thread's end, unless it is the calling one: a handler may close its board.
pub(crate) fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // Its panic was reported when it happened.
        let _ = thread.join();
    }
}
