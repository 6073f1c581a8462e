//! `libpeerlane_icd.so`: an OpenCL driver around a vendor library that is not a driver itself.
//!
//! OpenCL's loaders take a library for a driver if its objects begin with a dispatch table (`cl_khr_icd`). The FPGA
//! vendors' libraries before AOCL 15 have none; each is meant to be the only OpenCL of a process. This library loads
//! such a library next to all others (`load`), wraps each of its objects (`objects`), and translates handles in every
//! function of OpenCL (`generated`, by `host/icd/gen`), lists and structures (`arguments`), answers (`answers`) and
//! callbacks (`callbacks`). Copies between its buffers and those of other platforms are its own (`copy`).
//!
//! `docs/program/icd.md` has the setup, and the rules of handles.

#![allow(non_snake_case, reason = "the specification's names")]

#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_pointer_width = "64"
)))]
compile_error!("the vendor library is bound for x86-64 Linux only");

mod answers;
mod arguments;
mod callbacks;
mod config;
mod copy;
mod elf;
mod generated;
mod load;
mod objects;
mod offered;
mod platform;
mod rebind;
mod vendor;

use std::ffi::{c_char, c_void};

/// Result also of functions that the vendor library lacks.
use peerlane_opencl_api::sys::CL_INVALID_OPERATION as INVALID_OPERATION;

/// Finds functions of the driver by their names (`cl_khr_icd`).
///
/// # Safety
/// `name` ends with a zero byte, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { platform::clGetExtensionFunctionAddress(name) }
}

/// Lists the platforms, for a loader (`cl_khr_icd`).
///
/// # Safety
/// As of `clGetPlatformIDs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: u32,
    platforms: *mut *mut c_void,
    num_platforms: *mut u32,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { platform::clGetPlatformIDs(num_entries, platforms, num_platforms) }
}

/// Returns a property of a platform. Loaders ask for this name before they have an object.
///
/// # Safety
/// As the specification has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: *mut c_void,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        platform::clGetPlatformInfo(
            platform,
            param_name,
            param_value_size,
            param_value,
            param_value_size_ret,
        )
    }
}

/// Returns the number of the vendor's objects that are wrapped, for tests of lifetimes.
#[unsafe(no_mangle)]
pub extern "C" fn peerlane_icd_live() -> u64 {
    objects::live()
}
