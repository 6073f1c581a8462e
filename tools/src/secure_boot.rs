//! Firmware with Secure Boot switched on, and the programs that Debian has signed for it.

use std::path::{Path, PathBuf};

use crate::{Cache, Recipe, Result, debian::Debian};

const PACKAGES: [&str; 4] = [
    "grub-efi-amd64-signed",
    "ovmf",
    "shim-helpers-amd64-signed",
    "shim-signed",
];
/// The firmware's code, which needs the processor's system management mode.
const CODE: &str = "usr/share/OVMF/OVMF_CODE_4M.secboot.fd";
const VARIABLES: &str = "usr/share/OVMF/OVMF_VARS_4M.ms.fd";
const SHIM: &str = "usr/lib/shim/shimx64.efi.signed";
const MOK_MANAGER: &str = "usr/lib/shim/mmx64.efi.signed";
const BOOT_LOADER: &str = "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed";

/// UEFI firmware for QEMU's `q35`, with the keys that computers are sold with, and Secure Boot on.
#[derive(Debug, Clone)]
pub struct Firmware {
    root: PathBuf,
}

impl Firmware {
    /// Returns the image of its code.
    pub fn code(&self) -> PathBuf {
        self.root.join(CODE)
    }

    /// Returns the image of its variables, of which each machine needs a copy.
    pub fn variables(&self) -> PathBuf {
        self.root.join(VARIABLES)
    }

    /// Returns the first program, which the firmware's keys confirm.
    pub fn shim(&self) -> PathBuf {
        self.root.join(SHIM)
    }

    /// Returns the program in which a user enrols a key.
    pub fn mok_manager(&self) -> PathBuf {
        self.root.join(MOK_MANAGER)
    }

    /// Returns GRUB. It reads `EFI/debian/grub.cfg` of the partition that it is on.
    pub fn boot_loader(&self) -> PathBuf {
        self.root.join(BOOT_LOADER)
    }
}

impl Cache {
    /// Returns the firmware, and the programs that it starts before a kernel.
    ///
    /// # Errors
    /// As [`Cache::qemu`].
    pub fn firmware(&self) -> Result<Firmware> {
        let paths = [CODE, VARIABLES, SHIM, MOK_MANAGER, BOOT_LOADER];
        let recipe = Recipe::new("firmware", "firmware with Secure Boot (Debian packages)")
            .part("1")
            .part(PACKAGES.join(" "));
        let recipe = paths.into_iter().fold(recipe, Recipe::requires);
        let root = self.install(&recipe, |root: &Path, progress| {
            let debian = Debian::open(self, "the firmware", progress)?;
            debian.unpack_only(&PACKAGES.map(str::to_owned), root, progress)
        })?;
        Ok(Firmware { root })
    }
}
