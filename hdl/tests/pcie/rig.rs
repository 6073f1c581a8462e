//! The engine's side of the port, and the hard IP on the other.
//!
//! The rig checks the port's promises to the engine on every edge. It lists broken ones together with the hard IP's
//! breaches.

use peerlane_hdl::pcie::target::Reach;
use peerlane_hdl::pcie::{TOP, generate_reaching};
use peerlane_sim::hip::{BusConfig, Grant, Hip, HipConfig, HostBus};
use peerlane_verilated::{Library, Model, Port};
use peerlane_verilog::Design;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, OnceLock};

/// Reads are given up after 64 to 128 times as many cycles: few, so that tests see it.
pub const PATIENCE_LOG2: usize = 8;

/// The host bus is given up after as many cycles.
pub const BUS_PATIENCE: u64 = 1 << BUS_PATIENCE_LOG2;

const BUS_PATIENCE_LOG2: usize = 9;

/// Returns the layer's Verilog.
pub fn design(bits: u32) -> Design {
    let reach = Reach {
        patience_log2: BUS_PATIENCE_LOG2,
        ..Reach::default()
    };
    generate_reaching(bits, PATIENCE_LOG2, reach).unwrap()
}

/// Returns the layer, compiled once.
pub fn library(bits: u32) -> Library {
    static BUILT: OnceLock<Mutex<HashMap<u32, Library>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().unwrap();
    built
        .entry(bits)
        .or_insert_with(|| {
            peerlane_block::library_of(TOP, &design(bits)).expect("the layer as a model")
        })
        .clone()
}

/// Returns a configuration in which the other end grants one posted packet, and no more.
pub fn one_write() -> HipConfig {
    HipConfig {
        posted: Grant {
            headers: Some(1),
            data: Some(16),
        },
        credit_delay: 1 << 40,
        ..HipConfig::default()
    }
}

/// A posted burst: an address that is a multiple of the beat, and for each beat its data and byte enables.
#[derive(Clone, Debug)]
pub struct Post {
    pub address: u64,
    pub beats: Vec<(Vec<u8>, u64)>,
}

/// A read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub address: u64,
    pub bytes: u32,
    pub tag: u8,
}

/// How a read ended: its tag, and 0 or the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub ask: Ask,
    pub code: u8,
    /// Bytes that came before.
    pub bytes: u32,
    pub cycle: u64,
}

struct Chunk {
    tag: u8,
    left: u32,
    at: u64,
    lost: bool,
}

/// Code of a read whose last data were lost, as the engine ends it.
pub const LOST: u8 = 4;

pub struct Rig {
    pub hip: Hip,
    pub bus: HostBus,
    pub bytes: usize,
    pub cycle: u64,
    /// Chance in percent of a cycle without a beat or a request.
    pub idle: u8,
    pub posts: VecDeque<Post>,
    pub asks: VecDeque<Ask>,
    pub ends: Vec<End>,
    /// Bytes that were posted, by address.
    pub posted: HashMap<u64, u8>,
    /// Reads are checked against the memory.
    pub checks_data: bool,
    pub broken: Vec<String>,
    model: Model,
    ports: HashMap<String, Port>,
    rng: ChaCha8Rng,
    beat: usize,
    shows_post: bool,
    shows_ask: bool,
    open: HashMap<u8, (Ask, u32)>,
    chunk: Option<Chunk>,
}

impl Rig {
    /// Makes a layer after its reset, whose configuration has been read.
    pub fn new(library: &Library, config: HipConfig) -> Self {
        Self::with_bus(library, config, BusConfig::default())
    }

    /// Makes a layer with such a bus.
    pub fn with_bus(library: &Library, config: HipConfig, bus: BusConfig) -> Self {
        let data = library
            .ports()
            .iter()
            .find(|port| port.name == "tx_st_data");
        let bits = data.unwrap().width;
        let ports = library
            .ports()
            .iter()
            .map(|port| (port.name.clone(), library.port(&port.name).unwrap()))
            .collect();
        let seed = config.seed;
        let mut rig = Self {
            hip: Hip::bind(library, config).unwrap(),
            bus: HostBus::bind(library, bus).unwrap(),
            bytes: bits as usize / 8,
            cycle: 0,
            idle: 0,
            posts: VecDeque::new(),
            asks: VecDeque::new(),
            ends: Vec::new(),
            posted: HashMap::new(),
            checks_data: true,
            broken: Vec::new(),
            model: library.instance_seeded(seed as u32).unwrap(),
            ports,
            rng: ChaCha8Rng::seed_from_u64(seed),
            beat: 0,
            shows_post: false,
            shows_ask: false,
            open: HashMap::new(),
            chunk: None,
        };
        rig.reset();
        rig.run(200);
        rig
    }

