//! The stream port: the outputs of the design, the answers of the adapter, and the rules between them
//! ([`crate::StreamConfig`]).

use std::ops::Range;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    avalon::{adjacent, full},
    bus::Bus,
    config::{Backpressure, BoardConfig},
    pcie::{Beat, Pcie, TAGS, WIDEST},
    rng::Rng,
    stats::TxsStats,
    violation::{Clock, Error, Log, Result, Rule},
};

/// Length of the longest burst of posted writes, in beats.
const MAX_BEATS: u32 = 32;
/// Size of the largest read in bytes.
const MAX_READ: u32 = 512;
/// Number of dwords in the width of the widest port.
const DWORDS: usize = WIDEST / 4;

#[derive(Debug)]
struct Ports {
    post_valid: Port,
    post_ready: Port,
    post_address: Port,
    post_beats: Port,
    post_data: Port,
    post_enable: Port,
    ask_valid: Port,
    ask_ready: Port,
    ask_address: Port,
    ask_bytes: Port,
    ask_tag: Port,
    answer_valid: Port,
    answer_first: Port,
    answer_tag: Port,
    answer_bytes: Port,
    answer_code: Port,
    answer_data: Port,
    /// Optional: not every design has these inputs.
    max_payload: Option<Port>,
    max_request: Option<Port>,
}

impl Ports {
    fn bind(library: &Library, width: u32) -> Result<Self> {
        let output = |name, bits| library.port_as(name, Direction::Output, bits);
        let input = |name, bits| library.port_as(name, Direction::Input, bits);
        Ok(Self {
            post_valid: output("post_valid", 1)?,
            post_ready: input("post_ready", 1)?,
            post_address: output("post_address", 64)?,
            post_beats: output("post_beats", 6)?,
            post_data: output("post_data", width * 8)?,
            post_enable: output("post_enable", width)?,
            ask_valid: output("ask_valid", 1)?,
            ask_ready: input("ask_ready", 1)?,
            ask_address: output("ask_address", 64)?,
            ask_bytes: output("ask_bytes", 10)?,
            ask_tag: output("ask_tag", 7)?,
            answer_valid: input("answer_valid", 1)?,
            answer_first: input("answer_first", 1)?,
            answer_tag: input("answer_tag", 7)?,
            answer_bytes: input("answer_bytes", 10)?,
            answer_code: input("answer_code", 3)?,
            answer_data: input("answer_data", width * 8)?,
            max_payload: input("max_payload", 3).ok(),
            max_request: input("max_request", 3).ok(),
        })
    }
}

/// A beat of a posted write, as the design shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Post {
    address: u64,
    beats: u32,
    enable: u64,
    data: [u32; DWORDS],
}

/// A read request, as the design shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ask {
    address: u64,
    bytes: u32,
    tag: u8,
}

/// A burst that has beats still to come.
#[derive(Debug, Clone, Copy)]
struct Burst {
    address: u64,
    beats: u32,
    done: u32,
}

#[derive(Debug)]
pub(crate) struct Stream {
    ports: Ports,
    width: u32,
    most_bytes: u32,
    max_payload: u32,
    backpressure: Backpressure,
    rng: Rng,
    /// Inputs that were driven to the design at the last edge.
    post_ready: bool,
    ask_ready: bool,
    beat: Option<Beat>,
    held_post: Option<Post>,
    held_ask: Option<Ask>,
    burst: Option<Burst>,
    pub(crate) stats: TxsStats,
    /// Addresses whose first request is recorded.
    pub(crate) watch: Range<u64>,
}

/// The place of reports of broken rules.
struct Report<'a> {
    cycle: u64,
    log: &'a mut Log,
}

impl Report<'_> {
    fn add(&mut self, signal: &str, rule: Rule, detail: String) {
        self.log.add(Clock::Pcie, self.cycle, signal, rule, detail);
    }

    fn changed(&mut self, signal: &str, before: u64, now: u64) {
        if before != now {
            let detail = format!("{before:#x} became {now:#x}");
            self.add(signal, Rule::StableWhileWaiting, detail);
        }
    }

    fn within_4k(&mut self, signal: &str, address: u64, bytes: u32) {
        if address % 4096 + u64::from(bytes) > 4096 {
            let detail = format!("{bytes} bytes at {address:#x}");
            self.add(signal, Rule::Crosses4K, detail);
        }
    }
}

