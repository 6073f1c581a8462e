//! 03: data acquisition. The board writes blocks of a detector's data into a ring in the GPU's memory, and the GPU
//! works on each while the next ones are on their way.
//!
//! ```text
//! cargo run -p peerlane-gpu --example acquisition
//! ```
//!
//! The readout of L. Rota et al., *A high-throughput readout architecture based on PCI-Express Gen3 and DirectGMA
//! technology*, works in this way. Here FPGA memory that the program has filled stands for the detector. Without a GPU
//! the processor works on the blocks, in the host's memory.

use anyhow::{Result, ensure};
use peerlane_host::{Device, Memory, MemoryKind, Permissions, Queue, Region};
use std::collections::VecDeque;
use std::time::Duration;

/// Bytes of a block. The next constants count blocks: of the ring, of the detector's memory, and of the run.
const BLOCK: u64 = 64 << 10;
const SLOTS: u64 = 4;
const SOURCE: u64 = 8;
const BLOCKS: u64 = 24;

/// Least value of a word that is a hit.
const LEVEL: u32 = 0xf000_0000;

const LIMIT: Duration = Duration::from_secs(10);

/// A ring in memory, with the processor or GPU that works on its blocks.
pub trait Ring {
    /// Returns the region that the board writes, and the offset in it where the ring begins.
    fn region(&self) -> (Region, u64);
    /// Counts the hits in a block of the ring.
    fn hits(&mut self, at: u64) -> Result<u32>;
}

/// Runs the example on an open device.
pub fn run(device: &Device, ring: &mut dyn Ring) -> Result<()> {
    let fpga = device.allocate(SOURCE * BLOCK)?;
    let queue = device.queue()?;
    let expected = detect(device, &queue, fpga.base())?;

    let (region, base) = ring.region();
    let send = |block: u64| {
        let from = fpga.base() + block % SOURCE * BLOCK;
        queue.from_fpga(
            from,
            region.part(base + block % SLOTS * BLOCK..base + block % SLOTS * BLOCK + BLOCK),
        )
    };
    let begin = device.now();
    // The ring is filled. From then on a block is sent when its slot is free.
    let mut under_way = VecDeque::new();
    for block in 0..SLOTS {
        under_way.push_back(send(block)?);
    }
    let mut found = 0;
    for block in 0..BLOCKS {
        let Some(transfer) = under_way.pop_front() else {
            break;
        };
        // The data are in the GPU's memory when the transfer ends: the board has flushed its writes.
        transfer.wait(LIMIT)?;
        found += u64::from(ring.hits(block % SLOTS * BLOCK)?);
        if block + SLOTS < BLOCKS {
            under_way.push_back(send(block + SLOTS)?);
        }
    }
    let time = device.now() - begin;
    ensure!(
        found == expected,
        "{found} hits were found, and {expected} were sent"
    );
    println!(
        "{BLOCKS} blocks of {} KiB, {found} hits, {:.0} MB/s",
        BLOCK >> 10,
        (BLOCKS * BLOCK) as f64 / time.as_secs_f64() / 1e6
    );
    Ok(())
}

/// Fills the detector's memory, and returns the number of hits in a run.
fn detect(device: &Device, queue: &Queue, fpga: u64) -> Result<u64> {
    let memory = device.memory(MemoryKind::Host, (SOURCE * BLOCK) as usize)?;
    let words = (0..SOURCE * BLOCK / 4).map(|i| (i as u32).wrapping_mul(2_654_435_761));
    let data: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    memory.write(0, &data)?;
    let region = device.register_all(&memory, Permissions::Read)?;
    queue
        .to_fpga(region.part(0..SOURCE * BLOCK), fpga)?
        .wait(LIMIT)?;
    let blocks = (0..BLOCKS).map(|block| {
        let start = (block % SOURCE * BLOCK) as usize;
        u64::from(count(&data[start..start + BLOCK as usize]))
    });
    Ok(blocks.sum())
}

/// Counts the hits in a block.
fn count(block: &[u8]) -> u32 {
    let (words, _) = block.as_chunks::<4>();
    let hit = |word: &&[u8; 4]| u32::from_le_bytes(**word) >= LEVEL;
    words.iter().filter(hit).count() as u32
}

/// A ring that the processor works on.
pub struct OnProcessor {
    memory: Memory,
    region: Region,
}

impl OnProcessor {
    /// Makes a ring in memory of this kind.
    pub fn new(device: &Device, kind: MemoryKind) -> Result<Self> {
        let memory = device.memory(kind, (SLOTS * BLOCK) as usize)?;
        let region = device.register_all(&memory, Permissions::ReadWrite)?;
        Ok(Self { memory, region })
    }
}

