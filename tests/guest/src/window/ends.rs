//! Tests in which the window moves, or the board is reset or unbound, while a process stores through the window.

use super::{BYTES, Mapped, Storer, hold, refused, take};
use crate::faults::{aer, bind, reset, suspend, unbind};
use crate::lab::{Lab, told};
use crate::raw;
use crate::suite::Suite;
use anyhow::{Context, Result, ensure};
use peerlane_core::uapi;
use peerlane_guest::Fault;
use peerlane_host::{Device, Error};
use rand::Rng;
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// Runs the tests of this module.
pub(super) fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("window.moved_under_stores", || moved(lab));
    suite.run("window.reset_under_stores", || restarted(lab, reset));
    suite.run("window.suspended_under_stores", || restarted(lab, suspend));
    suite.run("window.fatal_error_under_stores", || {
        restarted(lab, || aer::report(aer::MALFORMED_TLP))
    });
    suite.run("window.unbound_under_stores", || unbound(lab));
    suite.run("window.failed_move", || failed_move(lab));
}

/// Time in which a storer passes over the window many times.
const WHILE: Duration = Duration::from_millis(30);

/// FPGA memory that no process stores to.
struct Untouched(Vec<(u64, u64)>);

impl Untouched {
    fn new(lab: &mut Lab, bases: &[u64]) -> Result<Self> {
        let filled = bases.iter().map(|base| {
            let seed = lab.rng.random();
            lab.host.fpga_write(*base, seed, BYTES)?;
            Ok((*base, seed))
        });
        Ok(Self(filled.collect::<Result<_>>()?))
    }

    fn check(&self, lab: &Lab) -> Result<()> {
        let mut all = self.0.iter();
        all.try_for_each(|(base, seed)| lab.host.fpga_check(*base, *seed, BYTES))
    }
}

/// Checks that no store goes to the old place when the call has returned, and that none ever goes to a third place.
fn moved(lab: &mut Lab) -> Result<String> {
    let device = lab.open()?;
    let place = lab.place_of_all(&device)?;
    // Every bit of the place changes; an address with some bits of the one and some of the other lies in between.
    let [one, other] = [0x155_0000, 0x2aa_0000].map(|offset| place + offset);
    let between = [0, 0x3ff_0000, 0x100_0000, 0x2a0_0000, 0x05a_0000];
    let between = between.map(|offset| place + offset);
    let between = Untouched::new(lab, &between)?;
    hold(&device, one)?;
    let child_device = device.clone();
    let storer = Storer::start(move || Ok(child_device))?;
    for round in 0..lab.rounds {
        let (from, to) = match round % 2 {
            0 => (one, other),
            _ => (other, one),
        };
        ensure!(
            storer.stores_to(lab, from)?,
            "round {round}: nothing is stored"
        );
        hold(&device, to)?;
        let left = Untouched::new(lab, &[from])?;
        std::thread::sleep(WHILE);
        left.check(lab)
            .with_context(|| format!("round {round}: stored to the old place"))?;
    }
    between.check(lab).context("stored to neither place")?;
    storer.end()?;
    Ok(format!("{} moves", lab.rounds))
}

/// Checks that the window of a board that was restarted shows the holder the same memory as before, and that in between
/// it shows no memory to any process: the block starts with the window at 0.
fn restarted(lab: &mut Lab, event: fn() -> Result<()>) -> Result<&'static str> {
    let [device, second] = [lab.open()?, lab.open()?];
    let others = lab.place(&second)?;
    let place = lab.place_of_all(&device)?;
    ensure!(place == 0, "the test's memory begins at {place:#x}");
    let base = place + 5 * BYTES;
    hold(&device, base)?;
    let child_device = device.clone();
    let storer = Storer::start(move || Ok(child_device))?;
    for round in 0..lab.rounds {
        let first = Untouched::new(lab, &[place, place + 4 * BYTES, place + 6 * BYTES])?;
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..50_000)));
        let before = device.query().map_err(told)?.generation;
        event().with_context(|| format!("round {round}"))?;
        // The kernel recovers a link after the error has been reported, and stores go on until then.
        await_start(&device, before).with_context(|| format!("round {round}"))?;
        ensure!(
            storer.stores_to(lab, base)?,
            "round {round}: the window does not come back"
        );
        first.check(lab).with_context(|| format!("round {round}"))?;
        refused(&second, others, Errno::BUSY)?;
    }
    storer.end()?;
    Ok("")
}

