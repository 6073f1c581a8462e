//! Tests of calls that race with each other, and of calls whose answer is not delivered.

use crate::faults::reset;
use crate::lab::{Buffer, Lab, told};
use crate::process::{fork, pair};
use crate::raw;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::channel::Moderation;
use peerlane_core::fault::Fault as End;
use peerlane_core::regs::chan;
use peerlane_core::uapi::{self, Query, map};
use peerlane_host::{Device, Direction, Error, Memory, Terms};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use rustix::process::Signal;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longer than any of these operations takes if it ends at all.
const LIMIT: Duration = Duration::from_secs(20);

/// Waits for a descriptor, which may end well or with a fault. Returns whether it ended well.
fn ends(submitted: peerlane_host::Result<peerlane_host::Submitted>) -> Result<bool> {
    let submitted = submitted.map_err(told)?;
    match submitted.wait(Some(LIMIT)) {
        Ok(_) => Ok(true),
        Err(Error::Fault { .. }) => Ok(false),
        Err(error) => Err(told(error)).context("a descriptor that was accepted does not end"),
    }
}

/// Checks that a descriptor that one thread submits while another thread stops the channel is accepted and ends, or is
/// refused.
pub(super) fn stop_and_submit(lab: &mut Lab) -> Result<String> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device, 1 << 16)?;
    let place = lab.place(&device)?;
    let done = AtomicBool::new(false);
    let mut counts = [0; 2];
    let stops = std::thread::scope(|scope| {
        let stopper = scope.spawn(|| -> Result<u32> {
            let mut stops = 0;
            while !done.load(Ordering::Relaxed) {
                let drain = Duration::from_micros(u64::from(stops % 4) * 500);
                device.stop(drain).map_err(told)?;
                stops += 1;
            }
            Ok(stops)
        });
        let submitted = (0..40 * lab.rounds).try_for_each(|round| {
            let direction = Direction::BOTH[round as usize % 2];
            let length = 64 << (round % 8);
            let terms = Terms::default();
            let region = &buffer.region;
            let well = ends(device.submit(direction, region.part(0..length), place, terms))
                .with_context(|| format!("round {round}"))?;
            counts[usize::from(well)] += 1;
            anyhow::Ok(())
        });
        done.store(true, Ordering::Relaxed);
        let stops = match stopper.join() {
            Ok(stops) => stops?,
            Err(_) => bail!("the stopping thread panicked"),
        };
        submitted?;
        Ok(stops)
    })?;
    ensure!(stops > 10, "stopped {stops} times only");
    let [aborted, well] = counts;
    Ok(format!("{stops} stops, {well} well, {aborted} aborted"))
}

/// Checks that a wait for a descriptor that is aborted ends with the stop, also where the channel's interrupts are held
/// back for ever.
pub(super) fn stop_wakes(lab: &mut Lab) -> Result<&'static str> {
    const BYTES: usize = 16 << 20;
    let device = lab.open()?;
    let buffer = Buffer::new(&device, BYTES)?;
    let place = lab.place_of_all(&device)?;
    let rare = Moderation { count: 255, age: 0 };
    device.moderate(rare).map_err(told)?;
    let submit = || {
        let terms = Terms::default();
        let region = &buffer.region;
        device
            .submit(
                Direction::FromFpga,
                region.part(0..BYTES as u64),
                place,
                terms,
            )
            .map_err(told)
    };
    // The second of two large transfers has not begun.
    let submitted = [submit()?, submit()?];
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let begin = Instant::now();
            (submitted[1].wait(Some(LIMIT)), begin.elapsed())
        });
        // Until the waiter sleeps.
        std::thread::sleep(Duration::from_millis(300));
        let aborted = device.stop(Duration::ZERO).map_err(told)?;
        ensure!(aborted, "nothing was under way any more");
        let Ok((ended, took)) = waiter.join() else {
            bail!("the waiting thread panicked");
        };
        ensure!(
            matches!(
                ended,
                Err(Error::Fault {
                    fault: End::Aborted,
                    ..
                })
            ),
            "the wait gave {ended:?}"
        );
        ensure!(took < LIMIT / 2, "it took {took:?}");
        Ok("")
    })
}

