//! Completions from the hard IP, by tag into the chunks that the engine's port takes.
//!
//! A packet passes three stages: its tag is looked up, it is judged, its beats get their lanes. The hard IP has looked
//! at the tag and the requester, and at errors that make a packet malformed by itself; it does not compare a completion
//! with its request (Intel Arria 10 Avalon-ST Interface for PCIe 683647, section 9.3, for the same hard IP's
//! successor). That is done here:
//!
//! - status: Unsupported Request, Completer Abort; any other that is not success counts as Unsupported Request
//!   (PCI Express Base Specification 2.1, section 2.2.9);
//! - poisoned data;
//! - address, byte count and length: each completion goes on where the one before has ended, says how many bytes
//!   are left, and brings all of them or ends at a multiple of 64 bytes, the smallest Read Completion Boundary;
//! - tags that belong to no read.
//!
//! The engine gets one report of a read that has failed; later completions of that read are dropped. Its tag is free
//! when the last completion has come. A read also fails when no completion comes for some time: it is given up. There
//! is no sign of when a completer answers at last, and the completions of all reads of one length look alike. So its
//! tag is not used again until then, or until a reset, nor is its room in the hard IP's buffer: all its completions may
//! come at once, and with those of newer reads they would overrun the buffer.
//!
//! Where the hard IP has lost the rest of a packet, the chunk that has begun is filled up with beats that say so. Its
//! read ends like a read that was given up, if it was the last.
//!
//! Lanes are those of [`super::posts`], in the other direction. The beats of a packet make as many beats of the chunk,
//! or one fewer or more. For data that remain after the last beat, a cycle is kept free.

mod judging;
mod lanes;

