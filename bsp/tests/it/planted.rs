//! Faults that a test injects into an extended BSP are found, or at least noted.

use std::fs;

use crate::common::faults::{Planted, each, faults, notes, proved, refusal, without};
use crate::common::{self, Work, reference_net};
use peerlane_bsp::error::ErrorKind;

const BOARD: &str = "board.qsys";

fn extended_net() -> Work {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    work
}

/// Replaces text once; it must be there.
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "no {from:?}");
    text.replacen(from, to, 1)
}

/// A BAR's slave takes no more than the BAR. If the master has several slaves, or one that is not at 0, it is a note:
/// that it gives the offset in the BAR is not known of every Quartus.
#[test]
fn the_receive_side() {
    let work = extended_net();
    let whole = fs::read_to_string(work.output(BOARD)).unwrap();
    let board = |name: &str, change: &dyn Fn(&str) -> String, words: &str| {
        let changed = change(&whole);
        assert_ne!(changed, whole, "{name}");
        fs::write(work.output(BOARD), changed).unwrap();
        let mut all = faults(&work);
        let wrong = all.iter().any(|(test, _)| *test == "receive side");
        assert_eq!(wrong, name.contains("wider"), "{name}: {all:#?}");
        all.extend(notes(&work));
        let found = all
            .iter()
            .any(|(test, what)| *test == "receive side" && what.contains(words));
        assert!(found, "{name}: {all:#?}");
        let good = proved(&work);
        assert!(
            !good
                .iter()
                .any(|(test, what)| *test == "receive side" && what.contains("Rxm_BAR0")),
            "{name}"
        );
    };
    board(
        "the inserted bridge removed",
        &|s| {
            each(s, |e| {
                let gone =
                    e.contains("name=\"peerlane_bar0\"") || e.contains("end=\"peerlane_bar0.");
                (!gone).then(|| e.replace("peerlane_bar0.m0", "endpoint.Rxm_BAR0"))
            })
        },
        "has the slaves host_pipe.s0, flash_pipe.s0",
    );
    board(
        "a slave past the inserted bridge",
        &|s| {
            replaced(
                s,
                "start=\"peerlane_bar0.m0\"\n   end=\"flash_pipe.s0\"",
                "start=\"endpoint.Rxm_BAR0\"\n   end=\"flash_pipe.s0\"",
            )
        },
        "has the slaves",
    );
    board(
        "a bridge wider than the BAR",
        &|s| {
            replaced(
                s,
                "\"SLAVE_ADDRESS_MAP_0\" value=\"29\"",
                "\"SLAVE_ADDRESS_MAP_0\" value=\"20\"",
            )
        },
        "takes 0x20000000 bytes of endpoint.Rxm_BAR0, which has 0x100000",
    );
    board(
        "not at 0",
        &|s| {
            each(s, |e| {
                let e = e.to_string();
                Some(match e.contains("end=\"peerlane_bar0.s0\"") {
                    true => replaced(&e, "value=\"0x0000\"", "value=\"0x20000000\""),
                    false => e,
                })
            })
        },
        "is not at address 0",
    );
    board(
        "a slave of unknown size",
        &|s| {
            each(s, |e| {
                let auto = e.contains("name=\"peerlane_bar0\"");
                Some(match auto {
                    true => replaced(
                        e,
                        "\"USE_AUTO_ADDRESS_WIDTH\" value=\"0\"",
                        "\"USE_AUTO_ADDRESS_WIDTH\" value=\"1\"",
                    )
                    .replace("peerlane_bar0_", ""),
                    false => e.replace("end=\"flash_pipe.s0\"", "end=\"flash_port.s\""),
                })
            })
        },
        "is not known",
    );
    fs::write(work.output(BOARD), &whole).unwrap();
    assert_eq!(faults(&work), []);
}

