//! From completions to FPGA memory. The tag of each chunk says where the chunk belongs. It is realigned and written at
//! once, in any order of the chunks of different tags.
//!
//! A reset of this block that does not reset the memory must not cut a burst off. The word at the port stays until it
//! is accepted, and the rest of its burst follows with no byte enabled.

mod memory;
mod packing;
mod places;

use super::align::Align;
use super::lane_fifo::LaneFifo;
use super::ports::{AnswerSink, MemoryWriteMaster};
use super::status::Status;
use super::words::{Chunk, MemoryWrite, Pack, Place, ReadJob, Written};
use crate::prim::{AsyncFifo, BlockFifo, ForwardRam, Part, SmallFifo, parts};
use memory::Memory;
use packing::Packing;
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use places::Places;

/// The receiver; `W` bits, `B` bytes a beat, `E` = `W + 1`.
#[derive(DocBlock)]
pub struct Receive<const W: usize, const B: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A read that will leave, with its tag: where its bytes belong, the lane of the first, how many.
    pub place: Signal<In, Bit>,
    pub place_tag: Signal<In, Bits<6>>,
    pub place_local: Signal<In, Bits<40>>,
    pub place_lane: Signal<In, Bits<5>>,
    pub place_bytes: Signal<In, Bits<10>>,
    /// The port. A chunk says how many bytes of which read its beats bring; one with a code brings
    /// none and ends its read.
    pub answer: AnswerSink<W>,
    /// A beat has left the buffer.
    pub used: Signal<Out, Bit>,
    /// Beats that a failed read does not need.
    pub unneeded: Signal<Out, Bits<11>>,
    /// A read whose last bytes are in memory, or that failed.
    pub done: Signal<Out, Bit>,
    pub done_tag: Signal<Out, Bits<6>>,
    pub done_code: Signal<Out, Bits<5>>,
    pub stalled: Signal<Out, Bit>,
    /// FPGA memory, in its own clock.
    pub mem_clock: Signal<In, Clock>,
    pub mem_reset: Signal<In, Bit>,
    /// The memory is reset, too, and waits for nothing.
    pub mem_forgets: Signal<In, Bit>,
    pub mem_wr: MemoryWriteMaster,
    /// Words of the burst that have been written.
    pub burst_at: Signal<Out, Bits<4>>,

    /// Where the next chunk of each tag belongs.
    #[given]
    places: ForwardRam<Place, 6>,
    #[given]
    chunks: BlockFifo<Chunk, 12, 13>,
    /// The oldest chunk.
    front_on: DFF<Bit>,
    front: DFF<Chunk>,
    /// Its place, looked up in the cycle before: a chunk takes two.
    found_on: DFF<Bit>,
    found: DFF<Place>,
    found_bare: DFF<Bit>,
    #[given]
    received: BlockFifo<Bits<E>, 12, 13>,
    /// Input from the port in the last cycle: short paths into the two.
    chunk_came: DFF<Bit>,
    chunk_word: DFF<Chunk>,
    beat_came: DFF<Bit>,
    beat_word: DFF<Bits<E>>,
    jobs: SmallFifo<ReadJob, 2, 3>,
    /// In block RAM, for its width; 16 are enough.
    #[given]
    packs: BlockFifo<Pack, 6, 7>,
    /// They were fewer than that in the last cycle.
    packs_room: DFF<Bit>,
    /// What goes there: a short path into the memory.
    packing: DFF<Bit>,
    packing_word: DFF<Pack>,
    /// The oldest of them: a short path into the memory of words.
    pack_on: DFF<Bit>,
    pack: DFF<Pack>,
    align: Align<W, B>,
    words: LaneFifo<W, 7, 8>,
    commands: AsyncFifo<MemoryWrite, 5, 6>,
    /// Back in the port's clock: tags whose last bytes are in memory.
    written: AsyncFifo<Written, 5, 6>,
    /// Packing.
    within: DFF<Bit>,
    lane_at: DFF<Bits<2>>,
    word_enable: DFF<Bits<64>>,
    word_count: DFF<Bits<4>>,
    /// In the memory clock.
    burst_beat: DFF<Bits<4>>,
    command_on: DFF<Bit>,
    command: DFF<MemoryWrite>,
    /// It has words.
    command_writes: DFF<Bit>,
    /// The next word is the last of its burst.
    ends_burst: DFF<Bit>,
    /// The burst that has begun is from before a reset; the word at the port, too.
    rinsing: DFF<Bit>,
    stuck: DFF<Bit>,
    mem_closed: Signal<Local, Bit>,
    mem_writes: Signal<Local, Bit>,
    command_load: Signal<Local, Bit>,

    c_load: Signal<Local, Bit>,
    c_tag: Signal<Local, Bits<6>>,
    c_bytes: Signal<Local, Bits<10>>,
    c_code: Signal<Local, Bits<5>>,
    c_local: Signal<Local, Bits<40>>,
    c_lane: Signal<Local, Bits<5>>,
    c_left: Signal<Local, Bits<10>>,
    c_bare: Signal<Local, Bit>,
    c_take: Signal<Local, Bit>,
    c_final: Signal<Local, Bit>,
    pack_load: Signal<Local, Bit>,
    pack_done: Signal<Local, Bit>,
    pack_bare: Signal<Local, Bit>,
    bare_out: Signal<Local, Bit>,
    lane: Signal<Local, Bits<2>>,
    packed: Signal<Local, Bit>,
    commit: Signal<Local, Bit>,
    enable_now: Signal<Local, Bits<64>>,
    pack_code: Signal<Local, Bits<5>>,
    words_now: Signal<Local, Bits<4>>,
    mem_count: Signal<Local, Bits<4>>,
    mem_bare: Signal<Local, Bit>,
    mem_accept: Signal<Local, Bit>,
    mem_last: Signal<Local, Bit>,
    mem_reports: Signal<Local, Bit>,
    mem_open: Signal<Local, Bit>,
    left_over: Signal<Local, Bits<11>>,

    lane_mask: Constant<Bits<5>>,
    beat_round: Constant<Bits<11>>,
    beat_shift: Constant<Bits<3>>,
    place_mask: Constant<Bits<2>>,
    data_shift: Constant<Bits<9>>,
    status: Status,
}

