//! Helpers for all tests.
pub mod elements;
pub mod faults;
mod fixtures;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use fixtures::{fixture, vendor_bsp};
use peerlane_bsp::check;
use peerlane_bsp::config::{Config, PortKind};
use peerlane_bsp::error::{Error, ErrorKind, Result};
use peerlane_bsp::extend::{Options, extend, report::Report};
use peerlane_bsp::finding::{Finding, Findings, Level};
use peerlane_bsp::generator::Board;
use peerlane_bsp::hash::sha256;
use peerlane_bsp::layout::{self, Layout};
use peerlane_bsp_check::structure;
use peerlane_core::board::{self, Ids, Shell};
use peerlane_core::places::Places;
use peerlane_hdl::Slaves;

/// Returns the reference BSP of this crate.
pub fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reference")
}

/// Returns the reference BSP in the shape of AOCL 14.0 and later.
pub fn reference_net() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reference-net")
}

/// Returns the default configuration, with the port `Txs`.
pub fn txs() -> Config {
    let mut config = Config::default();
    config.port.kind = Some(PortKind::Txs);
    config
}

/// Returns a block with a TLP port of this width at this BAR, with places for its slaves.
pub fn streaming(port_bits: u32, bar: u32) -> (Config, Board) {
    let config = Config::parse(Path::new("c.toml"), "[port]\nkind = \"tlp\"\n").unwrap();
    let slaves = Slaves {
        bar,
        csr: 0xC800,
        chan: 0x2_0000,
        att: 0x2_8000,
        msix: Some(0x3_0000),
        window: Some(0x1_0000),
    };
    let board = Board {
        port_bits,
        memory_log2: 33,
        slaves,
        bar_log2: Some(18),
        clock_mhz: 250,
        shell: None,
    };
    (config, board)
}

/// The description of a board.
#[derive(Debug)]
pub struct Described {
    pub text: String,
    pub ids: Ids,
    pub places: Places,
    pub shell: Shell,
    pub build_id: u32,
}

/// A workplace with a copy of the reference BSP, which a test corrupts.
pub struct Work {
    pub dir: tempfile::TempDir,
    pub bsp: PathBuf,
    pub out: PathBuf,
}

impl Work {
    /// Reads the description of the extended board, as the driver does.
    pub fn described(&self) -> Described {
        let text = fs::read_to_string(self.output("peerlane.board")).unwrap();
        let board = board::Board::parse(&text, 0, sha256).unwrap();
        Described {
            ids: board.ids,
            places: board.places().unwrap(),
            shell: board.shell,
            build_id: board.build_id,
            text: text.clone(),
        }
    }

    pub fn new() -> Self {
        Self::of(&reference())
    }

    pub fn of(bsp: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("bsp");
        fs::create_dir(&copy).unwrap();
        layout::copy(bsp, &copy, &|_| false).unwrap();
        let place = dir.path().join("work");
        fs::create_dir(&place).unwrap();
        Self {
            bsp: copy,
            out: place.join("out"),
            dir,
        }
    }

    /// Returns the hardware directory of a BSP: the first below `hardware/`, or the BSP itself.
    pub fn hardware(&self, root: &Path) -> PathBuf {
        let below = fs::read_dir(root.join("hardware")).ok();
        let board = below.and_then(|mut boards| Some(boards.next()?.unwrap().path()));
        board.unwrap_or_else(|| root.to_path_buf())
    }

    pub fn input(&self, file: &str) -> PathBuf {
        self.hardware(&self.bsp).join(file)
    }

    pub fn output(&self, file: &str) -> PathBuf {
        self.hardware(&self.out).join(file)
    }

    /// Writes an input file, in a directory that may be new.
    pub fn put(&self, file: &str, text: &str) {
        let path = self.input(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds text to the end of an input file.
    pub fn append(&self, file: &str, text: &str) {
        let path = self.input(file);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, before + text).unwrap();
    }

    /// Moves an input file, both names relative to the hardware directory, to a directory that may be new.
    pub fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.input(to).parent().unwrap()).unwrap();
        fs::rename(self.input(from), self.input(to)).unwrap();
    }

    /// Returns the text of an output file.
    pub fn made(&self, file: &str) -> String {
        fs::read_to_string(self.output(file)).unwrap()
    }

    /// Extends, and checks the result.
    pub fn sound(&self, config: &str) -> Report {
        let report = self
            .extend(config)
            .unwrap_or_else(|e| panic!("{}", e.message()));
        let findings = peerlane_bsp_check::check(&Layout::find(&self.out).unwrap()).unwrap();
        assert_eq!(bad(findings), []);
        report
    }

    /// Replaces text in an input file; it must be there.
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        edit(&self.input(file), from, to);
    }

    pub fn extend(&self, config: &str) -> Result<Report> {
        let config = Config::parse(Path::new("c.toml"), config)?;
        extend_to(&self.bsp, &self.out, config, None)
    }

    /// Extends with the port that the board gets by default.
    pub fn extend_by_itself(&self, config: &str) -> Result<Report> {
        let config = Config::parse(Path::new("c.toml"), config)?;
        extend_as_asked(&self.bsp, &self.out, config, None)
    }

    /// Extends, and expects an error without leftover files or changes.
    pub fn refused(&self, config: &str) -> Error {
        let error = self.extend(config).expect_err("the input must be refused");
        let left: Vec<_> = fs::read_dir(self.dir.path().join("work"))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "files left: {left:?}");
        one_paragraph(&error);
        error
    }
}

