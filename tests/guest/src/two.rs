//! Tests of two boards in one machine: each has its own node, memory, table and watchdog, and an event of one board
//! does not affect the other.

use crate::fakegpu::Gpu;
use crate::faults::{DRIVER, poke};
use crate::host::Board;
use crate::lab::{Buffer, LIMIT, Lab, Mover, same, told};
use crate::lifetimes::{become_limited, refused};
use crate::physical::Watch;
use crate::process::fork;
use crate::suite::{Suite, skip};
use crate::worker::Worker;
use anyhow::{Context, Result, ensure};
use peerlane_guest::{Fault, pattern};
use peerlane_host::driver::BackendError;
use peerlane_host::{Device, Direction, Error, Memory, Permissions, Region, vfio};
use rand::Rng;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// Runs the tests of this module. The last one leaves one board.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("two.of_one_process", || {
        devices()?;
        of_one_process(lab)
    });
    suite.run("two.nothing_else_touched", || nothing_else(lab));
    suite.run("two.at_once", || at_once(lab));
    for (name, event) in EVENTS {
        suite.run(&format!("two.one_{name}"), || one_away(lab, *event));
    }
    suite.run("two.dmabuf_without_a_name", || without_a_name(lab));
    suite.run("two.locked_memory", || locked(lab));
    suite.run("two.one_killed", || one_killed(lab));
}

/// Runs those tests that boards at `vfio-pci` have, too.
pub fn run_by_vfio(suite: &mut Suite, lab: &mut Lab) {
    suite.run("two.of_one_process", || of_one_process(lab));
    suite.run("two.of_a_process_each", || of_a_process_each(lab));
}

/// Checks that a board at `vfio-pci` that a process has is passed over, and that boards of two processes do not affect
/// each other.
fn of_a_process_each(lab: &mut Lab) -> Result<String> {
    let names: Vec<_> = Device::names().collect();
    ensure!(names.len() == 2, "boards: {names:?}");
    let mut labs = both(lab);
    let mut first = Worker::start(&mut labs[0], false)?;
    first.progress()?;
    let found = Device::first().map_err(told)?;
    ensure!(found.name() == names[1], "{} is not free", found.name());
    drop(found);
    let mut second = Worker::start(&mut labs[1], false)?;
    second.progress()?;
    let none = Device::first();
    ensure!(
        matches!(
            &none,
            Err(Error::Backend(BackendError::Vfio(
                vfio::Error::InUse { board, .. }
            ))) if *board == names[1]
        ),
        "{none:?}"
    );
    let trips = first.stop()?;
    second.progress()?;
    let found = Device::first().map_err(told)?;
    ensure!(found.name() == names[0], "{} is not free", found.name());
    Ok(format!("{} round trips", trips + second.stop()?))
}

/// Makes a lab for each board.
fn both(lab: &mut Lab) -> [Lab; 2] {
    [Board::First, Board::Second].map(|board| lab.branch_with(board))
}

/// Returns the PCI devices of both boards, in the order of the numbers of their nodes.
fn devices() -> Result<[PathBuf; 2]> {
    let device = |node: &str| -> Result<PathBuf> {
        let link = Path::new("/sys/class/misc").join(node).join("device");
        link.canonicalize()
            .with_context(|| link.display().to_string())
    };
    let both = [device("peerlane0")?, device("peerlane1")?];
    ensure!(both[0] != both[1], "two nodes of {}", both[0].display());
    Ok(both)
}

fn register(device: &Device, memory: &Memory) -> peerlane_host::Result<Region> {
    device.register(memory, 0..memory.length(), Permissions::ReadWrite)
}

