//! Tests of GPU memory, by dma-buf and by NVIDIA's interface, also when its owner takes it back.

mod odd;
mod proved;
mod refused;
mod sizes;
mod taken;

use crate::fakegpu::{GRANULE, Gpu, GpuBuffer};
use crate::faults::{self, away};
use crate::lab::{Buffer, LIMIT, Lab, Mover, exports_bars, pci_device, same, told};
use crate::process;
use crate::suite::{Suite, skip};
use crate::worker::{Count, is_expected};
use anyhow::{Context, Result, bail, ensure};
use peerlane_guest::pattern;
use peerlane_host::{Device, Direction, Error, Permissions, Region};
use rand::{Rng, RngCore};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// Bytes of each guard.
const GUARD: usize = 128;

/// Interface by which the driver gets the memory.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// A dma-buf that can be pinned, like those of graphics drivers.
    DmaBuf,
    /// A dma-buf that cannot be pinned, like vfio-pci's.
    Unpinned,
    /// `nvidia_p2p_get_pages`.
    Nvidia,
}

const WAYS: [(&str, Way); 3] = [
    ("dmabuf", Way::DmaBuf),
    ("unpinned", Way::Unpinned),
    ("nvidia", Way::Nvidia),
];

/// Returns the interfaces that the kernel has.
fn ways() -> impl Iterator<Item = (&'static str, Way)> {
    let exports = exports_bars();
    let has = move |way: &Way| !matches!(way, Way::Unpinned) || exports;
    if !exports {
        println!("skipped: gpu.unpinned: this kernel has no such exporter");
    }
    WAYS.into_iter().filter(move |(_, way)| has(way))
}

/// Returns those of them that are dma-bufs.
fn dmabufs() -> impl Iterator<Item = Way> {
    ways()
        .map(|(_, way)| way)
        .filter(|way| !matches!(way, Way::Nvidia))
}

/// A name of a buffer for the driver, also valid when the buffer is gone.
#[derive(Debug)]
enum Name {
    DmaBuf(OwnedFd),
    Nvidia { address: u64, id: u64 },
}

impl Name {
    fn of(buffer: &GpuBuffer, way: Way) -> Result<Self> {
        Ok(match way {
            Way::DmaBuf => Self::DmaBuf(buffer.dmabuf(true)?),
            Way::Unpinned => Self::DmaBuf(buffer.dmabuf(false)?),
            Way::Nvidia => Self::Nvidia {
                address: buffer.address(),
                id: buffer.id(),
            },
        })
    }

    /// Registers a part of the buffer.
    fn register(
        &self,
        device: &Device,
        offset: usize,
        length: usize,
    ) -> peerlane_host::Result<Region> {
        self.register_for(device, offset, length, Permissions::ReadWrite)
    }

    /// Registers a part of the buffer with these permissions.
    fn register_for(
        &self,
        device: &Device,
        offset: usize,
        length: usize,
        permissions: Permissions,
    ) -> peerlane_host::Result<Region> {
        let (offset, length) = (offset as u64, length as u64);
        match self {
            Self::DmaBuf(fd) => device.register_dmabuf(fd, offset, length, permissions),
            Self::Nvidia { address, id } => {
                // SAFETY: the memory is the fake GPU's, which the process has no reference to.
                unsafe { device.register_nvidia(address + offset, length, *id, permissions) }
            }
        }
    }
}

/// Registers all of a buffer.
fn registered(device: &Device, buffer: &GpuBuffer, way: Way) -> Result<Region> {
    let region = Name::of(buffer, way)?.register(device, 0, buffer.size());
    region.map_err(told)
}

