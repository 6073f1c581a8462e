//! The differences between the directions, the fence, completion and interrupts, the PCIe port and FPGA memory.

use super::Engine;
use crate::prim::Part;
use crate::rtl::ports::{
    AnswerSink, FlowSource, FlushSource, MemoryReadMaster, MemoryWriteMaster, OutflowUser,
    PostSource, ReadSource, WriteSource,
};
use peerlane_language::*;

/// The parts that both directions share.
pub(super) struct Sides;

impl<const W: usize, const B: usize, const E: usize> Part<Sides> for Engine<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // Signals that only one direction has.
        self.write_queue.sent.next = self.port.sent.val();
        self.read_queue.sent.next = self.port.sent.val() & self.port.asked.val();
        self.write_segment.port_down.next = self.port.dead.val();
        self.reads_down.d.next = self.port.reads_down.val();
        self.read_segment.port_down.next = self.reads_down.q.val();
        // `Txs` takes any read; a packet has its limit, which software may change.
        self.longest_read.d.next = 511.into();
        if self.port.tagged.val() & !self.max_request.val().any() {
            self.longest_read.d.next = 127.into();
        } else if self.port.tagged.val() & ((self.max_request.val() == 1) | self.short_reads.val())
        {
            self.longest_read.d.next = 255.into();
        }
        self.read_segment.longest.next = self.longest_read.q.val();
        // All that `Txs` takes in one burst: each costs it cycles of its own. Else a packet of the usual payload
        // size, so that a read finds a gap between two.
        self.write_segment.longest.next = 511.into();
        if self.port.tagged.val() {
            self.write_segment.longest.next = 255.into();
        }
        // The bridge at `Txs` enables whole dwords, at both ends of a burst. A transaction layer enables bytes,
        // but of bursts of a single beat only.
        self.write_segment.whole_dwords.next = !self.port.tagged.val();
        self.write_path.whole_dwords.next = !self.port.tagged.val();
        self.write_segment.split_ends.next = self.port.tagged.val();
        self.read_segment.whole_dwords.next = false;
        self.read_segment.split_ends.next = false;
        self.write_segment.halted.next = false;
        self.read_segment.halted.next = self.read_path.halted.val();
        self.write_path.may_flush.next = self.write_segment.may_flush.val();
        self.read_path.att_address.next = self.read_segment.att_address.val();
        self.read_path.descriptor.next = self.read_segment.descriptor.val();

        // The fence for changes of the ATT.
        self.fence.start.next =
            self.registers.att_invalidate_we.val() & self.csr.writedata.val().get_bit(0);
        self.fence.with_flush.next = self.csr.writedata.val().get_bit(2);
        self.fence.flush_at.next = bit_cast::<64, 58>(self.registers.att_flush_address.val()) << 6;
        self.registers.att_invalidate_busy.next = self.fence.busy.val() | self.port.rinses.val();
        self.registers.att_invalidate_failed.next = self.fence.failed.val();
        self.fence.write_looked_up.next = self.write_segment.looked_up.val();
        self.fence.write_issued.next =
            self.write_segment.request.valid.val() & self.write_path.request.accept.val();
        self.fence.write_retired.next = self.write_path.retired.val();
        self.fence.read_looked_up.next = self.read_segment.looked_up.val();
        self.fence.read_issued.next =
            self.read_segment.request.valid.val() & self.read_path.request.accept.val();
        self.fence.read_retired.next = self.read_path.retired.val();
        self.fence.ends_waiting.next = self.write_path.ends_waiting.val();
        self.fence.ended.next = self.write_path.ended.val();
        self.fence.port_free.next = self.port.free.val();

        // Completion and interrupts.
        self.completer.ring_low_we.next = self.registers.channel_ring_lo_we.val();
        self.completer.ring_high_we.next = self.registers.channel_ring_hi_we.val();
        self.completer.ring_channel.next = self.registers.channel_select_channel.val();
        self.completer.ring_data.next = self.csr.writedata.val();
        self.kernel_sees.unsynced.next = self.kernel_irq.val();
        self.interrupts.event_valid.next = self.completer.irq.val();
        self.interrupts.event_channel.next = self.completer.irq_channel.val();
        self.interrupts.event_urgent.next = self.completer.irq_urgent.val();
        self.interrupts.general.next =
            self.completer.fault.val() | self.refused.val() | self.opened.val();
        self.interrupts.kernel_irq.next = self.kernel_sees.synced.val();
        self.interrupts.moderation_we.next = self.registers.channel_moderation_we.val();
        self.interrupts.moderation_channel.next = self.registers.channel_select_channel.val();
        self.interrupts.moderation_count.next = self.csr.writedata.val().get_bits::<8>(0);
        self.interrupts.moderation_time.next = self.csr.writedata.val().get_bits::<16>(16);
        self.interrupts.msix_enable.next = self.msix_enable.val() & self.has_msix.val().any();
        self.interrupts.msix_mask.next = self.msix_mask.val();
        self.interrupts.line.next = self.interrupt.val();
        self.interrupts.msi_enable.next = self.msi_enable.val() & self.has_layer.val().any();
        self.interrupts.msi_address.next = self.msi_address.val();
        self.interrupts.msi_data.next = self.msi_data.val();

        // The port.
        WriteSource::<W, B>::link(&mut self.port_write, &mut self.write_path.write);
        self.write_path.port_dead.next = self.port.dead.val();
        FlushSource::join(&mut self.write_path.flush, &mut self.fence.path);
        FlushSource::link(&mut self.port_flush, &mut self.fence.port);
        self.write_path.flush_error.next = self.port.flush_error.val();
        self.fence.flush_error.next = self.port.flush_error.val();
        ReadSource::link(&mut self.port_read, &mut self.read_path.read);
        AnswerSink::<W>::link(&mut self.port_answer, &mut self.read_path.answer);
        self.read_path.lost.next = self.port.lost.val();
        PostSource::<256>::link(&mut self.port_record, &mut self.completer.record);
        self.completer.sent.next = self.port.sent.val();
        PostSource::<32>::link(&mut self.port_message, &mut self.interrupts.message);
        self.port.timeout.next = self.registers.port_timeout_cycles.val();
        self.port.release.next = self.registers.quarantine_drop_owed.val();
        self.port.pace.next = self.registers.port_pace_rate.val();

        // Streams.
        self.inputs.clear.next = self.core_reset.q.val();
        self.inputs.select_we.next = self.registers.stream_select_we.val();
        self.inputs.control_we.next = self.registers.stream_control_we.val();
        self.inputs.writedata.next = self.csr.writedata.val();
        self.inputs_limit_we.next = self.registers.stream_limit_we.val();
        self.outputs.clear.next = self.core_reset.q.val();
        self.outputs.select_we.next = self.registers.stream_select_we.val();
        self.outputs.control_we.next = self.registers.stream_control_we.val();
        self.outputs.writedata.next = self.csr.writedata.val();
        self.registers.caps3_inputs.next = self.inputs.count.val();
        self.registers.caps3_outputs.next = self.outputs.count.val();
        self.registers.stream_status_open.next = self.inputs.open.val() | self.outputs.open.val();
        self.registers.stream_status_waiting.next =
            self.inputs.waiting.val() | self.outputs.waiting.val();
        FlowSource::link(&mut self.write_flow, &mut self.write_segment.flow);
        FlowSource::link(&mut self.read_flow, &mut self.read_segment.flow);
        self.write_path.stream_beat.next = self.inflow.beat.val();
        self.write_path.stream_data.next = self.inflow.data.val();
        self.inflow.take.next = self.write_path.stream_take.val();
        self.write_path.stream_header.next = self.inflow.header.val();
        self.inflow.header_take.next = self.write_path.stream_header_take.val();
        OutflowUser::link(&mut self.outflow, &mut self.read_path.outflow);

        // FPGA memory.
        MemoryReadMaster::link(&mut self.mem_rd, &mut self.write_path.mem_rd);
        MemoryWriteMaster::link(&mut self.mem_wr, &mut self.read_path.mem_wr);
    }
}
