// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of a board: a text that `peerlane extend` writes next to the extended platform.
//!
//! Software must know where the block's registers lie before it can ask the block anything. So the description is a file
//! that is found by the board's PCI IDs. A driver believes it only if the hardware confirms it: `BUILD_ID` is a hash of
//! the lines `map` and `block`, and the line `block` has a hash of all lines after it. The lines before them are for
//! finding the file and for messages.
//!
//! ```text
//! peerlane board 1
//! name de5net_peerlane
//! pci 1172:ab00:*:504c
//! map 393ee6af
//! block port=txs irq=rxm [...] bar=2 csr=0x3000 chan=0x20000 att=0x28000 msix=none window=0x10000 shell=0badcafe
//! memory 0x100000000
//! clock 250000000
//! line 0x8000 1 0
//! kernels 0x4000 0x4000
//! ```
//!
//! A file may have several descriptions, one after the other: those of different builds for boards with the same IDs.

use super::places::Places;
use super::shell::{Area, Line, OpenCl, Range};
use core::fmt;

/// The first line of a description: its format.
pub const HEADER: &str = "peerlane board 1";

/// The directory of the descriptions, in one of the directories where the kernel looks for firmware.
pub const DIRECTORY: &str = "peerlane";

/// ID of the subsystem of every board that `peerlane extend` makes, unless its configuration says otherwise: "PL".
pub const SUBDEVICE: u16 = 0x504c;

/// Words of the line `block` that give the number of the BAR and the hash of the lines after it.
const BAR: &str = "bar";
const SHELL: &str = "shell";

/// PCI IDs by which a description is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ids {
    /// Vendor ID.
    pub vendor: u16,
    /// Device ID.
    pub device: u16,
    /// Vendor ID of the subsystem. `None`: any.
    pub subvendor: Option<u16>,
    /// ID of the subsystem. `None`: any.
    pub subdevice: Option<u16>,
}

/// The name of the file with the descriptions of the boards with these IDs, in [`DIRECTORY`].
#[derive(Debug, Clone, Copy)]
pub struct FileName(pub Ids);

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = &self.0;
        write!(f, "{:04x}-{:04x}-", ids.vendor, ids.device)?;
        match ids.subdevice {
            Some(id) => write!(f, "{id:04x}.board"),
            None => f.write_str("any.board"),
        }
    }
}

/// The parts of a board that are not the block's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shell {
    /// Bytes of FPGA memory, from address 0 on.
    pub memory: u64,
    /// Frequency of the hard IP's clock, in hertz.
    pub clock: u64,
    /// The hard IP's interrupt input. `None`: the block has a table of vectors.
    pub line: Option<Line>,
    /// The OpenCL side.
    pub opencl: OpenCl,
}

/// A description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board<'a> {
    /// Name of the extended platform.
    pub name: &'a str,
    /// Its PCI IDs.
    pub ids: Ids,
    /// `MAP_ID` of its block.
    pub map_id: u32,
    /// Parameters of its block, which end with the hash of the shell.
    pub block: &'a str,
    /// The `BUILD_ID` that the hardware must report.
    pub build_id: u32,
    /// The parts that are not the block's own.
    pub shell: Shell,
}

/// Reasons why a text is not a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardError {
    /// The first line is another: the format is of another version, or it is another file.
    Header,
    /// A line that must be there is missing.
    Missing {
        /// Its first word.
        line: &'static str,
    },
    /// A line cannot be understood, or is there twice.
    Line {
        /// Its number in the file, from 1 on.
        number: usize,
    },
    /// The line `block` lacks a word, or its value cannot be understood.
    Block {
        /// The word.
        word: &'static str,
    },
    /// The lines after `block` are not those that the block was built with.
    Altered,
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => write!(f, "the first line is not \"{HEADER}\""),
            Self::Missing { line } => write!(f, "there is no line \"{line}\""),
            Self::Line { number } => write!(f, "line {number} cannot be understood"),
            Self::Block { word } => write!(f, "the line \"block\" has no usable {word}="),
            Self::Altered => f.write_str("the lines after \"block\" were changed"),
        }
    }
}

impl core::error::Error for BoardError {}

/// SHA-256, which the caller provides.
pub type Sha256 = fn(&[u8]) -> [u8; 32];

