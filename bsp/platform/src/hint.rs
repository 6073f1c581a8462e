//! Hints: how to fix an error.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::key::Key;

/// The owner of a faulty file, by whom it can be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The vendor, or a user: the file is part of the input.
    Input,
    /// Peerlane: the file is part of an extended BSP.
    Result,
}

/// A hint. Code compares and changes the variants; only [`fmt::Display`] makes whole sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Whole sentences.
    Text(String),
    /// Correct a file or restore it, by its kind and its owner.
    File(Owner, PathBuf),
    /// Free space on the disk.
    FreeSpace,
    /// Leave these keys out, which ask for a TLP port. The text before has other ways; it is empty or ends with a blank.
    WithoutTlp(String, &'static [Key]),
}

impl Hint {
    /// Makes the hint for a file of an extended BSP.
    pub fn of_result(path: &Path) -> Self {
        Self::File(Owner::Result, path.to_path_buf())
    }

    /// Makes the hint for an unreadable file of the input: the vendor's, or one that a user gave.
    pub fn of_input(path: &Path) -> Self {
        Self::File(Owner::Input, path.to_path_buf())
    }

    /// Makes the hint to leave `port.kind` out, after other ways.
    pub fn without_tlp(before: impl Into<String>) -> Self {
        Self::WithoutTlp(before.into(), &[Key::PortKind])
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::from(text.to_string())
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::File(Owner::Result, path) => f.write_str(&of_result(path)),
            Self::File(Owner::Input, path) => f.write_str(&of_input(path)),
            Self::FreeSpace => f.write_str(
                "Free space there, or choose a place on another disk. Then run the command again.",
            ),
            Self::WithoutTlp(before, keys) => {
                let names: Vec<_> = keys.iter().map(|key| key.name()).collect();
                let names = names.join(" and ");
                let leave = if before.is_empty() { "Leave" } else { "leave" };
                write!(f, "{before}{leave} {names} out of the configuration")?;
                match (before.is_empty(), keys) {
                    (true, [Key::PortKind]) => f.write_str(", or set it to \"txs\"."),
                    _ => f.write_str("."),
                }
            }
        }
    }
}

/// Kinds of files, by the way to correct them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A system of Platform Designer.
    System,
    /// Settings, a project, constraints or a script of Quartus.
    Text,
    /// A list of components or a description for the SDK.
    Xml,
    /// A file that a user writes for Peerlane.
    Toml,
    /// A file that Peerlane writes and no user edits: a record, the generated Verilog.
    Generated,
    /// A directory, or any other file.
    Other,
}

impl Kind {
    fn of(path: &Path) -> Self {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.to_lowercase().as_str() {
            "qsys" => Self::System,
            "qsf" | "qpf" | "qip" | "sdc" | "tcl" | "sh" | "bat" | "pl" | "py" => Self::Text,
            "xml" | "ipx" => Self::Xml,
            "toml" => Self::Toml,
            "json" => Self::Generated,
            _ => Self::Other,
        }
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().replace(char::is_control, " ")
}

fn of_result(path: &Path) -> String {
    let name = name(path);
    match Kind::of(path) {
        Kind::System => "Correct it in Platform Designer, or extend the vendor's BSP again.".into(),
        Kind::Text | Kind::Xml => {
            format!("Correct {name} in an editor, or extend the vendor's BSP again.")
        }
        Kind::Generated => {
            format!("Extend the vendor's BSP again, and do not edit {name}, which Peerlane writes.")
        }
        Kind::Toml | Kind::Other => "Restore it, or extend the vendor's BSP again.".into(),
    }
}

fn of_input(path: &Path) -> String {
    let name = name(path);
    match Kind::of(path) {
        Kind::System => format!(
            "Take {name} from the vendor's BSP package again, or open it in Platform Designer and save it."
        ),
        Kind::Text | Kind::Xml => format!(
            "Take {name} from the vendor's BSP package again, or correct it in an editor that saves plain UTF-8."
        ),
        Kind::Toml => format!("Save {name} as plain UTF-8, as `peerlane config` prints it."),
        Kind::Generated => "Extend the vendor's BSP again.".into(),
        Kind::Other => format!("Take {name} from the vendor's BSP package again."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own() {
        for (path, of_result_has, of_input_has) in [
            (
                "a/board.qsys",
                "Platform Designer",
                "open it in Platform Designer",
            ),
            (
                "a/top.QSF",
                "Correct top.QSF in an editor",
                "Take top.QSF from",
            ),
            ("top.qpf", "Correct top.qpf in an editor", "plain UTF-8"),
            ("a/pins.tcl", "Correct pins.tcl in an editor", "plain UTF-8"),
            ("a/top.sdc", "Correct top.sdc in an editor", "plain UTF-8"),
            (
                "iface.ipx",
                "Correct iface.ipx in an editor",
                "Take iface.ipx from",
            ),
            (
                "board_env.xml",
                "Correct board_env.xml in an editor",
                "plain UTF-8",
            ),
            ("c.toml", "Restore it", "peerlane config"),
            (
                "iface/peerlane/build.json",
                "do not edit",
                "Extend the vendor's BSP again",
            ),
            ("hardware/board", "Restore it", "vendor's BSP package"),
        ] {
            let path = Path::new(path);
            let (result, input) = (of_result(path), of_input(path));
            assert!(result.contains(of_result_has), "{result}");
            assert!(input.contains(of_input_has), "{input}");
            let designer = |text: &str| text.contains("Platform Designer");
            assert_eq!(designer(&result), path.ends_with("board.qsys"), "{result}");
            assert_eq!(designer(&input), path.ends_with("board.qsys"), "{input}");
        }
    }
}