/// Connections off the host's bus: memory, kernels, and the block's way there.
#[test]
fn avalon_connections() {
    let mut planted = Planted::new(extended_net());
    let mut board = |name: &str, change: &dyn Fn(&str) -> String, words: &str| {
        planted.fault(name, BOARD, |s| change(&s), ("avalon", words));
    };
    let masters = ["mem_rd", "mem_wr", "mem_win"].map(|m| format!("start=\"copier.{m}\""));
    let of_block = |e: &str| masters.iter().any(|m| e.contains(m.as_str()));
    board(
        "the block's masters at another address",
        &|s| {
            each(s, |e| {
                Some(match of_block(e) {
                    true => replaced(e, "value=\"0x0000\"", "value=\"0x0000004000000000\""),
                    false => e.into(),
                })
            })
        },
        "copier.m → splitter.s at 0x0 of the vendor's BSP differs from those of copier's masters",
    );
    board(
        "one master elsewhere",
        &|s| {
            each(s, |e| {
                Some(match e.contains("start=\"copier.mem_win\"") {
                    true => e.replace("splitter.s", "scratch.s1"),
                    false => e.into(),
                })
            })
        },
        "copier.mem_win → scratch.s1 at 0x0 belongs neither",
    );
    board(
        "all masters elsewhere",
        &|s| {
            each(s, |e| {
                Some(match of_block(e) {
                    true => e.replace("splitter.s", "bank_b_pipe.s0"),
                    false => e.into(),
                })
            })
        },
        "copier.mem_rd → bank_b_pipe.s0",
    );
    board(
        "a bank of memory off",
        &|s| without(s, "start=\"splitter.bank2\""),
        "splitter.bank2 → cross_to_bank_b.s0 at 0x0 of the vendor's BSP is missing",
    );
    board(
        "the banks swapped",
        &|s| {
            s.replace("start=\"splitter.bank1\"", "start=\"splitter.bankX\"")
                .replace("start=\"splitter.bank2\"", "start=\"splitter.bank1\"")
                .replace("start=\"splitter.bankX\"", "start=\"splitter.bank2\"")
        },
        "splitter.bank1 → cross_to_bank_b.s0 at 0x0 belongs neither",
    );
    board(
        "a bridge of the vendor without its connections",
        &|s| without(s, "bank_b_pipe"),
        "bank_b_pipe.m0 → bank_b.avl at 0x0 of the vendor's BSP is missing",
    );
    board(
        "the kernel's path to memory is missing",
        &|s| without(s, "start=\"kernel_port_a.m0\""),
        "kernel_port_a.m0 → bank_a_pipe.s0",
    );
    board(
        "a second master on memory",
        &|s| {
            let more = " <connection kind=\"avalon\" version=\"14.0\" start=\"kernel_port_b.m0\" end=\"bank_a_pipe.s0\">\n  <parameter name=\"baseAddress\" value=\"0x0\" />\n </connection>\n <connection";
            replaced(s, " <connection", more)
        },
        "kernel_port_b.m0 → bank_a_pipe.s0 at 0x0 belongs neither",
    );
    planted.all_were_found();
}

/// The vendor's software must not accept the board as the vendor's.
#[test]
fn identity() {
    let mut planted = Planted::new(extended_net());
    let mut fault = |name: &str, file: &str, change: [&str; 2], found: (&str, &str)| {
        planted.fault(name, file, |s| replaced(&s, change[0], change[1]), found);
    };
    let id = [
        "\"subsystem_device_id_hwtcl\" value=\"20556\"",
        "\"subsystem_device_id_hwtcl\" value=\"291\"",
    ];
    fault(
        "the vendor's IDs",
        BOARD,
        id,
        ("identity", "are those of the vendor's board"),
    );
    fault(
        "another ID",
        BOARD,
        id,
        ("parameters", "subsystem_device_id_hwtcl is \"291\""),
    );
    let version = [
        "\"VERSION_ID\" value=\"1347158017\"",
        "\"VERSION_ID\" value=\"-1597521440\"",
    ];
    fault(
        "the vendor's version",
        BOARD,
        version,
        ("parameters", "VERSION_ID is \"-1597521440\""),
    );
    let version = [version[0], "\"VERSION_ID\" value=\"1347158018\""];
    fault(
        "another version",
        BOARD,
        version,
        ("parameters", "the block needs \"1347158017\""),
    );
    let name = ["name=\"peerlane_net_peerlane\"", "name=\"peerlane_net\""];
    fault(
        "the vendor's name",
        "board_spec.xml",
        name,
        ("identity", "it must be \"peerlane_net_peerlane\""),
    );
    fault(
        "another name",
        "board_spec.xml",
        [name[0], "name=\"foo\""],
        ("identity", "its directory"),
    );
    let environment = "../../board_env.xml";
    let default = [
        "default=\"peerlane_net_peerlane\"",
        "default=\"peerlane_net\"",
    ];
    fault(
        "another default",
        environment,
        default,
        ("identity", "the default board is"),
    );
    fault(
        "the vendor's platform",
        environment,
        name,
        ("identity", "the platform's name is"),
    );
    planted.all_were_found();
}