impl<const W: usize, const B: usize, const E: usize> Receive<W, B, E> {
    /// A receiver for `2^reads_log2` tags with a buffer of `2^receive_log2` beats.
    pub fn new(reads_log2: usize, receive_log2: usize) -> Self {
        assert!(E == W + 1);
        Self::fresh(ReceiveGiven {
            places: ForwardRam::new(reads_log2),
            chunks: BlockFifo::new(receive_log2),
            received: BlockFifo::new(receive_log2),
            packs: BlockFifo::new(6),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            place_mask: Constant::new((64 / B as u64 - 1).into()),
            data_shift: Constant::new((W as u64).into()),
        })
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for Receive<W, B, E> {
    parts!(Setup, Places, Packing, Memory);
}

/// Clocks and resets of the parts, and the input from the port.
struct Setup;

impl<const W: usize, const B: usize, const E: usize> Part<Setup> for Receive<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            front_on,
            front,
            found_on,
            found,
            found_bare,
            packs_room,
            chunk_came,
            chunk_word,
            beat_came,
            beat_word,
            packing,
            packing_word,
            within,
            lane_at,
            word_enable,
            word_count,
            pack_on,
            pack
        );
        dff_setup!(
            self,
            mem_clock,
            burst_beat,
            ends_burst,
            command_on,
            command,
            command_writes,
            rinsing,
            stuck
        );
        clock!(self, clock, places, chunks, received, jobs, packs, align);
        self.mem_closed.next = self.mem_reset.val() | self.rinsing.q.val();
        self.chunks.reset.next = self.reset.val();
        self.received.reset.next = self.reset.val();
        self.jobs.reset.next = self.reset.val();
        self.packs.reset.next = self.reset.val();
        self.align.reset.next = self.reset.val();
        self.words.write_clock.next = self.clock.val();
        self.words.write_reset.next = self.reset.val();
        self.words.read_clock.next = self.mem_clock.val();
        self.words.read_reset.next = self.mem_closed.val();
        self.commands.write_clock.next = self.clock.val();
        self.commands.write_reset.next = self.reset.val();
        self.commands.read_clock.next = self.mem_clock.val();
        self.commands.read_reset.next = self.mem_closed.val();
        self.written.write_clock.next = self.mem_clock.val();
        self.written.write_reset.next = self.mem_closed.val();
        self.written.read_clock.next = self.clock.val();
        self.written.read_reset.next = self.reset.val();

        self.beat_came.d.next = self.answer.beat.val();
        self.received.push.next = self.beat_came.q.val();
        self.received.data_in.next = self.beat_word.q.val();
        self.beat_word.d.next = bit_cast::<E, W>(self.answer.data.val())
            | (bit_cast::<E, 1>(self.answer.error.val().into()) << self.data_shift.val());
        self.chunk_came.d.next = self.answer.chunk.val();
        self.chunks.push.next = self.chunk_came.q.val();
        self.chunks.data_in.next = self.chunk_word.q.val();
        self.chunk_word.d.next.tag = self.answer.tag.val();
        self.chunk_word.d.next.bytes = self.answer.bytes.val();
        self.chunk_word.d.next.code = self.answer.code.val();
    }
}
