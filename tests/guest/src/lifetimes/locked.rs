//! Tests of pinned memory and its limit, `RLIMIT_MEMLOCK`.

use super::MIB;
use crate::lab::{Buffer, Lab, Mover, same, told};
use crate::process::{self, fork};
use anyhow::{Context, Result, bail, ensure};
use peerlane_guest::pattern;
use peerlane_host::{Direction, Error, Memory, Permissions, Region};
use rand::Rng;
use rustix::io::Errno;
use rustix::mm::{Advice, madvise};
use rustix::process::{Resource, Rlimit};

/// Makes this process one of a user without privileges and with a limit of 1 MiB for locked memory.
pub(crate) fn become_limited() -> Result<()> {
    let limit = Rlimit {
        current: Some(MIB as u64),
        maximum: Some(MIB as u64),
    };
    rustix::process::setrlimit(Resource::Memlock, limit)?;
    process::become_nobody()
}

pub(crate) fn refused(what: &str, result: peerlane_host::Result<Region>) -> Result<()> {
    match result {
        Err(Error::Call {
            source: Errno::NOMEM,
            ..
        }) => Ok(()),
        other => bail!("{what} gave {other:?}"),
    }
}

/// Checks that pinned memory counts against the limit of a user without privileges, and that cached regions are evicted
/// for it.
pub(super) fn of_a_process(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let place = lab.place(&device)?;
    let mut branch = lab.branch();
    fork("user", move || {
        become_limited()?;
        let device = device.clone();
        let memory = Memory::new(4 * MIB)?;
        let register = |range| device.register(&memory, range, Permissions::ReadWrite);
        refused("4 MiB with a limit of 1", register(0..4 * MIB))?;
        let first = register(0..MIB / 2).map_err(told)?;
        refused(
            "768 KiB in addition to 512",
            register(MIB..MIB + 3 * MIB / 4),
        )?;
        // The first region is cached, and evicted for the next.
        drop(first);
        let second = register(MIB..MIB + 3 * MIB / 4).map_err(told)?;
        let regions = device.query().map_err(told)?.regions;
        ensure!(regions == [1, 0], "regions {regions:?}");
        second.forget().map_err(told)?;
        let buffer = Buffer {
            region: register(0..MIB).map_err(told)?,
            memory: memory.clone(),
        };
        let mut mover = Mover::Slow(device.clone());
        let mut bytes = vec![0; 64];
        pattern(branch.rng.random(), &mut bytes);
        buffer.memory.write(9, &bytes)?;
        mover.transfer(Direction::ToFpga, &buffer.region, 9, place, 64)?;
        mover.transfer(Direction::FromFpga, &buffer.region, 100_000, place, 64)?;
        let mut found = vec![0; 64];
        buffer.memory.read(100_000, &mut found)?;
        same(&bytes, &found, 100_000)
    })?
    .wait()?;
    Ok("")
}

/// Checks that a region outlives its process in the file that the parent has, and still counts for the user: the next
/// process of the user does not start from zero.
pub(super) fn by_children(lab: &mut Lab) -> Result<&'static str> {
    const HALF: usize = MIB / 2;
    let device = lab.open()?;
    let register = |index: u32| {
        let device = device.clone();
        let child = fork("child", move || {
            become_limited()?;
            let memory = Memory::new(HALF)?;
            let region = device.register(&memory, 0..HALF, Permissions::ReadWrite);
            if index >= 2 {
                return refused("more than the user may lock", region);
            }
            // The process ends without unregistering.
            std::mem::forget(region.map_err(told)?);
            Ok(())
        });
        child?.wait()
    };
    (0..10).try_for_each(register)?;
    let held = device.query().map_err(told)?.regions[0];
    ensure!(held == 2, "{held} regions of children");
    // The limit does not apply to a process that may lock more.
    Buffer::new(&device, 2 * MIB)?
        .region
        .forget()
        .map_err(told)?;
    drop(device);
    // The regions end with the file.
    let device = lab.open()?;
    fork("child", move || {
        become_limited()?;
        Buffer::new(&device, MIB)?;
        Ok(())
    })?
    .wait()?;
    Ok("")
}

