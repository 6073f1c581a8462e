//! The slots that each channel's ring has for descriptors that are not accepted yet.
//!
//! A descriptor that is accepted takes a slot, whether it will have a record or not: one that fails has one in
//! any case. Software gives slots back with its next doorbell, when it has read the records. So a reader who is
//! slow is refused doorbells, nothing is written over, and nobody else waits for him.
//!
//! The count of a ring that was set begins anew: its channel is `fresh` until its first doorbell. The driver
//! may set one ring while the process of another rings a doorbell.

use crate::prim::{ForwardRam, fresh};
use rust_hdl::prelude::*;

/// Up to 64 channels.
#[derive(LogicBlock)]
pub struct RingRoom {
    pub clock: Signal<In, Clock>,
    /// After it no channel has a ring.
    pub reset: Signal<In, Bit>,
    // The driver sets a ring of `2^ring_log2` slots, or takes it away.
    pub ring_we: Signal<In, Bit>,
    pub ring_channel: Signal<In, Bits<6>>,
    pub ring_on: Signal<In, Bit>,
    pub ring_log2: Signal<In, Bits<4>>,
    // The channel whose page is accessed, and a doorbell there: the slots that it gives back, and whether its
    // descriptor is accepted.
    pub page: Signal<In, Bits<6>>,
    pub doorbell: Signal<In, Bit>,
    pub freed: Signal<In, Bits<16>>,
    pub accepted: Signal<In, Bit>,
    /// A slot is left.
    pub some: Signal<Out, Bit>,
    /// The same behind what the doorbell gives back.
    pub enough: Signal<Out, Bit>,

    rooms: ForwardRam<16, 6>,
    sizes: ForwardRam<4, 6>,
    /// Channels that have a ring.
    bound: DFF<Bits<64>>,
    /// Those whose ring has all of its slots.
    fresh: DFF<Bits<64>>,
    paged: Signal<Local, Bits<64>>,
    set: Signal<Local, Bits<64>>,
    is_bound: Signal<Local, Bit>,
    room: Signal<Local, Bits<16>>,
    gained: Signal<Local, Bits<16>>,
    one: Constant<Bits<64>>,
    slot: Constant<Bits<16>>,
    all_channels: Constant<Bits<64>>,
}

impl RingRoom {
    /// `2^channels_log2` channels.
    pub fn new(channels_log2: usize) -> Self {
        fresh!(
            clock, reset, ring_we, ring_channel, ring_on, ring_log2, page, doorbell, freed, accepted,
            some, enough, bound, fresh, paged, set, is_bound, room, gained;
            rooms: ForwardRam::new(channels_log2),
            sizes: ForwardRam::new(channels_log2),
            one: Constant::new(1.into()),
            slot: Constant::new(1.into()),
            all_channels: Constant::new(super::channel_mask(channels_log2)),
        )
    }
}

impl Logic for RingRoom {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, bound, fresh);
        clock!(self, clock, rooms, sizes);
        self.paged.next = (self.one.val() << self.page.val()) & self.all_channels.val();
        self.set.next = (self.one.val() << self.ring_channel.val()) & self.all_channels.val();
        self.rooms.read_address.next = self.page.val();
        self.sizes.read_address.next = self.page.val();
        self.is_bound.next = (self.bound.q.val() & self.paged.val()).any();
        self.room.next = self.rooms.read_data.val();
        if (self.fresh.q.val() & self.paged.val()).any() {
            self.room.next = self.slot.val() << self.sizes.read_data.val();
        }
        self.some.next = !self.is_bound.val() | self.room.val().any();
        self.enough.next = !self.is_bound.val() | self.room.val().any() | self.freed.val().any();

        self.rooms.write_enable.next = self.doorbell.val();
        self.rooms.write_address.next = self.page.val();
        self.gained.next = self.freed.val();
        if self.accepted.val() {
            self.gained.next = self.freed.val() - 1;
        }
        self.rooms.write_data.next = self.room.val() + self.gained.val();
        if self.doorbell.val() {
            self.fresh.d.next = self.fresh.q.val() & !self.paged.val();
        }
        self.sizes.write_enable.next = self.ring_we.val();
        self.sizes.write_address.next = self.ring_channel.val();
        self.sizes.write_data.next = self.ring_log2.val();
        if self.ring_we.val() {
            self.bound.d.next = self.bound.q.val() & !self.set.val();
            if self.ring_on.val() {
                self.bound.d.next = self.bound.q.val() | self.set.val();
            }
            self.fresh.d.next = self.fresh.q.val() | self.set.val();
            if self.doorbell.val() {
                self.fresh.d.next = (self.fresh.q.val() & !self.paged.val()) | self.set.val();
            }
        }
        if self.reset.val() {
            self.bound.d.next = 0.into();
            self.fresh.d.next = 0.into();
        }
    }
}
