//! Performance counters of all channels and of the block, and their coherent snapshot.
//!
//! # Counts are small where they are fast
//! An event adds to a small count in block RAM, the [`Tally`] of its kind. A sweeper walks through all counters all the
//! time, one 32-bit word a cycle, takes the amount of the small count and adds it to the 64-bit total in the RAM
//! `running`. So there is one wide adder for everything. [`Levels`] does for the counters of levels, in flip-flops, the
//! same as a tally does for events.
//!
//! # A snapshot
//! Each tally has two banks; an event is stamped with the bank of the cycle in which it arrives. A snapshot changes the
//! bank with the next cycle, waits until the events before it have left their FIFOs, and sweeps all channels once: a
//! total that is written to `running` in this pass is written to `shown`, too. Later events are in the other bank.
//! Software reads `shown` only. Levels are split in the cycle of the snapshot itself, and shown at their first visit
//! after it.
//!
//! # No event is lost
//! A tally updates a row a cycle, for each direction in every second one. In 64 cycles the sweeper takes at most four
//! of a direction's 32 turns, three of them in one run of 12 cycles; events have the others. With at most `b + n/3`
//! events of a source in any `n` cycles, its FIFO never holds more than `b + 5`, and it has room for 16. If more came,
//! only the events that find the FIFO full would be lost.
//!
//! # No count overflows
//! A pass has 64 cycles a channel: 4096 with 64 of them. After a snapshot a row collects events for up to 128 cycles,
//! in which the FIFOs drain, for the pass that shows the other bank, and for the next one: 8320 cycles at most, else
//! less. A direction has 30 of 64 turns in the tally of the requests (28 in that of the ends), that is 3900: 12 bits,
//! and 21 bits for bytes, of 512 at most each. A level is visited every 32 cycles; after a snapshot one visit does not
//! take its count. So it counts for less than 64 cycles, 6 bits.

mod levels;
mod tally;

pub use levels::Levels;
pub use tally::Tally;

mod sweeping;

use super::status::Status;
use crate::prim::{BlockRam, Part, parts};
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use sweeping::{Showing, Sweeping};

/// States of a snapshot.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SnapshotState {
    /// None is under way.
    Idle,
    /// Made; until the sweeper has done with its channel.
    Made,
    /// 64 cycles more: the events before it leave their FIFOs.
    Draining,
    /// The pass that shows.
    Pass,
}

/// The counters of up to 64 channels.
#[derive(DocBlock)]
pub struct Counters {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Events, at most one of each in a cycle. A write request has left, a read request's bytes (1–512) are in
    /// memory; a descriptor has ended with a status code. Channels that do not exist count for others.
    pub write_request: Signal<In, Bit>,
    pub write_channel: Signal<In, Bits<6>>,
    pub write_bytes: Signal<In, Bits<10>>,
    pub read_request: Signal<In, Bit>,
    pub read_channel: Signal<In, Bits<6>>,
    pub read_bytes: Signal<In, Bits<10>>,
    pub write_end: Signal<In, Bit>,
    pub write_end_channel: Signal<In, Bits<6>>,
    pub write_end_code: Signal<In, Bits<5>>,
    pub read_end: Signal<In, Bit>,
    pub read_end_channel: Signal<In, Bits<6>>,
    pub read_end_code: Signal<In, Bits<5>>,
    /// A bit that is high counts this cycle in its counter.
    pub levels: Signal<In, Bits<9>>,
    /// Takes a snapshot of all events that arrived up to this cycle; while `busy`, of all up to the cycle in which the
    /// snapshot before is finished.
    pub take: Signal<In, Bit>,
    /// A snapshot is not complete; after reset, the counters are not yet cleared and events not counted. Reads give
    /// undefined values now.
    pub busy: Signal<Out, Bit>,
    /// Reads: `value` is valid in the next cycle and stays until the next read. Word addresses of 64-bit values, low
    /// word first: 0–15 the channel's writes, 16–31 its reads (BYTES, REQUESTS, DESCRIPTORS, FAULTS, ATT_FAULTS,
    /// TIMEOUTS), 32–63 the levels; other addresses read as 0.
    pub read: Signal<In, Bit>,
    pub address: Signal<In, Bits<6>>,
    pub channel: Signal<In, Bits<6>>,
    pub value: Signal<Out, Bits<32>>,

