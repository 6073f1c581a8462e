//! Bursts out, and the account of the bursts of a descriptor that have left.

use super::WritePath;
use crate::prim::Part;
use peerlane_language::*;

/// Bursts out.
pub(super) struct Bursts;

/// A burst has left.
pub(super) struct Gone;

impl<const W: usize, const B: usize> Part<Bursts> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Bursts out. A head leaves its FIFO when there is room for its end.
        self.head_real.next = self.head.q.val().real;
        self.write.valid.next = self.head_on.q.val() & self.head_real.val();
        self.write.address.next = self.head.q.val().bus & !bit_cast::<64, 5>(self.lane_mask.val());
        self.write.beats.next = self.head.q.val().beats;
        self.head_pop.next = self.write.done.val() | (self.head_on.q.val() & !self.head_real.val());
        self.ends_room.d.next = !self.ends.level.val().get_bits::<2>(7).any()
            & !self.flushes.level.val().get_bits::<2>(3).any();
        self.next_load.next =
            self.heads.valid.val() & !self.next_on.q.val() & self.ends_room.q.val();
        self.heads.pop.next = self.next_load.val();
        // The loaded values mean something only with `next_on`, `head_on`: a short path to many registers.
        self.head_load.next = !self.head_on.q.val() | self.head_pop.val();
        if !self.next_on.q.val() {
            self.next_on.d.next = self.next_load.val();
            self.next_head.d.next = self.heads.data.val();
        } else if self.head_load.val() {
            self.next_on.d.next = false;
        }
        if self.head_load.val() {
            self.head_on.d.next = self.next_on.q.val();
            self.head.d.next = self.next_head.q.val();
        }
        self.gone_on.d.next = self.head_pop.val();
        self.gone.d.next = self.head.q.val();
        self.gone_lost.d.next = self.port_dead.val() & self.head_real.val();
        // A burst with data has failed only if it is lost.
        self.gone_flush.d.next = self.head_real.val()
            & self.head.q.val().may_flush
            & (self.head.q.val().want_record | self.head.q.val().want_irq | self.port_dead.val());
        self.starved.next = self.head_on.q.val() & self.head_real.val() & !self.write.beat.val();
    }
}

impl<const W: usize, const B: usize> Part<Gone> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // A burst has left: the effect on its descriptor.
        self.gone_bytes.next = self.gone.q.val().bytes;
        self.gone_real.next = self.gone.q.val().real;
        self.gone_last.next = self.gone.q.val().last;
        self.gone_channel.next = self.gone.q.val().channel;
        // The port may have opened again since a burst was lost.
        self.any_lost.next = self.gone_lost.q.val() | self.done.read_data.val().lost;
        self.gone_code.next = self.gone.q.val().code;
        if self.any_lost.val() {
            self.gone_code.next = self.status.port_down.val();
        }
        self.retired.next = self.gone_on.q.val();
        self.moved.next = self.gone_bytes.val();
        self.moved_channel.next = self.gone_channel.val();
        self.requested.next = self.gone_on.q.val() & self.gone_real.val() & !self.gone_lost.q.val();
        self.done.read_address.next = self.gone_channel.val();
        self.gone_adds.next = self.gone_bytes.val();
        if self.any_lost.val() {
            self.gone_adds.next = 0.into();
        }
        self.gone_total.next =
            self.done.read_data.val().bytes + bit_cast::<32, 10>(self.gone_adds.val());
        self.done.write_enable.next = self.gone_on.q.val() | self.sweep.val();
        self.done.write_address.next = self.gone_channel.val();
        self.done.write_data.next.bytes = self.gone_total.val();
        self.done.write_data.next.lost = self.any_lost.val();
        if self.gone_last.val() | self.sweep.val() {
            self.done.write_data.next.bytes = 0.into();
            self.done.write_data.next.lost = false;
        }
        if self.sweep.val() {
            self.done.write_address.next = self.sweep_channel.val();
        }
    }
}
