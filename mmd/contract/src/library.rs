//! A library that is found and loaded as the runtime does it.

use crate::{Calls, DeviceHandler, InterruptHandler, StatusHandler, Version};
use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::path::Path;

type OfflineInfo = unsafe extern "C" fn(c_int, usize, *mut c_void, *mut usize) -> c_int;
type Info = unsafe extern "C" fn(c_int, c_int, usize, *mut c_void, *mut usize) -> c_int;
type SetInterrupt = unsafe extern "C" fn(c_int, Option<InterruptHandler>, *mut c_void) -> c_int;
type SetStatus = unsafe extern "C" fn(c_int, Option<StatusHandler>, *mut c_void) -> c_int;
type SetDevice = unsafe extern "C" fn(c_int, Option<DeviceHandler>, *mut c_void) -> c_int;
type Read = unsafe extern "C" fn(c_int, *mut c_void, usize, *mut c_void, c_int, usize) -> c_int;
type Write = unsafe extern "C" fn(c_int, *mut c_void, usize, *const c_void, c_int, usize) -> c_int;
type Copy = unsafe extern "C" fn(c_int, *mut c_void, usize, c_int, usize, usize) -> c_int;
type Program = unsafe extern "C" fn(c_int, *mut c_void, usize, c_int) -> c_int;
type Reprogram = unsafe extern "C" fn(c_int, *mut c_void, usize) -> c_int;

/// A board library that is loaded. It is never unloaded.
#[derive(Debug)]
pub struct Library {
    get_offline_info: OfflineInfo,
    get_info: Info,
    open: unsafe extern "C" fn(*const c_char) -> c_int,
    close: unsafe extern "C" fn(c_int) -> c_int,
    set_interrupt_handler: SetInterrupt,
    set_status_handler: SetStatus,
    set_device_interrupt_handler: Option<SetDevice>,
    read: Read,
    write: Write,
    copy: Copy,
    program: Programming,
}

/// The library's function for programming, which depends on its version.
#[derive(Debug)]
enum Programming {
    /// 18.1 and later.
    Program(Program),
    /// Before.
    Reprogram(Reprogram),
}