use super::IMPATIENCE_LOG2;
use super::words::{Progress, Sent};
use crate::prim::{ForwardRam, Part, Patience, SmallFifo, parts};
use judging::{Ends, Form, Judgement};
use lanes::Lanes;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Completions of `W` bits and `B` bytes a beat; `E` = `W + 2`.
#[derive(DocBlock)]
pub struct Completions<const W: usize, const B: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The hard IP's packets that are completions; never refused, but that `almost` asks for a pause.
    pub rx_valid: Signal<In, Bit>,
    pub rx_sop: Signal<In, Bit>,
    pub rx_eop: Signal<In, Bit>,
    pub rx_data: Signal<In, Bits<W>>,
    pub almost: Signal<Out, Bit>,
    /// Nothing comes any more, not even the rest of a packet that has begun; until the reset.
    pub cut: Signal<In, Bit>,
    /// No read is given up (Completion Timeout Disable).
    pub patient: Signal<In, Bit>,
    /// A read gets its tag.
    pub opens: Signal<In, Bit>,
    pub opens_tag: Signal<In, Bits<6>>,
    pub opens_word: Signal<In, Sent>,
    /// Tags whose completion may come, whether a read still waits for it or not. Whether a completion is waited for, or
    /// is coming in.
    pub busy: Signal<Out, Bits<64>>,
    pub awaits: Signal<Out, Bit>,
    /// In the cycle before, a read was given up, or a completion of a read that has failed has come.
    pub progresses: Signal<Out, Bit>,
    /// A read has ended, well or not; lines of 64 bytes that are free in the hard IP's buffer.
    pub closes: Signal<Out, Bit>,
    pub closes_tag: Signal<Out, Bits<6>>,
    pub closes_bad: Signal<Out, Bit>,
    pub freed: Signal<Out, Bits<5>>,
    /// A read ends without having left, because of reads that were given up or with Unsupported Request. The engine is
    /// notified between two chunks.
    pub refuses: Signal<In, Bit>,
    pub refuses_tag: Signal<In, Bits<7>>,
    pub refuses_lost: Signal<In, Bit>,
    pub refuses_take: Signal<Out, Bit>,
    /// To the engine, as in [`crate::rtl::stream`].
    pub answer_valid: Signal<Out, Bit>,
    pub answer_first: Signal<Out, Bit>,
    pub answer_tag: Signal<Out, Bits<7>>,
    pub answer_bytes: Signal<Out, Bits<10>>,
    pub answer_code: Signal<Out, Bits<3>>,
    pub answer_data: Signal<Out, Bits<W>>,
    pub answer_error: Signal<Out, Bit>,
    /// Errors, one cycle each: status, poison, a completion that does not fit its read, a tag of no read, a read that
    /// was given up.
    pub saw_unsupported: Signal<Out, Bit>,
    pub saw_abort: Signal<Out, Bit>,
    pub saw_poisoned: Signal<Out, Bit>,
    pub saw_malformed: Signal<Out, Bit>,
    pub saw_unexpected: Signal<Out, Bit>,
    pub saw_expired: Signal<Out, Bit>,

    #[given]
    beats: SmallFifo<Bits<E>, 4, 5>,
    pause: DFF<Bit>,
    /// A read that gets its tag waits for a cycle in which no header is judged or may be judged; this is that cycle.
    /// Its own completions come later.
    opening: DFF<Bit>,
    admits: DFF<Bit>,
    opening_tag: DFF<Bits<6>>,
    opening_word: DFF<Sent>,
    /// By tag: its completion has not come in full; nor had it at the last look; its read has failed, so the engine
    /// does not wait.
    open: DFF<Bits<64>>,
    old: DFF<Bits<64>>,
    failed: DFF<Bits<64>>,
    /// The engine's tags of them.
    #[given]
    names: ForwardRam<Bits<7>, 6>,
    #[given]
    progress: ForwardRam<Progress, 6>,
    /// Time, and the tag that is looked at next; a read is to be given up.
    time: DFF<Bits<20>>,
    look: DFF<Bits<6>>,
    due: DFF<Bit>,
    /// That tag was open at the last look and was open in the cycle before.
    overdue: DFF<Bit>,
    /// Nothing has changed since that the look depends on.
    settled: DFF<Bit>,
    /// Looking up.
    a_on: DFF<Bit>,
    a_sop: DFF<Bit>,
    a_eop: DFF<Bit>,
    a_expires: DFF<Bit>,
    /// Of a packet whose rest is lost, in place of it; and in the next two stages, from it on.
    a_lost: DFF<Bit>,
    b_lost: DFF<Bit>,
    c_lost: DFF<Bit>,
    a_tag: DFF<Bits<8>>,
    a_data: DFF<Bits<W>>,
    /// Within a packet.
    within: DFF<Bit>,
    /// Judging.
    b_on: DFF<Bit>,
    b_sop: DFF<Bit>,
    b_eop: DFF<Bit>,
    b_expires: DFF<Bit>,
    b_tag: DFF<Bits<6>>,
    b_data: DFF<Bits<W>>,
    /// Facts from the header alone: it brings all bytes that are left; the number of bytes; the length is a possible
    /// one, fits all that is left, ends where it may. Whether it has data and is neither refused nor a read to be given
    /// up.
    b_last: DFF<Bit>,
    b_brings: DFF<Bit>,
    b_bytes: DFF<Bits<10>>,
    b_sized: DFF<Bit>,
    b_exact: DFF<Bit>,
    b_even: DFF<Bit>,
    b_known: DFF<Bit>,
    b_failed: DFF<Bit>,
    b_name: DFF<Bits<7>>,
    b_left: DFF<Bits<10>>,
    b_at: DFF<Bits<7>>,
    moved: DFF<Bit>,
    lines_held: DFF<Bits<5>>,
    lines_free: DFF<Bits<5>>,
    /// Beats to their lanes: this packet's beat, and the two before it.
    c_on: DFF<Bit>,
    c_sop: DFF<Bit>,
    c_eop: DFF<Bit>,
    c_data: DFF<Bits<W>>,
    before: DFF<Bits<W>>,
    before_that: DFF<Bits<W>>,
    c_moves: DFF<Bits<3>>,
    c_left: DFF<Bits<6>>,
    c_first: DFF<Bit>,
    c_name: DFF<Bits<7>>,
    c_bytes: DFF<Bits<10>>,
    c_code: DFF<Bits<3>>,
    /// The cycle after the last beat of a packet.
    tail: DFF<Bit>,
    out_on: DFF<Bit>,
    out_first: DFF<Bit>,
    out_name: DFF<Bits<7>>,
    out_bytes: DFF<Bits<10>>,
    out_code: DFF<Bits<3>>,
    out_data: DFF<Bits<W>>,
    out_lost: DFF<Bit>,

    stall: Signal<Local, Bit>,
    move_on: Signal<Local, Bit>,
    /// Whether the oldest beat begins a packet, and ends it.
    front: Signal<Local, Bits<2>>,
    pop: Signal<Local, Bit>,
    inject: Signal<Local, Bit>,
    sever: Signal<Local, Bit>,
    at_last: Signal<Local, Bit>,
    tick: Signal<Local, Bit>,
    look_bit: Signal<Local, Bits<64>>,
    a_bit: Signal<Local, Bits<64>>,
    judge: Signal<Local, Bit>,
    admits_next: Signal<Local, Bit>,
    poisoned: Signal<Local, Bit>,
    status: Signal<Local, Bits<3>>,
    count: Signal<Local, Bits<12>>,
    lower: Signal<Local, Bits<7>>,
    /// Of the header that is looked up.
    a_count: Signal<Local, Bits<12>>,
    a_offset: Signal<Local, Bits<12>>,
    a_lower: Signal<Local, Bits<7>>,
    length: Signal<Local, Bits<10>>,
    a_last: Signal<Local, Bit>,
    span: Signal<Local, Bits<12>>,
    bytes: Signal<Local, Bits<10>>,
    fits: Signal<Local, Bit>,
    exact: Signal<Local, Bits<12>>,
    refused: Signal<Local, Bit>,
    good: Signal<Local, Bit>,
    code: Signal<Local, Bits<3>>,
    tells: Signal<Local, Bit>,
    fails: Signal<Local, Bit>,
    shut: Signal<Local, Bit>,
    lines: Signal<Local, Bits<5>>,
    lines_left: Signal<Local, Bits<11>>,
    lines_behind: Signal<Local, Bits<11>>,
    b_bit: Signal<Local, Bits<64>>,
    shuts: Signal<Local, Bits<64>>,
    failing: Signal<Local, Bits<64>>,
    opened: Signal<Local, Bits<64>>,
    lane_span: Signal<Local, Bits<11>>,
    begins_at: Signal<Local, Bits<3>>,
    emit: Signal<Local, Bit>,
    left_after: Signal<Local, Bits<6>>,
    word: Signal<Local, Bits<W>>,

    one: Constant<Bits<64>>,
    flags_place: Constant<Bits<9>>,
    eop_place: Constant<Bits<9>>,
    #[given]
    last_time: Patience<20>,
    lane_mask: Constant<Bits<7>>,
    beat_round: Constant<Bits<11>>,
    beat_shift: Constant<Bits<4>>,
    less_one: Constant<Bits<9>>,
    less_two: Constant<Bits<9>>,
}

