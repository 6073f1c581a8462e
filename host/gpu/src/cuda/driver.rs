//! The functions of CUDA's driver, found at run time.
//! Results are numbers here, not a Rust enumeration. A newer driver has results that no enumeration of an older manual
//! has, and such a value in an enumeration is undefined behaviour. The same holds for values that functions write
//! through pointers. Enumerations of the bindings are used as arguments only.

use crate::error::{Error, Result};
use cudarc::driver::sys;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

/// The oldest driver with all functions that are called: that of CUDA 11.8, as CUDA writes versions.
const OLDEST: c_int = 11_080;

/// The driver's library. The name with the number comes first: packages of the driver alone have only that.
const LIBRARIES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// `CUresult`, as a number.
pub(crate) type Code = c_int;

/// `CUDA_SUCCESS`.
pub(crate) const SUCCESS: Code = 0;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// The functions, with the types of `cuda.h`.
        pub(crate) struct Driver {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> Code,)*
        }

        impl Driver {
            /// Finds the functions of a library. The error is the symbol that the library lacks.
            ///
            /// # Safety
            /// The library is CUDA's driver, and stays loaded.
            unsafe fn find(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: the types are those of `cuda.h`.
                        $name: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }
                            .map_err(|_| $symbol)?,
                    )*
                })
            }

            /// A driver all of whose functions return a result that no driver has.
            #[cfg(test)]
            pub(crate) fn refusing() -> Self {
                Self {
                    $($name: {
                        unsafe extern "C" fn refuse($(_: $argument),*) -> Code {
                            UNHEARD
                        }
                        refuse
                    },)*
                }
            }
        }
    };
}

/// A result that no driver has.
#[cfg(test)]
pub(crate) const UNHEARD: Code = 54_321;

functions! {
    init = "cuInit" (c_uint);
    version = "cuDriverGetVersion" (*mut c_int);
    error_name = "cuGetErrorName" (Code, *mut *const c_char);
    device_count = "cuDeviceGetCount" (*mut c_int);
    device = "cuDeviceGet" (*mut sys::CUdevice, c_int);
    device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, sys::CUdevice);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, sys::CUdevice);
    device_uuid = "cuDeviceGetUuid_v2" (*mut [u8; 16], sys::CUdevice);
    device_bus = "cuDeviceGetPCIBusId" (*mut c_char, c_int, sys::CUdevice);
    primary_retain = "cuDevicePrimaryCtxRetain" (*mut sys::CUcontext, sys::CUdevice);
    primary_release = "cuDevicePrimaryCtxRelease_v2" (sys::CUdevice);
    context_push = "cuCtxPushCurrent_v2" (sys::CUcontext);
    context_pop = "cuCtxPopCurrent_v2" (*mut sys::CUcontext);
    exchange_capture_mode = "cuThreadExchangeStreamCaptureMode" (*mut c_int);
    flush_writes = "cuFlushGPUDirectRDMAWrites" (c_int, c_int);
    allocate = "cuMemAlloc_v2" (*mut sys::CUdeviceptr, usize);
    free = "cuMemFree_v2" (sys::CUdeviceptr);
    fill = "cuMemsetD8Async" (sys::CUdeviceptr, c_uchar, usize, sys::CUstream);
    copy_in = "cuMemcpyHtoDAsync_v2" (sys::CUdeviceptr, *const c_void, usize, sys::CUstream);
    copy_out = "cuMemcpyDtoHAsync_v2" (*mut c_void, sys::CUdeviceptr, usize, sys::CUstream);
    pointer_set = "cuPointerSetAttribute" (*const c_void, c_int, sys::CUdeviceptr);
    pointer_get = "cuPointerGetAttribute" (*mut c_void, c_int, sys::CUdeviceptr);
    address_range = "cuMemGetAddressRange_v2" (*mut sys::CUdeviceptr, *mut usize, sys::CUdeviceptr);
    range_handle = "cuMemGetHandleForAddressRange" (*mut c_void, sys::CUdeviceptr, usize, c_int, c_ulonglong);
    granularity = "cuMemGetAllocationGranularity" (*mut usize, *const sys::CUmemAllocationProp, c_int);
    create = "cuMemCreate" (*mut c_ulonglong, usize, *const sys::CUmemAllocationProp, c_ulonglong);
    release = "cuMemRelease" (c_ulonglong);
    retain = "cuMemRetainAllocationHandle" (*mut c_ulonglong, *mut c_void);
    reserve = "cuMemAddressReserve" (*mut sys::CUdeviceptr, usize, usize, sys::CUdeviceptr, c_ulonglong);
    unreserve = "cuMemAddressFree" (sys::CUdeviceptr, usize);
    map = "cuMemMap" (sys::CUdeviceptr, usize, usize, c_ulonglong, c_ulonglong);
    unmap = "cuMemUnmap" (sys::CUdeviceptr, usize);
    set_access = "cuMemSetAccess" (sys::CUdeviceptr, usize, *const sys::CUmemAccessDesc, usize);
    export = "cuMemExportToShareableHandle" (*mut c_void, c_ulonglong, c_int, c_ulonglong);
    host_register = "cuMemHostRegister_v2" (*mut c_void, usize, c_uint);
    host_address = "cuMemHostGetDevicePointer_v2" (*mut sys::CUdeviceptr, *mut c_void, c_uint);
    host_unregister = "cuMemHostUnregister" (*mut c_void);
    module_load = "cuModuleLoadData" (*mut sys::CUmodule, *const c_void);
    module_unload = "cuModuleUnload" (sys::CUmodule);
    module_function = "cuModuleGetFunction" (*mut sys::CUfunction, sys::CUmodule, *const c_char);
    launch = "cuLaunchKernel" (
        sys::CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint,
        sys::CUstream, *mut *mut c_void, *mut *mut c_void
    );
    stream_create = "cuStreamCreate" (*mut sys::CUstream, c_uint);
    stream_destroy = "cuStreamDestroy_v2" (sys::CUstream);
    stream_capture = "cuStreamIsCapturing" (sys::CUstream, *mut c_int);
    stream_synchronize = "cuStreamSynchronize" (sys::CUstream);
    event_create = "cuEventCreate" (*mut sys::CUevent, c_uint);
    event_record = "cuEventRecord" (sys::CUevent, sys::CUstream);
    event_query = "cuEventQuery" (sys::CUevent);
    event_synchronize = "cuEventSynchronize" (sys::CUevent);
    event_destroy = "cuEventDestroy_v2" (sys::CUevent);
}

