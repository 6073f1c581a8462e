//! The part of the library that drives the block: identity, reset, ring.

use crate::backend::{Backend, MemoryId, MemoryKind, Space};
use crate::device::Options;
use crate::error::{Error, Result};
use crate::flow::Transfers;
use crate::resources::Resources;
use peerlane_core::att::{PageSize, Permissions};
use peerlane_core::capability::{Capabilities, Identity};
use peerlane_core::queue::Occupancy;
use peerlane_core::regs::{MAP_ID, chan, csr};
use peerlane_core::ring::Ring;
use std::time::Duration;

/// The channel that the library uses.
pub(crate) const CHANNEL: u32 = 0;

/// How long the engines may take to come to rest after a reset, and the ATT to be
/// cleared: one entry a cycle, so far more than the largest table needs.
const SETTLE: Duration = Duration::from_millis(100);

/// Why the device can not be used before a reset.
#[derive(Clone)]
enum Trouble {
    Gone,
    Broken(String),
}

/// The state of a device.
pub(crate) struct Inner {
    pub(crate) backend: Box<dyn Backend>,
    pub(crate) caps: Capabilities,
    pub(crate) build_id: u32,
    pub(crate) piece: u32,
    read_timeout_cycles: Option<u32>,
    pub(crate) resources: Resources,
    pub(crate) ring: Ring,
    pub(crate) ring_memory: MemoryId,
    ring_address: u64,
    pub(crate) occupancy: Occupancy,
    pub(crate) transfers: Transfers,
    trouble: Option<Trouble>,
}

impl Inner {
    pub(crate) fn open(mut backend: Box<dyn Backend>, options: &Options) -> Result<Self> {
        if options.piece == 0 {
            return Err(Error::Option {
                option: "piece",
                value: 0,
                reason: "a descriptor moves at least one byte",
            });
        }
        let [map_id, build_id, caps0, caps1] =
            Identity::OFFSETS.map(|offset| backend.read32(Space::Csr, offset));
        let identity = Identity {
            map_id: map_id?,
            build_id: build_id?,
            caps0: caps0?,
            caps1: caps1?,
        };
        let caps = identity
            .check(MAP_ID, options.build_id)
            .map_err(Error::Identity)?;
        let broken = |error: &dyn ToString| Error::Broken {
            reason: error.to_string(),
        };
        let ring_log2 = Occupancy::ring_log2(caps.queue_log2);
        let ring = Ring::new(ring_log2, CHANNEL).map_err(|error| broken(&error))?;
        let memory = backend.allocate(MemoryKind::Host, ring.bytes(), true)?;
        let [segment, ..] = memory.segments[..] else {
            return Err(broken(&"the backend gave memory of no segments"));
        };
        let mut inner = Self {
            backend,
            caps,
            build_id: identity.build_id,
            piece: options.piece,
            read_timeout_cycles: options.read_timeout_cycles,
            resources: Resources::new(caps.att_entries())?,
            occupancy: Occupancy::new(caps.queue_depth(), ring.entries())
                .map_err(|error| broken(&error))?,
            ring,
            ring_memory: memory.id,
            ring_address: segment.address,
            transfers: Transfers::default(),
            trouble: None,
        };
        inner.stop()?;
        inner.start()?;
        Ok(inner)
    }

    pub(crate) fn read_csr(&mut self, offset: usize) -> Result<u32> {
        let value = self.backend.read32(Space::Csr, offset)?;
        if value == u32::MAX {
            self.check_present()?;
        }
        Ok(value)
    }

    pub(crate) fn write_csr(&mut self, offset: usize, value: u32) -> Result<()> {
        Ok(self.backend.write32(Space::Csr, offset, value)?)
    }

    /// Whether the block still answers.
    pub(crate) fn check_present(&mut self) -> Result<()> {
        if self.backend.read32(Space::Csr, csr::MAP_ID)? == MAP_ID {
            return Ok(());
        }
        self.trouble = Some(Trouble::Gone);
        Err(Error::Gone)
    }

    /// Resets the engines and waits until they rest. Interrupts are off after it.
    fn stop(&mut self) -> Result<()> {
        self.write_csr(csr::CONTROL, csr::CONTROL_RESET_MASK)?;
        let busy = csr::STATUS_WRITE_BUSY_MASK
            | csr::STATUS_READ_BUSY_MASK
            | csr::STATUS_COMPLETER_BUSY_MASK
            | csr::STATUS_ATT_SWEEP_MASK;
        let start = self.backend.now();
        loop {
            let status = self.read_csr(csr::STATUS)?;
            if status & busy == 0 {
                return Ok(());
            }
            let waited = self.backend.now().saturating_sub(start);
            if waited >= SETTLE {
                return Err(Error::NotReady { waited, status });
            }
            self.backend.wait_interrupt(Duration::from_micros(10))?;
        }
    }

