//! The board's interrupts, as eventfds.

use super::sys::Function;
use super::{Error, Result};
use crate::sys::is_readable;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use vfio_bindings::bindings::vfio;

/// Vector of the OpenCL kernels, in builds with a table of vectors; the vectors before it and after it are the block's.
const KERNELS: usize = 1;

/// One eventfd for each vector: a kernel warns of an eventfd that has several.
#[derive(Debug)]
pub(super) struct Events {
    vectors: Vec<Arc<OwnedFd>>,
    /// The administrator asks for the board.
    request: OwnedFd,
    /// The kernel has seen an error of the bus that it does not repair without a reset.
    failure: OwnedFd,
    /// Has all of them but the kernels' own.
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
        let events = Self::over(vectors, new()?, new()?)?;
        let vectors: Vec<_> = events
            .vectors
            .iter()
            .map(|event| Some(event.as_fd()))
            .collect();
        function.signal(index, 0, &vectors)?;
        // Old kernels lack them: the administrator's wish, or the error, is then not known.
        let others = [
            (vfio::VFIO_PCI_REQ_IRQ_INDEX, &events.request),
            (vfio::VFIO_PCI_ERR_IRQ_INDEX, &events.failure),
        ];
        for (index, event) in others {
            let _ = function.signal(index, 0, &[Some(event.as_fd())]);
        }
        Ok(events)
    }

    /// Brings eventfds together.
    fn over(vectors: Vec<OwnedFd>, request: OwnedFd, failure: OwnedFd) -> Result<Self> {
        let error = |source| Error::call("epoll", source);
        let any = epoll::create(CreateFlags::CLOEXEC).map_err(error)?;
        let blocks = vectors.iter().enumerate();
        let blocks = blocks.filter_map(|(index, event)| (index != KERNELS).then_some(event));
        for event in blocks.chain([&request, &failure]) {
            epoll::add(&any, event, EventData::new_u64(0), EventFlags::IN).map_err(error)?;
        }
        Ok(Self {
            vectors: vectors.into_iter().map(Arc::new).collect(),
            request,
            failure,
            any: Arc::new(any),
        })
    }

    /// Returns a file that can be polled for any of them but the kernels' own.
    pub(super) fn file(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.any)
    }

    /// Returns the kernels' own, where they have one. A single vector is the block's, too.
    pub(super) fn kernels(&self) -> Option<&Arc<OwnedFd>> {
        self.vectors.get(KERNELS)
    }

    /// Takes the kernels' own, and returns whether it has come.
    pub(super) fn take_kernels(&self) -> bool {
        self.kernels().is_some_and(has_come)
    }

    /// Drops the kernels' earlier interrupts, and has a line that is high now make one. The block sends a message when
    /// the line rises, and when the vector is unmasked while it is high. VFIO masks a vector that it takes back.
    pub(super) fn renew_kernels(&self, function: &Function) -> Result<()> {
        let Some(kernels) = self.kernels() else {
            return Ok(());
        };
        let index = vfio::VFIO_PCI_MSIX_IRQ_INDEX;
        function.signal(index, KERNELS as u32, &[None])?;
        has_come(kernels);
        function.signal(index, KERNELS as u32, &[Some(kernels.as_fd())])
    }

    /// Returns whether the administrator asks for the board. This stays, because each user of the board has to hear of
    /// it.
    pub(super) fn is_requested(&self) -> bool {
        is_readable(&self.request, Duration::ZERO)
    }

    /// Takes errors of the bus, and returns whether there was one.
    pub(super) fn take_failure(&self) -> bool {
        has_come(&self.failure)
    }

    /// Takes the block's interrupts, and returns whether any has come.
    pub(super) fn take(&self) -> bool {
        let blocks = self.vectors.iter().enumerate();
        let blocks = blocks.filter(|(index, _)| *index != KERNELS);
        blocks.fold(false, |came, (_, event)| came | has_come(event))
    }
}

/// Takes the count of an eventfd, and returns whether there was one.
fn has_come(event: impl AsFd) -> bool {
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
        Events::over(vectors, new(), new()).unwrap()
    }

    fn signal(event: &OwnedFd) {
        rustix::io::write(event, &1_u64.to_ne_bytes()).unwrap();
    }

    fn is_ready(events: &Events) -> bool {
        is_readable(&*events.file(), Duration::ZERO)
    }

    #[test]
    fn the_kernels_interrupt_and_the_blocks_do_not_disturb_each_other() {
        let events = events(4);
        signal(&events.vectors[2]);
        assert!(!events.take_kernels() && is_ready(&events));
        assert!(events.take() && !is_ready(&events));
        signal(&events.vectors[KERNELS]);
        assert!(!events.take() && !is_ready(&events));
        assert!(events.take_kernels() && !events.take_kernels());
    }

    #[test]
    fn a_request_stays_for_all_who_look() {
        let events = events(1);
        signal(&events.request);
        signal(&events.vectors[0]);
        assert!(events.is_requested() && events.take());
        assert!(events.is_requested() && !events.take() && is_ready(&events));
    }

    #[test]
    fn a_failure_is_taken_once() {
        let events = events(1);
        signal(&events.failure);
        assert!(is_ready(&events) && !events.take());
        assert!(events.take_failure() && !events.take_failure());
        assert!(!is_ready(&events));
    }
}
