//! Byte realignment of a stream: a job of `bytes` that starts at byte lane `source` of the first beat
//! in comes out starting at byte lane `target` of the first beat out, with byte enables. One beat a
//! cycle, no bubble between jobs but behind one of a single step.
//!
//! Every beat in is rotated by `source - target`; a beat out is then the high part of one rotated beat
//! and the low part of the next. When `source > target` the first beat in gives no beat out (it leads);
//! when the last bytes are already in hand, the last step takes no beat in.

use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// The realigner of a `W`-bit, `B`-byte stream.
#[derive(DocBlock)]
pub struct Align<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // Jobs.
    pub job: Signal<In, Bit>,
    pub job_take: Signal<Out, Bit>,
    /// Byte lane of the first byte in, out; below `B`.
    pub source: Signal<In, Bits<5>>,
    pub target: Signal<In, Bits<5>>,
    /// 1–512.
    pub bytes: Signal<In, Bits<10>>,
    /// Where in a wider word the first beat in is; counted on, for who cuts words into beats.
    pub start: Signal<In, Bits<2>>,
    // Beats in.
    pub beat: Signal<In, Bit>,
    pub beat_take: Signal<Out, Bit>,
    pub beat_data: Signal<In, Bits<W>>,
    /// This beat holds no data: from here the job's byte enables are zero.
    pub beat_error: Signal<In, Bit>,
    /// Place of the current beat in the wider word, of 64 bytes; modulo 4.
    pub beat_place: Signal<Out, Bits<2>>,
    /// With `beat_take`: the job needs nothing of the word after this beat.
    pub beat_ends_word: Signal<Out, Bit>,
    // Beats out.
    pub out: Signal<Out, Bit>,
    pub out_take: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    pub out_enable: Signal<Out, Bits<B>>,
    pub out_last: Signal<Out, Bit>,
    /// With the job's last beat: it met an error.
    pub out_error: Signal<Out, Bit>,

    // The next job, measured.
    next_job: DFF<Bit>,
    next_rotate: DFF<Bits<5>>,
    next_keep: DFF<Bits<6>>,
    next_lead: DFF<Bit>,
    next_steps: DFF<Bits<6>>,
    next_beats: DFF<Bits<6>>,
    next_target: DFF<Bits<5>>,
    next_end: DFF<Bits<5>>,
    next_start: DFF<Bits<2>>,
    // The job under way.
    active: DFF<Bit>,
    rotate: DFF<Bits<5>>,
    keep: DFF<Bits<6>>,
    lead: DFF<Bit>,
    first: DFF<Bit>,
    steps: DFF<Bits<6>>,
    beats: DFF<Bits<6>>,
    // Said of them a cycle before: some beat is to come, only one is; it is the last of its word; the
    // step is the job's last. No beat is to come without a job.
    needs_beat: DFF<Bit>,
    one_beat: DFF<Bit>,
    ends_word: DFF<Bit>,
    final_step: DFF<Bit>,
    start_lane: DFF<Bits<5>>,
    end_lane: DFF<Bits<5>>,
    place: DFF<Bits<2>>,
    failed: DFF<Bit>,
    // Beat as it came: memories are slow, the rotation has a cycle of its own.
    raw: DFF<Bit>,
    raw_data: DFF<Bits<W>>,
    raw_rotate: DFF<Bits<5>>,
    raw_keep: DFF<Bits<6>>,
    raw_emit: DFF<Bit>,
    raw_last: DFF<Bit>,
    raw_error: DFF<Bit>,
    raw_enable: DFF<Bits<B>>,
    // Rotated beat.
    turned: DFF<Bit>,
    turned_data: DFF<Bits<W>>,
    turned_keep: DFF<Bits<6>>,
    turned_emit: DFF<Bit>,
    turned_last: DFF<Bit>,
    turned_error: DFF<Bit>,
    turned_enable: DFF<Bits<B>>,
    // Merged beat, and one more, so that whoever takes them is not asked in the same cycle.
    spare: DFF<Bit>,
    spare_data: DFF<Bits<W>>,
    spare_enable: DFF<Bits<B>>,
    spare_last: DFF<Bit>,
    spare_error: DFF<Bit>,
    previous: DFF<Bits<W>>,
    ready: DFF<Bit>,
    ready_data: DFF<Bits<W>>,
    ready_enable: DFF<Bits<B>>,
    ready_last: DFF<Bit>,
    ready_error: DFF<Bit>,

    difference: Signal<Local, Bits<5>>,
    source_span: Signal<Local, Bits<11>>,
    target_span: Signal<Local, Bits<11>>,
    leads: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    measure: Signal<Local, Bit>,
    place_next: Signal<Local, Bits<2>>,
    step_free: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    advance: Signal<Local, Bit>,
    merged: Signal<Local, Bit>,
    merged_data: Signal<Local, Bits<W>>,
    turn_free: Signal<Local, Bit>,
    shift: Signal<Local, Bit>,
    error_now: Signal<Local, Bit>,
    turn1: Signal<Local, Bits<W>>,
    turn2: Signal<Local, Bits<W>>,
    turn4: Signal<Local, Bits<W>>,
    turn8: Signal<Local, Bits<W>>,
    turn16: Signal<Local, Bits<W>>,
    keep_mask: Signal<Local, Bits<W>>,
    start_mask: Signal<Local, Bits<B>>,
    end_mask: Signal<Local, Bits<B>>,

    wrap1: Constant<Bits<9>>,
    wrap2: Constant<Bits<9>>,
    wrap4: Constant<Bits<9>>,
    wrap8: Constant<Bits<9>>,
    wrap16: Constant<Bits<9>>,
    lane_mask: Constant<Bits<5>>,
    beat_shift: Constant<Bits<3>>,
    beat_round: Constant<Bits<11>>,
    beat_bytes: Constant<Bits<6>>,
    place_mask: Constant<Bits<2>>,
    ones: Constant<Bits<W>>,
    lanes: Constant<Bits<B>>,
}

