//! A functional fake of the block's registers, in plain Rust, for the library's own
//! tests. It is no model of the RTL: it knows what each register does and nothing of
//! cycles or the bus. It takes raw bits apart by itself, by the register map's text,
//! so that an encoding error of the library shows.

use crate::store::Store;
use peerlane_core::regs::MAP_ID;
use peerlane_host::{
    Allocation, Backend, BackendError, FpgaMemory, MemoryId, MemoryKind, Segment, Space,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

const PAGE: u64 = 4096;

/// What to do wrong.
#[derive(Default)]
pub struct Tricks {
    /// Reads give ones, writes go nowhere.
    pub gone: bool,
    /// Descriptors are not worked on.
    pub stuck: bool,
    /// The n-th descriptor from now on (0 is the next) of a direction ends with a
    /// status code after so many bytes.
    pub fault: Option<(usize, usize, u32, u32)>,
    /// The next record is not written: the one after it, with its own number, takes
    /// its slot.
    pub lose_record: bool,
    /// The next record is written a second time behind itself.
    pub repeat_record: bool,
    /// Doorbells are refused from this fill on.
    pub refuse_at: Option<usize>,
}

/// What was seen.
#[derive(Default)]
pub struct Seen {
    pub reads: usize,
    pub writes: usize,
    pub descriptors: Vec<[u32; 7]>,
    pub interrupts: usize,
    pub resets: usize,
    pub flushes: usize,
}

pub struct Config {
    pub map_id: u32,
    pub txs_addr_bits: u32,
    pub queue_log2: u32,
    pub att_log2: u32,
    /// Memory comes in separate pieces of this size.
    pub host_granule: u64,
    pub gpu_granule: u64,
    /// Where the memory of the host begins, on the bus.
    pub host_base: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            map_id: MAP_ID,
            txs_addr_bits: 64,
            queue_log2: 10,
            att_log2: 12,
            host_granule: 4 << 10,
            gpu_granule: 64 << 10,
            host_base: 0x1_0000_0000,
        }
    }
}

pub const BUILD_ID: u32 = 0xb01d_0001;

pub struct State {
    config: Config,
    pub tricks: Tricks,
    pub seen: Seen,
    pub bus: Store,
    pub fpga: Store,
    memories: BTreeMap<MemoryId, Allocation>,
    next_id: u64,
    next_address: [u64; 2],
    now: Duration,
    control: u32,
    irq_status: u32,
    read_timeout: u32,
    owner: u32,
    low: u32,
    /// Entry and owners.
    pub att: Vec<(u64, u32)>,
    desc: [[u32; 7]; 2],
    queues: [VecDeque<[u32; 7]>; 2],
    turn: usize,
    ring: [u32; 2],
    /// Records so far, and slots that they took.
    sequence: u32,
    position: u32,
}

/// The backend; clones are handles of the same fake.
#[derive(Clone)]
pub struct Fake(Arc<Mutex<State>>);

