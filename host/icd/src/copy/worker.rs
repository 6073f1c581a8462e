//! A copy in progress, in the caller's thread or in one of its own.

use std::cell::Cell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use peerlane_opencl_api::sys::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_VALUE, CL_OUT_OF_RESOURCES, CL_SUCCESS,
};

use super::board::{Direct, Direction};
use super::code::{BOARD_RESTARTED, BUFFER_WITHOUT_ADDRESS};
use super::functions::Kept;
use super::host::{self, End};
use super::record::{Moment, Record};
use crate::objects::{self, Kind};
use crate::vendor;

/// Copies that may be in progress at a time. Each has a thread: a copy that waited for the end of another one might
/// wait for an event that the other one waits for.
const MOST: usize = 64;

/// Time that a call waits for one of them to end. It must not wait longer: they may all wait for the caller's next
/// call.
const PATIENCE: Duration = Duration::from_secs(1);

static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// See [`Job::wait`] and [`at_exit`].
const SETTLING: Duration = Duration::from_millis(20);

/// Copies that move bytes, or that have ended and still release their objects.
static BUSY: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Those of this thread: a callback of a copy's end may end the program in it.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// Time that the end of the program waits for them. A copy that takes longer is reported at its end all the same: a
/// destructor may wait for it. The vendor library may be gone then, and the process may crash.
const LAST: Duration = Duration::from_secs(10);

/// Set when the program ends.
static EXITING: AtomicBool = AtomicBool::new(false);

/// Copies that wait in threads of the driver's.
static WAITING: Mutex<Vec<Arc<Job>>> = Mutex::new(Vec::new());

/// The process that has these threads: a child of a fork has none of them.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// One copy of [`BUSY`].
struct Busy(());

impl Busy {
    fn begins() -> Self {
        BUSY.fetch_add(1, SeqCst);
        OWN.set(OWN.get() + 1);
        Self(())
    }
}

/// Objects of the vendor's to drop.
struct Later {
    /// The objects with the times from which they may be dropped, in this order.
    due: VecDeque<(Instant, Box<dyn Send>)>,
    /// A thread drops them.
    has_thread: bool,
}

static LATER: Mutex<Later> = Mutex::new(Later {
    due: VecDeque::new(),
    has_thread: false,
});

/// Drops an object of the vendor's after a while, unless the program ends before: the vendor library may be gone then.
/// Where no thread can be started, the object stays until the next call, or for ever.
pub(super) fn let_go_later(what: impl Send + 'static, after: Duration) {
    let mut later = LATER.lock();
    later
        .due
        .push_back((Instant::now() + after, Box::new(what)));
    if !later.has_thread {
        later.has_thread = spawn(let_go);
    }
}

/// Drops the objects of [`LATER`], each in its time, until there are no more.
fn let_go() {
    loop {
        let mut later = LATER.lock();
        let Some((time, _)) = later.due.front() else {
            later.has_thread = false;
            return;
        };
        let left = time.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            drop(later);
            thread::sleep(left);
            continue;
        }
        let due = later.due.pop_front();
        drop(later);
        let _busy = Busy::begins();
        match EXITING.load(SeqCst) {
            true => std::mem::forget(due),
            false => drop(due),
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        BUSY.fetch_sub(1, SeqCst);
    }
}

/// Waits at the program's end for copies that move bytes. Destructors of the vendor library run after this function, which
/// was registered when the library was loaded. Copies that still wait for events fail, while the library is there: a function
/// of `atexit` or a destructor that runs later may wait for them.
extern "C" fn at_exit() {
    if PROCESS.get() != Some(&std::process::id()) {
        return;
    }
    EXITING.store(true, SeqCst);
    // The thread that ends the program may have the vendor's lock.
    BUSY.fetch_add(1, SeqCst);
    let ends = WAITING.lock().is_empty() || !spawn(fail_waiting);
    if ends {
        BUSY.fetch_sub(1, SeqCst);
    }
    let begin = Instant::now();
    while BUSY.load(SeqCst) > OWN.get() && begin.elapsed() < LAST {
        thread::sleep(Duration::from_millis(1));
    }
    if !ends {
        // The last report has woken the threads of the copies that waited. The open FPGA runtime ends the process if one
        // of them has its lock when its destructors run.
        thread::sleep(SETTLING);
    }
}

/// Fails all copies that wait for events.
fn fail_waiting() {
    let waiting = std::mem::take(&mut *WAITING.lock());
    for job in &waiting {
        job.end(Err(CL_OUT_OF_RESOURCES));
        // The next one may wait for this one: see `Job::wait`.
        thread::sleep(SETTLING);
    }
    // Their threads may still use the objects.
    std::mem::forget(waiting);
    BUSY.fetch_sub(1, SeqCst);
}

