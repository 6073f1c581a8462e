//! The files that `program` and `flash` are given.

use crate::{Failure, Result};
use peerlane_package::{BOARD, CODE, section, text};
use std::path::{Path, PathBuf};

/// An FPGA's configuration, and the board that it was compiled for.
#[derive(Debug)]
pub(crate) struct Image {
    pub bytes: Vec<u8>,
    /// `None`: only packages say so.
    pub board: Option<String>,
}

const AGAIN: &str =
    "Pass the .aocx file that aoc wrote for this board, or the fpga.bin of its compile.";

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Failure::io(path, "be read", &error))
}

impl Image {
    /// From a package, a configuration, or both, in any order.
    ///
    /// # Errors
    /// Files that are neither, or that do not belong together.
    pub(crate) fn of(files: &[PathBuf]) -> Result<Self> {
        let mut package: Option<(&Path, Vec<u8>)> = None;
        let mut code: Option<(&Path, Vec<u8>)> = None;
        for path in files {
            let bytes = read(path)?;
            let place = match section(&bytes, CODE) {
                Some(_) => &mut package,
                None => &mut code,
            };
            if let Some((first, _)) = place {
                let what = format!(
                    "{} and {} are of the same kind",
                    first.display(),
                    path.display()
                );
                return Err(Failure::new(what, AGAIN));
            }
            *place = Some((path, bytes));
        }
        let inside = package.as_ref().and_then(|(_, bytes)| section(bytes, CODE));
        if let (Some(inside), Some((path, code))) = (inside, &code)
            && inside != code
        {
            let what = format!("{} is not the configuration of the package", path.display());
            return Err(Failure::new(what, AGAIN));
        }
        let board = package.as_ref().and_then(|(_, bytes)| text(bytes, BOARD));
        if let (Some((path, _)), None) = (&package, board) {
            let what = format!("{}: the package does not name its board", path.display());
            return Err(Failure::new(what, AGAIN));
        }
        let bytes = inside.map(<[u8]>::to_vec);
        let bytes = bytes.or_else(|| code.as_ref().map(|(_, bytes)| bytes.clone()));
        let bytes = bytes.filter(|bytes| bytes.starts_with(b"\x7fELF"));
        let bytes = bytes.ok_or_else(|| {
            let names: Vec<_> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            let what = format!("{}: not a configuration that aoc packed", names.join(", "));
            Failure::new(what, AGAIN)
        })?;
        Ok(Self {
            bytes,
            board: board.map(str::to_string),
        })
    }

    /// Refuses an image that was compiled for another board than these.
    ///
    /// # Errors
    /// It was.
    pub(crate) fn check_board(&self, boards: &[String]) -> Result<()> {
        match &self.board {
            Some(board) if !boards.is_empty() && !boards.contains(board) => Err(Failure::new(
                format!(
                    "the package was compiled for the board \"{board}\", and this board is \"{}\"",
                    boards.join("\" or \"")
                ),
                "Compile the kernels for this board (aoc -board=NAME; --board NAME before 17.1).",
            )),
            _ => Ok(()),
        }
    }
}