    /// Resets the layer and the hard IP.
    pub fn reset(&mut self) {
        self.set("link_reset", 1);
        for _ in 0..8 {
            self.clock();
        }
        self.set("link_reset", 0);
        self.hip.reset();
        self.hip.drive(&mut self.model);
        self.bus.reset();
        self.bus.drive(&mut self.model);
        self.hip.host.forget(&self.bus.memory);
        self.forget();
        self.drive();
    }

    /// Resets the layer alone: the hard IP goes on with the packets that it has.
    pub fn reset_layer(&mut self) {
        self.set("link_reset", 1);
        self.run(20);
        self.set("link_reset", 0);
        self.forget();
    }

    /// Drops all requests of the engine that are under way.
    fn forget(&mut self) {
        self.posts.clear();
        self.asks.clear();
        self.open.clear();
        self.chunk = None;
        self.beat = 0;
        self.shows_post = false;
        self.shows_ask = false;
    }

    pub fn set(&mut self, port: &str, value: u64) {
        self.model.set(self.ports[port], value);
    }

    pub fn get(&self, port: &str) -> u64 {
        self.model.get(self.ports[port])
    }

    fn clock(&mut self) {
        for level in [1, 0] {
            self.set("pcie_clk", level);
            self.model.eval().unwrap();
        }
    }

