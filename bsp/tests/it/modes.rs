//! Permissions: those of the vendor's tree, except that the owner of the copy may write all of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::common::faults::faults;
use crate::common::{Work, reference_net};
use peerlane_bsp::revert::{Options, revert};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns all paths of a tree, from the inside to the outside, relative to its root.
fn all(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    let mut next = 0;
    while let Some(below) = found.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(root.join(&below)).into_iter().flatten() {
            found.push(below.join(entry.unwrap().file_name()));
        }
    }
    found.reverse();
    found
}

/// Returns the path in the copy for a path of the vendor's tree.
fn moved(path: &Path) -> PathBuf {
    match path.strip_prefix("hardware/peerlane_net") {
        Ok(inside) => Path::new("hardware/peerlane_net_peerlane").join(inside),
        Err(_) => path.to_path_buf(),
    }
}

#[test]
fn files_and_directories_keep_their_permissions() {
    let work = Work::of(&reference_net());
    work.put("scripts/tool.sh", "#!/bin/sh\n");
    for (path, mode) in [
        ("hardware", 0o2775),
        ("hardware/peerlane_net", 0o750),
        ("hardware/peerlane_net/scripts", 0o511),
        ("hardware/peerlane_net/scripts/tool.sh", 0o555),
        ("hardware/peerlane_net/scripts/post_flow.tcl", 0o755),
        // Three files that the extension changes.
        ("hardware/peerlane_net/top.qsf", 0o440),
        ("hardware/peerlane_net/scripts/pre_flow.tcl", 0o750),
        ("hardware/peerlane_net/board.qsys", 0o664),
        ("hardware/peerlane_net/top.v", 0o400),
    ] {
        set(&work.bsp.join(path), mode);
    }
    work.sound("");
    let mut compared = 0;
    for path in all(&work.bsp) {
        let (old, new) = (work.bsp.join(&path), work.out.join(moved(&path)));
        // The root has the mode of a new directory; compiled files are left out.
        if path.as_os_str().is_empty() || !new.exists() {
            continue;
        }
        let owners = if old.is_dir() { 0o700 } else { 0o200 };
        let (has, want) = (mode(&new), mode(&old) | owners);
        assert_eq!(has, want, "{}: {has:o}, not {want:o}", path.display());
        compared += 1;
    }
    assert!(compared > 25, "{compared}");
    assert_eq!(mode(&work.out), 0o755);
}

/// A read-only tree can be extended; the owner may write the copy, and `revert` restores the vendor's permissions.
#[test]
fn a_tree_that_may_only_be_read() {
    let work = Work::of(&reference_net());
    let mut before = Vec::new();
    for path in all(&work.bsp) {
        let whole = work.bsp.join(&path);
        let mode = if whole.is_dir() { 0o555 } else { 0o444 };
        set(&whole, mode);
        before.push((path, mode));
    }
    work.sound("");
    for path in all(&work.out) {
        let whole = work.out.join(&path);
        let kept = path.starts_with("peerlane/vendor") && whole.is_file();
        assert!(kept || mode(&whole) & 0o200 != 0, "{}", path.display());
    }
    assert_eq!(faults(&work), []);
    let out = work.dir.path().join("back");
    let options = Options {
        bsp: work.out.clone(),
        out: out.clone(),
        without_edits: false,
    };
    revert(&options).unwrap();
    for (path, want) in &before {
        assert_eq!(mode(&out.join(path)), *want, "{}", path.display());
    }
    // So that any user can remove the temporary directory.
    for tree in [&work.bsp, &out] {
        for path in all(tree).iter().rev() {
            set(&tree.join(path), 0o700);
        }
    }
}
