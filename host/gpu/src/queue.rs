//! A board's channel in the GPU's hands.

use crate::cuda::{Gpu, GpuBuffer};
use crate::error::{Error, Result};
use cudarc::driver::{CudaFunction, CudaModule, CudaStream, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;
use peerlane_host::peerlane_core::att::AttAddress;
use peerlane_host::peerlane_core::descriptor::{Control, Descriptor};
use peerlane_host::peerlane_core::record::{self, Record};
use peerlane_host::{Device, Direction, Fault, RawChannel};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of `struct peerlane_gpu_queue` of `peerlane_gpu.h`.
const STATE_BYTES: u64 = 40;

/// What a step leaves behind: the record's dwords, and whether it came in time.
const RESULT_BYTES: u64 = 48;

/// The kernel of one thread that carries a step out: the functions of `peerlane_gpu.h` in PTX.
const PTX: &str = include_str!("queue.ptx");

/// A board's channel that a GPU uses: it writes descriptors, rings doorbells and reads records by itself.
///
/// Steps are enqueued on streams ([`enqueue`](Self::enqueue)); a stream that is being captured takes them into its
/// graph. A kernel of the program's own gets [`address`](Self::address), and includes `peerlane_gpu.h`. One
/// stream, or one kernel, at a time uses the queue: what order there is between them is CUDA's.
///
/// On a board the page is that of `/dev/peerlane*`, which CUDA maps by `cuMemHostRegister` with
/// `CU_MEMHOSTREGISTER_IOMEMORY`. That was not tried for want of a board; all else was, with the block's RTL
/// and a page in memory (`docs/gpu-results.md`).
pub struct GpuQueue {
    state: GpuBuffer,
    result: GpuBuffer,
    step: CudaFunction,
    _module: Arc<CudaModule>,
    // Before the device: they are mappings of its context.
    _page: Registered,
    _ring: Registered,
    device: Device,
}

impl std::fmt::Debug for GpuQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuQueue")
            .field("state", &self.state)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// One transfer of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Which way.
    pub direction: Direction,
    /// Where in a region: its [`att_address`](peerlane_host::Region::att_address) and an offset.
    pub peer: AttAddress,
    /// Address of FPGA memory that the context has.
    pub fpga_address: u64,
    /// Bytes.
    pub length: u32,
    /// How long the GPU waits for the end, and the stream with it.
    pub limit: Duration,
}

/// How the last step of a queue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes moved.
    pub bytes: u32,
    /// Steps that the queue has carried out.
    pub steps: u32,
}

/// Memory of this process that the GPU accesses.
struct Registered {
    gpu: Gpu,
    host: *mut c_void,
    address: sys::CUdeviceptr,
}

// SAFETY: CUDA's registration of a range, which any thread may take back; nothing is accessed through it here.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    /// Registers registers of a device, or memory.
    ///
    /// # Safety
    /// The range stays mapped for as long as this lives.
    unsafe fn new(gpu: &Gpu, base: NonNull<u8>, bytes: usize) -> Result<Self> {
        gpu.bind()?;
        let host = base.as_ptr().cast::<c_void>();
        let register = |flags| {
            // SAFETY: the caller promises the range.
            unsafe { sys::cuMemHostRegister_v2(host, bytes, flags) }.result()
        };
        // A device's registers take the first, memory the second (trial on an H100: the first refuses memory).
        let device = sys::CU_MEMHOSTREGISTER_DEVICEMAP;
        register(device | sys::CU_MEMHOSTREGISTER_IOMEMORY)
            .or_else(|_| register(device))
            .map_err(Error::cuda("cuMemHostRegister"))?;
        let mut address = 0;
        // SAFETY: the range was just registered.
        let result = unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut address, host, 0) };
        let registered = Self {
            gpu: gpu.clone(),
            host,
            address,
        };
        (result.result()).map_err(Error::cuda("cuMemHostGetDevicePointer"))?;
        Ok(registered)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // Kernels that use it may run: CUDA waits for them.
        if self.gpu.bind().is_ok() {
            // SAFETY: the range was registered, and this takes it back once.
            let _ = unsafe { sys::cuMemHostUnregister(self.host) };
        }
    }
}

