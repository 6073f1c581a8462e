//! 04: a GPU feeds an FPGA. The GPU makes batches of input, the board fetches each while the GPU makes the next one,
//! and a kernel in the FPGA would work on it there.
//!
//! ```text
//! cargo run -p peerlane-gpu --example inference_feed
//! ```
//!
//! Not every computer passes reads between devices, so the way is chosen by a probe and by measurement: direct read,
//! GPU push, or through the host. Without a GPU the processor makes the batches, in the host's memory.

use anyhow::{Result, ensure};
use peerlane_host::{Device, Direction, MemoryKind, Permissions};
use peerlane_routes::{Board, HostMemory, Limits, Options, Order, Route, Routes, Side};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a batch. There is room for two on either side.
const BATCH: u64 = 64 << 10;
const BATCHES: u64 = 8;

const LIMIT: Duration = Duration::from_secs(10);

/// Computes word `i` of a batch.
fn word(batch: u64, i: u64) -> u32 {
    (i as u32).wrapping_mul(2_654_435_761) ^ batch as u32
}

/// Computes a batch.
pub fn bytes(batch: u64) -> Vec<u8> {
    let words = (0..BATCH / 4).map(|i| word(batch, i));
    words.flat_map(u32::to_le_bytes).collect()
}

/// The processor or GPU that makes the batches.
pub trait Maker {
    /// Returns its memory: two batches.
    fn side(&self) -> Arc<dyn Side>;
    /// Begins to make a batch at an offset in the memory.
    fn begin(&mut self, batch: u64, at: u64) -> Result<()>;
    /// Waits until the batch is made.
    fn end(&mut self) -> Result<()>;
}

/// Runs the example on an open device.
pub fn run(device: &Device, maker: &mut dyn Maker) -> Result<()> {
    let board = Board::new(device, 2 * BATCH)?;
    let options = Options {
        measured: BATCH,
        ..Options::default()
    };
    let routes = Routes::new(&board, maker.side(), options);
    println!("{}", routes.choose(Direction::ToFpga, BATCH)?);

    let half = |batch: u64| batch % 2 * BATCH;
    maker.begin(0, half(0))?;
    for batch in 0..BATCHES {
        maker.end()?;
        if batch + 1 < BATCHES {
            maker.begin(batch + 1, half(batch + 1))?;
        }
        let order = Order {
            direction: Direction::ToFpga,
            fpga: half(batch),
            at: half(batch),
            length: BATCH,
        };
        routes.transfer(&order, Route::Auto, &Limits::within(LIMIT))?;
        // Here a kernel in the FPGA would be started. Instead, the host compares its input.
        let input = fetch(device, &board, half(batch))?;
        ensure!(
            input == bytes(batch),
            "batch {batch} arrived with other bytes"
        );
    }
    println!(
        "{BATCHES} batches of {} KiB are in FPGA memory as they were made",
        BATCH >> 10
    );
    Ok(())
}

/// Reads a batch from FPGA memory.
fn fetch(device: &Device, board: &Board, at: u64) -> Result<Vec<u8>> {
    let memory = device.memory(MemoryKind::Host, BATCH as usize)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    let from = board.memory().start + at;
    let transfer = board.queue().from_fpga(from, region.part(0..BATCH))?;
    transfer.wait(LIMIT)?;
    let mut found = vec![0; BATCH as usize];
    memory.read(0, &mut found)?;
    Ok(found)
}

/// The processor makes the batches.
pub struct OnProcessor(HostMemory);

impl OnProcessor {
    /// Makes a maker in the host's memory.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self(HostMemory::new(device, 2 * BATCH)?))
    }
}

impl Maker for OnProcessor {
    fn side(&self) -> Arc<dyn Side> {
        Arc::new(self.0.clone())
    }

    fn begin(&mut self, batch: u64, at: u64) -> Result<()> {
        Ok(self.0.memory().write(at as usize, &bytes(batch))?)
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A maker on a GPU of NVIDIA's.
pub mod cuda {
    use super::{BATCH, Maker};
    use anyhow::Result;
    use peerlane_gpu::cudarc::driver::{
        CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg,
    };
    use peerlane_gpu::cudarc::nvrtc::Ptx;
    use peerlane_gpu::{Gpu, GpuMemory};
    use peerlane_routes::Side;
    use std::sync::Arc;

    /// Stores `i * 2654435761 ^ batch` to word `i`, a word a thread.
    const KERNEL: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .entry make(.param .u64 place, .param .u32 batch)
{
    .reg .b32 %r<7>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [place];
    ld.param.u32 %r1, [batch];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %d2, %r5, 4;
    add.u64 %d3, %d1, %d2;
    mul.lo.u32 %r6, %r5, 2654435761;
    xor.b32 %r6, %r6, %r1;
    st.global.u32 [%d3], %r6;
    ret;
}
";

    /// See [the module](self).
    pub struct OnGpu {
        memory: GpuMemory,
        stream: Arc<CudaStream>,
        make: CudaFunction,
    }

    impl OnGpu {
        /// Makes a maker on a GPU, in memory of its own.
        pub fn new(context: &Arc<CudaContext>) -> Result<Self> {
            let gpu = Gpu::over(Arc::clone(context))?;
            let module = context.load_module(Ptx::from_src(KERNEL))?;
            Ok(Self {
                memory: GpuMemory::new(Arc::new(gpu.buffer(2 * BATCH)?))?,
                stream: context.new_stream()?,
                make: module.load_function("make")?,
            })
        }
    }

    impl Maker for OnGpu {
        fn side(&self) -> Arc<dyn Side> {
            Arc::new(self.memory.clone())
        }

        fn begin(&mut self, batch: u64, at: u64) -> Result<()> {
            let (place, batch) = (self.memory.buffer().address() + at, batch as u32);
            let mut launch = self.stream.launch_builder(&self.make);
            launch.arg(&place).arg(&batch);
            let config = LaunchConfig {
                grid_dim: (BATCH as u32 / 4 / 256, 1, 1),
                block_dim: (256, 1, 1),
                shared_mem_bytes: 0,
            };
            // SAFETY: the arguments are the kernel's, and its words lie in the buffer.
            unsafe { launch.launch(config) }?;
            Ok(())
        }

        fn end(&mut self) -> Result<()> {
            Ok(self.stream.synchronize()?)
        }
    }
}

#[allow(dead_code, reason = "tests run the example on other boards")]
fn main() -> Result<()> {
    on_what_there_is().map_err(with_hint)
}

/// Adds the hint of the error's library in front of an error: the text of the error does not include it.
pub fn with_hint(error: anyhow::Error) -> anyhow::Error {
    let board = error.downcast_ref().map(peerlane_host::Error::hint);
    let gpu = error.downcast_ref().map(peerlane_gpu::Error::hint);
    let routes = error.downcast_ref().map(peerlane_routes::Error::hint);
    match routes.or(board.or(gpu).map(String::from)) {
        Some(hint) => error.context(hint),
        None => error,
    }
}

fn on_what_there_is() -> Result<()> {
    use peerlane_gpu::cudarc::driver::CudaContext;
    let device = Device::first()?;
    // The library is asked first: where there is no CUDA, `CudaContext` panics.
    match peerlane_gpu::Gpu::open(0) {
        Ok(_) => run(&device, &mut cuda::OnGpu::new(&CudaContext::new(0)?)?),
        Err(error) => {
            eprintln!("{error}: the processor makes the batches");
            run(&device, &mut OnProcessor::new(&device)?)
        }
    }
}
