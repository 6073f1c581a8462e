//! Whether a file is a library for this machine, with all its bytes. The dynamic linker calls a
//! library of another machine missing, and is killed by one that was cut off.

use std::fs::File;
use std::mem::transmute;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use libc::{EM_X86_64, Elf64_Ehdr, Elf64_Phdr};

/// Bytes of the header.
const HEADER: usize = size_of::<Elf64_Ehdr>();

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
    // SAFETY: any bytes are a header.
    let header = unsafe { transmute::<[u8; HEADER], Elf64_Ehdr>(header) };
    let [class, data] = [libc::EI_CLASS, libc::EI_DATA].map(|index| header.e_ident[index]);
    if (class, data) != (libc::ELFCLASS64, libc::ELFDATA2LSB) || header.e_machine != EM_X86_64 {
        let machine = match header.e_machine {
            libc::EM_386 => "32-bit x86".to_owned(),
            libc::EM_ARM => "32-bit ARM".to_owned(),
            libc::EM_AARCH64 => "64-bit ARM".to_owned(),
            libc::EM_PPC64 => "64-bit PowerPC".to_owned(),
            EM_X86_64 => "x86-64 with 32-bit pointers".to_owned(),
            other => format!("another machine (ELF number {other})"),
        };
        return Err(why(format!(
            "it is for {machine}, and this process is x86-64"
        )));
    }
    if header.e_type != libc::ET_DYN {
        return Err(why("it is not a shared library".into()));
    }
    for index in 0..u64::from(header.e_phnum) {
        let mut entry = [0; size_of::<Elf64_Phdr>()];
        let place = index * u64::from(header.e_phentsize);
        read(header.e_phoff.saturating_add(place), &mut entry)?;
        // SAFETY: any bytes are an entry.
        let entry = unsafe { transmute::<[u8; size_of::<Elf64_Phdr>()], Elf64_Phdr>(entry) };
        let end = entry.p_offset.saturating_add(entry.p_filesz);
        if entry.p_type == libc::PT_LOAD && end > length {
            return Err(why(format!("it is cut off: {length} bytes of {end}")));
        }
    }
    Ok(())
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
