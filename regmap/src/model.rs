//! The checked map. Values of these types come out of [`Map::parse`] only, so all promises of the checks hold: names
//! are usable in every target language, nothing overlaps, every reference resolves.

use std::ops::Range;

/// A register map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// Name of the map, `snake_case`. It prefixes generated C names.
    pub name: String,
    /// Version that software compares; see the map's own text on when it is raised.
    pub version: u32,
    /// Introduction to the reference manual.
    pub doc: String,
    /// Named values of fields.
    pub enums: Vec<Enumeration>,
    /// Address blocks, one for each bus slave.
    pub blocks: Vec<Block>,
    /// Records in memory.
    pub records: Vec<Record>,
}

/// Named values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// Name, `snake_case`.
    pub name: String,
    /// Description of the values.
    pub doc: String,
    /// The values, in the order of the file.
    pub variants: Vec<Variant>,
}

impl Enumeration {
    /// Returns the bits needed to hold the largest value, at least 1.
    pub fn width(&self) -> u32 {
        let largest = self.variants.iter().map(|v| v.value).max().unwrap_or(0);
        (u64::BITS - largest.leading_zeros()).max(1)
    }
}

/// One named value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Name, `UPPER_CASE`.
    pub name: String,
    /// The value.
    pub value: u64,
    /// Its meaning.
    pub doc: String,
}

/// The address space of one bus slave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Name, `snake_case`.
    pub name: String,
    /// Size of one instance in bytes, a power of two.
    pub size: u64,
    /// Number of instances, one after the other. A build may have fewer.
    pub count: u64,
    /// Cycles from a read at its slave to the data, 1 or 2. It matters to the RTL alone.
    pub read_latency: u32,
    /// Purpose of the block.
    pub doc: String,
    /// Its contents.
    pub content: Content,
}

/// Contents of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Registers, by ascending offset.
    Registers(Vec<Register>),
    /// A table of records with this name, filling the block. A build may have fewer entries.
    Table {
        /// Name of the record.
        record: String,
        /// Number of entries in the largest table.
        entries: u64,
    },
}

impl Block {
    /// Returns the registers, by ascending offset; an empty list if the block is a table.
    pub fn registers(&self) -> &[Register] {
        match &self.content {
            Content::Registers(registers) => registers,
            Content::Table { .. } => &[],
        }
    }

    /// Returns the block as registers in any case: the members of a table's records are arrays of write-only registers.
    pub fn as_registers(&self, map: &Map) -> Vec<Register> {
        let Content::Table { record, entries } = &self.content else {
            return self.registers().to_vec();
        };
        let members = map.record(record).map(|r| (r, &r.members));
        members
            .into_iter()
            .flat_map(|(record, members)| members.iter().map(move |m| (record, m)))
            .map(|(record, member)| Register {
                name: member.name.to_ascii_uppercase(),
                offset: member.offset,
                width: member.width,
                count: *entries,
                stride: record.size,
                record: None,
                held: Held::default(),
                doc: member.doc.clone(),
                fields: member.fields.iter().map(MemberField::as_written).collect(),
            })
            .collect()
    }
}

/// A register, or an array of equal ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Name, `UPPER_CASE`.
    pub name: String,
    /// Offset of the first element in its block, bytes.
    pub offset: u64,
    /// 32, or 64 for two words with the low one first.
    pub width: u32,
    /// Number of elements.
    pub count: u64,
    /// Distance of two elements in bytes.
    pub stride: u64,
    /// The record that the elements form together, if any.
    pub record: Option<String>,
    /// The place where the RTL stores the value. It does not belong to the promises of the map.
    pub held: Held,
    /// Purpose of the register.
    pub doc: String,
    /// The fields, by ascending position. All other bits are reserved.
    pub fields: Vec<Field>,
}

impl Register {
    /// Returns the value after reset. Constants must be given by the caller, see [`Map::reset_value`].
    fn reset_with(&self, constant: impl Fn(Constant) -> u64) -> u64 {
        self.fields.iter().fold(0, |value, field| {
            let reset = field.constant.map_or(field.reset, &constant);
            value | (reset << field.lsb)
        })
    }

