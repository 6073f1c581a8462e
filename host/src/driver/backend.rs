//! The interface between the driver and a board.

use crate::error::{BackendError, BackendResult};
use crate::mapping::Mapping;
use crate::memory::{Memory, MemoryKind};
use crate::opencl::Area;
use peerlane_core::att::Permissions;
use peerlane_core::layout::Segment;
use peerlane_core::link::Link;
use rustix::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
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

/// Name of memory that a backend knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u64);

/// Knowledge of a backend about a board that others may reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// It works as before.
    Good,
    /// The driver has to look for a reset.
    Unknown,
    /// It was reset, or has to be.
    Failed,
}

/// Memory of the driver itself that the board can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Its name.
    pub id: MemoryId,
    /// Its bus address, in one piece.
    pub address: u64,
}

/// Memory of a user that stays where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Its name. The same memory, pinned twice, may have the same.
    pub id: MemoryId,
    /// Its bus addresses, in the order of its bytes, aligned to 4 KiB at least.
    pub segments: Vec<Segment>,
    /// The first byte that was asked for, counted from the first segment.
    pub offset: u64,
}

/// Memory of a user that is pinned, or is being pinned.
pub enum Pin {
    /// It is pinned.
    Done(Pinned),
    /// It has its name, and is pinned when the work was done and [`Backend::end_pin`] was called.
    Begun(MemoryId, PinWork),
}

/// Work that may take long, and needs neither backend nor driver.
pub type PinWork = Box<dyn FnOnce() -> BackendResult<()> + Send>;

/// Access to the board's registers and interrupt, and to memory that it can reach.
///
/// A backend need not be fast at anything but register writes: a transfer costs two
/// packets a piece, and two accesses when it has ended.
///
/// Code that has a backend writes the ATT, and so can have the board write any memory. Safe code must not get a backend
/// of real hardware: its crate makes it and hands out the [`Driver`](super::Driver) alone, or the function that makes
/// it is unsafe.
pub trait Backend: Send {
    /// Returns the name of the board, for messages.
    fn name(&self) -> String;

    /// Returns the number of bytes of FPGA memory.
    fn fpga_bytes(&self) -> u64;

    /// Reads a register. Everything written before has taken effect when it returns, and records that the board wrote
    /// before it answered can be seen.
    fn read32(&mut self, space: Space, offset: usize) -> BackendResult<u32>;

    /// Writes a register; may be posted.
    fn write32(&mut self, space: Space, offset: usize, value: u32) -> BackendResult<()>;

    /// Writes neighbouring registers in ascending order, in one packet where that is
    /// possible.
    fn write_block(&mut self, space: Space, offset: usize, values: &[u32]) -> BackendResult<()> {
        for (index, value) in values.iter().enumerate() {
            self.write32(space, offset + 4 * index, *value)?;
        }
        Ok(())
    }

    /// Returns the link as it was trained, where the backend knows it. The block then delays writes a little where
    /// reads would have to wait for them.
    fn link(&self) -> Option<Link>;

    /// Returns the board's time: simulated time, or a monotonic clock.
    fn now(&self) -> Duration;

    /// Lets some time pass, independent of the interrupt line.
    fn pause(&mut self, time: Duration) -> BackendResult<()>;

    /// Lets the board access the memory that is pinned or allocated. It is called when the block was reset and its
    /// channels are closed: an earlier user may have left it at work. Returns pinned memory that stays out of reach for
    /// ever, because it went after [`cut_off`](Self::cut_off).
    fn allow_access(&mut self) -> BackendResult<Vec<MemoryId>> {
        Ok(Vec::new())
    }

    /// Takes all memory away from the board until [`allow_access`](Self::allow_access), also if the block does not
    /// answer. When this returns `Ok`, no byte of memory changes any more.
    fn cut_off(&mut self) -> BackendResult<()> {
        Err(BackendError::Other(
            "the backend has no way to do that".into(),
        ))
    }

    /// Returns whether a board that does not answer may do so within a second: its function is there, and may just have
    /// been reset. This waits for the end of a reset that is under way.
    fn is_coming_back(&mut self) -> bool {
        false
    }

    /// Returns whether others may have reset the board.
    fn health(&mut self) -> Health {
        Health::Good
    }

    /// Returns whether the board's owner asks for it. The driver then stops the board, and reports that it is gone.
    fn is_wanted_back(&mut self) -> bool {
        false
    }

