//! Tests in which the board, the bus or the driver fails or disappears at any moment: transfers end, and later ones
//! succeed.

pub mod aer;
mod anew;
pub mod away;
mod former;
pub mod lost;
mod owed;

use crate::lab::{Buffer, LIMIT, Lab, Mover, pci_device, told};
use crate::opencl_side::{holder, program, take};
use crate::process::{fork, pair};
use crate::suite::{Suite, skip};
use crate::worker::{Worker, is_expected, round_trip};
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::fault::Fault as End;
use peerlane_core::uapi::reprogram;
use peerlane_guest::{Answer, Fault};
use peerlane_host::{Device, Direction, Error};
use rand::Rng;
use rustix::io::Errno;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

/// An event that happens to the board.
type Step = fn() -> Result<()>;

/// Environment variable that names the driver's module, for loading it again.
const MODULE: &str = "PEERLANE_MODULE";

/// Runs the tests after which the board still exists.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    for (name, answer, ends) in ANSWERS {
        for (way, direction) in [
            ("from_fpga", Direction::FromFpga),
            ("to_fpga", Direction::ToFpga),
        ] {
            suite.run(&format!("faults.{name}.{way}"), || {
                bad_answer(lab, *answer, ends, direction)
            });
        }
    }
    suite.run("faults.late_registers", || late_registers(lab));
    suite.run("faults.port_stuck", || port_stuck(lab));
    suite.run("faults.unbound_while_waiting", || told_of_the_end(lab));
    suite.run("faults.signal", || signal(lab));
    suite.run("faults.reset_under_load", || under_load(lab, reset));
    suite.run("faults.rebound_under_load", || under_load(lab, rebind));
    suite.run("faults.removed_under_load", || {
        under_load(lab, remove_and_rescan)
    });
    suite.run("faults.suspended_under_load", || under_load(lab, suspend));
    suite.run("faults.correctable_error_under_load", || {
        under_load(lab, || aer::report(aer::RECEIVER_ERROR))
    });
    suite.run("faults.nonfatal_error_under_load", || {
        under_load(lab, || aer::report(aer::COMPLETION_TIMEOUT))
    });
    suite.run("faults.fatal_error_under_load", || {
        under_load(lab, || aer::report(aer::MALFORMED_TLP))
    });
    suite.run("faults.asleep_under_load", || under_load(lab, sleep));
    // Each takes seconds: the kernel frees half of its memory for the image.
    suite.run("faults.thawed_under_load", || {
        let rounds = lab.rounds.div_ceil(3);
        rounds_under_load(lab, rounds, thaw)
    });
    for (name, event) in away::EVENTS {
        suite.run(&format!("faults.stores_while_{name}"), || {
            away::stores(lab, *event)
        });
    }
    suite.run("faults.try_again", || away::told_to_try_again(lab));
    suite.run("faults.gone_and_back", || away::gone_and_back(lab));
    suite.run("faults.absent_for_a_moment", || {
        away::absent_for_a_moment(lab)
    });
    suite.run("faults.silence_noticed_by_calls", || {
        away::noticed_by_calls(lab)
    });
    suite.run("faults.resets_are_counted", || {
        away::resets_are_counted(lab)
    });
    suite.run("faults.cut_off_unseen", || away::cut_off_unseen(lab));
    for (name, event) in [
        ("configured", Fault::Configure {}),
        ("memory_reset", Fault::ResetMemorySide {}),
    ] {
        suite.run(&format!("faults.{name}_by_others"), || {
            away::reset_by_others(lab, event)
        });
        suite.run(&format!("faults.restarted_after_{name}_by_others"), || {
            away::restarted_after_a_reset_by_others(lab, event)
        });
    }
    suite.run("faults.lost_reads", || lost::reads(lab));
    suite.run("faults.not_master", || lost::not_master(lab));
    suite.run("faults.read_request", || lost::read_request(lab));
    suite.run("faults.late_answers", || owed::late_answers(lab));
    suite.run("faults.given_up_reads", || owed::given_up_reads(lab));
    suite.run("faults.looked_at_late", || away::looked_at_late(lab));
    suite.run("faults.refused_without_pause", || {
        away::refused_without_pause(lab)
    });
    suite.run("faults.refused_without_end", || {
        away::refused_without_end(lab)
    });
    suite.run("faults.another_block", || anew::another_block(lab));
    suite.run("faults.submitted_without_pause", || {
        anew::submitted_without_pause(lab)
    });
    suite.run("faults.emptied_ring", || anew::emptied_ring(lab));
    suite.run("faults.open_beside_stuck", || away::open_beside_stuck(lab));
    suite.run("faults.taken_off_while_frozen", || {
        away::taken_off_while_frozen(lab)
    });
    suite.run("faults.taken_over", || former::taken_over(lab));
    suite.run("faults.module_in_use", || module_in_use(lab));
    suite.run("faults.module_held_by_debugfs", || {
        module_held_by_debugfs(lab)
    });
    suite.run("faults.module_loaded_anew", || module_loaded_anew(lab));
}

