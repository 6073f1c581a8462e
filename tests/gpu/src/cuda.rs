//! Two kernels of CUDA's that write a pattern and compare with it.

use crate::Bench;
use anyhow::{Result, ensure};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use peerlane_gpu::GpuBuffer;
use std::sync::Arc;

/// Word `i` of the pattern is `i * 2654435761 ^ seed`, modulo 2^32.
pub fn word(index: u64, seed: u32) -> u32 {
    (index as u32).wrapping_mul(2_654_435_761) ^ seed
}

/// The pattern's bytes.
pub fn pattern(bytes: usize, seed: u32) -> Vec<u8> {
    let words = (0..bytes as u64).step_by(4);
    words
        .flat_map(|at| word(at / 4, seed).to_le_bytes())
        .collect()
}

/// Both kernels in PTX (PTX ISA 6.0, for GPUs from Maxwell on).
const PTX: &str = "\
.version 6.0
.target sm_50
.address_size 64

.visible .entry fill(.param .u64 place, .param .u64 words, .param .u32 seed)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [place];
    ld.param.u64 %d2, [words];
    ld.param.u32 %r1, [seed];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mul.wide.u32 %d3, %r2, %r3;
    cvt.u64.u32 %d4, %r4;
    add.u64 %d3, %d3, %d4;
    setp.ge.u64 %p1, %d3, %d2;
    @%p1 bra done;
    cvt.u32.u64 %r5, %d3;
    mul.lo.u32 %r5, %r5, 2654435761;
    xor.b32 %r5, %r5, %r1;
    shl.b64 %d5, %d3, 2;
    add.u64 %d5, %d1, %d5;
    cvta.to.global.u64 %d5, %d5;
    st.global.u32 [%d5], %r5;
done:
    ret;
}

.visible .entry compare(.param .u64 place, .param .u64 words, .param .u32 seed, .param .u64 wrong)
{
    .reg .pred %p<3>;
    .reg .b32 %r<10>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [place];
    ld.param.u64 %d2, [words];
    ld.param.u32 %r1, [seed];
    ld.param.u64 %d6, [wrong];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mul.wide.u32 %d3, %r2, %r3;
    cvt.u64.u32 %d4, %r4;
    add.u64 %d3, %d3, %d4;
    setp.ge.u64 %p1, %d3, %d2;
    @%p1 bra done;
    cvt.u32.u64 %r5, %d3;
    mul.lo.u32 %r5, %r5, 2654435761;
    xor.b32 %r5, %r5, %r1;
    shl.b64 %d5, %d3, 2;
    add.u64 %d5, %d1, %d5;
    cvta.to.global.u64 %d5, %d5;
    ld.global.u32 %r6, [%d5];
    setp.eq.u32 %p2, %r5, %r6;
    @%p2 bra done;
    cvta.to.global.u64 %d6, %d6;
    atom.global.add.u32 %r7, [%d6], 1;
done:
    ret;
}
";

const THREADS: u32 = 256;

/// The kernels, loaded.
pub struct Kernels {
    context: Arc<CudaContext>,
    fill: CudaFunction,
    compare: CudaFunction,
    wrong: GpuBuffer,
}

impl Kernels {
    /// On the checks' GPU.
    pub fn load(bench: &Bench<'_>) -> Result<Self> {
        let module = bench.context.load_module(Ptx::from_src(PTX))?;
        Ok(Self {
            context: Arc::clone(&bench.context),
            fill: module.load_function("fill")?,
            compare: module.load_function("compare")?,
            wrong: bench.gpu.plain_buffer(4)?,
        })
    }

    fn config(words: u64) -> LaunchConfig {
        LaunchConfig {
            grid_dim: (words.div_ceil(THREADS.into()) as u32, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        }
    }

    /// Writes the pattern into a buffer.
    pub fn fill(&self, buffer: &GpuBuffer, bytes: u64, seed: u32) -> Result<()> {
        let stream = self.context.default_stream();
        self.fill_on(&stream, buffer, bytes, seed)?;
        stream.synchronize()?;
        Ok(())
    }

    /// The same in a stream's order.
    pub fn fill_on(
        &self,
        stream: &CudaStream,
        buffer: &GpuBuffer,
        bytes: u64,
        seed: u32,
    ) -> Result<()> {
        ensure!(bytes.is_multiple_of(4) && bytes <= buffer.length());
        let (place, words) = (buffer.address(), bytes / 4);
        let mut launch = stream.launch_builder(&self.fill);
        launch.arg(&place).arg(&words).arg(&seed);
        // SAFETY: the arguments are the kernel's, and the words lie in the buffer.
        unsafe { launch.launch(Self::config(words)) }?;
        Ok(())
    }

    /// Words of a buffer that are not the pattern's, as the GPU sees them.
    pub fn wrong(&self, buffer: &GpuBuffer, bytes: u64, seed: u32) -> Result<u32> {
        ensure!(bytes.is_multiple_of(4) && bytes <= buffer.length());
        self.wrong.write(0, &[0; 4])?;
        let (place, words, wrong) = (buffer.address(), bytes / 4, self.wrong.address());
        let stream = self.context.default_stream();
        let mut launch = stream.launch_builder(&self.compare);
        launch.arg(&place).arg(&words).arg(&seed).arg(&wrong);
        // SAFETY: the arguments are the kernel's, the words lie in the buffer, and the count has its 4 bytes.
        unsafe { launch.launch(Self::config(words)) }?;
        stream.synchronize()?;
        let mut count = [0; 4];
        self.wrong.read(0, &mut count)?;
        Ok(u32::from_le_bytes(count))
    }
}
