// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers, records and codes of the register map `peerlane`, version 1.
//!
//! Offsets are in bytes. A 64-bit register has a constant for each of its 32-bit words. Records
//! hold integers of the CPU's byte order; `to_bytes` and `from_bytes` convert from and to the little
//! endian form in memory.

/// Hash of the map, the value of MAP_ID. Refuse hardware with another hash.
pub const MAP_ID: u32 = 0xcf9e_15f3;

/// Version of the map.
pub const MAP_VERSION: u32 = 1;

/// Control and status of the whole block, at the base address of the control port of the BSP's
/// `acl_dma`. Only the driver maps this block.
pub mod csr {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x400;
    /// Byte offset of MAP_ID. Identification of this register map. Software refuses a block
    /// whose value differs from its own.
    pub const MAP_ID: usize = 0x0;
    /// Mask of MAP_ID.value (bits 31:0, ro). First 32 bits of the SHA-256 of the map's
    /// canonical form. The value changes with every change of an address, a field, a record or
    /// a code. It does not change with the wording.
    pub const MAP_ID_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const MAP_ID_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const MAP_ID_VALUE_WIDTH: usize = 32;
    /// Byte offset of BUILD_ID. Identification of this build of the block: the map, the
    /// parameters that it was generated with, the places of its slaves in the host's BAR, and
    /// the rest of the board's description.
    pub const BUILD_ID: usize = 0x4;
    /// Mask of BUILD_ID.value (bits 31:0, ro). First 32 bits of the SHA-256 of two lines of the
    /// board's description: MAP_ID, and the build parameters.
    pub const BUILD_ID_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const BUILD_ID_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const BUILD_ID_VALUE_WIDTH: usize = 32;
    /// Byte offset of CAPS0. Capabilities of this build, first word.
    pub const CAPS0: usize = 0x8;
    /// Mask of CAPS0.version (bits 7:0, ro). Version of the register map. It increases when
    /// software for the older map cannot drive the newer block.
    pub const CAPS0_VERSION_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const CAPS0_VERSION_LSB: usize = 0;
    /// Number of its bits.
    pub const CAPS0_VERSION_WIDTH: usize = 8;
    /// Mask of CAPS0.channels (bits 15:8, ro). Number of channels. Each has a channel page of 4
    /// KiB.
    pub const CAPS0_CHANNELS_MASK: u32 = 0x0000_ff00;
    /// Position of its lowest bit.
    pub const CAPS0_CHANNELS_LSB: usize = 8;
    /// Number of its bits.
    pub const CAPS0_CHANNELS_WIDTH: usize = 8;
    /// Mask of CAPS0.port_bytes (bits 23:16, ro). Width of the PCIe port: 16 (128-bit) or 32
    /// (256-bit).
    pub const CAPS0_PORT_BYTES_MASK: u32 = 0x00ff_0000;
    /// Position of its lowest bit.
    pub const CAPS0_PORT_BYTES_LSB: usize = 16;
    /// Number of its bits.
    pub const CAPS0_PORT_BYTES_WIDTH: usize = 8;
    /// Mask of CAPS0.txs_addr_bits (bits 31:24, ro). Width of the addresses that the PCIe port
    /// takes. 64: an ATT entry holds a PCIe bus address. 32: an ATT entry holds an address
    /// inside the hard IP's own translation windows.
    pub const CAPS0_TXS_ADDR_BITS_MASK: u32 = 0xff00_0000;
    /// Position of its lowest bit.
    pub const CAPS0_TXS_ADDR_BITS_LSB: usize = 24;
    /// Number of its bits.
    pub const CAPS0_TXS_ADDR_BITS_WIDTH: usize = 8;
    /// Byte offset of CAPS1. Capabilities of this build, second word.
    pub const CAPS1: usize = 0xc;
    /// Mask of CAPS1.queue_log2 (bits 7:0, ro). Number of descriptors that all queues of one
    /// direction hold together. Each channel has an equal share: 2^queue_log2 / channels.
    pub const CAPS1_QUEUE_LOG2_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const CAPS1_QUEUE_LOG2_LSB: usize = 0;
    /// Number of its bits.
    pub const CAPS1_QUEUE_LOG2_WIDTH: usize = 8;
    /// Mask of CAPS1.att_log2 (bits 15:8, ro). Number of ATT entries.
    pub const CAPS1_ATT_LOG2_MASK: u32 = 0x0000_ff00;
    /// Position of its lowest bit.
    pub const CAPS1_ATT_LOG2_LSB: usize = 8;
    /// Number of its bits.
    pub const CAPS1_ATT_LOG2_WIDTH: usize = 8;
    /// Mask of CAPS1.max_burst_log2 (bits 23:16, ro). Longest request that the block makes at
    /// the PCIe port.
    pub const CAPS1_MAX_BURST_LOG2_MASK: u32 = 0x00ff_0000;
    /// Position of its lowest bit.
    pub const CAPS1_MAX_BURST_LOG2_LSB: usize = 16;
    /// Number of its bits.
    pub const CAPS1_MAX_BURST_LOG2_WIDTH: usize = 8;
    /// Mask of CAPS1.mem_addr_bits (bits 31:24, ro). Bytes of FPGA memory, log2. A descriptor
    /// that reaches beyond the end of FPGA memory ends with LENGTH and moves nothing.
    pub const CAPS1_MEM_ADDR_BITS_MASK: u32 = 0xff00_0000;
    /// Position of its lowest bit.
    pub const CAPS1_MEM_ADDR_BITS_LSB: usize = 24;
    /// Number of its bits.
    pub const CAPS1_MEM_ADDR_BITS_WIDTH: usize = 8;
    /// Byte offset of CONTROL. Control of the block: run, stop and reset.
    pub const CONTROL: usize = 0x10;
    /// Mask of CONTROL.enable (bits 0, rw). 1: queued descriptors are executed. 0: no new
    /// descriptor is started; a running descriptor is finished.
    pub const CONTROL_ENABLE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const CONTROL_ENABLE_LSB: usize = 0;
    /// Number of its bits.
    pub const CONTROL_ENABLE_WIDTH: usize = 1;
    /// Mask of CONTROL.irq_enable (bits 1, rw). 1: the interrupt line is high while any bit of
    /// IRQ_STATUS is set. 0: the line is low; IRQ_STATUS is not affected.
    pub const CONTROL_IRQ_ENABLE_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const CONTROL_IRQ_ENABLE_LSB: usize = 1;
    /// Number of its bits.
    pub const CONTROL_IRQ_ENABLE_WIDTH: usize = 1;
    /// Mask of CONTROL.reset (bits 8, pulse). Write 1: every accepted descriptor ends with
    /// ABORTED, a running one at its next request. Doorbells are refused until
    /// STATUS.write_busy, read_busy and completer_busy read 0. The ATT, the rings and all
    /// settings do not change. Completions that are still owed to reads stay counted
    /// (STATUS.read_quarantine).
    pub const CONTROL_RESET_MASK: u32 = 0x0000_0100;
    /// Position of its lowest bit.
    pub const CONTROL_RESET_LSB: usize = 8;
    /// Number of its bits.
    pub const CONTROL_RESET_WIDTH: usize = 1;
    /// Byte offset of STATUS. State of the engines.
    pub const STATUS: usize = 0x14;
    /// Mask of STATUS.write_busy (bits 0, ro). 1: a write descriptor (FPGA to peer) of any
    /// channel is queued or in progress, or the PCIe port has not yet taken the last of it.
    pub const STATUS_WRITE_BUSY_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const STATUS_WRITE_BUSY_LSB: usize = 0;
    /// Number of its bits.
    pub const STATUS_WRITE_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.read_busy (bits 1, ro). 1: a read descriptor (peer to FPGA) of any
    /// channel is queued or in progress, or the PCIe port has not yet taken the last of it.
    pub const STATUS_READ_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const STATUS_READ_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const STATUS_READ_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.read_quarantine (bits 2, ro). 1: a completion is still owed to a read
    /// that timed out, or that was in progress when the block was reset from the side of FPGA
    /// memory alone. The part in quarantine issues no read until every completion that is owed
    /// to it has arrived and been dropped. That part is the whole read port where answers come
    /// in order (`Txs`), and the tag of the read where reads have tags. In the second case the
    /// driver can also end the quarantine by a write to QUARANTINE.
    pub const STATUS_READ_QUARANTINE_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const STATUS_READ_QUARANTINE_LSB: usize = 2;
    /// Number of its bits.
    pub const STATUS_READ_QUARANTINE_WIDTH: usize = 1;
    /// Mask of STATUS.att_sweep (bits 3, ro). 1: the ATT is being cleared after a reset of the
    /// block. Wait for 0 before the first write to the ATT.
    pub const STATUS_ATT_SWEEP_MASK: u32 = 0x0000_0008;
    /// Position of its lowest bit.
    pub const STATUS_ATT_SWEEP_LSB: usize = 3;
    /// Number of its bits.
    pub const STATUS_ATT_SWEEP_WIDTH: usize = 1;
    /// Mask of STATUS.completer_busy (bits 4, ro). 1: a completion record waits to be sent, or
    /// the PCIe port has not yet taken it. Also 1 while the PCIe port has not taken all of a
    /// burst that began before the block was reset from the side of FPGA memory.
    pub const STATUS_COMPLETER_BUSY_MASK: u32 = 0x0000_0010;
    /// Position of its lowest bit.
    pub const STATUS_COMPLETER_BUSY_LSB: usize = 4;
    /// Number of its bits.
    pub const STATUS_COMPLETER_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.port_dead (bits 5, ro). 1: the PCIe port has not taken a request or a
    /// beat of data for PORT_TIMEOUT. Everything that the engines send is dropped, and its
    /// descriptors end with PORT_DOWN. So every descriptor ends. Or the receive side has failed
    /// (LINK.rx_failed): reads end without data, or not at all, and writes continue. A port
    /// that continues (Bus Master Enable is set again, the link is back) first takes the rest
    /// of the interrupted burst: up to 512 bytes, of which all but the first beat may be zeros.
    /// Then the port opens by itself, which sets IRQ_STATUS.error. CONTROL.reset does not open
    /// a dead port. The block's reset inputs open it (a new configuration of the FPGA, or a
    /// reset of the link that the hard IP passes on), and a receive side that has failed needs
    /// them. Completion records of the time in which the port is dead are lost. So the ring of
    /// each channel that had a descriptor in progress must be set again. Registered memory must
    /// not be released before a fence has ended while this bit read 0.
    pub const STATUS_PORT_DEAD_MASK: u32 = 0x0000_0020;
    /// Position of its lowest bit.
    pub const STATUS_PORT_DEAD_LSB: usize = 5;
    /// Number of its bits.
    pub const STATUS_PORT_DEAD_WIDTH: usize = 1;
    /// Mask of STATUS.port_lost (bits 6, ro). 1: the PCIe port was dead at some time since the
    /// last reset of the block or CONTROL.reset. The port may be open again (port_dead reads
    /// 0), but the completion records and writes of the time in which it was dead are lost. So
    /// software resets the block and reports the transfers that were in progress as failed.
    pub const STATUS_PORT_LOST_MASK: u32 = 0x0000_0040;
    /// Position of its lowest bit.
    pub const STATUS_PORT_LOST_LSB: usize = 6;
    /// Number of its bits.
    pub const STATUS_PORT_LOST_WIDTH: usize = 1;
    /// Byte offset of IRQ_STATUS. Causes of the interrupt. An event and a clear in the same
    /// cycle leave the bit set.
    pub const IRQ_STATUS: usize = 0x18;
    /// Mask of IRQ_STATUS.completion (bits 0, w1c). A descriptor with `irq` set has ended, and
    /// the moderation of its channel lets the interrupt through. The PCIe port has taken the
    /// completion record before.
    pub const IRQ_STATUS_COMPLETION_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const IRQ_STATUS_COMPLETION_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQ_STATUS_COMPLETION_WIDTH: usize = 1;
    /// Mask of IRQ_STATUS.error (bits 1, w1c). A descriptor has ended with a status code other
    /// than OK. Or a dead port has opened again (STATUS.port_dead): the completion records and
    /// interrupt messages of the time in which it was dead are lost.
    pub const IRQ_STATUS_ERROR_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const IRQ_STATUS_ERROR_LSB: usize = 1;
    /// Number of its bits.
    pub const IRQ_STATUS_ERROR_WIDTH: usize = 1;
    /// Mask of IRQ_STATUS.refused (bits 2, w1c). A doorbell of any channel was refused. The
    /// REFUSED register of the channel shows which doorbell it was.
    pub const IRQ_STATUS_REFUSED_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const IRQ_STATUS_REFUSED_LSB: usize = 2;
    /// Number of its bits.
    pub const IRQ_STATUS_REFUSED_WIDTH: usize = 1;
    /// Byte offset of CAPS2. Capabilities of this build, third word.
    pub const CAPS2: usize = 0x1c;
    /// Mask of CAPS2.reads_log2 (bits 7:0, ro). Number of read requests that can be in progress
    /// between the request maker and FPGA memory.
    pub const CAPS2_READS_LOG2_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const CAPS2_READS_LOG2_LSB: usize = 0;
    /// Number of its bits.
    pub const CAPS2_READS_LOG2_WIDTH: usize = 8;
    /// Mask of CAPS2.tagged (bits 8, ro). 1: the PCIe port is a tagged stream, whose
    /// completions carry a status. 0: the PCIe port is an Avalon-MM `Txs` port, which answers
    /// in order.
    pub const CAPS2_TAGGED_MASK: u32 = 0x0000_0100;
    /// Position of its lowest bit.
    pub const CAPS2_TAGGED_LSB: usize = 8;
    /// Number of its bits.
    pub const CAPS2_TAGGED_WIDTH: usize = 1;
    /// Mask of CAPS2.msix (bits 9, ro). 1: the block has an MSI-X table. 0: the block has the
    /// interrupt line only.
    pub const CAPS2_MSIX_MASK: u32 = 0x0000_0200;
    /// Position of its lowest bit.
    pub const CAPS2_MSIX_LSB: usize = 9;
    /// Number of its bits.
    pub const CAPS2_MSIX_WIDTH: usize = 1;
    /// Mask of CAPS2.tlp (bits 10, ro). 1: the block has a transaction layer of its own on the
    /// hard IP's Avalon-ST interface. LINK, LINK_REFUSALS, LINK_ERRORS and LINK_LOSSES report
    /// the state of that layer.
    pub const CAPS2_TLP_MASK: u32 = 0x0000_0400;
    /// Position of its lowest bit.
    pub const CAPS2_TLP_LSB: usize = 10;
    /// Number of its bits.
    pub const CAPS2_TLP_WIDTH: usize = 1;
    /// Mask of CAPS2.write_granularity_log2 (bits 13:12, ro). Granularity of writes at the
    /// peer. 0: a write may begin and end at any byte. 2: the first address and the end of a
    /// write must be multiples of 4 bytes, otherwise the write ends with ALIGNMENT. The reason:
    /// `Txs` of the V-series hard IP enables whole dwords only. Addresses in FPGA memory, and
    /// reads, may have any alignment.
    pub const CAPS2_WRITE_GRANULARITY_LOG2_MASK: u32 = 0x0000_3000;
    /// Position of its lowest bit.
    pub const CAPS2_WRITE_GRANULARITY_LOG2_LSB: usize = 12;
    /// Number of its bits.
    pub const CAPS2_WRITE_GRANULARITY_LOG2_WIDTH: usize = 2;
    /// Byte offset of PORT_TIMEOUT. Time limit for the PCIe port.
    pub const PORT_TIMEOUT: usize = 0x20;
    /// Mask of PORT_TIMEOUT.cycles (bits 31:0, rw). A read request that is not answered for
    /// this time ends with READ_TIMEOUT, and its missing answer puts the read port, or the tag
    /// of the request, into quarantine (STATUS.read_quarantine). A port that takes no request
    /// or beat of data for this time is dead (STATUS.port_dead). The reset value is 50 ms at
    /// 250 MHz. 0: neither has a time limit.
    pub const PORT_TIMEOUT_CYCLES_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const PORT_TIMEOUT_CYCLES_LSB: usize = 0;
    /// Number of its bits.
    pub const PORT_TIMEOUT_CYCLES_WIDTH: usize = 32;
    /// PORT_TIMEOUT after reset.
    pub const PORT_TIMEOUT_RESET: u32 = 0x00be_bc20;
    /// Byte offset of PORT_PACE. Rate of the link. The block paces writes by it, so that reads
    /// do not wait after queued writes in the PCIe port's buffer. Only a `Txs` port uses this
    /// register; a tagged stream has credits.
    pub const PORT_PACE: usize = 0x24;
    /// Mask of PORT_PACE.rate (bits 15:0, rw). Bytes that the link carries towards the host,
    /// headers and framing included, less 1 to 2 % for the traffic that the block does not see.
    /// While reads are in progress, writes are sent no faster than this. 0: writes are sent as
    /// fast as the port takes them.
    pub const PORT_PACE_RATE_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const PORT_PACE_RATE_LSB: usize = 0;
    /// Number of its bits.
    pub const PORT_PACE_RATE_WIDTH: usize = 16;
    /// Byte offset of QUARANTINE. Manual end of the quarantine of reads, where reads have tags
    /// (CAPS2.tagged).
    pub const QUARANTINE: usize = 0x28;
    /// Mask of QUARANTINE.drop_owed (bits 0, pulse). Write 1: the block no longer expects the
    /// completions that are still owed, and opens the read port or the lost tags. This is only
    /// correct after a link reset or a similar event has made sure that none of these
    /// completions can still come: a late completion would be taken as the answer to a new
    /// read. It has no effect on `Txs`: the hard IP's bridge answers in order and still expects
    /// the old completions. So until the bridge's own reset, a new read would get the data of
    /// the old read, or no data.
    pub const QUARANTINE_DROP_OWED_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const QUARANTINE_DROP_OWED_LSB: usize = 0;
    /// Number of its bits.
    pub const QUARANTINE_DROP_OWED_WIDTH: usize = 1;
    /// Byte offset of COUNTER_SNAPSHOT. Snapshot of the counters. All counters are copied at
    /// once. So both words of each counter, and all counters together, belong to the same
    /// cycle.
    pub const COUNTER_SNAPSHOT: usize = 0x2c;
    /// Mask of COUNTER_SNAPSHOT.take (bits 0, pulse). Write 1: takes a snapshot. The counter
    /// registers show the values of this moment until the next snapshot. Before the first
    /// snapshot they read as 0.
    pub const COUNTER_SNAPSHOT_TAKE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const COUNTER_SNAPSHOT_TAKE_LSB: usize = 0;
    /// Number of its bits.
    pub const COUNTER_SNAPSHOT_TAKE_WIDTH: usize = 1;
    /// Mask of COUNTER_SNAPSHOT.busy (bits 1, ro). 1: the snapshot is not yet complete. Read
    /// the counters when this is 0. A `take` that is written while a snapshot is busy starts
    /// the next one after it.
    pub const COUNTER_SNAPSHOT_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const COUNTER_SNAPSHOT_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const COUNTER_SNAPSHOT_BUSY_WIDTH: usize = 1;
    /// Byte offset of ATT_OWNER (low word). Owners of the ATT entries that are written after
    /// this register.
    pub const ATT_OWNER_LO: usize = 0x30;
    /// Mask of ATT_OWNER_LO.channels (bits 31:0, rw). One bit for each channel. This mask is
    /// stored with an ATT entry when the high word of the entry is written. A channel whose bit
    /// is 0 cannot use the entry.
    pub const ATT_OWNER_LO_CHANNELS_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const ATT_OWNER_LO_CHANNELS_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_OWNER_LO_CHANNELS_WIDTH: usize = 32;
    /// Byte offset of ATT_OWNER (high word). Owners of the ATT entries that are written after
    /// this register.
    pub const ATT_OWNER_HI: usize = 0x34;
    /// Mask of ATT_OWNER_HI.channels (bits 31:0, rw). One bit for each channel. This mask is
    /// stored with an ATT entry when the high word of the entry is written. A channel whose bit
    /// is 0 cannot use the entry.
    pub const ATT_OWNER_HI_CHANNELS_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const ATT_OWNER_HI_CHANNELS_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_OWNER_HI_CHANNELS_WIDTH: usize = 32;
    /// Byte offset of ATT_INVALIDATE. Fence for changes of the ATT. Write the entries, then
    /// write 1 to `start`. When `busy` reads 0, every request that was translated with older
    /// entries has ended: reads were answered or abandoned, writes were taken by the PCIe port.
    /// With `flush`, the writes have also arrived at the peer that ATT_FLUSH addresses, unless
    /// `failed` reads 1. A start during a reset of the block is lost. Software notices this by
    /// CONTROL.enable, which that reset clears.
    pub const ATT_INVALIDATE: usize = 0x38;
    /// Mask of ATT_INVALIDATE.start (bits 0, pulse). Write 1: begins a fence. Do not write 1
    /// while `busy` reads 1.
    pub const ATT_INVALIDATE_START_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_START_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_INVALIDATE_START_WIDTH: usize = 1;
    /// Mask of ATT_INVALIDATE.busy (bits 1, ro). 1: the fence is not yet reached, or the PCIe
    /// port has not taken all of a burst that began before the block was reset from the side of
    /// FPGA memory. Transfers of all channels continue during a fence.
    pub const ATT_INVALIDATE_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const ATT_INVALIDATE_BUSY_WIDTH: usize = 1;
    /// Mask of ATT_INVALIDATE.flush (bits 2, pulse). Write 1 together with `start`: after the
    /// writes before the fence, the block sends a read of the address in ATT_FLUSH. The fence
    /// is reached when this read was answered or was abandoned after PORT_TIMEOUT. A read does
    /// not pass a posted write (PCI Express Base Specification, table of ordering rules). So an
    /// answer from a peer shows that all earlier writes to this peer have arrived. `failed`
    /// reports that no answer came. An answer with an error status counts as an answer only on
    /// a port that carries no status (`Txs` never answers such a read).
    pub const ATT_INVALIDATE_FLUSH_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_FLUSH_LSB: usize = 2;
    /// Number of its bits.
    pub const ATT_INVALIDATE_FLUSH_WIDTH: usize = 1;
    /// Mask of ATT_INVALIDATE.failed (bits 3, ro). 1: the last fence with `flush` was reached
    /// without an answer to its read. The read was abandoned, or was not sent because reads
    /// were in quarantine or the port was dead. In this case writes may still be on their way.
    pub const ATT_INVALIDATE_FAILED_MASK: u32 = 0x0000_0008;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_FAILED_LSB: usize = 3;
    /// Number of its bits.
    pub const ATT_INVALIDATE_FAILED_WIDTH: usize = 1;
    /// Byte offset of ATT_FLUSH (low word). Address that a fence with `flush` reads: a bus
    /// address in memory that still exists when the fence is reached. Do not write this
    /// register while a fence is busy.
    pub const ATT_FLUSH_LO: usize = 0x40;
    /// Mask of ATT_FLUSH_LO.address (bits 31:6, rw). Bits 63:6 of the bus address. The block
    /// reads the first bytes there, as many as the port is wide.
    pub const ATT_FLUSH_LO_ADDRESS_MASK: u32 = 0xffff_ffc0;
    /// Position of its lowest bit.
    pub const ATT_FLUSH_LO_ADDRESS_LSB: usize = 6;
    /// Number of its bits.
    pub const ATT_FLUSH_LO_ADDRESS_WIDTH: usize = 26;
    /// Byte offset of ATT_FLUSH (high word). Address that a fence with `flush` reads: a bus
    /// address in memory that still exists when the fence is reached. Do not write this
    /// register while a fence is busy.
    pub const ATT_FLUSH_HI: usize = 0x44;
    /// Mask of ATT_FLUSH_HI.address (bits 31:0, rw). Bits 63:6 of the bus address. The block
    /// reads the first bytes there, as many as the port is wide.
    pub const ATT_FLUSH_HI_ADDRESS_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const ATT_FLUSH_HI_ADDRESS_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_FLUSH_HI_ADDRESS_WIDTH: usize = 32;
    /// Byte offset of LINK. Settings that software has made in the function's configuration,
    /// and resources of the hard IP. Builds with CAPS2.tagged have the two sizes, builds with
    /// CAPS2.tlp have all fields. A field that a build does not have reads as 0.
    pub const LINK: usize = 0x48;
    /// Mask of LINK.max_payload (bits 2:0, ro). Max Payload Size: 128 bytes shifted left by
    /// this value.
    pub const LINK_MAX_PAYLOAD_MASK: u32 = 0x0000_0007;
    /// Position of its lowest bit.
    pub const LINK_MAX_PAYLOAD_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_MAX_PAYLOAD_WIDTH: usize = 3;
    /// Mask of LINK.max_request (bits 6:4, ro). Max Read Request Size: 128 bytes shifted left
    /// by this value. No read is longer than that, or longer than 512 bytes.
    pub const LINK_MAX_REQUEST_MASK: u32 = 0x0000_0070;
    /// Position of its lowest bit.
    pub const LINK_MAX_REQUEST_LSB: usize = 4;
    /// Number of its bits.
    pub const LINK_MAX_REQUEST_WIDTH: usize = 3;
    /// Mask of LINK.read_tags (bits 15:8, ro). Number of tags for reads of data: 56 while
    /// software has set Extended Tag Field Enable, else 24. Flush reads have eight additional
    /// tags.
    pub const LINK_READ_TAGS_MASK: u32 = 0x0000_ff00;
    /// Position of its lowest bit.
    pub const LINK_READ_TAGS_LSB: usize = 8;
    /// Number of its bits.
    pub const LINK_READ_TAGS_WIDTH: usize = 8;
    /// Mask of LINK.completion_space (bits 23:16, ro). Number of completions that the hard IP's
    /// receive buffer has room for. A read takes the room of one completion for each line of 64
    /// bytes that it touches.
    pub const LINK_COMPLETION_SPACE_MASK: u32 = 0x00ff_0000;
    /// Position of its lowest bit.
    pub const LINK_COMPLETION_SPACE_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_COMPLETION_SPACE_WIDTH: usize = 8;
    /// Mask of LINK.rx_failed (bits 24, ro). 1: the receive side has failed. Either the hard IP
    /// has lost data, and no read ends with data until a reset of the PCIe side. Or abandoned
    /// reads occupy all tags or all room for completions, and reads end with READ_TIMEOUT.
    /// STATUS.port_dead is also 1 then.
    pub const LINK_RX_FAILED_MASK: u32 = 0x0100_0000;
    /// Position of its lowest bit.
    pub const LINK_RX_FAILED_LSB: usize = 24;
    /// Number of its bits.
    pub const LINK_RX_FAILED_WIDTH: usize = 1;
    /// Byte offset of LINK_REFUSALS. Numbers of completions with an error status since the
    /// reset of the PCIe side. Each count stops at 65535.
    pub const LINK_REFUSALS: usize = 0x4c;
    /// Mask of LINK_REFUSALS.unsupported (bits 15:0, ro). Completions with Unsupported Request,
    /// or with a status that is reserved.
    pub const LINK_REFUSALS_UNSUPPORTED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const LINK_REFUSALS_UNSUPPORTED_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_REFUSALS_UNSUPPORTED_WIDTH: usize = 16;
    /// Mask of LINK_REFUSALS.aborted (bits 31:16, ro). Completions with Completer Abort.
    pub const LINK_REFUSALS_ABORTED_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const LINK_REFUSALS_ABORTED_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_REFUSALS_ABORTED_WIDTH: usize = 16;
    /// Byte offset of LINK_ERRORS. Numbers of faulty completions since the reset of the PCIe
    /// side. Each count stops at 65535.
    pub const LINK_ERRORS: usize = 0x50;
    /// Mask of LINK_ERRORS.poisoned (bits 15:0, ro). Completions whose data are marked as
    /// wrong.
    pub const LINK_ERRORS_POISONED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const LINK_ERRORS_POISONED_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_ERRORS_POISONED_WIDTH: usize = 16;
    /// Mask of LINK_ERRORS.malformed (bits 31:16, ro). Completions whose address, byte count or
    /// length does not fit the read.
    pub const LINK_ERRORS_MALFORMED_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const LINK_ERRORS_MALFORMED_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_ERRORS_MALFORMED_WIDTH: usize = 16;
    /// Byte offset of LINK_LOSSES. Numbers of completions without a read, and of reads without
    /// their completions, since the reset of the PCIe side. Each count stops at 65535.
    pub const LINK_LOSSES: usize = 0x54;
    /// Mask of LINK_LOSSES.unexpected (bits 15:0, ro). Completions that belong to no read.
    pub const LINK_LOSSES_UNEXPECTED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const LINK_LOSSES_UNEXPECTED_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_LOSSES_UNEXPECTED_WIDTH: usize = 16;
    /// Mask of LINK_LOSSES.expired (bits 31:16, ro). Reads that were abandoned because no
    /// further completion came in time.
    pub const LINK_LOSSES_EXPIRED_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const LINK_LOSSES_EXPIRED_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_LOSSES_EXPIRED_WIDTH: usize = 16;
    /// Byte offset of CAPS3. Capabilities, 4: streams between the FPGA's logic and peers.
    pub const CAPS3: usize = 0x58;
    /// Mask of CAPS3.inputs (bits 4:0, ro). Number of streams from the logic to peers. They are
    /// numbered from 0.
    pub const CAPS3_INPUTS_MASK: u32 = 0x0000_001f;
    /// Position of its lowest bit.
    pub const CAPS3_INPUTS_LSB: usize = 0;
    /// Number of its bits.
    pub const CAPS3_INPUTS_WIDTH: usize = 5;
    /// Mask of CAPS3.outputs (bits 12:8, ro). Number of streams from peers to the logic. They
    /// are numbered from 0.
    pub const CAPS3_OUTPUTS_MASK: u32 = 0x0000_1f00;
    /// Position of its lowest bit.
    pub const CAPS3_OUTPUTS_LSB: usize = 8;
    /// Number of its bits.
    pub const CAPS3_OUTPUTS_WIDTH: usize = 5;
    /// Byte offset of WINDOW (low word). Place of the host's 64 KiB memory window (`s_nondma`)
    /// in the FPGA memory. A reset does not change it: a process that uses the window while
    /// another process resets the block continues to see its own memory. The offset is the
    /// offset of the window control of `acl_dma`.
    pub const WINDOW_LO: usize = 0x70;
    /// Mask of WINDOW_LO.base (bits 31:16, rw). Bits 39:16 of the byte address in FPGA memory
    /// that the first byte of the window shows.
    pub const WINDOW_LO_BASE_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const WINDOW_LO_BASE_LSB: usize = 16;
    /// Number of its bits.
    pub const WINDOW_LO_BASE_WIDTH: usize = 16;
    /// Byte offset of WINDOW (high word). Place of the host's 64 KiB memory window (`s_nondma`)
    /// in the FPGA memory. A reset does not change it: a process that uses the window while
    /// another process resets the block continues to see its own memory. The offset is the
    /// offset of the window control of `acl_dma`.
    pub const WINDOW_HI: usize = 0x74;
    /// Mask of WINDOW_HI.base (bits 7:0, rw). Bits 39:16 of the byte address in FPGA memory
    /// that the first byte of the window shows.
    pub const WINDOW_HI_BASE_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const WINDOW_HI_BASE_LSB: usize = 0;
    /// Number of its bits.
    pub const WINDOW_HI_BASE_WIDTH: usize = 8;
    /// Byte offset of CHANNEL_SELECT. Selection of the channel that the registers from
    /// CHANNEL_CONTROL to READ_TIMEOUTS belong to. Software that uses these registers from
    /// several places needs a lock around selection and access.
    pub const CHANNEL_SELECT: usize = 0x80;
    /// Mask of CHANNEL_SELECT.channel (bits 5:0, rw). Number of a channel of this build. With
    /// any other number, writes have no meaning.
    pub const CHANNEL_SELECT_CHANNEL_MASK: u32 = 0x0000_003f;
    /// Position of its lowest bit.
    pub const CHANNEL_SELECT_CHANNEL_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_SELECT_CHANNEL_WIDTH: usize = 6;
    /// Byte offset of CHANNEL_CONTROL. Control of the selected channel: run, drain and abort.
    /// To drain: clear `accept`, wait until CHANNEL_STATUS reads 0. To abort: clear `accept`,
    /// set `abort`, wait until CHANNEL_STATUS reads 0, clear `abort`. Both take bounded time
    /// unless PORT_TIMEOUT is 0: PORT_TIMEOUT ends the wait for a read that is not answered,
    /// and for a port that takes nothing.
    pub const CHANNEL_CONTROL: usize = 0x84;
    /// Mask of CHANNEL_CONTROL.accept (bits 0, rw). 1: doorbells are accepted. 0: doorbells are
    /// refused; queued descriptors continue.
    pub const CHANNEL_CONTROL_ACCEPT_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const CHANNEL_CONTROL_ACCEPT_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_CONTROL_ACCEPT_WIDTH: usize = 1;
    /// Mask of CHANNEL_CONTROL.run (bits 1, rw). 1: queued descriptors are executed. 0: no
    /// further descriptor is started; a running descriptor is finished.
    pub const CHANNEL_CONTROL_RUN_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const CHANNEL_CONTROL_RUN_LSB: usize = 1;
    /// Number of its bits.
    pub const CHANNEL_CONTROL_RUN_WIDTH: usize = 1;
    /// Mask of CHANNEL_CONTROL.abort (bits 2, rw). 1: every accepted descriptor ends with
    /// ABORTED, a running one at its next request. The value of `run` does not matter.
    pub const CHANNEL_CONTROL_ABORT_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const CHANNEL_CONTROL_ABORT_LSB: usize = 2;
    /// Number of its bits.
    pub const CHANNEL_CONTROL_ABORT_WIDTH: usize = 1;
    /// Byte offset of CHANNEL_STATUS. Work of the selected channel that is in progress. For
    /// every channel, both bits are also 1 while the PCIe port has not taken all of a burst
    /// that began before the block was reset from the side of FPGA memory.
    pub const CHANNEL_STATUS: usize = 0x88;
    /// Mask of CHANNEL_STATUS.write_busy (bits 0, ro). 1: a write descriptor was accepted and
    /// has not ended. It ends when the PCIe port has taken the last of it, its completion
    /// record included.
    pub const CHANNEL_STATUS_WRITE_BUSY_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const CHANNEL_STATUS_WRITE_BUSY_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_STATUS_WRITE_BUSY_WIDTH: usize = 1;
    /// Mask of CHANNEL_STATUS.read_busy (bits 1, ro). 1: a read descriptor was accepted and has
    /// not ended. It ends when the PCIe port has taken its completion record.
    pub const CHANNEL_STATUS_READ_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const CHANNEL_STATUS_READ_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const CHANNEL_STATUS_READ_BUSY_WIDTH: usize = 1;
    /// Byte offset of CHANNEL_MODERATION. Moderation of the selected channel's interrupts. The
    /// interrupt of a descriptor with `urgent` is never held back. After reset both fields are
    /// 0: no moderation.
    pub const CHANNEL_MODERATION: usize = 0x8c;
    /// Mask of CHANNEL_MODERATION.count (bits 7:0, wo). Number of completions for one
    /// interrupt: an interrupt follows the count-th completion since the last interrupt. 0 or
    /// 1: an interrupt follows every completion.
    pub const CHANNEL_MODERATION_COUNT_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const CHANNEL_MODERATION_COUNT_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_MODERATION_COUNT_WIDTH: usize = 8;
    /// Mask of CHANNEL_MODERATION.age (bits 31:16, wo). Longest time from the first completion
    /// that waits for an interrupt to that interrupt. 0: no limit by time.
    pub const CHANNEL_MODERATION_AGE_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const CHANNEL_MODERATION_AGE_LSB: usize = 16;
    /// Number of its bits.
    pub const CHANNEL_MODERATION_AGE_WIDTH: usize = 16;
    /// Byte offset of CHANNEL_RING (low word). Completion ring of the selected channel. A write
    /// of the low word with `enable` set starts the ring at its first slot, on the first lap.
    /// So write the high word first. Write this register only while the channel has no
    /// descriptor in progress. From then on the channel accepts at most as many descriptors as
    /// the ring has slots, and one more for each descriptor that a doorbell reports as freed.
    /// So no record overwrites a record that was not read. The value is passed to the block and
    /// cannot be read back: a ring is the driver's own memory.
    pub const CHANNEL_RING_LO: usize = 0x90;
    /// Mask of CHANNEL_RING_LO.enable (bits 0, wo). 1: the channel has a ring. 0: descriptors
    /// of the channel end without a record, and no ring limits their number.
    pub const CHANNEL_RING_LO_ENABLE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const CHANNEL_RING_LO_ENABLE_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_RING_LO_ENABLE_WIDTH: usize = 1;
    /// Mask of CHANNEL_RING_LO.size_log2 (bits 8:4, wo). Number of completion records in the
    /// ring.
    pub const CHANNEL_RING_LO_SIZE_LOG2_MASK: u32 = 0x0000_01f0;
    /// Position of its lowest bit.
    pub const CHANNEL_RING_LO_SIZE_LOG2_LSB: usize = 4;
    /// Number of its bits.
    pub const CHANNEL_RING_LO_SIZE_LOG2_WIDTH: usize = 5;
    /// Mask of CHANNEL_RING_LO.base (bits 31:12, wo). Bits 63:12 of the bus address of the
    /// ring. The block writes the ring without the ATT, so only the driver can set this
    /// register.
    pub const CHANNEL_RING_LO_BASE_MASK: u32 = 0xffff_f000;
    /// Position of its lowest bit.
    pub const CHANNEL_RING_LO_BASE_LSB: usize = 12;
    /// Number of its bits.
    pub const CHANNEL_RING_LO_BASE_WIDTH: usize = 20;
    /// Byte offset of CHANNEL_RING (high word). Completion ring of the selected channel. A
    /// write of the low word with `enable` set starts the ring at its first slot, on the first
    /// lap. So write the high word first. Write this register only while the channel has no
    /// descriptor in progress. From then on the channel accepts at most as many descriptors as
    /// the ring has slots, and one more for each descriptor that a doorbell reports as freed.
    /// So no record overwrites a record that was not read. The value is passed to the block and
    /// cannot be read back: a ring is the driver's own memory.
    pub const CHANNEL_RING_HI: usize = 0x94;
    /// Mask of CHANNEL_RING_HI.base (bits 31:0, wo). Bits 63:12 of the bus address of the ring.
    /// The block writes the ring without the ATT, so only the driver can set this register.
    pub const CHANNEL_RING_HI_BASE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const CHANNEL_RING_HI_BASE_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_RING_HI_BASE_WIDTH: usize = 32;
    /// Byte offset of CHANNEL_MEM_BASE. First byte of the selected channel's range of FPGA
    /// memory.
    pub const CHANNEL_MEM_BASE: usize = 0x98;
    /// Mask of CHANNEL_MEM_BASE.page (bits 27:0, wo). Bits 39:12 of the address.
    pub const CHANNEL_MEM_BASE_PAGE_MASK: u32 = 0x0fff_ffff;
    /// Position of its lowest bit.
    pub const CHANNEL_MEM_BASE_PAGE_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_MEM_BASE_PAGE_WIDTH: usize = 28;
    /// Byte offset of CHANNEL_MEM_END. First byte after the selected channel's range of FPGA
    /// memory. A descriptor whose local addresses are not all inside the range ends with
    /// LOCAL_RANGE. After reset base and end are 0: no address is inside.
    pub const CHANNEL_MEM_END: usize = 0x9c;
    /// Mask of CHANNEL_MEM_END.page (bits 28:0, wo). Bits 40:12 of the address.
    pub const CHANNEL_MEM_END_PAGE_MASK: u32 = 0x1fff_ffff;
    /// Position of its lowest bit.
    pub const CHANNEL_MEM_END_PAGE_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_MEM_END_PAGE_WIDTH: usize = 29;
    /// Byte offset of STREAM_SELECT. Selection of the stream that the registers from
    /// STREAM_CONTROL to STREAM_STATUS belong to. Software that uses these registers from
    /// several places needs a lock around selection and access.
    pub const STREAM_SELECT: usize = 0xa0;
    /// Mask of STREAM_SELECT.stream (bits 3:0, wo). Number of a stream of this build. With any
    /// other number, writes have no meaning, and STREAM_STATUS reads as 0.
    pub const STREAM_SELECT_STREAM_MASK: u32 = 0x0000_000f;
    /// Position of its lowest bit.
    pub const STREAM_SELECT_STREAM_LSB: usize = 0;
    /// Number of its bits.
    pub const STREAM_SELECT_STREAM_WIDTH: usize = 4;
    /// Mask of STREAM_SELECT.to_logic (bits 4, wo). 0: a stream from the logic to peers. 1: a
    /// stream from peers to the logic.
    pub const STREAM_SELECT_TO_LOGIC_MASK: u32 = 0x0000_0010;
    /// Position of its lowest bit.
    pub const STREAM_SELECT_TO_LOGIC_LSB: usize = 4;
    /// Number of its bits.
    pub const STREAM_SELECT_TO_LOGIC_WIDTH: usize = 1;
    /// Byte offset of STREAM_CONTROL. Owner of the selected stream. Only descriptors of this
    /// channel move the data of the stream; those of another channel end with LOCAL_RANGE. A
    /// write with another owner closes an open stream.
    pub const STREAM_CONTROL: usize = 0xa4;
    /// Mask of STREAM_CONTROL.enable (bits 0, wo). 1: opens the stream, unless the write closes
    /// it. 0: closes it. Then words of an input that no request has taken are lost, and words
    /// of an output that the logic has not taken. Descriptors that name the stream end with
    /// LOCAL_RANGE. The stream opens again when requests that have left are over, and a
    /// descriptor that has moved some of its words has ended. A reset of the block closes all
    /// streams.
    pub const STREAM_CONTROL_ENABLE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const STREAM_CONTROL_ENABLE_LSB: usize = 0;
    /// Number of its bits.
    pub const STREAM_CONTROL_ENABLE_WIDTH: usize = 1;
    /// Mask of STREAM_CONTROL.channel (bits 13:8, wo). Number of the channel that the stream
    /// belongs to.
    pub const STREAM_CONTROL_CHANNEL_MASK: u32 = 0x0000_3f00;
    /// Position of its lowest bit.
    pub const STREAM_CONTROL_CHANNEL_LSB: usize = 8;
    /// Number of its bits.
    pub const STREAM_CONTROL_CHANNEL_WIDTH: usize = 6;
    /// Byte offset of STREAM_LIMIT. Time limit of the blocks of the selected stream. Only a
    /// stream from the logic has it.
    pub const STREAM_LIMIT: usize = 0xa8;
    /// Mask of STREAM_LIMIT.cycles (bits 15:0, wo). Longest time from the first word of a block
    /// to its end: the block ends then with the words that are there. 0: no limit. The block
    /// ends in the clock of the stream, so a stream whose clock has stopped has no limit.
    pub const STREAM_LIMIT_CYCLES_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const STREAM_LIMIT_CYCLES_LSB: usize = 0;
    /// Number of its bits.
    pub const STREAM_LIMIT_CYCLES_WIDTH: usize = 16;
    /// Byte offset of STREAM_STATUS. State of the selected stream.
    pub const STREAM_STATUS: usize = 0xac;
    /// Mask of STREAM_STATUS.open (bits 0, ro). 1: the stream is open. It becomes 1 some cycles
    /// of the stream's clock after STREAM_CONTROL.enable, and 0 some cycles after the stream
    /// was closed. It stays 0 while the stream's clock does not run.
    pub const STREAM_STATUS_OPEN_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const STREAM_STATUS_OPEN_LSB: usize = 0;
    /// Number of its bits.
    pub const STREAM_STATUS_OPEN_WIDTH: usize = 1;
    /// Mask of STREAM_STATUS.waiting (bits 31:16, ro). Of a stream from the logic: bytes that a
    /// descriptor can have at once; the FIFO between the two clocks can have more. Of a stream
    /// to the logic: bytes of its buffer that are in use, by data that the logic has not taken
    /// and by requests under way.
    pub const STREAM_STATUS_WAITING_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const STREAM_STATUS_WAITING_LSB: usize = 16;
    /// Number of its bits.
    pub const STREAM_STATUS_WAITING_WIDTH: usize = 16;
    /// Byte offset of WRITE_BYTES (low word). Payload bytes that the selected channel has
    /// written to peers. Completion records are not counted.
    pub const WRITE_BYTES_LO: usize = 0x100;
    /// Mask of WRITE_BYTES_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BYTES_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BYTES_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BYTES_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_BYTES (high word). Payload bytes that the selected channel has
    /// written to peers. Completion records are not counted.
    pub const WRITE_BYTES_HI: usize = 0x104;
    /// Mask of WRITE_BYTES_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BYTES_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BYTES_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BYTES_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_REQUESTS (low word). Payload requests of the selected channel's
    /// write descriptors. A request is counted when it has ended on the PCIe port.
    pub const WRITE_REQUESTS_LO: usize = 0x108;
    /// Mask of WRITE_REQUESTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_REQUESTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_REQUESTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_REQUESTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_REQUESTS (high word). Payload requests of the selected channel's
    /// write descriptors. A request is counted when it has ended on the PCIe port.
    pub const WRITE_REQUESTS_HI: usize = 0x10c;
    /// Mask of WRITE_REQUESTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_REQUESTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_REQUESTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_REQUESTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_DESCRIPTORS (low word). Write descriptors of the selected channel
    /// that have ended.
    pub const WRITE_DESCRIPTORS_LO: usize = 0x110;
    /// Mask of WRITE_DESCRIPTORS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_DESCRIPTORS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DESCRIPTORS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DESCRIPTORS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_DESCRIPTORS (high word). Write descriptors of the selected channel
    /// that have ended.
    pub const WRITE_DESCRIPTORS_HI: usize = 0x114;
    /// Mask of WRITE_DESCRIPTORS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_DESCRIPTORS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DESCRIPTORS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DESCRIPTORS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_FAULTS (low word). Write descriptors of the selected channel that
    /// ended with a status code other than OK.
    pub const WRITE_FAULTS_LO: usize = 0x118;
    /// Mask of WRITE_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_FAULTS (high word). Write descriptors of the selected channel that
    /// ended with a status code other than OK.
    pub const WRITE_FAULTS_HI: usize = 0x11c;
    /// Mask of WRITE_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_ATT_FAULTS (low word). Write descriptors of the selected channel
    /// that ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const WRITE_ATT_FAULTS_LO: usize = 0x120;
    /// Mask of WRITE_ATT_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_ATT_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_ATT_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_ATT_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_ATT_FAULTS (high word). Write descriptors of the selected channel
    /// that ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const WRITE_ATT_FAULTS_HI: usize = 0x124;
    /// Mask of WRITE_ATT_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_ATT_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_ATT_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_ATT_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_TIMEOUTS (low word). Write descriptors of the selected channel that
    /// ended with READ_TIMEOUT.
    pub const WRITE_TIMEOUTS_LO: usize = 0x128;
    /// Mask of WRITE_TIMEOUTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_TIMEOUTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_TIMEOUTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_TIMEOUTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_TIMEOUTS (high word). Write descriptors of the selected channel
    /// that ended with READ_TIMEOUT.
    pub const WRITE_TIMEOUTS_HI: usize = 0x12c;
    /// Mask of WRITE_TIMEOUTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_TIMEOUTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_TIMEOUTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_TIMEOUTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BYTES (low word). Payload bytes that the selected channel has read
    /// from peers and written to FPGA memory.
    pub const READ_BYTES_LO: usize = 0x140;
    /// Mask of READ_BYTES_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BYTES_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BYTES_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BYTES_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BYTES (high word). Payload bytes that the selected channel has read
    /// from peers and written to FPGA memory.
    pub const READ_BYTES_HI: usize = 0x144;
    /// Mask of READ_BYTES_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BYTES_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BYTES_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BYTES_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_REQUESTS (low word). Payload requests of the selected channel's read
    /// descriptors. A request is counted when it has ended on the PCIe port.
    pub const READ_REQUESTS_LO: usize = 0x148;
    /// Mask of READ_REQUESTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_REQUESTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_REQUESTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_REQUESTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_REQUESTS (high word). Payload requests of the selected channel's
    /// read descriptors. A request is counted when it has ended on the PCIe port.
    pub const READ_REQUESTS_HI: usize = 0x14c;
    /// Mask of READ_REQUESTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_REQUESTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_REQUESTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_REQUESTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_DESCRIPTORS (low word). Read descriptors of the selected channel
    /// that have ended.
    pub const READ_DESCRIPTORS_LO: usize = 0x150;
    /// Mask of READ_DESCRIPTORS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_DESCRIPTORS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_DESCRIPTORS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DESCRIPTORS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_DESCRIPTORS (high word). Read descriptors of the selected channel
    /// that have ended.
    pub const READ_DESCRIPTORS_HI: usize = 0x154;
    /// Mask of READ_DESCRIPTORS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_DESCRIPTORS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_DESCRIPTORS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DESCRIPTORS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_FAULTS (low word). Read descriptors of the selected channel that
    /// ended with a status code other than OK.
    pub const READ_FAULTS_LO: usize = 0x158;
    /// Mask of READ_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_FAULTS (high word). Read descriptors of the selected channel that
    /// ended with a status code other than OK.
    pub const READ_FAULTS_HI: usize = 0x15c;
    /// Mask of READ_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_ATT_FAULTS (low word). Read descriptors of the selected channel that
    /// ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const READ_ATT_FAULTS_LO: usize = 0x160;
    /// Mask of READ_ATT_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_ATT_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_ATT_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_ATT_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_ATT_FAULTS (high word). Read descriptors of the selected channel
    /// that ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const READ_ATT_FAULTS_HI: usize = 0x164;
    /// Mask of READ_ATT_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_ATT_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_ATT_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_ATT_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_TIMEOUTS (low word). Read descriptors of the selected channel that
    /// ended with READ_TIMEOUT.
    pub const READ_TIMEOUTS_LO: usize = 0x168;
    /// Mask of READ_TIMEOUTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_TIMEOUTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_TIMEOUTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_TIMEOUTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_TIMEOUTS (high word). Read descriptors of the selected channel that
    /// ended with READ_TIMEOUT.
    pub const READ_TIMEOUTS_HI: usize = 0x16c;
    /// Mask of READ_TIMEOUTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_TIMEOUTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_TIMEOUTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_TIMEOUTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_BUSY (low word). Cycles in which a write descriptor of any channel
    /// was in progress.
    pub const WRITE_BUSY_LO: usize = 0x180;
    /// Mask of WRITE_BUSY_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BUSY_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BUSY_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BUSY_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_BUSY (high word). Cycles in which a write descriptor of any channel
    /// was in progress.
    pub const WRITE_BUSY_HI: usize = 0x184;
    /// Mask of WRITE_BUSY_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BUSY_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BUSY_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BUSY_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BUSY (low word). Cycles in which a read descriptor of any channel
    /// was in progress.
    pub const READ_BUSY_LO: usize = 0x188;
    /// Mask of READ_BUSY_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BUSY_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BUSY_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BUSY_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BUSY (high word). Cycles in which a read descriptor of any channel
    /// was in progress.
    pub const READ_BUSY_HI: usize = 0x18c;
    /// Mask of READ_BUSY_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BUSY_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BUSY_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BUSY_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TXS (low word). Cycles in which the block offered a request or data
    /// and the PCIe port did not take it (`txs_waitrequest`).
    pub const STALL_TXS_LO: usize = 0x190;
    /// Mask of STALL_TXS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TXS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TXS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TXS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TXS (high word). Cycles in which the block offered a request or
    /// data and the PCIe port did not take it (`txs_waitrequest`).
    pub const STALL_TXS_HI: usize = 0x194;
    /// Mask of STALL_TXS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TXS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TXS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TXS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TAGS (low word). Cycles in which a read request was ready but
    /// waited because of the limit of outstanding reads.
    pub const STALL_TAGS_LO: usize = 0x198;
    /// Mask of STALL_TAGS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TAGS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TAGS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TAGS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TAGS (high word). Cycles in which a read request was ready but
    /// waited because of the limit of outstanding reads.
    pub const STALL_TAGS_HI: usize = 0x19c;
    /// Mask of STALL_TAGS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TAGS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TAGS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TAGS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_CREDITS (low word). Cycles in which a read request was ready but
    /// waited for room in the receive buffer.
    pub const STALL_CREDITS_LO: usize = 0x1a0;
    /// Mask of STALL_CREDITS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_CREDITS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_CREDITS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_CREDITS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_CREDITS (high word). Cycles in which a read request was ready but
    /// waited for room in the receive buffer.
    pub const STALL_CREDITS_HI: usize = 0x1a4;
    /// Mask of STALL_CREDITS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_CREDITS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_CREDITS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_CREDITS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_READ (low word). Cycles in which a write request was ready but
    /// its data had not come from FPGA memory.
    pub const STALL_MEM_READ_LO: usize = 0x1a8;
    /// Mask of STALL_MEM_READ_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_READ_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_READ_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_READ_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_READ (high word). Cycles in which a write request was ready but
    /// its data had not come from FPGA memory.
    pub const STALL_MEM_READ_HI: usize = 0x1ac;
    /// Mask of STALL_MEM_READ_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_READ_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_READ_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_READ_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_WRITE (low word). Cycles in which received data waited for FPGA
    /// memory to take earlier data.
    pub const STALL_MEM_WRITE_LO: usize = 0x1b0;
    /// Mask of STALL_MEM_WRITE_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_WRITE_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_WRITE_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_WRITE_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_WRITE (high word). Cycles in which received data waited for
    /// FPGA memory to take earlier data.
    pub const STALL_MEM_WRITE_HI: usize = 0x1b4;
    /// Mask of STALL_MEM_WRITE_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_WRITE_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_WRITE_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_WRITE_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of RECORDS (low word). Completion records written to the rings of all
    /// channels.
    pub const RECORDS_LO: usize = 0x1b8;
    /// Mask of RECORDS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const RECORDS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const RECORDS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const RECORDS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of RECORDS (high word). Completion records written to the rings of all
    /// channels.
    pub const RECORDS_HI: usize = 0x1bc;
    /// Mask of RECORDS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const RECORDS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const RECORDS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const RECORDS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of IRQS (low word). Interrupts: rising edges of the interrupt line, and
    /// interrupt messages.
    pub const IRQS_LO: usize = 0x1c0;
    /// Mask of IRQS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const IRQS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const IRQS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of IRQS (high word). Interrupts: rising edges of the interrupt line, and
    /// interrupt messages.
    pub const IRQS_HI: usize = 0x1c4;
    /// Mask of IRQS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const IRQS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const IRQS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQS_HI_VALUE_WIDTH: usize = 32;
}

