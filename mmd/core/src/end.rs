//! The end of the process's use of a board.

use crate::code::CL_BOARD_CLOSED_PEERLANE;
use crate::files;
use crate::home::object;
use crate::messages::say;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Longest time that the process's end waits for transfers that were begun and for handlers that run in other threads.
/// They take less time on a busy computer, and the runtime ends the process if a thread is in it then
/// (`l_global_lock_uninit`, `acl_thread.cpp` of intel/fpga-runtime-for-opencl v2025.0). A handler that waits for the
/// thread that ends the process never returns. A transfer that takes longer is reported at its end all the same: a
/// destructor may wait for it. The runtime may be gone then, and the process may crash.
const LAST_CALL: Duration = Duration::from_secs(5);

/// Time for the threads that wait for events in the runtime to return into their wait after a report: it wakes all of
/// them, and the runtime ends the process if one of them has its lock when its destructors run (`acl_reset_condvar`,
/// `acl_threadsupport.c` of intel/fpga-runtime-for-opencl v2025.0).
const SETTLING: Duration = Duration::from_millis(50);

/// A process that has not ended this long after its end began has a destructor that waits for something: otherwise
/// destructors take moments.
const WAITS: Duration = Duration::from_secs(1);

thread_local! {
    /// Handlers that run in this thread.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// The process is at its end: the runtime's own data may be gone.
static EXITING: AtomicBool = AtomicBool::new(false);

/// Time at which the process's end has waited for all that it waits for.
static EXIT: OnceLock<Instant> = OnceLock::new();

/// Set when the runtime has called since then.
static ALIVE: AtomicBool = AtomicBool::new(false);

/// Reports an end by its code. With `true`, at the process's end, it releases nothing: the runtime aborts the program
/// when the last reference to a context with unfinished user events is released.
pub(crate) type Tell = Box<dyn FnOnce(c_int, bool) + Send>;

/// Ends that depend on an event which may never come: [`Promise`].
struct Promised {
    /// The process is at its end: no more promises are made.
    over: bool,
    last: u64,
    all: BTreeMap<u64, Tell>,
}

static PROMISED: Mutex<Promised> = Mutex::new(Promised {
    over: false,
    last: 0,
    all: BTreeMap::new(),
});

/// The process that has made promises. A child of a fork has none of the threads that keep them.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Handlers that run now, in this process, and ends that are [owed](Owed).
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// An end that was promised to the runtime: the process's end waits for it as for a handler that runs.
#[derive(Debug)]
pub(crate) struct Owed {
    /// `false`: the process was at its end already.
    counted: bool,
}

impl Owed {
    /// Begins to owe the end.
    pub(crate) fn new() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let counted = !EXITING.load(Ordering::SeqCst);
        if !counted {
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
        Self { counted }
    }
}

/// A promise to report an end to the runtime. The process's end does not wait for what was promised: while the runtime is
/// there it reports a failure instead, and no promise is kept after that.
#[derive(Debug)]
pub(crate) struct Promise(u64);

impl Promise {
    /// Makes a promise. `Err`: the process is at its end. The caller then drops the function, without the lock.
    pub(crate) fn new(tell: Tell) -> Result<Self, Tell> {
        let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
        if promised.over {
            return Err(tell);
        }
        promised.last += 1;
        let number = promised.last;
        promised.all.insert(number, tell);
        Ok(Self(number))
    }

    /// Takes the promise, so that the process's end waits for the report from now on. `None`: the process is at its
    /// end, and the runtime may be gone.
    pub(crate) fn keep(self) -> Option<(Tell, Owed)> {
        let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
        if promised.over {
            // A drop would remove the function that reports the failure.
            drop(promised);
            std::mem::forget(self);
            return None;
        }
        // Before the process's end begins to wait.
        promised.all.remove(&self.0).map(|tell| (tell, Owed::new()))
    }

    /// Ends all promises: none is kept from now on. A thread reports the failures, for the runtime may be locked by the
    /// thread that ends the process. The process's end waits for that thread as for a handler. Returns whether there
    /// were promises.
    fn end_all() -> bool {
        if PROCESS.get() != Some(&std::process::id()) {
            return false;
        }
        let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
        promised.over = true;
        if promised.all.is_empty() {
            return false;
        }
        drop(promised);
        let owed = Owed::new();
        // Without a thread nothing is reported, and nothing is released.
        let _ = crate::threads::spawn("peerlane-exit", move || {
            tell(owed, || {
                let all = {
                    let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
                    std::mem::take(&mut promised.all)
                };
                for tell in all.into_values() {
                    tell(CL_BOARD_CLOSED_PEERLANE, true);
                }
            });
        });
        true
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        // No thread waits for it any more.
        let told = {
            let mut promised = PROMISED.lock().unwrap_or_else(PoisonError::into_inner);
            promised.all.remove(&self.0)
        };
        drop(told);
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if self.counted {
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A handler that runs in this thread, in place of an end that was [owed](Owed).
struct Running;

impl Running {
    fn new() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        OWN.set(OWN.get() + 1);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reports an end that the runtime waits for, also at the process's end: a thread that began the transfer then has
/// called the library, and for transfers that began before, the process's end waits.
pub(crate) fn tell(owed: Owed, handler: impl FnOnce()) {
    let _running = Running::new();
    drop(owed);
    handler();
}

/// Calls a handler of the runtime that no caller waits for. `false`: it was not called, because the process is at its
/// end, and the runtime may be gone. The runtime is there as long as it calls the library. A runtime that `stays` until
/// all of the program's own destructors have run is also there while one of them waits for something.
pub(crate) fn call(stays: bool, handler: impl FnOnce()) -> bool {
    let nested = OWN.get() > 0;
    let _running = Running::new();
    let calls = nested || !EXITING.load(Ordering::SeqCst) || is_alive(stays);
    if calls {
        handler();
    }
    calls
}

/// Whether the runtime is still there although the process is at its end.
fn is_alive(stays: bool) -> bool {
    let waits = || EXIT.get().is_some_and(|exit| exit.elapsed() > WAITS);
    ALIVE.load(Ordering::SeqCst) || stays && waits()
}

/// Notes a call of the runtime, or of a program. A call by a handler does not count: the handler was called first.
pub(crate) fn called() {
    if EXITING.load(Ordering::SeqCst) && OWN.get() == 0 {
        ALIVE.store(true, Ordering::SeqCst);
    }
}

/// Whether a runtime stays until all destructors of the program have run: true if the program is linked with it. Then
/// its own objects are destroyed with the libraries' (`_dl_fini` of the GNU C library), which is last. A runtime that a
/// loader has loaded is destroyed in the order of the loads. `handler` is a function of the runtime's.
pub(crate) fn stays(handler: *const c_void) -> bool {
    let base = |address: *const c_void| object(address).map(|object| object.dli_fbase);
    // SAFETY: it is a string. Libraries that were loaded later are not searched, unless they were loaded as global.
    let linked = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"clFinish".as_ptr()) };
    !linked.is_null() && base(linked) == base(handler)
}

/// Makes the end of the process wait for transfers that were begun. From then on handlers that no caller waits for are
/// not called. The runtime's objects are destroyed at exit, after this: functions that were registered later run
/// earlier (POSIX.1-2017, `atexit`), and the runtime was loaded before it opened a board. Objects of the program that
/// are older than that are destroyed after this, too, and may use OpenCL.
pub(crate) fn at_exit() {
    extern "C" fn exit() {
        let begin = Instant::now();
        let promised = Promise::end_all();
        EXITING.store(true, Ordering::SeqCst);
        // A handler that runs may be the one that ends the process.
        let own = OWN.get();
        while RUNNING.load(Ordering::SeqCst) > own && begin.elapsed() < LAST_CALL {
            std::thread::sleep(Duration::from_millis(1));
        }
        if promised {
            std::thread::sleep(SETTLING);
        }
        EXIT.get_or_init(Instant::now);
    }
    /// A child that a fork makes has the thread that forked, and no other (POSIX.1-2017, `fork`): handlers of the
    /// parent's other threads never return there.
    extern "C" fn forked() {
        RUNNING.store(OWN.get(), Ordering::SeqCst);
        files::close_all();
    }
    extern "C" fn before() {
        files::before_fork();
    }
    extern "C" fn parent() {
        files::has_forked();
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        PROCESS.get_or_init(std::process::id);
        // SAFETY: as below. In the child it uses atomic numbers and one of the thread's own, and closes files.
        let registered = unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(forked)) };
        if registered != 0 {
            say(
                "pthread_atfork failed: a forked process may take seconds to end, and the board is in use until then",
            );
        }
        // SAFETY: it is a function of this library, which is never unloaded, and calls nothing that may be
        // destroyed before it.
        let registered = unsafe { libc::atexit(exit) };
        if registered != 0 {
            say("atexit failed: interrupts may disturb the end of the process");
        }
    });
}
