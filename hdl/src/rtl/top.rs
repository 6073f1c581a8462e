//! `peerlane_dma`: the block that stands in an OpenCL BSP where `acl_dma` stood.

use super::att::Att;
use super::complete::Completer;
use super::counter::Counter;
use super::queue::DescriptorQueue;
use super::read_path::ReadPath;
use super::segment::{Segment, SegmentConfig};
use super::txs::TxsAdapter;
use super::write_path::WritePath;
use crate::generated::{ChanRegs, CsrRegs};
use crate::prim::{BitSync, BusSync, ResetStretch};
use rust_hdl::prelude::*;

/// What a build fixes, beside the widths in the type.
#[derive(Clone, Copy, Debug)]
pub struct TopConfig {
    /// Descriptors a direction, log2, at most 12.
    pub queue_log2: usize,
    /// ATT entries, log2; the type's `A` is one more.
    pub att_log2: usize,
    /// Bytes of FPGA memory, log2, at most 40.
    pub memory_log2: usize,
    /// Hash of the register map and the build parameters.
    pub build_id: u32,
}

impl TopConfig {
    fn segment(&self, read: bool) -> SegmentConfig {
        SegmentConfig {
            read,
            att_log2: self.att_log2,
            memory_log2: self.memory_log2,
        }
    }
}

/// The block. `W`, `B`: port width in bits and bytes; `E` = `W + 1`; `T`
/// address bits of `txs`; `A` address bits of the ATT slave (log2 of entries + 1).
#[derive(LogicBlock)]
pub struct PeerlaneDma<
    const W: usize,
    const B: usize,
    const E: usize,
    const T: usize,
    const A: usize,
> {
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
    pub chan_address: Signal<In, Bits<10>>,
    pub chan_read: Signal<In, Bit>,
    pub chan_write: Signal<In, Bit>,
    pub chan_writedata: Signal<In, Bits<32>>,
    pub chan_byteenable: Signal<In, Bits<4>>,
    pub chan_readdata: Signal<Out, Bits<32>>,
    // Address translation table.
    pub att_address: Signal<In, Bits<A>>,
    pub att_read: Signal<In, Bit>,
    pub att_write: Signal<In, Bit>,
    pub att_writedata: Signal<In, Bits<32>>,
    pub att_byteenable: Signal<In, Bits<4>>,
    pub att_readdata: Signal<Out, Bits<32>>,
    // PCIe memory requests.
    pub txs_address: Signal<Out, Bits<T>>,
    pub txs_read: Signal<Out, Bit>,
    pub txs_write: Signal<Out, Bit>,
    pub txs_writedata: Signal<Out, Bits<W>>,
    pub txs_byteenable: Signal<Out, Bits<B>>,
    pub txs_burstcount: Signal<Out, Bits<6>>,
    pub txs_waitrequest: Signal<In, Bit>,
    pub txs_readdata: Signal<In, Bits<W>>,
    pub txs_readdatavalid: Signal<In, Bit>,
    // Interrupt, level.
    pub dma_irq: Signal<Out, Bit>,
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
    write_queue: DescriptorQueue,
    read_queue: DescriptorQueue,
    att: Att,
    write_segment: Segment<W, B>,
    read_segment: Segment<W, B>,
    write_path: WritePath<W, B>,
    read_path: ReadPath<W, B, E>,
    port: TxsAdapter<W, B, T>,
    completer: Completer,
    pcie_hold: ResetStretch,
    mem_hold: ResetStretch,
    pcie_sees: BitSync,
    mem_sees: BitSync,
    window: BusSync<24>,
    draining: DFF<Bit>,
    core_reset: Signal<Local, Bit>,
    mem_reset: Signal<Local, Bit>,
    irq_before: DFF<Bit>,
    interrupt: Signal<Local, Bit>,
    irq_edge: Signal<Local, Bit>,
    idle: Signal<Local, Bit>,
    flush: Signal<Local, Bit>,
    start: Signal<Local, Bit>,
    count_write_bytes: Counter,
    count_write_requests: Counter,
    count_read_bytes: Counter,
    count_read_requests: Counter,
    count_records: Counter,
    count_stall_txs: Counter,
    count_stall_tags: Counter,
    count_stall_mem: Counter,
    count_irqs: Counter,
    count_faults: Counter,
    build_id: Constant<Bits<32>>,
    port_bytes: Constant<Bits<8>>,
    txs_bits: Constant<Bits<8>>,
    queue_bits: Constant<Bits<8>>,
    att_bits: Constant<Bits<8>>,
    memory_bits: Constant<Bits<8>>,
}

