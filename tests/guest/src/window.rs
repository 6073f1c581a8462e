//! Tests of the board's window into FPGA memory: data that are stored through it arrive there and nowhere else, and one
//! context has it at a time.

mod ends;

use crate::lab::{Buffer, Lab, Mover, same, told};
use crate::process::{Child, fork, pair};
use crate::raw;
use crate::suite::Suite;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::uapi::{self, map};
use peerlane_guest::pattern;
use peerlane_host::{Device, Direction, Error, Window};
use rand::Rng;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::time::Duration;

/// Bytes of the window: `s_nondma` in the register map.
const BYTES: u64 = 64 << 10;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("window.both_ways", || both_ways(lab));
    suite.run("window.widths", || widths(lab));
    suite.run("window.outside", || outside(lab));
    suite.run("window.one_holder", || one_holder(lab));
    suite.run("window.killed_holder", || killed_holder(lab));
    suite.run("window.stale_mapping", || stale_mapping(lab));
    suite.run("window.fork", || forked(lab));
    ends::run(suite, lab);
}

/// Takes the window.
fn take(device: &Device, base: u64) -> Result<Window> {
    device.window(base).map_err(told)
}

/// Checks that another context does not get the window.
fn refused(device: &Device, base: u64, error: Errno) -> Result<()> {
    match device.window(base) {
        Err(Error::Window { source, .. }) if source == error => Ok(()),
        other => bail!("the window at {base:#x} gave {other:?}, not {error}"),
    }
}

/// A mapping of the window that stays through all changes of the window.
pub struct Mapped(*mut u64);

impl Mapped {
    /// Number of words.
    pub const WORDS: usize = BYTES as usize / 8;

    /// Maps the window, which only works in the context that holds it.
    pub fn new(device: &Device) -> Result<Self, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let (none, length) = (std::ptr::null_mut(), BYTES as usize);
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap(
                none,
                length,
                protection,
                MapFlags::SHARED,
                raw::fd(device),
                map::WINDOW,
            )?
        };
        Ok(Self(base.cast()))
    }

    fn word(&self, index: usize) -> *mut u64 {
        self.0.wrapping_add(index % Self::WORDS)
    }

    /// Stores a word. The index wraps around at the end.
    pub fn store(&self, index: usize, value: u64) {
        // SAFETY: a word of the mapping.
        unsafe { self.word(index).write_volatile(value) }
    }

    /// Loads a word. The index wraps around at the end.
    pub fn load(&self, index: usize) -> u64 {
        // SAFETY: as above.
        unsafe { self.word(index).read_volatile() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        let _ = unsafe { rustix::mm::munmap(self.0.cast(), BYTES as usize) };
    }
}

/// Returns the first word of a pattern.
fn first_word(seed: u64) -> u64 {
    let mut bytes = [0; 8];
    pattern(seed, &mut bytes);
    u64::from_le_bytes(bytes)
}

/// Checks that stored data are moved on by the board, and that data that the board brings are loaded, at each base of
/// the window. The memory around stays unchanged.
fn both_ways(lab: &mut Lab) -> Result<String> {
    const GUARD: u64 = 256;
    let mut mover = Mover::slow(lab)?;
    let device = mover.device().clone();
    let info = *device.info();
    ensure!(info.window_bytes == BYTES, "{} bytes", info.window_bytes);
    let range = device.allocate_all(0).map_err(told)?.keep();
    let place = range.start;
    let buffer = Buffer::new(&device, BYTES as usize)?;
    let mut window = take(&device, place)?;
    ensure!(window.length() as u64 == BYTES, "{} bytes", window.length());
    let mut bases = vec![place, range.end - BYTES];
    bases.extend((0..lab.rounds).map(|_| place + BYTES * lab.rng.random_range(1..1000)));
    for base in &bases {
        window.place(*base).map_err(told)?;
        let [below, above] = [(); 2].map(|()| lab.rng.random());
        let has_above = base + BYTES < range.end;
        if *base > range.start {
            lab.host.fpga_write(base - GUARD, below, GUARD)?;
        }
        if has_above {
            lab.host.fpga_write(base + BYTES, above, GUARD)?;
        }
        let random = lab.rng.random_range(1..BYTES as usize - 5000);
        for (offset, length) in [(0, 301), (BYTES as usize - 77, 77), (random, 5000)] {
            let at = base + offset as u64;
            check_window(lab, &mut mover, &buffer, &mut window, offset, length)
                .with_context(|| format!("{length} bytes at FPGA address {at:#x}"))?;
        }
        if *base > range.start {
            lab.host.fpga_check(base - GUARD, below, GUARD)?;
        }
        if has_above {
            lab.host.fpga_check(base + BYTES, above, GUARD)?;
        }
    }
    Ok(format!("{} places", bases.len()))
}

