//! The adapter between the engine's port (write bursts, read requests, records, messages) and the Avalon-MM
//! `Txs` slave of the Stratix V hard IP, within its contract (Stratix V Avalon-MM interface for PCIe user guide
//! 683411, A.4.2 and A.4.3): bursts of at most 512 bytes, all byte enables set on reads, at most 8 reads in
//! flight, answers in order.
//!
//! A read that is not answered in time puts reads into quarantine. Each read that is owed an answer ends with an error,
//! so that no transfer waits for it. A late answer is dropped. No new read leaves until all owed answers have come:
//! nothing else makes the bridge drop them, and it would give their data to the next reads.
//!
//! A read must not pass the writes before it, and the bridge buffers writes. If that buffer were kept full, each read
//! would wait for all of it, and 8 reads in flight could not fill the link. So while reads are in flight, writes are
//! paced at the rate of the link, if the driver has set it. The pace is a leaky bucket of the bytes that packets take
//! on the link: 24 bytes of header and framing in addition to the payload (Base Specification 2.2 and 4.2.2).
//!
//! The engine may be reset while the hard IP is not, from the side of FPGA memory. The count of the beats that the bus
//! owes stays: reads are in quarantine until all have come.
//!
//! A port that accepts nothing for `timeout` cycles is dead, so that the engine becomes idle, and opens again when the
//! bus goes on: [`super::poster`]. The bridge accepts nothing without Bus Master Enable.

mod reads;

