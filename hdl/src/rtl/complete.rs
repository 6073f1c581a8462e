//! Completion: turns the end of a descriptor into a record in the channel's ring in host memory, and
//! the record into an interrupt.

use rust_hdl::prelude::*;

/// Takes the ends of both directions in turn.
#[derive(LogicBlock, Default)]
pub struct Completer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    // Ends of descriptors; everything stands until taken.
    pub write_end: Signal<In, Bit>,
    pub write_code: Signal<In, Bits<4>>,
    pub write_bytes: Signal<In, Bits<32>>,
    pub write_tag: Signal<In, Bits<32>>,
    pub write_fault: Signal<In, Bits<64>>,
    pub write_irq: Signal<In, Bit>,
    pub write_take: Signal<Out, Bit>,
    pub read_end: Signal<In, Bit>,
    pub read_code: Signal<In, Bits<4>>,
    pub read_bytes: Signal<In, Bits<32>>,
    pub read_tag: Signal<In, Bits<32>>,
    pub read_fault: Signal<In, Bits<64>>,
    pub read_irq: Signal<In, Bit>,
    pub read_take: Signal<Out, Bit>,
    // The ring, set by the driver.
    pub ring_low_we: Signal<In, Bit>,
    pub ring_high_we: Signal<In, Bit>,
    pub ring_data: Signal<In, Bits<32>>,
    // To the port.
    pub record: Signal<Out, Bit>,
    pub record_address: Signal<Out, Bits<64>>,
    pub record_data: Signal<Out, Bits<256>>,
    pub record_take: Signal<In, Bit>,
    // Events, one cycle each.
    pub irq: Signal<Out, Bit>,
    pub fault: Signal<Out, Bit>,
    pub recorded: Signal<Out, Bit>,

    offering: DFF<Bit>,
    is_read: DFF<Bit>,
    ring_enable: DFF<Bit>,
    ring_log2: DFF<Bits<5>>,
    ring_base: DFF<Bits<52>>,
    position: DFF<Bits<16>>,
    lap: DFF<Bit>,
    sequence: DFF<Bits<32>>,

    code: Signal<Local, Bits<4>>,
    bytes: Signal<Local, Bits<32>>,
    tag: Signal<Local, Bits<32>>,
    fault_at: Signal<Local, Bits<64>>,
    wants_irq: Signal<Local, Bit>,
    status: Signal<Local, Bits<32>>,
    position_next: Signal<Local, Bits<16>>,
    done: Signal<Local, Bit>,
}

impl Logic for Completer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            offering,
            is_read,
            ring_enable,
            ring_log2,
            ring_base,
            position,
            lap,
            sequence
        );
        self.busy.next = self.offering.q.val();
        self.code.next = self.write_code.val();
        self.bytes.next = self.write_bytes.val();
        self.tag.next = self.write_tag.val();
        self.fault_at.next = self.write_fault.val();
        self.wants_irq.next = self.write_irq.val();
        if self.is_read.q.val() {
            self.code.next = self.read_code.val();
            self.bytes.next = self.read_bytes.val();
            self.tag.next = self.read_tag.val();
            self.fault_at.next = self.read_fault.val();
            self.wants_irq.next = self.read_irq.val();
        }

        // The record: cookie, status, bytes done, sequence; fault address, zero.
        self.status.next = bit_cast::<32, 1>(self.lap.q.val().into())
            | (bit_cast::<32, 1>(self.is_read.q.val().into()) << 1)
            | (bit_cast::<32, 4>(self.code.val()) << 16);
        self.record_data.next = bit_cast::<256, 32>(self.tag.val())
            | (bit_cast::<256, 32>(self.status.val()) << 32)
            | (bit_cast::<256, 32>(self.bytes.val()) << 64)
            | (bit_cast::<256, 32>(self.sequence.q.val()) << 96)
            | (bit_cast::<256, 64>(self.fault_at.val()) << 128);
        self.record_address.next = (bit_cast::<64, 52>(self.ring_base.q.val()) << 12)
            + (bit_cast::<64, 16>(self.position.q.val()) << 5);
        self.record.next = self.offering.q.val() & self.ring_enable.q.val();
        self.done.next =
            self.offering.q.val() & (self.record_take.val() | !self.ring_enable.q.val());
        self.write_take.next = self.done.val() & !self.is_read.q.val();
        self.read_take.next = self.done.val() & self.is_read.q.val();
        self.irq.next = self.done.val() & self.wants_irq.val();
        self.fault.next = self.done.val() & self.code.val().any();
        self.recorded.next = self.done.val() & self.ring_enable.q.val();
        self.position_next.next = self.position.q.val() + 1;

        if !self.offering.q.val() & (self.write_end.val() | self.read_end.val()) {
            self.offering.d.next = true;
            // In turn when both wait.
            self.is_read.d.next =
                self.read_end.val() & (!self.write_end.val() | !self.is_read.q.val());
        }
        if self.done.val() {
            self.offering.d.next = false;
            self.sequence.d.next = self.sequence.q.val() + 1;
            self.position.d.next = self.position_next.val();
            if (self.position_next.val() >> self.ring_log2.q.val()).any() {
                self.position.d.next = 0.into();
                self.lap.d.next = !self.lap.q.val();
            }
        }
        if self.ring_low_we.val() {
            self.ring_enable.d.next = self.ring_data.val().get_bit(0);
            self.ring_log2.d.next = self.ring_data.val().get_bits::<5>(4);
            self.ring_base.d.next = bit_cast::<52, 20>(self.ring_data.val().get_bits::<20>(12))
                | (bit_cast::<52, 32>(self.ring_base.q.val().get_bits::<32>(20)) << 20);
            self.position.d.next = 0.into();
            self.lap.d.next = true;
            self.sequence.d.next = 0.into();
        }
        if self.ring_high_we.val() {
            self.ring_base.d.next = bit_cast::<52, 20>(self.ring_base.q.val().get_bits::<20>(0))
                | (bit_cast::<52, 32>(self.ring_data.val()) << 20);
        }
        if self.reset.val() {
            self.offering.d.next = false;
            self.ring_enable.d.next = false;
            self.position.d.next = 0.into();
            self.lap.d.next = true;
            self.sequence.d.next = 0.into();
        }
    }
}