/// Checks some bytes in each direction, seen from three sides: processor, board and FPGA memory itself.
fn check_window(
    lab: &mut Lab,
    mover: &mut Mover,
    buffer: &Buffer,
    window: &mut Window,
    offset: usize,
    length: usize,
) -> Result<()> {
    let local = window.base() + offset as u64;
    let [stored, brought] = [(); 2].map(|()| lab.rng.random());
    let [mut expected, mut found] = [vec![0; length], vec![0; length]];
    pattern(stored, &mut expected);
    window.write(offset, &expected)?;
    window.settle();
    lab.host.fpga_check(local, stored, length as u64)?;
    mover.transfer(Direction::FromFpga, &buffer.region, 0, local, length)?;
    buffer.memory.read(0, &mut found)?;
    same(&expected, &found, 0).context("the stored bytes")?;
    pattern(brought, &mut expected);
    buffer.memory.write(0, &expected)?;
    mover.transfer(Direction::ToFpga, &buffer.region, 0, local, length)?;
    window.read(offset, &mut found)?;
    same(&expected, &found, offset).context("the bytes of the transfer")
}

/// Checks stores and loads of each width, at all places in the slave's words.
fn widths(lab: &mut Lab) -> Result<&'static str> {
    const LENGTH: usize = 192;
    let device = lab.open()?;
    let place = lab.place(&device)? + 3 * BYTES;
    let mut window = take(&device, place)?;
    let mut expected = vec![0; LENGTH];
    window.write(0, &expected)?;
    let start = window.address() as *mut u8;
    for _ in 0..1000 {
        let width = 1 << lab.rng.random_range(0..4);
        let offset = lab.rng.random_range(0..LENGTH / width) * width;
        let value: u64 = lab.rng.random();
        let at = start.wrapping_add(offset);
        // SAFETY: aligned, and in the window, which exists that long.
        unsafe {
            match width {
                1 => at.write_volatile(value as u8),
                2 => at.cast::<u16>().write_volatile(value as u16),
                4 => at.cast::<u32>().write_volatile(value as u32),
                _ => at.cast::<u64>().write_volatile(value),
            }
        }
        expected[offset..offset + width].copy_from_slice(&value.to_le_bytes()[..width]);
        let width = 1 << lab.rng.random_range(0..4);
        let offset = lab.rng.random_range(0..LENGTH / width) * width;
        let at = start.wrapping_add(offset);
        // SAFETY: as above.
        let found = unsafe {
            match width {
                1 => u64::from(at.read_volatile()),
                2 => u64::from(at.cast::<u16>().read_volatile()),
                4 => u64::from(at.cast::<u32>().read_volatile()),
                _ => at.cast::<u64>().read_volatile(),
            }
        };
        same(
            &expected[offset..offset + width],
            &found.to_le_bytes()[..width],
            offset,
        )
        .with_context(|| format!("a load of {width} bytes"))?;
    }
    let mut mover = Mover::Slow(device.clone());
    let buffer = Buffer::new(&device, LENGTH)?;
    window.settle();
    mover.transfer(Direction::FromFpga, &buffer.region, 0, place, LENGTH)?;
    let mut found = vec![0; LENGTH];
    buffer.memory.read(0, &mut found)?;
    same(&expected, &found, 0)?;
    Ok("")
}

