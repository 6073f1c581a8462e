//! The block's RTL on the simulated board, with the GPU's own memory as the content of the simulated GPU's BAR.

use crate::Bench;
use crate::cuda::{Kernels, pattern};
use anyhow::{Context, Result, ensure};
use peerlane_gpu::{Gpu, GpuBuffer};
use peerlane_hdl::{Params, TOP};
use peerlane_host::driver::Options;
use peerlane_host::{MemoryKind, Permissions};
use peerlane_sim::{BoardConfig, RealMemory};
use peerlane_simulated::SimBoard;
use peerlane_verilated::Library;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Returns the block, compiled now or found in the cache.
pub fn compile() -> Result<Library> {
    Ok(peerlane_block::library(&Params::default())?)
}

/// Returns the block that the options name.
pub fn library(bench: &Bench<'_>) -> Result<Library> {
    match &bench.options.model {
        Some(file) => Ok(Library::load(file, TOP)?),
        None => compile(),
    }
}

/// Packets that the block sends to the GPU's BAR go to this buffer, by CUDA.
#[derive(Debug)]
pub struct Peer(pub Arc<GpuBuffer>);

impl RealMemory for Peer {
    fn size(&self) -> u64 {
        self.0.length()
    }

    fn read(&self, address: u64, data: &mut [u8]) -> bool {
        self.0.read(address, data).is_ok()
    }

    fn write(&self, address: u64, data: &[u8]) -> bool {
        self.0.write(address, data).is_ok()
    }

    fn clear(&self, address: u64, len: u64) -> bool {
        self.write(address, &vec![0; len as usize])
    }
}

/// Moves memory of both kinds from the GPU to the FPGA's memory and back to another place, and compares it by a kernel
/// on the GPU.
pub fn both_ways(bench: &Bench<'_>) -> Result<String> {
    let library = library(bench)?;
    let length = u64::from(bench.options.mib) << 20;
    let mut found = Vec::new();
    for (name, source, target) in pairs(&bench.gpu, length)? {
        let time = move_both_ways(bench, &library, length, source, target)
            .with_context(|| format!("{name} buffers"))?;
        found.push(format!(
            "{name}: {} MiB each way, data right, {:.0} s of simulation",
            length >> 20,
            time.as_secs_f64()
        ));
    }
    Ok(found.join("; "))
}

type Pair = (&'static str, Arc<GpuBuffer>, Arc<GpuBuffer>);

fn pairs(gpu: &Gpu, length: u64) -> Result<[Pair; 2]> {
    let plain = || gpu.plain_buffer(length).map(Arc::new);
    let shared = || gpu.buffer(length).map(Arc::new);
    Ok([
        ("plain", plain()?, plain()?),
        ("shared", shared()?, shared()?),
    ])
}

fn move_both_ways(
    bench: &Bench<'_>,
    library: &Library,
    length: u64,
    source: Arc<GpuBuffer>,
    target: Arc<GpuBuffer>,
) -> Result<Duration> {
    let begin = Instant::now();
    let limit = Duration::from_secs(60);
    let kernels = Kernels::load(bench)?;
    let board = SimBoard::new(library.instance()?, BoardConfig::default())?;
    let driver = board.drive(&Options::default())?;
    let device = driver.open()?;
    let fpga = device.allocate(length)?;
    let queue = device.queue()?;

    let put = |buffer: &Arc<GpuBuffer>| {
        let peer = Arc::new(Peer(Arc::clone(buffer)));
        board.with(|board| board.gpu_mut().replace(peer));
    };
    // All of the GPU's memory is this one buffer, so a memory of its length begins at its start.
    put(&source);
    let memory = device.memory(MemoryKind::Gpu, length as usize)?;
    kernels.fill(&source, length, 5)?;
    let region = device.register_all(&memory, Permissions::Read)?;
    queue
        .to_fpga(region.part(0..length), fpga.base())?
        .wait(limit)?;
    let mut bytes = vec![0; length as usize];
    board.fpga_read(fpga.base(), &mut bytes)?;
    ensure!(
        bytes == pattern(bytes.len(), 5),
        "GPU to FPGA: FPGA memory holds other bytes"
    );
    // The memory is filled with zeros when it is freed.
    region.forget()?;
    drop(memory);
    ensure!(
        kernels.wrong(&source, length, 5)? > 0,
        "the memory was not released"
    );

    put(&target);
    let memory = device.memory(MemoryKind::Gpu, length as usize)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    queue
        .from_fpga(fpga.base(), region.part(0..length))?
        .wait(limit)?;
    let wrong = kernels.wrong(&target, length, 5)?;
    ensure!(wrong == 0, "FPGA to GPU: a kernel sees {wrong} wrong words");
    Ok(begin.elapsed())
}
