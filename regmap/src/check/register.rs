//! Checks of registers and their fields.

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;

use super::Checker;
use crate::bits::{parse_bits, show_bits, show_bytes};
use crate::error::ErrorKind;
use crate::model::{Access, Constant, Enumeration, Field, Held, Record, Register, ones};
use crate::names::Case;
use crate::raw::{RawBlock, RawField, RawRegister};

/// The keys that fields of registers and of records have in common.
pub(super) struct Domain<'a> {
    pub enumeration: Option<&'a Spanned<String>>,
    pub min: Option<&'a Spanned<u64>>,
    pub max: Option<&'a Spanned<u64>>,
}

/// Ports and signals that every generated register block has.
const BUS_PORTS: [&str; 9] = [
    "CLOCK",
    "RESET",
    "ADDRESS",
    "READ",
    "WRITE",
    "WRITEDATA",
    "BYTEENABLE",
    "READDATA",
    "ACT",
];

/// The names that the emitters make of a register, in upper case.
fn names_of(register: &Register) -> Vec<String> {
    let mut names = vec![register.name.clone()];
    let words = register.words();
    if words.len() > 1 {
        names.extend(words.iter().map(|word| word.name.clone()));
    }
    if register.count > 1 {
        for ending in ["COUNT", "STRIDE", "INDEX"] {
            names.push(format!("{}_{ending}", register.name));
        }
    }
    if register.is_strobe() {
        names.extend(words.iter().map(|word| format!("{}_WE", word.name)));
    }
    if register.is_stored() {
        names.push(format!("{}_RESET", register.name));
    }
    for field in &register.fields {
        let name = format!("{}_{}", register.name, field.name.to_ascii_uppercase());
        let signal = match field.name.as_str() {
            "value" => &register.name,
            _ => &name,
        };
        match field.access {
            Access::Rw | Access::Pulse => names.push(format!("{signal}_REG")),
            Access::W1c => names.extend(["REG", "SET"].map(|e| format!("{signal}_{e}"))),
            Access::Ro | Access::Wo => {}
        }
        names.push(name);
    }
    names
}

impl Checker {
    pub(super) fn register(
        &mut self,
        raw: &RawRegister,
        block: &str,
        enums: &[Enumeration],
        records: &[Record],
        version: u32,
    ) -> Register {
        let place = format!("register {block}.{}", raw.name.get_ref());
        let name = self.name(&raw.name, Case::Upper, &place);
        let doc = self.doc(&raw.doc, &place);
        let width = match &raw.width {
            None => 32,
            Some(width) => match width.get_ref() {
                32 => 32,
                64 => 64,
                other => {
                    self.error(width.span(), &place, ErrorKind::Width(other.to_string()));
                    32
                }
            },
        };
        if raw.fields.is_empty() {
            self.error(raw.name.span(), &place, ErrorKind::Empty("field"));
        }
        self.unique(raw.fields.iter().map(|f| &f.name), &place);
        let mut fields: Vec<Field> = Vec::new();
        for field in &raw.fields {
            let place = format!("{place}, field {}", field.name.get_ref());
            let Some(checked) = self.field(field, width, enums, version, &place) else {
                continue;
            };
            let range = checked.lsb..checked.lsb + checked.width;
            let taken = fields.iter().map(|f| (f.lsb..f.lsb + f.width, &f.name));
            self.no_overlap(&field.bits, &range, taken, show_bits, &place);
            fields.push(checked);
        }
        fields.sort_by_key(|f| f.lsb);
        let (count, stride) = self.array(raw, width, &place);
        let register = Register {
            name,
            offset: *raw.offset.get_ref(),
            width,
            count,
            stride,
            record: raw.record.as_ref().map(|r| r.get_ref().clone()),
            held: self.held(raw, &place),
            doc,
            fields,
        };
        self.shape(raw, &register, &place);
        if let Some(record) = &raw.record {
            let size = self.record_size(record, records, &place);
            let bytes = count * stride;
            if size.is_some_and(|size| size != bytes) {
                let kind = ErrorKind::RecordSize {
                    record: record.get_ref().clone(),
                    size: size.unwrap_or_default(),
                    there: format!("the register {bytes}"),
                };
                self.error(record.span(), &place, kind);
            }
        }
        register
    }

    /// Element count and stride.
    fn array(&mut self, raw: &RawRegister, width: u32, place: &str) -> (u64, u64) {
        let bytes = u64::from(width / 8);
        self.aligned(&raw.offset, bytes, place);
        let Some(count) = &raw.count else {
            if let Some(stride) = &raw.stride {
                let kind = ErrorKind::Shape("a stride needs a count");
                self.error(stride.span(), place, kind);
            }
            return (1, bytes);
        };
        let number = self.number(count, 2, 4096, place);
        let stride = match &raw.stride {
            None => bytes,
            Some(stride) => {
                let value = self.number(stride, bytes, 4096, place);
                if !value.is_power_of_two() {
                    self.error(stride.span(), place, ErrorKind::PowerOfTwo(value));
                }
                value
            }
        };
        // So that the index is a group of address bits.
        if !number.is_power_of_two() {
            self.error(count.span(), place, ErrorKind::PowerOfTwo(number));
        }
        self.aligned(&raw.offset, number * stride, place);
        (number, stride)
    }

