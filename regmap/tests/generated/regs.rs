// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers, records and codes of the register map `peerlane`, version 1.
//!
//! Offsets are in bytes. A 64-bit register has a constant for each of its 32-bit words. Records
//! hold integers of the CPU's byte order; `to_bytes` and `from_bytes` convert from and to the little
//! endian form in memory.

/// Hash of the map, the value of MAP_ID. Refuse hardware that has another one.
pub const MAP_ID: u32 = 0xd4f4_9f9a;

/// Version of the map.
pub const MAP_VERSION: u32 = 1;

/// Control and status of the whole block, at the base where the BSP's `acl_dma` had its control
/// port. Only the driver maps it.
pub mod csr {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x400;
    /// Byte offset of MAP_ID. Identifies this register map. Software refuses a block whose
    /// value differs from its own.
    pub const MAP_ID: usize = 0x0;
    /// Mask of MAP_ID.value (bits 31:0, ro). First 32 bits of the SHA-256 of the map's
    /// canonical form. It changes with every change of an address, a field, a record or a code,
    /// and not with a change of wording.
    pub const MAP_ID_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const MAP_ID_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const MAP_ID_VALUE_WIDTH: usize = 32;
    /// Byte offset of BUILD_ID. Identifies this build of the block: the map, the parameters it
    /// was generated with, and where its slaves lie in the host's BAR.
    pub const BUILD_ID: usize = 0x4;
    /// Mask of BUILD_ID.value (bits 31:0, ro). First 32 bits of the SHA-256 of the map's
    /// canonical form followed by the build parameters.
    pub const BUILD_ID_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const BUILD_ID_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const BUILD_ID_VALUE_WIDTH: usize = 32;
    /// Byte offset of CAPS0. Capabilities of this build, first word.
    pub const CAPS0: usize = 0x8;
    /// Mask of CAPS0.version (bits 7:0, ro). Version of the register map. It is raised when
    /// software written for the older map cannot drive the newer block.
    pub const CAPS0_VERSION_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const CAPS0_VERSION_LSB: usize = 0;
    /// Number of its bits.
    pub const CAPS0_VERSION_WIDTH: usize = 8;
    /// Mask of CAPS0.channels (bits 15:8, ro). Number of channels, and so of 4 KiB channel
    /// pages.
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
    /// takes: 64, an ATT entry holds a PCIe bus address; 32, it holds an address inside the
    /// PCIe IP's own translation windows.
    pub const CAPS0_TXS_ADDR_BITS_MASK: u32 = 0xff00_0000;
    /// Position of its lowest bit.
    pub const CAPS0_TXS_ADDR_BITS_LSB: usize = 24;
    /// Number of its bits.
    pub const CAPS0_TXS_ADDR_BITS_WIDTH: usize = 8;
    /// Byte offset of CAPS1. Capabilities of this build, second word.
    pub const CAPS1: usize = 0xc;
    /// Mask of CAPS1.queue_log2 (bits 7:0, ro). Descriptors in all queues of one direction.
    /// Each channel has an equal share: 2^queue_log2 / channels.
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
    /// Mask of CAPS1.max_burst_log2 (bits 23:16, ro). Longest request that the block gives to
    /// the PCIe port.
    pub const CAPS1_MAX_BURST_LOG2_MASK: u32 = 0x00ff_0000;
    /// Position of its lowest bit.
    pub const CAPS1_MAX_BURST_LOG2_LSB: usize = 16;
    /// Number of its bits.
    pub const CAPS1_MAX_BURST_LOG2_WIDTH: usize = 8;
    /// Mask of CAPS1.mem_addr_bits (bits 31:24, ro). Bytes of FPGA memory, log2. A descriptor
    /// that reaches beyond ends with LENGTH and moves nothing.
    pub const CAPS1_MEM_ADDR_BITS_MASK: u32 = 0xff00_0000;
    /// Position of its lowest bit.
    pub const CAPS1_MEM_ADDR_BITS_LSB: usize = 24;
    /// Number of its bits.
    pub const CAPS1_MEM_ADDR_BITS_WIDTH: usize = 8;
    /// Byte offset of CONTROL. Runs, stops and resets the block.
    pub const CONTROL: usize = 0x10;
    /// Mask of CONTROL.enable (bits 0, rw). 1: queued descriptors are executed. 0: no new
    /// descriptor is started; one that runs is finished.
    pub const CONTROL_ENABLE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const CONTROL_ENABLE_LSB: usize = 0;
    /// Number of its bits.
    pub const CONTROL_ENABLE_WIDTH: usize = 1;
    /// Mask of CONTROL.irq_enable (bits 1, rw). 1: the interrupt line is high while any bit of
    /// IRQ_STATUS is set. 0: the line is low; IRQ_STATUS is kept.
    pub const CONTROL_IRQ_ENABLE_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const CONTROL_IRQ_ENABLE_LSB: usize = 1;
    /// Number of its bits.
    pub const CONTROL_IRQ_ENABLE_WIDTH: usize = 1;
    /// Mask of CONTROL.reset (bits 8, pulse). Write 1: every descriptor that was accepted ends
    /// with ABORTED, the running ones at their next request, and doorbells are refused until
    /// STATUS.write_busy, read_busy and completer_busy read 0. The ATT, the rings and all
    /// settings are kept. Completions that are still owed to reads stay counted
    /// (STATUS.read_quarantine).
    pub const CONTROL_RESET_MASK: u32 = 0x0000_0100;
    /// Position of its lowest bit.
    pub const CONTROL_RESET_LSB: usize = 8;
    /// Number of its bits.
    pub const CONTROL_RESET_WIDTH: usize = 1;
    /// Byte offset of STATUS. What the engines are doing.
    pub const STATUS: usize = 0x14;
    /// Mask of STATUS.write_busy (bits 0, ro). A write descriptor (FPGA to peer) of any channel
    /// is queued or under way, or the last of it stands untaken at the PCIe port.
    pub const STATUS_WRITE_BUSY_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const STATUS_WRITE_BUSY_LSB: usize = 0;
    /// Number of its bits.
    pub const STATUS_WRITE_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.read_busy (bits 1, ro). A read descriptor (peer to FPGA) of any channel
    /// is queued or under way, or the last of it stands untaken at the PCIe port.
    pub const STATUS_READ_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const STATUS_READ_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const STATUS_READ_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.read_quarantine (bits 2, ro). A read timed out, or the block was reset
    /// from the side of FPGA memory alone, and its completion has not come. No read is issued
    /// until every completion that is owed has arrived and been dropped, or, where reads have
    /// tags, the driver writes QUARANTINE.
    pub const STATUS_READ_QUARANTINE_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const STATUS_READ_QUARANTINE_LSB: usize = 2;
    /// Number of its bits.
    pub const STATUS_READ_QUARANTINE_WIDTH: usize = 1;
    /// Mask of STATUS.att_sweep (bits 3, ro). The ATT is being cleared after a reset of the
    /// block. Wait for 0 before the first write to the ATT.
    pub const STATUS_ATT_SWEEP_MASK: u32 = 0x0000_0008;
    /// Position of its lowest bit.
    pub const STATUS_ATT_SWEEP_LSB: usize = 3;
    /// Number of its bits.
    pub const STATUS_ATT_SWEEP_WIDTH: usize = 1;
    /// Mask of STATUS.completer_busy (bits 4, ro). A completion record waits to be sent, or
    /// stands untaken at the PCIe port, or a burst does that was begun before the block was
    /// reset from the side of FPGA memory.
    pub const STATUS_COMPLETER_BUSY_MASK: u32 = 0x0000_0010;
    /// Position of its lowest bit.
    pub const STATUS_COMPLETER_BUSY_LSB: usize = 4;
    /// Number of its bits.
    pub const STATUS_COMPLETER_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.port_dead (bits 5, ro). The PCIe port has not taken a request or a beat
    /// of data for PORT_TIMEOUT: what the engines send is dropped and ends with PORT_DOWN, so
    /// that every descriptor ends. Or the receive side has failed (LINK.rx_failed): reads end
    /// without data, or not at all, and writes go on. A port that goes on (Bus Master Enable is
    /// set again, the link is back) first takes the rest of the burst that stands there, up to
    /// 512 bytes, of which all but the first beat may be zeros. Then it opens by itself, which
    /// sets IRQ_STATUS.error. CONTROL.reset does not open it; the block's reset inputs do (a
    /// new configuration of the FPGA, or a reset of the link that the hard IP passes on), and a
    /// receive side that has failed needs them. Records of the meantime are lost, so a channel
    /// that had anything under way needs its ring set again. Memory that was registered must
    /// not be given back before a fence that ended while this read 0.
    pub const STATUS_PORT_DEAD_MASK: u32 = 0x0000_0020;
    /// Position of its lowest bit.
    pub const STATUS_PORT_DEAD_LSB: usize = 5;
    /// Number of its bits.
    pub const STATUS_PORT_DEAD_WIDTH: usize = 1;
    /// Mask of STATUS.port_lost (bits 6, ro). The PCIe port has been dead since the last reset
    /// of the block or CONTROL.reset. It may be open again (port_dead reads 0), but records and
    /// writes of that time are lost: software resets the block and fails the transfers that
    /// were under way.
    pub const STATUS_PORT_LOST_MASK: u32 = 0x0000_0040;
    /// Position of its lowest bit.
    pub const STATUS_PORT_LOST_LSB: usize = 6;
    /// Number of its bits.
    pub const STATUS_PORT_LOST_WIDTH: usize = 1;
    /// Byte offset of IRQ_STATUS. Causes of the interrupt. An event and a clear in the same
    /// cycle leave the bit set.
    pub const IRQ_STATUS: usize = 0x18;
    /// Mask of IRQ_STATUS.completion (bits 0, w1c). A descriptor with `irq` set has ended, the
    /// PCIe port has taken its completion record before, and its channel's moderation lets the
    /// interrupt through.
    pub const IRQ_STATUS_COMPLETION_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const IRQ_STATUS_COMPLETION_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQ_STATUS_COMPLETION_WIDTH: usize = 1;
    /// Mask of IRQ_STATUS.error (bits 1, w1c). A descriptor has ended with a status code other
    /// than OK. Or a dead port has opened again (STATUS.port_dead): records, and interrupts
    /// that are messages, of the meantime are lost.
    pub const IRQ_STATUS_ERROR_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const IRQ_STATUS_ERROR_LSB: usize = 1;
    /// Number of its bits.
    pub const IRQ_STATUS_ERROR_WIDTH: usize = 1;
    /// Mask of IRQ_STATUS.refused (bits 2, w1c). A doorbell of any channel was refused. The
    /// channel's REFUSED register says which.
    pub const IRQ_STATUS_REFUSED_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const IRQ_STATUS_REFUSED_LSB: usize = 2;
    /// Number of its bits.
    pub const IRQ_STATUS_REFUSED_WIDTH: usize = 1;
    /// Byte offset of CAPS2. Capabilities of this build, third word.
    pub const CAPS2: usize = 0x1c;
    /// Mask of CAPS2.reads_log2 (bits 7:0, ro). Read requests that can be under way between the
    /// request maker and FPGA memory.
    pub const CAPS2_READS_LOG2_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const CAPS2_READS_LOG2_LSB: usize = 0;
    /// Number of its bits.
    pub const CAPS2_READS_LOG2_WIDTH: usize = 8;
    /// Mask of CAPS2.tagged (bits 8, ro). 1: the PCIe port is a tagged stream, whose
    /// completions carry a status. 0: it is an Avalon-MM `Txs` port, answered in order.
    pub const CAPS2_TAGGED_MASK: u32 = 0x0000_0100;
    /// Position of its lowest bit.
    pub const CAPS2_TAGGED_LSB: usize = 8;
    /// Number of its bits.
    pub const CAPS2_TAGGED_WIDTH: usize = 1;
    /// Mask of CAPS2.msix (bits 9, ro). 1: the block has an MSI-X table. 0: it has the
    /// interrupt line only.
    pub const CAPS2_MSIX_MASK: u32 = 0x0000_0200;
    /// Position of its lowest bit.
    pub const CAPS2_MSIX_LSB: usize = 9;
    /// Number of its bits.
    pub const CAPS2_MSIX_WIDTH: usize = 1;
    /// Mask of CAPS2.tlp (bits 10, ro). 1: the block has a transaction layer of its own on the
    /// hard IP's Avalon-ST interface, and LINK, LINK_REFUSALS, LINK_ERRORS and LINK_LOSSES say
    /// how it does.
    pub const CAPS2_TLP_MASK: u32 = 0x0000_0400;
    /// Position of its lowest bit.
    pub const CAPS2_TLP_LSB: usize = 10;
    /// Number of its bits.
    pub const CAPS2_TLP_WIDTH: usize = 1;
    /// Mask of CAPS2.write_granularity_log2 (bits 13:12, ro). Granularity of writes at the
    /// peer. 0: a write may begin and end at any byte. 2: its first address and the end of it
    /// must be multiples of 4 bytes, else it ends with ALIGNMENT; `Txs` of the V-series hard IP
    /// enables whole dwords only. Addresses in FPGA memory, and reads, may have any alignment.
    pub const CAPS2_WRITE_GRANULARITY_LOG2_MASK: u32 = 0x0000_3000;
    /// Position of its lowest bit.
    pub const CAPS2_WRITE_GRANULARITY_LOG2_LSB: usize = 12;
    /// Number of its bits.
    pub const CAPS2_WRITE_GRANULARITY_LOG2_WIDTH: usize = 2;
    /// Byte offset of PORT_TIMEOUT. Longest wait for the PCIe port.
    pub const PORT_TIMEOUT: usize = 0x20;
    /// Mask of PORT_TIMEOUT.cycles (bits 31:0, rw). Time without an answer after which a read
    /// request ends with READ_TIMEOUT and what it is owed goes into quarantine; and time
    /// without taking a request or a beat of data after which the port is dead. The reset value
    /// is 50 ms at 250 MHz. 0 turns both off.
    pub const PORT_TIMEOUT_CYCLES_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const PORT_TIMEOUT_CYCLES_LSB: usize = 0;
    /// Number of its bits.
    pub const PORT_TIMEOUT_CYCLES_WIDTH: usize = 32;
    /// PORT_TIMEOUT after reset.
    pub const PORT_TIMEOUT_RESET: u32 = 0x00be_bc20;
    /// Byte offset of PORT_PACE. Rate of the link, so that reads need not queue behind writes
    /// in the PCIe port's buffer. Only a `Txs` port uses it; a tagged stream has credits.
    pub const PORT_PACE: usize = 0x24;
    /// Mask of PORT_PACE.rate (bits 15:0, rw). Bytes that the link carries towards the host,
    /// headers and framing included, less one or two parts in a hundred for what the block does
    /// not see. While reads are under way, writes are sent no faster. 0: they are sent as fast
    /// as the port takes them.
    pub const PORT_PACE_RATE_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const PORT_PACE_RATE_LSB: usize = 0;
    /// Number of its bits.
    pub const PORT_PACE_RATE_WIDTH: usize = 16;
    /// Byte offset of QUARANTINE. Ends the quarantine of reads by hand, where reads have tags
    /// (CAPS2.tagged).
    pub const QUARANTINE: usize = 0x28;
    /// Mask of QUARANTINE.drop_owed (bits 0, pulse). Write 1: forgets the completions that are
    /// still owed, and opens the read port or the lost tags. Only correct after a link reset or
    /// a similar event made sure that none of them can come any more: a late completion would
    /// be taken as the answer to a new read. Without effect on `Txs`: the hard IP's bridge
    /// answers in order and forgets nothing, so until its own reset a new read would get the
    /// data of the old one, or none.
    pub const QUARANTINE_DROP_OWED_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const QUARANTINE_DROP_OWED_LSB: usize = 0;
    /// Number of its bits.
    pub const QUARANTINE_DROP_OWED_WIDTH: usize = 1;
    /// Byte offset of COUNTER_SNAPSHOT. Copies all counters at once, so that both words of
    /// each, and all of them together, belong to the same cycle.
    pub const COUNTER_SNAPSHOT: usize = 0x2c;
    /// Mask of COUNTER_SNAPSHOT.take (bits 0, pulse). Write 1: the counter registers show the
    /// values of this moment until the next snapshot. Before the first one they read as 0.
    pub const COUNTER_SNAPSHOT_TAKE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const COUNTER_SNAPSHOT_TAKE_LSB: usize = 0;
    /// Number of its bits.
    pub const COUNTER_SNAPSHOT_TAKE_WIDTH: usize = 1;
    /// Mask of COUNTER_SNAPSHOT.busy (bits 1, ro). The snapshot is not yet complete; read the
    /// counters when this is 0. A `take` meanwhile waits its turn.
    pub const COUNTER_SNAPSHOT_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const COUNTER_SNAPSHOT_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const COUNTER_SNAPSHOT_BUSY_WIDTH: usize = 1;
    /// Byte offset of ATT_OWNER (low word). Owner of the ATT entries that are written from now
    /// on.
    pub const ATT_OWNER_LO: usize = 0x30;
    /// Mask of ATT_OWNER_LO.channels (bits 31:0, rw). One bit a channel: the mask that is
    /// stored with an ATT entry when its high word is written. A channel whose bit is 0 cannot
    /// use the entry.
    pub const ATT_OWNER_LO_CHANNELS_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const ATT_OWNER_LO_CHANNELS_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_OWNER_LO_CHANNELS_WIDTH: usize = 32;
    /// Byte offset of ATT_OWNER (high word). Owner of the ATT entries that are written from now
    /// on.
    pub const ATT_OWNER_HI: usize = 0x34;
    /// Mask of ATT_OWNER_HI.channels (bits 31:0, rw). One bit a channel: the mask that is
    /// stored with an ATT entry when its high word is written. A channel whose bit is 0 cannot
    /// use the entry.
    pub const ATT_OWNER_HI_CHANNELS_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const ATT_OWNER_HI_CHANNELS_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_OWNER_HI_CHANNELS_WIDTH: usize = 32;
    /// Byte offset of ATT_INVALIDATE. A fence for changes of the ATT. Write the entries, then 1
    /// to `start`; when `busy` reads 0, every request that was translated with an older content
    /// has ended: reads were answered or given up, writes were taken by the PCIe port. With
    /// `flush` they have also arrived where ATT_FLUSH says. A start that falls into a reset of
    /// the block is lost: CONTROL.enable tells.
    pub const ATT_INVALIDATE: usize = 0x38;
    /// Mask of ATT_INVALIDATE.start (bits 0, pulse). Write 1: begins a fence. Not while `busy`.
    pub const ATT_INVALIDATE_START_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_START_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_INVALIDATE_START_WIDTH: usize = 1;
    /// Mask of ATT_INVALIDATE.busy (bits 1, ro). The fence is not yet reached, or a burst
    /// stands at the PCIe port that was begun before the block was reset from the side of FPGA
    /// memory. Transfers of all channels go on meanwhile.
    pub const ATT_INVALIDATE_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const ATT_INVALIDATE_BUSY_WIDTH: usize = 1;
    /// Mask of ATT_INVALIDATE.flush (bits 2, pulse). Write 1 together with `start`: behind
    /// those writes a read of ATT_FLUSH leaves, and the fence is reached when it has come back
    /// or was given up after PORT_TIMEOUT. A read does not pass a posted write (PCI Express
    /// Base Specification, table of ordering rules), so an answer from a peer says that what
    /// was written to this peer before is there. `failed` says that none came; an error status
    /// counts as an answer only on a port that carries none (`Txs` never answers such a read).
    pub const ATT_INVALIDATE_FLUSH_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_FLUSH_LSB: usize = 2;
    /// Number of its bits.
    pub const ATT_INVALIDATE_FLUSH_WIDTH: usize = 1;
    /// Mask of ATT_INVALIDATE.failed (bits 3, ro). The last fence with `flush` was reached
    /// without an answer to its read: the read was given up, or was not sent, because reads
    /// were in quarantine or the port was dead. Writes may still be on their way then.
    pub const ATT_INVALIDATE_FAILED_MASK: u32 = 0x0000_0008;
    /// Position of its lowest bit.
    pub const ATT_INVALIDATE_FAILED_LSB: usize = 3;
    /// Number of its bits.
    pub const ATT_INVALIDATE_FAILED_WIDTH: usize = 1;
    /// Byte offset of ATT_FLUSH (low word). Where a fence with `flush` reads: a bus address in
    /// memory that is still there when the fence is reached. Not to be written while a fence is
    /// busy.
    pub const ATT_FLUSH_LO: usize = 0x40;
    /// Mask of ATT_FLUSH_LO.address (bits 31:6, rw). Bits 63:6 of the bus address; the read
    /// takes the first bytes there, as many as the port is wide.
    pub const ATT_FLUSH_LO_ADDRESS_MASK: u32 = 0xffff_ffc0;
    /// Position of its lowest bit.
    pub const ATT_FLUSH_LO_ADDRESS_LSB: usize = 6;
    /// Number of its bits.
    pub const ATT_FLUSH_LO_ADDRESS_WIDTH: usize = 26;
    /// Byte offset of ATT_FLUSH (high word). Where a fence with `flush` reads: a bus address in
    /// memory that is still there when the fence is reached. Not to be written while a fence is
    /// busy.
    pub const ATT_FLUSH_HI: usize = 0x44;
    /// Mask of ATT_FLUSH_HI.address (bits 31:0, rw). Bits 63:6 of the bus address; the read
    /// takes the first bytes there, as many as the port is wide.
    pub const ATT_FLUSH_HI_ADDRESS_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const ATT_FLUSH_HI_ADDRESS_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_FLUSH_HI_ADDRESS_WIDTH: usize = 32;
    /// Byte offset of LINK. What software has set in the function's configuration, and what the
    /// hard IP has. The two sizes are there with CAPS2.tagged, the rest with CAPS2.tlp; 0 in
    /// other builds.
    pub const LINK: usize = 0x48;
    /// Mask of LINK.max_payload (bits 2:0, ro). Max Payload Size: 128 bytes shifted left by it.
    pub const LINK_MAX_PAYLOAD_MASK: u32 = 0x0000_0007;
    /// Position of its lowest bit.
    pub const LINK_MAX_PAYLOAD_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_MAX_PAYLOAD_WIDTH: usize = 3;
    /// Mask of LINK.max_request (bits 6:4, ro). Max Read Request Size: 128 bytes shifted left
    /// by it. No read is longer, and none is longer than 512 bytes.
    pub const LINK_MAX_REQUEST_MASK: u32 = 0x0000_0070;
    /// Position of its lowest bit.
    pub const LINK_MAX_REQUEST_LSB: usize = 4;
    /// Number of its bits.
    pub const LINK_MAX_REQUEST_WIDTH: usize = 3;
    /// Mask of LINK.read_tags (bits 15:8, ro). Tags for reads of data: 56 while software has
    /// set Extended Tag Field Enable, else 24. Flush reads have eight more.
    pub const LINK_READ_TAGS_MASK: u32 = 0x0000_ff00;
    /// Position of its lowest bit.
    pub const LINK_READ_TAGS_LSB: usize = 8;
    /// Number of its bits.
    pub const LINK_READ_TAGS_WIDTH: usize = 8;
    /// Mask of LINK.completion_space (bits 23:16, ro). Completions that the hard IP's receive
    /// buffer has room for. A read takes one for each line of 64 bytes that it touches.
    pub const LINK_COMPLETION_SPACE_MASK: u32 = 0x00ff_0000;
    /// Position of its lowest bit.
    pub const LINK_COMPLETION_SPACE_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_COMPLETION_SPACE_WIDTH: usize = 8;
    /// Mask of LINK.rx_failed (bits 24, ro). 1: the receive side has failed. The hard IP has
    /// lost data, and no read ends with any until a reset of the PCIe side. Or reads that were
    /// given up have all tags or all room for completions, and reads end with READ_TIMEOUT.
    /// STATUS.port_dead says so, too.
    pub const LINK_RX_FAILED_MASK: u32 = 0x0100_0000;
    /// Position of its lowest bit.
    pub const LINK_RX_FAILED_LSB: usize = 24;
    /// Number of its bits.
    pub const LINK_RX_FAILED_WIDTH: usize = 1;
    /// Byte offset of LINK_REFUSALS. Completions with an error status since the reset of the
    /// PCIe side, up to 65535 each.
    pub const LINK_REFUSALS: usize = 0x4c;
    /// Mask of LINK_REFUSALS.unsupported (bits 15:0, ro). Unsupported Request, or a status that
    /// is reserved.
    pub const LINK_REFUSALS_UNSUPPORTED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const LINK_REFUSALS_UNSUPPORTED_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_REFUSALS_UNSUPPORTED_WIDTH: usize = 16;
    /// Mask of LINK_REFUSALS.aborted (bits 31:16, ro). Completer Abort.
    pub const LINK_REFUSALS_ABORTED_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const LINK_REFUSALS_ABORTED_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_REFUSALS_ABORTED_WIDTH: usize = 16;
    /// Byte offset of LINK_ERRORS. Completions that were wrong since the reset of the PCIe
    /// side, up to 65535 each.
    pub const LINK_ERRORS: usize = 0x50;
    /// Mask of LINK_ERRORS.poisoned (bits 15:0, ro). Their data are marked as wrong.
    pub const LINK_ERRORS_POISONED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const LINK_ERRORS_POISONED_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_ERRORS_POISONED_WIDTH: usize = 16;
    /// Mask of LINK_ERRORS.malformed (bits 31:16, ro). Address, byte count or length do not fit
    /// the read.
    pub const LINK_ERRORS_MALFORMED_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const LINK_ERRORS_MALFORMED_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_ERRORS_MALFORMED_WIDTH: usize = 16;
    /// Byte offset of LINK_LOSSES. Reads and completions without the other since the reset of
    /// the PCIe side, up to 65535 each.
    pub const LINK_LOSSES: usize = 0x54;
    /// Mask of LINK_LOSSES.unexpected (bits 15:0, ro). Completions of no read.
    pub const LINK_LOSSES_UNEXPECTED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const LINK_LOSSES_UNEXPECTED_LSB: usize = 0;
    /// Number of its bits.
    pub const LINK_LOSSES_UNEXPECTED_WIDTH: usize = 16;
    /// Mask of LINK_LOSSES.expired (bits 31:16, ro). Reads of which nothing came any more.
    pub const LINK_LOSSES_EXPIRED_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const LINK_LOSSES_EXPIRED_LSB: usize = 16;
    /// Number of its bits.
    pub const LINK_LOSSES_EXPIRED_WIDTH: usize = 16;
    /// Byte offset of WINDOW (low word). Place of the host's 64 KiB memory window (`s_nondma`)
    /// in the FPGA memory. A reset keeps it: who uses the window while another resets the block
    /// goes on to see the memory that is his. The offset is that of the window control of
    /// `acl_dma`.
    pub const WINDOW_LO: usize = 0x70;
    /// Mask of WINDOW_LO.base (bits 31:16, rw). Bits 39:16 of the byte address in FPGA memory
    /// that the first byte of the window shows.
    pub const WINDOW_LO_BASE_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const WINDOW_LO_BASE_LSB: usize = 16;
    /// Number of its bits.
    pub const WINDOW_LO_BASE_WIDTH: usize = 16;
    /// Byte offset of WINDOW (high word). Place of the host's 64 KiB memory window (`s_nondma`)
    /// in the FPGA memory. A reset keeps it: who uses the window while another resets the block
    /// goes on to see the memory that is his. The offset is that of the window control of
    /// `acl_dma`.
    pub const WINDOW_HI: usize = 0x74;
    /// Mask of WINDOW_HI.base (bits 7:0, rw). Bits 39:16 of the byte address in FPGA memory
    /// that the first byte of the window shows.
    pub const WINDOW_HI_BASE_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const WINDOW_HI_BASE_LSB: usize = 0;
    /// Number of its bits.
    pub const WINDOW_HI_BASE_WIDTH: usize = 8;
    /// Byte offset of CHANNEL_SELECT. Chooses the channel that the registers from
    /// CHANNEL_CONTROL to READ_TIMEOUTS belong to. Software that uses them from several places
    /// needs a lock around selection and access.
    pub const CHANNEL_SELECT: usize = 0x80;
    /// Mask of CHANNEL_SELECT.channel (bits 5:0, rw). A channel of this build; with another
    /// number, writes have no meaning.
    pub const CHANNEL_SELECT_CHANNEL_MASK: u32 = 0x0000_003f;
    /// Position of its lowest bit.
    pub const CHANNEL_SELECT_CHANNEL_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_SELECT_CHANNEL_WIDTH: usize = 6;
    /// Byte offset of CHANNEL_CONTROL. Runs, drains and aborts the selected channel. To drain:
    /// clear `accept`, wait until CHANNEL_STATUS reads 0. To abort: clear `accept`, set
    /// `abort`, wait until CHANNEL_STATUS reads 0, clear `abort`. Both end in bounded time
    /// unless PORT_TIMEOUT is 0: a read that is not answered ends by it, and a port that stands
    /// still.
    pub const CHANNEL_CONTROL: usize = 0x84;
    /// Mask of CHANNEL_CONTROL.accept (bits 0, rw). 1: doorbells are accepted. 0: they are
    /// refused; what is queued goes on.
    pub const CHANNEL_CONTROL_ACCEPT_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const CHANNEL_CONTROL_ACCEPT_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_CONTROL_ACCEPT_WIDTH: usize = 1;
    /// Mask of CHANNEL_CONTROL.run (bits 1, rw). 1: queued descriptors are executed. 0: no
    /// further descriptor is started; one that runs is finished.
    pub const CHANNEL_CONTROL_RUN_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const CHANNEL_CONTROL_RUN_LSB: usize = 1;
    /// Number of its bits.
    pub const CHANNEL_CONTROL_RUN_WIDTH: usize = 1;
    /// Mask of CHANNEL_CONTROL.abort (bits 2, rw). 1: every accepted descriptor ends with
    /// ABORTED, a running one at its next request, whatever `run` says.
    pub const CHANNEL_CONTROL_ABORT_MASK: u32 = 0x0000_0004;
    /// Position of its lowest bit.
    pub const CHANNEL_CONTROL_ABORT_LSB: usize = 2;
    /// Number of its bits.
    pub const CHANNEL_CONTROL_ABORT_WIDTH: usize = 1;
    /// Byte offset of CHANNEL_STATUS. What the selected channel has under way. Of every
    /// channel, also a burst at the PCIe port that was begun before the block was reset from
    /// the side of FPGA memory.
    pub const CHANNEL_STATUS: usize = 0x88;
    /// Mask of CHANNEL_STATUS.write_busy (bits 0, ro). A write descriptor was accepted and has
    /// not ended; it ends when the PCIe port has taken the last of it, its completion record
    /// included.
    pub const CHANNEL_STATUS_WRITE_BUSY_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const CHANNEL_STATUS_WRITE_BUSY_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_STATUS_WRITE_BUSY_WIDTH: usize = 1;
    /// Mask of CHANNEL_STATUS.read_busy (bits 1, ro). A read descriptor was accepted and has
    /// not ended; it ends when the PCIe port has taken its completion record.
    pub const CHANNEL_STATUS_READ_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const CHANNEL_STATUS_READ_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const CHANNEL_STATUS_READ_BUSY_WIDTH: usize = 1;
    /// Byte offset of CHANNEL_MODERATION. Moderation of the selected channel's interrupts. A
    /// descriptor with `urgent` is never held back. Both 0 after reset: no moderation.
    pub const CHANNEL_MODERATION: usize = 0x8c;
    /// Mask of CHANNEL_MODERATION.count (bits 7:0, wo). An interrupt follows the completion
    /// that is the count-th since the last one; 0 or 1: every one.
    pub const CHANNEL_MODERATION_COUNT_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const CHANNEL_MODERATION_COUNT_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_MODERATION_COUNT_WIDTH: usize = 8;
    /// Mask of CHANNEL_MODERATION.age (bits 31:16, wo). An interrupt follows at the latest this
    /// long after the first completion that waits for it; 0: no limit by time.
    pub const CHANNEL_MODERATION_AGE_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const CHANNEL_MODERATION_AGE_LSB: usize = 16;
    /// Number of its bits.
    pub const CHANNEL_MODERATION_AGE_WIDTH: usize = 16;
    /// Byte offset of CHANNEL_RING (low word). Completion ring of the selected channel. Writing
    /// the low word with `enable` set starts the ring at its first slot, on the first lap; so
    /// write the high word first. Only while the channel has nothing under way. From then on
    /// the channel accepts at most as many descriptors as the ring has slots, and one more for
    /// each that a doorbell says is freed: no record is written over one that was not read. The
    /// value is handed to the block and cannot be read back: a ring is the driver's own memory.
    pub const CHANNEL_RING_LO: usize = 0x90;
    /// Mask of CHANNEL_RING_LO.enable (bits 0, wo). 1: the channel has a ring. 0: its
    /// descriptors end without a record, and no ring bounds them.
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
    /// ring. The ring is written without the ATT: only the driver can set this register.
    pub const CHANNEL_RING_LO_BASE_MASK: u32 = 0xffff_f000;
    /// Position of its lowest bit.
    pub const CHANNEL_RING_LO_BASE_LSB: usize = 12;
    /// Number of its bits.
    pub const CHANNEL_RING_LO_BASE_WIDTH: usize = 20;
    /// Byte offset of CHANNEL_RING (high word). Completion ring of the selected channel.
    /// Writing the low word with `enable` set starts the ring at its first slot, on the first
    /// lap; so write the high word first. Only while the channel has nothing under way. From
    /// then on the channel accepts at most as many descriptors as the ring has slots, and one
    /// more for each that a doorbell says is freed: no record is written over one that was not
    /// read. The value is handed to the block and cannot be read back: a ring is the driver's
    /// own memory.
    pub const CHANNEL_RING_HI: usize = 0x94;
    /// Mask of CHANNEL_RING_HI.base (bits 31:0, wo). Bits 63:12 of the bus address of the ring.
    /// The ring is written without the ATT: only the driver can set this register.
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
    /// Byte offset of CHANNEL_MEM_END. First byte behind the selected channel's range of FPGA
    /// memory. A descriptor whose local addresses are not all inside ends with LOCAL_RANGE.
    /// After reset base and end are 0: nothing is inside.
    pub const CHANNEL_MEM_END: usize = 0x9c;
    /// Mask of CHANNEL_MEM_END.page (bits 28:0, wo). Bits 40:12 of the address.
    pub const CHANNEL_MEM_END_PAGE_MASK: u32 = 0x1fff_ffff;
    /// Position of its lowest bit.
    pub const CHANNEL_MEM_END_PAGE_LSB: usize = 0;
    /// Number of its bits.
    pub const CHANNEL_MEM_END_PAGE_WIDTH: usize = 29;
    /// Byte offset of WRITE_BYTES (low word). Payload that the selected channel has written to
    /// peers. Completion records are not counted.
    pub const WRITE_BYTES_LO: usize = 0x100;
    /// Mask of WRITE_BYTES_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BYTES_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BYTES_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BYTES_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_BYTES (high word). Payload that the selected channel has written to
    /// peers. Completion records are not counted.
    pub const WRITE_BYTES_HI: usize = 0x104;
    /// Mask of WRITE_BYTES_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BYTES_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BYTES_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BYTES_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_REQUESTS (low word). Requests for payload of the selected channel's
    /// write descriptors that have ended on the PCIe port.
    pub const WRITE_REQUESTS_LO: usize = 0x108;
    /// Mask of WRITE_REQUESTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_REQUESTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_REQUESTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_REQUESTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_REQUESTS (high word). Requests for payload of the selected
    /// channel's write descriptors that have ended on the PCIe port.
    pub const WRITE_REQUESTS_HI: usize = 0x10c;
    /// Mask of WRITE_REQUESTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_REQUESTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_REQUESTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_REQUESTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_DESCRIPTORS (low word). The selected channel's write descriptors
    /// that have ended.
    pub const WRITE_DESCRIPTORS_LO: usize = 0x110;
    /// Mask of WRITE_DESCRIPTORS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_DESCRIPTORS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DESCRIPTORS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DESCRIPTORS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_DESCRIPTORS (high word). The selected channel's write descriptors
    /// that have ended.
    pub const WRITE_DESCRIPTORS_HI: usize = 0x114;
    /// Mask of WRITE_DESCRIPTORS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_DESCRIPTORS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DESCRIPTORS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DESCRIPTORS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_FAULTS (low word). The selected channel's write descriptors that
    /// ended with a status code other than OK.
    pub const WRITE_FAULTS_LO: usize = 0x118;
    /// Mask of WRITE_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_FAULTS (high word). The selected channel's write descriptors that
    /// ended with a status code other than OK.
    pub const WRITE_FAULTS_HI: usize = 0x11c;
    /// Mask of WRITE_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_ATT_FAULTS (low word). The selected channel's write descriptors
    /// that ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const WRITE_ATT_FAULTS_LO: usize = 0x120;
    /// Mask of WRITE_ATT_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_ATT_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_ATT_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_ATT_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_ATT_FAULTS (high word). The selected channel's write descriptors
    /// that ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const WRITE_ATT_FAULTS_HI: usize = 0x124;
    /// Mask of WRITE_ATT_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_ATT_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_ATT_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_ATT_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_TIMEOUTS (low word). The selected channel's write descriptors that
    /// ended with READ_TIMEOUT.
    pub const WRITE_TIMEOUTS_LO: usize = 0x128;
    /// Mask of WRITE_TIMEOUTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_TIMEOUTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_TIMEOUTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_TIMEOUTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_TIMEOUTS (high word). The selected channel's write descriptors that
    /// ended with READ_TIMEOUT.
    pub const WRITE_TIMEOUTS_HI: usize = 0x12c;
    /// Mask of WRITE_TIMEOUTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_TIMEOUTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_TIMEOUTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_TIMEOUTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BYTES (low word). Payload that the selected channel has read from
    /// peers and written to FPGA memory.
    pub const READ_BYTES_LO: usize = 0x140;
    /// Mask of READ_BYTES_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BYTES_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BYTES_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BYTES_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BYTES (high word). Payload that the selected channel has read from
    /// peers and written to FPGA memory.
    pub const READ_BYTES_HI: usize = 0x144;
    /// Mask of READ_BYTES_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BYTES_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BYTES_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BYTES_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_REQUESTS (low word). Requests for payload of the selected channel's
    /// read descriptors that have ended on the PCIe port.
    pub const READ_REQUESTS_LO: usize = 0x148;
    /// Mask of READ_REQUESTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_REQUESTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_REQUESTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_REQUESTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_REQUESTS (high word). Requests for payload of the selected channel's
    /// read descriptors that have ended on the PCIe port.
    pub const READ_REQUESTS_HI: usize = 0x14c;
    /// Mask of READ_REQUESTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_REQUESTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_REQUESTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_REQUESTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_DESCRIPTORS (low word). The selected channel's read descriptors that
    /// have ended.
    pub const READ_DESCRIPTORS_LO: usize = 0x150;
    /// Mask of READ_DESCRIPTORS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_DESCRIPTORS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_DESCRIPTORS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DESCRIPTORS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_DESCRIPTORS (high word). The selected channel's read descriptors
    /// that have ended.
    pub const READ_DESCRIPTORS_HI: usize = 0x154;
    /// Mask of READ_DESCRIPTORS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_DESCRIPTORS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_DESCRIPTORS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DESCRIPTORS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_FAULTS (low word). The selected channel's read descriptors that
    /// ended with a status code other than OK.
    pub const READ_FAULTS_LO: usize = 0x158;
    /// Mask of READ_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_FAULTS (high word). The selected channel's read descriptors that
    /// ended with a status code other than OK.
    pub const READ_FAULTS_HI: usize = 0x15c;
    /// Mask of READ_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_ATT_FAULTS (low word). The selected channel's read descriptors that
    /// ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const READ_ATT_FAULTS_LO: usize = 0x160;
    /// Mask of READ_ATT_FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_ATT_FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_ATT_FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_ATT_FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_ATT_FAULTS (high word). The selected channel's read descriptors that
    /// ended with ATT_BOUNDS, ATT_INVALID, ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
    pub const READ_ATT_FAULTS_HI: usize = 0x164;
    /// Mask of READ_ATT_FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_ATT_FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_ATT_FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_ATT_FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_TIMEOUTS (low word). The selected channel's read descriptors that
    /// ended with READ_TIMEOUT.
    pub const READ_TIMEOUTS_LO: usize = 0x168;
    /// Mask of READ_TIMEOUTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_TIMEOUTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_TIMEOUTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_TIMEOUTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_TIMEOUTS (high word). The selected channel's read descriptors that
    /// ended with READ_TIMEOUT.
    pub const READ_TIMEOUTS_HI: usize = 0x16c;
    /// Mask of READ_TIMEOUTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_TIMEOUTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_TIMEOUTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_TIMEOUTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_BUSY (low word). Cycles in which a write descriptor of any channel
    /// was under way.
    pub const WRITE_BUSY_LO: usize = 0x180;
    /// Mask of WRITE_BUSY_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BUSY_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BUSY_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BUSY_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_BUSY (high word). Cycles in which a write descriptor of any channel
    /// was under way.
    pub const WRITE_BUSY_HI: usize = 0x184;
    /// Mask of WRITE_BUSY_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BUSY_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BUSY_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BUSY_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BUSY (low word). Cycles in which a read descriptor of any channel
    /// was under way.
    pub const READ_BUSY_LO: usize = 0x188;
    /// Mask of READ_BUSY_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BUSY_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BUSY_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BUSY_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BUSY (high word). Cycles in which a read descriptor of any channel
    /// was under way.
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
    /// Byte offset of STALL_TAGS (low word). Cycles in which a read request was ready and the
    /// limit of outstanding reads held it back.
    pub const STALL_TAGS_LO: usize = 0x198;
    /// Mask of STALL_TAGS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TAGS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TAGS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TAGS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TAGS (high word). Cycles in which a read request was ready and the
    /// limit of outstanding reads held it back.
    pub const STALL_TAGS_HI: usize = 0x19c;
    /// Mask of STALL_TAGS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TAGS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TAGS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TAGS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_CREDITS (low word). Cycles in which a read request was ready and
    /// had to wait for room in the receive buffer.
    pub const STALL_CREDITS_LO: usize = 0x1a0;
    /// Mask of STALL_CREDITS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_CREDITS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_CREDITS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_CREDITS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_CREDITS (high word). Cycles in which a read request was ready and
    /// had to wait for room in the receive buffer.
    pub const STALL_CREDITS_HI: usize = 0x1a4;
    /// Mask of STALL_CREDITS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_CREDITS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_CREDITS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_CREDITS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_READ (low word). Cycles in which a write request was ready and
    /// its data had not come from FPGA memory.
    pub const STALL_MEM_READ_LO: usize = 0x1a8;
    /// Mask of STALL_MEM_READ_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_READ_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_READ_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_READ_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_READ (high word). Cycles in which a write request was ready and
    /// its data had not come from FPGA memory.
    pub const STALL_MEM_READ_HI: usize = 0x1ac;
    /// Mask of STALL_MEM_READ_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_READ_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_READ_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_READ_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_WRITE (low word). Cycles in which received data waited for FPGA
    /// memory to take what came before.
    pub const STALL_MEM_WRITE_LO: usize = 0x1b0;
    /// Mask of STALL_MEM_WRITE_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_WRITE_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_WRITE_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_WRITE_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM_WRITE (high word). Cycles in which received data waited for
    /// FPGA memory to take what came before.
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
    /// Byte offset of IRQS (low word). Rising edges of the interrupt line, and MSI-X messages.
    pub const IRQS_LO: usize = 0x1c0;
    /// Mask of IRQS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const IRQS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const IRQS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of IRQS (high word). Rising edges of the interrupt line, and MSI-X messages.
    pub const IRQS_HI: usize = 0x1c4;
    /// Mask of IRQS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const IRQS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const IRQS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQS_HI_VALUE_WIDTH: usize = 32;
}

