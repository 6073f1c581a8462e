//! Owners of memory that do what they may, or what they may not: move it at odd moments, hand it
//! over wrongly, fail to take it back.

use super::{Carrier, Name, Way, refused, registered, with_gpu};
use crate::fakegpu::{GRANULE, Gpu};
use crate::faults;
use crate::lab::{Buffer, Lab, Mover, entries_free, told};
use crate::{process, raw};
use anyhow::{Context, Result, ensure};
use peerlane_core::uapi;
use peerlane_guest::{Answer, Fault};
use peerlane_host::{Device, Direction, Memory, Permissions, Region};
use rustix::io::Errno;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A parameter of the GPU's driver, until it is dropped.
pub(super) struct Parameter {
    path: PathBuf,
    usual: String,
}

impl Parameter {
    pub(super) fn set(name: &str, value: impl ToString) -> Result<Self> {
        let path = PathBuf::from("/sys/module/fakegpu/parameters").join(name);
        let usual = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        std::fs::write(&path, value.to_string())?;
        Ok(Self { path, usual })
    }
}

impl Drop for Parameter {
    fn drop(&mut self) {
        let put_back = std::fs::write(&self.path, &self.usual);
        assert!(put_back.is_ok(), "{}: {put_back:?}", self.path.display());
    }
}

const SIZE: usize = 5 * GRANULE;

/// The pin moves the memory, and tells those who are attached and have nothing mapped.
pub(super) fn moved_by_its_pin(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        let device = carrier.mover.device().clone();
        let buffer = gpu.buffer(SIZE, 0, 3, None)?;
        let (before, told_before) = (buffer.pieces()?, gpu.counts()?.invalidations);
        let region = registered(&device, &buffer, Way::DmaBuf)?;
        ensure!(buffer.pieces()? != before, "the pin did not move it");
        ensure!(
            gpu.counts()?.invalidations > told_before,
            "nobody was told of the move"
        );
        carrier.carry(&buffer, &region, 0, 77, SIZE - 100)?;
        ensure!(
            device.query().map_err(told)?.revoked == 0,
            "the context was told that it has lost memory"
        );
        Ok("")
    })
}

/// The memory moves while it is being mapped: the table is that of the old place.
pub(super) fn moved_while_mapped(lab: &mut Lab) -> Result<&'static str> {
    let _moves = Parameter::set("map_moves", 'Y')?;
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        for way in [Way::DmaBuf, Way::Unpinned] {
            let buffer = gpu.buffer(SIZE, 0, 2, None)?;
            let region = registered(carrier.mover.device(), &buffer, way)?;
            carrier.carry(&buffer, &region, 0, 5, SIZE - 10)?;
        }
        Ok("")
    })
}

/// Whose memory is gone is told of every further move, too: there is nothing left to do.
pub(super) fn told_again(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let register = |length| name.register(&device, 0, length).map_err(told);
        let regions = [register(SIZE)?, register(100)?];
        let mut rests = vec![buffer.relocate()?];
        let revoked = device.query().map_err(told)?.revoked;
        ensure!(revoked == 2, "{revoked} regions of 2 were taken back");
        let before = lab.host.counters()?;
        for _ in 0..2 {
            rests.push(buffer.relocate()?);
        }
        let after = lab.host.counters()?;
        ensure!(
            after.other_writes == before.other_writes,
            "{} registers written for memory that is gone",
            after.other_writes - before.other_writes
        );
        ensure!(device.query().map_err(told)?.revoked == 2, "told twice");
        // A new region of the same buffer is not concerned by the old ones' end.
        let new = register(SIZE)?;
        drop(regions);
        let moves = gpu.counts()?.invalidations;
        ensure!(gpu.counts()?.maps == 1, "the new region was let go");
        new.forget().map_err(told)?;
        Ok(format!("{moves} dma-bufs told"))
    })
}

