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
//! A port that takes nothing for as long is dead: what the engine sends is dropped, so that the engine
//! comes to rest; the request that stands on the bus stays there, and were it taken after all, the rest
//! of its burst would follow with no byte enabled. Only a reset ends that.

use crate::prim::{SmallFifo, fresh};
use rust_hdl::prelude::*;

/// Reads that `Txs` takes before it holds the bus; the ninth would stop writes too.
pub const READS_IN_FLIGHT_LOG2: usize = 3;

/// The adapter for a port of `W` bits and `B` bytes. Its `txs_address` has 64 bits; a port with
/// fewer takes the low ones.
#[derive(LogicBlock)]
pub struct TxsAdapter<const W: usize, const B: usize> {
    pub pcie_clk: Signal<In, Clock>,
    /// Power-up reset only: what is owed on the bus outlives a soft reset.
    pub port_reset: Signal<In, Bit>,
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

    reading: DFF<Bit>,
    writing: DFF<Bit>,
    address: DFF<Bits<64>>,
    data: DFF<Bits<W>>,
    enable: DFF<Bits<B>>,
    beats: DFF<Bits<6>>,
    burst_left: DFF<Bits<6>>,
    second_half: DFF<Bit>,
    // Reads in flight: beats, bytes, tag, whether it flushes; beats seen of the oldest; beats owed in all.
    pending: SmallFifo<23, 3, 4>,
    seen: DFF<Bits<6>>,
    owed: DFF<Bits<10>>,
    owes: DFF<Bit>,
    owed_next: Signal<Local, Bits<10>>,
    isolated: DFF<Bit>,
    timer: DFF<Bits<32>>,
    expired: DFF<Bit>,
    /// A new burst would be ahead of the link, as of the last cycle.
    held_back: DFF<Bit>,
    // Bytes given to the port that the link has not carried yet, in 1/256.
    backlog: DFF<Bits<20>>,
    // A port that stands still.
    patience: DFF<Bits<32>>,
    stuck: DFF<Bit>,
    dead: DFF<Bit>,
    stuck_left: DFF<Bits<6>>,

    waiting: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    dies: Signal<Local, Bit>,
    may_read: Signal<Local, Bit>,
    may_flush: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    closed: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
    probe: Signal<Local, Bit>,
    issued_beats: Signal<Local, Bits<6>>,
    old_beats: Signal<Local, Bits<6>>,
    old_bytes: Signal<Local, Bits<10>>,
    old_tag: Signal<Local, Bits<6>>,
    old_flush: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
    arriving: Signal<Local, Bit>,
    giving_up: Signal<Local, Bit>,
    fill: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    absorb: Signal<Local, Bit>,
    flush_absorb: Signal<Local, Bit>,
    message_lanes: Signal<Local, Bits<B>>,
    may_write: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    given: Signal<Local, Bits<12>>,
    drained: Signal<Local, Bits<20>>,

    lanes: Constant<Bits<B>>,
    dword_lanes: Constant<Bits<B>>,
    lane_mask: Constant<Bits<64>>,
    beat_shift: Constant<Bits<3>>,
    record_beats: Constant<Bits<6>>,
    is_narrow: Constant<Bits<1>>,
}

impl<const W: usize, const B: usize> Default for TxsAdapter<W, B> {
    fn default() -> Self {
        fresh!(
            pcie_clk, port_reset, port_write, port_write_address, port_write_beats, port_beat,
            port_beat_data, port_beat_enable, port_beat_take, port_write_done, port_read,
            port_read_address, port_read_beats, port_read_bytes, port_read_tag, port_read_take,
            port_flush, port_flush_address, port_flush_take, port_flushed, port_flush_error,
            port_record, port_record_address, port_record_data, port_record_take, port_message,
            port_message_address, port_message_data, port_message_take, port_chunk, port_chunk_tag,
            port_chunk_bytes, port_chunk_code, port_completion, port_completion_data,
            port_completion_error, port_lost, port_timeout, port_release, port_reads_down,
            port_quarantine, port_dead, port_free, port_stalled, port_stalled_tags, port_tagged,
            txs_address, txs_read, txs_write, txs_writedata, txs_byteenable, txs_burstcount,
            txs_waitrequest, txs_readdata, txs_readdatavalid, reading, writing, address,
            data, enable,
            beats, burst_left, second_half, seen, owed, isolated, timer, expired, patience, stuck,
            dead, stuck_left, waiting, free, dies, may_read, may_flush, open, closed, issue, probe,
            issued_beats, old_beats, old_bytes, old_tag, old_flush, answered, arriving, giving_up,
            fill, finished, absorb, flush_absorb, message_lanes, may_write, begins,
            given, drained, backlog, port_pace, held_back, owes, owed_next;
            pending: SmallFifo::new(READS_IN_FLIGHT_LOG2),
            lanes: Constant::new(Bits::<B>::mask()),
            dword_lanes: Constant::new(0xF.into()),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
            record_beats: Constant::new((32 / B as u64).into()),
            is_narrow: Constant::new(u64::from(B == 16).into()),
        )
    }
}

