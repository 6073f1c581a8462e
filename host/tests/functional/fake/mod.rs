//! A functional fake of the block's registers, in plain Rust, for the library's own tests. It is not a model of the
//! RTL: it implements the effect of each register, without cycles or the bus. It decodes raw bits by itself, by the
//! register map's text, so that an encoding error of the library shows.

mod backend;
mod engine;

use crate::store::Store;
use peerlane_core::layout::Segment;
use peerlane_core::link::Link;
use peerlane_core::regs::MAP_ID;
use peerlane_host::driver::{Bar, MemoryId, Pinned};
use peerlane_host::{Memory, MemoryKind};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Faults to inject.
#[derive(Default)]
pub struct Tricks {
    /// Reads return ones, writes are lost.
    pub gone: bool,
    /// A board that is gone goes on with its descriptors.
    pub goes_on: bool,
    /// The board cannot be cut off from memory.
    pub no_cut_off: bool,
    /// The board's owner asks for it.
    pub wanted_back: bool,
    /// The driver is asked to look for resets by others.
    pub watched: bool,
    /// The board is gone because its function is being reset: the time until the function answers, and the time from
    /// then until the block does.
    pub in_reset: Option<[Duration; 2]>,
    /// Such a reset begins after this number of register writes from now on.
    pub reset_after: Option<usize>,
    /// The function has reported an error, once.
    pub failed: bool,
    /// Memory that cannot be made reachable again after the board was cut off.
    pub unmapped: Vec<MemoryId>,
    /// Descriptors are not executed.
    pub stuck: bool,
    /// Descriptors of one direction are not executed.
    pub stuck_side: Option<usize>,
    /// Of each write only the first bytes arrive.
    pub first_bytes: Option<u32>,
    /// No time passes in pauses.
    pub still: bool,
    /// No time passes in waits for the interrupt either, except real time.
    pub frozen: bool,
    /// Aborts and resets do not end queued descriptors.
    pub stubborn: bool,
    /// Fences are never reached.
    pub no_fence: bool,
    /// STATUS reports a dead port.
    pub port_dead: bool,
    /// The n-th descriptor from now on (0 is the next) of a direction ends with a status code after a number of bytes.
    pub fault: Option<(usize, usize, u32, u32)>,
    /// And so does every later one.
    pub fault_stays: bool,
    /// The next record is not written: the one after it, with its own number, takes
    /// its slot.
    pub lose_record: bool,
    /// The next record is written twice.
    pub repeat_record: bool,
    /// Written data cannot be flushed.
    pub no_flush: bool,
    /// Doorbells are refused from this fill on.
    pub refuse_at: Option<usize>,
    /// Bytes of one pin that may be locked, while no other is, as by VFIO.
    pub lock_limit: Option<u64>,
    /// The next pin takes until a message comes.
    pub slow_pin: Option<Receiver<()>>,
    /// Real time that each descriptor takes.
    pub takes: Duration,
    /// The next descriptor is not written: its backend fails.
    pub fail_write: bool,
    /// The thread that writes the next one panics.
    pub panics: bool,
}

/// Observed accesses and events.
#[derive(Default)]
pub struct Seen {
    pub reads: usize,
    pub writes: usize,
    /// Channel, direction and words, in the order of the doorbells.
    pub descriptors: Vec<(usize, usize, [u32; 7])>,
    /// Channel and cookie, in the order of their ends.
    pub ended: Vec<(usize, u32)>,
    pub interrupts: usize,
    pub resets: usize,
    pub fences: usize,
    pub flushes: usize,
}

pub struct Config {
    pub map_id: u32,
    pub txs_addr_bits: u32,
    /// Bytes of which a write at the peer has multiples: 1 or 4.
    pub write_granularity: u32,
    pub link: Option<Link>,
    /// Bytes of FPGA memory.
    pub fpga_bytes: u64,
    pub channels: usize,
    /// log2 of the descriptors of one channel and direction.
    pub depth_log2: u32,
    pub att_log2: u32,
    /// Memory comes in separate pieces of this size.
    pub host_granule: u64,
    pub gpu_granule: u64,
    /// Start of the host's memory on the bus.
    pub host_base: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            map_id: MAP_ID,
            txs_addr_bits: 64,
            write_granularity: 1,
            link: None,
            fpga_bytes: 1 << 34,
            channels: 8,
            depth_log2: 9,
            att_log2: 12,
            host_granule: 4 << 10,
            gpu_granule: 64 << 10,
            host_base: 0x1_0000_0000,
        }
    }
}

