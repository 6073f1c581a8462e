//! The platforms, their start, and the loaders' ways to find functions.

mod generated;

pub(crate) use crate::vendor::vendor;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Release;

use peerlane_opencl_api::sys::{
    CL_INVALID_OPERATION, CL_INVALID_PLATFORM, CL_INVALID_VALUE, CL_PLATFORM_EXTENSIONS,
    CL_PLATFORM_EXTENSIONS_WITH_VERSION, CL_PLATFORM_ICD_SUFFIX_KHR, CL_PLATFORM_NOT_FOUND_KHR,
};

use crate::generated::{slot, vendor::Vendor};
use crate::objects::{self, Handle, Held, Kind};
use crate::vendor::{load_once, nested};
use crate::{answers, config, copy, load, offered};
use generated::table::{self, TABLE};

/// Loads the vendor library, once in a process.
fn start() -> &'static Vendor {
    load_once(|| match load::vendor(&config::Config::of_this_machine()) {
        Ok(vendor) if objects::set_up(TABLE.as_ptr().cast_mut().cast()) => vendor,
        Ok(_) => {
            config::explain("no room for handles: 1 GiB of addresses is not available");
            Vendor::NONE
        }
        Err(why) => {
            config::explain(&why);
            Vendor::NONE
        }
    })
}

/// Lists the platforms.
///
/// # Safety
/// As the specification has it.
pub(crate) unsafe extern "C" fn clGetPlatformIDs(
    num_entries: u32,
    platforms: *mut Handle,
    num_platforms: *mut u32,
) -> i32 {
    let none = || {
        // SAFETY: null or the caller's.
        if let Some(place) = unsafe { num_platforms.as_mut() } {
            *place = 0;
        }
        CL_PLATFORM_NOT_FOUND_KHR
    };
    if nested() {
        return none();
    }
    let Some(vendor) = start().clGetPlatformIDs else {
        return none();
    };
    // The vendor's function does not check that there is a place for the number.
    if platforms.is_null() && num_platforms.is_null() {
        return CL_INVALID_VALUE;
    }
    let mut found = 0;
    // SAFETY: the caller's promise.
    unsafe {
        let result = vendor(num_entries, platforms, &mut found);
        if result == 0 && !platforms.is_null() {
            for handle in answers::list(platforms, found.min(num_entries)) {
                *handle = objects::root(*handle, Kind::Platform, null_mut(), Held::nothing());
            }
        }
        if let Some(place) = num_platforms.as_mut() {
            *place = found;
        }
        result
    }
}

/// Returns the vendor's properties of a platform, with the suffix and the extension that loaders need.
///
/// # Safety
/// As the specification has it.
pub(crate) unsafe extern "C" fn clGetPlatformInfo(
    platform: Handle,
    name: u32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> i32 {
    if nested() {
        return CL_INVALID_OPERATION;
    }
    let Some(vendor) = start().clGetPlatformInfo else {
        return CL_INVALID_OPERATION;
    };
    let platform = objects::raw(platform, Kind::Platform);
    // SAFETY: the caller's promise.
    unsafe {
        let copies = copy::possible(start());
        let own = offered::OF_PLATFORM[..1 + usize::from(copies)].to_vec();
        let ask = |size, value, size_ret| vendor(platform, name, size, value, size_ret);
        match name {
            CL_PLATFORM_ICD_SUFFIX_KHR if platform.is_null() => CL_INVALID_PLATFORM,
            CL_PLATFORM_ICD_SUFFIX_KHR => offered::give(suffix(start()), size, value, size_ret),
            CL_PLATFORM_EXTENSIONS => offered::names(ask, size, value, size_ret, &own),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
                offered::versions(ask, size, value, size_ret, &own)
            }
            _ => ask(size, value, size_ret),
        }
    }
}

/// Returns `CL_PLATFORM_ICD_SUFFIX_KHR`: by the end of a function's name, `clGetExtensionFunctionAddress` of a loader
/// finds the platform that has it. It is the vendor's suffix, so that programs from before OpenCL 1.2 find the vendor's
/// functions; else this driver's.
fn suffix(vendor: &Vendor) -> &'static [u8] {
    if vendor.clGetBoardExtensionFunctionAddressIntelFPGA.is_some() {
        b"IntelFPGA\0"
    } else if vendor.clGetBoardExtensionFunctionAddressAltera.is_some() {
        b"Altera\0"
    } else {
        b"Peerlane\0"
    }
}

