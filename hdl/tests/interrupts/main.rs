//! The interrupt block, Verilated, against its promises: moderation by itself, then all of it with a host that masks,
//! rewrites and reads the table, and a port that takes messages at random times.

#[path = "../common/mod.rs"]
mod common;
mod moderation;
mod msix;

use peerlane_hdl::rtl::interrupts::Interrupts;
use peerlane_language::Block;
use peerlane_verilated::{Model, Port};
use std::collections::HashMap;

/// A Verilated block, cycle by cycle: set the inputs, look at the outputs, `edge`.
struct Bench {
    model: Model,
    ports: HashMap<String, Port>,
    cycle: u64,
}

impl Bench {
    fn new(top: &str, block: impl Block, seed: u32) -> Self {
        let (library, ports) = common::verilate(top, block);
        Self {
            model: library.instance_seeded(seed).unwrap(),
            ports,
            cycle: 0,
        }
    }

    fn set(&mut self, port: &str, value: impl Into<u64>) {
        self.model.set(self.ports[port], value.into());
    }

    fn get(&self, port: &str) -> u64 {
        self.model.get(self.ports[port])
    }

    fn edge(&mut self) {
        for level in [1u64, 0] {
            self.set("clock", level);
            self.model.eval().unwrap();
        }
        self.cycle += 1;
    }

    /// With the function, if the block has interrupt vectors.
    fn reset(&mut self) {
        let resets = ["reset", "mask_all"].map(|port| self.ports.get(port).copied());
        for level in [1u64, 0] {
            for port in resets.into_iter().flatten() {
                self.model.set(port, level);
            }
            self.edge();
            self.edge();
        }
    }
}

/// Runs cycles without an event; returns notices, and the data of the messages.
fn count(bench: &mut Bench, cycles: u32) -> (u32, Vec<u64>) {
    let (mut notices, mut messages) = (0, vec![]);
    for _ in 0..cycles {
        notices += bench.get("notify") as u32;
        if bench.get("message_valid") == 1 {
            messages.push(bench.get("message_data"));
        }
        bench.edge();
        bench.set("event_valid", false);
    }
    (notices, messages)
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn events_are_moderated_before_they_become_messages() {
    let mut bench = Bench::new("interrupts", Interrupts::new(3), 5);
    bench.reset();
    count(&mut bench, 64);
    bench.set("message_take", true);
    bench.set("msix_write", true);
    bench.set("msix_byteenable", 15u64);
    for (word, value) in [(4 * 4 + 2, 0xCAFEu64), (4 * 4 + 3, 0)] {
        bench.set("msix_address", word as u64);
        bench.set("msix_writedata", value);
        bench.edge();
    }
    bench.set("msix_write", false);
    bench.set("moderation_we", true);
    bench.set("moderation_channel", 2u64);
    bench.set("moderation_count", 4u64);
    bench.set("moderation_time", 2u64);
    bench.edge();
    bench.set("moderation_we", false);
    for enable in [true, false] {
        bench.set("msix_enable", enable);
        let message = if enable { vec![0xCAFE] } else { vec![] };
        let mut event = |urgent: bool, cycles| {
            bench.set("event_valid", true);
            bench.set("event_channel", 2u64);
            bench.set("event_urgent", urgent);
            count(&mut bench, cycles)
        };
        for n in 1..=8 {
            let expected = if n % 4 == 0 {
                (1, message.clone())
            } else {
                (0, vec![])
            };
            assert_eq!(event(false, 20), expected, "event {n}");
        }
        assert_eq!(event(false, 20), (0, vec![]));
        assert_eq!(event(true, 20), (1, message.clone()));
        assert_eq!(event(false, 540), (1, message));
    }
    // A completion that the line has reported is not reported again.
    bench.set("msix_enable", true);
    assert_eq!(count(&mut bench, 40), (0, vec![]));
}
