//! Ends of descriptors, and the flush reads that they wait for.

use super::WritePath;
use crate::prim::Part;
use rust_hdl::prelude::*;

/// Ends of descriptors, with their flush reads; and the reset.
pub(super) struct Ends;

impl<const W: usize, const B: usize> Part<Ends> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // An end: reported when a record or an interrupt was asked for, or a fault met. Posted writes
        // to the peer may be slower than the record to the host: a read that follows them and has
        // come back says that they are there. Later bursts go on meanwhile.
        self.gone_reports.next =
            self.gone.q.val().get_bits::<2>(85).any() | self.gone_code.val().any();
        self.gone_end.next = self.gone_on.q.val() & self.gone_last.val();
        self.flushes.push.next = self.gone_end.val() & self.gone_flush.q.val();
        self.flushes.data_in.next =
            self.gone.q.val().get_bits::<64>(0) & !bit_cast::<64, 5>(self.lane_mask.val());
        // Who takes it answers late: one leaves every three cycles. A word that is there is shown in the next.
        self.flush.valid.next = self.flush_on.q.val();
        self.flush.address.next = self.flushes.data.val();
        self.flush_gone.d.next = self.flush.take.val();
        self.flushes.pop.next = self.flush_gone.q.val();
        self.flush_on.d.next =
            self.flushes.some.val() & !self.flush_gone.q.val() & !self.unused_flushes.q.val().all();
        if self.flush_on.q.val() {
            self.flush_on.d.next = !self.flush.take.val();
        }
        self.flushed_on.d.next = self.flush.done.val();
        self.flushed_bad.d.next = self.flush_error.val();
        self.flush_results.push.next = self.flushed_on.q.val();
        self.flush_results.data_in.next = self.flushed_bad.q.val().into();
        // A faulting head carries its ATT address; of one with data nobody learns the bus address.
        self.gone_fault.next = 0.into();
        if !self.gone_real.val() {
            self.gone_fault.next = self.gone.q.val().get_bits::<64>(0);
        }
        self.end_on.d.next = self.gone_end.val();
        self.ends.push.next = self.end_on.q.val();
        self.ends.data_in.next = self.end_next.q.val();
        self.end_next.d.next = bit_cast::<142, 4>(self.gone_code.val())
            | (bit_cast::<142, 1>(
                (self.gone.q.val().get_bit(86) | self.gone_code.val().any()).into(),
            ) << 4)
            | (bit_cast::<142, 1>(self.gone_flush.q.val().into()) << 5)
            | (bit_cast::<142, 32>(self.gone.q.val().get_bits::<32>(87)) << 6)
            | (bit_cast::<142, 32>(self.gone_total.val()) << 38)
            | (bit_cast::<142, 64>(self.gone_fault.val()) << 70)
            | (bit_cast::<142, 1>(self.gone_reports.val().into()) << 134)
            | (bit_cast::<142, 1>(self.gone.q.val().get_bit(120).into()) << 135)
            | (bit_cast::<142, 6>(self.gone_channel.val()) << 136);
        self.ends_waiting.next = self.ends_count.q.val();
        self.needs_flush.next = self.ends.data.val().get_bit(5);
        // Many may have waited for one; the counters take an end every three cycles.
        self.silent.d.next = self.ends.valid.val()
            & !self.ends.data.val().get_bit(134)
            & !self.silent.q.val()
            & !self.end_left.q.val();
        self.end.valid.next = self.ends.valid.val()
            & self.ends.data.val().get_bit(134)
            & (!self.needs_flush.val() | self.result_on.q.val());
        self.end.code.next = self.ends.data.val().get_bits::<4>(0);
        self.end.irq.next = self.ends.data.val().get_bit(4);
        if self.needs_flush.val() & self.result.q.val() {
            self.end.irq.next = true;
            if !self.ends.data.val().get_bits::<4>(0).any() {
                self.end.code.next = self.status.flush.val();
            }
        }
        self.end.tag.next = self.ends.data.val().get_bits::<32>(6);
        self.end.bytes.next = self.ends.data.val().get_bits::<32>(38);
        self.end.urgent.next = self.ends.data.val().get_bit(135);
        self.end.channel.next = self.ends.data.val().get_bits::<6>(136);
        self.end.fault.next = self.ends.data.val().get_bits::<64>(70);
        self.end_pop.next = self.end.take.val() | self.silent.q.val();
        self.end_left.d.next = self.end_pop.val();
        self.ended.next = self.end_pop.val();
        if self.gone_end.val() & !self.end_pop.val() {
            self.ends_count.d.next = self.ends_count.q.val() + 1;
        } else if self.end_pop.val() & !self.gone_end.val() {
            self.ends_count.d.next = self.ends_count.q.val() - 1;
        }
        self.ends.pop.next = self.end_pop.val();
        self.result_used.next = self.end.take.val() & self.needs_flush.val();
        self.result_load.next =
            self.flush_results.valid.val() & (!self.result_on.q.val() | self.result_used.val());
        self.flush_results.pop.next = self.result_load.val();
        if self.flush_gone.q.val() & !self.result_used.val() {
            self.unused_flushes.d.next = self.unused_flushes.q.val() + 1;
        } else if self.result_used.val() & !self.flush_gone.q.val() {
            self.unused_flushes.d.next = self.unused_flushes.q.val() - 1;
        }
        if self.result_load.val() {
            self.result_on.d.next = true;
            self.result.d.next = self.flush_results.data.val().any();
        } else if self.result_used.val() {
            self.result_on.d.next = false;
        }

        if self.reset.val() {
            self.reserved.d.next = 0.into();
            self.claimed.d.next = 0.into();
            self.ends_room.d.next = false;
            self.next_on.d.next = false;
            self.head_on.d.next = false;
            self.gone_on.d.next = false;
            self.result_on.d.next = false;
            self.unused_flushes.d.next = 0.into();
            self.end_on.d.next = false;
            self.silent.d.next = false;
            self.ends_count.d.next = 0.into();
            self.flush_on.d.next = false;
            self.flush_gone.d.next = false;
            self.flushed_on.d.next = false;
            self.has_room.d.next = false;
        }
    }
}
