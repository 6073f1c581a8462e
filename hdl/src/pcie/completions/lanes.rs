//! Beats of packets into beats of chunks.

use super::Completions;
use crate::prim::Part;
use peerlane_language::*;

/// Beats to their lanes; and the reset.
pub(super) struct Lanes;

impl<const W: usize, const B: usize, const E: usize> Part<Lanes> for Completions<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.lane_span.next = bit_cast::<11, 7>(self.lower.val() & self.lane_mask.val())
            + bit_cast::<11, 10>(self.b_bytes.q.val())
            + self.beat_round.val();
        self.begins_at.next = 2.into();
        if self.lower.val().get_bit(2) {
            self.begins_at.next = 1.into();
        }
        if self.c_on.q.val() | self.tail.q.val() {
            self.before.d.next = self.c_data.q.val();
            self.before_that.d.next = self.before.q.val();
        }
        self.c_left.d.next = self.left_after.val();
        if self.emit.val() {
            self.c_first.d.next = false;
        }
        self.tail.d.next = self.stall.val();
        self.c_on.d.next = false;
        if self.move_on.val() {
            self.c_on.d.next = self.b_on.q.val();
            self.c_sop.d.next = self.b_sop.q.val();
            self.c_eop.d.next = self.b_eop.q.val();
            self.c_data.d.next = self.b_data.q.val();
            // No data come after it.
            if self.b_on.q.val() & self.b_lost.q.val() {
                self.c_lost.d.next = true;
            }
            if self.b_on.q.val() & self.b_sop.q.val() {
                self.c_moves.d.next =
                    bit_cast::<3, 7>((self.lower.val() & self.lane_mask.val()) >> 3)
                        - self.begins_at.val();
                self.c_first.d.next = true;
                self.c_name.d.next = self.b_name.q.val();
                self.c_bytes.d.next = self.b_bytes.q.val();
                self.c_code.d.next = self.code.val();
                self.c_left.d.next = 0.into();
                if self.tells.val() {
                    self.c_left.d.next = 1.into();
                    if !self.code.val().any() {
                        self.c_left.d.next =
                            bit_cast::<6, 11>(self.lane_span.val() >> self.beat_shift.val());
                    }
                }
            }
        }

        // The beat before this one, with qwords moved up by as many: 6 is two down.
        self.word.next = self.before.q.val();
        if self.c_moves.q.val() == 6 {
            self.word.next =
                (self.before.q.val() >> 128) | (self.c_data.q.val() << self.less_two.val());
        } else if self.c_moves.q.val() == 7 {
            self.word.next =
                (self.before.q.val() >> 64) | (self.c_data.q.val() << self.less_one.val());
        } else if self.c_moves.q.val() == 1 {
            self.word.next =
                (self.before.q.val() << 64) | (self.before_that.q.val() >> self.less_one.val());
        } else if self.c_moves.q.val() == 2 {
            self.word.next =
                (self.before.q.val() << 128) | (self.before_that.q.val() >> self.less_two.val());
        }
        self.out_on.d.next = self.emit.val();
        self.out_first.d.next = self.c_first.q.val();
        self.out_name.d.next = self.c_name.q.val();
        self.out_bytes.d.next = self.c_bytes.q.val();
        self.out_code.d.next = self.c_code.q.val();
        self.out_data.d.next = self.word.val();
        self.out_lost.d.next = self.c_lost.q.val();
        // Of a read that has not left.
        self.refuses_take.next = self.refuses.val() & !self.c_left.q.val().any();
        if self.refuses.val() & !self.c_left.q.val().any() {
            self.out_on.d.next = true;
            self.out_first.d.next = true;
            self.out_name.d.next = self.refuses_tag.val();
            self.out_code.d.next = 1.into();
            if self.refuses_lost.val() {
                self.out_code.d.next = 4.into();
            }
        }
        self.answer_valid.next = self.out_on.q.val();
        self.answer_first.next = self.out_first.q.val();
        self.answer_tag.next = self.out_name.q.val();
        self.answer_bytes.next = self.out_bytes.q.val();
        self.answer_code.next = self.out_code.q.val();
        self.answer_data.next = self.out_data.q.val();
        self.answer_error.next = self.out_lost.q.val();

        if self.reset.val() {
            self.pause.d.next = false;
            self.open.d.next = 0.into();
            self.old.d.next = 0.into();
            self.opening.d.next = false;
            self.admits.d.next = false;
            self.failed.d.next = 0.into();
            self.time.d.next = 0.into();
            self.look.d.next = 0.into();
            self.due.d.next = false;
            self.a_on.d.next = false;
            self.within.d.next = false;
            self.b_on.d.next = false;
            self.lines_free.d.next = 0.into();
            self.lines_held.d.next = 0.into();
            self.c_on.d.next = false;
            self.c_left.d.next = 0.into();
            self.c_lost.d.next = false;
            self.tail.d.next = false;
            self.out_on.d.next = false;
        }
    }
}
