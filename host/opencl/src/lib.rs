//! OpenCL's functions, found at run time: no crate that uses this one is linked with an OpenCL.
//!
//! [`functions!`] makes a table of the functions that a library needs, and [`function!`] finds one of them.

use std::ffi::{CStr, CString, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};
use sys::cl_int;

/// Types and numbers of OpenCL's headers. The type of a function is its name with `_t`, and permits null.
pub mod sys {
    pub use opencl_sys::cl_function_types::*;
    pub use opencl_sys::*;
}

/// `cl_platform_id` and all other handles: opaque pointers.
pub type Handle = *mut c_void;

/// Type of a function that is there, by the type in [`sys`].
pub type Known<F> = <F as Function>::Known;

/// Type of a function in [`sys`].
pub trait Function {
    /// Type without null.
    type Known;
}

impl<F> Function for Option<F> {
    type Known = F;
}

/// Finds functions of OpenCL's, and of others whose memory a program registers.
///
/// # Safety
/// The result for a name is the function of that name in OpenCL's `CL/cl.h`, or in CUDA's `cuda.h`, and can be called
/// at any time from then on.
pub unsafe trait Lookup {
    /// Finds the function of a name.
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>>;
}

/// The machine's loader of OpenCL platforms, `libOpenCL.so.1`. It stays loaded: platforms do not survive an unload.
#[derive(Debug)]
pub struct Loader(NonNull<c_void>);

impl Loader {
    /// Loads the loader; `None`: it cannot be loaded.
    pub fn open() -> Option<Self> {
        let name = c"libOpenCL.so.1".as_ptr();
        // SAFETY: the loader of OpenCL platforms, whose initialisation is its own.
        let library = unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        NonNull::new(library).map(Self)
    }
}

// SAFETY: the loader has OpenCL's functions, and is never closed.
unsafe impl Lookup for Loader {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is good, and the name ends with a 0.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

/// The functions that the process has loaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct Process;

// SAFETY: no other library has functions of these names, and `loaded` keeps the library.
unsafe impl Lookup for Process {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match name.to_bytes().starts_with(b"cu") {
            true => loaded(&[c"libcuda.so.1"], name),
            // A program may have loaded them as local libraries.
            false => loaded(
                &[c"libOpenCL.so.1", c"libOpenCL.so", c"libalteracl.so"],
                name,
            ),
        }
    }
}

/// Finds a function that the process has among its global ones, or else in one of these libraries. No library is
/// loaded, and one with the function stays loaded.
pub fn loaded(libraries: &[&CStr], name: &CStr) -> Option<NonNull<c_void>> {
    let loaded = libraries.iter().map(|library| {
        // SAFETY: with these flags nothing is loaded, and nothing runs (dlopen(3)).
        unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
    });
    let places = std::iter::once(libc::RTLD_DEFAULT).chain(loaded.filter(|at| !at.is_null()));
    // SAFETY: the handles are good, and the name ends with a 0.
    let mut found = places.map(|place| unsafe { libc::dlsym(place, name.as_ptr()) });
    found.find_map(NonNull::new)
}

/// Finds a function by the name of its type; the error is the function's name. [`function!`] is this without the
/// condition.
///
/// # Safety
/// `kind` is the name in [`sys`] of the type whose [`Known`] is `F`.
pub unsafe fn find<F>(lookup: &impl Lookup, kind: &'static str) -> Result<F, &'static str> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let symbol = kind.strip_suffix("_t").unwrap_or(kind);
    let name = CString::new(symbol).map_err(|_| symbol)?;
    let found = lookup.find(&name).ok_or(symbol)?;
    // SAFETY: the function of this name, whose type this is.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

/// Finds a function in a [`Lookup`] by its type in [`sys`]. The error is the function's name.
#[macro_export]
macro_rules! function {
    ($lookup:expr, $kind:ident) => {
        // SAFETY: the type has this name.
        unsafe { $crate::find::<$crate::Known<$crate::sys::$kind>>($lookup, stringify!($kind)) }
    };
}

/// Makes a table of functions, each by its type in [`sys`], whose `find` takes them from a [`Lookup`]. Those after a
/// question mark may be missing.
#[macro_export]
macro_rules! functions {
    ($(#[$about:meta])* $table:ident {
        $($field:ident: $kind:ident,)*
        $(? $optional:ident: $of:ident,)*
    }) => {
        $(#[$about])*
        pub(super) struct $table {
            $(pub(super) $field: $crate::Known<$crate::sys::$kind>,)*
            $(pub(super) $optional: $crate::sys::$of,)*
        }

        impl $table {
            /// Finds the functions. The error is the name of the first that is missing.
            fn find(lookup: &impl $crate::Lookup) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: $crate::function!(lookup, $kind)?,)*
                    $($optional: $crate::function!(lookup, $of).ok(),)*
                })
            }
        }
    };
}