/// Runs the tests of a bus whose errors are not recovered from; with recovery_s=3, and a function that can be removed.
pub fn run_unmended(suite: &mut Suite, lab: &mut Lab) {
    suite.run("faults_unmended.given_up", || aer::unmended(lab));
}

/// Starts a process that still moves data when the machine goes off.
pub fn left_running(suite: &mut Suite, lab: &mut Lab) {
    suite.run("faults.left_running", || {
        let mut worker = Worker::start(lab, false)?;
        worker.progress()?;
        std::mem::forget(worker);
        Ok("")
    });
    suite.run("faults.left_in_configurations", || {
        let (ours, theirs) = pair()?;
        let branch = lab.branch();
        let child = fork("holder", move || {
            let device = holder(&branch)?;
            let _side = take(&device)?;
            let mut begun = false;
            loop {
                let results =
                    [reprogram::BEGIN, reprogram::END].map(|flags| program(&device, flags));
                if !std::mem::replace(&mut begun, true) {
                    ensure!(results == [Ok(()); 2], "{results:?}");
                    theirs.signal()?;
                }
            }
        })?;
        ours.wait()?;
        std::mem::forget(child);
        Ok("")
    });
}

/// Runs the test in which the board dies for good. It is the last: the board does not answer afterwards.
pub fn killed(suite: &mut Suite, lab: &mut Lab) {
    suite.run("faults.killed", || kill_board(lab));
}

/// Ways of answering a read, and the ends that are allowed for its transfer.
const ANSWERS: &[(&str, Answer, &[End])] = &[
    (
        "no_answer",
        Answer::Never {},
        &[End::ReadTimeout, End::Flush, End::PortDown],
    ),
    (
        "unsupported",
        Answer::Unsupported {},
        &[End::Unsupported, End::Flush],
    ),
    (
        "abort",
        Answer::Abort {},
        &[End::CompleterAbort, End::Flush],
    ),
    (
        "poisoned",
        Answer::Poisoned {},
        &[End::Poisoned, End::Flush],
    ),
];

/// One read of the board fails in the middle of a transfer. Checks that the transfer fails with it, and that the next
/// ones succeed: at once, or when the block has given up the answers that it is still owed.
fn bad_answer(lab: &mut Lab, answer: Answer, ends: &[End], direction: Direction) -> Result<String> {
    let mut mover = Mover::fast(lab)?;
    if !mover.device().capabilities().tagged && answer != (Answer::Never {}) {
        return skip("this build's port carries no status");
    }
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let place = lab.place(mover.device())?;
    lab.check_some(&mut mover, &buffer, place, 2, 50_000)?;
    // A transfer from the FPGA only reads to see that its data have arrived.
    let skipped = match direction {
        Direction::FromFpga => 0,
        Direction::ToFpga => lab.rng.random_range(0..100),
    };
    lab.host.fault(Fault::Reads {
        answer,
        skip: skipped,
        times: 1,
    })?;
    let begin = Instant::now();
    let ended = mover.attempt(direction, &buffer.region, 3, place, 200_000, LIMIT);
    lab.host.fault(Fault::Clear {})?;
    let remark = match ended {
        Err(Error::Fault {
            fault, bytes_done, ..
        }) if ends.contains(&fault) => {
            format!("{fault} after {bytes_done} bytes, in {:?}", begin.elapsed())
        }
        Err(Error::Restarted) => format!("reset in {:?}", begin.elapsed()),
        other => bail!("a {direction} whose read {skipped} failed gave {other:?}"),
    };
    let how = come_back(lab, mover, buffer)?;
    Ok(format!("{remark}; good again {how}"))
}

