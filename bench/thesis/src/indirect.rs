//! Copies through the host's memory, as the thesis makes them by OpenCL (chapter 6): one device after the other, or
//! both at once, in blocks.
//!
//! A model of the two copy engines. A blocking copy takes a constant time and one for each byte; concurrent copies go
//! through both engines like a pipeline of two stages, and the slower stage sets the pace.
//!
//! # Parameters
//!
//! | parameter | value | source |
//! | --- | --- | --- |
//! | FPGA to host, host to FPGA | 750 and 550 MB/s | 7.1, table |
//! | GPU to host, host to GPU | 1930 and 1950 MB/s | 7.1, table |
//! | a copy, in addition to its bytes | 134 µs | inferred from 7.4, see below |
//! | the longest concurrent copy | 256 MiB | 7.4: 512 MB failed |
//!
//! 7.4 takes blocks of a half of the transfer up to 1 MB, of a quarter from 2 to 8 MB, and of an eighth from 16 MB on.
//! In such a pipeline `n` blocks of a transfer of `S` bytes are best where `n² = S / (t · r)`, with the constant time
//! `t` and the rate `r` of the faster engine. So a half at 1 MiB, a quarter at 4 MiB and an eighth at 16 MiB all say
//! `t` = 134 µs for `r` = 1950 MB/s.
//!
//! The published rates of the methods are in no parameter. The model comes to 713 MB/s (published: 730) from FPGA to
//! GPU and 530 (525) back when both work, and to 541 (about 570) and 428 (about 378) when they take turns. The last one
//! is 13 % off: the table of 7.1 does not have the loss of the thesis's sequential copy in that direction.

use super::Direction;

/// Rates of a device's copies in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Copies {
    /// Into the host's memory.
    pub to_host: f64,
    /// From the host's memory.
    pub from_host: f64,
}

/// The model's numbers; where they come from is in the module's table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Indirect {
    /// Copies of the FPGA board.
    pub fpga: Copies,
    /// Copies of the GPU.
    pub gpu: Copies,
    /// Nanoseconds that a blocking copy takes in addition to those for its bytes.
    pub copy_ns: f64,
    /// Bytes of the longest concurrent copy.
    pub longest_concurrent: u64,
}

impl Default for Indirect {
    fn default() -> Self {
        Self {
            fpga: Copies {
                to_host: 750e6,
                from_host: 550e6,
            },
            gpu: Copies {
                to_host: 1930e6,
                from_host: 1950e6,
            },
            copy_ns: 134e3,
            longest_concurrent: 256 << 20,
        }
    }
}

impl Indirect {
    /// Returns the rates of the engine by which the data leave, and of the one by which they arrive.
    fn engines(&self, direction: Direction) -> [f64; 2] {
        match direction {
            Direction::FpgaToGpu => [self.fpga.to_host, self.gpu.from_host],
            Direction::GpuToFpga => [self.gpu.to_host, self.fpga.from_host],
        }
    }

    /// Returns the nanoseconds of a copy by an engine.
    fn copy(&self, rate: f64, bytes: u64) -> f64 {
        self.copy_ns + bytes as f64 * 1e9 / rate
    }

    /// Returns the bytes a second between the FPGA and the host, which the thesis shows for contrast: FPGA to host for
    /// [`Direction::FpgaToGpu`].
    pub fn host(&self, direction: Direction, bytes: u64) -> f64 {
        let rate = match direction {
            Direction::FpgaToGpu => self.fpga.to_host,
            Direction::GpuToFpga => self.fpga.from_host,
        };
        bytes as f64 * 1e9 / self.copy(rate, bytes)
    }

    /// Returns the bytes a second when the devices take turns.
    pub fn sequential(&self, direction: Direction, bytes: u64) -> f64 {
        let [out, into] = self.engines(direction);
        bytes as f64 * 1e9 / (self.copy(out, bytes) + self.copy(into, bytes))
    }

