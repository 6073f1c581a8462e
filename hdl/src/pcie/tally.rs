//! Counts of errors in completions. They stop at their largest number.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// A count of events.
#[derive(DocBlock, Default)]
pub struct Count {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub happens: Signal<In, Bit>,
    pub count: Signal<Out, Bits<16>>,
    /// It has happened in the last cycle.
    happened: DFF<Bit>,
    value: DFF<Bits<16>>,
}

impl Logic for Count {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, happened, value);
        self.happened.d.next = self.happens.val();
        self.count.next = self.value.q.val();
        if self.happened.q.val() & !self.value.q.val().all() {
            self.value.d.next = self.value.q.val() + 1;
        }
        if self.reset.val() {
            self.happened.d.next = false;
            self.value.d.next = 0.into();
        }
    }
}

/// Six counts.
#[derive(DocBlock, Default)]
pub struct Tally {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub unsupported: Signal<In, Bit>,
    pub aborted: Signal<In, Bit>,
    pub poisoned: Signal<In, Bit>,
    pub malformed: Signal<In, Bit>,
    pub unexpected: Signal<In, Bit>,
    pub expired: Signal<In, Bit>,
    /// 16 bits each, in that order, the first lowest.
    pub counts: Signal<Out, Bits<96>>,
    each: [Count; 6],
}

impl Logic for Tally {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..6 {
            self.each[i].clock.next = self.clock.val();
            self.each[i].reset.next = self.reset.val();
        }
        self.each[0].happens.next = self.unsupported.val();
        self.each[1].happens.next = self.aborted.val();
        self.each[2].happens.next = self.poisoned.val();
        self.each[3].happens.next = self.malformed.val();
        self.each[4].happens.next = self.unexpected.val();
        self.each[5].happens.next = self.expired.val();
        self.counts.next = bit_cast::<96, 16>(self.each[0].count.val())
            | (bit_cast::<96, 16>(self.each[1].count.val()) << 16)
            | (bit_cast::<96, 16>(self.each[2].count.val()) << 32)
            | (bit_cast::<96, 16>(self.each[3].count.val()) << 48)
            | (bit_cast::<96, 16>(self.each[4].count.val()) << 64)
            | (bit_cast::<96, 16>(self.each[5].count.val()) << 80);
    }
}
