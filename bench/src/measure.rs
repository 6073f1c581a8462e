//! How each row is measured.
//!
//! A queue of descriptors is measured in its steady state: a descriptor before them keeps the engine busy while the
//! host queues the rest, and the clock runs from its record in host memory to the last record of the queue. So no
//! doorbell is written inside the measured time. Another descriptor after them keeps the link as full at the end as at
//! the start, so that the latency of the first record and that of the last cancel.

use std::time::Instant;

use peerlane_core::descriptor::Control;
use peerlane_sim::{BoardConfig, GPU_PAGE, Stats};

use crate::limits::{self, Port};
use crate::results::{Row, Stalls};
use crate::rig::{Bench, Counters, Descriptor, Rig, TOLD, TOLD_AT_ONCE, Way};
use crate::scenario::{Kind, Scenario, Stream};
use crate::{Error, Result, opencl, thesis};

/// Offset of the bytes of the read direction in GPU memory and in FPGA memory, after those of the write direction.
const READS: u64 = 96 << 20;

/// Bytes of the descriptor before the queue: 1023 doorbells take about 10,000 cycles.
const AHEAD: u64 = 512 << 10;

/// Bytes of the descriptor after the queue: more than any buffer holds.
const BEHIND: u64 = 32 << 10;

/// Bytes of memory that a row may use in each direction, with the descriptor before the queue.
pub(crate) const SPACE: u64 = (64 << 20) + AHEAD + GPU_PAGE;

/// Work between two moments.
#[derive(Debug, Clone, Copy)]
struct Span {
    ns: f64,
    cycles: u64,
    write_rate: f64,
    read_rate: f64,
    stalls: Stalls,
}

impl Span {
    fn between(rig: &mut Rig, from: (&Stats, &Counters)) -> Result<Self> {
        let after = rig.board.stats();
        let counters = rig.counters()?;
        let before = from.0;
        let cycles = after.pcie_cycles - before.pcie_cycles;
        let part = |n: u64| n as f64 / cycles.max(1) as f64;
        let grown = |to: u32, from: u32| part(u64::from(to.wrapping_sub(from)));
        // Both values count since the board was made.
        let busy = |to: f64, from: f64| {
            (to * after.ns - from * before.ns) / (after.ns - before.ns).max(1.0)
        };
        let reads = after.reads_done - before.reads_done;
        let read_time = after.read_ns_mean * after.reads_done as f64
            - before.read_ns_mean * before.reads_done as f64;
        Ok(Self {
            ns: after.ns - before.ns,
            cycles,
            write_rate: after.write_rate(before),
            read_rate: after.read_rate(before),
            stalls: Stalls {
                cycles,
                port: part(
                    after.txs.write_words - before.txs.write_words + after.txs.read_bursts
                        - before.txs.read_bursts,
                ),
                link_out: busy(after.tx_busy, before.tx_busy),
                link_in: busy(after.rx_busy, before.rx_busy),
                txs: grown(counters.stall_txs, from.1.stall_txs),
                tags: grown(counters.stall_tags, from.1.stall_tags),
                credits: grown(counters.stall_credits, from.1.stall_credits),
                mem: grown(counters.stall_mem_read, from.1.stall_mem_read),
                mem_write: grown(counters.stall_mem_write, from.1.stall_mem_write),
                read_ns: if reads == 0 {
                    0.0
                } else {
                    read_time / reads as f64
                },
            },
        })
    }
}

/// Returns the offset at which a direction's memory begins.
fn base(way: Way) -> u64 {
    match way {
        Way::Write => 0,
        Way::Read => READS,
    }
}

/// Makes a board for a row that moves data in these directions.
pub(crate) fn rig(
    bench: &Bench<'_>,
    row: &'static str,
    config: &BoardConfig,
    ways: &[Way],
) -> Result<Rig> {
    let bytes = ways
        .iter()
        .map(|way| base(*way) + SPACE)
        .max()
        .unwrap_or(SPACE);
    Rig::new(row, bench.library, &bench.params, config.clone(), bytes)
}

/// Makes descriptor `n` of a stream. Its cookie is `n + 1`.
fn nth(way: Way, stream: &Stream, n: u64) -> Descriptor {
    let at = base(way) + AHEAD + n * stream.length;
    let reports = (n + 1).is_multiple_of(stream.every) || n + 1 == stream.count;
    Descriptor {
        peer: at + stream.peer,
        local: at + stream.local,
        length: stream.length as u32,
        control: if reports { TOLD } else { Control::default() },
        cookie: n as u32 + 1,
    }
}

