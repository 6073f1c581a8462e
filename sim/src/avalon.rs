//! The rules of an Avalon-MM master, checked at every clock edge.

use crate::violation::{Clock, Log, Rule};

/// Signals of a master at a clock edge, and the slave's answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub read: bool,
    pub write: bool,
    pub address: u64,
    pub burst: u32,
    pub enable: u64,
    pub data: &'a [u32],
    pub wait: bool,
}

/// The event that was accepted at the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    None,
    Read {
        address: u64,
        burst: u32,
        enable: u64,
    },
    Write {
        /// Address of this beat.
        address: u64,
        enable: u64,
        first: bool,
        last: bool,
    },
}

/// Byte enables that a slave accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enables {
    /// All byte enables.
    Any,
    /// Those of `Txs`: see [`Checker::enables_allowed`].
    Txs,
}

/// The rules of one port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Prefix of the signals (`txs`).
    pub name: &'static str,
    pub clock: Clock,
    /// Width of the data in bytes.
    pub width: u32,
    /// Largest burst in bytes.
    pub max_burst: u32,
    pub enables: Enables,
    pub forbid_4k: bool,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    read: bool,
    write: bool,
    address: u64,
    burst: u32,
    enable: u64,
}

#[derive(Debug, Clone, Copy)]
struct Burst {
    /// Address of the next beat.
    next: u64,
    /// Beats still to come.
    left: u32,
    total: u32,
}

/// Follows one master.
#[derive(Debug)]
pub(crate) struct Checker {
    rules: Rules,
    held: Option<Held>,
    held_data: [u32; 16],
    burst: Option<Burst>,
}

