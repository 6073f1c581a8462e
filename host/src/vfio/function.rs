//! Settings of the board's PCI function.

use super::sys::{Function, Group};
use super::{Error, Result};
use peerlane_core::link::{self, Link};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// Offset of the Command register, with its bits (PCI Local Bus Specification 3.0, 6.2.2).
const COMMAND: u64 = 4;
const MEMORY: u16 = 1 << 1;
const MASTER: u16 = 1 << 2;
const NO_INTX: u16 = 1 << 10;

/// Offset of Revision ID and Class Code. VFIO returns a value of its own for many other registers, among them the IDs,
/// also if the function is not there (`init_pci_cap_basic_perm` of drivers/vfio/pci/vfio_pci_config.c).
const CLASS: u64 = 8;

/// Offset of the first capability's offset, and the ID of the PCI Express capability (PCI Express Base Specification,
/// 7.5.1.1.11 and 7.5.3.1).
const CAPABILITIES: u64 = 0x34;
const PCI_EXPRESS: u8 = 0x10;

/// Offsets in that capability (7.5.3.4 and 7.5.3.8).
const DEVICE_CONTROL: u64 = 0x08;
const LINK_STATUS: u64 = 0x12;

/// The Max Read Request Size in Device Control: 128 bytes, times a power of two.
const READ_REQUEST_LSB: u32 = 12;
const READ_REQUEST_MASK: u16 = 7 << READ_REQUEST_LSB;

/// The longest time from the end of a reset until a function answers (PCI Express Base Specification, 6.6.1: a second).
const ANSWERS: Duration = Duration::from_secs(1);

/// Time between two looks for the answer.
const LOOK: Duration = Duration::from_millis(10);

/// Writes the Command register: memory decoding, and the right to be bus master.
pub(super) fn command(function: &Function, master: bool) -> Result<()> {
    let now = u16::from_le_bytes(function.config(COMMAND)?);
    let wanted = match master {
        true => now | MASTER,
        false => now & !MASTER,
    };
    function.set_config(COMMAND, &(wanted | MEMORY | NO_INTX).to_le_bytes())
}

/// Returns whether the function's configuration space answers. The kernel waits for the end of a reset that is under
/// way.
pub(super) fn is_there(function: &Function) -> bool {
    answers(|offset| function.config(offset))
}

fn answers(config: impl Fn(u64) -> Result<[u8; 4]>) -> bool {
    matches!(config(CLASS), Ok(class) if class != [u8::MAX; 4])
}

/// Returns the offset of the PCI Express capability.
fn capability(function: &Function) -> Result<Option<u64>> {
    let [mut at] = function.config(CAPABILITIES)?;
    // Capabilities take 4 bytes at least, so there are not more than 48.
    for _ in 0..48 {
        if at < 0x40 {
            break;
        }
        let [id, next] = function.config(at.into())?;
        if id == PCI_EXPRESS {
            return Ok(Some(at.into()));
        }
        at = next & !3;
    }
    Ok(None)
}

/// Checks that the function may read as much at once as a port without tags needs ([`link::LEAST_READ_REQUEST`]).
///
/// It cannot be set here. VFIO repeats the written value of this field, and the hardware may have another
/// (`vfio_pci_config.c`, the virtual bits of Device Control). Before the first write it reads the hardware.
pub(super) fn check_read_request(function: &Function, board: &str) -> Result<()> {
    let Some(capability) = capability(function)? else {
        return Ok(());
    };
    let control = u16::from_le_bytes(function.config(capability + DEVICE_CONTROL)?);
    let bytes = 128 << ((control & READ_REQUEST_MASK) >> READ_REQUEST_LSB);
    match bytes >= link::LEAST_READ_REQUEST as u32 {
        true => Ok(()),
        false => Err(Error::ReadRequest {
            board: board.to_owned(),
            bytes,
        }),
    }
}

/// Returns the link as it was trained. `clock` is that of the board's port, in hertz.
pub(super) fn link(function: &Function, clock: u64) -> Option<Link> {
    let place = capability(function).ok()?? + LINK_STATUS;
    let status = u16::from_le_bytes(function.config(place).ok()?);
    link::trained(status, clock)
}

/// Resets the link, and with it the fabric's port, unless the kernel does not allow that, because functions of others
/// are on the bus.
pub(super) fn reset(function: &Function, group: Option<&Group>) -> Result<()> {
    command(function, false)?;
    let begin = Instant::now();
    loop {
        match function.reset_bus(group) {
            Ok(()) => break,
            // Another thread of the kernel has the device's lock at this moment.
            Err(Error::Call {
                source: Errno::AGAIN,
                ..
            }) if begin.elapsed() < ANSWERS => std::thread::sleep(LOOK),
            Err(_) => return Ok(()),
        }
    }
    let begin = Instant::now();
    while !is_there(function) && begin.elapsed() < ANSWERS {
        std::thread::sleep(LOOK);
    }
    // The kernel has restored the settings as they were before the reset.
    command(function, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vendor ID and Device ID, which VFIO makes up.
    const IDS: [u8; 4] = [0x72, 0x11, 0x00, 0xab];

    #[test]
    fn a_function_that_was_pulled_out_is_not_there() {
        let of_hardware = |there: Result<[u8; 4]>| {
            move |offset: u64| match offset {
                0 => Ok(IDS),
                _ => there.clone(),
            }
        };
        assert!(answers(of_hardware(Ok([0x01, 0x00, 0x00, 0x12]))));
        assert!(!answers(of_hardware(Ok([0xff; 4]))));
        let error = Error::call("reading configuration space", Errno::IO);
        assert!(!answers(of_hardware(Err(error))));
    }
}