/// Page of one channel, mappable into one process. Page c belongs to channel c; a build has
/// CAPS0.channels of the 64 pages. Write the words 0 to 6 of a descriptor in any order, all of
/// them each time. Then write the doorbell. A page shows and accepts nothing that belongs to
/// another channel.
pub mod chan {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x1000;
    /// Instances in the largest build, one after the other.
    pub const COUNT: usize = 64;
    /// Byte offset of WRITE_DESC. Descriptor of the next transfer from the FPGA to a peer, word
    /// by word. Writes are ignored while the write queue is full.
    pub const WRITE_DESC: usize = 0x0;
    /// Mask of WRITE_DESC.value (bits 31:0, wo). One word of the descriptor.
    pub const WRITE_DESC_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DESC_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DESC_VALUE_WIDTH: usize = 32;
    /// Number of WRITE_DESC registers.
    pub const WRITE_DESC_COUNT: usize = 16;
    /// Bytes from one WRITE_DESC to the next.
    pub const WRITE_DESC_STRIDE: usize = 4;
    /// Byte offset of WRITE_DOORBELL. Doorbell that queues the descriptor in WRITE_DESC.
    pub const WRITE_DOORBELL: usize = 0x40;
    /// Mask of WRITE_DOORBELL.freed (bits 15:0, wo). Number of descriptors of the channel that
    /// have ended since its last doorbell, in both directions together, as software knows from
    /// the records that it has read. Their slots of the ring become free before the new
    /// descriptor takes one, also if the doorbell is refused. If software writes more than have
    /// ended, it may lose records of its own channel.
    pub const WRITE_DOORBELL_FREED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DOORBELL_FREED_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DOORBELL_FREED_WIDTH: usize = 16;
    /// Byte offset of READ_DESC. Descriptor of the next transfer from a peer to the FPGA, word
    /// by word. Writes are ignored while the read queue is full.
    pub const READ_DESC: usize = 0x80;
    /// Mask of READ_DESC.value (bits 31:0, wo). One word of the descriptor.
    pub const READ_DESC_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_DESC_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DESC_VALUE_WIDTH: usize = 32;
    /// Number of READ_DESC registers.
    pub const READ_DESC_COUNT: usize = 16;
    /// Bytes from one READ_DESC to the next.
    pub const READ_DESC_STRIDE: usize = 4;
    /// Byte offset of READ_DOORBELL. Doorbell that queues the descriptor in READ_DESC.
    pub const READ_DOORBELL: usize = 0xc0;
    /// Mask of READ_DOORBELL.freed (bits 15:0, wo). Number of descriptors of the channel that
    /// have ended since its last doorbell, in both directions together, as software knows from
    /// the records that it has read. Their slots of the ring become free before the new
    /// descriptor takes one, also if the doorbell is refused. If software writes more than have
    /// ended, it may lose records of its own channel.
    pub const READ_DOORBELL_FREED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const READ_DOORBELL_FREED_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DOORBELL_FREED_WIDTH: usize = 16;
    /// Byte offset of QUEUE_FREE. Room for this channel in the descriptor queues. Both fields
    /// are 0 while doorbells are refused: the block is not enabled or is being reset, the
    /// channel does not accept doorbells, or all slots of its ring are reserved for descriptors
    /// that were accepted and not freed. The free slots of the ring limit both directions
    /// together.
    pub const QUEUE_FREE: usize = 0x100;
    /// Mask of QUEUE_FREE.write (bits 15:0, ro). Number of write descriptors that the queue has
    /// room for.
    pub const QUEUE_FREE_WRITE_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const QUEUE_FREE_WRITE_LSB: usize = 0;
    /// Number of its bits.
    pub const QUEUE_FREE_WRITE_WIDTH: usize = 16;
    /// Mask of QUEUE_FREE.read (bits 31:16, ro). Number of read descriptors that the queue has
    /// room for.
    pub const QUEUE_FREE_READ_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const QUEUE_FREE_READ_LSB: usize = 16;
    /// Number of its bits.
    pub const QUEUE_FREE_READ_WIDTH: usize = 16;
    /// Byte offset of REFUSED. Doorbells that were refused, because the queue was full, all
    /// slots of the ring were reserved, or the channel did not accept doorbells. A refused
    /// descriptor is lost and has no completion record.
    pub const REFUSED: usize = 0x104;
    /// Mask of REFUSED.write (bits 0, w1c). A WRITE_DOORBELL was refused.
    pub const REFUSED_WRITE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const REFUSED_WRITE_LSB: usize = 0;
    /// Number of its bits.
    pub const REFUSED_WRITE_WIDTH: usize = 1;
    /// Mask of REFUSED.read (bits 1, w1c). A READ_DOORBELL was refused.
    pub const REFUSED_READ_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const REFUSED_READ_LSB: usize = 1;
    /// Number of its bits.
    pub const REFUSED_READ_WIDTH: usize = 1;
}

