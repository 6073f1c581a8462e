//! GPUs of AMD's, by ROCm: HIP for their memory, HSA for dma-bufs of it. Both are looked for at run time.
//!
//! **Not verified on hardware**: there was no GPU of AMD's. This code was written by AMD's headers and sources, and
//! runs against a mock that keeps to them (`tests/fake-amd`). The probe of routes
//! ([`peerlane_routes::Routes::findings`]) compares data, and reports whether it works on a computer.
//!
//! ```no_run
//! use peerlane_gpu::amd::AmdGpu;
//! use peerlane_host::{Device, Permissions};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::first()?;
//! let fpga = device.allocate(1 << 20)?;
//! let queue = device.queue()?;
//!
//! let buffer = AmdGpu::open(0)?.buffer(1 << 20)?;
//! let region = buffer.register(&device, 0..1 << 20, Permissions::ReadWrite)?;
//! let transfer = queue.from_fpga(fpga.base(), &region)?;
//! transfer.wait(Duration::from_secs(1))?;
//! buffer.gpu().flush()?;
//! // Kernels that are launched from now on see the bytes.
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//!
//! The end of a transfer says that its data have arrived at the GPU: the board has flushed its writes then
//! ([`Permissions::ReadWrite`](peerlane_host::Permissions::ReadWrite)). The GPU's host data path may still hold them
//! back. So call [`AmdGpu::flush`], and then launch the kernel. HIP has no call that shows a peer's writes to kernels
//! that run. Routes flush by themselves.
//!
//! # Requirements of the kernel
//!
//! `amdgpu` gives VRAM to other devices if it has `CONFIG_PCI_P2PDMA` and `CONFIG_DMABUF_MOVE_NOTIFY`. Without them,
//! and in its packages for DKMS before 6.14.14, it moves the memory into the host's for any importer: transfers are
//! correct, and slower. No interface reports which case it was, so [`AmdMemory`] does not either
//! ([`Residence::Unknown`](peerlane_routes::Residence::Unknown)).

mod buffer;
mod runtime;
mod side;

pub use buffer::{AmdBuffer, AmdDmaBuf};
pub use side::AmdMemory;

use crate::error::{Error, Result};
use peerlane_host::Process;
use runtime::{FLUSH_CURRENT_DEVICE, FLUSH_TO_OWNER, HDP_MEM_FLUSH, Hip, NOT_SUPPORTED};
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// A GPU of AMD's. Clones are the same one.
#[derive(Clone)]
pub struct AmdGpu {
    hip: &'static Hip,
    number: c_int,
    bus: String,
    owner: Process,
}

impl std::fmt::Debug for AmdGpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AmdGpu")
            .field("number", &self.number)
            .field("bus", &self.bus)
            .finish_non_exhaustive()
    }
}

