//! How threads look and wait for what a queue has under way.

use super::{SILENT, Shared, State};
use crate::error::{Error, Result};
use crate::flow::{Flow, TransferId};
use crate::region::Region;
use crate::transfer::Transfer;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// How often to look for what brings no record, while waiting for one. Nobody sleeps for longer: an event
/// that another thread acknowledges, which asks the driver for something else, may wake nobody.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// How long to wait at a stretch for a thread that does the rest of a write.
const SHORT: Duration = Duration::from_millis(1);

/// For how long a doorbell may stay refused without a reason. A board that was reset behind its driver's back refuses
/// doorbells, too: the driver looks for that once a second, and says so when it has started the board.
const UNEXPLAINED: Duration = Duration::from_secs(5);

/// Bytes that others' descriptors move in a second at the least, before one that was called off: a quarter of what the
/// slowest link gives, which is one lane of the first generation.
const SLOW: u64 = 64 << 20;

impl Shared {
    /// Waits until the board has nothing of others any more before a transfer that was called off, or it has ended. They
    /// have the time that their bytes may take, but not more than `most`.
    pub(crate) fn wait_for_others(&self, id: TransferId, most: Duration) {
        let bytes = (self.lock_own()).map_or(0, |state| state.flow.before(id));
        if bytes == 0 {
            return;
        }
        let limit = Duration::from_secs(1).mul_f64(bytes as f64 / SLOW as f64);
        let passed = self.until(
            Some(limit.min(most)),
            |flow| (flow.before(id) == 0).then_some(Ok(())),
            |flow, waited| Error::NotDrained {
                under_way: flow.under_way(),
                waited,
            },
        );
        // Whoever waits for the transfer itself is told the same.
        let _ = passed;
    }

    pub(crate) fn poll(&self, id: TransferId) -> Result<Option<u64>> {
        loop {
            let mut state = self.lock_own()?;
            let found = self.look(&mut state, &mut |flow| flow.result(id));
            // The rest of a write may be all that is missing.
            let again = matches!(found, Ok(None)) && state.flow.can_finish();
            // Tasks that an error has woken run now.
            let away = self.unlock(state);
            if !again || away {
                return found;
            }
        }
    }

    /// It waits for nothing, and does nothing else: Python's collector of garbage calls it.
    pub(crate) fn result(&self, id: TransferId) -> Option<Result<u64>> {
        self.lock_own().ok()?.flow.result(id)
    }

    /// Looks whether something has happened. Once in a while this looks for what brings no record.
    pub(super) fn look<T>(
        &self,
        state: &mut State,
        happened: &mut impl FnMut(&Flow<Region>) -> Option<Result<T>>,
    ) -> Result<Option<T>> {
        // What is known to have ended stays so, whatever happens to the device.
        if let Some(result) = happened(&state.flow) {
            return result.map(Some);
        }
        self.take_records(state)?;
        self.pump(state);
        if let Some(result) = happened(&state.flow) {
            return result.map(Some);
        }
        if state.restarting {
            return Ok(None);
        }
        // Whoever sleeps looks by itself.
        if (state.sleeping || !self.is_due(state)) && !state.suspect {
            return Ok(None);
        }
        self.check(state)?;
        state.suspect = false;
        // That acknowledges events, and nothing else announces their records.
        self.take_records(state)?;
        self.pump(state);
        happened(&state.flow).transpose()
    }

    /// Whether nobody has looked for a while for what brings no record.
    pub(super) fn is_due(&self, state: &State) -> bool {
        let now = self.device.context().now();
        now.saturating_sub(state.looked) >= LOOK
    }

