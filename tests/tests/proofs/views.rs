//! What a proof sees of a design: its memories in a form that a solver can bear, or a module left open.

/// How a proof sees the memories of a design.
#[derive(Debug, Clone, Copy)]
pub enum Memories {
    /// All of their words.
    Whole,
    /// One word each, at a place that the solver chooses and keeps; every other is anything when it is
    /// read. What holds so, holds.
    OneWord,
    /// Sixteen words: for proofs of so few cycles that no FIFO takes more.
    Sixteen,
}

/// What a proof needs of memories beside their Verilog.
///
/// A block RAM does not say what a word reads as in the cycle in which it is written; in the Verilog it
/// is the old word. Here it is anything. And every memory gets a second way to read it, by which a
/// wrapper can say what a word holds: `spy`, at `spy_at`, which it chooses; and, if it is very small,
/// `every` word at once.
pub fn memories(verilog: &str, seen: Memories) -> String {
    let Some((width, last)) = verilog.lines().find_map(|line| {
        let (_, declared) = line.split_once(" reg ")?;
        let (width, last) = declared.split_once(" cells [0:")?;
        Some((width, last.strip_suffix("];")?.parse::<u64>().ok()?))
    }) else {
        return verilog.to_owned();
    };
    let cut = |text, at| str::split_once(text, at).expect("the templates of the memories");
    let (start, rest) = cut(verilog, "if (write_enable) cells[");
    let (written, rest) = cut(rest, "] <= ");
    let (middle, rest) = cut(rest, "cells[");
    let (read, end) = cut(rest, "];");
    let spy_at = format!("wire [{}:0] spy_at;", last.max(1).ilog2());
    let cells = |last| {
        format!(
            "{width} cells [0:{last}];\n  (* anyseq *) {spy_at}\n  wire {width} spy = cells[spy_at];\n"
        )
    };
    let (declared, write, word) = match seen {
        Memories::Whole => {
            let bits = width[1..]
                .split(':')
                .next()
                .unwrap()
                .parse::<u64>()
                .unwrap()
                + 1;
            let words: Vec<_> = (0..=last).rev().map(|at| format!("cells[{at}]")).collect();
            let every = format!(
                "  wire [{}:0] every = {{{}}};\n",
                bits * (last + 1) - 1,
                words.join(", ")
            );
            (
                cells(last) + if last < 8 { &every } else { "" },
                format!("if (write_enable) cells[{written}]"),
                format!("cells[{read}]"),
            )
        }
        Memories::OneWord => (
            format!(
                "{width} spy;\n  (* anyconst *) {spy_at}\n  (* anyseq *) wire {width} elsewhere;\n"
            ),
            format!("if (write_enable && {written} == spy_at) spy"),
            format!("({read} == spy_at ? spy : elsewhere)"),
        ),
        Memories::Sixteen => (
            cells(last.min(15)),
            format!("if (write_enable) cells[4'd15 & {written}]"),
            format!("cells[4'd15 & {read}]"),
        ),
    };
    let start = start.replace(
        &format!("{width} cells [0:{last}];\n"),
        &format!("{declared}  (* anyseq *) wire {width} undefined;\n"),
    );
    let word = if middle.ends_with("read_word <= ") {
        format!("(write_enable && {written} == {read}) ? undefined : {word}")
    } else {
        word
    };
    format!("{start}{write} <= {middle}{word};{end}")
}

/// The design with nothing in `module`, whose outputs are anything.
pub fn without(design: &str, module: &str) -> String {
    let (before, rest) = design.split_once(&format!("module {module} (")).unwrap();
    let (ports, rest) = rest.split_once(");\n").unwrap();
    let (_, after) = rest.split_once("\nendmodule").unwrap();
    let anything: String = ports
        .lines()
        .filter_map(|line| line.trim().strip_prefix("output "))
        .map(|port| {
            let port = port
                .trim_start_matches("reg ")
                .trim_start_matches("wire ")
                .trim();
            let (width, name) = port.rsplit_once(' ').unwrap_or(("", port));
            let name = name.trim_end_matches(',');
            format!("  (* anyseq *) wire {width} any_{name};\n  assign {name} = any_{name};\n")
        })
        .collect();
    let ports = ports.replace("output reg ", "output wire ");
    format!("{before}module {module} ({ports});\n{anything}endmodule{after}")
}
