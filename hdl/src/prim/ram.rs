//! Memories. Their Verilog is written by hand: a memory is an inference template, not logic.
//!
//! The depth is a run-time value (`2^log2`), so one Rust type serves every build parameter; address
//! ports are as wide as the largest build needs and the bits above `log2` are ignored.

use rust_hdl::prelude::*;
use std::collections::HashMap;

/// `[hi:0]` of an address that selects one of `2^log2` words.
fn index(port: &str, width: usize, log2: usize) -> String {
    if width == log2 {
        port.to_string()
    } else {
        format!("{port}[{}:0]", log2 - 1)
    }
}

/// A sink for the address bits that this depth does not need; linters skip names with `unused`.
fn unused(ports: &[&str], width: usize, log2: usize) -> String {
    if width == log2 {
        return String::new();
    }
    let bits = ports
        .iter()
        .map(|p| format!("{p}[{}:{log2}]", width - 1))
        .collect::<Vec<_>>()
        .join(", ");
    format!("wire unused_address_bits = &{{1'b0, {bits}}};\n")
}

/// Simple dual-port block RAM: one write port, one registered read port (latency one clock of
/// `read_clock`), possibly in different clocks. Reading a word in the cycle in which it is written
/// gives an undefined value; no user of this block does.
#[derive(LogicBlock)]
pub struct BlockRam<const D: usize, const A: usize> {
    pub write_clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<D>>,
    pub read_clock: Signal<In, Clock>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<D>>,
    _log2: usize,
    _width: usize,
    _two_clocks: bool,
    _cells: HashMap<u64, Bits<D>>,
}

impl<const D: usize, const A: usize> BlockRam<D, A> {
    /// A memory of `2^log2` words.
    pub fn new(log2: usize) -> Self {
        Self::narrow(log2, D)
    }

    /// A memory of `2^log2` words between two clocks. A block of its own, never LUTs: from those a path
    /// would lead from the one clock to the other that no constraint knows by name.
    pub fn between_clocks(log2: usize) -> Self {
        Self {
            _two_clocks: true,
            ..Self::new(log2)
        }
    }

    /// A memory of `2^log2` words of the low `width` bits; the bits above read as 0.
    pub fn narrow(log2: usize, width: usize) -> Self {
        assert!((1..=A).contains(&log2), "2^{log2} words, {A} address bits");
        assert!((1..=D).contains(&width), "{width} of {D} bits");
        Self {
            write_clock: Default::default(),
            write_enable: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            read_clock: Default::default(),
            read_enable: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            _log2: log2,
            _width: width,
            _two_clocks: false,
            _cells: Default::default(),
        }
    }
}

impl<const D: usize, const A: usize> Logic for BlockRam<D, A> {
    fn update(&mut self) {
        let mask = (1u64 << self._log2) - 1;
        if self.read_clock.pos_edge() && self.read_enable.val() {
            let at = self.read_address.val().to_u64() & mask;
            self.read_data.next = self._cells.get(&at).copied().unwrap_or_default();
        }
        if self.write_clock.pos_edge() && self.write_enable.val() {
            let at = self.write_address.val().to_u64() & mask;
            self._cells.insert(at, self.write_data.val());
        }
    }
    fn connect(&mut self) {
        self.read_data.connect();
    }
    fn hdl(&self) -> Verilog {
        let (part, zeros, waste) = match D - self._width {
            0 => (String::new(), String::new(), String::new()),
            above => (
                format!("[{}:0]", self._width - 1),
                format!("{above}'d0, "),
                format!(
                    "wire unused_data_bits = &{{1'b0, write_data[{}:{}]}};\n",
                    D - 1,
                    self._width
                ),
            ),
        };
        Verilog::Custom(format!(
            "(* {style}no_rw_check\" *) reg [{top}:0] cells [0:{last}];\n\
             reg [{top}:0] read_word;\n\
             {unused}{waste}\
             always @(posedge write_clock) begin\n  \
               if (write_enable) cells[{write}] <= write_data{part};\n\
             end\n\
             always @(posedge read_clock) begin\n  \
               if (read_enable) read_word <= cells[{read}];\n\
             end\n\
             assign read_data = {{{zeros}read_word}};\n",
            // Wide and not deep, tools would take LUTs for it.
            style = match (self._two_clocks, self._log2 >= 6) {
                (true, _) => "ram_style = \"block\", ramstyle = \"M20K, ",
                (false, true) => "ram_style = \"block\", ramstyle = \"",
                (false, false) => "ramstyle = \"",
            },
            top = self._width - 1,
            last = (1usize << self._log2) - 1,
            unused = unused(&["write_address", "read_address"], A, self._log2),
            write = index("write_address", A, self._log2),
            read = index("read_address", A, self._log2),
        ))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}

/// Small memory with an unregistered read port: MLAB or LUT RAM. Reading a word in the cycle of its
/// write gives the old one.
#[derive(LogicBlock)]
pub struct SmallRam<const D: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<D>>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<D>>,
    _log2: usize,
    _cells: HashMap<u64, Bits<D>>,
}

