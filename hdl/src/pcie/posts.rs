//! Posted writes on their way into packets: cut at the Max Payload Size, laid out as the hard IP wants them, and
//! stored until they are complete. A packet that has begun may not wait for its data (Stratix V Avalon-ST
//! Interface for PCIe 683093, `tx_st_valid`).
//!
//! The hard IP's lanes: dword 0 of the header is in lane 0, and the first dword of the payload in a lane whose parity
//! is bit 2 of its address (683093, mapping of the Avalon-ST packets to PCI Express TLPs). So lanes move by whole
//! qwords only. With `first` the qword of the first byte in a beat of the engine, and 1 or 2 the qword in which the
//! payload begins in the packet, every qword moves down by `first - 1` or `first - 2`.
//!
//! A beat of the engine is a beat of the packet. The remainder of the last beat makes one more. A cycle is kept free
//! for it after every packet, so a packet takes no more cycles than it has beats.

use super::words::PostHead;
use crate::prim::{BlockFifo, Part, SmallFifo, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Posted writes of `W` bits and `B` bytes a beat.
#[derive(DocBlock)]
pub struct Posts<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Bursts as the engine's port has them: address and length stay for the burst; an address is a multiple of the
    /// beat. A burst of several beats has all bytes enabled, one of a single beat those from one byte to another, at
    /// least one.
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub address: Signal<In, Bits<64>>,
    pub beats: Signal<In, Bits<6>>,
    pub data: Signal<In, Bits<W>>,
    pub enable: Signal<In, Bits<B>>,
    /// Posted writes may be accepted, as [`super::credits`] reports.
    pub open: Signal<In, Bit>,
    /// Max Payload Size, 128 bytes shifted by it. More than 512 is not used.
    pub payload: Signal<In, Bits<3>>,
    /// A packet was accepted in the cycle before.
    pub taken: Signal<Out, Bit>,
    /// The oldest packet that is complete.
    pub head_valid: Signal<Out, Bit>,
    pub head: Signal<Out, PostHead>,
    pub head_take: Signal<In, Bit>,
    /// Complete packets that wait, that one included.
    pub stored: Signal<Out, Bits<5>>,
    /// Its next beat, without the header.
    pub beat: Signal<Out, Bits<W>>,
    pub beat_take: Signal<In, Bit>,

    /// Beats of the burst that were accepted, without and with the next.
    index: DFF<Bits<6>>,
    number: DFF<Bits<6>>,
    /// The next beat is the first of its packet.
    fresh: DFF<Bit>,
    /// No beat is accepted in the cycle after the last beat of a packet.
    gap: DFF<Bit>,
    room: DFF<Bit>,
    start: DFF<Bits<64>>,
    /// It is above 4 GiB.
    wide: DFF<Bit>,
    count: DFF<Bits<6>>,
    /// The beat that was accepted.
    in_on: DFF<Bit>,
    in_last: DFF<Bit>,
    in_data: DFF<Bits<W>>,
    in_enable: DFF<Bits<B>>,
    /// Dwords of it of which a byte is enabled.
    in_dwords: DFF<Bits<8>>,
    previous: DFF<Bits<W>>,
    /// The remainder of the last beat goes out, moved as that beat was.
    spills: DFF<Bit>,
    spill_move: DFF<Bits<3>>,
    push: DFF<Bit>,
    push_word: DFF<Bits<W>>,
    /// The header follows the last beat of the packet.
    ends: DFF<Bit>,
    ends_head: DFF<PostHead>,
    head_push: DFF<Bit>,
    head_word: DFF<PostHead>,
    #[given]
    words: BlockFifo<Bits<W>, 9, 10>,
    #[given]
    heads: SmallFifo<PostHead, 4, 5>,

    accept: Signal<Local, Bit>,
    at: Signal<Local, Bits<12>>,
    after: Signal<Local, Bits<12>>,
    cut: Signal<Local, Bit>,
    burst_last: Signal<Local, Bit>,
    packet_last: Signal<Local, Bit>,
    enables_now: Signal<Local, Bits<32>>,
    dwords_now: Signal<Local, Bits<8>>,
    enables: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<3>>,
    high: Signal<Local, Bits<3>>,
    begins_at: Signal<Local, Bits<3>>,
    moves: Signal<Local, Bits<3>>,
    moves_now: Signal<Local, Bits<3>>,
    last_qword: Signal<Local, Bits<4>>,
    spill: Signal<Local, Bit>,
    now: Signal<Local, Bits<W>>,
    word: Signal<Local, Bits<W>>,

    beat_shift: Constant<Bits<4>>,
    dword_shift: Constant<Bits<4>>,
    qwords: Constant<Bits<4>>,
    last_lane: Constant<Bits<4>>,
    /// Bits of a beat less one qword, and less two.
    less_one: Constant<Bits<9>>,
    less_two: Constant<Bits<9>>,
    zero: Constant<Bits<W>>,
}

