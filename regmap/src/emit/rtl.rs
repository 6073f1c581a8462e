//! The RTL: a rust-hdl source for each register block.
//!
//! Choices, for size and speed of the logic:
//! - Only `rw`, `w1c` and `pulse` fields are flip-flops. `ro` fields are inputs and `wo` registers leave as strobes,
//!   together with the slave's own `writedata`. A register that is `held` by the block leaves as a strobe too, and its
//!   value comes in; one in a memory reads as 0 here.
//! - With a read latency of 2 the address of a read waits a cycle before it is looked up. So a value that an access in
//!   the cycle before changes may be looked up in a register, too, and is not stale.
//! - The read multiplexer is a tree over the address bits, not a chain of comparisons, so its
//!   depth grows with the logarithm of the number of registers.
//! - rust-hdl 0.46 allows no `let` and no calls in `update`, its flip-flops have no reset, and
//!   literals are 64 bits: hence the plain style of the generated code, with the reset as the last
//!   `if`.

use askama::Template;

use super::text::{camel, joined, rustdoc};
use super::{OutputFile, render};
use crate::model::{Access, Block, Content, Field, Held, Map, Piece, Register};

/// A port of the generated block.
struct Port {
    doc: Vec<String>,
    name: String,
    direction: &'static str,
    kind: String,
}

/// A flip-flop of the generated block.
struct Flop {
    name: String,
    kind: String,
}

#[derive(Template)]
#[template(path = "regs.rs.txt", escape = "none")]
struct Regs {
    block: String,
    name: String,
    address_bits: u32,
    read_latency: u32,
    ports: Vec<Port>,
    flops: Vec<Flop>,
    /// Statements of `update`.
    body: Vec<String>,
}

#[derive(Template)]
#[template(path = "generated_mod.rs.txt", escape = "none")]
struct Modules {
    blocks: Vec<(String, String)>,
}

/// Returns the rust-hdl sources of the block's register files: `mod.rs` and one file for each block that has registers.
/// Their constants are the ones of [`host`](super::host).
pub fn rtl(map: &Map) -> Vec<OutputFile> {
    let mut blocks: Vec<_> = (map.blocks.iter())
        .filter(|b| matches!(b.content, Content::Registers(_)))
        .collect();
    blocks.sort_by_key(|b| &b.name);
    let modules = Modules {
        blocks: (blocks.iter())
            .map(|b| (b.name.clone(), format!("{}Regs", camel(&b.name))))
            .collect(),
    };
    let mut files = vec![OutputFile::new("mod.rs", render(&modules))];
    for block in blocks {
        let text = render(&Builder::new(map, block).build());
        files.push(OutputFile::new(format!("{}.rs", block.name), text));
    }
    files
}

/// Word of a register as seen by the address decoder.
struct Decoded {
    /// Address of the word in words; for an array, of its first element.
    address: u64,
    /// Expression of its value, 32 bits, if it can be read.
    value: Option<String>,
}

struct Builder<'a> {
    map: &'a Map,
    block: &'a Block,
    address_bits: u32,
    ports: Vec<Port>,
    flops: Vec<Flop>,
    outputs: Vec<String>,
    writes: Vec<String>,
    resets: Vec<String>,
    words: Vec<Decoded>,
}

/// Returns the type of a signal of this width.
fn kind(width: u32) -> String {
    match width {
        1 => "Bit".into(),
        width => format!("Bits<{width}>"),
    }
}

/// Returns the literal of a signal of this width. The suffix keeps rustc from trying `i32`.
fn literal(width: u32, value: u64) -> String {
    match width {
        1 => (value != 0).to_string(),
        _ => format!("{value}u64.into()"),
    }
}

impl<'a> Builder<'a> {
    fn new(map: &'a Map, block: &'a Block) -> Self {
        Builder {
            map,
            block,
            address_bits: block.size.ilog2() - 2,
            ports: Vec::new(),
            flops: Vec::new(),
            outputs: Vec::new(),
            writes: Vec::new(),
            resets: Vec::new(),
            words: Vec::new(),
        }
    }

