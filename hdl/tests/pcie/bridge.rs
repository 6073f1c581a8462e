//! The bridge from the host's requests to the block's own slaves and to the board, alone: a master that keeps the rules
//! of the bus and makes any request, slaves and a board with memory, and a reference that is a map of bytes.

use peerlane_hdl::pcie::bridge::{Bridge, Sizes};
use peerlane_hdl::{Params, Slaves};
use peerlane_verilated::{Library, Model, Port};
use peerlane_verilog::Design;
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};
use std::panic::catch_unwind;

const TOP: &str = "bridge";

/// Eight channels, 256 entries.
const SIZES: Sizes = Sizes {
    chan_log2: 15,
    att_log2: 11,
};

/// Name, base, bytes, and cycles from a read to its data.
const SLAVES: [(&str, u64, u64, u64); 4] = [
    ("csr", 0xC800, 1 << 10, 2),
    ("chan", 0x2_0000, 1 << 15, 1),
    ("att", 0x1_0800, 1 << 11, 1),
    ("msix", 0x3_3000, 1 << 12, 1),
];

/// Edges of the slaves and their neighbours, and the ends of the BAR.
const PLACES: [u64; 10] = [
    0xC800, 0xCC00, 0x2_0000, 0x2_8000, 0x1_0800, 0x1_1000, 0x3_3000, 0x3_4000, 0, 0x4_0000,
];

fn design() -> Design {
    let mut bridge = Bridge::new(
        &Slaves {
            bar: 0,
            csr: SLAVES[0].1,
            chan: SLAVES[1].1,
            att: SLAVES[2].1,
            msix: Some(SLAVES[3].1),
            window: None,
        },
        SIZES,
    );
    peerlane_language::Block::connect_all(&mut bridge);
    peerlane_verilog::emit(TOP, &bridge, "").expect("the bridge emits")
}

fn slave_of(address: u64) -> Option<usize> {
    SLAVES
        .iter()
        .position(|(_, base, bytes, _)| (*base..base + bytes).contains(&address))
}

/// Returns the value of a byte before it is written.
fn untouched(address: u64) -> u8 {
    (address ^ address >> 7).wrapping_mul(0x9D) as u8
}

/// Byte-addressed memory: the reference, and each slave's and the board's own.
#[derive(Default)]
struct Bytes(HashMap<u64, u8>);

impl Bytes {
    fn read(&self, at: u64, bytes: u64) -> u64 {
        (0..bytes).fold(0, |all, n| {
            let byte = self.0.get(&(at + n)).copied();
            all | u64::from(byte.unwrap_or_else(|| untouched(at + n))) << (8 * n)
        })
    }

    fn write(&mut self, at: u64, value: u64, enable: u64) {
        for n in (0..8).filter(|n| enable >> n & 1 == 1) {
            self.0.insert(at + n, (value >> (8 * n)) as u8);
        }
    }
}

/// A burst of the master: its beats' data and byte enables; one enable for all of a read.
#[derive(Clone, Debug)]
struct Burst {
    read: bool,
    address: u64,
    beats: u64,
    data: Vec<(u64, u64)>,
}

struct Bench {
    model: Model,
    ports: HashMap<String, Port>,
    rng: ChaCha8Rng,
    /// In percent: cycles without a command, and in which the board takes nothing or brings nothing.
    idle: u8,
    wait: u8,
    /// The master only counts the data that come.
    drops: bool,
    silent: u8,
    reference: Bytes,
    real: Bytes,
    standing: Option<(Burst, usize)>,
    /// Data that the bus is owed, in order: their values, and which bytes count.
    owed: VecDeque<(u64, u64)>,
    /// Values that the slaves show, with the cycle in which they show them.
    shown: [VecDeque<(u64, u32)>; 4],
    board_owes: VecDeque<u64>,
    board_burst: Option<(u64, u64)>,
    board_waits: bool,
    accesses: u64,
    cycle: u64,
    /// Cycles of the last read of one dword.
    began: u64,
    took: u64,
}

