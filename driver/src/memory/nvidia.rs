// SPDX-License-Identifier: GPL-2.0

//! Memory of an NVIDIA GPU, by its address in the process that allocated it.
//!
//! Interface: `kernel-open/nvidia/nv-p2p.h` of NVIDIA's open-gpu-kernel-modules. NVIDIA advises
//! dma-bufs ([`super::dmabuf`]) instead; this is for software that has none to give.
//!
//! # Look-up
//! The functions are looked up when memory is registered, and `nvidia.ko` is held as long as any of its memory is.
//! The kernel lets `__symbol_get` find only functions that are exported for GPL modules, as NVIDIA's drivers export
//! these since 550. Older drivers do not build for kernels that this driver builds for.
//!
//! # Invalidation by the owner
//! NVIDIA's driver calls [`take_back`] when the memory is freed, with its own lock held, and all functions but
//! `nvidia_p2p_free_page_table` take that lock. So the callback does not wait for a thread that may be inside of
//! NVIDIA's driver, and we hold no lock that the callback takes while we call NVIDIA's driver. That is also why the
//! pages are mapped for the board here and not by `nvidia_p2p_dma_map_pages`: that function takes NVIDIA's lock, too,
//! and reads a page table that nothing could protect from the callback in the meantime. It does the same as this file
//! (`nv_dma_map_mmio` in `kernel-open/nvidia/nv-dma.c`).
//!
//! # Release
//! `nvidia_p2p_put_pages` finds page tables of the calling process only, and reports success for others
//! (`RmP2PGetInfoWithoutToken` in `src/nvidia/src/kernel/gpu/bus/p2p.c`); without memory for the call it fails. In
//! both cases the pages stay held and the callback is still to come, when their owner frees them or ends. The state
//! that the callback needs is kept in [`LOST`], and this module with it, until the callback has come, or until the
//! process of the pages registers such memory again or closes a board, which also releases these pages: then the
//! callback does not touch anything that is freed or unloaded.

use super::bar::{near, Bars, Mapped};
use crate::{
    board::Pinned,
    logic::{
        att::{PageSize, Permissions, MAX_ENTRIES},
        layout::Segment,
        refusal::Asked,
    },
    mapping::Mapping,
};
use core::{
    cell::UnsafeCell,
    ptr::{null_mut, NonNull},
};
use kernel::{
    bindings, current,
    device::{Bound, Device},
    do_once_lite,
    error::to_result,
    ffi::{c_int, c_void},
    new_mutex,
    prelude::*,
    sync::{aref::ARef, Arc, Mutex},
    task::Pid,
    time::{delay::fsleep, Delta},
};

/// NVIDIA's page table. Other major versions have another layout; minor ones only add fields at
/// the end (nv-p2p.h, "NVIDIA P2P Structure Versioning"). These are those of version 1.1 (NVIDIA,
/// TB-06712-001 v6.0, 4.3); 1.2 has added `gpu_uuid`.
#[repr(C)]
struct PageTable {
    /// Major version in the upper half.
    version: u32,
    /// A code: [`PAGES_OF_64_KIB`].
    page_size: u32,
    /// `entries` pointers.
    pages: *const *const Page,
    entries: u32,
}

/// The beginning of a page's entry.
#[repr(C)]
struct Page {
    physical_address: u64,
}

/// The major version of [`PageTable`] (`NVIDIA_P2P_PAGE_TABLE_VERSION` is 0x0001_0002).
const MAJOR: u32 = 1;

/// Pages of 64 KiB, the only ones that NVIDIA's driver gives (`enum nvidia_p2p_page_size_type`;
/// nvidia-peermem takes no others either).
const PAGES_OF_64_KIB: u32 = 1;

/// Addresses and lengths of `nvidia_p2p_get_pages` are multiples of this.
const UNIT: u64 = 64 << 10;

/// Attempts to release pages, and the pause between them: a call that fails had no memory.
const PUTS: u32 = 5;
const PUT_PAUSE: Delta = Delta::from_millis(2);

