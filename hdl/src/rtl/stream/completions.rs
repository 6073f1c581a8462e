//! Completions by tag, and reads that are written off.

use super::StreamAdapter;
use crate::prim::Part;
use peerlane_language::*;

/// Takes completions; and the reset.
pub(super) struct Completions;

impl<const W: usize, const B: usize> Part<Completions> for StreamAdapter<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Completions.
        self.is_flush.next = self.answer_tag.val().get_bit(6);
        self.tag_bit.next = self.one.val() << self.answer_tag.val().get_bits::<6>(0);
        self.known.next = (self.open.q.val() & self.tag_bit.val()).any() & !self.is_flush.val();
        self.late.next = (self.lost.q.val() & self.tag_bit.val()).any() & !self.is_flush.val();
        self.refused.next = self.answer_code.val().any();
        self.sizes.read_address.next = self.answer_tag.val().get_bits::<6>(0);
        self.left.read_address.next = self.answer_tag.val().get_bits::<6>(0);
        self.left_now.next = self.left.read_data.val();
        self.first_lane.next = 0.into();
        if (self.fresh_tags.q.val() & self.tag_bit.val()).any() {
            self.left_now.next = self.sizes.read_data.val().bytes;
            self.first_lane.next = self.sizes.read_data.val().lane;
        }
        self.completes.next = self.answer_valid.val()
            & self.answer_first.val()
            & (self.known.val() | self.late.val())
            & (self.refused.val() | (self.left_now.val() == self.answer_bytes.val()));
        self.left.write_enable.next =
            self.answer_valid.val() & self.answer_first.val() & !self.is_flush.val();
        self.left.write_address.next = self.answer_tag.val().get_bits::<6>(0);
        self.left.write_data.next = self.left_now.val() - self.answer_bytes.val();
        self.closes.next = 0.into();
        if self.completes.val() {
            self.closes.next = self.tag_bit.val();
        }
        self.span.next = bit_cast::<11, 5>(self.first_lane.val())
            + bit_cast::<11, 10>(self.answer_bytes.val())
            + self.beat_round.val();
        self.frees.next = 0.into();
        if self.answer_valid.val() & self.beats_left.q.val().any() {
            self.beats_left.d.next = self.beats_left.q.val() - 1;
            if self.beats_left.q.val() == 1 {
                self.frees.next = self.ending.q.val();
            }
        }
        if self.completes.val() & self.late.val() {
            self.ending.d.next = self.tag_bit.val();
            self.beats_left.d.next =
                bit_cast::<6, 11>(self.span.val() >> self.beat_shift.val()) - 1;
            if self.refused.val() | ((self.span.val() >> self.beat_shift.val()) == 1) {
                self.beats_left.d.next = 0.into();
                self.frees.next = self.tag_bit.val();
            }
        }
        self.fresh_tags.d.next = self.fresh_tags.q.val() | self.opens.val();
        if self.answer_valid.val() & self.answer_first.val() & !self.is_flush.val() {
            self.fresh_tags.d.next =
                (self.fresh_tags.q.val() & !self.tag_bit.val()) | self.opens.val();
        }
        if self.answer_valid.val() & self.answer_first.val() {
            self.dropping.d.next = !self.known.val();
        }

        // The oldest request: over, or late.
        self.front_bit.next = self.one.val() << self.order.data.val().tag;
        self.front_open.next = (self.open.q.val() & self.front_bit.val()).any();
        self.front_late.next = self.port.timeout.val().any()
            & ((self.now.q.val() - self.order.data.val().time) >= self.port.timeout.val());
        self.lose.next = self.order.valid.val()
            & self.front_open.val()
            & self.front_late.val()
            & !self.answer_valid.val();
        self.order.pop.next = self.order.valid.val() & (!self.front_open.val() | self.lose.val());
        self.loses.next = 0.into();
        if self.lose.val() {
            self.loses.next = self.front_bit.val();
        }
        self.open.d.next = ((self.open.q.val() & !self.closes.val() & !self.loses.val())
            | self.opens.val())
            & self.tags.val();
        self.lost.d.next =
            ((self.lost.q.val() & !self.frees.val()) | self.loses.val()) & self.tags.val();

        // Reports to the engine about flush reads.
        self.flushes.answered.next =
            self.answer_valid.val() & self.answer_first.val() & self.is_flush.val();
        self.flushes.answered_tag.next = self.answer_tag.val().get_bits::<3>(0);
        self.flushes.refused.next = self.refused.val();
        self.port_flush.done.next = self.flushes.ended.val();
        self.port.flush_error.next = self.flushes.failed.val();

        // Reports to the engine about reads. To a dead port they end at once.
        self.absorb.next = self.port_read.valid.val()
            & self.poster.dead.val()
            & !self.answer_valid.val()
            & !self.lose.val();
        self.port_read.take.next = self.take_read.val() | self.absorb.val();
        self.port_answer.chunk.next =
            (self.answer_valid.val() & self.answer_first.val() & self.known.val())
                | self.lose.val()
                | self.absorb.val();
        self.port_answer.tag.next = self.answer_tag.val().get_bits::<6>(0);
        self.port_answer.bytes.next = self.answer_bytes.val();
        self.port_answer.code.next = self.status.ok.val();
        if self.absorb.val() {
            self.port_answer.tag.next = self.port_read.tag.val();
            self.port_answer.code.next = self.status.port_down.val();
        } else if self.lose.val() {
            self.port_answer.tag.next = self.order.data.val().tag;
            self.port_answer.code.next = self.status.read_timeout.val();
        } else if self.refused.val() {
            self.port_answer.code.next =
                bit_cast::<5, 3>(self.answer_code.val()) + self.refusals.val();
            if self.answer_code.val() == 4 {
                self.port_answer.code.next = self.status.read_timeout.val();
            }
        }
        self.port_answer.beat.next = self.answer_valid.val()
            & ((self.answer_first.val() & self.known.val() & !self.refused.val())
                | (!self.answer_first.val() & !self.dropping.q.val()));
        self.port_answer.data.next = self.answer_data.val();
        self.port_answer.error.next = self.answer_error.val();
        if self.port.release.val() {
            self.lost.d.next = 0.into();
        }

        if self.port.clear.val() {
            self.open.d.next = 0.into();
            self.lost.d.next = ((self.lost.q.val() & !self.frees.val())
                | (self.open.q.val() & !self.closes.val()))
                & self.tags.val();
            self.dropping.d.next = true;
        }
        if self.port.reset.val() {
            self.asking.d.next = false;
            self.open.d.next = 0.into();
            self.lost.d.next = 0.into();
            self.beats_left.d.next = 0.into();
            self.fresh_tags.d.next = 0.into();
        }
    }
}
