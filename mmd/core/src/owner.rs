//! The process that owns the boards.

use std::sync::atomic::{AtomicU64, Ordering};

/// The process that has boards open, or opens one, with the number of uses. A child that a fork makes at any time finds
/// the state of its parent. Both are in one word, because the child has the values that the parent's other threads had
/// written.
#[derive(Debug, Default)]
pub(crate) struct Owner(AtomicU64);

impl Owner {
    /// Whether it is another process: then that process may have locked anything here, and its threads are not this
    /// process's.
    pub(crate) fn is_another(&self) -> bool {
        let owner = (self.0.load(Ordering::SeqCst) >> 32) as u32;
        owner != 0 && owner != std::process::id()
    }

    /// Begins a use; `None`: it is another process's. The use ends when the result is dropped.
    pub(crate) fn begin(&self) -> Option<Use<'_>> {
        let me = u64::from(std::process::id()) << 32;
        let more = |word: u64| match word >> 32 {
            0 => Some(me | 1),
            owner if owner == me >> 32 => Some(word + 1),
            _ => None,
        };
        let begun = (self.0).fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        begun.is_ok().then(|| Use(self))
    }

    /// Ends a use that was kept.
    pub(crate) fn end(&self) {
        let less = |word: u64| Some(if word as u32 == 1 { 0 } else { word - 1 });
        let _ = (self.0).fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
    }
}

/// A use of boards by this process.
pub(crate) struct Use<'a>(&'a Owner);

impl Use<'_> {
    /// Keeps the use until [`Owner::end`].
    pub(crate) fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
