//! The design as its files describe it: the parts that count, those that are left out, and unreadable paths.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::{self, Work, expect, reference_net};
use peerlane_bsp::error::{ErrorKind, Place};

const SYSTEM: &str = "board.qsys";
const BLOCK: &str = "kind=\"peerlane_dma\"";

fn net() -> Work {
    Work::of(&reference_net())
}

/// Puts text before the first element of a kind.
fn before(work: &Work, element: &str, more: &str) {
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let at = text.find(&format!(" <{element} ")).unwrap();
    fs::write(
        work.input(SYSTEM),
        format!("{}{more}{}", &text[..at], &text[at..]),
    )
    .unwrap();
}

fn in_both(work: &Work, line: &str) {
    for revision in ["base.qsf", "top.qsf"] {
        work.append(revision, &format!("{line}\n"));
    }
}

/// Adds a bridge on the host's bus that derives its width from its slaves; the width in the file is an old setting.
fn automatic_bridge(work: &Work, slave: &str, base: &str) {
    before(
        work,
        "module",
        &format!(
            " <module kind=\"altera_avalon_mm_bridge\" version=\"14.0\" enabled=\"1\" name=\"aux_pipe\">\n  \
             <parameter name=\"DATA_WIDTH\" value=\"32\" />\n  <parameter name=\"ADDRESS_WIDTH\" value=\"10\" />\n  \
             <parameter name=\"USE_AUTO_ADDRESS_WIDTH\" value=\"1\" />\n </module>\n \
             <module kind=\"{slave}\" version=\"14.0\" enabled=\"1\" name=\"aux\">\n  \
             <parameter name=\"memorySize\" value=\"32768\" />\n </module>\n"
        ),
    );
    let avalon = |start: &str, end: &str, base: &str| {
        format!(
            " <connection kind=\"avalon\" version=\"14.0\" start=\"{start}\" end=\"{end}\">\n  \
             <parameter name=\"baseAddress\" value=\"{base}\" />\n </connection>\n"
        )
    };
    let other = |kind: &str, start: &str, end: &str| {
        format!(
            " <connection kind=\"{kind}\" version=\"14.0\" start=\"{start}\" end=\"{end}\" />\n"
        )
    };
    let mut more = avalon("host_pipe.m0", "aux_pipe.s0", "0x00020000")
        + &avalon("aux_pipe.m0", "aux.s1", base);
    for (instance, clock, reset) in [("aux_pipe", "clk", "reset"), ("aux", "clk1", "reset1")] {
        more += &other(
            "clock",
            "endpoint.coreclkout",
            &format!("{instance}.{clock}"),
        );
        more += &other(
            "reset",
            "endpoint_reset.reset_out",
            &format!("{instance}.{reset}"),
        );
    }
    before(work, "connection", &more);
    work.edit(
        SYSTEM,
        "\"ADDRESS_WIDTH\" value=\"18\"",
        "\"ADDRESS_WIDTH\" value=\"20\"",
    );
}

#[test]
fn an_automatic_bridge_takes_what_is_behind_it() {
    for (base, end) in [("0x8000", 0x3_0000), ("0x0000", 0x2_8000)] {
        let work = net();
        automatic_bridge(&work, "altera_avalon_onchip_memory2", base);
        let report = work.extend("").unwrap();
        let entries = &report.bar_after.entries;
        let aux = entries.iter().find(|e| e.slave == "aux.s1").unwrap();
        assert_eq!(aux.base + aux.bytes, end);
        for entry in entries
            .iter()
            .filter(|e| e.slave.starts_with("copier.") && e.base >= 0x2_0000)
        {
            let meets = entry.base < end && entry.base + entry.bytes > 0x2_0000;
            assert!(!meets, "{entry:?} lies in the bridge's space");
        }
    }
    // The bridge's slaves are not known: it may reach up to the end of the host's bridge, or to the next slave.
    let work = net();
    automatic_bridge(&work, "board_i2c", "0x0000");
    match work.extend("") {
        Ok(report) => {
            let entries = &report.bar_after.entries;
            let ours = entries
                .iter()
                .filter(|e| e.slave.starts_with("copier.") && e.base > 0x2_0000);
            for entry in ours {
                assert!(
                    entry.base >= 0x10_0000,
                    "{entry:?}: 1 MiB was the bridge's space"
                );
            }
        }
        Err(error) => panic!("{}", error.paragraph()),
    }
}

