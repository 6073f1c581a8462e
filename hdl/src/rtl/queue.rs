//! The descriptor queue of one direction: a ring in block RAM that software fills in place.
//!
//! The dwords of a descriptor go straight into the slot at the tail, one RAM bank a dword; the doorbell
//! only moves the tail. So there is no staging register, and a descriptor that is written but not
//! announced costs nothing. While the ring is full its tail slot is a live descriptor: dword writes are
//! ignored and a doorbell is refused.

use crate::prim::BlockRam;
use rust_hdl::prelude::*;

/// Dwords of a descriptor that the hardware keeps (the rest is reserved).
pub const DWORDS: usize = 7;

/// Up to `2^12` descriptors; the depth is a build parameter.
#[derive(LogicBlock)]
pub struct DescriptorQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // Software's side.
    pub write: Signal<In, Bit>,
    pub dword: Signal<In, Bits<4>>,
    pub data: Signal<In, Bits<32>>,
    pub doorbell: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    /// One cycle: the doorbell of this cycle was refused.
    pub refused: Signal<Out, Bit>,
    pub free: Signal<Out, Bits<13>>,
    // The engine's side: first word falls through.
    pub valid: Signal<Out, Bit>,
    pub pop: Signal<In, Bit>,
    pub peer_low: Signal<Out, Bits<32>>,
    pub peer_high: Signal<Out, Bits<32>>,
    pub local_low: Signal<Out, Bits<32>>,
    pub local_high: Signal<Out, Bits<32>>,
    pub length: Signal<Out, Bits<32>>,
    pub control: Signal<Out, Bits<32>>,
    pub cookie: Signal<Out, Bits<32>>,
    bank: [BlockRam<32, 12>; DWORDS],
    head: DFF<Bits<13>>,
    tail: DFF<Bits<13>>,
    held: DFF<Bit>,
    level: Signal<Local, Bits<13>>,
    full: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    depth: Constant<Bits<13>>,
    number: [Constant<Bits<4>>; DWORDS],
}

impl DescriptorQueue {
    /// A queue of `2^log2` descriptors, `log2` at most 12.
    pub fn new(log2: usize) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            write: Default::default(),
            dword: Default::default(),
            data: Default::default(),
            doorbell: Default::default(),
            enable: Default::default(),
            refused: Default::default(),
            free: Default::default(),
            valid: Default::default(),
            pop: Default::default(),
            peer_low: Default::default(),
            peer_high: Default::default(),
            local_low: Default::default(),
            local_high: Default::default(),
            length: Default::default(),
            control: Default::default(),
            cookie: Default::default(),
            bank: std::array::from_fn(|_| BlockRam::new(log2)),
            head: Default::default(),
            tail: Default::default(),
            held: Default::default(),
            level: Default::default(),
            full: Default::default(),
            fetch: Default::default(),
            depth: Constant::new((1u64 << log2).into()),
            number: std::array::from_fn(|i| Constant::new((i as u64).into())),
        }
    }
}

impl Logic for DescriptorQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail, held);
        // Both pointers count modulo 2^13, the ring is a divisor of that.
        self.level.next = self.tail.q.val() - self.head.q.val();
        self.full.next = self.level.val() == self.depth.val();
        self.free.next = self.depth.val() - self.level.val();
        self.refused.next = self.doorbell.val() & (self.full.val() | !self.enable.val());
        self.fetch.next = self.level.val().any() & (!self.held.q.val() | self.pop.val());
        for i in 0..DWORDS {
            self.bank[i].write_clock.next = self.clock.val();
            self.bank[i].read_clock.next = self.clock.val();
            self.bank[i].write_address.next = self.tail.q.val().get_bits::<12>(0);
            self.bank[i].write_data.next = self.data.val();
            self.bank[i].read_address.next = self.head.q.val().get_bits::<12>(0);
            self.bank[i].read_enable.next = self.fetch.val();
            self.bank[i].write_enable.next =
                self.write.val() & !self.full.val() & (self.dword.val() == self.number[i].val());
        }
        self.valid.next = self.held.q.val();
        self.peer_low.next = self.bank[0].read_data.val();
        self.peer_high.next = self.bank[1].read_data.val();
        self.local_low.next = self.bank[2].read_data.val();
        self.local_high.next = self.bank[3].read_data.val();
        self.length.next = self.bank[4].read_data.val();
        self.control.next = self.bank[5].read_data.val();
        self.cookie.next = self.bank[6].read_data.val();
        if self.doorbell.val() & !self.full.val() & self.enable.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.fetch.val() {
            self.head.d.next = self.head.q.val() + 1;
            self.held.d.next = true;
        } else if self.pop.val() {
            self.held.d.next = false;
        }
        if self.reset.val() {
            self.head.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.held.d.next = false;
        }
    }
}
