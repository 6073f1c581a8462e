//! The table, the pending bits and the messages, against the specification's words.

use crate::Bench;
use peerlane_hdl::rtl::interrupts::Interrupts;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};

/// A vector as the host and the specification see it.
#[derive(Clone, Default)]
struct Vector {
    words: [u32; 3],
    open: bool,
    pending: bool,
    /// Since it may be sent: messages of each other vector, and cycles in which no other access was in its way.
    passed_by: HashMap<usize, u32>,
    idle: usize,
    messages: usize,
}

/// The host's next access.
#[derive(Clone, Copy)]
enum Access {
    Read(u64),
    Write(u64, u32, u64),
    Pause,
}

/// The whole block with a host and a port around it.
struct Board {
    bench: Bench,
    rng: ChaCha8Rng,
    vectors: Vec<Vector>,
    host: VecDeque<Access>,
    generation: u32,
    /// The value that the read of the last cycle has to give.
    expected: Option<u32>,
    /// Channels whose events have not been reported.
    unfired: VecDeque<usize>,
    kernel: bool,
    kernel_seen: bool,
    enable: bool,
    mask: bool,
    standing: Option<(usize, u64, u64)>,
    /// The vectors that could be sent in the last cycle.
    sendable: Vec<bool>,
}

/// A phase: how likely things are, a cycle.
struct Phase {
    event: f64,
    other: f64,
    host: f64,
    take: f64,
    switch: f64,
    masking: bool,
}

impl Board {
    fn new(log2: usize, seed: u64) -> Self {
        Self {
            bench: Bench::new("interrupts", Interrupts::new(log2), seed as u32),
            rng: ChaCha8Rng::seed_from_u64(seed),
            vectors: vec![Vector::default(); 2 + (1 << log2)],
            host: VecDeque::new(),
            generation: 0,
            expected: None,
            unfired: VecDeque::new(),
            kernel: false,
            kernel_seen: false,
            enable: false,
            mask: false,
            standing: None,
            sendable: vec![],
        }
    }

    /// Resets the block and fills the table; before that it is checked that all vectors are masked.
    fn start(&mut self) {
        for input in [
            "event_valid",
            "general",
            "moderation_we",
            "msix_read",
            "msix_write",
        ] {
            self.bench.set(input, false);
        }
        self.bench.reset();
        for vector in &mut self.vectors {
            *vector = Vector {
                messages: vector.messages,
                ..Vector::default()
            };
        }
        self.host.clear();
        (self.expected, self.standing, self.kernel_seen) = (None, None, false);
        self.unfired.clear();
        self.sendable = vec![false; self.vectors.len()];
        (self.enable, self.mask) = (false, false);
        self.switch(true, false);
        self.host = (0..self.vectors.len() as u64)
            .map(|v| Access::Read(v * 4 + 3))
            .collect();
        for vector in 0..self.vectors.len() {
            self.rewrite(vector, false);
            self.host
                .push_back(Access::Write(vector as u64 * 4 + 3, 0, 15));
        }
        let eager = Phase { host: 1.0, ..QUIET };
        while !self.host.is_empty() {
            self.cycle(&eager);
        }
    }

    fn switch(&mut self, enable: bool, mask: bool) {
        (self.enable, self.mask) = (enable, mask);
        self.bench.set("msix_enable", enable);
        self.bench.set("msix_mask", mask);
    }

    /// Gives a vector new words from the host, all of which name the vector and the generation.
    fn rewrite(&mut self, vector: usize, pauses: bool) {
        self.generation += 1;
        let (v, g) = (vector as u32, self.generation & 0xFFFF);
        // The two low bits of an address are read-only.
        let low = v << 20 | g << 4 | self.rng.random_range(0..4);
        for (word, value) in [(0, low), (1, g << 16 | v), (2, v << 16 | g)] {
            self.host
                .push_back(Access::Write(vector as u64 * 4 + word, value, 15));
            if pauses && self.rng.random_bool(0.5) {
                self.host.push_back(Access::Pause);
            }
        }
    }

