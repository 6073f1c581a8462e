//! State and counters of an endpoint, as data.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config_space::Function;
use crate::ledger::{Access, Traffic};

/// Accesses of the guest to one part of the BAR, counted as they came: an 8-byte access counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Accesses {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// The state of an endpoint, and its counters since the start or the last
/// [`Handle::clear_counters`](crate::Handle::clear_counters).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Status {
    /// Whether it was killed, or the block's model failed.
    pub dead: bool,
    /// Whether the clock has stopped.
    pub idle: bool,
    /// Permissions of the function by its registers.
    pub function: Function,
    /// Resets of the function: by the client, FLR, or D3hot to D0.
    pub resets: u64,
    /// Addresses of the BAR while it answered.
    pub bars: Vec<u64>,
    /// Accesses to the BAR that came while the function did not decode them.
    pub undecoded: u64,
    /// The first of them.
    pub first_undecoded: Option<String>,
    /// Clients that went since the start.
    pub left: u64,
    /// The number of these since the counters were cleared that went while the function was bus master.
    pub left_as_master: u64,
    /// Cycles of the block's PCIe clock.
    pub cycles: u64,
    /// Seconds of this machine's time that the clock ran for these cycles.
    pub seconds: f64,
    /// Accesses by the part of the BAR: `csr`, `chan`, `att`, `msix`, `window`, `opencl`, `nothing`.
    pub mmio: BTreeMap<&'static str, Accesses>,
    /// Interrupts signalled to the client, by vector.
    pub interrupts: Vec<u64>,
    /// Interrupt messages without a vector: a defect of the block.
    pub interrupts_lost: u64,
    /// Traffic with the client's memory.
    pub host: Traffic,
    /// Traffic with the GPU's BAR.
    pub gpu: Traffic,
    /// Accesses of the block without a mapping, or against a mapping's permissions.
    pub unmapped_total: u64,
    /// The first of them.
    pub unmapped: Vec<Access>,
    /// Accesses outside of the addresses that [`Handle::allow_only`](crate::Handle::allow_only) allowed.
    pub strays: u64,
    /// The first of them.
    pub first_stray: Option<Access>,
    /// Broken rules of the block's interfaces: a defect of the block.
    pub violations: u64,
    /// The first error.
    pub first_error: Option<String>,
}
