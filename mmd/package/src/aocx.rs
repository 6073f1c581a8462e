//! Packages: `.aocx` files.

use crate::elf::{Elf, ElfError, Header};
use crate::upgrade::{self, PRO, UpgradeError, hash, rewrite, version};

/// The section with the autodiscovery text.
pub const AUTODISCOVERY: &str = ".acl.autodiscovery";
/// The section with the name of the board that the package is for.
pub const BOARD: &str = ".acl.board";
/// The section with the FPGA's configuration, `fpga.bin`.
pub const CODE: &str = ".acl.fpga.bin";

/// The version of the text that the open runtime reads.
const NEW: u32 = 23;
/// Alignment that `aoc` gives its sections, in bytes.
const ALIGNMENT: usize = 128;
/// No section is aligned to more than this.
const MOST_ALIGNMENT: u64 = 1 << 16;

/// The reason why a package was not rewritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackageError {
    /// An error of the file's format.
    #[error(transparent)]
    Format(#[from] ElfError),
    /// A section that every package for an FPGA has is missing.
    #[error("it has no section {0}")]
    Missing(&'static str),
    /// A section is there twice.
    #[error("it has two sections {0}")]
    Twice(&'static str),
    /// A section is not text.
    #[error("the section {0} is not text")]
    NoText(&'static str),
    /// The package needs no change.
    #[error("its autodiscovery text is of version {NEW} already")]
    New,
    /// An error of the text.
    #[error("{0}")]
    Text(UpgradeError),
    /// The file would be larger than its format allows.
    #[error("it is too large: a file of 32 bits ends at 4 GiB")]
    Large,
}

impl PackageError {
    /// Returns a hint: a sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Format(ElfError::Short { .. }) => {
                "Copy the file again, or compile the kernels again."
            }
            Self::Format(_) | Self::Twice(_) | Self::NoText(_) => {
                "Pass the .aocx file that aoc wrote, without changes."
            }
            Self::Missing(_) => {
                "Pass an .aocx file that was compiled for a board: an .aoco, an fpga.bin and a package for the \
                 emulator or a simulator have nothing to rewrite."
            }
            Self::New => "The open runtime reads it without changes: there is nothing to do.",
            Self::Text(UpgradeError::Version(word)) if version(word) == Some(PRO) => {
                "The Pro Edition and its boards are not supported. For a board that `peerlane extend` supports, \
                 compile the kernels with AOCL's Standard Edition, 14.1 to 18.1, in the version of the board's BSP."
            }
            Self::Text(UpgradeError::Version(_)) => {
                "Packages of AOCL 14.1 to 18.1, Standard Edition, can be rewritten: compile the kernels with one of \
                 these versions, if the board's BSP is for it. Boards and kernels of 13.1 and 14.0 need the SDK's own \
                 runtime (docs/program/opencl.md, \"Which board with which runtime\")."
            }
            Self::Text(_) => {
                "Compile the kernels again; if that does not help, report the text of the section."
            }
            Self::Large => "Compile fewer kernels into one package.",
        }
    }
}

/// A package that was rewritten.
#[derive(Debug)]
pub struct Upgraded {
    /// The new file.
    pub file: Vec<u8>,
    /// The version that its text had.
    pub version: u32,
    /// The board that it is for, if the package has it.
    pub board: Option<String>,
}

/// Returns a section's text: the bytes before the first 0, without blanks around them. `None`: no such section, or not
/// text.
pub fn text<'a>(file: &'a [u8], name: &str) -> Option<&'a str> {
    words(crate::elf::section(file, name)?)
}

fn words(content: &[u8]) -> Option<&str> {
    let end = content.iter().position(|byte| *byte == 0);
    let content = &content[..end.unwrap_or(content.len())];
    std::str::from_utf8(content).ok().map(str::trim)
}

/// Rewrites a package of AOCL 14.1 to 18.1, Standard Edition, so that the open runtime reads it: its autodiscovery text
/// becomes one of version 23. All other bytes stay where they are: the new text is at the end of the file, and no
/// section names the old place any more.
///
/// The runtime takes two packages with one hash for one configuration of the FPGA, and does not program the second
/// after the first. Old text has no hash, and kernels of one interface have one text. So the hash is made from the text
/// and the configuration. It is never that of a board's own text, so the runtime programs the board once in each
/// process, after any earlier configuration.
///
/// # Errors
/// The fault of the package; [`PackageError::New`] if it needs no change.
pub fn upgrade_package(file: &[u8]) -> Result<Upgraded, PackageError> {
    let elf = Elf::read(file)?;
    elf.check()?;
    let (header, old) = section(&elf, file, AUTODISCOVERY)?;
    let (_, code) = section(&elf, file, CODE)?;
    let old = words(old).ok_or(PackageError::NoText(AUTODISCOVERY))?;
    let version = upgrade::version(old).unwrap_or(0);
    if version == NEW {
        return Err(PackageError::New);
    }
    let new = rewrite(old, hash(old, code)).map_err(PackageError::Text)?;
    let board = text(file, BOARD).map(str::to_string);

    let mut made = file.to_vec();
    let alignment = header.alignment.clamp(1, MOST_ALIGNMENT) as usize;
    made.resize(file.len().next_multiple_of(alignment.max(ALIGNMENT)), 0);
    let begin = made.len();
    made.extend(new.bytes());
    let content = begin..made.len();
    elf.place(&mut made, &header, &content)
        .ok_or(PackageError::Large)?;
    Ok(Upgraded {
        file: made,
        version,
        board,
    })
}

/// Finds the one section of a name, which must have bytes.
fn section<'a>(
    elf: &Elf<'_>,
    file: &'a [u8],
    name: &'static str,
) -> Result<(Header, &'a [u8]), PackageError> {
    let headers = (0..elf.count).filter_map(|index| elf.header(index));
    let mut found = headers.filter(|header| elf.name(header) == Some(name.as_bytes()));
    let header = found.next().ok_or(PackageError::Missing(name))?;
    if found.next().is_some() {
        return Err(PackageError::Twice(name));
    }
    let content = elf.content(&header).and_then(|range| file.get(range));
    match content.filter(|content| !content.is_empty()) {
        Some(content) => Ok((header, content)),
        None => Err(PackageError::Missing(name)),
    }
}

#[cfg(test)]
mod tests;
