//! Performance counters: they run free, a snapshot makes all of them readable as of one moment.

use rust_hdl::prelude::*;

/// A 64-bit count of `amount`s.
#[derive(LogicBlock, Default)]
pub struct Counter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub amount: Signal<In, Bits<10>>,
    pub take: Signal<In, Bit>,
    pub value: Signal<Out, Bits<64>>,
    running: DFF<Bits<64>>,
    shown: DFF<Bits<64>>,
}

impl Logic for Counter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, running, shown);
        self.running.d.next = self.running.q.val() + bit_cast::<64, 10>(self.amount.val());
        if self.take.val() {
            self.shown.d.next = self.running.q.val();
        }
        self.value.next = self.shown.q.val();
        if self.reset.val() {
            self.running.d.next = 0.into();
            self.shown.d.next = 0.into();
        }
    }
}
