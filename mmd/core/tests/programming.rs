//! Programming by a tool: what it is called with, and that nothing ends it in the middle.

use peerlane_mmd_core::{Jtag, Programmer};
use peerlane_opencl::{CONFIGURATION, Package};
use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TOOL: &str = "PEERLANE_QUARTUS_PGM";
/// Names the directory of a test, to its inner process.
const WORK: &str = "PEERLANE_PROGRAMMING_WORK";

/// Puts a tool in place of `quartus_pgm`.
fn tool(work: &Path, script: &str) {
    let tool = work.join("quartus_pgm");
    fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
}

/// This test in a process of its own, with the tool in its environment.
fn inner(name: &str, work: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(TOOL, work.join("quartus_pgm"))
        .env(WORK, work)
        .env("TMPDIR", work);
    command
}

/// What the inner process does: programs, with its standard input as the board's file.
fn program() -> Result<(), String> {
    let held = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let mut image = Package::default();
    image.set(".acl.hash", "12");
    image.set(CONFIGURATION, "configuration");
    Jtag.program(&image.bytes(), Some(held))
}

fn is_inner() -> bool {
    std::env::var_os(WORK).is_some()
}

/// Names of the files in a directory.
fn names(work: &Path) -> Vec<String> {
    let entries = fs::read_dir(work).unwrap().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_tool_gets_the_configuration() {
    if is_inner() {
        program().unwrap();
        return;
    }
    let work = tempfile::tempdir().unwrap();
    tool(
        work.path(),
        r#"echo "$@" >"$PEERLANE_PROGRAMMING_WORK/arguments"
        file=${6#P;}
        cat "${file%@2}" >"$PEERLANE_PROGRAMMING_WORK/content""#,
    );
    let output = inner("the_tool_gets_the_configuration", work.path())
        .env("ACL_PCIE_JTAG_DEVICE_INDEX", "2")
        .env("ACL_PCIE_JTAG_CABLE", "USB-Blaster [1-3]")
        .output();
    assert!(output.unwrap().status.success());
    let read = |name: &str| fs::read_to_string(work.path().join(name)).unwrap();
    assert_eq!(read("content"), "configuration");
    let arguments = read("arguments");
    assert!(
        arguments.starts_with("-c USB-Blaster [1-3] -m jtag -o P;"),
        "{arguments}"
    );
    // The configuration's file is gone.
    assert_eq!(names(work.path()), ["arguments", "content", "quartus_pgm"]);
}

#[test]
fn a_tool_that_fails_says_why() {
    if is_inner() {
        println!("<{}>", program().unwrap_err());
        return;
    }
    let work = tempfile::tempdir().unwrap();
    tool(
        work.path(),
        "echo 'Info: Quartus Prime Programmer'\necho 'Error (213013): no cable' >&2\nexit 3",
    );
    let output = inner("a_tool_that_fails_says_why", work.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("ended with exit status: 3: Error (213013): no cable>"),
        "{said}"
    );
    assert_eq!(names(work.path()), ["quartus_pgm"]);
}

/// Who calls is killed, with all of its process group and whoever reads what the tool says. The tool goes on
/// to its end, and until then somebody has the board's file; but not what the tool leaves running.
#[test]
fn the_tool_outlives_its_caller_and_holds_the_board() {
    if is_inner() {
        program().unwrap();
        return;
    }
    let work = tempfile::tempdir().unwrap();
    tool(
        work.path(),
        r#"cd "$PEERLANE_PROGRAMMING_WORK"
        sleep 3600 &
        echo $! >server
        : >begun
        while ! test -e go; do sleep 0.05; echo "a line"; done
        echo "the last line" || exit 4
        : >done"#,
    );
    let (mut held, theirs) = std::io::pipe().unwrap();
    let name = "the_tool_outlives_its_caller_and_holds_the_board";
    let mut caller = inner(name, work.path())
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !work.path().join("begun").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    caller.kill().unwrap();
    caller.wait().unwrap();
    fs::write(work.path().join("go"), "").unwrap();
    // Its last copy is closed when the tool has ended, and before the server does.
    assert_eq!(held.read(&mut [0]).unwrap(), 0);
    let server = fs::read_to_string(work.path().join("server")).unwrap();
    let running = Path::new("/proc").join(server.trim()).exists();
    // A server that is left is ours to end.
    let ended = Command::new("kill").arg(server.trim()).status().unwrap();
    assert!(work.path().join("done").exists(), "the tool was ended");
    assert!(running && ended.success());
    assert_eq!(
        names(work.path()),
        ["begun", "done", "go", "quartus_pgm", "server"]
    );
}
