//! Tests in which the owner of GPU memory takes it back: under DMA, at any time, and at the end of a process.

use super::{Carrier, MIB, Name, Way, registered, with_gpu};
use crate::fakegpu::{Gpu, GpuBuffer};
use crate::lab::{LIMIT, Lab, Mover, told};
use crate::process;
use anyhow::{Context, Result, anyhow, ensure};
use peerlane_host::{Direction, Error, Queue, Region, Transfer};
use rand::Rng;
use rustix::io::Errno;
use std::path::Path;
use std::time::{Duration, Instant};

/// Starts transfers in both directions in a region, each longer than the moment until the memory is taken. Transfers to
/// the FPGA and from it use different FPGA memory: the data read may be poison.
fn start(lab: &mut Lab, queue: &Queue, region: &Region) -> Result<Vec<Transfer>> {
    let mut transfers = Vec::new();
    for direction in [Direction::BOTH; 2].concat() {
        let place = lab.place(queue.device())? + u64::from(1 + direction.raw()) * region.length();
        let transfer = queue.submit(direction, region.part(0..region.length()), place);
        transfers.push(transfer.map_err(told)?);
    }
    std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..3000)));
    Ok(transfers)
}

/// Waits for the ends of the transfers, with a fault or without.
fn end(transfers: Vec<Transfer>) -> Result<()> {
    for transfer in transfers {
        match transfer.wait(Some(LIMIT)) {
            Ok(_) | Err(Error::Fault { .. }) => {}
            Err(error) => return Err(told(error)),
        }
    }
    Ok(())
}

/// Checks that the queue can be used for other memory.
fn goes_on(lab: &mut Lab, mover: Mover, gpu: &Gpu) -> Result<()> {
    let mut carrier = Carrier::new(lab, mover)?;
    let buffer = gpu.buffer(MIB, 0, 2, None)?;
    let region = registered(carrier.mover.device(), &buffer, Way::DmaBuf)?;
    carrier.carry(&buffer, &region, 0, 100, 10_000)
}

/// The owner takes memory away that the board is using, by freeing or by moving the buffer. Checks that nothing arrives
/// there afterwards.
fn taken(
    lab: &mut Lab,
    way: Way,
    take: impl Fn(GpuBuffer) -> Result<Option<GpuBuffer>>,
) -> Result<String> {
    let mut slowest = Duration::ZERO;
    for round in 0..lab.rounds {
        with_gpu(|gpu| {
            let mut mover = Mover::fast_with_all(lab)?;
            let buffer = gpu.buffer(2 * MIB, 0, 1 + round % 3, None)?;
            let region = registered(mover.device(), &buffer, way)?;
            let pieces = buffer.pieces()?;
            let told_before = mover.device().query().map_err(told)?.revoked;
            let transfers = start(lab, mover.queue()?, &region)?;
            let begin = Instant::now();
            let rest = take(buffer)?;
            slowest = slowest.max(begin.elapsed());
            gpu.is_poisoned(&pieces)?;
            let told_now = mover.device().query().map_err(told)?.revoked;
            ensure!(told_now == told_before + 1, "the context was not notified");
            end(transfers)?;
            gpu.is_poisoned(&pieces)?;
            drop((region, rest));
            goes_on(lab, mover, gpu)
        })?;
    }
    Ok(format!("slowest {slowest:?}"))
}

/// The owner frees the buffer.
pub(super) fn freed(lab: &mut Lab, way: Way) -> Result<String> {
    taken(lab, way, |buffer| buffer.revoke().map(|()| None))
}

/// The owner moves the buffer.
pub(super) fn moved(lab: &mut Lab) -> Result<String> {
    taken(lab, Way::DmaBuf, |buffer| buffer.relocate().map(Some))
}

