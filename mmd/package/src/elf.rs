//! Files in the Executable and Linkable Format, as far as `aoc` uses it: named sections.
//!
//! Tool Interface Standard, Executable and Linking Format 1.2 (32 bits); System V ABI, chapter 4 (64 bits).

use std::ops::Range;

/// `SHT_NOBITS`: a section without bytes in the file.
const NO_BITS: u64 = 8;

/// A file that violates the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// It is of another format.
    #[error("it is not an ELF file of 32 or 64 bits with the least significant byte first")]
    Other,
    /// It ends early.
    #[error("it is cut off: {what} should end at byte {end}, and the file has {length} bytes")]
    Short {
        /// The part that is cut off.
        what: String,
        /// First byte after it.
        end: u64,
        /// Bytes of the file.
        length: usize,
    },
    /// Its parts contradict each other.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

/// Returns the section of this name; `None`: it does not exist, or cannot be read.
pub fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let elf = Elf::read(file).ok()?;
    let header = (0..elf.count)
        .filter_map(|index| elf.header(index))
        .find(|header| elf.name(header) == Some(name.as_bytes()))?;
    file.get(elf.content(&header)?)
}

/// A file with a table of sections.
#[derive(Debug)]
pub(crate) struct Elf<'a> {
    file: &'a [u8],
    wide: bool,
    /// Offset of the section headers; the next number is the size of each.
    table: u64,
    size: u64,
    pub(crate) count: u64,
    /// Number of the section with the sections' names.
    names: u64,
}

/// A section's header.
#[derive(Debug)]
pub(crate) struct Header {
    /// Offset of the header itself.
    at: u64,
    name: u64,
    kind: u64,
    offset: u64,
    size: u64,
    pub(crate) alignment: u64,
}

impl<'a> Elf<'a> {
    /// Reads the file's header.
    ///
    /// # Errors
    /// [`ElfError::Other`], [`ElfError::Short`].
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, ElfError> {
        let wide = match *file {
            [0x7f, b'E', b'L', b'F', 1, 1, ..] => false,
            [0x7f, b'E', b'L', b'F', 2, 1, ..] => true,
            _ => return Err(ElfError::Other),
        };
        // e_shoff, e_shentsize, e_shnum, e_shstrndx.
        let [table, size, count, names] = match wide {
            true => [40, 58, 60, 62],
            false => [32, 46, 48, 50],
        };
        let field = |at, width| {
            number(file, at, width).ok_or_else(|| ElfError::Short {
                what: "the file's header".into(),
                end: if wide { 64 } else { 52 },
                length: file.len(),
            })
        };
        Ok(Self {
            file,
            wide,
            table: field(table, if wide { 8 } else { 4 })?,
            size: field(size, 2)?,
            count: field(count, 2)?,
            names: field(names, 2)?,
        })
    }

    /// Checks that all sections lie in the file and do not overlap the file's header and the section headers: then a
    /// header can be changed without any section.
    ///
    /// # Errors
    /// [`ElfError::Short`], [`ElfError::Damaged`].
    pub(crate) fn check(&self) -> Result<(), ElfError> {
        let short = |what: String, end| ElfError::Short {
            what,
            end,
            length: self.file.len(),
        };
        let damaged = |what: &str| ElfError::Damaged(what.into());
        let least = if self.wide { 64 } else { 40 };
        if self.size < least {
            return Err(damaged("its section headers are too small"));
        }
        let table = self.count.checked_mul(self.size);
        let end = table.and_then(|bytes| self.table.checked_add(bytes));
        let end = end.ok_or_else(|| damaged("the place of its section headers is not valid"))?;
        if end > self.file.len() as u64 {
            return Err(short("the table of sections".into(), end));
        }
        let first = if self.wide { 64 } else { 52 };
        if self.count > 0 && self.table < first {
            return Err(damaged("its section headers lie in the file's header"));
        }
        let headers = (0..self.count).filter_map(|index| self.header(index));
        for header in headers.filter(|header| header.kind != NO_BITS && header.size > 0) {
            let name = match self.name(&header) {
                Some(name) => format!("section {}", String::from_utf8_lossy(name)),
                None => "a section without a name".into(),
            };
            let last = header.offset.checked_add(header.size);
            let last = last.ok_or_else(|| damaged(&format!("the place of {name} is not valid")))?;
            if last > self.file.len() as u64 {
                return Err(short(name, last));
            }
            if header.offset < first || header.offset < end && last > self.table {
                return Err(damaged(&format!("{name} overlaps headers")));
            }
        }
        Ok(())
    }