/// Returns the error of a call that the driver must refuse.
fn refused<T>(result: peerlane_host::Result<T>) -> Result<Errno> {
    match result {
        Ok(_) => bail!("it was not refused"),
        Err(Error::Call { source, .. }) => Ok(source),
        Err(error) => Err(told(error)),
    }
}

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    for (name, way) in ways() {
        suite.run(&format!("gpu.{name}.data"), || data(lab, way));
        suite.run(&format!("gpu.{name}.parts"), || parts(lab, way));
        suite.run(&format!("gpu.{name}.large"), || large(lab, way));
        suite.run(&format!("gpu.{name}.flush"), || odd::flush(lab, way));
        suite.run(&format!("gpu.{name}.proved"), || proved::silent(lab, way));
        suite.run(&format!("gpu.{name}.proved_behind_a_lost_flush"), || {
            proved::behind_a_lost_flush(lab, way)
        });
        suite.run(&format!("gpu.{name}.proved_no_more"), || {
            proved::doubted(lab, way)
        });
        suite.run(&format!("gpu.{name}.ends"), || proved::ends(lab, way));
        suite.run(&format!("gpu.{name}.freed_under_dma"), || {
            taken::freed(lab, way)
        });
        suite.run(&format!("gpu.{name}.freed_any_time"), || {
            taken::any_time(lab, way)
        });
        suite.run(&format!("gpu.{name}.close_orders"), || {
            taken::closes(lab, way)
        });
        suite.run(&format!("gpu.{name}.closed_after_the_end"), || {
            odd::closed_after_the_end(lab, way)
        });
    }
    suite.run("gpu.dmabuf.moved_under_dma", || taken::moved(lab));
    suite.run("gpu.dmabuf.moved_any_time", || taken::moved_any_time(lab));
    suite.run("gpu.dmabuf.outlives_the_buffer", || outlives(lab));
    suite.run("gpu.dmabuf.waits_for_the_fence", || fence(lab));
    suite.run("gpu.dmabuf.waits_for_long", || fence_for_long(lab));
    suite.run("gpu.dmabuf.waits_and_unbind", || fence_and_unbind(lab));
    suite.run("gpu.dmabuf.unregistered_at_starts", || {
        unregistered_at_starts(lab)
    });
    suite.run("gpu.nvidia.address_used_again", || used_again(lab));
    suite.run("gpu.nvidia.only_own", || only_own(lab));
    suite.run("gpu.nvidia.other_version", || other_version(lab));
    suite.run("gpu.dmabuf.moved_by_its_pin", || odd::moved_by_its_pin(lab));
    suite.run("gpu.dmabuf.moved_while_mapped", || {
        odd::moved_while_mapped(lab)
    });
    suite.run("gpu.dmabuf.told_again", || odd::told_again(lab));
    suite.run("gpu.dmabuf.broken_tables", || odd::broken_tables(lab));
    suite.run("gpu.dmabuf.silent_peer", || odd::silent_peer(lab));
    suite.run("gpu.dmabuf.refused_by_its_driver", || {
        refused::by_its_driver(lab)
    });
    suite.run("gpu.dmabuf.bar_is_full", || refused::bar_is_full(lab));
    suite.run("gpu.dmabuf.stray_addresses", || {
        refused::stray_addresses(lab)
    });
    suite.run("gpu.dmabuf.read_only", || refused::read_only(lab));
    suite.run("gpu.dmabuf.without_a_name", || refused::without_a_name(lab));
    suite.run("gpu.nvidia.put_fails", || odd::put_fails(lab));
    suite.run("gpu.nvidia.unbound_by_another", || {
        odd::unbound_by_another(lab)
    });
    suite.run("gpu.nvidia.kept_under_pressure", || {
        odd::kept_under_pressure(lab)
    });
    suite.run("gpu.nvidia.let_go_by_another", || {
        odd::let_go_by_another(lab)
    });
    suite.run("gpu.removed", || taken::removed(lab));
}

/// Runs the tests that move data of all sizes. They need 512 MiB of VRAM.
pub fn run_sizes(suite: &mut Suite, lab: &mut Lab) {
    for (name, way) in [("dmabuf", Way::DmaBuf), ("nvidia", Way::Nvidia)] {
        suite.run(&format!("gpu_sizes.{name}"), || sizes::all(lab, way));
    }
}

