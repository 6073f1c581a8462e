//! The engine: the block but for the adapter to its PCIe port.

use super::att::Att;
use super::channels::Channels;
use super::complete::Completer;
use super::counters::Counters;
use super::fence::Fence;
use super::interrupts::Interrupts;
use super::queue::DescriptorQueue;
use super::read_path::{ReadConfig, ReadPath};
use super::room::RingRoom;
use super::segment::{Segment, SegmentConfig};
use super::write_path::WritePath;
use crate::generated::{ChanRegs, CsrRegs};
use crate::prim::{BitSync, BusSync, ResetCopy, ResetStretch};
use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// What a build fixes, beside the widths in the type.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Channels, log2, at most 6.
    pub channels_log2: usize,
    /// Descriptors a direction, log2, at most 12.
    pub queue_log2: usize,
    /// ATT entries, log2, at most 16.
    pub att_log2: usize,
    /// Bytes of FPGA memory, log2, at most 40.
    pub memory_log2: usize,
    /// Read requests under way, log2, at most 6.
    pub reads_log2: usize,
    /// Beats of the receive buffer, log2, 9 to 12.
    pub receive_log2: usize,
    /// Bits of the PCIe port's addresses.
    pub address_bits: usize,
    /// Whether the block has an MSI-X table.
    pub msix: bool,
    /// Hash of the register map and the build parameters.
    pub build_id: u32,
}

impl EngineConfig {
    fn segment(&self, read: bool) -> SegmentConfig {
        SegmentConfig {
            read,
            channels_log2: self.channels_log2,
            att_log2: self.att_log2,
            memory_log2: self.memory_log2,
        }
    }

    fn read(&self) -> ReadConfig {
        ReadConfig {
            channels_log2: self.channels_log2,
            reads_log2: self.reads_log2,
            receive_log2: self.receive_log2,
        }
    }
}

/// Parts on the PCIe side that a reset reaches: those with a reset of their own, the port and the engine itself.
const RESETS: usize = 16;

