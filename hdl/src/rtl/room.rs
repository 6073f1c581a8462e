//! The free slots of each channel's completion ring.
//!
//! A descriptor reserves a slot when it is accepted, whether it asks for a record or not, because a descriptor that
//! fails always gets a record. Software frees slots with its next doorbell, after it has read the records. So a slow
//! reader is refused doorbells, no record is overwritten, and no other channel waits.
//!
//! When the driver sets a ring, its count starts again, and the channel is `fresh` until its first doorbell. That
//! doorbell cannot free slots, so its count of freed slots is ignored. The driver may set one ring while the process of
//! another channel rings a doorbell.

use super::words::Slots;
use crate::prim::ForwardRam;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Up to 64 channels.
#[derive(DocBlock)]
pub struct RingRoom {
    pub clock: Signal<In, Clock>,
    /// After it no channel has a ring.
    pub reset: Signal<In, Bit>,
    /// The driver sets a ring of `2^ring_log2` slots, or takes it away.
    pub ring_we: Signal<In, Bit>,
    pub ring_channel: Signal<In, Bits<6>>,
    pub ring_on: Signal<In, Bit>,
    pub ring_log2: Signal<In, Bits<4>>,
    /// The channel whose page is accessed, and a doorbell there: the slots that it frees, and whether its descriptor is
    /// accepted.
    pub page: Signal<In, Bits<6>>,
    pub doorbell: Signal<In, Bit>,
    pub freed: Signal<In, Bits<16>>,
    pub accepted: Signal<In, Bit>,
    /// A slot is left.
    pub some: Signal<Out, Bit>,
    /// A slot is left, with those that the doorbell frees.
    pub enough: Signal<Out, Bit>,

    /// Slots left before the last doorbell took one, and whether it took one: the sum does not wait for that.
    #[given]
    rooms: ForwardRam<Slots, 6>,
    #[given]
    sizes: ForwardRam<Bits<4>, 6>,
    /// Channels that have a ring.
    bound: DFF<Bits<64>>,
    /// Channels whose ring has all of its slots.
    fresh: DFF<Bits<64>>,
    /// Channels that have no slot left, so that a doorbell waits for no count.
    full: DFF<Bits<64>>,
    /// Channels that had two slots or more before the next doorbell. The slots that the last doorbell left are counted
    /// a cycle later: a short path after the sum.
    pairs: DFF<Bits<64>>,
    rung_before: DFF<Bits<64>>,
    sum_before: DFF<Bits<16>>,
    took_before: DFF<Bit>,
    left_two: Signal<Local, Bit>,
    pairs_now: Signal<Local, Bits<64>>,
    paged: Signal<Local, Bits<64>>,
    set: Signal<Local, Bits<64>>,
    rung: Signal<Local, Bits<64>>,
    filled: Signal<Local, Bits<64>>,
    is_fresh: Signal<Local, Bit>,
    is_full: Signal<Local, Bit>,
    /// Fewer than two slots are freed, and not one in addition to one that was left.
    frees_none: Signal<Local, Bit>,
    /// Two slots were left.
    two: Signal<Local, Bit>,
    ringed: Signal<Local, Bits<64>>,
    fills: Signal<Local, Bit>,
    gained: Signal<Local, Bits<16>>,
    sum: Signal<Local, Bits<16>>,
    one: Constant<Bits<64>>,
    slot: Constant<Bits<16>>,
    all_channels: Constant<Bits<64>>,
}

impl RingRoom {
    /// `2^channels_log2` channels.
    pub fn new(channels_log2: usize) -> Self {
        Self::fresh(RingRoomGiven {
            rooms: ForwardRam::new(channels_log2),
            sizes: ForwardRam::new(channels_log2),
            one: Constant::new(1.into()),
            slot: Constant::new(1.into()),
            all_channels: Constant::new(super::channel_mask(channels_log2)),
        })
    }
}

impl Logic for RingRoom {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            bound,
            fresh,
            full,
            pairs,
            rung_before,
            sum_before,
            took_before
        );
        clock!(self, clock, rooms, sizes);
        self.paged.next = (self.one.val() << self.page.val()) & self.all_channels.val();
        self.set.next = (self.one.val() << self.ring_channel.val()) & self.all_channels.val();
        self.rooms.read_address.next = self.page.val();
        self.sizes.read_address.next = self.page.val();
        self.is_fresh.next = (self.fresh.q.val() & self.paged.val()).any();
        self.is_full.next = (self.full.q.val() & self.paged.val()).any();
        self.some.next = !self.is_full.val();
        self.enough.next = !self.is_full.val() | self.freed.val().any();

        self.left_two.next = (self.sum_before.q.val() >> 2).any()
            | (self.sum_before.q.val().get_bit(1)
                & (self.sum_before.q.val().get_bit(0) | !self.took_before.q.val()));
        self.pairs_now.next = self.pairs.q.val() & !self.rung_before.q.val();
        if self.left_two.val() {
            self.pairs_now.next = self.pairs.q.val() | self.rung_before.q.val();
        }
        self.two.next = (self.pairs_now.val() & self.paged.val()).any();
        self.frees_none.next =
            !(self.freed.val() >> 1).any() & (self.is_full.val() | !self.freed.val().get_bit(0));
        self.gained.next = self.freed.val();
        if self.rooms.read_data.val().taken {
            self.gained.next = self.freed.val() - 1;
        }
        self.sum.next = self.rooms.read_data.val().free + self.gained.val();
        if self.is_fresh.val() {
            self.sum.next = self.slot.val() << self.sizes.read_data.val();
        }
        self.rooms.write_enable.next = self.doorbell.val();
        self.rooms.write_address.next = self.page.val();
        self.rooms.write_data.next.free = self.sum.val();
        self.rooms.write_data.next.taken = self.accepted.val();
        self.fills.next = self.is_full.val() & !self.freed.val().any();
        if self.accepted.val() {
            self.fills.next = !self.two.val() & self.frees_none.val();
        }

        self.rung.next = 0.into();
        self.filled.next = 0.into();
        if self.doorbell.val() {
            self.rung.next = self.paged.val();
            if self.fills.val() {
                self.filled.next = self.paged.val();
            }
        }
        self.ringed.next = 0.into();
        if self.ring_we.val() {
            self.ringed.next = self.set.val();
        }
        self.full.d.next = ((self.full.q.val() & !self.rung.val()) | self.filled.val())
            & self.bound.q.val()
            & !self.ringed.val();
        self.sum_before.d.next = self.sum.val();
        self.took_before.d.next = self.accepted.val();
        self.rung_before.d.next = self.rung.val() & !self.ringed.val();
        self.pairs.d.next = self.pairs_now.val() & !self.ringed.val();
        if self.ring_log2.val().any() {
            self.pairs.d.next = self.pairs_now.val() | self.ringed.val();
        }
        self.fresh.d.next = (self.fresh.q.val() & !self.rung.val()) | self.ringed.val();
        self.bound.d.next = self.bound.q.val() & !self.ringed.val();
        if self.ring_on.val() {
            self.bound.d.next = self.bound.q.val() | self.ringed.val();
        }
        self.sizes.write_enable.next = self.ring_we.val();
        self.sizes.write_address.next = self.ring_channel.val();
        self.sizes.write_data.next = self.ring_log2.val();
        if self.reset.val() {
            self.bound.d.next = 0.into();
            self.fresh.d.next = 0.into();
            self.full.d.next = 0.into();
            self.pairs.d.next = 0.into();
            self.rung_before.d.next = 0.into();
        }
    }
}
