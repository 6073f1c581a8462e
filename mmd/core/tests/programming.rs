//! Programming: the way that is chosen, the arguments of a tool, and that nothing ends the tool early.

use peerlane_host::{Area, Errno, Error, OpenCl, Packing};
use peerlane_mmd_core::{CvpOrJtag, Jtag, Programmer};
use peerlane_opencl::{CONFIGURATION, Package};
use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const TOOL: &str = "PEERLANE_QUARTUS_PGM";
/// Variable with the directory of a test, for its inner process.
const WORK: &str = "PEERLANE_PROGRAMMING_WORK";

/// Puts a tool in place of `quartus_pgm`.
fn tool(work: &Path, script: &str) {
    let tool = work.join("quartus_pgm");
    fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs this test in a process of its own, with the tool in its environment.
fn inner(name: &str, work: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(TOOL, work.join("quartus_pgm"))
        .env(WORK, work)
        .env("TMPDIR", work);
    command
}

/// A board that is only programmed. Its file is the standard input.
#[derive(Debug, Default)]
struct Board {
    /// Whether its FPGA can be configured over PCIe; and whether it takes the image.
    configures: bool,
    takes: bool,
    input: Option<std::io::Stdin>,
    cores: Mutex<Vec<Vec<u8>>>,
}

impl OpenCl for Board {
    fn configures(&self) -> bool {
        self.configures
    }

    fn configure(&self, image: &[u8], packing: Packing) -> peerlane_host::Result<()> {
        assert_eq!(packing, Packing::AsTold);
        self.cores.lock().unwrap().push(image.into());
        match self.takes {
            true => Ok(()),
            false => Err(Error::Call {
                call: "CONFIGURE",
                source: Errno::IO,
            }),
        }
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(|input| input.as_fd())
    }

    fn bytes(&self, _: Area) -> u64 {
        unreachable!("the test does not use it")
    }

    fn read(&self, _: Area, _: u64, _: &mut [u8]) -> peerlane_host::Result<()> {
        unreachable!("the test does not use it")
    }

    fn write(&self, _: Area, _: u64, _: &[u8]) -> peerlane_host::Result<()> {
        unreachable!("the test does not use it")
    }

    fn arm(&self) -> peerlane_host::Result<()> {
        unreachable!("the test does not use it")
    }

    fn wait(&self, _: Option<Duration>) -> peerlane_host::Result<bool> {
        unreachable!("the test does not use it")
    }

    fn wake(&self) {
        unreachable!("the test does not use it")
    }

    fn reprogram(
        &self,
        _: bool,
        _: &mut dyn FnMut() -> peerlane_host::Result<()>,
    ) -> peerlane_host::Result<()> {
        unreachable!("the test programs by itself")
    }
}

/// Programs in the inner process, with its standard input as the board's file.
fn program() -> Result<(), String> {
    let mut image = Package::default();
    image.set(".acl.hash", "12");
    image.set(CONFIGURATION, "configuration");
    let board = Board {
        input: Some(std::io::stdin()),
        ..Board::default()
    };
    alone().program(&image.bytes(), &board)
}

/// Makes the programmer of the only board.
fn alone() -> Jtag {
    Jtag::new("peerlane0", true)
}

fn is_inner() -> bool {
    std::env::var_os(WORK).is_some()
}

/// Lists the files in a directory.
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
    // The configuration's file was removed.
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

/// Where `SIGCHLD` is ignored, or another thread waits for all children, a child's status is lost. The tool has
/// children of its own.
#[test]
fn an_application_may_take_the_statuses_of_children() {
    const TAKES: &str = "PEERLANE_PROGRAMMING_TAKES";
    let name = "an_application_may_take_the_statuses_of_children";
    if is_inner() {
        let takes = std::env::var(TAKES).unwrap();
        if takes == "ignores" {
            // SAFETY: nothing is called for it.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        } else {
            std::thread::spawn(|| {
                loop {
                    // SAFETY: the status is not used.
                    unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) };
                    std::thread::yield_now();
                }
            });
        }
        println!("<{:?}>", program());
        return;
    }
    for takes in ["ignores", "waits"] {
        for (status, expected) in [("0", "<Ok(())>"), ("3", "ended with exit status: 3: ")] {
            let work = tempfile::tempdir().unwrap();
            tool(work.path(), &format!("sh -c 'exit {status}'"));
            let output = inner(name, work.path()).env(TAKES, takes).output();
            let output = output.unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains(expected), "{takes}, {status}: {said}");
            assert_eq!(names(work.path()), ["quartus_pgm"]);
        }
    }
}

