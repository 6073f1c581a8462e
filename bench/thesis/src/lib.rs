//! The design of A. Gillert, *Direct GPU-FPGA Communication* (master's thesis, TU München, 2015),
//! as a timed model: the baseline that Peerlane is compared with.
//!
//! It is a model of the driver's loop, not of hardware: pin, write the bridge's translation table and a descriptor over
//! MMIO, wait for the DMA engine, take the interrupt, wake the process, go on. Its limits are counted, not assumed: 256
//! table entries of 4 KiB, so two descriptors of 512 KiB at a time, and nothing issued before both are done (5.3.2).
//!
//! # Parameters
//! One set serves all four designs ([`Parameters::default`]). The thesis measured few latencies;
//! this is where each number is from:
//!
//! | parameter | value | source |
//! | --- | --- | --- |
//! | engine rate | 750 MB/s | 7.1, table: measured FPGA to host through the same engine (1) |
//! | table write | 2 MMIO writes an entry, 256 entries of 4 KiB | 5.1, 5.3.2 |
//! | descriptor write | 8 MMIO writes | 5.1: 32 bytes |
//! | MMIO write | 0.25 µs | assumption; 0.1 µs more or less moves the 512 KiB design by 3 % |
//! | response, interrupt to next descriptor | 15 µs | inferred from the 170 MB/s of the basic design (2) |
//! | pinning, a page of 64 KiB | 18.9 µs | inferred from 610 against 740 MB/s, 7.2 (3) |
//! | block, pinned blocks kept | 32 MiB, 6 | 5.5, 5.3.2 |
//!
//! 1. An effective rate, so a lower bound of the engine's own.
//! 2. And from the rows above and below; 7.2 names this time the main bottleneck of the design.
//! 3. 9.7 ms for 32 MiB, where 5.3.2 says "several milliseconds".
//!
//! Two of the four published rates have gone into the parameters. So agreement with the basic design, and with the
//! *difference* that lazy unpinning makes, is not evidence. The 512 KiB row, the gain of two descriptors and the level
//! of the lazy row follow.
//!
//! From the GPU to the FPGA the thesis has no figure: the attempt froze the board, at times the
//! host (chapter 7). [`Parameters::run`] says so for that direction. Copies through the host's memory are
//! [`Indirect`].

mod indirect;

pub use indirect::{Copies, Indirect};

use serde::{Deserialize, Serialize};

use peerlane_sim::LinkConfig;

/// The designs of the thesis, each with the features of the ones before it (figure 7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// One descriptor of 4 KiB at a time (5.3.1).
    Basic,
    /// One descriptor of up to 512 KiB at a time.
    LargeDescriptors,
    /// Two such descriptors at a time.
    MultipleDescriptors,
    /// And GPU memory stays pinned; not counting the first transfer.
    LazyUnpinning,
}

impl Design {
    /// All, in the order of figure 7.1.
    pub const ALL: [Self; 4] = [
        Self::Basic,
        Self::LargeDescriptors,
        Self::MultipleDescriptors,
        Self::LazyUnpinning,
    ];

    /// The published peak rate from FPGA to GPU in bytes a second (7.2, 7.4).
    pub fn published_rate(self) -> f64 {
        match self {
            Self::Basic => 170e6,
            Self::LargeDescriptors => 580e6,
            Self::MultipleDescriptors => 610e6,
            Self::LazyUnpinning => 740e6,
        }
    }

    fn descriptor_bytes(self, parameters: &Parameters) -> u64 {
        match self {
            Self::Basic => parameters.entry_bytes,
            _ => parameters.entry_bytes * parameters.entries_per_descriptor,
        }
    }

    fn at_once(self, parameters: &Parameters) -> u64 {
        match self {
            Self::Basic | Self::LargeDescriptors => 1,
            // More would overwrite table entries in use (5.3.2).
            _ => (parameters.entries / parameters.entries_per_descriptor)
                .min(parameters.descriptor_queue),
        }
    }
}

/// Which way the data go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The FPGA writes into GPU memory.
    FpgaToGpu,
    /// The FPGA reads GPU memory.
    GpuToFpga,
}

