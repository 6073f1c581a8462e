//! FPGA memory → peer. A request becomes a memory read command (into the memory clock), an alignment job, and a head
//! (the place of the burst and the report of its end). The data come back in order.
//!
//! After a reset of this block that does not reset the memory, the memory may owe words to commands from before. A
//! command that is at the port is held until it is accepted, owed words are counted and dropped, and then the first
//! command from after the reset leaves.

mod bursts;
mod ends;
mod intake;

use super::align::Align;
use super::ports::{EndSource, FlushSource, MemoryReadMaster, RequestSink, WriteSource};
use super::status::Status;
use super::words::{Head, MemoryRead, Sent, WriteEnd, WriteJob};
use crate::prim::{AsyncFifo, BlockFifo, ForwardRam, Part, SmallFifo, parts};
use bursts::{Bursts, Gone};
use ends::Ends;
use intake::{Intake, Memory, Placing};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// The write direction after its request maker; `W` bits, `B` bytes a beat.
#[derive(DocBlock)]
pub struct WritePath<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requests.
    pub request: RequestSink,
    pub may_flush: Signal<In, Bit>,
    /// Clears the count of one channel a cycle, after a reset.
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    /// The port.
    pub write: WriteSource<W, B>,
    /// The port is dead: it drops all that it takes.
    pub port_dead: Signal<In, Bit>,
    /// All requests begin and end at whole dwords of the peer.
    pub whole_dwords: Signal<In, Bit>,
    /// Flush reads, answered in order.
    pub flush: FlushSource,
    pub flush_error: Signal<In, Bit>,
    /// Ends of descriptors that are reported; all signals stay until taken.
    pub end: EndSource,
    /// A descriptor has ended, reported or not: `end_channel`, `end_code`.
    pub ended: Signal<Out, Bit>,
    /// Counting.
    pub moved: Signal<Out, Bits<10>>,
    pub moved_channel: Signal<Out, Bits<6>>,
    pub requested: Signal<Out, Bit>,
    /// A request has left, or was dropped.
    pub retired: Signal<Out, Bit>,
    /// Ends that are not yet out.
    pub ends_waiting: Signal<Out, Bits<9>>,
    pub starved: Signal<Out, Bit>,
    /// Beats of streams, in the order of their requests, and the headers of blocks.
    pub stream_beat: Signal<In, Bit>,
    pub stream_data: Signal<In, Bits<W>>,
    pub stream_take: Signal<Out, Bit>,
    pub stream_header: Signal<In, Bits<64>>,
    pub stream_header_take: Signal<Out, Bit>,
    /// FPGA memory, in its own clock.
    pub mem_clock: Signal<In, Clock>,
    pub mem_reset: Signal<In, Bit>,
    /// The memory is reset, too, and owes nothing.
    pub mem_forgets: Signal<In, Bit>,
    pub mem_rd: MemoryReadMaster,

    /// A command comes a cycle after its request, with the words that it claims.
    commands: AsyncFifo<MemoryRead, 5, 6>,
    asks_at: DFF<Bits<34>>,
    words: AsyncFifo<Bits<512>, 6, 7>,
    /// In the memory clock: words asked for in the last cycle; words owed before; some are owed; a command from before
    /// a reset is at the port; the words that are owed are from before a reset.
    asked: DFF<Bits<4>>,
    owed: DFF<Bits<7>>,
    owes: DFF<Bit>,
    stuck: DFF<Bit>,
    rinsing: DFF<Bit>,
    mem_closed: Signal<Local, Bit>,
    mem_asks: Signal<Local, Bit>,
    owed_next: Signal<Local, Bits<7>>,
    jobs: SmallFifo<WriteJob, 5, 6>,
    heads: SmallFifo<Head, 5, 6>,
    /// The head that comes, the one whose burst is next, and the one whose burst has just left.
    next_on: DFF<Bit>,
    next_head: DFF<Head>,
    head_on: DFF<Bit>,
    head: DFF<Head>,
    gone_on: DFF<Bit>,
    gone: DFF<Head>,
    gone_lost: DFF<Bit>,
    /// The burst is to be followed by a flush read, if it is the last of its descriptor.
    gone_flush: DFF<Bit>,
    has_room: DFF<Bit>,
    align: Align<W, B>,
    beats_out: SmallFifo<Bits<W>, 4, 5>,
    enables_out: SmallFifo<Bits<B>, 4, 5>,
    /// Memory words asked for and not yet used up; the word FIFO holds them all.
    reserved: DFF<Bits<8>>,
    /// Memory words of the request of the last cycle.
    claimed: DFF<Bits<4>>,
    /// Room for some more ends, as of the last cycle.
    ends_room: DFF<Bit>,
    next_load: Signal<Local, Bit>,
    /// State of each channel's descriptor.
    #[given]
    done: ForwardRam<Sent, 6>,
    /// Ends that wait for their flush or their record, and later ones: they leave in order.
    #[given]
    ends: BlockFifo<WriteEnd, 8, 9>,
    /// The end that goes there: a short path into the memory. The number of ends, with that one.
    end_on: DFF<Bit>,
    end_next: DFF<WriteEnd>,
    ends_count: DFF<Bits<9>>,
    flushes: SmallFifo<Bits<64>, 4, 5>,
    /// The oldest flush waits at the port; it was taken in the last cycle, and is still counted.
    flush_on: DFF<Bit>,
    flush_gone: DFF<Bit>,
    flush_results: SmallFifo<Bits<1>, 5, 6>,
    /// Flush reads that were taken and whose results no end has used: not more than there is room for.
    unused_flushes: DFF<Bits<5>>,
    /// The oldest end wants no record, and leaves; an end has just left. So an end without a record does not leave in
    /// the two cycles after another one.
    silent: DFF<Bit>,
    end_left: DFF<Bit>,
    flushed_on: DFF<Bit>,
    flushed_bad: DFF<Bit>,
    /// The oldest result.
    result_on: DFF<Bit>,
    result: DFF<Bit>,
    result_used: Signal<Local, Bit>,
    result_load: Signal<Local, Bit>,

    room: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    real: Signal<Local, Bit>,
    /// It has data of FPGA memory.
    stored: Signal<Local, Bit>,
    need: Signal<Local, Bits<4>>,
    word_span: Signal<Local, Bits<11>>,
    beat_span: Signal<Local, Bits<11>>,
    word_pop: Signal<Local, Bit>,
    piece: Signal<Local, Bits<512>>,
    head_real: Signal<Local, Bit>,
    head_load: Signal<Local, Bit>,
    head_pop: Signal<Local, Bit>,
    gone_real: Signal<Local, Bit>,
    gone_bytes: Signal<Local, Bits<10>>,
    gone_code: Signal<Local, Bits<5>>,
    gone_end: Signal<Local, Bit>,
    /// It, or an earlier burst of its descriptor, was lost.
    any_lost: Signal<Local, Bit>,
    gone_total: Signal<Local, Bits<32>>,
    gone_adds: Signal<Local, Bits<10>>,
    gone_last: Signal<Local, Bit>,
    gone_reports: Signal<Local, Bit>,
    gone_channel: Signal<Local, Bits<6>>,
    gone_fault: Signal<Local, Bits<64>>,
    needs_flush: Signal<Local, Bit>,
    end_pop: Signal<Local, Bit>,

    enables_in: Signal<Local, Bits<B>>,
    /// The first lane of each dword.
    first_lanes: Constant<Bits<B>>,
    every_lane: Constant<Bits<B>>,
    lane_mask: Constant<Bits<5>>,
    beat_round: Constant<Bits<11>>,
    beat_shift: Constant<Bits<3>>,
    place_mask: Constant<Bits<2>>,
    place_shift: Constant<Bits<4>>,
    most_reserved: Constant<Bits<8>>,
    status: Status,
}

