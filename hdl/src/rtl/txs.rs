//! The adapter between the engine's port (write bursts, read requests, records, messages) and the
//! Avalon-MM `Txs` slave of the Stratix V hard IP, within its contract (Stratix V Avalon-MM interface
//! for PCIe user guide 683411, A.4.2 and A.4.3): bursts of at most 512 bytes, all byte enables set
//! on reads, at most 8 reads in flight, answered in order.
//!
//! A read that is not answered in time puts the reads into quarantine: each that is owed an answer ends
//! with an error, so that whoever waits gets one; what arrives late is dropped; and no new read leaves
//! until all that was owed has come or the driver lets go.
//!
//! A read must not pass the writes in front of it, and the bridge buffers writes: were it kept full, each
//! read would wait for all of that first, and 8 in flight could not fill the link. So while reads are
//! under way, writes are paced at the rate of the link (a leaky bucket of the bytes that packets take
//! there: 24 of header and framing beside the payload, Base Specification 2.2 and 4.2.2), if the driver
//! has told it.
//!
//! The engine may be reset while the hard IP is not, from the side of FPGA memory. What the bus owes stays
//! counted: reads are in quarantine until it has come.
//!
//! A port that takes nothing for as long is dead, so that the engine comes to rest: [`super::poster`].

use super::poster::Poster;
use crate::prim::SmallFifo;
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// Reads that `Txs` takes before it holds the bus; the ninth would stop writes too.
pub const READS_IN_FLIGHT_LOG2: usize = 3;

/// The adapter for a port of `W` bits and `B` bytes. Its `txs_address` has 64 bits; a port with
/// fewer takes the low ones.
#[derive(DocBlock)]
pub struct TxsAdapter<const W: usize, const B: usize> {
    pub pcie_clk: Signal<In, Clock>,
    /// With the bus: nothing is owed any more.
    pub port_reset: Signal<In, Bit>,
    /// The engine is reset, the bus is not.
    pub port_clear: Signal<In, Bit>,
    // Write bursts: address and length stand while the beats come.
    pub port_write: Signal<In, Bit>,
    pub port_write_address: Signal<In, Bits<64>>,
    pub port_write_beats: Signal<In, Bits<6>>,
    pub port_beat: Signal<In, Bit>,
    pub port_beat_data: Signal<In, Bits<W>>,
    pub port_beat_enable: Signal<In, Bits<B>>,
    pub port_beat_take: Signal<Out, Bit>,
    /// The last beat of the burst is taken in this cycle.
    pub port_write_done: Signal<Out, Bit>,
    // Read requests: a byte address, the beats that it touches, its bytes, its tag.
    pub port_read: Signal<In, Bit>,
    pub port_read_address: Signal<In, Bits<64>>,
    pub port_read_beats: Signal<In, Bits<6>>,
    pub port_read_bytes: Signal<In, Bits<10>>,
    pub port_read_tag: Signal<In, Bits<6>>,
    pub port_read_take: Signal<Out, Bit>,
    // Flush reads of one beat, whose data nobody wants; `flushed` in request order.
    pub port_flush: Signal<In, Bit>,
    pub port_flush_address: Signal<In, Bits<64>>,
    pub port_flush_take: Signal<Out, Bit>,
    pub port_flushed: Signal<Out, Bit>,
    pub port_flush_error: Signal<Out, Bit>,
    // Records of 32 bytes.
    pub port_record: Signal<In, Bit>,
    pub port_record_address: Signal<In, Bits<64>>,
    pub port_record_data: Signal<In, Bits<256>>,
    pub port_record_take: Signal<Out, Bit>,
    // Messages of 4 bytes.
    pub port_message: Signal<In, Bit>,
    pub port_message_address: Signal<In, Bits<64>>,
    pub port_message_data: Signal<In, Bits<32>>,
    pub port_message_take: Signal<Out, Bit>,
    // Completions; never refused.
    pub port_chunk: Signal<Out, Bit>,
    pub port_chunk_tag: Signal<Out, Bits<6>>,
    pub port_chunk_bytes: Signal<Out, Bits<10>>,
    pub port_chunk_code: Signal<Out, Bits<4>>,
    pub port_completion: Signal<Out, Bit>,
    pub port_completion_data: Signal<Out, Bits<W>>,
    pub port_completion_error: Signal<Out, Bit>,
    pub port_lost: Signal<Out, Bits<64>>,
    // Control.
    pub port_timeout: Signal<In, Bits<32>>,
    pub port_release: Signal<In, Bit>,
    /// Bytes that the link carries in a cycle, in 1/256; 0: writes are not paced.
    pub port_pace: Signal<In, Bits<16>>,
    /// Reads would not be answered now.
    pub port_reads_down: Signal<Out, Bit>,
    pub port_quarantine: Signal<Out, Bit>,
    pub port_dead: Signal<Out, Bit>,
    /// Nothing that was taken waits to go out.
    pub port_free: Signal<Out, Bit>,
    /// What the engine gave in cycles before the last, but for reads, has left.
    pub port_sent: Signal<Out, Bit>,
    /// Something of before a reset of the engine stands at the bus.
    pub port_rinses: Signal<Out, Bit>,
    /// The same of reads.
    pub port_asked: Signal<Out, Bit>,
    pub port_stalled: Signal<Out, Bit>,
    pub port_stalled_tags: Signal<Out, Bit>,
    /// 1: completions carry a status and come by tag.
    pub port_tagged: Signal<Out, Bit>,
    // The Avalon master.
    pub txs_address: Signal<Out, Bits<64>>,
    pub txs_read: Signal<Out, Bit>,
    pub txs_write: Signal<Out, Bit>,
    pub txs_writedata: Signal<Out, Bits<W>>,
    pub txs_byteenable: Signal<Out, Bits<B>>,
    pub txs_burstcount: Signal<Out, Bits<6>>,
    pub txs_waitrequest: Signal<In, Bit>,
    pub txs_readdata: Signal<In, Bits<W>>,
    pub txs_readdatavalid: Signal<In, Bit>,

