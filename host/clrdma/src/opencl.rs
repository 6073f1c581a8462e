//! The functions of OpenCL that this library calls. It is not linked with any OpenCL: it uses the program's.

use crate::error::Failure;
use peerlane_opencl_api::sys::{
    CL_COMPLETE, CL_DEVICE_PLATFORM, CL_EVENT_COMMAND_EXECUTION_STATUS,
};
use peerlane_opencl_api::{Failed, Process, check};
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

pub(crate) use peerlane_opencl_api::Handle;

/// Function that OpenCL calls when a buffer is gone.
pub(crate) type Gone = unsafe extern "C" fn(Handle, *mut c_void);

/// Sleeps between two looks at a queue: the first one, and the longest.
const PAUSES: Range<Duration> = Duration::from_micros(20)..Duration::from_millis(1);

/// Returns a function of the OpenCL that the program has: linked with it, or loaded since.
macro_rules! function {
    ($kind:ident) => {
        peerlane_opencl_api::function!(&Process, $kind).map_err(|name| {
            Failure::failed(format!(
                "this process has no OpenCL with {name}. Link the program with -lOpenCL"
            ))
        })?
    };
}

impl From<Failed> for Failure {
    fn from(Failed { call, code }: Failed) -> Self {
        Self::failed(format!(
            "{call} failed with {code}: look the number up in CL/cl.h"
        ))
    }
}

/// Returns the platform of a device.
///
/// # Safety
/// It is a `cl_device_id`.
pub(crate) unsafe fn platform(device: Handle) -> Result<Handle, Failure> {
    let info = function!(clGetDeviceInfo_t);
    let mut platform: Handle = null_mut();
    let room = size_of::<Handle>();
    // SAFETY: the caller promises the device, and the place has this much room.
    let code = unsafe {
        let place = (&raw mut platform).cast();
        info(device, CL_DEVICE_PLATFORM, room, place, null_mut())
    };
    check("clGetDeviceInfo", code)?;
    Ok(platform)
}

/// Returns a function that a platform has in addition to OpenCL's.
///
/// # Safety
/// It is a `cl_platform_id`.
pub(crate) unsafe fn of_platform(
    platform: Handle,
    name: &CStr,
) -> Result<Option<*mut c_void>, Failure> {
    let get = function!(clGetExtensionFunctionAddressForPlatform_t);
    // SAFETY: the caller promises the platform, and the name ends with a 0.
    let found = unsafe { get(platform, name.as_ptr()) };
    Ok((!found.is_null()).then_some(found))
}

/// Waits until all commands of a queue have ended.
///
/// # Safety
/// It is a `cl_command_queue`.
unsafe fn finish(queue: Handle) -> Result<(), Failure> {
    let finish = function!(clFinish_t);
    // SAFETY: the caller promises the queue.
    Ok(check("clFinish", unsafe { finish(queue) })?)
}

/// Waits until all commands of a queue have ended, or until a deadline. Returns whether they have.
///
/// # Safety
/// As [`finish`].
pub(crate) unsafe fn finish_by(queue: Handle, deadline: Option<Instant>) -> Result<bool, Failure> {
    let Some(deadline) = deadline else {
        // SAFETY: the caller promises the queue.
        return unsafe { finish(queue) }.map(|()| true);
    };
    let marker = function!(clEnqueueMarkerWithWaitList_t);
    let info = function!(clGetEventInfo_t);
    let release = function!(clReleaseEvent_t);
    let mut event = null_mut();
    // SAFETY: the caller promises the queue; no list, and a place for the event.
    let code = unsafe { marker(queue, 0, null(), &raw mut event) };
    check("clEnqueueMarkerWithWaitList", code)?;
    // SAFETY: as above.
    let flushed = unsafe { flush(queue) };
    let begin = Instant::now();
    let ask = || {
        let mut status = CL_COMPLETE;
        let place = (&raw mut status).cast();
        // SAFETY: a living event, and a place for a `cl_int`.
        let code = unsafe {
            info(
                event,
                CL_EVENT_COMMAND_EXECUTION_STATUS,
                size_of::<c_int>(),
                place,
                null_mut(),
            )
        };
        check("clGetEventInfo", code)?;
        Ok::<_, Failure>(status)
    };
    let ended = flushed.and_then(|()| {
        loop {
            let status = ask()?;
            if status <= CL_COMPLETE {
                check("a command of the buffer's queue", status)?;
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            // This notices the end late by no more than a part of the time that the commands took.
            let pause = (begin.elapsed() / 8).clamp(PAUSES.start, PAUSES.end);
            std::thread::sleep(pause.min(left));
        }
    });
    // SAFETY: this releases the reference that the call made.
    unsafe { release(event) };
    ended
}

/// Makes the enqueued commands begin.
///
/// # Safety
/// As [`finish`].
pub(crate) unsafe fn flush(queue: Handle) -> Result<(), Failure> {
    let flush = function!(clFlush_t);
    // SAFETY: the caller promises the queue.
    Ok(check("clFlush", unsafe { flush(queue) })?)
}

/// Retains a buffer until [`release_memory`].
///
/// # Safety
/// It is a `cl_mem`.
pub(crate) unsafe fn retain_memory(buffer: Handle) -> Result<(), Failure> {
    let retain = function!(clRetainMemObject_t);
    // SAFETY: the caller promises the buffer.
    Ok(check("clRetainMemObject", unsafe { retain(buffer) })?)
}

/// Releases a buffer.
///
/// # Safety
/// It is a `cl_mem` that was retained.
pub(crate) unsafe fn release_memory(buffer: Handle) -> Result<(), Failure> {
    let release = function!(clReleaseMemObject_t);
    // SAFETY: the caller promises the buffer.
    Ok(check("clReleaseMemObject", unsafe { release(buffer) })?)
}

/// Retains a queue until [`release_queue`].
///
/// # Safety
/// It is a `cl_command_queue`.
pub(crate) unsafe fn retain_queue(queue: Handle) -> Result<(), Failure> {
    let retain = function!(clRetainCommandQueue_t);
    // SAFETY: the caller promises the queue.
    Ok(check("clRetainCommandQueue", unsafe { retain(queue) })?)
}

/// Releases a queue.
///
/// # Safety
/// It is a `cl_command_queue` that was retained.
pub(crate) unsafe fn release_queue(queue: Handle) -> Result<(), Failure> {
    let release = function!(clReleaseCommandQueue_t);
    // SAFETY: the caller promises the queue.
    Ok(check("clReleaseCommandQueue", unsafe { release(queue) })?)
}

/// Has a function called when a buffer is gone.
///
/// # Safety
/// It is a `cl_mem`, and the function may be called with `user` once, from any thread.
pub(crate) unsafe fn when_gone(
    buffer: Handle,
    gone: Gone,
    user: *mut c_void,
) -> Result<(), Failure> {
    let set = function!(clSetMemObjectDestructorCallback_t);
    // SAFETY: the caller promises it.
    let code = unsafe { set(buffer, Some(gone), user) };
    Ok(check("clSetMemObjectDestructorCallback", code)?)
}
