// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers, records and codes of the register map `peerlane`, version 1.
//!
//! Offsets are in bytes. A 64-bit register has a constant for each of its 32-bit words. Records
//! hold integers of the CPU's byte order; `to_bytes` and `from_bytes` convert from and to the little
//! endian form in memory.

/// Hash of the map, the value of MAP_ID. Refuse hardware that has another one.
pub const MAP_ID: u32 = 0x35a3_8240;

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
    /// Byte offset of BUILD_ID. Identifies this build of the block: the map and the parameters
    /// it was generated with.
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
    /// Mask of CAPS1.queue_log2 (bits 7:0, ro). Depth of each descriptor queue. There is one
    /// queue a direction.
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
    /// Mask of CONTROL.reset (bits 8, pulse). Write 1: the descriptors that run end with
    /// ABORTED at their next request, then the queues are emptied without a record for what was
    /// in them. STATUS reads 0 when it is done. The ATT, the rings and the other fields of this
    /// register are kept. Completions that are still owed to reads stay counted
    /// (STATUS.read_quarantine).
    pub const CONTROL_RESET_MASK: u32 = 0x0000_0100;
    /// Position of its lowest bit.
    pub const CONTROL_RESET_LSB: usize = 8;
    /// Number of its bits.
    pub const CONTROL_RESET_WIDTH: usize = 1;
    /// Byte offset of STATUS. What the engines are doing.
    pub const STATUS: usize = 0x14;
    /// Mask of STATUS.write_busy (bits 0, ro). The write engine (FPGA to peer) is executing a
    /// descriptor, or its queue is not empty.
    pub const STATUS_WRITE_BUSY_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const STATUS_WRITE_BUSY_LSB: usize = 0;
    /// Number of its bits.
    pub const STATUS_WRITE_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.read_busy (bits 1, ro). The read engine (peer to FPGA) is executing a
    /// descriptor, or its queue is not empty.
    pub const STATUS_READ_BUSY_MASK: u32 = 0x0000_0002;
    /// Position of its lowest bit.
    pub const STATUS_READ_BUSY_LSB: usize = 1;
    /// Number of its bits.
    pub const STATUS_READ_BUSY_WIDTH: usize = 1;
    /// Mask of STATUS.read_quarantine (bits 2, ro). A read timed out and its completion has not
    /// come. No read is issued until every completion that is owed has arrived and been
    /// dropped, or the driver writes QUARANTINE.
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
    /// Mask of STATUS.completer_busy (bits 4, ro). Completion records or interrupts wait to be
    /// sent.
    pub const STATUS_COMPLETER_BUSY_MASK: u32 = 0x0000_0010;
    /// Position of its lowest bit.
    pub const STATUS_COMPLETER_BUSY_LSB: usize = 4;
    /// Number of its bits.
    pub const STATUS_COMPLETER_BUSY_WIDTH: usize = 1;
    /// Byte offset of IRQ_STATUS. Causes of the interrupt. An event and a clear in the same
    /// cycle leave the bit set.
    pub const IRQ_STATUS: usize = 0x18;
    /// Mask of IRQ_STATUS.completion (bits 0, w1c). A descriptor with `irq` set has ended, and
    /// its completion record, if it asked for one, was sent before.
    pub const IRQ_STATUS_COMPLETION_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const IRQ_STATUS_COMPLETION_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQ_STATUS_COMPLETION_WIDTH: usize = 1;
    /// Mask of IRQ_STATUS.error (bits 1, w1c). A descriptor has ended with a status code other
    /// than OK.
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
    /// Byte offset of READ_TIMEOUT. Longest wait for the completion of a read request.
    pub const READ_TIMEOUT: usize = 0x20;
    /// Mask of READ_TIMEOUT.cycles (bits 31:0, rw). Time without an answer after which the
    /// descriptor ends with READ_TIMEOUT and the read port goes into quarantine. The reset
    /// value is 50 ms at 250 MHz. 0 turns the timeout off.
    pub const READ_TIMEOUT_CYCLES_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_TIMEOUT_CYCLES_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_TIMEOUT_CYCLES_WIDTH: usize = 32;
    /// READ_TIMEOUT after reset.
    pub const READ_TIMEOUT_RESET: u32 = 0x00be_bc20;
    /// Byte offset of ATT_OWNER. Owner of the ATT entries that are written from now on.
    pub const ATT_OWNER: usize = 0x24;
    /// Mask of ATT_OWNER.channels (bits 7:0, rw). One bit a channel: the mask that is stored
    /// with an ATT entry when its high word is written. A channel whose bit is 0 cannot use the
    /// entry.
    pub const ATT_OWNER_CHANNELS_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const ATT_OWNER_CHANNELS_LSB: usize = 0;
    /// Number of its bits.
    pub const ATT_OWNER_CHANNELS_WIDTH: usize = 8;
    /// ATT_OWNER after reset.
    pub const ATT_OWNER_RESET: u32 = 0x0000_0001;
    /// Byte offset of QUARANTINE. Ends the quarantine of the read port by hand.
    pub const QUARANTINE: usize = 0x28;
    /// Mask of QUARANTINE.drop_owed (bits 0, pulse). Write 1: forgets the completions that are
    /// still owed, and opens the read port. Only correct after a link reset or a similar event
    /// made sure that none of them can come any more: a late completion would be taken as the
    /// answer to a new read.
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
    /// Byte offset of WINDOW (low word). Place of the host's 64 KiB memory window (`s_nondma`)
    /// in the FPGA memory. The offset is that of the window control of `acl_dma`.
    pub const WINDOW_LO: usize = 0x70;
    /// Mask of WINDOW_LO.base (bits 31:16, rw). Bits 39:16 of the byte address in FPGA memory
    /// that the first byte of the window shows.
    pub const WINDOW_LO_BASE_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const WINDOW_LO_BASE_LSB: usize = 16;
    /// Number of its bits.
    pub const WINDOW_LO_BASE_WIDTH: usize = 16;
    /// Byte offset of WINDOW (high word). Place of the host's 64 KiB memory window (`s_nondma`)
    /// in the FPGA memory. The offset is that of the window control of `acl_dma`.
    pub const WINDOW_HI: usize = 0x74;
    /// Mask of WINDOW_HI.base (bits 7:0, rw). Bits 39:16 of the byte address in FPGA memory
    /// that the first byte of the window shows.
    pub const WINDOW_HI_BASE_MASK: u32 = 0x0000_00ff;
    /// Position of its lowest bit.
    pub const WINDOW_HI_BASE_LSB: usize = 0;
    /// Number of its bits.
    pub const WINDOW_HI_BASE_WIDTH: usize = 8;
    /// Byte offset of WRITE_BYTES (low word). Payload written to peers. Completion records are
    /// not counted.
    pub const WRITE_BYTES_LO: usize = 0x80;
    /// Mask of WRITE_BYTES_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BYTES_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BYTES_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BYTES_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_BYTES (high word). Payload written to peers. Completion records are
    /// not counted.
    pub const WRITE_BYTES_HI: usize = 0x84;
    /// Mask of WRITE_BYTES_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_BYTES_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_BYTES_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_BYTES_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_REQUESTS (low word). Write requests given to the PCIe port for
    /// payload.
    pub const WRITE_REQUESTS_LO: usize = 0x88;
    /// Mask of WRITE_REQUESTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_REQUESTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_REQUESTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_REQUESTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of WRITE_REQUESTS (high word). Write requests given to the PCIe port for
    /// payload.
    pub const WRITE_REQUESTS_HI: usize = 0x8c;
    /// Mask of WRITE_REQUESTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const WRITE_REQUESTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_REQUESTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_REQUESTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BYTES (low word). Payload read from peers and written to FPGA
    /// memory.
    pub const READ_BYTES_LO: usize = 0x90;
    /// Mask of READ_BYTES_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BYTES_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BYTES_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BYTES_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_BYTES (high word). Payload read from peers and written to FPGA
    /// memory.
    pub const READ_BYTES_HI: usize = 0x94;
    /// Mask of READ_BYTES_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_BYTES_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_BYTES_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_BYTES_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_REQUESTS (low word). Read requests given to the PCIe port.
    pub const READ_REQUESTS_LO: usize = 0x98;
    /// Mask of READ_REQUESTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_REQUESTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_REQUESTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_REQUESTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of READ_REQUESTS (high word). Read requests given to the PCIe port.
    pub const READ_REQUESTS_HI: usize = 0x9c;
    /// Mask of READ_REQUESTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const READ_REQUESTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_REQUESTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_REQUESTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of RECORDS (low word). Completion records written to the rings.
    pub const RECORDS_LO: usize = 0xa0;
    /// Mask of RECORDS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const RECORDS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const RECORDS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const RECORDS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of RECORDS (high word). Completion records written to the rings.
    pub const RECORDS_HI: usize = 0xa4;
    /// Mask of RECORDS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const RECORDS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const RECORDS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const RECORDS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TXS (low word). Cycles in which the block offered a request or data
    /// and the PCIe port did not take it (`txs_waitrequest`).
    pub const STALL_TXS_LO: usize = 0xa8;
    /// Mask of STALL_TXS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TXS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TXS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TXS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TXS (high word). Cycles in which the block offered a request or
    /// data and the PCIe port did not take it (`txs_waitrequest`).
    pub const STALL_TXS_HI: usize = 0xac;
    /// Mask of STALL_TXS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TXS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TXS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TXS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TAGS (low word). Cycles in which a read request was ready and the
    /// limit of outstanding reads held it back.
    pub const STALL_TAGS_LO: usize = 0xb0;
    /// Mask of STALL_TAGS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TAGS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TAGS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TAGS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_TAGS (high word). Cycles in which a read request was ready and the
    /// limit of outstanding reads held it back.
    pub const STALL_TAGS_HI: usize = 0xb4;
    /// Mask of STALL_TAGS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_TAGS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_TAGS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_TAGS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM (low word). Cycles in which the write engine waited for data
    /// from FPGA memory.
    pub const STALL_MEM_LO: usize = 0xb8;
    /// Mask of STALL_MEM_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of STALL_MEM (high word). Cycles in which the write engine waited for data
    /// from FPGA memory.
    pub const STALL_MEM_HI: usize = 0xbc;
    /// Mask of STALL_MEM_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const STALL_MEM_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const STALL_MEM_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const STALL_MEM_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of IRQS (low word). Rising edges of the interrupt line.
    pub const IRQS_LO: usize = 0xc0;
    /// Mask of IRQS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const IRQS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const IRQS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of IRQS (high word). Rising edges of the interrupt line.
    pub const IRQS_HI: usize = 0xc4;
    /// Mask of IRQS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const IRQS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const IRQS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const IRQS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of FAULTS (low word). Descriptors that ended with a status code other than
    /// OK.
    pub const FAULTS_LO: usize = 0xc8;
    /// Mask of FAULTS_LO.value (bits 31:0, ro). Count at the last snapshot.
    pub const FAULTS_LO_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const FAULTS_LO_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const FAULTS_LO_VALUE_WIDTH: usize = 32;
    /// Byte offset of FAULTS (high word). Descriptors that ended with a status code other than
    /// OK.
    pub const FAULTS_HI: usize = 0xcc;
    /// Mask of FAULTS_HI.value (bits 31:0, ro). Count at the last snapshot.
    pub const FAULTS_HI_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const FAULTS_HI_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const FAULTS_HI_VALUE_WIDTH: usize = 32;
    /// Byte offset of RING (low word). Completion ring of a channel: element c is channel c.
    /// Writing the low word with `enable` set starts the ring at its first slot, on the first
    /// lap; so write the high word first. The value is handed to the block and cannot be read
    /// back: a ring is the driver's own memory, and keeping 64 of them readable would cost a
    /// memory for nothing.
    pub const RING_LO: usize = 0x200;
    /// Mask of RING_LO.enable (bits 0, wo). 1: the channel has a ring, and accepts doorbells.
    /// 0: the channel is disabled: its doorbells are refused.
    pub const RING_LO_ENABLE_MASK: u32 = 0x0000_0001;
    /// Position of its lowest bit.
    pub const RING_LO_ENABLE_LSB: usize = 0;
    /// Number of its bits.
    pub const RING_LO_ENABLE_WIDTH: usize = 1;
    /// Mask of RING_LO.size_log2 (bits 8:4, wo). Number of completion records in the ring.
    pub const RING_LO_SIZE_LOG2_MASK: u32 = 0x0000_01f0;
    /// Position of its lowest bit.
    pub const RING_LO_SIZE_LOG2_LSB: usize = 4;
    /// Number of its bits.
    pub const RING_LO_SIZE_LOG2_WIDTH: usize = 5;
    /// Mask of RING_LO.base (bits 31:12, wo). Bits 63:12 of the bus address of the ring. The
    /// ring is written without the ATT: only the driver can set this register.
    pub const RING_LO_BASE_MASK: u32 = 0xffff_f000;
    /// Position of its lowest bit.
    pub const RING_LO_BASE_LSB: usize = 12;
    /// Number of its bits.
    pub const RING_LO_BASE_WIDTH: usize = 20;
    /// Byte offset of RING (high word). Completion ring of a channel: element c is channel c.
    /// Writing the low word with `enable` set starts the ring at its first slot, on the first
    /// lap; so write the high word first. The value is handed to the block and cannot be read
    /// back: a ring is the driver's own memory, and keeping 64 of them readable would cost a
    /// memory for nothing.
    pub const RING_HI: usize = 0x204;
    /// Mask of RING_HI.base (bits 31:0, wo). Bits 63:12 of the bus address of the ring. The
    /// ring is written without the ATT: only the driver can set this register.
    pub const RING_HI_BASE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const RING_HI_BASE_LSB: usize = 0;
    /// Number of its bits.
    pub const RING_HI_BASE_WIDTH: usize = 32;
    /// Number of RING registers.
    pub const RING_COUNT: usize = 64;
    /// Bytes from one RING to the next.
    pub const RING_STRIDE: usize = 8;
}

