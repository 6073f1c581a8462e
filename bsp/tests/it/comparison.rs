//! `peerlane check`: a platform is made again and compared, and an edited file is judged by one rule.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, Work, bad, edit, extended_with, reference, reference_net};
use peerlane_bsp::board::{Description, Options, make};
use peerlane_bsp::build::Build;
use peerlane_bsp::check::{Comparison, check};
use peerlane_bsp::error::{Error, ErrorKind};
use peerlane_bsp::finding::{Finding, Findings, Level};
use peerlane_bsp::hash::digest;
use peerlane_bsp::kept::{Entry, Record};
use peerlane_bsp::layout::Layout;
use peerlane_bsp::xml::escape;
use peerlane_bsp_check::structure;

const SYSTEM: &str = "acl_iface_system.qsys";
const STREAM: &str = "[port]\nkind = \"tlp\"\n";

fn findings(work: &Work) -> Findings {
    check(&Layout::of_result(&work.out).unwrap()).unwrap_or_else(|e| panic!("{}", e.message()))
}

/// Returns everything that is not proved, as the name of the file, the line, and the message.
fn told(work: &Work, level: Level) -> Vec<(String, Option<usize>, String)> {
    let all = findings(work).0.into_iter().filter(|f| f.level == level);
    let name = |f: &Finding| {
        f.place
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
    };
    all.filter(|f| f.test != "to do")
        .map(|f| (name(&f).unwrap_or_default(), f.line, f.what.to_string()))
        .collect()
}

fn assert_untouched(work: &Work) {
    let others = findings(work).0.into_iter();
    let others: Vec<_> = others
        .filter(|f| f.level != Level::Good && f.test != "to do")
        .collect();
    assert_eq!(others, []);
}

/// Returns the line of a text in an output file.
fn line(work: &Work, file: &str, word: &str) -> usize {
    let text = work.made(file);
    let at = text.lines().position(|line| line.contains(word));
    1 + at.unwrap_or_else(|| panic!("{file} has no {word}"))
}

/// Extends by itself: the harness checks every extension, but the port is given there.
#[test]
fn a_platform_as_it_was_written_is_sound() {
    for bsp in [
        Some(reference()),
        Some(reference_net()),
        common::vendor_bsp(),
    ] {
        for config in ["", STREAM, "irq = \"msix\""] {
            let Some(bsp) = &bsp else { continue };
            let work = Work::of(bsp);
            work.extend_by_itself(config).unwrap();
            assert_untouched(&work);
            let all = findings(&work).0;
            for test in ["files", "program", "vendor's files"] {
                let good = all.iter().filter(|f| f.test == test);
                assert_eq!(good.count(), 1, "{test}: {all:#?}");
            }
        }
    }
}

/// The facts about the platform around a board's directory are recorded: its version, its boards, its libraries.
#[test]
fn a_boards_directory_that_was_extended_alone_is_sound() {
    let mut work = Work::of(&reference_net());
    edit(
        &work.bsp.join("board_env.xml"),
        "<platform name=\"linux64\">",
        "<platform name=\"linux64\"><linkflags>-L%b/own/lib</linkflags><linklibs>-lown -lother</linklibs>",
    );
    fs::create_dir_all(work.bsp.join("own/lib")).unwrap();
    fs::write(work.bsp.join("own/lib/libown.so"), "").unwrap();
    let other = work.bsp.join("hardware/another");
    fs::create_dir(&other).unwrap();
    for file in ["board_spec.xml", "x.qsys"] {
        fs::write(other.join(file), "").unwrap();
    }
    work.bsp = work.bsp.join("hardware/peerlane_net");
    let report = work.extend("").unwrap();
    assert!(
        common::told(&report).any(|note| note.contains("another")),
        "{report:#?}"
    );
    // The platform around it is not necessary any more.
    fs::remove_dir_all(work.dir.path().join("bsp")).unwrap();
    assert_untouched(&work);
}

#[test]
fn a_board_without_a_vendor_is_sound() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    make(&Options {
        description: Description::find(Path::new("de5net")).unwrap(),
        out: out.clone(),
        pins: None,
        config: peerlane_bsp::config::Config::default(),
    })
    .unwrap();
    let layout = Layout::of_result(&out).unwrap();
    let sound = || {
        let all = check(&layout).unwrap().0.into_iter();
        let others: Vec<_> = all
            .filter(|f| f.level != Level::Good && f.test != "to do")
            .collect();
        assert_eq!(others, []);
    };
    sound();
    let origin = check(&layout).unwrap().0;
    assert!(origin.iter().any(|f| f.test == "origin"), "{origin:#?}");
    // Older versions recorded no request. The board then has another title, and nothing else is different.
    let path = out.join("peerlane/files.json");
    let written = fs::read(&path).unwrap();
    let mut record = Record::read(&out).unwrap();
    record.request = None;
    fs::write(&path, record.json()).unwrap();
    let found = bad(check(&layout).unwrap());
    let what = found.iter().map(|f| f.what.to_string());
    let what: Vec<_> = what.collect();
    assert!(
        what.len() == 1 && what[0].contains("README.md") && !what[0].contains("qsys"),
        "{what:?}"
    );
    fs::write(&path, written).unwrap();
    sound();
}

