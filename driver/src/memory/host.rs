// SPDX-License-Identifier: GPL-2.0

//! Memory of a process, pinned.

use crate::{
    ffi::raw_device,
    logic::{att::Permissions, layout::Segment},
};
use core::ops::Range;
use kernel::{
    bindings, container_of, current,
    device::{Bound, Device},
    error::to_result,
    ffi::c_ulong,
    mm::Mm,
    page::{PAGE_MASK, PAGE_SHIFT, PAGE_SIZE},
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
    },
    types::Opaque,
};

/// Pages of a process that the board may reach.
///
/// They are pinned for long (`FOLL_LONGTERM`, Documentation/core-api/pin_user_pages.rst), counted
/// against the process's `RLIMIT_MEMLOCK`, and watched: pages that are no longer what the process
/// sees at the address stay safe to use, but are not found again by it.
pub(crate) struct Pages {
    mapped: Mapped,
    // Unpinned behind the unmapping.
    pinned: Pinned,
}

/// The process whose memory it is, as far as it is needed to undo the accounting.
///
/// What drivers pin is counted in `mm_struct::pinned_vm` (`VmPin` in `/proc/PID/status`), as the RDMA
/// subsystem does it (drivers/infiniband/core/umem.c). That takes no lock. `account_locked_vm` would
/// take the process's `mmap_lock`, which its threads can hold for as long as they like (a page of a
/// file system in user space), and regions are let go on behalf of others, too.
struct Account {
    mm: ARef<Mm>,
    pages: i64,
}

impl Account {
    /// Counts pages of the calling process. `ENOMEM`: with those pinned before they are more than its
    /// `RLIMIT_MEMLOCK`, and it does not have `CAP_IPC_LOCK`.
    fn new(pages: usize) -> Result<Self> {
        let mm: ARef<Mm> = ARef::from(&**current!().mm().ok_or(EINVAL)?);
        let pages = i64::try_from(pages)?;
        // SAFETY: the calling process's own signal structure, which is there as long as it runs. The
        // limit may change meanwhile, as `rlimit()` of the kernel's allows, too.
        let limit = unsafe {
            let signal = (*current!().as_ptr()).signal;
            let limit = &raw const (*signal).rlim[bindings::RLIMIT_MEMLOCK as usize].rlim_cur;
            limit.read_volatile() as u64 >> PAGE_SHIFT
        };
        // From here on it is undone by drop.
        let account = Self { mm, pages };
        let before = account.pinned().fetch_add(pages, ordering::Relaxed);
        // SAFETY: any number may be asked for.
        let may = || unsafe { bindings::capable(bindings::CAP_IPC_LOCK as i32) };
        match before.saturating_add(pages).unsigned_abs() > limit && !may() {
            true => Err(ENOMEM),
            false => Ok(account),
        }
    }

