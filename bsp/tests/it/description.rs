//! `peerlane.board`: the facts that the kernel driver must know about a board.

use std::fs;
use std::path::Path;

use crate::common::{self, Work, expect, extended_with, vendor_bsp};
use peerlane_bsp::error::{Error, ErrorKind};
use peerlane_bsp::hash::digest;

const SYSTEM: &str = "acl_iface_system.qsys";

/// Extends the reference BSP after a change of its system.
fn extended_after(from: &str, to: &str) -> Result<Work, Error> {
    let work = Work::new();
    common::edit(&work.hardware(&work.bsp).join(SYSTEM), from, to);
    work.extend("").map(|_| work)
}

/// Returns a copy of the reference BSP without the connection that ends at an interface.
fn without(end: &str) -> Work {
    let work = Work::new();
    let system = work.hardware(&work.bsp).join(SYSTEM);
    let text = fs::read_to_string(&system).unwrap();
    let connections = text.split_inclusive("</connection>");
    let without: String = connections
        .filter(|one| !one.contains(&format!("end=\"{end}\"")))
        .collect();
    assert!(without.len() < text.len(), "there was none to take out");
    fs::write(&system, without).unwrap();
    work
}

#[test]
fn the_committed_description_is_the_reference_bsps() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference.board");
    assert_eq!(
        extended_with("").described().text,
        fs::read_to_string(committed).unwrap(),
        "`cargo xtask regen` writes it"
    );
}

/// The hardware reports the number that follows from the description, by the rule that documents have.
#[test]
fn the_block_confirms_the_description() {
    for config in ["", "[port]\nkind = \"tlp\"\n", "irq = \"msix\""] {
        let work = extended_with(config);
        let made = work.described();
        let text = &made.text;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let first = |text: &str| digest(text.as_bytes())[..8].to_string();
        let verilog = fs::read_to_string(work.output("iface/peerlane/peerlane_dma.v")).unwrap();
        let build_id = first(&lines[3..5].concat());
        assert!(
            verilog.contains(&format!("BUILD_ID 0x{build_id}")),
            "{text}"
        );
        let shell = first(&lines[5..].concat());
        assert!(lines[4].ends_with(&format!(" shell={shell}\n")), "{text}");
        assert_eq!(lines[1], "name peerlane_ref_peerlane\n");
        assert_eq!(format!("{:08x}", made.build_id), build_id);
    }
}

#[test]
fn ids_and_clock_are_the_hard_ips() {
    let usual = extended_with("").described();
    let ids = usual.ids;
    assert_eq!((ids.vendor, ids.device), (0x1172, 0xab00));
    // The reference BSP's hard IP sets no vendor of the subsystem.
    assert_eq!((ids.subvendor, ids.subdevice), (None, Some(0x504c)));
    assert_eq!(usual.shell.clock, 250_000_000);
    let other = extended_after("value=\"43776\"", "value=\"0xe001\"").unwrap();
    let other = other.described();
    assert_eq!((other.ids.vendor, other.ids.device), (0x1172, 0xe001));
    // The IDs only find the file.
    assert_eq!(other.build_id, usual.build_id);
    // Half the lanes, half the clock, and never less.
    for lanes in ["x4", "x1"] {
        let to = format!("value=\"{lanes}\"");
        let other = extended_after("value=\"x8\"", &to).unwrap().described();
        assert_eq!(other.shell.clock, 125_000_000);
        assert_ne!(other.build_id, usual.build_id);
    }
}

#[test]
fn a_link_or_an_id_that_makes_no_sense_is_refused() {
    for (from, to, word) in [
        ("value=\"4466\"", "value=\"0\"", "vendor_id_hwtcl"),
        ("value=\"43776\"", "value=\"65535\"", "device_id_hwtcl"),
        ("value=\"43776\"", "value=\"a lot\"", "device_id_hwtcl"),
        ("value=\"x8\"", "value=\"x3\"", "lane_mask_hwtcl"),
        ("value=\"Gen2 (5.0 Gbps)\"", "value=\"Gen9\"", "gen123_lane"),
    ] {
        let error = extended_after(from, to).map(|_| ()).unwrap_err();
        expect(&error, ErrorKind::Unsupported, &[word, "Platform Designer"]);
    }
}

