//! Files of `aoc`: packages (`.aocx`), the FPGA's configuration in them (`fpga.bin`), and autodiscovery text.
//!
//! Both files are in the Executable and Linkable Format, with a section for each part. Autodiscovery text describes a
//! board and its kernels; a package has it in `.acl.autodiscovery`, and a configured board in a ROM.

mod aocx;
mod elf;
mod present;
mod upgrade;

pub use aocx::{AUTODISCOVERY, BOARD, CODE, PackageError, Upgraded, text, upgrade_package};
pub use elf::{ElfError, section};
pub use present::{Present, PresentError, present};
pub use upgrade::{PRO, UpgradeError, upgrade, version};