/// Address translation table (ATT). Entry n is at offset 8 n. A build has 2^CAPS1.att_log2
/// entries; the size given here is the size of the largest table. The block holds a written low
/// word until the high word is written. That write stores both words, with the owner mask of
/// CSR.ATT_OWNER. Reads return 0. After a reset of the block every entry is invalid.
pub mod att {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x80000;
    /// Entries of the record `att_entry` in the largest build.
    pub const ENTRIES: usize = 65536;
}

/// MSI-X table, in builds with CAPS2.msix, at the place that the function's MSI-X capability
/// names: vector 0 for faults and refused doorbells, vector 1 for the OpenCL kernel, vector 2 +
/// c for channel c. The array of pending bits (PBA) follows the table, at 0x800. Table and PBA
/// are as in PCI Local Bus Specification 3.0, 6.8.2. All vectors are masked after reset.
pub mod msix {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x800;
    /// Entries of the record `msix_entry` in the largest build.
    pub const ENTRIES: usize = 128;
}

/// Result of a descriptor. With every code except OK, `bytes_done` is the number of bytes that were
/// moved before the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum StatusCode {
    /// Every byte was moved.
    Ok = 0,
    /// The length is zero, or the local range runs past the end of the FPGA memory's address space.
    /// Nothing was moved.
    Length = 1,
    /// A request's entry index is beyond the end of the ATT.
    AttBounds = 2,
    /// The ATT entry of a request is not valid.
    AttInvalid = 3,
    /// The ATT entry of a request does not belong to the descriptor's channel.
    AttOwner = 4,
    /// The ATT entry of a request does not allow this direction.
    AttPermission = 5,
    /// The page size in the descriptor's peer address differs from the page size of the ATT entry.
    AttPageSize = 6,
    /// A read request was not answered within PORT_TIMEOUT. From then on the part of the port that
    /// is still owed answers is in quarantine: the whole read port where answers come in order
    /// (`Txs`), the tag of the request where answers have tags. With CAPS2.tlp the transaction
    /// layer may abandon a request earlier, and does not reuse its own tag for that request.
    ReadTimeout = 7,
    /// For a read: the read port was in quarantine and waited for completions that are owed to an
    /// earlier descriptor. For either direction: the port was dead (STATUS.port_dead). None or some
    /// of the bytes after the first `bytes_done` were moved.
    PortDown = 8,
    /// A reset of the engines or an abort of the channel stopped the descriptor.
    Aborted = 9,
    /// The descriptor has reserved bits set, or names a port that this build does not have. Nothing
    /// was moved.
    Descriptor = 10,
    /// All bytes were sent, but the read that confirms their arrival was not answered or could not
    /// be issued.
    Flush = 11,
    /// Not all of the local addresses are inside the channel's range of FPGA memory. Nothing was
    /// moved.
    LocalRange = 12,
    /// A read request was answered with Unsupported Request. Only a port that carries the
    /// completion status reports this. `Txs` never answers such a read, and the descriptor ends
    /// with READ_TIMEOUT.
    Unsupported = 13,
    /// A read request was answered with Completer Abort. Only a port that carries the completion
    /// status reports this.
    CompleterAbort = 14,
    /// A read request was answered with poisoned data. Only a port that carries the completion
    /// status reports this. `Txs` passes poisoned data on as good data, and the descriptor ends
    /// with OK.
    Poisoned = 15,
    /// The first peer address of a write, or the address of its end, is not a multiple of the
    /// granularity of writes (CAPS2.write_granularity_log2). Nothing was moved.
    Alignment = 16,
}

