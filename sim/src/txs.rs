//! The `Txs` port: the signals of the design, the answers of the bridge, and the contract between them.

use std::ops::Range;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    avalon::{Checker, Enables, Request, Rules},
    bridge::{BURST_BYTES, Bridge, Shown, Taken, WIDEST, Windows},
    bus::Bus,
    config::{Backpressure, BoardConfig},
    pcie::Pcie,
    rng::Rng,
    stats::TxsStats,
    violation::{Clock, Error, Log, Result},
};

#[derive(Debug)]
pub(crate) struct Txs {
    address: Port,
    read: Port,
    write: Port,
    writedata: Port,
    byteenable: Port,
    burstcount: Port,
    waitrequest: Port,
    readdata: Port,
    readdatavalid: Port,
    width: u32,
    address_bits: u32,
    pub(crate) bridge: Bridge,
    backpressure: Backpressure,
    not_ready: Backpressure,
    response_gaps: u8,
    checker: Checker,
    rng: Rng,
    /// Whether logic in front of the bridge holds the master in this cycle.
    held: bool,
    /// Level of `waitrequest` that the design sees in this cycle.
    wait: bool,
    valid: bool,
    data: [u8; WIDEST],
    /// Whether a request is being held, so that no new one has begun.
    holding: bool,
    /// Whether the block's own reset is asserted, so that the block breaks no rule.
    pub(crate) block_in_reset: bool,
    pub(crate) stats: TxsStats,
    /// Addresses whose first request is recorded.
    pub(crate) watch: Range<u64>,
}

impl Txs {
    /// Binds the port, if the design has one.
    pub(crate) fn bind(library: &Library, config: &BoardConfig) -> Result<Option<Self>> {
        let width_of = |name: &str| {
            let port = library.ports().iter().find(|port| port.name == name);
            port.map(|port| port.width)
        };
        let (Some(bits), Some(address_bits)) = (width_of("txs_writedata"), width_of("txs_address"))
        else {
            return Ok(None);
        };
        if ![64, 128, 256].contains(&bits) {
            return Err(Error::Width {
                port: "txs_writedata".to_owned(),
                width: bits,
                expected: "64, 128 or 256".to_owned(),
            });
        }
        let width = bits / 8;
        let output = |name, bits| library.port_as(name, Direction::Output, bits);
        let input = |name, bits| library.port_as(name, Direction::Input, bits);
        Ok(Some(Self {
            address: output("txs_address", address_bits)?,
            read: output("txs_read", 1)?,
            write: output("txs_write", 1)?,
            writedata: output("txs_writedata", bits)?,
            byteenable: output("txs_byteenable", width)?,
            burstcount: output("txs_burstcount", width_of("txs_burstcount").unwrap_or(6))?,
            waitrequest: input("txs_waitrequest", 1)?,
            readdata: input("txs_readdata", bits)?,
            readdatavalid: input("txs_readdatavalid", 1)?,
            width,
            address_bits,
            bridge: Bridge::new(config, width, address_bits),
            backpressure: config.txs.backpressure,
            not_ready: config.txs.not_ready,
            response_gaps: config.txs.response_gaps,
            checker: Checker::new(Rules {
                name: "txs",
                clock: Clock::Pcie,
                width,
                max_burst: BURST_BYTES,
                enables: match config.txs.allow_damage {
                    true => Enables::Any,
                    false => Enables::Txs,
                },
                forbid_4k: config.txs.forbid_4k_crossing,
            }),
            rng: Rng::new(config.seed, 2),
            held: false,
            wait: true,
            valid: false,
            data: [0; WIDEST],
            holding: false,
            block_in_reset: false,
            stats: TxsStats::default(),
            watch: 0..u64::MAX,
        }))
    }

    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    pub(crate) fn address_bits(&self) -> u32 {
        self.address_bits
    }

    pub(crate) fn set_windows(&mut self, shift: u32, bases: Vec<u64>) {
        self.bridge.windows = Windows { shift, bases };
    }

    pub(crate) fn set_backpressure(&mut self, backpressure: Backpressure) {
        self.backpressure = backpressure;
    }

    pub(crate) fn set_not_ready(&mut self, not_ready: Backpressure) {
        self.not_ready = not_ready;
    }

