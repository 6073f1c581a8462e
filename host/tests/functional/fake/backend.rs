//! The fake as a backend: registers, time, memory.

use super::{Fake, FakeMemory, State};
use peerlane_core::att::Permissions;
use peerlane_core::layout::Segment;
use peerlane_core::link::Link;
use peerlane_host::driver::{
    Allocation, Backend, BackendError, BackendResult, Bar, Health, MemoryId, Pin, Pinned, Space,
};
use peerlane_host::vfio::Error;
use peerlane_host::{Area, Memory, MemoryKind, Place, Result};
use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

const PAGE: u64 = 4096;

/// log2 of the addresses that a memory has for its user.
const PLACE: u32 = 40;

/// A bit in all of them: no process has memory there (the kernel's Documentation/arch/x86/x86_64/mm.rst).
const NOWHERE: u64 = 1 << 63;

impl State {
    fn place(&self, id: MemoryId, mut offset: u64, length: u64) -> Vec<(u64, u64)> {
        let mut left = length;
        let mut places = Vec::new();
        for segment in &self.memories[&id].segments {
            let here = segment.length.saturating_sub(offset).min(left);
            if here > 0 {
                places.push((segment.address + offset, here));
                left -= here;
            }
            offset = offset.saturating_sub(segment.length);
        }
        assert_eq!(left, 0, "access behind the memory");
        places
    }
}

impl State {
    fn allocate(&mut self, kind: MemoryKind, length: u64, contiguous: bool) -> MemoryId {
        let (which, granule) = match kind {
            MemoryKind::Host => (0, self.config.host_granule),
            MemoryKind::Gpu => (1, self.config.gpu_granule),
        };
        let total = length.next_multiple_of(PAGE);
        let granule = if contiguous { total } else { granule };
        let mut segments = Vec::new();
        let mut left = total;
        while left > 0 {
            let align = granule.next_power_of_two().min(2 << 20);
            let address = self.next_address[which].next_multiple_of(align);
            let length = granule.min(left);
            segments.push(Segment { address, length });
            // A gap, so that pieces are not neighbours.
            self.next_address[which] = address + length + PAGE;
            left -= length;
        }
        let id = MemoryId(self.next_id);
        self.next_id += 1;
        let memory = FakeMemory {
            kind,
            segments,
            holds: 1,
        };
        self.memories.insert(id, memory);
        id
    }

    fn let_go(&mut self, id: MemoryId) {
        let memory = self
            .memories
            .get_mut(&id)
            .expect("freed twice or never there");
        memory.holds -= 1;
        if memory.holds == 0 {
            self.memories.remove(&id);
        }
    }

    fn read(&self, id: MemoryId, offset: u64, bytes: &mut [u8]) {
        let mut done = 0;
        for (address, n) in self.place(id, offset, bytes.len() as u64) {
            let n = n as usize;
            self.bus.read(address, &mut bytes[done..done + n]);
            done += n;
        }
    }

    fn write(&mut self, id: MemoryId, offset: u64, bytes: &[u8]) {
        let mut done = 0;
        for (address, n) in self.place(id, offset, bytes.len() as u64) {
            let n = n as usize;
            self.bus.write(address, &bytes[done..done + n]);
            done += n;
        }
    }
}

/// Returns the memory with an address.
pub(super) fn id(address: u64) -> BackendResult<MemoryId> {
    match address & NOWHERE {
        0 => Err(BackendError::Range(format!(
            "{address:#x} is not the fake's"
        ))),
        _ => Ok(MemoryId((address & !NOWHERE) >> PLACE)),
    }
}

impl State {
    fn pin(
        &mut self,
        kind: MemoryKind,
        id: MemoryId,
        offset: u64,
        length: u64,
    ) -> BackendResult<Pinned> {
        let Some(memory) = self.memories.get_mut(&id) else {
            return Err(BackendError::Range(format!("{id:?}")));
        };
        let bytes: u64 = memory.segments.iter().map(|one| one.length).sum();
        if memory.kind != kind || (offset.checked_add(length)).is_none_or(|end| end > bytes) {
            let what = format!("{length} bytes at {offset:#x} of {bytes}");
            return Err(BackendError::Range(what));
        }
        if let Some(limit) = self.tricks.lock_limit
            && (self.pins > 0 || length > limit)
        {
            let (bytes, limit) = (length, Some(limit));
            return Err(BackendError::Vfio(Error::Locked { bytes, limit }));
        }
        self.pins += 1;
        memory.holds += 1;
        Ok(Pinned {
            id,
            segments: memory.segments.clone(),
            offset,
        })
    }
}

impl Backend for Fake {
    fn name(&self) -> String {
        "the fake".into()
    }

    fn fpga_bytes(&self) -> u64 {
        self.lock().config.fpga_bytes
    }

