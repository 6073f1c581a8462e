//! `peerlane upgrade`.

mod common;

use common::{peerlane, text};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Runs the command; returns the exit status and the output.
fn upgrade(from: &Path, to: &Path) -> (Option<i32>, String) {
    let run = peerlane(&["upgrade", text(from), "-o", text(to)]);
    let said = [run.stdout, run.stderr].concat();
    (
        run.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

/// Returns a package of 32 bits: a board's name, text of AOCL 14.1, a configuration; then the names and the headers.
fn package() -> Vec<u8> {
    let names = b"\0.acl.board\0.acl.autodiscovery\0.acl.fpga.bin\0.shstrtab\0";
    let sections: [(u32, &[u8]); 5] = [
        (0, b""),
        (1, b"toy"),
        (12, b"13 toy 0 0 1 0 134217728 0 0"),
        (31, b"configuration"),
        (45, names),
    ];
    let body: Vec<u8> = sections
        .iter()
        .flat_map(|(_, bytes)| bytes.iter().copied())
        .collect();
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([0, 0, 62, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend((52 + body.len() as u32).to_le_bytes());
    file.extend([0; 4]);
    for half in [52_u16, 0, 0, 40, 5, 4] {
        file.extend(half.to_le_bytes());
    }
    file.extend(body);
    let mut at = 52;
    for (name, bytes) in sections {
        let length = bytes.len() as u32;
        for word in [name, 1, 0, 0, at, length, 0, 0, 1, 0] {
            file.extend(u32::to_le_bytes(word));
        }
        at += length;
    }
    file
}

#[test]
fn a_package_is_rewritten_once() {
    let work = tempfile::tempdir().unwrap();
    let [old, new, again] =
        ["old.aocx", "new.aocx", "again.aocx"].map(|name| work.path().join(name));
    std::fs::write(&old, package()).unwrap();
    let (code, said) = upgrade(&old, &new);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("version 13 rewritten as version 23, for the board toy"),
        "{said}"
    );
    assert_eq!(std::fs::read(&old).unwrap(), package());
    // The mode is that of any new file, so that others can read it: an administrator upgrades packages for the programs
    // of a site.
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    let any = work.path().join("any");
    std::fs::write(&any, "").unwrap();
    assert_eq!(mode(&new), mode(&any));
    std::fs::remove_file(&any).unwrap();
    let made = std::fs::read(&new).unwrap();
    let has = |words: &[u8]| made.windows(words.len()).any(|window| window == words);
    assert!(has(
        b" toy 0 1 10 DDR 2 1 2 0 134217728 0 - 0 - 0 0 0 0 0 1 0 0 0 0"
    ));
    assert!(has(b"configuration"));

    // An existing file is not overwritten, and a package of the new version is not rewritten again.
    let (code, said) = upgrade(&old, &new);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("new.aocx: the output exists already"),
        "{said}"
    );
    assert_eq!(std::fs::read(&new).unwrap(), made);
    let (code, said) = upgrade(&new, &again);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("of version 23 already. The open runtime reads it"),
        "{said}"
    );
    assert!(!again.exists());
}

#[test]
fn what_cannot_be_rewritten_leaves_nothing_behind() {
    let work = tempfile::tempdir().unwrap();
    let [old, new] = ["old.aocx", "new.aocx"].map(|name| work.path().join(name));
    let whole = package();
    for (bytes, words) in [
        (&b"no package"[..], "old.aocx: it is not an ELF file"),
        (&whole[..whole.len() - 1], "old.aocx: it is cut off"),
        (&whole[..40], "old.aocx: it is cut off"),
    ] {
        std::fs::write(&old, bytes).unwrap();
        let (code, said) = upgrade(&old, &new);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(words), "{said}");
        assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 1);
    }
    std::fs::remove_file(&old).unwrap();
    let (code, said) = upgrade(&old, &new);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("old.aocx: cannot read the package"), "{said}");
    std::fs::write(&old, &whole).unwrap();
    let (code, said) = upgrade(&old, &work.path().join("none/new.aocx"));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("cannot write the package"), "{said}");
    assert_eq!(peerlane(&["upgrade", text(&old)]).status.code(), Some(2));
}

#[test]
fn help_has_examples() {
    let run = peerlane(&["upgrade", "--help"]);
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    for word in ["Examples:", "--out", "version 23", "<IN>"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// The loop in the help text upgrades all packages of a directory, which also has one that needs no change.
#[test]
fn the_helps_loop_runs() {
    let work = tempfile::tempdir().unwrap();
    let put = |name: &str| std::fs::write(work.path().join(name), package()).unwrap();
    put("b.aocx");
    put("c.aocx");
    let [old, new] = ["b.aocx", "a.aocx"].map(|name| work.path().join(name));
    assert_eq!(upgrade(&old, &new).0, Some(0));
    let run = peerlane(&["upgrade", "--help"]);
    let help = String::from_utf8_lossy(&run.stdout).into_owned();
    let line = help.lines().find(|line| line.contains("for old in"));
    let command = format!(
        "peerlane() {{ {} \"$@\"; }}; {}",
        env!("CARGO_BIN_EXE_peerlane"),
        line.unwrap()
    );
    let run = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(work.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        said.contains("a.aocx") && said.contains("of version 23 already"),
        "{said}"
    );
    let made = std::fs::read_dir(work.path().join("new")).unwrap();
    assert_eq!(made.count(), 2, "{said}");
}

/// The message has the steps for a user with a board of 13.1.
#[test]
fn a_version_that_was_not_seen_is_no_dead_end() {
    let work = tempfile::tempdir().unwrap();
    let [old, new] = ["old.aocx", "new.aocx"].map(|name| work.path().join(name));
    let mut bytes = package();
    let at = bytes.windows(4).position(|four| four == b"13 t").unwrap();
    bytes[at + 1] = b'2';
    std::fs::write(&old, bytes).unwrap();
    let (code, said) = upgrade(&old, &new);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("13.1 and 14.0 need the SDK's own runtime"),
        "{said}"
    );
}