pub const BUILD_ID: u32 = 0xb01d_0001;

/// A descriptor in a queue.
struct Queued {
    words: [u32; 7],
    /// Number of descriptors of the other direction that were queued before.
    behind: usize,
}

#[derive(Default)]
pub struct Channel {
    pub control: u32,
    pub moderation: u32,
    pub range: [u32; 2],
    pub ring: [u32; 2],
    refused: u32,
    /// Slots of the ring that no descriptor has, as reported by the doorbells; for a channel that has a ring.
    room: Option<u32>,
    desc: [[u32; 7]; 2],
    queues: [VecDeque<Queued>; 2],
    accepted: [usize; 2],
    /// Records so far, and slots that they took.
    sequence: u32,
    position: u32,
    /// Completions that wait for the moderation.
    moderated: u32,
    counts: [[u64; 6]; 2],
    snapshot: [[u64; 6]; 2],
}

impl Channel {
    pub fn busy(&self) -> u32 {
        let busy = |side: usize| u32::from(!self.queues[side].is_empty());
        busy(0) | busy(1) << 1
    }
}

/// Memory that has a holder.
struct FakeMemory {
    kind: MemoryKind,
    segments: Vec<Segment>,
    /// Number of its holders: its user or the driver, and its pins.
    holds: usize,
}

pub struct State {
    config: Config,
    /// The OpenCL side, where the board has one.
    pub opencl: Option<Box<dyn Bar>>,
    pub tricks: Tricks,
    pub seen: Seen,
    pub bus: Store,
    pub fpga: Store,
    memories: BTreeMap<MemoryId, FakeMemory>,
    /// Memory that is being pinned.
    begun: BTreeMap<MemoryId, Pinned>,
    /// Files that represent dma-bufs, by their inodes: the memory, and its first byte.
    dmabufs: BTreeMap<u64, (MemoryId, u64)>,
    next_id: u64,
    next_address: [u64; 2],
    now: Duration,
    control: u32,
    irq_status: u32,
    port_timeout: u32,
    port_pace: u32,
    owner: u64,
    low: u32,
    /// Entry and owners.
    pub att: Vec<(u64, u64)>,
    select: usize,
    pub channels: Vec<Channel>,
    turn: usize,
    records: [u64; 2],
    /// Number of pins.
    pins: usize,
    /// It reaches no memory.
    cut_off: bool,
    /// Time of the block's first answer after a reset.
    back_at: Option<Duration>,
}

/// The backend; clones are handles of the same fake.
#[derive(Clone)]
pub struct Fake(Arc<Mutex<State>>);

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fake")
    }
}

impl Fake {
    pub fn new(config: Config) -> Self {
        let entries = 1 << config.att_log2;
        let next_address = [config.host_base, 0x38_0000_0000];
        let channels = (0..config.channels).map(|_| Channel::default()).collect();
        Self(Arc::new(Mutex::new(State {
            config,
            opencl: None,
            tricks: Tricks::default(),
            seen: Seen::default(),
            bus: Store::default(),
            fpga: Store::default(),
            memories: BTreeMap::new(),
            begun: BTreeMap::new(),
            dmabufs: BTreeMap::new(),
            next_id: 1,
            next_address,
            now: Duration::ZERO,
            control: 0,
            irq_status: 0,
            port_timeout: 12_500_000,
            // Value of another user.
            port_pace: 77,
            owner: 0,
            low: 0,
            att: vec![(0, 0); entries],
            select: 0,
            channels,
            turn: 0,
            records: [0; 2],
            pins: 0,
            cut_off: true,
            back_at: None,
        })))
    }

