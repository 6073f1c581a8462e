// SPDX-License-Identifier: GPL-2.0

//! BARs of other devices: finds the owner of the memory at an address, checks whether the board reaches it, and maps
//! it for the board.
//!
//! The PCI devices are walked once for a buffer, not for each of its segments ([`Bars`]).

use crate::{
    ffi::{
        peerlane_dma_mapping_error, peerlane_drives, peerlane_is_near, peerlane_is_ram,
        peerlane_is_switched, peerlane_leads_to, peerlane_place, peerlane_same_bridge, raw_device,
    },
    logic::{
        bus::{Route, Target},
        layout::Segment,
    },
};
use core::{
    ops::Range,
    ptr::{null_mut, NonNull},
};
use kernel::{
    bindings,
    device::{Bound, Device},
    do_once_lite,
    error::to_result,
    ffi::c_ulong,
    prelude::*,
    sync::aref::ARef,
};

/// No cache holds a peer's memory, so it may be mapped as often as it is registered.
const UNCACHED: c_ulong = bindings::DMA_ATTR_DEBUGGING_IGNORE_CACHELINES as c_ulong;

/// Physical memory of a peer that is mapped for the device, until this is dropped.
pub(super) struct Mapped {
    device: ARef<Device>,
    direction: bindings::dma_data_direction,
    segments: KVVec<Segment>,
}

impl Mapped {
    /// Makes a value with no mapped segments, and room for so many.
    pub(super) fn new(
        device: &Device<Bound>,
        direction: bindings::dma_data_direction,
        room: usize,
    ) -> Result<Self> {
        Ok(Self {
            device: device.into(),
            direction,
            segments: KVVec::with_capacity(room, GFP_KERNEL_ACCOUNT)?,
        })
    }

    /// Maps a segment, and returns its place on the bus. Nothing is allocated as long as there is room.
    pub(super) fn map(&mut self, physical: Segment) -> Result<Segment> {
        self.segments.reserve(1, GFP_KERNEL_ACCOUNT)?;
        let Segment { address, length } = physical;
        // SAFETY: a caller that maps memory makes sure that the device stays bound.
        let device = raw_device(unsafe { self.device.as_bound() });
        // SAFETY: the device is bound; the memory stays there until its owner invalidates it, which drops this value.
        let address = unsafe {
            bindings::dma_map_resource(device, address, length as usize, self.direction, UNCACHED)
        };
        // SAFETY: the address is the result of the call above.
        to_result(unsafe { peerlane_dma_mapping_error(device, address) })?;
        let segment = Segment { address, length };
        self.segments.push(segment, GFP_KERNEL_ACCOUNT)?;
        Ok(segment)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: all memory is released before the device is unbound.
        let device = raw_device(unsafe { self.device.as_bound() });
        for &Segment { address, length } in self.segments.iter() {
            // SAFETY: `map` mapped it, and the board does not use it any more.
            unsafe {
                bindings::dma_unmap_resource(
                    device,
                    address,
                    length as usize,
                    self.direction,
                    UNCACHED,
                );
            }
        }
    }
}

/// A PCI device, and one of its BARs.
pub(super) struct Bar {
    device: NonNull<bindings::pci_dev>,
    addresses: Range<u64>,
}

/// The memory BARs of all PCI devices, as they are when this is made.
pub(super) struct Bars(KVVec<Bar>);

impl Bars {
    /// Reads the BARs of all devices.
    pub(super) fn all() -> Result<Self> {
        let any = u32::MAX; // PCI_ANY_ID
        let mut bars = KVVec::new();
        let mut from = null_mut();
        loop {
            // SAFETY: the call releases the device that it gets, and returns a reference to one for us.
            from = unsafe { bindings::pci_get_device(any, any, from) };
            if from.is_null() {
                return Ok(Self(bars));
            }
            let bars_of = || {
                // SAFETY: a device that we have a reference to.
                let resources = unsafe { &(&(*from).resource)[..bindings::PCI_STD_NUM_BARS as usize] };
                for resource in resources {
                    let flags = resource.flags as u64;
                    let is_placed = flags & u64::from(bindings::IORESOURCE_MEM) != 0
                        && flags & u64::from(bindings::IORESOURCE_UNSET) == 0;
                    // An empty one ends before it starts.
                    let addresses = resource.start..resource.end.wrapping_add(1);
                    if is_placed && !addresses.is_empty() {
                        bars.reserve(1, GFP_KERNEL)?;
                        // SAFETY: as above; this takes another reference, which is the value's.
                        let device = NonNull::new(unsafe { bindings::pci_dev_get(from) });
                        if let Some(device) = device {
                            bars.push(Bar { device, addresses }, GFP_KERNEL)?;
                        }
                    }
                }
                Ok::<_, Error>(())
            };
            if let Err(error) = { bars_of }() {
                // SAFETY: the reference that the next step of the walk would have released.
                unsafe { bindings::pci_dev_put(from) };
                return Err(error);
            }
        }
    }

    /// Returns the BAR that has this physical address.
    pub(super) fn with(&self, address: u64) -> Option<&Bar> {
        self.0.iter().find(|bar| bar.addresses.contains(&address))
    }

    /// Whether a module drives a device that has BARs.
    fn are_of(&self, module: *mut bindings::module) -> bool {
        self.0.iter().any(|bar| bar.is_driven_by(module))
    }
}

