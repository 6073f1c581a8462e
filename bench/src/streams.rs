//! Streams between the FPGA's logic and the GPU: rates, shares, and the end of a block.

use peerlane_core::regs::csr;
use peerlane_sim::{BoardConfig, GPU_PAGE, Space};

use crate::limits::{self, Port};
use crate::results::Row;
use crate::rig::{Bench, Descriptor, Rig, STREAM, TOLD, TOLD_AT_ONCE, Way};
use crate::{Error, Result, Scenario};

/// Bytes of all streams together.
const BYTES: u64 = 16 << 20;
/// Descriptors of each stream, and the one before the measured time.
const COUNT: u64 = 64;
/// Cycles between two looks at the records.
const LOOK: u64 = 50;
/// Period of the logic's clocks in picoseconds: 256 bits at 250 MHz are as much as the port takes.
const CLOCK: u64 = 4000;

fn board(bench: &Bench<'_>, scenario: &Scenario, config: &BoardConfig, bytes: u64) -> Result<Rig> {
    let bytes = bytes.next_multiple_of(GPU_PAGE);
    Rig::new(
        scenario.name,
        bench.library,
        &bench.params,
        config.clone(),
        bytes,
    )
}

/// Opens streams 0 to `count`, each for the channel of its number.
fn open(rig: &mut Rig, way: Way, count: u32) -> Result<()> {
    for number in 0..count {
        let select = match way {
            Way::Write => {
                rig.board.source_mut(number as usize).set_clock_ps(CLOCK);
                number
            }
            Way::Read => {
                rig.board.sink_mut(number as usize).set_clock_ps(CLOCK);
                number | csr::STREAM_SELECT_TO_LOGIC_MASK
            }
        };
        let control = number << csr::STREAM_CONTROL_CHANNEL_LSB | csr::STREAM_CONTROL_ENABLE_MASK;
        for (register, value) in [(csr::STREAM_SELECT, select), (csr::STREAM_CONTROL, control)] {
            let written = (rig.board).bar_write32(Space::Csr, register as u64, value);
            written.map_err(|source| rig.failed(source))?;
        }
    }
    let settled = rig.board.drain_host().and_then(|()| rig.board.run(200));
    settled.map_err(|source| rig.failed(source))
}

/// Returns the bytes that the logic has got.
fn received(rig: &mut Rig, number: usize, bytes: u64) -> Result<Vec<u8>> {
    let mut got = Vec::new();
    while (got.len() as u64) < bytes {
        match rig.board.sink_mut(number).packet() {
            Some(packet) => got.extend(packet.bytes),
            None => {
                let run = rig.board.run(LOOK);
                run.map_err(|source| rig.failed(source))?;
            }
        }
    }
    Ok(got)
}

/// Measures equal streams, from the first record of the last to the last record of the first.
pub(crate) fn rate(
    bench: &Bench<'_>,
    scenario: &Scenario,
    config: &BoardConfig,
    way: Way,
    streams: u32,
) -> Result<Row> {
    let length = BYTES / u64::from(streams) / COUNT;
    let each = length * (COUNT + 1);
    let mut rig = board(bench, scenario, config, each * u64::from(streams))?;
    rig.fill(Way::Read, 0, 0, each * u64::from(streams))?;
    open(&mut rig, way, streams)?;
    let mut sent = Vec::new();
    for number in 0..streams {
        let start = u64::from(number) * each;
        let data = rig.gpu_bytes(start, each)?.to_vec();
        if way == Way::Write {
            // The logic has the words that the GPU's memory has now, and they are to come back to their place.
            let zeros = vec![0; data.len()];
            let cleared = rig.board.gpu_mut().write(start, &zeros);
            cleared.map_err(|source| rig.failed(source))?;
            rig.board.source_mut(number as usize).send(&data);
        }
        sent.push(data);
        for n in 0..=COUNT {
            let descriptor = Descriptor {
                peer: start + n * length,
                local: STREAM | u64::from(number),
                length: length as u32,
                control: TOLD,
                cookie: n as u32,
            };
            rig.queue(number, way, &descriptor)?;
        }
    }
    let mut ended = vec![0; streams as usize];
    let (mut before, mut after) = (None, None);
    while ended.iter().any(|count| *count <= COUNT) {
        (bench.progress)(ended.iter().sum::<u64>() as f64 / (COUNT * u64::from(streams)) as f64);
        let run = rig.board.run(LOOK);
        run.map_err(|source| rig.failed(source))?;
        for (number, count) in ended.iter_mut().enumerate() {
            while rig.is_recorded(number as u32) {
                rig.record(number as u32, |_| ())?;
                *count += 1;
            }
        }
        if before.is_none() && ended.iter().all(|count| *count > 0) {
            before = Some((rig.board.stats(), ended.clone()));
        }
        if after.is_none() && ended.iter().any(|count| *count > COUNT) {
            after = Some((rig.board.stats(), ended.clone()));
        }
    }
    for (number, data) in sent.iter().enumerate() {
        let got = match way {
            Way::Write => rig.gpu_bytes(number as u64 * each, each)?.to_vec(),
            Way::Read => received(&mut rig, number, each)?,
        };
        if let Some(offset) = got.iter().zip(data).position(|(a, b)| a != b) {
            let (row, offset) = (scenario.name, offset as u64);
            return Err(Error::Data { row, offset });
        }
    }
    let (Some((before, began)), Some((after, moved))) = (before, after) else {
        return Ok(Row::new(scenario, 0.0, "B/s", None));
    };
    if streams > 1 {
        let shares: Vec<u64> = moved
            .iter()
            .zip(&began)
            .map(|(to, from)| to - from)
            .collect();
        let fair = shares.iter().sum::<u64>() as f64 / f64::from(streams);
        let least = shares.iter().copied().min().unwrap_or(0) as f64 / fair;
        let mut row = Row::new(scenario, least, "of the mean", Some(1.0));
        row.notes.push(format!(
            "blocks of {length} bytes of the {streams} streams in the same time: {shares:?}"
        ));
        return Ok(row);
    }
    let limit = limits::bulk(config, Port::of(config, &bench.params), way);
    let value = match way {
        Way::Write => after.write_rate(&before),
        Way::Read => after.read_rate(&before),
    };
    let mut row = Row::new(scenario, value, "B/s", Some(limit.smaller()));
    row.notes
        .push(format!("the limit is set by {}", limit.set_by()));
    Ok(row)
}

