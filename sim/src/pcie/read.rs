//! Reads of `Txs`: requests, the completer, completions, and the words given out.

use super::{BURST, Pcie, index};
use crate::{
    bus::{Answer, Bus},
    link::{COMPLETION_HEADER_BYTES, FRAMING_BYTES, FS_PER_NS, dwords, request_bytes},
    rng::Rng,
    violation::Log,
};

/// What becomes of a read request that is put on the link.
#[derive(Debug)]
pub(super) struct Sent {
    /// When it has crossed the link.
    pub(super) crossed: u64,
    /// When the completer looks at its memory, at the earliest.
    pub(super) sample_at: u64,
    /// When its first completion may start on the link, at the earliest.
    pub(super) ready: u64,
    pub(super) answer: Option<Answer>,
    /// First address that an injected fault hits.
    pub(super) fails_at: u64,
}

#[derive(Debug)]
pub(super) struct ReadRequest {
    /// Number of the Avalon read it belongs to.
    pub(super) read: u64,
    /// Where its data go in that read's buffer.
    pub(super) offset: u32,
    pub(super) address: u64,
    pub(super) len: u32,
    /// When the completer looks at its memory.
    pub(super) sample_at: u64,
    /// When its first completion may start on the link.
    pub(super) ready: u64,
    pub(super) answer: Option<Answer>,
}

#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) at: u64,
    pub(super) read: u64,
    /// Bytes of the read's buffer that are there from then on.
    pub(super) available: u32,
    /// Payload of the packet.
    pub(super) payload: u32,
}

#[derive(Debug)]
pub(super) struct AvalonRead {
    pub(super) slot: u32,
    pub(super) beats: u32,
    pub(super) delivered: u32,
    pub(super) available: u32,
    /// Bytes that will ever be there: a completion that never comes ends it.
    pub(super) limit: u32,
    pub(super) accepted: u64,
}

/// The completer looks at its memory for a request; `false` when nothing is there, which decides
/// what it answers.
pub(super) fn look(
    data: &mut [u8],
    address: u64,
    answer: &mut Option<Answer>,
    (cycle, bus, log): (u64, &mut Bus, &mut Log),
) -> bool {
    let there = bus.read(address, data, cycle, log);
    if !there && matches!(answer, None | Some(Answer::Late(_))) {
        *answer = Some(bus.unmapped_answer());
    }
    there
}

/// What comes in place of data.
pub(super) fn spoil(data: &mut [u8], answer: Answer, rng: &mut Rng) {
    match answer {
        Answer::Garbage => {
            for byte in data {
                *byte = rng.next() as u8;
            }
        }
        Answer::AllOnes | Answer::Unsupported | Answer::Abort | Answer::Poisoned => data.fill(0xFF),
        Answer::Never | Answer::Late(_) => {}
    }
}

impl Pcie {
    /// A read is accepted: `burst` words from `address`, of which a single one may be partial.
    pub(crate) fn read(&mut self, now: u64, address: u64, burst: u32, enable: u64, bus: &mut Bus) {
        let slot = self.slot();
        // Bytes that are not asked for come back as anything.
        self.slots[slot as usize].fill(0xEE);
        let total = (burst.max(1) * self.shape.width).min(BURST as u32);
        let (mut offset, end) = if burst == 1 && enable != 0 {
            (enable.trailing_zeros(), 64 - enable.leading_zeros())
        } else {
            (0, total)
        };
        let number = self.first_read + self.reads.len() as u64;
        let whole = bus.fault_of_read();
        while offset < end {
            let at = address.wrapping_add(u64::from(offset));
            let to_4k = 4096 - (at % 4096) as u32;
            let len = (end - offset)
                .min(self.link.read_request_bytes())
                .min(to_4k);
            self.request(now, number, offset, at, len, whole, bus);
            offset += len;
        }
        self.reads.push_back(AvalonRead {
            slot,
            beats: total / self.shape.width,
            delivered: 0,
            available: 0,
            limit: u32::MAX,
            accepted: now,
        });
    }

    #[expect(clippy::too_many_arguments, reason = "one call, all of it different")]
    fn request(
        &mut self,
        now: u64,
        read: u64,
        offset: u32,
        address: u64,
        len: u32,
        whole: Option<Answer>,
        bus: &mut Bus,
    ) {
        let mut sent = self.put_request(now, address, len, whole, bus);
        if sent.answer == Some(Answer::Never) && self.txs.completion_timeout_ns > 0 {
            let limit = self.txs.completion_timeout_ns.saturating_mul(FS_PER_NS);
            sent.ready = sent.ready.max(now.saturating_add(limit));
            sent.answer = Some(Answer::AllOnes);
        }
        // In order, so none before the one in front of it.
        let sample_at = sent.sample_at.max(self.last_sample);
        self.last_sample = sample_at;
        self.requests.push_back(ReadRequest {
            read,
            offset,
            address,
            len,
            sample_at,
            ready: sent.ready.max(sample_at),
            answer: sent.answer,
        });
    }

