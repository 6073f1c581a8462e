//! Autodiscovery text of AOCL 14.1 to 18.1, Standard Edition, in the form that the open runtime reads.
//!
//! The text describes a board and the kernels in it: words, separated by blanks. The runtime reads version 23 only.
//! Boards and packages of AOCL 14.1 and 15.x have version 13, those of 16.x to 18.1 version 14. The Pro Edition has
//! versions of its own: 18.1.2 writes 17, which is not rewritten. Version 23 has more words, and a count before each
//! group of words.

use sha2::{Digest, Sha256};
use std::fmt;
use std::fmt::Write;
use std::str::SplitAsciiWhitespace;

/// The version that the runtime reads.
const NEW: u32 = 23;
/// The version that AOCL 18.1.2 Pro writes, for boards that are not supported.
pub const PRO: u32 = 17;

/// Address spaces of a kernel's argument: none, local, global, constant.
const LOCAL: u64 = 1;

/// Alignment that the runtime gives a pointer's memory, in bytes.
const POINTER_ALIGNMENT: u64 = 1024;

/// Place of the bank divider's register in the kernel interface (`acl_kernel_interface`, `mem_org_mode`), for boards
/// with several banks.
const MEMORY_ORGANISATION: u64 = 0x18;

/// Text that cannot be rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpgradeError {
    /// It is of another version: only 13 and 14 are known.
    Version(String),
    /// It ends early.
    Short {
        /// The expected word.
        what: &'static str,
        /// Words of the text.
        words: usize,
    },
    /// A word is not a number, or is too large.
    Number {
        /// The expected number.
        what: &'static str,
        /// Its place, from 1 on.
        place: usize,
        /// The word.
        word: String,
    },
    /// Words are left.
    Long {
        /// Place of the first of them, from 1 on.
        place: usize,
    },
}

impl fmt::Display for UpgradeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("autodiscovery text: ")?;
        match self {
            Self::Version(word) => {
                write!(f, "version \"{word}\" is neither 13 nor 14")?;
                match version(word) {
                    Some(PRO) => f.write_str(", but the Pro Edition's"),
                    _ => Ok(()),
                }
            }
            Self::Short { what, words } => {
                write!(f, "it ends after {words} words, before {what}")
            }
            Self::Number { what, place, word } => {
                write!(f, "word {place} (\"{word}\") is not a number: {what}")
            }
            Self::Long { place } => write!(f, "word {place} and later words have no meaning"),
        }
    }
}

impl std::error::Error for UpgradeError {}

/// Returns the version of a text; `None`: it is not autodiscovery text.
pub fn version(text: &str) -> Option<u32> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Rewrites autodiscovery text of version 13 or 14 as version 23. The hash by which the runtime distinguishes
/// configurations is made from the old text.
///
/// # Errors
/// The first word that is wrong.
pub fn upgrade(old: &str) -> Result<String, UpgradeError> {
    rewrite(old, hash(old, &[]))
}

/// Rewrites text with this hash.
pub(crate) fn rewrite(old: &str, hash: String) -> Result<String, UpgradeError> {
    let mut words = Words {
        words: old.split_ascii_whitespace(),
        place: 0,
    };
    let version = match words.text("the version")? {
        "13" => 13,
        "14" => 14,
        word => return Err(UpgradeError::Version(word.into())),
    };
    let board = words.text("the board's name")?;
    words.text("the fabric")?;
    let big_endian = words.number("the order of bytes")?;
    let memory = memory(&mut words)?;
    words.number("the allocation of memory")?;
    let kernels = words.number("the number of kernels")?;
    let mut groups = Vec::new();
    for _ in 0..kernels {
        groups.push(kernel(&mut words, version)?);
    }
    words.end()?;

    let mut device = vec![hash, board.into()];
    // One memory.
    device.extend([big_endian.to_string(), "1".into()]);
    group(&mut device, memory);
    // Host pipes and their fields; names of arguments; device globals and their fields; a root of the
    // kernels' register ring; mappings of pipes and their fields; sideband signals.
    device.extend(["0", "0", "0", "0", "0", "1", "0", "0", "0"].map(String::from));
    let mut text = vec![NEW.to_string()];
    group(&mut text, device);
    text.push(kernels.to_string());
    for kernel in groups {
        group(&mut text, kernel);
    }
    Ok(text.join(" "))
}

/// Appends words with their number before them.
fn group(to: &mut Vec<String>, words: Vec<String>) {
    to.push(words.len().to_string());
    to.extend(words);
}

