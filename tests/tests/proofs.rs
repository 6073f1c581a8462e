//! Properties of the blocks, proved on the Verilog that the back-end writes.
//!
//! Each proof is a wrapper in `tests/proofs/` around one small instance of a real block. Yosys flattens it to an
//! and-inverter graph; ABC, which is part of Yosys, proves its assertions for any number of cycles by induction or by
//! property directed reachability, or, where a test says so, for all runs of a number of cycles from reset. Each
//! wrapper can put a fault on the block's pins (`MUTANT`); with each fault the same proof must fail, so that no
//! assertion is useless.
//!
//! With a mutant of the block in the environment (`proofs/planted.rs`) only the proofs of its module run.

use std::{
    fs,
    path::Path,
    process::{Command, exit},
    time::{Duration, Instant},
};

use peerlane_hdl::{
    Params, generate,
    pcie::{asks::Asks, credits::Credits, posts::Posts},
    prim::{AsyncFifo, SmallFifo},
    rtl::{
        att::Att, complete::Completer, fence::Fence, flushes::Flushes, receive::Receive,
        room::RingRoom, txs::TxsAdapter,
    },
};
use peerlane_language::*;
use peerlane_tests::programs::MUTANT_SEEN;
use peerlane_tools::{Cache, Yosys};
use peerlane_verilog::emit;

#[path = "proofs/planted.rs"]
mod planted;
#[path = "proofs/target.rs"]
mod target;
#[path = "proofs/views.rs"]
mod views;
use planted::{is_elsewhere, is_wanted, planted};
use views::{Memories, memories, without};

/// Time limit, longer than any proof takes on a busy machine; ABC gives up then.
const PATIENCE: Duration = Duration::from_secs(600);

/// Cycles of the induction: of two consecutive cycles the second is implied.
const INDUCTION: u64 = 2;

/// Scope of a proof.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// Any number of cycles, by property directed reachability.
    Unbounded,
    /// Any number of cycles: the assertions of one cycle imply those of the next. Faults are searched for in this
    /// number of cycles from reset.
    Induction(u64),
    /// This number of cycles from reset.
    Cycles(u64),
}

/// Enough for a request of each of four channels, and for some of them again.
const SEGMENT_FAULTS: u64 = 24;

/// Enough for eight turns of other channels.
const TURN_FAULTS: u64 = 52;

/// Enough for some requests to leave and to end.
const WRITE_FAULTS: u64 = 11;

/// Enough for a sweep, and for two descriptors to be queued, started and ended.
const QUEUE_FAULTS: u64 = 14;

/// Enough for a sweep and for some descriptors, records or requests to come and go.
const BLOCK_FAULTS: u64 = 12;

/// Enough for a descriptor to be accepted, started and ended, and for its end to be sent.
const END_FAULTS: u64 = 14;

/// Enough for nine reads to be asked for, and for a port to be given up.
const TXS_BUS: Reach = Reach::Cycles(14);

/// Enough for a read of 18 beats.
const TXS_LONG_READ: u64 = 24;

/// Enough for a time-out, the late answers, the end of the quarantine and a read after it.
const TXS_QUARANTINE: Reach = Reach::Cycles(11);

/// Enough for three requests whose ends wait for their flush reads.
const WRITE_FLUSHES: Reach = Reach::Cycles(19);

/// Enough for a burst of three beats: the first takes 16 cycles through the clock of the memory and back.
const WRITE_BEATS: Reach = Reach::Cycles(19);

/// Enough for the ends of two reads, which go through the clock of the memory and back.
const READ_ENDS: Reach = Reach::Cycles(29);

/// Enough for two chunks to find their places, and for a burst that a reset meets.
const RECEIVE_FAULTS: u64 = 20;

/// Enough for counting to begin and for two packets.
const CREDIT_FAULTS: u64 = 44;

/// Enough for a burst of two packets of 128 bytes.
const POST_FAULTS: u64 = 24;

