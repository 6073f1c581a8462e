//! The verdict: whether the request may leave, and in which form.

use super::Segment;
use crate::prim::Part;
use peerlane_language::*;

/// Decides whether the request may leave, and in which form.
pub(super) struct Verdict;

impl<const W: usize, const B: usize> Part<Verdict> for Segment<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // The verdict, most fundamental fault first.
        self.verdict.next = self.status.ok.val();
        if self.malformed.q.val() {
            self.verdict.next = self.status.descriptor.val();
        } else if self.out_of_memory.q.val() {
            self.verdict.next = self.status.length.val();
        } else if self.out_of_window.q.val() | (self.streams.q.val() & self.foreign.q.val()) {
            self.verdict.next = self.status.local_range.val();
        } else if self.unaligned.q.val() {
            self.verdict.next = self.status.alignment.val();
        } else if self.aborted.q.val() {
            self.verdict.next = self.status.aborted.val();
        } else if self.port_down.val() | self.doomed.q.val() {
            self.verdict.next = self.status.port_down.val();
        } else if self.out_of_table.q.val() {
            self.verdict.next = self.status.att_bounds.val();
        } else if self.invalid.q.val() {
            self.verdict.next = self.status.att_invalid.val();
        } else if self.not_owner.q.val() {
            self.verdict.next = self.status.att_owner.val();
        } else if self.not_permitted.q.val() {
            self.verdict.next = self.status.att_permission.val();
        } else if self.wrong_size.q.val() {
            self.verdict.next = self.status.att_page_size.val();
        }
        self.faulty.next = self.malformed.q.val()
            | self.unaligned.q.val()
            | self.out_of_memory.q.val()
            | self.out_of_window.q.val()
            | (self.streams.q.val() & self.foreign.q.val())
            | self.aborted.q.val()
            | self.port_down.val()
            | self.doomed.q.val()
            | self.out_of_table.q.val()
            | self.invalid.q.val()
            | self.not_owner.q.val()
            | self.not_permitted.q.val()
            | self.wrong_size.q.val();
        // A request that failed once stays so; the port may go down while a request waits.
        self.fails.d.next = self.faulty.val();
        self.judged.d.next = self.verdict.val();
        if self.issuing.q.val() & self.fails.q.val() {
            self.fails.d.next = true;
            self.judged.d.next = self.judged.q.val();
        }
        self.request.has_data.next = !self.fails.q.val();
        self.request.span.next = self.chunk.q.val();
        self.request.code.next = self.judged.q.val();
        self.is_final.next = self.final_chunk.q.val() | self.fails.q.val();
        self.request.last.next = self.is_final.val();
        self.request.local.next = self.local_at.q.val();
        if self.streams.q.val() {
            self.request.local.next = self.flow.place.val();
        }
        self.request.stream.next = self.streams.q.val();
        self.request.want_record.next = self.flags.q.val().get_bit(0);
        self.request.want_irq.next = self.flags.q.val().get_bit(1);
        self.may_flush.next = self.readable.q.val() & !self.flags.q.val().get_bit(2);
        self.request.urgent.next = self.flags.q.val().get_bit(3);
        self.request.tag.next = self.cookie_at.q.val();
        self.att_address.next = bit_cast::<40, 38>(self.peer.q.val())
            | (bit_cast::<40, 2>(self.page_size.q.val()) << 38);
        self.request.bus.next = self.target.q.val();
        self.request.bytes.next = self.chunk.q.val();
        if self.fails.q.val() {
            self.request.bytes.next = 0.into();
        }
        self.remaining_next.next = self.remaining.q.val() - bit_cast::<32, 10>(self.chunk.q.val());
        self.peer_next.next = self.peer.q.val() + bit_cast::<38, 10>(self.chunk.q.val());
        self.local_next.next = self.local_at.q.val() + bit_cast::<40, 10>(self.chunk.q.val());
        if self.starving.q.val() {
            self.remaining_next.next = self.remaining.q.val();
            self.peer_next.next = self.peer.q.val();
            self.local_next.next = self.local_at.q.val();
        }
    }
}
