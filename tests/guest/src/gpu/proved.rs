//! Tests of the rule that the board only reads from GPUs that have answered before.

use super::{Carrier, Name, Way, refused, with_gpu};
use crate::fakegpu::GRANULE;
use crate::faults;
use crate::lab::{Buffer, LIMIT, Lab, Mover, pci_device, told};
use crate::raw;
use crate::suite::skip;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::fault::Fault as End;
use peerlane_core::uapi::{self, access, provider, register};
use peerlane_guest::{Answer, Fault};
use peerlane_host::{Device, Direction, Error, Permissions, Terms};
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const SIZE: usize = 5 * GRANULE;

/// Returns the file with the driver's knowledge of peers.
fn peers() -> Result<PathBuf> {
    Ok(pci_device()?.join("peerlane/peers"))
}

fn seen() -> Result<String> {
    let path = peers()?;
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn forget() -> Result<()> {
    std::fs::write(peers()?, "forget")?;
    let left = seen()?;
    ensure!(left.is_empty(), "{left:?} is not removed");
    Ok(())
}

/// Registers memory for both directions if the board is known to read it.
fn known(device: &Device, name: &Name) -> Result<Option<u32>> {
    let (provider, fd, address, identity) = match name {
        Name::DmaBuf(fd) => (provider::DMABUF, fd.as_raw_fd(), 0, 0),
        Name::Nvidia { address, id } => (provider::NVIDIA, -1, *address, *id),
    };
    let mut argument = uapi::Register {
        provider,
        access: access::READ | access::WRITE,
        address,
        length: SIZE as u64,
        identity,
        fd,
        flags: register::PROVED_ONLY,
        ..Default::default()
    };
    match raw::with(device, uapi::REGISTER, &mut argument) {
        Ok(()) => Ok(Some(argument.handle)),
        Err(Errno::XDEV) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Waits until the board has been reset once more than `resets` times. Returns the time.
fn until_reset(device: &Device, resets: u64) -> Result<Duration> {
    let begin = Instant::now();
    while device.query().map_err(told)?.resets == resets {
        ensure!(begin.elapsed() < LIMIT, "reads stay down");
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(begin.elapsed())
}

/// Checks that ends of a write that are not whole units are refused for a GPU, unless the program says how to write
/// them.
pub(super) fn ends(lab: &mut Lab, way: Way) -> Result<&'static str> {
    let device = lab.open()?;
    if device.capabilities().write_granularity == 1 {
        return skip("the board writes single bytes");
    }
    with_gpu(|gpu| {
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let region = Name::of(&buffer, way)?
            .register(&device, 0, SIZE)
            .map_err(told)?;
        let place = lab.place(&device)?;
        for (offset, length, whole) in [(4, 8, true), (4, 7, false), (6, 8, false)] {
            let terms = Terms::default();
            match device.submit(
                Direction::FromFpga,
                region.part(offset..offset + length),
                place,
                terms,
            ) {
                Ok(submitted) if whole => {
                    submitted.wait(Some(LIMIT)).map_err(told)?;
                }
                Err(Error::Granularity { .. }) if !whole => {}
                other => bail!("{length} bytes at {offset}: {other:?}"),
            }
        }
        region.forget().map_err(told)?;
        Ok("")
    })
}

/// Checks that memory of a GPU is written, but not read until the GPU was seen to answer. A GPU that does not answer is
/// not asked again until the administrator allows it.
pub(super) fn silent(lab: &mut Lab, way: Way) -> Result<String> {
    let other = lab.open()?;
    if !other.has(uapi::feature::PROVED_PEERS) {
        return skip("reads of this board end one by one");
    }
    let took = with_gpu(|gpu| {
        forget()?;
        let mover = Mover::fast(lab)?;
        let device = mover.device().clone();
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let name = Name::of(&buffer, way)?;
        let place = lab.place(&device)?;
        let before = lab.host.counters()?.bytes_read;
        ensure!(known(&device, &name)?.is_none(), "a read is permitted");
        let written = name
            .register_for(&device, 0, SIZE, Permissions::Write)
            .map_err(told)?;
        let mut mover = mover;
        let seed = 77;
        lab.host.fpga_write(place, seed, SIZE as u64)?;
        mover.transfer(Direction::FromFpga, &written, 0, place, SIZE)?;
        written.flush().map_err(told)?;
        written.forget().map_err(told)?;
        let mut expected = vec![0; SIZE];
        peerlane_guest::pattern(seed, &mut expected);
        let mut found = vec![0; SIZE];
        buffer.read(0, &mut found)?;
        ensure!(found == expected, "the GPU has other data");
        let read = lab.host.counters()?.bytes_read - before;
        ensure!(read == 0, "the board has read {read} bytes");

        let resets = other.query().map_err(told)?.resets;
        lab.host.fault(Fault::Reads {
            answer: Answer::Never {},
            skip: 0,
            times: 1,
        })?;
        let errno = refused(name.register(&device, 0, SIZE))?;
        lab.host.fault(Fault::Clear {})?;
        ensure!(errno == Errno::XDEV, "a GPU without answers: {errno}");
        let line = seen()?;
        ensure!(line.ends_with(" silent\n"), "{line:?}");
        let took = until_reset(&other, resets)?;
        drop(mover);
        faults::come_back_anew(lab)?;
        let mover = Mover::fast(lab)?;
        let device = mover.device().clone();
        let resets = other.query().map_err(told)?.resets;
        let errno = refused(name.register(&device, 0, SIZE))?;
        ensure!(errno == Errno::XDEV, "once more: {errno}");
        std::thread::sleep(Duration::from_secs(2));
        ensure!(
            other.query().map_err(told)?.resets == resets,
            "it was asked again"
        );

        forget()?;
        let mut carrier = Carrier::new(lab, mover)?;
        let region = name.register(&device, 0, SIZE).map_err(told)?;
        let line = seen()?;
        ensure!(line.ends_with(" answers\n"), "{line:?}");
        carrier.carry(&buffer, &region, 0, 0, SIZE)?;
        region.forget().map_err(told)?;
        let handle = known(&device, &name)?.context("a device with a known answer is refused")?;
        let mut argument = uapi::Unregister { handle, flags: 0 };
        raw::with(&device, uapi::UNREGISTER, &mut argument)?;
        Ok(took)
    })?;
    Ok(format!("reset after {took:?}"))
}

/// The flush read of a write is lost, and the proof of a GPU begins after it. Checks that the missing answer to the
/// proof's read is not held against the GPU, which is asked again.
pub(super) fn behind_a_lost_flush(lab: &mut Lab, way: Way) -> Result<&'static str> {
    if !lab.open()?.has(uapi::feature::PROVED_PEERS) {
        return skip("reads of this board end one by one");
    }
    with_gpu(|gpu| {
        forget()?;
        let device = lab.open()?;
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let name = Name::of(&buffer, way)?;
        let host = Buffer::new(&device, 4096)?;
        let place = lab.place(&device)?;
        let resets = device.query().map_err(told)?.resets;
        lab.host.fault(Fault::Reads {
            answer: Answer::Never {},
            skip: 0,
            times: 1,
        })?;
        let terms = Terms::default();
        let write = device
            .submit(Direction::FromFpga, host.region.part(0..4096), place, terms)
            .map_err(told)?;
        // The proof may end in any way.
        let proof = refused(name.register(&device, 0, SIZE))?;
        let line = seen()?;
        ensure!(line.is_empty(), "{line:?} after {proof}");
        ensure!(write.wait(Some(LIMIT)).is_err(), "the flush was answered");
        lab.host.fault(Fault::Clear {})?;
        until_reset(&device, resets)?;
        drop((host, device));
        faults::come_back_anew(lab)?;
        let device = lab.open()?;
        let region = name.register(&device, 0, SIZE).map_err(told)?;
        let line = seen()?;
        ensure!(line.ends_with(" answers\n"), "{line:?}");
        region.forget().map_err(told)
    })?;
    Ok("")
}

/// Checks that no GPU counts as one that answers after reads were lost, whichever peer lost them. Registered regions
/// come back for writing only.
pub(super) fn doubted(lab: &mut Lab, way: Way) -> Result<&'static str> {
    if !lab.open()?.has(uapi::feature::PROVED_PEERS) {
        return skip("reads of this board end one by one");
    }
    with_gpu(|gpu| {
        forget()?;
        let mut mover = Mover::slow(lab)?;
        let device = mover.device().clone();
        let buffer = gpu.buffer(SIZE, 0, 2, None)?;
        let name = Name::of(&buffer, way)?;
        let region = name.register(&device, 0, SIZE).map_err(told)?;
        let line = seen()?;
        ensure!(line.ends_with(" answers\n"), "{line:?}");
        let host = Buffer::new(&device, 4096)?;
        let place = lab.place(&device)?;
        let resets = device.query().map_err(told)?.resets;
        lab.host.fault(Fault::Reads {
            answer: Answer::Never {},
            skip: 0,
            times: 1,
        })?;
        let ended = mover.attempt(Direction::ToFpga, &host.region, 0, place, 4096, LIMIT);
        lab.host.fault(Fault::Clear {})?;
        ensure!(ended.is_err(), "an unanswered read has ended well");
        let begin = Instant::now();
        until_reset(&device, resets)?;
        let line = seen()?;
        ensure!(line.is_empty(), "{line:?} is known still");
        let read = loop {
            match mover.attempt(Direction::ToFpga, &region, 0, place, 4096, LIMIT) {
                Err(Error::Fault { fault, .. }) => break fault,
                Err(error) => ensure!(begin.elapsed() < LIMIT, "{error}"),
                Ok(_) => bail!("the GPU is read"),
            }
        };
        ensure!(read == End::AttPermission, "the GPU is not read: {read:?}");
        mover.transfer(Direction::FromFpga, &region, 0, place, SIZE)?;
        region.forget().map_err(told)?;
        ensure!(known(&device, &name)?.is_none(), "a read is permitted");
        let region = name.register(&device, 0, SIZE).map_err(told)?;
        mover.transfer(Direction::ToFpga, &region, 0, place, SIZE)
    })?;
    Ok("")
}
