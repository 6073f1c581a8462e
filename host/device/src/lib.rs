//! The kernel driver's devices, `/dev/peerlane*`, as a library.
//!
//! A [`Device`] is one open file: a context with a channel of its own. Memory that the board
//! is to reach is registered and becomes a [`Region`]; memory of the FPGA's own is
//! [allocated](Device::allocate). Then there are two ways to move data:
//!
//! * The *slow path*: [`Device::submit`] hands one descriptor to the kernel, which writes it
//!   to the board; [`Submitted::wait`] waits. Two system calls a descriptor.
//! * The *fast path*: a [`Queue`] maps the channel's page and its completion ring. Descriptors
//!   and doorbells are written from here, and a record that is already there is found without
//!   a system call. A device has one queue, and no slow path from then on.
//!
//! Little data can be stored and loaded by the processor itself: [`Device::window`] is the
//! board's window into FPGA memory.
//!
//! What the driver promises is written at [`peerlane_core::uapi`].

mod device;
mod error;
mod flow;
mod fpga_memory;
mod mapping;
mod memory;
mod queue;
mod region;
mod submitted;
mod sys;
mod window;

pub use device::Device;
pub use error::{Error, Result};
pub use fpga_memory::{FpgaMemory, Offer};
pub use memory::Memory;
pub use peerlane_core::att::Permissions;
pub use peerlane_core::descriptor::Direction;
pub use queue::{Queue, Statistics, TransferId};
pub use region::Region;
pub use submitted::{Submitted, Terms, deadline};
pub use window::Window;
