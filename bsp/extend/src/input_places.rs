//! Converts errors and diagnostics in the copy that is being made to places of the input: the copy will be removed.

use std::path::{Path, PathBuf};

use peerlane_bsp_check::Finding;
use peerlane_bsp_platform::error::{Error, Place};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::message::{Message, moved};
use peerlane_bsp_platform::text;

/// Converts an error of reading the copy to the input's places.
pub(crate) fn of_the_input(error: Error, copy: &Layout, input: &Layout) -> Error {
    error.map_paths(&|path| path_in_the_input(path, copy, input))
}

/// Returns the message of a diagnostic of the copy with the input's paths.
pub(crate) fn what_of(finding: &Finding, copy: &Layout, input: &Layout) -> Message {
    let mut what = finding.what.clone();
    what.map_paths(|path| path_in_the_input(path, copy, input));
    what
}

fn path_in_the_input(path: &Path, copy: &Layout, input: &Layout) -> PathBuf {
    let hardware = copy.hardware_dir();
    // The board's directory may have another name in the copy.
    match path.starts_with(&hardware) {
        true => moved(path, &hardware, &input.hardware_dir()),
        false => moved(path, &copy.root, &input.root),
    }
}

/// Returns the place in the input for a diagnostic of the copy.
pub(crate) fn in_the_input(finding: &Finding, copy: &Layout, input: &Layout) -> Place {
    let path = path_in_the_input(&finding.place, copy, input);
    let line = finding.line.and_then(|line| {
        let made = text::read(&finding.place).ok()?;
        same_line(&made, line, &text::read(&path).ok()?)
    });
    match line {
        Some(line) => Place::line(path, line),
        // For a file that the input lacks, the input's directory is named.
        None if path.exists() => Place::file(path),
        None => Place::file(&input.root),
    }
}

/// Finds the line of `input` that equals line `line` of `made`, by as many following lines as make it unique.
fn same_line(made: &str, line: usize, input: &str) -> Option<usize> {
    const MOST: usize = 8;
    let made: Vec<_> = made.lines().skip(line - 1).take(MOST).collect();
    let input: Vec<_> = input.lines().collect();
    (1..=made.len()).find_map(|count| {
        let mut found = (input.windows(count).enumerate()).filter(|(_, w)| *w == &made[..count]);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Some(at + 1),
            _ => None,
        }
    })
}
