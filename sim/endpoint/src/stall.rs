//! Register reads that are delayed as a fault.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
struct State {
    skip: u64,
    times: u64,
    time: Duration,
    /// Counts the calls of [`Stall::set`] and [`Stall::clear`]: a read that waits for an older one continues.
    number: u64,
}

/// The delayed reads.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    state: Mutex<State>,
    changed: Condvar,
}

impl Stall {
    /// Delays `times` reads after the next `skip`, each for `time`.
    pub(crate) fn set(&self, skip: u64, times: u64, time: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State {
            skip,
            times,
            time,
            number: state.number + 1,
        };
        self.changed.notify_all();
    }

    /// Continues all reads.
    pub(crate) fn clear(&self) {
        self.set(0, 0, Duration::ZERO);
    }

    /// Waits as long as the read is to be delayed.
    pub(crate) fn read(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.times == 0 {
            return;
        }
        if state.skip > 0 {
            state.skip -= 1;
            return;
        }
        state.times -= 1;
        let (number, time) = (state.number, state.time);
        let waited = self
            .changed
            .wait_timeout_while(state, time, |state| state.number == number);
        drop(waited);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_right_reads_wait() {
        let stall = Stall::default();
        stall.read();
        let time = Duration::from_millis(50);
        stall.set(1, 2, time);
        let took = [0; 3].map(|_| {
            let start = Instant::now();
            stall.read();
            start.elapsed()
        });
        // If the first read had waited, the last one would not have waited.
        assert!(took[1] >= time && took[2] >= time);
        assert_eq!(stall.state.lock().unwrap().times, 0);
    }

    #[test]
    fn a_read_that_waits_can_be_let_go() {
        let stall = Stall::default();
        stall.set(0, 1, Duration::from_secs(600));
        std::thread::scope(|scope| {
            let read = scope.spawn(|| stall.read());
            // The count is lower once the read has been taken.
            while stall.state.lock().unwrap().times > 0 {
                std::thread::yield_now();
            }
            stall.clear();
            read.join().unwrap();
        });
    }
}
