// SPDX-License-Identifier: GPL-2.0

//! Evicts cached regions that no process can use any more, and others when memory is short.
//!
//! A region is of no use any more when its process has given the addresses other memory, when the owner of the memory
//! has invalidated it, or when no process can name its dma-buf. The kernel notifies the driver of the first two, from
//! within any call and with any lock held ([`crate::memory::space`], [`crate::memory::dmabuf`]). For the third the
//! watchdog looks.
//!
//! When memory is short the kernel calls a shrinker, also from within any allocation. Evicting a region
//! takes sleeping locks (of pages, of a dma-buf) and a fence, for which a board may need time. So the shrinker
//! itself takes no lock that sleeps, and notes how much is wanted of which context ([`super::keepers`]). A shortage
//! may be that of a control group: then the contexts of its processes are asked.
//!
//! A work item does the evicting. It allocates memory for its batches, and evicts one by one without it. It has a
//! queue of the module's own, which is empty before the module goes.
//!
//! A thread that is short of memory waits for the work item, but not for long ([`Rounds`]): a control group ends its
//! processes after a few tries, which take less time than an eviction. The thread may hold locks that the work item
//! needs. Then the wait is in vain, and no other thread waits before the work item has ended.
//!
//! This happens inside of the gate, and for regions of other processes. Those must not be able to delay it, nor
//! to wait for it in a circle:
//!
//! - The address space's lock is not taken, because a process can hold it for as long as it likes. Pinned pages
//!   are counted without that lock ([`crate::memory::host`]).
//! - The end of a watch does not wait for changes of the address space, because a process can keep one in progress
//!   all the time ([`crate::memory::space`]).
//! - Pages that the board may write are locked when they are unpinned. They are anonymous, shared or huge
//!   pages, and so belong to no file system of a process: `FOLL_LONGTERM` gives no others for writing
//!   (`writable_file_mapping_allowed` in `mm/gup.c`).
//! - The reservation of a dma-buf is its driver's. A caller that holds a reservation takes the state of a
//!   mapping, and we never wait for a reservation with that state held.

use super::{
    keepers::{Asked, Keepers},
    Board,
};
use crate::{
    ffi::{peerlane_may_wait, peerlane_new_shrinker, peerlane_relief},
    regions::Region,
};
use core::ptr::{self, NonNull};
use kernel::{
    bindings,
    ffi::{c_int, c_long, c_ulong},
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
    time::{delay::fsleep, Delta},
    workqueue::{Queue, Work, WorkItem},
};

/// Number of this work among those of a board.
pub(super) const WORK: u64 = 1;

impl Board {
    /// Has cached regions evicted that are of no use any more, or that the shrinker wants: soon, and by another
    /// thread. The caller may hold any lock.
    pub(crate) fn relieve(self: &Arc<Self>) {
        // It may be queued already.
        // SAFETY: a board exists only while the module's queue does, or is known to lost pages that hold the module.
        let queue = unsafe { Queue::from_raw(peerlane_relief()) };
        let _ = queue.enqueue::<_, WORK>(self.clone());
    }

    /// Has cached regions evicted if dma-bufs are cached: no event reports that their last descriptor was closed.
    /// Returns whether there are such.
    pub(super) fn look_for_orphans(self: &Arc<Self>) -> bool {
        let mut some = false;
        let is_buffer = |region: &Region| region.memory().buffer().is_some();
        self.for_each_user(|user| some = some || user.regions.lock().cached().iter().any(is_buffer));
        if some {
            self.relieve();
        }
        some
    }

    /// Evicts useless regions, and as many others as the shrinker has asked for.
    fn evict(&self) {
        let is_orphan = |region: &Region| {
            let buffer = region.memory().buffer();
            buffer.is_some_and(|buffer| !buffer.is_named())
        };
        self.for_each_user(|user| {
            let mut wanted = user.regions.lock().wanted();
            user.evict(|region, _| {
                let weight = region.weight();
                let is_wanted = wanted > 0 && weight > 0;
                let goes = is_wanted || region.is_useless() || is_orphan(region);
                if goes {
                    wanted = wanted.saturating_sub(weight);
                }
                goes
            });
        });
    }
}

impl WorkItem<WORK> for Board {
    type Pointer = Arc<Board>;

    fn run(board: Arc<Board>) {
        let asked = board.rounds.asked.load(ordering::Acquire);
        if let Ok(_inside) = board.gate.enter() {
            board.let_go(|| board.evict());
        }
        board.rounds.answered.store(asked, ordering::Release);
    }
}

/// Longest wait of a thread that is short of memory for an eviction: pauses, and the length of a pause.
const PAUSES: u32 = 50;
const PAUSE: Delta = Delta::from_millis(1);

/// Counts the requests of the shrinker, and those that the work item has answered.
pub(super) struct Rounds {
    asked: Atomic<u64>,
    /// The work item has evicted regions since this one was asked for.
    answered: Atomic<u64>,
    /// The last one that was waited for in vain.
    late: Atomic<u64>,
}

impl Rounds {
    /// Makes counters without requests.
    pub(super) const fn none() -> Self {
        Self {
            asked: Atomic::new(0),
            answered: Atomic::new(0),
            late: Atomic::new(0),
        }
    }

    /// Counts one more request.
    fn ask(&self) -> u64 {
        self.asked.fetch_add(1, ordering::Full) + 1
    }

