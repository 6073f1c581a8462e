// SPDX-License-Identifier: GPL-2.0

//! Callbacks of the PCI core in addition to probe and unbind: errors on the link
//! (Documentation/PCI/pci-error-recovery.rst), resets of the function, suspend and resume. The kernel crate has no
//! abstraction for them yet.

use crate::{
    board::Board,
    ffi::{pci_dev, peerlane_begin_relief, peerlane_end_relief, peerlane_has_its_bars},
    logic::lifecycle::Starter,
    sysfs, Data,
};
use kernel::{
    bindings,
    driver::{DriverLayout, RegistrationOps},
    error::to_result,
    ffi::c_int,
    pci,
    prelude::*,
    sync::Arc,
    types::{ForeignOwnable, Opaque},
    ThisModule,
};

/// A [`pci::Adapter`] whose driver has these callbacks, too.
pub(crate) struct Adapter<T>(core::marker::PhantomData<T>);

type Inner<T> = pci::Adapter<T>;

// SAFETY: all is the inner adapter's.
unsafe impl<T: pci::Driver> DriverLayout for Adapter<T> {
    type DriverType = <Inner<T> as DriverLayout>::DriverType;
    type DriverData<'bound> = <Inner<T> as DriverLayout>::DriverData<'bound>;
    const DEVICE_DRIVER_OFFSET: usize = Inner::<T>::DEVICE_DRIVER_OFFSET;
}

// SAFETY: the inner adapter registers and unregisters.
unsafe impl<T: pci::Driver> RegistrationOps for Adapter<T> {
    unsafe fn register(
        driver: &Opaque<Self::DriverType>,
        name: &'static CStr,
        module: &'static ThisModule,
    ) -> Result {
        // SAFETY: once, and there is no board yet.
        unsafe {
            crate::board::others::init();
            crate::memory::dmabuf::init();
            crate::memory::nvidia::init();
            crate::peers::init();
        }
        // SAFETY: it is being initialised; the inner adapter leaves these fields alone.
        unsafe {
            (*driver.get()).err_handler = &raw const HANDLERS;
            (*driver.get()).shutdown = Some(shutdown);
            (*driver.get()).dev_groups = sysfs::groups();
            (*driver.get()).driver.pm = &raw const POWER.0;
            to_result(peerlane_begin_relief())?;
            let registered = <Inner<T> as RegistrationOps>::register(driver, name, module);
            registered.inspect_err(|_| peerlane_end_relief())
        }
    }

    unsafe fn unregister(driver: &Opaque<Self::DriverType>) {
        // SAFETY: by contract.
        unsafe { <Inner<T> as RegistrationOps>::unregister(driver) }
        // Our text goes next.
        crate::memory::space::settle();
        // SAFETY: begun by `register`, and there is no board any more.
        unsafe { peerlane_end_relief() };
    }
}

static HANDLERS: bindings::pci_error_handlers = {
    let mut handlers: bindings::pci_error_handlers = pin_init::zeroed();
    handlers.error_detected = Some(error_detected);
    handlers.slot_reset = Some(slot_reset);
    handlers.reset_prepare = Some(reset_prepare);
    handlers.reset_done = Some(reset_done);
    handlers
};

struct Power(bindings::dev_pm_ops);
// SAFETY: it is never written.
unsafe impl Sync for Power {}

static POWER: Power = Power({
    let mut power: bindings::dev_pm_ops = pin_init::zeroed();
    power.suspend = Some(suspend);
    power.freeze = Some(suspend);
    power.poweroff = Some(suspend);
    power.resume = Some(resume);
    power.thaw = Some(resume);
    power.restore = Some(resume);
    power
});

/// Returns the board of a device.
///
/// # Safety
/// The device is bound to this driver, and stays so during the call.
pub(crate) unsafe fn board(device: *mut bindings::device) -> Option<Arc<Board>> {
    // SAFETY: a bound device's data is the result of `probe`, as the kernel crate stores it.
    unsafe {
        let data = bindings::dev_get_drvdata(device);
        if data.is_null() {
            return None;
        }
        let data = <Pin<KBox<Data<'_>>> as ForeignOwnable>::borrow(data);
        Some(data.board.0.clone())
    }
}

/// Saves the configuration of a board's function that is not bus master yet, for the next time that it is restored.
/// `ENODEV`: the function has lost it, or is not there; the configuration that was saved before is kept.
pub(crate) fn save(board: &Board) -> Result {
    let device = pci_dev(board.gate.device());
    // SAFETY: a valid device.
    if !board.is_there() || !unsafe { peerlane_has_its_bars(device) } {
        return Err(ENODEV);
    }
    // SAFETY: as above. It always gives 0.
    unsafe { bindings::pci_save_state(device) };
    Ok(())
}

