//! Tasks that wait for transfers, on any executor.

use super::waits::LOOK;
use super::{Queue, SILENT, Shared};
use crate::error::Result;
use crate::flow::TransferId;
use crate::transfer::Transfer;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Wakers of tasks.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Of tasks that wait.
    waiting: Vec<(TransferId, Waker)>,
    /// Of tasks that are to look again. They are woken without the state's lock, for they may look at once.
    due: Vec<Waker>,
}

impl Tasks {
    /// Has the task look again that waits for this transfer. The last one that asks is told.
    fn wait(&mut self, id: TransferId, waker: &Waker) {
        match self.waiting.iter_mut().find(|(other, _)| *other == id) {
            Some((_, before)) => before.clone_from(waker),
            None => self.waiting.push((id, waker.clone())),
        }
    }

    pub(super) fn all_due(&mut self) {
        self.due
            .extend(self.waiting.drain(..).map(|(_, waker)| waker));
    }

    pub(super) fn take_due(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.due)
    }

    /// Nobody waits for the transfer any more. What is given is to be dropped without the state's lock.
    pub(super) fn forget(&mut self, id: TransferId) -> Option<Waker> {
        let place = self.waiting.iter().position(|(other, _)| *other == id)?;
        Some(self.waiting.swap_remove(place).1)
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
    /// The end of the transfer, with the bytes moved, as a future for any executor. Tasks are woken by
    /// whoever calls [`Queue::turn`], or waits for any transfer of the queue; there is no thread for it. To
    /// drop the future stops nothing.
    ///
    /// # Errors
    /// As [`wait`](Self::wait), which has a limit besides.
    pub fn ended(&self) -> Ended<'_> {
        Ended(self)
    }
}

impl Queue {
    /// Takes note of what the board has reported, and wakes the tasks that wait: for a program that watches
    /// [`Device::file`](crate::Device::file), or an [eventfd](crate::Device::set_eventfd), with an executor of its own. It is called
    /// when that can be read, and after [`next_turn`](Self::next_turn) at the latest. It does not wait.
    ///
    /// # Errors
    /// [`Error::Gone`](crate::Error::Gone) and [`Error::Broken`](crate::Error::Broken), which the tasks hear, too.
    pub fn turn(&self) -> Result<()> {
        let shared = &*self.0;
        let mut state = shared.lock();
        // First the events, then the records that they told of. A thread that sleeps takes note of the events
        // itself, and wakes the tasks; it would miss those that were acknowledged here.
        let noticed = match state.sleeping {
            true => Ok(false),
            false => state.notice(shared.device.context()),
        };
        let turned = noticed.and_then(|_| shared.take_records(&mut state));
        shared.pump(&mut state);
        shared.wake(&mut state);
        shared.unlock(state);
        turned
    }

    /// How long a program may wait for an event before it calls [`turn`](Self::turn) all the same: a
    /// second, and much less while nothing under way will raise an interrupt.
    pub fn next_turn(&self) -> Duration {
        match self.0.lock().flow.will_interrupt() {
            true => LOOK,
            false => SILENT,
        }
    }

    /// Carries a future out that waits for transfers of this queue, in this thread: the smallest executor.
    /// What it waits for elsewhere is looked at after [`next_turn`](Self::next_turn), a second at the latest.
    ///
    /// ```no_run
    /// # async fn run(queue: &peerlane_host::Queue, region: &peerlane_host::Region) -> peerlane_host::Result<()> {
    /// let (input, output) = (queue.read(region, 0, 0, 4096)?, queue.write(8192, region, 4096, 4096)?);
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
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&flag));
        let mut context = Context::from_waker(&waker);
        loop {
            flag.0.store(false, Ordering::Release);
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            while !flag.0.load(Ordering::Acquire) {
                let limit = self.next_turn();
                let board = self.0.device.context();
                // The tasks hear of errors by their transfers.
                if board.await_event(Some(limit)).is_err() {
                    std::thread::sleep(SILENT);
                }
                let _ = self.turn();
            }
        }
    }
}

/// Whether the task is to look again.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

impl Shared {
    /// Looks whether a transfer has ended, and has the task look again otherwise.
    fn poll_task(&self, id: TransferId, waker: &Waker) -> Poll<Result<u64>> {
        let mut state = self.lock();
        let found = self.look(&mut state, &mut |flow| flow.result(id));
        if matches!(found, Ok(None)) {
            state.tasks.wait(id, waker);
        }
        self.unlock(state);
        match found {
            Ok(None) => Poll::Pending,
            Ok(Some(bytes)) => Poll::Ready(Ok(bytes)),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}
