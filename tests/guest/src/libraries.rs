//! Tests of the board libraries for OpenCL, on the kernel's device or by VFIO. `peerlane-loader` (`mmd/contract`) makes
//! the runtime's calls to them: it gets its orders line by line, and the results are checked from outside.

use crate::faults::{self, aer};
use crate::lab::{Buffer, LIMIT, Lab, Mover, told};
use crate::suite::Suite;
use crate::worker::Worker;
use anyhow::{Context, Result, bail, ensure};
use peerlane_guest::{Fault, pattern};
use peerlane_host::{Direction, vfio};
use rand::{Rng, RngCore};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Name of each library in the tests' names, and its file.
const LIBRARIES: [(&str, &str); 2] = [
    ("open", "/lib/libpeerlane_mmd.so"),
    ("legacy", "/lib/libpeerlane_mmd_legacy.so"),
];

/// A test of a library.
type Test = fn(&mut Lab, &str) -> Result<String>;

/// Tests of each library, on every board.
const TESTS: [(&str, Test); 6] = [
    ("contract", contract),
    ("data", data),
    ("one_user", one_user),
    ("programmed", programmed),
    ("killed", killed),
    ("left", left),
];

/// Runs the tests of this module for the kernel's device.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    run_with(suite, lab, EVENTS);
}

/// Runs the tests of this module for a board that is bound to vfio-pci.
pub fn run_by_vfio(suite: &mut Suite, lab: &mut Lab) {
    run_with(suite, lab, &[CONFIGURED]);
}

fn run_with(suite: &mut Suite, lab: &mut Lab, events: &[(&str, Event)]) {
    for (name, library) in LIBRARIES {
        for (test, run) in TESTS {
            suite.run(&format!("libraries.{name}.{test}"), || run(lab, library));
        }
        for (event, cause) in events {
            suite.run(&format!("libraries.{name}.{event}"), || {
                reset_under(lab, library, *cause)
            });
        }
    }
}

/// Runs the tests of a driver whose timeout is shorter than that of the block's port.
pub fn run_stuck(suite: &mut Suite, lab: &mut Lab) {
    for (name, library) in LIBRARIES {
        suite.run(&format!("libraries_stuck.{name}.block_restarted"), || {
            block_restarted(lab, library)
        });
    }
}

/// An event that resets the board under a program.
type Event = fn(&Lab) -> Result<()>;

/// The events, each with a name for the tests' names.
const EVENTS: &[(&str, Event)] = &[
    ("reset", |_| faults::reset()),
    ("suspended", |_| faults::suspend()),
    ("fatal_error", |_| aer::report(aer::MALFORMED_TLP)),
    CONFIGURED,
];

const CONFIGURED: (&str, Event) = ("configured_by_others", |lab| {
    lab.host.fault(Fault::Configure {})
});

/// Returns the library's name of the board.
fn board() -> String {
    match vfio::boards().first() {
        Some(address) => format!("peerlane_{}", address.replace([':', '.'], "_")),
        None => "peerlane0".to_owned(),
    }
}

/// Transfers of another process at the same time. By VFIO one process has the board alone.
struct Beside(Option<Worker>);

impl Beside {
    fn start(lab: &mut Lab) -> Result<Self> {
        match vfio::boards().is_empty() {
            true => Worker::start(lab, false).map(Some).map(Self),
            false => Ok(Self(None)),
        }
    }

    /// Waits until there were more.
    fn progress(&mut self) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), Worker::progress)
    }

    fn stop(self) -> Result<()> {
        self.0.map_or(Ok(()), |worker| worker.stop().map(drop))
    }
}

/// The program, with a library loaded.
struct Loader {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Loader {
    fn start(library: &str) -> Result<Self> {
        Self::start_with(library, Stdio::inherit())
    }

