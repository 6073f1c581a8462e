//! Rates that the bridge allows by itself, apart from the link.

use super::{
    ASK_CYCLES, BURST_BYTES, COMPLETION_CYCLES, GIVE_CYCLES, READ_CYCLES, READS, TRANSLATE, payload,
};
use crate::config::BoardConfig;

/// Limits of the Avalon-MM bridge by itself, of cycles that were counted in runs of its RTL ([`crate::bridge`]). A
/// design reaches less by the cycles that it needs of its own: with the real bridge and Peerlane's block as it was,
/// 2768 and 3104 MB/s of writes in bursts of 256 and 512 bytes, and 2600 MB/s each way at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BridgeRates {
    /// Bytes of a word.
    pub width: u32,
    /// Cycles a second.
    pub clock: f64,
    /// Max Payload Size in bytes.
    pub max_payload: u32,
    /// Bytes of a completion.
    pub completion_bytes: u32,
    /// Time from a read's being taken to its last word's being given out, in seconds, of 512 bytes on an idle link.
    pub round_trip: f64,
}

impl BridgeRates {
    /// Cycles of the command machine for a read of up to 512 bytes.
    pub const READ_CYCLES: u32 = READ_CYCLES;
    /// Bytes of the longest burst, and of the longest read.
    pub const BURST_BYTES: u32 = BURST_BYTES;
    /// Reads under way at most.
    pub const READS: u32 = READS;
    /// Cycles of the bridge in a read: from its command to its request, and from its last completion to its first word.
    pub const ROUND_TRIP_CYCLES: u32 = ASK_CYCLES + GIVE_CYCLES;

    /// The limits on a board with words of so many bytes.
    pub fn of(config: &BoardConfig, width: u32) -> Self {
        let clock = 1e12 / config.pcie_clk_ps as f64;
        let mut rates = Self {
            width,
            clock,
            max_payload: payload(&config.link),
            completion_bytes: config.link.completion_bytes,
            round_trip: f64::from(config.link.read_round_trip_ns) * 1e-9,
        };
        rates.round_trip += rates.extra_cycles(config) / clock;
        rates
    }

    /// Cycles that the bridge adds to the round trip of [`crate::LinkConfig::read_round_trip_ns`], which is that of a
    /// port that takes and gives words without a bridge.
    fn extra_cycles(&self, config: &BoardConfig) -> f64 {
        let completions = f64::from(BURST_BYTES / self.completion_bytes);
        let link = config.link.completion_seconds() * self.clock;
        // The last completion is at the bridge when it has crossed the link, or when those before it are through.
        let late = (f64::from(self.completion_cycles()) - link).max(0.0) * (completions - 1.0);
        let words = f64::from(BURST_BYTES / self.width);
        let without = f64::from(self.completion_bytes.div_ceil(self.width));
        f64::from(ASK_CYCLES + GIVE_CYCLES) + late + words - without
    }

    /// Cycles of a write burst of so many bytes from command to command: `n + 5 + 2p` for `n` beats in `p` packets.
    pub fn write_cycles(&self, bytes: u32) -> u32 {
        let beats = bytes.div_ceil(self.width);
        beats + 1 + TRANSLATE + 2 * bytes.div_ceil(self.max_payload)
    }

    /// Bytes a second of write bursts of so many bytes: at 250 MHz, 128 bits and MPS 256 bursts of 256 bytes give 2783,
    /// of 512 bytes 3122 MB/s.
    pub fn write(&self, bytes: u32) -> f64 {
        f64::from(bytes) * self.clock / f64::from(self.write_cycles(bytes))
    }

    fn completion_cycles(&self) -> u32 {
        COMPLETION_CYCLES + self.completion_bytes.div_ceil(self.width)
    }

    /// Bytes a second of completions: 4 cycles and one for each word. At 250 MHz and 128 bits 2000, 2667 and 3200 MB/s
    /// for 64, 128 and 256 bytes.
    pub fn completions(&self) -> f64 {
        f64::from(self.completion_bytes) * self.clock / f64::from(self.completion_cycles())
    }

    /// Bytes a second of eight reads of 512 bytes in flight.
    pub fn window(&self) -> f64 {
        f64::from(READS * BURST_BYTES) / self.round_trip
    }

    /// Bytes a second of reads of 512 bytes: the smaller limit, of completions or of eight reads in flight.
    pub fn read(&self) -> f64 {
        self.completions().min(self.window())
    }

    /// Bytes a second each way of write bursts of so many bytes and as much by reads of 512 bytes: both take their turn in
    /// one machine, the read 8 cycles. Bursts of 512 bytes: 2612 MB/s each way at 250 MHz.
    pub fn duplex(&self, bytes: u32) -> f64 {
        let write = f64::from(self.write_cycles(bytes)) / f64::from(bytes);
        let read = f64::from(READ_CYCLES) / f64::from(BURST_BYTES);
        self.clock / (write + read)
    }

    /// Bytes a second of write bursts of so many bytes, together with reads at this rate.
    pub fn write_beside(&self, bytes: u32, reads: f64) -> f64 {
        let taken = reads / f64::from(BURST_BYTES) * f64::from(READ_CYCLES);
        self.write(bytes) * (1.0 - taken / self.clock).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkConfig;

    fn rates(max_payload: u32, completion_bytes: u32) -> BridgeRates {
        let link = LinkConfig {
            max_payload,
            completion_bytes,
            ..LinkConfig::default()
        };
        let config = BoardConfig {
            link,
            ..BoardConfig::default()
        };
        BridgeRates::of(&config, 16)
    }

    #[test]
    fn a_burst_takes_the_cycles_that_were_counted() {
        let found = [1, 2, 4, 8, 16, 32].map(|beats| rates(256, 64).write_cycles(beats * 16));
        assert_eq!(found, [8, 9, 11, 15, 23, 41]);
        assert_eq!(rates(128, 64).write_cycles(512), 45);
    }

    #[test]
    fn limits_are_just_above_the_rates_of_the_real_bridge() {
        let above = |limit: f64, measured: f64| {
            let ratio = limit / (measured * 1e6);
            assert!((1.0..1.012).contains(&ratio), "{limit} for {measured} MB/s");
        };
        above(rates(256, 256).write(256), 2768.0);
        above(rates(256, 256).write(512), 3104.0);
        above(rates(128, 128).write(256), 2547.0);
        above(rates(128, 128).write(512), 2829.0);
        above(rates(256, 64).completions(), 1992.0);
        above(rates(256, 128).completions(), 2653.0);
        above(rates(256, 256).completions(), 3191.0);
        above(rates(256, 256).duplex(512), 2600.0);
        // Both ways at once with bursts of 256 bytes.
        above(rates(256, 256).write_beside(256, 2806e6), 2293.0);
    }

    #[test]
    fn eight_reads_in_flight_are_a_limit() {
        let mut rates = rates(256, 256);
        rates.round_trip = 2e-6;
        assert!((rates.read() - 2.048e9).abs() < 1.0);
    }
}
