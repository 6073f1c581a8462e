//! Limits of a row: the link's, and that of the port in front of the link. For `Txs`: [`bridge`]. For the builds with a
//! transaction layer of their own: [`packets`].
//!
//! # Sources
//! Packets on the link: `peerlane_sim`'s `LinkConfig`, from the PCI Express Base Specification 3.0.

mod bridge;
mod packets;

use peerlane_hdl::Params;
use peerlane_sim::{BoardConfig, COMPLETION_HEADER_BYTES, FRAMING_BYTES, LinkConfig};
use serde::Serialize;

use crate::rig::Way;

/// Header of a request with a 64-bit address: 4 dwords.
const REQUEST_HEADER_BYTES: u32 = 16;
/// A completion record.
const RECORD_BYTES: u32 = 32;
/// Largest read request of the tagged streams.
const STREAM_READ_BYTES: u32 = 512;
/// Their tags.
const TAGS: u32 = 64;

pub(crate) use bridge::BRIDGE;

/// The two limits of a row, in the row's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// The limit of the link.
    pub link: f64,
    /// The limit of the port in front of the link: the cycles of the hard IP's bridge (`Txs`), or beats, tags and room
    /// for completions.
    pub contract: f64,
    /// Whose limit `contract` is.
    #[serde(rename = "contract_of")]
    pub by: &'static str,
}

impl Limit {
    /// Returns the smaller limit.
    pub fn smaller(&self) -> f64 {
        self.link.min(self.contract)
    }

    /// Returns the name of the smaller limit.
    pub fn set_by(&self) -> &'static str {
        if self.contract <= self.link {
            self.by
        } else {
            "the link"
        }
    }
}

/// Properties of the port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    /// Width.
    pub bytes: u32,
    /// Cycles a second.
    pub clock: f64,
    /// Completions come by tag, as many reads in flight as are needed.
    pub tagged: bool,
    /// Packets cross the link; otherwise the port itself is the limit.
    pub link: bool,
    /// The port carries packets: the block has a transaction layer.
    pub packets: bool,
}

impl Port {
    pub fn of(config: &BoardConfig, params: &Params) -> Self {
        let tagged = params.port != peerlane_hdl::Port::Txs;
        Self {
            packets: params.port == peerlane_hdl::Port::Tlp,
            bytes: params.port_bits / 8,
            clock: 1e12 / config.pcie_clk_ps as f64,
            tagged,
            link: !tagged || config.stream.link,
        }
    }

    /// Bytes a second that the link carries one way; no limit without one.
    fn link(self, rate: f64) -> f64 {
        if self.link { rate } else { f64::INFINITY }
    }

    /// Bytes that a packet's header takes of its first beat.
    fn lead(self) -> u32 {
        if self.packets { 16 } else { 0 }
    }

    fn rate(self) -> f64 {
        f64::from(self.bytes) * self.clock
    }
}

/// Link bytes of a write of `payload` bytes to a 64-bit address.
fn write_bytes(payload: u32) -> u32 {
    payload + REQUEST_HEADER_BYTES + FRAMING_BYTES
}

/// Link bytes of a read request.
fn request_bytes() -> u32 {
    REQUEST_HEADER_BYTES + FRAMING_BYTES
}

/// Link bytes of a completion.
fn completion_bytes(payload: u32) -> u32 {
    payload + COMPLETION_HEADER_BYTES + FRAMING_BYTES
}

/// Name of the limit of the tagged streams.
const STREAMS: &str = "the streams";

/// Returns the limit of bulk transfers in one direction, in bytes a second.
pub(crate) fn bulk(config: &BoardConfig, port: Port, way: Way) -> Limit {
    if port.packets {
        return packets::bulk(config, port, way);
    }
    if !port.tagged {
        return bridge::bulk(config, port, way);
    }
    let link = match way {
        Way::Write => config.link.write_ceiling(),
        Way::Read => config.link.read_ceiling(),
    };
    Limit {
        link: port.link(link),
        contract: port.rate(),
        by: STREAMS,
    }
}

/// Returns the limit of bulk transfers in both directions at once: writes share the link with the requests of the
/// reads, and the port with their commands, while reads are at their own limit.
pub(crate) fn duplex(config: &BoardConfig, port: Port, way: Way) -> Limit {
    if port.packets {
        return packets::duplex(config, port, way);
    }
    if !port.tagged {
        return bridge::duplex(config, port, way);
    }
    let link = &config.link;
    let reads = bulk(config, port, Way::Read);
    match way {
        Way::Read => reads,
        Way::Write => {
            let requests = reads.smaller() / f64::from(STREAM_READ_BYTES);
            let left = link.raw_rate() - requests * f64::from(request_bytes());
            let payload = f64::from(link.max_payload);
            Limit {
                by: STREAMS,
                link: left * payload / f64::from(write_bytes(link.max_payload)),
                contract: port.rate(),
            }
        }
    }
}