/// Returns text that HIP writes.
fn text(write: impl FnOnce(*mut c_char, c_int) -> Result<()>) -> Result<String> {
    let mut text = [0 as c_char; 256];
    write(text.as_mut_ptr(), text.len() as c_int)?;
    let text = text.map(|letter| letter as u8);
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

impl AmdGpu {
    /// Counts the GPUs that this process may use.
    ///
    /// # Errors
    /// [`NoRocm`](crate::Error::NoRocm) and [`Rocm`](crate::Error::Rocm), for example when there is no GPU.
    pub fn count() -> Result<usize> {
        let hip = Hip::get()?;
        let mut count = 0;
        // SAFETY: the argument is a place for the number.
        let code = unsafe { (hip.device_count)(&raw mut count) };
        hip.check("hipGetDeviceCount", code)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Opens the GPU with this number.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn open(ordinal: usize) -> Result<Self> {
        let hip = Hip::get()?;
        let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        let bus = text(|place, length| {
            // SAFETY: the place is as long as it says.
            let code = unsafe { (hip.device_bus)(place, length, number) };
            hip.check("hipDeviceGetPCIBusId", code)
        })?;
        Ok(Self {
            hip,
            number,
            bus: bus.to_ascii_lowercase(),
            owner: Process::current(),
        })
    }

    /// Returns its place on the bus, as Linux names it: `0000:03:00.0`.
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// Returns its name.
    ///
    /// # Errors
    /// [`Rocm`](crate::Error::Rocm).
    pub fn name(&self) -> Result<String> {
        text(|place, length| {
            // SAFETY: the place is as long as it says.
            let code = unsafe { (self.hip.device_name)(place, length, self.number) };
            self.hip.check("hipDeviceGetName", code)
        })
    }

    /// Allocates memory, all zero, that boards reach.
    ///
    /// # Errors
    /// [`Empty`](crate::Error::Empty) and [`Rocm`](crate::Error::Rocm).
    pub fn buffer(&self, length: u64) -> Result<AmdBuffer> {
        AmdBuffer::new(self, length)
    }

    /// Makes peers' writes until now visible to copies, and to kernels that are launched from now on. Call it after the
    /// transfer has ended, and before the launch.
    ///
    /// Bytes that come over PCIe go through the GPU's host data path (HDP), which may hold them back. Newer runtimes
    /// have `hipDeviceFlushGPUDirectRDMAWrites`. For older ones this function does the same as that one: it writes the
    /// register whose address `hipDeviceAttributeHdpMemFlushCntl` reports, and reads it. A GPU that has no such
    /// register has nothing to flush.
    ///
    /// # Errors
    /// [`Rocm`](crate::Error::Rocm), and [`NoRocm`](crate::Error::NoRocm) in the child of a fork.
    pub fn flush(&self) -> Result<()> {
        if self.is_inherited() {
            return Err(Error::NoRocm {
                reason: "this process is the child of a fork, which AMD's runtimes are not for"
                    .into(),
            });
        }
        if let Some(flush) = self.hip.flush {
            let _bound = self.bind()?;
            // SAFETY: both are constants of HIP's; the device is the thread's.
            match unsafe { flush(FLUSH_CURRENT_DEVICE, FLUSH_TO_OWNER) } {
                NOT_SUPPORTED => {}
                code => return self.hip.check("hipDeviceFlushGPUDirectRDMAWrites", code),
            }
        }
        if let Some(register) = self.flush_register() {
            // SAFETY: the runtime has mapped the register for this process, and keeps it mapped; it is 32 bits, and its
            // only effect is to flush.
            unsafe {
                register.as_ptr().write_volatile(1);
                let _ = register.as_ptr().read_volatile();
            }
        }
        Ok(())
    }

    /// Returns the register that flushes the host data path, if it is mapped.
    fn flush_register(&self) -> Option<NonNull<u32>> {
        // A pointer, although the function's type is int (ROCm/clr, `ihipDeviceGetAttribute`).
        let mut place: *mut u32 = null_mut();
        // SAFETY: this attribute writes a pointer, and the place has room for one.
        let code = unsafe {
            let place = (&raw mut place).cast::<c_int>();
            (self.hip.device_attribute)(place, HDP_MEM_FLUSH, self.number)
        };
        NonNull::new(place).filter(|_| code == 0)
    }

    /// Whether this is the child of a fork: it must not use or free the parent's objects.
    pub(crate) fn is_inherited(&self) -> bool {
        self.owner != Process::current()
    }

    /// Makes this the thread's device until the result is dropped, which restores the earlier one. Programs and their
    /// libraries depend on the thread's device.
    fn bind(&self) -> Result<Bound> {
        let mut before = 0;
        // SAFETY: a place for the number.
        let code = unsafe { (self.hip.device_get)(&raw mut before) };
        self.hip.check("hipGetDevice", code)?;
        let changed = before != self.number;
        if changed {
            // SAFETY: the number is a device's.
            let code = unsafe { (self.hip.device_set)(self.number) };
            self.hip.check("hipSetDevice", code)?;
        }
        Ok(Bound {
            hip: self.hip,
            before: changed.then_some(before),
            thread: PhantomData,
        })
    }
}

/// A device that is the thread's current one.
#[must_use = "the device is the thread's until this is dropped"]
struct Bound {
    hip: &'static Hip,
    /// The thread's earlier device, if that was another one.
    before: Option<c_int>,
    /// Makes the type `!Send`: the device is a thread's own.
    thread: PhantomData<*const ()>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the number is that of the device which the thread had.
            let _ = unsafe { (self.hip.device_set)(before) };
        }
    }
}
