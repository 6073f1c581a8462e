//! The fuzzers' functions on changed files of the reference BSP: a bounded, repeatable run without a fuzzer.

#[path = "../../fuzz/src/lib.rs"]
mod functions;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common;
use peerlane_bsp::config::COMMENTED_DEFAULT;

/// Words that the formats share and that are likely to break a reader.
const WORDS: [&str; 24] = [
    "\"",
    "<",
    ">",
    "/>",
    "</",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "&#x110000;",
    "&amp;",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ";",
    "\n",
    "\0",
    "0",
    "-1",
    "18446744073709551615",
    "0xffffffffffffffff",
    "\u{feff}",
];

/// Xorshift (Marsaglia 2003): the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound.max(1)
    }

    /// Returns a range of a text: a line or a few bytes.
    fn part(&mut self, of: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(of.len());
        let most = [4, 40, 400][self.below(3)];
        start..(start + 1 + self.below(most)).min(of.len())
    }

    /// Returns the range of a value in quotes.
    fn quoted(&mut self, of: &[u8]) -> std::ops::Range<usize> {
        let mut at = self.below(of.len());
        let next = |from: usize| of[from..].iter().position(|&b| b == b'"').map(|n| from + n);
        // Attributes of XML have a = before the quote.
        while let Some(quote) = next(at) {
            at = quote + 1;
            if quote > 0 && of[quote - 1] == b'=' {
                return at..next(at).unwrap_or(of.len());
            }
        }
        of.len()..of.len()
    }

    /// Changes a file in a few places.
    fn change(&mut self, file: &[u8]) -> Vec<u8> {
        let mut data = file.to_vec();
        for _ in 0..=self.below(4) {
            let part = self.part(&data);
            let word = WORDS[self.below(WORDS.len())].as_bytes();
            let new = match self.below(10) {
                0 => Vec::new(),
                1 => word.to_vec(),
                2 => [&data[part.clone()], word].concat(),
                3 => [&data[part.clone()], &data[part.clone()]].concat(),
                4 => vec![u8::try_from(self.below(256)).unwrap()],
                5 => data[self.part(&data)].to_vec(),
                6 | 7 => {
                    // A value from elsewhere, as in XML and Tcl.
                    let (old, other) = (self.quoted(&data), self.quoted(&data));
                    let other = data[other].to_vec();
                    data.splice(old, other);
                    continue;
                }
                8 => {
                    // A line, or several, twice.
                    let (start, length) = (self.below(data.len()), [100, 300][self.below(2)]);
                    let lines = data[start..].iter().position(|&b| b == b'<').unwrap_or(0) + start;
                    let end = data[(lines + length).min(data.len())..]
                        .iter()
                        .position(|&b| b == b'>');
                    let end =
                        end.map_or(data.len(), |at| at + 1 + (lines + length).min(data.len()));
                    let twice = data[lines..end].repeat(2);
                    data.splice(lines..end, twice);
                    continue;
                }
                _ => {
                    // Another number.
                    let digits = data[part.start..].iter().position(u8::is_ascii_digit);
                    let start = part.start + digits.unwrap_or(0);
                    let length = data[start..]
                        .iter()
                        .take_while(|b| b.is_ascii_alphanumeric());
                    let end = start + length.count();
                    data.splice(start..end, word.iter().copied());
                    continue;
                }
            };
            data.splice(part, new);
        }
        data
    }
}

/// Calls a target with each file as it is, and with changed ones.
fn run(target: fn(&[u8]), seeds: &[Vec<u8>]) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for seed in seeds {
        target(seed);
        for _ in 0..600 {
            let data = random.change(seed);
            let start = Instant::now();
            let ended = std::panic::catch_unwind(|| target(&data));
            if ended.is_err() || start.elapsed() > Duration::from_secs(60) {
                let kept = std::env::temp_dir().join("peerlane-fuzz-failed");
                fs::write(&kept, &data).unwrap();
                panic!("panic, or longer than 60 s: {}", kept.display());
            }
        }
    }
}

fn reference(file: &str) -> Vec<u8> {
    let hardware = common::reference().join("hardware/peerlane_ref");
    fs::read(hardware.join(file)).unwrap()
}

#[test]
fn xml() {
    run(
        functions::xml,
        &[reference("iface/board_status.qsys"), reference("iface.ipx")],
    );
}

#[test]
fn qsys() {
    run(functions::qsys, &[reference("acl_iface_system.qsys")]);
}

#[test]
fn qsf() {
    let import = b"set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id \"s:i\"\n";
    run(
        functions::qsf,
        &[[reference("top.qsf"), import.to_vec()].concat()],
    );
}

#[test]
fn ipx() {
    run(functions::ipx, &[reference("iface.ipx")]);
}

#[test]
fn board_spec() {
    run(functions::board_spec, &[reference("board_spec.xml")]);
}

#[test]
fn toml() {
    let all = COMMENTED_DEFAULT.replace("#: ", "");
    run(functions::toml, &[all.into_bytes(), vec![b'['; 100_000]]);
}

#[test]
fn verilog() {
    let module = b"module m #(parameter W = 4) (input wire [7:0] a, output b);\n x y (.a(a)); // c\nendmodule\n";
    run(
        functions::verilog,
        &[module.to_vec(), b"module m ( endmodule".to_vec()],
    );
}

#[test]
fn record() {
    let record = br#"{"vendor_hardware":"a","hardware":"hardware/x","vendor":{"":{"directory":{"mode":"755"}},
        "a":{"directory":{"mode":"755"}},"a/b%FF":{"file":{"mode":"644","sha256":"00"}},"c":{"link":{"to":"a/b"}}},
        "made":{}}"#;
    run(functions::record, &[record.to_vec(), vec![b'['; 100_000]]);
}

/// Each target of cargo-fuzz calls one of these functions.
#[test]
fn every_target_is_there() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
    for name in [
        "xml",
        "qsys",
        "qsf",
        "ipx",
        "board_spec",
        "toml",
        "verilog",
        "record",
    ] {
        let text = fs::read_to_string(dir.join(name).with_extension("rs")).unwrap();
        assert!(
            text.contains(&format!("peerlane_bsp_fuzz::{name}(data)")),
            "{text}"
        );
    }
}
