//! The adapter between the engine's three streams (write bursts, read requests, records) and the
//! Avalon-MM `Txs` slave of the Stratix V hard IP, within its contract (Stratix V Avalon-MM interface
//! for PCIe user guide 683411, A.4.2 and A.4.3): bursts of at most 512 bytes, all byte enables set
//! on reads, at most 8 reads in flight, answered in order.
//!
//! A read that is not answered in time puts the port into quarantine: the beats that are owed are made
//! up, marked as errors, so that whoever waits gets an answer; what arrives late is dropped; and no new
//! read leaves until all that was owed has come or the driver lets go.

use crate::prim::SmallFifo;
use rust_hdl::prelude::*;

/// Reads that `Txs` takes before it holds the bus; the ninth would stop writes too.
const READS_IN_FLIGHT: u64 = 8;

/// The adapter for a port of `W` bits and `B` bytes with `T` address bits.
#[derive(LogicBlock)]
pub struct TxsAdapter<const W: usize, const B: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    /// Power-up reset only: what is owed on the bus outlives a soft reset.
    pub reset: Signal<In, Bit>,
    // Write bursts: address and length stand while the beats come.
    pub write: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<64>>,
    pub write_beats: Signal<In, Bits<6>>,
    pub beat: Signal<In, Bit>,
    pub beat_data: Signal<In, Bits<W>>,
    pub beat_enable: Signal<In, Bits<B>>,
    pub beat_take: Signal<Out, Bit>,
    /// The last beat of the burst is taken in this cycle.
    pub write_done: Signal<Out, Bit>,
    // Read requests.
    pub read: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<64>>,
    pub read_beats: Signal<In, Bits<6>>,
    pub read_take: Signal<Out, Bit>,
    // Flush reads of one beat, whose data nobody wants; `flushed` in request order.
    pub flush: Signal<In, Bit>,
    pub flush_address: Signal<In, Bits<64>>,
    pub flush_take: Signal<Out, Bit>,
    pub flushed: Signal<Out, Bit>,
    pub flush_error: Signal<Out, Bit>,
    // Records of 32 bytes.
    pub record: Signal<In, Bit>,
    pub record_address: Signal<In, Bits<64>>,
    pub record_data: Signal<In, Bits<256>>,
    pub record_take: Signal<Out, Bit>,
    // Completions, in request order; never refused.
    pub completion: Signal<Out, Bit>,
    pub completion_data: Signal<Out, Bits<W>>,
    pub completion_error: Signal<Out, Bit>,
    // Control.
    pub timeout: Signal<In, Bits<32>>,
    pub release: Signal<In, Bit>,
    pub quarantine: Signal<Out, Bit>,
    pub stalled_bus: Signal<Out, Bit>,
    pub stalled_tags: Signal<Out, Bit>,
    pub read_issued: Signal<Out, Bit>,
    // The Avalon master.
    pub txs_address: Signal<Out, Bits<T>>,
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
    address: DFF<Bits<T>>,
    data: DFF<Bits<W>>,
    enable: DFF<Bits<B>>,
    beats: DFF<Bits<6>>,
    burst_left: DFF<Bits<6>>,
    second_half: DFF<Bit>,
    // Reads in flight: length of each, beats seen of the oldest, beats owed in all.
    sizes: SmallFifo<7, 3, 4>,
    in_flight: DFF<Bits<4>>,
    seen: DFF<Bits<6>>,
    owed: DFF<Bits<10>>,
    made_up: DFF<Bits<10>>,
    flushing: DFF<Bits<4>>,
    flushes_lost: DFF<Bits<4>>,
    timer: DFF<Bits<32>>,
    isolated: DFF<Bit>,

    free: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
    may_read: Signal<Local, Bit>,
    may_flush: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    probe: Signal<Local, Bit>,
    issued_beats: Signal<Local, Bits<6>>,
    is_flush: Signal<Local, Bit>,
    flush_back: Signal<Local, Bit>,
    flush_absorb: Signal<Local, Bit>,
    absorb: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    expired: Signal<Local, Bit>,
    make_up: Signal<Local, Bit>,
    owed_next: Signal<Local, Bits<10>>,

    lanes: Constant<Bits<B>>,
    record_beats: Constant<Bits<6>>,
    most_reads: Constant<Bits<4>>,
}

