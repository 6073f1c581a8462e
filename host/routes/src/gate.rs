//! Places that one copy at a time has. No copy waits for its place longer than the copy itself may take.

use crate::error::Result;
use crate::limits::Watch;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The shortest sleep between two looks: where a board's time is simulated, the rest of the limit is not a time of this
/// process's clock.
const LEAST: Duration = Duration::from_micros(100);

/// A place that one caller at a time is in.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    taken: Mutex<bool>,
    free: Condvar,
}

/// A caller is in. The drop lets the next caller in.
#[derive(Debug)]
pub(crate) struct Inside<'a>(&'a Gate);

impl Gate {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other caller is in, for as long as the copy may take.
    ///
    /// # Errors
    /// [`Error::Deadline`](crate::Error::Deadline) and [`Error::Cancelled`](crate::Error::Cancelled).
    pub(crate) fn enter(&self, watch: &Watch<'_>) -> Result<Inside<'_>> {
        let mut taken = self.lock();
        loop {
            let stretch = watch.stretch(0)?;
            if !*taken {
                *taken = true;
                return Ok(Inside(self));
            }
            let woken = self.free.wait_timeout(taken, stretch.max(LEAST));
            taken = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.free.notify_one();
    }
}

/// A value that one caller at a time has.
#[derive(Debug, Default)]
pub(crate) struct Held<T> {
    gate: Gate,
    /// Only the caller that is in locks it.
    value: Mutex<T>,
}

/// The value.
pub(crate) struct Holder<'a, T> {
    // Dropped before the next caller is let in.
    value: MutexGuard<'a, T>,
    _inside: Inside<'a>,
}

impl<T> Held<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            gate: Gate::default(),
            value: Mutex::new(value),
        }
    }

    /// Waits for the value, for as long as the copy may take.
    ///
    /// # Errors
    /// As [`Gate::enter`].
    pub(crate) fn take(&self, watch: &Watch<'_>) -> Result<Holder<'_, T>> {
        let inside = self.gate.enter(watch)?;
        Ok(Holder {
            value: self.value.lock().unwrap_or_else(PoisonError::into_inner),
            _inside: inside,
        })
    }
}

impl<T> Deref for Holder<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Holder<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::limits::{Cancel, Clock, Limits};
    use std::time::Instant;

    #[test]
    fn who_waits_is_let_in_or_gives_up() {
        let clock = Clock::Process(Instant::now());
        let held = Held::new(0);
        let forever = Limits::default();
        let mut inside = held.take(&Watch::new(&clock, &forever, 7)).unwrap();
        let short = Limits::within(Duration::from_millis(10));
        let late = held.take(&Watch::new(&clock, &short, 7)).err().unwrap();
        assert!(
            matches!(
                late,
                Error::Deadline {
                    done: 0,
                    length: 7,
                    ..
                }
            ),
            "{late}"
        );
        let cancel = Cancel::default();
        let limits = Limits {
            deadline: None,
            cancel: Some(cancel.clone()),
        };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| held.take(&Watch::new(&clock, &limits, 7)).map(drop));
            let next = scope.spawn(|| *held.take(&Watch::new(&clock, &forever, 7)).unwrap());
            std::thread::sleep(Duration::from_millis(10));
            cancel.cancel();
            let error = waits.join().unwrap().unwrap_err();
            assert!(matches!(error, Error::Cancelled { .. }), "{error}");
            *inside = 5;
            drop(inside);
            assert_eq!(next.join().unwrap(), 5);
        });
    }
}
