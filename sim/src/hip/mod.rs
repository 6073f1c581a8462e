//! The Stratix V PCIe hard IP's Avalon-ST interface, with a link and memory at its other end, for designs that make and
//! take transaction layer packets themselves (Stratix V Avalon-ST Interface for PCIe 683093).
//!
//! [`Hip`] does not drive the clock: the owner of the model calls [`Hip::sample`] before each rising edge of the hard
//! IP's clock and [`Hip::drive`] after it. Every rule that a design must keep is checked on every edge, and broken
//! rules are in [`Hip::breaches`]:
//!
//! - the rules of the interface: valid and ready, begin and end, the number of beats, the lanes;
//! - each request: form, byte enables, 4 KiB, Max Payload Size and Max Read Request Size, tags, requester;
//! - Bus Master Enable: no request begins before the design has been shown the bit, nor later than [`MASTER_LAG`] ready
//!   cycles after the word that shows it clear;
//! - the link: no packet begins while it is down ([`LINK_LAG`]);
//! - credits: never more than were granted. Until the next link is up, pins and counters are those of the previous one;
//! - the buffer for completions: never more than it has room for. The hard IP does not hold completions back.
//!
//! [`Host`] makes the requests to the board: its packets come between completions, and those that need an answer stop
//! while the design asks for that, after up to ten more. The design's answers are checked against the specification
//! there. [`HostBus`] is the bus of such a design's slaves.
//!
//! The design receives completions in the lanes of the figures, at the latest three cycles after its ready fell, with
//! gaps if configured; and the configuration's words, four or eight cycles each. As in the hard IP, completions with a
//! tag that it does not know are dropped, unless a test lets them through.

mod config;
mod host;
mod root;
mod rules;
mod slave;
mod tlp;

use std::collections::VecDeque;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{rng::Rng, violation::Result};

pub use config::{Grant, HipConfig};
pub use host::{Host, HostEnd};
pub use root::{Fate, Root, RootConfig};
pub use rules::Breach;
use rules::{Limits, Sent, Shown};
pub use slave::{BusConfig, HostBus};
pub(crate) use tlp::Far;
use tlp::{Beat, DWORDS};
pub use tlp::{Damaged, Kind, Tlp};

/// Number of the hard IP's ready cycles, from the end of the configuration's word that shows the design that Bus Master
/// Enable is clear, in which a request may still begin. The hard IP itself lets any request through. Together with the
/// rotation of the words this can be 17 * 8 cycles more after software has cleared the bit.
pub const MASTER_LAG: u64 = 8;

/// Cycles after the link has gone down in which a packet may still begin: the design synchronizes `dlup` to its clock.
pub const LINK_LAG: u64 = 8;

/// The most requests that may come while the design asks for none (683093, `rx_st_mask`).
const UNMASKED: u64 = 10;

/// Cycles between a ready and the cycle that it is for, for received packets.
const READY_LATENCY: usize = 3;

#[derive(Debug)]
struct Ports {
    rx_valid: Port,
    rx_ready: Port,
    rx_data: Port,
    rx_sop: Port,
    rx_eop: Port,
    rx_bar: Port,
    rx_mask: Port,
    rx_err: Option<Port>,
    /// Not every design uses it.
    rx_empty: Option<Port>,
    tx_valid: Port,
    tx_ready: Port,
    tx_data: Port,
    tx_sop: Port,
    tx_eop: Port,
    tx_empty: Port,
    tx_err: Port,
    link: Port,
    posted_headers: Port,
    posted_data: Port,
    read_headers: Port,
    reply_headers: Port,
    reply_data: Port,
    consumed: Port,
    infinite: Port,
    select: Port,
    space: Port,
    cfg_add: Port,
    cfg_ctl: Port,
    errors: Port,
}

/// Credits of one kind: granted and consumed since the link came up, modulo `2^bits` on the pins.
#[derive(Debug, Clone, Copy)]
struct Credit {
    granted: Option<u64>,
    consumed: u64,
    bits: u32,
}

impl Credit {
    fn new(grant: Option<u32>, before: u64, bits: u32) -> Self {
        Self {
            granted: grant.map(|grant| before + u64::from(grant)),
            consumed: before,
            bits,
        }
    }

