//! `install` and `uninstall`.

use super::{Work, exists, says, told};
use peerlane_utilities::install::{Options, install, uninstall};
use std::fs;

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
    // One line, an absolute path, nothing behind it.
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
    // The runtime reads it as anybody.
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

/// Files of somebody else's stay as they are, before and after.
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
        let library = work.root().join("libpeerlane_mmd.so");
        fs::write(&library, "").unwrap();
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
        // It needs driver and rules.
        let (lines, result) = take(&work, &Options::default());
        result.unwrap();
        says(&lines, "driver and rules stay");
        assert!(exists(&work.root().join(RULES)) && exists(&other));
    }
}

/// A platform that was deleted without `uninstall`: what is left of it leads the runtime nowhere.
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
    says(&lines, "toy_peerlane.fcd: stays, it is another platform's");
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

    let work = Work::new();
    fs::remove_file(&work.platform().libraries[0]).unwrap();
    let error = put(&work, &Options::default()).1.unwrap_err();
    assert!(
        error.contains("libpeerlane_mmd.so: the library for the OpenCL runtime is not there"),
        "{error}"
    );
    assert!(
        error.contains("cargo build --release -p peerlane-mmd"),
        "{error}"
    );
    assert_eq!(work.files(), before);
}

/// A driver that is refused at last leaves all as it was.
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

/// Who is not root has a directory of one's own.
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
    let file = own.join("toy_peerlane.fcd");
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .ends_with("/linux64/lib/libpeerlane_mmd.so\n")
    );
    assert_eq!((work.files(), work.calls.take().len()), (before, 0));
    take(&work, &options).1.unwrap();
    // The directory was named by who calls it, and stays.
    assert!(!exists(&file) && own.is_dir());
    let taken = Options {
        directory: Some(work.put("file", b"")),
        ..options
    };
    let error = put(&work, &taken).1.unwrap_err();
    assert!(
        error.contains("it is no directory. Run it as root"),
        "{error}"
    );
}
