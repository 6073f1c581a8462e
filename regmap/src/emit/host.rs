//! Host Rust: constants, enumerations and records for `no_std` code.

use askama::Template;

use super::constants::{self, Module, hex32};
use super::text::{bits, camel, rustdoc};
use super::{OutputFile, render};
use crate::model::{Map, Member, MemberField, Record, ones};

struct Enumeration {
    doc: Vec<String>,
    name: String,
    variants: Vec<Variant>,
}

struct Variant {
    doc: Vec<String>,
    name: String,
    value: u64,
}

struct Struct {
    doc: Vec<String>,
    name: String,
    size: u64,
    /// Members and reserved bytes by ascending offset.
    slots: Vec<Slot>,
    accessors: Vec<Accessor>,
}

struct Slot {
    doc: Vec<String>,
    name: String,
    offset: u64,
    /// Type of one element: `u32` or `u64`.
    kind: &'static str,
    bytes: u64,
    /// Elements, if it is an array of reserved words.
    words: Option<u64>,
}

impl Slot {
    fn rust_type(&self) -> String {
        match self.words {
            Some(words) => format!("[{}; {words}]", self.kind),
            None => self.kind.to_owned(),
        }
    }
}

/// Getter and setter of a field.
struct Accessor {
    doc: Vec<String>,
    name: String,
    member: String,
    kind: &'static str,
    lsb: u32,
    width: u32,
    /// Ones in the width of the field.
    mask: String,
    /// The mask at the field's place in the member.
    placed: String,
    /// Enumeration type, if it has one.
    enumeration: Option<String>,
}

impl Accessor {
    /// The member, shifted down to the field's lowest bit.
    fn down(&self) -> String {
        match self.lsb {
            0 => format!("self.{}", self.member),
            lsb => format!("(self.{} >> {lsb})", self.member),
        }
    }

    /// A value shifted up to the field's place.
    fn up(&self, value: impl std::fmt::Display) -> String {
        match self.lsb {
            0 => value.to_string(),
            lsb => format!("{value} << {lsb}"),
        }
    }

    /// A value without the bits that the field does not have.
    fn masked(&self) -> String {
        match self.lsb {
            0 => format!("value & {}", self.mask),
            _ => format!("(value & {})", self.mask),
        }
    }

    /// The raw value of an enumeration in the member's type.
    fn raw(&self) -> &'static str {
        match self.kind {
            "u64" if self.lsb > 0 => "(value.raw() as u64)",
            "u64" => "value.raw() as u64",
            _ => "value.raw()",
        }
    }

    /// Brings the field to the type of raw enumeration values.
    fn cast(&self) -> &'static str {
        match self.kind {
            "u64" => " as u32",
            _ => "",
        }
    }
}

#[derive(Template)]
#[template(path = "host.rs.txt", escape = "none")]
struct Host {
    name: String,
    version: u32,
    map_id: String,
    modules: Vec<Module>,
    enums: Vec<Enumeration>,
    structs: Vec<Struct>,
}

/// Host Rust: `regs.rs` with constants for each block, the enumerations as types, and the records
/// as `#[repr(C)]` structures with accessors for their fields. It needs `core` only.
pub fn host(map: &Map) -> Vec<OutputFile> {
    let template = Host {
        name: map.name.clone(),
        version: map.version,
        map_id: hex32(map.map_id()),
        modules: (map.blocks.iter())
            .map(|block| constants::block(map, block))
            .collect(),
        enums: (map.enums.iter())
            .map(|e| Enumeration {
                doc: rustdoc(&e.doc, 96),
                name: camel(&e.name),
                variants: (e.variants.iter())
                    .map(|v| Variant {
                        doc: rustdoc(&v.doc, 92),
                        name: camel(&v.name),
                        value: v.value,
                    })
                    .collect(),
            })
            .collect(),
        structs: map.records.iter().map(structure).collect(),
    };
    vec![OutputFile::new("regs.rs", render(&template))]
}

fn structure(record: &Record) -> Struct {
    let mut slots: Vec<Slot> = (record.members.iter())
        .map(|member| Slot {
            doc: rustdoc(&member.doc, 92),
            name: member.name.clone(),
            offset: member.offset,
            kind: integer(member.width),
            bytes: u64::from(member.width / 8),
            words: None,
        })
        .collect();
    slots.extend(record.reserved.iter().map(|range| Slot {
        doc: vec!["Reserved: zero.".into()],
        name: format!("reserved_{:02x}", range.start),
        offset: range.start,
        kind: "u32",
        bytes: 4,
        words: Some((range.end - range.start) / 4),
    }));
    slots.sort_by_key(|slot| slot.offset);
    Struct {
        doc: rustdoc(&record.doc, 96),
        name: camel(&record.name),
        size: record.size,
        slots,
        accessors: (record.members.iter())
            .flat_map(|m| m.fields.iter().map(move |f| (m, f)))
            // A field that is the whole member is the member itself.
            .filter(|(m, f)| f.width != m.width)
            .map(|(m, f)| accessor(m, f))
            .collect(),
    }
}

fn integer(width: u32) -> &'static str {
    if width == 64 { "u64" } else { "u32" }
}

fn accessor(member: &Member, field: &MemberField) -> Accessor {
    let range = bits(field.msb(), field.lsb);
    let doc = format!("`{}` bits {range}: {}", member.name, field.doc);
    let mask = ones(field.width);
    Accessor {
        doc: rustdoc(&doc, 92),
        name: format!("{}_{}", member.name, field.name),
        member: member.name.clone(),
        kind: integer(member.width),
        lsb: field.lsb,
        width: field.width,
        mask: format!("{mask:#x}"),
        placed: format!("{:#x}", mask << field.lsb),
        enumeration: field.enumeration.as_deref().map(camel),
    }
}
