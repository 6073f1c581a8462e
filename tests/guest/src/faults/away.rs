//! The board is away for a while, or seems to be: nobody touches it, everybody is told what is
//! true, and it comes back.

use super::{aer, come_back, reset, suspend};
use crate::lab::{Buffer, Lab, Mover, interrupts, told};
use crate::process::{fork, pair};
use crate::raw;
use crate::suite::skip;
use crate::worker::{Count, Worker};
use anyhow::{Context, Result, ensure};
use peerlane_core::regs::chan;
use peerlane_core::uapi::{self, Register, access, map, provider, state};
use peerlane_device::{Device, Direction, Error, Memory};
use peerlane_guest::Fault;
use rand::Rng;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Long enough for whatever the kernel and the driver do.
const SOON: Duration = Duration::from_secs(20);

/// A channel's page, mapped.
struct Page(*mut u32);

impl Page {
    const DWORDS: usize = chan::SIZE / 4;

    fn new(device: &Device) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let none = std::ptr::null_mut();
        let (bytes, shared) = (chan::SIZE, MapFlags::SHARED);
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { rustix::mm::mmap(none, bytes, protection, shared, device, map::PAGE) }?;
        Ok(Self(base.cast()))
    }

    fn store(&self, dword: usize, value: u32) {
        // SAFETY: a dword of the mapping, which stays as long as the process.
        unsafe { self.0.add(dword % Self::DWORDS).write_volatile(value) };
    }

    fn load(&self, dword: usize) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.add(dword % Self::DWORDS).read_volatile() }
    }
}

/// A process that stores to its channel's page, and loads from it, without pause. That nothing of
/// it reaches a function that takes no access, the harness sees.
pub(super) fn stores(lab: &mut Lab, event: Event) -> Result<String> {
    let count = Count::new()?;
    let shared = &count;
    let (ours, theirs) = pair()?;
    let mut branch = lab.branch();
    let mut child = fork("storer", move || {
        let device = branch.open()?;
        let page = Page::new(&device)?;
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
    // The kernel mends a link when the error has been told.
    let mover = open_soon(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    come_back(lab, mover, buffer)?;
    Ok(format!("{} stores", count.get().load(Ordering::Relaxed)))
}

/// Takes the board away, and brings it back.
type Event = fn() -> Result<()>;

/// What each event is called, for [`stores`].
pub(super) const EVENTS: &[(&str, Event)] = &[
    ("reset", reset),
    ("suspended", suspend),
    ("asleep", super::sleep),
    ("fatal_error", || aer::report(aer::MALFORMED_TLP)),
];

/// While the board is away calls say `EAGAIN`, and none says that it is gone.
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
            let mut register = Register {
                provider: provider::HOST,
                access: access::READ | access::WRITE,
                address: memory.address(),
                length: 4096,
                fd: -1,
                ..Default::default()
            };
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
    for event in [reset, suspend] {
        for _ in 0..lab.rounds {
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

/// A board that has not answered counts as gone; a reset of the function brings it back, for those
/// who had it, too.
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
    lab.host.fault(Fault::Clear {})?;
    reset()?;
    until("stays gone", 0)?;
    let query = device.query().map_err(told)?;
    ensure!(query.generation != generation, "nobody was told");
    let other = Mover::fast(lab)?;
    let second = Buffer::new(other.device(), 1 << 20)?;
    come_back(lab, other, second)?;
    // The region from before is there again.
    come_back(lab, mover, buffer)?;
    Ok("")
}

/// Doorbells that are refused, without pause: the handler of the line goes and comes again, and
/// others are told of what has ended.
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
        // After a restart it has to ask for its generation first.
        theirs.wait()?;
        loop {
            page.store(chan::WRITE_DOORBELL / 4, 0);
        }
    })?;
    ours.wait()?;
    reset()?;
    ours.signal()?;
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
    // One that never leaves is one.
    ensure!(during > 10, "{during} interrupts: its handler does not go");
    super::unbind()?;
    super::bind()?;
    let trips = worker.stop()?;
    child.kill()?;
    Ok(format!("{during} interrupts, {trips} round trips"))
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

/// Opening a device does not wait for a block that is stuck.
pub(super) fn open_beside_stuck(lab: &mut Lab) -> Result<String> {
    const LONGEST: Duration = Duration::from_millis(700);
    let mut longest = Duration::ZERO;
    for _ in 0..lab.rounds.min(3) {
        let (ours, theirs) = pair()?;
        let branch = lab.branch();
        let child = fork("owner", move || {
            let mut mover = Mover::fast(&branch)?;
            let buffer = Buffer::new(mover.device(), 1 << 20)?;
            let place = branch.place(mover.device())?;
            branch.host.fault(Fault::StickPort { after: 100 })?;
            let region = &buffer.region;
            let queue = mover.queue()?;
            queue
                .submit(Direction::Write, region, 0, place, 1 << 20)
                .map_err(told)?;
            theirs.signal()?;
            // Its end closes the channel, which does not come to rest.
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
        ensure!(longest < LONGEST, "opening took {longest:?}");
        let mover = open_soon(lab)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        come_back(lab, mover, buffer)?;
    }
    Ok(format!("{longest:?} at most"))
}