    /// Chooses the host's next accesses.
    fn think(&mut self, masking: bool) {
        let vector = self.rng.random_range(0..self.vectors.len());
        let control = vector as u64 * 4 + 3;
        match self.rng.random_range(0..10) {
            0..3 => {
                let pauses = self.rng.random_bool(0.5);
                self.host.push_back(Access::Write(control, 1, 15));
                self.rewrite(vector, pauses);
                self.host.push_back(Access::Write(control, 0, 15));
            }
            3 if masking => self.host.push_back(Access::Write(control, 1, 15)),
            4 => self.host.push_back(Access::Write(control, 0xFFFF_FFFE, 15)),
            5 => {
                // Less than a word, beyond the table, the pending bits: without effect.
                let address = self.rng.random_range(0..1024);
                let inside = address < self.vectors.len() as u64 * 4;
                let enable = self.rng.random_range(0..if inside { 15 } else { 16 });
                self.host
                    .push_back(Access::Write(address, self.rng.random(), enable));
            }
            6..8 => self
                .host
                .push_back(Access::Read(512 + self.rng.random_range(0..4))),
            _ => {
                let beyond = self.rng.random_bool(0.1);
                let end = if beyond {
                    1024
                } else {
                    self.vectors.len() as u64 * 4
                };
                self.host
                    .push_back(Access::Read(self.rng.random_range(0..end)));
            }
        }
    }

    /// Returns the value that a read in this cycle has to give.
    fn content(&self, address: u64) -> u32 {
        let (vector, word) = (address as usize / 4, address as usize % 4);
        if (512..516).contains(&address) {
            let bits = self.vectors.iter().skip(word * 32).take(32).enumerate();
            return bits.map(|(n, v)| u32::from(v.pending) << n).sum();
        }
        match (self.vectors.get(vector), word) {
            (None, _) => 0,
            (Some(v), 3) => u32::from(!v.open),
            (Some(v), 0) => v.words[0] & !3,
            (Some(v), word) => v.words[word],
        }
    }

    /// Looks at the port: a message that rises is whole, is wanted, and stays.
    fn look(&mut self) {
        let bench = &self.bench;
        if bench.get("message_valid") == 0 {
            assert_eq!(
                self.standing, None,
                "cycle {}: the message has gone",
                bench.cycle
            );
            return;
        }
        let (address, data) = (bench.get("message_address"), bench.get("message_data"));
        if let Some(standing) = self.standing {
            assert_eq!(
                (standing.1, standing.2),
                (address, data),
                "cycle {}",
                bench.cycle
            );
            return;
        }
        let vector = data as usize >> 16;
        let words = self.vectors[vector].words;
        let whole = (
            u64::from(words[1]) << 32 | u64::from(words[0] & !3),
            u64::from(words[2]),
        );
        assert_eq!(
            (address, data),
            whole,
            "cycle {}: vector {vector}",
            bench.cycle
        );
        assert!(
            self.sendable[vector],
            "cycle {}: vector {vector}",
            bench.cycle
        );
        self.standing = Some((vector, address, data));
        for (other, waits) in self.vectors.iter_mut().enumerate() {
            if self.sendable[other] && other != vector {
                let times = waits.passed_by.entry(vector).or_default();
                *times += 1;
                assert_eq!(*times, 1, "vector {other} waits, {vector} is sent again");
            }
        }
    }

