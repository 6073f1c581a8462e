//! Configuration of a simulated board.

use serde::{Deserialize, Serialize};

use crate::{link::LinkConfig, rng::Rng};

/// Longest burst of the hard IP's bridge ([`crate::bridge`]), in bytes (user guide 683411, A.4.2 and A.4.3).
pub const BURST_BYTES: u32 = 512;

/// Cycles in which a slave port holds `waitrequest` beyond the need of its own state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backpressure {
    /// Never.
    #[default]
    None,
    /// In this percentage of cycles, at random.
    Random(u8),
    /// By a pattern: bit `n % len` of `bits` in cycle `n`.
    Pattern {
        /// The pattern, first cycle in bit 0.
        bits: u64,
        /// Bits used, 1 to 64.
        len: u8,
    },
}

impl Backpressure {
    pub(crate) fn holds(self, cycle: u64, rng: &mut Rng) -> bool {
        match self {
            Self::None => false,
            Self::Random(percent) => rng.chance(percent),
            Self::Pattern { bits, len } => bits >> (cycle % u64::from(len.clamp(1, 64))) & 1 == 1,
        }
    }
}

/// The `Txs` port of the hard IP ([`crate::bridge`]), and the completer at the link's other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TxsConfig {
    /// Whether byte enables that damage the peer's memory are accepted without a violation. They damage it either way.
    pub allow_damage: bool,
    /// Whether a burst across 4 KiB counts as a violation. The bridge would split it (A.4.2, A.4.3), but Peerlane's
    /// block promises not to ask for it.
    pub forbid_4k_crossing: bool,
    /// Bytes of writes that the hard IP holds for the link before it is not ready. No public source; an assumption.
    pub write_buffer: u32,
    /// Back-pressure in front of the bridge, in addition to its own, as from an interconnect.
    pub backpressure: Backpressure,
    /// Cycles in which the hard IP takes nothing (`TxStReady_i`).
    pub not_ready: Backpressure,
    /// Percentage of cycles in which a read word that has come is not yet passed on, as by an interconnect.
    pub response_gaps: u8,
    /// Cycles by which the completer may be later with the answer to a request, at random, and so out of order; 0: it
    /// answers in order, except for answers that a fault delays.
    pub reorder_cycles: u32,
    /// Read requests for which the other end has credits at once; no limit if not given.
    pub non_posted_credits: Option<u32>,
}

impl Default for TxsConfig {
    fn default() -> Self {
        Self {
            allow_damage: false,
            forbid_4k_crossing: true,
            write_buffer: 1024,
            backpressure: Backpressure::None,
            not_ready: Backpressure::None,
            response_gaps: 0,
            reorder_cycles: 0,
            non_posted_credits: None,
        }
    }
}

/// The stream port, which a design has instead of `Txs`: tagged requests and completions, for an
/// adapter that makes TLPs of them. All in `pcie_clk`, `W` bits (128 or 256) wide; `B = W / 8`.
///
/// - Posted writes: `post_valid`, `post_ready`, `post_address` (of the burst, a multiple of `B`, the
///   same for all its beats), `post_beats` (1 to 32), `post_data`, `post_enable`. The enabled bytes
///   of a burst are one run without a hole, as a packet needs it.
/// - Limits, for a design that reads them: `max_payload` and `max_request`, 128 bytes shifted left by them.
/// - Reads: `ask_valid`, `ask_ready`, `ask_address` (of the first byte), `ask_bytes` (1 to 512, at most MRRS, not
///   across 4 KiB), `ask_tag` (0 to 71). A tag is in use from then until the last beat of its last completion is on the
///   port.
/// - Completions, never refused: `answer_valid`, `answer_first`, `answer_tag`, `answer_bytes` and
///   `answer_code` (valid with `answer_first`; 0 data, 1 unsupported request, 2 completer abort,
///   3 poisoned), `answer_data` with the byte of address `a` in lane `a mod B`. A completion with a
///   code is one beat of 0 bytes and ends the tag.
///
/// A design must not rely on other outputs: lanes outside a completion, and `answer_bytes` and `answer_code` without
/// `answer_first`, show noise.
///
/// A read sees the posted writes that were accepted in earlier cycles and go to the same destination; a read that is
/// accepted in the very cycle of a write's last beat does not see that write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamConfig {
    /// Whether packets take their time on the configured link in both directions. With `false` the adapter is ideal:
    /// only one beat a cycle in each direction, and the latencies.
    pub link: bool,
    /// Bytes of posted writes that wait for the link before `post_ready` goes low, as for lack of flow-control credits;
    /// at least MPS and 32. Only used with `link`.
    pub post_buffer: u32,
    /// Read requests that wait for the link before `ask_ready` goes low. Only used with `link`.
    pub ask_buffer: u32,
    /// Percentage of cases in which the next completion is for any read that is ready, instead of the oldest one. With
    /// 0 the reads are answered in their order, except for those that a fault delays. `link.read_jitter_ns` makes reads
    /// ready in another order.
    pub reorder: u8,
    /// Percentage of cases in which a completion ends at an earlier RCB boundary than it could.
    pub short_completions: u8,
    /// Percentage of cycles in which a beat of a completion that has come is not yet passed on.
    pub answer_gaps: u8,
    /// Additional back-pressure of `post_ready` and `ask_ready`, independent of each other.
    pub backpressure: Backpressure,
}