/// Runs the tests for a machine in which the kernel does not know that the board can reach the GPU.
pub fn run_far(suite: &mut Suite, lab: &mut Lab) {
    for (name, way) in ways() {
        suite.run(&format!("gpu_far.{name}.refused"), || far(lab, way));
    }
}

/// Runs the tests for such a machine with the driver's `any_distance=1`, and a GPU whose driver exports to all
/// importers and leaves the path to them.
pub fn run_far_tried(suite: &mut Suite, lab: &mut Lab) {
    for (name, way) in ways() {
        suite.run(&format!("gpu_far.{name}.tried"), || data(lab, way));
    }
}

/// Runs the tests that need a block that becomes idle too late: with `patience_ms=1000`, and a `port_timeout` that is
/// longer.
pub fn run_stuck(suite: &mut Suite, lab: &mut Lab) {
    suite.run("gpu_stuck.many_regions", || odd::stuck(lab));
    suite.run("gpu_stuck.node_that_goes", || away::node_that_goes(lab));
    suite.run("gpu_stuck.end_is_reported_late", || {
        away::end_is_reported_late(lab)
    });
}

/// Runs a test with a GPU of its own, which must have everything back in the end.
fn with_gpu<R>(test: impl FnOnce(&Gpu) -> Result<R>) -> Result<R> {
    let gpu = Gpu::open()?;
    let result = test(&gpu)?;
    gpu.clean()?;
    Ok(result)
}

/// Returns the part of a write that the board makes by itself: only whole dwords where the board writes no partial
/// ones, because no other device writes the rest into this GPU's memory.
fn whole(device: &Device, region: &Region, bytes: Range<usize>) -> Range<usize> {
    let granularity = device.capabilities().write_granularity as usize;
    let first = region.att_address().raw() as usize % granularity;
    let start = (first + bytes.start).next_multiple_of(granularity) - first;
    let end = (first + bytes.end) / granularity * granularity;
    start..end.saturating_sub(first).max(start)
}

/// Transfers in both directions between GPU and host memory, through FPGA memory, with guards at both ends.
struct Carrier<'a> {
    lab: &'a mut Lab,
    mover: Mover,
    host: Buffer,
    place: u64,
}

impl<'a> Carrier<'a> {
    fn new(lab: &'a mut Lab, mover: Mover) -> Result<Self> {
        Ok(Self {
            host: Buffer::new(mover.device(), 2 * MIB)?,
            place: lab.place(mover.device())?,
            lab,
            mover,
        })
    }

    fn random(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        pattern(self.lab.rng.next_u64(), &mut bytes);
        bytes
    }

    /// Moves data from the GPU to the host, then other data from the host to the GPU. The region begins at byte `first`
    /// of the buffer.
    fn carry(
        &mut self,
        buffer: &GpuBuffer,
        region: &Region,
        first: usize,
        offset: usize,
        length: usize,
    ) -> Result<()> {
        let at = self.lab.rng.random_range(GUARD..4096);
        let local = self.place + self.lab.rng.random_range(0..4096);
        let start = (first + offset).saturating_sub(GUARD);
        let end = (first + offset + length + GUARD).min(buffer.size());

        let bytes = self.random(length);
        buffer.write(first + offset, &bytes)?;
        let mut expected = self.random(length + 2 * GUARD);
        self.host.memory.write(at - GUARD, &expected)?;
        let mover = &mut self.mover;
        mover.transfer(Direction::ToFpga, region, offset, local, length)?;
        mover.transfer(Direction::FromFpga, &self.host.region, at, local, length)?;
        expected[GUARD..GUARD + length].copy_from_slice(&bytes);
        let mut found = vec![0; expected.len()];
        self.host.memory.read(at - GUARD, &mut found)?;
        same(&expected, &found, at - GUARD).context("from the GPU")?;

        let written = whole(self.mover.device(), region, offset..offset + length);
        if written.is_empty() {
            return Ok(());
        }
        let (offset, length) = (written.start, written.len());
        let inside = first + offset - start..first + offset - start + length;
        let bytes = self.random(length);
        self.host.memory.write(at, &bytes)?;
        let mut expected = self.random(end - start);
        buffer.write(start, &expected)?;
        let mover = &mut self.mover;
        mover.transfer(Direction::ToFpga, &self.host.region, at, local, length)?;
        mover.transfer(Direction::FromFpga, region, offset, local, length)?;
        expected[inside].copy_from_slice(&bytes);
        let mut found = vec![0; expected.len()];
        buffer.read(start, &mut found)?;
        same(&expected, &found, start).context("to the GPU")
    }
}

