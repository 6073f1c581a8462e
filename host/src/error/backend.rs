//! Errors of a backend of the driver in the process.

use crate::memory_kind::MemoryKind;
use rustix::io::Errno;

/// Reason why a backend could not do a call.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// There is no memory left.
    #[error("{wanted} bytes of {kind:?} memory are not free")]
    OutOfMemory {
        /// Kind of the memory.
        kind: MemoryKind,
        /// Bytes asked for.
        wanted: u64,
    },
    /// There is no memory of the process at an address: a kernel's `EFAULT`.
    #[error("the process has no memory at {address:#x}, or less than was asked for")]
    NoProcessMemory {
        /// The first byte that was asked for.
        address: u64,
    },
    /// An access outside of allocated memory or a register space.
    #[error("access outside of memory and registers: {0}")]
    Range(String),
    /// There is no simulated board: its model is missing, and cannot be compiled.
    #[error("the simulated board cannot be made: {0}")]
    NotSimulated(String),
    /// The board cannot be reached by VFIO.
    #[error(transparent)]
    Vfio(super::VfioError),
    /// Any other error, for example the simulated board's own errors.
    #[error("{0}")]
    Other(String),
}

impl BackendError {
    /// Returns the number of errno.h for the cause, as [`Error::errno`](crate::Error::errno).
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::OutOfMemory { .. } => Some(Errno::NOMEM),
            Self::NoProcessMemory { .. } => Some(Errno::FAULT),
            Self::Vfio(error) => error.errno(),
            Self::Range(_) | Self::NotSimulated(_) | Self::Other(_) => None,
        }
    }
}

/// Result of a backend's calls.
pub type BackendResult<T> = Result<T, BackendError>;