    fn build(mut self) -> Regs {
        for register in self.block.registers() {
            if register.held == Held::Memory {
                continue;
            }
            if register.is_strobe() {
                self.strobe(register);
            } else {
                self.register(register);
            }
        }
        let mut body = self.outputs;
        if !self.writes.is_empty() {
            body.push("// Writes.".into());
            body.extend(self.writes);
        }
        let readable: Vec<(u64, String)> = (self.words.into_iter())
            .filter_map(|w| Some((w.address, w.value?)))
            .collect();
        body.push("// Reads: registered; 0 at unused addresses.".into());
        let [read, address] = match self.block.read_latency {
            1 => ["self.read.val()", "self.address.val()"],
            _ => {
                body.push("self.read_reg.d.next = self.read.val();".into());
                body.push("self.address_reg.d.next = self.address.val();".into());
                self.resets.push("self.read_reg.d.next = false;".into());
                self.flops.push(Flop {
                    name: "read_reg".into(),
                    kind: kind(1),
                });
                self.flops.push(Flop {
                    name: "address_reg".into(),
                    kind: kind(self.address_bits),
                });
                ["self.read_reg.q.val()", "self.address_reg.q.val()"]
            }
        };
        body.push(format!("if {read} {{"));
        body.push("    self.readdata_reg.d.next = 0u64.into();".into());
        tree(&readable, address, self.address_bits, 1, &mut body);
        body.push("}".into());
        if !self.resets.is_empty() {
            body.push("if self.reset.val() {".into());
            body.extend(self.resets.into_iter().map(|line| format!("    {line}")));
            body.push("}".into());
        }
        Regs {
            block: self.block.name.clone(),
            name: format!("{}Regs", camel(&self.block.name)),
            address_bits: self.address_bits,
            read_latency: self.block.read_latency,
            ports: self.ports,
            flops: self.flops,
            body,
        }
    }

    fn port(&mut self, doc: &str, name: String, direction: &'static str, width: u32) {
        self.ports.push(Port {
            doc: rustdoc(doc, 92),
            name,
            direction,
            kind: kind(width),
        });
    }

    /// Adds a register whose writes are passed on.
    fn strobe(&mut self, register: &Register) {
        let address = register.offset / 4;
        let low = (register.stride / 4).ilog2();
        let index_bits = register.count.ilog2();
        for (number, word) in register.words().iter().enumerate() {
            let port = format!("{}_we", word.name.to_ascii_lowercase());
            let doc = format!(
                "{}: written in this cycle with `writedata`. {}",
                word.name, register.doc
            );
            self.port(&doc, port.clone(), "Out", 1);
            let mut terms = vec!["self.act.val()".to_owned()];
            let high = low + index_bits;
            if high < self.address_bits {
                terms.push(self.address_is(high, self.address_bits, address >> high));
            }
            if low > 0 {
                terms.push(self.address_is(0, low, number as u64));
            }
            self.outputs
                .push(format!("self.{port}.next = {};", terms.join(" & ")));
        }
        if index_bits > 0 {
            let port = format!("{}_index", register.name.to_ascii_lowercase());
            let doc = format!("{}: the element that is written.", register.name);
            self.port(&doc, port.clone(), "Out", index_bits);
            let index = match index_bits {
                1 => format!("get_bit({low})"),
                _ => format!("get_bits::<{index_bits}>({low})"),
            };
            self.outputs
                .push(format!("self.{port}.next = self.address.val().{index};"));
        }
    }

    /// Returns a comparison of address bits `low..high` with a value.
    fn address_is(&self, low: u32, high: u32, value: u64) -> String {
        match (high - low, value) {
            (1, 0) => format!("!self.address.val().get_bit({low})"),
            (1, _) => format!("self.address.val().get_bit({low})"),
            (width, _) if width == self.address_bits => {
                format!("(self.address.val() == {value})")
            }
            (width, _) => {
                format!("(self.address.val().get_bits::<{width}>({low}) == {value})")
            }
        }
    }