impl GpuQueue {
    /// Takes a device's channel over, in place of its [`Queue`](peerlane_host::Queue).
    ///
    /// # Errors
    /// As [`Device::hand_over`], and [`Error::Cuda`].
    pub fn new(gpu: &Gpu, device: &Device) -> Result<Self> {
        gpu.bind()?;
        let context = gpu.context();
        let module =
            (context.load_module(Ptx::from_src(PTX))).map_err(Error::cuda("cuModuleLoadData"))?;
        let step =
            (module.load_function("peerlane_step")).map_err(Error::cuda("cuModuleGetFunction"))?;
        let state = gpu.plain_buffer(STATE_BYTES)?;
        let result = gpu.plain_buffer(RESULT_BYTES)?;

        let RawChannel {
            page,
            page_bytes,
            ring,
            slots,
        } = device.hand_over()?;
        let ring_bytes = slots as usize * record::DWORDS * 4;
        // SAFETY: both are mapped for as long as the device's context lives, and the queue keeps the device.
        let (page, ring) = unsafe {
            (
                Registered::new(gpu, page, page_bytes)?,
                Registered::new(gpu, ring, ring_bytes)?,
            )
        };
        let mut words = Vec::new();
        words.extend(page.address.to_le_bytes());
        words.extend(ring.address.to_le_bytes());
        words.extend(slots.to_le_bytes());
        state.write(0, &words)?;
        Ok(Self {
            state,
            result,
            step,
            _module: module,
            _page: page,
            _ring: ring,
            device: device.clone(),
        })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Address of its `struct peerlane_gpu_queue` in GPU memory: an argument for kernels.
    pub fn address(&self) -> u64 {
        self.state.address()
    }

    /// Has a stream carry a transfer out, after what was enqueued on it before, and wait for its end. What is
    /// enqueued next sees the data. Nothing of the host's takes part, and a failure stops nothing:
    /// [`outcome`](Self::outcome) tells of it afterwards.
    ///
    /// # Errors
    /// [`Error::Descriptor`], [`Error::Foreign`], [`Error::Cuda`].
    pub fn enqueue(&self, stream: &CudaStream, step: &Step) -> Result<()> {
        if **stream.context() != **self.state.gpu().context() {
            return Err(Error::Foreign);
        }
        let descriptor = Descriptor {
            peer: step.peer,
            local: step.fpga_address,
            length: step.length,
            control: Control {
                record: true,
                ..Control::default()
            },
            cookie: 0,
        };
        let dwords = descriptor.encode()?;
        let quad = |low: usize| u64::from(dwords[low + 1]) << 32 | u64::from(dwords[low]);
        let (peer, local, rest) = (quad(0), quad(2), quad(4));
        let direction: u32 = match step.direction {
            Direction::Write => 0,
            Direction::Read => 1,
        };
        let limit = u64::try_from(step.limit.as_nanos()).unwrap_or(u64::MAX);
        let (state, result) = (self.state.address(), self.result.address());
        let one = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (1, 1, 1),
            shared_mem_bytes: 0,
        };
        self.state.gpu().bind()?;
        let mut launch = stream.launch_builder(&self.step);
        launch.arg(&state).arg(&result).arg(&direction);
        launch.arg(&peer).arg(&local).arg(&rest).arg(&limit);
        // SAFETY: the arguments are the kernel's, and both buffers live as long as the queue, which waits for
        // kernels when it is dropped.
        unsafe { launch.launch(one) }.map_err(Error::cuda("cuLaunchKernel"))?;
        Ok(())
    }

    /// How the last step ended that the GPU has carried out. A failure of an earlier step is told until it was asked for.
    /// Waits for the GPU.
    ///
    /// # Errors
    /// [`Error::Transfer`], [`Error::Late`], [`Error::Cuda`].
    pub fn outcome(&self) -> Result<Outcome> {
        let context = self.state.gpu().context();
        (context.synchronize()).map_err(Error::cuda("cuCtxSynchronize"))?;
        let mut bytes = [0; RESULT_BYTES as usize];
        self.result.read(0, &mut bytes)?;
        let (words, _) = bytes.as_chunks::<4>();
        let word = |index: usize| u32::from_le_bytes(words[index]);
        // The first step that failed stays until here.
        let (late, failed, steps) = (word(8) != 0, word(9) != 0, word(10));
        if late || failed {
            self.result.write(0, &[0; 40])?;
        }
        if late {
            return Err(Error::Late);
        }
        if failed {
            let record = Record::decode(&std::array::from_fn(word));
            let outcome = record.map(|record| record.outcome);
            // What is no record is none of the board's.
            let fault = outcome.ok().and_then(Result::err);
            return Err(Error::Transfer(fault.unwrap_or(Fault::Descriptor)));
        }
        Ok(Outcome {
            bytes: word(2),
            steps,
        })
    }
}

impl Drop for GpuQueue {
    fn drop(&mut self) {
        // Kernels that have the buffers may run.
        let _ = self.state.gpu().context().synchronize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_host::peerlane_core::regs::{self, chan};

    /// The PTX has numbers of the register map in its text; so they are compared with the map here.
    #[test]
    fn the_kernel_has_the_maps_numbers() {
        assert_eq!(chan::WRITE_DESC, 0);
        // Direction 1 is 128 bytes behind direction 0, doorbells are 64 bytes behind descriptors.
        assert_eq!(chan::READ_DESC, 128);
        assert_eq!(chan::WRITE_DOORBELL, 64);
        assert_eq!(chan::READ_DOORBELL, 128 + 64);
        assert_eq!(regs::Completion::SIZE, 32);
        assert_eq!(record::STATUS, 1);
        assert_eq!(record::SEQUENCE, 3);
        let status = regs::Completion::default().with_status_phase(true).status;
        assert_eq!(status, 1);
        let code = regs::Completion {
            status: 16_711_680,
            ..Default::default()
        };
        assert!(code.status_code().is_err(), "all bits of the code");
        assert!(!code.status_phase() && code.status_channel() == 0);
        for text in [
            "and.b32 %code, %status, 16711680;",
            "add.u64 %bell, %place, 64;",
        ] {
            assert!(PTX.contains(text), "{text}");
        }
    }
}