/// Parameters that the extension does not set are unchanged.
#[test]
fn parameters() {
    let mut planted = Planted::new(extended_net());
    let mut fault = |name: &str, from: &str, to: &str, words: &str| {
        planted.fault(
            name,
            BOARD,
            |s| replaced(&s, from, to),
            ("parameters", words),
        );
    };
    for (from, to) in [
        (
            "\"BYPASSS_A2P_TRANSLATION\" value=\"0\"",
            "\"BYPASSS_A2P_TRANSLATION\" value=\"1\"",
        ),
        (
            "\"AVALON_ADDR_WIDTH\" value=\"64\"",
            "\"AVALON_ADDR_WIDTH\" value=\"32\"",
        ),
        (
            "\"SLAVE_ADDRESS_MAP_0\" value=\"29\"",
            "\"SLAVE_ADDRESS_MAP_0\" value=\"31\"",
        ),
        (
            "\"vendor_id_hwtcl\" value=\"4466\"",
            "\"vendor_id_hwtcl\" value=\"1\"",
        ),
        (
            "\"max_payload_size_hwtcl\" value=\"",
            "\"max_payload_size_hwtcl\" value=\"4096",
        ),
        ("\"DATA_WIDTH\" value=\"512\"", "\"DATA_WIDTH\" value=\"8\""),
    ] {
        let name = from.split('"').nth(1).unwrap();
        fault(name, from, to, name);
    }
    fault(
        "a parameter more",
        "<parameter name=\"AVALON_ADDR_WIDTH\"",
        "<parameter name=\"user_id_hwtcl\" value=\"1\" />\n  <parameter name=\"AVALON_ADDR_WIDTH\"",
        "user_id_hwtcl is \"1\", in the vendor's BSP it is not set",
    );
    planted.fault(
        "the inserted bridge narrower than the port",
        BOARD,
        |s| {
            each(&s, |e| {
                Some(match e.contains("name=\"peerlane_bar0\"") {
                    true => replaced(
                        e,
                        "\"DATA_WIDTH\" value=\"128\"",
                        "\"DATA_WIDTH\" value=\"32\"",
                    ),
                    false => e.into(),
                })
            })
        },
        ("parameters", "peerlane_bar0: DATA_WIDTH is 32"),
    );
    planted.all_were_found();
}

/// The stored files of the vendor are verified before the comparison.
#[test]
fn the_vendors_file_that_was_kept() {
    let work = extended_net();
    let kept = work
        .out
        .join("peerlane/vendor/hardware/peerlane_net/board.qsys");
    let board = fs::read_to_string(work.output(BOARD)).unwrap();
    fs::write(&kept, board).unwrap();
    let error = refusal(&work);
    assert_eq!(error.kind, ErrorKind::Inconsistent, "{error}");
    let place = "peerlane/vendor/hardware/peerlane_net/board.qsys";
    assert!(error.paragraph().contains(place), "{error}");
    // A missing stored file: the comparison is not possible.
    fs::remove_file(&kept).unwrap();
    let error = refusal(&work);
    assert_eq!(error.kind, ErrorKind::Inconsistent, "{error}");
    assert!(error.paragraph().contains(place), "{error}");
    // A file that the extension does not change is stored, too.
    let work = extended_net();
    let path = work.output("system.qsys");
    let system = fs::read_to_string(&path).unwrap();
    let of_board = system.find("internal=\"board.").unwrap();
    let spoilt = replaced(
        &system[of_board..],
        "internal=\"board.",
        "internal=\"board.x",
    );
    fs::write(&path, format!("{}{spoilt}", &system[..of_board])).unwrap();
    let found = faults(&work);
    assert!(
        found
            .iter()
            .any(|(t, w)| *t == "wiring" && w.contains("in the vendor's BSP it is board.")),
        "{found:?}"
    );
}

const PERSONA: &str = "persona/base.root_partition.personax";
const FRAGMENT: &str =
    "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf\n";

