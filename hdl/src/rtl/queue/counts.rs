//! The oldest descriptor, and the counts of accepted, started and ended descriptors.

use super::{DWORDS, DescriptorQueue};
use crate::prim::Part;
use peerlane_language::*;

/// The oldest descriptor, for the request maker.
pub(super) struct Oldest;

/// Counts accepted, started and ended descriptors.
pub(super) struct Counts;

impl Part<Oldest> for DescriptorQueue {
    #[hdl_gen]
    fn update(&mut self) {
        // The engine's side.
        self.head_engine.read_address.next = self.engine.select.val();
        self.newest_engine.read_address.next = self.engine.select.val();
        // `select` has been stable for a cycle when its descriptor starts.
        self.head_before.d.next = self.head_engine.read_data.val();
        self.head_next.next = self.head_before.q.val() + 1;
        self.engine.number.next = self.head_engine.read_data.val();
        self.oldest.next = (bit_cast::<12, 13>(self.head_engine.read_data.val())
            & self.slot_mask.val())
            | (bit_cast::<12, 6>(self.engine.select.val()) << self.slot_bits.val());
        for i in 0..DWORDS {
            self.bank[i].write_clock.next = self.clock.val();
            self.bank[i].read_clock.next = self.clock.val();
            self.bank[i].write_address.next = self.write_slot.q.val();
            self.bank[i].write_data.next = self.write_data.q.val();
            self.bank[i].read_address.next = self.oldest.val();
            self.bank[i].read_enable.next = self.engine.fetch.val();
            self.bank[i].write_enable.next = self.writes.q.val().get_bit(i);
        }
        self.stamps.write_clock.next = self.clock.val();
        self.stamps.read_clock.next = self.clock.val();
        self.stamps.write_address.next = (self.tail_software.read_data.val()
            & self.level_mask.val())
            | (bit_cast::<13, 6>(self.channel.val()) << self.stamp_bits.val());
        self.stamps.write_data.next = self.other_number.val();
        self.stamps.write_enable.next = self.doorbell.val();
        self.write_slot.d.next = self.slot.val();
        self.write_data.d.next = self.data.val();
        self.writes.d.next = 0.into();
        if self.write.val() & !self.full.val() {
            self.writes.d.next = self.first_bank.val() << self.dword.val();
        }
        self.stamps.read_address.next = (self.head_engine.read_data.val() & self.level_mask.val())
            | (bit_cast::<13, 6>(self.engine.select.val()) << self.stamp_bits.val());
        self.stamps.read_enable.next = self.engine.fetch.val();
        self.engine.peer_low.next = self.bank[0].read_data.val();
        self.engine.peer_high.next = self.bank[1].read_data.val();
        self.engine.local_low.next = self.bank[2].read_data.val();
        self.engine.local_high.next = self.bank[3].read_data.val();
        self.engine.length.next = self.bank[4].read_data.val();
        self.engine.control.next = self.bank[5].read_data.val();
        self.engine.cookie.next = self.bank[6].read_data.val();
        self.engine.stamp.next = self.stamps.read_data.val();
    }
}

impl Part<Counts> for DescriptorQueue {
    #[hdl_gen]
    fn update(&mut self) {
        // Ends.
        self.ending.d.next = self.end.val();
        self.ending_channel.d.next = self.end_channel.val();
        self.engine.end.next = self.ending.q.val();
        self.engine.end_channel.next = self.ending_channel.q.val();
        self.ended_ends.read_address.next = self.ending_channel.q.val();
        self.newest_ends.read_address.next = self.ending_channel.q.val();
        self.ended_own.read_address.next = self.engine.select.val();
        self.ended_other.read_address.next = self.other_select.val();
        self.engine.ended.next = self.ended_own.read_data.val();
        self.ended_for_other.next = self.ended_other.read_data.val();
        self.ended_next.next = self.ended_ends.read_data.val() + 1;

        // Counts: doorbells move tails, starts move heads.
        self.tail_software.write_enable.next = self.accepted.val() | self.sweep.val();
        self.newest_engine.write_enable.next = self.accepted.val() | self.sweep.val();
        self.newest_ends.write_enable.next = self.accepted.val() | self.sweep.val();
        self.head_software.write_enable.next = self.engine.take.val() | self.sweep.val();
        self.head_engine.write_enable.next = self.engine.take.val() | self.sweep.val();
        self.ended_ends.write_enable.next = self.ending.q.val() | self.sweep.val();
        self.ended_own.write_enable.next = self.ending.q.val() | self.sweep.val();
        self.ended_other.write_enable.next = self.ending.q.val() | self.sweep.val();
        self.tail_software.write_address.next = self.channel.val();
        self.newest_engine.write_address.next = self.channel.val();
        self.newest_ends.write_address.next = self.channel.val();
        self.head_software.write_address.next = self.engine.select.val();
        self.head_engine.write_address.next = self.engine.select.val();
        self.ended_ends.write_address.next = self.ending_channel.q.val();
        self.ended_own.write_address.next = self.ending_channel.q.val();
        self.ended_other.write_address.next = self.ending_channel.q.val();
        self.tail_software.write_data.next = self.tail_next.val();
        self.newest_engine.write_data.next = self.tail_now.val();
        self.newest_ends.write_data.next = self.tail_now.val();
        self.head_software.write_data.next = self.head_next.val();
        self.head_engine.write_data.next = self.head_next.val();
        self.ended_ends.write_data.next = self.ended_next.val();
        self.ended_own.write_data.next = self.ended_next.val();
        self.ended_other.write_data.next = self.ended_next.val();
        if self.sweep.val() {
            self.tail_software.write_address.next = self.sweep_channel.val();
            self.newest_engine.write_address.next = self.sweep_channel.val();
            self.newest_ends.write_address.next = self.sweep_channel.val();
            self.head_software.write_address.next = self.sweep_channel.val();
            self.head_engine.write_address.next = self.sweep_channel.val();
            self.ended_ends.write_address.next = self.sweep_channel.val();
            self.ended_own.write_address.next = self.sweep_channel.val();
            self.ended_other.write_address.next = self.sweep_channel.val();
            self.head_software.write_data.next = 0.into();
            self.head_engine.write_data.next = 0.into();
            self.ended_ends.write_data.next = 0.into();
            self.ended_own.write_data.next = 0.into();
            self.ended_other.write_data.next = 0.into();
        }
    }
}
