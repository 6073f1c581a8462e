//! The logic's side of a stream, in the logic's clock: words become beats of the FIFO between the clocks.
//!
//! A beat says how many of its bytes are valid and whether a block ends with it. A beat without bytes is a *mark*: a
//! block ends in front of it, and its data say how many words of the logic were lost there.
//!
//! A stream whose logic can wait has no losses: `ready` is low while there is no room. Where the logic cannot wait,
//! words that find no room are counted. In a stream of packets the rest of the packet is lost, too. Then the words in
//! front of the gap end their block, and a mark follows with the count.
//!
//! A packet whose beginning was lost when the stream was closed is dropped up to its end.

use crate::prim::Part;
use crate::prim::parts;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Losses that a mark can say.
const MOST_LOST: u64 = 32767;

/// Packs words of `U` bits into beats of `F` bits, `U` or more; `G` = `F + 10`.
#[derive(DocBlock)]
pub struct Pack<const U: usize, const F: usize, const G: usize> {
    pub clock: Signal<In, Clock>,
    /// The stream is closed.
    pub reset: Signal<In, Bit>,
    /// The logic's words. The first byte is in the lowest bits. `empty`: bytes of the last word of a packet that are
    /// not valid, the highest.
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub data: Signal<In, Bits<U>>,
    pub endofpacket: Signal<In, Bit>,
    pub empty: Signal<In, Bits<6>>,
    /// Each change asks for the end of the block after the words that have come; each is answered once.
    pub flush: Signal<In, Bit>,
    /// Beats: data, bytes (7 bits), the block ends, a packet ends, answer to `flush`.
    pub push: Signal<Out, Bit>,
    pub beat: Signal<Out, Bits<G>>,
    pub full: Signal<In, Bit>,
    /// Words wait here that make no whole beat.
    pub some: Signal<Out, Bit>,

    gathered: DFF<Bits<F>>,
    count: DFF<Bits<3>>,
    /// The count is not 0: a register, because another clock looks at it.
    any: DFF<Bit>,
    flushed: DFF<Bit>,
    dropping: DFF<Bit>,
    lost: DFF<Bits<15>>,
    /// A packet has begun and not ended.
    within: DFF<Bit>,

    take: Signal<Local, Bit>,
    completes: Signal<Local, Bit>,
    partial: Signal<Local, Bit>,
    marks: Signal<Local, Bit>,
    /// The block ends in front of a gap that has no end yet: a mark without a count.
    ends_early: Signal<Local, Bit>,
    flush_due: Signal<Local, Bit>,
    between: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    ends_block: Signal<Local, Bit>,
    ends_packet: Signal<Local, Bit>,
    flags: Signal<Local, Bits<G>>,
    content: Signal<Local, Bits<G>>,
    joined: Signal<Local, Bits<F>>,
    word_bytes: Signal<Local, Bits<7>>,
    bytes: Signal<Local, Bits<7>>,
    lost_next: Signal<Local, Bits<15>>,

    has_packets: Constant<Bits<1>>,
    is_lossy: Constant<Bits<1>>,
    last_lane: Constant<Bits<3>>,
    lane_bytes: Constant<Bits<7>>,
    lane_bytes_log2: Constant<Bits<3>>,
    lane_bits_log2: Constant<Bits<4>>,
    bytes_at: Constant<Bits<10>>,
    end_at: Constant<Bits<10>>,
    most_lost: Constant<Bits<15>>,
}

impl<const U: usize, const F: usize, const G: usize> Pack<U, F, G> {
    /// Packs the words of one stream.
    pub fn new(packets: bool, lossy: bool) -> Self {
        assert!(G == F + 10 && F.is_multiple_of(U));
        Self::fresh(PackGiven {
            has_packets: Constant::new(u64::from(packets).into()),
            is_lossy: Constant::new(u64::from(lossy).into()),
            last_lane: Constant::new((F as u64 / U as u64 - 1).into()),
            lane_bytes: Constant::new((U as u64 / 8).into()),
            lane_bytes_log2: Constant::new(u64::from((U / 8).trailing_zeros()).into()),
            lane_bits_log2: Constant::new(u64::from(U.trailing_zeros()).into()),
            bytes_at: Constant::new((F as u64).into()),
            end_at: Constant::new((F as u64 + 7).into()),
            most_lost: Constant::new(MOST_LOST.into()),
        })
    }
}

impl<const U: usize, const F: usize, const G: usize> Logic for Pack<U, F, G> {
    parts!(Words, Beats);
}

/// The words that are taken, and whether they make a beat.
struct Words;

/// The beat that goes to the FIFO.
struct Beats;

