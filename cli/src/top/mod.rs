//! The views of `peerlane top`: two samples of a board's counters, and their differences.

mod kernel;
mod screen;
mod simulated;

pub use kernel::Kernel;
pub use screen::{Screen, Woken};
pub use simulated::Simulated;

use peerlane_core::counters::{BlockCounters, ChannelCounters, DirectionCounters, LinkErrors};
use peerlane_demo::error::Error;
use serde::Serialize;
use std::time::Duration;

/// A source of samples.
pub trait Source {
    /// Returns the name of the board, for the user.
    fn name(&self) -> String;
    /// Lets the board work before the next sample; only a board with simulated time needs that.
    fn pass(&mut self) -> Result<(), Error> {
        Ok(())
    }
    /// Returns the present state of the board.
    fn sample(&mut self) -> Result<Sample, Error>;
}

/// State of a board at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// The moment, in the board's time.
    pub at: Duration,
    /// State, such as `ready`.
    pub state: String,
    /// Descriptions of the link and of the free resources.
    pub facts: Vec<String>,
    pub block: BlockCounters,
    /// Only for a block with a transaction layer of its own.
    pub link: Option<LinkErrors>,
    pub channels: Vec<Channel>,
}

/// State of a channel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Channel {
    pub counters: ChannelCounters,
    /// The process that has the channel open, if any: `app (4711)`.
    pub owner: Option<String>,
    /// Transfers or descriptors in progress, writes and reads; `None` if not known.
    pub under_way: Option<[u64; 2]>,
    /// Number of regions that have a handle.
    pub regions: Option<u64>,
}

/// Differences between two samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// The board.
    pub board: String,
    /// Its state.
    pub state: String,
    /// Descriptions of the link and of the free resources.
    pub facts: Vec<String>,
    /// Seconds between the samples, in the board's time.
    pub seconds: f64,
    /// Whether the block was reset between the samples: the numbers are then those since the reset.
    pub restarted: bool,
    /// Interrupts.
    pub interrupts_per_s: f64,
    /// Completion records.
    pub records_per_s: f64,
    /// Fractions of the time with a write descriptor in progress in which the port took nothing, or data from FPGA
    /// memory were awaited. `None` if no write descriptor was in progress.
    pub write_waits: Option<Waits>,
    /// The same for read descriptors: the maximum number was in progress, or there was no room for answers.
    pub read_waits: Option<Waits>,
    /// Failures on the link since its last reset; `None` if the block does not count them or does not answer.
    pub link_errors: Option<LinkView>,
    /// Channels that are open, or were active.
    pub channels: Vec<ChannelView>,
    /// Sum over all channels.
    pub total: [Rates; 2],
}

/// Failures on the link since its last reset; each count stops at 65535.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LinkView {
    /// Completions with Unsupported Request.
    pub unsupported: u32,
    /// Completions with Completer Abort.
    pub aborted: u32,
    /// Completions whose data are marked as poisoned.
    pub poisoned: u32,
    /// Completions that do not match their read.
    pub malformed: u32,
    /// Completions without a read.
    pub unexpected: u32,
    /// Reads that were given up. Until their answers arrive, the block works without their tags and their room.
    pub given_up: u32,
}

impl From<LinkErrors> for LinkView {
    fn from(errors: LinkErrors) -> Self {
        Self {
            unsupported: errors.unsupported,
            aborted: errors.aborted,
            poisoned: errors.poisoned,
            malformed: errors.malformed,
            unexpected: errors.unexpected,
            given_up: errors.expired,
        }
    }
}

