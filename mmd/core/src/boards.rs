//! Where boards come from.

use crate::pcie::CvpOrJtag;
use crate::program::{Jtag, Programmer};
use peerlane_host::Device;
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

/// The device nodes of the kernel driver: `peerlane0` is `/dev/peerlane0`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nodes;

/// The number in a board's name.
fn number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("peerlane")?;
    let number = digits.parse().ok()?;
    (format!("{number}") == digits).then_some(number)
}

impl Boards for Nodes {
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut numbers: Vec<u32> = names.filter_map(|name| number(&name)).collect();
        numbers.sort_unstable();
        let name = |number| format!("peerlane{number}");
        numbers.into_iter().map(name).collect()
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        let number = number(name).ok_or_else(|| {
            format!("\"{name}\" is not a board: names are peerlane0, peerlane1, ...")
        })?;
        let node = PathBuf::from(format!("/dev/{name}"));
        let device = Device::open(&node).map_err(|error| format!("{error}. {}", error.hint()))?;
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
