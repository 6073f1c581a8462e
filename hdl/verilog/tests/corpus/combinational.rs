//! Expressions and statements without state.

use num_bigint::BigUint;
use peerlane_language::*;

use super::{Form, Number, number};
use crate::form;

// Precedence and wrapping: the four forms on which the stock emitter fails.
form!(AndEq { a: Bits<8>, b: Bits<8>, c: Bits<8> } -> { y: Bit } []
    #[hdl_gen]
    fn update(&mut self) { self.y.next = self.a.val() & self.b.val() == self.c.val(); });
form!(WrapEq { a: Bits<8>, b: Bits<8> } -> { y: Bit } []
    #[hdl_gen]
    fn update(&mut self) { self.y.next = (self.a.val() + 1) == self.b.val(); });
form!(WrapShr { a: Bits<8> } -> { y: Bits<8> } []
    #[hdl_gen]
    fn update(&mut self) { self.y.next = (self.a.val() + 1) >> 1; });
form!(NotEq { a: Bits<8> } -> { y: Bit } []
    #[hdl_gen]
    fn update(&mut self) { self.y.next = !self.a.val() == 0xF0; });

form!(AddSub { a: Bits<8>, b: Bits<8>, c: Bits<8> } -> { y: Bits<8>, z: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() + self.b.val() - self.c.val();
    self.z.next = self.a.val() - (self.b.val() - self.c.val());
});
form!(SubLess { a: Bits<8>, b: Bits<8> } -> { y: Bit } []
    #[hdl_gen]
    fn update(&mut self) { self.y.next = self.a.val() - 1 < self.b.val(); });
form!(LiteralLeft { a: Bits<8> } -> { y: Bits<8>, z: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = 3 - self.a.val();
    self.z.next = 7 < self.a.val();
});
form!(AddBool { a: Bits<8>, c: Bit } -> { y: Bits<8>, z: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() + self.c.val();
    self.z.next = self.a.val() + true;
});
form!(Bitwise { a: Bits<12>, b: Bits<12>, c: Bits<12> } -> { y: Bits<12>, z: Bits<12> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() ^ self.b.val() & self.c.val() | !self.a.val();
    self.z.next = self.a.val() | 0x0F0 ^ self.b.val() & 0xAAA;
});
form!(BoolLogic { a: Bit, b: Bit, c: Bit } -> { y: Bit, z: Bit, w: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() && self.b.val() || !self.c.val();
    self.z.next = self.a.val() & !self.b.val() ^ self.c.val();
    self.w.next = (self.a.val() == self.b.val()) != self.c.val();
});
form!(NotOfCompare { a: Bits<8>, b: Bits<8> } -> { y: Bit } []
    #[hdl_gen]
    fn update(&mut self) { self.y.next = !(self.a.val() == self.b.val()) & !(self.a.val() < self.b.val()); });
