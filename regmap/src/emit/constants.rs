//! Rust constants of register blocks: offsets, positions, masks.

use super::text::{bits, rustdoc};
use crate::model::{Content, Map, Word, ones};

/// One constant.
pub(super) struct Const {
    pub doc: Vec<String>,
    pub name: String,
    pub kind: &'static str,
    pub value: String,
}

/// A module of constants.
pub(super) struct Module {
    pub doc: Vec<String>,
    pub name: String,
    pub consts: Vec<Const>,
}

/// `0x0123_4567`.
pub(super) fn hex32(value: u32) -> String {
    format!("0x{:04x}_{:04x}", value >> 16, value & 0xffff)
}

fn constant(doc: &str, name: String, kind: &'static str, value: String) -> Const {
    Const {
        doc: rustdoc(doc, 88),
        name,
        kind,
        value,
    }
}

/// Offsets of a block's words, with position, width and mask of every field.
pub(super) fn block(map: &Map, block: &crate::model::Block) -> Module {
    let mut consts = vec![constant(
        "Size of one instance in bytes.",
        "SIZE".into(),
        "usize",
        format!("{:#x}", block.size),
    )];
    if block.count > 1 {
        let doc = "Instances in the largest build, one after the other.";
        let count = block.count.to_string();
        consts.push(constant(doc, "COUNT".into(), "usize", count));
    }
    if let Content::Table { record, entries } = &block.content {
        let doc = format!("Entries of the record `{record}` in the largest build.");
        let entries = entries.to_string();
        consts.push(constant(&doc, "ENTRIES".into(), "usize", entries));
    }
    for register in block.registers() {
        for word in register.words() {
            word_consts(&mut consts, register, &word);
        }
        let name = &register.name;
        if register.count > 1 {
            let doc = format!("Number of {name} registers.");
            let count = register.count.to_string();
            consts.push(constant(&doc, format!("{name}_COUNT"), "usize", count));
            let doc = format!("Bytes from one {name} to the next.");
            let stride = register.stride.to_string();
            consts.push(constant(&doc, format!("{name}_STRIDE"), "usize", stride));
        }
        let reset = map.reset_value(register);
        if reset != 0 && register.is_stored() {
            let (kind, text) = sized(register.width, reset);
            let doc = format!("{name} after reset.");
            consts.push(constant(&doc, format!("{name}_RESET"), kind, text));
        }
    }
    Module {
        doc: rustdoc(&block.doc, 92),
        name: block.name.clone(),
        consts,
    }
}

fn word_consts(consts: &mut Vec<Const>, register: &crate::model::Register, word: &Word<'_>) {
    let name = &word.name;
    let half = match (register.width, word.offset - register.offset) {
        (32, _) => "",
        (_, 0) => " (low word)",
        (_, _) => " (high word)",
    };
    let doc = format!("Byte offset of {}{half}. {}", register.name, register.doc);
    let offset = format!("{:#x}", word.offset);
    consts.push(constant(&doc, name.clone(), "usize", offset));
    for piece in &word.pieces {
        let field = format!("{name}_{}", piece.field.name.to_ascii_uppercase());
        let range = bits(piece.msb(), piece.lsb);
        let doc = format!(
            "Mask of {name}.{} (bits {range}, {}). {}",
            piece.field.name,
            piece.field.access.name(),
            piece.field.doc
        );
        let mask = hex32((ones(piece.width) << piece.lsb) as u32);
        consts.push(constant(&doc, format!("{field}_MASK"), "u32", mask));
        position(consts, &field, piece.lsb, piece.width);
    }
}

fn position(consts: &mut Vec<Const>, field: &str, lsb: u32, width: u32) {
    let doc = "Position of its lowest bit.";
    consts.push(constant(
        doc,
        format!("{field}_LSB"),
        "usize",
        lsb.to_string(),
    ));
    let doc = "Number of its bits.";
    consts.push(constant(
        doc,
        format!("{field}_WIDTH"),
        "usize",
        width.to_string(),
    ));
}

/// A value as a constant of 32 or 64 bits.
fn sized(width: u32, value: u64) -> (&'static str, String) {
    if width == 64 {
        let (high, low) = ((value >> 32) as u32, value as u32);
        ("u64", format!("{}_{}", hex32(high), &hex32(low)[2..]))
    } else {
        ("u32", hex32(value as u32))
    }
}