    /// Rows `{channel, bank}` of `{requests[11:0], bytes[20:0]}`.
    #[given]
    requests: Tally<33, 8, 17>,
    /// Rows `{class, channel, bank}` of ends. Class 0: timeout, 1: ATT fault, 2: other fault, 3: none.
    #[given]
    ends: Tally<12, 10, 10>,
    even_levels: Levels<5>,
    odd_levels: Levels<4>,
    /// Visits of levels that are still to show the counts that were split off.
    unshown: DFF<Bits<4>>,
    /// Totals, a word at `{channel, slot[3], slot[1:0], high, direction}`. No channel's counter has 0 in
    /// slot[1:0]; there level 2n + d is, `{n, 00, high, d}`.
    #[given]
    running: BlockRam<Bits<32>, 11>,
    #[given]
    shown: BlockRam<Bits<32>, 11>,

    /// The sweeper's place: `step` is `{slot[3:0], high, direction}`, one slot a counter.
    step: DFF<Bits<6>>,
    sweep_channel: DFF<Bits<6>>,
    state: DFF<SnapshotState>,
    again: DFF<Bit>,
    /// The bank of events that arrive.
    bank: DFF<Bit>,
    /// After reset: 3 clears bank 1, 2 clears bank 0, 1 lets words under way arrive.
    clearing: DFF<Bits<2>>,
    slot: Signal<Local, Bits<4>>,
    direction: Signal<Local, Bit>,
    high: Signal<Local, Bit>,
    is_level: Signal<Local, Bit>,
    frame_end: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    clear: Signal<Local, Bit>,
    make: Signal<Local, Bit>,
    swept_bank: Signal<Local, Bit>,
    sweep_bytes: Signal<Local, Bit>,
    sweep_count: Signal<Local, Bit>,
    is_end: Signal<Local, Bit>,
    sweep_class: Signal<Local, Bits<2>>,
    write_class: Signal<Local, Bits<2>>,
    read_class: Signal<Local, Bits<2>>,
    /// Two cycles after `step`: the small count is taken. Three: it becomes an increment. Four: the sum.
    taken: DFF<Bits<21>>,
    taken_high: DFF<Bit>,
    /// Faults and ends are sums of classes: earlier classes are added to the stored sum, and to the increment.
    taken_end: DFF<Bit>,
    taken_chain: DFF<Bit>,
    taken_add: DFF<Bit>,
    near: DFF<Bits<12>>,
    far: DFF<Bits<12>>,
    before: Signal<Local, Bits<12>>,
    added: Signal<Local, Bits<21>>,
    increment: DFF<Bits<21>>,
    carry: DFF<Bit>,
    word: DFF<Bits<32>>,
    sum: Signal<Local, Bits<33>>,
    show: Signal<Local, Bit>,
    show_near: DFF<Bit>,
    show_far: DFF<Bit>,
    /// The upper part of a slot's address, and of the slot before.
    base: Signal<Local, Bits<9>>,
    base_before: DFF<Bits<9>>,
    base_read: Signal<Local, Bits<9>>,
    /// The word that software reads.
    counter: Signal<Local, Bits<3>>,
    asked_slot: Signal<Local, Bits<3>>,
    asked_base: Signal<Local, Bits<9>>,
    asked_direction: Signal<Local, Bit>,

    last_channel: Constant<Bits<6>>,
    status: Status,
}

impl Counters {
    /// The counters of `2^channels_log2` channels, `channels_log2` at most 6.
    pub fn new(channels_log2: usize) -> Self {
        assert!(channels_log2 <= 6, "2^{channels_log2} channels");
        // The levels live in the spare places of the first four channels.
        let words = channels_log2.max(2) + 5;
        let channels = (1u64 << channels_log2) - 1;
        Self::fresh(CountersGiven {
            requests: Tally::new(21, 10, 1 << 21, channels << 1 | 1),
            ends: Tally::new(12, 1, 0, 3 << 7 | channels << 1 | 1),
            running: BlockRam::new(words),
            shown: BlockRam::new(words),
            last_channel: Constant::new(channels.into()),
        })
    }
}

impl Logic for Counters {
    parts!(Gathering, Sweeping, Showing);
}

/// Collects the events, and makes the snapshots.
struct Gathering;