    poster: Poster<W, B>,
    // Reads in flight: beats less two, bytes, tag, whether it flushes, whether it has one beat. Of the oldest:
    // beats seen; some are, and then: the next is its last. Beats owed in all.
    #[given]
    pending: SmallFifo<24, 3, 4>,
    seen: DFF<Bits<6>>,
    begun: DFF<Bit>,
    at_last: DFF<Bit>,
    owed: DFF<Bits<10>>,
    owes: DFF<Bit>,
    /// Beats of the read of the last cycle, not yet counted there.
    asked: DFF<Bits<6>>,
    owed_next: Signal<Local, Bits<10>>,
    isolated: DFF<Bit>,
    /// A flush was taken in the last cycle and has failed.
    absorbed: DFF<Bit>,
    timer: DFF<Bits<32>>,
    expired: DFF<Bit>,
    /// A new burst would be ahead of the link, as of the last cycle.
    held_back: DFF<Bit>,
    // Bytes given to the port that the link has not carried yet, in 1/256.
    backlog: DFF<Bits<20>>,
    /// What the last cycle added to it, in bytes.
    given: DFF<Bits<12>>,

    /// The last read that left was a flush.
    flushed_last: DFF<Bit>,
    /// A flush is next: it and the other reads take turns.
    flush_turn: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    closed: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
    probe: Signal<Local, Bit>,
    issued_beats: Signal<Local, Bits<6>>,
    old_last: Signal<Local, Bits<6>>,
    old_bytes: Signal<Local, Bits<10>>,
    old_tag: Signal<Local, Bits<6>>,
    old_flush: Signal<Local, Bit>,
    old_single: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
    arriving: Signal<Local, Bit>,
    giving_up: Signal<Local, Bit>,
    fill: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    ends_old: Signal<Local, Bit>,
    absorb: Signal<Local, Bit>,
    flush_absorb: Signal<Local, Bit>,
    carried: Signal<Local, Bits<21>>,
    drained: Signal<Local, Bits<20>>,

    lane_mask: Constant<Bits<64>>,
    beat_shift: Constant<Bits<3>>,
}

