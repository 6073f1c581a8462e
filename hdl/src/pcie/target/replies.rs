//! Makes completions of the data of the bus: qwords go into the beats of packets, the header's words are next to them.
//!
//! A completion leaves when all of it is there, and after the posted writes that were accepted until then: the host may
//! read from a register that they are done (PCI Express Base Specification 2.1, section 2.4.1: a read completion does
//! not pass a posted request).
//!
//! A request whose data the bus does not bring ends with Completer Abort: once, with the number of bytes that are
//! missing. Data that have come for that completion are dropped.

use super::store::{BEATS, Store};
use crate::pcie::words::{Piece, ReplyHead};
use crate::prim::{Part, SmallFifo, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// A completion's data come from the bus.
pub const BUS: u64 = 0;
/// No slave serves the request.
pub const REFUSED: u64 = 1;
/// No byte is wanted: one dword of zeros.
pub const NOTHING: u64 = 2;
/// The bus is down.
pub const ABORTED: u64 = 3;

/// Completions that are under way at most.
pub const PIECES: u64 = 16;

/// Completions of `W` bits a beat.
#[derive(DocBlock)]
pub struct Replies<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A completion of so many beats is to come; there is room for any, or none is to come; some need the bus.
    pub push: Signal<In, Bit>,
    pub piece: Signal<In, Piece>,
    pub need: Signal<In, Bits<6>>,
    pub has_room: Signal<Out, Bit>,
    pub idle: Signal<Out, Bit>,
    pub live: Signal<Out, Bit>,
    /// From the bus; it is down.
    pub data_valid: Signal<In, Bit>,
    pub data: Signal<In, Bits<64>>,
    pub down: Signal<In, Bit>,
    /// Posted packets: one is accepted, one leaves.
    pub posted: Signal<In, Bit>,
    pub post_sent: Signal<In, Bit>,
    /// The oldest completion that may leave, and its next beat, without the header.
    pub head_valid: Signal<Out, Bit>,
    pub head: Signal<Out, ReplyHead>,
    pub head_take: Signal<In, Bit>,
    pub beat: Signal<Out, Bits<W>>,
    pub beat_take: Signal<In, Bit>,
    /// A request ends with Completer Abort, one cycle.
    pub saw_abort: Signal<Out, Bit>,

    expected: SmallFifo<Piece, 4, 5>,
    heads: SmallFifo<ReplyHead, 4, 5>,
    /// How many posted packets were accepted before each.
    stamps: SmallFifo<Bits<8>, 4, 5>,
    store: Store<W>,
    /// Completions under way, beats kept for them, those of them whose data are to come from the bus.
    pieces: DFF<Bits<5>>,
    used: DFF<Bits<9>>,
    /// There is room for any of them. It is valid from the second cycle after a push, when the next push cannot come
    /// yet.
    room: DFF<Bit>,
    /// Places and beats that became free in the last cycle.
    leaves: DFF<Bits<5>>,
    given: DFF<Bits<9>>,
    from_bus: DFF<Bits<5>>,
    /// Completions that may leave.
    clear: DFF<Bits<5>>,
    accepted: DFF<Bits<8>>,
    sent: DFF<Bits<8>>,
    /// The request has failed: the rest of it is dropped.
    failed: DFF<Bit>,
    /// A completion that is ready.
    told: DFF<Bit>,
    told_head: DFF<ReplyHead>,
    /// Of the completion under way: its next qword's number, from 1 on, whether that is the first, its place, the beat.
    nth: DFF<Bits<6>>,
    fresh: DFF<Bit>,
    /// It is the last, unless it is the first.
    at_last: DFF<Bit>,
    lane: DFF<Bits<2>>,
    word: DFF<Bits<W>>,

    is_bus: Signal<Local, Bit>,
    is_failure: Signal<Local, Bit>,
    skip: Signal<Local, Bit>,
    place: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    starts_at: Signal<Local, Bits<2>>,
    lane_now: Signal<Local, Bits<2>>,
    qword: Signal<Local, Bits<64>>,
    word_now: Signal<Local, Bits<W>>,
    fails: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    tells: Signal<Local, Bit>,
    opens_bus: Signal<Local, Bit>,
    closes_bus: Signal<Local, Bit>,
    accepted_now: Signal<Local, Bits<8>>,
    behind: Signal<Local, Bits<8>>,
    clears: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,

    last_lane: Constant<Bits<2>>,
    is_narrow: Constant<Bits<1>>,
    no_data_empty: Constant<Bits<2>>,
    zero: Constant<Bits<W>>,
    most_pieces: Constant<Bits<5>>,
    most_beats: Constant<Bits<9>>,
    bus: Constant<Bits<2>>,
    refused: Constant<Bits<2>>,
    nothing: Constant<Bits<2>>,
}