/// A process ends whose memory was taken back before, without having given its region back.
pub(super) fn closed_after_the_end(lab: &mut Lab, way: Way) -> Result<&'static str> {
    with_gpu(|gpu| {
        let lab = lab.branch();
        let child = process::fork("closed_after_the_end", move || {
            let gpu = Gpu::open()?;
            let device = lab.open()?;
            let buffer = gpu.buffer(SIZE, 0, 2, None)?;
            std::mem::forget(registered(&device, &buffer, way)?);
            buffer.revoke()
        })?;
        child.wait()?;
        ensure!(gpu.counts()?.attachments == 0, "somebody is still attached");
        Ok("")
    })
}

/// What is wrong with a table: `enum fakegpu_broken_table`.
const EMPTY: u32 = 1;
const WRAPPED: u32 = 2;
const SHORT: u32 = 3;
const LONG: u32 = 4;

/// Tables that break the rules are refused, and what they say too much is not believed.
pub(super) fn broken_tables(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        let device = carrier.mover.device().clone();
        // A page shorter than its granules, so that what follows is nobody's.
        let size = SIZE - 4096;
        let buffer = gpu.buffer(size, 0, 2, None)?;
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let region = |length| name.register(&device, 0, length);
        for broken in [EMPTY, WRAPPED] {
            let _broken = Parameter::set("broken_table", broken)?;
            let errno = refused(region(size))?;
            ensure!(errno == Errno::PROTO, "table {broken}: {errno}");
        }
        {
            let _broken = Parameter::set("broken_table", SHORT)?;
            let errno = refused(region(size))?;
            ensure!(errno == Errno::INVAL, "a short table: {errno}");
            let whole = region(size - 4096).map_err(told)?;
            carrier.carry(&buffer, &whole, 0, 0, size - 4096)?;
        }
        let _broken = Parameter::set("broken_table", LONG)?;
        let errno = refused(region(size + 1))?;
        ensure!(errno == Errno::INVAL, "more than the buffer has: {errno}");
        let whole = region(size).map_err(told)?;
        carrier.carry(&buffer, &whole, 0, 0, size)
    })?;
    Ok("")
}

/// The driver's references to itself and what has it open.
fn module_references() -> Result<u32> {
    Ok(std::fs::read_to_string("/sys/module/peerlane/refcnt")?
        .trim()
        .parse()?)
}

/// What could not be given back is held until its owner frees it: the callback finds everything
/// that it needs, then the driver can go.
fn settled(lab: &Lab, gpu: &Gpu, free: impl FnOnce() -> Result<()>) -> Result<()> {
    let callbacks = gpu.counts()?.callbacks;
    ensure!(gpu.counts()?.tables == 1, "nothing is held");
    ensure!(module_references()? > 0, "the driver may go");
    free()?;
    ensure!(
        gpu.counts()?.callbacks == callbacks + 1,
        "there was no callback"
    );
    drop(lab.open()?);
    let left = module_references()?;
    ensure!(left == 0, "{left} references to the driver are left");
    Ok(())
}

/// Page tables cannot be given back for a while, or for good.
pub(super) fn put_fails(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        for (failures, held) in [(2, 0), (1000, 1)] {
            let device = lab.open()?;
            let buffer = gpu.buffer(SIZE, 0, 2, None)?;
            let region = registered(&device, &buffer, Way::Nvidia)?;
            let fails = Parameter::set("put_fails", failures)?;
            region.forget().map_err(told)?;
            let tables = gpu.counts()?.tables;
            ensure!(tables == held, "{failures} failures: {tables} tables left");
            drop((device, fails));
            if held == 1 {
                settled(lab, gpu, || buffer.revoke())?;
            }
        }
        Ok("")
    })
}