/// Enough for two reads, or for two parts of one.
const ASK_FAULTS: u64 = 20;

/// A value of `MUTANT` without a fault, which leaves out the assertions about the block's registers.
const PINS_ONLY: u64 = 99;

/// Result of ABC.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// No reachable state breaks an assertion.
    Proved,
    /// A reachable state does.
    Broken,
    /// Not decided in time.
    Open,
}

/// A block's Verilog, ready for a wrapper.
fn verilog<B: Block>(name: &str, block: B) -> String {
    verilog_with(name, block, Memories::Whole)
}

fn verilog_with<B: Block>(name: &str, mut block: B, seen: Memories) -> String {
    block.connect_all();
    let design = emit(name, &block, "Under proof.").unwrap();
    design
        .modules
        .iter()
        .map(|module| memories(&planted(&module.name, &module.verilog), seen))
        .collect()
}

/// Proves the wrapper `file` of `tests/proofs/` around `design`.
fn prove(
    yosys: &Yosys,
    design: &str,
    file: &str,
    parameters: &[(&str, u64)],
    reach: Reach,
) -> Verdict {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("design.v"), design).unwrap();
    let wrapper = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("proofs")
        .join(file);
    fs::copy(&wrapper, at("proof.sv")).unwrap();
    // ABC runs in Yosys's `abc` command, with a script instead of a circuit of its own.
    fs::write(
        at("vehicle.v"),
        "module vehicle(input a, input b, output y); assign y = a & b; endmodule\n",
    )
    .unwrap();
    let chosen: String = parameters
        .iter()
        .map(|(name, value)| format!("-set {name} {value} "))
        .collect();
    let to_graph = format!(
        "read_verilog -formal -sv design.v proof.sv; chparam {chosen}proof; \
         prep -top proof -flatten; async2sync; memory_map -formal; opt -full; techmap; simplemap; \
         formalff -clk2ff -ff2anyinit; dffunmap; setundef -undriven -anyseq; aigmap; opt_clean; \
         write_aiger -B -zinit -no-startoffset proof.aig"
    );
    let output = run(yosys.command().arg("-q"), directory.path(), &to_graph);
    assert!(at("proof.aig").exists(), "{file}: {output}");
    let patience = PATIENCE.as_secs();
    // The steps, and the number of cycles from reset that they cover where they prove nothing beyond.
    let (steps, cycles) = match reach {
        Reach::Unbounded => (format!("scorr;dc2;pdr,-T,{patience}"), None),
        Reach::Cycles(cycles) => (
            format!("scorr;dc2;bmc3,-F,{cycles},-T,{patience}"),
            Some(cycles),
        ),
        Reach::Induction(cycles) => {
            let search = |cycles: u64| format!("bmc3,-F,{cycles},-T,{patience}");
            let holds = |steps: &str| decide(yosys, directory.path(), file, steps);
            let (begins, last) = holds(&search(INDUCTION));
            let (follows, _) = holds(&format!("orpos;ind,-F,{INDUCTION},-C,100000000"));
            let begins_well =
                begins == "snl_UNSAT" || (begins != "snl_SAT" && last >= Some(INDUCTION - 1));
            if begins_well && follows == "snl_UNSAT" {
                return Verdict::Proved;
            }
            // Not decided, unless a fault is found. Finding none proves nothing.
            (search(cycles), None)
        }
    };
    let (result, last) = decide(yosys, directory.path(), file, &steps);
    match (result.as_str(), cycles) {
        ("snl_UNSAT", _) => Verdict::Proved,
        ("snl_SAT", _) => Verdict::Broken,
        (_, Some(cycles)) if last >= Some(cycles - 1) => Verdict::Proved,
        _ => Verdict::Open,
    }
}