type GetPages = unsafe extern "C" fn(
    p2p_token: u64,
    va_space: u32,
    virtual_address: u64,
    length: u64,
    page_table: *mut *mut PageTable,
    free_callback: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> c_int;
type PutPages = unsafe extern "C" fn(
    p2p_token: u64,
    va_space: u32,
    virtual_address: u64,
    page_table: *mut PageTable,
) -> c_int;
type FreePageTable = unsafe extern "C" fn(page_table: *mut PageTable) -> c_int;

/// A function of another module, which stays loaded as long as this lives.
struct Symbol<F> {
    name: &'static CStr,
    function: F,
}

impl<F: Copy> Symbol<F> {
    /// # Safety
    /// `F` must be the type of a pointer to the function of this name.
    unsafe fn get(name: &'static CStr) -> Option<Self> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: a string that ends in NUL.
        let found = NonNull::new(unsafe { bindings::__symbol_get(name.as_char_ptr()) })?;
        // SAFETY: by contract; the sizes are equal.
        let function = unsafe { core::mem::transmute_copy(&found) };
        Some(Self { name, function })
    }
}

impl<F> Drop for Symbol<F> {
    fn drop(&mut self) {
        // SAFETY: `get` found it, and it is not called any more.
        unsafe { bindings::__symbol_put(self.name.as_char_ptr()) }
    }
}

/// The functions of NVIDIA's driver that are used.
struct Driver {
    get_pages: Symbol<GetPages>,
    put_pages: Symbol<PutPages>,
    free_page_table: Symbol<FreePageTable>,
}

impl Driver {
    fn get() -> Option<Self> {
        // SAFETY: the types are those of nv-p2p.h.
        unsafe {
            Some(Self {
                get_pages: Symbol::get(c"nvidia_p2p_get_pages")?,
                put_pages: Symbol::get(c"nvidia_p2p_put_pages")?,
                free_page_table: Symbol::get(c"nvidia_p2p_free_page_table")?,
            })
        }
    }
}

/// Whether NVIDIA's driver is loaded.
pub(crate) fn is_there() -> bool {
    Driver::get().is_some()
}

kernel::sync::global_lock! {
    // SAFETY: `init` is called before there is a board.
    /// Pages that could not be released. They count for their user. Each entry has a reference to this module, which
    /// therefore cannot be unloaded. The lock is also held while a page table is obtained or released: so a table
    /// whose callback has come unnoticed is not taken for a new one at the same place. The lock is taken inside of a
    /// context's own locks and outside of NVIDIA's; the callback does not take it.
    unsafe(uninit) static LOST: Mutex<KVec<Arc<Hold>>> = KVec::new();
}

/// Prepares this file.
///
/// # Safety
/// Called once, before anything else here.
pub(crate) unsafe fn init() {
    // SAFETY: by contract.
    unsafe { LOST.init() }
}

/// Drops lost pages whose callback has come, and releases those of the calling process. The caller holds the module.
pub(crate) fn settle_lost() {
    let mut lost = LOST.lock();
    let mut index = 0;
    while index < lost.len() {
        if !lost[index].settle(1) {
            index += 1;
        } else if let Ok(hold) = lost.remove(index) {
            drop(hold);
            // SAFETY: the reference that came with it.
            unsafe { bindings::module_put(this_module()) };
        }
    }
    if lost.is_empty() {
        // The memory of the list is not freed when the module goes.
        *lost = KVec::new();
    }
}

fn this_module() -> *mut bindings::module {
    kernel::module::this_module::<crate::LocalModule>().as_ptr()
}

/// Pages of a GPU that are held for the board.
pub(crate) struct Pages(Arc<Hold>);

/// State that the callback needs, too.
#[pin_data]
struct Hold {
    driver: Driver,
    /// The hardware's knowledge of it; stopped before the memory is released.
    mapping: Arc<Mapping>,
    device: ARef<Device>,
    /// The process that has the pages.
    process: Pid,
    /// The GPU's address, in whole units.
    address: u64,
    /// Written by `nvidia_p2p_get_pages`, before there can be a callback.
    table: UnsafeCell<*mut PageTable>,
    /// Inside of NVIDIA's lock.
    #[pin]
    state: Mutex<State>,
}

struct State {
    /// The owner has invalidated the memory: the page table is not ours any more.
    taken: bool,
    /// The pages that are mapped for the device.
    mapped: Option<Mapped>,
    /// Counts the pages for their user as long as they are held.
    pinned: Option<Pinned>,
}

// SAFETY: `table` is not written any more once the value is shared.
unsafe impl Send for Hold {}
// SAFETY: as above.
unsafe impl Sync for Hold {}

impl Hold {
    fn table(&self) -> *mut PageTable {
        // SAFETY: written before this is called.
        unsafe { *self.table.get() }
    }

    /// Reads the addresses of the pages, with neighbours joined. `runs` has room for all.
    fn read(&self, runs: &mut KVVec<Segment>) -> Result {
        let state = self.state.lock();
        if state.taken {
            return Err(ESTALE);
        }
        // SAFETY: not invalidated, and NVIDIA's driver waits for our lock before it frees it.
        let table = unsafe { &*self.table() };
        let major = table.version >> 16;
        if major != MAJOR {
            do_once_lite! {
                dev_err!(
                    self.device,
                    "NVIDIA's driver gives page tables of version {}, this driver knows {}: use a dma-buf\n",
                    major,
                    MAJOR
                );
            }
            return Err(EPROTO);
        }
        if table.page_size != PAGES_OF_64_KIB {
            return Err(EPROTO);
        }
        for index in 0..table.entries as usize {
            // SAFETY: there are so many.
            let address = unsafe { (**table.pages.add(index)).physical_address };
            match runs.last_mut() {
                Some(run) if run.address.checked_add(run.length) == Some(address) => {
                    run.length += UNIT;
                }
                _ => {
                    let run = Segment {
                        address,
                        length: UNIT,
                    };
                    runs.push(run, GFP_KERNEL_ACCOUNT)?;
                }
            }
        }
        Ok(())
    }

    /// Maps physical memory for the device. `segments`, with room for all, gets its places on the bus; `mapped` has
    /// as much room.
    fn map(&self, runs: &[Segment], mapped: Mapped, segments: &mut KVVec<Segment>) -> Result {
        let mut state = self.state.lock();
        if state.taken {
            return Err(ESTALE);
        }
        let mapped = state.mapped.insert(mapped);
        for run in runs {
            segments.push(mapped.map(*run)?, GFP_KERNEL_ACCOUNT)?;
        }
        Ok(())
    }

    fn call_put(&self, table: *mut PageTable) -> c_int {
        // SAFETY: a function of this type, which looks for the table and does not look into it.
        unsafe { (self.driver.put_pages.function)(0, 0, self.address, table) }
    }

    /// Releases the pages if they were not invalidated. Returns whether they are not held any more, and no callback
    /// is running or to come. The lock of [`LOST`] must be held.
    fn settle(self: &Arc<Self>, attempts: u32) -> bool {
        if self.state.lock().taken {
            self.wait_for_callback();
            return true;
        }
        // The owner may invalidate the memory just now: then the table is not found, which is correct.
        if !self.put(attempts) {
            return false;
        }
        // There is no callback, and none is running: both wait for NVIDIA's lock.
        if !self.state.lock().taken {
            // SAFETY: the reference that was meant for the callback.
            drop(unsafe { Arc::from_raw(Arc::as_ptr(self)) });
        }
        true
    }

    /// Releases the pages, in so many attempts. Returns whether no callback can come any more.
    fn put(&self, attempts: u32) -> bool {
        if self.process != current!().tgid() {
            return false;
        }
        (0..attempts).any(|attempt| {
            if attempt > 0 {
                fsleep(PUT_PAUSE);
            }
            self.call_put(self.table()) == 0
        })
    }

    /// Waits until the callback, which has invalidated the memory, has left this module. The callback runs with
    /// NVIDIA's lock held. A search for a page table that does not exist waits for that lock.
    fn wait_for_callback(&self) {
        self.call_put(core::ptr::from_ref(self).cast_mut().cast());
    }
}

/// Stops the board's use of memory that is being freed. When this returns the board does not reach it any more.
///
/// # Safety
/// Called by NVIDIA's driver, once at most, with the pointer that [`Pages::new`] gave it.
unsafe extern "C" fn take_back(data: *mut c_void) {
    // SAFETY: by contract; the reference was handed over with it.
    let hold = unsafe { Arc::from_raw(data.cast::<Hold>().cast_const()) };
    hold.mapping.revoke();
    let mut state = hold.state.lock();
    state.taken = true;
    state.mapped = None;
    let pinned = state.pinned.take();
    drop(state);
    drop(pinned);
    // SAFETY: the callback's own table; NVIDIA's driver wants this call, and frees the table later.
    let freed = unsafe { (hold.driver.free_page_table.function)(hold.table()) };
    debug_assert_eq!(freed, 0);
    hold.mapping.evict_if_cached();
}

impl Pages {
    /// Obtains memory of a GPU that the calling process has at this address, and maps it for the device. Also returns
    /// its places on the bus, in whole 64 KiB, and the offset of the memory in them.
    ///
    /// No lock may be held that [`Mapping::revoke`] takes. Errors: `ENXIO` without NVIDIA's driver, `EREMOTEIO` if
    /// the kernel does not know that the GPU can be reached from the device and `any_distance` is not set, `ESTALE`
    /// if the memory was freed in the meantime, and those of `nvidia_p2p_get_pages`, translated by [`super::told`]:
    /// `EINVAL` if the process has no such memory.
    pub(crate) fn new(
        device: &Device<Bound>,
        address: u64,
        length: u64,
        permissions: Permissions,
        any_distance: bool,
        mapping: Arc<Mapping>,
    ) -> Result<(Self, KVVec<Segment>, u64)> {
        let first = address & !(UNIT - 1);
        let end = address
            .checked_add(length)
            .and_then(|end| end.checked_next_multiple_of(UNIT))
            .ok_or(EOVERFLOW)?;
        // More than any table maps; the allocation below depends on it.
        if end - first > u64::from(MAX_ENTRIES) * PageSize::Mib2.bytes() {
            return Err(E2BIG);
        }
        let mut runs = KVVec::with_capacity(((end - first) / UNIT) as usize, GFP_KERNEL_ACCOUNT)?;
        let driver = Driver::get().ok_or(ENXIO)?;
        let hold = Arc::pin_init(
            pin_init!(Hold {
                driver,
                mapping,
                device: device.into(),
                process: current!().tgid(),
                address: first,
                table: UnsafeCell::new(null_mut()),
                state <- new_mutex!(State { taken: false, mapped: None, pinned: None }),
            }),
            GFP_KERNEL_ACCOUNT,
        )?;
        settle_lost();
        let lost = LOST.lock();
        let data = hold.clone().into_raw();
        // SAFETY: a function of this type. `table` lives as long as `hold`, `data` until the
        // callback, or until `drop` knows that there will be none.
        let got = unsafe {
            (hold.driver.get_pages.function)(
                0,
                0,
                first,
                end - first,
                hold.table.get(),
                take_back,
                data.cast_mut().cast(),
            )
        };
        drop(lost);
        if let Err(error) = to_result(got) {
            // SAFETY: NVIDIA's driver does not have it.
            drop(unsafe { Arc::from_raw(data) });
            return Err(super::told(Asked::Pages, error));
        }
        let pages = Self(hold);
        pages.0.read(&mut runs)?;
        if !any_distance {
            near(device, &Bars::all()?, &runs)?;
        }
        let mut segments = KVVec::with_capacity(runs.len(), GFP_KERNEL_ACCOUNT)?;
        let mapped = Mapped::new(device, super::direction(permissions), runs.len())?;
        pages.0.map(&runs, mapped, &mut segments)?;
        Ok((pages, segments, address - first))
    }

    /// Counts the pages for their user until they are released.
    pub(crate) fn count(&self, pinned: Option<Pinned>) {
        let mut state = self.0.state.lock();
        if !state.taken {
            state.pinned = pinned;
        }
    }

    /// Whether they belong to the calling process, which therefore can release them.
    pub(crate) fn are_callers(&self) -> bool {
        self.0.process == current!().tgid()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let hold = &self.0;
        hold.state.lock().mapped = None;
        let mut lost = LOST.lock();
        if hold.settle(PUTS) {
            return;
        }
        // Once, as users can make it happen as often as they like.
        do_once_lite! {
            dev_warn!(
                hold.device,
                "GPU memory of process {} cannot be released from here; the driver stays in use until the process frees it\n",
                hold.process
            );
        }
        // SAFETY: a thread that releases memory holds the module, so that it is not being unloaded.
        unsafe { bindings::__module_get(this_module()) };
        // Without room both references stay for good: a leak, but nothing that dangles.
        if lost.push(hold.clone(), GFP_KERNEL_ACCOUNT).is_err() {
            core::mem::forget(hold.clone());
        }
    }
}
