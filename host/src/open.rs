//! Opens boards: those of the kernel driver, and those of VFIO.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Node;
use crate::vfio;
use std::path::Path;

impl Device {
    /// Opens a device node of the kernel driver, or the board at a PCI address by VFIO (`0000:01:00.0`): a new context on
    /// a channel that is free.
    ///
    /// # Errors
    /// [`Error::Open`] with `EBUSY` if no channel is free, with `EDQUOT` if the user has as many as a user may;
    /// [`Error::Version`] and [`Error::Identity`] if driver, board and library do not match.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        match path.as_ref().to_str() {
            Some(address) if vfio::is_address(address) => Self::by_vfio(address),
            _ => Self::over(Node::open(path.as_ref().to_path_buf())?),
        }
    }

    /// Opens the first board that can be opened: device nodes of the kernel driver by number, then boards of VFIO by PCI
    /// address ([`vfio`](crate::vfio)).
    ///
    /// # Errors
    /// [`Error::None`] if there is neither, else the error of the last one.
    pub fn first() -> Result<Self> {
        let mut numbers: Vec<u32> = std::fs::read_dir("/dev")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                entry
                    .file_name()
                    .to_str()?
                    .strip_prefix("peerlane")?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        let nodes = numbers
            .into_iter()
            .map(|number| Self::open(format!("/dev/peerlane{number}")));
        let by_vfio = || {
            vfio::boards()
                .into_iter()
                .map(|board| Self::by_vfio(&board))
        };
        let mut failed = Error::None;
        for opened in nodes.chain(std::iter::once_with(by_vfio).flatten()) {
            match opened {
                Ok(device) => return Ok(device),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Opens a channel of the board at a PCI address, `0000:01:00.0`, that is bound to vfio-pci.
    ///
    /// # Errors
    /// As [`vfio::open`](crate::vfio::open), and [`Error::ChannelsTaken`].
    pub fn by_vfio(address: &str) -> Result<Self> {
        vfio::open(address, &Default::default())?.open()
    }
}