/// The caller is killed, with its process group and the process that reads the tool's output. The tool goes on to its
/// end, and until then a process has the board's file; but a process that the tool leaves running does not have it.
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
    // The last copy of the file is closed when the tool has ended, and before the server ends.
    assert_eq!(held.read(&mut [0]).unwrap(), 0);
    let server = fs::read_to_string(work.path().join("server")).unwrap();
    let running = Path::new("/proc").join(server.trim()).exists();
    // The test ends the server that is left.
    let ended = Command::new("kill").arg(server.trim()).status().unwrap();
    assert!(work.path().join("done").exists(), "the tool was ended");
    assert!(running && ended.success());
    assert_eq!(
        names(work.path()),
        ["begun", "done", "go", "quartus_pgm", "server"]
    );
}

#[test]
fn an_image_for_another_tool_is_refused() {
    let jtag = alone();
    let error = jtag.check(b"text", &Board::default()).unwrap_err();
    assert!(error.contains(".acl.sof"), "{error}");
    assert!(!jtag.keeps_memory(b"text"));
}

/// Sections with an image for PCIe, and for JTAG.
const CORE: (&str, &str) = (".acl.core.rbf", "core");
const SOF: (&str, &str) = (CONFIGURATION, "configuration");

/// Programs a board, in a process of its own.
fn choose(sections: &[(&str, &str)], board: &Board) -> Result<(), String> {
    let mut image = Package::default();
    for (name, content) in sections {
        image.set(name, content);
    }
    let image = image.bytes();
    let programmer = CvpOrJtag::new(alone());
    assert!(!programmer.keeps_memory(&image));
    programmer.check(&image, board)?;
    programmer.program(&image, board)
}