impl LinkView {
    /// Returns descriptions of the counts that are not zero.
    pub fn words(&self) -> Vec<String> {
        [
            (self.given_up, "given up"),
            (self.unsupported, "unsupported"),
            (self.aborted, "aborted"),
            (self.poisoned, "poisoned"),
            (self.malformed, "malformed"),
            (self.unexpected, "unexpected"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
    }
}

/// Reasons why an engine waited, as fractions of the time in which it had work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Waits {
    /// Waits for the PCIe port (writes), or for the end of one of the reads in progress (reads).
    pub port: f64,
    /// Waits for FPGA memory (writes), or for room in the receive buffer (reads).
    pub memory: f64,
}

/// Activity of a channel between the samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChannelView {
    /// Its number.
    pub channel: usize,
    /// The process that has it open.
    pub owner: Option<String>,
    /// Number of regions that have a handle.
    pub regions: Option<u64>,
    /// FPGA to peer.
    pub write: Rates,
    /// Peer to FPGA.
    pub read: Rates,
}

/// Rates of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Rates {
    /// Payload.
    pub bytes_per_s: f64,
    /// Descriptors that ended, with or without success.
    pub completions_per_s: f64,
    /// Requests on the port.
    pub requests_per_s: f64,
    /// Number in progress now; `None` if not known.
    pub under_way: Option<u64>,
    /// Descriptors that failed between the samples.
    pub errors: u64,
    /// Descriptors that failed since the block's reset.
    pub errors_total: u64,
    /// Bytes since the block's reset.
    pub bytes_total: u64,
}

impl Rates {
    fn between(
        before: &DirectionCounters,
        after: &DirectionCounters,
        under_way: Option<u64>,
        seconds: f64,
    ) -> Self {
        let rate = |f: fn(&DirectionCounters) -> u64| per(since(f(before), f(after)), seconds);
        Self {
            bytes_per_s: rate(|c| c.bytes),
            completions_per_s: rate(|c| c.descriptors),
            requests_per_s: rate(|c| c.requests),
            under_way,
            errors: since(before.faults, after.faults),
            errors_total: after.faults,
            bytes_total: after.bytes,
        }
    }

    fn and(self, other: &Self) -> Self {
        Self {
            bytes_per_s: self.bytes_per_s + other.bytes_per_s,
            completions_per_s: self.completions_per_s + other.completions_per_s,
            requests_per_s: self.requests_per_s + other.requests_per_s,
            under_way: match (self.under_way, other.under_way) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
            },
            errors: self.errors + other.errors,
            errors_total: self.errors_total + other.errors_total,
            bytes_total: self.bytes_total + other.bytes_total,
        }
    }

    fn is_idle(&self) -> bool {
        self.bytes_total == 0 && self.errors_total == 0
    }
}

/// Returns the increase of a counter. A counter that is lower than before has restarted from zero.
fn since(before: u64, after: u64) -> u64 {
    after.checked_sub(before).unwrap_or(after)
}

fn per(count: u64, seconds: f64) -> f64 {
    match seconds > 0.0 {
        true => count as f64 / seconds,
        false => 0.0,
    }
}