impl<const W: usize, const B: usize, const E: usize, const T: usize, const A: usize>
    PeerlaneDma<W, B, E, T, A>
{
    /// A block for one build.
    pub fn new(config: TopConfig) -> Self {
        assert!(A == config.att_log2 + 1);
        Self {
            clk: Default::default(),
            reset: Default::default(),
            pcie_clk: Default::default(),
            pcie_reset: Default::default(),
            csr_address: Default::default(),
            csr_read: Default::default(),
            csr_write: Default::default(),
            csr_writedata: Default::default(),
            csr_byteenable: Default::default(),
            csr_readdata: Default::default(),
            chan_address: Default::default(),
            chan_read: Default::default(),
            chan_write: Default::default(),
            chan_writedata: Default::default(),
            chan_byteenable: Default::default(),
            chan_readdata: Default::default(),
            att_address: Default::default(),
            att_read: Default::default(),
            att_write: Default::default(),
            att_writedata: Default::default(),
            att_byteenable: Default::default(),
            att_readdata: Default::default(),
            txs_address: Default::default(),
            txs_read: Default::default(),
            txs_write: Default::default(),
            txs_writedata: Default::default(),
            txs_byteenable: Default::default(),
            txs_burstcount: Default::default(),
            txs_waitrequest: Default::default(),
            txs_readdata: Default::default(),
            txs_readdatavalid: Default::default(),
            dma_irq: Default::default(),
            mem_rd_address: Default::default(),
            mem_rd_read: Default::default(),
            mem_rd_burstcount: Default::default(),
            mem_rd_waitrequest: Default::default(),
            mem_rd_readdata: Default::default(),
            mem_rd_readdatavalid: Default::default(),
            mem_wr_address: Default::default(),
            mem_wr_write: Default::default(),
            mem_wr_burstcount: Default::default(),
            mem_wr_writedata: Default::default(),
            mem_wr_byteenable: Default::default(),
            mem_wr_waitrequest: Default::default(),
            s_nondma_address: Default::default(),
            s_nondma_read: Default::default(),
            s_nondma_write: Default::default(),
            s_nondma_writedata: Default::default(),
            s_nondma_byteenable: Default::default(),
            s_nondma_readdata: Default::default(),
            s_nondma_readdatavalid: Default::default(),
            s_nondma_waitrequest: Default::default(),
            mem_win_address: Default::default(),
            mem_win_read: Default::default(),
            mem_win_write: Default::default(),
            mem_win_writedata: Default::default(),
            mem_win_byteenable: Default::default(),
            mem_win_waitrequest: Default::default(),
            mem_win_readdata: Default::default(),
            mem_win_readdatavalid: Default::default(),
            csr: Default::default(),
            chan: Default::default(),
            write_queue: DescriptorQueue::new(config.queue_log2),
            read_queue: DescriptorQueue::new(config.queue_log2),
            att: Att::new(config.att_log2),
            write_segment: Segment::new(config.segment(false)),
            read_segment: Segment::new(config.segment(true)),
            write_path: Default::default(),
            read_path: Default::default(),
            port: Default::default(),
            completer: Default::default(),
            pcie_hold: Default::default(),
            mem_hold: Default::default(),
            pcie_sees: Default::default(),
            mem_sees: Default::default(),
            window: Default::default(),
            draining: Default::default(),
            core_reset: Default::default(),
            mem_reset: Default::default(),
            irq_before: Default::default(),
            interrupt: Default::default(),
            irq_edge: Default::default(),
            idle: Default::default(),
            flush: Default::default(),
            start: Default::default(),
            count_write_bytes: Default::default(),
            count_write_requests: Default::default(),
            count_read_bytes: Default::default(),
            count_read_requests: Default::default(),
            count_records: Default::default(),
            count_stall_txs: Default::default(),
            count_stall_tags: Default::default(),
            count_stall_mem: Default::default(),
            count_irqs: Default::default(),
            count_faults: Default::default(),
            build_id: Constant::new(u64::from(config.build_id).into()),
            port_bytes: Constant::new((B as u64).into()),
            txs_bits: Constant::new((T as u64).into()),
            queue_bits: Constant::new((config.queue_log2 as u64).into()),
            att_bits: Constant::new((config.att_log2 as u64).into()),
            memory_bits: Constant::new((config.memory_log2 as u64).into()),
        }
    }

    /// Marks the ports that the outside drives, which rust-hdl asks for before it looks at a design.
    pub fn connect_inputs(&mut self) {
        self.clk.connect();
        self.reset.connect();
        self.pcie_clk.connect();
        self.pcie_reset.connect();
        self.csr_address.connect();
        self.csr_read.connect();
        self.csr_write.connect();
        self.csr_writedata.connect();
        self.csr_byteenable.connect();
        self.chan_address.connect();
        self.chan_read.connect();
        self.chan_write.connect();
        self.chan_writedata.connect();
        self.chan_byteenable.connect();
        self.att_address.connect();
        self.att_read.connect();
        self.att_write.connect();
        self.att_writedata.connect();
        self.att_byteenable.connect();
        self.txs_waitrequest.connect();
        self.txs_readdata.connect();
        self.txs_readdatavalid.connect();
        self.mem_rd_waitrequest.connect();
        self.mem_rd_readdata.connect();
        self.mem_rd_readdatavalid.connect();
        self.mem_wr_waitrequest.connect();
        self.s_nondma_address.connect();
        self.s_nondma_read.connect();
        self.s_nondma_write.connect();
        self.s_nondma_writedata.connect();
        self.s_nondma_byteenable.connect();
        self.mem_win_waitrequest.connect();
        self.mem_win_readdata.connect();
        self.mem_win_readdatavalid.connect();
    }
}