/// A process has both boards, and the same memory is registered with both. Checks that data go where they belong, one
/// board after the other and both together.
fn of_one_process(lab: &mut Lab) -> Result<&'static str> {
    let mut labs = both(lab);
    let memory = Memory::new(2 * MIB)?;
    let mut movers = [Mover::fast(&labs[0])?, Mover::fast(&labs[1])?];
    let buffer = |mover: &Mover| -> Result<Buffer> {
        let region = register(mover.device(), &memory).map_err(told)?;
        let memory = memory.clone();
        Ok(Buffer { memory, region })
    };
    let buffers = [buffer(&movers[0])?, buffer(&movers[1])?];
    let places = [
        labs[0].place(movers[0].device())?,
        labs[1].place(movers[1].device())?,
    ];
    for _ in 0..5 {
        for board in 0..2 {
            labs[board].check_some(
                &mut movers[board],
                &buffers[board],
                places[board],
                2,
                60_000,
            )?;
        }
    }
    // A region of one board does not exist on the other.
    let strange = buffers[1].region.part(0..4096);
    let taken = movers[0]
        .queue()?
        .submit(Direction::FromFpga, strange, places[0]);
    ensure!(
        taken.is_err(),
        "a board took a region of the other: {taken:?}"
    );
    let seeds = [lab.rng.random(), lab.rng.random()];
    let half = MIB as u64;
    let mut moves = Vec::new();
    for board in 0..2 {
        labs[board]
            .host
            .fpga_write(places[board], seeds[board], half)?;
        let start = board as u64 * half;
        let part = buffers[board].region.part(start..start + half);
        let queue = movers[board].queue()?;
        moves.push(queue.submit(Direction::FromFpga, part, places[board])?);
    }
    for moved in moves.into_iter().rev() {
        ensure!(
            moved.wait(Some(LIMIT)).map_err(told)? == half,
            "a write is short"
        );
    }
    for (board, seed) in seeds.into_iter().enumerate() {
        let [mut expected, mut found] = [vec![0; MIB], vec![0; MIB]];
        pattern(seed, &mut expected);
        memory.read(board * MIB, &mut found)?;
        same(&expected, &found, board * MIB).with_context(|| format!("board {board}"))?;
    }
    Ok("")
}

/// Checks that neither board accesses memory that only the other has, while both move data.
fn nothing_else(lab: &mut Lab) -> Result<&'static str> {
    let mut labs = both(lab);
    let mut users = Vec::new();
    for lab in &labs {
        let Some(mut watch) = Watch::new(lab.host) else {
            return skip("with an IOMMU a process does not know the bus addresses");
        };
        let mover = Mover::fast(lab)?;
        let device = mover.device().clone();
        let buffer = Buffer::new(&device, MIB)?;
        let place = lab.place(&device)?;
        buffer.memory.write(0, &vec![1; MIB])?;
        watch.memory(buffer.memory.address(), MIB as u64, "rw")?;
        watch.ring(&device)?;
        watch.start()?;
        users.push((mover, buffer, place, watch));
    }
    // Ends of a dword go into memory of the library's, which is not on the watch's list.
    for _ in 0..10 {
        for (lab, (mover, buffer, place, _)) in labs.iter_mut().zip(&mut users) {
            lab.check_some_of(4, mover, buffer, *place, 2, 100_000)?;
        }
    }
    users.iter().try_for_each(|(.., watch)| watch.end())?;
    Ok("")
}

/// Starts a process for each path on each board.
fn workers(labs: &mut [Lab; 2]) -> Result<[[Worker; 2]; 2]> {
    let [first, second] = labs;
    let of = |lab: &mut Lab| -> Result<[Worker; 2]> {
        Ok([Worker::start(lab, false)?, Worker::start(lab, true)?])
    };
    let mut all = [of(first)?, of(second)?];
    for worker in all.as_flattened_mut() {
        worker.progress().context("before anything happens")?;
    }
    Ok(all)
}

fn stop(workers: [[Worker; 2]; 2]) -> Result<u64> {
    let mut trips = 0;
    for worker in workers.into_iter().flatten() {
        trips += worker.stop()?;
    }
    Ok(trips)
}

fn at_once(lab: &mut Lab) -> Result<String> {
    let mut all = workers(&mut both(lab))?;
    for _ in 0..lab.rounds {
        for worker in all.as_flattened_mut() {
            worker.progress()?;
        }
    }
    Ok(format!("{} round trips", stop(all)?))
}

/// Takes a board, or its function, away and brings it back; calls `while_away` in between.
type Event = fn(&Path, &mut dyn FnMut() -> Result<()>) -> Result<()>;

/// Events that happen to one board.
const EVENTS: &[(&str, Event)] = &[
    ("reset", |device, while_away| {
        poke(device.join("reset"), "1")?;
        while_away()
    }),
    ("unbound", |device, while_away| {
        let name = device.file_name().context("a device without a name")?;
        let name = name.to_string_lossy();
        poke(format!("{DRIVER}/unbind"), &name)?;
        while_away()?;
        poke(format!("{DRIVER}/bind"), &name)
    }),
    ("taken_out", |device, while_away| {
        poke(device.join("remove"), "1")?;
        while_away()?;
        poke("/sys/bus/pci/rescan", "1")
    }),
];

