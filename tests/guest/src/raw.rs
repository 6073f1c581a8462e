//! Ioctls with whatever bytes a test wants.

use peerlane_core::uapi;
use peerlane_host::{Device, Memory};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};
use std::ffi::c_void;

/// A structure of the interface, as bytes.
pub trait Plain: Copy {}

macro_rules! plain {
    ($($name:ident)*) => {$(impl Plain for uapi::$name {})*};
}
plain!(Info Register Unregister Submit Wait Query EventFd Stop Probe Moderate Allocate Window Free OpenCl
    Access Arm Reprogram Configure Flush);

/// What registers the first page of this process's memory, for the board to use it so.
pub fn page(memory: &Memory, access: u32) -> uapi::Register {
    uapi::Register {
        provider: uapi::provider::HOST,
        access,
        address: memory.address(),
        length: 4096,
        fd: -1,
        ..Default::default()
    }
}

/// The bytes of a structure.
pub fn bytes<T: Plain>(structure: &T) -> Vec<u8> {
    let start = std::ptr::from_ref(structure).cast::<u8>();
    // SAFETY: the structures have no padding; `driver/core/tests/uapi.rs` checks it.
    unsafe { std::slice::from_raw_parts(start, size_of::<T>()) }.to_vec()
}

/// A structure of these bytes; what is missing is zero.
pub fn structure<T: Plain + Default>(bytes: &[u8]) -> T {
    let mut structure = T::default();
    let length = bytes.len().min(size_of::<T>());
    // SAFETY: all patterns of its bytes are values, and so many fit.
    unsafe {
        std::ptr::copy_nonoverlapping(
            bytes.as_ptr(),
            std::ptr::from_mut(&mut structure).cast(),
            length,
        );
    }
    structure
}

struct Raw {
    code: u32,
    argument: *mut c_void,
}

// SAFETY: see `at`, the only one to make it.
unsafe impl Ioctl for Raw {
    type Output = ();

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        self.code as Opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.argument
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}

/// The file of a device.
pub fn fd(device: &Device) -> BorrowedFd<'_> {
    device.file().expect("the kernel's device")
}

/// An ioctl whose argument is this number.
///
/// # Safety
/// The argument is an address where the driver may write as many bytes as the code says, or
/// one that is not mapped.
pub unsafe fn at(file: impl AsFd, code: u32, argument: usize) -> Result<(), Errno> {
    let argument = argument as *mut c_void;
    // SAFETY: the driver writes into the argument only, by the promise of its interface; if it
    // breaks it, that is what the tests are to find.
    unsafe { rustix::ioctl::ioctl(file, Raw { code, argument }) }
}

/// An ioctl with these bytes; its code is made to say how many they are.
pub fn call(device: &Device, ioctl: uapi::Ioctl, bytes: &mut [u8]) -> Result<(), Errno> {
    let code = uapi::Ioctl {
        size: bytes.len() as u32,
        ..ioctl
    };
    // SAFETY: so many bytes may be written.
    unsafe { at(fd(device), code.code(), bytes.as_mut_ptr() as usize) }
}

/// An ioctl with a structure, which is written back.
pub fn with<T: Plain + Default>(
    device: &Device,
    ioctl: uapi::Ioctl,
    argument: &mut T,
) -> Result<(), Errno> {
    let mut argument_bytes = bytes(argument);
    let result = call(device, ioctl, &mut argument_bytes);
    *argument = structure(&argument_bytes);
    result
}