impl StatusCode {
    /// Returns the value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// Returns the meaning of a value; the value itself, as the error, if it is unknown.
    pub const fn from_raw(raw: u32) -> Result<Self, u32> {
        match raw {
            0 => Ok(StatusCode::Ok),
            1 => Ok(StatusCode::Length),
            2 => Ok(StatusCode::AttBounds),
            3 => Ok(StatusCode::AttInvalid),
            4 => Ok(StatusCode::AttOwner),
            5 => Ok(StatusCode::AttPermission),
            6 => Ok(StatusCode::AttPageSize),
            7 => Ok(StatusCode::ReadTimeout),
            8 => Ok(StatusCode::PortDown),
            9 => Ok(StatusCode::Aborted),
            10 => Ok(StatusCode::Descriptor),
            11 => Ok(StatusCode::Flush),
            12 => Ok(StatusCode::LocalRange),
            13 => Ok(StatusCode::Unsupported),
            14 => Ok(StatusCode::CompleterAbort),
            15 => Ok(StatusCode::Poisoned),
            16 => Ok(StatusCode::Alignment),
            other => Err(other),
        }
    }
}

/// Size of the pages of a region. The value 3 is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum PageSize {
    /// 4 KiB: the entry index begins at bit 12 of the peer address.
    Kib4 = 0,
    /// 64 KiB: the entry index begins at bit 16 of the peer address.
    Kib64 = 1,
    /// 2 MiB: the entry index begins at bit 21 of the peer address.
    Mib2 = 2,
}