impl Default for StreamConfig {
    fn default() -> Self {
        Self {
            link: true,
            post_buffer: 1024,
            ask_buffer: 8,
            reorder: 0,
            short_completions: 0,
            answer_gaps: 0,
            backpressure: Backpressure::None,
        }
    }
}

/// The hard IP's Avalon-ST interface, for a design with `tx_st_*` and `rx_st_*` ([`crate::hip`]). All of
/// [`StreamConfig`] is used here, too: while the limits `post_buffer` or `ask_buffer` are reached, the hard IP is not
/// ready, and `backpressure` makes it not ready in further cycles; `answer_gaps` are cycles without a beat of a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlpConfig {
    /// Extended Tag Field Enable: 64 tags, else 32.
    pub extended_tags: bool,
    /// Completions that the hard IP's buffer has room for, and units of 16 bytes of their data. The defaults are those
    /// of the setting Low with payloads of 256 bytes (683093, "RX Buffer Allocation Selections Available by Interface
    /// Type").
    pub completion_headers: u32,
    /// See `completion_headers`.
    pub completion_data: u32,
    /// Cycles until the other end returns the credits of a packet. An assumption.
    pub credit_delay: u64,
    /// Number of cycles in 1000 in which the hard IP sends a packet of its own.
    pub own_packets: u64,
    /// Whether it shows the credits that were consumed when it is asked for them (`tx_cons_cred_sel`).
    pub shows_consumed: bool,
}

impl Default for TlpConfig {
    fn default() -> Self {
        Self {
            extended_tags: true,
            completion_headers: 195,
            completion_data: 781,
            credit_delay: 40,
            own_packets: 0,
            shows_consumed: true,
        }
    }
}

/// The board's memory, on three Avalon-MM masters of the block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DdrConfig {
    /// Bytes, from address 0. Untouched memory costs nothing.
    pub bytes: u64,
    /// Cycles of `clk` from the acceptance of a read to its first word. An assumption: about the time of a DDR3
    /// controller at quarter rate with its interconnect.
    pub latency: u32,
    /// Random addition, 0 to this many cycles.
    pub jitter: u32,
    /// Reads that a port may have outstanding.
    pub max_reads: u32,
    /// Largest burst in words.
    pub max_burst: u32,
    /// Cycles of `clk` after which a word that was accepted on a port that only writes is in memory, for the other
    /// ports and for the caller. 0: at once, as with ports that share an arbiter with nothing in front of it; otherwise
    /// a stage in front of the arbiter takes posted writes.
    pub posted: u32,
    /// Additional back-pressure on each port.
    pub backpressure: Backpressure,
}

impl Default for DdrConfig {
    fn default() -> Self {
        Self {
            bytes: 2 << 30,
            latency: 40,
            jitter: 0,
            max_reads: 32,
            max_burst: 16,
            posted: 0,
            backpressure: Backpressure::None,
        }
    }
}

/// The GPU as a PCIe peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpuConfig {
    /// Bytes of GPU memory.
    pub bytes: u64,
    /// Bus address of the BAR.
    pub bar_base: u64,
    /// Bytes of the BAR (GK107: 256 MiB; thesis, 5.2).
    pub bar_bytes: u64,
    /// Bytes at the end of the BAR that the GPU's driver reserves (thesis, 5.2: 32 MiB).
    pub bar_reserved: u64,
    /// Time from the end of a posted write on the link until its bytes are in GPU memory. Longer than to host memory,
    /// so that a record can overtake data. An assumption.
    pub write_latency_ns: u32,
    /// Read round trip, defined as `link.read_round_trip_ns`.
    pub read_round_trip_ns: u32,
}

