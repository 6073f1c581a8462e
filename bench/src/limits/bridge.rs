//! Limits of `Txs`: the smallest of what the link carries and what the hard IP's Avalon-MM bridge does in its cycles.
//!
//! # Sources
//! The RTL that Quartus 16.0 generates for the Avalon-MM bridge of Stratix V (`altera_pcie_sv_hip_avmm`, 128 bits,
//! 64-bit addresses), run in a simulation: one state machine serves writes and reads.
//!
//! - A write burst of `n` beats in `p` packets takes `n + 5 + 2p` cycles. A packet has at most 256 bytes, and 128 where
//!   the Max Payload Size is 128.
//! - A read of up to 512 bytes takes 8 cycles. 8 reads are under way at most.
//! - A completion takes 4 cycles, and one for each 16 bytes of data.
//!
//! The arithmetic is done here; the model of the bridge (`peerlane_sim`) is not asked.

use peerlane_sim::BoardConfig;

use super::{Limit, Port, RECORD_BYTES, completion_bytes, request_bytes, write_bytes};
use crate::rig::Way;

/// Name of this limit in [`Limit::by`].
pub(crate) const BRIDGE: &str = "the hard IP's bridge";

/// Longest burst of the block, bytes.
const BURST: u32 = 512;
/// Reads under way at most.
const READS: f64 = 8.0;
/// Cycles of the bridge for a read command.
const READ_CYCLES: f64 = 8.0;

/// Cycles of the bridge for a write burst of so many bytes.
fn write_cycles(config: &BoardConfig, port: Port, bytes: u32) -> f64 {
    let packet = config.link.max_payload.min(256);
    f64::from(bytes.div_ceil(port.bytes) + 5 + 2 * bytes.div_ceil(packet))
}

/// Cycles of the bridge for a completion of so many bytes.
fn completion_cycles(port: Port, bytes: u32) -> f64 {
    f64::from(4 + bytes.div_ceil(port.bytes))
}

/// Bytes a second that the bridge gives out, by size and number of completions.
fn completions(config: &BoardConfig, port: Port) -> f64 {
    let bytes = config.link.completion_bytes;
    port.clock * f64::from(bytes) / completion_cycles(port, bytes)
}

fn limit(link: f64, contract: f64) -> Limit {
    Limit {
        link,
        contract,
        by: BRIDGE,
    }
}

/// Bulk in one direction, bytes a second.
pub(super) fn bulk(config: &BoardConfig, port: Port, way: Way) -> Limit {
    let link = &config.link;
    match way {
        Way::Write => limit(
            link.write_ceiling(),
            port.clock * f64::from(BURST) / write_cycles(config, port, BURST),
        ),
        Way::Read => {
            let window = READS * f64::from(BURST) * 1e9 / f64::from(link.read_round_trip_ns);
            limit(link.read_ceiling(), window.min(completions(config, port)))
        }
    }
}

/// Both directions at once. Reads and writes take turns at the bridge's state machine. Reads that cannot use their
/// turns, because of the window or of completions, leave the cycles to the writes.
pub(super) fn duplex(config: &BoardConfig, port: Port, way: Way) -> Limit {
    let alone = bulk(config, port, Way::Read);
    let burst = f64::from(BURST);
    let turn = write_cycles(config, port, BURST) + READ_CYCLES;
    let reads = alone.contract.min(port.clock * burst / turn);
    if let Way::Read = way {
        return limit(alone.link, reads);
    }
    let requests = reads.min(alone.link) / burst;
    let left = config.link.raw_rate() - requests * f64::from(request_bytes());
    let payload = f64::from(config.link.max_payload);
    limit(
        left * payload / f64::from(write_bytes(config.link.max_payload)),
        (port.clock - requests * READ_CYCLES) * burst / write_cycles(config, port, BURST),
    )
}

/// Descriptors of `bytes` (one packet each), a record for every `every`th: descriptors a cycle.
pub(super) fn small(config: &BoardConfig, port: Port, way: Way, bytes: u32, every: u32) -> Limit {
    let share = 1.0 / f64::from(every);
    let record = write_cycles(config, port, RECORD_BYTES) * share;
    let on_link = f64::from(write_bytes(RECORD_BYTES)) * share;
    let fit = |bytes: f64| config.link.raw_rate() / bytes / port.clock;
    match way {
        // A record waits for a read that follows the data.
        Way::Write => limit(
            fit(f64::from(write_bytes(bytes)) + on_link + f64::from(request_bytes()) * share),
            1.0 / (write_cycles(config, port, bytes) + record + READ_CYCLES * share),
        ),
        Way::Read => {
            let out = fit(f64::from(request_bytes()) + on_link);
            let back = fit(f64::from(completion_bytes(bytes)));
            let window = READS / super::round_trip_cycles(&config.link, port, bytes);
            let commands = 1.0 / (READ_CYCLES + record);
            limit(
                out.min(back),
                window
                    .min(commands)
                    .min(1.0 / completion_cycles(port, bytes)),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_hdl::Params;

    fn port() -> Port {
        Port::of(&BoardConfig::default(), &Params::default())
    }

    fn near(value: f64, expected: f64) {
        assert!(
            (value / expected - 1.0).abs() < 1e-3,
            "{value}, not {expected}"
        );
    }

    #[test]
    fn writes_by_hand() {
        let mut config = BoardConfig::default();
        // 32 beats, two packets: 41 cycles of 4 ns for 512 bytes.
        near(bulk(&config, port(), Way::Write).contract, 512.0 / 164e-9);
        near(bulk(&config, port(), Way::Write).link, 3.657e9);
        // Four packets: 45 cycles.
        config.link.max_payload = 128;
        config.link.completion_bytes = 128;
        near(bulk(&config, port(), Way::Write).contract, 512.0 / 180e-9);
    }

    #[test]
    fn reads_by_hand() {
        let mut config = BoardConfig::default();
        // 8, 12 and 20 cycles for a completion of 64, 128 and 256 bytes.
        for (bytes, rate) in [(64, 2.0e9), (128, 2.6667e9), (256, 3.2e9)] {
            config.link.completion_bytes = bytes;
            near(bulk(&config, port(), Way::Read).smaller(), rate);
        }
        config.link.read_round_trip_ns = 2000;
        near(bulk(&config, port(), Way::Read).smaller(), 2.048e9);
    }

    #[test]
    fn both_directions_take_turns() {
        let mut config = BoardConfig::default();
        // 49 cycles for 512 bytes each way.
        let each = 512.0 / 196e-9;
        near(duplex(&config, port(), Way::Read).smaller(), each);
        near(duplex(&config, port(), Way::Write).contract, each);
        // Reads of 2 us are slower than their turns: 250e6 cycles less 8 for each of 4e6 reads.
        config.link.read_round_trip_ns = 2000;
        near(
            duplex(&config, port(), Way::Write).contract,
            218e6 * 512.0 / 41.0,
        );
    }

    #[test]
    fn small_descriptors_by_hand() {
        let config = BoardConfig::default();
        // 4 beats and one packet are 11 cycles; a sixteenth of 9 for the record and of 8 for the read.
        let write = small(&config, port(), Way::Write, 64, 16);
        near(write.contract, 16.0 / 193.0);
        // 88 bytes, a sixteenth of 56 for the record and of 24 for the read: 93 bytes, 23.25 ns.
        near(write.link, 4.0 / 23.25);
        // 64 bytes drain in 37 ns instead of 202: 835 ns, 208.75 cycles, 8 at a time.
        let read = small(&config, port(), Way::Read, 64, 16);
        near(read.contract, 8.0 / 208.75);
    }
}
