//! Packages made by hand, and read by another reader of ELF files.

use super::*;
use crate::elf::tests::elf;
use object::{Object, ObjectSection};
use proptest::prelude::*;

/// A board without kernels, as AOCL 14.1 and 16.1 describe it. The last one is its text of version 23 after the hash.
const OLD_13: &str = "13 toy 0 0 1 0 134217728 0 0";
const OLD_14: &str = "14 toy 0 0 1 0 134217728 0 0";
const EMPTY: &str = "toy 0 1 10 DDR 2 1 2 0 134217728 0 - 0 - 0 0 0 0 0 1 0 0 0 0";

/// A package of 32 bits.
fn package(text: &str, code: &[u8]) -> Vec<u8> {
    elf(&[
        (".acl.board", b"toy\0"),
        (".acl.autodiscovery", text.as_bytes()),
        (".acl.fpga.bin", code),
        (".acl.rand_hash", b"0123456789"),
    ])
}

/// Makes a package of 64 bits, whose section headers are before the sections.
fn wide(text: &str) -> Vec<u8> {
    let names = b"\0.acl.autodiscovery\0.acl.fpga.bin\0.bss\0.names\0";
    let sections: [(u32, u32, &[u8]); 5] = [
        (0, 0, b""),
        (1, 1, text.as_bytes()),
        (20, 1, b"code"),
        (34, 8, b""),
        (39, 3, names),
    ];
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for (number, width) in [(0, 2), (62, 2), (1, 4), (0, 8), (0, 8), (64, 8), (0, 4)] {
        file.extend(&u64::to_le_bytes(number)[..width]);
    }
    for half in [64_u16, 0, 0, 64, 5, 4] {
        file.extend(half.to_le_bytes());
    }
    let mut at = 64 + 64 * 5;
    let mut body: Vec<u8> = Vec::new();
    for (name, kind, content) in sections {
        file.extend(name.to_le_bytes());
        file.extend(kind.to_le_bytes());
        // A section without bytes in the file may have any size.
        let size = if kind == 8 {
            1 << 40
        } else {
            content.len() as u64
        };
        for number in [0, 0, at, size, 0, 256, 0] {
            file.extend(u64::to_le_bytes(number));
        }
        at += content.len() as u64;
        body.extend(content);
    }
    file.extend(body);
    file
}

/// Returns the names and contents that another reader finds.
fn sections(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let read = object::File::parse(file).unwrap();
    let of = |section: object::Section<'_, '_>| {
        let name = section.name().unwrap().to_string();
        (name, section.data().unwrap().to_vec())
    };
    read.sections().map(of).collect()
}

#[test]
fn only_the_text_becomes_another() {
    for (file, version) in [
        (package(OLD_13, b"code"), 13),
        (package(&format!("{OLD_14}\0"), b"code"), 14),
        (wide(OLD_14), 14),
    ] {
        let made = upgrade_package(&file).unwrap();
        assert_eq!(made.version, version);
        let (before, after) = (sections(&file), sections(&made.file));
        assert_eq!(before.len(), after.len());
        for ((name, old), (same, new)) in before.iter().zip(&after) {
            assert_eq!(name, same);
            if name == ".acl.autodiscovery" {
                let text = std::str::from_utf8(new).unwrap();
                let words: Vec<&str> = text.splitn(4, ' ').collect();
                assert_eq!([words[0], words[1], words[3]], ["23", "24", EMPTY]);
                assert_eq!(words[2].len(), 40);
            } else {
                assert_eq!(old, new, "{name}");
            }
        }
        // Only the two numbers of one header change.
        let changed = file.iter().zip(&made.file).filter(|(a, b)| a != b).count();
        assert!(changed <= 16, "{changed} bytes");
    }
    let made = upgrade_package(&package(OLD_13, b"code")).unwrap();
    assert_eq!(made.board.as_deref(), Some("toy"));
    assert_eq!(upgrade_package(&wide(OLD_13)).unwrap().board, None);
}

