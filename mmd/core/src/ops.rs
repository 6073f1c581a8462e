//! The runtime's operations, of one or more transfers each.
//!
//! The runtime hands all rows of a rectangle or of an image over with the same operation, one right after the other and
//! under its lock (`l_mem_transfer_buffer_explicitly`, `acl_mem.cpp` of intel/fpga-runtime-for-opencl v2025.0). Before
//! each row it stores that the command runs. The status handler stores that it has ended, *without* the lock
//! (`acl_hal_mmd_status_handler`), so at any time between two rows. The runtime reads the stored status when it has
//! handed all rows over. The last call of the handler must therefore come when all rows have ended, and never between
//! two rows while one is left.
//!
//! So the ends of an operation's transfers are counted, and only the last one is reported. If it was reported before
//! the next row came, it may have been stored after that row's beginning was. Such a row is made in the call, when the
//! call of the handler has returned, and is reported in the call. A new command at the address of an ended one is
//! treated in the same way, as long as its thread has made no other call in between. It takes longer then, and has no
//! other effect.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Calls of the interface that this thread has made.
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// The call that has last handed a transfer to a thread of the library's, and its operation.
    static HANDED: Cell<(u64, usize)> = const { Cell::new((0, 0)) };
}

/// Notes a call of the runtime.
pub(crate) fn call() {
    CALLS.set(CALLS.get() + 1);
}

/// Whether this call may hand over the next row of the command that the thread's previous call has begun.
fn follows(op: usize) -> bool {
    HANDED.get() == (CALLS.get() - 1, op)
}

/// The operations of a board.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    left: Mutex<HashMap<usize, Left>>,
    /// Notified when the status handler has returned.
    told: Condvar,
}

#[derive(Debug, Default)]
struct Left {
    /// Transfers that have not ended.
    transfers: usize,
    /// Calls of the status handler that have not returned.
    telling: usize,
}

impl Operations {
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Left>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a transfer. Returns whether it is to be handed to a thread, and counts. Otherwise it must be made, and
    /// reported, in this call. `small`: it should be made in this call if possible.
    pub(crate) fn begin(&self, op: usize, small: bool) -> bool {
        let mut left = self.lock();
        let under_way = left.get(&op).is_some_and(|left| left.transfers > 0);
        if !under_way && follows(op) {
            // The handler does not wait for other threads: it was made to be called from a signal's handler.
            while left.get(&op).is_some_and(|left| left.telling > 0) {
                left = (self.told.wait(left)).unwrap_or_else(PoisonError::into_inner);
            }
            return false;
        }
        let handed = under_way || !small;
        if handed {
            left.entry(op).or_default().transfers += 1;
            HANDED.set((CALLS.get(), op));
        }
        handed
    }

    /// Notes the end of a transfer. Returns whether the end is to be reported, because it was the last one.
    pub(crate) fn ended(&self, op: usize) -> bool {
        let mut left = self.lock();
        let Some(of) = left.get_mut(&op) else {
            return true;
        };
        of.transfers -= 1;
        let last = of.transfers == 0;
        of.telling += usize::from(last);
        last
    }

    /// Notes that an end was reported.
    pub(crate) fn told(&self, op: usize) {
        let mut left = self.lock();
        if let Some(of) = left.get_mut(&op) {
            of.telling -= 1;
            if of.transfers == 0 && of.telling == 0 {
                left.remove(&op);
            }
        }
        self.told.notify_all();
    }
}
