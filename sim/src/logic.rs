//! The FPGA's logic at the streams of a block: Avalon-ST sources and sinks, each in a clock of its own.
//!
//! A source offers its words in their order, one a cycle or with random gaps, and holds a word until it is taken (Avalon
//! Interface Specifications 683091, "Data Transfer with Backpressure", ready latency 0). A sink takes a word in each
//! cycle or with random gaps, and checks that the block holds a word until it is taken, and that packets begin and end
//! in turn.

use std::collections::VecDeque;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::rng::Rng;
use crate::violation::{Clock, Log, Result, Rule};

/// A word of the logic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The first byte is the lowest of the port. A word that ends a packet may be shorter than the port is wide, at
    /// least one byte.
    pub bytes: Vec<u8>,
    /// A packet ends with it.
    pub ends: bool,
}

/// A clock of the logic.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    clock: Port,
    /// Femtoseconds; 0: the clock stands still.
    period: u64,
    next: u64,
    /// It rises now.
    rises: bool,
}

impl Ticks {
    /// A clock of 200 MHz with a phase of its own.
    fn new(clock: Port, number: u64) -> Self {
        Self {
            clock,
            period: 5_000_000,
            next: 1_000_000 + number * 137_000,
            rises: false,
        }
    }

    /// Returns the time of the next edge.
    fn due(&self) -> u64 {
        if self.period == 0 {
            u64::MAX
        } else {
            self.next
        }
    }

    /// Reports whether the clock rises at this time. While it stands still, time passes.
    fn rise(&mut self, now: u64, model: &mut Model) -> bool {
        if self.period == 0 {
            self.next = self.next.max(now + 1);
            return false;
        }
        self.rises = self.next == now;
        if self.rises {
            self.next += self.period;
            model.set(self.clock, 1);
        }
        self.rises
    }

    /// Reports whether the clock has risen, and lets it fall.
    fn fall(&mut self, model: &mut Model) -> bool {
        let risen = std::mem::take(&mut self.rises);
        if risen {
            model.set(self.clock, 0);
        }
        risen
    }
}

/// Returns the width of a stream's data if the design has the stream.
fn width(library: &Library, stream: &str) -> Option<u32> {
    let data = format!("{stream}_data");
    let port = library.ports().iter().find(|port| port.name == data)?;
    Some(port.width)
}

/// The logic at all streams.
#[derive(Debug)]
pub(crate) struct Logic {
    pub(crate) sources: Vec<Source>,
    pub(crate) sinks: Vec<Sink>,
}

impl Logic {
    /// Binds the streams that the design has.
    pub(crate) fn bind(library: &Library, seed: u64) -> Result<Self> {
        let (mut sources, mut sinks) = (Vec::new(), Vec::new());
        for number in 0u64.. {
            let stream = format!("input{number}");
            let Some(bits) = width(library, &stream) else {
                break;
            };
            sources.push(Source::bind(library, &stream, bits, seed, number)?);
        }
        for number in 0u64.. {
            let stream = format!("output{number}");
            let Some(bits) = width(library, &stream) else {
                break;
            };
            sinks.push(Sink::bind(library, &stream, bits, seed, 16 + number)?);
        }
        Ok(Self { sources, sinks })
    }

    /// Returns the time of the next edge of a clock.
    pub(crate) fn due(&self) -> u64 {
        let sources = self.sources.iter().map(|source| source.ticks.due());
        let sinks = self.sinks.iter().map(|sink| sink.ticks.due());
        sources.chain(sinks).min().unwrap_or(u64::MAX)
    }

    /// Reads the design before the clocks rise that rise now.
    pub(crate) fn rise(&mut self, now: u64, cycle: u64, model: &mut Model, log: &mut Log) {
        for source in &mut self.sources {
            if source.ticks.rise(now, model) {
                source.rise(model);
            }
        }
        for sink in &mut self.sinks {
            if sink.ticks.rise(now, model)
                && let Err((rule, detail)) = sink.rise(model)
            {
                log.add(Clock::Pcie, cycle, &*sink.name, rule, detail.to_owned());
            }
        }
    }

