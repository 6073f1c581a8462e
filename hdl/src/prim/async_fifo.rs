//! First-word-fall-through FIFO between two clocks, with Gray-coded pointers (C. E. Cummings,
//! *Simulation and Synthesis Techniques for Asynchronous FIFO Design*, SNUG 2002, style 1).

use super::{BlockRam, BusSync, Word};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The pointers of a FIFO of `2^A` words whose memory is elsewhere; `P` is `A + 1`. The memory has a
/// registered read port, and its output register is the FIFO's front. Reset both sides together;
/// either may come out of reset first. While the read side is in reset, the front keeps its last word.
#[derive(DocBlock)]
#[module_name(shape)]
pub struct AsyncPointers<const A: usize, const P: usize> {
    pub write_clock: Signal<In, Clock>,
    pub write_reset: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub full: Signal<Out, Bit>,
    /// Write the word to `write_address` now.
    pub accept: Signal<Out, Bit>,
    pub write_address: Signal<Out, Bits<A>>,
    pub read_clock: Signal<In, Clock>,
    pub read_reset: Signal<In, Bit>,
    /// Read `read_address` into the output register now.
    pub fetch: Signal<Out, Bit>,
    pub read_address: Signal<Out, Bits<A>>,
    pub valid: Signal<Out, Bit>,
    pub pop: Signal<In, Bit>,
    tail: DFF<Bits<P>>,
    tail_gray: DFF<Bits<P>>,
    tail_next: Signal<Local, Bits<P>>,
    tail_seen: BusSync<P>,
    head: DFF<Bits<P>>,
    head_gray: DFF<Bits<P>>,
    head_next: Signal<Local, Bits<P>>,
    head_seen: BusSync<P>,
    held: DFF<Bit>,
    accepted: Signal<Local, Bit>,
    fetched: Signal<Local, Bit>,
    /// A register, and so a cycle late when the reader takes a word; never when it gets full.
    is_full: DFF<Bit>,
    tail_next_gray: Signal<Local, Bits<P>>,
    full_pattern: Constant<Bits<P>>,
}

impl<const A: usize, const P: usize> Default for AsyncPointers<A, P> {
    fn default() -> Self {
        assert!(P == A + 1 && A >= 2);
        Self::fresh(AsyncPointersGiven {
            // Full: the Gray pointers differ in exactly their two top bits.
            full_pattern: Constant::new((3u64 << (A - 1)).into()),
        })
    }
}

impl<const A: usize, const P: usize> AsyncPointers<A, P> {
    fn shape(&self) -> String {
        format!("fifo_pointers_{}", 1u64 << A)
    }
}

impl<const A: usize, const P: usize> Logic for AsyncPointers<A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, write_clock, tail, tail_gray, is_full);
        dff_setup!(self, read_clock, head, head_gray, held);
        self.head_seen.clock.next = self.write_clock.val();
        self.tail_seen.clock.next = self.read_clock.val();
        self.head_seen.unsynced.next = self.head_gray.q.val();
        self.tail_seen.unsynced.next = self.tail_gray.q.val();

        self.full.next = self.is_full.q.val();
        self.accepted.next = self.push.val() & !self.is_full.q.val();
        self.accept.next = self.accepted.val();
        self.write_address.next = self.tail.q.val().get_bits::<A>(0);
        self.tail_next.next = self.tail.q.val() + 1;
        self.tail_next_gray.next = self.tail_next.val() ^ (self.tail_next.val() >> 1);
        if self.accepted.val() {
            self.tail.d.next = self.tail_next.val();
            self.tail_gray.d.next = self.tail_next_gray.val();
            self.is_full.d.next = (self.tail_next_gray.val() ^ self.head_seen.synced.val())
                == self.full_pattern.val();
        } else {
            self.is_full.d.next =
                (self.tail_gray.q.val() ^ self.head_seen.synced.val()) == self.full_pattern.val();
        }
        if self.write_reset.val() {
            self.is_full.d.next = false;
            self.tail.d.next = 0.into();
            self.tail_gray.d.next = 0.into();
        }

        self.fetched.next = (self.head_gray.q.val() != self.tail_seen.synced.val())
            & (!self.held.q.val() | self.pop.val())
            & !self.read_reset.val();
        self.fetch.next = self.fetched.val();
        self.read_address.next = self.head.q.val().get_bits::<A>(0);
        self.head_next.next = self.head.q.val() + 1;
        self.valid.next = self.held.q.val();
        if self.fetched.val() {
            self.head.d.next = self.head_next.val();
            self.head_gray.d.next = self.head_next.val() ^ (self.head_next.val() >> 1);
            self.held.d.next = true;
        } else if self.pop.val() {
            self.held.d.next = false;
        }
        if self.read_reset.val() {
            self.head.d.next = 0.into();
            self.head_gray.d.next = 0.into();
            self.held.d.next = false;
        }
    }
}

/// `2^A` words of `D` bits; `P` is `A + 1`.
#[derive(DocBlock)]
#[module_name(shape)]
pub struct AsyncFifo<T: Word, const A: usize, const P: usize> {
    pub write_clock: Signal<In, Clock>,
    pub write_reset: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub data_in: Signal<In, T>,
    pub full: Signal<Out, Bit>,
    pub read_clock: Signal<In, Clock>,
    pub read_reset: Signal<In, Bit>,
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, T>,
    pub pop: Signal<In, Bit>,
    pointers: AsyncPointers<A, P>,
    #[given]
    ram: BlockRam<T, A>,
}

impl<T: Word, const A: usize, const P: usize> Default for AsyncFifo<T, A, P> {
    fn default() -> Self {
        Self::fresh(AsyncFifoGiven {
            ram: BlockRam::between_clocks(A),
        })
    }
}

impl<T: Word, const A: usize, const P: usize> AsyncFifo<T, A, P> {
    fn shape(&self) -> String {
        format!("fifo_two_clocks_{}x{}", self.ram.words(), T::BITS)
    }
}

impl<T: Word, const A: usize, const P: usize> Logic for AsyncFifo<T, A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        self.pointers.write_clock.next = self.write_clock.val();
        self.pointers.write_reset.next = self.write_reset.val();
        self.pointers.push.next = self.push.val();
        self.full.next = self.pointers.full.val();
        self.ram.write_clock.next = self.write_clock.val();
        self.ram.write_enable.next = self.pointers.accept.val();
        self.ram.write_address.next = self.pointers.write_address.val();
        self.ram.write_data.next = self.data_in.val();
        self.pointers.read_clock.next = self.read_clock.val();
        self.pointers.read_reset.next = self.read_reset.val();
        self.pointers.pop.next = self.pop.val();
        self.valid.next = self.pointers.valid.val();
        self.ram.read_clock.next = self.read_clock.val();
        self.ram.read_enable.next = self.pointers.fetch.val();
        self.ram.read_address.next = self.pointers.read_address.val();
        self.data.next = self.ram.read_data.val();
    }
}
