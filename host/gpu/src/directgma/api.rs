//! The functions of OpenCL that DirectGMA needs, found at run time.
//!
//! Types and values are those of CL/cl.h and CL/cl_ext.h. For the extension `cl_amd_bus_addressable_memory` they are
//! those of AMD's CL/cl_ext.h, and the conditions that its functions refuse are those of AMD's runtime (ROCm/clr,
//! `opencl/amdocl/cl_sdi_amd.cpp` and `cl_memobj.cpp`).

use crate::error::{Error, Result};
use peerlane_opencl_api::sys::{
    CL_DEVICE_NOT_FOUND, CL_DEVICE_TYPE_GPU, CL_PLATFORM_NOT_FOUND_KHR, cl_mem_flags,
};
use peerlane_opencl_api::{Loader, bytes, list, text};
use std::ffi::CStr;
use std::sync::OnceLock;

/// `cl_platform_id` and all other handles: opaque pointers.
pub type Handle = peerlane_opencl_api::Handle;

/// The extension's name.
pub(super) const EXTENSION: &str = "cl_amd_bus_addressable_memory";

/// In C it is `1 << 31`, a negative number, and becomes 64 bits with all upper ones set. The upper bits mean nothing.
pub(super) const CL_MEM_EXTERNAL_PHYSICAL_AMD: cl_mem_flags = 1 << 31;
pub(super) const CL_MEM_BUS_ADDRESSABLE_AMD: cl_mem_flags = 1 << 30;

/// `cl_bus_address_amd`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BusAddress {
    pub(super) surface: u64,
    pub(super) marker: u64,
}

/// `clEnqueueWaitSignalAMD`.
type WaitSignal = unsafe extern "C" fn(Handle, Handle, u32, u32, *const Handle, *mut Handle) -> i32;
/// `clEnqueueWriteSignalAMD`.
type WriteSignal =
    unsafe extern "C" fn(Handle, Handle, u32, u64, u32, *const Handle, *mut Handle) -> i32;
/// `clEnqueueMakeBuffersResidentAMD`.
type MakeResident = unsafe extern "C" fn(
    Handle,
    u32,
    *const Handle,
    u32,
    *mut BusAddress,
    u32,
    *const Handle,
    *mut Handle,
) -> i32;

peerlane_opencl_api::functions! {
    /// The functions of the loader.
    Api {
        platforms: clGetPlatformIDs_t,
        devices: clGetDeviceIDs_t,
        device_info: clGetDeviceInfo_t,
        extension: clGetExtensionFunctionAddressForPlatform_t,
        context: clCreateContext_t,
        release_context: clReleaseContext_t,
        queue: clCreateCommandQueue_t,
        release_queue: clReleaseCommandQueue_t,
        buffer: clCreateBuffer_t,
        release_memory: clReleaseMemObject_t,
        fill: clEnqueueFillBuffer_t,
        copy: clEnqueueCopyBuffer_t,
        migrate: clEnqueueMigrateMemObjects_t,
        flush: clFlush_t,
        finish: clFinish_t,
        callback: clSetEventCallback_t,
        release_event: clReleaseEvent_t,
    }
}

/// The extension's functions, those of one platform.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extension {
    pub(super) wait_signal: WaitSignal,
    pub(super) write_signal: WriteSignal,
    pub(super) make_resident: MakeResident,
}

/// Makes the error of a part that is missing.
pub(super) fn lacks(reason: impl Into<String>) -> Error {
    Error::NoDirectGma {
        reason: reason.into(),
    }
}

impl Api {
    /// Returns the machine's loader.
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Api, String>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            let loader = Loader::open().ok_or("there is no libOpenCL.so.1 on this machine")?;
            Self::find(&loader).map_err(|symbol| {
                format!("libOpenCL.so.1 has no {symbol}, as one of OpenCL 1.2 has")
            })
        });
        found.as_ref().map_err(|reason| lacks(reason.clone()))
    }

    /// Lists the GPUs of all platforms, each with its platform.
    pub(super) fn gpus(&self) -> Result<Vec<(Handle, Handle)>> {
        let none = CL_PLATFORM_NOT_FOUND_KHR;
        let platforms = list("clGetPlatformIDs", none, |n, at, count| {
            // SAFETY: there are places for `n` handles and for the count.
            unsafe { (self.platforms)(n, at, count) }
        })?;
        let mut gpus = Vec::new();
        for platform in platforms {
            let none = CL_DEVICE_NOT_FOUND;
            let devices = list("clGetDeviceIDs", none, |n, at, count| {
                // SAFETY: a platform of the loader's, and places as above.
                unsafe { (self.devices)(platform, CL_DEVICE_TYPE_GPU, n, at, count) }
            })?;
            gpus.extend(devices.into_iter().map(|device| (platform, device)));
        }
        Ok(gpus)
    }

    /// Returns the bytes of a device's property.
    ///
    /// # Safety
    /// `device` is a device of this OpenCL.
    pub(super) unsafe fn info(&self, device: Handle, name: u32) -> Result<Vec<u8>> {
        Ok(bytes("clGetDeviceInfo", |room, to, size| {
            // SAFETY: the caller promises the device, and there is so much room.
            unsafe { (self.device_info)(device, name, room, to, size) }
        })?)
    }

    /// Returns a device's property as text.
    ///
    /// # Safety
    /// As [`info`](Self::info).
    pub(super) unsafe fn text(&self, device: Handle, name: u32) -> Result<String> {
        Ok(text("clGetDeviceInfo", |room, to, size| {
            // SAFETY: the caller promises the device, and there is so much room.
            unsafe { (self.device_info)(device, name, room, to, size) }
        })?)
    }

    /// Finds the extension's functions.
    ///
    /// # Safety
    /// `platform` is a platform of this OpenCL, one of whose devices has the extension.
    pub(super) unsafe fn extension(&self, platform: Handle) -> Result<Extension> {
        let find = |name: &'static CStr| {
            // SAFETY: the caller promises the platform, and the name ends with 0.
            let function = unsafe { (self.extension)(platform, name.as_ptr()) };
            match function.is_null() {
                true => Err(lacks(format!(
                    "a platform names {EXTENSION} and has no {}",
                    name.to_string_lossy()
                ))),
                false => Ok(function),
            }
        };
        // SAFETY: the functions of these names have these types (AMD's CL/cl_ext.h).
        unsafe {
            Ok(Extension {
                wait_signal: std::mem::transmute::<Handle, WaitSignal>(find(
                    c"clEnqueueWaitSignalAMD",
                )?),
                write_signal: std::mem::transmute::<Handle, WriteSignal>(find(
                    c"clEnqueueWriteSignalAMD",
                )?),
                make_resident: std::mem::transmute::<Handle, MakeResident>(find(
                    c"clEnqueueMakeBuffersResidentAMD",
                )?),
            })
        }
    }
}
