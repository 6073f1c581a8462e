//! State of a board that a caller reads and sets between runs.

use std::ops::Range;

use crate::{
    board::Board,
    bus::{Bus, Message},
    config::{Backpressure, BoardConfig},
    ddr::DdrPort,
    logic::{Sink, Source},
    memory::{Gpu, HostMemory, Memory},
    stats::{Stats, TxsStats},
    stream::Stream,
};

impl Board {
    /// Returns host memory.
    pub fn host(&self) -> &HostMemory {
        &self.bus.host
    }

    /// Returns host memory, to write to it or to add ranges.
    pub fn host_mut(&mut self) -> &mut HostMemory {
        &mut self.bus.host
    }

    /// Returns the GPU.
    pub fn gpu(&self) -> &Gpu {
        &self.bus.gpu
    }

    /// Returns the GPU, to write to its memory and to pin.
    pub fn gpu_mut(&mut self) -> &mut Gpu {
        &mut self.bus.gpu
    }

    /// Returns the logic at the block's input of this number.
    ///
    /// # Panics
    /// If the design has no such stream.
    pub fn source_mut(&mut self, number: usize) -> &mut Source {
        &mut self.logic.sources[number]
    }

    /// Returns the logic at the block's output of this number.
    ///
    /// # Panics
    /// If the design has no such stream.
    pub fn sink_mut(&mut self, number: usize) -> &mut Sink {
        &mut self.logic.sinks[number]
    }

    /// Returns FPGA memory.
    pub fn ddr(&self) -> &Memory {
        &self.ddr
    }

    /// Returns FPGA memory, to write to it.
    pub fn ddr_mut(&mut self) -> &mut Memory {
        &mut self.ddr
    }

    /// Returns the bus: registered ranges, faults, unsupported requests.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Returns the bus, to register ranges and to inject faults.
    pub fn bus_mut(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// Returns the configuration that the board was made with.
    pub fn config(&self) -> &BoardConfig {
        &self.config
    }

    /// Returns the width of `Txs` in bytes, and of its address in bits; `None` without that port.
    pub fn txs_shape(&self) -> Option<(u32, u32)> {
        self.txs
            .as_ref()
            .map(|txs| (txs.width(), txs.address_bits()))
    }

    /// Sets the translation windows of a 32-bit `Txs`: window `n` of `1 << shift` bytes shows the bus address
    /// `bases[n]`. No effect on a 64-bit one.
    pub fn set_windows(&mut self, shift: u32, bases: Vec<u64>) {
        if let Some(txs) = &mut self.txs {
            txs.set_windows(shift.min(63), bases);
        }
    }

    /// Changes the back-pressure of `Txs` from now on.
    pub fn set_txs_backpressure(&mut self, backpressure: Backpressure) {
        if let Some(txs) = &mut self.txs {
            txs.set_backpressure(backpressure);
        }
    }

    /// Changes the cycles in which the hard IP takes nothing from the bridge of `Txs`, from now on.
    pub fn set_txs_not_ready(&mut self, not_ready: Backpressure) {
        if let Some(txs) = &mut self.txs {
            txs.set_not_ready(not_ready);
        }
    }

    /// Returns the width of the stream port in bytes; `None` without that port.
    pub fn stream_width(&self) -> Option<u32> {
        self.stream.as_ref().map(Stream::width)
    }

    /// Changes the back-pressure of the stream port, or of the hard IP's Avalon-ST interface, from now on.
    pub fn set_stream_backpressure(&mut self, backpressure: Backpressure) {
        if let Some(stream) = &mut self.stream {
            stream.set_backpressure(backpressure);
        }
        if let Some(packets) = &mut self.packets {
            packets.set_backpressure(backpressure);
        }
    }

    /// Makes the hard IP lose data of the next completion, and report it. Only a design that makes packets sees it.
    pub fn damage_a_completion(&mut self) {
        if let Some(packets) = &mut self.packets {
            packets.damage();
        }
    }

    /// Drives `msix_enable` and `msix_mask`, the hard IP's MSI-X capability, from the next edge of `pcie_clk` on. Both
    /// are 0 at first and are not changed by a reset of the block. No effect on a design that lacks the inputs.
    pub fn set_msix(&mut self, enable: bool, mask: bool) {
        self.wires.set_msix(enable, mask);
        if let Some(packets) = &mut self.packets {
            packets.set_msix(enable, mask);
        }
    }

    /// Sets the function's MSI capability from now on: address and data if MSI is enabled. A design that makes packets
    /// sees it. With the bridge of `Txs`, a rise of the interrupt is lost while MSI is not enabled, which is the
    /// initial state.
    pub fn set_msi(&mut self, msi: Option<(u64, u16)>) {
        if let Some(txs) = &mut self.txs {
            txs.bridge.msi = msi.is_some();
        }
        if let Some(packets) = &mut self.packets {
            packets.set_msi(msi);
        }
    }

    /// Drives `kernel_irq`, the interrupt of the OpenCL kernels, from the next edge of `pcie_clk`
    /// on. A kernel of an attached OpenCL side may drive it, too: the level is the OR of both.
    pub fn set_kernel_irq(&mut self, level: bool) {
        self.kernel_irq = level;
    }

    /// Returns the interrupt messages that have arrived and were not taken yet, the oldest first.
    pub fn messages(&self) -> &[Message] {
        self.bus.messages()
    }

    /// Takes these messages.
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.bus.take_messages()
    }

    /// Changes the back-pressure of all memory ports from now on.
    pub fn set_ddr_backpressure(&mut self, backpressure: Backpressure) {
        for port in [&mut self.mem_rd, &mut self.mem_wr, &mut self.mem_win]
            .into_iter()
            .flatten()
        {
            port.set_backpressure(backpressure);
        }
    }