    /// Reports whether the writes are passed to the hardware with a strobe instead of being stored.
    pub fn is_strobe(&self) -> bool {
        self.fields.iter().any(|field| field.access == Access::Wo)
    }

    /// Reports whether any field can be written.
    pub fn is_writable(&self) -> bool {
        self.fields.iter().any(|field| field.access.writable())
    }

    /// Reports whether a part of the register is stored, so that a reset gives it a value.
    pub fn is_stored(&self) -> bool {
        (self.fields.iter()).any(|field| matches!(field.access, Access::Rw | Access::W1c))
    }

    /// Returns the 32-bit words of one element, low word first.
    pub fn words(&self) -> Vec<Word<'_>> {
        let count = self.width / 32;
        (0..count)
            .map(|index| {
                let range = index * 32..(index + 1) * 32;
                Word {
                    name: match (count, index) {
                        (1, _) => self.name.clone(),
                        (_, 0) => format!("{}_LO", self.name),
                        (_, _) => format!("{}_HI", self.name),
                    },
                    offset: self.offset + u64::from(index) * 4,
                    pieces: self
                        .fields
                        .iter()
                        .filter_map(|field| Piece::of(field, &range))
                        .collect(),
                }
            })
            .collect()
    }

    /// Returns the last byte of the last element, plus one.
    pub fn end(&self) -> u64 {
        self.offset + (self.count - 1) * self.stride + u64::from(self.width / 8)
    }
}

/// A 32-bit word of a register.
#[derive(Debug, Clone)]
pub struct Word<'a> {
    /// The register's name, with `_LO` or `_HI` if it has two words.
    pub name: String,
    /// Offset in the block, for the first element of an array, bytes.
    pub offset: u64,
    /// The parts of fields that lie in this word, by ascending position.
    pub pieces: Vec<Piece<'a>>,
}

/// The part of a field that lies in one 32-bit word.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// The whole field.
    pub field: &'a Field,
    /// Position of the part in the word.
    pub lsb: u32,
    /// Width of the part.
    pub width: u32,
    /// Position of the part in the field.
    pub from: u32,
}

impl<'a> Piece<'a> {
    fn of(field: &'a Field, word: &Range<u32>) -> Option<Self> {
        let low = field.lsb.max(word.start);
        let high = (field.lsb + field.width).min(word.end);
        (low < high).then(|| Piece {
            field,
            lsb: low - word.start,
            width: high - low,
            from: low - field.lsb,
        })
    }

    /// Returns the position of the highest bit of the part in the word.
    pub fn msb(&self) -> u32 {
        self.lsb + self.width - 1
    }

    /// Returns the reset value of the part. Constants count as 0.
    pub fn reset(&self) -> u64 {
        (self.field.reset >> self.from) & ones(self.width)
    }
}

/// A field of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name, `snake_case`.
    pub name: String,
    /// Position of the lowest bit in the register.
    pub lsb: u32,
    /// Number of bits.
    pub width: u32,
    /// The accesses that software and hardware can make.
    pub access: Access,
    /// Value after reset.
    pub reset: u64,
    /// The value is the same in every build.
    pub constant: Option<Constant>,
    /// Name of the enumeration of its values.
    pub enumeration: Option<String>,
    /// Smallest legal value.
    pub min: Option<u64>,
    /// Largest legal value.
    pub max: Option<u64>,
    /// Unit of the value.
    pub unit: Option<String>,
    /// Its meaning.
    pub doc: String,
}

impl Field {
    /// Returns the position of the highest bit.
    pub fn msb(&self) -> u32 {
        self.lsb + self.width - 1
    }
}

/// The place where the RTL stores the value of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Held {
    /// Flip-flops of the generated decoder.
    #[default]
    Decoder,
    /// The block around it: the decoder gives a strobe for a write and takes the value to show.
    Block,
    /// A memory with a read port of its own: the decoder shows 0, to be or'ed.
    Memory,
}

/// The accesses of software to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only; the hardware drives it.
    Ro,
    /// Stored, read back as written.
    Rw,
    /// Set by the hardware, cleared by writing 1.
    W1c,
    /// Passed to the hardware with a strobe; reads as 0.
    Wo,
    /// Writing 1 gives one cycle of 1; reads as 0.
    Pulse,
}

