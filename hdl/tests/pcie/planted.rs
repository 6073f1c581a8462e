//! Faults in the layer's Verilog, each of which the other tests must find.

use crate::rig::design;
use crate::{damage, faults, limits, master, matrix, ordering, target};
use peerlane_hdl::pcie::TOP;
use peerlane_sim::hip::Fate;
use peerlane_verilated::Library;
use std::panic::catch_unwind;

/// The module that holds the other ones.
const LAYER: &str = "";

/// A module, a text that it has once, and its replacement.
const FAULTS: &[(&str, &str, &str)] = &[
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
        "assign tag_free = (in_range & (~busy[candidate]))",
        "assign tag_free = in_range",
    ),
    (
        "asks",
        "assign has_room = (~spare_q[8]) & ({4'd0, lines_q} <= spare_q);",
        "assign has_room = 1'b1;",
    ),
    ("asks", "stamp_d = accepted_now;", "stamp_d = 32'd0;"),
    (
        "asks",
        "off_d = (~master) | (off_q & ((~is_idle) | (|old_q)));",
        "off_d = ~master;",
    ),
    (
        "settings",
        "({52'd0, early_ctl_q[31:20]} << 6'h20)",
        "({52'd0, early_ctl_q[31:20]} << 6'h21)",
    ),
    (
        "settings",
        "msi_d = early_ctl_q[0] & msi_seen_q;",
        "msi_d = early_ctl_q[0];",
    ),
    ("credits", "(~left_nh[7])", "1'b1"),
    ("credits", "if (reset | (~up)) begin", "if (reset) begin"),
    ("credits", "(~left_pd[11])", "1'b1"),
    ("posts", "room_d = (open & ", "room_d = ("),
    (
        "transmit",
        "assign is_wide = |address_q[63:32];",
        "assign is_wide = 1'b1;",
    ),
    ("transmit", " | amid_q;", " | (amid_q & left_q != 6'd2);"),
    (
        "transmit",
        "old_next = post_stored - {4'd0, drops};",
        "old_next = 5'd0;",
    ),
    (
        "transmit",
        "& (~dropping_q)) & (~(amid_q & (~replied_q)));",
        "& (~dropping_q));",
    ),
    (
        "transmit",
        "assign post_take = (next_on & pick_post) | drops;",
        "assign post_take = next_on & pick_post;",
    ),
    ("completions", "(lower == b_at_q)", "1'b1"),
    (
        "completions",
        "assign tells = b_known_q & (~b_failed_q)",
        "assign tells = b_known_q",
    ),
    (
        "completions",
        "& (~(((move_on & a_on_q) & a_sop_q) | (((~move_on) & b_on_q) & b_sop_q)))",
        "",
    ),
    (
        "completions",
        "& (tail_q | (c_on_q & c_eop_q));",
        "& tail_q;",
    ),
    (
        "completions",
        "assign refuses_take = refuses & (~(|c_left_q));",
        "assign refuses_take = refuses;",
    ),
    (
        "completions",
        "lines_left = ({5'd0, b_at_q[5:0]} + {1'b0, b_left_q}) + 11'h3f;",
        "lines_left = {5'd0, b_at_q[5:0]} + {1'b0, b_left_q};",
    ),
    (
        "completions",
        "assign sever = ((cut & within_q) & (~beats_some)) & move_on;",
        "assign sever = 1'b0;",
    ),
    (
        "completions",
        "assign shut = (b_known_q & (~b_expires_q))",
        "assign shut = b_known_q",
    ),
    (
        LAYER,
        "((rx_on_q & is_completion) & (~rx_bad_q)) & (~failed_q)",
        "(rx_on_q & is_completion) & (~failed_q)",
    ),
    (
        LAYER,
        "((rx_on_q & is_completion) & (~rx_bad_q)) & (~failed_q)",
        "(rx_on_q & is_completion) & (~rx_bad_q)",
    ),
];

