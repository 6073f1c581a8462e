// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the block `csr`: decoder, flip-flops and read multiplexer of its Avalon-MM
//! slave.
//!
//! Reads have a latency of two cycles and hold their value until the next. Writes act only with all
//! byte enables set. A stored field or a pulse changes in the cycle after the write; a `_we` strobe
//! and its index are valid in the cycle of the write, together with the slave's `writedata`.

use peerlane_verilog::DocBlock;
use peerlane_language::*;

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
    /// BUILD_ID.value: First 32 bits of the SHA-256 of two lines of the board's description:
    /// MAP_ID, and the build parameters.
    pub build_id: Signal<In, Bits<32>>,
    /// CAPS0.channels: Number of channels. Each has a channel page of 4 KiB.
    pub caps0_channels: Signal<In, Bits<8>>,
    /// CAPS0.port_bytes: Width of the PCIe port: 16 (128-bit) or 32 (256-bit).
    pub caps0_port_bytes: Signal<In, Bits<8>>,
    /// CAPS0.txs_addr_bits: Width of the addresses that the PCIe port takes. 64: an ATT entry holds
    /// a PCIe bus address. 32: an ATT entry holds an address inside the hard IP's own translation
    /// windows.
    pub caps0_txs_addr_bits: Signal<In, Bits<8>>,
    /// CAPS1.queue_log2: Number of descriptors that all queues of one direction hold together. Each
    /// channel has an equal share: 2^queue_log2 / channels.
    pub caps1_queue_log2: Signal<In, Bits<8>>,
    /// CAPS1.att_log2: Number of ATT entries.
    pub caps1_att_log2: Signal<In, Bits<8>>,
    /// CAPS1.max_burst_log2: Longest request that the block makes at the PCIe port.
    pub caps1_max_burst_log2: Signal<In, Bits<8>>,
    /// CAPS1.mem_addr_bits: Bytes of FPGA memory, log2. A descriptor that reaches beyond the end of
    /// FPGA memory ends with LENGTH and moves nothing.
    pub caps1_mem_addr_bits: Signal<In, Bits<8>>,
    /// CONTROL.enable: 1: queued descriptors are executed. 0: no new descriptor is started; a
    /// running descriptor is finished.
    pub control_enable: Signal<Out, Bit>,
    /// CONTROL.irq_enable: 1: the interrupt line is high while any bit of IRQ_STATUS is set. 0: the
    /// line is low; IRQ_STATUS is not affected.
    pub control_irq_enable: Signal<Out, Bit>,
    /// CONTROL.reset: Write 1: every accepted descriptor ends with ABORTED, a running one at its
    /// next request. Doorbells are refused until STATUS.write_busy, read_busy and completer_busy
    /// read 0. The ATT, the rings and all settings do not change. Completions that are still owed
    /// to reads stay counted (STATUS.read_quarantine).
    pub control_reset: Signal<Out, Bit>,
    /// STATUS.write_busy: 1: a write descriptor (FPGA to peer) of any channel is queued or in
    /// progress, or the PCIe port has not yet taken the last of it.
    pub status_write_busy: Signal<In, Bit>,
    /// STATUS.read_busy: 1: a read descriptor (peer to FPGA) of any channel is queued or in
    /// progress, or the PCIe port has not yet taken the last of it.
    pub status_read_busy: Signal<In, Bit>,
    /// STATUS.read_quarantine: 1: a completion is still owed to a read that timed out, or that was
    /// in progress when the block was reset from the side of FPGA memory alone. The part in
    /// quarantine issues no read until every completion that is owed to it has arrived and been
    /// dropped. That part is the whole read port where answers come in order (`Txs`), and the tag
    /// of the read where reads have tags. In the second case the driver can also end the quarantine
    /// by a write to QUARANTINE.
    pub status_read_quarantine: Signal<In, Bit>,
    /// STATUS.att_sweep: 1: the ATT is being cleared after a reset of the block. Wait for 0 before
    /// the first write to the ATT.
    pub status_att_sweep: Signal<In, Bit>,
    /// STATUS.completer_busy: 1: a completion record waits to be sent, or the PCIe port has not yet
    /// taken it. Also 1 while the PCIe port has not taken all of a burst that began before the
    /// block was reset from the side of FPGA memory.
    pub status_completer_busy: Signal<In, Bit>,
    /// STATUS.port_dead: 1: the PCIe port has not taken a request or a beat of data for
    /// PORT_TIMEOUT. Everything that the engines send is dropped, and its descriptors end with
    /// PORT_DOWN. So every descriptor ends. Or the receive side has failed (LINK.rx_failed): reads
    /// end without data, or not at all, and writes continue. A port that continues (Bus Master
    /// Enable is set again, the link is back) first takes the rest of the interrupted burst: up to
    /// 512 bytes, of which all but the first beat may be zeros. Then the port opens by itself,
    /// which sets IRQ_STATUS.error. CONTROL.reset does not open a dead port. The block's reset
    /// inputs open it (a new configuration of the FPGA, or a reset of the link that the hard IP
    /// passes on), and a receive side that has failed needs them. Completion records of the time in
    /// which the port is dead are lost. So the ring of each channel that had a descriptor in
    /// progress must be set again. Registered memory must not be released before a fence has ended
    /// while this bit read 0.
    pub status_port_dead: Signal<In, Bit>,
    /// STATUS.port_lost: 1: the PCIe port was dead at some time since the last reset of the block
    /// or CONTROL.reset. The port may be open again (port_dead reads 0), but the completion records
    /// and writes of the time in which it was dead are lost. So software resets the block and
    /// reports the transfers that were in progress as failed.
    pub status_port_lost: Signal<In, Bit>,
    /// IRQ_STATUS.completion: A descriptor with `irq` set has ended, and the moderation of its
    /// channel lets the interrupt through. The PCIe port has taken the completion record before.
    pub irq_status_completion: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.completion.
    pub irq_status_completion_set: Signal<In, Bit>,
    /// IRQ_STATUS.error: A descriptor has ended with a status code other than OK. Or a dead port
    /// has opened again (STATUS.port_dead): the completion records and interrupt messages of the
    /// time in which it was dead are lost.
    pub irq_status_error: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.error.
    pub irq_status_error_set: Signal<In, Bit>,
    /// IRQ_STATUS.refused: A doorbell of any channel was refused. The REFUSED register of the
    /// channel shows which doorbell it was.
    pub irq_status_refused: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.refused.
    pub irq_status_refused_set: Signal<In, Bit>,
    /// CAPS2.reads_log2: Number of read requests that can be in progress between the request maker
    /// and FPGA memory.
    pub caps2_reads_log2: Signal<In, Bits<8>>,
    /// CAPS2.tagged: 1: the PCIe port is a tagged stream, whose completions carry a status. 0: the
    /// PCIe port is an Avalon-MM `Txs` port, which answers in order.
    pub caps2_tagged: Signal<In, Bit>,
    /// CAPS2.msix: 1: the block has an MSI-X table. 0: the block has the interrupt line only.
    pub caps2_msix: Signal<In, Bit>,
    /// CAPS2.tlp: 1: the block has a transaction layer of its own on the hard IP's Avalon-ST
    /// interface. LINK, LINK_REFUSALS, LINK_ERRORS and LINK_LOSSES report the state of that layer.
    pub caps2_tlp: Signal<In, Bit>,
    /// CAPS2.write_granularity_log2: Granularity of writes at the peer. 0: a write may begin and
    /// end at any byte. 2: the first address and the end of a write must be multiples of 4 bytes,
    /// otherwise the write ends with ALIGNMENT. The reason: `Txs` of the V-series hard IP enables
    /// whole dwords only. Addresses in FPGA memory, and reads, may have any alignment.
    pub caps2_write_granularity_log2: Signal<In, Bits<2>>,
    /// PORT_TIMEOUT.cycles: A read request that is not answered for this time ends with
    /// READ_TIMEOUT, and its missing answer puts the read port, or the tag of the request, into
    /// quarantine (STATUS.read_quarantine). A port that takes no request or beat of data for this
    /// time is dead (STATUS.port_dead). The reset value is 50 ms at 250 MHz. 0: neither has a time
    /// limit.
    pub port_timeout_cycles: Signal<Out, Bits<32>>,
    /// PORT_PACE.rate: Bytes that the link carries towards the host, headers and framing included,
    /// less 1 to 2 % for the traffic that the block does not see. While reads are in progress,
    /// writes are sent no faster than this. 0: writes are sent as fast as the port takes them.
    pub port_pace_rate: Signal<Out, Bits<16>>,
    /// QUARANTINE.drop_owed: Write 1: the block no longer expects the completions that are still
    /// owed, and opens the read port or the lost tags. This is only correct after a link reset or a
    /// similar event has made sure that none of these completions can still come: a late completion
    /// would be taken as the answer to a new read. It has no effect on `Txs`: the hard IP's bridge
    /// answers in order and still expects the old completions. So until the bridge's own reset, a
    /// new read would get the data of the old read, or no data.
    pub quarantine_drop_owed: Signal<Out, Bit>,
    /// COUNTER_SNAPSHOT: written in this cycle with `writedata`. Snapshot of the counters. All
    /// counters are copied at once. So both words of each counter, and all counters together,
    /// belong to the same cycle.
    pub counter_snapshot_we: Signal<Out, Bit>,
    /// COUNTER_SNAPSHOT.busy: 1: the snapshot is not yet complete. Read the counters when this is
    /// 0. A `take` that is written while a snapshot is busy starts the next one after it.
    pub counter_snapshot_busy: Signal<In, Bit>,
    /// ATT_OWNER.channels: One bit for each channel. This mask is stored with an ATT entry when the
    /// high word of the entry is written. A channel whose bit is 0 cannot use the entry.
    pub att_owner_channels: Signal<Out, Bits<64>>,
    /// ATT_INVALIDATE: written in this cycle with `writedata`. Fence for changes of the ATT. Write
    /// the entries, then write 1 to `start`. When `busy` reads 0, every request that was translated
    /// with older entries has ended: reads were answered or abandoned, writes were taken by the
    /// PCIe port. With `flush`, the writes have also arrived at the peer that ATT_FLUSH addresses,
    /// unless `failed` reads 1. A start during a reset of the block is lost. Software notices this
    /// by CONTROL.enable, which that reset clears.
    pub att_invalidate_we: Signal<Out, Bit>,
    /// ATT_INVALIDATE.busy: 1: the fence is not yet reached, or the PCIe port has not taken all of
    /// a burst that began before the block was reset from the side of FPGA memory. Transfers of all
    /// channels continue during a fence.
    pub att_invalidate_busy: Signal<In, Bit>,
    /// ATT_INVALIDATE.failed: 1: the last fence with `flush` was reached without an answer to its
    /// read. The read was abandoned, or was not sent because reads were in quarantine or the port
    /// was dead. In this case writes may still be on their way.
    pub att_invalidate_failed: Signal<In, Bit>,
    /// ATT_FLUSH.address: Bits 63:6 of the bus address. The block reads the first bytes there, as
    /// many as the port is wide.
    pub att_flush_address: Signal<Out, Bits<58>>,
    /// LINK.max_payload: Max Payload Size: 128 bytes shifted left by this value.
    pub link_max_payload: Signal<In, Bits<3>>,
    /// LINK.max_request: Max Read Request Size: 128 bytes shifted left by this value. No read is
    /// longer than that, or longer than 512 bytes.
    pub link_max_request: Signal<In, Bits<3>>,
    /// LINK.read_tags: Number of tags for reads of data: 56 while software has set Extended Tag
    /// Field Enable, else 24. Flush reads have eight additional tags.
    pub link_read_tags: Signal<In, Bits<8>>,
    /// LINK.completion_space: Number of completions that the hard IP's receive buffer has room for.
    /// A read takes the room of one completion for each line of 64 bytes that it touches.
    pub link_completion_space: Signal<In, Bits<8>>,
    /// LINK.rx_failed: 1: the receive side has failed. Either the hard IP has lost data, and no
    /// read ends with data until a reset of the PCIe side. Or abandoned reads occupy all tags or
    /// all room for completions, and reads end with READ_TIMEOUT. STATUS.port_dead is also 1 then.
    pub link_rx_failed: Signal<In, Bit>,
    /// LINK_REFUSALS.unsupported: Completions with Unsupported Request, or with a status that is
    /// reserved.
    pub link_refusals_unsupported: Signal<In, Bits<16>>,
    /// LINK_REFUSALS.aborted: Completions with Completer Abort.
    pub link_refusals_aborted: Signal<In, Bits<16>>,
    /// LINK_ERRORS.poisoned: Completions whose data are marked as wrong.
    pub link_errors_poisoned: Signal<In, Bits<16>>,
    /// LINK_ERRORS.malformed: Completions whose address, byte count or length does not fit the
    /// read.
    pub link_errors_malformed: Signal<In, Bits<16>>,
    /// LINK_LOSSES.unexpected: Completions that belong to no read.
    pub link_losses_unexpected: Signal<In, Bits<16>>,
    /// LINK_LOSSES.expired: Reads that were abandoned because no further completion came in time.
    pub link_losses_expired: Signal<In, Bits<16>>,
    /// CAPS3.inputs: Number of streams from the logic to peers. They are numbered from 0.
    pub caps3_inputs: Signal<In, Bits<5>>,
    /// CAPS3.outputs: Number of streams from peers to the logic. They are numbered from 0.
    pub caps3_outputs: Signal<In, Bits<5>>,
    /// WINDOW_LO: written in this cycle with `writedata`. Place of the host's 64 KiB memory window
    /// (`s_nondma`) in the FPGA memory. A reset does not change it: a process that uses the window
    /// while another process resets the block continues to see its own memory. The offset is the
    /// offset of the window control of `acl_dma`.
    pub window_lo_we: Signal<Out, Bit>,
    /// WINDOW_HI: written in this cycle with `writedata`. Place of the host's 64 KiB memory window
    /// (`s_nondma`) in the FPGA memory. A reset does not change it: a process that uses the window
    /// while another process resets the block continues to see its own memory. The offset is the
    /// offset of the window control of `acl_dma`.
    pub window_hi_we: Signal<Out, Bit>,
    /// WINDOW.base: Bits 39:16 of the byte address in FPGA memory that the first byte of the window
    /// shows.
    pub window_base: Signal<In, Bits<24>>,
    /// CHANNEL_SELECT.channel: Number of a channel of this build. With any other number, writes
    /// have no meaning.
    pub channel_select_channel: Signal<Out, Bits<6>>,
    /// CHANNEL_CONTROL: written in this cycle with `writedata`. Control of the selected channel:
    /// run, drain and abort. To drain: clear `accept`, wait until CHANNEL_STATUS reads 0. To abort:
    /// clear `accept`, set `abort`, wait until CHANNEL_STATUS reads 0, clear `abort`. Both take
    /// bounded time unless PORT_TIMEOUT is 0: PORT_TIMEOUT ends the wait for a read that is not
    /// answered, and for a port that takes nothing.
    pub channel_control_we: Signal<Out, Bit>,
    /// CHANNEL_CONTROL.accept: 1: doorbells are accepted. 0: doorbells are refused; queued
    /// descriptors continue.
    pub channel_control_accept: Signal<In, Bit>,
    /// CHANNEL_CONTROL.run: 1: queued descriptors are executed. 0: no further descriptor is
    /// started; a running descriptor is finished.
    pub channel_control_run: Signal<In, Bit>,
    /// CHANNEL_CONTROL.abort: 1: every accepted descriptor ends with ABORTED, a running one at its
    /// next request. The value of `run` does not matter.
    pub channel_control_abort: Signal<In, Bit>,
    /// CHANNEL_STATUS.write_busy: 1: a write descriptor was accepted and has not ended. It ends
    /// when the PCIe port has taken the last of it, its completion record included.
    pub channel_status_write_busy: Signal<In, Bit>,
    /// CHANNEL_STATUS.read_busy: 1: a read descriptor was accepted and has not ended. It ends when
    /// the PCIe port has taken its completion record.
    pub channel_status_read_busy: Signal<In, Bit>,
    /// CHANNEL_MODERATION: written in this cycle with `writedata`. Moderation of the selected
    /// channel's interrupts. The interrupt of a descriptor with `urgent` is never held back. After
    /// reset both fields are 0: no moderation.
    pub channel_moderation_we: Signal<Out, Bit>,
    /// CHANNEL_RING_LO: written in this cycle with `writedata`. Completion ring of the selected
    /// channel. A write of the low word with `enable` set starts the ring at its first slot, on the
    /// first lap. So write the high word first. Write this register only while the channel has no
    /// descriptor in progress. From then on the channel accepts at most as many descriptors as the
    /// ring has slots, and one more for each descriptor that a doorbell reports as freed. So no
    /// record overwrites a record that was not read. The value is passed to the block and cannot be
    /// read back: a ring is the driver's own memory.
    pub channel_ring_lo_we: Signal<Out, Bit>,
    /// CHANNEL_RING_HI: written in this cycle with `writedata`. Completion ring of the selected
    /// channel. A write of the low word with `enable` set starts the ring at its first slot, on the
    /// first lap. So write the high word first. Write this register only while the channel has no
    /// descriptor in progress. From then on the channel accepts at most as many descriptors as the
    /// ring has slots, and one more for each descriptor that a doorbell reports as freed. So no
    /// record overwrites a record that was not read. The value is passed to the block and cannot be
    /// read back: a ring is the driver's own memory.
    pub channel_ring_hi_we: Signal<Out, Bit>,
    /// CHANNEL_MEM_BASE: written in this cycle with `writedata`. First byte of the selected
    /// channel's range of FPGA memory.
    pub channel_mem_base_we: Signal<Out, Bit>,
    /// CHANNEL_MEM_END: written in this cycle with `writedata`. First byte after the selected
    /// channel's range of FPGA memory. A descriptor whose local addresses are not all inside the
    /// range ends with LOCAL_RANGE. After reset base and end are 0: no address is inside.
    pub channel_mem_end_we: Signal<Out, Bit>,
    /// STREAM_SELECT: written in this cycle with `writedata`. Selection of the stream that the
    /// registers from STREAM_CONTROL to STREAM_STATUS belong to. Software that uses these registers
    /// from several places needs a lock around selection and access.
    pub stream_select_we: Signal<Out, Bit>,
    /// STREAM_CONTROL: written in this cycle with `writedata`. Owner of the selected stream. Only
    /// descriptors of this channel move the data of the stream; those of another channel end with
    /// LOCAL_RANGE. A write with another owner closes an open stream.
    pub stream_control_we: Signal<Out, Bit>,
    /// STREAM_LIMIT: written in this cycle with `writedata`. Time limit of the blocks of the
    /// selected stream. Only a stream from the logic has it.
    pub stream_limit_we: Signal<Out, Bit>,
    /// STREAM_STATUS.open: 1: the stream is open. It becomes 1 some cycles of the stream's clock
    /// after STREAM_CONTROL.enable, and 0 some cycles after the stream was closed. It stays 0 while
    /// the stream's clock does not run.
    pub stream_status_open: Signal<In, Bit>,
    /// STREAM_STATUS.waiting: Of a stream from the logic: bytes that a descriptor can have at once;
    /// the FIFO between the two clocks can have more. Of a stream to the logic: bytes of its buffer
    /// that are in use, by data that the logic has not taken and by requests under way.
    pub stream_status_waiting: Signal<In, Bits<16>>,
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
        self.stream_select_we.next = self.act.val() & (self.address.val() == 40);
        self.stream_control_we.next = self.act.val() & (self.address.val() == 41);
        self.stream_limit_we.next = self.act.val() & (self.address.val() == 42);
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
        // Reads: registered; 0 at unused addresses.
        self.read_reg.d.next = self.read.val();
        self.address_reg.d.next = self.address.val();
        if self.read_reg.q.val() {
            self.readdata_reg.d.next = 0u64.into();
            if self.address_reg.q.val().get_bits::<2>(6) == 0 {
                if self.address_reg.q.val().get_bit(5) {
                    if !self.address_reg.q.val().get_bit(4) {
                        if self.address_reg.q.val().get_bit(3) {
                            if self.address_reg.q.val().get_bits::<3>(0) == 3 {
                                self.readdata_reg.d.next = bit_cast::<32, 1>(self.stream_status_open.val().into()) | (bit_cast::<32, 16>(self.stream_status_waiting.val()) << 16);
                            }
                        } else {
                            if !self.address_reg.q.val().get_bit(2) {
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
                                if self.address_reg.q.val().get_bit(1) {
                                    if !self.address_reg.q.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 5>(self.caps3_inputs.val()) | (bit_cast::<32, 5>(self.caps3_outputs.val()) << 8);
                                    }
                                } else {
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
                                        self.readdata_reg.d.next = bits::<32>(0xcf9e15f3u64);
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