    fn is_answered(&self, round: u64) -> bool {
        self.answered.load(ordering::Acquire) >= round
    }

    /// Waits until the work item has answered. Returns whether it has. While an answer is late, no other thread waits.
    fn wait(&self, round: u64) -> bool {
        if !self.is_answered(self.late.load(ordering::Relaxed)) {
            return false;
        }
        for _ in 0..PAUSES {
            if self.is_answered(round) {
                return true;
            }
            fsleep(PAUSE);
        }
        self.late.store(round, ordering::Relaxed);
        false
    }
}

/// Amount that the kernel asks for in one call, by [`kept::weight`](crate::logic::kept::weight): 16 MiB.
const BATCH: c_long = 4096;

/// The argument of the shrinker's callbacks.
struct Relief {
    board: Arc<Board>,
    keepers: Arc<Keepers>,
}

/// A board's shrinker (`include/linux/shrinker.h`).
pub(crate) struct Shrinker {
    raw: NonNull<bindings::shrinker>,
    relief: KBox<Relief>,
}

// SAFETY: it may be freed by any thread.
unsafe impl Send for Shrinker {}
// SAFETY: it is only used to be freed.
unsafe impl Sync for Shrinker {}

impl Shrinker {
    /// Registers a shrinker. Contexts that are opened from now on are asked.
    pub(crate) fn new(board: &Arc<Board>, number: u32) -> Result<Self> {
        // SAFETY: any number does.
        let raw = NonNull::new(unsafe { peerlane_new_shrinker(number) }).ok_or(ENOMEM)?;
        // SAFETY: just made. No process opens the board after it is freed.
        let relief = unsafe { Keepers::new(raw) }.and_then(|keepers| {
            let board = board.clone();
            Ok(KBox::new(Relief { board, keepers }, GFP_KERNEL)?)
        });
        let relief = match relief {
            Ok(relief) => relief,
            Err(error) => {
                // SAFETY: not registered yet, and ours.
                unsafe { bindings::shrinker_free(raw.as_ptr()) };
                return Err(error);
            }
        };
        // SAFETY: not registered yet, and ours. Its private data live until it is freed.
        unsafe {
            let shrinker = &mut *raw.as_ptr();
            shrinker.count_objects = Some(count);
            shrinker.scan_objects = Some(scan);
            shrinker.seeks = bindings::DEFAULT_SEEKS as c_int;
            shrinker.batch = BATCH;
            shrinker.private_data = ptr::from_ref(&*relief).cast_mut().cast();
            bindings::shrinker_register(raw.as_ptr());
        }
        board.keepers.populate(relief.keepers.clone());
        Ok(Self { raw, relief })
    }
}

impl Drop for Shrinker {
    fn drop(&mut self) {
        // SAFETY: registered by `new`; the call waits for its callbacks to end. Nothing else queues the work, since
        // all contexts are closed. The work holds a reference to the board until it has run, and then finds the gate
        // closed.
        unsafe {
            bindings::shrinker_free(self.raw.as_ptr());
            let work = Work::raw_get(&raw const self.relief.board.relief);
            bindings::flush_work(work);
        }
    }
}

/// # Safety
/// Called by the kernel with a shrinker that is registered.
unsafe fn relief<'a>(shrinker: *mut bindings::shrinker) -> &'a Relief {
    // SAFETY: by contract; `Shrinker` holds it longer.
    unsafe { &*(*shrinker).private_data.cast::<Relief>() }
}

/// # Safety
/// Called by the kernel with the argument of such a call.
unsafe fn asked(control: *mut bindings::shrink_control) -> Asked {
    // SAFETY: by contract.
    unsafe {
        Asked {
            node: (*control).nid,
            group: (*control).memcg,
        }
    }
}

/// # Safety
/// As above.
unsafe extern "C" fn count(
    shrinker: *mut bindings::shrinker,
    control: *mut bindings::shrink_control,
) -> c_ulong {
    /// `SHRINK_EMPTY` of include/linux/shrinker.h.
    const EMPTY: c_ulong = c_ulong::MAX - 1;
    // SAFETY: by contract.
    let (relief, asked) = unsafe { (relief(shrinker), asked(control)) };
    match relief.keepers.has_any(asked) {
        true => relief.keepers.weight(asked) as c_ulong,
        // Until a group has an item again, the kernel does not ask for it.
        false => EMPTY,
    }
}

/// # Safety
/// As above.
unsafe extern "C" fn scan(
    shrinker: *mut bindings::shrinker,
    control: *mut bindings::shrink_control,
) -> c_ulong {
    // SAFETY: by contract.
    let (relief, asked, wanted, flags) = unsafe {
        let flags = (*control).gfp_mask;
        (relief(shrinker), asked(control), (*control).nr_to_scan, flags)
    };
    let before = relief.keepers.weight(asked);
    relief.keepers.ask(asked, wanted as u64);
    let round = relief.board.rounds.ask();
    relief.board.relieve();
    // SAFETY: the call only reads the state of the calling thread.
    let may_wait = unsafe { peerlane_may_wait(flags) };
    if !may_wait || !relief.board.rounds.wait(round) {
        // Nothing is free yet.
        return 0;
    }
    before.saturating_sub(relief.keepers.weight(asked)) as c_ulong
}
