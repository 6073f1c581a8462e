//! Reset of one clock's side, long enough for the other side to see it.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Holds `held` for 32 cycles at least, and for 16 after `trigger` has fallen. `held` comes from a register, because
/// other clocks look at it. `late` rises 16 cycles after it and falls with it.
///
/// A FIFO between two clocks is reset by its writing side with `late`: its pointer jumps, and a reading side that does
/// not know of the reset by then takes the jump for words. The reading side knows after three of its cycles.
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

/// A copy of a reset for one part, a cycle late. It is a register of its own: an attribute keeps tools from merging
/// equal registers, so it may be placed where its part is.
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
        // Quartus: no reduction, no merging with an equal register. Vivado: neither.
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

/// A reset that comes with `trigger` at once, also while the clock is stopped, and ends with the clock: 1024 cycles
/// after `trigger` and after the last cycle of `again`, and two more for `trigger` to be seen.
///
/// Only one register sees `trigger`. It has the name by which timing constraints find the first stage of a
/// synchroniser, because a path to an asynchronous input is one from another clock, too. It sets the second register,
/// and that clears the count. They fall one after another. So only the first can be caught at an edge, and it has a
/// cycle to settle, which the constraints ensure: they relax no path between the three. The output is a register of its
/// own, which never glitches.
#[derive(DocBlock, Default)]
pub struct ResetAtOnce {
    pub clock: Signal<In, Clock>,
    /// Of any clock, or of none. A pulse of any length counts.
    pub trigger: Signal<In, Bit>,
    /// Of this clock.
    pub again: Signal<In, Bit>,
    /// It is over.
    pub over: Signal<Out, Bit>,
    /// For rust-hdl's simulator: edges until `trigger` is seen to have fallen, and the count.
    _unseen: u8,
    _count: u16,
}

impl Logic for ResetAtOnce {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            if self._unseen != 0 || self.again.val() {
                self._count = 0;
            } else if self._count < 1024 {
                self._count += 1;
            }
            self._unseen = self._unseen.saturating_sub(1);
        }
        if self.trigger.val() {
            self._unseen = 2;
            self._count = 0;
        }
        self.over.next = self._count == 1024;
    }
    fn connect(&mut self) {
        self.over.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg meta_q;\n\
             reg held;\n\
             reg [10:0] count;\n\
             initial meta_q = 1'b1;\n\
             initial held = 1'b1;\n\
             initial count = 11'd0;\n\
             always @(posedge clock or posedge trigger) begin\n  \
               if (trigger) meta_q <= 1'b1;\n  \
               else meta_q <= 1'b0;\n\
             end\n\
             always @(posedge clock or posedge meta_q) begin\n  \
               if (meta_q) held <= 1'b1;\n  \
               else held <= 1'b0;\n\
             end\n\
             always @(posedge clock or posedge held) begin\n  \
               if (held) count <= 11'd0;\n  \
               else if (again) count <= 11'd0;\n  \
               else if (!count[10]) count <= count + 11'd1;\n\
             end\n\
             assign over = count[10];\n"
                .to_owned(),
        )
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}
