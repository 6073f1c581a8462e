//! The reference manual, as Markdown and as HTML.

use std::ops::Range;

use askama::Template;

use super::text::bits;
use super::{OutputFile, render};
use crate::model::{Access, Block, Constant, Content, Map, Member, Record, Register};

/// Contents of both forms of the manual.
struct Manual {
    name: String,
    version: u32,
    map_id: String,
    doc: String,
    blocks: Vec<Section>,
    records: Vec<Section>,
    enums: Vec<Enumeration>,
}

/// A block or a record.
struct Section {
    name: String,
    doc: String,
    /// `1024 bytes`, with the number of instances or entries.
    size: String,
    /// The record that a table consists of.
    table_of: Option<String>,
    entries: Vec<Entry>,
}

/// A register or a member of a record.
struct Entry {
    /// Name for links, unique in the page.
    id: String,
    name: String,
    offset: String,
    width: u32,
    /// `64 registers, 8 bytes apart`, for arrays.
    array: Option<String>,
    reset: Option<String>,
    record: Option<String>,
    doc: String,
    fields: Vec<FieldRow>,
    /// The words, high one first, each with its parts, high one first.
    words: Vec<Vec<Part>>,
}

struct FieldRow {
    range: String,
    name: String,
    access: &'static str,
    reset: String,
    doc: String,
    enumeration: Option<String>,
    /// `1 to 64`, where there are bounds.
    legal: Option<String>,
    unit: Option<String>,
}

/// A box of a bit-field diagram.
struct Part {
    msb: u32,
    lsb: u32,
    width: u32,
    /// Empty for reserved bits.
    name: String,
    access: &'static str,
}

impl Part {
    /// Reports whether the part is too narrow for its name to be written across.
    fn narrow(&self) -> bool {
        (self.name.len() as u32) > self.width * 3
    }

    /// Returns the height in rem of a name written upwards, at 0.48 rem a letter.
    fn height(&self) -> String {
        format!("{:.2}", self.name.len() as f32 * 0.48 + 0.6)
    }
}

struct Enumeration {
    name: String,
    doc: String,
    values: Vec<(u64, String, String)>,
}

#[derive(Template)]
#[template(path = "manual.md.txt", escape = "none")]
struct Markdown<'a> {
    manual: &'a Manual,
}

#[derive(Template)]
#[template(path = "manual.html")]
struct Html<'a> {
    manual: &'a Manual,
}

mod filters {
    /// Returns a doc text as HTML.
    pub(super) fn prose(text: &str, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(super::prose(text))
    }
}

/// Returns the manual as Markdown, `NAME.md`.
pub fn markdown(map: &Map) -> Vec<OutputFile> {
    let manual = manual(map);
    let text = render(&Markdown { manual: &manual });
    vec![OutputFile::new(format!("{}.md", map.name), text)]
}

/// Returns the manual as one HTML page with a bit-field diagram for each register, `NAME.html`. It needs no other file.
pub fn html(map: &Map) -> Vec<OutputFile> {
    let manual = manual(map);
    let text = render(&Html { manual: &manual });
    vec![OutputFile::new(format!("{}.html", map.name), text)]
}

fn manual(map: &Map) -> Manual {
    Manual {
        name: map.name.clone(),
        version: map.version,
        map_id: format!("{:#010x}", map.map_id()),
        doc: map.doc.clone(),
        blocks: map.blocks.iter().map(|b| block(map, b)).collect(),
        records: map.records.iter().map(record).collect(),
        enums: (map.enums.iter())
            .map(|e| Enumeration {
                name: e.name.clone(),
                doc: e.doc.clone(),
                values: (e.variants.iter())
                    .map(|v| (v.value, v.name.clone(), v.doc.clone()))
                    .collect(),
            })
            .collect(),
    }
}

/// Escapes a text for HTML, with text between backquotes as `<code>`.
fn prose(text: &str) -> String {
    let mut html = String::new();
    let mut code = false;
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '`' => {
                html.push_str(if code { "</code>" } else { "<code>" });
                code = !code;
            }
            other => html.push(other),
        }
    }
    if code {
        html.push_str("</code>");
    }
    html
}

fn block(map: &Map, block: &Block) -> Section {
    let size = byte_size(block.size);
    let (size, table_of) = match &block.content {
        Content::Table { record, entries } => (
            format!("{size} with {entries} entries in the largest build"),
            Some(record.clone()),
        ),
        Content::Registers(_) if block.count > 1 => {
            (format!("up to {} instances of {size}", block.count), None)
        }
        Content::Registers(_) => (size, None),
    };
    Section {
        name: block.name.clone(),
        doc: block.doc.clone(),
        size,
        table_of,
        entries: (block.registers().iter())
            .map(|r| register(map, block, r))
            .collect(),
    }
}

fn byte_size(bytes: u64) -> String {
    match bytes {
        b if b >= 1024 && b % 1024 == 0 => format!("{} KiB", b / 1024),
        b => format!("{b} bytes"),
    }
}

