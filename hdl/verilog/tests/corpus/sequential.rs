//! Flip-flops, state machines, memories.

use num_bigint::BigUint;
use peerlane_language::*;

use super::combinational::{Colour, Inner};
use super::{Form, Number, number};
use crate::form;

form!(clocked Counter { enable: Bit, clear: Bit } -> { count: Bits<8>, wrapped: Bit }
[ value: DFF<Bits<8>>, ]
#[hdl_gen]
fn update(&mut self) {
    dff_setup!(self, clock, value);
    self.count.next = self.value.q.val();
    self.wrapped.next = (self.value.q.val() + 1) == 0;
    if self.enable.val() {
        self.value.d.next = self.value.q.val() + 1;
    }
    if self.clear.val() {
        self.value.d.next = 0.into();
    }
});

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Machine {
    Idle,
    Load,
    Run,
    Drain,
    Done,
}

form!(clocked StateMachine { start: Bit, stop: Bit, data: Bits<16>, reset: Bit } -> { busy: Bit, sum: Bits<16>, state_bits: Bits<3> }
[ state: DFF<Machine>, total: DFF<Bits<16>>, left: DFF<Bits<4>>, step: Signal<Local, Bit>, ]
#[hdl_gen]
fn update(&mut self) {
    dff_setup!(self, clock, state, total, left);
    self.busy.next = self.state.q.val() != Machine::Idle;
    self.sum.next = self.total.q.val();
    self.state_bits.next = self.state.q.val().into();
    self.step.next = false;
    match self.state.q.val() {
        Machine::Idle => {
            if self.start.val() {
                self.state.d.next = Machine::Load;
            }
        }
        Machine::Load => {
            self.total.d.next = self.data.val();
            self.left.d.next = self.data.val().get_bits::<4>(2);
            self.state.d.next = Machine::Run;
        }
        Machine::Run => {
            self.step.next = true;
            self.left.d.next = self.left.q.val() - 1;
            if self.left.q.val() == 0 {
                self.state.d.next = Machine::Drain;
            }
        }
        Machine::Drain => {
            if self.stop.val() {
                self.state.d.next = Machine::Done;
            }
        }
        Machine::Done => {
            self.state.d.next = Machine::Idle;
        }
    }
    if self.step.val() {
        self.total.d.next = self.total.q.val() + self.data.val();
    }
    if self.reset.val() & self.stop.val() & self.start.val() {
        self.state.d.next = Machine::Idle;
        self.total.d.next = 0.into();
    }
});
form!(clocked Registers { a: Bits<300>, c: Bit } -> { y: Bits<300>, flag: Bit, colour: Bits<2> }
[ one: DFF<Bits<300>>, two: DFF<Bits<300>>, packed: DFF<Inner>, last: DFF<Bit>, ]
#[hdl_gen]
fn update(&mut self) {
    dff_setup!(self, clock, one, two, packed, last);
    self.one.d.next = self.a.val();
    self.two.d.next = self.one.q.val() + 1;
    self.y.next = self.two.q.val() ^ self.one.q.val();
    self.packed.d.next.low = self.packed.q.val().low + 1;
    self.packed.d.next.flag = self.c.val() ^ self.packed.q.val().flag;
    if self.c.val() {
        self.packed.d.next.colour = Colour::Green;
    }
    self.flag.next = self.packed.q.val().flag & self.packed.q.val().low.any();
    self.colour.next = self.packed.q.val().colour.into();
    self.last.d.next = self.c.val();
});
form!(clocked RegisterArray { a: Bits<8>, s: Bits<2>, write: Bit } -> { y: Bits<8>, all: Bits<8> }
[ cells: [DFF<Bits<8>>; 4], ]
#[hdl_gen]
fn update(&mut self) {
    for i in 0..4 {
        self.cells[i].clock.next = self.clock.val();
        self.cells[i].d.next = self.cells[i].q.val();
    }
    self.y.next = 0.into();
    self.all.next = 0.into();
    for i in 0..4 {
        if self.s.val().index() == i {
            self.y.next = self.cells[i].q.val();
            if self.write.val() {
                self.cells[i].d.next = self.a.val();
            }
        }
        self.all.next = self.all.val() ^ self.cells[i].q.val();
    }
});
form!(clocked Memory { write: Bit, wa: Bits<4>, ra: Bits<4>, data: Bits<40> } -> { y: Bits<40> }
[ ram: RAM<Bits<40>, 4>, clk: Signal<Local, Clock>, ]
#[hdl_gen]
fn update(&mut self) {
    self.clk.next = self.clock.val();
    self.ram.read_clock.next = self.clk.val();
    self.ram.write_clock.next = self.clk.val();
    self.ram.write_enable.next = self.write.val();
    self.ram.write_address.next = self.wa.val();
    self.ram.write_data.next = self.data.val() + 1;
    self.ram.read_address.next = self.ra.val();
    self.y.next = self.ram.read_data.val();
});