use super::ports::{AnswerSource, FlushSink, PortAdapter, PostSink, ReadSink, WriteSink};
use super::poster::Poster;
use super::status::Status;
use super::words::TxsRead;
use crate::prim::{Part, SmallFifo, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use reads::Reads;

/// Reads that `Txs` takes before it holds the bus; the ninth would stop writes too.
pub const READS_IN_FLIGHT_LOG2: usize = 3;

/// The adapter for a port of `W` bits and `B` bytes. Its `txs_address` has 64 bits; a port with
/// fewer takes the low ones.
#[derive(DocBlock)]
pub struct TxsAdapter<const W: usize, const B: usize> {
    pub pcie_clk: Signal<In, Clock>,
    /// With the bus: nothing is owed any more.
    pub port: PortAdapter,
    /// Write bursts: address and length stay while the beats come.
    pub port_write: WriteSink<W, B>,
    /// Read requests: a byte address, the beats that it touches, its bytes, its tag.
    pub port_read: ReadSink,
    /// Flush reads of one beat, whose data are not used; `done` comes in request order.
    pub port_flush: FlushSink,
    /// Records of 32 bytes.
    pub port_record: PostSink<256>,
    /// Messages of 4 bytes.
    pub port_message: PostSink<32>,
    /// Completions; never refused.
    pub port_answer: AnswerSource<W>,
    /// The Avalon-MM master for the hard IP's `Txs` slave.
    pub txs_address: Signal<Out, Bits<64>>,
    pub txs_read: Signal<Out, Bit>,
    pub txs_write: Signal<Out, Bit>,
    pub txs_writedata: Signal<Out, Bits<W>>,
    pub txs_byteenable: Signal<Out, Bits<B>>,
    pub txs_burstcount: Signal<Out, Bits<6>>,
    pub txs_waitrequest: Signal<In, Bit>,
    pub txs_readdata: Signal<In, Bits<W>>,
    pub txs_readdatavalid: Signal<In, Bit>,

    #[given]
    poster: Poster<W, B>,
    /// Reads in flight: beats less two, bytes, tag, whether it flushes, whether it has one beat. Of the oldest:
    /// beats seen; some are, and then: the next is its last. Beats owed in all.
    #[given]
    pending: SmallFifo<TxsRead, 3, 4>,
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
    /// Bytes given to the port that the link has not carried yet, in 1/256.
    backlog: DFF<Bits<20>>,
    /// Bytes that the last cycle added to it.
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
    status: Status,
}

impl<const W: usize, const B: usize> Default for TxsAdapter<W, B> {
    fn default() -> Self {
        Self::fresh(TxsAdapterGiven {
            poster: Poster::new(false),
            pending: SmallFifo::new(READS_IN_FLIGHT_LOG2),
            lane_mask: Constant::new((B as u64 - 1).into()),
            beat_shift: Constant::new(u64::from(B.trailing_zeros()).into()),
        })
    }
}

impl<const W: usize, const B: usize> Logic for TxsAdapter<W, B> {
    parts!(Bus, Reads);
}

/// The bus, and its pace.
struct Bus;

impl<const W: usize, const B: usize> Part<Bus> for TxsAdapter<W, B> {
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
        self.poster.reset.next = self.port.reset.val();
        self.poster.clear.next = self.port.clear.val();
        self.pending.reset.next = self.port.reset.val() | self.port.clear.val();
        self.txs_address.next = self.poster.address.val();
        self.txs_read.next = self.poster.asking.val();
        self.txs_write.next = self.poster.posting.val();
        self.txs_writedata.next = self.poster.data.val();
        self.txs_byteenable.next = self.poster.enable.val();
        self.txs_burstcount.next = self.poster.beats.val();
        self.poster.ready.next = !self.txs_waitrequest.val();
        self.port.tagged.next = false;
        self.port.lost.next = 0.into();
        self.port.quarantine.next = self.isolated.q.val();
        self.port.dead.next = self.poster.dead.val();
        self.closed.next = self.isolated.q.val() | self.poster.dead.val();
        self.port.reads_down.next = self.closed.val();
        self.port.free.next = !self.poster.waiting.val() | self.poster.dead.val();
        self.port.sent.next = self.poster.sent.val();
        self.port.rinses.next = self.poster.rinses.val();
        // Reads share the bus.
        self.port.asked.next = true;
        self.port.stalled.next = self.poster.waiting.val();
        self.port.stalled_tags.next =
            self.port_read.valid.val() & !self.closed.val() & self.pending.full.val();

        // Reads are the other part's commands on the bus of the posted bursts.
        WriteSink::<W, B>::link(&mut self.port_write, &mut self.poster.write);
        PostSink::<256>::link(&mut self.port_record, &mut self.poster.record);
        PostSink::<32>::link(&mut self.port_message, &mut self.poster.message);
        self.poster.hold.next = self.held_back.q.val();
        self.poster.timeout.next = self.port.timeout.val();
        self.poster.also_waiting.next = false;
        self.open.next = !self.closed.val() & !self.expired.q.val() & !self.pending.full.val();
        self.poster.other.next =
            (self.port_read.valid.val() | self.port_flush.valid.val()) & self.open.val();
        self.poster.other_address.next = self.port_read.address.val() & !self.lane_mask.val();
        self.issued_beats.next = self.port_read.beats.val();
        self.flush_turn.next =
            self.port_flush.valid.val() & !(self.port_read.valid.val() & self.flushed_last.q.val());
        if self.flush_turn.val() {
            self.poster.other_address.next = self.port_flush.address.val();
            self.issued_beats.next = 1.into();
        }
        self.poster.other_beats.next = self.issued_beats.val();
        self.issue.next = self.poster.other_take.val();
        self.probe.next = self.issue.val() & self.flush_turn.val();
        if self.issue.val() {
            self.flushed_last.d.next = self.flush_turn.val();
        }
        self.held_back.d.next = self.port.pace.val().any()
            & (self.port_read.valid.val() | self.pending.some.val())
            & !self.closed.val()
            & self.backlog.q.val().get_bits::<6>(14).any();

        // Bytes that the link has to carry: a read as two requests, a burst with its header.
        self.carried.next =
            bit_cast::<21, 20>(self.backlog.q.val()) - bit_cast::<21, 16>(self.port.pace.val());
        self.drained.next = self.carried.val().get_bits::<20>(0);
        if self.carried.val().get_bit(20) {
            self.drained.next = 0.into();
        }
        self.given.d.next = 0.into();
        if self.issue.val() {
            self.given.d.next = 48.into();
        } else if self.poster.record.take.val() {
            self.given.d.next = 56.into();
        } else if self.poster.message.take.val() {
            self.given.d.next = 28.into();
        } else if self.poster.begins.val() {
            self.given.d.next =
                (bit_cast::<12, 6>(self.port_write.beats.val()) << self.beat_shift.val()) + 24;
        }
        // Bytes that cannot be in the bridge any more are not counted.
        self.backlog.d.next = self.drained.val();
        if !self.drained.val().get_bit(19) {
            self.backlog.d.next =
                self.drained.val() + (bit_cast::<20, 12>(self.given.q.val()) << 8);
        }
    }
}
