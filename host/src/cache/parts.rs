//! Memory that consists of several allocations, mapped next to each other.

use super::table::overlap;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A piece of memory that was mapped at a range of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Addresses of all of the piece.
    pub range: Range<u64>,
    /// Its identity, as of [`Buffer::cuda`](super::Buffer::cuda).
    pub identity: u64,
    /// Name of its memory, for as long as a reference to the memory is kept: CUDA's `CUmemGenericAllocationHandle`.
    pub handle: u64,
}

/// The pieces of a range of addresses. Clones share them.
#[derive(Clone)]
pub struct Parts {
    /// In the order of their addresses, which do not overlap.
    all: Arc<[Part]>,
    /// Makes sure that the handles name this memory and no other.
    _keep: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)
    }
}

impl Parts {
    /// Makes the pieces of a range, in the order of their addresses. `keep` is kept for as long as a cache has a region
    /// of the pieces. It makes sure that their handles name no other memory.
    pub fn new(all: Vec<Part>, keep: impl Any + Send + Sync) -> Self {
        Self {
            all: all.into(),
            _keep: Arc::new(keep),
        }
    }

    /// Returns pieces that match no memory: a region of them is never found.
    pub fn unknown() -> Self {
        let nowhere = Part {
            range: 0..u64::MAX,
            identity: u64::MAX,
            handle: u64::MAX,
        };
        Self::new(vec![nowhere], ())
    }

    /// Returns whether both have the same pieces wherever their ranges overlap.
    pub(super) fn agree(&self, other: &Self) -> bool {
        self.all.iter().all(|part| {
            let first = (other.all).partition_point(|there| there.range.end <= part.range.start);
            let there = other.all[first..].iter();
            let mut there = there.take_while(|there| overlap(&there.range, &part.range));
            there.all(|there| there == part)
        })
    }

    /// Returns whether a piece has this identity.
    pub(super) fn has(&self, identity: u64) -> bool {
        self.all.iter().any(|part| part.identity == identity)
    }
}
