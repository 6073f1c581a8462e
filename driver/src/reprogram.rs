// SPDX-License-Identifier: GPL-2.0

//! A new configuration of the FPGA, which the holder of the OpenCL side performs: through JTAG, or through the hard
//! IP ([`crate::configure`]). To the driver it is a reset of the function that comes without the PCI core.
//!
//! The board is stopped during it. Other operations that stop a board and start it again, a reset of the function or
//! a sleep, leave the start to the end of the bracket ([`Board::is_reprogrammed`]). The end of the bracket is refused
//! while the PCI core has stopped the board ([`Board::core_rests`]). All of them run under the device's lock.
//!
//! A new configuration replaces the block, whose checks keep the board from memory that no context has registered. So
//! it takes a separate right, even if the caller holds the OpenCL side ([`Board::may_configure`]). A bracket
//! of a caller that has this right only because the administrator allows it has a time limit: the watchdog ends it
//! then, as the end of the file would.

use crate::{
    board::Board,
    callbacks,
    context::Context,
    events,
    ffi::{
        has_raw_io, pci_dev, peerlane_disable_link, peerlane_heed_hotplug, peerlane_ignore_hotplug,
        peerlane_is_locked_down, peerlane_lock_device, peerlane_owns_aer, peerlane_pin_vectors,
        peerlane_try_lock_device, peerlane_unlock_device, say_error,
    },
    logic::{lifecycle::Starter, uapi},
};
use kernel::{
    bindings, new_mutex,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
    time::{delay::fsleep, Delta, Instant, Monotonic},
};

/// Surprise Down Error, of the uncorrectable errors (PCI Express Base Specification, 7.8.4.3).
const SURPRISE_DOWN: u32 = bindings::PCI_ERR_UNC_SURPDN;

/// A configuration that has begun.
struct Bracket {
    channel: u32,
    /// When it ends by itself, in nanoseconds of `CLOCK_MONOTONIC`.
    until: Option<i64>,
    /// The mask of uncorrectable errors of the port above did not have Surprise Down.
    unmask: bool,
    /// The link of the port above is disabled: no error is reported when it goes down, whether firmware or kernel
    /// handles errors.
    link_off: bool,
    /// Settings of the slot's hot-plugging that were ignored before.
    ignored: u32,
    /// The earlier configuration of the function: the PCI core would save that of an FPGA without a configuration in
    /// the meantime.
    saved: Saved,
}

/// A copy of a function's configuration.
struct Saved(*mut bindings::pci_saved_state);

// SAFETY: it is memory that is ours.
unsafe impl Send for Saved {}

impl Saved {
    /// Copies the configuration of a stopped board, if its function still has one.
    fn of(board: &Board) -> Result<Self> {
        callbacks::save(board)?;
        // SAFETY: a valid device.
        let saved = unsafe { bindings::pci_store_saved_state(pci_dev(board.gate.device())) };
        match saved.is_null() {
            true => Err(ENOMEM),
            false => Ok(Self(saved)),
        }
    }

    /// Writes it into the function.
    fn restore(&self, device: *mut bindings::pci_dev) {
        // SAFETY: a valid device, and a copy that was made of it.
        unsafe {
            bindings::pci_load_saved_state(device, self.0);
            bindings::pci_restore_state(device);
        }
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        // SAFETY: it was allocated by `pci_store_saved_state`, which leaves it to its caller.
        unsafe { bindings::kfree(self.0.cast()) };
    }
}

/// How long a function may take to answer after its FPGA was configured: a link is trained and the function there
/// after a second at most (PCI Express Base Specification, 6.6.1).
const ANSWER: Delta = Delta::from_secs(2);
const PAUSE: Delta = Delta::from_millis(10);

/// State of a configuration in progress.
#[pin_data]
pub(crate) struct Programming {
    /// Changed under the device's lock only.
    #[pin]
    bracket: Mutex<Option<Bracket>>,
    /// The PCI core has stopped the board, and starts it again until this time, in nanoseconds of `CLOCK_MONOTONIC`;
    /// [`NOT`] or [`ANY_TIME`].
    core: Atomic<i64>,
}