/// The host's own bridge, automatic: its width is set, and is final.
#[test]
fn a_widened_bridge_is_automatic_no_more() {
    let work = net();
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let at = text.find("name=\"host_pipe\"").unwrap();
    let end = at + text[at..].find("</module>").unwrap();
    let bridge = text[at..end]
        .replace(
            "name=\"ADDRESS_WIDTH\" value=\"18\"",
            "name=\"ADDRESS_WIDTH\" value=\"10\"",
        )
        .replace(
            "name=\"USE_AUTO_ADDRESS_WIDTH\" value=\"0\"",
            "name=\"USE_AUTO_ADDRESS_WIDTH\" value=\"1\"",
        );
    assert_ne!(bridge, text[at..end]);
    fs::write(
        work.input(SYSTEM),
        format!("{}{bridge}{}", &text[..at], &text[end..]),
    )
    .unwrap();
    work.sound("");
    let made = work.made(SYSTEM);
    let at = made.find("name=\"host_pipe\"").unwrap();
    let bridge = &made[at..at + made[at..].find("</module>").unwrap()];
    assert!(
        bridge.contains("\"ADDRESS_WIDTH\" value=\"18\""),
        "{bridge}"
    );
    assert!(
        bridge.contains("\"USE_AUTO_ADDRESS_WIDTH\" value=\"0\""),
        "{bridge}"
    );
}

#[test]
fn an_exported_bar_stays() {
    let work = net();
    before(
        &work,
        "interface",
        " <interface name=\"bar2\" internal=\"endpoint.Rxm_BAR2\" type=\"avalon\" dir=\"start\" />\n",
    );
    let report = work.sound("");
    let says = |note: &&String| {
        note.contains("exported as bar2") && note.contains("gives the offset in the BAR")
    };
    assert_eq!(
        report.notes.iter().filter(says).count(),
        1,
        "{:#?}",
        report.notes
    );
    assert!(work.made(SYSTEM).contains("internal=\"endpoint.Rxm_BAR2\""));
}

#[test]
fn instances_that_are_not_enabled_take_no_part() {
    let work = net();
    before(
        &work,
        "module",
        " <module kind=\"acl_dma\" version=\"1.0\" enabled=\"0\" name=\"spare\" />\n",
    );
    before(
        &work,
        "module",
        " <module kind=\"altera_jtag_avalon_master\" version=\"14.0\" enabled=\"0\" name=\"jtag\" />\n",
    );
    before(
        &work,
        "connection",
        " <connection kind=\"avalon\" version=\"14.0\" start=\"jtag.master\" end=\"cross_control.s0\" />\n",
    );
    work.sound("");
    let made = work.made(SYSTEM);
    assert!(
        made.contains("name=\"spare\"") && made.contains("name=\"jtag\""),
        "they stay unchanged"
    );
    assert!(
        !made.contains("cross_control.s0"),
        "the bridge and its connections are removed"
    );
    // The only bridge.
    let work = net();
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let at = text.find("kind=\"acl_dma\"").unwrap();
    let off = text[at..].replacen("enabled=\"1\"", "enabled=\"0\"", 1);
    fs::write(work.input(SYSTEM), format!("{}{off}", &text[..at])).unwrap();
    let error = work.refused("");
    expect(&error, ErrorKind::NoDma, &["not enabled", "board.qsys:"]);
}

#[test]
fn search_paths_with_variables() {
    for line in [
        "set shell_dir shell\nset_global_assignment -name SEARCH_PATH $shell_dir",
        "set_global_assignment -name SEARCH_PATH \"$::quartus(project_dir)/shell\"",
        "set_global_assignment -name IP_SEARCH_PATHS \"shell/**/*,$\"",
    ] {
        let work = net();
        work.rename(SYSTEM, "shell/board.qsys");
        in_both(&work, line);
        work.sound("");
        assert!(work.made("shell/board.qsys").contains(BLOCK), "{line}");
        // A second one, at the root.
        let work = net();
        work.put(
            "shell/board.qsys",
            &fs::read_to_string(work.input(SYSTEM)).unwrap(),
        );
        in_both(&work, line);
        let error = work.refused("");
        expect(
            &error,
            ErrorKind::Unsupported,
            &["two files", "shell/board.qsys", "board.qsys"],
        );
    }
    let work = net();
    work.rename(SYSTEM, "shell/board.qsys");
    work.edit(
        "board.ipx",
        "<library>",
        "<library>\n <path path=\"$$/shell/*\" />",
    );
    work.sound("");
    assert!(work.made("shell/board.qsys").contains(BLOCK));
}