/// Checks that the window shows no memory that the context does not have, and that memory cannot be freed while the
/// window shows it.
fn outside(lab: &mut Lab) -> Result<&'static str> {
    let [device, neighbour] = [lab.open()?, lab.open()?];
    for base in [0, BYTES, 1 << 31] {
        refused(&device, base, Errno::PERM)?;
    }
    // Allocated from the top down, with other contexts' memory on both sides.
    let above = neighbour.allocate(BYTES).map_err(told)?;
    let memory = device.allocate(2 * BYTES).map_err(told)?;
    let below = lab.open()?;
    let below = below.allocate(BYTES).map_err(told)?;
    let range = memory.range();
    ensure!(
        (below.range().end, range.end) == (range.start, above.base()),
        "{below:?}, {memory:?}, {above:?}"
    );
    for base in [below.base(), above.base(), u64::MAX - (BYTES - 1)] {
        refused(&device, base, Errno::PERM)?;
    }
    let mut window = take(&device, range.start)?;
    window.place(range.start + BYTES).map_err(told)?;
    match window.place(above.base()) {
        Err(Error::Window {
            source: Errno::PERM,
            ..
        }) => {}
        other => bail!("moving out of the range gave {other:?}"),
    }
    ensure!(
        window.base() == range.start + BYTES,
        "it stands at {:#x}",
        window.base()
    );
    let seed = lab.rng.random();
    let mut bytes = [0; 64];
    pattern(seed, &mut bytes);
    window.write(64, &bytes)?;
    window.settle();
    lab.host.fpga_check(range.start + BYTES + 64, seed, 64)?;
    let mut free = uapi::Free::default();
    let result = raw::with(&device, uapi::FREE, &mut free);
    ensure!(
        result == Err(Errno::BUSY),
        "freed under the window: {result:?}"
    );
    drop(window);
    memory.free().map_err(told)?;
    refused(&device, range.start, Errno::PERM)?;
    Ok("")
}

/// Checks that a second context has to wait until the first releases the window, or is closed.
fn one_holder(lab: &mut Lab) -> Result<&'static str> {
    let [first, second] = [lab.open()?, lab.open()?];
    let [place, other] = [lab.place(&first)?, lab.place(&second)?];
    let window = take(&first, place)?;
    refused(&second, other, Errno::BUSY)?;
    refused(&second, other + BYTES, Errno::BUSY)?;
    ensure!(
        matches!(Mapped::new(&second), Err(Errno::PERM)),
        "the window of another context was mapped"
    );
    // A second time, by the same context.
    refused(&first, place + BYTES, Errno::BUSY)?;
    drop(window);
    // Taken, and only released by closing.
    hold(&second, other + BYTES)?;
    refused(&first, place, Errno::BUSY)?;
    drop(second);
    let mut window = take(&first, place)?;
    window.write(0, &[1])?;
    Ok("")
}

/// Takes the window without a value that releases it on drop.
fn hold(device: &Device, base: u64) -> Result<()> {
    let mut argument = uapi::Window {
        base,
        ..Default::default()
    };
    raw::with(device, uapi::WINDOW, &mut argument)
        .with_context(|| format!("the window at {base:#x}"))
}

/// Releases the window.
fn release(device: &Device) -> Result<()> {
    let mut argument = uapi::Window {
        flags: uapi::window::RELEASE,
        ..Default::default()
    };
    raw::with(device, uapi::WINDOW, &mut argument).context("giving the window back")
}

/// Checks that a process that is killed while it stores releases the window, too.
fn killed_holder(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let place = lab.place(&device)?;
    for _ in 0..lab.rounds {
        let holder = lab.branch();
        let storer = Storer::start(move || {
            let device = holder.open()?;
            hold(&device, holder.place(&device)?)?;
            Ok(device)
        })?;
        refused(&device, place + BYTES, Errno::BUSY)?;
        storer.end()?;
        let window = take(&device, place + BYTES)?;
        ensure!(window.base() == place + BYTES, "it is elsewhere");
    }
    Ok("")
}

/// A process that stores all over the window until it is killed.
struct Storer {
    child: Child,
}