    fn pin(&self, consumed: bool) -> u64 {
        let number = if consumed {
            self.consumed
        } else {
            self.granted.unwrap_or(0)
        };
        number & ((1 << self.bits) - 1)
    }

    fn take(&mut self, count: u64) -> bool {
        self.consumed += count;
        self.granted.is_none_or(|granted| self.consumed <= granted)
    }
}

/// Returns the credits of a link that comes up: posted headers and data, headers of reads, headers and data of
/// completions.
fn fresh(config: &HipConfig, before: u64) -> [Credit; 5] {
    [
        Credit::new(config.posted.headers, before, 8),
        Credit::new(config.posted.data, before * 3, 12),
        Credit::new(config.reads.headers, before * 7, 8),
        Credit::new(config.replies.headers, before * 5, 8),
        Credit::new(config.replies.data, before * 11, 12),
    ]
}

/// Credits that the hard IP may consume in a cycle, as `tx_cred_fchipcons` shows them: a header, or a header and a unit
/// of data (683093, Transaction Layer credits), of a message, an MSI, a request of its own or a completion of a
/// configuration request.
const OWN: [u64; 5] = [1 << 5, 3 << 4, 1 << 3, 1 << 1, 3];

/// Credits that are being returned.
#[derive(Debug, Clone, Copy, Default)]
struct Back {
    at: u64,
    headers: u64,
    data: u64,
    reads: u64,
    replies: u64,
    reply_data: u64,
}

/// A packet that the design is shown: its beats, the space that it takes in the buffer, and the BARs that claim it.
#[derive(Debug)]
struct Going {
    beats: VecDeque<Beat>,
    headers: u32,
    units: u32,
    bars: Option<u8>,
}

/// The hard IP, and everything at its other end.
#[derive(Debug)]
pub struct Hip {
    /// The configuration from now on; the design sees changes with their usual delay.
    pub config: HipConfig,
    /// The other end.
    pub root: Root,
    /// The source of requests to the board.
    pub host: Host,
    ports: Ports,
    width: usize,
    cycle: u64,
    rng: Rng,
    breaches: Vec<Breach>,
    sent: Sent,
    /// Whether the design was last shown that it is bus master, in any cycle of the word; the number of ready cycles
    /// since the word ended that showed it is not; whether it was allowed to send requests when the packet in progress
    /// began.
    shown_master: bool,
    showing_master: bool,
    without: u64,
    began_as_master: bool,
    tx_ready: bool,
    /// Packets on their way, with their times of arrival.
    leaving: VecDeque<(u64, Tlp)>,
    link_out: u64,
    link_in: u64,
    /// The cycle in which the link comes up, and the one in which it went down.
    up_at: u64,
    down_at: u64,
    headers: Credit,
    data: Credit,
    reads: Credit,
    replies: Credit,
    reply_data: Credit,
    /// Credits of the previous link, in the same order.
    stale: [Credit; 5],
    returning: VecDeque<Back>,
    own: u64,
    /// Tags of reads that the hard IP knows.
    tags: [bool; 256],
    arriving: VecDeque<(u64, Tlp)>,
    answers: VecDeque<Tlp>,
    damages: Option<Damaged>,
    /// Completions in the buffer, and the packet that has begun to leave it.
    buffer: VecDeque<Going>,
    going: Option<Going>,
    /// Number of requests that may still come although the design wants none; `None`: it wants them.
    unmasked: Option<u64>,
    /// The configuration's word that is shown, and its number; late bits are those of the previous word.
    word: (u64, u32),
    late_bits: Rng,
    used: (u32, u32),
    rx_ready: [bool; READY_LATENCY],
    beat: Option<(Beat, Option<u8>)>,
    /// Number of errors that the design reported, by bit of `cpl_err`.
    pub errors: [u64; 7],
    /// Bytes of requests and of completions that crossed the link.
    pub bytes: (u64, u64),
    /// The most completions that were in the buffer.
    pub most: u32,
}

