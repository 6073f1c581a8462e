//! Tests that the driver's tracepoints report all events off the fast path, and that nothing is recorded without a
//! tracer. Tracefs must be mounted.

use crate::fakegpu::Gpu;
use crate::faults::{bind, reset, unbind};
use crate::lab::{LIMIT, Lab, pci_device, told};
use crate::raw;
use crate::suite::Suite;
use anyhow::{Context, Result, ensure};
use peerlane_core::fault::Fault;
use peerlane_core::uapi;
use peerlane_host::{Device, Direction, Memory, Permissions, Terms};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The driver's own time limit is 2 s.
const LONGEST_REST_US: u64 = 2_000_000;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("traces.context", || context(lab));
    suite.run("traces.board", board);
    suite.run("traces.off", || off(lab));
}

/// A tracer instance of the tests (Documentation/trace/ftrace.rst, Instances).
struct Tracer(PathBuf);

impl Tracer {
    fn new() -> Result<Self> {
        let path = PathBuf::from("/sys/kernel/tracing/instances/peerlane-guest");
        fs::create_dir(&path).context("no tracer: is tracefs mounted?")?;
        Ok(Self(path))
    }

    /// Turns the recording of the driver's events on or off.
    fn watch(&self, on: bool) -> Result<()> {
        let switch = self.0.join("events/peerlane/enable");
        fs::write(&switch, if on { "1" } else { "0" })
            .with_context(|| format!("{}: has the driver no events?", switch.display()))
    }

