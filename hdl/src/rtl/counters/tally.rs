//! Small counts of one kind of events, in block RAM.

use crate::prim::{BlockRam, SmallFifo};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// `2^A` rows of `D` bits in two fields, half of the rows of each direction. An event is a word of `F` bits, `{row,
/// amount}`, that waits in the FIFO of its direction; the row becomes the sum of its old value, the amount and a
/// constant.
///
/// An update takes three cycles and one begins in each. The directions have every second cycle each, so updates of one
/// row are at least two cycles apart: an update may read its row while the update before writes it, and then takes the
/// value that is written.
#[derive(DocBlock)]
pub struct Tally<const D: usize, const A: usize, const F: usize> {
    pub clock: Signal<In, Clock>,
    /// Empties the FIFOs.
    pub reset: Signal<In, Bit>,
    pub write_event: Signal<In, Bit>,
    pub write_word: Signal<In, Bits<F>>,
    pub read_event: Signal<In, Bit>,
    pub read_word: Signal<In, Bits<F>>,
    /// Whose turn it is, 1 for reads. Changes with each cycle.
    pub direction: Signal<In, Bit>,
    /// Takes this turn away from the events and clears fields of `sweep_row`: the low one, the high one.
    pub sweep: Signal<In, Bit>,
    pub sweep_row: Signal<In, Bits<A>>,
    pub sweep_low: Signal<In, Bit>,
    pub sweep_high: Signal<In, Bit>,
    /// The old value of the row, two cycles after `sweep`.
    pub held: Signal<Out, Bits<D>>,
    writes: SmallFifo<Bits<F>, 4, 5>,
    reads: SmallFifo<Bits<F>, 4, 5>,
    #[given]
    ram: BlockRam<Bits<D>, A>,
    word: Signal<Local, Bits<F>>,
    issue: Signal<Local, Bit>,
    row: Signal<Local, Bits<A>>,
    address: Signal<Local, Bits<A>>,
    increment: Signal<Local, Bits<D>>,
    keep: Signal<Local, Bits<D>>,
    reading: DFF<Bit>,
    reading_row: DFF<Bits<A>>,
    reading_low: DFF<Bit>,
    reading_high: DFF<Bit>,
    reading_increment: DFF<Bits<D>>,
    /// The row was written as it was read.
    collided: DFF<Bit>,
    writing: DFF<Bit>,
    writing_row: DFF<Bits<A>>,
    writing_low: DFF<Bit>,
    writing_high: DFF<Bit>,
    writing_increment: DFF<Bits<D>>,
    old: DFF<Bits<D>>,
    written: DFF<Bits<D>>,
    sum: Signal<Local, Bits<D>>,
    amount_bits: Constant<Bits<5>>,
    amount_mask: Constant<Bits<F>>,
    constant: Constant<Bits<D>>,
    row_mask: Constant<Bits<A>>,
    read_half: Constant<Bits<A>>,
    low_field: Constant<Bits<D>>,
    high_field: Constant<Bits<D>>,
}

impl<const D: usize, const A: usize, const F: usize> Tally<D, A, F> {
    /// Makes a tally whose rows have a low field of `low_bits` and whose words have an amount of `amount_bits`;
    /// `constant` is added to the amount. Bits of a word's row that are not in `row_mask` are ignored.
    pub fn new(low_bits: usize, amount_bits: usize, constant: u64, row_mask: u64) -> Self {
        assert!(F == A - 1 + amount_bits && F <= D);
        let low_field: Bits<D> = ((1u64 << low_bits) - 1).into();
        Self::fresh(TallyGiven {
            ram: BlockRam::new(A),
            amount_bits: Constant::new((amount_bits as u64).into()),
            amount_mask: Constant::new(((1u64 << amount_bits) - 1).into()),
            constant: Constant::new(constant.into()),
            row_mask: Constant::new(row_mask.into()),
            read_half: Constant::new((1u64 << (A - 1)).into()),
            low_field: Constant::new(low_field),
            high_field: Constant::new(Bits::<D>::mask() ^ low_field),
        })
    }
}

impl<const D: usize, const A: usize, const F: usize> Logic for Tally<D, A, F> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            reading,
            reading_row,
            reading_low,
            reading_high,
            reading_increment,
            collided,
            writing,
            writing_row,
            writing_low,
            writing_high,
            writing_increment,
            old,
            written
        );
        clock!(self, clock, writes, reads);
        self.ram.write_clock.next = self.clock.val();
        self.ram.read_clock.next = self.clock.val();
        self.writes.reset.next = self.reset.val();
        self.reads.reset.next = self.reset.val();
        self.writes.push.next = self.write_event.val();
        self.writes.data_in.next = self.write_word.val();
        self.reads.push.next = self.read_event.val();
        self.reads.data_in.next = self.read_word.val();

        // The row and the increment of this turn.
        self.word.next = self.writes.data.val();
        self.issue.next = self.writes.valid.val();
        if self.direction.val() {
            self.word.next = self.reads.data.val();
            self.issue.next = self.reads.valid.val();
        }
        self.row.next =
            bit_cast::<A, F>(self.word.val() >> self.amount_bits.val()) & self.row_mask.val();
        self.increment.next =
            bit_cast::<D, F>(self.word.val() & self.amount_mask.val()) + self.constant.val();
        self.writes.pop.next = !self.direction.val() & !self.sweep.val();
        self.reads.pop.next = self.direction.val() & !self.sweep.val();
        if self.sweep.val() {
            self.issue.next = true;
            self.row.next = self.sweep_row.val();
            self.increment.next = 0.into();
        }

        // The row is read.
        self.ram.read_enable.next = self.issue.val();
        self.address.next = self.row.val();
        if self.direction.val() {
            self.address.next = self.row.val() | self.read_half.val();
        }
        self.ram.read_address.next = self.address.val();
        self.reading.d.next = self.issue.val();
        self.reading_row.d.next = self.address.val();
        self.reading_low.d.next = self.sweep.val() & self.sweep_low.val();
        self.reading_high.d.next = self.sweep.val() & self.sweep_high.val();
        self.reading_increment.d.next = self.increment.val();
        self.collided.d.next =
            self.writing.q.val() & (self.address.val() == self.writing_row.q.val());

        self.old.d.next = self.ram.read_data.val();
        if self.collided.q.val() {
            self.old.d.next = self.written.q.val();
        }
        self.writing.d.next = self.reading.q.val();
        self.writing_row.d.next = self.reading_row.q.val();
        self.writing_low.d.next = self.reading_low.q.val();
        self.writing_high.d.next = self.reading_high.q.val();
        self.writing_increment.d.next = self.reading_increment.q.val();

        // The row is written.
        self.held.next = self.old.q.val();
        self.keep.next = self.low_field.val() | self.high_field.val();
        if self.writing_low.q.val() {
            self.keep.next = self.high_field.val();
        }
        if self.writing_high.q.val() {
            self.keep.next = self.low_field.val();
        }
        self.sum.next = self.writing_increment.q.val() + (self.old.q.val() & self.keep.val());
        self.ram.write_enable.next = self.writing.q.val();
        self.ram.write_address.next = self.writing_row.q.val();
        self.ram.write_data.next = self.sum.val();
        self.written.d.next = self.sum.val();
    }
}
