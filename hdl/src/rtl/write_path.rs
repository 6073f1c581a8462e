//! FPGA memory → peer. A request becomes a memory read command (into the memory clock), an alignment
//! job and a head (where the burst goes and what to report); the data come back in order.
//!
//! Memory may owe words to commands of before a reset of this block that was none of the memory. A command that
//! stands there is held until it is taken, what is owed is counted and dropped, and then the first
//! command of after the reset leaves.

use super::align::Align;
use crate::prim::{AsyncFifo, BlockFifo, ForwardRam, SmallFifo};
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// The write direction after its request maker; `W` bits, `B` bytes a beat.
#[derive(DocBlock)]
pub struct WritePath<const W: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // Requests.
    pub request: Signal<In, Bit>,
    pub accept: Signal<Out, Bit>,
    pub bus: Signal<In, Bits<64>>,
    pub local: Signal<In, Bits<40>>,
    pub bytes: Signal<In, Bits<10>>,
    /// No fault; then `span` is the same as `bytes`.
    pub has_data: Signal<In, Bit>,
    pub span: Signal<In, Bits<10>>,
    pub last: Signal<In, Bit>,
    pub code: Signal<In, Bits<4>>,
    pub want_record: Signal<In, Bit>,
    pub want_irq: Signal<In, Bit>,
    pub urgent: Signal<In, Bit>,
    pub may_flush: Signal<In, Bit>,
    pub tag: Signal<In, Bits<32>>,
    pub channel: Signal<In, Bits<6>>,
    /// Clears the count of one channel a cycle, after a reset.
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    // The port.
    pub write: Signal<Out, Bit>,
    pub write_address: Signal<Out, Bits<64>>,
    pub write_beats: Signal<Out, Bits<6>>,
    pub beat: Signal<Out, Bit>,
    pub beat_data: Signal<Out, Bits<W>>,
    pub beat_enable: Signal<Out, Bits<B>>,
    pub beat_take: Signal<In, Bit>,
    pub write_done: Signal<In, Bit>,
    /// The port drops what it takes.
    pub port_dead: Signal<In, Bit>,
    // Flush reads, answered in order.
    pub flush: Signal<Out, Bit>,
    pub flush_address: Signal<Out, Bits<64>>,
    pub flush_take: Signal<In, Bit>,
    pub flushed: Signal<In, Bit>,
    pub flush_error: Signal<In, Bit>,
    // Ends of descriptors that are reported; everything stands until taken.
    pub end: Signal<Out, Bit>,
    pub end_code: Signal<Out, Bits<4>>,
    pub end_bytes: Signal<Out, Bits<32>>,
    pub end_tag: Signal<Out, Bits<32>>,
    pub end_fault: Signal<Out, Bits<64>>,
    pub end_irq: Signal<Out, Bit>,
    pub end_urgent: Signal<Out, Bit>,
    pub end_channel: Signal<Out, Bits<6>>,
    pub end_take: Signal<In, Bit>,
    /// A descriptor has ended, reported or not: `end_channel`, `end_code`.
    pub ended: Signal<Out, Bit>,
    // Counting.
    pub moved: Signal<Out, Bits<10>>,
    pub moved_channel: Signal<Out, Bits<6>>,
    pub requested: Signal<Out, Bit>,
    /// A request has left, or was dropped.
    pub retired: Signal<Out, Bit>,
    /// Ends that are not yet out.
    pub ends_waiting: Signal<Out, Bits<9>>,
    pub starved: Signal<Out, Bit>,
    // FPGA memory, in its own clock.
    pub mem_clock: Signal<In, Clock>,
    pub mem_reset: Signal<In, Bit>,
    /// The memory is reset, too, and owes nothing.
    pub mem_forgets: Signal<In, Bit>,
    pub mem_rd_address: Signal<Out, Bits<40>>,
    pub mem_rd_read: Signal<Out, Bit>,
    pub mem_rd_burstcount: Signal<Out, Bits<5>>,
    pub mem_rd_waitrequest: Signal<In, Bit>,
    pub mem_rd_readdata: Signal<In, Bits<512>>,
    pub mem_rd_readdatavalid: Signal<In, Bit>,

    /// A command comes a cycle after its request, with the words that it claims.
    commands: AsyncFifo<38, 5, 6>,
    asks_at: DFF<Bits<34>>,
    words: AsyncFifo<512, 6, 7>,
    /// In the memory clock: words asked for in the last cycle, those owed before, some are; a command of before a
    /// reset stands; what is owed is of before.
    asked: DFF<Bits<4>>,
    owed: DFF<Bits<7>>,
    owes: DFF<Bit>,
    stuck: DFF<Bit>,
    rinsing: DFF<Bit>,
    mem_closed: Signal<Local, Bit>,
    mem_asks: Signal<Local, Bit>,
    owed_next: Signal<Local, Bits<7>>,
    jobs: SmallFifo<22, 5, 6>,
    heads: SmallFifo<128, 5, 6>,
    /// The head that comes, the one whose burst is next, and the one whose burst has just left.
    next_on: DFF<Bit>,
    next_head: DFF<Bits<128>>,
    head_on: DFF<Bit>,
    head: DFF<Bits<128>>,
    gone_on: DFF<Bit>,
    gone: DFF<Bits<128>>,
    gone_lost: DFF<Bit>,
    /// It is to be followed by a flush read, if it is the last of its descriptor.
    gone_flush: DFF<Bit>,
    has_room: DFF<Bit>,
    align: Align<W, B>,
    beats_out: SmallFifo<W, 4, 5>,
    enables_out: SmallFifo<B, 4, 5>,
    /// Memory words asked for and not yet used up; the word FIFO holds them all.
    reserved: DFF<Bits<8>>,
    /// Those of the request of the last cycle.
    claimed: DFF<Bits<4>>,
    /// Room for some more ends, as of the last cycle.
    ends_room: DFF<Bit>,
    next_load: Signal<Local, Bit>,
    /// Bytes of each channel's descriptor that have left.
    #[given]
    done_bytes: ForwardRam<32, 6>,
    /// Ends that wait for their flush or their record, and those behind them: they leave in order.
    #[given]
    ends: BlockFifo<142, 8, 9>,
    /// The one that goes there: a short path into the memory. How many there are, with that one.
    end_on: DFF<Bit>,
    end_next: DFF<Bits<142>>,
    ends_count: DFF<Bits<9>>,
    flushes: SmallFifo<64, 4, 5>,
    /// The oldest flush stands at the port; it was taken in the last cycle, and is still counted.
    flush_on: DFF<Bit>,
    flush_gone: DFF<Bit>,
    flush_results: SmallFifo<1, 5, 6>,
    /// Flush reads that were taken and whose results no end has used: no more than there is room for.
    unused_flushes: DFF<Bits<5>>,
    /// The end that stands there wants no record, and leaves; one has just left. So no such one leaves in the
    /// two cycles behind another.
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
    gone_code: Signal<Local, Bits<4>>,
    gone_end: Signal<Local, Bit>,
    gone_total: Signal<Local, Bits<32>>,
    gone_adds: Signal<Local, Bits<10>>,
    gone_last: Signal<Local, Bit>,
    gone_reports: Signal<Local, Bit>,
    gone_channel: Signal<Local, Bits<6>>,
    gone_fault: Signal<Local, Bits<64>>,
    needs_flush: Signal<Local, Bit>,
    end_pop: Signal<Local, Bit>,

    lane_mask: Constant<Bits<5>>,
    beat_round: Constant<Bits<11>>,
    beat_shift: Constant<Bits<3>>,
    place_mask: Constant<Bits<2>>,
    place_shift: Constant<Bits<4>>,
    most_reserved: Constant<Bits<8>>,
}

