//! Tests of cached regions whose memory the driver releases by itself, because they are useless, or because memory or
//! entries are short.

use super::{MIB, register};
use crate::lab::{Buffer, Lab, entries_free, huge, told};
use crate::process::{Peer, fork, pair};
use crate::suite::skip;
use anyhow::{Context, Result, anyhow, ensure};
use peerlane_host::{Device, Direction, Error, Memory, Permissions, Region, Terms};
use rustix::io::Errno;
use rustix::mm::Advice;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time that the driver may take, on a machine whose clock is slow.
const SOON: Duration = Duration::from_secs(10);

/// Returns the bytes of a process that are pinned, as the kernel counts them.
fn pinned(process: &str) -> Result<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmPin:"));
    let kib = line
        .context("no VmPin")?
        .trim()
        .trim_end_matches("kB")
        .trim();
    Ok(kib.parse::<usize>()? << 10)
}

/// Waits until a process has at most `most` bytes pinned.
fn expect_pinned(process: &str, most: usize) -> Result<()> {
    let begin = Instant::now();
    loop {
        let now = pinned(process)?;
        if now <= most {
            return Ok(());
        }
        ensure!(begin.elapsed() < SOON, "{now} bytes are still pinned");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn cached(device: &Device) -> Result<u32> {
    Ok(device.query().map_err(told)?.regions[1])
}

/// Checks that memory that a process unmaps is released: without a call of the process, and with calls that find other
/// cached regions.
pub(super) fn by_its_process(lab: &mut Lab) -> Result<String> {
    const LENGTH: usize = 32 * MIB;
    let device = lab.open()?;
    let before = pinned("self")?;
    for calls in [false, true] {
        let (memory, small) = (Memory::new(LENGTH)?, Memory::new(4096)?);
        drop(register(&device, &memory)?);
        drop(register(&device, &small)?);
        ensure!(cached(&device)? == 2, "nothing is cached");
        ensure!(pinned("self")? >= before + LENGTH, "nothing is pinned");
        drop(memory);
        let begin = Instant::now();
        while calls && begin.elapsed() < Duration::from_millis(300) {
            ensure!(
                register(&device, &small)?.region.found(),
                "the small one was not found"
            );
        }
        expect_pinned("self", before + 4096).with_context(|| format!("with calls: {calls}"))?;
        ensure!(
            register(&device, &small)?.region.found(),
            "memory that is still mapped was released"
        );
        drop(small);
    }
    expect_pinned("self", before)?;
    Ok(format!("{LENGTH} bytes"))
}

/// Checks that pages of hugetlb return to their pool at once.
pub(super) fn of_hugetlb(lab: &mut Lab) -> Result<&'static str> {
    const FREE: &str = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
    let free = || Ok::<_, anyhow::Error>(std::fs::read_to_string(FREE)?.trim().parse::<usize>()?);
    let device = lab.open()?;
    let memory = huge(4 * MIB)?;
    let before = free()?;
    drop(register(&device, &memory)?);
    ensure!(cached(&device)? == 0, "huge pages are cached");
    let there = free()?;
    drop(memory);
    ensure!(
        free()? >= there.max(before).max(2),
        "pages are missing in the pool"
    );
    Ok("")
}

/// Returns the root of the control groups, with the memory controller enabled for child groups.
fn control_groups() -> Result<&'static Path> {
    let root = Path::new("/sys/fs/cgroup");
    if !root.join("cgroup.controllers").exists() {
        let mounted = std::process::Command::new("mount")
            .args(["-t", "cgroup2", "none", "/sys/fs/cgroup"])
            .status()?;
        if !mounted.success() {
            return skip("the kernel has no control groups");
        }
    }
    std::fs::write(root.join("cgroup.subtree_control"), "+memory")?;
    Ok(root)
}

/// Removes control groups while boards are open that were opened in them, so that other groups get their numbers. The
/// kernel complains where one group is mistaken for another.
pub(super) fn control_groups_come_and_go(lab: &mut Lab) -> Result<&'static str> {
    let root = control_groups()?;
    let user = |lab: &mut Lab, group: &Path| -> Result<_> {
        std::fs::create_dir_all(group)?;
        let (ours, theirs) = pair()?;
        let (branch, procs) = (lab.branch(), group.join("cgroup.procs"));
        let child = fork("user", move || {
            std::fs::write(&procs, "0").with_context(|| procs.display().to_string())?;
            let device = branch.open()?;
            let memory = Memory::new(MIB)?;
            drop(register(&device, &memory)?);
            theirs.signal()?;
            theirs.wait()?;
            drop(device);
            theirs.signal()?;
            theirs.wait()
        })?;
        ours.wait()?;
        Ok((child, ours))
    };
    for _ in 0..3 {
        let (first, second) = (root.join("first"), root.join("second"));
        let (child, signals) = user(lab, &first)?;
        std::fs::write(root.join("cgroup.procs"), child.id()?.to_string())?;
        std::fs::remove_dir(&first)?;
        let (other, others) = user(lab, &second)?;
        let _ = std::fs::write(second.join("memory.reclaim"), "1M");
        for (child, signals) in [(child, signals), (other, others)] {
            // The process closes the board first, and ends later.
            signals.signal()?;
            signals.wait()?;
            signals.signal()?;
            child.wait()?;
        }
        std::fs::remove_dir(&second)?;
    }
    Ok("")
}