impl Ring for OnProcessor {
    fn region(&self) -> (Region, u64) {
        (self.region.clone(), 0)
    }

    fn hits(&mut self, at: u64) -> Result<u32> {
        let mut block = vec![0; BLOCK as usize];
        self.memory.read(at as usize, &mut block)?;
        Ok(count(&block))
    }
}

/// A ring that a GPU of NVIDIA's works on.
pub mod cuda {
    use super::{BLOCK, LEVEL, Ring, SLOTS};
    use anyhow::Result;
    use peerlane_gpu::cudarc::driver::{
        CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg,
    };
    use peerlane_gpu::cudarc::nvrtc::Ptx;
    use peerlane_gpu::{Gpu, GpuBuffer, GpuRegion};
    use peerlane_host::{Device, Permissions, Region};
    use std::sync::Arc;

    /// Adds to `count` how many of the words are `level` or more, a word a thread.
    const KERNEL: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .entry hits(.param .u64 block, .param .u32 level, .param .u64 count)
{
    .reg .pred %p<2>;
    .reg .b32 %r<7>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [block];
    ld.param.u32 %r1, [level];
    ld.param.u64 %d2, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %d3, %r5, 4;
    add.u64 %d3, %d1, %d3;
    ld.global.u32 %r6, [%d3];
    setp.lo.u32 %p1, %r6, %r1;
    @%p1 bra done;
    red.global.add.u32 [%d2], 1;
done:
    ret;
}
";

    /// See [the module](self).
    pub struct OnGpu {
        /// The ring's memory.
        pub buffer: Arc<GpuBuffer>,
        region: Option<GpuRegion>,
        stream: Arc<CudaStream>,
        hits: CudaFunction,
        count: GpuBuffer,
    }

    impl OnGpu {
        /// Makes a ring on a GPU, in memory of its own.
        pub fn new(context: &Arc<CudaContext>) -> Result<Self> {
            let gpu = Gpu::over(Arc::clone(context))?;
            let module = context.load_module(Ptx::from_src(KERNEL))?;
            Ok(Self {
                buffer: Arc::new(gpu.buffer(SLOTS * BLOCK)?),
                region: None,
                stream: context.new_stream()?,
                hits: module.load_function("hits")?,
                count: gpu.plain_buffer(4)?,
            })
        }

        /// Lets the board write the ring.
        pub fn register(&mut self, device: &Device) -> Result<()> {
            let all = 0..self.buffer.length();
            self.region = Some(self.buffer.register(device, all, Permissions::ReadWrite)?);
            Ok(())
        }
    }

    impl Ring for OnGpu {
        fn region(&self) -> (Region, u64) {
            let region = self.region.as_ref().expect("it was registered");
            (region.pages().clone(), region.offset())
        }

        /// A kernel that is launched when the transfer has ended sees its data.
        fn hits(&mut self, at: u64) -> Result<u32> {
            self.count.write(0, &[0; 4])?;
            let (block, count) = (self.buffer.address() + at, self.count.address());
            let mut launch = self.stream.launch_builder(&self.hits);
            launch.arg(&block).arg(&LEVEL).arg(&count);
            let config = LaunchConfig {
                grid_dim: (BLOCK as u32 / 4 / 256, 1, 1),
                block_dim: (256, 1, 1),
                shared_mem_bytes: 0,
            };
            // SAFETY: the arguments are the kernel's; its words lie in the ring, and the count has its 4 bytes.
            unsafe { launch.launch(config) }?;
            self.stream.synchronize()?;
            let mut found = [0; 4];
            self.count.read(0, &mut found)?;
            Ok(u32::from_le_bytes(found))
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
    match board.or(gpu) {
        Some(hint) => error.context(hint),
        None => error,
    }
}

fn on_what_there_is() -> Result<()> {
    use peerlane_gpu::cudarc::driver::CudaContext;
    let device = Device::first()?;
    // The library is asked first: where there is no CUDA, `CudaContext` panics.
    match peerlane_gpu::Gpu::open(0) {
        Ok(_) => {
            let mut ring = cuda::OnGpu::new(&CudaContext::new(0)?)?;
            ring.register(&device)?;
            run(&device, &mut ring)
        }
        Err(error) => {
            eprintln!("{error}: the processor works on the blocks");
            run(&device, &mut OnProcessor::new(&device, MemoryKind::Host)?)
        }
    }
}
