//! Limits of `Txs`: the smaller of the link's rate and the rate that the hard IP's Avalon-MM bridge reaches.
//!
//! The cycles are [`BridgeRates`]' of `peerlane_sim`, which tests compare with runs of the real bridge's RTL.

use peerlane_sim::{BoardConfig, BridgeRates};

use super::{Limit, Port, RECORD_BYTES, completion_bytes, request_bytes, write_bytes};
use crate::rig::Way;

/// Name of this limit in [`Limit::by`].
pub(crate) const BRIDGE: &str = "the hard IP's bridge";

/// Longest burst of the block, and longest read, in bytes.
const BURST: u32 = BridgeRates::BURST_BYTES;

fn limit(link: f64, contract: f64) -> Limit {
    Limit {
        link,
        contract,
        by: BRIDGE,
    }
}

/// Bulk in one direction, bytes a second.
pub(super) fn bulk(config: &BoardConfig, port: Port, way: Way) -> Limit {
    let rates = BridgeRates::of(config, port.bytes);
    match way {
        Way::Write => limit(config.link.write_ceiling(), rates.write(BURST)),
        Way::Read => limit(config.link.read_ceiling(), rates.read()),
    }
}

/// Both directions at once. Reads and writes take turns at the bridge's state machine. Reads that cannot use their
/// turns, because of the window or of completions, leave the cycles to the writes.
pub(super) fn duplex(config: &BoardConfig, port: Port, way: Way) -> Limit {
    let rates = BridgeRates::of(config, port.bytes);
    let reads = rates.read().min(rates.duplex(BURST));
    if let Way::Read = way {
        return limit(config.link.read_ceiling(), reads);
    }
    let requests = reads.min(config.link.read_ceiling()) / f64::from(BURST);
    let left = config.link.raw_rate() - requests * f64::from(request_bytes());
    let payload = config.link.max_payload;
    limit(
        left * f64::from(payload) / f64::from(write_bytes(payload)),
        rates.write_beside(BURST, reads),
    )
}

/// Descriptors of `bytes` (one packet each), a record for every `every`th: descriptors a cycle.
pub(super) fn small(config: &BoardConfig, port: Port, way: Way, bytes: u32, every: u32) -> Limit {
    let rates = BridgeRates::of(config, port.bytes);
    let share = 1.0 / f64::from(every);
    let record = f64::from(rates.write_cycles(RECORD_BYTES)) * share;
    let read = f64::from(BridgeRates::READ_CYCLES);
    let on_link = f64::from(write_bytes(RECORD_BYTES)) * share;
    let fit = |bytes: f64| config.link.raw_rate() / bytes / port.clock;
    match way {
        // A record waits for a read that follows the data.
        Way::Write => limit(
            fit(f64::from(write_bytes(bytes)) + on_link + f64::from(request_bytes()) * share),
            1.0 / (f64::from(rates.write_cycles(bytes)) + record + read * share),
        ),
        Way::Read => {
            let out = fit(f64::from(request_bytes()) + on_link);
            let back = fit(f64::from(completion_bytes(bytes)));
            let cycles = f64::from(BridgeRates::ROUND_TRIP_CYCLES)
                + super::round_trip_cycles(&config.link, port, bytes);
            let window = f64::from(BridgeRates::READS) / cycles;
            limit(out.min(back), window.min(1.0 / (read + record)))
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
        // 8 and 12 cycles for a completion of 64 and 128 bytes.
        for (bytes, rate) in [(64, 2.0e9), (128, 2.6667e9)] {
            config.link.completion_bytes = bytes;
            near(bulk(&config, port(), Way::Read).smaller(), rate);
        }
    }

    #[test]
    fn both_directions_take_turns() {
        let mut config = BoardConfig::default();
        // 49 cycles for 512 bytes each way.
        let each = 512.0 / 196e-9;
        near(duplex(&config, port(), Way::Read).smaller(), each);
        near(duplex(&config, port(), Way::Write).contract, each);
        // Slower reads leave their cycles to the writes.
        config.link.read_round_trip_ns = 2000;
        let reads = duplex(&config, port(), Way::Read).smaller();
        let writes = (250e6 - reads / 512.0 * 8.0) * 512.0 / 41.0;
        near(duplex(&config, port(), Way::Write).contract, writes);
    }

    #[test]
    fn small_descriptors_by_hand() {
        let config = BoardConfig::default();
        // 4 beats and one packet are 11 cycles; a sixteenth of 9 for the record and of 8 for the read.
        let write = small(&config, port(), Way::Write, 64, 16);
        near(write.contract, 16.0 / 193.0);
        // 88 bytes, a sixteenth of 56 for the record and of 24 for the read: 93 bytes, 23.25 ns.
        near(write.link, 4.0 / 23.25);
        // 64 bytes drain in 37 ns instead of 202: 835 ns, 208.75 cycles, and 22 of the bridge; 8 at a time.
        let read = small(&config, port(), Way::Read, 64, 16);
        near(read.contract, 8.0 / 230.75);
    }
}