impl<const W: usize, const B: usize> Default for Posts<W, B> {
    fn default() -> Self {
        Self::fresh(PostsGiven {
            words: BlockFifo::new(6),
            heads: SmallFifo::new(4),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            dword_shift: Constant::new(u64::from((B / 4).trailing_zeros()).into()),
            qwords: Constant::new((B as u64 / 8).into()),
            last_lane: Constant::new((B as u64 / 8 - 1).into()),
            less_one: Constant::new((W as u64 - 64).into()),
            less_two: Constant::new((W as u64 - 128).into()),
            zero: Constant::new(Bits::<W>::default()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for Posts<W, B> {
    parts!(Intake, Layout, Stores);
}

/// Beats are accepted, and packets end.
struct Intake;

impl<const W: usize, const B: usize> Part<Intake> for Posts<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, index, number, fresh, gap, room, start, wide, count, in_on, in_last,
            in_data, in_enable, in_dwords, previous, spills, spill_move, push, push_word, ends,
            ends_head, head_push, head_word
        );
        clock!(self, clock, words, heads);
        self.words.reset.next = self.reset.val();
        self.heads.reset.next = self.reset.val();

        self.enables_now.next = bit_cast::<32, B>(self.enable.val());
        self.dwords_now.next =
            bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(0).any().into())
                | (bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(4).any().into()) << 1)
                | (bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(8).any().into()) << 2)
                | (bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(12).any().into()) << 3)
                | (bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(16).any().into()) << 4)
                | (bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(20).any().into()) << 5)
                | (bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(24).any().into()) << 6)
                | (bit_cast::<8, 1>(self.enables_now.val().get_bits::<4>(28).any().into()) << 7);

        self.ready.next = self.room.q.val() & !self.gap.q.val();
        self.accept.next = self.valid.val() & self.room.q.val() & !self.gap.q.val();
        // No burst crosses 4 KiB.
        self.at.next = bit_cast::<12, 64>(self.address.val())
            + (bit_cast::<12, 6>(self.index.q.val()) << self.beat_shift.val());
        self.after.next = bit_cast::<12, 64>(self.address.val())
            + (bit_cast::<12, 6>(self.number.q.val()) << self.beat_shift.val());
        self.cut.next = !self.after.val().get_bits::<9>(0).any();
        if !self.payload.val().any() {
            self.cut.next = !self.after.val().get_bits::<7>(0).any();
        } else if self.payload.val() == 1 {
            self.cut.next = !self.after.val().get_bits::<8>(0).any();
        }
        self.burst_last.next = self.number.q.val() == self.beats.val();
        self.packet_last.next = self.burst_last.val() | self.cut.val();
        self.taken.next = self.gap.q.val();
        self.gap.d.next = self.accept.val() & self.packet_last.val();
        self.in_on.d.next = self.accept.val();
        if self.accept.val() {
            self.index.d.next = self.number.q.val();
            self.number.d.next = self.number.q.val() + 1;
            if self.burst_last.val() {
                self.index.d.next = 0.into();
                self.number.d.next = 1.into();
            }
            self.fresh.d.next = self.packet_last.val();
            self.count.d.next = self.count.q.val() + 1;
            if self.fresh.q.val() {
                self.count.d.next = 1.into();
                self.start.d.next =
                    ((self.address.val() >> 12) << 12) | bit_cast::<64, 12>(self.at.val());
                self.wide.d.next = self.address.val().get_bits::<32>(32).any();
            }
            self.in_last.d.next = self.packet_last.val();
            self.in_data.d.next = self.data.val();
            self.in_enable.d.next = self.enable.val();
            self.in_dwords.d.next = self.dwords_now.val();
        }
    }
}

/// Lays out the dwords, and describes them in the header.
struct Layout;

