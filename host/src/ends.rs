//! Ends of writes that the board cannot write by itself.
//!
//! A board whose [granularity of writes](peerlane_core::capability::Capabilities::write_granularity) is 4 bytes writes
//! whole dwords of a peer's memory. It writes the middle of a transfer in place. An end of 1 to 3 bytes goes into
//! memory of the queue, together with the rest of its dwords of FPGA memory. Those dwords belong to the context,
//! because its range has whole pages. From there the library copies the bytes of the write, and only those, before the
//! write has ended.
//!
//! One copy is made at a time, and the queue holds later writes back until it is done, which keeps the order of writes.
//! A copy into memory of the process uses the process's mapping. So it needs a page that may be written, and waits for
//! a thread that serves a page fault there.

use crate::error::Result;
use crate::memory::{Memory, MemoryKind};
use peerlane_core::att::AttAddress;
use peerlane_core::extent::Extents;
use std::fmt::Debug;
use std::sync::Arc;

/// Bytes of a dword: the only granularity other than 1.
pub(crate) const DWORD: u64 = 4;

/// Bytes of the queue's memory for one end: it may lie in two dwords of FPGA memory.
pub(crate) const SLOT: u64 = 2 * DWORD;

/// Writes a few bytes of memory that the library cannot reach itself: memory of a GPU, by the GPU's own copy.
///
/// It is called by a thread that uses the queue, for one write at a time. It must not wait for the queue. It
/// waits for the copy, but not for work of the program's that may wait for the transfer.
pub trait Patch: Debug + Send + Sync {
    /// Copies `bytes` to the region from the byte at `offset` on. The bytes have arrived when this returns `Ok`. Bytes
    /// next to them are not written, not even with the value that they have.
    ///
    /// # Errors
    /// [`Error::Forgotten`](crate::Error::Forgotten) if the memory does not exist any more: the write ends as the board
    /// would end it then. The write ends with any other error: [`Error::Ends`](crate::Error::Ends) is for errors of the
    /// memory's device, and for a panic of this function.
    fn patch(&self, offset: u64, bytes: &[u8]) -> Result<()>;
}

/// A way in which the library writes a region itself.
#[derive(Debug, Clone)]
pub(crate) enum Access {
    /// Memory that is read and written by copying, from this byte on.
    Memory(Memory, usize),
    /// Memory of this process, at an address.
    Process(u64),
    /// Memory that its owner writes.
    Owner(Arc<dyn Patch>),
}

impl Access {
    /// Returns whether it is memory of the host.
    pub(crate) fn is_host(&self) -> bool {
        match self {
            Self::Memory(memory, _) => memory.kind() == MemoryKind::Host,
            Self::Process(_) => true,
            Self::Owner(_) => false,
        }
    }
}

/// Bytes at the start and the end of a write that the board does not write where they belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) head: u64,
    pub(crate) tail: u64,
    /// ATT address where the board writes them: a slot for the head, followed by one for the tail.
    bounce: AttAddress,
}

/// One end of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Offset of its first byte in the transfer.
    pub(crate) start: u64,
    /// Number of its bytes.
    pub(crate) bytes: u64,
    /// Offset of its slot in the queue's memory.
    slot: u64,
}

/// Places of the descriptor that moves an end.
pub(crate) struct Fetch {
    pub(crate) peer: AttAddress,
    pub(crate) local: u64,
    pub(crate) length: u32,
}

/// An end that the board has moved, and that has to be copied to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scrap {
    /// Place of its first byte in the region.
    pub(crate) to: AttAddress,
    /// Offset of that byte in the transfer.
    pub(crate) start: u64,
    /// Offset in the queue's memory.
    pub(crate) at: usize,
    /// Number of its bytes.
    pub(crate) bytes: usize,
}

/// Returns whether a write begins or ends between multiples of the granularity.
pub(crate) fn is_ragged(peer: AttAddress, length: u64, granularity: u32) -> bool {
    (peer.raw() | length) & (u64::from(granularity) - 1) != 0
}

impl Ends {
    /// Returns the ends of a write of `length` bytes.
    pub(crate) fn of(peer: AttAddress, length: u64, bounce: AttAddress) -> Self {
        let head = (peer.raw().wrapping_neg() % DWORD).min(length);
        let tail = (length - head) % DWORD;
        Self { head, tail, bounce }
    }

