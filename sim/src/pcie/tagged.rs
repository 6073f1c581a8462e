//! Tagged reads, for every kind of port: completions come in any order of the tags.

use std::collections::VecDeque;

use super::{
    Kind, Pcie,
    read::{look, spoil},
};
use crate::{
    bus::{Answer, Bus},
    link::{COMPLETION_HEADER_BYTES, FRAMING_BYTES, dwords},
    violation::Log,
};

/// Number of tags of the port: 0 to 63 for payload, 64 to 71 for flush reads.
pub(crate) const TAGS: usize = 72;

/// Width of the widest stream port in bytes.
pub(crate) const WIDEST: usize = 32;

#[derive(Debug)]
struct Request {
    tag: u8,
    slot: u32,
    address: u64,
    len: u32,
    /// Number of bytes whose completions have left.
    done: u32,
    sample_at: u64,
    sampled: bool,
    ready: u64,
    answer: Option<Answer>,
    /// First byte that a failing answer affects.
    fails_from: u32,
}

impl Request {
    /// Returns the answer that comes, in place of data, with a completion that ends at `end`.
    fn failure(&self, end: u32) -> Option<Answer> {
        self.answer.filter(|answer| {
            (*answer == Answer::Never || answer.code() != 0) && self.fails_from < end
        })
    }
}

/// A completion on its way.
#[derive(Debug)]
pub(super) struct Completion {
    pub(super) tag: u8,
    pub(super) slot: u32,
    /// Offset of its data in the slot.
    pub(super) offset: u32,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) code: u8,
    /// Bytes of the read that are still missing, this completion included. `cut` is the number of them that come with
    /// it, or that its failure affects.
    pub(super) left: u32,
    pub(super) cut: u32,
    pub(super) last: bool,
    pub(super) at: u64,
}

/// A completion that arrives at the bridge.
#[derive(Debug)]
pub(crate) struct Arrived<'a> {
    pub tag: u8,
    /// Address of its first byte.
    pub address: u64,
    /// Whether its byte count equals its length.
    pub last: bool,
    /// The data; empty if the status is a failure.
    pub data: &'a [u8],
}

/// A beat of a completion on the port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beat {
    pub tag: u8,
    pub first: bool,
    /// Length of the completion in bytes.
    pub bytes: u32,
    pub code: u8,
    pub data: [u8; WIDEST],
}

#[derive(Debug)]
pub(super) struct Tagged {
    /// Time at which the read of each tag in use was accepted.
    owed: [Option<u64>; TAGS],
    pub(super) outstanding: usize,
    /// Requests in the order of their acceptance.
    requests: Vec<Request>,
    completions: VecDeque<Completion>,
    /// Bytes of the first completion that the port has already shown.
    given: u32,
    last_ready: u64,
    /// Times at which the requests that are still on the link will have crossed it.
    crossing: VecDeque<u64>,
}

impl Tagged {
    pub(super) fn new() -> Self {
        Self {
            owed: [None; TAGS],
            outstanding: 0,
            requests: Vec::with_capacity(TAGS),
            completions: VecDeque::with_capacity(TAGS),
            given: 0,
            last_ready: 0,
            crossing: VecDeque::with_capacity(TAGS),
        }
    }

    /// Whether no completion is due any more.
    pub(super) fn quiet(&self) -> bool {
        self.requests.is_empty() && self.completions.is_empty()
    }

    /// Returns the next completion, if it has crossed the link.
    pub(super) fn front(&self, now: u64) -> Option<&Completion> {
        self.completions
            .front()
            .filter(|completion| completion.at <= now)
    }

    /// Drops all requests and completions; returns the slots that were in use.
    pub(super) fn reset(&mut self) -> Vec<u32> {
        let waiting = self.requests.iter().map(|request| request.slot);
        let ending = self.completions.iter().filter(|completion| completion.last);
        let slots = waiting
            .chain(ending.map(|completion| completion.slot))
            .collect();
        *self = Self::new();
        slots
    }
}

