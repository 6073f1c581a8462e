//! The simulated board as a backend.

use crate::backend::{Allocation, Backend, BackendError, FpgaMemory, MemoryId, MemoryKind, Space};
use crate::device::{Device, Options};
use crate::error::Result;
use peerlane_core::layout::Segment;
use peerlane_core::link::Link;
use peerlane_sim::{Access, Board, BoardConfig, GPU_PAGE, RangeId};
use peerlane_verilated::Model;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

type BackendResult<T> = std::result::Result<T, BackendError>;

const HOST_PAGE: u64 = 4096;

/// Large pages, as a host with an IOMMU or huge pages would give: allocations of that
/// size and more are aligned to it.
const LARGE_PAGE: u64 = 2 << 20;

/// A simulated board: the block's Verilog, with models of the link, the host, a GPU and
/// FPGA memory around it. Clones are handles of the same one.
///
/// The board lives only while somebody waits for it or accesses a register. It keeps
/// count of what memory it was given: an access to anything else is an error.
#[derive(Clone)]
pub struct SimBoard(Arc<Mutex<Sim>>);

impl std::fmt::Debug for SimBoard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimBoard").finish_non_exhaustive()
    }
}

struct Sim {
    board: Board,
    host: Arena,
    gpu: Arena,
    memories: BTreeMap<MemoryId, SimMemory>,
    next_id: u64,
}

/// Memory that was handed out.
struct SimMemory {
    kind: MemoryKind,
    /// Host: bus address. GPU: address in GPU memory.
    address: u64,
    /// Bytes taken, whole pages.
    length: u64,
    /// Pages of the GPU's BAR.
    pinned: Vec<u64>,
    allowed: Vec<RangeId>,
}

/// First-fit allocator of an address range.
struct Arena {
    /// Free ranges: start, length.
    free: BTreeMap<u64, u64>,
}

impl Arena {
    fn new(base: u64, length: u64) -> Self {
        Self {
            free: BTreeMap::from([(base, length)]),
        }
    }

    fn take(&mut self, length: u64, align: u64) -> Option<u64> {
        let (start, size, at) = self.free.iter().find_map(|(&start, &size)| {
            let at = start.checked_next_multiple_of(align)?;
            let fits = at.checked_add(length)? <= start + size;
            fits.then_some((start, size, at))
        })?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        let end = at + length;
        if end < start + size {
            self.free.insert(end, start + size - end);
        }
        Some(at)
    }

    fn give(&mut self, mut start: u64, mut length: u64) {
        if let Some(after) = self.free.remove(&(start + length)) {
            length += after;
        }
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before + size == start
        {
            self.free.remove(&before);
            (start, length) = (before, size + length);
        }
        self.free.insert(start, length);
    }
}

fn space(space: Space) -> peerlane_sim::Space {
    match space {
        Space::Csr => peerlane_sim::Space::Csr,
        Space::Chan => peerlane_sim::Space::Chan,
        Space::Att => peerlane_sim::Space::Att,
    }
}

fn failed(error: impl std::fmt::Display) -> BackendError {
    BackendError::Other(format!("simulated board: {error}"))
}

impl SimBoard {
    /// A board around an instance of the block's Verilog.
    pub fn new(model: Model, config: BoardConfig) -> Result<Self> {
        let (host_base, host_bytes) = config.host;
        let gpu_bytes = config.gpu.bytes;
        let board = Board::new(model, config).map_err(failed)?;
        Ok(Self(Arc::new(Mutex::new(Sim {
            board,
            host: Arena::new(host_base, host_bytes),
            gpu: Arena::new(0, gpu_bytes),
            memories: BTreeMap::new(),
            next_id: 0,
        }))))
    }

    /// Access to the board itself: statistics, faults, back-pressure.
    pub fn with<R>(&self, f: impl FnOnce(&mut Board) -> R) -> R {
        f(&mut self.lock().board)
    }

    fn lock(&self) -> MutexGuard<'_, Sim> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Device {
    /// Opens the block on a simulated board.
    pub fn open_sim(board: &SimBoard, options: &Options) -> Result<Self> {
        Self::open(board.clone(), options)
    }
}

