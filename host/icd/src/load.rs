//! Brings the vendor library into the process.
//!
//! Libraries are loaded for themselves (`RTLD_LOCAL`), helpers first, and then bound to each other ([`crate::rebind`]).
//! `RTLD_DEEPBIND` would bind them to each other, too, but also the vendor's calls of `malloc` and of the C++ library;
//! a name space of its own (`dlmopen`) gives callbacks a second C library.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::transmute;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::OnceLock;

use peerlane_opencl_api::sys::CL_DEVICE_TYPE_ALL;

use crate::config::Config;
use crate::generated::vendor::Vendor;
use crate::{elf, rebind, vendor};

mod probe;

/// Tries and loads the vendor library; the error has the reason of a failure.
pub(crate) fn vendor(config: &Result<Config, String>) -> Result<Vendor, String> {
    let config = config.as_ref().map_err(Clone::clone)?;
    if probe::is_running() {
        return Err("another copy of this driver is trying the vendor library".to_owned());
    }
    check(config)?;
    if config.probe {
        probe::run()?;
    }
    load(config)
}

/// Checks the files, as far as their paths are known.
pub(crate) fn check(config: &Config) -> Result<(), String> {
    for library in config.libraries() {
        // The dynamic linker looks for a name without a directory.
        if library.as_os_str().as_bytes().contains(&b'/') {
            elf::check(library)?;
        }
    }
    Ok(())
}

/// Most platforms of a library that are asked for boards; known libraries have one.
const PLATFORMS: usize = 8;

/// The handles of the libraries that were loaded, which stay loaded; exposed.
static LIBRARIES: OnceLock<Vec<usize>> = OnceLock::new();

/// Finds a symbol in one of these libraries or in the libraries that they were linked with; or returns null.
pub(crate) fn symbol(name: &CStr) -> *mut c_void {
    let all = LIBRARIES.get().map_or(&[][..], Vec::as_slice).iter();
    let handles = all.map(|library| with_exposed_provenance_mut(*library));
    // SAFETY: handles of libraries that stay loaded.
    let mut found = handles.map(|handle| unsafe { libc::dlsym(handle, name.as_ptr()) });
    found.find(|found| !found.is_null()).unwrap_or(null_mut())
}

/// Loads the libraries, and checks that the vendor's has a platform.
pub(crate) fn load(config: &Config) -> Result<Vendor, String> {
    let mut libraries = Vec::new();
    for library in config.libraries() {
        libraries.push(open(library)?);
    }
    rebind::rebind(&libraries)?;
    // The first load in a process is the one that counts.
    let _ = LIBRARIES.set(libraries.iter().map(|l| l.expose_provenance()).collect());
    let library = libraries.last().copied().unwrap_or(null_mut());
    let name = config.vendor.display();
    // SAFETY: a library that stays loaded.
    let symbol = |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
    if symbol(c"clGetPlatformIDs").is_null() && is_driver(symbol) {
        return Err(format!(
            "{name} is a driver by itself: name it in a file of /etc/OpenCL/vendors, and not here"
        ));
    }
    if symbol(c"clGetPlatformIDs").is_null() {
        return Err(format!(
            "{name} is not an OpenCL library: it has no clGetPlatformIDs"
        ));
    }
    // The library may be linked with a loader, which has functions of all names.
    let file = file_of(symbol(c"clGetPlatformIDs"));
    let own = |name: &CStr| {
        let found = symbol(name);
        match file_of(found) == file {
            true => found,
            false => null_mut(),
        }
    };
    let extensions = Extensions::of(own);
    let find = |name: &CStr| {
        let found = own(name);
        match found.is_null() {
            true => extensions.find(name),
            false => found,
        }
    };
    // SAFETY: the library gives these names to OpenCL's functions.
    let vendor = unsafe { Vendor::load(find) };
    let mut platforms = 0;
    // SAFETY: such a call asks for the number alone.
    let result = vendor
        .clGetPlatformIDs
        .map(|f| unsafe { f(0, null_mut(), &mut platforms) });
    if vendor::was_nested() {
        return Err(format!(
            "{name} is a loader of drivers, and has loaded this one again"
        ));
    }
    match (result, platforms) {
        (Some(0), 1..) => Ok(vendor),
        (Some(0), 0) => Err(format!("{name} has no platform")),
        (result, _) => {
            let error = result.unwrap_or_default();
            Err(format!(
                "{name} has no platform: its clGetPlatformIDs returns {error}"
            ))
        }
    }
}

