//! GPU memory for Peerlane.
//!
//! - [`Gpu`] is a GPU of NVIDIA's by CUDA's driver, which is looked for at run time. [`GpuBuffer`] is memory of
//!   it that boards reach, and [`GpuRegion`] such memory registered at a board.
//! - [`GpuQueue`] hands a board's channel to the GPU: transfers in a stream's order and in graphs, and transfers that a
//!   kernel of the program's own starts (`include/peerlane_gpu.h`).
//! - [`GpuMemory`] is a buffer as an end of routes (`peerlane_routes`): direct ones, and those through the host.
//! - [`amd`] is for GPUs of AMD's by ROCm, and [`directgma`] for those by an extension of AMD's OpenCL that older
//!   drivers have. Neither was verified on hardware.
//! - [`opencl`] makes an OpenCL buffer of a [`GpuBuffer`]: kernels of OpenCL and the board use the same bytes.
//!
//! ```no_run
//! use peerlane_gpu::{Gpu, Readers};
//! use peerlane_host::{Device, Permissions};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::first()?;
//! let fpga = device.allocate(1 << 20)?;
//! let queue = device.queue()?;
//!
//! let gpu = Gpu::open(0)?;
//! let buffer = gpu.buffer(1 << 20)?;
//! let region = buffer.register(&device, 0..1 << 20, Permissions::ReadWrite)?;
//! let transfer = queue.from_fpga(fpga.base(), &region)?;
//! transfer.wait(Duration::from_secs(1))?;
//! // Kernels that are launched from now on, and those that run, see the bytes.
//! gpu.flush(Readers::Context)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//!
//! The end of a transfer says that its data are in the GPU's memory: the board has flushed its writes
//! ([`Permissions::ReadWrite`](peerlane_host::Permissions)). Whether a kernel that runs at that time sees them depends
//! on the GPU; [`Gpu::flush`] makes them visible where the GPU does not do so by itself. A kernel that is launched
//! after the end of the transfer needs no flush (CUDA Driver API, "GPUDirect RDMA",
//! `CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTIONS`).

pub mod amd;
mod cuda;
pub mod directgma;
mod error;
pub mod opencl;
mod patch;
mod queue;
mod region;
mod side;
#[cfg(test)]
mod standin;
mod window;

/// A board that ends everything at once, of the host library's tests.
#[cfg(test)]
#[allow(dead_code, reason = "those tests use more of it")]
#[path = "../../tests/least/mod.rs"]
mod least;

pub use cuda::{Abilities, DmaBuf, Flush, Gpu, GpuBuffer, Ordering, Readers};
pub use error::{Error, Result};
pub use queue::{GpuQueue, Outcome};
pub use region::GpuRegion;
pub use side::GpuMemory;

/// CUDA's bindings, of the version whose contexts [`Gpu::over`] takes, and whose streams [`GpuQueue::enqueue`] takes.
pub use cudarc;