impl Bench {
    fn new(library: &Library, seed: u64) -> Self {
        let ports = library
            .ports()
            .iter()
            .map(|port| (port.name.clone(), library.port(&port.name).unwrap()))
            .collect();
        let mut bench = Self {
            model: library.instance_seeded(seed as u32).unwrap(),
            ports,
            rng: ChaCha8Rng::seed_from_u64(seed),
            idle: 0,
            wait: 0,
            drops: false,
            silent: 0,
            reference: Bytes::default(),
            real: Bytes::default(),
            standing: None,
            owed: VecDeque::new(),
            shown: Default::default(),
            board_owes: VecDeque::new(),
            board_burst: None,
            board_waits: true,
            accesses: 0,
            cycle: 0,
            began: 0,
            took: 0,
        };
        for level in [1, 0] {
            bench.set("link_reset", level);
            bench.edge();
            bench.edge();
        }
        bench
    }

    fn set(&mut self, port: &str, value: u64) {
        self.model.set(self.ports[port], value);
    }

    fn get(&self, port: &str) -> u64 {
        self.model.get(self.ports[port])
    }

    fn edge(&mut self) {
        for level in [1, 0] {
            self.set("pcie_clk", level);
            self.model.eval().unwrap();
        }
    }

    fn chance(&mut self, percent: u8) -> bool {
        self.rng.random_range(0..100) < percent
    }

    /// Makes a burst near one of the places, as the target makes them: in 256 bytes, and a read of several beats is
    /// whole.
    fn think(&mut self) -> Burst {
        let edge = *PLACES.choose(&mut self.rng).unwrap();
        let near = self.rng.random_range(0..40) * 8;
        let address = if self.rng.random() {
            (edge + near) % 0x4_0000
        } else {
            edge.saturating_sub(8 + near)
        };
        let most = (256 - address % 256) / 8;
        let beats = match self.rng.random_range(0..3) {
            0 => 1,
            1 => self.rng.random_range(1..=most),
            _ => self.rng.random_range(1..=most.min(4)),
        };
        let read = self.rng.random();
        let data = (0..beats)
            .map(|_| {
                let enable = match (read, beats) {
                    (true, 2..) => 0xFF,
                    (true, _) => self.rng.random_range(1..=255),
                    // The rest of a write that was given up has no byte.
                    _ => *[0xFF, 0xFF, 0x0F, 0xF0, self.rng.random_range(0..=255), 0]
                        .choose(&mut self.rng)
                        .unwrap(),
                };
                (self.rng.random(), enable)
            })
            .collect();
        Burst {
            read,
            address,
            beats,
            data,
        }
    }

    /// Looks at the slaves, and stores their accesses.
    fn slaves(&mut self) {
        for (index, (name, base, bytes, latency)) in SLAVES.into_iter().enumerate() {
            let get = |what: &str| self.get(&format!("{name}_{what}"));
            let (read, write) = (get("read") == 1, get("write") == 1);
            let (word, enable) = (get("address"), get("byteenable"));
            let data = get("writedata");
            assert!(!(read && write), "{name}");
            if !read && !write {
                continue;
            }
            let at = word * 4;
            assert!(at < bytes, "{name} at {at:#x}");
            assert_ne!(enable, 0, "{name}: an access to no byte");
            self.accesses += 1;
            if write {
                self.real.write(base + at, data, enable);
            } else {
                let value = self.real.read(base + at, 4) as u32;
                self.shown[index].push_back((self.cycle + latency, value));
            }
        }
    }

    /// Looks at the board's side.
    fn board(&mut self) {
        let (read, write) = (self.get("board_read") == 1, self.get("board_write") == 1);
        assert!(!(read && write));
        if (read || write) && !self.board_waits {
            let (address, beats) = (self.get("board_address"), self.get("board_burstcount"));
            assert_eq!(slave_of(address), None, "{address:#x} went to the board");
            if read {
                let values = (0..beats).map(|beat| self.real.read(address + 8 * beat, 8));
                self.board_owes.extend(values);
            } else {
                let (at, left) = self.board_burst.unwrap_or((address, beats));
                let (data, enable) = (self.get("board_writedata"), self.get("board_byteenable"));
                self.real.write(at, data, enable);
                self.board_burst = (left > 1).then_some((at + 8, left - 1));
            }
        }
    }

