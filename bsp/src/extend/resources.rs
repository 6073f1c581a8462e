//! `board_spec.xml`: what the block adds to the used resources (the one place of these figures), and
//! how much memory the board has.
//!
//! **The figures are estimates until a Quartus compile has been measured.** Block memory is counted
//! from the sizes of the memories; registers and ALMs are a rule of thumb from the widths that the
//! block registers. `aoc` takes the figures off what kernels may use, so too much is harmless and too
//! little can make a kernel fail to fit. The old DMA's share stays counted for the same reason.

use crate::block;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::report::Change;
use crate::xml::{Document, Edits};

/// Stages in which a whole word of FPGA memory is registered (both directions, with alignment).
const MEM_STAGES: u32 = 10;
/// Stages in which a word of the PCIe port is registered.
const PORT_STAGES: u32 = 12;
/// Registers of addresses, counters, state and configuration.
const CONTROL_FFS: u32 = 5000;
/// ALMs a register, with its share of logic (alignment shifters are the largest part).
const ALMS_PER_FF: f64 = 0.9;
/// Memories as wide as a word of FPGA memory with its byte enables, at most 512 deep: the FIFOs
/// between the clocks and the read buffers.
const WIDE_FIFOS: u32 = 6;

/// Resources in the units of `board_spec.xml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Resources {
    /// Adaptive logic modules.
    pub alms: u64,
    /// Registers.
    pub ffs: u64,
    /// Memory blocks (M20K).
    pub rams: u64,
}

/// M20K blocks of a memory: 40 bits wide and 512 deep at the widest (Stratix V Device Handbook,
/// "Embedded Memory Blocks", M20K configurations).
fn m20k(width: u32, depth: u32) -> u64 {
    u64::from(width.div_ceil(40)) * u64::from(depth.div_ceil(512))
}

/// The estimate for a configuration.
pub fn estimate(config: &Config, port_bits: u32) -> Resources {
    let ffs = MEM_STAGES * block::MEM_BITS + PORT_STAGES * port_bits + CONTROL_FFS;
    let entry = 64 + 16;
    let rams = 2 * m20k(512, config.queue_depth)
        + m20k(entry, config.att_entries)
        + u64::from(WIDE_FIFOS) * m20k(block::MEM_BITS + block::MEM_BITS / 8, 512);
    Resources {
        alms: (f64::from(ffs) * ALMS_PER_FF) as u64,
        ffs: ffs.into(),
        rams,
    }
}

/// Adds the estimate to the used resources.
///
/// # Errors
/// [`ErrorKind::BadXml`] if the file has no `used_resources`.
pub fn raise(document: &Document, add: Resources) -> Result<(String, Vec<Change>)> {
    let mut edits = Edits::default();
    let mut changes = Vec::new();
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
            continue;
        };
        let after = before + more;
        edits.replace(attribute.span.clone(), after.to_string());
        changes.push(Change {
            file: document.path.clone(),
            what: format!("used {name} {before} → {after}"),
            why: "the larger block; an estimate until a compile is measured".into(),
        });
    }
    Ok((edits.apply(&document.source), changes))
}

/// Bytes of the board's memory, log2, rounded up: the end of the last interface of a `global_mem`.
///
/// # Errors
/// [`ErrorKind::BadXml`] if the file describes no memory that the block can have.
pub fn memory_log2(document: &Document) -> Result<u32> {
    let number = |text: &str| {
        let text = text.trim();
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    };
    let end = document
        .root
        .children("global_mem")
        .flat_map(|memory| memory.children("interface"))
        .filter_map(|interface| {
            let start = number(interface.attribute("address")?)?;
            start.checked_add(number(interface.attribute("size")?)?)
        })
        .max()
        .unwrap_or(0);
    let log2 = end.checked_next_power_of_two().map_or(64, u64::ilog2);
    if end > 0 && (20..=40).contains(&log2) {
        return Ok(log2);
    }
    Err(Error::new(
        ErrorKind::BadXml,
        Place::file(&document.path),
        format!("the <global_mem> interfaces end at {end:#x}; the block serves 1 MiB to 1 TiB"),
        "Each <interface> of <global_mem> needs an address and a size in bytes.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
    fn memory_blocks_are_counted_by_their_widest_shape() {
        assert_eq!(m20k(512, 1024), 13 * 2);
        assert_eq!(m20k(40, 512), 1);
        assert_eq!(m20k(41, 513), 4);
    }

    #[test]
    fn figures_grow_with_the_configuration() {
        let small = Config {
            att_entries: 256,
            ..Config::default()
        };
        let large = Config {
            att_entries: 65536,
            queue_depth: 4096,
            ..Config::default()
        };
        assert!(estimate(&small, 128).rams < estimate(&large, 128).rams);
        assert!(estimate(&small, 128).ffs < estimate(&small, 256).ffs);
    }

    #[test]
    fn only_the_numbers_change() {
        let text = "<board>\r\n<device><used_resources><alms num=\"10\"/> <!-- c -->\r\n\
                    <ffs num='20'/><dsps num=\"0\"/></used_resources></device></board>";
        let d = Document::parse(Path::new("b.xml"), text.into()).unwrap();
        let (out, changes) = raise(
            &d,
            Resources {
                alms: 1,
                ffs: 2,
                rams: 3,
            },
        )
        .unwrap();
        assert_eq!(
            out,
            text.replace("\"10\"", "\"11\"").replace("'20'", "'22'")
        );
        assert_eq!(changes.len(), 2);
    }
}