impl<const W: usize, const B: usize> Default for Align<W, B> {
    fn default() -> Self {
        assert!(
            W == 8 * B && (B == 16 || B == 32),
            "a beat of 16 or 32 bytes"
        );
        let wrap = |bytes: usize| Constant::new((((W - 8 * bytes) % W) as u64).into());
        Self::fresh(AlignGiven {
            wrap1: wrap(1),
            wrap2: wrap(2),
            wrap4: wrap(4),
            wrap8: wrap(8),
            wrap16: wrap(16),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_bytes: Constant::new((B as u64).into()),
            place_mask: Constant::new((64 / B as u64 - 1).into()),
            ones: Constant::new(Bits::<W>::mask()),
            lanes: Constant::new(Bits::<B>::mask()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for Align<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            next_job,
            next_rotate,
            next_keep,
            next_lead,
            next_steps,
            next_beats,
            next_target,
            next_end,
            next_start,
            active,
            rotate,
            keep,
            lead,
            first,
            steps,
            beats,
            needs_beat,
            one_beat,
            ends_word,
            final_step,
            start_lane,
            end_lane,
            place,
            failed,
            raw,
            raw_data,
            raw_rotate,
            raw_keep,
            raw_emit,
            raw_last,
            raw_error,
            raw_enable,
            turned,
            turned_data,
            turned_keep,
            turned_emit,
            turned_last,
            turned_error,
            turned_enable,
            previous,
            spare,
            spare_data,
            spare_enable,
            spare_last,
            spare_error,
            ready,
            ready_data,
            ready_enable,
            ready_last,
            ready_error
        );
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
        // Not while one waits, be it loaded in this cycle: a short path.
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

        // The beat, and what is to become of it.
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

        // Merge: lanes below `B - keep` come from the beat before. The merged beat goes out, or beside.
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
