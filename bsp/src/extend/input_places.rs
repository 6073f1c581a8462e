//! Errors and findings in the copy that is being made, told as places of the input: the copy will be gone.

use std::path::{Path, PathBuf};

use crate::check::Finding;
use crate::error::{Error, Place};
use crate::layout::Layout;
use crate::text;

/// An error of reading the copy, with the input's places: the copy will be gone.
pub fn of_the_input(mut error: Error, copy: &Layout, input: &Layout) -> Error {
    error.place.path = path_in_the_input(&error.place.path, copy, input);
    error.what = without_copy(&error.what, copy, input);
    error
}

/// A message without the copy's directory.
pub fn without_copy(what: &str, copy: &Layout, input: &Layout) -> String {
    let name = |path: &Path| path.to_string_lossy().into_owned();
    // The board's directory first: it may have another name in the copy.
    let what = what.replace(&name(&copy.hardware_dir()), &name(&input.hardware_dir()));
    what.replace(&name(&copy.root), &name(&input.root))
}

fn path_in_the_input(path: &Path, copy: &Layout, input: &Layout) -> PathBuf {
    // The board's directory may have another name in the copy.
    if let Ok(inside) = path.strip_prefix(copy.hardware_dir()) {
        return input.hardware_dir().join(inside);
    }
    match path.strip_prefix(&copy.root) {
        Ok(inside) => input.root.join(inside),
        Err(_) => path.to_path_buf(),
    }
}

/// Where in the input that is which a check found in the copy: the copy will be gone.
pub fn in_the_input(finding: &Finding, copy: &Layout, input: &Layout) -> Place {
    let path = path_in_the_input(&finding.place, copy, input);
    let line = finding.line.and_then(|line| {
        let made = text::read(&finding.place).ok()?;
        same_line(&made, line, &text::read(&path).ok()?)
    });
    match line {
        Some(line) => Place::line(path, line),
        // What the input does not have is somewhere in its directory.
        None if path.exists() => Place::file(path),
        None => Place::file(&input.root),
    }
}

/// The line of `input` where the lines of `made` from `line` on stand, as many of them as it takes to be sure.
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
