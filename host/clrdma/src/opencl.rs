//! The functions of OpenCL that this library calls. It is not linked with any OpenCL: it uses the program's.
//!
//! Types and numbers: the OpenCL Specification 3.0 and the OpenCL Registry's cl.xml.

use crate::error::Failure;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// A handle of OpenCL: of a context, a device, a queue, a buffer.
pub(crate) type Handle = *mut c_void;

/// `CL_SUCCESS`.
pub(crate) const SUCCESS: c_int = 0;
const CL_DEVICE_PLATFORM: u32 = 0x1031;
/// `CL_EVENT_COMMAND_EXECUTION_STATUS`.
const CL_STATUS: u32 = 0x11D3;
const CL_COMPLETE: c_int = 0;

/// Function that OpenCL calls when a buffer is gone.
pub(crate) type Gone = unsafe extern "C" fn(Handle, *mut c_void);

type DeviceInfo = unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> c_int;
type ForPlatform = unsafe extern "C" fn(Handle, *const c_char) -> *mut c_void;
type OnEnd = unsafe extern "C" fn(Handle, Gone, *mut c_void) -> c_int;
type One = unsafe extern "C" fn(Handle) -> c_int;
type Marker = unsafe extern "C" fn(Handle, u32, *const Handle, *mut Handle) -> c_int;

/// Sleeps between two looks at a queue: the first one, and the longest.
const PAUSES: Range<Duration> = Duration::from_micros(20)..Duration::from_millis(1);

/// Returns a function of the OpenCL that the program has: linked with it, or loaded since.
fn find(name: &CStr) -> Result<*mut c_void, Failure> {
    const LIBRARIES: [&CStr; 3] = [c"libOpenCL.so.1", c"libOpenCL.so", c"libalteracl.so"];
    let loaded = LIBRARIES.iter().map(|library| {
        // SAFETY: with these flags nothing is loaded, and nothing runs (dlopen(3)).
        unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
    });
    let places = std::iter::once(libc::RTLD_DEFAULT).chain(loaded.filter(|at| !at.is_null()));
    // SAFETY: the handles are good, and the name ends with a 0.
    let mut found = places.map(|place| unsafe { libc::dlsym(place, name.as_ptr()) });
    found.find(|function| !function.is_null()).ok_or_else(|| {
        let name = name.to_string_lossy();
        Failure::failed(format!(
            "this process has no OpenCL with {name}. Link the program with -lOpenCL"
        ))
    })
}

/// Returns the function of a name, with its type.
macro_rules! function {
    ($name:literal, $kind:ty) => {{
        let found = find($name)?;
        // SAFETY: it is the function of this name in CL/cl.h, whose type this is.
        unsafe { std::mem::transmute::<*mut c_void, $kind>(found) }
    }};
}

/// Translates the result of a call.
fn check(call: &str, code: c_int) -> Result<(), Failure> {
    match code {
        SUCCESS => Ok(()),
        code => Err(Failure::failed(format!(
            "{call} failed with {code}: look the number up in CL/cl.h"
        ))),
    }
}

/// Returns the platform of a device.
///
/// # Safety
/// It is a `cl_device_id`.
pub(crate) unsafe fn platform(device: Handle) -> Result<Handle, Failure> {
    let info = function!(c"clGetDeviceInfo", DeviceInfo);
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
    let get = function!(c"clGetExtensionFunctionAddressForPlatform", ForPlatform);
    // SAFETY: the caller promises the platform, and the name ends with a 0.
    let found = unsafe { get(platform, name.as_ptr()) };
    Ok((!found.is_null()).then_some(found))
}

/// Waits until all commands of a queue have ended.
///
/// # Safety
/// It is a `cl_command_queue`.
unsafe fn finish(queue: Handle) -> Result<(), Failure> {
    let finish = function!(c"clFinish", One);
    // SAFETY: the caller promises the queue.
    check("clFinish", unsafe { finish(queue) })
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
    let marker = function!(c"clEnqueueMarkerWithWaitList", Marker);
    let info = function!(c"clGetEventInfo", DeviceInfo);
    let release = function!(c"clReleaseEvent", One);
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
        let code = unsafe { info(event, CL_STATUS, size_of::<c_int>(), place, null_mut()) };
        check("clGetEventInfo", code).map(|()| status)
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
    let flush = function!(c"clFlush", One);
    // SAFETY: the caller promises the queue.
    check("clFlush", unsafe { flush(queue) })
}

/// Retains a buffer until [`release_memory`].
///
/// # Safety
/// It is a `cl_mem`.
pub(crate) unsafe fn retain_memory(buffer: Handle) -> Result<(), Failure> {
    let retain = function!(c"clRetainMemObject", One);
    // SAFETY: the caller promises the buffer.
    check("clRetainMemObject", unsafe { retain(buffer) })
}

/// Releases a buffer.
///
/// # Safety
/// It is a `cl_mem` that was retained.
pub(crate) unsafe fn release_memory(buffer: Handle) -> Result<(), Failure> {
    let release = function!(c"clReleaseMemObject", One);
    // SAFETY: the caller promises the buffer.
    check("clReleaseMemObject", unsafe { release(buffer) })
}

/// Retains a queue until [`release_queue`].
///
/// # Safety
/// It is a `cl_command_queue`.
pub(crate) unsafe fn retain_queue(queue: Handle) -> Result<(), Failure> {
    let retain = function!(c"clRetainCommandQueue", One);
    // SAFETY: the caller promises the queue.
    check("clRetainCommandQueue", unsafe { retain(queue) })
}

/// Releases a queue.
///
/// # Safety
/// It is a `cl_command_queue` that was retained.
pub(crate) unsafe fn release_queue(queue: Handle) -> Result<(), Failure> {
    let release = function!(c"clReleaseCommandQueue", One);
    // SAFETY: the caller promises the queue.
    check("clReleaseCommandQueue", unsafe { release(queue) })
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
    let set = function!(c"clSetMemObjectDestructorCallback", OnEnd);
    // SAFETY: the caller promises it.
    let code = unsafe { set(buffer, gone, user) };
    check("clSetMemObjectDestructorCallback", code)
}