impl Bar {
    /// Whether all of a segment is in it.
    pub(super) fn contains(&self, segment: &Segment) -> bool {
        let Segment { address, length } = *segment;
        self.addresses.contains(&address) && length <= self.addresses.end - address
    }

    /// Returns how requests of a device get to it.
    pub(super) fn route(&self, device: &Device<Bound>) -> Route {
        let client = raw_device(device);
        // SAFETY: valid devices, and the board is on PCI.
        unsafe {
            match self.device.as_ptr() {
                bar if peerlane_is_switched(client, bar) => Route::Switch,
                bar if peerlane_same_bridge(client, bar) => Route::OwnBridge,
                _ => Route::OtherBridge,
            }
        }
    }

    /// Whether a module drives its device.
    pub(super) fn is_driven_by(&self, module: *mut bindings::module) -> bool {
        // SAFETY: a valid device, and the module is held.
        unsafe { peerlane_drives(module, self.device.as_ptr()) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // SAFETY: our reference.
        unsafe { bindings::pci_dev_put(self.device.as_ptr()) }
    }
}

/// Owner of memory.
pub(crate) enum Owner {
    /// The machine's.
    Host,
    /// That of the device at this place on the bus, with these vendor, device, and IDs of its subsystem.
    Device { place: u64, ids: u64 },
    /// Unknown.
    Nobody,
}

/// Finds the owner of the memory that requests of a device reach.
pub(crate) struct Finder<'a> {
    device: &'a Device<Bound>,
    bars: Bars,
}

impl<'a> Finder<'a> {
    /// Makes a finder for requests of this device.
    pub(crate) fn new(device: &'a Device<Bound>) -> Result<Self> {
        let bars = Bars::all()?;
        Ok(Self { device, bars })
    }

    /// Returns the owner of the memory at a bus address that was mapped for the device.
    pub(crate) fn owner(&self, address: u64) -> Owner {
        let physical = physical(self.device, address);
        // SAFETY: any address may be asked for.
        if unsafe { peerlane_is_ram(physical) } {
            return Owner::Host;
        }
        match self.bars.with(physical) {
            Some(bar) => {
                // SAFETY: a device that we have a reference to; its IDs do not change.
                let (place, device) = unsafe { (peerlane_place(bar.device.as_ptr()), bar.device.as_ref()) };
                let ids = [device.vendor, device.device, device.subsystem_vendor, device.subsystem_device];
                let ids = ids.iter().fold(0, |ids, id| ids << 16 | u64::from(*id));
                Owner::Device { place, ids }
            }
            None => Owner::Nobody,
        }
    }
}

/// Returns the physical address that a device reaches at a bus address which was mapped for it.
fn physical(device: &Device<Bound>, address: u64) -> u64 {
    // SAFETY: a valid device.
    match unsafe { peerlane_leads_to(raw_device(device), address) } {
        // A switch forwards it before an IOMMU sees it.
        0 => address,
        physical => physical,
    }
}

/// Whether a segment that an exporter has mapped for a device can be the exporter's: it is in the machine's memory,
/// or in one BAR, and that BAR is of a device that the exporter's module drives, if the module drives any. (vfio-pci
/// and nvidia-drm export by another module than the one that drives the device.) An exporter that counts beyond the
/// end of its BAR would have the board write to other memory there.
pub(super) fn may_be_of(
    device: &Device<Bound>,
    bars: &Bars,
    segment: &Segment,
    exporter: *mut bindings::module,
) -> bool {
    let Segment { address, length } = *segment;
    // No segment is empty.
    let Some(last) = address.checked_add(length - 1) else {
        return false;
    };
    let [first, last] = [address, last].map(|address| physical(device, address));
    // SAFETY: any address may be asked for.
    if unsafe { peerlane_is_ram(first) && peerlane_is_ram(last) } {
        return true;
    }
    bars.with(first).is_some_and(|bar| {
        bar.addresses.contains(&last) && (bar.is_driven_by(exporter) || !bars.are_of(exporter))
    })
}

/// Returns whether the IOMMU leads a request of the device to a BAR of a device that the module drives.
pub(super) fn target(
    device: &Device<Bound>,
    bars: &Bars,
    address: u64,
    module: *mut bindings::module,
) -> Target {
    // SAFETY: a valid device.
    match unsafe { peerlane_leads_to(raw_device(device), address) } {
        0 => Target::Nothing,
        physical => match bars.with(physical) {
            Some(bar) if bar.is_driven_by(module) => Target::Bar,
            _ => Target::Elsewhere,
        },
    }
}

/// Checks whether the device can reach this memory, by the kernel's knowledge
/// (Documentation/driver-api/pci/p2pdma.rst), or by the topology where the kernel has none. The first time that it cannot, the kernel writes to its log which
/// device is in the way. Not called with `any_distance=1`.
pub(super) fn near(device: &Device<Bound>, bars: &Bars, runs: &[Segment]) -> Result {
    let client = raw_device(device);
    let mut near: Option<&Bar> = None;
    for run in runs {
        if near.is_some_and(|bar| bar.contains(run)) {
            continue;
        }
        near = bars.with(run.address);
        let found = near.map(|bar| bar.device.as_ptr());
        let reached = |verbose| {
            // SAFETY: valid devices.
            found.is_some_and(|gpu| unsafe { peerlane_is_near(client, gpu, verbose) })
        };
        if !reached(false) {
            // Once, as users can make it happen as often as they like.
            do_once_lite! {
                reached(true);
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
