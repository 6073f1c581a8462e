//! The FPGA's configuration as `aoc` packs it: `fpga.bin`, an ELF file whose sections are the files of
//! the compilation (`.acl.sof`, `.acl.core.rbf`, ...).

/// The section of this name in a 32-bit or 64-bit ELF file of least significant byte first (Tool Interface
/// Standard, Executable and Linking Format 1.2; System V ABI, chapter 4 for 64 bits).
pub(crate) fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let elf = Elf::of(file)?;
    let names = elf.header(elf.names)?;
    let found = (0..elf.count).find(|index| {
        let text = elf.header(*index).and_then(|header| {
            let at = usize::try_from(header.name).ok()?;
            let rest = elf.content(&names)?.get(at..)?;
            Some(&rest[..rest.iter().position(|byte| *byte == 0)?])
        });
        text == Some(name.as_bytes())
    });
    elf.content(&elf.header(found?)?)
}

struct Elf<'a> {
    file: &'a [u8],
    wide: bool,
    /// Where the section headers begin, and how large each is.
    table: u64,
    size: u64,
    count: u64,
    /// The section of sections' names.
    names: u64,
}

struct Header {
    name: u64,
    offset: u64,
    size: u64,
}

/// `SHT_NOBITS`: a section without bytes in the file is not looked for.
impl<'a> Elf<'a> {
    fn of(file: &'a [u8]) -> Option<Self> {
        let wide = match *file {
            [0x7f, b'E', b'L', b'F', 1, 1, ..] => false,
            [0x7f, b'E', b'L', b'F', 2, 1, ..] => true,
            _ => return None,
        };
        // e_shoff, e_shentsize, e_shnum, e_shstrndx.
        let places = if wide {
            [40, 58, 60, 62]
        } else {
            [32, 46, 48, 50]
        };
        let [table, size, count, names] = places;
        Some(Self {
            file,
            wide,
            table: number(file, table, if wide { 8 } else { 4 })?,
            size: number(file, size, 2)?,
            count: number(file, count, 2)?,
            names: number(file, names, 2)?,
        })
    }

    fn header(&self, index: u64) -> Option<Header> {
        let at = self.table.checked_add(index.checked_mul(self.size)?)?;
        let field = |narrow, wide, width| {
            let place = at.checked_add(if self.wide { wide } else { narrow })?;
            number(self.file, place, if self.wide { width } else { 4 })
        };
        Some(Header {
            // sh_name, sh_offset, sh_size.
            name: field(0, 0, 4)?,
            offset: field(16, 24, 8)?,
            size: field(20, 32, 8)?,
        })
    }

    fn content(&self, header: &Header) -> Option<&'a [u8]> {
        let begin = usize::try_from(header.offset).ok()?;
        let length = usize::try_from(header.size).ok()?;
        self.file.get(begin..begin.checked_add(length)?)
    }
}

/// A number of so many bytes, least significant first.
fn number(file: &[u8], at: u64, width: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = file.get(at..at.checked_add(width)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file of 32 bits with these sections, by the standard's own layout.
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
        // The names, their own among them.
        let mut all = names.clone();
        all.extend(b".shstrtab\0");
        header(".shstrtab", &all, &mut names);
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
