// SPDX-License-Identifier: GPL-2.0
// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the register map `peerlane`, version 1.
//!
//! Offsets count from the base of the block.

/// Hash of the map, the value of MAP_ID.
pub(crate) const MAP_ID: u32 = 0xd4f4_9f9a;

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

        /// Identifies this build of the block: the map, the parameters it was generated with, and
        /// where its slaves lie in the host's BAR.
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
            /// Descriptors in all queues of one direction. Each channel has an equal share:
            /// 2^queue_log2 / channels.
            7:0 queue_log2;
        }

        /// Runs, stops and resets the block.
        pub(crate) CONTROL(u32) @ 0x010 {
            /// Write 1: every descriptor that was accepted ends with ABORTED, the running ones at
            /// their next request, and doorbells are refused until STATUS.write_busy, read_busy and
            /// completer_busy read 0. The ATT, the rings and all settings are kept. Completions
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
            /// The PCIe port has been dead since the last reset of the block or CONTROL.reset. It
            /// may be open again (port_dead reads 0), but records and writes of that time are lost:
            /// software resets the block and fails the transfers that were under way.
            6:6 port_lost => bool;
            /// The PCIe port has not taken a request or a beat of data for PORT_TIMEOUT: what the
            /// engines send is dropped and ends with PORT_DOWN, so that every descriptor ends. Or
            /// the receive side has failed (LINK.rx_failed): reads end without data, or not at all,
            /// and writes go on. A port that goes on (Bus Master Enable is set again, the link is
            /// back) first takes the rest of the burst that stands there, up to 512 bytes, of which
            /// all but the first beat may be zeros. Then it opens by itself, which sets
            /// IRQ_STATUS.error. CONTROL.reset does not open it; the block's reset inputs do (a new
            /// configuration of the FPGA, or a reset of the link that the hard IP passes on), and a
            /// receive side that has failed needs them. Records of the meantime are lost, so a
            /// channel that had anything under way needs its ring set again. Memory that was
            /// registered must not be given back before a fence that ended while this read 0.
            5:5 port_dead => bool;
            /// A completion record waits to be sent, or stands untaken at the PCIe port, or a burst
            /// does that was begun before the block was reset from the side of FPGA memory.
            4:4 completer_busy => bool;
            /// The ATT is being cleared after a reset of the block. Wait for 0 before the first
            /// write to the ATT.
            3:3 att_sweep => bool;
            /// A read timed out, or the block was reset from the side of FPGA memory alone, and its
            /// completion has not come. No read is issued until every completion that is owed has
            /// arrived and been dropped, or, where reads have tags, the driver writes QUARANTINE.
            2:2 read_quarantine => bool;
            /// A read descriptor (peer to FPGA) of any channel is queued or under way, or the last
            /// of it stands untaken at the PCIe port.
            1:1 read_busy => bool;
            /// A write descriptor (FPGA to peer) of any channel is queued or under way, or the last
            /// of it stands untaken at the PCIe port.
            0:0 write_busy => bool;
        }

        /// Causes of the interrupt. An event and a clear in the same cycle leave the bit set.
        pub(crate) IRQ_STATUS(u32) @ 0x018 {
            /// A doorbell of any channel was refused. The channel's REFUSED register says which.
            2:2 refused => bool;
            /// A descriptor has ended with a status code other than OK. Or a dead port has opened
            /// again (STATUS.port_dead): records, and interrupts that are messages, of the meantime
            /// are lost.
            1:1 error => bool;
            /// A descriptor with `irq` set has ended, the PCIe port has taken its completion record
            /// before, and its channel's moderation lets the interrupt through.
            0:0 completion => bool;
        }

        /// Capabilities of this build, third word.
        pub(crate) CAPS2(u32) @ 0x01c {
            /// Granularity of writes at the peer. 0: a write may begin and end at any byte. 2: its
            /// first address and the end of it must be multiples of 4 bytes, else it ends with
            /// ALIGNMENT; `Txs` of the V-series hard IP enables whole dwords only. Addresses in
            /// FPGA memory, and reads, may have any alignment.
            13:12 write_granularity_log2;
            /// 1: the block has a transaction layer of its own on the hard IP's Avalon-ST
            /// interface, and LINK, LINK_REFUSALS, LINK_ERRORS and LINK_LOSSES say how it does.
            10:10 tlp => bool;
            /// 1: the block has an MSI-X table. 0: it has the interrupt line only.
            9:9 msix => bool;
            /// 1: the PCIe port is a tagged stream, whose completions carry a status. 0: it is an
            /// Avalon-MM `Txs` port, answered in order.
            8:8 tagged => bool;
            /// Read requests that can be under way between the request maker and FPGA memory.
            7:0 reads_log2;
        }

        /// Longest wait for the PCIe port.
        pub(crate) PORT_TIMEOUT(u32) @ 0x020 {
            /// Time without an answer after which a read request ends with READ_TIMEOUT and what it
            /// is owed goes into quarantine; and time without taking a request or a beat of data
            /// after which the port is dead. The reset value is 50 ms at 250 MHz. 0 turns both off.
            31:0 cycles;
        }

        /// Rate of the link, so that reads need not queue behind writes in the PCIe port's buffer.
        /// Only a `Txs` port uses it; a tagged stream has credits.
        pub(crate) PORT_PACE(u32) @ 0x024 {
            /// Bytes that the link carries towards the host, headers and framing included, less one
            /// or two parts in a hundred for what the block does not see. While reads are under
            /// way, writes are sent no faster. 0: they are sent as fast as the port takes them.
            15:0 rate;
        }

        /// Ends the quarantine of reads by hand, where reads have tags (CAPS2.tagged).
        pub(crate) QUARANTINE(u32) @ 0x028 {
            /// Write 1: forgets the completions that are still owed, and opens the read port or the
            /// lost tags. Only correct after a link reset or a similar event made sure that none of
            /// them can come any more: a late completion would be taken as the answer to a new
            /// read. Without effect on `Txs`: the hard IP's bridge answers in order and forgets
            /// nothing, so until its own reset a new read would get the data of the old one, or
            /// none.
            0:0 drop_owed => bool;
        }

        /// Copies all counters at once, so that both words of each, and all of them together,
        /// belong to the same cycle.
        pub(crate) COUNTER_SNAPSHOT(u32) @ 0x02c {
            /// The snapshot is not yet complete; read the counters when this is 0. A `take`
            /// meanwhile waits its turn.
            1:1 busy => bool;
            /// Write 1: the counter registers show the values of this moment until the next
            /// snapshot. Before the first one they read as 0.
            0:0 take => bool;
        }

        /// Owner of the ATT entries that are written from now on.
        pub(crate) ATT_OWNER_LO(u32) @ 0x030 {
            /// Bits 31:0 of the field. One bit a channel: the mask that is stored with an ATT entry
            /// when its high word is written. A channel whose bit is 0 cannot use the entry.
            31:0 channels;
        }

        /// Owner of the ATT entries that are written from now on.
        pub(crate) ATT_OWNER_HI(u32) @ 0x034 {
            /// Bits 63:32 of the field. One bit a channel: the mask that is stored with an ATT
            /// entry when its high word is written. A channel whose bit is 0 cannot use the entry.
            31:0 channels;
        }

        /// A fence for changes of the ATT. Write the entries, then 1 to `start`; when `busy` reads
        /// 0, every request that was translated with an older content has ended: reads were
        /// answered or given up, writes were taken by the PCIe port. With `flush` they have also
        /// arrived where ATT_FLUSH says. A start that falls into a reset of the block is lost:
        /// CONTROL.enable tells.
        pub(crate) ATT_INVALIDATE(u32) @ 0x038 {
            /// The last fence with `flush` was reached without an answer to its read: the read was
            /// given up, or was not sent, because reads were in quarantine or the port was dead.
            /// Writes may still be on their way then.
            3:3 failed => bool;
            /// Write 1 together with `start`: behind those writes a read of ATT_FLUSH leaves, and
            /// the fence is reached when it has come back or was given up after PORT_TIMEOUT. A
            /// read does not pass a posted write (PCI Express Base Specification, table of ordering
            /// rules), so an answer from a peer says that what was written to this peer before is
            /// there. `failed` says that none came; an error status counts as an answer only on a
            /// port that carries none (`Txs` never answers such a read).
            2:2 flush => bool;
            /// The fence is not yet reached, or a burst stands at the PCIe port that was begun
            /// before the block was reset from the side of FPGA memory. Transfers of all channels
            /// go on meanwhile.
            1:1 busy => bool;
            /// Write 1: begins a fence. Not while `busy`.
            0:0 start => bool;
        }

        /// Where a fence with `flush` reads: a bus address in memory that is still there when the
        /// fence is reached. Not to be written while a fence is busy.
        pub(crate) ATT_FLUSH_LO(u32) @ 0x040 {
            /// Bits 25:0 of the field. Bits 63:6 of the bus address; the read takes the first bytes
            /// there, as many as the port is wide.
            31:6 address;
        }

        /// Where a fence with `flush` reads: a bus address in memory that is still there when the
        /// fence is reached. Not to be written while a fence is busy.
        pub(crate) ATT_FLUSH_HI(u32) @ 0x044 {
            /// Bits 57:26 of the field. Bits 63:6 of the bus address; the read takes the first
            /// bytes there, as many as the port is wide.
            31:0 address;
        }

        /// What software has set in the function's configuration, and what the hard IP has. The two
        /// sizes are there with CAPS2.tagged, the rest with CAPS2.tlp; 0 in other builds.
        pub(crate) LINK(u32) @ 0x048 {
            /// 1: the receive side has failed. The hard IP has lost data, and no read ends with any
            /// until a reset of the PCIe side. Or reads that were given up have all tags or all
            /// room for completions, and reads end with READ_TIMEOUT. STATUS.port_dead says so,
            /// too.
            24:24 rx_failed => bool;
            /// Completions that the hard IP's receive buffer has room for. A read takes one for
            /// each line of 64 bytes that it touches.
            23:16 completion_space;
            /// Tags for reads of data: 56 while software has set Extended Tag Field Enable, else
            /// 24. Flush reads have eight more.
            15:8 read_tags;
            /// Max Read Request Size: 128 bytes shifted left by it. No read is longer, and none is
            /// longer than 512 bytes.
            6:4 max_request;
            /// Max Payload Size: 128 bytes shifted left by it.
            2:0 max_payload;
        }

        /// Completions with an error status since the reset of the PCIe side, up to 65535 each.
        pub(crate) LINK_REFUSALS(u32) @ 0x04c {
            /// Completer Abort.
            31:16 aborted;
            /// Unsupported Request, or a status that is reserved.
            15:0 unsupported;
        }

        /// Completions that were wrong since the reset of the PCIe side, up to 65535 each.
        pub(crate) LINK_ERRORS(u32) @ 0x050 {
            /// Address, byte count or length do not fit the read.
            31:16 malformed;
            /// Their data are marked as wrong.
            15:0 poisoned;
        }

        /// Reads and completions without the other since the reset of the PCIe side, up to 65535
        /// each.
        pub(crate) LINK_LOSSES(u32) @ 0x054 {
            /// Reads of which nothing came any more.
            31:16 expired;
            /// Completions of no read.
            15:0 unexpected;
        }

        /// Place of the host's 64 KiB memory window (`s_nondma`) in the FPGA memory. A reset keeps
        /// it: who uses the window while another resets the block goes on to see the memory that is
        /// his. The offset is that of the window control of `acl_dma`.
        pub(crate) WINDOW_LO(u32) @ 0x070 {
            /// Bits 15:0 of the field. Bits 39:16 of the byte address in FPGA memory that the first
            /// byte of the window shows.
            31:16 base;
        }

        /// Place of the host's 64 KiB memory window (`s_nondma`) in the FPGA memory. A reset keeps
        /// it: who uses the window while another resets the block goes on to see the memory that is
        /// his. The offset is that of the window control of `acl_dma`.
        pub(crate) WINDOW_HI(u32) @ 0x074 {
            /// Bits 23:16 of the field. Bits 39:16 of the byte address in FPGA memory that the
            /// first byte of the window shows.
            7:0 base;
        }

        /// Chooses the channel that the registers from CHANNEL_CONTROL to READ_TIMEOUTS belong to.
        /// Software that uses them from several places needs a lock around selection and access.
        pub(crate) CHANNEL_SELECT(u32) @ 0x080 {
            /// A channel of this build; with another number, writes have no meaning.
            5:0 channel;
        }

        /// Runs, drains and aborts the selected channel. To drain: clear `accept`, wait until
        /// CHANNEL_STATUS reads 0. To abort: clear `accept`, set `abort`, wait until CHANNEL_STATUS
        /// reads 0, clear `abort`. Both end in bounded time unless PORT_TIMEOUT is 0: a read that
        /// is not answered ends by it, and a port that stands still.
        pub(crate) CHANNEL_CONTROL(u32) @ 0x084 {
            /// 1: every accepted descriptor ends with ABORTED, a running one at its next request,
            /// whatever `run` says.
            2:2 abort => bool;
            /// 1: queued descriptors are executed. 0: no further descriptor is started; one that
            /// runs is finished.
            1:1 run => bool;
            /// 1: doorbells are accepted. 0: they are refused; what is queued goes on.
            0:0 accept => bool;
        }

        /// What the selected channel has under way. Of every channel, also a burst at the PCIe port
        /// that was begun before the block was reset from the side of FPGA memory.
        pub(crate) CHANNEL_STATUS(u32) @ 0x088 {
            /// A read descriptor was accepted and has not ended; it ends when the PCIe port has
            /// taken its completion record.
            1:1 read_busy => bool;
            /// A write descriptor was accepted and has not ended; it ends when the PCIe port has
            /// taken the last of it, its completion record included.
            0:0 write_busy => bool;
        }

        /// Moderation of the selected channel's interrupts. A descriptor with `urgent` is never
        /// held back. Both 0 after reset: no moderation.
        pub(crate) CHANNEL_MODERATION(u32) @ 0x08c {
            /// An interrupt follows at the latest this long after the first completion that waits
            /// for it; 0: no limit by time.
            31:16 age;
            /// An interrupt follows the completion that is the count-th since the last one; 0 or 1:
            /// every one.
            7:0 count;
        }

        /// Completion ring of the selected channel. Writing the low word with `enable` set starts
        /// the ring at its first slot, on the first lap; so write the high word first. Only while
        /// the channel has nothing under way. From then on the channel accepts at most as many
        /// descriptors as the ring has slots, and one more for each that a doorbell says is freed:
        /// no record is written over one that was not read. The value is handed to the block and
        /// cannot be read back: a ring is the driver's own memory.
        pub(crate) CHANNEL_RING_LO(u32) @ 0x090 {
            /// Bits 19:0 of the field. Bits 63:12 of the bus address of the ring. The ring is
            /// written without the ATT: only the driver can set this register.
            31:12 base;
            /// Number of completion records in the ring.
            8:4 size_log2;
            /// 1: the channel has a ring. 0: its descriptors end without a record, and no ring
            /// bounds them.
            0:0 enable => bool;
        }

        /// Completion ring of the selected channel. Writing the low word with `enable` set starts
        /// the ring at its first slot, on the first lap; so write the high word first. Only while
        /// the channel has nothing under way. From then on the channel accepts at most as many
        /// descriptors as the ring has slots, and one more for each that a doorbell says is freed:
        /// no record is written over one that was not read. The value is handed to the block and
        /// cannot be read back: a ring is the driver's own memory.
        pub(crate) CHANNEL_RING_HI(u32) @ 0x094 {
            /// Bits 51:20 of the field. Bits 63:12 of the bus address of the ring. The ring is
            /// written without the ATT: only the driver can set this register.
            31:0 base;
        }

        /// First byte of the selected channel's range of FPGA memory.
        pub(crate) CHANNEL_MEM_BASE(u32) @ 0x098 {
            /// Bits 39:12 of the address.
            27:0 page;
        }

        /// First byte behind the selected channel's range of FPGA memory. A descriptor whose local
        /// addresses are not all inside ends with LOCAL_RANGE. After reset base and end are 0:
        /// nothing is inside.
        pub(crate) CHANNEL_MEM_END(u32) @ 0x09c {
            /// Bits 40:12 of the address.
            28:0 page;
        }

        /// Payload that the selected channel has written to peers. Completion records are not
        /// counted.
        pub(crate) WRITE_BYTES_LO(u32) @ 0x100 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload that the selected channel has written to peers. Completion records are not
        /// counted.
        pub(crate) WRITE_BYTES_HI(u32) @ 0x104 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Requests for payload of the selected channel's write descriptors that have ended on the
        /// PCIe port.
        pub(crate) WRITE_REQUESTS_LO(u32) @ 0x108 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Requests for payload of the selected channel's write descriptors that have ended on the
        /// PCIe port.
        pub(crate) WRITE_REQUESTS_HI(u32) @ 0x10c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that have ended.
        pub(crate) WRITE_DESCRIPTORS_LO(u32) @ 0x110 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that have ended.
        pub(crate) WRITE_DESCRIPTORS_HI(u32) @ 0x114 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that ended with a status code other than OK.
        pub(crate) WRITE_FAULTS_LO(u32) @ 0x118 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that ended with a status code other than OK.
        pub(crate) WRITE_FAULTS_HI(u32) @ 0x11c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) WRITE_ATT_FAULTS_LO(u32) @ 0x120 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) WRITE_ATT_FAULTS_HI(u32) @ 0x124 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that ended with READ_TIMEOUT.
        pub(crate) WRITE_TIMEOUTS_LO(u32) @ 0x128 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's write descriptors that ended with READ_TIMEOUT.
        pub(crate) WRITE_TIMEOUTS_HI(u32) @ 0x12c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload that the selected channel has read from peers and written to FPGA memory.
        pub(crate) READ_BYTES_LO(u32) @ 0x140 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload that the selected channel has read from peers and written to FPGA memory.
        pub(crate) READ_BYTES_HI(u32) @ 0x144 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Requests for payload of the selected channel's read descriptors that have ended on the
        /// PCIe port.
        pub(crate) READ_REQUESTS_LO(u32) @ 0x148 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Requests for payload of the selected channel's read descriptors that have ended on the
        /// PCIe port.
        pub(crate) READ_REQUESTS_HI(u32) @ 0x14c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that have ended.
        pub(crate) READ_DESCRIPTORS_LO(u32) @ 0x150 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that have ended.
        pub(crate) READ_DESCRIPTORS_HI(u32) @ 0x154 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that ended with a status code other than OK.
        pub(crate) READ_FAULTS_LO(u32) @ 0x158 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that ended with a status code other than OK.
        pub(crate) READ_FAULTS_HI(u32) @ 0x15c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) READ_ATT_FAULTS_LO(u32) @ 0x160 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) READ_ATT_FAULTS_HI(u32) @ 0x164 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that ended with READ_TIMEOUT.
        pub(crate) READ_TIMEOUTS_LO(u32) @ 0x168 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// The selected channel's read descriptors that ended with READ_TIMEOUT.
        pub(crate) READ_TIMEOUTS_HI(u32) @ 0x16c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write descriptor of any channel was under way.
        pub(crate) WRITE_BUSY_LO(u32) @ 0x180 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write descriptor of any channel was under way.
        pub(crate) WRITE_BUSY_HI(u32) @ 0x184 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read descriptor of any channel was under way.
        pub(crate) READ_BUSY_LO(u32) @ 0x188 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read descriptor of any channel was under way.
        pub(crate) READ_BUSY_HI(u32) @ 0x18c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which the block offered a request or data and the PCIe port did not take it
        /// (`txs_waitrequest`).
        pub(crate) STALL_TXS_LO(u32) @ 0x190 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which the block offered a request or data and the PCIe port did not take it
        /// (`txs_waitrequest`).
        pub(crate) STALL_TXS_HI(u32) @ 0x194 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready and the limit of outstanding reads held it
        /// back.
        pub(crate) STALL_TAGS_LO(u32) @ 0x198 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready and the limit of outstanding reads held it
        /// back.
        pub(crate) STALL_TAGS_HI(u32) @ 0x19c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready and had to wait for room in the receive buffer.
        pub(crate) STALL_CREDITS_LO(u32) @ 0x1a0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready and had to wait for room in the receive buffer.
        pub(crate) STALL_CREDITS_HI(u32) @ 0x1a4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write request was ready and its data had not come from FPGA memory.
        pub(crate) STALL_MEM_READ_LO(u32) @ 0x1a8 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write request was ready and its data had not come from FPGA memory.
        pub(crate) STALL_MEM_READ_HI(u32) @ 0x1ac {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which received data waited for FPGA memory to take what came before.
        pub(crate) STALL_MEM_WRITE_LO(u32) @ 0x1b0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which received data waited for FPGA memory to take what came before.
        pub(crate) STALL_MEM_WRITE_HI(u32) @ 0x1b4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Completion records written to the rings of all channels.
        pub(crate) RECORDS_LO(u32) @ 0x1b8 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Completion records written to the rings of all channels.
        pub(crate) RECORDS_HI(u32) @ 0x1bc {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Rising edges of the interrupt line, and MSI-X messages.
        pub(crate) IRQS_LO(u32) @ 0x1c0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Rising edges of the interrupt line, and MSI-X messages.
        pub(crate) IRQS_HI(u32) @ 0x1c4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }
    }
}

