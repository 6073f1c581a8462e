//! Tests of owners of memory that move it at odd moments, hand it over wrongly, or fail to take it back, whether they
//! are allowed to or not.

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

/// A parameter of the GPU's driver, changed until the value is dropped.
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

/// The pin moves the memory, and notifies importers that are attached and have nothing mapped. Checks that the region
/// is good.
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
            "no importer was notified of the move"
        );
        carrier.carry(&buffer, &region, 0, 77, SIZE - 100)?;
        ensure!(
            device.query().map_err(told)?.revoked == 0,
            "the context was notified that it has lost memory"
        );
        Ok("")
    })
}

/// The memory moves while it is being mapped. Checks that its table, which is that of the old place, is not used.
pub(super) fn moved_while_mapped(lab: &mut Lab) -> Result<&'static str> {
    let _moves = Parameter::set("map_moves", 'Y')?;
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        for way in super::dmabufs() {
            let buffer = gpu.buffer(SIZE, 0, 2, None)?;
            let region = registered(carrier.mover.device(), &buffer, way)?;
            carrier.carry(&buffer, &region, 0, 5, SIZE - 10)?;
        }
        Ok("")
    })
}

/// Checks that an importer whose memory is gone is notified of each further move, too, and that nothing is left to do.
pub(super) fn told_again(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let register = |length| name.register(&device, 0, length).map_err(told);
        let regions = [register(SIZE)?, register(100)?];
        let mut rests = vec![buffer.relocate()?];
        let revoked = device.query().map_err(told)?.revoked;
        ensure!(revoked == 2, "{revoked} regions of 2 were invalidated");
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
        ensure!(device.query().map_err(told)?.revoked == 2, "reported twice");
        // A new region of the same buffer is not affected by the end of the old ones.
        let new = register(SIZE)?;
        drop(regions);
        let moves = gpu.counts()?.invalidations;
        ensure!(gpu.counts()?.maps == 1, "the new region was released");
        new.forget().map_err(told)?;
        Ok(format!("{moves} notifications of dma-bufs"))
    })
}

/// Checks that a process can end whose memory was taken back before it unregistered its region.
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
        ensure!(
            gpu.counts()?.attachments == 0,
            "an importer is still attached"
        );
        Ok("")
    })
}

/// Faults in a table: `enum fakegpu_broken_table`.
const EMPTY: u32 = 1;
const WRAPPED: u32 = 2;
const SHORT: u32 = 3;
const LONG: u32 = 4;

/// Checks that tables that break the rules are refused, and that excess entries are not used.
pub(super) fn broken_tables(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        let device = carrier.mover.device().clone();
        // A page shorter than its granules, so that the memory after it belongs to no buffer.
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

/// Returns the references to the driver: its own, and those of open files.
fn module_references() -> Result<u32> {
    Ok(std::fs::read_to_string("/sys/module/peerlane/refcnt")?
        .trim()
        .parse()?)
}

/// Checks that pages that could not be returned are held until their owner frees them: the callback finds everything
/// that it needs, and then the driver can be unloaded.
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

/// Returning page tables fails for a while, or for good.
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

/// Another process than the one that registered the memory takes the board away. NVIDIA's driver does not let that
/// process return the pages.
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

/// Only the process that has cached regions of an NVIDIA GPU's memory can return their pages. Checks that they stay
/// cached where the machine is short of memory, and are found again. Other cached regions are evicted.
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

/// Another process needs the entries of cached regions. Checks that the memory stays held, as NVIDIA's driver requires,
/// until the process that registered it makes its next call.
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
                // Exceeds the number of free entries by `KEPT`.
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
        // A process that does not register again closes the context instead.
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

/// Checks that a peer that never answers delays no other process: memory is released, and transfers succeed again.
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
        Ok(format!("released in {took:?}; good again {how}"))
    })
}

/// Checks that the board proves by a read from a GPU's memory that written data have arrived there. Data in host memory
/// have arrived when the driver sees the fence.
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
        // The handle of the GPU's region is invalid by now, 0 is invalid, and so is this argument.
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

/// Time that the driver waits for the block in [`stuck`]: its parameter `patience_ms`.
const PATIENCE: Duration = Duration::from_secs(1);

/// Regions of each kind in [`stuck`].
const MANY: usize = 12;

/// Regions are unregistered one by one while the block is stuck. Checks that the driver waits for the block when it
/// finds that out, and not again for each region.
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
        // The block may be restarted in the meantime, and be stuck again. The regions of one kind alone would take
        // longer than this if each waited.
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
