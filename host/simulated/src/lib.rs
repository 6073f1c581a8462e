//! The simulated board: the block's Verilog, with models of link, host, GPU and FPGA memory around it,
//! driven by `peerlane-host`'s driver in the process.
//!
//! A program for a real board does not need this crate. One without a board opens its devices here, and
//! all else is as with `/dev/peerlane0`:
//!
//! ```no_run
//! use peerlane_host::driver::Options;
//! use peerlane_sim::BoardConfig;
//! use peerlane_simulated::SimBoard;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The block's Verilog, compiled. The first time takes a minute; then it comes from the cache.
//! let library = peerlane_block::library(&peerlane_hdl::Params::default())?;
//! let board = SimBoard::new(library.instance()?, BoardConfig::default())?;
//! let driver = board.drive(&Options::default())?;
//! let device = driver.open()?;
//! # drop(device);
//! # Ok(())
//! # }
//! ```
//!
//! In a workspace of its own, a program names these crates by their paths in Peerlane's repository:
//! `host`, `host/simulated`, `sim`, `sim/block` and `hdl`. It should have `peerlane-sim` optimised
//! (`[profile.dev.package.peerlane-sim]`, `opt-level = 3`): that is the clock loop.
//!
//! What is different from a board:
//!
//! - Time is the board's ([`Device::now`](peerlane_host::Device::now)), and so are the limits of waits. It goes
//!   on only while somebody waits, or accesses a register. A loop that only polls a transfer never ends:
//!   it has to wait in between, by [`Device::poll`](peerlane_host::Device::poll) for one.
//! - A second of it takes many minutes, and a few megabytes of a transfer one of our seconds, those too
//!   that [`Device::allocate`](peerlane_host::Device::allocate) fills with zeros. Keep limits short, and where
//!   a peer is not to answer, the [time-out of the port](Options::port_timeout_cycles), too.
//! - Memory that can be registered comes from [`Device::memory`](peerlane_host::Device::memory) alone, unless the
//!   process's own was [admitted](SimBoard::admit_process_memory).
//! - [`SimBoard::with`] reaches the models: [`Board::bus_mut`] takes faults to inject.
//! - There is an OpenCL side only if one was attached: [`Board::attach_opencl`], by [`SimBoard::with`].

mod gpu;
mod opencl;
mod pins;
mod process;

pub use gpu::{CopyEngine, SimGpu};
pub use pins::Platform;

use peerlane_core::layout::Segment;
use peerlane_core::link::Link;
use peerlane_host::driver::{
    Allocation, Backend, BackendError, BackendResult, Bar, Driver, MemoryId, Options, Pinned, Space,
};
use peerlane_host::{Memory, MemoryKind, Place, Result};
use peerlane_sim::{Access, Board, BoardConfig, GPU_PAGE, RangeId};
use peerlane_verilated::Model;
use pins::Pin;
use process::ProcessMemory;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const HOST_PAGE: u64 = 4096;

/// In every address that a user knows memory by: no process has memory there (the kernel's
/// Documentation/arch/x86/x86_64/mm.rst), so no other driver takes it for memory of the process.
const NOWHERE: u64 = 1 << 63;

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
    pins: BTreeMap<MemoryId, Pin>,
    platform: Platform,
    next_id: u64,
    /// Where the process's own memory may be registered.
    process: Option<ProcessMemory>,
}

/// Memory that was handed out.
struct SimMemory {
    kind: MemoryKind,
    /// What it is known by: at first, and of host memory always, where it lies. Without [`NOWHERE`].
    address: u64,
    /// Where it lies now. Host: bus address. GPU: address in GPU memory.
    place: (MemoryKind, u64),
    /// Bytes taken, whole pages.
    length: u64,
    /// Of host memory.
    allowed: Vec<RangeId>,
    /// Its user, or the driver, still has it.
    held: bool,
    /// Times that it was pinned.
    pins: u32,
    /// The process's own: its addresses there.
    of_process: Option<Range<u64>>,
}

