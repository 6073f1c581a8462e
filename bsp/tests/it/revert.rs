//! `peerlane revert` restores the vendor's tree unchanged, and an extended BSP is not extended again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::common::faults::faults;
use crate::common::{
    Work, edit, expect, extend_to, one_paragraph, reference, reference_net, vendor_bsp,
};
use peerlane_bsp::config::Config;
use peerlane_bsp::error::{Error, ErrorKind};
use peerlane_bsp::revert::{Edit, Options, Reverted, revert};

/// Permissions of a path, and its content or the target of a link.
type Thing = (u32, Vec<u8>);

/// Returns everything in a directory, and the directory itself: empty directories and permissions, too.
fn everything(root: &Path) -> BTreeMap<PathBuf, Thing> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        let about = fs::symlink_metadata(&path).unwrap();
        let content = if about.is_symlink() {
            let to = fs::read_link(&path).unwrap();
            [b"-> ", to.as_os_str().as_bytes()].concat()
        } else if about.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            b"directory".to_vec()
        } else {
            fs::read(&path).unwrap()
        };
        let mode = match about.is_symlink() {
            true => 0,
            false => about.permissions().mode(),
        };
        found.insert(path.strip_prefix(root).unwrap().into(), (mode, content));
    }
    found
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn back(work: &Work, without_edits: bool) -> Result<(PathBuf, Reverted), Error> {
    let out = work.dir.path().join("work/back");
    let _ = fs::remove_dir_all(&out);
    let before = everything(&work.out);
    let done = revert(&Options {
        bsp: work.out.clone(),
        out: out.clone(),
        without_edits,
    });
    assert!(everything(&work.out) == before, "the platform was changed");
    if let Err(error) = &done {
        one_paragraph(error);
        let names = fs::read_dir(work.dir.path().join("work")).unwrap();
        let left: Vec<_> = names.map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["out"], "left in the directory");
    }
    done.map(|reverted| (out, reverted))
}

/// Extends, checks the result, and restores the vendor's tree.
fn there_and_back(work: &Work) {
    let before = everything(&work.bsp);
    work.sound("");
    let (out, reverted) = back(work, false).unwrap_or_else(|e| panic!("{}", e.paragraph()));
    assert_eq!(reverted.edits, []);
    let after = everything(&out);
    let odd = before
        .iter()
        .find(|(path, was)| after.get(*path) != Some(was));
    assert!(odd.is_none(), "{odd:?}");
    assert_eq!(before.len(), after.len());
}

#[test]
fn every_bsp_comes_back_byte_for_byte() {
    for bsp in [Some(reference()), Some(reference_net()), vendor_bsp()] {
        let Some(bsp) = bsp else { continue };
        there_and_back(&Work::of(&bsp));
    }
}

/// A board's directory alone is restored, too.
#[test]
fn a_boards_directory_comes_back() {
    let mut work = Work::of(&reference_net().join("hardware/peerlane_net"));
    there_and_back(&work);
    // If it lies in a platform, no other part of the platform changes.
    work = Work::of(&reference_net());
    let platform = work.bsp.clone();
    let before = everything(&platform);
    work.bsp = platform.join("hardware/peerlane_net");
    there_and_back(&work);
    assert!(everything(&platform) == before);
    let environment = fs::read_to_string(work.out.join("board_env.xml")).unwrap();
    assert!(
        environment.contains("name=\"peerlane_net_peerlane\""),
        "{environment}"
    );
}

