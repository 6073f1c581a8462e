//! What only a process of its own can show: how much memory it takes, and that a signal leaves nothing behind.

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::text;

/// A copy of the reference BSP; gives its hardware directory.
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

/// Ten times the input and 200 MB are enough for any of it.
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
        assert!(
            start.elapsed() < Duration::from_secs(10),
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

/// Whoever is interrupted in the middle of the copy leaves nothing, and ends by the signal.
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
}

/// Runs a command that makes a directory D, and interrupts it when it has begun.
fn interrupted(arguments: &[&str]) {
    for (name, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let place = tempfile::tempdir().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .args(arguments)
            .args(["--out", "D"])
            .current_dir(place.path())
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
        let sent = Command::new("kill")
            .args([name, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.signal(), Some(number), "{said}");
        assert!(said.contains("nothing was left behind"), "{said}");
        assert!(!begun(), "{name}");
    }
}