/// Writes a system as Platform Designer does after a change that was undone: in its own order and form.
fn saved_again(system: &str) -> String {
    let document = roxmltree::Document::parse(system).unwrap();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    element(document.root_element(), &mut out);
    out
}

fn element(node: roxmltree::Node<'_, '_>, out: &mut String) {
    let tag = node.tag_name().name();
    let attribute = |name: &str| node.attribute(name);
    write!(out, "<{tag}").unwrap();
    let mut attributes: Vec<_> = node.attributes().collect();
    attributes.reverse();
    for a in attributes {
        let value = match (a.name(), attribute("name")) {
            ("version", _) if tag != "system" => "17.1",
            ("value", Some("baseAddress")) => {
                let digits = a.value().trim_start_matches("0x").trim_start_matches('0');
                &format!("0x{}", if digits.is_empty() { "0" } else { digits })
            }
            ("value", Some("generationId" | "timeStamp")) => "1234567890",
            (_, _) => a.value(),
        };
        write!(out, "\n      {}='{}'", a.name(), escape(value)).unwrap();
    }
    out.push('>');
    let mut children: Vec<_> = node.children().filter(|n| n.is_element()).collect();
    children.reverse();
    // Platform Designer sorts by tag.
    children.sort_by_key(|child| child.tag_name().name().to_string());
    match attribute("name") {
        Some("bonusData") => out.push_str("<![CDATA[bonusData { element x { } }]]>"),
        _ if children.is_empty() => out.push_str(&escape(node.text().unwrap_or_default())),
        _ => {}
    }
    for child in children {
        element(child, out);
    }
    if tag == "module" {
        out.push_str("<parameter name=\"AUTO_CLK_CLOCK_RATE\" value=\"-1\" />");
    }
    write!(out, "</{tag}>").unwrap();
}

#[test]
fn a_system_that_platform_designer_saved_again_is_sound() {
    for (bsp, system) in [(reference(), SYSTEM), (reference_net(), "board.qsys")] {
        for config in ["", STREAM] {
            let work = Work::of(&bsp);
            work.extend(config).unwrap();
            let path = work.output(system);
            let before = fs::read_to_string(&path).unwrap();
            let after = saved_again(&before);
            assert!(after.lines().next() != before.lines().nth(1) && after != before);
            fs::write(&path, after).unwrap();
            assert_untouched(&work);
        }
    }
}

/// Adds elements to the system before its first connection.
fn with_elements(work: &Work, elements: &str) {
    let text = work.made(SYSTEM);
    let at = text.find(" <connection").unwrap();
    let after = format!("{}{elements}{}", &text[..at], &text[at..]);
    fs::write(work.output(SYSTEM), after).unwrap();
}

const OWN: &str = " <module kind=\"altera_avalon_timer\" version=\"13.1\" enabled=\"1\" name=\"own_timer\">\n  \
                   <parameter name=\"period\" value=\"1\" />\n </module>\n";

fn connection(kind: &str, start: &str, end: &str, base: &str) -> String {
    let base = match base {
        "" => String::new(),
        base => format!("<parameter name=\"baseAddress\" value=\"{base}\" />"),
    };
    format!(
        " <connection kind=\"{kind}\" version=\"13.1\" start=\"{start}\" end=\"{end}\">{base}</connection>\n"
    )
}

#[test]
fn an_instance_of_the_users_is_a_note() {
    let work = extended_with("");
    let own = [
        OWN.to_string(),
        connection("clock", "host_link.coreclkout", "own_timer.clk", ""),
        connection("reset", "link_reset.reset_out", "own_timer.reset", ""),
        connection("avalon", "control_pipe.m0", "own_timer.s1", "0x7000"),
    ];
    with_elements(&work, &own.concat());
    assert_eq!(told(&work, Level::Bad), []);
    let notes = told(&work, Level::Note);
    let at = line(&work, SYSTEM, "own_timer");
    assert!(
        notes.iter().any(|(file, line, what)| {
            file == SYSTEM && *line == Some(at) && what.contains("the instance own_timer")
        }),
        "{notes:#?}"
    );
    assert_eq!(notes.len(), 4, "{notes:#?}");
}