impl Driver {
    /// Returns the machine's driver, if it is new enough, and starts it. It is loaded once, and stays.
    ///
    /// # Errors
    /// [`Error::NoCuda`], [`Error::OldCuda`], and [`Error::Cuda`].
    pub(crate) fn get() -> Result<&'static Self> {
        static LOADED: OnceLock<Option<Library>> = OnceLock::new();
        static FOUND: OnceLock<Driver> = OnceLock::new();
        let library = LOADED.get_or_init(|| {
            let mut found = LIBRARIES.into_iter().map(|name| {
                // SAFETY: the driver's library, whose initialisation is NVIDIA's.
                unsafe { Library::new(name) }
            });
            found.find_map(std::result::Result::ok)
        });
        let library = library.as_ref().ok_or(Error::NoCuda)?;
        if let Some(driver) = FOUND.get() {
            return driver.started();
        }
        // Before the other functions are looked up: an old driver does not have all of them.
        let mut found = 0;
        type Version = unsafe extern "C" fn(*mut c_int) -> Code;
        // SAFETY: every driver has the function, with this type.
        let version = unsafe { library.get::<Version>(b"cuDriverGetVersion\0") };
        let version = version.map_err(|_| Error::NoCuda)?;
        // SAFETY: the argument is a place for the version.
        let code = unsafe { version(&raw mut found) };
        let old = || Error::OldCuda {
            found,
            needed: OLDEST,
        };
        if code != SUCCESS || found < OLDEST {
            return Err(old());
        }
        // SAFETY: it is the driver, and kept in a static.
        let driver = unsafe { Self::find(library) }.map_err(|_| old())?;
        FOUND.get_or_init(|| driver).started()
    }

    /// Starts the driver.
    fn started(&'static self) -> Result<&'static Self> {
        // SAFETY: 0 is the only value of the flags.
        self.check("cuInit", unsafe { (self.init)(0) })?;
        Ok(self)
    }

    /// Returns the error of a call, if its result is one.
    pub(crate) fn check(&self, call: &'static str, code: Code) -> Result<()> {
        match code {
            SUCCESS => Ok(()),
            code => Err(self.error(call, code)),
        }
    }

    /// Makes the error of a call.
    pub(crate) fn error(&self, call: &'static str, code: Code) -> Error {
        let mut name = std::ptr::null();
        // SAFETY: the argument is a place for a string, which the driver keeps; any number may be asked for.
        let known = unsafe { (self.error_name)(code, &raw mut name) };
        let name = match known == SUCCESS && !name.is_null() {
            // SAFETY: the driver has given a string, which stays.
            true => unsafe { CStr::from_ptr(name) }.to_string_lossy().into(),
            false => format!("result {code}, which the driver has no name for"),
        };
        Error::Cuda { call, code, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_nobody_knows_is_an_error_with_its_number() {
        let driver = Driver::refusing();
        assert!(driver.check("cuInit", 0).is_ok());
        // SAFETY: the mock does not read its argument.
        let code = unsafe { (driver.free)(0) };
        let error = driver.check("cuMemFree", code).unwrap_err();
        assert!(matches!(error, Error::Cuda { code: 54_321, .. }));
        assert_eq!(
            error.to_string(),
            "cuMemFree failed: result 54321, which the driver has no name for"
        );
        assert!(!error.hint().is_empty());
    }

    #[test]
    fn a_result_with_a_name_is_told_by_it() {
        unsafe extern "C" fn name(_: Code, place: *mut *const c_char) -> Code {
            // SAFETY: the caller has a place for it.
            unsafe { place.write(c"CUDA_ERROR_CONTAINED".as_ptr()) };
            0
        }
        let driver = Driver {
            error_name: name,
            ..Driver::refusing()
        };
        assert_eq!(
            driver.error("cuCtxSynchronize", 721).to_string(),
            "cuCtxSynchronize failed: CUDA_ERROR_CONTAINED"
        );
    }
}
