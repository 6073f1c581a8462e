//! The link below a port of a switch or of the root complex, controlled by the port's registers in sysfs.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::doctor::pci::{Bus, Port as Kind};
use peerlane_demo::error::Error;

/// Link Capabilities, Control and Status, as offsets from the PCI Express capability (PCI Express Base Specification
/// 4.0, 7.5.3.6 to 7.5.3.8).
const CAPABILITIES: u64 = 0x0c;
const CONTROL: u64 = 0x10;
const STATUS: u64 = 0x12;
/// Link Disable. If it is set, a link that goes down is not a Surprise Down Error (3.2.1).
const DISABLE: u16 = 1 << 4;
/// Data Link Layer Link Active Reporting Capable, in the capabilities; Data Link Layer Link Active, in the status.
const REPORTS: u32 = 1 << 20;
const ACTIVE: u16 = 1 << 13;

/// A link trains within a second; after that, a device may take 100 ms until it answers (6.6.1).
const TRAINING: Duration = Duration::from_secs(2);
const ANSWERS: Duration = Duration::from_millis(100);

/// A port and its configuration space.
#[derive(Debug)]
pub struct Port {
    devices: PathBuf,
    slot: String,
    file: File,
    path: PathBuf,
    /// Offset of its PCI Express capability.
    express: u64,
    /// Whether the port reports the state of the link.
    reports: bool,
}

/// A port whose link is disabled until this is dropped.
#[derive(Debug)]
pub struct Disabled<'a> {
    port: &'a Port,
    /// Whether the link is still to be enabled again.
    is_off: bool,
}

impl Port {
    /// Opens the port at a slot.
    ///
    /// # Errors
    /// [`Error`] of kind `Unsupported` if the device is not such a port, of kind `Io` without the permission.
    pub fn open(root: &Path, slot: &str) -> Result<Self, Error> {
        let devices = root.join("sys/bus/pci/devices");
        let path = devices.join(slot).join("config");
        let refused = |what: &str, hint: &str| Error::new(slot, what, hint);
        let bus = Bus::read(root);
        let port = bus.at(slot);
        let is_open = port.is_some_and(|port| port.is_open());
        let express = port.and_then(|port| port.express()).map(|at| at as u64);
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file =
            file.map_err(|e| Error::io(&path, "open the port's configuration as root", &e))?;
        let kind = port.and_then(|port| port.port());
        match (kind, express) {
            _ if !is_open => Err(refused(
                "only root can read all of this port's configuration",
                "Run the command as root.",
            )),
            (Some(Kind::Root | Kind::Downstream), Some(express)) => {
                let mut port = Self {
                    devices,
                    slot: slot.into(),
                    file,
                    path,
                    express,
                    reports: false,
                };
                let mut capabilities = [0; 4];
                port.read(CAPABILITIES, &mut capabilities)?;
                port.reports = u32::from_le_bytes(capabilities) & REPORTS != 0;
                Ok(port)
            }
            _ => Err(refused(
                "this is not a port with a link below it",
                "Give the root port or switch port that is directly above the FPGA: lspci -t shows it.",
            )),
        }
    }

    fn read(&self, register: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let read = self.file.read_exact_at(bytes, self.express + register);
        read.map_err(|e| Error::io(&self.path, "read a register", &e))
    }

    fn word(&self, register: u64) -> Result<u16, Error> {
        let mut bytes = [0; 2];
        self.read(register, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    /// Sets or clears Link Disable, and returns whether the port accepted the value.
    fn set_disable(&self, set: bool) -> Result<bool, Error> {
        let control = self.word(CONTROL)?;
        let control = if set {
            control | DISABLE
        } else {
            control & !DISABLE
        };
        let written = self
            .file
            .write_all_at(&control.to_le_bytes(), self.express + CONTROL);
        // Under Secure Boot the kernel forbids all writes to this file (kernel_lockdown(7)).
        written.map_err(|e| {
            Error::io(
                &self.path,
                "write Link Control (under Secure Boot the kernel forbids that)",
                &e,
            )
        })?;
        Ok((self.word(CONTROL)? & DISABLE != 0) == set)
    }

    fn tell(&self, slot: &str, file: &str) -> Result<(), Error> {
        let path = self.devices.join(slot).join(file);
        std::fs::write(&path, "1").map_err(|e| Error::io(&path, "notify the kernel", &e))
    }

    /// Makes the kernel remove a device.
    ///
    /// # Errors
    /// [`Error`] of kind `Io`.
    pub fn remove(&self, slot: &str) -> Result<(), Error> {
        self.tell(slot, "remove")
    }

    /// Makes the kernel search for devices below the port.
    ///
    /// # Errors
    /// [`Error`] of kind `Io`.
    pub fn rescan(&self) -> Result<(), Error> {
        self.tell(&self.slot, "rescan")
    }

    /// Disables the link.
    ///
    /// # Errors
    /// [`Error`] of kind `Io`; of kind `Unsupported` if the port does not implement Link Disable.
    pub fn disable(&self) -> Result<Disabled<'_>, Error> {
        let is_off = self.set_disable(true)?;
        let disabled = Disabled {
            port: self,
            is_off: true,
        };
        if !is_off {
            return Err(Error::new(
                &self.slot,
                "this port does not implement Link Disable, so its link would go down unexpectedly",
                "Configure the FPGA from its flash when the computer is switched on, or while the computer waits in its firmware.",
            ));
        }
        Ok(disabled)
    }
}

impl Disabled<'_> {
    /// Enables the link again, and waits until it is up. Returns whether it is, as far as the port reports this.
    ///
    /// # Errors
    /// [`Error`] of kind `Io`.
    pub fn enable(mut self) -> Result<bool, Error> {
        self.is_off = false;
        self.port.set_disable(false)?;
        let begin = Instant::now();
        let up = loop {
            let is_late = begin.elapsed() > TRAINING;
            if self.port.reports && self.port.word(STATUS)? & ACTIVE != 0 {
                break true;
            }
            if is_late {
                break !self.port.reports;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        std::thread::sleep(ANSWERS);
        Ok(up)
    }
}

impl Drop for Disabled<'_> {
    fn drop(&mut self) {
        if self.is_off && self.port.set_disable(false).is_err() {
            errln!(
                "peerlane: {}: its link stays disabled: restart the computer",
                self.port.slot
            );
        }
    }
}
