//! The Quartus settings file: the fragment taken in, the import of the compiled partition off.

use std::path::Path;

use crate::error::Result;
use crate::extend::report::Change;
use crate::system::qsf::{Assignment, assignments};
use crate::system::xml::Edits;

/// The fragment that the settings file takes in.
pub const FRAGMENT: &str = "iface/peerlane/peerlane.qsf";
/// Usual name of the compiled partition.
const USUAL_QXP: &str = "acl_iface_partition.qxp";

/// A compiled partition that the project imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The `.qxp` file, relative to the hardware directory.
    pub file: String,
    /// Partition: the `-section_id`.
    pub section: String,
    /// `PARTITION_NETLIST_TYPE` with the import on.
    pub netlist: String,
    /// `PARTITION_IGNORE_SOURCE_FILE_CHANGES` with the import on.
    pub ignore_changes: String,
}

/// What becomes of a settings file.
#[derive(Debug)]
pub struct Settings {
    /// New text.
    pub text: String,
    /// Changes.
    pub changes: Vec<Change>,
    /// The partitions whose import was turned off.
    pub partitions: Vec<Partition>,
}

fn value<'a>(all: &'a [Assignment], name: &str, section: &str) -> Option<&'a Assignment> {
    all.iter()
        .find(|a| a.name == name && a.section.as_deref() == Some(section))
}

/// Rewrites a settings file.
///
/// # Errors
/// [`crate::error::ErrorKind::Unsupported`] if two of the changes are to the same line.
pub fn rewrite(file: &Path, source: &str) -> Result<Settings> {
    let all = assignments(source);
    let mut edits = Edits::default();
    let mut changes = Vec::new();
    let mut note = |what: String, why: &str| {
        changes.push(Change {
            file: file.to_path_buf(),
            what,
            why: why.into(),
        });
    };
    let stale = "the partition was compiled with the old DMA: importing it would build every kernel \
                 against that";
    let mut partitions: Vec<Partition> = Vec::new();
    for import in &all {
        if !matches!(
            import.name.as_str(),
            "PARTITION_IMPORT_FILE" | "PARTITION_LAST_IMPORTED_FILE"
        ) {
            continue;
        }
        let Some(section) = import.section.clone() else {
            continue;
        };
        edits.delete(import.span.clone());
        note(
            format!(
                "{} {} removed (line {})",
                import.name, import.value, import.line
            ),
            stale,
        );
        if partitions.iter().any(|p| p.section == section) {
            continue;
        }
        let mut set = |name: &str, to: &str| -> String {
            let Some(found) = value(&all, name, &section) else {
                return String::new();
            };
            if found.value != to {
                edits.replace(found.value_span.clone(), to);
                note(
                    format!(
                        "{name} of {section} {} → {to} (line {})",
                        found.value, found.line
                    ),
                    "the partition is compiled from source until it is exported anew",
                );
            }
            found.value.clone()
        };
        let netlist = set("PARTITION_NETLIST_TYPE", "SOURCE");
        let ignore_changes = set("PARTITION_IGNORE_SOURCE_FILE_CHANGES", "OFF");
        partitions.push(Partition {
            file: import.value.clone(),
            section,
            netlist,
            ignore_changes,
        });
    }
    let eol = if source.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let line = format!("set_global_assignment -name SOURCE_TCL_SCRIPT_FILE {FRAGMENT}{eol}");
    // After the last constraints, which make the clocks.
    match all.iter().rev().find(|a| a.name == "SDC_FILE") {
        Some(last) if source[last.span.clone()].ends_with('\n') => {
            edits.insert(last.span.end, line)
        }
        _ if source.is_empty() || source.ends_with('\n') => edits.insert(source.len(), line),
        _ => edits.insert(source.len(), format!("{eol}{line}")),
    }
    note(
        format!("{FRAGMENT} taken in"),
        "timing constraints and synchroniser settings of the block",
    );
    Ok(Settings {
        text: edits.apply(file, source)?,
        changes,
        partitions,
    })
}

/// Whether a file (relative to the hardware directory) is a compiled partition that must not be
/// copied.
pub fn is_stale_partition(relative: &Path, partitions: &[Partition]) -> bool {
    relative.file_name().is_some_and(|n| n == USUAL_QXP)
        || partitions.iter().any(|p| Path::new(&p.file) == relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_goes_off_and_everything_else_stays() {
        let source = "a\r\nset_global_assignment -name PARTITION_NETLIST_TYPE POST_FIT -section_id \"s:i\"\r\n\
            set_global_assignment -name PARTITION_NETLIST_TYPE SOURCE -section_id Top\r\n\
            set_global_assignment -name PARTITION_IGNORE_SOURCE_FILE_CHANGES ON -section_id \"s:i\"\r\n\
            set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id \"s:i\"\r\n\
            set_global_assignment -name SDC_FILE top.sdc\r\nlast";
        let new = rewrite(Path::new("top.qsf"), source).unwrap();
        let want = "a\r\nset_global_assignment -name PARTITION_NETLIST_TYPE SOURCE -section_id \"s:i\"\r\n\
            set_global_assignment -name PARTITION_NETLIST_TYPE SOURCE -section_id Top\r\n\
            set_global_assignment -name PARTITION_IGNORE_SOURCE_FILE_CHANGES OFF -section_id \"s:i\"\r\n\
            set_global_assignment -name SDC_FILE top.sdc\r\n\
            set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf\r\nlast";
        assert_eq!(new.text, want);
        let partition = Partition {
            file: "p.qxp".into(),
            section: "s:i".into(),
            netlist: "POST_FIT".into(),
            ignore_changes: "ON".into(),
        };
        assert_eq!(new.partitions, [partition]);
        assert!(is_stale_partition(Path::new("p.qxp"), &new.partitions));
        assert!(is_stale_partition(
            Path::new("acl_iface_partition.qxp"),
            &[]
        ));
        assert!(!is_stale_partition(Path::new("other.qxp"), &new.partitions));
    }

    #[test]
    fn a_file_without_constraints_gets_the_fragment_at_its_end() {
        assert_eq!(
            rewrite(Path::new("t.qsf"), "x").unwrap().text,
            "x\nset_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf\n"
        );
    }
}