/// Of many edits the first are listed, and the rest are counted.
#[test]
fn many_edits_are_counted() {
    let work = extended_with("");
    let many: Vec<_> = (0..20)
        .map(|number| OWN.replace("own_timer", &format!("own_timer_{number}")))
        .collect();
    with_elements(&work, &many.concat());
    assert_eq!(told(&work, Level::Bad), []);
    let notes = told(&work, Level::Note);
    assert_eq!(notes.len(), 13, "{notes:#?}");
    assert!(
        notes[12].2.starts_with("edited in 8 more places"),
        "{notes:#?}"
    );
}

/// A user's own connection or export that takes an interface of the block's, or leads nowhere.
#[test]
fn additions_at_the_block_are_wrong() {
    for (elements, words) in [
        (
            connection("avalon", "control_pipe.m0", "dma_engine.nothing", "0x7000"),
            "control_pipe.m0 → dma_engine.nothing was added",
        ),
        (
            connection("avalon", "dma_engine.own", "control_pipe.s0", "0x7000"),
            "dma_engine.own → control_pipe.s0 was added",
        ),
        (
            connection("interrupt", "dma_engine.kernel_irq", "own_timer.irq", ""),
            "own_timer.irq was added; there is no instance own_timer",
        ),
        (
            connection("avalon", "control_pipe.m0", "nowhere.s1", "0x7000"),
            "there is no instance nowhere",
        ),
        (
            " <interface name=\"taken\" internal=\"dma_engine.csr\" type=\"avalon\" dir=\"end\" />\n".into(),
            "the export taken",
        ),
    ] {
        let work = extended_with("");
        with_elements(&work, &elements);
        let faults = told(&work, Level::Bad);
        assert!(
            faults.iter().any(|(_, _, what)| what.contains(words)),
            "{words}: {faults:#?}"
        );
    }
}

/// Files of the vendor's own, and files that are new, are the user's.
#[test]
fn other_edits_are_notes() {
    let work = extended_with("");
    let hardware = work.hardware(&work.out);
    let before = fs::read_to_string(hardware.join("top.v")).unwrap();
    fs::write(hardware.join("top.v"), format!("{before}// mine\n")).unwrap();
    fs::write(hardware.join("mine.v"), "module mine; endmodule\n").unwrap();
    fs::write(hardware.join("system.qsys.bin"), b"\0\0").unwrap();
    edit(&work.output("top.sdc"), "create_clock", "create_clock -add");
    edit(&work.out.join("README.md"), "#", "# My");
    assert_eq!(told(&work, Level::Bad), []);
    let notes = told(&work, Level::Note);
    for (file, word) in [
        ("top.v", "// mine"),
        ("top.sdc", "-add"),
        ("README.md", "edited"),
        ("out", "mine.v"),
        ("out", "system.qsys.bin"),
    ] {
        assert!(
            notes
                .iter()
                .any(|(f, _, what)| f == file && what.contains(word)),
            "{file}: {notes:#?}"
        );
    }
}

/// An edit of an element that the extension wrote or removed.
struct Edit {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// Words of the fault.
    words: &'static str,
    /// A word of the line that it must name.
    at: &'static str,
}