/// Checks that completed descriptors are seen where the channel's interrupts are held back for ever: by a wait at its
/// deadline, and by a probe at once.
pub(super) fn held_back(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device, 1 << 16)?;
    let place = lab.place(&device)?;
    let rare = Moderation { count: 255, age: 0 };
    device.moderate(rare).map_err(told)?;
    let submit = || {
        device
            .submit(
                Direction::FromFpga,
                buffer.region.part(0..64),
                place,
                Terms::default(),
            )
            .map_err(told)
    };
    let limit = Duration::from_millis(500);
    // A busy machine may take longer for a transfer. Each attempt is another transfer, which has not ended when the
    // wait begins: a wait that only looks at its begin never sees one end.
    let is_seen = |before: Duration, limit: Duration| -> Result<()> {
        let begin = Instant::now();
        loop {
            let submitted = submit()?;
            std::thread::sleep(before);
            match submitted.wait(Some(limit)) {
                Err(Error::Timeout { .. }) if begin.elapsed() < LIMIT => {}
                ended => {
                    ensure!(ended.map_err(told)? == 64);
                    return Ok(());
                }
            }
        }
    };
    is_seen(Duration::ZERO, limit)?;
    // The transfer has ended by then: one look is enough.
    is_seen(limit, Duration::ZERO)?;
    let mut took = Duration::MAX;
    for _ in 0..3 {
        let begin = Instant::now();
        buffer
            .region
            .probe(0, place)
            .map_err(told)
            .context("probe")?;
        took = took.min(begin.elapsed());
    }
    // A probe waits for two transfers. If it did not see their ends, it would wait for each as long as the driver's
    // timeout.
    ensure!(took < Duration::from_secs(1), "a probe took {took:?}");
    Ok("")
}

/// Checks that a deadline is a time of the clock that its process sees, in any time namespace.
pub(super) fn time_namespace(lab: &mut Lab) -> Result<&'static str> {
    let mut branch = lab.branch();
    fork("outside", move || {
        // SAFETY: it affects only the child's own namespace; its files and mappings stay.
        let result = unsafe { libc::unshare(libc::CLONE_NEWTIME) };
        ensure!(
            result == 0,
            "a time namespace: {}",
            std::io::Error::last_os_error()
        );
        // Twelve days ahead.
        std::fs::write("/proc/self/timens_offsets", "monotonic 1000000 0\n")?;
        fork("inside", move || late_inside(&mut branch))?.wait()
    })?
    .wait()?;
    let mut branch = lab.branch();
    fork("outside", move || {
        // SAFETY: as above.
        let result = unsafe { libc::unshare(libc::CLONE_NEWTIME) };
        ensure!(result == 0, "{}", std::io::Error::last_os_error());
        let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let behind = format!("monotonic -{} 0\n", uptime.tv_sec / 2);
        std::fs::write("/proc/self/timens_offsets", behind)?;
        fork("inside", move || endless_inside(&mut branch))?.wait()
    })?
    .wait()?;
    Ok("")
}

/// Checks that a wait without a limit has no limit either in a time namespace whose clock is late.
fn endless_inside(lab: &mut Lab) -> Result<()> {
    const BYTES: usize = 16 << 20;
    let device = lab.open()?;
    let buffer = Buffer::new(&device, BYTES)?;
    let place = lab.place_of_all(&device)?;
    let part = buffer.region.part(0..BYTES as u64);
    let submitted = device.submit(Direction::FromFpga, part, place, Terms::default());
    submitted.map_err(told)?.wait(None).map_err(told)?;
    Ok(())
}

fn late_inside(lab: &mut Lab) -> Result<()> {
    const BYTES: usize = 16 << 20;
    let device = lab.open()?;
    let buffer = Buffer::new(&device, BYTES)?;
    let place = lab.place_of_all(&device)?;
    let uptime = Duration::try_from(rustix::time::clock_gettime(
        rustix::time::ClockId::Monotonic,
    ))?;
    ensure!(uptime > Duration::from_secs(1_000_000), "uptime {uptime:?}");
    let submit = || {
        let terms = Terms::default();
        let region = &buffer.region;
        device
            .submit(
                Direction::FromFpga,
                region.part(0..BYTES as u64),
                place,
                terms,
            )
            .map_err(told)
    };
    let [_first, second] = [submit()?, submit()?];
    let limit = Duration::from_millis(50);
    let begin = Instant::now();
    let ended = second.wait(Some(limit));
    ensure!(
        matches!(ended, Err(Error::Timeout { .. })),
        "a wait of {limit:?} gave {ended:?} after {:?}",
        begin.elapsed()
    );
    device.stop(Duration::ZERO).map_err(told)?;
    Ok(())
}

/// A mapping of the channel's page.
struct Page(*mut u32);

