//! `install` and `uninstall`.

use super::{Kind, Work, exists, library, says, told};
use peerlane_utilities::install::{Options, install, uninstall};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

const FCD: &str = "opt/Intel/OpenCL/Boards/toy_peerlane.fcd";
const RULES: &str = "usr/lib/udev/rules.d/60-peerlane.rules";
const GROUP: &str = "usr/lib/sysusers.d/peerlane.conf";

fn put(work: &Work, options: &Options) -> (Vec<String>, Result<(), String>) {
    told(|say| install(&work.machine(), &work.platform(), options, say))
}

fn take(work: &Work, options: &Options) -> (Vec<String>, Result<(), String>) {
    told(|say| uninstall(&work.machine(), &work.platform(), options, say))
}

#[test]
fn what_was_installed_goes_without_a_rest() {
    let work = Work::new();
    let before = work.files();
    put(&work, &Options::default()).1.unwrap();
    let library = work.platform().root.join("linux64/lib/libpeerlane_mmd.so");
    let files = work.files();
    // One line, an absolute path, and no bytes after it.
    assert_eq!(
        files[FCD.as_ref() as &std::path::Path],
        format!("{}\n", library.display())
    );
    let rules = &files[RULES.as_ref() as &std::path::Path];
    assert!(
        rules.contains("KERNEL==\"peerlane[0-9]*\", GROUP=\"peerlane\""),
        "{rules}"
    );
    assert!(files[GROUP.as_ref() as &std::path::Path].contains("g peerlane"));
    assert_eq!(
        work.calls.take(),
        [
            "modprobe --dry-run peerlane",
            "systemd-sysusers",
            "udevadm control --reload",
            "udevadm trigger --subsystem-match=misc",
            "modprobe peerlane",
        ]
    );
    // The runtime reads it as any user.
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(work.root().join(FCD))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);

    // Again, with the driver loaded.
    work.driver();
    let (lines, result) = put(&work, &Options::default());
    result.unwrap();
    assert_eq!(work.files(), files);
    says(&lines, "toy_peerlane.fcd: is there already");
    says(&lines, "the driver is loaded already");
    assert_eq!(work.calls.take(), [""; 0]);

    let (lines, result) = take(&work, &Options::default());
    result.unwrap();
    says(&lines, "dkms remove peerlane/");
    assert_eq!(work.files(), before);
    assert_eq!(
        work.calls.take(),
        ["modprobe --remove peerlane", "udevadm control --reload"]
    );
    fs::remove_dir(work.root().join("sys/module/peerlane")).unwrap();
    let (lines, result) = take(&work, &Options::default());
    result.unwrap();
    says(&lines, "toy_peerlane.fcd: is not there");
    assert_eq!(work.files(), before);
    assert_eq!(work.calls.take(), [""; 0]);
}

#[test]
fn a_dry_run_does_nothing() {
    let work = Work::new();
    let before = work.files();
    let dry = Options {
        dry_run: true,
        ..Options::default()
    };
    let (lines, result) = put(&work, &dry);
    result.unwrap();
    for words in [
        "would write",
        FCD,
        RULES,
        GROUP,
        "would run udevadm trigger",
        "would run modprobe peerlane",
    ] {
        says(&lines, words);
    }
    assert_eq!(work.files(), before);
    assert_eq!(work.calls.take(), ["modprobe --dry-run peerlane"]);
    put(&work, &Options::default()).1.unwrap();
    work.driver();
    work.calls.take();
    let files = work.files();
    let (lines, result) = take(&work, &dry);
    result.unwrap();
    says(
        &lines,
        &format!("would remove {}", work.root().join(FCD).display()),
    );
    says(&lines, "would run modprobe --remove peerlane");
    assert_eq!(work.files(), files);
    assert_eq!(work.calls.take(), [""; 0]);
}

