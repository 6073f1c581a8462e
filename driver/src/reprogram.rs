// SPDX-License-Identifier: GPL-2.0

//! A new configuration of the FPGA, which the holder of the OpenCL side brings about: through JTAG, or
//! through the hard IP (CvP). To the driver it is a reset of the function that comes without the PCI core.
//!
//! While it lasts the board rests. Whatever else puts a board to rest and starts it again, a reset of the
//! function or a sleep, leaves the start to the end of the bracket ([`Board::is_reprogrammed`]). All of them run under
//! the device's lock, and so do both ends of the bracket.

use crate::{
    board::Board,
    callbacks,
    context::Context,
    ffi::{peerlane_lock_device, peerlane_unlock_device, pci_dev},
    logic::uapi,
};
use kernel::{
    bindings, new_mutex,
    prelude::*,
    sync::{Arc, Mutex},
};

/// Surprise Down Error, of the uncorrectable errors (PCI Express Base Specification, 7.8.4.3).
const SURPRISE_DOWN: u32 = bindings::PCI_ERR_UNC_SURPDN;

/// What the port above the board was told.
struct Bracket {
    channel: u32,
    /// Its mask of uncorrectable errors did not have Surprise Down.
    unmask: bool,
}

/// A configuration that is under way.
#[pin_data]
pub(crate) struct Programming {
    /// Changed under the device's lock only.
    #[pin]
    bracket: Mutex<Option<Bracket>>,
}

impl Programming {
    /// None.
    pub(crate) fn none() -> impl PinInit<Self> {
        pin_init!(Self { bracket <- new_mutex!(None) })
    }
}

/// The device's lock, under which it is bound, unbound, reset and put to sleep. Never taken inside of the
/// gate: unbind waits for that under it.
struct Device<'a>(&'a Board);

impl<'a> Device<'a> {
    fn lock(board: &'a Board) -> Self {
        // SAFETY: a valid device.
        unsafe { peerlane_lock_device(pci_dev(board.gate.device())) };
        Self(board)
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        // SAFETY: it was locked by us.
        unsafe { peerlane_unlock_device(pci_dev(self.0.gate.device())) };
    }
}

/// The mask of uncorrectable errors of the port above a board, and the port.
fn mask_of_port(board: &Board) -> Option<(*mut bindings::pci_dev, i32)> {
    // SAFETY: a valid device. A device that is bound has its bus, and the port above it.
    unsafe {
        let bus = (*pci_dev(board.gate.device())).bus;
        let port = (*bus).self_;
        if port.is_null() || (*port).aer_cap == 0 {
            return None;
        }
        let mask = i32::from((*port).aer_cap) + bindings::PCI_ERR_UNCOR_MASK as i32;
        Some((port, mask))
    }
}

/// Sets or clears the mask of Surprise Down in the port above a board; says whether it was set.
fn mask_surprise(board: &Board, masked: bool) -> bool {
    let Some((port, register)) = mask_of_port(board) else {
        return true;
    };
    let mut mask = 0;
    // SAFETY: a valid port, and a place for the answer.
    if unsafe { bindings::pci_read_config_dword(port, register, &mut mask) } != 0 {
        return true;
    }
    let before = mask & SURPRISE_DOWN != 0;
    let after = match masked {
        true => mask | SURPRISE_DOWN,
        false => mask & !SURPRISE_DOWN,
    };
    // SAFETY: as above.
    unsafe { bindings::pci_write_config_dword(port, register, after) };
    before
}

impl Board {
    /// Whether its FPGA is being configured: it is started at the end of that.
    pub(crate) fn is_reprogrammed(&self) -> bool {
        self.programming.bracket.lock().is_some()
    }

    /// Whether a channel's context does it. Nobody else ends that.
    pub(crate) fn is_reprogrammed_by(&self, channel: u32) -> bool {
        let bracket = self.programming.bracket.lock();
        let bracket = bracket.as_ref();
        bracket.is_some_and(|bracket| bracket.channel == channel)
    }

    /// The board is let go for good. The device's lock is held.
    pub(crate) fn abandon_reprogramming(&self) {
        let bracket = self.programming.bracket.lock().take();
        if bracket.is_some_and(|bracket| bracket.unmask) {
            mask_surprise(self, false);
        }
    }

    fn begin_reprogramming(&self, channel: u32) -> Result {
        let _device = Device::lock(self);
        let _inside = self.gate.enter()?;
        if self.is_reprogrammed() {
            return Err(EALREADY);
        }
        if !self.has_opencl(channel) {
            return Err(EPERM);
        }
        self.hw.usable()?;
        self.rest();
        let unmask = !mask_surprise(self, true);
        *self.programming.bracket.lock() = Some(Bracket { channel, unmask });
        Ok(())
    }

    /// Ends the bracket that a channel has begun. `ENOENT`: it has not.
    pub(crate) fn end_reprogramming(self: &Arc<Self>, channel: u32) -> Result {
        let _device = Device::lock(self);
        let _inside = self.gate.enter()?;
        let unmask = {
            let mut bracket = self.programming.bracket.lock();
            match &*bracket {
                Some(begun) if begun.channel == channel => {}
                _ => return Err(ENOENT),
            }
            bracket.take().is_some_and(|bracket| bracket.unmask)
        };
        // SAFETY: a valid device, which rests. What was saved last was no bus master.
        unsafe { bindings::pci_restore_state(pci_dev(self.gate.device())) };
        let started = callbacks::start(self);
        if unmask {
            mask_surprise(self, false);
        }
        started
    }
}

impl Context {
    /// Begins or ends a new configuration of the FPGA.
    pub(crate) fn reprogram(&self, arguments: &uapi::Reprogram) -> Result {
        match arguments.flags {
            uapi::reprogram::BEGIN => self.board.begin_reprogramming(self.channel),
            uapi::reprogram::END => self.board.end_reprogramming(self.channel),
            _ => Err(EINVAL),
        }
    }
}