form!(Compares { a: Bits<9>, b: Bits<9> } -> { lt: Bit, le: Bit, gt: Bit, ge: Bit, eq: Bit, ne: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.lt.next = self.a.val() < self.b.val();
    self.le.next = self.a.val() <= self.b.val();
    self.gt.next = self.a.val() > self.b.val();
    self.ge.next = self.a.val() >= self.b.val();
    self.eq.next = self.a.val() == self.b.val();
    self.ne.next = self.a.val() != self.b.val();
});
form!(CompareEnds { a: Bits<4> } -> { y: Bit, z: Bit, v: Bit, w: Bit, u: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() >= 0;
    self.z.next = self.a.val() < 0;
    self.v.next = self.a.val() <= 15;
    self.w.next = self.a.val() > 15;
    self.u.next = 15 > self.a.val();
});
form!(CompareWide { a: Bits<300>, b: Bits<300> } -> { lt: Bit, eq: Bit, ge: Bit, lit: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.lt.next = self.a.val() < self.b.val();
    self.eq.next = self.a.val() == self.b.val();
    self.ge.next = self.a.val() + 1 >= self.b.val();
    self.lit.next = self.a.val() > 0xFFFF_FFFF_u64;
});
form!(ShiftConst { a: Bits<8> } -> { l: Bits<8>, r: Bits<8>, off: Bits<8>, zero: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.l.next = self.a.val() << 3;
    self.r.next = self.a.val() >> 3;
    self.off.next = self.a.val() << 9;
    self.zero.next = self.a.val() >> 0;
});
form!(ShiftDynamic { a: Bits<13>, s: Bits<5> } -> { l: Bits<13>, r: Bits<13> } []
#[hdl_gen]
fn update(&mut self) {
    self.l.next = self.a.val() << self.s.val();
    self.r.next = self.a.val() >> self.s.val();
});
form!(ShiftByWide { a: Bits<40>, s: Bits<40> } -> { l: Bits<40>, r: Bits<40> } []
#[hdl_gen]
fn update(&mut self) {
    self.l.next = self.a.val() << (self.s.val() >> 33);
    self.r.next = self.a.val() >> (self.s.val() & 0x2F);
});
form!(ShiftOfSum { a: Bits<8>, b: Bits<8>, s: Bits<3> } -> { y: Bits<8>, z: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = (self.a.val() + self.b.val()) >> self.s.val();
    self.z.next = (self.a.val() - self.b.val()) << (self.s.val() + 1);
});
form!(OneHot { s: Bits<3> } -> { y: Bits<8>, z: Bits<64> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = bit_cast::<8, 64>(1 << self.s.val());
    self.z.next = 0x8000_0000_0000_0000_u64 >> self.s.val();
});
form!(ShiftWide { a: Bits<512>, s: Bits<9> } -> { l: Bits<512>, r: Bits<512> } []
#[hdl_gen]
fn update(&mut self) {
    self.l.next = self.a.val() << self.s.val();
    self.r.next = self.a.val() >> self.s.val();
});
form!(CastWiden { a: Bits<8>, b: Bits<8> } -> { y: Bits<16>, z: Bits<9> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = bit_cast::<16, 8>(self.a.val() + self.b.val());
    self.z.next = bit_cast::<9, 8>(self.a.val()) + bit_cast::<9, 8>(self.b.val());
});
form!(CastNarrow { a: Bits<16>, b: Bits<16> } -> { y: Bits<5>, z: Bits<4>, w: Bits<4> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = bit_cast::<5, 16>(self.a.val());
    self.z.next = bit_cast::<4, 16>(self.a.val() + self.b.val());
    self.w.next = bit_cast::<4, 16>((self.a.val() ^ self.b.val()) >> 7);
});
form!(CastCompare { a: Bits<8>, b: Bits<12> } -> { y: Bit, z: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = bit_cast::<12, 8>(self.a.val() + 1) > self.b.val();
    self.z.next = self.a.val() == bit_cast::<8, 12>(self.b.val());
});
form!(CastWide { a: Bits<1024>, b: Bits<40> } -> { y: Bits<40>, z: Bits<1024>, w: Bits<33> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = bit_cast::<40, 1024>(self.a.val());
    self.z.next = bit_cast::<1024, 40>(self.b.val()) + self.a.val();
    self.w.next = bit_cast::<33, 40>(self.b.val());
});
form!(BitsOfLiteral { a: Bits<70> } -> { y: Bits<70>, z: Bits<8>, w: Bits<40> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() ^ bits::<70>(0xDEAD_BEEF_u64);
    self.z.next = 0x5A.into();
    self.w.next = 0x12_3456_789A_u64.into();
});
form!(MulWidens { a: Bits<16>, b: Bits<16> } -> { y: Bits<32>, z: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() * self.b.val();
    self.z.next = (self.a.val() * self.b.val()) == bits::<32>(0xFFFE_0001_u64);
});
form!(Reductions { a: Bits<7>, b: Bits<100> } -> { all: Bit, any: Bit, odd: Bit, wall: Bit, wany: Bit, wxor: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.all.next = self.a.val().all();
    self.any.next = self.a.val().any();
    self.odd.next = self.a.val().xor();
    self.wall.next = self.b.val().all();
    self.wany.next = self.b.val().any();
    self.wxor.next = self.b.val().xor();
});
form!(ReduceExpr { a: Bits<8>, b: Bits<8> } -> { y: Bit, z: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = (self.a.val() + self.b.val()).any();
    self.z.next = !(self.a.val() & self.b.val()).all() ^ (self.a.val() | 1).xor();
});
form!(GetBitConst { a: Bits<8>, b: Bits<8> } -> { y: Bit, z: Bit, w: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bit(7);
    self.z.next = (self.a.val() + self.b.val()).get_bit(7);
    self.w.next = (!self.a.val() ^ self.b.val()).get_bit(3);
});
form!(GetBitDynamic { a: Bits<16>, b: Bits<16>, i: Bits<4>, j: Bits<2> } -> { y: Bit, z: Bit, w: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bit(self.i.val().index());
    self.z.next = self.a.val().get_bit(self.j.val().index());
    self.w.next = (self.a.val() - self.b.val()).get_bit(self.i.val().index());
});
form!(GetBitsConst { a: Bits<20>, b: Bits<20> } -> { y: Bits<6>, z: Bits<6>, w: Bits<8>, over: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bits::<6>(7);
    self.z.next = (self.a.val() + self.b.val()).get_bits::<6>(7);
    self.w.next = (self.a.val() & !self.b.val()).get_bits::<8>(12);
    self.over.next = self.a.val().get_bits::<8>(16);
});
form!(GetBitsDynamic { a: Bits<32>, i: Bits<5>, k: Bits<2> } -> { y: Bits<4>, z: Bits<8>, w: Bits<40> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bits::<4>(self.i.val().index());
    self.z.next = self.a.val().get_bits::<8>(self.k.val().index() * 8);
    self.w.next = self.a.val().get_bits::<40>(self.i.val().index());
});
form!(GetBitsWide { a: Bits<1024>, i: Bits<10>, k: Bits<5> } -> { y: Bits<64>, z: Bits<32> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bits::<64>(self.i.val().index());
    self.z.next = self.a.val().get_bits::<32>(self.k.val().index() * 32);
});
form!(IndexMul { a: Bits<64>, i: Bits<2>, j: Bits<2> } -> { y: Bits<8>, z: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bits::<8>(self.i.val().index() * 12 + 3);
    self.z.next = self.a.val().get_bit(self.i.val().index() * 16 + self.j.val().index() * 3);
});
form!(ReplaceBitConst { a: Bits<8>, v: Bit } -> { y: Bits<8>, z: Bits<8>, w: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().replace_bit(0, self.v.val());
    self.z.next = self.a.val().replace_bit(7, !self.v.val());
    self.w.next = (self.a.val() + 1).replace_bit(4, true);
});
form!(ReplaceBitDynamic { a: Bits<16>, i: Bits<4>, v: Bit } -> { y: Bits<16>, z: Bits<16> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().replace_bit(self.i.val().index(), self.v.val());
    self.z.next = (self.a.val() - 1).replace_bit(self.i.val().index(), self.v.val() & self.a.val().get_bit(3));
});
form!(IfElse { a: Bits<8>, b: Bits<8>, c: Bit, d: Bit } -> { y: Bits<8>, z: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val();
    if self.c.val() {
        self.y.next = self.b.val();
        if self.d.val() {
            self.y.next = self.a.val() + self.b.val();
        }
    } else if self.d.val() & (self.a.val() > 9) {
        self.y.next = 0.into();
    }
    if self.d.val() {
        self.z.next = 1.into();
    } else {
        self.z.next = self.b.val();
    }
});
form!(IfConstant { a: Bits<8> } -> { y: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val();
    if self.a.val() >= 0 {
        self.y.next = self.a.val() + 1;
    } else {
        self.y.next = 0.into();
    }
});
form!(LocalOrder { a: Bits<8>, b: Bits<8>, c: Bit } -> { y: Bits<8>, z: Bits<8>, w: Bits<8> }
[ t: Signal<Local, Bits<8>>, u: Signal<Local, Bits<8>>, ]
#[hdl_gen]
fn update(&mut self) {
    // `t` is read between two assignments, `y` reads back, `u` is plain.
    self.t.next = self.a.val();
    self.y.next = self.t.val() + 1;
    self.t.next = self.t.val() ^ self.b.val();
    if self.c.val() {
        self.t.next = self.t.val() + self.y.val();
        self.y.next = self.t.val();
    }
    self.z.next = self.t.val();
    self.u.next = self.y.val() & self.z.val();
    self.w.next = self.u.val() - self.b.val();
});
form!(EarlyRead { a: Bits<8>, c: Bit, d: Bit } -> { y: Bits<8> }
[ t: Signal<Local, Bit>, u: Signal<Local, Bits<8>>, ]
#[hdl_gen]
fn update(&mut self) {
    // The tests see the final values, which later statements assign.
    self.y.next = self.a.val();
    if self.t.val() {
        self.y.next = self.a.val() + 1;
    } else if self.u.val() > 7 {
        self.y.next = 3.into();
    }
    self.t.next = self.c.val();
    self.u.next = self.a.val() >> 2;
    if self.d.val() {
        self.t.next = !self.c.val();
        self.u.next = !self.a.val();
    }
});
form!(DeadStore { a: Bits<8>, c: Bit } -> { y: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = 7.into();
    if self.c.val() {
        self.y.next = 9.into();
    }
    self.y.next = self.a.val();
});
form!(ChainNoLoop { a: Bits<4>, c: Bit, d: Bit } -> { y: Bits<4>, z: Bits<4> }
[ p: Signal<Local, Bits<4>>, q: Signal<Local, Bits<4>>, ]
#[hdl_gen]
fn update(&mut self) {
    // `p` and `q` share statements, and `q` depends on `p`'s reader.
    self.p.next = self.a.val();
    self.q.next = 0.into();
    if self.c.val() {
        self.p.next = self.a.val() + 3;
        self.q.next = self.a.val() ^ 5;
    }
    self.y.next = self.p.val() + 1;
    if self.d.val() {
        self.q.next = self.y.val();
    }
    self.z.next = self.q.val();
});
form!(LoopUnroll { a: Bits<8>, b: Bits<8> } -> { y: Bits<8>, n: Bits<4> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = 0.into();
    self.n.next = 0.into();
    for i in 0..8 {
        self.y.next = self.y.val().replace_bit(i, self.a.val().get_bit(7 - i) ^ self.b.val().get_bit(i));
        if self.a.val().get_bit(i) {
            self.n.next = self.n.val() + 1;
        }
    }
});
form!(LoopCompare { s: Bits<3>, a: Bits<6> } -> { y: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = false;
    for i in 0..6 {
        if self.s.val().index() == i {
            self.y.next = self.a.val().get_bit(i);
        }
    }
});
form!(LoopNested { a: Bits<16> } -> { y: Bits<16> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = 0.into();
    for i in 0..4 {
        for j in 0..4 {
            self.y.next = self.y.val().replace_bit(i * 4 + j, self.a.val().get_bit(j * 4 + i));
        }
    }
});
form!(SignalArray { a: Bits<4>, b: Bits<4> } -> { y: Bits<4>, z: Bits<4> }
[ t: [Signal<Local, Bits<4>>; 5], ]
#[hdl_gen]
fn update(&mut self) {
    self.t[0].next = self.a.val();
    for i in 0..4 {
        self.t[i + 1].next = self.t[i].val() + self.b.val();
    }
    self.y.next = self.t[4].val();
    self.z.next = self.t[2].val();
});

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Colour {
    Red,
    Green,
    Blue,
}

