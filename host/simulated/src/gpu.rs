//! The simulated board's GPU as an end of routes: a mock of a GPU with its copy engine.

use crate::SimBoard;
use peerlane_core::regs::csr;
use peerlane_host::{Device, Memory, MemoryKind, Permissions};
use peerlane_routes::{Engine, Error, Pending, Piece, Push, Reach, Residence, Result, Side, Way};
use peerlane_sim::Space;
use std::ops::Range;
use std::time::Duration;

/// Speed of the mock's copy engine: between the GPU's memory and the host's, and to the board's window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CopyEngine {
    /// Nanoseconds from the call to the first byte, in the board's time.
    pub latency_ns: f64,
    /// Bytes a second after that.
    pub rate: f64,
}

impl Default for CopyEngine {
    /// Assumes a present-day GPU on a link of its own. Nothing here depends on these values.
    fn default() -> Self {
        Self {
            latency_ns: 6_000.0,
            rate: 12e9,
        }
    }
}

/// Memory of the simulated board's GPU. Clones are the same memory.
///
/// The model's GPU has memory, a BAR, and nothing else. This adds the functions of a GPU's driver: copies to and from
/// the host's memory, which take the time of a [`CopyEngine`], and copies to the board's window. The block's own RTL
/// takes each store of the latter. The effects of the [`Platform`](crate::Platform) on accesses of board and GPU are
/// visible here.
#[derive(Debug, Clone)]
pub struct SimGpu {
    board: SimBoard,
    device: Device,
    memory: Memory,
    engine: CopyEngine,
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::side("the simulated GPU", error)
}

impl SimGpu {
    /// Allocates memory of the GPU, for the board and one of its devices.
    ///
    /// # Errors
    /// As [`Device::memory`].
    pub fn new(board: &SimBoard, device: &Device, bytes: u64, engine: CopyEngine) -> Result<Self> {
        Ok(Self {
            board: board.clone(),
            device: device.clone(),
            memory: device.memory(MemoryKind::Gpu, bytes as usize)?,
            engine,
        })
    }

    /// Makes `reset` reset the board in the middle of the next push. The GPU's later stores are lost, as on a board
    /// whose BAR takes no stores at that time, and the GPU gets no error.
    pub fn reset_in_push(&self, reset: impl FnOnce() -> Result<()> + Send + 'static) {
        self.board.lock().reset_in_push = Some(Box::new(reset));
    }

    /// Returns the memory, as the GPU sees it.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Side for SimGpu {
    fn name(&self) -> String {
        "the simulated GPU".into()
    }

    fn length(&self) -> u64 {
        self.memory.length() as u64
    }

    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>> {
        Ok(Box::new(Copies {
            gpu: self.clone(),
            staging: staging.clone(),
            free: 0.0,
        }))
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        let another = Self::new(&self.board, &self.device, bytes, self.engine)?;
        Ok(Box::new(another))
    }

    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let range = range.start as usize..range.end as usize;
        Ok(Reach {
            region: device.register(&self.memory, range, permissions)?,
            offset: 0,
        })
    }

    fn residence(&self) -> Residence {
        match self.board.lies(&self.memory) {
            Some(MemoryKind::Gpu) => Residence::Device,
            Some(MemoryKind::Host) => Residence::Host,
            None => Residence::Unknown,
        }
    }

    fn pusher(&self, device: &Device) -> Result<Box<dyn Push>> {
        // A board has one window, with one holder at a time.
        if std::mem::replace(&mut self.board.lock().window_taken, true) {
            let taken = "another user has the board's window";
            return Err(Error::busy(self.name(), taken, false));
        }
        Ok(Box::new(Stores {
            gpu: self.clone(),
            device: device.clone(),
            base: 0,
        }))
    }
}

/// The copy engine between the GPU's memory and staging memory. It takes one copy after the other.
struct Copies {
    gpu: SimGpu,
    staging: Memory,
    /// Time when its last copy ends, in the board's nanoseconds.
    free: f64,
}

/// A copy of the engine.
struct Copying {
    gpu: SimGpu,
    staging: Memory,
    piece: Piece,
    end: f64,
    ended: bool,
}