    /// Looks at the bus: the data that come, the commands that are taken.
    fn bus(&mut self) {
        if self.get("host_readdatavalid") == 1 {
            let data = self.get("host_readdata");
            let (value, mask) = self.owed.pop_front().expect("data that were not requested");
            if !self.drops {
                assert_eq!(data & mask, value & mask, "cycle {}", self.cycle);
            }
            self.took = self.cycle - self.began;
        }
        let shows = self.get("host_read") == 1 || self.get("host_write") == 1;
        if !shows || self.get("host_waitrequest") == 1 {
            return;
        }
        let Some((burst, beat)) = self.standing.take() else {
            return;
        };
        let (data, enable) = burst.data[beat];
        let at = burst.address + 8 * beat as u64;
        if !burst.read {
            self.reference.write(at, data, enable);
            if beat + 1 < burst.data.len() {
                self.standing = Some((burst, beat + 1));
            }
            return;
        }
        self.began = self.cycle;
        for number in 0..burst.beats {
            let enable = burst.data[number as usize].1;
            let mask = (0..8)
                .filter(|n| enable >> n & 1 == 1)
                .fold(0, |all, n| all | 0xFF << (8 * n));
            let value = self.reference.read(at + 8 * number, 8);
            self.owed.push_back((value, mask));
        }
    }

    fn drive(&mut self, more: bool) {
        if self.standing.is_none() && more && !self.chance(self.idle) {
            self.standing = Some((self.think(), 0));
        }
        // Within a burst a beat may come later.
        let hides = self
            .standing
            .as_ref()
            .is_some_and(|(burst, beat)| !burst.read && *beat > 0)
            && self.chance(self.idle);
        let shows = self.standing.clone().filter(|_| !hides);
        let command = |read: bool| shows.as_ref().is_some_and(|(burst, _)| burst.read == read);
        let (reads, writes) = (command(true), command(false));
        self.set("host_read", reads.into());
        self.set("host_write", writes.into());
        if let Some((burst, beat)) = &shows {
            self.set("host_address", burst.address);
            self.set("host_burstcount", burst.beats);
            self.set("host_writedata", burst.data[*beat].0);
            self.set("host_byteenable", burst.data[*beat].1);
        }
        self.board_waits = self.chance(self.wait);
        self.set("board_waitrequest", self.board_waits.into());
        let brings = !self.board_owes.is_empty() && !self.chance(self.silent);
        let owed = match brings {
            true => self.board_owes.pop_front(),
            false => None,
        };
        let data = match owed {
            Some(value) => value,
            None => self.rng.random(),
        };
        self.set("board_readdatavalid", brings.into());
        self.set("board_readdata", data);
        for (index, (name, ..)) in SLAVES.into_iter().enumerate() {
            // Valid only in its cycle; before and after it any value.
            let now = self.cycle;
            let value = match self.shown[index].front() {
                Some((at, value)) if *at == now => *value,
                _ => self.rng.random(),
            };
            self.shown[index].retain(|(at, _)| *at > now);
            self.set(&format!("{name}_readdata"), value.into());
        }
    }

    fn step(&mut self, more: bool) {
        self.model.eval().unwrap();
        self.slaves();
        self.board();
        self.bus();
        self.cycle += 1;
        self.edge();
        self.drive(more);
    }

    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step(true);
        }
        let mut left = 20_000;
        while self.standing.is_some() || !self.owed.is_empty() {
            self.step(false);
            left -= 1;
            assert!(left > 0, "{:?}, owed {}", self.standing, self.owed.len());
        }
        for _ in 0..100 {
            self.step(false);
        }
        for (at, byte) in &self.reference.0 {
            assert_eq!(self.real.0.get(at), Some(byte), "at {at:#x}");
        }
        assert_eq!(self.real.0.len(), self.reference.0.len());
    }

    /// Runs one burst, until it is over.
    fn one(&mut self, burst: Burst) {
        self.standing = Some((burst, 0));
        self.run(0);
    }
}

