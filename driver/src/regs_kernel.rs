// SPDX-License-Identifier: GPL-2.0
// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the register map `peerlane`, version 1.
//!
//! Offsets count from the base of the block.

/// Hash of the map, the value of MAP_ID.
pub(crate) const MAP_ID: u32 = 0xd4f4_9f9a;

/// Control and status of the whole block, at the base address of the control port of the BSP's
/// `acl_dma`. Only the driver maps this block.
pub(crate) mod csr {
    use kernel::io::register;

    /// Size of one instance in bytes.
    pub(crate) const SIZE: usize = 0x400;

    register! {
        /// Identification of this register map. Software refuses a block whose value differs from
        /// its own.
        pub(crate) MAP_ID(u32) @ 0x000 {
            /// First 32 bits of the SHA-256 of the map's canonical form. The value changes with
            /// every change of an address, a field, a record or a code. It does not change with the
            /// wording.
            31:0 value;
        }

        /// Identification of this build of the block: the map, the parameters that it was generated
        /// with, and the places of its slaves in the host's BAR.
        pub(crate) BUILD_ID(u32) @ 0x004 {
            /// First 32 bits of the SHA-256 of the map's canonical form followed by the build
            /// parameters.
            31:0 value;
        }

        /// Capabilities of this build, first word.
        pub(crate) CAPS0(u32) @ 0x008 {
            /// Width of the addresses that the PCIe port takes. 64: an ATT entry holds a PCIe bus
            /// address. 32: an ATT entry holds an address inside the hard IP's own translation
            /// windows.
            31:24 txs_addr_bits;
            /// Width of the PCIe port: 16 (128-bit) or 32 (256-bit).
            23:16 port_bytes;
            /// Number of channels. Each has a channel page of 4 KiB.
            15:8 channels;
            /// Version of the register map. It increases when software for the older map cannot
            /// drive the newer block.
            7:0 version;
        }

        /// Capabilities of this build, second word.
        pub(crate) CAPS1(u32) @ 0x00c {
            /// Bytes of FPGA memory, log2. A descriptor that reaches beyond the end of FPGA memory
            /// ends with LENGTH and moves nothing.
            31:24 mem_addr_bits;
            /// Longest request that the block makes at the PCIe port.
            23:16 max_burst_log2;
            /// Number of ATT entries.
            15:8 att_log2;
            /// Number of descriptors that all queues of one direction hold together. Each channel
            /// has an equal share: 2^queue_log2 / channels.
            7:0 queue_log2;
        }

        /// Control of the block: run, stop and reset.
        pub(crate) CONTROL(u32) @ 0x010 {
            /// Write 1: every accepted descriptor ends with ABORTED, a running one at its next
            /// request. Doorbells are refused until STATUS.write_busy, read_busy and completer_busy
            /// read 0. The ATT, the rings and all settings do not change. Completions that are
            /// still owed to reads stay counted (STATUS.read_quarantine).
            8:8 reset => bool;
            /// 1: the interrupt line is high while any bit of IRQ_STATUS is set. 0: the line is
            /// low; IRQ_STATUS is not affected.
            1:1 irq_enable => bool;
            /// 1: queued descriptors are executed. 0: no new descriptor is started; a running
            /// descriptor is finished.
            0:0 enable => bool;
        }

        /// State of the engines.
        pub(crate) STATUS(u32) @ 0x014 {
            /// 1: the PCIe port was dead at some time since the last reset of the block or
            /// CONTROL.reset. The port may be open again (port_dead reads 0), but the completion
            /// records and writes of the time in which it was dead are lost. So software resets the
            /// block and reports the transfers that were in progress as failed.
            6:6 port_lost => bool;
            /// 1: the PCIe port has not taken a request or a beat of data for PORT_TIMEOUT.
            /// Everything that the engines send is dropped, and its descriptors end with PORT_DOWN.
            /// So every descriptor ends. Or the receive side has failed (LINK.rx_failed): reads end
            /// without data, or not at all, and writes continue. A port that continues (Bus Master
            /// Enable is set again, the link is back) first takes the rest of the interrupted
            /// burst: up to 512 bytes, of which all but the first beat may be zeros. Then the port
            /// opens by itself, which sets IRQ_STATUS.error. CONTROL.reset does not open a dead
            /// port. The block's reset inputs open it (a new configuration of the FPGA, or a reset
            /// of the link that the hard IP passes on), and a receive side that has failed needs
            /// them. Completion records of the time in which the port is dead are lost. So the ring
            /// of each channel that had a descriptor in progress must be set again. Registered
            /// memory must not be released before a fence has ended while this bit read 0.
            5:5 port_dead => bool;
            /// 1: a completion record waits to be sent, or the PCIe port has not yet taken it. Also
            /// 1 while the PCIe port has not taken all of a burst that began before the block was
            /// reset from the side of FPGA memory.
            4:4 completer_busy => bool;
            /// 1: the ATT is being cleared after a reset of the block. Wait for 0 before the first
            /// write to the ATT.
            3:3 att_sweep => bool;
            /// 1: a completion is still owed to a read that timed out, or that was in progress when
            /// the block was reset from the side of FPGA memory alone. The part in quarantine
            /// issues no read until every completion that is owed to it has arrived and been
            /// dropped. That part is the whole read port where answers come in order (`Txs`), and
            /// the tag of the read where reads have tags. In the second case the driver can also
            /// end the quarantine by a write to QUARANTINE.
            2:2 read_quarantine => bool;
            /// 1: a read descriptor (peer to FPGA) of any channel is queued or in progress, or the
            /// PCIe port has not yet taken the last of it.
            1:1 read_busy => bool;
            /// 1: a write descriptor (FPGA to peer) of any channel is queued or in progress, or the
            /// PCIe port has not yet taken the last of it.
            0:0 write_busy => bool;
        }

        /// Causes of the interrupt. An event and a clear in the same cycle leave the bit set.
        pub(crate) IRQ_STATUS(u32) @ 0x018 {
            /// A doorbell of any channel was refused. The REFUSED register of the channel shows
            /// which doorbell it was.
            2:2 refused => bool;
            /// A descriptor has ended with a status code other than OK. Or a dead port has opened
            /// again (STATUS.port_dead): the completion records and interrupt messages of the time
            /// in which it was dead are lost.
            1:1 error => bool;
            /// A descriptor with `irq` set has ended, and the moderation of its channel lets the
            /// interrupt through. The PCIe port has taken the completion record before.
            0:0 completion => bool;
        }

        /// Capabilities of this build, third word.
        pub(crate) CAPS2(u32) @ 0x01c {
            /// Granularity of writes at the peer. 0: a write may begin and end at any byte. 2: the
            /// first address and the end of a write must be multiples of 4 bytes, otherwise the
            /// write ends with ALIGNMENT. The reason: `Txs` of the V-series hard IP enables whole
            /// dwords only. Addresses in FPGA memory, and reads, may have any alignment.
            13:12 write_granularity_log2;
            /// 1: the block has a transaction layer of its own on the hard IP's Avalon-ST
            /// interface. LINK, LINK_REFUSALS, LINK_ERRORS and LINK_LOSSES report the state of that
            /// layer.
            10:10 tlp => bool;
            /// 1: the block has an MSI-X table. 0: the block has the interrupt line only.
            9:9 msix => bool;
            /// 1: the PCIe port is a tagged stream, whose completions carry a status. 0: the PCIe
            /// port is an Avalon-MM `Txs` port, which answers in order.
            8:8 tagged => bool;
            /// Number of read requests that can be in progress between the request maker and FPGA
            /// memory.
            7:0 reads_log2;
        }

        /// Time limit for the PCIe port.
        pub(crate) PORT_TIMEOUT(u32) @ 0x020 {
            /// A read request that is not answered for this time ends with READ_TIMEOUT, and its
            /// missing answer puts the read port, or the tag of the request, into quarantine
            /// (STATUS.read_quarantine). A port that takes no request or beat of data for this time
            /// is dead (STATUS.port_dead). The reset value is 50 ms at 250 MHz. 0: neither has a
            /// time limit.
            31:0 cycles;
        }

        /// Rate of the link. The block paces writes by it, so that reads do not wait after queued
        /// writes in the PCIe port's buffer. Only a `Txs` port uses this register; a tagged stream
        /// has credits.
        pub(crate) PORT_PACE(u32) @ 0x024 {
            /// Bytes that the link carries towards the host, headers and framing included, less 1
            /// to 2 % for the traffic that the block does not see. While reads are in progress,
            /// writes are sent no faster than this. 0: writes are sent as fast as the port takes
            /// them.
            15:0 rate;
        }

        /// Manual end of the quarantine of reads, where reads have tags (CAPS2.tagged).
        pub(crate) QUARANTINE(u32) @ 0x028 {
            /// Write 1: the block no longer expects the completions that are still owed, and opens
            /// the read port or the lost tags. This is only correct after a link reset or a similar
            /// event has made sure that none of these completions can still come: a late completion
            /// would be taken as the answer to a new read. It has no effect on `Txs`: the hard IP's
            /// bridge answers in order and still expects the old completions. So until the bridge's
            /// own reset, a new read would get the data of the old read, or no data.
            0:0 drop_owed => bool;
        }

        /// Snapshot of the counters. All counters are copied at once. So both words of each
        /// counter, and all counters together, belong to the same cycle.
        pub(crate) COUNTER_SNAPSHOT(u32) @ 0x02c {
            /// 1: the snapshot is not yet complete. Read the counters when this is 0. A `take` that
            /// is written while a snapshot is busy starts the next one after it.
            1:1 busy => bool;
            /// Write 1: takes a snapshot. The counter registers show the values of this moment
            /// until the next snapshot. Before the first snapshot they read as 0.
            0:0 take => bool;
        }

        /// Owners of the ATT entries that are written after this register.
        pub(crate) ATT_OWNER_LO(u32) @ 0x030 {
            /// Bits 31:0 of the field. One bit for each channel. This mask is stored with an ATT
            /// entry when the high word of the entry is written. A channel whose bit is 0 cannot
            /// use the entry.
            31:0 channels;
        }

        /// Owners of the ATT entries that are written after this register.
        pub(crate) ATT_OWNER_HI(u32) @ 0x034 {
            /// Bits 63:32 of the field. One bit for each channel. This mask is stored with an ATT
            /// entry when the high word of the entry is written. A channel whose bit is 0 cannot
            /// use the entry.
            31:0 channels;
        }

        /// Fence for changes of the ATT. Write the entries, then write 1 to `start`. When `busy`
        /// reads 0, every request that was translated with older entries has ended: reads were
        /// answered or abandoned, writes were taken by the PCIe port. With `flush`, the writes have
        /// also arrived at the peer that ATT_FLUSH addresses, unless `failed` reads 1. A start
        /// during a reset of the block is lost. Software notices this by CONTROL.enable, which that
        /// reset clears.
        pub(crate) ATT_INVALIDATE(u32) @ 0x038 {
            /// 1: the last fence with `flush` was reached without an answer to its read. The read
            /// was abandoned, or was not sent because reads were in quarantine or the port was
            /// dead. In this case writes may still be on their way.
            3:3 failed => bool;
            /// Write 1 together with `start`: after the writes before the fence, the block sends a
            /// read of the address in ATT_FLUSH. The fence is reached when this read was answered
            /// or was abandoned after PORT_TIMEOUT. A read does not pass a posted write (PCI
            /// Express Base Specification, table of ordering rules). So an answer from a peer shows
            /// that all earlier writes to this peer have arrived. `failed` reports that no answer
            /// came. An answer with an error status counts as an answer only on a port that carries
            /// no status (`Txs` never answers such a read).
            2:2 flush => bool;
            /// 1: the fence is not yet reached, or the PCIe port has not taken all of a burst that
            /// began before the block was reset from the side of FPGA memory. Transfers of all
            /// channels continue during a fence.
            1:1 busy => bool;
            /// Write 1: begins a fence. Do not write 1 while `busy` reads 1.
            0:0 start => bool;
        }

        /// Address that a fence with `flush` reads: a bus address in memory that still exists when
        /// the fence is reached. Do not write this register while a fence is busy.
        pub(crate) ATT_FLUSH_LO(u32) @ 0x040 {
            /// Bits 25:0 of the field. Bits 63:6 of the bus address. The block reads the first
            /// bytes there, as many as the port is wide.
            31:6 address;
        }

        /// Address that a fence with `flush` reads: a bus address in memory that still exists when
        /// the fence is reached. Do not write this register while a fence is busy.
        pub(crate) ATT_FLUSH_HI(u32) @ 0x044 {
            /// Bits 57:26 of the field. Bits 63:6 of the bus address. The block reads the first
            /// bytes there, as many as the port is wide.
            31:0 address;
        }

        /// Settings that software has made in the function's configuration, and resources of the
        /// hard IP. Builds with CAPS2.tagged have the two sizes, builds with CAPS2.tlp have all
        /// fields. A field that a build does not have reads as 0.
        pub(crate) LINK(u32) @ 0x048 {
            /// 1: the receive side has failed. Either the hard IP has lost data, and no read ends
            /// with data until a reset of the PCIe side. Or abandoned reads occupy all tags or all
            /// room for completions, and reads end with READ_TIMEOUT. STATUS.port_dead is also 1
            /// then.
            24:24 rx_failed => bool;
            /// Number of completions that the hard IP's receive buffer has room for. A read takes
            /// the room of one completion for each line of 64 bytes that it touches.
            23:16 completion_space;
            /// Number of tags for reads of data: 56 while software has set Extended Tag Field
            /// Enable, else 24. Flush reads have eight additional tags.
            15:8 read_tags;
            /// Max Read Request Size: 128 bytes shifted left by this value. No read is longer than
            /// that, or longer than 512 bytes.
            6:4 max_request;
            /// Max Payload Size: 128 bytes shifted left by this value.
            2:0 max_payload;
        }

        /// Numbers of completions with an error status since the reset of the PCIe side. Each count
        /// stops at 65535.
        pub(crate) LINK_REFUSALS(u32) @ 0x04c {
            /// Completions with Completer Abort.
            31:16 aborted;
            /// Completions with Unsupported Request, or with a status that is reserved.
            15:0 unsupported;
        }

        /// Numbers of faulty completions since the reset of the PCIe side. Each count stops at
        /// 65535.
        pub(crate) LINK_ERRORS(u32) @ 0x050 {
            /// Completions whose address, byte count or length does not fit the read.
            31:16 malformed;
            /// Completions whose data are marked as wrong.
            15:0 poisoned;
        }

        /// Numbers of completions without a read, and of reads without their completions, since the
        /// reset of the PCIe side. Each count stops at 65535.
        pub(crate) LINK_LOSSES(u32) @ 0x054 {
            /// Reads that were abandoned because no further completion came in time.
            31:16 expired;
            /// Completions that belong to no read.
            15:0 unexpected;
        }

        /// Place of the host's 64 KiB memory window (`s_nondma`) in the FPGA memory. A reset does
        /// not change it: a process that uses the window while another process resets the block
        /// continues to see its own memory. The offset is the offset of the window control of
        /// `acl_dma`.
        pub(crate) WINDOW_LO(u32) @ 0x070 {
            /// Bits 15:0 of the field. Bits 39:16 of the byte address in FPGA memory that the first
            /// byte of the window shows.
            31:16 base;
        }

        /// Place of the host's 64 KiB memory window (`s_nondma`) in the FPGA memory. A reset does
        /// not change it: a process that uses the window while another process resets the block
        /// continues to see its own memory. The offset is the offset of the window control of
        /// `acl_dma`.
        pub(crate) WINDOW_HI(u32) @ 0x074 {
            /// Bits 23:16 of the field. Bits 39:16 of the byte address in FPGA memory that the
            /// first byte of the window shows.
            7:0 base;
        }

        /// Selection of the channel that the registers from CHANNEL_CONTROL to READ_TIMEOUTS belong
        /// to. Software that uses these registers from several places needs a lock around selection
        /// and access.
        pub(crate) CHANNEL_SELECT(u32) @ 0x080 {
            /// Number of a channel of this build. With any other number, writes have no meaning.
            5:0 channel;
        }

        /// Control of the selected channel: run, drain and abort. To drain: clear `accept`, wait
        /// until CHANNEL_STATUS reads 0. To abort: clear `accept`, set `abort`, wait until
        /// CHANNEL_STATUS reads 0, clear `abort`. Both take bounded time unless PORT_TIMEOUT is 0:
        /// PORT_TIMEOUT ends the wait for a read that is not answered, and for a port that takes
        /// nothing.
        pub(crate) CHANNEL_CONTROL(u32) @ 0x084 {
            /// 1: every accepted descriptor ends with ABORTED, a running one at its next request.
            /// The value of `run` does not matter.
            2:2 abort => bool;
            /// 1: queued descriptors are executed. 0: no further descriptor is started; a running
            /// descriptor is finished.
            1:1 run => bool;
            /// 1: doorbells are accepted. 0: doorbells are refused; queued descriptors continue.
            0:0 accept => bool;
        }

        /// Work of the selected channel that is in progress. For every channel, both bits are also
        /// 1 while the PCIe port has not taken all of a burst that began before the block was reset
        /// from the side of FPGA memory.
        pub(crate) CHANNEL_STATUS(u32) @ 0x088 {
            /// 1: a read descriptor was accepted and has not ended. It ends when the PCIe port has
            /// taken its completion record.
            1:1 read_busy => bool;
            /// 1: a write descriptor was accepted and has not ended. It ends when the PCIe port has
            /// taken the last of it, its completion record included.
            0:0 write_busy => bool;
        }

        /// Moderation of the selected channel's interrupts. The interrupt of a descriptor with
        /// `urgent` is never held back. After reset both fields are 0: no moderation.
        pub(crate) CHANNEL_MODERATION(u32) @ 0x08c {
            /// Longest time from the first completion that waits for an interrupt to that
            /// interrupt. 0: no limit by time.
            31:16 age;
            /// Number of completions for one interrupt: an interrupt follows the count-th
            /// completion since the last interrupt. 0 or 1: an interrupt follows every completion.
            7:0 count;
        }

        /// Completion ring of the selected channel. A write of the low word with `enable` set
        /// starts the ring at its first slot, on the first lap. So write the high word first. Write
        /// this register only while the channel has no descriptor in progress. From then on the
        /// channel accepts at most as many descriptors as the ring has slots, and one more for each
        /// descriptor that a doorbell reports as freed. So no record overwrites a record that was
        /// not read. The value is passed to the block and cannot be read back: a ring is the
        /// driver's own memory.
        pub(crate) CHANNEL_RING_LO(u32) @ 0x090 {
            /// Bits 19:0 of the field. Bits 63:12 of the bus address of the ring. The block writes
            /// the ring without the ATT, so only the driver can set this register.
            31:12 base;
            /// Number of completion records in the ring.
            8:4 size_log2;
            /// 1: the channel has a ring. 0: descriptors of the channel end without a record, and
            /// no ring limits their number.
            0:0 enable => bool;
        }

        /// Completion ring of the selected channel. A write of the low word with `enable` set
        /// starts the ring at its first slot, on the first lap. So write the high word first. Write
        /// this register only while the channel has no descriptor in progress. From then on the
        /// channel accepts at most as many descriptors as the ring has slots, and one more for each
        /// descriptor that a doorbell reports as freed. So no record overwrites a record that was
        /// not read. The value is passed to the block and cannot be read back: a ring is the
        /// driver's own memory.
        pub(crate) CHANNEL_RING_HI(u32) @ 0x094 {
            /// Bits 51:20 of the field. Bits 63:12 of the bus address of the ring. The block writes
            /// the ring without the ATT, so only the driver can set this register.
            31:0 base;
        }

        /// First byte of the selected channel's range of FPGA memory.
        pub(crate) CHANNEL_MEM_BASE(u32) @ 0x098 {
            /// Bits 39:12 of the address.
            27:0 page;
        }

        /// First byte after the selected channel's range of FPGA memory. A descriptor whose local
        /// addresses are not all inside the range ends with LOCAL_RANGE. After reset base and end
        /// are 0: no address is inside.
        pub(crate) CHANNEL_MEM_END(u32) @ 0x09c {
            /// Bits 40:12 of the address.
            28:0 page;
        }

        /// Payload bytes that the selected channel has written to peers. Completion records are not
        /// counted.
        pub(crate) WRITE_BYTES_LO(u32) @ 0x100 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload bytes that the selected channel has written to peers. Completion records are not
        /// counted.
        pub(crate) WRITE_BYTES_HI(u32) @ 0x104 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload requests of the selected channel's write descriptors. A request is counted when
        /// it has ended on the PCIe port.
        pub(crate) WRITE_REQUESTS_LO(u32) @ 0x108 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload requests of the selected channel's write descriptors. A request is counted when
        /// it has ended on the PCIe port.
        pub(crate) WRITE_REQUESTS_HI(u32) @ 0x10c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that have ended.
        pub(crate) WRITE_DESCRIPTORS_LO(u32) @ 0x110 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that have ended.
        pub(crate) WRITE_DESCRIPTORS_HI(u32) @ 0x114 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that ended with a status code other than OK.
        pub(crate) WRITE_FAULTS_LO(u32) @ 0x118 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that ended with a status code other than OK.
        pub(crate) WRITE_FAULTS_HI(u32) @ 0x11c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) WRITE_ATT_FAULTS_LO(u32) @ 0x120 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) WRITE_ATT_FAULTS_HI(u32) @ 0x124 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that ended with READ_TIMEOUT.
        pub(crate) WRITE_TIMEOUTS_LO(u32) @ 0x128 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Write descriptors of the selected channel that ended with READ_TIMEOUT.
        pub(crate) WRITE_TIMEOUTS_HI(u32) @ 0x12c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload bytes that the selected channel has read from peers and written to FPGA memory.
        pub(crate) READ_BYTES_LO(u32) @ 0x140 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload bytes that the selected channel has read from peers and written to FPGA memory.
        pub(crate) READ_BYTES_HI(u32) @ 0x144 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload requests of the selected channel's read descriptors. A request is counted when
        /// it has ended on the PCIe port.
        pub(crate) READ_REQUESTS_LO(u32) @ 0x148 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Payload requests of the selected channel's read descriptors. A request is counted when
        /// it has ended on the PCIe port.
        pub(crate) READ_REQUESTS_HI(u32) @ 0x14c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that have ended.
        pub(crate) READ_DESCRIPTORS_LO(u32) @ 0x150 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that have ended.
        pub(crate) READ_DESCRIPTORS_HI(u32) @ 0x154 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that ended with a status code other than OK.
        pub(crate) READ_FAULTS_LO(u32) @ 0x158 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that ended with a status code other than OK.
        pub(crate) READ_FAULTS_HI(u32) @ 0x15c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) READ_ATT_FAULTS_LO(u32) @ 0x160 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that ended with ATT_BOUNDS, ATT_INVALID,
        /// ATT_OWNER, ATT_PERMISSION or ATT_PAGE_SIZE.
        pub(crate) READ_ATT_FAULTS_HI(u32) @ 0x164 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that ended with READ_TIMEOUT.
        pub(crate) READ_TIMEOUTS_LO(u32) @ 0x168 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Read descriptors of the selected channel that ended with READ_TIMEOUT.
        pub(crate) READ_TIMEOUTS_HI(u32) @ 0x16c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write descriptor of any channel was in progress.
        pub(crate) WRITE_BUSY_LO(u32) @ 0x180 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write descriptor of any channel was in progress.
        pub(crate) WRITE_BUSY_HI(u32) @ 0x184 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read descriptor of any channel was in progress.
        pub(crate) READ_BUSY_LO(u32) @ 0x188 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read descriptor of any channel was in progress.
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

        /// Cycles in which a read request was ready but waited because of the limit of outstanding
        /// reads.
        pub(crate) STALL_TAGS_LO(u32) @ 0x198 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready but waited because of the limit of outstanding
        /// reads.
        pub(crate) STALL_TAGS_HI(u32) @ 0x19c {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready but waited for room in the receive buffer.
        pub(crate) STALL_CREDITS_LO(u32) @ 0x1a0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a read request was ready but waited for room in the receive buffer.
        pub(crate) STALL_CREDITS_HI(u32) @ 0x1a4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write request was ready but its data had not come from FPGA memory.
        pub(crate) STALL_MEM_READ_LO(u32) @ 0x1a8 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which a write request was ready but its data had not come from FPGA memory.
        pub(crate) STALL_MEM_READ_HI(u32) @ 0x1ac {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which received data waited for FPGA memory to take earlier data.
        pub(crate) STALL_MEM_WRITE_LO(u32) @ 0x1b0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Cycles in which received data waited for FPGA memory to take earlier data.
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

        /// Interrupts: rising edges of the interrupt line, and interrupt messages.
        pub(crate) IRQS_LO(u32) @ 0x1c0 {
            /// Bits 31:0 of the field. Count at the last snapshot.
            31:0 value;
        }

        /// Interrupts: rising edges of the interrupt line, and interrupt messages.
        pub(crate) IRQS_HI(u32) @ 0x1c4 {
            /// Bits 63:32 of the field. Count at the last snapshot.
            31:0 value;
        }
    }
}

