//! The engine: the block without the adapter to its PCIe port.
//!
//! Its logic is wires, in parts: `clocking`, clocks and resets; `slaves`, the host's slaves; `direction`, each
//! direction from its queue to its end; `sides`, the parts that both share; `counting`, the host's window and the
//! counters.

mod clocking;
mod counting;
mod direction;
mod sides;
mod slaves;

use super::att::Att;
use super::channels::Channels;
use super::complete::Completer;
use super::counters::Counters;
use super::fence::Fence;
use super::interrupts::Interrupts;
use super::ports::{
    AnswerSink, FlowSource, FlushSource, InflowUser, MemoryReadMaster, MemoryWriteMaster,
    OutflowUser, PortUser, PostSource, ReadSource, RegisterSlave, SettingsUser, WindowMaster,
    WindowSlave, WriteSource,
};
use super::queue::DescriptorQueue;
use super::read_path::{ReadConfig, ReadPath};
use super::room::RingRoom;
use super::segment::{Segment, SegmentConfig};
use super::write_path::WritePath;
use crate::generated::{ChanRegs, CsrRegs};
use crate::prim::{BitSync, BusSync, ResetCopy, ResetStretch, parts};
use clocking::Clocking;
use counting::{Counting, Windowing};
use direction::{Reads, Writes};
use peerlane_language::*;
use peerlane_verilog::DocBlock;
use sides::Sides;
use slaves::Slaves;

/// Values that a build fixes, in addition to the widths in the type.
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
    /// Whether the block has a transaction layer of its own.
    pub has_layer: bool,
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
    /// Clock and reset of FPGA memory (the old `acl_dma`'s).
    pub clk: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Clock and reset of the PCIe side.
    pub pcie_clk: Signal<In, Clock>,
    pub link_reset: Signal<In, Bit>,
    /// Driver's registers.
    pub csr: RegisterSlave<8>,
    /// Channel pages.
    pub chan: RegisterSlave<16>,
    /// Address translation table.
    pub att: RegisterSlave<17>,
    /// Table of interrupt vectors, and the state of the function's MSI-X capability.
    pub msix: RegisterSlave<10>,
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    /// State of its MSI capability, from a transaction layer that sees it: then the lines become a message.
    pub msi_enable: Signal<In, Bit>,
    pub msi_address: Signal<In, Bits<64>>,
    pub msi_data: Signal<In, Bits<16>>,
    /// Interrupt of the OpenCL kernel, to become a message; any clock.
    pub kernel_irq: Signal<In, Bit>,
    /// Interrupt, level.
    pub dma_irq: Signal<Out, Bit>,
    /// The function's configuration, from a port with tags: Max Payload Size and Max Read Request Size, 128 bytes
    /// shifted by it; with a transaction layer also Extended Tag Field Enable.
    pub max_payload: Signal<In, Bits<3>>,
    pub max_request: Signal<In, Bits<3>>,
    /// Reads of at most 256 bytes, even if the configuration allows more.
    pub short_reads: Signal<In, Bit>,
    pub extended_tags: Signal<In, Bit>,
    /// Completions that the hard IP's buffer has room for.
    pub ko_cpl_spc_header: Signal<In, Bits<8>>,
    /// Wrong completions by their error, and reads that were given up; the receive side has failed.
    pub unsupported: Signal<In, Bits<16>>,
    pub aborted: Signal<In, Bits<16>>,
    pub poisoned: Signal<In, Bits<16>>,
    pub malformed: Signal<In, Bits<16>>,
    pub unexpected: Signal<In, Bits<16>>,
    pub expired: Signal<In, Bits<16>>,
    pub rx_failed: Signal<In, Bit>,
    /// To and from the adapter; see [`super::txs`].
    pub port: PortUser,
    pub port_write: WriteSource<W, B>,
    pub port_read: ReadSource,
    pub port_flush: FlushSource,
    pub port_record: PostSource<256>,
    pub port_message: PostSource<32>,
    pub port_answer: AnswerSink<W>,
    /// Streams from the logic to peers.
    pub inputs: SettingsUser,
    pub inputs_limit_we: Signal<Out, Bit>,
    pub write_flow: FlowSource,
    pub inflow: InflowUser<W>,
    /// Streams from peers to the logic.
    pub outputs: SettingsUser,
    pub read_flow: FlowSource,
    pub outflow: OutflowUser,
    /// FPGA memory, read by the write direction.
    pub mem_rd: MemoryReadMaster,
    /// FPGA memory, written by the read direction.
    pub mem_wr: MemoryWriteMaster,
    /// Window of the host into FPGA memory.
    pub s_nondma: WindowSlave<10>,
    pub mem_win: WindowMaster<40>,

    registers: CsrRegs,
    pages: ChanRegs,
    #[given]
    channels: Channels,
    #[given]
    write_queue: DescriptorQueue,
    #[given]
    read_queue: DescriptorQueue,
    #[given]
    ring_room: RingRoom,
    #[given]
    table: Att,
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
    /// The base of the window. No reset moves it, because it could then be in memory of another process.
    window_low: DFF<Bits<16>>,
    window_high: DFF<Bits<8>>,
    draining: DFF<Bit>,
    irq_before: DFF<Bit>,
    counter_read: DFF<Bit>,
    /// The registers' read of the last cycle, which is looked up now.
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
    /// In the last cycle: the adapter itself ends a read that comes while the port is closed.
    reads_down: DFF<Bit>,
    /// The port was dead in the last cycle; it has opened again: records and messages of that time are lost.
    was_dead: DFF<Bit>,
    opened: Signal<Local, Bit>,
    /// The port has been dead since the last reset.
    port_lost: DFF<Bit>,
    /// Bytes of the longest read, less one.
    longest_read: DFF<Bits<10>>,
    seen_read_request: DFF<Bit>,
    seen_read_channel: DFF<Bits<6>>,
    seen_read_bytes: DFF<Bits<10>>,
    seen_write_end: DFF<Bit>,
    seen_write_end_channel: DFF<Bits<6>>,
    seen_write_end_code: DFF<Bits<5>>,
    seen_read_end: DFF<Bit>,
    seen_read_end_channel: DFF<Bits<6>>,
    seen_read_end_code: DFF<Bits<5>>,
    build_id: Constant<Bits<32>>,
    channel_count: Constant<Bits<8>>,
    port_bytes: Constant<Bits<8>>,
    address_bits: Constant<Bits<8>>,
    queue_bits: Constant<Bits<8>>,
    att_bits: Constant<Bits<8>>,
    memory_bits: Constant<Bits<8>>,
    read_bits: Constant<Bits<8>>,
    has_msix: Constant<Bits<1>>,
    has_layer: Constant<Bits<1>>,
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
            table: Att::new(config.att_log2, config.channels_log2),
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
            has_layer: Constant::new((u64::from(config.has_layer)).into()),
            one: Constant::new((1u64).into()),
        })
    }
}

impl<const W: usize, const B: usize, const E: usize> Logic for Engine<W, B, E> {
    parts!(Clocking, Slaves, Writes, Reads, Sides, Windowing, Counting);
}
