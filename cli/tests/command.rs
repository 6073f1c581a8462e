//! The command line itself.

mod common;

use common::{peerlane, text};
use peerlane_bsp::hash::digest;
use peerlane_bsp::kept::{Entry, Record};

#[test]
fn help_has_examples_and_every_option() {
    let run = peerlane(&["extend", "--help"]);
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success());
    for word in [
        "Examples:",
        "--bsp",
        "--out",
        "--config",
        "--report",
        "--dry-run",
        "peerlane check",
        "peerlane config",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// Intel's SDK does not work in such a directory (article 000086370); users should learn this before an hour of
/// compiling.
#[test]
fn no_platform_is_made_where_aoc_does_not_work() {
    let work = tempfile::tempdir().unwrap();
    let (bsp, blank) = (common::reference(), work.path().join("my boards"));
    std::fs::create_dir(&blank).unwrap();
    for out in [blank.join("out"), work.path().join("out put")] {
        for command in [
            ["extend", "--bsp", text(&bsp), "--out", text(&out)],
            ["new", "--board", "de5net", "--out", text(&out)],
        ] {
            let (code, said) = status(&command);
            assert_eq!(code, Some(2), "{said}");
            assert!(said.contains("whose path has a blank"), "{said}");
            assert!(!out.exists());
        }
    }
    let (fit, moved) = (work.path().join("out"), blank.join("moved"));
    let (code, said) = status(&["extend", "--bsp", text(&bsp), "--out", text(&fit)]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!status(&["check", text(&fit)]).1.contains("path: "));
    std::fs::rename(&fit, &moved).unwrap();
    let (code, said) = status(&["check", text(&moved)]);
    assert_eq!(code, Some(2), "{said}");
    let faults = said.lines().filter(|line| line.contains(": wrong: "));
    let faults: Vec<_> = faults.collect();
    assert!(
        matches!(faults[..], [line] if line.starts_with("path: wrong: ") && line.contains("Move the platform")),
        "{said}"
    );
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .args(["doctor", "--no-probes"])
        .env("AOCL_BOARD_PACKAGE_ROOT", &moved)
        .output();
    let said = String::from_utf8(said.unwrap().stdout).unwrap();
    assert!(
        said.contains("path: wrong: AOCL_BOARD_PACKAGE_ROOT: "),
        "{said}"
    );
}

/// The program reports the commit that it was built from; its output files record it, and the check reports a different
/// one.
#[test]
fn the_version_is_known_everywhere() {
    let git = std::process::Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let commit = git.ok().filter(|git| git.status.success());
    let commit = commit.map(|git| String::from_utf8(git.stdout).unwrap().trim().to_string());
    let (code, said) = status(&["--version"]);
    assert_eq!(code, Some(0));
    let version = env!("CARGO_PKG_VERSION");
    let commit_word = commit.as_deref().unwrap_or("unknown");
    assert_eq!(said, format!("peerlane {version} (commit {commit_word})\n"));

    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("out");
    let bsp = common::reference();
    let (code, said) = status(&["extend", "--bsp", text(&bsp), "--out", text(&out)]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = status(&["check", text(&out)]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("program: ok: Peerlane "), "{said}");
    let Some(commit) = commit else {
        return;
    };
    let hardware = out.join("hardware/peerlane_ref_peerlane");
    for file in [
        out.join("peerlane-report.md"),
        out.join("peerlane-report.json"),
        hardware.join("iface/peerlane/build.json"),
    ] {
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.contains(&commit), "{}", file.display());
    }
    let record = hardware.join("iface/peerlane/build.json");
    let written = std::fs::read_to_string(&record).unwrap();
    let other = |from: &str, to: &str| {
        assert!(written.contains(from));
        let changed = written.replacen(from, to, 1);
        std::fs::write(&record, &changed).unwrap();
        // As another program would have written it.
        let mut whole = Record::read(&out).unwrap();
        let file = "hardware/peerlane_ref_peerlane/iface/peerlane/build.json";
        let Some(Entry::File { sha256, .. }) = whole.made.get_mut(file) else {
            panic!("no {file}")
        };
        *sha256 = digest(changed.as_bytes());
        std::fs::write(out.join("peerlane/files.json"), whole.json()).unwrap();
        let (code, said) = status(&["check", text(&out)]);
        assert_eq!(code, Some(0), "{said}");
        let mut lines = said.lines();
        let line = lines
            .find(|line| line.starts_with("program: note: "))
            .unwrap();
        assert!(
            line.contains("build.json")
                && line.contains(&format!("and {version} (commit {commit}) checks it"))
        );
        line.to_string()
    };
    let line = other(
        &format!("\"version\": \"{version}\""),
        "\"version\": \"9.9.9\"",
    );
    assert!(
        line.contains(&format!("Peerlane 9.9.9 (commit {commit}) wrote it")),
        "{line}"
    );
    let line = other(&commit, &"0".repeat(40));
    assert!(
        line.contains(&format!("(commit {}) wrote it", "0".repeat(40))),
        "{line}"
    );
    // A file from a version that did not record commits yet.
    let line = other(&format!("  \"commit\": \"{commit}\",\n"), "");
    assert!(
        line.contains(&format!("Peerlane {version} wrote it")),
        "{line}"
    );
}

#[test]
fn the_vendors_bsp_comes_back() {
    let (code, help) = status(&["revert", "--help"]);
    assert_eq!(code, Some(0), "{help}");
    for word in ["Examples:", "--bsp", "--out", "--without-edits"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    let work = tempfile::tempdir().unwrap();
    let (out, back) = (work.path().join("D"), work.path().join("V"));
    let bsp = common::reference();
    let (code, said) = status(&["extend", "--bsp", text(&bsp), "--out", text(&out)]);
    assert_eq!(code, Some(0), "{said}");
    let revert = ["revert", "--bsp", text(&out), "--out", text(&back)];
    std::fs::write(out.join("mine"), "x").unwrap();
    let (code, said) = status(&revert);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("mine (added)") && !back.exists(), "{said}");
    let (code, said) = status(&[&revert[..], &["--without-edits"]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("left out: mine (added)"), "{said}");
    let same = |file: &str| {
        assert_eq!(
            std::fs::read(back.join(file)).unwrap(),
            std::fs::read(bsp.join(file)).unwrap()
        );
    };
    same("board_env.xml");
    same("hardware/peerlane_ref/acl_iface_system.qsys");
}

#[test]
fn the_printed_configuration_can_be_used() {
    let run = peerlane(&["config"]);
    assert!(run.status.success());
    let work = tempfile::tempdir().unwrap();
    let (file, out) = (work.path().join("c.toml"), work.path().join("D"));
    std::fs::write(&file, &run.stdout).unwrap();
    let bsp = common::reference();
    let run = peerlane(&[
        "-v",
        "extend",
        "--bsp",
        text(&bsp),
        "--out",
        text(&out),
        "--config",
        text(&file),
    ]);
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn verbose_says_what_is_done_without_colours_in_a_pipe() {
    let bsp = common::reference();
    let lines = |how: &str| {
        let run = peerlane(&["extend", how, "--bsp", text(&bsp), "--dry-run"]);
        assert!(run.status.success());
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(!said.contains('\u{1b}'), "{said}");
        said
    };
    let (some, all) = (lines("-v"), lines("-vv"));
    for word in [
        "found by kind",
        "settings and scripts read",
        "planned",
        "written",
    ] {
        assert!(some.contains(word), "{word}: {some}");
    }
    assert!(!some.contains("top.qsf"), "{some}");
    for word in ["top.qsf", "changed", "acl_iface_system.qsys"] {
        assert!(all.contains(word), "{word}: {all}");
    }
}

#[test]
fn wrong_use_has_status_2() {
    for arguments in [
        &["extend"][..],
        &["extend", "--bsp", "x"],
        &["extend", "--bsp", "x", "--out", "y", "--dry-run"],
        &["extend", "--check", "x"],
        &["check"],
        &["nonsense"],
        &[],
    ] {
        assert_eq!(peerlane(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Without a place for the output, the error names both options.
#[test]
fn a_place_or_a_dry_run_is_asked_for() {
    let (code, said) = status(&["extend", "--bsp", "x"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("--out") && said.contains("--dry-run"),
        "{said}"
    );
    let (_, help) = status(&["extend", "--help"]);
    assert!(help.contains("kind = \"tlp\""), "{help}");
}

/// A correct board is not complete if steps are left to the user: the last line counts them.
#[test]
fn the_last_line_of_a_check_counts_what_is_to_do() {
    let work = tempfile::tempdir().unwrap();
    let (out, config) = (work.path().join("D"), work.path().join("peerlane.toml"));
    std::fs::write(&config, "[port]\nkind = \"tlp\"\ngen = 3\n").unwrap();
    let reference = common::reference().with_file_name("reference-net");
    let (code, said) = status(&[
        "extend",
        "--bsp",
        text(&reference),
        "--out",
        text(&out),
        "--config",
        text(&config),
    ]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = status(&["check", text(&out)]);
    assert_eq!(code, Some(0), "{said}");
    let lines = said
        .lines()
        .filter(|line| line.starts_with("to do: note: "));
    let count = lines.count();
    assert!(count > 1, "{said}");
    let last = said.lines().last().unwrap();
    assert!(
        last.contains(&format!(": sound, {count} things to do; "))
            && last.ends_with("\"What to do\" of peerlane-report.md may have more"),
        "{last}"
    );
}

/// Returns the exit status of the command and its output.
fn status(arguments: &[&str]) -> (Option<i32>, String) {
    let run = peerlane(arguments);
    let said = [run.stdout, run.stderr].concat();
    (
        run.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn a_component_is_written_without_a_bsp() {
    let work = tempfile::tempdir().unwrap();
    let (file, out) = (work.path().join("c.toml"), work.path().join("block"));
    std::fs::write(&file, "[bar]\nchan_base = 0x20000\natt_base = 0x28000\n").unwrap();
    let (file, out) = (text(&file), text(&out));
    let all = [
        "component",
        "--config",
        file,
        "--bar",
        "0",
        "--csr",
        "0xc800",
        "--memory",
        "4GiB",
        "--out",
        out,
    ];
    let (code, said) = status(&all);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("128-bit port, BUILD_ID 0x"), "{said}");
    let component = work
        .path()
        .join("block/ip/peerlane_dma/peerlane_dma_hw.tcl");
    assert!(component.is_file());
    let (code, said) = status(&all);
    assert_eq!(code, Some(2));
    assert!(said.contains("already exists"), "{said}");
    let (code, said) = status(&[&all[..8], &["4GB", "--out", out]].concat());
    assert_eq!(code, Some(2));
    assert!(said.contains("4GB is not a number such as"), "{said}");
    let (_, help) = status(&["component", "--help"]);
    for word in ["Examples:", "--window", "[bar]", "BUILD_ID"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn a_bsp_is_extended_checked_and_told_to_the_driver() {
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("D");
    let config = work.path().join("txs.toml");
    const TXS: &str = "[port]\nkind = \"txs\"\n";
    std::fs::write(&config, TXS).unwrap();
    let (code, said) = status(&[
        "extend",
        "--config",
        text(&config),
        "--bsp",
        text(&common::reference()),
        "--out",
        text(&out),
    ]);
    assert_eq!(code, Some(0), "{said}");
    // With this port the reference BSP leaves no step to the user.
    assert!(!said.contains("\nTo do:\n"), "{said}");
    // Steps for the user are printed before the correct items; with the vendor's limit the only step is about the
    // interconnect.
    let config = work.path().join("vendor.toml");
    std::fs::write(&config, format!("interconnect_stages = \"vendor\"\n{TXS}")).unwrap();
    let vendors = work.path().join("V");
    let (_, said) = status(&[
        "extend",
        "--config",
        text(&config),
        "--bsp",
        text(&common::reference()),
        "--out",
        text(&vendors),
    ]);
    let (to_do, _) = said.split_once("\nFound:\n").unwrap();
    let (_, to_do) = to_do.split_once("\nTo do:\n").unwrap();
    assert!(
        to_do.starts_with("· Platform Designer may put up to 2 pipeline stages"),
        "{said}"
    );
    assert_eq!(to_do.lines().count(), 1, "{said}");
    let net = common::reference().with_file_name("reference-net");
    let (_, net) = status(&[
        "extend",
        "--bsp",
        text(&net),
        "--out",
        text(&work.path().join("N")),
    ]);
    let at = |word: &str| net.find(word).unwrap_or_else(|| panic!("no {word}: {net}"));
    let all = [
        at("\nTo do:\n"),
        at("rebuild.tcl"),
        at("LogicLock region"),
        at("\nFound:\n"),
        at("The board's name is"),
    ];
    assert!(all.is_sorted(), "{net}");

    let check = ["check", text(&out)];
    let (code, said) = status(&check);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.trim_end().ends_with("sound"), "{said}");

    let system = out.join("hardware/peerlane_ref_peerlane/acl_iface_system.qsys");
    let content = std::fs::read_to_string(&system).unwrap();
    let spoilt = content.replace("end=\"dma_engine.att\"", "end=\"dma_engine.table\"");
    assert_ne!(spoilt, content);
    std::fs::write(&system, spoilt).unwrap();
    let (code, said) = status(&check);
    assert_eq!(code, Some(2), "{said}");
    // Without a terminal: one line for each finding, in a form for other tools.
    let place = "hardware/peerlane_ref_peerlane/acl_iface_system.qsys:";
    let wrong: Vec<&str> = said.lines().filter(|l| l.contains(": wrong: ")).collect();
    assert!(!wrong.is_empty(), "{said}");
    assert!(
        wrong.iter().any(|line| {
            let (_, rest) = line.split_once(": wrong: ").unwrap();
            let number = rest.strip_prefix(place).and_then(|r| r.split_once(": "));
            number.is_some_and(|(line, _)| line.parse::<usize>().is_ok())
        }),
        "{said}"
    );
    assert!(
        said.lines()
            .all(|line| !line.contains("  ") && !line.contains('│')),
        "{said}"
    );
    let faults = if wrong.len() == 1 {
        "1 fault".into()
    } else {
        format!("{} faults", wrong.len())
    };
    assert!(said.trim_end().ends_with(&faults), "{said}");

    // The same as JSON, for programs.
    let json = peerlane(&["check", text(&out), "--json"]);
    assert_eq!(json.status.code(), Some(2));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["faults"], wrong.len());
    let all = json["findings"].as_array().unwrap();
    let of_json = all.iter().filter(|finding| finding["state"] == "wrong");
    assert_eq!(of_json.count(), wrong.len());

    // File names are relative to the directory that was given.
    let (code, said) = status(&["check", text(system.parent().unwrap())]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(": wrong: acl_iface_system.qsys:"), "{said}");
    assert!(
        !said
            .replace(text(system.parent().unwrap()), "")
            .contains(text(&out)),
        "{said}"
    );
}

#[test]
fn a_dry_run_without_a_place_for_temporary_files_says_so() {
    let work = tempfile::tempdir().unwrap();
    let reference = common::reference();
    let dry = std::process::Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .args(["extend", "--dry-run", "--bsp", text(&reference)])
        .env("TMPDIR", work.path().join("none"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&dry.stderr).into_owned();
    assert!(
        !dry.status.success() && said.contains("Set TMPDIR"),
        "{said}"
    );
    assert!(!said.contains("--out"), "{said}");
}

/// A user without a directory for the cache: neither command needs one.
#[test]
fn a_check_needs_no_cache() {
    let work = tempfile::tempdir().unwrap();
    let (reference, out) = (common::reference(), work.path().join("D"));
    for args in [
        &["extend", "--bsp", text(&reference), "--out", text(&out)][..],
        &["check", text(&out)],
    ] {
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .args(args)
            .env("PEERLANE_CACHE", "/dev/null/none")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success(), "{args:?}: {said}");
    }
}

#[test]
fn a_dry_run_prints_the_report_and_keeps_nothing() {
    let work = tempfile::tempdir().unwrap();
    let reference = common::reference();
    let (bsp, out) = (text(&reference), work.path().join("D"));
    let run = |config: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_peerlane"))
            .args(["extend", "--bsp", bsp, "--dry-run", "--config", config])
            .env("TMPDIR", work.path())
            .current_dir(work.path())
            .output()
            .unwrap()
    };
    let config = work.path().join("peerlane.toml");
    std::fs::write(&config, "channels = 4\n").unwrap();
    let dry = run(text(&config));
    let said = String::from_utf8_lossy(&dry.stderr).into_owned();
    assert!(dry.status.success(), "{said}");
    let left: Vec<_> = std::fs::read_dir(work.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the configuration: {left:?}");
    let (code, said) = status(&[
        "extend",
        "--bsp",
        bsp,
        "--out",
        text(&out),
        "--config",
        text(&config),
    ]);
    assert_eq!(code, Some(0), "{said}");
    let report = std::fs::read(out.join("peerlane-report.md")).unwrap();
    assert_eq!(
        String::from_utf8(dry.stdout).unwrap(),
        String::from_utf8(report).unwrap()
    );

    // The copy of the report is a requested output and not part of the platform; it is not written into the BSP.
    let copied = |report: &str| {
        let arguments = ["extend", "--bsp", bsp, "--dry-run", "--report", report];
        let (code, said) = status(&arguments);
        (code, said, std::fs::read_to_string(report).ok())
    };
    let (code, said, copy) = copied(text(&work.path().join("copy.md")));
    assert_eq!((code, copy), (Some(0), Some(said.clone())), "{said}");
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |file: &str| {
        let data = std::fs::metadata(work.path().join(file)).unwrap();
        data.permissions().mode()
    };
    // The mode is that of any new file.
    std::fs::write(work.path().join("any"), "").unwrap();
    assert_eq!(mode("copy.md"), mode("any"));
    for name in ["copy.html", "copy"] {
        let (code, said, copy) = copied(text(&work.path().join(name)));
        assert_eq!((code, copy), (Some(2), None), "{said}");
        assert!(
            said.contains(".md or .txt") && said.contains(".json"),
            "{said}"
        );
    }
    let (code, said, copy) = copied(text(&reference.join("copy.md")));
    assert_eq!((code, copy), (Some(2), None), "{said}");
    assert!(said.contains("into the BSP"), "{said}");

    // A configuration that is rejected otherwise is rejected here, too.
    std::fs::write(&config, "channels = 100\n").unwrap();
    assert_eq!(run(text(&config)).status.code(), Some(2));
}

#[test]
fn a_diagrams_kind_is_that_of_its_ending() {
    let work = tempfile::tempdir().unwrap();
    let reference = common::reference();
    for (file, begins) in [
        ("d.svg", "<svg"),
        ("d.HTML", "<!doctype html>"),
        ("d.txt", "peerlane_ref: "),
        ("d.png", ""),
        ("d", ""),
    ] {
        let out = work.path().join(file);
        let (code, said) = status(&["diagram", "--bsp", text(&reference), "--out", text(&out)]);
        if begins.is_empty() {
            assert_eq!(code, Some(2), "{file}: {said}");
            assert!(
                said.contains(".svg, .html, .json or .txt") && !out.exists(),
                "{said}"
            );
        } else {
            assert_eq!(code, Some(0), "{file}: {said}");
            let made = std::fs::read_to_string(&out).unwrap().to_lowercase();
            assert!(made.starts_with(begins), "{file}: {made}");
        }
    }
    let odd = work.path().join("d.png");
    let (code, said) = status(&[
        "diagram",
        "--bsp",
        text(&reference),
        "--format",
        "svg",
        "--out",
        text(&odd),
    ]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_is_unknown_of_a_board_is_listed() {
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("D");
    let (code, said) = status(&["new", "--board", "p385", "--out", text(&out)]);
    assert_eq!(code, Some(2), "{said}");
    let (first, rest) = said.split_once('\n').unwrap();
    assert!(
        first.len() < 500 && first.contains("values are unknown"),
        "{first}"
    );
    assert!(
        rest.lines().all(|line| line.starts_with("  line ")),
        "{rest}"
    );
    assert!(rest.contains(": memory[1].format\n"), "{rest}");
}

/// A file that cannot be written is reported before the work, with the name that was given.
#[test]
fn a_file_that_cannot_be_written_is_refused_first() {
    let work = tempfile::Builder::new().prefix("place-").tempdir().unwrap();
    let (out, taken) = (work.path().join("none/x.json"), work.path().join("d.json"));
    std::fs::create_dir(&taken).unwrap();
    let reference = common::reference();
    for arguments in [
        &["demo", "--json"][..],
        &["bench", "rtl", "--json"],
        &["bench", "rtl", "--html"],
        &["diagram", "--bsp", text(&reference), "--out"],
    ] {
        for file in [text(&out), text(&taken)] {
            let start = std::time::Instant::now();
            let (code, said) = status(&[arguments, &[file]].concat());
            assert_eq!(code, Some(2), "{said}");
            assert!(said.starts_with(&format!("peerlane: {file}: ")), "{said}");
            assert!(
                said.contains("directory") && !said.contains(".tmp"),
                "{said}"
            );
            assert!(
                start.elapsed() < std::time::Duration::from_secs(20),
                "after the work"
            );
        }
    }
    // Root may write to every directory, so the test uses a name that no file can have.
    let long = work.path().join("x".repeat(300)).join("D");
    let (code, said) = status(&["extend", "--bsp", text(&reference), "--out", text(&long)]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        !said.contains(".peerlane") && !said.contains(".tmp"),
        "{said}"
    );
}

#[test]
fn sizes_and_rows_are_said_in_words() {
    let (code, said) = status(&["demo", "--size", "0"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("a whole number of MiB from 1 to 240") && !said.contains("..="),
        "{said}"
    );
    let (_, help) = status(&["bench", "rtl", "--help"]);
    // Each row is understandable without the others, and its text is indented as one block on a narrow terminal.
    let rows = help.split_once("Rows:\n").unwrap().1;
    let rows = rows.split_once("\nExamples:").unwrap().0;
    for line in rows.lines().filter(|line| !line.is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let is_name = !line.trim().contains(' ') && line.trim().contains(char::is_lowercase);
        assert!(indent == 6 || indent == 2 && is_name, "{line:?}: {rows}");
    }
    assert!(!rows.contains("the same"), "{rows}");
    let head = help.split_once("Rows:\n").unwrap().0;
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["`tlp.gen2` for `tlp.gen2.write`", "minutes"] {
        assert!(head.contains(words), "{words}: {head}");
    }
    let words = "\n  read.bulk.2us.tagged\n      as read.bulk.2us, through tagged streams\n";
    assert!(help.contains(words), "{help}");
}

/// If standard error is not a terminal, each finished row is one line there. A calculated row needs no model of the
/// block, and so no Verilator.
#[test]
fn the_bench_says_what_it_does() {
    let run = peerlane(&["bench", "rtl", "thesis.basic", "thesis.lazy"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{said}");
    assert!(!said.contains("building"), "{said}");
    for row in ["thesis.basic", "thesis.lazy"] {
        let lines: Vec<_> = said.lines().filter(|line| line.starts_with(row)).collect();
        let [begin, end] = lines[..] else {
            panic!("{said}")
        };
        assert_eq!(begin, format!("{row}: measuring"));
        let value = end.strip_prefix(&format!("{row}: ")).unwrap();
        let number: f64 = value.split_once(" MB/s (").unwrap().0.parse().unwrap();
        let table = String::from_utf8_lossy(&run.stdout).into_owned();
        let line = table.lines().find(|line| line.contains(row)).unwrap();
        assert!(
            number > 0.0 && line.contains(&format!(" {number:.1} ")),
            "{line}: {end}"
        );
    }
    assert!(said.contains("(2 of 2)"), "{said}");
}

#[test]
fn an_error_is_one_line_with_status_2() {
    let work = tempfile::tempdir().unwrap();
    let (out, config) = (work.path().join("D"), work.path().join("peerlane.toml"));
    std::fs::write(&config, "# mine\natt_entries = 100\n").unwrap();
    let reference = common::reference();
    let cases: [(&[&str], &str); 4] = [
        (&["--bsp", text(work.path())], "hardware/<board>"),
        (&["--bsp", "/nowhere"], "/nowhere"),
        (
            &["--bsp", text(&reference), "--config", text(&config)],
            "peerlane.toml:2",
        ),
        (&["--bsp", text(&reference), "--report", "/"], "report"),
    ];
    for (more, word) in cases {
        let run = peerlane(&[&["extend", "--out", text(&out)][..], more].concat());
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(said.contains(word), "no {word:?} in: {said}");
        assert!(!out.exists());
    }
    let (code, said) = status(&["check", text(&reference)]);
    assert_eq!(code, Some(2), "{said}");
}

/// A package has a page for each command that the help lists, and for no other one.
#[test]
fn each_command_of_the_help_has_a_manual_page() {
    let work = tempfile::tempdir().unwrap();
    let (code, said) = status(&["manuals", text(work.path())]);
    assert_eq!(code, Some(0), "{said}");
    let help = String::from_utf8(peerlane(&["--help"]).stdout).unwrap();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| !line.starts_with(' '));
    let mut listed: Vec<_> = names.filter_map(|line| line.split(' ').next()).collect();
    listed.retain(|name| *name != "help");
    for name in &listed {
        let page = work.path().join(format!("man1/peerlane-{name}.1"));
        let page = std::fs::read_to_string(&page).unwrap();
        assert!(page.contains(".SH NAME"), "{name}");
    }
    assert!(listed.len() > 10, "{listed:?}");
    for unlisted in ["help", "manuals"] {
        assert!(
            !work
                .path()
                .join(format!("man1/peerlane-{unlisted}.1"))
                .exists()
        );
    }
    for file in ["peerlane.bash", "peerlane.fish", "_peerlane"] {
        assert!(
            work.path().join(file).metadata().unwrap().len() > 1000,
            "{file}"
        );
    }
}