/// The window is optional: a vendor may leave it unconnected, and then the driver has none.
#[test]
fn a_bsp_without_a_window_is_a_board_without_one() {
    // The reference BSP's system has it there, and the extension does not change that.
    assert_eq!(extended_with("").described().places.window, Some(0x1_0000));
    let work = without("dma_engine.s_nondma");
    work.extend("").unwrap();
    assert_eq!(work.described().places.window, None);
}

/// The memory's size is that of `board_spec.xml`, not the block's address space.
#[test]
fn memory_is_what_the_board_has() {
    let with = |from: &str, to: &str| {
        let work = Work::new();
        common::edit(&work.hardware(&work.bsp).join("board_spec.xml"), from, to);
        work.extend("").map(|_| work.described())
    };
    let usual = extended_with("").described();
    assert_eq!(usual.shell.memory, 1 << 32);
    let other = with("size=\"0x100000000\"", "size=\"0xc0000000\"").unwrap();
    assert_eq!(other.shell.memory, 3 << 30);
    // The block is the same, with the same address bits.
    assert_ne!(other.build_id, usual.build_id);
    let error = with("address=\"0x00000000\"", "address=\"0x40000000\"").unwrap_err();
    expect(&error, ErrorKind::Unsupported, &["address 0", "board_spec"]);
}

/// The same block at other places is another build.
#[test]
fn each_layout_has_its_build_id() {
    let of = |config: &str| extended_with(config).described();
    let [usual, att, chan] = [
        "",
        "[bar]\natt_base = 0x30000",
        "[bar]\nchan_base = 0x40000",
    ]
    .map(of);
    let places = usual.places;
    assert_eq!((places.chan, places.att), (0x2_0000, 0x2_8000));
    assert_eq!((att.places.att, chan.places.chan), (0x3_0000, 0x4_0000));
    let ids = [usual.build_id, att.build_id, chan.build_id];
    assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
    // If it is asked to be where it is by default, it is the same build.
    let same = of("[bar]\nchan_base = 0x20000\natt_base = 0x28000");
    assert_eq!(same.text, usual.text);
}

#[test]
fn the_vendors_bsp_is_a_board() {
    let Some(bsp) = vendor_bsp() else { return };
    let work = Work::of(&bsp);
    work.extend("").unwrap();
    let board = work.described();
    let (ids, shell) = (board.ids, board.shell);
    // As in its own system and its documentation: Gen2 x8.
    assert_eq!((ids.vendor, ids.device), (0x1172, 0xab00));
    assert_eq!(shell.clock, 250_000_000);
    // The place where its system file connects `s_nondma`.
    assert!(board.text.contains(" bar=0 "), "{}", board.text);
    assert_eq!(board.places.window, Some(0x1_0000));
    // Two banks of 2 GiB.
    assert_eq!(shell.memory, 4 << 30);
}

/// The OpenCL side and the hard IP's registers, as the reference BSP's `acl_iface_system.qsys` has them.
#[test]
fn the_vendors_part_is_where_the_system_says() {
    let shell = extended_with("").described().shell;
    let line = shell.line.unwrap();
    assert_eq!((line.cra, line.block, line.kernels), (0x8000, 1, Some(0)));
    let kernels = shell.opencl.kernels.unwrap();
    assert_eq!((kernels.offset, kernels.bytes), (0x4000, 0x4000));
    assert_eq!(shell.opencl.clock.unwrap().offset, 0x2000);
    // A block with a table of vectors has the kernels' interrupt, too.
    let shell = extended_with("irq = \"msix\"").described().shell;
    assert_eq!(shell.line, None);
}

/// Registers of the board other than the kernels', at the places in `hardware/peerlane_net/board.qsys`.
#[test]
fn words_of_the_board_are_where_the_system_says() {
    let work = Work::of(&common::reference_net());
    work.extend("").unwrap();
    let opencl = work.described().shell.opencl;
    let words = [opencl.version, opencl.status, opencl.temperature];
    assert_eq!(
        words.map(|word| word.map(|word| (word.offset, word.bytes))),
        [0xcfc0, 0xcfe0, 0xcff0].map(|at| Some((at, 4)))
    );
}

/// The hard IP's line makes no message before software sets its bit in the hard IP's registers.
#[test]
fn a_line_that_nobody_can_enable_is_refused() {
    let work = without("host_link.Cra");
    let error = work.extend("").unwrap_err();
    expect(
        &error,
        ErrorKind::Unsupported,
        &["host_link.Cra is not in BAR 2", "RxmIrq", "msix"],
    );
    work.extend("irq = \"msix\"").unwrap();
}
