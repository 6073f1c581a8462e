//! Tests in which the board is away for a while, or seems to be: no process reaches it, all processes get correct
//! errors, and the board comes back.

use super::lost::{configuration, is_master};
use super::{aer, come_back, reset, suspend};
use crate::lab::{Buffer, LIMIT, Lab, Mover, interrupts, told};
use crate::process::{fork, pair};
use crate::raw;
use crate::suite::skip;
use crate::worker::{Count, Worker};
use anyhow::{Context, Result, ensure};
use peerlane_core::regs::chan;
use peerlane_core::uapi::{self, access, map, state};
use peerlane_guest::Fault;
use peerlane_host::{Device, Direction, Error, Memory};
use rand::Rng;
use rustix::fs::{CWD, FileType, Mode};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A time that is long enough for all that the kernel and the driver do.
pub(super) const SOON: Duration = Duration::from_secs(20);

/// A channel's page, mapped.
pub struct Page(*mut u32);

impl Page {
    const DWORDS: usize = chan::SIZE / 4;

    /// Maps the page.
    pub fn new(device: &Device) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let none = std::ptr::null_mut();
        let (bytes, shared) = (chan::SIZE, MapFlags::SHARED);
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap(none, bytes, protection, shared, raw::fd(device), map::PAGE)
        }?;
        Ok(Self(base.cast()))
    }

    fn unmap(self) -> Result<()> {
        // SAFETY: the mapping is ours, and nothing else refers to it.
        Ok(unsafe { rustix::mm::munmap(self.0.cast(), chan::SIZE) }?)
    }

    fn store(&self, dword: usize, value: u32) {
        // SAFETY: a dword of the mapping, which exists as long as the process.
        unsafe { self.0.add(dword % Self::DWORDS).write_volatile(value) };
    }

    fn load(&self, dword: usize) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.add(dword % Self::DWORDS).read_volatile() }
    }
}

/// A process stores to its channel's page, and loads from it, without pause. The harness sees that none of these
/// accesses reaches a function that takes no access.
pub(super) fn stores(lab: &mut Lab, event: Event) -> Result<String> {
    let count = Count::new()?;
    let shared = &count;
    let (ours, theirs) = pair()?;
    let mut branch = lab.branch();
    let mut child = fork("storer", move || {
        let device = branch.open()?;
        let page = Page::new(&device)?;
        device.query().map_err(told)?;
        theirs.signal()?;
        loop {
            let dword = branch.rng.random_range(0..Page::DWORDS);
            page.store(dword, branch.rng.random());
            if branch.rng.random_ratio(1, 64) {
                page.load(dword);
            }
            shared.get().fetch_add(1, Ordering::Relaxed);
        }
    })?;
    ours.wait()?;
    for round in 0..lab.rounds {
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..50_000)));
        event().with_context(|| format!("round {round}"))?;
        let (before, begin) = (count.get().load(Ordering::Relaxed), Instant::now());
        while count.get().load(Ordering::Relaxed) < before + 100 {
            ensure!(begin.elapsed() < SOON, "round {round}: it hangs");
            let ended = child.wait_for(Duration::ZERO)?;
            ensure!(ended.is_none(), "round {round}: it died: {ended:?}");
        }
    }
    child.kill()?;
    // The kernel recovers a link after the error has been reported.
    let mover = open_soon(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(format!("{} stores", count.get().load(Ordering::Relaxed)))
}

/// An event that takes the board away and brings it back.
type Event = fn() -> Result<()>;

/// Names of the events, for [`stores`].
pub(super) const EVENTS: &[(&str, Event)] = &[
    ("reset", reset),
    ("suspended", suspend),
    ("asleep", super::sleep),
    ("fatal_error", || aer::report(aer::MALFORMED_TLP)),
];