/// Files of other software stay as they are, before and after.
#[test]
fn what_others_have_put_there_stays() {
    let work = Work::new();
    fs::write(work.root().join(RULES), "by hand\n").unwrap();
    let before = work.files();
    let (lines, result) = put(&work, &Options::default());
    result.unwrap();
    says(&lines, "60-peerlane.rules: is there already");
    assert_eq!(
        work.files()[RULES.as_ref() as &std::path::Path],
        "by hand\n"
    );
    let (lines, result) = take(&work, &Options::default());
    result.unwrap();
    says(
        &lines,
        "60-peerlane.rules: stays, `install` did not write it",
    );
    assert_eq!(work.files(), before);
    // Another board's file under this name.
    let fcd = work.root().join(FCD);
    fs::create_dir_all(fcd.parent().unwrap()).unwrap();
    fs::write(&fcd, "/somewhere/libvendor_mmd.so\n").unwrap();
    let before = work.files();
    let error = put(&work, &Options::default()).1.unwrap_err();
    assert!(
        error.contains("names other libraries. Another platform has the same name"),
        "{error}"
    );
    take(&work, &Options::default()).1.unwrap();
    assert_eq!(work.files(), before);
    // The platform was moved: its own file is renewed.
    fs::write(&fcd, "/old/linux64/lib/libpeerlane_mmd.so\n").unwrap();
    put(&work, &Options::default()).1.unwrap();
    let library = work.platform().libraries[0].clone();
    assert_eq!(
        fs::read_to_string(&fcd).unwrap(),
        format!("{}\n", library.display())
    );
}

/// The runtime reads two directories, and a library that is named twice gives each board twice.
#[test]
fn one_library_serves_all_platforms() {
    for place in [
        "opt/Intel/OpenCL_boards/peerlane.fcd",
        "opt/Intel/OpenCL/Boards/other.fcd",
    ] {
        let work = Work::new();
        let other = work.root().join(place);
        fs::create_dir_all(other.parent().unwrap()).unwrap();
        let file = work.root().join("libpeerlane_mmd.so");
        fs::write(&file, library(Kind::Open)).unwrap();
        let library = file;
        fs::write(&other, format!("{}\n", library.display())).unwrap();
        let (lines, result) = put(&work, &Options::default());
        result.unwrap();
        says(
            &lines,
            &format!(
                "{} leads the runtime to the boards of all platforms",
                other.display()
            ),
        );
        assert!(!exists(&work.root().join(FCD)));
        // The other platform needs driver and rules.
        let (lines, result) = take(&work, &Options::default());
        result.unwrap();
        says(&lines, "driver and rules stay");
        assert!(exists(&work.root().join(RULES)) && exists(&other));
    }
}

/// A platform that was deleted without `uninstall`: its remaining file leads the runtime nowhere.
#[test]
fn what_is_left_of_a_platform_serves_nobody() {
    let work = Work::new();
    let stale = work.root().join("opt/Intel/OpenCL/Boards/old.fcd");
    fs::create_dir_all(stale.parent().unwrap()).unwrap();
    fs::write(&stale, "/nowhere/linux64/lib/libpeerlane_mmd.so\n").unwrap();
    let (lines, result) = put(&work, &Options::default());
    result.unwrap();
    says(&lines, "old.fcd: names a library that is not there");
    assert!(exists(&work.root().join(FCD)));
    take(&work, &Options::default()).1.unwrap();
    assert!(!exists(&work.root().join(RULES)) && exists(&stale));
}

/// Two platforms of one name: the second one's `.fcd` has taken the first one's place, and needs driver and rules.
#[test]
fn a_platform_of_the_same_name_needs_driver_and_rules() {
    let work = Work::new();
    put(&work, &Options::default()).1.unwrap();
    work.driver();
    work.calls.take();
    let library = work.root().join("libpeerlane_mmd.so");
    fs::write(&library, "").unwrap();
    let fcd = work.root().join(FCD);
    fs::write(&fcd, format!("{}\n", library.display())).unwrap();
    let before = work.files();
    let (lines, result) = take(&work, &Options::default());
    result.unwrap();
    says(
        &lines,
        "toy_peerlane.fcd: stays, it belongs to another platform",
    );
    says(&lines, "driver and rules stay");
    assert_eq!(work.files(), before);
    assert_eq!(work.calls.take(), [""; 0]);
}