    fn start_with(library: &str, errors: Stdio) -> Result<Self> {
        let mut child = Command::new("peerlane-loader")
            .args([library, &board()])
            .env("PEERLANE_QUARTUS_PGM", "/bin/quartus_pgm")
            // The driver has a memory pool for other contexts.
            .env("PEERLANE_ACCEPT_LESS_MEMORY", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .context("peerlane-loader")?;
        let orders = child.stdin.take().context("its input")?;
        let answers = BufReader::new(child.stdout.take().context("its output")?);
        Ok(Self {
            child,
            orders,
            answers,
        })
    }

    /// Starts the program and opens the board.
    fn open(library: &str) -> Result<Self> {
        let mut loader = Self::start(library)?;
        loader.obeys("open")?;
        Ok(loader)
    }

    /// Gives an order and returns the answer.
    fn ask(&mut self, order: &str) -> Result<String> {
        writeln!(self.orders, "{order}").with_context(|| format!("`{order}`"))?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        match answer.strip_suffix('\n') {
            Some(answer) => Ok(answer.to_owned()),
            None => bail!("`{order}` ended the loader: {}", self.child.wait()?),
        }
    }

    /// Gives an order, which must succeed.
    fn obeys(&mut self, order: &str) -> Result<()> {
        match self.ask(order)?.as_str() {
            "ok" => Ok(()),
            other => bail!("`{order}` gave `{other}`"),
        }
    }

    /// Waits for the program's end, which must come soon.
    fn ended(&mut self) -> Result<ExitStatus> {
        let begin = Instant::now();
        loop {
            match self.child.try_wait()? {
                Some(status) => return Ok(status),
                None if begin.elapsed() > LIMIT => bail!("it does not end"),
                None => std::thread::sleep(std::time::Duration::from_millis(5)),
            }
        }
    }

    /// Starts a kernel that copies for long, with transfers in both directions.
    fn is_busy(&mut self) -> Result<()> {
        self.obeys("busy 0x10000000 0x20000000 0x2000000")
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // The process may have ended, and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the contract of all boards twice: the state after a close must be good for the next open.
fn contract(_: &mut Lab, library: &str) -> Result<String> {
    let begin = Instant::now();
    let mut loader = Loader::open(library)?;
    loader.obeys("checks")?;
    loader.obeys("close")?;
    loader.obeys("open")?;
    loader.obeys("printf")?;
    loader.obeys("close")?;
    Ok(format!("in {:?}", begin.elapsed()))
}

/// Moves data in both directions, and compares the data without the library.
fn moves(lab: &mut Lab, loader: &mut Loader) -> Result<()> {
    const FILE: &str = "/tmp/data";
    for length in [1, 5000, 1_000_001] {
        let seed = lab.rng.next_u64();
        let place = lab.rng.random_range(0x400..64 << 20);
        let mut bytes = vec![0; length];
        pattern(seed, &mut bytes);
        std::fs::write(FILE, &bytes)?;
        loader.obeys(&format!("write {place:#x} {FILE}"))?;
        lab.host.fpga_check(place, seed, length as u64)?;
        let seed = seed ^ 1;
        lab.host.fpga_write(place, seed, length as u64)?;
        loader.obeys(&format!("read {place:#x} {length} {FILE}"))?;
        pattern(seed, &mut bytes);
        let read = std::fs::read(FILE)?;
        ensure!(read == bytes, "{length} bytes read at {place:#x}");
    }
    Ok(())
}

fn data(lab: &mut Lab, library: &str) -> Result<String> {
    let mut worker = Beside::start(lab)?;
    worker.progress()?;
    let mut loader = Loader::open(library)?;
    moves(lab, &mut loader)?;
    worker.progress().context("next to it")?;
    worker.stop()?;
    Ok(String::new())
}

/// Checks that a second program is refused, without a reset of the first one's kernels.
fn one_user(lab: &mut Lab, library: &str) -> Result<String> {
    let mut first = Loader::open(library)?;
    for (_, library) in LIBRARIES {
        let answer = Loader::start(library)?.ask("open")?;
        ensure!(answer == "refused", "the second one's open gave `{answer}`");
    }
    first.obeys("printf")?;
    moves(lab, &mut first)?;
    first.obeys("close")?;
    Loader::open(library).map(|_| String::new())
}

/// Configures the FPGA by JTAG, concurrently with transfers of other processes. Checks that the library survives a
/// configuration that fails.
fn programmed(lab: &mut Lab, library: &str) -> Result<String> {
    let mut worker = Beside::start(lab)?;
    worker.progress()?;
    let mut loader = Loader::open(library)?;
    if !vfio::boards().is_empty() {
        let answer = loader.ask("program /srv/1.bin")?;
        ensure!(answer == "failed", "by VFIO a program got `{answer}`");
        loader.obeys("close")?;
        loader.obeys("open")?;
        moves(lab, &mut loader)?;
        worker.stop()?;
        return Ok("refused by VFIO".to_owned());
    }
    for image in ["1", "2"] {
        loader.obeys(&format!("program /srv/{image}.bin"))?;
        loader.obeys("printf")?;
        moves(lab, &mut loader)?;
        worker.progress().context("after a configuration")?;
    }
    let answer = loader.ask("program /srv/spoilt.bin")?;
    ensure!(answer == "failed", "an image of nothing gave `{answer}`");
    // The next context can continue.
    loader.obeys("close")?;
    loader.obeys("open")?;
    moves(lab, &mut loader)?;
    loader.obeys("printf")?;
    worker.progress().context("at the end")?;
    worker.stop()?;
    Ok(String::new())
}

/// Checks that the next program can use the board after a program was killed in the middle of any operation.
fn killed(lab: &mut Lab, library: &str) -> Result<String> {
    let mut worker = Beside::start(lab)?;
    for _ in 0..lab.rounds.min(3) {
        let mut loader = Loader::open(library)?;
        loader.is_busy()?;
        worker.progress()?;
        loader.child.kill()?;
        let status = loader.ended()?;
        ensure!(status.signal() == Some(libc::SIGKILL), "{status}");
        let mut next = Loader::open(library).context("after a kill")?;
        next.obeys("printf")?;
        moves(lab, &mut next)?;
    }
    worker.progress()?;
    worker.stop()?;
    Ok(String::new())
}

/// Checks a program that ends without a close, with a kernel and transfers in progress.
fn left(lab: &mut Lab, library: &str) -> Result<String> {
    let mut loader = Loader::open(library)?;
    loader.is_busy()?;
    writeln!(loader.orders, "exit 7")?;
    let status = loader.ended()?;
    ensure!(status.code() == Some(7), "{status}");
    let mut next = Loader::open(library)?;
    next.obeys("printf")?;
    moves(lab, &mut next)?;
    Ok(String::new())
}

/// Checks that a program whose board is reset ends and says why, whether it uses the board at that moment or not. Its
/// kernels and memory may be as after power-up, and later transfers would succeed as if they were not. Transfers of
/// other processes go on, and the next program works.
fn reset_under(lab: &mut Lab, library: &str, event: Event) -> Result<String> {
    let mut worker = Beside::start(lab)?;
    let mut longest = Duration::ZERO;
    let reported = format!("{}: the board was reset while the program used it", board());
    for busy in [true, false] {
        let mut loader = Loader::start_with(library, Stdio::piped())?;
        loader.obeys("open")?;
        if busy {
            loader.is_busy()?;
        }
        worker.progress()?;
        event(lab)?;
        let begin = Instant::now();
        let status = loader.ended()?;
        longest = longest.max(begin.elapsed());
        let mut said = String::new();
        let errors = loader.child.stderr.as_mut().context("its errors")?;
        errors.read_to_string(&mut said)?;
        ensure!(
            status.signal() == Some(libc::SIGABRT) && said.contains(&reported),
            "busy {busy}: {status}: {said}"
        );
        worker.progress()?;
        let mut next = Loader::open(library).context("after a reset")?;
        next.obeys("printf")?;
        moves(lab, &mut next)?;
    }
    worker.stop()?;
    Ok(format!("ended after {longest:?} at most"))
}

/// Checks that a program can continue after only the block was restarted, because the function lost the right to be bus
/// master for a while and its port stalled: kernels and memory are unchanged.
fn block_restarted(lab: &mut Lab, library: &str) -> Result<String> {
    let mut loader = Loader::open(library)?;
    moves(lab, &mut loader)?;
    let mut mover = Mover::slow(lab)?;
    let device = mover.device().clone();
    let busy = Buffer::new(&device, 1 << 20)?;
    let place = lab.place(&device)?;
    let before = device.query().map_err(told)?;
    let long = Duration::from_millis(1500);
    let ended = faults::lost::while_not_master(|| {
        mover.attempt(Direction::FromFpga, &busy.region, 0, place, 1 << 20, long)
    })?;
    ensure!(ended.is_err(), "a board that is not a bus master writes");
    let begin = Instant::now();
    let after = loop {
        let query = device.query().map_err(told)?;
        if query.generation != before.generation {
            break query;
        }
        ensure!(begin.elapsed() < LIMIT, "the block is not started again");
        std::thread::sleep(Duration::from_millis(5));
    };
    ensure!(
        after.resets == before.resets,
        "more than the block was reset: {} resets became {}",
        before.resets,
        after.resets
    );
    moves(lab, &mut loader)?;
    loader.obeys("printf")?;
    loader.obeys("close")?;
    Ok(String::new())
}
