//! Checks of transfers that the GPU starts: in a stream's order, as nodes of a graph, and by a kernel.

use crate::Bench;
use crate::board::{Peer, library};
use crate::carrier::Carried;
use crate::cuda::{Kernels, pattern};
use anyhow::{Context as _, Result, bail, ensure};
use cudarc::driver::sys;
use peerlane_gpu::{Error, GpuBuffer, GpuQueue};
use peerlane_host::driver::Options;
use peerlane_host::{
    Context as _, Device, Direction, Fault, FpgaMemory, MemoryKind, Permissions, Region, Request,
};
use peerlane_sim::{BoardConfig, GPU_PAGE};
use peerlane_simulated::SimBoard;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "../../../examples/08-gpu-kernel/gpu_kernel.rs"]
mod gpu_kernel;

/// Bytes of a transfer: few, because much of it is simulated.
const BYTES: u64 = 64 << 10;

/// Longest time that the GPU waits for one transfer, in the simulator's time, not the board's.
const LIMIT: Duration = Duration::from_secs(20);

/// A simulated board whose GPU memory is one real buffer, in two halves.
struct Rig {
    board: SimBoard,
    carried: Carried,
    device: Device,
    fpga: FpgaMemory,
    buffer: Arc<GpuBuffer>,
    region: Region,
}

impl Rig {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let board = SimBoard::new(library(bench)?.instance()?, BoardConfig::default())?;
        let buffer = Arc::new(bench.gpu.plain_buffer(2 * BYTES + GPU_PAGE)?);
        board.with(|board| board.gpu_mut().replace(Arc::new(Peer(Arc::clone(&buffer)))));
        let driver = board.drive(&Options::default())?;
        let carried = Carried::new(driver.context()?);
        let device = Device::over(carried.clone())?;
        let fpga = device.allocate(BYTES)?;
        let memory = device.memory(MemoryKind::Gpu, 2 * BYTES as usize)?;
        let region = device.register_all(&memory, Permissions::ReadWrite)?;
        Ok(Self {
            board,
            carried,
            device,
            fpga,
            buffer,
            region,
        })
    }

    /// Returns the request that moves the first half to FPGA memory, or FPGA memory to the second half.
    fn step(&self, direction: Direction) -> Request<'_> {
        let offset = match direction {
            Direction::ToFpga => 0,
            Direction::FromFpga => BYTES,
        };
        Request {
            direction,
            region: &self.region,
            offset,
            fpga_address: self.fpga.base(),
            length: BYTES,
            piece: None,
        }
    }

    /// Checks that the second half contains the pattern.
    fn check(&self, seed: u32) -> Result<()> {
        let mut bytes = vec![0; BYTES as usize];
        self.board.fpga_read(self.fpga.base(), &mut bytes)?;
        ensure!(
            bytes == pattern(bytes.len(), seed),
            "FPGA memory holds other bytes"
        );
        self.buffer.read(BYTES, &mut bytes)?;
        ensure!(
            bytes == pattern(bytes.len(), seed),
            "the second half holds other bytes"
        );
        Ok(())
    }
}