/// Memory as its user holds it.
#[derive(Debug)]
struct UserMemory {
    board: SimBoard,
    id: MemoryId,
    kind: MemoryKind,
    address: u64,
    length: usize,
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
    ///
    /// # Errors
    /// [`Error::Backend`](peerlane_host::Error::Backend) if model and configuration do not go together.
    pub fn new(model: Model, config: BoardConfig) -> Result<Self> {
        let (host_base, host_bytes) = config.host;
        let gpu_bytes = config.gpu.bytes;
        let board = Board::new(model, config).map_err(failed)?;
        Ok(Self(Arc::new(Mutex::new(Sim {
            board,
            host: Arena::new(host_base, host_bytes),
            gpu: Arena::new(0, gpu_bytes),
            memories: BTreeMap::new(),
            pins: BTreeMap::new(),
            platform: Platform::default(),
            next_id: 0,
            process: None,
        }))))
    }

    /// Has devices of this board take memory of the process by its address, as those of a real board do
    /// ([`Device::register_address`](peerlane_host::Device::register_address)).
    ///
    /// # Safety
    /// Whoever registers memory by its address does so by that function, and keeps its promise. (Safe code can ask the
    /// driver's [`Context`](peerlane_host::Context) for any address.)
    pub unsafe fn admit_process_memory(&self) {
        let mut sim = self.lock();
        let process = ProcessMemory::default();
        sim.board.bus_mut().attach(Box::new(process.clone()));
        sim.process = Some(process);
    }

    /// Starts a driver for the board, which contexts are opened at. A board has one at a time.
    ///
    /// # Errors
    /// As [`Driver::new`].
    pub fn drive(&self, options: &Options) -> Result<Driver> {
        Driver::new(self.clone(), options)
    }

