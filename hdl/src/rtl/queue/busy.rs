//! Channels with descriptors that are queued, and channels with descriptors under way.

use super::DescriptorQueue;
use crate::prim::Part;
use peerlane_language::*;

/// Finds the channels with descriptors that are queued or under way; and the reset.
pub(super) struct Busy;

impl Part<Busy> for DescriptorQueue {
    #[hdl_gen]
    fn update(&mut self) {
        // Channels with descriptors that are queued, and channels with descriptors under way. Numbers are compared a
        // cycle before the result counts; a doorbell in one of these three cycles (the one before, that one, this one)
        // has priority. One slot is left: tested without a carry chain, by each bit of the sum of two numbers and the
        // carry into that bit.
        self.last_carry.next = (self.head_software.read_data.val() & self.last_slot.val())
            | ((self.head_software.read_data.val() | self.last_slot.val())
                & !self.tail_software.read_data.val());
        self.not_last.next = (self.head_software.read_data.val()
            ^ self.last_slot.val()
            ^ self.tail_software.read_data.val()
            ^ (self.last_carry.val() << 1))
            & self.level_mask.val();
        self.arrived.next = 0.into();
        if self.accepted.val() {
            self.arrived.next = self.paged.val();
        }
        self.last_left.d.next = !self.not_last.val().any();
        self.starts.next = 0.into();
        if self.engine.take.val() {
            self.starts.next = self.one.val() << self.engine.select.val();
        }
        self.filled.d.next =
            (self.filled.q.val() | self.fills.val()) & !self.starts.val() & self.all_channels.val();
        self.grew.d.next = self.arrived.val() & !self.starts.val() & self.all_channels.val();
        self.arrived_before.d.next = self.arrived.val() & self.all_channels.val();
        self.arrived_lately.d.next =
            (self.arrived.val() | self.arrived_before.q.val()) & self.all_channels.val();
        self.is_last.d.next =
            self.head_engine.read_data.val() == self.newest_engine.read_data.val();
        self.emptied.next = 0.into();
        if self.is_last.q.val() {
            self.emptied.next = self.starts.val();
        }
        self.ended_last.d.next = self.ending.q.val()
            & (self.ended_ends.read_data.val() == self.newest_ends.read_data.val());
        self.ended_channel.d.next = self.ending_channel.q.val();
        self.finished.next = 0.into();
        if self.ended_last.q.val() {
            self.finished.next = self.one.val() << self.ended_channel.q.val();
        }
        self.engine.queued.next = self.waiting.q.val();
        self.busy.next = self.unended.q.val() | self.leaving.q.val();
        self.engine.awakened.next = self.arrived.val() & !self.unended.q.val();
        self.waiting.d.next = ((self.waiting.q.val() & !self.emptied.val())
            | self.arrived.val()
            | self.arrived_lately.q.val())
            & self.all_channels.val();
        self.unended.d.next = ((self.unended.q.val() & !self.finished.val())
            | self.arrived.val()
            | self.arrived_lately.q.val())
            & self.all_channels.val();
        // The last beat of a descriptor was given to the port at least two cycles before the descriptor counts as ended
        // here.
        self.leaving.d.next =
            (self.leaving.q.val() | self.finished.val()) & self.all_channels.val();
        if self.sent.val() {
            self.leaving.d.next = self.finished.val() & self.all_channels.val();
        }
        if self.reset.val() {
            self.writes.d.next = 0.into();
            self.filled.d.next = 0.into();
            self.grew.d.next = 0.into();
            self.waiting.d.next = 0.into();
            self.leaving.d.next = 0.into();
            self.unended.d.next = 0.into();
            self.arrived_before.d.next = 0.into();
            self.arrived_lately.d.next = 0.into();
            self.ending.d.next = false;
            self.ended_last.d.next = false;
        }
    }
}