/// Runs the rest of a test in a process whose tool records its runs; returns the number of runs.
fn with_tool(name: &str, way: Option<&str>) -> usize {
    let work = tempfile::tempdir().unwrap();
    tool(work.path(), r#"echo >>"$PEERLANE_PROGRAMMING_WORK/ran""#);
    let mut command = inner(name, work.path());
    command.env_remove("PEERLANE_PROGRAM");
    if let Some(way) = way {
        command.env("PEERLANE_PROGRAM", way);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let ran = fs::read_to_string(work.path().join("ran"));
    ran.map_or(0, |ran| ran.lines().count())
}

fn board(configures: bool, takes: bool) -> Board {
    Board {
        configures,
        takes,
        ..Board::default()
    }
}

fn cores(board: &Board) -> usize {
    let cores = board.cores.lock().unwrap();
    assert!(cores.iter().all(|core| core == b"core"));
    cores.len()
}

/// Over PCIe where package and board allow it, else by JTAG.
#[test]
fn pcie_is_taken_where_it_can_be() {
    if !is_inner() {
        let ran = with_tool("pcie_is_taken_where_it_can_be", None);
        assert_eq!(ran, 4, "times that the tool ran");
        return;
    }
    let same = [
        CORE,
        (".acl.periph.hash", "ab\n"),
        (".acl.base_revision.periph.hash", "ab"),
    ];
    for sections in [&[CORE, SOF][..], &[CORE], &same] {
        let board = board(true, true);
        assert_eq!(choose(sections, &board), Ok(()));
        assert_eq!(cores(&board), 1);
    }
    // The board cannot; the package has none; it has one for another periphery.
    let other = [
        CORE,
        SOF,
        (".acl.periph.hash", "ab"),
        (".acl.base_revision.periph.hash", "ac"),
    ];
    for (sections, configures) in [(&[CORE, SOF][..], false), (&[SOF], true), (&other, true)] {
        let board = board(configures, true);
        assert_eq!(choose(sections, &board), Ok(()));
        assert_eq!(cores(&board), 0);
    }
    // The FPGA does not take it: by JTAG, if that is possible.
    let refuses = board(true, false);
    assert_eq!(choose(&[CORE, SOF], &refuses), Ok(()));
    assert_eq!(cores(&refuses), 1);
    let error = choose(&[CORE], &refuses).unwrap_err();
    assert!(
        error.contains("over PCIe") && error.contains(".acl.sof"),
        "{error}"
    );
    // Neither way is possible.
    let error = choose(&[CORE], &board(false, true)).unwrap_err();
    assert!(error.contains(".acl.sof"), "{error}");
}

#[test]
fn cvp_alone_is_said_to_be_impossible() {
    if !is_inner() {
        assert_eq!(
            with_tool("cvp_alone_is_said_to_be_impossible", Some("cvp")),
            0
        );
        return;
    }
    assert_eq!(choose(&[CORE, SOF], &board(true, true)), Ok(()));
    for (sections, board, why) in [
        (&[SOF][..], board(true, true), ".acl.core.rbf"),
        (&[CORE, SOF], board(false, true), "does not permit"),
        (&[CORE, SOF], board(true, false), "the kernel's log"),
    ] {
        let error = choose(sections, &board).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn jtag_alone_leaves_pcie_alone() {
    if !is_inner() {
        assert_eq!(with_tool("jtag_alone_leaves_pcie_alone", Some("jtag")), 1);
        return;
    }
    let board = board(true, true);
    assert_eq!(choose(&[CORE, SOF], &board), Ok(()));
    assert_eq!(cores(&board), 0);
    assert!(choose(&[CORE], &board).unwrap_err().contains(".acl.sof"));
}

#[test]
fn another_way_is_refused() {
    if !is_inner() {
        assert_eq!(with_tool("another_way_is_refused", Some("usb")), 0);
        return;
    }
    let error = choose(&[CORE, SOF], &board(true, true)).unwrap_err();
    assert_eq!(error, "PEERLANE_PROGRAM: usb is neither cvp nor jtag");
}

/// With several boards each needs its own place; a single board uses the settings for all boards.
#[test]
fn of_several_boards_each_has_its_own_place() {
    let name = "of_several_boards_each_has_its_own_place";
    let mut image = Package::default();
    image.set(SOF.0, SOF.1);
    let image = image.bytes();
    if is_inner() {
        let several = CvpOrJtag::new(Jtag::new("peerlane1", false));
        let board = Board::default();
        let done = several.check(&image, &board);
        println!(
            "<{:?}>",
            done.and_then(|()| several.program(&image, &board))
        );
        let one = CvpOrJtag::new(Jtag::new("peerlane1", true));
        println!("<{:?}>", one.program(&image, &board));
        return;
    }
    // The settings; the cable and the device of one of several boards, and of a single board.
    let own = "ACL_PCIE_JTAG_CABLE_peerlane1";
    let index = "ACL_PCIE_JTAG_DEVICE_INDEX_peerlane1";
    let all = [
        ("ACL_PCIE_JTAG_CABLE", "usb"),
        ("ACL_PCIE_JTAG_DEVICE_INDEX", "3"),
    ];
    type Case<'a> = (&'a [(&'a str, &'a str)], Option<[&'a str; 2]>, [&'a str; 2]);
    let cases: [Case<'_>; 6] = [
        (&[], None, ["1", "1"]),
        (&all, None, ["usb", "3"]),
        (
            &[("ACL_PCIE_JTAG_CABLE_peerlane0", "x"), (own, "")],
            None,
            ["1", "1"],
        ),
        (&[(own, "far")], Some(["far", "1"]), ["far", "1"]),
        (
            &[all[0], all[1], (index, "2")],
            Some(["usb", "2"]),
            ["usb", "2"],
        ),
        (
            &[all[0], all[1], (own, "far"), (index, "2")],
            Some(["far", "2"]),
            ["far", "2"],
        ),
    ];
    for (set, several, one) in cases {
        let work = tempfile::tempdir().unwrap();
        tool(
            work.path(),
            r#"echo "$2 ${6##*@}" >>"$PEERLANE_PROGRAMMING_WORK/places""#,
        );
        let mut command = inner(name, work.path());
        for (name, _) in all {
            command.env_remove(name);
        }
        let output = command.envs(set.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            said.contains(own) && said.contains(index),
            several.is_none(),
            "{said}"
        );
        let places = fs::read_to_string(work.path().join("places")).unwrap();
        let expected: Vec<String> = several
            .into_iter()
            .chain([one])
            .map(|place| place.join(" "))
            .collect();
        assert_eq!(places.lines().collect::<Vec<_>>(), expected, "{set:?}");
    }
}