    /// Pages that are pinned of the process.
    fn pinned(&self) -> &Atomic<i64> {
        // SAFETY: `mm` keeps it there, and all access to it is atomic. An `atomic64_t` is an `i64`.
        unsafe {
            let pinned = &raw mut (*self.mm.as_raw()).__bindgen_anon_1.pinned_vm;
            Atomic::from_ptr(pinned.cast::<i64>())
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.pinned().fetch_add(-self.pages, ordering::Relaxed);
    }
}

/// Pages that stay where they are.
pub(crate) struct Pinned {
    pages: KVVec<*mut bindings::page>,
    /// Of the first byte in the first page.
    offset: u64,
    permissions: Permissions,
    watch: Pin<KBox<Watch>>,
    // After the pages.
    _account: Account,
}

// SAFETY: pinned pages belong to no thread.
unsafe impl Send for Pinned {}
// SAFETY: the list is not changed between `new` and drop.
unsafe impl Sync for Pinned {}

/// The most pages that are asked for at once: the kernel counts them in an `int`.
const BATCH: usize = 1 << 18;

/// Times that pages are pinned anew because the process's view of them has changed meanwhile, as
/// pinning itself makes it do where pages were shared with a child.
const ATTEMPTS: usize = 4;

impl Pinned {
    /// Pins memory of the calling process. No lock may be held that a page fault takes.
    pub(crate) fn new(address: u64, length: u64, permissions: Permissions) -> Result<Self> {
        let address = usize::try_from(address)?;
        let end = usize::try_from(length)?
            .checked_add(address)
            .and_then(|end| end.checked_next_multiple_of(PAGE_SIZE))
            .ok_or(EOVERFLOW)?;
        let range = address & PAGE_MASK..end;
        let count = (range.end - range.start) >> PAGE_SHIFT;
        let mut pinned = Self {
            _account: Account::new(count)?,
            pages: KVVec::with_capacity(count, GFP_KERNEL_ACCOUNT)?,
            offset: (address & !PAGE_MASK) as u64,
            permissions,
            watch: KBox::try_pin_init(Watch::new(range.clone()), GFP_KERNEL_ACCOUNT)?,
        };
        for _ in 0..ATTEMPTS {
            pinned.unpin();
            pinned.watch.begin();
            pinned.pin(range.start, count)?;
            if !pinned.is_stale() {
                break;
            }
        }
        Ok(pinned)
    }

    fn pin(&mut self, start: usize, count: usize) -> Result {
        let write = match self.permissions.write() {
            true => bindings::FOLL_WRITE,
            false => 0,
        };
        let flags = bindings::FOLL_LONGTERM | write;
        while self.pages.len() < count {
            let done = self.pages.len();
            let wanted = (count - done).min(BATCH);
            let start = start + (done << PAGE_SHIFT);
            let room = self.pages.spare_capacity_mut().as_mut_ptr().cast();
            // SAFETY: there is room for `count` pointers in all.
            let got = unsafe { bindings::pin_user_pages_fast(start, wanted as i32, flags, room) };
            if got <= 0 {
                return Err(if got < 0 {
                    Error::from_errno(got)
                } else {
                    EFAULT
                });
            }
            // SAFETY: so many were written behind the old length.
            unsafe { self.pages.inc_len(got as usize) };
        }
        Ok(())
    }

    fn unpin(&mut self) {
        let pages = self.pages.as_mut_ptr();
        let written = self.permissions.write();
        // SAFETY: these were pinned, and nobody uses them any more.
        unsafe { bindings::unpin_user_pages_dirty_lock(pages, self.pages.len(), written) };
        self.pages.clear();
    }

    fn is_stale(&self) -> bool {
        self.watch.stale.load(ordering::Acquire)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.unpin();
    }
}

/// Takes note when the addresses are given other memory.
#[pin_data(PinnedDrop)]
struct Watch {
    #[pin]
    notifier: Opaque<bindings::mmu_interval_notifier>,
    stale: Atomic<bool>,
}

static WATCH: bindings::mmu_interval_notifier_ops = bindings::mmu_interval_notifier_ops {
    invalidate: Some(invalidate),
    invalidate_start: None,
    invalidate_finish: None,
};

/// # Safety
/// Called by the kernel with the notifier of a [`Watch`].
unsafe extern "C" fn invalidate(
    notifier: *mut bindings::mmu_interval_notifier,
    _: *const bindings::mmu_notifier_range,
    sequence: c_ulong,
) -> bool {
    // SAFETY: the notifier is a field of a `Watch`, which outlives its registration.
    let watch = unsafe { &*container_of!(Opaque::cast_from(notifier), Watch, notifier) };
    watch.stale.store(true, ordering::Release);
    // SAFETY: the kernel's contract: called from this callback, with its sequence. (What
    // `mmu_interval_set_seq` does, which is an inline function.)
    unsafe { (&raw mut (*notifier).invalidate_seq).write_volatile(sequence) };
    true
}

impl Watch {
    fn new(range: Range<usize>) -> impl PinInit<Self, Error> {
        let length = range.end - range.start;
        try_pin_init!(Self {
            stale: Atomic::new(false),
            notifier <- Opaque::try_ffi_init(move |slot: *mut bindings::mmu_interval_notifier| {
                let mm = current!().mm().ok_or(EINVAL)?.as_raw();
                // SAFETY: `slot` is pinned until `mmu_interval_notifier_remove`.
                to_result(unsafe {
                    bindings::mmu_interval_notifier_insert(slot, mm, range.start, length, &WATCH)
                })
            }),
        })
    }
}

impl Watch {
    /// From now on every change is noted. One that has begun is waited for: it was told to nobody
    /// who had not been watching then, and may take the pages away yet.
    fn begin(&self) {
        self.stale.store(false, ordering::Release);
        // The sequence that it returns is not asked for again: what begins from here on calls back,
        // and `stale` stays true.
        // SAFETY: the notifier was inserted. No lock is held that a change could need.
        unsafe { bindings::mmu_interval_read_begin(self.notifier.get()) };
    }
}

#[pinned_drop]
impl PinnedDrop for Watch {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: it was inserted; the call waits for callbacks.
        unsafe { bindings::mmu_interval_notifier_remove(self.notifier.get()) }
    }
}

