//! Beats into place, and into words.

use super::Receive;
use crate::prim::Part;
use peerlane_language::*;

/// Beats become words of memory.
pub(super) struct Packing;

impl<const W: usize, const B: usize, const E: usize> Part<Packing> for Receive<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // Beats into place.
        self.align.job.next = self.jobs.valid.val();
        self.jobs.pop.next = self.align.job_take.val();
        self.align.source.next = self.jobs.data.val().source;
        self.align.target.next = self.jobs.data.val().target;
        self.align.bytes.next = self.jobs.data.val().bytes;
        self.align.start.next = 0.into();
        self.align.beat.next = self.received.valid.val();
        self.align.beat_data.next = bit_cast::<W, E>(self.received.data.val());
        self.align.beat_error.next = (self.received.data.val() >> self.data_shift.val()).any();
        self.received.pop.next = self.align.beat_take.val();
        self.stalled.next =
            self.align.out.val() & (self.words.full.val() | self.commands.full.val());
        self.used.next = self.align.beat_take.val();
        self.left_over.next = (bit_cast::<11, 5>(self.c_lane.val())
            + bit_cast::<11, 10>(self.c_left.val())
            + self.beat_round.val())
            >> self.beat_shift.val();
        self.unneeded.next = 0.into();
        if self.c_take.val() & self.c_bare.val() {
            self.unneeded.next = self.left_over.val();
        }

        // Beats into words. A chunk without data passes as a burst without words.
        self.pack_bare.next = self.pack.q.val().bare;
        self.bare_out.next =
            self.pack_on.q.val() & self.pack_bare.val() & !self.commands.full.val();
        self.packed.next = self.align.out.val()
            & self.pack_on.q.val()
            & !self.pack_bare.val()
            & !self.words.full.val()
            & !self.commands.full.val();
        self.align.out_take.next = self.packed.val();
        self.lane.next = self.pack.q.val().lane;
        if self.within.q.val() {
            self.lane.next = self.lane_at.q.val();
        }
        self.commit.next = (self.lane.val() == self.place_mask.val()) | self.align.out_last.val();
        self.enable_now.next = self.word_enable.q.val()
            | (bit_cast::<64, B>(self.align.out_enable.val())
                << (bit_cast::<7, 2>(self.lane.val()) << self.beat_shift.val()));
        self.words.write.next = self.packed.val();
        self.words.lane.next = self.lane.val();
        self.words.data_in.next = self.align.out_data.val();
        self.words.commit.next = self.commit.val();
        self.words.enable_in.next = self.enable_now.val();
        self.pack_code.next = self.pack.q.val().code;
        if self.align.out_error.val() & !self.pack_bare.val() {
            self.pack_code.next = self.status.read_timeout.val();
        }
        self.words_now.next = 0.into();
        if !self.pack_bare.val() {
            self.words_now.next = self.word_count.q.val() + 1;
        }
        self.commands.push.next =
            (self.packed.val() & self.align.out_last.val()) | self.bare_out.val();
        self.commands.data_in.next.word = self.pack.q.val().word;
        self.commands.data_in.next.words = self.words_now.val();
        self.commands.data_in.next.tag = self.pack.q.val().tag;
        self.commands.data_in.next.code = self.pack_code.val();
        self.commands.data_in.next.reports = self.pack.q.val().last;
        self.commands.data_in.next.bare = self.pack_bare.val();
        self.commands.data_in.next.single = !self.pack_bare.val() & !self.word_count.q.val().any();
        self.pack_done.next = (self.packed.val() & self.align.out_last.val()) | self.bare_out.val();
        self.pack_load.next =
            self.packs.valid.val() & (!self.pack_on.q.val() | self.pack_done.val());
        self.packs.pop.next = self.pack_load.val();
        if self.pack_load.val() {
            self.pack_on.d.next = true;
            self.pack.d.next = self.packs.data.val();
        } else if self.pack_done.val() {
            self.pack_on.d.next = false;
        }
        if self.packed.val() {
            self.within.d.next = !self.align.out_last.val();
            self.lane_at.d.next = (self.lane.val() + 1) & self.place_mask.val();
            if self.commit.val() {
                self.word_enable.d.next = 0.into();
                self.word_count.d.next = self.word_count.q.val() + 1;
            } else {
                self.word_enable.d.next = self.enable_now.val();
            }
            if self.align.out_last.val() {
                self.word_count.d.next = 0.into();
            }
        }
    }
}