/// Returns the limit of descriptors of `bytes` (one packet each) with a record for every `every`th, in descriptors a
/// cycle.
pub(crate) fn small(config: &BoardConfig, port: Port, way: Way, bytes: u32, every: u32) -> Limit {
    if port.packets {
        return packets::small(config, port, way, bytes, every);
    }
    if !port.tagged {
        return bridge::small(config, port, way, bytes, every);
    }
    let link = &config.link;
    let share = 1.0 / f64::from(every);
    let record = f64::from(write_bytes(RECORD_BYTES)) * share;
    let beats = f64::from(bytes.div_ceil(port.bytes));
    let record_beats = f64::from(RECORD_BYTES.div_ceil(port.bytes)) * share;
    // Descriptors a second that the link has room for, if each takes so many bytes of it.
    let fit = |bytes: f64| link.raw_rate() / bytes;
    let (per_second, per_cycle) = match way {
        // A record waits for a read that follows the data (one request, one port cycle).
        Way::Write => (
            fit(f64::from(write_bytes(bytes)) + record + f64::from(request_bytes()) * share),
            1.0 / (beats + record_beats + share),
        ),
        Way::Read => {
            let out = fit(f64::from(request_bytes()) + record);
            let back = fit(f64::from(completion_bytes(bytes)));
            let in_flight = f64::from(TAGS) / round_trip_cycles(link, port, bytes);
            (out.min(back), in_flight.min(1.0 / beats))
        }
    };
    Limit {
        link: per_second / port.clock,
        contract: per_cycle,
        by: STREAMS,
    }
}

/// Returns the round trip of a read of `bytes` in cycles. The configured round trip is that of 512 bytes; for fewer
/// bytes, the time that the missing ones would take on the link and out of the port is subtracted.
fn round_trip_cycles(link: &LinkConfig, port: Port, bytes: u32) -> f64 {
    let drained = |bytes: u32| {
        let packets = bytes.div_ceil(link.completion_bytes);
        let on_link = f64::from(completion_bytes(0) * packets + bytes) / link.raw_rate();
        let last = bytes - (packets - 1) * link.completion_bytes;
        let first = f64::from(completion_bytes(bytes.min(link.completion_bytes))) / link.raw_rate();
        let beats = |bytes: u32| f64::from((port.lead() + bytes).div_ceil(port.bytes));
        let all = f64::from(packets - 1) * beats(link.completion_bytes) + beats(last);
        (on_link + beats(last) / port.clock).max(first + all / port.clock)
    };
    let whole = f64::from(link.read_round_trip_ns) * 1e-9;
    (whole - drained(512) + drained(bytes)) * port.clock
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!(
            (value / expected - 1.0).abs() < 1e-3,
            "{value}, not {expected}"
        );
    }

    fn port() -> Port {
        let params = Params {
            port: peerlane_hdl::Port::Stream,
            ..Params::default()
        };
        Port::of(&BoardConfig::default(), &params)
    }

    #[test]
    fn bulk_limits_are_the_published_ones() {
        let config = BoardConfig::default();
        let write = bulk(&config, port(), Way::Write);
        near(write.link, 3.657e9);
        near(write.contract, 4.0e9);
        near(bulk(&config, port(), Way::Read).smaller(), 3.710e9);
    }

    #[test]
    fn writes_share_the_link_with_the_requests_of_reads() {
        // 3.710e9 / 512 requests of 24 bytes are 173.9 MB/s; 256 of 280 bytes of the rest are payload.
        near(
            duplex(&BoardConfig::default(), port(), Way::Write).link,
            3.4981e9,
        );
    }

    #[test]
    fn small_descriptors_by_hand() {
        let config = BoardConfig::default();
        // 88 bytes, a sixteenth of 56 for the record and of 24 for the read: 93 bytes, 23.25 ns.
        let write = small(&config, port(), Way::Write, 64, 16);
        near(write.link, 4.0 / 23.25);
        near(write.contract, 16.0 / 67.0);
        let read = small(&config, port(), Way::Read, 64, 16);
        near(read.link, 4.0 / 21.0);
    }
}