impl Stream {
    /// Binds the port, if the design has one.
    pub(crate) fn bind(library: &Library, config: &BoardConfig) -> Result<Option<Self>> {
        let width_of = |name: &str| {
            let port = library.ports().iter().find(|port| port.name == name);
            port.map(|port| port.width)
        };
        if width_of("post_valid").is_none() {
            return Ok(None);
        }
        if width_of("txs_address").is_some() {
            return Err(Error::Config {
                message: "the design has both a stream port and Txs".to_owned(),
            });
        }
        let bits = width_of("post_data").unwrap_or(0);
        if ![128, 256].contains(&bits) {
            return Err(Error::Width {
                port: "post_data".to_owned(),
                width: bits,
                expected: "128 or 256".to_owned(),
            });
        }
        let stream = &config.stream;
        Ok(Some(Self {
            ports: Ports::bind(library, bits / 8)?,
            width: bits / 8,
            most_bytes: if stream.link {
                MAX_READ.min(config.link.max_read_request)
            } else {
                MAX_READ
            },
            max_payload: config.link.max_payload,
            backpressure: stream.backpressure,
            rng: Rng::new(config.seed, 6),
            post_ready: false,
            ask_ready: false,
            beat: None,
            held_post: None,
            held_ask: None,
            burst: None,
            stats: TxsStats::default(),
            watch: 0..u64::MAX,
        }))
    }

    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    pub(crate) fn set_backpressure(&mut self, backpressure: Backpressure) {
        self.backpressure = backpressure;
    }

    pub(crate) fn reset(&mut self) {
        self.post_ready = false;
        self.ask_ready = false;
        self.beat = None;
        self.held_post = None;
        self.held_ask = None;
        self.burst = None;
    }

    /// Reads the port at a clock edge, before the edge changes it, and decides the next inputs of the design.
    pub(crate) fn sample(
        &mut self,
        model: &Model,
        now: u64,
        cycle: u64,
        pcie: &mut Pcie,
        bus: &mut Bus,
        log: &mut Log,
    ) {
        let mut report = Report { cycle, log };
        // The read goes first: it does not depend on a write of the same cycle.
        let asked = self.show_ask(model, &mut report);
        let posted = self.show_post(model, &mut report);
        if asked.is_some() || posted.is_some() {
            let held = asked.is_some() && !self.ask_ready;
            self.stats.wait_reads += u64::from(held);
            self.stats.wait_cycles += u64::from(held || posted.is_some() && !self.post_ready);
        }
        self.held_ask = asked.filter(|_| !self.ask_ready);
        self.held_post = posted.filter(|_| !self.post_ready);
        if let Some(ask) = asked.filter(|_| self.ask_ready) {
            self.accept_ask(&ask, now, pcie, bus, &mut report);
        }
        if let Some(post) = posted.filter(|_| self.post_ready) {
            self.accept_post(&post, now, pcie, bus);
        }
        let mut holds = || self.backpressure.holds(cycle, &mut self.rng);
        self.post_ready = !holds() && !pcie.full();
        self.ask_ready = !holds() && !pcie.asks_full();
        self.beat = pcie.answer(now);
        self.stats.read_words += u64::from(self.beat.is_some());
    }

    fn began(&mut self, cycle: u64, address: u64) {
        self.stats.last_request_cycle = cycle;
        if self.watch.contains(&address) {
            self.stats.first_request_cycle.get_or_insert(cycle);
        }
    }

    /// Returns the read that the design shows.
    #[inline]
    fn show_ask(&mut self, model: &Model, report: &mut Report<'_>) -> Option<Ask> {
        let ports = &self.ports;
        let valid = model.get(ports.ask_valid) != 0;
        if !valid && self.held_ask.is_none() {
            return None;
        }
        let shown = Ask {
            address: model.get(ports.ask_address),
            bytes: model.get(ports.ask_bytes) as u32,
            tag: model.get(ports.ask_tag) as u8,
        };
        match self.held_ask {
            Some(held) => {
                report.changed("ask_valid", 1, valid.into());
                if valid && shown != held {
                    report.changed("ask_address", held.address, shown.address);
                    report.changed("ask_bytes", held.bytes.into(), shown.bytes.into());
                    report.changed("ask_tag", held.tag.into(), shown.tag.into());
                }
            }
            None => {
                self.began(report.cycle, shown.address);
                if usize::from(shown.tag) >= TAGS {
                    report.add("ask_tag", Rule::TagRange, format!("tag {}", shown.tag));
                }
                if shown.bytes == 0 || shown.bytes > self.most_bytes {
                    let detail = format!("{} of at most {} bytes", shown.bytes, self.most_bytes);
                    report.add("ask_bytes", Rule::ReadSize, detail);
                }
                report.within_4k("ask_address", shown.address, shown.bytes);
            }
        }
        valid.then_some(shown)
    }

    fn accept_ask(
        &mut self,
        ask: &Ask,
        now: u64,
        pcie: &mut Pcie,
        bus: &mut Bus,
        report: &mut Report<'_>,
    ) {
        self.stats.read_bursts += 1;
        // An out-of-bounds read has been reported and is dropped.
        if usize::from(ask.tag) >= TAGS || !(1..=MAX_READ).contains(&ask.bytes) {
            return;
        }
        let fault = bus.fault_of_read();
        if !pcie.ask(now, ask.tag, (ask.address, ask.bytes), fault, bus) {
            let detail = format!("tag {}, {} bytes at {:#x}", ask.tag, ask.bytes, ask.address);
            report.add("ask_tag", Rule::TagReuse, detail);
        }
        self.stats.most_reads = self.stats.most_reads.max(pcie.outstanding() as u32);
    }

