//! From completions to FPGA memory. Each chunk of a completion says by its tag where it belongs; it is
//! realigned and written there at once, in whatever order chunks of different tags come.
//!
//! A reset of this block that is none of the memory does not cut a burst off there: the word that stands stays
//! until it is taken, and the rest of its burst follows with no byte enabled.

use super::align::Align;
use super::lane_fifo::LaneFifo;
use crate::prim::{AsyncFifo, BlockFifo, ForwardRam, SmallFifo};
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// The receiver; `W` bits, `B` bytes a beat, `E` = `W + 1`.
#[derive(DocBlock)]
pub struct Receive<const W: usize, const B: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // A read that will leave, with its tag: where its bytes belong, the lane of the first, how many.
    pub place: Signal<In, Bit>,
    pub place_tag: Signal<In, Bits<6>>,
    pub place_local: Signal<In, Bits<40>>,
    pub place_lane: Signal<In, Bits<5>>,
    pub place_bytes: Signal<In, Bits<10>>,
    // The port. A chunk says how many bytes of which read its beats bring; one with a code brings
    // none and ends its read.
    pub chunk: Signal<In, Bit>,
    pub chunk_tag: Signal<In, Bits<6>>,
    pub chunk_bytes: Signal<In, Bits<10>>,
    pub chunk_code: Signal<In, Bits<4>>,
    pub completion: Signal<In, Bit>,
    pub completion_data: Signal<In, Bits<W>>,
    /// The beat has no data, nor have those behind it in its chunk. Reported only of a read's last chunk: a
    /// port that uses it, as [`super::txs`] does, brings a read in one.
    pub completion_error: Signal<In, Bit>,
    /// A beat has left the buffer.
    pub used: Signal<Out, Bit>,
    /// Beats that a failed read does not need.
    pub unneeded: Signal<Out, Bits<11>>,
    // A read whose last bytes are in memory, or that failed.
    pub done: Signal<Out, Bit>,
    pub done_tag: Signal<Out, Bits<6>>,
    pub done_code: Signal<Out, Bits<4>>,
    pub stalled: Signal<Out, Bit>,
    // FPGA memory, in its own clock.
    pub mem_clock: Signal<In, Clock>,
    pub mem_reset: Signal<In, Bit>,
    /// The memory is reset, too, and waits for nothing.
    pub mem_forgets: Signal<In, Bit>,
    pub mem_wr_address: Signal<Out, Bits<40>>,
    pub mem_wr_write: Signal<Out, Bit>,
    pub mem_wr_burstcount: Signal<Out, Bits<5>>,
    pub mem_wr_writedata: Signal<Out, Bits<512>>,
    pub mem_wr_byteenable: Signal<Out, Bits<64>>,
    pub mem_wr_waitrequest: Signal<In, Bit>,

    /// Where the next chunk of each tag belongs: address, lane, bytes left.
    #[given]
    places: ForwardRam<55, 6>,
    #[given]
    chunks: BlockFifo<20, 12, 13>,
    /// The oldest chunk.
    front_on: DFF<Bit>,
    front: DFF<Bits<20>>,
    /// Its place, looked up in the cycle before: a chunk takes two.
    found_on: DFF<Bit>,
    found: DFF<Bits<55>>,
    found_bare: DFF<Bit>,
    #[given]
    received: BlockFifo<E, 12, 13>,
    /// What the port brought in the last cycle: short paths into the two.
    chunk_came: DFF<Bit>,
    chunk_word: DFF<Bits<20>>,
    beat_came: DFF<Bit>,
    beat_word: DFF<Bits<E>>,
    jobs: SmallFifo<20, 2, 3>,
    /// In block RAM, for its width; 16 are enough.
    #[given]
    packs: BlockFifo<48, 6, 7>,
    /// They were fewer than that in the last cycle.
    packs_room: DFF<Bit>,
    /// What goes there: a short path into the memory.
    packing: DFF<Bit>,
    packing_word: DFF<Bits<48>>,
    /// The oldest of them: a short path into the memory of words.
    pack_on: DFF<Bit>,
    pack: DFF<Bits<48>>,
    align: Align<W, B>,
    words: LaneFifo<W, 7, 8>,
    /// The two top bits: no words, one.
    commands: AsyncFifo<51, 5, 6>,
    /// Back in the port's clock: tags whose last bytes are in memory.
    written: AsyncFifo<10, 5, 6>,
    // Packing.
    within: DFF<Bit>,
    lane_at: DFF<Bits<2>>,
    word_enable: DFF<Bits<64>>,
    word_count: DFF<Bits<4>>,
    // In the memory clock.
    burst_beat: DFF<Bits<4>>,
    command_on: DFF<Bit>,
    command: DFF<Bits<51>>,
    /// It has words.
    command_writes: DFF<Bit>,
    /// The next word is the last of its burst.
    ends_burst: DFF<Bit>,
    /// The burst that has begun is of before a reset; its word that stands, too.
    rinsing: DFF<Bit>,
    stuck: DFF<Bit>,
    mem_closed: Signal<Local, Bit>,
    mem_writes: Signal<Local, Bit>,
    command_load: Signal<Local, Bit>,

    c_load: Signal<Local, Bit>,
    c_tag: Signal<Local, Bits<6>>,
    c_bytes: Signal<Local, Bits<10>>,
    c_code: Signal<Local, Bits<4>>,
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
    pack_code: Signal<Local, Bits<4>>,
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
    bare_mark: Constant<Bits<51>>,
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
            bare_mark: Constant::new((1u64 << 49).into()),
        })
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for Receive<W, B, E> {
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

        self.beat_came.d.next = self.completion.val();
        self.received.push.next = self.beat_came.q.val();
        self.received.data_in.next = self.beat_word.q.val();
        self.beat_word.d.next = bit_cast::<E, W>(self.completion_data.val())
            | (bit_cast::<E, 1>(self.completion_error.val().into()) << self.data_shift.val());
        self.chunk_came.d.next = self.chunk.val();
        self.chunks.push.next = self.chunk_came.q.val();
        self.chunks.data_in.next = self.chunk_word.q.val();
        self.chunk_word.d.next = bit_cast::<20, 6>(self.chunk_tag.val())
            | (bit_cast::<20, 10>(self.chunk_bytes.val()) << 6)
            | (bit_cast::<20, 4>(self.chunk_code.val()) << 16);

        // A chunk finds its place by its tag, and moves the place on for the next.
        self.c_tag.next = self.front.q.val().get_bits::<6>(0);
        self.c_bytes.next = self.front.q.val().get_bits::<10>(6);
        self.c_code.next = self.front.q.val().get_bits::<4>(16);
        self.found_bare.d.next = self.c_code.val().any();
        self.c_bare.next = self.found_bare.q.val();
        self.packs_room.d.next = !self.packs.level.val().get_bits::<3>(4).any();
        self.places.read_address.next = self.c_tag.val();
        self.c_local.next = self.found.q.val().get_bits::<40>(0);
        self.c_lane.next = self.found.q.val().get_bits::<5>(40);
        self.c_left.next = self.found.q.val().get_bits::<10>(45);
        self.found.d.next = self.places.read_data.val();
        self.c_take.next = self.found_on.q.val()
            & self.packs_room.q.val()
            & !self.place.val()
            & (self.c_bare.val() | !self.jobs.full.val());
        self.found_on.d.next = self.front_on.q.val() & !self.c_take.val();
        self.c_load.next = self.chunks.valid.val() & (!self.front_on.q.val() | self.c_take.val());
        self.chunks.pop.next = self.c_load.val();
        if self.c_load.val() {
            self.front_on.d.next = true;
            self.front.d.next = self.chunks.data.val();
        } else if self.c_take.val() {
            self.front_on.d.next = false;
        }
        self.c_final.next = self.c_bare.val() | (self.c_left.val() == self.c_bytes.val());
        self.jobs.push.next = self.c_take.val() & !self.c_bare.val();
        self.jobs.data_in.next = bit_cast::<20, 5>(self.c_lane.val())
            | (bit_cast::<20, 5>(bit_cast::<5, 40>(self.c_local.val()) & self.lane_mask.val())
                << 5)
            | (bit_cast::<20, 10>(self.c_bytes.val()) << 10);
        self.packs.push.next = self.packing.q.val();
        self.packs.data_in.next = self.packing_word.q.val();
        self.packing.d.next = self.c_take.val();
        self.packing_word.d.next = bit_cast::<48, 34>(self.c_local.val().get_bits::<34>(6))
            | (bit_cast::<48, 2>(
                bit_cast::<2, 6>(self.c_local.val().get_bits::<6>(0) >> self.beat_shift.val())
                    & self.place_mask.val(),
            ) << 34)
            | (bit_cast::<48, 6>(self.c_tag.val()) << 36)
            | (bit_cast::<48, 1>(self.c_final.val().into()) << 42)
            | (bit_cast::<48, 4>(self.c_code.val()) << 43)
            | (bit_cast::<48, 1>(self.c_bare.val().into()) << 47);
        self.places.write_enable.next = self.place.val() | self.c_take.val();
        self.places.write_address.next = self.c_tag.val();
        self.places.write_data.next =
            bit_cast::<55, 40>(self.c_local.val() + bit_cast::<40, 10>(self.c_bytes.val()))
                | (bit_cast::<55, 5>(
                    (self.c_lane.val() + bit_cast::<5, 10>(self.c_bytes.val()))
                        & self.lane_mask.val(),
                ) << 40)
                | (bit_cast::<55, 10>(self.c_left.val() - self.c_bytes.val()) << 45);
        if self.place.val() {
            self.places.write_address.next = self.place_tag.val();
            self.places.write_data.next = bit_cast::<55, 40>(self.place_local.val())
                | (bit_cast::<55, 5>(self.place_lane.val()) << 40)
                | (bit_cast::<55, 10>(self.place_bytes.val()) << 45);
        }

        // Beats into place.
        self.align.job.next = self.jobs.valid.val();
        self.jobs.pop.next = self.align.job_take.val();
        self.align.source.next = self.jobs.data.val().get_bits::<5>(0);
        self.align.target.next = self.jobs.data.val().get_bits::<5>(5);
        self.align.bytes.next = self.jobs.data.val().get_bits::<10>(10);
        self.align.start.next = 0.into();
        self.align.beat.next = self.received.valid.val();
        self.align.beat_data.next = bit_cast::<W, E>(self.received.data.val());
        self.align.beat_error.next = (self.received.data.val() >> self.data_shift.val()).any();
        self.received.pop.next = self.align.beat_take.val();
        self.stalled.next =
            self.align.out.val() & (self.words.full.val() | self.commands.full.val());
        self.used.next = self.align.beat_take.val();
        self.left_over.next = (bit_cast::<11, 5>(self.c_lane.val())
            + bit_cast::<11, 10>(self.c_left.val())
            + self.beat_round.val())
            >> self.beat_shift.val();
        self.unneeded.next = 0.into();
        if self.c_take.val() & self.c_bare.val() {
            self.unneeded.next = self.left_over.val();
        }

        // Beats into words. A chunk without data passes as a burst without words.
        self.pack_bare.next = self.pack.q.val().get_bit(47);
        self.bare_out.next =
            self.pack_on.q.val() & self.pack_bare.val() & !self.commands.full.val();
        self.packed.next = self.align.out.val()
            & self.pack_on.q.val()
            & !self.pack_bare.val()
            & !self.words.full.val()
            & !self.commands.full.val();
        self.align.out_take.next = self.packed.val();
        self.lane.next = self.pack.q.val().get_bits::<2>(34);
        if self.within.q.val() {
            self.lane.next = self.lane_at.q.val();
        }
        self.commit.next = (self.lane.val() == self.place_mask.val()) | self.align.out_last.val();
        self.enable_now.next = self.word_enable.q.val()
            | (bit_cast::<64, B>(self.align.out_enable.val())
                << (bit_cast::<7, 2>(self.lane.val()) << self.beat_shift.val()));
        self.words.write.next = self.packed.val();
        self.words.lane.next = self.lane.val();
        self.words.data_in.next = self.align.out_data.val();
        self.words.commit.next = self.commit.val();
        self.words.enable_in.next = self.enable_now.val();
        self.pack_code.next = self.pack.q.val().get_bits::<4>(43);
        if self.align.out_error.val() & !self.pack_bare.val() {
            self.pack_code.next = 7.into();
        }
        self.commands.push.next =
            (self.packed.val() & self.align.out_last.val()) | self.bare_out.val();
        self.commands.data_in.next = bit_cast::<51, 34>(self.pack.q.val().get_bits::<34>(0))
            | (bit_cast::<51, 6>(self.pack.q.val().get_bits::<6>(36)) << 38)
            | (bit_cast::<51, 4>(self.pack_code.val()) << 44)
            | (bit_cast::<51, 1>(self.pack.q.val().get_bit(42).into()) << 48)
            | self.bare_mark.val();
        if !self.pack_bare.val() {
            self.commands.data_in.next = bit_cast::<51, 34>(self.pack.q.val().get_bits::<34>(0))
                | (bit_cast::<51, 4>(self.word_count.q.val() + 1) << 34)
                | (bit_cast::<51, 6>(self.pack.q.val().get_bits::<6>(36)) << 38)
                | (bit_cast::<51, 4>(self.pack_code.val()) << 44)
                | (bit_cast::<51, 1>(self.pack.q.val().get_bit(42).into()) << 48)
                | (bit_cast::<51, 1>((!self.word_count.q.val().any()).into()) << 50);
        }
        self.pack_done.next = (self.packed.val() & self.align.out_last.val()) | self.bare_out.val();
        self.pack_load.next =
            self.packs.valid.val() & (!self.pack_on.q.val() | self.pack_done.val());
        self.packs.pop.next = self.pack_load.val();
        if self.pack_load.val() {
            self.pack_on.d.next = true;
            self.pack.d.next = self.packs.data.val();
        } else if self.pack_done.val() {
            self.pack_on.d.next = false;
        }
        if self.packed.val() {
            self.within.d.next = !self.align.out_last.val();
            self.lane_at.d.next = (self.lane.val() + 1) & self.place_mask.val();
            if self.commit.val() {
                self.word_enable.d.next = 0.into();
                self.word_count.d.next = self.word_count.q.val() + 1;
            } else {
                self.word_enable.d.next = self.enable_now.val();
            }
            if self.align.out_last.val() {
                self.word_count.d.next = 0.into();
            }
        }

        // Memory: the fronts of the two FIFOs are the Avalon command and its data. The end of each
        // read goes back when its words are taken.
        self.mem_count.next = self.command.q.val().get_bits::<4>(34);
        self.mem_bare.next = self.command.q.val().get_bit(49);
        self.mem_reports.next = self.command.q.val().get_bit(48);
        self.mem_open.next = self.command_on.q.val() & !self.written.full.val();
        self.mem_writes.next = self.rinsing.q.val()
            | (self.command_writes.q.val() & !self.written.full.val() & self.words.valid.val());
        self.mem_wr_write.next = self.mem_writes.val();
        self.mem_wr_address.next = bit_cast::<40, 34>(self.command.q.val().get_bits::<34>(0)) << 6;
        self.mem_wr_burstcount.next = bit_cast::<5, 4>(self.mem_count.val());
        self.mem_wr_writedata.next = self.words.data.val();
        self.mem_wr_byteenable.next = self.words.enable.val();
        if self.rinsing.q.val() & !self.stuck.q.val() {
            self.mem_wr_byteenable.next = 0.into();
        }
        self.mem_accept.next = self.mem_writes.val() & !self.mem_wr_waitrequest.val();
        self.mem_last.next = (self.mem_accept.val() & self.ends_burst.q.val())
            | (self.mem_open.val() & self.mem_bare.val());
        self.words.pop.next = self.mem_accept.val();
        self.command_load.next =
            self.commands.valid.val() & (!self.command_on.q.val() | self.mem_last.val());
        self.commands.pop.next = self.command_load.val();
        if self.command_load.val() {
            self.command_on.d.next = true;
            self.command.d.next = self.commands.data.val();
            self.command_writes.d.next = !self.commands.data.val().get_bit(49);
        } else if self.mem_last.val() {
            self.command_on.d.next = false;
            self.command_writes.d.next = false;
        }
        self.written.push.next = self.mem_last.val() & self.mem_reports.val();
        self.written.data_in.next = self.command.q.val().get_bits::<10>(38);
        if self.mem_accept.val() {
            self.burst_beat.d.next = self.burst_beat.q.val() + 1;
            self.ends_burst.d.next = (self.burst_beat.q.val() + 2) == self.mem_count.val();
        }
        if self.command_load.val() {
            self.ends_burst.d.next = self.commands.data.val().get_bit(50);
        }
        if self.mem_last.val() {
            self.burst_beat.d.next = 0.into();
        }
        // Behind a reset: the burst has begun, or its first word stands, and it is not over.
        self.stuck.d.next = self.mem_closed.val()
            & self.mem_writes.val()
            & self.mem_wr_waitrequest.val()
            & (!self.rinsing.q.val() | self.stuck.q.val());
        self.rinsing.d.next = self.mem_closed.val()
            & (self.mem_writes.val() | self.burst_beat.q.val().any())
            & !self.mem_last.val();
        if self.mem_closed.val() {
            self.command_on.d.next = false;
            self.command_writes.d.next = false;
        }
        if self.mem_forgets.val() {
            self.rinsing.d.next = false;
            self.stuck.d.next = false;
            self.burst_beat.d.next = 0.into();
        }

        self.written.pop.next = self.written.valid.val();
        self.done.next = self.written.valid.val();
        self.done_tag.next = self.written.data.val().get_bits::<6>(0);
        self.done_code.next = self.written.data.val().get_bits::<4>(6);

        if self.reset.val() {
            self.front_on.d.next = false;
            self.found_on.d.next = false;
            self.packing.d.next = false;
            self.chunk_came.d.next = false;
            self.beat_came.d.next = false;
            self.pack_on.d.next = false;
            self.within.d.next = false;
            self.word_enable.d.next = 0.into();
            self.word_count.d.next = 0.into();
        }
    }
}