/// Value in the slots of two functions that no loader calls by the table, when the driver has `cl_khr_icd` 2.0:
/// `CL_ICD2_TAG_KHR` of 64-bit machines.
const TAG: usize = 0x4F50_454E_434C_3331;

/// Returns a function by its name. A loader that asks for `cl_khr_icd` 2.0's last function before it asks for platforms
/// supports that version: from then on the table has its tag. Older loaders never ask, and may call `clUnloadCompiler`
/// by the table.
///
/// # Safety
/// `name` is null or ends with a zero byte.
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> Handle {
    if name.is_null() || nested() {
        return null_mut();
    }
    // SAFETY: the caller's promise.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"clIcdGetPlatformIDsKHR" => crate::clIcdGetPlatformIDsKHR as Handle,
        b"clGetPlatformInfo" => crate::clGetPlatformInfo as Handle,
        b"clIcdGetFunctionAddressForPlatformKHR" => function_for_platform as Handle,
        b"clIcdSetPlatformDispatchDataKHR" => {
            for slot in [slot::clGetPlatformIDs, slot::clUnloadCompiler] {
                TABLE[slot].store(TAG as Handle, Release);
            }
            set_loaders_word as Handle
        }
        name => {
            let vendor = start();
            let found = table::address(vendor, name);
            match found.is_null() && copy::possible(vendor) {
                true => copy::function(name),
                false => found,
            }
        }
    }
}

/// Returns a function of one platform by its name.
///
/// # Safety
/// As for [`clGetExtensionFunctionAddress`].
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    platform: Handle,
    name: *const c_char,
) -> Handle {
    if objects::raw(platform, Kind::Platform).is_null() {
        return null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { clGetExtensionFunctionAddress(name) }
}

/// `clIcdGetFunctionAddressForPlatformKHR`: the function that a loader puts into its own table. Null where the vendor
/// has no such function: the loader has a function of its own that reports this.
///
/// # Safety
/// As for [`clGetExtensionFunctionAddress`].
unsafe extern "C" fn function_for_platform(platform: Handle, name: *const c_char) -> Handle {
    if objects::raw(platform, Kind::Platform).is_null() {
        return null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { clGetExtensionFunctionAddress(name) }
}

/// `clIcdSetPlatformDispatchDataKHR`: the word that all objects of the platform carry for the
/// loader.
///
/// # Safety
/// None: handles are looked up.
unsafe extern "C" fn set_loaders_word(platform: Handle, word: *mut c_void) -> i32 {
    match objects::set_loaders_word(platform, Kind::Platform, word) {
        true => 0,
        false => CL_INVALID_VALUE,
    }
}

/// Finds a function of the board's library. Most do not use OpenCL's objects. The functions of `peerlane_ext.h` do, and
/// the source of their OpenCL functions is not the program's concern.
unsafe fn board_function(
    vendor: Option<BoardFunction>,
    name: *const c_char,
    device: Handle,
) -> Handle {
    if name.is_null() {
        return null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let name = CStr::from_ptr(name);
        match (vendor, name.to_bytes()) {
            (None, _) | (_, b"clSetOpenCLPeerlane") => null_mut(),
            (Some(_), bytes) if bytes.ends_with(b"Peerlane") => {
                copy::peerlane_function(name, device)
            }
            (Some(vendor), _) => vendor(name.as_ptr(), objects::raw(device, Kind::Device)),
        }
    }
}

type BoardFunction = unsafe extern "C" fn(*const c_char, Handle) -> Handle;

/// Finds a function of the board's library, with the name of the open runtime.
///
/// # Safety
/// `name` is null or ends with a zero byte.
pub(crate) unsafe extern "C" fn clGetBoardExtensionFunctionAddressIntelFPGA(
    name: *const c_char,
    device: Handle,
) -> Handle {
    // SAFETY: the caller's promise.
    unsafe {
        board_function(
            vendor().clGetBoardExtensionFunctionAddressIntelFPGA,
            name,
            device,
        )
    }
}

/// Finds a function of the board's library, with the name of the runtimes until 16.1.
///
/// # Safety
/// `name` is null or ends with a zero byte.
pub(crate) unsafe extern "C" fn clGetBoardExtensionFunctionAddressAltera(
    name: *const c_char,
    device: Handle,
) -> Handle {
    // SAFETY: the caller's promise.
    unsafe {
        board_function(
            vendor().clGetBoardExtensionFunctionAddressAltera,
            name,
            device,
        )
    }
}
