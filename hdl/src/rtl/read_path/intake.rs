//! From a request to a read at the port with a tag, a note and a place.

use super::ReadPath;
use crate::prim::Part;
use crate::rtl::ports::{AnswerSink, MemoryWriteMaster};
use peerlane_language::*;

/// A request in.
pub(super) struct Intake;

/// The read at the port, and its place in memory.
pub(super) struct Asking;

/// Room in the receive buffer, and which reads are over.
pub(super) struct Room;

impl<const W: usize, const B: usize, const E: usize> Part<Intake> for ReadPath<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // A request in: a tag, a note, a place, and the read itself. A tag that was written off is
        // passed over until its late completion has come.
        self.real.next = self.request.has_data.val();
        self.tag_bit.next = self.one.val() << self.next_tag.q.val();
        self.tag_lost.next = (self.lost.val() & self.tag_bit.val()).any();
        self.tag_used.next = (self.used.q.val() & self.tag_bit.val()).any();
        // Requests come several cycles apart: room is looked for again when one has been counted.
        self.tag_free.d.next = !self.tag_lost.val() & !self.tag_used.val();
        self.room.next = (!self.real.val() & self.notes_room.q.val())
            | (self.real.val() & self.read_room.q.val());
        self.accepted.next = self.request.valid.val() & self.room.val();
        self.request.accept.next = self.room.val();
        self.notes_room.d.next = !self.accepted.val() & !self.notes.full.val();
        self.read_room.d.next = !self.accepted.val()
            & !self.notes.full.val()
            & !self.reading.q.val()
            & self.tag_free.q.val();
        self.placed.next = self.accepted.val() & self.real.val();
        if self.placed.val() | (self.tag_lost.val() & !self.tag_used.val()) {
            self.tag_free.d.next = false;
            self.next_tag.d.next = (self.next_tag.q.val() + 1) & self.tag_mask.val();
        }
        self.beat_span.next =
            bit_cast::<11, 5>(bit_cast::<5, 64>(self.request.bus.val()) & self.lane_mask.val())
                + bit_cast::<11, 10>(self.request.span.val())
                + self.beat_round.val();
        if self.read.take.val() {
            self.reading.d.next = false;
        }
        if self.placed.val() {
            self.reading.d.next = true;
        }
        // The register's value means something only with `reading`.
        if !self.reading.q.val() {
            self.read_next.d.next.address = self.request.bus.val();
            self.read_next.d.next.beats =
                bit_cast::<6, 11>(self.beat_span.val() >> self.beat_shift.val());
            self.read_next.d.next.bytes = self.request.bytes.val();
            self.read_next.d.next.tag = self.next_tag.q.val();
        }
        self.notes.push.next = self.accepted.val();
        self.notes.data_in.next.att_address = self.att_address.val();
        self.notes.data_in.next.bytes = self.request.bytes.val();
        self.notes.data_in.next.code = self.request.code.val();
        self.notes.data_in.next.last = self.request.last.val();
        self.notes.data_in.next.want_record = self.request.want_record.val();
        self.notes.data_in.next.want_irq = self.request.want_irq.val();
        self.notes.data_in.next.tag = self.request.tag.val();
        self.notes.data_in.next.channel = self.request.channel.val();
        self.notes.data_in.next.read_tag = self.next_tag.q.val();
        self.notes.data_in.next.descriptor = self.descriptor.val();
        self.notes.data_in.next.urgent = self.request.urgent.val();
        self.notes.data_in.next.real = self.real.val();
        self.notes.data_in.next.streams = self.request.stream.val();
        self.notes.data_in.next.stream = self.request.local.val().get_bits::<4>(16);
    }
}

impl<const W: usize, const B: usize, const E: usize> Part<Asking> for ReadPath<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // The port: a read leaves when the receive buffer has room for all of it.
        self.read.valid.next = self.reading.q.val() & self.buffer_room.q.val();
        self.stalled_buffer.next = self.reading.q.val() & !self.buffer_room.q.val();
        self.read.address.next = self.read_next.q.val().address;
        self.read.beats.next = self.read_next.q.val().beats;
        self.read.bytes.next = self.read_next.q.val().bytes;
        self.read.tag.next = self.read_next.q.val().tag;

        self.placing.d.next = self.placed.val();
        self.placing_tag.d.next = self.next_tag.q.val();
        self.placing_local.d.next = self.request.local.val();
        self.placing_lane.d.next = bit_cast::<5, 64>(self.request.bus.val()) & self.lane_mask.val();
        self.placing_bytes.d.next = self.request.bytes.val();
        self.receive.place.next = self.placing.q.val();
        self.receive.place_tag.next = self.placing_tag.q.val();
        self.receive.place_local.next = self.placing_local.q.val();
        self.receive.place_lane.next = self.placing_lane.q.val();
        self.receive.place_bytes.next = self.placing_bytes.q.val();
        AnswerSink::<W>::link(&mut self.answer, &mut self.receive.answer);
        self.stalled_memory.next = self.receive.stalled.val();
        self.receive.mem_clock.next = self.mem_clock.val();
        self.receive.mem_reset.next = self.mem_reset.val();
        self.receive.mem_forgets.next = self.mem_forgets.val();
        MemoryWriteMaster::link(&mut self.mem_wr, &mut self.receive.mem_wr);
    }
}

impl<const W: usize, const B: usize, const E: usize> Part<Room> for ReadPath<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // Room in the buffer: a beat that is used, and the beats that a failed read does not need. Beats that are taken
        // are counted two cycles late; room for one read is kept free for that.
        self.took.d.next = 0.into();
        if self.read.take.val() {
            self.took.d.next = bit_cast::<13, 6>(self.read.beats.val());
        }
        self.unneeded.d.next = self.receive.unneeded.val();
        self.gave.d.next = bit_cast::<13, 11>(self.unneeded.q.val())
            + bit_cast::<13, 1>(self.receive.used.val().into());
        self.promised.d.next = self.promised.q.val() + self.took.q.val() - self.gave.q.val();
        self.buffer_room.d.next = self.promised.q.val() <= self.most_promised.val();

        // Which reads are over.
        self.results.write_enable.next = self.receive.done.val();
        self.results.write_address.next = self.receive.done_tag.val();
        self.results.write_data.next = self.receive.done_code.val();
        self.done_bit.next = 0.into();
        if self.receive.done.val() {
            self.done_bit.next = self.one.val() << self.receive.done_tag.val();
        }
    }
}
