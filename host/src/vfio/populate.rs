//! Pages of the process's memory before they are pinned.
//!
//! Before Linux 6.2, VFIO pins for reading the pages that are there, such as the zero page of memory that was never
//! written (commit 84209e87c696). The process's first store gets another page then, and the board goes on with the old
//! one. So the process gets pages of its own before, where it may write.

use super::{Error, Result};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};
use std::ops::Range;

/// Checks that the kernel can do it: since Linux 5.14.
pub(super) fn check() -> Result<()> {
    // Of no bytes the kernel checks the advice only.
    match advise(0..0) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::OldKernel),
    }
}

/// Returns the bytes of memory that this process may lock: `RLIMIT_MEMLOCK`, without `CAP_IPC_LOCK`.
pub(super) fn limit() -> Option<u64> {
    let held = capabilities(None).map(|sets| sets.effective);
    match held.is_ok_and(|held| held.contains(CapabilitySet::IPC_LOCK)) {
        true => None,
        false => getrlimit(Resource::Memlock).current,
    }
}

/// Has the process get pages of its own for memory that it may write to. The range has whole pages. Memory beyond the
/// limit of locked memory stays as it is: it is not pinned, and the process may not have room for so many pages.
pub(super) fn populate(range: Range<u64>, limit: Option<u64>) {
    if limit.is_some_and(|limit| range.end - range.start > limit) {
        return;
    }
    if advise(range.clone()).is_ok() {
        return;
    }
    // The kernel stops at the first byte that the process may not write. The pages there stay as they are.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for part in writable(&maps, &range) {
        // A part that cannot be populated is reported when it is pinned.
        let _ = advise(part);
    }
}

fn advise(range: Range<u64>) -> std::result::Result<(), Errno> {
    let length = (range.end - range.start) as usize;
    // SAFETY: it changes no byte of the memory, and fails where the process has none.
    match unsafe { libc::madvise(range.start as *mut _, length, libc::MADV_POPULATE_WRITE) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// Returns the parts of a range that may be written, by the text of `/proc/PID/maps` (the kernel's
/// Documentation/filesystems/proc.rst).
fn writable(maps: &str, range: &Range<u64>) -> Vec<Range<u64>> {
    let part = |line: &str| {
        let (addresses, rest) = line.split_once(' ')?;
        let (start, end) = addresses.split_once('-')?;
        let [start, end] = [start, end].map(|digits| u64::from_str_radix(digits, 16).ok());
        let part = start?.max(range.start)..end?.min(range.end);
        (rest.as_bytes().get(1) == Some(&b'w') && part.start < part.end).then_some(part)
    };
    maps.lines().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use rustix::mm::{MapFlags, MprotectFlags, mprotect};

    const PAGE: usize = 4096;

    #[test]
    fn parts_that_may_be_written_are_found() {
        let maps = "1000-3000 r-xp 00000000 08:01 17 /bin/true\n\
                    3000-5000 rw-p 00000000 00:00 0\n\
                    5000-6000 -w-s 00000000 00:00 0 [heap]\n\
                    odd\n\
                    7f0000000000-7f0000002000 rw-p 00000000 00:00 0\n";
        let last = 0x3000..0x4000;
        assert_eq!(writable(maps, &(0..0x4000)), std::slice::from_ref(&last));
        assert_eq!(
            writable(maps, &(0x4000..0x8000)),
            [0x4000..0x5000, 0x5000..0x6000]
        );
        assert_eq!(writable(maps, &(0x1000..0x3000)), []);
        let last = 0x7f00_0000_1000..0x7f00_0000_2000;
        assert_eq!(writable(maps, &last), [last]);
    }

    /// Also beyond a page that may not be written.
    #[test]
    fn all_that_may_be_written_gets_pages() {
        check().unwrap();
        let memory = Mapping::anonymous("memory", 5 * PAGE, 1, MapFlags::PRIVATE).unwrap();
        let base = memory.base().as_ptr();
        let third = base.wrapping_add(2 * PAGE).cast();
        // SAFETY: a page of this mapping, to which no other code has a reference.
        unsafe { mprotect(third, PAGE, MprotectFlags::READ) }.unwrap();
        let first = base as u64;
        populate(first..first + 5 * PAGE as u64, None);
        let mut there = [0_u8; 5];
        // SAFETY: a byte for each page of the mapping.
        let asked = unsafe { libc::mincore(base.cast(), 5 * PAGE, there.as_mut_ptr()) };
        assert_eq!((asked, there.map(|byte| byte & 1)), (0, [1, 1, 0, 1, 1]));
    }

    /// A registration that the kernel refuses takes no memory before.
    #[test]
    fn memory_beyond_the_limit_gets_no_pages() {
        let memory = Mapping::anonymous("memory", 4 * PAGE, 1, MapFlags::PRIVATE).unwrap();
        let base = memory.base().as_ptr();
        for (limit, expected) in [(3, [0; 4]), (4, [1; 4])] {
            populate(
                base as u64..base as u64 + 4 * PAGE as u64,
                Some(limit * PAGE as u64),
            );
            let mut there = [0_u8; 4];
            // SAFETY: a byte for each page of the mapping.
            let asked = unsafe { libc::mincore(base.cast(), 4 * PAGE, there.as_mut_ptr()) };
            assert_eq!((asked, there.map(|byte| byte & 1)), (0, expected));
        }
    }

    #[test]
    fn the_limit_is_that_of_the_process_without_the_capability() {
        // The kernel's own text about this thread; bit 14 is CAP_IPC_LOCK (capability.h).
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let held = u64::from_str_radix(held.unwrap().trim(), 16).unwrap();
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max locked memory"));
        let soft = line
            .unwrap()
            .split_whitespace()
            .nth(3)
            .unwrap()
            .parse()
            .ok();
        assert_eq!(limit(), if held >> 14 & 1 == 1 { None } else { soft });
    }
}