impl<const W: usize, const B: usize> Default for TxsAdapter<W, B> {
    fn default() -> Self {
        Self::fresh(TxsAdapterGiven {
            pending: SmallFifo::new(READS_IN_FLIGHT_LOG2),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for TxsAdapter<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            pcie_clk,
            held_back,
            owes,
            asked,
            seen,
            begun,
            at_last,
            owed,
            isolated,
            absorbed,
            timer,
            expired,
            given,
            backlog,
            flushed_last
        );
        clock!(self, pcie_clk, poster, pending);
        self.poster.reset.next = self.port_reset.val();
        self.poster.clear.next = self.port_clear.val();
        self.pending.reset.next = self.port_reset.val() | self.port_clear.val();
        self.txs_address.next = self.poster.address.val();
        self.txs_read.next = self.poster.asking.val();
        self.txs_write.next = self.poster.posting.val();
        self.txs_writedata.next = self.poster.data.val();
        self.txs_byteenable.next = self.poster.enable.val();
        self.txs_burstcount.next = self.poster.beats.val();
        self.poster.ready.next = !self.txs_waitrequest.val();
        self.port_tagged.next = false;
        self.port_lost.next = 0.into();
        self.port_quarantine.next = self.isolated.q.val();
        self.port_dead.next = self.poster.dead.val();
        self.closed.next = self.isolated.q.val() | self.poster.dead.val();
        self.port_reads_down.next = self.closed.val();
        self.port_free.next = !self.poster.waiting.val() | self.poster.dead.val();
        self.port_sent.next = self.poster.sent.val();
        self.port_rinses.next = self.poster.rinses.val();
        // Reads share the bus.
        self.port_asked.next = true;
        self.port_stalled.next = self.poster.waiting.val();
        self.port_stalled_tags.next =
            self.port_read.val() & !self.closed.val() & self.pending.full.val();

        // Reads are the commands of somebody else on the bus of the posted bursts.
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
        self.poster.hold.next = self.held_back.q.val();
        self.poster.timeout.next = self.port_timeout.val();
        self.poster.also_waiting.next = false;
        self.open.next = !self.closed.val() & !self.expired.q.val() & !self.pending.full.val();
        self.poster.other.next = (self.port_read.val() | self.port_flush.val()) & self.open.val();
        self.poster.other_address.next = self.port_read_address.val() & !self.lane_mask.val();
        self.issued_beats.next = self.port_read_beats.val();
        self.flush_turn.next =
            self.port_flush.val() & !(self.port_read.val() & self.flushed_last.q.val());
        if self.flush_turn.val() {
            self.poster.other_address.next = self.port_flush_address.val();
            self.issued_beats.next = 1.into();
        }
        self.poster.other_beats.next = self.issued_beats.val();
        self.issue.next = self.poster.other_take.val();
        self.probe.next = self.issue.val() & self.flush_turn.val();
        if self.issue.val() {
            self.flushed_last.d.next = self.flush_turn.val();
        }
        self.held_back.d.next = self.port_pace.val().any()
            & (self.port_read.val() | self.pending.some.val())
            & !self.closed.val()
            & self.backlog.q.val().get_bits::<6>(14).any();

        // What the link has to carry: a read as two requests, a burst with its header.
        self.carried.next =
            bit_cast::<21, 20>(self.backlog.q.val()) - bit_cast::<21, 16>(self.port_pace.val());
        self.drained.next = self.carried.val().get_bits::<20>(0);
        if self.carried.val().get_bit(20) {
            self.drained.next = 0.into();
        }
        self.given.d.next = 0.into();
        if self.issue.val() {
            self.given.d.next = 48.into();
        } else if self.poster.record_take.val() {
            self.given.d.next = 56.into();
        } else if self.poster.message_take.val() {
            self.given.d.next = 28.into();
        } else if self.poster.begins.val() {
            self.given.d.next =
                (bit_cast::<12, 6>(self.port_write_beats.val()) << self.beat_shift.val()) + 24;
        }
        // What cannot be in the bridge any more is not counted.
        self.backlog.d.next = self.drained.val();
        if !self.drained.val().get_bit(19) {
            self.backlog.d.next =
                self.drained.val() + (bit_cast::<20, 12>(self.given.q.val()) << 8);
        }

        // Reads in flight.
        self.old_last.next = self.pending.data.val().get_bits::<6>(0);
        self.old_bytes.next = self.pending.data.val().get_bits::<10>(6);
        self.old_tag.next = self.pending.data.val().get_bits::<6>(16);
        self.old_flush.next = self.pending.data.val().get_bit(22);
        self.old_single.next = self.pending.data.val().get_bit(23);
        self.pending.push.next = self.issue.val();
        self.pending.data_in.next = bit_cast::<24, 6>(self.issued_beats.val() - 2)
            | (bit_cast::<24, 10>(self.port_read_bytes.val()) << 6)
            | (bit_cast::<24, 6>(self.port_read_tag.val()) << 16)
            | (bit_cast::<24, 1>(self.probe.val().into()) << 22)
            | (bit_cast::<24, 1>((self.issued_beats.val() == 1).into()) << 23);
        self.answered.next = self.txs_readdatavalid.val() & self.owes.q.val();
        // In good times a beat of the oldest read arrives; in quarantine its end is made up.
        self.arriving.next = self.answered.val() & !self.isolated.q.val();
        self.giving_up.next = self.isolated.q.val() & self.pending.valid.val();
        self.fill.next = self.giving_up.val() & !self.old_flush.val() & self.begun.q.val();
        self.ends_old.next = self.old_single.val();
        if self.begun.q.val() {
            self.ends_old.next = self.at_last.q.val();
        }
        self.finished.next = (self.arriving.val() | self.fill.val()) & self.ends_old.val();
        self.pending.pop.next = self.finished.val() | (self.giving_up.val() & !self.fill.val());
        if self.arriving.val() | self.fill.val() {
            self.seen.d.next = self.seen.q.val() + 1;
            self.begun.d.next = true;
            self.at_last.d.next = self.seen.q.val() == self.old_last.val();
        }
        if self.finished.val() {
            self.seen.d.next = 0.into();
            self.begun.d.next = false;
        }
        self.asked.d.next = 0.into();
        if self.issue.val() & !self.poster.dead.val() {
            self.asked.d.next = self.issued_beats.val();
        }
        self.owed_next.next = self.owed.q.val() + bit_cast::<10, 6>(self.asked.q.val());
        if self.answered.val() {
            self.owed_next.next = self.owed.q.val() + bit_cast::<10, 6>(self.asked.q.val()) - 1;
        }
        // A read that stands at the bus will be answered yet.
        if self.port_release.val() & self.isolated.q.val() & !self.poster.asking.val() {
            self.owed_next.next = 0.into();
        }
        self.owed.d.next = self.owed_next.val();
        self.owes.d.next = self.owed_next.val().any();

        // The oldest read is late when nothing at all has come for `timeout` cycles.
        if self.txs_readdatavalid.val() | !self.owes.q.val() | self.isolated.q.val() {
            self.timer.d.next = self.port_timeout.val();
        } else if self.timer.q.val().any() {
            self.timer.d.next = self.timer.q.val() - 1;
        }
        self.expired.d.next = (self.timer.q.val() == 1)
            & !self.txs_readdatavalid.val()
            & self.owes.q.val()
            & !self.isolated.q.val();
        if self.isolated.q.val() & !self.owes.q.val() & !self.pending.some.val() {
            self.isolated.d.next = false;
        }
        if self.expired.q.val() | self.poster.dies.val() {
            self.isolated.d.next = true;
        }
        // What the engine hears of it. In quarantine a new read ends at once, one a cycle, behind those
        // that are owed.
        self.absorb.next = self.port_read.val() & self.closed.val() & !self.pending.some.val();
        self.flush_absorb.next =
            self.port_flush.val() & self.closed.val() & !self.pending.some.val();
        self.port_read_take.next = (self.issue.val() & !self.probe.val()) | self.absorb.val();
        self.port_flush_take.next = self.probe.val() | self.flush_absorb.val();
        // A cycle later: who takes a flush is known late. Nothing else is under way then.
        self.absorbed.d.next = self.flush_absorb.val();
        self.port_flushed.next = self.absorbed.q.val()
            | (self.old_flush.val() & (self.arriving.val() | self.giving_up.val()));
        self.port_flush_error.next = self.closed.val() | self.absorbed.q.val();
        self.port_chunk.next = self.absorb.val()
            | (!self.old_flush.val()
                & !self.begun.q.val()
                & (self.arriving.val() | self.giving_up.val()));
        self.port_chunk_tag.next = self.old_tag.val();
        self.port_chunk_bytes.next = self.old_bytes.val();
        self.port_chunk_code.next = 0.into();
        if self.absorb.val() {
            self.port_chunk_tag.next = self.port_read_tag.val();
            self.port_chunk_code.next = 8.into();
        } else if self.giving_up.val() {
            self.port_chunk_code.next = 7.into();
        }
        self.port_completion.next = (self.arriving.val() & !self.old_flush.val()) | self.fill.val();
        self.port_completion_data.next = self.txs_readdata.val();
        self.port_completion_error.next = self.fill.val();

        if self.port_clear.val() | self.port_reset.val() {
            self.absorbed.d.next = false;
        }
        if self.port_clear.val() {
            self.seen.d.next = 0.into();
            self.begun.d.next = false;
            self.held_back.d.next = false;
            self.expired.d.next = false;
            self.isolated.d.next = self.owes.q.val() | self.asked.q.val().any();
        }
        if self.port_reset.val() {
            self.backlog.d.next = 0.into();
            self.given.d.next = 0.into();
            self.seen.d.next = 0.into();
            self.begun.d.next = false;
            self.owed.d.next = 0.into();
            self.asked.d.next = 0.into();
            self.owes.d.next = false;
            self.held_back.d.next = false;
            self.isolated.d.next = false;
            self.timer.d.next = 0.into();
            self.expired.d.next = false;
        }
    }
}