/// Page of one channel, mappable into one process. Page c belongs to channel c; a build has
/// CAPS0.channels of the 64 pages. Write the words 0 to 6 of a descriptor in any order, all of them
/// each time. Then write the doorbell. A page shows and accepts nothing that belongs to another
/// channel.
pub(crate) mod chan {
    use kernel::io::register;

    /// Size of one instance in bytes.
    pub(crate) const SIZE: usize = 0x1000;

    register! {
        /// Descriptor of the next transfer from the FPGA to a peer, word by word. Writes are
        /// ignored while the write queue is full.
        pub(crate) WRITE_DESC(u32)[16, stride = 4] @ 0x000 {
            /// One word of the descriptor.
            31:0 value;
        }

        /// Doorbell that queues the descriptor in WRITE_DESC.
        pub(crate) WRITE_DOORBELL(u32) @ 0x040 {
            /// Number of descriptors of the channel that have ended since its last doorbell, in
            /// both directions together, as software knows from the records that it has read. Their
            /// slots of the ring become free before the new descriptor takes one, also if the
            /// doorbell is refused. If software writes more than have ended, it may lose records of
            /// its own channel.
            15:0 freed;
        }

        /// Descriptor of the next transfer from a peer to the FPGA, word by word. Writes are
        /// ignored while the read queue is full.
        pub(crate) READ_DESC(u32)[16, stride = 4] @ 0x080 {
            /// One word of the descriptor.
            31:0 value;
        }

        /// Doorbell that queues the descriptor in READ_DESC.
        pub(crate) READ_DOORBELL(u32) @ 0x0c0 {
            /// Number of descriptors of the channel that have ended since its last doorbell, in
            /// both directions together, as software knows from the records that it has read. Their
            /// slots of the ring become free before the new descriptor takes one, also if the
            /// doorbell is refused. If software writes more than have ended, it may lose records of
            /// its own channel.
            15:0 freed;
        }

        /// Room for this channel in the descriptor queues. Both fields are 0 while doorbells are
        /// refused: the block is not enabled or is being reset, the channel does not accept
        /// doorbells, or all slots of its ring are reserved for descriptors that were accepted and
        /// not freed. The free slots of the ring limit both directions together.
        pub(crate) QUEUE_FREE(u32) @ 0x100 {
            /// Number of read descriptors that the queue has room for.
            31:16 read;
            /// Number of write descriptors that the queue has room for.
            15:0 write;
        }

        /// Doorbells that were refused, because the queue was full, all slots of the ring were
        /// reserved, or the channel did not accept doorbells. A refused descriptor is lost and has
        /// no completion record.
        pub(crate) REFUSED(u32) @ 0x104 {
            /// A READ_DOORBELL was refused.
            1:1 read => bool;
            /// A WRITE_DOORBELL was refused.
            0:0 write => bool;
        }
    }
}

