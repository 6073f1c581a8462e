//! Tests of the OpenCL side of the board: one context has it, it does not reach the driver's own registers, and the
//! other contexts continue independent of events that happen to its holder.

mod held_up;
mod hotplug;
mod left;
mod programmed;
mod words;

use crate::faults::reset;
use crate::lab::{LIMIT, Lab, told};
use crate::opencl_side::{holder, take};
use crate::process::{fork, pair};
use crate::raw;
use crate::suite::{Suite, skip};
use crate::worker::Worker;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::uapi::{self, access_flags, area, map, opencl};
use peerlane_guest::Fault;
use peerlane_host::{Area, Device, Error, Memory, OpenCl};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::Signal;
use std::time::Duration;

/// A mebibyte.
const MIB: u64 = 1 << 20;

/// Bytes of the interface to the kernels.
const BYTES: usize = 16 << 10;
/// Its registers: the version, the segment of the kernels' registers that its window shows, and the kernels' reset.
pub const VERSION: u64 = 0x000;
const SEGMENT: u64 = 0x020;
/// Values that `VERSION` can read as (open OpenCL runtime, `acl_kernel_if.cpp`).
pub const VERSIONS: [u32; 2] = [0xa0c0_0001, 0xa0c0_0002];

use held_up::Reset;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("opencl.one_holder", || one_holder(lab));
    suite.run("opencl.registers", || registers(lab));
    suite.run("opencl.bounds", || bounds(lab));
    suite.run("opencl.mapping", || mapping(lab));
    suite.run("opencl.kernels", || kernels(lab));
    suite.run("opencl.kernels_beside_causes", || {
        kernels_beside_causes(lab)
    });
    suite.run("opencl.memory_stays", || memory_stays(lab));
    suite.run("opencl.killed_holder", || killed_holder(lab));
    left::run(suite, lab);
    suite.run("opencl.reset", || through_a_reset(lab));
    suite.run("opencl.reprogrammed_under_load", || {
        programmed::reprogrammed(lab)
    });
    suite.run("opencl.reprogrammer_killed", || {
        programmed::reprogrammer_killed(lab)
    });
    suite.run("opencl.reset_while_reprogrammed", || {
        programmed::reset_while_reprogrammed(lab)
    });
    suite.run("opencl.link_off_while_reprogrammed", || {
        programmed::link_off(lab)
    });
    suite.run("opencl.reports_while_reprogrammed", || {
        programmed::reports(lab)
    });
    suite.run("opencl.resets", || words::resets(lab));
    suite.run("opencl.calibration", || words::calibration(lab));
    suite.run("opencl.gone", || held_up::gone(lab));
    suite.run("opencl.silence_is_counted", || {
        held_up::silence_is_counted(lab)
    });
    suite.run("opencl.held_up", || held_up::held_up(lab, Reset::Nothing));
    // It leaves the kernels without a clock, so it is the last.
    suite.run("opencl.every_word", || words::every_word(lab));
}

/// Runs the tests of a board whose fabric is reset with the function.
pub fn run_fabric(suite: &mut Suite, lab: &mut Lab) {
    suite.run("opencl.held_up_fabric", || {
        held_up::held_up(lab, Reset::Helps)
    });
}

/// Runs the test of a slot for hot-plugging. The board is gone afterwards.
pub fn run_hotplug(suite: &mut Suite, lab: &mut Lab) {
    suite.run("opencl.events_of_the_slot", || {
        hotplug::events_of_the_slot(lab)
    });
}

/// Calls the ioctl directly, without the library.
pub(crate) fn call_take(device: &Device, flags: u32) -> Result<(), Errno> {
    let mut argument = uapi::OpenCl {
        flags,
        fd: -1,
        ..Default::default()
    };
    raw::with(device, uapi::OPENCL, &mut argument)
}

fn refused(device: &Device, error: Errno) -> Result<()> {
    match device.open_cl() {
        Err(Error::OpenCl { source }) if source == error => Ok(()),
        other => bail!("the OpenCL side gave {other:?}, not {error}"),
    }
}

pub fn dword(side: &dyn OpenCl, area: Area, offset: u64) -> Result<u32> {
    let mut bytes = [0; 4];
    side.read(area, offset, &mut bytes).map_err(told)?;
    Ok(u32::from_le_bytes(bytes))
}