const fn changed(
    file: &'static str,
    [from, to]: [&'static str; 2],
    words: &'static str,
    at: &'static str,
) -> Edit {
    Edit {
        file,
        from,
        to,
        words,
        at,
    }
}

#[test]
fn edits_of_the_extensions_elements_are_wrong() {
    let edits = [
        changed(
            SYSTEM,
            ["kind=\"peerlane_dma\"", "kind=\"acl_dma\""],
            "the instance dma_engine as \"peerlane_dma\"; it is \"acl_dma\"",
            "name=\"dma_engine\"",
        ),
        changed(
            SYSTEM,
            [
                "enabled=\"1\" name=\"dma_engine\"",
                "enabled=\"0\" name=\"dma_engine\"",
            ],
            "which is not enabled",
            "name=\"dma_engine\"",
        ),
        changed(
            SYSTEM,
            ["name=\"dma_engine\"", "name=\"another\""],
            "the instance dma_engine \"peerlane_dma\", which is missing",
            "",
        ),
        changed(
            SYSTEM,
            ["end=\"dma_engine.att\"", "end=\"kernels.att\""],
            "→ dma_engine.att, which is missing; there is the avalon connection",
            "",
        ),
        changed(
            SYSTEM,
            ["value=\"0x00028000\"", "value=\"0x00020000\""],
            "\"0x00028000\"; it is \"0x00020000\"",
            "0x00020000",
        ),
        changed(
            SYSTEM,
            ["end=\"dma_engine.clk\"", "end=\"kernels.clk\""],
            "→ dma_engine.clk, which is missing",
            "",
        ),
        changed(
            SYSTEM,
            [
                "name=\"qsys_mm.maxAdditionalLatency\" value=\"0\"",
                "name=\"qsys_mm.maxAdditionalLatency\" value=\"2\"",
            ],
            "qsys_mm.maxAdditionalLatency as \"0\"; it is \"2\"",
            "maxAdditionalLatency",
        ),
        changed(
            SYSTEM,
            [
                "name=\"subsystem_device_id_hwtcl\" value=\"",
                "name=\"subsystem_device_id_hwtcl\" value=\"1",
            ],
            "subsystem_device_id_hwtcl of host_link",
            "subsystem_device_id_hwtcl",
        ),
        changed(SYSTEM, ["</system>", ""], "", ""),
        changed(
            "top.qsf",
            [
                "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf",
                "# set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf",
            ],
            "the extension wrote \"set_global_assignment -name SOURCE_TCL_SCRIPT_FILE",
            "peerlane.qsf",
        ),
        changed(
            "board_spec.xml",
            ["name=\"peerlane_ref_peerlane\"", "name=\"peerlane_ref\""],
            "board/@name as \"peerlane_ref_peerlane\"; it is \"peerlane_ref\"",
            "name=\"peerlane_ref\"",
        ),
        changed(
            "iface.ipx",
            ["name=\"peerlane_dma\"", "name=\"peerlane\""],
            "peerlane_dma",
            "",
        ),
        changed(
            "iface/peerlane/peerlane_dma.v",
            ["[7:0] csr_address", "[6:0] csr_address"],
            "changed since it was generated",
            "[6:0] csr_address",
        ),
        changed(
            "iface/peerlane/build.json",
            ["\"csr\": 12288", "\"csr\": 12800"],
            "changed since it was generated",
            "12800",
        ),
        changed("iface/peerlane/peerlane.qsf", ["peerlane", "mine"], "", ""),
    ];
    let work = extended_with("");
    let comparison = Comparison::new(&Layout::of_result(&work.out).unwrap()).unwrap();
    for e in edits {
        let path = work.output(e.file);
        let before = fs::read_to_string(&path).unwrap();
        edit(&path, e.from, e.to);
        let found = bad(comparison.findings().unwrap());
        let after = fs::read_to_string(&path).unwrap();
        fs::write(&path, before).unwrap();
        assert!(
            found.iter().any(|f| {
                let at = |line: usize| after.lines().nth(line - 1).unwrap_or_default();
                f.place == path
                    && f.what.to_string().contains(e.words)
                    && f.line.is_some_and(|line| at(line).contains(e.at))
                    && f.hint.is_some()
            }),
            "{} {:?}: {found:#?}",
            e.file,
            e.to
        );
    }
    assert_untouched(&work);
}

/// New connections that change a decision of the extension, and slaves that overlap.
#[test]
fn connections_that_the_block_cannot_have_are_wrong() {
    let work = extended_with("");
    let system = work.made(SYSTEM);
    for (kind, start, end, base, words) in [
        (
            "avalon",
            "kernels.m",
            "host_link.Txs",
            "0x0",
            "host_link.Txs",
        ),
        (
            "avalon",
            "dma_engine.mem_rd",
            "host_link.Cra",
            "0x0",
            "dma_engine.mem_rd",
        ),
        (
            "clock",
            "ddr.afi_clk",
            "dma_engine.pcie_clk",
            "",
            "dma_engine.pcie_clk",
        ),
        (
            "clock",
            "host_link.coreclkout",
            "dma_engine.clk",
            "",
            "dma_engine.clk",
        ),
        (
            "avalon",
            "control_pipe.m0",
            "own_timer.s1",
            "0x28000",
            "overlaps",
        ),
    ] {
        with_elements(
            &work,
            &(OWN.to_string() + &connection(kind, start, end, base)),
        );
        let found = told(&work, Level::Bad);
        let at = line(&work, SYSTEM, &format!("start=\"{start}\" end=\"{end}\""));
        assert!(
            found.iter().any(|(file, line, what)| {
                file == SYSTEM && what.contains(words) && (*line == Some(at) || words == "overlaps")
            }),
            "{start} → {end}: {found:#?}"
        );
        fs::write(work.output(SYSTEM), &system).unwrap();
    }
    assert_untouched(&work);
}

#[test]
fn removed_files_are_wrong() {
    let work = extended_with("");
    let keep = |path: &Path| {
        let content = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        let found = findings(&work);
        fs::write(path, content).unwrap();
        bad(found)
    };
    for file in [
        "top.v",
        SYSTEM,
        "iface/peerlane/peerlane.qsf",
        "scripts/post_flow.tcl",
    ] {
        let path = work.output(file);
        let found = keep(&path);
        assert!(found.iter().any(|f| f.place == path), "{file}: {found:#?}");
    }
    let path = work.out.join("board_env.xml");
    let found = keep(&path);
    assert!(found.iter().any(|f| f.place == path), "{found:#?}");
    assert_untouched(&work);
    let program = work.out.join("linux64/libexec/install");
    common::edit(&program, "#!", "#!");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    let found = bad(findings(&work));
    assert!(
        found.len() == 1 && found[0].what.to_string().contains("cannot be executed"),
        "{found:#?}"
    );
}

/// The vendor's compiled board may not come back, and one that was compiled again may.
#[test]
fn compiled_files_are_off_until_they_are_made_again() {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    let to_do = || -> Vec<String> {
        let all = findings(&work).0.into_iter();
        let all = all.filter(|f| f.test == "to do" && f.what.to_string().contains("is off"));
        all.map(|f| f.what.to_string()).collect()
    };
    assert_eq!(to_do().len(), 1, "{:?}", to_do());
    let persona = "persona/base.root_partition.personax";
    let was = fs::read(work.input(persona)).unwrap();
    let vendor = fs::read_to_string(work.input("ip_include.tcl")).unwrap()
        + &fs::read_to_string(work.input("top.qsf")).unwrap();
    let import = vendor.lines().find(|line| line.contains(persona)).unwrap();
    let settings = work.made("top.qsf");
    fs::write(work.output("top.qsf"), format!("{settings}{import}\n")).unwrap();
    fs::create_dir_all(work.output("persona")).unwrap();
    // The vendor's file, no file, and a new one.
    for (content, faults) in [
        (Some(was.as_slice()), 2),
        (None, 1),
        (Some(b"new".as_slice()), 0),
    ] {
        match content {
            Some(content) => fs::write(work.output(persona), content).unwrap(),
            None => fs::remove_file(work.output(persona)).unwrap(),
        }
        let found = told(&work, Level::Bad);
        assert_eq!(found.len(), faults, "{found:#?}");
    }
    assert_eq!(to_do(), Vec::<String>::new());
}

/// A task of the report stays until its line is changed.
#[test]
fn tasks_are_listed_until_their_lines_change() {
    let work = Work::of(&reference_net());
    work.extend("[port]\nkind = \"tlp\"\ngen = 3\n").unwrap();
    let tasks = || -> BTreeMap<(PathBuf, Option<usize>), String> {
        let all = findings(&work).0.into_iter().filter(|f| f.test == "to do");
        all.map(|f| ((f.place.clone(), f.line), f.what.to_string()))
            .collect()
    };
    let file = work.output("base.qsf");
    let of_file = || {
        let all = tasks().into_iter();
        let mut all = all.filter(|(_, what)| what.contains("settings for configuration over PCIe"));
        all.find_map(|(at, _)| Some(at).filter(|(path, _)| *path == file))
    };
    let (_, first) = of_file().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.lines()
            .nth(first.unwrap() - 1)
            .unwrap()
            .contains("CVP"),
        "{first:?}"
    );
    let left: Vec<_> = text.lines().filter(|l| !l.contains("CVP_")).collect();
    fs::write(&file, left.join("\n") + "\n").unwrap();
    assert_eq!(of_file(), None);
    assert!(!tasks().is_empty());
    assert_eq!(told(&work, Level::Bad), []);
}