/// An import of the vendor's persona, in any spelling and under any name.
#[test]
fn the_vendors_persona_put_back() {
    let mut planted = Planted::new(extended_net());
    let persona = fs::read(planted.work.input(PERSONA)).unwrap();
    let board = planted.work.output("");
    let absolute = board.join(PERSONA).display().to_string();
    let old = ("settings", "compiled with the old DMA");
    for (name, place, import) in [
        (
            "unchanged",
            PERSONA,
            format!("-name INPUT_PERSONA {PERSONA}"),
        ),
        (
            "another spelling",
            PERSONA,
            format!("-name INPUT_PERSONA ./persona/../{PERSONA}"),
        ),
        (
            "by its whole path",
            PERSONA,
            format!("-name INPUT_PERSONA {absolute}"),
        ),
        (
            "another name",
            "shell.personax",
            "-name INPUT_PERSONA shell.personax".into(),
        ),
        (
            "another directory",
            "../../common/x.personax",
            "-name INPUT_PERSONA ../../common/x.personax".into(),
        ),
        (
            "by a variable",
            "s.personax",
            "-name INPUT_PERSONA [file join [pwd] s.personax]".into(),
        ),
        (
            "another assignment",
            "x.qxp",
            "-name PARTITION_IMPORT_FILE x.qxp".into(),
        ),
    ] {
        let path = board.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &persona).unwrap();
        for (form, line) in [
            (
                name.to_string(),
                format!("set_global_assignment {import} -section_id Top\n"),
            ),
            (
                format!("{name}, in a body"),
                format!(
                    "if {{$x}} {{\n  ::quartus::project::set_global_assignment {import} -section_id Top\n}}\n"
                ),
            ),
        ] {
            planted.fault(&form, "top.qsf", |s| s + &line, old);
        }
        fs::remove_file(path).unwrap();
    }
    let mut lines = |name: &str, lines: &str, words: &str| {
        planted.fault(name, "top.qsf", |s| s + lines, ("settings", words));
    };
    lines(
        "by a name that cannot be determined",
        "set_global_assignment -name INPUT_PERSONA $shell -section_id Top\n",
        "a file whose name cannot be determined",
    );
    lines(
        "a composed assignment",
        "foreach {n v} {INPUT_PERSONA a.personax} {\n set_global_assignment -name $n $v\n}\n",
        "names an import",
    );
    lines(
        "in a procedure",
        "proc import {f} {\n set_global_assignment -name INPUT_PERSONA $f\n}\nimport a.personax\n",
        "a file whose name cannot be determined",
    );
    planted.all_were_found();
}

/// Files that a settings file sources by any name are read, `.qip` files too.
#[test]
fn imports_in_files_that_are_sourced() {
    let mut planted = Planted::new(extended_net());
    let import = "set_global_assignment -name PARTITION_IMPORT_FILE x.qxp -section_id Top\n";
    for name in ["partitions.tcl", "partitions.qsf", "partitions.qip"] {
        fs::write(planted.work.output("scripts").join(name), import).unwrap();
    }
    let common = planted.work.out.join("common");
    fs::create_dir(&common).unwrap();
    fs::write(common.join("shared.tcl"), import).unwrap();
    for line in [
        "source $here/scripts/partitions.tcl",
        "source [file join scripts partitions.tcl]",
        "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE \"$::quartus(project_dir)/scripts/partitions.tcl\"",
        "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE scripts/partitions.qsf",
        "set_global_assignment -name QIP_FILE scripts/partitions.qip",
        "source ../../common/shared.tcl",
        "source $x/shared.tcl",
    ] {
        planted.fault(
            line,
            "top.qsf",
            |s| format!("{s}{line}\n"),
            ("settings", "x.qxp"),
        );
    }
    planted.all_were_found();
}

/// Unreadable parts are noted, and not reported as free of imports.
#[test]
fn what_cannot_be_read() {
    let work = extended_net();
    let path = work.output("top.qsf");
    let text = fs::read_to_string(&path).unwrap();
    for (line, words) in [
        ("source $a/$b\n", "its name cannot be determined"),
        ("set_global_assignment -name $a b\n", "composes the name"),
        ("post_message \"x\n", "is not closed"),
    ] {
        fs::write(&path, format!("{text}{line}")).unwrap();
        let said = notes(&work);
        assert!(
            said.iter()
                .any(|(t, w)| *t == "settings" && w.contains(words)),
            "{line}: {said:?}"
        );
        let good = common::faults::proved(&work);
        let settings = good.iter().find(|(t, _)| *t == "settings").unwrap();
        assert!(settings.1.contains("some could not"), "{settings:?}");
    }
}