    /// Reads FPGA memory directly.
    pub fn fpga_read(&self, address: u64, bytes: &mut [u8]) {
        self.lock().fpga.read(address, bytes);
    }

    /// Writes FPGA memory directly.
    pub fn fpga_write(&self, address: u64, bytes: &[u8]) {
        self.lock().fpga.write(address, bytes);
    }

    /// Makes a file represent a dma-buf of memory of a GPU, from a byte of it on.
    pub fn set_dmabuf(&self, file: &File, memory: &Memory, first: u64) {
        let id = backend::id(memory.address()).expect("memory of the fake's");
        let inode = file.metadata().unwrap().ino();
        self.lock().dmabufs.insert(inode, (id, first));
    }

    /// Revokes memory: its owner takes it back, and the kernel driver invalidates it at the board. No entry maps it any
    /// more.
    pub fn revoke(&self, memory: &Memory) {
        let id = backend::id(memory.address()).expect("memory of the fake's");
        let mut state = self.lock();
        let segments = state.memories[&id].segments.clone();
        let lies_in = |page: u64| {
            let inside = |s: &Segment| (s.address..s.address + s.length).contains(&page);
            segments.iter().any(inside)
        };
        for (raw, _) in &mut state.att {
            if *raw & 1 == 1 && lies_in(*raw & !0xfff) {
                *raw &= !1;
            }
        }
    }

    /// Has memory go that the process has registered, when the board is cut off.
    pub fn unmap(&self, memory: &Memory) {
        let id = backend::id(memory.address()).expect("memory of the fake's");
        self.lock().tricks.unmapped.push(id);
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        // A failed test reports itself.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub fn valid_entries(&self) -> usize {
        self.att.iter().filter(|(raw, _)| raw & 1 == 1).count()
    }

    /// Resets all of the board, without the driver.
    pub fn reset_function(&mut self) {
        self.control = 0;
        self.irq_status = 0;
        self.select = 0;
        self.att.fill((0, 0));
        for channel in &mut self.channels {
            *channel = Channel::default();
        }
    }

    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    pub fn memories(&self) -> usize {
        self.memories.len()
    }

    pub fn control(&self) -> u32 {
        self.control
    }

    pub fn port_timeout(&self) -> u32 {
        self.port_timeout
    }

    pub fn port_pace(&self) -> u32 {
        self.port_pace
    }

    fn line(&self) -> bool {
        self.control & 2 != 0 && self.irq_status != 0
    }

    fn raise(&mut self, bit: u32) {
        let before = self.line();
        self.irq_status |= bit;
        self.seen.interrupts += usize::from(self.line() && !before);
    }

    /// Counts a completion that asks for an interrupt.
    fn completion(&mut self, channel: usize, urgent: bool) {
        let state = &mut self.channels[channel];
        state.moderated += 1;
        // Nothing in here takes long enough for the age.
        if urgent || state.moderated >= state.moderation & 0xff {
            state.moderated = 0;
            self.raise(1);
        }
    }

    fn csr_read(&self, offset: usize) -> u32 {
        let Config {
            txs_addr_bits,
            write_granularity,
            channels,
            depth_log2,
            att_log2,
            ..
        } = self.config;
        let busy = self.channels.iter().fold(0, |busy, c| busy | c.busy());
        let selected = &self.channels[self.select];
        let high = offset >> 2 & 1;
        let half = |value: u64| (value >> (32 * high)) as u32;
        match offset {
            0x000 => self.config.map_id,
            0x004 => BUILD_ID,
            0x008 => 1 | (channels as u32) << 8 | 16 << 16 | txs_addr_bits << 24,
            0x00c => (depth_log2 + channels.ilog2()) | att_log2 << 8 | 9 << 16 | 40 << 24,
            0x01c => 5 | write_granularity.ilog2() << 12,
            0x010 => self.control,
            0x014 => busy | u32::from(self.tricks.port_dead) << 5,
            0x018 => self.irq_status,
            0x020 => self.port_timeout,
            0x030 | 0x034 => half(self.owner),
            0x038 => u32::from(self.tricks.no_fence) << 1,
            0x080 => self.select as u32,
            0x084 => selected.control,
            0x088 => selected.busy(),
            0x100..0x130 => half(selected.snapshot[0][(offset - 0x100) / 8]),
            0x140..0x170 => half(selected.snapshot[1][(offset - 0x140) / 8]),
            0x1b8 | 0x1bc => half(self.records[1]),
            _ => 0,
        }
    }

