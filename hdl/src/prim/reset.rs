//! Reset of one clock's side, long enough for the other side to see it.

use rust_hdl::prelude::*;

/// Holds `held` for 31 cycles after `trigger` falls.
#[derive(LogicBlock, Default)]
pub struct ResetStretch {
    pub clock: Signal<In, Clock>,
    pub trigger: Signal<In, Bit>,
    pub held: Signal<Out, Bit>,
    left: DFF<Bits<5>>,
}

impl Logic for ResetStretch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, left);
        if self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.trigger.val() {
            self.left.d.next = 31.into();
        }
        self.held.next = self.left.q.val().any();
    }
}