/// The page of one channel, mappable into one process. Page c is channel c; a build has
/// CAPS0.channels of the 64 pages. Write the words 0 to 6 of a descriptor in any order, all of
/// them each time, then its doorbell. A page gives nothing of another channel away, and takes
/// nothing from it.
pub mod chan {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x1000;
    /// Instances in the largest build, one after the other.
    pub const COUNT: usize = 64;
    /// Byte offset of WRITE_DESC. The descriptor of the next transfer from the FPGA to a peer,
    /// word by word. Writes are ignored while the write queue is full.
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
    /// Byte offset of WRITE_DOORBELL. Queues the descriptor in WRITE_DESC.
    pub const WRITE_DOORBELL: usize = 0x40;
    /// Mask of WRITE_DOORBELL.freed (bits 15:0, wo). Descriptors of the channel that have ended
    /// since its last doorbell, as software knows from records that it has read, in both
    /// directions together: the slots that they had of the ring. They are counted before the
    /// descriptor is, and where the doorbell is refused, too. Who says more than has ended may
    /// lose records of its own channel.
    pub const WRITE_DOORBELL_FREED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DOORBELL_FREED_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DOORBELL_FREED_WIDTH: usize = 16;
    /// Byte offset of READ_DESC. The descriptor of the next transfer from a peer to the FPGA,
    /// word by word. Writes are ignored while the read queue is full.
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
    /// Byte offset of READ_DOORBELL. Queues the descriptor in READ_DESC.
    pub const READ_DOORBELL: usize = 0xc0;
    /// Mask of READ_DOORBELL.freed (bits 15:0, wo). Descriptors of the channel that have ended
    /// since its last doorbell, as software knows from records that it has read, in both
    /// directions together: the slots that they had of the ring. They are counted before the
    /// descriptor is, and where the doorbell is refused, too. Who says more than has ended may
    /// lose records of its own channel.
    pub const READ_DOORBELL_FREED_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const READ_DOORBELL_FREED_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DOORBELL_FREED_WIDTH: usize = 16;
    /// Byte offset of QUEUE_FREE. Room for this channel in the descriptor queues. Both are 0
    /// while doorbells are refused: the block is not enabled or being reset, the channel does
    /// not accept, or all slots of its ring are owed to descriptors that were accepted and not
    /// freed. The slots that are left bound both directions together.
    pub const QUEUE_FREE: usize = 0x100;
    /// Mask of QUEUE_FREE.write (bits 15:0, ro). Write descriptors that the queue has room for.
    pub const QUEUE_FREE_WRITE_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const QUEUE_FREE_WRITE_LSB: usize = 0;
    /// Number of its bits.
    pub const QUEUE_FREE_WRITE_WIDTH: usize = 16;
    /// Mask of QUEUE_FREE.read (bits 31:16, ro). Read descriptors that the queue has room for.
    pub const QUEUE_FREE_READ_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const QUEUE_FREE_READ_LSB: usize = 16;
    /// Number of its bits.
    pub const QUEUE_FREE_READ_WIDTH: usize = 16;
    /// Byte offset of REFUSED. Doorbells that were refused: the queue was full, all slots of
    /// the ring were owed, or the channel does not accept. A refused descriptor is lost; it
    /// leaves no completion record.
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

/// The address translation table (ATT): entry n at offset 8 n. A build has 2^CAPS1.att_log2
/// entries; the size given here is that of the largest table. The low word of an entry is held;
/// writing the high word stores both, with the owner mask of CSR.ATT_OWNER. Reads return 0.
/// After a reset of the block every entry is invalid.
pub mod att {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x80000;
    /// Entries of the record `att_entry` in the largest build.
    pub const ENTRIES: usize = 65536;
}

/// The MSI-X table, in builds with CAPS2.msix, at the place that the function's MSI-X
/// capability names: vector 0 for faults and refused doorbells, vector 1 for the OpenCL kernel,
/// vector 2 + c for channel c. Behind it, at 0x800, is the array of pending bits (PBA). Both as
/// in PCI Local Bus Specification 3.0, 6.8.2; all vectors are masked after reset.
pub mod msix {
    /// Size of one instance in bytes.
    pub const SIZE: usize = 0x800;
    /// Entries of the record `msix_entry` in the largest build.
    pub const ENTRIES: usize = 128;
}

/// How a descriptor ended. Every code but OK leaves `bytes_done` at the bytes that were moved
/// before the fault.
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
    /// A read request was not answered within PORT_TIMEOUT. What is still owed is in quarantine
    /// from now on: the whole read port where answers come in order (`Txs`), the request's tag
    /// where they have tags. With CAPS2.tlp the transaction layer may give a request up before, and
    /// keeps its own tag back.
    ReadTimeout = 7,
    /// A read: the read port was in quarantine, waiting for completions that an earlier descriptor
    /// is owed. Either direction: the port stood still (STATUS.port_dead). Of the bytes behind
    /// `bytes_done` none or some were moved.
    PortDown = 8,
    /// The descriptor was stopped by a reset of the engines or an abort of its channel.
    Aborted = 9,
    /// The descriptor has reserved bits set, or names a port that this build does not have. Nothing
    /// was moved.
    Descriptor = 10,
    /// All bytes were sent, but the read that would have shown their arrival was not answered or
    /// could not be issued.
    Flush = 11,
    /// Not all of the local addresses are inside the channel's range of FPGA memory. Nothing was
    /// moved.
    LocalRange = 12,
    /// A read request was answered with Unsupported Request. Seen only on a port that carries the
    /// completion status. `Txs` never answers such a read: it ends with READ_TIMEOUT.
    Unsupported = 13,
    /// A read request was answered with Completer Abort. Seen only on a port that carries the
    /// completion status.
    CompleterAbort = 14,
    /// A read request was answered with poisoned data. Seen only on a port that carries the
    /// completion status. `Txs` gives poisoned data as if they were good, and the descriptor ends
    /// with OK.
    Poisoned = 15,
    /// A write whose first peer address, or the end of it, is not a multiple of the granularity of
    /// writes (CAPS2.write_granularity_log2). Nothing was moved.
    Alignment = 16,
}

