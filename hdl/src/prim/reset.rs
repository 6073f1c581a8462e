//! Reset of one clock's side, long enough for the other side to see it.

use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// Holds `held` for 32 cycles at least, and 16 after `trigger` has fallen. It comes from a register, for other
/// clocks look at it. `late` rises 16 cycles after it and falls with it.
///
/// A FIFO between two clocks is reset by its writing side with `late`: its pointer jumps, and the reading side, if
/// it does not know of the reset by then, takes that for words. It knows after three of its cycles.
#[derive(DocBlock, Default)]
pub struct ResetStretch {
    pub clock: Signal<In, Clock>,
    pub trigger: Signal<In, Bit>,
    pub held: Signal<Out, Bit>,
    pub late: Signal<Out, Bit>,
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
            if !self.left.q.val().any() {
                self.left.d.next = 31.into();
            } else if !self.left.q.val().get_bit(4) {
                self.left.d.next = 15.into();
            }
        }
        self.on.d.next = self.left.q.val().any() | self.trigger.val();
        self.held.next = self.on.q.val();
        self.late.next = self.on.q.val() & !self.left.q.val().get_bit(4);
    }
}

/// A reset's copy for one part, a cycle late. A register of its own: tools that find equal registers are told to
/// leave it, and so it may stand where its part is.
#[derive(DocBlock, Default)]
pub struct ResetCopy {
    pub clock: Signal<In, Clock>,
    pub trigger: Signal<In, Bit>,
    pub held: Signal<Out, Bit>,
}

impl Logic for ResetCopy {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.held.next = self.trigger.val();
        }
    }
    fn connect(&mut self) {
        self.held.connect();
    }
    fn hdl(&self) -> Verilog {
        // Quartus: no reduction, no merging with its like. Vivado: neither.
        Verilog::Custom(
            "(* preserve, dont_merge, dont_touch = \"true\" *) reg copy;\n\
             initial copy = 1'b1;\n\
             always @(posedge clock) copy <= trigger;\n\
             assign held = copy;\n"
                .to_owned(),
        )
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}
