//! Reads the declarations of a component (`_hw.tcl`) without running it: only commands that stand alone on a line.

use std::collections::BTreeMap;
use std::path::Path;

use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::text;

/// Declarations of a component.
#[derive(Debug, Default)]
pub struct Declared {
    /// `set_module_property VERSION`.
    pub version: String,
    /// The entity that is synthesised: `set_fileset_property QUARTUS_SYNTH TOP_LEVEL`.
    pub top: String,
    /// Interfaces: type and side.
    pub interfaces: BTreeMap<String, (String, String)>,
    /// Widths in bits of ports, by interface and role.
    widths: BTreeMap<(String, String), u32>,
}

impl Declared {
    /// Reads a component.
    ///
    /// # Errors
    /// Those of [`text::read`].
    pub fn read(path: &Path) -> Result<Self> {
        let mut found = Self::default();
        for line in text::read(path)?.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            match words.as_slice() {
                ["set_module_property", "VERSION", version] => {
                    found.version = version.trim_matches(['"', '{', '}']).into();
                }
                ["set_fileset_property", "QUARTUS_SYNTH", "TOP_LEVEL", top] => {
                    found.top = top.trim_matches(['"', '{', '}']).into();
                }
                ["add_interface", name, kind, side] => {
                    let about = ((*kind).into(), (*side).into());
                    found.interfaces.insert((*name).into(), about);
                }
                ["add_interface_port", interface, _, role, _, width] => {
                    if let Ok(width) = width.parse() {
                        let key = ((*interface).into(), (*role).into());
                        found.widths.insert(key, width);
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns the bits of the port with a role.
    pub fn width(&self, interface: &str, role: &str) -> Option<u64> {
        let key = (interface.to_string(), role.to_string());
        self.widths.get(&key).map(|&bits| u64::from(bits))
    }

    /// Returns the bytes of a slave's address span. Platform Designer counts a slave's addresses in words (Avalon
    /// Interface Specifications 683091, "address": word offsets).
    pub fn span(&self, interface: &str) -> Option<u128> {
        let width = |role| self.width(interface, role);
        let data = width("readdata").or(width("writedata"))?;
        let address = width("address").filter(|&bits| bits < 64)?;
        Some((1u128 << address) * u128::from(data / 8))
    }
}
