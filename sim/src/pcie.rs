//! The link of the block's port, and the completer at its other end.
//!
//! Packets of posted writes wait for the link in a bounded buffer and reach memory some time after they have crossed
//! it. Read requests follow earlier writes, find the memory as those writes left it, and come back in completions cut
//! at RCB (ordering: Base Specification 2.4.1), tag by tag in any order ([`tagged`]); without a link
//! (`StreamConfig::link`) packets take no time on it. [`crate::bridge`] makes packets of the commands of `Txs`; on the
//! hard IP's Avalon-ST interface requests and completions are packets ([`packets`]).
//!
//! Not modelled: flow-control credits of the other end except as a bound on the packets that wait for the link, data
//! link packets, replay.

mod packets;
mod read;
mod tagged;

use std::collections::VecDeque;

pub(crate) use packets::BusEnd;
use tagged::Tagged;
pub(crate) use tagged::{Arrived, Beat, TAGS, WIDEST};

use crate::{
    bus::{Bus, Target},
    config::{BoardConfig, StreamConfig},
    extent::Extent,
    link::{
        COMPLETION_HEADER_BYTES, FRAMING_BYTES, FS_PER_NS, LinkConfig, PortBeats, request_bytes,
        write_bytes,
    },
    rng::Rng,
    stats::LinkStats,
    violation::Log,
};

/// Largest packet in bytes.
const BURST: usize = 512;

#[derive(Debug)]
struct PendingWrite {
    due: u64,
    address: u64,
    len: u32,
    slot: u32,
}

/// The port in front of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `Txs`, with the bridge.
    Txs,
    /// The stream port.
    Stream,
    /// Packets: a beat more for the header.
    Packets,
}

/// The shape of the port in front of the link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Bytes of a word.
    pub width: u32,
    /// Whether packets take time on the link.
    pub link: bool,
    /// Bytes of posted writes that may wait for the link.
    pub buffer: u32,
    /// Femtoseconds by which the completer may be later with a request than in order, at random.
    pub reorder: u64,
    pub kind: Kind,
}

/// The bridge and the link.
#[derive(Debug)]
pub(crate) struct Pcie {
    link: LinkConfig,
    stream: StreamConfig,
    shape: Shape,
    latency: [u64; 2],
    write_latency: [u64; 2],
    rng: Rng,
    pub(crate) stats: LinkStats,
    tx_free: u64,
    rx_free: u64,
    /// Bytes of writes that are accepted and have not crossed the link.
    buffered: u32,
    draining: VecDeque<(u64, u32)>,
    /// Bytes of the stream port that are accepted and not yet a packet: address, length.
    open: Option<(u64, u32)>,
    assembly: [u8; BURST],
    writes: [VecDeque<PendingWrite>; 2],
    /// Time at which the last write to each target lands.
    last_write: [u64; 2],
    tagged: Tagged,
    messages: VecDeque<u64>,
    slots: Vec<[u8; BURST]>,
    free: Vec<u32>,
}

fn index(target: Option<Target>) -> usize {
    // Unanswered packets are handled like those to the host.
    match target {
        Some(Target::Gpu) => 1,
        _ => 0,
    }
}

