//! The adapter between the engine's port and tagged streams, as an adapter to transaction layer packets
//! would take them: posted bursts, read requests with a tag, and completions by tag, in any order, with a
//! status. It keeps no data: a chunk of a completion goes straight to its place.
//!
//! A read that is not answered in time is written off: its end is made up, and its tag stays unused until
//! the late completion has come in full, or the driver lets go. Other reads go on. Reads that flush are
//! kept apart, in [`super::flushes`].
//!
//! The engine may be reset while the port is not: reads under way are lost then, all of them.
//!
//! A port that takes nothing for as long is dead, as with [`super::txs`].

use super::{flushes::Flushes, poster::Poster};
use crate::prim::{ForwardRam, SmallFifo, SmallRam};
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// The adapter for streams of `W` bits and `B` bytes.
#[derive(DocBlock)]
pub struct StreamAdapter<const W: usize, const B: usize> {
    pub pcie_clk: Signal<In, Clock>,
    /// With the bus: nothing is owed any more.
    pub port_reset: Signal<In, Bit>,
    /// The engine is reset, the bus is not.
    pub port_clear: Signal<In, Bit>,
    // The engine's side, as in [`super::txs`].
    pub port_write: Signal<In, Bit>,
    pub port_write_address: Signal<In, Bits<64>>,
    pub port_write_beats: Signal<In, Bits<6>>,
    pub port_beat: Signal<In, Bit>,
    pub port_beat_data: Signal<In, Bits<W>>,
    pub port_beat_enable: Signal<In, Bits<B>>,
    pub port_beat_take: Signal<Out, Bit>,
    pub port_write_done: Signal<Out, Bit>,
    pub port_read: Signal<In, Bit>,
    pub port_read_address: Signal<In, Bits<64>>,
    pub port_read_beats: Signal<In, Bits<6>>,
    pub port_read_bytes: Signal<In, Bits<10>>,
    pub port_read_tag: Signal<In, Bits<6>>,
    pub port_read_take: Signal<Out, Bit>,
    pub port_flush: Signal<In, Bit>,
    pub port_flush_address: Signal<In, Bits<64>>,
    pub port_flush_take: Signal<Out, Bit>,
    pub port_flushed: Signal<Out, Bit>,
    pub port_flush_error: Signal<Out, Bit>,
    pub port_record: Signal<In, Bit>,
    pub port_record_address: Signal<In, Bits<64>>,
    pub port_record_data: Signal<In, Bits<256>>,
    pub port_record_take: Signal<Out, Bit>,
    pub port_message: Signal<In, Bit>,
    pub port_message_address: Signal<In, Bits<64>>,
    pub port_message_data: Signal<In, Bits<32>>,
    pub port_message_take: Signal<Out, Bit>,
    pub port_chunk: Signal<Out, Bit>,
    pub port_chunk_tag: Signal<Out, Bits<6>>,
    pub port_chunk_bytes: Signal<Out, Bits<10>>,
    pub port_chunk_code: Signal<Out, Bits<4>>,
    pub port_completion: Signal<Out, Bit>,
    pub port_completion_data: Signal<Out, Bits<W>>,
    pub port_completion_error: Signal<Out, Bit>,
    pub port_lost: Signal<Out, Bits<64>>,
    pub port_timeout: Signal<In, Bits<32>>,
    pub port_release: Signal<In, Bit>,
    pub port_pace: Signal<In, Bits<16>>,
    pub port_reads_down: Signal<Out, Bit>,
    pub port_quarantine: Signal<Out, Bit>,
    pub port_dead: Signal<Out, Bit>,
    pub port_free: Signal<Out, Bit>,
    pub port_sent: Signal<Out, Bit>,
    pub port_rinses: Signal<Out, Bit>,
    pub port_asked: Signal<Out, Bit>,
    pub port_stalled: Signal<Out, Bit>,
    pub port_stalled_tags: Signal<Out, Bit>,
    pub port_tagged: Signal<Out, Bit>,
    // Posted writes: address and length stand for a whole burst.
    pub post_valid: Signal<Out, Bit>,
    pub post_ready: Signal<In, Bit>,
    pub post_address: Signal<Out, Bits<64>>,
    pub post_beats: Signal<Out, Bits<6>>,
    pub post_data: Signal<Out, Bits<W>>,
    pub post_enable: Signal<Out, Bits<B>>,
    // Reads: byte address, 1 to 512 bytes. Tags 0 to 63 bring data, 64 to 71 only flush.
    pub ask_valid: Signal<Out, Bit>,
    pub ask_ready: Signal<In, Bit>,
    pub ask_address: Signal<Out, Bits<64>>,
    pub ask_bytes: Signal<Out, Bits<10>>,
    pub ask_tag: Signal<Out, Bits<7>>,
    // Completions in chunks, never refused. Tag, bytes and code come with the first beat; the code is 0
    // for data, 1 Unsupported Request, 2 Completer Abort, 3 poisoned; one with a code has a single beat
    // and ends its read. Byte `a` of the bus stands in lane `a` modulo `B`; all chunks of a read but the
    // last end at a multiple of `B`.
    pub answer_valid: Signal<In, Bit>,
    pub answer_first: Signal<In, Bit>,
    pub answer_tag: Signal<In, Bits<7>>,
    pub answer_bytes: Signal<In, Bits<10>>,
    pub answer_code: Signal<In, Bits<3>>,
    pub answer_data: Signal<In, Bits<W>>,

