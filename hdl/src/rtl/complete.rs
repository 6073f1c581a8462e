//! Completion: turns the end of a descriptor into a record in its channel's ring in host memory, and
//! into an event for the interrupts once the port has sent the record.

use super::ports::{EndSink, PostSource};
use crate::prim::SmallRam;
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Takes the ends of both directions in turn.
#[derive(DocBlock)]
pub struct Completer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    /// Ends of descriptors; all signals stay until taken.
    pub write: EndSink,
    pub read: EndSink,
    /// The rings, set by the driver; switched off by the sweep after a reset.
    pub ring_low_we: Signal<In, Bit>,
    pub ring_high_we: Signal<In, Bit>,
    pub ring_channel: Signal<In, Bits<6>>,
    pub ring_data: Signal<In, Bits<32>>,
    pub sweep: Signal<In, Bit>,
    pub sweep_channel: Signal<In, Bits<6>>,
    /// To the port.
    pub record: PostSource<256>,
    /// All records that the port took before the last cycle have left it.
    pub sent: Signal<In, Bit>,
    /// Events, one cycle each and never in two that follow each other.
    pub irq: Signal<Out, Bit>,
    pub irq_channel: Signal<Out, Bits<6>>,
    pub irq_urgent: Signal<Out, Bit>,
    pub fault: Signal<Out, Bit>,
    pub recorded: Signal<Out, Bit>,

    /// The end that is being reported.
    code: DFF<Bits<5>>,
    bytes: DFF<Bits<32>>,
    tag: DFF<Bits<32>>,
    fault_at: DFF<Bits<64>>,
    wants_irq: DFF<Bit>,
    wants_urgent: DFF<Bit>,
    end_channel: DFF<Bits<6>>,
    chosen: DFF<Bit>,
    found: DFF<Bit>,
    over: DFF<Bit>,
    offering: DFF<Bit>,
    is_read: DFF<Bit>,
    has_ring: DFF<Bit>,
    /// Ring of the channel: log2 of its records, page.
    ring: DFF<Bits<24>>,
    ring_top: DFF<Bits<32>>,
    address: DFF<Bits<64>>,
    phase: DFF<Bit>,
    sequence: DFF<Bits<32>>,
    /// The end whose record waits at the port; the next record is prepared at the same time.
    gone: DFF<Bit>,
    gone_irq: DFF<Bit>,
    gone_urgent: DFF<Bit>,
    gone_fault: DFF<Bit>,
    gone_channel: DFF<Bits<6>>,
    fired: DFF<Bit>,
    restart: DFF<Bit>,
    restart_channel: DFF<Bits<6>>,
    /// While a record of a channel is under way, software does not write the channel's ring. The channel's sequence
    /// number has settled when the next end is copied.
    #[given]
    ring_low: SmallRam<Bits<25>, 6>,
    #[given]
    ring_high: SmallRam<Bits<32>, 6>,
    #[given]
    sequences: SmallRam<Bits<32>, 6>,

    channel: Signal<Local, Bits<6>>,
    chosen_channel: Signal<Local, Bits<6>>,
    log2: Signal<Local, Bits<4>>,
    status: Signal<Local, Bits<32>>,
    lap: Signal<Local, Bits<32>>,
    slot: Signal<Local, Bits<32>>,
    done: Signal<Local, Bit>,
    counted: Signal<Local, Bit>,
    fires: Signal<Local, Bit>,
    ones: Constant<Bits<32>>,
}

impl Completer {
    /// Rings of `2^channels_log2` channels.
    pub fn new(channels_log2: usize) -> Self {
        Self::fresh(CompleterGiven {
            ring_low: SmallRam::new(channels_log2),
            ring_high: SmallRam::new(channels_log2),
            sequences: SmallRam::new(channels_log2),
            ones: Constant::new(0xFFFF_FFFFu64.into()),
        })
    }
}

