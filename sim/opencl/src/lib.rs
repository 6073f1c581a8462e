//! Models of the OpenCL side of a board: what an OpenCL BSP puts beside its DMA block.
//!
//! Nothing here is the vendor's logic. Each module says which document, or which public software for such
//! boards, it follows, and what it assumes where none says anything.
//!
//! - [`Cra`]: the interrupt registers of the PCIe hard IP, which make messages of interrupt lines.
//! - [`OpenClSide`]: the parts of one board, at their offsets in its BAR.
//!
//! Time is counted in cycles of one clock, whichever the caller has.

mod cra;
mod side;

pub use cra::Cra;
pub use side::{Accesses, Offsets, OpenClSide, Part};
