//! The block under test and the expected values of its counters.
//!
//! In the Verilog under test a block RAM's word that is read in the cycle of its write reads wrong, so that
//! nothing can rely on it; flip-flops and RAMs start with random values.

use std::collections::VecDeque;

use peerlane_hdl::rtl::counters::Counters;
use peerlane_language::*;
use peerlane_verilated::{Build, Library, Model, Port, Toolchain};
use peerlane_verilog::emit;

/// Values at the ports in one cycle; pairs are of the write and the read direction.
#[derive(Clone, Default)]
pub struct Inputs {
    /// Channel and bytes.
    pub requests: [Option<(usize, u64)>; 2],
    /// Channel and status code.
    pub ends: [Option<(usize, u64)>; 2],
    pub levels: u64,
    pub take: bool,
    /// Word address and channel.
    pub read: Option<(usize, usize)>,
    pub reset: bool,
}

/// Expected values of all counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// BYTES, REQUESTS, DESCRIPTORS, FAULTS, ATT_FAULTS, TIMEOUTS of both directions.
    pub channels: Vec<[[u64; 6]; 2]>,
    pub levels: [u64; 9],
}

impl Truth {
    pub fn new(channels: usize, start: u64) -> Self {
        Self {
            channels: vec![[[start; 6]; 2]; channels],
            levels: [start; 9],
        }
    }

    pub fn count(&mut self, inputs: &Inputs) {
        let add = |value: &mut u64, amount: u64| *value = value.wrapping_add(amount);
        for direction in 0..2 {
            if let Some((channel, bytes)) = inputs.requests[direction] {
                add(&mut self.channels[channel][direction][0], bytes);
                add(&mut self.channels[channel][direction][1], 1);
            }
            if let Some((channel, code)) = inputs.ends[direction] {
                let counters = &mut self.channels[channel][direction];
                add(&mut counters[2], 1);
                add(&mut counters[3], u64::from(code != 0));
                add(&mut counters[4], u64::from((2..=6).contains(&code)));
                add(&mut counters[5], u64::from(code == 7));
            }
        }
        for (level, value) in self.levels.iter_mut().enumerate() {
            add(value, (inputs.levels >> level) & 1);
        }
    }
}

/// Where each signal is.
struct Ports {
    clock: Port,
    reset: Port,
    /// Valid, channel, bytes.
    requests: [[Port; 3]; 2],
    /// Valid, channel, code.
    ends: [[Port; 3]; 2],
    levels: Port,
    take: Port,
    busy: Port,
    read: Port,
    address: Port,
    channel: Port,
    value: Port,
}

pub struct Rig {
    model: Model,
    ports: Ports,
    pub channels: usize,
    start: u64,
    pub truth: Truth,
    /// `busy` and `value` of the last cycle.
    pub busy: bool,
    value: u64,
}

/// A block RAM does not define the value of a word that is read in the cycle of its write: here, it reads as its
/// inverse.
fn collisions_are_wrong(verilog: &str) -> String {
    const READ: &str = "read_word <= cells[";
    let Some((before, rest)) = verilog.split_once(READ) else {
        return verilog.to_owned();
    };
    let (address, after) = rest.split_once("];").unwrap();
    let written = address.replace("read_address", "write_address");
    format!(
        "{before}read_word <= (write_enable && {written} == {address}) ? ~cells[{address}] : \
         cells[{address}];{after}"
    )
}

/// Makes the model of a build. `start` is the value that each half of a total is cleared to.
fn library(channels_log2: usize, start: u32) -> Library {
    const CLEARED: &str = "word_d = 32'd0;";
    let mut block = Counters::new(channels_log2);
    block.connect_all();
    let design = emit("counters", &block, "Under test.").unwrap();
    let mut build = Build::new("counters").flag("-Wno-UNUSED");
    let mut cleared = 0;
    for module in &design.modules {
        cleared += module.verilog.matches(CLEARED).count();
        let text = collisions_are_wrong(&module.verilog)
            .replace(CLEARED, &format!("word_d = 32'd{start};"));
        build = build.text(format!("{}.v", module.name), text);
    }
    assert_eq!(cleared, 1, "one place where totals are cleared");
    build.model(&Toolchain::open().unwrap()).unwrap()
}