    /// Returns a file that can be read while there are interrupts that [`wait_interrupt`](Self::wait_interrupt) has not
    /// returned. Threads wait for it without the driver's lock. `None`: time only passes in `wait_interrupt`.
    fn interrupt_file(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    /// Lets time pass until the interrupt line is high or `limit` is over. Returns whether the line is high.
    fn wait_interrupt(&mut self, limit: Duration) -> BackendResult<bool>;

    /// Allocates memory for a user, all zero, that can be pinned. It is freed when the user has dropped it and it is
    /// not pinned any more.
    fn memory(&mut self, kind: MemoryKind, length: usize) -> BackendResult<Memory>;

    /// Returns whether memory of a GPU can be pinned by the GPU's own addresses.
    fn has_gpu_addresses(&self) -> bool {
        true
    }

    /// Pins a part of a user's memory, and makes it reachable for the board, with these permissions at least.
    fn pin(
        &mut self,
        kind: MemoryKind,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> BackendResult<Pinned>;

    /// Begins the work of [`pin`](Self::pin). The driver does the work without its lock.
    fn begin_pin(
        &mut self,
        kind: MemoryKind,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> BackendResult<Pin> {
        self.pin(kind, address, length, permissions).map(Pin::Done)
    }

    /// Ends a pin that was begun, after its work. If the work has failed, it returns that error, and forgets the
    /// memory.
    fn end_pin(&mut self, id: MemoryId, worked: BackendResult<()>) -> BackendResult<Pinned> {
        worked.and(Err(BackendError::Range(format!(
            "{id:?} is not being pinned"
        ))))
    }

    /// Returns whether there are dma-bufs that can be pinned.
    fn has_dmabufs(&self) -> bool {
        false
    }

    /// Pins a part of a dma-buf, and makes it reachable for the board. It is called only where
    /// [`has_dmabufs`](Self::has_dmabufs) returns `true`.
    fn pin_dmabuf(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        length: u64,
    ) -> BackendResult<Pinned> {
        let _ = (file, offset, length);
        Err(BackendError::Other("there are no dma-bufs".into()))
    }

    /// Returns whether other devices' bus addresses can be made reachable.
    fn takes_bus_addresses(&self) -> bool {
        false
    }

    /// Makes bus addresses of another device's memory reachable for the board. The backend does not keep that memory
    /// alive: the caller has promised to. It is called only where [`takes_bus_addresses`](Self::takes_bus_addresses)
    /// returns `true`.
    fn pin_bus(&mut self, address: u64, length: u64) -> BackendResult<Pinned> {
        let _ = (address, length);
        Err(BackendError::Other(
            "the backend does not accept bus addresses".into(),
        ))
    }

    /// Unpins memory, once for each time that it was pinned. No ATT entry maps it any more.
    fn unpin(&mut self, id: MemoryId);

    /// Makes sure that the memory's owner sees all data that the board wrote before the records that can be seen now. A
    /// record in host memory can overtake data on the way to a GPU. A read of the GPU's BAR, or its driver's own flush,
    /// waits for the data. This is used where the block cannot do it: a region that it may not read, or a failed write.
    fn flush(&mut self, id: MemoryId) -> BackendResult<()>;

    /// Allocates host memory for the driver, all zero, aligned to 4 KiB at least.
    fn allocate(&mut self, length: u64) -> BackendResult<Allocation>;

    /// Frees memory of the driver that the board cannot reach any more.
    fn free(&mut self, id: MemoryId);

    /// Reads memory of the driver.
    fn read_memory(&mut self, id: MemoryId, offset: u64, bytes: &mut [u8]) -> BackendResult<()>;

    /// Writes memory of the driver.
    fn write_memory(&mut self, id: MemoryId, offset: u64, bytes: &[u8]) -> BackendResult<()>;

    /// Returns whether the board has a window into FPGA memory that can be mapped.
    fn has_window(&self) -> bool {
        false
    }

    /// Maps the window into FPGA memory into the process. It is called only where [`has_window`](Self::has_window)
    /// returns `true`.
    fn window(&self) -> BackendResult<Mapping> {
        Err(BackendError::Other("the board has no window".into()))
    }

    /// Exports the window as a dma-buf, for other devices: `None` where there are none. It is called only where
    /// [`has_window`](Self::has_window) returns `true`.
    fn export_window(&self) -> Option<BackendResult<OwnedFd>> {
        None
    }

    /// Returns the OpenCL side of the board, where it has one.
    fn opencl(&mut self) -> Option<&mut dyn Bar> {
        None
    }
}

/// The OpenCL side of a board, as a driver in the process reaches it through the BAR. The caller has checked that
/// ranges lie in their parts.
pub trait Bar: Send {
    /// Returns the number of bytes of a part; 0: the board does not have the part.
    fn bytes(&self, area: Area) -> u64;

    /// Reads bytes as [`OpenCl::read`](crate::OpenCl::read).
    fn read(&mut self, area: Area, offset: u64, data: &mut [u8]) -> BackendResult<()>;

    /// Writes bytes as [`OpenCl::write`](crate::OpenCl::write).
    fn write(&mut self, area: Area, offset: u64, data: &[u8]) -> BackendResult<()>;

    /// Has [`interrupt`](Self::interrupt) report a line that is high now, and later ones. Earlier interrupts are
    /// forgotten. It is called each time that the user of the kernels asks for an interrupt.
    fn arm(&mut self) -> BackendResult<()> {
        Ok(())
    }

    /// Returns whether the line of the kernels' interrupt is high, or has been since the last [`arm`](Self::arm).
    fn interrupt(&mut self) -> BackendResult<bool>;

    /// Returns a file that can be read when the result of [`interrupt`](Self::interrupt) may have changed. Threads wait
    /// for it without the driver's lock. `None`: they have to ask again and again.
    fn interrupt_file(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    /// Returns whether the line may change as time passes. With `false` a waiting thread need not simulate a board
    /// where nothing happens.
    fn running(&self) -> bool {
        true
    }
}
