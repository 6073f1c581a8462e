//! Runs the unchanged examples that need a GPU, with the simulated board.

use crate::Bench;
use crate::board::{Peer, library};
use crate::carrier::Carried;
use anyhow::Result;
use peerlane_gpu::GpuQueue;
use peerlane_host::driver::Options;
use peerlane_host::{Device, MemoryKind, Permissions, Region};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use std::sync::Arc;

#[path = "../../../examples/03-acquisition/acquisition.rs"]
mod acquisition;
#[path = "../../../examples/07-cuda-graph/cuda_graph.rs"]
mod cuda_graph;
#[path = "../../../examples/04-inference-feed/inference_feed.rs"]
mod inference_feed;

fn board(bench: &Bench<'_>) -> Result<SimBoard> {
    Ok(SimBoard::new(
        library(bench)?.instance()?,
        BoardConfig::default(),
    )?)
}

/// The real GPU's ring, which the simulated board finds at the simulated GPU's BAR.
struct AtTheBar {
    ring: acquisition::cuda::OnGpu,
    region: Region,
}

impl acquisition::Ring for AtTheBar {
    fn region(&self) -> (Region, u64) {
        (self.region.clone(), 0)
    }

    fn hits(&mut self, at: u64) -> Result<u32> {
        self.ring.hits(at)
    }
}

/// Checks that the simulated board writes into the GPU's memory, and that a kernel on the GPU counts.
pub fn acquisition(bench: &Bench<'_>) -> Result<String> {
    let board = board(bench)?;
    let ring = acquisition::cuda::OnGpu::new(&bench.context)?;
    let buffer = Arc::clone(&ring.buffer);
    board.with(|board| board.gpu_mut().replace(Arc::new(Peer(Arc::clone(&buffer)))));
    let device = board.drive(&Options::default())?.open()?;
    let memory = device.memory(MemoryKind::Gpu, buffer.length() as usize)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    acquisition::run(&device, &mut AtTheBar { ring, region })?;
    Ok("a kernel found the hits in each block that the board wrote".into())
}

/// Checks the batches through the host, because the board does not reach a GPU's memory here.
pub fn inference_feed(bench: &Bench<'_>) -> Result<String> {
    let device = board(bench)?.drive(&Options::default())?.open()?;
    let mut maker = inference_feed::cuda::OnGpu::new(&bench.context)?;
    inference_feed::run(&device, &mut maker)?;
    Ok("batches that a kernel made are in FPGA memory, by way of the host".into())
}

/// Checks a kernel and two transfers as one graph.
pub fn cuda_graph(bench: &Bench<'_>) -> Result<String> {
    let bytes = cuda_graph::BYTES;
    let board = board(bench)?;
    let buffer = Arc::new(bench.gpu.plain_buffer(2 * bytes)?);
    board.with(|board| board.gpu_mut().replace(Arc::new(Peer(Arc::clone(&buffer)))));
    let carried = Carried::new(board.drive(&Options::default())?.context()?);
    let device = Device::over(carried.clone())?;
    let fpga = device.allocate(bytes)?;
    let memory = device.memory(MemoryKind::Gpu, 2 * bytes as usize)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    let queue = GpuQueue::new(&bench.gpu, &device)?;
    let carrier = carried.carry();
    let place = cuda_graph::Place {
        buffer: &buffer,
        region: &region,
        offset: 0,
        fpga: fpga.base(),
    };
    cuda_graph::run(&bench.context, &queue, &place)?;
    drop(queue);
    let bells = carrier.stop()?;
    Ok(format!("a graph launched three times, {bells} doorbells"))
}