impl Page {
    fn new(device: &Device) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                chan::SIZE,
                protection,
                MapFlags::SHARED,
                raw::fd(device),
                map::PAGE,
            )?
        };
        Ok(Self(base.cast()))
    }

    /// Rings a doorbell for the current content of the slot. Returns whether it was refused.
    fn is_refused(&self) -> bool {
        let refused = self.0.wrapping_add(chan::REFUSED / 4);
        let doorbell = self.0.wrapping_add(chan::WRITE_DOORBELL / 4);
        // SAFETY: registers of the page, which stays mapped as long as `self` exists.
        unsafe {
            refused.write_volatile(u32::MAX);
            doorbell.write_volatile(0);
            refused.read_volatile() != 0
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        let _ = unsafe { rustix::mm::munmap(self.0.cast(), chan::SIZE) };
    }
}

/// Makes a query whose answer cannot be written.
fn query_in_vain(device: &Device) -> Result<()> {
    let memory = Memory::new(4096)?;
    let start = memory.address() as *mut c_void;
    // SAFETY: there are no references to it.
    unsafe { rustix::mm::mprotect(start, 4096, MprotectFlags::READ)? };
    // SAFETY: it is not writable.
    let result = unsafe {
        raw::at(
            raw::fd(device),
            uapi::QUERY.code(),
            memory.address() as usize,
        )
    };
    ensure!(
        result == Err(Errno::FAULT),
        "a question with nowhere to answer gave {result:?}"
    );
    Ok(())
}

/// Makes a query whose structure is too short to contain the generation.
fn query_a_little(device: &Device) -> Result<()> {
    let mut bytes = raw::bytes(&Query::default());
    let length = std::mem::offset_of!(Query, generation);
    raw::call(device, uapi::QUERY, &mut bytes[..length])?;
    Ok(())
}

/// Makes a query that acknowledges nothing. Returns its events and generation.
fn peek(device: &Device) -> Result<(u64, u32)> {
    let mut bytes = raw::bytes(&Query {
        flags: uapi::query::PEEK,
        ..Query::default()
    });
    raw::call(device, uapi::QUERY, &mut bytes)?;
    let at = std::mem::offset_of!(Query, generation);
    let (events, rest) = bytes.split_at(at);
    let events = u64::from_ne_bytes(events.try_into()?);
    let generation = u32::from_ne_bytes(rest[..4].try_into()?);
    Ok((events, generation))
}

/// Checks that the channel accepts no doorbell from a process that has mapped the page, or after a reset, until the
/// process has got the channel's generation.
pub(super) fn told_before_doorbells(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    // The generation that it gets before it maps the page may be from before a reset.
    let early = device.query().map_err(told)?.generation;
    reset()?;
    let page = Page::new(&device)?;
    ensure!(page.is_refused(), "a doorbell is accepted from the start");
    device.stop(Duration::ZERO).map_err(told)?;
    ensure!(page.is_refused(), "a doorbell is accepted after a stop");
    let before = device.query().map_err(told)?.generation;
    ensure!(
        before == early.wrapping_add(1),
        "generation {before} after {early}"
    );
    ensure!(!page.is_refused(), "a doorbell is refused after QUERY");
    // The second mapping is of the same channel's page.
    drop(page);
    let page = Page::new(&device)?;
    ensure!(!page.is_refused(), "a second mapping is a new start");
    for round in 0..lab.rounds {
        let refused = |after: &str| {
            ensure!(
                page.is_refused(),
                "round {round}: a doorbell is accepted after {after}"
            );
            Ok(())
        };
        reset()?;
        refused("a reset")?;
        device.stop(Duration::ZERO).map_err(told)?;
        refused("a reset and a stop")?;
        query_in_vain(&device)?;
        refused("a reset and an answer that was not written")?;
        query_a_little(&device)?;
        refused("a reset and an answer without the generation")?;
        let (_, seen) = peek(&device)?;
        ensure!(
            seen == before.wrapping_add(round + 1),
            "round {round}: a look saw generation {seen}"
        );
        refused("a reset and a look")?;
        let generation = device.query().map_err(told)?.generation;
        ensure!(
            generation == before.wrapping_add(round + 1),
            "round {round}: generation {generation} after {before}"
        );
        ensure!(!page.is_refused(), "round {round}: a doorbell is refused");
    }
    Ok("")
}

