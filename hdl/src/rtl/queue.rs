//! The descriptor queues of one direction: for each channel a ring in block RAM that software fills in
//! place, and the count of what was accepted, started and ended.
//!
//! The dwords of a descriptor go straight into the slot at the channel's tail, one RAM bank a dword; the
//! doorbell only moves the tail. So there is no staging register, and a descriptor that is written but
//! not announced costs nothing. While a channel's ring is full its tail slot is a live descriptor: dword
//! writes are ignored and a doorbell is refused.
//!
//! Numbers of descriptors count modulo 2^13, more than twice what a channel may have queued and under way, so a
//! difference of two says which was first.

use crate::prim::{BlockRam, ForwardRam, SmallRam};
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// Dwords of a descriptor that the hardware keeps (the rest is reserved).
pub const DWORDS: usize = 7;

/// Up to `2^12` descriptors, shared out equally among up to 64 channels.
#[derive(DocBlock)]
pub struct DescriptorQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Clears the counts of one channel a cycle, after a reset.
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    // Software's side: the channel whose page is written or read.
    pub channel: Signal<In, Bits<6>>,
    pub write: Signal<In, Bit>,
    pub dword: Signal<In, Bits<4>>,
    pub data: Signal<In, Bits<32>>,
    pub doorbell: Signal<In, Bit>,
    /// The channel accepts doorbells.
    pub accept: Signal<In, Bit>,
    /// One cycle: the doorbell of this cycle was refused.
    pub refused: Signal<Out, Bit>,
    pub free: Signal<Out, Bits<13>>,
    /// Number of the next descriptor of the channel.
    pub next_number: Signal<Out, Bits<13>>,
    /// The same in the other direction, kept with each descriptor.
    pub other_number: Signal<In, Bits<13>>,
    // The engine's side.
    /// Channels with a descriptor that was not started.
    pub queued: Signal<Out, Bits<64>>,
    /// Channels that had none and get one in this cycle.
    pub awakened: Signal<Out, Bits<64>>,
    /// Channels with a descriptor that has not ended, or of which something stands at the port.
    pub busy: Signal<Out, Bits<64>>,
    pub select: Signal<In, Bits<6>>,
    /// Reads the oldest descriptor of `select`; it stands from the next cycle on.
    pub fetch: Signal<In, Bit>,
    pub peer_low: Signal<Out, Bits<32>>,
    pub peer_high: Signal<Out, Bits<32>>,
    pub local_low: Signal<Out, Bits<32>>,
    pub local_high: Signal<Out, Bits<32>>,
    pub length: Signal<Out, Bits<32>>,
    pub control: Signal<Out, Bits<32>>,
    pub cookie: Signal<Out, Bits<32>>,
    pub stamp: Signal<Out, Bits<13>>,
    /// Number of the oldest descriptor of `select` that was not started.
    pub number: Signal<Out, Bits<13>>,
    /// Starts that descriptor.
    pub take: Signal<In, Bit>,
    /// Descriptors of `select` that have ended.
    pub ended: Signal<Out, Bits<13>>,
    /// What was given to the port in cycles before the last has left it.
    pub sent: Signal<In, Bit>,
    // Ends, and the count of them for the other direction's chains.
    pub end: Signal<In, Bit>,
    pub end_channel: Signal<In, Bits<6>>,
    /// The same, in the cycle in which it is counted.
    pub end_seen: Signal<Out, Bit>,
    pub end_seen_channel: Signal<Out, Bits<6>>,
    pub other_select: Signal<In, Bits<6>>,
    pub ended_for_other: Signal<Out, Bits<13>>,

    #[given]
    bank: [BlockRam<32, 12>; DWORDS],
    /// What is written there, from registers; a bit for each bank. It is announced in that cycle at the earliest.
    writes: DFF<Bits<DWORDS>>,
    write_slot: DFF<Bits<12>>,
    write_data: DFF<Bits<32>>,
    /// Two places for each slot, by turns: that of the next descriptor is no live one's, though the ring be full,
    /// so a doorbell need not be accepted to write it.
    #[given]
    stamps: BlockRam<13, 13>,
    // One memory for each place that reads.
    #[given]
    tail_software: ForwardRam<13, 6>,
    /// Number of the last descriptor that was accepted. What is compared with it counts only when no
    /// doorbell has rung for two cycles.
    #[given]
    newest_engine: SmallRam<13, 6>,
    #[given]
    newest_ends: SmallRam<13, 6>,
    #[given]
    head_software: ForwardRam<13, 6>,
    /// Read long after the last start: a descriptor takes more cycles than a word to settle.
    #[given]
    head_engine: SmallRam<13, 6>,
    /// That of `select`, as of the last cycle.
    head_before: DFF<Bits<13>>,
    #[given]
    ended_ends: ForwardRam<13, 6>,
    // Not looked at in the cycle of an end that is counted, nor in the next.
    #[given]
    ended_own: SmallRam<13, 6>,
    #[given]
    ended_other: SmallRam<13, 6>,
    /// Channels whose ring is full: what is written waits for no count. Whether the doorbell of the last cycle
    /// took the last slot is known, and counts, a cycle later: a short path behind the counts.
    filled: DFF<Bits<64>>,
    grew: DFF<Bits<64>>,
    last_left: DFF<Bit>,
    waiting: DFF<Bits<64>>,
    unended: DFF<Bits<64>>,
    /// Those that have ended, and whose last beat may stand at the port.
    leaving: DFF<Bits<64>>,
    /// The doorbell of the last cycle, and of the last two.
    arrived_before: DFF<Bits<64>>,
    arrived_lately: DFF<Bits<64>>,
    /// The descriptor of `select` is the last of its channel, as of the last cycle.
    is_last: DFF<Bit>,
    // An end, and whether it was the channel's last.
    ending: DFF<Bit>,
    ending_channel: DFF<Bits<6>>,
    ended_last: DFF<Bit>,
    ended_channel: DFF<Bits<6>>,

    last_carry: Signal<Local, Bits<13>>,
    not_last: Signal<Local, Bits<13>>,
    paged: Signal<Local, Bits<64>>,
    fills: Signal<Local, Bits<64>>,
    starts: Signal<Local, Bits<64>>,
    full: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    tail_now: Signal<Local, Bits<13>>,
    step: Signal<Local, Bits<13>>,
    tail_next: Signal<Local, Bits<13>>,
    head_next: Signal<Local, Bits<13>>,
    ended_next: Signal<Local, Bits<13>>,
    slot: Signal<Local, Bits<12>>,
    oldest: Signal<Local, Bits<12>>,
    arrived: Signal<Local, Bits<64>>,
    emptied: Signal<Local, Bits<64>>,
    finished: Signal<Local, Bits<64>>,

    depth: Constant<Bits<13>>,
    level_mask: Constant<Bits<13>>,
    last_slot: Constant<Bits<13>>,
    slot_mask: Constant<Bits<12>>,
    slot_bits: Constant<Bits<4>>,
    stamp_bits: Constant<Bits<4>>,
    all_channels: Constant<Bits<64>>,
    one: Constant<Bits<64>>,
    first_bank: Constant<Bits<DWORDS>>,
}

