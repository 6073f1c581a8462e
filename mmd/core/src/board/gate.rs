//! The right of copies to use a board, and the wait until all of them have ended.

use super::Board;
use crate::code::{CL_BOARD_CLOSED_PEERLANE, CL_BOARD_RESTARTED_PEERLANE, CL_OUT_OF_RESOURCES};
use std::ffi::c_int;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Copies of a board that may wait for events at a time: each has a thread.
pub(crate) const WAITING: usize = 64;

/// Wait for a copy that is to be stopped, before it is stopped again.
const AGAIN: Duration = Duration::from_millis(10);

/// Work for a lane's thread.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// The way to a board, which is open until the board is closed.
///
/// A copy that waits for events, or for the report of its end, must not keep a board open. So copies hold this, and the
/// board only while bytes are moved.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    /// Notified when a copy has left.
    left: Condvar,
}

#[derive(Debug, Default)]
struct State {
    board: Weak<Board>,
    closed: bool,
    programming: bool,
    /// OpenCL may be saving or restoring the board's memory around a programming.
    unsettled: bool,
    /// Number of changes of these two.
    programs: u64,
    inside: usize,
    waiting: usize,
    /// Threads that make copies, by direction.
    lanes: [Option<Sender<Job>>; 2],
}

/// The right to use a board.
pub(crate) struct Pass {
    gate: Arc<Gate>,
    /// `None` after the release.
    board: Option<Arc<Board>>,
    programs: u64,
}

/// The right to have a thread that waits for events.
#[derive(Debug)]
pub(crate) struct Seat(Arc<Gate>);

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the gate.
    pub(crate) fn open(&self, board: &Arc<Board>) {
        self.lock().board = Arc::downgrade(board);
    }

    /// Lets a copy in.
    ///
    /// # Errors
    /// The board was closed, or its FPGA is being programmed, including the work of OpenCL before and after.
    pub(crate) fn enter(self: &Arc<Self>) -> Result<Pass, c_int> {
        let mut state = self.lock();
        if state.programming || state.unsettled {
            return Err(CL_BOARD_RESTARTED_PEERLANE);
        }
        // Nothing holds the board after it was closed: the last holder drops it.
        if state.closed {
            return Err(CL_BOARD_CLOSED_PEERLANE);
        }
        let board = state.board.upgrade().ok_or(CL_BOARD_CLOSED_PEERLANE)?;
        state.inside += 1;
        Ok(Pass {
            gate: Arc::clone(self),
            board: Some(board),
            programs: state.programs,
        })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Lets no copy in any more, and waits until all have left; `stop` makes them leave. This does not wait for a lock
    /// of OpenCL's: a copy leaves before its end is reported.
    pub(crate) fn close(&self, mut stop: impl FnMut()) {
        let mut state = self.lock();
        state.closed = true;
        state.lanes = Default::default();
        while state.inside > 0 {
            drop(state);
            stop();
            state = self.lock();
            if state.inside > 0 {
                let waited = self.left.wait_timeout(state, AGAIN);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Refuses all copies until the board is [used](Self::used): OpenCL saves the contents of its memory, programs the
    /// FPGA, and writes them back, all under its lock (`acl_program.cpp` of intel/fpga-runtime-for-opencl v2025.0).
    /// Copies that are inside fail at their end.
    pub(crate) fn unsettle(&self) {
        let mut state = self.lock();
        state.unsettled = true;
        state.programs += 1;
    }

    /// Notes that OpenCL uses the board by a command: by then all buffers have their contents again.
    pub(crate) fn used(&self) {
        self.lock().unsettled = false;
    }

    /// Lets no copy in while the FPGA is programmed. Copies may enter again afterwards, also if `program` panics.
    pub(crate) fn programming<T>(&self, program: impl FnOnce() -> T) -> T {
        /// Ends the programming when it is dropped.
        struct End<'a>(&'a Gate);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.mark(false);
            }
        }
        self.mark(true);
        let _end = End(self);
        program()
    }

    /// Notes that the FPGA's programming begins, or has ended.
    fn mark(&self, begins: bool) {
        let mut state = self.lock();
        state.programming = begins;
        state.programs += 1;
    }

    /// Hands a job to the thread of a lane, which `start` starts for a lane that has none.
    ///
    /// # Errors
    /// The board was closed, or there is no thread.
    pub(crate) fn give(
        &self,
        lane: usize,
        job: Job,
        start: impl FnOnce() -> Option<Sender<Job>>,
    ) -> Result<(), c_int> {
        let mut state = self.lock();
        if state.closed {
            return Err(CL_BOARD_CLOSED_PEERLANE);
        }
        if state.lanes[lane].is_none() {
            state.lanes[lane] = start();
        }
        let sent = match &state.lanes[lane] {
            Some(lane) => lane.send(job).map_err(|error| error.0),
            None => Err(job),
        };
        // The drop of a job releases objects of OpenCL's.
        drop(state);
        sent.map_err(|_| CL_OUT_OF_RESOURCES)
    }

    /// Takes a seat for a thread that waits.
    ///
    /// # Errors
    /// All are taken.
    pub(crate) fn seat(self: &Arc<Self>) -> Result<Seat, c_int> {
        let mut state = self.lock();
        if state.waiting == WAITING {
            return Err(CL_OUT_OF_RESOURCES);
        }
        state.waiting += 1;
        Ok(Seat(Arc::clone(self)))
    }
}

impl Pass {
    pub(crate) fn board(&self) -> Result<&Arc<Board>, c_int> {
        self.board.as_ref().ok_or(CL_BOARD_CLOSED_PEERLANE)
    }

    /// Checks that the board is still usable: `Err` has the reason why not.
    pub(crate) fn check(&self) -> Result<(), c_int> {
        if self.gate.is_closed() {
            return Err(CL_BOARD_CLOSED_PEERLANE);
        }
        self.check_memory()
    }

    /// Checks that the board's memory still has the same contents.
    pub(crate) fn check_memory(&self) -> Result<(), c_int> {
        match self.gate.lock().programs == self.programs {
            true => Ok(()),
            false => Err(CL_BOARD_RESTARTED_PEERLANE),
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        // First, so that none of our threads keeps the board open when all have left.
        self.board = None;
        self.gate.lock().inside -= 1;
        self.gate.left.notify_all();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records at its drop whether the gate is locked.
    struct Dropped(Arc<Gate>, Arc<Mutex<Option<bool>>>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            *self.1.lock().unwrap() = Some(self.0.state.try_lock().is_err());
        }
    }

    /// The drop of a job takes the runtime's lock. Another thread that waits for the gate may hold that lock.
    #[test]
    fn a_job_that_finds_no_thread_is_dropped_without_the_lock() {
        let gate = Arc::<Gate>::default();
        for closed in [false, true] {
            gate.lock().closed = closed;
            let locked = Arc::default();
            let dropped = Dropped(Arc::clone(&gate), Arc::clone(&locked));
            let given = gate.give(0, Box::new(move || drop(dropped)), || None);
            assert!(given.is_err());
            assert_eq!(*locked.lock().unwrap(), Some(false));
        }
    }
}
