//! Ioctls with arguments of any bytes.

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
    Access Arm Reprogram Configure Flush Stream);

/// Returns the argument that registers the first page of this process's memory for this access of the board.
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

/// Returns the bytes of a structure.
pub fn bytes<T: Plain>(structure: &T) -> Vec<u8> {
    let start = std::ptr::from_ref(structure).cast::<u8>();
    // SAFETY: the structures have no padding; `driver/core/tests/uapi.rs` checks it.
    unsafe { std::slice::from_raw_parts(start, size_of::<T>()) }.to_vec()
}

/// Returns a structure of these bytes; missing bytes are zero.
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

// SAFETY: see `at`, the only function that makes one.
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

/// Returns the file of a device.
pub fn fd(device: &Device) -> BorrowedFd<'_> {
    device.file().expect("the kernel's device")
}

/// Makes an ioctl whose argument is this number.
///
/// # Safety
/// The argument is an address where the driver may write as many bytes as the code says, or
/// one that is not mapped.
pub unsafe fn at(file: impl AsFd, code: u32, argument: usize) -> Result<(), Errno> {
    let argument = argument as *mut c_void;
    // SAFETY: the driver only writes into the argument, as its interface promises. The tests are there to find
    // violations.
    unsafe { rustix::ioctl::ioctl(file, Raw { code, argument }) }
}

/// Makes an ioctl with these bytes, and sets the size in its code to their number.
pub fn call(device: &Device, ioctl: uapi::Ioctl, bytes: &mut [u8]) -> Result<(), Errno> {
    let code = uapi::Ioctl {
        size: bytes.len() as u32,
        ..ioctl
    };
    // SAFETY: so many bytes may be written.
    unsafe { at(fd(device), code.code(), bytes.as_mut_ptr() as usize) }
}

/// Makes an ioctl with a structure, and reads the structure back.
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
