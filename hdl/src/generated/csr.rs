// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the block `csr`: decoder, flip-flops and read multiplexer of its Avalon-MM
//! slave.
//!
//! Reads have a latency of two cycles and hold their value until the next. Writes act only with all
//! byte enables set. A stored field or a pulse changes in the cycle after the write; a `_we` strobe
//! and its index are valid in the cycle of the write, beside the slave's `writedata`.

use peerlane_verilog::DocBlock;
use rust_hdl::prelude::*;

/// Registers of the block `csr`.
#[derive(DocBlock, Default)]
pub struct CsrRegs {
    /// Clock of the slave and of all other ports.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Slave: word address.
    pub address: Signal<In, Bits<8>>,
    /// Slave: read request.
    pub read: Signal<In, Bit>,
    /// Slave: write request.
    pub write: Signal<In, Bit>,
    /// Slave: data to write.
    pub writedata: Signal<In, Bits<32>>,
    /// Slave: bytes to write; all four or the write is ignored.
    pub byteenable: Signal<In, Bits<4>>,
    /// Slave: data of the read two cycles before.
    pub readdata: Signal<Out, Bits<32>>,
    /// BUILD_ID.value: First 32 bits of the SHA-256 of the map's canonical form followed by the
    /// build parameters.
    pub build_id: Signal<In, Bits<32>>,
    /// CAPS0.channels: Number of channels, and so of 4 KiB channel pages.
    pub caps0_channels: Signal<In, Bits<8>>,
    /// CAPS0.port_bytes: Width of the PCIe port: 16 (128-bit) or 32 (256-bit).
    pub caps0_port_bytes: Signal<In, Bits<8>>,
    /// CAPS0.txs_addr_bits: Width of the addresses that the PCIe port takes: 64, an ATT entry holds
    /// a PCIe bus address; 32, it holds an address inside the PCIe IP's own translation windows.
    pub caps0_txs_addr_bits: Signal<In, Bits<8>>,
    /// CAPS1.queue_log2: Descriptors in all queues of one direction. Each channel has an equal
    /// share: 2^queue_log2 / channels.
    pub caps1_queue_log2: Signal<In, Bits<8>>,
    /// CAPS1.att_log2: Number of ATT entries.
    pub caps1_att_log2: Signal<In, Bits<8>>,
    /// CAPS1.max_burst_log2: Longest request that the block gives to the PCIe port.
    pub caps1_max_burst_log2: Signal<In, Bits<8>>,
    /// CAPS1.mem_addr_bits: Bytes of FPGA memory, log2. A descriptor that reaches beyond ends with
    /// LENGTH and moves nothing.
    pub caps1_mem_addr_bits: Signal<In, Bits<8>>,
    /// CONTROL.enable: 1: queued descriptors are executed. 0: no new descriptor is started; one
    /// that runs is finished.
    pub control_enable: Signal<Out, Bit>,
    /// CONTROL.irq_enable: 1: the interrupt line is high while any bit of IRQ_STATUS is set. 0: the
    /// line is low; IRQ_STATUS is kept.
    pub control_irq_enable: Signal<Out, Bit>,
    /// CONTROL.reset: Write 1: every descriptor that was accepted ends with ABORTED, the running
    /// ones at their next request, and doorbells are refused until STATUS.write_busy, read_busy and
    /// completer_busy read 0. The ATT, the rings and all settings are kept. Completions that are
    /// still owed to reads stay counted (STATUS.read_quarantine).
    pub control_reset: Signal<Out, Bit>,
    /// STATUS.write_busy: A write descriptor (FPGA to peer) of any channel is queued or under way,
    /// or the last of it stands untaken at the PCIe port.
    pub status_write_busy: Signal<In, Bit>,
    /// STATUS.read_busy: A read descriptor (peer to FPGA) of any channel is queued or under way, or
    /// the last of it stands untaken at the PCIe port.
    pub status_read_busy: Signal<In, Bit>,
    /// STATUS.read_quarantine: A read timed out, or the block was reset from the side of FPGA
    /// memory alone, and its completion has not come. No read is issued until every completion that
    /// is owed has arrived and been dropped, or, where reads have tags, the driver writes
    /// QUARANTINE.
    pub status_read_quarantine: Signal<In, Bit>,
    /// STATUS.att_sweep: The ATT is being cleared after a reset of the block. Wait for 0 before the
    /// first write to the ATT.
    pub status_att_sweep: Signal<In, Bit>,
    /// STATUS.completer_busy: A completion record waits to be sent, or stands untaken at the PCIe
    /// port, or a burst does that was begun before the block was reset from the side of FPGA
    /// memory.
    pub status_completer_busy: Signal<In, Bit>,
    /// STATUS.port_dead: The PCIe port has not taken a request or a beat of data for PORT_TIMEOUT:
    /// what the engines send is dropped and ends with PORT_DOWN, so that every descriptor ends. Or
    /// the receive side has failed (LINK.rx_failed): reads end without data, or not at all, and
    /// writes go on. A port that goes on (Bus Master Enable is set again, the link is back) first
    /// takes the rest of the burst that stands there, up to 512 bytes, of which all but the first
    /// beat may be zeros. Then it opens by itself, which sets IRQ_STATUS.error. CONTROL.reset does
    /// not open it; the block's reset inputs do (a new configuration of the FPGA, or a reset of the
    /// link that the hard IP passes on), and a receive side that has failed needs them. Records of
    /// the meantime are lost, so a channel that had anything under way needs its ring set again.
    /// Memory that was registered must not be given back before a fence that ended while this read
    /// 0.
    pub status_port_dead: Signal<In, Bit>,
    /// STATUS.port_lost: The PCIe port has been dead since the last reset of the block or
    /// CONTROL.reset. It may be open again (port_dead reads 0), but records and writes of that time
    /// are lost: software resets the block and fails the transfers that were under way.
    pub status_port_lost: Signal<In, Bit>,
    /// IRQ_STATUS.completion: A descriptor with `irq` set has ended, the PCIe port has taken its
    /// completion record before, and its channel's moderation lets the interrupt through.
    pub irq_status_completion: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.completion.
    pub irq_status_completion_set: Signal<In, Bit>,
    /// IRQ_STATUS.error: A descriptor has ended with a status code other than OK. Or a dead port
    /// has opened again (STATUS.port_dead): records, and interrupts that are messages, of the
    /// meantime are lost.
    pub irq_status_error: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.error.
    pub irq_status_error_set: Signal<In, Bit>,
    /// IRQ_STATUS.refused: A doorbell of any channel was refused. The channel's REFUSED register
    /// says which.
    pub irq_status_refused: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.refused.
    pub irq_status_refused_set: Signal<In, Bit>,
    /// CAPS2.reads_log2: Read requests that can be under way between the request maker and FPGA
    /// memory.
    pub caps2_reads_log2: Signal<In, Bits<8>>,
    /// CAPS2.tagged: 1: the PCIe port is a tagged stream, whose completions carry a status. 0: it
    /// is an Avalon-MM `Txs` port, answered in order.
    pub caps2_tagged: Signal<In, Bit>,
    /// CAPS2.msix: 1: the block has an MSI-X table. 0: it has the interrupt line only.
    pub caps2_msix: Signal<In, Bit>,
    /// CAPS2.tlp: 1: the block has a transaction layer of its own on the hard IP's Avalon-ST
    /// interface, and LINK, LINK_REFUSALS, LINK_ERRORS and LINK_LOSSES say how it does.
    pub caps2_tlp: Signal<In, Bit>,
    /// CAPS2.write_granularity_log2: Granularity of writes at the peer. 0: a write may begin and
    /// end at any byte. 2: its first address and the end of it must be multiples of 4 bytes, else
    /// it ends with ALIGNMENT; `Txs` of the V-series hard IP enables whole dwords only. Addresses
    /// in FPGA memory, and reads, may have any alignment.
    pub caps2_write_granularity_log2: Signal<In, Bits<2>>,
    /// PORT_TIMEOUT.cycles: Time without an answer after which a read request ends with
    /// READ_TIMEOUT and what it is owed goes into quarantine; and time without taking a request or
    /// a beat of data after which the port is dead. The reset value is 50 ms at 250 MHz. 0 turns
    /// both off.
    pub port_timeout_cycles: Signal<Out, Bits<32>>,
    /// PORT_PACE.rate: Bytes that the link carries towards the host, headers and framing included,
    /// less one or two parts in a hundred for what the block does not see. While reads are under
    /// way, writes are sent no faster. 0: they are sent as fast as the port takes them.
    pub port_pace_rate: Signal<Out, Bits<16>>,
    /// QUARANTINE.drop_owed: Write 1: forgets the completions that are still owed, and opens the
    /// read port or the lost tags. Only correct after a link reset or a similar event made sure
    /// that none of them can come any more: a late completion would be taken as the answer to a new
    /// read. Without effect on `Txs`: the hard IP's bridge answers in order and forgets nothing, so
    /// until its own reset a new read would get the data of the old one, or none.
    pub quarantine_drop_owed: Signal<Out, Bit>,
    /// COUNTER_SNAPSHOT: written in this cycle with `writedata`. Copies all counters at once, so
    /// that both words of each, and all of them together, belong to the same cycle.
    pub counter_snapshot_we: Signal<Out, Bit>,
    /// COUNTER_SNAPSHOT.busy: The snapshot is not yet complete; read the counters when this is 0. A
    /// `take` meanwhile waits its turn.
    pub counter_snapshot_busy: Signal<In, Bit>,
    /// ATT_OWNER.channels: One bit a channel: the mask that is stored with an ATT entry when its
    /// high word is written. A channel whose bit is 0 cannot use the entry.
    pub att_owner_channels: Signal<Out, Bits<64>>,
    /// ATT_INVALIDATE: written in this cycle with `writedata`. A fence for changes of the ATT.
    /// Write the entries, then 1 to `start`; when `busy` reads 0, every request that was translated
    /// with an older content has ended: reads were answered or given up, writes were taken by the
    /// PCIe port. With `flush` they have also arrived where ATT_FLUSH says. A start that falls into
    /// a reset of the block is lost: CONTROL.enable tells.
    pub att_invalidate_we: Signal<Out, Bit>,
    /// ATT_INVALIDATE.busy: The fence is not yet reached, or a burst stands at the PCIe port that
    /// was begun before the block was reset from the side of FPGA memory. Transfers of all channels
    /// go on meanwhile.
    pub att_invalidate_busy: Signal<In, Bit>,
    /// ATT_INVALIDATE.failed: The last fence with `flush` was reached without an answer to its
    /// read: the read was given up, or was not sent, because reads were in quarantine or the port
    /// was dead. Writes may still be on their way then.
    pub att_invalidate_failed: Signal<In, Bit>,
    /// ATT_FLUSH.address: Bits 63:6 of the bus address; the read takes the first bytes there, as
    /// many as the port is wide.
    pub att_flush_address: Signal<Out, Bits<58>>,
    /// LINK.max_payload: Max Payload Size: 128 bytes shifted left by it.
    pub link_max_payload: Signal<In, Bits<3>>,
    /// LINK.max_request: Max Read Request Size: 128 bytes shifted left by it. No read is longer,
    /// and none is longer than 512 bytes.
    pub link_max_request: Signal<In, Bits<3>>,
    /// LINK.read_tags: Tags for reads of data: 56 while software has set Extended Tag Field Enable,
    /// else 24. Flush reads have eight more.
    pub link_read_tags: Signal<In, Bits<8>>,
    /// LINK.completion_space: Completions that the hard IP's receive buffer has room for. A read
    /// takes one for each line of 64 bytes that it touches.
    pub link_completion_space: Signal<In, Bits<8>>,
    /// LINK.rx_failed: 1: the receive side has failed. The hard IP has lost data, and no read ends
    /// with any until a reset of the PCIe side. Or reads that were given up have all tags or all
    /// room for completions, and reads end with READ_TIMEOUT. STATUS.port_dead says so, too.
    pub link_rx_failed: Signal<In, Bit>,
    /// LINK_REFUSALS.unsupported: Unsupported Request, or a status that is reserved.
    pub link_refusals_unsupported: Signal<In, Bits<16>>,
    /// LINK_REFUSALS.aborted: Completer Abort.
    pub link_refusals_aborted: Signal<In, Bits<16>>,
    /// LINK_ERRORS.poisoned: Their data are marked as wrong.
    pub link_errors_poisoned: Signal<In, Bits<16>>,
    /// LINK_ERRORS.malformed: Address, byte count or length do not fit the read.
    pub link_errors_malformed: Signal<In, Bits<16>>,
    /// LINK_LOSSES.unexpected: Completions of no read.
    pub link_losses_unexpected: Signal<In, Bits<16>>,
    /// LINK_LOSSES.expired: Reads of which nothing came any more.
    pub link_losses_expired: Signal<In, Bits<16>>,
    /// WINDOW_LO: written in this cycle with `writedata`. Place of the host's 64 KiB memory window
    /// (`s_nondma`) in the FPGA memory. A reset keeps it: who uses the window while another resets
    /// the block goes on to see the memory that is his. The offset is that of the window control of
    /// `acl_dma`.
    pub window_lo_we: Signal<Out, Bit>,
    /// WINDOW_HI: written in this cycle with `writedata`. Place of the host's 64 KiB memory window
    /// (`s_nondma`) in the FPGA memory. A reset keeps it: who uses the window while another resets
    /// the block goes on to see the memory that is his. The offset is that of the window control of
    /// `acl_dma`.
    pub window_hi_we: Signal<Out, Bit>,
    /// WINDOW.base: Bits 39:16 of the byte address in FPGA memory that the first byte of the window
    /// shows.
    pub window_base: Signal<In, Bits<24>>,
    /// CHANNEL_SELECT.channel: A channel of this build; with another number, writes have no
    /// meaning.
    pub channel_select_channel: Signal<Out, Bits<6>>,
    /// CHANNEL_CONTROL: written in this cycle with `writedata`. Runs, drains and aborts the
    /// selected channel. To drain: clear `accept`, wait until CHANNEL_STATUS reads 0. To abort:
    /// clear `accept`, set `abort`, wait until CHANNEL_STATUS reads 0, clear `abort`. Both end in
    /// bounded time unless PORT_TIMEOUT is 0: a read that is not answered ends by it, and a port
    /// that stands still.
    pub channel_control_we: Signal<Out, Bit>,
    /// CHANNEL_CONTROL.accept: 1: doorbells are accepted. 0: they are refused; what is queued goes
    /// on.
    pub channel_control_accept: Signal<In, Bit>,
    /// CHANNEL_CONTROL.run: 1: queued descriptors are executed. 0: no further descriptor is
    /// started; one that runs is finished.
    pub channel_control_run: Signal<In, Bit>,
    /// CHANNEL_CONTROL.abort: 1: every accepted descriptor ends with ABORTED, a running one at its
    /// next request, whatever `run` says.
    pub channel_control_abort: Signal<In, Bit>,
    /// CHANNEL_STATUS.write_busy: A write descriptor was accepted and has not ended; it ends when
    /// the PCIe port has taken the last of it, its completion record included.
    pub channel_status_write_busy: Signal<In, Bit>,
    /// CHANNEL_STATUS.read_busy: A read descriptor was accepted and has not ended; it ends when the
    /// PCIe port has taken its completion record.
    pub channel_status_read_busy: Signal<In, Bit>,
    /// CHANNEL_MODERATION: written in this cycle with `writedata`. Moderation of the selected
    /// channel's interrupts. A descriptor with `urgent` is never held back. Both 0 after reset: no
    /// moderation.
    pub channel_moderation_we: Signal<Out, Bit>,
    /// CHANNEL_RING_LO: written in this cycle with `writedata`. Completion ring of the selected
    /// channel. Writing the low word with `enable` set starts the ring at its first slot, on the
    /// first lap; so write the high word first. Only while the channel has nothing under way. From
    /// then on the channel accepts at most as many descriptors as the ring has slots, and one more
    /// for each that a doorbell says is freed: no record is written over one that was not read. The
    /// value is handed to the block and cannot be read back: a ring is the driver's own memory.
    pub channel_ring_lo_we: Signal<Out, Bit>,
    /// CHANNEL_RING_HI: written in this cycle with `writedata`. Completion ring of the selected
    /// channel. Writing the low word with `enable` set starts the ring at its first slot, on the
    /// first lap; so write the high word first. Only while the channel has nothing under way. From
    /// then on the channel accepts at most as many descriptors as the ring has slots, and one more
    /// for each that a doorbell says is freed: no record is written over one that was not read. The
    /// value is handed to the block and cannot be read back: a ring is the driver's own memory.
    pub channel_ring_hi_we: Signal<Out, Bit>,
    /// CHANNEL_MEM_BASE: written in this cycle with `writedata`. First byte of the selected
    /// channel's range of FPGA memory.
    pub channel_mem_base_we: Signal<Out, Bit>,
    /// CHANNEL_MEM_END: written in this cycle with `writedata`. First byte behind the selected
    /// channel's range of FPGA memory. A descriptor whose local addresses are not all inside ends
    /// with LOCAL_RANGE. After reset base and end are 0: nothing is inside.
    pub channel_mem_end_we: Signal<Out, Bit>,
    act: Signal<Local, Bit>,
    readdata_reg: DFF<Bits<32>>,
    control_enable_reg: DFF<Bit>,
    control_irq_enable_reg: DFF<Bit>,
    control_reset_reg: DFF<Bit>,
    irq_status_completion_reg: DFF<Bit>,
    irq_status_error_reg: DFF<Bit>,
    irq_status_refused_reg: DFF<Bit>,
    port_timeout_cycles_reg: DFF<Bits<32>>,
    port_pace_rate_reg: DFF<Bits<16>>,
    quarantine_drop_owed_reg: DFF<Bit>,
    att_owner_lo_channels_reg: DFF<Bits<32>>,
    att_owner_hi_channels_reg: DFF<Bits<32>>,
    att_flush_lo_address_reg: DFF<Bits<26>>,
    att_flush_hi_address_reg: DFF<Bits<32>>,
    channel_select_channel_reg: DFF<Bits<6>>,
    read_reg: DFF<Bit>,
    address_reg: DFF<Bits<8>>,
}

