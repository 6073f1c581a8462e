//! Tests that need a separate process: its memory usage, and that a signal leaves no files.

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::text;
use rustix::process::{Pid, Signal, kill_process};

/// Copies the reference BSP; returns its hardware directory.
fn copy(to: &Path) -> std::path::PathBuf {
    let run = Command::new("cp")
        .arg("-r")
        .arg(common::reference())
        .arg(to)
        .status()
        .unwrap();
    assert!(run.success());
    to.join("hardware/peerlane_ref")
}

/// The limit is ten times the input plus 200 MB, for every input.
#[test]
fn memory_is_bounded() {
    let many = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    let system = |inside: String| format!("<system>{inside}</system>");
    let mib = |n: usize| n << 20;
    for (name, file, content) in [
        ("many elements", "x.qsys", system(many("<a/>", 79_000_000))),
        (
            "as many as may be",
            "x.qsys",
            system(many("<a/>", 1_900_000)),
        ),
        ("attributes", "x.qsys", system(many("<a b=''/>", 2_200_000))),
        (
            "connections",
            "x.qsys",
            system(many("<connection kind='' start='.' end='.'/>", mib(4))),
        ),
        ("text", "x.qsys", system(many("text\n", mib(7)))),
        ("entities", "x.qsys", system(many("&lt;", mib(7)))),
        (
            "a comment",
            "x.qsys",
            system(format!("<!--{}-->", many("a", mib(7)))),
        ),
        ("foreign bytes", "x.qsys", String::new()),
        (
            "settings",
            "top.qsf",
            many("set_global_assignment -name A B\n", mib(7)),
        ),
        (
            "as many settings as may be",
            "top.qsf",
            "set_global_assignment -name A B\n".repeat(49_000),
        ),
        ("words", "top.qsf", many("a ", mib(7))),
        (
            "a configuration",
            "c.toml",
            format!("a = [{}]", many("1,", mib(7))),
        ),
    ] {
        let work = tempfile::tempdir().unwrap();
        let hardware = copy(&work.path().join("bsp"));
        let mut content = content.into_bytes();
        if content.is_empty() {
            content = vec![0xff; mib(7)];
        }
        let config = hardware.join("c.toml");
        fs::write(&config, "").unwrap();
        fs::write(hardware.join(file), &content).unwrap();
        let out = work.path().join("D");
        let kib = (10 * content.len() + 200_000_000) / 1024;
        let start = Instant::now();
        let run = Command::new("sh")
            .args([
                "-c",
                &format!("ulimit -v {kib}; exec \"$@\""),
                "sh",
                env!("CARGO_BIN_EXE_peerlane"),
            ])
            .args([
                "extend",
                "--bsp",
                text(&work.path().join("bsp")),
                "--out",
                text(&out),
            ])
            .args(["--config", text(&config)])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(
            matches!(run.status.code(), Some(0 | 2)),
            "{name}: {} {said}",
            run.status
        );
        // A time that grows with the square of a file's length would be hours; a busy computer adds some seconds only.
        assert!(
            start.elapsed() < Duration::from_secs(100),
            "{name}: {:?}",
            start.elapsed()
        );
        assert_eq!(out.exists(), run.status.success(), "{name}");
        assert_eq!(
            fs::read_dir(work.path()).unwrap().count(),
            1 + usize::from(out.exists())
        );
    }
}

/// A command that is interrupted in the middle of the copy leaves no files, and ends by the signal.
#[test]
fn a_signal_leaves_nothing_behind() {
    let work = tempfile::tempdir().unwrap();
    let hardware = copy(&work.path().join("bsp"));
    let many = hardware.join("many");
    fs::create_dir(&many).unwrap();
    for n in 0..20_000 {
        fs::write(many.join(n.to_string()), "x").unwrap();
    }
    let bsp = work.path().join("bsp");
    let extended = work.path().join("E");
    interrupted(&["extend", "--report", "r.md", "--bsp", text(&bsp)]);
    let run = common::peerlane(&["extend", "--bsp", text(&bsp), "--out", text(&extended)]);
    assert!(run.status.success());
    interrupted(&["revert", "--bsp", text(&extended)]);
    interrupted_in(&["check", text(&extended)], &[]);
}

/// Runs a command that makes a directory D, and interrupts it after it has started.
fn interrupted(arguments: &[&str]) {
    interrupted_in(arguments, &["--out", "D"]);
}

/// Runs a command with its temporary files in its own directory, and interrupts it after it has started.
fn interrupted_in(arguments: &[&str], more: &[&str]) {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = tempfile::tempdir().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .args(arguments)
            .args(more)
            .current_dir(place.path())
            .env("TMPDIR", place.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = || fs::read_dir(place.path()).unwrap().count() > 0;
        let start = Instant::now();
        while !begun() {
            assert!(start.elapsed() < Duration::from_secs(60), "it never began");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Immediately, as the copy takes only a moment.
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.signal(), Some(signal.as_raw()), "{said}");
        assert!(said.contains("no output was left"), "{said}");
        assert!(!begun(), "{signal:?}");
    }
}