/// The model's numbers; where they come from is in the module's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Bytes a second that the DMA engine moves while it works.
    pub engine_rate: f64,
    /// Entries of the translation table.
    pub entries: u64,
    /// Bytes of an entry's page.
    pub entry_bytes: u64,
    /// Entries that one descriptor may span.
    pub entries_per_descriptor: u64,
    /// Descriptors that the engine queues.
    pub descriptor_queue: u64,
    /// MMIO writes for an entry.
    pub writes_per_entry: u64,
    /// MMIO writes for a descriptor.
    pub writes_per_descriptor: u64,
    /// Nanoseconds of an MMIO write.
    pub mmio_write_ns: f64,
    /// Nanoseconds from the end of the last descriptor to the first MMIO write for the next:
    /// interrupt, acknowledgement, signal, semaphore, system call.
    pub response_ns: f64,
    /// Nanoseconds to pin, and later unpin, a page of GPU memory.
    pub pin_page_ns: f64,
    /// Bytes of such a page.
    pub pin_page_bytes: u64,
    /// Bytes that are pinned and transferred as one block.
    pub block_bytes: u64,
    /// Blocks that lazy unpinning keeps.
    pub kept_blocks: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            engine_rate: 750e6,
            entries: 256,
            entry_bytes: 4096,
            entries_per_descriptor: 128,
            descriptor_queue: 128,
            writes_per_entry: 2,
            writes_per_descriptor: 8,
            mmio_write_ns: 250.0,
            response_ns: 15_000.0,
            pin_page_ns: 18_900.0,
            pin_page_bytes: 64 << 10,
            block_bytes: 32 << 20,
            kept_blocks: 6,
        }
    }
}

/// Result of a modelled transfer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Run {
    /// Bytes moved.
    pub bytes: u64,
    /// Nanoseconds from the call to the return.
    pub ns: f64,
    /// Descriptors issued; each raised an interrupt.
    pub descriptors: u64,
    /// MMIO writes made.
    pub mmio_writes: u64,
    /// Pages of GPU memory pinned.
    pub pages_pinned: u64,
}

impl Run {
    /// Bytes a second.
    pub fn rate(&self) -> f64 {
        if self.ns > 0.0 {
            self.bytes as f64 * 1e9 / self.ns
        } else {
            0.0
        }
    }
}

/// How a transfer ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The data are there.
    Done(Run),
    /// The board no longer answers, at times the host neither: GPU to FPGA (chapter 7).
    Frozen,
}

impl Outcome {
    /// Bytes a second; `None` when the board froze.
    pub fn rate(&self) -> Option<f64> {
        match self {
            Self::Done(run) => Some(run.rate()),
            Self::Frozen => None,
        }
    }
}

impl Parameters {
    /// Runs a transfer of `bytes`, the second or a later one to its buffer.
    pub fn run(
        &self,
        design: Design,
        direction: Direction,
        link: &LinkConfig,
        bytes: u64,
    ) -> Outcome {
        match direction {
            Direction::FpgaToGpu => Outcome::Done(self.write(design, link, bytes)),
            Direction::GpuToFpga => Outcome::Frozen,
        }
    }

    fn write(&self, design: Design, link: &LinkConfig, bytes: u64) -> Run {
        // The engine cannot be quicker than the link's payload ceiling.
        let rate = self.engine_rate.min(link.write_ceiling());
        let mut run = Run {
            bytes,
            ns: 0.0,
            descriptors: 0,
            mmio_writes: 0,
            pages_pinned: 0,
        };
        let blocks = bytes.div_ceil(self.block_bytes);
        for block in 0..blocks {
            let len = (bytes - block * self.block_bytes).min(self.block_bytes);
            if self.pins(design, block, blocks) {
                let pages = len.div_ceil(self.pin_page_bytes);
                run.pages_pinned += pages;
                run.ns += pages as f64 * self.pin_page_ns;
            }
            self.block(design, rate, len, &mut run);
        }
        run
    }

    /// Reports whether a block has to be pinned. If there are more blocks than can stay pinned, all but one of those
    /// stay and the other blocks share the last place in turn (5.3.2).
    fn pins(&self, design: Design, block: u64, blocks: u64) -> bool {
        design != Design::LazyUnpinning
            || (blocks > self.kept_blocks && block + 1 >= self.kept_blocks)
    }