/// Changes the record of the build as if another program had written it.
fn as_of_another(work: &Work, change: impl Fn(&mut Build)) {
    let layout = Layout::of_result(&work.out).unwrap();
    let mut build = Build::read(&layout).unwrap();
    change(&mut build);
    let file = layout.hardware.join("iface/peerlane/build.json");
    let text = build.json();
    fs::write(work.out.join(&file), &text).unwrap();
    let mut record = Record::read(&work.out).unwrap();
    let entry = record.made.get_mut(file.to_str().unwrap()).unwrap();
    let Entry::File { sha256, .. } = entry else {
        panic!("a file")
    };
    *sha256 = digest(text.as_bytes());
    fs::write(work.out.join("peerlane/files.json"), record.json()).unwrap();
}

#[test]
fn a_platform_of_another_version_is_told() {
    let work = extended_with("");
    as_of_another(&work, |build| build.version = "9.9.9".into());
    assert_eq!(told(&work, Level::Bad), []);
    let notes = told(&work, Level::Note);
    let [(file, _, what)] = notes.as_slice() else {
        panic!("{notes:#?}")
    };
    assert_eq!(file, "build.json");
    for words in [
        "Peerlane 9.9.9 wrote it",
        env!("CARGO_PKG_VERSION"),
        "Extend the vendor's BSP again",
    ] {
        assert!(what.contains(words), "{what}");
    }
    as_of_another(&work, |build| build.build_id ^= 1);
    let found = told(&work, Level::Bad);
    assert!(
        found.len() == 1 && found[0].2.contains("BUILD_ID"),
        "{found:#?}"
    );

    let work = extended_with("");
    as_of_another(&work, |build| {
        build.version = "9.9.9".into();
        let verilog = build
            .generated
            .iter_mut()
            .find(|(path, _)| path.ends_with(".v"));
        verilog.unwrap().1.replace_range(..1, "0");
        let verilog = build
            .generated
            .iter_mut()
            .find(|(path, _)| path.ends_with(".v"));
        verilog.unwrap().1.replace_range(1..2, "g");
    });
    let found = told(&work, Level::Bad);
    assert!(
        found.len() == 1 && found[0].2.contains("other Verilog"),
        "{found:#?}"
    );
}

