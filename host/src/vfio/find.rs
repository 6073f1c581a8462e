//! Boards that are bound to vfio-pci, and their descriptions.

use super::registers::Registers;
use super::{Error, Result, sys};
use peerlane_core::board::{self, Board, FileName, Ids, SUBDEVICE, Shell};
use peerlane_core::places::Places;
use peerlane_core::regs::{MAP_ID, csr};
use sha2::Digest;
use std::path::{Path, PathBuf};

/// The directory of PCI devices.
const DEVICES: &str = "/sys/bus/pci/devices";

/// The name of VFIO's driver for PCI devices.
pub const DRIVER: &str = "vfio-pci";

/// Names directories of descriptions to look into first, separated by colons.
const BOARDS: &str = "PEERLANE_BOARDS";

/// Directories in which the kernel looks for files, too (Linux, Documentation/driver-api/firmware/fw_search_path.rst).
const FIRMWARE: [&str; 2] = ["/lib/firmware/updates/peerlane", "/lib/firmware/peerlane"];

/// A PCI device, as sysfs has it.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// Address: `0000:01:00.0`.
    pub(super) address: String,
    path: PathBuf,
}

impl Slot {
    /// Finds the device at an address.
    pub(super) fn new(address: &str) -> Result<Self> {
        let path = Path::new(DEVICES).join(address);
        // An address is a name, not a path.
        match !address.contains('/') && path.is_dir() {
            true => Ok(Self {
                address: address.to_owned(),
                path,
            }),
            false => Err(Error::NoDevice {
                board: address.to_owned(),
            }),
        }
    }

    /// Returns the name that a link in the device's directory leads to.
    fn link(&self, name: &str) -> Option<String> {
        let target = std::fs::read_link(self.path.join(name)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    }

    /// Returns the name of its driver.
    pub(super) fn driver(&self) -> Option<String> {
        self.link("driver")
    }

    /// Returns the number of its IOMMU group.
    pub(super) fn group(&self) -> Option<String> {
        self.link("iommu_group")
    }

    /// Returns the node of the device itself, where the kernel has such nodes (`CONFIG_VFIO_DEVICE_CDEV`). Those of a
    /// computer without an IOMMU have other names.
    pub(super) fn node(&self) -> Option<PathBuf> {
        let mut entries = std::fs::read_dir(self.path.join("vfio-dev"))
            .ok()?
            .flatten();
        let name = entries.find_map(|entry| entry.file_name().into_string().ok())?;
        let node = Path::new(sys::DEV).join("devices").join(&name);
        name.starts_with("vfio").then_some(node)
    }

    /// Returns the other devices of its IOMMU group that have a driver other than VFIO's, each with the driver.
    pub(super) fn others(&self) -> Vec<String> {
        let devices = std::fs::read_dir(self.path.join("iommu_group/devices"));
        let names = devices.into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let others = names.filter(|name| *name != self.address);
        let with_driver = others.filter_map(|name| {
            let driver = Self::new(&name).ok()?.driver()?;
            let is_vfio = driver.starts_with("vfio");
            // A port of the bus has a driver that VFIO tolerates (drivers/vfio/group.c).
            (!is_vfio && driver != "pcieport").then(|| format!("{name} ({driver})"))
        });
        let mut all: Vec<_> = with_driver.collect();
        all.sort();
        all
    }

    /// Returns an ID of the device.
    fn id(&self, name: &str) -> Option<u16> {
        let text = std::fs::read_to_string(self.path.join(name)).ok()?;
        u16::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
    }

    /// Returns whether it may be a board: it is bound to VFIO, and has the usual subsystem or a description.
    fn may_be_board(&self) -> bool {
        self.driver().as_deref() == Some(DRIVER)
            && (self.id("subsystem_device") == Some(SUBDEVICE)
                || self.files().iter().any(|file| file.exists()))
    }

    /// Returns the names of files that may describe it: by its IDs, with or without its subsystem's.
    fn names(&self) -> [String; 2] {
        let id = |name| self.id(name).unwrap_or(0);
        let all = Ids {
            vendor: id("vendor"),
            device: id("device"),
            subvendor: None,
            subdevice: Some(id("subsystem_device")),
        };
        let any = Ids {
            subdevice: None,
            ..all
        };
        [all, any].map(|ids| FileName(ids).to_string())
    }

    fn files(&self) -> Vec<PathBuf> {
        let names = self.names();
        let directories = directories();
        let files = names
            .iter()
            .flat_map(|name| directories.iter().map(move |path| path.join(name)));
        files.collect()
    }
}

fn directories() -> Vec<PathBuf> {
    let first = std::env::var_os(BOARDS).filter(|value| !value.is_empty());
    let first = first.iter().flat_map(|value| std::env::split_paths(value));
    first.chain(FIRMWARE.map(PathBuf::from)).collect()
}

/// Returns the addresses of the boards that are bound to vfio-pci, in ascending order.
pub fn boards() -> Vec<String> {
    let entries = std::fs::read_dir(DEVICES).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let slots = names.filter_map(|name| Slot::new(&name).ok());
    let mut boards: Vec<_> = slots
        .filter(Slot::may_be_board)
        .map(|slot| slot.address)
        .collect();
    boards.sort();
    boards
}

/// The facts of a board that its hardware has confirmed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    /// Number of the BAR.
    pub(super) bar: u32,
    /// Places of the block's slaves in it.
    pub(super) places: Places,
    /// The rest of the board.
    pub(super) shell: Shell,
    /// `BUILD_ID` of the block.
    pub(super) build_id: u32,
}

