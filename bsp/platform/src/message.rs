//! Messages of errors and diagnostics: their paths stay paths until they are printed.

use std::fmt;
use std::path::{Path, PathBuf};

/// A sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Path(PathBuf),
}

impl Message {
    /// Appends a text, a path, or another message.
    pub fn then(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// Puts blanks in place of line ends and other control characters, which words from a file may have.
    pub(crate) fn on_one_line(mut self) -> Self {
        for part in &mut self.0 {
            if let Part::Text(text) = part {
                *text = text.replace(char::is_control, " ");
            }
        }
        self
    }

    /// Changes each path.
    pub fn map_paths(&mut self, to: impl Fn(&Path) -> PathBuf) {
        for part in &mut self.0 {
            if let Part::Path(path) = part {
                *path = to(path);
            }
        }
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self(vec![Part::Text(text)])
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

impl From<&Path> for Message {
    fn from(path: &Path) -> Self {
        Self(vec![Part::Path(path.to_path_buf())])
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Path(path) => f.write_str(&path.to_string_lossy().replace(char::is_control, " ")),
        })
    }
}

/// Returns the name of a path after the directory `from` has moved to `to`; a path elsewhere stays.
pub fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        // `join` with an empty path would end in a slash.
        Ok(inside) if inside.as_os_str().is_empty() => to.to_path_buf(),
        Ok(inside) => to.join(inside),
        Err(_) => path.to_path_buf(),
    }
}