#[derive(LogicBlock, Default)]
pub struct Delay<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub d: Signal<In, Bits<N>>,
    pub q: Signal<Out, Bits<N>>,
    hold: DFF<Bits<N>>,
}

impl<const N: usize> Logic for Delay<N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.hold.clock.next = self.clock.val();
        self.hold.d.next = self.d.val();
        self.q.next = self.hold.q.val();
    }
}

form!(clocked DelayLine { a: Bits<8>, b: Bits<12> } -> { y: Bits<8>, z: Bits<12> }
[ taps: [Delay<8>; 3], other: Delay<12>, ]
#[hdl_gen]
fn update(&mut self) {
    for i in 0..3 {
        self.taps[i].clock.next = self.clock.val();
    }
    clock!(self, clock, other);
    self.taps[0].d.next = self.a.val();
    self.taps[1].d.next = self.taps[0].q.val() + 1;
    self.taps[2].d.next = self.taps[1].q.val() ^ self.taps[0].q.val();
    self.other.d.next = self.b.val();
    self.y.next = self.taps[2].q.val();
    self.z.next = self.other.q.val();
});

/// Answers a request at once, if there is room.
#[derive(LogicBlock, Default)]
pub struct Responder {
    pub clock: Signal<In, Clock>,
    pub request: Signal<In, Bit>,
    pub size: Signal<In, Bits<4>>,
    pub grant: Signal<Out, Bit>,
    pub left: Signal<Out, Bits<4>>,
    room: DFF<Bits<4>>,
}

impl Logic for Responder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, room);
        self.grant.next = self.request.val() & (self.size.val() <= self.room.q.val());
        self.left.next = self.room.q.val() - self.size.val();
        self.room.d.next = self.room.q.val() + 3;
        if self.grant.val() {
            self.room.d.next = self.left.val();
        }
    }
}

// The statement that drives the child's request reads its answer.
form!(clocked Handshake { go: Bit, size: Bits<4> } -> { state_bits: Bits<2>, granted: Bit, got: Bits<8> }
[ responder: Responder, state: DFF<Colour>, total: DFF<Bits<8>>, last: DFF<Bits<4>>, ]
#[hdl_gen]
fn update(&mut self) {
    dff_setup!(self, clock, state, total, last);
    clock!(self, clock, responder);
    self.responder.request.next = false;
    self.responder.size.next = self.size.val();
    self.granted.next = false;
    match self.state.q.val() {
        Colour::Red => {
            if self.go.val() {
                self.state.d.next = Colour::Green;
            }
        }
        Colour::Green => {
            self.responder.request.next = true;
            self.responder.size.next = self.size.val() & 7;
            self.last.d.next = self.size.val();
            if self.responder.grant.val() {
                self.granted.next = true;
                self.total.d.next = self.total.q.val() + bit_cast::<8, 4>(self.responder.left.val());
                self.state.d.next = Colour::Blue;
            }
        }
        _ => {
            self.responder.request.next = self.last.q.val().any();
            self.responder.size.next = self.last.q.val();
            if self.responder.grant.val() | !self.go.val() {
                self.state.d.next = Colour::Red;
            }
        }
    }
    self.state_bits.next = self.state.q.val().into();
    self.got.next = self.total.q.val();
});

/// Calls `$each!(module: Form, …)` with the forms of this file.
#[macro_export]
macro_rules! for_sequential_forms {
    ($each:ident) => {
        $each!(sequential: Counter, StateMachine, Registers, RegisterArray,
            Memory, DelayLine, Handshake);
    };
}