impl Logic for CsrRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            readdata_reg,
            control_enable_reg,
            control_irq_enable_reg,
            control_reset_reg,
            irq_status_completion_reg,
            irq_status_error_reg,
            irq_status_refused_reg,
            port_timeout_cycles_reg,
            port_pace_rate_reg,
            quarantine_drop_owed_reg,
            att_owner_lo_channels_reg,
            att_owner_hi_channels_reg,
            att_flush_lo_address_reg,
            att_flush_hi_address_reg,
            channel_select_channel_reg,
            read_reg,
            address_reg
        );
        self.readdata.next = self.readdata_reg.q.val();
        self.act.next = self.write.val() & self.byteenable.val().all();
        self.control_enable.next = self.control_enable_reg.q.val();
        self.control_irq_enable.next = self.control_irq_enable_reg.q.val();
        self.control_reset.next = self.control_reset_reg.q.val();
        self.irq_status_completion.next = self.irq_status_completion_reg.q.val();
        self.irq_status_error.next = self.irq_status_error_reg.q.val();
        self.irq_status_refused.next = self.irq_status_refused_reg.q.val();
        self.port_timeout_cycles.next = self.port_timeout_cycles_reg.q.val();
        self.port_pace_rate.next = self.port_pace_rate_reg.q.val();
        self.quarantine_drop_owed.next = self.quarantine_drop_owed_reg.q.val();
        self.counter_snapshot_we.next = self.act.val() & (self.address.val() == 11);
        self.att_owner_channels.next = bit_cast::<64, 32>(self.att_owner_lo_channels_reg.q.val()) | (bit_cast::<64, 32>(self.att_owner_hi_channels_reg.q.val()) << 32);
        self.att_invalidate_we.next = self.act.val() & (self.address.val() == 14);
        self.att_flush_address.next = bit_cast::<58, 26>(self.att_flush_lo_address_reg.q.val()) | (bit_cast::<58, 32>(self.att_flush_hi_address_reg.q.val()) << 26);
        self.window_lo_we.next = self.act.val() & (self.address.val().get_bits::<7>(1) == 14) & !self.address.val().get_bit(0);
        self.window_hi_we.next = self.act.val() & (self.address.val().get_bits::<7>(1) == 14) & self.address.val().get_bit(0);
        self.channel_select_channel.next = self.channel_select_channel_reg.q.val();
        self.channel_control_we.next = self.act.val() & (self.address.val() == 33);
        self.channel_moderation_we.next = self.act.val() & (self.address.val() == 35);
        self.channel_ring_lo_we.next = self.act.val() & (self.address.val().get_bits::<7>(1) == 18) & !self.address.val().get_bit(0);
        self.channel_ring_hi_we.next = self.act.val() & (self.address.val().get_bits::<7>(1) == 18) & self.address.val().get_bit(0);
        self.channel_mem_base_we.next = self.act.val() & (self.address.val() == 38);
        self.channel_mem_end_we.next = self.act.val() & (self.address.val() == 39);
        // Writes.
        self.control_reset_reg.d.next = false;
        if self.act.val() & (self.address.val() == 4) {
            self.control_enable_reg.d.next = self.writedata.val().get_bit(0);
            self.control_irq_enable_reg.d.next = self.writedata.val().get_bit(1);
            self.control_reset_reg.d.next = self.writedata.val().get_bit(8);
        }
        if self.act.val() & (self.address.val() == 6) {
            self.irq_status_completion_reg.d.next = self.irq_status_completion_reg.q.val() & !self.writedata.val().get_bit(0);
            self.irq_status_error_reg.d.next = self.irq_status_error_reg.q.val() & !self.writedata.val().get_bit(1);
            self.irq_status_refused_reg.d.next = self.irq_status_refused_reg.q.val() & !self.writedata.val().get_bit(2);
        }
        if self.irq_status_completion_set.val() {
            self.irq_status_completion_reg.d.next = true;
        }
        if self.irq_status_error_set.val() {
            self.irq_status_error_reg.d.next = true;
        }
        if self.irq_status_refused_set.val() {
            self.irq_status_refused_reg.d.next = true;
        }
        if self.act.val() & (self.address.val() == 8) {
            self.port_timeout_cycles_reg.d.next = self.writedata.val();
        }
        if self.act.val() & (self.address.val() == 9) {
            self.port_pace_rate_reg.d.next = self.writedata.val().get_bits::<16>(0);
        }
        self.quarantine_drop_owed_reg.d.next = false;
        if self.act.val() & (self.address.val() == 10) {
            self.quarantine_drop_owed_reg.d.next = self.writedata.val().get_bit(0);
        }
        if self.act.val() & (self.address.val() == 12) {
            self.att_owner_lo_channels_reg.d.next = self.writedata.val();
        }
        if self.act.val() & (self.address.val() == 13) {
            self.att_owner_hi_channels_reg.d.next = self.writedata.val();
        }
        if self.act.val() & (self.address.val() == 16) {
            self.att_flush_lo_address_reg.d.next = self.writedata.val().get_bits::<26>(6);
        }
        if self.act.val() & (self.address.val() == 17) {
            self.att_flush_hi_address_reg.d.next = self.writedata.val();
        }
        if self.act.val() & (self.address.val() == 32) {
            self.channel_select_channel_reg.d.next = self.writedata.val().get_bits::<6>(0);
        }
        // Reads: registered, and 0 where nothing is.
        self.read_reg.d.next = self.read.val();
        self.address_reg.d.next = self.address.val();
        if self.read_reg.q.val() {
            self.readdata_reg.d.next = 0u64.into();
            if self.address_reg.q.val().get_bits::<2>(6) == 0 {
                if self.address_reg.q.val().get_bit(5) {
                    if self.address_reg.q.val().get_bits::<3>(2) == 0 {
                        if self.address_reg.q.val().get_bit(1) {
                            if !self.address_reg.q.val().get_bit(0) {
                                self.readdata_reg.d.next = bit_cast::<32, 1>(self.channel_status_write_busy.val().into()) | (bit_cast::<32, 1>(self.channel_status_read_busy.val().into()) << 1);
                            }
                        } else {
                            if self.address_reg.q.val().get_bit(0) {
                                self.readdata_reg.d.next = bit_cast::<32, 1>(self.channel_control_accept.val().into()) | (bit_cast::<32, 1>(self.channel_control_run.val().into()) << 1) | (bit_cast::<32, 1>(self.channel_control_abort.val().into()) << 2);
                            } else {
                                self.readdata_reg.d.next = bit_cast::<32, 6>(self.channel_select_channel_reg.q.val());
                            }
                        }
                    }
                } else {
                    if self.address_reg.q.val().get_bit(4) {
                        if self.address_reg.q.val().get_bit(3) {
                            if self.address_reg.q.val().get_bits::<2>(1) == 2 {
                                if self.address_reg.q.val().get_bit(0) {
                                    self.readdata_reg.d.next = bit_cast::<32, 8>(self.window_base.val().get_bits::<8>(16));
                                } else {
                                    self.readdata_reg.d.next = bit_cast::<32, 16>(self.window_base.val().get_bits::<16>(0)) << 16;
                                }
                            }
                        } else {
                            if self.address_reg.q.val().get_bit(2) {
                                if !self.address_reg.q.val().get_bit(1) {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 16>(self.link_losses_unexpected.val()) | (bit_cast::<32, 16>(self.link_losses_expired.val()) << 16);
                                    } else {
                                        self.readdata_reg.d.next = bit_cast::<32, 16>(self.link_errors_poisoned.val()) | (bit_cast::<32, 16>(self.link_errors_malformed.val()) << 16);
                                    }
                                }
                            } else {
                                if self.address_reg.q.val().get_bit(1) {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 16>(self.link_refusals_unsupported.val()) | (bit_cast::<32, 16>(self.link_refusals_aborted.val()) << 16);
                                    } else {
                                        self.readdata_reg.d.next = bit_cast::<32, 3>(self.link_max_payload.val()) | (bit_cast::<32, 3>(self.link_max_request.val()) << 4) | (bit_cast::<32, 8>(self.link_read_tags.val()) << 8) | (bit_cast::<32, 8>(self.link_completion_space.val()) << 16) | (bit_cast::<32, 1>(self.link_rx_failed.val().into()) << 24);
                                    }
                                } else {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.att_flush_hi_address_reg.q.val();
                                    } else {
                                        self.readdata_reg.d.next = bit_cast::<32, 26>(self.att_flush_lo_address_reg.q.val()) << 6;
                                    }
                                }
                            }
                        }
                    } else {
                        if self.address_reg.q.val().get_bit(3) {
                            if self.address_reg.q.val().get_bit(2) {
                                if self.address_reg.q.val().get_bit(1) {
                                    if !self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = (bit_cast::<32, 1>(self.att_invalidate_busy.val().into()) << 1) | (bit_cast::<32, 1>(self.att_invalidate_failed.val().into()) << 3);
                                    }
                                } else {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.att_owner_hi_channels_reg.q.val();
                                    } else {
                                        self.readdata_reg.d.next = self.att_owner_lo_channels_reg.q.val();
                                    }
                                }
                            } else {
                                if self.address_reg.q.val().get_bit(1) {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.counter_snapshot_busy.val().into()) << 1;
                                    }
                                } else {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 16>(self.port_pace_rate_reg.q.val());
                                    } else {
                                        self.readdata_reg.d.next = self.port_timeout_cycles_reg.q.val();
                                    }
                                }
                            }
                        } else {
                            if self.address_reg.q.val().get_bit(2) {
                                if self.address_reg.q.val().get_bit(1) {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 8>(self.caps2_reads_log2.val()) | (bit_cast::<32, 1>(self.caps2_tagged.val().into()) << 8) | (bit_cast::<32, 1>(self.caps2_msix.val().into()) << 9) | (bit_cast::<32, 1>(self.caps2_tlp.val().into()) << 10) | (bit_cast::<32, 2>(self.caps2_write_granularity_log2.val()) << 12);
                                    } else {
                                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.irq_status_completion_reg.q.val().into()) | (bit_cast::<32, 1>(self.irq_status_error_reg.q.val().into()) << 1) | (bit_cast::<32, 1>(self.irq_status_refused_reg.q.val().into()) << 2);
                                    }
                                } else {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.status_write_busy.val().into()) | (bit_cast::<32, 1>(self.status_read_busy.val().into()) << 1) | (bit_cast::<32, 1>(self.status_read_quarantine.val().into()) << 2) | (bit_cast::<32, 1>(self.status_att_sweep.val().into()) << 3) | (bit_cast::<32, 1>(self.status_completer_busy.val().into()) << 4) | (bit_cast::<32, 1>(self.status_port_dead.val().into()) << 5) | (bit_cast::<32, 1>(self.status_port_lost.val().into()) << 6);
                                    } else {
                                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.control_enable_reg.q.val().into()) | (bit_cast::<32, 1>(self.control_irq_enable_reg.q.val().into()) << 1);
                                    }
                                }
                            } else {
                                if self.address_reg.q.val().get_bit(1) {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 8>(self.caps1_queue_log2.val()) | (bit_cast::<32, 8>(self.caps1_att_log2.val()) << 8) | (bit_cast::<32, 8>(self.caps1_max_burst_log2.val()) << 16) | (bit_cast::<32, 8>(self.caps1_mem_addr_bits.val()) << 24);
                                    } else {
                                        self.readdata_reg.d.next = bits::<32>(0x1u64) | (bit_cast::<32, 8>(self.caps0_channels.val()) << 8) | (bit_cast::<32, 8>(self.caps0_port_bytes.val()) << 16) | (bit_cast::<32, 8>(self.caps0_txs_addr_bits.val()) << 24);
                                    }
                                } else {
                                    if self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.build_id.val();
                                    } else {
                                        self.readdata_reg.d.next = bits::<32>(0xd4f49f9au64);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        if self.reset.val() {
            self.control_enable_reg.d.next = false;
            self.control_irq_enable_reg.d.next = false;
            self.control_reset_reg.d.next = false;
            self.irq_status_completion_reg.d.next = false;
            self.irq_status_error_reg.d.next = false;
            self.irq_status_refused_reg.d.next = false;
            self.port_timeout_cycles_reg.d.next = 12500000u64.into();
            self.port_pace_rate_reg.d.next = 0u64.into();
            self.quarantine_drop_owed_reg.d.next = false;
            self.att_owner_lo_channels_reg.d.next = 0u64.into();
            self.att_owner_hi_channels_reg.d.next = 0u64.into();
            self.att_flush_lo_address_reg.d.next = 0u64.into();
            self.att_flush_hi_address_reg.d.next = 0u64.into();
            self.channel_select_channel_reg.d.next = 0u64.into();
            self.read_reg.d.next = false;
        }
    }
}