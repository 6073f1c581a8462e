//! Errors: their numbers, and the last error of each thread.

use peerlane_host::cache::NoRoom as _;
use peerlane_host::driver::BackendError;
use peerlane_host::vfio::Error as Vfio;
use peerlane_host::{Errno, Error};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The call succeeded.
pub const PL_OK: i32 = 0;
/// An argument is wrong: a null pointer where none may be, an unknown flag, bytes that do not lie where they should.
pub const PL_INVALID: i32 = -1;
/// There is no board, or not the one that was named.
pub const PL_NO_DEVICE: i32 = -2;
/// Board, driver and library do not match, or lack a feature that was required.
pub const PL_UNSUPPORTED: i32 = -3;
/// The driver refused the call: `pl_error_number` has the reason.
pub const PL_REFUSED: i32 = -4;
/// There is no room, or another user has it: memory, channels, entries of the address table, the queue.
pub const PL_BUSY: i32 = -5;
/// The operation has not ended in time, and goes on: memory may still change.
pub const PL_TIMEOUT: i32 = -6;
/// The board ended the transfer with a fault, or bytes at its ends could not be copied; some bytes may have been moved.
pub const PL_FAULT: i32 = -7;
/// The board was restarted in the meantime; the transfer is lost, all else goes on.
pub const PL_RESTARTED: i32 = -8;
/// The program has ended the transfer early (`pl_transfer_stop`, `pl_queue_restart`), or the channel was stopped.
pub const PL_STOPPED: i32 = -9;
/// The board does not answer any more, and moves no bytes.
pub const PL_GONE: i32 = -10;
/// Board and library do not agree any more, and memory may still change: `pl_queue_restart`, or close the device and
/// open it again.
pub const PL_BROKEN: i32 = -11;
/// An internal error of this library.
pub const PL_INTERNAL: i32 = -12;
/// The memory can never fit the board's address table in one region: copy it (`pl_copy_to_fpga`), or register less at a
/// time.
pub const PL_TOO_LARGE: i32 = -13;

/// A thread's last error.
#[derive(Default)]
struct Last {
    text: CString,
    hint: CString,
    number: i32,
    piece: Option<u64>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

/// Returns text as one line, even if a path in it has line ends.
fn text(words: &str) -> CString {
    CString::new(words.replace(char::is_control, " ")).unwrap_or_default()
}

/// A failure that is not one of `peerlane-host`'s.
pub(crate) struct Failure {
    code: i32,
    text: String,
    hint: &'static str,
    number: i32,
    /// Index in a list, from 0.
    piece: Option<u64>,
}

impl Failure {
    /// Assigns the failure to a piece of a list, if there is one.
    pub(crate) fn of_piece(self, piece: Option<usize>) -> Self {
        let text = match piece {
            Some(piece) => format!("piece {piece}: {}", self.text),
            None => self.text,
        };
        let piece = piece.map(|piece| piece as u64);
        Self {
            text,
            piece,
            ..self
        }
    }

    /// Makes the failure of a function that polls or begins transfers. Errors of the driver do not concern the
    /// program's arguments, and the state of the board is unknown after them: the queue has to be restarted.
    pub(crate) fn of_transfer(error: Error) -> Self {
        let broken = error.leaves_transfers_open();
        let failure = Self::from(error);
        let code = if broken { PL_BROKEN } else { failure.code };
        Self { code, ..failure }
    }

    /// Makes the failure of a copy. A copy that ran out of time was stopped.
    pub(crate) fn of_copy(error: Error) -> Self {
        let late = matches!(error, Error::Timeout { .. });
        let failure = Self::of_transfer(error);
        match late {
            true => Self {
                text: format!(
                    "{}; it was stopped, and more bytes may have been moved",
                    failure.text
                ),
                hint: "Give it more time.",
                ..failure
            },
            false => failure,
        }
    }

    /// Makes the failure of a function that ends transfers. If the driver has not restarted the board in time, that is
    /// a timeout.
    pub(crate) fn of_end(error: Error) -> Self {
        let late = match &error {
            Error::Call { source, .. } => [Errno::AGAIN, Errno::IO].contains(source),
            _ => false,
        };
        let failure = Self::of_transfer(error);
        let code = if late { PL_TIMEOUT } else { failure.code };
        Self { code, ..failure }
    }

    /// Makes the failure of ending an object that is in use.
    pub(crate) fn busy(text: &str, hint: &'static str) -> Self {
        Self {
            code: PL_BUSY,
            text: text.into(),
            hint,
            number: Errno::BUSY.raw_os_error(),
            piece: None,
        }
    }