/// Another process than the one that registered the memory takes the board away. NVIDIA's driver
/// does not let it give the pages back.
pub(super) fn unbound_by_another(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let region = registered(&device, &buffer, Way::Nvidia)?;
        let child = process::fork("unbind", || {
            faults::unbind()?;
            faults::bind()
        })?;
        child.wait()?;
        drop((region, device));
        settled(lab, gpu, || buffer.revoke())
    })?;
    Ok("")
}

/// What a process keeps of an NVIDIA GPU's memory only it can give back: where the machine is short of
/// memory it stays kept, and is found again. What is kept of others goes.
pub(super) fn kept_under_pressure(lab: &mut Lab) -> Result<String> {
    const KEPT: usize = 20;
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(KEPT * GRANULE, 0, 2, None)?;
        let nvidia = Name::of(&buffer, Way::Nvidia)?;
        let (dmabuf, other) = (Name::of(&buffer, Way::DmaBuf)?, lab.open()?);
        let kept =
            |device: &Device| Ok::<_, anyhow::Error>(device.query().map_err(told)?.regions[1]);
        let references = module_references()?;
        for round in 0..8 {
            for index in 0..KEPT {
                let register =
                    |name: &Name, device| name.register(device, index * GRANULE, GRANULE);
                let region = register(&nvidia, &device).map_err(told)?;
                ensure!(
                    region.found() == (round > 0),
                    "round {round}, region {index}: found {}",
                    region.found()
                );
                drop(register(&dmabuf, &other).map_err(told)?);
            }
            let begin = Instant::now();
            while kept(&other)? > 0 {
                ensure!(
                    begin.elapsed() < Duration::from_secs(20),
                    "{} dma-bufs are still kept",
                    kept(&other)?
                );
                std::fs::write("/proc/sys/vm/drop_caches", "2")?;
                std::thread::sleep(Duration::from_millis(10));
            }
            let (kept, tables) = (kept(&device)?, gpu.counts()?.tables);
            ensure!(
                (kept as usize, tables as usize) == (KEPT, KEPT),
                "round {round}: {kept} regions are kept, and {tables} page tables held"
            );
            let now = module_references()?;
            ensure!(
                now == references,
                "round {round}: {now} references to the driver, {references} before"
            );
        }
        Ok(())
    })?;
    Ok(format!("{KEPT} regions"))
}

/// Another process needs the entries of what is kept: the memory stays held, as NVIDIA's driver has it,
/// until the process that has registered it comes again.
pub(super) fn let_go_by_another(lab: &mut Lab) -> Result<String> {
    const KEPT: usize = 20;
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(KEPT * GRANULE, 0, 2, None)?;
        let name = Name::of(&buffer, Way::Nvidia)?;
        let references = module_references()?;
        for round in 0..4 {
            for index in 0..KEPT {
                let region = name.register(&device, index * GRANULE, GRANULE);
                ensure!(!region.map_err(told)?.found(), "round {round}: found");
                let held = gpu.counts()?.tables as usize;
                ensure!(
                    held == index + 1,
                    "round {round}: {held} page tables are held for {index} regions and this one"
                );
            }
            let branch = lab.branch();
            let child = process::fork("another", move || {
                let device = branch.open()?;
                let memory = Memory::new(4096)?;
                let one = || device.register(&memory, 0..4096, Permissions::Read);
                // As many more than are free.
                let free = entries_free(device.name().as_ref())?;
                let held = (0..free + KEPT).map(|_| one().map_err(told));
                held.collect::<Result<Vec<_>>>().map(drop)
            })?;
            child.wait()?;
            let kept = device.query().map_err(told)?.regions[1];
            let held = gpu.counts()?.tables as usize;
            ensure!(
                (kept, held) == (0, KEPT),
                "round {round}: {kept} regions are kept, {held} page tables held"
            );
        }
        // What does not register again closes.
        drop(device);
        let (held, now) = (gpu.counts()?.tables, module_references()?);
        ensure!(held == 0, "{held} page tables are held");
        ensure!(
            now + 1 == references,
            "{now} references to the driver, {references} with an open file"
        );
        Ok(())
    })?;
    Ok(format!("{KEPT} regions"))
}

