//! GPUs of AMD's, by ROCm: HIP for their memory, HSA for dma-bufs of it. Both are looked for at run time.
//!
//! **Not verified on hardware**: there was no GPU of AMD's. What is here was written by AMD's headers and sources, and
//! runs against a stand-in that keeps to them (`tests/fake-amd`). The probe of routes
//! ([`peerlane_routes::Routes::findings`]) compares data, and tells whether it works on a computer.
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
//! let transfer = queue.write(fpga.base(), region.region(), region.offset(), region.length())?;
//! transfer.wait(Duration::from_secs(1))?;
//! // Kernels that are launched from now on see the bytes.
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//!
//! HIP has no call that shows a peer's writes to kernels that run. Launch the kernel after the transfer has ended; the
//! board has read behind its writes then ([`Permissions::ReadWrite`](peerlane_host::Permissions::ReadWrite)).
//!
//! # What the kernel needs
//!
//! `amdgpu` gives VRAM to other devices where it has `CONFIG_PCI_P2PDMA` and `CONFIG_DMABUF_MOVE_NOTIFY`. Where it has
//! not, and in its packages for DKMS before 6.14.14, it moves the memory into the host's for whoever asks: all is right,
//! and slower. Nobody says which it was, so [`AmdMemory`] does not either
//! ([`Residence::Unknown`](peerlane_routes::Residence::Unknown)).

mod buffer;
mod runtime;
mod side;

pub use buffer::{AmdBuffer, AmdDmaBuf};
pub use side::AmdMemory;

use crate::error::Result;
use runtime::Hip;
use std::ffi::{CStr, c_char, c_int};

/// A GPU of AMD's. Clones are the same one.
#[derive(Clone)]
pub struct AmdGpu {
    hip: &'static Hip,
    number: c_int,
    bus: String,
}

impl std::fmt::Debug for AmdGpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AmdGpu")
            .field("number", &self.number)
            .field("bus", &self.bus)
            .finish_non_exhaustive()
    }
}

/// Text that HIP writes.
fn text(write: impl FnOnce(*mut c_char, c_int) -> Result<()>) -> Result<String> {
    let mut text = [0 as c_char; 256];
    write(text.as_mut_ptr(), text.len() as c_int)?;
    let text = text.map(|letter| letter as u8);
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

impl AmdGpu {
    /// GPUs that this process may use.
    ///
    /// # Errors
    /// [`NoRocm`](crate::Error::NoRocm) and [`Rocm`](crate::Error::Rocm): that there is no GPU, for one.
    pub fn count() -> Result<usize> {
        let hip = Hip::get()?;
        let mut count = 0;
        // SAFETY: the argument is a place for the number.
        let code = unsafe { (hip.device_count)(&raw mut count) };
        hip.check("hipGetDeviceCount", code)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The GPU with this number.
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
        })
    }

    /// Its place on the bus, as Linux names it: `0000:03:00.0`.
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// Its name.
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

    /// New memory, all zero, that boards reach.
    ///
    /// # Errors
    /// [`Empty`](crate::Error::Empty) and [`Rocm`](crate::Error::Rocm).
    pub fn buffer(&self, length: u64) -> Result<AmdBuffer> {
        AmdBuffer::new(self, length)
    }

    /// Makes it the thread's.
    fn bind(&self) -> Result<()> {
        // SAFETY: the number is a device's.
        let code = unsafe { (self.hip.device_set)(self.number) };
        self.hip.check("hipSetDevice", code)
    }
}
