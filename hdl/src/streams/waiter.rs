//! A request that waits for its stream.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The last request of a stream that found too little there. When there is enough, its channel asks again.
#[derive(DocBlock)]
pub struct Waiter {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, Bit>,
    /// A request of `channel` waits until `bytes` are there. If it ends its descriptor, it may take all of them.
    pub starves: Signal<In, Bit>,
    pub channel: Signal<In, Bits<6>>,
    pub bytes: Signal<In, Bits<10>>,
    pub closes: Signal<In, Bit>,
    /// Bytes that are there.
    pub held: Signal<In, Bits<13>>,
    /// No more will come.
    pub ended: Signal<In, Bit>,
    pub owner: Signal<In, Bits<6>>,
    /// The channel, in one cycle.
    pub wake: Signal<Out, Bits<64>>,

    hungry: DFF<Bit>,
    want: DFF<Bits<10>>,
    want_closes: DFF<Bit>,
    waiting: DFF<Bits<6>>,
    wakes: DFF<Bit>,
    enough: Signal<Local, Bit>,
    one: Constant<Bits<64>>,
}

impl Default for Waiter {
    fn default() -> Self {
        Self::fresh(WaiterGiven {
            one: Constant::new(1.into()),
        })
    }
}

impl Logic for Waiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, hungry, want, want_closes, waiting, wakes);
        self.enough.next = (self.held.val() > bit_cast::<13, 10>(self.want.q.val()))
            | ((self.held.val() == bit_cast::<13, 10>(self.want.q.val()))
                & self.want_closes.q.val())
            | self.ended.val()
            | (self.waiting.q.val() != self.owner.val());
        self.wakes.d.next = self.hungry.q.val() & self.enough.val();
        if self.hungry.q.val() & self.enough.val() {
            self.hungry.d.next = false;
        }
        if self.starves.val() {
            self.hungry.d.next = true;
            self.want.d.next = self.bytes.val();
            self.want_closes.d.next = self.closes.val();
            self.waiting.d.next = self.channel.val();
        }
        self.wake.next = 0.into();
        if self.wakes.q.val() {
            self.wake.next = self.one.val() << self.waiting.q.val();
        }
        if self.clear.val() {
            self.hungry.d.next = false;
        }
    }
}
