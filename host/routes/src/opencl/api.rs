//! The functions of OpenCL that copies need, found at run time. Types and values are those of CL/cl.h.

use crate::error::{Error, Result};
use libloading::Library;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// `cl_platform_id` and all other handles: opaque pointers.
pub type Handle = *mut c_void;

pub(super) const CL_SUCCESS: i32 = 0;
pub(super) const CL_FALSE: u32 = 0;
pub(super) const CL_TRUE: u32 = 1;
pub(super) const CL_COMPLETE: i32 = 0;
pub(super) const CL_DEVICE_NOT_FOUND: i32 = -1;
/// An error of the loader, where there is no driver (cl_khr_icd).
pub(super) const CL_PLATFORM_NOT_FOUND_KHR: i32 = -1001;
pub(super) const CL_DEVICE_TYPE_ALL: u64 = 0xFFFF_FFFF;
pub(super) const CL_EVENT_COMMAND_EXECUTION_STATUS: u32 = 0x11D3;
pub(super) const CL_PLATFORM_NAME: u32 = 0x0902;
pub(super) const CL_DEVICE_NAME: u32 = 0x102B;
pub(super) const CL_MEM_READ_WRITE: u64 = 1 << 0;
pub(super) const CL_MEM_ALLOC_HOST_PTR: u64 = 1 << 4;
pub(super) const CL_MAP_READ: u64 = 1 << 0;
pub(super) const CL_MAP_WRITE: u64 = 1 << 1;

type Info = unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
type Give = unsafe extern "C" fn(Handle) -> i32;
/// `pfn_notify` of `clSetEventCallback`.
pub(super) type Notify = unsafe extern "C" fn(Handle, i32, *mut c_void);
/// `clEnqueueReadBuffer` and `clEnqueueWriteBuffer`, which differ in their use of the pointer.
pub(super) type Enqueue = unsafe extern "C" fn(
    Handle,
    Handle,
    u32,
    usize,
    usize,
    *mut c_void,
    u32,
    *const Handle,
    *mut Handle,
) -> i32;

macro_rules! functions {
    ($($field:ident = $symbol:literal : $kind:ty;)*) => {
        /// The functions.
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
    platform_info = "clGetPlatformInfo": Info;
    devices = "clGetDeviceIDs": unsafe extern "C" fn(Handle, u64, u32, *mut Handle, *mut u32) -> i32;
    device_info = "clGetDeviceInfo": Info;
    context = "clCreateContext": unsafe extern "C" fn(
        *const isize, u32, *const Handle, *const c_void, *mut c_void, *mut i32
    ) -> Handle;
    retain_context = "clRetainContext": Give;
    release_context = "clReleaseContext": Give;
    queue = "clCreateCommandQueue": unsafe extern "C" fn(Handle, Handle, u64, *mut i32) -> Handle;
    release_queue = "clReleaseCommandQueue": Give;
    buffer = "clCreateBuffer": unsafe extern "C" fn(Handle, u64, usize, *mut c_void, *mut i32) -> Handle;
    retain_memory = "clRetainMemObject": Give;
    release_memory = "clReleaseMemObject": Give;
    read = "clEnqueueReadBuffer": Enqueue;
    write = "clEnqueueWriteBuffer": Enqueue;
    map = "clEnqueueMapBuffer": unsafe extern "C" fn(
        Handle, Handle, u32, u64, usize, usize, u32, *const Handle, *mut Handle, *mut i32
    ) -> *mut c_void;
    unmap = "clEnqueueUnmapMemObject": unsafe extern "C" fn(
        Handle, Handle, *mut c_void, u32, *const Handle, *mut Handle
    ) -> i32;
    flush = "clFlush": Give;
    finish = "clFinish": Give;
    callback = "clSetEventCallback": unsafe extern "C" fn(Handle, i32, Notify, *mut c_void) -> i32;
    event_info = "clGetEventInfo": Info;
    wait = "clWaitForEvents": unsafe extern "C" fn(u32, *const Handle) -> i32;
    release_event = "clReleaseEvent": Give;
}

impl Api {
    /// Returns the machine's loader. It stays loaded: platforms do not survive an unload.
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Api, String>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            // SAFETY: the loader of OpenCL platforms, whose initialisation is its own.
            let library = unsafe { Library::new("libOpenCL.so.1") };
            let library = library.map_err(|_| "there is no libOpenCL.so.1".to_owned())?;
            Self::find(Box::leak(Box::new(library)))
                .map_err(|symbol| format!("libOpenCL.so.1 has no {symbol}"))
        });
        found.as_ref().map_err(|reason| Error::NoOpenCl {
            reason: reason.clone(),
        })
    }
}

/// Returns the error of a call, if its result is one.
pub(super) fn checked(call: &'static str, code: i32) -> Result<()> {
    match code {
        CL_SUCCESS => Ok(()),
        code => Err(Error::OpenCl { call, code }),
    }
}

/// Returns a handle that a call has made, unless its result is an error.
pub(super) fn made(call: &'static str, make: impl FnOnce(*mut i32) -> Handle) -> Result<Handle> {
    let mut code = CL_SUCCESS;
    let handle = make(&raw mut code);
    checked(call, code)?;
    match handle.is_null() {
        // Neither a handle nor an error.
        true => Err(Error::OpenCl { call, code }),
        false => Ok(handle),
    }
}

/// Returns a text of an information function.
///
/// # Safety
/// `of` is a handle that the function takes.
pub(super) unsafe fn text(get: Info, call: &'static str, of: Handle, name: u32) -> Result<String> {
    let mut size = 0;
    // SAFETY: without a place for the value the function gives the size.
    checked(call, unsafe { get(of, name, 0, null_mut(), &raw mut size) })?;
    let mut bytes = vec![0_u8; size];
    // SAFETY: the place is as long as it says.
    let code = unsafe { get(of, name, size, bytes.as_mut_ptr().cast(), null_mut()) };
    checked(call, code)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches('\0').trim().to_owned())
}

/// Returns all handles that a function lists.
pub(super) fn list(
    call: &'static str,
    none: i32,
    get: impl Fn(u32, *mut Handle, *mut u32) -> i32,
) -> Result<Vec<Handle>> {
    let mut count = 0;
    match get(0, null_mut(), &raw mut count) {
        code if code == none => return Ok(Vec::new()),
        code => checked(call, code)?,
    }
    let mut handles = vec![null_mut(); count as usize];
    let mut found = count;
    checked(call, get(count, handles.as_mut_ptr(), &raw mut found))?;
    handles.truncate(found as usize);
    Ok(handles)
}
