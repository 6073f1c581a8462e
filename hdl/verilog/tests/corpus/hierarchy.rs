//! Children, interfaces, arrays, and text from elsewhere.

use num_bigint::BigUint;
use peerlane_language::*;

use super::{Form, Number, number};
use crate::form;
use peerlane_verilog::{DocBlock, bundle, comment};

#[derive(LogicBlock, Default)]
pub struct Adder<const N: usize> {
    pub a: Signal<In, Bits<N>>,
    pub b: Signal<In, Bits<N>>,
    pub sum: Signal<Out, Bits<N>>,
    pub carry: Signal<Out, Bit>,
    wide: Signal<Local, Bits<N>>,
}

impl<const N: usize> Logic for Adder<N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.wide.next = self.a.val() + self.b.val();
        self.sum.next = self.wide.val();
        self.carry.next = self.wide.val() < self.a.val();
    }
}

form!(Children { a: Bits<8>, b: Bits<8>, c: Bits<12> } -> { y: Bits<8>, z: Bits<12>, carry: Bit }
[ first: Adder<8>, second: Adder<8>, third: Adder<12>, ]
#[hdl_gen]
fn update(&mut self) {
    self.first.a.next = self.a.val();
    self.first.b.next = self.b.val() + 1;
    self.second.a.next = self.first.sum.val();
    self.second.b.next = 3.into();
    self.third.a.next = self.c.val();
    self.third.b.next = bit_cast::<12, 8>(self.second.sum.val());
    self.y.next = self.second.sum.val();
    self.z.next = self.third.sum.val();
    self.carry.next = self.third.carry.val() ^ self.first.carry.val();
});
form!(ChildArray { a: Bits<8>, b: Bits<8>, s: Bits<2> } -> { y: Bits<8>, z: Bits<8> }
[ chain: [Adder<8>; 4], ]
#[hdl_gen]
fn update(&mut self) {
    for i in 0..4 {
        self.chain[i].b.next = self.b.val();
    }
    self.chain[0].a.next = self.a.val();
    for i in 0..3 {
        self.chain[i + 1].a.next = self.chain[i].sum.val() ^ 0x55;
    }
    self.y.next = self.chain[3].sum.val();
    self.z.next = self.chain[0].sum.val();
    for i in 0..4 {
        if self.s.val().index() == i {
            self.z.next = self.chain[i].sum.val();
        }
    }
});
form!(ChildConditional { a: Bits<8>, b: Bits<8>, c: Bit } -> { y: Bits<8> }
[ add: Adder<8>, ]
#[hdl_gen]
fn update(&mut self) {
    self.add.a.next = self.a.val();
    self.add.b.next = 0.into();
    if self.c.val() {
        self.add.b.next = self.b.val();
    }
    self.y.next = self.add.sum.val();
});
form!(ChildReadBack { a: Bits<8>, b: Bits<8> } -> { y: Bits<8> }
[ add: Adder<8>, ]
#[hdl_gen]
fn update(&mut self) {
    self.add.a.next = self.a.val();
    self.add.b.next = self.a.val() & self.b.val();
    self.y.next = self.add.sum.val() ^ self.add.b.val();
});

#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "Sink"]
pub struct Source<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, T>,
    pub ready: Signal<In, Bit>,
}

#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "Source"]
pub struct Sink<T: Synth> {
    pub valid: Signal<In, Bit>,
    pub data: Signal<In, T>,
    pub ready: Signal<Out, Bit>,
}

#[derive(LogicBlock, Default)]
pub struct Stage<const N: usize> {
    pub sink: Sink<Bits<N>>,
    pub source: Source<Bits<N>>,
    pub mask: Signal<In, Bits<N>>,
}

impl<const N: usize> Logic for Stage<N> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("A stage without state");
        self.source.valid.next = self.sink.valid.val() & self.sink.data.val().any();
        self.source.data.next = self.sink.data.val() ^ self.mask.val();
        self.sink.ready.next = self.source.ready.val() | !self.sink.valid.val();
    }
}

#[derive(LogicBlock, Default)]
pub struct Pipe<const N: usize> {
    pub sink: Sink<Bits<N>>,
    pub source: Source<Bits<N>>,
    pub mask: Signal<In, Bits<N>>,
    stages: [Stage<N>; 3],
}

impl<const N: usize> Logic for Pipe<N> {
    #[hdl_gen]
    fn update(&mut self) {
        Sink::<Bits<N>>::link(&mut self.sink, &mut self.stages[0].sink);
        Source::<Bits<N>>::join(&mut self.stages[0].source, &mut self.stages[1].sink);
        Source::<Bits<N>>::join(&mut self.stages[1].source, &mut self.stages[2].sink);
        Source::<Bits<N>>::link(&mut self.source, &mut self.stages[2].source);
        for i in 0..3 {
            self.stages[i].mask.next = self.mask.val() + (1 << i);
        }
    }
}

form!(Interfaces { valid: Bit, data: Bits<8>, ready: Bit, mask: Bits<8> } -> { y: Bits<8>, out: Bit, back: Bit }
[ pipe: Pipe<8>, ]
#[hdl_gen]
fn update(&mut self) {
    self.pipe.sink.valid.next = self.valid.val();
    self.pipe.sink.data.next = self.data.val();
    self.back.next = self.pipe.sink.ready.val();
    self.pipe.source.ready.next = self.ready.val();
    self.pipe.mask.next = self.mask.val();
    self.y.next = self.pipe.source.data.val();
    self.out.next = self.pipe.source.valid.val();
});

