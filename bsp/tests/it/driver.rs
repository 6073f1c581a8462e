//! `peerlane driver`: the facts that the kernel driver must know about a board.

use std::fs;
use std::path::Path;

use crate::common::{self, expect, extended_with, vendor_bsp};
use peerlane_bsp::driver::{Board, table};
use peerlane_bsp::error::ErrorKind;

const SYSTEM: &str = "acl_iface_system.qsys";

#[test]
fn the_drivers_table_is_the_reference_bsps() {
    let work = extended_with("");
    let written = table(&[Board::read(&work.out).unwrap()]).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../driver/src/boards_table.rs");
    assert_eq!(
        written,
        fs::read_to_string(committed).unwrap(),
        "`cargo xtask regen` writes it"
    );
}

#[test]
fn ids_and_clock_are_the_hard_ips() {
    let work = extended_with("");
    let system = work.output(SYSTEM);
    common::edit(&system, "value=\"43776\"", "value=\"0xe001\"");
    common::edit(&system, "value=\"x8\"", "value=\"x4\"");
    let board = Board::read(&work.out).unwrap();
    assert_eq!((board.vendor, board.device), (0x1172, 0xe001));
    // Half the lanes, half the clock.
    assert_eq!(board.clock, 125_000_000);
    common::edit(&system, "value=\"x4\"", "value=\"x1\"");
    assert_eq!(Board::read(&work.out).unwrap().clock, 125_000_000);
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
        let work = extended_with("");
        common::edit(&work.output(SYSTEM), from, to);
        let error = Board::read(&work.out).unwrap_err();
        expect(&error, ErrorKind::Unsupported, &[word, "Platform Designer"]);
    }
}

#[test]
fn a_bsp_that_was_not_extended_or_is_damaged_is_refused() {
    let error = Board::read(&common::reference()).unwrap_err();
    expect(&error, ErrorKind::NotABsp, &["peerlane extend"]);
    let work = extended_with("");
    common::edit(
        &work.output("iface/peerlane/build.json"),
        "\"att\"",
        "\"atx\"",
    );
    let error = Board::read(&work.out).unwrap_err();
    expect(&error, ErrorKind::Inconsistent, &["att"]);
}

/// The window is optional: a vendor may leave it unconnected, and then the driver has none.
#[test]
fn a_bsp_without_a_window_is_a_board_without_one() {
    let board = Board::read(&extended_with("").out).unwrap();
    // The reference BSP's system has it there, and the extension does not change that.
    assert_eq!(board.slaves.window, Some(0x1_0000));
    let work = common::Work::new();
    let system = work.hardware(&work.bsp).join(SYSTEM);
    let text = fs::read_to_string(&system).unwrap();
    let connections = text.split_inclusive("</connection>");
    let without: String = connections
        .filter(|one| !one.contains("end=\"dma_engine.s_nondma\""))
        .collect();
    assert!(without.len() < text.len(), "there was none to take out");
    fs::write(&system, without).unwrap();
    work.extend("").unwrap();
    let board = Board::read(&work.out).unwrap();
    assert_eq!(board.slaves.window, None);
    let table = table(&[board]).unwrap();
    assert!(table.contains("window: None,"), "{table}");
}

/// The memory's size is that of `board_spec.xml`, not the block's address space.
#[test]
fn memory_is_what_the_board_has() {
    let work = extended_with("");
    assert_eq!(Board::read(&work.out).unwrap().memory, 1 << 32);
    let specification = work.output("board_spec.xml");
    common::edit(
        &specification,
        "size=\"0x100000000\"",
        "size=\"0xc0000000\"",
    );
    let board = Board::read(&work.out).unwrap();
    assert_eq!(board.memory, 3 << 30);
    let table = table(&[board]).unwrap();
    assert!(table.contains("memory: 0xc0000000,"), "{table}");
    common::edit(
        &specification,
        "address=\"0x00000000\"",
        "address=\"0x40000000\"",
    );
    let error = Board::read(&work.out).unwrap_err();
    expect(&error, ErrorKind::Unsupported, &["address 0", "board_spec"]);
}

