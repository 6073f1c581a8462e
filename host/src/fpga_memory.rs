//! FPGA memory of a context.

use crate::device::{Device, Shared};
use crate::error::{Error, Result};
use crate::sys::Process;
use peerlane_core::uapi::{self, allocate, free};
use std::ops::Range;
use std::sync::Arc;

/// The range of FPGA memory that a context has, and no other context. Dropping this frees it:
/// `device.allocate(bytes)?.base()` is the address of memory that is already freed.
///
/// ```compile_fail
/// # #![deny(unused_must_use)]
/// # fn begin(device: &peerlane_host::Device) -> peerlane_host::Result<()> {
/// device.allocate(1 << 20)?;
/// # Ok(())
/// # }
/// ```
///
/// A context that has, or had, a [`Queue`](crate::Queue) writes descriptors without the kernel's knowledge. So its
/// memory stays its own until the device is closed. Allocate before you make the queue.
#[derive(Debug)]
#[must_use = "the memory is freed when this is dropped"]
pub struct FpgaMemory {
    /// `None` once it was freed, or is left to the context.
    device: Option<Arc<Shared>>,
    range: Range<u64>,
    /// The process that allocated it: a child's copy frees nothing.
    owner: Process,
}

/// A secret. Any process that has it may take over the memory that was offered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Offer(pub [u64; 2]);

impl std::fmt::Debug for Offer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Offer")
    }
}

impl Device {
    /// Allocates `bytes` bytes of FPGA memory in one piece, rounded up to whole 64 KiB, all zero. The call waits while
    /// the board fills it with zeros, a few gigabytes a second; a signal does not end it. A context has one piece.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn allocate(&self, bytes: u64) -> Result<FpgaMemory> {
        self.call_allocate(uapi::Allocate {
            bytes,
            ..Default::default()
        })
    }

    /// Allocates all FPGA memory that is free, `least` bytes or more, from address 0 on and with its present content.
    /// It is for programs that load kernels into the FPGA, which reach all of it.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory): by default with `EPERM` unless the process has `CAP_SYS_RAWIO`.
    pub fn allocate_all(&self, least: u64) -> Result<FpgaMemory> {
        self.call_allocate(uapi::Allocate {
            bytes: least,
            flags: allocate::ALL,
            ..Default::default()
        })
    }

    /// Takes over FPGA memory that another context has [offered](FpgaMemory::offer), with its content.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory): with `ENOENT` if the offer has ended.
    pub fn take_over(&self, offer: Offer) -> Result<FpgaMemory> {
        self.call_allocate(uapi::Allocate {
            flags: allocate::TAKE_OVER,
            token: offer.0,
            ..Default::default()
        })
    }

    fn call_allocate(&self, wanted: uapi::Allocate) -> Result<FpgaMemory> {
        let range = self.0.change_range(|context| {
            let mut argument = wanted;
            context.allocate(&mut argument)?;
            let range = argument.base..argument.base + argument.bytes;
            Ok((range.clone(), range))
        })?;
        Ok(FpgaMemory {
            device: Some(Arc::clone(&self.0)),
            range,
            owner: Process::current(),
        })
    }
}

impl FpgaMemory {
    /// Returns the FPGA address of the first byte, a multiple of 64 KiB.
    pub fn base(&self) -> u64 {
        self.range.start
    }

    /// Returns the number of bytes.
    pub fn length(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Returns its FPGA addresses.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Frees the memory.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory): with `EBUSY` while transfers are under way, while the context holds the
    /// board's [`Window`](crate::Window), or once it has a [`Queue`](crate::Queue). Then the memory stays the context's
    /// until the device is closed. [`Error::Inherited`](crate::Error::Inherited) in the child of a fork.
    pub fn free(self) -> Result<()> {
        self.release(0).map(drop)
    }

    /// Frees the memory, and lets the process that has the [`Offer`] take it over with its content, once. The offer
    /// ends when another context needs the memory, and when the board is restarted.
    ///
    /// # Errors
    /// As [`free`](Self::free).
    pub fn offer(self) -> Result<Offer> {
        self.release(free::OFFER).map(Offer)
    }

    /// Leaves the memory to the context until the context ends.
    pub fn keep(mut self) -> Range<u64> {
        self.device = None;
        self.range()
    }

    fn release(mut self, flags: u32) -> Result<[u64; 2]> {
        if self.owner != Process::current() {
            return Err(Error::Inherited);
        }
        let device = self.device.take();
        device.map_or(Ok([0; 2]), |device| device.free(flags))
    }
}

impl Drop for FpgaMemory {
    fn drop(&mut self) {
        if let Some(device) = self.device.take()
            && self.owner == Process::current()
        {
            // If that fails, it is freed with the context.
            let _ = device.free(0);
        }
    }
}

impl Shared {
    fn free(&self, flags: u32) -> Result<[u64; 2]> {
        self.change_range(|context| Ok((0..0, context.free(flags)?)))
    }
}
