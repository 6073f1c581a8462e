//! From the text of a map to a checked [`Map`].

mod record;
mod register;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use crate::error::{ErrorKind, MapError, MapErrors};
use crate::model::{Block, Content, Enumeration, Map, Record, Register, Variant};
use crate::names::{self, Case};
use crate::raw::{RawBlock, RawEnum, RawMap};

/// Size of the largest block, in bytes of one instance: the RTL's address ports are made for it.
const MAX_BLOCK_BYTES: u64 = 1 << 20;

pub(crate) fn parse(text: &str, file: &str) -> Result<Map, MapErrors> {
    let mut checker = Checker {
        file: file.to_owned(),
        text: Arc::new(text.to_owned()),
        errors: Vec::new(),
    };
    let raw: RawMap = match toml::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            checker.error(span, "map", ErrorKind::Syntax(error.message().to_owned()));
            return Err(MapErrors {
                errors: checker.errors,
            });
        }
    };
    let map = checker.map(&raw);
    if checker.errors.is_empty() {
        Ok(map)
    } else {
        checker.errors.sort_by_key(|e| e.span.start);
        Err(MapErrors {
            errors: checker.errors,
        })
    }
}

/// Collects errors. The values that it returns for wrong items are placeholders that no caller sees: a map with errors
/// is not returned.
struct Checker {
    file: String,
    text: Arc<String>,
    errors: Vec<MapError>,
}

impl Checker {
    fn error(&mut self, span: Range<usize>, place: &str, kind: ErrorKind) {
        let error = MapError::new(&self.file, &self.text, span, place, kind);
        self.errors.push(error);
    }

    fn name(&mut self, name: &Spanned<String>, case: Case, place: &str) -> String {
        if let Err(kind) = names::check(name.get_ref(), case) {
            self.error(name.span(), place, kind);
        }
        name.get_ref().clone()
    }

    fn doc(&mut self, doc: &Spanned<String>, place: &str) -> String {
        let text = doc.get_ref().trim();
        if text.is_empty() {
            self.error(doc.span(), place, ErrorKind::NoDoc);
        }
        text.to_owned()
    }

    /// Returns the number, or `min` and an error if it is out of range.
    fn number(&mut self, value: &Spanned<u64>, min: u64, max: u64, place: &str) -> u64 {
        let number = *value.get_ref();
        if (min..=max).contains(&number) {
            return number;
        }
        let kind = ErrorKind::Number {
            value: number,
            min,
            max,
        };
        self.error(value.span(), place, kind);
        min
    }

    fn aligned(&mut self, value: &Spanned<u64>, alignment: u64, place: &str) {
        let number = *value.get_ref();
        if !number.is_multiple_of(alignment) {
            let kind = ErrorKind::Unaligned {
                value: number,
                alignment,
            };
            self.error(value.span(), place, kind);
        }
    }