/// The PCI core has not stopped the board.
const NOT: i64 = 0;
/// The PCI core may take any time.
const ANY_TIME: i64 = i64::MAX;

impl Programming {
    /// Makes the state without a configuration.
    pub(crate) fn none() -> impl PinInit<Self> {
        pin_init!(Self {
            bracket <- new_mutex!(None),
            core: Atomic::new(NOT),
        })
    }
}

/// The device's lock, under which it is bound, unbound, reset and put to sleep. Never taken inside of the gate:
/// unbind waits for the gate under it.
pub(crate) struct Device<'a>(&'a Board);

impl<'a> Device<'a> {
    pub(crate) fn lock(board: &'a Board) -> Self {
        // SAFETY: a valid device.
        unsafe { peerlane_lock_device(pci_dev(board.gate.device())) };
        Self(board)
    }

    /// Takes the lock if it is free. As this does not wait, the caller may be inside of the gate.
    fn try_lock(board: &'a Board) -> Option<Self> {
        // SAFETY: a valid device.
        let locked = unsafe { peerlane_try_lock_device(pci_dev(board.gate.device())) };
        locked.then_some(Self(board))
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        // SAFETY: it was locked by us.
        unsafe { peerlane_unlock_device(pci_dev(self.0.gate.device())) };
    }
}

/// Returns the port above a board, and the register with its mask of uncorrectable errors. `None` where these
/// registers belong to the firmware: a control that `_OSC` does not give must not be used (PCI Firmware Specification
/// 3.3, 4.5.1).
fn mask_of_port(board: &Board) -> Option<(*mut bindings::pci_dev, i32)> {
    // SAFETY: a valid device. A device that is bound has its bus, and the port above it.
    unsafe {
        let bus = (*pci_dev(board.gate.device())).bus;
        let port = (*bus).self_;
        if port.is_null() || !peerlane_owns_aer(port) {
            return None;
        }
        let mask = i32::from((*port).aer_cap) + bindings::PCI_ERR_UNCOR_MASK as i32;
        Some((port, mask))
    }
}

/// Sets or clears the mask of Surprise Down in the port above a board. Returns whether it was set.
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
    // An error that was not reported must not be reported later: its status is cleared by writing it.
    let status = register - bindings::PCI_ERR_UNCOR_MASK as i32 + bindings::PCI_ERR_UNCOR_STATUS as i32;
    // SAFETY: as above.
    unsafe {
        if !masked {
            bindings::pci_write_config_dword(port, status, SURPRISE_DOWN);
        }
        bindings::pci_write_config_dword(port, register, after);
    }
    before
}

/// Limits of the time for which the caller may have the board stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Term {
    /// None: the caller already has rights over the machine like those of a design.
    Any,
    /// `configure_s`: only the administrator's setting `configure_all` gives the caller the right.
    Limited,
}

/// Waits until the function of a board answers.
fn answers(board: &Board) -> bool {
    let begin = Instant::<Monotonic>::now();
    loop {
        if board.is_there() {
            return true;
        }
        if begin.elapsed() > ANSWER {
            return false;
        }
        fsleep(PAUSE);
    }
}

impl Board {
    /// Checks whether the caller may have the FPGA configured, and so replace the block that the driver trusts.
    /// `EPERM`: not.
    pub(crate) fn may_configure(&self) -> Result {
        self.term().map(|_| ())
    }

    fn term(&self) -> Result<Term> {
        // SAFETY: it only looks.
        match unsafe { peerlane_is_locked_down() } {
            true => Err(EPERM),
            false if has_raw_io() => Ok(Term::Any),
            false if self.settings.configure_all => Ok(Term::Limited),
            false => Err(EPERM),
        }
    }

    /// Returns the channel whose context has the board stopped for longer than it may.
    pub(crate) fn reprogrammed_too_long(&self) -> Option<u32> {
        let bracket = self.programming.bracket.lock();
        let bracket = bracket.as_ref()?;
        bracket.until.filter(|until| *until <= events::now())?;
        Some(bracket.channel)
    }

