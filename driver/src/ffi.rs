// SPDX-License-Identifier: GPL-2.0

//! Functions of `shim.c`, and raw pointers that the kernel crate does not export.

use kernel::{
    bindings,
    device::{Bound, Device},
    ffi::{c_char, c_int, c_uint, c_ulong, c_void},
    pci,
};

#[allow(
    improper_ctypes,
    reason = "kernel structures hold empty ones in some configurations"
)]
extern "C" {
    /// Whether there are pages of hugetlb among so many.
    pub(crate) fn peerlane_are_of_hugetlb(pages: *const *mut bindings::page, count: usize) -> bool;
    /// Disables the link of the port above a device, or enables it and waits until it is up, or a second is over.
    /// Returns whether the port has done so.
    pub(crate) fn peerlane_disable_link(device: *mut bindings::pci_dev, disable: bool) -> bool;
    /// Whether mapping something for a device has failed, as a negative error code.
    pub(crate) fn peerlane_dma_mapping_error(
        device: *mut bindings::device,
        address: bindings::dma_addr_t,
    ) -> c_int;
    /// Whether a module drives a device.
    pub(crate) fn peerlane_drives(
        module: *mut bindings::module,
        device: *mut bindings::pci_dev,
    ) -> bool;
    /// Returns a reference to the user of the calling process.
    pub(crate) fn peerlane_get_user() -> *mut bindings::user_struct;
    /// Whether memory is mapped for a device by operations of its own: not directly, nor by an IOMMU's driver.
    pub(crate) fn peerlane_has_own_dma(device: *mut bindings::device) -> bool;
    /// Whether the BARs of a device's memory are where the kernel has put them.
    pub(crate) fn peerlane_has_its_bars(device: *mut bindings::pci_dev) -> bool;
    /// Ends the effect of `peerlane_ignore_hotplug`, which has returned `before`.
    pub(crate) fn peerlane_heed_hotplug(device: *mut bindings::pci_dev, before: c_uint);
    /// Runs a work without any more delay. Returns whether it was queued, and so has its reference.
    pub(crate) fn peerlane_queue_now(work: *mut bindings::delayed_work) -> bool;
    /// Makes drivers for hot-plugging ignore events of a device's slot, as `pci_ignore_hotplug` does, which the
    /// kernel cannot undo. Returns which events were ignored before.
    pub(crate) fn peerlane_ignore_hotplug(device: *mut bindings::pci_dev) -> c_uint;
    /// Whether no process, not even root, may have a device reach memory that the kernel has not given it (lockdown).
    pub(crate) fn peerlane_is_locked_down() -> bool;
    /// Whether the calling thread is to end.
    pub(crate) fn peerlane_is_killed() -> bool;
    /// Whether the calling process ends, or becomes another program: with its last thread, not with a thread that
    /// ends alone and may have had descriptors of its own.
    pub(crate) fn peerlane_is_leaving() -> bool;
    /// Whether the machine's own memory is at a physical address.
    pub(crate) fn peerlane_is_ram(address: u64) -> bool;
    /// Whether requests of a device are known to reach another one. `verbose`: a message says why not.
    pub(crate) fn peerlane_is_near(
        client: *mut bindings::device,
        peer: *mut bindings::pci_dev,
        verbose: bool,
    ) -> bool;
    /// Whether requests of a device get to another one by a switch, which does not redirect them to the root.
    pub(crate) fn peerlane_is_switched(
        client: *mut bindings::device,
        peer: *mut bindings::pci_dev,
    ) -> bool;
    /// Whether an IOMMU translates the addresses that a device uses.
    pub(crate) fn peerlane_is_translated(device: *mut bindings::device) -> bool;
    pub(crate) fn peerlane_is_isolated(device: *mut bindings::device) -> bool;
    /// Returns the physical address to which the IOMMU maps a request of a device; 0: none.
    pub(crate) fn peerlane_leads_to(device: *mut bindings::device, address: u64) -> u64;
    /// Lets segments that are mapped for a device be of any length, anywhere.
    pub(crate) fn peerlane_lift_segment_limits(device: *mut bindings::device);
    /// Takes the lock under which a device is bound, reset and put to sleep.
    pub(crate) fn peerlane_lock_device(device: *mut bindings::pci_dev);
    /// Takes this lock if it is free. Returns whether it was taken.
    pub(crate) fn peerlane_try_lock_device(device: *mut bindings::pci_dev) -> bool;
    /// Makes the pages of a mapping that is being set up uncached.
    pub(crate) fn peerlane_make_uncached(vma: *mut bindings::vm_area_struct);
    /// Puts a page into the table of a mapping of frame numbers, one of registers or of memory. Returns a
    /// `vm_fault_t`.
    pub(crate) fn peerlane_insert_frame(
        vma: *mut bindings::vm_area_struct,
        address: c_ulong,
        frame: c_ulong,
        registers: bool,
    ) -> u32;
    /// Makes a mapping that is being set up one of frame numbers.
    pub(crate) fn peerlane_map_frames(vma: *mut bindings::vm_area_struct);
    /// Calls `mmu_notifier_get` for the calling process, which has an address space; `EINTR`: a signal.
    pub(crate) fn peerlane_mmu_notifier_get(
        ops: *const bindings::mmu_notifier_ops,
    ) -> *mut bindings::mmu_notifier;
    /// Makes a cache of objects of so many bytes. It copies the name.
    pub(crate) fn peerlane_new_cache(
        name: *const c_char,
        bytes: c_uint,
    ) -> *mut bindings::kmem_cache;
    /// Returns an object of zeros, charged to the control group of the calling process. The list has a part for that
    /// group from now on.
    pub(crate) fn peerlane_new_keeper(
        cache: *mut bindings::kmem_cache,
        list: *mut bindings::list_lru,
    ) -> *mut c_void;
    /// Whether the calling thread may sleep for memory that it allocates with such flags, and is not a thread of the
    /// kernel.
    pub(crate) fn peerlane_may_wait(flags: bindings::gfp_t) -> bool;
    pub(crate) fn peerlane_begin_relief() -> c_int;
    pub(crate) fn peerlane_end_relief();
    pub(crate) fn peerlane_may_access(start: usize, end: usize, read: bool, write: bool) -> c_int;
    pub(crate) fn peerlane_relief() -> *mut bindings::workqueue_struct;
    /// Makes the parts of a list for a shrinker's control groups.
    pub(crate) fn peerlane_init_list(
        list: *mut bindings::list_lru,
        shrinker: *mut bindings::shrinker,
    ) -> c_int;
    /// Calls `step` with the links of a node's list of a group, and `data`, while a spinlock is held.
    pub(crate) fn peerlane_walk_list(
        list: *mut bindings::list_lru,
        node: c_int,
        group: *mut bindings::mem_cgroup,
        step: unsafe extern "C" fn(*mut bindings::list_head, *mut c_void),
        data: *mut c_void,
    );
    /// Whether memory was mapped by copies of it, or the processor's caches are not coherent with the device.
    pub(crate) fn peerlane_needs_copies(
        device: *mut bindings::device,
        table: *mut bindings::sg_table,
    ) -> bool;
    /// Makes a shrinker that is not registered yet, and is called for control groups and memory nodes.
    pub(crate) fn peerlane_new_shrinker(number: c_uint) -> *mut bindings::shrinker;
    /// Returns the host's `CLOCK_MONOTONIC` for `ns` nanoseconds of `CLOCK_MONOTONIC` in the calling process's time
    /// namespace.
    pub(crate) fn peerlane_monotonic_to_host(ns: i64) -> i64;
    /// Whether a message may be written to the log that a process can cause without end.
    pub(crate) fn peerlane_may_say() -> bool;
    /// Whether a device has registers for Advanced Error Reporting, and the kernel, not the firmware, uses them.
    pub(crate) fn peerlane_owns_aer(device: *mut bindings::pci_dev) -> bool;
    /// Returns the kernel's address of a page that is always mapped.
    pub(crate) fn peerlane_page_address(page: *mut bindings::page) -> *mut c_void;
    /// Returns the frame number of a page.
    pub(crate) fn peerlane_page_to_pfn(page: *mut bindings::page) -> c_ulong;
    /// Keeps the vectors of a device that has a table of them in its BAR from being moved, or allows moves again.
    pub(crate) fn peerlane_pin_vectors(device: *mut bindings::pci_dev, pinned: bool);
    /// Returns a device's place on the bus: its domain, and 16 bits of bus, device and function.
    pub(crate) fn peerlane_place(device: *mut bindings::pci_dev) -> u64;
    /// Returns the number of references to an open file.
    pub(crate) fn peerlane_references(file: *mut bindings::file) -> c_ulong;
    /// Has the kernel reset a device by its link or bus, and neither by a function level reset nor by the way from
    /// D3hot to D0: the hard IP does not report these to the fabric, and the block would go on as it was. The setting
    /// stays when another driver has the device, too.
    pub(crate) fn peerlane_reset_by_the_link(device: *mut bindings::pci_dev);
    /// Writes the SHA-256 of so many bytes, which is 32 bytes.
    pub(crate) fn peerlane_sha256(bytes: *const u8, count: usize, digest: *mut u8);
    /// Waits until the handlers of a device's interrupts have ended, if a table in its BAR has these.
    pub(crate) fn peerlane_wait_for_handlers(device: *mut bindings::pci_dev);
    /// Releases the lock that `peerlane_lock_device` took.
    pub(crate) fn peerlane_unlock_device(device: *mut bindings::pci_dev);
    /// Masks an interrupt at its source whenever it is disabled, not only when it comes.
    pub(crate) fn peerlane_mask_when_disabled(irq: u32);
    /// Whether two devices are below the same host bridge.
    pub(crate) fn peerlane_same_bridge(
        client: *mut bindings::device,
        peer: *mut bindings::pci_dev,
    ) -> bool;
}