    fn csr_write(&mut self, offset: usize, value: u32) {
        match offset {
            0x010 => {
                self.control = value & 3;
                if value & 1 << 8 != 0 {
                    self.seen.resets += 1;
                    (0..self.channels.len()).for_each(|channel| self.abort(channel));
                }
            }
            0x018 => self.irq_status &= !value,
            0x020 => self.port_timeout = value,
            0x024 => self.port_pace = value,
            0x02c if value & 1 != 0 => {
                self.records[1] = self.records[0];
                for channel in &mut self.channels {
                    channel.snapshot = channel.counts;
                }
            }
            0x030 => self.owner = self.owner >> 32 << 32 | u64::from(value),
            0x034 => self.owner = self.owner & 0xffff_ffff | u64::from(value) << 32,
            0x038 => self.seen.fences += value as usize & 1,
            0x080 => self.select = value as usize,
            0x084..0x0a0 => self.channel_write(offset, value),
            _ => {}
        }
    }

    fn channel_write(&mut self, offset: usize, value: u32) {
        let number = self.select;
        let channel = &mut self.channels[number];
        assert!(
            offset == 0x084 || channel.busy() == 0,
            "{offset:#x} of channel {number} is written while it has work"
        );
        match offset {
            0x084 => {
                channel.control = value & 7;
                if value & 4 != 0 {
                    self.abort(number);
                }
            }
            0x08c => channel.moderation = value,
            0x090 => {
                channel.ring[0] = value;
                channel.room = (value & 1 == 1).then_some(1 << (value >> 4 & 0x1f));
                channel.sequence = 0;
                channel.position = 0;
            }
            0x094 => channel.ring[1] = value,
            0x098 => channel.range[0] = value,
            0x09c => channel.range[1] = value,
            _ => {}
        }
    }

    fn chan_write(&mut self, offset: usize, value: u32) {
        let (number, offset) = (offset >> 12, offset & 0xfff);
        let depth = 1 << self.config.depth_log2;
        let limit = self.tricks.refuse_at.unwrap_or(depth);
        let enabled = self.control & 1 != 0;
        let channel = &mut self.channels[number];
        let side = offset >> 7;
        match offset & 0x7f {
            _ if offset == 0x104 => channel.refused &= !value,
            at @ 0..0x1c if side < 2 => channel.desc[side][at / 4] = value,
            0x40 if side < 2 => {
                if let Some(room) = &mut channel.room {
                    *room += value & 0xffff;
                }
                let accepts = enabled && channel.control & 5 == 1 && channel.room != Some(0);
                if channel.queues[side].len() >= limit || !accepts {
                    channel.refused |= 1 << side;
                    self.raise(4);
                } else {
                    channel.room = channel.room.map(|room| room - 1);
                    let words = channel.desc[side];
                    let behind = channel.accepted[side ^ 1];
                    channel.accepted[side] += 1;
                    channel.queues[side].push_back(Queued { words, behind });
                    self.seen.descriptors.push((number, side, words));
                }
            }
            _ => {}
        }
    }

    fn chan_read(&self, offset: usize) -> u32 {
        let channel = &self.channels[offset >> 12];
        let accepts = self.control & 1 != 0 && channel.control & 5 == 1 && channel.room != Some(0);
        let free = |side: usize| match accepts {
            true => (1 << self.config.depth_log2) - channel.queues[side].len() as u32,
            false => 0,
        };
        match offset & 0xfff {
            0x100 => free(0) | free(1) << 16,
            0x104 => channel.refused,
            _ => 0,
        }
    }
}
