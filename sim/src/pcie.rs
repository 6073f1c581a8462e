//! The hard IP behind the block's port, the link, and the completer at its other end.
//!
//! Posted writes are cut into packets at 4 KiB and at MPS, wait for the link in a bounded buffer
//! and reach memory some time after they have crossed it. Reads are cut into requests of at most
//! 256 bytes, follow the writes before them, find the memory as those writes left it, and come
//! back in completions cut at RCB; `Txs` gives the data out in the order of the reads (user guide
//! 683411, A.4.2 and A.4.3; ordering: Base Specification 2.4.1). The stream port's reads are one
//! request each, and their completions come tag by tag in any order ([`tagged`]); without a link
//! (`StreamConfig::link`) packets take no time on it. Behind the hard IP's Avalon-ST interface requests and
//! completions are packets ([`packets`]).
//!
//! Not modelled: flow-control credits of the other end but as a bound on what waits for the link,
//! data link packets, replay.

mod packets;
mod read;
mod tagged;

use std::collections::VecDeque;

pub(crate) use packets::BusEnd;
use read::{Arrival, AvalonRead, ReadRequest};
use tagged::Tagged;
pub(crate) use tagged::{Beat, TAGS, WIDEST};

use crate::{
    bus::{Bus, Target},
    config::{BoardConfig, StreamConfig, TxsConfig},
    link::{
        COMPLETION_HEADER_BYTES, FRAMING_BYTES, FS_PER_NS, LinkConfig, PortBeats, request_bytes,
        write_bytes,
    },
    rng::Rng,
    stats::LinkStats,
    violation::Log,
};

/// Largest burst of `Txs` in bytes.
const BURST: usize = 512;

#[derive(Debug)]
struct PendingWrite {
    due: u64,
    address: u64,
    len: u32,
    slot: u32,
}

/// What the port in front of the bridge is like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Bytes of a word.
    pub width: u32,
    /// Whether packets take time on the link.
    pub link: bool,
    /// Bytes of posted writes that may wait for the link.
    pub buffer: u32,
    /// The port carries packets: a beat more for the header.
    pub packets: bool,
}

/// The bridge and the link.
#[derive(Debug)]
pub(crate) struct Pcie {
    link: LinkConfig,
    txs: TxsConfig,
    stream: StreamConfig,
    shape: Shape,
    latency: [u64; 2],
    write_latency: [u64; 2],
    rng: Rng,
    pub(crate) stats: LinkStats,
    tx_free: u64,
    rx_free: u64,
    /// Bytes of writes accepted and not yet across the link.
    buffered: u32,
    draining: VecDeque<(u64, u32)>,
    /// Bytes accepted and not yet a packet: address, length.
    open: Option<(u64, u32)>,
    assembly: [u8; BURST],
    writes: [VecDeque<PendingWrite>; 2],
    /// When the last write to each target lands.
    last_write: [u64; 2],
    requests: VecDeque<ReadRequest>,
    /// Requests at the front whose memory has been looked at.
    sampled: usize,
    last_sample: u64,
    arrivals: VecDeque<Arrival>,
    reads: VecDeque<AvalonRead>,
    /// Number of the read at the front of `reads`.
    first_read: u64,
    tagged: Tagged,
    messages: VecDeque<u64>,
    slots: Vec<[u8; BURST]>,
    free: Vec<u32>,
}

fn index(target: Option<Target>) -> usize {
    // What nobody answers is handled on the way to the host.
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
                header: if shape.packets { 16 } else { 0 },
                cycle,
            };
            config.link.completer_latency(ns, port, link)
        };
        Self {
            link: config.link.clone(),
            txs: config.txs.clone(),
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
            requests: VecDeque::with_capacity(64),
            sampled: 0,
            last_sample: 0,
            arrivals: VecDeque::with_capacity(256),
            reads: VecDeque::with_capacity(64),
            first_read: 0,
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

    /// Time of so many bytes on the link.
    fn time(&self, bytes: u32) -> u64 {
        if self.shape.link {
            self.link.time(bytes)
        } else {
            0
        }
    }

    /// Puts bytes on the link towards the host; gives the time they have crossed it.
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

    /// A host's write of `dwords` to the board; gives the time it has crossed the link.
    pub(crate) fn host_write(&mut self, now: u64, dwords: u32) -> u64 {
        self.receive(now, write_bytes(0, dwords * 4))
    }

    /// A host's read request to the board.
    pub(crate) fn host_read(&mut self, now: u64) -> u64 {
        self.receive(now, request_bytes(0))
    }

    /// The board's answer of one dword to a host read.
    pub(crate) fn host_answer(&mut self, now: u64) -> u64 {
        self.send(now, COMPLETION_HEADER_BYTES + FRAMING_BYTES + 4)
    }

    /// The message of an interrupt.
    pub(crate) fn interrupt(&mut self, now: u64) {
        let end = self.send(now, write_bytes(0, 4));
        self.messages.push_back(end + self.write_latency[0]);
    }

    /// Whether the port has no room for another write beat.
    #[inline]
    pub(crate) fn full(&self) -> bool {
        self.shape.link && self.buffered + self.shape.width > self.shape.buffer
    }

    /// Whether another read would be one too many.
    #[inline]
    pub(crate) fn reads_full(&self) -> bool {
        self.reads.len() >= self.txs.max_reads as usize
    }

    /// Reads that are owed an answer.
    pub(crate) fn outstanding(&self) -> usize {
        self.reads.len() + self.tagged.outstanding
    }

    /// Whether no write is on its way any more.
    pub(crate) fn writes_landed(&self) -> bool {
        self.open.is_none() && self.writes.iter().all(VecDeque::is_empty)
    }

    /// Whether anything will still happen on the link by itself: a packet under way, or a read that
    /// will be answered. What waits for the design, and a read whose answer never comes, do not count.
    pub(crate) fn busy(&self) -> bool {
        !(self.writes.iter().all(VecDeque::is_empty)
            && self.messages.is_empty()
            && self.requests.is_empty()
            && self.arrivals.is_empty()
            && self.tagged.quiet())
    }

    /// A write beat is accepted.
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
            // One run of adjacent bytes at a time; a rule-abiding beat has one.
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

    /// Adds adjacent bytes to the packet being put together, or begins a new one.
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

    /// Sends what is in the assembly buffer as a packet.
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

    /// Lets everything happen that is due.
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
            self.stats.interrupts_delivered += u64::from(bus.is_master());
            self.messages.pop_front();
        }
        if !self.requests.is_empty() {
            self.sample(now, cycle, bus, log);
            self.complete(now);
        }
        self.advance_tagged(now, cycle, bus, log);
        while let Some(arrival) = self.arrivals.front()
            && arrival.at <= now
        {
            if let Some(read) = arrival
                .read
                .checked_sub(self.first_read)
                .and_then(|n| self.reads.get_mut(n as usize))
            {
                read.available = arrival.available.min(read.limit);
            }
            self.stats.rx_payload += u64::from(arrival.payload);
            self.arrivals.pop_front();
        }
    }

    /// The link goes down and comes up again: what was not across it is lost, reads are no
    /// longer owed an answer.
    pub(crate) fn reset(&mut self) {
        for read in self.reads.drain(..) {
            self.free.push(read.slot);
            self.first_read += 1;
        }
        for queue in &mut self.writes {
            for write in queue.drain(..) {
                self.free.push(write.slot);
            }
        }
        self.free.extend(self.tagged.reset());
        self.requests.clear();
        self.sampled = 0;
        self.arrivals.clear();
        self.draining.clear();
        self.messages.clear();
        self.buffered = 0;
        self.open = None;
    }
}