/// Returns the memory of the bus that PCI devices and bridges have, first and last byte of each. A switch may route a
/// request to such an address to the device, and not to the IOMMU.
pub(super) fn windows() -> Vec<(u64, u64)> {
    let entries = std::fs::read_dir(DEVICES).into_iter().flatten().flatten();
    let texts =
        entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("resource")).ok());
    texts.flat_map(|text| resources(&text)).collect()
}

/// Reads the ranges of memory from a device's file `resource`: start, end and flags of each
/// (Documentation/PCI/sysfs-pci.rst).
fn resources(text: &str) -> Vec<(u64, u64)> {
    /// `IORESOURCE_MEM` (include/linux/ioport.h).
    const MEMORY: u64 = 0x200;
    let number = |word: Option<&str>| u64::from_str_radix(word?.strip_prefix("0x")?, 16).ok();
    let ranges = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (start, last) = (number(words.next())?, number(words.next())?);
        let is_memory = number(words.next())? & MEMORY != 0;
        (is_memory && last > start).then_some((start, last))
    });
    ranges.collect()
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha2::Sha256::digest(bytes).into()
}

/// Finds the description of a board that the board itself confirms. `map` maps a BAR.
pub(super) fn describe(
    slot: &Slot,
    mut map: impl FnMut(u32) -> Result<Registers>,
) -> Result<(Facts, Registers)> {
    let mut refused = None;
    for path in slot.files() {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                let reason = error.to_string();
                return Err(Error::File { path, reason });
            }
        };
        match confirmed(slot, &path, &text, &mut map) {
            Ok(found) => return Ok(found),
            // A file of another directory may be the right one.
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| Error::Undescribed {
        board: slot.address.clone(),
        file: slot.names()[0].clone(),
        directories: directories(),
    }))
}

/// Returns the description in a file that the board confirms.
fn confirmed(
    slot: &Slot,
    path: &Path,
    text: &str,
    map: &mut impl FnMut(u32) -> Result<Registers>,
) -> Result<(Facts, Registers)> {
    let unreadable = |source| Error::Description {
        path: path.to_path_buf(),
        source,
    };
    let mut found = Vec::new();
    for (before, one) in board::descriptions(text) {
        let board = Board::parse(one, before, sha256).map_err(unreadable)?;
        let facts = Facts {
            bar: board.bar().map_err(unreadable)?,
            places: board.places().map_err(unreadable)?,
            shell: board.shell,
            build_id: board.build_id,
        };
        let registers = map(facts.bar)?;
        let read = |offset: usize| registers.read32(facts.places.csr.saturating_add(offset as u64));
        match (read(csr::MAP_ID), read(csr::BUILD_ID)) {
            (Ok(map_id), Ok(build_id)) if (map_id, build_id) == (board.map_id, board.build_id) => {
                return match map_id == MAP_ID {
                    true => Ok((facts, registers)),
                    false => Err(Error::Other {
                        board: slot.address.clone(),
                        path: path.to_path_buf(),
                        found: format!("its register map is {map_id:#010x}, and this library's is {MAP_ID:#010x}"),
                    }),
                };
            }
            (Ok(map_id), Ok(build_id)) => found.push(format!(
                "for {} it has MAP_ID {map_id:#010x} and BUILD_ID {build_id:#010x} instead of {:#010x} and {:#010x}",
                board.name, board.map_id, board.build_id
            )),
            _ => found.push(format!("its BAR {} is too small for {}", facts.bar, board.name)),
        }
    }
    Err(Error::Other {
        board: slot.address.clone(),
        path: path.to_path_buf(),
        found: found.join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_device_is_found() {
        let text = "0x00000000a0000000 0x00000000a00fffff 0x0000000000040200\n\
                    0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                    0x000000000000e000 0x000000000000e0ff 0x0000000000040101\n\
                    0x0000380000000000 0x00003800ffffffff 0x000000000014220c\n\nodd\n";
        let expected = [
            (0xa000_0000, 0xa00f_ffff),
            (0x3800_0000_0000, 0x3800_ffff_ffff),
        ];
        assert_eq!(resources(text), expected);
    }
}