/// A search path that cannot be read, and a second file of the design that the path may lead to.
#[test]
fn a_search_path_that_cannot_be_read() {
    let path =
        |dir: &str| format!("set_global_assignment -name SEARCH_PATH \"$::env(BOARD_DIR){dir}\"");
    let with_second = |line: &str| {
        let work = net();
        work.put(
            "shell/board.qsys",
            &fs::read_to_string(work.input(SYSTEM)).unwrap(),
        );
        in_both(&work, line);
        work
    };
    for dir in ["/shell", ""] {
        let error = with_second(&path(dir)).refused("");
        expect(
            &error,
            ErrorKind::Unsupported,
            &["shell/board.qsys", "BOARD_DIR"],
        );
        assert!(
            !error.what.to_string().contains("/.peerlane-extend"),
            "{error}"
        );
    }
    let report = with_second(&path("/ip/board")).sound("");
    let says = |n: &&String| {
        n.contains("searches these paths") && n.contains("$::env(BOARD_DIR)/ip/board")
    };
    assert_eq!(
        report.notes.iter().filter(says).count(),
        1,
        "{:?}",
        report.notes
    );
}

#[test]
fn a_link_names_the_kind() {
    let work = net();
    work.rename(SYSTEM, "versions/board_v2.qsys");
    symlink("versions/board_v2.qsys", work.input(SYSTEM)).unwrap();
    work.sound("");
    assert!(work.output(SYSTEM).is_symlink());
    assert!(work.made("versions/board_v2.qsys").contains(BLOCK));
}

#[test]
fn the_settings_may_name_the_systems_of_cores_alone() {
    let work = net();
    for revision in ["base.qsf", "top.qsf"] {
        work.edit(
            revision,
            "QSYS_FILE system.qsys",
            "QSYS_FILE ip/pll/pll.qsys",
        );
    }
    work.edit("board_spec.xml", "qsys_file=\"system.qsys\"", "");
    work.put("ip/pll/pll.qsys", "<system name=\"pll\"></system>");
    work.sound("");
    assert!(work.made(SYSTEM).contains(BLOCK));
}

#[test]
fn what_was_generated_from_the_old_system_is_left_out() {
    let work = Work::new();
    let dir = "acl_iface_system/synthesis";
    let old = format!("{dir}/submodules/acl_iface_system_dma_engine.v");
    work.put(&old, "module acl_dma_old; endmodule\n");
    let line = "set_global_assignment -name VERILOG_FILE [file join $::quartus(qip_path) submodules/acl_iface_system_dma_engine.v]\n";
    work.put(&format!("{dir}/acl_iface_system.qip"), line);
    work.edit(
        "top.qsf",
        "QIP_FILE system/synthesis/system.qip",
        &format!("QIP_FILE {dir}/acl_iface_system.qip"),
    );
    let report = work.sound("");
    assert!(!work.output(&old).exists());
    let says =
        |n: &&String| n.contains("generated from the systems with the old DMA") && n.contains(dir);
    assert_eq!(
        report.to_do.iter().filter(says).count(),
        1,
        "{:?}",
        report.to_do
    );
}

#[test]
fn the_boards_directory() {
    // With another name.
    let work = net();
    fs::rename(work.bsp.join("hardware"), work.bsp.join("boards")).unwrap();
    common::edit(
        &work.bsp.join("board_env.xml"),
        "dir=\"hardware\"",
        "dir=\"boards\"",
    );
    work.sound("");
    let made =
        fs::read_to_string(work.out.join("boards/peerlane_net_peerlane/board.qsys")).unwrap();
    assert!(made.contains(BLOCK));
    // A link.
    let work = net();
    fs::rename(
        work.bsp.join("hardware/peerlane_net"),
        work.bsp.join("real"),
    )
    .unwrap();
    symlink("../real", work.bsp.join("hardware/peerlane_net")).unwrap();
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Link,
        &["hardware/peerlane_net", "is a link"],
    );
}