#[test]
fn a_slave_that_was_moved_is_refused() {
    let work = extended_with("");
    let board = Board::read(&work.out).unwrap();
    let system = work.output(SYSTEM);
    let text = fs::read_to_string(&system).unwrap();
    let connection = text.find("end=\"dma_engine.att\"").unwrap();
    let value = text[connection..].find("baseAddress").unwrap() + connection;
    let end = text[value..].find("/>").unwrap() + value;
    let moved = format!("baseAddress\" value=\"{:#x}\" ", board.slaves.att + 0x8000);
    fs::write(&system, [&text[..value], &moved, &text[end..]].concat()).unwrap();
    let error = Board::read(&work.out).unwrap_err();
    let at = format!("\"att\": {:x}", board.slaves.att);
    expect(
        &error,
        ErrorKind::Inconsistent,
        &[&at, "built for", "extend the vendor's BSP again"],
    );
}

/// The driver's table says which board makes its packets itself, and at which link.
#[test]
fn a_streaming_port_is_said_in_the_table() {
    for (config, comment) in [
        ("", None),
        (
            "[port]\nkind = \"tlp\"\n",
            Some("// A TLP port: PCIe Gen2 x8, 128 bits."),
        ),
        (
            "[port]\nkind = \"tlp\"\ngen = 3\n",
            Some("// A TLP port: PCIe Gen3 x8, 256 bits."),
        ),
    ] {
        let board = Board::read(&extended_with(config).out).unwrap();
        let table = table(&[board]).unwrap();
        let mut lines = table.lines().map(str::trim);
        let found = lines.find(|line| line.contains("TLP port"));
        assert_eq!(found, comment, "{table}");
    }
}

/// The same block at other places is another build, and its driver's table says which.
#[test]
fn each_layout_has_its_build_id() {
    let mut ids = Vec::new();
    let mut boards = Vec::new();
    for config in [
        "",
        "[bar]\natt_base = 0x30000",
        "[bar]\nchan_base = 0x40000",
    ] {
        let work = extended_with(config);
        let board = Board::read(&work.out).unwrap();
        let verilog = fs::read_to_string(work.output("iface/peerlane/peerlane_dma.v")).unwrap();
        assert!(verilog.contains(&format!("BUILD_ID {:#010x}", board.build_id)));
        let table = table(std::slice::from_ref(&board)).unwrap();
        assert!(table.contains(&format!("build_id: {:#010x},", board.build_id)));
        ids.push(board.build_id);
        boards.push(board.slaves);
    }
    assert!(boards[0] != boards[1] && boards[0] != boards[2] && boards[1] != boards[2]);
    assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
    // If it is asked to be where it is by default, it is the same build.
    let places = &boards[0];
    let work = extended_with(&format!(
        "[bar]\nchan_base = {:#x}\natt_base = {:#x}",
        places.chan, places.att
    ));
    assert_eq!(Board::read(&work.out).unwrap().build_id, ids[0]);
}

#[test]
fn boards_that_look_alike_are_refused() {
    let board = Board::read(&extended_with("").out).unwrap();
    let mut other = board.clone();
    other.name = "other".into();
    let words = [
        "peerlane_ref",
        "1172:ab00",
        "with the subsystem any:504c",
        "identity.subsystem_device",
    ];
    let error = table(&[board.clone(), other.clone()]).unwrap_err();
    expect(&error, ErrorKind::Unsupported, &words);
    // A board with an unknown subsystem would match the other's ID, too.
    let mut unknown = other.clone();
    unknown.subsystem = (None, None);
    for pair in [
        [board.clone(), unknown.clone()],
        [unknown.clone(), board.clone()],
    ] {
        let error = table(&pair).unwrap_err();
        expect(&error, ErrorKind::Unsupported, &["1172:ab00"]);
    }
    // A subsystem's vendor is enough if both are known.
    let (mut mine, mut theirs) = (board.clone(), other.clone());
    mine.subsystem.0 = Some(0x1172);
    assert!(table(&[mine.clone(), other.clone()]).is_err());
    theirs.subsystem.0 = Some(0x198a);
    let both = table(&[mine, theirs]).unwrap();
    assert!(both.contains("(0x1172, 0xab00, 0x1172, 0x504c)"), "{both}");
    assert!(both.contains("(0x1172, 0xab00, 0x198a, 0x504c)"), "{both}");
    other.device = 0xab01;
    let both = table(&[board, other]).unwrap();
    assert!(
        both.contains("(0x1172, 0xab00, u32::MAX, 0x504c)"),
        "{both}"
    );
    assert!(
        both.contains("(0x1172, 0xab01, u32::MAX, 0x504c)"),
        "{both}"
    );
}