    /// Models the loop of `rdma_update` over one pinned block.
    fn block(&self, design: Design, rate: f64, len: u64, run: &mut Run) {
        let size = design.descriptor_bytes(self).max(1);
        let mut left = len;
        let mut now = run.ns;
        while left > 0 {
            // The time at which the engine has done all descriptors written so far.
            let mut engine = now;
            for _ in 0..design.at_once(self).max(1) {
                let bytes = left.min(size);
                if bytes == 0 {
                    break;
                }
                left -= bytes;
                let entries = bytes.div_ceil(self.entry_bytes);
                let writes = entries * self.writes_per_entry + self.writes_per_descriptor;
                run.descriptors += 1;
                run.mmio_writes += writes;
                // The second descriptor is written while the engine works on the first.
                now += writes as f64 * self.mmio_write_ns;
                engine = engine.max(now) + bytes as f64 * 1e9 / rate;
            }
            now = now.max(engine) + self.response_ns;
        }
        run.ns = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_sim::Generation;

    fn run(design: Design, bytes: u64) -> Run {
        let link = LinkConfig::default();
        match Parameters::default().run(design, Direction::FpgaToGpu, &link, bytes) {
            Outcome::Done(run) => run,
            Outcome::Frozen => panic!("froze"),
        }
    }

    #[test]
    fn all_four_designs_come_within_a_tenth_of_the_published_rates() {
        for size in [32_u64 << 20, 64 << 20, 128 << 20] {
            for design in Design::ALL {
                let ratio = run(design, size).rate() / design.published_rate();
                assert!(
                    (0.9..=1.1).contains(&ratio),
                    "{design:?} {size}: {ratio:.3}"
                );
            }
        }
    }

    #[test]
    fn descriptors_and_writes_are_counted() {
        // By hand: 1 MiB is 256 descriptors of 4 KiB with 2 + 8 writes each …
        let basic = run(Design::Basic, 1 << 20);
        assert_eq!((basic.descriptors, basic.mmio_writes), (256, 2560));
        assert_eq!(basic.pages_pinned, 16);
        // … or 2 of 512 KiB with 256 + 8.
        let large = run(Design::LargeDescriptors, 1 << 20);
        assert_eq!((large.descriptors, large.mmio_writes), (2, 528));
        // Two in flight save one response, and the writing of the second.
        let both = run(Design::MultipleDescriptors, 1 << 20);
        assert_eq!(both.descriptors, 2);
        let saved = large.ns - both.ns;
        assert!((saved - (15_000.0 + 264.0 * 250.0)).abs() < 1.0, "{saved}");
        assert_eq!(run(Design::LazyUnpinning, 1 << 20).pages_pinned, 0);
    }

    #[test]
    fn lazy_unpinning_loses_past_192_mib() {
        // 7.4: the rate deteriorates after 192 MB.
        let within = run(Design::LazyUnpinning, 192 << 20);
        assert_eq!(within.pages_pinned, 0);
        let beyond = run(Design::LazyUnpinning, 256 << 20);
        // Eight blocks: five stay, three of 512 pages take turns.
        assert_eq!(beyond.pages_pinned, 3 * 512);
        assert!(beyond.rate() < within.rate() * 0.95);
    }

    #[test]
    fn reads_from_the_gpu_freeze_and_a_slow_link_limits() {
        let parameters = Parameters::default();
        let link = LinkConfig::default();
        for design in Design::ALL {
            let outcome = parameters.run(design, Direction::GpuToFpga, &link, 4096);
            assert_eq!(outcome, Outcome::Frozen);
            assert_eq!(outcome.rate(), None);
        }
        let slow = LinkConfig::default().with_speed(Generation::Gen1, 1);
        let outcome = parameters.run(Design::LazyUnpinning, Direction::FpgaToGpu, &slow, 64 << 20);
        let rate = outcome.rate().unwrap();
        assert!(rate < slow.write_ceiling() && rate > slow.write_ceiling() * 0.9);
    }
}