impl Hip {
    /// Connects to a design with the ports of `peerlane_pcie`.
    ///
    /// # Errors
    /// If the design does not have them.
    pub fn bind(library: &Library, config: HipConfig) -> Result<Self> {
        let bits = library
            .ports()
            .iter()
            .find(|port| port.name == "tx_st_data")
            .map_or(0, |port| port.width);
        let output = |name, bits| library.port_as(name, Direction::Output, bits);
        let input = |name, bits| library.port_as(name, Direction::Input, bits);
        let ports = Ports {
            rx_valid: input("rx_st_valid", 1)?,
            rx_ready: output("rx_st_ready", 1)?,
            rx_data: input("rx_st_data", bits)?,
            rx_sop: input("rx_st_sop", 1)?,
            rx_eop: input("rx_st_eop", 1)?,
            rx_bar: input("rx_st_bar", 8)?,
            rx_mask: output("rx_st_mask", 1)?,
            rx_err: input("rx_st_err", 1).ok(),
            rx_empty: input("rx_st_empty", 2).ok(),
            tx_valid: output("tx_st_valid", 1)?,
            tx_ready: input("tx_st_ready", 1)?,
            tx_data: output("tx_st_data", bits)?,
            tx_sop: output("tx_st_sop", 1)?,
            tx_eop: output("tx_st_eop", 1)?,
            tx_empty: output("tx_st_empty", 2)?,
            tx_err: output("tx_st_err", 1)?,
            link: input("dlup", 1)?,
            posted_headers: input("tx_cred_hdrfcp", 8)?,
            posted_data: input("tx_cred_datafcp", 12)?,
            read_headers: input("tx_cred_hdrfcnp", 8)?,
            reply_headers: input("tx_cred_hdrfccp", 8)?,
            reply_data: input("tx_cred_datafccp", 12)?,
            consumed: input("tx_cred_fchipcons", 6)?,
            infinite: input("tx_cred_fcinfinite", 6)?,
            select: output("tx_cons_cred_sel", 1)?,
            space: input("ko_cpl_spc_header", 8)?,
            cfg_add: input("tl_cfg_add", 4)?,
            cfg_ctl: input("tl_cfg_ctl", 32)?,
            errors: output("cpl_err", 7)?,
        };
        let width = bits as usize / 32;
        // Credits from before the design left its reset: any numbers.
        let before = config.seed.wrapping_mul(77) % 5000;
        let [headers, data, reads, replies, reply_data] = fresh(&config, before);
        Ok(Self {
            root: Root::new(config.root, config.seed),
            host: Host::new(),
            ports,
            width,
            cycle: 0,
            rng: Rng::new(config.seed, 20),
            breaches: Vec::new(),
            sent: Sent::new(width),
            shown_master: false,
            showing_master: false,
            without: 0,
            began_as_master: false,
            tx_ready: false,
            leaving: VecDeque::new(),
            link_out: 0,
            link_in: 0,
            up_at: config.training,
            down_at: 0,
            headers,
            data,
            reads,
            replies,
            reply_data,
            stale: fresh(&config, before + 55),
            returning: VecDeque::new(),
            own: 0,
            tags: [false; 256],
            arriving: VecDeque::new(),
            answers: VecDeque::new(),
            damages: None,
            buffer: VecDeque::new(),
            going: None,
            unmasked: None,
            word: (0, 0),
            late_bits: Rng::new(config.seed, 22),
            used: (0, 0),
            rx_ready: [false; READY_LATENCY],
            beat: None,
            errors: [0; 7],
            bytes: (0, 0),
            most: 0,
            config,
        })
    }

    /// Takes the rules that were broken since the last call.
    pub(crate) fn take_breaches(&mut self) -> Vec<Breach> {
        std::mem::take(&mut self.breaches)
    }

    /// Returns whether a beat is given to the design after this edge.
    pub(crate) fn gives(&self) -> bool {
        self.beat.is_some()
    }

    /// Returns the rules that were broken.
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// Returns whether nothing is in progress, except reads that are never answered.
    pub fn quiet(&self) -> bool {
        self.leaving.is_empty()
            && self.arriving.is_empty()
            && self.answers.is_empty()
            && self.buffer.is_empty()
            && self.going.is_none()
            && self.host.queue.is_empty()
            && self.beat.is_none()
            && !self.sent.amid()
    }

    /// Returns the credits that are granted and not consumed: posted headers and data, headers of reads, headers and
    /// data of completions. `None` where there is no limit.
    pub fn credits_left(&self) -> [Option<u64>; 5] {
        self.credits()
            .map(|credit| Some(credit.granted?.saturating_sub(credit.consumed)))
    }