form!(EnumMatch { a: Bits<2>, b: Bits<8> } -> { y: Bits<8>, raw: Bits<2>, is: Bit }
[ state: Signal<Local, Colour>, ]
#[hdl_gen]
fn update(&mut self) {
    self.state.next = Colour::Red;
    if self.a.val() == 1 {
        self.state.next = Colour::Green;
    } else if self.a.val() == 2 {
        self.state.next = Colour::Blue;
    }
    match self.state.val() {
        Colour::Red => { self.y.next = self.b.val(); }
        Colour::Green => { self.y.next = self.b.val() + 1; }
        Colour::Blue => { self.y.next = !self.b.val(); }
    }
    self.raw.next = self.state.val().into();
    self.is.next = self.state.val() != Colour::Blue;
});
form!(MatchBool { a: Bit, b: Bits<8> } -> { y: Bits<8> } []
#[hdl_gen]
fn update(&mut self) {
    match self.a.val() {
        true => { self.y.next = self.b.val(); }
        false => { self.y.next = self.b.val() - 1; }
    }
});
form!(MatchDefault { a: Bits<3>, b: Bits<4> } -> { y: Bits<4>, z: Bits<4> }
[ state: Signal<Local, Colour>, ]
#[hdl_gen]
fn update(&mut self) {
    self.state.next = Colour::Red;
    if self.a.val().any() { self.state.next = Colour::Blue; }
    if self.a.val().all() { self.state.next = Colour::Green; }
    self.y.next = self.b.val();
    self.z.next = 3.into();
    match self.state.val() {
        Colour::Blue => {
            if self.b.val().get_bit(0) { self.y.next = 1.into(); }
            self.z.next = self.y.val();
        }
        _ => { self.y.next = self.b.val() + 2; }
    }
});