impl<const W: usize> Default for Replies<W> {
    fn default() -> Self {
        let lanes = W as u64 / 64;
        Self::fresh(RepliesGiven {
            last_lane: Constant::new((lanes - 1).into()),
            is_narrow: Constant::new(u64::from(W == 128).into()),
            no_data_empty: Constant::new((lanes - 2).into()),
            zero: Constant::new(Bits::<W>::default()),
            most_pieces: Constant::new(PIECES.into()),
            // Room is left for a header and 256 bytes, and for as much of a completion that is being sent: its room is
            // released with its first beat.
            most_beats: Constant::new((BEATS as u64 + 1 - 2 * (32 + 2_u64).div_ceil(lanes)).into()),
            bus: Constant::new(BUS.into()),
            refused: Constant::new(REFUSED.into()),
            nothing: Constant::new(NOTHING.into()),
        })
    }
}

impl<const W: usize> Logic for Replies<W> {
    parts!(Filling, Ending);
}

/// Qwords into beats.
struct Filling;

impl<const W: usize> Part<Filling> for Replies<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, pieces, used, room, leaves, given, from_bus, clear, accepted, sent,
            failed, told, told_head, nth, fresh, at_last, lane, word
        );
        clock!(self, clock, expected, heads, stamps, store);
        self.expected.reset.next = self.reset.val();
        self.heads.reset.next = self.reset.val();
        self.stamps.reset.next = self.reset.val();
        self.store.reset.next = self.reset.val();
        self.expected.push.next = self.push.val();
        self.expected.data_in.next = self.piece.val();
        self.idle.next = !self.expected.some.val();

        self.is_bus.next = self.expected.data.val().source == self.bus.val();
        self.is_failure.next = (self.expected.data.val().source != self.nothing.val())
            & (!self.is_bus.val() | self.down.val());
        self.skip.next = self.failed.q.val() & !self.expected.data.val().opens;
        self.place.next = self.expected.valid.val()
            & !self.is_failure.val()
            & (!self.is_bus.val() | self.data_valid.val());
        self.fails.next = self.expected.valid.val() & self.is_failure.val();

        // The first in qword 1 or 2 of the packet.
        self.starts_at.next = 1.into();
        if !self.expected.data.val().lower.get_bit(2) {
            self.starts_at.next = self.last_lane.val() & 2;
        }
        self.lane_now.next = self.lane.q.val();
        if self.fresh.q.val() {
            self.lane_now.next = self.starts_at.val();
        }
        self.qword.next = self.data.val();
        if !self.is_bus.val() {
            self.qword.next = 0.into();
        }
        self.word_now.next = self.word.q.val()
            | (bit_cast::<W, 64>(self.qword.val()) << (bit_cast::<9, 2>(self.lane_now.val()) << 6));
        self.store.data_in.next = self.word_now.val();
        self.is_last.next = self.at_last.q.val();
        if self.fresh.q.val() {
            self.is_last.next = self.expected.data.val().single;
        }
        self.store.push.next = self.place.val()
            & !self.skip.val()
            & (self.is_last.val() | (self.lane_now.val() == self.last_lane.val()));
        self.store.commit.next = self.place.val() & self.is_last.val() & !self.skip.val();
        self.store.rewind.next = self.fails.val();
        if self.place.val() {
            self.nth.d.next = self.nth.q.val() + 1;
            self.at_last.d.next = (self.nth.q.val() + 1) == self.expected.data.val().qwords;
            self.fresh.d.next = false;
            self.lane.d.next = (self.lane_now.val() + 1) & self.last_lane.val();
            self.word.d.next = self.word_now.val();
            if self.is_last.val() | (self.lane_now.val() == self.last_lane.val()) {
                self.word.d.next = self.zero.val();
            }
        }
        self.ends.next = self.fails.val() | (self.place.val() & self.is_last.val());
        if self.ends.val() {
            self.nth.d.next = 1.into();
            self.fresh.d.next = true;
            self.word.d.next = self.zero.val();
        }
        self.expected.pop.next = self.ends.val();
        self.tells.next = self.ends.val() & !self.skip.val();
        if self.tells.val() {
            self.failed.d.next = self.fails.val();
        }
        self.saw_abort.next = self.tells.val()
            & self.fails.val()
            & (self.expected.data.val().source != self.refused.val());
    }
}

/// The completion that is ready, and when it may leave; and the reset.
struct Ending;