/// Scripts of the flow, of any kind, use no compiled files except those that were made again.
#[test]
fn steps_of_scripts() {
    let mut planted = Planted::new(extended_net());
    let step = ("settings", "uses a file compiled with the old DMA");
    for line in [
        "qexec \"quartus_cdb top -c top --incremental_compilation_import=on\"",
        "if {[file exists base.qar]} { project_restore base.qar -overwrite }",
        "::quartus::project::project_restore base.qar",
        "set cmd [list quartus_cdb top --import_design --file base.qdb]\nexec {*}$cmd",
        "execute_module -tool cdb -args \"--incremental_compilation_import=on\"",
        "if {![file exists scripts/peerlane/imports_on]} { exec quartus_cdb --import_design }",
        "execute_flow \\\n  -incremental_compilation_import",
    ] {
        planted.fault(
            line,
            "scripts/pre_flow.tcl",
            |s| format!("{s}{line}\n"),
            step,
        );
    }
    let import = "set_global_assignment -name PARTITION_IMPORT_FILE x.qxp";
    planted.fault(
        "an assignment",
        "scripts/pre_flow.tcl",
        |s| s + import,
        ("settings", "x.qxp"),
    );
    for (file, text) in [
        ("more.tcl", "exec quartus_cdb --import_design\n"),
        ("more.sh", "quartus_cdb top \\\n  --import_design\n"),
        ("more.bat", "quartus_cdb top --import_design\r\n"),
        ("more.pl", "system(\"quartus_cdb top --import_design\");\n"),
    ] {
        fs::write(planted.work.output("scripts").join(file), text).unwrap();
        let run = format!("\"quartus_sh --flow compile top -c top; sh scripts/{file}\"");
        planted.fault(
            file,
            "board_spec.xml",
            |s| replaced(&s, "\"quartus_sh --flow compile top -c top\"", &run),
            step,
        );
        fs::remove_file(planted.work.output("scripts").join(file)).unwrap();
    }
    // A step that waits is right, and so is text that nothing runs.
    let path = planted.work.output("scripts/pre_flow.tcl");
    let text = fs::read_to_string(&path).unwrap();
    let waits = "if {[file exists scripts/peerlane/imports_on]} { exec quartus_cdb --import_design }\n\
                 if {[lsearch $quartus(args) --import_design] >= 0} { puts \"import_design\" }\n";
    fs::write(&path, format!("{text}{waits}")).unwrap();
    assert_eq!(faults(&planted.work), []);
    fs::write(&path, text).unwrap();
    planted.all_were_found();
}

/// Every revision that may be compiled has the block's settings, with any place that names it.
#[test]
fn revisions() {
    let mut planted = Planted::new(extended_net());
    let without = |s: String| replaced(&s, FRAGMENT, "");
    let none = ("settings", "sourced 0 times");
    for project in [
        "PROJECT_REVISION = \"top\"\n",
        "PROJECT_REVISION = \"base\" # \"top\"\n",
        "PROJECT_REVISION\t=\t\"base\"\r\n",
    ] {
        fs::write(planted.work.output("top.qpf"), project).unwrap();
        for qsf in ["base.qsf", "top.qsf"] {
            planted.fault(&format!("{project}: {qsf}"), qsf, without, none);
        }
    }
    let qsf = fs::read_to_string(planted.work.output("top.qsf")).unwrap();
    let other = planted.work.output("kernel_flow.qsf");
    fs::write(&other, qsf.replace(FRAGMENT, "")).unwrap();
    planted.fault(
        "a revision that a step alone names",
        "board_spec.xml",
        |s| replaced(&s, "-c top", "-c kernel_flow"),
        none,
    );
    fs::remove_file(other).unwrap();
    let mut fragment = |name: &str, to: &str, words: &str| {
        planted.fault(
            name,
            "top.qsf",
            |s| replaced(&s, FRAGMENT, to),
            ("settings", words),
        );
    };
    fragment(
        "after a comment that continues",
        &format!("# off: \\\n{FRAGMENT}"),
        "0 times",
    );
    fragment(
        "taken away",
        &FRAGMENT.replace("-name", "-remove -name"),
        "0 times",
    );
    fragment(
        "in a body",
        &format!("if {{$x}} {{\n{FRAGMENT}}}\n"),
        "only under a condition",
    );
    fragment(
        "after the end",
        &format!("return\n{FRAGMENT}"),
        "only under a condition",
    );
    let own = "iface/peerlane/peerlane.qsf";
    planted.fault("emptied", own, |_| String::new(), ("ids", "changed since"));
    let (from, to) = (
        "PARTITION_NETLIST_TYPE SOURCE -section_id Top",
        "PARTITION_NETLIST_TYPE POST_FIT -section_id Top",
    );
    planted.fault(
        "a partition as it was compiled",
        "top.qsf",
        |s| replaced(&s, from, to),
        ("settings", "PARTITION_NETLIST_TYPE of Top is POST_FIT"),
    );
    planted.all_were_found();
}

