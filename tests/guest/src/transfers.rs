//! Tests that data arrive in both directions, completely and nowhere else.

use crate::lab::{Buffer, LIMIT, Lab, Mover, huge, told};
use crate::physical::Watch;
use crate::process;
use crate::raw;
use crate::suite::{Suite, skip};
use anyhow::{Context, Result, bail, ensure};
use peerlane_host::{Device, Direction, Error, Memory, Permissions, Queue, Terms};
use rand::Rng;
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// A function that makes a [`Mover`].
type Make = fn(&Lab) -> Result<Mover>;
const WAYS: [(&str, Make); 2] = [("slow", Mover::slow), ("fast", Mover::fast)];

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    run_in(suite, lab, &KINDS);
    suite.run("transfers.large", || large(lab));
}

/// Runs the tests that need no huge pages.
pub fn run_in_small_pages(suite: &mut Suite, lab: &mut Lab) {
    let [anonymous, _, shared] = KINDS;
    run_in(suite, lab, &[anonymous, shared]);
}

fn run_in(suite: &mut Suite, lab: &mut Lab, kinds: &[(&str, Kind)]) {
    for (way, make) in WAYS {
        for &(kind, memory) in kinds {
            for direction in Direction::BOTH {
                let name = format!("transfers.{way}.{direction}.{kind}");
                suite.run(&name, || sizes(lab, make, memory, direction));
            }
        }
        suite.run(&format!("transfers.{way}.offsets"), || offsets(lab, make));
    }
    suite.run("transfers.nothing_else_touched", || nothing_else(lab));
    suite.run("transfers.both_at_once", || both_at_once(lab));
    suite.run("transfers.two_processes", || two_processes(lab));
    suite.run("transfers.every_interrupt", || every_interrupt(lab));
    suite.run("transfers.many_queued", || many_queued(lab));
    suite.run("transfers.chained", || chained(lab));
    suite.run("transfers.chained_with_ends", || chained_with_ends(lab));
    suite.run("transfers.small_pieces", || small_pieces(lab));
    suite.run("transfers.eventfd", || eventfd(lab));
    suite.run("transfers.epoll", || epoll(lab));
    suite.run("transfers.stop", || stop(lab));
    suite.run("transfers.stopped_by_others", || stopped_by_others(lab));
    suite.run("transfers.queue_made_while_stopped", || {
        queue_made_while_stopped(lab)
    });
    suite.run("transfers.queue_too_late", || queue_too_late(lab));
    suite.run("transfers.probe", || probe(lab));
}

type Kind = fn(usize) -> Result<Memory>;
const KINDS: [(&str, Kind); 3] = [
    ("anonymous", |length| Ok(Memory::new(length)?)),
    ("huge", huge),
    ("shared", |length| {
        let file = rustix::fs::memfd_create("peerlane", MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, length as u64)?;
        Ok(Memory::shared(&file, length)?)
    }),
];

/// Checks lengths around the sizes of beats, requests, pages and pieces.
fn sizes(lab: &mut Lab, make: Make, memory: Kind, direction: Direction) -> Result<&'static str> {
    let mut mover = make(lab)?;
    let buffer = Buffer::of(mover.device(), memory(4 * MIB)?)?;
    let place = lab.place(mover.device())?;
    let mut lengths = vec![
        1,
        2,
        31,
        64,
        255,
        512,
        4095,
        4096,
        4097,
        65_537,
        MIB,
        MIB + 5,
    ];
    if lab.all {
        lengths.extend([3, 16, 33, 257, 8191, 3 * MIB + 1]);
    }
    for length in lengths {
        let offset = lab.rng.random_range(0..8192);
        let local = place + 4096 + lab.rng.random_range(0..8192);
        lab.check(&mut mover, direction, &buffer, offset, local, length)?;
    }
    // At the end of the memory, where there is no guard.
    let length = buffer.memory.length();
    lab.check(
        &mut mover,
        direction,
        &buffer,
        length - 333,
        place + 4096,
        333,
    )?;
    Ok("")
}

/// Checks every alignment of both ends within 8 bytes, and random ones.
fn offsets(lab: &mut Lab, make: Make) -> Result<&'static str> {
    let mut mover = make(lab)?;
    let buffer = Buffer::new(mover.device(), MIB)?;
    let place = lab.place(mover.device())?;
    for offset in 0..8 {
        for local in 0..8 {
            let direction = Direction::BOTH[(offset + local) % 2];
            let (offset, local) = (4093 + offset, place + 4093 + local as u64);
            lab.check(&mut mover, direction, &buffer, offset, local, 21)?;
        }
    }
    lab.check_some(&mut mover, &buffer, place, 40, 20_000)?;
    Ok("")
}

