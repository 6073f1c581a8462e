//! From a request to its beats: memory is read, and the words are put in place.

use super::WritePath;
use crate::prim::Part;
use peerlane_language::*;

/// A request in.
pub(super) struct Intake;

/// The reads of FPGA memory.
pub(super) struct Memory;

/// Words become beats, in their place.
pub(super) struct Placing;

impl<const W: usize, const B: usize> Part<Intake> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // A request in: three FIFOs and the reservation of its memory words.
        self.real.next = self.request.has_data.val();
        self.stored.next = self.real.val() & !self.request.stream.val();
        // Requests come several cycles apart: room is looked for again when one has been counted.
        self.room.next = self.has_room.q.val();
        self.accepted.next = self.request.valid.val() & self.room.val();
        self.has_room.d.next = !self.accepted.val()
            & !self.claimed.q.val().any()
            & !self.heads.full.val()
            & !self.jobs.full.val()
            & !self.commands.full.val()
            & (self.reserved.q.val() <= self.most_reserved.val());
        self.request.accept.next = self.room.val();
        self.word_span.next = bit_cast::<11, 6>(self.request.local.val().get_bits::<6>(0))
            + bit_cast::<11, 10>(self.request.span.val())
            + 63;
        self.need.next = self.word_span.val().get_bits::<4>(6);
        self.beat_span.next =
            bit_cast::<11, 5>(bit_cast::<5, 64>(self.request.bus.val()) & self.lane_mask.val())
                + bit_cast::<11, 10>(self.request.span.val())
                + self.beat_round.val();
        self.asks_at.d.next = self.request.local.val().get_bits::<34>(6);
        self.commands.push.next = self.claimed.q.val().any();
        self.commands.data_in.next.word = self.asks_at.q.val();
        self.commands.data_in.next.words = self.claimed.q.val();
        self.jobs.push.next = self.accepted.val() & self.stored.val();
        self.jobs.data_in.next.source =
            bit_cast::<5, 40>(self.request.local.val()) & self.lane_mask.val();
        self.jobs.data_in.next.target =
            bit_cast::<5, 64>(self.request.bus.val()) & self.lane_mask.val();
        self.jobs.data_in.next.bytes = self.request.bytes.val();
        self.jobs.data_in.next.start =
            bit_cast::<2, 6>(self.request.local.val().get_bits::<6>(0) >> self.beat_shift.val())
                & self.place_mask.val();
        self.heads.push.next = self.accepted.val();
        self.heads.data_in.next.bus = self.request.bus.val();
        self.heads.data_in.next.beats =
            bit_cast::<6, 11>(self.beat_span.val() >> self.beat_shift.val());
        self.heads.data_in.next.bytes = self.request.bytes.val();
        self.heads.data_in.next.code = self.request.code.val();
        self.heads.data_in.next.last = self.request.last.val();
        self.heads.data_in.next.want_record = self.request.want_record.val();
        self.heads.data_in.next.want_irq = self.request.want_irq.val();
        self.heads.data_in.next.tag = self.request.tag.val();
        self.heads.data_in.next.may_flush = self.may_flush.val();
        self.heads.data_in.next.urgent = self.request.urgent.val();
        self.heads.data_in.next.channel = self.request.channel.val();
        self.heads.data_in.next.real = self.real.val();
        self.heads.data_in.next.stream = self.request.stream.val();
    }
}