/// The engine. `W`, `B`: port width in bits and bytes; `E` = `W + 1`. Addresses of the slaves are as
/// wide as the largest build needs.
#[derive(DocBlock)]
pub struct Engine<const W: usize, const B: usize, const E: usize> {
    // Clock and reset of FPGA memory (the old `acl_dma`'s).
    pub clk: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // Clock and reset of the PCIe side.
    pub pcie_clk: Signal<In, Clock>,
    pub pcie_reset: Signal<In, Bit>,
    // Driver's registers.
    pub csr_address: Signal<In, Bits<8>>,
    pub csr_read: Signal<In, Bit>,
    pub csr_write: Signal<In, Bit>,
    pub csr_writedata: Signal<In, Bits<32>>,
    pub csr_byteenable: Signal<In, Bits<4>>,
    pub csr_readdata: Signal<Out, Bits<32>>,
    // Channel pages.
    pub chan_address: Signal<In, Bits<16>>,
    pub chan_read: Signal<In, Bit>,
    pub chan_write: Signal<In, Bit>,
    pub chan_writedata: Signal<In, Bits<32>>,
    pub chan_byteenable: Signal<In, Bits<4>>,
    pub chan_readdata: Signal<Out, Bits<32>>,
    // Address translation table.
    pub att_address: Signal<In, Bits<17>>,
    pub att_read: Signal<In, Bit>,
    pub att_write: Signal<In, Bit>,
    pub att_writedata: Signal<In, Bits<32>>,
    pub att_byteenable: Signal<In, Bits<4>>,
    pub att_readdata: Signal<Out, Bits<32>>,
    // Table of interrupt vectors, and what the function's MSI-X capability says.
    pub msix_address: Signal<In, Bits<10>>,
    pub msix_read: Signal<In, Bit>,
    pub msix_write: Signal<In, Bit>,
    pub msix_writedata: Signal<In, Bits<32>>,
    pub msix_byteenable: Signal<In, Bits<4>>,
    pub msix_readdata: Signal<Out, Bits<32>>,
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    // Interrupt of the OpenCL kernel, to become a vector; any clock.
    pub kernel_irq: Signal<In, Bit>,
    // Interrupt, level.
    pub dma_irq: Signal<Out, Bit>,
    // To and from the adapter; see [`super::txs`].
    pub port_reset: Signal<Out, Bit>,
    pub port_clear: Signal<Out, Bit>,
    pub port_write: Signal<Out, Bit>,
    pub port_write_address: Signal<Out, Bits<64>>,
    pub port_write_beats: Signal<Out, Bits<6>>,
    pub port_beat: Signal<Out, Bit>,
    pub port_beat_data: Signal<Out, Bits<W>>,
    pub port_beat_enable: Signal<Out, Bits<B>>,
    pub port_beat_take: Signal<In, Bit>,
    pub port_write_done: Signal<In, Bit>,
    pub port_read: Signal<Out, Bit>,
    pub port_read_address: Signal<Out, Bits<64>>,
    pub port_read_beats: Signal<Out, Bits<6>>,
    pub port_read_bytes: Signal<Out, Bits<10>>,
    pub port_read_tag: Signal<Out, Bits<6>>,
    pub port_read_take: Signal<In, Bit>,
    pub port_flush: Signal<Out, Bit>,
    pub port_flush_address: Signal<Out, Bits<64>>,
    pub port_flush_take: Signal<In, Bit>,
    pub port_flushed: Signal<In, Bit>,
    pub port_flush_error: Signal<In, Bit>,
    pub port_record: Signal<Out, Bit>,
    pub port_record_address: Signal<Out, Bits<64>>,
    pub port_record_data: Signal<Out, Bits<256>>,
    pub port_record_take: Signal<In, Bit>,
    pub port_message: Signal<Out, Bit>,
    pub port_message_address: Signal<Out, Bits<64>>,
    pub port_message_data: Signal<Out, Bits<32>>,
    pub port_message_take: Signal<In, Bit>,
    pub port_chunk: Signal<In, Bit>,
    pub port_chunk_tag: Signal<In, Bits<6>>,
    pub port_chunk_bytes: Signal<In, Bits<10>>,
    pub port_chunk_code: Signal<In, Bits<4>>,
    pub port_completion: Signal<In, Bit>,
    pub port_completion_data: Signal<In, Bits<W>>,
    pub port_completion_error: Signal<In, Bit>,
    pub port_lost: Signal<In, Bits<64>>,
    pub port_timeout: Signal<Out, Bits<32>>,
    pub port_release: Signal<Out, Bit>,
    pub port_pace: Signal<Out, Bits<16>>,
    pub port_reads_down: Signal<In, Bit>,
    pub port_quarantine: Signal<In, Bit>,
    pub port_dead: Signal<In, Bit>,
    pub port_free: Signal<In, Bit>,
    pub port_sent: Signal<In, Bit>,
    pub port_rinses: Signal<In, Bit>,
    pub port_asked: Signal<In, Bit>,
    pub port_stalled: Signal<In, Bit>,
    pub port_stalled_tags: Signal<In, Bit>,
    pub port_tagged: Signal<In, Bit>,
    // FPGA memory, read by the write direction.
    pub mem_rd_address: Signal<Out, Bits<40>>,
    pub mem_rd_read: Signal<Out, Bit>,
    pub mem_rd_burstcount: Signal<Out, Bits<5>>,
    pub mem_rd_waitrequest: Signal<In, Bit>,
    pub mem_rd_readdata: Signal<In, Bits<512>>,
    pub mem_rd_readdatavalid: Signal<In, Bit>,
    // FPGA memory, written by the read direction.
    pub mem_wr_address: Signal<Out, Bits<40>>,
    pub mem_wr_write: Signal<Out, Bit>,
    pub mem_wr_burstcount: Signal<Out, Bits<5>>,
    pub mem_wr_writedata: Signal<Out, Bits<512>>,
    pub mem_wr_byteenable: Signal<Out, Bits<64>>,
    pub mem_wr_waitrequest: Signal<In, Bit>,
    // Window of the host into FPGA memory.
    pub s_nondma_address: Signal<In, Bits<10>>,
    pub s_nondma_read: Signal<In, Bit>,
    pub s_nondma_write: Signal<In, Bit>,
    pub s_nondma_writedata: Signal<In, Bits<512>>,
    pub s_nondma_byteenable: Signal<In, Bits<64>>,
    pub s_nondma_readdata: Signal<Out, Bits<512>>,
    pub s_nondma_readdatavalid: Signal<Out, Bit>,
    pub s_nondma_waitrequest: Signal<Out, Bit>,
    pub mem_win_address: Signal<Out, Bits<40>>,
    pub mem_win_read: Signal<Out, Bit>,
    pub mem_win_write: Signal<Out, Bit>,
    pub mem_win_writedata: Signal<Out, Bits<512>>,
    pub mem_win_byteenable: Signal<Out, Bits<64>>,
    pub mem_win_waitrequest: Signal<In, Bit>,
    pub mem_win_readdata: Signal<In, Bits<512>>,
    pub mem_win_readdatavalid: Signal<In, Bit>,

    csr: CsrRegs,
    chan: ChanRegs,
    #[given]
    channels: Channels,
    #[given]
    write_queue: DescriptorQueue,
    #[given]
    read_queue: DescriptorQueue,
    #[given]
    ring_room: RingRoom,
    #[given]
    att: Att,
    fence: Fence,
    #[given]
    write_segment: Segment<W, B>,
    #[given]
    read_segment: Segment<W, B>,
    #[given]
    write_path: WritePath<W, B>,
    #[given]
    read_path: ReadPath<W, B, E>,
    #[given]
    completer: Completer,
    #[given]
    interrupts: Interrupts,
    #[given]
    counters: Counters,
    pcie_hold: ResetStretch,
    mem_hold: ResetStretch,
    pcie_sees: BitSync,
    mem_sees: BitSync,
    kernel_sees: BitSync,
    window: BusSync<24>,
    /// Where the window stands. No reset moves it to memory that is another's.
    window_low: DFF<Bits<16>>,
    window_high: DFF<Bits<8>>,
    draining: DFF<Bit>,
    irq_before: DFF<Bit>,
    counter_read: DFF<Bit>,
    // The registers' read of the last cycle, which is looked up now.
    reading: DFF<Bit>,
    read_at: DFF<Bits<8>>,
    core_reset: DFF<Bit>,
    /// A copy for each part, all in the same cycle.
    #[given]
    resets: [ResetCopy; RESETS],
    mem_reset: DFF<Bit>,
    interrupt: Signal<Local, Bit>,
    irq_edge: Signal<Local, Bit>,
    idle: Signal<Local, Bit>,
    sweep: Signal<Local, Bit>,
    write_busy: DFF<Bit>,
    read_busy: DFF<Bit>,
    selected_write_busy: DFF<Bit>,
    selected_read_busy: DFF<Bit>,
    accept: Signal<Local, Bit>,
    accept_enough: Signal<Local, Bit>,
    accept_some: Signal<Local, Bit>,
    doorbell: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    page: Signal<Local, Bits<6>>,
    selected: Signal<Local, Bits<64>>,
    levels: DFF<Bits<9>>,
    /// As of the last cycle: the adapter itself ends a read that it meets closed.
    reads_down: DFF<Bit>,
    seen_read_request: DFF<Bit>,
    seen_read_channel: DFF<Bits<6>>,
    seen_read_bytes: DFF<Bits<10>>,
    seen_write_end: DFF<Bit>,
    seen_write_end_channel: DFF<Bits<6>>,
    seen_write_end_code: DFF<Bits<4>>,
    seen_read_end: DFF<Bit>,
    seen_read_end_channel: DFF<Bits<6>>,
    seen_read_end_code: DFF<Bits<4>>,
    build_id: Constant<Bits<32>>,
    channel_count: Constant<Bits<8>>,
    port_bytes: Constant<Bits<8>>,
    address_bits: Constant<Bits<8>>,
    queue_bits: Constant<Bits<8>>,
    att_bits: Constant<Bits<8>>,
    memory_bits: Constant<Bits<8>>,
    read_bits: Constant<Bits<8>>,
    has_msix: Constant<Bits<1>>,
    one: Constant<Bits<64>>,
}

