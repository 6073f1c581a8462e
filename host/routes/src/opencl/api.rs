//! The functions of OpenCL that copies need, found at run time.

use crate::error::{Error, Result};
use peerlane_opencl_api::{Failed, Loader, sys};
use std::sync::OnceLock;

/// `cl_platform_id` and all other handles: opaque pointers.
pub type Handle = peerlane_opencl_api::Handle;

peerlane_opencl_api::functions! {
    /// The functions.
    Api {
        platforms: clGetPlatformIDs_t,
        platform_info: clGetPlatformInfo_t,
        devices: clGetDeviceIDs_t,
        device_info: clGetDeviceInfo_t,
        context: clCreateContext_t,
        retain_context: clRetainContext_t,
        release_context: clReleaseContext_t,
        queue: clCreateCommandQueue_t,
        release_queue: clReleaseCommandQueue_t,
        buffer: clCreateBuffer_t,
        retain_memory: clRetainMemObject_t,
        release_memory: clReleaseMemObject_t,
        read: clEnqueueReadBuffer_t,
        write: clEnqueueWriteBuffer_t,
        map: clEnqueueMapBuffer_t,
        unmap: clEnqueueUnmapMemObject_t,
        flush: clFlush_t,
        finish: clFinish_t,
        callback: clSetEventCallback_t,
        event_info: clGetEventInfo_t,
        wait: clWaitForEvents_t,
        release_event: clReleaseEvent_t,
    }
}

impl Api {
    /// Returns the machine's loader.
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Api, String>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            let loader = Loader::open().ok_or("there is no libOpenCL.so.1")?;
            Self::find(&loader).map_err(|symbol| format!("libOpenCL.so.1 has no {symbol}"))
        });
        found.as_ref().map_err(|reason| Error::NoOpenCl {
            reason: reason.clone(),
        })
    }
}

impl From<Failed> for Error {
    fn from(Failed { call, code }: Failed) -> Self {
        Self::OpenCl { call, code }
    }
}

/// Returns the name of a device.
///
/// # Safety
/// It is a device of this OpenCL.
pub(super) unsafe fn device_name(api: &Api, device: Handle) -> Result<String> {
    let name = peerlane_opencl_api::text("clGetDeviceInfo", |room, to, size| {
        // SAFETY: the caller promises the device, and there is so much room.
        unsafe { (api.device_info)(device, sys::CL_DEVICE_NAME, room, to, size) }
    });
    Ok(name?)
}
