//! A few bytes into GPU memory by the GPU's own copy: at the ends of writes of a board that writes whole dwords only.

use crate::error::Result;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Whether memory was freed. A copy holds the lock.
pub(crate) type Gone = Arc<Mutex<bool>>;

/// Marks memory as freed. A copy that is under way ends first.
pub(crate) fn freed(gone: &Gone) {
    *gone.lock().unwrap_or_else(PoisonError::into_inner) = true;
}

/// How a GPU copies to a byte of a region and on. All has arrived when it returns.
type Store = dyn Fn(u64, &[u8]) -> Result<()> + Send + Sync;

/// A region's memory of a GPU.
pub(crate) struct Patch {
    gone: Gone,
    store: Box<Store>,
}

impl Patch {
    /// Makes one for a region, of memory that may be freed before it.
    pub(crate) fn new(
        gone: &Gone,
        store: impl Fn(u64, &[u8]) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            gone: Arc::clone(gone),
            store: Box::new(store),
        })
    }
}

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patch").finish_non_exhaustive()
    }
}

impl peerlane_host::Patch for Patch {
    fn patch(&self, offset: u64, bytes: &[u8]) -> peerlane_host::Result<()> {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if *gone {
            return Err(peerlane_host::Error::Forgotten);
        }
        (self.store)(offset, bytes).map_err(|error| peerlane_host::Error::Ends {
            reason: error.to_string(),
        })
    }
}