/// Returns the byte enables of a whole word.
pub(crate) fn full(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// Returns whether the set bits are adjacent, and there is at least one.
pub(crate) fn adjacent(mask: u64) -> bool {
    let low = mask >> mask.trailing_zeros().min(63);
    mask != 0 && low & low.wrapping_add(1) == 0
}

/// Returns whether every dword is enabled as a whole or not at all.
fn whole_dwords(mask: u64) -> bool {
    (0..16).all(|dword| matches!(mask >> (dword * 4) & 15, 0 | 15))
}

impl Checker {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            held: None,
            held_data: [0; 16],
            burst: None,
        }
    }

    /// Drops the request that is held.
    pub(crate) fn forget_held(&mut self) {
        self.held = None;
    }

    /// Drops all requests in progress (reset).
    pub(crate) fn reset(&mut self) {
        self.held = None;
        self.burst = None;
    }

    fn signal(&self, suffix: &str) -> String {
        format!("{}_{suffix}", self.rules.name)
    }

    /// Handles one clock edge.
    #[inline]
    pub(crate) fn step(&mut self, cycle: u64, request: &Request<'_>, log: &mut Log) -> Event {
        if let Some(held) = self.held {
            self.check_stable(cycle, &held, request, log);
        } else if !request.read && !request.write {
            return Event::None;
        } else {
            self.check_new(cycle, request, log);
        }
        if !request.read && !request.write {
            self.held = None;
            return Event::None;
        }
        if request.wait {
            self.held = Some(Held {
                read: request.read,
                write: request.write,
                address: request.address,
                burst: request.burst,
                enable: request.enable,
            });
            let data = &mut self.held_data;
            for (held, word) in data.iter_mut().zip(request.data) {
                *held = *word;
            }
            return Event::None;
        }
        self.held = None;
        if request.write {
            self.accept_write(request)
        } else {
            Event::Read {
                address: request.address,
                burst: request.burst,
                enable: request.enable,
            }
        }
    }

    fn accept_write(&mut self, request: &Request<'_>) -> Event {
        let first = self.burst.is_none();
        let burst = self.burst.get_or_insert(Burst {
            next: request.address,
            left: request.burst.max(1),
            total: request.burst.max(1),
        });
        let address = burst.next;
        burst.next = burst.next.wrapping_add(u64::from(self.rules.width));
        burst.left -= 1;
        let last = burst.left == 0;
        if last {
            self.burst = None;
        }
        Event::Write {
            address,
            enable: request.enable,
            first,
            last,
        }
    }

    fn check_stable(&self, cycle: u64, held: &Held, request: &Request<'_>, log: &mut Log) {
        let mut changed = |suffix: &str, before: u64, now: u64| {
            if before != now {
                log.add(
                    self.rules.clock,
                    cycle,
                    self.signal(suffix),
                    Rule::StableWhileWaiting,
                    format!("{before:#x} became {now:#x}"),
                );
            }
        };
        changed("read", held.read.into(), request.read.into());
        changed("write", held.write.into(), request.write.into());
        if !request.read && !request.write {
            return;
        }
        changed("address", held.address, request.address);
        changed("burstcount", held.burst.into(), request.burst.into());
        changed("byteenable", held.enable, request.enable);
        if held.write {
            for (before, now) in self.held_data.iter().zip(request.data) {
                if before != now {
                    changed("writedata", u64::from(*before), u64::from(*now));
                    break;
                }
            }
        }
    }

    /// Checks a request at its first edge.
    fn check_new(&self, cycle: u64, request: &Request<'_>, log: &mut Log) {
        let rules = &self.rules;
        let mut report = |suffix: &str, rule: Rule, detail: String| {
            let signal = self.signal(suffix);
            log.add(rules.clock, cycle, signal, rule, detail);
        };
        if request.read && request.write {
            report("read", Rule::ReadAndWrite, "both 1".to_owned());
        }
        if let Some(burst) = self.burst {
            if request.read {
                let detail = format!("read with {} write beats to come", burst.left);
                report("read", Rule::BurstInterrupted, detail);
            } else if !self.enables_allowed(request, burst.total, burst.left == 1) {
                let detail = format!(
                    "{:#x} in beat {} of {}",
                    request.enable,
                    burst.total - burst.left + 1,
                    burst.total
                );
                report("byteenable", Rule::ByteEnable, detail);
            }
            return;
        }
        let bytes = u64::from(request.burst) * u64::from(rules.width);
        if bytes == 0 || bytes > u64::from(rules.max_burst) {
            let detail = format!("{} words of {} bytes", request.burst, rules.width);
            report("burstcount", Rule::BurstCount, detail);
        }
        if !request.address.is_multiple_of(u64::from(rules.width)) {
            let detail = format!("{:#x}, width {} bytes", request.address, rules.width);
            report("address", Rule::AddressAlignment, detail);
        }
        if rules.forbid_4k && bytes > 0 && request.address % 4096 + bytes > 4096 {
            let detail = format!("{bytes} bytes at {:#x}", request.address);
            report("address", Rule::Crosses4K, detail);
        }
        if !self.enables_allowed(request, request.burst, request.burst == 1) {
            let detail = format!("{:#x} in beat 1 of {}", request.enable, request.burst);
            report("byteenable", Rule::ByteEnable, detail);
        }
    }

    /// Returns whether the peer gets, or is asked for, exactly the enabled bytes: adjacent whole dwords, up to the last
    /// one of a burst's first beat and from the first one of its last beat on ([`crate::bridge`]). Reads of more than
    /// one beat enable all bytes (user guide 683411, A.4.3).
    fn enables_allowed(&self, request: &Request<'_>, total: u32, last: bool) -> bool {
        if self.rules.enables == Enables::Any {
            return true;
        }
        let mask = request.enable;
        let all = full(self.rules.width);
        let run = adjacent(mask) && whole_dwords(mask);
        if total == 1 {
            run
        } else if request.read {
            mask == all
        } else if last {
            run && mask & 1 == 1
        } else if self.burst.is_none() {
            run && mask >> (self.rules.width - 1) == 1
        } else {
            mask == all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        name: "txs",
        clock: Clock::Pcie,
        width: 16,
        max_burst: 512,
        enables: Enables::Txs,
        forbid_4k: true,
    };

    fn request(write: bool, address: u64, burst: u32, enable: u64) -> Request<'static> {
        Request {
            read: !write,
            write,
            address,
            burst,
            enable,
            data: &[1, 2, 3, 4],
            wait: false,
        }
    }

    /// Returns the rules that a sequence of edges breaks.
    fn broken(rules: Rules, edges: &[Request<'_>]) -> Vec<(Rule, String)> {
        let (mut checker, mut log) = (Checker::new(rules), Log::default());
        for (cycle, edge) in edges.iter().enumerate() {
            checker.step(cycle as u64, edge, &mut log);
        }
        match log.take() {
            Err(crate::Error::Violations { list, .. }) => list
                .into_iter()
                .map(|violation| (violation.rule, violation.signal))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn one(edge: Request<'_>) -> Vec<Rule> {
        broken(RULES, &[edge])
            .into_iter()
            .map(|(rule, _)| rule)
            .collect()
    }

    #[test]
    fn single_reads_take_runs_of_dwords() {
        // The ten patterns of A.4.3, and no others.
        let legal = [
            0xF000, 0x0F00, 0x00F0, 0x000F, 0xFF00, 0x0FF0, 0x00FF, 0xFFF0, 0x0FFF, 0xFFFF,
        ];
        for mask in 0..=0xFFFF_u64 {
            let ok = one(request(false, 0, 1, mask)).is_empty();
            assert_eq!(ok, legal.contains(&mask), "{mask:#x}");
        }
        assert_eq!(one(request(false, 0, 2, 0x0FFF)), [Rule::ByteEnable]);
        assert!(one(request(false, 0, 2, 0xFFFF)).is_empty());
    }

    #[test]
    fn write_enables_are_whole_dwords_and_partial_only_at_the_ends() {
        assert_eq!(one(request(true, 0, 1, 0x0101)), [Rule::ByteEnable]);
        assert_eq!(one(request(true, 0, 1, 0)), [Rule::ByteEnable]);
        assert_eq!(one(request(true, 0, 2, 0xFFFE)), [Rule::ByteEnable]);
        let last = |mask| {
            broken(
                RULES,
                &[request(true, 0, 2, 0xFFFF), request(true, 0, 2, mask)],
            )
            .is_empty()
        };
        assert!(last(0xFFFF) && last(0x0FFF) && last(0x00FF) && last(0x000F));
        assert!(!last(0x01FF) && !last(0xFF00) && !last(0xF0FF) && !last(0));
        assert!(one(request(true, 0, 1, 0x0FF0)).is_empty());
        for mask in [0x0180, 0x0001, 0xF00F] {
            assert_eq!(one(request(true, 0, 1, mask)), [Rule::ByteEnable]);
        }
        for mask in [0xFFF0, 0xFF00, 0xF000] {
            assert!(one(request(true, 0, 2, mask)).is_empty());
        }
        for mask in [0x0FFF, 0x0FF0, 0x000F, 0xFFFC] {
            assert_eq!(one(request(true, 0, 2, mask)), [Rule::ByteEnable]);
        }
    }

    #[test]
    fn bursts_are_bounded_aligned_and_inside_4k() {
        assert_eq!(one(request(false, 0, 0, 0xFFFF)), [Rule::BurstCount]);
        assert!(one(request(false, 0, 32, 0xFFFF)).is_empty());
        assert_eq!(one(request(false, 0, 33, 0xFFFF)), [Rule::BurstCount]);
        assert_eq!(one(request(false, 8, 1, 0xFFFF)), [Rule::AddressAlignment]);
        assert!(one(request(true, 0xE00, 32, 0xFFFF)).is_empty());
        assert_eq!(one(request(true, 0xE10, 32, 0xFFFF)), [Rule::Crosses4K]);
    }

    #[test]
    fn a_waiting_request_must_not_change() {
        let wait = Request {
            wait: true,
            ..request(true, 0x100, 1, 0xFFFF)
        };
        let signals = |second: Request<'_>| -> Vec<String> {
            broken(RULES, &[wait, second])
                .into_iter()
                .map(|(rule, signal)| {
                    assert_eq!(rule, Rule::StableWhileWaiting);
                    signal
                })
                .collect()
        };
        assert!(signals(wait).is_empty());
        assert_eq!(
            signals(Request {
                address: 0x110,
                ..wait
            }),
            ["txs_address"]
        );
        assert_eq!(signals(Request { burst: 2, ..wait }), ["txs_burstcount"]);
        assert_eq!(
            signals(Request {
                enable: 0xFF,
                ..wait
            }),
            ["txs_byteenable"]
        );
        assert_eq!(
            signals(Request {
                data: &[1, 2, 0, 4],
                ..wait
            }),
            ["txs_writedata"]
        );
        assert_eq!(
            signals(Request {
                write: false,
                ..wait
            }),
            ["txs_write"]
        );
        assert_eq!(
            signals(Request {
                write: false,
                read: true,
                ..wait
            }),
            ["txs_read", "txs_write"]
        );
    }

    #[test]
    fn a_write_burst_is_not_interrupted_and_may_pause() {
        let beat = request(true, 0x100, 2, 0xFFFF);
        let idle = Request {
            write: false,
            ..beat
        };
        assert!(broken(RULES, &[beat, idle, beat]).is_empty());
        let read = request(false, 0x200, 1, 0xFFFF);
        assert_eq!(
            broken(RULES, &[beat, read, beat]),
            [(Rule::BurstInterrupted, "txs_read".to_owned())]
        );
        let both = Request { read: true, ..beat };
        assert_eq!(one(both), [Rule::ReadAndWrite]);
    }

    #[test]
    fn accepted_beats_carry_their_addresses() {
        let (mut checker, mut log) = (Checker::new(RULES), Log::default());
        let beat = request(true, 0x100, 3, 0xFFFF);
        let mut events = Vec::new();
        for edge in [beat, Request { wait: true, ..beat }, beat, beat] {
            events.push(checker.step(0, &edge, &mut log));
        }
        let write = |address, first, last| Event::Write {
            address,
            enable: 0xFFFF,
            first,
            last,
        };
        assert_eq!(
            events,
            [
                write(0x100, true, false),
                Event::None,
                write(0x110, false, false),
                write(0x120, false, true)
            ]
        );
    }
}
