//! Checks Verilog with Verilator, Icarus Verilog and Yosys, and for words of SystemVerilog.
//!
//! The boards' Quartus II is from 2013, so the Verilog has to be plain IEEE 1364-2005. Each of the three programs
//! accepts some things that the others refuse; a design passes when all are silent.

use std::{
    collections::BTreeSet,
    fmt, fs, io,
    process::{Command, Stdio},
};

use peerlane_tools::Cache;

/// A Verilog file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// File name, without a directory.
    pub name: String,
    /// Content.
    pub text: String,
}

/// A Verilator rule that a file may switch off by a `lint_off` comment, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiver {
    /// The rule's name, such as `UNUSEDSIGNAL`.
    pub rule: &'static str,
    /// The reason.
    pub reason: &'static str,
}

/// Readers of the Verilog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reader {
    /// `verilator --lint-only -Wall --language 1364-2005`.
    Verilator,
    /// `iverilog -g2005 -Wall`.
    Icarus,
    /// Yosys: `hierarchy -check`, `proc`, `check -assert`.
    Yosys,
    /// [`system_verilog_words`].
    Words,
    /// The list of allowed [`Waiver`]s.
    Waivers,
}

/// One objection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The reader that objected.
    pub reader: Reader,
    /// Its message.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.reader, self.text)
    }
}

/// The reason why the readers could not be run.
#[derive(Debug, thiserror::Error)]
pub enum LintError {
    /// A tool is not available.
    #[error(transparent)]
    Tools(#[from] peerlane_tools::Error),
    /// A file or process failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// The operation that was tried.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// All readers that are programs, without the checks of the text itself.
pub const READERS: [Reader; 3] = [Reader::Verilator, Reader::Icarus, Reader::Yosys];

/// Runs some of the [`READERS`] on the design `top` in `sources`. The result is empty if none objects.
///
/// # Errors
/// If a reader is not available or cannot be run. A reader's refusal is a finding, not an error.
pub fn lint(
    cache: &Cache,
    sources: &[Source],
    top: &str,
    waivers: &[Waiver],
    readers: &[Reader],
) -> Result<Vec<Finding>, LintError> {
    let directory = tempfile::tempdir().map_err(|source| LintError::Io {
        action: "make a temporary directory",
        source,
    })?;
    for file in sources {
        fs::write(directory.path().join(&file.name), &file.text).map_err(|source| {
            LintError::Io {
                action: "write the Verilog",
                source,
            }
        })?;
    }
    let names: Vec<&str> = sources.iter().map(|file| file.name.as_str()).collect();

    let mut verilator = cache.verilator()?.command();
    verilator
        .args(["--lint-only", "--quiet-stats", "-Wall"])
        .args(["--language", "1364-2005"])
        .args(["--top-module", top])
        .args(&names);

    let mut icarus = cache.iverilog()?.command();
    icarus
        .args(["-g2005", "-Wall", "-s", top, "-o", "design.vvp"])
        .args(&names);

    let mut yosys = cache.yosys()?.command();
    let script = format!(
        "read_verilog {}; hierarchy -check -top {top}; proc; check -assert",
        names.join(" ")
    );
    yosys.args(["-q", "-p", &script]);

    let mut findings = Vec::new();
    for (reader, mut command) in [
        (Reader::Verilator, verilator),
        (Reader::Icarus, icarus),
        (Reader::Yosys, yosys),
    ] {
        if !readers.contains(&reader) {
            continue;
        }
        // Yosys sees relative names only.
        command.current_dir(&directory);
        findings.extend(objection(reader, &mut command)?);
    }
    for file in sources {
        findings.extend(check_text(file, waivers));
    }
    Ok(findings)
}

/// Runs a reader. Any output is an objection, and so is a failure without a message.
fn objection(reader: Reader, command: &mut Command) -> Result<Option<Finding>, LintError> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| LintError::Io {
            action: "run a Verilog reader",
            source,
        })?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let text = text.trim();
    if output.status.success() && text.is_empty() {
        return Ok(None);
    }
    let text = if text.is_empty() {
        format!("{} without a message", output.status)
    } else {
        text.to_owned()
    };
    Ok(Some(Finding { reader, text }))
}

/// Checks the text of a file alone: words of SystemVerilog, and waivers that are not allowed.
fn check_text(file: &Source, waivers: &[Waiver]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let words = system_verilog_words(&file.text);
    if !words.is_empty() {
        findings.push(Finding {
            reader: Reader::Words,
            text: format!("{}: reserved in SystemVerilog: {words:?}", file.name),
        });
    }
    for rule in waived_rules(&file.text) {
        if !waivers.iter().any(|waiver| waiver.rule == rule) {
            findings.push(Finding {
                reader: Reader::Waivers,
                text: format!("{}: switches {rule} off", file.name),
            });
        }
    }
    findings
}

