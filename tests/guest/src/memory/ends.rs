//! Tests of interruptions while FPGA memory is filled with zeros: signals, the end of the process, and the end of the
//! board.

use super::{Buffer, Device, GRANULE, allocate, fill, next_place, zero};
use crate::faults;
use crate::lab::{Lab, Mover, told};
use crate::process::{fork, pair};
use crate::raw;
use crate::suite::Suite;
use crate::worker::Count;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::uapi::{self, Allocate, Free};
use peerlane_guest::{Answer, Fault};
use peerlane_host::{Direction, Error};
use rand::Rng;
use rustix::io::Errno;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Bytes that take many descriptors.
const LONG: u64 = 6 << 20;

/// Time limit for operations that take moments, also on a busy computer.
const LATEST: Duration = Duration::from_secs(60);

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("memory.signals", || signals(lab));
    suite.run("memory.killed", || killed(lab));
    suite.run("memory.stopped", || stopped(lab));
    suite.run("memory.reset", || restarted(lab, faults::reset));
    suite.run("memory.never_answered", || never_answered(lab));
    suite.run("memory.port_stuck", || port_stuck(lab));
    suite.run("memory.unbound", || unbound(lab));
    suite.run("memory.stays", || stays(lab));
}

/// Makes one call of the driver, without repetition.
fn call(device: &Device, bytes: u64) -> Result<Range<u64>, Errno> {
    let mut argument = Allocate {
        bytes,
        ..Default::default()
    };
    raw::with(device, uapi::ALLOCATE, &mut argument)?;
    Ok(argument.base..argument.base + argument.bytes)
}

/// Checks that all of a range that a context has just got is zero. Then the range is freed.
fn check_zero(device: &Device, range: &Range<u64>) -> Result<()> {
    const PART: u64 = 1 << 20;
    // A new device of the library, because the old one did not see the allocation.
    let seen = Device::from_file(
        rustix::io::fcntl_dupfd_cloexec(raw::fd(device), 3)?,
        device.name(),
    )
    .map_err(told)?;
    ensure!(seen.range() == *range, "{:x?}", seen.range());
    let buffer = Buffer::new(&seen, PART as usize)?;
    let mut at = range.start;
    while at < range.end {
        let part = at..range.end.min(at + PART);
        zero(&seen, &buffer, &part)?;
        at = part.end;
    }
    raw::with(device, uapi::FREE, &mut Free::default())?;
    Ok(())
}

extern "C" fn ignore(_: libc::c_int) {}

/// Sends the process a signal every `every` microseconds, whose handler does nothing and restarts no calls; 0 ends
/// this.
fn disturb(every: i64) -> Result<()> {
    // SAFETY: the handler does nothing, and the structures are plain.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as *const () as usize;
        let interval = libc::timeval {
            tv_sec: 0,
            tv_usec: every,
        };
        let timer = libc::itimerval {
            it_interval: interval,
            it_value: interval,
        };
        libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut()) != 0
            || libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) != 0
    };
    ensure!(!failed, "setitimer: {}", std::io::Error::last_os_error());
    Ok(())
}

/// Checks that a call that a signal interrupts leaves no memory allocated. The part that it has filled need not be
/// filled again, so the calls come to an end although each is interrupted.
fn signals(lab: &mut Lab) -> Result<String> {
    let place = next_place(lab, LONG)?;
    fill(lab, &place)?;
    let count = Count::new()?;
    let shared = &count;
    let branch = lab.branch();
    fork("disturbed", move || {
        let device = branch.open()?;
        let begin = Instant::now();
        disturb(150_000)?;
        let range = loop {
            match call(&device, LONG) {
                Ok(range) => break range,
                Err(Errno::INTR) => {}
                Err(error) => bail!("interrupted by a signal: {error}"),
            }
            shared.get().fetch_add(1, Ordering::Relaxed);
            ensure!(begin.elapsed() < Duration::from_secs(200), "no progress");
            let info = Device::from_file(
                rustix::io::fcntl_dupfd_cloexec(raw::fd(&device), 3)?,
                device.name(),
            );
            let range = info.map_err(told)?.range();
            ensure!(range.is_empty(), "interrupted, and has {range:x?}");
        };
        disturb(0)?;
        check_zero(&device, &range)
    })?
    .wait()?;
    let interrupted = count.get().load(Ordering::Relaxed);
    ensure!(interrupted > 0, "no call was interrupted");
    Ok(format!("{interrupted} calls were interrupted"))
}