/// The same version must write the same files.
#[test]
fn a_record_that_says_otherwise_is_wrong() {
    let work = extended_with("");
    as_of_another(&work, |build| build.clock_mhz += 1);
    let found = told(&work, Level::Bad);
    assert!(
        found.len() == 1 && found[0].2.contains("iface/peerlane/build.json"),
        "{found:#?}"
    );
}

#[test]
fn damage_to_the_stored_files_is_found() {
    let work = extended_with("");
    let kept = work.out.join("peerlane/vendor/hardware/peerlane_ref/top.v");
    let before = fs::read(&kept).unwrap();
    let found = || -> Vec<String> {
        let all = findings(&work).0.into_iter();
        let all = all.filter(|f| f.level == Level::Bad && f.test == "vendor's files");
        all.map(|f| f.what.to_string()).collect()
    };
    fs::write(&kept, "module top; endmodule\n").unwrap();
    assert_eq!(found(), ["the file differs from the vendor's file"]);
    fs::remove_file(&kept).unwrap();
    assert_eq!(found(), ["the kept copy of the vendor's file is missing"]);
    fs::write(&kept, &before).unwrap();
    let more = work.out.join("peerlane/vendor/more");
    fs::write(&more, "").unwrap();
    assert_eq!(found(), ["the vendor's BSP does not have this file"]);
    fs::remove_file(&more).unwrap();
    assert_untouched(&work);

    let record = work.out.join("peerlane/files.json");
    edit(&record, "\"mode\": \"644\"", "\"mode\": \"777\"");
    assert_eq!(refusal(&work.out).kind, ErrorKind::Inconsistent);
    let work = extended_with("");
    fs::write(work.output("iface/peerlane/build.json"), "{").unwrap();
    assert_eq!(refusal(&work.out).kind, ErrorKind::Inconsistent);
    let vendor = check(&Layout::find(&reference()).unwrap()).unwrap_err();
    assert_eq!(vendor.kind, ErrorKind::NotABsp);
}

/// A record cannot lead out of the temporary directory.
#[test]
fn a_record_stays_in_its_directory() {
    let mut work = Work::of(&reference_net());
    work.bsp = work.bsp.join("hardware/peerlane_net");
    work.extend("").unwrap();
    let mut record = Record::read(&work.out).unwrap();
    let around = record.request.as_mut().unwrap().around.as_mut().unwrap();
    around.hardware = "../../victim".into();
    fs::write(work.out.join("peerlane/files.json"), record.json()).unwrap();
    assert_eq!(refusal(&work.out).kind, ErrorKind::Inconsistent);
}

fn refusal(out: &Path) -> Error {
    match Layout::of_result(out) {
        Err(error) => error,
        Ok(layout) => check(&layout).unwrap_err(),
    }
}

