//! A direction: descriptor queue, request maker, path, completer. Both are wired by [`direction`].

use super::Engine;
use crate::prim::Part;
use crate::rtl::ports::{DescriptorSource, EndSource, LookUpSource, RequestSource};
use peerlane_language::*;

/// From FPGA memory to the peer.
pub(super) struct Writes;

/// From the peer to FPGA memory.
pub(super) struct Reads;

/// A direction's wires. `queue`, `segment`, `path`: its parts, and of the `other` direction the queue and the request
/// maker; `end`: of the completer; `look_up`: of the table; `dword`, `index`, `doorbell`: of a channel's page.
macro_rules! direction {
    (
        $name:ident: $queue:ident, $segment:ident, $path:ident; other $other_queue:ident, $other_segment:ident;
        $end:ident; $look_up:ident; $dword:ident, $index:ident, $doorbell:ident
    ) => {
        impl<const W: usize, const B: usize, const E: usize> Part<$name> for Engine<W, B, E> {
            #[hdl_gen]
            fn update(&mut self) {
                self.$queue.channel.next = self.page.val();
                self.$queue.write.next = self.pages.$dword.val();
                self.$queue.dword.next = self.pages.$index.val();
                self.$queue.data.next = self.chan.writedata.val();
                self.$queue.doorbell.next = self.pages.$doorbell.val();
                self.$queue.accept.next = self.accept_enough.val();
                self.$queue.other_number.next = self.$other_queue.next_number.val();
                self.$queue.other_select.next = self.$other_segment.queue.select.val();
                self.$queue.end.next = self.$path.ended.val();
                self.$queue.end_channel.next = self.$path.end.channel.val();
                DescriptorSource::join(&mut self.$queue.engine, &mut self.$segment.queue);
                self.$segment.ended_other.next = self.$other_queue.ended_for_other.val();
                self.$segment.end_other.next = self.$other_queue.engine.end.val();
                self.$segment.end_other_channel.next = self.$other_queue.engine.end_channel.val();

                self.$segment.enable.next = self.registers.control_enable.val() & !self.sweep.val();
                self.$segment.abort_all.next = self.draining.q.val();
                self.$segment.run.next = self.channels.run.val();
                self.$segment.abort.next = self.channels.abort.val();
                self.$segment.window_base_we.next = self.registers.channel_mem_base_we.val();
                self.$segment.window_end_we.next = self.registers.channel_mem_end_we.val();
                self.$segment.window_channel.next = self.registers.channel_select_channel.val();
                self.$segment.window_data.next = self.csr.writedata.val();
                LookUpSource::join(&mut self.$segment.look_up, &mut self.table.$look_up);
                self.$segment.entry.next = self.table.entry.val();
                RequestSource::join(&mut self.$segment.request, &mut self.$path.request);
                EndSource::join(&mut self.$path.end, &mut self.completer.$end);
            }
        }
    };
}

direction!(
    Writes: write_queue, write_segment, write_path; other read_queue, read_segment;
    write; for_writes; write_desc_we, write_desc_index, write_doorbell_we
);
direction!(
    Reads: read_queue, read_segment, read_path; other write_queue, write_segment;
    read; for_reads; read_desc_we, read_desc_index, read_doorbell_we
);