#[test]
fn what_is_missing_is_said_before_anything_is_written() {
    let work = Work::new();
    let before = work.files();
    work.calls.fail("modprobe --dry-run");
    let error = put(&work, &Options::default()).1.unwrap_err();
    for words in [
        "the driver is not installed for this kernel",
        "step 6 of ",
        "README.md",
    ] {
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(work.files(), before);
    // All faults, in one error.
    fs::remove_file(&work.platform().libraries[0]).unwrap();
    let error = put(&work, &Options::default()).1.unwrap_err();
    for words in [
        "2 things are missing",
        "(1) ",
        "the library for the OpenCL runtime is not there",
        "(2) the driver is not installed",
        "Then run this again.",
    ] {
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(work.files(), before);
    // A dry run also prints them, together with the steps.
    let dry = Options {
        dry_run: true,
        ..Options::default()
    };
    let (lines, result) = put(&work, &dry);
    assert!(result.unwrap_err().contains("2 things are missing"));
    says(&lines, "would write");
    says(&lines, "would run modprobe peerlane");

    let work = Work::new();
    fs::remove_file(&work.platform().libraries[0]).unwrap();
    let error = put(&work, &Options::default()).1.unwrap_err();
    assert!(
        error.contains("libpeerlane_mmd.so: the library for the OpenCL runtime is not there"),
        "{error}"
    );
    assert!(
        error.contains("Step 7 of the platform's README.md"),
        "{error}"
    );
    assert_eq!(work.files(), before);
}

/// A driver that is refused at the end leaves all as before.
#[test]
fn a_failure_at_the_end_undoes_all() {
    let work = Work::new();
    let old = work.root().join(FCD);
    fs::create_dir_all(old.parent().unwrap()).unwrap();
    fs::write(&old, "/old/libpeerlane_mmd.so\n").unwrap();
    let before = work.files();
    work.calls.fail("modprobe peerlane");
    let error = put(&work, &Options::default()).1.unwrap_err();
    assert!(
        error.contains("the driver cannot be loaded (modprobe: no such thing)"),
        "{error}"
    );
    assert_eq!(work.files(), before);
    // In use: nothing is removed.
    let work = Work::new();
    put(&work, &Options::default()).1.unwrap();
    work.driver();
    let before = work.files();
    work.calls.fail("modprobe --remove");
    let error = take(&work, &Options::default()).1.unwrap_err();
    assert!(
        error.contains("End the programs that use the boards"),
        "{error}"
    );
    assert_eq!(work.files(), before);
}

/// The file in the library's place may be anything.
#[test]
fn what_is_no_library_is_refused() {
    let work = Work::new();
    let before = work.files();
    let place = work.platform().libraries[0].clone();
    let whole = library(Kind::Open);
    for (bytes, words) in [
        (&b""[..], "libpeerlane_mmd.so: is empty"),
        (&b"\x7fELF"[..], "is not a library, or only a part of one"),
        (
            &b"#!/bin/sh\n"[..],
            "is not a library, or only a part of one",
        ),
        (
            &whole[..whole.len() / 2],
            "is not a library, or only a part of one",
        ),
        (library(Kind::Less), "it has no aocl_mmd_write"),
        (library(Kind::Foreign), "but not one of Peerlane"),
    ] {
        fs::write(&place, bytes).unwrap();
        let error = put(&work, &Options::default()).1.unwrap_err();
        assert!(
            error.contains(words) && error.contains("Step 7 of"),
            "{error}"
        );
        assert_eq!(work.files(), before);
    }
    for (kind, words) in [
        (Kind::Open, "the library for the open runtime"),
        (Kind::Legacy, "the library for the closed runtimes (legacy)"),
    ] {
        fs::write(&place, library(kind)).unwrap();
        let dry = Options {
            dry_run: true,
            ..Options::default()
        };
        let (lines, result) = put(&work, &dry);
        result.unwrap();
        says(&lines, words);
    }
}

/// The library is loaded by programs of all users, from directories that all may enter.
#[test]
fn a_platform_that_others_cannot_enter_is_remarked() {
    let work = Work::new();
    let root = work.platform().root;
    let dry = Options {
        dry_run: true,
        ..Options::default()
    };
    for (mode, words) in [
        (0o700, "other users cannot enter it (mode 0700)"),
        (0o777, "users other than root may write it"),
    ] {
        // The temporary directory is closed to others by itself.
        for directory in root.ancestors().take(2) {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
        let (lines, result) = put(&work, &dry);
        result.unwrap();
        says(&lines, words);
    }
    if fs::metadata(&root).unwrap().uid() != 0 {
        return;
    }
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    let (lines, result) = put(&work, &dry);
    result.unwrap();
    assert!(
        !lines.iter().any(|line| line.contains("/opt.")),
        "{lines:?}"
    );
}

/// Runs the command itself, as a package is made.
fn run(work: &Work, words: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_peerlane-aocl"))
        .arg("--platform")
        .arg(work.platform().root)
        .args(words)
        .arg("--root")
        .arg(work.root())
        .env_remove("ACL_BOARD_VENDOR_PATH")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
    (run.status.code(), said)
}

/// The variable is the shell's, the directory is a package's; and no file is written outside of that directory.
#[test]
fn nothing_is_written_outside_of_the_root() {
    let work = Work::new();
    let outside = work.put("outside/x", b"").with_file_name("");
    let outside = outside.to_str().unwrap();
    let variable = [("ACL_BOARD_VENDOR_PATH", outside)];
    for words in [&["install"][..], &["uninstall"]] {
        let (status, said) = run(&work, words, &variable);
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 1, "{said}");
        assert_eq!(
            exists(&work.root().join(FCD)),
            words == ["install"],
            "{said}"
        );
    }
    let (status, said) = run(&work, &["install", "--fcd-dir", "/etc/boards"], &[]);
    assert_eq!(status, Some(0), "{said}");
    assert!(exists(&work.root().join("etc/boards/toy_peerlane.fcd")));
    assert!(!Path::new("/etc/boards").exists());
}

/// A package is made in a directory that has nothing yet.
#[test]
fn a_fresh_root_gets_all_files() {
    let work = Work::new();
    fs::remove_dir_all(work.root()).unwrap();
    let (status, said) = run(&work, &["install"], &[]);
    assert_eq!(status, Some(0), "{said}");
    for file in [FCD, RULES, GROUP] {
        assert!(exists(&work.root().join(file)), "{file}: {said}");
    }
    // And all of its files are removed.
    let (status, said) = run(&work, &["uninstall"], &[]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(fs::read_dir(work.root()).unwrap().count(), 0, "{said}");
    // A system that has no such directories does not read them.
    let work = Work::new();
    fs::remove_dir_all(work.root().join("usr")).unwrap();
    let (lines, result) = put(&work, &Options::default());
    result.unwrap();
    says(
        &lines,
        "60-peerlane.rules: this system has no such directory",
    );
    assert!(!exists(&work.root().join(RULES)));
}

/// The scripts name the platform, with any value of the variable; an empty value names none.
#[test]
fn an_empty_variable_names_no_platform() {
    let work = Work::new();
    let empty = [("AOCL_BOARD_PACKAGE_ROOT", "")];
    let (status, said) = run(&work, &["install", "--dry-run"], &empty);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("would write"), "{said}");
    let run = Command::new(env!("CARGO_BIN_EXE_peerlane-aocl"))
        .args(["install", "--dry-run"])
        .envs(empty)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(said.contains("the platform is not named"), "{said}");
}

/// An empty variable names no directory, and a list is refused.
#[test]
fn the_variable_names_one_directory_or_none() {
    let work = Work::new();
    let run = |value: &str| {
        let run = Command::new(env!("CARGO_BIN_EXE_peerlane-aocl"))
            .arg("--platform")
            .arg(work.platform().root)
            .args(["install", "--fcd-only", "--dry-run"])
            .env("ACL_BOARD_VENDOR_PATH", value)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        (run.status.code(), said)
    };
    let (status, said) = run("");
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.contains("/opt/Intel/OpenCL/Boards/toy_peerlane.fcd"),
        "{said}"
    );
    let (status, said) = run("/a:/b");
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("/a:/b: ") && said.contains("has a colon"),
        "{said}"
    );
    let own = work.put("own/x", b"").with_file_name("boards");
    let (status, said) = run(own.to_str().unwrap());
    assert_eq!(status, Some(0), "{said}");
    let written = format!("would write {}", own.join("toy_peerlane.fcd").display());
    assert!(said.contains(&written), "{said}");
}

