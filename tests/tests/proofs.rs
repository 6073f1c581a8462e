//! Properties of the blocks, proved on the Verilog that the back-end writes.
//!
//! Each proof is a wrapper in `tests/proofs/` around one small instance of a real block. Yosys
//! flattens it to an and-inverter graph; ABC, which Yosys carries, proves its assertions for any number of
//! cycles by property directed reachability, or, where a test says so, for every course of a number of
//! cycles from reset. Each wrapper can put a fault on the block's
//! pins (`MUTANT`); with each of them the same proof must fail, so that no assertion is idle.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use peerlane_hdl::{
    Params, TOP, generate,
    prim::{AsyncFifo, SmallFifo},
    rtl::{att::Att, complete::Completer, queue::DescriptorQueue},
};
use peerlane_tools::{Cache, Yosys};
use peerlane_verilog::emit;
use rust_hdl::prelude::*;

/// More than any proof takes on a busy machine; ABC gives up then.
const PATIENCE: Duration = Duration::from_secs(240);

/// How far a proof goes.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// Any number of cycles.
    Unbounded,
    /// So many cycles from reset.
    Cycles(u64),
}

/// What ABC found.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// No state within reach breaks an assertion.
    Proved,
    /// One does.
    Broken,
    /// Not decided in time.
    Open,
}

/// A block's Verilog, ready for a wrapper.
fn verilog<B: Block>(name: &str, mut block: B) -> String {
    block.connect_all();
    let design = emit(name, &block, "Under proof.").unwrap();
    design
        .modules
        .iter()
        .map(|module| collisions_are_undefined(&module.verilog))
        .collect()
}

/// A block RAM does not say what a word reads as in the cycle in which it is written; in the
/// Verilog it is the old word. Here it is anything.
fn collisions_are_undefined(verilog: &str) -> String {
    const READ: &str = "if (read_enable) read_word <= cells[";
    let Some((before, rest)) = verilog.split_once(READ) else {
        return verilog.to_owned();
    };
    let (address, after) = rest.split_once("];").unwrap();
    let written = address.replace("read_address", "write_address");
    let word = verilog
        .lines()
        .find_map(|line| line.trim().strip_suffix(" read_word;"))
        .and_then(|line| line.strip_prefix("reg "))
        .unwrap();
    let (head, body) = before
        .split_once("  reg ")
        .map_or((before, ""), |parts| parts);
    format!(
        "{head}  (* anyseq *) wire {word} undefined;\n  reg {body}if (read_enable) read_word <= \
         (write_enable && {written} == {address}) ? undefined : cells[{address}];{after}"
    )
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
    // ABC runs in Yosys's `abc` command, on a script in place of a circuit of its own.
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
    let engine = match reach {
        Reach::Unbounded => format!("pdr,-T,{patience}"),
        Reach::Cycles(cycles) => format!("bmc3,-F,{cycles},-T,{patience}"),
    };
    let decide = format!(
        "read_verilog vehicle.v; simplemap; abc -g AND -script +read_aiger,proof.aig;fold;strash;\
         scorr;dc2;{engine};write_status,proof.status"
    );
    // The command itself fails, because the script leaves it no circuit; the status file decides.
    let output = run(&mut yosys.command(), directory.path(), &decide);
    let status = fs::read_to_string(at("proof.status"))
        .unwrap_or_else(|error| panic!("{file}: ABC wrote no status ({error}): {output}"));
    // The result, then the last cycle that was looked at, from 0.
    let mut words = status.split_whitespace();
    let result = words.next();
    let last = words.next().and_then(|word| word.parse::<u64>().ok());
    match (result, reach) {
        (Some("snl_UNSAT"), _) => Verdict::Proved,
        (Some("snl_SAT"), _) => Verdict::Broken,
        (_, Reach::Cycles(cycles)) if last >= Some(cycles - 1) => Verdict::Proved,
        _ => Verdict::Open,
    }
}