/// Queues the first descriptor, the stream and the last descriptor on channel 0. Their cookies count from 0.
fn submit(rig: &mut Rig, way: Way, stream: &Stream) -> Result<()> {
    let base = base(way);
    rig.fill(way, base, base, AHEAD + stream.bytes() + GPU_PAGE)?;
    let other = |length: u64, cookie| Descriptor {
        peer: base,
        local: base,
        length: length as u32,
        control: TOLD,
        cookie,
    };
    rig.queue(0, way, &other(AHEAD, 0))?;
    for n in 0..stream.count {
        rig.queue(0, way, &nth(way, stream, n))?;
    }
    rig.queue(0, way, &other(BEHIND, stream.count as u32 + 1))
}

/// Measures many small descriptors: spread over all channels, queued while none runs, then started. The clock runs
/// between two records, with as many descriptors before and after as the buffers on the way hold.
fn spread(bench: &Bench<'_>, rig: &mut Rig, way: Way, stream: &Stream) -> Result<(u64, Span)> {
    let at = base(way) + AHEAD;
    rig.fill(way, at, at, stream.bytes() + GPU_PAGE)?;
    rig.run(false)?;
    let channels = u64::from(rig.channels());
    for n in 0..stream.count {
        rig.queue((n % channels) as u32, way, &nth(way, stream, n))?;
    }
    // Every 16th with 8 channels: all records come to one ring, in order.
    let reporter = ((stream.every - 1) % channels) as u32;
    rig.run(true)?;
    let tick = |_: &Stats| (bench.progress)(0.5);
    let aside = 4 * stream.every;
    let last = stream.count - aside;
    let (from, to) = (aside, last - last % stream.every);
    while u64::from(rig.record(reporter, tick)?.0) != from {}
    let before = rig.board.stats();
    let counters = rig.counters()?;
    while u64::from(rig.record(reporter, tick)?.0) != to {}
    let span = Span::between(rig, (&before, &counters))?;
    while u64::from(rig.record(reporter, tick)?.0) != stream.count {}
    rig.board
        .run_until_quiet(2000, 1_000_000)
        .map_err(|source| rig.failed(source))?;
    check(rig, way, stream)?;
    Ok((to - from, span))
}

/// Whether a stream is more than one channel's queue takes at once.
fn is_many(stream: &Stream) -> bool {
    stream.length <= 4096 && stream.count > 100
}

fn check(rig: &Rig, way: Way, stream: &Stream) -> Result<()> {
    let at = base(way) + AHEAD;
    rig.check(at + stream.peer, at + stream.local, stream.bytes())
}

/// Measures a stream in one direction; the clock runs between the records of these cookies.
fn span(
    bench: &Bench<'_>,
    rig: &mut Rig,
    way: Way,
    stream: &Stream,
    (from, to): (u64, u64),
) -> Result<Span> {
    submit(rig, way, stream)?;
    let whole = (stream.bytes() + AHEAD) as f64;
    let tick = |stats: &Stats| {
        let moved = match way {
            Way::Write => stats.bytes_written,
            Way::Read => stats.bytes_read,
        };
        (bench.progress)(moved as f64 / whole);
    };
    while u64::from(rig.record(0, tick)?.0) != from {}
    let before = rig.board.stats();
    let counters = rig.counters()?;
    while u64::from(rig.record(0, tick)?.0) != to {}
    let span = Span::between(rig, (&before, &counters))?;
    while u64::from(rig.record(0, tick)?.0) <= stream.count {}
    check(rig, way, stream)?;
    Ok(span)
}

/// Returns the payload a second of a stream after its first record.
pub(crate) fn stream_rate(
    bench: &Bench<'_>,
    rig: &mut Rig,
    way: Way,
    stream: &Stream,
) -> Result<(f64, Stalls)> {
    if is_many(stream) {
        let (count, span) = spread(bench, rig, way, stream)?;
        let bytes = count * stream.length;
        return Ok((bytes as f64 * 1e9 / span.ns, span.stalls));
    }
    let span = span(bench, rig, way, stream, (0, stream.count))?;
    Ok((stream.bytes() as f64 * 1e9 / span.ns, span.stalls))
}

/// Makes a row of the thesis's designs, which are a calculation.
pub(crate) fn calculated(scenario: &Scenario, design: thesis::Design) -> Row {
    let way = thesis::Direction::FpgaToGpu;
    let link = scenario.variant.config().link;
    let model = thesis::Parameters::default();
    let value = model.run(design, way, &link, 64 << 20).rate();
    let published = Some(design.published_rate());
    Row::new(scenario, value.unwrap_or(0.0), "B/s", published)
}