impl Fake {
    pub fn new(config: Config) -> Self {
        let entries = 1 << config.att_log2;
        let next_address = [config.host_base, 0x38_0000_0000];
        Self(Arc::new(Mutex::new(State {
            config,
            tricks: Tricks::default(),
            seen: Seen::default(),
            bus: Store::default(),
            fpga: Store::default(),
            memories: BTreeMap::new(),
            next_id: 1,
            next_address,
            now: Duration::ZERO,
            control: 0,
            irq_status: 0,
            read_timeout: 12_500_000,
            owner: 1,
            low: 0,
            att: vec![(0, 0); entries],
            desc: [[0; 7]; 2],
            queues: Default::default(),
            turn: 0,
            ring: [0; 2],
            sequence: 0,
            position: 0,
        })))
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl State {
    pub fn valid_entries(&self) -> usize {
        self.att.iter().filter(|(raw, _)| raw & 1 == 1).count()
    }

    pub fn memories(&self) -> usize {
        self.memories.len()
    }

    pub fn control(&self) -> u32 {
        self.control
    }

    pub fn read_timeout(&self) -> u32 {
        self.read_timeout
    }

    fn line(&self) -> bool {
        self.control & 2 != 0 && self.irq_status != 0
    }

    fn raise(&mut self, bit: u32) {
        let before = self.line();
        self.irq_status |= bit;
        self.seen.interrupts += usize::from(self.line() && !before);
    }

    fn free(&self, side: usize) -> u32 {
        (1 << self.config.queue_log2) - self.queues[side].len() as u32
    }

    fn csr_read(&self, offset: usize) -> u32 {
        let busy = |side: usize| u32::from(!self.queues[side].is_empty());
        match offset {
            0x000 => self.config.map_id,
            0x004 => BUILD_ID,
            0x008 => 1 | 1 << 8 | 16 << 16 | self.config.txs_addr_bits << 24,
            0x00c => self.config.queue_log2 | self.config.att_log2 << 8 | 9 << 16 | 40 << 24,
            0x010 => self.control,
            0x014 => busy(0) | busy(1) << 1,
            0x018 => self.irq_status,
            0x020 => self.read_timeout,
            0x024 => self.owner,
            _ => 0,
        }
    }

    fn csr_write(&mut self, offset: usize, value: u32) {
        match offset {
            0x010 => {
                self.control = value & 3;
                if value & 1 << 8 != 0 {
                    self.seen.resets += 1;
                    self.queues = Default::default();
                }
            }
            0x018 => self.irq_status &= !value,
            0x020 => self.read_timeout = value,
            0x024 => self.owner = value & 0xff,
            0x200 => {
                self.ring[0] = value;
                self.sequence = 0;
                self.position = 0;
            }
            0x204 => self.ring[1] = value,
            _ => {}
        }
    }

    fn chan_write(&mut self, offset: usize, value: u32) {
        let side = offset >> 7;
        match offset & 0x7f {
            at @ 0..0x1c if side < 2 => self.desc[side][at / 4] = value,
            0x40 if side < 2 => {
                let limit = self.tricks.refuse_at.unwrap_or(1 << self.config.queue_log2);
                if self.queues[side].len() >= limit || self.ring[0] & 1 == 0 {
                    self.raise(4);
                } else {
                    self.seen.descriptors.push(self.desc[side]);
                    self.queues[side].push_back(self.desc[side]);
                }
            }
            _ => {}
        }
    }

    /// The bus address of an ATT address, and how far its page goes; or a status code.
    fn translate(&self, side: usize, peer: u64) -> Result<(u64, u64), u32> {
        let page_size = peer >> 62;
        let shift = [12, 16, 21][page_size as usize];
        let linear = peer & ((1 << 62) - 1);
        let index = (linear >> shift) as usize;
        let (raw, owners) = *self.att.get(index).ok_or(2u32)?;
        if raw & 1 == 0 {
            return Err(3);
        }
        if owners & 1 == 0 {
            return Err(4);
        }
        // A write needs bit 2, a read bit 1.
        if raw & [4, 2][side] == 0 {
            return Err(5);
        }
        if raw >> 3 & 3 != page_size {
            return Err(6);
        }
        let offset = linear & ((1 << shift) - 1);
        Ok(((raw & !0xfff) + offset, (1 << shift) - offset))
    }

    fn allocated(&self, address: u64) -> bool {
        let inside = |s: &Segment| (s.address..s.address + s.length).contains(&address);
        self.memories.values().flat_map(|m| &m.segments).any(inside)
    }

    /// Moves the bytes of a descriptor; gives bytes done, code and fault address.
    fn execute(&mut self, side: usize, d: [u32; 7]) -> (u32, u32, u64) {
        let peer = u64::from(d[1]) << 32 | u64::from(d[0]);
        let local = u64::from(d[3]) << 32 | u64::from(d[2]);
        let (mut length, mut code) = (d[4], 0);
        if let Some((which, after, fault, bytes)) = &mut self.tricks.fault
            && *which == side
        {
            if *after == 0 {
                (length, code) = (*bytes, *fault);
                self.tricks.fault = None;
            } else {
                *after -= 1;
            }
        }
        let mut done = 0;
        while done < length {
            let (address, room) = match self.translate(side, peer + u64::from(done)) {
                Ok(found) => found,
                Err(code) => return (done, code, peer + u64::from(done)),
            };
            let n = u64::from(length - done).min(room).min(1 << 16) as u32;
            assert!(
                self.allocated(address) && self.allocated(address + u64::from(n) - 1),
                "the board reached {address:#x}, which nobody owns"
            );
            let mut bytes = vec![0; n as usize];
            let local = local + u64::from(done);
            if side == 0 {
                self.fpga.read(local, &mut bytes);
                self.bus.write(address, &bytes);
            } else {
                self.bus.read(address, &mut bytes);
                self.fpga.write(local, &bytes);
            }
            done += n;
        }
        let fault = if code == 0 { 0 } else { peer + u64::from(done) };
        (done, code, fault)
    }

    /// Works one descriptor off; says whether there was one.
    fn step(&mut self) -> bool {
        if self.tricks.stuck || self.tricks.gone || self.control & 1 == 0 {
            return false;
        }
        self.turn ^= 1;
        let side = if self.queues[self.turn].is_empty() {
            self.turn ^ 1
        } else {
            self.turn
        };
        let Some(d) = self.queues[side].pop_front() else {
            return false;
        };
        let (done, code, fault) = self.execute(side, d);
        // About 3.2 GB/s, and some time for each descriptor.
        self.now += Duration::from_nanos(u64::from(done) * 5 / 16 + 500);
        if d[5] & 1 != 0 {
            self.record(side, d[6], code, done, fault);
        }
        if d[5] & 2 != 0 {
            self.raise(1);
        }
        if code != 0 {
            self.raise(2);
        }
        true
    }

    fn record(&mut self, side: usize, cookie: u32, code: u32, done: u32, fault: u64) {
        let sequence = self.sequence;
        self.sequence += 1;
        let copies = if std::mem::take(&mut self.tricks.lose_record) {
            0
        } else if std::mem::take(&mut self.tricks.repeat_record) {
            2
        } else {
            1
        };
        let log2 = self.ring[0] >> 4 & 0x1f;
        let base = u64::from(self.ring[1]) << 32 | u64::from(self.ring[0] & !0xfff);
        for _ in 0..copies {
            let phase = !(self.position >> log2) & 1;
            let status = phase | (side as u32) << 1 | code << 16;
            let words = [cookie, status, done, sequence];
            let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            bytes.extend(fault.to_le_bytes());
            bytes.extend([0; 8]);
            let slot = u64::from(self.position & ((1 << log2) - 1));
            self.bus.write(base + 32 * slot, &bytes);
            self.position += 1;
        }
    }

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
            (Space::Chan, 0x100) => state.free(0) | state.free(1) << 16,
            _ => 0,
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

    fn now(&self) -> Duration {
        self.lock().now
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