    /// Runs a cycle.
    pub fn step(&mut self) {
        self.cycle += 1;
        self.hip.sample(&self.model);
        self.bus.sample(&self.model);
        self.sample();
        self.set("pcie_clk", 1);
        self.model.eval().unwrap();
        self.hip.drive(&mut self.model);
        self.bus.drive(&mut self.model);
        self.drive();
        self.set("pcie_clk", 0);
        self.model.eval().unwrap();
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step();
        }
    }

    /// Runs until all has been sent and answered.
    #[track_caller]
    pub fn finish(&mut self, most: u64) {
        let last = self.cycle + most;
        let mut still = 0;
        while still < 100 {
            self.step();
            let busy = !self.posts.is_empty()
                || !self.asks.is_empty()
                || !self.open.is_empty()
                || self.hip.host.open() != 0
                || !self.hip.quiet();
            still = if busy { 0 } else { still + 1 };
            assert!(
                self.cycle < last,
                "{} posts and {} asks wait, {:?} are not answered, {} of the host; {} reads came, {} \
                 tags wait, {} are in progress; {:?}",
                self.posts.len(),
                self.asks.len(),
                self.open,
                self.hip.host.open(),
                self.hip.root.reads(),
                self.get("stalled_tags"),
                self.get("cpl_pending"),
                (&self.broken, self.hip.breaches().first()),
            );
        }
        self.clean();
    }

    /// Checks that no rule was broken, and that posted bytes are in memory.
    #[track_caller]
    pub fn clean(&self) {
        assert_eq!(self.hip.breaches(), []);
        assert_eq!(self.bus.breaches, []);
        assert_eq!(self.broken, Vec::<String>::new());
        for (address, byte) in &self.posted {
            let mut got = [0];
            self.hip.root.peek(*address, &mut got);
            assert_eq!(got, [*byte], "at {address:#x}");
        }
    }

    /// Returns the number of reads that were not answered.
    pub fn unanswered(&self) -> usize {
        self.open.len()
    }

    /// Queues a burst of `bytes` bytes from `address` on, as the engine makes them: one beat that is not whole, or
    /// several whole beats. Data are random.
    pub fn post(&mut self, address: u64, bytes: usize) {
        let width = self.bytes;
        let lane = address as usize % width;
        assert!(lane + bytes <= width || (lane == 0 && bytes.is_multiple_of(width)));
        let mut beats = Vec::new();
        for beat in 0..(lane + bytes).div_ceil(width) {
            let data: Vec<u8> = (0..width).map(|_| self.rng.random()).collect();
            let from = if beat == 0 { lane } else { 0 };
            let to = (lane + bytes - beat * width).min(width);
            let mut enable = 0u64;
            for (place, byte) in data.iter().enumerate().take(to).skip(from) {
                enable |= 1 << place;
                let at = address - lane as u64 + (beat * width + place) as u64;
                self.posted.insert(at, *byte);
            }
            beats.push((data, enable));
        }
        self.posts.push_back(Post {
            address: address - lane as u64,
            beats,
        });
    }

    /// Looks at the port before an edge.
    fn sample(&mut self) {
        if self.shows_post && self.get("post_ready") == 1 {
            self.beat += 1;
            if self
                .posts
                .front()
                .is_some_and(|post| post.beats.len() == self.beat)
            {
                self.posts.pop_front();
                self.beat = 0;
            }
            self.shows_post = false;
        }
        if self.shows_ask && self.get("ask_ready") == 1 {
            self.asks.pop_front();
            self.shows_ask = false;
        }
        if self.get("answer_valid") == 1 {
            self.answer();
        }
    }

    fn break_rule(&mut self, what: String) {
        self.broken.push(format!("cycle {}: {what}", self.cycle));
    }

    fn answer(&mut self) {
        let first = self.get("answer_first") == 1;
        let tag = self.get("answer_tag") as u8;
        if first {
            if let Some(chunk) = self.chunk.take() {
                self.break_rule(format!("{} bytes of tag {} missing", chunk.left, chunk.tag));
            }
            let Some((ask, done)) = self.open.get(&tag).copied() else {
                self.break_rule(format!("an answer with tag {tag}, which is not open"));
                return;
            };
            let code = self.get("answer_code") as u8;
            let bytes = self.get("answer_bytes") as u32;
            if code != 0 {
                self.open.remove(&tag);
                self.ends.push(End {
                    ask,
                    code,
                    bytes: done,
                    cycle: self.cycle,
                });
                return;
            }
            if bytes == 0 || done + bytes > ask.bytes {
                self.break_rule(format!("{bytes} bytes after {done} of {ask:?}"));
                return;
            }
            let at = ask.address + u64::from(done);
            let end = at + u64::from(bytes);
            if done + bytes != ask.bytes && end % self.bytes as u64 != 0 {
                self.break_rule(format!("a chunk of {ask:?} ends at {end:#x}"));
            }
            self.open.insert(tag, (ask, done + bytes));
            self.chunk = Some(Chunk {
                tag,
                left: bytes,
                at,
                lost: false,
            });
        }
        let Some(mut chunk) = self.chunk.take() else {
            self.break_rule("a beat of no chunk".to_owned());
            return;
        };
        let mut beat = vec![0; self.bytes];
        self.model.get_bytes(self.ports["answer_data"], &mut beat);
        let lane = (chunk.at % self.bytes as u64) as usize;
        let count = (self.bytes - lane).min(chunk.left as usize);
        chunk.lost |= self.get("answer_error") == 1;
        if self.checks_data && !chunk.lost {
            let mut expected = vec![0; count];
            self.hip.root.peek(chunk.at, &mut expected);
            if beat[lane..lane + count] != expected {
                let (ask, _) = self.open[&chunk.tag];
                self.break_rule(format!("wrong data at {:#x} of {ask:?}", chunk.at));
            }
        }
        chunk.at += count as u64;
        chunk.left -= count as u32;
        if chunk.left != 0 {
            self.chunk = Some(chunk);
            return;
        }
        let (ask, done) = self.open[&chunk.tag];
        if done == ask.bytes {
            self.open.remove(&chunk.tag);
            self.ends.push(End {
                ask,
                code: if chunk.lost { LOST } else { 0 },
                bytes: done,
                cycle: self.cycle,
            });
        }
    }

    /// Drives the port after an edge.
    fn drive(&mut self) {
        let idle = |rng: &mut ChaCha8Rng, percent: u8| rng.random_range(0..100) < percent;
        if !self.shows_post {
            self.shows_post = !self.posts.is_empty() && !idle(&mut self.rng, self.idle);
        }
        self.model
            .set(self.ports["post_valid"], self.shows_post.into());
        if let Some(post) = self.posts.front() {
            let (data, enable) = &post.beats[self.beat];
            self.model.set(self.ports["post_address"], post.address);
            self.model
                .set(self.ports["post_beats"], post.beats.len() as u64);
            self.model.set(self.ports["post_enable"], *enable);
            self.model.set_bytes(self.ports["post_data"], data);
        }
        if !self.shows_ask
            && let Some(ask) = self.asks.front().copied()
            && !self.open.contains_key(&ask.tag)
            && !idle(&mut self.rng, self.idle)
        {
            self.shows_ask = true;
            self.open.insert(ask.tag, (ask, 0));
            self.model.set(self.ports["ask_address"], ask.address);
            self.model.set(self.ports["ask_bytes"], ask.bytes.into());
            self.model.set(self.ports["ask_tag"], ask.tag.into());
        }
        self.model
            .set(self.ports["ask_valid"], self.shows_ask.into());
    }
}
