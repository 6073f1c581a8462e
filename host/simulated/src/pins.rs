//! Memory that is pinned for the board, on a platform that may have faults.

use crate::{NOWHERE, Sim, SimBoard, failed};
use peerlane_core::layout::Segment;
use peerlane_host::driver::{BackendError, BackendResult, MemoryId, Pinned};
use peerlane_host::{Memory, MemoryKind};
use peerlane_sim::{Answer, FaultRule, GPU_PAGE, Hits, RangeId, WriteFault};

/// Behaviour of the computer around board and GPU for accesses between them. All variants but the first are faults.
/// Faults of writes, which are posted, are not reported. A refused read is reported to a board whose reads have tags; a
/// board without tags never gets an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Platform {
    /// Writes and reads pass.
    #[default]
    Good,
    /// Root ports that pass writes between peers and answer reads as an unsupported request, as those of
    /// Intel's client processors (NVIDIA's open-gpu-kernel-modules, issue 1253).
    WritesOnly,
    /// As `WritesOnly`, but reads are not answered at all.
    Silent,
    /// A pair of peers that was put on the kernel's list of those that reach each other, but do not: all accesses
    /// succeed, with wrong bytes (Intel's compute-runtime, issue 935).
    Forced,
    /// An IOMMU that translates, and an exporter that gave the GPU's raw bus addresses: writes are dropped and
    /// reads refused (NVIDIA's open-gpu-kernel-modules, issue 1324).
    Translating,
    /// An exporter that moves memory into the host's when it is pinned (GTT in place of VRAM: amdgpu before 6.14.14).
    /// All data arrive, through the host.
    Gtt,
    /// An importer that loses the offset of memory in the exporter's page: all pages of a region are the first.
    OnePage,
}

/// Memory that is pinned.
pub(crate) struct Pin {
    memory: MemoryId,
    /// Pages of the GPU's BAR.
    pages: Vec<u64>,
    allowed: Vec<RangeId>,
}

impl Sim {
    /// Pins a part of a memory: all of the host's, and those pages of the GPU's BAR that it needs.
    pub(crate) fn pin(&mut self, id: MemoryId, offset: u64, length: u64) -> BackendResult<Pinned> {
        if self.platform == Platform::Gtt {
            self.move_to_host(id)?;
        }
        let (kind, start) = self.place(id, offset, length as usize)?;
        let mut pin = Pin {
            memory: id,
            pages: Vec::new(),
            allowed: Vec::new(),
        };
        let (segments, offset) = match kind {
            MemoryKind::Host => {
                let memory = &self.memories[&id];
                let (address, length) = (memory.place.1, memory.length);
                (vec![Segment { address, length }], offset)
            }
            MemoryKind::Gpu => {
                let wanted = length;
                let full = |_| BackendError::OutOfMemory { kind, wanted };
                pin.pages = self.board.gpu_mut().pin(start, length).map_err(full)?;
                for page in &pin.pages {
                    let page = page.to_owned();
                    pin.allowed.push(self.allow(page, GPU_PAGE));
                }
                let mut pages = pin.pages.clone();
                if self.platform == Platform::OnePage {
                    let first = pages[0];
                    pages.fill(first);
                }
                let segment = |address| Segment {
                    address,
                    length: GPU_PAGE,
                };
                (pages.into_iter().map(segment).collect(), start % GPU_PAGE)
            }
        };
        if let Some(memory) = self.memories.get_mut(&id) {
            memory.pins += 1;
        }
        let id = self.new_id();
        self.pins.insert(id, pin);
        Ok(Pinned {
            id,
            segments,
            offset,
        })
    }

    /// Pins a memory that the board reaches anyway.
    pub(crate) fn pinned(&mut self, memory: MemoryId) -> MemoryId {
        let pin = Pin {
            memory,
            pages: Vec::new(),
            allowed: Vec::new(),
        };
        let id = self.new_id();
        self.pins.insert(id, pin);
        id
    }

    pub(crate) fn unpin(&mut self, id: MemoryId) {
        let Some(pin) = self.pins.remove(&id) else {
            return;
        };
        self.board.gpu_mut().unpin(&pin.pages);
        for range in pin.allowed {
            self.board.bus_mut().revoke(range);
        }
        if let Some(memory) = self.memories.get_mut(&pin.memory) {
            memory.pins -= 1;
        }
        self.collect(pin.memory);
    }

    /// Returns the place of pinned memory.
    pub(crate) fn kind_of_pin(&self, id: MemoryId) -> Option<MemoryKind> {
        let memory = self.pins.get(&id)?.memory;
        Some(self.memories.get(&memory)?.place.0)
    }

    /// Moves memory of the GPU as [`Platform::Gtt`] does.
    fn move_to_host(&mut self, id: MemoryId) -> BackendResult<()> {
        let memory = self.memories.get(&id);
        let Some((MemoryKind::Gpu, from)) = memory.map(|memory| memory.place) else {
            return Ok(());
        };
        let wanted = self.memories[&id].length;
        let kind = MemoryKind::Host;
        let (to, length) =
            (self.take(kind, wanted)).ok_or(BackendError::OutOfMemory { kind, wanted })?;
        let mut bytes = vec![0; wanted as usize];
        self.board.gpu().read(from, &mut bytes).map_err(failed)?;
        self.board.host_mut().write(to, &bytes).map_err(failed)?;
        let allowed = self.allow(to, length);
        if let Some(memory) = self.memories.get_mut(&id) {
            memory.place = (kind, to);
            memory.allowed.push(allowed);
        }
        Ok(())
    }
}

impl SimBoard {
    /// Puts board and GPU into another computer. Memory that is pinned stays as it is.
    pub fn set_platform(&self, platform: Platform) {
        let mut sim = self.lock();
        sim.platform = platform;
        let (base, size) = (sim.board.gpu().bar_base(), sim.board.gpu().bar_size());
        let bar = base..base + size;
        let bus = sim.board.bus_mut();
        bus.clear_faults();
        let answer = match platform {
            Platform::Good | Platform::Gtt | Platform::OnePage => None,
            Platform::WritesOnly | Platform::Translating => Some(Answer::Unsupported),
            Platform::Silent => Some(Answer::Never),
            Platform::Forced => Some(Answer::Garbage),
        };
        if let Some(answer) = answer {
            let hits = Hits::Addresses(bar.clone());
            bus.inject(FaultRule { hits, answer });
        }
        match platform {
            Platform::Translating => bus.inject_write(bar, WriteFault::Lost),
            Platform::Forced => bus.inject_write(bar, WriteFault::Garbled),
            _ => {}
        }
    }

    /// Returns the place of memory of this board, which [`Platform::Gtt`] moves. `None`: it is not this board's.
    pub fn lies(&self, memory: &Memory) -> Option<MemoryKind> {
        let address = memory.address() & !NOWHERE;
        let sim = self.lock();
        let known = |known: &&crate::SimMemory| {
            memory.address() & NOWHERE != 0
                && (known.kind, known.address) == (memory.kind(), address)
        };
        let found = sim.memories.values().find(known);
        found.map(|memory| memory.place.0)
    }
}
