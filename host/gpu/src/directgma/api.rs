//! The functions of OpenCL that DirectGMA needs, found at run time.
//!
//! Types and values are those of CL/cl.h and CL/cl_ext.h. For the extension `cl_amd_bus_addressable_memory` they are
//! those of AMD's CL/cl_ext.h, and the conditions that its functions refuse are those of AMD's runtime (ROCm/clr,
//! `opencl/amdocl/cl_sdi_amd.cpp` and `cl_memobj.cpp`).

use crate::error::{Error, Result};
use crate::opencl::{GetInfo, check, info};
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// `cl_platform_id` and all other handles: opaque pointers.
pub type Handle = *mut c_void;

/// The extension's name.
pub(super) const EXTENSION: &str = "cl_amd_bus_addressable_memory";

pub(super) const CL_SUCCESS: i32 = 0;
pub(super) const CL_COMPLETE: i32 = 0;
pub(super) const CL_TRUE: u32 = 1;
const CL_DEVICE_NOT_FOUND: i32 = -1;
const CL_PLATFORM_NOT_FOUND_KHR: i32 = -1001;
const CL_DEVICE_TYPE_GPU: u64 = 1 << 2;
pub(super) const CL_DEVICE_NAME: u32 = 0x102B;
pub(super) const CL_DEVICE_EXTENSIONS: u32 = 0x1030;
/// `cl_amd_device_attribute_query`.
pub(super) const CL_DEVICE_TOPOLOGY_AMD: u32 = 0x4037;
/// In C it is `1 << 31`, a negative number, and becomes 64 bits with all upper ones set. The upper bits mean nothing.
pub(super) const CL_MEM_EXTERNAL_PHYSICAL_AMD: u64 = 1 << 31;
pub(super) const CL_MEM_BUS_ADDRESSABLE_AMD: u64 = 1 << 30;

/// `cl_bus_address_amd`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BusAddress {
    pub(super) surface: u64,
    pub(super) marker: u64,
}

type Give = unsafe extern "C" fn(Handle) -> i32;
/// `pfn_notify` of `clSetEventCallback`.
pub(super) type Notify = unsafe extern "C" fn(Handle, i32, *mut c_void);
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

macro_rules! functions {
    ($($field:ident = $symbol:literal : $kind:ty;)*) => {
        /// The functions of the loader.
        pub(super) struct Api {
            $(pub(super) $field: $kind,)*
        }

        impl Api {
            fn find(library: &'static Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: the type is that of CL/cl.h, and the library stays.
                        $field: *unsafe { library.get::<$kind>(concat!($symbol, "\0").as_bytes()) }
                            .map_err(|_| $symbol)?,
                    )*
                })
            }
        }
    };
}

functions! {
    platforms = "clGetPlatformIDs": unsafe extern "C" fn(u32, *mut Handle, *mut u32) -> i32;
    devices = "clGetDeviceIDs": unsafe extern "C" fn(Handle, u64, u32, *mut Handle, *mut u32) -> i32;
    device_info = "clGetDeviceInfo": GetInfo;
    extension = "clGetExtensionFunctionAddressForPlatform": unsafe extern "C" fn(Handle, *const c_char) -> *mut c_void;
    context = "clCreateContext": unsafe extern "C" fn(
        *const isize, u32, *const Handle, *const c_void, *mut c_void, *mut i32
    ) -> Handle;
    release_context = "clReleaseContext": Give;
    queue = "clCreateCommandQueue": unsafe extern "C" fn(Handle, Handle, u64, *mut i32) -> Handle;
    release_queue = "clReleaseCommandQueue": Give;
    buffer = "clCreateBuffer": unsafe extern "C" fn(Handle, u64, usize, *mut c_void, *mut i32) -> Handle;
    release_memory = "clReleaseMemObject": Give;
    fill = "clEnqueueFillBuffer": unsafe extern "C" fn(
        Handle, Handle, *const c_void, usize, usize, usize, u32, *const Handle, *mut Handle
    ) -> i32;
    copy = "clEnqueueCopyBuffer": unsafe extern "C" fn(
        Handle, Handle, Handle, usize, usize, usize, u32, *const Handle, *mut Handle
    ) -> i32;
    migrate = "clEnqueueMigrateMemObjects": unsafe extern "C" fn(
        Handle, u32, *const Handle, u64, u32, *const Handle, *mut Handle
    ) -> i32;
    flush = "clFlush": Give;
    finish = "clFinish": Give;
    callback = "clSetEventCallback": unsafe extern "C" fn(Handle, i32, Notify, *mut c_void) -> i32;
    release_event = "clReleaseEvent": Give;
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

/// Returns a handle that a call has made, unless its result is an error.
pub(super) fn made(call: &'static str, make: impl FnOnce(*mut i32) -> Handle) -> Result<Handle> {
    let mut code = CL_SUCCESS;
    let handle = make(&raw mut code);
    check(call, code)?;
    match handle.is_null() {
        // Neither a handle nor an error.
        true => Err(Error::OpenClCall { call, code }),
        false => Ok(handle),
    }
}

impl Api {
    /// Returns the machine's loader. It stays loaded: platforms do not survive an unload.
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Api, String>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            // SAFETY: the loader of OpenCL platforms, whose initialisation is its own.
            let library = unsafe { Library::new("libOpenCL.so.1") };
            let library = library.map_err(|_| "there is no libOpenCL.so.1 on this machine")?;
            Self::find(Box::leak(Box::new(library))).map_err(|symbol| {
                format!("libOpenCL.so.1 has no {symbol}, as one of OpenCL 1.2 has")
            })
        });
        found.as_ref().map_err(|reason| lacks(reason.clone()))
    }

    /// Returns all handles that a function lists.
    fn list(
        call: &'static str,
        none: i32,
        get: impl Fn(u32, *mut Handle, *mut u32) -> i32,
    ) -> Result<Vec<Handle>> {
        let mut count = 0;
        match get(0, null_mut(), &raw mut count) {
            code if code == none => return Ok(Vec::new()),
            code => check(call, code)?,
        }
        let mut handles = vec![null_mut(); count as usize];
        let mut found = count;
        check(call, get(count, handles.as_mut_ptr(), &raw mut found))?;
        handles.truncate(found as usize);
        Ok(handles)
    }

    /// Lists the GPUs of all platforms, each with its platform.
    pub(super) fn gpus(&self) -> Result<Vec<(Handle, Handle)>> {
        let none = CL_PLATFORM_NOT_FOUND_KHR;
        let platforms = Self::list("clGetPlatformIDs", none, |n, at, count| {
            // SAFETY: there are places for `n` handles and for the count.
            unsafe { (self.platforms)(n, at, count) }
        })?;
        let mut gpus = Vec::new();
        for platform in platforms {
            let none = CL_DEVICE_NOT_FOUND;
            let devices = Self::list("clGetDeviceIDs", none, |n, at, count| {
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
        // SAFETY: the caller promises the device.
        unsafe { info(self.device_info, "clGetDeviceInfo", device, name) }
    }

    /// Returns a device's property as text.
    ///
    /// # Safety
    /// As [`info`](Self::info).
    pub(super) unsafe fn text(&self, device: Handle, name: u32) -> Result<String> {
        // SAFETY: the caller promises it.
        let bytes = unsafe { self.info(device, name)? };
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_end_matches('\0').trim().to_owned())
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