/// Checks that the board only accesses the registered memory, its ring, and the addresses of interrupts. Stretches
/// begin and end with whole dwords: the library lets the board write other ends to memory of its own, which is not on
/// the watch's list.
fn nothing_else(lab: &mut Lab) -> Result<String> {
    let Some(mut watch) = Watch::new(lab.host) else {
        return skip("with an IOMMU a process does not know the bus addresses");
    };
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let buffer = Buffer::new(&device, MIB)?;
    let place = lab.place(&device)?;
    buffer.memory.write(0, &vec![1; MIB])?;
    watch.memory(buffer.memory.address(), MIB as u64, "rw")?;
    watch.ring(&device)?;
    watch.start()?;
    let checked = lab.check_some_of(4, &mut mover, &buffer, place, 20, 100_000);
    let strayed = watch.end();
    checked?;
    strayed?;
    Ok(format!("{} physical ranges", watch.stretches()))
}

/// Checks a buffer that does not fit into the table in small pages.
fn large(lab: &mut Lab) -> Result<String> {
    let mut mover = Mover::fast_with_all(lab)?;
    let size = if lab.all { 256 * MIB } else { 64 * MIB };
    let length = size - 177;
    let buffer = Buffer::of(mover.device(), huge(size)?)?;
    let base = mover.device().range().start + 4099;
    for direction in Direction::BOTH {
        lab.check(&mut mover, direction, &buffer, 13, base, length)?;
    }
    Ok(format!("{} MiB each way", length / MIB + 1))
}

/// Checks a write and a read of one queue that are in progress together.
fn both_at_once(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast_with_all(lab)?;
    let device = mover.device().clone();
    let [into, from] = [
        Buffer::new(&device, 2 * MIB)?,
        Buffer::new(&device, 2 * MIB)?,
    ];
    let source = device.range().start;
    let target = source + 4 * MIB as u64;
    let [seed, other] = [lab.rng.random(), lab.rng.random()];
    let length = 2 * MIB as u64;
    lab.host.fpga_write(source, seed, length)?;
    let mut bytes = vec![0; 2 * MIB];
    peerlane_guest::pattern(other, &mut bytes);
    from.memory.write(0, &bytes)?;
    let queue = mover.queue()?;
    let write = queue.submit(Direction::FromFpga, into.region.part(0..length), source)?;
    let read = queue.submit(Direction::ToFpga, from.region.part(0..length), target)?;
    // Waits for the later one first.
    ensure!(
        read.wait(Some(LIMIT)).map_err(told)? == length,
        "the read is short"
    );
    ensure!(
        write.wait(Some(LIMIT)).map_err(told)? == length,
        "the write is short"
    );
    lab.host.fpga_check(target, other, length)?;
    let mut expected = vec![0; 2 * MIB];
    peerlane_guest::pattern(seed, &mut expected);
    into.memory.read(0, &mut bytes)?;
    crate::lab::same(&expected, &bytes, 0)?;
    Ok("")
}

/// Checks two contexts in two processes, by both paths.
fn two_processes(lab: &mut Lab) -> Result<&'static str> {
    let mut children = Vec::new();
    for (way, make) in WAYS {
        let mut lab = lab.branch();
        children.push(process::fork(way, move || {
            let mut mover = make(&lab)?;
            let buffer = Buffer::new(mover.device(), MIB)?;
            let place = lab.place(mover.device())?;
            lab.check_some(&mut mover, &buffer, place, 60, 60_000)
        })?);
    }
    children.into_iter().try_for_each(process::Child::wait)?;
    Ok("")
}

/// Two processes sleep until each of many small transfers has ended, so that interrupts come in every phase of the
/// handling of others. Checks that none is lost.
fn every_interrupt(lab: &mut Lab) -> Result<&'static str> {
    /// A message that is lost never comes, so this need not be long.
    const PATIENCE: Duration = Duration::from_secs(30);
    let transfers = if lab.all { 5000 } else { 300 };
    let mut sleeper = |name| {
        let mut lab = lab.branch();
        process::fork(name, move || {
            let device = lab.open()?;
            let buffer = Buffer::new(&device, 4096)?;
            let place = lab.place(&device)?;
            for transfer in 0..transfers {
                let length = lab.rng.random_range(1..64);
                let terms = Terms::default();
                let moved = device
                    .submit(
                        Direction::FromFpga,
                        buffer.region.part(0..length),
                        place,
                        terms,
                    )
                    .and_then(|submitted| submitted.wait(Some(PATIENCE)))
                    .map_err(told)
                    .with_context(|| format!("transfer {transfer}"))?;
                ensure!(moved == length, "transfer {transfer} is short");
            }
            Ok(())
        })
    };
    let children = [sleeper("one sleeper")?, sleeper("other sleeper")?];
    children.into_iter().try_for_each(process::Child::wait)?;
    Ok("")
}

