//! Every address near a 4 KiB edge, by length, form of the header, back-pressure, split and order of completions.

use crate::rig::{Ask, Rig, library};
use peerlane_sim::hip::{HipConfig, RootConfig};
use peerlane_verilated::Library;
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// Below and above 4 GiB: three dwords of header, and four.
const FORMS: [u64; 2] = [0x1000_0000, 0x40_0000_0000];

/// Returns the courses: how busy both sides are, how completions come, and the configuration by software.
pub fn courses() -> Vec<HipConfig> {
    let mut all = Vec::new();
    for (not_ready, gaps) in [(0, 0), (40, 30), (85, 5), (5, 60)] {
        for (split, reorder, boundary) in [(0, 0, 128), (60, 0, 64), (60, 80, 64), (100, 100, 64)] {
            for (payload, request, extended) in [
                (128, 512, false),
                (256, 512, true),
                (512, 4096, true),
                (256, 256, true),
            ] {
                all.push(HipConfig {
                    not_ready,
                    gaps,
                    payload,
                    request,
                    extended,
                    own: 3,
                    root: RootConfig {
                        split,
                        reorder,
                        boundary,
                        latency: 60,
                        jitter: if reorder == 0 { 0 } else { 90 },
                    },
                    seed: all.len() as u64 + 1,
                    ..HipConfig::default()
                });
            }
        }
    }
    all
}

/// Returns reads of each length that begin so many bytes before an edge, or after it; one in `every` of them.
fn reads(every: usize, seed: u64) -> Vec<(u64, u32)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    for form in FORMS {
        for offset in (0..576).chain(4096 - 576..4096) {
            for bytes in 1..=512u32 {
                if offset + u64::from(bytes) <= 4096 && rng.random_range(0..every) == 0 {
                    all.push((form + offset, bytes));
                }
            }
        }
    }
    all.shuffle(&mut rng);
    all
}

/// Returns bursts as the engine makes them: within one beat any bytes, else whole beats within 256 bytes.
fn posts(width: u64, every: usize, seed: u64) -> Vec<(u64, usize)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    for form in FORMS {
        for offset in (0..576).chain(4096 - 576..4096) {
            let lane = offset % width;
            for bytes in 1..=width - lane {
                if rng.random_range(0..every) == 0 {
                    all.push((form + 0x10_0000 + offset, bytes as usize));
                }
            }
            for beats in 2..=512 / width {
                if lane == 0 && offset + beats * width <= 4096 && rng.random_range(0..every) == 0 {
                    all.push((form + 0x10_0000 + offset, (beats * width) as usize));
                }
            }
        }
    }
    all.shuffle(&mut rng);
    all
}

/// Runs one course with one in `every` of all reads and posts; returns how many there were.
pub fn course(library: &Library, config: HipConfig, every: usize) -> usize {
    let seed = config.seed;
    let mut rig = Rig::new(library, config);
    rig.idle = [0, 30, 70][seed as usize % 3];
    let width = rig.bytes as u64;
    let mut count = 0;
    let mut tag = 0;
    let reads = reads(every, seed);
    let posts = posts(width, every.div_ceil(10), seed);
    let mut posts = posts.chunks(posts.len().div_ceil(reads.len().div_ceil(100)).max(1));
    for some in reads.chunks(100) {
        for (address, bytes) in some {
            rig.asks.push_back(Ask {
                address: *address,
                bytes: *bytes,
                // One in eight is a read that flushes.
                tag: if tag % 8 == 7 { 64 + tag / 8 } else { tag },
            });
            tag = (tag + 1) % 64;
        }
        for (address, bytes) in posts.next().unwrap_or_default() {
            rig.post(*address, *bytes);
            count += 1;
        }
        rig.finish(2_000_000);
        // The data are in memory, and not looked at again.
        rig.posted.clear();
    }
    assert_eq!(rig.ends.len(), reads.len());
    assert!(rig.ends.iter().all(|end| end.code == 0));
    count + reads.len()
}

fn matrix(every: usize) -> usize {
    let mut count = 0;
    for bits in [128, 256] {
        for config in courses() {
            count += course(&library(bits), config, every);
        }
    }
    count
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_sample_of_the_matrix() {
    let count = matrix(4000);
    assert!(count > 20_000, "{count}");
}

/// Runs one in 64 of the matrix: `cargo xtask test pcie`.
#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn full_matrix() {
    let count = matrix(64);
    assert!(count > 1_000_000, "{count}");
}