/// Checks that a process that is killed at any moment of filling leaves no memory allocated.
fn killed(lab: &mut Lab) -> Result<&'static str> {
    let place = next_place(lab, LONG)?;
    for round in 0..lab.rounds {
        fill(lab, &place)?;
        let (ours, theirs) = pair()?;
        let branch = lab.branch();
        let child = fork("killed", move || {
            let device = branch.open()?;
            theirs.signal()?;
            loop {
                call(&device, LONG)?;
                raw::with(&device, uapi::FREE, &mut Free::default())?;
            }
        })?;
        ours.wait()?;
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..400_000)));
        let begin = Instant::now();
        child.kill()?;
        let took = begin.elapsed();
        ensure!(took < Duration::from_secs(10), "it took {took:?}");
        // A part may be known to be zero by now, and must be zero.
        let device = lab.open()?;
        let range = call(&device, LONG)?;
        ensure!(range == place, "{range:x?} instead of {place:x?}");
        check_zero(&device, &range).with_context(|| format!("round {round}"))?;
    }
    Ok("")
}

/// Checks that `STOP` ends the filling, too.
fn stopped(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let other = device.clone();
    let child = fork("stopper", move || {
        loop {
            // The library does not use a device of the parent, so this is a direct call.
            raw::with(&other, uapi::STOP, &mut uapi::Stop::default())?;
            std::thread::sleep(Duration::from_millis(20));
        }
    })?;
    let (mut cancelled, mut round) = (0, 0);
    let begin = Instant::now();
    // Where processors are busy the stopper may seldom run.
    while round < lab.rounds || (cancelled == 0 && begin.elapsed() < LATEST) {
        round += 1;
        match call(&device, LONG) {
            Err(Errno::CANCELED) => cancelled += 1,
            Ok(_) => raw::with(&device, uapi::FREE, &mut Free::default())?,
            Err(error) => bail!("stopped during the call: {error}"),
        }
    }
    child.kill()?;
    ensure!(cancelled > 0, "nothing was stopped");
    let range = call(&device, LONG)?;
    check_zero(&device, &range)?;
    Ok("")
}

/// The board is restarted while memory is filled. Checks that the call fails or succeeds, and that a later call
/// succeeds.
fn restarted(lab: &mut Lab, event: fn() -> Result<()>) -> Result<String> {
    let place = next_place(lab, LONG)?;
    let mut again = 0;
    for round in 0..lab.rounds {
        fill(lab, &place)?;
        let (ours, theirs) = pair()?;
        let branch = lab.branch();
        let count = Count::new()?;
        let shared = &count;
        let child = fork("allocating", move || {
            let device = branch.open()?;
            theirs.signal()?;
            let begin = Instant::now();
            let range = loop {
                match call(&device, LONG) {
                    Ok(range) => break range,
                    // The board is away, or was away.
                    Err(Errno::AGAIN | Errno::NODEV | Errno::IO) => {
                        shared.get().fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => bail!("while the board is started again: {error}"),
                }
                ensure!(begin.elapsed() < LATEST, "not again");
                std::thread::sleep(Duration::from_millis(5));
            };
            check_zero(&device, &range)
        })?;
        ours.wait()?;
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..300_000)));
        event()?;
        child.wait().with_context(|| format!("round {round}"))?;
        again += u64::from(count.get().load(Ordering::Relaxed) > 0);
    }
    Ok(format!("{again} of {} calls failed at first", lab.rounds))
}

