//! The adapter between the engine's port and tagged streams, as an adapter to transaction layer packets would
//! accept them: posted bursts, read requests with a tag, and completions by tag, in any order, with a status.
//! It stores no data: a chunk of a completion goes straight to its place.
//!
//! A read that is not answered in time is written off: the adapter reports its end itself, and its tag stays
//! unused until the late completion has come in full, or the driver releases the tag. Other reads go on. Flush
//! reads are kept apart, in [`super::flushes`].
//!
//! The engine may be reset while the port is not. All reads in flight are lost then.
//!
//! A port that accepts nothing for `timeout` cycles is dead, as in [`super::poster`].

mod completions;

use super::ports::{AnswerSource, FlushSink, PortAdapter, PostSink, ReadSink, WriteSink};
use super::status::Status;
use super::words::{ReadSize, ReadTurn};
use super::{flushes::Flushes, poster::Poster};
use crate::prim::{ForwardRam, Part, SmallFifo, SmallRam, parts};
use completions::Completions;
use peerlane_core::regs::StatusCode;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The adapter for streams of `W` bits and `B` bytes.
#[derive(DocBlock)]
pub struct StreamAdapter<const W: usize, const B: usize> {
    pub pcie_clk: Signal<In, Clock>,
    /// With the bus: nothing is owed any more.
    pub port: PortAdapter,
    /// The engine's side, as in [`super::txs`].
    pub port_write: WriteSink<W, B>,
    pub port_read: ReadSink,
    pub port_flush: FlushSink,
    pub port_record: PostSink<256>,
    pub port_message: PostSink<32>,
    pub port_answer: AnswerSource<W>,
    /// Posted writes: address and length stay for a whole burst.
    pub post_valid: Signal<Out, Bit>,
    pub post_ready: Signal<In, Bit>,
    pub post_address: Signal<Out, Bits<64>>,
    pub post_beats: Signal<Out, Bits<6>>,
    pub post_data: Signal<Out, Bits<W>>,
    pub post_enable: Signal<Out, Bits<B>>,
    /// Reads: byte address, 1 to 512 bytes. Tags 0 to 63 bring data, 64 to 71 only flush.
    pub ask_valid: Signal<Out, Bit>,
    pub ask_ready: Signal<In, Bit>,
    pub ask_address: Signal<Out, Bits<64>>,
    pub ask_bytes: Signal<Out, Bits<10>>,
    pub ask_tag: Signal<Out, Bits<7>>,
    /// Completions in chunks, never refused. Tag, bytes and code come with the first beat; the code is 0 for data, 1
    /// Unsupported Request, 2 Completer Abort, 3 poisoned, 4 given up by the port; a chunk with another code than 0 has
    /// a single beat and ends its read. Byte `a` of the bus is in lane `a` modulo `B`; all chunks of a read but the
    /// last end at a multiple of `B`.
    pub answer_valid: Signal<In, Bit>,
    pub answer_first: Signal<In, Bit>,
    pub answer_tag: Signal<In, Bits<7>>,
    pub answer_bytes: Signal<In, Bits<10>>,
    pub answer_code: Signal<In, Bits<3>>,
    pub answer_data: Signal<In, Bits<W>>,
    /// The beat and the later beats of its chunk have no data: they are lost. If the chunk is the last of its read, the
    /// read ends as given up; else no more of it comes.
    pub answer_error: Signal<In, Bit>,

    #[given]
    poster: Poster<W, B>,
    asking: DFF<Bit>,
    ask_at: DFF<Bits<64>>,
    ask_size: DFF<Bits<10>>,
    ask_as: DFF<Bits<7>>,
    /// Reads under way, by tag: whether they are, whether nothing has come, bytes in all and bytes left.
    open: DFF<Bits<64>>,
    fresh_tags: DFF<Bits<64>>,
    /// Written as a read is taken, read for its answers: those come cycles later.
    #[given]
    sizes: SmallRam<ReadSize, 6>,
    #[given]
    left: ForwardRam<Bits<10>, 6>,
    /// Written off, and the completion may still come.
    lost: DFF<Bits<64>>,
    dropping: DFF<Bit>,
    /// The read at the port in the last cycle was taken, or there was none.
    asked: DFF<Bit>,
    /// The last beats of a late completion: its tag is free after them.
    ending: DFF<Bits<64>>,
    beats_left: DFF<Bits<6>>,
    /// Tags in the order of their requests, with the time.
    #[given]
    order: SmallFifo<ReadTurn, 6, 7>,
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
    status: Status,
    /// The status code before that of Unsupported Request, which is code 1 of an answer.
    refusals: Constant<Bits<5>>,
}