/// If `uninstall` finds no file, it names the places where one may be.
#[test]
fn a_file_that_was_written_elsewhere_is_remarked() {
    let work = Work::new();
    let (lines, result) = take(&work, &Options::default());
    result.unwrap();
    says(
        &lines,
        "ACL_BOARD_VENDOR_PATH named, run this with the same value",
    );
}

/// A user's PATH does not have the administrator's directories (Debian's /etc/profile), and `sudo -E env "PATH=$PATH"`
/// passes it on. A driver that is installed and not loaded must be found nevertheless.
#[test]
fn tools_of_the_administrator_are_found() {
    let work = Work::new();
    let modprobe = ["/usr/sbin/modprobe", "/sbin/modprobe"].map(Path::new);
    let there = modprobe.iter().any(|file| file.is_file());
    let run = Command::new(env!("CARGO_BIN_EXE_peerlane-aocl"))
        .arg("--platform")
        .arg(work.platform().root)
        .args(["install", "--dry-run"])
        .env("PATH", "/nowhere")
        .env_remove("ACL_BOARD_VENDOR_PATH")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    if Path::new("/sys/module/peerlane").is_dir() {
        return;
    }
    match there {
        true => assert!(!said.contains("neither on the PATH"), "{said}"),
        // Unknown facts are not printed: here there is no such tool at all.
        false => {
            let words =
                "cannot check whether the driver is installed: modprobe: it is neither on the PATH";
            assert!(said.contains(words), "{said}");
            assert!(!said.contains("step 6"), "{said}");
        }
    }
}