/// Recovery of a board that does not recover by itself: a reset of the function, and where that does not help, a new
/// configuration of the FPGA.
pub struct Mend {
    begin: Instant,
    since: Instant,
    done: usize,
}

impl Mend {
    const WAYS: [&str; 3] = [
        "by itself",
        "after a reset of the function",
        "configured again",
    ];
    /// Time that is long enough for the driver's own attempts.
    const ALONE: Duration = Duration::from_secs(3);

    /// Starts the clock; nothing is done yet.
    pub fn new() -> Self {
        let begin = Instant::now();
        Self {
            begin,
            since: begin,
            done: 0,
        }
    }

    /// Waits a little after another failure, and takes the next step of recovery if its time has come.
    pub fn wait(&mut self, lab: &Lab, error: &dyn std::fmt::Display) -> Result<()> {
        if self.since.elapsed() > Self::ALONE && self.done + 1 < Self::WAYS.len() {
            (self.done, self.since) = (self.done + 1, Instant::now());
            if self.done + 1 == Self::WAYS.len() {
                lab.host.fault(Fault::Configure {})?;
            }
            reset()?;
        }
        ensure!(
            self.begin.elapsed() < LIMIT,
            "the board does not come back: {error}"
        );
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    }

    /// Returns the name of the step that helped.
    fn how(&self) -> &'static str {
        Self::WAYS[self.done]
    }
}

/// Waits until transfers succeed again after a time of failures, and checks that they stay good. Opens a new context if
/// the old one reports that the board is gone. Returns the name of the recovery that helped.
pub fn come_back(lab: &mut Lab, mut mover: Mover, mut buffer: Buffer) -> Result<&'static str> {
    let mut mend = Mend::new();
    let mut place = lab.place(mover.device())?;
    while let Err(error) = round_trip(lab, &mut mover, &buffer, place, 70_000)? {
        ensure!(is_expected(&error), "{error}");
        mend.wait(lab, &error)?;
        if let (Error::Gone, Ok(opened)) = (error, Mover::fast(lab)) {
            buffer = Buffer::new(opened.device(), 1 << 20)?;
            place = lab.place(opened.device())?;
            mover = opened;
        }
    }
    lab.check_some(&mut mover, &buffer, place, 6, 100_000)
        .context("after the board has come back")?;
    Ok(mend.how())
}

/// Waits until transfers of a new context succeed. Its FPGA memory cannot be filled with zeros before.
pub fn come_back_anew(lab: &mut Lab) -> Result<&'static str> {
    let mut mend = Mend::new();
    let mover = loop {
        match Mover::fast(lab) {
            Ok(mover) => break mover,
            Err(error) => {
                let expected = error.downcast_ref::<Error>().is_some_and(is_expected);
                ensure!(expected, "{error:#}");
                mend.wait(lab, &error)?;
            }
        }
    };
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(mend.how())
}

/// Checks that late answers to register reads make nothing fail.
fn late_registers(lab: &mut Lab) -> Result<&'static str> {
    for make in [Mover::fast, Mover::slow] {
        let mut mover = make(lab)?;
        lab.host.fault(Fault::StallRegisters {
            skip: 0,
            times: 5,
            ms: 40,
        })?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = lab.place(mover.device())?;
        lab.check_some(&mut mover, &buffer, place, 4, 100_000)?;
        buffer.region.forget().map_err(told)?;
        lab.host.fault(Fault::Clear {})?;
    }
    Ok("")
}

/// The port takes no more data. Checks that transfers end in bounded time, that the block is reset, and that later
/// transfers succeed. Memory that is unregistered in the meantime is not written.
fn port_stuck(lab: &mut Lab) -> Result<String> {
    let (mut took, mut how) = (Duration::ZERO, "");
    for _ in 0..lab.rounds.min(3) {
        let mut mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = lab.place(mover.device())?;
        lab.host.fault(Fault::StickPort {
            after: lab.rng.random_range(0..5000),
        })?;
        let begin = Instant::now();
        let ended = mover.attempt(
            Direction::FromFpga,
            &buffer.region,
            0,
            place,
            1 << 20,
            LIMIT,
        );
        took = took.max(begin.elapsed());
        match ended {
            Err(error) if is_expected(&error) => {}
            other => bail!("a write through a stuck port gave {other:?}"),
        }
        lab.host.fault(Fault::Clear {})?;
        how = come_back(lab, mover, buffer)?;
    }
    Ok(format!("ended in {took:?} at most; good again {how}"))
}