impl Default for GpuConfig {
    fn default() -> Self {
        Self {
            bytes: 2 << 30,
            bar_base: 0x38_0000_0000,
            bar_bytes: 256 << 20,
            bar_reserved: 32 << 20,
            write_latency_ns: 700,
            read_round_trip_ns: 1000,
        }
    }
}

/// Offsets of the block's slaves in the flat BAR space that a driver sees. The defaults are Peerlane's own arrangement
/// for tests; those of a BSP follow from its interconnect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BarConfig {
    /// CSR slave, 1 KiB.
    pub csr: u64,
    /// DMA window (`s_nondma`), 64 KiB.
    pub window: u64,
    /// Channel pages.
    pub channels: u64,
    /// ATT.
    pub att: u64,
    /// MSI-X table and pending bits.
    pub msix: u64,
    /// Number of the BAR. It is only shown to a design through which the host accesses its slaves.
    pub number: u8,
    /// Sizes of the slaves of such a design, which are given nowhere else.
    pub sizes: Option<BarSizes>,
}

/// Bytes of slaves; 0 for one that the design does not have. The registers have 1 KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarSizes {
    /// Channel pages.
    pub channels: u64,
    /// ATT.
    pub att: u64,
    /// MSI-X table and pending bits.
    pub msix: u64,
}

impl Default for BarConfig {
    fn default() -> Self {
        Self {
            csr: 0xC800,
            window: 0x1_0000,
            channels: 0x4_0000,
            att: 0x10_0000,
            msix: 0x8_0000,
            number: 0,
            sizes: None,
        }
    }
}

/// A simulated board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoardConfig {
    /// Period of `pcie_clk` in picoseconds (250 MHz).
    pub pcie_clk_ps: u64,
    /// Period of `clk` in picoseconds (200 MHz).
    pub clk_ps: u64,
    /// First rising edge of `clk`, in picoseconds after that of `pcie_clk`.
    pub clk_phase_ps: u64,
    /// The link.
    pub link: LinkConfig,
    /// The hard IP's port, for a design with `txs_*`.
    pub txs: TxsConfig,
    /// The stream port, for a design with `post_*`, `ask_*` and `answer_*`.
    pub stream: StreamConfig,
    /// The hard IP's Avalon-ST interface, for a design with `tx_st_*`.
    pub tlp: TlpConfig,
    /// FPGA memory.
    pub ddr: DdrConfig,
    /// The GPU.
    pub gpu: GpuConfig,
    /// First range of host memory: bus address and bytes. More by `HostMemory::add_range`.
    pub host: (u64, u64),
    /// Bases of the slaves in the flat BAR.
    pub bar: BarConfig,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for BoardConfig {
    fn default() -> Self {
        Self {
            pcie_clk_ps: 4000,
            clk_ps: 5000,
            clk_phase_ps: 1300,
            link: LinkConfig::default(),
            txs: TxsConfig::default(),
            stream: StreamConfig::default(),
            tlp: TlpConfig::default(),
            ddr: DdrConfig::default(),
            gpu: GpuConfig::default(),
            host: (0x1_0000_0000, 2 << 30),
            bar: BarConfig::default(),
            seed: 1,
        }
    }
}

impl BoardConfig {
    pub(crate) fn problem(&self) -> Option<String> {
        if self.pcie_clk_ps == 0 || self.clk_ps == 0 {
            return Some("a clock has the period 0".to_owned());
        }
        if self.ddr.max_reads == 0 || self.ddr.max_burst == 0 {
            return Some("ddr.max_reads and ddr.max_burst must be 1 or more".to_owned());
        }
        if self.txs.write_buffer < BURST_BYTES || self.txs.non_posted_credits == Some(0) {
            return Some(format!(
                "txs.write_buffer must be {BURST_BYTES} or more, and txs.non_posted_credits 1 or more"
            ));
        }
        // A packet is assembled in the buffer, and its last beat may have fewer bytes than it could.
        if self.stream.post_buffer < self.link.max_payload + 32 || self.stream.ask_buffer == 0 {
            return Some(
                "stream.post_buffer must be link.max_payload plus 32 bytes or more, and \
                 stream.ask_buffer 1 or more"
                    .to_owned(),
            );
        }
        if self.gpu.bar_reserved > self.gpu.bar_bytes {
            return Some("gpu.bar_reserved is larger than gpu.bar_bytes".to_owned());
        }
        self.link.problem()
    }
}