    /// Returns the level of `dma_irq` at the last edge of `pcie_clk`.
    pub fn irq(&self) -> bool {
        self.irq_level
    }

    /// Returns the number of rising edges of `dma_irq`.
    pub fn irqs(&self) -> u64 {
        self.irqs
    }

    /// Returns the number of messages of the interrupt lines that have reached the host: one for each rising edge of
    /// `dma_irq`, or, on a board with the hard IP's interrupt registers, those that these let through.
    pub fn irqs_delivered(&self) -> u64 {
        self.pcie.stats.interrupts_delivered
    }

    /// Returns the number of the block's reads that are owed an answer.
    pub fn reads_outstanding(&self) -> usize {
        match &self.txs {
            Some(txs) => txs.bridge.owed(),
            None => self.pcie.outstanding(),
        }
    }

    /// Returns a number that grows whenever a word moves on one of the design's ports.
    pub fn activity(&self) -> u64 {
        let memories = [&self.mem_rd, &self.mem_wr, &self.mem_win].map(|port| {
            port.as_ref()
                .map_or(0, |port| port.stats.words_read + port.stats.words_written)
        });
        self.port_words() + self.port_stats().read_words + memories.iter().sum::<u64>()
    }

    /// Returns the words of writes, and the reads, that the port towards PCIe has taken.
    pub fn port_words(&self) -> u64 {
        let port = self.port_stats();
        port.write_words + port.read_bursts
    }

    /// Returns the number of host accesses that the slaves have not taken yet.
    pub fn host_backlog(&self) -> usize {
        self.slaves.waiting()
    }

    /// Returns whether the models still have something to do by themselves: a host access, a packet in progress, an
    /// answer that will come, or a kernel at work. Events that only the design waits for are not known here.
    pub fn busy(&self) -> bool {
        let opencl = self.opencl.as_ref().is_some_and(|side| side.busy());
        let bridge = self.txs.as_ref().is_some_and(|txs| txs.bridge.busy());
        self.pcie.busy() || bridge || !self.slaves.idle() || !self.window.idle() || opencl
    }

    /// Returns the cycles of `pcie_clk` since the start.
    pub fn cycles(&self) -> u64 {
        self.pcie_clk.cycles
    }

    /// Returns the simulated nanoseconds since the start.
    pub fn ns(&self) -> f64 {
        self.now as f64 / 1e6
    }

    /// Starts to measure the first request after a doorbell: `stats().txs.first_request_cycle` is empty until then.
    pub fn mark(&mut self) {
        self.mark_range(0..u64::MAX);
    }

    /// Starts to measure the first request that begins at one of these bus addresses.
    pub fn mark_range(&mut self, addresses: Range<u64>) {
        if let Some(txs) = &mut self.txs {
            txs.stats.first_request_cycle = None;
            txs.watch = addresses.clone();
        }
        if let Some(stream) = &mut self.stream {
            stream.stats.first_request_cycle = None;
            stream.watch = addresses.clone();
        }
        if let Some(packets) = &mut self.packets {
            packets.stats.first_request_cycle = None;
            packets.watch = addresses;
        }
    }

    /// Returns the cycles of `pcie_clk` that a design which gets the host's accesses as packets took for the last read:
    /// from the packet's beat to the completion's. 0 for another design.
    pub fn last_host_read_cycles(&self) -> u64 {
        self.slaves.last_read_cycles()
    }

    /// Returns the cycle of `pcie_clk` at which a slave last took a write, or at which a design that gets packets was
    /// shown one.
    pub fn last_host_write_cycle(&self) -> u64 {
        self.slaves.last_write_cycle()
    }

    pub(super) fn port_stats(&self) -> TxsStats {
        let stream = self.stream.as_ref().map(|stream| stream.stats);
        let packets = self.packets.as_ref().map(|packets| packets.stats);
        stream
            .or(packets)
            .or(self.txs.as_ref().map(|txs| txs.stats))
            .unwrap_or_default()
    }

    /// Returns the statistics so far.
    pub fn stats(&self) -> Stats {
        let link = &self.pcie.stats;
        let now = self.now.max(1) as f64;
        let port =
            |port: &Option<DdrPort>| port.as_ref().map(|port| port.stats).unwrap_or_default();
        Stats {
            pcie_cycles: self.pcie_clk.cycles,
            clk_cycles: self.clk.as_ref().map_or(0, |clk| clk.cycles),
            ns: self.ns(),
            bytes_written: link.tx_payload,
            bytes_read: link.rx_payload,
            write_packets: link.write_packets,
            read_requests: link.read_requests,
            tx_packets: link.tx_packets,
            rx_packets: link.rx_packets,
            tx_busy: link.tx_busy as f64 / now,
            rx_busy: link.rx_busy as f64 / now,
            reads_done: link.reads_done,
            reads_failed: link.reads_failed,
            read_ns_mean: link.read_time as f64 / 1e6 / link.reads_done.max(1) as f64,
            read_ns_max: link.read_time_max as f64 / 1e6,
            irqs: self.irqs,
            irqs_delivered: link.interrupts_delivered,
            messages: self.bus.message_total(),
            txs: self.port_stats(),
            host: self.bus.host_stats,
            gpu: self.bus.gpu_stats,
            mem_rd: port(&self.mem_rd),
            mem_wr: port(&self.mem_wr),
            mem_win: port(&self.mem_win),
            unsupported: self.bus.unsupported_total(),
            strays: self.bus.stray_total(),
            violations: self.log.total(),
        }
    }
}
