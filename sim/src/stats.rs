//! Counters of a run.

use serde::Serialize;

/// Counters of the link; times in femtoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LinkStats {
    pub tx_packets: u64,
    pub rx_packets: u64,
    pub tx_payload: u64,
    pub rx_payload: u64,
    pub tx_busy: u64,
    pub rx_busy: u64,
    pub write_packets: u64,
    pub read_requests: u64,
    pub reads_done: u64,
    pub reads_failed: u64,
    pub read_time: u64,
    pub read_time_max: u64,
    pub interrupts_delivered: u64,
}

impl LinkStats {
    /// Counts a read that has been answered in full, and the time since its acceptance.
    pub(crate) fn read_done(&mut self, took: u64) {
        self.reads_done += 1;
        self.read_time += took;
        self.read_time_max = self.read_time_max.max(took);
    }
}

/// Counters of the port towards PCIe: of `Txs`, or of the stream port, where a word is a beat, and a low `post_ready`
/// or `ask_ready` has the effect of `waitrequest`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TxsStats {
    /// Write bursts accepted.
    pub write_bursts: u64,
    /// Read bursts accepted.
    pub read_bursts: u64,
    /// Write words accepted.
    pub write_words: u64,
    /// Read words delivered.
    pub read_words: u64,
    /// Cycles in which `waitrequest` held a request.
    pub wait_cycles: u64,
    /// Those cycles in which a read was held because too many were outstanding; on the stream port all cycles in which
    /// a read was held.
    pub wait_reads: u64,
    /// Cycle of the last request that began.
    pub last_request_cycle: u64,
    /// Cycle of the first request that began since [`crate::Board::mark`].
    pub first_request_cycle: Option<u64>,
    /// Most reads outstanding at once.
    pub most_reads: u32,
}

/// Counters of one destination.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TargetStats {
    /// Bytes written.
    pub bytes_written: u64,
    /// Write packets.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Read requests.
    pub reads: u64,
}

/// Counters of one memory port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DdrPortStats {
    /// Words read.
    pub words_read: u64,
    /// Words written (with any byte enabled).
    pub words_written: u64,
    /// Cycles in which `waitrequest` held a request.
    pub wait_cycles: u64,
}

/// Counters of a board since it was created. The difference of two copies describes a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Cycles of `pcie_clk`.
    pub pcie_cycles: u64,
    /// Cycles of `clk`.
    pub clk_cycles: u64,
    /// Simulated time in nanoseconds.
    pub ns: f64,
    /// Payload bytes written by the board to the link.
    pub bytes_written: u64,
    /// Payload bytes of the completions.
    pub bytes_read: u64,
    /// Write packets from the board.
    pub write_packets: u64,
    /// Read requests on the link.
    pub read_requests: u64,
    /// Packets towards the host: writes, read requests, interrupts, answers to the host's reads.
    pub tx_packets: u64,
    /// Packets towards the board: completions and host accesses.
    pub rx_packets: u64,
    /// Fraction of the time in which the link towards the host was busy, 0 to 1.
    pub tx_busy: f64,
    /// Fraction of the time in which the link towards the board was busy, 0 to 1.
    pub rx_busy: f64,
    /// Reads of the block answered, with data or with a failure.
    pub reads_done: u64,
    /// Read requests that received no data.
    pub reads_failed: u64,
    /// Mean time from the acceptance of a read of the block to its last word, in nanoseconds.
    pub read_ns_mean: f64,
    /// The longest such time.
    pub read_ns_max: f64,
    /// Rising edges of `dma_irq`.
    pub irqs: u64,
    /// Interrupt messages that have reached the host.
    pub irqs_delivered: u64,
    /// Interrupt messages that the block wrote (MSI-X) and that have reached the host.
    pub messages: u64,
    /// The port towards PCIe.
    pub txs: TxsStats,
    /// Traffic with host memory.
    pub host: TargetStats,
    /// Traffic with the GPU.
    pub gpu: TargetStats,
    /// Port `mem_rd`.
    pub mem_rd: DdrPortStats,
    /// Port `mem_wr`.
    pub mem_wr: DdrPortStats,
    /// Port `mem_win`.
    pub mem_win: DdrPortStats,
    /// Unsupported requests.
    pub unsupported: u64,
    /// Accesses outside the registered ranges.
    pub strays: u64,
    /// Broken rules.
    pub violations: u64,
}

impl Stats {
    /// Returns the payload rate towards the host in bytes per second, since `before`.
    pub fn write_rate(&self, before: &Self) -> f64 {
        rate(
            self.bytes_written - before.bytes_written,
            self.ns - before.ns,
        )
    }

    /// Returns the payload rate towards the board in bytes per second, since `before`.
    pub fn read_rate(&self, before: &Self) -> f64 {
        rate(self.bytes_read - before.bytes_read, self.ns - before.ns)
    }
}

fn rate(bytes: u64, ns: f64) -> f64 {
    if ns > 0.0 {
        bytes as f64 * 1e9 / ns
    } else {
        0.0
    }
}
