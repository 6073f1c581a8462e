//! Resources of the block, counted from its Verilog: registers, and memories by the blocks that hold them.

use std::collections::BTreeMap;
use std::path::Path;

use peerlane_bsp_generate::generator::VerilogModule;
use peerlane_bsp_generate::memory_blocks::Blocks;
use peerlane_bsp_generate::verilog;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};

/// Counts of a module, with or without the modules inside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Area {
    /// Registers; the output register of a memory block is not one.
    pub registers: u64,
    /// Memory blocks of the family, M20K or M10K.
    pub blocks: u64,
    /// Logic array blocks that are used as memory (MLAB).
    pub mlab: u64,
}

impl Area {
    fn plus(self, other: Self, times: u64) -> Self {
        Self {
            registers: self.registers + times * other.registers,
            blocks: self.blocks + times * other.blocks,
            mlab: self.mlab + times * other.mlab,
        }
    }
}

/// Counts a module with everything in it, for a family with such memory blocks.
///
/// # Errors
/// [`ErrorKind::Inconsistent`] if a module is missing or cannot be read.
pub fn count(modules: &[VerilogModule], top: &str, blocks: Blocks) -> Result<Area> {
    let by_name: BTreeMap<&str, &VerilogModule> =
        modules.iter().map(|m| (m.name.as_str(), m)).collect();
    below(&by_name, top, blocks, &mut BTreeMap::new())
}

fn below(
    modules: &BTreeMap<&str, &VerilogModule>,
    name: &str,
    blocks: Blocks,
    known: &mut BTreeMap<String, Area>,
) -> Result<Area> {
    if let Some(area) = known.get(name) {
        return Ok(*area);
    }
    let module = modules.get(name).ok_or_else(|| {
        Error::new(
            ErrorKind::Inconsistent,
            Place::file(format!("{name}.v")),
            "the generator did not make this module",
            "This is a defect of Peerlane; report it with the configuration.",
        )
    })?;
    let mut area = own(&module.text, blocks);
    let parsed = verilog::module(Path::new(&module.file_name()), &module.text, name)?;
    for (kind, times) in parsed.instances {
        area = area.plus(below(modules, &kind, blocks, known)?, times);
    }
    known.insert(name.to_string(), area);
    Ok(area)
}

/// Counts the declarations of a module itself. The generator writes one declaration in a line, and names registers
/// `…_q`.
fn own(text: &str, blocks: Blocks) -> Area {
    let mut area = Area::default();
    for line in text.lines() {
        let Some((attributes, declared)) = line.split_once("reg ") else {
            continue;
        };
        let attributes = attributes.trim();
        let Some(declared) = declared.trim().strip_suffix(';') else {
            continue;
        };
        // Otherwise it is the end of a name, in a statement.
        if !attributes.is_empty() && !attributes.ends_with("*)") {
            continue;
        }
        let (width, rest) = match declared.strip_prefix('[').and_then(|d| d.split_once(']')) {
            Some((range, rest)) => (range_width(range), rest.trim()),
            None => (1, declared),
        };
        match rest.split_once('[') {
            Some((_, range)) => {
                let depth = range_width(range.trim_end_matches(']'));
                if attributes.contains("MLAB") {
                    area.mlab += fewest(blocks.mlab_shapes(), width, depth);
                } else {
                    area.blocks += fewest(blocks.shapes(), width, depth);
                }
            }
            None if rest.ends_with("_q") => area.registers += width,
            None => {}
        }
    }
    area
}

/// Returns the number of elements of a range with numbers for bounds, in either order.
fn range_width(range: &str) -> u64 {
    let bound = |text: &str| text.trim().parse::<u64>().ok();
    let Some((one, other)) = range.split_once(':') else {
        return 1;
    };
    match (bound(one), bound(other)) {
        (Some(a), Some(b)) => a.abs_diff(b) + 1,
        _ => 1,
    }
}

/// Returns the number of blocks for a memory, in the best of their shapes.
fn fewest(shapes: &[(u64, u64)], width: u64, depth: u64) -> u64 {
    let blocks = shapes
        .iter()
        .map(|(wide, deep)| width.div_ceil(*wide) * depth.div_ceil(*deep));
    blocks.min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, text: &str) -> VerilogModule {
        VerilogModule {
            name: name.into(),
            text: text.into(),
        }
    }

    #[test]
    fn memories_take_the_shape_with_the_fewest_blocks() {
        let of = |blocks: Blocks| {
            move |width, depth| {
                (
                    fewest(blocks.shapes(), width, depth),
                    fewest(blocks.mlab_shapes(), width, depth),
                )
            }
        };
        let (m20k, m10k) = (of(Blocks::M20k), of(Blocks::M10k));
        assert_eq!(m20k(512, 1024).0, 26);
        assert_eq!(m20k(40, 512).0, 1);
        assert_eq!(m20k(41, 513).0, 3);
        assert_eq!(m20k(65, 4096).0, 13);
        // Half the bits in a block.
        assert_eq!(m10k(512, 1024).0, 52);
        assert_eq!(m10k(40, 512).0, 2);
        assert_eq!(m10k(40, 256).0, 1);
        assert_eq!((m20k(20, 32).1, m20k(21, 33).1), (1, 3));
        assert_eq!((m10k(20, 32).1, m10k(21, 33).1, m10k(10, 64).1), (1, 4, 2));
    }

    #[test]
    fn everything_inside_is_counted_as_often_as_it_is_there() {
        let leaf = "module leaf(input wire c);\n  reg [5:0] a_q;\n  reg b_q;\n  reg [7:0] next;\n  \
                    always @(posedge c) a_reg <= b_q;\n  (* ramstyle = \"MLAB, no_rw_check\" *) reg [30:0] cells [0:31];\nendmodule\n";
        let middle = "module middle(input wire c);\n  leaf one (\n    .c(c));\n  leaf two (\n    .c(c));\n  \
                      (* ramstyle = \"no_rw_check\" *) reg [63:0] cells [0:511];\nendmodule\n";
        let top = "module top(input wire c);\n  reg [3:0] d_q;\n  leaf one (\n    .c(c));\n  middle two \
                   (\n    .c(c));\nendmodule\n";
        let modules = [
            module("leaf", leaf),
            module("middle", middle),
            module("top", top),
        ];
        let want = Area {
            registers: 3 * 7 + 4,
            blocks: 2,
            mlab: 3 * 2,
        };
        assert_eq!(count(&modules, "top", Blocks::M20k).unwrap(), want);
        let smaller = count(&modules, "top", Blocks::M10k).unwrap();
        assert_eq!(smaller, Area { blocks: 4, ..want });
        let error = count(&modules[1..], "top", Blocks::M20k).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Inconsistent);
        assert!(error.to_string().contains("leaf"), "{error}");
    }
}