    /// Combinations of access kinds that the RTL cannot have.
    fn shape(&mut self, raw: &RawRegister, register: &Register, place: &str) {
        let strobe = register.is_strobe();
        if strobe && register.fields.iter().any(|f| f.access != Access::Wo) {
            let kind = ErrorKind::Shape("a register with a wo field has only wo fields");
            self.error(raw.name.span(), place, kind);
        }
        if register.count > 1 && !strobe {
            let kind = ErrorKind::Shape("an array of registers has only wo fields");
            self.error(raw.name.span(), place, kind);
        }
    }

    /// Checks a register's place among those before it.
    pub(super) fn place_register(
        &mut self,
        raw: &RawRegister,
        register: &Register,
        before: &[Register],
        size: u64,
        block: &str,
    ) {
        let place = format!("register {block}.{}", register.name);
        // An offset far outside would overflow `end`.
        if register.offset >= size || register.end() > size {
            let start = register.offset;
            let kind = ErrorKind::Overflow {
                range: format!("the register at {start:#x}"),
                end: size,
            };
            self.error(raw.offset.span(), &place, kind);
            return;
        }
        let range = register.offset..register.end();
        let taken = before
            .iter()
            .filter(|r| r.offset < size)
            .map(|r| (r.offset..r.end(), &r.name));
        self.no_overlap(&raw.offset, &range, taken, show_bytes, &place);
    }

    /// Reports the first of `taken` that shares something with `range`.
    pub(super) fn no_overlap<'a, T, N: PartialOrd>(
        &mut self,
        at: &Spanned<T>,
        range: &Range<N>,
        taken: impl Iterator<Item = (Range<N>, &'a String)>,
        show: impl Fn(&Range<N>) -> String,
        place: &str,
    ) {
        for (other_range, other) in taken {
            if range.start < other_range.end && other_range.start < range.end {
                let kind = ErrorKind::Overlap {
                    range: show(range),
                    other: format!("{other} ({})", show(&other_range)),
                };
                self.error(at.span(), place, kind);
                return;
            }
        }
    }

    /// RTL signals and C macros are register and field names joined, some with an ending.
    pub(super) fn generated_names(&mut self, raw: &RawBlock, registers: &[Register], block: &str) {
        let mut seen: HashMap<String, String> = BUS_PORTS
            .iter()
            .map(|port| ((*port).to_owned(), "a port of the slave".to_owned()))
            .collect();
        for (raw, register) in raw.registers.iter().zip(registers) {
            let place = format!("register {block}.{}", register.name);
            for name in names_of(register) {
                let other = seen.insert(name.clone(), place.clone());
                // The same register twice is a duplicate, reported as such.
                if let Some(other) = other.filter(|other| *other != place) {
                    let kind = ErrorKind::Collision { name, other };
                    self.error(raw.name.span(), &place, kind);
                    break;
                }
            }
        }
    }

    fn held(&mut self, raw: &RawRegister, place: &str) -> Held {
        match raw.held.as_ref().map(|held| held.get_ref().as_str()) {
            None => Held::Decoder,
            Some("block") => Held::Block,
            Some("memory") => Held::Memory,
            Some(_) => {
                let span = raw.held.as_ref().map_or(0..0, |held| held.span());
                let kind = ErrorKind::Shape("`held` is \"block\" or \"memory\"");
                self.error(span, place, kind);
                Held::Decoder
            }
        }
    }

    fn field(
        &mut self,
        raw: &RawField,
        container: u32,
        enums: &[Enumeration],
        version: u32,
        place: &str,
    ) -> Option<Field> {
        let name = self.name(&raw.name, Case::Snake, place);
        let doc = self.doc(&raw.doc, place);
        let range = self.bit_range(&raw.bits, container, place)?;
        let width = range.len() as u32;
        let access = Access::ALL
            .into_iter()
            .find(|access| access.name() == raw.access.get_ref());
        if access.is_none() {
            let kind = ErrorKind::Access(raw.access.get_ref().clone());
            self.error(raw.access.span(), place, kind);
        }
        let access = access.unwrap_or(Access::Ro);
        if matches!(access, Access::Pulse | Access::W1c) && width != 1 {
            let kind = ErrorKind::Shape("a pulse or w1c field is one bit");
            self.error(raw.bits.span(), place, kind);
        }
        let domain = Domain {
            enumeration: raw.enumeration.as_ref(),
            min: raw.min.as_ref(),
            max: raw.max.as_ref(),
        };
        self.domain(&domain, width, enums, place);
        let constant = self.constant(raw, access, width, version, place);
        let reset = self.reset(raw, access, width, enums, place);
        Some(Field {
            name,
            lsb: range.start,
            width,
            access,
            reset,
            constant,
            enumeration: raw.enumeration.as_ref().map(|e| e.get_ref().clone()),
            min: raw.min.as_ref().map(|m| *m.get_ref()),
            max: raw.max.as_ref().map(|m| *m.get_ref()),
            unit: raw.unit.as_ref().map(|u| u.get_ref().clone()),
            doc,
        })
    }