impl DescriptorQueue {
    /// Queues of `2^log2` descriptors in all, for `2^channels_log2` channels.
    pub fn new(log2: usize, channels_log2: usize) -> Self {
        let slots_log2 = log2 - channels_log2;
        Self::fresh(DescriptorQueueGiven {
            bank: std::array::from_fn(|_| BlockRam::new(log2)),
            stamps: BlockRam::new(log2 + 1),
            tail_software: ForwardRam::new(channels_log2),
            newest_engine: SmallRam::new(channels_log2),
            newest_ends: SmallRam::new(channels_log2),
            head_software: ForwardRam::new(channels_log2),
            head_engine: SmallRam::new(channels_log2),
            ended_ends: ForwardRam::new(channels_log2),
            ended_own: SmallRam::new(channels_log2),
            ended_other: SmallRam::new(channels_log2),
            depth: Constant::new((1u64 << slots_log2).into()),
            last_slot: Constant::new(((1u64 << slots_log2) - 1).into()),
            level_mask: Constant::new(((2u64 << slots_log2) - 1).into()),
            slot_mask: Constant::new(((1u64 << slots_log2) - 1).into()),
            slot_bits: Constant::new((slots_log2 as u64).into()),
            stamp_bits: Constant::new((slots_log2 as u64 + 1).into()),
            all_channels: Constant::new(super::channel_mask(channels_log2)),
            one: Constant::new(1.into()),
            first_bank: Constant::new(1.into()),
        })
    }
}