/// Checks that a process that waits when the device is unbound is notified at once, and that its mappings do no harm
/// afterwards.
fn told_of_the_end(lab: &mut Lab) -> Result<&'static str> {
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let fast = fork("fast waiter", move || {
        let mut mover = Mover::fast(&branch)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = branch.place(mover.device())?;
        mover.transfer(Direction::FromFpga, &buffer.region, 0, place, 4096)?;
        let device = mover.device().clone();
        device.query().map_err(told)?;
        theirs.signal()?;
        let ended = device.poll(Some(LIMIT));
        ensure!(matches!(ended, Err(Error::Gone)), "poll gave {ended:?}");
        theirs.wait()?;
        // Page and ring are still mapped, without a device.
        for _ in 0..2000 {
            match mover.attempt(Direction::FromFpga, &buffer.region, 0, place, 64, LIMIT) {
                Err(Error::Gone) => {}
                other => bail!("a transfer with a board that is gone gave {other:?}"),
            }
        }
        ensure!(
            matches!(device.query(), Err(Error::Gone)),
            "a board that is gone answers"
        );
        Ok(())
    })?;
    ours.wait()?;
    let (slow_ours, slow_theirs) = pair()?;
    let branch = lab.branch();
    let slow = fork("slow waiter", move || {
        let mover = Mover::slow(&branch)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = branch.place(mover.device())?;
        branch.host.fault(Fault::Reads {
            answer: Answer::Never {},
            skip: 0,
            times: 1,
        })?;
        let terms = peerlane_host::Terms::default();
        let region = &buffer.region;
        let submitted = mover
            .device()
            .submit(Direction::ToFpga, region.part(0..4096), place, terms)
            .map_err(told)?;
        slow_theirs.signal()?;
        match submitted.wait(None) {
            Err(error) if is_expected(&error) => Ok(()),
            other => bail!("a wait gave {other:?}"),
        }
    })?;
    slow_ours.wait()?;
    let begin = Instant::now();
    unbind()?;
    let took = begin.elapsed();
    ours.signal()?;
    fast.wait()?;
    slow.wait()?;
    lab.host.fault(Fault::Clear {})?;
    bind()?;
    ensure!(took < Duration::from_secs(30), "unbind took {took:?}");
    come_back_anew(lab)
}

/// Checks that a process that waits without a limit can be killed.
fn signal(lab: &mut Lab) -> Result<&'static str> {
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let child = fork("waiter", move || {
        let mover = Mover::slow(&branch)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = branch.place(mover.device())?;
        let terms = peerlane_host::Terms::default();
        theirs.signal()?;
        theirs.wait()?;
        loop {
            let region = &buffer.region;
            let submitted =
                mover
                    .device()
                    .submit(Direction::ToFpga, region.part(0..1 << 19), place, terms);
            // The next transfer waits for this one, however it ends.
            let _ = submitted.and_then(|submitted| submitted.wait(None));
        }
    })?;
    ours.wait()?;
    lab.host.fault(Fault::Reads {
        answer: Answer::Never {},
        skip: 0,
        times: u64::MAX,
    })?;
    ours.signal()?;
    std::thread::sleep(Duration::from_millis(30));
    let begin = Instant::now();
    child.kill()?;
    let took = begin.elapsed();
    lab.host.fault(Fault::Clear {})?;
    ensure!(took < Duration::from_secs(10), "it took {took:?}");
    come_back_anew(lab)
}

pub(crate) fn poke(path: impl AsRef<Path>, text: &str) -> Result<()> {
    let path = path.as_ref();
    std::fs::write(path, text).with_context(|| format!("`{text}` into {}", path.display()))
}

pub(crate) const DRIVER: &str = "/sys/bus/pci/drivers/peerlane";