fn one_holder(lab: &mut Lab) -> Result<&'static str> {
    let poor = lab.open()?;
    lab.place(&poor)?;
    refused(&poor, Errno::PERM).context("without all memory")?;
    let rich = holder(lab)?;
    let side = take(&rich)?;
    refused(&poor, Errno::BUSY).context("while another has it")?;
    refused(&rich, Errno::EXIST).context("twice")?;
    ensure!(call_take(&poor, opencl::RELEASE) == Err(Errno::NOENT));
    ensure!(call_take(&rich, 2) == Err(Errno::INVAL));
    let mut argument = uapi::OpenCl {
        fd: 1 << 20,
        ..Default::default()
    };
    ensure!(raw::with(&poor, uapi::OPENCL, &mut argument) == Err(Errno::BADF));
    // A context that does not hold the side can neither arm it nor release it.
    ensure!(raw::with(&poor, uapi::ARM, &mut uapi::Arm::default()) == Err(Errno::PERM));
    drop(side);
    ensure!(call_take(&rich, opencl::RELEASE) == Err(Errno::NOENT));
    drop(take(&rich)?);
    Ok("")
}

fn registers(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let side = &*side;
    ensure!(side.bytes(Area::Kernels) == BYTES as u64);
    let version = dword(side, Area::Kernels, VERSION)?;
    ensure!(VERSIONS.contains(&version), "version {version:#x}");
    let mut whole = vec![0; BYTES];
    side.read(Area::Kernels, 0, &mut whole).map_err(told)?;
    ensure!(whole[..4] == version.to_le_bytes());
    // Single bytes of a register can be written alone.
    let write = |offset, bytes: &[u8]| side.write(Area::Kernels, offset, bytes).map_err(told);
    write(SEGMENT, &0x1234_5000_u32.to_le_bytes())?;
    write(SEGMENT + 1, &[0x70])?;
    write(SEGMENT + 2, &[0x89, 0x07])?;
    let segment = dword(side, Area::Kernels, SEGMENT)?;
    ensure!(segment == 0x0789_7000, "segment {segment:#x}");
    write(SEGMENT, &[0; 4])?;
    // The values of parts of the register.
    let mut parts = [0; 3];
    side.read(Area::Kernels, VERSION + 1, &mut parts)
        .map_err(told)?;
    ensure!(parts == version.to_le_bytes()[1..]);
    ensure!(side.bytes(Area::Clock) >= 0x400);
    dword(side, Area::Clock, 0)?;
    Ok("")
}

fn bounds(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let memory = Memory::new(8192).map_err(told)?;
    let access = |area, flags, offset, address, length| {
        let mut argument = uapi::Access {
            area,
            flags,
            offset,
            address,
            length,
            reserved: 0,
        };
        raw::with(&device, uapi::ACCESS, &mut argument)
    };
    let read = |area, offset, length| access(area, 0, offset, memory.address(), length);
    ensure!(read(area::KERNELS, 0, 4) == Err(Errno::PERM), "without it");
    let side = take(&device)?;
    ensure!(read(area::KERNELS, 0, 4096) == Ok(()));
    let areas = [
        area::KERNELS,
        area::CLOCK,
        area::VERSION,
        area::TEMPERATURE,
        area::STATUS,
    ];
    for area in areas {
        let bytes = side.bytes(Area::ALL[area as usize]);
        for (offset, length) in [
            (bytes, 1),
            (bytes.wrapping_sub(1), 2),
            (u64::MAX, 1),
            (u64::MAX - 3, 8),
            (0, 0),
            (0, 4097),
            (0, u32::MAX),
        ] {
            let error = read(area, offset, length);
            ensure!(
                error == Err(Errno::INVAL),
                "{area}: {offset:#x} + {length}: {error:?}"
            );
        }
    }
    let wrong = |area, flags| access(area, flags, 0, memory.address(), 4);
    ensure!(wrong(5, 0) == Err(Errno::INVAL));
    ensure!(wrong(area::KERNELS, 2) == Err(Errno::INVAL));
    for only_read in [area::VERSION, area::TEMPERATURE, area::STATUS] {
        ensure!(wrong(only_read, access_flags::WRITE) == Err(Errno::INVAL));
    }
    for flags in [0, access_flags::WRITE] {
        ensure!(access(area::KERNELS, flags, SEGMENT, 16, 4) == Err(Errno::FAULT));
    }
    let kernel = access(area::KERNELS, 0, 0, 0xffff_8000_0000_0000, 4);
    ensure!(kernel == Err(Errno::FAULT));
    let odd = uapi::Access {
        length: 4,
        reserved: 1,
        address: memory.address(),
        ..Default::default()
    };
    ensure!(raw::with(&device, uapi::ACCESS, &mut { odd }) == Err(Errno::INVAL));
    Ok("")
}