impl<const W: usize, const B: usize, const E: usize> Completions<W, B, E> {
    /// Completions of reads that are given up between 64 and 128 times `2^patience_log2` cycles after they were
    /// sent; `patience_log2` is at most 20.
    pub fn new(patience_log2: usize) -> Self {
        assert!(E == W + 2);
        assert!(patience_log2 <= 20, "2^{patience_log2} cycles");
        Self::fresh(CompletionsGiven {
            beats: SmallFifo::new(4),
            names: ForwardRam::new(6),
            progress: ForwardRam::new(6),
            one: Constant::new(1.into()),
            flags_place: Constant::new((W as u64).into()),
            eop_place: Constant::new((W as u64 + 1).into()),
            last_time: Patience::new((1 << patience_log2) - 1, (1 << IMPATIENCE_LOG2) - 1),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            less_one: Constant::new((W as u64 - 64).into()),
            less_two: Constant::new((W as u64 - 128).into()),
        })
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for Completions<W, B, E> {
    parts!(Setup, Form, LookUp, Judgement, Ends, Lanes);
}

/// Clocks and input.
struct Setup;

impl<const W: usize, const B: usize, const E: usize> Part<Setup> for Completions<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            pause,
            opening,
            admits,
            opening_tag,
            opening_word,
            open,
            old,
            failed,
            time,
            look,
            due,
            overdue,
            settled,
            a_on,
            a_sop,
            a_eop,
            a_expires,
            a_lost,
            b_lost,
            c_lost,
            a_tag,
            a_data,
            within,
            b_on,
            b_sop,
            b_eop,
            b_expires,
            b_tag,
            b_data,
            b_last,
            b_brings,
            b_bytes,
            b_sized,
            b_exact,
            b_even,
            b_known,
            b_failed,
            b_name,
            b_left,
            b_at,
            moved,
            lines_held,
            lines_free,
            c_on,
            c_sop,
            c_eop,
            c_data,
            before,
            before_that,
            c_moves,
            c_left,
            c_first,
            c_name,
            c_bytes,
            c_code,
            tail,
            out_on,
            out_first,
            out_name,
            out_bytes,
            out_code,
            out_data,
            out_lost
        );
        clock!(self, clock, beats, names, progress);
        self.beats.reset.next = self.reset.val();
        self.beats.push.next = self.rx_valid.val();
        self.beats.data_in.next = bit_cast::<E, W>(self.rx_data.val())
            | (bit_cast::<E, 1>(self.rx_sop.val().into()) << self.flags_place.val())
            | (bit_cast::<E, 1>(self.rx_eop.val().into()) << self.eop_place.val());
        // Of 16 places; three beats come after a pause, and some are under way.
        self.pause.d.next = self.beats.level.val() > 7;
        self.almost.next = self.pause.q.val();

