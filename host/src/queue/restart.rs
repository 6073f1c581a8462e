//! Stops and restarts a channel. One thread does that, and the others go on with their own limits concurrently: the
//! queue is locked only between the steps.

use super::waits::LOOK;
use super::{Records, SILENT, Shared, State};
use crate::error::{Error, Result};
use crate::flow::TransferId;
use rustix::io::Errno;
use std::sync::MutexGuard;
use std::time::Duration;

/// The longest time for a restart of the board by its driver: longer than the driver needs to notice, and to reset the
/// function.
const STARTED: Duration = Duration::from_secs(10);

/// Time between two queries of the driver during that restart.
const AGAIN: Duration = Duration::from_millis(5);

/// The longest time that the last records of an idle channel may take.
const RESTART: Duration = Duration::from_secs(1);

/// The right to restart the channel, as long as a thread has this.
struct Restarting<'a>(&'a Shared);

impl Drop for Restarting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.restarting = false;
        // Transfers that were submitted in the meantime.
        self.0.pump(&mut state);
        self.0.wake_all(&mut state);
        self.0.unlock(state);
    }
}

/// State of the queue when a restart began.
struct Before {
    /// Transfers with smaller numbers end.
    number: u64,
    generation: u32,
}

impl Shared {
    /// Implements [`Queue::restart`](super::Queue::restart).
    pub(crate) fn restart_all(&self) -> Result<()> {
        let mut state = self.lock_own()?;
        while state.restarting {
            state = self.follow(state, LOOK);
        }
        self.restart_now(state)
    }

    /// Restarts the queue to end a transfer, unless the restart of another thread has ended the transfer, or the board
    /// is done with it: then only its rest is waited for.
    pub(crate) fn restart_for(&self, id: TransferId) -> Result<()> {
        let mut state = self.lock_own()?;
        let mut away = false;
        loop {
            if state.restarting || state.flow.is_unfinished(id) && state.flow.finishing().is_some()
            {
                state = self.follow(state, LOOK);
            } else if state.flow.result(id).is_some() {
                return Ok(());
            } else if state.flow.is_unfinished(id) && !away {
                // This thread does the rest, unless the driver restarts the board. Other threads may restart the queue
                // in the meantime.
                away = self.unlock(state);
                state = self.lock_own()?;
            } else {
                return self.restart_now(state);
            }
        }
    }

    fn restart_now(&self, mut state: MutexGuard<'_, State>) -> Result<()> {
        state.restarting = true;
        let before = Before {
            number: state.flow.submitted(),
            generation: state.generation,
        };
        drop(state);
        let restarting = Restarting(self);
        let restarted = self.restart(&before);
        drop(restarting);
        if matches!(restarted, Err(Error::Gone)) {
            self.give_up();
        }
        restarted
    }

    fn restart(&self, before: &Before) -> Result<()> {
        match self.device.context().stop(Duration::ZERO) {
            Ok(_) => self.take_last_records(before)?,
            // The driver restarts the board, and no transfer is under way after that.
            Err(
                error @ Error::Call {
                    source: Errno::AGAIN | Errno::IO,
                    ..
                },
            ) => self.wait_until_started(before, &error)?,
            Err(error) => return Err(error),
        }
        let mut state = self.lock();
        // Another thread may still do the rest of a write.
        while state.flow.left(before.number) > 0 && state.flow.finishing().is_some() {
            state = self.follow(state, LOOK);
        }
        state.refused = None;
        state.flow.forgive();
        // The board is there.
        state.given_up = false;
        Ok(())
    }

    /// Ends the earlier transfers, on a channel that was stopped. The driver has read from the board that the channel
    /// is idle, so its records are in memory: they took the same way earlier (PCI Express Base Specification 4.0,
    /// 2.4.1).
    fn take_last_records(&self, before: &Before) -> Result<()> {
        let context = self.device.context();
        let begin = context.now();
        loop {
            let mut state = self.lock();
            if state.is_new(&self.device, before.generation)? {
                return Ok(());
            }
            state.note_refused(context);
            let ring = &mut Records(context);
            let records = if state.refused.is_some() {
                state.flow.salvage(before.number, ring)
            } else {
                state.flow.abandon(before.number);
                state.flow.take(ring)
            };
            match records {
                Ok(records) => state.statistics.records += records,
                // The board may have been restarted in the meantime, which empties the ring.
                Err(error) => {
                    let new = state.is_new(&self.device, before.generation)?;
                    return new.then_some(()).ok_or(error);
                }
            }
            if self.unlock(state) {
                // The driver restarts the board after the stop.
                let error = Error::call("FLUSH", Errno::AGAIN);
                return self.wait_until_started(before, &error);
            }
            let state = self.lock();
            let (left, finishing) = (
                state.flow.left(before.number),
                state.flow.finishing().is_some(),
            );
            drop(state);
            if left == 0 {
                return Ok(());
            }
            if context.now().saturating_sub(begin) > RESTART && !finishing {
                return Err(Error::Broken {
                    reason: "descriptors ended without a record".into(),
                });
            }
            context.await_event(Some(SILENT))?;
        }
    }

    /// Waits until the driver has restarted the board after this error.
    fn wait_until_started(&self, before: &Before, error: &Error) -> Result<()> {
        let context = self.device.context();
        let begin = context.now();
        while !self.lock().is_new(&self.device, before.generation)? {
            if context.now().saturating_sub(begin) > STARTED {
                return Err(error.clone());
            }
            context.await_event(Some(AGAIN))?;
        }
        Ok(())
    }
}