/// Takes a copy from [`WAITING`]; `false`: [`fail_waiting`] has taken it.
fn begins(job: &Arc<Job>) -> bool {
    let mut waiting = WAITING.lock();
    let place = waiting.iter().position(|other| Arc::ptr_eq(other, job));
    place.map(|place| waiting.remove(place)).is_some()
}

/// The right to have a copy in progress.
pub(super) struct Seat(());

/// Takes a seat; if all are taken, waits for a copy to end.
///
/// # Errors
/// All are taken, and none becomes free in time.
pub(super) fn seat() -> Result<Seat, i32> {
    PROCESS.get_or_init(|| {
        // SAFETY: a function that stays: the library is never closed (build.rs). Where there is no room for it, the
        // program's end does not wait.
        let _ = unsafe { libc::atexit(at_exit) };
        std::process::id()
    });
    let mut taken = UNDER_WAY.lock();
    while *taken == MOST {
        if ENDED.wait_for(&mut taken, PATIENCE).timed_out() && *taken == MOST {
            return Err(CL_OUT_OF_RESOURCES);
        }
    }
    *taken += 1;
    Ok(Seat(()))
}

impl Drop for Seat {
    fn drop(&mut self) {
        *UNDER_WAY.lock() -= 1;
        ENDED.notify_one();
    }
}

/// A copy with all of its objects, which it keeps.
pub(super) struct Job {
    pub(super) direction: Direction,
    /// The board's end and the peer's.
    pub(super) ends: [End; 2],
    pub(super) size: usize,
    pub(super) direct: Option<Direct>,
    /// Events of the commands before it in the queue, and the events of the queue's context; kept until the end.
    pub(super) waits: Vec<Kept>,
    /// The copy before it in a queue in order.
    pub(super) previous: Option<Arc<Record>>,
    /// Events of the peer's context.
    pub(super) peers: Vec<Kept>,
    pub(super) done: Kept,
    pub(super) peer_done: Option<Kept>,
    /// The marker that waits for it in the queue.
    pub(super) behind: Option<Kept>,
    /// A user event that completes after the copy, with success also after an error.
    pub(super) gate: Option<Kept>,
    pub(super) record: Arc<Record>,
    pub(super) _kept: Vec<Kept>,
    pub(super) seat: Mutex<Option<Seat>>,
}

