//! PCI devices, as described by sysfs (the kernel's Documentation/PCI/sysfs-pci.rst,
//! Documentation/ABI/testing/sysfs-bus-pci).

use peerlane_host::vfio::DRIVER;
use std::fs;
use std::path::{Path, PathBuf};

/// The PCI devices of a computer.
pub(crate) struct Bus {
    /// The devices in the order of their slots.
    pub(crate) devices: Vec<Pci>,
}

/// A PCI device.
pub(crate) struct Pci {
    /// Such as `0000:01:00.0`.
    pub(crate) slot: String,
    /// The host bridge, and the bridges from there to the device: `pci0000:00`, `0000:00:01.0`.
    pub(crate) above: Vec<String>,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    /// Base class, class, interface.
    pub(crate) class: u32,
    pub(crate) driver: Option<String>,
    pub(crate) group: Option<String>,
    directory: PathBuf,
    config: Vec<u8>,
}

/// Kinds of PCI Express functions (PCI Express Base Specification 4.0, 7.5.3.2, Device/Port Type).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Endpoint,
    Root,
    Upstream,
    Downstream,
    Other,
}

/// Altera, and Intel's FPGAs under its vendor ID.
pub(crate) const ALTERA: u32 = 0x1172;
/// Intel.
const INTEL: u32 = 0x8086;
/// Hint for a board that shares its IOMMU group with a device that keeps the group.
pub(crate) const SHARED_GROUP: &str = "Put the board into another slot, or use the kernel module. If nothing else needs that device, bind it to vfio-pci, too. Devices below a switch without ACS are in one group.";
/// NVIDIA.
pub(crate) const NVIDIA: u32 = 0x10de;
/// AMD.
pub(crate) const AMD: u32 = 0x1002;

fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn hex(path: &Path) -> Option<u32> {
    let text = text(path)?;
    u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// Returns the last component of a link's target.
fn target(path: &Path) -> Option<String> {
    let target = fs::read_link(path).ok()?;
    Some(target.file_name()?.to_string_lossy().into_owned())
}

impl Bus {
    pub(crate) fn read(root: &Path) -> Self {
        let directory = root.join("sys/bus/pci/devices");
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut devices: Vec<Pci> = entries
            .filter_map(|entry| Pci::read(&entry.path()))
            .collect();
        devices.sort_by(|a, b| a.slot.cmp(&b.slot));
        Self { devices }
    }

    /// Returns the boards that are bound to the driver, and the other FPGAs of Altera's.
    pub(crate) fn boards(&self) -> impl Iterator<Item = &Pci> {
        self.devices
            .iter()
            .filter(|device| device.is_board() || device.vendor == ALTERA)
    }

    /// Returns the display controllers with memory of their own that other devices may reach.
    pub(crate) fn gpus(&self) -> impl Iterator<Item = &Pci> {
        self.displays().filter(|device| device.is_gpu())
    }

    /// Returns all display controllers: VGA, XGA, 3D, other (PCI Code and ID Assignment Specification, 1.4).
    pub(crate) fn displays(&self) -> impl Iterator<Item = &Pci> {
        self.devices.iter().filter(|device| device.class >> 16 == 3)
    }

    /// Returns the other devices of a device's IOMMU group.
    pub(crate) fn beside<'a>(&'a self, device: &'a Pci) -> impl Iterator<Item = &'a Pci> {
        let others = self.devices.iter();
        others.filter(|other| other.slot != device.slot && other.group == device.group)
    }

    pub(crate) fn at(&self, slot: &str) -> Option<&Pci> {
        self.devices.iter().find(|device| device.slot == slot)
    }
}

impl Pci {
    fn read(link: &Path) -> Option<Self> {
        let directory = fs::canonicalize(link).ok()?;
        let mut above: Vec<String> = Vec::new();
        for part in directory.parent()?.components().rev() {
            let part = part.as_os_str().to_string_lossy();
            let is_bridge = part.starts_with("pci") || part.contains(':');
            if !is_bridge {
                break;
            }
            above.push(part.into_owned());
        }
        above.reverse();
        Some(Self {
            slot: directory.file_name()?.to_string_lossy().into_owned(),
            above,
            vendor: hex(&directory.join("vendor"))?,
            device: hex(&directory.join("device"))?,
            class: hex(&directory.join("class")).unwrap_or(0),
            driver: target(&directory.join("driver")),
            group: target(&directory.join("iommu_group")),
            config: fs::read(directory.join("config")).unwrap_or_default(),
            directory,
        })
    }

    /// Whether a display controller is a GPU for a board: from a maker whose driver shares memory with other devices.
    /// The controller of a server's management processor or of a virtual machine is not one, nor is Intel's in the
    /// processor, which is always device 2 of the first bus.
    pub(crate) fn is_gpu(&self) -> bool {
        match self.vendor {
            NVIDIA | AMD => true,
            INTEL => self.slot != "0000:00:02.0",
            _ => false,
        }
    }

    /// Whether the driver `peerlane` is bound to it.
    pub(crate) fn is_board(&self) -> bool {
        self.driver.as_deref() == Some("peerlane") || self.directory.join("peerlane").is_dir()
    }

    /// Whether programs drive it by VFIO.
    pub(crate) fn is_by_vfio(&self) -> bool {
        self.driver.as_deref() == Some(DRIVER)
    }

    /// Returns the nodes that a program opens for it by VFIO, its own first: that of its IOMMU group, or where the kernel
    /// has no groups, its own and that of iommufd.
    pub(crate) fn vfio_nodes(&self, root: &Path, group: &str) -> Vec<PathBuf> {
        let vfio = root.join("dev/vfio");
        let of_group = vfio.join(group);
        let entries = fs::read_dir(self.directory.join("vfio-dev"));
        let mut own = entries.into_iter().flatten().flatten();
        match own.next() {
            Some(own) if !(of_group.exists() && vfio.join("vfio").exists()) => {
                vec![
                    vfio.join("devices").join(own.file_name()),
                    root.join("dev/iommu"),
                ]
            }
            _ => vec![of_group],
        }
    }

    /// Whether it keeps the other devices of its IOMMU group from VFIO: it has a driver, other than VFIO's and the ports'
    /// (drivers/iommu/iommu.c of the kernel, `driver_managed_dma`).
    pub(crate) fn keeps_group(&self) -> bool {
        let driver = self.driver.as_deref();
        driver.is_some_and(|driver| ![DRIVER, "pcieport"].contains(&driver))
    }

    /// Returns slot and IDs, such as `0000:01:00.0 (10de:2330)`.
    pub(crate) fn name(&self) -> String {
        format!("{} ({:04x}:{:04x})", self.slot, self.vendor, self.device)
    }

    /// Reads a file of its directory, without the end of the line.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        text(&self.directory.join(name))
    }

    fn word(&self, at: usize) -> Option<u16> {
        let bytes = self.config.get(at..at + 2)?;
        Some(u16::from_le_bytes(bytes.try_into().ok()?))
    }

    fn dword(&self, at: usize) -> Option<u32> {
        let bytes = self.config.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Whether all of the configuration space could be read; users other than root can read only 64 bytes of it.
    pub(crate) fn is_open(&self) -> bool {
        self.config.len() > 64
    }

    /// Returns the offset of its PCI Express capability (7.5.3; the list of 7.5.1.1.11 begins at 34h).
    pub(crate) fn express(&self) -> Option<usize> {
        let mut at = usize::from(*self.config.get(0x34)? & !3);
        // 48 capabilities fit; the limit also ends a circular list.
        for _ in 0..48 {
            match (at, self.config.get(at)?) {
                (0, _) => return None,
                (_, 0x10) => return Some(at),
                _ => at = usize::from(*self.config.get(at + 1)? & !3),
            }
        }
        None
    }

    pub(crate) fn port(&self) -> Option<Port> {
        let flags = self.word(self.express()? + 2)?;
        Some(match flags >> 4 & 0xf {
            0 | 1 => Port::Endpoint,
            4 => Port::Root,
            5 => Port::Upstream,
            6 => Port::Downstream,
            _ => Port::Other,
        })
    }

    /// Returns Max_Payload_Size: the present value, and the largest possible one (7.5.3.4, 7.5.3.3).
    pub(crate) fn payload(&self) -> Option<(u32, u32)> {
        let at = self.express()?;
        let (could, is) = (self.dword(at + 4)?, self.word(at + 8)?);
        Some((128 << (is >> 5 & 7), 128 << (could & 7)))
    }

    /// Returns Max_Read_Request_Size (7.5.3.4).
    pub(crate) fn read_request(&self) -> Option<u32> {
        Some(128 << (self.word(self.express()? + 8)? >> 12 & 7))
    }

    /// Returns ACS Control (7.7.8.3), if the device has Access Control Services.
    pub(crate) fn acs(&self) -> Option<u16> {
        let mut at = 0x100;
        for _ in 0..480 {
            let header = self.dword(at)?;
            if header & 0xffff == 0x000d {
                return self.word(at + 6);
            }
            at = (header >> 20) as usize;
            if at < 0x100 {
                return None;
            }
        }
        None
    }

    /// Returns its regions of memory: number and bytes. `resource` has a line for each region: start, end, flags, of
    /// which 0x200 means memory (the kernel's include/linux/ioport.h, `IORESOURCE_MEM`).
    pub(crate) fn bars(&self) -> Vec<(usize, u64)> {
        let text = self.file("resource").unwrap_or_default();
        let number =
            |word: Option<&str>| u64::from_str_radix(word?.trim_start_matches("0x"), 16).ok();
        let bar = |(index, line): (usize, &str)| {
            let mut words = line.split_whitespace();
            let (start, end) = (number(words.next())?, number(words.next())?);
            let flags = number(words.next())?;
            let bytes = end.checked_sub(start)?.checked_add(1)?;
            (flags & 0x200 != 0 && end != 0).then_some((index, bytes))
        };
        text.lines().take(6).enumerate().filter_map(bar).collect()
    }
}
