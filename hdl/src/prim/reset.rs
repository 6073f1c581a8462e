//! Reset of one clock's side, long enough for the other side to see it.

use rust_hdl::prelude::*;

/// Holds `held` for 32 cycles after `trigger` falls. It comes from a register, for other clocks look at it.
#[derive(LogicBlock, Default)]
pub struct ResetStretch {
    pub clock: Signal<In, Clock>,
    pub trigger: Signal<In, Bit>,
    pub held: Signal<Out, Bit>,
    left: DFF<Bits<5>>,
    on: DFF<Bit>,
}

impl Logic for ResetStretch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, left, on);
        if self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.trigger.val() {
            self.left.d.next = 31.into();
        }
        self.on.d.next = self.left.q.val().any() | self.trigger.val();
        self.held.next = self.on.q.val();
    }
}
