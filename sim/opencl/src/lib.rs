//! Models of the OpenCL side of a board: the parts that an OpenCL BSP has in addition to its DMA block.
//!
//! The models contain no logic of the vendor. Each module names the document, or the public software for such boards,
//! that it follows, and its assumptions where none defines the behaviour.
//!
//! - [`Cra`]: the interrupt registers of the PCIe hard IP, which make messages of interrupt lines.
//! - The kernel interface, with the text that describes the FPGA's program ([`Rom`], [`Text`]), a software reset, and a
//!   window to the kernels' registers ([`Csr`]).
//! - Kernels that work on the board's memory ([`Memory`]) over many cycles: [`Work`], [`Timing`].
//! - The kernel clock, a PLL that software reconfigures: [`ClockConfig`].
//! - [`Program`]: the program that the FPGA is configured with.
//! - [`Cvp`]: the hard IP's registers by which the FPGA's core is configured over PCIe.
//! - [`OpenClSide`]: all parts of one board, at their offsets in its BAR ([`Offsets`]).
//!
//! Time is counted in cycles of one clock, which can be any clock of the caller's.
//!
//! ```
//! use peerlane_sim_opencl::{Config, Offsets, OpenClSide, Program};
//!
//! let hash = "0123456789abcdef0123456789abcdef01234567";
//! let mut side = OpenClSide::new(Config {
//!     offsets: Offsets::DE5_NET,
//!     program: Some(Program::of_all_kinds("sim_board", hash, 2 << 30)),
//!     ..Config::default()
//! })?;
//! // The kernel interface says where the text about the program is.
//! assert_eq!(side.read(0x4000), Ok(0xA0C0_0001));
//! # Ok::<(), peerlane_sim_opencl::ProgramError>(())
//! ```

mod access;
mod clock;
mod cra;
mod csr;
mod cvp;
mod interface;
mod kernel;
mod memory;
mod program;
mod side;
mod words;

pub use access::Wait;
pub use clock::{ClockConfig, Setting};
pub use cra::Cra;
pub use csr::Csr;
pub use cvp::{Cvp, CvpConfig, CvpFault, CvpRecord, image as cvp_image};
pub use interface::Rom;
pub use kernel::{Kernel, KernelStats, Timing, Work};
pub use memory::Memory;
pub use program::{Program, ProgramError, Text};
pub use side::{Accesses, Config, Contents, Offsets, OpenClSide, Part};
