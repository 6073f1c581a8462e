//! The C header.

use askama::Template;

use super::constants::hex32;
use super::text::{bits, wrap};
use super::{OutputFile, render};
use crate::model::{Block, Content, Enumeration, Map, Record, Register, ones};

/// A comment and the item that it describes.
struct Item {
    doc: Vec<String>,
    text: String,
}

struct Section {
    doc: Vec<String>,
    items: Vec<Item>,
}

#[derive(Template)]
#[template(path = "header.h.txt", escape = "none")]
struct Header {
    name: String,
    prefix: String,
    version: u32,
    map_id: String,
    sections: Vec<Section>,
}

#[derive(Template)]
#[template(path = "excerpt.h.txt", escape = "none")]
struct Excerpt {
    prefix: String,
    map_id: String,
    sections: Vec<Section>,
}

/// Names of the types of fixed width.
#[derive(Clone, Copy)]
enum Types {
    /// As in `<stdint.h>`.
    Standard,
    /// As in `<linux/types.h>`.
    Linux,
}

impl Types {
    fn unsigned(self, width: u32) -> String {
        match self {
            Self::Standard => format!("uint{width}_t"),
            Self::Linux => format!("__u{width}"),
        }
    }

    fn number(self, width: u32, value: u64) -> String {
        match (width, self) {
            (64, Self::Standard) => format!("UINT64_C({value:#x})"),
            (64, Self::Linux) => format!("{value:#x}ULL"),
            _ => format!("{}u", hex32(value as u32).replace('_', "")),
        }
    }
}

/// Returns the C header, `NAME_regs.h`: macros for each block, and records as structures. It needs `<stdint.h>` only,
/// and is C99 and C++.
pub fn c(map: &Map) -> Vec<OutputFile> {
    let header = Header {
        name: map.name.clone(),
        version: map.version,
        map_id: Types::Standard.number(32, map.map_id().into()),
        sections: sections(map, Types::Standard, |_| true),
        prefix: map.name.to_ascii_uppercase(),
    };
    let path = format!("{}_regs.h", map.name);
    vec![OutputFile::new(path, render(&header))]
}

/// Returns the blocks, enumerations and records of these names, and the map's hash, as [`c`] writes them but with the
/// types of `<linux/types.h>`: a part of another header.
///
/// # Errors
/// The first name that does not exist.
pub fn c_excerpt<'a>(map: &Map, names: &[&'a str]) -> Result<String, &'a str> {
    let all = (map.blocks.iter().map(|b| &b.name))
        .chain(map.enums.iter().map(|e| &e.name))
        .chain(map.records.iter().map(|r| &r.name));
    let known: Vec<&String> = all.collect();
    let unknown = names.iter().find(|name| !known.iter().any(|k| k == *name));
    if let Some(unknown) = unknown {
        return Err(unknown);
    }
    Ok(render(&Excerpt {
        prefix: map.name.to_ascii_uppercase(),
        map_id: Types::Linux.number(32, map.map_id().into()),
        sections: sections(map, Types::Linux, |name| names.contains(&name)),
    }))
}

fn sections(map: &Map, types: Types, wanted: impl Fn(&str) -> bool) -> Vec<Section> {
    let prefix = map.name.to_ascii_uppercase();
    let blocks = map.blocks.iter().filter(|b| wanted(&b.name));
    let enums = map.enums.iter().filter(|e| wanted(&e.name));
    let records = map.records.iter().filter(|r| wanted(&r.name));
    (blocks.map(|b| block(map, b, &prefix, types)))
        .chain(enums.map(|e| enumeration(e, &map.name)))
        .chain(records.map(|r| record(r, &map.name, types)))
        .collect()
}

fn item(doc: &str, text: String) -> Item {
    // A text must not end the comment that it is in.
    let doc = wrap(&doc.replace("*/", "* /"), 94);
    Item { doc, text }
}

fn define(doc: &str, name: &str, value: impl std::fmt::Display) -> Item {
    item(doc, format!("#define {name} {value}"))
}

