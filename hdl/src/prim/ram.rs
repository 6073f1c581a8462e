//! Memories. Their Verilog is written by hand: a memory is an inference template, not logic.
//!
//! The depth is a run-time value (`2^log2`), so one Rust type serves every build parameter; address
//! ports are as wide as the largest build needs and the bits above `log2` are ignored.
//!
//! Where an FPGA does not define the result of a read, the memories give garbage in simulation: here, and in their
//! Verilog with the macro `SIMULATION`, which synthesis does not define.
//!
//! # Results that an FPGA defines
//! `no_rw_check` lets Quartus choose the value that a word reads as at the edge of its write, regardless of the Verilog
//! (Quartus Prime Standard Edition user guide Design Recommendations 683323, "Check Read-During-Write Behavior"). For
//! block RAM and MLAB alike that may be "don't care" (Cyclone V Device Handbook, volume 1, "Embedded Memory Blocks",
//! Mixed-Port Read-During-Write Mode; the same is assumed of the Stratix V, of the same generation). By default no
//! constraint applies between write and read of an MLAB, and the value read may be metastable (Quartus Prime Pro
//! Edition Settings File Reference Manual 683296,
//! `MLAB_ADD_TIMING_CONSTRAINTS_FOR_MIXED_PORT_FEED_THROUGH_MODE_SETTING_DONT_CARE`, which names later families). No
//! document says for how long. Two assumptions are made: a word has settled at the end of the cycle after the edge, and
//! between two clocks it has settled at the second read edge.

use super::Word;
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use std::collections::HashMap;

/// `[hi:0]` of an address that selects one of `2^log2` words.
pub(super) fn index(port: &str, width: usize, log2: usize) -> String {
    if width == log2 {
        port.to_string()
    } else {
        format!("{port}[{}:0]", log2 - 1)
    }
}