/// A model of the kernel's part, as far as the table uses it (`rust/kernel/pci/id.rs` and
/// `include/linux/mod_devicetable.h` of Linux), and of the kernel's search for a row: `pci_match_one_device` of
/// `drivers/pci/pci.h`.
const KERNEL: &str = r#"
#![allow(dead_code)]
extern crate self as kernel;
pub mod bindings {
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct pci_device_id {
        pub vendor: u32, pub device: u32, pub subvendor: u32, pub subdevice: u32,
        pub class: u32, pub class_mask: u32, pub driver_data: usize, pub override_only: u32,
    }
}
pub mod pci {
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub struct DeviceId(pub crate::bindings::pci_device_id);
}
#[macro_export]
macro_rules! pci_device_table {
    ($name:ident, $info:ty, $rows:expr) => { static $name: &[(kernel::pci::DeviceId, $info)] = &$rows; };
}
pub(crate) mod boards {
    pub(crate) const fn id(vendor: u32, device: u32, subvendor: u32, subdevice: u32) -> kernel::pci::DeviceId {
        kernel::pci::DeviceId(kernel::bindings::pci_device_id {
            vendor, device, subvendor, subdevice, class: 0, class_mask: 0, driver_data: 0, override_only: 0,
        })
    }
    pub(crate) struct Range { pub(crate) offset: u64, pub(crate) bytes: u64 }
    pub(crate) struct Line { pub(crate) cra: u64, pub(crate) block: u32, pub(crate) kernels: Option<u32> }
    pub(crate) struct OpenCl {
        pub(crate) kernels: Option<Range>, pub(crate) clock: Option<Range>, pub(crate) version: Option<Range>,
        pub(crate) temperature: Option<Range>, pub(crate) status: Option<Range>,
    }
    pub(crate) struct Place {
        pub(crate) name: &'static core::ffi::CStr, pub(crate) build_id: u32, pub(crate) bar: u32,
        pub(crate) csr: usize, pub(crate) chan: usize, pub(crate) att: usize, pub(crate) msix: Option<usize>,
        pub(crate) window: Option<usize>, pub(crate) memory: u64, pub(crate) clock: u64, pub(crate) line: Option<Line>,
        pub(crate) opencl: OpenCl,
    }
}
mod boards_table;
boards_table::board_table!(IDS);
fn main() {
    let ids: Vec<u32> = std::env::args().skip(1).map(|id| u32::from_str_radix(&id, 16).unwrap()).collect();
    let any = |id: u32, is: u32| id == u32::MAX || id == is;
    let row = IDS.iter().find(|(kernel::pci::DeviceId(id), _)| {
        any(id.vendor, ids[0]) && any(id.device, ids[1]) && any(id.subvendor, ids[2]) && any(id.subdevice, ids[3])
    });
    println!("{}", row.map_or("none", |(_, place)| place.name.to_str().unwrap()));
}
"#;

