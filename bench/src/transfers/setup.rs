//! The equipment for measurements: a board, memory for its transfers, and access to the contents of both.

use crate::{Error, Result};
use peerlane_host::{Device, Memory, MemoryKind, Permissions, driver};
use peerlane_routes::{Board, Engine, Piece, Push, Reach, Residence, Side, Staging, Turns, Way};
use peerlane_sim::BoardConfig;
use peerlane_simulated::{CopyEngine, SimBoard, SimGpu};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The longest copy by stores of the simulated GPU: each store goes through the RTL by itself, and takes a hundred
/// cycles.
const PUSHED: u64 = 64 << 10;

/// A board, and a GPU's memory.
pub struct Setup {
    pub(crate) board: Board,
    pub(crate) fpga: Box<dyn Contents>,
    pub(crate) gpu: Option<Gpu>,
    pub(crate) simulated: bool,
    pub(crate) description: String,
}

/// The GPU's memory.
pub(crate) struct Gpu {
    pub(crate) side: Arc<Part>,
    pub(crate) contents: Box<dyn Contents>,
    /// The longest copy by its stores.
    pub(crate) pushed: u64,
}

/// Memory that is filled and looked at outside the measured copies.
pub(crate) trait Contents {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()>;
    fn get(&mut self, at: u64, bytes: &mut [u8]) -> Result<()>;
}

impl Setup {
    /// Takes a board of this computer, and memory of a GPU. Both have room for copies of so many bytes.
    ///
    /// # Errors
    /// Errors of the board and of the GPU, for example that there is not enough FPGA memory.
    pub fn new(device: &Device, gpu: Option<Arc<dyn Side>>, bytes: u64) -> Result<Self> {
        let board = Board::new(device, bytes)?;
        let of_gpu = gpu.as_ref().map(|gpu| gpu.name());
        let gpu = match gpu {
            None => None,
            Some(side) => Some(Gpu {
                contents: Box::new(ByEngine::new(&*side)?),
                side: Arc::new(Part::new(side)),
                pushed: u64::MAX,
            }),
        };
        Ok(Self {
            description: match of_gpu {
                Some(gpu) => format!("{} and {gpu}", device.name()),
                None => device.name(),
            },
            fpga: Box::new(ByEngine::new(&board)?),
            board,
            gpu,
            simulated: false,
        })
    }

    /// Makes the simulated board and its GPU. The block's Verilog is compiled, or taken from the cache.
    ///
    /// # Errors
    /// [`Error::Block`] where a tool is missing, and errors of the board.
    pub fn simulated(bytes: u64) -> Result<Self> {
        let library = peerlane_block::library(&peerlane_hdl::Params::default())?;
        let model = library.instance().map_err(|error| Error::Library {
            row: "transfers",
            reason: error.to_string(),
        })?;
        let config = BoardConfig::default();
        let link = crate::run::describe(&config.link);
        let board = SimBoard::new(model, config)?;
        let device = board.drive(&driver::Options::default())?.open()?;
        let ends = Board::new(&device, bytes)?;
        let engine = CopyEngine::default();
        let gpu = SimGpu::new(&board, &device, bytes, engine)?;
        let contents = Box::new(gpu.memory().clone());
        Ok(Self {
            fpga: Box::new(BehindItsBack {
                board,
                base: ends.memory().start,
            }),
            description: format!(
                "the simulated board on a modelled {link}, and a GPU whose copy engine moves {:.0} GB/s after {:.0} µs",
                engine.rate / 1e9,
                engine.latency_ns / 1e3
            ),
            board: ends,
            gpu: Some(Gpu {
                side: Arc::new(Part::new(Arc::new(gpu))),
                contents,
                pushed: PUSHED,
            }),
            simulated: true,
        })
    }

