// SPDX-License-Identifier: GPL-2.0
// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the register map `peerlane`, version 1.
//!
//! Offsets count from the base of the block.

/// Hash of the map, the value of MAP_ID.
pub(crate) const MAP_ID: u32 = 0x35a3_8240;

/// Control and status of the whole block, at the base where the BSP's `acl_dma` had its control
/// port. Only the driver maps it.
pub(crate) mod csr {
    use kernel::io::register;

    /// Size of one instance in bytes.
    pub(crate) const SIZE: usize = 0x400;

    register! {
        /// Identifies this register map. Software refuses a block whose value differs from its own.
        pub(crate) MAP_ID(u32) @ 0x000 {
            /// First 32 bits of the SHA-256 of the map's canonical form. It changes with every
            /// change of an address, a field, a record or a code, and not with a change of wording.
            31:0 value;
        }

        /// Identifies this build of the block: the map and the parameters it was generated with.
        pub(crate) BUILD_ID(u32) @ 0x004 {
            /// First 32 bits of the SHA-256 of the map's canonical form followed by the build
            /// parameters.
            31:0 value;
        }

        /// Capabilities of this build, first word.
        pub(crate) CAPS0(u32) @ 0x008 {
            /// Width of the addresses that the PCIe port takes: 64, an ATT entry holds a PCIe bus
            /// address; 32, it holds an address inside the PCIe IP's own translation windows.
            31:24 txs_addr_bits;
            /// Width of the PCIe port: 16 (128-bit) or 32 (256-bit).
            23:16 port_bytes;
            /// Number of channels, and so of 4 KiB channel pages.
            15:8 channels;
            /// Version of the register map. It is raised when software written for the older map
            /// cannot drive the newer block.
            7:0 version;
        }

        /// Capabilities of this build, second word.
        pub(crate) CAPS1(u32) @ 0x00c {
            /// Bytes of FPGA memory, log2. A descriptor that reaches beyond ends with LENGTH and
            /// moves nothing.
            31:24 mem_addr_bits;
            /// Longest request that the block gives to the PCIe port.
            23:16 max_burst_log2;
            /// Number of ATT entries.
            15:8 att_log2;
            /// Depth of each descriptor queue. There is one queue a direction.
            7:0 queue_log2;
        }

        /// Runs, stops and resets the block.
        pub(crate) CONTROL(u32) @ 0x010 {
            /// Write 1: the descriptors that run end with ABORTED at their next request, then the
            /// queues are emptied without a record for what was in them. STATUS reads 0 when it is
            /// done. The ATT, the rings and the other fields of this register are kept. Completions
            /// that are still owed to reads stay counted (STATUS.read_quarantine).
            8:8 reset => bool;
            /// 1: the interrupt line is high while any bit of IRQ_STATUS is set. 0: the line is
            /// low; IRQ_STATUS is kept.
            1:1 irq_enable => bool;
            /// 1: queued descriptors are executed. 0: no new descriptor is started; one that runs
            /// is finished.
            0:0 enable => bool;
        }

        /// What the engines are doing.
        pub(crate) STATUS(u32) @ 0x014 {
            /// Completion records or interrupts wait to be sent.
            4:4 completer_busy => bool;
            /// The ATT is being cleared after a reset of the block. Wait for 0 before the first
            /// write to the ATT.
            3:3 att_sweep => bool;
            /// A read timed out and its completion has not come. No read is issued until every
            /// completion that is owed has arrived and been dropped, or the driver writes
            /// QUARANTINE.
            2:2 read_quarantine => bool;
            /// The read engine (peer to FPGA) is executing a descriptor, or its queue is not empty.
            1:1 read_busy => bool;
            /// The write engine (FPGA to peer) is executing a descriptor, or its queue is not
            /// empty.
            0:0 write_busy => bool;
        }

        /// Causes of the interrupt. An event and a clear in the same cycle leave the bit set.
        pub(crate) IRQ_STATUS(u32) @ 0x018 {
            /// A doorbell of any channel was refused. The channel's REFUSED register says which.
            2:2 refused => bool;
            /// A descriptor has ended with a status code other than OK.
            1:1 error => bool;
            /// A descriptor with `irq` set has ended, and its completion record, if it asked for
            /// one, was sent before.
            0:0 completion => bool;
        }

        /// Longest wait for the completion of a read request.
        pub(crate) READ_TIMEOUT(u32) @ 0x020 {
            /// Time without an answer after which the descriptor ends with READ_TIMEOUT and the
            /// read port goes into quarantine. The reset value is 50 ms at 250 MHz. 0 turns the
            /// timeout off.
            31:0 cycles;
        }

        /// Owner of the ATT entries that are written from now on.
        pub(crate) ATT_OWNER(u32) @ 0x024 {
            /// One bit a channel: the mask that is stored with an ATT entry when its high word is
            /// written. A channel whose bit is 0 cannot use the entry.
            7:0 channels;
        }

        /// Ends the quarantine of the read port by hand.
        pub(crate) QUARANTINE(u32) @ 0x028 {
            /// Write 1: forgets the completions that are still owed, and opens the read port. Only
            /// correct after a link reset or a similar event made sure that none of them can come
            /// any more: a late completion would be taken as the answer to a new read.
            0:0 drop_owed => bool;
        }

        /// Copies all counters at once, so that both words of each, and all of them together,
        /// belong to the same cycle.
        pub(crate) COUNTER_SNAPSHOT(u32) @ 0x02c {
            /// Write 1: the counter registers show the values of this moment until the next
            /// snapshot. Before the first one they read as 0.
            0:0 take => bool;
        }

        /// Place of the host's 64 KiB memory window (`s_nondma`) in the FPGA memory. The offset is
        /// that of the window control of `acl_dma`.
        pub(crate) WINDOW_LO(u32) @ 0x070 {
            /// Bits 15:0 of the field. Bits 39:16 of the byte address in FPGA memory that the first
            /// byte of the window shows.
            31:16 base;
        }

        /// Place of the host's 64 KiB memory window (`s_nondma`) in the FPGA memory. The offset is
        /// that of the window control of `acl_dma`.
        pub(crate) WINDOW_HI(u32) @ 0x074 {
            /// Bits 23:16 of the field. Bits 39:16 of the byte address in FPGA memory that the
            /// first byte of the window shows.
            7:0 base;
        }

        /// Payload written to peers. Completion records are not counted.
        pub(crate) WRITE_BYTES_LO(u32) @ 0x080 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload written to peers. Completion records are not counted.
        pub(crate) WRITE_BYTES_HI(u32) @ 0x084 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write requests given to the PCIe port for payload.
        pub(crate) WRITE_REQUESTS_LO(u32) @ 0x088 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write requests given to the PCIe port for payload.
        pub(crate) WRITE_REQUESTS_HI(u32) @ 0x08c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload read from peers and written to FPGA memory.
        pub(crate) READ_BYTES_LO(u32) @ 0x090 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload read from peers and written to FPGA memory.
        pub(crate) READ_BYTES_HI(u32) @ 0x094 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read requests given to the PCIe port.
        pub(crate) READ_REQUESTS_LO(u32) @ 0x098 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read requests given to the PCIe port.
        pub(crate) READ_REQUESTS_HI(u32) @ 0x09c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Completion records written to the rings.
        pub(crate) RECORDS_LO(u32) @ 0x0a0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Completion records written to the rings.
        pub(crate) RECORDS_HI(u32) @ 0x0a4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which the block offered a request or data and the PCIe port did not take it
        /// (`txs_waitrequest`).
        pub(crate) STALL_TXS_LO(u32) @ 0x0a8 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which the block offered a request or data and the PCIe port did not take it
        /// (`txs_waitrequest`).
        pub(crate) STALL_TXS_HI(u32) @ 0x0ac {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready and the limit of outstanding reads held it
        /// back.
        pub(crate) STALL_TAGS_LO(u32) @ 0x0b0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready and the limit of outstanding reads held it
        /// back.
        pub(crate) STALL_TAGS_HI(u32) @ 0x0b4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which the write engine waited for data from FPGA memory.
        pub(crate) STALL_MEM_LO(u32) @ 0x0b8 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which the write engine waited for data from FPGA memory.
        pub(crate) STALL_MEM_HI(u32) @ 0x0bc {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Rising edges of the interrupt line.
        pub(crate) IRQS_LO(u32) @ 0x0c0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Rising edges of the interrupt line.
        pub(crate) IRQS_HI(u32) @ 0x0c4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Descriptors that ended with a status code other than OK.
        pub(crate) FAULTS_LO(u32) @ 0x0c8 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Descriptors that ended with a status code other than OK.
        pub(crate) FAULTS_HI(u32) @ 0x0cc {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Completion ring of a channel: element c is channel c. Writing the low word with `enable`
        /// set starts the ring at its first slot, on the first lap; so write the high word first.
        /// The value is handed to the block and cannot be read back: a ring is the driver's own
        /// memory, and keeping 64 of them readable would cost a memory for nothing.
        pub(crate) RING_LO(u32)[64, stride = 8] @ 0x200 {
            /// Bits 19:0 of the field. Bits 63:12 of the bus address of the ring. The ring is
            /// written without the ATT: only the driver can set this register.
            31:12 base;
            /// Number of completion records in the ring.
            8:4 size_log2;
            /// 1: the channel has a ring, and accepts doorbells. 0: the channel is disabled: its
            /// doorbells are refused.
            0:0 enable => bool;
        }

        /// Completion ring of a channel: element c is channel c. Writing the low word with `enable`
        /// set starts the ring at its first slot, on the first lap; so write the high word first.
        /// The value is handed to the block and cannot be read back: a ring is the driver's own
        /// memory, and keeping 64 of them readable would cost a memory for nothing.
        pub(crate) RING_HI(u32)[64, stride = 8] @ 0x204 {
            /// Bits 51:20 of the field. Bits 63:12 of the bus address of the ring. The ring is
            /// written without the ATT: only the driver can set this register.
            31:0 base;
        }
    }
}

/// The page of one channel, mappable into one process. Page c is channel c; a build has
/// CAPS0.channels of the 64 pages. Write the words 0 to 6 of a descriptor in any order, all of them
/// each time, then its doorbell.
pub(crate) mod chan {
    use kernel::io::register;

    /// Size of one instance in bytes.
    pub(crate) const SIZE: usize = 0x1000;

    register! {
        /// The descriptor of the next transfer from the FPGA to a peer, word by word. Writes are
        /// ignored while the write queue is full.
        pub(crate) WRITE_DESC(u32)[16, stride = 4] @ 0x000 {
            /// One word of the descriptor.
            31:0 value;
        }

        /// Queues the descriptor in WRITE_DESC.
        pub(crate) WRITE_DOORBELL(u32) @ 0x040 {
            /// Any value.
            31:0 value;
        }

        /// The descriptor of the next transfer from a peer to the FPGA, word by word. Writes are
        /// ignored while the read queue is full.
        pub(crate) READ_DESC(u32)[16, stride = 4] @ 0x080 {
            /// One word of the descriptor.
            31:0 value;
        }

        /// Queues the descriptor in READ_DESC.
        pub(crate) READ_DOORBELL(u32) @ 0x0c0 {
            /// Any value.
            31:0 value;
        }

        /// Room for this channel in the descriptor queues.
        pub(crate) QUEUE_FREE(u32) @ 0x100 {
            /// Read descriptors that are accepted before the first refusal.
            31:16 read;
            /// Write descriptors that are accepted before the first refusal.
            15:0 write;
        }

        /// Doorbells that were refused: the queue was full or the channel disabled. A refused
        /// descriptor is lost; it leaves no completion record.
        pub(crate) REFUSED(u32) @ 0x104 {
            /// A READ_DOORBELL was refused.
            1:1 read => bool;
            /// A WRITE_DOORBELL was refused.
            0:0 write => bool;
        }
    }
}

/// The address translation table (ATT): entry n at offset 8 n. A build has 2^CAPS1.att_log2
/// entries; the size given here is that of the largest table. The low word of an entry is held;
/// writing the high word stores both, with the owner mask of CSR.ATT_OWNER. Reads return 0. After a
/// reset of the block every entry is invalid.
pub(crate) mod att {
    use kernel::io::register;

    /// Size of one instance in bytes.
    pub(crate) const SIZE: usize = 0x80000;

    register! {
        /// The whole entry.
        pub(crate) ENTRY_LO(u32)[65536, stride = 8] @ 0x000 {
            /// Bits 19:0 of the field. Bits 63:12 of the page's bus address, which is aligned to
            /// the page size.
            31:12 address;
            /// Size of the page.
            4:3 page_size;
            /// The board may write the page (FPGA to peer).
            2:2 device_write => bool;
            /// The board may read the page (peer to FPGA).
            1:1 device_read => bool;
            /// The entry maps a page. All other bits count only if this is 1.
            0:0 valid => bool;
        }

        /// The whole entry.
        pub(crate) ENTRY_HI(u32)[65536, stride = 8] @ 0x004 {
            /// Bits 51:20 of the field. Bits 63:12 of the page's bus address, which is aligned to
            /// the page size.
            31:0 address;
        }
    }
}