/// Returns the first 32 bits of the SHA-256, or of the SHA-256 of that, until they are neither 0 nor all ones: a device
/// that is absent or dead reads as these.
pub fn hash(sha256: Sha256, bytes: &[u8]) -> u32 {
    let mut digest = sha256(bytes);
    loop {
        let [a, b, c, d, ..] = digest;
        let value = u32::from_be_bytes([a, b, c, d]);
        if value != 0 && value != u32::MAX {
            return value;
        }
        digest = sha256(&digest);
    }
}

/// Splits a file into its descriptions, each with the number of lines before it.
pub fn descriptions(file: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = file;
    let mut before = 0;
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The next header after the first line.
        let mut end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        while !rest[end..].is_empty() && !rest[end..].starts_with(HEADER) {
            end += rest[end..].find('\n').map_or(rest.len() - end, |at| at + 1);
        }
        let (one, after) = rest.split_at(end);
        let start = before;
        before += one.lines().count();
        rest = after;
        Some((start, one))
    })
}

impl<'a> Board<'a> {
    /// Reads one description, whose first line is the file's line `before` + 1, and checks the hash of its shell.
    pub fn parse(text: &'a str, before: usize, sha256: Sha256) -> Result<Self, BoardError> {
        let mut lines = Lines {
            rest: text,
            number: before,
        };
        if lines.next().map(|line| line.text) != Some(HEADER) {
            return Err(BoardError::Header);
        }
        let name = lines.expect("name")?.1;
        let (line, ids) = lines.expect("pci")?;
        let ids = Ids::parse(ids).ok_or(line.error())?;
        let hashed = lines.rest;
        let (line, map) = lines.expect("map")?;
        let map_id = u32::from_str_radix(map, 16).map_err(|_| line.error())?;
        let (_, block) = lines.expect("block")?;
        let shell = lines.rest;
        let hashed = &hashed[..hashed.len() - shell.len()];
        let board = Self {
            name,
            ids,
            map_id,
            block,
            build_id: hash(sha256, hashed.as_bytes()),
            shell: Shell::parse(lines)?,
        };
        board.places()?;
        let expected = board
            .word(SHELL)
            .and_then(|word| u32::from_str_radix(word, 16).ok());
        let expected = expected.ok_or(BoardError::Block { word: SHELL })?;
        match hash(sha256, shell.as_bytes()) == expected {
            true => Ok(board),
            false => Err(BoardError::Altered),
        }
    }

    /// Returns the value of a word of the line `block`.
    pub fn word(&self, name: &str) -> Option<&'a str> {
        let words = self.block.split(' ');
        let mut pairs = words.filter_map(|word| word.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Returns the number of the BAR with the slaves.
    pub fn bar(&self) -> Result<u32, BoardError> {
        let bar = self.word(BAR).and_then(|word| word.parse().ok());
        let bar = bar.filter(|bar| *bar < 6);
        bar.ok_or(BoardError::Block { word: BAR })
    }

    /// Returns the places of the block's slaves in the BAR.
    pub fn places(&self) -> Result<Places, BoardError> {
        self.bar()?;
        let place = |word| {
            let at = self.word(word).and_then(hexadecimal);
            at.ok_or(BoardError::Block { word })
        };
        let optional = |word| match self.word(word) {
            Some("none") => Ok(None),
            _ => place(word).map(Some),
        };
        Ok(Places {
            csr: place("csr")?,
            chan: place("chan")?,
            att: place("att")?,
            msix: optional("msix")?,
            window: optional("window")?,
        })
    }
}

/// The lines of which `BUILD_ID` is the hash: `MAP_ID`, and the parameters of the block.
#[derive(Debug, Clone, Copy)]
pub struct Hashed<'a>(pub u32, pub &'a str);

impl fmt::Display for Hashed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(map_id, block) = self;
        writeln!(f, "map {map_id:08x}")?;
        writeln!(f, "block {block}")
    }
}

impl fmt::Display for Board<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        writeln!(f, "name {}", self.name)?;
        writeln!(f, "pci {}", self.ids)?;
        write!(f, "{}", Hashed(self.map_id, self.block))?;
        write!(f, "{}", self.shell)
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "memory {:#x}", self.memory)?;
        writeln!(f, "clock {}", self.clock)?;
        if let Some(line) = self.line {
            write!(f, "line {:#x} {}", line.cra, line.block)?;
            match line.kernels {
                Some(kernels) => writeln!(f, " {kernels}")?,
                None => writeln!(f, " none")?,
            }
        }
        for area in Area::ALL {
            if let Some(Range { offset, bytes }) = self.opencl.range(area) {
                writeln!(f, "{} {offset:#x} {bytes:#x}", key(area))?;
            }
        }
        Ok(())
    }
}