impl Pcie {
    pub(crate) fn new(config: &BoardConfig, shape: Shape) -> Self {
        let cycle = config.pcie_clk_ps * 1000;
        let (width, link) = (shape.width, shape.link);
        let latency = |ns| {
            let port = PortBeats {
                bytes: width,
                header: if shape.kind == Kind::Packets { 16 } else { 0 },
                cycle,
            };
            config.link.completer_latency(ns, port, link)
        };
        Self {
            link: config.link.clone(),
            stream: config.stream.clone(),
            shape,
            latency: [
                latency(config.link.read_round_trip_ns),
                latency(config.gpu.read_round_trip_ns),
            ],
            write_latency: [
                u64::from(config.link.write_latency_ns) * FS_PER_NS,
                u64::from(config.gpu.write_latency_ns) * FS_PER_NS,
            ],
            rng: Rng::new(config.seed, 1),
            stats: LinkStats::default(),
            tx_free: 0,
            rx_free: 0,
            buffered: 0,
            draining: VecDeque::with_capacity(256),
            open: None,
            assembly: [0; BURST],
            writes: [VecDeque::with_capacity(256), VecDeque::with_capacity(256)],
            last_write: [0; 2],
            tagged: Tagged::new(),
            messages: VecDeque::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    fn slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push([0; BURST]);
            self.slots.len() as u32 - 1
        })
    }

    /// Returns the time of so many bytes on the link.
    fn time(&self, bytes: u32) -> u64 {
        if self.shape.link {
            self.link.time(bytes)
        } else {
            0
        }
    }

    /// Puts bytes on the link towards the host; returns the time at which they have crossed it.
    fn send(&mut self, now: u64, bytes: u32) -> u64 {
        let time = self.time(bytes);
        self.tx_free = self.tx_free.max(now) + time;
        self.stats.tx_busy += time;
        self.stats.tx_packets += 1;
        self.tx_free
    }

    /// Puts bytes on the link towards the board.
    fn receive(&mut self, now: u64, bytes: u32) -> u64 {
        let time = self.time(bytes);
        self.rx_free = self.rx_free.max(now) + time;
        self.stats.rx_busy += time;
        self.stats.rx_packets += 1;
        self.rx_free
    }

    /// Makes a host's write of `dwords` dwords to the board; returns the time at which it has crossed the link.
    pub(crate) fn host_write(&mut self, now: u64, dwords: u32) -> u64 {
        self.receive(now, write_bytes(0, dwords * 4))
    }

    /// Makes a host's read request to the board.
    pub(crate) fn host_read(&mut self, now: u64) -> u64 {
        self.receive(now, request_bytes(0))
    }

    /// Sends the board's answer of one dword to a host read.
    pub(crate) fn host_answer(&mut self, now: u64) -> u64 {
        self.send(now, COMPLETION_HEADER_BYTES + FRAMING_BYTES + 4)
    }

    /// Sends the message of an interrupt.
    pub(crate) fn interrupt(&mut self, now: u64) {
        let end = self.send(now, write_bytes(0, 4));
        self.messages.push_back(end + self.write_latency[0]);
    }

    /// Returns whether the port has no room for another write beat.
    #[inline]
    pub(crate) fn full(&self) -> bool {
        self.shape.link && self.buffered + self.shape.width > self.shape.buffer
    }

    /// Returns the number of read requests that are owed an answer.
    pub(crate) fn outstanding(&self) -> usize {
        self.tagged.outstanding
    }

    /// Returns the time at which the last write to host memory so far has landed.
    pub(crate) fn last_write_to_host(&self) -> u64 {
        self.last_write[0]
    }

    /// Returns whether all writes have landed.
    pub(crate) fn writes_landed(&self) -> bool {
        self.open.is_none() && self.writes.iter().all(VecDeque::is_empty)
    }

    /// Returns whether anything will still happen on the link by itself: a packet in progress, or a read that will be
    /// answered. Packets that wait for the design, and a read whose answer never comes, do not count.
    pub(crate) fn busy(&self) -> bool {
        !(self.writes.iter().all(VecDeque::is_empty)
            && self.messages.is_empty()
            && self.tagged.quiet())
    }

    /// Takes a write beat of the stream port.
    pub(crate) fn write_beat(
        &mut self,
        now: u64,
        address: u64,
        enable: u64,
        data: &[u32],
        last: bool,
        bus: &Bus,
    ) {
        let mut bytes = [0; 64];
        for (target, word) in bytes.chunks_exact_mut(4).zip(data) {
            target.copy_from_slice(&word.to_le_bytes());
        }
        let mut mask = enable;
        while mask != 0 {
            // One run of adjacent bytes at a time; a beat that keeps the rules has one.
            let from = mask.trailing_zeros();
            let len = (mask >> from).trailing_ones();
            mask = mask.checked_shr(from + len).unwrap_or(0) << ((from + len) % 64);
            let run = &bytes[from as usize..(from + len) as usize];
            self.append(now, address.wrapping_add(u64::from(from)), run, bus);
        }
        if last {
            self.flush_open(now, bus);
        }
    }

    /// Adds adjacent bytes to the packet that is being assembled, or begins a new one.
    #[inline]
    fn append(&mut self, now: u64, mut address: u64, mut run: &[u8], bus: &Bus) {
        while !run.is_empty() {
            let limit = self.link.max_payload;
            if let Some((start, len)) = self.open {
                let follows = start.wrapping_add(u64::from(len)) == address;
                if !follows || len >= limit || address.is_multiple_of(4096) {
                    self.flush_open(now, bus);
                }
            }
            let (_, len) = self.open.get_or_insert((address, 0));
            let to_4k = 4096 - (address % 4096) as usize;
            let take = run.len().min((limit - *len) as usize).min(to_4k);
            self.assembly[*len as usize..][..take].copy_from_slice(&run[..take]);
            *len += take as u32;
            self.buffered += take as u32;
            address = address.wrapping_add(take as u64);
            run = &run[take..];
        }
        // A full packet leaves at once.
        if self
            .open
            .is_some_and(|(_, len)| len >= self.link.max_payload)
        {
            self.flush_open(now, bus);
        }
    }

    /// Sends the content of the assembly buffer as a packet.
    fn flush_open(&mut self, now: u64, bus: &Bus) {
        let Some((address, len)) = self.open.take() else {
            return;
        };
        let end = self.send(now, write_bytes(address, len));
        self.stats.write_packets += 1;
        self.draining.push_back((end, len));
        let target = index(bus.target(address));
        let due = (end + self.write_latency[target]).max(self.last_write[target]);
        self.last_write[target] = due;
        let slot = self.slot();
        self.slots[slot as usize][..len as usize].copy_from_slice(&self.assembly[..len as usize]);
        self.writes[target].push_back(PendingWrite {
            due,
            address,
            len,
            slot,
        });
    }

    /// Stores data of a packet until [`Pcie::release`].
    pub(crate) fn store(&mut self, data: &[u8]) -> u32 {
        let slot = self.slot();
        self.slots[slot as usize][..data.len()].copy_from_slice(data);
        slot
    }

    /// Frees the slot of a packet's data.
    pub(crate) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Sends a packet of writes: its first dword goes to `address`, and bytes that are not enabled are not written.
    pub(crate) fn write_extent(
        &mut self,
        now: u64,
        address: u64,
        extent: &Extent,
        slot: u32,
        bus: &Bus,
    ) {
        let end = self.send(now, write_bytes(address, extent.dwords * 4));
        self.stats.write_packets += 1;
        let target = index(bus.target(address));
        let due = (end + self.write_latency[target]).max(self.last_write[target]);
        self.last_write[target] = due;
        let mut from = 0;
        while let Some((begin, len)) = extent.bytes_from(from) {
            from = begin + len;
            self.buffered += len;
            self.draining.push_back((end, len));
            let data = self.slots[slot as usize];
            let slot = self.store(&data[begin as usize..from as usize]);
            self.writes[target].push_back(PendingWrite {
                due,
                address: address + u64::from(begin),
                len,
                slot,
            });
        }
    }

    /// Processes everything that is due.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64, cycle: u64, bus: &mut Bus, log: &mut Log) {
        while let Some((end, bytes)) = self.draining.front()
            && *end <= now
        {
            self.buffered -= bytes;
            self.stats.tx_payload += u64::from(*bytes);
            self.draining.pop_front();
        }
        for queue in 0..2 {
            while let Some(write) = self.writes[queue].front()
                && write.due <= now
            {
                let data = &self.slots[write.slot as usize][..write.len as usize];
                bus.write(write.address, data, cycle, log);
                self.free.push(write.slot);
                self.writes[queue].pop_front();
            }
        }
        while let Some(at) = self.messages.front()
            && *at <= now
        {
            self.stats.interrupts_delivered += u64::from(bus.takes_requests());
            self.messages.pop_front();
        }
        self.advance_tagged(now, cycle, bus, log);
    }

    /// Takes the link down and up again: packets that have not crossed it are lost, and reads are not owed answers any
    /// more.
    pub(crate) fn reset(&mut self) {
        for queue in &mut self.writes {
            for write in queue.drain(..) {
                self.free.push(write.slot);
            }
        }
        self.free.extend(self.tagged.reset());
        self.draining.clear();
        self.messages.clear();
        self.buffered = 0;
        self.open = None;
    }
}
