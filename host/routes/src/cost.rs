//! The time of copies, as measured, and the length of a concurrent copy's pieces that follows from it.

use std::time::Duration;

/// The time of a copy as a line over its length: a constant time, and a time for each byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds of an empty copy.
    pub latency: f64,
    /// Bytes a second after that.
    pub rate: f64,
}

/// The short copy of a measurement.
const SHORT: u64 = 4 << 10;

/// Number of measurements of each length. The shortest time counts: a longer time has parts that are not the copy's.
const TIMES: usize = 3;

impl Cost {
    /// Computes the line through two measured times.
    pub fn through((short, first): (u64, f64), (long, second): (u64, f64)) -> Self {
        let by_length = (second - first) / (long as f64 - short as f64);
        match by_length.is_finite() && by_length > 0.0 {
            true => Self {
                latency: (first - by_length * short as f64).max(0.0),
                rate: 1.0 / by_length,
            },
            // The longer copy was not slower: its length makes no difference next to the constant time. The constant
            // part of its time is unknown; the result counts half of it, so that pieces are not small.
            false => {
                let half = (second / 2.0).max(1e-12);
                Self {
                    latency: half,
                    rate: long as f64 / half,
                }
            }
        }
    }

    /// Measures copies of two lengths, `most` at most, after one that is not counted. Lengths are a power of two.
    pub(crate) fn measure<E>(
        most: u64,
        mut copy: impl FnMut(u64) -> Result<Duration, E>,
    ) -> Result<Self, E> {
        copy(most)?;
        let mut best = |length: u64| {
            let mut least = f64::INFINITY;
            for _ in 0..TIMES {
                least = least.min(copy(length)?.as_secs_f64());
            }
            Ok((length, least))
        };
        let short = best(SHORT.min(most / 2).max(1))?;
        Ok(Self::through(short, best(most)?))
    }

    /// Computes the seconds of a copy of so many bytes.
    pub fn time(&self, length: u64) -> f64 {
        self.latency + length as f64 / self.rate
    }
}

/// Computes the seconds of a copy in pieces, when both engines are at work: the first piece goes through one engine,
/// the last through the other, and between them the slower engine sets the pace.
pub(crate) fn concurrent(out: &Cost, into: &Cost, length: u64, chunk: u64) -> f64 {
    let pieces = length.div_ceil(chunk.max(1)).max(1);
    let last = length - (pieces - 1) * chunk.min(length);
    let first = chunk.min(length);
    let pace = out.time(first).max(into.time(first));
    out.time(first) + (pieces - 1) as f64 * pace + into.time(last)
}

/// Computes the chunk that makes such a copy the shortest: a power of two, or the whole length.
pub(crate) fn best_chunk(out: &Cost, into: &Cost, length: u64, most: u64) -> u64 {
    let chunks = (12..63).map(|log2| 1_u64 << log2);
    let chunks = chunks.take_while(|chunk| *chunk <= most && *chunk < length);
    let chunks = chunks.chain((length <= most).then_some(length.max(1)));
    let time = |chunk: &u64| concurrent(out, into, length, *chunk);
    let best = chunks.min_by(|a, b| time(a).total_cmp(&time(b)));
    best.unwrap_or(most).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_line_goes_through_both_points() {
        // By hand: 1 ms, and 2 ns a byte.
        let cost = Cost::through((1000, 0.001_002), (501_000, 0.002_002));
        assert!((cost.latency - 0.001).abs() < 1e-9, "{cost:?}");
        assert!((cost.rate - 500e6).abs() < 1.0, "{cost:?}");
        assert!((cost.time(250_000) - 0.0015).abs() < 1e-9);
        // Two times that no line explains: each part is half of the longer copy's second.
        let odd = Cost::through((10, 2.0), (20, 1.0));
        assert_eq!((odd.latency, odd.rate), (0.5, 40.0));
        assert!((odd.time(20) - 1.0).abs() < 1e-9);
        // It does not make small pieces of a long copy.
        let other = Cost {
            latency: 20e-6,
            rate: 50e9,
        };
        let odd = Cost::through((4096, 2.4e-3), (8 * MIB, 2.3e-3));
        let chunk = best_chunk(&other, &odd, 1024 * MIB, 8 * MIB);
        assert_eq!(chunk, 8 * MIB);
    }

    #[test]
    fn the_first_copy_does_not_count_and_the_shortest_does() {
        let mut times = [9.0, 4.0, 1.0, 2.0, 5.0, 3.0, 8.0].into_iter();
        let mut lengths = Vec::new();
        let cost = Cost::measure(MIB, |length| {
            lengths.push(length);
            Ok::<_, ()>(Duration::from_secs_f64(times.next().unwrap()))
        });
        assert_eq!(lengths, [MIB, 4096, 4096, 4096, MIB, MIB, MIB]);
        assert_eq!(cost, Ok(Cost::through((4096, 1.0), (MIB, 3.0))));
    }

    #[test]
    fn pieces_are_neither_too_small_nor_too_large() {
        let engine = Cost {
            latency: 50e-6,
            rate: 1e9,
        };
        // By hand, for equal engines with n bytes in k pieces: (k + 1) (l + n / (k r)), the least where k = sqrt(n / (l
        // r)): 13 pieces for 8 MiB, so 512 KiB or 1 MiB.
        let chunk = best_chunk(&engine, &engine, 8 * MIB, 64 * MIB);
        assert!([MIB / 2, MIB].contains(&chunk), "{chunk}");
        // A copy that takes less time than a piece's latency goes in one piece.
        assert_eq!(best_chunk(&engine, &engine, 20_000, 64 * MIB), 20_000);
        // One engine that is much slower: the other's time is hidden by it, down to a few pieces.
        let slow = Cost {
            latency: 1e-6,
            rate: 1e8,
        };
        let whole = concurrent(&engine, &slow, 8 * MIB, 8 * MIB);
        let tuned = concurrent(
            &engine,
            &slow,
            8 * MIB,
            best_chunk(&engine, &slow, 8 * MIB, MIB),
        );
        assert!(tuned < whole && tuned > 8.0 * MIB as f64 / 1e8);
        // Staging memory that is smaller than any of these chunks.
        assert_eq!(best_chunk(&engine, &engine, 64 * MIB, 8192), 8192);
    }

    #[test]
    fn a_copy_in_one_piece_is_both_engines_in_turn() {
        let (out, into) = (
            Cost {
                latency: 1.0,
                rate: 10.0,
            },
            Cost {
                latency: 2.0,
                rate: 5.0,
            },
        );
        // 1 + 100/10, then 2 + 100/5.
        assert_eq!(concurrent(&out, &into, 100, 100), 33.0);
        // Pieces of 50: 6 out, 12 in; the second is read while the first is written.
        assert_eq!(concurrent(&out, &into, 100, 50), 6.0 + 12.0 + 12.0);
    }
}
