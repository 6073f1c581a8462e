//! Calls without the interpreter's lock, and their end when the interpreter ends.
//!
//! CPython up to 3.13 ends a daemon thread that asks for the lock at the exit by `pthread_exit`. That unwinds through
//! frames of Rust, which may not unwind, and aborts the process (PyO3 4874, CPython 87135). So from the exit on, a
//! thread that returns from a call here asks for the lock no more: it sleeps until the process has ended.

use pyo3::prelude::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The interpreter ends. Only daemon threads are left, and the one that ends it.
static EXITING: AtomicBool = AtomicBool::new(false);

/// The thread that ends the interpreter.
static LEAVER: OnceLock<ThreadId> = OnceLock::new();

/// Threads that ask for the lock.
static ASKING: AtomicUsize = AtomicUsize::new(0);

/// How long those may take that asked for the lock before the exit. In the child of a fork they may be its parent's.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does something without the interpreter's lock.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let done = py.detach(|| {
        let done = work();
        ASKING.fetch_add(1, Ordering::SeqCst);
        if is_exiting() && LEAVER.get() != Some(&thread::current().id()) {
            ASKING.fetch_sub(1, Ordering::SeqCst);
            loop {
                thread::park();
            }
        }
        done
    });
    ASKING.fetch_sub(1, Ordering::SeqCst);
    done
}

/// Drops what has objects of Python's, by a thread that is none of Python's. At the exit nothing is dropped any more.
pub(crate) fn drop_beside<T>(value: T) {
    ASKING.fetch_add(1, Ordering::SeqCst);
    match is_exiting() {
        true => std::mem::forget(value),
        false => drop(value),
    }
    ASKING.fetch_sub(1, Ordering::SeqCst);
}

/// Whether the interpreter ends.
pub(crate) fn is_exiting() -> bool {
    EXITING.load(Ordering::SeqCst)
}

/// For `atexit`, whose functions are called before daemon threads are ended.
#[pyfunction]
fn _leave(py: Python<'_>) {
    let _ = LEAVER.set(thread::current().id());
    EXITING.store(true, Ordering::SeqCst);
    // Those that asked before get the lock now.
    py.detach(|| {
        let begin = Instant::now();
        while ASKING.load(Ordering::SeqCst) > 0 && begin.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Has the interpreter call [`_leave`].
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let leave = wrap_pyfunction!(_leave, module)?;
    module
        .py()
        .import("atexit")?
        .call_method1("register", (leave,))?;
    Ok(())
}
