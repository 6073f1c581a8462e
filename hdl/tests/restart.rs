//! The application's reset: how long it is held, and the events that set it again.

mod common;

use common::verilate;
use peerlane_hdl::pcie::restart::Restart;
use peerlane_verilated::{Model, Port};
use std::collections::HashMap;

struct Rig {
    model: Model,
    ports: HashMap<String, Port>,
}

impl Rig {
    /// Starts as the FPGA has been configured: the hard IP is in reset, the link is fine otherwise.
    fn new() -> Self {
        let (library, ports) = verilate("restart", Restart::default());
        let mut rig = Self {
            model: library.instance().unwrap(),
            ports,
        };
        for (name, value) in [
            ("reset_status", 1),
            ("pld_clk_inuse", 0),
            ("dlup_exit", 1),
            ("l2_exit", 1),
        ] {
            rig.set(name, value);
        }
        rig
    }

    fn set(&mut self, name: &str, value: u64) {
        self.model.set(self.ports[name], value);
    }

    fn clock(&mut self) {
        for level in [0, 1] {
            self.set("clock", level);
            self.model.eval().unwrap();
        }
    }

    fn runs(&mut self) -> bool {
        self.model.get(self.ports["nreset_status"]) == 1
    }

    /// Returns the cycles until the application runs, at most.
    fn until_it_runs(&mut self) -> u32 {
        for cycle in 0..2000 {
            if self.runs() {
                return cycle;
            }
            self.clock();
        }
        panic!("it does not begin to run");
    }

    fn up() -> Self {
        let mut rig = Self::new();
        rig.set("reset_status", 0);
        rig.set("pld_clk_inuse", 1);
        rig.until_it_runs();
        rig
    }
}

#[test]
fn it_is_held_from_the_start_and_for_1024_cycles_behind_the_hard_ips() {
    let mut rig = Rig::new();
    for _ in 0..3000 {
        rig.clock();
        assert!(!rig.runs());
    }
    // Neither alone is enough.
    rig.set("reset_status", 0);
    for _ in 0..3000 {
        rig.clock();
        assert!(!rig.runs());
    }
    rig.set("pld_clk_inuse", 1);
    // Two cycles into this clock.
    assert_eq!(rig.until_it_runs(), 1026);
    for _ in 0..3000 {
        rig.clock();
        assert!(rig.runs());
    }
}

#[test]
fn whatever_ends_the_link_brings_it_back() {
    for exit in ["dlup_exit", "l2_exit"] {
        let mut rig = Rig::up();
        rig.set(exit, 0);
        rig.clock();
        rig.set(exit, 1);
        assert!(!rig.runs(), "{exit}");
        assert_eq!(rig.until_it_runs(), 1024, "{exit}");
    }
    let mut rig = Rig::up();
    rig.set("pld_clk_inuse", 0);
    for _ in 0..3 {
        rig.clock();
    }
    assert!(!rig.runs());
    rig.set("pld_clk_inuse", 1);
    assert_eq!(rig.until_it_runs(), 1026);
}

/// The clock is stopped while the host holds the board in reset (PERST#).
#[test]
fn the_hard_ips_reset_brings_it_without_a_clock() {
    for edges in [0, 1, 2, 3000] {
        let mut rig = Rig::up();
        rig.set("reset_status", 1);
        rig.model.eval().unwrap();
        assert!(!rig.runs());
        for _ in 0..edges {
            rig.clock();
            assert!(!rig.runs());
        }
        rig.set("reset_status", 0);
        rig.model.eval().unwrap();
        assert!(!rig.runs(), "the clock has not started again");
        assert_eq!(rig.until_it_runs(), 1026, "{edges}");
    }
}
