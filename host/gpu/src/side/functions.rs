//! The functions of CUDA's driver that asynchronous copies need, in addition to those of [`crate::cuda`].

use crate::error::{Error, Result};
use cudarc::driver::sys;
use libloading::Library;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

/// `CUDA_ERROR_NOT_READY`.
pub(super) const NOT_READY: c_int = 600;

/// `CUhostFn`.
pub(super) type Tell = unsafe extern "C" fn(*mut c_void);

/// The functions, with the types of `cuda.h`.
pub(super) struct Functions {
    pub(super) create: unsafe extern "C" fn(*mut sys::CUstream, c_uint) -> c_int,
    pub(super) destroy: unsafe extern "C" fn(sys::CUstream) -> c_int,
    pub(super) query: unsafe extern "C" fn(sys::CUstream) -> c_int,
    pub(super) copy_in:
        unsafe extern "C" fn(sys::CUdeviceptr, *const c_void, usize, sys::CUstream) -> c_int,
    pub(super) copy_out:
        unsafe extern "C" fn(*mut c_void, sys::CUdeviceptr, usize, sys::CUstream) -> c_int,
    pub(super) tell: unsafe extern "C" fn(sys::CUstream, Tell, *mut c_void) -> c_int,
    pub(super) wait: unsafe extern "C" fn(sys::CUstream, sys::CUevent, c_uint) -> c_int,
}

impl Functions {
    /// Returns those of the machine's driver, which is loaded once and stays.
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Option<Functions>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            // SAFETY: the driver's library, whose initialisation is NVIDIA's.
            let library = unsafe { Library::new("libcuda.so.1") }.ok()?;
            let library: &'static Library = Box::leak(Box::new(library));
            // SAFETY: the types are those of `cuda.h`, and the library stays.
            unsafe {
                Some(Self {
                    create: *library.get(b"cuStreamCreate\0").ok()?,
                    destroy: *library.get(b"cuStreamDestroy_v2\0").ok()?,
                    query: *library.get(b"cuStreamQuery\0").ok()?,
                    copy_in: *library.get(b"cuMemcpyHtoDAsync_v2\0").ok()?,
                    copy_out: *library.get(b"cuMemcpyDtoHAsync_v2\0").ok()?,
                    tell: *library.get(b"cuLaunchHostFunc\0").ok()?,
                    wait: *library.get(b"cuStreamWaitEvent\0").ok()?,
                })
            }
        });
        found.as_ref().ok_or(Error::NoCuda)
    }
}
