//! Limits of the block with its own transaction layer, on the hard IP's Avalon-ST interface: the smallest of the limits
//! of the link, of the interface, of the tags, and of the hard IP's buffer for completions.
//!
//! # Sources
//! PCI Express Base Specification 3.0: symbol rates and line coding (4.2), header lengths (2.2), framing, sequence
//! number and LCRC of 8 bytes a packet (4.2.2). Data link packets and skip symbols are not counted.
//!
//! Stratix V Avalon-ST Interface for PCIe 683093: a packet begins with a beat of its own, in which the data follow
//! after 16 bytes where their address is a multiple of 8; 64 tags, of which the block keeps eight for reads that flush.
//! None of these numbers is taken from the models: the numbers of a row's board are read from its configuration, the
//! arithmetic is done here.
//!
//! An endpoint cannot hold completions back. So no read may leave before there is room for all that it may bring, in
//! the worst case a completion for each line of 64 bytes. Room divided by the round trip is a rate.

use peerlane_sim::{BoardConfig, Generation, LinkConfig};

use super::{Limit, Port, RECORD_BYTES};
use crate::rig::Way;

/// Sequence number, LCRC and framing.
const AROUND: f64 = 8.0;
/// A request with a 64-bit address.
const REQUEST: f64 = 16.0 + AROUND;
/// A completion, without its data.
const COMPLETION: f64 = 12.0 + AROUND;
/// Bytes of the first beats that the header takes.
const LEAD: u32 = 16;
/// Tags for data.
const DATA_TAGS: f64 = 56.0;
/// Longest read of the block.
const LONGEST: u32 = 512;
/// Bytes of FPGA memory or of the bus that one completion has room for in the account.
const LINE: f64 = 64.0;

/// Bytes of a word of FPGA memory: 512 bits.
const MEMORY_WORD: f64 = 64.0;

/// Returns the number of whole reads that the hard IP's buffer has room for, and their bytes. A part of a read is of no
/// use, because a completer may answer all of it at once.
fn whole_reads(config: &BoardConfig) -> (u32, u32) {
    let bytes = read_bytes(&config.link);
    let lines = bytes.div_ceil(LINE as u32);
    (config.tlp.completion_headers / lines, bytes)
}

/// Returns the bytes a second of a link, one way, after line coding.
fn raw(link: &LinkConfig) -> f64 {
    let lane = match link.generation {
        Generation::Gen1 => 2.5e9 / 10.0,
        Generation::Gen2 => 5e9 / 10.0,
        Generation::Gen3 => 8e9 / 8.0 * 128.0 / 130.0,
    };
    lane * f64::from(link.lanes)
}

/// Returns the beats of a packet with so many bytes of data.
fn beats(port: Port, payload: u32) -> f64 {
    f64::from((LEAD + payload).div_ceil(port.bytes))
}

fn read_bytes(link: &LinkConfig) -> u32 {
    link.max_read_request.min(LONGEST)
}