/// Checks that calls return `EAGAIN` while the board is away, and that none reports that it is gone.
pub(super) fn told_to_try_again(lab: &mut Lab) -> Result<String> {
    let [again, wrong] = [Count::new()?, Count::new()?];
    let (counts, (ours, theirs)) = ([&again, &wrong], pair()?);
    let branch = lab.branch();
    let child = fork("caller", move || {
        let device = branch.open()?;
        let memory = Memory::new(4096)?;
        let note = |result: Result<(), Errno>| {
            let count = match result {
                Ok(()) => return,
                Err(Errno::AGAIN) => counts[0],
                Err(error) => {
                    println!("a call gave {error}");
                    counts[1]
                }
            };
            count.get().fetch_add(1, Ordering::Relaxed);
        };
        theirs.signal()?;
        loop {
            let mut register = raw::page(&memory, access::READ | access::WRITE);
            note(raw::with(&device, uapi::REGISTER, &mut register));
            if register.handle != 0 {
                let mut unregister = uapi::Unregister {
                    handle: register.handle,
                    flags: 0,
                };
                note(raw::with(&device, uapi::UNREGISTER, &mut unregister));
            }
            let mut stop = uapi::Stop::default();
            note(raw::with(&device, uapi::STOP, &mut stop));
            let mut query = uapi::Query::default();
            note(raw::with(&device, uapi::QUERY, &mut query));
            if query.state != 0 {
                note(Err(Errno::NODEV));
            }
            match Device::first() {
                Err(Error::Open { source, .. }) => note(Err(source)),
                _ => note(Ok(())),
            }
        }
    })?;
    ours.wait()?;
    let begin = Instant::now();
    let was_told = || again.get().load(Ordering::Relaxed) > 0;
    let mut rounds = lab.rounds;
    // Where processors are busy the caller may not have run at any time when the board was away.
    while rounds > 0 || (!was_told() && begin.elapsed() < 6 * SOON) {
        rounds = rounds.saturating_sub(1);
        for event in [reset, suspend] {
            std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..20_000)));
            event()?;
        }
    }
    child.kill()?;
    let [again, wrong] = [again, wrong].map(|count| count.get().load(Ordering::Relaxed));
    ensure!(wrong == 0, "{wrong} calls gave another error, see above");
    ensure!(again > 0, "the board was never away");
    Ok(format!("{again} times"))
}