/// The owner frees memory while it is being registered or unregistered.
pub(super) fn any_time(lab: &mut Lab, way: Way) -> Result<String> {
    let rounds = 20 * lab.rounds;
    let mut lab = lab.branch();
    // The process is a new one, which may have a second thread.
    let child = process::fork("freed_any_time", move || {
        with_gpu(|gpu| {
            let device = lab.open()?;
            for _ in 0..rounds {
                let buffer = gpu.buffer(256 << 10, 0, 2, None)?;
                let name = Name::of(&buffer, way)?;
                let size = buffer.size();
                let [before, after] =
                    [(); 2].map(|()| Duration::from_micros(lab.rng.random_range(0..500)));
                let early: bool = lab.rng.random();
                let mut region = early.then(|| name.register(&device, 0, size));
                let owner = std::thread::spawn(move || {
                    std::thread::sleep(before);
                    buffer.revoke()
                });
                std::thread::sleep(after);
                let region = region
                    .take()
                    .unwrap_or_else(|| name.register(&device, 0, size));
                match region {
                    Ok(region) => region.forget().map_err(told)?,
                    Err(error) if early => return Err(told(error)),
                    Err(_) => {}
                }
                owner.join().map_err(|_| anyhow!("the owner panicked"))??;
            }
            Ok(())
        })
    })?;
    child.wait()?;
    Ok(format!("{rounds} times"))
}

/// Another process moves a buffer while it is registered and unregistered over and over.
pub(super) fn moved_any_time(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let buffer = gpu.buffer(256 << 10, 0, 2, None)?;
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let branch = lab.branch();
        let (rounds, size) = (20 * lab.rounds, buffer.size());
        let mut child = process::fork("moved_any_time", move || {
            let device = branch.open()?;
            for _ in 0..rounds {
                match name.register(&device, 0, size) {
                    Ok(region) => region.forget().map_err(told)?,
                    // The buffer was moved between its mapping and its registration.
                    Err(Error::Call {
                        source: Errno::STALE,
                        ..
                    }) => {}
                    Err(error) => return Err(told(error)),
                }
            }
            Ok(())
        })?;
        let mut moves = 0;
        loop {
            drop(buffer.relocate()?);
            moves += 1;
            if let Some(status) = child.wait_for(Duration::ZERO)? {
                ensure!(status.exit_status() == Some(0), "the child failed");
                break;
            }
        }
        Ok(format!("{moves} moves during {rounds} registrations"))
    })
}

/// The GPU is removed from the bus, with all that is on it, and comes back.
pub(super) fn removed(lab: &mut Lab) -> Result<&'static str> {
    let driver = Path::new("/sys/bus/pci/drivers/fakegpu");
    let place = std::fs::read_dir(driver)?
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().contains(':'))
        .context("the GPU has no driver")?;
    let gpu = Gpu::open()?;
    let mut mover = Mover::fast_with_all(lab)?;
    let mut transfers = Vec::new();
    let mut held = Vec::new();
    for way in [Way::DmaBuf, Way::Nvidia] {
        let buffer = gpu.buffer(2 * MIB, 0, 2, None)?;
        let region = registered(mover.device(), &buffer, way)?;
        transfers.extend(start(lab, mover.queue()?, &region)?);
        held.push((buffer, region));
    }
    let told_before = mover.device().query().map_err(told)?.revoked;
    std::fs::write(place.path().join("remove"), "1")?;
    let told_now = mover.device().query().map_err(told)?.revoked;
    let counts = gpu.counts();
    std::fs::write("/sys/bus/pci/rescan", "1")?;
    ensure!(told_now == told_before + 2, "the context was not notified");
    let counts = counts?;
    ensure!(
        (counts.maps, counts.tables) == (0, 0),
        "something is left: {counts:?}"
    );
    end(transfers)?;
    drop(held);
    goes_on(lab, mover, &Gpu::open()?)?;
    gpu.clean()?;
    Ok("")
}

/// GPU and board are closed in either order, or by force, with transfers under way.
pub(super) fn closes(lab: &mut Lab, way: Way) -> Result<&'static str> {
    let gpu = Gpu::open()?;
    for order in 0..3 {
        let mut lab = lab.branch();
        let (ours, theirs) = process::pair()?;
        let child = process::fork("close_orders", move || {
            let gpu = Gpu::open()?;
            let mut mover = Mover::fast_with_all(&lab)?;
            let buffer = gpu.buffer(2 * MIB, 0, 2, None)?;
            let region = registered(mover.device(), &buffer, way)?;
            start(&mut lab, mover.queue()?, &region)?;
            theirs.signal()?;
            match order {
                0 => {
                    drop((buffer, gpu));
                    drop((region, mover));
                }
                1 => {
                    drop((region, mover));
                    drop((buffer, gpu));
                }
                _ => loop {
                    std::thread::sleep(LIMIT);
                },
            }
            Ok(())
        })?;
        ours.wait()?;
        if order < 2 {
            child.wait()?
        } else {
            child.kill()?
        }
    }
    gpu.clean()?;
    Ok("")
}
