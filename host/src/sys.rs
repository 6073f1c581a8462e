//! The driver's ioctls, each with its structure, and the identity of the calling process.

use peerlane_core::uapi;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

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
        // SAFETY: the documentation of the constant in `uapi` says so, and its ioctls write into their structures only.
        // The code that fills in a structure is responsible for memory that it names.
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
    Stream STREAM;
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
    // SAFETY: see the implementation of `Ioctl`. A file that is not a Peerlane device does not know the code: the type
    // byte and the size are in it.
    unsafe { rustix::ioctl::ioctl(file, Call(argument)) }
}

/// Waits until a file can be read, for at most `limit`. Returns whether it can; a signal ends the wait.
pub(crate) fn is_readable(file: impl AsFd, limit: Duration) -> bool {
    let mut polled = [PollFd::new(&file, PollFlags::IN)];
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    poll(&mut polled, Some(&limit)).is_ok_and(|ready| ready > 0)
}

/// Identity of a process, different from that of its children: for example of the process that made a value.
///
/// A fork copies every value into the child, but not the driver's state: both processes hold the same open file. If the
/// child's copies released resources when they are dropped, the parent would lose them.
///
/// Process numbers do not distinguish the two: process 1 of a PID name space may have a child that is process 1 of the
/// next (pid_namespaces(7)). A page that is empty in the child of a fork does (madvise(2), `MADV_WIPEONFORK`, since
/// Linux 4.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process(u64);

/// The page's first word: this process's generation, or 0 until the first query.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// The last generation that was assigned: in a child, that of its parent process, or more.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Bytes of the page that is mapped.
const PAGE_BYTES: usize = 4096;

/// Mark in the identities of processes whose kernel has no such page: these are process numbers.
const NUMBERED: u64 = 1 << 63;

impl Process {
    /// Returns the identity of the calling process. Only the first call makes a system call.
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

/// Returns the page's word. It takes no lock: a fork might copy the lock in the locked state.
fn word() -> Option<&'static AtomicU64> {
    let mut page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        let new = map()?;
        let set = PAGE.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
        page = match set {
            Ok(_) => new,
            Err(first) => {
                // SAFETY: the page was just mapped, and there are no other references to it.
                let _ = unsafe { munmap(new.cast(), PAGE_BYTES) };
                first
            }
        };
    }
    // SAFETY: a page of zeros when it was mapped, which is aligned, stays mapped, and is used as this atomic only.
    unsafe { page.as_ref() }
}

/// Maps a page of zeros that children of a fork find full of zeros, too.
fn map() -> Option<*mut AtomicU64> {
    let both = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at no place that is named.
    let page = unsafe { mmap_anonymous(null_mut(), PAGE_BYTES, both, MapFlags::PRIVATE) }.ok()?;
    // SAFETY: the page was just mapped, and there are no other references to it.
    if unsafe { madvise(page, PAGE_BYTES, Advice::LinuxWipeOnFork) }.is_err() {
        // SAFETY: as above; it is not used.
        let _ = unsafe { munmap(page, PAGE_BYTES) };
        return None;
    }
    Some(page.cast())
}