impl StatusCode {
    /// The value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// The meaning of a value, or the value itself if it has none.
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

/// Size of the pages that a region is mapped with. The value 3 is reserved.
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
    /// The value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// The meaning of a value, or the value itself if it has none.
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
    /// The value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// The meaning of a value, or the value itself if it has none.
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
}

impl Port {
    /// The value in a record or register.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// The meaning of a value, or the value itself if it has none.
    pub const fn from_raw(raw: u32) -> Result<Self, u32> {
        match raw {
            0 => Ok(Port::Memory),
            other => Err(other),
        }
    }
}

/// An entry of the ATT: what one page of a registered region is on the bus, and what the board may
/// do with it.
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

    /// `entry` bits 0: The entry maps a page. All other bits count only if this is 1.
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

    /// `entry` bits 1: The board may read the page (peer to FPGA).
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

    /// `entry` bits 2: The board may write the page (FPGA to peer).
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
    /// A value without a meaning comes back as the error.
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

    /// The record as it lies in memory.
    pub fn to_bytes(self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[0..8].copy_from_slice(&self.entry.to_le_bytes());
        bytes
    }

    /// The record that lies in memory as `bytes`.
    pub fn from_bytes(bytes: &[u8; 8]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            entry: u64::from(word(0)) | (u64::from(word(4)) << 32),
        }
    }

    /// The record as the 32-bit words that a register window takes, lowest offset first.
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
    /// Where the message is written.
    pub message_address: u64,
    /// What is written.
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

    /// `vector_control` bits 0: 1: the vector sends no message; an interrupt stays pending.
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

    /// The record as it lies in memory.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[0..8].copy_from_slice(&self.message_address.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.message_data.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.vector_control.to_le_bytes());
        bytes
    }

    /// The record that lies in memory as `bytes`.
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

    /// The record as the 32-bit words that a register window takes, lowest offset first.
    pub fn to_words(self) -> [u32; 4] {
        let bytes = self.to_bytes();
        core::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }
}