/// A kernel writes, the board reads, and writes the data to another place: all in the order of one stream, and the host
/// waits once, at the end. Then the same steps run as a graph, which is launched three times.
pub fn stream_and_graph(bench: &Bench<'_>) -> Result<String> {
    let kernels = Kernels::load(bench)?;
    let rig = Rig::new(bench)?;
    let queue = GpuQueue::new(&bench.gpu, &rig.device)?;
    ensure!(rig.device.queue().is_err(), "the channel has two owners");
    let carrier = rig.carried.carry();
    let stream = bench.context.new_stream()?;
    let [read, write] = [Direction::ToFpga, Direction::FromFpga].map(|way| rig.step(way));
    let enqueue = |step: &Request<'_>| queue.enqueue(&stream, step, LIMIT);

    let mut begin = Instant::now();
    let mut times = Vec::new();
    let mut lap = || {
        times.push(format!(
            "{:.1} s",
            std::mem::replace(&mut begin, Instant::now())
                .elapsed()
                .as_secs_f64()
        ))
    };
    kernels.fill_on(&stream, &rig.buffer, BYTES, 11)?;
    enqueue(&read)?;
    enqueue(&write)?;
    let outcome = queue.outcome()?;
    ensure!(
        outcome.steps == 2 && u64::from(outcome.bytes) == BYTES,
        "{outcome:?}"
    );
    rig.check(11)?;
    lap();

    // A request that the library refuses is not enqueued. One that the board refuses is reported, and the next step
    // runs.
    let outside = Request {
        fpga_address: rig.fpga.base() + rig.fpga.length(),
        ..read
    };
    ensure!(enqueue(&outside).is_err());
    let other = rig.device.memory(MemoryKind::Gpu, GPU_PAGE as usize)?;
    let forgotten = rig.device.register_all(&other, Permissions::ReadWrite)?;
    let short = |region| Request {
        region,
        length: 64,
        ..read
    };
    forgotten.clone().forget()?;
    ensure!(enqueue(&short(&forgotten)).is_err());
    let unread = rig.device.register_all(&other, Permissions::Write)?;
    let unproven = Request {
        direction: Direction::FromFpga,
        ..short(&unread)
    };
    ensure!(enqueue(&unproven).is_err());
    // A region that the queue has used cannot be unregistered by the program, only by an owner that takes it back: the
    // driver does that here.
    let gone = rig.device.register_all(&other, Permissions::ReadWrite)?;
    enqueue(&short(&gone))?;
    queue.outcome()?;
    ensure!(gone.clone().forget().is_err());
    rig.carried.unregister(gone.handle(), 0)?;
    enqueue(&short(&gone))?;
    enqueue(&write)?;
    match queue.outcome() {
        Err(Error::Transfer(fault)) => ensure!(fault == Fault::AttInvalid, "{fault:?}"),
        other => bail!("a transfer with an unregistered region: {other:?}"),
    }
    ensure!(queue.outcome()?.steps == 5);
    // On the default stream, from two threads: one never had a context, and the other has another one. The board moves
    // nothing here, because the carrier's copies would wait for that stream.
    let default = bench.context.default_stream();
    for other in [false, true] {
        let fresh = || {
            in_a_thread(bench, other, || {
                Ok(queue.enqueue(&default, &short(&gone), LIMIT)?)
            })
        };
        std::thread::scope(|scope| scope.spawn(fresh).join().expect("it does not panic"))
            .with_context(|| format!("another context: {other}"))?;
        match queue.outcome() {
            Err(Error::Transfer(Fault::AttInvalid)) => {}
            other => bail!("a step on the default stream: {other:?}"),
        }
    }
    ensure!(queue.outcome()?.steps == 7);
    lap();

    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    kernels.fill_on(&stream, &rig.buffer, BYTES, 12)?;
    ensure!(matches!(enqueue(&read), Err(Error::Capturing)));
    // SAFETY: the graph is dropped before the queue.
    unsafe {
        queue.capture(&stream, &read, LIMIT)?;
        queue.capture(&stream, &write, LIMIT)?;
    }
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags)?.context("the graph is empty")?;
    for round in 1..=3 {
        rig.buffer.write(0, &vec![0; 2 * BYTES as usize])?;
        graph.launch()?;
        stream.synchronize()?;
        ensure!(queue.outcome()?.steps == 7 + 2 * round);
        rig.check(12)?;
        lap();
    }
    drop((graph, queue));
    let bells = carrier.stop()?;
    ensure!(bells == 13, "{bells} doorbells");
    lap();
    Ok(format!(
        "3 in a stream, 1 refused and reported, 2 on the default stream from other threads, 6 in a graph launched \
         three times, 64 KiB each, data right; simulated in {}",
        times.join(", ")
    ))
}

