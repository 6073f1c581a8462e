//! The memories where a word is read as it is written: the Verilog gives garbage where an FPGA promises nothing,
//! and a [`ForwardRam`] or a FIFO never shows any of it.
//!
//! One random traffic drives each memory and, for comparison, a plain array. A memory without a way around its own
//! writes is injected under the same traffic and has to be found.

mod common;

use peerlane_hdl::prim::{AsyncFifo, BlockRam, ForwardRam, SmallFifo, SmallRam};
use peerlane_language::*;
use peerlane_verilated::{Model, Port};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

const WORDS: usize = 4;
const CYCLES: usize = 20_000;

struct Bench {
    model: Model,
    ports: HashMap<String, Port>,
    clocks: &'static [&'static str],
}

impl Bench {
    fn new(top: &str, block: impl Block, clocks: &'static [&'static str]) -> Self {
        let (library, ports) = common::verilate(top, block);
        Self {
            model: library.instance().unwrap(),
            ports,
            clocks,
        }
    }

    fn set(&mut self, port: &str, value: u64) {
        self.model.set(self.ports[port], value);
    }

    fn get(&mut self, port: &str) -> u64 {
        self.model.eval().unwrap();
        self.model.get(self.ports[port])
    }

    fn edge(&mut self) {
        for level in [1, 0] {
            for clock in self.clocks {
                self.set(clock, level);
            }
            self.model.eval().unwrap();
        }
    }
}

/// Results of the reads of a memory.
#[derive(Debug, Default)]
struct Seen {
    /// Reads of a word in the cycle of its write, and in the next cycle; the reads that differed from the array.
    during: [usize; 2],
    behind: [usize; 2],
    /// All other reads that differed from the array.
    wrong: usize,
}

/// Reads and writes at random, often at one place. The array's word is that before the cycle's write.
fn traffic(bench: &mut Bench, registered: bool) -> Seen {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut array = [0u64; WORDS];
    for (at, word) in array.iter_mut().enumerate() {
        *word = random.random::<u32>().into();
        bench.set("write_enable", 1);
        bench.set("write_address", at as u64);
        bench.set("write_data", *word);
        bench.edge();
    }
    bench.set("write_enable", 0);
    bench.edge();
    bench.edge();
    let mut seen = Seen::default();
    let mut written = None;
    for _ in 0..CYCLES {
        let write = random.random_bool(0.6);
        let to = random.random_range(0..3);
        let from = random.random_range(0..3);
        let word = random.random::<u32>().into();
        bench.set("write_enable", write.into());
        bench.set("write_address", to as u64);
        bench.set("write_data", word);
        bench.set("read_address", from as u64);
        if registered {
            bench.set("read_enable", 1);
        }
        let early = if registered {
            0
        } else {
            bench.get("read_data")
        };
        bench.edge();
        let read = if registered {
            bench.get("read_data")
        } else {
            early
        };
        let bad = usize::from(read != array[from]);
        if write && to == from {
            seen.during[0] += 1;
            seen.during[1] += bad;
        } else if written == Some(from) {
            seen.behind[0] += 1;
            seen.behind[1] += bad;
        } else {
            seen.wrong += bad;
        }
        if write {
            array[to] = word;
        }
        written = write.then_some(to);
    }
    assert!(seen.during[0] > 1000 && seen.behind[0] > 1000, "{seen:?}");
    seen
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_small_memory_gives_garbage_until_a_word_has_settled() {
    let mut bench = Bench::new("small_memory", SmallRam::<Bits<32>, 3>::new(3), &["clock"]);
    let seen = traffic(&mut bench, false);
    assert_eq!(seen.during[0], seen.during[1], "{seen:?}");
    assert_eq!(seen.behind[0], seen.behind[1], "{seen:?}");
    assert_eq!(seen.wrong, 0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_block_of_memory_gives_garbage_at_the_edge_of_the_write() {
    let clocks = &["write_clock", "read_clock"];
    // A memory of few words is made of LUTs, and keeps a word until it has settled.
    for log2 in [3, 6] {
        let mut bench = Bench::new("block", BlockRam::<Bits<32>, 6>::new(log2), clocks);
        let seen = traffic(&mut bench, true);
        assert_eq!(seen.during[0], seen.during[1], "{seen:?}");
        assert_eq!(seen.behind[1] + seen.wrong, 0, "{seen:?}");
    }
    // Between two clocks, at the next edge, too.
    let mut bench = Bench::new(
        "crossing",
        BlockRam::<Bits<32>, 3>::between_clocks(3),
        clocks,
    );
    let seen = traffic(&mut bench, true);
    assert_eq!(seen.during[0], seen.during[1], "{seen:?}");
    assert_eq!(seen.behind[0], seen.behind[1], "{seen:?}");
    assert_eq!(seen.wrong, 0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_forwarding_memory_gives_what_was_written_at_any_time() {
    for log2 in [2, 3] {
        let mut bench = Bench::new("forward", ForwardRam::<Bits<32>, 3>::new(log2), &["clock"]);
        let seen = traffic(&mut bench, false);
        assert_eq!(seen.during[1] + seen.behind[1] + seen.wrong, 0, "{seen:?}");
    }
}

/// Pushes and pops words at random; every word that the FIFO shows is the oldest.
fn words_through(bench: &mut Bench, reset: &[&str]) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for on in [1, 0] {
        for port in reset {
            bench.set(port, on);
        }
        for _ in 0..8 {
            bench.edge();
        }
    }
    let mut inside = std::collections::VecDeque::new();
    let mut passed = 0;
    for cycle in 0..CYCLES {
        // Now a FIFO that is mostly empty, now one that is mostly full.
        let eager = cycle / 500 % 2 == 0;
        let word = u64::from(random.random::<u32>());
        let push = random.random_bool(if eager { 0.4 } else { 0.9 });
        let pop = random.random_bool(if eager { 0.9 } else { 0.4 });
        bench.set("push", push.into());
        bench.set("data_in", word);
        bench.set("pop", pop.into());
        if bench.get("valid") == 1 {
            assert_eq!(Some(&bench.get("data")), inside.front(), "cycle {cycle}");
            if pop {
                inside.pop_front();
                passed += 1;
            }
        }
        if push && bench.get("full") == 0 {
            inside.push_back(word);
        }
        bench.edge();
    }
    passed
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn fifos_show_no_word_that_has_not_settled() {
    let mut small = Bench::new("fifo", SmallFifo::<Bits<32>, 3, 4>::default(), &["clock"]);
    assert!(words_through(&mut small, &["reset"]) > CYCLES / 4);
    let clocks = &["write_clock", "read_clock"];
    let mut crossing = Bench::new("crossing", AsyncFifo::<Bits<32>, 3, 4>::default(), clocks);
    assert!(words_through(&mut crossing, &["write_reset", "read_reset"]) > CYCLES / 4);
}