/// Checks that all threads that register at the same time have room in a new context.
pub(super) fn registered_at_once(lab: &mut Lab) -> Result<&'static str> {
    const THREADS: usize = 8;
    let lab = lab.branch();
    // The process is a new one, which may have threads.
    fork("threads", move || {
        for round in 0..10 {
            let device = lab.open()?;
            let begin = std::sync::Barrier::new(THREADS);
            let failed = std::thread::scope(|scope| {
                let one = || {
                    let memory = Memory::new(4096)?;
                    begin.wait();
                    (0..20).try_for_each(|_| register(&device, &memory).map(drop))
                };
                let threads = [(); THREADS].map(|()| scope.spawn(one));
                threads.map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(anyhow!("it panicked")))
                })
            });
            for one in failed {
                one.with_context(|| format!("round {round}"))?;
            }
        }
        Ok(())
    })?
    .wait()?;
    Ok("")
}

/// Checks that a shortage of memory in a control group concerns only its own processes: other groups keep their cached
/// regions.
pub(super) fn by_its_control_group(lab: &mut Lab) -> Result<&'static str> {
    const LENGTH: usize = 8 * MIB;
    let root = control_groups()?;
    let mut users = Vec::new();
    for name in ["short", "rich"] {
        let group = root.join(name);
        std::fs::create_dir_all(&group)?;
        let (ours, theirs) = pair()?;
        let (branch, procs) = (lab.branch(), group.join("cgroup.procs"));
        let child = fork(name, move || {
            std::fs::write(&procs, "0").with_context(|| procs.display().to_string())?;
            let device = branch.open()?;
            let memory = Memory::new(LENGTH)?;
            drop(register(&device, &memory)?);
            ensure!(cached(&device)? == 1, "nothing is cached");
            theirs.signal()?;
            theirs.wait()?;
            drop(register(&device, &memory)?);
            Ok(())
        })?;
        ours.wait()?;
        users.push((group, child, ours));
    }
    let [(short, child, _), (_, other, _)] = users.as_slice() else {
        return Err(anyhow!("two groups"));
    };
    let (child, other) = (child.id()?.to_string(), other.id()?.to_string());
    // The write fails when the kernel reclaims less than it was asked for.
    let _ = std::fs::write(short.join("memory.reclaim"), format!("{}", 4 * LENGTH));
    expect_pinned(&child, 0).context("of the group that is short of memory")?;
    ensure!(
        pinned(&other)? >= LENGTH,
        "the other group's was released, too"
    );
    for (group, child, ours) in users {
        Peer::signal(&ours)?;
        child.wait()?;
        std::fs::remove_dir(&group).with_context(|| group.display().to_string())?;
    }
    Ok("")
}

/// A control group has room for the memory that its process uses, and not for unmapped memory in addition. Checks that
/// the driver releases unmapped memory in time, so that the kernel ends no process.
pub(super) fn within_a_control_group(lab: &mut Lab) -> Result<String> {
    // Its pages may be pages of 4 KiB.
    const LENGTH: usize = 12 * MIB;
    const LIMIT: usize = LENGTH + 10 * MIB;
    let group = control_groups()?.join("narrow");
    std::fs::create_dir_all(&group)?;
    std::fs::write(group.join("memory.max"), LIMIT.to_string())?;
    let _ = std::fs::write(group.join("memory.swap.max"), "0");
    let (branch, procs) = (lab.branch(), group.join("cgroup.procs"));
    let rounds = 10;
    let child = fork("user", move || {
        std::fs::write(&procs, "0").with_context(|| procs.display().to_string())?;
        let device = branch.open()?;
        for round in 0..rounds {
            let memory = Memory::new(LENGTH)?;
            drop(register(&device, &memory).with_context(|| format!("round {round}"))?);
        }
        Ok(())
    })?;
    let ended = child.wait();
    let events = std::fs::read_to_string(group.join("memory.events"))?;
    ended.with_context(|| format!("memory.events: {}", events.replace('\n', ", ")))?;
    std::fs::remove_dir(&group).with_context(|| group.display().to_string())?;
    let count = |name: &str| -> Option<&str> {
        let mut lines = events.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    };
    ensure!(count("oom_kill") == Some("0"), "{events}");
    Ok(format!(
        "{rounds} times {LENGTH} bytes, the limit was reached {} times",
        count("max").unwrap_or("?")
    ))
}

