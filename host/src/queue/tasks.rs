//! Tasks that wait for transfers, on any executor.

use super::transfer::Transfer;
use super::waits::LOOK;
use super::{Queue, SILENT, Shared, State};
use crate::error::Result;
use crate::flow::TransferId;
use crate::lock_free::Flag;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Wakers of tasks.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Wakers of waiting tasks, with the transfer of each.
    waiting: Vec<(TransferId, Waker)>,
    /// Wakers of tasks that have to look again. They are called without the state's lock, because a task may look at
    /// once.
    due: Vec<Waker>,
    /// Number of times that tasks were due.
    times_due: u64,
}

impl Tasks {
    /// Adds a task that waits for this transfer, in addition to others that do.
    fn wait(&mut self, id: TransferId, waker: Waker) -> Option<Waker> {
        let mut known = self.waiting.iter();
        if known.any(|(other, before)| *other == id && before.will_wake(&waker)) {
            return Some(waker);
        }
        self.waiting.push((id, waker));
        None
    }

    /// Moves the tasks whose transfers have ended to the due ones.
    pub(super) fn ended_due(&mut self, has_ended: impl Fn(TransferId) -> bool) {
        let before = self.due.len();
        let ended = self.waiting.extract_if(.., |(id, _)| has_ended(*id));
        self.due.extend(ended.map(|(_, waker)| waker));
        self.times_due += u64::from(self.due.len() > before);
    }

    pub(super) fn all_due(&mut self) {
        self.ended_due(|_| true);
    }

    pub(super) fn take_due(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.due)
    }

    /// Removes the tasks of a transfer. The result must be dropped without the state's lock: a waker may be the last
    /// reference to a task, which may own transfers.
    pub(super) fn forget(&mut self, id: TransferId) -> Vec<(TransferId, Waker)> {
        let forgotten = self.waiting.extract_if(.., |(other, _)| *other == id);
        forgotten.collect()
    }

    /// Removes a task. The result must be dropped as that of [`forget`](Self::forget).
    fn remove(&mut self, waker: &Waker) -> Vec<(TransferId, Waker)> {
        let removed = self
            .waiting
            .extract_if(.., |(_, other)| other.will_wake(waker));
        removed.collect()
    }
}

/// The end of a transfer, as a future: [`Transfer::ended`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Ended<'a>(&'a Transfer);

impl Future for Ended<'_> {
    type Output = Result<u64>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.queue.poll_task(self.0.id, context.waker())
    }
}

impl<'a> IntoFuture for &'a Transfer {
    type Output = Result<u64>;
    type IntoFuture = Ended<'a>;

    fn into_future(self) -> Ended<'a> {
        self.ended()
    }
}

impl Transfer {
    /// Returns a future for the end of the transfer, with the bytes moved, for any executor. Tasks are woken by the
    /// thread that calls [`Queue::turn`], or waits for any transfer of the queue; the library has no thread for it.
    /// Dropping the future stops nothing.
    ///
    /// # Errors
    /// As [`wait`](Self::wait), except for its time limit.
    pub fn ended(&self) -> Ended<'_> {
        Ended(self)
    }
}

impl Queue {
    /// Processes the board's reports, and wakes the tasks that wait. It is for a program that watches
    /// [`Device::file`](crate::Device::file), or an [eventfd](crate::Device::set_eventfd), with an executor of its own.
    /// Call it when that file can be read, and after [`next_turn`](Self::next_turn) at the latest. It does not wait.
    ///
    /// # Errors
    /// [`Error::Gone`](crate::Error::Gone) and [`Error::Broken`](crate::Error::Broken), which the tasks get, too.
    pub fn turn(&self) -> Result<()> {
        let mut state = self.0.lock_own()?;
        // First the events, then the records that they announced. A sleeping thread handles the events itself, and
        // wakes the tasks; it would miss events that were acknowledged here.
        let noticed = match state.sleeping || state.restarting {
            true => Ok(()),
            false => state.notice(&self.0.device).map(drop),
        };
        self.0.turn(state, noticed)
    }

    /// Returns the longest time that a program may wait for an event before it calls [`turn`](Self::turn): a second,
    /// and much less while no transfer under way will raise an interrupt.
    pub fn next_turn(&self) -> Duration {
        match self.0.lock_own() {
            Ok(state) if state.flow.under_way() > 0 && !state.flow.will_interrupt() => SILENT,
            _ => LOOK,
        }
    }

