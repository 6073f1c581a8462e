//! The driver's ioctls, each with its structure, and which process calls them.

use peerlane_core::uapi;
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};
use std::ffi::c_void;

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

/// The process that made a value.
///
/// A fork copies every value into the child, but not what the driver has: both processes hold the same
/// open file. What the child's copies gave back as they are dropped, the parent would lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The one that runs this.
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }
}