/// The page of one channel, mappable into one process. Page c is channel c; a build has
/// CAPS0.channels of the 64 pages. Write the words 0 to 6 of a descriptor in any order, all of them
/// each time, then its doorbell. A page gives nothing of another channel away, and takes nothing
/// from it.
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
            /// Descriptors of the channel that have ended since its last doorbell, as software
            /// knows from records that it has read, in both directions together: the slots that
            /// they had of the ring. They are counted before the descriptor is, and where the
            /// doorbell is refused, too. Who says more than has ended may lose records of its own
            /// channel.
            15:0 freed;
        }

        /// The descriptor of the next transfer from a peer to the FPGA, word by word. Writes are
        /// ignored while the read queue is full.
        pub(crate) READ_DESC(u32)[16, stride = 4] @ 0x080 {
            /// One word of the descriptor.
            31:0 value;
        }

        /// Queues the descriptor in READ_DESC.
        pub(crate) READ_DOORBELL(u32) @ 0x0c0 {
            /// Descriptors of the channel that have ended since its last doorbell, as software
            /// knows from records that it has read, in both directions together: the slots that
            /// they had of the ring. They are counted before the descriptor is, and where the
            /// doorbell is refused, too. Who says more than has ended may lose records of its own
            /// channel.
            15:0 freed;
        }

        /// Room for this channel in the descriptor queues. Both are 0 while doorbells are refused:
        /// the block is not enabled or being reset, the channel does not accept, or all slots of
        /// its ring are owed to descriptors that were accepted and not freed. The slots that are
        /// left bound both directions together.
        pub(crate) QUEUE_FREE(u32) @ 0x100 {
            /// Read descriptors that the queue has room for.
            31:16 read;
            /// Write descriptors that the queue has room for.
            15:0 write;
        }

        /// Doorbells that were refused: the queue was full, all slots of the ring were owed, or the
        /// channel does not accept. A refused descriptor is lost; it leaves no completion record.
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

