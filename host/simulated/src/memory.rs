//! Memory of the host and of the GPU: its owner, its place, and the parts that the board may reach.

use crate::process::{FileMapping, HOST_PAGE};
use crate::{Sim, SimBoard, failed, process};
use peerlane_core::layout::Segment;
use peerlane_host::driver::{BackendError, BackendResult, MemoryId, Pinned};
use peerlane_host::{MemoryKind, Place, Result};
use peerlane_sim::{Access, GPU_PAGE, RangeId};
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// Bytes of a large page, as a host with an IOMMU or huge pages would have: allocations of that size and more are
/// aligned to it.
const LARGE_PAGE: u64 = 2 << 20;

/// Memory that was allocated.
pub(crate) struct SimMemory {
    pub(crate) kind: MemoryKind,
    /// Its name: its first place, which host memory always keeps. Without [`NOWHERE`](crate::NOWHERE).
    pub(crate) address: u64,
    /// Its present place. Host: bus address. GPU: address in GPU memory.
    pub(crate) place: (MemoryKind, u64),
    /// Bytes taken, whole pages.
    pub(crate) length: u64,
    /// Ranges that the bus allows, for host memory.
    pub(crate) allowed: Vec<RangeId>,
    /// Its user, or the driver, still has it.
    pub(crate) held: bool,
    /// Number of its pins.
    pub(crate) pins: u32,
    /// Set if it is not memory of the models.
    pub(crate) outside: Option<Outside>,
}

/// Memory that is not memory of the models.
#[derive(Debug)]
pub(crate) enum Outside {
    /// Memory of the process, at these addresses.
    Process(Range<u64>),
    /// Memory of a file, mapped at these addresses for as long as this exists.
    File(
        Range<u64>,
        #[expect(dead_code, reason = "it is kept")] FileMapping,
    ),
    /// Memory of a peer, which stays on the bus.
    Peer,
}

/// Memory as its user holds it.
#[derive(Debug)]
pub(crate) struct UserMemory {
    pub(crate) board: SimBoard,
    pub(crate) id: MemoryId,
    pub(crate) kind: MemoryKind,
    pub(crate) address: u64,
    pub(crate) length: usize,
}

impl Sim {
    /// Returns the place of a range of a memory, in host or GPU memory.
    pub(crate) fn place(
        &self,
        id: MemoryId,
        offset: u64,
        length: usize,
    ) -> BackendResult<(MemoryKind, u64)> {
        let Some(memory) = self.memories.get(&id) else {
            return Err(BackendError::Range(format!("{id:?} is not allocated")));
        };
        let end = offset.checked_add(length as u64);
        if end.is_none_or(|end| end > memory.length) {
            return Err(BackendError::Range(format!(
                "{length} bytes at {offset} of memory of {} bytes",
                memory.length
            )));
        }
        let (kind, address) = memory.place;
        Ok((kind, address + offset))
    }

    /// Takes whole pages of the host's or the GPU's memory.
    pub(crate) fn take(&mut self, kind: MemoryKind, length: u64) -> Option<(u64, u64)> {
        let (arena, page) = match kind {
            MemoryKind::Host => (&mut self.host, HOST_PAGE),
            MemoryKind::Gpu => (&mut self.gpu, GPU_PAGE),
        };
        let length = length.checked_next_multiple_of(page)?;
        let align = match kind {
            MemoryKind::Host if length >= LARGE_PAGE => LARGE_PAGE,
            _ => page,
        };
        Some((arena.take(length, align)?, length))
    }

    /// Allocates memory. The board reaches the host's at once, and the GPU's where it is pinned.
    pub(crate) fn allocate(&mut self, kind: MemoryKind, length: u64) -> BackendResult<MemoryId> {
        let taken = self.take(kind, length);
        let (address, length) = taken.ok_or(BackendError::OutOfMemory {
            kind,
            wanted: length,
        })?;
        let mut memory = SimMemory {
            kind,
            address,
            place: (kind, address),
            length,
            allowed: Vec::new(),
            held: true,
            pins: 0,
            outside: None,
        };
        if kind == MemoryKind::Host {
            memory.allowed.push(self.allow(address, length));
        }
        let id = self.new_id();
        self.memories.insert(id, memory);
        Ok(id)
    }

    pub(crate) fn new_id(&mut self) -> MemoryId {
        self.next_id += 1;
        MemoryId(self.next_id - 1)
    }

    pub(crate) fn allow(&mut self, address: u64, length: u64) -> RangeId {
        let range = address..address + length;
        self.board.bus_mut().allow(range, Access::Both)
    }

    /// Pins memory of the process for the board; `None`: no such memory is admitted.
    pub(crate) fn admit(&mut self, range: Range<u64>) -> BackendResult<Option<Pinned>> {
        if self.process.is_none() {
            return Ok(None);
        }
        // A kernel checks when it pins. The board's first access would end the process.
        let there = process::is_mapped(&process::pages(&range));
        let whole = if there { self.let_in(&range) } else { None };
        let whole = whole.ok_or(BackendError::NoProcessMemory {
            address: range.start,
        })?;
        Ok(Some(self.pin_outside(
            process::AT + whole.start,
            whole.end - whole.start,
            range.start - whole.start,
            (MemoryKind::Host, Outside::Process(range)),
        )))
    }

    /// Puts the process's memory on the bus. Returns its pages.
    fn let_in(&mut self, range: &Range<u64>) -> Option<Range<u64>> {
        let process = self.process.as_ref()?;
        // A kernel would refuse addresses that no process has.
        let whole = process::pages(range);
        if range.is_empty() || range.start == 0 || whole.end >= process::AT {
            return None;
        }
        // SAFETY: the caller that admitted process memory promises it.
        unsafe { process.admit(range.clone()) };
        Some(whole)
    }