    /// Returns the beat of a posted write that the design shows.
    #[inline]
    fn show_post(&mut self, model: &Model, report: &mut Report<'_>) -> Option<Post> {
        let ports = &self.ports;
        let valid = model.get(ports.post_valid) != 0;
        if !valid && self.held_post.is_none() {
            return None;
        }
        let mut shown = Post {
            address: model.get(ports.post_address),
            beats: model.get(ports.post_beats) as u32,
            enable: model.get(ports.post_enable),
            data: [0; DWORDS],
        };
        for (target, word) in shown.data.iter_mut().zip(model.words(ports.post_data)) {
            *target = *word;
        }
        match self.held_post {
            Some(held) => {
                report.changed("post_valid", 1, valid.into());
                if valid && shown != held {
                    report.changed("post_address", held.address, shown.address);
                    report.changed("post_beats", held.beats.into(), shown.beats.into());
                    report.changed("post_enable", held.enable, shown.enable);
                    let words = held.data.iter().zip(&shown.data);
                    if let Some((before, now)) = words.clone().find(|(before, now)| before != now) {
                        report.changed("post_data", (*before).into(), (*now).into());
                    }
                }
            }
            None => self.check_post(&shown, report),
        }
        valid.then_some(shown)
    }

    /// Checks a beat at its first edge.
    fn check_post(&mut self, shown: &Post, report: &mut Report<'_>) {
        let (number, beats) = match self.burst {
            Some(burst) => {
                if burst.address != shown.address || burst.beats != shown.beats {
                    let detail = format!(
                        "{} beats at {:#x} became {} at {:#x} after {}",
                        burst.beats, burst.address, shown.beats, shown.address, burst.done
                    );
                    report.add("post_address", Rule::BurstInterrupted, detail);
                }
                (burst.done, burst.beats)
            }
            None => {
                self.began(report.cycle, shown.address);
                self.check_burst(shown, report);
                (0, shown.beats)
            }
        };
        let lanes = full(self.width);
        let from_0 = number == 0 || shown.enable & 1 == 1;
        let to_end = number + 1 >= beats || shown.enable & (lanes ^ (lanes >> 1)) != 0;
        if !(adjacent(shown.enable) && from_0 && to_end) {
            let detail = format!("{:#x} in beat {} of {beats}", shown.enable, number + 1);
            report.add("post_enable", Rule::ByteEnable, detail);
        }
    }

    fn check_burst(&self, shown: &Post, report: &mut Report<'_>) {
        if shown.beats == 0 || shown.beats > MAX_BEATS {
            let detail = format!("{} beats", shown.beats);
            report.add("post_beats", Rule::BurstCount, detail);
        }
        if !shown.address.is_multiple_of(u64::from(self.width)) {
            let detail = format!("{:#x}, width {} bytes", shown.address, self.width);
            report.add("post_address", Rule::AddressAlignment, detail);
        }
        report.within_4k("post_address", shown.address, shown.beats * self.width);
    }

    fn accept_post(&mut self, post: &Post, now: u64, pcie: &mut Pcie, bus: &Bus) {
        self.stats.write_words += 1;
        self.stats.write_bursts += u64::from(self.burst.is_none());
        let mut burst = self.burst.take().unwrap_or(Burst {
            address: post.address,
            beats: post.beats,
            done: 0,
        });
        let offset = u64::from(burst.done * self.width);
        let address = burst.address.wrapping_add(offset);
        burst.done += 1;
        let last = burst.done >= burst.beats;
        if !last {
            self.burst = Some(burst);
        }
        pcie.write_beat(now, address, post.enable, &post.data, last, bus);
    }

    /// Drives the port after the edge.
    pub(crate) fn drive(&self, model: &mut Model) {
        let ports = &self.ports;
        for (port, bytes) in [
            (ports.max_payload, self.max_payload),
            (ports.max_request, self.most_bytes),
        ] {
            if let Some(port) = port {
                model.set(port, u64::from((bytes / 128).trailing_zeros()));
            }
        }
        model.set(ports.post_ready, self.post_ready.into());
        model.set(ports.ask_ready, self.ask_ready.into());
        model.set(ports.answer_valid, self.beat.is_some().into());
        if let Some(beat) = &self.beat {
            model.set(ports.answer_first, beat.first.into());
            model.set(ports.answer_tag, beat.tag.into());
            // Length and code are valid with the first beat only, so the other beats have noise there.
            let (bytes, code) = if beat.first {
                (beat.bytes.into(), beat.code.into())
            } else {
                (0x3FF, 7)
            };
            model.set(ports.answer_bytes, bytes);
            model.set(ports.answer_code, code);
            model.set_bytes(ports.answer_data, &beat.data[..self.width as usize]);
        }
    }
}