    poster: Poster<W, B>,
    asking: DFF<Bit>,
    ask_at: DFF<Bits<64>>,
    ask_size: DFF<Bits<10>>,
    ask_as: DFF<Bits<7>>,
    // Reads under way, by tag: whether they are, whether nothing has come, bytes in all and bytes left.
    open: DFF<Bits<64>>,
    fresh_tags: DFF<Bits<64>>,
    /// Written as a read is taken, read for its answers: those come cycles later.
    #[given]
    sizes: SmallRam<15, 6>,
    #[given]
    left: ForwardRam<10, 6>,
    /// Written off, and the completion may still come.
    lost: DFF<Bits<64>>,
    dropping: DFF<Bit>,
    /// What stood at the port of reads in the last cycle was taken.
    asked: DFF<Bit>,
    /// The last beats of a late completion: its tag is free behind them.
    ending: DFF<Bits<64>>,
    beats_left: DFF<Bits<6>>,
    /// Tags in the order of their requests, with the time.
    #[given]
    order: SmallFifo<38, 6, 7>,
    now: DFF<Bits<32>>,
    /// Reads that flush have tags and a time of their own: neither waits for the other.
    flushes: Flushes,

    ask_waiting: Signal<Local, Bit>,
    ask_free: Signal<Local, Bit>,
    take_read: Signal<Local, Bit>,
    absorb: Signal<Local, Bit>,
    is_flush: Signal<Local, Bit>,
    tag_bit: Signal<Local, Bits<64>>,
    known: Signal<Local, Bit>,
    late: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    left_now: Signal<Local, Bits<10>>,
    completes: Signal<Local, Bit>,
    first_lane: Signal<Local, Bits<5>>,
    span: Signal<Local, Bits<11>>,
    frees: Signal<Local, Bits<64>>,
    opens: Signal<Local, Bits<64>>,
    closes: Signal<Local, Bits<64>>,
    front_bit: Signal<Local, Bits<64>>,
    front_open: Signal<Local, Bit>,
    front_late: Signal<Local, Bit>,
    lose: Signal<Local, Bit>,
    loses: Signal<Local, Bits<64>>,

    lane_mask: Constant<Bits<64>>,
    beat_round: Constant<Bits<11>>,
    beat_shift: Constant<Bits<3>>,
    tags: Constant<Bits<64>>,
    one: Constant<Bits<64>>,
}