impl PageSize {
    /// Returns the value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// Returns the meaning of a value; the value itself, as the error, if it is unknown.
    pub const fn from_raw(raw: u32) -> Result<Self, u32> {
        match raw {
            0 => Ok(PageSize::Kib4),
            1 => Ok(PageSize::Kib64),
            2 => Ok(PageSize::Mib2),
            other => Err(other),
        }
    }
}

/// Direction of a transfer, seen from the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Direction {
    /// FPGA memory to peer (GPU or host): posted writes.
    Write = 0,
    /// Peer (GPU or host) to FPGA memory: reads with completions.
    Read = 1,
}

impl Direction {
    /// Returns the value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// Returns the meaning of a value; the value itself, as the error, if it is unknown.
    pub const fn from_raw(raw: u32) -> Result<Self, u32> {
        match raw {
            0 => Ok(Direction::Write),
            1 => Ok(Direction::Read),
            other => Err(other),
        }
    }
}

/// The FPGA-side port that a local address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Port {
    /// The board's global memory (DDR).
    Memory = 0,
    /// A stream of the FPGA's logic: for a write one from the logic, for a read one to the logic.
    /// The local address is the stream's number. A build without streams of this direction ends the
    /// descriptor with DESCRIPTOR.
    Stream = 1,
}