    /// Reads FPGA memory behind the board's back, at any address of it. No time passes.
    ///
    /// # Errors
    /// [`Error::Backend`](peerlane_host::Error::Backend) if the range does not lie in FPGA memory.
    pub fn fpga_read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        Ok(self
            .lock()
            .board
            .ddr()
            .read(address, bytes)
            .map_err(failed)?)
    }

    /// Writes FPGA memory behind the board's back. No time passes.
    ///
    /// # Errors
    /// As [`fpga_read`](Self::fpga_read).
    pub fn fpga_write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let mut sim = self.lock();
        Ok(sim.board.ddr_mut().write(address, bytes).map_err(failed)?)
    }

    /// Access to the board itself: statistics, faults, back-pressure. `f` must not use the board's
    /// devices: they wait for the same lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut Board) -> R) -> R {
        f(&mut self.lock().board)
    }

    fn lock(&self) -> MutexGuard<'_, Sim> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (kind, address) = memory.place;
        Ok((kind, address + offset))
    }

    /// Takes whole pages of the host's or the GPU's memory.
    fn take(&mut self, kind: MemoryKind, length: u64) -> Option<(u64, u64)> {
        let (arena, page) = match kind {
            MemoryKind::Host => (&mut self.host, HOST_PAGE),
            MemoryKind::Gpu => (&mut self.gpu, GPU_PAGE),
        };
        let length = length.checked_next_multiple_of(page)?;
        let align = match kind {
            MemoryKind::Host if length >= LARGE_PAGE => LARGE_PAGE,
            _ => page,
        };
        Some((arena.take(length, align)?, length))
    }

    /// New memory. The board reaches the host's at once, and the GPU's where it is pinned.
    fn allocate(&mut self, kind: MemoryKind, length: u64) -> BackendResult<MemoryId> {
        let taken = self.take(kind, length);
        let (address, length) = taken.ok_or(BackendError::OutOfMemory {
            kind,
            wanted: length,
        })?;
        let mut memory = SimMemory {
            kind,
            address,
            place: (kind, address),
            length,
            allowed: Vec::new(),
            held: true,
            pins: 0,
            of_process: None,
        };
        if kind == MemoryKind::Host {
            memory.allowed.push(self.allow(address, length));
        }
        let id = self.new_id();
        self.memories.insert(id, memory);
        Ok(id)
    }

    fn new_id(&mut self) -> MemoryId {
        self.next_id += 1;
        MemoryId(self.next_id - 1)
    }

    fn allow(&mut self, address: u64, length: u64) -> RangeId {
        let range = address..address + length;
        self.board.bus_mut().allow(range, Access::Both)
    }

    /// Memory of the process, for the board. It is not held: it goes when it is pinned no more.
    fn admit(&mut self, range: Range<u64>) -> Option<Pinned> {
        let process = self.process.as_ref()?;
        // What a kernel would say of addresses that no process has.
        let whole = process::pages(&range);
        if range.is_empty() || range.start == 0 || whole.end >= process::AT {
            return None;
        }
        // SAFETY: whoever had process memory admitted promises it.
        unsafe { process.admit(range.clone()) };
        let on_bus = |range: &Range<u64>| process::AT + range.start..process::AT + range.end;
        let bus = self.board.bus_mut();
        let allowed = vec![
            bus.allow(on_bus(&whole), Access::Read),
            bus.allow(on_bus(&range), Access::Write),
        ];
        let (address, length) = (process::AT + whole.start, whole.end - whole.start);
        let offset = range.start - whole.start;
        let memory = SimMemory {
            kind: MemoryKind::Host,
            address,
            place: (MemoryKind::Host, address),
            length,
            allowed,
            held: false,
            pins: 1,
            of_process: Some(range),
        };
        let id = self.new_id();
        self.memories.insert(id, memory);
        Some(Pinned {
            id: self.pinned(id),
            segments: vec![Segment { address, length }],
            offset,
        })
    }

    fn copy_to(&self, id: MemoryId, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        match self.place(id, offset, bytes.len())? {
            (MemoryKind::Host, address) => self.board.host().read(address, bytes),
            (MemoryKind::Gpu, address) => self.board.gpu().read(address, bytes),
        }
        .map_err(failed)
    }

    fn copy_from(&mut self, id: MemoryId, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        match self.place(id, offset, bytes.len())? {
            (MemoryKind::Host, address) => self.board.host_mut().write(address, bytes),
            (MemoryKind::Gpu, address) => self.board.gpu_mut().write(address, bytes),
        }
        .map_err(failed)
    }

    /// Whoever asked for memory has dropped it.
    fn drop_hold(&mut self, id: MemoryId) {
        if let Some(memory) = self.memories.get_mut(&id) {
            memory.held = false;
        }
        self.collect(id);
    }

    /// Gives memory back that nobody holds and that is not pinned.
    fn collect(&mut self, id: MemoryId) {
        let unused = |memory: &SimMemory| !memory.held && memory.pins == 0;
        if self.memories.get(&id).is_some_and(unused)
            && let Some(memory) = self.memories.remove(&id)
        {
            self.release(memory);
        }
    }

    fn release(&mut self, memory: SimMemory) {
        for range in memory.allowed {
            self.board.bus_mut().revoke(range);
        }
        if let (Some(process), Some(range)) = (&self.process, &memory.of_process) {
            process.take_back(range);
            return;
        }
        self.give(memory.place, memory.length);
        // What it is known by was kept for it when it moved.
        if memory.place.0 != memory.kind {
            self.give((memory.kind, memory.address), memory.length);
        }
    }

    /// Gives pages back; the next owner gets zeros.
    fn give(&mut self, (kind, address): (MemoryKind, u64), length: u64) {
        let arena = match kind {
            MemoryKind::Host => {
                let bytes = self.board.host_mut().slice_mut(address, length as usize);
                bytes.into_iter().for_each(|bytes| bytes.fill(0));
                &mut self.host
            }
            MemoryKind::Gpu => {
                // A real GPU that fails has lost its memory anyway.
                let _ = self.board.gpu_mut().clear(address, length);
                &mut self.gpu
            }
        };
        arena.give(address, length);
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

    fn pin(&mut self, kind: MemoryKind, address: u64, length: u64) -> BackendResult<Pinned> {
        let mut sim = self.lock();
        if kind == MemoryKind::Host && address & NOWHERE == 0 {
            let range = address..address.saturating_add(length);
            if let Some(pinned) = sim.admit(range) {
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
                "{length} bytes at {address:#x} are no {kind:?} memory of the simulated board: \
                 allocate memory by the device"
            )));
        };
        let (id, offset) = (*id, place - memory.address);
        sim.pin(id, offset, length)
    }

    fn unpin(&mut self, id: MemoryId) {
        self.lock().unpin(id);
    }

    fn flush(&mut self, id: MemoryId) -> BackendResult<()> {
        let mut sim = self.lock();
        let config = sim.board.config();
        let ns = match sim.kind_of_pin(id) {
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

// SAFETY: no process has memory at such an address.
unsafe impl Place for UserMemory {
    fn kind(&self) -> MemoryKind {
        self.kind
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        self.length
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        Ok(self.board.lock().copy_to(self.id, offset as u64, bytes)?)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let mut sim = self.board.lock();
        Ok(sim.copy_from(self.id, offset as u64, bytes)?)
    }
}

impl Drop for UserMemory {
    fn drop(&mut self) {
        self.board.lock().drop_hold(self.id);
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
