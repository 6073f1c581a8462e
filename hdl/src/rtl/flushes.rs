//! Flush reads of a port with tags: eight tags, taken in turn. Answers come in any order, and the ends of the reads are
//! reported in the order in which they left.
//!
//! A read that is not answered in time has failed, and its tag is passed over until the late answer has come or the
//! driver frees it. While no tag is left, a flush fails at once.

use super::words::FlushTurn;
use crate::prim::SmallFifo;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The flush reads that are under way.
#[derive(DocBlock)]
pub struct Flushes {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The reads that have left are not waited for any more: they are lost.
    pub clear: Signal<In, Bit>,
    /// A flush waits; it stays until taken.
    pub flush: Signal<In, Bit>,
    pub take: Signal<Out, Bit>,
    /// The port is ready for its read, which leaves in this cycle with `tag`.
    pub may_leave: Signal<In, Bit>,
    pub leaves: Signal<Out, Bit>,
    pub tag: Signal<Out, Bits<3>>,
    /// The port is given up: a flush fails as soon as those before it have ended.
    pub dead: Signal<In, Bit>,
    /// An answer: by tag, refused or not.
    pub answered: Signal<In, Bit>,
    pub answered_tag: Signal<In, Bits<3>>,
    pub refused: Signal<In, Bit>,
    /// Ends, one for each flush that was taken, in their order and not in that cycle.
    pub ended: Signal<Out, Bit>,
    pub failed: Signal<Out, Bit>,
    /// The time in cycles, and how many a read may take; 0: any number.
    pub now: Signal<In, Bits<32>>,
    pub timeout: Signal<In, Bits<32>>,
    /// Lost answers will not come any more.
    pub let_go: Signal<In, Bit>,
    /// A tag is lost.
    pub quarantine: Signal<Out, Bit>,

    /// Tags of the reads that have not ended, in their order, with the time.
    turns: SmallFifo<FlushTurn, 3, 4>,
    next_tag: DFF<Bits<3>>,
    /// By tag: its read has not ended; has an answer, and which; is written off.
    owed: DFF<Bits<8>>,
    done: DFF<Bits<8>>,
    bad: DFF<Bits<8>>,
    lost: DFF<Bits<8>>,
    /// A flush was taken in the last cycle and has failed.
    absorbed: DFF<Bit>,

    next_bit: Signal<Local, Bits<8>>,
    usable: Signal<Local, Bit>,
    absorb: Signal<Local, Bit>,
    left: Signal<Local, Bits<8>>,
    answer: Signal<Local, Bits<8>>,
    oldest: Signal<Local, Bits<8>>,
    oldest_done: Signal<Local, Bit>,
    late: Signal<Local, Bit>,
    over: Signal<Local, Bits<8>>,
    /// Reads that have left and are not answered.
    awaited: Signal<Local, Bits<8>>,
    one: Constant<Bits<8>>,
}

impl Default for Flushes {
    fn default() -> Self {
        Self::fresh(FlushesGiven {
            one: Constant::new(1.into()),
        })
    }
}

impl Logic for Flushes {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, next_tag, owed, done, bad, lost, absorbed);
        clock!(self, clock, turns);
        self.turns.reset.next = self.reset.val() | self.clear.val();

        // One in: a tag that is free, or an end at once.
        self.next_bit.next = self.one.val() << self.next_tag.q.val();
        self.usable.next = !((self.owed.q.val() | self.lost.q.val()) & self.next_bit.val()).any();
        self.leaves.next = self.flush.val() & self.may_leave.val() & self.usable.val();
        self.absorb.next =
            self.flush.val() & !self.turns.some.val() & (self.dead.val() | self.lost.q.val().all());
        self.take.next = self.leaves.val() | self.absorb.val();
        self.tag.next = self.next_tag.q.val();
        if self.leaves.val() | !self.usable.val() {
            self.next_tag.d.next = self.next_tag.q.val() + 1;
        }
        self.left.next = 0.into();
        if self.leaves.val() {
            self.left.next = self.next_bit.val();
        }
        self.turns.push.next = self.leaves.val();
        self.turns.data_in.next.tag = self.next_tag.q.val();
        self.turns.data_in.next.time = self.now.val();

        // The oldest: answered, or late.
        self.answer.next = 0.into();
        if self.answered.val() {
            self.answer.next = self.one.val() << self.answered_tag.val();
        }
        self.oldest.next = self.one.val() << self.turns.data.val().tag;
        self.oldest_done.next = (self.done.q.val() & self.oldest.val()).any();
        self.late.next = self.turns.valid.val()
            & !self.oldest_done.val()
            & !self.answered.val()
            & self.timeout.val().any()
            & ((self.now.val() - self.turns.data.val().time) >= self.timeout.val());
        self.turns.pop.next = self.oldest_done.val() | self.late.val();
        self.over.next = 0.into();
        if self.turns.valid.val() & (self.oldest_done.val() | self.late.val()) {
            self.over.next = self.oldest.val();
        }
        self.ended.next = self.over.val().any() | self.absorbed.q.val();
        self.absorbed.d.next = self.absorb.val();
        self.failed.next = !self.oldest_done.val()
            | self.absorbed.q.val()
            | (self.bad.q.val() & self.oldest.val()).any();

        self.owed.d.next = (self.owed.q.val() & !self.over.val()) | self.left.val();
        self.done.d.next = (self.done.q.val() | self.answer.val()) & !self.left.val();
        self.bad.d.next = self.bad.q.val() & !self.answer.val();
        if self.refused.val() {
            self.bad.d.next = self.bad.q.val() | self.answer.val();
        }
        self.lost.d.next = self.lost.q.val() & !self.answer.val();
        if self.late.val() {
            self.lost.d.next = (self.lost.q.val() & !self.answer.val()) | self.oldest.val();
        }
        if self.let_go.val() {
            self.lost.d.next = 0.into();
        }
        self.awaited.next = self.owed.q.val() & !self.done.q.val();
        if self.clear.val() {
            self.absorbed.d.next = false;
            self.owed.d.next = 0.into();
            self.lost.d.next = (self.lost.q.val() | self.awaited.val()) & !self.answer.val();
        }
        self.quarantine.next = self.lost.q.val().any();

        if self.reset.val() {
            self.absorbed.d.next = false;
            self.next_tag.d.next = 0.into();
            self.owed.d.next = 0.into();
            self.lost.d.next = 0.into();
        }
    }
}