impl Port {
    /// Returns the value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// Returns the meaning of a value; the value itself, as the error, if it is unknown.
    pub const fn from_raw(raw: u32) -> Result<Self, u32> {
        match raw {
            0 => Ok(Port::Memory),
            1 => Ok(Port::Stream),
            other => Err(other),
        }
    }
}

/// Entry of the ATT: the size and the bus address of one page of a registered region, and the
/// accesses that the board may make to that page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct AttEntry {
    /// The whole entry.
    pub entry: u64,
}

const _: () = {
    assert!(core::mem::size_of::<AttEntry>() == 8);
    assert!(core::mem::offset_of!(AttEntry, entry) == 0);
};

impl AttEntry {
    /// Size in bytes.
    pub const SIZE: usize = 8;

    /// `entry` bits 0: 1: the entry maps a page. All other bits have a meaning only if this bit is
    /// 1.
    pub const fn entry_valid(self) -> bool {
        self.entry & 0x1 != 0
    }

    /// Sets [`Self::entry_valid`].
    #[must_use]
    pub const fn with_entry_valid(mut self, value: bool) -> Self {
        if value {
            self.entry |= 0x1;
        } else {
            self.entry &= !0x1;
        }
        self
    }

    /// `entry` bits 1: 1: the board may read the page (peer to FPGA).
    pub const fn entry_device_read(self) -> bool {
        self.entry & 0x2 != 0
    }

