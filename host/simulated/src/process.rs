//! Memory of the process on the simulated bus, for programs that register memory of their own by its address.

use peerlane_host::driver::{BackendError, BackendResult};
use peerlane_sim::{Outside, Target};
use rustix::fs::{SeekFrom, seek};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a page of the host's.
pub(crate) const HOST_PAGE: u64 = 4096;

/// Difference between a byte's bus address and its address in the process. It is more than all addresses of the board's
/// models, and more than all addresses of a process (the kernel's Documentation/arch/x86/x86_64/mm.rst).
pub(crate) const AT: u64 = 1 << 48;

/// Memory that the board may reach: addresses in the process, and peers' memory in the process. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessMemory(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    ranges: Vec<Range<u64>>,
    /// Bus addresses, and the address in the process of the first byte.
    peers: Vec<(Range<u64>, u64)>,
}

impl ProcessMemory {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a device to the bus whose memory lies in the process.
    ///
    /// # Safety
    /// From `at` on there are as many mapped bytes for as long as the board lives, and no references to them while the
    /// board accesses them.
    pub(crate) unsafe fn add_peer(&self, bus: Range<u64>, at: u64) {
        self.lock().peers.push((bus, at));
    }

    /// Returns whether there are peers.
    pub(crate) fn has_peers(&self) -> bool {
        !self.lock().peers.is_empty()
    }

    /// Returns whether one peer has all of these bus addresses.
    pub(crate) fn shows(&self, range: &Range<u64>) -> bool {
        let inner = self.lock();
        let mut peers = inner.peers.iter();
        peers.any(|(bus, _)| bus.start <= range.start && range.end <= bus.end)
    }

    /// Allows the board to reach memory.
    ///
    /// # Safety
    /// The memory is mapped, and there are no references to it while a transfer with it is under way, until
    /// [`take_back`](Self::take_back).
    pub(crate) unsafe fn admit(&self, range: Range<u64>) {
        self.lock().ranges.push(range);
    }

    /// Revokes that, once for each time that it was allowed.
    pub(crate) fn take_back(&self, range: &Range<u64>) {
        let ranges = &mut self.lock().ranges;
        if let Some(index) = ranges.iter().position(|other| other == range) {
            ranges.swap_remove(index);
        }
    }

    /// Calls a function with the memory at a bus address, if the board may reach all of it: the ranges, as `widened`
    /// extends them.
    fn with(
        &self,
        address: u64,
        length: usize,
        widened: impl Fn(&Range<u64>) -> Range<u64>,
        f: impl FnOnce(*mut u8),
    ) -> bool {
        let inner = self.lock();
        let holds = |range: &Range<u64>, start: u64| {
            let end = start.checked_add(length as u64);
            range.start <= start && end.is_some_and(|end| end <= range.end)
        };
        let mut peers = inner.peers.iter();
        let peer = peers.find(|(bus, _)| holds(bus, address));
        let own = address.checked_sub(AT).filter(|start| {
            let mut ranges = inner.ranges.iter().map(widened);
            ranges.any(|range| holds(&range, *start))
        });
        let Some(start) = peer.map(|(bus, at)| at + (address - bus.start)).or(own) else {
            return false;
        };
        f(std::ptr::with_exposed_provenance_mut(start as usize));
        true
    }
}

/// Returns the pages of a range, which are mapped where the range is. The board reads whole words.
pub(crate) fn pages(range: &Range<u64>) -> Range<u64> {
    let end = range.end.checked_next_multiple_of(HOST_PAGE);
    range.start / HOST_PAGE * HOST_PAGE..end.unwrap_or(u64::MAX)
}

/// Returns whether the process has all of these pages, and may read them (proc_pid_maps(5)).
pub(crate) fn is_mapped(pages: &Range<u64>) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        // Without this list, the caller's promise has to do.
        return true;
    };
    covers(&maps, pages)
}

fn covers(maps: &str, pages: &Range<u64>) -> bool {
    let mapping = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        (rest.starts_with('r')).then_some((number(start)?, number(end)?))
    };
    // They are ascending, and do not overlap.
    let mut reached = pages.start;
    for (start, end) in maps.lines().filter_map(mapping) {
        if start <= reached && reached < end {
            reached = end;
        }
    }
    !pages.is_empty() && reached >= pages.end
}

/// A file that represents a dma-buf, mapped as a whole.
#[derive(Debug)]
pub(crate) struct FileMapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the pointer is only used to unmap it once.
unsafe impl Send for FileMapping {}

impl FileMapping {
    pub(crate) fn new(file: BorrowedFd<'_>) -> BackendResult<Self> {
        let failed = |error: rustix::io::Errno| BackendError::Other(format!("a dma-buf: {error}"));
        // A dma-buf's size is the offset of its end (the kernel's drivers/dma-buf/dma-buf.c, `dma_buf_llseek`).
        let length = seek(file, SeekFrom::End(0)).map_err(failed)? as usize;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { mmap(null_mut(), length, access, MapFlags::SHARED, file, 0) };
        let base = NonNull::new(base.map_err(failed)?.cast());
        Ok(Self {
            base: base.ok_or_else(|| BackendError::Other("a mapping at 0".into()))?,
            length,
        })
    }

    pub(crate) fn address(&self) -> u64 {
        self.base.as_ptr().expose_provenance() as u64
    }

    pub(crate) fn length(&self) -> u64 {
        self.length as u64
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

impl Outside for ProcessMemory {
    fn target(&self, address: u64) -> Option<Target> {
        let found = self.with(address, 1, pages, |_| ());
        found.then(|| match self.shows(&(address..address + 1)) {
            true => Target::Gpu,
            false => Target::Host,
        })
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> bool {
        // SAFETY: `admit` was promised that all of it is mapped, in whole pages, and its list is locked.
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
    fn what_is_mapped_without_a_gap_is_there() {
        let maps = "1000-3000 r-xp 0 08:02 1 /bin/x\n3000-4000 rw-p 0 0 0\n5000-6000 rw-p 0 0 0 [heap]\n\
                    6000-7000 ---p 0 0 0\nffffffffff600000-ffffffffff601000 --xp 0 0 0 [vsyscall]\n";
        for (range, there) in [
            (0x1000..0x4000, true),
            (0x2000..0x3000, true),
            (0x0..0x2000, false),
            (0x3000..0x6000, false),
            (0x5000..0x6000, true),
            (0x5000..0x7000, false),
            (0x1000..0x1000, false),
            (0x8000..0x9000, false),
        ] {
            assert_eq!(covers(maps, &range), there, "{range:#x?}");
        }
        let start = maps.as_ptr().expose_provenance() as u64;
        assert!(is_mapped(&pages(&(start..start + 1))) && !is_mapped(&(0..4096)));
    }

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
        // No bytes outside of the range are written, and no bytes of another page are read.
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