#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Inner {
    pub low: Bits<3>,
    pub flag: Bit,
    pub colour: Colour,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Outer {
    pub head: Bits<5>,
    pub inner: Inner,
    pub tail: Bits<40>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Plain {
    pub low: Bits<5>,
    pub high: Bits<40>,
    pub flag: Bit,
}

// All fields make one assignment of the whole, some of them do not.
form!(WholeStruct { a: Bits<5>, b: Bits<40>, c: Bit } -> { y: Bits<40>, z: Bits<5>, flag: Bit, part: Bits<5> }
[ word: Signal<Local, Plain>, other: Signal<Local, Plain>, some: Signal<Local, Plain>, ]
#[hdl_gen]
fn update(&mut self) {
    self.word.next.low = self.a.val() + 1;
    self.word.next.flag = self.c.val();
    self.word.next.high = self.b.val();
    self.other.next = self.word.val();
    if self.word.val().flag {
        self.other.next.high = self.word.val().high + 3;
        self.other.next.low = 7.into();
        self.other.next.flag = false;
    }
    self.some.next = self.word.val();
    self.some.next.low = self.b.val().get_bits::<5>(3);
    self.y.next = self.other.val().high;
    self.z.next = self.other.val().low;
    self.flag.next = self.other.val().flag ^ self.some.val().flag;
    self.part.next = self.some.val().low;
});

form!(StructFields { a: Bits<5>, b: Bits<40>, c: Bit } -> { y: Bits<40>, z: Bits<5>, raw: Bits<51>, low: Bits<3>, red: Bit }
[ s: Signal<Local, Outer>, i: Signal<Local, Inner>, ]
#[hdl_gen]
fn update(&mut self) {
    self.i.next.low = bit_cast::<3, 5>(self.a.val());
    self.i.next.flag = self.c.val();
    self.i.next.colour = Colour::Green;
    if self.c.val() { self.i.next.colour = Colour::Red; }
    self.s.next.head = self.a.val() + 1;
    self.s.next.inner = self.i.val();
    self.s.next.tail = self.b.val();
    if self.c.val() { self.s.next.tail = self.b.val() ^ 0xFF; }
    self.y.next = self.s.val().tail + 1;
    self.z.next = self.s.val().head;
    self.raw.next = self.s.val().into();
    self.low.next = self.s.val().inner.low;
    self.red.next = self.s.val().inner.colour == Colour::Red;
});

#[derive(LogicBlock)]
pub struct Constants {
    pub a: Signal<In, Bits<100>>,
    pub i: Signal<In, Bits<6>>,
    pub y: Signal<Out, Bits<100>>,
    pub z: Signal<Out, Bits<8>>,
    pub w: Signal<Out, Bit>,
    pub v: Signal<Out, Bits<4>>,
    mask: Constant<Bits<100>>,
    limit: Constant<Bits<6>>,
    colour: Constant<Colour>,
}

impl Default for Constants {
    fn default() -> Self {
        Constants {
            a: Default::default(),
            i: Default::default(),
            y: Default::default(),
            z: Default::default(),
            w: Default::default(),
            v: Default::default(),
            mask: Constant::new(Bits::from(BigUint::from(0x1234_5678_9abc_def0_u64) << 20)),
            limit: Constant::new(40.into()),
            colour: Constant::new(Colour::Blue),
        }
    }
}

impl Logic for Constants {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.a.val() & self.mask.val();
        self.z.next = self.mask.val().get_bits::<8>(30);
        self.w.next = (self.i.val() + 3) > self.limit.val();
        self.v.next = self.mask.val().get_bits::<4>(self.i.val().index());
        if self.colour.val() == Colour::Red {
            self.v.next = 0.into();
        }
    }
}