/// Resets the function of a board that is being probed: the device's lock is held, and the callbacks find no board.
pub(crate) fn reset_at_probe(board: &Board) -> Result {
    let device = pci_dev(board.gate.device());
    // SAFETY: a valid device, whose lock is held. Programs do not access its configuration during the reset.
    let reset = unsafe {
        bindings::pci_cfg_access_lock(device);
        let reset = bindings::pci_reset_function_locked(device);
        bindings::pci_cfg_access_unlock(device);
        reset
    };
    kernel::error::to_result(reset)?;
    save(board)
}

/// Starts a board whose function was reset, or has slept: its FPGA may have lost its state.
fn start_after_reset(board: &Arc<Board>) -> Result {
    board.note_reset();
    start(board)
}

/// Starts a board that was stopped; its configuration is as before. The device's lock is held.
pub(crate) fn start(board: &Arc<Board>) -> Result {
    board.core_rests(false);
    if board.is_reprogrammed() {
        return Ok(());
    }
    let started = match save(board) {
        Ok(()) => board.start(Starter::Owner).map_err(|error| {
            dev_err!(
                board.device(),
                "the board does not start again: {:?}\n",
                error
            );
        }),
        Err(_) => {
            dev_err!(
                board.device(),
                "the board's function is not there, or has lost its configuration\n"
            );
            Err(())
        }
    };
    started.map_err(|()| {
        board.give_up(Starter::Owner);
        EIO
    })?;
    board.watch();
    Ok(())
}

/// # Safety
/// Called by the PCI core with a device that is bound to this driver.
unsafe extern "C" fn error_detected(
    device: *mut bindings::pci_dev,
    state: bindings::pci_channel_state_t,
) -> bindings::pci_ers_result_t {
    const NORMAL: u32 = bindings::pci_channel_io_normal;
    const FROZEN: u32 = bindings::pci_channel_io_frozen;
    // SAFETY: by contract.
    let Some(board) = (unsafe { board(&raw mut (*device).dev) }) else {
        return bindings::pci_ers_result_PCI_ERS_RESULT_NONE;
    };
    match state {
        // The link goes on; the failed transfer is ended by the block itself.
        NORMAL => bindings::pci_ers_result_PCI_ERS_RESULT_CAN_RECOVER,
        FROZEN => {
            board.core_mends();
            board.rest();
            // The watchdog checks whether a reset comes.
            board.watch();
            bindings::pci_ers_result_PCI_ERS_RESULT_NEED_RESET
        }
        _ => {
            board.rest();
            board.core_rests(false);
            board.give_up(Starter::Owner);
            bindings::pci_ers_result_PCI_ERS_RESULT_DISCONNECT
        }
    }
}

/// # Safety
/// As above; the device was reset.
unsafe extern "C" fn slot_reset(device: *mut bindings::pci_dev) -> bindings::pci_ers_result_t {
    // SAFETY: by contract.
    let board = unsafe { board(&raw mut (*device).dev) };
    if let Some(board) = &board {
        // From here on it is not late.
        board.core_rests(true);
        // Another device below the port may have needed the reset, for an error that did not concern this one.
        board.rest_after_loss();
    }
    // SAFETY: by contract.
    unsafe { bindings::pci_restore_state(device) };
    match board {
        Some(board) if start_after_reset(&board).is_ok() => bindings::pci_ers_result_PCI_ERS_RESULT_RECOVERED,
        _ => bindings::pci_ers_result_PCI_ERS_RESULT_DISCONNECT,
    }
}

/// Stops the board because the machine goes down, or another kernel takes over (kexec): nothing may be in progress
/// then.
///
/// # Safety
/// As above.
unsafe extern "C" fn shutdown(device: *mut bindings::pci_dev) {
    // SAFETY: by contract.
    if let Some(board) = unsafe { board(&raw mut (*device).dev) } {
        board.rest();
        board.shut_down();
    }
}

/// # Safety
/// As above; the device will be reset.
unsafe extern "C" fn reset_prepare(device: *mut bindings::pci_dev) {
    // SAFETY: by contract.
    if let Some(board) = unsafe { board(&raw mut (*device).dev) } {
        board.core_rests(true);
        board.rest();
    }
}

/// # Safety
/// As above; the device was reset, and its configuration is as before.
unsafe extern "C" fn reset_done(device: *mut bindings::pci_dev) {
    // SAFETY: by contract.
    if let Some(board) = unsafe { board(&raw mut (*device).dev) } {
        // The failure was already logged.
        let _ = start_after_reset(&board);
    }
}

/// # Safety
/// Called by the PCI core with a device that is bound to this driver.
unsafe extern "C" fn suspend(device: *mut bindings::device) -> c_int {
    // SAFETY: by contract.
    if let Some(board) = unsafe { board(device) } {
        board.core_rests(true);
        board.rest();
    }
    0
}

/// # Safety
/// As above.
unsafe extern "C" fn resume(device: *mut bindings::device) -> c_int {
    // SAFETY: by contract.
    match unsafe { board(device) }.map(|board| start_after_reset(&board)) {
        Some(Err(error)) => error.to_errno(),
        _ => 0,
    }
}