/// Checks buffers in one or several pieces, from the start of a granule or from its middle.
fn data(lab: &mut Lab, way: Way) -> Result<String> {
    with_gpu(|gpu| {
        let mut entries = Vec::new();
        for make in [Mover::slow, Mover::fast] {
            let mover = make(lab)?;
            let mut carrier = Carrier::new(lab, mover)?;
            for (offset, pieces) in [(0, 1), (0, 3), (0x3000, 1), (0xf000, 4)] {
                let size = 5 * GRANULE;
                let buffer = gpu.buffer(size, offset, pieces, None)?;
                let region = registered(carrier.mover.device(), &buffer, way)?;
                entries.push(region.att_address().page_size().to_string());
                for length in [1, 64, 4097, 70_003] {
                    let offset = carrier.lab.rng.random_range(0..size - length);
                    carrier.carry(&buffer, &region, 0, offset, length)?;
                }
                carrier.carry(&buffer, &region, 0, 0, size)?;
                region.forget().map_err(told)?;
            }
        }
        entries.dedup();
        Ok(format!("pages of {}", entries.join(", ")))
    })
}

/// Checks regions that begin and end anywhere in a buffer. Regions of two buffers that share a page of the GPU's must
/// not be mistaken for one another.
fn parts(lab: &mut Lab, way: Way) -> Result<&'static str> {
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        let buffer = gpu.buffer(MIB, 0x1000, 3, None)?;
        for _ in 0..10 {
            let length = carrier.lab.rng.random_range(1..100_000);
            let first = carrier.lab.rng.random_range(0..MIB - length);
            let name = Name::of(&buffer, way)?;
            let region = name.register(carrier.mover.device(), first, length);
            carrier.carry(&buffer, &region.map_err(told)?, first, 0, length)?;
        }
        Ok("")
    })
}

/// Checks a buffer that needs large pages to fit into the board's table.
fn large(lab: &mut Lab, way: Way) -> Result<String> {
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        let buffer = gpu.buffer(24 * MIB, 0, 1, None)?;
        let region = registered(carrier.mover.device(), &buffer, way)?;
        for offset in [0, 10 * MIB - 333, buffer.size() - 9000] {
            carrier.carry(&buffer, &region, 0, offset, 9000)?;
        }
        Ok(format!("pages of {}", region.att_address().page_size()))
    })
}

/// Checks that a freed buffer lives on in its dma-buf, and after that as long as it is registered.
fn outlives(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let device = mover.device().clone();
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let region = registered(&device, &buffer, Way::DmaBuf)?;
        let pieces = buffer.pieces()?;
        drop(buffer);
        ensure!(gpu.counts()?.maps == 1, "the board has lost the memory");
        let carrier = Carrier::new(lab, mover)?;
        let (mut mover, place) = (carrier.mover, carrier.place);
        mover.transfer(Direction::FromFpga, &region, 0, place, MIB)?;
        region.forget().map_err(told)?;
        // The last reference frees it.
        gpu.is_poisoned(&pieces)?;
        Ok("")
    })
}

/// Checks that memory that the GPU still works on is not registered before the GPU is done.
fn fence(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let time = Duration::from_millis(300);
        let begin = Instant::now();
        buffer.fence(time)?;
        registered(&device, &buffer, Way::DmaBuf)?;
        let waited = begin.elapsed();
        // The kernel's clock is coarse.
        ensure!(
            waited > time - Duration::from_millis(50),
            "waited {waited:?} only"
        );
        Ok(format!("{waited:?}"))
    })
}