/// Makes an event happen to one board, to each in turn. Checks that the contexts of the other board see no change, and
/// that its data still move during the event.
fn one_away(lab: &mut Lab, event: Event) -> Result<String> {
    let mut labs = both(lab);
    let mut all = workers(&mut labs)?;
    let mut longest = Duration::ZERO;
    for round in 0..2 * lab.rounds.div_ceil(2) {
        let hit = round as usize % 2;
        let other = 1 - hit;
        let device = devices()?[hit].clone();
        let witness = labs[other].open()?;
        let said = witness.query().map_err(told)?;
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..200_000)));
        let begin = Instant::now();
        event(&device, &mut || {
            for worker in &mut all[other] {
                worker.progress()?;
            }
            Ok(())
        })
        .with_context(|| format!("round {round}"))?;
        let says = witness.query().map_err(told)?;
        ensure!(
            (says.generation, says.resets, says.state)
                == (said.generation, said.resets, said.state),
            "round {round}: the other board says {says:?}, before {said:?}"
        );
        for worker in all.as_flattened_mut() {
            worker
                .progress()
                .with_context(|| format!("round {round}"))?;
        }
        longest = longest.max(begin.elapsed());
    }
    Ok(format!(
        "{} round trips, all moving again after {longest:?} at most",
        stop(all)?
    ))
}

fn cached(device: &Device) -> Result<u32> {
    Ok(device.query().map_err(told)?.regions[1])
}

/// A dma-buf is cached for both boards, and all its descriptors are closed. Checks that each board evicts it, although
/// the other one has it.
fn without_a_name(lab: &mut Lab) -> Result<&'static str> {
    let labs = both(lab);
    let devices = [labs[0].open()?, labs[1].open()?];
    let gpu = Gpu::open()?;
    let buffer = gpu.buffer(MIB, 0, 1, None)?;
    let name = buffer.dmabuf(true)?;
    for device in &devices {
        let region = device.register_dmabuf(&name, 0, MIB as u64, Permissions::Write);
        drop(region.map_err(told)?);
        ensure!(cached(device)? == 1, "{}: it is not cached", device.name());
    }
    drop(name);
    let begin = Instant::now();
    while cached(&devices[0])? + cached(&devices[1])? > 0 {
        ensure!(
            begin.elapsed() < Duration::from_secs(20),
            "it is still cached"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok("")
}

/// Checks that regions that are cached for one board count against the limit of locked memory, and are evicted for the
/// other board (`docs/operate/driver.md`), and that registered regions are not.
fn locked(lab: &mut Lab) -> Result<&'static str> {
    let labs = both(lab);
    let [first, second] = [labs[0].open()?, labs[1].open()?];
    fork("user", move || {
        become_limited()?;
        let memory = Memory::new(MIB)?;
        drop(register(&first, &memory).map_err(told)?);
        ensure!(cached(&first)? == 1, "nothing is cached");
        let region = register(&second, &memory).map_err(told)?;
        ensure!(cached(&first)? == 0, "it has not given way");
        refused("as much for the first board", register(&first, &memory))?;
        drop(region);
        ensure!(cached(&second)? == 1, "nothing is cached for the other");
        register(&first, &memory).map_err(told)?;
        ensure!(cached(&second)? == 0, "it has not given way in return");
        Ok(())
    })?
    .wait()?;
    Ok("")
}

/// One board dies for good while both move data. Checks that it can be unbound, and that the other has not noticed.
fn one_killed(lab: &mut Lab) -> Result<String> {
    if Watch::new(lab.host).is_none() {
        return skip("QEMU ends by an error where a board behind its IOMMU has gone");
    }
    let mut labs = both(lab);
    let dead = devices()?[1].clone();
    let (witness, lost) = (labs[0].open()?, labs[1].open()?);
    let said = witness.query().map_err(told)?;
    let mut survivors = [
        Worker::start(&mut labs[0], false)?,
        Worker::start(&mut labs[0], true)?,
    ];
    let mut other = Worker::start(&mut labs[1], false)?;
    other.progress()?;
    labs[1].host.fault(Fault::Kill {})?;
    let begin = Instant::now();
    loop {
        match lost.query() {
            Err(Error::Gone) => break,
            Ok(query) if query.state & peerlane_core::uapi::state::GONE != 0 => break,
            query => ensure!(begin.elapsed() < LIMIT, "the dead board says {query:?}"),
        }
        for worker in &mut survivors {
            worker.progress()?;
        }
    }
    let told_after = begin.elapsed();
    other.stop()?;
    drop(lost);
    let name = dead.file_name().context("a device without a name")?;
    poke(format!("{DRIVER}/unbind"), &name.to_string_lossy())?;
    ensure!(!Path::new("/dev/peerlane1").exists(), "its node is there");
    let mut trips = 0;
    for mut worker in survivors {
        worker.progress()?;
        trips += worker.stop()?;
    }
    let says = witness.query().map_err(told)?;
    ensure!(
        (says.generation, says.resets) == (said.generation, said.resets),
        "the other board says {says:?}, before {said:?}"
    );
    Ok(format!(
        "reported after {told_after:?}, {trips} round trips"
    ))
}
