//! The driver's ioctls, each with its structure, and which process calls them.

use peerlane_core::uapi;
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The structure of one ioctl.
///
/// # Safety
/// `IOCTL` must be the one whose structure this is, and the driver must write nowhere but
/// into the structure.
pub(crate) unsafe trait Argument {
    /// The ioctl.
    const IOCTL: uapi::Ioctl;
    /// Its name, for messages.
    const NAME: &'static str;
}

macro_rules! arguments {
    ($($type:ident $ioctl:ident;)*) => {$(
        // SAFETY: `uapi` says so at the constant, and its ioctls write into their structures
        // only. Memory that is named in them is the business of whoever fills them in.
        unsafe impl Argument for uapi::$type {
            const IOCTL: uapi::Ioctl = uapi::$ioctl;
            const NAME: &'static str = stringify!($ioctl);
        }
    )*};
}

arguments! {
    Info INFO;
    Register REGISTER;
    Unregister UNREGISTER;
    Submit SUBMIT;
    Wait WAIT;
    Query QUERY;
    EventFd EVENTFD;
    Stop STOP;
    Probe PROBE;
    Moderate MODERATE;
    Allocate ALLOCATE;
    Free FREE;
    Window WINDOW;
    OpenCl OPENCL;
    Access ACCESS;
    Arm ARM;
    Reprogram REPROGRAM;
    Configure CONFIGURE;
    Flush FLUSH;
}

struct Call<'a, T>(&'a mut T);

// SAFETY: the code is the structure's own, by the promise of `Argument`; it is passed by a
// pointer that is good for reads and writes of all of it.
unsafe impl<T: Argument> Ioctl for Call<'_, T> {
    type Output = ();

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        T::IOCTL.code() as Opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}

/// Calls the driver.
pub(crate) fn call<T: Argument>(file: impl AsFd, argument: &mut T) -> Result<(), Errno> {
    // SAFETY: see the implementation of `Ioctl`. A file that is no Peerlane device does not
    // know the code: the type byte and the size are in it.
    unsafe { rustix::ioctl::ioctl(file, Call(argument)) }
}

/// A process, and no child of its: who made a value, for one.
///
/// A fork copies every value into the child, but not what the driver has: both processes hold the same
/// open file. What the child's copies gave back as they are dropped, the parent would lose.
///
/// Numbers of processes do not tell: process 1 of a PID name space may have a child that is process 1 of the next
/// (pid_namespaces(7)). A page does that is empty in the child of a fork (madvise(2), `MADV_WIPEONFORK`, since Linux 4.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process(u64);

/// The page's first word: this process's generation, or 0 until somebody asks for it.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// The last generation that was given: in a child, that of the process that it is the child of, or more.
static LAST: AtomicU64 = AtomicU64::new(0);

/// As long as the page is mapped.
const PAGE_BYTES: usize = 4096;

/// In values of processes whose kernel has no such page: their numbers.
const NUMBERED: u64 = 1 << 63;

impl Process {
    /// The one that runs this. It makes no system call but the first time.
    pub fn current() -> Self {
        let Some(word) = word() else {
            return Self(NUMBERED | u64::from(std::process::id()));
        };
        match word.load(Ordering::Acquire) {
            0 => {
                let new = LAST.fetch_add(1, Ordering::Relaxed) + 1;
                let set = word.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire);
                // Another thread may have been first.
                Self(set.map_or_else(|set| set, |_| new))
            }
            generation => Self(generation),
        }
    }
}

/// The page's word. No lock is taken: a fork might copy it locked.
fn word() -> Option<&'static AtomicU64> {
    let mut page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        let new = map()?;
        let set = PAGE.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
        page = match set {
            Ok(_) => new,
            Err(first) => {
                // SAFETY: the page was just mapped, and nobody else knows it.
                let _ = unsafe { munmap(new.cast(), PAGE_BYTES) };
                first
            }
        };
    }
    // SAFETY: a page of zeros when it was mapped, which is aligned, stays mapped, and is used as this atomic only.
    unsafe { page.as_ref() }
}

/// A page of zeros that children of a fork find so, too.
fn map() -> Option<*mut AtomicU64> {
    let both = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at no place that is named.
    let page = unsafe { mmap_anonymous(null_mut(), PAGE_BYTES, both, MapFlags::PRIVATE) }.ok()?;
    // SAFETY: the page was just mapped, and nobody else knows it.
    if unsafe { madvise(page, PAGE_BYTES, Advice::LinuxWipeOnFork) }.is_err() {
        // SAFETY: as above; it is not used.
        let _ = unsafe { munmap(page, PAGE_BYTES) };
        return None;
    }
    Some(page.cast())
}
