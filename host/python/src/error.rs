//! Errors as exceptions: the classes are those of `peerlane/_errors.py`.

use peerlane_host::driver::BackendError;
use peerlane_host::vfio::Error as Vfio;
use peerlane_host::{Errno, Error};
use pyo3::prelude::*;

/// Returns the class of an error.
fn class(error: &Error) -> &'static str {
    let by_number = |number: Errno| match number {
        _ if error.is_no_way() => "UnsupportedError",
        Errno::NOSPC | Errno::DQUOT | Errno::NOMEM | Errno::NOBUFS | Errno::BUSY | Errno::AGAIN => {
            "BusyError"
        }
        // Also for a GPU that the board does not read, or whose driver is missing.
        Errno::OPNOTSUPP | Errno::NXIO | Errno::XDEV => "UnsupportedError",
        Errno::NODEV => "GoneError",
        // For missing memory, a descriptor that is not open or not of a dma-buf, or no bytes.
        Errno::INVAL | Errno::FAULT | Errno::BADF => "InvalidError",
        _ => "RefusedError",
    };
    match error {
        Error::None
        | Error::Backend(BackendError::Vfio(Vfio::NoDevice { .. } | Vfio::NotBound { .. })) => {
            "NoDeviceError"
        }
        Error::Open { source, .. }
        | Error::Backend(BackendError::Vfio(Vfio::Open { source, .. })) => match *source {
            Errno::NOENT | Errno::NODEV | Errno::NXIO => "NoDeviceError",
            number => by_number(number),
        },
        Error::Version { .. }
        | Error::Features { .. }
        | Error::Identity { .. }
        | Error::NoGpu
        | Error::Backend(BackendError::NotSimulated(_)) => "UnsupportedError",
        Error::Call { source, .. } | Error::Map { source, .. } | Error::Memory { source, .. } => {
            by_number(*source)
        }
        Error::Bounds { .. }
        | Error::Foreign
        | Error::Region(_)
        | Error::Local { .. }
        | Error::Empty { .. }
        | Error::TooLong { .. }
        | Error::Granularity { .. }
        | Error::Backend(BackendError::Range(_)) => "InvalidError",
        Error::Backend(error) => error.errno().map_or("RefusedError", by_number),
        Error::TooLarge { .. } => "TooLargeError",
        Error::Taken | Error::ChannelsTaken { .. } | Error::AttFull(_) => "BusyError",
        Error::Timeout { .. } | Error::NotDrained { .. } => "TransferTimeout",
        Error::Fault { .. } | Error::Ends { .. } => "FaultError",
        Error::Restarted => "RestartedError",
        Error::Stopped => "StoppedError",
        Error::Gone => "GoneError",
        Error::Broken { .. } => "BrokenError",
        _ => "RefusedError",
    }
}

/// Returns the number of errno.h of an error, where there is one.
fn number(error: &Error) -> Option<i32> {
    error.errno().map(Errno::raw_os_error)
}

fn raise(py: Python<'_>, class: &str, text: &str, hint: &str, number: Option<i32>) -> PyErr {
    let raised = || {
        let class = py.import("peerlane._errors")?.getattr(class)?;
        class.call1((text, hint, number))
    };
    match raised() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Translates a result of the library.
pub(crate) fn told<T>(py: Python<'_>, result: peerlane_host::Result<T>) -> PyResult<T> {
    told_as(py, result, class)
}

fn told_as<T>(
    py: Python<'_>,
    result: peerlane_host::Result<T>,
    class: impl Fn(&Error) -> &'static str,
) -> PyResult<T> {
    result.map_err(|error| {
        let (text, number) = (error.to_string(), number(&error));
        raise(py, class(&error), &text, error.hint(), number)
    })
}

/// Returns the class of an error of a function that polls or begins transfers. Errors of the driver do not concern the
/// program's arguments, and the state of the board is unknown after them: the queue has to be restarted.
fn class_of_transfer(error: &Error) -> &'static str {
    match error {
        error if error.leaves_transfers_open() => "BrokenError",
        error => class(error),
    }
}

/// Translates a result of polling or beginning transfers.
pub(crate) fn told_of_transfer<T>(py: Python<'_>, result: peerlane_host::Result<T>) -> PyResult<T> {
    told_as(py, result, class_of_transfer)
}

/// Translates a result of ending transfers. If the driver has not restarted the board in time, that is a timeout.
pub(crate) fn told_of_end<T>(py: Python<'_>, result: peerlane_host::Result<T>) -> PyResult<T> {
    told_as(py, result, |error| match error {
        Error::Call { source, .. } if [Errno::AGAIN, Errno::IO].contains(source) => {
            "TransferTimeout"
        }
        error => class_of_transfer(error),
    })
}

/// Translates a result of the GPU's side.
pub(crate) fn told_of_gpu<T>(py: Python<'_>, result: peerlane_gpu::Result<T>) -> PyResult<T> {
    use peerlane_gpu::Error as Gpu;
    use peerlane_host::cache::NoRoom as _;
    result.map_err(|error| {
        let (class, number) = match &error {
            Gpu::Board(error) => (class(error), number(error)),
            Gpu::Empty | Gpu::Bounds { .. } => ("InvalidError", None),
            error if error.no_room() => ("BusyError", None),
            Gpu::Cuda { .. } | Gpu::Rocm { .. } => ("RefusedError", None),
            _ => ("UnsupportedError", None),
        };
        raise(py, class, &error.to_string(), error.hint(), number)
    })
}

/// Makes the error for an operation that has not ended in time.
pub(crate) fn late(py: Python<'_>, limit: std::time::Duration) -> PyErr {
    let text = format!("it has not ended in {limit:?}, and goes on");
    let hint = "Wait again, end it by stop(), or end all of the queue by restart().";
    raise(py, "TransferTimeout", &text, hint, None)
}

/// Makes the error for a copy that was stopped because it had not ended in time.
pub(crate) fn stopped_late(py: Python<'_>, limit: std::time::Duration) -> PyErr {
    let text = format!(
        "it has not ended in {limit:?}, and was stopped; some of the bytes may have been moved"
    );
    raise(py, "TransferTimeout", &text, "Give it more time.", None)
}

/// Makes the error for a wrong argument.
pub(crate) fn invalid(py: Python<'_>, text: &str, hint: &str) -> PyErr {
    raise(py, "InvalidError", text, hint, None)
}

/// Makes the error for a feature that is missing here.
pub(crate) fn unsupported(py: Python<'_>, text: &str, hint: &str) -> PyErr {
    raise(py, "UnsupportedError", text, hint, None)
}

/// Makes the error for an object that was closed.
pub(crate) fn closed(py: Python<'_>, what: &str) -> PyErr {
    let text = format!("{what} was closed");
    raise(py, "InvalidError", &text, "Open another one.", None)
}
