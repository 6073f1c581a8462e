//! `board_spec.xml`: the used resources with the block's (the only place of these figures), and the size of the board's
//! memory.
//!
//! **The figures are estimates until a Quartus compile has been measured.** Registers and memories are counted from the
//! block's Verilog; logic is a rule of thumb. The interconnect is not counted: the resources of the old DMA, its
//! bridges and their interconnect stay counted instead. `aoc` subtracts the figures from the resources for kernels, so
//! too much is harmless and too little can make a kernel fail to fit.

use std::ops::Range;

use crate::area;
use crate::step::Change;
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::generator::VerilogModule;
use peerlane_bsp_generate::memory_blocks::Blocks;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::xml::{Document, Edits, Element};

/// ALMs for each register, with the logic before it. Yosys' synthesis for Cyclone V, whose ALM is of the same family,
/// gave 1.34 look-up tables for each register of the first version of the block, and an ALM holds one or two of them.
const ALMS_PER_REGISTER: f64 = 1.4;
/// ALMs of a logic array block, also of one that is used as memory (Stratix V and Cyclone V Device Handbooks, volume 1,
/// "Logic Array Blocks and Adaptive Logic Modules").
pub const ALMS_PER_LAB: u64 = 10;

/// Resources in the units of `board_spec.xml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Resources {
    /// Adaptive logic modules.
    pub alms: u64,
    /// Registers.
    pub ffs: u64,
    /// Memory blocks.
    pub rams: u64,
    /// Kind of the memory blocks.
    pub memory: Blocks,
}

/// Estimates the resources of a block on a family with such memory blocks.
///
/// # Errors
/// [`ErrorKind::Inconsistent`] if its Verilog cannot be read.
pub fn estimate(modules: &[VerilogModule], top: &str, memory: Blocks) -> Result<Resources> {
    let area = area::count(modules, top, memory)?;
    let logic = area.registers as f64 * ALMS_PER_REGISTER;
    Ok(Resources {
        alms: logic as u64 + area.mlab * ALMS_PER_LAB,
        ffs: area.registers,
        rams: area.blocks,
        memory,
    })
}

/// Adds the estimate to the used resources.
///
/// # Errors
/// [`ErrorKind::BadXml`] if the file has no `used_resources`, two devices, or a figure that is not a whole number.
pub fn raise(document: &Document, add: Resources, edits: &mut Edits) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    if let Some(second) = document.root.children("device").nth(1) {
        return Err(Error::new(
            ErrorKind::BadXml,
            document.place(second),
            "a second <device>: the device whose resources the block takes cannot be determined",
            "Keep only the board's own <device> in board_spec.xml.",
        ));
    }
    let used = document
        .root
        .children("device")
        .flat_map(|d| d.children("used_resources"))
        .next()
        .ok_or_else(|| {
            Error::new(
                ErrorKind::BadXml,
                Place::file(&document.path),
                "no <device> with <used_resources>",
                "Take board_spec.xml from the vendor's BSP package again.",
            )
        })?;
    for (name, more) in [("alms", add.alms), ("ffs", add.ffs), ("rams", add.rams)] {
        let Some(attribute) = used.children(name).find_map(|e| e.attribute_at("num")) else {
            continue;
        };
        let Ok(before) = attribute.value.trim().parse::<u64>() else {
            return Err(Error::new(
                ErrorKind::BadXml,
                Place::line(&document.path, document.line_of(attribute.span.start)),
                format!("{name} num=\"{}\" is not a whole number", attribute.value),
                "Write the number that the vendor's design uses as a whole number: the block's share is added to it.",
            ));
        };
        let Some(after) = before.checked_add(more) else {
            return Err(Error::new(
                ErrorKind::BadXml,
                Place::line(&document.path, document.line_of(attribute.span.start)),
                format!("{name} num=\"{before}\": no device has so many"),
                "Take board_spec.xml from the vendor's BSP package again.",
            ));
        };
        edits.replace(attribute.span.clone(), after.to_string());
        changes.push(Change {
            file: document.path.clone(),
            what: format!("used {name} {before} → {after}"),
            why: "the larger block; an estimate until a compile is measured".into(),
        });
    }
    Ok(changes)
}