impl Access {
    /// All kinds.
    pub const ALL: [Access; 5] = [
        Access::Ro,
        Access::Rw,
        Access::W1c,
        Access::Wo,
        Access::Pulse,
    ];

    /// Returns the name in the map file.
    pub fn name(self) -> &'static str {
        match self {
            Access::Ro => "ro",
            Access::Rw => "rw",
            Access::W1c => "w1c",
            Access::Wo => "wo",
            Access::Pulse => "pulse",
        }
    }

    /// Reports whether a read gives the field's value.
    pub fn readable(self) -> bool {
        matches!(self, Access::Ro | Access::Rw | Access::W1c)
    }

    /// Reports whether a write has an effect.
    pub fn writable(self) -> bool {
        self != Access::Ro
    }
}

/// A read-only value that the map itself determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// [`Map::map_id`].
    MapId,
    /// [`Map::version`].
    MapVersion,
}

impl Constant {
    /// All constants.
    pub const ALL: [Constant; 2] = [Constant::MapId, Constant::MapVersion];

    /// Returns the name in the map file.
    pub fn name(self) -> &'static str {
        match self {
            Constant::MapId => "map_id",
            Constant::MapVersion => "map_version",
        }
    }
}

/// A record in memory, little endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Name, `snake_case`.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Bytes that no member covers.
    pub reserved: Vec<Range<u64>>,
    /// Purpose of the record.
    pub doc: String,
    /// Members, by ascending offset.
    pub members: Vec<Member>,
}

/// An integer of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Name, `snake_case`.
    pub name: String,
    /// Offset in the record, bytes; aligned to the member's size.
    pub offset: u64,
    /// 32 or 64 bits.
    pub width: u32,
    /// Bits that no field covers, as half-open ranges.
    pub reserved: Vec<Range<u32>>,
    /// Meaning of the member.
    pub doc: String,
    /// Fields, by ascending position.
    pub fields: Vec<MemberField>,
}

/// Bits of a [`Member`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberField {
    /// Name, `snake_case`.
    pub name: String,
    /// Position of the lowest bit in the member.
    pub lsb: u32,
    /// Number of bits.
    pub width: u32,
    /// Name of the enumeration of its values.
    pub enumeration: Option<String>,
    /// Smallest legal value.
    pub min: Option<u64>,
    /// Largest legal value.
    pub max: Option<u64>,
    /// Unit of the value.
    pub unit: Option<String>,
    /// Its meaning.
    pub doc: String,
}

impl MemberField {
    /// Returns the field as that of a write-only register.
    fn as_written(&self) -> Field {
        Field {
            name: self.name.clone(),
            lsb: self.lsb,
            width: self.width,
            access: Access::Wo,
            reset: 0,
            constant: None,
            enumeration: self.enumeration.clone(),
            min: self.min,
            max: self.max,
            unit: self.unit.clone(),
            doc: self.doc.clone(),
        }
    }

    /// Returns the position of the highest bit.
    pub fn msb(&self) -> u32 {
        self.lsb + self.width - 1
    }
}

impl Map {
    /// Returns the block with this name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Returns the record with this name.
    pub fn record(&self, name: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.name == name)
    }

    /// Returns the enumeration with this name.
    pub fn enumeration(&self, name: &str) -> Option<&Enumeration> {
        self.enums.iter().find(|e| e.name == name)
    }

    /// Returns the value of a constant in this map.
    pub fn constant(&self, constant: Constant) -> u64 {
        match constant {
            Constant::MapId => self.map_id().into(),
            Constant::MapVersion => self.version.into(),
        }
    }

    /// Returns the value of a register after reset, with its constants.
    pub fn reset_value(&self, register: &Register) -> u64 {
        register.reset_with(|constant| self.constant(constant))
    }
}

/// Returns a value of `width` ones, for widths of 0 to 64.
pub fn ones(width: u32) -> u64 {
    match width {
        0 => 0,
        w => u64::MAX >> (64 - w),
    }
}
