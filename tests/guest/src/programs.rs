//! Tests of OpenCL programs with a real FPGA runtime for OpenCL, over the board library and the driver. The programs
//! are parts of `opencl-host` (`tests/opencl/program`), which checks its data itself. These tests check the data that a
//! GPU gets, and the effect on other processes.

use crate::fakegpu::{Gpu, GpuBuffer};
use crate::faults::{bind, come_back_anew, unbind};
use crate::lab::{LIMIT, Lab, same};
use crate::suite::Suite;
use crate::worker::Worker;
use anyhow::{Context, Result, bail, ensure};
use peerlane_guest::{Fault, pattern};
use rand::{Rng, RngCore};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Packages of programs with all kernels. The board has neither of them at first.
const FIRST: &str = "/srv/1.aocx";
const SECOND: &str = "/srv/2.aocx";

/// Parts that need nothing else.
const PARTS: [(&str, &[&str]); 8] = [
    ("info", &[]),
    ("buffers", &[]),
    ("big", &["3000001"]),
    ("vecadd", &[FIRST, "5"]),
    ("graph", &[FIRST]),
    ("queues", &[FIRST, "4", "3"]),
    ("event", &[FIRST]),
    ("reset", &[FIRST]),
];

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    for (name, arguments) in PARTS {
        suite.run(&format!("programs.run.{name}"), || {
            passes(name, arguments).map(|_| "")
        });
    }
    suite.run("programs.run.printf", prints);
    suite.run("programs.run.switch_under_load", || {
        beside_others(lab, "switch", &[FIRST, SECOND])
    });
    suite.run("programs.run.big_under_load", || {
        beside_others(lab, "big", &["3000001"])
    });
    for pinnable in [true, false] {
        let kind = if pinnable { "pinned" } else { "unpinned" };
        suite.run(&format!("programs.gpu.{kind}"), || gpu(lab, pinnable));
    }
    suite.run("programs.gpu.killed", || gpu_killed(lab));
    suite.run("programs.end.left", || left(lab));
    for signal in [Signal::TERM, Signal::KILL] {
        let name = format!("programs.end.signal_{}", signal.as_raw());
        suite.run(&name, || ended_by(lab, signal));
    }
    suite.run("programs.end.unbound", || unbound(lab));
}

/// Returns the command that runs a part.
fn command(part: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("opencl-host");
    command
        .arg(part)
        .args(arguments)
        .env("ACL_BOARD_VENDOR_PATH", "/srv")
        .env("PEERLANE_QUARTUS_PGM", "/bin/quartus_pgm")
        // The driver has a memory pool for other contexts.
        .env("PEERLANE_ACCEPT_LESS_MEMORY", "1")
        .stdout(Stdio::piped());
    command
}

/// Waits for a program's end, which must come soon.
fn end(child: &mut Child) -> Result<ExitStatus> {
    let begin = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(status),
            None if begin.elapsed() > LIMIT => {
                child.kill()?;
                bail!("it does not end");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Runs a program that must pass, and returns its output without the last line, which says that it has passed.
fn output(part: &str, mut command: Command) -> Result<String> {
    let mut child = command.spawn().context("opencl-host")?;
    let mut printed = String::new();
    let mut out = child.stdout.take().context("its output")?;
    out.read_to_string(&mut printed)?;
    let status = end(&mut child)?;
    let last = format!("{part}: passed\n");
    match printed.strip_suffix(&last) {
        Some(before) if status.success() => Ok(before.to_owned()),
        _ => bail!("{part} ended with {status}:\n{printed}"),
    }
}

fn passes(part: &str, arguments: &[&str]) -> Result<String> {
    output(part, command(part, arguments))
}

/// Checks that kernels can print, also more than there is room for at once.
fn prints() -> Result<&'static str> {
    for (count, room) in [(5, None), (50, Some("256"))] {
        let number = count.to_string();
        let mut command = command("printf", &[FIRST, &number]);
        command.envs(room.map(|room| ("ACL_PRINTF_BUFFER_SIZE", room)));
        let lines: String = (0..count).map(|line| format!("line {line}\n")).collect();
        ensure!(output("printf", command)? == lines);
    }
    Ok("")
}

/// Checks that transfers of other processes continue while a program runs.
fn beside_others(lab: &mut Lab, part: &str, arguments: &[&str]) -> Result<&'static str> {
    let mut worker = Worker::start(lab, false)?;
    worker.progress()?;
    for _ in 0..lab.rounds.min(2) {
        passes(part, arguments)?;
        worker.progress()?;
    }
    worker.stop()?;
    Ok("")
}

/// Starts a program that runs until it is killed, and waits until it has printed this line.
fn started(mut command: Command, line: &str) -> Result<Child> {
    let mut child = command.spawn().context("opencl-host")?;
    let mut said = String::new();
    BufReader::new(child.stdout.take().context("its output")?).read_line(&mut said)?;
    if said.trim_end() != line {
        let status = end(&mut child)?;
        bail!("it said `{said}` and ended with {status}");
    }
    Ok(child)
}