#[test]
fn requirements_to_the_interconnect_go_with_their_connection() {
    let work = net();
    let requirement = |subject: &str| {
        format!(
            " <interconnectRequirement for=\"{subject}\" name=\"qsys_mm.clockCrossingAdapter\" value=\"FIFO\" />\n"
        )
    };
    let all = requirement("copier.m|cross_to_endpoint.s0") + &requirement("$system");
    work.edit(SYSTEM, "</system>", &format!("{all}</system>"));
    work.sound("");
    let made = work.made(SYSTEM);
    assert!(
        !made.contains("for=\"copier.m|") && made.contains("for=\"$system\""),
        "{made}"
    );
}

#[test]
fn the_inserted_bridge_has_the_version_of_its_like() {
    let work = net();
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let at = text.find("kind=\"altera_pcie_sv_hip_avmm\"").unwrap();
    let older = text[at..].replacen("version=\"14.0\"", "version=\"13.1\"", 1);
    fs::write(work.input(SYSTEM), format!("{}{older}", &text[..at])).unwrap();
    work.sound("");
    let made = work.made(SYSTEM);
    let at = made.find("name=\"peerlane_bar0\"").unwrap();
    let tag = &made[made[..at].rfind('<').unwrap()..at];
    assert!(tag.contains("version=\"14.0\""), "{tag}");
}

#[test]
fn an_identity_that_is_the_vendors_is_refused() {
    let work = net();
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let at = text.find("name=\"subsystem_device_id_hwtcl\"").unwrap();
    let end = at + text[at..].find("/>").unwrap();
    // 0x504c, the ID of a BSP without a configured one.
    let ours = "name=\"subsystem_device_id_hwtcl\" value=\"20556\" ";
    fs::write(
        work.input(SYSTEM),
        format!("{}{ours}{}", &text[..at], &text[end..]),
    )
    .unwrap();
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Config,
        &["504c", "identity.subsystem_device"],
    );
    let asked = work.refused("[identity]\n\nsubsystem_device = 0x504c");
    assert_eq!(asked.place, Place::line("c.toml", 3), "{asked}");
    work.sound("[identity]\nsubsystem_device = 0x1234");
}

#[test]
fn resources_that_cannot_be_added_to() {
    for (from, to, words) in [
        (
            "alms num=\"40000\"",
            "alms num=\"40000.5\"",
            "alms num=\"40000.5\" is not a whole number",
        ),
        (
            "rams num=\"500\"",
            "rams num=\"5e2\"",
            "rams num=\"5e2\" is not a whole number",
        ),
        (
            "<global_mem",
            "<device device_model=\"b.xml\"><used_resources><alms num=\"5\"/></used_resources></device>\n  <global_mem",
            "a second <device>",
        ),
    ] {
        let work = net();
        work.edit("board_spec.xml", from, to);
        expect(
            &work.refused(""),
            ErrorKind::BadXml,
            &[words, "board_spec.xml:"],
        );
    }
}

/// BSPs of newer devices have another DMA: the error names it.
#[test]
fn a_design_with_another_dma() {
    for (kind, name, words) in [
        ("msgdma_bbb", "copier", "copier of kind msgdma_bbb"),
        ("altera_msgdma", "copier", "copier of kind altera_msgdma"),
        (
            "altera_generic_component",
            "board_dma",
            "board_dma of kind altera_generic_component",
        ),
    ] {
        let work = net();
        let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
        let text = text
            .replace("kind=\"acl_dma\"", &format!("kind=\"{kind}\""))
            .replace("copier", name);
        fs::write(work.input(SYSTEM), text).unwrap();
        expect(&work.refused(""), ErrorKind::NoDma, &[words, "board.qsys:"]);
    }
}

/// Errors that are found in the copy name the input's files.
#[test]
fn messages_have_the_names_that_were_given() {
    let work = net();
    work.put(
        "old/board.qsys",
        &fs::read_to_string(work.input(SYSTEM)).unwrap()[..3000],
    );
    if let Err(error) = work.extend("") {
        let text = error.paragraph();
        assert!(!text.contains(".peerlane-extend-"), "{text}");
        assert!(
            text.contains("hardware/peerlane_net/old/board.qsys"),
            "{text}"
        );
    }
}