/// Measures the cycles from the last word of a block, at the logic's port, to the packet of its record.
pub(crate) fn block_end(
    bench: &Bench<'_>,
    scenario: &Scenario,
    config: &BoardConfig,
) -> Result<Row> {
    const BLOCK: u64 = 1024;
    const TRIALS: u64 = 16;
    let mut rig = board(bench, scenario, config, TRIALS * GPU_PAGE)?;
    open(&mut rig, Way::Write, 1)?;
    let failed = |source| Error::Board {
        row: scenario.name,
        source,
    };
    let mut longest = 0;
    for trial in 0..TRIALS {
        let descriptor = Descriptor {
            peer: trial * GPU_PAGE,
            local: STREAM,
            length: BLOCK as u32,
            control: TOLD_AT_ONCE,
            cookie: trial as u32,
        };
        rig.queue(0, Way::Write, &descriptor)?;
        let width = rig.board.source_mut(0).width() as u64;
        let data = vec![trial as u8; BLOCK as usize];
        let (head, word) = data.split_at((BLOCK - width) as usize);
        rig.board.source_mut(0).send(head);
        rig.board.run(3000 + 7 * trial).map_err(failed)?;
        let slot = rig.next_record_address(0);
        rig.board.mark_range(slot..slot + 32);
        rig.board.source_mut(0).send(word);
        while rig.board.source_mut(0).left() > 0 {
            rig.board.run(1).map_err(failed)?;
        }
        let taken = rig.board.cycles();
        rig.record(0, |_| ())?;
        let first = rig.board.stats().txs.first_request_cycle;
        longest = longest.max(first.map_or(u64::MAX, |first| first.saturating_sub(taken)));
    }
    let mut row = Row::new(scenario, longest as f64, "cycles", scenario.at_most());
    row.notes.push(
        "the longest of 16; without the flush read, whose time is the link's and the GPU's"
            .to_owned(),
    );
    Ok(row)
}

/// Measures the cycles from the slave taking a doorbell without a descriptor, by which a consumer returns a slot, to the
/// first packet of the next block, whose words wait.
pub(crate) fn credit(bench: &Bench<'_>, scenario: &Scenario, config: &BoardConfig) -> Result<Row> {
    const BLOCK: u64 = 1024;
    const TRIALS: u64 = 16;
    let mut rig = board(bench, scenario, config, GPU_PAGE)?;
    let failed = |source| Error::Board {
        row: scenario.name,
        source,
    };
    open(&mut rig, Way::Write, 1)?;
    // The first lap: the queue keeps its descriptors.
    let queue = bench.params.queue_depth();
    for n in 0..queue {
        let descriptor = Descriptor {
            peer: 0,
            local: STREAM,
            length: BLOCK as u32,
            control: TOLD_AT_ONCE,
            cookie: n,
        };
        rig.board.source_mut(0).send(&vec![0; BLOCK as usize]);
        rig.queue(0, Way::Write, &descriptor)?;
        rig.record(0, |_| ())?;
    }
    let mut longest = 0;
    for trial in 0..TRIALS {
        rig.board
            .source_mut(0)
            .send(&vec![trial as u8; BLOCK as usize]);
        rig.board.run(3000 + 7 * trial).map_err(failed)?;
        rig.board.mark();
        rig.ring(0)?;
        rig.board.drain_host().map_err(failed)?;
        let rung = rig.board.last_host_write_cycle();
        rig.record(0, |_| ())?;
        let first = rig.board.stats().txs.first_request_cycle;
        longest = longest.max(first.map_or(u64::MAX, |first| first.saturating_sub(rung)));
    }
    let mut row = Row::new(scenario, longest as f64, "cycles", scenario.at_most());
    row.notes.push("the longest of 16".to_owned());
    Ok(row)
}
