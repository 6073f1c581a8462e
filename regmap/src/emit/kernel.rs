//! Kernel source: the registers in the syntax of the `register!` macro of Linux 7.3
//! (`rust/kernel/io/register.rs`).

use askama::Template;

use super::constants::hex32;
use super::text::{bits, rustdoc};
use super::{OutputFile, render};
use crate::model::{Map, Register, Word};

struct Block {
    doc: Vec<String>,
    name: String,
    size: String,
    registers: Vec<KernelRegister>,
}

struct KernelRegister {
    doc: Vec<String>,
    name: String,
    /// `[64, stride = 8]`, or nothing.
    array: String,
    offset: String,
    fields: Vec<KernelField>,
}

struct KernelField {
    doc: Vec<String>,
    range: String,
    name: String,
    /// ` => bool`, or nothing.
    conversion: &'static str,
}

#[derive(Template)]
#[template(path = "kernel.rs.txt", escape = "none")]
struct Kernel {
    name: String,
    version: u32,
    map_id: String,
    blocks: Vec<Block>,
}

/// Kernel source: `regs_kernel.rs` with a module for each block. Offsets count from the block's
/// base, so each block is an IO region of its own. A 64-bit register is two registers, `_LO` and
/// `_HI`: the hardware takes 32-bit accesses only.
pub fn kernel(map: &Map) -> Vec<OutputFile> {
    let template = Kernel {
        name: map.name.clone(),
        version: map.version,
        map_id: hex32(map.map_id()),
        blocks: (map.blocks.iter())
            .map(|block| Block {
                doc: rustdoc(&block.doc, 96),
                name: block.name.clone(),
                size: format!("{:#x}", block.size),
                registers: (block.as_registers(map).iter())
                    .flat_map(|r| {
                        r.words()
                            .into_iter()
                            .map(|w| register(r, &w))
                            .collect::<Vec<_>>()
                    })
                    .collect(),
            })
            .collect(),
    };
    vec![OutputFile::new("regs_kernel.rs", render(&template))]
}

fn register(register: &Register, word: &Word<'_>) -> KernelRegister {
    KernelRegister {
        doc: rustdoc(&register.doc, 88),
        name: word.name.clone(),
        array: match register.count {
            1 => String::new(),
            count => format!("[{count}, stride = {}]", register.stride),
        },
        offset: format!("{:#05x}", word.offset),
        fields: (word.pieces.iter().rev())
            .map(|piece| {
                let part = match piece.width == piece.field.width {
                    true => String::new(),
                    false => {
                        let msb = piece.from + piece.width - 1;
                        format!("Bits {} of the field. ", bits(msb, piece.from))
                    }
                };
                KernelField {
                    doc: rustdoc(&format!("{part}{}", piece.field.doc), 84),
                    // The macro takes pairs only.
                    range: format!("{}:{}", piece.msb(), piece.lsb),
                    name: piece.field.name.clone(),
                    conversion: if piece.width == 1 { " => bool" } else { "" },
                }
            })
            .collect(),
    }
}
