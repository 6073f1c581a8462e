//! Peer → FPGA memory. A request gets a tag and leaves for the port. [`super::receive`] writes the answer into
//! memory. The notes of all requests wait, in order, until all bytes of their request are in memory.

mod intake;
mod retirement;

use super::ports::{
    AnswerSink, EndSource, MemoryWriteMaster, OutflowUser, ReadSource, RequestSink,
};
use super::receive::Receive;
use super::words::{Failure, Note, ReadNext};
use crate::prim::{Part, SmallFifo, SmallRam, parts};
use intake::{Asking, Intake, Room};
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use retirement::{Ends, Retirement};

/// Values that a build fixes for a [`ReadPath`].
#[derive(Clone, Copy, Debug)]
pub struct ReadConfig {
    /// Channels, log2.
    pub channels_log2: usize,
    /// Requests under way, log2, at most 6.
    pub reads_log2: usize,
    /// Beats of the receive buffer, log2, 9 to 12.
    pub receive_log2: usize,
}

/// The read direction after its request maker; `W` bits, `B` bytes a beat, `E` = `W + 1`.
#[derive(DocBlock)]
pub struct ReadPath<const W: usize, const B: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requests.
    pub request: RequestSink,
    /// ATT address of the request, for the report of a fault: page size code and 38 bits.
    pub att_address: Signal<In, Bits<40>>,
    pub descriptor: Signal<In, Bits<6>>,
    /// The descriptor of `channel` and `descriptor` has failed already.
    pub halted: Signal<Out, Bit>,
    /// Clears the memory of one channel a cycle, after a reset.
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    /// The port. A chunk says how many bytes of which read its beats bring; one with a code brings
    /// none and ends its read.
    pub read: ReadSource,
    /// Tags that the port has written off and whose completion may still come.
    pub lost: Signal<In, Bits<64>>,
    pub answer: AnswerSink<W>,
    /// Ends of descriptors that are reported; all signals stay until taken.
    pub end: EndSource,
    /// A descriptor has ended, reported or not: `end_channel`, `end_code`.
    pub ended: Signal<Out, Bit>,
    /// Counting.
    /// Bytes that are known to be in memory from this cycle on.
    pub moved: Signal<Out, Bits<10>>,
    pub moved_channel: Signal<Out, Bits<6>>,
    pub requested: Signal<Out, Bit>,
    /// A request has ended, with or without data.
    pub retired: Signal<Out, Bit>,
    pub stalled_buffer: Signal<Out, Bit>,
    pub stalled_memory: Signal<Out, Bit>,
    /// FPGA memory, in its own clock.
    pub mem_clock: Signal<In, Clock>,
    pub mem_reset: Signal<In, Bit>,
    pub mem_forgets: Signal<In, Bit>,
    pub mem_wr: MemoryWriteMaster,
    /// Streams.
    pub outflow: OutflowUser,

    /// One read that waits for the port, and no more: accepted reads go ahead of the channels' turns.
    reading: DFF<Bit>,
    read_next: DFF<ReadNext>,
    #[given]
    notes: SmallFifo<Note, 6, 7>,
    next_tag: DFF<Bits<6>>,
    used: DFF<Bits<64>>,
    done: DFF<Bits<64>>,
    #[given]
    results: SmallRam<Bits<5>, 6>,
    /// Beats promised to reads in flight and not yet used up; the receive buffer holds them all.
    promised: DFF<Bits<13>>,
    #[given]
    receive: Receive<W, B, E>,
    /// Per channel: progress and first failure of the descriptor.
    #[given]
    done_bytes: SmallRam<Bits<32>, 6>,
    #[given]
    failures: SmallRam<Failure, 6>,
    halting: DFF<Bits<64>>,
    #[given]
    halted_number: SmallRam<Bits<6>, 6>,
    halt_settles: DFF<Bit>,
    /// The end that is reported.
    over: DFF<Bit>,
    over_reports: DFF<Bit>,
    over_code: DFF<Bits<5>>,
    over_bytes: DFF<Bits<32>>,
    over_tag: DFF<Bits<32>>,
    over_at: DFF<Bits<40>>,
    over_irq: DFF<Bit>,
    over_urgent: DFF<Bit>,
    over_channel: DFF<Bits<6>>,

    room: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    placed: Signal<Local, Bit>,
    real: Signal<Local, Bit>,
    tag_bit: Signal<Local, Bits<64>>,
    tag_lost: Signal<Local, Bit>,
    tag_used: Signal<Local, Bit>,
    beat_span: Signal<Local, Bits<11>>,
    buffer_room: DFF<Bit>,
    tag_free: DFF<Bit>,
    /// Room for a request without data, and for one with.
    notes_room: DFF<Bit>,
    read_room: DFF<Bit>,
    /// The receiver's inputs for a request, a cycle later.
    placing: DFF<Bit>,
    placing_tag: DFF<Bits<6>>,
    placing_local: DFF<Bits<40>>,
    placing_lane: DFF<Bits<5>>,
    placing_bytes: DFF<Bits<10>>,
    /// The oldest note, whether its read is over, and whether its result and progress have been looked up since.
    note_on: DFF<Bit>,
    note: DFF<Note>,
    note_over: DFF<Bit>,
    note_done: DFF<Bit>,
    result: DFF<Bits<5>>,
    so_far: DFF<Bits<32>>,
    so_far_failed: DFF<Failure>,
    note_load: Signal<Local, Bit>,
    took: DFF<Bits<13>>,
    gave: DFF<Bits<13>>,
    unneeded: DFF<Bits<11>>,
    done_bit: Signal<Local, Bits<64>>,
    retired_bit: Signal<Local, Bits<64>>,
    note_tag: Signal<Local, Bits<6>>,
    note_bytes: Signal<Local, Bits<10>>,
    note_code: Signal<Local, Bits<5>>,
    note_real: Signal<Local, Bit>,
    note_last: Signal<Local, Bit>,
    note_channel: Signal<Local, Bits<6>>,
    retire: Signal<Local, Bit>,
    earlier: Signal<Local, Bits<5>>,
    failure: Signal<Local, Bits<5>>,
    failure_at: Signal<Local, Bits<40>>,
    total: Signal<Local, Bits<32>>,
    over_pop: Signal<Local, Bit>,

    lane_mask: Constant<Bits<5>>,
    beat_round: Constant<Bits<11>>,
    beat_shift: Constant<Bits<3>>,
    most_promised: Constant<Bits<13>>,
    tag_mask: Constant<Bits<6>>,
    tags: Constant<Bits<64>>,
    one: Constant<Bits<64>>,
    all_channels: Constant<Bits<64>>,
}