    pub(crate) fn unsupported(text: &str, hint: &'static str) -> Self {
        Self {
            code: PL_UNSUPPORTED,
            text: text.into(),
            hint,
            number: Errno::OPNOTSUPP.raw_os_error(),
            piece: None,
        }
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self {
            code: PL_INVALID,
            text: text.into(),
            hint: "See the function's documentation in libpeerlane.h.",
            number: Errno::INVAL.raw_os_error(),
            piece: None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            code: code(&error),
            text: error.to_string(),
            hint: error.hint(),
            number: error.errno().map_or(0, Errno::raw_os_error),
            piece: None,
        }
    }
}

/// Returns the number of an error.
fn code(error: &Error) -> i32 {
    match error {
        Error::None => PL_NO_DEVICE,
        Error::Backend(BackendError::Vfio(Vfio::NoDevice { .. } | Vfio::NotBound { .. })) => {
            PL_NO_DEVICE
        }
        Error::Open { source, .. }
        | Error::Backend(BackendError::Vfio(Vfio::Open { source, .. })) => match *source {
            Errno::BUSY | Errno::DQUOT => PL_BUSY,
            Errno::NOENT | Errno::NODEV | Errno::NXIO => PL_NO_DEVICE,
            _ => PL_REFUSED,
        },
        Error::Version { .. }
        | Error::Features { .. }
        | Error::Identity { .. }
        | Error::Backend(BackendError::NotSimulated(_)) => PL_UNSUPPORTED,
        Error::Bounds { .. }
        | Error::Foreign
        | Error::Region(_)
        | Error::Local { .. }
        | Error::Empty { .. }
        | Error::TooLong { .. }
        | Error::Granularity { .. }
        | Error::Backend(BackendError::Range(_)) => PL_INVALID,
        error if error.is_no_way() => PL_UNSUPPORTED,
        error if error.no_room() => PL_BUSY,
        Error::Call { .. } | Error::Map { .. } | Error::Memory { .. } | Error::Backend(_) => {
            match error.errno() {
                Some(Errno::BUSY | Errno::AGAIN) => PL_BUSY,
                // Also for a GPU that the board does not read, or whose driver is missing.
                Some(Errno::OPNOTSUPP | Errno::NXIO | Errno::XDEV) => PL_UNSUPPORTED,
                Some(Errno::NODEV) => PL_GONE,
                // For missing memory, a descriptor that is not open or not of a dma-buf, or no bytes.
                Some(Errno::INVAL | Errno::FAULT | Errno::BADF) => PL_INVALID,
                _ => PL_REFUSED,
            }
        }
        Error::TooLarge { .. } => PL_TOO_LARGE,
        Error::Taken | Error::ChannelsTaken { .. } => PL_BUSY,
        Error::Timeout { .. } | Error::NotDrained { .. } => PL_TIMEOUT,
        Error::Fault { .. } | Error::Ends { .. } => PL_FAULT,
        Error::Restarted => PL_RESTARTED,
        Error::Stopped => PL_STOPPED,
        Error::Gone => PL_GONE,
        Error::Broken { .. } => PL_BROKEN,
        _ => PL_REFUSED,
    }
}

/// Runs the body of a function: a panic becomes an error, and an error becomes the thread's last one.
pub(crate) fn run(f: impl FnOnce() -> Result<i32, Failure>) -> i32 {
    let failure = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(value)) => return value,
        Ok(Err(failure)) => failure,
        Err(_) => Failure {
            code: PL_INTERNAL,
            text: "an error of libpeerlane: see standard error".into(),
            hint: "Report it, with the text on standard error.",
            number: 0,
            piece: None,
        },
    };
    let last = Last {
        text: text(&failure.text),
        hint: text(failure.hint),
        number: failure.number,
        piece: failure.piece,
    };
    // A thread that ends has no last error any more.
    let _ = LAST.try_with(|place| place.replace(last));
    failure.code
}

fn last(part: impl FnOnce(&Last) -> *const c_char) -> *const c_char {
    LAST.try_with(|last| part(&last.borrow()))
        .unwrap_or(c"".as_ptr())
}

/// Returns the name of a code that this library returns: "PL_BUSY" for PL_BUSY. Numbers from 0 on are not errors, and
/// give "PL_OK". Thread-safe; never null.
#[unsafe(no_mangle)]
pub extern "C" fn pl_code_name(code: i32) -> *const c_char {
    let name = match code {
        0.. => c"PL_OK",
        PL_INVALID => c"PL_INVALID",
        PL_NO_DEVICE => c"PL_NO_DEVICE",
        PL_UNSUPPORTED => c"PL_UNSUPPORTED",
        PL_REFUSED => c"PL_REFUSED",
        PL_BUSY => c"PL_BUSY",
        PL_TIMEOUT => c"PL_TIMEOUT",
        PL_FAULT => c"PL_FAULT",
        PL_RESTARTED => c"PL_RESTARTED",
        PL_STOPPED => c"PL_STOPPED",
        PL_GONE => c"PL_GONE",
        PL_BROKEN => c"PL_BROKEN",
        PL_INTERNAL => c"PL_INTERNAL",
        PL_TOO_LARGE => c"PL_TOO_LARGE",
        _ => c"not a code of libpeerlane",
    };
    name.as_ptr()
}

/// Returns the text of the last error that a call of this thread returned, as one sentence without a line end. It stays
/// valid until the thread's next error. Thread-safe; never null.
#[unsafe(no_mangle)]
pub extern "C" fn pl_error_text() -> *const c_char {
    last(|last| last.text.as_ptr())
}