    /// Adds a register with ports and flip-flops of its own.
    fn register(&mut self, register: &Register) {
        if register.held == Held::Block {
            self.strobe(register);
        }
        for field in &register.fields {
            self.field_ports(register, field);
        }
        for word in register.words() {
            let mut on_write = Vec::new();
            let mut terms = Vec::new();
            for piece in &word.pieces {
                self.piece(register, &word.name, piece, &mut on_write);
                if piece.field.access.readable() {
                    terms.push(self.read_term(register, &word.name, piece));
                }
            }
            let address = word.offset / 4;
            if !on_write.is_empty() {
                let decode = self.address_is(0, self.address_bits, address);
                self.writes.push(format!("if self.act.val() & {decode} {{"));
                self.writes
                    .extend(on_write.into_iter().map(|line| format!("    {line}")));
                self.writes.push("}".into());
            }
            // After the write, so that an event in the same cycle wins.
            for piece in &word.pieces {
                if piece.field.access == Access::W1c && register.held == Held::Decoder {
                    let name = joined(&register.name, &piece.field.name);
                    self.writes.push(format!("if self.{name}_set.val() {{"));
                    self.writes
                        .push(format!("    self.{name}_reg.d.next = true;"));
                    self.writes.push("}".into());
                }
            }
            self.words.push(Decoded {
                address,
                value: (!terms.is_empty()).then(|| join_terms(&terms)),
            });
        }
    }

    fn field_ports(&mut self, register: &Register, field: &Field) {
        let name = joined(&register.name, &field.name);
        let doc = format!("{}.{}: {}", register.name, field.name, field.doc);
        if register.held == Held::Block {
            if field.access.readable() {
                self.port(&doc, name, "In", field.width);
            }
            return;
        }
        match field.access {
            Access::Ro => {
                if field.constant.is_none() {
                    self.port(&doc, name, "In", field.width);
                }
            }
            Access::Rw | Access::Pulse => self.port(&doc, name, "Out", field.width),
            Access::W1c => {
                self.port(&doc, name.clone(), "Out", 1);
                let doc = format!("Sets {}.{}.", register.name, field.name);
                self.port(&doc, format!("{name}_set"), "In", 1);
            }
            // Registers with such fields are strobes.
            Access::Wo => {}
        }
    }

    /// Returns the name of the flip-flop of a piece.
    fn flop_name(register: &Register, word: &str, piece: &Piece<'_>) -> String {
        let split = piece.width != piece.field.width;
        let owner = if split { word } else { &register.name };
        format!("{}_reg", joined(owner, &piece.field.name))
    }

    /// Adds the flip-flop of a piece, and the effect of a write.
    fn piece(
        &mut self,
        register: &Register,
        word: &str,
        piece: &Piece<'_>,
        on_write: &mut Vec<String>,
    ) {
        if piece.field.access == Access::Ro || register.held != Held::Decoder {
            return;
        }
        let name = joined(&register.name, &piece.field.name);
        let flop = Self::flop_name(register, word, piece);
        let (lsb, width) = (piece.lsb, piece.width);
        let data = match width {
            1 => format!("self.writedata.val().get_bit({lsb})"),
            32 => "self.writedata.val()".to_owned(),
            _ => format!("self.writedata.val().get_bits::<{width}>({lsb})"),
        };
        match piece.field.access {
            Access::Rw => on_write.push(format!("self.{flop}.d.next = {data};")),
            Access::W1c => on_write.push(format!(
                "self.{flop}.d.next = self.{flop}.q.val() & !{data};"
            )),
            Access::Pulse => {
                self.writes.push(format!("self.{flop}.d.next = false;"));
                on_write.push(format!("self.{flop}.d.next = {data};"));
            }
            Access::Ro | Access::Wo => {}
        }
        let reset = literal(width, piece.reset());
        self.resets.push(format!("self.{flop}.d.next = {reset};"));
        self.flops.push(Flop {
            name: flop.clone(),
            kind: kind(width),
        });
        // The output of a field in two words is assigned once, with its upper piece.
        let total = piece.field.width;
        if width == total {
            self.outputs
                .push(format!("self.{name}.next = self.{flop}.q.val();"));
        } else if piece.from > 0 {
            let (from, low_flop) = (piece.from, flop.replacen("_hi", "_lo", 1));
            let high = extend(total, width, &format!("self.{flop}.q.val()"));
            let low = extend(total, from, &format!("self.{low_flop}.q.val()"));
            self.outputs
                .push(format!("self.{name}.next = {low} | ({high} << {from});"));
        }
    }