/// Measures a row.
pub(crate) fn measure(bench: &Bench<'_>, scenario: &Scenario) -> Result<Row> {
    let mut config = scenario.variant.config();
    let port = Port::of(&config, &bench.params);
    let name = scenario.name;
    match scenario.kind {
        Kind::Rate(way, stream) => rate(bench, scenario, &config, way, &stream),
        Kind::LinkRate(way, stream, link) => {
            link.apply(&mut config);
            rate(bench, scenario, &config, way, &stream)
        }
        Kind::Descriptors(way, stream) => {
            let mut rig = rig(bench, name, &config, &[way])?;
            let (count, span) = spread(bench, &mut rig, way, &stream)?;
            let value = count as f64 / span.cycles as f64;
            let (bytes, every) = (stream.length as u32, stream.every as u32);
            let limit = limits::small(&config, port, way, bytes, every);
            let row = Row::new(scenario, value, "descriptors/cycle", Some(limit.smaller()));
            Ok(row.with(limit, span.stalls))
        }
        Kind::Duplex(stream) => duplex(bench, scenario, &config, &stream),
        Kind::MemoryDuplex(stream, clk_ps) => {
            config.clk_ps = clk_ps;
            duplex(bench, scenario, &config, &stream)
        }
        Kind::Library(way, bytes) => opencl::transfer(bench, scenario, &config, way, bytes),
        Kind::Launch => opencl::launch(bench, scenario, &config),
        Kind::Doorbell => doorbell(bench, scenario, &config),
        Kind::Arrival => arrival(bench, scenario, &config),
        Kind::Streamed(way, streams) => {
            crate::streams::rate(bench, scenario, &config, way, streams)
        }
        Kind::BlockEnd => crate::streams::block_end(bench, scenario, &config),
        Kind::Credit => crate::streams::credit(bench, scenario, &config),
        Kind::Fairness => crate::fairness::measure(bench, scenario, &config),
        Kind::Thesis(design) => Ok(calculated(scenario, design)),
        Kind::Simulator(stream) => {
            let mut rig = rig(bench, name, &config, &[Way::Write])?;
            submit(&mut rig, Way::Write, &stream)?;
            rig.record(0, |_| ())?;
            let (cycles, start) = (rig.board.cycles(), Instant::now());
            while rig.record(0, |_| ())?.0 != stream.count as u32 {}
            let rate = (rig.board.cycles() - cycles) as f64 / start.elapsed().as_secs_f64();
            check(&rig, Way::Write, &stream)?;
            Ok(Row::new(scenario, rate, "cycles/s", None))
        }
    }
}

fn rate(
    bench: &Bench<'_>,
    scenario: &Scenario,
    config: &BoardConfig,
    way: Way,
    stream: &Stream,
) -> Result<Row> {
    let port = Port::of(config, &bench.params);
    let mut rig = rig(bench, scenario.name, config, &[way])?;
    let (rate, stalls) = stream_rate(bench, &mut rig, way, stream)?;
    let limit = limits::bulk(config, port, way);
    let mut row = Row::new(scenario, rate, "B/s", Some(limit.smaller())).with(limit, stalls);
    row.notes.push(set_by(&limit));
    Ok(row)
}

fn set_by(limit: &limits::Limit) -> String {
    format!("the limit is set by {}", limit.set_by())
}

/// Measures both directions from the moment both run until the first has done.
fn duplex(
    bench: &Bench<'_>,
    scenario: &Scenario,
    config: &BoardConfig,
    stream: &Stream,
) -> Result<Row> {
    let port = Port::of(config, &bench.params);
    let ways = [Way::Write, Way::Read];
    let mut rig = rig(bench, scenario.name, config, &ways)?;
    for way in ways {
        submit(&mut rig, way, stream)?;
    }
    let whole = (2 * stream.bytes()) as f64;
    let tick = |stats: &Stats| {
        (bench.progress)((stats.bytes_written + stats.bytes_read) as f64 / whole);
    };
    let mut left = ways.len();
    while left > 0 {
        if rig.record(0, tick)?.0 == 0 {
            left -= 1;
        }
    }
    let before = rig.board.stats();
    let counters = rig.counters()?;
    let last = stream.count as u32;
    while rig.record(0, tick)?.0 != last {}
    let span = Span::between(&mut rig, (&before, &counters))?;
    while rig.record(0, tick)?.0 != last {}
    for way in ways {
        check(&rig, way, stream)?;
    }
    let found = [(Way::Write, span.write_rate), (Way::Read, span.read_rate)].map(|(way, rate)| {
        let limit = limits::duplex(config, port, way);
        (rate, limit, rate / limit.smaller())
    });
    let [write, read] = found;
    let (worse, better, other) = if write.2 <= read.2 {
        (write, read, "GPU to FPGA")
    } else {
        (read, write, "FPGA to GPU")
    };
    let limit = worse.1;
    let mut row =
        Row::new(scenario, worse.0, "B/s", Some(limit.smaller())).with(limit, span.stalls);
    row.notes.push(set_by(&limit));
    row.notes.push(format!(
        "{other}, the better direction: {:.0} MB/s of {:.0}, {:.1} %",
        better.0 / 1e6,
        better.1.smaller() / 1e6,
        better.2 * 100.0
    ));
    Ok(row)
}

