//! `libpeerlane_clrdma.so`: transfers between OpenCL buffers on a board and on a GPU, by the calls of A. Gillert,
//! "Direct GPU-FPGA Communication" (MSc thesis, TUM 2015), section 5.5 and appendix A.
//!
//! `include/clrdma.h` documents the functions. The board's side is the extension of the board library
//! (`peerlane_ext.h`), the GPU's is `peerlane-gpu`.

mod board;
mod buffer;
mod direction;
mod error;
mod opencl;
mod state;
mod transfer;
mod turns;

pub use error::{
    CLRDMA_FAILED, CLRDMA_INVALID, CLRDMA_NO_DRIVER, CLRDMA_NO_KERNEL, CLRDMA_NOT_INITIALIZED,
    CLRDMA_OK, CLRDMA_TIMEOUT, CLRDMA_WRONG_DRIVER, clrdma_error_text,
};

use direction::Direction;
use error::{Failure, run};
use opencl::Handle;
use state::STATE;
use std::ffi::{c_int, c_ulong};

/// Returns a handle, which must not be null.
fn some(handle: Handle, what: &str) -> Result<Handle, Failure> {
    match handle.is_null() {
        true => Err(Failure::invalid(format!("the {what} is NULL"))),
        false => Ok(handle),
    }
}

/// Stores a result.
///
/// # Safety
/// The place is null, or may be written.
unsafe fn put<T>(place: *mut T, value: impl FnOnce() -> Result<T, Failure>) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::invalid("the place for the result is NULL"));
    }
    let value = value()?;
    // SAFETY: the caller promises it.
    unsafe { place.write(value) };
    Ok(())
}

/// Names the board: `clrdma.h`.
///
/// # Safety
/// `context` and `device` are null or OpenCL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clrdma_init_altera(context: Handle, device: Handle) -> c_int {
    run(|| {
        some(context, "context")?;
        // SAFETY: the caller promises the device.
        let board = unsafe { board::Board::find(some(device, "device")?) }?;
        STATE.set_board(board);
        Ok(())
    })
}

/// Names the GPU: `clrdma.h`.
///
/// # Safety
/// `context` is null or OpenCL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clrdma_init_nvidia(context: Handle) -> c_int {
    run(|| {
        // SAFETY: the caller promises the context.
        let gpu = unsafe { peerlane_gpu::opencl::gpu_of(some(context, "context")?) }?;
        STATE.set_gpu(gpu);
        Ok(())
    })
}

/// Makes a buffer on the GPU: `clrdma.h`.
///
/// # Safety
/// `context` and `queue` are null or OpenCL's and belong together, `buffer` is null or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clrdma_create_pinnable_buffer_nvidia(
    context: Handle,
    queue: Handle,
    buffer: *mut Handle,
    size: usize,
) -> c_int {
    run(|| {
        if !buffer.is_null() {
            // SAFETY: the caller promises the place.
            unsafe { buffer.write(std::ptr::null_mut()) };
        }
        let make = || {
            let (context, queue) = (some(context, "context")?, some(queue, "queue")?);
            // SAFETY: the caller promises both.
            unsafe { STATE.create(context, queue, size) }
        };
        // SAFETY: the caller promises the place.
        unsafe { put(buffer, make) }
    })
}

/// Returns the place of a buffer in the board's memory: `clrdma.h`.
///
/// # Safety
/// `buffer` is null or OpenCL's, `address` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clrdma_get_buffer_address_altera(
    buffer: Handle,
    _queue: Handle,
    address: *mut c_ulong,
) -> c_int {
    run(|| {
        let find = || {
            let board = STATE.board()?;
            // SAFETY: the caller promises the buffer.
            unsafe { board.address_of(some(buffer, "buffer")?) }
        };
        // SAFETY: the caller promises the place.
        unsafe { put(address, find) }
    })
}

/// Returns the place of a buffer in the GPU's memory: `clrdma.h`.
///
/// # Safety
/// `address` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clrdma_get_buffer_address_nvidia(
    buffer: Handle,
    _queue: Handle,
    address: *mut c_ulong,
) -> c_int {
    // SAFETY: the caller promises the place.
    run(|| unsafe {
        put(address, || {
            Ok(STATE.buffer(some(buffer, "buffer")?)?.address())
        })
    })
}

/// Copies from the board's memory to the GPU's: `clrdma.h`.
#[unsafe(no_mangle)]
pub extern "C" fn read_rdma(
    fpga_address: c_ulong,
    gpu_address: c_ulong,
    size: usize,
    timeout_seconds: c_int,
) -> c_int {
    let direction = Direction::ToGpu;
    run(|| transfer::run(direction, fpga_address, gpu_address, size, timeout_seconds))
}

/// Copies from the GPU's memory to the board's: `clrdma.h`.
#[unsafe(no_mangle)]
pub extern "C" fn write_rdma(
    fpga_address: c_ulong,
    gpu_address: c_ulong,
    size: usize,
    timeout_seconds: c_int,
) -> c_int {
    let direction = Direction::ToBoard;
    run(|| transfer::run(direction, fpga_address, gpu_address, size, timeout_seconds))
}
