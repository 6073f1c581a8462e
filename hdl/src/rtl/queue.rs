//! The descriptor queues of one direction. Each channel has a ring in block RAM, which software fills in place,
//! and counts of the descriptors that were accepted, started and ended.
//!
//! The dwords of a descriptor go straight into the slot at the channel's tail, one RAM bank a dword. The
//! doorbell only moves the tail. So there is no staging register, and a descriptor that was written but not
//! announced costs nothing. While a channel's ring is full, the slot at its tail holds a live descriptor:
//! writes of dwords are ignored, and a doorbell is refused.
//!
//! Numbers of descriptors count modulo 2^13. That is more than twice as many as a channel can have queued and in
//! flight, so the difference of two numbers says which came first.

mod busy;
mod counts;

use super::ports::DescriptorSource;
use crate::prim::{BlockRam, ForwardRam, Part, SmallRam, parts};
use busy::Busy;
use counts::{Counts, Oldest};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

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
    /// Software's side: the channel whose page is written or read.
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
    /// That number in the other direction, stored with each descriptor.
    pub other_number: Signal<In, Bits<13>>,
    /// The engine's side.
    pub engine: DescriptorSource,
    /// Channels with a descriptor that has not ended, or with a beat at the port.
    pub busy: Signal<Out, Bits<64>>,
    /// All that was given to the port before the last cycle has left it.
    pub sent: Signal<In, Bit>,
    /// Ends, and the count of them for the other direction's chains.
    pub end: Signal<In, Bit>,
    pub end_channel: Signal<In, Bits<6>>,
    pub other_select: Signal<In, Bits<6>>,
    pub ended_for_other: Signal<Out, Bits<13>>,

    #[given]
    bank: [BlockRam<Bits<32>, 12>; DWORDS],
    /// The dword that is written there, from registers; a bit for each bank. A doorbell announces it in that cycle at
    /// the earliest.
    writes: DFF<Bits<DWORDS>>,
    write_slot: DFF<Bits<12>>,
    write_data: DFF<Bits<32>>,
    /// Two places for each slot, by turns. So the place of the next descriptor is never that of a live one, even if the
    /// ring is full, and can be written before it is known whether the doorbell is accepted.
    #[given]
    stamps: BlockRam<Bits<13>, 13>,
    /// One memory for each place that reads.
    #[given]
    tail_software: ForwardRam<Bits<13>, 6>,
    /// Number of the last descriptor that was accepted. Comparisons with it count only when no doorbell has rung for
    /// two cycles.
    #[given]
    newest_engine: SmallRam<Bits<13>, 6>,
    #[given]
    newest_ends: SmallRam<Bits<13>, 6>,
    #[given]
    head_software: ForwardRam<Bits<13>, 6>,
    /// Read long after the last start: a descriptor takes more cycles than a word needs to settle.
    #[given]
    head_engine: SmallRam<Bits<13>, 6>,
    /// That of `select`, as of the last cycle.
    head_before: DFF<Bits<13>>,
    #[given]
    ended_ends: ForwardRam<Bits<13>, 6>,
    /// Not looked at in the cycle of an end that is counted, nor in the next.
    #[given]
    ended_own: SmallRam<Bits<13>, 6>,
    #[given]
    ended_other: SmallRam<Bits<13>, 6>,
    /// Channels whose ring is full, so that writes need not wait for a count. Whether the doorbell of the last cycle
    /// took the last slot is known, and counts, a cycle later: a short path after the counts.
    filled: DFF<Bits<64>>,
    grew: DFF<Bits<64>>,
    last_left: DFF<Bit>,
    waiting: DFF<Bits<64>>,
    unended: DFF<Bits<64>>,
    /// Channels whose descriptors have ended, and whose last beat may be at the port.
    leaving: DFF<Bits<64>>,
    /// The doorbell of the last cycle, and of the last two.
    arrived_before: DFF<Bits<64>>,
    arrived_lately: DFF<Bits<64>>,
    /// The descriptor of `select` is the last of its channel, as of the last cycle.
    is_last: DFF<Bit>,
    /// An end, and whether it was the channel's last.
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
    parts!(Software, Oldest, Counts, Busy);
}

/// Software writes descriptors and rings.
struct Software;

impl Part<Software> for DescriptorQueue {
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
        // The rings that the last cycle's doorbell has filled are full, too.
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
    }
}
