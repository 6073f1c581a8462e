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

    /// Returns the names by which [`open`](Self::open) finds the boards of this computer: device nodes of the kernel driver
    /// by number, then PCI addresses of boards of VFIO ([`vfio`](crate::vfio)).
    pub fn names() -> impl Iterator<Item = String> {
        let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| {
            let name = entry.file_name();
            name.to_str()?.strip_prefix("peerlane")?.parse().ok()
        });
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        let nodes = numbers
            .into_iter()
            .map(|number| format!("/dev/peerlane{number}"));
        // The bus is searched only after the nodes.
        nodes.chain(std::iter::once_with(vfio::boards).flatten())
    }

    /// Opens the first of the [boards](Self::names) that can be opened.
    ///
    /// # Errors
    /// [`Error::None`] without a board, else the error of the last board.
    pub fn first() -> Result<Self> {
        let mut failed = Error::None;
        for name in Self::names() {
            match Self::open(name) {
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