    /// Grants more credits of completions: headers and data.
    pub fn grant_replies(&mut self, headers: u32, data: u32) {
        for (credit, more) in [(&mut self.replies, headers), (&mut self.reply_data, data)] {
            if let Some(granted) = &mut credit.granted {
                *granted += u64::from(more);
            }
        }
    }

    /// Grants more credits: headers and data of posted packets, headers of reads.
    pub fn grant(&mut self, headers: u32, data: u32, reads: u32) {
        for (credit, more) in [
            (&mut self.headers, headers),
            (&mut self.data, data),
            (&mut self.reads, reads),
        ] {
            if let Some(granted) = &mut credit.granted {
                *granted += u64::from(more);
            }
        }
    }

    /// Makes the hard IP lose a part of the next completion that has data.
    pub fn damage(&mut self, damaged: Damaged) {
        self.damages = Some(damaged);
    }

    /// Resets the link and the application: nothing that was in progress arrives.
    pub fn reset(&mut self) {
        self.relink(self.config.training);
        self.sent.reset();
        self.tx_ready = false;
        self.going = None;
        self.unmasked = None;
        self.used = (0, 0);
        self.rx_ready = [false; READY_LATENCY];
        self.beat = None;
    }

    /// Takes the link down, and up again after `cycles` cycles. Nothing that was in progress arrives, except the end of
    /// a packet that is being shown to the design. The application is not reset.
    pub fn relink(&mut self, cycles: u64) {
        self.down_at = self.cycle;
        self.up_at = self.cycle + cycles;
        self.leaving.clear();
        self.returning.clear();
        self.stale = self.credits();
        let before = self.rng.up_to(5000);
        [
            self.headers,
            self.data,
            self.reads,
            self.replies,
            self.reply_data,
        ] = fresh(&self.config, before);
        self.tags = [false; 256];
        self.arriving.clear();
        self.answers.clear();
        self.buffer.clear();
        self.used = self
            .going
            .as_ref()
            .map_or((0, 0), |going| (going.headers, going.units));
        self.root.reset();
    }

    /// Returns whether the link is up.
    fn is_up(&self) -> bool {
        self.cycle >= self.up_at
    }

    fn credits(&self) -> [Credit; 5] {
        [
            self.headers,
            self.data,
            self.reads,
            self.replies,
            self.reply_data,
        ]
    }

    fn breach(&mut self, what: String) {
        let cycle = self.cycle;
        self.breaches.push(Breach { cycle, what });
    }

    /// Reads the pins before an edge, and decides the signals that the design is shown after it.
    pub fn sample(&mut self, model: &Model) {
        self.sample_with(model, None);
    }

    /// Does the same as [`Hip::sample`] with another end than [`Hip::root`].
    pub(crate) fn sample_with(&mut self, model: &Model, mut far: Option<&mut dyn Far>) {
        self.cycle += 1;
        self.sample_sent(model);
        if self.is_up() {
            match &mut far {
                Some(far) => self.deliver(Some(&mut **far)),
                None => self.deliver(None),
            }
            self.fill();
        }
        self.choose(
            model.get(self.ports.rx_ready) != 0,
            model.get(self.ports.rx_mask) != 0,
        );
        let errors = model.get(self.ports.errors);
        for (bit, count) in self.errors.iter_mut().enumerate() {
            *count += errors >> bit & 1;
        }
        self.tx_ready = self.leaving.len() < 16
            && !far.is_some_and(|far| far.full())
            && !self.rng.chance(self.config.not_ready);
        self.own = 0;
        if self.is_up() && self.config.own != 0 && self.rng.up_to(999) < self.config.own {
            let kind = self.rng.up_to(OWN.len() as u64 - 1) as usize;
            self.send_own(OWN[kind]);
        }
    }

    /// Makes the hard IP send a packet of its own, which takes a credit of each of these pins.
    fn send_own(&mut self, pins: u64) {
        let takes = |bit: u64| pins >> bit & 1;
        let credits = [
            (&mut self.headers, takes(5), 4),
            (&mut self.data, takes(4), 40),
            (&mut self.reads, takes(3), 4),
            (&mut self.replies, takes(1), 4),
            (&mut self.reply_data, takes(0), 40),
        ];
        // It does not take the last credits, which the design may be about to use.
        let spares = |(credit, count, last): &(&mut Credit, u64, u64)| {
            let has = |granted| credit.consumed + last <= granted;
            *count == 0 || credit.granted.is_none_or(has)
        };
        if !credits.iter().all(spares) {
            return;
        }
        for (credit, count, _) in credits {
            credit.take(count);
        }
        self.own = pins;
        self.returning.push_back(Back {
            at: self.cycle + self.config.credit_delay,
            headers: takes(5),
            data: takes(4),
            reads: takes(3),
            replies: takes(1),
            reply_data: takes(0),
        });
    }

