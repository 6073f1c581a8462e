//! The randomized tests, with many times as many draws: suite `rtl-long`.

use crate::registers::idle_in_all_ways;
use crate::resets::{in_any_cycle, slow_memory, survives};
use crate::stream::ports;
use peerlane_sim::Side;

#[test]
#[ignore = "external tools: cargo xtask test rtl-long"]
fn a_reset_of_either_side_leaves_nothing_behind() {
    for (seed, params) in ports().iter().enumerate() {
        for side in [Side::Pcie, Side::Memory] {
            survives(params, side, 200 + seed as u64, 40);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl-long"]
fn a_reset_of_one_side_in_any_cycle_leaves_nothing_behind() {
    in_any_cycle(1);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl-long"]
fn a_reset_of_the_pcie_side_sends_no_command_to_a_slow_memory() {
    slow_memory(0..60);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl-long"]
fn idle_is_what_has_left_the_port_in_all_ways() {
    idle_in_all_ways();
}
