//! Peer → FPGA memory. A request gets a tag and leaves for the port; [`super::receive`] puts what comes
//! back into memory. A note of each request, in order, waits until all of its bytes are there.

use super::receive::Receive;
use crate::prim::{SmallFifo, SmallRam};
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// What a build fixes for a [`ReadPath`].
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
    // Requests.
    pub request: Signal<In, Bit>,
    pub accept: Signal<Out, Bit>,
    pub bus: Signal<In, Bits<64>>,
    /// ATT address of the request, for the report of a fault: page size code and 38 bits.
    pub att_address: Signal<In, Bits<40>>,
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
    pub tag: Signal<In, Bits<32>>,
    pub channel: Signal<In, Bits<6>>,
    pub descriptor: Signal<In, Bits<6>>,
    /// The descriptor of `channel` and `descriptor` has failed already.
    pub halted: Signal<Out, Bit>,
    /// Clears the memory of one channel a cycle, after a reset.
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    // The port. A chunk says how many bytes of which read its beats bring; one with a code brings
    // none and ends its read.
    pub read: Signal<Out, Bit>,
    pub read_address: Signal<Out, Bits<64>>,
    pub read_beats: Signal<Out, Bits<6>>,
    pub read_bytes: Signal<Out, Bits<10>>,
    pub read_tag: Signal<Out, Bits<6>>,
    pub read_take: Signal<In, Bit>,
    /// Tags that the port has written off and whose completion may still come.
    pub lost: Signal<In, Bits<64>>,
    pub chunk: Signal<In, Bit>,
    pub chunk_tag: Signal<In, Bits<6>>,
    pub chunk_bytes: Signal<In, Bits<10>>,
    pub chunk_code: Signal<In, Bits<4>>,
    pub completion: Signal<In, Bit>,
    pub completion_data: Signal<In, Bits<W>>,
    pub completion_error: Signal<In, Bit>,
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
    /// Bytes that are known to be in memory from this cycle on.
    pub moved: Signal<Out, Bits<10>>,
    pub moved_channel: Signal<Out, Bits<6>>,
    pub requested: Signal<Out, Bit>,
    /// A request has ended, with or without data.
    pub retired: Signal<Out, Bit>,
    pub stalled_buffer: Signal<Out, Bit>,
    pub stalled_memory: Signal<Out, Bit>,
    // FPGA memory, in its own clock.
    pub mem_clock: Signal<In, Clock>,
    pub mem_reset: Signal<In, Bit>,
    pub mem_forgets: Signal<In, Bit>,
    pub mem_wr_address: Signal<Out, Bits<40>>,
    pub mem_wr_write: Signal<Out, Bit>,
    pub mem_wr_burstcount: Signal<Out, Bits<5>>,
    pub mem_wr_writedata: Signal<Out, Bits<512>>,
    pub mem_wr_byteenable: Signal<Out, Bits<64>>,
    pub mem_wr_waitrequest: Signal<In, Bit>,

    /// One that waits for the port, and no more: what is accepted is out of turn.
    reading: DFF<Bit>,
    read_next: DFF<Bits<86>>,
    #[given]
    notes: SmallFifo<109, 6, 7>,
    next_tag: DFF<Bits<6>>,
    used: DFF<Bits<64>>,
    done: DFF<Bits<64>>,
    #[given]
    results: SmallRam<4, 6>,
    /// Beats promised to reads in flight and not yet used up; the receive buffer holds them all.
    promised: DFF<Bits<13>>,
    #[given]
    receive: Receive<W, B, E>,
    // Per channel: progress and first failure of the descriptor.
    #[given]
    done_bytes: SmallRam<32, 6>,
    #[given]
    failures: SmallRam<44, 6>,
    halting: DFF<Bits<64>>,
    #[given]
    halted_number: SmallRam<6, 6>,
    halt_settles: DFF<Bit>,
    // The end that is reported.
    over: DFF<Bit>,
    over_reports: DFF<Bit>,
    over_code: DFF<Bits<4>>,
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
    // What the receiver hears of a request, a cycle later.
    placing: DFF<Bit>,
    placing_tag: DFF<Bits<6>>,
    placing_local: DFF<Bits<40>>,
    placing_lane: DFF<Bits<5>>,
    placing_bytes: DFF<Bits<10>>,
    /// The oldest note, whether its read is over, and whether what is known of it has been looked up since.
    note_on: DFF<Bit>,
    note: DFF<Bits<109>>,
    note_over: DFF<Bit>,
    note_done: DFF<Bit>,
    result: DFF<Bits<4>>,
    so_far: DFF<Bits<32>>,
    so_far_failed: DFF<Bits<44>>,
    note_load: Signal<Local, Bit>,
    took: DFF<Bits<13>>,
    gave: DFF<Bits<13>>,
    unneeded: DFF<Bits<11>>,
    done_bit: Signal<Local, Bits<64>>,
    retired_bit: Signal<Local, Bits<64>>,
    note_tag: Signal<Local, Bits<6>>,
    note_bytes: Signal<Local, Bits<10>>,
    note_code: Signal<Local, Bits<4>>,
    note_real: Signal<Local, Bit>,
    note_last: Signal<Local, Bit>,
    note_channel: Signal<Local, Bits<6>>,
    retire: Signal<Local, Bit>,
    earlier: Signal<Local, Bits<4>>,
    failure: Signal<Local, Bits<4>>,
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
            // With the oldest, which is in a register, fewer than the numbers that `halted` compares: a descriptor
            // that has failed is never taken for the one 64 behind it.
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

        // A request in: a tag, a note, a place, and the read itself. A tag that was written off is
        // passed over until its late completion has come.
        self.real.next = self.has_data.val();
        self.tag_bit.next = self.one.val() << self.next_tag.q.val();
        self.tag_lost.next = (self.lost.val() & self.tag_bit.val()).any();
        self.tag_used.next = (self.used.q.val() & self.tag_bit.val()).any();
        // Requests come several cycles apart: room is looked for anew when one has been counted.
        self.tag_free.d.next = !self.tag_lost.val() & !self.tag_used.val();
        self.room.next = (!self.real.val() & self.notes_room.q.val())
            | (self.real.val() & self.read_room.q.val());
        self.accepted.next = self.request.val() & self.room.val();
        self.accept.next = self.room.val();
        self.notes_room.d.next = !self.accepted.val() & !self.notes.full.val();
        self.read_room.d.next = !self.accepted.val()
            & !self.notes.full.val()
            & !self.reading.q.val()
            & self.tag_free.q.val();
        self.placed.next = self.accepted.val() & self.real.val();
        if self.placed.val() | (self.tag_lost.val() & !self.tag_used.val()) {
            self.tag_free.d.next = false;
            self.next_tag.d.next = (self.next_tag.q.val() + 1) & self.tag_mask.val();
        }
        self.beat_span.next =
            bit_cast::<11, 5>(bit_cast::<5, 64>(self.bus.val()) & self.lane_mask.val())
                + bit_cast::<11, 10>(self.span.val())
                + self.beat_round.val();
        if self.read_take.val() {
            self.reading.d.next = false;
        }
        if self.placed.val() {
            self.reading.d.next = true;
        }
        // What is there means something only with `reading`.
        if !self.reading.q.val() {
            self.read_next.d.next = bit_cast::<86, 64>(self.bus.val())
                | (bit_cast::<86, 11>(self.beat_span.val() >> self.beat_shift.val()) << 64)
                | (bit_cast::<86, 10>(self.bytes.val()) << 70)
                | (bit_cast::<86, 6>(self.next_tag.q.val()) << 80);
        }
        self.notes.push.next = self.accepted.val();
        self.notes.data_in.next = bit_cast::<109, 40>(self.att_address.val())
            | (bit_cast::<109, 10>(self.bytes.val()) << 40)
            | (bit_cast::<109, 4>(self.code.val()) << 50)
            | (bit_cast::<109, 1>(self.last.val().into()) << 54)
            | (bit_cast::<109, 1>(self.want_record.val().into()) << 55)
            | (bit_cast::<109, 1>(self.want_irq.val().into()) << 56)
            | (bit_cast::<109, 32>(self.tag.val()) << 57)
            | (bit_cast::<109, 6>(self.channel.val()) << 89)
            | (bit_cast::<109, 6>(self.next_tag.q.val()) << 95)
            | (bit_cast::<109, 6>(self.descriptor.val()) << 101)
            | (bit_cast::<109, 1>(self.urgent.val().into()) << 107)
            | (bit_cast::<109, 1>(self.real.val().into()) << 108);

        // The port: a read leaves when the receive buffer has room for all of it.
        self.read.next = self.reading.q.val() & self.buffer_room.q.val();
        self.stalled_buffer.next = self.reading.q.val() & !self.buffer_room.q.val();
        self.read_address.next = self.read_next.q.val().get_bits::<64>(0);
        self.read_beats.next = self.read_next.q.val().get_bits::<6>(64);
        self.read_bytes.next = self.read_next.q.val().get_bits::<10>(70);
        self.read_tag.next = self.read_next.q.val().get_bits::<6>(80);

        self.placing.d.next = self.placed.val();
        self.placing_tag.d.next = self.next_tag.q.val();
        self.placing_local.d.next = self.local.val();
        self.placing_lane.d.next = bit_cast::<5, 64>(self.bus.val()) & self.lane_mask.val();
        self.placing_bytes.d.next = self.bytes.val();
        self.receive.place.next = self.placing.q.val();
        self.receive.place_tag.next = self.placing_tag.q.val();
        self.receive.place_local.next = self.placing_local.q.val();
        self.receive.place_lane.next = self.placing_lane.q.val();
        self.receive.place_bytes.next = self.placing_bytes.q.val();
        self.receive.chunk.next = self.chunk.val();
        self.receive.chunk_tag.next = self.chunk_tag.val();
        self.receive.chunk_bytes.next = self.chunk_bytes.val();
        self.receive.chunk_code.next = self.chunk_code.val();
        self.receive.completion.next = self.completion.val();
        self.receive.completion_data.next = self.completion_data.val();
        self.receive.completion_error.next = self.completion_error.val();
        self.stalled_memory.next = self.receive.stalled.val();
        self.receive.mem_clock.next = self.mem_clock.val();
        self.receive.mem_reset.next = self.mem_reset.val();
        self.receive.mem_forgets.next = self.mem_forgets.val();
        self.mem_wr_address.next = self.receive.mem_wr_address.val();
        self.mem_wr_write.next = self.receive.mem_wr_write.val();
        self.mem_wr_burstcount.next = self.receive.mem_wr_burstcount.val();
        self.mem_wr_writedata.next = self.receive.mem_wr_writedata.val();
        self.mem_wr_byteenable.next = self.receive.mem_wr_byteenable.val();
        self.receive.mem_wr_waitrequest.next = self.mem_wr_waitrequest.val();

        // Room in the buffer: a beat that is used, and those that a failed read does not need. What is
        // taken is counted two cycles late, for which a read's room is kept.
        self.took.d.next = 0.into();
        if self.read_take.val() {
            self.took.d.next = bit_cast::<13, 6>(self.read_beats.val());
        }
        self.unneeded.d.next = self.receive.unneeded.val();
        self.gave.d.next = bit_cast::<13, 11>(self.unneeded.q.val())
            + bit_cast::<13, 1>(self.receive.used.val().into());
        self.promised.d.next = self.promised.q.val() + self.took.q.val() - self.gave.q.val();
        self.buffer_room.d.next = self.promised.q.val() <= self.most_promised.val();

        // Which reads are over.
        self.results.write_enable.next = self.receive.done.val();
        self.results.write_address.next = self.receive.done_tag.val();
        self.results.write_data.next = self.receive.done_code.val();
        self.done_bit.next = 0.into();
        if self.receive.done.val() {
            self.done_bit.next = self.one.val() << self.receive.done_tag.val();
        }

        // Retirement, in order; a fault has nothing to wait for. The first failure of a descriptor
        // is the one that is reported.
        self.note_bytes.next = self.note.q.val().get_bits::<10>(40);
        self.note_real.next = self.note.q.val().get_bit(108);
        self.note_last.next = self.note.q.val().get_bit(54);
        self.note_channel.next = self.note.q.val().get_bits::<6>(89);
        self.note_tag.next = self.note.q.val().get_bits::<6>(95);
        self.failures.read_address.next = self.note_channel.val();
        self.done_bytes.read_address.next = self.note_channel.val();
        // Looked up while it is seen that the note's read is over, and a cycle later once more: nothing of
        // these changes then, and what the last note has written, or the end of this read, has settled.
        self.results.read_address.next = self.note_tag.val();
        self.result.d.next = self.results.read_data.val();
        self.so_far.d.next = self.done_bytes.read_data.val();
        self.so_far_failed.d.next = self.failures.read_data.val();
        self.note_code.next = self.note.q.val().get_bits::<4>(50);
        if self.note_real.val() {
            self.note_code.next = self.result.q.val();
        }
        self.over_pop.next = self.over.q.val() & (self.end_take.val() | !self.over_reports.q.val());
        self.retire.next = self.note_on.q.val() & self.note_done.q.val() & !self.over.q.val();
        self.retired.next = self.retire.val();
        self.note_done.d.next = self.note_over.q.val() & !self.retire.val();
        self.note_over.d.next = self.note_on.q.val()
            & !self.retire.val()
            & (!self.note_real.val()
                | (self.done.q.val() & (self.one.val() << self.note_tag.val())).any());
        self.note_load.next = self.notes.valid.val() & (!self.note_on.q.val() | self.retire.val());
        self.notes.pop.next = self.note_load.val();
        if self.note_load.val() {
            self.note_on.d.next = true;
            self.note.d.next = self.notes.data.val();
        } else if self.retire.val() {
            self.note_on.d.next = false;
        }
        self.retired_bit.next = 0.into();
        if self.retire.val() & self.note_real.val() {
            self.retired_bit.next = self.one.val() << self.note_tag.val();
        }
        self.done.d.next =
            ((self.done.q.val() & !self.retired_bit.val()) | self.done_bit.val()) & self.tags.val();
        self.used.d.next = self.used.q.val() & !self.retired_bit.val() & self.tags.val();
        if self.placed.val() {
            self.used.d.next = ((self.used.q.val() & !self.retired_bit.val()) | self.tag_bit.val())
                & self.tags.val();
        }
        self.earlier.next = self.so_far_failed.q.val().get_bits::<4>(0);
        self.failure.next = self.note_code.val();
        self.failure_at.next = self.note.q.val().get_bits::<40>(0);
        if self.earlier.val().any() {
            self.failure.next = self.earlier.val();
            self.failure_at.next = self.so_far_failed.q.val().get_bits::<40>(4);
        }
        self.total.next = self.so_far.q.val();
        if !self.failure.val().any() {
            self.total.next = self.so_far.q.val() + bit_cast::<32, 10>(self.note_bytes.val());
        }
        self.moved.next = self.note_bytes.val();
        self.moved_channel.next = self.note_channel.val();
        self.requested.next = self.retire.val() & self.note_real.val() & !self.failure.val().any();
        self.done_bytes.write_enable.next = self.retire.val() | self.sweep.val();
        self.done_bytes.write_address.next = self.note_channel.val();
        self.done_bytes.write_data.next = self.total.val();
        self.failures.write_enable.next = self.retire.val() | self.sweep.val();
        self.failures.write_address.next = self.note_channel.val();
        self.failures.write_data.next = bit_cast::<44, 4>(self.failure.val())
            | (bit_cast::<44, 40>(self.failure_at.val()) << 4);
        if self.note_last.val() | self.sweep.val() {
            self.done_bytes.write_data.next = 0.into();
            self.failures.write_data.next = 0.into();
        }
        if self.sweep.val() {
            self.done_bytes.write_address.next = self.sweep_channel.val();
            self.failures.write_address.next = self.sweep_channel.val();
        }
        if self.over_pop.val() {
            self.over.d.next = false;
        }
        if self.retire.val() & self.note_last.val() {
            self.over.d.next = true;
            self.over_reports.d.next =
                self.note.q.val().get_bits::<2>(55).any() | self.failure.val().any();
            self.over_code.d.next = self.failure.val();
            self.over_bytes.d.next = self.total.val();
            self.over_tag.d.next = self.note.q.val().get_bits::<32>(57);
            self.over_at.d.next = self.failure_at.val();
            self.over_irq.d.next = self.note.q.val().get_bit(56) | self.failure.val().any();
            self.over_urgent.d.next = self.note.q.val().get_bit(107);
            self.over_channel.d.next = self.note_channel.val();
        }

        // The rest of a descriptor that has failed need not be read.
        self.halting.d.next = self.halting.q.val() & self.all_channels.val();
        if self.retire.val() & self.note_last.val() {
            self.halting.d.next = self.halting.q.val()
                & !(self.one.val() << self.note_channel.val())
                & self.all_channels.val();
        } else if self.retire.val() & self.failure.val().any() {
            self.halting.d.next = (self.halting.q.val()
                | (self.one.val() << self.note_channel.val()))
                & self.all_channels.val();
        }
        self.halted_number.write_enable.next = self.retire.val();
        self.halted_number.write_address.next = self.note_channel.val();
        self.halted_number.write_data.next = self.note.q.val().get_bits::<6>(101);
        self.halted_number.read_address.next = self.channel.val();
        // Not while what is written has not settled: then the rest, or some of it, is read in vain.
        self.halt_settles.d.next = self.retire.val();
        self.halted.next = !self.retire.val()
            & !self.halt_settles.q.val()
            & (self.halting.q.val() & (self.one.val() << self.channel.val())).any()
            & (self.halted_number.read_data.val() == self.descriptor.val());

        // The end that is reported.
        self.end.next = self.over.q.val() & self.over_reports.q.val();
        self.ended.next = self.over_pop.val();
        self.end_code.next = self.over_code.q.val();
        self.end_bytes.next = self.over_bytes.q.val();
        self.end_tag.next = self.over_tag.q.val();
        self.end_irq.next = self.over_irq.q.val();
        self.end_urgent.next = self.over_urgent.q.val();
        self.end_channel.next = self.over_channel.q.val();
        self.end_fault.next = 0.into();
        if self.over_code.q.val().any() {
            self.end_fault.next = bit_cast::<64, 38>(self.over_at.q.val().get_bits::<38>(0))
                | (bit_cast::<64, 2>(self.over_at.q.val().get_bits::<2>(38)) << 62);
        }

        if self.reset.val() {
            self.next_tag.d.next = 0.into();
            self.used.d.next = 0.into();
            self.done.d.next = 0.into();
            self.promised.d.next = 0.into();
            self.took.d.next = 0.into();
            self.gave.d.next = 0.into();
            self.unneeded.d.next = 0.into();
            self.buffer_room.d.next = false;
            self.tag_free.d.next = false;
            self.notes_room.d.next = false;
            self.read_room.d.next = false;
            self.placing.d.next = false;
            self.note_on.d.next = false;
            self.note_over.d.next = false;
            self.note_done.d.next = false;
            self.reading.d.next = false;
            self.halting.d.next = 0.into();
            self.over.d.next = false;
        }
    }
}