/// Returns memory whose pages are not contiguous on the bus.
pub(crate) fn scattered(pages: usize) -> Result<Memory> {
    let memory = Memory::new(pages * 4096)?;
    // SAFETY: there are no references into the memory.
    unsafe {
        let place = super::place_of(&memory);
        rustix::mm::madvise(place, memory.length(), Advice::LinuxNoHugepage)?;
    }
    // Every page is touched once, in an order without neighbours: 1009 is prime.
    for step in 0..pages {
        let page = step * 1009 % pages;
        memory.write(page * 4096, &[1])?;
    }
    Ok(memory)
}

/// Checks that a request for a run of entries that can never be made evicts no regions.
pub(super) fn not_in_vain(lab: &mut Lab) -> Result<String> {
    const CACHED: usize = 50;
    let (victim, attacker) = (lab.open()?, lab.open()?);
    let free = entries_free(victim.name().as_ref())?;
    let small = Memory::new(4096)?;
    let page = |index: usize| -> Result<Region> {
        victim
            .register(&small, index..4096, Permissions::Write)
            .map_err(told)
    };
    let mut cache = (0..CACHED).map(page).collect::<Result<Vec<_>>>()?;
    // The region that would be evicted first is next to the free entries.
    while cache.pop().is_some() {}
    let all = scattered(free)?;
    let some =
        |device: &Device, pages: usize| device.register(&all, 0..pages * 4096, Permissions::Read);
    // One entry in the middle of the table is in use.
    let first = some(&attacker, free / 2).map_err(told)?;
    let middle = some(&attacker, 1).map_err(told)?;
    first.forget().map_err(told)?;
    for _ in 0..5 {
        let refused = some(&attacker, free - CACHED);
        let is_full =
            matches!(&refused, Err(Error::Call { source, .. }) if *source == Errno::NOSPC);
        ensure!(is_full, "{refused:?}");
        // Found in the same order as before.
        for index in (0..CACHED).rev() {
            ensure!(page(index)?.found(), "region {index} was evicted in vain");
        }
    }
    middle.forget().map_err(told)?;
    // A run that can be made is made, and only as many regions are evicted as it needs.
    let region = some(&attacker, free - 10).map_err(told)?;
    let left = cached(&victim)?;
    ensure!(
        left > 0 && left < CACHED as u32,
        "{left} regions of {CACHED} are cached"
    );
    region.forget().map_err(told)?;
    Ok(format!("{left} of {CACHED} stayed"))
}

/// Entries that descriptors may still use become free when those descriptors have ended, which can take long. Checks
/// that a registration does not wait for that if cached regions can be evicted.
pub(super) fn for_entries_that_linger(lab: &mut Lab) -> Result<String> {
    const BYTES: usize = 16 * MIB;
    let (busy, miser, third) = (lab.open()?, lab.open()?, lab.open()?);
    let buffer = Buffer::new(&busy, BYTES)?;
    let place = lab.place_of_all(&busy)?;
    let free = entries_free(busy.name().as_ref())?;
    let memory = scattered(free)?;
    let all = |device: &Device, pages: std::ops::Range<usize>| {
        let bytes = pages.start * 4096..pages.end * 4096;
        let region = device.register(&memory, bytes, Permissions::Write);
        region.map_err(told)
    };
    let lingers = all(&busy, 0..free / 2)?;
    drop(all(&miser, free / 2..free)?);
    ensure!(
        entries_free(busy.name().as_ref())? == 0,
        "entries are left over"
    );
    let mut under_way = Vec::new();
    for _ in 0..30 {
        let part = buffer.region.part(0..BYTES as u64);
        let submitted = busy.submit(Direction::FromFpga, part, place, Terms::default());
        under_way.push(submitted.map_err(told)?);
    }
    lingers.forget().map_err(told)?;
    let begin = Instant::now();
    let registered = all(&third, 0..1).context("one entry")?;
    let took = begin.elapsed();
    let left = busy.query().map_err(told)?.outstanding;
    ensure!(
        left == [0; 2] || cached(&miser)? == 0,
        "no cached region went"
    );
    drop(registered);
    busy.stop(Duration::ZERO).map_err(told)?;
    Ok(format!("after {took:?}, {left:?} transfers are left"))
}
