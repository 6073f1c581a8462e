//! Accesses of several threads, or the board and a thread, to the same memory without a lock. `tests/concurrent.rs`
//! runs this very file in every order (loom).

use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use peerlane_core::record;
use peerlane_core::regs::Completion;
use peerlane_core::ring::Slots;

/// A completion ring in memory that the board writes.
pub(crate) struct Ring<'a>(pub(crate) &'a [AtomicU32]);

impl Ring<'_> {
    const DWORDS: usize = Completion::SIZE / 4;

    fn load(&self, index: usize, ordering: Ordering) -> u32 {
        // Dwords outside of the memory hold no record: phase bit and all are those of a missing ring.
        let dword = self.0.get(index).map_or(0, |dword| dword.load(ordering));
        u32::from_le(dword)
    }
}

impl Slots for Ring<'_> {
    fn status(&mut self, index: u32) -> u32 {
        self.load(
            index as usize * Self::DWORDS + record::STATUS,
            Ordering::Acquire,
        )
    }

    fn record(&mut self, index: u32) -> [u32; record::DWORDS] {
        let first = index as usize * Self::DWORDS;
        std::array::from_fn(|dword| self.load(first + dword, Ordering::Relaxed))
    }
}

/// Writes some bytes of a word.
pub(crate) fn put(word: &AtomicU64, at: usize, bytes: &[u8]) {
    let change = |old: u64| {
        let mut new = old.to_ne_bytes();
        new[at..at + bytes.len()].copy_from_slice(bytes);
        Some(u64::from_ne_bytes(new))
    };
    // The closure always returns a new value.
    let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
}

/// An exclusive right, for example to a board's window.
#[derive(Debug, Default)]
pub(crate) struct Seat(AtomicBool);

impl Seat {
    /// Takes the right, unless it is taken. The actions of its previous owner are visible from then on.
    pub(crate) fn take(&self) -> bool {
        let taken = (self.0).compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    }

    /// Releases the right.
    pub(crate) fn leave(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A flag for a task that has to look again.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// Lowers the flag, before the task looks: an event from then on raises it again.
    pub(crate) fn lower(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// Raises the flag, after an event.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns whether the flag is raised.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
