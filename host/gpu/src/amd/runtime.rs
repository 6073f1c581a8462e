//! The functions of AMD's runtimes, found at run time: HIP for memory and copies, HSA for dma-bufs.
//!
//! Types are those of `hip/hip_runtime_api.h`, `hsa/hsa.h` and `hsa/hsa_ext_amd.h` of ROCm. Results are numbers, as
//! with CUDA's driver: a newer runtime has results that older headers lack.

use crate::error::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// HIP's library, the newest first: its number is ROCm's.
const HIP: [&str; 4] = [
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
];

/// HSA's library, whose number has not changed since ROCm 1.
const HSA: &str = "libhsa-runtime64.so.1";

/// `hipError_t` or `hsa_status_t`, as a number.
pub(super) type Code = c_int;

/// `hipSuccess` and `HSA_STATUS_SUCCESS`.
const SUCCESS: Code = 0;

/// `hipErrorNotReady`.
pub(super) const NOT_READY: Code = 600;

/// `hipErrorNotSupported`.
pub(super) const NOT_SUPPORTED: Code = 801;

/// `hipDeviceAttributeHdpMemFlushCntl`, "Address of the HDP_MEM_COHERENCY_FLUSH_CNTL register", since ROCm 4.3
/// (hip_runtime_api.h).
pub(super) const HDP_MEM_FLUSH: c_int = 10_005;

/// `hipFlushGPUDirectRDMAWritesTargetCurrentDevice`.
pub(super) const FLUSH_CURRENT_DEVICE: c_int = 0;
/// `hipFlushGPUDirectRDMAWritesToOwner`.
pub(super) const FLUSH_TO_OWNER: c_int = 100;

/// `hipMemcpyKind`.
pub(super) const HOST_TO_DEVICE: c_int = 1;
/// `hipMemcpyKind`.
pub(super) const DEVICE_TO_HOST: c_int = 2;

/// `hipStreamNonBlocking`.
pub(super) const NON_BLOCKING: c_uint = 1;

/// `hipStream_t`.
pub(super) type StreamHandle = *mut c_void;

/// `hipHostFn_t`.
pub(super) type Tell = unsafe extern "C" fn(*mut c_void);

macro_rules! functions {
    ($(#[$about:meta])* $table:ident {
        $($name:ident = $symbol:literal ($($argument:ty),*) -> $result:ty;)*
        $(? $may:ident = $may_symbol:literal ($($may_argument:ty),*) -> $may_result:ty;)*
    }) => {
        $(#[$about])*
        pub(super) struct $table {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            $(pub(super) $may: Option<unsafe extern "C" fn($($may_argument),*) -> $may_result>,)*
        }

        impl $table {
            /// Finds the functions of a library. The error is the symbol that the library lacks.
            ///
            /// # Safety
            /// The library is the runtime, and stays loaded.
            unsafe fn find(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: the types are those of the runtime's header.
                        $name: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }
                            .map_err(|_| $symbol)?,
                    )*
                    $(
                        // SAFETY: as above.
                        $may: unsafe { library.get(concat!($may_symbol, "\0").as_bytes()) }
                            .map(|found| *found)
                            .ok(),
                    )*
                })
            }
        }
    };
}

functions! {
    /// HIP.
    Hip {
        error_name = "hipGetErrorName" (Code) -> *const c_char;
        device_count = "hipGetDeviceCount" (*mut c_int) -> Code;
        device_get = "hipGetDevice" (*mut c_int) -> Code;
        device_set = "hipSetDevice" (c_int) -> Code;
        device_attribute = "hipDeviceGetAttribute" (*mut c_int, c_int, c_int) -> Code;
        device_bus = "hipDeviceGetPCIBusId" (*mut c_char, c_int, c_int) -> Code;
        device_name = "hipDeviceGetName" (*mut c_char, c_int, c_int) -> Code;
        device_synchronize = "hipDeviceSynchronize" () -> Code;
        allocate = "hipMalloc" (*mut *mut c_void, usize) -> Code;
        free = "hipFree" (*mut c_void) -> Code;
        fill = "hipMemset" (*mut c_void, c_int, usize) -> Code;
        copy = "hipMemcpy" (*mut c_void, *const c_void, usize, c_int) -> Code;
        copy_begin = "hipMemcpyAsync" (*mut c_void, *const c_void, usize, c_int, StreamHandle) -> Code;
        address_range = "hipMemGetAddressRange" (*mut *mut c_void, *mut usize, *mut c_void) -> Code;
        stream_create = "hipStreamCreateWithFlags" (*mut StreamHandle, c_uint) -> Code;
        stream_destroy = "hipStreamDestroy" (StreamHandle) -> Code;
        stream_query = "hipStreamQuery" (StreamHandle) -> Code;
        tell = "hipLaunchHostFunc" (StreamHandle, Tell, *mut c_void) -> Code;
        host_register = "hipHostRegister" (*mut c_void, usize, c_uint) -> Code;
        host_unregister = "hipHostUnregister" (*mut c_void) -> Code;
        // Newer ones.
        ? flush = "hipDeviceFlushGPUDirectRDMAWrites" (c_int, c_int) -> Code;
    }
}