/// A peer that never answers holds nobody up: memory is given back, and it goes on.
pub(super) fn silent_peer(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let region = registered(&device, &buffer, Way::DmaBuf)?;
        lab.host.fault(Fault::Reads {
            answer: Answer::Never {},
            skip: 0,
            times: 1,
        })?;
        let begin = Instant::now();
        region.forget().map_err(told)?;
        let took = begin.elapsed();
        lab.host.fault(Fault::Clear {})?;
        ensure!(gpu.counts()?.maps == 0, "the memory is still held");
        let how = faults::come_back_anew(lab)?;
        Ok(format!("let go in {took:?}; good again {how}"))
    })
}

/// That what was written has arrived in a GPU's memory, the board finds out by a read there. In the host's memory it has when
/// the driver sees the fence.
pub(super) fn flush(lab: &mut Lab, way: Way) -> Result<&'static str> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let region = registered(&device, &buffer, way)?;
        let memory = Buffer::new(&device, 4096)?;
        let read_by = |region: &Region| -> Result<u64> {
            let before = lab.host.counters()?.bytes_read;
            region.flush().map_err(told)?;
            Ok(lab.host.counters()?.bytes_read - before)
        };
        ensure!(read_by(&region)? > 0, "the board has not read from the GPU");
        let read = read_by(&memory.region)?;
        ensure!(read == 0, "the board has read {read} bytes of host memory");
        // Of the board's memory there is none any more, and no such argument.
        let (handle, none) = (region.handle(), Err(Errno::NOENT));
        region.forget().map_err(told)?;
        for (handle, reserved, expected) in [
            (handle, 0, none),
            (0, 0, none),
            (memory.region.handle(), 1, Err(Errno::INVAL)),
        ] {
            let mut argument = uapi::Flush { handle, reserved };
            let found = raw::with(&device, uapi::FLUSH, &mut argument);
            ensure!(found == expected, "{argument:?}: {found:?}");
        }
        Ok("")
    })
}

/// How long the driver waits for the block in [`stuck`]: its parameter `patience_ms`.
const PATIENCE: Duration = Duration::from_secs(1);

/// Of each kind, in [`stuck`].
const MANY: usize = 12;

/// Regions are given back one by one while the block is stuck: it is waited for when that is found
/// out, and not again for each of them.
pub(super) fn stuck(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let mut mover = Mover::slow(lab)?;
        let device = mover.device().clone();
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let busy = Buffer::new(&device, 1 << 20)?;
        let host = (0..MANY)
            .map(|_| Ok(Buffer::new(&device, 4096)?.region))
            .collect::<Result<Vec<_>>>()?;
        let peer = (0..MANY)
            .map(|_| name.register(&device, 0, SIZE).map_err(told))
            .collect::<Result<Vec<_>>>()?;
        let place = lab.place(&device)?;
        lab.host.fault(Fault::StickPort { after: 0 })?;
        let limit = Duration::from_millis(100);
        let ended = mover.attempt(Direction::FromFpga, &busy.region, 0, place, 1 << 20, limit);
        ensure!(
            ended.is_err(),
            "a write through a stuck port gave {ended:?}"
        );
        let begin = Instant::now();
        for region in peer.into_iter().chain(host) {
            region.forget().map_err(told)?;
        }
        let took = begin.elapsed();
        ensure!(gpu.counts()?.maps == 0, "the memory is still held");
        lab.host.fault(Fault::Clear {})?;
        // It may be started again meanwhile, and be stuck again. Those of one kind alone would take longer than this.
        ensure!(
            took < MANY as u32 * PATIENCE,
            "{} regions took {took:?}",
            2 * MANY
        );
        let how = faults::come_back(lab, mover, busy)?;
        Ok(format!(
            "{} regions in {took:?}; good again {how}",
            2 * MANY
        ))
    })
}