fn random(library: &Library) {
    for (seed, (idle, wait, silent)) in [(0, 0, 0), (50, 0, 0), (0, 60, 80), (30, 30, 30)]
        .into_iter()
        .enumerate()
    {
        let mut bench = Bench::new(library, seed as u64);
        (bench.idle, bench.wait, bench.silent) = (idle, wait, silent);
        bench.run(30_000);
        assert!(bench.accesses > 3000, "{}", bench.accesses);
    }
}

/// Tests that slaves are written and not read while the board owes data.
fn board_that_owes(library: &Library) {
    let mut bench = Bench::new(library, 9);
    bench.silent = 100;
    let burst = |read, address| Burst {
        read,
        address,
        beats: 1,
        data: vec![(0x1111_2222_3333_4444, 0xFF)],
    };
    bench.standing = Some((burst(true, 0x100), 0));
    for _ in 0..20 {
        bench.step(false);
    }
    bench.standing = Some((burst(false, 0xC800), 0));
    for _ in 0..20 {
        bench.step(false);
    }
    assert_eq!(bench.real.read(0xC800, 8), 0x1111_2222_3333_4444);
    let before = bench.accesses;
    bench.standing = Some((burst(true, 0xC800), 0));
    for _ in 0..200 {
        bench.step(false);
    }
    assert_eq!((bench.accesses, bench.owed.len()), (before, 1));
    bench.silent = 0;
    bench.run(0);
    assert_eq!(bench.accesses, before + 2);
}

/// Gives up the bus while a read of a slave waits: it is taken, as many data come as are owed, and writes go on. The
/// board may bring the data that it owes at any moment of that.
fn given_up(library: &Library) {
    for moment in 0..40 {
        let mut bench = Bench::new(library, 10 + moment);
        let burst = |read, address, beats| Burst {
            read,
            address,
            beats,
            data: vec![(0x1111_2222_3333_4444, 0xFF); beats as usize],
        };
        bench.silent = 100;
        bench.standing = Some((burst(true, 0x100, 16), 0));
        for _ in 0..20 {
            bench.step(false);
        }
        bench.drops = true;
        bench.standing = Some((burst(true, 0xC800, 8), 0));
        for _ in 0..20 {
            bench.step(false);
        }
        assert!(bench.standing.is_some());
        bench.set("host_down", 1);
        for _ in 0..moment {
            bench.step(false);
        }
        bench.silent = if moment % 2 == 0 { 0 } else { 60 };
        for _ in 0..2 {
            bench.step(false);
        }
        assert!(bench.standing.is_none(), "the read is not taken");
        bench.standing = Some((burst(false, 0xC800, 1), 0));
        for _ in 0..300 {
            bench.step(false);
        }
        assert_eq!((bench.standing.is_none(), bench.owed.len()), (true, 0));
        bench.set("host_down", 0);
        bench.drops = false;
        bench.silent = 0;
        bench.run(200);
    }
}

/// Resets amid a burst and with data owed: late data belong to no read, and the next burst starts normally.
fn resets(library: &Library) {
    let mut bench = Bench::new(library, 4);
    for round in 0..300 {
        (bench.idle, bench.wait, bench.silent) = (20, 40, 50);
        for _ in 0..40 + round % 17 {
            bench.step(true);
        }
        bench.set("link_reset", 1);
        bench.set("host_read", 0);
        bench.set("host_write", 0);
        bench.edge();
        bench.edge();
        bench.set("link_reset", 0);
        bench.standing = None;
        bench.owed.clear();
        bench.shown = Default::default();
        bench.board_burst = None;
        // A write may have been made or not; the data that the board owes come late.
        bench.reference.0.clone_from(&bench.real.0);
        bench.silent = 0;
        for _ in 0..200 {
            bench.step(false);
        }
    }
    bench.run(2000);
}