/// Words that are offered,
/// as [`super::hierarchy`] has them.
#[bundle(Offered)]
pub struct Offer<const N: usize> {
    /// There is a word.
    pub valid: Signal<Out, Bit>,
    pub word: Signal<Out, Bits<N>>,
    /// It is taken.
    pub take: Signal<In, Bit>,
}

/// Keeps a word until it is taken.
///
/// And has a name of its own.
#[derive(DocBlock)]
#[module_name(shape)]
pub struct Keeper<const N: usize> {
    pub clock: Signal<In, Clock>,
    /// What comes.
    pub source: Offered<N>,
    /// What goes.
    pub sink: Offer<N>,
    /// The word that is kept.
    kept: DFF<Bits<N>>,
    full: DFF<Bit>,
    /// A word is free to come.
    room: Signal<Local, Bit>,
    /// Is added to it.
    step: Constant<Bits<N>>,
    _step: u64,
}

impl<const N: usize> Keeper<N> {
    pub fn new(step: u64) -> Self {
        Self::fresh(KeeperGiven {
            step: Constant::new(step.into()),
        })
    }

    fn shape(&self) -> String {
        format!("keeper_{N}")
    }
}

impl<const N: usize> Logic for Keeper<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, kept, full);
        self.room.next = !self.full.q.val() | self.sink.take.val();
        self.source.take.next = self.source.valid.val() & self.room.val();
        self.sink.valid.next = self.full.q.val();
        self.sink.word.next = self.kept.q.val();
        if self.room.val() {
            self.full.d.next = self.source.valid.val();
            self.kept.d.next = self.source.word.val() + self.step.val();
        }
    }
}

/// A keeper behind another.
#[derive(DocBlock)]
pub struct Keepers<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub source: Offered<N>,
    pub sink: Offer<N>,
    /// The first of them.
    #[given]
    first: Keeper<N>,
    #[given]
    second: Keeper<N>,
}

impl<const N: usize> Default for Keepers<N> {
    fn default() -> Self {
        Self::fresh(KeepersGiven {
            first: Keeper::new(1),
            second: Keeper::new(2),
        })
    }
}

impl<const N: usize> Logic for Keepers<N> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, first, second);
        Offered::<N>::link(&mut self.source, &mut self.first.source);
        Offer::<N>::join(&mut self.first.sink, &mut self.second.source);
        Offer::<N>::link(&mut self.sink, &mut self.second.sink);
    }
}

form!(clocked Bundles { valid: Bit, word: Bits<8>, take: Bit } -> { out: Bit, sum: Bits<8>, taken: Bit }
[ keepers: Keepers<8>, ]
#[hdl_gen]
fn update(&mut self) {
    clock!(self, clock, keepers);
    self.keepers.source.valid.next = self.valid.val();
    self.keepers.source.word.next = self.word.val();
    self.taken.next = self.keepers.source.take.val();
    self.out.next = self.keepers.sink.valid.val();
    self.sum.next = self.keepers.sink.word.val();
    self.keepers.sink.take.next = self.take.val();
});

/// A block of hand-written Verilog, with a `reg` of its own for one output.
#[derive(LogicBlock, Default)]
pub struct Rotate {
    pub a: Signal<In, Bits<8>>,
    pub by: Signal<In, Bits<3>>,
    pub y: Signal<Out, Bits<8>>,
    pub parity: Signal<Out, Bit>,
}

impl Logic for Rotate {
    fn update(&mut self) {
        self.y.next = (self.a.val() << self.by.val())
            | (self.a.val() >> (8 - bit_cast::<4, 3>(self.by.val())));
        self.parity.next = self.a.val().xor();
    }
    fn connect(&mut self) {
        self.y.connect();
        self.parity.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "wire [7:0] unused_half;\nreg [7:0] rotated;\nassign y = rotated;\n\
             assign unused_half = 8'd0;\nalways @* begin\n  // Any amount.\n  \
             rotated = (a << by) | (a >> (4'd8 - {1'b0, by}));\n  parity = ^a;\nend"
                .into(),
        )
    }
}

form!(CustomText { a: Bits<8>, by: Bits<3> } -> { y: Bits<8>, parity: Bit }
[ rotate: Rotate, ]
#[hdl_gen]
fn update(&mut self) {
    self.rotate.a.next = self.a.val();
    self.rotate.by.next = self.by.val();
    self.y.next = self.rotate.y.val();
    self.parity.next = self.rotate.parity.val();
});

// Two values go round through one child without a loop of signals.
#[derive(LogicBlock, Default)]
pub struct Cross {
    pub a: Signal<In, Bits<4>>,
    pub b: Signal<In, Bits<4>>,
    pub enable: Signal<In, Bit>,
    pub x: Signal<Out, Bits<4>>,
    pub y: Signal<Out, Bits<4>>,
}

impl Logic for Cross {
    #[hdl_gen]
    fn update(&mut self) {
        self.x.next = 0.into();
        self.y.next = 0.into();
        if self.enable.val() {
            self.x.next = self.a.val() + 1;
            self.y.next = self.b.val() ^ 3;
        }
    }
}

form!(FalseLoop { a: Bits<4>, e: Bit } -> { z: Bits<4> }
[ cross: Cross, ]
#[hdl_gen]
fn update(&mut self) {
    self.cross.enable.next = self.e.val();
    self.cross.a.next = self.a.val();
    self.cross.b.next = self.cross.x.val();
    self.z.next = self.cross.y.val();
});

/// Calls `$each!(module: Form, …)` with the forms of this file.
#[macro_export]
macro_rules! for_hierarchy_forms {
    ($each:ident) => {
        $each!(hierarchy: Children, ChildArray, ChildConditional, ChildReadBack,
            Interfaces, Bundles, CustomText, FalseLoop);
    };
}
