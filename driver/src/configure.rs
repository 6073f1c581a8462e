// SPDX-License-Identifier: GPL-2.0

//! A configuration of the FPGA's core over PCIe, by the hard IP ([`crate::logic::cvp`]), inside of the bracket of
//! [`crate::reprogram`].
//!
//! It goes on to its end even if the caller ends, so it waits for no user: the image is copied before. Unbind, resets
//! and sleep wait for it.

use crate::{
    board::Board,
    context::Context,
    ffi::{pci_dev, say_error, Text},
    logic::{
        cvp::{Cvp, Failure, HardIp, Packing},
        uapi::{self, packing},
    },
    reprogram::Device,
};
use kernel::{
    bindings,
    prelude::*,
    time::{delay::fsleep, Delta, Instant, Monotonic},
    uaccess::{UserPtr, UserSlice},
};

/// The function, by whose registers a configuration is done.
struct Function<'a>(&'a Board);

impl HardIp for Function<'_> {
    type Error = Error;

    fn read(&mut self, offset: u16) -> Result<u32> {
        let device = pci_dev(self.0.gate.device());
        let mut value = 0;
        // SAFETY: a valid device, and a place for the answer.
        let read =
            unsafe { bindings::pci_read_config_dword(device, i32::from(offset), &mut value) };
        // A function that is not there reads as ones, also where the core knows that it is gone.
        Ok(if read == 0 { value } else { u32::MAX })
    }

    fn write(&mut self, offset: u16, value: u32) -> Result {
        let device = pci_dev(self.0.gate.device());
        // SAFETY: a valid device. The registers that are written are the capability's.
        match unsafe { bindings::pci_write_config_dword(device, i32::from(offset), value) } {
            0 => Ok(()),
            _ => Err(EIO),
        }
    }

    fn send(&mut self, words: impl Iterator<Item = u32>) -> Result {
        Ok(self.0.hw.send(words)?)
    }

    fn pause(&mut self, microseconds: u32) {
        fsleep(Delta::from_micros(i64::from(microseconds)));
    }
}

/// A lock that keeps all processors on line. The interrupts of a processor that goes off line are sent elsewhere, and
/// the message of a vector is written into a table in the BAR. That would be a dword of the image.
struct Processors;

impl Processors {
    fn hold() -> Self {
        // SAFETY: it may sleep here.
        unsafe { bindings::cpus_read_lock() };
        Self
    }
}

impl Drop for Processors {
    fn drop(&mut self) {
        // SAFETY: it was taken by `hold`, of the same thread.
        unsafe { bindings::cpus_read_unlock() };
    }
}

/// Decodes the packing of an image.
fn packing_of(value: u32) -> Result<Packing> {
    match value {
        packing::AS_TOLD => Ok(Packing::AsTold),
        packing::PLAIN => Ok(Packing::Plain),
        packing::ENCRYPTED => Ok(Packing::Encrypted),
        packing::COMPRESSED => Ok(Packing::Compressed),
        _ => Err(EINVAL),
    }
}

impl Board {
    /// Calls `look` with the registers for it, where the function has them.
    fn with_cvp<R>(
        &self,
        look: impl FnOnce(&mut Cvp<'_, Function<'_>>) -> Result<R, Failure<Error>>,
    ) -> Option<R> {
        let mut function = Function(self);
        let mut cvp = Cvp::find(&mut function).ok()??;
        look(&mut cvp).ok()
    }

    /// Whether the FPGA's present configuration lets it be configured over PCIe.
    pub(crate) fn has_cvp(&self) -> bool {
        self.with_cvp(|cvp| cvp.is_enabled()).unwrap_or(false)
    }

    /// Whether the FPGA's core has no configuration, where that is known. The BAR does not answer then.
    pub(crate) fn has_empty_core(&self) -> bool {
        self.with_cvp(|cvp| cvp.is_empty()).unwrap_or(false)
    }

    fn configure_core(&self, channel: u32, image: &[u8], packing: Packing) -> Result {
        let _device = Device::lock(self);
        let _inside = self.gate.enter()?;
        // A bracket whose time is over ends at the watchdog's next look.
        if !self.is_reprogrammed_by(channel) || self.reprogrammed_too_long().is_some() {
            return Err(ENOENT);
        }
        if self.core_has_it() {
            return Err(EAGAIN);
        }
        let begin = Instant::<Monotonic>::now();
        let mut function = Function(self);
        let configured = match Cvp::find(&mut function) {
            Ok(Some(mut cvp)) => {
                let _on_line = Processors::hold();
                cvp.configure(image, packing)
            }
            Ok(None) => Err(Failure::Disabled),
            Err(failure) => Err(failure),
        };
        match configured {
            Ok(()) => {
                dev_info!(
                    self.device(),
                    "the FPGA was configured over PCIe: {} bytes in {} ms\n",
                    image.len(),
                    begin.elapsed().as_millis()
                );
                Ok(())
            }
            Err(Failure::Disabled) => Err(EOPNOTSUPP),
            Err(failure) => {
                say_error!(
                    self.device(),
                    "the FPGA was not configured over PCIe: {}\n",
                    Text(failure)
                );
                Err(EIO)
            }
        }
    }
}

impl Context {
    /// Configures the FPGA.
    pub(crate) fn configure(&self, arguments: &uapi::Configure) -> Result {
        let packing = packing_of(arguments.packing)?;
        if !(1..=uapi::CONFIGURE_BYTES).contains(&arguments.length) {
            return Err(EINVAL);
        }
        self.board.may_configure()?;
        // Before memory is taken for it.
        if !self.board.is_reprogrammed_by(self.channel) {
            return Err(ENOENT);
        }
        let length = arguments.length as usize;
        let place = UserPtr::from_addr(usize::try_from(arguments.address)?);
        let mut image = KVVec::new();
        UserSlice::new(place, length).read_all(&mut image, GFP_KERNEL_ACCOUNT)?;
        self.board.configure_core(self.channel, &image, packing)
    }
}