/// Files that the vendor compiled are put back without an import.
#[test]
fn compiled_files() {
    let mut planted = Planted::new(extended_net());
    let aocx = fs::read(planted.work.input("base.aocx")).unwrap();
    let found = ("compiled files", "base.aocx");
    for name in ["base.aocx", "other.aocx"] {
        planted.found(
            name,
            (
                |work: &Work| fs::write(work.output(name), &aocx).unwrap(),
                |work: &Work| fs::remove_file(work.output(name)).unwrap(),
            ),
            found,
        );
    }
    planted.all_were_found();
    let work = Work::of(&reference_net());
    let record = work.input("incremental_db/compiled_partitions");
    fs::create_dir_all(&record).unwrap();
    fs::write(record.join("top.cdb"), "compiled").unwrap();
    work.extend("").unwrap();
    let mut planted = Planted::new(work);
    planted.found(
        "the database of Quartus",
        (
            |work: &Work| {
                fs::create_dir(work.output("incremental_db")).unwrap();
                fs::write(work.output("incremental_db/top.cdb"), "compiled").unwrap();
            },
            |work: &Work| fs::remove_dir_all(work.output("incremental_db")).unwrap(),
        ),
        ("compiled files", "its database"),
    );
    planted.all_were_found();
}

/// A compiled core of the vendor's that nothing imports is noted, and is not a fault.
#[test]
fn a_core_that_the_vendor_bought() {
    let work = Work::of(&reference_net());
    fs::write(work.input("core.qxp"), "a core").unwrap();
    let qsf = fs::read_to_string(work.input("top.qsf")).unwrap();
    let core = "set_global_assignment -name QXP_FILE core.qxp\n";
    fs::write(work.input("top.qsf"), format!("{qsf}{core}")).unwrap();
    work.extend("").unwrap();
    assert_eq!(faults(&work), []);
    let said = notes(&work);
    assert!(
        said.iter()
            .any(|(t, w)| *t == "settings" && w.contains("core.qxp is a netlist")),
        "{said:?}"
    );
}

/// The specification is the vendor's, except the board's name and the resources that the block adds to.
#[test]
fn the_boards_specification() {
    let mut planted = Planted::new(extended_net());
    for (from, to, words) in [
        (
            "maxburst=\"16\"",
            "maxburst=\"1\"",
            "maxburst of board/global_mem/interface is \"1\"",
        ),
        (
            "size=\"0x100000000\"",
            "size=\"0x80000000\"",
            "size of board/global_mem/interface",
        ),
        ("5sgxea7n2f45c2_dm", "foo", "device_model of board/device"),
        (
            "<dsps num=\"0\"",
            "<dsps num=\"9\"",
            "num of board/device/used_resources/dsps",
        ),
        (
            "  <host>",
            "  <host/>\n  <host>",
            "board/host/kernel_config is missing",
        ),
        (
            "<kernel_config start=\"0x00000000\" size=\"0x0100000\"/>",
            "",
            "kernel_config is missing",
        ),
    ] {
        planted.fault(
            from,
            "board_spec.xml",
            |s| replaced(&s, from, to),
            ("board_spec", words),
        );
    }
    planted.all_were_found();
}

/// The block's reset of PCIe is in the clock domain of PCIe.
#[test]
fn a_reset_of_another_clock_domain() {
    let mut planted = Planted::new(extended_net());
    planted.fault(
        "the block's reset of PCIe",
        BOARD,
        |s| {
            replaced(
                &s,
                "start=\"endpoint_reset.reset_out\"\n   end=\"copier.pcie_reset\"",
                "start=\"bank_reset.reset_out\"\n   end=\"copier.pcie_reset\"",
            )
        },
        (
            "resets",
            "bank_reset.reset_out is a reset in the clock domain of bank_a.afi_clk",
        ),
    );
    planted.all_were_found();
}