    /// Puts a read request on the link, behind the writes accepted before it.
    pub(super) fn put_request(
        &mut self,
        now: u64,
        address: u64,
        len: u32,
        whole: Option<Answer>,
        bus: &mut Bus,
    ) -> Sent {
        let target = index(bus.target(address));
        let crossed = self.send(now, request_bytes(address));
        self.stats.read_requests += 1;
        let jitter = u64::from(self.link.read_jitter_ns) * FS_PER_NS;
        let mut latency = self.latency[target] + self.rng.up_to(jitter);
        let fault = whole
            .map(|answer| (answer, address))
            .or_else(|| bus.fault_of_request(address, len));
        if let Some((Answer::Late(ns), _)) = fault {
            latency = latency.saturating_add(ns.saturating_mul(FS_PER_NS));
        }
        // Half of the way there, and not before the writes it must not pass.
        let sample_at = (crossed + latency / 2).max(self.last_write[target]);
        Sent {
            crossed,
            sample_at,
            ready: (crossed + latency).max(sample_at),
            answer: fault.map(|(answer, _)| answer),
            fails_at: fault.map_or(address, |(_, at)| at),
        }
    }

    /// The completer looks at its memory for the requests that have reached it.
    pub(super) fn sample(&mut self, now: u64, cycle: u64, bus: &mut Bus, log: &mut Log) {
        while let Some(request) = self.requests.get_mut(self.sampled)
            && request.sample_at <= now
        {
            self.sampled += 1;
            let Some(read) = self.reads.get((request.read - self.first_read) as usize) else {
                continue;
            };
            let range = request.offset as usize..(request.offset + request.len) as usize;
            let data = &mut self.slots[read.slot as usize][range];
            look(
                data,
                request.address,
                &mut request.answer,
                (cycle, bus, log),
            );
            if let Some(answer) = request.answer {
                spoil(data, answer, &mut self.rng);
            }
        }
    }

    /// Completions leave for the requests that are ready, in order.
    pub(super) fn complete(&mut self, now: u64) {
        while self.sampled > 0
            && let Some(request) = self.requests.front()
            && request.ready <= now
        {
            let (read, address, len) = (request.read, request.address, request.len);
            let (offset, ready, answer) = (request.offset, request.ready, request.answer);
            self.requests.pop_front();
            self.sampled -= 1;
            let overhead = COMPLETION_HEADER_BYTES + FRAMING_BYTES;
            match answer {
                Some(Answer::Never) => {
                    self.stats.reads_failed += 1;
                    if let Some(read) = self.reads.get_mut((read - self.first_read) as usize) {
                        read.limit = read.limit.min(offset);
                    }
                }
                Some(
                    Answer::AllOnes
                    | Answer::Garbage
                    | Answer::Unsupported
                    | Answer::Abort
                    | Answer::Poisoned,
                ) => {
                    // A completion without data.
                    self.stats.reads_failed += 1;
                    let at = self.receive(ready, overhead);
                    self.arrive(at, read, offset + len, 0);
                }
                Some(Answer::Late(_)) | None => {
                    let mut done = 0;
                    while done < len {
                        let from = address + u64::from(done);
                        let chunk = self.completion(from, len - done);
                        done += chunk;
                        let at = self.receive(ready, overhead + dwords(from, chunk) * 4);
                        self.arrive(at, read, offset + done, chunk);
                    }
                }
            }
        }
    }

    /// Length of the next completion: up to `completion_bytes`, its end on an RCB boundary.
    pub(super) fn completion(&self, address: u64, left: u32) -> u32 {
        let rcb = u64::from(self.link.read_completion_boundary);
        let whole = u64::from(self.link.completion_bytes) - address % rcb;
        left.min(whole as u32)
    }

    fn arrive(&mut self, at: u64, read: u64, available: u32, payload: u32) {
        self.arrivals.push_back(Arrival {
            at,
            read,
            available,
            payload,
        });
    }

    /// The next read word for `Txs`, if it is there.
    #[inline]
    pub(crate) fn deliver(&mut self, now: u64) -> Option<&[u8]> {
        let width = self.shape.width;
        let read = self.reads.front_mut()?;
        let from = read.delivered * width;
        // A single word with few enables is there when its last enabled byte is.
        let wanted = if read.beats == 1 { 1 } else { from + width };
        if read.available < wanted {
            return None;
        }
        if self.txs.response_gaps > 0 && self.rng.chance(self.txs.response_gaps) {
            return None;
        }
        read.delivered += 1;
        let slot = read.slot;
        if read.delivered == read.beats {
            let took = now - read.accepted;
            self.stats.read_done(took);
            self.reads.pop_front();
            self.first_read += 1;
            self.free.push(slot);
        }
        self.slots
            .get(slot as usize)
            .and_then(|slot| slot.get(from as usize..(from + width) as usize))
    }
}
