//! The host's window into FPGA memory, and the inputs of the counters.

use super::Engine;
use crate::prim::Part;
use peerlane_language::*;

/// The window.
pub(super) struct Windowing;

/// The counters.
pub(super) struct Counting;

impl<const W: usize, const B: usize, const E: usize> Part<Windowing> for Engine<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // The window: the host's accesses, moved to its base. The base does not change while it is used: software reads
        // it back before the first access.
        if self.registers.window_lo_we.val() {
            self.window_low.d.next = self.csr.writedata.val().get_bits::<16>(16);
        }
        if self.registers.window_hi_we.val() {
            self.window_high.d.next = self.csr.writedata.val().get_bits::<8>(0);
        }
        self.registers.window_base.next = bit_cast::<24, 16>(self.window_low.q.val())
            | (bit_cast::<24, 8>(self.window_high.q.val()) << 16);
        self.window.unsynced.next = self.registers.window_base.val();
        self.mem_win.address.next = (bit_cast::<40, 24>(self.window.synced.val()) << 16)
            | (bit_cast::<40, 10>(self.s_nondma.address.val()) << 6);
        self.mem_win.read.next = self.s_nondma.read.val();
        self.mem_win.write.next = self.s_nondma.write.val();
        self.mem_win.writedata.next = self.s_nondma.writedata.val();
        self.mem_win.byteenable.next = self.s_nondma.byteenable.val();
        self.s_nondma.waitrequest.next = self.mem_win.waitrequest.val();
        self.s_nondma.readdata.next = self.mem_win.readdata.val();
        self.s_nondma.readdatavalid.next = self.mem_win.readdatavalid.val();
    }
}

impl<const W: usize, const B: usize, const E: usize> Part<Counting> for Engine<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        // Counters, in the upper quarter of the registers' lower half.
        self.counters.write_request.next = self.write_path.requested.val();
        self.counters.write_channel.next = self.write_path.moved_channel.val();
        self.counters.write_bytes.next = self.write_path.moved.val();
        // These come late in their cycle, and may as well be counted in the next.
        self.seen_read_request.d.next = self.read_path.requested.val();
        self.counters.read_request.next = self.seen_read_request.q.val();
        self.seen_read_channel.d.next = self.read_path.moved_channel.val();
        self.counters.read_channel.next = self.seen_read_channel.q.val();
        self.seen_read_bytes.d.next = self.read_path.moved.val();
        self.counters.read_bytes.next = self.seen_read_bytes.q.val();
        self.seen_write_end.d.next = self.write_path.ended.val();
        self.counters.write_end.next = self.seen_write_end.q.val();
        self.seen_write_end_channel.d.next = self.write_path.end.channel.val();
        self.counters.write_end_channel.next = self.seen_write_end_channel.q.val();
        self.seen_write_end_code.d.next = self.write_path.end.code.val();
        self.counters.write_end_code.next = self.seen_write_end_code.q.val();
        self.seen_read_end.d.next = self.read_path.ended.val();
        self.counters.read_end.next = self.seen_read_end.q.val();
        self.seen_read_end_channel.d.next = self.read_path.end.channel.val();
        self.counters.read_end_channel.next = self.seen_read_end_channel.q.val();
        self.seen_read_end_code.d.next = self.read_path.end.code.val();
        self.counters.read_end_code.next = self.seen_read_end_code.q.val();
        self.levels.d.next = bit_cast::<9, 1>(self.write_busy.q.val().into())
            | (bit_cast::<9, 1>(self.read_busy.q.val().into()) << 1)
            | (bit_cast::<9, 1>(self.port.stalled.val().into()) << 2)
            | (bit_cast::<9, 1>(self.port.stalled_tags.val().into()) << 3)
            | (bit_cast::<9, 1>(self.read_path.stalled_buffer.val().into()) << 4)
            | (bit_cast::<9, 1>(self.write_path.starved.val().into()) << 5)
            | (bit_cast::<9, 1>(self.read_path.stalled_memory.val().into()) << 6)
            | (bit_cast::<9, 1>(self.completer.recorded.val().into()) << 7)
            | (bit_cast::<9, 1>(
                ((self.irq_edge.val() & !self.has_layer.val().any())
                    | self.port_message.take.val())
                .into(),
            ) << 8);
        self.counters.levels.next = self.levels.q.val();
        self.counters.take.next =
            self.registers.counter_snapshot_we.val() & self.csr.writedata.val().get_bit(0);
        self.registers.counter_snapshot_busy.next = self.counters.busy.val();
        self.reading.d.next = self.csr.read.val();
        self.read_at.d.next = self.csr.address.val();
        self.counters.read.next =
            self.reading.q.val() & (self.read_at.q.val().get_bits::<2>(6) == 1);
        self.counters.address.next = self.read_at.q.val().get_bits::<6>(0);
        self.counters.channel.next = self.registers.channel_select_channel.val();
        if self.reading.q.val() {
            self.counter_read.d.next = self.read_at.q.val().get_bits::<2>(6) == 1;
        }
    }
}