    /// The bits of a field, or an error.
    pub(super) fn bit_range(
        &mut self,
        raw: &Spanned<String>,
        container: u32,
        place: &str,
    ) -> Option<Range<u32>> {
        match parse_bits(raw.get_ref()) {
            None => self.error(raw.span(), place, ErrorKind::Range(raw.get_ref().clone())),
            Some(range) if range.end > container => {
                let kind = ErrorKind::Overflow {
                    range: show_bits(&range),
                    end: container.into(),
                };
                self.error(raw.span(), place, kind);
            }
            Some(range) => return Some(range),
        }
        None
    }

    /// Checks the legal values against the field's width.
    pub(super) fn domain(
        &mut self,
        domain: &Domain<'_>,
        width: u32,
        enums: &[Enumeration],
        place: &str,
    ) {
        for bound in [domain.min, domain.max].into_iter().flatten() {
            self.fits("the bound", bound.span(), *bound.get_ref(), width, place);
        }
        if let (Some(min), Some(max)) = (domain.min, domain.max) {
            let (low, high) = (*min.get_ref(), *max.get_ref());
            if low > high {
                let kind = ErrorKind::Bounds {
                    min: low,
                    max: high,
                };
                self.error(min.span(), place, kind);
            }
        }
        if let Some(name) = domain.enumeration {
            match enums.iter().find(|e| &e.name == name.get_ref()) {
                None => {
                    let kind = ErrorKind::Unknown {
                        what: "enum",
                        name: name.get_ref().clone(),
                    };
                    self.error(name.span(), place, kind);
                }
                Some(e) => {
                    for v in &e.variants {
                        let what = format!("{}.{}", e.name, v.name);
                        self.fits(&what, name.span(), v.value, width, place);
                    }
                }
            }
        }
    }

    fn fits(&mut self, what: &str, span: Range<usize>, value: u64, width: u32, place: &str) {
        if value > ones(width) {
            let kind = ErrorKind::TooWide {
                what: what.to_owned(),
                value,
                width,
            };
            self.error(span, place, kind);
        }
    }

    fn constant(
        &mut self,
        raw: &RawField,
        access: Access,
        width: u32,
        version: u32,
        place: &str,
    ) -> Option<Constant> {
        let name = raw.constant.as_ref()?;
        if access != Access::Ro {
            let kind = ErrorKind::NoReset(access.name(), "constant");
            self.error(name.span(), place, kind);
            return None;
        }
        let constant = Constant::ALL
            .into_iter()
            .find(|constant| constant.name() == name.get_ref());
        match constant {
            None => {
                let kind = ErrorKind::Unknown {
                    what: "constant",
                    name: name.get_ref().clone(),
                };
                self.error(name.span(), place, kind);
            }
            Some(Constant::MapId) if width != 32 => {
                let kind = ErrorKind::Shape("the field of map_id is 32 bits wide");
                self.error(raw.bits.span(), place, kind);
            }
            Some(Constant::MapVersion) => {
                self.fits("the version", name.span(), version.into(), width, place);
            }
            Some(Constant::MapId) => {}
        }
        constant
    }

    fn reset(
        &mut self,
        raw: &RawField,
        access: Access,
        width: u32,
        enums: &[Enumeration],
        place: &str,
    ) -> u64 {
        let Some(reset) = &raw.reset else { return 0 };
        let value = *reset.get_ref();
        if !matches!(access, Access::Rw | Access::W1c) {
            let kind = ErrorKind::NoReset(access.name(), "reset value");
            self.error(reset.span(), place, kind);
            return 0;
        }
        let enumeration = (raw.enumeration.as_ref())
            .and_then(|name| enums.iter().find(|e| &e.name == name.get_ref()));
        let min = raw.min.as_ref().map_or(0, |m| *m.get_ref());
        let max = raw.max.as_ref().map_or(u64::MAX, |m| *m.get_ref());
        let legal = if value > ones(width) {
            Some(format!("a value of {width} bits"))
        } else if !(min..=max).contains(&value) {
            Some("within the field's bounds".to_owned())
        } else {
            enumeration
                .filter(|e| e.variants.iter().all(|v| v.value != value))
                .map(|e| format!("a value of enum {}", e.name))
        };
        match legal {
            Some(legal) => {
                let kind = ErrorKind::Reset { value, legal };
                self.error(reset.span(), place, kind);
                0
            }
            None => value,
        }
    }
}
