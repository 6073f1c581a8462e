// SPDX-License-Identifier: GPL-2.0

//! Checks whether a device is a board that this driver is built for. Nothing is written to the device before that.

use crate::{
    boards::Place,
    ffi::Text,
    logic::{
        capability::{Capabilities, Identity, IdentityError},
        regs::MAP_ID,
        shell,
    },
};
use kernel::{device::Bound, io::Io, pci, prelude::*};

const OTHER_BOARD: &CStr = c"build the driver with the table of this board's extended BSP (cargo xtask driver --bsp DIR)";

/// Reason for a refusal: the board's interrupts could not be enabled.
const NO_LINE: &str = "the place of the hard IP's interrupt registers is not known";

/// Reads the identity and the capabilities of the block in a BAR. A block that differs from the table of boards is
/// refused: the driver accesses and maps everything by that table. `build_id` is expected instead of the table's,
/// where it is given.
pub(crate) fn identify(
    device: &pci::Device<Bound>,
    bar: &pci::Bar<'_>,
    place: &Place,
    build_id: Option<u32>,
) -> Result<(Identity, Capabilities)> {
    let bytes = device.resource_len(place.bar)?;
    let slaves = place.slaves();
    slaves
        .check_csr(bytes)
        .map_err(|error| refused(device, error, OTHER_BOARD))?;
    let read = |offset| bar.try_read32(place.csr + offset).unwrap_or(u32::MAX);
    let identity = Identity::new(Identity::OFFSETS.map(read));
    let expected = build_id.unwrap_or(place.build_id);
    let capabilities = identity
        .check(MAP_ID, Some(expected))
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
    Ok((identity, capabilities))
}

fn hint(error: &IdentityError) -> &'static CStr {
    match error {
        IdentityError::Gone => c"see that its FPGA is configured, then rescan the bus",
        IdentityError::Map { .. } => c"use driver and BSP of one version of Peerlane",
        IdentityError::Build { .. } => OTHER_BOARD,
        IdentityError::Capability { .. } => c"extend and compile its BSP again",
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
