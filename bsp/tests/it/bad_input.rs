//! Bad input gives an error of one paragraph with the place and the hint, exit status 2, and no leftover files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Work, edit, expect, extend_to, one_paragraph, snapshot, text};
use peerlane_bsp::config::{COMMENTED_DEFAULT, Config};
use peerlane_bsp::error::{ErrorKind, Place};
use peerlane_bsp::layout::Layout;
use peerlane_bsp::xml::Document;

const SYSTEM: &str = "acl_iface_system.qsys";

/// Checks that the error is a paragraph with all words, and that it leaves no files.
fn refuses(work: &Work, config: Option<&Path>, report: Option<&Path>, words: &[&str]) {
    let config = config.map_or_else(|| Ok(Config::default()), Config::read);
    let error = config.and_then(|config| extend_to(&work.bsp, &work.out, config, report));
    let error = error.expect_err("the input must be refused");
    one_paragraph(&error);
    let said = error.paragraph();
    for word in words {
        assert!(said.contains(word), "no {word:?} in: {said}");
    }
}

#[test]
fn a_directory_that_is_no_bsp() {
    let work = Work::new();
    for dir in [
        work.dir.path().join("work"),
        work.dir.path().join("nowhere"),
        work.input(SYSTEM),
    ] {
        let error = Layout::find(&dir).unwrap_err();
        one_paragraph(&error);
        expect(
            &error,
            ErrorKind::NotABsp,
            &["hardware/<board>", text(&dir)],
        );
    }
    fs::remove_file(work.input("board_spec.xml")).unwrap();
    expect(&work.refused(""), ErrorKind::NotABsp, &["board_spec.xml"]);
    refuses(&work, None, None, &["not an OpenCL BSP", text(&work.bsp)]);
}

#[test]
fn a_root_with_two_boards() {
    let work = Work::new();
    let other = work.bsp.join("hardware/other");
    fs::create_dir(&other).unwrap();
    peerlane_bsp::layout::copy(&work.bsp.join("hardware/peerlane_ref"), &other, &|_| false)
        .unwrap();
    expect(
        &work.refused(""),
        ErrorKind::NotABsp,
        &["other", "peerlane_ref"],
    );
}