    /// Programs the block, which must be at rest, and starts it.
    fn start(&mut self) -> Result<()> {
        let zeros = vec![0; self.ring.bytes() as usize];
        self.backend.write_memory(self.ring_memory, 0, &zeros)?;
        self.ring = Ring::new(self.ring.size_log2(), CHANNEL).map_err(|e| self.broken(&e))?;
        self.write_csr(csr::ATT_OWNER, 1 << CHANNEL)?;
        if let Some(cycles) = self.read_timeout_cycles {
            self.write_csr(csr::READ_TIMEOUT, cycles)?;
        }
        // The low word starts the ring, so it comes last.
        let place = CHANNEL as usize * csr::RING_STRIDE;
        let high = (self.ring_address >> 32) as u32;
        self.write_csr(csr::RING_HI + place, high)?;
        let low = self.ring_address as u32 & csr::RING_LO_BASE_MASK
            | self.ring.size_log2() << csr::RING_LO_SIZE_LOG2_LSB
            | csr::RING_LO_ENABLE_MASK;
        self.write_csr(csr::RING_LO + place, low)?;
        self.resources.program_all(self.backend.as_mut())?;
        self.write_csr(csr::IRQ_STATUS, u32::MAX)?;
        self.write_csr(
            csr::CONTROL,
            csr::CONTROL_ENABLE_MASK | csr::CONTROL_IRQ_ENABLE_MASK,
        )?;
        self.check_present()?;
        // Room as the board sees it: what it refuses would be lost.
        let page = CHANNEL as usize * chan::SIZE;
        let free = self.backend.read32(Space::Chan, page + chan::QUEUE_FREE)?;
        let write = (free & chan::QUEUE_FREE_WRITE_MASK) >> chan::QUEUE_FREE_WRITE_LSB;
        let read = (free & chan::QUEUE_FREE_READ_MASK) >> chan::QUEUE_FREE_READ_LSB;
        let slots = write.min(read).min(self.caps.queue_depth());
        self.occupancy = Occupancy::new(slots, self.ring.entries()).map_err(|e| self.broken(&e))?;
        self.trouble = None;
        Ok(())
    }

    /// Resets the block; transfers under way end as aborted.
    pub(crate) fn reset(&mut self) -> Result<()> {
        self.stop()?;
        // What ended before the reset has ended; a broken ring says nothing more.
        let _ = self.drain();
        for id in self.transfers.abort() {
            self.finish(id)?;
        }
        self.start()
    }

    /// Leaves the block at rest, unable to reach any memory.
    pub(crate) fn shut_down(&mut self) -> Result<()> {
        let stopped = self.stop();
        let place = CHANNEL as usize * csr::RING_STRIDE;
        self.write_csr(csr::RING_LO + place, 0)?;
        self.resources.invalidate_all(self.backend.as_mut())?;
        self.backend.free(self.ring_memory);
        stopped
    }

    pub(crate) fn broken(&mut self, reason: &dyn ToString) -> Error {
        let reason = reason.to_string();
        self.trouble = Some(Trouble::Broken(reason.clone()));
        Error::Broken { reason }
    }

    pub(crate) fn usable(&self) -> Result<()> {
        match &self.trouble {
            None => Ok(()),
            Some(Trouble::Gone) => Err(Error::Gone),
            Some(Trouble::Broken(reason)) => Err(Error::Broken {
                reason: reason.clone(),
            }),
        }
    }

    pub(crate) fn allocate(&mut self, kind: MemoryKind, length: u64) -> Result<MemoryId> {
        self.resources.allocate(self.backend.as_mut(), kind, length)
    }

    pub(crate) fn check_memory(&self, id: MemoryId, offset: u64, length: u64) -> Result<()> {
        self.resources.check_memory(id, offset, length)
    }

    pub(crate) fn release_memory(&mut self, id: MemoryId) {
        self.resources.release_memory(self.backend.as_mut(), id);
    }

    pub(crate) fn register(
        &mut self,
        memory: MemoryId,
        offset: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<(u64, PageSize, u32)> {
        let range = (offset, length);
        self.resources.register(
            self.backend.as_mut(),
            &self.caps,
            memory,
            range,
            permissions,
        )
    }

    pub(crate) fn release_region(&mut self, id: u64) {
        self.resources.release_region(self.backend.as_mut(), id);
    }
}