/// Returns the Verilator rules that a text switches off in `lint_off` comments.
pub fn waived_rules(verilog: &str) -> BTreeSet<String> {
    verilog
        .split("lint_off")
        .skip(1)
        .filter_map(|rest| rest.split_whitespace().next())
        .map(|rule| rule.trim_end_matches("*/").to_owned())
        .collect()
}

/// Returns the words of `verilog` that IEEE 1800-2017 (annex B) reserves and IEEE 1364-2005 does not.
///
/// Comments, strings, directives, system names and escaped names do not count.
pub fn system_verilog_words(verilog: &str) -> BTreeSet<String> {
    words(verilog)
        .into_iter()
        .filter(|word| SYSTEM_VERILOG_ONLY.contains(word))
        .map(str::to_owned)
        .collect()
}

fn words(verilog: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = verilog;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_length(rest)
        } else if first == '\\' {
            rest.find(char::is_whitespace).unwrap_or(rest.len())
        } else if first.is_ascii_alphanumeric() || "_$`'".contains(first) {
            // Numbers with a base ('hbead) and $system and `directive names are taken whole.
            let end = rest[1..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || "_$".contains(c)))
                .map_or(rest.len(), |end| end + 1);
            if first.is_ascii_alphabetic() || first == '_' {
                found.push(&rest[..end]);
            }
            end
        } else {
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// Returns the length of the string literal that `text` begins with.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// IEEE 1800-2017, annex B, without the words of IEEE 1364-2005, annex B.
const SYSTEM_VERILOG_ONLY: &[&str] = &[
    "accept_on",
    "alias",
    "always_comb",
    "always_ff",
    "always_latch",
    "assert",
    "assume",
    "before",
    "bind",
    "bins",
    "binsof",
    "bit",
    "break",
    "byte",
    "chandle",
    "checker",
    "class",
    "clocking",
    "const",
    "constraint",
    "context",
    "continue",
    "cover",
    "covergroup",
    "coverpoint",
    "cross",
    "dist",
    "do",
    "endchecker",
    "endclass",
    "endclocking",
    "endgroup",
    "endinterface",
    "endpackage",
    "endprogram",
    "endproperty",
    "endsequence",
    "enum",
    "eventually",
    "expect",
    "export",
    "extends",
    "extern",
    "final",
    "first_match",
    "foreach",
    "forkjoin",
    "global",
    "iff",
    "ignore_bins",
    "illegal_bins",
    "implements",
    "implies",
    "import",
    "inside",
    "int",
    "interconnect",
    "interface",
    "intersect",
    "join_any",
    "join_none",
    "let",
    "local",
    "logic",
    "longint",
    "matches",
    "modport",
    "nettype",
    "new",
    "nexttime",
    "null",
    "package",
    "packed",
    "priority",
    "program",
    "property",
    "protected",
    "pure",
    "rand",
    "randc",
    "randcase",
    "randsequence",
    "ref",
    "reject_on",
    "restrict",
    "return",
    "s_always",
    "s_eventually",
    "s_nexttime",
    "s_until",
    "s_until_with",
    "sequence",
    "shortint",
    "shortreal",
    "soft",
    "solve",
    "static",
    "string",
    "strong",
    "struct",
    "super",
    "sync_accept_on",
    "sync_reject_on",
    "tagged",
    "this",
    "throughout",
    "timeprecision",
    "timeunit",
    "type",
    "typedef",
    "union",
    "unique",
    "unique0",
    "until",
    "until_with",
    "untyped",
    "var",
    "virtual",
    "void",
    "wait_order",
    "weak",
    "wildcard",
    "with",
    "within",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_count() {
        let text = "module m; // logic in a comment\n/* struct\n */ wire w = 8'hbead;\n\
                    initial $display(\"enum \\\" byte\");\n`logic\n\\int ;\nwire logic_1;\n";
        assert!(system_verilog_words(text).is_empty());
        let text = "module m; logic [7:0] a; always_ff @(posedge c) a <= 1; endmodule";
        let found = system_verilog_words(text);
        assert_eq!(
            found.iter().map(String::as_str).collect::<Vec<_>>(),
            ["always_ff", "logic"]
        );
    }

    #[test]
    fn unfinished_text_ends() {
        for text in ["/* logic", "\"logic", "// logic", "\\logic", "'", "ü\"\\"] {
            assert!(system_verilog_words(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_list_is_sorted_and_has_no_word_of_verilog_2005() {
        assert!(SYSTEM_VERILOG_ONLY.is_sorted());
        for word in [
            "reg",
            "wire",
            "signed",
            "generate",
            "automatic",
            "design",
            "uwire",
        ] {
            assert!(!SYSTEM_VERILOG_ONLY.contains(&word), "{word}");
        }
    }

    #[test]
    fn waivers_are_read() {
        let text = "/* verilator lint_off UNUSEDSIGNAL */\n// verilator lint_off WIDTH\n\
                    /* verilator lint_off DECLFILENAME*/";
        let rules: Vec<String> = waived_rules(text).into_iter().collect();
        assert_eq!(rules, ["DECLFILENAME", "UNUSEDSIGNAL", "WIDTH"]);
    }
}