#[test]
fn a_system_that_is_cut_short_anywhere() {
    let work = Work::new();
    let path = work.input(SYSTEM);
    let whole = fs::read_to_string(&path).unwrap();
    for length in (0..whole.trim_end().len()).step_by(211) {
        let error = Document::parse(&path, whole[..length].into()).expect_err("cut short");
        assert_eq!(error.kind, ErrorKind::BadXml, "cut at {length}: {error}");
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    expect(
        &work.refused(""),
        ErrorKind::BadXml,
        &[SYSTEM, "vendor's BSP package"],
    );
    refuses(&work, None, None, &[SYSTEM]);
}

#[test]
fn a_system_that_is_no_xml() {
    let work = Work::new();
    for content in [
        &b"just words\n"[..],
        b"",
        b"\x7fELF\xff\xfe\x00",
        b"<library />",
        b"<system><module/></system>",
    ] {
        fs::write(work.input("system.qsys"), content).unwrap();
        expect(&work.refused(""), ErrorKind::BadXml, &["system.qsys"]);
    }
    refuses(&work, None, None, &["system.qsys"]);
}

#[test]
fn no_acl_dma() {
    let work = Work::new();
    work.edit(SYSTEM, "kind=\"acl_dma\"", "kind=\"other_dma\"");
    expect(&work.refused(""), ErrorKind::NoDma, &["acl_dma"]);
    refuses(&work, None, None, &["no instance of kind acl_dma"]);
}

#[test]
fn two_acl_dmas() {
    let work = Work::new();
    work.edit(
        SYSTEM,
        " <connection",
        " <module kind=\"acl_dma\" version=\"1.0\" name=\"second\" />\n <connection",
    );
    expect(
        &work.refused(""),
        ErrorKind::SeveralDmas,
        &["dma_engine", "second"],
    );
    refuses(&work, None, None, &["2 instances of kind acl_dma"]);
}

#[test]
fn already_extended() {
    let mut work = Work::new();
    work.extend("").unwrap();
    work.bsp = work.out.clone();
    work.out = work.dir.path().join("again");
    let error = work.extend("").unwrap_err();
    expect(
        &error,
        ErrorKind::AlreadyExtended,
        &["peerlane/files.json", "peerlane revert", "peerlane check"],
    );
    assert!(!work.out.exists());
    refuses(&work, None, None, &["already extended"]);
}

#[test]
fn an_output_that_cannot_be_written() {
    let mut work = Work::new();
    // A directory in which even root cannot make a directory.
    work.out = PathBuf::from("/proc/peerlane");
    expect(&work.refused(""), ErrorKind::Output, &["/proc", "--out"]);
    refuses(&work, None, None, &["/proc"]);
    for parent in ["bsp/board_env.xml", "work/nowhere"] {
        work.out = work.dir.path().join(parent).join("out");
        expect(&work.refused(""), ErrorKind::Output, &["directory"]);
    }
}

#[test]
fn an_output_that_exists() {
    for make in [
        (|p: &Path| fs::create_dir(p).unwrap()) as fn(&Path),
        |p| fs::write(p, b"mine").unwrap(),
        |p| std::os::unix::fs::symlink("nowhere", p).unwrap(),
    ] {
        let work = Work::new();
        make(&work.out);
        let before = fs::symlink_metadata(&work.out).unwrap().file_type();
        let error = work.extend("").unwrap_err();
        one_paragraph(&error);
        expect(
            &error,
            ErrorKind::Output,
            &["already exists", text(&work.out)],
        );
        assert_eq!(fs::symlink_metadata(&work.out).unwrap().file_type(), before);
        assert_eq!(
            fs::read_dir(work.dir.path().join("work")).unwrap().count(),
            1
        );
    }
    let work = Work::new();
    fs::create_dir(&work.out).unwrap();
    refuses(&work, None, None, &["already exists"]);
}

#[test]
fn an_output_inside_of_the_bsp() {
    let mut work = Work::new();
    for inside in ["out", "hardware/out", "hardware/../out"] {
        work.out = work.bsp.join(inside);
        expect(&work.refused(""), ErrorKind::Output, &["inside the BSP"]);
    }
    // Through a link as well.
    let door = work.dir.path().join("door");
    std::os::unix::fs::symlink(&work.bsp, &door).unwrap();
    work.out = door.join("out");
    expect(&work.refused(""), ErrorKind::Output, &["inside the BSP"]);
}

#[test]
fn a_report_in_the_wrong_place() {
    let work = Work::new();
    for place in [
        work.bsp.join("r.md"),
        work.out.join("r.md"),
        work.dir.path().join("no/r.md"),
        work.bsp.clone(),
    ] {
        let before = snapshot(&work.bsp);
        refuses(&work, None, Some(&place), &["report"]);
        assert_eq!(snapshot(&work.bsp), before);
        assert!(!work.out.exists());
    }
}

#[test]
fn a_table_of_100_entries() {
    let work = Work::new();
    let config = work.dir.path().join("peerlane.toml");
    fs::write(&config, "# mine\nchannels = 16\natt_entries = 100\n").unwrap();
    refuses(
        &work,
        Some(&config),
        None,
        &["peerlane.toml:3", "att_entries = 100", "256 to 65536"],
    );
    assert!(!work.out.exists());
}

#[test]
fn channels_and_interrupts_that_are_not_possible() {
    let work = Work::new();
    let config = work.dir.path().join("peerlane.toml");
    for (text, words) in [
        (
            "channels = 100\n",
            ["peerlane.toml:1", "channels = 100", "1 to 64"],
        ),
        (
            "channels = 8\nmode = \"windows\"\n",
            ["peerlane.toml:2", "there is no key mode", "peerlane config"],
        ),
        (
            "irq = \"msi\"\n",
            ["peerlane.toml:1", "`rxm` or `msix`", "peerlane config"],
        ),
    ] {
        fs::write(&config, text).unwrap();
        refuses(&work, Some(&config), None, &words);
        assert!(!work.out.exists());
    }
}

/// For every key of the printed configuration, an error names its section if it is in another.
#[test]
fn a_key_below_another_section_is_told_its_own() {
    let mut section = "";
    let mut seen = 0;
    for line in COMMENTED_DEFAULT.lines() {
        let line = line.strip_prefix("#: ").unwrap_or(line);
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let other = if section == "bar" { "port" } else { "bar" };
        let text = format!("[{other}]\n{key} = 1\n");
        let error = Config::parse(Path::new("c.toml"), &text).unwrap_err();
        let own = match section {
            "" => format!("The key {key} belongs to the first lines"),
            list if list.starts_with('[') => format!("The key {key} belongs below [{list}]]."),
            section => format!("The key {key} belongs below [{section}]."),
        };
        assert!(
            error.hint.to_string().starts_with(&own),
            "{}",
            error.paragraph()
        );
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
    // The name of a section is not a key.
    let error = Config::parse(Path::new("c.toml"), "[bar]\nport = 1\n").unwrap_err();
    assert!(
        !error.hint.to_string().contains("belongs"),
        "{}",
        error.paragraph()
    );
}

/// The obstacle may be in the BSP; the mistake is in the configuration.
#[test]
fn a_key_that_does_not_fit_is_told_with_its_line() {
    let work = Work::new();
    let stream = "[port]\nkind = \"tlp\"\n";
    for (config, line, words) in [
        ("\nport_bits = 256".into(), 2, "port_bits = 256"),
        (
            format!("port_bits = 128\n{stream}gen = 3"),
            1,
            "port_bits = 128",
        ),
        (
            "channels = 1\n[bar]\nchan_base = 0x3000".into(),
            3,
            "bar.chan_base",
        ),
        ("\n[bar]\natt_base = 0x21000".into(), 3, "bar.att_base"),
        (
            format!("{stream}[bar]\nchan_base = 0x8000"),
            4,
            "taken by host_link.Cra of acl_iface_system.qsys",
        ),
    ] {
        let error = work.refused(&config);
        expect(&error, ErrorKind::Config, &[words]);
        assert_eq!(error.place, Place::line("c.toml", line), "{error}");
    }
}

#[test]
fn configurations_that_do_not_fit() {
    let work = Work::new();
    expect(
        &work.refused("att_entrys = 4096"),
        ErrorKind::Config,
        &["att_entrys", "peerlane config"],
    );
    expect(
        &work.refused("port_bits = 256"),
        ErrorKind::Config,
        &["port_bits = 256", "128 bits wide"],
    );
    let taken = work.refused("channels = 1\n[bar]\nchan_base = 0x3000");
    expect(
        &taken,
        ErrorKind::Config,
        &["bar.chan_base", "dma_engine.csr"],
    );
    let odd = work.refused("[bar]\natt_base = 0x21000");
    expect(&odd, ErrorKind::Config, &["bar.att_base", "multiple"]);
    let both = work.refused("[bar]\nchan_base = 0x28000\natt_base = 0x28000");
    expect(&both, ErrorKind::Config, &["bar.att_base", "bar.chan_base"]);
    let pages = work.refused("channels = 64\n[bar]\nchan_base = 0x20000");
    expect(
        &pages,
        ErrorKind::Config,
        &["bar.chan_base", "multiple", "0x40000"],
    );
    let vectors = work.refused("irq = \"msix\"\n[bar]\natt_base = 0x28000\nmsix_base = 0x2f000");
    expect(
        &vectors,
        ErrorKind::Config,
        &["bar.msix_base", "bar.att_base"],
    );
    let missing = work.dir.path().join("none.toml");
    refuses(&work, Some(&missing), None, &["none.toml"]);
}

#[test]
fn links_that_leave_the_bsp_and_special_files() {
    let work = Work::new();
    let link = work.input("iface/lib");
    for target in ["/etc", "../../../../elsewhere"] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        expect(
            &work.refused(""),
            ErrorKind::Link,
            &["iface/lib", "out of the BSP"],
        );
        fs::remove_file(&link).unwrap();
    }
    let socket = std::os::unix::net::UnixListener::bind(work.bsp.join("socket")).unwrap();
    let error = work.extend("").unwrap_err();
    expect(&error, ErrorKind::Link, &["socket"]);
    assert!(!work.out.exists());
    drop(socket);
}

#[test]
fn no_hard_ip_or_a_strange_one() {
    let work = Work::new();
    work.edit(SYSTEM, "altera_pcie_sv_hip_avmm", "altera_pcie_sv_hip_ast");
    expect(
        &work.refused(""),
        ErrorKind::NoPcie,
        &["altera_pcie_*_hip_avmm", "dma_engine"],
    );
    let work = Work::new();
    work.edit(
        SYSTEM,
        "name=\"avmm_width_hwtcl\" value=\"128\"",
        "name=\"avmm_width_hwtcl\" value=\"64\"",
    );
    expect(
        &work.refused(""),
        ErrorKind::Unsupported,
        &["64 bits", "avmm_width_hwtcl to 128"],
    );
}

#[test]
fn shapes_that_cannot_be_extended() {
    for (from, to, words) in [
        (
            "end=\"dma_engine.csr\"",
            "end=\"dma_engine.elsewhere\"",
            vec!["csr is not connected"],
        ),
        (
            "start=\"kernels.kernel_reset\"\n   end=\"memory.kernel_reset\"",
            "start=\"kernels.kernel_reset\"\n   end=\"dma_engine.odd\"",
            vec!["dma_engine.odd"],
        ),
        (
            "internal=\"kernel_memory.s0\"",
            "internal=\"dma_engine.m\"",
            vec!["exported as kernel_mem0"],
        ),
        (
            "end=\"memory.s\"",
            "end=\"host_link.Txs\"",
            vec!["reaches no memory"],
        ),
        (
            "<parameter name=\"ADDRESS_WIDTH\" value=\"17\" />",
            "",
            vec!["ADDRESS_WIDTH"],
        ),
    ] {
        let work = Work::new();
        work.edit(SYSTEM, from, to);
        expect(&work.refused(""), ErrorKind::Unsupported, &words);
    }
}

#[test]
fn something_else_that_drives_the_hard_ip() {
    for (before, more) in [
        (
            "<interconnectRequirement",
            "<connection kind=\"avalon\" start=\"kernels.spare\" end=\"dma_out.s0\" />",
        ),
        (
            "<interconnectRequirement",
            "<connection kind=\"avalon\" start=\"kernels.spare\" end=\"host_link.Txs\" />",
        ),
        (
            "<module",
            "<interface name=\"spare\" internal=\"dma_narrow.s0\" type=\"avalon\" dir=\"end\" />",
        ),
    ] {
        let work = Work::new();
        work.edit(SYSTEM, before, &format!("{more}\n {before}"));
        expect(
            &work.refused(""),
            ErrorKind::Unsupported,
            &["host_link.Txs", "Remove"],
        );
    }
}

#[test]
fn a_bridge_that_cannot_grow() {
    // A neighbour directly above the bridge to the registers.
    let work = Work::new();
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let from = "start=\"bar_pipe.m0\"";
    let at = text
        .find(from)
        .map(|at| text[..at].rfind(" <connection").unwrap())
        .unwrap();
    let neighbour = " <connection kind=\"avalon\" version=\"13.1\" start=\"bar_pipe.m0\" end=\"kernels.near\">\n  \
                     <parameter name=\"baseAddress\" value=\"0x20000\" />\n </connection>\n";
    fs::write(
        work.input(SYSTEM),
        format!("{}{neighbour}{}", &text[..at], &text[at..]),
    )
    .unwrap();
    expect(
        &work.refused(""),
        ErrorKind::Unsupported,
        &["overlap kernels.near"],
    );
}

#[test]
fn other_files_that_are_spoilt() {
    for (file, kind) in [
        ("iface.ipx", ErrorKind::BadXml),
        ("board_spec.xml", ErrorKind::BadXml),
        ("iface/board_status.qsys", ErrorKind::BadXml),
    ] {
        let work = Work::new();
        fs::write(work.input(file), "<board><de").unwrap();
        expect(&work.refused(""), kind, &[file]);
    }
    let work = Work::new();
    fs::write(work.input("board_spec.xml"), "<board name=\"x\"/>").unwrap();
    expect(&work.refused(""), ErrorKind::BadXml, &["global_mem"]);
    let work = Work::new();
    fs::write(work.input("board_spec.xml"), "<board/>").unwrap();
    expect(
        &work.refused(""),
        ErrorKind::BadXml,
        &["board_spec.xml:1", "\"name\""],
    );
    let work = Work::new();
    fs::write(
        work.input("board_spec.xml"),
        "<board name=\"x\"><global_mem><interface address=\"0\" size=\"0x40000000\"/></global_mem></board>",
    )
    .unwrap();
    expect(&work.refused(""), ErrorKind::BadXml, &["used_resources"]);
    let work = Work::new();
    fs::remove_file(work.input("top.qsf")).unwrap();
    expect(&work.refused(""), ErrorKind::NotABsp, &[".qsf"]);
    let work = Work::new();
    edit(
        &work.input(SYSTEM),
        "start=\"dma_engine.m\"",
        "start=\"dma_engine\"",
    );
    expect(
        &work.refused(""),
        ErrorKind::BadXml,
        &["instance.interface"],
    );
}