/// Checks that a board that has not answered counts as gone, and that a reset of the function brings it back, also for
/// processes that had it before.
pub(super) fn gone_and_back(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let mut mover = Mover::fast(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let place = lab.place(mover.device())?;
    lab.check_some(&mut mover, &buffer, place, 2, 50_000)?;
    let generation = device.query().map_err(told)?.generation;
    let until = |what: &str, wanted: u32| {
        let begin = Instant::now();
        while device.query().map_err(told)?.state != wanted {
            ensure!(begin.elapsed() < SOON, "the board {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
        anyhow::Ok(())
    };
    lab.host.fault(Fault::Absent {})?;
    until("is not found missing", state::GONE)?;
    match Device::first() {
        Err(Error::Open {
            source: Errno::NODEV,
            ..
        }) => {}
        other => anyhow::bail!("a board that is gone was opened: {other:?}"),
    }
    let flushed = buffer.region.flush();
    ensure!(
        matches!(flushed, Err(Error::Gone)),
        "a flush gave {flushed:?}"
    );
    lab.host.fault(Fault::Clear {})?;
    reset()?;
    until("stays gone", 0)?;
    let query = device.query().map_err(told)?;
    ensure!(query.generation != generation, "no context was notified");
    let other = Mover::fast(lab)?;
    let second = Buffer::new(other.device(), 1 << 20)?;
    come_back(lab, other, second)?;
    // The earlier region is there again.
    come_back(lab, mover, buffer)?;
    Ok("")
}

/// A board does not answer for a moment. Checks that a stop then reports that the board is started again, and not that
/// it is gone.
pub(super) fn absent_for_a_moment(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let until = |what: &str, done: &dyn Fn(&uapi::Query) -> bool| {
        let begin = Instant::now();
        while !done(&device.query().map_err(told)?) {
            ensure!(begin.elapsed() < SOON, "the board {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
        anyhow::Ok(())
    };
    for _ in 0..5 {
        let generation = device.query().map_err(told)?.generation;
        lab.host.fault(Fault::Absent {})?;
        let stopped = raw::with(&device, uapi::STOP, &mut uapi::Stop::default());
        lab.host.fault(Fault::Clear {})?;
        match stopped {
            Err(Errno::IO) => {
                until("is not started again", &|query| {
                    query.state == 0 && query.generation != generation
                })?;
                let mover = Mover::fast(lab)?;
                let buffer = Buffer::new(mover.device(), 1 << 20)?;
                come_back(lab, mover, buffer)?;
                return Ok("");
            }
            // The watchdog has looked in that moment.
            Err(Errno::NODEV) if device.query().map_err(told)?.state == state::GONE => {
                reset()?;
                until("stays gone", &|query| query.state == 0)?;
            }
            Err(Errno::AGAIN) => until("is not started again", &|query| {
                query.generation != generation
            })?,
            other => anyhow::bail!("a stop gave {other:?}"),
        }
    }
    skip("the watchdog always looked first")
}

/// A call that may be the first to notice that the board does not answer. It has 64 KiB of FPGA memory and a region
/// with this handle, except for [`allocate`].
type Call = fn(&Device, &Memory, u32) -> Result<Option<u32>, Errno>;

fn submit(device: &Device, _: &Memory, handle: u32) -> Result<Option<u32>, Errno> {
    let mut submit = uapi::Submit {
        handle,
        length: 64,
        local: device.range().start,
        ..Default::default()
    };
    raw::with(device, uapi::SUBMIT, &mut submit).map(|()| Some(submit.cookie))
}

fn register(device: &Device, memory: &Memory, _: u32) -> Result<Option<u32>, Errno> {
    let mut register = raw::page(memory, access::READ | access::WRITE);
    raw::with(device, uapi::REGISTER, &mut register).map(|()| None)
}

fn allocate(device: &Device, _: &Memory, _: u32) -> Result<Option<u32>, Errno> {
    let mut allocate = uapi::Allocate {
        bytes: 1,
        ..Default::default()
    };
    raw::with(device, uapi::ALLOCATE, &mut allocate).map(|()| None)
}

/// A board does not answer for a moment, and a call is the first to notice. Checks that the call does not report that
/// the board is gone, and that a descriptor of which the driver does not know whether the board has it ends, as the one
/// before it.
pub(super) fn noticed_by_calls(lab: &mut Lab) -> Result<String> {
    let calls: [(&str, Call); 3] = [
        ("SUBMIT", submit),
        ("REGISTER", register),
        ("ALLOCATE", allocate),
    ];
    let memory = Memory::new(4096)?;
    let mut noticed = [0; 3];
    let begin = Instant::now();
    // On a busy computer the watchdog may be the first: such a round shows nothing of the calls.
    for round in 0.. {
        let done = noticed.iter().all(|times| *times >= lab.rounds);
        if done || begin.elapsed() > LIMIT {
            break;
        }
        let (name, call) = calls[round % 3];
        drop(open_soon(lab)?);
        let device = lab.open()?;
        if name != "ALLOCATE" {
            lab.place_of(&device, 64 << 10)?;
        }
        let mut region = raw::page(&memory, access::READ | access::WRITE);
        raw::with(&device, uapi::REGISTER, &mut region)?;
        let before = device.query().map_err(told)?.generation;
        let earlier = match name {
            "SUBMIT" => call(&device, &memory, region.handle)?,
            _ => None,
        };
        lab.host.fault(Fault::Absent {})?;
        let called = call(&device, &memory, region.handle);
        let again = call(&device, &memory, region.handle);
        lab.host.fault(Fault::Clear {})?;
        let begin = Instant::now();
        let ended = loop {
            let query = device.query().map_err(told)?;
            if query.state == state::GONE || query.state == 0 && query.generation != before {
                break query.state;
            }
            ensure!(begin.elapsed() < SOON, "{name}: the board stays {query:?}");
            std::thread::sleep(Duration::from_millis(1));
        };
        if ended == state::GONE {
            // The watchdog has reset the function in that moment, and has given it up.
            reset()?;
            continue;
        }
        for result in [called, again] {
            let allowed = matches!(result, Ok(_) | Err(Errno::AGAIN | Errno::IO));
            ensure!(allowed, "{name} gave {result:?}");
        }
        // An error of SUBMIT says that the watchdog was the first: no doorbell was rung.
        noticed[round % 3] += u32::from(name != "SUBMIT" || called.is_ok());
        for cookie in [earlier, called.ok().flatten()].into_iter().flatten() {
            let mut wait = uapi::Wait {
                cookie,
                ..Default::default()
            };
            let waited = raw::with(&device, uapi::WAIT, &mut wait);
            ensure!(waited == Ok(()), "{cookie} of {name}: WAIT gave {waited:?}");
            let aborted = peerlane_core::fault::Fault::Aborted.code().raw();
            let ends = [0, aborted].contains(&wait.status);
            ensure!(ends, "{cookie} of {name} ended with {}", wait.status);
        }
        if name == "SUBMIT" {
            call(&device, &memory, region.handle).context("after the start")?;
        }
    }
    ensure!(!noticed.contains(&0), "not noticed by each: {noticed:?}");
    Ok(format!("noticed {noticed:?} times"))
}

/// A board is cut off while no process has it. Checks that it is started again for the next process that opens it,
/// although nothing resets it.
pub(super) fn cut_off_unseen(lab: &mut Lab) -> Result<String> {
    // The watchdog stops when it has seen that no process has the board.
    std::thread::sleep(Duration::from_millis(2500));
    lab.host.fault(Fault::Absent {})?;
    let opened = Device::first();
    lab.host.fault(Fault::Clear {})?;
    ensure!(opened.is_err(), "a board that is not there was opened");
    let begin = Instant::now();
    let mover = open_soon(lab)?;
    let took = begin.elapsed();
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(format!("open again after {took:?}"))
}

/// Checks that a reset of the function, its sleep and an error of the link are counted, and that a process that sees
/// the new generation also sees the count. Nothing else is counted.
pub(super) fn resets_are_counted(lab: &mut Lab) -> Result<String> {
    let mut mover = Mover::slow(lab)?;
    let device = mover.device().clone();
    ensure!(device.has(uapi::feature::RESETS));
    let info = || {
        let mut info = uapi::Info {
            version: uapi::VERSION,
            ..Default::default()
        };
        raw::with(&device, uapi::INFO, &mut info).map(|()| info.resets)
    };
    let buffer = Buffer::new(&device, 1 << 20)?;
    let place = lab.place(&device)?;
    let mut before = device.query().map_err(told)?;
    for (name, event) in EVENTS {
        lab.check_some(&mut mover, &buffer, place, 2, 50_000)?;
        drop(lab.open()?);
        let quiet = device.query().map_err(told)?;
        ensure!(
            (quiet.resets, quiet.generation) == (before.resets, before.generation),
            "before {name}"
        );
        event().context(*name)?;
        let begin = Instant::now();
        let after = loop {
            let query = device.query().map_err(told)?;
            if query.generation != before.generation {
                break query;
            }
            ensure!(begin.elapsed() < LIMIT, "{name}: no error is reported");
            std::thread::sleep(Duration::from_millis(1));
        };
        ensure!(
            after.resets == before.resets + 1,
            "{name}: {} resets became {}",
            before.resets,
            after.resets
        );
        ensure!(info()? == after.resets, "{name}: INFO says another number");
        before = after;
    }
    Ok(format!("{} resets", before.resets))
}

/// The FPGA is configured without the driver, or its memory is reset. Checks that a waiting process is notified, and
/// that transfers succeed again although nothing resets the function.
pub(super) fn reset_by_others(lab: &mut Lab, event: Fault) -> Result<String> {
    let fast = Mover::fast(lab)?;
    let buffer = Buffer::new(fast.device(), 1 << 20)?;
    let slow = lab.open()?;
    let other = Buffer::new(&slow, 1 << 20)?;
    let place = lab.place(&slow)?;
    let before = slow.query().map_err(told)?;
    lab.host.fault(event)?;
    let begin = Instant::now();
    // The block takes no doorbells.
    let terms = peerlane_host::Terms::default();
    let ended = slow
        .submit(Direction::FromFpga, other.region.part(0..64), place, terms)
        .and_then(|submitted| submitted.wait(Some(SOON)));
    let took = begin.elapsed();
    ensure!(took < SOON, "no error is reported: {ended:?}");
    ensure!(ended.is_err(), "a block that knows nothing has moved data");
    let mut after = slow.query().map_err(told)?;
    // After `Error::Restarted` the generation must be new already. A call between the event and the restart only gets
    // an error that says to wait.
    while !matches!(ended, Err(Error::Restarted)) && after.generation == before.generation {
        ensure!(begin.elapsed() < SOON, "no other generation: {ended:?}");
        std::thread::sleep(Duration::from_millis(1));
        after = slow.query().map_err(told)?;
    }
    ensure!(
        after.generation != before.generation,
        "an error came without another generation"
    );
    // Kernels and memory may also be as after power-up.
    ensure!(after.resets > before.resets, "it counts as the block's own");
    come_back(lab, fast, buffer)?;
    come_back(lab, Mover::Slow(slow), other)?;
    Ok(format!("reported after {took:?}"))
}

/// The FPGA is configured without the driver, or its memory is reset, and the driver does not know it yet. Checks that
/// a restart of a queue with transfers in progress ends them, and that the queue works afterwards.
pub(super) fn restarted_after_a_reset_by_others(lab: &mut Lab, event: Fault) -> Result<String> {
    const TRANSFERS: usize = 16;
    let mut longest = Duration::ZERO;
    let mut lost = 0;
    for round in 0..lab.rounds {
        let mut mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = lab.place(mover.device())?;
        lab.check_some(&mut mover, &buffer, place, 2, 50_000)?;
        let before = mover.device().query().map_err(told)?;
        let queue = mover.queue()?;
        let begun = (0..TRANSFERS)
            .map(|_| queue.submit(Direction::FromFpga, buffer.region.part(0..1 << 20), place))
            .collect::<Result<Vec<_>, _>>()
            .map_err(told)?;
        lab.host.fault(event)?;
        let begin = Instant::now();
        queue
            .restart()
            .with_context(|| format!("round {round}: restart"))?;
        longest = longest.max(begin.elapsed());
        ensure!(queue.under_way() == 0, "transfers are under way");
        for transfer in begun {
            match transfer.wait(Some(Duration::ZERO)) {
                // It ended before, or by the restart.
                Ok(_) | Err(Error::Stopped) => {}
                Err(Error::Restarted) => lost += 1,
                other => anyhow::bail!("round {round}: a transfer gave {other:?}"),
            }
        }
        let after = mover.device().query().map_err(told)?;
        ensure!(
            after.generation != before.generation && after.resets > before.resets,
            "round {round}: {before:?} became {after:?}"
        );
        come_back(lab, mover, buffer)?;
    }
    ensure!(lost > 0, "none was under way");
    Ok(format!("{lost} were lost; {longest:?} at most"))
}

/// A thread that hardly gets a processor finds the block busy with other processes' fences each time it looks. Checks
/// that it does not take the board away from any process.
pub(super) fn looked_at_late(lab: &mut Lab) -> Result<String> {
    let watched = lab.open()?;
    let generation = watched.query().map_err(told)?.generation;
    let mut others = Vec::new();
    for number in 0..4 {
        let branch = lab.branch();
        others.push(fork("fences", move || {
            let device = branch.open()?;
            let memory = Memory::new(4096)?;
            if number == 0 {
                // SAFETY: plain system calls on this process.
                let failed = unsafe {
                    let parameters = libc::sched_param { sched_priority: 0 };
                    libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters)
                };
                ensure!(failed == 0, "{}", std::io::Error::last_os_error());
            }
            loop {
                let mut register = raw::page(&memory, access::READ | access::WRITE);
                raw::with(&device, uapi::REGISTER, &mut register)?;
                let handle = register.handle;
                let mut unregister = uapi::Unregister { handle, flags: 1 };
                raw::with(&device, uapi::UNREGISTER, &mut unregister)?;
            }
        })?);
    }
    let mut worker = Worker::start(lab, true)?;
    for _ in 0..lab.rounds {
        worker.progress()?;
        std::thread::sleep(Duration::from_secs(1));
    }
    let trips = worker.stop()?;
    for mut other in others {
        let ended = other.wait_for(Duration::ZERO)?;
        ensure!(ended.is_none(), "a call failed: {ended:?}");
        other.kill()?;
    }
    let now = watched.query().map_err(told)?.generation;
    ensure!(now == generation, "the board was started again");
    Ok(format!("{trips} round trips"))
}

/// A process rings doorbells without pause, and all are refused. Checks that the handler of the interrupt line returns
/// between them, and that other processes are notified of completions.
pub(super) fn refused_without_pause(lab: &mut Lab) -> Result<String> {
    if lab.open()?.capabilities().msix {
        return skip("this build has no interrupt line");
    }
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let child = fork("storer", move || {
        let device = branch.open()?;
        let page = Page::new(&device)?;
        theirs.signal()?;
        // The process would have to ask for its generation first.
        loop {
            page.store(chan::WRITE_DOORBELL / 4, 0);
        }
    })?;
    ours.wait()?;
    let mut worker = Worker::start(lab, true)?;
    worker.progress()?;
    let (before, begin) = (interrupts()?, Instant::now());
    for _ in 0..lab.rounds {
        worker.progress()?;
    }
    while begin.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let during = interrupts()? - before;
    // A handler that never returns counts as one interrupt.
    ensure!(during > 10, "{during} interrupts: its handler does not go");
    super::unbind()?;
    super::bind()?;
    let trips = worker.stop()?;
    child.kill()?;
    Ok(format!("{during} interrupts, {trips} round trips"))
}

/// The interrupt line never becomes idle: each acknowledgement of its causes is followed by another cause. Checks that
/// its handler, which the kernel runs before all ordinary work, still leaves the processor to others.
pub(super) fn refused_without_end(lab: &mut Lab) -> Result<String> {
    const LONG: Duration = Duration::from_secs(2);
    // More pauses than the handler may be seen to wait for a lock.
    const ENOUGH: u32 = 10;
    let device = lab.open()?;
    if device.capabilities().msix {
        return skip("this build has no interrupt line");
    }
    let handler = line_handler()?;
    // The process never asked for its generation, so all its doorbells are refused.
    let _page = Page::new(&device)?;
    let channel = device.info().channel;
    lab.host.fault(Fault::RingWithoutEnd { channel })?;
    let count = || anyhow::Ok((interrupts()?, lab.host.counters()?.other_writes));
    let (before, begin) = (count()?, Instant::now());
    let (mut looks, mut pauses) = (0, 0);
    // Even if this process seldom gets to look.
    while begin.elapsed() < LONG || (pauses < ENOUGH && begin.elapsed() < 10 * LONG) {
        looks += 1;
        pauses += u32::from(is_in_sleep(handler)?);
        std::thread::sleep(Duration::from_micros(300));
    }
    let after = count()?;
    let mut worker = Worker::start(lab, true)?;
    worker.progress()?;
    lab.host.fault(Fault::Clear {})?;
    let trips = worker.stop()?;
    let (messages, acknowledged) = (after.0 - before.0, after.1 - before.1);
    ensure!(acknowledged > 100, "{acknowledged} causes: the line rests");
    ensure!(
        messages > 0 && acknowledged / messages < 100,
        "{acknowledged} causes in {messages} messages: its handler does not go"
    );
    ensure!(
        pauses >= ENOUGH && pauses >= looks / 100,
        "the handler paused at {pauses} of {looks} looks"
    );
    Ok(format!(
        "{acknowledged} causes in {messages} messages, {pauses} of {looks} looks in a pause, {trips} round trips"
    ))
}

/// Finds the thread that handles the board's line.
fn line_handler() -> Result<u32> {
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let comm = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if comm.starts_with("irq/") && comm.contains("-peerl") {
            return Ok(entry.file_name().to_string_lossy().parse()?);
        }
    }
    anyhow::bail!("no thread handles the board's interrupts")
}

/// Returns whether a thread that handles an interrupt sleeps for a time, and not until the next message: that sleep is
/// interruptible (`irq_thread` and `usleep_range_state` of the kernel).
fn is_in_sleep(thread: u32) -> Result<bool> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status"))?;
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    let state = state.context("a thread without a state")?;
    Ok(state.trim_start().starts_with('D'))
}

/// Opens a board that is being started.
fn open_soon(lab: &Lab) -> Result<Mover> {
    let begin = Instant::now();
    loop {
        match Mover::fast(lab) {
            Err(error) if begin.elapsed() > SOON => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
            opened => return opened,
        }
    }
}

/// A thread of a hot-plug slot takes the board from the driver while all tasks and all work on freezable queues are
/// frozen. Checks that it does not wait for any of them: it holds the device's lock, which the kernel takes to put the
/// device to sleep before it thaws a task.
pub(super) fn taken_off_while_frozen(lab: &mut Lab) -> Result<String> {
    const SLOT: &str = "/sys/module/fakegpu/parameters/take_off";
    const FROZEN: Duration = Duration::from_secs(8);
    // Tasks are frozen by then; all later steps may take this long at most.
    const AFTER: Duration = Duration::from_secs(2);
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let waiter = fork("waiter", move || {
        let device = branch.open()?;
        device.query().map_err(told)?;
        theirs.signal()?;
        let ended = device.poll(None);
        ensure!(matches!(ended, Err(Error::Gone)), "poll gave {ended:?}");
        Ok(())
    })?;
    ours.wait()?;
    let order = format!("{} {}", super::address()?, AFTER.as_millis());
    super::poke(SLOT, &order)?;
    let frozen = super::pm_test_for(FROZEN, "freezer", "freeze");
    let begin = Instant::now();
    let took = loop {
        match std::fs::read_to_string(SLOT)?.trim().parse::<i64>()? {
            -1 => ensure!(begin.elapsed() < SOON, "it hangs"),
            took => break Duration::from_millis(took.try_into()?),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    waiter.wait()?;
    super::bind()?;
    frozen?;
    ensure!(took < FROZEN / 2, "it waited for frozen tasks: {took:?}");
    let mover = open_soon(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(format!("in {took:?}"))
}

/// A process opens the board by a node of its own, maps it, and removes node and file while unbind waits for another
/// process. Unbind then removes all mappings of the board. Checks that it does not look for them in an inode that is
/// gone. (Only a kernel that checks its memory sees such an access.)
pub fn node_that_goes(lab: &mut Lab) -> Result<&'static str> {
    // Where processors are busy the other process may have left the driver before unbind waited for it.
    for _ in 0..5 {
        if node_that_goes_in_time(lab)? {
            return Ok("");
        }
    }
    anyhow::bail!("unbind waited for no process")
}

/// Makes one attempt of [`node_that_goes`]. Returns whether unbind was waiting when node and file were removed.
fn node_that_goes_in_time(lab: &mut Lab) -> Result<bool> {
    const NODE: &str = "/dev/peerlane-node";
    const PAUSE: Duration = Duration::from_millis(300);
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let inside = fork("inside", move || {
        let device = branch.open()?;
        let buffer = Buffer::new(&device, 1 << 20)?;
        let place = branch.place(&device)?;
        let terms = peerlane_host::Terms::default();
        let region = &buffer.region;
        theirs.signal()?;
        theirs.wait()?;
        let _under_way = device
            .submit(Direction::FromFpga, region.part(0..1 << 20), place, terms)
            .map_err(told)?;
        theirs.signal()?;
        // The call waits for a second, inside of the driver.
        let _ = raw::with(&device, uapi::STOP, &mut uapi::Stop::default());
        Ok(())
    })?;
    ours.wait()?;
    // A process that is forked from now on would have the file, too.
    let number = std::fs::metadata("/dev/peerlane0")?.rdev();
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(CWD, NODE, FileType::CharacterDevice, mode, number)?;
    let file = File::options().read(true).write(true).open(NODE);
    std::fs::remove_file(NODE)?;
    let device = Device::from_file(file?.into(), NODE).map_err(told)?;
    let page = Page::new(&device)?;
    page.load(0);
    lab.host.fault(Fault::StickPort { after: 0 })?;
    ours.signal()?;
    ours.wait()?;
    std::thread::sleep(PAUSE);
    let unbinder = std::thread::spawn(super::unbind);
    std::thread::sleep(PAUSE);
    page.unmap()?;
    drop(device);
    let waited = !unbinder.is_finished();
    let unbound = unbinder.join();
    unbound.map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    inside.wait()?;
    lab.host.fault(Fault::Clear {})?;
    lab.host.fault(Fault::Configure {})?;
    super::bind()?;
    let mover = open_soon(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(waited)
}

/// Checks that opening a device does not wait for a block that is stuck.
pub(super) fn open_beside_stuck(lab: &mut Lab) -> Result<String> {
    const LONGEST: Duration = Duration::from_millis(700);
    let mut most = Duration::ZERO;
    for _ in 0..lab.rounds.min(3) {
        // An opening that waits for the block does so each time; where processors are busy, another one may now and
        // then be delayed as long.
        let mut least = Duration::MAX;
        for _ in 0..3 {
            least = least.min(longest_opening(lab)?);
            if least < LONGEST {
                break;
            }
        }
        ensure!(least < LONGEST, "opening took {least:?}");
        most = most.max(least);
    }
    Ok(format!("{most:?} at most"))
}

/// Returns the longest time that opening takes while a block gets stuck and is restarted.
fn longest_opening(lab: &mut Lab) -> Result<Duration> {
    let mut longest = Duration::ZERO;
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let child = fork("owner", move || {
        let mut mover = Mover::fast(&branch)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = branch.place(mover.device())?;
        branch.host.fault(Fault::StickPort { after: 100 })?;
        let region = &buffer.region;
        let queue = mover.queue()?;
        let _ = queue
            .submit(Direction::FromFpga, region.part(0..1 << 20), place)
            .map_err(told)?;
        theirs.signal()?;
        // The end of the process closes the channel, which does not become idle.
        std::mem::forget((mover, buffer));
        Ok(())
    })?;
    ours.wait()?;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(4) {
        let opening = Instant::now();
        let _ = Device::first();
        longest = longest.max(opening.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait()?;
    lab.host.fault(Fault::Clear {})?;
    lab.host.fault(Fault::Configure {})?;
    reset()?;
    let mover = open_soon(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(longest)
}

/// Unbinds the driver while the block does not become idle. Checks that no call reports the end of the board before its
/// bus master bit is clear.
pub fn end_is_reported_late(lab: &mut Lab) -> Result<String> {
    let query = |device: Device| {
        while device
            .query()
            .is_ok_and(|query| query.state & state::GONE == 0)
        {}
    };
    let close = |device: Device| {
        while device.poll(Some(SOON)).is_ok() {}
        drop(device);
    };
    let took = [
        reported_late(lab, query).context("QUERY")?,
        reported_late(lab, close).context("close")?,
    ];
    Ok(format!("unbound in {took:?}"))
}

fn reported_late(lab: &mut Lab, until_gone: fn(Device)) -> Result<Duration> {
    let mut mover = Mover::slow(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    let place = lab.place(mover.device())?;
    let config = configuration()?;
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let looker = fork("looker", move || {
        let device = branch.open()?;
        theirs.signal()?;
        until_gone(device);
        ensure!(!is_master(&config)?, "the board is a bus master");
        Ok(())
    })?;
    ours.wait()?;
    lab.host.fault(Fault::StickPort { after: 0 })?;
    let limit = Duration::from_millis(100);
    let ended = mover.attempt(
        Direction::FromFpga,
        &buffer.region,
        0,
        place,
        1 << 20,
        limit,
    );
    ensure!(
        ended.is_err(),
        "a write through a stuck port gave {ended:?}"
    );
    let begin = Instant::now();
    super::unbind()?;
    let took = begin.elapsed();
    looker.wait()?;
    drop((mover, buffer));
    lab.host.fault(Fault::Clear {})?;
    lab.host.fault(Fault::Configure {})?;
    super::bind()?;
    let mover = open_soon(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(took)
}
