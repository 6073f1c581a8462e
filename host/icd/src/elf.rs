//! Whether a file is a library for this machine, with all its bytes. The dynamic linker calls a
//! library of another machine missing, and is killed by one that was cut off.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes of the header (System V ABI, "ELF Header", 64-bit).
const HEADER: usize = 64;
/// Bytes of an entry of the program header table.
const ENTRY: usize = 56;
/// `ET_DYN`, `EM_X86_64`, `PT_LOAD`.
const SHARED: u16 = 3;
const X86_64: u16 = 62;
const LOAD: u32 = 1;

/// Why a file cannot be loaded here.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let why = |why: String| format!("{}: {why}", path.display());
    let file = File::open(path).map_err(|error| why(error.to_string()))?;
    let about = file.metadata().map_err(|error| why(error.to_string()))?;
    if about.is_dir() {
        return Err(why("it is a directory".into()));
    }
    let length = about.len();
    let read = |at: u64, bytes: &mut [u8]| {
        let read = file.read_exact_at(bytes, at);
        read.map_err(|_| why("it is cut off: its end is missing".into()))
    };
    let mut header = [0; HEADER];
    if file.read_at(&mut header, 0).unwrap_or(0) < 4 || header[..4] != *b"\x7fELF" {
        return Err(why("it is not a library (not an ELF file)".into()));
    }
    read(0, &mut header)?;
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    // EI_CLASS 2: 64-bit; EI_DATA 1: little-endian.
    if header[4] != 2 || header[5] != 1 || half(18) != X86_64 {
        let machine = match half(18) {
            3 => "32-bit x86".to_owned(),
            40 => "32-bit ARM".to_owned(),
            183 => "64-bit ARM".to_owned(),
            21 => "64-bit PowerPC".to_owned(),
            X86_64 => "x86-64 with 32-bit pointers".to_owned(),
            other => format!("another machine (ELF number {other})"),
        };
        return Err(why(format!(
            "it is for {machine}, and this process is x86-64"
        )));
    }
    if half(16) != SHARED {
        return Err(why("it is not a shared library".into()));
    }
    let table = word(&header, 32);
    for index in 0..u64::from(half(56)) {
        let mut entry = [0; ENTRY];
        read(
            table.saturating_add(index * u64::from(half(54))),
            &mut entry,
        )?;
        let kind = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let end = word(&entry, 8).saturating_add(word(&entry, 32));
        if kind == LOAD && end > length {
            return Err(why(format!("it is cut off: {length} bytes of {end}")));
        }
    }
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn said(bytes: &[u8]) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lib.so");
        fs::write(&path, bytes).unwrap();
        check(&path).map_or_else(|why| why, |()| "sound".to_owned())
    }

    #[test]
    fn libraries_of_this_machine_are_sound_and_others_are_not() {
        // This test program is position-independent, which is a shared library to this check.
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(said(&own), "sound");
        assert!(said(&own[..4096]).contains("cut off"));
        assert!(said(&own[..70]).contains("cut off"));
        assert!(said(&own[..20]).contains("cut off"));
        let mut arm = own[..HEADER].to_vec();
        arm[18] = 183;
        assert!(said(&arm).contains("64-bit ARM"));
        let mut narrow = own[..HEADER].to_vec();
        narrow[4] = 1;
        assert!(said(&narrow).contains("32-bit pointers"));
        assert!(said(b"INPUT(libother.so)").contains("not a library"));
        assert!(said(b"").contains("not a library"));
        assert!(check(Path::new("/")).unwrap_err().contains("a directory"));
        assert!(
            check(Path::new("/nowhere/lib.so"))
                .unwrap_err()
                .contains("/nowhere/lib.so")
        );
    }
}