impl<const W: usize, const B: usize, const T: usize> Default for TxsAdapter<W, B, T> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            write: Default::default(),
            write_address: Default::default(),
            write_beats: Default::default(),
            beat: Default::default(),
            beat_data: Default::default(),
            beat_enable: Default::default(),
            beat_take: Default::default(),
            write_done: Default::default(),
            read: Default::default(),
            read_address: Default::default(),
            read_beats: Default::default(),
            read_take: Default::default(),
            flush: Default::default(),
            flush_address: Default::default(),
            flush_take: Default::default(),
            flushed: Default::default(),
            flush_error: Default::default(),
            record: Default::default(),
            record_address: Default::default(),
            record_data: Default::default(),
            record_take: Default::default(),
            completion: Default::default(),
            completion_data: Default::default(),
            completion_error: Default::default(),
            timeout: Default::default(),
            release: Default::default(),
            quarantine: Default::default(),
            stalled_bus: Default::default(),
            stalled_tags: Default::default(),
            read_issued: Default::default(),
            txs_address: Default::default(),
            txs_read: Default::default(),
            txs_write: Default::default(),
            txs_writedata: Default::default(),
            txs_byteenable: Default::default(),
            txs_burstcount: Default::default(),
            txs_waitrequest: Default::default(),
            txs_readdata: Default::default(),
            txs_readdatavalid: Default::default(),
            reading: Default::default(),
            writing: Default::default(),
            address: Default::default(),
            data: Default::default(),
            enable: Default::default(),
            beats: Default::default(),
            burst_left: Default::default(),
            second_half: Default::default(),
            sizes: Default::default(),
            in_flight: Default::default(),
            seen: Default::default(),
            owed: Default::default(),
            made_up: Default::default(),
            flushing: Default::default(),
            flushes_lost: Default::default(),
            timer: Default::default(),
            isolated: Default::default(),
            free: Default::default(),
            issue: Default::default(),
            may_read: Default::default(),
            may_flush: Default::default(),
            open: Default::default(),
            probe: Default::default(),
            issued_beats: Default::default(),
            is_flush: Default::default(),
            flush_back: Default::default(),
            flush_absorb: Default::default(),
            absorb: Default::default(),
            answered: Default::default(),
            finished: Default::default(),
            expired: Default::default(),
            make_up: Default::default(),
            owed_next: Default::default(),
            lanes: Constant::new(Bits::<B>::mask()),
            record_beats: Constant::new((32 / B as u64).into()),
            most_reads: Constant::new(READS_IN_FLIGHT.into()),
        }
    }
}