/// Checks more small transfers than the queue has slots, waited for at the end.
fn many_queued(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let depth = device.capabilities().queue_depth() as usize;
    let (count, each) = (3 * depth, 100);
    let buffer = Buffer::new(&device, count * each)?;
    let place = lab.place(&device)?;
    let seed = lab.rng.random();
    lab.host.fpga_write(place, seed, (count * each) as u64)?;
    let queue = mover.queue()?;
    let ids = (0..count)
        .map(|index| {
            let at = (index * each) as u64;
            queue.submit(
                Direction::FromFpga,
                buffer.region.part(at..at + each as u64),
                place + at,
            )
        })
        .collect::<peerlane_host::Result<Vec<_>>>()?;
    for id in ids.into_iter().rev() {
        ensure!(
            id.wait(Some(LIMIT)).map_err(told)? == each as u64,
            "a write is short"
        );
    }
    let [mut expected, mut found] = [vec![0; count * each], vec![0; count * each]];
    peerlane_guest::pattern(seed, &mut expected);
    buffer.memory.read(0, &mut found)?;
    crate::lab::same(&expected, &found, 0)?;
    Ok("")
}

/// Checks a read that starts after a write, and a write that starts after that read: the data go round.
fn chained(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device, 2 * MIB)?;
    let place = lab.place(&device)?;
    let seed = lab.rng.random();
    let length = MIB as u64;
    lab.host.fpga_write(place, seed, length)?;
    let after_write = Terms {
        after_from_fpga: true,
        ..Terms::default()
    };
    let after_read = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let region = &buffer.region;
    let there = place + 2 * length;
    let steps = [
        device.submit(
            Direction::FromFpga,
            region.part(0..length),
            place,
            Terms::default(),
        )?,
        device.submit(
            Direction::ToFpga,
            region.part(0..length),
            there,
            after_write,
        )?,
        device.submit(
            Direction::FromFpga,
            region.part(length..length + length),
            there,
            after_read,
        )?,
    ];
    for step in steps {
        ensure!(
            step.wait(Some(LIMIT)).map_err(told)? == length,
            "a step is short"
        );
    }
    let [mut expected, mut found] = [vec![0; MIB], vec![0; MIB]];
    peerlane_guest::pattern(seed, &mut expected);
    buffer.memory.read(MIB, &mut found)?;
    crate::lab::same(&expected, &found, MIB)?;
    Ok("")
}

/// Checks such a chain where no write begins or ends with a whole dword, and a later write covers the ends of an
/// earlier one.
fn chained_with_ends(lab: &mut Lab) -> Result<&'static str> {
    const LENGTH: usize = 50_001;
    let device = lab.open()?;
    let buffer = Buffer::new(&device, 2 * MIB)?;
    let place = lab.place(&device)?;
    let seed = lab.rng.random();
    let length = LENGTH as u64;
    lab.host.fpga_write(place, seed, length)?;
    let after_write = Terms {
        after_from_fpga: true,
        ..Terms::default()
    };
    let after_read = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let (region, there) = (&buffer.region, place + MIB as u64);
    let submit = |direction, offset: usize, local, length, terms| {
        device.submit(
            direction,
            region.part(offset as u64..offset as u64 + length),
            local,
            terms,
        )
    };
    for (first, last) in [(1, 3), (2, 0), (3, 2)] {
        let second = MIB + last;
        let steps = [
            submit(Direction::FromFpga, first, place, length, Terms::default())?,
            submit(Direction::ToFpga, first, there + 1, length, after_write)?,
            submit(Direction::FromFpga, second, there + 1, length, after_read)?,
            // It ends last, over the beginning of the write before it.
            submit(Direction::FromFpga, MIB, place, 8, Terms::default())?,
            // Less than a dword, across the end of a dword.
            submit(Direction::FromFpga, 2 * MIB - 5, place, 2, Terms::default())?,
        ];
        for (step, expected) in steps.into_iter().zip([length, length, length, 8, 2]) {
            let moved = step.wait(Some(LIMIT)).map_err(told)?;
            ensure!(moved == expected, "{moved} bytes of {expected}");
        }
        let mut pattern = vec![0; LENGTH];
        peerlane_guest::pattern(seed, &mut pattern);
        let mut expected = pattern.clone();
        let mut found = vec![0; LENGTH];
        buffer.memory.read(second, &mut found)?;
        expected[..8 - last].copy_from_slice(&pattern[last..8]);
        crate::lab::same(&expected, &found, second)?;
        buffer.memory.read(2 * MIB - 5, &mut found[..2])?;
        crate::lab::same(&pattern[..2], &found[..2], 2 * MIB - 5)?;
    }
    Ok("")
}

