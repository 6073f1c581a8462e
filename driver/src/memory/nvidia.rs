// SPDX-License-Identifier: GPL-2.0

//! Memory of an NVIDIA GPU, by its address in the process that allocated it.
//!
//! Interface: `kernel-open/nvidia/nv-p2p.h` of NVIDIA's open-gpu-kernel-modules. NVIDIA advises
//! dma-bufs ([`super::dmabuf`]) instead; this is for software that has none to give.
//!
//! # Look-up
//! The functions are looked up when memory is registered, and `nvidia.ko` is held as long as some
//! of its memory is. The kernel lets `__symbol_get` find what is exported for GPL modules only, as
//! NVIDIA's drivers export these since 550. Older ones do not build for kernels that this driver
//! builds for.
//!
//! # Taking back
//! NVIDIA's driver calls [`take_back`] when the memory is freed, with its own lock held, and all
//! but `nvidia_p2p_free_page_table` take that lock. So the callback waits for nobody who may be
//! inside of NVIDIA's driver, and no lock of ours that it takes is held while we call there. That
//! is also why the pages are mapped for the board here and not by `nvidia_p2p_dma_map_pages`: it
//! takes NVIDIA's lock, too, and reads a page table that nothing could protect meanwhile from the
//! callback. It does the same as this (`nv_dma_map_mmio` in `kernel-open/nvidia/nv-dma.c`).

use crate::{
    ffi::{peerlane_dma_mapping_error, raw_device},
    logic::{
        att::{PageSize, Permissions, MAX_ENTRIES},
        layout::Segment,
    },
    mapping::Mapping,
};
use core::{
    cell::UnsafeCell,
    ops::Range,
    ptr::{null_mut, NonNull},
};
use kernel::{
    bindings,
    device::{Bound, Device},
    do_once_lite,
    error::to_result,
    ffi::{c_int, c_ulong, c_void},
    new_mutex,
    prelude::*,
    sync::{aref::ARef, Arc, Mutex},
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
/// No cache holds a GPU's memory, so it may be mapped as often as it is registered.
const UNCACHED: c_ulong = bindings::DMA_ATTR_DEBUGGING_IGNORE_CACHELINES as c_ulong;

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
        // SAFETY: `get` found it, and nobody calls it any more.
        unsafe { bindings::__symbol_put(self.name.as_char_ptr()) }
    }
}

/// What is used of NVIDIA's driver.
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

/// Pages of a GPU that are held for the board.
pub(crate) struct Pages(Arc<Hold>);

/// What the callback needs, too.
#[pin_data]
struct Hold {
    driver: Driver,
    /// What the hardware knows of it; stopped before the memory is let go.
    mapping: Arc<Mapping>,
    device: ARef<Device>,
    direction: bindings::dma_data_direction,
    /// The GPU's address, in whole units.
    address: u64,
    /// Written by `nvidia_p2p_get_pages`, before there can be a callback.
    table: UnsafeCell<*mut PageTable>,
    /// Inside of NVIDIA's lock.
    #[pin]
    state: Mutex<State>,
}

struct State {
    /// The memory has been taken back: the page table is not ours any more.
    taken: bool,
    /// What is mapped for the device.
    mapped: KVVec<Segment>,
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

    /// Where the pages are, neighbours joined. `runs` has room for all.
    fn read(&self, runs: &mut KVVec<Segment>) -> Result {
        let state = self.state.lock();
        if state.taken {
            return Err(ESTALE);
        }
        // SAFETY: not taken back, and NVIDIA's driver waits for our lock before it frees it.
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
                    runs.push(run, GFP_KERNEL)?;
                }
            }
        }
        Ok(())
    }

    /// Maps physical memory for the device. `segments` gets where it is on the bus.
    fn map(&self, runs: &[Segment], segments: &mut KVVec<Segment>) -> Result {
        // SAFETY: whoever registers memory holds the device bound.
        let device = raw_device(unsafe { self.device.as_bound() });
        let mut mapped = KVVec::with_capacity(runs.len(), GFP_KERNEL)?;
        let mut state = self.state.lock();
        if state.taken {
            return Err(ESTALE);
        }
        core::mem::swap(&mut state.mapped, &mut mapped);
        for &Segment { address, length } in runs {
            // SAFETY: the device is bound; the memory stays there until it is taken back.
            let bus = unsafe {
                bindings::dma_map_resource(
                    device,
                    address,
                    length as usize,
                    self.direction,
                    UNCACHED,
                )
            };
            // SAFETY: what the call above returned.
            to_result(unsafe { peerlane_dma_mapping_error(device, bus) })?;
            let segment = Segment {
                address: bus,
                length,
            };
            // There is room.
            state.mapped.push(segment, GFP_KERNEL)?;
            segments.push(segment, GFP_KERNEL)?;
        }
        Ok(())
    }

    fn unmap(&self, state: &mut State) {
        // SAFETY: all memory is let go before the device is unbound.
        let device = raw_device(unsafe { self.device.as_bound() });
        for segment in state.mapped.iter() {
            // SAFETY: `map` mapped it, and the board does not use it any more.
            unsafe {
                bindings::dma_unmap_resource(
                    device,
                    segment.address,
                    segment.length as usize,
                    self.direction,
                    UNCACHED,
                );
            }
        }
        state.mapped.clear();
    }
}