    /// Sets [`Self::entry_device_read`].
    #[must_use]
    pub const fn with_entry_device_read(mut self, value: bool) -> Self {
        if value {
            self.entry |= 0x2;
        } else {
            self.entry &= !0x2;
        }
        self
    }

    /// `entry` bits 2: 1: the board may write the page (FPGA to peer).
    pub const fn entry_device_write(self) -> bool {
        self.entry & 0x4 != 0
    }

    /// Sets [`Self::entry_device_write`].
    #[must_use]
    pub const fn with_entry_device_write(mut self, value: bool) -> Self {
        if value {
            self.entry |= 0x4;
        } else {
            self.entry &= !0x4;
        }
        self
    }

    /// `entry` bits 4:3: Size of the page.
    ///
    /// An unknown value is returned as the error.
    pub const fn entry_page_size(self) -> Result<PageSize, u32> {
        PageSize::from_raw((self.entry >> 3) as u32 & 0x3)
    }

    /// Sets [`Self::entry_page_size`].
    #[must_use]
    pub const fn with_entry_page_size(mut self, value: PageSize) -> Self {
        self.entry &= !0x18;
        self.entry |= (value.raw() as u64) << 3;
        self
    }

    /// `entry` bits 63:12: Bits 63:12 of the page's bus address, which is aligned to the page size.
    pub const fn entry_address(self) -> u64 {
        (self.entry >> 12) & 0xfffffffffffff
    }

    /// Sets [`Self::entry_address`]. Bits of `value` beyond the field's 52 are dropped.
    #[must_use]
    pub const fn with_entry_address(mut self, value: u64) -> Self {
        self.entry &= !0xfffffffffffff000;
        self.entry |= (value & 0xfffffffffffff) << 12;
        self
    }

    /// Returns the bytes of the record in memory.
    pub fn to_bytes(self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[0..8].copy_from_slice(&self.entry.to_le_bytes());
        bytes
    }

    /// Returns the record that has these bytes in memory.
    pub fn from_bytes(bytes: &[u8; 8]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            entry: u64::from(word(0)) | (u64::from(word(4)) << 32),
        }
    }

    /// Returns the 32-bit words of the record for a register window, lowest offset first.
    pub fn to_words(self) -> [u32; 2] {
        let bytes = self.to_bytes();
        core::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }
}

/// A vector of the MSI-X table (PCI Local Bus Specification 3.0, 6.8.2.6 to 6.8.2.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct MsixEntry {
    /// Address to which the message is written.
    pub message_address: u64,
    /// Data that the message writes.
    pub message_data: u32,
    /// State of the vector.
    pub vector_control: u32,
}

const _: () = {
    assert!(core::mem::size_of::<MsixEntry>() == 16);
    assert!(core::mem::offset_of!(MsixEntry, message_address) == 0);
    assert!(core::mem::offset_of!(MsixEntry, message_data) == 8);
    assert!(core::mem::offset_of!(MsixEntry, vector_control) == 12);
};

impl MsixEntry {
    /// Size in bytes.
    pub const SIZE: usize = 16;

    /// `message_address` bits 63:2: Bits 63:2 of the bus address.
    pub const fn message_address_address(self) -> u64 {
        (self.message_address >> 2) & 0x3fffffffffffffff
    }

    /// Sets [`Self::message_address_address`]. Bits of `value` beyond the field's 62 are dropped.
    #[must_use]
    pub const fn with_message_address_address(mut self, value: u64) -> Self {
        self.message_address &= !0xfffffffffffffffc;
        self.message_address |= (value & 0x3fffffffffffffff) << 2;
        self
    }

    /// `vector_control` bits 0: 1: the vector sends no message; its interrupt stays pending.
    pub const fn vector_control_mask(self) -> bool {
        self.vector_control & 0x1 != 0
    }

    /// Sets [`Self::vector_control_mask`].
    #[must_use]
    pub const fn with_vector_control_mask(mut self, value: bool) -> Self {
        if value {
            self.vector_control |= 0x1;
        } else {
            self.vector_control &= !0x1;
        }
        self
    }

    /// Returns the bytes of the record in memory.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[0..8].copy_from_slice(&self.message_address.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.message_data.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.vector_control.to_le_bytes());
        bytes
    }

    /// Returns the record that has these bytes in memory.
    pub fn from_bytes(bytes: &[u8; 16]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            message_address: u64::from(word(0)) | (u64::from(word(4)) << 32),
            message_data: word(8),
            vector_control: word(12),
        }
    }

    /// Returns the 32-bit words of the record for a register window, lowest offset first.
    pub fn to_words(self) -> [u32; 4] {
        let bytes = self.to_bytes();
        core::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }
}

/// One transfer, as software writes it to the WRITE_DESC or READ_DESC of a channel. The register
/// determines the direction. This version ignores the reserved words; write 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Descriptor {
    /// Start of the transfer on the peer's side, as an address in the ATT's space.
    pub peer: u64,
    /// Start of the transfer on the FPGA's side.
    pub local: u64,
    /// Length of the transfer.
    pub length: u32,
    /// Condition for the start of the transfer, and actions at its end.
    pub control: u32,
    /// Value that software chooses. The completion record returns it.
    pub cookie: u32,
    /// Reserved: zero.
    pub reserved_1c: [u32; 9],
}

const _: () = {
    assert!(core::mem::size_of::<Descriptor>() == 64);
    assert!(core::mem::offset_of!(Descriptor, peer) == 0);
    assert!(core::mem::offset_of!(Descriptor, local) == 8);
    assert!(core::mem::offset_of!(Descriptor, length) == 16);
    assert!(core::mem::offset_of!(Descriptor, control) == 20);
    assert!(core::mem::offset_of!(Descriptor, cookie) == 24);
    assert!(core::mem::offset_of!(Descriptor, reserved_1c) == 28);
};