    fn read32(&mut self, space: Space, offset: usize) -> BackendResult<u32> {
        let mut state = self.lock();
        state.seen.reads += 1;
        if state.back_at.is_some_and(|at| at <= state.now) {
            state.back_at = None;
            state.tricks.gone = false;
        }
        Ok(match (space, offset) {
            _ if state.tricks.gone => u32::MAX,
            (Space::Csr, offset) => state.csr_read(offset),
            (Space::Chan, offset) => state.chan_read(offset),
            (Space::Att, _) => 0,
        })
    }

    fn write32(&mut self, space: Space, offset: usize, value: u32) -> BackendResult<()> {
        let mut state = self.lock();
        state.seen.writes += 1;
        state.tricks.reset_after = match state.tricks.reset_after {
            Some(0) => {
                state.tricks.in_reset = Some([2000, 200].map(Duration::from_millis));
                state.tricks.gone = true;
                None
            }
            left => left.map(|left| left - 1),
        };
        match space {
            _ if state.tricks.gone => {}
            Space::Csr => state.csr_write(offset, value),
            Space::Chan => state.chan_write(offset, value),
            Space::Att if offset.is_multiple_of(8) => state.low = value,
            Space::Att => {
                let entry = u64::from(value) << 32 | u64::from(state.low);
                let owner = state.owner;
                state.att[offset / 8] = (entry, owner);
            }
        }
        Ok(())
    }

    fn write_block(&mut self, space: Space, offset: usize, values: &[u32]) -> BackendResult<()> {
        if std::mem::take(&mut self.lock().tricks.fail_write) {
            return Err(BackendError::Other("the write failed".into()));
        }
        let panics = std::mem::take(&mut self.lock().tricks.panics);
        assert!(!panics, "planted");
        for (index, value) in values.iter().enumerate() {
            self.write32(space, offset + 4 * index, *value)?;
        }
        Ok(())
    }

    fn link(&self) -> Option<Link> {
        self.lock().config.link
    }

    fn now(&self) -> Duration {
        self.lock().now
    }

    fn pause(&mut self, time: Duration) -> BackendResult<()> {
        let mut state = self.lock();
        if state.tricks.still {
            return Ok(());
        }
        let end = state.now + time;
        while state.now < end && state.step() {}
        state.now = state.now.max(end);
        Ok(())
    }

    fn allow_access(&mut self) -> BackendResult<Vec<MemoryId>> {
        let mut state = self.lock();
        state.cut_off = false;
        Ok(std::mem::take(&mut state.tricks.unmapped))
    }

    fn cut_off(&mut self) -> BackendResult<()> {
        let mut state = self.lock();
        if state.tricks.no_cut_off {
            return Err(BackendError::Other("no way".into()));
        }
        state.cut_off = true;
        Ok(())
    }

    fn is_coming_back(&mut self) -> bool {
        let mut state = self.lock();
        if let Some([function, block]) = state.tricks.in_reset.take() {
            state.reset_function();
            state.now += function;
            state.back_at = Some(state.now + block);
        }
        state.back_at.is_some()
    }

    fn health(&mut self) -> Health {
        let tricks = &mut self.lock().tricks;
        match (std::mem::take(&mut tricks.failed), tricks.watched) {
            (true, _) => Health::Failed,
            (false, true) => Health::Unknown,
            (false, false) => Health::Good,
        }
    }

    fn is_wanted_back(&mut self) -> bool {
        self.lock().tricks.wanted_back
    }

    fn wait_interrupt(&mut self, limit: Duration) -> BackendResult<bool> {
        let mut state = self.lock();
        if state.tricks.frozen {
            let line = state.line();
            drop(state);
            std::thread::sleep(Duration::from_millis(u64::from(!line)));
            return Ok(line);
        }
        let end = state.now + limit;
        while !state.line() {
            if !state.step() {
                state.now = end;
            }
            if state.now >= end {
                break;
            }
        }
        Ok(state.line())
    }

    fn memory(&mut self, kind: MemoryKind, length: usize) -> BackendResult<Memory> {
        let id = self.lock().allocate(kind, length as u64, false);
        Ok(Memory::over(UserMemory {
            fake: self.clone(),
            id,
            kind,
            length,
        }))
    }

    fn pin(
        &mut self,
        kind: MemoryKind,
        address: u64,
        length: u64,
        _: Permissions,
    ) -> BackendResult<Pinned> {
        let id = id(address)?;
        self.lock()
            .pin(kind, id, address & ((1 << PLACE) - 1), length)
    }

