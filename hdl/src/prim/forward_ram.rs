//! A small memory that may be read at any time.

use super::Word;
use super::ram::{SmallRam, garbage, index, unused};
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use std::collections::HashMap;

/// A [`super::SmallRam`] with a defined result of a read at any time: in the cycle of a write the old word, from the
/// next on the new one. A write waits a cycle in registers, and the registers hold it for another cycle. Reads in these
/// cycles take the word from there, never a word that has not settled. It costs twice its width in flip-flops and once
/// in LUTs.
///
/// One module with its memory, and not one around a [`super::SmallRam`], so that a proof sees all of it as a memory.
#[derive(DocBlock)]
#[module_name(shape)]
pub struct ForwardRam<T: Word, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, T>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, T>,
    #[given]
    _log2: usize,
    _cells: HashMap<u64, T>,
}

impl<T: Word, const A: usize> ForwardRam<T, A> {
    /// A memory of `2^log2` words; of two where `log2` is 0.
    pub fn new(log2: usize) -> Self {
        assert!(log2 <= A, "2^{log2} words, {A} address bits");
        Self::fresh(ForwardRamGiven { _log2: log2.max(1) })
    }

    fn shape(&self) -> String {
        format!("ram_forward_{}x{}", 1u64 << self._log2, T::BITS)
    }
}

impl<T: Word, const A: usize> Logic for ForwardRam<T, A> {
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
            "{cells}\
             {unused}\
             reg writing;\n\
             reg settling;\n\
             reg [{top_address}:0] writing_at;\n\
             reg [{top_address}:0] settling_at;\n\
             reg [{top}:0] writing_data;\n\
             reg [{top}:0] settling_data;\n\
             initial begin\n  \
               writing = 1'b0;\n  \
               settling = 1'b0;\n\
             end\n\
             always @(posedge clock) begin\n  \
               writing <= write_enable;\n  \
               writing_at <= {write};\n  \
               writing_data <= write_data;\n  \
               settling <= writing;\n  \
               settling_at <= writing_at;\n  \
               settling_data <= writing_data;\n  \
               if (writing) cells[writing_at] <= writing_data;\n\
             end\n\
             wire is_writing = writing && writing_at == {read};\n\
             wire is_settling = settling && settling_at == {read};\n\
             wire [{top}:0] settled;\n\
             assign read_data = is_writing ? writing_data : is_settling ? settling_data : settled;\n\
             `ifdef SIMULATION\n\
             {garbage}\
             assign settled = is_writing || is_settling ? garbage : cells[{read}];\n\
             `else\n\
             assign settled = cells[{read}];\n\
             `endif\n",
            cells = SmallRam::<T, A>::cells(self._log2),
            garbage = garbage("clock", T::BITS),
            top = T::BITS - 1,
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
