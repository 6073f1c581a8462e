//! The host's requests to the board, and the completions that it gets for them.
//!
//! Completions are checked against the PCI Express Base Specification 2.1: sections 2.2.9 (header, byte count, lower
//! address), 2.3.1.1 (data in address order, cut at the Read Completion Boundary, which is 128 bytes for all but a root
//! complex) and 2.2.5 (byte enables). Each byte that a request names is checked separately.

use std::collections::{HashMap, VecDeque};

use super::{
    root::Root,
    tlp::{Kind, Tlp},
};

/// End of a request of the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEnd {
    /// The request.
    pub request: Tlp,
    /// Completion status: 0 is success.
    pub status: u8,
    /// Number of bytes that came.
    pub bytes: u32,
    /// The bytes.
    pub data: Vec<u8>,
    /// Cycles from the packet's first beat to the last completion's last one.
    pub took: u64,
}

/// A request that waits for completions.
#[derive(Debug)]
struct Open {
    request: Tlp,
    begun: u64,
    /// Address of the first byte that counts, and the number of such bytes.
    start: u64,
    count: u32,
    data: Vec<u8>,
    /// Allowed values of each byte; an empty list allows any value.
    may_be: Vec<Vec<u8>>,
}

/// The host.
#[derive(Debug)]
pub struct Host {
    /// Packets to be sent, and the BARs that the hard IP shows for each.
    pub queue: VecDeque<(Tlp, u8)>,
    /// Ends of requests.
    pub ends: Vec<HostEnd>,
    /// BARs that belong to the design.
    pub bars: u8,
    /// Address bits within one of these BARs.
    pub window: u64,
    /// Whether the BARs are registers instead of memory: a read may return anything.
    pub registers: bool,
    open: HashMap<(u16, u8), Open>,
    image: HashMap<u64, u8>,
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            ends: Vec::new(),
            bars: 0b11,
            window: (1 << 18) - 1,
            registers: false,
            open: HashMap::new(),
            image: HashMap::new(),
        }
    }

    /// Returns the number of requests that wait for completions.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Returns whether a request of this requester and tag waits.
    pub fn waits(&self, requester: u16, tag: u8) -> bool {
        self.open.contains_key(&(requester, tag))
    }

    /// Drops everything in progress, and sets the content of memory.
    pub fn forget(&mut self, memory: &HashMap<u64, u8>) {
        self.queue.clear();
        self.open.clear();
        self.image.clone_from(memory);
    }

    /// Returns the content of memory when all writes that have begun are done.
    pub fn image(&self) -> &HashMap<u64, u8> {
        &self.image
    }

    fn byte(&self, address: u64) -> u8 {
        let address = address & self.window;
        match self.image.get(&address) {
            Some(byte) => *byte,
            None => Root::untouched(address),
        }
    }

    /// Returns whether a packet needs no answer.
    pub(super) fn is_posted(packet: &Tlp) -> bool {
        // Memory writes and messages (table 2-3).
        packet.kind() == Kind::Write || packet.header[0] >> 27 & 3 == 0b10
    }

    /// Handles the first beat of a packet that is shown to the design.
    pub(super) fn begin(&mut self, packet: &Tlp, bar: u8, now: u64, breach: &mut Vec<String>) {
        // A damaged packet cannot be answered, and the test checks the effect of a write.
        if packet.damaged.is_some() {
            return;
        }
        if Self::is_posted(packet) {
            if packet.kind() == Kind::Write
                && bar & self.bars != 0
                && packet.header[0] >> 14 & 1 == 0
            {
                self.write(packet);
            }
            return;
        }
        let is_read = packet.kind() == Kind::Read;
        let named = enabled(packet);
        let (start, count) = match (is_read, named.first(), named.last()) {
            (true, Some(first), Some(last)) => (packet.address() + first, last - first + 1),
            // A request of no byte still gets a byte count of one.
            (true, ..) => (packet.address(), 1),
            _ => (0, 4),
        };
        let may_be = (0..count)
            .map(
                |at| match named.contains(&(start + at - packet.address() * u64::from(is_read))) {
                    true if is_read && !self.registers => vec![self.byte(start + at)],
                    _ => Vec::new(),
                },
            )
            .collect();
        let key = (packet.requester(), packet.tag());
        let open = Open {
            request: packet.clone(),
            begun: now,
            start,
            count: count as u32,
            data: Vec::new(),
            may_be,
        };
        if self.open.insert(key, open).is_some() {
            breach.push(format!("the host has used {key:?} twice"));
        }
    }

    fn write(&mut self, packet: &Tlp) {
        for byte in enabled(packet) {
            let address = packet.address() + byte;
            let value = (packet.payload[(byte / 4) as usize] >> (byte % 4 * 8)) as u8;
            self.image.insert(address & self.window, value);
            // A write may pass an earlier read.
            for open in self.open.values_mut() {
                let from = open.start & self.window;
                if let Some(at) = (address & self.window).checked_sub(from)
                    && let Some(may_be) = open.may_be.get_mut(at as usize)
                    && !may_be.is_empty()
                {
                    may_be.push(value);
                }
            }
        }
    }

    /// Handles a completion from the function `completer`, which may send `payload` bytes in one.
    pub(super) fn complete(
        &mut self,
        packet: &Tlp,
        completer: u16,
        payload: u32,
        now: u64,
        breach: &mut Vec<String>,
    ) {
        let header = &packet.header;
        let key = ((header[2] >> 16) as u16, (header[2] >> 8) as u8);
        let Some(open) = self.open.get_mut(&key) else {
            breach.push(format!("a completion without a request: {header:08x?}"));
            return;
        };
        let mut check = |good: bool, what: &str| {
            if !good {
                let request = &open.request.header;
                breach.push(format!(
                    "{what} of a completion: {header:08x?} for {request:08x?}"
                ));
            }
        };
        let copied = 0x0070_0000 | 0x0004_0000 | 0x0000_3000;
        check(
            header[0] & copied == open.request.header[0] & copied,
            "class or attributes",
        );
        check(header[0] & !(copied | 0x7F00_03FF) == 0, "reserved bits");
        check(header[2] & 0x80 == 0, "reserved bits");
        check((header[1] >> 16) as u16 == completer, "completer ID");
        check(header[1] & 0x1000 == 0, "byte count modified");
        let done = open.data.len() as u32;
        let left = open.count - done;
        let at = open.start + u64::from(done);
        check(header[1] & 0xFFF == left & 0xFFF, "byte count");
        check(u64::from(header[2] & 0x7F) == at & 0x7F, "lower address");
        let status = (header[1] >> 13 & 7) as u8;
        let mut over = true;
        if status == 0 {
            check(packet.has_data(), "data");
            let length = packet.payload.len() as u32;
            check(length * 4 <= payload, "more than Max Payload Size");
            let pad = (at & 3) as u32;
            let brings = (length * 4).saturating_sub(pad).min(left);
            over = brings == left;
            if over {
                check(length == (pad + left).div_ceil(4), "length");
            } else {
                check((at + u64::from(brings)) % 128 == 0, "end");
                check(brings != 0, "no data");
            }
            let mut good = true;
            for byte in 0..brings {
                let place = pad + byte;
                let value = (packet.payload[(place / 4) as usize] >> (place % 4 * 8)) as u8;
                let may_be = &open.may_be[(done + byte) as usize];
                good &= may_be.is_empty() || may_be.contains(&value);
                open.data.push(value);
            }
            check(good, "data");
        } else {
            check(!packet.has_data() && header[0] & 0x3FF == 0, "data");
            check(status == 1 || status == 4, "status");
        }
        if over && let Some(open) = self.open.remove(&key) {
            self.ends.push(HostEnd {
                request: open.request,
                status,
                bytes: open.data.len() as u32,
                data: open.data,
                took: now - open.begun,
            });
        }
    }
}