impl<const D: usize, const A: usize> Default for SmallRam<D, A> {
    fn default() -> Self {
        Self::new(A)
    }
}

impl<const D: usize, const A: usize> SmallRam<D, A> {
    /// A memory of `2^log2` words; of two where `log2` is 0.
    pub fn new(log2: usize) -> Self {
        assert!(log2 <= A, "2^{log2} words, {A} address bits");
        fresh!(
            clock, write_enable, write_address, write_data, read_address, read_data, _cells;
            _log2: log2.max(1),
        )
    }
}

impl<const D: usize, const A: usize> Logic for SmallRam<D, A> {
    fn update(&mut self) {
        let mask = (1u64 << self._log2) - 1;
        if self.clock.pos_edge() && self.write_enable.val() {
            let at = self.write_address.val().to_u64() & mask;
            self._cells.insert(at, self.write_data.val());
        }
        let at = self.read_address.val().to_u64() & mask;
        self.read_data.next = self._cells.get(&at).copied().unwrap_or_default();
    }
    fn connect(&mut self) {
        self.read_data.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* ramstyle = \"MLAB, no_rw_check\" *) reg [{top}:0] cells [0:{last}];\n\
             {unused}\
             always @(posedge clock) begin\n  \
               if (write_enable) cells[{write}] <= write_data;\n\
             end\n\
             assign read_data = cells[{read}];\n",
            top = D - 1,
            last = (1usize << self._log2) - 1,
            unused = unused(&["write_address", "read_address"], A, self._log2),
            write = index("write_address", A, self._log2),
            read = index("read_address", A, self._log2),
        ))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}

/// A block RAM of 512-bit words that are written lane by lane, `W` bits at a time, and read whole
/// (latency one clock of `read_clock`). One array a lane, the form that every tool infers.
#[derive(LogicBlock)]
pub struct LaneRam<const W: usize, const A: usize> {
    pub write_clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_lane: Signal<In, Bits<2>>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<W>>,
    pub read_clock: Signal<In, Clock>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<512>>,
    _cells: HashMap<u64, Bits<512>>,
}

impl<const W: usize, const A: usize> Default for LaneRam<W, A> {
    fn default() -> Self {
        assert!(W == 128 || W == 256, "two or four lanes a word");
        Self {
            write_clock: Default::default(),
            write_enable: Default::default(),
            write_lane: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            read_clock: Default::default(),
            read_enable: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            _cells: Default::default(),
        }
    }
}

impl<const W: usize, const A: usize> Logic for LaneRam<W, A> {
    fn update(&mut self) {
        if self.read_clock.pos_edge() && self.read_enable.val() {
            let at = self.read_address.val().to_u64();
            self.read_data.next = self._cells.get(&at).copied().unwrap_or_default();
        }
        if self.write_clock.pos_edge() && self.write_enable.val() {
            let at = self.write_address.val().to_u64();
            let low = self.write_lane.val().to_u64() as usize * W;
            let mut word = self._cells.get(&at).copied().unwrap_or_default();
            for bit in 0..W {
                word = word.replace_bit(low + bit, self.write_data.val().get_bit(bit));
            }
            self._cells.insert(at, word);
        }
    }
    fn connect(&mut self) {
        self.read_data.connect();
    }
    fn hdl(&self) -> Verilog {
        let lanes = 512 / W;
        let mut text = String::new();
        for lane in 0..lanes {
            text += &format!(
                "(* ram_style = \"block\", ramstyle = \"M20K, no_rw_check\" *) \
                   reg [{top}:0] cells_{lane} [0:{last}];\n\
                 reg [{top}:0] read_lane_{lane};\n\
                 always @(posedge write_clock) begin\n  \
                   if (write_enable && write_lane == 2'd{lane}) \
                     cells_{lane}[write_address] <= write_data;\n\
                 end\n\
                 always @(posedge read_clock) begin\n  \
                   if (read_enable) read_lane_{lane} <= cells_{lane}[read_address];\n\
                 end\n",
                top = W - 1,
                last = (1usize << A) - 1,
            );
        }
        let word = (0..lanes)
            .rev()
            .map(|lane| format!("read_lane_{lane}"))
            .collect::<Vec<_>>()
            .join(", ");
        Verilog::Custom(format!("{text}assign read_data = {{{word}}};\n"))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}