impl<const W: usize, const B: usize, const T: usize> Logic for TxsAdapter<W, B, T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            reading,
            writing,
            address,
            data,
            enable,
            beats,
            burst_left,
            second_half,
            in_flight,
            seen,
            owed,
            made_up,
            flushing,
            flushes_lost,
            timer,
            isolated
        );
        clock!(self, clock, sizes);
        // The oldest read is late when nothing at all has come for `timeout` cycles.
        self.expired.next = self.timeout.val().any()
            & (self.timer.q.val() == self.timeout.val())
            & !self.isolated.q.val();
        self.sizes.reset.next = self.reset.val() | self.expired.val();
        self.txs_address.next = self.address.q.val();
        self.txs_read.next = self.reading.q.val();
        self.txs_write.next = self.writing.q.val();
        self.txs_writedata.next = self.data.q.val();
        self.txs_byteenable.next = self.enable.q.val();
        self.txs_burstcount.next = self.beats.q.val();
        self.quarantine.next = self.isolated.q.val();
        self.stalled_bus.next =
            (self.reading.q.val() | self.writing.q.val()) & self.txs_waitrequest.val();
        self.stalled_tags.next = self.read.val()
            & !self.isolated.q.val()
            & (self.in_flight.q.val() == self.most_reads.val());

        // Commands: the burst under way, then records, reads, new bursts. Reads are rare (one for
        // 512 bytes) and bounded, so they hold nobody up.
        self.free.next =
            !(self.reading.q.val() | self.writing.q.val()) | !self.txs_waitrequest.val();
        self.open.next = !self.isolated.q.val()
            & !self.expired.val()
            & (self.in_flight.q.val() != self.most_reads.val());
        self.may_read.next = self.read.val() & self.open.val();
        self.may_flush.next = self.flush.val() & self.open.val();
        self.probe.next = false;
        self.beat_take.next = false;
        self.write_done.next = false;
        self.record_take.next = false;
        self.issue.next = false;
        if self.free.val() {
            self.reading.d.next = false;
            self.writing.d.next = false;
            if self.burst_left.q.val().any() {
                if self.beat.val() {
                    self.writing.d.next = true;
                    self.data.d.next = self.beat_data.val();
                    self.enable.d.next = self.beat_enable.val();
                    self.burst_left.d.next = self.burst_left.q.val() - 1;
                    self.beat_take.next = true;
                    self.write_done.next = self.burst_left.q.val() == 1;
                }
            } else if self.second_half.q.val() {
                self.writing.d.next = true;
                self.data.d.next = bit_cast::<W, 128>(self.record_data.val().get_bits::<128>(128));
                self.enable.d.next = self.lanes.val();
                self.second_half.d.next = false;
                self.record_take.next = true;
            } else if self.record.val() {
                self.writing.d.next = true;
                self.address.d.next = bit_cast::<T, 64>(self.record_address.val());
                self.beats.d.next = self.record_beats.val();
                self.data.d.next = bit_cast::<W, 256>(self.record_data.val());
                self.enable.d.next = self.lanes.val();
                if self.record_beats.val() == 1 {
                    self.record_take.next = true;
                } else {
                    self.second_half.d.next = true;
                }
            } else if self.may_flush.val() {
                self.reading.d.next = true;
                self.address.d.next = bit_cast::<T, 64>(self.flush_address.val());
                self.beats.d.next = 1.into();
                self.enable.d.next = self.lanes.val();
                self.issue.next = true;
                self.probe.next = true;
            } else if self.may_read.val() {
                self.reading.d.next = true;
                self.address.d.next = bit_cast::<T, 64>(self.read_address.val());
                self.beats.d.next = self.read_beats.val();
                self.enable.d.next = self.lanes.val();
                self.issue.next = true;
            } else if self.write.val() & self.beat.val() {
                self.writing.d.next = true;
                self.address.d.next = bit_cast::<T, 64>(self.write_address.val());
                self.beats.d.next = self.write_beats.val();
                self.data.d.next = self.beat_data.val();
                self.enable.d.next = self.beat_enable.val();
                self.burst_left.d.next = self.write_beats.val() - 1;
                self.beat_take.next = true;
                self.write_done.next = self.write_beats.val() == 1;
            }
        }

        // Reads in flight.
        self.absorb.next = self.read.val() & self.isolated.q.val() & !self.made_up.q.val().any();
        self.read_take.next = (self.issue.val() & !self.probe.val()) | self.absorb.val();
        self.issued_beats.next = self.read_beats.val();
        if self.probe.val() {
            self.issued_beats.next = 1.into();
        }
        self.flush_absorb.next =
            self.flush.val() & self.isolated.q.val() & !self.flushes_lost.q.val().any();
        self.flush_take.next = self.probe.val() | self.flush_absorb.val();
        self.is_flush.next = self.sizes.data.val().get_bit(6);
        self.read_issued.next = self.issue.val();
        self.answered.next = self.txs_readdatavalid.val() & self.owed.q.val().any();
        self.finished.next = self.answered.val()
            & !self.isolated.q.val()
            & ((self.seen.q.val() + 1) == self.sizes.data.val().get_bits::<6>(0));
        self.sizes.push.next = self.issue.val();
        self.sizes.data_in.next = bit_cast::<7, 6>(self.issued_beats.val())
            | (bit_cast::<7, 1>(self.probe.val().into()) << 6);
        self.sizes.pop.next = self.finished.val();
        if self.answered.val() & !self.isolated.q.val() {
            self.seen.d.next = self.seen.q.val() + 1;
        }
        if self.finished.val() {
            self.seen.d.next = 0.into();
        }
        if self.issue.val() & !self.finished.val() {
            self.in_flight.d.next = self.in_flight.q.val() + 1;
        } else if self.finished.val() & !self.issue.val() {
            self.in_flight.d.next = self.in_flight.q.val() - 1;
        }
        self.owed_next.next = self.owed.q.val();
        if self.issue.val() & self.answered.val() {
            self.owed_next.next =
                self.owed.q.val() + bit_cast::<10, 6>(self.issued_beats.val()) - 1;
        } else if self.issue.val() {
            self.owed_next.next = self.owed.q.val() + bit_cast::<10, 6>(self.issued_beats.val());
        } else if self.answered.val() {
            self.owed_next.next = self.owed.q.val() - 1;
        }
        self.owed.d.next = self.owed_next.val();

        if self.txs_readdatavalid.val() | !self.owed.q.val().any() | self.isolated.q.val() {
            self.timer.d.next = 0.into();
        } else {
            self.timer.d.next = self.timer.q.val() + 1;
        }
        self.make_up.next = self.made_up.q.val().any();
        if self.make_up.val() {
            self.made_up.d.next = self.made_up.q.val() - 1;
        }
        self.flush_back.next = self.finished.val() & self.is_flush.val() & !self.expired.val();
        self.flushed.next =
            self.flush_back.val() | self.flushes_lost.q.val().any() | self.flush_absorb.val();
        self.flush_error.next = !self.flush_back.val();
        if self.flushes_lost.q.val().any() {
            self.flushes_lost.d.next = self.flushes_lost.q.val() - 1;
        }
        if self.probe.val() & !self.flush_back.val() {
            self.flushing.d.next = self.flushing.q.val() + 1;
        } else if self.flush_back.val() & !self.probe.val() {
            self.flushing.d.next = self.flushing.q.val() - 1;
        }
        if self.absorb.val() {
            self.made_up.d.next = bit_cast::<10, 6>(self.read_beats.val());
        }
        if self.isolated.q.val()
            & !self.owed.q.val().any()
            & !self.make_up.val()
            & !self.absorb.val()
            & !self.flushes_lost.q.val().any()
        {
            self.isolated.d.next = false;
        }
        if self.release.val() & self.isolated.q.val() {
            self.owed.d.next = 0.into();
        }
        if self.expired.val() {
            self.isolated.d.next = true;
            // A beat that arrives in this very cycle is made up too.
            self.made_up.d.next = self.owed.q.val() - bit_cast::<10, 4>(self.flushing.q.val());
            self.flushes_lost.d.next = self.flushing.q.val();
            self.flushing.d.next = 0.into();
            self.in_flight.d.next = 0.into();
            self.seen.d.next = 0.into();
        }

        self.completion.next = self.make_up.val()
            | (self.answered.val()
                & !self.isolated.q.val()
                & !self.expired.val()
                & !self.is_flush.val());
        self.completion_data.next = self.txs_readdata.val();
        self.completion_error.next = self.make_up.val();

        if self.reset.val() {
            self.reading.d.next = false;
            self.writing.d.next = false;
            self.burst_left.d.next = 0.into();
            self.second_half.d.next = false;
            self.in_flight.d.next = 0.into();
            self.seen.d.next = 0.into();
            self.owed.d.next = 0.into();
            self.made_up.d.next = 0.into();
            self.flushing.d.next = 0.into();
            self.flushes_lost.d.next = 0.into();
            self.timer.d.next = 0.into();
            self.isolated.d.next = false;
        }
    }
}