impl<const W: usize> Part<Ending> for Replies<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.told.d.next = self.tells.val();
        self.heads.push.next = self.told.q.val();
        self.heads.data_in.next = self.told_head.q.val();
        self.told_head.d.next.requester = self.expected.data.val().requester;
        self.told_head.d.next.tag = self.expected.data.val().tag;
        self.told_head.d.next.class = self.expected.data.val().class;
        self.told_head.d.next.attributes = self.expected.data.val().attributes;
        self.told_head.d.next.count = self.expected.data.val().count;
        self.told_head.d.next.lower = self.expected.data.val().lower;
        self.told_head.d.next.room = self.expected.data.val().beats;
        self.told_head.d.next.status = 0.into();
        self.told_head.d.next.dwords = self.expected.data.val().dwords;
        self.told_head.d.next.units = bit_cast::<6, 7>((self.expected.data.val().dwords + 3) >> 2);
        self.told_head.d.next.beats = self.expected.data.val().beats;
        self.told_head.d.next.empty = self.expected.data.val().empty;
        self.told_head.d.next.bare =
            self.is_narrow.val().any() & !self.expected.data.val().lower.get_bit(2);
        if self.fails.val() {
            self.told_head.d.next.status = 4.into();
            if self.expected.data.val().source == self.refused.val() {
                self.told_head.d.next.status = 1.into();
            }
            self.told_head.d.next.dwords = 0.into();
            self.told_head.d.next.units = 0.into();
            self.told_head.d.next.beats = 1.into();
            self.told_head.d.next.empty = self.no_data_empty.val();
            self.told_head.d.next.bare = true;
        }

        // After the posted packets that were accepted before.
        self.accepted_now.next = self.accepted.q.val();
        if self.posted.val() {
            self.accepted_now.next = self.accepted.q.val() + 1;
        }
        self.accepted.d.next = self.accepted_now.val();
        self.sent.d.next = self.sent.q.val() + bit_cast::<8, 1>(self.post_sent.val().into());
        self.stamps.push.next = self.told.q.val();
        self.stamps.data_in.next = self.accepted_now.val();
        self.behind.next = self.sent.q.val() - self.stamps.data.val();
        self.clears.next = self.stamps.valid.val() & !self.behind.val().get_bit(7);
        self.stamps.pop.next = self.clears.val();
        self.head_valid.next = self.heads.valid.val() & self.clear.q.val().any();
        self.head.next = self.heads.data.val();
        self.taken.next = self.head_take.val();
        self.heads.pop.next = self.head_take.val();
        self.store.pop.next = self.beat_take.val();
        self.beat.next = self.store.data.val();
        self.clear.d.next = self.clear.q.val() + bit_cast::<5, 1>(self.clears.val().into())
            - bit_cast::<5, 1>(self.taken.val().into());

        // Places.
        self.room.d.next = (self.pieces.q.val() < self.most_pieces.val())
            & (self.used.q.val() <= self.most_beats.val());
        self.has_room.next = self.room.q.val();
        self.leaves.d.next = bit_cast::<5, 1>(self.taken.val().into())
            + bit_cast::<5, 1>((self.ends.val() & self.skip.val()).into());
        self.given.d.next = 0.into();
        if self.taken.val() {
            self.given.d.next = bit_cast::<9, 6>(self.heads.data.val().room);
        }
        if self.ends.val() & self.skip.val() {
            self.given.d.next = bit_cast::<9, 6>(self.expected.data.val().beats);
            if self.taken.val() {
                self.given.d.next = bit_cast::<9, 6>(self.expected.data.val().beats)
                    + bit_cast::<9, 6>(self.heads.data.val().room);
            }
        }
        self.pieces.d.next = self.pieces.q.val() - self.leaves.q.val();
        self.used.d.next = self.used.q.val() - self.given.q.val();
        if self.push.val() {
            self.pieces.d.next = self.pieces.q.val() - self.leaves.q.val() + 1;
            self.used.d.next =
                self.used.q.val() - self.given.q.val() + bit_cast::<9, 6>(self.need.val());
        }
        self.opens_bus.next = self.push.val() & (self.piece.val().source == self.bus.val());
        self.closes_bus.next = self.ends.val() & self.is_bus.val();
        self.from_bus.d.next = self.from_bus.q.val()
            + bit_cast::<5, 1>(self.opens_bus.val().into())
            - bit_cast::<5, 1>(self.closes_bus.val().into());
        self.live.next = self.from_bus.q.val().any();

        if self.reset.val() {
            self.pieces.d.next = 0.into();
            self.used.d.next = 0.into();
            self.room.d.next = false;
            self.leaves.d.next = 0.into();
            self.given.d.next = 0.into();
            self.from_bus.d.next = 0.into();
            self.clear.d.next = 0.into();
            self.accepted.d.next = 0.into();
            self.sent.d.next = 0.into();
            self.failed.d.next = false;
            self.told.d.next = false;
            self.nth.d.next = 1.into();
            self.fresh.d.next = true;
            self.word.d.next = self.zero.val();
        }
    }
}
