//! Tests of memory that its own driver, or the kernel, does not let the board access: the error that is reported, and
//! that nothing stays held.

use super::odd::Parameter;
use super::{MIB, Name, Way, dmabufs, refused, registered, ways, with_gpu};
use crate::fakegpu::Access;
use crate::lab::{Lab, pci_device, told};
use crate::process::{fork, pair};
use anyhow::{Context, Result, ensure};
use peerlane_host::{Device, Permissions};
use rustix::io::Errno;
use std::path::Path;

/// `ENOTSUPP` of include/linux/errno.h: NVIDIA's driver gives it to importers.
const ENOTSUPP: i32 = 524;

/// Checks that an error of the GPU's driver on attaching or mapping is not mistaken for the end of the board, or for a
/// limit of the caller.
pub(super) fn by_its_driver(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        for (parameter, error, expected) in [
            ("attach_error", ENOTSUPP, Errno::HOSTUNREACH),
            (
                "attach_error",
                Errno::OPNOTSUPP.raw_os_error(),
                Errno::HOSTUNREACH,
            ),
            (
                "attach_error",
                Errno::BUSY.raw_os_error(),
                Errno::HOSTUNREACH,
            ),
            ("attach_error", Errno::NODEV.raw_os_error(), Errno::STALE),
            (
                "map_error",
                Errno::OPNOTSUPP.raw_os_error(),
                Errno::HOSTUNREACH,
            ),
            ("map_error", Errno::INVAL.raw_os_error(), Errno::HOSTUNREACH),
            ("map_error", Errno::NODEV.raw_os_error(), Errno::STALE),
            ("map_error", Errno::NOMEM.raw_os_error(), Errno::NOBUFS),
        ] {
            let set = Parameter::set(parameter, error)?;
            for way in dmabufs() {
                let errno = refused(Name::of(&buffer, way)?.register(&device, 0, MIB))?;
                ensure!(
                    errno == expected,
                    "{parameter}={error}, {way:?}: {errno}, not {expected}"
                );
            }
            drop(set);
            gpu.clean()?;
        }
        drop(registered(&device, &buffer, Way::DmaBuf)?);
        drop(device);
        Ok("")
    })
}

/// The GPU's BAR is full. Checks that cached regions of other processes are evicted, and that regions in use stay.
pub(super) fn bar_is_full(lab: &mut Lab) -> Result<&'static str> {
    const SIZE: usize = 6 * MIB;
    let _bar = Parameter::set("bar1_bytes", 8 * MIB)?;
    for (_, way) in ways() {
        with_gpu(|gpu| {
            let branch = lab.branch();
            let (ours, theirs) = pair()?;
            let other = fork("other", move || {
                let gpu = crate::fakegpu::Gpu::open()?;
                let (device, buffer) = (branch.open()?, gpu.buffer(SIZE, 0, 1, None)?);
                // A descriptor that is open can be registered again.
                let name = Name::of(&buffer, Way::DmaBuf)?;
                let region = name.register(&device, 0, SIZE).map_err(told)?;
                theirs.signal()?;
                theirs.wait()?;
                drop(region);
                let kept = device.query().map_err(told)?.regions[1];
                ensure!(kept == 1, "{kept} regions are kept");
                theirs.signal()?;
                theirs.wait()
            })?;
            ours.wait()?;
            let (device, buffer) = (lab.open()?, gpu.buffer(SIZE, 0, 1, None)?);
            let name = Name::of(&buffer, way)?;
            let errno = refused(name.register(&device, 0, SIZE))?;
            ensure!(errno == Errno::NOBUFS, "{way:?}: {errno}");
            ours.signal()?;
            ours.wait()?;
            let region = name.register(&device, 0, SIZE).map_err(told);
            region.with_context(|| format!("{way:?}, next to memory that another keeps"))?;
            ours.signal()?;
            other.wait()
        })?;
    }
    Ok("")
}

/// Checks that a dma-buf whose descriptors are all closed cannot be registered again: its memory is released.
pub(super) fn without_a_name(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let (device, other) = (lab.open()?, lab.open()?);
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let cached = |device: &Device| {
            let regions = device.query().map_err(told)?.regions;
            Ok::<_, anyhow::Error>(regions[1])
        };
        // Closed before the region is unregistered, and after that; in one context, and in two.
        drop(registered(&device, &buffer, Way::DmaBuf)?);
        ensure!(cached(&device)? == 0, "it is cached");
        let name = Name::of(&buffer, Way::DmaBuf)?;
        for length in [MIB, MIB / 2] {
            for device in [&device, &other] {
                drop(name.register(device, 0, length).map_err(told)?);
            }
        }
        ensure!(cached(&device)? + cached(&other)? == 4, "it is not cached");
        drop(name);
        let begin = std::time::Instant::now();
        while cached(&device)? + cached(&other)? > 0 {
            let late = begin.elapsed() > std::time::Duration::from_secs(20);
            ensure!(!late, "it is still cached");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        drop((device, other));
        gpu.clean()
    })?;
    Ok("")
}

/// Returns the first and the last byte of a line of a device's `resource`.
fn resource(device: &Path, line: usize) -> Result<(u64, u64)> {
    let text = std::fs::read_to_string(device.join("resource"))?;
    let line = text.lines().nth(line).context("no such resource")?;
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
    let mut words = line.split_whitespace();
    let mut next = || Ok::<_, anyhow::Error>(number(words.next().context("no number")?)?);
    Ok((next()?, next()?))
}

/// Checks that addresses after the end of the GPU's BAR, across its end, and in another device's BAR are refused.
pub(super) fn stray_addresses(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(MIB, 0, 2, None)?;
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let cards = std::fs::read_dir("/sys/bus/pci/drivers/fakegpu")?;
        let mut cards = cards.filter_map(|entry| Some(entry.ok()?.path()));
        let card = cards
            .find(|path| path.join("resource").exists())
            .context("no GPU")?;
        let (_, last) = resource(&card, 2)?;
        // Any BAR of the board.
        let board = pci_device()?;
        let others = (0..6).map(|line| resource(&board, line));
        let others = others.collect::<Result<Vec<_>>>()?;
        let other = others.iter().find(|(first, _)| *first != 0);
        let (other, _) = *other.context("the board has no BAR")?;
        for stray in [last + 1, last + 1 - 4096, other, 0xfff_ffff_f000] {
            let _stray = Parameter::set("stray_address", stray)?;
            let errno = refused(name.register(&device, 0, MIB));
            let errno = errno.with_context(|| format!("{stray:#x}"))?;
            ensure!(errno == Errno::PROTO, "{stray:#x}: {errno}");
        }
        registered(&device, &buffer, Way::DmaBuf).map(drop)?;
        drop(device);
        Ok("")
    })
}

/// Checks that a dma-buf whose file is open for reading only is read by the board, and not written.
pub(super) fn read_only(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let name = Name::DmaBuf(buffer.dmabuf_for(true, Access::Read)?);
        for permissions in [Permissions::Write, Permissions::ReadWrite] {
            let errno = refused(name.register_for(&device, 0, MIB, permissions))?;
            ensure!(errno == Errno::ACCESS, "{permissions:?}: {errno}");
        }
        let region = name.register_for(&device, 0, MIB, Permissions::Read);
        drop(region.map_err(told)?);
        drop(device);
        Ok("")
    })
}
