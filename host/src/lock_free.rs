//! What several threads, or the board and a thread, do to the same memory without a lock. `tests/concurrent.rs` runs this
//! very file in every order (loom).

use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use peerlane_core::record;
use peerlane_core::regs::Completion;
use peerlane_core::ring::Slots;

/// A completion ring in memory that the board writes.
pub(crate) struct Ring<'a>(pub(crate) &'a [AtomicU32]);

impl Ring<'_> {
    const DWORDS: usize = Completion::SIZE / 4;

    fn load(&self, index: usize, ordering: Ordering) -> u32 {
        // What lies behind the memory is no record: phase bit and all are those of a ring
        // that is not there.
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
    // It always gives a new value.
    let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
}

/// Something that one at a time has: a board's window.
#[derive(Debug, Default)]
pub(crate) struct Seat(AtomicBool);

impl Seat {
    /// Takes it, unless somebody has it. What the one before did with it is seen from then on.
    pub(crate) fn take(&self) -> bool {
        let taken = (self.0).compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    }

    /// Gives it back.
    pub(crate) fn leave(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Whether a task is to look again.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// Before the task looks: what happens from then on raises it again.
    pub(crate) fn lower(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// Something has happened.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether something has.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