/// Address translation table (ATT). Entry n is at offset 8 n. A build has 2^CAPS1.att_log2 entries;
/// the size given here is the size of the largest table. The block holds a written low word until
/// the high word is written. That write stores both words, with the owner mask of CSR.ATT_OWNER.
/// Reads return 0. After a reset of the block every entry is invalid.
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
            /// 1: the board may write the page (FPGA to peer).
            2:2 device_write => bool;
            /// 1: the board may read the page (peer to FPGA).
            1:1 device_read => bool;
            /// 1: the entry maps a page. All other bits have a meaning only if this bit is 1.
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

/// MSI-X table, in builds with CAPS2.msix, at the place that the function's MSI-X capability names:
/// vector 0 for faults and refused doorbells, vector 1 for the OpenCL kernel, vector 2 + c for
/// channel c. The array of pending bits (PBA) follows the table, at 0x800. Table and PBA are as in
/// PCI Local Bus Specification 3.0, 6.8.2. All vectors are masked after reset.
pub(crate) mod msix {
    use kernel::io::register;

    /// Size of one instance in bytes.
    pub(crate) const SIZE: usize = 0x800;

    register! {
        /// Address to which the message is written.
        pub(crate) MESSAGE_ADDRESS_LO(u32)[128, stride = 16] @ 0x000 {
            /// Bits 29:0 of the field. Bits 63:2 of the bus address.
            31:2 address;
        }

        /// Address to which the message is written.
        pub(crate) MESSAGE_ADDRESS_HI(u32)[128, stride = 16] @ 0x004 {
            /// Bits 61:30 of the field. Bits 63:2 of the bus address.
            31:0 address;
        }

        /// Data that the message writes.
        pub(crate) MESSAGE_DATA(u32)[128, stride = 16] @ 0x008 {
            /// Data of the message.
            31:0 value;
        }

        /// State of the vector.
        pub(crate) VECTOR_CONTROL(u32)[128, stride = 16] @ 0x00c {
            /// 1: the vector sends no message; its interrupt stays pending.
            0:0 mask => bool;
        }
    }
}