/// Computes 40 hexadecimal digits that identify the text and the code.
pub(crate) fn hash(text: &str, code: &[u8]) -> String {
    let digest = Sha256::new()
        .chain_update(text.trim())
        .chain_update(code)
        .finalize();
    let mut hash = String::new();
    for byte in &digest[..20] {
        // A write to a string does not fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

/// Rewrites the board's memory.
fn memory(words: &mut Words<'_>) -> Result<Vec<String>, UpgradeError> {
    let banks = words.number("the number of banks")?;
    let mut interleaved = true;
    if banks > 1 {
        // Public packages have 1024 here. 0 means that the banks are not interleaved.
        interleaved = words.number("the interleaving")? > 0;
    }
    // Its name, its kind (the board's own), its banks.
    let mut memory = vec!["DDR".into(), "2".into(), banks.to_string()];
    if banks > 1 {
        memory.push(MEMORY_ORGANISATION.to_string());
        memory.push(u8::from(interleaved).to_string());
    }
    // Number of fields of each bank.
    memory.push("2".into());
    for _ in 0..banks {
        memory.push(words.text("the start of a bank")?.into());
        memory.push(words.text("the end of a bank")?.into());
    }
    // Its allocation, its port, its users, its number.
    memory.extend(["0", "-", "0", "-"].map(String::from));
    Ok(memory)
}

/// Rewrites a kernel.
fn kernel(words: &mut Words<'_>, version: u32) -> Result<Vec<String>, UpgradeError> {
    let mut kernel: Vec<String> = Vec::new();
    kernel.push(words.text("a kernel's name")?.into());
    kernel.push(words.text("the address of a kernel's registers")?.into());
    kernel.push(words.text("the size of a kernel's registers")?.into());
    words.text("a kernel's first performance monitor")?;
    words.text("a kernel's last performance monitor")?;
    // No launches wait in the hardware, and there is no performance monitor.
    kernel.extend(["0", "0", "0"].map(String::from));
    kernel.push(words.text("a kernel's work-group invariance")?.into());
    // The work-items of old kernels vary.
    kernel.push("0".into());
    kernel.push(words.text("a kernel's lanes")?.into());
    kernel.push(words.text("a kernel's words of profile")?.into());
    let arguments = words.number("a kernel's number of arguments")?;
    kernel.push(arguments.to_string());
    for _ in 0..arguments {
        group(&mut kernel, argument(words)?);
    }
    for what in ["a kernel's formats of printf", "a kernel's local memories"] {
        let count = words.number(what)?;
        // Each consists of two words.
        kernel.push(count.to_string());
        kernel.push("2".into());
        for _ in 0..count {
            kernel.push(words.text(what)?.into());
            kernel.push(words.text(what)?.into());
        }
    }
    for _ in 0..3 {
        kernel.push(words.text("a kernel's required work-group size")?.into());
    }
    // The largest work-group, as one value; the runtime keeps it in an int.
    let largest = words.number("a kernel's largest work-group size")?;
    kernel.push("1".into());
    kernel.push(largest.min(i32::MAX as u64).to_string());
    kernel.push(match version {
        14 => words.text("a kernel's dimensions")?.into(),
        _ => "3".into(),
    });
    // No global offset, no SYCL, no streaming control.
    kernel.extend(["0", "0", "0"].map(String::from));
    Ok(kernel)
}

/// Rewrites an argument of a kernel.
fn argument(words: &mut Words<'_>) -> Result<Vec<String>, UpgradeError> {
    let space = words.number("an argument's address space")?;
    let category = words.number("an argument's category")?;
    let bytes = words.number("an argument's size")?;
    let pointer = category == 1 && space > LOCAL;
    let alignment = if pointer { POINTER_ALIGNMENT } else { 1 };
    let mut argument: Vec<String> = [space, category, bytes, alignment]
        .map(|word| word.to_string())
        .into();
    // Locations of its buffer.
    argument.push("0".into());
    if space == LOCAL {
        argument.push(words.text("a local argument's memory")?.into());
        argument.push(words.text("a local argument's size")?.into());
    }
    // No type qualifier, no stream.
    argument.extend(["0", "0"].map(String::from));
    Ok(argument)
}

/// Words that are read one by one.
struct Words<'a> {
    words: SplitAsciiWhitespace<'a>,
    /// Words read so far.
    place: usize,
}

impl<'a> Words<'a> {
    fn text(&mut self, what: &'static str) -> Result<&'a str, UpgradeError> {
        let words = self.place;
        let word = self.words.next();
        self.place += 1;
        word.ok_or(UpgradeError::Short { what, words })
    }

    fn number(&mut self, what: &'static str) -> Result<u64, UpgradeError> {
        let word = self.text(what)?;
        word.parse().map_err(|_| UpgradeError::Number {
            what,
            place: self.place,
            word: word.into(),
        })
    }

    fn end(&mut self) -> Result<(), UpgradeError> {
        match self.words.next() {
            None => Ok(()),
            Some(_) => Err(UpgradeError::Long {
                place: self.place + 1,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