    /// Runs a future that waits for transfers of this queue, in this thread: the smallest executor. Other sources that
    /// it waits for are checked after [`next_turn`](Self::next_turn), a second at the latest.
    ///
    /// ```no_run
    /// # async fn run(queue: &peerlane_host::Queue, region: &peerlane_host::Region) -> peerlane_host::Result<()> {
    /// let (input, output) = (queue.to_fpga(region.part(0..4096), 0)?, queue.from_fpga(8192, region.part(4096..8192))?);
    /// let bytes = input.ended().await? + output.ended().await?;
    /// # assert_eq!(bytes, 8192);
    /// # Ok(())
    /// # }
    /// # fn main() -> peerlane_host::Result<()> {
    /// # let device = peerlane_host::Device::first()?;
    /// # let queue = device.queue()?;
    /// # let memory = device.memory(peerlane_host::MemoryKind::Host, 8192)?;
    /// # let region = device.register_all(&memory, peerlane_host::Permissions::ReadWrite)?;
    /// queue.block_on(run(&queue, &region))
    /// # }
    /// ```
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let flag = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&flag));
        let mut context = Context::from_waker(&waker);
        loop {
            flag.0.lower();
            let times_due = |state: MutexGuard<'_, State>| state.tasks.times_due;
            let before = self.0.lock_own().map_or(0, times_due);
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                // Of transfers that it does not wait for any more.
                let removed = |mut state: MutexGuard<'_, State>| state.tasks.remove(&waker);
                drop(self.0.lock_own().map(removed));
                return output;
            }
            while !flag.0.is_raised() {
                let limit = self.next_turn();
                let state = self.0.lock();
                // Another thread may be waking this task, without the lock.
                if state.tasks.times_due != before {
                    break;
                }
                if self.0.sleep_and_turn(state, limit).is_err() {
                    // No time passes on a board that is gone. The tasks get the error by their transfers.
                    std::thread::sleep(SILENT);
                }
            }
        }
    }
}

/// Waker of the task of [`Queue::block_on`].
#[derive(Default)]
struct Woken(Flag);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.raise();
    }
}

impl Shared {
    /// Sleeps until an event, like other waiting threads, and turns.
    fn sleep_and_turn(&self, state: MutexGuard<'_, State>, limit: Duration) -> Result<()> {
        let (state, noticed) = self.sleep(state, limit);
        self.turn(state, noticed)
    }

    /// Takes the records, gives the board more descriptors, and wakes the tasks.
    fn turn(&self, mut state: MutexGuard<'_, State>, noticed: Result<()>) -> Result<()> {
        let turned = noticed.and_then(|()| self.take_records(&mut state));
        // A task looks only when its transfer has ended, and some changes bring no record. The check acknowledges
        // events, so the records that they announced must be taken here.
        let turned = turned.and_then(|()| match self.is_due(&state) {
            true => (self.check(&mut state)).and_then(|()| self.take_records(&mut state)),
            false => Ok(()),
        });
        // The tasks that are woken must get the error at once, and not only after a second of the board's time.
        state.suspect |= turned.is_err();
        self.pump(&mut state);
        match turned {
            Ok(()) => self.wake(&mut state),
            Err(_) => self.wake_all(&mut state),
        }
        self.unlock(state);
        turned
    }

    /// Polls whether a transfer has ended; otherwise the task is woken to look again.
    fn poll_task(&self, id: TransferId, waker: &Waker) -> Poll<Result<u64>> {
        // Clones and drops of a waker may run any code, so they happen without the lock.
        let waker = waker.clone();
        let mut state = match self.lock_own() {
            Ok(state) => state,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let found = self.look(&mut state, &mut |flow| flow.result(id));
        let known = match found {
            Ok(None) => state.tasks.wait(id, waker),
            _ => Some(waker),
        };
        self.unlock(state);
        drop(known);
        match self.after_gone(found, |flow| Some(flow.result(id)?.map(Some))) {
            Ok(None) => Poll::Pending,
            Ok(Some(bytes)) => Poll::Ready(Ok(bytes)),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}
