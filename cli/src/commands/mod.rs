//! The subcommands of `peerlane`, one file each: `Args` and `run(&Args) -> Outcome`.

pub mod bench;
pub mod check;
pub mod component;
pub mod config;
pub mod demo;
pub mod diagram;
pub mod doctor;
pub mod driver;
pub mod extend;
pub mod icd;
pub mod new;
pub mod program;
pub mod revert;
pub mod top;
pub mod upgrade;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use peerlane_bsp::error::{Error, ErrorKind, Place};
use serde::Serialize;

use crate::provenance::Provenance;

/// The exit status of a subcommand, or the error that the command prints.
pub type Outcome = Result<ExitCode, Error>;

/// Exit status of a run that failed or a check that found a fault.
pub const FAILED: u8 = 2;

/// Returns a table that fits the terminal, with these headers.
fn table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(
            heads
                .iter()
                .map(|head| Cell::new(head).add_attribute(Attribute::Bold)),
        );
    // Serial consoles report a width of zero columns.
    if table.width().is_some_and(|columns| columns < 20) {
        table.set_width(80);
    }
    table
}

/// Wraps a text to a width, with all lines but the first indented by two columns; without a width, returns it
/// unchanged.
fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.into();
    };
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let letters = word.chars().count();
        if column > 0 && column + 1 + letters > width {
            out.push_str("\n  ");
            column = 2;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += letters;
    }
    out
}

/// Formats a count with its noun: `1 fault`, `2 faults`.
fn count(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

/// Writes results and their provenance as JSON.
fn save_json(file: &Path, results: &impl Serialize) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Stamped<'a, T> {
        provenance: Provenance,
        #[serde(flatten)]
        results: &'a T,
    }
    let stamped = Stamped {
        provenance: Provenance::here(),
        results,
    };
    let mut text = serde_json::to_string_pretty(&stamped).expect("plain data only");
    text.push('\n');
    save(file, &text)
}

/// Rejects a file that could not be written, before the work whose results go into it.
fn check_file(file: &Path) -> Result<(), Error> {
    let problem = |what: &str, remedy: &str| {
        Err(Error::new(
            ErrorKind::Output,
            Place::file(file),
            what,
            remedy,
        ))
    };
    if file.is_dir() {
        return problem("this is a directory", "Give the name of a file.");
    }
    if file.exists() && !file.is_file() {
        return problem(
            "this is not a file, and a file would replace it",
            "Give the name of a file.",
        );
    }
    match directory_of(file) {
        directory if !directory.is_dir() => problem(
            "the directory for this file does not exist",
            "Create it first, or give another name.",
        ),
        // Dropped immediately, which deletes it.
        directory => match tempfile::NamedTempFile::new_in(directory) {
            Ok(_) => Ok(()),
            Err(e) => Err(Error::io(file, "write the results", &e)),
        },
    }
}

fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes a text, completely or not at all.
fn save(file: &Path, text: &str) -> Result<(), Error> {
    replace(file, "write the results", text.as_bytes())
}

/// Writes to a temporary file in the same directory and renames it, so that there is never half a file. `doing` is for
/// the error.
fn replace(file: &Path, doing: &str, bytes: &[u8]) -> Result<(), Error> {
    let failed = |e: &std::io::Error| Error::io(file, doing, e);
    // The mode of any new file, subject to the umask. The default mode of a temporary file is for its owner only.
    let mut temporary = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(directory_of(file))
        .map_err(|e| failed(&e))?;
    temporary.write_all(bytes).map_err(|e| failed(&e))?;
    temporary.persist(file).map_err(|e| failed(&e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_the_terminal() {
        let text = "· one two three";
        assert_eq!(wrapped(text, None), text);
        assert_eq!(wrapped(text, Some(80)), text);
        assert_eq!(wrapped(text, Some(9)), "· one two\n  three");
        assert_eq!(wrapped(text, Some(5)), "· one\n  two\n  three");
        // A word is never broken.
        assert_eq!(wrapped("· twelve", Some(3)), "·\n  twelve");
    }
}