impl<const W: usize, const B: usize> TxsAdapter<W, B> {
    /// Marks the ports that the outside drives, which rust-hdl asks for before it looks at a design.
    pub fn connect_inputs(&mut self) {
        self.pcie_clk.connect();
        self.port_reset.connect();
        self.port_write.connect();
        self.port_write_address.connect();
        self.port_write_beats.connect();
        self.port_beat.connect();
        self.port_beat_data.connect();
        self.port_beat_enable.connect();
        self.port_read.connect();
        self.port_read_address.connect();
        self.port_read_beats.connect();
        self.port_read_bytes.connect();
        self.port_read_tag.connect();
        self.port_flush.connect();
        self.port_flush_address.connect();
        self.port_record.connect();
        self.port_record_address.connect();
        self.port_record_data.connect();
        self.port_message.connect();
        self.port_message_address.connect();
        self.port_message_data.connect();
        self.port_timeout.connect();
        self.port_release.connect();
        self.port_pace.connect();
        self.txs_waitrequest.connect();
        self.txs_readdata.connect();
        self.txs_readdatavalid.connect();
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
            reading,
            writing,
            address,
            data,
            enable,
            beats,
            burst_left,
            second_half,
            seen,
            owed,
            isolated,
            timer,
            expired,
            patience,
            stuck,
            dead,
            stuck_left,
            backlog
        );
        clock!(self, pcie_clk, pending);
        self.pending.reset.next = self.port_reset.val();
        self.txs_address.next = self.address.q.val();
        self.txs_read.next = self.reading.q.val();
        self.txs_write.next = self.writing.q.val();
        self.txs_writedata.next = self.data.q.val();
        self.txs_byteenable.next = self.enable.q.val();
        self.txs_burstcount.next = self.beats.q.val();
        self.port_tagged.next = false;
        self.port_lost.next = 0.into();
        self.port_quarantine.next = self.isolated.q.val();
        self.port_dead.next = self.dead.q.val();
        self.closed.next = self.isolated.q.val() | self.dead.q.val();
        self.port_reads_down.next = self.closed.val();
        self.waiting.next =
            (self.reading.q.val() | self.writing.q.val()) & self.txs_waitrequest.val();
        self.port_stalled.next = self.waiting.val();
        self.port_stalled_tags.next =
            self.port_read.val() & !self.closed.val() & self.pending.full.val();