impl<const W: usize, const B: usize, const E: usize> ReadPath<W, B, E> {
    /// A read direction.
    pub fn new(config: ReadConfig) -> Self {
        assert!(E == W + 1);
        let counts = config.channels_log2;
        Self::fresh(ReadPathGiven {
            // With the oldest, which is in a register, fewer than the numbers that `halted` compares: a descriptor that
            // has failed is never taken for the one 64 after it.
            notes: SmallFifo::holding(config.reads_log2, (1 << config.reads_log2).min(62)),
            results: SmallRam::new(config.reads_log2),
            receive: Receive::new(config.reads_log2, config.receive_log2),
            done_bytes: SmallRam::new(counts),
            failures: SmallRam::new(counts),
            halted_number: SmallRam::new(counts),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            // A request has 32 beats at most, and two may be under way that are not counted yet; 64
            // places are left for chunks without data.
            most_promised: Constant::new(((1u64 << config.receive_log2) - 3 * 32 - 64).into()),
            tag_mask: Constant::new(((1u64 << config.reads_log2) - 1).into()),
            tags: Constant::new(super::channel_mask(config.reads_log2)),
            one: Constant::new(1.into()),
            all_channels: Constant::new(super::channel_mask(counts)),
        })
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for ReadPath<W, B, E> {
    parts!(Setup, Intake, Asking, Room, Retirement, Ends);
}

/// Clocks and resets of the parts.
struct Setup;

impl<const W: usize, const B: usize, const E: usize> Part<Setup> for ReadPath<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            result,
            so_far,
            so_far_failed,
            took,
            gave,
            unneeded,
            buffer_room,
            tag_free,
            notes_room,
            read_room,
            placing,
            placing_tag,
            placing_local,
            placing_lane,
            placing_bytes,
            note_on,
            note,
            note_over,
            note_done,
            reading,
            read_next,
            next_tag,
            used,
            done,
            promised,
            halting,
            halt_settles,
            over,
            over_reports,
            over_code,
            over_bytes,
            over_tag,
            over_at,
            over_irq,
            over_urgent,
            over_channel
        );
        clock!(
            self,
            clock,
            notes,
            results,
            receive,
            done_bytes,
            failures,
            halted_number
        );
        self.notes.reset.next = self.reset.val();
        self.receive.reset.next = self.reset.val();
    }
}