impl<const W: usize, const B: usize> WritePath<W, B> {
    /// A write direction for `2^channels_log2` channels.
    pub fn new(channels_log2: usize) -> Self {
        Self::fresh(WritePathGiven {
            done: ForwardRam::new(channels_log2),
            ends: BlockFifo::new(8),
            first_lanes: Constant::new((0x1111_1111_u64 >> (32 - B)).into()),
            every_lane: Constant::new(Bits::<B>::mask()),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            place_mask: Constant::new((64 / B as u64 - 1).into()),
            place_shift: Constant::new(u64::from(W.trailing_zeros()).into()),
            // 64 words in all, 9 at most for the next request. Accepted requests go ahead of the channels' turns, so
            // there are not more than needed to cover about half a microsecond of memory latency.
            most_reserved: Constant::new((if B == 16 { 32 } else { 64 - 9 }).into()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for WritePath<W, B> {
    parts!(Setup, Intake, Memory, Placing, Bursts, Gone, Ends);
}

/// Clocks and resets of the parts.
struct Setup;

impl<const W: usize, const B: usize> Part<Setup> for WritePath<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            flushed_on,
            flushed_bad,
            result_on,
            result,
            unused_flushes,
            flush_on,
            flush_gone,
            end_on,
            end_next,
            ends_count,
            silent,
            end_left,
            asks_at,
            reserved,
            claimed,
            ends_room,
            next_on,
            next_head,
            head_on,
            head,
            gone_on,
            gone,
            gone_lost,
            gone_flush,
            has_room
        );
        dff_setup!(self, mem_clock, asked, owed, owes, stuck, rinsing);
        clock!(
            self,
            clock,
            jobs,
            heads,
            align,
            beats_out,
            enables_out,
            done,
            ends,
            flushes,
            flush_results
        );
        self.mem_closed.next = self.mem_reset.val() | self.rinsing.q.val();
        self.ends.reset.next = self.reset.val();
        self.flushes.reset.next = self.reset.val();
        self.flush_results.reset.next = self.reset.val();
        self.jobs.reset.next = self.reset.val();
        self.heads.reset.next = self.reset.val();
        self.align.reset.next = self.reset.val();
        self.beats_out.reset.next = self.reset.val();
        self.enables_out.reset.next = self.reset.val();
        self.commands.write_clock.next = self.clock.val();
        self.commands.write_reset.next = self.reset.val();
        self.commands.read_clock.next = self.mem_clock.val();
        self.commands.read_reset.next = self.mem_closed.val();
        self.words.write_clock.next = self.mem_clock.val();
        self.words.write_reset.next = self.mem_closed.val();
        self.words.read_clock.next = self.clock.val();
        self.words.read_reset.next = self.reset.val();
    }
}