        // Commands: the burst under way, then records, messages, reads, new bursts. All but bursts are
        // rare and bounded, so they hold nobody up. To a dead port everything goes, and nowhere.
        self.free.next = !self.waiting.val() | self.dead.q.val();
        self.port_free.next = self.free.val();
        self.open.next = !self.closed.val() & !self.expired.q.val() & !self.pending.full.val();
        self.may_read.next = self.port_read.val() & self.open.val();
        self.may_flush.next = self.port_flush.val() & self.open.val();
        self.message_lanes.next = self.dword_lanes.val()
            << bit_cast::<6, 64>(self.port_message_address.val() & self.lane_mask.val());
        self.may_write.next =
            self.port_write.val() & self.port_beat.val() & !self.held_back.q.val();
        self.held_back.d.next = self.port_pace.val().any()
            & (self.port_read.val() | self.pending.valid.val())
            & !self.closed.val()
            & self.backlog.q.val().get_bits::<6>(14).any();
        self.begins.next = false;
        self.probe.next = false;
        self.issue.next = false;
        self.port_beat_take.next = false;
        self.port_write_done.next = false;
        self.port_record_take.next = false;
        self.port_message_take.next = false;
        if self.free.val() {
            self.reading.d.next = false;
            self.writing.d.next = false;
            if self.burst_left.q.val().any() {
                if self.port_beat.val() {
                    self.writing.d.next = true;
                    self.data.d.next = self.port_beat_data.val();
                    self.enable.d.next = self.port_beat_enable.val();
                    self.burst_left.d.next = self.burst_left.q.val() - 1;
                    self.port_beat_take.next = true;
                    self.port_write_done.next = self.burst_left.q.val() == 1;
                }
            } else if self.second_half.q.val() {
                self.writing.d.next = true;
                self.data.d.next =
                    bit_cast::<W, 128>(self.port_record_data.val().get_bits::<128>(128));
                self.enable.d.next = self.lanes.val();
                self.second_half.d.next = false;
                self.port_record_take.next = true;
            } else if self.port_record.val() {
                self.writing.d.next = true;
                self.address.d.next = self.port_record_address.val();
                self.beats.d.next = self.record_beats.val();
                self.data.d.next = bit_cast::<W, 256>(self.port_record_data.val());
                self.enable.d.next = self.lanes.val();
                self.second_half.d.next = self.is_narrow.val().any();
                self.port_record_take.next = !self.is_narrow.val().any();
            } else if self.port_message.val() {
                self.writing.d.next = true;
                self.address.d.next = self.port_message_address.val() & !self.lane_mask.val();
                self.beats.d.next = 1.into();
                self.data.d.next = bit_cast::<W, 256>(
                    bit_cast::<256, 32>(self.port_message_data.val())
                        | (bit_cast::<256, 32>(self.port_message_data.val()) << 32)
                        | (bit_cast::<256, 32>(self.port_message_data.val()) << 64)
                        | (bit_cast::<256, 32>(self.port_message_data.val()) << 96)
                        | (bit_cast::<256, 32>(self.port_message_data.val()) << 128)
                        | (bit_cast::<256, 32>(self.port_message_data.val()) << 160)
                        | (bit_cast::<256, 32>(self.port_message_data.val()) << 192)
                        | (bit_cast::<256, 32>(self.port_message_data.val()) << 224),
                );
                self.enable.d.next = self.message_lanes.val();
                self.port_message_take.next = true;
            } else if self.may_flush.val() {
                self.reading.d.next = true;
                self.address.d.next = self.port_flush_address.val();
                self.beats.d.next = 1.into();
                self.enable.d.next = self.lanes.val();
                self.issue.next = true;
                self.probe.next = true;
            } else if self.may_read.val() {
                self.reading.d.next = true;
                self.address.d.next = self.port_read_address.val() & !self.lane_mask.val();
                self.beats.d.next = self.port_read_beats.val();
                self.enable.d.next = self.lanes.val();
                self.issue.next = true;
            } else if self.may_write.val() {
                self.begins.next = true;
                self.writing.d.next = true;
                self.address.d.next = self.port_write_address.val();
                self.beats.d.next = self.port_write_beats.val();
                self.data.d.next = self.port_beat_data.val();
                self.enable.d.next = self.port_beat_enable.val();
                self.burst_left.d.next = self.port_write_beats.val() - 1;
                self.port_beat_take.next = true;
                self.port_write_done.next = self.port_write_beats.val() == 1;
            }
        }

        // What the link has to carry: a read as two requests, a burst with its header.
        self.drained.next = 0.into();
        if self.backlog.q.val() > bit_cast::<20, 16>(self.port_pace.val()) {
            self.drained.next = self.backlog.q.val() - bit_cast::<20, 16>(self.port_pace.val());
        }
        self.given.next = 0.into();
        if self.issue.val() {
            self.given.next = 48.into();
        } else if self.port_record_take.val() {
            self.given.next = 56.into();
        } else if self.port_message_take.val() {
            self.given.next = 28.into();
        } else if self.begins.val() {
            self.given.next =
                (bit_cast::<12, 6>(self.port_write_beats.val()) << self.beat_shift.val()) + 24;
        }
        // What cannot be in the bridge any more is not counted.
        self.backlog.d.next = self.drained.val();
        if !self.drained.val().get_bit(19) {
            self.backlog.d.next = self.drained.val() + (bit_cast::<20, 12>(self.given.val()) << 8);
        }

        // A port that stands still. What stands on the bus stays; the rest of its burst is empty.
        if self.waiting.val() & self.patience.q.val().any() {
            self.patience.d.next = self.patience.q.val() - 1;
        } else if !self.waiting.val() {
            self.patience.d.next = self.port_timeout.val();
        }
        self.stuck.d.next = self.waiting.val() & (self.patience.q.val() == 1);
        self.dies.next = self.stuck.q.val() & self.waiting.val();
        if self.dies.val() {
            self.dead.d.next = true;
        }
        if !self.dead.q.val() {
            self.stuck_left.d.next = self.burst_left.q.val();
            if self.second_half.q.val() {
                self.stuck_left.d.next = 1.into();
            }
        } else {
            self.reading.d.next = self.reading.q.val() & self.txs_waitrequest.val();
            self.writing.d.next = self.writing.q.val();
            self.address.d.next = self.address.q.val();
            self.beats.d.next = self.beats.q.val();
            self.data.d.next = self.data.q.val();
            self.enable.d.next = self.enable.q.val();
            if self.writing.q.val() & !self.txs_waitrequest.val() {
                self.enable.d.next = 0.into();
                self.writing.d.next = self.stuck_left.q.val().any();
                self.stuck_left.d.next = self.stuck_left.q.val() - 1;
            }
        }

