//! The disk of a machine that boots as computers do, and its firmware.

use std::{fs, path::Path, process::Command};

use peerlane_tools::Firmware;
use serde_json::json;

use crate::{Result, error::io_error, files::Files};

/// Options of the type of the machine. The firmware protects its variables by the system management mode.
pub(crate) const KIND: &str = ",smm=on,pflash0=code,pflash1=variables";

/// Parameter of the kernel that names the line to the test. The firmware writes to the first two serial ports.
pub(crate) const CONTROL: &str = "PEERLANE_CONTROL=/dev/ttyS2";

/// Fills the disk's directory, and copies the firmware's variables.
pub(crate) fn fill(
    firmware: &Firmware,
    vmlinuz: &Path,
    parameters: &str,
    files: &Files,
) -> Result<()> {
    let disk = &files.disk;
    for directory in ["EFI/BOOT", "EFI/debian"] {
        let path = disk.join(directory);
        fs::create_dir_all(&path).map_err(io_error("create", &path))?;
    }
    // The firmware starts the first of these from a disk that it has not booted before (UEFI Specification 2.10,
    // 3.5.1.1). Shim finds the others by their names, next to itself.
    for (file, name) in [
        (firmware.shim(), "EFI/BOOT/BOOTX64.EFI"),
        (firmware.mok_manager(), "EFI/BOOT/mmx64.efi"),
        (firmware.boot_loader(), "EFI/BOOT/grubx64.efi"),
        (vmlinuz.to_owned(), "vmlinuz"),
    ] {
        fs::copy(&file, disk.join(name)).map_err(io_error("copy", &file))?;
    }
    let path = disk.join("EFI/debian/grub.cfg");
    let config = format!("set timeout=0\nlinux /vmlinuz {parameters}\ninitrd /initramfs\nboot\n");
    fs::write(&path, config).map_err(io_error("write", &path))?;
    let variables = firmware.variables();
    fs::copy(&variables, &files.variables).map_err(io_error("copy", &variables))?;
    Ok(())
}

/// Adds QEMU's options for the firmware, the disk, and the second serial port, to which nothing is connected.
pub(crate) fn options(command: &mut Command, firmware: &Firmware, files: &Files) {
    let flash = |name: &str, path: &Path, read_only: bool| json!({ "driver": "file", "node-name": name, "filename": path, "read-only": read_only });
    let disk = json!({
        "driver": "vvfat", "node-name": "disk", "dir": files.disk, "read-only": true,
    });
    for node in [
        flash("code", &firmware.code(), true),
        flash("variables", &files.variables, false),
        disk,
    ] {
        command.args(["-blockdev", &node.to_string()]);
    }
    command
        .args(["-global", "driver=cfi.pflash01,property=secure,value=on"])
        // The firmware has no code for it together with the system management mode.
        .args(["-global", "ICH9-LPC.disable_s3=1"])
        .args(["-device", "virtio-blk-pci,drive=disk,bootindex=0"])
        .args(["-serial", "none"]);
}
