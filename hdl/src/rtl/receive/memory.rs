//! Words into memory, and the ends of reads back.

use super::Receive;
use crate::prim::Part;
use peerlane_language::*;

/// Words go to memory; and the reset.
pub(super) struct Memory;

impl<const W: usize, const B: usize, const E: usize> Part<Memory> for Receive<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // Memory: the fronts of the two FIFOs are the Avalon command and its data. The end of each
        // read goes back when its words are taken.
        self.mem_count.next = self.command.q.val().words;
        self.mem_bare.next = self.command.q.val().bare;
        self.mem_reports.next = self.command.q.val().reports;
        self.mem_open.next = self.command_on.q.val() & !self.written.full.val();
        self.mem_writes.next = self.rinsing.q.val()
            | (self.command_writes.q.val() & !self.written.full.val() & self.words.valid.val());
        self.mem_wr.write.next = self.mem_writes.val();
        self.mem_wr.address.next = bit_cast::<40, 34>(self.command.q.val().word) << 6;
        self.mem_wr.burstcount.next = bit_cast::<5, 4>(self.mem_count.val());
        self.mem_wr.writedata.next = self.words.data.val();
        self.burst_at.next = self.burst_beat.q.val();
        self.mem_wr.byteenable.next = self.words.enable.val();
        if self.rinsing.q.val() & !self.stuck.q.val() {
            self.mem_wr.byteenable.next = 0.into();
        }
        self.mem_accept.next = self.mem_writes.val() & !self.mem_wr.waitrequest.val();
        self.mem_last.next = (self.mem_accept.val() & self.ends_burst.q.val())
            | (self.mem_open.val() & self.mem_bare.val());
        self.words.pop.next = self.mem_accept.val();
        self.command_load.next =
            self.commands.valid.val() & (!self.command_on.q.val() | self.mem_last.val());
        self.commands.pop.next = self.command_load.val();
        if self.command_load.val() {
            self.command_on.d.next = true;
            self.command.d.next = self.commands.data.val();
            self.command_writes.d.next = !self.commands.data.val().bare;
        } else if self.mem_last.val() {
            self.command_on.d.next = false;
            self.command_writes.d.next = false;
        }
        self.written.push.next = self.mem_last.val() & self.mem_reports.val();
        self.written.data_in.next.tag = self.command.q.val().tag;
        self.written.data_in.next.code = self.command.q.val().code;
        if self.mem_accept.val() {
            self.burst_beat.d.next = self.burst_beat.q.val() + 1;
            self.ends_burst.d.next = (self.burst_beat.q.val() + 2) == self.mem_count.val();
        }
        if self.command_load.val() {
            self.ends_burst.d.next = self.commands.data.val().single;
        }
        if self.mem_last.val() {
            self.burst_beat.d.next = 0.into();
        }
        // After a reset: the burst has begun, or its first word is at the port, and it is not over.
        self.stuck.d.next = self.mem_closed.val()
            & self.mem_writes.val()
            & self.mem_wr.waitrequest.val()
            & (!self.rinsing.q.val() | self.stuck.q.val());
        self.rinsing.d.next = self.mem_closed.val()
            & (self.mem_writes.val() | self.burst_beat.q.val().any())
            & !self.mem_last.val();
        if self.mem_closed.val() {
            self.command_on.d.next = false;
            self.command_writes.d.next = false;
        }
        if self.mem_forgets.val() {
            self.rinsing.d.next = false;
            self.stuck.d.next = false;
            self.burst_beat.d.next = 0.into();
        }

        self.written.pop.next = self.written.valid.val();
        self.done.next = self.written.valid.val();
        self.done_tag.next = self.written.data.val().tag;
        self.done_code.next = self.written.data.val().code;

        if self.reset.val() {
            self.front_on.d.next = false;
            self.found_on.d.next = false;
            self.packing.d.next = false;
            self.chunk_came.d.next = false;
            self.beat_came.d.next = false;
            self.pack_on.d.next = false;
            self.within.d.next = false;
            self.word_enable.d.next = 0.into();
            self.word_count.d.next = 0.into();
        }
    }
}
