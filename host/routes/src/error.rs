//! Errors of routes, with hints.

use crate::route::Route;
use std::time::Duration;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why data were not moved. [`Error::hint`] has a hint for each.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the board, or of the host library.
    #[error(transparent)]
    Board(#[from] peerlane_host::Error),
    /// An error of a device other than the board.
    #[error("{side}: {reason}")]
    Side {
        /// The owner of the memory.
        side: String,
        /// The device's reason.
        reason: String,
    },
    /// A temporary error: another user has a resource that it needs.
    #[error("{side}: {reason}")]
    Busy {
        /// The owner of the memory.
        side: String,
        /// The device's reason.
        reason: String,
        /// The resource is room: fewer bytes may fit.
        room: bool,
    },
    /// An error of a function of OpenCL's.
    #[error("{call} failed with {code}")]
    OpenCl {
        /// The function.
        call: &'static str,
        /// Its result.
        code: i32,
    },
    /// There is no OpenCL.
    #[error("OpenCL is not available: {reason}")]
    NoOpenCl {
        /// The reason.
        reason: String,
    },
    /// A range does not lie in a side's memory.
    #[error("{length} bytes at offset {offset} do not lie in the {size} bytes of {side}")]
    Bounds {
        /// The owner of the memory.
        side: String,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// Bytes of the memory.
        size: u64,
    },
    /// The requested route does not work here.
    #[error("{route} from {from} to {to} does not work here: {why}")]
    Refused {
        /// The route.
        route: Route,
        /// Where the data are.
        from: String,
        /// Where they are to go.
        to: String,
        /// The reason from the probe, or from the devices.
        why: String,
    },
    /// A device returns other bytes than it was given: no route can be trusted.
    #[error("{side} returns other bytes than were written to it: {what}")]
    Untrue {
        /// The owner of the memory.
        side: String,
        /// The difference.
        what: String,
    },
    /// The deadline has passed.
    #[error("{done} of {length} bytes were moved when the deadline of {limit:?} was over")]
    Deadline {
        /// Bytes that have arrived, from the start without a gap.
        done: u64,
        /// Requested bytes.
        length: u64,
        /// The deadline.
        limit: Duration,
    },
    /// The copy has failed or was cancelled, and a device goes on with a piece that it has begun, because it can
    /// neither end the piece in time nor stop it.
    #[error("{why}; a device continues with a piece that it has begun")]
    UnderWay {
        /// The error that the copy has ended with.
        why: String,
    },
    /// The board was reset while a device stored to its window. The device got no report whether its stores were taken
    /// or lost.
    #[error(
        "the board was reset while {side} stored to its window: of {length} bytes some may be lost{}",
        if *.memory { ", and so may be the earlier content of FPGA memory" } else { "" }
    )]
    Lost {
        /// The owner of the memory that was copied.
        side: String,
        /// Requested bytes.
        length: u64,
        /// More than the block was reset, or may have been ([`peerlane_host::peerlane_core::uapi::Query::resets`]).
        memory: bool,
    },
    /// A board has written all bytes, and the device cannot be asked to show them to its programs.
    #[error(
        "the board has written all {length} bytes to {side}, and nothing proves that they have arrived there: {why}"
    )]
    Unseen {
        /// The owner of the memory.
        side: String,
        /// Bytes.
        length: u64,
        /// The device's error.
        why: String,
    },
    /// A caller has cancelled the copy.
    #[error("the copy was cancelled after {done} of {length} bytes")]
    Cancelled {
        /// Bytes that have arrived, from the start without a gap.
        done: u64,
        /// Requested bytes.
        length: u64,
    },
}

impl Error {
    /// Returns a hint: how to fix the error, in whole sentences.
    pub fn hint(&self) -> String {
        match self {
            Self::Board(error) => error.hint().into(),
            Self::Side { .. } => "Look at the messages of the device's own driver.".into(),
            Self::Busy { room: true, .. } => {
                "Free memory of the device, or have other programs unregister memory of it; then try again.".into()
            }
            Self::Busy { .. } => "Have the other program release it, then try again.".into(),
            Self::OpenCl { .. } => "Look the code up in CL/cl.h.".into(),
            Self::NoOpenCl { .. } => {
                "Install an OpenCL loader (ocl-icd-libopencl1) and a driver for the device.".into()
            }
            Self::Bounds { .. } => "Name a range within the memory.".into(),
            Self::Refused { .. } => {
                "Use Route::Auto, which selects a route that works. `peerlane doctor` says which \
                 features the computer lacks.".into()
            }
            Self::Untrue { .. } => {
                "Look for a defect of the device or its driver: this is not about routes.".into()
            }
            Self::Deadline { .. } => {
                "Give more time, or ask `peerlane doctor` which part is slow. No transfer is in \
                 progress any more.".into()
            }
            Self::UnderWay { .. } => {
                "Neither use nor free the memory of both sides until the device has ended its work (cuCtxSynchronize, clFinish).".into()
            }
            Self::Lost { memory: false, .. } => {
                "Copy again: the board is started again by its driver, and registrations stay.".into()
            }
            Self::Lost { memory: true, .. } => {
                "Write the content of FPGA memory again, then copy again: the FPGA was configured \
                 again, or its link was reset.".into()
            }
            Self::Unseen { .. } => {
                "Have the device read them by work that begins after this (on a GPU, a kernel that \
                 is launched now): such work sees them. Work that runs already may see the earlier \
                 bytes. Or copy again by Route::Concurrent.".into()
            }
            Self::Cancelled { .. } => "No copy is in progress; bytes that arrived stay.".into(),
        }
    }

    /// Returns the error, or [`UnderWay`](Self::UnderWay) if pieces go on after it.
    pub(crate) fn with(self, going_on: usize) -> Self {
        match going_on {
            0 => self,
            _ => Self::UnderWay {
                why: self.to_string(),
            },
        }
    }

    /// Makes a device's temporary refusal; `room` says whether room is missing, or another user has a resource.
    pub fn busy(side: impl Into<String>, reason: impl ToString, room: bool) -> Self {
        Self::Busy {
            side: side.into(),
            reason: reason.to_string(),
            room,
        }
    }

    /// Makes a device's refusal.
    pub fn side(side: impl Into<String>, reason: impl ToString) -> Self {
        Self::Side {
            side: side.into(),
            reason: reason.to_string(),
        }
    }
}