    /// Ends a bracket whose time is over, if the device's lock is free. Called by the watchdog, inside of the gate.
    pub(crate) fn end_overdue_reprogramming(self: &Arc<Self>) {
        if self.reprogrammed_too_long().is_none() {
            return;
        }
        let Some(device) = Device::try_lock(self) else {
            return;
        };
        // Its holder may have ended it in the meantime, and begun another.
        let Some(channel) = self.reprogrammed_too_long() else {
            return;
        };
        dev_warn!(
            self.device(),
            "channel {} has not ended the configuration of the FPGA within {} s: it is ended\n",
            channel,
            self.settings.configure_s
        );
        // It has said why the board does not start.
        let _ = self.end_bracket(true);
        drop(device);
        self.with_user(channel, |user| user.leave_after_reprogramming());
    }

    /// Whether its FPGA is being configured: it is started at the end of that.
    pub(crate) fn is_reprogrammed(&self) -> bool {
        self.programming.bracket.lock().is_some()
    }

    /// Whether a channel's context configures the FPGA. No other context ends that.
    pub(crate) fn is_reprogrammed_by(&self, channel: u32) -> bool {
        let bracket = self.programming.bracket.lock();
        let bracket = bracket.as_ref();
        bracket.is_some_and(|bracket| bracket.channel == channel)
    }

    /// Ends a configuration for a board that is released permanently. The device's lock is held.
    pub(crate) fn abandon_reprogramming(&self) {
        self.enable_link();
        let Some(bracket) = self.programming.bracket.lock().take() else {
            return;
        };
        if bracket.unmask {
            mask_surprise(self, false);
        }
        let device = pci_dev(self.gate.device());
        // SAFETY: a valid device, on its bus: it is bound. So its vectors are there.
        unsafe {
            peerlane_pin_vectors(device, false);
            peerlane_heed_hotplug(device, bracket.ignored);
        }
    }

    fn begin_reprogramming(self: &Arc<Self>, channel: u32) -> Result {
        let term = self.term()?;
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
        // It is not bus master now. A state that it has lost would be written to it at the end.
        let saved = Saved::of(self).inspect_err(|_| {
            // It is given up, or well after all.
            let _ = callbacks::start(self);
        })?;
        // A link that goes down is not a board that is taken out.
        // SAFETY: a valid device, on its bus: it is bound.
        let ignored = unsafe { peerlane_ignore_hotplug(pci_dev(self.gate.device())) };
        let unmask = !mask_surprise(self, true);
        // Interrupts stay where they go: their table is in the BAR. In CvP mode a write there would be one of the
        // image.
        // SAFETY: as above, so its vectors stay.
        unsafe { peerlane_pin_vectors(pci_dev(self.gate.device()), true) };
        let seconds = i64::from(self.settings.configure_s);
        let until = (term == Term::Limited).then(|| events::now() + Delta::from_secs(seconds).as_nanos());
        *self.programming.bracket.lock() = Some(Bracket {
            channel,
            until,
            unmask,
            link_off: false,
            ignored,
            saved,
        });
        // The watchdog checks whether the time is over.
        self.watch();
        Ok(())
    }

    /// Disables the link of the port above, within the bracket that a channel has begun. `ENOENT`: it has begun none.
    fn disable_link(&self, channel: u32) -> Result {
        // At the call: the file may be another process's now.
        self.may_configure()?;
        let _device = Device::lock(self);
        let _inside = self.gate.enter()?;
        if !self.is_reprogrammed_by(channel) {
            return Err(ENOENT);
        }
        if self.core_has_it() {
            return Err(EAGAIN);
        }
        // SAFETY: a valid device, on its bus: it is bound.
        let off = unsafe { peerlane_disable_link(pci_dev(self.gate.device()), true) };
        if let Some(bracket) = &mut *self.programming.bracket.lock() {
            bracket.link_off = off;
        }
        Ok(())
    }

    /// Enables the link that was disabled for a configuration. The device's lock is held.
    fn enable_link(&self) {
        let off = match &mut *self.programming.bracket.lock() {
            Some(bracket) => core::mem::take(&mut bracket.link_off),
            None => false,
        };
        if off {
            // SAFETY: as above.
            unsafe { peerlane_disable_link(pci_dev(self.gate.device()), false) };
        }
    }

