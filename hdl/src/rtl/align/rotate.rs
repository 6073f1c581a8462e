//! Bytes to their lanes, and two beats into one.

use super::Align;
use crate::prim::Part;
use peerlane_language::*;

/// The bytes to their lanes.
pub(super) struct Rotation;

/// Merges two beats into one; and the reset.
pub(super) struct Merge;

impl<const W: usize, const B: usize> Part<Rotation> for Align<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Rotate right by `raw_rotate` bytes.
        self.turn1.next = self.raw_data.q.val();
        if self.raw_rotate.q.val().get_bit(0) {
            self.turn1.next =
                (self.raw_data.q.val() >> 8) | (self.raw_data.q.val() << self.wrap1.val());
        }
        self.turn2.next = self.turn1.val();
        if self.raw_rotate.q.val().get_bit(1) {
            self.turn2.next = (self.turn1.val() >> 16) | (self.turn1.val() << self.wrap2.val());
        }
        self.turn4.next = self.turn2.val();
        if self.raw_rotate.q.val().get_bit(2) {
            self.turn4.next = (self.turn2.val() >> 32) | (self.turn2.val() << self.wrap4.val());
        }
        self.turn8.next = self.turn4.val();
        if self.raw_rotate.q.val().get_bit(3) {
            self.turn8.next = (self.turn4.val() >> 64) | (self.turn4.val() << self.wrap8.val());
        }
        self.turn16.next = self.turn8.val();
        if self.raw_rotate.q.val().get_bit(4) {
            self.turn16.next = (self.turn8.val() >> 128) | (self.turn8.val() << self.wrap16.val());
        }
        if self.shift.val() {
            self.turned.d.next = true;
            self.turned_data.d.next = self.turn16.val();
            self.turned_keep.d.next = self.raw_keep.q.val();
            self.turned_emit.d.next = self.raw_emit.q.val();
            self.turned_last.d.next = self.raw_last.q.val();
            self.turned_error.d.next = self.raw_error.q.val();
            self.turned_enable.d.next = self.raw_enable.q.val();
        } else if self.advance.val() {
            self.turned.d.next = false;
        }

        // The beat, and the values for its rotation and its merge.
        self.start_mask.next = self.lanes.val();
        if self.first.q.val() {
            self.start_mask.next = self.lanes.val() << self.start_lane.q.val();
        }
        self.end_mask.next = self.lanes.val();
        if self.final_step.q.val() {
            self.end_mask.next = self.lanes.val() >> (self.lane_mask.val() - self.end_lane.q.val());
        }
        if self.step.val() {
            self.raw.d.next = true;
            self.raw_data.d.next = self.beat_data.val();
            self.raw_rotate.d.next = self.rotate.q.val();
            self.raw_keep.d.next = self.keep.q.val();
            self.raw_emit.d.next = !self.lead.q.val();
            self.raw_last.d.next = self.final_step.q.val();
            self.raw_error.d.next = self.error_now.val();
            if self.error_now.val() {
                self.raw_enable.d.next = 0.into();
            } else {
                self.raw_enable.d.next = self.start_mask.val() & self.end_mask.val();
            }
        } else if self.turn_free.val() {
            self.raw.d.next = false;
        }
    }
}

impl<const W: usize, const B: usize> Part<Merge> for Align<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Merge: lanes below `B - keep` come from the beat before. The merged beat goes out, or into `spare`.
        self.keep_mask.next = self.ones.val() >> (bit_cast::<9, 6>(self.turned_keep.q.val()) << 3);
        self.merged_data.next = (self.previous.q.val() & self.keep_mask.val())
            | (self.turned_data.q.val() & !self.keep_mask.val());
        self.merged.next = self.advance.val() & self.turned.q.val() & self.turned_emit.q.val();
        if self.advance.val() & self.turned.q.val() {
            self.previous.d.next = self.turned_data.q.val();
        }
        if !self.ready.q.val() | self.out_take.val() {
            self.spare.d.next = false;
            if self.spare.q.val() {
                self.ready.d.next = true;
                self.ready_data.d.next = self.spare_data.q.val();
                self.ready_enable.d.next = self.spare_enable.q.val();
                self.ready_last.d.next = self.spare_last.q.val();
                self.ready_error.d.next = self.spare_error.q.val();
            } else {
                self.ready.d.next = self.merged.val();
                self.ready_data.d.next = self.merged_data.val();
                self.ready_enable.d.next = self.turned_enable.q.val();
                self.ready_last.d.next = self.turned_last.q.val();
                self.ready_error.d.next = self.turned_error.q.val();
            }
        } else if self.merged.val() {
            self.spare.d.next = true;
            self.spare_data.d.next = self.merged_data.val();
            self.spare_enable.d.next = self.turned_enable.q.val();
            self.spare_last.d.next = self.turned_last.q.val();
            self.spare_error.d.next = self.turned_error.q.val();
        }
        self.out.next = self.ready.q.val();
        self.out_data.next = self.ready_data.q.val();
        self.out_enable.next = self.ready_enable.q.val();
        self.out_last.next = self.ready_last.q.val();
        self.out_error.next = self.ready_error.q.val();

        if self.reset.val() {
            self.next_job.d.next = false;
            self.active.d.next = false;
            self.needs_beat.d.next = false;
            self.raw.d.next = false;
            self.turned.d.next = false;
            self.spare.d.next = false;
            self.ready.d.next = false;
        }
    }
}
