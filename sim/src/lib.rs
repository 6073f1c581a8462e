//! The board without the board: Verilated RTL with PCIe, GPU and DDR models.
//!
//! [`Board`] runs a design with the ports of `peerlane_dma` among models of its surroundings:
//!
//! - the `Txs` port of the Stratix V PCIe hard IP with its bridge ([`bridge`], [`TxsConfig`]), with its contract
//!   checked at every edge ([`Rule`]); or, for a design that has it, the stream port with an ideal adapter
//!   ([`StreamConfig`]); or the hard IP's Avalon-ST interface ([`TlpConfig`], [`hip`]);
//! - the link with the time that every packet takes ([`LinkConfig`]);
//! - host memory and a GPU with its BAR ([`HostMemory`], [`Gpu`], [`Bus`]), with faults on demand;
//! - FPGA memory on three Avalon-MM ports ([`DdrConfig`]);
//! - the host's accesses to the block's slaves ([`Space`]);
//! - on demand, the OpenCL side of the board ([`OpenClSide`], [`Board::attach_opencl`]).
//!
//! Each module names the documents that its models follow, and marks assumptions as such.
//!
//! ```no_run
//! use peerlane_sim::{Board, BoardConfig, Space};
//! use peerlane_verilated::{Build, Toolchain};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let library = Build::new("peerlane_dma")
//!     .file("peerlane_dma.v")?
//!     .model(&Toolchain::open()?)?;
//! let mut board = Board::new(library.instance()?, BoardConfig::default())?;
//! let bus = board.gpu_mut().pin(0, 1 << 20)?;
//! println!("map {:#x}, page at {:#x}", board.bar_read32(Space::Csr, 0)?, bus[0]);
//! board.run(1000)?;
//! println!("{:?}", board.stats());
//! # Ok(())
//! # }
//! ```

mod across;
mod avalon;
mod board;
pub mod bridge;
mod bus;
mod config;
mod ddr;
mod extent;
pub mod hip;
mod interconnect;
mod link;
mod logic;
mod memory;
mod packets;
mod pcie;
mod rng;
mod slaves;
mod space;
mod stats;
mod stream;
mod txs;
mod violation;
mod window;
mod wires;

pub use board::{Board, Side};
pub use bridge::BridgeRates;
pub use bus::{
    Access, Answer, Bus, FaultRule, Hits, MESSAGES, Message, Outside, RangeId, Target, Unsupported,
    WriteFault,
};
pub use config::{
    Backpressure, BarConfig, BarSizes, BoardConfig, DdrConfig, GpuConfig, StreamConfig, TlpConfig,
    TxsConfig,
};
pub use link::{COMPLETION_HEADER_BYTES, FRAMING_BYTES, Generation, LinkConfig};
pub use logic::{Packet, Sink, Source, Word};
pub use memory::{GPU_PAGE, Gpu, HostMemory, Memory, RealMemory};
pub use peerlane_sim_opencl as opencl;
pub use peerlane_sim_opencl::OpenClSide;
pub use space::Space;
pub use stats::{DdrPortStats, Stats, TargetStats, TxsStats};
pub use violation::{Clock, Error, Result, Rule, Violation};