impl Descriptor {
    /// Size in bytes.
    pub const SIZE: usize = 64;

    /// `peer` bits 61:0: (Index of the region's first ATT entry \<\< page shift) + byte offset in
    /// the region. The page shift is 12, 16 or 21, by the page size. The 16 bits from the page
    /// shift on are the entry index; all bits above the entry index are 0.
    pub const fn peer_address(self) -> u64 {
        self.peer & 0x3fffffffffffffff
    }

    /// Sets [`Self::peer_address`]. Bits of `value` beyond the field's 62 are dropped.
    #[must_use]
    pub const fn with_peer_address(mut self, value: u64) -> Self {
        self.peer &= !0x3fffffffffffffff;
        self.peer |= value & 0x3fffffffffffffff;
        self
    }

    /// `peer` bits 63:62: Page size of the region. It must be equal to the page size of every entry
    /// that the transfer touches.
    ///
    /// An unknown value is returned as the error.
    pub const fn peer_page_size(self) -> Result<PageSize, u32> {
        PageSize::from_raw((self.peer >> 62) as u32 & 0x3)
    }

    /// Sets [`Self::peer_page_size`].
    #[must_use]
    pub const fn with_peer_page_size(mut self, value: PageSize) -> Self {
        self.peer &= !0xc000000000000000;
        self.peer |= (value.raw() as u64) << 62;
        self
    }

    /// `local` bits 39:0: Byte address at the port.
    pub const fn local_address(self) -> u64 {
        self.local & 0xffffffffff
    }

    /// Sets [`Self::local_address`]. Bits of `value` beyond the field's 40 are dropped.
    #[must_use]
    pub const fn with_local_address(mut self, value: u64) -> Self {
        self.local &= !0xffffffffff;
        self.local |= value & 0xffffffffff;
        self
    }

    /// `local` bits 63:60: The FPGA-side port.
    ///
    /// An unknown value is returned as the error.
    pub const fn local_port(self) -> Result<Port, u32> {
        Port::from_raw((self.local >> 60) as u32 & 0xf)
    }

    /// Sets [`Self::local_port`].
    #[must_use]
    pub const fn with_local_port(mut self, value: Port) -> Self {
        self.local &= !0xf000000000000000;
        self.local |= (value.raw() as u64) << 60;
        self
    }

    /// `control` bits 0: 1: write a completion record to the channel's ring. A descriptor that ends
    /// with a fault writes a record in any case.
    pub const fn control_record(self) -> bool {
        self.control & 0x1 != 0
    }

    /// Sets [`Self::control_record`].
    #[must_use]
    pub const fn with_control_record(mut self, value: bool) -> Self {
        if value {
            self.control |= 0x1;
        } else {
            self.control &= !0x1;
        }
        self
    }

    /// `control` bits 1: 1: raise the interrupt (IRQ_STATUS.completion) after a completion record.
    /// This record is written even if `record` is 0.
    pub const fn control_irq(self) -> bool {
        self.control & 0x2 != 0
    }

    /// Sets [`Self::control_irq`].
    #[must_use]
    pub const fn with_control_irq(mut self, value: bool) -> Self {
        if value {
            self.control |= 0x2;
        } else {
            self.control &= !0x2;
        }
        self
    }

    /// `control` bits 2: Only for writes. 0: before the completion record, the block reads back
    /// from the last destination, so the record reports that the data have arrived. Where the ATT
    /// entry does not permit reads, the block cannot read back, and the record reports only that
    /// the data were sent. 1: the record follows the data at once.
    pub const fn control_no_flush(self) -> bool {
        self.control & 0x4 != 0
    }

    /// Sets [`Self::control_no_flush`].
    #[must_use]
    pub const fn with_control_no_flush(mut self, value: bool) -> Self {
        if value {
            self.control |= 0x4;
        } else {
            self.control &= !0x4;
        }
        self
    }

    /// `control` bits 3: 1, with `irq`: the channel's moderation does not hold back the interrupt.
    pub const fn control_urgent(self) -> bool {
        self.control & 0x8 != 0
    }

    /// Sets [`Self::control_urgent`].
    #[must_use]
    pub const fn with_control_urgent(mut self, value: bool) -> Self {
        if value {
            self.control |= 0x8;
        } else {
            self.control &= !0x8;
        }
        self
    }

    /// `control` bits 4: 1: the descriptor is chained. It starts when every write descriptor of the
    /// channel that was queued before it has ended, with any code.
    pub const fn control_after_write(self) -> bool {
        self.control & 0x10 != 0
    }

    /// Sets [`Self::control_after_write`].
    #[must_use]
    pub const fn with_control_after_write(mut self, value: bool) -> Self {
        if value {
            self.control |= 0x10;
        } else {
            self.control &= !0x10;
        }
        self
    }

    /// `control` bits 5: 1: the descriptor is chained. It starts when every read descriptor of the
    /// channel that was queued before it has ended, with any code.
    pub const fn control_after_read(self) -> bool {
        self.control & 0x20 != 0
    }

    /// Sets [`Self::control_after_read`].
    #[must_use]
    pub const fn with_control_after_read(mut self, value: bool) -> Self {
        if value {
            self.control |= 0x20;
        } else {
            self.control &= !0x20;
        }
        self
    }

    /// Returns the bytes of the record in memory.
    pub fn to_bytes(self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0..8].copy_from_slice(&self.peer.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.local.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.length.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.control.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.cookie.to_le_bytes());
        for (index, word) in self.reserved_1c.iter().enumerate() {
            let at = 28 + 4 * index;
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns the record that has these bytes in memory.
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            peer: u64::from(word(0)) | (u64::from(word(4)) << 32),
            local: u64::from(word(8)) | (u64::from(word(12)) << 32),
            length: word(16),
            control: word(20),
            cookie: word(24),
            reserved_1c: core::array::from_fn(|index| word(28 + 4 * index)),
        }
    }

    /// Returns the 32-bit words of the record for a register window, lowest offset first.
    pub fn to_words(self) -> [u32; 16] {
        let bytes = self.to_bytes();
        core::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }
}

/// Completion record: the result of a descriptor. The block writes the record to the next slot of
/// the channel's ring. Software polls `phase` in the slot in which it expects the next record. The
/// dwords of a record become visible in ascending order, and not all at once (PCI Express Base
/// Specification 4.0, 2.4.3). So a slot with a new `phase` has all dwords of the record up to
/// `sequence` once `sequence` has the number of this record. Wait for that number. After an acquire
/// barrier, read the dwords before `sequence`. Every accepted descriptor reserves a slot, whether
/// it asks for a record or not, until a doorbell reports the descriptor as freed. So software that
/// reads slowly is refused doorbells, and loses no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Completion {
    /// Cookie of the descriptor.
    pub cookie: u32,
    /// Result and origin.
    pub status: u32,
    /// Progress of the transfer.
    pub bytes_done: u32,
    /// Position of the record in the channel's history.
    pub sequence: u32,
    /// Start of the request that failed.
    pub fault_address: u64,
    /// Reserved: zero.
    pub reserved_18: [u32; 2],
}

const _: () = {
    assert!(core::mem::size_of::<Completion>() == 32);
    assert!(core::mem::offset_of!(Completion, cookie) == 0);
    assert!(core::mem::offset_of!(Completion, status) == 4);
    assert!(core::mem::offset_of!(Completion, bytes_done) == 8);
    assert!(core::mem::offset_of!(Completion, sequence) == 12);
    assert!(core::mem::offset_of!(Completion, fault_address) == 16);
    assert!(core::mem::offset_of!(Completion, reserved_18) == 24);
};

impl Completion {
    /// Size in bytes.
    pub const SIZE: usize = 32;

    /// `status` bits 0: 1 on the first lap of the ring, then the opposite value on each further
    /// lap. A slot has a new record when this bit differs from its value on the lap before. So fill
    /// the ring with phase 0 before it is enabled.
    pub const fn status_phase(self) -> bool {
        self.status & 0x1 != 0
    }

    /// Sets [`Self::status_phase`].
    #[must_use]
    pub const fn with_status_phase(mut self, value: bool) -> Self {
        if value {
            self.status |= 0x1;
        } else {
            self.status &= !0x1;
        }
        self
    }

    /// `status` bits 1: Direction of the transfer.
    ///
    /// An unknown value is returned as the error.
    pub const fn status_direction(self) -> Result<Direction, u32> {
        Direction::from_raw((self.status >> 1) & 0x1)
    }

    /// Sets [`Self::status_direction`].
    #[must_use]
    pub const fn with_status_direction(mut self, value: Direction) -> Self {
        self.status &= !0x2;
        self.status |= value.raw() << 1;
        self
    }

    /// `status` bits 15:8: Channel of the descriptor.
    pub const fn status_channel(self) -> u32 {
        (self.status >> 8) & 0xff
    }

    /// Sets [`Self::status_channel`]. Bits of `value` beyond the field's 8 are dropped.
    #[must_use]
    pub const fn with_status_channel(mut self, value: u32) -> Self {
        self.status &= !0xff00;
        self.status |= (value & 0xff) << 8;
        self
    }

    /// `status` bits 23:16: Result of the descriptor. The block writes no code from 128 on: with
    /// these codes, software marks slots that hold no record.
    ///
    /// An unknown value is returned as the error.
    pub const fn status_code(self) -> Result<StatusCode, u32> {
        StatusCode::from_raw((self.status >> 16) & 0xff)
    }

    /// Sets [`Self::status_code`].
    #[must_use]
    pub const fn with_status_code(mut self, value: StatusCode) -> Self {
        self.status &= !0xff0000;
        self.status |= value.raw() << 16;
        self
    }

    /// Returns the bytes of the record in memory.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[0..4].copy_from_slice(&self.cookie.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.status.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.bytes_done.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.fault_address.to_le_bytes());
        for (index, word) in self.reserved_18.iter().enumerate() {
            let at = 24 + 4 * index;
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns the record that has these bytes in memory.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            cookie: word(0),
            status: word(4),
            bytes_done: word(8),
            sequence: word(12),
            fault_address: u64::from(word(16)) | (u64::from(word(20)) << 32),
            reserved_18: core::array::from_fn(|index| word(24 + 4 * index)),
        }
    }

    /// Returns the 32-bit words of the record for a register window, lowest offset first.
    pub fn to_words(self) -> [u32; 8] {
        let bytes = self.to_bytes();
        core::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }
}