/// A call that failed.
#[derive(Debug, Clone, Copy)]
pub struct Failed {
    /// Name of the function.
    pub call: &'static str,
    /// Its result.
    pub code: cl_int,
}

impl From<Failed> for cl_int {
    fn from(failed: Failed) -> Self {
        failed.code
    }
}

/// Returns the error of a call, if its result is one.
///
/// # Errors
/// The call failed.
pub fn check(call: &'static str, code: cl_int) -> Result<(), Failed> {
    match code {
        sys::CL_SUCCESS => Ok(()),
        code => Err(Failed { call, code }),
    }
}

/// Returns a handle that a call has made, unless its result is an error.
///
/// # Errors
/// The call failed.
pub fn made(
    call: &'static str,
    make: impl FnOnce(*mut cl_int) -> Handle,
) -> Result<Handle, Failed> {
    let mut code = sys::CL_SUCCESS;
    let handle = make(&raw mut code);
    check(call, code)?;
    match handle.is_null() {
        // Neither a handle nor an error.
        true => Err(Failed { call, code }),
        false => Ok(handle),
    }
}

/// Returns all handles that a function lists; `none` is its error if there are none.
///
/// # Errors
/// The call failed.
pub fn list(
    call: &'static str,
    none: cl_int,
    get: impl Fn(u32, *mut Handle, *mut u32) -> cl_int,
) -> Result<Vec<Handle>, Failed> {
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

/// Returns the bytes of an information function, which is called with a size, a place for so many bytes, and a place
/// for their number.
///
/// # Errors
/// The call failed.
pub fn bytes(
    call: &'static str,
    ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<Vec<u8>, Failed> {
    let mut size = 0;
    check(call, ask(0, null_mut(), &raw mut size))?;
    let mut bytes = vec![0; size];
    check(call, ask(size, bytes.as_mut_ptr().cast(), null_mut()))?;
    Ok(bytes)
}

/// Returns the text of an information function, as [`bytes`] does.
///
/// # Errors
/// The call failed.
pub fn text(
    call: &'static str,
    ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<String, Failed> {
    let bytes = bytes(call, ask)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches('\0').trim().to_owned())
}

/// Takes handles from the bytes of an information function.
pub fn handles(bytes: &[u8]) -> Vec<Handle> {
    let (words, _) = bytes.as_chunks();
    let words = words.iter().map(|word| usize::from_ne_bytes(*word));
    words.map(std::ptr::with_exposed_provenance_mut).collect()
}

/// A value that a query writes as bytes.
///
/// # Safety
/// Any bytes are a valid value.
pub unsafe trait Answer: Copy {}
// SAFETY: any bytes are a number, or an address that is only passed on.
unsafe impl Answer for u32 {}
// SAFETY: as above.
unsafe impl Answer for i32 {}
// SAFETY: as above.
unsafe impl Answer for u64 {}
// SAFETY: as above.
unsafe impl Answer for usize {}
// SAFETY: as above.
unsafe impl Answer for Handle {}

/// Returns one value of an information function, which is called as by [`bytes`]; `None`: it has another size.
///
/// # Errors
/// The result of the call.
pub fn value<T: Answer>(
    ask: impl FnOnce(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<Option<T>, cl_int> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut size = 0;
    let place = value.as_mut_ptr().cast();
    check("", ask(size_of::<T>(), place, &raw mut size))?;
    // SAFETY: any bytes are a value, and there were zeros.
    Ok((size == size_of::<T>()).then(|| unsafe { value.assume_init() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_come_out_of_bytes() {
        let numbers = [0x1234_usize, usize::MAX];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let found: Vec<usize> = handles(&bytes).iter().map(|h| h.addr()).collect();
        assert_eq!(found, numbers);
        assert!(handles(&bytes[..7]).is_empty());
    }

    #[test]
    fn a_missing_function_is_named() {
        /// A lookup without `clFinish`, whose functions are never called.
        struct Few;
        // SAFETY: no test calls its functions.
        unsafe impl Lookup for Few {
            fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
                (name != c"clFinish").then_some(NonNull::dangling())
            }
        }
        assert!(function!(&Few, clFlush_t).is_ok());
        assert_eq!(function!(&Few, clFinish_t).err(), Some("clFinish"));
    }
}