    /// Ends the bracket that a channel has begun. `ENOENT`: it has begun none. If no board of ours answers, the
    /// bracket stays open, unless this is the last attempt (`last`).
    pub(crate) fn end_reprogramming(self: &Arc<Self>, channel: u32, last: bool) -> Result {
        let _device = Device::lock(self);
        let _inside = self.gate.enter()?;
        match self.is_reprogrammed_by(channel) {
            true => self.end_bracket(last),
            false => Err(ENOENT),
        }
    }

    /// Ends the bracket that is open. The device's lock is held.
    fn end_bracket(self: &Arc<Self>, last: bool) -> Result {
        let device = pci_dev(self.gate.device());
        self.enable_link();
        let started = match self.core_has_it() {
            // The core starts it.
            true => Err(EAGAIN),
            false if !answers(self) => {
                say_error!(
                    self.device(),
                    "no board answers: configure its FPGA, then end the configuration again\n"
                );
                Err(EIO)
            }
            // Before anything of the BAR is written, its table of vectors for one.
            false if self.has_empty_core() => {
                say_error!(
                    self.device(),
                    "its FPGA has no configuration: configure it, then end the configuration again\n"
                );
                Err(EIO)
            }
            false => {
                if let Some(bracket) = &*self.programming.bracket.lock() {
                    bracket.saved.restore(device);
                }
                // For the next restoration: the core drops a configuration that it has restored.
                let _ = callbacks::save(self);
                self.note_reset();
                self.start(Starter::Owner).map_err(|error| {
                    say_error!(self.device(), "the board does not start again: {:?}\n", error);
                    // It stays stopped until the next attempt.
                    self.rest_after_loss();
                    EIO
                })
            }
        };
        if started.is_err() && !last {
            return started;
        }
        self.abandon_reprogramming();
        match started {
            Ok(()) => self.watch(),
            // No other caller tries it.
            Err(EIO) => {
                self.give_up(Starter::Owner);
            }
            Err(_) => {}
        }
        started
    }

    /// Whether the PCI core has stopped the board.
    pub(crate) fn core_has_it(&self) -> bool {
        self.programming.core.load(ordering::Relaxed) != NOT
    }

    /// Records that the PCI core stops the board, or has released it again.
    pub(crate) fn core_rests(&self, rests: bool) {
        let until = if rests { ANY_TIME } else { NOT };
        self.programming.core.store(until, ordering::Relaxed);
    }

    /// Records that the PCI core stops the board because of an error that may never be recovered.
    pub(crate) fn core_mends(&self) {
        let patience = i64::from(self.settings.recovery_s) * Delta::from_secs(1).as_nanos();
        let until = events::now().saturating_add(patience).min(ANY_TIME - 1);
        self.programming.core.store(until, ordering::Relaxed);
    }

    /// Whether an error should have been recovered by now, and was not. Returns true once: no process waits for the
    /// board after that.
    pub(crate) fn core_is_late(&self) -> bool {
        let core = &self.programming.core;
        let until = core.load(ordering::Relaxed);
        let late = until != NOT && until < events::now();
        // A recovery that is just now in progress counts.
        late && core.cmpxchg(until, NOT, ordering::Relaxed).is_ok()
    }
}

impl Context {
    /// Begins or ends a new configuration of the FPGA.
    pub(crate) fn reprogram(&self, arguments: &uapi::Reprogram) -> Result {
        match arguments.flags {
            uapi::reprogram::BEGIN => self.board.begin_reprogramming(self.channel),
            uapi::reprogram::LINK_OFF => self.board.disable_link(self.channel),
            uapi::reprogram::END => {
                self.board.end_reprogramming(self.channel, false)?;
                self.leave_after_reprogramming();
                Ok(())
            }
            _ => Err(EINVAL),
        }
    }

    /// Releases the OpenCL side if its process ended while the FPGA was configured.
    fn leave_after_reprogramming(&self) {
        if self.board.is_left(self.channel) {
            self.give_up_opencl();
        }
    }
}