fn run(command: &mut Command, directory: &Path, script: &str) -> String {
    let output = command
        .current_dir(directory)
        .args(["-p", script])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The proof holds, and fails with each of the wrapper's `mutants`.
fn holds_and_has_teeth(
    name: &str,
    design: &str,
    file: &str,
    parameters: &[(&str, u64)],
    reach: Reach,
    mutants: impl IntoIterator<Item = u64>,
) {
    let yosys = Cache::open().unwrap().yosys().unwrap();
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

/// The default block's Verilog with its module `module` named `name`: for blocks with a port that is
/// a Verilog keyword, which only an inner module may have.
fn of_the_block(module: &str, name: &str) -> String {
    let params = Params {
        txs_addr_bits: 32,
        ..Params::default()
    };
    let inner = format!("module {TOP}_{module} ");
    let design: String = generate(&params)
        .unwrap()
        .modules
        .into_iter()
        .map(|module| module.verilog)
        .collect();
    assert!(design.contains(&inner), "no `{inner}` in the block");
    design.replace(&inner, &format!("module {name} ")).replace(
        &format!("{TOP}_{module} {module} "),
        &format!("{name} {module} "),
    )
}

fn segment(read: bool) -> String {
    let module = if read {
        "read_segment"
    } else {
        "write_segment"
    };
    of_the_block(module, "peerlane_segment")
}

/// Enough for nine reads to be asked for.
const TXS_BUS: Reach = Reach::Cycles(16);

/// Enough for a time-out, the late answers, the end of the quarantine and a read after it.
const TXS_QUARANTINE: Reach = Reach::Cycles(11);

fn segment_proof(read: bool, part: u64, mutants: &[u64]) {
    let build = Params::default();
    let parameters = [
        ("BYTES", u64::from(build.port_bits / 8)),
        ("ATT_LOG2", u64::from(build.att_log2)),
        ("MEMORY_LOG2", u64::from(build.memory_log2)),
        ("READ", u64::from(read)),
        ("PART", part),
    ];
    let name = format!(
        "segment, {}, part {part}",
        if read { "read" } else { "write" }
    );
    let mutants = mutants.iter().copied();
    holds_and_has_teeth(
        &name,
        &segment(read),
        "segment.sv",
        &parameters,
        Reach::Unbounded,
        mutants,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn no_write_request_leaves_without_permission_or_crosses_an_edge() {
    segment_proof(false, 1, &[1, 2, 3, 4]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn no_read_request_leaves_without_permission_or_crosses_an_edge() {
    segment_proof(true, 1, &[1, 2, 3, 4]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_descriptor_gives_exactly_one_last_request() {
    segment_proof(false, 2, &[5, 6]);
    segment_proof(true, 2, &[5, 6]);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn a_small_fifo_loses_and_invents_nothing() {
    let design = verilog("peerlane_fifo", SmallFifo::<1, 2, 3>::default());
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
    let design = verilog("peerlane_fifo", AsyncFifo::<1, 2, 3>::default());
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
    let design = verilog("peerlane_queue", DescriptorQueue::new(2));
    for dword in [0, 6] {
        let (name, parameters) = (
            format!("descriptor queue, dword {dword}"),
            [("DWORD", dword)],
        );
        holds_and_has_teeth(
            &name,
            &design,
            "queue.sv",
            &parameters,
            Reach::Unbounded,
            1..=4,
        );
    }
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_att_answers_with_what_the_driver_wrote_last() {
    let design = verilog("peerlane_att", Att::new(2));
    holds_and_has_teeth("ATT", &design, "att.sv", &[], Reach::Unbounded, 1..=3);
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_txs_adapter_keeps_the_rules_of_the_bus() {
    let design = of_the_block("port", "peerlane_txs");
    holds_and_has_teeth(
        "Txs, bus",
        &design,
        "txs.sv",
        &[("PART", 1)],
        TXS_BUS,
        1..=4,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn the_txs_adapter_makes_up_exactly_what_is_owed() {
    let design = of_the_block("port", "peerlane_txs");
    holds_and_has_teeth(
        "Txs, quarantine",
        &design,
        "txs.sv",
        &[("PART", 2)],
        TXS_QUARANTINE,
        5..=7,
    );
}

#[test]
#[ignore = "external tools: cargo xtask test proofs"]
fn every_end_of_a_descriptor_gives_one_record_in_order() {
    let design = verilog("peerlane_completer", Completer::default());
    holds_and_has_teeth(
        "completer",
        &design,
        "completer.sv",
        &[],
        Reach::Unbounded,
        1..=3,
    );
}