functions! {
    /// HSA.
    Hsa {
        init = "hsa_init" () -> Code;
        status = "hsa_status_string" (Code, *mut *const c_char) -> Code;
        export = "hsa_amd_portable_export_dmabuf" (*const c_void, usize, *mut c_int, *mut u64) -> Code;
    }
}

/// Loads a library and never unloads it: the runtimes do not survive an unload.
fn load(name: &str) -> Option<&'static Library> {
    // SAFETY: AMD's runtime, whose initialisation is its own.
    let library = unsafe { Library::new(name) }.ok()?;
    Some(Box::leak(Box::new(library)))
}

fn no(reason: String) -> Error {
    Error::NoRocm { reason }
}

/// Copies text that a runtime keeps.
fn text(place: *const c_char) -> Option<String> {
    // SAFETY: the runtimes give constant strings, or null.
    (!place.is_null()).then(|| unsafe { CStr::from_ptr(place) }.to_string_lossy().into())
}

impl Hip {
    /// Returns the machine's HIP.
    ///
    /// # Errors
    /// [`Error::NoRocm`].
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Hip, String>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            let library = HIP.into_iter().find_map(load);
            let library = library.ok_or("there is no libamdhip64.so on this machine")?;
            // SAFETY: it is HIP, and stays.
            unsafe { Self::find(library) }.map_err(|symbol| format!("HIP has no {symbol}"))
        });
        found.as_ref().map_err(|reason| no(reason.clone()))
    }

    /// Returns the error of a call, if its result is one.
    pub(super) fn check(&self, call: &'static str, code: Code) -> Result<()> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: any number may be asked for.
        let name = text(unsafe { (self.error_name)(code) });
        Err(Error::Rocm {
            call,
            code,
            name: name
                .unwrap_or_else(|| format!("result {code}, which the runtime has no name for")),
        })
    }
}

impl Hsa {
    /// Returns the machine's HSA. It stays started for as long as the process lives, because HIP uses it, too.
    ///
    /// # Errors
    /// [`Error::NoRocm`] and [`Error::Rocm`].
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Hsa, String>> = OnceLock::new();
        static STARTED: OnceLock<Code> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            let library = load(HSA).ok_or_else(|| format!("there is no {HSA} on this machine"))?;
            // SAFETY: it is HSA, and stays.
            unsafe { Self::find(library) }.map_err(|symbol| format!("HSA has no {symbol}"))
        });
        let hsa = found.as_ref().map_err(|reason| no(reason.clone()))?;
        // SAFETY: the call is counted, and this count is never released ("hsa_init").
        let code = *STARTED.get_or_init(|| unsafe { (hsa.init)() });
        hsa.check("hsa_init", code)?;
        Ok(hsa)
    }

    /// Returns the error of a call, if its result is one.
    pub(super) fn check(&self, call: &'static str, code: Code) -> Result<()> {
        if code == SUCCESS {
            return Ok(());
        }
        let mut place = std::ptr::null();
        // SAFETY: the second argument is a place for a string; any number may be asked for.
        let known = unsafe { (self.status)(code, &raw mut place) } == SUCCESS;
        let name = known.then(|| text(place)).flatten();
        Err(Error::Rocm {
            call,
            code,
            name: name
                .unwrap_or_else(|| format!("status {code:#x}, which the runtime has no text for")),
        })
    }
}
