//! Calls without the interpreter's lock, and their end when the interpreter ends.
//!
//! At its exit, CPython up to 3.13 ends a daemon thread that asks for the lock by `pthread_exit`. That unwinds through
//! frames of Rust, which may not unwind, and aborts the process (PyO3 4874, CPython 87135). So from the exit on, a
//! thread that returns from a call here does not ask for the lock any more: it sleeps until the process has ended.

use pyo3::prelude::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Whether the interpreter ends. Then only daemon threads are left, and the thread that ends it.
static EXITING: AtomicBool = AtomicBool::new(false);

/// The thread that ends the interpreter.
static LEAVER: OnceLock<ThreadId> = OnceLock::new();

/// Number of threads that ask for the lock.
static ASKING: AtomicUsize = AtomicUsize::new(0);

/// The longest wait for threads that asked for the lock before the exit. In the child of a fork they may be its
/// parent's.
const PATIENCE: Duration = Duration::from_secs(1);

/// Calls `work` without the interpreter's lock.
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

/// Drops a value with Python objects, in a thread that Python does not know. At the exit nothing is dropped any more.
pub(crate) fn drop_beside<T>(value: T) {
    ASKING.fetch_add(1, Ordering::SeqCst);
    match is_exiting() {
        true => std::mem::forget(value),
        false => drop(value),
    }
    ASKING.fetch_sub(1, Ordering::SeqCst);
}

/// Returns whether the interpreter ends.
pub(crate) fn is_exiting() -> bool {
    EXITING.load(Ordering::SeqCst)
}

/// Notes the exit. `atexit` calls this before daemon threads are ended.
#[pyfunction]
fn _leave(py: Python<'_>) {
    let _ = LEAVER.set(thread::current().id());
    EXITING.store(true, Ordering::SeqCst);
    // Threads that asked before get the lock now.
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
