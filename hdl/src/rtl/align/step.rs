//! The steps of a realignment.

use super::Align;
use crate::prim::Part;
use peerlane_language::*;

/// Chooses the beats that a step takes, and measures the next job.
pub(super) struct Measure;

/// The step.
pub(super) struct Step;

impl<const W: usize, const B: usize> Part<Measure> for Align<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // A step: at most one beat in, at most one beat out.
        self.advance.next = !self.spare.q.val();
        self.turn_free.next = !self.turned.q.val() | self.advance.val();
        self.shift.next = self.raw.q.val() & self.turn_free.val();
        self.step_free.next = !self.raw.q.val() | self.turn_free.val();
        self.step.next = self.active.q.val()
            & self.step_free.val()
            & (!self.needs_beat.q.val() | self.beat.val());
        self.error_now.next =
            self.failed.q.val() | (self.needs_beat.q.val() & self.beat_error.val());

        // Measure the next job while this one runs.
        self.difference.next = (self.source.val() - self.target.val()) & self.lane_mask.val();
        self.leads.next = self.source.val() > self.target.val();
        self.source_span.next =
            bit_cast::<11, 5>(self.source.val()) + bit_cast::<11, 10>(self.bytes.val());
        self.target_span.next =
            bit_cast::<11, 5>(self.target.val()) + bit_cast::<11, 10>(self.bytes.val());
        self.load.next = self.next_job.q.val()
            & (!self.active.q.val() | (self.step.val() & self.final_step.q.val()));
        // Not while a job waits, even one that is loaded in this cycle: a short path.
        self.measure.next = self.job.val() & !self.next_job.q.val();
        self.job_take.next = self.measure.val();
        if self.measure.val() {
            self.next_job.d.next = true;
            self.next_rotate.d.next = self.difference.val();
            if self.difference.val().any() {
                self.next_keep.d.next = bit_cast::<6, 5>(self.difference.val());
            } else {
                self.next_keep.d.next = self.beat_bytes.val();
            }
            self.next_lead.d.next = self.leads.val();
            self.next_beats.d.next = bit_cast::<6, 11>(
                (self.source_span.val() + self.beat_round.val()) >> self.beat_shift.val(),
            );
            self.next_steps.d.next = bit_cast::<6, 11>(
                (self.target_span.val() + self.beat_round.val()) >> self.beat_shift.val(),
            );
            self.next_target.d.next = self.target.val();
            self.next_start.d.next = self.start.val();
            self.next_end.d.next =
                (bit_cast::<5, 11>(self.target_span.val()) - 1) & self.lane_mask.val();
        } else if self.load.val() {
            self.next_job.d.next = false;
        }
    }
}

impl<const W: usize, const B: usize> Part<Step> for Align<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Take the step.
        self.beat_take.next = self.step_free.val() & self.needs_beat.q.val() & self.beat.val();
        self.beat_place.next = self.place.q.val();
        self.beat_ends_word.next = self.ends_word.q.val();
        self.place_next.next = self.place.q.val() + 1;
        if self.step.val() {
            self.lead.d.next = false;
            self.final_step.d.next = self.steps.q.val() == 1;
            if !self.lead.q.val() {
                self.final_step.d.next = self.steps.q.val() == 2;
                self.steps.d.next = self.steps.q.val() - 1;
                self.first.d.next = false;
            }
            if self.needs_beat.q.val() {
                self.beats.d.next = self.beats.q.val() - 1;
                self.needs_beat.d.next = !self.one_beat.q.val();
                self.one_beat.d.next = self.beats.q.val() == 2;
                self.ends_word.d.next = (self.beats.q.val() == 2)
                    | ((self.place_next.val() & self.place_mask.val()) == self.place_mask.val());
                self.place.d.next = self.place_next.val();
            }
            self.failed.d.next = self.error_now.val();
            if self.final_step.q.val() {
                self.active.d.next = false;
            }
        }
        if self.load.val() {
            self.active.d.next = true;
            self.rotate.d.next = self.next_rotate.q.val();
            self.keep.d.next = self.next_keep.q.val();
            self.lead.d.next = self.next_lead.q.val();
            self.first.d.next = true;
            self.steps.d.next = self.next_steps.q.val();
            self.beats.d.next = self.next_beats.q.val();
            self.needs_beat.d.next = self.next_beats.q.val().any();
            self.one_beat.d.next = self.next_beats.q.val() == 1;
            self.ends_word.d.next = (self.next_beats.q.val() == 1)
                | ((self.next_start.q.val() & self.place_mask.val()) == self.place_mask.val());
            self.final_step.d.next = (self.next_steps.q.val() == 1) & !self.next_lead.q.val();
            self.start_lane.d.next = self.next_target.q.val();
            self.end_lane.d.next = self.next_end.q.val();
            self.place.d.next = self.next_start.q.val();
            self.failed.d.next = false;
        }
    }
}
