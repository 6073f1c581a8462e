//! The completer: the time at which it reads its memory, its answers, and their cuts.

use super::{Pcie, index};
use crate::{
    bus::{Answer, Bus},
    link::{FS_PER_NS, request_bytes},
    rng::Rng,
    violation::Log,
};

/// A read request that was put on the link, and its times.
#[derive(Debug)]
pub(super) struct Sent {
    /// Time at which it has crossed the link.
    pub(super) crossed: u64,
    /// Earliest time at which the completer reads its memory.
    pub(super) sample_at: u64,
    /// Earliest time at which its first completion may start on the link.
    pub(super) ready: u64,
    pub(super) answer: Option<Answer>,
    /// First address that an injected fault hits.
    pub(super) fails_at: u64,
}

/// Reads the completer's memory for a request; returns `false` if no memory is there, which decides the answer.
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

/// Replaces the data by those of a faulty answer.
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
    /// Puts a read request on the link, after the writes that were accepted before it.
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
        // After half of the latency, and not before the writes that it must not pass.
        let sample_at = (crossed + latency / 2).max(self.last_write[target]);
        Sent {
            crossed,
            sample_at,
            ready: (crossed + latency).max(sample_at),
            answer: fault.map(|(answer, _)| answer),
            fails_at: fault.map_or(address, |(_, at)| at),
        }
    }

    /// Returns the length of the next completion: up to `completion_bytes`, with its end on an RCB boundary.
    pub(super) fn completion(&self, address: u64, left: u32) -> u32 {
        let rcb = u64::from(self.link.read_completion_boundary);
        let whole = u64::from(self.link.completion_bytes) - address % rcb;
        left.min(whole as u32)
    }
}