/// The zeros are never delivered. Checks that the call ends in bounded time, and that the next one succeeds.
fn never_answered(lab: &mut Lab) -> Result<String> {
    let place = next_place(lab, LONG)?;
    fill(lab, &place)?;
    let device = lab.open()?;
    lab.host.fault(Fault::Reads {
        answer: Answer::Never {},
        skip: 3000,
        times: u64::MAX,
    })?;
    let begin = Instant::now();
    let result = call(&device, LONG);
    let took = begin.elapsed();
    lab.host.fault(Fault::Clear {})?;
    ensure!(
        matches!(result, Err(Errno::IO | Errno::AGAIN)),
        "without answers: {result:?}"
    );
    ensure!(took < Duration::from_secs(40), "it took {took:?}");
    let range = patiently(lab, &device)?;
    check_zero(&device, &range)?;
    Ok(format!("{result:?} after {took:?}"))
}

/// Repeats the call until the board works.
fn patiently(lab: &Lab, device: &Device) -> Result<Range<u64>> {
    let mut mend = faults::Mend::new();
    loop {
        match call(device, LONG) {
            Ok(range) => return Ok(range),
            Err(error) => mend.wait(lab, &error)?,
        }
    }
}

/// The port takes no more data. Checks that the call ends in bounded time, and that the next one succeeds.
fn port_stuck(lab: &mut Lab) -> Result<String> {
    let place = next_place(lab, LONG)?;
    fill(lab, &place)?;
    let device = lab.open()?;
    lab.host.fault(Fault::StickPort { after: 3000 })?;
    let begin = Instant::now();
    let result = call(&device, LONG);
    let took = begin.elapsed();
    lab.host.fault(Fault::Clear {})?;
    ensure!(result.is_err(), "through a stuck port: {result:?}");
    ensure!(took < Duration::from_secs(40), "it took {took:?}");
    let range = patiently(lab, &device)?;
    check_zero(&device, &range)?;
    Ok(format!("{result:?} after {took:?}"))
}

/// Checks that the driver can be unbound at once, and that the waiting process gets an error.
fn unbound(lab: &mut Lab) -> Result<String> {
    let place = next_place(lab, LONG)?;
    let mut told_of_it = 0;
    for _ in 0..lab.rounds.min(3) {
        let (ours, theirs) = pair()?;
        let branch = lab.branch();
        let count = Count::new()?;
        let shared = &count;
        let child = fork("allocating", move || {
            let device = branch.open()?;
            theirs.signal()?;
            match call(&device, LONG) {
                Ok(_) => {}
                Err(Errno::NODEV) => {
                    shared.get().fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => bail!("unbound during the call: {error}"),
            }
            Ok(())
        })?;
        ours.wait()?;
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..300_000)));
        let begin = Instant::now();
        faults::unbind()?;
        let took = begin.elapsed();
        ensure!(took < LATEST, "unbinding took {took:?}");
        child.wait()?;
        told_of_it += count.get().load(Ordering::Relaxed);
        faults::bind()?;
        let begin = Instant::now();
        let device = loop {
            match lab.open() {
                Ok(device) => break device,
                Err(error) => ensure!(begin.elapsed() < LATEST, "{error:#}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        fill(lab, &place)?;
        let range = call(&device, LONG)?;
        ensure!(range == place, "{range:x?}");
        check_zero(&device, &range)?;
    }
    Ok(format!("{told_of_it} got the error"))
}

/// Checks that a context keeps its memory when the board is restarted.
fn stays(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::slow(lab)?;
    let device = mover.device().clone();
    let memory = allocate(&device, GRANULE)?;
    let buffer = Buffer::new(&device, GRANULE as usize)?;
    for _ in 0..lab.rounds.min(3) {
        faults::reset()?;
        lab.check(
            &mut mover,
            Direction::ToFpga,
            &buffer,
            0,
            memory.base(),
            4096,
        )?;
        let other = lab.open()?;
        let others = allocate(&other, GRANULE)?;
        ensure!(others.range() != memory.range(), "{others:?}");
        match device.allocate(1) {
            Err(Error::Memory {
                source: Errno::EXIST,
                ..
            }) => {}
            other => bail!("a second range: {other:?}"),
        }
    }
    Ok("")
}
