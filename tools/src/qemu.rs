//! QEMU with `vfio-user-pci`, and busybox for programs that run in it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Cache, Error, Recipe, Result,
    debian::{BACKPORTS, Debian},
    process::{self, tail, text},
};

/// The directory of the shared libraries in Debian's packages for x86-64.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";
const LOADER: &str = "usr/lib64/ld-linux-x86-64.so.2";
const PROGRAM: &str = "usr/bin/qemu-system-x86_64";
const BUSYBOX: &str = "usr/bin/busybox";
/// The device for which the packages are needed; QEMU has it since version 10.1.
const DEVICE: &str = "vfio-user-pci";
const PACKAGES: [&str; 4] = ["qemu-system-x86", "busybox-static", "libc6", "libgcc-s1"];

/// QEMU for x86-64, with firmware and shared libraries of its own.
#[derive(Debug, Clone)]
pub struct Qemu {
    root: PathBuf,
    /// Its version, as it reports it: `11.1.3 (Debian …)`.
    pub version: String,
}

impl Qemu {
    /// Returns a command that runs the system emulator for x86-64.
    pub fn command(&self) -> Command {
        command(&self.root)
    }

    /// Returns the path of the program.
    pub fn bin(&self) -> PathBuf {
        self.root.join(PROGRAM)
    }

    /// Returns a statically linked busybox.
    pub fn busybox(&self) -> PathBuf {
        self.root.join(BUSYBOX)
    }
}

fn command(root: &Path) -> Command {
    // Through its own loader, so that it finds its own libraries on any distribution.
    let mut command = Command::new(root.join(LOADER));
    command
        .arg("--library-path")
        .arg(root.join(LIBRARIES))
        .arg(root.join(PROGRAM))
        .env("QEMU_MODULE_DIR", root.join(LIBRARIES).join("qemu"));
    for firmware in ["usr/share/qemu", "usr/share/seabios"] {
        command.arg("-L").arg(root.join(firmware));
    }
    command
}

impl Cache {
    /// Returns QEMU and busybox, from Debian's backports.
    ///
    /// # Errors
    /// When the machine is not an x86-64 Debian or Ubuntu, has no Debian mirror, or the packages cannot be fetched; the
    /// message has a hint.
    pub fn qemu(&self) -> Result<Qemu> {
        let recipe = Recipe::new("qemu", "QEMU (Debian packages)")
            .part("1")
            .part(BACKPORTS)
            .part(PACKAGES.join(" "))
            .requires(PROGRAM)
            .requires(BUSYBOX);
        let root = self.install(&recipe, |root, progress| {
            let debian = Debian::open(self, "QEMU", progress)?;
            debian.unpack_with_needs(&PACKAGES, Some(BACKPORTS), root, progress)?;
            drop(debian);
            progress.step("checking");
            let output = process::output(command(root).args(["-device", "help"]))?;
            let said = text(&output);
            if said.contains(&format!("\"{DEVICE}\"")) {
                return Ok(());
            }
            Err(Error::Install {
                tool: "QEMU".to_owned(),
                detail: format!("it has no device {DEVICE}: {}", tail(&said, 3)),
                hint: "use a mirror whose backports have QEMU 10.1 or later".to_owned(),
            })
        })?;
        // Its first line: QEMU emulator version 11.1.3 (Debian 1:11.1.3+ds-1~bpo13+1)
        let said = text(&process::output(command(&root).arg("--version"))?);
        let version = said
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("QEMU emulator version "))
            .ok_or_else(|| Error::Install {
                tool: "QEMU".to_owned(),
                detail: format!("it does not run: {}", tail(&said, 3)),
                hint: format!("delete {} and try again", root.display()),
            })?
            .to_owned();
        Ok(Qemu { root, version })
    }
}