/// Checks a transfer of more descriptors than the queue has slots.
fn small_pieces(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let pieces = 3 * mover.device().capabilities().queue_depth() as usize;
    let buffer = Buffer::new(mover.device(), MIB)?;
    let place = lab.place(mover.device())?;
    mover.queue()?.set_piece(100);
    for direction in Direction::BOTH {
        let length = pieces * 100 + 1;
        lab.check(&mut mover, direction, &buffer, 7, place + 4096, length)?;
    }
    Ok("")
}

/// Checks that an eventfd signals the end.
fn eventfd(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let buffer = Buffer::new(&device, MIB)?;
    let place = lab.place(&device)?;
    let eventfd = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC)?;
    device.set_eventfd(Some(rustix::fd::AsFd::as_fd(&eventfd)))?;
    let queue = mover.queue()?;
    let id = queue.submit(
        Direction::FromFpga,
        buffer.region.part(0..MIB as u64),
        place,
    )?;
    let limit = rustix::event::Timespec::try_from(LIMIT)?;
    let mut files = [rustix::event::PollFd::new(
        &eventfd,
        rustix::event::PollFlags::IN,
    )];
    ensure!(
        rustix::event::poll(&mut files, Some(&limit))? == 1,
        "the eventfd says nothing"
    );
    let mut count = [0; 8];
    rustix::io::read(&eventfd, &mut count)?;
    ensure!(
        u64::from_ne_bytes(count) == 1,
        "{} events for one transfer",
        count[0]
    );
    // The record came before the event.
    let moved = id.poll().map_err(told)?;
    ensure!(moved == Some(MIB as u64), "an event before the record");
    device.set_eventfd(None)?;
    let id = queue.submit(Direction::FromFpga, buffer.region.part(0..64), place)?;
    id.wait(Some(LIMIT)).map_err(told)?;
    ensure!(
        rustix::event::poll(&mut files, Some(&rustix::event::Timespec::default()))? == 0,
        "an event after the eventfd was taken away"
    );
    Ok("")
}

/// Checks that an event that came before the file was added is not lost.
fn epoll(lab: &mut Lab) -> Result<&'static str> {
    use rustix::event::epoll;
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let buffer = Buffer::new(&device, 4096)?;
    let place = lab.place(&device)?;
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let wait = |limit: Duration| -> Result<usize> {
        let limit = rustix::event::Timespec::try_from(limit)?;
        let mut events = [epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; 2];
        Ok(epoll::wait(&set, &mut events, Some(&limit))?)
    };
    let queue = mover.queue()?;
    let id = queue.submit(Direction::FromFpga, buffer.region.part(0..64), place)?;
    let begin = std::time::Instant::now();
    while id.poll().map_err(told)?.is_none() {
        ensure!(begin.elapsed() < LIMIT, "the transfer does not end");
    }
    // The interrupt comes after the record.
    device.poll(Some(LIMIT)).map_err(told)?;
    epoll::add(
        &set,
        raw::fd(&device),
        epoll::EventData::new_u64(1),
        epoll::EventFlags::IN,
    )?;
    ensure!(wait(LIMIT)? == 1, "the event was lost");
    ensure!(wait(LIMIT)? == 1, "a look has acknowledged the event");
    device.query().map_err(told)?;
    ensure!(wait(Duration::ZERO)? == 0, "the event was not acknowledged");
    Ok("")
}

/// Checks that a stopped channel can be used again.
fn stop(lab: &mut Lab) -> Result<&'static str> {
    for (_, make) in WAYS {
        let mut mover = make(lab)?;
        let buffer = Buffer::new(mover.device(), 4 * MIB)?;
        let place = lab.place(mover.device())?;
        ensure!(
            !mover
                .device()
                .stop(Duration::from_millis(50))
                .map_err(told)?,
            "nothing was under way, and something was aborted"
        );
        lab.check_some(&mut mover, &buffer, place, 2, 4096)?;
        if let Mover::Fast(queue) = &mut mover {
            let id = queue.submit(
                Direction::FromFpga,
                buffer.region.part(0..4 * MIB as u64),
                place,
            )?;
            queue.restart().map_err(told)?;
            let stopped = id.poll();
            ensure!(
                !matches!(stopped, Ok(None)),
                "a transfer goes on after a restart"
            );
            ensure!(
                queue.under_way() == 0,
                "something is under way after a restart"
            );
        }
        lab.check_some(&mut mover, &buffer, place, 2, 4096)?;
    }
    Ok("")
}