impl Logic for Completer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            over,
            code,
            bytes,
            tag,
            fault_at,
            wants_irq,
            wants_urgent,
            end_channel,
            found,
            chosen,
            offering,
            is_read,
            has_ring,
            ring,
            ring_top,
            address,
            phase,
            sequence,
            gone,
            gone_irq,
            gone_urgent,
            gone_fault,
            gone_channel,
            fired,
            restart,
            restart_channel
        );
        clock!(self, clock, ring_low, ring_high, sequences);
        self.busy.next = self.chosen.q.val() | self.gone.q.val();
        self.channel.next = self.end_channel.q.val();

        // The record: cookie, status, bytes done, sequence; fault address, zero.
        self.status.next = bit_cast::<32, 1>(self.phase.q.val().into())
            | (bit_cast::<32, 1>(self.is_read.q.val().into()) << 1)
            | (bit_cast::<32, 6>(self.channel.val()) << 8)
            | (bit_cast::<32, 5>(self.code.q.val()) << 16);
        self.record.data.next = bit_cast::<256, 32>(self.tag.q.val())
            | (bit_cast::<256, 32>(self.status.val()) << 32)
            | (bit_cast::<256, 32>(self.bytes.q.val()) << 64)
            | (bit_cast::<256, 32>(self.sequence.q.val()) << 96)
            | (bit_cast::<256, 64>(self.fault_at.q.val()) << 128);
        self.record.address.next = self.address.q.val();
        self.record.valid.next = self.offering.q.val() & self.has_ring.q.val();
        self.done.next = self.offering.q.val()
            & (self.record.take.val() | (!self.has_ring.q.val() & !self.gone.q.val()));
        self.write.take.next = self.over.q.val() & !self.is_read.q.val();
        self.read.take.next = self.over.q.val() & self.is_read.q.val();
        // The port takes no record before it has sent the one before: one place is enough.
        self.fires.next = self.gone.q.val() & self.sent.val() & !self.fired.q.val();
        self.fired.d.next = self.fires.val();
        self.irq.next = self.fires.val() & self.gone_irq.q.val();
        self.irq_urgent.next = self.gone_urgent.q.val();
        self.irq_channel.next = self.gone_channel.q.val();
        self.fault.next = self.fires.val() & self.gone_fault.q.val();
        if self.fires.val() {
            self.gone.d.next = false;
        }
        if self.over.q.val() {
            self.gone.d.next = true;
            self.gone_irq.d.next = self.wants_irq.q.val();
            self.gone_urgent.d.next = self.wants_urgent.q.val();
            self.gone_fault.d.next = self.code.q.val().any();
            self.gone_channel.d.next = self.channel.val();
        }
        self.counted.next = self.over.q.val() & self.has_ring.q.val();
        self.recorded.next = self.counted.val();

        // Choose an end, in turn when both wait; copy it and the state of its ring; find its slot; offer it.
        if !self.chosen.q.val() & (self.write.valid.val() | self.read.valid.val()) {
            self.chosen.d.next = true;
            self.found.d.next = false;
            self.is_read.d.next =
                self.read.valid.val() & (!self.write.valid.val() | !self.is_read.q.val());
        }
        self.chosen_channel.next = self.write.channel.val();
        if self.is_read.q.val() {
            self.chosen_channel.next = self.read.channel.val();
        }
        self.ring_low.read_address.next = self.chosen_channel.val();
        self.ring_high.read_address.next = self.chosen_channel.val();
        self.sequences.read_address.next = self.chosen_channel.val();
        if self.chosen.q.val() & !self.found.q.val() {
            self.has_ring.d.next = self.ring_low.read_data.val().get_bit(0);
            self.ring.d.next = self.ring_low.read_data.val().get_bits::<24>(1);
            self.ring_top.d.next = self.ring_high.read_data.val();
            self.sequence.d.next = self.sequences.read_data.val();
            self.end_channel.d.next = self.chosen_channel.val();
            self.found.d.next = true;
            self.code.d.next = self.write.code.val();
            self.bytes.d.next = self.write.bytes.val();
            self.tag.d.next = self.write.tag.val();
            self.fault_at.d.next = self.write.fault.val();
            self.wants_irq.d.next = self.write.irq.val();
            self.wants_urgent.d.next = self.write.urgent.val();
            if self.is_read.q.val() {
                self.code.d.next = self.read.code.val();
                self.bytes.d.next = self.read.bytes.val();
                self.tag.d.next = self.read.tag.val();
                self.fault_at.d.next = self.read.fault.val();
                self.wants_irq.d.next = self.read.irq.val();
                self.wants_urgent.d.next = self.read.urgent.val();
            }
        }
        self.log2.next = self.ring.q.val().get_bits::<4>(0);
        self.slot.next = self.sequence.q.val() & !(self.ones.val() << self.log2.val());
        self.lap.next = self.sequence.q.val() >> self.log2.val();
        if self.found.q.val() & self.chosen.q.val() & !self.offering.q.val() & !self.over.q.val() {
            self.offering.d.next = true;
            self.address.d.next = ((bit_cast::<64, 32>(self.ring_top.q.val()) << 32)
                | (bit_cast::<64, 20>(self.ring.q.val().get_bits::<20>(4)) << 12))
                + (bit_cast::<64, 32>(self.slot.val()) << 5);
            self.phase.d.next = !self.lap.val().get_bit(0);
        }
        // The effects of the end come a cycle later.
        self.over.d.next = self.done.val();
        if self.done.val() {
            self.offering.d.next = false;
        }
        if self.over.q.val() {
            self.chosen.d.next = false;
        }

        // The rings. Software sets one only while its channel is idle.
        self.ring_low.write_enable.next = self.ring_low_we.val() | self.sweep.val();
        self.ring_low.write_address.next = self.ring_channel.val();
        self.ring_low.write_data.next = bit_cast::<25, 1>(self.ring_data.val().get_bit(0).into())
            | (bit_cast::<25, 4>(self.ring_data.val().get_bits::<4>(4)) << 1)
            | (bit_cast::<25, 20>(self.ring_data.val().get_bits::<20>(12)) << 5);
        self.ring_high.write_enable.next = self.ring_high_we.val();
        self.ring_high.write_address.next = self.ring_channel.val();
        self.ring_high.write_data.next = self.ring_data.val();
        // The count of a ring that was set begins again at 0, a cycle later if a record is counted in this cycle.
        if self.ring_low_we.val() {
            self.restart.d.next = true;
            self.restart_channel.d.next = self.ring_channel.val();
        } else if !self.counted.val() {
            self.restart.d.next = false;
        }
        self.sequences.write_enable.next =
            self.restart.q.val() | self.sweep.val() | self.counted.val();
        self.sequences.write_address.next = self.restart_channel.q.val();
        self.sequences.write_data.next = 0.into();
        if self.counted.val() {
            self.sequences.write_address.next = self.channel.val();
            self.sequences.write_data.next = self.sequence.q.val() + 1;
        }
        if self.sweep.val() {
            self.ring_low.write_address.next = self.sweep_channel.val();
            self.ring_low.write_data.next = 0.into();
            self.sequences.write_address.next = self.sweep_channel.val();
            self.sequences.write_data.next = 0.into();
        }
        if self.reset.val() {
            self.chosen.d.next = false;
            self.found.d.next = false;
            self.over.d.next = false;
            self.offering.d.next = false;
            self.gone.d.next = false;
            self.fired.d.next = false;
            self.restart.d.next = false;
        }
    }
}
