//! Memory mapped into the process.

use crate::bounds::check;
use crate::error::{Error, Result};
use crate::sys::Process;
use crate::words;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::mm::{self, MapFlags, ProtFlags};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Bytes of a word. Bytes are copied in whole words of this one size: the memory model has no
/// atomic accesses of different sizes to the same bytes (`std::sync::atomic`, "Memory model for
/// atomic accesses").
const WORD: usize = size_of::<AtomicU64>();

/// Memory mapped into the process; its drop unmaps it.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    length: usize,
    /// Bytes that were mapped: `length`, or with huge pages the whole pages.
    mapped: usize,
    /// The process that mapped it, if a child gets no copy of it: other memory may lie there in the child.
    owner: Option<Process>,
}

// SAFETY: it is an address range that belongs to this value and may be used from any thread;
// every access goes through pointers or atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above. `&self` only gives atomics; a window's accesses, which are volatile, take turns by `&mut`.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `length` bytes of a file of memory, shared. It is for the window of a driver other than the kernel's
    /// ([`BoardWindow::map`](crate::BoardWindow::map)) that forwards stores itself. The file must not become shorter in
    /// the meantime: an access after its end is a `SIGBUS`.
    ///
    /// # Errors
    /// [`Error::Empty`], and [`Error::Map`].
    pub fn of_memory(file: BorrowedFd<'_>, length: usize) -> Result<Self> {
        match length {
            0 => Err(Error::Empty { what: "a mapping" }),
            _ => Self::file("memory", file, length, 1),
        }
    }

    /// Maps a file, shared, in whole pages of `page` bytes. A child gets a copy.
    pub(crate) fn file(
        what: &'static str,
        file: BorrowedFd<'_>,
        length: usize,
        page: usize,
    ) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        Self::new(what, length, page, |mapped| {
            // SAFETY: a new mapping at a place of the kernel's choice.
            unsafe {
                let (anywhere, shared) = (std::ptr::null_mut(), MapFlags::SHARED);
                mm::mmap(anywhere, mapped, protection, shared, file, 0)
            }
        })
    }

    /// Maps a device's memory at an offset, shared. A child may get no copy: the device's driver decides that.
    pub(crate) fn device(
        what: &'static str,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
        protection: ProtFlags,
    ) -> Result<Self> {
        let mut mapping = Self::new(what, length, 1, |mapped| {
            // SAFETY: a new mapping at a place of the kernel's choice.
            unsafe {
                let (anywhere, shared) = (std::ptr::null_mut(), MapFlags::SHARED);
                mm::mmap(anywhere, mapped, protection, shared, file, offset)
            }
        })?;
        mapping.owner = Some(Process::current());
        Ok(mapping)
    }

    /// Maps new memory of the process, all zero, in whole pages of `page` bytes.
    pub(crate) fn anonymous(
        what: &'static str,
        length: usize,
        page: usize,
        flags: MapFlags,
    ) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        Self::new(what, length, page, |mapped| {
            // SAFETY: a new mapping at a place of the kernel's choice.
            unsafe { mm::mmap_anonymous(std::ptr::null_mut(), mapped, protection, flags) }
        })
    }

    /// Maps `length` bytes in whole pages of `page` bytes. The kernel rounds a length up to whole huge pages by itself,
    /// but unmaps whole ones only: `munmap(2)`, "Notes".
    fn new(
        what: &'static str,
        length: usize,
        page: usize,
        map: impl FnOnce(usize) -> rustix::io::Result<*mut std::ffi::c_void>,
    ) -> Result<Self> {
        let error = |source| Error::map(what, length, source);
        let mapped = length.checked_next_multiple_of(page);
        let mapped = mapped.ok_or_else(|| error(Errno::NOMEM))?;
        let base = NonNull::new(map(mapped).map_err(error)?.cast());
        let base = base.ok_or_else(|| error(Errno::NOMEM))?;
        Ok(Self {
            base,
            length,
            mapped,
            owner: None,
        })
    }

    /// Returns the address of the first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Returns the number of bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Copies from the mapping, which must be memory. Each word is read before or after a concurrent write to it.
    pub(crate) fn copy_to(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        check("mapping", self.length, offset, bytes.len())?;
        words::load(self.words(), offset, bytes);
        Ok(())
    }

    /// Copies into the mapping, which must be memory. The neighbouring bytes in the first and the last word keep their
    /// values, also under concurrent writes.
    pub(crate) fn copy_from(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        check("mapping", self.length, offset, bytes.len())?;
        words::store(self.words(), offset, bytes);
        Ok(())
    }

    /// Returns the mapping as words that others may write, to the end of its last page.
    fn words(&self) -> &[AtomicU64] {
        let count = self.mapped.div_ceil(WORD);
        // SAFETY: mappings begin at page boundaries, are of whole pages and live as long as `self`.
        // All references into them are atomics.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), count) }
    }

    /// Returns the mapping as dwords that others may write.
    pub(crate) fn dwords(&self) -> &[AtomicU32] {
        // SAFETY: mappings begin at page boundaries and live as long as `self`; memory that is
        // mapped read-only is only loaded, 4 bytes at a time, which `std::sync::atomic` allows.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), self.length / 4) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.owner.is_some_and(|owner| owner != Process::current()) {
            return;
        }
        // SAFETY: the range is ours, and no reference into it outlives `self`. This fails if the process has reached
        // its limit of mappings and the kernel had joined this one to its neighbours (`munmap(2)`, ENOMEM). Then the
        // mapping stays.
        let _ = unsafe { mm::munmap(self.base.as_ptr().cast(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn private(length: usize) -> Mapping {
        Mapping::anonymous("memory", length, 1, MapFlags::PRIVATE).unwrap()
    }

    /// Returns whether a huge page is mapped at an address. Other tests may map other memory there.
    fn is_huge(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let huge = maps.lines().filter(|line| line.contains("/anon_hugepage"));
        let mut ranges = huge.filter_map(|line| {
            let (from, to) = line.split_once(' ')?.0.split_once('-')?;
            let number = |text| usize::from_str_radix(text, 16).ok();
            Some(number(from)?..number(to)?)
        });
        ranges.any(|range| range.contains(&address))
    }

    #[test]
    fn any_stretch_is_copied_and_nothing_beside_it() {
        let mapping = private(4099);
        let data: Vec<u8> = (1..=64).collect();
        for offset in (0..20).chain(4035..4050) {
            for length in 0..50 {
                mapping.copy_from(0, &vec![0xee; 4099]).unwrap();
                mapping.copy_from(offset, &data[..length]).unwrap();
                let mut expected = vec![0xee; 4099];
                expected[offset..offset + length].copy_from_slice(&data[..length]);
                let mut found = vec![0; 4099];
                mapping.copy_to(0, &mut found).unwrap();
                assert!(found == expected, "{length} bytes written at {offset}");
                let mut found = vec![0; length];
                mapping.copy_to(offset, &mut found).unwrap();
                assert!(found == data[..length], "{length} bytes read at {offset}");
            }
        }
    }

    #[test]
    fn threads_write_neighbouring_bytes() {
        let mapping = private(4096);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let mapping = &mapping;
                scope.spawn(move || {
                    // All of them share every word.
                    for round in 0..200 {
                        for place in (2 * thread..4096).step_by(8) {
                            mapping.copy_from(place, &[round, thread as u8]).unwrap();
                        }
                    }
                });
            }
        });
        let mut found = [0; 4096];
        mapping.copy_to(0, &mut found).unwrap();
        let expected = [199, 0, 199, 1, 199, 2, 199, 3];
        assert!(found.as_chunks().0.iter().all(|word| *word == expected));
    }

    #[test]
    fn a_word_is_of_one_write() {
        let mapping = private(64 << 10);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for byte in (0..=255).cycle() {
                    mapping.copy_from(0, &vec![byte; 64 << 10]).unwrap();
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let mut found = vec![0; 64 << 10];
            for _ in 0..500 {
                mapping.copy_to(0, &mut found).unwrap();
                let words = found.as_chunks::<WORD>().0;
                assert!(words.iter().all(|word| *word == [word[0]; WORD]));
            }
            over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn huge_pages_are_given_back_whole() {
        const HUGE: usize = 2 << 20;
        // Without reserved pages: the mapping is not touched.
        let flags =
            MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB | MapFlags::NORESERVE;
        for length in [1, HUGE, HUGE + 4096] {
            let mapping = match Mapping::anonymous("huge pages", length, HUGE, flags) {
                Ok(mapping) => mapping,
                Err(error) => panic!("does the kernel have huge pages of 2 MiB? {error}"),
            };
            let base = mapping.base().as_ptr() as usize;
            let last = base + length.next_multiple_of(HUGE) - 1;
            assert!(is_huge(base) && is_huge(last) && mapping.length() == length);
            drop(mapping);
            assert!(!is_huge(base) && !is_huge(last), "{length} bytes");
        }
        let error = Mapping::anonymous("huge pages", usize::MAX, HUGE, flags).unwrap_err();
        assert!(error.to_string().contains("huge pages"), "{error}");
    }
}
