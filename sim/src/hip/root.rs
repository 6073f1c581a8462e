//! The other end of the link: memory that answers reads in all ways that a root complex may.

use std::collections::{HashMap, VecDeque};

use super::tlp::{Kind, Tlp};
use crate::rng::Rng;

/// Way in which the other end answers.
#[derive(Debug, Clone, Copy)]
pub struct RootConfig {
    /// Read Completion Boundary in bytes: 64 or 128.
    pub boundary: u32,
    /// Chance in percent that a completion is cut at an earlier boundary than it must be.
    pub split: u8,
    /// Chance in percent that a completion is for any read that is ready, instead of the oldest.
    pub reorder: u8,
    /// The least number of cycles from a request to its first completion.
    pub latency: u64,
    /// Random addition to `latency`: 0 to this many cycles.
    pub jitter: u64,
}

impl Default for RootConfig {
    fn default() -> Self {
        Self {
            boundary: 64,
            split: 0,
            reorder: 0,
            latency: 250,
            jitter: 0,
        }
    }
}

/// Fate of a read in place of its data. A fate with data hits one of the read's completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Ends with this completion status.
    Status(u8),
    /// The same status with data, which only a completion that succeeds may have (section 2.2.9).
    StatusWithData(u8),
    /// Data that are marked as wrong.
    Poisoned,
    /// All data from there on are marked as wrong.
    PoisonedFromThere,
    /// A completion that has one dword less than its byte count needs.
    Short,
    /// A completion that has one dword more.
    Long,
    /// A completion with the byte count of another.
    Count,
    /// One with the address of another.
    Address,
    /// Success without data.
    Bare,
    /// No completion comes, or no further one.
    Never,
    /// All data from there on come so many cycles later.
    Late(u64),
    /// In addition, a completion that belongs to no read, with these bits in its tag.
    Stray(u8),
    /// The last completion comes twice.
    Twice,
}

#[derive(Debug)]
struct Pending {
    tag: u8,
    requester: u16,
    address: u64,
    data: Vec<u8>,
    done: u32,
    ready: u64,
    fate: Option<Fate>,
    /// The byte from which on the fate applies.
    strikes: u32,
}

/// Memory at the other end of the link.
#[derive(Debug)]
pub struct Root {
    /// The way in which it answers from now on.
    pub config: RootConfig,
    pages: HashMap<u64, Box<[u8; 4096]>>,
    pending: Vec<Pending>,
    fates: HashMap<u64, Fate>,
    reads: u64,
    rng: Rng,
    /// Addresses of writes, in the order in which they came.
    pub writes: Vec<u64>,
    keep_writes: bool,
}

impl Root {
    pub(super) fn new(config: RootConfig, seed: u64) -> Self {
        Self {
            config,
            pages: HashMap::new(),
            pending: Vec::new(),
            fates: HashMap::new(),
            reads: 0,
            rng: Rng::new(seed, 21),
            writes: Vec::new(),
            keep_writes: false,
        }
    }

    /// Starts to record the addresses of writes.
    pub fn keep_writes(&mut self) {
        self.keep_writes = true;
    }

    /// Returns a byte of memory that was never written: it depends on the address.
    pub(super) fn untouched(address: u64) -> u8 {
        (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
    }

    /// Reads memory.
    pub fn peek(&self, address: u64, data: &mut [u8]) {
        for (at, byte) in (address..).zip(data) {
            *byte = match self.pages.get(&(at / 4096)) {
                Some(page) => page[(at % 4096) as usize],
                None => Self::untouched(at),
            };
        }
    }

    /// Writes memory.
    pub fn poke(&mut self, address: u64, data: &[u8]) {
        for (at, byte) in (address..).zip(data) {
            let page = self.pages.entry(at / 4096).or_insert_with(|| {
                let mut fresh = Box::new([0; 4096]);
                for (place, byte) in (at & !4095..).zip(fresh.iter_mut()) {
                    *byte = Self::untouched(place);
                }
                fresh
            });
            page[(at % 4096) as usize] = *byte;
        }
    }

    /// Gives the `nth` read from now on, from 0, this fate.
    pub fn strike(&mut self, nth: u64, fate: Fate) {
        self.fates.insert(self.reads + nth, fate);
    }

    /// Returns the number of reads that are not answered in full; those that will never be count.
    pub fn owed(&self) -> usize {
        self.pending.len()
    }

    /// Returns the number of reads that came.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    pub(super) fn reset(&mut self) {
        self.pending.clear();
    }

