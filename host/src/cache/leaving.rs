//! Regions that are being dropped: they are not in the table any more, but the board may still have them.

use super::table::Gone;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// Threads that are dropping regions.
#[derive(Debug, Default)]
pub(super) struct Departures {
    under_way: Mutex<UnderWay>,
    /// A thread has dropped its regions.
    done: Condvar,
}

#[derive(Debug, Default)]
struct UnderWay {
    /// The number of the last drop that has begun.
    last: u64,
    all: Vec<(u64, ThreadId)>,
}

/// Regions that go when this is dropped: at once if there are no other references to them, otherwise with the last
/// reference. The driver does not cache them.
#[must_use = "its regions are released when it is dropped; drop it without a lock"]
pub(super) struct Leaving<'a> {
    of: &'a Departures,
    /// None where there are no regions.
    number: Option<u64>,
    gone: Vec<Gone>,
}

impl Departures {
    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to drop regions that were taken out of the table, which is locked.
    pub(super) fn begin(&self, gone: Vec<Gone>) -> Leaving<'_> {
        let number = (!gone.is_empty()).then(|| {
            let mut under_way = self.lock();
            under_way.last += 1;
            let number = under_way.last;
            under_way.all.push((number, std::thread::current().id()));
            number
        });
        let of = self;
        Leaving { of, number, gone }
    }

    /// Returns the number of the last drop that has begun.
    pub(super) fn last(&self) -> u64 {
        self.lock().last
    }

    /// Waits for all drops that had begun, up to number `last`. A thread that is dropping regions itself waits for
    /// nothing, because other threads may wait for it: the owner of a region calls this when the region is dropped.
    pub(super) fn wait(&self, last: u64) {
        let here = std::thread::current().id();
        let mut under_way = self.lock();
        if under_way.all.iter().any(|(_, thread)| *thread == here) {
            return;
        }
        while under_way.all.iter().any(|(number, _)| *number <= last) {
            let woken = self.done.wait(under_way);
            under_way = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let_go(std::mem::take(&mut self.gone));
        if let Some(own) = self.number {
            self.of.lock().all.retain(|(number, _)| *number != own);
            self.of.done.notify_all();
        }
    }
}

/// Drops regions.
pub(super) fn let_go(gone: Vec<Gone>) {
    for (region, parts) in gone {
        region.do_not_keep();
        drop(region);
        drop(parts);
    }
}
