//! Moves data between an FPGA board and the memory of a GPU or the host.
//!
//! ```no_run
//! use peerlane_host::{Device, MemoryKind, Permissions};
//! use std::time::Duration;
//!
//! # fn main() -> peerlane_host::Result<()> {
//! let device = Device::first()?;
//! // FPGA memory of our own, for as long as this value lives. It has to be there before the queue.
//! let fpga = device.allocate(1 << 20)?;
//! let queue = device.queue()?;
//! let memory = device.memory(MemoryKind::Host, 1 << 20)?;
//! memory.write(0, b"some data")?;
//! let region = device.register_all(&memory, Permissions::ReadWrite)?;
//! // From the host to the FPGA. Any alignment and length will do.
//! let transfer = queue.to_fpga(region.part(0..1 << 20), fpga.base())?;
//! match transfer.wait(Duration::from_secs(1)) {
//!     Ok(bytes) => println!("{bytes} bytes moved"),
//!     // The text describes the failure, and the hint a way to fix the cause.
//!     Err(error) => println!("{error}. {}", error.hint()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Two whole programs are in `host/examples`. Without a board, a program can use the simulated board: the crate
//! `peerlane-simulated`, in `host/simulated`.
//!
//! A [`Device`] is a context of a board, with a channel of its own: one open `/dev/peerlane*`, or one of any other
//! driver that implements [`Context`]. Memory that the board must reach is registered and becomes a [`Region`]; the
//! FPGA's own memory is [allocated](Device::allocate). There are two ways to move data:
//!
//! * The *fast path*: a [`Queue`] has the channel's page and its completion ring. The library writes descriptors and
//!   doorbells itself, and finds a record that is already there without a system call. Transfers have any size, and can
//!   be chained or urgent. A device has one queue, and no slow path from then on.
//! * The *slow path*: [`Device::submit`] hands one descriptor to the kernel, which writes it to the board;
//!   [`Submitted::wait`] waits. This takes two system calls a descriptor.
//!
//! For small amounts of data, the processor itself can store and load: [`Device::window`] is the board's window into
//! FPGA memory.
//!
//! [`Device::open_cl`] has the other parts of an OpenCL BSP, kernels and their clock, for the one program that runs
//! kernels.
//!
//! "Write" is FPGA to peer, "read" is peer to FPGA, as everywhere in Peerlane. (For a [`Memory`] or a [`Window`], the
//! words mean the processor's own writing and reading.) The library starts no thread; all handles can be sent to and
//! used from several threads. [`Context`] and [`peerlane_core::uapi`] document the promises of a driver.
//!
//! These calls block: [`Device::allocate`] while the board fills the memory, [`Device::register`] while the driver pins
//! and maps, [`Region::forget`], [`Device::stop`] and [`Queue::restart`] for as long as the board needs, and calls that
//! wait by their name. Submitting never waits for the board.
//!
//! The library also exports error numbers and the structures of the driver's interface:
//!
//! ```no_run
//! use peerlane_host::peerlane_core::uapi::feature;
//! use peerlane_host::{Device, Errno, Error};
//!
//! match Device::open("/dev/peerlane0") {
//!     Ok(device) => println!("a window: {}", device.has(feature::WINDOW)),
//!     Err(Error::Open { source: Errno::BUSY, .. }) => println!("all channels are taken"),
//!     Err(error) => println!("{error}. {}", error.hint()),
//! }
//! ```

mod bounds;
pub mod cache;
mod context;
mod copy;
mod deadline;
mod device;
pub mod driver;
mod ends;
mod error;
mod flow;
mod fpga_memory;
mod kernel;
mod list;
mod lock_free;
mod mapping;
mod memory;
mod memory_kind;
mod open;
mod opencl;
mod pages;
mod queue;
mod region;
mod request;
mod ring;
mod status;
mod stream;
mod submitted;
mod sync;
mod sys;
mod terms;
pub mod vfio;
mod window;
pub mod words;

pub use context::{BoardWindow, Context, RawChannel, SlowPath};
pub use copy::{CopyOptions, Copying};
pub use deadline::deadline;
pub use device::Device;
pub use ends::Patch;
pub use error::{Error, Result};
pub use fpga_memory::{FpgaMemory, Offer};
pub use list::TransferList;
pub use mapping::Mapping;
pub use memory::{Memory, MemoryKind, Place};
pub use opencl::{Area, OpenCl, Packing};
pub use pages::{Pages, widen};
pub use peerlane_core;
pub use peerlane_core::att::Permissions;
pub use peerlane_core::channel::Moderation;
pub use peerlane_core::descriptor::Direction;
pub use peerlane_core::fault::Fault;
pub use peerlane_core::streams::Status as StreamState;
pub use queue::{Ended, Mark, Queue, Statistics, Transfer};
pub use region::{HeldRegion, Part, Region};
pub use request::Request;
pub use ring::{Block, Ring, Slots};
pub use rustix::io::Errno;
pub use stream::{Course, Stream, Turn};
pub use submitted::Submitted;
pub use sys::Process;
pub use terms::Terms;
pub use window::Window;
