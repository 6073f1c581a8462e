//! Peer → FPGA memory. A request becomes a read on the port, an alignment job, a packing job and a
//! note of what to report when its bytes are in memory; completions come back in order.

use super::align::Align;
use super::lane_fifo::LaneFifo;
use crate::prim::{AsyncFifo, BlockFifo, BusSync, SmallFifo};
use rust_hdl::prelude::*;

/// The read direction after its request maker; `W` bits, `B` bytes a beat, `E` = `W + 1`.
#[derive(LogicBlock)]
pub struct ReadPath<const W: usize, const B: usize, const E: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub idle: Signal<Out, Bit>,
    // Requests.
    pub request: Signal<In, Bit>,
    pub accept: Signal<Out, Bit>,
    pub bus: Signal<In, Bits<64>>,
    /// ATT address of the request, for the report of a fault: page size code and 37 bits.
    pub att_address: Signal<In, Bits<39>>,
    pub local: Signal<In, Bits<40>>,
    pub bytes: Signal<In, Bits<10>>,
    pub last: Signal<In, Bit>,
    pub code: Signal<In, Bits<4>>,
    pub want_record: Signal<In, Bit>,
    pub want_irq: Signal<In, Bit>,
    pub tag: Signal<In, Bits<32>>,
    // The port.
    pub read: Signal<Out, Bit>,
    pub read_address: Signal<Out, Bits<64>>,
    pub read_beats: Signal<Out, Bits<6>>,
    pub read_take: Signal<In, Bit>,
    pub completion: Signal<In, Bit>,
    pub completion_data: Signal<In, Bits<W>>,
    pub completion_error: Signal<In, Bit>,
    // Ends of descriptors.
    pub end: Signal<Out, Bit>,
    pub end_code: Signal<Out, Bits<4>>,
    pub end_bytes: Signal<Out, Bits<32>>,
    pub end_tag: Signal<Out, Bits<32>>,
    pub end_fault: Signal<Out, Bits<64>>,
    pub end_irq: Signal<Out, Bit>,
    pub end_take: Signal<In, Bit>,
    /// Bytes that reached memory in this cycle.
    pub moved: Signal<Out, Bits<10>>,
    // FPGA memory, in its own clock.
    pub mem_clock: Signal<In, Clock>,
    pub mem_reset: Signal<In, Bit>,
    pub mem_wr_address: Signal<Out, Bits<40>>,
    pub mem_wr_write: Signal<Out, Bit>,
    pub mem_wr_burstcount: Signal<Out, Bits<5>>,
    pub mem_wr_writedata: Signal<Out, Bits<512>>,
    pub mem_wr_byteenable: Signal<Out, Bits<64>>,
    pub mem_wr_waitrequest: Signal<In, Bit>,

    reads: SmallFifo<70, 4, 5>,
    jobs: SmallFifo<20, 5, 6>,
    packs: SmallFifo<36, 5, 6>,
    notes: SmallFifo<92, 5, 6>,
    errors: SmallFifo<1, 5, 6>,
    received: BlockFifo<E, 9, 10>,
    align: Align<W, B>,
    words: LaneFifo<W, 7, 8>,
    commands: AsyncFifo<38, 5, 6>,
    /// Memory words promised to reads in flight; the word FIFO holds them all.
    reserved: DFF<Bits<8>>,
    // Packing.
    within: DFF<Bit>,
    lane_at: DFF<Bits<2>>,
    word_enable: DFF<Bits<64>>,
    word_count: DFF<Bits<4>>,
    // In the memory clock: bursts written, a Gray-coded count.
    burst_beat: DFF<Bits<4>>,
    written: DFF<Bits<6>>,
    written_gray: DFF<Bits<6>>,
    written_seen: BusSync<6>,
    // Back in the port's clock.
    retired: DFF<Bits<6>>,
    retired_gray: DFF<Bits<6>>,
    done_bytes: DFF<Bits<32>>,
    failed: DFF<Bits<4>>,
    failed_at: DFF<Bits<39>>,
    ended: DFF<Bit>,
    ended_tag: DFF<Bits<32>>,
    ended_irq: DFF<Bit>,

    room: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    real: Signal<Local, Bit>,
    need: Signal<Local, Bits<4>>,
    word_span: Signal<Local, Bits<11>>,
    beat_span: Signal<Local, Bits<11>>,
    lane: Signal<Local, Bits<2>>,
    packed: Signal<Local, Bit>,
    commit: Signal<Local, Bit>,
    enable_now: Signal<Local, Bits<64>>,
    mem_accept: Signal<Local, Bit>,
    mem_last: Signal<Local, Bit>,
    written_next: Signal<Local, Bits<6>>,
    retired_next: Signal<Local, Bits<6>>,
    note_bytes: Signal<Local, Bits<10>>,
    note_code: Signal<Local, Bits<4>>,
    note_real: Signal<Local, Bit>,
    note_error: Signal<Local, Bit>,
    retire: Signal<Local, Bit>,
    failure: Signal<Local, Bits<4>>,
    reports: Signal<Local, Bit>,

    lane_mask: Constant<Bits<5>>,
    beat_round: Constant<Bits<11>>,
    beat_shift: Constant<Bits<3>>,
    place_mask: Constant<Bits<2>>,
    data_shift: Constant<Bits<9>>,
    most_reserved: Constant<Bits<8>>,
}