/// Stops the channel again and again while `work` runs.
fn beside_a_stopper<T>(device: &Device, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stopper = scope.spawn(|| -> Result<()> {
            while !over.load(Ordering::Relaxed) {
                device.stop(Duration::ZERO).map_err(told)?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        let stopped = stopper.join().expect("it does not panic");
        done.and_then(|done| stopped.map(|()| done))
    })
}

/// Another thread stops the channel, so that a queue's doorbells are refused. Checks that a wait without a limit and a
/// poll both report it, and that the queue works after a restart.
fn stopped_by_others(lab: &mut Lab) -> Result<String> {
    let mut mover = Mover::fast(lab)?;
    let buffer = Buffer::new(mover.device(), MIB)?;
    let place = lab.place(mover.device())?;
    let device = mover.device().clone();
    let queue = mover.queue()?;
    let (mut refused, mut aborted) = ([0, 0], 0);
    beside_a_stopper(&device, || {
        let begin = Instant::now();
        for looks in [false, true].into_iter().cycle() {
            if refused.iter().all(|refused| *refused >= 2) {
                return Ok(());
            }
            ensure!(
                begin.elapsed() < LIMIT,
                "{refused:?} doorbells were refused"
            );
            let id = queue.submit(Direction::FromFpga, buffer.region.part(0..64), place);
            let ended = id.and_then(|id| match looks {
                false => id.wait(None),
                true => loop {
                    if let Some(bytes) = id.poll()? {
                        break Ok(bytes);
                    }
                },
            });
            match ended {
                Ok(_) => {}
                Err(Error::Fault { .. }) => aborted += 1,
                Err(Error::Broken { .. }) => {
                    refused[usize::from(looks)] += 1;
                    queue.restart().map_err(told)?;
                }
                Err(error) => return Err(told(error)),
            }
        }
        Ok(())
    })?;
    lab.check_some(&mut mover, &buffer, place, 4, 4096)?;
    Ok(format!("{refused:?} refused, {aborted} aborted"))
}

/// Checks that a queue that is made while the channel is being stopped takes as many descriptors as any other.
fn queue_made_while_stopped(lab: &mut Lab) -> Result<&'static str> {
    for round in 0..6 {
        let device = lab.open()?;
        let buffer = Buffer::new(&device, MIB)?;
        let place = lab.place(&device)?;
        let queue = beside_a_stopper(&device, || Queue::new(&device).map_err(told))?;
        for _ in 0..2 {
            let length = MIB as u64;
            let id = queue.submit(Direction::FromFpga, buffer.region.part(0..length), place);
            drop(id.map_err(told)?);
        }
        let given = queue.statistics().descriptors;
        let wanted = 2 * buffer.region.extents().iter().count() as u64;
        ensure!(
            given == wanted,
            "round {round}: the queue has room for {given} of {wanted}"
        );
    }
    Ok("")
}

/// Checks that a context that has used the slow path gets no queue, and that each attempt reports the reason.
fn queue_too_late(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::slow(lab)?;
    let buffer = Buffer::new(mover.device(), 4096)?;
    let place = lab.place(mover.device())?;
    lab.check_some(&mut mover, &buffer, place, 1, 4096)?;
    for _ in 0..2 {
        match Queue::new(mover.device()) {
            Err(
                error @ Error::Map {
                    source: Errno::BUSY,
                    ..
                },
            ) => {
                ensure!(error.hint().contains("slow path"), "{}", error.hint());
            }
            other => bail!("{other:?} in place of EBUSY"),
        }
    }
    lab.check_some(&mut mover, &buffer, place, 1, 4096)?;
    Ok("")
}

/// Checks that a probe makes the board read the content of the memory.
fn probe(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device, 8192)?;
    let place = lab.place(&device)?;
    let mut bytes = [0; 256];
    peerlane_guest::pattern(lab.rng.random(), &mut bytes);
    buffer.memory.write(4000, &bytes)?;
    let found = buffer.region.probe(4003, place + 5).map_err(told)?;
    ensure!(
        found[..] == bytes[3..3 + found.len()],
        "the probe reads something else"
    );
    // Memory that the board may not read cannot be probed.
    let memory = Memory::new(4096)?;
    let deaf = device
        .register(&memory, 0..4096, Permissions::Write)
        .map_err(told)?;
    ensure!(
        deaf.probe(0, place).is_err(),
        "memory that the board may not read was read"
    );
    Ok("")
}
