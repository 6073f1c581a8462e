//! The platforms, their start, and how loaders find functions.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, Release},
};

use crate::generated::{
    table::{self, TABLE},
    vendor::Vendor,
};
use crate::objects::{self, Handle, Held, Kind};
use crate::{INVALID_OPERATION, INVALID_VALUE, PLATFORM_NOT_FOUND, answers, config, load, offered};

/// The vendor's functions, once they are loaded or known to be missing.
static VENDOR: OnceLock<Vendor> = OnceLock::new();
/// For calls that need nobody's library.
static NOBODY: Vendor = Vendor::NONE;
/// The thread that loads the vendor library; 0 if none does.
static LOADING: AtomicUsize = AtomicUsize::new(0);

/// The vendor's functions; none before [`start`].
#[inline]
pub(crate) fn vendor() -> &'static Vendor {
    VENDOR.get().unwrap_or(&NOBODY)
}

/// Whether what was loaded has called this library.
static NESTED: AtomicBool = AtomicBool::new(false);

/// This thread loads the vendor library.
pub(crate) fn set_loading() {
    // SAFETY: always succeeds.
    LOADING.store(unsafe { libc::pthread_self() } as usize, Relaxed);
}

/// Whether this thread is loading the vendor library: that has called a loader of OpenCL, which has
/// come here.
fn nested() -> bool {
    // SAFETY: always succeeds.
    let nested = LOADING.load(Relaxed) == unsafe { libc::pthread_self() } as usize;
    if nested {
        NESTED.store(true, Relaxed);
    }
    nested
}

/// Whether what was loaded is itself a loader.
pub(crate) fn was_nested() -> bool {
    NESTED.load(Relaxed)
}

/// Loads the vendor library, once in a process.
fn start() -> &'static Vendor {
    VENDOR.get_or_init(|| {
        set_loading();
        let vendor = match load::vendor(&config::Config::of_this_machine()) {
            Ok(vendor) if objects::set_up() => vendor,
            Ok(_) => {
                config::explain("no room for handles: 1 GiB of addresses is not to be had");
                Vendor::NONE
            }
            Err(why) => {
                config::explain(&why);
                Vendor::NONE
            }
        };
        LOADING.store(0, Relaxed);
        vendor
    })
}

/// The platforms.
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
        PLATFORM_NOT_FOUND
    };
    if nested() {
        return none();
    }
    let Some(vendor) = start().clGetPlatformIDs else {
        return none();
    };
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

/// The vendor's answers, with the suffix and the extension that loaders want.
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
        return INVALID_OPERATION;
    }
    let Some(vendor) = start().clGetPlatformInfo else {
        return INVALID_OPERATION;
    };
    let platform = objects::raw(platform, Kind::Platform);
    // SAFETY: the caller's promise.
    unsafe {
        let ask = |size, value, size_ret| vendor(platform, name, size, value, size_ret);
        match name {
            offered::PLATFORM_SUFFIX => offered::give(offered::SUFFIX, size, value, size_ret),
            offered::PLATFORM_EXTENSIONS => offered::names(ask, size, value, size_ret, true),
            offered::PLATFORM_VERSIONS => offered::versions(ask, size, value, size_ret, true),
            _ => ask(size, value, size_ret),
        }
    }
}

/// What stands in the slots of two functions that no loader calls by the table, when the driver
/// has `cl_khr_icd` 2.0: `CL_ICD2_TAG_KHR` of 64-bit machines.
const TAG: usize = 0x4F50_454E_434C_3331;

/// A function by its name. A loader that asks for `cl_khr_icd` 2.0's last function, before it asks
/// for platforms, knows it: from then on the table has its tag. Older loaders never ask, and may call
/// `clUnloadCompiler` by the table.
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
            for slot in [table::GET_PLATFORM_IDS, table::UNLOAD_COMPILER] {
                TABLE[slot].store(TAG as Handle, Release);
            }
            set_loaders_word as Handle
        }
        name => table::address(start(), name),
    }
}

/// The same for the functions of one platform.
///
/// # Safety
/// As of [`clGetExtensionFunctionAddress`].
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    _: Handle,
    name: *const c_char,
) -> Handle {
    // SAFETY: the caller's promise.
    unsafe { clGetExtensionFunctionAddress(name) }
}

/// `clIcdGetFunctionAddressForPlatformKHR`: what a loader puts into its own table. Null where the
/// vendor has no such function: the loader has one that says so.
///
/// # Safety
/// As of [`clGetExtensionFunctionAddress`].
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
        false => INVALID_VALUE,
    }
}

/// A function of the board's library, which knows nothing of OpenCL's objects. Ours does
/// (`peerlane_ext.h`): its functions take the vendor's handles, which a program with this driver has
/// not, so they are not given out.
unsafe fn board_function(
    vendor: Option<BoardFunction>,
    name: *const c_char,
    device: Handle,
) -> Handle {
    // SAFETY: the caller's promise.
    unsafe {
        match vendor {
            Some(vendor)
                if !name.is_null() && !CStr::from_ptr(name).to_bytes().ends_with(b"Peerlane") =>
            {
                vendor(name, objects::raw(device, Kind::Device))
            }
            _ => null_mut(),
        }
    }
}

type BoardFunction = unsafe extern "C" fn(*const c_char, Handle) -> Handle;

/// Of the open runtime.
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

/// Of the runtimes until 16.1.
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
