//! Broken rules, and the other errors of a simulation.

use std::fmt;

use thiserror::Error;

/// A clock of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// `pcie_clk`.
    Pcie,
    /// `clk`, the memory's.
    Memory,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pcie => "pcie_clk",
            Self::Memory => "clk",
        })
    }
}

/// A rule of an interface. Avalon rules are from the Avalon Interface Specifications (MNL-AVABUSREF, chapter 3), `Txs`
/// rules from the Stratix V user guide 683411, A.4.2 and A.4.3; those of the stream port are Peerlane's own
/// ([`crate::StreamConfig`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// `read` and `write` at the same time.
    ReadAndWrite,
    /// A signal changed, or the request was withdrawn, before the other side took it.
    StableWhileWaiting,
    /// `burstcount` is 0 or too large.
    BurstCount,
    /// The address is not a multiple of the port's width.
    AddressAlignment,
    /// The byte enables break the port's rules.
    ByteEnable,
    /// A write burst was interrupted by a read, or its address or length changed within it.
    BurstInterrupted,
    /// A burst crosses 4 KiB although the block promises that no burst does.
    Crosses4K,
    /// The request goes to addresses that do not exist (`Txs`: beyond the translation windows).
    OutOfRange,
    /// The block reached a bus address that is not registered for this kind of access.
    Stray,
    /// A host access found no slave.
    HostStray,
    /// A read of no bytes, or of more than the port or the link allows.
    ReadSize,
    /// The tag does not exist.
    TagRange,
    /// A tag was used again before all its completions had come.
    TagReuse,
    /// A packet, or its placement on the hard IP's interface, breaks a rule of [`crate::hip`]; or a packet of a stream
    /// to the logic breaks one of the Avalon Interface Specifications.
    Packet,
}

impl Rule {
    /// Returns the rule in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::ReadAndWrite => "read and write asserted together",
            Self::StableWhileWaiting => "a request changed before it was accepted",
            Self::BurstCount => "burst count out of bounds",
            Self::AddressAlignment => "address not a multiple of the port's width",
            Self::ByteEnable => "byte enables not allowed",
            Self::BurstInterrupted => "write burst interrupted",
            Self::Crosses4K => "burst crosses 4 KiB",
            Self::OutOfRange => "address out of range",
            Self::Stray => "access outside the registered ranges",
            Self::HostStray => "host access outside the slaves",
            Self::ReadSize => "read size out of bounds",
            Self::TagRange => "the tag does not exist",
            Self::TagReuse => "tag used again before its completion was complete",
            Self::Packet => "a packet breaks a rule",
        }
    }
}

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The clock that `cycle` counts.
    pub clock: Clock,
    /// Cycle of that clock since the start.
    pub cycle: u64,
    /// The signal, or the interface if no single signal is the cause (`txs_burstcount`).
    pub signal: String,
    /// The rule.
    pub rule: Rule,
    /// The values.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cycle {}, {}: {} ({})",
            self.clock,
            self.cycle,
            self.signal,
            self.rule.text(),
            self.detail
        )
    }
}

/// Number of violations kept; the counter goes on beyond it.
const KEPT: usize = 64;

/// The violations of a run.
#[derive(Debug, Default)]
pub(crate) struct Log {
    kept: Vec<Violation>,
    total: u64,
    reported: u64,
}

impl Log {
    #[cold]
    pub(crate) fn add(
        &mut self,
        clock: Clock,
        cycle: u64,
        signal: impl Into<String>,
        rule: Rule,
        detail: String,
    ) {
        self.total += 1;
        if self.kept.len() < KEPT {
            self.kept.push(Violation {
                clock,
                cycle,
                signal: signal.into(),
                rule,
                detail,
            });
        }
    }

    /// Whether there are violations that `take` has not returned yet.
    pub(crate) fn fresh(&self) -> bool {
        self.total > self.reported
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the violations since the last call, as an error.
    pub(crate) fn take(&mut self) -> Result<(), Error> {
        if !self.fresh() {
            return Ok(());
        }
        let count = self.total - self.reported;
        self.reported = self.total;
        Err(Error::Violations {
            count,
            list: std::mem::take(&mut self.kept),
        })
    }
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reasons why a simulation could not begin or continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A configuration value is not possible.
    #[error("board configuration: {message}")]
    Config {
        /// Description of the error.
        message: String,
    },
    /// The design could not be built, or a port is missing.
    #[error(transparent)]
    Model(#[from] peerlane_verilated::Error),
    /// A port of the design has a width that the board does not know.
    #[error("port `{port}` is {width} bits wide, expected {expected}")]
    Width {
        /// The port.
        port: String,
        /// Its width.
        width: u32,
        /// The widths that are accepted.
        expected: String,
    },
    /// A program for the board's OpenCL side is not valid.
    #[error(transparent)]
    Program(#[from] peerlane_sim_opencl::ProgramError),
    /// The design stopped itself.
    #[error("pcie_clk cycle {cycle}: {fault}")]
    Fault {
        /// Cycle of `pcie_clk`.
        cycle: u64,
        /// Message of the design.
        #[source]
        fault: peerlane_verilated::Fault,
    },
    /// The design broke rules of its interfaces.
    #[error("{count} interface violations, the first: {}", first(list))]
    Violations {
        /// Number of violations since the last report.
        count: u64,
        /// The first of them.
        list: Vec<Violation>,
    },
    /// An event did not occur in time.
    #[error("{what} did not happen within {cycles} cycles of pcie_clk")]
    Timeout {
        /// The event.
        what: String,
        /// The number of cycles waited.
        cycles: u64,
    },
    /// An address range is not within the memory named.
    #[error("{memory}: {bytes} bytes at {address:#x} are outside the memory")]
    Address {
        /// The memory.
        memory: &'static str,
        /// First address.
        address: u64,
        /// Length.
        bytes: u64,
    },
    /// Ranges of host memory or of the GPU's BAR would overlap.
    #[error("{what} at {address:#x} overlaps another range")]
    Overlap {
        /// The range that was to be added.
        what: &'static str,
        /// Its address.
        address: u64,
    },
    /// The GPU's BAR has no room for another pinned range.
    #[error("the GPU's BAR has {free} free pages of 64 KiB, {needed} are needed")]
    BarFull {
        /// Number of free pages.
        free: u64,
        /// Number of pages requested.
        needed: u64,
    },
    /// A host access is not possible as requested.
    #[error("host access at {offset:#x}: {message}")]
    HostAccess {
        /// Offset in the BAR or in the slave.
        offset: u64,
        /// The reason.
        message: String,
    },
}

impl Error {
    /// Returns the hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Model(error) => error.hint(),
            Self::BarFull { .. } => Some("unpin a range first"),
            _ => None,
        }
    }
}

fn first(list: &[Violation]) -> String {
    list.first().map(ToString::to_string).unwrap_or_default()
}
