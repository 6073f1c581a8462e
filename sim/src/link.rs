//! The PCI Express link: the time of a packet, and the share of the payload.
//!
//! # Sources
//! PCI Express Base Specification 3.0. Symbol times, encodings and framing: section 4.2 (2.5 and
//! 5 GT/s with 8b/10b: 4 and 2 ns a byte and lane; 8 GT/s with 128b/130b: 65/64 ns; around a
//! packet STP, sequence number, LCRC and END of 1 + 2 + 4 + 1 bytes, from 8 GT/s on an STP token
//! of 4 that holds the sequence number, and LCRC of 4). Packet headers: sections 2.2.1 and 2.2.4.1
//! (3 dwords, 4 with a 64-bit address, which addresses below 4 GiB must not use).
//!
//! # Payload ceiling
//! A write of `MPS` bytes to an address of 4 GiB or above takes `MPS + 16 + 8` bytes of the link.
//! Of Gen2 x8 (8 lanes × 500 MB/s = 4 GB/s) with MPS 256 that leaves 4 × 256/280 = 3.657 GB/s, of
//! Gen3 x8 (7.877 GB/s) 7.202 GB/s, of Gen3 x16 14.40 GB/s. Data link packets (acknowledge, flow
//! control) and skip symbols are not counted: they take about 1 to 2 % more.

use serde::{Deserialize, Serialize};

/// Femtoseconds in a nanosecond. All times of the simulation are in femtoseconds, because the time of a byte on a Gen3
/// link is not a whole number of picoseconds.
pub(crate) const FS_PER_NS: u64 = 1_000_000;

/// Bytes around a packet on the link: framing, sequence number and LCRC.
pub const FRAMING_BYTES: u32 = 8;

/// Header of a completion with data: 3 dwords.
pub const COMPLETION_HEADER_BYTES: u32 = 12;

/// Speed of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// 2.5 GT/s.
    Gen1,
    /// 5 GT/s.
    Gen2,
    /// 8 GT/s.
    Gen3,
}

impl Generation {
    /// Time of one byte on one lane, in femtoseconds.
    fn byte_fs(self) -> u64 {
        match self {
            Self::Gen1 => 4_000_000,
            Self::Gen2 => 2_000_000,
            // 8 bits at 8 GT/s, with 130 bits sent for 128.
            Self::Gen3 => 1_015_625,
        }
    }
}

/// A link and the properties of its other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkConfig {
    /// Speed.
    pub generation: Generation,
    /// Lanes: 1, 2, 4, 8 or 16.
    pub lanes: u32,
    /// Largest payload of a packet in bytes (MPS): 128, 256 or 512.
    pub max_payload: u32,
    /// Largest read request in bytes (MRRS). `Txs` asks for no more than 512, even if this is larger.
    pub max_read_request: u32,
    /// Boundary at which a completer may cut a completion, in bytes (RCB): 64 or 128.
    pub read_completion_boundary: u32,
    /// Largest completion that the completer sends, in bytes: a multiple of
    /// `read_completion_boundary`, at most `max_payload`. Many root complexes send 64.
    pub completion_bytes: u32,
    /// Read round trip in nanoseconds: from the clock edge at which a port of the block (for a packet its last beat)
    /// accepts a read of 512 bytes from host memory to the edge at which its last word is valid, on an idle link. On
    /// `Txs` the bridge's own cycles are added ([`crate::BridgeRates::round_trip`]), so that the same machine has the
    /// same figure with each port. A read of a few bytes is quicker by the time that 512 bytes take on the link and on
    /// the port.
    pub read_round_trip_ns: u32,
    /// Random addition to each read request's latency: 0 to this many nanoseconds.
    pub read_jitter_ns: u32,
    /// Time from the end of a posted write on the link until its bytes are in host memory.
    pub write_latency_ns: u32,
    /// Time from the end of a host access on the link to the edge at which a slave port of the block sees it, and from
    /// a slave's answer to the host's register.
    pub mmio_latency_ns: u32,
}