impl<const W: usize, const B: usize> StreamAdapter<W, B> {
    /// An adapter for `2^reads_log2` tags.
    pub fn new(reads_log2: usize) -> Self {
        Self::fresh(StreamAdapterGiven {
            poster: Poster::new(true),
            sizes: SmallRam::new(reads_log2),
            left: ForwardRam::new(reads_log2),
            order: SmallFifo::new(6),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            tags: Constant::new(super::channel_mask(reads_log2)),
            one: Constant::new(1.into()),
            refusals: Constant::new((StatusCode::Unsupported as u64 - 1).into()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for StreamAdapter<W, B> {
    parts!(Requests, Completions);
}

/// Sends posted bursts and reads.
struct Requests;

impl<const W: usize, const B: usize> Part<Requests> for StreamAdapter<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, pcie_clk, asking, ask_at, ask_size, ask_as, open, fresh_tags, lost, dropping,
            ending, beats_left, now, asked
        );
        clock!(self, pcie_clk, poster, flushes, sizes, left, order);
        self.poster.reset.next = self.port.reset.val();
        self.poster.clear.next = self.port.clear.val();
        self.flushes.reset.next = self.port.reset.val();
        self.flushes.clear.next = self.port.clear.val();
        self.order.reset.next = self.port.reset.val() | self.port.clear.val();
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
        self.port.tagged.next = true;
        self.port.lost.next = self.lost.q.val();
        self.port.quarantine.next = self.lost.q.val().any() | self.flushes.quarantine.val();
        self.port.dead.next = self.poster.dead.val();
        self.port.reads_down.next =
            self.poster.dead.val() | ((self.lost.q.val() & self.tags.val()) == self.tags.val());
        self.ask_waiting.next = self.asking.q.val() & !self.ask_ready.val();
        self.port.stalled.next = self.poster.waiting.val();
        self.port.stalled_tags.next = self.ask_waiting.val();
        self.ask_free.next =
            !self.ask_waiting.val() & !self.poster.dead.val() & !self.port.clear.val();
        self.asked.d.next = !self.ask_waiting.val() | self.poster.dead.val();
        self.port.asked.next = self.asked.q.val();
        self.port.sent.next = self.poster.sent.val();
        self.port.rinses.next = self.poster.rinses.val();
        self.port.free.next =
            (!self.poster.waiting.val() & !self.ask_waiting.val()) | self.poster.dead.val();

        // Posted. Reads have a way of their own.
        WriteSink::<W, B>::link(&mut self.port_write, &mut self.poster.write);
        PostSink::<256>::link(&mut self.port_record, &mut self.poster.record);
        PostSink::<32>::link(&mut self.port_message, &mut self.poster.message);
        self.poster.hold.next = false;
        self.poster.other.next = false;
        self.poster.other_address.next = 0.into();
        self.poster.other_beats.next = 0.into();
        self.poster.timeout.next = self.port.timeout.val();
        self.poster.also_waiting.next = self.ask_waiting.val();

        // Reads. One that flushes leaves when the writes before it have.
        self.flushes.flush.next = self.port_flush.valid.val();
        self.flushes.may_leave.next = self.ask_free.val() & !self.poster.waiting.val();
        self.flushes.dead.next = self.poster.dead.val();
        self.flushes.now.next = self.now.q.val();
        self.flushes.timeout.next = self.port.timeout.val();
        self.flushes.let_go.next = self.port.release.val();
        self.port_flush.take.next = self.flushes.take.val();
        self.take_read.next = self.port_read.valid.val()
            & self.ask_free.val()
            & !self.order.full.val()
            & !self.flushes.leaves.val();
        if !self.ask_waiting.val() {
            self.asking.d.next = self.take_read.val() | self.flushes.leaves.val();
        }
        if self.flushes.leaves.val() {
            self.ask_at.d.next = self.port_flush.address.val();
            self.ask_size.d.next = 4.into();
            self.ask_as.d.next = bit_cast::<7, 3>(self.flushes.tag.val()) | bits::<7>(64);
        } else if self.take_read.val() {
            self.ask_at.d.next = self.port_read.address.val();
            self.ask_size.d.next = self.port_read.bytes.val();
            self.ask_as.d.next = bit_cast::<7, 6>(self.port_read.tag.val());
        }
        self.order.push.next = self.take_read.val();
        self.order.data_in.next.tag = self.port_read.tag.val();
        self.order.data_in.next.time = self.now.q.val();
        self.opens.next = 0.into();
        if self.take_read.val() {
            self.opens.next = self.one.val() << self.port_read.tag.val();
        }
        self.sizes.write_enable.next = self.take_read.val();
        self.sizes.write_address.next = self.port_read.tag.val();
        self.sizes.write_data.next.bytes = self.port_read.bytes.val();
        self.sizes.write_data.next.lane =
            bit_cast::<5, 64>(self.port_read.address.val() & self.lane_mask.val());
    }
}