        // Beats that remain after a packet's last one leave no place for the next packet.
        self.emit.next = (self.c_left.q.val().any())
            & (self.tail.q.val() | (self.c_on.q.val() & !self.c_sop.q.val()));
        self.left_after.next = self.c_left.q.val() - bit_cast::<6, 1>(self.emit.val().into());
        // More than one is left, or one that does not leave now.
        self.stall.next = (self.c_left.q.val().get_bits::<5>(1).any()
            | (self.c_left.q.val().get_bit(0)
                & !self.tail.q.val()
                & (!self.c_on.q.val() | self.c_sop.q.val())))
            & (self.tail.q.val() | (self.c_on.q.val() & self.c_eop.q.val()));
        self.move_on.next = !self.stall.val();
        self.judge.next = self.b_on.q.val() & self.b_sop.q.val() & self.move_on.val();
    }
}

/// The tag is looked up, and reads are given up.
struct LookUp;

impl<const W: usize, const B: usize, const E: usize> Part<LookUp> for Completions<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // One tag at a time: a tag that is open at two looks, and was not opened between them, is open for too long.
        self.at_last.next = self.time.q.val() == self.last_time.cycles.val();
        self.tick.next = self.at_last.val() & self.settled.q.val() & !self.patient.val();
        if !self.at_last.val() {
            self.time.d.next = self.time.q.val() + 1;
        }
        self.look_bit.next = self.one.val() << self.look.q.val();
        self.overdue.d.next = (self.open.q.val() & self.old.q.val() & self.look_bit.val()).any();
        self.admits_next.next = (self.opens.val() | self.opening.q.val())
            & !((self.move_on.val() & self.a_on.q.val() & self.a_sop.q.val())
                | (!self.move_on.val() & self.b_on.q.val() & self.b_sop.q.val()));
        self.admits.d.next = self.admits_next.val();
        self.opening.d.next = (self.opens.val() | self.opening.q.val()) & !self.admits_next.val();
        if self.opens.val() {
            self.opening_tag.d.next = self.opens_tag.val();
            self.opening_word.d.next = self.opens_word.val();
        }
        self.opened.next = 0.into();
        if self.admits.q.val() {
            self.opened.next = self.one.val() << self.opening_tag.q.val();
        }
        self.old.d.next = self.old.q.val() & !self.opened.val();
        if self.tick.val() {
            self.time.d.next = 0.into();
            if !self.due.q.val() {
                if self.overdue.q.val() {
                    self.due.d.next = true;
                } else {
                    self.look.d.next = self.look.q.val() + 1;
                    self.old.d.next = (self.old.q.val() | self.look_bit.val()) & !self.opened.val();
                }
            }
        }

        // A beat, or between packets a read that is given up. After a packet's first beat no other packet begins in the
        // next cycle: the first packet is judged in it.
        self.front.next = bit_cast::<2, E>(self.beats.data.val() >> self.flags_place.val());
        self.inject.next = self.due.q.val()
            & self.move_on.val()
            & !self.within.q.val()
            & !(self.a_on.q.val() & self.a_sop.q.val());
        self.sever.next =
            self.cut.val() & self.within.q.val() & !self.beats.some.val() & self.move_on.val();
        self.settled.d.next = !self.tick.val() & !self.inject.val() & !self.admits.q.val();
        self.pop.next = self.beats.valid.val()
            & self.move_on.val()
            & !self.inject.val()
            & !(self.front.val().get_bit(0) & self.a_on.q.val() & self.a_sop.q.val());
        self.beats.pop.next = self.pop.val();
        if self.move_on.val() {
            self.a_on.d.next = self.pop.val() | self.inject.val() | self.sever.val();
            self.a_sop.d.next =
                (self.front.val().get_bit(0) & !self.sever.val()) | self.inject.val();
            self.a_eop.d.next = self.front.val().get_bit(1) | self.inject.val() | self.sever.val();
            self.a_lost.d.next = self.sever.val();
            self.a_expires.d.next = self.inject.val();
            self.a_data.d.next = bit_cast::<W, E>(self.beats.data.val());
            self.a_tag.d.next = self.beats.data.val().get_bits::<8>(72);
            if self.inject.val() {
                self.a_tag.d.next = bit_cast::<8, 6>(self.look.q.val());
                self.due.d.next = false;
                self.look.d.next = self.look.q.val() + 1;
            }
        }
        if self.pop.val() {
            self.within.d.next = !self.front.val().get_bit(1);
        }
        if self.sever.val() {
            self.within.d.next = false;
        }

        self.names.write_enable.next = self.admits.q.val();
        self.names.write_address.next = self.opening_tag.q.val();
        self.names.write_data.next = self.opening_word.q.val().tag;
        self.names.read_address.next = self.a_tag.q.val().get_bits::<6>(0);
        self.progress.read_address.next = self.a_tag.q.val().get_bits::<6>(0);
        self.a_bit.next = self.one.val() << self.a_tag.q.val().get_bits::<6>(0);
        if self.move_on.val() {
            self.b_on.d.next = self.a_on.q.val();
            self.b_sop.d.next = self.a_sop.q.val();
            self.b_eop.d.next = self.a_eop.q.val();
            self.b_expires.d.next = self.a_expires.q.val();
            self.b_lost.d.next = self.a_lost.q.val();
            self.b_data.d.next = self.a_data.q.val();
            self.b_last.d.next = self.a_last.val();
            self.b_brings.d.next = self.a_data.q.val().get_bit(30)
                & !self.a_data.q.val().get_bits::<3>(45).any()
                & !self.a_expires.q.val();
            self.b_bytes.d.next = self.bytes.val();
            self.b_sized.d.next = self.length.val().any() & (self.length.val() <= 129);
            self.b_exact.d.next = self.exact.val() == bit_cast::<12, 10>(self.length.val());
            self.b_even.d.next = !(bit_cast::<4, 5>(self.a_lower.val().get_bits::<5>(2))
                + bit_cast::<4, 10>(self.length.val()))
            .any();
            self.b_tag.d.next = self.a_tag.q.val().get_bits::<6>(0);
            // A read that is to be given up has neither ended since nor begun again.
            self.b_known.d.next = (self.open.q.val() & self.a_bit.val()).any()
                & !self.a_tag.q.val().get_bits::<2>(6).any()
                & (!self.a_expires.q.val() | (self.old.q.val() & self.a_bit.val()).any());
            self.b_failed.d.next = (self.failed.q.val() & self.a_bit.val()).any();
            self.b_name.d.next = self.names.read_data.val();
            self.b_left.d.next = self.progress.read_data.val().left;
            self.b_at.d.next = self.progress.read_data.val().at;
        }
    }
}
