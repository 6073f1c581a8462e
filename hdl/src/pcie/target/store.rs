//! The data of completions: beats that are shown once their packet is complete. They can be dropped before that.

use crate::prim::BlockRam;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Beats of `W` bits that [`Store`] holds, less those that are shown.
pub const BEATS: usize = 1 << LOG2;

const LOG2: usize = 8;

/// A FIFO of [`BEATS`] beats. The user counts the beats in it.
#[derive(DocBlock)]
pub struct Store<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub data_in: Signal<In, Bits<W>>,
    /// All pushed beats, those of this cycle too, are complete; or the beats pushed since the last `commit` are not
    /// wanted.
    pub commit: Signal<In, Bit>,
    pub rewind: Signal<In, Bit>,
    /// The oldest complete beat: there from two cycles after `commit` on.
    pub data: Signal<Out, Bits<W>>,
    pub pop: Signal<In, Bit>,

    #[given]
    ram: BlockRam<Bits<W>, 8>,
    head: DFF<Bits<8>>,
    tail: DFF<Bits<8>>,
    /// The place after the last complete beat.
    whole: DFF<Bits<8>>,
    held: DFF<Bit>,
    fetch: Signal<Local, Bit>,
    tail_next: Signal<Local, Bits<8>>,
}

impl<const W: usize> Default for Store<W> {
    fn default() -> Self {
        Self::fresh(StoreGiven {
            ram: BlockRam::new(LOG2),
        })
    }
}

impl<const W: usize> Logic for Store<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, whole, held);
        self.ram.write_clock.next = self.clock.val();
        self.ram.read_clock.next = self.clock.val();
        self.ram.write_enable.next = self.push.val();
        self.ram.write_address.next = self.tail.q.val();
        self.ram.write_data.next = self.data_in.val();
        self.tail_next.next = self.tail.q.val();
        if self.push.val() {
            self.tail_next.next = self.tail.q.val() + 1;
        }
        self.tail.d.next = self.tail_next.val();
        if self.rewind.val() {
            self.tail.d.next = self.whole.q.val();
        }
        if self.commit.val() {
            self.whole.d.next = self.tail_next.val();
        }
        self.fetch.next =
            (self.head.q.val() != self.whole.q.val()) & (!self.held.q.val() | self.pop.val());
        self.ram.read_enable.next = self.fetch.val();
        self.ram.read_address.next = self.head.q.val();
        self.data.next = self.ram.read_data.val();
        if self.fetch.val() {
            self.head.d.next = self.head.q.val() + 1;
            self.held.d.next = true;
        } else if self.pop.val() {
            self.held.d.next = false;
        }
        if self.reset.val() {
            self.head.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.whole.d.next = 0.into();
            self.held.d.next = false;
        }
    }
}