impl Engine for Copies {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        let CopyEngine { latency_ns, rate } = self.gpu.engine;
        let now = self.gpu.board.with(|board| board.ns());
        // The latency of one copy passes during the copy before it.
        let begin = (now + latency_ns).max(self.free);
        self.free = begin + piece.length as f64 * 1e9 / rate;
        Ok(Box::new(Copying {
            gpu: self.gpu.clone(),
            staging: self.staging.clone(),
            piece,
            end: self.free,
            ended: false,
        }))
    }
}

impl Pending for Copying {
    fn wait(&mut self, limit: Duration) -> Result<bool> {
        if self.ended {
            return Ok(true);
        }
        let limit = limit.as_nanos() as f64;
        let ended = self.gpu.board.with(|board| {
            let left = self.end - board.ns();
            if left <= 0.0 || limit == 0.0 {
                return Ok(left <= 0.0);
            }
            let period = board.config().pcie_clk_ps as f64 / 1e3;
            board.run((left.min(limit) / period).ceil() as u64)?;
            Ok(board.ns() >= self.end)
        });
        self.ended = ended.map_err(|error: peerlane_sim::Error| failed(error))?;
        if !self.ended {
            return Ok(false);
        }
        // The data move now and not before: an earlier look finds the old data.
        let mut bytes = vec![0; self.piece.length as usize];
        let (at, staged) = (self.piece.at as usize, self.piece.staged as usize);
        match self.piece.way {
            Way::Out => {
                self.gpu.memory.read(at, &mut bytes)?;
                self.staging.write(staged, &bytes)?;
            }
            Way::In => {
                self.staging.read(staged, &mut bytes)?;
                self.gpu.memory.write(at, &bytes)?;
            }
        }
        Ok(true)
    }
}

/// The GPU's stores to the board's window.
struct Stores {
    gpu: SimGpu,
    device: Device,
    base: u64,
}

impl Drop for Stores {
    fn drop(&mut self) {
        self.gpu.board.lock().window_taken = false;
    }
}

impl Push for Stores {
    fn window(&self) -> u64 {
        peerlane_core::window::BYTES
    }

    fn place(&mut self, fpga: u64) -> Result<()> {
        let range = self.device.range();
        if !fpga.is_multiple_of(self.window())
            || fpga < range.start
            || fpga + self.window() > range.end
        {
            return Err(failed(format_args!(
                "the window cannot be placed at {fpga:#x}"
            )));
        }
        self.base = fpga;
        self.gpu
            .board
            .with(|board| {
                let high = csr::WINDOW_HI as u64;
                board.bar_write32(Space::Csr, csr::WINDOW_LO as u64, fpga as u32)?;
                board.bar_write32(Space::Csr, high, (fpga >> 32) as u32)?;
                // A marker that reads as 0 has reached its memory (`peerlane_core::window`).
                for _ in 0..1000 {
                    if board.bar_read32(Space::Csr, high)? == 0 {
                        return Ok(());
                    }
                }
                Ok::<_, peerlane_sim::Error>(())
            })
            .map_err(failed)
    }

    fn push(&mut self, from: u64, to: u64, length: u64) -> Result<()> {
        let CopyEngine { latency_ns, .. } = self.gpu.engine;
        let mut bytes = vec![0; length as usize];
        self.gpu.memory.read(from as usize, &mut bytes)?;
        let reset = self.gpu.board.lock().reset_in_push.take();
        if let Some(reset) = reset {
            // A GPU gets no error: the first half came before the outage, the other half is lost.
            bytes.truncate(bytes.len() / 2);
            reset()?;
        }
        self.gpu
            .board
            .with(|board| {
                let period = board.config().pcie_clk_ps as f64 / 1e3;
                board.run((latency_ns / period) as u64)?;
                board.window_write(to, &bytes)
            })
            .map_err(failed)
    }

    fn settle(&mut self, _: Duration) -> Result<bool> {
        let read = |board: &mut peerlane_sim::Board| board.window_read(0, &mut [0]);
        self.gpu.board.with(read).map_err(failed)?;
        Ok(true)
    }
}