/// The two checks find different faults. The comparison finds each edit of the extension's elements, independent of its
/// meaning. The second model knows meanings, and so judges elements of the vendor's, too. Each fault is found by one of
/// the two at least.
#[test]
fn each_fault_is_found_by_one_of_both() {
    const BOTH: (bool, bool) = (true, true);
    const COMPARISON: (bool, bool) = (true, false);
    const MODEL: (bool, bool) = (false, true);
    let settings = "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf";
    let faults = [
        (
            SYSTEM,
            "end=\"dma_engine.att\"",
            "end=\"kernels.att\"",
            BOTH,
        ),
        (
            SYSTEM,
            "enabled=\"1\" name=\"dma_engine\"",
            "enabled=\"0\" name=\"dma_engine\"",
            BOTH,
        ),
        (SYSTEM, "value=\"0x00028000\"", "value=\"0x00028010\"", BOTH),
        (
            SYSTEM,
            "name=\"TX_S_ADDR_WIDTH\" value=\"64\"",
            "name=\"TX_S_ADDR_WIDTH\" value=\"32\"",
            BOTH,
        ),
        (
            SYSTEM,
            "start=\"memory_reset.reset_out\"\n   end=\"memory.reset\"",
            "start=\"kernels.kernel_reset\"\n   end=\"memory.reset\"",
            MODEL,
        ),
        (
            SYSTEM,
            "name=\"baseAddress\" value=\"0x2000\"",
            "name=\"baseAddress\" value=\"0x2800\"",
            MODEL,
        ),
        (
            SYSTEM,
            "internal=\"kernels.kernel_cra\"",
            "internal=\"kernels.other\"",
            MODEL,
        ),
        (
            SYSTEM,
            "enabled=\"1\"\n   name=\"link_reset\"",
            "enabled=\"false\"\n   name=\"link_reset\"",
            MODEL,
        ),
        (
            "iface/board_status.qsys",
            "kind=\"version_id\"",
            "kind=\"acl_dma\"",
            BOTH,
        ),
        ("top.qsf", settings, "", BOTH),
        (
            "top.qsf",
            "set_global_assignment -name FAMILY",
            "if {0} {\nset_global_assignment -name FAMILY",
            MODEL,
        ),
        ("top.qsf", "top.v", "other.v", MODEL),
        (
            "iface.ipx",
            "name=\"peerlane_dma\"",
            "name=\"peerlane\"",
            BOTH,
        ),
        (
            "iface/peerlane/peerlane_dma.v",
            "[7:0] csr_address",
            "[6:0] csr_address",
            BOTH,
        ),
        (
            "iface/peerlane/peerlane_dma.v",
            "endmodule",
            "// mine\nendmodule",
            BOTH,
        ),
        (
            "iface/peerlane/build.json",
            "\"csr\": 12288",
            "\"csr\": 12800",
            BOTH,
        ),
        ("iface/peerlane/peerlane.qsf", "SDC_FILE", "SDC_FILES", BOTH),
        (
            "../../linux64/include/peerlane_ext.h",
            "#",
            "//",
            COMPARISON,
        ),
    ];
    let work = extended_with("");
    let layout = Layout::of_result(&work.out).unwrap();
    let comparison = Comparison::new(&layout).unwrap();
    let wrong = |found: peerlane_bsp::error::Result<Findings>| match found {
        Ok(findings) => findings.errors() > 0,
        Err(_) => true,
    };
    for (file, from, to, by) in faults {
        let path = work.output(file);
        let before = fs::read_to_string(&path).unwrap();
        edit(&path, from, to);
        let found = (wrong(comparison.findings()), wrong(structure(&layout)));
        fs::write(&path, before).unwrap();
        assert_eq!(found, by, "{file}: {from} → {to}");
        assert!(found.0 || found.1);
    }
    assert!(!wrong(comparison.findings()) && !wrong(structure(&layout)));
}

/// Returns whether a fault of a file has these words.
fn is_wrong(work: &Work, file: &str, words: &str) -> bool {
    let found = told(work, Level::Bad);
    let is_it =
        |(name, _, what): &(String, Option<usize>, String)| name == file && what.contains(words);
    found.iter().any(is_it) || panic!("{file} {words}: {found:#?}")
}

/// Elements that the extension wrote go with an element of the vendor's.
#[test]
fn elements_that_go_with_their_parent_are_wrong() {
    let work = extended_with("");
    let specification = work.made("board_spec.xml");
    let alms = specification.lines().find(|line| line.contains("<alms"));
    edit(&work.output("board_spec.xml"), alms.unwrap(), "");
    assert!(is_wrong(&work, "board_spec.xml", "alms"));

    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    let system = work.made("board.qsys");
    let name = system.find("name=\"identity\"").unwrap();
    let begin = system[..name].rfind("<module").unwrap();
    let end = name + system[name..].find("</module>").unwrap() + "</module>".len();
    let module = &system[begin..end];
    edit(&work.output("board.qsys"), module, "");
    assert!(is_wrong(&work, "board.qsys", "the instance identity"));
    fs::write(
        work.output("board.qsys"),
        system.replace(module, &module.replace("enabled=\"1\"", "enabled=\"0\"")),
    )
    .unwrap();
    assert!(is_wrong(&work, "board.qsys", "not enabled"));
}