/// A mapping of the interface to the kernels, without its control registers.
struct Pages(*mut u32);

/// Offset of the mapping, its bytes, and offsets of registers of the interface that are in it: the first of the window
/// into the kernels' registers, and the text that describes them.
const FIRST: u64 = 0x1000;
const MAPPED: usize = BYTES - FIRST as usize;
const WINDOW: u64 = 0x1000;
const TEXT: u64 = 0x2000;

impl Pages {
    fn new(device: &Device) -> Result<Self, Errno> {
        Self::of(device, map::KERNELS + FIRST, MAPPED)
    }

    fn of(device: &Device, offset: u64, bytes: usize) -> Result<Self, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let none = std::ptr::null_mut();
        let file = raw::fd(device);
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base =
            unsafe { rustix::mm::mmap(none, bytes, protection, MapFlags::SHARED, file, offset)? };
        Ok(Self(base.cast()))
    }

    fn word(&self, offset: u64) -> *mut u32 {
        self.0.wrapping_add((offset - FIRST) as usize % MAPPED / 4)
    }

    fn load(&self, offset: u64) -> u32 {
        // SAFETY: a word of the mapping.
        unsafe { self.word(offset).read_volatile() }
    }

    fn store(&self, offset: u64, value: u32) {
        // SAFETY: as above.
        unsafe { self.word(offset).write_volatile(value) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        let _ = unsafe { rustix::mm::munmap(self.0.cast(), MAPPED) };
    }
}

fn mapping(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let refused = |device, offset, bytes| Pages::of(device, offset, bytes).err();
    let pages = map::KERNELS + FIRST;
    ensure!(
        refused(&device, pages, MAPPED) == Some(Errno::PERM),
        "without it"
    );
    let side = take(&device)?;
    for (offset, bytes) in [
        (map::KERNELS, BYTES),
        (map::KERNELS, 4096),
        (pages, MAPPED + 1),
        (map::KERNELS + BYTES as u64, 4096),
        (pages + 4096, MAPPED),
    ] {
        ensure!(
            refused(&device, offset, bytes) == Some(Errno::INVAL),
            "{offset:#x}, {bytes}"
        );
    }
    let text = dword(&*side, Area::Kernels, TEXT)?;
    ensure!(text != 0 && text != u32::MAX);
    let pages = Pages::new(&device)?;
    ensure!(pages.load(TEXT) == text);
    side.write(Area::Kernels, SEGMENT, &COPY_SEGMENT.to_le_bytes())
        .map_err(told)?;
    pages.store(COPY_ITEMS, 7);
    ensure!(dword(&*side, Area::Kernels, COPY_ITEMS)? == 7);
    let other = lab.open()?;
    let another = refused(&other, map::KERNELS + FIRST, MAPPED);
    ensure!(another == Some(Errno::PERM), "another's");
    drop(side);
    ensure!(pages.load(TEXT) == 0, "released, and still there");
    pages.store(COPY_ITEMS, 9);
    let side = take(&device)?;
    ensure!(pages.load(TEXT) == text, "had again");
    let items = dword(&*side, Area::Kernels, COPY_ITEMS)?;
    ensure!(items == 7, "a store that was lost arrived: {items}");
    Ok("")
}

/// The kernel that copies words of FPGA memory: the segment of its registers, and the offsets of its registers in the
/// interface (interface of version 5: start, work items, two addresses, finished).
const COPY_SEGMENT: u32 = 0x1000;
const COPY: u64 = WINDOW + 0x100;
const COPY_START: u64 = COPY + 0x08;
pub const COPY_FINISHED: u64 = COPY + 0x30;
const COPY_ITEMS: u64 = COPY + 0x40;
const COPY_FROM: u64 = COPY + 0x80;
const COPY_TO: u64 = COPY + 0x88;

/// Starts the copying of `items` words.
pub fn start_copy(side: &dyn OpenCl, items: u32, from: u64, to: u64) -> Result<()> {
    let write = |offset, bytes: &[u8]| side.write(Area::Kernels, offset, bytes).map_err(told);
    write(SEGMENT, &COPY_SEGMENT.to_le_bytes())?;
    write(COPY_ITEMS, &items.to_le_bytes())?;
    write(COPY_FROM, &from.to_le_bytes())?;
    write(COPY_TO, &to.to_le_bytes())?;
    write(COPY_START, &1_u32.to_le_bytes())
}