impl View {
    /// Compares two samples of a board, the older first.
    pub fn between(board: String, before: &Sample, after: &Sample) -> Self {
        let seconds = after.at.saturating_sub(before.at).as_secs_f64();
        let nothing = Channel::default();
        let channels: Vec<ChannelView> = after
            .channels
            .iter()
            .enumerate()
            .map(|(number, channel)| {
                let old = &before.channels.get(number).unwrap_or(&nothing).counters;
                let under_way = |way: usize| channel.under_way.map(|both| both[way]);
                let new = &channel.counters;
                ChannelView {
                    channel: number,
                    owner: channel.owner.clone(),
                    regions: channel.regions,
                    write: Rates::between(&old.write, &new.write, under_way(0), seconds),
                    read: Rates::between(&old.read, &new.read, under_way(1), seconds),
                }
            })
            .collect();
        let total = channels
            .iter()
            .fold([Rates::default(); 2], |[w, r], channel| {
                [w.and(&channel.write), r.and(&channel.read)]
            });
        let (old, new) = (&before.block, &after.block);
        let of = |f: fn(&BlockCounters) -> u64| since(f(old), f(new));
        let waits = |busy: u64, port: u64, memory: u64| {
            let part = |count: u64| count as f64 / busy as f64;
            (busy > 0).then(|| Waits {
                port: part(port),
                memory: part(memory),
            })
        };
        Self {
            board,
            state: after.state.clone(),
            facts: after.facts.clone(),
            seconds,
            restarted: new.irqs < old.irqs || new.records < old.records,
            interrupts_per_s: per(of(|c| c.irqs), seconds),
            records_per_s: per(of(|c| c.records), seconds),
            write_waits: waits(
                of(|c| c.write_busy),
                of(|c| c.stall_txs),
                of(|c| c.stall_mem_read),
            ),
            read_waits: waits(
                of(|c| c.read_busy),
                of(|c| c.stall_tags),
                of(|c| c.stall_credits),
            ),
            link_errors: after.link.map(LinkView::from),
            channels: (channels.into_iter())
                .filter(|c| c.owner.is_some() || !(c.write.is_idle() && c.read.is_idle()))
                .collect(),
            total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(bytes: u64, descriptors: u64, faults: u64) -> DirectionCounters {
        DirectionCounters {
            bytes,
            descriptors,
            faults,
            ..DirectionCounters::default()
        }
    }

    fn sample(ms: u64, irqs: u64, write: DirectionCounters) -> Sample {
        let channel = Channel {
            counters: ChannelCounters {
                write,
                read: DirectionCounters::default(),
            },
            owner: Some("app (7)".into()),
            under_way: Some([3, 0]),
            regions: Some(2),
        };
        Sample {
            at: Duration::from_millis(ms),
            state: "ready".into(),
            block: BlockCounters {
                irqs,
                write_busy: irqs * 100,
                stall_txs: irqs * 25,
                ..BlockCounters::default()
            },
            channels: vec![channel, Channel::default()],
            ..Sample::default()
        }
    }

    #[test]
    fn rates_are_what_was_counted_over_the_time_between() {
        let before = sample(1000, 10, direction(1 << 20, 100, 1));
        let after = sample(1500, 30, direction(3 << 20, 150, 4));
        let view = View::between("b".into(), &before, &after);
        // The second channel is not open and was not active.
        assert_eq!(view.channels.len(), 1);
        let write = view.channels[0].write;
        assert_eq!(write.bytes_per_s, f64::from(4 << 20));
        assert_eq!((write.completions_per_s, write.errors), (100.0, 3));
        assert_eq!((write.errors_total, write.under_way), (4, Some(3)));
        assert_eq!(view.interrupts_per_s, 40.0);
        assert_eq!(view.total[0].bytes_total, 3 << 20);
        assert_eq!(view.write_waits.unwrap().port, 0.25);
        assert_eq!(view.read_waits, None);
        assert!(!view.restarted);
    }

    #[test]
    fn only_what_has_failed_on_the_link_is_said() {
        let mut at = Sample::default();
        let view = |at: &Sample| View::between("b".into(), at, at).link_errors;
        assert_eq!(view(&at), None);
        at.link = Some(LinkErrors::default());
        assert_eq!(view(&at).unwrap().words(), [""; 0]);
        let errors = LinkErrors {
            poisoned: 2,
            expired: 3,
            ..LinkErrors::default()
        };
        at.link = Some(errors);
        let said = view(&at).unwrap().words();
        assert_eq!(said, ["3 given up", "2 poisoned"]);
    }

    #[test]
    fn counters_that_began_anew_are_no_huge_rates() {
        let before = sample(0, 1000, direction(1 << 40, 9, 0));
        let after = sample(1000, 5, direction(4096, 1, 0));
        let view = View::between("b".into(), &before, &after);
        assert!(view.restarted);
        assert_eq!(view.channels[0].write.bytes_per_s, 4096.0);
        // Two samples of the same moment.
        let view = View::between("b".into(), &after, &after);
        assert_eq!(view.channels[0].write.bytes_per_s, 0.0);
    }
}
