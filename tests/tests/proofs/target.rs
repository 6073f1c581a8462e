//! Proofs of the host's requests to the board: reads of the target are answered exactly once.
//! `tests/proofs/pcie_requests.sv` describes how they fit together.

use super::{PINS_ONLY, Reach, holds_and_has_teeth, sees_in_the_block, verilog, views::without};
use peerlane_hdl::pcie::target::{bus::Bus, replies::Replies, requests::Requests};

/// Enough for a request of two completions, and for another one after it.
const REQUEST_FAULTS: u64 = 12;

/// Enough for two completions, one of them after posted packets.
const REPLY_FAULTS: u64 = 14;

/// Enough for a bus with a short time limit to go down, to bring the data that it owes, and to be up again.
const BUS_FAULTS: u64 = 26;

/// Returns requests whose completions have `W` bits a beat. Their queue is left open.
fn requests<const W: usize>() -> String {
    let block = verilog("peerlane_requests", Requests::<W>::default());
    without(&block, "peerlane_requests_fifo_mlab_32x80")
}

fn requests_proof(part: u64, mutants: &[u64], edits: &[(&str, &str)]) {
    let (name, file) = ("target, requests", "pcie_requests.sv");
    let design = requests::<128>();
    let reach = Reach::Induction(REQUEST_FAULTS);
    let parameters = [("PART", part)];
    let mutants = mutants.iter().copied();
    holds_and_has_teeth(name, &design, file, &parameters, reach, mutants);
    // The assertions about the block's registers do not apply to a faulty block: only the pins count.
    let parameters = [("PART", part), ("MUTANT", PINS_ONLY)];
    sees_in_the_block(name, &design, file, &parameters, reach, edits);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_target_read_is_cut_into_pieces_that_ask_for_every_dword_once() {
    // A request that ends with its first piece, one that goes on past its end, one that is given up while the bus is
    // up; a byte count that subtracts the unwanted bytes of the first dword twice, or those of the last; a lower
    // address with these bytes in every piece; a piece that claims to be the first; bytes that are not wanted, at the
    // beginning and at the end; a beat too many; a place on the bus that does not move on; a refusal that comes twice.
    let edits = [
        (
            "if (part_last_q) begin\n                state",
            "if (1'b1) begin\n                state",
        ),
        (
            "if (part_last_q) begin\n                state",
            "if (1'b0) begin\n                state",
        ),
        (
            "if (on_bus_q & (~down)) begin",
            "if (on_bus_q & (~down) & (ask_opens_q | ask_take)) begin",
        ),
        (
            "count_d = count_q - bytes;",
            "count_d = count_q - ({1'b0, size_q} << 2'd2);",
        ),
        (
            "({10'd0, head_lead} + {10'd0, head_trail})",
            "{10'd0, head_lead}",
        ),
        ("      lead_d = 2'd0;\n", "\n"),
        ("        opens_d = 1'b0;\n", "\n"),
        (
            "end else if (ask_opens_q & (~(&first_enable_q))) begin",
            "end else if (1'b0) begin",
        ),
        (
            "end else if (~(&last_enable_q)) begin",
            "end else if (1'b0) begin",
        ),
        (
            "end_ = {1'b0, qwords} + 7'd1;",
            "end_ = {1'b0, qwords} + 7'd2;",
        ),
        (
            "ask_at_d = ask_at_q + {23'd0, ask_beats};",
            "ask_at_d = ask_at_q;",
        ),
        (
            "saw_refused = source_q == refused;\n          state_d = RequestState_Idle;",
            "saw_refused = source_q == refused;\n          state_d = RequestState_Measure;",
        ),
    ];
    requests_proof(1, &[1, 2, 3, 4, 5], &edits);
    let (name, file) = ("target, requests, 4 lanes", "pcie_requests.sv");
    let reach = Reach::Induction(REQUEST_FAULTS);
    holds_and_has_teeth(name, &requests::<256>(), file, &[("LANES", 4)], reach, []);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_byte_count_of_a_request_that_is_no_read_is_four() {
    requests_proof(2, &[], &[("count_now = 12'd4;", "count_now = 12'd0;")]);
}

/// Returns the design of completions of `W` bits a beat, with nothing in the memories of its FIFOs.
fn replies<const W: usize>() -> String {
    let data = format!("ram_block_256x{W}");
    ["ram_mlab_16x74", "ram_mlab_16x80", "ram_mlab_16x8", &data]
        .iter()
        .fold(
            verilog("peerlane_replies", Replies::<W>::default()),
            |design, ram| without(&design, &format!("peerlane_replies_{ram}")),
        )
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_piece_of_a_target_read_gives_one_completion_or_comes_behind_a_failure() {
    let (name, file, design) = ("target, replies", "pcie_replies.sv", replies::<128>());
    let reach = Reach::Induction(REPLY_FAULTS);
    holds_and_has_teeth(name, &design, file, &[], reach, 1..=5);
    let wide = [("LANES", 4), ("KEPT", 248)];
    holds_and_has_teeth(name, &replies::<256>(), file, &wide, reach, []);
    // A request that continues after its failure, one that always counts as failed, one whose failure is dropped; a
    // failure that looks well, or that is never completed; data of a failure that stay, or go into the next completion;
    // a count of qwords that a dropped piece leaves; room of a dropped piece that is lost, room freed for another
    // piece; a bus that is never released; a completion before the posted packets.
    let edits = [
        ("skip = failed_q & (~expected_data[70]);", "skip = 1'b0;"),
        (
            "skip = failed_q & (~expected_data[70]);",
            "skip = failed_q;",
        ),
        ("failed_d = fails;", "failed_d = 1'b0;"),
        ("told_head_d[32:30] = 3'd4;", "told_head_d[32:30] = 3'd0;"),
        ("told_head_d[32:30] = 3'd4;", "told_head_d[32:30] = 3'd1;"),
        (".rewind(fails)", ".rewind(1'b0)"),
        (
            "fresh_d = 1'b1;\n      word_d = zero;\n    end\n    if (tells)",
            "fresh_d = 1'b1;\n    end\n    if (tells)",
        ),
        (
            "if (ends) begin\n      nth_d",
            "if (tells) begin\n      nth_d",
        ),
        ("{4'd0, taken} + {4'd0, ends & skip};", "{4'd0, taken};"),
        (
            "given_d = {3'd0, head[79:74]};",
            "given_d = {3'd0, head[70:65]};",
        ),
        (
            "closes_bus = ends & is_bus;",
            "closes_bus = tells & is_bus;",
        ),
        ("stamps_valid & (~behind[7]);", "stamps_valid;"),
    ];
    let parameters = [("MUTANT", PINS_ONLY)];
    sees_in_the_block(name, &design, file, &parameters, reach, &edits);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_completions_of_256_bits_that_are_kept_fit_into_their_memory() {
    let (name, file) = ("target, data of replies", "pcie_replies.sv");
    let reach = Reach::Induction(REPLY_FAULTS);
    let wide = [("PART", 2), ("LANES", 4)];
    holds_and_has_teeth(name, &replies::<256>(), file, &wide, reach, []);
    // A last beat that is not visible; one that is visible too late.
    let edits = [
        ("whole_d = tail_next;", "whole_d = tail_q;"),
        ("((~held_q) | pop);", "(~held_q);"),
    ];
    let on_pins = [("PART", 2), ("LANES", 4), ("MUTANT", PINS_ONLY)];
    sees_in_the_block(name, &replies::<256>(), file, &on_pins, reach, &edits);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_completions_of_128_bits_that_are_kept_fit_into_their_memory() {
    let (name, file) = ("target, data of replies", "pcie_replies.sv");
    let reach = Reach::Induction(REPLY_FAULTS);
    holds_and_has_teeth(name, &replies::<128>(), file, &[("PART", 2)], reach, []);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_bus_of_the_target_stays_down_while_anybody_waits_for_it() {
    let (name, file) = ("target, bus", "pcie_bus.sv");
    let design = verilog("peerlane_bus", Bus::new(3));
    let reach = Reach::Induction(BUS_FAULTS);
    holds_and_has_teeth(name, &design, file, &[], reach, 1..=4);
    // A bus that is up while a completion waits for it, or while it owes qwords, or that never goes down; a qword that
    // is not counted; a read that is withdrawn, one that replaces an offered one.
    let edits = [
        (
            "else if ((~live) & (~owes_q)) begin",
            "else if (~owes_q) begin",
        ),
        (
            "else if ((~live) & (~owes_q)) begin",
            "else if (~live) begin",
        ),
        (
            "if (stuck_q | (silent_q == limit_cycles)) begin",
            "if (stuck_q) begin",
        ),
        ("owes_d = owed_q != 12'd1;", "owes_d = owed_q > 12'd2;"),
        (
            "if (free) begin\n      reads_d",
            "if (1'b1) begin\n      reads_d",
        ),
        ("pick_ask = (free & may_ask)", "pick_ask = may_ask"),
    ];
    let parameters = [("MUTANT", PINS_ONLY)];
    sees_in_the_block(name, &design, file, &parameters, reach, &edits);
}
