//! Tasks that wait for transfers.

use crate::{Bench, LIMIT, PLACE, Work, bytes, fault_of, pattern, same, told};
use anyhow::{Result, ensure};
use peerlane_host::{Fault, Transfer};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

const LENGTH: usize = 10_000;

/// Two transfers are awaited at once, and a third one after them.
pub fn awaited(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (memory, region) = work.host(2 * LENGTH)?;
    let expected = pattern(3, LENGTH);
    memory.write(0, &expected).map_err(told)?;
    let length = LENGTH as u64;
    let moved = work.queue.block_on(async {
        let first = work.queue.to_fpga(region.part(0..length / 2), work.place)?;
        let (half, place) = (length / 2, work.place + length / 2);
        let second = work
            .queue
            .to_fpga(region.part(half..half + length - half), place)?;
        let sum = both(&first, &second).await?;
        let back = work
            .queue
            .from_fpga(work.place, region.part(length..length + length))?;
        // A reference is awaited, too, and the result stays.
        ensure_same((&back).await?, back.ended().await?);
        Ok(sum + back.ended().await?)
    });
    ensure!(moved.map_err(told)? == 2 * length);
    same(
        "the bytes that came back",
        &bytes(&memory)?[LENGTH..],
        &expected,
    )
}

fn ensure_same(first: u64, again: u64) {
    assert_eq!(first, again, "a reported end changes");
}

/// Returns the sum of two transfers, which are polled at once.
async fn both(first: &Transfer, second: &Transfer) -> peerlane_host::Result<u64> {
    let (mut first, mut second) = (pin!(first.ended()), pin!(second.ended()));
    let (mut one, mut two) = (None, None);
    poll_fn(|context| {
        if one.is_none()
            && let Poll::Ready(result) = first.as_mut().poll(context)
        {
            one = Some(result);
        }
        if two.is_none()
            && let Poll::Ready(result) = second.as_mut().poll(context)
        {
            two = Some(result);
        }
        match (one.take(), two.take()) {
            (Some(a), Some(b)) => Poll::Ready(a.and_then(|a| Ok(a + b?))),
            (a, b) => {
                (one, two) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

/// Wakers that count.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// An executor of the program is woken by turns. A future that was dropped is not woken.
pub fn turned(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(LENGTH)?;
    let length = LENGTH as u64;
    let transfer = (work.queue.from_fpga(work.place, region.part(0..length))).map_err(told)?;
    let [kept, dropped] = [Arc::new(Count::default()), Arc::new(Count::default())];
    let [by, other] = [&kept, &dropped].map(|count| Waker::from(Arc::clone(count)));

    let other_transfer =
        (work.queue.from_fpga(work.place, region.part(0..length))).map_err(told)?;
    let mut ended = pin!(transfer.ended());
    let mut poll = |waker| ended.as_mut().poll(&mut Context::from_waker(waker));
    let mut result = poll(&by);
    let _ = pin!(other_transfer.ended()).poll(&mut Context::from_waker(&other));
    drop(other_transfer);
    let begin = work.device.now();
    while result.is_pending() {
        ensure!(
            work.device.now() - begin < LIMIT,
            "nothing has woken the task"
        );
        let before = kept.0.load(Ordering::Relaxed);
        while kept.0.load(Ordering::Relaxed) == before {
            ensure!(
                work.device.now() - begin < LIMIT,
                "nothing has woken the task"
            );
            (work.device.poll(Some(work.queue.next_turn()))).map_err(told)?;
            work.queue.turn().map_err(told)?;
        }
        result = poll(&by);
    }
    let Poll::Ready(moved) = result else {
        unreachable!("it was looked at");
    };
    ensure!(moved.map_err(told)? == length);
    ensure!(
        dropped.0.load(Ordering::Relaxed) == 0,
        "no task waits for the dropped future"
    );
    Ok(())
}

/// A task gets a fault.
pub fn fails(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(LENGTH)?;
    let stale = region.clone();
    region.forget().map_err(told)?;
    let transfer = (work
        .queue
        .from_fpga(work.place, stale.part(0..PLACE.min(LENGTH as u64))))
    .map_err(told)?;
    let result = work.queue.block_on(transfer.ended());
    ensure!(result.is_err(), "{result:?}");
    ensure!(fault_of(&transfer)? == Fault::AttInvalid);
    Ok(())
}