impl Default for LinkConfig {
    /// Returns Gen2 x8 as on the boards: MPS 256, 1 µs read round trip, no jitter.
    fn default() -> Self {
        Self {
            generation: Generation::Gen2,
            lanes: 8,
            max_payload: 256,
            max_read_request: 512,
            read_completion_boundary: 64,
            completion_bytes: 256,
            read_round_trip_ns: 1000,
            read_jitter_ns: 0,
            write_latency_ns: 250,
            mmio_latency_ns: 250,
        }
    }
}

impl LinkConfig {
    /// Returns this link with another speed and width.
    #[must_use]
    pub fn with_speed(mut self, generation: Generation, lanes: u32) -> Self {
        self.generation = generation;
        self.lanes = lanes;
        self
    }

    /// Returns the error in the numbers, if there is one.
    pub(crate) fn problem(&self) -> Option<String> {
        let one_of = |what: &str, value: u32, of: &[u32]| {
            (!of.contains(&value)).then(|| format!("{what} is {value}; it must be one of {of:?}"))
        };
        one_of("link.lanes", self.lanes, &[1, 2, 4, 8, 16])
            .or_else(|| one_of("link.max_payload", self.max_payload, &[128, 256, 512]))
            .or_else(|| {
                one_of(
                    "link.max_read_request",
                    self.max_read_request,
                    &[128, 256, 512, 1024, 2048, 4096],
                )
            })
            .or_else(|| {
                one_of(
                    "link.read_completion_boundary",
                    self.read_completion_boundary,
                    &[64, 128],
                )
            })
            .or_else(|| {
                let whole = self
                    .completion_bytes
                    .is_multiple_of(self.read_completion_boundary);
                (!whole || self.completion_bytes == 0 || self.completion_bytes > self.max_payload)
                    .then(|| {
                        format!(
                            "link.completion_bytes is {}; it must be a multiple of {} up to {}",
                            self.completion_bytes, self.read_completion_boundary, self.max_payload
                        )
                    })
            })
    }

    /// Returns the bytes a second in one direction before packet overhead (after line coding).
    pub fn raw_rate(&self) -> f64 {
        f64::from(self.lanes) * 1e15 / self.generation.byte_fs() as f64
    }

    /// Returns the payload bytes a second of writes of `max_payload` bytes to 64-bit addresses; see the derivation in
    /// the module's text. Gen2 x8 with MPS 256: 3.657e9.
    pub fn write_ceiling(&self) -> f64 {
        let payload = f64::from(self.max_payload);
        self.raw_rate() * payload / (payload + 16.0 + f64::from(FRAMING_BYTES))
    }

    /// Returns the payload bytes a second of completions of `completion_bytes`. Gen2 x8 with 256: 3.710e9.
    pub fn read_ceiling(&self) -> f64 {
        let payload = f64::from(self.completion_bytes);
        self.raw_rate() * payload / (payload + f64::from(COMPLETION_HEADER_BYTES + FRAMING_BYTES))
    }

    /// Returns the bytes a second that a window of `reads` reads of `bytes` each can fetch in the configured round
    /// trip, independent of the link's rate. `Txs`: 8 reads of 512 bytes, at 2 µs 2.048e9.
    pub fn window_ceiling(&self, reads: u32, bytes: u32) -> f64 {
        f64::from(reads) * f64::from(bytes) * 1e9 / f64::from(self.read_round_trip_ns)
    }

    /// Returns the femtoseconds that `bytes` take on the link.
    pub(crate) fn time(&self, bytes: u32) -> u64 {
        u64::from(bytes) * self.generation.byte_fs() / u64::from(self.lanes)
    }

    /// Returns the seconds that a completion takes on the link.
    pub(crate) fn completion_seconds(&self) -> f64 {
        self.time(self.completion_bytes + COMPLETION_HEADER_BYTES + FRAMING_BYTES) as f64 * 1e-15
    }