impl<const W: usize, const B: usize, const E: usize> Engine<W, B, E> {
    /// The engine of one build.
    pub fn new(config: EngineConfig) -> Self {
        Self::fresh(EngineGiven {
            resets: std::array::from_fn(|_| ResetCopy::default()),
            channels: Channels::new(config.channels_log2),
            write_queue: DescriptorQueue::new(config.queue_log2, config.channels_log2),
            read_queue: DescriptorQueue::new(config.queue_log2, config.channels_log2),
            ring_room: RingRoom::new(config.channels_log2),
            att: Att::new(config.att_log2, config.channels_log2),
            write_segment: Segment::new(config.segment(false)),
            read_segment: Segment::new(config.segment(true)),
            write_path: WritePath::new(config.channels_log2),
            read_path: ReadPath::new(config.read()),
            completer: Completer::new(config.channels_log2),
            interrupts: Interrupts::new(config.channels_log2),
            counters: Counters::new(config.channels_log2),
            build_id: Constant::new((u64::from(config.build_id)).into()),
            channel_count: Constant::new((1u64 << config.channels_log2).into()),
            port_bytes: Constant::new((B as u64).into()),
            address_bits: Constant::new((config.address_bits as u64).into()),
            queue_bits: Constant::new((config.queue_log2 as u64).into()),
            att_bits: Constant::new((config.att_log2 as u64).into()),
            memory_bits: Constant::new((config.memory_log2 as u64).into()),
            read_bits: Constant::new((config.reads_log2 as u64).into()),
            has_msix: Constant::new((u64::from(config.msix)).into()),
            one: Constant::new((1u64).into()),
        })
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for Engine<W, B, E> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            pcie_clk,
            core_reset,
            levels,
            reads_down,
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
            csr,
            chan,
            channels,
            write_queue,
            read_queue,
            ring_room,
            att,
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

        // Reset: either side's reset resets both. What stands at a bus of the other side, and what is owed there,
        // is not forgotten. Then the memories are cleared beside the ATT.
        self.pcie_hold.trigger.next = self.pcie_reset.val();
        self.mem_hold.trigger.next = self.reset.val();
        self.pcie_sees.unsynced.next = self.mem_hold.held.val();
        self.mem_sees.unsynced.next = self.pcie_hold.held.val();
        // The memory's side hears first: a pointer that was reset must not look like a command there. The other
        // way round nothing comes of it, for a word that nobody wrote needs more cycles to be a burst or an end.
        self.core_reset.d.next = self.pcie_hold.late.val() | self.pcie_sees.synced.val();
        self.mem_reset.d.next = self.mem_hold.held.val() | self.mem_sees.synced.val();
        for i in 0..RESETS {
            self.resets[i].clock.next = self.pcie_clk.val();
            self.resets[i].trigger.next = self.core_reset.q.val();
        }
        self.csr.reset.next = self.resets[0].held.val();
        self.chan.reset.next = self.resets[1].held.val();
        self.channels.reset.next = self.resets[1].held.val();
        self.write_queue.reset.next = self.resets[2].held.val();
        self.read_queue.reset.next = self.resets[3].held.val();
        self.att.reset.next = self.resets[4].held.val();
        self.fence.reset.next = self.resets[5].held.val();
        self.write_segment.reset.next = self.resets[6].held.val();
        self.read_segment.reset.next = self.resets[7].held.val();
        self.write_path.reset.next = self.resets[8].held.val();
        self.read_path.reset.next = self.resets[9].held.val();
        self.completer.reset.next = self.resets[10].held.val();
        self.interrupts.reset.next = self.resets[11].held.val();
        self.interrupts.mask_all.next = self.pcie_hold.held.val();
        self.counters.reset.next = self.resets[12].held.val();
        self.port_reset.next = self.pcie_hold.held.val();
        self.port_clear.next = self.resets[13].held.val();
        self.write_path.mem_forgets.next = self.mem_hold.held.val();
        self.read_path.mem_forgets.next = self.mem_hold.held.val();
        self.ring_room.reset.next = self.resets[15].held.val();
        self.write_path.mem_reset.next = self.mem_reset.q.val();
        self.read_path.mem_reset.next = self.mem_reset.q.val();
        self.sweep.next = self.att.sweeping.val();
        self.write_queue.sweep.next = self.sweep.val();
        self.write_queue.sweep_channel.next = self.att.sweep_at.val();
        self.read_queue.sweep.next = self.sweep.val();
        self.read_queue.sweep_channel.next = self.att.sweep_at.val();
        self.write_segment.sweep.next = self.sweep.val();
        self.write_segment.sweep_channel.next = self.att.sweep_at.val();
        self.read_segment.sweep.next = self.sweep.val();
        self.read_segment.sweep_channel.next = self.att.sweep_at.val();
        self.write_path.sweep.next = self.sweep.val();
        self.write_path.sweep_channel.next = self.att.sweep_at.val();
        self.read_path.sweep.next = self.sweep.val();
        self.read_path.sweep_channel.next = self.att.sweep_at.val();
        self.completer.sweep.next = self.sweep.val();
        self.completer.sweep_channel.next = self.att.sweep_at.val();

        // Soft reset: every descriptor ends as aborted. Nothing on a bus is cut off.
        self.write_busy.d.next = self.write_queue.busy.val().any();
        self.read_busy.d.next = self.read_queue.busy.val().any();
        self.idle.next =
            !self.write_busy.q.val() & !self.read_busy.q.val() & !self.completer.busy.val();
        if self.csr.control_reset.val() {
            self.draining.d.next = true;
        } else if self.idle.val() {
            self.draining.d.next = false;
        }
        if self.resets[14].held.val() {
            self.draining.d.next = false;
        }

        // Slaves.
        self.csr.read.next = self.csr_read.val();
        self.csr.write.next = self.csr_write.val();
        self.csr.writedata.next = self.csr_writedata.val();
        self.csr.byteenable.next = self.csr_byteenable.val();
        self.chan.read.next = self.chan_read.val();
        self.chan.write.next = self.chan_write.val();
        self.chan.writedata.next = self.chan_writedata.val();
        self.chan.byteenable.next = self.chan_byteenable.val();
        self.csr.address.next = self.csr_address.val();
        self.csr_readdata.next = self.csr.readdata.val();
        if self.counter_read.q.val() {
            self.csr_readdata.next = self.counters.value.val();
        }
        self.chan.address.next = self.chan_address.val().get_bits::<10>(0);
        self.page.next = self.chan_address.val().get_bits::<6>(10);
        self.chan_readdata.next = self.chan.readdata.val();
        self.att.write.next = self.att_write.val() & self.att_byteenable.val().all();
        self.att.address.next = self.att_address.val();
        self.att.data.next = self.att_writedata.val();
        self.att.owner.next = self.csr.att_owner_channels.val();
        self.att_readdata.next = 0.into();
        self.interrupts.msix_address.next = self.msix_address.val();
        self.interrupts.msix_read.next = self.msix_read.val();
        self.interrupts.msix_write.next = self.msix_write.val();
        self.interrupts.msix_writedata.next = self.msix_writedata.val();
        self.interrupts.msix_byteenable.next = self.msix_byteenable.val();
        self.msix_readdata.next = self.interrupts.msix_readdata.val();

        self.doorbell.next = self.chan.write_doorbell_we.val() | self.chan.read_doorbell_we.val();
        self.refused.next = self.write_queue.refused.val() | self.read_queue.refused.val();

        // What the registers show.
        self.csr.build_id.next = self.build_id.val();
        self.csr.caps0_channels.next = self.channel_count.val();
        self.csr.caps0_port_bytes.next = self.port_bytes.val();
        self.csr.caps0_txs_addr_bits.next = self.address_bits.val();
        self.csr.caps1_queue_log2.next = self.queue_bits.val();
        self.csr.caps1_att_log2.next = self.att_bits.val();
        self.csr.caps1_max_burst_log2.next = 9.into();
        self.csr.caps1_mem_addr_bits.next = self.memory_bits.val();
        self.csr.caps2_reads_log2.next = self.read_bits.val();
        self.csr.caps2_tagged.next = self.port_tagged.val();
        self.csr.caps2_msix.next = self.has_msix.val().any();
        self.csr.status_write_busy.next = self.write_busy.q.val();
        self.csr.status_read_busy.next = self.read_busy.q.val();
        self.csr.status_read_quarantine.next = self.port_quarantine.val();
        self.csr.status_att_sweep.next = self.sweep.val();
        self.csr.status_completer_busy.next = self.completer.busy.val() | self.port_rinses.val();
        self.csr.status_port_dead.next = self.port_dead.val();
        self.csr.irq_status_completion_set.next = self.interrupts.notify.val();
        self.csr.irq_status_error_set.next = self.completer.fault.val();
        self.csr.irq_status_refused_set.next = self.refused.val();
        self.interrupt.next = self.csr.control_irq_enable.val()
            & (self.csr.irq_status_completion.val()
                | self.csr.irq_status_error.val()
                | self.csr.irq_status_refused.val());
        self.dma_irq.next = self.interrupt.val();
        self.irq_before.d.next = self.interrupt.val();
        self.irq_edge.next = self.interrupt.val() & !self.irq_before.q.val();

        // Channels: the one that the driver has selected, and the one whose page is accessed.
        self.channels.select.next = self.csr.channel_select_channel.val();
        self.channels.control_we.next = self.csr.channel_control_we.val();
        self.channels.control_data.next = self.csr_writedata.val().get_bits::<3>(0);
        self.channels.refused_data.next = self.chan_writedata.val().get_bits::<2>(0);
        self.csr.channel_control_accept.next = self.channels.selected_accept.val();
        self.csr.channel_control_run.next = self.channels.selected_run.val();
        self.csr.channel_control_abort.next = self.channels.selected_abort.val();
        self.selected.next = self.one.val() << self.csr.channel_select_channel.val();
        // What stands at the port from before a reset is of nobody knows which channel.
        self.selected_write_busy.d.next =
            (self.write_queue.busy.val() & self.selected.val()).any() | self.port_rinses.val();
        self.csr.channel_status_write_busy.next = self.selected_write_busy.q.val();
        self.selected_read_busy.d.next =
            (self.read_queue.busy.val() & self.selected.val()).any() | self.port_rinses.val();
        self.csr.channel_status_read_busy.next = self.selected_read_busy.q.val();
        self.channels.page.next = self.page.val();
        self.channels.refused_we.next = self.chan.refused_we.val();
        self.channels.refused_write_set.next = self.write_queue.refused.val();
        self.channels.refused_read_set.next = self.read_queue.refused.val();
        self.chan.refused_write.next = self.channels.page_refused_write.val();
        self.chan.refused_read.next = self.channels.page_refused_read.val();
        self.accept.next = self.channels.page_accept.val()
            & self.csr.control_enable.val()
            & !self.csr.control_reset.val()
            & !self.draining.q.val()
            & !self.sweep.val();
        self.accept_some.next = self.accept.val() & self.ring_room.some.val();
        self.accept_enough.next = self.accept.val() & self.ring_room.enough.val();
        self.chan.queue_free_write.next = 0.into();
        self.chan.queue_free_read.next = 0.into();
        if self.accept_some.val() {
            self.chan.queue_free_write.next = bit_cast::<16, 13>(self.write_queue.free.val());
            self.chan.queue_free_read.next = bit_cast::<16, 13>(self.read_queue.free.val());
        }
        self.ring_room.page.next = self.page.val();
        self.ring_room.doorbell.next = self.doorbell.val();
        self.ring_room.freed.next = self.chan_writedata.val().get_bits::<16>(0);
        self.ring_room.accepted.next = self.doorbell.val() & !self.refused.val();
        self.ring_room.ring_we.next = self.csr.channel_ring_lo_we.val();
        self.ring_room.ring_channel.next = self.csr.channel_select_channel.val();
        self.ring_room.ring_on.next = self.csr_writedata.val().get_bit(0);
        self.ring_room.ring_log2.next = self.csr_writedata.val().get_bits::<4>(4);

        // The ATT, and the fence for its changes.
        self.att.write_ask.next = self.write_segment.ask.val();
        self.att.write_index.next = self.write_segment.index.val();
        self.write_segment.answer.next = self.att.write_answer.val();
        self.write_segment.entry.next = self.att.entry.val();
        self.att.read_ask.next = self.read_segment.ask.val();
        self.att.read_index.next = self.read_segment.index.val();
        self.read_segment.answer.next = self.att.read_answer.val();
        self.read_segment.entry.next = self.att.entry.val();
        self.fence.start.next =
            self.csr.att_invalidate_we.val() & self.csr_writedata.val().get_bit(0);
        self.fence.with_flush.next = self.csr_writedata.val().get_bit(2);
        self.fence.flush_at.next = bit_cast::<64, 58>(self.csr.att_flush_address.val()) << 6;
        self.csr.att_invalidate_busy.next = self.fence.busy.val() | self.port_rinses.val();
        self.fence.write_looked_up.next = self.write_segment.looked_up.val();
        self.fence.write_issued.next =
            self.write_segment.request.val() & self.write_path.accept.val();
        self.fence.write_retired.next = self.write_path.retired.val();
        self.fence.read_looked_up.next = self.read_segment.looked_up.val();
        self.fence.read_issued.next = self.read_segment.request.val() & self.read_path.accept.val();
        self.fence.read_retired.next = self.read_path.retired.val();
        self.fence.ends_waiting.next = self.write_path.ends_waiting.val();
        self.fence.ended.next = self.write_path.ended.val();
        self.fence.port_free.next = self.port_free.val();

        // Write direction.
        self.write_queue.channel.next = self.page.val();
        self.write_queue.write.next = self.chan.write_desc_we.val();
        self.write_queue.dword.next = self.chan.write_desc_index.val();
        self.write_queue.data.next = self.chan_writedata.val();
        self.write_queue.doorbell.next = self.chan.write_doorbell_we.val();
        self.write_queue.accept.next = self.accept_enough.val();
        self.write_queue.sent.next = self.port_sent.val();
        self.write_queue.other_number.next = self.read_queue.next_number.val();
        self.write_queue.select.next = self.write_segment.select.val();
        self.write_queue.other_select.next = self.read_segment.select.val();
        self.write_queue.fetch.next = self.write_segment.fetch.val();
        self.write_queue.take.next = self.write_segment.take.val();
        self.write_queue.end.next = self.write_path.ended.val();
        self.write_queue.end_channel.next = self.write_path.end_channel.val();
        self.write_segment.enable.next = self.csr.control_enable.val() & !self.sweep.val();
        self.write_segment.abort_all.next = self.draining.q.val();
        self.write_segment.run.next = self.channels.run.val();
        self.write_segment.abort.next = self.channels.abort.val();
        self.write_segment.queued.next = self.write_queue.queued.val();
        self.write_segment.awakened.next = self.write_queue.awakened.val();
        self.write_segment.peer_low.next = self.write_queue.peer_low.val();
        self.write_segment.peer_high.next = self.write_queue.peer_high.val();
        self.write_segment.local_low.next = self.write_queue.local_low.val();
        self.write_segment.local_high.next = self.write_queue.local_high.val();
        self.write_segment.length.next = self.write_queue.length.val();
        self.write_segment.control.next = self.write_queue.control.val();
        self.write_segment.cookie.next = self.write_queue.cookie.val();
        self.write_segment.stamp.next = self.write_queue.stamp.val();
        self.write_segment.number.next = self.write_queue.number.val();
        self.write_segment.ended_own.next = self.write_queue.ended.val();
        self.write_segment.ended_other.next = self.read_queue.ended_for_other.val();
        self.write_segment.end_own.next = self.write_queue.end_seen.val();
        self.write_segment.end_own_channel.next = self.write_queue.end_seen_channel.val();
        self.write_segment.end_other.next = self.read_queue.end_seen.val();
        self.write_segment.end_other_channel.next = self.read_queue.end_seen_channel.val();
        self.write_segment.window_base_we.next = self.csr.channel_mem_base_we.val();
        self.write_segment.window_end_we.next = self.csr.channel_mem_end_we.val();
        self.write_segment.window_channel.next = self.csr.channel_select_channel.val();
        self.write_segment.window_data.next = self.csr_writedata.val();
        self.write_segment.port_down.next = self.port_dead.val();
        self.write_segment.halted.next = false;
        self.write_path.request.next = self.write_segment.request.val();
        self.write_segment.accept.next = self.write_path.accept.val();
        self.write_path.bus.next = self.write_segment.bus.val();
        self.write_path.local.next = self.write_segment.local.val();
        self.write_path.bytes.next = self.write_segment.bytes.val();
        self.write_path.has_data.next = self.write_segment.has_data.val();
        self.write_path.span.next = self.write_segment.span.val();
        self.write_path.last.next = self.write_segment.last.val();
        self.write_path.code.next = self.write_segment.code.val();
        self.write_path.want_record.next = self.write_segment.want_record.val();
        self.write_path.want_irq.next = self.write_segment.want_irq.val();
        self.write_path.urgent.next = self.write_segment.urgent.val();
        self.write_path.tag.next = self.write_segment.tag.val();
        self.write_path.channel.next = self.write_segment.channel.val();
        self.write_path.may_flush.next = self.write_segment.may_flush.val();
        self.completer.write_end.next = self.write_path.end.val();
        self.completer.write_channel.next = self.write_path.end_channel.val();
        self.completer.write_code.next = self.write_path.end_code.val();
        self.completer.write_bytes.next = self.write_path.end_bytes.val();
        self.completer.write_tag.next = self.write_path.end_tag.val();
        self.completer.write_fault.next = self.write_path.end_fault.val();
        self.completer.write_irq.next = self.write_path.end_irq.val();
        self.completer.write_urgent.next = self.write_path.end_urgent.val();
        self.write_path.end_take.next = self.completer.write_take.val();

        // Read direction.
        self.read_queue.channel.next = self.page.val();
        self.read_queue.write.next = self.chan.read_desc_we.val();
        self.read_queue.dword.next = self.chan.read_desc_index.val();
        self.read_queue.data.next = self.chan_writedata.val();
        self.read_queue.doorbell.next = self.chan.read_doorbell_we.val();
        self.read_queue.accept.next = self.accept_enough.val();
        self.read_queue.sent.next = self.port_sent.val() & self.port_asked.val();
        self.read_queue.other_number.next = self.write_queue.next_number.val();
        self.read_queue.select.next = self.read_segment.select.val();
        self.read_queue.other_select.next = self.write_segment.select.val();
        self.read_queue.fetch.next = self.read_segment.fetch.val();
        self.read_queue.take.next = self.read_segment.take.val();
        self.read_queue.end.next = self.read_path.ended.val();
        self.read_queue.end_channel.next = self.read_path.end_channel.val();
        self.read_segment.enable.next = self.csr.control_enable.val() & !self.sweep.val();
        self.read_segment.abort_all.next = self.draining.q.val();
        self.read_segment.run.next = self.channels.run.val();
        self.read_segment.abort.next = self.channels.abort.val();
        self.read_segment.queued.next = self.read_queue.queued.val();
        self.read_segment.awakened.next = self.read_queue.awakened.val();
        self.read_segment.peer_low.next = self.read_queue.peer_low.val();
        self.read_segment.peer_high.next = self.read_queue.peer_high.val();
        self.read_segment.local_low.next = self.read_queue.local_low.val();
        self.read_segment.local_high.next = self.read_queue.local_high.val();
        self.read_segment.length.next = self.read_queue.length.val();
        self.read_segment.control.next = self.read_queue.control.val();
        self.read_segment.cookie.next = self.read_queue.cookie.val();
        self.read_segment.stamp.next = self.read_queue.stamp.val();
        self.read_segment.number.next = self.read_queue.number.val();
        self.read_segment.ended_own.next = self.read_queue.ended.val();
        self.read_segment.ended_other.next = self.write_queue.ended_for_other.val();
        self.read_segment.end_own.next = self.read_queue.end_seen.val();
        self.read_segment.end_own_channel.next = self.read_queue.end_seen_channel.val();
        self.read_segment.end_other.next = self.write_queue.end_seen.val();
        self.read_segment.end_other_channel.next = self.write_queue.end_seen_channel.val();
        self.read_segment.window_base_we.next = self.csr.channel_mem_base_we.val();
        self.read_segment.window_end_we.next = self.csr.channel_mem_end_we.val();
        self.read_segment.window_channel.next = self.csr.channel_select_channel.val();
        self.read_segment.window_data.next = self.csr_writedata.val();
        self.reads_down.d.next = self.port_reads_down.val();
        self.read_segment.port_down.next = self.reads_down.q.val();
        self.read_segment.halted.next = self.read_path.halted.val();
        self.read_path.request.next = self.read_segment.request.val();
        self.read_segment.accept.next = self.read_path.accept.val();
        self.read_path.bus.next = self.read_segment.bus.val();
        self.read_path.local.next = self.read_segment.local.val();
        self.read_path.bytes.next = self.read_segment.bytes.val();
        self.read_path.has_data.next = self.read_segment.has_data.val();
        self.read_path.span.next = self.read_segment.span.val();
        self.read_path.last.next = self.read_segment.last.val();
        self.read_path.code.next = self.read_segment.code.val();
        self.read_path.want_record.next = self.read_segment.want_record.val();
        self.read_path.want_irq.next = self.read_segment.want_irq.val();
        self.read_path.urgent.next = self.read_segment.urgent.val();
        self.read_path.tag.next = self.read_segment.tag.val();
        self.read_path.channel.next = self.read_segment.channel.val();
        self.read_path.att_address.next = self.read_segment.att_address.val();
        self.read_path.descriptor.next = self.read_segment.descriptor.val();
        self.completer.read_end.next = self.read_path.end.val();
        self.completer.read_channel.next = self.read_path.end_channel.val();
        self.completer.read_code.next = self.read_path.end_code.val();
        self.completer.read_bytes.next = self.read_path.end_bytes.val();
        self.completer.read_tag.next = self.read_path.end_tag.val();
        self.completer.read_fault.next = self.read_path.end_fault.val();
        self.completer.read_irq.next = self.read_path.end_irq.val();
        self.completer.read_urgent.next = self.read_path.end_urgent.val();
        self.read_path.end_take.next = self.completer.read_take.val();

        // Completion and interrupts.
        self.completer.ring_low_we.next = self.csr.channel_ring_lo_we.val();
        self.completer.ring_high_we.next = self.csr.channel_ring_hi_we.val();
        self.completer.ring_channel.next = self.csr.channel_select_channel.val();
        self.completer.ring_data.next = self.csr_writedata.val();
        self.kernel_sees.unsynced.next = self.kernel_irq.val();
        self.interrupts.event_valid.next = self.completer.irq.val();
        self.interrupts.event_channel.next = self.completer.irq_channel.val();
        self.interrupts.event_urgent.next = self.completer.irq_urgent.val();
        self.interrupts.general.next = self.completer.fault.val() | self.refused.val();
        self.interrupts.kernel_irq.next = self.kernel_sees.synced.val();
        self.interrupts.moderation_we.next = self.csr.channel_moderation_we.val();
        self.interrupts.moderation_channel.next = self.csr.channel_select_channel.val();
        self.interrupts.moderation_count.next = self.csr_writedata.val().get_bits::<8>(0);
        self.interrupts.moderation_time.next = self.csr_writedata.val().get_bits::<16>(16);
        self.interrupts.msix_enable.next = self.msix_enable.val() & self.has_msix.val().any();
        self.interrupts.msix_mask.next = self.msix_mask.val();

        // The port.
        self.port_write.next = self.write_path.write.val();
        self.port_write_address.next = self.write_path.write_address.val();
        self.port_write_beats.next = self.write_path.write_beats.val();
        self.port_beat.next = self.write_path.beat.val();
        self.port_beat_data.next = self.write_path.beat_data.val();
        self.port_beat_enable.next = self.write_path.beat_enable.val();
        self.fence.path_flush.next = self.write_path.flush.val();
        self.fence.path_flush_address.next = self.write_path.flush_address.val();
        self.port_flush.next = self.fence.port_flush.val();
        self.port_flush_address.next = self.fence.port_flush_address.val();
        self.port_read.next = self.read_path.read.val();
        self.port_read_address.next = self.read_path.read_address.val();
        self.port_read_beats.next = self.read_path.read_beats.val();
        self.port_read_bytes.next = self.read_path.read_bytes.val();
        self.port_read_tag.next = self.read_path.read_tag.val();
        self.port_record.next = self.completer.record.val();
        self.port_record_address.next = self.completer.record_address.val();
        self.port_record_data.next = self.completer.record_data.val();
        self.port_message.next = self.interrupts.message.val();
        self.port_message_address.next = self.interrupts.message_address.val();
        self.port_message_data.next = self.interrupts.message_data.val();
        self.port_timeout.next = self.csr.port_timeout_cycles.val();
        self.port_release.next = self.csr.quarantine_drop_owed.val();
        self.port_pace.next = self.csr.port_pace_rate.val();
        self.write_path.beat_take.next = self.port_beat_take.val();
        self.write_path.write_done.next = self.port_write_done.val();
        self.write_path.port_dead.next = self.port_dead.val();
        self.fence.port_flush_take.next = self.port_flush_take.val();
        self.fence.port_flushed.next = self.port_flushed.val();
        self.write_path.flush_take.next = self.fence.path_flush_take.val();
        self.write_path.flushed.next = self.fence.path_flushed.val();
        self.write_path.flush_error.next = self.port_flush_error.val();
        self.read_path.read_take.next = self.port_read_take.val();
        self.read_path.lost.next = self.port_lost.val();
        self.read_path.chunk.next = self.port_chunk.val();
        self.read_path.chunk_tag.next = self.port_chunk_tag.val();
        self.read_path.chunk_bytes.next = self.port_chunk_bytes.val();
        self.read_path.chunk_code.next = self.port_chunk_code.val();
        self.read_path.completion.next = self.port_completion.val();
        self.read_path.completion_data.next = self.port_completion_data.val();
        self.read_path.completion_error.next = self.port_completion_error.val();
        self.completer.record_take.next = self.port_record_take.val();
        self.completer.sent.next = self.port_sent.val();
        self.interrupts.message_take.next = self.port_message_take.val();

        // FPGA memory.
        self.mem_rd_address.next = self.write_path.mem_rd_address.val();
        self.mem_rd_read.next = self.write_path.mem_rd_read.val();
        self.mem_rd_burstcount.next = self.write_path.mem_rd_burstcount.val();
        self.write_path.mem_rd_waitrequest.next = self.mem_rd_waitrequest.val();
        self.write_path.mem_rd_readdata.next = self.mem_rd_readdata.val();
        self.write_path.mem_rd_readdatavalid.next = self.mem_rd_readdatavalid.val();
        self.mem_wr_address.next = self.read_path.mem_wr_address.val();
        self.mem_wr_write.next = self.read_path.mem_wr_write.val();
        self.mem_wr_burstcount.next = self.read_path.mem_wr_burstcount.val();
        self.mem_wr_writedata.next = self.read_path.mem_wr_writedata.val();
        self.mem_wr_byteenable.next = self.read_path.mem_wr_byteenable.val();
        self.read_path.mem_wr_waitrequest.next = self.mem_wr_waitrequest.val();

        // The window: the host's accesses, moved to its base. The base stands still while it is used:
        // software reads it back before the first access.
        if self.csr.window_lo_we.val() {
            self.window_low.d.next = self.csr_writedata.val().get_bits::<16>(16);
        }
        if self.csr.window_hi_we.val() {
            self.window_high.d.next = self.csr_writedata.val().get_bits::<8>(0);
        }
        self.csr.window_base.next = bit_cast::<24, 16>(self.window_low.q.val())
            | (bit_cast::<24, 8>(self.window_high.q.val()) << 16);
        self.window.unsynced.next = self.csr.window_base.val();
        self.mem_win_address.next = (bit_cast::<40, 24>(self.window.synced.val()) << 16)
            | (bit_cast::<40, 10>(self.s_nondma_address.val()) << 6);
        self.mem_win_read.next = self.s_nondma_read.val();
        self.mem_win_write.next = self.s_nondma_write.val();
        self.mem_win_writedata.next = self.s_nondma_writedata.val();
        self.mem_win_byteenable.next = self.s_nondma_byteenable.val();
        self.s_nondma_waitrequest.next = self.mem_win_waitrequest.val();
        self.s_nondma_readdata.next = self.mem_win_readdata.val();
        self.s_nondma_readdatavalid.next = self.mem_win_readdatavalid.val();

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
        self.seen_write_end_channel.d.next = self.write_path.end_channel.val();
        self.counters.write_end_channel.next = self.seen_write_end_channel.q.val();
        self.seen_write_end_code.d.next = self.write_path.end_code.val();
        self.counters.write_end_code.next = self.seen_write_end_code.q.val();
        self.seen_read_end.d.next = self.read_path.ended.val();
        self.counters.read_end.next = self.seen_read_end.q.val();
        self.seen_read_end_channel.d.next = self.read_path.end_channel.val();
        self.counters.read_end_channel.next = self.seen_read_end_channel.q.val();
        self.seen_read_end_code.d.next = self.read_path.end_code.val();
        self.counters.read_end_code.next = self.seen_read_end_code.q.val();
        self.levels.d.next = bit_cast::<9, 1>(self.write_busy.q.val().into())
            | (bit_cast::<9, 1>(self.read_busy.q.val().into()) << 1)
            | (bit_cast::<9, 1>(self.port_stalled.val().into()) << 2)
            | (bit_cast::<9, 1>(self.port_stalled_tags.val().into()) << 3)
            | (bit_cast::<9, 1>(self.read_path.stalled_buffer.val().into()) << 4)
            | (bit_cast::<9, 1>(self.write_path.starved.val().into()) << 5)
            | (bit_cast::<9, 1>(self.read_path.stalled_memory.val().into()) << 6)
            | (bit_cast::<9, 1>(self.completer.recorded.val().into()) << 7)
            | (bit_cast::<9, 1>((self.irq_edge.val() | self.port_message_take.val()).into()) << 8);
        self.counters.levels.next = self.levels.q.val();
        self.counters.take.next =
            self.csr.counter_snapshot_we.val() & self.csr_writedata.val().get_bit(0);
        self.csr.counter_snapshot_busy.next = self.counters.busy.val();
        self.reading.d.next = self.csr_read.val();
        self.read_at.d.next = self.csr_address.val();
        self.counters.read.next =
            self.reading.q.val() & (self.read_at.q.val().get_bits::<2>(6) == 1);
        self.counters.address.next = self.read_at.q.val().get_bits::<6>(0);
        self.counters.channel.next = self.csr.channel_select_channel.val();
        if self.reading.q.val() {
            self.counter_read.d.next = self.read_at.q.val().get_bits::<2>(6) == 1;
        }
    }
}