/// The reason why a runtime does not take a library.
#[derive(Debug)]
pub enum LoadError {
    /// It is not loaded, or a symbol is missing.
    Library(libloading::Error),
    /// It reports no version, or a version that the runtime refuses.
    Version(String),
    /// A runtime of this version and later refuses a library that has `reprogram` in addition to `program`.
    Both,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => write!(f, "the library is not loaded: {error}"),
            Self::Version(said) => write!(f, "the library's version is {said:?}"),
            Self::Both => write!(f, "the library has both `program` and `reprogram`"),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<libloading::Error> for LoadError {
    fn from(error: libloading::Error) -> Self {
        Self::Library(error)
    }
}

impl Library {
    /// Loads a library twice, as the runtime does, and looks for symbols in its order. Also returns the version.
    ///
    /// # Errors
    /// [`LoadError`].
    ///
    /// # Safety
    /// The file is a board library with the interface of `aocl_mmd.h`.
    pub unsafe fn load(path: &Path) -> Result<(Self, Version), LoadError> {
        // SAFETY: by the caller's promise. The runtime loads with `RTLD_NOW | RTLD_LOCAL`, and so does `Library::new`.
        let (first, second) = unsafe {
            (
                libloading::Library::new(path)?,
                libloading::Library::new(path)?,
            )
        };
        // Neither is ever unloaded.
        std::mem::forget(first);
        let library: &'static libloading::Library = Box::leak(Box::new(second));
        // SAFETY: the symbols have these types in `aocl_mmd.h`.
        unsafe {
            let get_offline_info = symbol(library, "get_offline_info")?;
            let get_info = symbol(library, "get_info")?;
            let open = symbol(library, "open")?;
            let close = symbol(library, "close")?;
            let set_interrupt_handler = symbol(library, "set_interrupt_handler")?;
            let set_status_handler = symbol(library, "set_status_handler")?;
            // Required, though the runtime calls it only where the library asks for that.
            symbol::<unsafe extern "C" fn(c_int) -> c_int>(library, "yield")?;
            let read = symbol(library, "read")?;
            let write = symbol(library, "write")?;
            let copy = symbol(library, "copy")?;
            let set_device_interrupt_handler = symbol(library, "set_device_interrupt_handler").ok();
            let (program, reprogram) = (symbol(library, "program"), symbol(library, "reprogram"));
            let version = version(get_offline_info)?;
            let program = match (version >= Version(18.1), reprogram) {
                (true, Ok::<Reprogram, _>(_)) => return Err(LoadError::Both),
                (true, Err(_)) => Programming::Program(program?),
                (false, reprogram) => Programming::Reprogram(reprogram?),
            };
            let loaded = Self {
                get_offline_info,
                get_info,
                open,
                close,
                set_interrupt_handler,
                set_status_handler,
                set_device_interrupt_handler,
                read,
                write,
                copy,
                program,
            };
            Ok((loaded, version))
        }
    }
}

/// Returns `AOCL_MMD_VERSION`: a number from 14.0 to 24.2, without the century.
///
/// # Safety
/// It is a library's `get_offline_info`.
unsafe fn version(get_offline_info: OfflineInfo) -> Result<Version, LoadError> {
    let mut text = [0_u8; 64];
    let to = text.as_mut_ptr().cast();
    // SAFETY: by the caller's promise; there is so much room. The runtime does not ask for the length either.
    unsafe { get_offline_info(0, text.len(), to, std::ptr::null_mut()) };
    let end = text.iter().position(|byte| *byte == 0);
    let said = String::from_utf8_lossy(&text[..end.unwrap_or(text.len())]).into_owned();
    let number = said.parse().map(|number: f64| match number {
        number if number >= 2000.0 => number - 2000.0,
        number => number,
    });
    match number {
        // 2024.2 without the century is a little more than 24.2.
        Ok(number) if (14.0..24.25).contains(&number) => Ok(Version(number)),
        _ => Err(LoadError::Version(said)),
    }
}

/// Finds a function of the interface.
///
/// # Safety
/// It has this type.
unsafe fn symbol<T: std::marker::Copy>(
    library: &libloading::Library,
    name: &str,
) -> Result<T, libloading::Error> {
    // SAFETY: by the caller's promise.
    unsafe { Ok(*library.get::<T>(format!("aocl_mmd_{name}").as_bytes())?) }
}

// SAFETY of all calls: by the promise of the trait's functions, and of the code that has loaded the library.
#[allow(clippy::undocumented_unsafe_blocks, reason = "stated above for all")]
#[allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "an operation is only returned to the caller"
)]
impl Calls for Library {
    unsafe fn get_offline_info(
        &self,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        unsafe { (self.get_offline_info)(id, room, value, returned) }
    }

    unsafe fn get_info(
        &self,
        handle: c_int,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        unsafe { (self.get_info)(handle, id, room, value, returned) }
    }

    unsafe fn open(&self, name: *const c_char) -> c_int {
        unsafe { (self.open)(name) }
    }

    fn close(&self, handle: c_int) -> c_int {
        unsafe { (self.close)(handle) }
    }

    unsafe fn set_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { (self.set_interrupt_handler)(handle, function, user) }
    }

    unsafe fn set_device_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<DeviceHandler>,
        user: *mut c_void,
    ) -> c_int {
        match self.set_device_interrupt_handler {
            Some(set) => unsafe { set(handle, function, user) },
            None => 0,
        }
    }

    unsafe fn set_status_handler(
        &self,
        handle: c_int,
        function: Option<StatusHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { (self.set_status_handler)(handle, function, user) }
    }

    unsafe fn read(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        to: *mut c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        unsafe { (self.read)(handle, op, length, to, interface, offset) }
    }

    unsafe fn write(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        from: *const c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        unsafe { (self.write)(handle, op, length, from, interface, offset) }
    }

    fn copy(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        interface: c_int,
        from: usize,
        to: usize,
    ) -> c_int {
        unsafe { (self.copy)(handle, op, length, interface, from, to) }
    }

    unsafe fn program(&self, handle: c_int, image: *mut c_void, size: usize, mode: c_int) -> c_int {
        match self.program {
            Programming::Program(program) => unsafe { program(handle, image, size, mode) },
            Programming::Reprogram(reprogram) => unsafe { reprogram(handle, image, size) },
        }
    }
}