/// Runs ABC's `steps` on the graph in `directory`. Returns the result, and the last cycle that was covered, from 0.
fn decide(yosys: &Yosys, directory: &Path, file: &str, steps: &str) -> (String, Option<u64>) {
    let script = format!(
        "read_verilog vehicle.v; simplemap; abc -g AND -script +read_aiger,proof.aig;fold;strash;\
         {steps};write_status,proof.status"
    );
    // The command itself fails, because the script leaves it no circuit; the status file decides.
    let output = run(&mut yosys.command(), directory, &script);
    let status = fs::read_to_string(directory.join("proof.status"))
        .unwrap_or_else(|error| panic!("{file}: ABC wrote no status ({error}): {output}"));
    fs::remove_file(directory.join("proof.status")).unwrap();
    let mut words = status.split_whitespace();
    let result = words.next().unwrap_or_default().to_owned();
    let last = words.next().and_then(|word| word.parse().ok());
    (result, last)
}

fn run(command: &mut Command, directory: &Path, script: &str) -> String {
    let output = command
        .current_dir(directory)
        .args(["-p", script])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Checks that the proof holds, and that it fails with each of the wrapper's `mutants`.
fn holds_and_has_teeth(
    name: &str,
    design: &str,
    file: &str,
    parameters: &[(&str, u64)],
    reach: Reach,
    mutants: impl IntoIterator<Item = u64>,
) {
    if is_elsewhere(design) {
        return;
    }
    let yosys = Cache::open().unwrap().yosys().unwrap();
    if is_wanted() {
        // Only a run from reset to a wrong pin counts: a proof that is not decided shows nothing about a mutant.
        let with = [parameters, &[("MUTANT", PINS_ONLY)]].concat();
        if prove(&yosys, design, file, &with, reach) == Verdict::Broken {
            exit(MUTANT_SEEN);
        }
        return;
    }
    let start = Instant::now();
    assert_eq!(
        prove(&yosys, design, file, parameters, reach),
        Verdict::Proved,
        "{name}"
    );
    eprintln!("{name}: proved in {:.1} s", start.elapsed().as_secs_f64());
    for mutant in mutants {
        let mut with = parameters.to_vec();
        with.push(("MUTANT", mutant));
        assert_eq!(
            prove(&yosys, design, file, &with, reach),
            Verdict::Broken,
            "{name}: no assertion sees fault {mutant}"
        );
        eprintln!(
            "{name}: fault {mutant} found, {:.1} s",
            start.elapsed().as_secs_f64()
        );
    }
}

/// Checks that the proof fails with each of the faults in the block itself: `edits` of its Verilog, from and to.
fn sees_in_the_block(
    name: &str,
    design: &str,
    file: &str,
    parameters: &[(&str, u64)],
    reach: Reach,
    edits: &[(&str, &str)],
) {
    if is_wanted() {
        return;
    }
    let yosys = Cache::open().unwrap().yosys().unwrap();
    for (from, to) in edits {
        assert_eq!(design.matches(from).count(), 1, "{name}: `{from}`");
        assert_eq!(
            prove(&yosys, &design.replace(from, to), file, parameters, reach),
            Verdict::Broken,
            "{name}: no assertion sees `{to}`"
        );
    }
}

/// Returns the build for the proofs of inner modules: the smallest, except for its four channels.
fn small_build() -> Params {
    Params {
        txs_addr_bits: 32,
        channels: 4,
        queue_log2: 8,
        att_log2: 8,
        memory_log2: 20,
        reads_log2: 3,
        ..Params::default()
    }
}

/// Returns a module of the block, named `name`: for blocks with a port that is a Verilog keyword, which only an inner
/// module may have.
fn of_the_block(module: &str, name: &str, seen: Memories) -> String {
    let inner = format!("module peerlane_engine_{module} ");
    let design: String = generate(&small_build())
        .unwrap()
        .modules
        .into_iter()
        .map(|module| memories(&planted(&module.name, &module.verilog), seen))
        .collect();
    assert!(design.contains(&inner), "no `{inner}` in the block");
    design.replace(&inner, &format!("module {name} ")).replace(
        &format!("  peerlane_engine_{module} "),
        &format!("  {name} "),
    )
}

fn segment_proof(read: bool, part: u64, mutants: &[u64]) {
    let build = small_build();
    let module = if read {
        "read_segment"
    } else {
        "write_segment"
    };
    let parameters = [
        ("BYTES", u64::from(build.port_bits / 8)),
        ("ATT_LOG2", u64::from(build.att_log2)),
        ("MEMORY_LOG2", u64::from(build.memory_log2)),
        ("READ", u64::from(read)),
        ("PART", part),
    ];
    holds_and_has_teeth(
        &format!("{module}, part {part}"),
        &of_the_block(module, "peerlane_segment", Memories::Whole),
        "segment.sv",
        &parameters,
        Reach::Induction(if part == 3 {
            TURN_FAULTS
        } else {
            SEGMENT_FAULTS
        }),
        mutants.iter().copied(),
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn no_write_request_leaves_without_permission_or_crosses_an_edge() {
    segment_proof(false, 1, &[1, 2, 3, 4, 5, 11, 12]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn no_read_request_leaves_without_permission_or_crosses_an_edge() {
    segment_proof(true, 1, &[2, 4]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_descriptor_gives_exactly_one_last_request() {
    segment_proof(false, 2, &[6, 7, 8, 9]);
    segment_proof(true, 2, &[6]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_channel_with_something_to_do_has_its_turn() {
    segment_proof(false, 3, &[10]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_small_fifo_loses_and_invents_nothing() {
    let design = verilog("peerlane_fifo", SmallFifo::<Bits<1>, 2, 3>::default());
    holds_and_has_teeth(
        "small FIFO",
        &design,
        "fifo.sv",
        &[("CAPACITY", 4)],
        Reach::Unbounded,
        1..=4,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn an_asynchronous_fifo_loses_and_invents_nothing() {
    let design = verilog("peerlane_fifo", AsyncFifo::<Bits<1>, 2, 3>::default());
    // The output register holds one more.
    let parameters = [("CAPACITY", 5), ("TWO_CLOCKS", 1)];
    holds_and_has_teeth(
        "asynchronous FIFO",
        &design,
        "fifo.sv",
        &parameters,
        Reach::Unbounded,
        1..=4,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_descriptor_queue_loses_and_invents_nothing() {
    let design = of_the_block("write_queue", "peerlane_queue", Memories::Whole);
    for (dword, mutants) in [(0, 1..7), (6, 7..7)] {
        holds_and_has_teeth(
            &format!("descriptor queue, dword {dword}"),
            &design,
            "queue.sv",
            &[("DWORD", dword)],
            Reach::Induction(QUEUE_FAULTS),
            mutants,
        );
    }
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_att_answers_with_what_the_driver_wrote_last() {
    let design = verilog("peerlane_att", Att::new(2, 1));
    holds_and_has_teeth("ATT", &design, "att.sv", &[], Reach::Unbounded, 1..=3);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_txs_adapter_keeps_the_rules_of_the_bus() {
    txs_proof("bus", 1, TXS_BUS, &[1, 2, 3, 4, 10, 11, 12, 14, 15], &[]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_read_of_the_txs_adapter_ends_once_with_its_own_data() {
    txs_proof("quarantine", 2, TXS_QUARANTINE, &[5, 6, 7, 10], &[]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_port_that_stands_still_is_given_up_and_takes_everything() {
    let edits = [(
        "absorbed_d = flush_absorb;",
        "absorbed_d = flush_absorb & ~port_dead;",
    )];
    txs_proof("dead port", 3, TXS_BUS, &[8, 9, 13], &edits);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_txs_adapter_knows_the_last_beat_of_a_read_of_any_length() {
    let known = "at_last_d = seen_q == old_last;";
    let edits = [
        (known, "at_last_d = 1'b1;"),
        (known, "at_last_d = seen_q == old_last - 1;"),
        (known, "at_last_d = (seen_q & 6'd15) == old_last;"),
    ];
    let reach = Reach::Induction(TXS_LONG_READ);
    txs_proof("last beat", 4, reach, &[], &edits);
}

fn txs_proof(name: &str, part: u64, reach: Reach, mutants: &[u64], edits: &[(&str, &str)]) {
    let name = format!("Txs, {name}");
    let design = verilog("peerlane_txs", TxsAdapter::<128, 16>::default());
    let parameters = [("PART", part)];
    let mutants = mutants.iter().copied();
    holds_and_has_teeth(&name, &design, "txs.sv", &parameters, reach, mutants);
    sees_in_the_block(&name, &design, "txs.sv", &parameters, reach, edits);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_flush_read_ends_once_and_no_tag_is_used_while_it_is_owed() {
    holds_and_has_teeth(
        "flush reads",
        &verilog("peerlane_flushes", Flushes::default()),
        "flushes.sv",
        &[],
        Reach::Induction(BLOCK_FAULTS),
        1..=9,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_end_of_a_descriptor_gives_one_record_in_its_ring() {
    holds_and_has_teeth(
        "completer",
        &verilog("peerlane_completer", Completer::new(1)),
        "completer.sv",
        &[],
        Reach::Induction(END_FAULTS),
        1..=5,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn no_more_is_accepted_than_the_ring_has_slots() {
    holds_and_has_teeth(
        "room in the rings",
        &verilog("peerlane_room", RingRoom::new(2)),
        "room.sv",
        &[],
        Reach::Induction(BLOCK_FAULTS),
        1..=4,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_fence_waits_for_all_that_was_translated_before_it() {
    holds_and_has_teeth(
        "fence",
        &verilog("peerlane_fence", Fence::default()),
        "fence.sv",
        &[],
        Reach::Induction(BLOCK_FAULTS),
        1..=8,
    );
}

/// Runs a part of a proof of one direction after its request maker.
fn path_proof(module: &str, part: u64, design: &str, reach: Reach, mutants: &[u64]) {
    holds_and_has_teeth(
        &format!("{module}, part {part}"),
        design,
        &format!("{module}.sv"),
        &[("PART", part)],
        reach,
        mutants.iter().copied(),
    );
}

fn write_path_proof(part: u64, seen: Memories, reach: Reach, mutants: &[u64]) {
    let design = of_the_block("write_path", "peerlane_write_path", seen);
    path_proof("write_path", part, &design, reach, mutants);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_last_write_request_has_one_end_of_its_own() {
    let reach = Reach::Induction(WRITE_FAULTS);
    write_path_proof(1, Memories::OneWord, reach, &[1, 2, 5, 6, 7]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_end_of_a_write_waits_for_its_own_flush_read() {
    write_path_proof(2, Memories::Sixteen, WRITE_FLUSHES, &[3, 4]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_write_burst_has_the_beats_and_bytes_of_its_request() {
    write_path_proof(3, Memories::Sixteen, WRITE_BEATS, &[8, 9, 10, 11]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_last_read_request_has_one_end_and_every_read_a_tag_of_its_own() {
    let block = of_the_block("read_path", "peerlane_read_path", Memories::Whole);
    let design = without(&block, "peerlane_engine_receive");
    let reach = Reach::Induction(BLOCK_FAULTS);
    path_proof("read_path", 1, &design, reach, &[1, 2, 3, 4, 5, 6, 7]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_read_that_brings_nothing_ends_once_and_with_its_own_code() {
    let design = of_the_block("read_path", "peerlane_read_path", Memories::Sixteen);
    path_proof("read_path", 2, &design, READ_ENDS, &[8, 9]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn received_data_find_their_place_and_no_burst_is_cut_off() {
    let receiver = Receive::<128, 16, 129>::new(3, 4);
    let whole = verilog_with("peerlane_receive", receiver, Memories::OneWord);
    let design = without(&whole, "peerlane_receive_align");
    let design = without(&design, "peerlane_receive_ram_lanes_128x512");
    let reach = Reach::Induction(RECEIVE_FAULTS);
    let (name, file) = ("receiver", "receive.sv");
    holds_and_has_teeth(name, &design, file, &[], reach, []);
    // A place that is looked up together with a step that moves it; a burst that is counted short, one that a reset
    // cuts off, or that lets dropped data be written, one whose offered word is emptied by it; a place that moves by
    // too little, a chunk that is its read's last one too early.
    let edits = [
        (
            "found_on_d = front_on_q & (~c_take);",
            "found_on_d = front_on_q;",
        ),
        (
            "burst_beat_q + 4'd2) == mem_count",
            "burst_beat_q + 4'd1) == mem_count",
        ),
        (
            "(mem_writes | (|burst_beat_q))) & (~mem_last)",
            "mem_writes) & (~mem_last)",
        ),
        ("if (rinsing_q & (~stuck_q)) begin", "if (1'b0) begin"),
        ("& ((~rinsing_q) | stuck_q);", "& 1'b0;"),
        (
            "c_local + {30'd0, c_bytes}",
            "c_local + {31'd0, c_bytes[8:0]}",
        ),
        ("c_left == c_bytes", "c_left[8:0] == c_bytes[8:0]"),
    ];
    sees_in_the_block(name, &design, file, &[], reach, &edits);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn nothing_is_sent_to_the_link_without_credits() {
    holds_and_has_teeth(
        "credits",
        &verilog("peerlane_credits", Credits::default()),
        "pcie_credits.sv",
        &[],
        Reach::Induction(CREDIT_FAULTS),
        1..=7,
    );
}

/// Returns writes of `W` bits and `B` bytes a beat. Their stores are left open.
fn posts<const W: usize, const B: usize>() -> String {
    let block = verilog("peerlane_posts", Posts::<W, B>::default());
    let design = without(&block, &format!("peerlane_posts_fifo_block_64x{W}"));
    without(&design, "peerlane_posts_fifo_mlab_16x92")
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn posted_packets_are_well_formed_and_name_the_bytes_of_their_burst() {
    let (name, file) = ("posted packets", "pcie_posts.sv");
    let reach = Reach::Induction(POST_FAULTS);
    holds_and_has_teeth(name, &posts::<128, 16>(), file, &[], reach, 1..=5);
    let wide = [("LANES", 4)];
    holds_and_has_teeth(name, &posts::<256, 32>(), file, &wide, reach, []);
    // The assertions about the block's registers do not apply to a faulty block: only the stored words count.
    let pins = [("MUTANT", PINS_ONLY)];
    // A packet that goes on past its burst, or over its limit; a last dword's enables where there is one dword, or none
    // where there are two; a beat that is left over and not stored, or stored and does not exist; a packet that begins
    // where the one before it did.
    let edits = [
        ("packet_last = burst_last | cut;", "packet_last = cut;"),
        (
            "packet_last = burst_last | cut;",
            "packet_last = burst_last;",
        ),
        (
            "if ((count_q == 6'd1) & (low == high)) begin",
            "if (1'b0) begin",
        ),
        (
            "if ((count_q == 6'd1) & (low == high)) begin",
            "if (count_q == 6'd1) begin",
        ),
        ("& in_last_q) & spill;", "& in_last_q) & 1'b0;"),
        ("& in_last_q) & spill;", "& in_last_q);"),
        ("    if (fresh_q) begin", "    if (index_q == 6'd0) begin"),
    ];
    sees_in_the_block(name, &posts::<128, 16>(), file, &pins, reach, &edits);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn read_requests_are_well_formed_and_have_a_tag_and_room() {
    let block = verilog("peerlane_asks", Asks::new(16));
    let design = without(&block, "peerlane_asks_fifo_mlab_4x113");
    holds_and_has_teeth(
        "read requests",
        &design,
        "pcie_asks.sv",
        &[],
        Reach::Induction(ASK_FAULTS),
        1..=8,
    );
}