impl<const W: usize, const B: usize, const E: usize> Default for ReadPath<W, B, E> {
    fn default() -> Self {
        assert!(E == W + 1);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            idle: Default::default(),
            request: Default::default(),
            accept: Default::default(),
            bus: Default::default(),
            att_address: Default::default(),
            local: Default::default(),
            bytes: Default::default(),
            last: Default::default(),
            code: Default::default(),
            want_record: Default::default(),
            want_irq: Default::default(),
            tag: Default::default(),
            read: Default::default(),
            read_address: Default::default(),
            read_beats: Default::default(),
            read_take: Default::default(),
            completion: Default::default(),
            completion_data: Default::default(),
            completion_error: Default::default(),
            end: Default::default(),
            end_code: Default::default(),
            end_bytes: Default::default(),
            end_tag: Default::default(),
            end_fault: Default::default(),
            end_irq: Default::default(),
            end_take: Default::default(),
            moved: Default::default(),
            mem_clock: Default::default(),
            mem_reset: Default::default(),
            mem_wr_address: Default::default(),
            mem_wr_write: Default::default(),
            mem_wr_burstcount: Default::default(),
            mem_wr_writedata: Default::default(),
            mem_wr_byteenable: Default::default(),
            mem_wr_waitrequest: Default::default(),
            reads: Default::default(),
            jobs: Default::default(),
            packs: Default::default(),
            notes: Default::default(),
            errors: Default::default(),
            received: Default::default(),
            align: Default::default(),
            words: Default::default(),
            commands: Default::default(),
            reserved: Default::default(),
            within: Default::default(),
            lane_at: Default::default(),
            word_enable: Default::default(),
            word_count: Default::default(),
            burst_beat: Default::default(),
            written: Default::default(),
            written_gray: Default::default(),
            written_seen: Default::default(),
            retired: Default::default(),
            retired_gray: Default::default(),
            done_bytes: Default::default(),
            failed: Default::default(),
            failed_at: Default::default(),
            ended: Default::default(),
            ended_tag: Default::default(),
            ended_irq: Default::default(),
            room: Default::default(),
            accepted: Default::default(),
            real: Default::default(),
            need: Default::default(),
            word_span: Default::default(),
            beat_span: Default::default(),
            lane: Default::default(),
            packed: Default::default(),
            commit: Default::default(),
            enable_now: Default::default(),
            mem_accept: Default::default(),
            mem_last: Default::default(),
            written_next: Default::default(),
            retired_next: Default::default(),
            note_bytes: Default::default(),
            note_code: Default::default(),
            note_real: Default::default(),
            note_error: Default::default(),
            retire: Default::default(),
            failure: Default::default(),
            reports: Default::default(),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_round: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            place_mask: Constant::new((64 / B as u64 - 1).into()),
            data_shift: Constant::new((W as u64).into()),
            // 128 words in all, 9 at most for the next request.
            most_reserved: Constant::new((128 - 9).into()),
        }
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for ReadPath<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            reserved,
            within,
            lane_at,
            word_enable,
            word_count,
            retired,
            retired_gray,
            done_bytes,
            failed,
            failed_at,
            ended,
            ended_tag,
            ended_irq
        );
        dff_setup!(self, mem_clock, burst_beat, written, written_gray);
        clock!(
            self,
            clock,
            reads,
            jobs,
            packs,
            notes,
            errors,
            received,
            align,
            written_seen
        );
        self.reads.reset.next = self.reset.val();
        self.jobs.reset.next = self.reset.val();
        self.packs.reset.next = self.reset.val();
        self.notes.reset.next = self.reset.val();
        self.errors.reset.next = self.reset.val();
        self.received.reset.next = self.reset.val();
        self.align.reset.next = self.reset.val();
        self.words.write_clock.next = self.clock.val();
        self.words.write_reset.next = self.reset.val();
        self.words.read_clock.next = self.mem_clock.val();
        self.words.read_reset.next = self.mem_reset.val();
        self.commands.write_clock.next = self.clock.val();
        self.commands.write_reset.next = self.reset.val();
        self.commands.read_clock.next = self.mem_clock.val();
        self.commands.read_reset.next = self.mem_reset.val();
        self.idle.next = !self.notes.valid.val() & !self.ended.q.val();

        // A request in: four FIFOs and the reservation of its memory words.
        self.real.next = self.bytes.val().any();
        self.room.next = !self.reads.full.val()
            & !self.jobs.full.val()
            & !self.packs.full.val()
            & !self.notes.full.val()
            & (self.reserved.q.val() <= self.most_reserved.val());
        self.accepted.next = self.request.val() & self.room.val();
        self.accept.next = self.room.val();
        self.word_span.next = bit_cast::<11, 6>(self.local.val().get_bits::<6>(0))
            + bit_cast::<11, 10>(self.bytes.val())
            + 63;
        self.need.next = self.word_span.val().get_bits::<4>(6);
        self.beat_span.next =
            bit_cast::<11, 5>(bit_cast::<5, 64>(self.bus.val()) & self.lane_mask.val())
                + bit_cast::<11, 10>(self.bytes.val())
                + self.beat_round.val();
        self.reads.push.next = self.accepted.val() & self.real.val();
        self.reads.data_in.next =
            bit_cast::<70, 64>(self.bus.val() & !bit_cast::<64, 5>(self.lane_mask.val()))
                | (bit_cast::<70, 11>(self.beat_span.val() >> self.beat_shift.val()) << 64);
        self.jobs.push.next = self.accepted.val() & self.real.val();
        self.jobs.data_in.next =
            bit_cast::<20, 5>(bit_cast::<5, 64>(self.bus.val()) & self.lane_mask.val())
                | (bit_cast::<20, 5>(bit_cast::<5, 40>(self.local.val()) & self.lane_mask.val())
                    << 5)
                | (bit_cast::<20, 10>(self.bytes.val()) << 10);
        self.packs.push.next = self.accepted.val() & self.real.val();
        self.packs.data_in.next = bit_cast::<36, 34>(self.local.val().get_bits::<34>(6))
            | (bit_cast::<36, 2>(
                bit_cast::<2, 6>(self.local.val().get_bits::<6>(0) >> self.beat_shift.val())
                    & self.place_mask.val(),
            ) << 34);
        self.notes.push.next = self.accepted.val();
        self.notes.data_in.next = bit_cast::<92, 39>(self.att_address.val())
            | (bit_cast::<92, 10>(self.bytes.val()) << 39)
            | (bit_cast::<92, 4>(self.code.val()) << 49)
            | (bit_cast::<92, 1>(self.last.val().into()) << 53)
            | (bit_cast::<92, 1>(self.want_record.val().into()) << 54)
            | (bit_cast::<92, 1>(self.want_irq.val().into()) << 55)
            | (bit_cast::<92, 32>(self.tag.val()) << 56)
            | (bit_cast::<92, 4>(self.need.val()) << 88);

        // The port. At most 8 × 32 beats are in flight, so half the receive FIFO must be free.
        self.read.next = self.reads.valid.val() & !self.received.level.val().get_bits::<2>(8).any();
        self.read_address.next = self.reads.data.val().get_bits::<64>(0);
        self.read_beats.next = self.reads.data.val().get_bits::<6>(64);
        self.reads.pop.next = self.read_take.val();
        self.received.push.next = self.completion.val();
        self.received.data_in.next = bit_cast::<E, W>(self.completion_data.val())
            | (bit_cast::<E, 1>(self.completion_error.val().into()) << self.data_shift.val());

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

        // Beats into words.
        self.packed.next = self.align.out.val()
            & !self.words.full.val()
            & !self.commands.full.val()
            & !self.errors.full.val();
        self.align.out_take.next = self.packed.val();
        self.lane.next = self.packs.data.val().get_bits::<2>(34);
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
        self.commands.push.next = self.packed.val() & self.align.out_last.val();
        self.commands.data_in.next = bit_cast::<38, 34>(self.packs.data.val().get_bits::<34>(0))
            | (bit_cast::<38, 4>(self.word_count.q.val() + 1) << 34);
        self.packs.pop.next = self.packed.val() & self.align.out_last.val();
        self.errors.push.next = self.packed.val() & self.align.out_last.val();
        self.errors.data_in.next = self.align.out_error.val().into();
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

        // Memory: the fronts of the two FIFOs are the Avalon command and its data.
        self.mem_wr_write.next = self.commands.valid.val() & self.words.valid.val();
        self.mem_wr_address.next =
            bit_cast::<40, 34>(self.commands.data.val().get_bits::<34>(0)) << 6;
        self.mem_wr_burstcount.next = bit_cast::<5, 4>(self.commands.data.val().get_bits::<4>(34));
        self.mem_wr_writedata.next = self.words.data.val();
        self.mem_wr_byteenable.next = self.words.enable.val();
        self.mem_accept.next =
            self.commands.valid.val() & self.words.valid.val() & !self.mem_wr_waitrequest.val();
        self.mem_last.next =
            (self.burst_beat.q.val() + 1) == self.commands.data.val().get_bits::<4>(34);
        self.words.pop.next = self.mem_accept.val();
        self.commands.pop.next = self.mem_accept.val() & self.mem_last.val();
        self.written_next.next = self.written.q.val() + 1;
        if self.mem_accept.val() {
            self.burst_beat.d.next = self.burst_beat.q.val() + 1;
            if self.mem_last.val() {
                self.burst_beat.d.next = 0.into();
                self.written.d.next = self.written_next.val();
                self.written_gray.d.next = self.written_next.val() ^ (self.written_next.val() >> 1);
            }
        }
        if self.mem_reset.val() {
            self.burst_beat.d.next = 0.into();
            self.written.d.next = 0.into();
            self.written_gray.d.next = 0.into();
        }
        self.written_seen.unsynced.next = self.written_gray.q.val();

        // Retirement, in order; a fault has nothing to wait for.
        self.note_bytes.next = self.notes.data.val().get_bits::<10>(39);
        self.note_real.next = self.note_bytes.val().any();
        self.note_error.next = self.note_real.val() & self.errors.data.val().any();
        self.note_code.next = self.notes.data.val().get_bits::<4>(49);
        if self.note_error.val() {
            self.note_code.next = 7.into();
        }
        self.retire.next = self.notes.valid.val()
            & !self.ended.q.val()
            & (!self.note_real.val()
                | (self.written_seen.synced.val() != self.retired_gray.q.val()));
        self.notes.pop.next = self.retire.val();
        self.errors.pop.next = self.retire.val() & self.note_real.val();
        self.retired_next.next = self.retired.q.val() + 1;
        self.failure.next = self.failed.q.val();
        if !self.failed.q.val().any() {
            self.failure.next = self.note_code.val();
        }
        self.reports.next =
            self.notes.data.val().get_bits::<2>(54).any() | self.failure.val().any();
        self.moved.next = 0.into();
        if self.retire.val() {
            if self.note_real.val() {
                self.retired.d.next = self.retired_next.val();
                self.retired_gray.d.next = self.retired_next.val() ^ (self.retired_next.val() >> 1);
            }
            if !self.failed.q.val().any() {
                self.failed.d.next = self.note_code.val();
                self.failed_at.d.next = self.notes.data.val().get_bits::<39>(0);
            }
            if !self.failure.val().any() {
                self.moved.next = self.note_bytes.val();
                self.done_bytes.d.next =
                    self.done_bytes.q.val() + bit_cast::<32, 10>(self.note_bytes.val());
            }
            if self.notes.data.val().get_bit(53) {
                self.ended.d.next = self.reports.val();
                self.ended_tag.d.next = self.notes.data.val().get_bits::<32>(56);
                self.ended_irq.d.next =
                    self.notes.data.val().get_bit(55) | self.failure.val().any();
                if !self.reports.val() {
                    self.done_bytes.d.next = 0.into();
                }
            }
        }
        if self.end_take.val() {
            self.ended.d.next = false;
            self.done_bytes.d.next = 0.into();
            self.failed.d.next = 0.into();
        }
        if self.accepted.val() & self.real.val() {
            if self.retire.val() & self.note_real.val() {
                self.reserved.d.next = self.reserved.q.val() + bit_cast::<8, 4>(self.need.val())
                    - bit_cast::<8, 4>(self.notes.data.val().get_bits::<4>(88));
            } else {
                self.reserved.d.next = self.reserved.q.val() + bit_cast::<8, 4>(self.need.val());
            }
        } else if self.retire.val() & self.note_real.val() {
            self.reserved.d.next =
                self.reserved.q.val() - bit_cast::<8, 4>(self.notes.data.val().get_bits::<4>(88));
        }
        self.end.next = self.ended.q.val();
        self.end_code.next = self.failed.q.val();
        self.end_bytes.next = self.done_bytes.q.val();
        self.end_tag.next = self.ended_tag.q.val();
        self.end_fault.next = 0.into();
        if self.failed.q.val().any() {
            self.end_fault.next = bit_cast::<64, 37>(self.failed_at.q.val().get_bits::<37>(0))
                | (bit_cast::<64, 2>(self.failed_at.q.val().get_bits::<2>(37)) << 62);
        }
        self.end_irq.next = self.ended_irq.q.val();

        if self.reset.val() {
            self.reserved.d.next = 0.into();
            self.within.d.next = false;
            self.word_enable.d.next = 0.into();
            self.word_count.d.next = 0.into();
            self.retired.d.next = 0.into();
            self.retired_gray.d.next = 0.into();
            self.done_bytes.d.next = 0.into();
            self.failed.d.next = 0.into();
            self.ended.d.next = false;
        }
    }
}