    /// Handles a request that arrives.
    pub(super) fn take(&mut self, packet: &Tlp, now: u64) {
        let address = packet.address();
        let length = packet.length();
        let (first, last) = packet.enables();
        let enabled = |byte: u32| {
            let mask = match byte / 4 {
                0 => first,
                dword if dword + 1 == length => last,
                _ => 0xF,
            };
            mask >> (byte % 4) & 1 == 1
        };
        match packet.kind() {
            Kind::Write => {
                for byte in 0..length * 4 {
                    if enabled(byte) {
                        let word = packet.payload[(byte / 4) as usize];
                        let value = (word >> (byte % 4 * 8)) as u8;
                        self.poke(address + u64::from(byte), &[value]);
                    }
                }
                if self.keep_writes {
                    self.writes.push(address);
                }
            }
            Kind::Read => {
                let begin = (0..length * 4).find(|byte| enabled(*byte)).unwrap_or(0);
                let end = (0..length * 4)
                    .rev()
                    .find(|byte| enabled(*byte))
                    .unwrap_or(0)
                    + 1;
                let start = address + u64::from(begin);
                let mut data = vec![0; (end - begin) as usize];
                self.peek(start, &mut data);
                let fate = self.fates.remove(&self.reads);
                self.reads += 1;
                let strikes = self.rng.up_to(u64::from(end - begin - 1)) as u32;
                self.pending.push(Pending {
                    tag: packet.tag(),
                    requester: packet.requester(),
                    address: start,
                    data,
                    done: 0,
                    ready: now + self.config.latency + self.rng.up_to(self.config.jitter),
                    fate,
                    strikes,
                });
            }
            Kind::Completion | Kind::Other => {}
        }
    }

    /// Adds the next completions that leave, mostly one, of no more than `payload` bytes each.
    pub(super) fn answer(&mut self, now: u64, payload: u32, out: &mut VecDeque<Tlp>) {
        let stuck = |one: &Pending| one.fate == Some(Fate::Never) && one.done >= one.strikes;
        let ready: Vec<usize> = (0..self.pending.len())
            .filter(|n| self.pending[*n].ready <= now && !stuck(&self.pending[*n]))
            .collect();
        let Some(oldest) = ready.first() else {
            return;
        };
        let chosen = if self.rng.chance(self.config.reorder) {
            ready[self.rng.up_to(ready.len() as u64 - 1) as usize]
        } else {
            *oldest
        };
        let end = self.cut(chosen, payload);
        let one = &mut self.pending[chosen];
        let all = one.data.len() as u32;
        let left = all - one.done;
        let struck = one.fate.filter(|_| one.strikes < end);
        if struck == Some(Fate::Never) {
            one.done = end.max(one.strikes);
            return;
        }
        if let Some(Fate::Late(cycles)) = struck {
            one.ready = now + cycles;
            one.fate = None;
            return;
        }
        let at = one.address + u64::from(one.done);
        let pad = (at % 4) as usize;
        let mut data = vec![0x5A; pad];
        data.extend(&one.data[one.done as usize..end as usize]);
        data.resize(data.len().next_multiple_of(4), 0x5A);
        let (tag, requester, lower) = (one.tag, one.requester, at as u8);
        let good = |data: &[u8]| Tlp::completion(tag, requester, 0, lower, left, data);
        let mut over = end == all;
        one.done = end;
        match struck {
            None => out.push_back(good(&data)),
            Some(Fate::Status(status)) => {
                out.push_back(Tlp::completion(tag, requester, status, lower, left, &[]));
                over = true;
            }
            Some(Fate::StatusWithData(status)) => {
                out.push_back(Tlp::completion(tag, requester, status, lower, left, &data));
                over = true;
            }
            Some(Fate::Poisoned | Fate::PoisonedFromThere) => {
                let mut packet = good(&data);
                packet.header[0] |= 1 << 14;
                out.push_back(packet);
            }
            Some(Fate::Short) if data.len() > 4 => out.push_back(good(&data[4..])),
            Some(Fate::Short | Fate::Bare) => {
                out.push_back(good(&[]));
                over = true;
            }
            Some(Fate::Long) => {
                data.extend([0x5A; 4]);
                out.push_back(good(&data));
            }
            Some(Fate::Count) => {
                let mut packet = good(&data);
                packet.header[1] = packet.header[1] & !0xFFF | (left + 4) & 0xFFF;
                out.push_back(packet);
            }
            Some(Fate::Address) => {
                let mut packet = good(&data);
                packet.header[2] ^= 0x40;
                out.push_back(packet);
            }
            Some(Fate::Stray(bits)) => {
                let packet = good(&data);
                let mut stray = packet.clone();
                stray.header[2] |= u32::from(bits) << 8;
                out.push_back(stray);
                out.push_back(packet);
                one.fate = None;
            }
            Some(Fate::Twice) => {
                out.push_back(good(&data));
                if over {
                    out.push_back(good(&data));
                }
            }
            Some(Fate::Never | Fate::Late(_)) => {}
        }
        if struck.is_some_and(|fate| !matches!(fate, Fate::Twice | Fate::PoisonedFromThere)) {
            self.pending[chosen].fate = None;
        }
        if over {
            self.pending.remove(chosen);
        }
    }

    /// Returns the end of the next completion of a read.
    fn cut(&mut self, chosen: usize, payload: u32) -> u32 {
        let one = &self.pending[chosen];
        let all = one.data.len() as u32;
        let at = one.address + u64::from(one.done);
        let pad = (at % 4) as u32;
        let whole = (pad + all - one.done).next_multiple_of(4) <= payload;
        let boundary = u64::from(self.config.boundary);
        let mut ends: Vec<u32> = Vec::new();
        let mut edge = (at / boundary + 1) * boundary;
        while edge < one.address + u64::from(all) && edge - (at & !3) <= u64::from(payload) {
            ends.push((edge - one.address) as u32);
            edge += boundary;
        }
        if whole {
            ends.push(all);
        }
        let last = ends.len() - 1;
        if self.rng.chance(self.config.split) {
            ends[self.rng.up_to(last as u64) as usize]
        } else {
            ends[last]
        }
    }
}