impl<const W: usize, const B: usize> Part<Memory> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Memory: the command FIFO's front is the Avalon command.
        self.mem_asks.next = self.commands.valid.val() | self.stuck.q.val();
        self.mem_rd.read.next = self.mem_asks.val();
        self.mem_rd.address.next = bit_cast::<40, 34>(self.commands.data.val().word) << 6;
        self.mem_rd.burstcount.next = bit_cast::<5, 4>(self.commands.data.val().words);
        self.commands.pop.next = self.commands.valid.val() & !self.mem_rd.waitrequest.val();
        self.words.push.next = self.mem_rd.readdatavalid.val();
        self.words.data_in.next = self.mem_rd.readdata.val();
        // In reset the command FIFO keeps the command at its front. At most 64 words are asked for, and as many from
        // before the reset. Words that were asked for count a cycle later: the command comes late out of its memory.
        self.asked.d.next = 0.into();
        if self.mem_asks.val() & !self.mem_rd.waitrequest.val() {
            self.asked.d.next = self.commands.data.val().words;
        }
        self.owed_next.next = self.owed.q.val() + bit_cast::<7, 4>(self.asked.q.val());
        if self.mem_rd.readdatavalid.val() & self.owes.q.val() {
            self.owed_next.next = self.owed.q.val() + bit_cast::<7, 4>(self.asked.q.val()) - 1;
        }
        self.owed.d.next = self.owed_next.val();
        self.owes.d.next =
            self.owed_next.val().any() | (self.mem_asks.val() & !self.mem_rd.waitrequest.val());
        self.stuck.d.next =
            self.mem_closed.val() & self.mem_asks.val() & self.mem_rd.waitrequest.val();
        self.rinsing.d.next = self.mem_closed.val() & (self.owes.q.val() | self.mem_asks.val());
        if self.mem_reset.val() {
            self.rinsing.d.next = true;
        }
        if self.mem_forgets.val() {
            self.asked.d.next = 0.into();
            self.owed.d.next = 0.into();
            self.owes.d.next = false;
            self.stuck.d.next = false;
        }
    }
}

impl<const W: usize, const B: usize> Part<Placing> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Words into beats into place.
        self.align.job.next = self.jobs.valid.val();
        self.jobs.pop.next = self.align.job_take.val();
        self.align.source.next = self.jobs.data.val().source;
        self.align.target.next = self.jobs.data.val().target;
        self.align.bytes.next = self.jobs.data.val().bytes;
        self.align.start.next = self.jobs.data.val().start;
        self.align.beat.next = self.words.valid.val();
        self.piece.next = self.words.data.val()
            >> (bit_cast::<10, 2>(self.align.beat_place.val() & self.place_mask.val())
                << self.place_shift.val());
        self.align.beat_data.next = bit_cast::<W, 512>(self.piece.val());
        self.align.beat_error.next = false;
        self.word_pop.next = self.align.beat_take.val() & self.align.beat_ends_word.val();
        self.words.pop.next = self.word_pop.val();
        self.align.out_take.next = !self.beats_out.full.val();
        self.beats_out.push.next = self.align.out.val();
        self.beats_out.data_in.next = self.align.out_data.val();
        self.enables_out.push.next = self.align.out.val();
        // For whole dwords one lane stands for all four, so the others need no logic.
        self.enables_in.next = self.align.out_enable.val();
        if self.whole_dwords.val() {
            self.enables_in.next = self.align.out_enable.val() & self.first_lanes.val();
        }
        self.enables_out.data_in.next = self.enables_in.val();
        self.write.beat.next = self.beats_out.valid.val();
        self.write.data.next = self.beats_out.data.val();
        self.write.enable.next = self.enables_out.data.val();
        if self.whole_dwords.val() {
            self.write.enable.next = self.enables_out.data.val()
                | (self.enables_out.data.val() << 1)
                | (self.enables_out.data.val() << 2)
                | (self.enables_out.data.val() << 3);
        }
        self.beats_out.pop.next = self.write.take.val();
        self.enables_out.pop.next = self.write.take.val();
        // A stream's beats need no place: its blocks begin at multiples of 64 bytes. The last one is written whole,
        // inside the 64 bytes that the descriptor has there.
        self.stream_take.next = false;
        if self.head.q.val().stream {
            self.write.beat.next = self.stream_beat.val();
            self.write.data.next = self.stream_data.val();
            self.write.enable.next = self.every_lane.val();
            self.beats_out.pop.next = false;
            self.enables_out.pop.next = false;
            self.stream_take.next = self.write.take.val();
        }
        self.claimed.d.next = 0.into();
        if self.accepted.val() & self.stored.val() {
            self.claimed.d.next = self.need.val();
        }
        self.reserved.d.next = self.reserved.q.val() + bit_cast::<8, 4>(self.claimed.q.val());
        if self.word_pop.val() {
            self.reserved.d.next =
                self.reserved.q.val() + bit_cast::<8, 4>(self.claimed.q.val()) - 1;
        }
    }
}