    /// Returns memory of the host for the board.
    pub(crate) fn host_memory(&self, bytes: u64) -> Result<Memory> {
        let (device, bytes) = (self.board.device(), bytes as usize);
        if self.simulated {
            return Ok(device.memory(MemoryKind::Host, bytes)?);
        }
        // In large pages the board's table has room for much more.
        Ok(Memory::huge(bytes).or_else(|_| device.memory(MemoryKind::Host, bytes))?)
    }
}

impl Contents for Memory {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        Ok(self.write(at as usize, bytes)?)
    }

    fn get(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        Ok(self.read(at as usize, bytes)?)
    }
}

/// FPGA memory of the simulated board. No time passes.
struct BehindItsBack {
    board: SimBoard,
    base: u64,
}

impl Contents for BehindItsBack {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        Ok(self.board.fpga_write(self.base + at, bytes)?)
    }

    fn get(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        Ok(self.board.fpga_read(self.base + at, bytes)?)
    }
}

/// Memory that is reached by its device's own engine.
struct ByEngine {
    staging: Memory,
    engine: Box<dyn Engine>,
}

/// Bytes of one piece of a copy.
const STAGED: usize = 4 << 20;

/// How long a piece may take.
const PATIENCE: Duration = Duration::from_secs(10);

impl ByEngine {
    fn new(side: &dyn Side) -> Result<Self> {
        let staging = match side.staging(STAGED)? {
            Some(staging) => staging.memory,
            None => Memory::new(STAGED)?,
        };
        Ok(Self {
            engine: side.attach(&staging)?,
            staging,
        })
    }

    fn one(&mut self, way: Way, at: u64, length: usize) -> Result<()> {
        let mut pending = self.engine.begin(Piece {
            way,
            at,
            staged: 0,
            length: length as u64,
        })?;
        match pending.wait(PATIENCE)? {
            true => Ok(()),
            false => Err(Error::Late {
                bytes: length as u64,
                limit: PATIENCE,
            }),
        }
    }
}

impl Contents for ByEngine {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        for (number, part) in bytes.chunks(STAGED).enumerate() {
            self.staging.write(0, part)?;
            self.one(Way::In, at + (number * STAGED) as u64, part.len())?;
        }
        Ok(())
    }

    fn get(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        for (number, part) in bytes.chunks_mut(STAGED).enumerate() {
            self.one(Way::Out, at + (number * STAGED) as u64, part.len())?;
            self.staging.read(0, part)?;
        }
        Ok(())
    }
}

/// The first bytes of a side's memory, as if it had no more: the memory registered for a copy is as long as the copy.
pub(crate) struct Part {
    whole: Arc<dyn Side>,
    length: AtomicU64,
}

impl Part {
    fn new(whole: Arc<dyn Side>) -> Self {
        Self {
            length: AtomicU64::new(whole.length()),
            whole,
        }
    }

    /// Sets how many bytes it has.
    pub(crate) fn resize(&self, bytes: u64) {
        self.length.store(bytes, Ordering::Relaxed);
    }
}

impl Side for Part {
    fn length(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    // All other functions are the side's.
    fn name(&self) -> String {
        self.whole.name()
    }
    fn staging(&self, bytes: usize) -> peerlane_routes::Result<Option<Staging>> {
        self.whole.staging(bytes)
    }
    fn attach(&self, staging: &Memory) -> peerlane_routes::Result<Box<dyn Engine>> {
        self.whole.attach(staging)
    }
    fn another(&self, bytes: u64) -> peerlane_routes::Result<Box<dyn Side>> {
        self.whole.another(bytes)
    }
    fn turns(&self) -> Option<Turns> {
        self.whole.turns()
    }
    fn reach(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> peerlane_routes::Result<Reach> {
        self.whole.reach(device, range, permissions)
    }
    fn residence(&self) -> Residence {
        self.whole.residence()
    }
    fn arrived(&self) -> peerlane_routes::Result<()> {
        self.whole.arrived()
    }
    fn pusher(&self, device: &Device) -> peerlane_routes::Result<Box<dyn Push>> {
        self.whole.pusher(device)
    }
}