impl Form for Constants {
    form!(@ports Constants { a: Bits<100>, i: Bits<6> } { y: Bits<100>, z: Bits<8>, w: Bit, v: Bits<4> });
    fn set_clock(&mut self, _high: bool) {}
    const CLOCKED: bool = false;
}

form!(DeepMix { a: Bits<33>, b: Bits<33>, s: Bits<6> } -> { y: Bits<33>, z: Bits<12>, w: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = ((self.a.val() + self.b.val()) >> self.s.val()) ^ (self.a.val() - (self.b.val() << 2)) & !(self.b.val() + 1);
    self.z.next = bit_cast::<12, 33>(((self.a.val() ^ self.b.val()) + 5) >> 11) + (self.a.val() - self.b.val()).get_bits::<12>(20);
    self.w.next = ((self.a.val() - self.b.val()) & 0xFF00) == ((self.a.val() >> self.s.val()) & 0xFF00)
        || (bit_cast::<40, 33>(self.a.val() + self.b.val()) + 1) > bit_cast::<40, 33>(self.b.val());
});
form!(LiteralFold { a: Bits<8> } -> { y: Bits<8>, z: Bits<64> } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() + (3 * 4 + 1) - (1 << 3);
    self.z.next = bit_cast::<64, 8>(self.a.val()) & !0xF_u64;
});
form!(WidthOne { a: Bits<1>, b: Bit } -> { y: Bits<1>, z: Bit, w: Bits<1>, v: Bit } []
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() + 1;
    self.z.next = self.a.val().get_bit(0) ^ self.b.val();
    self.w.next = !self.a.val();
    self.v.next = self.a.val() == self.b.val();
});
form!(UnusedBits { a: Bits<32>, b: Bits<8> } -> { y: Bits<4> }
[ t: Signal<Local, Bits<8>>, ]
#[hdl_gen]
fn update(&mut self) {
    // Most of `a`, all of `b` and of `t` have no reader.
    self.t.next = self.a.val().get_bits::<8>(8);
    self.y.next = self.a.val().get_bits::<4>(3);
});

