//! Comparison of a completion with its read, and the results of it.

use super::Completions;
use crate::prim::Part;
use peerlane_language::*;

/// Reads the form of the header while its tag is looked up.
pub(super) struct Form;

impl<const W: usize, const B: usize, const E: usize> Part<Form> for Completions<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.length.next = self.a_data.q.val().get_bits::<10>(0);
        self.a_count.next = self.a_data.q.val().get_bits::<12>(32);
        self.a_lower.next = self.a_data.q.val().get_bits::<7>(64);
        self.a_offset.next = bit_cast::<12, 2>(self.a_data.q.val().get_bits::<2>(64));

        // Bytes from the first to the end of the last dword; those that count.
        self.span.next = (bit_cast::<12, 10>(self.length.val()) << 2) - self.a_offset.val();
        self.a_last.next = self.a_count.val() <= self.span.val();
        self.bytes.next = bit_cast::<10, 12>(self.span.val());
        if self.a_last.val() {
            self.bytes.next = bit_cast::<10, 12>(self.a_count.val());
        }
        self.exact.next = (self.a_count.val() + self.a_offset.val() + 3) >> 2;
    }
}

/// Compares the completion with its read.
pub(super) struct Judgement;

impl<const W: usize, const B: usize, const E: usize> Part<Judgement> for Completions<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.poisoned.next = self.b_data.q.val().get_bit(14);
        self.count.next = self.b_data.q.val().get_bits::<12>(32);
        self.status.next = self.b_data.q.val().get_bits::<3>(45);
        self.lower.next = self.b_data.q.val().get_bits::<7>(64);

        // No more than the bytes that are left, so no value of its form has wrapped.
        self.fits.next = self.b_sized.q.val()
            & ((self.b_last.q.val() & self.b_exact.q.val())
                | (!self.b_last.q.val() & self.b_even.q.val()))
            & (self.lower.val() == self.b_at.q.val())
            & (self.count.val() == bit_cast::<12, 10>(self.b_left.q.val()));

        self.refused.next = self.status.val().any();
        self.good.next = self.b_known.q.val() & self.b_brings.q.val() & self.fits.val();
        self.code.next = 3.into();
        if self.refused.val() {
            self.code.next = 1.into();
            if self.status.val() == 4 {
                self.code.next = 2.into();
            }
        } else if self.good.val() & !self.poisoned.val() {
            self.code.next = 0.into();
        }
        if self.b_expires.q.val() {
            self.code.next = 4.into();
        }
        self.tells.next = self.b_known.q.val() & !self.b_failed.q.val();
        // A code that is not 0, or the read is given up.
        self.fails.next = self.b_known.q.val()
            & (!self.b_brings.q.val() | !self.fits.val() | self.poisoned.val());
        self.shut.next = self.b_known.q.val()
            & !self.b_expires.q.val()
            & (!self.b_brings.q.val() | self.b_last.q.val());

        self.saw_unsupported.next = self.judge.val() & self.tells.val() & (self.code.val() == 1);
        self.saw_abort.next = self.judge.val() & self.tells.val() & (self.code.val() == 2);
        self.saw_poisoned.next =
            self.judge.val() & self.tells.val() & self.good.val() & self.poisoned.val();
        self.saw_malformed.next = self.judge.val()
            & self.tells.val()
            & !self.b_expires.q.val()
            & !self.refused.val()
            & !self.good.val();
        self.saw_unexpected.next =
            self.judge.val() & !self.b_known.q.val() & !self.b_expires.q.val();
        self.saw_expired.next = self.judge.val() & self.tells.val() & self.b_expires.q.val();
    }
}

/// Computes the room that is free, and the progress of the read.
pub(super) struct Ends;

impl<const W: usize, const B: usize, const E: usize> Part<Ends> for Completions<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.b_bit.next = self.one.val() << self.b_tag.q.val();
        self.closes.next = self.judge.val() & (self.shut.val() | self.fails.val());
        // A read that was given up is looked at again and again.
        self.moved.d.next = self.judge.val()
            & self.b_known.q.val()
            & (self.b_expires.q.val() != self.b_failed.q.val());
        self.progresses.next = self.moved.q.val();
        self.closes_tag.next = self.b_tag.q.val();
        self.closes_bad.next = self.fails.val() | self.b_failed.q.val();
        self.shuts.next = 0.into();
        if self.judge.val() & self.shut.val() {
            self.shuts.next = self.b_bit.val();
        }
        self.failing.next = 0.into();
        if self.judge.val() & self.fails.val() {
            self.failing.next = self.b_bit.val();
        }
        self.open.d.next = (self.open.q.val() & !self.shuts.val()) | self.opened.val();
        self.failed.d.next = (self.failed.q.val() | self.failing.val()) & !self.opened.val();
        self.busy.next = self.open.q.val();
        self.awaits.next = (self.open.q.val() & !self.failed.q.val()).any() | self.within.q.val();

        self.progress.write_enable.next =
            (self.judge.val() & self.good.val()) | self.admits.q.val();
        self.progress.write_address.next = self.b_tag.q.val();
        self.progress.write_data.next.left = self.b_left.q.val() - self.b_bytes.q.val();
        self.progress.write_data.next.at =
            self.b_at.q.val() + bit_cast::<7, 10>(self.b_bytes.q.val());
        if self.admits.q.val() {
            self.progress.write_address.next = self.opening_tag.q.val();
            self.progress.write_data.next.left = self.opening_word.q.val().bytes;
            self.progress.write_data.next.at = self.opening_word.q.val().at;
        }

        // Lines: those that the completion has passed, or all that are left. They are free when its last beat has come.
        self.lines_left.next = bit_cast::<11, 6>(self.b_at.q.val().get_bits::<6>(0))
            + bit_cast::<11, 10>(self.b_left.q.val())
            + 63;
        self.lines_behind.next = bit_cast::<11, 6>(self.b_at.q.val().get_bits::<6>(0))
            + bit_cast::<11, 10>(self.b_bytes.q.val());
        self.lines.next = self.lines_held.q.val();
        if self.b_sop.q.val() {
            self.lines.next = 0.into();
            if self.b_known.q.val() & self.shut.val() {
                self.lines.next = bit_cast::<5, 11>(self.lines_left.val() >> 6);
            } else if self.good.val() {
                self.lines.next = bit_cast::<5, 11>(self.lines_behind.val() >> 6);
            }
        }
        self.lines_free.d.next = 0.into();
        if self.b_on.q.val() & self.move_on.val() {
            self.lines_held.d.next = self.lines.val();
            if self.b_eop.q.val() {
                self.lines_free.d.next = self.lines.val();
            }
        }
        self.freed.next = self.lines_free.q.val();
    }
}