impl Storer {
    /// Starts the process on the context that `open` returns. Returns when it stores.
    fn start(open: impl FnOnce() -> Result<Device>) -> Result<Self> {
        let (ours, theirs) = pair()?;
        let child = fork("storer", move || {
            let device = open()?;
            let mapped = Mapped::new(&device).context("mapping the window")?;
            for count in 0.. {
                // Every word in turn, in an order that touches each page soon.
                let word = count * 521;
                mapped.store(word, count as u64);
                if count == 100 {
                    theirs.signal()?;
                }
            }
            Ok(())
        })?;
        ours.wait()?;
        Ok(Self { child })
    }

    /// Returns whether it still stores: fills FPGA memory at `base`, and looks whether the content changes.
    fn stores_to(&self, lab: &mut Lab, base: u64) -> Result<bool> {
        let seed = lab.rng.random();
        lab.host.fpga_write(base, seed, BYTES)?;
        for _ in 0..200 {
            if lab.host.fpga_check(base, seed, BYTES).is_err() {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(false)
    }

    /// Ends the process, which must not have ended by itself.
    fn end(mut self) -> Result<()> {
        let ended = self.child.wait_for(Duration::ZERO)?;
        ensure!(ended.is_none(), "the storer ended: {ended:?}");
        self.child.kill()
    }
}

/// Checks that a mapping of a former holder does not reach the next holder's memory, and that it works again when its
/// context holds the window again.
fn stale_mapping(lab: &mut Lab) -> Result<&'static str> {
    let [former, next] = [lab.open()?, lab.open()?];
    let (own, others) = (lab.place(&former)? + BYTES, lab.place(&next)? + BYTES);
    hold(&former, own)?;
    let stale = Mapped::new(&former).context("mapping the window")?;
    let expect = |lab: &mut Lab, base, seed| lab.host.fpga_check(base, seed, BYTES);
    for round in 0..lab.rounds {
        let [seed, untouched] = [(); 2].map(|()| lab.rng.random());
        let word = lab.rng.random_range(1..Mapped::WORDS);
        lab.host.fpga_write(own, seed, BYTES)?;
        ensure!(stale.load(0) == first_word(seed), "round {round}: own");
        stale.store(word, 7);
        ensure!(stale.load(word) == 7, "round {round}: own, stored");
        lab.host.fpga_write(own, untouched, BYTES)?;
        release(&former)?;
        for word in 0..Mapped::WORDS {
            stale.store(word, 8);
        }
        let mut window = take(&next, others)?;
        let seed = lab.rng.random();
        lab.host.fpga_write(others, seed, BYTES)?;
        for word in 0..Mapped::WORDS {
            stale.store(word, 9);
        }
        ensure!(
            stale.load(0) != first_word(seed),
            "round {round}: a former holder sees the next one's memory"
        );
        // After this its stores are not in progress any more.
        window.settle();
        expect(lab, others, seed).with_context(|| format!("round {round}: the next one's"))?;
        expect(lab, own, untouched).with_context(|| format!("round {round}: released"))?;
        window.place(others + BYTES).map_err(told)?;
        stale.store(0, 10);
        window.settle();
        expect(lab, own, untouched).with_context(|| format!("round {round}: moved"))?;
        drop(window);
        hold(&former, own)?;
    }
    Ok("")
}

/// Checks that a child has no mapping of its parent's, but the same file, and so the same window.
fn forked(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let place = lab.place(&device)?;
    let mut window = take(&device, place)?;
    window.write(0, &11u64.to_le_bytes())?;
    let other = lab.open()?;
    let others = lab.place(&other)?;
    let child_device = device.clone();
    fork("child", move || {
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        ensure!(!maps.contains("/dev/peerlane"), "inherited: {maps}");
        let mapped = Mapped::new(&child_device).context("mapping the window")?;
        ensure!(mapped.load(0) == 11, "the child sees {}", mapped.load(0));
        mapped.store(1, 12);
        ensure!(mapped.load(1) == 12, "the child's store is lost");
        Ok(())
    })?
    .wait()?;
    let mut found = [0; 16];
    window.read(0, &mut found)?;
    ensure!(found[..8] == 11u64.to_le_bytes() && found[8..] == 12u64.to_le_bytes());
    // The child's end has not released the window.
    refused(&other, others, Errno::BUSY)?;
    Ok("")
}
