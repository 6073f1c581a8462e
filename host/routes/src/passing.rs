//! Classification of refusals that are temporary.

use crate::error::Error;
use peerlane_host::driver::BackendError;
use peerlane_host::{Errno, Error as BoardError, peerlane_core::att::AllocError};

/// Results of OpenCL for a lack of memory: `CL_MEM_OBJECT_ALLOCATION_FAILURE`, `CL_OUT_OF_RESOURCES`,
/// `CL_OUT_OF_HOST_MEMORY` (CL/cl.h).
const NO_MEMORY: [i32; 3] = [-4, -5, -6];

/// Whether a board has no room for a request in addition to the memory that it has.
fn board_lacks_room(error: &BoardError) -> bool {
    match error {
        BoardError::AttFull(error) => matches!(error, AllocError::Full { .. }),
        BoardError::Backend(error) => matches!(error, BackendError::OutOfMemory { .. }),
        BoardError::Call { source, .. }
        | BoardError::Map { source, .. }
        | BoardError::Memory { source, .. } => {
            matches!(
                *source,
                Errno::NOSPC | Errno::DQUOT | Errno::NOMEM | Errno::NOBUFS
            )
        }
        _ => false,
    }
}

impl Error {
    /// Whether there may be room for fewer bytes, or after other memory was released.
    pub(crate) fn lacks_room(&self) -> bool {
        match self {
            Self::Board(BoardError::Layout(_) | BoardError::TooLarge { .. }) => true,
            Self::Board(error) => board_lacks_room(error),
            Self::Busy { room, .. } => *room,
            Self::OpenCl { code, .. } => NO_MEMORY.contains(code),
            _ => false,
        }
    }

    /// Whether the same request may succeed a while later: nothing is wrong, but another user has a resource that it
    /// needs, or the board is being started.
    pub fn passes(&self) -> bool {
        match self {
            Self::Board(
                BoardError::Call { source, .. }
                | BoardError::Map { source, .. }
                | BoardError::Memory { source, .. }
                | BoardError::Window { source, .. }
                | BoardError::Open { source, .. },
            ) if matches!(
                *source,
                Errno::AGAIN | Errno::BUSY | Errno::INTR | Errno::CANCELED
            ) =>
            {
                true
            }
            Self::Board(
                BoardError::Restarted
                | BoardError::Stopped
                | BoardError::Doubted
                | BoardError::ChannelsTaken { .. },
            ) => true,
            // Not an error of its layout, which does not change.
            Self::Board(error) => board_lacks_room(error),
            Self::Busy { .. } | Self::Lost { .. } => true,
            _ => self.lacks_room(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_host::peerlane_core::layout::LayoutError;

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
        let window = |source| Error::from(BoardError::Window { base: 0, source });
        let opencl = |code| Error::OpenCl {
            call: "clCreateBuffer",
            code,
        };
        for (error, passes, room) in [
            (BoardError::AttFull(full).into(), true, true),
            (call(Errno::NOSPC), true, true),
            (call(Errno::DQUOT), true, true),
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
