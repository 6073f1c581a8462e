//! Checks of memory that is allocated and freed while another thread captures a graph.

use crate::Bench;
use crate::cuda::Kernels;
use anyhow::{Context as _, Result, ensure};
use cudarc::driver::{CudaStream, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;
use peerlane_gpu::GpuBuffer;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
const LENGTH: u64 = 256 * MIB;

/// A kernel that runs for a given number of nanoseconds.
const PTX: &str = "\
.version 6.0
.target sm_50
.address_size 64

.visible .entry run(.param .u64 time)
{
    .reg .pred %p;
    .reg .b64 %time, %begin, %now;
    ld.param.u64 %time, [time];
    mov.u64 %begin, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %begin;
    setp.lt.u64 %p, %now, %time;
    @%p bra again;
    ret;
}
";

const RUN: Duration = Duration::from_millis(300);

/// Returns the state of the graph that a stream captures.
fn status(stream: &CudaStream) -> Result<sys::CUstreamCaptureStatus> {
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: a valid stream, and a place for its state.
    unsafe { sys::cuStreamIsCapturing(stream.cu_stream(), &raw mut status) }.result()?;
    Ok(status)
}

fn free() -> Result<u64> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: places for both.
    unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) }.result()?;
    Ok(free as u64)
}

/// Runs `does` on another thread, with the context of the checks.
fn elsewhere<T: Send>(bench: &Bench<'_>, does: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let there = || {
        bench.context.bind_to_thread()?;
        does()
    };
    std::thread::scope(|scope| scope.spawn(there).join().expect("it does not panic"))
}

/// Checks that a graph that is captured in global mode stays valid, and that the memory is freed.
pub fn beside(bench: &Bench<'_>) -> Result<String> {
    let kernels = Kernels::load(bench)?;
    let target = bench.gpu.plain_buffer(MIB)?;
    let both = || -> Result<[GpuBuffer; 2]> {
        Ok([bench.gpu.plain_buffer(LENGTH)?, bench.gpu.buffer(LENGTH)?])
    };
    bench.context.bind_to_thread()?;
    let before = free()?;
    let made = both()?;
    let stream = bench.context.new_stream()?;
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL)?;
    elsewhere(bench, || {
        drop(made);
        drop(both()?);
        Ok(())
    })?;
    let after = status(&stream)?;
    ensure!(
        after == sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE,
        "another thread made and freed buffers, and the graph is {after:?}"
    );
    kernels.fill_on(&stream, &target, MIB, 17)?;
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags)?.context("the graph is empty")?;
    graph.launch()?;
    stream.synchronize()?;
    ensure!(
        kernels.wrong(&target, MIB, 17)? == 0,
        "the graph did other work than was captured"
    );
    let stays = before.saturating_sub(free()?);
    ensure!(
        stays < LENGTH,
        "{} MiB of {} stay allocated",
        stays / MIB,
        4 * LENGTH / MIB
    );
    blocking(bench)?;
    Ok(format!(
        "4 buffers made and freed by another thread, the graph valid, also of a stream that the default stream waits \
         for; {}; {}",
        synchronised(bench)?,
        waited(bench)?
    ))
}

/// Checks a stream that the legacy default stream waits for: any use of the default stream in the meantime invalidates
/// the graph.
fn blocking(bench: &Bench<'_>) -> Result<()> {
    let (mut stream, mut graph) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut after = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    // SAFETY: a place for the stream, of the thread's context; and the stream is valid.
    unsafe {
        sys::cuStreamCreate(&raw mut stream, 0).result()?;
        sys::cuStreamBeginCapture_v2(stream, mode).result()?;
    }
    let used = elsewhere(bench, || {
        for buffer in [bench.gpu.plain_buffer(MIB)?, bench.gpu.buffer(MIB)?] {
            let mut found = [0; 4];
            buffer.write(8, &[1, 2, 3, 4])?;
            buffer.read(8, &mut found)?;
            ensure!(found == [1, 2, 3, 4], "other bytes came back");
        }
        Ok(())
    });
    // SAFETY: the stream is valid, with places for its state and its graph; neither is used after this.
    let ended = unsafe {
        sys::cuStreamIsCapturing(stream, &raw mut after).result()?;
        let ended = sys::cuStreamEndCapture(stream, &raw mut graph);
        if !graph.is_null() {
            sys::cuGraphDestroy(graph).result()?;
        }
        sys::cuStreamDestroy_v2(stream).result()?;
        ended
    };
    used?;
    ensure!(
        after == sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE,
        "after another thread's copies the graph is {after:?}"
    );
    Ok(ended.result()?)
}

/// Reports the state of a graph after the context is synchronised, which the library never does.
fn synchronised(bench: &Bench<'_>) -> Result<String> {
    let stream = bench.context.new_stream()?;
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL)?;
    let code = elsewhere(bench, || {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: a place with a mode; the thread ends with this.
        unsafe {
            sys::cuThreadExchangeStreamCaptureMode(&raw mut mode).result()?;
            Ok(sys::cuCtxSynchronize())
        }
    })?;
    let after = status(&stream)?;
    // The graph may be invalid.
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let _ = stream.end_capture(flags);
    Ok(format!(
        "cuCtxSynchronize in relaxed mode returns {code:?} and leaves the graph {after:?}"
    ))
}

/// Reports whether freeing a buffer waits for a kernel of another stream, which CUDA does not promise.
fn waited(bench: &Bench<'_>) -> Result<String> {
    let module = bench.context.load_module(Ptx::from_src(PTX))?;
    let function = module.load_function("run")?;
    let stream = bench.context.new_stream()?;
    let time = RUN.as_nanos() as u64;
    let mut found = Vec::new();
    for (name, buffer) in [
        ("plain", bench.gpu.plain_buffer(MIB)?),
        ("shared", bench.gpu.buffer(MIB)?),
    ] {
        let mut launch = stream.launch_builder(&function);
        launch.arg(&time);
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (1, 1, 1),
            shared_mem_bytes: 0,
        };
        let begin = Instant::now();
        // SAFETY: the argument is the kernel's, which uses no memory.
        unsafe { launch.launch(config) }?;
        drop(buffer);
        let waits = match begin.elapsed() >= RUN {
            true => "waits",
            false => "DOES NOT WAIT",
        };
        stream.synchronize()?;
        found.push(format!("{name} {waits} for a kernel of another stream"));
    }
    Ok(found.join(", "))
}
