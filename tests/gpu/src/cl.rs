//! An OpenCL buffer over CUDA's memory.

use crate::Bench;
use crate::cuda::{Kernels, pattern};
use anyhow::{Context, Result, anyhow, ensure};
use cl3::command_queue::{create_command_queue, enqueue_nd_range_kernel, finish};
use cl3::context::create_context;
use cl3::device::{CL_DEVICE_TYPE_GPU, get_device_ids};
use cl3::kernel::{create_kernel, set_kernel_arg};
use cl3::platform::get_platform_ids;
use cl3::program::{build_program, create_program_with_source};
use peerlane_gpu::opencl;
use std::ptr::{null, null_mut};

const SOURCE: &str = "
kernel void add(global uint *words, uint number)
{
    words[get_global_id(0)] += number;
}
";

const BYTES: u64 = 32 << 20;

/// Checks that a kernel of OpenCL's works on data that CUDA wrote, and that CUDA sees the result.
pub fn import(bench: &Bench<'_>) -> Result<String> {
    let kernels = Kernels::load(bench)?;
    let buffer = bench.gpu.buffer(BYTES)?;
    let failed = |call: &'static str| move |code: i32| anyhow!("{call}: OpenCL error {code}");

    let mut reason = anyhow!("there is no OpenCL platform with a GPU");
    for platform in get_platform_ids().map_err(failed("clGetPlatformIDs"))? {
        let Ok(devices) = get_device_ids(platform, CL_DEVICE_TYPE_GPU) else {
            continue;
        };
        // A context of all GPUs, one of which has the memory.
        let context = create_context(&devices, null(), None, null_mut())
            .map_err(failed("clCreateContext"))?;
        // SAFETY: the context was just made, and lives as long as the program.
        let imported = match unsafe { opencl::import(context.cast(), &buffer) } {
            Ok(imported) => imported,
            Err(error) => {
                reason = error.into();
                continue;
            }
        };
        let device = imported.device().cast();
        // SAFETY: context and device belong together.
        let queue = unsafe { create_command_queue(context, device, 0) }
            .map_err(failed("clCreateCommandQueue"))?;
        let program = create_program_with_source(context, &[SOURCE])
            .map_err(failed("clCreateProgramWithSource"))?;
        build_program(program, &[device], c"", None, null_mut())
            .map_err(failed("clBuildProgram"))?;
        let kernel = create_kernel(program, c"add").map_err(failed("clCreateKernel"))?;

        // CUDA, then OpenCL, then CUDA.
        kernels.fill(&buffer, BYTES, 7)?;
        let (memory, number, words) = (imported.raw(), 12_345_u32, BYTES as usize / 4);
        // SAFETY: the handles live, the arguments are the kernel's, and the words lie in the buffer.
        unsafe {
            imported.acquire(queue.cast())?;
            set_kernel_arg(kernel, 0, size_of_val(&memory), (&raw const memory).cast())
                .map_err(failed("clSetKernelArg"))?;
            set_kernel_arg(kernel, 1, size_of_val(&number), (&raw const number).cast())
                .map_err(failed("clSetKernelArg"))?;
            enqueue_nd_range_kernel(
                queue,
                kernel,
                1,
                null(),
                &raw const words,
                null(),
                0,
                null(),
            )
            .map_err(failed("clEnqueueNDRangeKernel"))?;
            imported.release(queue.cast())?;
        }
        finish(queue).map_err(failed("clFinish"))?;
        let mut bytes = vec![0; BYTES as usize];
        buffer.read(0, &mut bytes)?;
        let (found, _) = bytes.as_chunks::<4>();
        let wanted = pattern(BYTES as usize, 7);
        let (wanted, _) = wanted.as_chunks::<4>();
        let right = found.iter().zip(wanted).all(|(found, before)| {
            u32::from_le_bytes(*found) == u32::from_le_bytes(*before).wrapping_add(number)
        });
        ensure!(right, "CUDA does not see the bytes that OpenCL wrote");
        // A board reaches the same memory.
        let dmabuf = buffer.export(0..BYTES).context("the buffer as a dma-buf")?;
        let plain = bench.gpu.plain_buffer(BYTES)?;
        // SAFETY: as above.
        let refused = unsafe { opencl::import(context.cast(), &plain) };
        ensure!(refused.is_err(), "a plain buffer was accepted");
        return Ok(format!(
            "{} MiB, right both ways, in a context of {} GPUs; the same bytes are a dma-buf of {} MiB",
            BYTES >> 20,
            devices.len(),
            dmabuf.length >> 20
        ));
    }
    Err(reason)
}
