//! How long 64 bytes on one channel wait while the others stream.

use peerlane_core::descriptor::Control;
use peerlane_sim::{BoardConfig, GPU_PAGE};

use crate::results::Row;
use crate::rig::{Bench, Descriptor, Rig, TOLD_AT_ONCE, Way};
use crate::{Error, Result, Scenario};

/// Bytes that each streaming channel moves over and over.
const STREAMED: u64 = 4 << 20;
/// Place of the 64 bytes, after the streamed bytes.
const VICTIM: u64 = 16 << 20;
/// Doorbells, at moments that drift against the requests of the others.
const TRIALS: u64 = 24;
/// Cycles between them, more than a round of requests.
const APART: u64 = 1231;

/// Measures the delay in requests: cycles from the doorbell to the request on the port, less those on an idle board, in
/// units of the time that one request of the streams takes.
pub(crate) fn measure(bench: &Bench<'_>, scenario: &Scenario, config: &BoardConfig) -> Result<Row> {
    let mut worst = (0.0, Way::Write, 0u64, 0.0);
    for way in [Way::Write, Way::Read] {
        let mut idle = board(bench, scenario, config)?;
        let alone = delay(&mut idle, scenario, way)?;
        let mut busy = board(bench, scenario, config)?;
        let last = busy.channels() - 1;
        for channel in 0..last {
            for _ in 0..6 {
                let d = descriptor(0, STREAMED, Control::default());
                busy.queue(channel, way, &d)?;
            }
        }
        let failed = |rig: &Rig, source| rig.failed(source);
        busy.board.run(20_000).map_err(|e| failed(&busy, e))?;
        let before = busy.board.stats();
        let mut longest = 0;
        for trial in 0..TRIALS {
            (bench.progress)(trial as f64 / TRIALS as f64);
            let cycles = delay(&mut busy, scenario, way)?;
            longest = longest.max(cycles.saturating_sub(alone));
            busy.board.run(APART).map_err(|e| failed(&busy, e))?;
        }
        let after = busy.board.stats();
        let moved = match way {
            Way::Write => after.bytes_written - before.bytes_written,
            Way::Read => after.bytes_read - before.bytes_read,
        };
        // The longest request on `Txs`, in both directions.
        let request = 512.0;
        let each = (after.pcie_cycles - before.pcie_cycles) as f64 * request / moved as f64;
        let requests = longest as f64 / each;
        if requests > worst.0 {
            worst = (requests, way, alone, each);
        }
    }
    let mut row = Row::new(scenario, worst.0, "requests", scenario.at_most());
    row.notes.push(format!(
        "the longest of {TRIALS} delays in each direction, {}; unloaded the request comes {} cycles after \
         the doorbell, and a request of the streams takes {:.1} cycles",
        match worst.1 {
            Way::Write => "FPGA to GPU",
            Way::Read => "GPU to FPGA",
        },
        worst.2,
        worst.3
    ));
    Ok(row)
}

fn board(bench: &Bench<'_>, scenario: &Scenario, config: &BoardConfig) -> Result<Rig> {
    Rig::new(
        scenario.name,
        bench.library,
        &bench.params,
        config.clone(),
        VICTIM + GPU_PAGE,
    )
}

fn descriptor(at: u64, length: u64, control: Control) -> Descriptor {
    Descriptor {
        peer: at,
        local: at,
        length: length as u32,
        control,
        cookie: 0,
    }
}

/// Returns the cycles from a doorbell on the last channel to its request on the port.
fn delay(rig: &mut Rig, scenario: &Scenario, way: Way) -> Result<u64> {
    let bus = rig.bus_address(VICTIM);
    rig.board.mark_range(bus..bus + 64);
    let last = rig.channels() - 1;
    rig.queue(last, way, &descriptor(VICTIM, 64, TOLD_AT_ONCE))?;
    rig.board.drain_host().map_err(|source| Error::Board {
        row: scenario.name,
        source,
    })?;
    let rung = rig.board.last_host_write_cycle();
    rig.record(last, |_| ())?;
    let first = rig.board.stats().txs.first_request_cycle;
    Ok(first.map_or(0, |cycle| cycle.saturating_sub(rung)))
}