/// Checks that an event that was not reported is still pending.
pub(super) fn untold_events(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device, 4096)?;
    // No part of it is filled with zeros: those transfers would make events, too, which may come late.
    let place = lab.place_of_all(&device)?;
    let region = &buffer.region;
    ends(device.submit(
        Direction::FromFpga,
        region.part(0..64),
        place,
        Terms::default(),
    ))?;
    // The interrupt comes after the record.
    let comes = device.poll(Some(LIMIT)).map_err(told)?;
    let is_news = || device.poll(Some(Duration::ZERO)).map_err(told);
    ensure!(comes, "a transfer has ended, and there is no event");
    query_in_vain(&device)?;
    ensure!(is_news()?, "an answer that was not written counts as read");
    let (events, _) = peek(&device)?;
    ensure!(events > 0 && is_news()?, "a look acknowledges an event");
    device.query().map_err(told)?;
    ensure!(!is_news()?, "a reported event is still news");
    Ok("")
}

/// Checks that a wait that a signal interrupts continues as the same wait, with the same deadline.
pub(super) fn wait_is_restarted(lab: &mut Lab) -> Result<&'static str> {
    const WAIT: Duration = Duration::from_secs(9);
    const BYTES: usize = 16 << 20;
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let child = fork("waiter", move || {
        let device = branch.open()?;
        let buffer = Buffer::new(&device, BYTES)?;
        let place = branch.place_of_all(&device)?;
        let submit = || {
            let region = &buffer.region;
            let terms = Terms::default();
            device
                .submit(
                    Direction::FromFpga,
                    region.part(0..BYTES as u64),
                    place,
                    terms,
                )
                .map_err(told)
        };
        // Enough transfers to outlast the wait on the simulated board.
        let mut last = submit()?;
        for _ in 0..32 {
            last = submit()?;
        }
        let begin = Instant::now();
        theirs.signal()?;
        let mut wait = uapi::Wait {
            direction: Direction::FromFpga.raw(),
            cookie: last.cookie(),
            deadline_ns: peerlane_host::deadline(Some(WAIT)),
            ..Default::default()
        };
        let result = raw::with(&device, uapi::WAIT, &mut wait);
        let took = begin.elapsed();
        ensure!(result == Err(Errno::TIME), "the wait gave {result:?}");
        // A wait that begins again when the process continues for the last time would end later than this.
        let latest = WAIT + WAIT / 2;
        ensure!(took >= WAIT && took < latest, "it took {took:?}");
        device.stop(Duration::ZERO).map_err(told)?;
        Ok(())
    })?;
    ours.wait()?;
    for _ in 0..4 {
        std::thread::sleep(WAIT / 12);
        child.signal(Signal::STOP)?;
        std::thread::sleep(WAIT / 12);
        child.signal(Signal::CONT)?;
    }
    child.wait()?;
    Ok("stopped and continued 4 times")
}

/// Sends signals while a write with ends waits for an earlier write. Checks that the kernel makes the call again, and
/// that the call posts nothing twice.
pub(super) fn ends_are_submitted_once(lab: &mut Lab) -> Result<String> {
    const BYTES: usize = 16 << 20;
    const SIGNALS: u32 = 8;
    const PAUSE: Duration = Duration::from_millis(10);
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let child = fork("submitter", move || {
        let device = branch.open()?;
        let buffer = Buffer::new(&device, BYTES)?;
        let place = branch.place_of_all(&device)?;
        // The end of the earlier write causes no interrupt.
        let rare = Moderation { count: 255, age: 0 };
        device.moderate(rare).map_err(told)?;
        let submit = |offset, length| {
            let (region, terms) = (&buffer.region, Terms::default());
            device
                .submit(
                    Direction::FromFpga,
                    region.part(offset..offset + length),
                    place,
                    terms,
                )
                .map_err(told)
        };
        let whole = submit(0, BYTES as u64)?;
        theirs.signal()?;
        let begin = Instant::now();
        let ragged = submit(1, 5001)?;
        let took = begin.elapsed();
        ensure!(took > 2 * SIGNALS * PAUSE, "it waited for {took:?} only");
        let posted = ragged.cookie().wrapping_sub(whole.cookie());
        ensure!(
            posted == 3,
            "{posted} descriptors for two ends and the rest"
        );
        // The wait looks for the last time when its time is over.
        ragged.wait(Some(Duration::from_secs(2))).map_err(told)?;
        Ok(())
    })?;
    ours.wait()?;
    for _ in 0..SIGNALS {
        child.signal(Signal::STOP)?;
        std::thread::sleep(PAUSE);
        child.signal(Signal::CONT)?;
        std::thread::sleep(PAUSE);
    }
    child.wait()?;
    Ok(format!("{SIGNALS} signals"))
}
