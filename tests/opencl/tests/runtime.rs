//! Tests of an OpenCL host program with a real FPGA runtime for OpenCL, which `PEERLANE_RUNTIME` names, and the board
//! library over the simulated board. Program and runtime are the same as for any board.

use peerlane_mmd_simulated::{Failure, SETUP, Setup, Simulation};
use peerlane_opencl::{HostProgram, MEMCHECK, Package, Runtime};
use peerlane_package::upgrade_package;
use peerlane_sim_opencl::{Contents, Csr, Program, Rom, Text, Timing};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit of a run that hangs, also under valgrind.
const LIMIT: Duration = Duration::from_secs(900);

/// The longest time that a program takes from a signal to its end.
const SOON: Duration = Duration::from_secs(30);

/// A kernel's time in its cycles, longer than any test waits.
const FOR_EVER: u64 = 1 << 50;

/// Parts that all tests share: a runtime, and the program for it.
struct Parts {
    runtime: Runtime,
    program: HostProgram,
    _directory: TempDir,
}

fn parts() -> &'static Parts {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    PARTS.get_or_init(|| {
        let runtime = Runtime::find().unwrap_or_else(|error| panic!("{error}"));
        let directory = tempfile::tempdir().unwrap();
        let program = HostProgram::build(&runtime, &directory.path().join("host"));
        Parts {
            program: program.unwrap_or_else(|error| panic!("{error}")),
            runtime,
            _directory: directory,
        }
    })
}

/// Boards, and the environment of a run of the program.
struct Lab {
    directory: TempDir,
    boards: Vec<Simulation>,
    environment: Vec<(&'static str, &'static str)>,
}

/// The end of a run.
struct Ended {
    code: Option<i32>,
    signal: Option<i32>,
    out: String,
    errors: String,
}

/// Makes a program with all kernels. Each number gives one with another hash.
fn program(number: u8) -> Program {
    Program::of_all_kinds("simulated", &format!("{number:040x}"), 2 << 30)
}

/// Makes a program as compilers of AOCL 14.1 to 18.1 make one: kernels with registers of version 3.
fn old_program(text: Text, rom: Rom) -> Program {
    let mut program = program(0);
    (program.text, program.rom, program.csr) = (text, rom, Csr::V3);
    program
}

/// Upgrades an old package, as a user does once.
fn upgraded(old: &Program) -> Vec<u8> {
    let mut package = Package::of(old);
    // Compilers of the time wrote no hash of the program.
    package.remove(".acl.rand_hash");
    upgrade_package(&package.bytes()).unwrap().file
}

impl Lab {
    /// Makes a lab with one board, in its factory state.
    fn new() -> Self {
        Self::with([Simulation::default()])
    }

    /// Makes a lab with one board that powers up with a program.
    fn booted(program: Program) -> Self {
        Self::with([Simulation::with(program)])
    }

    fn with(boards: impl Into<Vec<Simulation>>) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            boards: boards.into(),
            environment: Vec::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a package's file.
    fn package(&self, name: &str, package: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, package).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// Writes the usual program's package.
    fn usual(&self) -> String {
        self.package("usual.aocx", &Package::of(&program(1)).bytes())
    }