/// Checks that the next program can use the board.
fn is_free() -> Result<()> {
    passes("vecadd", &[FIRST, "2"]).map(drop)
}

/// Number of ints in the part `dma-buf`.
const COUNT: usize = 1000;

/// Offset in a GPU's buffer of the third of three arrays: the kernel's input, its doubles, its triples.
const THIRD: usize = 4 * COUNT;

/// Exports a dma-buf that programs inherit.
fn hand_on(buffer: &GpuBuffer, pinnable: bool) -> Result<(OwnedFd, String)> {
    let file = buffer.dmabuf(pinnable)?;
    fcntl_setfd(&file, FdFlags::empty())?;
    let number = file.as_raw_fd().to_string();
    Ok((file, number))
}

/// Checks that a GPU's data go through a kernel, by copies of the extension in both directions.
fn gpu(lab: &mut Lab, pinnable: bool) -> Result<&'static str> {
    let gpu = Gpu::open()?;
    let buffer = gpu.buffer(256 << 10, 0, 2, None)?;
    let ints: Vec<u32> = (0..COUNT)
        .map(|_| lab.rng.random_range(0..1 << 29))
        .collect();
    let times = |factor: u32| -> Vec<u8> {
        let product = |int: &u32| (int * factor).to_le_bytes();
        ints.iter().flat_map(product).collect()
    };
    let mut around = vec![0; buffer.size()];
    pattern(lab.rng.next_u64(), &mut around);
    around[..THIRD].copy_from_slice(&times(1));
    buffer.write(0, &around)?;
    let (file, number) = hand_on(&buffer, pinnable)?;
    passes("dma-buf", &[FIRST, &number])?;
    drop(file);
    around[THIRD..2 * THIRD].copy_from_slice(&times(2));
    around[2 * THIRD..3 * THIRD].copy_from_slice(&times(3));
    let mut found = vec![0; buffer.size()];
    buffer.read(0, &mut found)?;
    same(&around, &found, 0)?;
    drop(buffer);
    gpu.clean()?;
    Ok("")
}

/// A program is killed while it copies from and to a GPU. Checks that the GPU's memory is released and not written any
/// more.
fn gpu_killed(lab: &mut Lab) -> Result<&'static str> {
    const HALF: usize = 1 << 20;
    let gpu = Gpu::open()?;
    let mut worker = Worker::start(lab, false)?;
    for _ in 0..lab.rounds.min(3) {
        let buffer = gpu.buffer(2 * HALF, 0, 3, None)?;
        let (file, number) = hand_on(&buffer, true)?;
        let mut child = started(
            command("dma-buf-forever", &[&number, &HALF.to_string()]),
            "copies",
        )?;
        drop(file);
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..100_000)));
        child.kill()?;
        let status = end(&mut child)?;
        ensure!(status.signal() == Some(libc::SIGKILL), "{status}");
        let pieces = buffer.pieces()?;
        drop(buffer);
        gpu.clean().context("after a kill")?;
        gpu.is_poisoned(&pieces)?;
        worker.progress()?;
        is_free()?;
        gpu.is_poisoned(&pieces)?;
    }
    worker.stop()?;
    Ok("")
}

/// Checks a program that ends without a release, with a kernel that never ends and transfers in progress.
fn left(lab: &mut Lab) -> Result<&'static str> {
    lab.host.fault(Fault::EndlessKernels {})?;
    let ended = passes("leave", &[FIRST]);
    lab.host.fault(Fault::Clear {})?;
    ended?;
    is_free()?;
    Ok("")
}

/// Starts a program that waits for a kernel that never ends.
fn waiting(lab: &mut Lab) -> Result<Child> {
    lab.host.fault(Fault::EndlessKernels {})?;
    let child = started(command("wait", &[FIRST]), "waits");
    // The kernel that has started stays endless.
    lab.host.fault(Fault::Clear {})?;
    child
}

/// Checks that a signal ends a program whose kernel never ends.
fn ended_by(lab: &mut Lab, signal: Signal) -> Result<&'static str> {
    let mut worker = Worker::start(lab, false)?;
    worker.progress()?;
    let mut child = waiting(lab)?;
    kill_process(Pid::from_child(&child), signal)?;
    let status = end(&mut child)?;
    ensure!(status.signal() == Some(signal.as_raw()), "{status}");
    is_free()?;
    worker.progress()?;
    worker.stop()?;
    Ok("")
}

/// The driver is unbound from the board under a program. Checks that the program can be ended then, and that all works
/// with the next driver.
fn unbound(lab: &mut Lab) -> Result<&'static str> {
    let mut child = waiting(lab)?;
    unbind()?;
    child.kill()?;
    let ended = end(&mut child);
    bind()?;
    ended?;
    come_back_anew(lab)?;
    is_free()?;
    Ok("")
}