fn all(library: &Library) {
    random(library);
    board_that_owes(library);
    given_up(library);
    resets(library);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_host_reaches_slaves_and_board() {
    all(&peerlane_block::library_of(TOP, &design()).unwrap());
}

/// Each slave has a place of its own, which the address alone identifies.
#[test]
fn places_that_an_address_does_not_tell_apart_are_refused() {
    let places = Slaves {
        bar: 0,
        csr: 0xC800,
        chan: 0x2_0000,
        att: 0x2_8000,
        msix: None,
        window: Some(0x1_0000),
    };
    let problem = |port, slaves| {
        let params = Params {
            port,
            slaves: Some(slaves),
            ..Params::default()
        };
        params.validate().err().map(|error| error.name)
    };
    assert_eq!(problem(peerlane_hdl::Port::Tlp, places), None);
    let csr = |csr| Slaves { csr, ..places };
    let chan = |chan| Slaves { chan, ..places };
    let att = |att| Slaves { att, ..places };
    for (name, bad) in [
        ("slaves.csr", csr(0xC900)),
        ("slaves.chan", chan(0x2_1000)),
        ("slaves.att", att(0x2_0000)),
        ("slaves.bar", Slaves { bar: 6, ..places }),
    ] {
        assert_eq!(problem(peerlane_hdl::Port::Tlp, bad), Some(name));
        // With another port an interconnect decides that.
        assert_eq!(problem(peerlane_hdl::Port::Txs, bad), None);
    }
}

/// A dword of a register is there three cycles after the one in which the bus's command was taken.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_register_costs_three_cycles() {
    let mut bench = Bench::new(&peerlane_block::library_of(TOP, &design()).unwrap(), 2);
    for (address, enable) in [(0xC800, 0x0F), (0xC800, 0xF0), (0x2_0010, 0x0F)] {
        bench.one(Burst {
            read: true,
            address,
            beats: 1,
            data: vec![(0, enable)],
        });
        assert_eq!(bench.took, 3);
    }
}

/// Text that the bridge's Verilog has once, and its replacement.
const FAULTS: [(&str, &str); 10] = [
    (
        "assign board_hit = (~hits) & (~busy_q);",
        "assign board_hit = ~hits;",
    ),
    (
        "write_at_d = write_at_q + 32'd8;",
        "write_at_d = write_at_q;",
    ),
    (
        "assign brings = (ends & reads_q) & (~(|rest));",
        "assign brings = ends & reads_q;",
    ),
    (
        "half_at = (place_q >> 2'd2) | 32'd1;",
        "half_at = place_q >> 2'd2;",
    ),
    (
        "assign board_brings = board_readdatavalid & (|owed_q);",
        "assign board_brings = board_readdatavalid;",
    ),
    ("rest = 8'd0;", "rest = enable_q;"),
    ("enable_d = 8'hff;", "enable_d = 8'h0f;"),
    (
        "host_waitrequest = busy_q | board_waitrequest;",
        "host_waitrequest = board_waitrequest;",
    ),
    ("value = csr_readdata;", "value = early_q;"),
    ("(host_write | (~(|owed_q)))", "1'b1"),
];

#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn planted_faults_of_the_bridge_are_found() {
    let sound = design();
    all(&peerlane_block::library_of(TOP, &sound).unwrap());
    for (from, to) in FAULTS {
        let mut design = sound.clone();
        let module = design.modules.last_mut().unwrap();
        assert_eq!(
            module.verilog.matches(from).count(),
            1,
            "`{from}`:\n{}",
            module.verilog
        );
        module.verilog = module.verilog.replace(from, to);
        let library = peerlane_block::library_of(TOP, &design).unwrap();
        assert!(
            catch_unwind(|| all(&library)).is_err(),
            "no test detects `{to}`"
        );
    }
}
