//! Requests retire in order, descriptors end.

use super::ReadPath;
use crate::prim::Part;
use peerlane_language::*;

/// Requests retire in order.
pub(super) struct Retirement;

/// Descriptors that have failed, and ends; and the reset.
pub(super) struct Ends;

impl<const W: usize, const B: usize, const E: usize> Part<Retirement> for ReadPath<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // Retirement, in order; a fault has nothing to wait for. The first failure of a descriptor is reported.
        self.note_bytes.next = self.note.q.val().bytes;
        self.note_real.next = self.note.q.val().real;
        self.note_last.next = self.note.q.val().last;
        self.note_channel.next = self.note.q.val().channel;
        self.note_tag.next = self.note.q.val().read_tag;
        self.failures.read_address.next = self.note_channel.val();
        self.done_bytes.read_address.next = self.note_channel.val();
        // Looked up while the end of the note's read is detected, and once more a cycle later. None of these values
        // changes then, and the values that the last note or the end of this read has written have settled.
        self.results.read_address.next = self.note_tag.val();
        self.result.d.next = self.results.read_data.val();
        self.so_far.d.next = self.done_bytes.read_data.val();
        self.so_far_failed.d.next = self.failures.read_data.val();
        self.note_code.next = self.note.q.val().code;
        if self.note_real.val() {
            self.note_code.next = self.result.q.val();
        }
        self.over_pop.next = self.over.q.val() & (self.end.take.val() | !self.over_reports.q.val());
        self.retire.next = self.note_on.q.val() & self.note_done.q.val() & !self.over.q.val();
        self.retired.next = self.retire.val();
        self.note_done.d.next = self.note_over.q.val() & !self.retire.val();
        self.note_over.d.next = self.note_on.q.val()
            & !self.retire.val()
            & (!self.note_real.val()
                | (self.done.q.val() & (self.one.val() << self.note_tag.val())).any());
        self.note_load.next = self.notes.valid.val() & (!self.note_on.q.val() | self.retire.val());
        self.notes.pop.next = self.note_load.val();
        if self.note_load.val() {
            self.note_on.d.next = true;
            self.note.d.next = self.notes.data.val();
        } else if self.retire.val() {
            self.note_on.d.next = false;
        }
        self.retired_bit.next = 0.into();
        if self.retire.val() & self.note_real.val() {
            self.retired_bit.next = self.one.val() << self.note_tag.val();
        }
        self.done.d.next =
            ((self.done.q.val() & !self.retired_bit.val()) | self.done_bit.val()) & self.tags.val();
        self.used.d.next = self.used.q.val() & !self.retired_bit.val() & self.tags.val();
        if self.placed.val() {
            self.used.d.next = ((self.used.q.val() & !self.retired_bit.val()) | self.tag_bit.val())
                & self.tags.val();
        }
        self.earlier.next = self.so_far_failed.q.val().code;
        self.failure.next = self.note_code.val();
        self.failure_at.next = self.note.q.val().att_address;
        if self.earlier.val().any() {
            self.failure.next = self.earlier.val();
            self.failure_at.next = self.so_far_failed.q.val().att_address;
        }
        self.total.next = self.so_far.q.val();
        if !self.failure.val().any() {
            self.total.next = self.so_far.q.val() + bit_cast::<32, 10>(self.note_bytes.val());
        }
        self.moved.next = self.note_bytes.val();
        self.moved_channel.next = self.note_channel.val();
        self.requested.next = self.retire.val() & self.note_real.val() & !self.failure.val().any();
        self.outflow.retired.next = self.retire.val() & self.note.q.val().streams;
        self.outflow.number.next = self.note.q.val().stream;
        self.outflow.channel.next = self.note_channel.val();
        self.outflow.bytes.next = self.note_bytes.val();
        self.outflow.last.next = self.note_last.val();
        self.outflow.failed.next = self.failure.val().any();
        self.outflow.beat.next = self.receive.burst_at.val();
        self.done_bytes.write_enable.next = self.retire.val() | self.sweep.val();
        self.done_bytes.write_address.next = self.note_channel.val();
        self.done_bytes.write_data.next = self.total.val();
        self.failures.write_enable.next = self.retire.val() | self.sweep.val();
        self.failures.write_address.next = self.note_channel.val();
        self.failures.write_data.next.code = self.failure.val();
        self.failures.write_data.next.att_address = self.failure_at.val();
        if self.note_last.val() | self.sweep.val() {
            self.done_bytes.write_data.next = 0.into();
            self.failures.write_data.next.code = 0.into();
            self.failures.write_data.next.att_address = 0.into();
        }
        if self.sweep.val() {
            self.done_bytes.write_address.next = self.sweep_channel.val();
            self.failures.write_address.next = self.sweep_channel.val();
        }
        if self.over_pop.val() {
            self.over.d.next = false;
        }
        if self.retire.val() & self.note_last.val() {
            self.over.d.next = true;
            self.over_reports.d.next = self.note.q.val().want_record
                | self.note.q.val().want_irq
                | self.failure.val().any();
            self.over_code.d.next = self.failure.val();
            self.over_bytes.d.next = self.total.val();
            self.over_tag.d.next = self.note.q.val().tag;
            self.over_at.d.next = self.failure_at.val();
            self.over_irq.d.next = self.note.q.val().want_irq | self.failure.val().any();
            self.over_urgent.d.next = self.note.q.val().urgent;
            self.over_channel.d.next = self.note_channel.val();
        }
    }
}