/// Checks that a board answers. The query may open boards, so the process that tries the library makes it: its end
/// closes them.
pub(crate) fn check_boards(vendor: &Vendor) -> Result<(), String> {
    let (Some(platforms), Some(devices)) = (vendor.clGetPlatformIDs, vendor.clGetDeviceIDs) else {
        return Ok(());
    };
    let mut list = [null_mut(); PLATFORMS];
    let mut count = 0;
    // SAFETY: a list of so many, and a place for the number.
    if unsafe { platforms(PLATFORMS as u32, list.as_mut_ptr(), &mut count) } != 0 {
        return Ok(());
    }
    let mut answer = 0;
    for platform in list.iter().take(count as usize) {
        let mut found = 0;
        // SAFETY: a platform of the library's; such a call asks for the number alone.
        answer = unsafe { devices(*platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut found) };
        if answer == 0 && found > 0 {
            return Ok(());
        }
    }
    Err(format!(
        "the vendor library has a platform, but no board answers: its clGetDeviceIDs finds no device ({answer})"
    ))
}

/// Whether a library is a driver for OpenCL's loader, which finds its first function in this way (`cl_khr_icd`).
fn is_driver(symbol: impl Fn(&CStr) -> *mut c_void) -> bool {
    let first = c"clIcdGetPlatformIDsKHR";
    // SAFETY: null, or the function of this name; and a name that ends with a zero byte.
    let found = unsafe {
        transmute::<*mut c_void, Option<ByName>>(symbol(c"clGetExtensionFunctionAddress"))
            .map_or(null_mut(), |by_name| by_name(first.as_ptr()))
    };
    !found.is_null() || !symbol(first).is_null()
}

/// Returns the start of the file that holds an address.
fn file_of(address: *mut c_void) -> usize {
    // SAFETY: zeros are an answer that holds nothing.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: a place for the answer.
    match unsafe { libc::dladdr(address, &mut info) } {
        0 => 0,
        _ => info.dli_fbase as usize,
    }
}

type ByName = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type OfPlatform = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Platforms = unsafe extern "C" fn(u32, *mut *mut c_void, *mut u32) -> i32;

/// The way that a vendor library gives the functions of extensions that it does not export.
struct Extensions {
    by_name: Option<ByName>,
    of_platform: Option<OfPlatform>,
    /// The first platform; several platforms of a library have the same functions.
    platform: *mut c_void,
}

impl Extensions {
    fn of(symbol: impl Fn(&CStr) -> *mut c_void) -> Self {
        let mut platform = null_mut();
        // SAFETY: null or the functions of these names; the call fills a list of one.
        unsafe {
            let by_name =
                transmute::<*mut c_void, Option<ByName>>(symbol(c"clGetExtensionFunctionAddress"));
            let of_platform = symbol(c"clGetExtensionFunctionAddressForPlatform");
            let platforms =
                transmute::<*mut c_void, Option<Platforms>>(symbol(c"clGetPlatformIDs"));
            if let Some(platforms) = platforms {
                platforms(1, &mut platform, null_mut());
            }
            Self {
                by_name,
                of_platform: transmute::<*mut c_void, Option<OfPlatform>>(of_platform),
                platform,
            }
        }
    }

    fn find(&self, name: &CStr) -> *mut c_void {
        // SAFETY: a name that ends with a zero byte, and the vendor's platform.
        unsafe {
            let found = match self.of_platform {
                Some(of_platform) if !self.platform.is_null() => {
                    of_platform(self.platform, name.as_ptr())
                }
                _ => null_mut(),
            };
            match self.by_name {
                Some(by_name) if found.is_null() => by_name(name.as_ptr()),
                _ => found,
            }
        }
    }
}

fn open(library: &Path) -> Result<*mut c_void, String> {
    let name = CString::new(library.as_os_str().as_bytes())
        .map_err(|_| format!("{}: not a file name", library.display()))?;
    let flags = libc::RTLD_LAZY | libc::RTLD_LOCAL | libc::RTLD_NODELETE;
    // SAFETY: the constructors of a library that the user has named run.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: the text of this thread's last error, or null.
    let error = unsafe {
        let error = libc::dlerror();
        match error.is_null() {
            true => "cannot be loaded".into(),
            false => CStr::from_ptr(error).to_string_lossy().into_owned(),
        }
    };
    let error = match error.contains(&*library.to_string_lossy()) {
        true => error,
        false => format!("{}: {error}", library.display()),
    };
    Err(match library.as_os_str().as_bytes().contains(&b'/') {
        true => error,
        false => format!("{error} (a name without / is searched in the places of ld.so(8))"),
    })
}