    fn sample_sent(&mut self, model: &Model) {
        let ports = &self.ports;
        let mut data = [0; DWORDS];
        model.get_words(ports.tx_data, &mut data[..self.width]);
        let shown = Shown {
            valid: model.get(ports.tx_valid) != 0,
            sop: model.get(ports.tx_sop) != 0,
            eop: model.get(ports.tx_eop) != 0,
            empty: model.get(ports.tx_empty) as u8,
            err: model.get(ports.tx_err) != 0,
            data: &data,
        };
        if !self.shown_master && self.tx_ready {
            self.without += 1;
        }
        let has_link = self.is_up();
        if shown.valid && shown.sop && !has_link && self.cycle > self.down_at + LINK_LAG {
            self.breach("a packet begins without a link".to_owned());
        }
        if shown.valid && shown.sop {
            self.began_as_master = self.shown_master || self.without <= MASTER_LAG;
        }
        let mut found = Vec::new();
        let packet = self
            .sent
            .edge(shown, self.tx_ready, |what| found.push(what));
        if let Some(packet) = packet.filter(|_| has_link) {
            let limits = Limits {
                payload: self.config.payload,
                request: self.config.request,
                tags: if self.config.extended { 64 } else { 32 },
                requester: self.config.id,
                master: self.began_as_master,
            };
            if packet.kind() == Kind::Completion {
                let (id, payload) = (self.config.id, self.config.payload);
                self.host
                    .complete(&packet, id, payload, self.cycle, &mut found);
            } else {
                rules::request(&packet, &limits, |what| found.push(what));
            }
            self.charge(&packet, &mut found);
            let takes = (packet.wire_bytes() * 65536).checked_div(self.config.rate);
            let arrives = takes.map_or(self.cycle, |takes| {
                self.link_out = self.link_out.max(self.cycle * 256) + takes;
                self.link_out / 256
            });
            self.bytes.0 += packet.wire_bytes();
            self.leaving.push_back((arrives, packet));
        }
        for what in found {
            self.breach(what);
        }
    }

    /// Charges the credits and the tag of a packet that the design has sent.
    fn charge(&mut self, packet: &Tlp, found: &mut Vec<String>) {
        let mut back = Back {
            at: self.cycle + self.config.credit_delay,
            ..Back::default()
        };
        let units = packet.payload.len().div_ceil(4) as u64;
        match packet.kind() {
            Kind::Read => {
                if !self.reads.take(1) {
                    found.push("a read without a credit".to_owned());
                }
                back.reads = 1;
                let known = &mut self.tags[usize::from(packet.tag())];
                if std::mem::replace(known, true) {
                    found.push(format!("tag {} is in use", packet.tag()));
                }
            }
            Kind::Completion => {
                if !self.replies.take(1) | !self.reply_data.take(units) {
                    found.push("a completion without credits".to_owned());
                }
                (back.replies, back.reply_data) = (1, units);
            }
            Kind::Write | Kind::Other => {
                if !self.headers.take(1) | !self.data.take(units) {
                    found.push("a write without credits".to_owned());
                }
                (back.headers, back.data) = (1, units);
            }
        }
        self.returning.push_back(back);
    }

