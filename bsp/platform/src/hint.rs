//! Hints for a faulty file, by its kind and its owner.

use std::path::Path;

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

/// Returns the hint for a file of an extended BSP.
pub fn of_result(path: &Path) -> String {
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

/// Returns the hint for an unreadable file of the input: the vendor's, or one that a user gave.
pub fn of_input(path: &Path) -> String {
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