/// A user who is not root has a directory of one's own.
#[test]
fn only_the_file_for_the_runtime() {
    let work = Work::new();
    let before = work.files();
    let own = work.put("own/x", b"").with_file_name("boards");
    let options = Options {
        directory: Some(own.clone()),
        fcd_only: true,
        dry_run: false,
    };
    put(&work, &options).1.unwrap();
    // It is a directory of the computer, whose files are below another one here.
    let own = work.root().join(own.strip_prefix("/").unwrap());
    let file = own.join("toy_peerlane.fcd");
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .ends_with("/linux64/lib/libpeerlane_mmd.so\n")
    );
    assert_eq!((work.files(), work.calls.take().len()), (before, 0));
    take(&work, &options).1.unwrap();
    // The caller named the directory, so it stays.
    assert!(!exists(&file) && own.is_dir());
    let taken = Options {
        directory: Some({
            let file = work.put("root/file", b"");
            Path::new("/").join(file.strip_prefix(work.root()).unwrap())
        }),
        ..options
    };
    let error = put(&work, &taken).1.unwrap_err();
    assert!(
        error.contains("it is not a directory. Run it as root"),
        "{error}"
    );
}

/// The runtime skips a directory or a file that its user cannot read, without a message.
#[test]
fn everybody_finds_what_a_careful_root_has_installed() {
    const INNER: &str = "PEERLANE_TEST_UMASK";
    if std::env::var_os(INNER).is_none() {
        // The mask belongs to the process, so this test has one of its own.
        let itself = std::env::current_exe().unwrap();
        let name = "install::everybody_finds_what_a_careful_root_has_installed";
        let output = Command::new("sh")
            .args(["-c", "umask 077; exec \"$0\" \"$@\""])
            .arg(itself)
            .args(["--exact", name])
            .env(INNER, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    let work = Work::new();
    fs::remove_dir_all(work.root().join("opt/Intel")).ok();
    put(&work, &Options::default()).1.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = work.root().join(FCD);
    assert_eq!(mode(&file), 0o644);
    for directory in file.ancestors().skip(1).take(3) {
        assert_eq!(mode(directory), 0o755, "{}", directory.display());
    }
    assert_eq!(mode(&work.root().join(RULES)), 0o644);
}