#[test]
fn whatever_a_tree_can_have_comes_back() {
    let work = Work::of(&reference_net());
    let put = |path: &Path, content: &[u8]| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    // Compiled files, which are left out, with directories that have nothing else in them.
    put(
        &work.input("incremental_db/compiled_partitions/x.cdb"),
        b"\0\xff",
    );
    put(&work.input("old.qar"), &[7; 100_000]);
    fs::create_dir_all(work.input("db/empty/inner")).unwrap();
    put(&work.input("db/top.cdb"), b"x");
    symlink("nowhere", work.input("db/gone")).unwrap();
    // The vendor's runtime.
    put(&work.bsp.join("linux64/lib/libpeerlane_mmd.so"), b"\x7fELF");
    put(&work.bsp.join("linux64/libexec/install"), b"#!/bin/sh\n");
    mode(&work.bsp.join("linux64/libexec/install"), 0o755);
    put(&work.bsp.join("linux64/driver/aclpci.c"), b"int x;\n");
    // Unusual names.
    for name in [
        &b"\xff\xfe.txt"[..],
        b"100%.txt",
        b"%41",
        "\u{fc}.txt".as_bytes(),
        b"a\nb",
    ] {
        put(&work.input("names").join(OsStr::from_bytes(name)), name);
    }
    put(&work.input(&"n".repeat(255)), b"long");
    // Content, permissions, links.
    put(&work.input("latin1.tcl"), b"# gr\xfc\xdfe\r\n");
    mode(&work.input("top.qsf"), 0o444);
    mode(&work.input("board.qsys"), 0o600);
    mode(&work.input("scripts/post_flow.tcl"), 0o4755);
    put(&work.input("closed/inner/x"), b"x");
    fs::create_dir(work.input("closed/empty")).unwrap();
    symlink("../top.v", work.input("closed/link")).unwrap();
    symlink("hardware/peerlane_net", work.bsp.join("board")).unwrap();
    symlink("../peerlane_net/scripts", work.input("again")).unwrap();
    mode(&work.input("closed/inner"), 0o555);
    mode(&work.input("closed"), 0o500);
    mode(&work.bsp, 0o750);
    there_and_back(&work);
}

