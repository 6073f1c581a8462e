//! Polls of and waits for a queue's transfers.

use super::transfer::Transfer;
use super::{SILENT, Shared, State};
use crate::error::{Error, Result};
use crate::flow::{Flow, TransferId};
use crate::region::Region;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two checks for changes that bring no record, while a thread waits for a record. No thread sleeps for
/// longer: another thread may acknowledge an event when it queries the driver for another purpose, and then no thread
/// wakes up.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// The longest wait at a stretch for a thread that does the rest of a write.
const SHORT: Duration = Duration::from_millis(1);

/// The longest time for which a doorbell may be refused without a known reason. A board that was reset without its
/// driver's knowledge refuses doorbells, too. The driver checks for that once a second, and reports it when it has
/// restarted the board.
const UNEXPLAINED: Duration = Duration::from_secs(5);

/// The least bytes that the descriptors before a called-off transfer are expected to move in a second: a quarter of the
/// rate of the slowest link, which is one lane of the first generation.
const SLOW: u64 = 64 << 20;

impl Shared {
    /// Waits until the board has no descriptors of other transfers any more before a called-off transfer, or until that
    /// transfer has ended. The others have the time that their bytes may take, but not more than `most`.
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
        // The wait for the transfer itself returns the same error.
        let _ = passed;
    }

    pub(crate) fn poll(&self, id: TransferId) -> Result<Option<u64>> {
        loop {
            let mut state = self.lock_own()?;
            let found = self.look(&mut state, &mut |flow| flow.result(id));
            // The rest of a write may be the only missing step.
            let again = matches!(found, Ok(None)) && state.flow.can_finish();
            // Tasks that an error has woken run now.
            let away = self.unlock(state);
            if !again || away {
                return self.after_gone(found, |flow| Some(flow.result(id)?.map(Some)));
            }
        }
    }

    /// Returns the result of a transfer. It does not wait, and does nothing else: Python's garbage collector calls it.
    pub(crate) fn result(&self, id: TransferId) -> Option<Result<u64>> {
        self.lock_own().ok()?.flow.result(id)
    }

    /// Polls whether `happened` returns a result. Once in a while this checks for changes that bring no record.
    pub(super) fn look<T>(
        &self,
        state: &mut State,
        happened: &mut impl FnMut(&Flow<Region>) -> Option<Result<T>>,
    ) -> Result<Option<T>> {
        // A known end stays known, also when the device fails.
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
        // A sleeping thread checks by itself.
        if (state.sleeping || !self.is_due(state)) && !state.suspect {
            return Ok(None);
        }
        self.check(state)?;
        state.suspect = false;
        // The check acknowledges events, so the records that they announced must be taken here.
        self.take_records(state)?;
        self.pump(state);
        happened(&state.flow).transpose()
    }

    /// Returns whether the last check for changes without a record was long ago.
    pub(super) fn is_due(&self, state: &State) -> bool {
        let now = self.device.context().now();
        now.saturating_sub(state.looked) >= LOOK
    }

    /// Checks for changes that bring no record: a refused doorbell, and a restart or the end of the board while
    /// transfers are under way.
    pub(super) fn check(&self, state: &mut State) -> Result<()> {
        if state.restarting {
            return Ok(());
        }
        let context = self.device.context();
        state.note_refused(context);
        if state.refused.is_some() || state.flow.under_way() > 0 {
            let restarted = state.notice(&self.device);
            self.wake_all(state);
            // A reset refuses doorbells too, until it is noticed; these descriptors are lost with the others.
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

    /// Waits until `happened` returns a result. `late` makes the error after the time limit.
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
                // Released regions and ended writes must not wait for as long as this sleeps.
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
        self.after_gone(result, happened)
    }

    /// Sleeps until an event, and handles the driver's report.
    pub(super) fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        limit: Duration,
    ) -> (MutexGuard<'a, State>, Result<()>) {
        if state.sleeping || state.restarting {
            return (self.follow(state, limit), Ok(()));
        }
        if state.flow.finishing().is_some() {
            // No event reports the end of that rest, and records of other transfers may come.
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
        // The tasks look when records have come. If the event is unknown, they look now.
        match noticed {
            Ok(()) => self.wake(&mut state),
            Err(_) => self.wake_all(&mut state),
        }
        (state, noticed)
    }

    /// Waits for another thread, which may have done work for all threads.
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