impl<const W: usize, const B: usize> StreamAdapter<W, B> {
    /// An adapter for `2^reads_log2` tags.
    pub fn new(reads_log2: usize) -> Self {
        Self::fresh(StreamAdapterGiven {
            sizes: SmallRam::new(reads_log2),
            left: ForwardRam::new(reads_log2),
            order: SmallFifo::new(6),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            tags: Constant::new(super::channel_mask(reads_log2)),
            one: Constant::new(1.into()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for StreamAdapter<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, pcie_clk, asking, ask_at, ask_size, ask_as, open, fresh_tags, lost, dropping,
            ending, beats_left, now, asked
        );
        clock!(self, pcie_clk, poster, flushes, sizes, left, order);
        self.poster.reset.next = self.port_reset.val();
        self.poster.clear.next = self.port_clear.val();
        self.flushes.reset.next = self.port_reset.val();
        self.flushes.clear.next = self.port_clear.val();
        self.order.reset.next = self.port_reset.val() | self.port_clear.val();
        self.now.d.next = self.now.q.val() + 1;
        self.post_valid.next = self.poster.posting.val();
        self.post_address.next = self.poster.address.val();
        self.post_beats.next = self.poster.beats.val();
        self.post_data.next = self.poster.data.val();
        self.post_enable.next = self.poster.enable.val();
        self.poster.ready.next = self.post_ready.val();
        self.ask_valid.next = self.asking.q.val();
        self.ask_address.next = self.ask_at.q.val();
        self.ask_bytes.next = self.ask_size.q.val();
        self.ask_tag.next = self.ask_as.q.val();
        self.port_tagged.next = true;
        self.port_lost.next = self.lost.q.val();
        self.port_quarantine.next = self.lost.q.val().any() | self.flushes.quarantine.val();
        self.port_dead.next = self.poster.dead.val();
        self.port_reads_down.next =
            self.poster.dead.val() | ((self.lost.q.val() & self.tags.val()) == self.tags.val());
        self.ask_waiting.next = self.asking.q.val() & !self.ask_ready.val();
        self.port_stalled.next = self.poster.waiting.val();
        self.port_stalled_tags.next = self.ask_waiting.val();
        self.ask_free.next =
            !self.ask_waiting.val() & !self.poster.dead.val() & !self.port_clear.val();
        self.asked.d.next = !self.ask_waiting.val() | self.poster.dead.val();
        self.port_asked.next = self.asked.q.val();
        self.port_sent.next = self.poster.sent.val();
        self.port_rinses.next = self.poster.rinses.val();
        self.port_free.next =
            (!self.poster.waiting.val() & !self.ask_waiting.val()) | self.poster.dead.val();

        // Posted. Reads have a way of their own.
        self.poster.write.next = self.port_write.val();
        self.poster.write_address.next = self.port_write_address.val();
        self.poster.write_beats.next = self.port_write_beats.val();
        self.poster.beat.next = self.port_beat.val();
        self.poster.beat_data.next = self.port_beat_data.val();
        self.poster.beat_enable.next = self.port_beat_enable.val();
        self.port_beat_take.next = self.poster.beat_take.val();
        self.port_write_done.next = self.poster.write_done.val();
        self.poster.record.next = self.port_record.val();
        self.poster.record_address.next = self.port_record_address.val();
        self.poster.record_data.next = self.port_record_data.val();
        self.port_record_take.next = self.poster.record_take.val();
        self.poster.message.next = self.port_message.val();
        self.poster.message_address.next = self.port_message_address.val();
        self.poster.message_data.next = self.port_message_data.val();
        self.port_message_take.next = self.poster.message_take.val();
        self.poster.hold.next = false;
        self.poster.other.next = false;
        self.poster.other_address.next = 0.into();
        self.poster.other_beats.next = 0.into();
        self.poster.timeout.next = self.port_timeout.val();
        self.poster.also_waiting.next = self.ask_waiting.val();

        // Reads. One that flushes leaves when the writes before it have.
        self.flushes.flush.next = self.port_flush.val();
        self.flushes.may_leave.next = self.ask_free.val() & !self.poster.waiting.val();
        self.flushes.dead.next = self.poster.dead.val();
        self.flushes.now.next = self.now.q.val();
        self.flushes.timeout.next = self.port_timeout.val();
        self.flushes.let_go.next = self.port_release.val();
        self.port_flush_take.next = self.flushes.take.val();
        self.take_read.next = self.port_read.val()
            & self.ask_free.val()
            & !self.order.full.val()
            & !self.flushes.leaves.val();
        if !self.ask_waiting.val() {
            self.asking.d.next = self.take_read.val() | self.flushes.leaves.val();
        }
        if self.flushes.leaves.val() {
            self.ask_at.d.next = self.port_flush_address.val();
            self.ask_size.d.next = 4.into();
            self.ask_as.d.next = bit_cast::<7, 3>(self.flushes.tag.val()) | bits::<7>(64);
        } else if self.take_read.val() {
            self.ask_at.d.next = self.port_read_address.val();
            self.ask_size.d.next = self.port_read_bytes.val();
            self.ask_as.d.next = bit_cast::<7, 6>(self.port_read_tag.val());
        }
        self.order.push.next = self.take_read.val();
        self.order.data_in.next = bit_cast::<38, 6>(self.port_read_tag.val())
            | (bit_cast::<38, 32>(self.now.q.val()) << 6);
        self.opens.next = 0.into();
        if self.take_read.val() {
            self.opens.next = self.one.val() << self.port_read_tag.val();
        }
        self.sizes.write_enable.next = self.take_read.val();
        self.sizes.write_address.next = self.port_read_tag.val();
        self.sizes.write_data.next = bit_cast::<15, 10>(self.port_read_bytes.val())
            | (bit_cast::<15, 5>(bit_cast::<5, 64>(
                self.port_read_address.val() & self.lane_mask.val(),
            )) << 10);

        // Completions.
        self.is_flush.next = self.answer_tag.val().get_bit(6);
        self.tag_bit.next = self.one.val() << self.answer_tag.val().get_bits::<6>(0);
        self.known.next = (self.open.q.val() & self.tag_bit.val()).any() & !self.is_flush.val();
        self.late.next = (self.lost.q.val() & self.tag_bit.val()).any() & !self.is_flush.val();
        self.refused.next = self.answer_code.val().any();
        self.sizes.read_address.next = self.answer_tag.val().get_bits::<6>(0);
        self.left.read_address.next = self.answer_tag.val().get_bits::<6>(0);
        self.left_now.next = self.left.read_data.val();
        self.first_lane.next = 0.into();
        if (self.fresh_tags.q.val() & self.tag_bit.val()).any() {
            self.left_now.next = self.sizes.read_data.val().get_bits::<10>(0);
            self.first_lane.next = self.sizes.read_data.val().get_bits::<5>(10);
        }
        self.completes.next = self.answer_valid.val()
            & self.answer_first.val()
            & (self.known.val() | self.late.val())
            & (self.refused.val() | (self.left_now.val() == self.answer_bytes.val()));
        self.left.write_enable.next =
            self.answer_valid.val() & self.answer_first.val() & !self.is_flush.val();
        self.left.write_address.next = self.answer_tag.val().get_bits::<6>(0);
        self.left.write_data.next = self.left_now.val() - self.answer_bytes.val();
        self.closes.next = 0.into();
        if self.completes.val() {
            self.closes.next = self.tag_bit.val();
        }
        self.span.next = bit_cast::<11, 5>(self.first_lane.val())
            + bit_cast::<11, 10>(self.answer_bytes.val())
            + self.beat_round.val();
        self.frees.next = 0.into();
        if self.answer_valid.val() & self.beats_left.q.val().any() {
            self.beats_left.d.next = self.beats_left.q.val() - 1;
            if self.beats_left.q.val() == 1 {
                self.frees.next = self.ending.q.val();
            }
        }
        if self.completes.val() & self.late.val() {
            self.ending.d.next = self.tag_bit.val();
            self.beats_left.d.next =
                bit_cast::<6, 11>(self.span.val() >> self.beat_shift.val()) - 1;
            if self.refused.val() | ((self.span.val() >> self.beat_shift.val()) == 1) {
                self.beats_left.d.next = 0.into();
                self.frees.next = self.tag_bit.val();
            }
        }
        self.fresh_tags.d.next = self.fresh_tags.q.val() | self.opens.val();
        if self.answer_valid.val() & self.answer_first.val() & !self.is_flush.val() {
            self.fresh_tags.d.next =
                (self.fresh_tags.q.val() & !self.tag_bit.val()) | self.opens.val();
        }
        if self.answer_valid.val() & self.answer_first.val() {
            self.dropping.d.next = !self.known.val();
        }

        // The oldest request: over, or late.
        self.front_bit.next = self.one.val() << self.order.data.val().get_bits::<6>(0);
        self.front_open.next = (self.open.q.val() & self.front_bit.val()).any();
        self.front_late.next = self.port_timeout.val().any()
            & ((self.now.q.val() - self.order.data.val().get_bits::<32>(6))
                >= self.port_timeout.val());
        self.lose.next = self.order.valid.val()
            & self.front_open.val()
            & self.front_late.val()
            & !self.answer_valid.val();
        self.order.pop.next = self.order.valid.val() & (!self.front_open.val() | self.lose.val());
        self.loses.next = 0.into();
        if self.lose.val() {
            self.loses.next = self.front_bit.val();
        }
        self.open.d.next = ((self.open.q.val() & !self.closes.val() & !self.loses.val())
            | self.opens.val())
            & self.tags.val();
        self.lost.d.next =
            ((self.lost.q.val() & !self.frees.val()) | self.loses.val()) & self.tags.val();

        // What the engine hears of flush reads.
        self.flushes.answered.next =
            self.answer_valid.val() & self.answer_first.val() & self.is_flush.val();
        self.flushes.answered_tag.next = self.answer_tag.val().get_bits::<3>(0);
        self.flushes.refused.next = self.refused.val();
        self.port_flushed.next = self.flushes.ended.val();
        self.port_flush_error.next = self.flushes.failed.val();

        // What the engine hears of reads. To a dead port they end at once.
        self.absorb.next = self.port_read.val()
            & self.poster.dead.val()
            & !self.answer_valid.val()
            & !self.lose.val();
        self.port_read_take.next = self.take_read.val() | self.absorb.val();
        self.port_chunk.next =
            (self.answer_valid.val() & self.answer_first.val() & self.known.val())
                | self.lose.val()
                | self.absorb.val();
        self.port_chunk_tag.next = self.answer_tag.val().get_bits::<6>(0);
        self.port_chunk_bytes.next = self.answer_bytes.val();
        self.port_chunk_code.next = 0.into();
        if self.absorb.val() {
            self.port_chunk_tag.next = self.port_read_tag.val();
            self.port_chunk_code.next = 8.into();
        } else if self.lose.val() {
            self.port_chunk_tag.next = self.order.data.val().get_bits::<6>(0);
            self.port_chunk_code.next = 7.into();
        } else if self.refused.val() {
            self.port_chunk_code.next = bit_cast::<4, 3>(self.answer_code.val()) + 12;
        }
        self.port_completion.next = self.answer_valid.val()
            & ((self.answer_first.val() & self.known.val() & !self.refused.val())
                | (!self.answer_first.val() & !self.dropping.q.val()));
        self.port_completion_data.next = self.answer_data.val();
        self.port_completion_error.next = false;
        if self.port_release.val() {
            self.lost.d.next = 0.into();
        }

        if self.port_clear.val() {
            self.open.d.next = 0.into();
            self.lost.d.next = ((self.lost.q.val() & !self.frees.val())
                | (self.open.q.val() & !self.closes.val()))
                & self.tags.val();
            self.dropping.d.next = true;
        }
        if self.port_reset.val() {
            self.asking.d.next = false;
            self.open.d.next = 0.into();
            self.lost.d.next = 0.into();
            self.beats_left.d.next = 0.into();
            self.fresh_tags.d.next = 0.into();
        }
    }
}