/// The page of one channel, mappable into one process. Page c is channel c; a build has
/// CAPS0.channels of the 64 pages. Write the words 0 to 6 of a descriptor in any order, all of
/// them each time, then its doorbell.
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
    /// Mask of WRITE_DOORBELL.value (bits 31:0, wo). Any value.
    pub const WRITE_DOORBELL_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const WRITE_DOORBELL_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const WRITE_DOORBELL_VALUE_WIDTH: usize = 32;
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
    /// Mask of READ_DOORBELL.value (bits 31:0, wo). Any value.
    pub const READ_DOORBELL_VALUE_MASK: u32 = 0xffff_ffff;
    /// Position of its lowest bit.
    pub const READ_DOORBELL_VALUE_LSB: usize = 0;
    /// Number of its bits.
    pub const READ_DOORBELL_VALUE_WIDTH: usize = 32;
    /// Byte offset of QUEUE_FREE. Room for this channel in the descriptor queues.
    pub const QUEUE_FREE: usize = 0x100;
    /// Mask of QUEUE_FREE.write (bits 15:0, ro). Write descriptors that are accepted before the
    /// first refusal.
    pub const QUEUE_FREE_WRITE_MASK: u32 = 0x0000_ffff;
    /// Position of its lowest bit.
    pub const QUEUE_FREE_WRITE_LSB: usize = 0;
    /// Number of its bits.
    pub const QUEUE_FREE_WRITE_WIDTH: usize = 16;
    /// Mask of QUEUE_FREE.read (bits 31:16, ro). Read descriptors that are accepted before the
    /// first refusal.
    pub const QUEUE_FREE_READ_MASK: u32 = 0xffff_0000;
    /// Position of its lowest bit.
    pub const QUEUE_FREE_READ_LSB: usize = 16;
    /// Number of its bits.
    pub const QUEUE_FREE_READ_WIDTH: usize = 16;
    /// Byte offset of REFUSED. Doorbells that were refused: the queue was full or the channel
    /// disabled. A refused descriptor is lost; it leaves no completion record.
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
    /// A read request was not answered within READ_TIMEOUT. The read port is in quarantine from now
    /// on.
    ReadTimeout = 7,
    /// The read port was in quarantine, waiting for completions that an earlier descriptor is owed,
    /// so this descriptor was not started.
    ReadPortDown = 8,
    /// The descriptor was stopped by a reset of the engines or by disabling its channel.
    Aborted = 9,
    /// The descriptor has reserved bits set, or names a port that this build does not have. Nothing
    /// was moved.
    Descriptor = 10,
    /// All bytes were sent, but the read that would have shown their arrival was not answered or
    /// could not be issued.
    Flush = 11,
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
            8 => Ok(StatusCode::ReadPortDown),
            9 => Ok(StatusCode::Aborted),
            10 => Ok(StatusCode::Descriptor),
            11 => Ok(StatusCode::Flush),
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
    /// What happens when the transfer ends.
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
/// ring; software polls `phase` in the slot it expects next. The block does not look whether
/// software has read a slot: the ring must hold as many records as the channel has descriptors
/// under way.
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
    /// slot is new when this differs from the lap before; so clear the ring before it is enabled.
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

    /// `status` bits 23:16: How the descriptor ended.
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