    /// Looks for what brings no record: a doorbell that was refused, and a restart or the end of the
    /// board while something is under way.
    pub(super) fn check(&self, state: &mut State) -> Result<()> {
        if state.restarting {
            return Ok(());
        }
        let context = self.device.context();
        state.note_refused(context);
        if state.refused.is_some() || state.flow.under_way() > 0 {
            let restarted = state.notice(&self.device);
            self.wake_all(state);
            // A reset refuses doorbells too, until its notice is taken; they are lost with the rest.
            if restarted? {
                return Ok(());
            }
        }
        let since = |refused| context.now().saturating_sub(refused);
        match state.refused.map(since) {
            None => Ok(()),
            Some(waited) if waited < UNEXPLAINED => Ok(()),
            Some(_) => Err(Error::Broken {
                reason:
                    "the board refused a doorbell: the channel was stopped, or its queue was full"
                        .into(),
            }),
        }
    }

    pub(crate) fn wait(&self, transfer: &Transfer, limit: Option<Duration>) -> Result<u64> {
        self.until(
            limit,
            |flow| flow.result(transfer.id),
            |flow, waited| Error::Timeout {
                direction: transfer.direction,
                bytes_done: flow.done(transfer.id),
                length: transfer.length,
                waited,
            },
        )
    }

    /// Waits until something has happened. `late` says what has not.
    pub(super) fn until<T>(
        &self,
        limit: Option<Duration>,
        mut happened: impl FnMut(&Flow<Region>) -> Option<Result<T>>,
        late: impl FnOnce(&mut Flow<Region>, Duration) -> Error,
    ) -> Result<T> {
        let context = self.device.context();
        let begin = context.now();
        let mut state = self.lock_own()?;
        let mut away = false;
        let result = loop {
            if let Some(result) = self.look(&mut state, &mut happened).transpose() {
                break result;
            }
            let waited = context.now().saturating_sub(begin);
            let left = limit.map_or(LOOK, |limit| limit.saturating_sub(waited));
            if left.is_zero() {
                // Was it only slow, or does nothing work any more?
                let checked = self.check(&mut state);
                let found = checked.and_then(|()| self.look(&mut state, &mut happened));
                break found.and_then(|found| found.ok_or_else(|| late(&mut state.flow, waited)));
            }
            if waited < state.spin {
                self.unlock(state);
                context.pause();
                state = self.lock();
                continue;
            }
            if state.flow.has_ended() || state.flow.can_finish() && !away {
                // Neither waits for as long as this sleeps.
                away = self.unlock(state);
                state = self.lock();
                continue;
            }
            away = false;
            let slept;
            (state, slept) = self.sleep(state, left.min(LOOK));
            if let Err(error) = slept {
                break Err(error);
            }
        };
        self.unlock(state);
        result
    }

    /// Sleeps until something has happened, and takes note of what the driver says.
    pub(super) fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        limit: Duration,
    ) -> (MutexGuard<'a, State>, Result<()>) {
        if state.sleeping || state.restarting {
            return (self.follow(state, limit), Ok(()));
        }
        if state.flow.finishing().is_some() {
            // No event says that it has ended, and records of others may come.
            return (self.follow(state, limit.min(SHORT)), Ok(()));
        }
        let context = self.device.context();
        let announced = state.flow.will_interrupt();
        let limit = match announced {
            true => limit,
            false => limit.min(SILENT),
        };
        state.statistics.system_calls += 1;
        state.sleeping = true;
        drop(state);
        let event = context.await_event(Some(limit));
        let mut state = self.lock();
        state.sleeping = false;
        state.overslept = announced && limit >= LOOK && matches!(event, Ok(false));
        let noticed = match event {
            Ok(true) => state.notice(&self.device).map(drop),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        // The tasks look when records have come. If it is not known what the event was, they look now.
        match noticed {
            Ok(()) => self.wake(&mut state),
            Err(_) => self.wake_all(&mut state),
        }
        (state, noticed)
    }

    /// Waits for another thread, which may have done what it does for all.
    pub(super) fn follow<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        limit: Duration,
    ) -> MutexGuard<'a, State> {
        state.followers += 1;
        let woken = self.woken.wait_timeout(state, limit);
        let (mut state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        state.followers -= 1;
        state
    }
}
