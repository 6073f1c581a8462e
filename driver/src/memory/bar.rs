// SPDX-License-Identifier: GPL-2.0

//! BARs of other devices: whose memory is at an address, whether the board reaches it, and mapping it for
//! the board.

use crate::{
    ffi::{
        peerlane_dma_mapping_error, peerlane_drives, peerlane_is_ram, peerlane_is_switched,
        peerlane_leads_to, peerlane_place, peerlane_same_bridge, raw_device,
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
    /// Nothing yet, with room for so many segments.
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

    /// Maps a segment, and says where it is on the bus. Nothing is allocated as long as there is
    /// room.
    pub(super) fn map(&mut self, physical: Segment) -> Result<Segment> {
        self.segments.reserve(1, GFP_KERNEL_ACCOUNT)?;
        let Segment { address, length } = physical;
        // SAFETY: whoever maps memory holds the device bound.
        let device = raw_device(unsafe { self.device.as_bound() });
        // SAFETY: the device is bound; the memory stays there until its owner takes it back, for
        // which this is dropped.
        let address = unsafe {
            bindings::dma_map_resource(device, address, length as usize, self.direction, UNCACHED)
        };
        // SAFETY: what the call above returned.
        to_result(unsafe { peerlane_dma_mapping_error(device, address) })?;
        let segment = Segment { address, length };
        self.segments.push(segment, GFP_KERNEL_ACCOUNT)?;
        Ok(segment)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: all memory is let go before the device is unbound.
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

impl Bar {
    /// The BAR that has this physical address.
    pub(super) fn with(address: u64) -> Option<Self> {
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

    /// Whether all of a segment lies in it.
    pub(super) fn contains(&self, segment: &Segment) -> bool {
        let Segment { address, length } = *segment;
        self.addresses.contains(&address) && length <= self.addresses.end - address
    }

    /// How requests of a device get to it.
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

/// Whose memory it is.
pub(crate) enum Owner {
    /// The machine's.
    Host,
    /// That of the device at this place on the bus, with these vendor, device, and IDs of its subsystem.
    Device { place: u64, ids: u64 },
    /// Nobody knows.
    Nobody,
}

/// Says whose memory the requests of a device reach.
pub(crate) struct Finder<'a> {
    device: &'a Device<Bound>,
    /// Where the last one has led.
    last: Option<Bar>,
}

impl<'a> Finder<'a> {
    /// For requests of this device.
    pub(crate) fn new(device: &'a Device<Bound>) -> Self {
        Self { device, last: None }
    }

    /// Whose memory it reaches at a bus address that was mapped for it.
    pub(crate) fn owner(&mut self, address: u64) -> Owner {
        // SAFETY: a valid device.
        let physical = match unsafe { peerlane_leads_to(raw_device(self.device), address) } {
            // A switch passes it on before an IOMMU sees it.
            0 => address,
            physical => physical,
        };
        // SAFETY: any address may be asked for.
        if unsafe { peerlane_is_ram(physical) } {
            return Owner::Host;
        }
        if !self.last.as_ref().is_some_and(|bar| bar.addresses.contains(&physical)) {
            self.last = Bar::with(physical);
        }
        match &self.last {
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

/// Where the IOMMU leads a request of the device: to a BAR of a device that the module drives?
pub(super) fn target(
    device: &Device<Bound>,
    address: u64,
    module: *mut bindings::module,
) -> Target {
    // SAFETY: a valid device.
    match unsafe { peerlane_leads_to(raw_device(device), address) } {
        0 => Target::Nothing,
        physical => match Bar::with(physical) {
            Some(bar) if bar.is_driven_by(module) => Target::Bar,
            _ => Target::Elsewhere,
        },
    }
}

/// Whether the device can reach this memory (Documentation/driver-api/pci/p2pdma.rst). The first
/// time that it cannot, the kernel says in its log what is in the way.
pub(super) fn near(device: &Device<Bound>, runs: &[Segment]) -> Result {
    let mut client = raw_device(device);
    let mut bar: Option<Bar> = None;
    for run in runs {
        if bar.as_ref().is_some_and(|bar| bar.contains(run)) {
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