    /// Returns the bytes a second when both work, in blocks of so many bytes; `None` past
    /// [`longest_concurrent`](Self::longest_concurrent).
    pub fn concurrent(&self, direction: Direction, bytes: u64, block: u64) -> Option<f64> {
        if bytes > self.longest_concurrent {
            return None;
        }
        let block = block.clamp(1, bytes.max(1));
        let blocks = bytes.div_ceil(block).max(1);
        let last = bytes - (blocks - 1) * block;
        let [out, into] = self.engines(direction);
        let pace = self.copy(out, block).max(self.copy(into, block));
        let ns = self.copy(out, block) + (blocks - 1) as f64 * pace + self.copy(into, last);
        Some(bytes as f64 * 1e9 / ns)
    }

    /// Returns the block size of 7.4.
    pub fn block(bytes: u64) -> u64 {
        const MIB: u64 = 1 << 20;
        let part = match bytes {
            bytes if bytes <= MIB => 2,
            bytes if bytes <= 8 * MIB => 4,
            _ => 8,
        };
        bytes.div_ceil(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_published_rates_follow() {
        let model = Indirect::default();
        let rate = |direction| {
            let bytes = 256 * MIB;
            let block = Indirect::block(bytes);
            model.concurrent(direction, bytes, block).unwrap()
        };
        // 7.4: 730 and 525 MB/s.
        let forth = rate(Direction::FpgaToGpu) / 730e6;
        assert!((0.95..1.05).contains(&forth), "{forth}");
        let back = rate(Direction::GpuToFpga) / 525e6;
        assert!((0.95..1.05).contains(&back), "{back}");
        // 7.4: speed-ups of 28 % and 39 % over the sequential copy.
        let forth = model.sequential(Direction::FpgaToGpu, 256 * MIB) / (730e6 / 1.28);
        assert!((0.9..1.1).contains(&forth), "{forth}");
        let back = model.sequential(Direction::GpuToFpga, 256 * MIB) / (525e6 / 1.39);
        assert!((0.85..1.15).contains(&back), "{back}");
        assert_eq!(model.concurrent(Direction::FpgaToGpu, 512 * MIB, MIB), None);
    }

    #[test]
    fn a_pipeline_by_hand() {
        let even = Copies {
            to_host: 1e9,
            from_host: 1e9,
        };
        let model = Indirect {
            fpga: even,
            gpu: even,
            copy_ns: 1000.0,
            longest_concurrent: MIB,
        };
        // Four blocks of 1000 bytes, 2 µs each in either engine: five steps. In one block: 5 µs, twice.
        let rate = |block| model.concurrent(Direction::FpgaToGpu, 4000, block).unwrap();
        assert!((rate(1000) - 4000.0 / 10e-6).abs() < 1.0);
        assert!((rate(4000) - 4000.0 / 10e-6).abs() < 1.0);
        assert!((model.sequential(Direction::GpuToFpga, 4000) - 4000.0 / 10e-6).abs() < 1.0);
        assert!((model.host(Direction::GpuToFpga, 4000) - 4000.0 / 5e-6).abs() < 1.0);
        // Two blocks: three steps of 3 µs.
        assert!((rate(2000) - 4000.0 / 9e-6).abs() < 1.0);
    }

    /// 7.3: where small blocks lose and where large ones do.
    #[test]
    fn the_blocks_of_the_thesis_are_near_the_best() {
        let model = Indirect::default();
        for direction in [Direction::FpgaToGpu, Direction::GpuToFpga] {
            for log2 in 20..=28 {
                let bytes = 1 << log2;
                let rate = |block| model.concurrent(direction, bytes, block).unwrap();
                let chosen = rate(Indirect::block(bytes));
                let best = (1..=6).map(|parts| rate(bytes >> parts));
                let best = best.fold(0.0, f64::max);
                assert!(
                    chosen > 0.96 * best,
                    "{direction:?} {bytes}: {chosen} {best}"
                );
                // Both extremes lose.
                assert!(rate(bytes) < chosen && rate(bytes / 256) < chosen);
            }
        }
    }
}