        // Reads in flight.
        self.issued_beats.next = self.port_read_beats.val();
        if self.probe.val() {
            self.issued_beats.next = 1.into();
        }
        self.old_beats.next = self.pending.data.val().get_bits::<6>(0);
        self.old_bytes.next = self.pending.data.val().get_bits::<10>(6);
        self.old_tag.next = self.pending.data.val().get_bits::<6>(16);
        self.old_flush.next = self.pending.data.val().get_bit(22);
        self.pending.push.next = self.issue.val();
        self.pending.data_in.next = bit_cast::<23, 6>(self.issued_beats.val())
            | (bit_cast::<23, 10>(self.port_read_bytes.val()) << 6)
            | (bit_cast::<23, 6>(self.port_read_tag.val()) << 16)
            | (bit_cast::<23, 1>(self.probe.val().into()) << 22);
        self.answered.next = self.txs_readdatavalid.val() & self.owes.q.val();
        // In good times a beat of the oldest read arrives; in quarantine its end is made up.
        self.arriving.next = self.answered.val() & !self.isolated.q.val();
        self.giving_up.next = self.isolated.q.val() & self.pending.valid.val();
        self.fill.next = self.giving_up.val() & !self.old_flush.val() & self.seen.q.val().any();
        self.finished.next = (self.arriving.val() | self.fill.val())
            & ((self.seen.q.val() + 1) == self.old_beats.val());
        self.pending.pop.next = self.finished.val() | (self.giving_up.val() & !self.fill.val());
        if self.arriving.val() | self.fill.val() {
            self.seen.d.next = self.seen.q.val() + 1;
        }
        if self.finished.val() {
            self.seen.d.next = 0.into();
        }
        self.owed_next.next = self.owed.q.val();
        if self.issue.val() & !self.dead.q.val() {
            if self.answered.val() {
                self.owed_next.next =
                    self.owed.q.val() + bit_cast::<10, 6>(self.issued_beats.val()) - 1;
            } else {
                self.owed_next.next =
                    self.owed.q.val() + bit_cast::<10, 6>(self.issued_beats.val());
            }
        } else if self.answered.val() {
            self.owed_next.next = self.owed.q.val() - 1;
        }
        if self.port_release.val() & self.isolated.q.val() {
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
        if self.isolated.q.val() & !self.owes.q.val() & !self.pending.valid.val() {
            self.isolated.d.next = false;
        }
        if self.expired.q.val() | self.dies.val() {
            self.isolated.d.next = true;
        }
        // What the engine hears of it. In quarantine a new read ends at once, one a cycle, behind those
        // that are owed.
        self.absorb.next = self.port_read.val() & self.closed.val() & !self.pending.valid.val();
        self.flush_absorb.next =
            self.port_flush.val() & self.closed.val() & !self.pending.valid.val();
        self.port_read_take.next = (self.issue.val() & !self.probe.val()) | self.absorb.val();
        self.port_flush_take.next = self.probe.val() | self.flush_absorb.val();
        self.port_flushed.next = self.flush_absorb.val()
            | (self.old_flush.val() & (self.arriving.val() | self.giving_up.val()));
        self.port_flush_error.next = self.closed.val();
        self.port_chunk.next = self.absorb.val()
            | (!self.old_flush.val()
                & !self.seen.q.val().any()
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

        if self.port_reset.val() {
            self.reading.d.next = false;
            self.writing.d.next = false;
            self.burst_left.d.next = 0.into();
            self.second_half.d.next = false;
            self.backlog.d.next = 0.into();
            self.seen.d.next = 0.into();
            self.owed.d.next = 0.into();
            self.owes.d.next = false;
            self.held_back.d.next = false;
            self.isolated.d.next = false;
            self.timer.d.next = 0.into();
            self.expired.d.next = false;
            self.stuck.d.next = false;
            self.dead.d.next = false;
            self.patience.d.next = 0.into();
        }
    }
}
