//! The errors of the extension: `cl_int`s.

mod others;

use crate::messages::say;
use peerlane_host::cache::NoRoom as _;
use peerlane_host::{Errno, Error, Fault};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_int};
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// An error of the extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode {
    /// Its name in C.
    pub name: &'static str,
    /// Its value as a `cl_int`.
    pub value: c_int,
    /// Its meaning, with a hint.
    pub text: &'static CStr,
}

macro_rules! codes {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        $(pub(crate) const $name: c_int = $value;)*
        /// All errors of the extension, those of OpenCL's own first.
        pub const ERRORS: &[ErrorCode] = &[$(ErrorCode {
            name: stringify!($name),
            value: $value,
            text: $text,
        }),*];
    };
}

// OpenCL's own: the OpenCL Registry's cl.xml, "ErrorCodes". The others are below the range that is reserved there.
codes! {
    CL_SUCCESS = 0, c"no error";
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
        c"The board's address translation table, the GPU's BAR, or a limit of the user has no room: release peer \
          memory, register less, or raise the limit (ulimit -l; the driver's context_entries, user_entries, \
          user_gpu_mib). Standard error names it.";
    CL_OUT_OF_RESOURCES = -5,
        c"No thread could be started, or too many copies wait for events: wait for some of them.";
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14,
        c"An event in the wait list has failed: nothing was copied.";
    CL_INVALID_VALUE = -30,
        c"A required argument is NULL, flags or a file are not valid, or bytes lie outside of the buffer, of the peer \
          memory or of the FPGA memory that the program holds.";
    CL_INVALID_DEVICE = -33,
        c"The device is not a Peerlane board that this process has open, or it is NULL and the process has several \
          boards open or none: create a context with the device first.";
    CL_INVALID_MEM_OBJECT = -38,
        c"The object is not a buffer: images and sub-buffers have no address of their own.";
    CL_INVALID_EVENT_WAIT_LIST = -57,
        c"The event list and the number of its events do not match: pass both, or NULL and 0.";
    CL_INVALID_OPERATION = -59,
        c"The memory was not registered for this direction, its owner does not permit it, or the process is the child \
          of a fork, which must call execve.";
    CL_INVALID_PEER_MEMORY_PEERLANE = -10001,
        c"The handle was never returned, was released, or belongs to a board that was closed: register the memory.";
    CL_PEER_MEMORY_REVOKED_PEERLANE = -10002,
        c"The memory's owner has freed or moved it, or its device is gone: release the handle, export the memory again, and register that.";
    CL_PEER_NOT_SUPPORTED_PEERLANE = -10003,
        c"The driver and the memory's owner do not support access to this memory, or the kernel or the GPU's driver \
          permits no access between board and GPU: export the memory as a dma-buf with its owner's API, and register \
          that. Standard error and peerlane doctor have details.";
    CL_BUFFER_WITHOUT_ADDRESS_PEERLANE = -10004,
        c"OpenCL holds the buffer's contents on the host, or on another board: create the buffer without \
          CL_MEM_USE_HOST_PTR and CL_MEM_COPY_HOST_PTR, or let a kernel use it first, and unmap it.";
    CL_PEER_TRANSFER_FAILED_PEERLANE = -10005,
        c"The peer or the path to it refused an access: read standard error, and check whether the computer passes \
          transfers between devices. A part of the destination may be written.";
    CL_PEER_TRANSFER_TIMEOUT_PEERLANE = -10006,
        c"The transfer did not end in time and was stopped: check the board and the peer. A part of the destination \
          may be written.";
    CL_BOARD_LOST_PEERLANE = -10007,
        c"The board does not answer, or its driver has released it: check the board and its link, then start the \
          program again.";
    CL_BOARD_CLOSED_PEERLANE = -10008,
        c"The board was closed before the copy had ended: keep the context until the copy has ended. A part of the \
          destination may be written.";
    CL_BOARD_RESTARTED_PEERLANE = -10009,
        c"The board was reset or programmed during the copy, and FPGA memory may have lost its contents: restore them, \
          then copy again. A part of the destination may be written.";
    CL_NO_OPENCL_PEERLANE = -10010,
        c"No OpenCL library in this process has the functions that this call needs: link the program with one, or use \
          the functions that take addresses.";
    CL_INTERNAL_ERROR_PEERLANE = -10011,
        c"An error of this library: see standard error.";
}

/// Prints the cause of an error on standard error, and returns the error: the codes are few, and a program that is
/// refused needs the reason.
pub(crate) fn refused(value: c_int, cause: impl Display) -> c_int {
    let known = ERRORS.iter().find(|code| code.value == value);
    match known {
        Some(code) => say(format_args!("{}: {cause}", code.name)),
        None => say(format_args!("error {value}: {cause}")),
    }
    value
}

/// Does the work of [`refused`] with one line for each object: a program with another way tries this one again and
/// again. The object is an address, which another object may have later; 0 stands for all.
pub(crate) fn refused_once(object: usize, value: c_int, cause: impl Display) -> c_int {
    /// More than the number of such objects in programs.
    const MOST: usize = 4096;
    static SAID: Mutex<BTreeSet<(usize, c_int)>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() < MOST && said.insert((object, value)) {
        drop(said);
        return refused(value, cause);
    }
    value
}