    /// Moves packets across the link, in both directions.
    fn deliver(&mut self, mut far: Option<&mut dyn Far>) {
        while let Some(back) = self.returning.front().copied()
            && back.at <= self.cycle
        {
            self.returning.pop_front();
            self.grant(back.headers as u32, back.data as u32, back.reads as u32);
            self.grant_replies(back.replies as u32, back.reply_data as u32);
        }
        while self
            .leaving
            .front()
            .is_some_and(|(at, _)| *at <= self.cycle)
            && let Some((at, packet)) = self.leaving.pop_front()
        {
            match &mut far {
                Some(far) => far.take(&packet),
                None => self.root.take(&packet, at),
            }
        }
        // The next completion is chosen when the link is free for it.
        if self.config.rate == 0 || self.link_in <= self.cycle * 256 {
            match &mut far {
                Some(far) => self.answers.extend(far.answer()),
                None if self.answers.is_empty() => {
                    self.root
                        .answer(self.cycle, self.config.payload, &mut self.answers);
                }
                None => {}
            }
            if let Some(mut packet) = self.answers.pop_front() {
                if !packet.payload.is_empty() {
                    packet.damaged = self.damages.take();
                }
                let takes = (packet.wire_bytes() * 65536).checked_div(self.config.rate);
                if let Some(takes) = takes {
                    self.link_in = self.link_in.max(self.cycle * 256) + takes;
                }
                self.arriving
                    .push_back((self.link_in.div_ceil(256).max(self.cycle), packet));
            }
        }
    }

    /// Moves arrived packets into the buffer.
    fn fill(&mut self) {
        while self
            .arriving
            .front()
            .is_some_and(|(at, _)| *at <= self.cycle)
            && let Some((_, packet)) = self.arriving.pop_front()
        {
            self.bytes.1 += packet.wire_bytes();
            let tag = packet.header[2] >> 8 & 0xFF;
            let count = packet.header[1] & 0xFFF;
            let known = self.tags[tag as usize];
            if !known && !self.config.lets_strays_through {
                continue;
            }
            let status = packet.header[1] >> 13 & 7;
            let brings = (packet.payload.len() as u32 * 4).saturating_sub(packet.header[2] & 3);
            if status != 0 || brings == 0 || count <= brings {
                self.tags[tag as usize] = false;
            }
            let units = packet.payload.len().div_ceil(4) as u32;
            self.used.0 += 1;
            self.used.1 += units;
            self.most = self.most.max(self.used.0);
            if self.used.0 > self.config.space.0 || self.used.1 > self.config.space.1 {
                let what = format!("completions overrun the buffer: {:?}", self.used);
                self.breach(what);
            }
            self.buffer.push_back(Going {
                beats: packet.beats(self.width).into(),
                headers: 1,
                units,
                bars: None,
            });
        }
    }

    /// Chooses the next beat for the design.
    fn choose(&mut self, ready: bool, masked: bool) {
        self.rx_ready.rotate_right(1);
        self.rx_ready[0] = ready;
        let may = self.rx_ready[READY_LATENCY - 1];
        self.beat = None;
        if !masked {
            self.unmasked = None;
        } else if self.unmasked.is_none() {
            self.unmasked = Some(self.rng.up_to(UNMASKED));
        }
        if !may || self.rng.chance(self.config.gaps) {
            return;
        }
        if self.going.is_none() {
            self.going = self.next_packet();
        }
        let Some(going) = &mut self.going else {
            return;
        };
        self.beat = going.beats.pop_front().map(|beat| (beat, going.bars));
        if going.beats.is_empty() {
            self.used.0 -= going.headers;
            self.used.1 -= going.units;
            self.going = None;
        }
    }

    /// Returns the packet that the design is shown next. While the design wants no requests that need an answer, the
    /// other packets pass them (Arria V Avalon-ST Interface for PCIe 683733, transaction ordering rules).
    fn next_packet(&mut self) -> Option<Going> {
        let queue = &self.host.queue;
        let next = match (self.unmasked, queue.front()) {
            (Some(0), _) => queue.iter().position(|(packet, _)| Host::is_posted(packet)),
            (_, front) => front.map(|_| 0),
        };
        let next = next.filter(|_| self.is_up());
        let next = next.filter(|_| self.buffer.is_empty() || self.rng.chance(50));
        let Some((packet, bars)) = next.and_then(|next| self.host.queue.remove(next)) else {
            return self.buffer.pop_front();
        };
        if !Host::is_posted(&packet)
            && let Some(left) = &mut self.unmasked
        {
            *left -= 1;
        }
        let mut found = Vec::new();
        self.host.begin(&packet, bars, self.cycle, &mut found);
        for what in found {
            self.breach(what);
        }
        Some(Going {
            beats: packet.beats(self.width).into(),
            headers: 0,
            units: 0,
            bars: Some(bars),
        })
    }

