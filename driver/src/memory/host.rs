// SPDX-License-Identifier: GPL-2.0

//! Memory of a process, pinned.

use super::space::{Space, Watch};
use crate::{
    board::Board,
    ffi::{
        is_capable, peerlane_are_of_hugetlb, peerlane_get_user, peerlane_needs_copies,
        peerlane_page_address, raw_device,
    },
    logic::{att::Permissions, layout::Segment},
};
use core::ptr::NonNull;
use kernel::{
    bindings, current,
    device::{Bound, Device},
    error::to_result,
    ffi::c_ulong,
    mm::Mm,
    page::{PAGE_MASK, PAGE_SHIFT, PAGE_SIZE},
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
};

/// Pages of a process that the board may reach.
///
/// They are pinned for long (`FOLL_LONGTERM`, Documentation/core-api/pin_user_pages.rst), counted against
/// `RLIMIT_MEMLOCK`, and watched. If the process later sees other pages at the address, the pinned ones stay safe to
/// use, but are not found again by it.
pub(crate) struct Pages {
    // Goes before the pins.
    _mapped: Mapped,
    // Unpinned after the unmapping.
    pinned: Pinned,
}

/// A reference to the kernel's counters for a user (`struct user_struct`).
struct User(NonNull<bindings::user_struct>);

// SAFETY: it belongs to no thread, and all accesses to the counter that we use are atomic.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

impl User {
    /// Returns the real user of the calling process.
    fn of_caller() -> Result<Self> {
        // SAFETY: any process may ask for it; drop releases the reference.
        NonNull::new(unsafe { peerlane_get_user() }).map_or(Err(EINVAL), |user| Ok(Self(user)))
    }

    /// Returns the counter of pages that all its processes have locked.
    fn locked(&self) -> &Atomic<i64> {
        // SAFETY: we keep it there, and all access to it is atomic. An `atomic_long_t` is an `i64`.
        unsafe { Atomic::from_ptr((&raw mut (*self.0.as_ptr()).locked_vm).cast::<i64>()) }
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { bindings::free_uid(self.0.as_ptr()) }
    }
}

/// The process and the user against whose limits pinned pages count.
pub(crate) struct Payer {
    mm: ARef<Mm>,
    user: User,
}

impl Payer {
    /// Returns the calling process and its user.
    pub(crate) fn caller() -> Result<Self> {
        Ok(Self {
            mm: ARef::from(&**current!().mm().ok_or(EINVAL)?),
            user: User::of_caller()?,
        })
    }

    /// Returns the counter of pages that are pinned for the process.
    fn pinned(&self) -> &Atomic<i64> {
        // SAFETY: `mm` keeps it there, and all access to it is atomic. An `atomic64_t` is an `i64`.
        unsafe {
            let pinned = &raw mut (*self.mm.as_raw()).__bindgen_anon_1.pinned_vm;
            Atomic::from_ptr(pinned.cast::<i64>())
        }
    }
}

/// Returns the largest number of pages that the calling process may lock without `CAP_IPC_LOCK`.
fn lockable_pages() -> u64 {
    // SAFETY: the calling process's own signal structure, which exists as long as the process runs. The limit may
    // change in the meantime, as with the kernel's `rlimit()`.
    unsafe {
        let signal = (*current!().as_ptr()).signal;
        let limit = &raw const (*signal).rlim[bindings::RLIMIT_MEMLOCK as usize].rlim_cur;
        limit.read_volatile() as u64 >> PAGE_SHIFT
    }
}

/// Whether the calling process may lock so many bytes if it has nothing else locked.
pub(crate) fn may_be_locked(bytes: u64) -> bool {
    bytes >> PAGE_SHIFT <= lockable_pages() || is_capable(bindings::CAP_IPC_LOCK)
}

/// Pages that are counted, as far as that is needed to undo it.
///
/// Pages that drivers pin are counted twice, as io_uring does it (`io_account_mem` in io_uring/rsrc.c): in
/// `mm_struct::pinned_vm` (`VmPin` in `/proc/PID/status`), and in `user_struct::locked_vm`. Regions live as long as a
/// file, so the first counter ends no later than a process and is not a limit by itself: a new process begins at
/// zero. Neither takes a lock. `account_locked_vm` would take the process's `mmap_lock`, which its threads can hold
/// for as long as they like (a page of a file system in user space), and regions are also released on behalf of
/// others.
struct Account {
    payer: Payer,
    pages: i64,
    /// Whether they also count for the user.
    of_user: bool,
}

