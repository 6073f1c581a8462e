//! Classification of refusals that are temporary.

use crate::error::Error;
use peerlane_host::cache::NoRoom as _;
use peerlane_host::{Errno, Error as BoardError};

/// Results of OpenCL for a lack of memory: `CL_MEM_OBJECT_ALLOCATION_FAILURE`, `CL_OUT_OF_RESOURCES`,
/// `CL_OUT_OF_HOST_MEMORY` (CL/cl.h).
const NO_MEMORY: [i32; 3] = [-4, -5, -6];

/// Numbers of causes that pass: another user has the resource, or the call was interrupted.
const BUSY: [Errno; 4] = [Errno::AGAIN, Errno::BUSY, Errno::INTR, Errno::CANCELED];

impl Error {
    /// Whether there may be room for fewer bytes, or after other memory was released.
    pub(crate) fn lacks_room(&self) -> bool {
        match self {
            Self::Board(BoardError::Layout(_) | BoardError::TooLarge { .. }) => true,
            Self::Board(error) => error.no_room(),
            Self::Busy { room, .. } => *room,
            Self::OpenCl { code, .. } => NO_MEMORY.contains(code),
            _ => false,
        }
    }

    /// Whether the same request may succeed a while later: nothing is wrong, but another user has a resource that it
    /// needs, or the board is being started.
    pub fn passes(&self) -> bool {
        match self {
            Self::Board(error) if error.errno().is_some_and(|number| BUSY.contains(&number)) => {
                true
            }
            Self::Board(
                BoardError::Restarted
                | BoardError::Stopped
                | BoardError::Doubted
                | BoardError::ChannelsTaken { .. },
            ) => true,
            // Not an error of its layout, which does not change.
            Self::Board(error) => error.no_room(),
            Self::Busy { .. } | Self::Lost { .. } => true,
            _ => self.lacks_room(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_host::driver::BackendError;
    use peerlane_host::peerlane_core::att::AllocError;
    use peerlane_host::peerlane_core::layout::LayoutError;
    use peerlane_host::vfio::Error as Vfio;

    fn call(source: Errno) -> Error {
        BoardError::Call {
            call: "REGISTER",
            source,
        }
        .into()
    }

    #[test]
    fn what_passes_is_told_from_what_stays() {
        let full = AllocError::Full {
            wanted: 9,
            largest: 1,
            free: 3,
        };
        let vfio = |error| Error::from(BoardError::Backend(BackendError::Vfio(error)));
        let (bytes, limit) = (4096, Some(0));
        let [board, group] = ["0000:01:00.0", "7"].map(String::from);
        let window = |source| Error::from(BoardError::Window { base: 0, source });
        let opencl = |code| Error::OpenCl {
            call: "clCreateBuffer",
            code,
        };
        for (error, passes, room) in [
            (BoardError::AttFull(full).into(), true, true),
            (call(Errno::NOSPC), true, true),
            (call(Errno::DQUOT), true, true),
            (vfio(Vfio::Locked { bytes, limit }), true, true),
            (vfio(Vfio::NoAddresses { bytes }), true, true),
            (vfio(Vfio::InUse { board, group }), true, false),
            (vfio(Vfio::OldKernel), false, false),
            (call(Errno::AGAIN), true, false),
            (call(Errno::OPNOTSUPP), false, false),
            (call(Errno::FAULT), false, false),
            (window(Errno::BUSY), true, false),
            (window(Errno::OPNOTSUPP), false, false),
            (BoardError::Restarted.into(), true, false),
            (BoardError::Gone.into(), false, false),
            // Fewer bytes fit, and the same number never does.
            (BoardError::Layout(LayoutError::Empty).into(), false, true),
            (opencl(-4), true, true),
            (opencl(-30), false, false),
            (Error::busy("a GPU", "its BAR is full", true), true, true),
            (Error::busy("a GPU", "another has it", false), true, false),
            (Error::side("a GPU", "it has none"), false, false),
        ] {
            assert_eq!(error.lacks_room(), room, "{error}");
            assert_eq!(error.passes(), passes, "{error}");
        }
    }
}