    /// Returns the configuration's word of a number, as software has set it.
    fn word(&self, number: u64) -> u32 {
        let config = &self.config;
        let code = |bytes: u32| (bytes / 128).trailing_zeros();
        match number {
            0 => {
                u32::from(config.extended) << 24
                    | code(config.payload) << 21
                    | code(config.request) << 28
                    | u32::from(config.patient) << 4
                    // Other fields of Device Control 2.
                    | 0x5EE0
            }
            2 => u32::from(config.root.boundary == 128) << 19,
            3 => u32::from(config.master) << 10,
            13 => {
                u32::from(config.msix.0) << 31
                    | u32::from(config.msix.1) << 30
                    | u32::from(config.msi.is_some())
            }
            15 => {
                u32::from(config.msi.map_or(0, |(_, data)| data)) << 16 | u32::from(config.id >> 3)
            }
            // The MSI's address, in four words; and rubbish in bits that are not used.
            other => match (other, config.msi) {
                (5, Some((address, _))) => (address as u32 & 0xFFF) << 20 | 0x5EED,
                (9, Some((address, _))) => address as u32 & 0xFFFF_F000 | 0xEED,
                (6, Some((address, _))) => ((address >> 32) as u32 & 0xFFF) << 20 | 0x5EED,
                (11, Some((address, _))) => (address >> 32) as u32 & 0xFFFF_F000 | 0xEED,
                _ => 0x5EED_0000 | other as u32,
            },
        }
    }

    /// Drives the pins after an edge.
    pub fn drive(&mut self, model: &mut Model) {
        let ports = &self.ports;
        model.set(ports.tx_ready, self.tx_ready.into());
        let shows = self.config.shows_consumed && model.get(ports.select) != 0;
        model.set(ports.link, self.is_up().into());
        let credits = if self.is_up() {
            self.credits()
        } else {
            self.stale
        };
        let [headers, data, reads, replies, reply_data] = credits.map(|credit| credit.pin(shows));
        model.set(ports.posted_headers, headers);
        model.set(ports.posted_data, data);
        model.set(ports.read_headers, reads);
        model.set(ports.reply_headers, replies);
        model.set(ports.reply_data, reply_data);
        model.set(ports.consumed, self.own);
        let [headers, data, reads, replies, reply_data] =
            credits.map(|credit| u64::from(credit.granted.is_none()));
        model.set(
            ports.infinite,
            headers << 5 | data << 4 | reads << 3 | 4 | replies << 1 | reply_data,
        );
        model.set(ports.space, self.config.space.0.into());
        let number = self.cycle / self.config.word_cycles % 16;
        let within = self.cycle % self.config.word_cycles;
        let (mut add, mut ctl) = self.word;
        if within == 0 {
            // These are multi-cycle paths (683093, Configuration Space Register Access Timing).
            self.word = (number, self.word(number));
            let late = self.late_bits.next();
            add = add & late | self.word.0 & !late;
            ctl = ctl & (late >> 32) as u32 | self.word.1 & !((late >> 32) as u32);
        }
        if number == 3 {
            self.showing_master = self.config.master || (within != 0 && self.showing_master);
            if self.showing_master || within == self.config.word_cycles - 1 {
                self.shown_master = self.showing_master;
            }
            if self.shown_master {
                self.without = 0;
            }
        }
        model.set(ports.cfg_add, add);
        model.set(ports.cfg_ctl, ctl.into());
        model.set(ports.rx_valid, self.beat.is_some().into());
        let (beat, bars) = self.beat.unwrap_or((
            Beat {
                data: [0x0BAD_F00D; DWORDS],
                sop: self.cycle.is_multiple_of(3),
                eop: self.cycle.is_multiple_of(5),
                empty: 0,
                err: self.cycle.is_multiple_of(7),
            },
            None,
        ));
        model.set(ports.rx_sop, beat.sop.into());
        model.set(ports.rx_eop, beat.eop.into());
        // Valid with the first beat of a request only.
        let rubbish = self.rng.next() & 0xFF;
        let bars = bars.filter(|_| beat.sop).map_or(rubbish, u64::from);
        model.set(ports.rx_bar, bars);
        if let Some(port) = ports.rx_empty {
            model.set(port, beat.empty.into());
        }
        if let Some(port) = ports.rx_err {
            model.set(port, beat.err.into());
        }
        model.set_words(ports.rx_data, &beat.data[..self.width]);
    }
}
