//! The holder of the OpenCL side of the board.

use crate::lab::{Lab, told};
use crate::raw;
use anyhow::Result;
use peerlane_core::uapi;
use peerlane_host::{Device, OpenCl};
use rustix::io::Errno;

/// Opens a context with all memory, which the holder of the OpenCL side must have.
pub fn holder(lab: &Lab) -> Result<Device> {
    let device = lab.open()?;
    lab.place_of_all(&device)?;
    Ok(device)
}

pub fn take(device: &Device) -> Result<Box<dyn OpenCl>> {
    device.open_cl().map_err(told)
}

pub(crate) fn program(device: &Device, flags: u32) -> Result<(), Errno> {
    let mut argument = uapi::Reprogram { flags, reserved: 0 };
    raw::with(device, uapi::REPROGRAM, &mut argument)
}