/// Tests everything that a layer must do, in short form.
fn all(library: &Library) {
    for config in matrix::courses().into_iter().step_by(7) {
        matrix::course(library, config, 8000);
    }
    for fate in [Fate::Address, Fate::Poisoned, Fate::Status(1)] {
        let (codes, _) = faults::with(library, fate, 2);
        assert_eq!(codes.len(), 1);
    }
    faults::late(library);
    damage::completions(library);
    limits::tags(library);
    limits::room(library);
    limits::credits(library);
    limits::unknown_credits(library);
    limits::capabilities(library);
    ordering::behind_writes(library);
    master::stopped(library);
    master::stands(library);
    master::rest(library);
    for seed in 0..3 {
        master::toggled(library, seed);
    }
}

/// The same for the modules of the host's requests.
const TARGET_FAULTS: &[(&str, &str, &str)] = &[
    (
        "intake",
        "enable_low = {4'd0, header_q[43:40]} << 3'd4;",
        "enable_low = {4'd0, header_q[43:40]} | 8'hf0;",
    ),
    (
        "intake",
        "assign is_late = long_q | (~header_q[0]);",
        "assign is_late = ~header_q[0];",
    ),
    (
        "intake",
        "assign to_edge = 10'h20 - (header_q[10:1] & 10'h1f);",
        "assign to_edge = 10'h20;",
    ),
    ("intake", "| poisoned_q", ""),
    (
        "requests",
        "if (~(|head_last[3:2])) begin",
        "if (1'b0) begin",
    ),
    (
        "requests",
        "count_d = count_q - bytes;",
        "count_d = count_q - ({1'b0, size_q} << 2'd2);",
    ),
    (
        "requests",
        "to_edge = 11'h20 - (at_q[10:0] & 11'h1f);",
        "to_edge = 11'h40 - (at_q[10:0] & 11'h3f);",
    ),
    (
        "requests",
        "end else if (~(&last_enable_q)) begin",
        "end else if (1'b0) begin",
    ),
    ("requests", "source_d = nothing;", "source_d = bus;"),
    (
        "requests",
        "assign may = room_q & idle;",
        "assign may = room_q;",
    ),
    (
        "bus",
        "end else if ((~live) & (~owes_q)) begin",
        "end else if (~live) begin",
    ),
    (
        "bus",
        "writes_d = pick_write | fill;",
        "writes_d = pick_write;",
    ),
    (
        "replies",
        "assign skip = failed_q & (~expected_data[70]);",
        "assign skip = 1'b0;",
    ),
    ("replies", ".rewind(fails)", ".rewind(1'b0)"),
    (
        "replies",
        "assign clears = stamps_valid & (~behind[7]);",
        "assign clears = stamps_valid;",
    ),
    (
        "replies",
        "room_d = (pieces_q < most_pieces) & (used_q <= most_beats);",
        "room_d = 1'b1;",
    ),
    ("replies", "most_beats = 9'hdf;", "most_beats = 9'hee;"),
    (
        "replies",
        "leaves_d = {4'd0, taken} + {4'd0, ends & skip};",
        "leaves_d = {4'd0, taken};",
    ),
    ("target", "hold_d = waiting > 6'hf;", "hold_d = 1'b0;"),
    (
        "transmit",
        "assign may_reply = reply_seen_q & reply_ok;",
        "assign may_reply = reply_seen_q;",
    ),
    (
        LAYER,
        "((rx_on_q & (~is_completion)) & (~rx_bad_q)) & (~is_stray)",
        "(rx_on_q & (~is_completion)) & (~is_stray)",
    ),
    (
        LAYER,
        "((rx_on_q & (~is_completion)) & (~rx_bad_q)) & (~is_stray)",
        "(rx_on_q & (~is_completion)) & (~rx_bad_q)",
    ),
    (LAYER, "& (~is_stray)) & (~halted_q)", "& (~is_stray))"),
];

fn are_found(faults: &[(&str, &str, &str)], all: impl Fn(&Library) + std::panic::RefUnwindSafe) {
    let sound = design(128);
    all(&peerlane_block::library_of(TOP, &sound).unwrap());
    for (module, from, to) in faults {
        let mut design = sound.clone();
        let name = match *module {
            LAYER => TOP.to_owned(),
            part => format!("{TOP}_{part}"),
        };
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
            "{name}: no test detects `{to}`"
        );
    }
}

#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn planted_faults_are_found() {
    are_found(FAULTS, all);
}

#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn planted_faults_of_the_target_are_found() {
    are_found(TARGET_FAULTS, target::all);
}