/// Measures the cycles from the slave taking the doorbell to the first request on the port.
fn doorbell(bench: &Bench<'_>, scenario: &Scenario, config: &BoardConfig) -> Result<Row> {
    let cycles = |way: Way| -> Result<u64> {
        let mut rig = rig(bench, scenario.name, config, &[way])?;
        let board = |source| Error::Board {
            row: scenario.name,
            source,
        };
        rig.board.run(1000).map_err(board)?;
        rig.board.mark();
        let at = base(way);
        rig.queue(
            0,
            way,
            &Descriptor {
                peer: at,
                local: at,
                length: 64,
                control: TOLD_AT_ONCE,
                cookie: 0,
            },
        )?;
        rig.board.drain_host().map_err(board)?;
        let rung = rig.board.last_host_write_cycle();
        rig.record(0, |_| ())?;
        let first = rig.board.stats().txs.first_request_cycle;
        Ok(first.unwrap_or(u64::MAX).saturating_sub(rung))
    };
    let read = cycles(Way::Read)?;
    let write = cycles(Way::Write)?;
    let mut row = Row::new(scenario, read as f64, "cycles", scenario.at_most());
    row.notes.push(format!(
        "a write's first request comes after {write} cycles: its data are fetched first, from a memory \
         that takes {} cycles of its own clock",
        config.ddr.latency
    ));
    Ok(row)
}

/// Measures the cycles from the slave taking the doorbell of 64 bytes to their packet, without those that FPGA memory
/// takes; and the whole way of the bytes, in parts.
fn arrival(bench: &Bench<'_>, scenario: &Scenario, config: &BoardConfig) -> Result<Row> {
    const BYTES: u32 = 64;
    let mut rig = rig(bench, scenario.name, config, &[Way::Write])?;
    let board = |source| Error::Board {
        row: scenario.name,
        source,
    };
    let at = base(Way::Write);
    rig.fill(Way::Write, at, at, BYTES.into())?;
    rig.board.run(1000).map_err(board)?;
    rig.board.mark();
    let start = rig.board.ns();
    let descriptor = Descriptor {
        peer: at,
        local: at,
        length: BYTES,
        control: TOLD_AT_ONCE,
        cookie: 0,
    };
    rig.queue(0, Way::Write, &descriptor)?;
    rig.board.drain_host().map_err(board)?;
    let (rung, rung_ns) = (rig.board.last_host_write_cycle(), rig.board.ns());
    let want = rig
        .board
        .ddr()
        .slice(at, BYTES as usize)
        .map(<[u8]>::to_vec);
    let there = |board: &peerlane_sim::Board| {
        board.gpu().memory().slice(at, BYTES as usize) == want.as_deref()
    };
    rig.board.run_until(there, 100_000).map_err(board)?;
    let (arrived, after) = (rig.board.ns(), rig.board.stats());
    let first = after.txs.first_request_cycle.unwrap_or(u64::MAX);
    let cycle_ns = config.pcie_clk_ps as f64 / 1e3;
    let memory_ns = f64::from(config.ddr.latency) * config.clk_ps as f64 / 1e3;
    let cycles = first.saturating_sub(rung) as f64;
    let own = cycles - memory_ns / cycle_ns;
    let mut row = Row::new(scenario, own, "cycles", scenario.at_most());
    let behind = arrived - rung_ns - cycles * cycle_ns;
    row.notes.push(format!(
        "from the host's store of the descriptor to the last byte at the GPU: {:.0} ns, of which {:.0} ns until the \
         doorbell is at the block, {:.0} ns in the block, {memory_ns:.0} ns in FPGA memory, {behind:.0} ns on the \
         link and to GPU memory (of these, {} ns in the model of the GPU)",
        arrived - start,
        rung_ns - start,
        own * cycle_ns,
        config.gpu.write_latency_ns
    ));
    Ok(row)
}

/// Measures the time from the host's first register write to the record in host memory, of one descriptor.
pub(crate) fn single(rig: &mut Rig, way: Way, bytes: u64) -> Result<f64> {
    let at = base(way);
    rig.board
        .run_until_quiet(200, 1_000_000)
        .map_err(|source| rig.failed(source))?;
    let start = rig.board.ns();
    rig.queue(
        0,
        way,
        &Descriptor {
            peer: at,
            local: at,
            length: bytes as u32,
            control: TOLD,
            cookie: 0,
        },
    )?;
    rig.record(0, |_| ())?;
    Ok(rig.board.ns() - start)
}