    fn begin_pin(
        &mut self,
        kind: MemoryKind,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> BackendResult<Pin> {
        let pinned = self.pin(kind, address, length, permissions)?;
        let mut state = self.lock();
        let Some(messages) = state.tricks.slow_pin.take() else {
            return Ok(Pin::Done(pinned));
        };
        let id = pinned.id;
        state.begun.insert(id, pinned);
        let work = move || {
            let came = messages.recv();
            came.map_err(|error| BackendError::Other(error.to_string()))
        };
        Ok(Pin::Begun(id, Box::new(work)))
    }

    fn end_pin(&mut self, id: MemoryId, worked: BackendResult<()>) -> BackendResult<Pinned> {
        let mut state = self.lock();
        let pinned = state.begun.remove(&id).expect("it is being pinned");
        if worked.is_err() {
            state.pins -= 1;
            state.let_go(id);
        }
        worked.map(|()| pinned)
    }

    fn has_dmabufs(&self) -> bool {
        true
    }

    fn pin_dmabuf(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        length: u64,
    ) -> BackendResult<Pinned> {
        let file = File::from(file.try_clone_to_owned().unwrap());
        let inode = file.metadata().unwrap().ino();
        let mut state = self.lock();
        match state.dmabufs.get(&inode).copied() {
            Some((id, first)) => {
                let offset = offset.saturating_add(first);
                state.pin(MemoryKind::Gpu, id, offset, length)
            }
            None => Err(BackendError::Range("no dma-buf".into())),
        }
    }

    fn takes_bus_addresses(&self) -> bool {
        true
    }

    fn pin_bus(&mut self, address: u64, length: u64) -> BackendResult<Pinned> {
        self.pin(MemoryKind::Gpu, address, length, Permissions::ReadWrite)
    }

    fn unpin(&mut self, id: MemoryId) {
        let mut state = self.lock();
        state.pins -= 1;
        state.let_go(id);
    }

    fn allocate(&mut self, length: u64) -> BackendResult<Allocation> {
        let mut state = self.lock();
        let id = state.allocate(MemoryKind::Host, length, true);
        let address = state.memories[&id].segments[0].address;
        Ok(Allocation { id, address })
    }

    fn free(&mut self, id: MemoryId) {
        self.lock().let_go(id);
    }

    fn flush(&mut self, _id: MemoryId) -> BackendResult<()> {
        let mut state = self.lock();
        state.seen.flushes += 1;
        match state.tricks.no_flush {
            true => Err(BackendError::Range("the memory".into())),
            false => Ok(()),
        }
    }

    fn read_memory(&mut self, id: MemoryId, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        self.lock().read(id, offset, bytes);
        Ok(())
    }

    fn write_memory(&mut self, id: MemoryId, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        self.lock().write(id, offset, bytes);
        Ok(())
    }

    fn opencl(&mut self) -> Option<&mut dyn Bar> {
        let has = self.lock().opencl.is_some();
        has.then_some(self)
    }
}

impl Fake {
    fn bar<T>(&self, f: impl FnOnce(&mut dyn Bar) -> T) -> T {
        f(&mut **self.lock().opencl.as_mut().expect("it has an OpenCL side"))
    }
}

impl Bar for Fake {
    fn bytes(&self, area: Area) -> u64 {
        self.bar(|bar| bar.bytes(area))
    }

    fn read(&mut self, area: Area, offset: u64, data: &mut [u8]) -> BackendResult<()> {
        self.bar(|bar| bar.read(area, offset, data))
    }

    fn write(&mut self, area: Area, offset: u64, data: &[u8]) -> BackendResult<()> {
        self.bar(|bar| bar.write(area, offset, data))
    }

    fn arm(&mut self) -> BackendResult<()> {
        self.bar(|bar| bar.arm())
    }

    fn interrupt(&mut self) -> BackendResult<bool> {
        self.bar(|bar| bar.interrupt())
    }

    fn interrupt_file(&self) -> Option<Arc<OwnedFd>> {
        self.bar(|bar| bar.interrupt_file())
    }

    fn running(&self) -> bool {
        self.bar(|bar| bar.running())
    }
}

/// Memory as its user holds it.
#[derive(Debug)]
struct UserMemory {
    fake: Fake,
    id: MemoryId,
    kind: MemoryKind,
    length: usize,
}

// SAFETY: no process has memory at such an address.
unsafe impl Place for UserMemory {
    fn kind(&self) -> MemoryKind {
        self.kind
    }

    fn address(&self) -> u64 {
        self.id.0 << PLACE | NOWHERE
    }

    fn length(&self) -> usize {
        self.length
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.fake.lock().read(self.id, offset as u64, bytes);
        Ok(())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.fake.lock().write(self.id, offset as u64, bytes);
        Ok(())
    }
}

impl Drop for UserMemory {
    fn drop(&mut self) {
        self.fake.lock().let_go(self.id);
    }
}