impl Logic for DescriptorQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            writes,
            write_slot,
            write_data,
            ended_channel,
            filled,
            grew,
            last_left,
            waiting,
            unended,
            leaving,
            arrived_before,
            arrived_lately,
            head_before,
            is_last,
            ending,
            ending_channel,
            ended_last
        );
        clock!(
            self,
            clock,
            tail_software,
            newest_engine,
            newest_ends,
            head_software,
            head_engine,
            ended_ends,
            ended_own,
            ended_other
        );
        // Software's side.
        self.tail_software.read_address.next = self.channel.val();
        self.head_software.read_address.next = self.channel.val();
        // There are never more than `depth`, so the difference needs no more bits than `depth` has; added to
        // the upper one of these, `depth` turns it over.
        self.free.next = ((self.head_software.read_data.val()
            - self.tail_software.read_data.val())
            ^ self.depth.val())
            & self.level_mask.val();
        self.paged.next = self.one.val() << self.channel.val();
        // What the last cycle's doorbell filled, too.
        self.fills.next = 0.into();
        if self.last_left.q.val() {
            self.fills.next = self.grew.q.val();
        }
        self.full.next = ((self.filled.q.val() | self.fills.val()) & self.paged.val()).any();
        self.next_number.next = self.tail_software.read_data.val();
        self.accepted.next = self.doorbell.val() & self.accept.val() & !self.full.val();
        self.refused.next = self.doorbell.val() & (!self.accept.val() | self.full.val());
        // The sweep's 0 comes out of the same sum.
        self.tail_now.next = self.tail_software.read_data.val();
        self.step.next = 1.into();
        if self.sweep.val() {
            self.tail_now.next = 0.into();
            self.step.next = 0.into();
        }
        self.tail_next.next = self.tail_now.val() + self.step.val();
        self.slot.next = (bit_cast::<12, 13>(self.tail_software.read_data.val())
            & self.slot_mask.val())
            | (bit_cast::<12, 6>(self.channel.val()) << self.slot_bits.val());

        // The engine's side.
        self.head_engine.read_address.next = self.select.val();
        self.newest_engine.read_address.next = self.select.val();
        // `select` has stood for a cycle when its descriptor starts.
        self.head_before.d.next = self.head_engine.read_data.val();
        self.head_next.next = self.head_before.q.val() + 1;
        self.number.next = self.head_engine.read_data.val();
        self.oldest.next = (bit_cast::<12, 13>(self.head_engine.read_data.val())
            & self.slot_mask.val())
            | (bit_cast::<12, 6>(self.select.val()) << self.slot_bits.val());
        for i in 0..DWORDS {
            self.bank[i].write_clock.next = self.clock.val();
            self.bank[i].read_clock.next = self.clock.val();
            self.bank[i].write_address.next = self.write_slot.q.val();
            self.bank[i].write_data.next = self.write_data.q.val();
            self.bank[i].read_address.next = self.oldest.val();
            self.bank[i].read_enable.next = self.fetch.val();
            self.bank[i].write_enable.next = self.writes.q.val().get_bit(i);
        }
        self.stamps.write_clock.next = self.clock.val();
        self.stamps.read_clock.next = self.clock.val();
        self.stamps.write_address.next = (self.tail_software.read_data.val()
            & self.level_mask.val())
            | (bit_cast::<13, 6>(self.channel.val()) << self.stamp_bits.val());
        self.stamps.write_data.next = self.other_number.val();
        self.stamps.write_enable.next = self.doorbell.val();
        self.write_slot.d.next = self.slot.val();
        self.write_data.d.next = self.data.val();
        self.writes.d.next = 0.into();
        if self.write.val() & !self.full.val() {
            self.writes.d.next = self.first_bank.val() << self.dword.val();
        }
        self.stamps.read_address.next = (self.head_engine.read_data.val() & self.level_mask.val())
            | (bit_cast::<13, 6>(self.select.val()) << self.stamp_bits.val());
        self.stamps.read_enable.next = self.fetch.val();
        self.peer_low.next = self.bank[0].read_data.val();
        self.peer_high.next = self.bank[1].read_data.val();
        self.local_low.next = self.bank[2].read_data.val();
        self.local_high.next = self.bank[3].read_data.val();
        self.length.next = self.bank[4].read_data.val();
        self.control.next = self.bank[5].read_data.val();
        self.cookie.next = self.bank[6].read_data.val();
        self.stamp.next = self.stamps.read_data.val();

        // Ends.
        self.ending.d.next = self.end.val();
        self.ending_channel.d.next = self.end_channel.val();
        self.end_seen.next = self.ending.q.val();
        self.end_seen_channel.next = self.ending_channel.q.val();
        self.ended_ends.read_address.next = self.ending_channel.q.val();
        self.newest_ends.read_address.next = self.ending_channel.q.val();
        self.ended_own.read_address.next = self.select.val();
        self.ended_other.read_address.next = self.other_select.val();
        self.ended.next = self.ended_own.read_data.val();
        self.ended_for_other.next = self.ended_other.read_data.val();
        self.ended_next.next = self.ended_ends.read_data.val() + 1;

        // Counts: doorbells move tails, starts move heads.
        self.tail_software.write_enable.next = self.accepted.val() | self.sweep.val();
        self.newest_engine.write_enable.next = self.accepted.val() | self.sweep.val();
        self.newest_ends.write_enable.next = self.accepted.val() | self.sweep.val();
        self.head_software.write_enable.next = self.take.val() | self.sweep.val();
        self.head_engine.write_enable.next = self.take.val() | self.sweep.val();
        self.ended_ends.write_enable.next = self.ending.q.val() | self.sweep.val();
        self.ended_own.write_enable.next = self.ending.q.val() | self.sweep.val();
        self.ended_other.write_enable.next = self.ending.q.val() | self.sweep.val();
        self.tail_software.write_address.next = self.channel.val();
        self.newest_engine.write_address.next = self.channel.val();
        self.newest_ends.write_address.next = self.channel.val();
        self.head_software.write_address.next = self.select.val();
        self.head_engine.write_address.next = self.select.val();
        self.ended_ends.write_address.next = self.ending_channel.q.val();
        self.ended_own.write_address.next = self.ending_channel.q.val();
        self.ended_other.write_address.next = self.ending_channel.q.val();
        self.tail_software.write_data.next = self.tail_next.val();
        self.newest_engine.write_data.next = self.tail_now.val();
        self.newest_ends.write_data.next = self.tail_now.val();
        self.head_software.write_data.next = self.head_next.val();
        self.head_engine.write_data.next = self.head_next.val();
        self.ended_ends.write_data.next = self.ended_next.val();
        self.ended_own.write_data.next = self.ended_next.val();
        self.ended_other.write_data.next = self.ended_next.val();
        if self.sweep.val() {
            self.tail_software.write_address.next = self.sweep_channel.val();
            self.newest_engine.write_address.next = self.sweep_channel.val();
            self.newest_ends.write_address.next = self.sweep_channel.val();
            self.head_software.write_address.next = self.sweep_channel.val();
            self.head_engine.write_address.next = self.sweep_channel.val();
            self.ended_ends.write_address.next = self.sweep_channel.val();
            self.ended_own.write_address.next = self.sweep_channel.val();
            self.ended_other.write_address.next = self.sweep_channel.val();
            self.head_software.write_data.next = 0.into();
            self.head_engine.write_data.next = 0.into();
            self.ended_ends.write_data.next = 0.into();
            self.ended_own.write_data.next = 0.into();
            self.ended_other.write_data.next = 0.into();
        }

        // Who has something queued, who has something under way. What is compared is compared a cycle
        // before it counts; a doorbell of the cycle before that, of that, or of this wins.
        // One slot is left, asked without a carry: of a sum of two numbers, each bit and the carry into it.
        self.last_carry.next = (self.head_software.read_data.val() & self.last_slot.val())
            | ((self.head_software.read_data.val() | self.last_slot.val())
                & !self.tail_software.read_data.val());
        self.not_last.next = (self.head_software.read_data.val()
            ^ self.last_slot.val()
            ^ self.tail_software.read_data.val()
            ^ (self.last_carry.val() << 1))
            & self.level_mask.val();
        self.arrived.next = 0.into();
        if self.accepted.val() {
            self.arrived.next = self.paged.val();
        }
        self.last_left.d.next = !self.not_last.val().any();
        self.starts.next = 0.into();
        if self.take.val() {
            self.starts.next = self.one.val() << self.select.val();
        }
        self.filled.d.next =
            (self.filled.q.val() | self.fills.val()) & !self.starts.val() & self.all_channels.val();
        self.grew.d.next = self.arrived.val() & !self.starts.val() & self.all_channels.val();
        self.arrived_before.d.next = self.arrived.val() & self.all_channels.val();
        self.arrived_lately.d.next =
            (self.arrived.val() | self.arrived_before.q.val()) & self.all_channels.val();
        self.is_last.d.next =
            self.head_engine.read_data.val() == self.newest_engine.read_data.val();
        self.emptied.next = 0.into();
        if self.is_last.q.val() {
            self.emptied.next = self.starts.val();
        }
        self.ended_last.d.next = self.ending.q.val()
            & (self.ended_ends.read_data.val() == self.newest_ends.read_data.val());
        self.ended_channel.d.next = self.ending_channel.q.val();
        self.finished.next = 0.into();
        if self.ended_last.q.val() {
            self.finished.next = self.one.val() << self.ended_channel.q.val();
        }
        self.queued.next = self.waiting.q.val();
        self.busy.next = self.unended.q.val() | self.leaving.q.val();
        self.awakened.next = self.arrived.val() & !self.unended.q.val();
        self.waiting.d.next = ((self.waiting.q.val() & !self.emptied.val())
            | self.arrived.val()
            | self.arrived_lately.q.val())
            & self.all_channels.val();
        self.unended.d.next = ((self.unended.q.val() & !self.finished.val())
            | self.arrived.val()
            | self.arrived_lately.q.val())
            & self.all_channels.val();
        // The last of a descriptor was given to the port at least two cycles before it counts as ended here.
        self.leaving.d.next =
            (self.leaving.q.val() | self.finished.val()) & self.all_channels.val();
        if self.sent.val() {
            self.leaving.d.next = self.finished.val() & self.all_channels.val();
        }
        if self.reset.val() {
            self.writes.d.next = 0.into();
            self.filled.d.next = 0.into();
            self.grew.d.next = 0.into();
            self.waiting.d.next = 0.into();
            self.leaving.d.next = 0.into();
            self.unended.d.next = 0.into();
            self.arrived_before.d.next = 0.into();
            self.arrived_lately.d.next = 0.into();
            self.ending.d.next = false;
            self.ended_last.d.next = false;
        }
    }
}