impl Pcie {
    /// Whether the number of read requests that wait for the link is at its limit.
    #[inline]
    pub(crate) fn asks_full(&self) -> bool {
        self.shape.link && self.tagged.crossing.len() >= self.stream.ask_buffer as usize
    }

    /// Accepts a read of 1 to 512 bytes within 4 KiB, given as address and length; returns `false`, and changes
    /// nothing, if its tag is in use. `whole` is an injected fault that affects the whole read.
    pub(crate) fn ask(
        &mut self,
        now: u64,
        tag: u8,
        (address, len): (u64, u32),
        whole: Option<Answer>,
        bus: &mut Bus,
    ) -> bool {
        if self.tagged.owed[usize::from(tag)].is_some() {
            return false;
        }
        let slot = self.slot();
        let sent = self.put_request(now, address, len, whole, bus);
        let mut ready = sent.ready;
        if self.shape.reorder > 0 {
            ready += self.rng.up_to(self.shape.reorder);
        }
        let in_order = self.stream.reorder == 0 && self.shape.reorder == 0;
        if in_order && !matches!(sent.answer, Some(Answer::Late(_))) {
            ready = ready.max(self.tagged.last_ready);
            self.tagged.last_ready = ready;
        }
        let tagged = &mut self.tagged;
        tagged.owed[usize::from(tag)] = Some(now);
        tagged.outstanding += 1;
        tagged.crossing.push_back(sent.crossed);
        tagged.requests.push(Request {
            tag,
            slot,
            address,
            len,
            done: 0,
            sample_at: sent.sample_at,
            sampled: false,
            ready,
            answer: sent.answer,
            fails_from: (sent.fails_at - address) as u32,
        });
        true
    }

    /// Carries out everything that is due.
    #[inline]
    pub(super) fn advance_tagged(&mut self, now: u64, cycle: u64, bus: &mut Bus, log: &mut Log) {
        let tagged = &mut self.tagged;
        while tagged.crossing.front().is_some_and(|end| *end <= now) {
            tagged.crossing.pop_front();
        }
        for request in &mut tagged.requests {
            if !request.sampled && request.sample_at <= now {
                request.sampled = true;
                let data = &mut self.slots[request.slot as usize][..request.len as usize];
                // Where no memory is mapped, no data are read.
                data.fill(0xEE);
                if !look(
                    data,
                    request.address,
                    &mut request.answer,
                    (cycle, bus, log),
                ) {
                    request.fails_from = 0;
                }
                // A code takes precedence over all-ones, and the completions before it have data.
                if let Some(answer) = request.answer.filter(|answer| answer.code() == 0) {
                    spoil(data, answer, &mut self.rng);
                }
            }
        }
        // The next completion is chosen only when there is room for it, so that several requests can be ready by then.
        while (if self.shape.link {
            self.rx_free <= now
        } else {
            self.tagged.completions.is_empty()
        }) && let Some(chosen) = self.choose(now)
        {
            self.complete_tagged(chosen);
        }
    }

    /// Returns a request whose next completion may leave.
    fn choose(&mut self, now: u64) -> Option<usize> {
        let is_ready = |request: &Request| request.ready <= now;
        let requests = &self.tagged.requests;
        let oldest = requests.iter().position(is_ready)?;
        if !self.rng.chance(self.stream.reorder) {
            return Some(oldest);
        }
        let ready = requests.iter().enumerate().filter(|(_, one)| is_ready(one));
        let count = ready.clone().count() as u64;
        let any = self.rng.up_to(count - 1) as usize;
        ready.map(|(n, _)| n).nth(any)
    }