/// Checks that a kernel works on FPGA memory and interrupts once for each time that a thread waits for it, while
/// transfers of other processes interrupt, too.
fn kernels(lab: &mut Lab) -> Result<&'static str> {
    const WORDS: u32 = 1000;
    let device = holder(lab)?;
    let side = take(&device)?;
    let mut worker = Worker::start(lab, false)?;
    worker.progress()?;
    let moment = Some(Duration::from_millis(50));
    for round in 0..20_u64 {
        let (from, to) = (MIB, 2 * MIB + round * 8192);
        let length = u64::from(WORDS) * 4;
        lab.host.fpga_write(from, round, length)?;
        start_copy(&*side, WORDS, from, to)?;
        if round % 2 == 0 {
            // The interrupt is pending before a thread waits for it.
            ensure!(
                !side.wait(moment).map_err(told)?,
                "the interrupt is not armed"
            );
        }
        side.arm().map_err(told)?;
        ensure!(side.wait(Some(LIMIT)).map_err(told)?, "round {round}");
        lab.host.fpga_check(to, round, length)?;
        // The interrupt stays pending, and is not reported again.
        ensure!(!side.wait(moment).map_err(told)?);
        let finished = dword(&*side, Area::Kernels, COPY_FINISHED)?;
        ensure!(finished == 1, "{finished} finished");
    }
    worker.progress()?;
    worker.stop()?;
    Ok("")
}

/// The block's interrupt line is asserted whenever the kernels' line rises, so the hard IP sends no message for the
/// kernels. Checks that neither a thread that waits for kernels, nor afterwards one that waits for a transfer, is
/// missed.
fn kernels_beside_causes(lab: &mut Lab) -> Result<String> {
    const SOON: Duration = Duration::from_secs(20);
    const ROUNDS: u64 = 30;
    let device = holder(lab)?;
    if device.capabilities().msix {
        return skip("this build has no interrupt line");
    }
    let side = take(&device)?;
    let ringer = lab.open()?;
    // The context never asked for its generation, so all its doorbells are refused.
    let _page = crate::faults::away::Page::new(&ringer)?;
    let channel = ringer.info().channel;
    lab.host.fault(Fault::RingWithoutEnd { channel })?;
    for round in 0..ROUNDS {
        side.arm().map_err(told)?;
        start_copy(&*side, 1000, MIB, 2 * MIB)?;
        let came = side.wait(Some(SOON)).map_err(told)?;
        ensure!(came, "round {round}: no event came");
        let finished = dword(&*side, Area::Kernels, COPY_FINISHED)?;
        ensure!(finished == 1, "round {round}: {finished} finished");
    }
    lab.host.fault(Fault::Clear {})?;
    let mut worker = Worker::start(lab, true)?;
    worker.progress()?;
    let trips = worker.stop()?;
    Ok(format!("{ROUNDS} kernels, {trips} round trips"))
}

/// Checks that memory that kernels may access is not freed before they are stopped.
fn memory_stays(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let free = |device: &Device| raw::with(device, uapi::FREE, &mut uapi::Free::default());
    ensure!(free(&device) == Err(Errno::BUSY));
    drop(side);
    ensure!(free(&device) == Ok(()));
    refused(&device, Errno::PERM)?;
    Ok("")
}

fn killed_holder(lab: &mut Lab) -> Result<&'static str> {
    let (ours, theirs) = pair()?;
    let child_lab = lab.branch();
    let mut child = fork("holder", || {
        let device = holder(&child_lab)?;
        let side = take(&device)?;
        let pages = Pages::new(&device)?;
        side.write(Area::Kernels, SEGMENT, &[0, 0x10, 0, 0])
            .map_err(told)?;
        theirs.signal()?;
        loop {
            pages.load(TEXT);
        }
    })?;
    ours.wait()?;
    let poor = lab.open()?;
    lab.place_of(&poor, 64 << 10)?;
    refused(&poor, Errno::BUSY)?;
    child.signal(Signal::KILL)?;
    ensure!(child.wait_for(LIMIT)?.is_some());
    let device = holder(lab)?;
    take(&device)?;
    Ok("")
}

/// Checks that a reset of the function takes the OpenCL side away only for its duration, and that the holder stays the
/// same.
fn through_a_reset(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let pages = Pages::new(&device)?;
    let text = pages.load(TEXT);
    side.arm().map_err(told)?;
    reset()?;
    // A thread that waits for kernels wakes up and looks at them.
    ensure!(side.wait(Some(LIMIT)).map_err(told)?);
    ensure!(VERSIONS.contains(&dword(&*side, Area::Kernels, VERSION)?));
    ensure!(pages.load(TEXT) == text);
    let other = lab.open()?;
    lab.place_of(&other, 64 << 10)?;
    refused(&other, Errno::BUSY)?;
    Ok("")
}
