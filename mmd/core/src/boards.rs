//! Where boards come from.

use crate::pcie::CvpOrJtag;
use crate::program::{Jtag, Programmer};
use peerlane_host::{Device, OpenCl, vfio};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where boards come from.
pub trait Boards: Send + Sync {
    /// Their names, without `;`.
    fn names(&self) -> Vec<String>;

    /// Finds the board of a name.
    ///
    /// # Errors
    /// A sentence that says why it cannot be had.
    fn open(&self, name: &str) -> Result<Found, String>;
}

/// A board that was found.
pub struct Found {
    /// A context of it, without a queue and without FPGA memory.
    pub device: Device,
    /// How its FPGA is programmed.
    pub programmer: Box<dyn Programmer>,
    /// Its place on the bus, for messages.
    pub bus: String,
    /// A number that no other board of this host has.
    pub number: u32,
}

/// The boards of this computer: `peerlane0` is the kernel driver's `/dev/peerlane0`, and `peerlane_0000_01_00_0` the
/// board at 0000:01:00.0 that is bound to vfio-pci.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nodes;

/// The number in a board's name.
fn number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("peerlane")?;
    let number = digits.parse().ok()?;
    (format!("{number}") == digits).then_some(number)
}

/// Returns the name of a board of VFIO's, from its PCI address. A name is a part of variables' names.
fn vfio_name(address: &str) -> String {
    format!("peerlane_{}", address.replace([':', '.'], "_"))
}

/// Returns a number for a board at a PCI address, domain, bus, device and function, beyond those of nodes.
fn vfio_number(address: &str) -> Option<u32> {
    const NODES: u32 = 1 << 16;
    let parts = address
        .split([':', '.'])
        .map(|part| u32::from_str_radix(part, 16));
    let [domain, bus, device, function] =
        parts.collect::<Result<Vec<_>, _>>().ok()?.try_into().ok()?;
    NODES.checked_add(domain << 16 | bus << 8 | device << 3 | function)
}

/// A board of VFIO's, by its address, whose FPGA is configured between two programs: this process cannot disable the
/// link of the port above, and an FPGA that leaves the bus unannounced stops some computers.
#[derive(Debug)]
struct Between(String);

impl Between {
    fn refusal(&self) -> String {
        let Self(address) = self;
        format!(
            "a program that drives the board by VFIO cannot configure its FPGA. If the FPGA has these kernels already, \
             set CL_CONTEXT_COMPILER_MODE_INTELFPGA=3. Otherwise, as root: peerlane unbind {address}; peerlane \
             program --device {address} -- COMMAND; peerlane bind {address} --user USER, with --always if it was \
             bound so"
        )
    }
}

impl Programmer for Between {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        false
    }

    fn check(&self, _: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        Err(self.refusal())
    }

    fn program(&self, _: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        Err(self.refusal())
    }
}

impl Boards for Nodes {
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut numbers: Vec<u32> = names.filter_map(|name| number(&name)).collect();
        numbers.sort_unstable();
        let name = |number| format!("peerlane{number}");
        let by_vfio = vfio::boards();
        let by_vfio = by_vfio.iter().map(|address| vfio_name(address));
        numbers.into_iter().map(name).chain(by_vfio).collect()
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        let failed = |error: peerlane_host::Error| format!("{error}. {}", error.hint());
        let boards = vfio::boards();
        if let Some(address) = boards.iter().find(|address| vfio_name(address) == name) {
            return Ok(Found {
                device: Device::by_vfio(address).map_err(failed)?,
                programmer: Box::new(Between(address.clone())),
                bus: address.clone(),
                number: vfio_number(address).unwrap_or(u32::MAX),
            });
        }
        let number = number(name).ok_or_else(|| {
            format!(
                "\"{name}\" is not a board: names are peerlane0, peerlane1, ..., and for boards of vfio-pci \
                 peerlane_ with the PCI address"
            )
        })?;
        let node = PathBuf::from(format!("/dev/{name}"));
        let device = Device::open(&node).map_err(failed)?;
        let jtag = Jtag::new(name, self.names().len() <= 1);
        Ok(Found {
            device,
            programmer: Box::new(CvpOrJtag::new(jtag)),
            bus: bus(&node).unwrap_or_else(|| node.display().to_string()),
            number,
        })
    }
}

/// The name that sysfs has for a node's device (the kernel's Documentation/admin-guide/sysfs-rules.rst).
fn bus(node: &Path) -> Option<String> {
    let number = node.metadata().ok()?.rdev();
    let (major, minor) = (libc::major(number), libc::minor(number));
    let device = std::fs::read_link(format!("/sys/dev/char/{major}:{minor}/device")).ok()?;
    Some(device.file_name()?.to_str()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_of_vfio_has_a_name_and_a_number_of_its_own() {
        assert_eq!(vfio_name("0000:01:00.0"), "peerlane_0000_01_00_0");
        assert_eq!(vfio_number("0000:01:00.0"), Some(0x1_0100));
        assert_eq!(vfio_number("0001:c1:1f.7"), Some(0x2_c1ff));
        for address in ["", "0000:01:00", "0000:01:00.0.0", "x:01:00.0"] {
            assert_eq!(vfio_number(address), None, "{address}");
        }
        assert_eq!(number("peerlane_0000_01_00_0"), None);
    }

    /// Without a command `peerlane program` prints its usage, and `unbind` removes the rule of `bind --always`.
    #[test]
    fn the_way_to_other_kernels_is_complete() {
        let refusal = Between("0000:01:00.0".into()).refusal();
        for part in [
            "peerlane unbind 0000:01:00.0;",
            "peerlane program --device 0000:01:00.0 -- COMMAND;",
            "peerlane bind 0000:01:00.0 --user USER, with --always",
        ] {
            assert!(refusal.contains(part), "{refusal}");
        }
    }

    #[test]
    fn names_are_those_of_nodes() {
        assert_eq!(number("peerlane0"), Some(0));
        assert_eq!(number("peerlane12"), Some(12));
        for name in [
            "",
            "peerlane",
            "peerlane01",
            "peerlane+1",
            "peerlane-1",
            "/dev/peerlane0",
        ] {
            assert_eq!(number(name), None, "{name}");
        }
        let error = Nodes.open("acl0").err().unwrap();
        assert!(error.contains("\"acl0\" is not a board"), "{error}");
        let error = Nodes.open("peerlane4000000000").err().unwrap();
        assert!(error.contains("/dev/peerlane4000000000"), "{error}");
    }
}
