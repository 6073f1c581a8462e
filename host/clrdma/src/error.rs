//! Results, and the last error of each thread.

use peerlane_gpu::Error;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The call succeeded.
pub const CLRDMA_OK: c_int = 0;
/// The driver is not loaded (the thesis, appendix A).
pub const CLRDMA_NO_DRIVER: c_int = 1;
/// Another driver than the one that is needed (the thesis, appendix A).
pub const CLRDMA_WRONG_DRIVER: c_int = 2;
/// Any other error.
pub const CLRDMA_FAILED: c_int = 3;
/// There is no kernel for addresses (the thesis, appendix A): never a result here.
pub const CLRDMA_NO_KERNEL: c_int = 4;
/// The time is over.
pub const CLRDMA_TIMEOUT: c_int = 5;
/// An argument is wrong.
pub const CLRDMA_INVALID: c_int = 6;
/// Board or GPU were not named before.
pub const CLRDMA_NOT_INITIALIZED: c_int = 7;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Failure of a call.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: c_int,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(code: c_int, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, text }
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(CLRDMA_INVALID, text)
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::new(CLRDMA_FAILED, text)
    }
}

/// `CUDA_ERROR_NO_DEVICE` of `cuda.h`: also where the kernel's driver is not loaded.
const NO_DEVICE: i32 = 100;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::NoCuda
            | Error::Cuda {
                code: NO_DEVICE, ..
            } => CLRDMA_NO_DRIVER,
            Error::OldCuda { .. } => CLRDMA_WRONG_DRIVER,
            Error::Empty | Error::Bounds { .. } => CLRDMA_INVALID,
            _ => CLRDMA_FAILED,
        };
        Self::new(code, format!("{error}. {}", error.hint()))
    }
}

/// Runs the body of a function: a panic becomes an error, and an error becomes the thread's last one.
pub(crate) fn run(f: impl FnOnce() -> Result<(), Failure>) -> c_int {
    let failure = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => return CLRDMA_OK,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::failed(
            "an error of libpeerlane_clrdma: report it, with the text on standard error",
        ),
    };
    let text = CString::new(failure.text.replace(char::is_control, " ")).unwrap_or_default();
    // A thread that ends has no last error any more.
    let _ = LAST.try_with(|last| last.replace(text));
    failure.code
}

/// Returns the text of the last error that a call of this thread returned: `clrdma.h`.
#[unsafe(no_mangle)]
pub extern "C" fn clrdma_error_text() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn last() -> String {
        // SAFETY: it is a string until the thread's next error.
        unsafe { CStr::from_ptr(clrdma_error_text()) }
            .to_string_lossy()
            .into_owned()
    }

    #[test]
    fn errors_have_a_number_and_the_threads_own_text() {
        // Appendix A of the thesis: 1 is a driver that is not loaded, 2 a wrong one.
        assert_eq!(run(|| Err(Error::NoCuda.into())), 1);
        assert!(last().contains("libcuda.so"), "{}", last());
        let old = Error::OldCuda {
            found: 9_000,
            needed: 11_080,
        };
        assert_eq!(run(|| Err(old.into())), 2);
        assert!(last().contains("9.0"), "{}", last());
        // No panic leaves the library.
        assert_eq!(run(|| panic!("on purpose")), CLRDMA_FAILED);
        std::thread::spawn(|| assert_eq!(last(), ""))
            .join()
            .unwrap();
        assert_eq!(run(|| Ok(())), 0);
        assert!(last().contains("report it"), "a success changes nothing");
    }
}
