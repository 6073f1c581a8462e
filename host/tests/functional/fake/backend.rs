//! The fake as a backend: registers, time, memory.

use super::{Fake, State};
use peerlane_host::{
    Allocation, Backend, BackendError, FpgaMemory, Link, MemoryId, MemoryKind, Segment, Space,
};
use std::time::Duration;

const PAGE: u64 = 4096;

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

impl Backend for Fake {
    fn read32(&mut self, space: Space, offset: usize) -> Result<u32, BackendError> {
        let mut state = self.lock();
        state.seen.reads += 1;
        Ok(match (space, offset) {
            _ if state.tricks.gone => u32::MAX,
            (Space::Csr, offset) => state.csr_read(offset),
            (Space::Chan, offset) => state.chan_read(offset),
            (Space::Att, _) => 0,
        })
    }

    fn write32(&mut self, space: Space, offset: usize, value: u32) -> Result<(), BackendError> {
        let mut state = self.lock();
        state.seen.writes += 1;
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

    fn link(&self) -> Option<Link> {
        self.lock().config.link
    }

    fn now(&self) -> Duration {
        self.lock().now
    }

    fn pause(&mut self, time: Duration) -> Result<(), BackendError> {
        let mut state = self.lock();
        let end = state.now + time;
        while state.now < end && state.step() {}
        state.now = state.now.max(end);
        Ok(())
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<bool, BackendError> {
        let mut state = self.lock();
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

    fn allocate(
        &mut self,
        kind: MemoryKind,
        length: u64,
        contiguous: bool,
    ) -> Result<Allocation, BackendError> {
        let mut state = self.lock();
        let (which, granule) = match kind {
            MemoryKind::Host => (0, state.config.host_granule),
            MemoryKind::Gpu => (1, state.config.gpu_granule),
        };
        let total = length.next_multiple_of(PAGE);
        let granule = if contiguous { total } else { granule };
        let mut segments = Vec::new();
        let mut left = total;
        while left > 0 {
            let align = granule.next_power_of_two().min(2 << 20);
            let address = state.next_address[which].next_multiple_of(align);
            let length = granule.min(left);
            segments.push(Segment { address, length });
            // A gap, so that pieces are not neighbours.
            state.next_address[which] = address + length + PAGE;
            left -= length;
        }
        let id = MemoryId(state.next_id);
        state.next_id += 1;
        let allocation = Allocation { id, segments };
        state.memories.insert(id, allocation.clone());
        Ok(allocation)
    }

    fn free(&mut self, id: MemoryId) {
        assert!(
            self.lock().memories.remove(&id).is_some(),
            "freed twice or never there"
        );
    }

    fn flush(&mut self, _id: MemoryId) -> Result<(), BackendError> {
        self.lock().seen.flushes += 1;
        Ok(())
    }

    fn read_memory(
        &mut self,
        id: MemoryId,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), BackendError> {
        let state = self.lock();
        let mut done = 0;
        for (address, n) in state.place(id, offset, bytes.len() as u64) {
            let n = n as usize;
            state.bus.read(address, &mut bytes[done..done + n]);
            done += n;
        }
        Ok(())
    }

    fn write_memory(
        &mut self,
        id: MemoryId,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        let mut state = self.lock();
        let mut done = 0;
        for (address, n) in state.place(id, offset, bytes.len() as u64) {
            let n = n as usize;
            state.bus.write(address, &bytes[done..done + n]);
            done += n;
        }
        Ok(())
    }

    fn fpga_memory_backdoor(&mut self) -> Option<&mut dyn FpgaMemory> {
        Some(self)
    }
}

impl FpgaMemory for Fake {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BackendError> {
        self.lock().fpga.read(address, bytes);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BackendError> {
        self.lock().fpga.write(address, bytes);
        Ok(())
    }
}