    /// Sends the next completion of a request.
    fn complete_tagged(&mut self, chosen: usize) {
        let request = &self.tagged.requests[chosen];
        let (tag, slot, ready) = (request.tag, request.slot, request.ready);
        let (offset, left) = (request.done, request.len - request.done);
        let address = request.address + u64::from(offset);
        let bytes = self.cut(address, left);
        let request = &mut self.tagged.requests[chosen];
        let failure = request.failure(offset + bytes);
        request.done += bytes;
        // A poisoned packet has its data, and the read continues with further packets.
        let goes_on = self.shape.kind != Kind::Stream && failure == Some(Answer::Poisoned);
        let last = (failure.is_some() && !goes_on) || bytes == left;
        if last {
            let request = self.tagged.requests.remove(chosen);
            let data = matches!(request.answer, None | Some(Answer::Late(_)));
            self.stats.reads_failed += u64::from(!data);
        }
        if failure == Some(Answer::Never) {
            // The tag stays in use for ever.
            self.free.push(slot);
            return;
        }
        let payload = match failure {
            // A poisoned completion nevertheless has its data.
            None | Some(Answer::Poisoned) => dwords(address, bytes) * 4,
            Some(_) => 0,
        };
        let at = self.receive(ready, COMPLETION_HEADER_BYTES + FRAMING_BYTES + payload);
        self.tagged.completions.push_back(Completion {
            tag,
            slot,
            offset,
            address,
            bytes: if failure.is_some() { 0 } else { bytes },
            code: failure.map_or(0, Answer::code),
            left,
            cut: bytes,
            last,
            at,
        });
    }

    /// Returns the length of the next completion of a read that has `left` bytes to come, from `address` on.
    fn cut(&mut self, address: u64, left: u32) -> u32 {
        let most = self.completion(address, left);
        let rcb = self.link.read_completion_boundary;
        let least = rcb - (address % u64::from(rcb)) as u32;
        if most <= least || !self.rng.chance(self.stream.short_completions) {
            return most;
        }
        let more = self.rng.up_to(u64::from((most - 1 - least) / rcb)) as u32;
        least + more * rcb
    }

    /// Passes the next completion, if it has crossed the link, to the bridge, which has no codes.
    #[inline]
    pub(crate) fn hand_completion(&mut self, now: u64, take: impl FnOnce(&Arrived<'_>)) {
        let Some(completion) = self.tagged.front(now) else {
            return;
        };
        let data = match completion.code {
            1 | 2 => 0..0,
            _ => completion.offset as usize..(completion.offset + completion.cut) as usize,
        };
        take(&Arrived {
            tag: completion.tag,
            address: completion.address,
            last: completion.left == completion.cut,
            data: &self.slots[completion.slot as usize][data],
        });
        self.given_out(now);
    }

    /// Returns the next beat for the port, if there is one.
    #[inline]
    pub(crate) fn answer(&mut self, now: u64) -> Option<Beat> {
        let completion = self.tagged.completions.front()?;
        if completion.at > now || self.rng.chance(self.stream.answer_gaps) {
            return None;
        }
        let given = self.tagged.given;
        let lane = ((completion.address + u64::from(given)) % u64::from(self.shape.width)) as u32;
        let take = (self.shape.width - lane).min(completion.bytes - given);
        let mut beat = Beat {
            tag: completion.tag,
            first: given == 0,
            bytes: completion.bytes,
            code: completion.code,
            data: [0xEE; WIDEST],
        };
        let from = (completion.offset + given) as usize;
        beat.data[lane as usize..][..take as usize]
            .copy_from_slice(&self.slots[completion.slot as usize][from..][..take as usize]);
        self.tagged.given += take;
        if self.tagged.given == completion.bytes {
            self.given_out(now);
        }
        Some(beat)
    }

    /// Removes the first completion, whose last beat has been shown.
    pub(super) fn given_out(&mut self, now: u64) {
        self.tagged.given = 0;
        let Some(completion) = self.tagged.completions.pop_front() else {
            return;
        };
        self.stats.rx_payload += u64::from(completion.bytes);
        if completion.last {
            let accepted = self.tagged.owed[usize::from(completion.tag)].take();
            self.tagged.outstanding -= 1;
            self.free.push(completion.slot);
            if self.shape.kind != Kind::Txs {
                self.stats.read_done(now - accepted.unwrap_or(now));
            }
        }
    }
}
