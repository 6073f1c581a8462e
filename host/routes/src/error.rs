//! What can go wrong, and what to do about it.

use crate::route::Route;
use std::time::Duration;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why data were not moved. [`Error::remedy`] says what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The board, or the host library.
    #[error(transparent)]
    Board(#[from] peerlane_host::Error),
    /// A device beside the board.
    #[error("{side}: {reason}")]
    Side {
        /// Whose memory it is.
        side: String,
        /// What it said.
        reason: String,
    },
    /// The same for the time being: somebody has what it needs.
    #[error("{side}: {reason}")]
    Busy {
        /// Whose memory it is.
        side: String,
        /// What it said.
        reason: String,
        /// Room is what it lacks: less may fit.
        room: bool,
    },
    /// A function of OpenCL's.
    #[error("{call} failed with {code}")]
    OpenCl {
        /// The function.
        call: &'static str,
        /// Its result.
        code: i32,
    },
    /// There is no OpenCL.
    #[error("OpenCL is not to be had: {reason}")]
    NoOpenCl {
        /// Why.
        reason: String,
    },
    /// A range does not lie in a side's memory.
    #[error("{length} bytes at offset {offset} do not lie in the {size} bytes of {side}")]
    Bounds {
        /// Whose memory it is.
        side: String,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// Bytes there are.
        size: u64,
    },
    /// The route was asked for and does not work here.
    #[error("{route} from {from} to {to} does not work here: {why}")]
    Refused {
        /// The route.
        route: Route,
        /// Where the data are.
        from: String,
        /// Where they are to go.
        to: String,
        /// What the probe, or the devices, said.
        why: String,
    },
    /// A device gives back other bytes than it was given: no route can be trusted.
    #[error("{side} gives back other bytes than it was given: {what}")]
    Untrue {
        /// Whose memory it is.
        side: String,
        /// What is different.
        what: String,
    },
    /// The deadline was over.
    #[error("{done} of {length} bytes were moved when the deadline of {limit:?} was over")]
    Deadline {
        /// Bytes that have arrived, from the start without a gap.
        done: u64,
        /// Bytes asked for.
        length: u64,
        /// The deadline.
        limit: Duration,
    },
    /// The copy has failed or was called off, and a device goes on with what it has begun, for it can neither end that in
    /// time nor stop it.
    #[error("{why}; a device goes on with a piece that it has begun")]
    UnderWay {
        /// What the copy has ended with.
        why: String,
    },
    /// The board was reset while a device stored to its window. Nobody told the device, whose stores were taken or lost.
    #[error(
        "the board was reset while {side} stored to its window: of {length} bytes some may be lost{}",
        if *.memory { ", and so may be what FPGA memory held before" } else { "" }
    )]
    Lost {
        /// Whose memory was copied.
        side: String,
        /// Bytes asked for.
        length: u64,
        /// More than the block was reset, or may have been ([`peerlane_host::peerlane_core::uapi::Query::resets`]).
        memory: bool,
    },
    /// A board has written all, and the device cannot be asked to show it to its programs.
    #[error(
        "the board has written all {length} bytes to {side}, and nothing proves that they have arrived there: {why}"
    )]
    Unseen {
        /// Whose memory it is.
        side: String,
        /// Bytes.
        length: u64,
        /// What the device said.
        why: String,
    },
    /// Somebody has called it off.
    #[error("the copy was called off after {done} of {length} bytes")]
    Cancelled {
        /// Bytes that have arrived, from the start without a gap.
        done: u64,
        /// Bytes asked for.
        length: u64,
    },
}

impl Error {
    /// What to do about it: whole sentences.
    pub fn remedy(&self) -> String {
        match self {
            Self::Board(error) => error.remedy().into(),
            Self::Side { .. } => "Look at what the device's own driver says.".into(),
            Self::Busy { room: true, .. } => {
                "Free memory of the device, or let go of what other programs have registered of it; then try again.".into()
            }
            Self::Busy { .. } => "Have the other program let go of it, then try again.".into(),
            Self::OpenCl { .. } => "Look the code up in CL/cl.h.".into(),
            Self::NoOpenCl { .. } => {
                "Install an OpenCL loader (ocl-icd-libopencl1) and a driver for the device.".into()
            }
            Self::Bounds { .. } => "Name a range within the memory.".into(),
            Self::Refused { .. } => {
                "Take Route::Auto, which uses what works. `peerlane doctor` says what the computer lacks.".into()
            }
            Self::Untrue { .. } => {
                "Look for a defect of the device or its driver: this is not about routes.".into()
            }
            Self::Deadline { .. } => {
                "Give more time, or ask `peerlane doctor` which part is slow. Nothing is under way any more.".into()
            }
            Self::UnderWay { .. } => {
                "Neither use nor free the memory of both sides until the device has ended its work (cuCtxSynchronize, clFinish).".into()
            }
            Self::Lost { memory: false, .. } => {
                "Copy again: the board is started again by its driver, and registrations stay.".into()
            }
            Self::Lost { memory: true, .. } => {
                "Begin anew with what FPGA memory is to hold, then copy again: the FPGA was configured anew, or its link reset.".into()
            }
            Self::Unseen { .. } => {
                "Have the device read them by work that begins after this (on a GPU, a kernel that is launched now): that orders by itself. Work that runs already may see what was there before. Or copy again by Route::Concurrent.".into()
            }
            Self::Cancelled { .. } => "Nothing is under way any more; what has arrived stays.".into(),
        }
    }

    /// The same, unless so many pieces go on behind it.
    pub(crate) fn with(self, going_on: usize) -> Self {
        match going_on {
            0 => self,
            _ => Self::UnderWay {
                why: self.to_string(),
            },
        }
    }

    /// A device's refusal that passes; for lack of room, or because somebody else has what is needed.
    pub fn busy(side: impl Into<String>, reason: impl ToString, room: bool) -> Self {
        Self::Busy {
            side: side.into(),
            reason: reason.to_string(),
            room,
        }
    }

    /// A device's refusal.
    pub fn side(side: impl Into<String>, reason: impl ToString) -> Self {
        Self::Side {
            side: side.into(),
            reason: reason.to_string(),
        }
    }
}
