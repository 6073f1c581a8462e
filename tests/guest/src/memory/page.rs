//! A channel's page, into which a test can write anything.

use crate::lab::{LIMIT, told};
use crate::raw;
use anyhow::{Result, ensure};
use peerlane_core::att::AttAddress;
use peerlane_core::descriptor::{Control, Descriptor, Direction, Local};
use peerlane_core::fault::Fault;
use peerlane_core::record;
use peerlane_core::regs::chan;
use peerlane_core::ring::{Ring, Slots};
use peerlane_core::uapi::map;
use peerlane_host::Device;
use rustix::mm::{MapFlags, ProtFlags};
use std::time::{Duration, Instant};

/// The mapped page and ring of a context.
pub struct Page {
    page: *mut u32,
    slots: Records,
    ring: Ring,
    cookie: u32,
    /// Bytes of the page and of the ring.
    bytes: [u64; 2],
}

struct Records(*const u32);

impl Slots for Records {
    fn status(&mut self, index: u32) -> u32 {
        self.record(index)[record::STATUS]
    }

    fn record(&mut self, index: u32) -> [u32; record::DWORDS] {
        let first = index as usize * record::DWORDS;
        // SAFETY: `Ring` only names slots of the ring, all of which is mapped.
        std::array::from_fn(|dword| unsafe { self.0.add(first + dword).read_volatile() })
    }
}

fn map_area(device: &Device, bytes: u64, protection: ProtFlags, offset: u64) -> Result<*mut u32> {
    let (length, flags) = (usize::try_from(bytes)?, MapFlags::SHARED);
    // SAFETY: a new mapping at a place of the kernel's choice.
    let base = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            length,
            protection,
            flags,
            raw::fd(device),
            offset,
        )?
    };
    Ok(base.cast())
}

impl Page {
    /// Maps page and ring. From now on the process writes the channel's descriptors.
    pub fn new(device: &Device) -> Result<Self> {
        let info = device.info();
        let write = ProtFlags::READ | ProtFlags::WRITE;
        let page = map_area(device, info.page_bytes, write, map::PAGE)?;
        // The channel takes no doorbells before this call.
        device.query().map_err(told)?;
        Ok(Self {
            page,
            slots: Records(map_area(
                device,
                info.ring_bytes,
                ProtFlags::READ,
                map::RING,
            )?),
            ring: Ring::new(info.ring_log2, info.channel)?,
            cookie: 0,
            bytes: [info.page_bytes, info.ring_bytes],
        })
    }

    /// Runs one descriptor, and returns its end. Only the board checks the descriptor.
    pub fn run(
        &mut self,
        direction: Direction,
        peer: AttAddress,
        local: u64,
        length: u32,
    ) -> Result<Result<(), Fault>> {
        let descriptor = Descriptor {
            peer,
            local: Local::Memory(local),
            length,
            control: Control {
                record: true,
                ..Control::default()
            },
            cookie: self.cookie,
        };
        let (place, doorbell) = match direction {
            Direction::FromFpga => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
            Direction::ToFpga => (chan::READ_DESC, chan::READ_DOORBELL),
        };
        let store = |offset: usize, value: u32| {
            // SAFETY: a word of the page.
            unsafe { self.page.add(offset / 4).write_volatile(value) };
        };
        for (index, dword) in descriptor.encode()?.iter().enumerate() {
            store(place + 4 * index, *dword);
        }
        store(doorbell, 0);
        let begin = Instant::now();
        let record = loop {
            if let Some(record) = self.ring.poll(&mut self.slots)? {
                break record;
            }
            ensure!(begin.elapsed() < LIMIT, "no record");
            std::thread::sleep(Duration::from_micros(50));
        };
        ensure!(
            (record.cookie, record.direction) == (self.cookie, direction),
            "{record:?}"
        );
        self.cookie += 1;
        Ok(record.outcome)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let maps = [self.page.cast(), self.slots.0.cast_mut().cast()];
        for (base, bytes) in maps.into_iter().zip(self.bytes) {
            // SAFETY: the mappings are ours.
            let _ = unsafe { rustix::mm::munmap(base, bytes as usize) };
        }
    }
}