/// Returns the C structure of a PCI device.
pub(crate) fn pci_dev(device: &pci::Device) -> *mut bindings::pci_dev {
    // `pci::Device` is a transparent wrapper of it.
    core::ptr::from_ref(device).cast_mut().cast()
}

/// Returns the C structure of a device.
pub(crate) fn raw_device(device: &Device<Bound>) -> *mut bindings::device {
    // `device::Device` is a transparent wrapper of it.
    core::ptr::from_ref(device).cast_mut().cast()
}

/// Whether the calling thread has a right in the first user namespace: in a namespace of its own any process can have
/// all. The check is quiet, as not having the right is not an offence.
pub(crate) fn is_capable(capability: u32) -> bool {
    // SAFETY: that namespace is always there, and any number may be asked for.
    unsafe {
        bindings::ns_capable_noaudit(&raw mut bindings::init_user_ns, capability as c_int)
    }
}

/// Whether the calling thread may reach the machine's input and output by itself, and with it all memory.
pub(crate) fn has_raw_io() -> bool {
    // SAFETY: any number may be asked for.
    unsafe { bindings::capable(bindings::CAP_SYS_RAWIO as c_int) }
}

/// Writes an error to the log that a process can cause without end, but not more often than the kernel's limit for
/// such messages.
macro_rules! say_error {
    ($device:expr, $($text:tt)*) => {
        // SAFETY: it only counts.
        if unsafe { $crate::ffi::peerlane_may_say() } {
            kernel::prelude::dev_err!($device, $($text)*);
        }
    };
}
pub(crate) use say_error;

/// Shows a value with a `core::fmt` implementation in the kernel's messages.
pub(crate) struct Text<T>(pub(crate) T);

impl<T: core::fmt::Display> kernel::fmt::Display for Text<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}