/// Returns the exit status of a command in a shell, and its error output.
fn shell(script: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let run = Command::new("bash")
        .args(["-c", script, "bash", env!("CARGO_BIN_EXE_peerlane")])
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    (run.status.code(), said)
}

/// A reader that closes the output early does not change the result.
#[test]
fn a_reader_may_leave_before_the_end() {
    let work = tempfile::tempdir().unwrap();
    let bsp = work.path().join("bsp");
    copy(&bsp);
    let out = work.path().join("D");
    // There is no reader: the first write finds the pipe closed.
    const CLOSED: &str = "\"$@\" > >(exec true) ; code=$?; wait; exit $code";
    // The reader has certainly ended.
    const GONE: &str = "exec 3> >(exec true); wait $!; \"$@\" >&3; exit $?";
    for script in [CLOSED, GONE] {
        let (code, said) = shell(script, &["config"]);
        assert_eq!((code, said.as_str()), (Some(0), ""));
    }
    let extend = ["extend", "--bsp", text(&bsp), "--out", text(&out)];
    let (code, said) = shell(GONE, &extend);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!(out.join("README.md").is_file());
    let (code, said) = shell(GONE, &["check", text(&out)]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    fs::remove_file(out.join("hardware/peerlane_ref_peerlane/top.v")).unwrap();
    let (code, said) = shell(GONE, &["check", text(&out), "--json"]);
    assert_eq!((code, said.as_str()), (Some(2), ""));
    // A closed standard error does not change the result either.
    let (code, _) = shell("exec 3> >(exec true); wait $!; \"$@\" 2>&3", &extend);
    assert_eq!(code, Some(2));
}

/// If there is no space for the output, the exit status reports it.
#[test]
fn a_full_output_is_an_error() {
    let (code, said) = shell("\"$@\" > /dev/full", &["config"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("standard output: cannot write") && !said.contains("panicked"),
        "{said}"
    );
    // A device is not replaced.
    let work = tempfile::tempdir().unwrap();
    let pipe = work.path().join("report.md");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let bsp = common::reference();
    let out = work.path().join("D");
    for arguments in [
        vec![
            "extend",
            "--bsp",
            text(&bsp),
            "--out",
            text(&out),
            "--report",
            text(&pipe),
        ],
        vec![
            "diagram",
            "--bsp",
            text(&bsp),
            "--format",
            "text",
            "--out",
            text(&pipe),
        ],
    ] {
        let (code, said) = shell("\"$@\"", &arguments);
        assert_eq!(code, Some(2));
        assert!(said.contains("this is not a file"), "{said}");
        assert!(!out.exists() && !pipe.is_file());
    }
}

/// A disk that becomes full during the work: no half-written files stay, and the error names the file by its final
/// name.
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let work = tempfile::tempdir().unwrap();
    let bsp = work.path().join("bsp");
    let hardware = copy(&bsp);
    fs::write(hardware.join("large.bin"), vec![7; 3 << 20]).unwrap();
    let extended = work.path().join("E");
    let run = common::peerlane(&["extend", "--bsp", text(&bsp), "--out", text(&extended)]);
    assert!(run.status.success());
    // A file size limit of 1 MiB simulates the full disk.
    const SMALL: &str = "trap '' XFSZ; ulimit -f 1024; exec \"$@\"";
    for (arguments, file) in [
        (
            ["extend", "--bsp", text(&bsp)],
            "D/hardware/peerlane_ref_peerlane/large.bin",
        ),
        (
            ["revert", "--bsp", text(&extended)],
            "D/hardware/peerlane_ref/large.bin",
        ),
    ] {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("D");
        let (code, said) = shell(SMALL, &[&arguments[..], &["--out", text(&out)]].concat());
        assert_eq!(code, Some(2), "{said}");
        let place_of_file = place.path().join(file);
        assert!(said.contains(text(&place_of_file)), "{said}");
        assert!(said.contains("Free space there"), "{said}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{said}");
    }
}

/// A user other than root extends a read-only tree, and can delete and revert the result.
#[test]
fn a_tree_that_may_only_be_read() {
    let work = tempfile::tempdir().unwrap();
    let bsp = work.path().join("bsp");
    copy(&bsp);
    let program = work.path().join("peerlane");
    fs::copy(env!("CARGO_BIN_EXE_peerlane"), &program).unwrap();
    let script = r#"
        set -e
        cd "$1"
        chmod -R a-w,a+rX bsp
        mkdir place
        as=
        if [ "$(id -u)" = 0 ]; then
            # The temporary directory is root's alone.
            chmod 755 . ; chown 65534 place bsp -R
            as="setpriv --reuid 65534 --regid 65534 --clear-groups"
        fi
        $as ./peerlane extend --bsp bsp --out place/E > /dev/null
        ./peerlane check place/E > /dev/null
        $as ./peerlane revert --bsp place/E --out place/R > /dev/null
        diff -r bsp place/R
        $as rm -r place/E < /dev/null
        chmod -R u+w .
    "#;
    let run = Command::new("bash")
        .args(["-c", script, "bash", text(work.path())])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{said}");
    assert!(!work.path().join("place/E").exists());
}
