//! Owners of memory.

/// Owner of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// The host's main memory.
    Host,
    /// A GPU's memory, reached through its BAR.
    Gpu,
}