/// Returns a hint how to fix the last error, in a sentence or two. As `pl_error_text`.
#[unsafe(no_mangle)]
pub extern "C" fn pl_error_remedy() -> *const c_char {
    last(|last| last.hint.as_ptr())
}

/// Returns the number of errno.h that the driver returned for the last error, or 0. As `pl_error_text`.
#[unsafe(no_mangle)]
pub extern "C" fn pl_error_number() -> i32 {
    LAST.try_with(|last| last.borrow().number).unwrap_or(0)
}

/// Returns the index of the piece of a list that the last error is about, from 0. -1: it was not a list, or the error
/// is not about one piece. As `pl_error_text`.
#[unsafe(no_mangle)]
pub extern "C" fn pl_error_piece() -> i64 {
    let piece = LAST.try_with(|last| last.borrow().piece).unwrap_or(None);
    piece.map_or(-1, |piece| piece as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn words(text: *const c_char) -> String {
        // SAFETY: it is one of the texts above.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap().into()
    }

    /// There is nothing left to wait for, or to stop.
    #[test]
    fn a_copy_that_is_late_was_stopped() {
        let late = Error::Timeout {
            direction: peerlane_host::Direction::ToFpga,
            bytes_done: 0,
            length: 64,
            waited: std::time::Duration::from_secs(1),
        };
        assert_eq!(run(|| Err(Failure::of_copy(late))), PL_TIMEOUT);
        assert!(words(pl_error_text()).contains("it was stopped"));
        assert_eq!(words(pl_error_remedy()), "Give it more time.");
        assert_eq!(run(|| Err(Failure::of_copy(Error::Stopped))), PL_STOPPED);
        assert!(!words(pl_error_text()).contains("it was stopped"));
    }

    #[test]
    fn errors_are_the_threads_own() {
        assert_eq!(run(|| Err(Error::None.into())), PL_NO_DEVICE);
        assert!(words(pl_error_text()).contains("no /dev/peerlane*"));
        assert!(words(pl_error_remedy()).contains("modprobe"));
        std::thread::spawn(|| assert_eq!(words(pl_error_text()), ""))
            .join()
            .unwrap();
        let open = Error::Open {
            path: "/dev/peer\0lane".into(),
            source: Errno::BUSY,
        };
        assert_eq!(run(|| Err(open.into())), PL_BUSY);
        assert_eq!(pl_error_number(), Errno::BUSY.raw_os_error());
        // A GPU that is too far away is not a GPU that this board works with.
        for source in [Errno::REMOTEIO, Errno::NXIO, Errno::HOSTUNREACH] {
            let call = "REGISTER";
            let far = Error::Call { call, source };
            assert_eq!(run(|| Err(far.into())), PL_UNSUPPORTED);
            assert_eq!(pl_error_number(), source.raw_os_error());
        }
        let full = Error::Call {
            call: "REGISTER",
            source: Errno::NOBUFS,
        };
        assert_eq!(run(|| Err(full.into())), PL_BUSY);
        let open = Error::Open {
            path: "/dev/peerlane0".into(),
            source: Errno::BUSY,
        };
        assert_eq!(run(|| Err(open.into())), PL_BUSY);
        // By VFIO: the number is that of the kernel's driver for the same cause, or of the call that failed.
        let board = || String::from("0000:01:00.0");
        let group = String::from("7");
        let path = || "/dev/vfio/7".into();
        let (bytes, limit) = (4096, Some(0));
        for (error, code, number) in [
            (Vfio::Locked { bytes, limit }, PL_BUSY, Errno::NOMEM),
            (Vfio::NoAddresses { bytes }, PL_BUSY, Errno::NOSPC),
            (
                Vfio::InUse {
                    board: board(),
                    group,
                },
                PL_BUSY,
                Errno::BUSY,
            ),
            (
                Vfio::NotBound {
                    board: board(),
                    driver: None,
                },
                PL_NO_DEVICE,
                Errno::NODEV,
            ),
            (
                Vfio::Open {
                    path: path(),
                    source: Errno::ACCESS,
                },
                PL_REFUSED,
                Errno::ACCESS,
            ),
            (
                Vfio::Call {
                    what: "VFIO_IOMMU_MAP_DMA",
                    source: Errno::IO,
                },
                PL_REFUSED,
                Errno::IO,
            ),
        ] {
            let text = error.to_string();
            let error = Error::Backend(BackendError::Vfio(error));
            let found = run(|| Err(error.into()));
            assert_eq!(
                (found, pl_error_number()),
                (code, number.raw_os_error()),
                "{text}"
            );
        }
        let open = Error::Open {
            path: path(),
            source: Errno::BUSY,
        };
        assert_eq!(run(|| Err(open.into())), PL_BUSY);
        // A call that succeeds is not an error, and changes nothing.
        assert_eq!(run(|| Ok(5)), 5);
        assert_eq!(pl_error_number(), Errno::BUSY.raw_os_error());
        assert_eq!(run(|| panic!("on purpose")), PL_INTERNAL);
        assert_eq!(pl_error_number(), 0);
    }
}
