//! The board's interrupts, as eventfds.

use super::sys::Function;
use super::{Error, Result};
use crate::sys::is_readable;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use vfio_bindings::bindings::vfio;

/// Vector of the OpenCL kernels, in builds with a table of vectors; the vectors before it and after it are the block's.
const KERNELS: usize = 1;

/// Names the eventfd by which the administrator asks for the board.
const REQUEST: u64 = u64::MAX;

/// Interrupts that have come since the last look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Some interrupt of the block, or of all of the board where there is one vector.
    pub(super) block: bool,
    /// The kernels' own vector.
    pub(super) kernels: bool,
}

/// One eventfd for each vector: a kernel warns of an eventfd that has several.
#[derive(Debug)]
pub(super) struct Events {
    vectors: Vec<OwnedFd>,
    request: OwnedFd,
    /// Has all of them.
    any: Arc<OwnedFd>,
}

impl Events {
    /// Connects the interrupts of a function: its table of vectors if `table` is set, else its one message.
    pub(super) fn new(function: &Function, board: &str, table: Option<u32>) -> Result<Self> {
        let (index, wanted) = match table {
            Some(vectors) => (vfio::VFIO_PCI_MSIX_IRQ_INDEX, vectors),
            None => (vfio::VFIO_PCI_MSI_IRQ_INDEX, 1),
        };
        let found = function.interrupts(index)?;
        if found < wanted {
            let board = board.to_owned();
            return Err(Error::Interrupts {
                board,
                wanted,
                found,
            });
        }
        let new = || {
            let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
            event.map_err(|source| Error::call("eventfd", source))
        };
        let vectors = (0..wanted).map(|_| new()).collect::<Result<Vec<_>>>()?;
        let events = Self::over(vectors, new()?)?;
        function.signal(index, &events.vectors)?;
        // Old kernels lack it: the administrator's wish is then not known.
        let request = std::slice::from_ref(&events.request);
        let _ = function.signal(vfio::VFIO_PCI_REQ_IRQ_INDEX, request);
        Ok(events)
    }

    /// Brings eventfds together.
    fn over(vectors: Vec<OwnedFd>, request: OwnedFd) -> Result<Self> {
        let error = |source| Error::call("epoll", source);
        let any = epoll::create(CreateFlags::CLOEXEC).map_err(error)?;
        let numbered = vectors.iter().zip(0..).chain([(&request, REQUEST)]);
        for (event, number) in numbered {
            epoll::add(&any, event, EventData::new_u64(number), EventFlags::IN).map_err(error)?;
        }
        Ok(Self {
            vectors,
            request,
            any: Arc::new(any),
        })
    }

    /// Returns a file that can be polled for any of them.
    pub(super) fn file(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.any)
    }

    /// Takes the kernels' own, and leaves the others to the threads that wait for them. Returns whether it has come.
    pub(super) fn take_kernels(&self) -> bool {
        // A single vector is the block's, too.
        self.vectors.get(KERNELS).is_some_and(has_come)
    }

    /// Returns whether the administrator asks for the board.
    pub(super) fn is_requested(&self) -> bool {
        is_readable(&self.request, Duration::ZERO)
    }

    /// Takes all that have come.
    pub(super) fn take(&self) -> Taken {
        let mut taken = Taken::default();
        for (index, event) in self.vectors.iter().enumerate() {
            let came = has_come(event);
            match index == KERNELS {
                true => taken.kernels |= came,
                false => taken.block |= came,
            }
        }
        taken
    }
}

/// Takes the count of an eventfd, and returns whether there was one.
fn has_come(event: &OwnedFd) -> bool {
    let mut count = [0; 8];
    matches!(rustix::io::read(event, &mut count), Ok(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes events without a function.
    fn events(vectors: usize) -> Events {
        let new = || eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap();
        let vectors: Vec<_> = (0..vectors).map(|_| new()).collect();
        let request = new();
        Events::over(vectors, request).unwrap()
    }

    fn signal(event: &OwnedFd) {
        rustix::io::write(event, &1_u64.to_ne_bytes()).unwrap();
    }

    #[test]
    fn a_look_for_kernels_leaves_the_blocks_interrupts() {
        let events = events(4);
        signal(&events.vectors[2]);
        assert!(!events.take_kernels());
        assert!(is_readable(&*events.file(), Duration::ZERO));
        let block = Taken {
            block: true,
            ..Taken::default()
        };
        assert_eq!(events.take(), block);
        assert!(!is_readable(&*events.file(), Duration::ZERO));
        signal(&events.vectors[KERNELS]);
        assert!(events.take_kernels());
        assert_eq!(events.take(), Taken::default());
    }

    #[test]
    fn a_request_stays_for_all_who_look() {
        let events = events(1);
        signal(&events.request);
        signal(&events.vectors[0]);
        assert!(events.is_requested());
        assert!(events.take().block);
        assert!(events.is_requested());
        assert!(is_readable(&*events.file(), Duration::ZERO));
    }
}
