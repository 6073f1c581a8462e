//! Small counts of levels, in flip-flops: any number of them can count in one cycle.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Counts the cycles in which each of `N` levels is high, from one visit to the next.
#[derive(DocBlock)]
pub struct Levels<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub levels: Signal<In, Bits<N>>,
    /// After this cycle a new count begins; the old one is put aside, and can be read with `aside`.
    pub split: Signal<In, Bit>,
    /// The counter that is looked at; for a counter that does not exist, `amount` is undefined. `aside`: reads the
    /// count that was put aside.
    pub number: Signal<In, Bits<3>>,
    pub aside: Signal<In, Bit>,
    pub amount: Signal<Out, Bits<6>>,
    /// `amount`, which counts the cycles before this one, is taken.
    pub visit: Signal<In, Bit>,
    #[given]
    running: [DFF<Bits<6>>; N],
    #[given]
    kept: [DFF<Bits<6>>; N],
    #[given]
    plus: [Signal<Local, Bits<6>>; N],
    #[given]
    rest: [Signal<Local, Bits<6>>; N],
    #[given]
    sum: [Signal<Local, Bits<6>>; N],
    now: Signal<Local, Bits<6>>,
    then: Signal<Local, Bits<6>>,
    #[given]
    own_number: [Constant<Bits<3>>; N],
    /// The bits to look at to find it: a multiplexer of the first four is a LUT a bit.
    #[given]
    own_mask: [Constant<Bits<3>>; N],
}

impl<const N: usize> Default for Levels<N> {
    fn default() -> Self {
        assert!(N <= 5, "the fifth is all behind the first four");
        Self::fresh(LevelsGiven {
            running: std::array::from_fn(|_| DFF::default()),
            kept: std::array::from_fn(|_| DFF::default()),
            plus: std::array::from_fn(|_| Signal::default()),
            rest: std::array::from_fn(|_| Signal::default()),
            sum: std::array::from_fn(|_| Signal::default()),
            own_number: std::array::from_fn(|i| Constant::new((i as u64).into())),
            own_mask: std::array::from_fn(|i| Constant::new(if i < 4 { 3u64 } else { 4 }.into())),
        })
    }
}

impl<const N: usize> Logic for Levels<N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.now.next = 0.into();
        self.then.next = 0.into();
        for i in 0..N {
            self.running[i].clock.next = self.clock.val();
            self.kept[i].clock.next = self.clock.val();
            self.rest[i].next = self.running[i].q.val();
            self.kept[i].d.next = self.kept[i].q.val();
            if (self.number.val() & self.own_mask[i].val()) == self.own_number[i].val() {
                self.now.next = self.running[i].q.val();
                self.then.next = self.kept[i].q.val();
            }
            if self.visit.val()
                & !self.aside.val()
                & (self.number.val() == self.own_number[i].val())
            {
                self.rest[i].next = 0.into();
            }
            self.plus[i].next = 0.into();
            if self.levels.val().get_bit(i) {
                self.plus[i].next = 1.into();
            }
            self.sum[i].next = self.plus[i].val() + self.rest[i].val();
            self.running[i].d.next = self.sum[i].val();
            if self.split.val() {
                self.kept[i].d.next = self.sum[i].val();
            }
            if self.split.val() | self.reset.val() {
                self.running[i].d.next = 0.into();
            }
        }
        self.amount.next = self.now.val();
        if self.aside.val() {
            self.amount.next = self.then.val();
        }
    }
}
