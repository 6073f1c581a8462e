//! The FPGA's logic at the streams of a block: Avalon-ST sources, each in a clock of its own.
//!
//! A source offers its words in their order, one a cycle or with random gaps, and holds a word until it is taken (Avalon
//! Interface Specifications 683091, "Data Transfer with Backpressure", ready latency 0).

use std::collections::VecDeque;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{rng::Rng, violation::Result};

/// A word of the logic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The first byte is the lowest of the port. A word that ends a packet may be shorter than the port is wide, at
    /// least one byte.
    pub bytes: Vec<u8>,
    /// A packet ends with it.
    pub ends: bool,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    clock: Port,
    valid: Port,
    ready: Port,
    data: Port,
    endofpacket: Port,
    empty: Port,
}

/// The source of one stream.
#[derive(Debug)]
pub struct Source {
    ports: Ports,
    width: usize,
    /// Femtoseconds; 0: the clock stands still.
    period: u64,
    pub(crate) next: u64,
    rng: Rng,
    gap_percent: u8,
    words: VecDeque<Word>,
    shown: Option<Word>,
    taken: u64,
    waited: u64,
    /// Its clock rises now.
    rises: bool,
}

impl Source {
    /// Binds the sources of all streams that the design has. Their clocks run at 200 MHz, each with its own phase.
    pub(crate) fn bind(library: &Library, seed: u64) -> Result<Vec<Self>> {
        let mut sources = Vec::new();
        for number in 0u64.. {
            let name = |signal: &str| format!("stream{number}_{signal}");
            let clock = name("clk");
            if !library.ports().iter().any(|port| port.name == clock) {
                break;
            }
            let bit = |signal, direction| library.port_as(&name(signal), direction, 1);
            let data = name("data");
            let bits = library.ports().iter().find(|port| port.name == data);
            let bits = bits.map_or(0, |port| port.width);
            sources.push(Self {
                ports: Ports {
                    clock: library.port_as(&clock, Direction::Input, 1)?,
                    valid: bit("valid", Direction::Input)?,
                    ready: bit("ready", Direction::Output)?,
                    data: library.port_as(&data, Direction::Input, bits)?,
                    endofpacket: bit("endofpacket", Direction::Input)?,
                    empty: library.port_as(&name("empty"), Direction::Input, 6)?,
                },
                width: bits as usize / 8,
                period: 5_000_000,
                next: 1_000_000 + number * 137_000,
                rng: Rng::new(seed, 64 + number),
                gap_percent: 0,
                words: VecDeque::new(),
                shown: None,
                taken: 0,
                waited: 0,
                rises: false,
            });
        }
        Ok(sources)
    }

    /// Returns the bytes of a whole word.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Sets the period of the clock in picoseconds; 0 stops it.
    pub fn set_clock_ps(&mut self, period: u64) {
        self.period = period * 1000;
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

    /// Returns the time of the next edge of the clock.
    pub(crate) fn due(&self) -> u64 {
        if self.period == 0 {
            u64::MAX
        } else {
            self.next
        }
    }

    /// Lets time pass while the clock stands still.
    pub(crate) fn skip(&mut self, now: u64) {
        self.next = self.next.max(now + 1);
    }

    /// Reads the design before the edge, and chooses the word that is offered after it.
    pub(crate) fn rise(&mut self, model: &mut Model) {
        self.next += self.period;
        self.rises = true;
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
        model.set(self.ports.clock, 1);
    }

    /// Drives the inputs after the edge, if there was one.
    pub(crate) fn drive(&mut self, model: &mut Model) {
        if !std::mem::take(&mut self.rises) {
            return;
        }
        model.set(self.ports.clock, 0);
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