/// One transfer, as it is written to the WRITE_DESC or READ_DESC of a channel. The direction is
/// that of the register. The reserved words are not looked at in this version; write 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Descriptor {
    /// Where the transfer begins on the peer's side, as an address in the ATT's space.
    pub peer: u64,
    /// Where the transfer begins on the FPGA's side.
    pub local: u64,
    /// Length of the transfer.
    pub length: u32,
    /// When the transfer starts, and what happens when it ends.
    pub control: u32,
    /// Chosen by software, returned in the completion record.
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
    /// the region. The page shift is 12, 16 or 21 by the page size; above it are 16 bits of entry
    /// index, and the bits above those are 0.
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

    /// `peer` bits 63:62: Page size of the region. It must be that of every entry the transfer
    /// touches.
    ///
    /// A value without a meaning comes back as the error.
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
    /// A value without a meaning comes back as the error.
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

    /// `control` bits 0: Write a completion record to the channel's ring. A descriptor that ends
    /// with a fault writes one in any case.
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

    /// `control` bits 1: Raise the interrupt (IRQ_STATUS.completion), after a completion record,
    /// which is written even if `record` is 0.
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

    /// `control` bits 2: Writes only. 0: before the completion record the block reads back from the
    /// last destination, so the record says that the data have arrived; where the ATT entry does
    /// not permit reads it cannot, and the record says only that they were sent. 1: the record
    /// follows the data at once.
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

    /// `control` bits 3: With `irq`: the interrupt is not held back by the channel's moderation.
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

    /// `control` bits 4: Chained: starts when every write descriptor of the channel that was queued
    /// before this one has ended, with whatever code.
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

    /// `control` bits 5: Chained: starts when every read descriptor of the channel that was queued
    /// before this one has ended, with whatever code.
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

    /// The record as it lies in memory.
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

    /// The record that lies in memory as `bytes`.
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

    /// The record as the 32-bit words that a register window takes, lowest offset first.
    pub fn to_words(self) -> [u32; 16] {
        let bytes = self.to_bytes();
        core::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }
}