impl<const W: usize, const B: usize> Part<Layout> for Posts<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        self.enables.next = bit_cast::<32, B>(self.in_enable.q.val());
        self.low.next = 7.into();
        self.high.next = 0.into();
        for i in 0..7 {
            if self.in_dwords.q.val().get_bit(6 - i) {
                self.low.next = (6 - i).to_bits();
            }
        }
        for i in 1..8 {
            if self.in_dwords.q.val().get_bit(i) {
                self.high.next = i.to_bits();
            }
        }

        // Qwords move down by so many, modulo 8: 6 is two up.
        self.begins_at.next = 2.into();
        if !self.wide.q.val() & self.low.val().get_bit(0) {
            self.begins_at.next = 1.into();
        }
        self.moves.next = (self.low.val() >> 1) - self.begins_at.val();
        self.last_qword.next = bit_cast::<4, 3>(self.high.val() >> 1)
            - (bit_cast::<4, 3>(self.low.val() >> 1) - bit_cast::<4, 3>(self.begins_at.val()));
        self.spill.next = self.last_qword.val() >= self.qwords.val();

        self.now.next = self.zero.val();
        self.moves_now.next = self.spill_move.q.val();
        if self.in_on.q.val() {
            self.now.next = self.in_data.q.val();
            self.moves_now.next = self.moves.val();
        }
        self.word.next = self.now.val();
        if self.moves_now.val() == 6 {
            self.word.next =
                (self.now.val() << 128) | (self.previous.q.val() >> self.less_two.val());
        } else if self.moves_now.val() == 7 {
            self.word.next =
                (self.now.val() << 64) | (self.previous.q.val() >> self.less_one.val());
        } else if self.moves_now.val() == 1 {
            self.word.next = self.now.val() >> 64;
        } else if self.moves_now.val() == 2 {
            self.word.next = self.now.val() >> 128;
        }
        self.push_word.d.next = self.word.val();
        self.push.d.next = self.in_on.q.val() | self.spills.q.val();
        self.previous.d.next = self.in_data.q.val();
        self.spills.d.next = self.in_on.q.val() & self.in_last.q.val() & self.spill.val();
        self.spill_move.d.next = self.moves.val();

        // The last beat has all that is needed: the beats before it are whole.
        self.ends.d.next = self.in_on.q.val() & self.in_last.q.val();
        self.ends_head.d.next.address =
            bit_cast::<62, 64>((self.start.q.val() >> 2) | bit_cast::<64, 3>(self.low.val()));
        self.ends_head.d.next.dwords = (bit_cast::<8, 6>(self.count.q.val() - 1)
            << self.dword_shift.val())
            + bit_cast::<8, 3>(self.high.val())
            - bit_cast::<8, 3>(self.low.val())
            + 1;
        self.ends_head.d.next.units = 0.into();
        self.ends_head.d.next.first =
            bit_cast::<4, 32>(self.enables.val() >> (bit_cast::<5, 3>(self.low.val()) << 2));
        self.ends_head.d.next.last =
            bit_cast::<4, 32>(self.enables.val() >> (bit_cast::<5, 3>(self.high.val()) << 2));
        if (self.count.q.val() == 1) & (self.low.val() == self.high.val()) {
            self.ends_head.d.next.last = 0.into();
        }
        self.ends_head.d.next.beats =
            self.count.q.val() + bit_cast::<6, 1>(self.spill.val().into());
        self.ends_head.d.next.empty =
            bit_cast::<2, 4>(self.last_lane.val() - (self.last_qword.val() & self.last_lane.val()));
        self.head_push.d.next = self.ends.q.val();
        self.head_word.d.next = self.ends_head.q.val();
        self.head_word.d.next.units = bit_cast::<6, 8>((self.ends_head.q.val().dwords + 3) >> 2);
    }
}

/// The stores; and the reset.
struct Stores;

impl<const W: usize, const B: usize> Part<Stores> for Posts<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        self.words.push.next = self.push.q.val();
        self.words.data_in.next = self.push_word.q.val();
        self.words.pop.next = self.beat_take.val();
        self.beat.next = self.words.data.val();
        self.heads.push.next = self.head_push.q.val();
        self.heads.data_in.next = self.head_word.q.val();
        self.heads.pop.next = self.head_take.val();
        self.head_valid.next = self.heads.valid.val();
        self.head.next = self.heads.data.val();
        self.stored.next = self.heads.level.val();
        // Of 64 beats and 16 headers, less those under way.
        self.room.d.next =
            self.open.val() & (self.words.level.val() < 56) & (self.heads.level.val() < 11);
        if self.reset.val() {
            self.index.d.next = 0.into();
            self.number.d.next = 1.into();
            self.fresh.d.next = true;
            self.gap.d.next = false;
            self.room.d.next = false;
            self.in_on.d.next = false;
            self.spills.d.next = false;
            self.push.d.next = false;
            self.ends.d.next = false;
            self.head_push.d.next = false;
        }
    }
}