fn block(map: &Map, block: &Block, prefix: &str, types: Types) -> Section {
    let prefix = format!("{prefix}_{}", block.name.to_ascii_uppercase());
    let size = format!("{:#x}u", block.size);
    let doc = "Size of one instance in bytes.";
    let mut items = vec![define(doc, &format!("{prefix}_SIZE"), size)];
    if block.count > 1 {
        let doc = "Instances in the largest build, one after the other.";
        items.push(define(doc, &format!("{prefix}_COUNT"), block.count));
    }
    if let Content::Table { entries, .. } = block.content {
        let doc = "Entries in the largest build.";
        items.push(define(doc, &format!("{prefix}_ENTRIES"), entries));
    }
    for r in block.registers() {
        register(map, r, &prefix, types, &mut items);
    }
    Section {
        doc: wrap(&format!("Block {}. {}", block.name, block.doc), 94),
        items,
    }
}

fn register(map: &Map, register: &Register, prefix: &str, types: Types, items: &mut Vec<Item>) {
    for word in register.words() {
        let name = format!("{prefix}_{}", word.name);
        let offset = word.offset;
        let (name_text, value) = match register.count {
            1 => (name.clone(), format!("{offset:#05x}u")),
            _ => (
                format!("{name}(i)"),
                format!("({offset:#05x}u + {}u * (i))", register.stride),
            ),
        };
        let doc = format!("Byte offset of {}. {}", word.name, register.doc);
        items.push(define(&doc, &name_text, value));
        for piece in &word.pieces {
            let field = format!("{name}_{}", piece.field.name.to_ascii_uppercase());
            let doc = format!(
                "{}.{}, bits {}, {}. {}",
                word.name,
                piece.field.name,
                bits(piece.msb(), piece.lsb),
                piece.field.access.name(),
                piece.field.doc
            );
            let mask = types.number(32, ones(piece.width) << piece.lsb);
            items.push(define(&doc, &format!("{field}_MASK"), mask));
            items.push(define("", &format!("{field}_SHIFT"), piece.lsb));
        }
    }
    let name = format!("{prefix}_{}", register.name);
    if register.count > 1 {
        let doc = format!("Number of {} registers.", register.name);
        items.push(define(&doc, &format!("{name}_COUNT"), register.count));
    }
    let reset = map.reset_value(register);
    if reset != 0 && register.is_stored() {
        let doc = format!("{} after reset.", register.name);
        let value = types.number(register.width, reset);
        items.push(define(&doc, &format!("{name}_RESET"), value));
    }
}

fn enumeration(e: &Enumeration, map: &str) -> Section {
    let prefix = format!("{map}_{}", e.name).to_ascii_uppercase();
    let mut items = vec![item("", format!("enum {map}_{} {{", e.name))];
    items.extend((e.variants.iter()).map(|v| {
        let text = format!("\t{prefix}_{} = {},", v.name, v.value);
        item(&v.doc, text)
    }));
    items.push(item("", "};".into()));
    Section {
        doc: wrap(&e.doc, 94),
        items,
    }
}

fn record(record: &Record, map: &str, types: Types) -> Section {
    let prefix = format!("{map}_{}", record.name).to_ascii_uppercase();
    let mut slots: Vec<(u64, Item)> = (record.members.iter())
        .map(|m| {
            let text = format!("\t{} {};", types.unsigned(m.width), m.name);
            (
                m.offset,
                item(&format!("{:#04x}: {}", m.offset, m.doc), text),
            )
        })
        .collect();
    slots.extend(record.reserved.iter().map(|r| {
        let words = (r.end - r.start) / 4;
        let text = format!(
            "\t{} reserved_{:02x}[{words}];",
            types.unsigned(32),
            r.start
        );
        (r.start, item(&format!("{:#04x}: zero.", r.start), text))
    }));
    slots.sort_by_key(|(offset, _)| *offset);
    let mut items = vec![item("", format!("struct {map}_{} {{", record.name))];
    items.extend(slots.into_iter().map(|(_, item)| item));
    items.push(item("", "};".into()));
    for member in &record.members {
        for field in &member.fields {
            let name = format!("{prefix}_{}_{}", member.name, field.name).to_ascii_uppercase();
            let doc = format!(
                "{}.{}, bits {}. {}",
                member.name,
                field.name,
                bits(field.msb(), field.lsb),
                field.doc
            );
            let mask = types.number(member.width, ones(field.width) << field.lsb);
            items.push(define(&doc, &format!("{name}_MASK"), mask));
            items.push(define("", &format!("{name}_SHIFT"), field.lsb));
        }
    }
    Section {
        doc: wrap(&record.doc, 94),
        items,
    }
}
