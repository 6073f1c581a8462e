//! The functions of a board that the FPGA runtime for OpenCL needs, for boards with the Peerlane block: the logic of
//! the MMD libraries ("memory mapped device"), without their symbols.
//!
//! The interface is the runtime's `aocl_mmd.h`, with the runtime's own use of it (intel/fpga-runtime-for-opencl,
//! v2025.0). [`export!`] makes the symbols of a library from a [`Flavour`] and a source of [boards](Boards); `mmd` and
//! `mmd/legacy` are the two libraries. They are separate libraries because the runtime takes an MMD whose symbols an
//! application is linked with for its only one.
//!
//! # Threads
//! The runtime calls from the application's threads, under a lock of its own; from the thread in which an
//! interrupt handler runs it reads and writes kernels' registers without that lock. A board has three threads
//! of ours: for transfers to the host, for transfers to the board, and for the kernels' interrupt. All
//! signals are blocked in them. They live until the board is closed, or as long as the process.
//!
//! # Memory of other devices
//! The libraries also have the functions of `peerlane_ext.h`: programs copy between buffers and a GPU's memory. These
//! functions are called without the runtime's lock, and call OpenCL's themselves, which they find in the process.
//! Copies in the background have threads of their own. No thread waits for these while it may hold the runtime's lock.
//! lock may be held.
//!
//! # Errors
//! There is no way to report a failed transfer to OpenCL: a status below 0 is an assertion of the runtime. So a
//! transfer is tried again, and finally the process is ended with a message on standard error. The same holds for an
//! access to registers, whose status the runtime does not check. The functions of `peerlane_ext.h` return codes, and
//! print details on standard error.

mod abi;
mod board;
mod boards;
mod code;
mod compatible;
mod dma;
mod end;
mod events;
mod files;
mod handlers;
#[cfg(test)]
mod handlers_tests;
mod home;
mod host;
mod info;
mod messages;
mod ops;
mod owner;
mod pcie;
mod peer;
mod program;
mod registers;
mod resets;
mod rom;
#[cfg(test)]
mod stub;
mod sync;
mod threads;

pub use abi::{Events, Mmd};
pub use board::{CLOCK, KERNELS, MEMORY};
pub use boards::{Boards, Found, Nodes};
pub use code::{ERRORS, ErrorCode};
pub use handlers::{DeviceHandler, InterruptHandler, StatusHandler};
pub use info::Flavour;
pub use pcie::CvpOrJtag;
pub use peer::{
    Find, Lookup, Notify, Process, cl_bool, cl_device_id, cl_event, cl_int, cl_mem, cl_mem_flags,
    cl_peer_memory_peerlane, cl_uint, cl_ulong,
};
pub use peerlane_host::{Direction, OpenCl};
pub use program::{JTAG_CABLE, JTAG_DEVICE, Jtag, Programmer, board_settings, quartus_tool};