/// Completion record: how a descriptor ended. The block writes it to the next slot of the channel's
/// ring; software polls `phase` in the slot it expects next. The dwords of a record become visible
/// in ascending order, and not all at once (PCI Express Base Specification 4.0, 2.4.3). So a slot
/// with a new `phase` has the whole record once `sequence` is that of the record: wait for it, and
/// read the dwords before it after that, with an acquire barrier in between. Every accepted
/// descriptor is owed a slot, whether it asks for a record or not, until a doorbell says that it is
/// freed; so software that reads slowly is refused doorbells and loses no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Completion {
    /// The descriptor's cookie.
    pub cookie: u32,
    /// Result and origin.
    pub status: u32,
    /// Progress of the transfer.
    pub bytes_done: u32,
    /// Position of the record in the channel's history.
    pub sequence: u32,
    /// Where a failing request began.
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

    /// `status` bits 0: 1 on the first lap of the ring, then the opposite on each further lap. A
    /// slot is new when this differs from the lap before; so fill the ring with phase 0 before it
    /// is enabled.
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
    /// A value without a meaning comes back as the error.
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

    /// `status` bits 23:16: How the descriptor ended. The block writes no code from 128 on: with
    /// these, software marks slots that hold no record.
    ///
    /// A value without a meaning comes back as the error.
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

    /// The record as it lies in memory.
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

    /// The record that lies in memory as `bytes`.
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

    /// The record as the 32-bit words that a register window takes, lowest offset first.
    pub fn to_words(self) -> [u32; 8] {
        let bytes = self.to_bytes();
        core::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }
}
