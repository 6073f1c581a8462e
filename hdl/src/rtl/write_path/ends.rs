//! Ends of descriptors, and the flush reads that they wait for.

use super::WritePath;
use crate::prim::Part;
use peerlane_language::*;

/// Ends of descriptors, with their flush reads; and the reset.
pub(super) struct Ends;

impl<const W: usize, const B: usize> Part<Ends> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // An end: reported when a record or an interrupt was asked for, or a fault met. Posted writes to the peer may
        // be slower than the record to the host: a read that follows them and has come back proves that they have
        // arrived. Later bursts go on in that time.
        self.gone_reports.next =
            self.gone.q.val().want_record | self.gone.q.val().want_irq | self.gone_code.val().any();
        self.gone_end.next = self.gone_on.q.val() & self.gone_last.val();
        self.flushes.push.next = self.gone_end.val() & self.gone_flush.q.val();
        self.flushes.data_in.next =
            self.gone.q.val().bus & !bit_cast::<64, 5>(self.lane_mask.val());
        // The signal that the read is taken comes late in its cycle. One leaves every three cycles. A word that is
        // there is shown in the next cycle.
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
        // A faulting head carries its ATT address; the bus address of a head with data is not reported.
        // A block that a stream's request has closed has a header.
        self.gone_fault.next = 0.into();
        if !self.gone_real.val() {
            self.gone_fault.next = self.gone.q.val().bus;
        } else if self.gone.q.val().stream & !self.gone_code.val().any() {
            self.gone_fault.next = self.stream_header.val();
        }
        self.stream_header_take.next =
            self.gone_end.val() & self.gone_real.val() & self.gone.q.val().stream;
        self.end_on.d.next = self.gone_end.val();
        self.ends.push.next = self.end_on.q.val();
        self.ends.data_in.next = self.end_next.q.val();
        self.end_next.d.next.code = self.gone_code.val();
        self.end_next.d.next.irq = self.gone.q.val().want_irq | self.gone_code.val().any();
        self.end_next.d.next.flush = self.gone_flush.q.val();
        self.end_next.d.next.tag = self.gone.q.val().tag;
        self.end_next.d.next.bytes = self.gone_total.val();
        self.end_next.d.next.fault = self.gone_fault.val();
        self.end_next.d.next.reports = self.gone_reports.val();
        self.end_next.d.next.urgent = self.gone.q.val().urgent;
        self.end_next.d.next.channel = self.gone_channel.val();
        self.ends_waiting.next = self.ends_count.q.val();
        self.needs_flush.next = self.ends.data.val().flush;
        // Many ends may have waited for one; the counters take an end every three cycles.
        self.silent.d.next = self.ends.valid.val()
            & !self.ends.data.val().reports
            & !self.silent.q.val()
            & !self.end_left.q.val();
        self.end.valid.next = self.ends.valid.val()
            & self.ends.data.val().reports
            & (!self.needs_flush.val() | self.result_on.q.val());
        self.end.code.next = self.ends.data.val().code;
        self.end.irq.next = self.ends.data.val().irq;
        if self.needs_flush.val() & self.result.q.val() {
            self.end.irq.next = true;
            if !self.ends.data.val().code.any() {
                self.end.code.next = self.status.flush.val();
            }
        }
        self.end.tag.next = self.ends.data.val().tag;
        self.end.bytes.next = self.ends.data.val().bytes;
        self.end.urgent.next = self.ends.data.val().urgent;
        self.end.channel.next = self.ends.data.val().channel;
        self.end.fault.next = self.ends.data.val().fault;
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
