//! The shared libraries that a file is linked with, and theirs.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Error, Result, error::io_error};

/// A shared library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// Path in the machine.
    pub(crate) place: String,
    /// Path on this computer.
    pub(crate) found: PathBuf,
}

/// Place of the loader in Debian's packages for x86-64, and of the libraries.
pub(crate) const LOADER: &str = "lib64/ld-linux-x86-64.so.2";
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// Returns all libraries that the loader would load for a file, including the loader itself, as `ldd` lists them.
pub(crate) fn of(file: &Path) -> Result<Vec<Library>> {
    listed(Command::new("ldd"), file)
}

/// Does the same for a file of an unpacked Debian, with its loader.
pub(crate) fn of_debian(root: &Path, file: &Path) -> Result<Vec<Library>> {
    let mut command = Command::new(root.join("usr").join(LOADER));
    command
        .arg("--library-path")
        .arg(root.join(LIBRARIES))
        .arg("--list");
    listed(command, file)
}

fn listed(mut command: Command, file: &Path) -> Result<Vec<Library>> {
    let output = command.arg(file).output();
    let output = output.map_err(io_error("run", command.get_program()))?;
    let failed = |reason: String| Error::Libraries {
        file: file.to_owned(),
        reason,
    };
    match output.status.success() {
        true => parse(&String::from_utf8_lossy(&output.stdout)).map_err(failed),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

/// Parses the output of `ldd`: `NAME => PATH (ADDRESS)` for a library, `PATH (ADDRESS)` for the loader, and `NAME
/// (ADDRESS)` for a library that the kernel provides (ldd(1)).
fn parse(said: &str) -> Result<Vec<Library>, String> {
    let mut libraries = Vec::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (place, found) = match *words.as_slice() {
            [_, "=>", "not", "found"] => return Err(line.trim().to_owned()),
            // A name with a directory is the loader's, which programs name by its path.
            [path, "=>", found, ..] if path.starts_with('/') => (path.to_owned(), found),
            [name, "=>", found, ..] => (format!("/lib/{name}"), found),
            [path, _] if path.starts_with('/') => (path.to_owned(), path),
            _ => continue,
        };
        libraries.push(Library {
            place,
            found: found.into(),
        });
    }
    Ok(libraries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(place: &str, found: &str) -> Library {
        Library {
            place: place.into(),
            found: found.into(),
        }
    }

    #[test]
    fn what_ldd_says() {
        // Of glibc 2.41.
        let said = "\tlinux-vdso.so.1 (0x00007ffd0a9f2000)\n\
                    \tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f1c2a000000)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f1c2a400000)\n";
        let expected = [
            library("/lib/libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1"),
            library("/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"),
        ];
        assert_eq!(parse(said).unwrap(), expected);
        assert_eq!(parse("\tstatically linked\n").unwrap(), []);
        let missing = parse("\tliba.so => not found\n").unwrap_err();
        assert!(missing.contains("liba.so"), "{missing}");
    }
}