/// Extends a BSP that is not copied first, with the port `Txs` unless the configuration says otherwise. Tests of the
/// default port are in `port_choice.rs`.
pub fn extend_to(
    bsp: &Path,
    out: &Path,
    mut config: Config,
    report: Option<&Path>,
) -> Result<Report> {
    config.port.kind.get_or_insert(PortKind::Txs);
    extend_as_asked(bsp, out, config, report)
}

/// Extends a BSP that is not copied first. The input must stay unchanged, also on failure; the result must be correct.
pub fn extend_as_asked(
    bsp: &Path,
    out: &Path,
    config: Config,
    report: Option<&Path>,
) -> Result<Report> {
    let done = extend_unproved(bsp, out, config, report);
    if done.is_ok() {
        proved(out);
    }
    done
}

/// Extends a BSP whose fault may be in the result, too.
pub fn extend_unproved(
    bsp: &Path,
    out: &Path,
    config: Config,
    report: Option<&Path>,
) -> Result<Report> {
    let before = snapshot(bsp);
    let done = extend(&Options {
        bsp: bsp.to_path_buf(),
        out: out.to_path_buf(),
        config,
        report: report.map(Path::to_path_buf),
        board: None,
    });
    // Not `assert_eq`: it would print every file.
    assert!(snapshot(bsp) == before, "the input was changed");
    done
}

/// Checks an extension with the second model of the whole system, and by an extension of its own record.
fn proved(out: &Path) {
    let layout = Layout::of_result(out).unwrap();
    let findings = structure(&layout).unwrap_or_else(|e| panic!("{}", e.message()));
    assert_eq!(bad(findings), []);
    let findings = check::check(&layout).unwrap_or_else(|e| panic!("{}", e.message()));
    let expected = |f: &Finding| f.level == Level::Good || f.test == "to do";
    let others: Vec<_> = findings.0.into_iter().filter(|f| !expected(f)).collect();
    assert_eq!(others, []);
}

/// Returns the faults of a check.
pub fn bad(findings: Findings) -> Vec<Finding> {
    let all = findings.0.into_iter();
    all.filter(|f| f.level == Level::Bad).collect()
}

/// Returns the faults of an extension that the second model finds: the messages, or the error if it cannot read the
/// result.
pub fn found_by_the_model(out: &Path) -> Vec<String> {
    match structure(&Layout::of_result(out).unwrap()) {
        Ok(findings) => (bad(findings).iter().map(|f| f.what.to_string())).collect(),
        Err(error) => vec![error.paragraph()],
    }
}

/// Extends a BSP with a fault of the vendor's, which the result has, too. The second model must find it.
pub fn inherits(work: &Work, config: &str, words: &[&str]) {
    let mut config = Config::parse(Path::new("c.toml"), config).unwrap();
    config.port.kind.get_or_insert(PortKind::Txs);
    extend_unproved(&work.bsp, &work.out, config, None)
        .unwrap_or_else(|e| panic!("{}", e.message()));
    let found = found_by_the_model(&work.out);
    let has = |text: &String| words.iter().all(|word| text.contains(word));
    assert!(found.iter().any(has), "no {words:?} in {found:#?}");
}

/// Checks that an error is a paragraph with a place and a hint.
pub fn one_paragraph(error: &Error) {
    let text = error.paragraph();
    assert!(!text.contains('\n'), "{text}");
    assert!(text.ends_with('.') && !text.ends_with(".."), "{text}");
    assert!(
        !error.hint.to_string().is_empty() && !error.place.path.as_os_str().is_empty(),
        "{text}"
    );
}

/// Replaces text in a file; it must be there.
pub fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{} has no {from:?}", path.display());
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Returns every file below a directory with its content.
pub fn snapshot(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() {
                let link = fs::read_link(&path).unwrap();
                found.insert(
                    path.strip_prefix(dir).unwrap().into(),
                    link.into_os_string().into_encoded_bytes(),
                );
            } else if path.is_dir() {
                open.push(path);
            } else {
                // A special file has only its name.
                let content = if path.is_file() {
                    fs::read(&path).unwrap()
                } else {
                    Vec::new()
                };
                found.insert(path.strip_prefix(dir).unwrap().into(), content);
            }
        }
    }
    found
}

/// Returns all notes of a report: tasks and further notes.
pub fn told(report: &Report) -> impl Iterator<Item = &String> {
    report.to_do.iter().chain(&report.notes)
}

/// Returns a path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Makes an extended copy of the reference BSP.
pub fn extended_with(config: &str) -> Work {
    let work = Work::new();
    work.extend(config).unwrap();
    work
}

/// Checks kind and words of an error.
pub fn expect(error: &Error, kind: ErrorKind, words: &[&str]) {
    assert_eq!(error.kind, kind, "{error}");
    for word in words {
        assert!(
            error.paragraph().contains(word),
            "no {word:?} in: {}",
            error.paragraph()
        );
    }
}

/// Corrupts a file of an extended BSP; the test of this name must find it, with the words.
pub fn finds_in(work: &Work, file: &str, from: &str, to: &str, test: &str, words: &str) {
    edit(&work.output(file), from, to);
    let bad = bad(peerlane_bsp_check::check(&Layout::find(&work.out).unwrap()).unwrap());
    assert!(
        bad.iter()
            .any(|f| f.test == test && f.what.to_string().contains(words)),
        "{file}: {from:?} → {to:?}: {bad:#?}"
    );
    assert!(bad.iter().all(|f| f.hint.is_some()));
}