/// Checks that cached regions of a user in one context do not prevent registering as much in another.
pub(super) fn elsewhere(lab: &mut Lab) -> Result<&'static str> {
    let devices = [lab.open()?, lab.open()?];
    let other = lab.open()?;
    let memory = Memory::new(MIB)?;
    // A fork invalidates the memory that it copies.
    let whole = Memory::new(MIB)?;
    // SAFETY: there are no references into the memory.
    unsafe {
        let place = whole.address() as *mut std::ffi::c_void;
        rustix::mm::madvise(place, MIB, rustix::mm::Advice::LinuxDontFork)?;
    }
    // A cached region of another user, whose eviction does not help this one.
    drop(
        other
            .register(&whole, 0..MIB, Permissions::ReadWrite)
            .map_err(told)?,
    );
    let kept = |device: &peerlane_host::Device| {
        let regions = device.query().map_err(told)?.regions;
        anyhow::Ok(regions[1])
    };
    // First within a process, then from one process to the next.
    let again = devices.clone();
    let memory_of_child = memory.clone();
    fork("both", move || {
        become_limited()?;
        for device in again.iter().cycle().take(4) {
            let region = device.register(&memory_of_child, 0..MIB, Permissions::ReadWrite);
            drop(region.map_err(told)?);
            ensure!(kept(device)? == 1, "it was not kept");
        }
        // A region in use is not evicted.
        let used = again[0]
            .register(&memory_of_child, 0..MIB, Permissions::ReadWrite)
            .map_err(told)?;
        let more = again[1].register(&memory_of_child, 0..4096, Permissions::Read);
        refused("a page in addition to all that may be locked", more)?;
        drop(used);
        Ok(())
    })?
    .wait()?;
    let [first, second] = devices;
    fork("next", move || {
        become_limited()?;
        let Buffer { memory, region } = Buffer::new(&second, MIB)?;
        drop(region);
        ensure!(kept(&second)? == 1, "it was not kept");
        drop(memory);
        Ok(())
    })?
    .wait()?;
    ensure!(
        kept(&first)? == 0,
        "the regions of the earlier process are still cached"
    );
    ensure!(
        kept(&other)? == 1,
        "the cached region of another process has gone"
    );
    Ok("")
}

/// Checks that the processes of a user together hold no more than the user may lock, and that each can cache as much. A
/// cached region never makes another registration fail, however often it is cached or used again.
pub(super) fn by_turns(lab: &mut Lab) -> Result<&'static str> {
    const WORKERS: usize = 8;
    const PART: usize = MIB / WORKERS;
    const ROUNDS: usize = 400;
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        let device = lab.open()?;
        workers.push(fork("worker", move || {
            become_limited()?;
            let memory = Memory::new(MIB)?;
            for round in 0..ROUNDS {
                // Each part twice in a row: its cached region is used again unless another process has evicted it.
                let start = round / 2 % WORKERS * PART;
                let range = start..start + PART;
                let region = device.register(&memory, range, Permissions::ReadWrite);
                drop(
                    region
                        .map_err(told)
                        .with_context(|| format!("round {round}"))?,
                );
                if round % 6 == 5 {
                    // The cached region of this part becomes useless, and is released when the next one is looked for.
                    let place = (memory.address() as usize + start) as *mut std::ffi::c_void;
                    // SAFETY: there are no references into the memory.
                    unsafe { madvise(place, PART, Advice::LinuxDontNeed)? };
                }
            }
            Ok(())
        })?);
    }
    workers.into_iter().try_for_each(process::Child::wait)?;
    Ok("")
}

/// Checks that a region that is refused costs no access to the board where nothing is cached, however many contexts are
/// open.
pub(super) fn refused_for_nothing(lab: &mut Lab) -> Result<&'static str> {
    let mut devices = Vec::new();
    while let Ok(device) = lab.open() {
        devices.push(device);
    }
    let device = devices.first().context("no channel is free")?.clone();
    // A transfer's end proves that the register writes before it have been counted.
    let buffer = Buffer::new(&device, 4096)?;
    let place = lab.place(&device)?;
    lab.check_some(&mut Mover::Slow(device.clone()), &buffer, place, 1, 64)?;
    let before = lab.host.counters()?.other_writes;
    fork("user", move || {
        become_limited()?;
        let memory = Memory::new(2 * MIB)?;
        for _ in 0..10 {
            let region = device.register(&memory, 0..2 * MIB, Permissions::ReadWrite);
            refused("2 MiB with a limit of 1", region)?;
        }
        Ok(())
    })?
    .wait()?;
    let after = lab.host.counters()?.other_writes;
    ensure!(
        after == before,
        "{} registers written for regions that were refused",
        after - before
    );
    Ok("")
}