    /// Returns the command that runs a part of the program.
    fn command(&self, part: &str, arguments: &[&str]) -> Command {
        let parts = parts();
        // Cargo puts the library next to the test.
        let library = std::env::current_exe().unwrap();
        let library = library.with_file_name("libpeerlane_mmd_simulated.so");
        assert!(library.is_file(), "{}", library.display());
        fs::write(
            self.path("peerlane.fcd"),
            format!("{}\n", library.display()),
        )
        .unwrap();
        let setup = Setup {
            boards: self.boards.clone(),
        };
        let file = self.path("setup.json");
        fs::write(&file, serde_json::to_vec(&setup).unwrap()).unwrap();
        let boards: &Path = self.directory.path();
        let mut command = parts.program.command(&parts.runtime, boards, part);
        command.args(arguments).env(SETUP, file);
        command.envs(self.environment.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, part: &str, arguments: &[&str]) -> Ended {
        end(self.command(part, arguments).spawn().unwrap(), LIMIT)
    }

    /// Runs a part that must pass, and returns its output without the last line, which says that it has passed.
    fn passes(&self, part: &str, arguments: &[&str]) -> String {
        let ended = self.run(part, arguments);
        let last = format!("{part}: passed\n");
        let printed = ended.out.strip_suffix(&last);
        let Some(printed) = printed.filter(|_| ended.code == Some(0)) else {
            panic!(
                "{part} {arguments:?} ended with {:?}, signal {:?}:\n{}{}",
                ended.code, ended.signal, ended.out, ended.errors
            );
        };
        printed.to_owned()
    }
}

/// Waits for the end of a process, or kills it.
fn end(mut child: Child, limit: Duration) -> Ended {
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
    let out = child.stdout.take().map(reader);
    let errors = child.stderr.take().map(reader);
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if begin.elapsed() > limit => {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("the program did not end in {limit:?}");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |reader: Option<std::thread::JoinHandle<String>>| {
        reader.map_or_else(String::new, |reader| reader.join().unwrap())
    };
    Ended {
        code: status.code(),
        signal: status.signal(),
        out: text(out),
        errors: text(errors),
    }
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn the_board_is_found_and_described() {
    let told = Lab::new().passes("info", &[]);
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("platform: OpenCL "), "{told}");
    let expected = [
        "device: simulated : simulated0 (Peerlane)",
        "vendor: Peerlane",
        "memory: 2147483648",
        "degrees: 45",
    ];
    assert_eq!(lines[1..], expected);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn buffers_are_written_read_copied_filled_and_mapped() {
    Lab::new().passes("buffers", &[]);
}

/// Checks that an error in memory is found when the program is watched.
#[test]
#[ignore = "an installed runtime: cargo xtask test memcheck"]
fn memcheck_finds_what_is_wrong() {
    if std::env::var_os(MEMCHECK).is_none() {
        return;
    }
    let ended = Lab::new().run("wrong", &[]);
    assert_eq!(ended.code, Some(9), "{}{}", ended.out, ended.errors);
    assert!(ended.errors.contains("Invalid read"), "{}", ended.errors);
}

/// Rectangles, images, fills, migrations, and mapped buffers in the host's memory.
#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn commands_of_several_transfers_or_none() {
    Lab::new().passes("rows", &[]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn both_directions_at_once() {
    Lab::new().passes("big", &["300001"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn kernels_are_launched_and_queue_in_hardware() {
    let lab = Lab::new();
    lab.passes("vecadd", &[&lab.usual(), "5"]);
    // The board has the program already.
    let lab = Lab::booted(program(1));
    lab.passes("vecadd", &[&lab.usual()]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn events_order_an_out_of_order_queue() {
    let lab = Lab::new();
    lab.passes("graph", &[&lab.usual()]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn threads_have_queues_of_their_own() {
    let lab = Lab::new();
    lab.passes("queues", &[&lab.usual(), "4", "3"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_kernel_waits_for_a_user_event() {
    let lab = Lab::new();
    lab.passes("event", &[&lab.usual()]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn kernels_go_on_after_a_reset() {
    let lab = Lab::new();
    lab.passes("reset", &[&lab.usual()]);
}

/// Returns the output of a kernel that prints `count` lines.
fn lines(count: usize) -> String {
    (0..count).map(|line| format!("line {line}\n")).collect()
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn kernels_print() {
    let mut lab = Lab::new();
    assert_eq!(lab.passes("printf", &[&lab.usual(), "5"]), lines(5));
    // Room for eight lines: the kernel stalls, and continues when they were read.
    lab.environment.push(("ACL_PRINTF_BUFFER_SIZE", "256"));
    assert_eq!(lab.passes("printf", &[&lab.usual(), "50"]), lines(50));
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn buffers_outlive_a_programming() {
    for contents in [Contents::Lost, Contents::Kept] {
        let mut lab = Lab::new();
        lab.boards[0].contents = contents;
        let other = lab.package("other.aocx", &Package::of(&program(2)).bytes());
        lab.passes("switch", &[&lab.usual(), &other]);
    }
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_buffer_goes_from_board_to_board() {
    let lab = Lab::with([Simulation::default(), Simulation::default()]);
    lab.passes("two", &[&lab.usual()]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn boards_and_packages_of_aocl_14_1_to_18_1_run() {
    for (text, rom) in [
        (Text::V13, Rom::Interface),
        (Text::V14, Rom::Interface),
        (Text::V14, Rom::Cra),
    ] {
        let old = old_program(text, rom);
        // With the program in the board, and with another one.
        let mut another = old.clone();
        another.kernels.truncate(1);
        let lab = Lab::booted(old.clone());
        let package = lab.package("upgraded.aocx", &upgraded(&old));
        lab.passes("vecadd", &[&package, "3"]);
        assert_eq!(lab.passes("printf", &[&package, "3"]), lines(3));
        let lab = Lab::booted(another);
        let package = lab.package("upgraded.aocx", &upgraded(&old));
        lab.passes("graph", &[&package]);
    }
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn packages_for_others_are_refused() {
    let mut strange = program(1);
    strange.board = "another_board".into();
    let lab = Lab::new();
    for package in [
        Package::of(&strange),
        // An old program that was not upgraded.
        Package::of(&old_program(Text::V14, Rom::Interface)),
    ] {
        let package = lab.package("strange.aocx", &package.bytes());
        let ended = lab.run("vecadd", &[&package]);
        assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.errors);
        // CL_INVALID_BINARY
        assert!(ended.errors.contains("= -42"), "{}", ended.errors);
    }
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn buffers_are_copied_to_and_from_a_gpu() {
    Lab::new().passes("peers", &[]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn copies_to_and_from_a_gpu_wait_for_kernels_and_kernels_for_them() {
    let lab = Lab::new();
    lab.passes("peer-events", &[&lab.usual()]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn buffers_without_an_address_are_not_copied_to_a_gpu() {
    let lab = Lab::new();
    lab.passes("peer-refused", &[&lab.usual()]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_gpu_is_one_boards_of_two() {
    Lab::with([Simulation::default(), Simulation::default()]).passes("peer-two", &[]);
}

/// Failures of a programming, and the library's message for each.
const FAILURES: [(Failure, &str); 2] = [
    (Failure::NoCable, "no cable"),
    (Failure::OtherBoard, "has configured another FPGA"),
];

/// Makes a lab with a board that is not programmed at the first attempt.
fn unprogrammed(failure: Failure) -> Lab {
    let mut lab = Lab::new();
    lab.boards[0].failures.push_back(failure);
    lab
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_board_that_was_not_programmed_is_of_use_again() {
    for (failure, said) in FAILURES {
        let lab = unprogrammed(failure);
        let ended = lab.run("failed", &[&lab.usual()]);
        let all = format!("{}{}", ended.out, ended.errors);
        assert_eq!(ended.code, Some(0), "signal {:?}: {all}", ended.signal);
        assert!(ended.errors.contains("simulated0: programming: "), "{all}");
        assert!(ended.errors.contains(said), "{all}");
    }
}

/// The runtime does not check whether a board was programmed. The program ends in any case.
#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_kernel_on_a_board_that_was_not_programmed_ends_the_program() {
    for (failure, said) in FAILURES {
        let lab = unprogrammed(failure);
        let child = lab.command("failed-launch", &[&lab.usual()]).spawn();
        let ended = end(child.unwrap(), LIMIT);
        let all = format!("{}{}", ended.out, ended.errors);
        assert!(ended.code != Some(0), "it has succeeded: {all}");
        assert!(ended.errors.contains(said), "{all}");
    }
}

/// Makes a lab with a board whose kernels never end.
fn endless() -> Lab {
    let mut lab = Lab::booted(program(1));
    lab.boards[0].opencl.timing = Timing {
        start: FOR_EVER,
        ..Timing::default()
    };
    lab
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_program_ends_without_releasing_anything() {
    let lab = endless();
    lab.passes("leave", &[&lab.usual()]);
}

/// Checks a program whose last output comes from a function that runs at exit, after the library's own.
fn ends_with(lab: &Lab, part: &str, arguments: &[&str], last: &str) {
    let child = lab.command(part, arguments).spawn().unwrap();
    let ended = end(child, SOON);
    let all = format!("{}{}", ended.out, ended.errors);
    assert_eq!(ended.code, Some(0), "signal {:?}: {all}", ended.signal);
    assert!(
        ended.out.ends_with(&format!("{part}: passed\n{last}\n")),
        "{all}"
    );
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_destructor_reads_a_buffer() {
    ends_with(&Lab::new(), "global", &[], "read at exit");
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_destructor_waits_for_a_kernel() {
    // The kernel runs for some milliseconds when the end has begun.
    let mut lab = Lab::booted(program(1));
    lab.boards[0].opencl.timing = Timing {
        start: 300_000,
        ..Timing::default()
    };
    ends_with(&lab, "global-kernel", &[&lab.usual()], "finished at exit");
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn memory_that_a_program_has_by_its_address_goes_to_a_gpu() {
    let lab = Lab::new();
    lab.passes("usm", &[&lab.usual()]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_program_is_ended_by_a_signal() {
    for signal in [Signal::TERM, Signal::KILL] {
        let lab = endless();
        let mut child = lab.command("wait", &[&lab.usual()]).spawn().unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert_eq!(line, "waits\n");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = end(child, SOON);
        assert_eq!(ended.signal, Some(signal.as_raw()), "{}", ended.errors);
    }
}

/// The same program as in the first steps with a platform.
#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn the_smallest_program_shows_the_board() {
    let lab = Lab::new();
    let runtime = &parts().runtime;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mmd/devices.c");
    let library = runtime.library();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let made = Command::new(compiler)
        .arg("-o")
        .args([&lab.path("devices"), &source, &library])
        .arg("-I")
        .arg(runtime.include())
        .arg(format!(
            "-Wl,-rpath,{}",
            library.parent().unwrap().display()
        ))
        .status();
    assert!(made.unwrap().success());
    let usual = lab.command("info", &[]);
    let environment = usual
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    let mut command = Command::new(lab.path("devices"));
    command
        .envs(environment)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = end(command.spawn().unwrap(), LIMIT);
    assert_eq!(
        (ended.code, ended.signal),
        (Some(0), None),
        "{}",
        ended.errors
    );
    assert_eq!(ended.out, "device 0: simulated : simulated0 (Peerlane)\n");
}
