//! Cost of transfers and registrations, as the board, the kernel and the library count it.

use crate::fakegpu::Gpu;
use crate::lab::{Buffer, LIMIT, Lab, Mover, huge, interrupts, told};
use crate::suite::Suite;
use anyhow::{Result, ensure};
use peerlane_host::{Device, Direction, Memory, Permissions, Region};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    for direction in Direction::BOTH {
        for (mib, how, spin) in [
            (1, "sleeping", Duration::ZERO),
            (1, "looking", LIMIT),
            (256, "looking", LIMIT),
        ] {
            suite.run(&format!("cost.{direction}.{mib}_mib.{how}"), || {
                transfer(lab, direction, mib, how, spin)
            });
        }
    }
    suite.run("cost.registration.host", || host(lab));
    suite.run("cost.registration.gpu", || gpu(lab));
}

/// Checks the cost of one transfer: one descriptor, no more stores than a descriptor has words plus one for the
/// doorbell, one interrupt, and at most one system call a second by a thread that polls the ring instead of sleeping.
fn transfer(
    lab: &mut Lab,
    direction: Direction,
    mib: usize,
    how: &str,
    spin: Duration,
) -> Result<&'static str> {
    /// Stores that the fast path needs at most.
    const STORES: u64 = 9;
    let mut mover = Mover::fast_with_all(lab)?;
    let device = mover.device().clone();
    let length = mib * MIB;
    let buffer = Buffer::of(&device, huge(length)?)?;
    // The library asks the driver once a second, from the start of the queue on. On a slow machine that is earlier
    // than the transfer.
    let begin = Instant::now();
    let queue = mover.queue()?;
    queue.set_spin(spin);
    let board = lab.host.counters()?;
    let (before, kernel) = (queue.statistics(), interrupts()?);
    let local = device.range().start;
    let id = queue.submit(direction, buffer.region.part(0..length as u64), local)?;
    let moved = id.wait(Some(LIMIT)).map_err(told)?;
    ensure!(moved == length as u64, "{moved} bytes of {length}");
    let seconds = begin.elapsed().as_secs();
    let after = queue.statistics();
    // The interrupt's handler may still be running.
    std::thread::sleep(Duration::from_millis(50));
    let counted = lab.host.counters()?;
    let descriptors = after.descriptors - before.descriptors;
    let stores = counted.page_writes - board.page_writes;
    let others = counted.other_writes - board.other_writes;
    let reads = counted.page_reads + counted.other_reads - board.page_reads - board.other_reads;
    let messages = counted.interrupts - board.interrupts;
    let handled = interrupts()? - kernel;
    let calls = after.system_calls - before.system_calls;
    for (value, unit) in [
        (descriptors, "descriptors"),
        (stores, "stores to the channel's page"),
        (others, "other register writes"),
        (reads, "register reads"),
        (messages, "interrupts"),
        (calls, "system calls"),
    ] {
        let name = format!("{direction} of {mib} MiB, {how}");
        lab.host.figure(&name, value as f64, unit)?;
    }
    ensure!(
        stores == after.stores - before.stores,
        "the library has counted {} stores, the board {stores}",
        after.stores - before.stores
    );
    ensure!(stores <= STORES, "{stores} stores");
    ensure!(
        messages <= 1 && handled <= 1,
        "{messages} interrupts, {handled} of them handled"
    );
    let allowed = if spin.is_zero() { 2 } else { seconds };
    ensure!(calls <= allowed, "{calls} system calls in {seconds} s");
    Ok("")
}

/// Registers memory, releases it, and registers it again.
fn twice(lab: &Lab, name: &str, register: impl Fn() -> Result<Region>) -> Result<()> {
    for again in [false, true] {
        let name = format!(
            "registration of {name}, {}",
            if again { "again" } else { "new" }
        );
        let before = lab.host.counters()?;
        let begin = Instant::now();
        let region = register()?;
        let took = begin.elapsed();
        let after = lab.host.counters()?;
        ensure!(region.found() == again, "found: {}", region.found());
        let writes = after.other_writes - before.other_writes;
        let reads = after.other_reads - before.other_reads;
        lab.host.figure(&name, writes as f64, "register writes")?;
        lab.host.figure(&name, reads as f64, "register reads")?;
        lab.host.figure(&name, took.as_secs_f64() * 1e3, "ms")?;
    }
    Ok(())
}

/// Measures host memory, in the pages that the kernel has allocated.
fn host(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let memory = Memory::new(8 * MIB)?;
    // The pages are touched first, so that only the registration is timed.
    memory.write(0, &vec![1; 8 * MIB])?;
    twice(lab, "8 MiB of host memory", || {
        let all = 0..memory.length();
        device
            .register(&memory, all, Permissions::ReadWrite)
            .map_err(told)
    })?;
    Ok("")
}

/// Measures 200 MiB of a GPU's memory, in one piece.
fn gpu(lab: &mut Lab) -> Result<&'static str> {
    let gpu = Gpu::open()?;
    let buffer = gpu.buffer(200 * MIB, 0, 1, None)?;
    let file = buffer.dmabuf(true)?;
    let length = buffer.size() as u64;
    let both = Permissions::ReadWrite;
    let of = |device: &Device, name: &str, nvidia: bool| {
        twice(lab, name, || {
            match nvidia {
                // SAFETY: the memory is the fake GPU's, which the process has no reference to.
                true => unsafe {
                    device.register_nvidia(buffer.address(), length, buffer.id(), both)
                },
                false => device.register_dmabuf(&file, 0, length, both),
            }
            .map_err(told)
        })
    };
    of(&lab.open()?, "200 MiB of a GPU by dma-buf", false)?;
    of(&lab.open()?, "200 MiB of a GPU by nvidia_p2p", true)?;
    Ok("")
}