/// Checks that a step waits for the queue within its own limit, and not as long as the step that has the queue.
pub fn limit(bench: &Bench<'_>) -> Result<String> {
    const LONG: Duration = Duration::from_millis(1500);
    const SHORT: Duration = Duration::from_millis(200);
    let rig = Rig::new(bench)?;
    let queue = GpuQueue::new(&bench.gpu, &rig.device)?;
    let read = rig.step(Direction::ToFpga);
    let short = Request { length: 64, ..read };
    // No carrier runs, so the first step has the queue until its limit.
    let streams = [bench.context.new_stream()?, bench.context.new_stream()?];
    let begin = Instant::now();
    queue.enqueue(&streams[0], &short, LONG)?;
    std::thread::sleep(SHORT / 2);
    queue.enqueue(&streams[1], &short, SHORT)?;
    streams[1].synchronize()?;
    let second = begin.elapsed();
    streams[0].synchronize()?;
    let first = begin.elapsed();
    ensure!(
        first >= LONG && second < LONG - SHORT,
        "limits of {LONG:?} and {SHORT:?}: the first step took {first:?}, the second, which waited for it, {second:?}"
    );
    ensure!(matches!(queue.outcome(), Err(Error::Late)));
    ensure!(queue.outcome()?.steps == 1, "{:?}", queue.outcome());
    // The late step is done after a while; the next one finds the late one's record and its own.
    let carrier = rig.carried.carry();
    std::thread::sleep(Duration::from_secs(1));
    queue.enqueue(&streams[1], &short, LIMIT)?;
    let outcome = queue.outcome()?;
    ensure!(outcome.steps == 2 && outcome.bytes == 64, "{outcome:?}");
    drop(queue);
    let bells = carrier.stop()?;
    ensure!(bells == 2, "{bells} doorbells");
    Ok(format!(
        "a step with a limit of {} ms ended after {} ms, while another step used the queue for {} ms; both reported as \
         late, the next step succeeded",
        SHORT.as_millis(),
        (second - SHORT / 2).as_millis(),
        first.as_millis()
    ))
}

/// Runs `does` on another thread, which has no context, or one of its own. Checks that the thread has the same context
/// afterwards.
fn in_a_thread(
    bench: &Bench<'_>,
    with_another: bool,
    does: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let current = || {
        let mut current = std::ptr::null_mut();
        // SAFETY: a place for the context.
        unsafe { sys::cuCtxGetCurrent(&raw mut current) }.result()?;
        Ok::<_, anyhow::Error>(current)
    };
    ensure!(current()?.is_null(), "a new thread has a context");
    let mut other = std::ptr::null_mut();
    if with_another {
        // SAFETY: a place for the context, which is current from now on; the device is the checks' GPU.
        unsafe { sys::cuCtxCreate_v2(&raw mut other, 0, bench.gpu.device()) }.result()?;
    }
    let done = does();
    let stays = current()? == other;
    if with_another {
        // SAFETY: the context is this function's, and nothing is in it.
        unsafe { sys::cuCtxDestroy_v2(other) }.result()?;
    }
    ensure!(stays, "the thread has another context than before");
    done
}

/// Checks example 08: a kernel that includes `peerlane_gpu.h` moves data by itself, in pieces.
pub fn by_a_kernel(bench: &Bench<'_>) -> Result<String> {
    let Some(file) = &bench.options.kernel else {
        bail!("not tried: no --kernel, the PTX of examples/08-gpu-kernel/kernel.cu");
    };
    const BYTES: u64 = gpu_kernel::BYTES;
    // Do not count volatile stores, which hardware may merge or split: the header follows the target that the compiler
    // builds for.
    let ptx = std::fs::read_to_string(file)?;
    let mmio = ptx.matches("st.mmio.relaxed.sys").count();
    ensure!(
        mmio > 0,
        "{} does not store to the page by st.mmio",
        file.display()
    );
    let rig = Rig::new(bench)?;
    let queue = GpuQueue::new(&bench.gpu, &rig.device)?;
    let carrier = rig.carried.carry();
    let place = gpu_kernel::Place {
        buffer: &rig.buffer,
        peer: rig.region.att_address().raw(),
        fpga: rig.fpga.base(),
    };
    gpu_kernel::run(&bench.context, &queue, &place, file)?;
    let (mut there, mut back) = (vec![0; BYTES as usize], vec![0; BYTES as usize]);
    rig.buffer.read(0, &mut there)?;
    rig.board.fpga_read(rig.fpga.base(), &mut back)?;
    ensure!(there == back, "FPGA memory holds other bytes");
    drop(queue);
    ensure!(carrier.stop()? == 2 * gpu_kernel::PIECES);
    Ok(format!(
        "{} transfers of {} KiB by st.mmio, data right",
        2 * gpu_kernel::PIECES,
        (BYTES / u64::from(gpu_kernel::PIECES)) >> 10
    ))
}