    /// Drives the inputs after the edges.
    pub(crate) fn drive(&mut self, model: &mut Model) {
        for source in &mut self.sources {
            if source.ticks.fall(model) {
                source.drive(model);
            }
        }
        for sink in &mut self.sinks {
            if sink.ticks.fall(model) {
                model.set(sink.ports.ready, sink.is_ready.into());
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct SourcePorts {
    valid: Port,
    ready: Port,
    data: Port,
    endofpacket: Port,
    empty: Port,
}

/// The source of one stream.
#[derive(Debug)]
pub struct Source {
    ports: SourcePorts,
    ticks: Ticks,
    width: usize,
    rng: Rng,
    gap_percent: u8,
    words: VecDeque<Word>,
    shown: Option<Word>,
    taken: u64,
    waited: u64,
}

impl Source {
    fn bind(library: &Library, stream: &str, bits: u32, seed: u64, number: u64) -> Result<Self> {
        let port = |signal, direction, width| {
            library.port_as(&format!("{stream}_{signal}"), direction, width)
        };
        Ok(Self {
            ticks: Ticks::new(port("clk", Direction::Input, 1)?, number),
            ports: SourcePorts {
                valid: port("valid", Direction::Input, 1)?,
                ready: port("ready", Direction::Output, 1)?,
                data: port("data", Direction::Input, bits)?,
                endofpacket: port("endofpacket", Direction::Input, 1)?,
                empty: port("empty", Direction::Input, 6)?,
            },
            width: bits as usize / 8,
            rng: Rng::new(seed, 64 + number),
            gap_percent: 0,
            words: VecDeque::new(),
            shown: None,
            taken: 0,
            waited: 0,
        })
    }

    /// Returns the bytes of a whole word.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Sets the period of the clock in picoseconds; 0 stops it.
    pub fn set_clock_ps(&mut self, period: u64) {
        self.ticks.period = period * 1000;
    }

    /// Sets how many of 100 cycles have no word, although words wait.
    pub fn set_gaps(&mut self, percent: u8) {
        self.gap_percent = percent;
    }

    /// Offers bytes, in whole words.
    ///
    /// # Panics
    /// If the bytes are not whole words.
    pub fn send(&mut self, bytes: &[u8]) {
        assert!(bytes.len().is_multiple_of(self.width));
        let words = bytes.chunks(self.width).map(|bytes| Word {
            bytes: bytes.to_vec(),
            ends: false,
        });
        self.words.extend(words);
    }

    /// Offers a packet of at least one byte.
    ///
    /// # Panics
    /// If it is empty.
    pub fn send_packet(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        let last = bytes.len().div_ceil(self.width) - 1;
        let words = bytes
            .chunks(self.width)
            .enumerate()
            .map(|(at, bytes)| Word {
                bytes: bytes.to_vec(),
                ends: at == last,
            });
        self.words.extend(words);
    }

    /// Returns the words that the design has taken. One that never lets its logic wait takes all of them.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the cycles in which a word was offered and not taken.
    pub fn waited(&self) -> u64 {
        self.waited
    }

    /// Returns the words that are still to be taken.
    pub fn left(&self) -> usize {
        self.words.len() + usize::from(self.shown.is_some())
    }

    /// Reads the design before the edge, and chooses the word that is offered after it.
    fn rise(&mut self, model: &mut Model) {
        if self.shown.is_some() {
            if model.get(self.ports.ready) != 0 {
                self.shown = None;
                self.taken += 1;
            } else {
                self.waited += 1;
            }
        }
        if self.shown.is_none() && !self.rng.chance(self.gap_percent) {
            self.shown = self.words.pop_front();
        }
    }

    /// Drives the inputs after the edge.
    fn drive(&self, model: &mut Model) {
        model.set(self.ports.valid, self.shown.is_some().into());
        if let Some(word) = &self.shown {
            let mut data = word.bytes.clone();
            // Bytes that are not valid have any value.
            data.resize(self.width, 0xEE);
            model.set_bytes(self.ports.data, &data);
            model.set(self.ports.endofpacket, word.ends.into());
            let empty = if word.ends {
                self.width - word.bytes.len()
            } else {
                0
            };
            model.set(self.ports.empty, empty as u64);
        }
    }
}

/// A packet that a sink has got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its bytes. The data of a word with `error` are not among them.
    pub bytes: Vec<u8>,
    /// It has ended with `error`.
    pub error: bool,
}

#[derive(Debug, Clone, Copy)]
struct SinkPorts {
    valid: Port,
    ready: Port,
    data: Port,
    startofpacket: Port,
    endofpacket: Port,
    empty: Port,
    error: Port,
}

/// A word as the design shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    data: Vec<u8>,
    starts: bool,
    ends: bool,
    empty: usize,
    error: bool,
}

/// The sink of one stream.
#[derive(Debug)]
pub struct Sink {
    name: String,
    ports: SinkPorts,
    ticks: Ticks,
    width: usize,
    rng: Rng,
    gap_percent: u8,
    is_ready: bool,
    /// Shown at the last edge, and not taken.
    waits: Option<Shown>,
    open: Option<Packet>,
    packets: VecDeque<Packet>,
}

impl Sink {
    fn bind(library: &Library, stream: &str, bits: u32, seed: u64, number: u64) -> Result<Self> {
        let port = |signal, direction, width| {
            library.port_as(&format!("{stream}_{signal}"), direction, width)
        };
        Ok(Self {
            name: stream.to_owned(),
            ticks: Ticks::new(port("clk", Direction::Input, 1)?, number),
            ports: SinkPorts {
                valid: port("valid", Direction::Output, 1)?,
                ready: port("ready", Direction::Input, 1)?,
                data: port("data", Direction::Output, bits)?,
                startofpacket: port("startofpacket", Direction::Output, 1)?,
                endofpacket: port("endofpacket", Direction::Output, 1)?,
                empty: port("empty", Direction::Output, 6)?,
                error: port("error", Direction::Output, 1)?,
            },
            width: bits as usize / 8,
            rng: Rng::new(seed, 64 + number),
            gap_percent: 0,
            is_ready: false,
            waits: None,
            open: None,
            packets: VecDeque::new(),
        })
    }

    /// Sets the period of the clock in picoseconds; 0 stops it.
    pub fn set_clock_ps(&mut self, period: u64) {
        self.ticks.period = period * 1000;
    }

    /// Sets how many of 100 cycles take no word.
    pub fn set_gaps(&mut self, percent: u8) {
        self.gap_percent = percent;
    }

    /// Returns the oldest packet that has ended.
    pub fn packet(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }

    /// Reads the design before the edge, and chooses whether a word is taken at the next one.
    fn rise(&mut self, model: &mut Model) -> std::result::Result<(), (Rule, &'static str)> {
        let shown = (model.get(self.ports.valid) != 0).then(|| {
            let mut data = vec![0; self.width];
            model.get_bytes(self.ports.data, &mut data);
            Shown {
                data,
                starts: model.get(self.ports.startofpacket) != 0,
                ends: model.get(self.ports.endofpacket) != 0,
                empty: model.get(self.ports.empty) as usize,
                error: model.get(self.ports.error) != 0,
            }
        });
        let before = self.waits.take();
        let held = before.is_none() || before == shown;
        let taken = if self.is_ready { shown.clone() } else { None };
        if !self.is_ready {
            self.waits = shown;
        }
        self.is_ready = !self.rng.chance(self.gap_percent);
        if !held {
            return Err((Rule::StableWhileWaiting, "the word that was shown"));
        }
        let Some(word) = taken else { return Ok(()) };
        if word.starts != self.open.is_none() {
            return Err((Rule::Packet, "startofpacket is not that of the first word"));
        }
        if word.empty != 0 && !word.ends || word.empty >= self.width || word.error && !word.ends {
            return Err((Rule::Packet, "empty or error without endofpacket"));
        }
        let mut packet = self.open.take().unwrap_or_default();
        if !word.error {
            let valid = self.width - word.empty;
            packet.bytes.extend_from_slice(&word.data[..valid]);
        }
        packet.error = word.error;
        if word.ends {
            self.packets.push_back(packet);
        } else {
            self.open = Some(packet);
        }
        Ok(())
    }
}