/// Returns the board's address on the bus, and remembers it for the time in which no driver has the board.
fn address() -> Result<String> {
    let named = std::fs::read_dir("/sys/bus/pci/devices")?
        .flatten()
        .find(|entry| {
            let is = |file: &str, id: &str| {
                std::fs::read_to_string(entry.path().join(file)).is_ok_and(|text| text.trim() == id)
            };
            is("vendor", "0x1172") && is("device", "0xab00")
        });
    let named = named.context("no board on the bus")?;
    Ok(named.file_name().to_string_lossy().into_owned())
}

/// Unbinds the board from the driver.
pub fn unbind() -> Result<()> {
    poke(format!("{DRIVER}/unbind"), &address()?)
}

/// Binds the board to the driver.
pub fn bind() -> Result<()> {
    poke(format!("{DRIVER}/bind"), &address()?)
}

/// Resets the function.
pub fn reset() -> Result<()> {
    poke(pci_device()?.join("reset"), "1")
}

fn rebind() -> Result<()> {
    unbind()?;
    bind()
}

fn remove_and_rescan() -> Result<()> {
    poke(pci_device()?.join("remove"), "1")?;
    poke("/sys/bus/pci/rescan", "1")
}

/// Puts the machine to sleep as far as this level, and wakes it at once. The kernel has this as a test of its own
/// (Documentation/power/basic-pm-debugging.rst).
fn pm_test(level: &str, state: &str) -> Result<()> {
    pm_test_for(Duration::ZERO, level, state)
}

/// Puts the machine to sleep as far as this level, for the time `delay`.
fn pm_test_for(delay: Duration, level: &str, state: &str) -> Result<()> {
    if !Path::new("/sys/power/pm_test").exists() {
        return skip("the guest's kernel has no pm_test");
    }
    let states = std::fs::read_to_string("/sys/power/state")?;
    if !states.split_whitespace().any(|has| has == state) {
        return skip(format!("the guest's kernel has no state `{state}`"));
    }
    let seconds = delay.as_secs().to_string();
    poke("/sys/module/suspend/parameters/pm_test_delay", &seconds)?;
    poke("/sys/power/pm_test", level)?;
    poke("/sys/power/state", state)
}

/// Suspends the devices and resumes them.
pub fn suspend() -> Result<()> {
    pm_test("devices", "freeze")
}

/// Puts the devices to sleep in D3hot and wakes them.
pub fn sleep() -> Result<()> {
    pm_test("platform", "freeze")
}

/// Freezes the devices for an image of memory, and thaws them.
fn thaw() -> Result<()> {
    pm_test("devices", "disk")
}

/// Repeats an event at random moments while two processes move data.
fn under_load(lab: &mut Lab, event: fn() -> Result<()>) -> Result<String> {
    rounds_under_load(lab, lab.rounds, event)
}

fn rounds_under_load(lab: &mut Lab, rounds: u32, event: fn() -> Result<()>) -> Result<String> {
    let mut workers = [Worker::start(lab, false)?, Worker::start(lab, true)?];
    for worker in &mut workers {
        worker.progress().context("before anything happens")?;
    }
    let mut longest = Duration::ZERO;
    for round in 0..rounds {
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..200_000)));
        let begin = Instant::now();
        event().with_context(|| format!("round {round}"))?;
        for worker in &mut workers {
            worker
                .progress()
                .with_context(|| format!("round {round}"))?;
        }
        longest = longest.max(begin.elapsed());
    }
    let mut trips = 0;
    for worker in workers {
        trips += worker.stop()?;
    }
    Ok(format!(
        "{trips} round trips, moving again after {longest:?} at most"
    ))
}

/// Checks that the module cannot be unloaded while it is in use.
fn module_in_use(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let removed = rustix::system::delete_module(c"peerlane", libc::O_NONBLOCK);
    ensure!(
        removed == Err(Errno::AGAIN),
        "removing a module in use gave {removed:?}"
    );
    let mut mover = Mover::Slow(device);
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let place = lab.place(mover.device())?;
    lab.check_some(&mut mover, &buffer, place, 4, 50_000)?;
    Ok("")
}

