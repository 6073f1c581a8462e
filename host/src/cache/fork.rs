//! Whether this is still the process that made a value, without a system call.

use crate::sys::Process;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

/// A page that is empty in the child of a fork (madvise(2), `MADV_WIPEONFORK`, since Linux 4.14), or where there is none, the
/// process's number.
#[derive(Debug)]
pub(super) struct Born {
    page: Option<NonNull<AtomicU32>>,
    process: Process,
}

// SAFETY: the page is this value's, and an atomic.
unsafe impl Send for Born {}
// SAFETY: as above.
unsafe impl Sync for Born {}

/// What the page says in the process that made it.
const HERE: u32 = 1;

/// As long as the page is mapped.
const PAGE: usize = 4096;

impl Born {
    /// Made by this process.
    pub(super) fn new() -> Self {
        let both = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at no place that is named.
        let page = unsafe { mmap_anonymous(null_mut(), PAGE, both, MapFlags::PRIVATE) };
        let page = page.ok().and_then(NonNull::new).and_then(|page| {
            // SAFETY: the page was just mapped, and nobody else knows it.
            let wiped = unsafe { madvise(page.as_ptr(), PAGE, Advice::LinuxWipeOnFork) };
            if wiped.is_err() {
                // SAFETY: as above; it is not used.
                let _ = unsafe { munmap(page.as_ptr(), PAGE) };
                return None;
            }
            let page = page.cast::<AtomicU32>();
            // SAFETY: a page of zeros, which is aligned.
            unsafe { page.as_ref() }.store(HERE, Ordering::Relaxed);
            Some(page)
        });
        Self {
            page,
            process: Process::current(),
        }
    }

    /// Whether this is another process: a child of the one that made it.
    pub(super) fn is_another(&self) -> bool {
        match self.page {
            // SAFETY: the page is mapped as long as the value lives.
            Some(page) => unsafe { page.as_ref() }.load(Ordering::Relaxed) != HERE,
            None => self.process != Process::current(),
        }
    }
}

impl Drop for Born {
    fn drop(&mut self) {
        if let Some(page) = self.page {
            // SAFETY: the page is this value's, which nobody uses any more.
            let _ = unsafe { munmap(page.as_ptr().cast(), PAGE) };
        }
    }
}