form!(Keywords { a: Bits<4>, b: Bits<4> } -> { y: Bits<4> }
[ logic: Signal<Local, Bits<4>>, table: Signal<Local, Bits<4>>, a_b: Signal<Local, Bits<4>>,
  register: Flip, ]
#[hdl_gen]
fn update(&mut self) {
    self.logic.next = self.a.val() + self.b.val();
    self.register.bit.next = self.logic.val().get_bit(1);
    self.table.next = self.logic.val() ^ self.a.val();
    self.a_b.next = self.table.val() + self.register.output_.val();
    self.y.next = self.a_b.val();
});

/// Ports that are reserved words get an underscore where they are not the top's.
#[derive(LogicBlock, Default)]
pub struct Flip {
    pub bit: Signal<In, Bit>,
    pub output_: Signal<Out, Bit>,
}

impl Logic for Flip {
    #[hdl_gen]
    fn update(&mut self) {
        self.output_.next = !self.bit.val();
    }
}

/// Calls `$each!(module: Form, …)` with the forms of this file.
#[macro_export]
macro_rules! for_combinational_forms {
    ($each:ident) => {
        $each!(combinational: AndEq, WrapEq, WrapShr, NotEq, AddSub, SubLess,
            LiteralLeft, AddBool, Bitwise, BoolLogic, NotOfCompare, Compares, CompareEnds,
            CompareWide, ShiftConst, ShiftDynamic, ShiftByWide, ShiftOfSum, OneHot, ShiftWide,
            CastWiden, CastNarrow, CastCompare, CastWide, BitsOfLiteral, MulWidens, Reductions,
            ReduceExpr, GetBitConst, GetBitDynamic, GetBitsConst, GetBitsDynamic, GetBitsWide,
            IndexMul, ReplaceBitConst, ReplaceBitDynamic, IfElse, IfConstant, LocalOrder,
            EarlyRead, DeadStore, ChainNoLoop, LoopUnroll, LoopCompare, LoopNested, SignalArray, EnumMatch,
            MatchBool, MatchDefault, StructFields, WholeStruct, Constants, DeepMix, LiteralFold, WidthOne,
            UnusedBits, Keywords);
    };
}
