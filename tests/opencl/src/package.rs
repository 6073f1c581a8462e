//! Packages (`.aocx`) as `aoc` makes them, for programs of the simulated board.
//!
//! The form is that of packages that the open runtime takes (intel/fpga-runtime-for-opencl, `acl_program.cpp`
//! and `acl_device_binary.cpp`): an ELF file of 32 bits, of no type, for machine 62, with all sections aligned
//! to 128 bytes. The names of sections are the runtime's, too.

use peerlane_sim_opencl::Program;

/// The section of the FPGA's configuration that is for JTAG. The simulated board's is the [`Program`] as JSON.
pub const CONFIGURATION: &str = ".acl.sof";

/// The section that the runtime gives the board library as it is, to program the board with.
pub const IMAGE: &str = ".acl.fpga.bin";

/// Alignment of every section.
const ALIGNMENT: usize = 128;

/// ELF's machine of a package.
const MACHINE: u16 = 62;

/// Bytes of ELF's header and of a section's (Tool Interface Standard, Executable and Linking Format 1.2).
const HEADER: usize = 52;
const SECTION_HEADER: usize = 40;

/// Types of sections: bytes of the program's, and strings.
const PROGBITS: u32 = 1;
const STRTAB: u32 = 3;

/// A package: named sections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Package {
    sections: Vec<(String, Vec<u8>)>,
}

impl Package {
    /// Makes the package of a program, with the sections that every runtime looks for.
    pub fn of(program: &Program) -> Self {
        let mut configuration = Self::default();
        configuration.set(CONFIGURATION, json(program));
        let mut package = Self::default();
        package.set(".acl.board", &program.board);
        // The runtime compares the hash to know whether a board has the program already.
        package.set(".acl.rand_hash", &program.hash);
        package.set(".acl.autodiscovery", program.text());
        package.set(IMAGE, configuration.bytes());
        package
    }

    /// Adds a section, or changes it.
    pub fn set(&mut self, name: &str, content: impl AsRef<[u8]>) {
        let content = content.as_ref().to_vec();
        match self.sections.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = content,
            None => self.sections.push((name.to_owned(), content)),
        }
    }

    /// The content of a section.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let found = self.sections.iter().find(|(known, _)| known == name);
        found.map(|(_, content)| content.as_slice())
    }

    /// Removes a section.
    pub fn remove(&mut self, name: &str) {
        self.sections.retain(|(known, _)| known != name);
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        const NAMES: &str = ".shstrtab";
        let mut names = vec![0];
        let mut place_of_name = |name: &str| {
            let place = names.len();
            names.extend(name.bytes().chain([0]));
            place
        };
        let places: Vec<usize> = (self.sections.iter().map(|(name, _)| name.as_str()))
            .chain([NAMES])
            .map(&mut place_of_name)
            .collect();
        let contents = self.sections.iter().map(|(_, content)| (PROGBITS, content));
        let contents = contents.chain([(STRTAB, &names)]);

        let mut file = vec![0; ALIGNMENT];
        // The first section's header belongs to no section.
        let mut headers = vec![[0; 10]];
        for (name, (kind, content)) in places.iter().zip(contents) {
            // Name, type, flags, address, offset, size, link, information, alignment, size of an entry.
            let numbers = [
                *name,
                0,
                0,
                0,
                file.len(),
                content.len(),
                0,
                0,
                ALIGNMENT,
                0,
            ];
            let mut header = numbers.map(|number| number as u32);
            header[1] = kind;
            headers.push(header);
            file.extend(content);
            file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        }
        let table = file.len();
        for number in headers.iter().flatten() {
            file.extend(number.to_le_bytes());
        }
        file[..HEADER].copy_from_slice(&header(table, headers.len()));
        file
    }
}

fn json(program: &Program) -> Vec<u8> {
    // Its maps have text for keys, so the conversion cannot fail.
    serde_json::to_vec(program).expect("a program as JSON")
}

/// Returns ELF's header, for a file whose headers of sections begin at `table`, and whose last section has the names.
fn header(table: usize, sections: usize) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    // 32 bits, least significant byte first, version 1.
    bytes[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    let mut set = |at: usize, number: &[u8]| bytes[at..at + number.len()].copy_from_slice(number);
    let half = |number: usize| (number as u16).to_le_bytes();
    let word = |number: usize| (number as u32).to_le_bytes();
    set(18, &MACHINE.to_le_bytes());
    set(20, &word(1));
    set(32, &word(table));
    set(40, &half(HEADER));
    set(46, &half(SECTION_HEADER));
    set(48, &half(sections));
    set(50, &half(sections - 1));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSection};

    fn sections(file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let file = object::File::parse(file).unwrap();
        let section = |section: object::Section<'_, '_>| {
            let range = section.file_range().unwrap();
            assert_eq!(range.0 % 128, 0, "{:?}", section.name());
            let (name, data) = (section.name().unwrap(), section.data().unwrap());
            (name.to_owned(), data.to_vec())
        };
        file.sections().map(section).collect()
    }

    fn program() -> Program {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        Program::of_all_kinds("sim_board", hash, 2 << 30)
    }

    #[test]
    fn another_reader_finds_the_sections() {
        let program = program();
        let mut package = Package::of(&program);
        package.set(".acl.version", "1");
        package.set(".acl.empty", "");
        package.set(".acl.version", "18.1");
        package.set(".acl.hash", "");
        package.remove(".acl.hash");
        let file = package.bytes();
        assert_eq!(&file[..7], b"\x7fELF\x01\x01\x01");
        assert_eq!(file[16..20], [0, 0, 62, 0]);
        let found = sections(&file);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            ".acl.board",
            ".acl.rand_hash",
            ".acl.autodiscovery",
            ".acl.fpga.bin",
            ".acl.version",
            ".acl.empty",
            ".shstrtab",
        ];
        assert_eq!(names, expected);
        assert_eq!(found[0].1, b"sim_board");
        assert_eq!(found[2].1, program.text().as_bytes());
        assert_eq!((&*found[4].1, &*found[5].1), (&b"18.1"[..], &b""[..]));
    }

    #[test]
    fn the_configuration_is_the_program() {
        let program = program();
        let found = sections(&Package::of(&program).bytes());
        let inner = sections(&found[3].1);
        assert_eq!(inner[0].0, ".acl.sof");
        let read: Program = serde_json::from_slice(&inner[0].1).unwrap();
        assert_eq!(read, program);
    }
}
