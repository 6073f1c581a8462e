//! First-word-fall-through FIFOs in one clock. `valid`/`data` show the oldest word, `pop` takes it;
//! a push into a full FIFO and a pop of an empty one are ignored.

use super::{BlockRam, SmallRam, Word};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Shallow FIFO in LUT RAM: up to `2^A` words, two-cycle latency, in which a word settles in the memory. `P` is
/// `A + 1`. Its flags are registers, because they are at the head of long paths.
#[derive(DocBlock)]
#[module_name(shape)]
pub struct SmallFifo<T: Word, const A: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub data_in: Signal<In, T>,
    pub full: Signal<Out, Bit>,
    pub level: Signal<Out, Bits<P>>,
    /// It holds a word, shown or not.
    pub some: Signal<Out, Bit>,
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, T>,
    pub pop: Signal<In, Bit>,
    #[given]
    ram: SmallRam<T, A>,
    head: DFF<Bits<A>>,
    tail: DFF<Bits<A>>,
    count: DFF<Bits<P>>,
    any: DFF<Bit>,
    shown: DFF<Bit>,
    at_most: DFF<Bit>,
    accept: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    depth_less: Constant<Bits<P>>,
}

impl<T: Word, const A: usize, const P: usize> Default for SmallFifo<T, A, P> {
    fn default() -> Self {
        Self::new(A)
    }
}

impl<T: Word, const A: usize, const P: usize> SmallFifo<T, A, P> {
    /// A FIFO of `2^log2` words, `log2` at most `A`.
    pub fn new(log2: usize) -> Self {
        Self::holding(log2, 1 << log2)
    }

    /// Makes a FIFO that is full with `most` words, at most `2^log2`.
    pub fn holding(log2: usize, most: usize) -> Self {
        assert!(most > 0 && most <= 1 << log2);
        Self::fresh(SmallFifoGiven {
            ram: SmallRam::new(log2),
            depth_less: Constant::new((most as u64 - 1).into()),
        })
    }

    fn shape(&self) -> String {
        format!("fifo_mlab_{}x{}", self.ram.words(), T::BITS)
    }
}

impl<T: Word, const A: usize, const P: usize> Logic for SmallFifo<T, A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, count, any, shown, at_most);
        clock!(self, clock, ram);
        self.level.next = self.count.q.val();
        self.full.next = self.at_most.q.val();
        self.some.next = self.any.q.val();
        self.valid.next = self.shown.q.val();
        self.accept.next = self.push.val() & !self.at_most.q.val();
        self.take.next = self.pop.val() & self.shown.q.val();
        self.ram.write_enable.next = self.accept.val();
        self.ram.write_address.next = self.tail.q.val();
        self.ram.write_data.next = self.data_in.val();
        self.ram.read_address.next = self.head.q.val();
        self.data.next = self.ram.read_data.val();
        if self.accept.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.take.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
        if self.accept.val() & !self.take.val() {
            self.count.d.next = self.count.q.val() + 1;
            self.any.d.next = true;
            self.at_most.d.next = self.count.q.val() == self.depth_less.val();
        } else if self.take.val() & !self.accept.val() {
            self.count.d.next = self.count.q.val() - 1;
            self.any.d.next = self.count.q.val() != 1;
            self.at_most.d.next = false;
        }
        // The word of this cycle's push does not count yet.
        self.shown.d.next = self.any.q.val();
        if self.take.val() {
            self.shown.d.next = self.count.q.val() != 1;
        }
        if self.reset.val() {
            self.head.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.count.d.next = 0.into();
            self.any.d.next = false;
            self.shown.d.next = false;
            self.at_most.d.next = false;
        }
    }
}

/// Deep FIFO in block RAM: up to `2^A` words and the output register, two-cycle latency. `P` is `A + 1`. Its
/// flags are registers, as above.
#[derive(DocBlock)]
#[module_name(shape)]
pub struct BlockFifo<T: Word, const A: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub data_in: Signal<In, T>,
    /// Words in the RAM; the one in the output register is not counted.
    pub level: Signal<Out, Bits<P>>,
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, T>,
    pub pop: Signal<In, Bit>,
    #[given]
    ram: BlockRam<T, A>,
    head: DFF<Bits<A>>,
    tail: DFF<Bits<A>>,
    count: DFF<Bits<P>>,
    some: DFF<Bit>,
    at_most: DFF<Bit>,
    held: DFF<Bit>,
    accept: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    depth_less: Constant<Bits<P>>,
}

impl<T: Word, const A: usize, const P: usize> BlockFifo<T, A, P> {
    /// A FIFO of `2^log2` words, `log2` at most `A`.
    pub fn new(log2: usize) -> Self {
        Self::fresh(BlockFifoGiven {
            ram: BlockRam::new(log2),
            depth_less: Constant::new(((1u64 << log2) - 1).into()),
        })
    }

    fn shape(&self) -> String {
        format!("fifo_block_{}x{}", self.ram.words(), T::BITS)
    }
}

impl<T: Word, const A: usize, const P: usize> Logic for BlockFifo<T, A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, count, some, at_most, held);
        self.ram.write_clock.next = self.clock.val();
        self.ram.read_clock.next = self.clock.val();
        self.level.next = self.count.q.val();
        self.accept.next = self.push.val() & !self.at_most.q.val();
        self.fetch.next = self.some.q.val() & (!self.held.q.val() | self.pop.val());
        self.ram.write_enable.next = self.accept.val();
        self.ram.write_address.next = self.tail.q.val();
        self.ram.write_data.next = self.data_in.val();
        self.ram.read_enable.next = self.fetch.val();
        self.ram.read_address.next = self.head.q.val();
        self.valid.next = self.held.q.val();
        self.data.next = self.ram.read_data.val();
        if self.accept.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.fetch.val() {
            self.head.d.next = self.head.q.val() + 1;
            self.held.d.next = true;
        } else if self.pop.val() {
            self.held.d.next = false;
        }
        if self.accept.val() & !self.fetch.val() {
            self.count.d.next = self.count.q.val() + 1;
            self.some.d.next = true;
            self.at_most.d.next = self.count.q.val() == self.depth_less.val();
        } else if self.fetch.val() & !self.accept.val() {
            self.count.d.next = self.count.q.val() - 1;
            self.some.d.next = self.count.q.val() != 1;
            self.at_most.d.next = false;
        }
        if self.reset.val() {
            self.head.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.count.d.next = 0.into();
            self.some.d.next = false;
            self.at_most.d.next = false;
            self.held.d.next = false;
        }
    }
}