    /// Applies the application reset of the hard IP together with that of the block.
    pub(crate) fn reset(&mut self, pcie: &mut Pcie) {
        self.bridge.reset(pcie, false);
        self.checker.reset();
        self.wait = true;
        self.valid = false;
        self.holding = false;
    }

    /// Applies the application reset of the hard IP without that of the block.
    pub(crate) fn reset_bridge(&mut self, pcie: &mut Pcie) {
        self.bridge.reset(pcie, true);
        self.valid = false;
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
        let (read, write) = (model.get(self.read) != 0, model.get(self.write) != 0);
        let active = read || write;
        // The port of a 64-bit design is narrower than the array of `words`.
        let narrow;
        let mut shown = Shown {
            read: read && !self.held,
            write: write && !self.held,
            held: self.held,
            address: 0,
            burst: 0,
            enable: 0,
            data: &[],
        };
        if active || self.holding {
            shown.address = model.get(self.address);
            shown.burst = model.get(self.burstcount) as u32;
            shown.enable = model.get(self.byteenable);
            shown.data = model.words(self.writedata);
            if shown.data.is_empty() {
                let data = model.get(self.writedata);
                narrow = [data as u32, (data >> 32) as u32];
                shown.data = &narrow;
            }
            self.check(&shown, (read, write), cycle, log);
        }
        let holds = self.not_ready.holds(cycle, &mut self.rng);
        let bridge = &mut self.bridge;
        let taken = bridge.tick(&shown, !holds, now, cycle, pcie, bus, log);
        self.count(taken);
        self.held = self.backpressure.holds(cycle, &mut self.rng);
        let gap = self.response_gaps > 0 && self.rng.chance(self.response_gaps);
        let given = if gap { None } else { self.bridge.give() };
        self.valid = given.is_some();
        if let Some(given) = given {
            self.data = given.data;
            self.stats.read_words += 1;
            if let Some(since) = given.ended {
                pcie.stats.read_done(now - since);
            }
        }
    }

    /// Checks the master's command, and counts the cycles in which it waits.
    fn check(&mut self, shown: &Shown<'_>, (read, write): (bool, bool), cycle: u64, log: &mut Log) {
        if self.block_in_reset {
            self.checker.forget_held();
            self.holding = false;
            return;
        }
        if read || write {
            if !self.holding && !self.bridge.in_burst() {
                self.stats.last_request_cycle = cycle;
                if self.watch.contains(&shown.address) {
                    self.stats.first_request_cycle.get_or_insert(cycle);
                }
            }
            if self.wait {
                self.stats.wait_cycles += 1;
                if read && self.bridge.reads_full() {
                    self.stats.wait_reads += 1;
                }
            }
        }
        self.holding = (read || write) && self.wait;
        let request = Request {
            read,
            write,
            address: shown.address,
            burst: shown.burst,
            enable: shown.enable,
            data: shown.data,
            wait: self.wait,
        };
        self.checker.step(cycle, &request, log);
    }

    fn count(&mut self, taken: Taken) {
        self.stats.write_words += u64::from(taken.beat);
        self.stats.write_bursts += u64::from(taken.first);
        if taken.read {
            self.stats.read_bursts += 1;
            self.stats.most_reads = self.stats.most_reads.max(self.bridge.owed() as u32);
        }
    }

    /// Drives the port after the edge. `waitrequest` depends on the design's command of this cycle.
    pub(crate) fn drive(&mut self, model: &mut Model) {
        self.wait = self.waits(model);
        model.set(self.waitrequest, u64::from(self.wait));
        model.set(self.readdatavalid, u64::from(self.valid));
        if self.valid {
            model.set_bytes(self.readdata, &self.data[..self.width as usize]);
        }
    }

    fn waits(&self, model: &Model) -> bool {
        self.held || self.bridge.waits(model.get(self.read) != 0)
    }

    /// Returns `true`, with `waitrequest` updated, if the design shows another command since the port was driven: the
    /// design then has to be settled again.
    pub(crate) fn follow(&mut self, model: &mut Model) -> bool {
        let wait = self.waits(model);
        if wait == self.wait {
            return false;
        }
        self.wait = wait;
        model.set(self.waitrequest, u64::from(wait));
        true
    }
}
