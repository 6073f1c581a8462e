//! Byte realignment of a stream: a job of `bytes` that starts at byte lane `source` of the first beat in comes out
//! starting at byte lane `target` of the first beat out, with byte enables. One beat a cycle; no bubble between jobs,
//! except after a job of a single step.
//!
//! Every beat in is rotated by `source - target`; a beat out is then the high part of one rotated beat
//! and the low part of the next. When `source > target` the first beat in gives no beat out (it leads);
//! when the last bytes are already in hand, the last step takes no beat in.

mod rotate;
mod step;

use crate::prim::{Part, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use rotate::{Merge, Rotation};
use step::{Measure, Step};

/// The realigner of a `W`-bit, `B`-byte stream.
#[derive(DocBlock)]
pub struct Align<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Jobs.
    pub job: Signal<In, Bit>,
    pub job_take: Signal<Out, Bit>,
    /// Byte lane of the first byte in, out; below `B`.
    pub source: Signal<In, Bits<5>>,
    pub target: Signal<In, Bits<5>>,
    /// 1–512.
    pub bytes: Signal<In, Bits<10>>,
    /// Place of the first beat in within a wider word; counted on, for a user that cuts words into beats.
    pub start: Signal<In, Bits<2>>,
    /// Beats in.
    pub beat: Signal<In, Bit>,
    pub beat_take: Signal<Out, Bit>,
    pub beat_data: Signal<In, Bits<W>>,
    /// This beat holds no data: from here the job's byte enables are zero.
    pub beat_error: Signal<In, Bit>,
    /// Place of the current beat in the wider word, of 64 bytes; modulo 4.
    pub beat_place: Signal<Out, Bits<2>>,
    /// With `beat_take`: the job needs nothing of the word after this beat.
    pub beat_ends_word: Signal<Out, Bit>,
    /// Beats out.
    pub out: Signal<Out, Bit>,
    pub out_take: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    pub out_enable: Signal<Out, Bits<B>>,
    pub out_last: Signal<Out, Bit>,
    /// With the job's last beat: it met an error.
    pub out_error: Signal<Out, Bit>,

    /// The next job, measured.
    next_job: DFF<Bit>,
    next_rotate: DFF<Bits<5>>,
    next_keep: DFF<Bits<6>>,
    next_lead: DFF<Bit>,
    next_steps: DFF<Bits<6>>,
    next_beats: DFF<Bits<6>>,
    next_target: DFF<Bits<5>>,
    next_end: DFF<Bits<5>>,
    next_start: DFF<Bits<2>>,
    /// The job under way.
    active: DFF<Bit>,
    rotate: DFF<Bits<5>>,
    keep: DFF<Bits<6>>,
    lead: DFF<Bit>,
    first: DFF<Bit>,
    steps: DFF<Bits<6>>,
    beats: DFF<Bits<6>>,
    /// Computed for them a cycle before: some beat is to come, only one is; it is the last of its word; the step is the
    /// job's last. No beat is to come without a job.
    needs_beat: DFF<Bit>,
    one_beat: DFF<Bit>,
    ends_word: DFF<Bit>,
    final_step: DFF<Bit>,
    start_lane: DFF<Bits<5>>,
    end_lane: DFF<Bits<5>>,
    place: DFF<Bits<2>>,
    failed: DFF<Bit>,
    /// Beat as it came: memories are slow, so the rotation has a cycle of its own.
    raw: DFF<Bit>,
    raw_data: DFF<Bits<W>>,
    raw_rotate: DFF<Bits<5>>,
    raw_keep: DFF<Bits<6>>,
    raw_emit: DFF<Bit>,
    raw_last: DFF<Bit>,
    raw_error: DFF<Bit>,
    raw_enable: DFF<Bits<B>>,
    /// Rotated beat.
    turned: DFF<Bit>,
    turned_data: DFF<Bits<W>>,
    turned_keep: DFF<Bits<6>>,
    turned_emit: DFF<Bit>,
    turned_last: DFF<Bit>,
    turned_error: DFF<Bit>,
    turned_enable: DFF<Bits<B>>,
    /// Merged beat, and one more, so that the taker is not asked in the same cycle.
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
    parts!(Setup, Measure, Step, Rotation, Merge);
}

/// Registers and outputs.
struct Setup;

impl<const W: usize, const B: usize> Part<Setup> for Align<W, B> {
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
    }
}