impl Account {
    /// Counts pages of the calling process. `ENOMEM`: with those that were counted for it before, or
    /// for its user, they are more than its `RLIMIT_MEMLOCK`, and it does not have `CAP_IPC_LOCK`.
    fn new(pages: usize) -> Result<Self> {
        let pages = i64::try_from(pages)?;
        let limit = lockable_pages();
        let exempt = is_capable(bindings::CAP_IPC_LOCK);
        let mut account = Self {
            payer: Payer::caller()?,
            pages: 0,
            of_user: false,
        };
        let count = |counter: &Atomic<i64>| {
            let mut before = counter.load(ordering::Relaxed);
            loop {
                let after = before.checked_add(pages).ok_or(ENOMEM)?;
                // A negative count is not an overrun of any process.
                if !exempt && u64::try_from(after).is_ok_and(|after| after > limit) {
                    return Err(ENOMEM);
                }
                match counter.cmpxchg(before, after, ordering::Relaxed) {
                    Ok(_) => return Ok(()),
                    Err(now) => before = now,
                }
            }
        };
        // Drop undoes the counts.
        count(account.payer.pinned())?;
        account.pages = pages;
        if !exempt {
            count(account.payer.user.locked())?;
            account.of_user = true;
        }
        Ok(account)
    }

    /// Whether a payer could pin more if these pages were released.
    fn weighs_on(&self, payer: &Payer) -> bool {
        self.payer.mm.as_raw() == payer.mm.as_raw()
            || self.of_user && self.payer.user.0 == payer.user.0
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let payer = &self.payer;
        payer.pinned().fetch_add(-self.pages, ordering::Relaxed);
        if self.of_user {
            payer.user.locked().fetch_add(-self.pages, ordering::Relaxed);
        }
    }
}

/// Pages that stay where they are.
pub(crate) struct Pinned {
    pages: KVVec<*mut bindings::page>,
    /// Whether there are pages of hugetlb among them.
    of_hugetlb: bool,
    /// Of the first byte in the first page.
    offset: u64,
    permissions: Permissions,
    watch: Pin<KBox<Watch>>,
    // After the pages.
    account: Account,
}

// SAFETY: pinned pages belong to no thread.
unsafe impl Send for Pinned {}
// SAFETY: the list is not changed between `new` and drop.
unsafe impl Sync for Pinned {}

/// The most pages that are asked for at once: the kernel counts them in an `int`.
const BATCH: usize = 1 << 18;

/// Times that pages are pinned again because the process's view of them has changed in the meantime. Pinning itself
/// changes it where pages were shared with a child.
const ATTEMPTS: usize = 4;

impl Pinned {
    /// Pins memory of the calling process, whose address space `space` returns. No lock may be held that a page fault
    /// takes.
    pub(crate) fn new(
        board: &Arc<Board>,
        space: impl FnOnce() -> Result<Arc<Space>>,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<Self> {
        let address = usize::try_from(address)?;
        let end = usize::try_from(length)?
            .checked_add(address)
            .and_then(|end| end.checked_next_multiple_of(PAGE_SIZE))
            .ok_or(EOVERFLOW)?;
        let range = address & PAGE_MASK..end;
        let count = (range.end - range.start) >> PAGE_SHIFT;
        // A process that may not lock so much has taken no lock of the address space.
        let account = Account::new(count)?;
        let space = space()?;
        let mut pinned = Self {
            account,
            pages: KVVec::with_capacity(count, GFP_KERNEL_ACCOUNT)?,
            of_hugetlb: false,
            offset: (address & !PAGE_MASK) as u64,
            permissions,
            watch: KBox::pin_init(Watch::new(board.clone(), space, range.clone()), GFP_KERNEL_ACCOUNT)?,
        };
        for _ in 0..ATTEMPTS {
            pinned.unpin();
            let begun = pinned.watch.begin();
            pinned.pin(range.start, count)?;
            // A watch that could not be begun would not begin the next time either.
            if !begun || !pinned.is_stale() {
                break;
            }
        }
        let (pages, count) = (pinned.pages.as_ptr(), pinned.pages.len());
        // SAFETY: so many pages, which are pinned.
        pinned.of_hugetlb = unsafe { peerlane_are_of_hugetlb(pages, count) };
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
            // SAFETY: so many were written after the old length.
            unsafe { self.pages.inc_len(got as usize) };
        }
        Ok(())
    }