/// Returns the first word of an area's line.
const fn key(area: Area) -> &'static str {
    match area {
        Area::Kernels => "kernels",
        Area::Clock => "kernel_clock",
        Area::Version => "version",
        Area::Temperature => "temperature",
        Area::Status => "status",
    }
}

impl Shell {
    fn parse(lines: Lines<'_>) -> Result<Self, BoardError> {
        let mut memory = None;
        let mut clock = None;
        let mut interrupts = None;
        let mut opencl = OpenCl::default();
        for line in lines {
            let read = |read: bool| if read { Ok(()) } else { Err(line.error()) };
            let (first, rest) = line.text.split_once(' ').ok_or(line.error())?;
            let range = || {
                let (offset, bytes) = rest.split_once(' ')?;
                let range = Range {
                    offset: hexadecimal(offset)?,
                    bytes: hexadecimal(bytes)?,
                };
                Some(range)
            };
            match first {
                "memory" => read(fill(&mut memory, hexadecimal(rest)))?,
                "clock" => read(fill(&mut clock, rest.parse().ok()))?,
                "line" => read(fill(&mut interrupts, parse_line(rest)))?,
                "kernels" => read(fill(&mut opencl.kernels, range()))?,
                "kernel_clock" => read(fill(&mut opencl.clock, range()))?,
                "version" => read(fill(&mut opencl.version, range()))?,
                "temperature" => read(fill(&mut opencl.temperature, range()))?,
                "status" => read(fill(&mut opencl.status, range()))?,
                _ => return Err(line.error()),
            }
        }
        Ok(Self {
            memory: memory.ok_or(BoardError::Missing { line: "memory" })?,
            clock: clock.ok_or(BoardError::Missing { line: "clock" })?,
            line: interrupts,
            opencl,
        })
    }
}

/// Sets a value that was not set before. Returns whether that was possible.
fn fill<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    let possible = slot.is_none() && value.is_some();
    if possible {
        *slot = value;
    }
    possible
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

fn parse_line(words: &str) -> Option<Line> {
    let (cra, lines) = words.split_once(' ')?;
    let (block, kernels) = lines.split_once(' ')?;
    let number = |word: &str| word.parse().ok().filter(|line| *line < super::shell::LINES);
    Some(Line {
        cra: hexadecimal(cra)?,
        block: number(block)?,
        kernels: match kernels {
            "none" => None,
            kernels => Some(number(kernels)?),
        },
    })
}

impl Ids {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(':').map(|word| match word {
            "*" => Some(None),
            id if id.len() == 4 => u16::from_str_radix(id, 16).ok().map(Some),
            _ => None,
        });
        let ids = Self {
            vendor: words.next()???,
            device: words.next()???,
            subvendor: words.next()??,
            subdevice: words.next()??,
        };
        words.next().is_none().then_some(ids)
    }
}

impl fmt::Display for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.device)?;
        for id in [self.subvendor, self.subdevice] {
            match id {
                Some(id) => write!(f, ":{id:04x}")?,
                None => f.write_str(":*")?,
            }
        }
        Ok(())
    }
}

/// A line of the text.
#[derive(Clone, Copy)]
struct TextLine<'a> {
    number: usize,
    text: &'a str,
}

impl TextLine<'_> {
    fn error(&self) -> BoardError {
        BoardError::Line {
            number: self.number,
        }
    }
}

/// The lines of a text that have not been read yet.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = TextLine<'a>;

    fn next(&mut self) -> Option<TextLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (text, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.number += 1;
        Some(TextLine {
            number: self.number,
            text,
        })
    }
}

impl<'a> Lines<'a> {
    /// Returns the next line, which must begin with a word, and the text after the word.
    fn expect(&mut self, first: &'static str) -> Result<(TextLine<'a>, &'a str), BoardError> {
        let line = self.next().ok_or(BoardError::Missing { line: first })?;
        let rest = line.text.strip_prefix(first);
        let rest = rest.and_then(|rest| rest.strip_prefix(' '));
        let rest = rest.filter(|rest| !rest.is_empty());
        Ok((line, rest.ok_or(BoardError::Missing { line: first })?))
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