#[test]
fn edits_are_named_and_left_behind_only_if_asked() {
    let work = Work::of(&reference_net());
    let before = everything(&work.bsp);
    work.extend("").unwrap();
    fs::write(work.output("top.v"), "mine").unwrap();
    fs::remove_file(work.output("top.sdc")).unwrap();
    fs::write(work.output("scripts/mine.tcl"), "puts mine\n").unwrap();
    let error = back(&work, false).unwrap_err();
    let hardware = "hardware/peerlane_net_peerlane";
    let words = [
        format!("{hardware}/top.v (changed)"),
        format!("{hardware}/top.sdc (removed)"),
        format!("{hardware}/scripts/mine.tcl (added)"),
        "--without-edits".into(),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    expect(&error, ErrorKind::Edited, &words);
    let (out, reverted) = back(&work, true).unwrap();
    assert!(everything(&out) == before);
    let edits: Vec<Edit> = reverted.edits.iter().map(|(_, edit)| *edit).collect();
    assert_eq!(edits, [Edit::Added, Edit::Removed, Edit::Changed]);
    // A missing board's directory does not prevent it.
    fs::remove_dir_all(work.output("")).unwrap();
    let (out, _) = back(&work, true).unwrap();
    assert!(everything(&out) == before);
}

#[test]
fn the_boards_directory_of_a_result_names_it_too() {
    let work = Work::new();
    let before = everything(&work.bsp);
    work.extend("").unwrap();
    let out = work.dir.path().join("back");
    let options = Options {
        bsp: work.output(""),
        out: out.clone(),
        without_edits: false,
    };
    revert(&options).unwrap();
    assert!(everything(&out) == before);
}

#[test]
fn what_cannot_be_reverted_is_refused() {
    let work = Work::new();
    let options = |bsp: &Path, out: &Path| Options {
        bsp: bsp.to_path_buf(),
        out: out.to_path_buf(),
        without_edits: true,
    };
    let free = work.dir.path().join("free");
    let error = revert(&options(&work.bsp, &free)).unwrap_err();
    expect(
        &error,
        ErrorKind::NotABsp,
        &["peerlane/files.json", "--out"],
    );
    work.extend("").unwrap();
    for (out, word) in [
        (work.bsp.clone(), "already exists"),
        (work.out.join("back"), "inside the BSP"),
        (work.dir.path().join("no/where"), "does not exist"),
    ] {
        let error = revert(&options(&work.out, &out)).unwrap_err();
        expect(&error, ErrorKind::Output, &[word]);
    }
    assert!(!free.exists());
}

/// The check and `revert` find changes of the stored files and of their record.
#[test]
fn damage_to_what_is_kept_is_found() {
    let work = Work::new();
    work.extend("").unwrap();
    let record = work.out.join("peerlane/files.json");
    let kept = work.out.join("peerlane/vendor/hardware/peerlane_ref/top.v");
    let damaged = |words: &[&str]| {
        let error = back(&work, true).unwrap_err();
        expect(&error, ErrorKind::Inconsistent, words);
    };
    let top = fs::read(&kept).unwrap();
    fs::write(&kept, "module top; endmodule\n").unwrap();
    damaged(&["top.v", "was changed since it was recorded"]);
    let found = faults(&work);
    let has = |found: &[(&str, String)], word: &str| {
        found
            .iter()
            .any(|(test, what)| *test == "vendor's files" && what.contains(word))
    };
    assert!(has(&found, "differs from the vendor's file"), "{found:?}");
    fs::remove_file(&kept).unwrap();
    damaged(&["top.v", "does not exist any more"]);
    assert!(has(
        &faults(&work),
        "the kept copy of the vendor's file is missing"
    ));
    symlink("/etc/hostname", &kept).unwrap();
    damaged(&["top.v"]);
    fs::remove_file(&kept).unwrap();
    fs::write(&kept, &top).unwrap();
    assert_eq!(faults(&work), []);

    let text = fs::read_to_string(&record).unwrap();
    for (from, to) in [
        ("\"mode\": \"644\"", "\"mode\": \"777\""),
        ("\"mode\": \"644\"", "\"mode\": \"99\""),
        ("\"hardware/peerlane_ref/top.v\"", "\"../top.v\""),
        ("\"sha256\": \"", "\"sha256\": \"0"),
    ] {
        edit(&record, from, to);
        damaged(&["files.json", "damaged"]);
        fs::write(&record, &text).unwrap();
    }
    fs::write(&record, &text[..text.len() / 2]).unwrap();
    damaged(&["files.json:"]);
    fs::write(&record, &text).unwrap();

    let extra = work.out.join("peerlane/vendor/more");
    fs::write(&extra, "x").unwrap();
    assert!(has(&faults(&work), "does not have this file"));
    fs::remove_file(&extra).unwrap();
    // The stored files of another BSP.
    let other = Work::new();
    other.append("top.v", "// other\n");
    other.extend("").unwrap();
    fs::remove_dir_all(work.out.join("peerlane")).unwrap();
    fs::rename(other.out.join("peerlane"), work.out.join("peerlane")).unwrap();
    assert!(has(
        &faults(&work),
        "differs from iface/peerlane/build.json"
    ));
}

/// Every way to give an extended BSP as a vendor's BSP.
#[test]
fn nothing_is_extended_twice() {
    let system = "acl_iface_system.qsys";
    type Spoil = fn(&Work) -> PathBuf;
    let cases: [(&str, Spoil); 9] = [
        ("the result", |w| w.out.clone()),
        ("under another name", |w| {
            let renamed = w.dir.path().join("renamed");
            fs::rename(&w.out, &renamed).unwrap();
            renamed
        }),
        ("its board's directory", |w| w.output("")),
        ("its board's directory alone", |w| {
            let alone = w.dir.path().join("alone");
            fs::rename(w.output(""), &alone).unwrap();
            alone
        }),
        ("without the kept files", |w| {
            fs::remove_dir_all(w.out.join("peerlane")).unwrap();
            let _ = fs::remove_dir_all(w.output("scripts/peerlane"));
            fs::remove_dir_all(w.output("iface/peerlane")).unwrap();
            w.out.clone()
        }),
        ("with the vendor's system put back", |w| {
            fs::remove_dir_all(w.out.join("peerlane")).unwrap();
            fs::copy(
                w.input("acl_iface_system.qsys"),
                w.output("acl_iface_system.qsys"),
            )
            .unwrap();
            w.out.clone()
        }),
        ("with the settings as the last trace", |w| {
            for dir in ["scripts/peerlane", "iface/peerlane"] {
                let _ = fs::remove_dir_all(w.output(dir));
            }
            fs::remove_dir_all(w.out.join("peerlane")).unwrap();
            for kind in ["md", "json"] {
                fs::remove_file(w.out.join(format!("peerlane-report.{kind}"))).unwrap();
            }
            for file in ["acl_iface_system.qsys", "iface.ipx"] {
                fs::copy(w.input(file), w.output(file)).unwrap();
            }
            w.out.clone()
        }),
        ("with the list of components as the last trace", |w| {
            let list = fs::read(w.output("iface.ipx")).unwrap();
            fs::remove_dir_all(&w.out).unwrap();
            fs::write(w.input("iface.ipx"), list).unwrap();
            w.bsp.clone()
        }),
        ("the kept files", |w| w.out.join("peerlane/vendor")),
    ];
    for (name, spoil) in cases {
        let work = Work::new();
        work.extend("").unwrap();
        assert!(work.output(system).is_file());
        let given = spoil(&work);
        let out = work.dir.path().join("twice");
        let error = extend_to(&given, &out, Config::default(), None).expect_err(name);
        one_paragraph(&error);
        assert_eq!(error.kind, ErrorKind::AlreadyExtended, "{name}: {error}");
        assert!(!out.exists());
    }
}
