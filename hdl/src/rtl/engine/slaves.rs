//! The host's slaves: registers, channel pages, address translation table, interrupt vectors.

use super::Engine;
use crate::prim::Part;
use crate::rtl::ports::RegisterSlave;
use peerlane_language::*;

/// Connects the slaves that the host writes and reads.
pub(super) struct Slaves;

impl<const W: usize, const B: usize, const E: usize> Part<Slaves> for Engine<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        self.registers.read.next = self.csr.read.val();
        self.registers.write.next = self.csr.write.val();
        self.registers.writedata.next = self.csr.writedata.val();
        self.registers.byteenable.next = self.csr.byteenable.val();
        self.registers.address.next = self.csr.address.val();
        self.csr.readdata.next = self.registers.readdata.val();
        if self.counter_read.q.val() {
            self.csr.readdata.next = self.counters.value.val();
        }
        self.pages.read.next = self.chan.read.val();
        self.pages.write.next = self.chan.write.val();
        self.pages.writedata.next = self.chan.writedata.val();
        self.pages.byteenable.next = self.chan.byteenable.val();
        self.pages.address.next = self.chan.address.val().get_bits::<10>(0);
        self.page.next = self.chan.address.val().get_bits::<6>(10);
        self.chan.readdata.next = self.pages.readdata.val();
        self.table.write.next = self.att.write.val() & self.att.byteenable.val().all();
        self.table.address.next = self.att.address.val();
        self.table.data.next = self.att.writedata.val();
        self.table.owner.next = self.registers.att_owner_channels.val();
        self.att.readdata.next = 0.into();
        RegisterSlave::<10>::link(&mut self.msix, &mut self.interrupts.msix);

        self.doorbell.next = self.pages.write_doorbell_we.val() | self.pages.read_doorbell_we.val();
        self.refused.next = self.write_queue.refused.val() | self.read_queue.refused.val();

        // Values that the registers show.
        self.registers.build_id.next = self.build_id.val();
        self.registers.caps0_channels.next = self.channel_count.val();
        self.registers.caps0_port_bytes.next = self.port_bytes.val();
        self.registers.caps0_txs_addr_bits.next = self.address_bits.val();
        self.registers.caps1_queue_log2.next = self.queue_bits.val();
        self.registers.caps1_att_log2.next = self.att_bits.val();
        self.registers.caps1_max_burst_log2.next = 9.into();
        self.registers.caps1_mem_addr_bits.next = self.memory_bits.val();
        self.registers.caps2_reads_log2.next = self.read_bits.val();
        self.registers.caps2_tagged.next = self.port.tagged.val();
        self.registers.caps2_msix.next = self.has_msix.val().any();
        self.registers.caps2_tlp.next = self.has_layer.val().any();
        self.registers.caps2_write_granularity_log2.next = 2.into();
        if self.port.tagged.val() {
            self.registers.caps2_write_granularity_log2.next = 0.into();
        }
        self.registers.link_max_payload.next = self.max_payload.val();
        self.registers.link_max_request.next = self.max_request.val();
        self.registers.link_read_tags.next = 0.into();
        if self.has_layer.val().any() {
            self.registers.link_read_tags.next = 24.into();
            if self.extended_tags.val() {
                self.registers.link_read_tags.next = 56.into();
            }
        }
        self.registers.link_completion_space.next = self.ko_cpl_spc_header.val();
        self.registers.link_rx_failed.next = self.rx_failed.val();
        self.registers.link_refusals_unsupported.next = self.unsupported.val();
        self.registers.link_refusals_aborted.next = self.aborted.val();
        self.registers.link_errors_poisoned.next = self.poisoned.val();
        self.registers.link_errors_malformed.next = self.malformed.val();
        self.registers.link_losses_unexpected.next = self.unexpected.val();
        self.registers.link_losses_expired.next = self.expired.val();
        self.registers.status_write_busy.next = self.write_busy.q.val();
        self.registers.status_read_busy.next = self.read_busy.q.val();
        self.registers.status_read_quarantine.next = self.port.quarantine.val();
        self.registers.status_att_sweep.next = self.sweep.val();
        self.registers.status_completer_busy.next =
            self.completer.busy.val() | self.port.rinses.val();
        self.registers.status_port_dead.next = self.port.dead.val() | self.rx_failed.val();
        self.registers.irq_status_completion_set.next = self.interrupts.notify.val();
        self.was_dead.d.next = self.port.dead.val();
        if self.port.dead.val() {
            self.port_lost.d.next = true;
        } else if self.registers.control_reset.val() | self.resets[0].held.val() {
            self.port_lost.d.next = false;
        }
        self.registers.status_port_lost.next = self.port_lost.q.val() | self.port.dead.val();
        self.opened.next = self.was_dead.q.val() & !self.port.dead.val();
        self.registers.irq_status_error_set.next = self.completer.fault.val() | self.opened.val();
        self.registers.irq_status_refused_set.next = self.refused.val();
        self.interrupt.next = self.registers.control_irq_enable.val()
            & (self.registers.irq_status_completion.val()
                | self.registers.irq_status_error.val()
                | self.registers.irq_status_refused.val());
        // Without Bus Master Enable the bridge of `Txs` keeps a rise for later, and answers no read of the host until
        // then. A port that is dead may be such a one.
        self.dma_irq.next = self.interrupt.val() & !self.port.dead.val();
        self.irq_before.d.next = self.interrupt.val();
        self.irq_edge.next = self.interrupt.val() & !self.irq_before.q.val();

        // Channels: the one that the driver has selected, and the one whose page is accessed.
        self.channels.select.next = self.registers.channel_select_channel.val();
        self.channels.control_we.next = self.registers.channel_control_we.val();
        self.channels.control_data.next = self.csr.writedata.val().get_bits::<3>(0);
        self.channels.refused_data.next = self.chan.writedata.val().get_bits::<2>(0);
        self.registers.channel_control_accept.next = self.channels.selected_accept.val();
        self.registers.channel_control_run.next = self.channels.selected_run.val();
        self.registers.channel_control_abort.next = self.channels.selected_abort.val();
        self.selected.next = self.one.val() << self.registers.channel_select_channel.val();
        // The channel of a beat that is at the port from before a reset is not known, so all channels are busy.
        self.selected_write_busy.d.next =
            (self.write_queue.busy.val() & self.selected.val()).any() | self.port.rinses.val();
        self.registers.channel_status_write_busy.next = self.selected_write_busy.q.val();
        self.selected_read_busy.d.next =
            (self.read_queue.busy.val() & self.selected.val()).any() | self.port.rinses.val();
        self.registers.channel_status_read_busy.next = self.selected_read_busy.q.val();
        self.channels.page.next = self.page.val();
        self.channels.refused_we.next = self.pages.refused_we.val();
        self.channels.refused_write_set.next = self.write_queue.refused.val();
        self.channels.refused_read_set.next = self.read_queue.refused.val();
        self.pages.refused_write.next = self.channels.page_refused_write.val();
        self.pages.refused_read.next = self.channels.page_refused_read.val();
        self.accept.next = self.channels.page_accept.val()
            & self.registers.control_enable.val()
            & !self.registers.control_reset.val()
            & !self.draining.q.val()
            & !self.sweep.val();
        self.accept_some.next = self.accept.val() & self.ring_room.some.val();
        self.accept_enough.next = self.accept.val() & self.ring_room.enough.val();
        self.pages.queue_free_write.next = 0.into();
        self.pages.queue_free_read.next = 0.into();
        if self.accept_some.val() {
            self.pages.queue_free_write.next = bit_cast::<16, 13>(self.write_queue.free.val());
            self.pages.queue_free_read.next = bit_cast::<16, 13>(self.read_queue.free.val());
        }
        self.ring_room.page.next = self.page.val();
        self.ring_room.doorbell.next = self.doorbell.val();
        self.ring_room.freed.next = self.chan.writedata.val().get_bits::<16>(0);
        self.ring_room.accepted.next = self.doorbell.val() & !self.refused.val();
        self.ring_room.ring_we.next = self.registers.channel_ring_lo_we.val();
        self.ring_room.ring_channel.next = self.registers.channel_select_channel.val();
        self.ring_room.ring_on.next = self.csr.writedata.val().get_bit(0);
        self.ring_room.ring_log2.next = self.csr.writedata.val().get_bits::<4>(4);
    }
}