#[test]
fn more_at_the_block_is_wrong() {
    let interrupt = connection("interrupt", "dma_engine.kernel_irq", "own_timer.irq", "");
    let requirement = " <interconnectRequirement for=\"dma_engine.mem_wr\" \
                       name=\"qsys_mm.maxAdditionalLatency\" value=\"4\" />\n";
    for (elements, words) in [
        (format!("{OWN}{interrupt}"), "own_timer.irq was added"),
        (
            requirement.into(),
            "the requirement qsys_mm.maxAdditionalLatency of dma_engine.mem_wr",
        ),
    ] {
        let work = extended_with("");
        with_elements(&work, &elements);
        assert!(is_wrong(&work, SYSTEM, words));
    }
    // Platform Designer writes parameters of its own.
    let work = extended_with("");
    let system = work.made(SYSTEM);
    let at = system.find("start=\"dma_engine.mem_rd\"").unwrap();
    let end = at + system[at..].find('>').unwrap();
    let parameter = "<parameter name=\"domainAlias\" value=\"\" />";
    let after = match system[..end].strip_suffix('/') {
        Some(open) => format!("{open}>{parameter}</connection>{}", &system[end + 1..]),
        None => format!("{}{parameter}{}", &system[..=end], &system[end + 1..]),
    };
    fs::write(work.output(SYSTEM), after).unwrap();
    assert_eq!(told(&work, Level::Bad), []);
}

/// A file that another version writes otherwise cannot be judged once it is edited.
#[test]
fn an_edited_file_of_another_version_is_wrong() {
    let work = extended_with("");
    let system = work.output(SYSTEM);
    let written = format!("{} ", work.made(SYSTEM));
    fs::write(&system, &written).unwrap();
    let name = system
        .strip_prefix(&work.out)
        .unwrap()
        .display()
        .to_string();
    let mut record = Record::read(&work.out).unwrap();
    if let Some(Entry::File { sha256, .. }) = record.made.get_mut(&name) {
        *sha256 = digest(written.as_bytes());
    }
    fs::write(work.out.join("peerlane/files.json"), record.json()).unwrap();
    as_of_another(&work, |build| build.version = "9.9.9".into());
    assert_eq!(told(&work, Level::Bad), []);
    fs::write(&system, "<garbage").unwrap();
    assert!(is_wrong(&work, SYSTEM, "cannot be judged"));
}

#[test]
fn systems_that_cannot_be_read_any_more_are_wrong() {
    let work = extended_with("");
    fs::write(work.output("zzz.ipx"), "<").unwrap();
    assert!(is_wrong(&work, "zzz.ipx", ""));
}

#[test]
fn a_copy_of_a_compiled_file_is_wrong() {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    fs::create_dir_all(work.output("persona")).unwrap();
    let vendors = work.input("persona/base.root_partition.personax");
    fs::copy(vendors, work.output("persona/mine.personax")).unwrap();
    assert!(is_wrong(
        &work,
        "mine.personax",
        "base.root_partition.personax"
    ));
}

/// A malformed file of the vendor's is judged by its lines.
#[test]
fn a_malformed_file_of_the_vendors_may_be_edited() {
    let work = Work::of(&reference());
    fs::write(work.input("notes.xml"), "<a><b>\n").unwrap();
    work.extend("").unwrap();
    fs::write(work.output("notes.xml"), "<a><b>\nmine\n").unwrap();
    assert_eq!(told(&work, Level::Bad), []);
    let notes = told(&work, Level::Note);
    assert!(
        notes.iter().any(|(file, _, _)| file == "notes.xml"),
        "{notes:#?}"
    );
}

#[test]
fn an_edit_of_the_form_alone_is_a_note() {
    let work = extended_with("");
    let settings = work.made("top.qsf");
    let own = settings.lines().find(|line| line.contains("peerlane.qsf"));
    edit(
        &work.output("top.qsf"),
        own.unwrap(),
        &format!("{} ;# mine", own.unwrap()),
    );
    assert_eq!(told(&work, Level::Bad), []);
    let notes = told(&work, Level::Note);
    assert!(
        notes
            .iter()
            .any(|(file, _, what)| file == "top.qsf" && what.contains("form only")),
        "{notes:#?}"
    );
}

/// No line of a program that the extension wrote alone is the user's.
#[test]
fn a_program_of_the_extension_is_not_edited() {
    let work = extended_with("");
    let program = work.out.join("linux64/libexec/install");
    let text = fs::read_to_string(&program).unwrap();
    fs::write(&program, text.replacen('\n', "\nexit 0\n", 1)).unwrap();
    assert!(is_wrong(&work, "install", "changed since it was generated"));
}