/// Checks that an open file of debugfs holds the module: debugfs calls it when the file is closed. The board can be
/// taken from the driver; then the file cannot be read any more.
fn module_held_by_debugfs(lab: &mut Lab) -> Result<&'static str> {
    for name in ["state", "counters", "link"] {
        let node = lab.open()?.name();
        let directory = Path::new(&node).file_name().context("no name")?;
        let path = Path::new("/sys/kernel/debug").join(directory).join(name);
        let mut file = std::fs::File::open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        ensure!(!text.is_empty(), "{name} is empty");
        let removed = rustix::system::delete_module(c"peerlane", libc::O_NONBLOCK);
        ensure!(
            removed == Err(Errno::AGAIN),
            "removing the module with {name} open gave {removed:?}"
        );
        unbind()?;
        let read = file.read(&mut [0]).map_err(|error| error.raw_os_error());
        drop(file);
        bind()?;
        let gone = Some(Errno::IO.raw_os_error());
        ensure!(read == Err(gone), "{name} without a board gave {read:?}");
    }
    come_back_anew(lab)
}

/// Unloads the module right after a process that used it was killed, and loads it again.
fn module_loaded_anew(lab: &mut Lab) -> Result<&'static str> {
    let Some(path) = std::env::var_os(MODULE) else {
        return skip(format!("{MODULE} does not name the module"));
    };
    let parameters = std::env::var("PEERLANE_PARAMETERS").unwrap_or_default();
    let parameters = std::ffi::CString::new(parameters)?;
    for round in 0..lab.rounds {
        let mut worker = Worker::start(lab, round % 2 == 0)?;
        worker.progress()?;
        worker.stop()?;
        rustix::system::delete_module(c"peerlane", libc::O_NONBLOCK)
            .with_context(|| format!("round {round}: rmmod"))?;
        ensure!(
            matches!(Device::first(), Err(Error::None)),
            "a device without a driver"
        );
        let file = std::fs::File::open(&path)?;
        rustix::system::finit_module(&file, &parameters, 0)
            .with_context(|| format!("round {round}: insmod"))?;
        let mut mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = lab.place(mover.device())?;
        lab.check_some(&mut mover, &buffer, place, 2, 100_000)?;
    }
    Ok("")
}

/// Checks that all waiting processes are notified when the board dies, that none hangs, and that everything can be
/// released.
fn kill_board(lab: &mut Lab) -> Result<String> {
    let mut mover = Mover::fast(lab)?;
    let slow = lab.open()?;
    let buffer = Buffer::new(mover.device(), 4 << 20)?;
    let kept = Buffer::new(&slow, 1 << 20)?;
    let place = lab.place(mover.device())?;
    let queue = mover.queue()?;
    let id = queue
        .submit(Direction::FromFpga, buffer.region.part(0..4 << 20), place)
        .map_err(told)?;
    lab.host.fault(Fault::Kill {})?;
    let begin = Instant::now();
    match id.wait(Some(LIMIT)) {
        // The transfer may have ended before.
        Ok(_) | Err(Error::Gone) => {}
        other => bail!("a transfer of a dead board gave {other:?}"),
    }
    let ended = begin.elapsed();
    let query = loop {
        match slow.query() {
            Ok(query) if query.state == 0 && begin.elapsed() < LIMIT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            other => break other,
        }
    };
    match query {
        Ok(query) if query.state & peerlane_core::uapi::state::GONE != 0 => {}
        Err(Error::Gone) => {}
        other => bail!("the context of a dead board says {other:?}"),
    }
    let terms = peerlane_host::Terms::default();
    let submitted = slow
        .submit(Direction::FromFpga, kept.region.part(0..64), place, terms)
        .and_then(|submitted| submitted.wait(Some(LIMIT)));
    ensure!(submitted.is_err(), "a dead board has moved data");
    kept.region.forget().or_else(|error| match error {
        Error::Gone => Ok(()),
        error => Err(told(error)),
    })?;
    drop((mover, slow, buffer));
    let begin = Instant::now();
    unbind()?;
    let unbound = begin.elapsed();
    ensure!(
        ended < LIMIT && unbound < LIMIT,
        "too slow: {ended:?}, {unbound:?}"
    );
    Ok(format!("reported after {ended:?}, unbound in {unbound:?}"))
}