// SAFETY: objects of OpenCL may be used by any thread (OpenCL API 3.0, "Thread safety").
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// Waits, copies, and reports the end.
    ///
    /// # Errors
    /// The error that the copy has ended with.
    ///
    /// # Safety
    /// All objects are live, and the bytes lie in the buffers.
    pub(super) unsafe fn run(self) -> Result<(), i32> {
        // SAFETY: the caller's promise.
        let waited = unsafe { self.wait() };
        let _busy = Busy::begins();
        // SAFETY: as above.
        let ended = unsafe { self.make(waited) };
        drop(self);
        ended
    }

    /// Does the work of [`run`](Self::run) in a thread of the driver's, which the program cannot wait for when it ends.
    /// The copy is in [`WAITING`].
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_apart(self: Arc<Self>) {
        // SAFETY: the caller's promise.
        let waited = unsafe { self.wait() };
        let _busy = Busy::begins();
        if EXITING.load(SeqCst) || !begins(&self) {
            // The vendor library may be gone.
            drop(self.seat.lock().take());
            std::mem::forget(self);
            return;
        }
        // SAFETY: the caller's promise. The event has the result.
        let _ = unsafe { self.make(waited) };
        // Dropped while the end of the program waits for it.
        drop(self);
    }

    /// Copies the bytes if the wait succeeded, and reports the end.
    unsafe fn make(&self, waited: Result<(), i32>) -> Result<(), i32> {
        let ended = waited.and_then(|()| {
            self.record.is(Moment::Started);
            // SAFETY: the caller's promise.
            unsafe { self.copy() }
        });
        self.end(ended);
        ended
    }

    /// Waits for the commands before the copy in the queue first, because a copy ends after them, also one that fails.
    /// Each event is checked by itself: a marker of the open FPGA runtime ends with success though an event that it
    /// waited for has failed.
    unsafe fn wait(&self) -> Result<(), i32> {
        let all = |events: &[Kept]| {
            // SAFETY: the caller's promise.
            (events.iter()).try_for_each(|event| unsafe { event.functions().wait(event.object()) })
        };
        let waited = all(&self.waits);
        if waited.is_err() {
            // PoCL 3.1 shows that a command has failed before it has notified the commands that wait for it, and does
            // not take a second failure of one of these in the meantime (tests/icd/programs/failed.c).
            thread::sleep(SETTLING);
        }
        let previous = self.previous.as_ref().and_then(|previous| previous.ended());
        let previous = match previous {
            Some(failed @ ..CL_SUCCESS) => Err(failed),
            _ => Ok(()),
        };
        (waited.and(previous))
            .and_then(|()| all(&self.peers))
            .map_err(|_| CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    }

    unsafe fn copy(&self) -> Result<(), i32> {
        let [board, peer] = &self.ends;
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(direct) = &self.direct {
                let of_board = (board.buffer, board.at);
                let copy = || direct.copy(self.direction, of_board, peer.at, self.size);
                // The FPGA was programmed during the copy. The query of the buffer's address waits until the buffer has
                // its contents again.
                let ended = match copy() {
                    Err(BOARD_RESTARTED) => copy(),
                    ended => ended,
                };
                match ended {
                    // OpenCL has the contents on the host, or the board writes whole dwords of the peer's memory only
                    // and the copy does not consist of these: nothing was moved. Or it was programmed again: all bytes
                    // are moved again.
                    Err(BUFFER_WITHOUT_ADDRESS | CL_INVALID_VALUE | BOARD_RESTARTED) => {}
                    ended => return ended,
                }
            }
            match self.direction {
                Direction::ToPeer => host::copy(board, peer, peer, self.size),
                Direction::FromPeer => host::copy(peer, board, peer, self.size),
            }
        }
    }

    /// Reports the end of the copy, with success or an error.
    pub(super) fn end(&self, ended: Result<(), i32>) {
        self.record.is(Moment::Ended);
        let status = match ended {
            Ok(()) => CL_SUCCESS,
            Err(error @ ..CL_SUCCESS) => error,
            // The error is not a status that an event takes.
            Err(_) => CL_OUT_OF_RESOURCES,
        };
        self.record.has_ended(status);
        // The vendor's own function: to programs it is not a user event.
        if let Some(set) = vendor::vendor().clSetUserEventStatus {
            // SAFETY: a user event that is kept, or null; no other code ends it.
            unsafe { set(objects::raw(self.done.object(), Kind::Event), status) };
        }
        if let Some(gate) = &self.gate {
            // SAFETY: as above.
            unsafe {
                gate.functions()
                    .set_user_event_status(gate.object(), CL_SUCCESS)
            };
        }
        if let Some(done) = &self.peer_done {
            // SAFETY: as above.
            unsafe {
                done.functions()
                    .set_user_event_status(done.object(), status)
            };
        }
    }
}

/// Runs a copy in a thread of its own.
///
/// # Errors
/// There is no thread, or the program ends. The copy has ended with the same error.
///
/// # Safety
/// As for [`Job::run`].
pub(super) unsafe fn start(job: Job) -> Result<(), i32> {
    let job = Arc::new(job);
    WAITING.lock().push(Arc::clone(&job));
    let theirs = Arc::clone(&job);
    // SAFETY: the caller's promise.
    let run = move || unsafe { theirs.run_apart() };
    if !EXITING.load(SeqCst) && spawn(run) {
        return Ok(());
    }
    let _busy = Busy::begins();
    if begins(&job) {
        // The copy in front may have failed just now: see `Job::wait`.
        thread::sleep(SETTLING);
        job.end(Err(CL_OUT_OF_RESOURCES));
    }
    drop(job);
    Err(CL_OUT_OF_RESOURCES)
}

/// Starts a thread of the driver's. Returns whether there is one.
fn spawn(run: impl FnOnce() + Send + 'static) -> bool {
    without_signals(|| {
        let builder = thread::Builder::new().name("peerlane-copy".into());
        builder.spawn(run).is_ok()
    })
}

/// Signals of a thread's own faults.
const FAULTS: [i32; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Starts a thread that gets no signals of the program's. Signals of its own faults stay unblocked: where one is
/// blocked, the system ends a process without its handlers.
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: sets of signals; the second call restores the set that the first one changed.
    unsafe {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        libc::sigfillset(all.as_mut_ptr());
        for fault in FAULTS {
            libc::sigdelset(all.as_mut_ptr(), fault);
        }
        let changed =
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) == 0;
        let started = start();
        if changed {
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
        }
        started
    }
}