    fn cycle(&mut self, phase: &Phase) {
        let now = self.bench.cycle;
        if let Some(expected) = self.expected.take() {
            let got = self.bench.get("msix_readdata");
            assert_eq!(got, u64::from(expected), "cycle {now}: read");
        }
        self.look();

        // Causes. Every event fires at once; the order identifies the channel.
        let mut causes = vec![];
        if self.bench.get("notify") == 1 {
            causes.push(2 + self.unfired.pop_front().expect("an event"));
        }
        // The event of the cycle before has not been seen: at most every second cycle.
        let event = self.bench.get("event_valid") == 0 && self.rng.random_bool(phase.event);
        self.bench.set("event_valid", event);
        if event {
            let channel = self.rng.random_range(0..self.vectors.len() - 2);
            self.bench.set("event_channel", channel as u64);
            self.unfired.push_back(channel);
            assert!(
                self.unfired.len() <= 3,
                "cycle {now}: an event without an interrupt"
            );
        }
        let general = self.rng.random_bool(phase.other);
        self.bench.set("general", general);
        if general {
            causes.push(0);
        }
        self.kernel ^= self.rng.random_bool(phase.other);
        self.bench.set("kernel_irq", self.kernel);
        if self.kernel && !self.kernel_seen {
            causes.push(1);
        }

        // The host.
        if self.rng.random_bool(phase.switch) {
            let (enable, mask) = (self.rng.random_bool(0.7), self.rng.random_bool(0.3));
            self.switch(enable, mask);
        }
        let shown = self.enable && !self.mask && self.vectors[1].open;
        self.kernel_seen = self.kernel && shown;
        let mut access = Access::Pause;
        if self.rng.random_bool(phase.host) {
            if self.host.is_empty() {
                self.think(phase.masking);
            }
            access = self.host.pop_front().unwrap();
        }
        self.bench
            .set("msix_read", matches!(access, Access::Read(_)));
        self.bench
            .set("msix_write", matches!(access, Access::Write(..)));
        match access {
            Access::Read(address) => {
                self.bench.set("msix_address", address);
                self.expected = Some(self.content(address));
            }
            Access::Write(address, value, enable) => {
                self.bench.set("msix_address", address);
                self.bench.set("msix_writedata", value);
                self.bench.set("msix_byteenable", enable);
            }
            Access::Pause => {}
        }

        // The port.
        let take = self.rng.random_bool(phase.take);
        self.bench.set("message_take", take);
        let taken = if take { self.standing.take() } else { None };

        // A vector that may be sent is sent soon, unless the port or the host is in the way.
        let in_the_way = self.standing.is_some() || !matches!(access, Access::Pause);
        let patience = self.vectors.len() * 5;
        for (n, vector) in self.vectors.iter_mut().enumerate() {
            self.sendable[n] = vector.pending && vector.open && self.enable && !self.mask;
            if !self.sendable[n] || taken.is_some_and(|t| t.0 == n) {
                vector.passed_by.clear();
                vector.idle = 0;
            } else if !in_the_way {
                vector.idle += 1;
                assert!(vector.idle <= patience, "cycle {now}: vector {n} is lost");
            }
        }

        // After the edge.
        if let Some((vector, ..)) = taken {
            self.vectors[vector].pending = false;
            self.vectors[vector].messages += 1;
        }
        let kernel = &mut self.vectors[1];
        kernel.pending &= self.kernel || (kernel.open && !self.mask);
        for cause in causes {
            self.vectors[cause].pending = true;
        }
        for vector in &mut self.vectors {
            vector.pending &= self.enable;
        }
        if let Access::Write(address, value, 15) = access
            && let Some(vector) = self.vectors.get_mut(address as usize / 4)
        {
            match address % 4 {
                3 => vector.open = value & 1 == 0,
                word => vector.words[word as usize] = value,
            }
        }
        self.bench.edge();
    }
}

const QUIET: Phase = Phase {
    event: 0.0,
    other: 0.0,
    host: 0.0,
    take: 1.0,
    switch: 0.0,
    masking: false,
};

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn messages_keep_the_specification() {
    for log2 in [0, 3, 6] {
        let mut board = Board::new(log2, 11 + log2 as u64);
        for _ in 0..3 {
            board.start();
            for _ in 0..12 {
                let rng = &mut board.rng;
                let phase = Phase {
                    event: *[0.01, 0.1, 1.0].choose(rng).unwrap(),
                    other: *[0.001, 0.1].choose(rng).unwrap(),
                    host: *[0.01, 0.3, 1.0].choose(rng).unwrap(),
                    take: *[1.0, 0.3, 0.02].choose(rng).unwrap(),
                    switch: *[0.0, 0.003].choose(rng).unwrap(),
                    masking: rng.random_bool(0.5),
                };
                for _ in 0..3000 {
                    board.cycle(&phase);
                }
                // Vectors that have stayed pending are sent once they may be; the pending bits are read.
                board.switch(true, false);
                for vector in 0..board.vectors.len() as u64 {
                    board.host.push_back(Access::Write(vector * 4 + 3, 0, 15));
                }
                while !board.host.is_empty() {
                    board.cycle(&Phase { host: 1.0, ..QUIET });
                }
                for _ in 0..board.vectors.len() * 10 {
                    board.cycle(&QUIET);
                }
                assert!(board.vectors.iter().all(|v| !v.pending));
                board.host.extend((512..516).map(Access::Read));
                for _ in 0..5 {
                    let read = if board.host.is_empty() { 0.0 } else { 1.0 };
                    board.cycle(&Phase {
                        host: read,
                        ..QUIET
                    });
                }
            }
        }
        for (n, vector) in board.vectors.iter().enumerate() {
            assert!(
                vector.messages > 20,
                "vector {n}: {} messages",
                vector.messages
            );
        }
    }
}
