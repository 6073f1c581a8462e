//! 07: a CUDA graph with transfers in it. A kernel adds one to each word, the board fetches the words and stores them
//! elsewhere in the GPU's memory: three nodes, launched again and again, and the host takes no part.
//!
//! ```text
//! cargo run -p peerlane-gpu --example cuda_graph
//! ```
//!
//! This takes a GPU of NVIDIA's, and the right to map the board's registers into CUDA
//! (docs/program/gpu.md, "Requirements").

use anyhow::{Context as _, Result, ensure};
use peerlane_gpu::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg, sys};
use peerlane_gpu::cudarc::nvrtc::Ptx;
use peerlane_gpu::{Gpu, GpuBuffer, GpuQueue};
use peerlane_host::{Device, Direction, Permissions, Region, Request};
use std::sync::Arc;
use std::time::Duration;

/// Bytes that are moved. The GPU's memory has room for them twice.
pub const BYTES: u64 = 64 << 10;

const LAUNCHES: u32 = 3;

/// Longest time that the GPU waits for one transfer.
const LIMIT: Duration = Duration::from_secs(20);

/// Adds one to each word, a word a thread.
const KERNEL: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .entry add_one(.param .u64 place)
{
    .reg .b32 %r<6>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [place];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %d2, %r4, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.u32 %r5, [%d3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%d3], %r5;
    ret;
}
";

/// Memory of the words: its region at the board, and its place in the FPGA's memory.
pub struct Place<'a> {
    /// Twice [`BYTES`] of the GPU's memory.
    pub buffer: &'a GpuBuffer,
    /// The region of the buffer at the board.
    pub region: &'a Region,
    /// Offset in the region where the buffer begins.
    pub offset: u64,
    /// [`BYTES`] of FPGA memory.
    pub fpga: u64,
}

/// Runs the example with a queue that the GPU has.
pub fn run(context: &Arc<CudaContext>, queue: &GpuQueue, place: &Place<'_>) -> Result<()> {
    let words: Vec<u8> = (0..BYTES as u32 / 4)
        .flat_map(|i| i.wrapping_mul(3).to_le_bytes())
        .collect();
    place.buffer.write(0, &words)?;
    let step = |direction, half: u64| Request {
        direction,
        region: place.region,
        offset: place.offset + half,
        fpga_address: place.fpga,
        length: BYTES,
        piece: None,
    };

    let add_one = context
        .load_module(Ptx::from_src(KERNEL))?
        .load_function("add_one")?;
    let stream = context.new_stream()?;
    let config = LaunchConfig {
        grid_dim: (BYTES as u32 / 4 / 256, 1, 1),
        block_dim: (256, 1, 1),
        shared_mem_bytes: 0,
    };
    let address = place.buffer.address();
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    // SAFETY: the argument is the kernel's, and its words lie in the buffer.
    unsafe { stream.launch_builder(&add_one).arg(&address).launch(config) }?;
    // SAFETY: the graph is dropped before the queue, at the end of this function.
    unsafe {
        queue.capture(&stream, &step(Direction::ToFpga, 0), LIMIT)?;
        queue.capture(&stream, &step(Direction::FromFpga, BYTES), LIMIT)?;
    }
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags)?.context("the graph is empty")?;

    for launch in 1..=LAUNCHES {
        graph.launch()?;
        stream.synchronize()?;
        queue.outcome()?;
        let expected: Vec<u8> = (0..BYTES as u32 / 4)
            .flat_map(|i| (i.wrapping_mul(3) + launch).to_le_bytes())
            .collect();
        let mut found = vec![0; BYTES as usize];
        place.buffer.read(BYTES, &mut found)?;
        ensure!(found == expected, "launch {launch} left other words");
    }
    println!(
        "{LAUNCHES} launches of a kernel and two transfers of {} KiB",
        BYTES >> 10
    );
    Ok(())
}

#[allow(
    dead_code,
    reason = "a check runs the example with the simulated board"
)]
fn main() -> Result<()> {
    on_gpu().map_err(with_hint)
}

/// Adds the hint of the error's library in front of an error: the text of the error does not include it.
pub fn with_hint(error: anyhow::Error) -> anyhow::Error {
    let board = error.downcast_ref().map(peerlane_host::Error::hint);
    let gpu = error.downcast_ref().map(peerlane_gpu::Error::hint);
    match board.or(gpu) {
        Some(hint) => error.context(hint),
        None => error,
    }
}

fn on_gpu() -> Result<()> {
    let device = Device::first()?;
    let fpga = device.allocate(BYTES)?;
    // The library is asked first: where there is no CUDA, `CudaContext` panics.
    Gpu::open(0)?;
    let context = CudaContext::new(0)?;
    let gpu = Gpu::over(Arc::clone(&context))?;
    let buffer = gpu.buffer(2 * BYTES)?;
    let region = buffer.register(&device, 0..2 * BYTES, Permissions::ReadWrite)?;
    let queue = GpuQueue::new(&gpu, &device)?;
    let place = Place {
        buffer: &buffer,
        region: region.pages(),
        offset: region.offset(),
        fpga: fpga.base(),
    };
    run(&context, &queue, &place)
}