impl<const W: usize, const B: usize> WritePath<W, B> {
    /// A write direction for `2^channels_log2` channels.
    pub fn new(channels_log2: usize) -> Self {
        Self::fresh(WritePathGiven {
            done_bytes: ForwardRam::new(channels_log2),
            ends: BlockFifo::new(8),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            place_mask: Constant::new((64 / B as u64 - 1).into()),
            place_shift: Constant::new(u64::from(W.trailing_zeros()).into()),
            // 64 words in all, 5 at most for the next request. What is accepted is out of turn: no more
            // than covers about half a microsecond of memory latency.
            most_reserved: Constant::new((if B == 16 { 32 } else { 64 - 5 }).into()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for WritePath<W, B> {
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
            done_bytes,
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

        // A request in: three FIFOs and the reservation of its memory words.
        self.real.next = self.has_data.val();
        // Requests come several cycles apart: room is looked for anew when one has been counted.
        self.room.next = self.has_room.q.val();
        self.accepted.next = self.request.val() & self.room.val();
        self.has_room.d.next = !self.accepted.val()
            & !self.claimed.q.val().any()
            & !self.heads.full.val()
            & !self.jobs.full.val()
            & !self.commands.full.val()
            & (self.reserved.q.val() <= self.most_reserved.val());
        self.accept.next = self.room.val();
        self.word_span.next = bit_cast::<11, 6>(self.local.val().get_bits::<6>(0))
            + bit_cast::<11, 10>(self.span.val())
            + 63;
        self.need.next = self.word_span.val().get_bits::<4>(6);
        self.beat_span.next =
            bit_cast::<11, 5>(bit_cast::<5, 64>(self.bus.val()) & self.lane_mask.val())
                + bit_cast::<11, 10>(self.span.val())
                + self.beat_round.val();
        self.asks_at.d.next = self.local.val().get_bits::<34>(6);
        self.commands.push.next = self.claimed.q.val().any();
        self.commands.data_in.next = bit_cast::<38, 34>(self.asks_at.q.val())
            | (bit_cast::<38, 4>(self.claimed.q.val()) << 34);
        self.jobs.push.next = self.accepted.val() & self.real.val();
        self.jobs.data_in.next =
            bit_cast::<22, 5>(bit_cast::<5, 40>(self.local.val()) & self.lane_mask.val())
                | (bit_cast::<22, 5>(bit_cast::<5, 64>(self.bus.val()) & self.lane_mask.val())
                    << 5)
                | (bit_cast::<22, 10>(self.bytes.val()) << 10)
                | (bit_cast::<22, 2>(
                    bit_cast::<2, 6>(self.local.val().get_bits::<6>(0) >> self.beat_shift.val())
                        & self.place_mask.val(),
                ) << 20);
        self.heads.push.next = self.accepted.val();
        self.heads.data_in.next = bit_cast::<128, 64>(self.bus.val())
            | (bit_cast::<128, 11>(self.beat_span.val() >> self.beat_shift.val()) << 64)
            | (bit_cast::<128, 10>(self.bytes.val()) << 70)
            | (bit_cast::<128, 4>(self.code.val()) << 80)
            | (bit_cast::<128, 1>(self.last.val().into()) << 84)
            | (bit_cast::<128, 1>(self.want_record.val().into()) << 85)
            | (bit_cast::<128, 1>(self.want_irq.val().into()) << 86)
            | (bit_cast::<128, 32>(self.tag.val()) << 87)
            | (bit_cast::<128, 1>(self.may_flush.val().into()) << 119)
            | (bit_cast::<128, 1>(self.urgent.val().into()) << 120)
            | (bit_cast::<128, 6>(self.channel.val()) << 121)
            | (bit_cast::<128, 1>(self.real.val().into()) << 127);

        // Memory: the command FIFO's front is the Avalon command.
        self.mem_asks.next = self.commands.valid.val() | self.stuck.q.val();
        self.mem_rd_read.next = self.mem_asks.val();
        self.mem_rd_address.next =
            bit_cast::<40, 34>(self.commands.data.val().get_bits::<34>(0)) << 6;
        self.mem_rd_burstcount.next = bit_cast::<5, 4>(self.commands.data.val().get_bits::<4>(34));
        self.commands.pop.next = self.commands.valid.val() & !self.mem_rd_waitrequest.val();
        self.words.push.next = self.mem_rd_readdatavalid.val();
        self.words.data_in.next = self.mem_rd_readdata.val();
        // In reset the command FIFO keeps the command that stands. 64 words are asked for at most, and as many
        // of before.
        // What was asked for counts a cycle later: the command comes late out of its memory.
        self.asked.d.next = 0.into();
        if self.mem_asks.val() & !self.mem_rd_waitrequest.val() {
            self.asked.d.next = self.commands.data.val().get_bits::<4>(34);
        }
        self.owed_next.next = self.owed.q.val() + bit_cast::<7, 4>(self.asked.q.val());
        if self.mem_rd_readdatavalid.val() & self.owes.q.val() {
            self.owed_next.next = self.owed.q.val() + bit_cast::<7, 4>(self.asked.q.val()) - 1;
        }
        self.owed.d.next = self.owed_next.val();
        self.owes.d.next =
            self.owed_next.val().any() | (self.mem_asks.val() & !self.mem_rd_waitrequest.val());
        self.stuck.d.next =
            self.mem_closed.val() & self.mem_asks.val() & self.mem_rd_waitrequest.val();
        self.rinsing.d.next = self.mem_closed.val() & (self.owes.q.val() | self.mem_asks.val());
        if self.mem_reset.val() {
            self.rinsing.d.next = true;
        }
        if self.mem_forgets.val() {
            self.asked.d.next = 0.into();
            self.owed.d.next = 0.into();
            self.owes.d.next = false;
            self.stuck.d.next = false;
        }

        // Words into beats into place.
        self.align.job.next = self.jobs.valid.val();
        self.jobs.pop.next = self.align.job_take.val();
        self.align.source.next = self.jobs.data.val().get_bits::<5>(0);
        self.align.target.next = self.jobs.data.val().get_bits::<5>(5);
        self.align.bytes.next = self.jobs.data.val().get_bits::<10>(10);
        self.align.start.next = self.jobs.data.val().get_bits::<2>(20);
        self.align.beat.next = self.words.valid.val();
        self.piece.next = self.words.data.val()
            >> (bit_cast::<10, 2>(self.align.beat_place.val() & self.place_mask.val())
                << self.place_shift.val());
        self.align.beat_data.next = bit_cast::<W, 512>(self.piece.val());
        self.align.beat_error.next = false;
        self.word_pop.next = self.align.beat_take.val() & self.align.beat_ends_word.val();
        self.words.pop.next = self.word_pop.val();
        self.align.out_take.next = !self.beats_out.full.val();
        self.beats_out.push.next = self.align.out.val();
        self.beats_out.data_in.next = self.align.out_data.val();
        self.enables_out.push.next = self.align.out.val();
        self.enables_out.data_in.next = self.align.out_enable.val();
        self.beat.next = self.beats_out.valid.val();
        self.beat_data.next = self.beats_out.data.val();
        self.beat_enable.next = self.enables_out.data.val();
        self.beats_out.pop.next = self.beat_take.val();
        self.enables_out.pop.next = self.beat_take.val();
        self.claimed.d.next = 0.into();
        if self.accepted.val() & self.real.val() {
            self.claimed.d.next = self.need.val();
        }
        self.reserved.d.next = self.reserved.q.val() + bit_cast::<8, 4>(self.claimed.q.val());
        if self.word_pop.val() {
            self.reserved.d.next =
                self.reserved.q.val() + bit_cast::<8, 4>(self.claimed.q.val()) - 1;
        }

        // Bursts out. A head leaves its FIFO when there is room for its end.
        self.head_real.next = self.head.q.val().get_bit(127);
        self.write.next = self.head_on.q.val() & self.head_real.val();
        self.write_address.next =
            self.head.q.val().get_bits::<64>(0) & !bit_cast::<64, 5>(self.lane_mask.val());
        self.write_beats.next = self.head.q.val().get_bits::<6>(64);
        self.head_pop.next = self.write_done.val() | (self.head_on.q.val() & !self.head_real.val());
        self.ends_room.d.next = !self.ends.level.val().get_bits::<2>(7).any()
            & !self.flushes.level.val().get_bits::<2>(3).any();
        self.next_load.next =
            self.heads.valid.val() & !self.next_on.q.val() & self.ends_room.q.val();
        self.heads.pop.next = self.next_load.val();
        // What is loaded means something only with `next_on`, `head_on`: a short path to many registers.
        self.head_load.next = !self.head_on.q.val() | self.head_pop.val();
        if !self.next_on.q.val() {
            self.next_on.d.next = self.next_load.val();
            self.next_head.d.next = self.heads.data.val();
        } else if self.head_load.val() {
            self.next_on.d.next = false;
        }
        if self.head_load.val() {
            self.head_on.d.next = self.next_on.q.val();
            self.head.d.next = self.next_head.q.val();
        }
        self.gone_on.d.next = self.head_pop.val();
        self.gone.d.next = self.head.q.val();
        self.gone_lost.d.next = self.port_dead.val() & self.head_real.val();
        // One with data has failed only if it is lost.
        self.gone_flush.d.next = self.head_real.val()
            & self.head.q.val().get_bit(119)
            & (self.head.q.val().get_bits::<2>(85).any() | self.port_dead.val());
        self.starved.next =
            self.head_on.q.val() & self.head_real.val() & !self.beats_out.valid.val();

        // A burst has left: what that means for its descriptor.
        self.gone_bytes.next = self.gone.q.val().get_bits::<10>(70);
        self.gone_real.next = self.gone.q.val().get_bit(127);
        self.gone_last.next = self.gone.q.val().get_bit(84);
        self.gone_channel.next = self.gone.q.val().get_bits::<6>(121);
        self.gone_code.next = self.gone.q.val().get_bits::<4>(80);
        if self.gone_lost.q.val() {
            self.gone_code.next = 8.into();
        }
        self.retired.next = self.gone_on.q.val();
        self.moved.next = self.gone_bytes.val();
        self.moved_channel.next = self.gone_channel.val();
        self.requested.next = self.gone_on.q.val() & self.gone_real.val() & !self.gone_lost.q.val();
        self.done_bytes.read_address.next = self.gone_channel.val();
        self.gone_adds.next = self.gone_bytes.val();
        if self.gone_lost.q.val() {
            self.gone_adds.next = 0.into();
        }
        self.gone_total.next =
            self.done_bytes.read_data.val() + bit_cast::<32, 10>(self.gone_adds.val());
        self.done_bytes.write_enable.next = self.gone_on.q.val() | self.sweep.val();
        self.done_bytes.write_address.next = self.gone_channel.val();
        self.done_bytes.write_data.next = self.gone_total.val();
        if self.gone_last.val() | self.sweep.val() {
            self.done_bytes.write_data.next = 0.into();
        }
        if self.sweep.val() {
            self.done_bytes.write_address.next = self.sweep_channel.val();
        }

        // An end: reported when a record or an interrupt was asked for, or a fault met. Posted writes
        // to the peer may be slower than the record to the host: a read that follows them and has
        // come back says that they are there. Later bursts go on meanwhile.
        self.gone_reports.next =
            self.gone.q.val().get_bits::<2>(85).any() | self.gone_code.val().any();
        self.gone_end.next = self.gone_on.q.val() & self.gone_last.val();
        self.flushes.push.next = self.gone_end.val() & self.gone_flush.q.val();
        self.flushes.data_in.next =
            self.gone.q.val().get_bits::<64>(0) & !bit_cast::<64, 5>(self.lane_mask.val());
        // Who takes it answers late: one leaves every three cycles. A word that is there is shown in the next.
        self.flush.next = self.flush_on.q.val();
        self.flush_address.next = self.flushes.data.val();
        self.flush_gone.d.next = self.flush_take.val();
        self.flushes.pop.next = self.flush_gone.q.val();
        self.flush_on.d.next =
            self.flushes.some.val() & !self.flush_gone.q.val() & !self.unused_flushes.q.val().all();
        if self.flush_on.q.val() {
            self.flush_on.d.next = !self.flush_take.val();
        }
        self.flushed_on.d.next = self.flushed.val();
        self.flushed_bad.d.next = self.flush_error.val();
        self.flush_results.push.next = self.flushed_on.q.val();
        self.flush_results.data_in.next = self.flushed_bad.q.val().into();
        // A faulting head carries its ATT address; of one with data nobody learns the bus address.
        self.gone_fault.next = 0.into();
        if !self.gone_real.val() {
            self.gone_fault.next = self.gone.q.val().get_bits::<64>(0);
        }
        self.end_on.d.next = self.gone_end.val();
        self.ends.push.next = self.end_on.q.val();
        self.ends.data_in.next = self.end_next.q.val();
        self.end_next.d.next = bit_cast::<142, 4>(self.gone_code.val())
            | (bit_cast::<142, 1>(
                (self.gone.q.val().get_bit(86) | self.gone_code.val().any()).into(),
            ) << 4)
            | (bit_cast::<142, 1>(self.gone_flush.q.val().into()) << 5)
            | (bit_cast::<142, 32>(self.gone.q.val().get_bits::<32>(87)) << 6)
            | (bit_cast::<142, 32>(self.gone_total.val()) << 38)
            | (bit_cast::<142, 64>(self.gone_fault.val()) << 70)
            | (bit_cast::<142, 1>(self.gone_reports.val().into()) << 134)
            | (bit_cast::<142, 1>(self.gone.q.val().get_bit(120).into()) << 135)
            | (bit_cast::<142, 6>(self.gone_channel.val()) << 136);
        self.ends_waiting.next = self.ends_count.q.val();
        self.needs_flush.next = self.ends.data.val().get_bit(5);
        // Many may have waited for one; the counters take an end every three cycles.
        self.silent.d.next = self.ends.valid.val()
            & !self.ends.data.val().get_bit(134)
            & !self.silent.q.val()
            & !self.end_left.q.val();
        self.end.next = self.ends.valid.val()
            & self.ends.data.val().get_bit(134)
            & (!self.needs_flush.val() | self.result_on.q.val());
        self.end_code.next = self.ends.data.val().get_bits::<4>(0);
        self.end_irq.next = self.ends.data.val().get_bit(4);
        if self.needs_flush.val() & self.result.q.val() {
            self.end_irq.next = true;
            if !self.ends.data.val().get_bits::<4>(0).any() {
                self.end_code.next = 11.into();
            }
        }
        self.end_tag.next = self.ends.data.val().get_bits::<32>(6);
        self.end_bytes.next = self.ends.data.val().get_bits::<32>(38);
        self.end_urgent.next = self.ends.data.val().get_bit(135);
        self.end_channel.next = self.ends.data.val().get_bits::<6>(136);
        self.end_fault.next = self.ends.data.val().get_bits::<64>(70);
        self.end_pop.next = self.end_take.val() | self.silent.q.val();
        self.end_left.d.next = self.end_pop.val();
        self.ended.next = self.end_pop.val();
        if self.gone_end.val() & !self.end_pop.val() {
            self.ends_count.d.next = self.ends_count.q.val() + 1;
        } else if self.end_pop.val() & !self.gone_end.val() {
            self.ends_count.d.next = self.ends_count.q.val() - 1;
        }
        self.ends.pop.next = self.end_pop.val();
        self.result_used.next = self.end_take.val() & self.needs_flush.val();
        self.result_load.next =
            self.flush_results.valid.val() & (!self.result_on.q.val() | self.result_used.val());
        self.flush_results.pop.next = self.result_load.val();
        if self.flush_gone.q.val() & !self.result_used.val() {
            self.unused_flushes.d.next = self.unused_flushes.q.val() + 1;
        } else if self.result_used.val() & !self.flush_gone.q.val() {
            self.unused_flushes.d.next = self.unused_flushes.q.val() - 1;
        }
        if self.result_load.val() {
            self.result_on.d.next = true;
            self.result.d.next = self.flush_results.data.val().any();
        } else if self.result_used.val() {
            self.result_on.d.next = false;
        }

        if self.reset.val() {
            self.reserved.d.next = 0.into();
            self.claimed.d.next = 0.into();
            self.ends_room.d.next = false;
            self.next_on.d.next = false;
            self.head_on.d.next = false;
            self.gone_on.d.next = false;
            self.result_on.d.next = false;
            self.unused_flushes.d.next = 0.into();
            self.end_on.d.next = false;
            self.silent.d.next = false;
            self.ends_count.d.next = 0.into();
            self.flush_on.d.next = false;
            self.flush_gone.d.next = false;
            self.flushed_on.d.next = false;
            self.has_room.d.next = false;
        }
    }
}
