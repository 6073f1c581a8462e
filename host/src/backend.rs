//! What stands between the library and a board.

use peerlane_core::layout::Segment;
use peerlane_core::link::Link;
use std::time::Duration;

/// The register spaces of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Control and status, 1 KiB.
    Csr,
    /// Channel pages, 4 KiB each.
    Chan,
    /// Address translation table, 8 bytes an entry.
    Att,
}

/// Where memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// The host's main memory.
    Host,
    /// A GPU's memory, reached through its BAR.
    Gpu,
}

/// Names memory that a backend has allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u64);

/// Memory that the board can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// Its name.
    pub id: MemoryId,
    /// Where it lies on the bus, in the order of its bytes. It is at least as long as
    /// was asked for.
    pub segments: Vec<Segment>,
}

/// Why a backend could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BackendError {
    /// The board does not answer any more.
    #[error("the board does not answer")]
    Gone,
    /// There is no memory left.
    #[error("no {wanted} bytes of {kind:?} memory are free")]
    OutOfMemory {
        /// What was asked for.
        kind: MemoryKind,
        /// Bytes asked for.
        wanted: u64,
    },
    /// An access outside of allocated memory or a register space.
    #[error("access outside of what exists: {0}")]
    Range(String),
    /// Anything else; the simulated board's own errors, for one.
    #[error("{0}")]
    Other(String),
}

/// Access to the board's registers and interrupt, and to memory that it can reach.
///
/// A backend need not be fast at anything but register writes: a transfer costs two
/// packets a piece, and two accesses when it has ended.
pub trait Backend: Send {
    /// Reads a register. Everything written before has taken effect when it returns,
    /// and records that the board wrote before it answered can be seen.
    fn read32(&mut self, space: Space, offset: usize) -> Result<u32, BackendError>;

    /// Writes a register; may be posted.
    fn write32(&mut self, space: Space, offset: usize, value: u32) -> Result<(), BackendError>;

    /// Writes neighbouring registers in ascending order, in one packet where that is
    /// possible.
    fn write_block(
        &mut self,
        space: Space,
        offset: usize,
        values: &[u32],
    ) -> Result<(), BackendError> {
        for (index, value) in values.iter().enumerate() {
            self.write32(space, offset + 4 * index, *value)?;
        }
        Ok(())
    }

    /// The link as it was trained, where the backend knows it. The block then holds writes
    /// back a little where reads would have to wait for them.
    fn link(&self) -> Option<Link>;

    /// Time as the board lives it: simulated time, or a monotonic clock.
    fn now(&self) -> Duration;

    /// Lets some time pass, whatever the interrupt line does.
    fn pause(&mut self, time: Duration) -> Result<(), BackendError>;

    /// Lets time pass until the interrupt line is high or `limit` is over; says
    /// whether it is high.
    fn wait_interrupt(&mut self, limit: Duration) -> Result<bool, BackendError>;

    /// Allocates memory, all zero, of segments aligned to 4 KiB at least; of a single
    /// segment if it is to be `contiguous`.
    fn allocate(
        &mut self,
        kind: MemoryKind,
        length: u64,
        contiguous: bool,
    ) -> Result<Allocation, BackendError>;

    /// Frees memory that no ATT entry maps any more.
    fn free(&mut self, id: MemoryId);

    /// Makes sure that the memory's owner sees what the board wrote before the records
    /// that can be seen now. A record in host memory can overtake data on the way to a
    /// GPU; a read of the GPU's BAR, or its driver's own flush, waits for the data. Used
    /// where the block cannot do it: a region that it may not read, or a failed write.
    fn flush(&mut self, id: MemoryId) -> Result<(), BackendError>;

    /// Reads memory as its owner sees it.
    fn read_memory(
        &mut self,
        id: MemoryId,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), BackendError>;

    /// Writes memory as its owner does.
    fn write_memory(&mut self, id: MemoryId, offset: u64, bytes: &[u8])
    -> Result<(), BackendError>;

    /// FPGA memory behind the board's back, where the backend has such a door
    /// (simulated boards do).
    fn fpga_memory_backdoor(&mut self) -> Option<&mut dyn FpgaMemory>;
}

/// FPGA memory seen from outside of the board, for tests and demonstrations.
pub trait FpgaMemory {
    /// Reads at a byte address.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BackendError>;

    /// Writes at a byte address.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BackendError>;
}
