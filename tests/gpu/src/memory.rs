//! Checks of buffers, their identity, dma-bufs, and the flush.

use crate::Bench;
use crate::cuda::{Kernels, pattern};
use anyhow::{Context, Result, bail, ensure};
use peerlane_gpu::{Error, Gpu, GpuBuffer, Readers};
use peerlane_host::cache::Buffer;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::sync::Arc;
use std::time::Instant;

const MIB: u64 = 1 << 20;

/// Checks the abilities that the GPU offers to other devices.
pub fn abilities(bench: &Bench<'_>) -> Result<String> {
    let abilities = bench.gpu.abilities();
    ensure!(
        abilities.peers,
        "other devices may not access its memory: {abilities:?}"
    );
    // With a context of the program's own it is the same GPU.
    let over = Gpu::over(Arc::clone(&bench.context))?;
    ensure!(
        over.abilities() == abilities && over.bus() == bench.gpu.bus(),
        "over the program's context it is {over:?}"
    );
    // The driver's results have their names.
    match Gpu::open(9999) {
        Err(Error::Cuda {
            code: 101, name, ..
        }) if name == "CUDA_ERROR_INVALID_DEVICE" => {}
        other => bail!("GPU 9999: {other:?}"),
    }
    let yes = |has| if has { "yes" } else { "no" };
    Ok(format!(
        "peers yes, of shared memory {}, dma-bufs {}, shared by descriptor {}, flush by {:?}, in order for {:?}",
        yes(abilities.peers_of_shared),
        yes(abilities.dma_buf),
        yes(abilities.shared),
        abilities.flush,
        abilities.ordering
    ))
}

/// Makes a buffer of each kind, of this length.
fn both(bench: &Bench<'_>, length: u64) -> Result<[(&'static str, GpuBuffer); 2]> {
    Ok([
        ("plain", bench.gpu.plain_buffer(length)?),
        ("shared", bench.gpu.buffer(length)?),
    ])
}

/// Checks that host and kernels see the same bytes in each kind of buffer, and that a new buffer is all zero.
pub fn buffers(bench: &Bench<'_>) -> Result<String> {
    let kernels = Kernels::load(bench)?;
    let mut found = Vec::new();
    for length in [4, 4096, 3 * MIB + 4] {
        for (name, buffer) in both(bench, length)? {
            let mut bytes = vec![0xff; length as usize];
            buffer.read(0, &mut bytes)?;
            ensure!(
                bytes.iter().all(|byte| *byte == 0),
                "a new {name} buffer is not zero"
            );
            buffer.write(0, &pattern(bytes.len(), 1))?;
            ensure!(
                kernels.wrong(&buffer, length, 1)? == 0,
                "{name}: a kernel sees other bytes"
            );
            ensure!(
                kernels.wrong(&buffer, length, 2)? > 0,
                "the comparison finds nothing"
            );
            kernels.fill(&buffer, length, 3)?;
            buffer.read(0, &mut bytes)?;
            ensure!(
                bytes == pattern(bytes.len(), 3),
                "{name}: the host sees other bytes"
            );
            ensure!(
                buffer.write(length, &[0]).is_err()
                    && buffer.read(length - 1, &mut [0; 2]).is_err()
            );
            if length > MIB {
                found.push(format!(
                    "{name} takes {} KiB for {} KiB",
                    buffer.size() >> 10,
                    length.div_ceil(1024)
                ));
            }
        }
    }
    ensure!(bench.gpu.buffer(0).is_err() && bench.gpu.plain_buffer(0).is_err());
    let huge = bench
        .gpu
        .buffer(1 << 50)
        .err()
        .context("a buffer of 1 PiB was made")?;
    found.push(format!("1 PiB: {huge}"));
    Ok(found.join("; "))
}

/// Checks that a buffer at the address of one that was freed has another identity.
pub fn identity(bench: &Bench<'_>) -> Result<String> {
    let mut earlier = Vec::new();
    for _ in 0..64 {
        let buffer = bench.gpu.plain_buffer(4 * MIB)?;
        let (address, identity) = (buffer.address(), buffer.identity()?);
        if let Some((_, before)) = earlier.iter().find(|(at, _)| *at == address) {
            ensure!(
                *before != identity,
                "{address:#x}: identity {identity} twice"
            );
            let key = buffer.cache_key()?;
            ensure!(
                bench.gpu.cache_key(address + 4096)? == key
                    && key != Buffer::cuda(*before).behind(bench.gpu.device() as u64),
                "{key:?} is also the key of another buffer"
            );
            let begin = Instant::now();
            for _ in 0..1000 {
                buffer.cache_key()?;
            }
            let nanoseconds = begin.elapsed().as_nanos() / 1000;
            return Ok(format!(
                "address {address:#x} again: identity {before}, then {identity}; a query takes {nanoseconds} ns"
            ));
        }
        earlier.push((address, identity));
    }
    Ok("no address was used again in 64 buffers".into())
}

/// Checks ranges as dma-bufs: each has the length that it reports, with the range inside, in the GPU's own pages.
pub fn dma_bufs(bench: &Bench<'_>) -> Result<String> {
    if !bench.gpu.abilities().dma_buf {
        return Ok("the GPU's driver supports no dma-bufs".into());
    }
    let mut found = Vec::new();
    for (name, buffer) in both(bench, 64 * MIB)? {
        for range in [
            0..64 * MIB,
            0..1,
            5 * MIB + 12..5 * MIB + 20,
            64 * MIB - 1..64 * MIB,
        ] {
            let dmabuf = buffer.export(range.clone())?;
            let length = range.end - range.start;
            ensure!(
                dmabuf.offset + length <= dmabuf.length,
                "{name}: {range:?} is not inside of {dmabuf:?}"
            );
            ensure!(
                (buffer.address() + range.start - dmabuf.offset).is_multiple_of(2 * MIB),
                "{name}: {range:?} does not begin at a page of 2 MiB"
            );
            let size = File::from(dmabuf.file).seek(SeekFrom::End(0))?;
            ensure!(
                size == dmabuf.length,
                "{name}: {range:?} has {size} bytes, not {}",
                dmabuf.length
            );
        }
        ensure!(buffer.export(64 * MIB..64 * MIB + 1).is_err() && buffer.export(1..1).is_err());
        let mut times: Vec<_> = Vec::new();
        for _ in 0..100 {
            let begin = Instant::now();
            let dmabuf = buffer.export(0..64 * MIB)?;
            times.push(begin.elapsed());
            drop(dmabuf);
        }
        times.sort_unstable();
        found.push(format!(
            "{name}: {:.1} µs for 64 MiB",
            times[50].as_secs_f64() * 1e6
        ));
    }
    // Memory of OpenCL, or at an unknown address, does not belong to CUDA.
    // SAFETY: nothing is exported, or the check fails.
    let nobody = unsafe { bench.gpu.export_address(0x1000, 4096) };
    match nobody {
        Ok(_) => bail!("memory without an owner was exported"),
        Err(error) => found.push(format!("memory without an owner: {error}")),
    }
    Ok(found.join("; "))
}

/// Checks the flush, for both kinds of readers.
pub fn flush(bench: &Bench<'_>) -> Result<String> {
    let mut found = Vec::new();
    for readers in [Readers::Context, Readers::AllGpus] {
        let mut times = Vec::new();
        for _ in 0..1000 {
            let begin = Instant::now();
            bench.gpu.flush(readers)?;
            times.push(begin.elapsed());
        }
        times.sort_unstable();
        found.push(format!(
            "{readers:?}: {:.2} µs",
            times[500].as_secs_f64() * 1e6
        ));
    }
    Ok(found.join(", "))
}