/// How pages are mapped: the process and the board use them at the same time, as often as the
/// process has registered them, and nobody tells the kernel when. A machine on which that needs
/// copies or flushes is refused.
const SHARED: c_ulong = bindings::DMA_ATTR_REQUIRE_COHERENT as c_ulong;

/// Pages that are mapped for the device.
struct Mapped {
    table: bindings::sg_table,
    device: ARef<Device>,
    direction: bindings::dma_data_direction,
}

// SAFETY: the table is ours alone, and nothing of it belongs to a thread.
unsafe impl Send for Mapped {}
// SAFETY: it is not changed between `new` and drop.
unsafe impl Sync for Mapped {}

impl Mapped {
    fn new(
        device: &Device<Bound>,
        pinned: &mut Pinned,
        direction: bindings::dma_data_direction,
    ) -> Result<Self> {
        let mut table: bindings::sg_table = pin_init::zeroed();
        let (pages, count) = (pinned.pages.as_mut_ptr(), pinned.pages.len());
        // SAFETY: all pointers are valid; the table is freed here or in drop.
        unsafe {
            to_result(bindings::sg_alloc_table_from_pages_segment(
                &mut table,
                pages,
                u32::try_from(count)?,
                0,
                count << PAGE_SHIFT,
                // As much as an entry can hold, in whole pages.
                u32::MAX & PAGE_MASK as u32,
                bindings::GFP_KERNEL_ACCOUNT,
            ))?;
            let mapped =
                bindings::dma_map_sgtable(raw_device(device), &mut table, direction, SHARED);
            if let Err(error) = to_result(mapped) {
                bindings::sg_free_table(&mut table);
                return Err(error);
            }
        }
        Ok(Self {
            table,
            device: device.into(),
            direction,
        })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; all memory is dropped before the device is unbound.
        unsafe {
            let device = raw_device(self.device.as_bound());
            bindings::dma_unmap_sgtable(device, &mut self.table, self.direction, SHARED);
            bindings::sg_free_table(&mut self.table);
        }
    }
}

impl Pages {
    /// Maps pinned pages for the device. Also says where on the bus they lie, from the beginning
    /// of the first, and where in that the memory begins.
    pub(crate) fn new(
        device: &Device<Bound>,
        mut pinned: Pinned,
    ) -> Result<(Self, KVVec<Segment>, u64)> {
        let direction = super::direction(pinned.permissions);
        let mapped = Mapped::new(device, &mut pinned, direction)?;
        let offset = pinned.offset;
        let mut pages = Self { mapped, pinned };
        // SAFETY: just mapped, and ours.
        let segments = unsafe { super::segments(device, &mut pages.mapped.table, u64::MAX)? };
        Ok((pages, segments, offset))
    }

    /// Whether the process may see other memory at the address now.
    pub(crate) fn is_stale(&self) -> bool {
        self.pinned.is_stale()
    }
}