    /// Reports the second and later use of a name.
    fn unique<'a>(&mut self, names: impl Iterator<Item = &'a Spanned<String>>, place: &str) {
        let mut seen = std::collections::HashSet::new();
        for name in names {
            if !seen.insert(name.get_ref()) {
                let kind = ErrorKind::Duplicate(name.get_ref().clone());
                self.error(name.span(), place, kind);
            }
        }
    }

    fn map(&mut self, raw: &RawMap) -> Map {
        let place = "map";
        let name = self.name(&raw.name, Case::Snake, place);
        let version = self.number(&raw.version, 1, u32::MAX.into(), place) as u32;
        let doc = self.doc(&raw.doc, place);
        self.unique(raw.enums.iter().map(|e| &e.name), "enums");
        self.unique(raw.records.iter().map(|r| &r.name), "records");
        self.unique(raw.blocks.iter().map(|b| &b.name), "blocks");
        let enums: Vec<_> = raw.enums.iter().map(|e| self.enumeration(e)).collect();
        let records: Vec<_> = raw
            .records
            .iter()
            .map(|record| self.record(record, &enums))
            .collect();
        let blocks = raw
            .blocks
            .iter()
            .map(|block| self.block(block, &enums, &records, version))
            .collect();
        self.top_level_names(raw);
        Map {
            name,
            version,
            doc,
            enums,
            blocks,
            records,
        }
    }

    /// Checks the names of blocks, records and enumerations, which become modules or types side by side.
    fn top_level_names(&mut self, raw: &RawMap) {
        let mut seen: HashMap<&str, &str> = HashMap::new();
        let names = (raw.enums.iter().map(|e| ("an enum", &e.name)))
            .chain(raw.records.iter().map(|r| ("a record", &r.name)))
            .chain(raw.blocks.iter().map(|b| ("a block", &b.name)));
        for (what, name) in names {
            match seen.get(name.get_ref().as_str()) {
                Some(other) if *other != what => {
                    let kind = ErrorKind::Collision {
                        name: name.get_ref().clone(),
                        other: (*other).to_owned(),
                    };
                    self.error(name.span(), "map", kind);
                }
                _ => {
                    seen.insert(name.get_ref(), what);
                }
            }
        }
    }

    fn enumeration(&mut self, raw: &RawEnum) -> Enumeration {
        let place = format!("enum {}", raw.name.get_ref());
        let name = self.name(&raw.name, Case::Snake, &place);
        let doc = self.doc(&raw.doc, &place);
        if raw.variants.is_empty() {
            self.error(raw.name.span(), &place, ErrorKind::Empty("variant"));
        }
        self.unique(raw.variants.iter().map(|v| &v.name), &place);
        let mut values: HashMap<u64, String> = HashMap::new();
        let mut variants = Vec::new();
        for variant in &raw.variants {
            let place = format!("{place}, variant {}", variant.name.get_ref());
            let name = self.name(&variant.name, Case::Upper, &place);
            let value = self.number(&variant.value, 0, u32::MAX.into(), &place);
            if let Some(other) = values.insert(value, name.clone()) {
                let kind = ErrorKind::Overlap {
                    range: format!("the value {value}"),
                    other,
                };
                self.error(variant.value.span(), &place, kind);
            }
            let doc = self.doc(&variant.doc, &place);
            variants.push(Variant { name, value, doc });
        }
        Enumeration {
            name,
            doc,
            variants,
        }
    }

    fn block(
        &mut self,
        raw: &RawBlock,
        enums: &[Enumeration],
        records: &[Record],
        version: u32,
    ) -> Block {
        let place = format!("block {}", raw.name.get_ref());
        let name = self.name(&raw.name, Case::Snake, &place);
        let doc = self.doc(&raw.doc, &place);
        let size = self.number(&raw.size, 8, MAX_BLOCK_BYTES, &place);
        if !raw.size.get_ref().is_power_of_two() {
            let kind = ErrorKind::PowerOfTwo(*raw.size.get_ref());
            self.error(raw.size.span(), &place, kind);
        }
        let count = match &raw.count {
            Some(count) => self.number(count, 1, 256, &place),
            None => 1,
        };
        let read_latency = match &raw.read_latency {
            Some(latency) => self.number(latency, 1, 2, &place) as u32,
            None => 1,
        };
        let content = match &raw.record {
            Some(record) => self.table(raw, record, size, records, &place),
            None => {
                if raw.registers.is_empty() {
                    self.error(raw.name.span(), &place, ErrorKind::Empty("register"));
                }
                self.unique(raw.registers.iter().map(|r| &r.name), &place);
                let mut registers: Vec<Register> = Vec::new();
                for register in &raw.registers {
                    let checked = self.register(register, &name, enums, records, version);
                    self.place_register(register, &checked, &registers, size, &name);
                    registers.push(checked);
                }
                self.generated_names(raw, &registers, &name);
                registers.sort_by_key(|r| r.offset);
                Content::Registers(registers)
            }
        };
        Block {
            name,
            size,
            count,
            read_latency,
            doc,
            content,
        }
    }

    fn table(
        &mut self,
        raw: &RawBlock,
        record: &Spanned<String>,
        size: u64,
        records: &[Record],
        place: &str,
    ) -> Content {
        if let Some(register) = raw.registers.first() {
            let kind = ErrorKind::Shape("a block is either a table of records or has registers");
            self.error(register.name.span(), place, kind);
        }
        let bytes = self.record_size(record, records, place).unwrap_or(1).max(1);
        if !size.is_multiple_of(bytes) {
            let kind = ErrorKind::RecordSize {
                record: record.get_ref().clone(),
                size: bytes,
                there: format!("which does not divide the block's {size}"),
            };
            self.error(record.span(), place, kind);
        }
        Content::Table {
            record: record.get_ref().clone(),
            entries: size / bytes,
        }
    }

    /// Returns the size of a record in bytes; an error if there is no such record.
    fn record_size(
        &mut self,
        name: &Spanned<String>,
        records: &[Record],
        place: &str,
    ) -> Option<u64> {
        let found = records.iter().find(|r| &r.name == name.get_ref());
        if found.is_none() {
            let kind = ErrorKind::Unknown {
                what: "record",
                name: name.get_ref().clone(),
            };
            self.error(name.span(), place, kind);
        }
        found.map(|record| record.size)
    }
}