    /// Returns the recorded events, one a line, each from its name on.
    fn events(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(self.0.join("trace"))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let event = |line: &str| {
            let at = line.find(": peerlane_").map(|at| at + 2);
            let at = at.with_context(|| format!("no event of the driver's: {line}"))?;
            Ok(line[at..].to_owned())
        };
        lines.map(event).collect()
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Returns the board's name, as the PCI core has it.
fn board_name() -> Result<String> {
    let device = pci_device()?;
    let name = device.file_name().context("a device without a name")?;
    Ok(name.to_string_lossy().into_owned())
}

fn same(expected: &[String], found: &[String]) -> Result<()> {
    ensure!(
        expected == found,
        "not the events\n{}\nbut\n{}",
        expected.join("\n"),
        found.join("\n")
    );
    Ok(())
}

/// Opens the board, registers memory, moves data, unregisters memory, loses memory by a revocation, and closes the
/// board. Returns the events that a tracer must get, without the time that the revocation took.
fn life(lab: &Lab) -> Result<Vec<String>> {
    const BYTES: usize = 1 << 20;
    let device = lab.open()?;
    let on = format!("board={} channel={}", board_name()?, device.info().channel);
    let mut events = vec![format!("peerlane_open: {on}")];
    let place = lab.place(&device)?;

    let memory = Memory::new(4096)?;
    for found in [0, 1] {
        let region = device.register(&memory, 0..4096, Permissions::Write);
        let region = region.map_err(told)?;
        let (handle, address) = (region.handle(), region.att_address().raw());
        events.push(format!(
            "peerlane_register: {on} region={handle} provider=host access=write length=4096 \
             att_address={address:#x} entries=1 page_shift=12 found={found}"
        ));
        let terms = Terms::default();
        let transfer = device.submit(Direction::FromFpga, region.part(0..4096), place, terms);
        let moved = transfer.and_then(|transfer| transfer.wait(Some(LIMIT)));
        ensure!(moved.map_err(told)? == 4096, "a transfer is short");
        match found {
            // The region is cached.
            0 => drop(region),
            _ => region.forget().map_err(told)?,
        }
        let kept = 1 - found;
        events.push(format!(
            "peerlane_unregister: {on} region={handle} kept={kept}"
        ));
    }

    let gpu = Gpu::open()?;
    let buffer = gpu.buffer(BYTES, 0, 1, None)?;
    let region = device.register_dmabuf(
        &buffer.dmabuf(true)?,
        0,
        BYTES as u64,
        Permissions::ReadWrite,
    );
    let region = region.map_err(told)?;
    let (handle, address) = (region.handle(), region.att_address());
    let entries = BYTES as u64 / address.page_size().bytes();
    let shift = address.page_size().shift();
    let address = format!("att_address={:#x} entries={entries}", address.raw());
    events.push(format!(
        "peerlane_register: {on} region={handle} provider=dmabuf access=read|write \
         length={BYTES} {address} page_shift={shift} found=0"
    ));
    buffer.revoke()?;
    events.push(format!("peerlane_revoke: {on} {address} settle_us="));
    let (cookie, end) = failing(&device, handle, place)?;
    events.push(format!(
        "peerlane_fault: {on} direction=read cookie={cookie} status={} bytes_done=0 \
         att_address={:#x}",
        Fault::AttInvalid.code().raw(),
        region.att_address().raw()
    ));
    ensure!(
        end.fault_address == region.att_address().raw(),
        "the record has another address: {end:?}"
    );
    region.forget().map_err(told)?;
    events.push(format!("peerlane_unregister: {on} region={handle} kept=0"));
    drop((memory, device));
    events.push(format!("peerlane_close: {on}"));
    Ok(events)
}

/// Submits a descriptor that must fail. Returns its cookie, and its end.
fn failing(device: &Device, handle: u32, local: u64) -> Result<(u32, uapi::Wait)> {
    let read = Direction::ToFpga.raw();
    let mut submit = uapi::Submit {
        direction: read,
        handle,
        length: 64,
        local,
        ..Default::default()
    };
    raw::with(device, uapi::SUBMIT, &mut submit)?;
    let mut wait = uapi::Wait {
        direction: read,
        cookie: submit.cookie,
        deadline_ns: peerlane_host::deadline(Some(LIMIT)),
        ..Default::default()
    };
    raw::with(device, uapi::WAIT, &mut wait)?;
    Ok((submit.cookie, wait))
}

/// Checks all events of a context, in order. The interrupt of the fault may come at any time.
fn context(lab: &Lab) -> Result<String> {
    let tracer = Tracer::new()?;
    tracer.watch(true)?;
    let expected = life(lab)?;
    let interrupt = format!(
        "peerlane_fault_interrupt: board={} error=1 refused=0",
        board_name()?
    );
    let begin = Instant::now();
    let mut found = loop {
        let mut events = tracer.events()?;
        if let Some(at) = events.iter().position(|event| *event == interrupt) {
            events.remove(at);
            break events;
        }
        ensure!(begin.elapsed() < LIMIT, "no `{interrupt}`");
        std::thread::sleep(Duration::from_millis(20));
    };
    tracer.watch(false)?;
    let mut rest = None;
    for event in &mut found {
        if let Some(at) = event.find("settle_us=").map(|at| at + "settle_us=".len()) {
            rest = Some(event.split_off(at));
        }
    }
    same(&expected, &found)?;
    let rest: u64 = rest.context("no time of a rest")?.parse()?;
    ensure!((1..LONGEST_REST_US).contains(&rest), "a rest of {rest} µs");
    Ok(format!("idle in {rest} µs"))
}

/// Checks the events for the states of a board.
fn board() -> Result<&'static str> {
    let name = board_name()?;
    let tracer = Tracer::new()?;
    tracer.watch(true)?;
    reset()?;
    unbind()?;
    bind()?;
    tracer.watch(false)?;
    let states = ["resting", "started", "removed", "started"];
    let event = |state| format!("peerlane_board: board={name} state={state}");
    same(&states.map(event), &tracer.events()?)?;
    Ok("")
}

/// Checks that nothing is recorded without a tracer.
fn off(lab: &Lab) -> Result<&'static str> {
    let tracer = Tracer::new()?;
    life(lab)?;
    same(&[], &tracer.events()?)?;
    Ok("")
}