impl Part<Gathering> for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            unshown,
            step,
            sweep_channel,
            state,
            again,
            bank,
            clearing,
            taken,
            taken_high,
            taken_end,
            taken_chain,
            taken_add,
            near,
            far,
            increment,
            carry,
            word,
            show_near,
            show_far,
            base_before
        );
        clock!(self, clock, requests, ends, even_levels, odd_levels);
        self.running.write_clock.next = self.clock.val();
        self.running.read_clock.next = self.clock.val();
        self.shown.write_clock.next = self.clock.val();
        self.shown.read_clock.next = self.clock.val();

        // The sweeper's place.
        self.slot.next = self.step.q.val().get_bits::<4>(2);
        self.high.next = self.step.q.val().get_bit(1);
        self.direction.next = self.step.q.val().get_bit(0);
        self.frame_end.next = self.step.q.val().all();
        self.last.next = self.sweep_channel.q.val() == self.last_channel.val();
        self.clear.next = self.clearing.q.val().any();
        self.step.d.next = self.step.q.val() + 1;
        if self.frame_end.val() {
            self.sweep_channel.d.next = (self.sweep_channel.q.val() + 1) & self.last_channel.val();
            if self.state.q.val() == SnapshotState::Draining {
                self.sweep_channel.d.next = 0.into();
            }
            if self.clear.val() & (self.last.val() | (self.clearing.q.val() == 1)) {
                self.clearing.d.next = self.clearing.q.val() - 1;
            }
        }
        // Slots: 0–4 and 8–12 levels 0/1 to 8/none; 5 bytes, 6 requests; ends: 7 timeouts, 13 ATT faults,
        // 14 all faults, 15 all.
        self.is_level.next = !(self.slot.val().get_bit(2) & self.slot.val().get_bits::<2>(0).any());
        self.is_end.next = (self.slot.val() == 7) | (self.slot.val() >= 13);

        // Snapshots.
        self.make.next = (self.take.val() | self.again.q.val())
            & (self.state.q.val() == SnapshotState::Idle)
            & !self.clear.val();
        self.again.d.next = (self.take.val() | self.again.q.val()) & !self.make.val();
        if self.make.val() {
            self.bank.d.next = !self.bank.q.val();
        }
        match self.state.q.val() {
            SnapshotState::Idle => {
                if self.make.val() {
                    self.state.d.next = SnapshotState::Made;
                }
            }
            SnapshotState::Made => {
                if self.frame_end.val() {
                    self.state.d.next = SnapshotState::Draining;
                }
            }
            SnapshotState::Draining => {
                if self.frame_end.val() {
                    self.state.d.next = SnapshotState::Pass;
                }
            }
            SnapshotState::Pass => {
                if self.frame_end.val() & self.last.val() {
                    self.state.d.next = SnapshotState::Idle;
                }
            }
        }
        self.swept_bank.next = self.bank.q.val()
            ^ (self.state.q.val() != SnapshotState::Idle)
            ^ (self.clearing.q.val() == 3);
        self.busy.next = (self.state.q.val() != SnapshotState::Idle)
            | self.again.q.val()
            | self.clear.val()
            | self.show_near.q.val()
            | self.show_far.q.val();

        // Events.
        self.requests.reset.next = self.reset.val() | self.clear.val();
        self.ends.reset.next = self.reset.val() | self.clear.val();
        self.requests.direction.next = self.direction.val();
        self.ends.direction.next = self.direction.val();
        self.write_class.next = 2.into();
        if !self.write_end_code.val().any() {
            self.write_class.next = 3.into();
        } else if self.write_end_code.val() == self.status.read_timeout.val() {
            self.write_class.next = 0.into();
        } else if (self.write_end_code.val() >= self.status.att_bounds.val())
            & (self.write_end_code.val() <= self.status.att_page_size.val())
        {
            self.write_class.next = 1.into();
        }
        self.read_class.next = 2.into();
        if !self.read_end_code.val().any() {
            self.read_class.next = 3.into();
        } else if self.read_end_code.val() == self.status.read_timeout.val() {
            self.read_class.next = 0.into();
        } else if (self.read_end_code.val() >= self.status.att_bounds.val())
            & (self.read_end_code.val() <= self.status.att_page_size.val())
        {
            self.read_class.next = 1.into();
        }
        self.requests.write_event.next = self.write_request.val();
        self.requests.write_word.next = bit_cast::<17, 10>(self.write_bytes.val())
            | (bit_cast::<17, 1>(self.bank.q.val().into()) << 10)
            | (bit_cast::<17, 6>(self.write_channel.val()) << 11);
        self.requests.read_event.next = self.read_request.val();
        self.requests.read_word.next = bit_cast::<17, 10>(self.read_bytes.val())
            | (bit_cast::<17, 1>(self.bank.q.val().into()) << 10)
            | (bit_cast::<17, 6>(self.read_channel.val()) << 11);
        self.ends.write_event.next = self.write_end.val();
        self.ends.write_word.next = bits::<10>(1)
            | (bit_cast::<10, 1>(self.bank.q.val().into()) << 1)
            | (bit_cast::<10, 6>(self.write_end_channel.val()) << 2)
            | (bit_cast::<10, 2>(self.write_class.val()) << 8);
        self.ends.read_event.next = self.read_end.val();
        self.ends.read_word.next = bits::<10>(1)
            | (bit_cast::<10, 1>(self.bank.q.val().into()) << 1)
            | (bit_cast::<10, 6>(self.read_end_channel.val()) << 2)
            | (bit_cast::<10, 2>(self.read_class.val()) << 8);
    }
}