/// Waits until the board was started after this generation of the context.
fn await_start(device: &Device, before: u32) -> Result<()> {
    let begin = Instant::now();
    while !matches!(device.query(), Ok(query) if query.generation != before) {
        ensure!(
            begin.elapsed() < Duration::from_secs(20),
            "the board is not started again"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Checks that a move that the board does not answer leaves the window to its holder. The holder sees nothing in it
/// until the board is restarted; then the window has its old base.
fn failed_move(lab: &mut Lab) -> Result<&'static str> {
    const MARK: u64 = 0x5ca1_ab1e_0ddb_a115;
    let [device, second] = [lab.open()?, lab.open()?];
    let others = lab.place(&second)?;
    let place = lab.place_of(&device, 2 * BYTES)?;
    hold(&device, place)?;
    let view = Mapped::new(&device).context("mapping the window")?;
    view.store(0, MARK);
    ensure!(view.load(0) == MARK, "the window does not show its content");
    let before = device.query().map_err(told)?.generation;
    let move_it = || {
        let mut argument = uapi::Window {
            base: place + BYTES,
            ..Default::default()
        };
        raw::with(&device, uapi::WINDOW, &mut argument)
    };
    lab.host.fault(Fault::Absent {})?;
    let (moved, shown) = (move_it(), view.load(0));
    let freed = raw::with(&device, uapi::FREE, &mut uapi::Free::default());
    let others_try = refused(&second, others, Errno::BUSY);
    lab.host.fault(Fault::Clear {})?;
    ensure!(moved == Err(Errno::AGAIN), "a move gave {moved:?}");
    ensure!(shown == 0, "it shows {shown:#x} after a move that failed");
    ensure!(freed == Err(Errno::BUSY), "FREE gave {freed:?}");
    others_try?;
    reset()?;
    await_start(&device, before)?;
    let shown = view.load(0);
    ensure!(shown == MARK, "it shows {shown:#x} after a start");
    refused(&second, others, Errno::BUSY)?;
    ensure!(move_it() == Ok(()), "it cannot be moved any more");
    Ok("")
}

/// A board is taken away. Checks that a process that stores to it is not harmed, and that the stores do not reach the
/// next holder.
fn unbound(lab: &mut Lab) -> Result<&'static str> {
    for round in 0..lab.rounds {
        let device = lab.open()?;
        let place = lab.place(&device)?;
        hold(&device, place)?;
        let kept = Mapped::new(&device).context("mapping the window")?;
        kept.store(0, 1);
        let child_device = device.clone();
        let storer = Storer::start(move || Ok(child_device))?;
        unbind()?;
        kept.store(0, 2);
        kept.load(1);
        match device.window(place) {
            Err(Error::Gone) => {}
            other => anyhow::bail!("a board that is gone lends its window: {other:?}"),
        }
        bind()?;
        let opened = Instant::now();
        let next = loop {
            match lab.open() {
                Ok(device) => break device,
                Err(error) if opened.elapsed() > Duration::from_secs(10) => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        // The highest place, as before.
        let place = lab.place(&next)?;
        let window = take(&next, place)?;
        let untouched = Untouched::new(lab, &[place])?;
        kept.store(2, 3);
        std::thread::sleep(WHILE);
        window.settle();
        untouched
            .check(lab)
            .with_context(|| format!("round {round}: stored to the next one's"))?;
        storer.end()?;
        drop(window);
        drop(next);
    }
    let device = lab.open().map_err(|error| error.context("at the end"))?;
    let place = lab.place(&device)?;
    let window = device.window(place).map_err(told)?;
    drop(window);
    Ok("")
}