/// The memory is being freed. When this returns the board does not reach it any more.
///
/// # Safety
/// Called by NVIDIA's driver, once at most, with what [`Pages::new`] gave it.
unsafe extern "C" fn take_back(data: *mut c_void) {
    // SAFETY: by contract; the reference was handed over with it.
    let hold = unsafe { Arc::from_raw(data.cast::<Hold>().cast_const()) };
    hold.mapping.revoke();
    let mut state = hold.state.lock();
    state.taken = true;
    hold.unmap(&mut state);
    drop(state);
    // SAFETY: the callback's own table; NVIDIA's driver wants to be told, and frees it later.
    let freed = unsafe { (hold.driver.free_page_table.function)(hold.table()) };
    debug_assert_eq!(freed, 0);
}

impl Pages {
    /// Holds memory of a GPU that the calling process has at this address, and maps it for the
    /// device. Also says where on the bus it lies, in whole 64 KiB, and where in that it begins.
    ///
    /// No lock may be held that [`Mapping::revoke`] takes. Errors: `ENXIO` without NVIDIA's
    /// driver, `EREMOTEIO` if the kernel does not know that the GPU can be reached from the
    /// device and `any_distance` is not set, `ESTALE` if the memory was freed meanwhile, and
    /// those of `nvidia_p2p_get_pages`: `EINVAL` if the process has no such memory.
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
        // More than any table maps; what follows allocates by it.
        if end - first > u64::from(MAX_ENTRIES) * PageSize::Mib2.bytes() {
            return Err(E2BIG);
        }
        let mut runs = KVVec::with_capacity(((end - first) / UNIT) as usize, GFP_KERNEL)?;
        let driver = Driver::get().ok_or(ENXIO)?;
        let hold = Arc::pin_init(
            pin_init!(Hold {
                driver,
                mapping,
                device: device.into(),
                direction: super::direction(permissions),
                address: first,
                table: UnsafeCell::new(null_mut()),
                state <- new_mutex!(State { taken: false, mapped: KVVec::new() }),
            }),
            GFP_KERNEL,
        )?;
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
        if let Err(error) = to_result(got) {
            // SAFETY: nobody has it.
            drop(unsafe { Arc::from_raw(data) });
            return Err(error);
        }
        let pages = Self(hold);
        pages.0.read(&mut runs)?;
        if !any_distance {
            near(device, &runs)?;
        }
        let mut segments = KVVec::with_capacity(runs.len(), GFP_KERNEL)?;
        pages.0.map(&runs, &mut segments)?;
        Ok((pages, segments, address - first))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let hold = &self.0;
        let mut state = hold.state.lock();
        hold.unmap(&mut state);
        let taken = state.taken;
        drop(state);
        if taken {
            return;
        }
        // The memory may be taken back just now. NVIDIA's driver then does not find the table,
        // which it compares by address only, and says that all is well.
        // SAFETY: as it was got, and not mapped any more.
        let put = unsafe { (hold.driver.put_pages.function)(0, 0, hold.address, hold.table()) };
        if put != 0 {
            // There may still be a callback.
            dev_err!(hold.device, "nvidia_p2p_put_pages failed: {}\n", put);
            return;
        }
        // From here on there is no callback, and none is running: both wait for NVIDIA's lock.
        if !hold.state.lock().taken {
            // SAFETY: the reference that was meant for the callback.
            drop(unsafe { Arc::from_raw(Arc::as_ptr(hold)) });
        }
    }
}

/// A PCI device, and one of its BARs.
struct Bar {
    device: NonNull<bindings::pci_dev>,
    addresses: Range<u64>,
}

impl Bar {
    /// The BAR that has this physical address.
    fn with(address: u64) -> Option<Self> {
        let any = u32::MAX; // PCI_ANY_ID
        let mut from = null_mut();
        loop {
            // SAFETY: the call gives back the device that it gets, and returns one for us.
            from = unsafe { bindings::pci_get_device(any, any, from) };
            let device = NonNull::new(from)?;
            // SAFETY: a device that we have a reference to.
            let resources = unsafe { &(*from).resource[..bindings::PCI_STD_NUM_BARS as usize] };
            for resource in resources {
                let is_memory = resource.flags & u64::from(bindings::IORESOURCE_MEM) as usize != 0;
                // An empty one ends before it starts.
                let addresses = resource.start..resource.end.wrapping_add(1);
                if is_memory && addresses.contains(&address) {
                    return Some(Self { device, addresses });
                }
            }
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // SAFETY: our reference.
        unsafe { bindings::pci_dev_put(self.device.as_ptr()) }
    }
}

/// Whether the device can reach this memory (Documentation/driver-api/pci/p2pdma.rst). The first
/// time that it cannot, the kernel says in its log what is in the way.
fn near(device: &Device<Bound>, runs: &[Segment]) -> Result {
    let mut client = raw_device(device);
    let mut bar: Option<Bar> = None;
    for run in runs {
        if bar
            .as_ref()
            .is_some_and(|bar| bar.addresses.contains(&run.address))
        {
            continue;
        }
        let found = Bar::with(run.address).map(|found| bar.insert(found).device.as_ptr());
        let mut distance = |verbose| {
            // SAFETY: valid devices.
            found.map_or(-1, |gpu| unsafe {
                bindings::pci_p2pdma_distance_many(gpu, &mut client, 1, verbose)
            })
        };
        if distance(false) < 0 {
            // Once, as users can make it happen as often as they like.
            do_once_lite! {
                distance(true);
                dev_err!(
                    device,
                    "the GPU's memory at {:#x} is not known to be reachable from here; any_distance=1 tries it\n",
                    run.address
                );
            }
            return Err(EREMOTEIO);
        }
    }
    Ok(())
}