impl<const W: usize, const B: usize, const E: usize, const T: usize, const A: usize> Logic
    for PeerlaneDma<W, B, E, T, A>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, pcie_clk, draining, irq_before);
        clock!(
            self,
            pcie_clk,
            csr,
            chan,
            write_queue,
            read_queue,
            att,
            write_segment,
            read_segment,
            write_path,
            read_path,
            port,
            completer,
            pcie_hold,
            pcie_sees,
            count_write_bytes,
            count_write_requests,
            count_read_bytes,
            count_read_requests,
            count_records,
            count_stall_txs,
            count_stall_tags,
            count_stall_mem,
            count_irqs,
            count_faults
        );
        clock!(self, clk, mem_hold, mem_sees, window);
        self.write_path.mem_clock.next = self.clk.val();
        self.read_path.mem_clock.next = self.clk.val();

        // Reset: either side's reset resets both.
        self.pcie_hold.trigger.next = self.pcie_reset.val();
        self.mem_hold.trigger.next = self.reset.val();
        self.pcie_sees.unsynced.next = self.mem_hold.held.val();
        self.mem_sees.unsynced.next = self.pcie_hold.held.val();
        self.core_reset.next = self.pcie_hold.held.val() | self.pcie_sees.synced.val();
        self.mem_reset.next = self.mem_hold.held.val() | self.mem_sees.synced.val();
        self.csr.reset.next = self.core_reset.val();
        self.chan.reset.next = self.core_reset.val();
        self.att.reset.next = self.core_reset.val();
        self.write_segment.reset.next = self.core_reset.val();
        self.read_segment.reset.next = self.core_reset.val();
        self.write_path.reset.next = self.core_reset.val();
        self.read_path.reset.next = self.core_reset.val();
        self.port.reset.next = self.core_reset.val();
        self.completer.reset.next = self.core_reset.val();
        self.count_write_bytes.reset.next = self.core_reset.val();
        self.count_write_requests.reset.next = self.core_reset.val();
        self.count_read_bytes.reset.next = self.core_reset.val();
        self.count_read_requests.reset.next = self.core_reset.val();
        self.count_records.reset.next = self.core_reset.val();
        self.count_stall_txs.reset.next = self.core_reset.val();
        self.count_stall_tags.reset.next = self.core_reset.val();
        self.count_stall_mem.reset.next = self.core_reset.val();
        self.count_irqs.reset.next = self.core_reset.val();
        self.count_faults.reset.next = self.core_reset.val();
        self.write_path.mem_reset.next = self.mem_reset.val();
        self.read_path.mem_reset.next = self.mem_reset.val();

        // Soft reset: what runs ends as aborted, in bounded time unless the port stands still; then
        // the queues are emptied. Nothing on a bus is cut off.
        self.idle.next = !self.write_segment.busy.val()
            & !self.read_segment.busy.val()
            & self.write_path.idle.val()
            & self.read_path.idle.val()
            & !self.completer.busy.val();
        self.flush.next = self.draining.q.val() & self.idle.val();
        if self.csr.control_reset.val() {
            self.draining.d.next = true;
        } else if self.flush.val() {
            self.draining.d.next = false;
        }
        if self.core_reset.val() {
            self.draining.d.next = false;
        }
        self.start.next = self.csr.control_enable.val() & !self.draining.q.val();
        self.write_queue.reset.next = self.core_reset.val() | self.flush.val();
        self.read_queue.reset.next = self.core_reset.val() | self.flush.val();

        // Slaves.
        self.csr.address.next = self.csr_address.val();
        self.csr.read.next = self.csr_read.val();
        self.csr.write.next = self.csr_write.val();
        self.csr.writedata.next = self.csr_writedata.val();
        self.csr.byteenable.next = self.csr_byteenable.val();
        self.csr_readdata.next = self.csr.readdata.val();
        self.chan.address.next = self.chan_address.val();
        self.chan.read.next = self.chan_read.val();
        self.chan.write.next = self.chan_write.val();
        self.chan.writedata.next = self.chan_writedata.val();
        self.chan.byteenable.next = self.chan_byteenable.val();
        self.chan_readdata.next = self.chan.readdata.val();
        self.att.write.next = self.att_write.val() & self.att_byteenable.val().all();
        self.att.address.next = bit_cast::<17, A>(self.att_address.val());
        self.att.data.next = self.att_writedata.val();
        self.att.owner.next = self.csr.att_owner_channels.val();
        self.att_readdata.next = 0.into();

        // What the registers show.
        self.csr.build_id.next = self.build_id.val();
        self.csr.caps0_channels.next = 1.into();
        self.csr.caps0_port_bytes.next = self.port_bytes.val();
        self.csr.caps0_txs_addr_bits.next = self.txs_bits.val();
        self.csr.caps1_queue_log2.next = self.queue_bits.val();
        self.csr.caps1_att_log2.next = self.att_bits.val();
        self.csr.caps1_max_burst_log2.next = 9.into();
        self.csr.caps1_mem_addr_bits.next = self.memory_bits.val();
        self.csr.status_write_busy.next = self.write_queue.valid.val()
            | self.write_segment.busy.val()
            | !self.write_path.idle.val();
        self.csr.status_read_busy.next =
            self.read_queue.valid.val() | self.read_segment.busy.val() | !self.read_path.idle.val();
        self.csr.status_read_quarantine.next = self.port.quarantine.val();
        self.csr.status_att_sweep.next = self.att.sweeping.val();
        self.csr.status_completer_busy.next = self.completer.busy.val();
        self.csr.irq_status_completion_set.next = self.completer.irq.val();
        self.csr.irq_status_error_set.next = self.completer.fault.val();
        self.csr.irq_status_refused_set.next =
            self.write_queue.refused.val() | self.read_queue.refused.val();
        self.interrupt.next = self.csr.control_irq_enable.val()
            & (self.csr.irq_status_completion.val()
                | self.csr.irq_status_error.val()
                | self.csr.irq_status_refused.val());
        self.dma_irq.next = self.interrupt.val();
        self.irq_before.d.next = self.interrupt.val();
        self.irq_edge.next = self.interrupt.val() & !self.irq_before.q.val();
        self.chan.queue_free_write.next = bit_cast::<16, 13>(self.write_queue.free.val());
        self.chan.queue_free_read.next = bit_cast::<16, 13>(self.read_queue.free.val());
        self.chan.refused_write_set.next = self.write_queue.refused.val();
        self.chan.refused_read_set.next = self.read_queue.refused.val();

        // Write direction.
        self.write_queue.write.next = self.chan.write_desc_we.val();
        self.write_queue.dword.next = self.chan.write_desc_index.val();
        self.write_queue.data.next = self.chan_writedata.val();
        self.write_queue.doorbell.next = self.chan.write_doorbell_we.val();
        self.write_queue.enable.next = self.start.val();
        self.write_segment.enable.next = self.start.val();
        self.write_segment.abort.next = self.draining.q.val();
        self.write_segment.port_down.next = self.port.quarantine.val();
        self.write_segment.valid.next = self.write_queue.valid.val();
        self.write_queue.pop.next = self.write_segment.pop.val();
        self.write_segment.peer_low.next = self.write_queue.peer_low.val();
        self.write_segment.peer_high.next = self.write_queue.peer_high.val();
        self.write_segment.local_low.next = self.write_queue.local_low.val();
        self.write_segment.local_high.next = self.write_queue.local_high.val();
        self.write_segment.length.next = self.write_queue.length.val();
        self.write_segment.control.next = self.write_queue.control.val();
        self.write_segment.cookie.next = self.write_queue.cookie.val();
        self.att.write_ask.next = self.write_segment.ask.val();
        self.att.write_index.next = self.write_segment.index.val();
        self.write_segment.answer.next = self.att.write_answer.val();
        self.write_segment.entry.next = self.att.entry.val();
        self.write_path.request.next = self.write_segment.request.val();
        self.write_segment.accept.next = self.write_path.accept.val();
        self.write_path.bus.next = self.write_segment.bus.val();
        self.write_path.local.next = self.write_segment.local.val();
        self.write_path.bytes.next = self.write_segment.bytes.val();
        self.write_path.last.next = self.write_segment.last.val();
        self.write_path.code.next = self.write_segment.code.val();
        self.write_path.want_record.next = self.write_segment.want_record.val();
        self.write_path.want_irq.next = self.write_segment.want_irq.val();
        self.write_path.tag.next = self.write_segment.tag.val();
        self.write_path.may_flush.next = self.write_segment.may_flush.val();
        self.completer.write_end.next = self.write_path.end.val();
        self.completer.write_code.next = self.write_path.end_code.val();
        self.completer.write_bytes.next = self.write_path.end_bytes.val();
        self.completer.write_tag.next = self.write_path.end_tag.val();
        self.completer.write_fault.next = self.write_path.end_fault.val();
        self.completer.write_irq.next = self.write_path.end_irq.val();
        self.write_path.end_take.next = self.completer.write_take.val();

        // Read direction.
        self.read_queue.write.next = self.chan.read_desc_we.val();
        self.read_queue.dword.next = self.chan.read_desc_index.val();
        self.read_queue.data.next = self.chan_writedata.val();
        self.read_queue.doorbell.next = self.chan.read_doorbell_we.val();
        self.read_queue.enable.next = self.start.val();
        self.read_segment.enable.next = self.start.val();
        self.read_segment.abort.next = self.draining.q.val();
        self.read_segment.port_down.next = self.port.quarantine.val();
        self.read_segment.valid.next = self.read_queue.valid.val();
        self.read_queue.pop.next = self.read_segment.pop.val();
        self.read_segment.peer_low.next = self.read_queue.peer_low.val();
        self.read_segment.peer_high.next = self.read_queue.peer_high.val();
        self.read_segment.local_low.next = self.read_queue.local_low.val();
        self.read_segment.local_high.next = self.read_queue.local_high.val();
        self.read_segment.length.next = self.read_queue.length.val();
        self.read_segment.control.next = self.read_queue.control.val();
        self.read_segment.cookie.next = self.read_queue.cookie.val();
        self.att.read_ask.next = self.read_segment.ask.val();
        self.att.read_index.next = self.read_segment.index.val();
        self.read_segment.answer.next = self.att.read_answer.val();
        self.read_segment.entry.next = self.att.entry.val();
        self.read_path.request.next = self.read_segment.request.val();
        self.read_segment.accept.next = self.read_path.accept.val();
        self.read_path.bus.next = self.read_segment.bus.val();
        self.read_path.local.next = self.read_segment.local.val();
        self.read_path.bytes.next = self.read_segment.bytes.val();
        self.read_path.last.next = self.read_segment.last.val();
        self.read_path.code.next = self.read_segment.code.val();
        self.read_path.want_record.next = self.read_segment.want_record.val();
        self.read_path.want_irq.next = self.read_segment.want_irq.val();
        self.read_path.tag.next = self.read_segment.tag.val();
        self.read_path.att_address.next = self.read_segment.att_address.val();
        self.completer.read_end.next = self.read_path.end.val();
        self.completer.read_code.next = self.read_path.end_code.val();
        self.completer.read_bytes.next = self.read_path.end_bytes.val();
        self.completer.read_tag.next = self.read_path.end_tag.val();
        self.completer.read_fault.next = self.read_path.end_fault.val();
        self.completer.read_irq.next = self.read_path.end_irq.val();
        self.read_path.end_take.next = self.completer.read_take.val();

        // The port.
        self.port.write.next = self.write_path.write.val();
        self.port.write_address.next = self.write_path.write_address.val();
        self.port.write_beats.next = self.write_path.write_beats.val();
        self.port.beat.next = self.write_path.beat.val();
        self.port.beat_data.next = self.write_path.beat_data.val();
        self.port.beat_enable.next = self.write_path.beat_enable.val();
        self.write_path.beat_take.next = self.port.beat_take.val();
        self.write_path.write_done.next = self.port.write_done.val();
        self.port.flush.next = self.write_path.flush.val();
        self.port.flush_address.next = self.write_path.flush_address.val();
        self.write_path.flush_take.next = self.port.flush_take.val();
        self.write_path.flushed.next = self.port.flushed.val();
        self.write_path.flush_error.next = self.port.flush_error.val();
        self.port.read.next = self.read_path.read.val();
        self.port.read_address.next = self.read_path.read_address.val();
        self.port.read_beats.next = self.read_path.read_beats.val();
        self.read_path.read_take.next = self.port.read_take.val();
        self.read_path.completion.next = self.port.completion.val();
        self.read_path.completion_data.next = self.port.completion_data.val();
        self.read_path.completion_error.next = self.port.completion_error.val();
        self.port.record.next = self.completer.record.val();
        self.port.record_address.next = self.completer.record_address.val();
        self.port.record_data.next = self.completer.record_data.val();
        self.completer.record_take.next = self.port.record_take.val();
        self.port.timeout.next = self.csr.read_timeout_cycles.val();
        self.port.release.next = self.csr.quarantine_drop_owed.val();
        self.completer.ring_low_we.next =
            self.csr.ring_lo_we.val() & (self.csr.ring_index.val() == 0);
        self.completer.ring_high_we.next =
            self.csr.ring_hi_we.val() & (self.csr.ring_index.val() == 0);
        self.completer.ring_data.next = self.csr_writedata.val();
        self.txs_address.next = self.port.txs_address.val();
        self.txs_read.next = self.port.txs_read.val();
        self.txs_write.next = self.port.txs_write.val();
        self.txs_writedata.next = self.port.txs_writedata.val();
        self.txs_byteenable.next = self.port.txs_byteenable.val();
        self.txs_burstcount.next = self.port.txs_burstcount.val();
        self.port.txs_waitrequest.next = self.txs_waitrequest.val();
        self.port.txs_readdata.next = self.txs_readdata.val();
        self.port.txs_readdatavalid.next = self.txs_readdatavalid.val();

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

        // Counters.
        self.count_write_bytes.amount.next = self.write_path.moved.val();
        self.count_write_bytes.take.next = self.csr.counter_snapshot_take.val();
        self.csr.write_bytes.next = self.count_write_bytes.value.val();
        self.count_write_requests.amount.next =
            bit_cast::<10, 1>(self.write_path.requested.val().into());
        self.count_write_requests.take.next = self.csr.counter_snapshot_take.val();
        self.csr.write_requests.next = self.count_write_requests.value.val();
        self.count_read_bytes.amount.next = self.read_path.moved.val();
        self.count_read_bytes.take.next = self.csr.counter_snapshot_take.val();
        self.csr.read_bytes.next = self.count_read_bytes.value.val();
        self.count_read_requests.amount.next =
            bit_cast::<10, 1>(self.port.read_issued.val().into());
        self.count_read_requests.take.next = self.csr.counter_snapshot_take.val();
        self.csr.read_requests.next = self.count_read_requests.value.val();
        self.count_records.amount.next = bit_cast::<10, 1>(self.completer.recorded.val().into());
        self.count_records.take.next = self.csr.counter_snapshot_take.val();
        self.csr.records.next = self.count_records.value.val();
        self.count_stall_txs.amount.next = bit_cast::<10, 1>(self.port.stalled_bus.val().into());
        self.count_stall_txs.take.next = self.csr.counter_snapshot_take.val();
        self.csr.stall_txs.next = self.count_stall_txs.value.val();
        self.count_stall_tags.amount.next = bit_cast::<10, 1>(self.port.stalled_tags.val().into());
        self.count_stall_tags.take.next = self.csr.counter_snapshot_take.val();
        self.csr.stall_tags.next = self.count_stall_tags.value.val();
        self.count_stall_mem.amount.next = bit_cast::<10, 1>(self.write_path.starved.val().into());
        self.count_stall_mem.take.next = self.csr.counter_snapshot_take.val();
        self.csr.stall_mem.next = self.count_stall_mem.value.val();
        self.count_irqs.amount.next = bit_cast::<10, 1>(self.irq_edge.val().into());
        self.count_irqs.take.next = self.csr.counter_snapshot_take.val();
        self.csr.irqs.next = self.count_irqs.value.val();
        self.count_faults.amount.next = bit_cast::<10, 1>(self.completer.fault.val().into());
        self.count_faults.take.next = self.csr.counter_snapshot_take.val();
        self.csr.faults.next = self.count_faults.value.val();
    }
}