    fn unpin(&mut self) {
        let pages = self.pages.as_mut_ptr();
        let written = self.permissions.write();
        // SAFETY: these were pinned, and are not used any more.
        unsafe { bindings::unpin_user_pages_dirty_lock(pages, self.pages.len(), written) };
        self.pages.clear();
    }

    fn is_stale(&self) -> bool {
        self.watch.is_stale()
    }

    fn is_accessible(&self) -> bool {
        self.watch.is_accessible(self.permissions)
    }

    /// Returns the address space of the pages.
    pub(crate) fn space(&self) -> &Arc<Space> {
        self.watch.space()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.unpin();
    }
}

/// Attribute of the mapping of pages: the process and the board use them at the same time, as often as the process
/// has registered them, and the kernel is not notified of such use. A machine on which that needs copies or flushes
/// is refused.
const SHARED: c_ulong = bindings::DMA_ATTR_REQUIRE_COHERENT as c_ulong;

/// Attributes of the end of such a mapping: if it was refused because it needed copies, the process may have stored to
/// the pages since they were made, and they are not copied back.
const UNMAPPED: c_ulong = SHARED | bindings::DMA_ATTR_SKIP_CPU_SYNC as c_ulong;

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
        let mut mapped = Self {
            table,
            device: device.into(),
            direction,
        };
        // For kernels without `SHARED`.
        // SAFETY: a bound device, and a table that was mapped for it.
        if unsafe { peerlane_needs_copies(raw_device(device), &raw mut mapped.table) } {
            return Err(EIO);
        }
        Ok(mapped)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; all memory is dropped before the device is unbound.
        unsafe {
            let device = raw_device(self.device.as_bound());
            bindings::dma_unmap_sgtable(device, &mut self.table, self.direction, UNMAPPED);
            bindings::sg_free_table(&mut self.table);
        }
    }
}

impl Pages {
    /// Maps pinned pages for the device, and takes them if that does not fail. Also returns their places on the bus,
    /// from the beginning of the first page, and the offset of the memory in them.
    pub(crate) fn new(
        device: &Device<Bound>,
        pages: &mut Option<Pinned>,
    ) -> Result<(Self, KVVec<Segment>, u64)> {
        let mut pinned = pages.take().ok_or(EINVAL)?;
        let direction = super::direction(pinned.permissions);
        let mapped = Mapped::new(device, &mut pinned, direction).and_then(|mut mapped| {
            // SAFETY: just mapped, and ours.
            let segments = unsafe { super::segments(device, &mut mapped.table, u64::MAX)? };
            Ok((mapped, segments))
        });
        let (mapped, segments) = match mapped {
            Ok(mapped) => mapped,
            Err(error) => {
                *pages = Some(pinned);
                return Err(error);
            }
        };
        let offset = pinned.offset;
        let pages = Self {
            _mapped: mapped,
            pinned,
        };
        Ok((pages, segments, offset))
    }

    /// Writes bytes at an offset of the memory, which was pinned to be written.
    pub(crate) fn store(&self, offset: u64, bytes: &[u8]) -> Result {
        let first = usize::try_from(offset)?.checked_add(self.pinned.offset as usize);
        let first = first.ok_or(EINVAL)?;
        for (at, byte) in (first..).zip(bytes) {
            let page = *self.pinned.pages.get(at >> PAGE_SHIFT).ok_or(EINVAL)?;
            // SAFETY: the page is pinned as long as this lives, and pages that can be pinned are always mapped. The
            // process may read the byte at the same time.
            unsafe {
                let start = peerlane_page_address(page).cast::<u8>();
                start.add(at & !PAGE_MASK).write_volatile(*byte);
            }
        }
        Ok(())
    }

    /// Whether the calling process, which owns the memory, may still access it as the board does.
    pub(super) fn is_accessible(&self) -> bool {
        self.pinned.is_accessible()
    }

    /// Whether the process may see other memory at the address now.
    pub(crate) fn is_stale(&self) -> bool {
        self.pinned.is_stale()
    }

    /// Whether there are pages of hugetlb among them.
    pub(crate) fn are_of_hugetlb(&self) -> bool {
        self.pinned.of_hugetlb
    }

    /// Records that the region is cached, or is not any more.
    pub(crate) fn note_kept(&self, kept: bool) {
        self.pinned.watch.note_kept(kept);
    }

    /// Whether a payer could pin more memory if this was released.
    pub(crate) fn weighs_on(&self, payer: &Payer) -> bool {
        self.pinned.account.weighs_on(payer)
    }
}