/// Returns a note on memory ports that are not as wide as the block's. `old` is the old DMA's width, its `DATA_WIDTH`,
/// if given.
pub fn narrow_memory(document: &Document, old: Option<u64>) -> Option<String> {
    let interfaces = document
        .root
        .children("global_mem")
        .flat_map(|memory| memory.children("interface"));
    let other = |interface: &Element| {
        let width = interface.attribute("width")?.trim().parse::<u32>().ok()?;
        (width != block::MEM_BITS).then(|| {
            let port = interface.attribute("port").unwrap_or("a port");
            format!("{port} {width} bits")
        })
    };
    let others: Vec<_> = interfaces.filter_map(other).collect();
    (!others.is_empty()).then(|| {
        format!(
            "The block's ports to memory have {} bits{}; of the board's {}. Platform Designer adapts the width, and a \
             word of the block takes as many beats as necessary. Check in the generated interconnect that the adapter \
             is after memory's arbiter (after its cmd_mux): in front of the arbiter, a read could pass a part of a \
             chained write. Not verified without Quartus.",
            block::MEM_BITS,
            match old {
                Some(old) if old == u64::from(block::MEM_BITS) => ", as the old DMA's had".into(),
                Some(old) => format!(", and the old DMA's had {old}: the block takes more of the device"),
                None => String::new(),
            },
            others.join(", ")
        )
    })
}

/// Returns the interfaces of a `global_mem`, by their FPGA addresses.
fn memories(document: &Document) -> Vec<Range<u64>> {
    let number = |text: &str| {
        let text = text.trim();
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    };
    let memories = document
        .root
        .children("global_mem")
        .flat_map(|memory| memory.children("interface"));
    let mut ranges: Vec<_> = memories
        .filter_map(|interface| {
            let start = number(interface.attribute("address")?)?;
            Some(start..start.checked_add(number(interface.attribute("size")?)?)?)
        })
        .collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Returns the bytes of the board's memory from address 0 up to the first gap. The driver gives them to programs.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if there is no memory at address 0.
pub fn memory_bytes(document: &Document) -> Result<u64> {
    let end = memories(document).into_iter().fold(0, |end, range| {
        if range.start <= end {
            range.end.max(end)
        } else {
            end
        }
    });
    if end > 0 {
        return Ok(end);
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        Place::file(&document.path),
        "no <interface> of <global_mem> begins at address 0",
        "Place a memory at address 0, in Platform Designer and in board_spec.xml: the driver allocates FPGA memory \
         from there.",
    ))
}

