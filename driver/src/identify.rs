// SPDX-License-Identifier: GPL-2.0

//! Finds the description that a device confirms, and checks the device. Nothing is written to it before that.

use crate::{
    boards::{sha256, File, Place},
    ffi::Text,
    logic::{
        board::{descriptions, Board},
        capability::{Capabilities, Identity, IdentityError},
        regs::MAP_ID,
        shell,
    },
};
use kernel::{device::Bound, io::Io, pci, prelude::*};

/// Hint for a description that does not fit.
const DESCRIBE: &CStr = c"install the description of this board's image (peerlane install-board)";
/// Hint for a description that its hardware confirms, and that describes nothing that the driver can use.
const OTHER_BOARD: &CStr = c"extend and compile its BSP again";

/// Reason for a refusal: the board's interrupts could not be enabled.
const NO_LINE: &str = "the place of the hard IP's interrupt registers is not known";

/// A board that was found.
pub(crate) struct Identified<'a> {
    pub(crate) bar: pci::Bar<'a>,
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    pub(crate) capabilities: Capabilities,
}

/// Reads the identity of the block where each description has it, and takes the first description whose `BUILD_ID` the
/// block reports. A block that differs from that description is refused: the driver accesses and maps everything by it.
pub(crate) fn identify<'a>(device: &'a pci::Device<Bound>, file: &File) -> Result<Identified<'a>> {
    let name = &*file.name;
    let Ok(text) = core::str::from_utf8(file.bytes()) else {
        dev_err!(device, "{}: it is not a text; {}\n", name, DESCRIBE);
        return Err(ENODEV);
    };
    let mut read: Option<Identity> = None;
    for (before, text) in descriptions(text) {
        let described = Board::parse(text, before, sha256)
            .and_then(|board| Ok((Place::of(&board)?, board.build_id)));
        let (place, build_id) = match described {
            Ok(described) => described,
            Err(error) => {
                dev_err!(
                    device,
                    "{}: the description from line {} on cannot be used: {}; {}\n",
                    name,
                    before + 1,
                    Text(error),
                    DESCRIBE
                );
                continue;
            }
        };
        let bytes = device.resource_len(place.bar)?;
        // It is another board's.
        if place.slaves().check_csr(bytes).is_err() {
            continue;
        }
        let bar = device.iomap_region(place.bar, c"peerlane")?;
        let register = |offset| bar.try_read32(place.csr + offset).unwrap_or(u32::MAX);
        let identity = Identity::new(Identity::OFFSETS.map(register));
        if identity.build_id == build_id {
            let capabilities = check(device, &place, &identity, bytes)?;
            return Ok(Identified {
                bar,
                place,
                identity,
                capabilities,
            });
        }
        // That of a block says more than a register at the place of another board's.
        if read.is_none_or(|read| read.map_id != MAP_ID) {
            read = Some(identity);
        }
    }
    match read.map(|identity| (identity, identity.check(MAP_ID, None))) {
        None => dev_err!(
            device,
            "not a board of this driver: no description in {} fits its BARs; {}\n",
            name,
            DESCRIBE
        ),
        Some((_, Err(error))) => {
            refused(device, error, hint(&error));
        }
        Some((identity, Ok(_))) => dev_err!(
            device,
            "not a board of this driver: {} has no description with BUILD_ID {:#010x}, which the board reports; {}\n",
            name,
            identity.build_id,
            DESCRIBE
        ),
    }
    Err(ENODEV)
}

/// Checks a block by the description that it confirms.
fn check(
    device: &pci::Device<Bound>,
    place: &Place,
    identity: &Identity,
    bytes: u64,
) -> Result<Capabilities> {
    let slaves = place.slaves();
    let capabilities = identity
        .check(MAP_ID, None)
        .map_err(|error| refused(device, error, hint(&error)))?;
    capabilities
        .require_bus_addresses()
        .map_err(|error| refused(device, error, OTHER_BOARD))?;
    slaves
        .check(&capabilities, bytes)
        .map_err(|error| refused(device, error, OTHER_BOARD))?;
    if place.line.is_none() && !capabilities.msix {
        return Err(refused(device, NO_LINE, OTHER_BOARD));
    }
    shell::check(
        place.line.as_ref(),
        &place.opencl,
        &slaves,
        &capabilities,
        bytes,
    )
    .map_err(|error| refused(device, error, OTHER_BOARD))?;
    Ok(capabilities)
}

fn hint(error: &IdentityError) -> &'static CStr {
    match error {
        IdentityError::Gone => c"see that its FPGA is configured, then rescan the bus",
        IdentityError::Map { .. } => c"use driver and BSP of one version of Peerlane",
        IdentityError::Build { .. } => DESCRIBE,
        IdentityError::Capability { .. } => OTHER_BOARD,
    }
}

fn refused(device: &pci::Device<Bound>, error: impl core::fmt::Display, hint: &CStr) -> Error {
    dev_err!(
        device,
        "not a board of this driver: {}; {}\n",
        Text(error),
        hint
    );
    ENODEV
}