    /// Pins a part of a file that represents a dma-buf.
    pub(crate) fn admit_file(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        length: u64,
    ) -> BackendResult<Pinned> {
        let mapping = FileMapping::new(file)?;
        let end = offset.checked_add(length);
        if length == 0 || end.is_none_or(|end| end > mapping.length()) {
            return Err(BackendError::Range(format!(
                "{length} bytes at {offset} of a dma-buf of {} bytes",
                mapping.length()
            )));
        }
        let start = mapping.address() + offset;
        let range = start..start + length;
        let whole = self.let_in(&range);
        let whole = whole.ok_or_else(|| BackendError::Other("files are not admitted".into()))?;
        Ok(self.pin_outside(
            process::AT + whole.start,
            whole.end - whole.start,
            range.start - whole.start,
            (MemoryKind::Gpu, Outside::File(range, mapping)),
        ))
    }

    /// Pins a part of a peer's memory on the bus.
    pub(crate) fn admit_bus(&mut self, address: u64, length: u64) -> BackendResult<Pinned> {
        let range = address..address.saturating_add(length);
        let process = self.process.as_ref();
        if range.is_empty() || process.is_none_or(|process| !process.shows(&range)) {
            return Err(BackendError::Range(format!(
                "{length} bytes at bus address {address:#x} are not a peer's"
            )));
        }
        let whole = process::pages(&range);
        let (length, offset) = (whole.end - whole.start, address - whole.start);
        Ok(self.pin_outside(
            whole.start,
            length,
            offset,
            (MemoryKind::Gpu, Outside::Peer),
        ))
    }

    /// Pins whole pages on the bus. The board reads all of them, and writes the range that was asked for. They have no
    /// holder: they go when they are unpinned.
    fn pin_outside(
        &mut self,
        address: u64,
        length: u64,
        offset: u64,
        (kind, outside): (MemoryKind, Outside),
    ) -> Pinned {
        let written = match &outside {
            Outside::Process(range) | Outside::File(range, _) => {
                process::AT + range.start..process::AT + range.end
            }
            Outside::Peer => address..address + length,
        };
        let bus = self.board.bus_mut();
        let allowed = vec![
            bus.allow(address..address + length, Access::Read),
            bus.allow(written, Access::Write),
        ];
        let memory = SimMemory {
            kind,
            address,
            place: (kind, address),
            length,
            allowed,
            held: false,
            pins: 1,
            outside: Some(outside),
        };
        let id = self.new_id();
        self.memories.insert(id, memory);
        Pinned {
            id: self.pinned(id),
            segments: vec![Segment { address, length }],
            offset,
        }
    }

    pub(crate) fn copy_to(&self, id: MemoryId, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        match self.place(id, offset, bytes.len())? {
            (MemoryKind::Host, address) => self.board.host().read(address, bytes),
            (MemoryKind::Gpu, address) => self.board.gpu().read(address, bytes),
        }
        .map_err(failed)
    }

    pub(crate) fn copy_from(
        &mut self,
        id: MemoryId,
        offset: u64,
        bytes: &[u8],
    ) -> BackendResult<()> {
        match self.place(id, offset, bytes.len())? {
            (MemoryKind::Host, address) => self.board.host_mut().write(address, bytes),
            (MemoryKind::Gpu, address) => self.board.gpu_mut().write(address, bytes),
        }
        .map_err(failed)
    }

    /// Notes that the user of memory has dropped it.
    pub(crate) fn drop_hold(&mut self, id: MemoryId) {
        if let Some(memory) = self.memories.get_mut(&id) {
            memory.held = false;
        }
        self.collect(id);
    }

    /// Frees memory that has no holder and is not pinned.
    pub(crate) fn collect(&mut self, id: MemoryId) {
        let unused = |memory: &SimMemory| !memory.held && memory.pins == 0;
        if self.memories.get(&id).is_some_and(unused)
            && let Some(memory) = self.memories.remove(&id)
        {
            self.release(memory);
        }
    }

    pub(crate) fn release(&mut self, memory: SimMemory) {
        for range in memory.allowed {
            self.board.bus_mut().revoke(range);
        }
        if let Some(outside) = &memory.outside {
            if let (Some(process), Outside::Process(range) | Outside::File(range, _)) =
                (&self.process, outside)
            {
                process.take_back(range);
            }
            return;
        }
        self.give(memory.place, memory.length);
        // Its first place was reserved when it moved.
        if memory.place.0 != memory.kind {
            self.give((memory.kind, memory.address), memory.length);
        }
    }

    /// Frees pages; the next owner gets zeros.
    pub(crate) fn give(&mut self, (kind, address): (MemoryKind, u64), length: u64) {
        let arena = match kind {
            MemoryKind::Host => {
                let bytes = self.board.host_mut().slice_mut(address, length as usize);
                bytes.into_iter().for_each(|bytes| bytes.fill(0));
                &mut self.host
            }
            MemoryKind::Gpu => {
                // A real GPU that fails has lost its memory anyway.
                let _ = self.board.gpu_mut().clear(address, length);
                &mut self.gpu
            }
        };
        arena.give(address, length);
    }
}

// SAFETY: no process has memory at such an address.
unsafe impl Place for UserMemory {
    fn kind(&self) -> MemoryKind {
        self.kind
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        self.length
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        Ok(self.board.lock().copy_to(self.id, offset as u64, bytes)?)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let mut sim = self.board.lock();
        Ok(sim.copy_from(self.id, offset as u64, bytes)?)
    }
}

impl Drop for UserMemory {
    fn drop(&mut self) {
        self.board.lock().drop_hold(self.id);
    }
}
