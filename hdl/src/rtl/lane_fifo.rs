//! Beats in, memory words out, between two clocks: a FIFO of `2^A` words whose word is filled lane by lane in place.
//! Lanes that were not written hold old data; their byte enables are zero.

use crate::prim::{AsyncPointers, BlockRam, LaneRam};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Lanes of `W` bits make a 512-bit word.
#[derive(DocBlock)]
pub struct LaneFifo<const W: usize, const A: usize, const P: usize> {
    pub write_clock: Signal<In, Clock>,
    pub write_reset: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub lane: Signal<In, Bits<2>>,
    pub data_in: Signal<In, Bits<W>>,
    /// With the last lane of a word: the word's byte enables.
    pub commit: Signal<In, Bit>,
    pub enable_in: Signal<In, Bits<64>>,
    pub full: Signal<Out, Bit>,
    pub read_clock: Signal<In, Clock>,
    pub read_reset: Signal<In, Bit>,
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<512>>,
    pub enable: Signal<Out, Bits<64>>,
    pub pop: Signal<In, Bit>,
    pointers: AsyncPointers<A, P>,
    lanes: LaneRam<W, A>,
    #[given]
    enables: BlockRam<Bits<64>, A>,
}

impl<const W: usize, const A: usize, const P: usize> Default for LaneFifo<W, A, P> {
    fn default() -> Self {
        Self::fresh(LaneFifoGiven {
            enables: BlockRam::between_clocks(A),
        })
    }
}

impl<const W: usize, const A: usize, const P: usize> Logic for LaneFifo<W, A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        self.pointers.write_clock.next = self.write_clock.val();
        self.pointers.write_reset.next = self.write_reset.val();
        self.pointers.push.next = self.write.val() & self.commit.val();
        self.full.next = self.pointers.full.val();
        self.pointers.read_clock.next = self.read_clock.val();
        self.pointers.read_reset.next = self.read_reset.val();
        self.pointers.pop.next = self.pop.val();
        self.valid.next = self.pointers.valid.val();
        self.enables.write_clock.next = self.write_clock.val();
        self.enables.write_enable.next = self.pointers.accept.val();
        self.enables.write_address.next = self.pointers.write_address.val();
        self.enables.write_data.next = self.enable_in.val();
        self.enables.read_clock.next = self.read_clock.val();
        self.enables.read_enable.next = self.pointers.fetch.val();
        self.enables.read_address.next = self.pointers.read_address.val();
        self.enable.next = self.enables.read_data.val();
        self.lanes.write_clock.next = self.write_clock.val();
        self.lanes.write_enable.next = self.write.val() & !self.pointers.full.val();
        self.lanes.write_lane.next = self.lane.val();
        self.lanes.write_address.next = self.pointers.write_address.val();
        self.lanes.write_data.next = self.data_in.val();
        self.lanes.read_clock.next = self.read_clock.val();
        self.lanes.read_enable.next = self.pointers.fetch.val();
        self.lanes.read_address.next = self.pointers.read_address.val();
        self.data.next = self.lanes.read_data.val();
    }
}
