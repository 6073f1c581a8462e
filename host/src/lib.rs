//! Host library: move data between an FPGA board and the memory of a GPU or the host.
//!
//! A [`Device`] is opened over a [`Backend`]: what stands between this library and
//! the registers of the block. Memory of the host or a GPU becomes a [`Region`] that
//! the board can reach; a [`Queue`] takes transfers in either direction and gives a
//! [`Transfer`] to wait for.
//!
//! The board has several channels. Who needs one only uses [`Device::queue`]. Who wants
//! parts of a program, or of FPGA memory, kept apart takes a [`Channel`] for each: with
//! queues of its own, a range of FPGA memory, and regions that no other channel can use.
//! The board checks that, not this library.
//!
//! "Write" is FPGA to peer, "read" is peer to FPGA, as everywhere in Peerlane.
//!
//! The library starts no thread. A transfer of any size goes on without the CPU as
//! long as its pieces fit the board's queue; the rest is queued while a thread waits
//! for or polls any transfer of the device. All handles can be sent to and used from
//! several threads.

mod backend;
mod board;
mod channel;
mod channels;
mod device;
mod engine;
mod error;
mod flow;
mod memory;
mod resources;
mod sim;
mod transfer;
mod transfers;

pub use backend::{Allocation, Backend, BackendError, FpgaMemory, MemoryId, MemoryKind, Space};
pub use channel::{Channel, ChannelOptions};
pub use device::{Counters, Device, Options, Status};
pub use error::{Error, Result};
pub use memory::{Memory, Region};
pub use peerlane_core::att::{PageSize, Permissions};
pub use peerlane_core::capability::Capabilities;
pub use peerlane_core::channel::Moderation;
pub use peerlane_core::counters::{BlockCounters, ChannelCounters, DirectionCounters};
pub use peerlane_core::descriptor::Direction;
pub use peerlane_core::fault::Fault;
pub use peerlane_core::layout::Segment;
pub use peerlane_core::link::Link;
pub use peerlane_core::owners::Owners;
pub use sim::SimBoard;
pub use transfer::{Queue, Request, Terms, Transfer};