fn hex(value: u64) -> String {
    if value < 10 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}

fn register(map: &Map, block: &Block, register: &Register) -> Entry {
    let fields = register.fields.iter().rev().map(|f| FieldRow {
        range: bits(f.msb(), f.lsb),
        name: f.name.clone(),
        access: f.access.name(),
        reset: match (f.constant, f.access) {
            (Some(Constant::MapId), _) => format!("{:#010x}", map.map_id()),
            (Some(constant), _) => hex(map.constant(constant)),
            (None, Access::Rw | Access::W1c) => hex(f.reset),
            (None, Access::Ro | Access::Wo | Access::Pulse) => "–".into(),
        },
        doc: f.doc.clone(),
        enumeration: f.enumeration.clone(),
        legal: legal(f.min, f.max),
        unit: f.unit.clone(),
    });
    let parts = register
        .fields
        .iter()
        .map(|f| (f.lsb..f.lsb + f.width, f.name.clone(), f.access.name()))
        .collect();
    Entry {
        id: format!("{}-{}", block.name, register.name.to_ascii_lowercase()),
        name: register.name.clone(),
        offset: format!("{:#05x}", register.offset),
        width: register.width,
        array: (register.count > 1).then(|| {
            let (count, stride) = (register.count, register.stride);
            format!("{count} registers, {stride} bytes apart")
        }),
        reset: register.is_stored().then(|| match register.width {
            64 => format!("{:#018x}", map.reset_value(register)),
            _ => format!("{:#010x}", map.reset_value(register)),
        }),
        record: register.record.clone(),
        doc: register.doc.clone(),
        fields: fields.collect(),
        words: words(register.width, parts),
    }
}

fn record(record: &Record) -> Section {
    let entry = |m: &Member| {
        let fields = m.fields.iter().rev().map(|f| FieldRow {
            range: bits(f.msb(), f.lsb),
            name: f.name.clone(),
            access: "",
            reset: String::new(),
            doc: f.doc.clone(),
            enumeration: f.enumeration.clone(),
            legal: legal(f.min, f.max),
            unit: f.unit.clone(),
        });
        let parts = (m.fields.iter())
            .map(|f| (f.lsb..f.lsb + f.width, f.name.clone(), "member"))
            .collect();
        Entry {
            id: format!("{}-{}", record.name, m.name),
            name: m.name.clone(),
            offset: format!("{:#04x}", m.offset),
            width: m.width,
            array: None,
            reset: None,
            record: None,
            doc: m.doc.clone(),
            fields: fields.collect(),
            words: words(m.width, parts),
        }
    };
    Section {
        name: record.name.clone(),
        doc: record.doc.clone(),
        size: byte_size(record.size),
        table_of: None,
        entries: record.members.iter().map(entry).collect(),
    }
}

fn legal(min: Option<u64>, max: Option<u64>) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (Some(min), None) => Some(format!("{min} and above")),
        (None, Some(max)) => Some(format!("up to {max}")),
        (None, None) => None,
    }
}

/// Cuts fields (ascending) and the reserved bits between them into 32-bit words.
fn words(width: u32, fields: Vec<(Range<u32>, String, &'static str)>) -> Vec<Vec<Part>> {
    let mut all = Vec::new();
    let mut at = 0;
    for (range, name, access) in fields {
        if range.start > at {
            all.push((at..range.start, String::new(), "reserved"));
        }
        at = range.end;
        all.push((range, name, access));
    }
    if at < width {
        all.push((at..width, String::new(), "reserved"));
    }
    (0..width / 32)
        .rev()
        .map(|word| {
            let (low, high) = (word * 32, word * 32 + 32);
            (all.iter().rev())
                .filter(|(range, ..)| range.start < high && low < range.end)
                .map(|(range, name, access)| {
                    let (start, end) = (range.start.max(low), range.end.min(high));
                    Part {
                        msb: end - 1,
                        lsb: start,
                        width: end - start,
                        name: name.clone(),
                        access,
                    }
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_escaped() {
        assert_eq!(prose("a < `b & c` >"), "a &lt; <code>b &amp; c</code> &gt;");
        assert_eq!(prose("open `x"), "open <code>x</code>");
    }

    #[test]
    fn diagrams_cover_every_bit_once() {
        let fields = vec![(4..8, "a".to_owned(), "rw"), (30..40, "b".to_owned(), "rw")];
        let words = words(64, fields);
        let shape: Vec<Vec<(u32, u32, &str)>> = words
            .iter()
            .map(|word| {
                word.iter()
                    .map(|p| (p.msb, p.lsb, p.name.as_str()))
                    .collect()
            })
            .collect();
        assert_eq!(
            shape,
            [
                vec![(63, 40, ""), (39, 32, "b")],
                vec![(31, 30, "b"), (29, 8, ""), (7, 4, "a"), (3, 0, "")],
            ]
        );
    }
}