/// Returns the bytes that a request names, as offsets from its address (section 2.2.5).
fn enabled(packet: &Tlp) -> Vec<u64> {
    let length = packet.length();
    let (first, last) = packet.enables();
    (0..u64::from(length) * 4)
        .filter(|byte| {
            let dword = (*byte / 4) as u32;
            let mask = match dword {
                0 => first,
                _ if dword + 1 == length => last,
                _ => 0xF,
            };
            mask >> (byte % 4) & 1 == 1
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dwords: u32, first: u32, last: u32) -> Tlp {
        Tlp::read(0x1000, dwords, (first, last), 0x0008, 5)
    }

    fn answer(count: u32, lower: u32, payload: Vec<u32>) -> Tlp {
        Tlp {
            header: vec![
                0x4A00_0000 | payload.len() as u32,
                0x0300_0000 | count,
                0x0008_0500 | lower,
            ],
            payload,
            damaged: None,
        }
    }

    fn dword(address: u64) -> u32 {
        let byte = |at| u32::from(Root::untouched(address + at));
        byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
    }

    fn found(request: &Tlp, answers: &[Tlp]) -> (Vec<String>, usize) {
        let mut host = Host::new();
        let mut all = Vec::new();
        host.begin(request, 1, 0, &mut all);
        for packet in answers {
            host.complete(packet, 0x0300, 128, 1, &mut all);
        }
        (all, host.open())
    }

    /// Table 2-21 of the specification: byte count by the first enables and the last.
    #[test]
    fn good_completions_break_nothing() {
        for (dwords, first, last, count, lower) in [
            (1, 0b1111, 0, 4, 0),
            (1, 0b0111, 0, 3, 0),
            (1, 0b1110, 0, 3, 1),
            (1, 0b1010, 0, 3, 1),
            (1, 0b0110, 0, 2, 1),
            (1, 0b1000, 0, 1, 3),
            (1, 0b0000, 0, 1, 0),
            (2, 0b1111, 0b1111, 8, 0),
            (2, 0b1000, 0b0001, 2, 3),
            (3, 0b1100, 0b0011, 8, 2),
        ] {
            let payload = (0..u64::from(dwords))
                .map(|n| dword(0x1000 + 4 * n))
                .collect();
            let good = answer(count, lower, payload);
            assert_eq!(
                found(&read(dwords, first, last), &[good]),
                (vec![], 0),
                "{dwords} {first:04b} {last:04b}"
            );
        }
    }

    #[test]
    fn bad_completions_break_something() {
        let data = || vec![dword(0x1000), dword(0x1004)];
        let request = read(2, 0xF, 0xF);
        let good = answer(8, 0, data());
        let change = |dword: usize, bits: u32| {
            let mut packet = good.clone();
            packet.header[dword] ^= bits;
            packet
        };
        for bad in [
            change(0, 1 << 20),
            change(0, 1 << 12),
            change(0, 1 << 14),
            change(1, 1 << 16),
            change(1, 1 << 12),
            change(1, 4),
            change(2, 4),
            change(2, 1 << 7),
            change(2, 1 << 8),
            answer(8, 0, vec![dword(0x1000), !dword(0x1004)]),
            answer(8, 0, vec![dword(0x1000)]),
            answer(8, 0, vec![dword(0x1000), dword(0x1004), 0]),
        ] {
            let (all, _) = found(&request, std::slice::from_ref(&bad));
            assert!(!all.is_empty(), "{bad:08x?}");
        }
        // One error is reported once.
        assert_eq!(found(&request, &[good.clone(), good.clone()]).0.len(), 1);
        // Cut at a place that is not allowed, and longer than a packet may be.
        let all: Vec<u32> = (0..64).map(|n| dword(0x1000 + 4 * n)).collect();
        let long = read(64, 0xF, 0xF);
        let at = |from: usize, to: usize| {
            answer(
                256 - 4 * from as u32,
                (4 * from) as u32 & 0x7F,
                all[from..to].to_vec(),
            )
        };
        assert_eq!(found(&long, &[at(0, 32), at(32, 64)]), (vec![], 0));
        assert_eq!(
            found(&long, &[at(0, 16), at(16, 48), at(48, 64)]).0.len(),
            2
        );
        assert_eq!(found(&long, &[at(0, 64)]).0.len(), 1);
    }
}