/// Checks that a process that waits for the GPU's work does not keep other processes from the memory, and that a signal
/// ends the wait.
fn fence_for_long(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let long = Duration::from_secs(9);
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let branch = lab.branch();
        let (ours, theirs) = process::pair()?;
        let child = process::fork("registerer", move || {
            let device = branch.open()?;
            theirs.signal()?;
            theirs.wait()?;
            name.register(&device, 0, MIB).map(drop).map_err(told)
        })?;
        ours.wait()?;
        let begin = Instant::now();
        buffer.fence(long)?;
        ours.signal()?;
        let mut longest = Duration::ZERO;
        while begin.elapsed() < long / 3 {
            let look = Instant::now();
            // Takes the buffer's reservation.
            buffer.pieces()?;
            longest = longest.max(look.elapsed());
            std::thread::sleep(Duration::from_millis(10));
        }
        ensure!(
            longest < long / 6,
            "{longest:?} for a look at the buffer while it is being registered"
        );
        ensure!(gpu.counts()?.maps == 1, "it is not being registered");
        child.kill()?;
        let ended = begin.elapsed();
        ensure!(ended < long * 2 / 3, "ended after {ended:?} only");
        Ok(format!("{longest:?} for a look, ended after {ended:?}"))
    })
}

/// Memory of a GPU is unregistered while the board is being started. On a port that issues no read before the board is
/// bus master, a flush would end the start. Checks that each start succeeds.
fn unregistered_at_starts(lab: &mut Lab) -> Result<String> {
    let file = pci_device()?.join("peerlane/state");
    let state = || std::fs::read_to_string(&file).unwrap_or_default();
    let hits = with_gpu(|gpu| {
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let (name, branch, count) = (Name::of(&buffer, Way::DmaBuf)?, lab.branch(), Count::new()?);
        let hits = || count.get().load(Ordering::Relaxed);
        let child = process::fork("unregisterer", || {
            let device = branch.open()?;
            loop {
                let parts = (0..16).map(|part| name.register(&device, part * MIB / 16, MIB / 16));
                // While the board is away registrations fail.
                let regions: Vec<_> = parts.flatten().collect();
                while !regions.is_empty() && state() != "starting\n" {}
                for region in regions {
                    if let Err(error) = region.forget() {
                        ensure!(is_expected(&error), "{error}");
                    }
                    count.get().fetch_add(1, Ordering::Relaxed);
                }
            }
        })?;
        let begin = Instant::now();
        let mut round = 0;
        while round < 10 * lab.rounds || hits() == 0 && begin.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(lab.rng.random_range(0..20)));
            faults::reset()?;
            let now = state();
            ensure!(now == "ready\n", "round {round}: the board is {now}");
            round += 1;
        }
        child.kill()?;
        Ok(hits())
    })?;
    let mover = Mover::fast(lab)?;
    let buffer = Buffer::new(mover.device(), 1 << 20)?;
    faults::come_back(lab, mover, buffer)?;
    if hits == 0 {
        return skip("a busy computer: the board was never seen starting");
    }
    Ok(format!("{hits} regions"))
}

/// Checks that the board can be taken away while a process waits for the GPU's work, and that it comes back.
fn fence_and_unbind(lab: &mut Lab) -> Result<String> {
    with_gpu(|gpu| {
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let long = Duration::from_secs(9);
        let name = Name::of(&buffer, Way::DmaBuf)?;
        let branch = lab.branch();
        let (ours, theirs) = process::pair()?;
        let child = process::fork("registerer", move || {
            let device = branch.open()?;
            theirs.signal()?;
            theirs.wait()?;
            match name.register(&device, 0, MIB) {
                Err(Error::Gone) => Ok(()),
                other => bail!("registering on a board that goes gave {other:?}"),
            }
        })?;
        ours.wait()?;
        let begin = Instant::now();
        buffer.fence(long)?;
        ours.signal()?;
        while gpu.counts()?.maps == 0 {
            ensure!(begin.elapsed() < long / 3, "it is not being registered");
            std::thread::sleep(Duration::from_millis(10));
        }
        faults::unbind()?;
        let ended = begin.elapsed();
        faults::bind()?;
        ensure!(ended < long * 2 / 3, "unbind ended after {ended:?} only");
        child.wait()?;
        Ok(format!("ended after {ended:?}"))
    })
}