impl Sim {
    /// Cycles of the PCIe clock that make up a time.
    fn cycles(&self, time: Duration) -> u64 {
        let period = u128::from(self.board.config().pcie_clk_ps);
        let cycles = (time.as_nanos() * 1000).div_ceil(period);
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// Where a range of a memory lies, in host or GPU memory.
    fn place(&self, id: MemoryId, offset: u64, length: usize) -> BackendResult<(MemoryKind, u64)> {
        let Some(memory) = self.memories.get(&id) else {
            return Err(BackendError::Range(format!("{id:?} is not allocated")));
        };
        let end = offset.checked_add(length as u64);
        if end.is_none_or(|end| end > memory.length) {
            return Err(BackendError::Range(format!(
                "{length} bytes at {offset} of memory of {} bytes",
                memory.length
            )));
        }
        Ok((memory.kind, memory.address + offset))
    }

    fn allocate_host(&mut self, length: u64) -> Option<SimMemory> {
        let length = length.checked_next_multiple_of(HOST_PAGE)?;
        let align = if length < LARGE_PAGE {
            HOST_PAGE
        } else {
            LARGE_PAGE
        };
        let address = self.host.take(length, align)?;
        Some(SimMemory {
            kind: MemoryKind::Host,
            address,
            length,
            pinned: Vec::new(),
            allowed: Vec::new(),
        })
    }

    fn allocate_gpu(&mut self, length: u64) -> Option<SimMemory> {
        let length = length.checked_next_multiple_of(GPU_PAGE)?;
        let address = self.gpu.take(length, GPU_PAGE)?;
        match self.board.gpu_mut().pin(address, length) {
            Ok(pinned) => Some(SimMemory {
                kind: MemoryKind::Gpu,
                address,
                length,
                pinned,
                allowed: Vec::new(),
            }),
            // The BAR is full.
            Err(_) => {
                self.gpu.give(address, length);
                None
            }
        }
    }

    fn release(&mut self, memory: SimMemory) {
        for range in memory.allowed {
            self.board.bus_mut().revoke(range);
        }
        let length = memory.length as usize;
        let (arena, bytes) = match memory.kind {
            MemoryKind::Host => {
                let bytes = self.board.host_mut().slice_mut(memory.address, length);
                (&mut self.host, bytes)
            }
            MemoryKind::Gpu => {
                self.board.gpu_mut().unpin(&memory.pinned);
                let gpu = self.board.gpu_mut().memory_mut();
                (&mut self.gpu, gpu.slice_mut(memory.address, length))
            }
        };
        // The next owner gets zeros.
        if let Some(bytes) = bytes {
            bytes.fill(0);
        }
        arena.give(memory.address, memory.length);
    }
}

impl Backend for SimBoard {
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

    fn allocate(
        &mut self,
        kind: MemoryKind,
        length: u64,
        _contiguous: bool,
    ) -> BackendResult<Allocation> {
        let mut sim = self.lock();
        let memory = match kind {
            MemoryKind::Host => sim.allocate_host(length),
            MemoryKind::Gpu => sim.allocate_gpu(length),
        };
        let mut memory = memory.ok_or(BackendError::OutOfMemory {
            kind,
            wanted: length,
        })?;
        let segments: Vec<Segment> = match kind {
            MemoryKind::Host => vec![Segment {
                address: memory.address,
                length: memory.length,
            }],
            MemoryKind::Gpu => (memory.pinned.iter())
                .map(|&address| Segment {
                    address,
                    length: GPU_PAGE,
                })
                .collect(),
        };
        for segment in &segments {
            let range = segment.address..segment.address + segment.length;
            let id = sim.board.bus_mut().allow(range, Access::Both);
            memory.allowed.push(id);
        }
        let id = MemoryId(sim.next_id);
        sim.next_id += 1;
        sim.memories.insert(id, memory);
        Ok(Allocation { id, segments })
    }

    fn free(&mut self, id: MemoryId) {
        let mut sim = self.lock();
        if let Some(memory) = sim.memories.remove(&id) {
            sim.release(memory);
        }
    }

    fn flush(&mut self, id: MemoryId) -> BackendResult<()> {
        let mut sim = self.lock();
        let config = sim.board.config();
        let ns = match sim.memories.get(&id).map(|memory| memory.kind) {
            // As long as a read of the GPU's BAR by the host takes; it pushes the writes
            // before it. To host memory, records and data take the same way.
            Some(MemoryKind::Gpu) => config
                .gpu
                .read_round_trip_ns
                .max(config.gpu.write_latency_ns),
            _ => return Ok(()),
        };
        let cycles = sim.cycles(Duration::from_nanos(ns.into()));
        sim.board.run(cycles).map_err(failed)
    }

    fn read_memory(&mut self, id: MemoryId, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        let sim = self.lock();
        match sim.place(id, offset, bytes.len())? {
            (MemoryKind::Host, address) => sim.board.host().read(address, bytes),
            (MemoryKind::Gpu, address) => sim.board.gpu().read(address, bytes),
        }
        .map_err(failed)
    }

    fn write_memory(&mut self, id: MemoryId, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        let mut sim = self.lock();
        match sim.place(id, offset, bytes.len())? {
            (MemoryKind::Host, address) => sim.board.host_mut().write(address, bytes),
            (MemoryKind::Gpu, address) => sim.board.gpu_mut().write(address, bytes),
        }
        .map_err(failed)
    }

    fn fpga_memory_backdoor(&mut self) -> Option<&mut dyn FpgaMemory> {
        Some(self)
    }
}

impl FpgaMemory for SimBoard {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> BackendResult<()> {
        self.lock().board.ddr().read(address, bytes).map_err(failed)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> BackendResult<()> {
        let mut sim = self.lock();
        sim.board.ddr_mut().write(address, bytes).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn the_arena_aligns_and_joins() {
        let mut arena = Arena::new(0x1000, 0x10000);
        let a = arena.take(0x1000, 0x1000).unwrap();
        let b = arena.take(0x4000, 0x4000).unwrap();
        let c = arena.take(0x1000, 0x1000).unwrap();
        assert_eq!((a, b, c), (0x1000, 0x4000, 0x2000));
        assert_eq!(arena.take(0x10000, 0x1000), None);
        arena.give(a, 0x1000);
        arena.give(b, 0x4000);
        arena.give(c, 0x1000);
        assert_eq!(arena.take(0x10000, 0x1000), Some(0x1000));
    }
}
