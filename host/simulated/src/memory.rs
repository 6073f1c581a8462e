//! Memory of the host and of the GPU: who has it, where it lies, and what the board may reach.

use crate::{Sim, SimBoard, failed, process};
use peerlane_core::layout::Segment;
use peerlane_host::driver::{BackendError, BackendResult, MemoryId, Pinned};
use peerlane_host::{MemoryKind, Place, Result};
use peerlane_sim::{Access, GPU_PAGE, RangeId};
use std::ops::Range;

pub(crate) const HOST_PAGE: u64 = 4096;

/// Large pages, as a host with an IOMMU or huge pages would give: allocations of that
/// size and more are aligned to it.
const LARGE_PAGE: u64 = 2 << 20;

/// Memory that was handed out.
pub(crate) struct SimMemory {
    pub(crate) kind: MemoryKind,
    /// What it is known by: at first, and of host memory always, where it lies. Without [`NOWHERE`](crate::NOWHERE).
    pub(crate) address: u64,
    /// Where it lies now. Host: bus address. GPU: address in GPU memory.
    pub(crate) place: (MemoryKind, u64),
    /// Bytes taken, whole pages.
    pub(crate) length: u64,
    /// Of host memory.
    pub(crate) allowed: Vec<RangeId>,
    /// Its user, or the driver, still has it.
    pub(crate) held: bool,
    /// Times that it was pinned.
    pub(crate) pins: u32,
    /// The process's own: its addresses there.
    pub(crate) of_process: Option<Range<u64>>,
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
    /// Where a range of a memory lies, in host or GPU memory.
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

    /// New memory. The board reaches the host's at once, and the GPU's where it is pinned.
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
            of_process: None,
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

    /// Memory of the process, for the board. It is not held: it goes when it is pinned no more.
    pub(crate) fn admit(&mut self, range: Range<u64>) -> Option<Pinned> {
        let process = self.process.as_ref()?;
        // What a kernel would say of addresses that no process has.
        let whole = process::pages(&range);
        if range.is_empty() || range.start == 0 || whole.end >= process::AT {
            return None;
        }
        // SAFETY: whoever had process memory admitted promises it.
        unsafe { process.admit(range.clone()) };
        let on_bus = |range: &Range<u64>| process::AT + range.start..process::AT + range.end;
        let bus = self.board.bus_mut();
        let allowed = vec![
            bus.allow(on_bus(&whole), Access::Read),
            bus.allow(on_bus(&range), Access::Write),
        ];
        let (address, length) = (process::AT + whole.start, whole.end - whole.start);
        let offset = range.start - whole.start;
        let memory = SimMemory {
            kind: MemoryKind::Host,
            address,
            place: (MemoryKind::Host, address),
            length,
            allowed,
            held: false,
            pins: 1,
            of_process: Some(range),
        };
        let id = self.new_id();
        self.memories.insert(id, memory);
        Some(Pinned {
            id: self.pinned(id),
            segments: vec![Segment { address, length }],
            offset,
        })
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

    /// Whoever asked for memory has dropped it.
    pub(crate) fn drop_hold(&mut self, id: MemoryId) {
        if let Some(memory) = self.memories.get_mut(&id) {
            memory.held = false;
        }
        self.collect(id);
    }

    /// Gives memory back that nobody holds and that is not pinned.
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
        if let (Some(process), Some(range)) = (&self.process, &memory.of_process) {
            process.take_back(range);
            return;
        }
        self.give(memory.place, memory.length);
        // What it is known by was kept for it when it moved.
        if memory.place.0 != memory.kind {
            self.give((memory.kind, memory.address), memory.length);
        }
    }

    /// Gives pages back; the next owner gets zeros.
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