/// Two configurations with the same kernels are different to the runtime, and both differ from the configuration that a
/// board has already.
#[test]
fn packages_are_told_apart_by_their_code() {
    let of = |code| {
        let file = upgrade_package(&package(OLD_13, code)).unwrap().file;
        text(&file, AUTODISCOVERY).unwrap().to_string()
    };
    assert_ne!(of(b"one"), of(b"two"));
    assert_eq!(of(b"one"), of(b"one"));
    assert_ne!(of(b"one"), upgrade::upgrade(OLD_13).unwrap());
}

#[test]
fn what_is_new_stays() {
    let made = upgrade_package(&package(OLD_13, b"code")).unwrap().file;
    assert_eq!(upgrade_package(&made).unwrap_err(), PackageError::New);
}

#[test]
fn what_is_no_package_is_named() {
    let of = |file: &[u8]| {
        let error = upgrade_package(file).unwrap_err();
        format!("{error}. {}", error.hint())
    };
    for (file, words) in [
        (b"PK\x03\x04".to_vec(), "not an ELF file"),
        (Vec::new(), "not an ELF file"),
        (b"\x7fELF\x02\x02\x01".to_vec(), "not an ELF file"),
        (
            b"\x7fELF\x01\x01\x01".to_vec(),
            "the file's header should end at byte 52",
        ),
        (elf(&[(".acl.sof", b"x")]), "no section .acl.autodiscovery"),
        (
            elf(&[(".acl.autodiscovery", OLD_13.as_bytes())]),
            "no section .acl.fpga.bin",
        ),
        (package("", b"code"), "no section .acl.autodiscovery"),
        (package(OLD_13, b""), "no section .acl.fpga.bin"),
        (
            package("22 1 x", b"code"),
            "version \"22\" is neither 13 nor 14. Packages of AOCL 14.1",
        ),
        (
            package("17 1 x", b"code"),
            "but the Pro Edition's. The Pro Edition and its boards are not supported",
        ),
        (
            package("13 toy 0 0 one", b"code"),
            "word 5 (\"one\") is not a number",
        ),
        (package("\0", b"code"), "ends after 0 words"),
    ] {
        let said = of(&file);
        assert!(said.contains(words), "{said}");
    }
    let text = OLD_13.as_bytes();
    let twice = elf(&[
        (".acl.autodiscovery", text),
        (".acl.fpga.bin", b"x"),
        (".acl.autodiscovery", text),
    ]);
    assert!(of(&twice).contains("two sections .acl.autodiscovery"));
    let raw = elf(&[(".acl.autodiscovery", b"13 \xff"), (".acl.fpga.bin", b"x")]);
    assert!(of(&raw).contains(".acl.autodiscovery is not text"));
}

#[test]
fn a_file_that_was_cut_is_refused() {
    for file in [package(OLD_13, b"configuration"), wide(OLD_13)] {
        for length in 0..file.len() {
            assert!(upgrade_package(&file[..length]).is_err(), "{length}");
        }
    }
    let file = package(OLD_13, b"configuration");
    let error = upgrade_package(&file[..file.len() - 1]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it is cut off: the table of sections")
    );
    let file = wide(OLD_13);
    let error = upgrade_package(&file[..file.len() - 1]).unwrap_err();
    assert!(error.to_string().contains("it is cut off: "), "{error}");
}

/// A header that is a part of a section cannot be changed without that section.
#[test]
fn a_section_over_the_headers_is_refused() {
    let mut file = package(OLD_13, b"code");
    let table = u32::from_le_bytes(file[32..36].try_into().unwrap()) as usize;
    // sh_offset of the first section: `.acl.board`.
    for place in [table as u32 - 1, 4] {
        file[table + 16..table + 20].copy_from_slice(&place.to_le_bytes());
        let error = upgrade_package(&file).unwrap_err();
        assert!(error.to_string().contains("overlaps headers"), "{error}");
    }
}

proptest! {
    /// Any bytes give a result or an error; a result differs from the file in the header of one section at most.
    #[test]
    fn changed_files_are_no_danger(
        narrow: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut file = if narrow { package(OLD_13, b"code") } else { wide(OLD_14) };
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        let _ = text(&file, BOARD);
        if let Ok(made) = upgrade_package(&file) {
            let changed = file.iter().zip(&made.file).filter(|(a, b)| a != b).count();
            prop_assert!(made.file.len() > file.len() && changed <= 16);
        }
    }
}