    /// Returns a piece's value at its place in the 32-bit word.
    fn read_term(&self, register: &Register, word: &str, piece: &Piece<'_>) -> String {
        let field = piece.field;
        if let Some(constant) = field.constant {
            let value = (self.map.constant(constant) >> piece.from) << piece.lsb;
            return format!("bits::<32>({value:#x}u64)");
        }
        let (source, source_width) = match (field.access, register.held) {
            (Access::Ro, _) | (_, Held::Block) => (
                format!("self.{}.val()", joined(&register.name, &field.name)),
                field.width,
            ),
            _ => (
                format!("self.{}.q.val()", Self::flop_name(register, word, piece)),
                piece.width,
            ),
        };
        let wide = if source_width == piece.width {
            extend(32, piece.width, &source)
        } else {
            let part = format!("{source}.get_bits::<{}>({})", piece.width, piece.from);
            match piece.width {
                32 => part,
                width => format!("bit_cast::<32, {width}>({part})"),
            }
        };
        match piece.lsb {
            0 => wide,
            lsb => format!("{wide} << {lsb}"),
        }
    }
}

/// Joins the terms by `|`, each shift in parentheses of its own.
fn join_terms(terms: &[String]) -> String {
    match terms {
        [only] => only.clone(),
        _ => {
            let terms = terms.iter().map(|term| match term.contains("<< ") {
                true => format!("({term})"),
                false => term.clone(),
            });
            terms.collect::<Vec<_>>().join(" | ")
        }
    }
}

/// Returns a signal of `width` bits as `total` bits.
fn extend(total: u32, width: u32, signal: &str) -> String {
    if total == width {
        return signal.to_owned();
    }
    match width {
        1 => format!("bit_cast::<{total}, 1>({signal}.into())"),
        _ => format!("bit_cast::<{total}, {width}>({signal})"),
    }
}

/// Selects among `words` by `address`; they differ in bits `bits - 1` and down only.
fn tree(words: &[(u64, String)], address: &str, bits: u32, depth: usize, body: &mut Vec<String>) {
    let (Some((first, value)), Some((last, _))) = (words.first(), words.last()) else {
        return;
    };
    let pad = "    ".repeat(depth);
    // The words are sorted: all of them share the bits that the first and the last share.
    let differ = u64::BITS - (first ^ last).leading_zeros();
    if differ < bits {
        let width = bits - differ;
        let shared = (first >> differ) & ((1 << width) - 1);
        let condition = match (width, shared) {
            (1, 0) => format!("!{address}.get_bit({differ})"),
            (1, _) => format!("{address}.get_bit({differ})"),
            _ => format!("{address}.get_bits::<{width}>({differ}) == {shared}"),
        };
        body.push(format!("{pad}if {condition} {{"));
        tree(words, address, differ, depth + 1, body);
        body.push(format!("{pad}}}"));
    } else if bits == 0 {
        body.push(format!("{pad}self.readdata_reg.d.next = {value};"));
    } else {
        let bit = bits - 1;
        let split = words.partition_point(|(address, _)| (address >> bit) & 1 == 0);
        body.push(format!("{pad}if {address}.get_bit({bit}) {{"));
        tree(&words[split..], address, bit, depth + 1, body);
        body.push(format!("{pad}}} else {{"));
        tree(&words[..split], address, bit, depth + 1, body);
        body.push(format!("{pad}}}"));
    }
}
