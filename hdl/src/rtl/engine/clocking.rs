//! Clocks and resets of the parts, the sweep after a reset, and the soft reset.

use super::{Engine, RESETS};
use crate::prim::Part;
use peerlane_language::*;

/// Clocks and resets.
pub(super) struct Clocking;

impl<const W: usize, const B: usize, const E: usize> Part<Clocking> for Engine<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            pcie_clk,
            core_reset,
            levels,
            reads_down,
            was_dead,
            port_lost,
            longest_read,
            seen_read_request,
            seen_read_channel,
            seen_read_bytes,
            seen_write_end,
            seen_write_end_channel,
            seen_write_end_code,
            seen_read_end,
            seen_read_end_channel,
            seen_read_end_code,
            draining,
            irq_before,
            counter_read,
            reading,
            read_at,
            write_busy,
            read_busy,
            selected_write_busy,
            selected_read_busy,
            window_low,
            window_high
        );
        clock!(
            self,
            pcie_clk,
            registers,
            pages,
            channels,
            write_queue,
            read_queue,
            ring_room,
            table,
            fence,
            write_segment,
            read_segment,
            write_path,
            read_path,
            completer,
            interrupts,
            counters,
            pcie_hold,
            pcie_sees,
            kernel_sees
        );
        dff_setup!(self, clk, mem_reset);
        clock!(self, clk, mem_hold, mem_sees, window);
        self.write_path.mem_clock.next = self.clk.val();
        self.read_path.mem_clock.next = self.clk.val();

        // Reset: either side's reset resets both. A beat on a bus of the other side stays, and so does the account of
        // the answers that the bus owes. Then the memories of the channels are cleared together with the ATT.
        self.pcie_hold.trigger.next = self.link_reset.val();
        self.mem_hold.trigger.next = self.reset.val();
        self.pcie_sees.unsynced.next = self.mem_hold.held.val();
        self.mem_sees.unsynced.next = self.pcie_hold.held.val();
        // The memory's side is reset first: a pointer that was reset must not look like a command there. The other
        // order would do no harm here, because a word that was not written needs more cycles to become a burst or an
        // end.
        self.core_reset.d.next = self.pcie_hold.late.val() | self.pcie_sees.synced.val();
        self.mem_reset.d.next = self.mem_hold.held.val() | self.mem_sees.synced.val();
        for i in 0..RESETS {
            self.resets[i].clock.next = self.pcie_clk.val();
            self.resets[i].trigger.next = self.core_reset.q.val();
        }
        self.registers.reset.next = self.resets[0].held.val();
        self.pages.reset.next = self.resets[1].held.val();
        self.channels.reset.next = self.resets[1].held.val();
        self.write_queue.reset.next = self.resets[2].held.val();
        self.read_queue.reset.next = self.resets[3].held.val();
        self.table.reset.next = self.resets[4].held.val();
        self.fence.reset.next = self.resets[5].held.val();
        self.write_segment.reset.next = self.resets[6].held.val();
        self.read_segment.reset.next = self.resets[7].held.val();
        self.write_path.reset.next = self.resets[8].held.val();
        self.read_path.reset.next = self.resets[9].held.val();
        self.completer.reset.next = self.resets[10].held.val();
        self.interrupts.reset.next = self.resets[11].held.val();
        self.interrupts.mask_all.next = self.pcie_hold.held.val();
        self.counters.reset.next = self.resets[12].held.val();
        self.port.reset.next = self.pcie_hold.held.val();
        self.port.clear.next = self.resets[13].held.val();
        self.write_path.mem_forgets.next = self.mem_hold.held.val();
        self.read_path.mem_forgets.next = self.mem_hold.held.val();
        self.ring_room.reset.next = self.resets[15].held.val();
        self.write_path.mem_reset.next = self.mem_reset.q.val();
        self.read_path.mem_reset.next = self.mem_reset.q.val();
        self.sweep.next = self.table.sweeping.val();
        self.write_queue.sweep.next = self.sweep.val();
        self.write_queue.sweep_channel.next = self.table.sweep_at.val();
        self.read_queue.sweep.next = self.sweep.val();
        self.read_queue.sweep_channel.next = self.table.sweep_at.val();
        self.write_segment.sweep.next = self.sweep.val();
        self.write_segment.sweep_channel.next = self.table.sweep_at.val();
        self.read_segment.sweep.next = self.sweep.val();
        self.read_segment.sweep_channel.next = self.table.sweep_at.val();
        self.write_path.sweep.next = self.sweep.val();
        self.write_path.sweep_channel.next = self.table.sweep_at.val();
        self.read_path.sweep.next = self.sweep.val();
        self.read_path.sweep_channel.next = self.table.sweep_at.val();
        self.completer.sweep.next = self.sweep.val();
        self.completer.sweep_channel.next = self.table.sweep_at.val();

        // Soft reset: every descriptor ends as aborted. Nothing on a bus is cut off.
        self.write_busy.d.next = self.write_queue.busy.val().any();
        self.read_busy.d.next = self.read_queue.busy.val().any();
        self.idle.next =
            !self.write_busy.q.val() & !self.read_busy.q.val() & !self.completer.busy.val();
        if self.registers.control_reset.val() {
            self.draining.d.next = true;
        } else if self.idle.val() {
            self.draining.d.next = false;
        }
        if self.resets[14].held.val() {
            self.draining.d.next = false;
        }
    }
}
