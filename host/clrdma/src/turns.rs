//! Turns of threads: at a buffer, and at the board for a direction.

use crate::direction::Direction;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Waits while a condition holds, but no longer than until a deadline.
pub(crate) fn wait_while<'a, T>(
    told: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Option<Instant>,
    is_so: impl Fn(&T) -> bool,
) -> MutexGuard<'a, T> {
    let is_so = |value: &mut T| is_so(value);
    let Some(deadline) = deadline else {
        let waited = told.wait_while(guard, is_so);
        return waited.unwrap_or_else(PoisonError::into_inner);
    };
    let left = deadline.saturating_duration_since(Instant::now());
    let waited = told.wait_timeout_while(guard, left, is_so);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// The exclusive use of an object, by one thread after another.
#[derive(Debug)]
pub(crate) struct Exclusive {
    taken: Mutex<bool>,
    free: Condvar,
}

impl Exclusive {
    pub(crate) const fn new() -> Self {
        Self {
            taken: Mutex::new(false),
            free: Condvar::new(),
        }
    }

    fn taken(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn. Returns `false` if it did not come before the deadline.
    pub(crate) fn take(&self, deadline: Option<Instant>) -> bool {
        let mut taken = wait_while(&self.free, self.taken(), deadline, |taken| *taken);
        !std::mem::replace(&mut *taken, true)
    }

    /// Ends the turn.
    pub(crate) fn release(&self) {
        *self.taken() = false;
        self.free.notify_one();
    }
}

/// One for each direction, in the order of [`Direction`]: a program has one board at a time.
static LANES: [Exclusive; 2] = [const { Exclusive::new() }; 2];

/// The exclusive use of the board for transfers of a direction, until this is dropped. The board's library begins copies
/// one after another, and so would begin a copy that waits there after the deadline of its caller.
pub(crate) struct Lane(Direction);

impl Lane {
    /// Waits for the end of other transfers of a direction; `None` if they have not ended before the deadline.
    pub(crate) fn take(direction: Direction, deadline: Option<Instant>) -> Option<Self> {
        let taken = LANES[direction as usize].take(deadline);
        taken.then_some(Self(direction))
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        LANES[self.0 as usize].release();
    }
}