    /// Returns the femtoseconds from the end of a read request on the link to the start of its completion, so that the
    /// whole round trip of a 512-byte read is `round_trip_ns`. Without a link only the time in which the words leave
    /// the port is subtracted.
    pub(crate) fn completer_latency(&self, round_trip_ns: u32, port: PortBeats, link: bool) -> u64 {
        let round_trip = u64::from(round_trip_ns) * FS_PER_NS;
        let completions = 512 / self.completion_bytes;
        let last = port.beats(self.completion_bytes);
        let beats = u64::from(completions) * last;
        let cycle = port.cycle;
        if !link {
            return round_trip.saturating_sub(beats * cycle);
        }
        // The requests follow each other while the first is being answered, so only one counts.
        let request = self.time(request_bytes(u64::MAX));
        let answer = self.time(512 + completions * (COMPLETION_HEADER_BYTES + FRAMING_BYTES));
        // The words of the last completion still have to cross the port; earlier words have crossed while it came in,
        // as far as the port is quicker than the link.
        let first_in = self.time(self.completion_bytes + COMPLETION_HEADER_BYTES + FRAMING_BYTES);
        let drained = (answer + last * cycle).max(first_in + beats * cycle);
        round_trip.saturating_sub(request + drained)
    }
}

/// Way in which the port in front of the link passes on a completion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortBeats {
    /// Bytes of a beat.
    pub bytes: u32,
    /// Bytes of a packet's header; 0 where only data come.
    pub header: u32,
    /// Femtoseconds of a cycle.
    pub cycle: u64,
}

impl PortBeats {
    fn beats(self, payload: u32) -> u64 {
        u64::from((self.header + payload).div_ceil(self.bytes))
    }
}

/// Returns the bytes on the link of a memory read request to `address`.
pub(crate) fn request_bytes(address: u64) -> u32 {
    header_bytes(address) + FRAMING_BYTES
}

/// Returns the bytes on the link of a memory write of the bytes `address..address + len`: whole dwords.
pub(crate) fn write_bytes(address: u64, len: u32) -> u32 {
    header_bytes(address) + FRAMING_BYTES + dwords(address, len) * 4
}

/// Returns the number of dwords that the bytes `address..address + len` touch.
pub(crate) fn dwords(address: u64, len: u32) -> u32 {
    ((address % 4) as u32 + len).div_ceil(4)
}

/// Returns the bytes of a header: 3 dwords below 4 GiB, 4 from there on (Base Specification 2.2.4.1).
fn header_bytes(address: u64) -> u32 {
    if address >> 32 == 0 { 12 } else { 16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(generation: Generation, lanes: u32) -> LinkConfig {
        LinkConfig::default().with_speed(generation, lanes)
    }

    #[test]
    fn ceilings_are_the_published_ones() {
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.002;
        assert!(near(link(Generation::Gen1, 1).raw_rate(), 250e6));
        assert!(near(link(Generation::Gen2, 8).write_ceiling(), 3.657e9));
        assert!(near(link(Generation::Gen3, 8).write_ceiling(), 7.202e9));
        assert!(near(link(Generation::Gen3, 16).write_ceiling(), 14.40e9));
        assert!(near(link(Generation::Gen2, 8).read_ceiling(), 3.710e9));
        let slow = LinkConfig {
            read_round_trip_ns: 2000,
            ..LinkConfig::default()
        };
        assert!(near(slow.window_ceiling(8, 512), 2.048e9));
    }

    #[test]
    fn packets_take_whole_dwords_and_the_right_header() {
        assert_eq!(write_bytes(0x1000, 256), 256 + 12 + 8);
        assert_eq!(write_bytes(0x1_0000_0000, 256), 256 + 16 + 8);
        // One byte at offset 3 touches one dword, two bytes there touch two.
        assert_eq!(write_bytes(3, 1), 4 + 20);
        assert_eq!(write_bytes(3, 2), 8 + 20);
        assert_eq!(request_bytes(0xFFFF_FFFF), 20);
        assert_eq!(request_bytes(0x1_0000_0000), 24);
    }

    #[test]
    fn a_byte_on_gen2_x8_takes_250_ps() {
        assert_eq!(link(Generation::Gen2, 8).time(1), 250_000);
        assert_eq!(link(Generation::Gen3, 16).time(16), 1_015_625);
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(LinkConfig::default().problem(), None);
        assert!(link(Generation::Gen2, 3).problem().is_some());
        let odd = LinkConfig {
            completion_bytes: 96,
            ..LinkConfig::default()
        };
        assert!(odd.problem().unwrap().contains("completion_bytes"));
    }
}