/// A parameter's text counts in any spelling of XML.
#[test]
fn addresses_in_any_spelling() {
    let mut planted = Planted::new(extended_net());
    let base = "<parameter name=\"baseAddress\" value=\"0xc000\" />";
    for (spelling, value) in [
        ("<![CDATA[0xc000]]>", "<![CDATA[0xe000]]>"),
        ("&#48;xc000", "&#48;xe000"),
        ("&#x30;xc000", "&#x30;xe000"),
    ] {
        let parameter =
            |value: &str| format!("<parameter name=\"baseAddress\">{value}</parameter>");
        let path = planted.work.output(BOARD);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, replaced(&before, base, &parameter(spelling))).unwrap();
        assert_eq!(faults(&planted.work), [], "{spelling}");
        planted.fault(
            value,
            BOARD,
            |s| replaced(&s, &parameter(spelling), &parameter(value)),
            (
                "avalon",
                "host_pipe.m0 → kernel_pll.ctrl at 0xe000 belongs neither",
            ),
        );
        fs::write(&path, before).unwrap();
    }
    planted.all_were_found();
}

/// Systems that do not belong to the design are not read: backups, templates, other files with the ending.
#[test]
fn systems_off_the_search_path() {
    let work = Work::of(&reference_net());
    let board = fs::read_to_string(work.input(BOARD)).unwrap();
    for (file, text) in [
        ("old/board.qsys", board.as_str()),
        ("older/board.qsys", &board[..3000]),
        ("examples/x.qsys", "<library/>"),
        ("examples/y.qsys", ""),
        ("board_backup.qsys", &board[..3000]),
    ] {
        let path = work.input(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    work.extend("").unwrap();
    assert_eq!(faults(&work), []);
}

/// Connections of the vendor's through an instance of an unknown kind are noted, and are not a fault.
#[test]
fn resets_and_interrupts_through_unknown_kinds() {
    let work = Work::of(&reference_net());
    work.edit(
        BOARD,
        "kind=\"altera_reset_controller\"",
        "kind=\"board_reset_hub\"",
    );
    work.extend("").unwrap();
    assert_eq!(faults(&work), []);
    let said = notes(&work);
    assert!(
        said.iter()
            .any(|(t, w)| *t == "resets" && w.contains("was not tested")),
        "{said:?}"
    );

    let hub = |kind: &str, [receiver, sender]: [&str; 2]| {
        let work = Work::of(&reference_net());
        let from = "start=\"endpoint.RxmIrq\"\n   end=\"copier.dma_irq\"";
        work.edit(
            BOARD,
            from,
            &format!("start=\"irq_hub.{receiver}\"\n   end=\"copier.dma_irq\""),
        );
        let instance = format!(
            " <module kind=\"{kind}\" version=\"14.0\" enabled=\"1\" name=\"irq_hub\" />\n <module"
        );
        work.edit(BOARD, " <module", &instance);
        let more = format!(
            " <connection kind=\"interrupt\" version=\"14.0\" start=\"endpoint.RxmIrq\" end=\"irq_hub.{sender}\">\n  \
             <parameter name=\"irqNumber\" value=\"1\" />\n </connection>\n <connection"
        );
        work.edit(BOARD, " <connection", &more);
        // The driver needs the interrupt's number at the hard IP.
        if let Err(error) = work.extend("") {
            assert!(
                error.to_string().contains("cannot be determined"),
                "{error}"
            );
            return (false, None);
        }
        assert_eq!(faults(&work), [], "{kind}");
        let said = notes(&work);
        let line = work.described().shell.line.map(|line| line.block);
        let tested = !said
            .iter()
            .any(|(t, w)| *t == "wiring" && w.contains("was not tested"));
        (tested, line)
    };
    let bridge = hub("altera_irq_bridge", ["receiver_irq", "sender1_irq"]);
    assert_eq!(bridge, (true, Some(1)));
    let crosser = hub("altera_irq_clock_crosser", ["receiver", "sender"]);
    assert_eq!(crosser, (true, Some(1)));
    let other = hub("board_irq_hub", ["irq_in", "irq_out"]);
    assert_eq!(other, (false, None));
}

/// The SDK assumes the type of the vendor's platform, although the file by which it decides is gone.
#[test]
fn automigration() {
    let mut planted = Planted::new(extended_net());
    let type_ = "<auto_migrate platform_type=\"s5_net\">";
    for (name, to) in [
        ("left to the SDK", "<auto_migrate platform_type=\"auto\">"),
        ("another type", "<auto_migrate platform_type=\"none\">"),
        ("no type", "<auto_migrate>"),
    ] {
        let file = "board_spec.xml";
        let found = ("automigration", "it must be \"s5_net\"");
        planted.fault(name, file, |s| replaced(&s, type_, to), found);
    }
    let gone = |s: String| {
        let (start, end) = (s.find("<auto_migrate").unwrap(), "</auto_migrate>");
        let stop = s.find(end).unwrap() + end.len();
        format!("{}{}", &s[..start], &s[stop..])
    };
    let found = ("automigration", "is not set; it must be");
    planted.fault("no element", "board_spec.xml", gone, found);
    planted.all_were_found();
}

/// Members of the floor plan's regions follow the instances.
#[test]
fn regions() {
    let mut planted = Planted::new(extended_net());
    let block = "|peerlane_dma:copier\"";
    let member = |element: &str| {
        format!(
            "set_instance_assignment -name LL_MEMBER_OF board_region -to \"system:system_inst|system_board:board|{element}\" \
             -section_id board_region\n"
        )
    };
    for (name, to, words) in [
        (
            "the old entity",
            "|system_board_copier:copier\"",
            "copier has the entity peerlane_dma, not system_board_copier",
        ),
        (
            "a part of the old DMA",
            "|system_board_copier:copier|acl_dma_core:core\"",
            "it was inside the old DMA",
        ),
        (
            "another instance",
            "|altera_avalon_mm_bridge:flash_pipe\"",
            "copier is in no LogicLock region of revision base, but the old DMA was in board_region",
        ),
    ] {
        planted.fault(
            name,
            "base.qsf",
            |s| replaced(&s, block, to),
            ("regions", words),
        );
    }
    for (gone, entity) in [
        (
            "cross_control",
            "altera_avalon_mm_clock_crossing_bridge:cross_control",
        ),
        ("cross_to_endpoint", "cross_to_endpoint"),
        ("cross_window", "x:cross_window|fifo:f|data[3]"),
    ] {
        let line = member(entity);
        let words = format!("{gone} is missing");
        planted.fault(gone, "top.qsf", |s| s + &line, ("regions", &words));
        // As in the vendor's BSP, in Tcl that the settings include.
        planted.fault(gone, "ip_include.tcl", |s| s + &line, ("regions", &words));
        let star = line.replace("system:system_inst|system_board:board", "*");
        planted.fault(gone, "top.qsf", |s| s + &star, ("regions", &words));
    }
    planted.all_were_found();
}

/// Members that a script computes are not faults, but they are noted.
#[test]
fn regions_of_scripts() {
    let work = extended_net();
    let before = fs::read_to_string(work.output("top.qsf")).unwrap();
    let line = "set at \"system:system_inst|system_board:board\"\nset_instance_assignment -name LL_MEMBER_OF r -to \
                \"$at|x:cross_control\" -section_id r\nforeach m {a b} { set_instance_assignment -name LL_MEMBER_OF r -to \
                \"$at|$m\" -section_id r }\n";
    fs::write(work.output("top.qsf"), format!("{before}{line}")).unwrap();
    assert_eq!(faults(&work), []);
    let notes = notes(&work);
    for words in [
        "cross_control is missing; a script composes the path",
        "that cannot be determined",
    ] {
        assert!(
            notes
                .iter()
                .any(|(test, what)| *test == "regions" && what.contains(words)),
            "{notes:#?}"
        );
    }
}

/// A region that is smaller than the block alone.
#[test]
fn a_small_region_is_said() {
    let work = Work::of(&reference_net());
    for revision in ["base.qsf", "top.qsf"] {
        work.edit(revision, "LL_WIDTH 116", "LL_WIDTH 6");
    }
    let report = work.extend("").unwrap();
    assert!(
        report
            .to_do
            .iter()
            .any(|note| note.contains("too small for the block")),
        "{:?}",
        report.to_do
    );
    let found = notes(&work);
    let said = found
        .iter()
        .filter(|(_, what)| what.contains("6 × 24 has at most 1440 ALMs"));
    assert_eq!(said.count(), 2, "{found:#?}");
}