impl<const W: usize, const B: usize, const E: usize> Part<Ends> for ReadPath<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // The rest of a descriptor that has failed need not be read.
        self.halting.d.next = self.halting.q.val() & self.all_channels.val();
        if self.retire.val() & self.note_last.val() {
            self.halting.d.next = self.halting.q.val()
                & !(self.one.val() << self.note_channel.val())
                & self.all_channels.val();
        } else if self.retire.val() & self.failure.val().any() {
            self.halting.d.next = (self.halting.q.val()
                | (self.one.val() << self.note_channel.val()))
                & self.all_channels.val();
        }
        self.halted_number.write_enable.next = self.retire.val();
        self.halted_number.write_address.next = self.note_channel.val();
        self.halted_number.write_data.next = self.note.q.val().descriptor;
        self.halted_number.read_address.next = self.request.channel.val();
        // Not while the written value has not settled: then the rest of the descriptor, or a part of it, is read in
        // vain.
        self.halt_settles.d.next = self.retire.val();
        self.halted.next = !self.retire.val()
            & !self.halt_settles.q.val()
            & (self.halting.q.val() & (self.one.val() << self.request.channel.val())).any()
            & (self.halted_number.read_data.val() == self.descriptor.val());

        // The end that is reported.
        self.end.valid.next = self.over.q.val() & self.over_reports.q.val();
        self.ended.next = self.over_pop.val();
        self.end.code.next = self.over_code.q.val();
        self.end.bytes.next = self.over_bytes.q.val();
        self.end.tag.next = self.over_tag.q.val();
        self.end.irq.next = self.over_irq.q.val();
        self.end.urgent.next = self.over_urgent.q.val();
        self.end.channel.next = self.over_channel.q.val();
        self.end.fault.next = 0.into();
        if self.over_code.q.val().any() {
            self.end.fault.next = bit_cast::<64, 38>(self.over_at.q.val().get_bits::<38>(0))
                | (bit_cast::<64, 2>(self.over_at.q.val().get_bits::<2>(38)) << 62);
        }

        if self.reset.val() {
            self.next_tag.d.next = 0.into();
            self.used.d.next = 0.into();
            self.done.d.next = 0.into();
            self.promised.d.next = 0.into();
            self.took.d.next = 0.into();
            self.gave.d.next = 0.into();
            self.unneeded.d.next = 0.into();
            self.buffer_room.d.next = false;
            self.tag_free.d.next = false;
            self.notes_room.d.next = false;
            self.read_room.d.next = false;
            self.placing.d.next = false;
            self.note_on.d.next = false;
            self.note_over.d.next = false;
            self.note_done.d.next = false;
            self.reading.d.next = false;
            self.halting.d.next = 0.into();
            self.over.d.next = false;
        }
    }
}