/// The MSI-X table, in builds with CAPS2.msix, at the place that the function's MSI-X capability
/// names: vector 0 for faults and refused doorbells, vector 1 for the OpenCL kernel, vector 2 + c
/// for channel c. Behind it, at 0x800, is the array of pending bits (PBA). Both as in PCI Local Bus
/// Specification 3.0, 6.8.2; all vectors are masked after reset.
pub(crate) mod msix {
    use kernel::io::register;

    /// Size of one instance in bytes.
    pub(crate) const SIZE: usize = 0x800;

    register! {
        /// Where the message is written.
        pub(crate) MESSAGE_ADDRESS_LO(u32)[128, stride = 16] @ 0x000 {
            /// Bits 29:0 of the field. Bits 63:2 of the bus address.
            31:2 address;
        }

        /// Where the message is written.
        pub(crate) MESSAGE_ADDRESS_HI(u32)[128, stride = 16] @ 0x004 {
            /// Bits 61:30 of the field. Bits 63:2 of the bus address.
            31:0 address;
        }

        /// What is written.
        pub(crate) MESSAGE_DATA(u32)[128, stride = 16] @ 0x008 {
            /// The message.
            31:0 value;
        }

        /// State of the vector.
        pub(crate) VECTOR_CONTROL(u32)[128, stride = 16] @ 0x00c {
            /// 1: the vector sends no message; an interrupt stays pending.
            0:0 mask => bool;
        }
    }
}