/// Checks that a cached region is found again, but not for another buffer at the same address.
fn used_again(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let mover = Mover::fast(lab)?;
        let mut carrier = Carrier::new(lab, mover)?;
        let device = carrier.mover.device().clone();
        let mut buffer = gpu.buffer(MIB, 0x2000, 2, None)?;
        for round in 0..4 {
            let region = registered(&device, &buffer, Way::Nvidia)?;
            ensure!(
                !region.found(),
                "round {round}: the buffer before was found"
            );
            carrier.carry(&buffer, &region, 0, 0, 70_000)?;
            drop(region);
            let region = registered(&device, &buffer, Way::Nvidia)?;
            ensure!(
                region.found(),
                "round {round}: the cached region was not found"
            );
            carrier.carry(&buffer, &region, 0, 0, 70_000)?;
            drop(region);
            let address = buffer.address();
            buffer.revoke()?;
            ensure!(gpu.counts()?.tables == 0, "a page table is still there");
            // At another place in VRAM than the earlier buffer.
            let between = gpu.buffer(MIB, 0, 1, None)?;
            buffer = gpu.buffer(MIB, 0x2000, 3, Some(address))?;
            ensure!(buffer.address() == address, "another address");
            drop(between);
        }
        Ok("")
    })
}

/// Checks that a process can only register addresses of its own, and only memory that exists.
fn only_own(lab: &mut Lab) -> Result<&'static str> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        let name = Name::of(&buffer, Way::Nvidia)?;
        for (offset, length) in [(0, MIB + 1), (MIB, 1), (MIB - 1, 2)] {
            let errno = refused(name.register(&device, offset, length))?;
            ensure!(errno == Errno::INVAL, "{offset:#x}, {length:#x}: {errno}");
        }
        let lab = lab.branch();
        let child = process::fork("another process", move || {
            let device = lab.open()?;
            let errno = refused(name.register(&device, 0, 100))?;
            ensure!(errno == Errno::INVAL, "{errno}");
            Ok(())
        })?;
        child.wait()?;
        Ok("")
    })
}

/// Checks that page tables of another major version are refused, and of another minor version accepted.
fn other_version(lab: &mut Lab) -> Result<&'static str> {
    let parameter = "/sys/module/fakegpu/parameters/page_table_version";
    let usual = std::fs::read_to_string(parameter)?;
    let result = with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        std::fs::write(parameter, "0x20000")?;
        let errno = refused(Name::of(&buffer, Way::Nvidia)?.register(&device, 0, MIB))?;
        ensure!(errno == Errno::PROTO, "{errno}");
        std::fs::write(parameter, "0x10009")?;
        registered(&device, &buffer, Way::Nvidia)?;
        Ok("")
    });
    std::fs::write(parameter, usual)?;
    result
}

/// Checks that a GPU that is not known to be reachable is refused, and that nothing of its memory stays held.
fn far(lab: &mut Lab, way: Way) -> Result<&'static str> {
    with_gpu(|gpu| {
        let device = lab.open()?;
        let buffer = gpu.buffer(MIB, 0, 1, None)?;
        // The driver that exports a dma-buf is asked before the kernel is, and refuses by itself.
        let expected = match way {
            Way::DmaBuf | Way::Unpinned => Errno::HOSTUNREACH,
            Way::Nvidia => Errno::REMOTEIO,
        };
        let errno = refused(Name::of(&buffer, way)?.register(&device, 0, MIB))?;
        ensure!(errno == expected, "{errno}");
        Ok("")
    })
}
