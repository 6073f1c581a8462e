//! SystemRDL 2.0.

use askama::Template;

use super::text::wrap;
use super::{OutputFile, render};
use crate::model::{Access, Block, Content, Enumeration, Field, Map, Register};

struct RdlBlock {
    name: String,
    description: String,
    /// `regfile` of the instances or entries; nothing if the registers are in the address map itself.
    wrapper: Option<Wrapper>,
    registers: Vec<RdlRegister>,
}

struct Wrapper {
    opening: String,
    closing: String,
}

struct RdlRegister {
    /// `external ` or nothing.
    external: &'static str,
    name: String,
    description: String,
    width: u32,
    fields: Vec<RdlField>,
    /// `@ 0x200 += 0x8` with the array size before it.
    place: String,
}

struct RdlField {
    description: String,
    properties: Vec<String>,
    /// `name[7:0] = 8'h1`.
    instance: String,
}

struct RdlEnum {
    name: String,
    values: Vec<(String, String, String)>,
}

#[derive(Template)]
#[template(path = "map.rdl.txt", escape = "none")]
struct Rdl {
    name: String,
    version: u32,
    enums: Vec<RdlEnum>,
    blocks: Vec<RdlBlock>,
}

/// Returns SystemRDL 2.0, `NAME.rdl`: an `addrmap NAME_BLOCK` for each block.
pub fn systemrdl(map: &Map) -> Vec<OutputFile> {
    let template = Rdl {
        name: map.name.clone(),
        version: map.version,
        enums: encodings(map),
        blocks: map.blocks.iter().map(|b| block(map, b)).collect(),
    };
    let path = format!("{}.rdl", map.name);
    vec![OutputFile::new(path, render(&template))]
}

/// Returns the enumerations. An enumeration has the width of its field, so there is one for each width in use.
fn encodings(map: &Map) -> Vec<RdlEnum> {
    let mut uses: Vec<(&Enumeration, u32)> = Vec::new();
    for block in &map.blocks {
        for register in block.as_registers(map) {
            for field in register.fields {
                let e = field.enumeration.as_ref().and_then(|e| map.enumeration(e));
                uses.extend(e.map(|e| (e, field.width)));
            }
        }
    }
    uses.sort_by_key(|(e, width)| (&e.name, *width));
    uses.dedup();
    uses.into_iter()
        .map(|(e, width)| RdlEnum {
            name: format!("{}_{width}", e.name),
            values: (e.variants.iter())
                .map(|v| (v.name.clone(), verilog(width, v.value), quote(&v.doc)))
                .collect(),
        })
        .collect()
}

/// Returns a number in the form `8'h1f`.
fn verilog(width: u32, value: u64) -> String {
    format!("{width}'h{value:x}")
}

/// Returns a string literal.
fn quote(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", wrap(&text, 90).join("\n"))
}

fn block(map: &Map, block: &Block) -> RdlBlock {
    let mut registers = block.as_registers(map);
    let wrapper = match &block.content {
        Content::Table { entries, record } => {
            // SystemRDL does not let arrays interleave: the entry is the array.
            let size = map.record(record).map_or(0, |r| r.size);
            registers.iter_mut().for_each(|r| r.count = 1);
            Some(Wrapper {
                opening: "external regfile {".into(),
                closing: format!("}} {record}[{entries}] @ 0x0 += {size:#x};"),
            })
        }
        Content::Registers(_) if block.count > 1 => Some(Wrapper {
            opening: "regfile {".into(),
            closing: format!("}} page[{}] @ 0x0 += {:#x};", block.count, block.size),
        }),
        Content::Registers(_) => None,
    };
    let table = matches!(block.content, Content::Table { .. });
    RdlBlock {
        name: block.name.clone(),
        description: quote(&block.doc),
        wrapper,
        registers: (registers.iter())
            .map(|r| register(map, r, r.is_strobe() && !table))
            .collect(),
    }
}

/// Returns a register; `external` if it is stored elsewhere and the component that contains it does not say so.
fn register(map: &Map, register: &Register, external: bool) -> RdlRegister {
    let place = match register.count {
        1 => format!("@ {:#x}", register.offset),
        count => format!(
            "[{count}] @ {:#x} += {:#x}",
            register.offset, register.stride
        ),
    };
    RdlRegister {
        external: if external { "external " } else { "" },
        name: register.name.clone(),
        description: quote(&register.doc),
        width: register.width,
        fields: (register.fields.iter()).map(|f| field(map, f)).collect(),
        place,
    }
}

fn field(map: &Map, field: &Field) -> RdlField {
    let mut properties: Vec<String> = match field.access {
        Access::Ro if field.constant.is_some() => vec!["sw = r;", "hw = na;"],
        Access::Ro => vec!["sw = r;", "hw = w;"],
        Access::Rw => vec!["sw = rw;", "hw = r;"],
        Access::W1c => vec!["sw = rw;", "onwrite = woclr;", "hw = r;", "hwset;"],
        Access::Wo => vec!["sw = w;", "hw = r;"],
        Access::Pulse => vec!["sw = w;", "hw = r;", "singlepulse;"],
    }
    .into_iter()
    .map(str::to_owned)
    .collect();
    if let Some(e) = &field.enumeration {
        properties.push(format!("encode = {e}_{};", field.width));
    }
    let reset = match (field.access, field.constant) {
        (_, Some(constant)) => Some(map.constant(constant)),
        (Access::Rw | Access::W1c | Access::Pulse, None) => Some(field.reset),
        (Access::Ro | Access::Wo, None) => None,
    };
    let mut instance = format!("{}[{}:{}]", field.name, field.msb(), field.lsb);
    if let Some(reset) = reset {
        instance.push_str(&format!(" = {}", verilog(field.width, reset)));
    }
    RdlField {
        description: quote(&describe(field)),
        properties,
        instance,
    }
}

/// Returns the doc text with unit and bounds, for which SystemRDL has no properties.
fn describe(field: &Field) -> String {
    let mut text = field.doc.clone();
    if let Some(unit) = &field.unit {
        text.push_str(&format!(" Unit: {unit}."));
    }
    if let Some(min) = field.min {
        text.push_str(&format!(" Minimum: {min}."));
    }
    if let Some(max) = field.max {
        text.push_str(&format!(" Maximum: {max}."));
    }
    text
}