/// Boards of one vendor and device have rows of their own, by their subsystems, in any order.
#[test]
fn subsystems_tell_boards_apart() {
    let read = |config: &str| Board::read(&extended_with(config).out).unwrap();
    let one = read("[identity]\nboard_suffix = \"_one\"");
    let two =
        read("att_entries = 8192\n[identity]\nsubsystem_device = 0x504d\nboard_suffix = \"_two\"");
    let mut three = one.clone();
    three.name = "three".into();
    three.device = 0xab01;
    // The reference BSP's hard IP sets no vendor of the subsystem.
    assert_eq!(one.subsystem, (None, Some(0x504c)));
    assert_eq!(two.subsystem, (None, Some(0x504d)));
    assert_ne!(one.build_id, two.build_id);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("main.rs"), KERNEL).unwrap();
    for boards in [[&one, &two, &three], [&three, &two, &one]] {
        let text = table(&boards.map(Board::clone)).unwrap();
        fs::write(dir.path().join("boards_table.rs"), text).unwrap();
        let built = std::process::Command::new("rustc")
            .args(["--edition", "2021", "-o", "match", "main.rs"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        for (ids, name) in [
            (["1172", "ab00", "1172", "504c"], one.name.as_str()),
            (["1172", "ab00", "1172", "504d"], two.name.as_str()),
            // The vendor's board.
            (["1172", "ab00", "1172", "0004"], "none"),
            (["1172", "ab01", "1172", "504c"], "three"),
            (["1172", "ab01", "1172", "0004"], "none"),
            (["1172", "ab02", "1172", "504c"], "none"),
        ] {
            let run = std::process::Command::new(dir.path().join("match"))
                .args(ids)
                .output();
            let found = String::from_utf8(run.unwrap().stdout).unwrap();
            assert_eq!(found.trim(), name, "{ids:?}");
        }
    }
}

#[test]
fn the_vendors_bsp_is_a_board() {
    let Some(bsp) = vendor_bsp() else { return };
    let work = common::Work::of(&bsp);
    work.extend("").unwrap();
    let board = Board::read(&work.out).unwrap();
    // As in its own system and its documentation: Gen2 x8.
    assert_eq!((board.vendor, board.device), (0x1172, 0xab00));
    assert_eq!(board.clock, 250_000_000);
    let slaves = board.slaves;
    assert!(slaves.csr < slaves.chan && slaves.chan < slaves.att);
    // The place where its system file connects `s_nondma`.
    assert_eq!((slaves.bar, slaves.window), (0, Some(0x1_0000)));
    // Two banks of 2 GiB.
    assert_eq!(board.memory, 4 << 30);
}

/// The OpenCL side and the hard IP's registers, as the reference BSP's `acl_iface_system.qsys` has them.
#[test]
fn the_vendors_part_is_where_the_system_says() {
    let board = Board::read(&extended_with("").out).unwrap();
    let line = board.line.unwrap();
    assert_eq!((line.cra, line.block, line.kernels), (0x8000, 1, Some(0)));
    let kernels = board.opencl.kernels.unwrap();
    assert_eq!((kernels.offset, kernels.bytes), (0x4000, 0x4000));
    assert_eq!(board.opencl.clock.unwrap().offset, 0x2000);
    let table = table(&[board]).unwrap();
    assert!(
        table.contains(
            "line: Some($crate::boards::Line { cra: 0x8000, block: 1, kernels: Some(0) }),"
        ),
        "{table}"
    );
    // A block with a table of vectors has the kernels' interrupt, too.
    let board = Board::read(&extended_with("irq = \"msix\"").out).unwrap();
    assert_eq!(board.line, None);
}

/// Registers of the board other than the kernels', at the places in `hardware/peerlane_net/board.qsys`.
#[test]
fn words_of_the_board_are_where_the_system_says() {
    let work = common::Work::of(&common::reference_net());
    work.extend("").unwrap();
    let opencl = Board::read(&work.out).unwrap().opencl;
    let words = [opencl.version, opencl.status, opencl.temperature];
    assert_eq!(
        words.map(|word| word.map(|word| (word.offset, word.bytes))),
        [0xcfc0, 0xcfe0, 0xcff0].map(|at| Some((at, 4)))
    );
}

/// The hard IP's line makes no message before software sets its bit in the hard IP's registers.
#[test]
fn a_line_that_nobody_can_enable_is_refused() {
    let work = common::Work::new();
    let system = work.hardware(&work.bsp).join(SYSTEM);
    let text = fs::read_to_string(&system).unwrap();
    let connections = text.split_inclusive("</connection>");
    let without: String = connections
        .filter(|one| !one.contains("end=\"host_link.Cra\""))
        .collect();
    assert!(without.len() < text.len(), "there was none to take out");
    fs::write(&system, without).unwrap();
    let error = work.extend("").unwrap_err();
    expect(
        &error,
        ErrorKind::Unsupported,
        &["host_link.Cra is not in BAR 2", "RxmIrq", "msix"],
    );
    work.extend("irq = \"msix\"").unwrap();
}
