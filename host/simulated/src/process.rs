//! Memory of the process on the simulated bus, for programs that register memory of their own by its address.

use crate::memory::HOST_PAGE;
use peerlane_sim::{Outside, Target};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a byte's bus address has more than its address in the process: beyond all models of the board, which
/// have less than that, and beyond all that a process has (the kernel's Documentation/arch/x86/x86_64/mm.rst).
pub(crate) const AT: u64 = 1 << 48;

/// What the board is let into: addresses in the process. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessMemory(Arc<Mutex<Vec<Range<u64>>>>);

impl ProcessMemory {
    fn lock(&self) -> MutexGuard<'_, Vec<Range<u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the board into memory.
    ///
    /// # Safety
    /// The memory is mapped, and nobody has a reference to it while a transfer with it is under way, until
    /// [`take_back`](Self::take_back).
    pub(crate) unsafe fn admit(&self, range: Range<u64>) {
        self.lock().push(range);
    }

    /// Takes that back, once for each time.
    pub(crate) fn take_back(&self, range: &Range<u64>) {
        let mut ranges = self.lock();
        if let Some(index) = ranges.iter().position(|other| other == range) {
            ranges.swap_remove(index);
        }
    }

    /// Does something with the memory at a bus address, if the board is let into all of it: into ranges as `widened` makes
    /// them.
    fn with(
        &self,
        address: u64,
        length: usize,
        widened: impl Fn(&Range<u64>) -> Range<u64>,
        f: impl FnOnce(*mut u8),
    ) -> bool {
        let Some(start) = address.checked_sub(AT) else {
            return false;
        };
        let Some(end) = start.checked_add(length as u64) else {
            return false;
        };
        let ranges = self.lock();
        let mut ranges = ranges.iter().map(widened);
        let inside = ranges.any(|range| range.start <= start && end <= range.end);
        if inside {
            f(std::ptr::with_exposed_provenance_mut(start as usize));
        }
        inside
    }
}

/// The pages of a range, which are mapped where it is. The board reads whole words.
pub(crate) fn pages(range: &Range<u64>) -> Range<u64> {
    let end = range.end.checked_next_multiple_of(HOST_PAGE);
    range.start / HOST_PAGE * HOST_PAGE..end.unwrap_or(u64::MAX)
}

impl Outside for ProcessMemory {
    fn target(&self, address: u64) -> Option<Target> {
        self.with(address, 1, pages, |_| ()).then_some(Target::Host)
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> bool {
        // SAFETY: `admit` was promised that all of it is mapped, which is so by whole pages, and its list is locked.
        self.with(address, data.len(), pages, |from| unsafe {
            std::ptr::copy_nonoverlapping(from.cast_const(), data.as_mut_ptr(), data.len());
        })
    }

    fn write(&mut self, address: u64, data: &[u8]) -> bool {
        // SAFETY: as above.
        self.with(address, data.len(), Range::clone, |to| unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_admitted_is_reached() {
        let mut bytes = vec![7_u8; 3 * HOST_PAGE as usize];
        let start = bytes.as_mut_ptr().expose_provenance() as u64;
        // In the middle of a page of the array.
        let first = start.next_multiple_of(HOST_PAGE) + 100;
        let range = first..first + 8;
        let mut memory = ProcessMemory::default();
        let mut found = [0; 8];
        assert!(!memory.read(AT + first, &mut found) && memory.target(AT + first).is_none());
        // SAFETY: the array outlives it.
        unsafe { memory.admit(range.clone()) };
        assert_eq!(memory.target(AT + first), Some(Target::Host));
        assert!(memory.target(first).is_none());
        assert!(memory.write(AT + first, &[9; 8]));
        assert!(memory.read(AT + first - 4, &mut found));
        assert_eq!(found, [7, 7, 7, 7, 9, 9, 9, 9]);
        // Nothing beside the range is written, and nothing of another page is read.
        for at in [first - 1, first + 1] {
            assert!(!memory.write(AT + at, &[0; 8]));
        }
        assert!(!memory.read(AT + first - 104, &mut found));
        assert!(!memory.read(u64::MAX, &mut found));
        memory.take_back(&range);
        assert!(!memory.read(AT + first, &mut found));
        let at = (first - start) as usize;
        assert_eq!(bytes[at - 1..at + 9], [7, 9, 9, 9, 9, 9, 9, 9, 9, 7]);
    }
}