    pub(crate) fn header(&self, index: u64) -> Option<Header> {
        if index >= self.count {
            return None;
        }
        let at = self.table.checked_add(index.checked_mul(self.size)?)?;
        let field = |narrow, wide, width| {
            let place = at.checked_add(if self.wide { wide } else { narrow })?;
            number(self.file, place, if self.wide { width } else { 4 })
        };
        Some(Header {
            at,
            // sh_name, sh_type, sh_offset, sh_size, sh_addralign.
            name: field(0, 0, 4)?,
            kind: field(4, 4, 4)?,
            offset: field(16, 24, 8)?,
            size: field(20, 32, 8)?,
            alignment: field(32, 48, 8)?,
        })
    }

    /// Returns a section's name.
    pub(crate) fn name(&self, header: &Header) -> Option<&'a [u8]> {
        let names = self.content(&self.header(self.names)?)?;
        let rest = self
            .file
            .get(names)?
            .get(usize::try_from(header.name).ok()?..)?;
        Some(&rest[..rest.iter().position(|byte| *byte == 0)?])
    }

    /// Returns the place of a section's bytes; `None`: not in the file.
    pub(crate) fn content(&self, header: &Header) -> Option<Range<usize>> {
        let begin = usize::try_from(header.offset).ok()?;
        let end = begin.checked_add(usize::try_from(header.size).ok()?)?;
        (header.kind != NO_BITS && end <= self.file.len()).then_some(begin..end)
    }

    /// Changes the place of a section's bytes in a copy of the file; `None`: the format has no such numbers.
    pub(crate) fn place(
        &self,
        copy: &mut [u8],
        header: &Header,
        content: &Range<usize>,
    ) -> Option<()> {
        let at = usize::try_from(header.at).ok()?;
        let numbers = [content.start, content.len()];
        let places = if self.wide { [24, 32] } else { [16, 20] };
        let width = if self.wide { 8 } else { 4 };
        for (number, place) in numbers.into_iter().zip(places) {
            let bytes = (number as u64).to_le_bytes();
            if bytes[width..].iter().any(|byte| *byte != 0) {
                return None;
            }
            let to = copy.get_mut(at + place..at + place + width)?;
            to.copy_from_slice(&bytes[..width]);
        }
        Some(())
    }
}

/// Reads a number of so many bytes, least significant first.
fn number(file: &[u8], at: u64, width: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = file.get(at..at.checked_add(width)?)?;
    let joined = |value, byte: &u8| value << 8 | u64::from(*byte);
    Some(bytes.iter().rev().fold(0, joined))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes an ELF file of 32 bits with these sections, by the standard's own layout.
    pub(crate) fn elf(sections: &[(&str, &[u8])]) -> Vec<u8> {
        let mut names = vec![0];
        let mut body: Vec<u8> = Vec::new();
        let mut headers = Vec::new();
        let mut header = |name: &str, content: &[u8], names: &mut Vec<u8>| {
            let at = names.len() as u32;
            names.extend(name.bytes().chain([0]));
            headers.push([
                at,
                1,
                0,
                0,
                52 + body.len() as u32,
                content.len() as u32,
                0,
                0,
                1,
                0,
            ]);
            body.extend(content);
        };
        for (name, content) in sections {
            header(name, content, &mut names);
        }
        // The names, including their own.
        let mut all = names.clone();
        all.extend(b".shstrtab\0");
        header(".shstrtab", &all, &mut names);
        // The first word after them.
        body.resize(body.len().next_multiple_of(4), 0);
        let table = 52 + body.len() as u32;
        let mut file = b"\x7fELF\x01\x01\x01".to_vec();
        file.resize(16, 0);
        file.extend([0, 0, 62, 0, 1, 0, 0, 0]);
        file.extend([0; 8]);
        file.extend(table.to_le_bytes());
        file.extend([0; 4]);
        for half in [
            52_u16,
            0,
            0,
            40,
            headers.len() as u16,
            headers.len() as u16 - 1,
        ] {
            file.extend(half.to_le_bytes());
        }
        file.extend(body);
        file.extend(headers.iter().flatten().flat_map(|word| word.to_le_bytes()));
        file
    }

    #[test]
    fn a_section_is_found_by_its_name() {
        let file = elf(&[(".acl.sof", b"configuration"), (".acl.hash", b"12")]);
        assert_eq!(section(&file, ".acl.sof"), Some(&b"configuration"[..]));
        assert_eq!(section(&file, ".acl.hash"), Some(&b"12"[..]));
        assert_eq!(section(&file, ".acl.so"), None);
        assert_eq!(section(b"", ".acl.sof"), None);
        assert_eq!(section(b"no ELF file at all", ".acl.sof"), None);
    }

    #[test]
    fn a_file_that_was_cut_or_changed_is_no_danger() {
        let file = elf(&[(".acl.sof", b"configuration")]);
        for length in 0..file.len() {
            let _ = section(&file[..length], ".acl.sof");
        }
        for place in 0..file.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut file = file.clone();
                file[place] = byte;
                let _ = section(&file, ".acl.sof");
            }
        }
    }
}
