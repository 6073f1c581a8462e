//! Memory that is put together of several allocations, by mapping them side by side.

use super::table::overlap;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What lies at a range of addresses: a piece of memory that was mapped there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Addresses of all of the piece.
    pub range: Range<u64>,
    /// Its identity, as of [`Buffer::cuda`](super::Buffer::cuda).
    pub identity: u64,
    /// What names its memory, for as long as somebody keeps that: CUDA's `CUmemGenericAllocationHandle`.
    pub handle: u64,
}

/// The pieces that a range of addresses has. Clones are the same.
#[derive(Clone)]
pub struct Parts {
    /// In the order of their addresses, which do not overlap.
    all: Arc<[Part]>,
    /// Has the handles name this memory and no other.
    _keep: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)
    }
}

impl Parts {
    /// Pieces in the order of their addresses. `keep` is kept for as long as a cache has a region of them, and has their
    /// handles name no other memory.
    pub fn new(all: Vec<Part>, keep: impl Any + Send + Sync) -> Self {
        Self {
            all: all.into(),
            _keep: Arc::new(keep),
        }
    }

    /// Pieces that are no memory's: a region of them is never found.
    pub fn unknown() -> Self {
        let nowhere = Part {
            range: 0..u64::MAX,
            identity: u64::MAX,
            handle: u64::MAX,
        };
        Self::new(vec![nowhere], ())
    }

    /// Whether both say the same wherever both say something.
    pub(super) fn agree(&self, other: &Self) -> bool {
        self.all.iter().all(|part| {
            let first = (other.all).partition_point(|there| there.range.end <= part.range.start);
            let there = other.all[first..].iter();
            let mut there = there.take_while(|there| overlap(&there.range, &part.range));
            there.all(|there| there == part)
        })
    }

    /// Whether one of them has an identity.
    pub(super) fn has(&self, identity: u64) -> bool {
        self.all.iter().any(|part| part.identity == identity)
    }
}
