// SPDX-License-Identifier: GPL-2.0

//! When the machine is short of memory, regions that contexts keep are let go, oldest first.
//!
//! The kernel calls a shrinker from within any allocation, whatever locks the caller holds. Letting a region go
//! takes sleeping locks (of pages, of a dma-buf) and a fence, for which a board may need time. So the shrinker
//! itself only tries locks, waits for nothing, and notes how much is wanted. A work item does the rest, and no
//! reclaim waits for it. The work item allocates memory only for its batches, and can do without.
//!
//! This happens inside of the gate, and for regions of other processes. Those must not be able to delay it, nor
//! to wait for it in a circle:
//!
//! - The address space's lock is not taken, because a process can hold it for as long as it likes. Pinned pages
//!   are counted without that lock ([`crate::memory::host`]).
//! - The end of a watch does not wait for changes of the address space, because a process can keep one under
//!   way all the time ([`crate::memory::space`]).
//! - Pages that the board may write are locked when they are unpinned. They are anonymous, shared or huge
//!   pages, and so belong to no file system of a process: `FOLL_LONGTERM` gives no others for writing
//!   (`writable_file_mapping_allowed` in `mm/gup.c`).
//! - The reservation of a dma-buf is its driver's. A caller that holds a reservation takes the state of a
//!   mapping, and we never wait for a reservation with that state held.
//!
//! Only a shortage of the whole machine counts, not that of one control group: pages are pinned for the process
//! that registered them, and count against its user's limit of locked memory.

use super::Board;
use crate::{context::Context, regions::Region};
use core::ptr::{self, NonNull};
use kernel::{
    bindings,
    ffi::{c_int, c_long, c_ulong},
    impl_has_work, new_work,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
    workqueue::{self, Work, WorkItem},
};

/// Regions that go with one fence.
const BATCH: usize = 16;

impl Board {
    /// The weight of all that contexts keep, as far as it can be seen without waiting.
    fn weight_of_kept(&self) -> u64 {
        let Some(users) = self.users.try_lock() else {
            return 0;
        };
        let contexts = users.contexts.iter().flatten();
        let regions = contexts.map(|user| user.regions.try_lock());
        regions.flatten().map(|regions| regions.weight()).sum()
    }

    /// The context that keeps the region which was given back first.
    fn keeper_of_oldest(&self) -> Option<Arc<Context>> {
        let mut found: Option<(u64, Arc<Context>)> = None;
        self.for_each_user(|user| {
            let Some(oldest) = user.regions.lock().oldest() else {
                return;
            };
            if found.as_ref().is_none_or(|(first, _)| oldest < *first) {
                found = Some((oldest, user.clone()));
            }
        });
        found.map(|(_, user)| user)
    }

    /// Lets a batch of regions go, or as many as are wanted. Says how much that was.
    fn let_oldest_go(&self, wanted: u64) -> u64 {
        let mut batch = KVVec::new();
        let mut sum = 0;
        while batch.len() < BATCH && sum < wanted {
            let Some(user) = self.keeper_of_oldest() else {
                break;
            };
            let taken = user.regions.lock().take_oldest();
            if let Some((region, weight)) = taken {
                sum += weight;
                // One for which there is no room is dropped, and so forgotten by the board.
                let _ = batch.push(region, GFP_KERNEL);
            }
        }
        Region::retire(self, batch);
        sum
    }
}

/// What is wanted back.
#[pin_data]
struct Relief {
    board: Arc<Board>,
    wanted: Atomic<u64>,
    #[pin]
    work: Work<Relief>,
}

impl_has_work! {
    impl HasWork<Self> for Relief { self.work }
}

impl WorkItem for Relief {
    type Pointer = Arc<Relief>;

    fn run(relief: Arc<Relief>) {
        loop {
            let wanted = relief.wanted.xchg(0, ordering::Full);
            let Ok(_inside) = relief.board.gate.enter() else {
                return;
            };
            let gone = match wanted {
                0 => 0,
                wanted => relief
                    .board
                    .let_go(|| relief.board.let_oldest_go(wanted)),
            };
            if gone == 0 {
                return;
            }
            let rest = wanted.saturating_sub(gone);
            relief.wanted.fetch_add(rest, ordering::Relaxed);
        }
    }
}

/// A board's shrinker (`include/linux/shrinker.h`).
pub(crate) struct Shrinker {
    raw: NonNull<bindings::shrinker>,
    relief: Arc<Relief>,
}

// SAFETY: it may be freed by any thread.
unsafe impl Send for Shrinker {}
// SAFETY: nothing of it is used but to free it.
unsafe impl Sync for Shrinker {}

impl Shrinker {
    /// Registers one.
    pub(crate) fn new(board: &Arc<Board>, number: u32) -> Result<Self> {
        let relief = Arc::pin_init(
            pin_init!(Relief {
                board: board.clone(),
                wanted: Atomic::new(0),
                work <- new_work!("peerlane::relief"),
            }),
            GFP_KERNEL,
        )?;
        // SAFETY: the number is what the format wants.
        let raw = unsafe { bindings::shrinker_alloc(0, c"peerlane%u".as_char_ptr(), number) };
        let raw = NonNull::new(raw).ok_or(ENOMEM)?;
        // SAFETY: not registered yet, and ours. What it points to lives until it is freed.
        unsafe {
            let shrinker = &mut *raw.as_ptr();
            shrinker.count_objects = Some(count);
            shrinker.scan_objects = Some(scan);
            shrinker.seeks = bindings::DEFAULT_SEEKS as c_int;
            shrinker.batch = 0 as c_long;
            shrinker.private_data = ptr::from_ref(&*relief).cast_mut().cast();
            bindings::shrinker_register(raw.as_ptr());
        }
        Ok(Self { raw, relief })
    }
}

impl Drop for Shrinker {
    fn drop(&mut self) {
        // SAFETY: registered by `new`; the call waits until nobody is in it any more. Then the work is
        // not queued anew, and it holds itself until it has run, which takes the gate's word only.
        unsafe {
            bindings::shrinker_free(self.raw.as_ptr());
            let work = Work::raw_get(&raw const self.relief.work);
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
/// As above.
unsafe extern "C" fn count(
    shrinker: *mut bindings::shrinker,
    _: *mut bindings::shrink_control,
) -> c_ulong {
    // SAFETY: by contract.
    let relief = unsafe { relief(shrinker) };
    relief.board.weight_of_kept() as c_ulong
}

/// # Safety
/// As above.
unsafe extern "C" fn scan(
    shrinker: *mut bindings::shrinker,
    control: *mut bindings::shrink_control,
) -> c_ulong {
    // SAFETY: by contract.
    let (relief, wanted) = unsafe { (relief(shrinker), (*control).nr_to_scan) };
    relief.wanted.fetch_add(wanted as u64, ordering::Relaxed);
    // SAFETY: the kernel holds the shrinker, which holds it in an `Arc`.
    let relief = unsafe { kernel::sync::ArcBorrow::from_raw(ptr::from_ref(relief)) };
    // It may be waiting already.
    let _ = workqueue::system_long().enqueue(Arc::from(relief));
    // Nothing is free yet.
    0
}
