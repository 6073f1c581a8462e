//! The simulated board: the block's Verilog, with models of link, host, GPU and FPGA memory around it,
//! driven by `peerlane-host`'s driver in the process.
//!
//! A program for a real board does not need this crate. A program without a board opens its devices here, and
//! everything else is as with `/dev/peerlane0`:
//!
//! ```no_run
//! use peerlane_host::driver::Options;
//! use peerlane_simulated::named;
//!
//! # fn main() -> peerlane_host::Result<()> {
//! // The block's Verilog, compiled. The first time takes a minute; then it comes from the cache. `SimBoard::new` makes
//! // boards of other parameters.
//! let board = named::board()?;
//! let driver = board.drive(&Options::default())?;
//! let device = driver.open()?;
//! # drop(device);
//! # Ok(())
//! # }
//! ```
//!
//! In a workspace of its own, a program names these crates by their paths in Peerlane's repository:
//! `host`, `host/simulated` and, for other parameters, `sim`, `sim/block` and `hdl`. It should have `peerlane-sim` optimised
//! (`[profile.dev.package.peerlane-sim]`, `opt-level = 3`): that is the clock loop.
//!
//! Differences from a board:
//!
//! - Times are the board's ([`Device::now`](peerlane_host::Device::now)), and so are the limits of waits. Time advances
//!   only while a thread waits, or accesses a register. A loop that only polls a transfer never ends: it has to wait in
//!   between, for example by [`Device::poll`](peerlane_host::Device::poll).
//! - A second of the board takes many minutes, and a few megabytes of a transfer take one of our seconds, also those
//!   that [`Device::allocate`](peerlane_host::Device::allocate) fills with zeros. Keep limits short, and where a peer
//!   does not answer, the [time-out of the port](Options::port_timeout_cycles), too.
//! - Memory that can be registered comes from [`Device::memory`](peerlane_host::Device::memory) alone, unless the
//!   process's own was [admitted](SimBoard::admit_process_memory).
//! - [`SimBoard::with`] reaches the models: [`Board::bus_mut`] takes faults to inject.
//! - There is an OpenCL side only if one was attached: [`Board::attach_opencl`], by [`SimBoard::with`].

mod arena;
mod backend;
mod gpu;
mod memory;
pub mod named;
mod opencl;
mod pins;
mod process;

pub use gpu::{CopyEngine, SimGpu};
pub use pins::Platform;

use arena::Arena;
use memory::SimMemory;
use peerlane_host::Result;
use peerlane_host::driver::{BackendError, Driver, MemoryId, Options};
use peerlane_sim::{Board, BoardConfig};
use peerlane_verilated::Model;
use pins::Pin;
use process::ProcessMemory;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A bit in every address by which a user knows memory. No process has memory there (the kernel's
/// Documentation/arch/x86/x86_64/mm.rst), so no other driver takes it for memory of the process.
const NOWHERE: u64 = 1 << 63;

/// A simulated board: the block's Verilog, with models of the link, the host, a GPU and FPGA memory around it. Clones
/// are handles of the same board.
///
/// The board only runs while a thread waits for it or accesses a register. It knows the memory that it was given: an
/// access to other memory is an error.
#[derive(Clone)]
pub struct SimBoard(Arc<Mutex<Sim>>);

impl std::fmt::Debug for SimBoard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimBoard").finish_non_exhaustive()
    }
}

/// Resets a board.
type Reset = Box<dyn FnOnce() -> peerlane_routes::Result<()> + Send>;

struct Sim {
    board: Board,
    host: Arena,
    gpu: Arena,
    memories: BTreeMap<MemoryId, SimMemory>,
    pins: BTreeMap<MemoryId, Pin>,
    platform: Platform,
    /// The board's window has a holder.
    window_taken: bool,
    /// Resets the board in the middle of the next push.
    reset_in_push: Option<Reset>,
    next_id: u64,
    /// Memory of the process that may be registered, and peers whose memory lies in the process.
    process: Option<ProcessMemory>,
    /// Files can represent dma-bufs.
    files: bool,
}

impl Sim {
    /// Returns the process's memory on the bus.
    fn process(&mut self) -> &ProcessMemory {
        let bus = self.board.bus_mut();
        self.process.get_or_insert_with(|| {
            let process = ProcessMemory::default();
            bus.attach(Box::new(process.clone()));
            process
        })
    }
}

impl SimBoard {
    /// Makes a board around an instance of the block's Verilog.
    ///
    /// # Errors
    /// [`Error::Backend`](peerlane_host::Error::Backend) if model and configuration do not match.
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
            window_taken: false,
            reset_in_push: None,
            next_id: 0,
            process: None,
            files: false,
        }))))
    }

    /// Makes devices of this board take memory of the process by its address, as those of a real board do
    /// ([`Device::register_address`](peerlane_host::Device::register_address)). Memory that the process does not have
    /// is refused with `EFAULT`, as by a kernel.
    ///
    /// # Safety
    /// Code that registers memory by its address does so by that function, and keeps its promise. (Safe code can pass
    /// any address to the driver's [`Context`](peerlane_host::Context).)
    pub unsafe fn admit_process_memory(&self) {
        let mut sim = self.lock();
        sim.process();
    }

    /// Makes devices of this board take files that can be mapped as dma-bufs: memory of a mock of a GPU.
    ///
    /// # Safety
    /// While a file is registered, no code makes it shorter or has references into its memory.
    pub unsafe fn admit_files(&self) {
        let mut sim = self.lock();
        sim.process();
        sim.files = true;
    }

    /// Puts a device on the board's bus, at addresses that none of the models has, whose memory lies in the process
    /// from `at` on: a mock of a GPU that reports bus addresses. Devices of this board then take such addresses
    /// ([`Device::register_bus`](peerlane_host::Device::register_bus)).
    ///
    /// # Safety
    /// The memory is mapped for as long as the board lives, and there are no references to it while the board accesses
    /// it.
    pub unsafe fn add_peer(&self, bus: Range<u64>, at: u64) {
        // SAFETY: the caller promises it.
        unsafe { self.lock().process().add_peer(bus, at) };
    }

    /// Starts a driver for the board, at which contexts are opened. A board has one driver at a time.
    ///
    /// # Errors
    /// As [`Driver::new`].
    pub fn drive(&self, options: &Options) -> Result<Driver> {
        Driver::new(self.clone(), options)
    }

    /// Reads FPGA memory directly, at any address of it. No time passes.
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

    /// Writes FPGA memory directly. No time passes.
    ///
    /// # Errors
    /// As [`fpga_read`](Self::fpga_read).
    pub fn fpga_write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let mut sim = self.lock();
        Ok(sim.board.ddr_mut().write(address, bytes).map_err(failed)?)
    }

    /// Calls `f` with the board itself: statistics, faults, back-pressure. `f` must not use the board's devices,
    /// because they wait for the same lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut Board) -> R) -> R {
        f(&mut self.lock().board)
    }

    fn lock(&self) -> MutexGuard<'_, Sim> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failed(error: impl std::fmt::Display) -> BackendError {
    BackendError::Other(format!("simulated board: {error}"))
}
