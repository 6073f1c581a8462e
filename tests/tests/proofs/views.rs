//! The view of a design that a proof gets: its memories in a form that a solver can handle, or a module left open.

/// A proof's view of the memories of a design.
#[derive(Debug, Clone, Copy)]
pub enum Memories {
    /// All of their words.
    Whole,
    /// One word each, at a place that the solver chooses and keeps; every other word is anything when it is read.
    /// Properties that hold in this view hold for the whole memory.
    OneWord,
    /// Sixteen words: for proofs of so few cycles that no FIFO takes more.
    Sixteen,
}

/// Changes the Verilog of memories for a proof.
///
/// Where an FPGA does not define the value of a word, the value is anything: the Verilog's own model for simulation,
/// with a choice of the solver for its garbage. Every memory also gets a second read port, by which a wrapper can name
/// the content of a word, including one that is still on its way into the memory: `spy`, at `spy_at`, which the wrapper
/// chooses; and, if the memory is very small, `every` word at once.
pub fn memories(verilog: &str, seen: Memories) -> String {
    let Some((width, last)) = verilog.lines().find_map(|line| {
        let (_, declared) = line.split_once(" reg ")?;
        let (width, last) = declared.split_once(" cells [0:")?;
        Some((width, last.strip_suffix("];")?.parse::<u64>().ok()?))
    }) else {
        return verilog.to_owned();
    };
    let verilog = simulated(verilog);
    let cut = |text, at| str::split_once(text, at).expect("the templates of the memories");
    let (start, rest) = cut(&verilog, ") cells[");
    let (written, rest) = cut(rest, "] <= ");
    let (middle, rest) = cut(rest, "cells[");
    let (read, end) = cut(rest, "];");
    let spy_at = format!("wire [{}:0] spy_at;", last.max(1).ilog2());
    let forwards = start.ends_with("if (writing");
    // The value of a word whose content in the memory is `held`.
    let whole = |at: &str, held: &str| {
        if forwards {
            format!(
                "writing && writing_at == {at} ? writing_data : \
                 settling && settling_at == {at} ? settling_data : {held}"
            )
        } else {
            held.to_owned()
        }
    };
    let cells = |last| {
        format!(
            "{width} cells [0:{last}];\n  (* anyseq *) {spy_at}\n  wire {width} held = cells[spy_at];\n"
        )
    };
    let (declared, enable, place, word) = match seen {
        Memories::Whole => {
            let bits = width[1..]
                .split(':')
                .next()
                .unwrap()
                .parse::<u64>()
                .unwrap()
                + 1;
            let words: Vec<_> = (0..=last)
                .rev()
                .map(|at| format!("({})", whole(&at.to_string(), &format!("cells[{at}]"))))
                .collect();
            let every = format!(
                "  wire [{}:0] every = {{{}}};\n",
                bits * (last + 1) - 1,
                words.join(", ")
            );
            (
                (cells(last), if last < 8 { every } else { String::new() }),
                String::new(),
                format!("cells[{written}]"),
                format!("cells[{read}]"),
            )
        }
        Memories::OneWord => (
            (
                format!(
                    "{width} held;\n  (* anyconst *) {spy_at}\n  (* anyseq *) wire {width} elsewhere;\n"
                ),
                String::new(),
            ),
            format!(" && {written} == spy_at"),
            "held".to_owned(),
            format!("({read} == spy_at ? held : elsewhere)"),
        ),
        Memories::Sixteen => (
            (cells(last.min(15)), String::new()),
            String::new(),
            format!("cells[4'd15 & {written}]"),
            format!("cells[4'd15 & {read}]"),
        ),
    };
    let start = start.replace(&format!("{width} cells [0:{last}];\n"), &declared.0);
    let spy = format!("  wire {width} spy = {};\n", whole("spy_at", "held"));
    // A word that is held outside of the memory is also in the memory.
    let kept = if forwards {
        "  always @* if (settling && settling_at == spy_at) assert (settling_data == held);\n"
    } else {
        ""
    };
    let body = format!("{start}{enable}) {place} <= {middle}{word};{end}");
    let (body, after) = cut(&body, "endmodule");
    format!(
        "{body}{spy}{every}{kept}endmodule{after}",
        every = declared.1
    )
}

/// Returns a module of a memory as simulation sees it, with anything for garbage.
fn simulated(verilog: &str) -> String {
    let mut skips = false;
    let mut text = String::new();
    for line in verilog.lines() {
        match line.trim() {
            "`ifdef SIMULATION" => {}
            "`else" => skips = true,
            "`endif" => skips = false,
            _ if skips => {}
            said if said.contains("noise") && !said.contains("garbage = ") => {}
            _ => {
                let declared = line.split_once(" garbage = ").map(|(before, _)| before);
                match declared {
                    Some(declared) => text += &format!("  (* anyseq *) {declared} garbage;"),
                    None => text += line,
                }
                text.push('\n');
            }
        }
    }
    text
}

/// Returns the design with an empty `module`, whose outputs are anything.
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