impl Rig {
    /// Makes a model after reset, ready to count.
    pub fn new(channels_log2: usize, start: u32, seed: u32) -> Self {
        let library = library(channels_log2, start);
        let port = |name: &str| library.port(name).unwrap();
        let three = |a: &str, b: &str, c: &str| [port(a), port(b), port(c)];
        let ports = Ports {
            clock: port("clock"),
            reset: port("reset"),
            requests: [
                three("write_request", "write_channel", "write_bytes"),
                three("read_request", "read_channel", "read_bytes"),
            ],
            ends: [
                three("write_end", "write_end_channel", "write_end_code"),
                three("read_end", "read_end_channel", "read_end_code"),
            ],
            levels: port("levels"),
            take: port("take"),
            busy: port("busy"),
            read: port("read"),
            address: port("address"),
            channel: port("channel"),
            value: port("value"),
        };
        let start = u64::from(start) << 32 | u64::from(start);
        let channels = 1 << channels_log2;
        let mut rig = Self {
            model: library.instance_seeded(seed).unwrap(),
            ports,
            channels,
            start,
            truth: Truth::new(channels, start),
            busy: false,
            value: 0,
        };
        rig.reset();
        rig
    }

    /// Runs one cycle. Events count in `truth`.
    pub fn cycle(&mut self, inputs: &Inputs) {
        let (m, p) = (&mut self.model, &self.ports);
        for (ports, event) in p
            .requests
            .iter()
            .chain(&p.ends)
            .zip(inputs.requests.iter().chain(&inputs.ends))
        {
            m.set(ports[0], u64::from(event.is_some()));
            if let Some((channel, value)) = *event {
                m.set(ports[1], channel as u64);
                m.set(ports[2], value);
            }
        }
        m.set(p.reset, u64::from(inputs.reset));
        m.set(p.levels, inputs.levels);
        m.set(p.take, u64::from(inputs.take));
        m.set(p.read, u64::from(inputs.read.is_some()));
        if let Some((address, channel)) = inputs.read {
            m.set(p.address, address as u64);
            m.set(p.channel, channel as u64);
        }
        m.set(p.clock, 0);
        m.eval().unwrap();
        self.busy = m.get(p.busy) == 1;
        self.value = m.get(p.value);
        m.set(p.clock, 1);
        m.eval().unwrap();
        self.truth.count(inputs);
    }

    pub fn reset(&mut self) {
        self.cycle(&Inputs {
            reset: true,
            ..Inputs::default()
        });
        self.cycle(&Inputs::default());
        assert!(self.busy, "counters are cleared first");
        self.idle(Inputs::default);
        self.truth = Truth::new(self.channels, self.start);
    }

    /// Runs cycles until `busy` is low, and returns their number.
    pub fn idle(&mut self, mut inputs: impl FnMut() -> Inputs) -> usize {
        // A snapshot takes a pass and up to 128 cycles; another may be waiting.
        let limit = 2 * (64 * self.channels + 128) + 16;
        for cycle in 1..=limit {
            self.cycle(&inputs());
            if !self.busy {
                return cycle;
            }
        }
        panic!("busy for {limit} cycles");
    }

    /// Reads every word, while `inputs` go on; first the word that the sweeper writes last.
    pub fn shown(&mut self, mut inputs: impl FnMut() -> Inputs) -> Truth {
        const LAST: usize = 20;
        let count = 64 * self.channels;
        let mut words = VecDeque::from(vec![0; count]);
        let mut asked = None;
        for i in 0..=count {
            let word = (count - 64 + LAST + i) % count;
            let read = (i < count).then_some((word % 64, word / 64));
            self.cycle(&Inputs { read, ..inputs() });
            if let Some(before) = asked.replace(word) {
                words[before] = self.value;
            }
            if word % 7 == 3 {
                self.cycle(&inputs());
                let value = self.value;
                self.cycle(&inputs());
                assert_eq!(self.value, value, "stays until the next read");
            }
        }
        let mut shown = Truth::new(self.channels, 0);
        for channel in 0..self.channels {
            let mut pair = || words.pop_front().unwrap() | words.pop_front().unwrap() << 32;
            for direction in 0..2 {
                for counter in 0..6 {
                    shown.channels[channel][direction][counter] = pair();
                }
                assert_eq!([pair(), pair()], [self.start; 2], "spare words");
            }
            let levels: [u64; 16] = std::array::from_fn(|_| pair());
            shown.levels.copy_from_slice(&levels[..9]);
            assert_eq!(levels[9..], [self.start; 7], "spare words");
        }
        shown
    }
}