    /// Returns the number of ends.
    pub(crate) fn count(&self) -> u64 {
        u64::from(self.head > 0) + u64::from(self.tail > 0)
    }

    /// Returns an end of a write of `length` bytes, the head first.
    pub(crate) fn get(&self, index: u64, length: u64) -> End {
        match self.head > 0 && index == 0 {
            true => End {
                start: 0,
                bytes: self.head,
                slot: 0,
            },
            false => End {
                start: length - self.tail,
                bytes: self.tail,
                slot: SLOT,
            },
        }
    }

    /// Returns the places from which and to which the board moves an end of a write that begins at `local` in FPGA
    /// memory. `None`: the slot has no ATT address.
    pub(crate) fn fetch(&self, end: End, local: u64) -> Option<Fetch> {
        let first = local + end.start;
        let start = first - first % DWORD;
        let length = (first + end.bytes).next_multiple_of(DWORD) - start;
        Some(Fetch {
            peer: self.bounce.checked_add(end.slot)?,
            local: start,
            length: length as u32,
        })
    }
}

impl End {
    /// Returns the end's bytes in the queue's memory, for a write between these places.
    pub(crate) fn scrap(&self, peer: &Extents, local: u64) -> Option<Scrap> {
        Some(Scrap {
            to: peer.from(self.start)?.address,
            start: self.start,
            at: (self.slot + (local + self.start) % DWORD) as usize,
            bytes: self.bytes as usize,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_core::att::PageSize;

    fn at(offset: u64) -> AttAddress {
        AttAddress::new(PageSize::Kib4, 3, offset).unwrap()
    }

    /// Head, middle and tail make up the write, in this order and without a gap; the middle has whole dwords.
    #[test]
    fn a_write_falls_into_ends_and_a_middle() {
        for start in 0..4 {
            for length in 1..40 {
                let ends = Ends::of(at(start), length, at(4096));
                assert!(ends.head < 4 && ends.tail < 4);
                let middle = length - ends.head - ends.tail;
                assert!(middle.is_multiple_of(4), "{length} bytes at {start}");
                assert!(middle == 0 || (start + ends.head).is_multiple_of(4));
                let ragged = is_ragged(at(start), length, 4);
                assert_eq!(ends.count() > 0, ragged, "{length} bytes at {start}");
                assert!(!is_ragged(at(start), length, 1));
                let mut left = 0..length;
                for index in 0..ends.count() {
                    let end = ends.get(index, length);
                    match end.slot {
                        0 => left.start += end.bytes,
                        _ => left.end -= end.bytes,
                    }
                    let inside = end.start == 0 || end.start == left.end;
                    assert!(inside, "{length} bytes at {start}: {end:?}");
                }
                assert_eq!(left.end - left.start, middle);
            }
        }
    }

    /// The dwords of FPGA memory around an end, and no more.
    #[test]
    fn an_end_is_fetched_in_whole_dwords() {
        for local in 0..8 {
            for (start, length) in [(1, 3), (3, 1), (2, 2), (0, 1), (0, 3), (3, 8)] {
                let ends = Ends::of(at(start), length, at(0x1000));
                for index in 0..ends.count() {
                    let end = ends.get(index, length);
                    let fetch = ends.fetch(end, local).unwrap();
                    let first = local + end.start;
                    assert!(fetch.local <= first && first - fetch.local < 4);
                    let behind = fetch.local + u64::from(fetch.length);
                    assert!(behind >= first + end.bytes && behind - (first + end.bytes) < 4);
                    for place in [fetch.local, behind, fetch.peer.raw()] {
                        assert!(place.is_multiple_of(4), "{end:?}");
                    }
                    let scrap = end.scrap(&Extents::one(at(start), length), local).unwrap();
                    assert_eq!(scrap.to, at(start + end.start));
                    let slot = fetch.peer.offset_from(at(0x1000)).unwrap();
                    assert_eq!(scrap.at as u64, slot + first - fetch.local);
                    assert!(scrap.at + scrap.bytes <= (slot + SLOT) as usize);
                }
            }
        }
    }
}