/// A sink for the address bits that this depth does not need; linters skip names with `unused`.
pub(super) fn unused(ports: &[&str], width: usize, log2: usize) -> String {
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

/// Words of an MLAB at its widest, 20 bits (Stratix V Device Handbook, volume 1, "Embedded Memory Blocks"). A memory of
/// no more words would leave a block of 512 nearly empty.
const MLAB_WORDS: usize = 32;

/// Values that rust-hdl's simulator reads where the FPGA promises nothing.
#[derive(Default)]
struct Garbage(u64);

impl Garbage {
    /// Another value from now on.
    fn change(&mut self) {
        self.0 = (self.0 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(6_364_136_223_846_793_005) + 1;
    }

    fn word<T: Word>(&self, width: usize) -> T {
        let mut at = 0;
        T::from_bits(&mut || {
            let bit = (self.0.rotate_left(at as u32 / 64 * 7) >> (at % 64)) & 1 == 1 && at < width;
            at += 1;
            bit
        })
    }
}

/// Returns the Verilog (with the macro `SIMULATION`) of `garbage`: the value that a memory gives where the FPGA's
/// memory promises nothing. It has another value in each cycle of `clock`, and the same values in every run.
pub(super) fn garbage(clock: &str, width: usize) -> String {
    format!(
        "reg [31:0] noise;\n\
         wire [31:0] noise_left = noise ^ (noise << 13);\n\
         wire [31:0] noise_right = noise_left ^ (noise_left >> 17);\n\
         wire [{bits}:0] noises = {{{copies}{{noise}}}};\n\
         wire [{top}:0] garbage = noises[{top}:0];\n\
         wire unused_noise = &{{1'b0, noises}};\n\
         initial noise = 32'd{seed};\n\
         always @(posedge {clock}) noise <= noise_right ^ (noise_right << 5);\n",
        bits = width.div_ceil(32) * 32 - 1,
        copies = width.div_ceil(32),
        top = width - 1,
        // Marsaglia's xorshift generator takes any seed but 0.
        seed = 2_463_534_242u32.rotate_left(width as u32 % 32),
    )
}

/// Simple dual-port block RAM: one write port, one registered read port (latency one clock of `read_clock`), possibly
/// in different clocks. A read of a word at the edge at which it is written gives any value; between two clocks also a
/// read at the next edge. In simulation it gives garbage; no user of this block looks at it.
///
/// On Altera's FPGAs it is a block of its own, unless it has 32 words at most and one clock: then it is a LUT memory
/// (MLAB). That memory may not be read while the word of the cycle before has not settled, so a register holds the word
/// that was written then. Between two clocks it stays a block of its own: see [`BlockRam::between_clocks`].
#[derive(DocBlock)]
#[module_name(shape)]
pub struct BlockRam<T: Word, const A: usize> {
    pub write_clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, T>,
    pub read_clock: Signal<In, Clock>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, T>,
    #[given]
    _log2: usize,
    #[given]
    _width: usize,
    #[given]
    _two_clocks: bool,
    _cells: HashMap<u64, T>,
    _garbage: Garbage,
}

impl<T: Word, const A: usize> BlockRam<T, A> {
    /// A memory of `2^log2` words.
    pub fn new(log2: usize) -> Self {
        Self::narrow(log2, T::BITS)
    }

    /// Makes a memory of `2^log2` words between two clocks. It is a block of its own, never LUTs: from those a path
    /// would lead from one clock to the other that no constraint knows by name.
    pub fn between_clocks(log2: usize) -> Self {
        Self {
            _two_clocks: true,
            ..Self::new(log2)
        }
    }

    /// A memory of `2^log2` words of the low `width` bits; the bits above read as 0.
    pub fn narrow(log2: usize, width: usize) -> Self {
        assert!((1..=A).contains(&log2), "2^{log2} words, {A} address bits");
        assert!(
            (1..=T::BITS).contains(&width),
            "{width} of {} bits",
            T::BITS
        );
        Self::fresh(BlockRamGiven {
            _log2: log2,
            _width: width,
            _two_clocks: false,
        })
    }

    /// Whether it is a LUT memory.
    fn is_small(&self) -> bool {
        !self._two_clocks && 1 << self._log2 <= MLAB_WORDS
    }

    /// Words and bits, and whether they are reached from two clocks.
    fn shape(&self) -> String {
        let clocks = if self._two_clocks { "_two_clocks" } else { "" };
        format!("ram_block_{}x{}{clocks}", 1u64 << self._log2, self._width)
    }

    /// Words that it holds.
    pub(super) fn words(&self) -> u64 {
        1 << self._log2
    }
}

impl<T: Word, const A: usize> Logic for BlockRam<T, A> {
    fn update(&mut self) {
        let mask = (1u64 << self._log2) - 1;
        if self.read_clock.pos_edge() && self.read_enable.val() {
            self._garbage.change();
            let at = self.read_address.val().to_u64() & mask;
            let collides =
                self.write_enable.val() && self.write_address.val().to_u64() & mask == at;
            self.read_data.next = if collides {
                self._garbage.word(self._width)
            } else {
                self._cells.get(&at).copied().unwrap_or_default()
            };
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
        let (part, zeros, waste) = match T::BITS - self._width {
            0 => (String::new(), String::new(), String::new()),
            above => (
                format!("[{}:0]", self._width - 1),
                format!("{above}'d0, "),
                format!(
                    "wire unused_data_bits = &{{1'b0, write_data[{}:{}]}};\n",
                    T::BITS - 1,
                    self._width
                ),
            ),
        };
        let write = index("write_address", A, self._log2);
        let read = index("read_address", A, self._log2);
        let (recent, settled) = if self.is_small() {
            let top_address = self._log2 - 1;
            let registers = format!(
                "// What was written in the last cycle.\n\
                 reg recent_on;\n\
                 reg [{top_address}:0] recent_at;\n\
                 reg [{top}:0] recent_data;\n\
                 initial recent_on = 1'b0;\n\
                 always @(posedge write_clock) begin\n  \
                   recent_on <= write_enable;\n  \
                   recent_at <= {write};\n  \
                   recent_data <= write_data{part};\n\
                 end\n",
                top = self._width - 1,
            );
            let choice = format!("recent_on && recent_at == {read} ? recent_data : ");
            (registers, choice)
        } else {
            (String::new(), String::new())
        };
        Verilog::Custom(format!(
            "(* {style}, no_rw_check\" *) reg [{top}:0] cells [0:{last}];\n\
             reg [{top}:0] read_word;\n\
             {unused}{waste}{recent}\
             always @(posedge write_clock) begin\n  \
               if (write_enable) cells[{write}] <= write_data{part};\n\
             end\n\
             `ifdef SIMULATION\n\
             {garbage}\
             {collision}\
             always @(posedge read_clock) begin\n  \
               if (read_enable) read_word <= collides ? garbage : {settled}cells[{read}];\n\
             end\n\
             `else\n\
             always @(posedge read_clock) begin\n  \
               if (read_enable) read_word <= {settled}cells[{read}];\n\
             end\n\
             `endif\n\
             assign read_data = {{{zeros}read_word}};\n",
            garbage = garbage("read_clock", self._width),
            collision = collision(&write, &read, self._log2, self._two_clocks),
            // Wide and not deep, tools would take LUTs for it.
            style = if self.is_small() {
                "ramstyle = \"MLAB"
            } else {
                "ram_style = \"block\", ramstyle = \"M20K"
            },
            top = self._width - 1,
            last = (1usize << self._log2) - 1,
            unused = unused(&["write_address", "read_address"], A, self._log2),
        ))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}

/// Returns the Verilog of `collides`: a registered read port reads the word that is written. Between two clocks, any
/// write since the last read edge counts.
fn collision(write: &str, read: &str, log2: usize, two_clocks: bool) -> String {
    let now = format!("write_enable && {write} == {read}");
    if !two_clocks {
        return format!("wire collides = {now};\n");
    }
    format!(
        "reg [7:0] writes;\n\
         reg [7:0] writes_seen;\n\
         reg [{top}:0] recent;\n\
         wire collides = ({now}) || (writes != writes_seen && recent == {read});\n\
         initial begin\n  \
           writes = 8'd0;\n  \
           writes_seen = 8'd0;\n\
         end\n\
         always @(posedge write_clock) begin\n  \
           if (write_enable) begin\n    \
             writes <= writes + 8'd1;\n    \
             recent <= {write};\n  \
           end\n\
         end\n\
         always @(posedge read_clock) writes_seen <= writes;\n",
        top = log2 - 1,
    )
}

/// Small memory with an unregistered read port: MLAB or LUT RAM. A word may be read when its last write is two cycles
/// old. In the cycle of the write and in the next, its value is undefined, and garbage in simulation.
/// [`super::ForwardRam`] is for users that cannot wait.
#[derive(DocBlock)]
#[module_name(shape)]
pub struct SmallRam<T: Word, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, T>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, T>,
    #[given]
    _log2: usize,
    _cells: HashMap<u64, T>,
    /// Where the write of the last cycle was.
    _settling: Option<u64>,
    _garbage: Garbage,
}

impl<T: Word, const A: usize> Default for SmallRam<T, A> {
    fn default() -> Self {
        Self::new(A)
    }
}

impl<T: Word, const A: usize> SmallRam<T, A> {
    /// A memory of `2^log2` words; of two where `log2` is 0.
    pub fn new(log2: usize) -> Self {
        assert!(log2 <= A, "2^{log2} words, {A} address bits");
        Self::fresh(SmallRamGiven { _log2: log2.max(1) })
    }

    fn shape(&self) -> String {
        format!("ram_mlab_{}x{}", self.words(), T::BITS)
    }

    /// Returns the number of words that it holds.
    pub(super) fn words(&self) -> u64 {
        1 << self._log2
    }

    /// The words, in Verilog. `no_rw_check`: Quartus is not to build its own way around the memory.
    pub(super) fn cells(log2: usize) -> String {
        format!(
            "(* ramstyle = \"MLAB, no_rw_check\" *) reg [{}:0] cells [0:{}];\n",
            T::BITS - 1,
            (1usize << log2) - 1
        )
    }
}

impl<T: Word, const A: usize> Logic for SmallRam<T, A> {
    fn update(&mut self) {
        let mask = (1u64 << self._log2) - 1;
        let written = self
            .write_enable
            .val()
            .then(|| self.write_address.val().to_u64() & mask);
        if self.clock.pos_edge() {
            if let Some(at) = written {
                self._cells.insert(at, self.write_data.val());
            }
            self._settling = written;
            self._garbage.change();
        }
        let at = Some(self.read_address.val().to_u64() & mask);
        self.read_data.next = if at == written || at == self._settling {
            self._garbage.word(T::BITS)
        } else {
            at.and_then(|at| self._cells.get(&at).copied())
                .unwrap_or_default()
        };
    }
    fn connect(&mut self) {
        self.read_data.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "{cells}\
             {unused}\
             always @(posedge clock) begin\n  \
               if (write_enable) cells[{write}] <= write_data;\n\
             end\n\
             `ifdef SIMULATION\n\
             {garbage}\
             reg settling;\n\
             reg [{top_address}:0] recent;\n\
             wire collides = (write_enable && {write} == {read}) || (settling && recent == {read});\n\
             initial settling = 1'b0;\n\
             always @(posedge clock) begin\n  \
               settling <= write_enable;\n  \
               recent <= {write};\n\
             end\n\
             assign read_data = collides ? garbage : cells[{read}];\n\
             `else\n\
             assign read_data = cells[{read}];\n\
             `endif\n",
            cells = Self::cells(self._log2),
            garbage = garbage("clock", T::BITS),
            top_address = self._log2 - 1,
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
#[derive(DocBlock, Default)]
#[module_name(shape)]
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

impl<const W: usize, const A: usize> LaneRam<W, A> {
    fn shape(&self) -> String {
        format!("ram_lanes_{}x512", 1u64 << A)
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
        assert!(W == 128 || W == 256, "two or four lanes a word");
        let lanes = 512 / W;
        // A collision with one lane counts for all.
        let mut text = format!(
            "`ifdef SIMULATION\n{}{}`endif\n",
            garbage("read_clock", W),
            collision("write_address", "read_address", A, true)
        );
        for lane in 0..lanes {
            text += &format!(
                "(* ram_style = \"block\", ramstyle = \"M20K, no_rw_check\" *) \
                   reg [{top}:0] cells_{lane} [0:{last}];\n\
                 reg [{top}:0] read_lane_{lane};\n\
                 always @(posedge write_clock) begin\n  \
                   if (write_enable && write_lane == 2'd{lane}) \
                     cells_{lane}[write_address] <= write_data;\n\
                 end\n\
                 `ifdef SIMULATION\n\
                 always @(posedge read_clock) begin\n  \
                   if (read_enable) \
                     read_lane_{lane} <= collides ? garbage : cells_{lane}[read_address];\n\
                 end\n\
                 `else\n\
                 always @(posedge read_clock) begin\n  \
                   if (read_enable) read_lane_{lane} <= cells_{lane}[read_address];\n\
                 end\n\
                 `endif\n",
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

/// A block RAM of 512-bit words that are written by the dword, and read whole (latency one clock of `read_clock`). One
/// array a dword. A block has 512 words of up to 40 bits (Stratix V Device Handbook, volume 1, "Embedded Memory
/// Blocks"), so wider arrays would take nearly as many.
#[derive(DocBlock, Default)]
#[module_name(shape)]
pub struct DwordRam<const A: usize> {
    pub write_clock: Signal<In, Clock>,
    /// One bit a dword.
    pub write_enable: Signal<In, Bits<16>>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<512>>,
    pub read_clock: Signal<In, Clock>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<512>>,
    _cells: HashMap<u64, Bits<512>>,
}

impl<const A: usize> DwordRam<A> {
    fn shape(&self) -> String {
        format!("ram_dwords_{}x512", 1u64 << A)
    }
}

impl<const A: usize> Logic for DwordRam<A> {
    fn update(&mut self) {
        if self.read_clock.pos_edge() {
            let at = self.read_address.val().to_u64();
            self.read_data.next = self._cells.get(&at).copied().unwrap_or_default();
        }
        if self.write_clock.pos_edge() {
            let at = self.write_address.val().to_u64();
            let mut word = self._cells.get(&at).copied().unwrap_or_default();
            for bit in (0..512).filter(|bit| self.write_enable.val().get_bit(bit / 32)) {
                word = word.replace_bit(bit, self.write_data.val().get_bit(bit));
            }
            self._cells.insert(at, word);
        }
    }
    fn connect(&mut self) {
        self.read_data.connect();
    }
    fn hdl(&self) -> Verilog {
        // A collision with one dword counts for all.
        let mut text = format!(
            "`ifdef SIMULATION\n{}{}`endif\n",
            garbage("read_clock", 32),
            collision("write_address", "read_address", A, true)
                .replace("write_enable", "(|write_enable)")
        );
        for dword in 0..16 {
            text += &format!(
                "(* ram_style = \"block\", ramstyle = \"M20K, no_rw_check\" *) \
                   reg [31:0] cells_{dword} [0:{last}];\n\
                 reg [31:0] read_{dword};\n\
                 always @(posedge write_clock) begin\n  \
                   if (write_enable[{dword}]) \
                     cells_{dword}[write_address] <= write_data[{high}:{low}];\n\
                 end\n\
                 `ifdef SIMULATION\n\
                 always @(posedge read_clock) \
                   read_{dword} <= collides ? garbage : cells_{dword}[read_address];\n\
                 `else\n\
                 always @(posedge read_clock) read_{dword} <= cells_{dword}[read_address];\n\
                 `endif\n",
                last = (1usize << A) - 1,
                high = dword * 32 + 31,
                low = dword * 32,
            );
        }
        let word: Vec<_> = (0..16).rev().map(|n| format!("read_{n}")).collect();
        Verilog::Custom(format!(
            "{text}assign read_data = {{{}}};\n",
            word.join(", ")
        ))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}