impl<const U: usize, const F: usize, const G: usize> Part<Words> for Pack<U, F, G> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, gathered, count, any, flushed, dropping, lost, within
        );
        self.flush_due.next = self.flush.val() != self.flushed.q.val();
        self.ends.next = self.endofpacket.val() & self.has_packets.val().any();
        // A word is taken whole or not at all.
        self.take.next =
            self.valid.val() & !self.full.val() & !self.dropping.q.val() & !self.reset.val();
        self.ready.next = (!self.full.val() | self.dropping.q.val()) & !self.reset.val();
        if self.is_lossy.val().any() {
            self.ready.next = true;
        }
        self.completes.next =
            self.take.val() & ((self.count.q.val() == self.last_lane.val()) | self.ends.val());
        // Is the next word, as of the next cycle, the first of a packet?
        self.between.next = !self.has_packets.val().any()
            | (self.valid.val() & self.ends.val())
            | (!self.valid.val() & !self.within.q.val());
        // Without a word in this cycle: the gathered words leave, or a mark.
        self.partial.next = !self.full.val()
            & !self.reset.val()
            & self.count.q.val().any()
            & ((self.flush_due.val() & !self.valid.val()) | self.dropping.q.val());
        self.marks.next = !self.full.val()
            & !self.reset.val()
            & !self.count.q.val().any()
            & ((self.flush_due.val() & !self.valid.val() & !self.dropping.q.val())
                | (self.dropping.q.val() & self.between.val()));
        self.ends_early.next = !self.full.val()
            & !self.reset.val()
            & !self.count.q.val().any()
            & self.flush_due.val()
            & self.dropping.q.val()
            & !self.valid.val()
            & !self.between.val();
        self.push.next =
            self.completes.val() | self.partial.val() | self.marks.val() | self.ends_early.val();

        // Lost words.
        self.lost_next.next = self.lost.q.val();
        if self.is_lossy.val().any()
            & self.valid.val()
            & !self.take.val()
            & !self.reset.val()
            & (self.lost.q.val() != self.most_lost.val())
        {
            self.lost_next.next = self.lost.q.val() + 1;
        }
        self.lost.d.next = self.lost_next.val();
        if self.is_lossy.val().any() & self.valid.val() & !self.take.val() {
            self.dropping.d.next = true;
        }
        if self.marks.val() {
            self.dropping.d.next = false;
            self.lost.d.next = 0.into();
        }
        // A stream that is lossy takes words also while it is closed.
        if self.valid.val() & (self.ready.val() | self.is_lossy.val().any()) {
            self.within.d.next = self.has_packets.val().any() & !self.ends.val();
        }
        if self.reset.val() {
            self.dropping.d.next = self.is_lossy.val().any() | self.within.q.val();
            self.lost.d.next = 0.into();
        }
    }
}

impl<const U: usize, const F: usize, const G: usize> Part<Beats> for Pack<U, F, G> {
    #[hdl_gen]
    fn update(&mut self) {
        self.joined.next = self.gathered.q.val();
        self.word_bytes.next = 0.into();
        if self.take.val() {
            self.joined.next = self.gathered.q.val()
                | (bit_cast::<F, U>(self.data.val())
                    << (bit_cast::<10, 3>(self.count.q.val()) << self.lane_bits_log2.val()));
            self.word_bytes.next = self.lane_bytes.val();
            if self.ends.val() {
                self.word_bytes.next = self.lane_bytes.val() - bit_cast::<7, 6>(self.empty.val());
            }
        }
        self.bytes.next = (bit_cast::<7, 3>(self.count.q.val()) << self.lane_bytes_log2.val())
            + self.word_bytes.val();
        self.ends_block.next =
            self.partial.val() | self.marks.val() | self.ends.val() | self.flush_due.val();
        self.ends_packet.next = self.completes.val() & self.ends.val();
        self.flags.next = bit_cast::<G, 1>(self.ends_block.val().into())
            | (bit_cast::<G, 1>(self.ends_packet.val().into()) << 1)
            | (bit_cast::<G, 1>(self.flush_due.val().into()) << 2);
        self.content.next = bit_cast::<G, F>(self.joined.val())
            | (bit_cast::<G, 7>(self.bytes.val()) << self.bytes_at.val());
        if self.marks.val() {
            self.content.next = bit_cast::<G, 15>(self.lost_next.val());
        }
        self.beat.next = self.content.val() | (self.flags.val() << self.end_at.val());
        self.some.next = self.any.q.val();
        if self.take.val() {
            self.gathered.d.next = self.joined.val();
            self.count.d.next = self.count.q.val() + 1;
            self.any.d.next = true;
        }
        if self.push.val() {
            self.gathered.d.next = 0.into();
            self.count.d.next = 0.into();
            self.any.d.next = false;
            self.flushed.d.next = self.flush.val();
        }
        if self.reset.val() {
            self.gathered.d.next = 0.into();
            self.count.d.next = 0.into();
            self.any.d.next = false;
            self.flushed.d.next = false;
        }
    }
}