/// Does the work of [`refused`] for an error of a function of OpenCL's.
pub(crate) fn gave(function: &'static str) -> impl Fn(c_int) -> c_int {
    move |error| match error {
        CL_NO_OPENCL_PEERLANE => refused(error, format_args!("no OpenCL library has {function}")),
        error => refused(error, format_args!("{function} returned {error}")),
    }
}

/// Returns the meaning of an error, with a hint.
pub(crate) fn text(value: c_int) -> &'static CStr {
    let known = ERRORS.iter().find(|code| code.value == value);
    known.map_or_else(|| others::text(value), |code| code.text)
}

/// Returns the code of an error of the host library.
pub(crate) fn code(error: &Error) -> c_int {
    match error {
        Error::Gone => CL_BOARD_LOST_PEERLANE,
        Error::Restarted => CL_BOARD_RESTARTED_PEERLANE,
        Error::Timeout { .. } => CL_PEER_TRANSFER_TIMEOUT_PEERLANE,
        // All entries of a region are valid as long as its memory is registered.
        Error::Forgotten
        | Error::Fault {
            fault: Fault::AttInvalid,
            ..
        } => CL_PEER_MEMORY_REVOKED_PEERLANE,
        error if error.no_room() => CL_MEM_OBJECT_ALLOCATION_FAILURE,
        Error::Call { source, .. } => match *source {
            _ if error.is_no_way() => CL_PEER_NOT_SUPPORTED_PEERLANE,
            Errno::STALE => CL_PEER_MEMORY_REVOKED_PEERLANE,
            // Also a GPU whose driver is not there.
            Errno::OPNOTSUPP | Errno::NXIO => CL_PEER_NOT_SUPPORTED_PEERLANE,
            Errno::PERM | Errno::ACCESS => CL_INVALID_OPERATION,
            Errno::INVAL | Errno::BADF | Errno::FAULT => CL_INVALID_VALUE,
            _ => CL_PEER_TRANSFER_FAILED_PEERLANE,
        },
        Error::AttFull(_) | Error::Layout(_) | Error::TooLarge { .. } => {
            CL_MEM_OBJECT_ALLOCATION_FAILURE
        }
        Error::Empty { .. }
        | Error::Local { .. }
        | Error::Bounds { .. }
        | Error::Granularity { .. }
        | Error::Region(_) => CL_INVALID_VALUE,
        Error::Unreachable { .. } => CL_PEER_NOT_SUPPORTED_PEERLANE,
        // Other errors of memory from a driver in the process, and a port that makes no progress.
        _ => CL_PEER_TRANSFER_FAILED_PEERLANE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_host::driver::BackendError;
    use peerlane_host::{Direction, vfio};

    #[test]
    fn every_error_says_what_to_do_and_has_a_number_of_its_own() {
        for (index, code) in ERRORS.iter().enumerate() {
            let text = code.text.to_str().unwrap();
            assert!(index == 0 || text.ends_with('.'), "{text}");
            let same = ERRORS.iter().filter(|other| other.value == code.value);
            assert_eq!(same.count(), 1, "{}", code.name);
            // Khronos has the numbers down to -9999.
            let ours = code.name.ends_with("_PEERLANE");
            assert_eq!(ours, code.value < -9999, "{}", code.name);
            assert_eq!(super::text(code.value), code.text);
        }
        assert!(text(-1).to_str().unwrap().contains("CL_DEVICE_NOT_FOUND"));
    }

    #[test]
    fn memory_that_its_owner_took_back_is_told_from_a_fault() {
        let fault = |fault| Error::Fault {
            direction: Direction::FromFpga,
            fault,
            bytes_done: 0,
            length: 1,
            offset: None,
        };
        let call = |source| Error::Call {
            call: "REGISTER",
            source,
        };
        for revoked in [fault(Fault::AttInvalid), call(Errno::STALE)] {
            assert_eq!(code(&revoked), CL_PEER_MEMORY_REVOKED_PEERLANE);
        }
        for failed in [fault(Fault::Unsupported), fault(Fault::ReadTimeout)] {
            assert_eq!(code(&failed), CL_PEER_TRANSFER_FAILED_PEERLANE);
        }
        for far in [
            Errno::OPNOTSUPP,
            Errno::REMOTEIO,
            Errno::NXIO,
            Errno::HOSTUNREACH,
            Errno::PROTO,
        ] {
            assert_eq!(code(&call(far)), CL_PEER_NOT_SUPPORTED_PEERLANE, "{far}");
        }
        for full in [Errno::NOBUFS, Errno::NOSPC, Errno::DQUOT] {
            assert_eq!(code(&call(full)), CL_MEM_OBJECT_ALLOCATION_FAILURE);
        }
        // The limit of locked memory, of a board by VFIO.
        let (bytes, limit) = (4096, Some(0));
        let locked = BackendError::Vfio(vfio::Error::Locked { bytes, limit });
        assert_eq!(
            code(&Error::Backend(locked)),
            CL_MEM_OBJECT_ALLOCATION_FAILURE
        );
        let odd = BackendError::Other("why".into());
        assert_eq!(code(&Error::Backend(odd)), CL_PEER_TRANSFER_FAILED_PEERLANE);
        assert_eq!(code(&call(Errno::BADF)), CL_INVALID_VALUE);
        assert_eq!(code(&Error::Gone), CL_BOARD_LOST_PEERLANE);
    }
}
