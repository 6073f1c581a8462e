//! The simulated board as the backend of a driver in the process.

use crate::memory::{SimMemory, UserMemory};
use crate::{NOWHERE, Sim, SimBoard, failed};
use peerlane_core::att::Permissions;
use peerlane_core::link::Link;
use peerlane_host::driver::{
    Allocation, Backend, BackendError, BackendResult, Bar, MemoryId, Pinned, Space,
};
use peerlane_host::{Memory, MemoryKind};
use peerlane_sim::Board;
use std::os::fd::BorrowedFd;
use std::time::Duration;

fn space(space: Space) -> peerlane_sim::Space {
    match space {
        Space::Csr => peerlane_sim::Space::Csr,
        Space::Chan => peerlane_sim::Space::Chan,
        Space::Att => peerlane_sim::Space::Att,
    }
}

impl Sim {
    /// Returns the cycles of the PCIe clock in a time.
    fn cycles(&self, time: Duration) -> u64 {
        let period = u128::from(self.board.config().pcie_clk_ps);
        let cycles = (time.as_nanos() * 1000).div_ceil(period);
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }
}

impl Backend for SimBoard {
    fn name(&self) -> String {
        "the simulated board".into()
    }

    fn fpga_bytes(&self) -> u64 {
        self.lock().board.config().ddr.bytes
    }

    fn read32(&mut self, of: Space, offset: usize) -> BackendResult<u32> {
        let value = self.lock().board.bar_read32(space(of), offset as u64);
        value.map_err(failed)
    }

    fn write32(&mut self, of: Space, offset: usize, value: u32) -> BackendResult<()> {
        self.write_block(of, offset, &[value])
    }

    fn write_block(&mut self, of: Space, offset: usize, values: &[u32]) -> BackendResult<()> {
        let written = self
            .lock()
            .board
            .bar_write(space(of), offset as u64, values);
        written.map_err(failed)
    }

    fn link(&self) -> Option<Link> {
        let sim = self.lock();
        let config = sim.board.config();
        Some(Link {
            bytes_per_second: config.link.raw_rate() as u64,
            clock: 1_000_000_000_000 / config.pcie_clk_ps,
        })
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.lock().board.ns() as u64)
    }

    fn pause(&mut self, time: Duration) -> BackendResult<()> {
        let mut sim = self.lock();
        let cycles = sim.cycles(time);
        sim.board.run(cycles).map_err(failed)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> BackendResult<bool> {
        let mut sim = self.lock();
        let cycles = sim.cycles(limit);
        match sim.board.run_until(Board::irq, cycles) {
            Ok(_) => Ok(true),
            Err(peerlane_sim::Error::Timeout { .. }) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    fn memory(&mut self, kind: MemoryKind, length: usize) -> BackendResult<Memory> {
        let mut sim = self.lock();
        let id = sim.allocate(kind, length as u64)?;
        let address = sim.place(id, 0, 0)?.1;
        drop(sim);
        Ok(Memory::over(UserMemory {
            board: self.clone(),
            id,
            kind,
            address: address | NOWHERE,
            length,
        }))
    }

    fn pin(
        &mut self,
        kind: MemoryKind,
        address: u64,
        length: u64,
        _: Permissions,
    ) -> BackendResult<Pinned> {
        let mut sim = self.lock();
        if kind == MemoryKind::Host && address & NOWHERE == 0 {
            let range = address..address.saturating_add(length);
            if let Some(pinned) = sim.admit(range)? {
                return Ok(pinned);
            }
        }
        let place = address & !NOWHERE;
        let end = place.checked_add(length);
        let inside = |memory: &SimMemory| {
            let last = memory.address + memory.length;
            memory.kind == kind && memory.address <= place && end.is_some_and(|end| end <= last)
        };
        let mut memories = sim.memories.iter();
        let found = memories.find(|(_, memory)| address & NOWHERE != 0 && inside(memory));
        let Some((id, memory)) = found else {
            return Err(BackendError::Range(format!(
                "{length} bytes at {address:#x} are not {kind:?} memory of the simulated board: \
                 allocate memory by the device"
            )));
        };
        let (id, offset) = (*id, place - memory.address);
        sim.pin(id, offset, length)
    }

    fn has_dmabufs(&self) -> bool {
        self.lock().files
    }

    fn pin_dmabuf(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        length: u64,
    ) -> BackendResult<Pinned> {
        self.lock().admit_file(file, offset, length)
    }

    fn takes_bus_addresses(&self) -> bool {
        let process = &self.lock().process;
        process.as_ref().is_some_and(|process| process.has_peers())
    }

    fn pin_bus(&mut self, address: u64, length: u64) -> BackendResult<Pinned> {
        self.lock().admit_bus(address, length)
    }

    fn unpin(&mut self, id: MemoryId) {
        self.lock().unpin(id);
    }

    fn flush(&mut self, id: MemoryId) -> BackendResult<()> {
        let mut sim = self.lock();
        let config = sim.board.config();
        let ns = match sim.kind_of_pin(id) {
            // This takes as long as the host's read of the GPU's BAR, which pushes the writes before it. Records and
            // data for host memory take the same way.
            Some(MemoryKind::Gpu) => config
                .gpu
                .read_round_trip_ns
                .max(config.gpu.write_latency_ns),
            _ => return Ok(()),
        };
        let cycles = sim.cycles(Duration::from_nanos(ns.into()));
        sim.board.run(cycles).map_err(failed)
    }

    fn allocate(&mut self, length: u64) -> BackendResult<Allocation> {
        let mut sim = self.lock();
        let id = sim.allocate(MemoryKind::Host, length)?;
        let address = sim.place(id, 0, 0)?.1;
        Ok(Allocation { id, address })
    }

    fn free(&mut self, id: MemoryId) {
        self.lock().drop_hold(id);
    }

    fn read_memory(&mut self, id: MemoryId, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        self.lock().copy_to(id, offset, bytes)
    }

    fn write_memory(&mut self, id: MemoryId, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        self.lock().copy_from(id, offset, bytes)
    }

    fn opencl(&mut self) -> Option<&mut dyn Bar> {
        let kernels = self.with(|board| board.opencl()?.offsets().kernels);
        kernels.map(|_| self as &mut dyn Bar)
    }
}