/// Returns the smallest limit, with its name.
fn least<const N: usize>(of: [(&'static str, f64); N]) -> (&'static str, f64) {
    of.into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or(("", f64::INFINITY))
}

/// Returns the limit of bulk transfers in one direction, in bytes a second.
pub(super) fn bulk(config: &BoardConfig, port: Port, way: Way) -> Limit {
    let link = &config.link;
    match way {
        Way::Write => {
            let payload = f64::from(link.max_payload);
            Limit {
                link: raw(link) * payload / (payload + REQUEST),
                contract: port.clock * payload / beats(port, link.max_payload),
                by: "the interface",
            }
        }
        Way::Read => {
            let payload = f64::from(link.completion_bytes);
            let round_trip = f64::from(config.gpu.read_round_trip_ns) * 1e-9;
            let (reads, bytes) = whole_reads(config);
            let space = f64::from(reads * bytes);
            let (by, contract) = least([
                (
                    "the interface",
                    port.clock * payload / beats(port, link.completion_bytes),
                ),
                (
                    "the number of tags",
                    DATA_TAGS * f64::from(read_bytes(link)) / round_trip,
                ),
                ("the hard IP's buffer for completions", space / round_trip),
            ]);
            Limit {
                link: raw(link) * payload / (payload + COMPLETION),
                contract,
                by,
            }
        }
    }
}

/// Returns the limit of both directions at once, while reads are at their own limit: their requests take room of the
/// writes. FPGA memory, of one word a cycle, is for both.
pub(super) fn duplex(config: &BoardConfig, port: Port, way: Way) -> Limit {
    let mut limit = one_of_two(config, port, way);
    let share = MEMORY_WORD / 2.0 * 1e12 / config.clk_ps as f64;
    if share < limit.contract {
        limit.contract = share;
        limit.by = "FPGA memory";
    }
    limit
}

fn one_of_two(config: &BoardConfig, port: Port, way: Way) -> Limit {
    let reads = bulk(config, port, Way::Read);
    let Way::Write = way else {
        return reads;
    };
    let link = &config.link;
    let requests = reads.smaller() / f64::from(read_bytes(link));
    let payload = f64::from(link.max_payload);
    Limit {
        link: (raw(link) - requests * REQUEST) * payload / (payload + REQUEST),
        contract: (port.clock - requests) * payload / beats(port, link.max_payload),
        by: "the interface",
    }
}

/// Returns the limit of descriptors of `bytes` (one packet each) with a record for every `every`th, in descriptors a
/// cycle.
pub(super) fn small(config: &BoardConfig, port: Port, way: Way, bytes: u32, every: u32) -> Limit {
    let share = 1.0 / f64::from(every);
    let raw = raw(&config.link) / port.clock;
    let data = f64::from(bytes);
    let record = (f64::from(RECORD_BYTES) + REQUEST) * share;
    let record_beats = beats(port, RECORD_BYTES) * share;
    match way {
        // A record waits for a read that follows the data.
        Way::Write => Limit {
            link: raw / (data + REQUEST + record + REQUEST * share),
            contract: 1.0 / (beats(port, bytes) + record_beats + share),
            by: "the interface",
        },
        Way::Read => {
            let round_trip = super::round_trip_cycles(&config.link, port, bytes);
            let (by, contract) = least([
                ("the interface", 1.0 / beats(port, bytes)),
                ("the number of tags", DATA_TAGS / round_trip),
                (
                    "the hard IP's buffer for completions",
                    f64::from(config.tlp.completion_headers) / (data / LINE).ceil() / round_trip,
                ),
            ]);
            Limit {
                link: (raw / (REQUEST + record)).min(raw / (data + COMPLETION)),
                contract,
                by,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_hdl::Params;

    fn near(value: f64, expected: f64) {
        assert!(
            (value / expected - 1.0).abs() < 2e-3,
            "{value}, not {expected}"
        );
    }

    fn board(generation: Generation, round_trip: u32) -> (BoardConfig, Port) {
        let mut config = BoardConfig::default();
        config.link = config.link.with_speed(generation, 8);
        config.link.max_read_request = 512;
        config.gpu.read_round_trip_ns = round_trip;
        let port_bits = if generation == Generation::Gen3 {
            256
        } else {
            128
        };
        let params = Params {
            port: peerlane_hdl::Port::Tlp,
            port_bits,
            ..Params::default()
        };
        let port = Port::of(&config, &params);
        (config, port)
    }

    /// By hand: 4 GB/s and 250 million beats of 16 bytes; 7.877 GB/s and as many of 32.
    #[test]
    fn bulk_by_hand() {
        let (config, port) = board(Generation::Gen2, 1000);
        let write = super::bulk(&config, port, Way::Write);
        near(write.link, 4e9 * 256.0 / 280.0);
        near(write.contract, 256.0 / 17.0 * 250e6);
        let read = super::bulk(&config, port, Way::Read);
        near(read.smaller(), 3.710e9);
        near(read.contract, 3.765e9);
        let (config, port) = board(Generation::Gen3, 1000);
        let write = super::bulk(&config, port, Way::Write);
        near(write.link, 7.202e9);
        near(write.smaller(), 7.111e9);
        assert_eq!(super::bulk(&config, port, Way::Read).by, "the interface");
    }

    /// 195 lines of 64 bytes have room for 24 reads of 512 bytes: in 2 µs 6.144 GB/s, in 3 µs 4.096, more than Gen2 x8
    /// carries.
    #[test]
    fn the_room_for_completions_by_hand() {
        let (config, port) = board(Generation::Gen3, 2000);
        let read = super::bulk(&config, port, Way::Read);
        near(read.smaller(), 6.144e9);
        assert_eq!(read.by, "the hard IP's buffer for completions");
        let (config, port) = board(Generation::Gen2, 3000);
        near(super::bulk(&config, port, Way::Read).smaller(), 3.710e9);
    }

    /// 7.111e9 / 512 requests a second: as many beats fewer for the writes, and 24 bytes of the link each.
    #[test]
    fn duplex_by_hand() {
        let (mut config, port) = board(Generation::Gen3, 1000);
        // 200 million words of 64 bytes, half of them for each.
        let slow = super::duplex(&config, port, Way::Read);
        near(slow.contract, 6.4e9);
        assert_eq!(slow.by, "FPGA memory");
        config.clk_ps = 4000;
        let write = super::duplex(&config, port, Way::Write);
        near(write.contract, (250e6 - 13.889e6) / 9.0 * 256.0);
        near(write.link, (7.877e9 - 0.3333e9) * 256.0 / 280.0);
    }

    /// 64 bytes are five beats of 128 bits, and 88 bytes of the link.
    #[test]
    fn small_descriptors_by_hand() {
        let (config, port) = board(Generation::Gen2, 1000);
        let write = super::small(&config, port, Way::Write, 64, 16);
        near(write.contract, 1.0 / (5.0 + 4.0 / 16.0));
        near(write.link, 16.0 / (88.0 + 56.0 / 16.0 + 24.0 / 16.0));
    }
}
