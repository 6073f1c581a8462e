//! 08: a kernel starts transfers by itself (`kernel.cu`): it writes descriptors into the channel's page, rings the
//! doorbell and looks at the completion ring. The host makes the queue, gives the kernel the addresses of the memory,
//! and waits for the kernel's end. The host's part is in Rust only: C and Python have no call that hands a channel to a
//! GPU.
//!
//! ```text
//! nvcc -arch=compute_75 -ptx -I host/gpu/include -I driver/uapi -o kernel.ptx examples/08-gpu-kernel/kernel.cu
//! cargo run -p peerlane-gpu --example gpu_kernel kernel.ptx
//! ```
//!
//! This takes a GPU of NVIDIA's from Volta on, and the right to map the board's registers into CUDA
//! (docs/program/gpu.md, "Requirements").

use anyhow::{Context as _, Result, ensure};
use peerlane_gpu::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use peerlane_gpu::cudarc::nvrtc::Ptx;
use peerlane_gpu::{Gpu, GpuBuffer, GpuQueue};
use peerlane_host::{Device, Permissions};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that are moved. The GPU's memory has room for them twice.
pub const BYTES: u64 = 64 << 10;

/// Transfers of each direction.
pub const PIECES: u32 = 8;

/// Longest time that the kernel waits for one transfer.
const LIMIT: Duration = Duration::from_secs(20);

/// Where memory lies.
pub struct Place<'a> {
    /// Twice [`BYTES`] of the GPU's memory: the bytes that are read, then the bytes that are written.
    pub buffer: &'a GpuBuffer,
    /// Address of the buffer's beginning for the board: `GpuRegion::att_address`.
    pub peer: u64,
    /// [`BYTES`] of FPGA memory.
    pub fpga: u64,
}

/// Runs the example with a queue that the GPU has, and the kernel as PTX.
pub fn run(
    context: &Arc<CudaContext>,
    queue: &GpuQueue,
    place: &Place<'_>,
    ptx: &Path,
) -> Result<()> {
    let data: Vec<u8> = (0..BYTES as u32 / 4)
        .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    place.buffer.write(0, &data)?;
    let module = context.load_module(Ptx::from_file(ptx))?;
    let both_ways = module.load_function("both_ways")?;
    let result = place.buffer.gpu().plain_buffer(8)?;

    let (state, counts) = (queue.address(), result.address());
    let (input, output) = (place.peer, place.peer + BYTES);
    let (piece, limit) = (BYTES as u32 / PIECES, LIMIT.as_nanos() as u64);
    // Not the default stream, which waits for other streams.
    let stream = context.new_stream()?;
    let mut launch = stream.launch_builder(&both_ways);
    launch.arg(&state).arg(&input).arg(&output).arg(&place.fpga);
    launch.arg(&piece).arg(&PIECES).arg(&limit).arg(&counts);
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (32, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the arguments are the kernel's, and all they point to lives until the stream is synchronised.
    unsafe { launch.launch(config) }?;
    stream.synchronize()?;

    let mut bytes = [0; 8];
    result.read(0, &mut bytes)?;
    let (words, _) = bytes.as_chunks::<4>();
    let [ended, failed] = [0, 1].map(|index| u32::from_le_bytes(words[index]));
    ensure!(
        failed == 0 && ended == 2 * PIECES,
        "{ended} transfers have ended, and {failed} of them failed"
    );
    let mut found = vec![0; BYTES as usize];
    place.buffer.read(BYTES, &mut found)?;
    ensure!(found == data, "other bytes came back");
    println!("{ended} transfers of {} KiB by a kernel", piece >> 10);
    Ok(())
}

#[allow(
    dead_code,
    reason = "a check runs the example with the simulated board"
)]
fn main() -> Result<()> {
    on_gpu().map_err(|error| {
        // The text of the error does not include its hint.
        let board = error.downcast_ref().map(peerlane_host::Error::hint);
        let gpu = error.downcast_ref().map(peerlane_gpu::Error::hint);
        match board.or(gpu) {
            Some(hint) => error.context(hint),
            None => error,
        }
    })
}

fn on_gpu() -> Result<()> {
    let ptx = std::env::args_os().nth(1);
    let ptx = ptx.context("name the kernel's PTX, which nvcc makes of kernel.cu")?;
    let device = Device::first()?;
    let fpga = device.allocate(BYTES)?;
    // The library is asked first: where there is no CUDA, `CudaContext` panics.
    Gpu::open(0)?;
    let context = CudaContext::new(0)?;
    let gpu = Gpu::over(Arc::clone(&context))?;
    let buffer = gpu.buffer(2 * BYTES)?;
    // The board may also read the memory that it writes, so that a record says that data have arrived.
    let region = buffer.register(&device, 0..2 * BYTES, Permissions::ReadWrite)?;
    // The region stays registered while the kernel runs.
    let _held = region.pages().hold()?;
    let queue = GpuQueue::new(&gpu, &device)?;
    let place = Place {
        buffer: &buffer,
        peer: region.att_address().raw(),
        fpga: fpga.base(),
    };
    run(&context, &queue, &place, Path::new(&ptx))
}