/// Returns the bytes of the board's memory, log2, rounded up: the end of the last interface of a `global_mem`.
///
/// # Errors
/// [`ErrorKind::BadXml`] if the file describes no memory that the block can have.
pub fn memory_log2(document: &Document) -> Result<u32> {
    let ends = memories(document).into_iter().map(|range| range.end);
    let end = ends.max().unwrap_or(0);
    let log2 = end.checked_next_power_of_two().map_or(64, u64::ilog2);
    if end > 0 && (20..=40).contains(&log2) {
        return Ok(log2);
    }
    Err(Error::new(
        ErrorKind::BadXml,
        Place::file(&document.path),
        format!("the <global_mem> interfaces end at {end:#x}; the block serves 1 MiB to 1 TiB"),
        "Give each <interface> of <global_mem> an address and a size in bytes.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use peerlane_bsp_generate::config::{Config, Irq};
    use peerlane_bsp_generate::generator::{Board, generate};

    fn specification(memory: &str) -> Document {
        let text = format!("<board>{memory}</board>");
        Document::parse(Path::new("board_spec.xml"), text).unwrap()
    }

    #[test]
    fn memory_ends_with_its_last_interface() {
        let two = "<global_mem><interface address=\"0x00000000\" size=\"0x80000000\"/>\
                   <interface address=\"0x80000000\" size=\"0x80000000\"/></global_mem>";
        assert_eq!(memory_log2(&specification(two)).unwrap(), 32);
        let odd = "<global_mem><interface address=\"0\" size=\"3221225472\"/></global_mem>";
        assert_eq!(memory_log2(&specification(odd)).unwrap(), 32);
        for none in [
            "",
            "<global_mem/>",
            "<global_mem><interface address=\"x\" size=\"0x80000000\"/></global_mem>",
            "<global_mem><interface address=\"0\" size=\"0x100000000000\"/></global_mem>",
        ] {
            let error = memory_log2(&specification(none)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadXml, "{none}");
        }
    }

    #[test]
    fn ports_of_another_width_are_named() {
        let of = |width: &str| {
            let text = format!(
                "<global_mem><interface port=\"m0\" width=\"512\"/><interface port=\"m1\" width=\"{width}\"/></global_mem>"
            );
            narrow_memory(&specification(&text), Some(256))
        };
        assert_eq!(of("512"), None);
        let note = of("256").unwrap();
        assert!(
            note.contains("512 bits, and the old DMA's had 256"),
            "{note}"
        );
        assert!(
            note.contains("m1 256 bits") && !note.contains("m0"),
            "{note}"
        );
    }

    #[test]
    fn what_is_given_out_ends_with_the_first_gap() {
        let of = |interfaces: &[(&str, &str)]| {
            let interface = |(address, size): &(&str, &str)| {
                format!("<interface address=\"{address}\" size=\"{size}\"/>")
            };
            let interfaces: String = interfaces.iter().map(interface).collect();
            memory_bytes(&specification(&format!(
                "<global_mem>{interfaces}</global_mem>"
            )))
        };
        let (gib, two) = ("0x40000000", "0x80000000");
        assert_eq!(of(&[("0", gib)]).unwrap(), 1 << 30);
        // In any order; not a power of two.
        assert_eq!(of(&[(two, gib), ("0x0", two)]).unwrap(), 3 << 30);
        assert_eq!(of(&[("0", gib), (two, two)]).unwrap(), 1 << 30);
        for none in [&[][..], &[(gib, gib)], &[("0", "0")]] {
            let error = of(none).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Unsupported, "{none:?}");
        }
    }

    #[test]
    fn figures_follow_the_configuration() {
        let with = |config: &Config, port_bits, memory| {
            let board = Board {
                slaves: peerlane_hdl::Slaves {
                    bar: 0,
                    csr: 0,
                    chan: 0x8_0000,
                    att: 0x10_0000,
                    msix: (config.irq == Irq::Msix).then_some(0x18_0000),
                    window: None,
                },
                port_bits,
                memory_log2: 32,
                bar_log2: None,
                clock_mhz: 250,
                shell: None,
            };
            let modules = generate(config, board).unwrap();
            estimate(&modules, block::top(config), memory).unwrap()
        };
        let of = |config: &Config, port_bits| with(config, port_bits, Blocks::M20k);
        let usual = of(&Config::default(), 128);
        let large = Config {
            att_entries: 65536,
            queue_depth: 4096,
            irq: Irq::Msix,
            ..Config::default()
        };
        let large = of(&large, 128);
        // The table alone: 65 bits of 65536 entries in 16 Kbit of each block.
        assert!(large.rams > usual.rams + 65 * 4 - 13, "{large:?} {usual:?}");
        let wide = of(&Config::default(), 256);
        assert!(wide.ffs > usual.ffs && wide.alms > usual.alms);
        // A queue of 1024 in each direction; 7 dwords of a descriptor are in use.
        assert!(usual.rams >= 2 * 7 * 2, "{usual:?}");
        // Yosys' synthesis of the default build for Cyclone V has 114 of them (`cargo xtask test budgets`): it puts
        // shallow memories into logic, which take whole blocks here.
        let small = with(&Config::default(), 128, Blocks::M10k);
        assert!((114..=114 * 4 / 3).contains(&small.rams), "{small:?}");
        assert!(
            small.rams > usual.rams && small.ffs == usual.ffs,
            "{small:?} {usual:?}"
        );
    }

    #[test]
    fn only_the_numbers_change() {
        let text = "<board>\r\n<device><used_resources><alms num=\"10\"/> <!-- c -->\r\n\
                    <ffs num='20'/><dsps num=\"0\"/></used_resources></device></board>";
        let d = Document::parse(Path::new("b.xml"), text.into()).unwrap();
        let mut edits = Edits::default();
        let add = Resources {
            alms: 1,
            ffs: 2,
            rams: 3,
            memory: Blocks::M20k,
        };
        let changes = raise(&d, add, &mut edits).unwrap();
        assert_eq!(
            edits.apply(Path::new("b.xml"), text).unwrap(),
            text.replace("\"10\"", "\"11\"").replace("'20'", "'22'")
        );
        assert_eq!(changes.len(), 2);
    }
}
