//! The error type of the crates of BSPs: the fault, its place, and a hint.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::hint::Hint;
use crate::key::Key;
use crate::message::{Message, moved};

/// Result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, for callers that act on it. People read the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The directory given is not the hardware directory of an OpenCL BSP.
    NotABsp,
    /// A file is not well-formed XML, or not the Platform Designer system it should be.
    BadXml,
    /// No instance of kind `acl_dma` in the BSP.
    NoDma,
    /// More than one instance of kind `acl_dma`.
    SeveralDmas,
    /// The BSP holds a `peerlane_dma` already.
    AlreadyExtended,
    /// No PCIe hard IP with an Avalon-MM interface next to the DMA block.
    NoPcie,
    /// The design has a shape that this command does not extend.
    Unsupported,
    /// The configuration file is wrong.
    Config,
    /// The output cannot be written there.
    Output,
    /// A link or special file that cannot be copied faithfully.
    Link,
    /// Reading or writing a file failed.
    Io,
    /// A file that Peerlane wrote does not agree with another one.
    Inconsistent,
    /// A tool that the check needs could not run.
    Tool,
    /// Files that Peerlane wrote have changed since.
    Edited,
    /// A signal asked for an early end.
    Interrupted,
}

/// A place in a file, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File or directory.
    pub path: PathBuf,
    /// Line, counted from 1.
    pub line: Option<usize>,
}

impl Place {
    /// Makes the place of a whole file or directory.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_path_buf(),
            line: None,
        }
    }

    /// Makes the place of a line of a file.
    pub fn line(path: impl AsRef<Path>, line: usize) -> Self {
        Self {
            path: path.as_ref().to_path_buf(),
            line: Some(line),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// Lines below the sentence of an error.
#[derive(Debug, Clone, Default)]
pub struct Below {
    /// All problems, if the error is the first of several.
    pub all: Vec<Error>,
    /// Details, one line each.
    pub details: Vec<String>,
}

/// An error with its place and a hint. It is shown as one paragraph.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The place.
    pub place: Place,
    /// The fault.
    pub what: Message,
    /// The hint.
    pub hint: Hint,
    /// The lines below the sentence; usually none.
    pub below: Box<Below>,
    /// The key of the configuration that asks for something impossible, if there is one.
    pub key: Option<Key>,
    /// Whether the faulty value was read from an existing file: then a missing file is not the cause.
    pub was_read: bool,
}

/// Returns the reason of a failed read or write. `tempfile` appends the name of its temporary file, which means nothing
/// to the user; its error gives the system's error in no other way.
pub fn reason(source: &std::io::Error) -> String {
    let text = source.to_string();
    match text.split_once(" at path \"") {
        Some((reason, _)) => reason.into(),
        None => text,
    }
}

impl Error {
    /// Makes an error; `what` has no full stop at its end, `hint` has one.
    pub fn new(
        kind: ErrorKind,
        place: Place,
        what: impl Into<Message>,
        hint: impl Into<Hint>,
    ) -> Self {
        Self {
            kind,
            place,
            what: what.into().on_one_line(),
            hint: hint.into(),
            below: Box::default(),
            key: None,
            was_read: false,
        }
    }

    /// Sets the key of the configuration whose line shows the error.
    pub fn of_key(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    /// Marks the error as one about a value that was read from an existing file.
    pub fn of_a_value(mut self) -> Self {
        self.was_read = true;
        self
    }

    /// Changes all paths.
    pub fn map_paths(mut self, to: &dyn Fn(&Path) -> PathBuf) -> Self {
        self.place.path = to(&self.place.path);
        self.what.map_paths(to);
        let all = std::mem::take(&mut self.below.all);
        self.below.all = (all.into_iter().map(|one| one.map_paths(to))).collect();
        self
    }

    /// Replaces a canonical path by the path that the caller gave.
    pub fn named_as_given(self, canonical: &Path, given: &Path) -> Self {
        self.map_paths(&|path| moved(path, canonical, given))
    }

    /// Sets the details of the sentence.
    pub fn with_details(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.below.details = details.into_iter().collect();
        self
    }

    /// Makes the error of a failed read, write or copy of `path`.
    pub fn io(path: impl AsRef<Path>, doing: &str, source: &std::io::Error) -> Self {
        use std::io::ErrorKind as Cause;
        let hint = match source.kind() {
            Cause::StorageFull | Cause::QuotaExceeded | Cause::FileTooLarge => Hint::FreeSpace,
            Cause::PermissionDenied => {
                "Get the permission for that, or run the command as a user who has it.".into()
            }
            Cause::ReadOnlyFilesystem => "Choose a writable place.".into(),
            Cause::NotFound => "Check the path, then run the command again.".into(),
            _ => "Check the path, the permissions and the disk, then run the command again.".into(),
        };
        Self::new(
            ErrorKind::Io,
            Place::file(path),
            format!("cannot {doing}: {}", reason(source)),
            hint,
        )
    }

    /// Makes the error of a failed copy: of the source, unless there is no room for the destination.
    pub fn copy(from: &Path, to: &Path, source: &std::io::Error) -> Self {
        let full = Self::io(to, "write the file", source);
        match full.hint == Hint::FreeSpace {
            true => full,
            false => Self::io(from, "copy the file", source),
        }
    }

    /// Returns the message as a paragraph.
    pub fn paragraph(&self) -> String {
        format!("{self}. {}", self.hint)
    }

    /// Returns the text that the command prints: the paragraph, and below it all problems and the details.
    pub fn message(&self) -> String {
        let all = self.below.all.iter().map(Self::paragraph);
        let lines = all.chain(self.below.details.iter().cloned());
        let below = lines.map(|line| format!("\n  {}", line.replace(char::is_control, " ")));
        self.paragraph() + &below.collect::<String>()
    }
}

/// All problems of one operation, to report them at once.
#[derive(Debug, Default)]
pub struct Problems(Vec<Error>);

impl Problems {
    /// Adds a problem.
    pub fn add(&mut self, error: Error) {
        self.0.push(error);
    }

    /// Returns a value, or adds the error.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// Returns the number of problems so far.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Merges the problems into one error: the only one as it is, or the first with all of them.
    ///
    /// # Errors
    /// If there is a problem.
    pub fn settle(mut self, against: &str) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        if self.0.len() == 1 {
            return Err(self.0.remove(0));
        }
        let mut first = self.0[0].clone();
        let count = self.0.len();
        let what = format!("{count} reasons prevent {against}, one a line below; the first: ");
        first.what = Message::from(what).then(first.what);
        first.was_read = self.0.iter().all(|error| error.was_read);
        first.below.all = self.0;
        Err(first)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// `ENOSPC` and `EDQUOT` are about the destination, `EACCES` may be about either; numbers of Linux, `errno(3)`.
    #[test]
    fn a_full_disk_is_told_from_other_failures() {
        let (from, to) = (Path::new("a"), Path::new("b"));
        for (number, place, word) in [
            (28, "b", "Free space"),
            (122, "b", "Free space"),
            (13, "a", "permission"),
            (5, "a", "the disk"),
        ] {
            let error = Error::copy(from, to, &io::Error::from_raw_os_error(number));
            assert_eq!(error.place, Place::file(place), "{error}");
            assert!(error.paragraph().contains(word), "{}", error.paragraph());
        }
    }
}
