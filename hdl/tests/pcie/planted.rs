//! Faults in the layer's Verilog, each of which the other tests must find.

use crate::rig::PATIENCE_LOG2;
use crate::{faults, limits, matrix, ordering};
use peerlane_hdl::pcie::{TOP, generate};
use peerlane_sim::hip::Fate;
use peerlane_verilated::Library;
use std::panic::catch_unwind;

/// A module, what stands there once, and what takes its place.
const FAULTS: [(&str, &str, &str); 14] = [
    (
        "posts",
        "assign spill = last_qword >= qwords;",
        "assign spill = last_qword > qwords;",
    ),
    ("posts", "cut = ~(|after[6:0]);", "cut = 1'b0;"),
    (
        "posts",
        "assign moves = (low >> 1'b1) - begins_at;",
        "assign moves = (low >> 1'b1) - 3'd2;",
    ),
    (
        "asks",
        "assign tag_free = in_range & (~busy[candidate]);",
        "assign tag_free = in_range;",
    ),
    (
        "asks",
        "assign has_room = need <= {1'b0, space};",
        "assign has_room = 1'b1;",
    ),
    ("asks", "stamp_d = accepted_now;", "stamp_d = 32'd0;"),
    ("credits", "(left_nh <= 8'h80)", "1'b1"),
    ("credits", "(left_pd <= 12'h800)", "1'b1"),
    (
        "transmit",
        "assign is_wide = |address[63:32];",
        "assign is_wide = 1'b1;",
    ),
    (
        "transmit",
        "valid_d = (pick_ask | pick_post) | amid_q;",
        "valid_d = pick_ask | pick_post | (amid_q & left_q != 6'd2);",
    ),
    ("completions", "(lower == b_at_q) & ", ""),
    (
        "completions",
        "assign tells = (b_known_q & (~b_failed_q))",
        "assign tells = b_known_q",
    ),
    (
        "completions",
        "assign stall = (|left_after) & (tail_q | (c_on_q & c_eop_q));",
        "assign stall = (|left_after) & tail_q;",
    ),
    (
        "completions",
        "line_sum = ({5'd0, b_at_q[5:0]} + {1'b0, b_left_q}) + 11'h3f;",
        "line_sum = {5'd0, b_at_q[5:0]} + {1'b0, b_left_q};",
    ),
];

/// Everything that a layer must do, in little.
fn all(library: &Library) {
    for config in matrix::courses().into_iter().step_by(7) {
        matrix::course(library, config, 8000);
    }
    for fate in [Fate::Address, Fate::Poisoned, Fate::Status(1)] {
        let (codes, _) = faults::with(library, fate, 2);
        assert_eq!(codes.len(), 1);
    }
    limits::tags(library);
    limits::room(library);
    limits::credits(library);
    ordering::behind_writes(library);
}

#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn planted_faults_are_found() {
    let sound = generate(128, PATIENCE_LOG2).unwrap();
    all(&peerlane_block::library_of(TOP, &sound).unwrap());
    for (module, from, to) in FAULTS {
        let mut design = sound.clone();
        let name = format!("{TOP}_{module}");
        let module = design
            .modules
            .iter_mut()
            .find(|one| one.name == name)
            .unwrap();
        assert_eq!(module.verilog.matches(from).count(), 1, "{name}: `{from}`");
        module.verilog = module.verilog.replace(from, to);
        let library = peerlane_block::library_of(TOP, &design).unwrap();
        assert!(
            catch_unwind(|| all(&library)).is_err(),
            "{name}: nobody sees `{to}`"
        );
    }
}
