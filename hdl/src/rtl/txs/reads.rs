//! Reads in flight, their answers, and the quarantine.

use super::TxsAdapter;
use crate::prim::Part;
use peerlane_language::*;

/// Reads in flight; and the reset.
pub(super) struct Reads;

impl<const W: usize, const B: usize> Part<Reads> for TxsAdapter<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        // Reads in flight.
        self.old_last.next = self.pending.data.val().beats_less_two;
        self.old_bytes.next = self.pending.data.val().bytes;
        self.old_tag.next = self.pending.data.val().tag;
        self.old_flush.next = self.pending.data.val().flush;
        self.old_single.next = self.pending.data.val().single;
        self.pending.push.next = self.issue.val();
        self.pending.data_in.next.beats_less_two = self.issued_beats.val() - 2;
        self.pending.data_in.next.bytes = self.port_read.bytes.val();
        self.pending.data_in.next.tag = self.port_read.tag.val();
        self.pending.data_in.next.flush = self.probe.val();
        self.pending.data_in.next.single = self.issued_beats.val() == 1;
        self.answered.next = self.txs_readdatavalid.val() & self.owes.q.val();
        // Normally a beat of the oldest read arrives; in quarantine its end is made up.
        self.arriving.next = self.answered.val() & !self.isolated.q.val();
        self.giving_up.next = self.isolated.q.val() & self.pending.valid.val();
        self.fill.next = self.giving_up.val() & !self.old_flush.val() & self.begun.q.val();
        self.ends_old.next = self.old_single.val();
        if self.begun.q.val() {
            self.ends_old.next = self.at_last.q.val();
        }
        self.finished.next = (self.arriving.val() | self.fill.val()) & self.ends_old.val();
        self.pending.pop.next = self.finished.val() | (self.giving_up.val() & !self.fill.val());
        if self.arriving.val() | self.fill.val() {
            self.seen.d.next = self.seen.q.val() + 1;
            self.begun.d.next = true;
            self.at_last.d.next = self.seen.q.val() == self.old_last.val();
        }
        if self.finished.val() {
            self.seen.d.next = 0.into();
            self.begun.d.next = false;
        }
        self.asked.d.next = 0.into();
        if self.issue.val() & !self.poster.dead.val() {
            self.asked.d.next = self.issued_beats.val();
        }
        self.owed_next.next = self.owed.q.val() + bit_cast::<10, 6>(self.asked.q.val());
        if self.answered.val() {
            self.owed_next.next = self.owed.q.val() + bit_cast::<10, 6>(self.asked.q.val()) - 1;
        }
        self.owed.d.next = self.owed_next.val();
        self.owes.d.next = self.owed_next.val().any();

        // The oldest read is late when no beat has come for `timeout` cycles.
        if self.txs_readdatavalid.val() | !self.owes.q.val() | self.isolated.q.val() {
            self.timer.d.next = self.port.timeout.val();
        } else if self.timer.q.val().any() {
            self.timer.d.next = self.timer.q.val() - 1;
        }
        self.expired.d.next = (self.timer.q.val() == 1)
            & !self.txs_readdatavalid.val()
            & self.owes.q.val()
            & !self.isolated.q.val();
        if self.isolated.q.val() & !self.owes.q.val() & !self.pending.some.val() {
            self.isolated.d.next = false;
        }
        if self.expired.q.val() | self.poster.dies.val() {
            self.isolated.d.next = true;
        }
        // Reports to the engine about the read. In quarantine a new read ends at once, one a cycle, after those that
        // are owed.
        self.absorb.next =
            self.port_read.valid.val() & self.closed.val() & !self.pending.some.val();
        self.flush_absorb.next =
            self.port_flush.valid.val() & self.closed.val() & !self.pending.some.val();
        self.port_read.take.next = (self.issue.val() & !self.probe.val()) | self.absorb.val();
        self.port_flush.take.next = self.probe.val() | self.flush_absorb.val();
        // A cycle later: the `take` of a flush comes late in its cycle. Nothing else is under way then.
        self.absorbed.d.next = self.flush_absorb.val();
        self.port_flush.done.next = self.absorbed.q.val()
            | (self.old_flush.val() & (self.arriving.val() | self.giving_up.val()));
        self.port.flush_error.next = self.closed.val() | self.absorbed.q.val();
        self.port_answer.chunk.next = self.absorb.val()
            | (!self.old_flush.val()
                & !self.begun.q.val()
                & (self.arriving.val() | self.giving_up.val()));
        self.port_answer.tag.next = self.old_tag.val();
        self.port_answer.bytes.next = self.old_bytes.val();
        self.port_answer.code.next = self.status.ok.val();
        if self.absorb.val() {
            self.port_answer.tag.next = self.port_read.tag.val();
            self.port_answer.code.next = self.status.port_down.val();
        } else if self.giving_up.val() {
            self.port_answer.code.next = self.status.read_timeout.val();
        }
        self.port_answer.beat.next =
            (self.arriving.val() & !self.old_flush.val()) | self.fill.val();
        self.port_answer.data.next = self.txs_readdata.val();
        self.port_answer.error.next = self.fill.val();

        if self.port.clear.val() | self.port.reset.val() {
            self.absorbed.d.next = false;
        }
        if self.port.clear.val() {
            self.seen.d.next = 0.into();
            self.begun.d.next = false;
            self.held_back.d.next = false;
            self.expired.d.next = false;
            self.isolated.d.next = self.owes.q.val() | self.asked.q.val().any();
        }
        if self.port.reset.val() {
            self.backlog.d.next = 0.into();
            self.given.d.next = 0.into();
            self.seen.d.next = 0.into();
            self.begun.d.next = false;
            self.owed.d.next = 0.into();
            self.asked.d.next = 0.into();
            self.owes.d.next = false;
            self.held_back.d.next = false;
            self.isolated.d.next = false;
            self.timer.d.next = 0.into();
            self.expired.d.next = false;
        }
    }
}
