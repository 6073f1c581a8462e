//! The `Txs` port: what the design drives, the hard IP's answers, and the contract between them.

use std::ops::Range;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    avalon::{Checker, Enables, Event, Request, Rules},
    bus::Bus,
    config::BoardConfig,
    pcie::Pcie,
    rng::Rng,
    stats::TxsStats,
    violation::{Clock, Error, Log, Result, Rule},
};

/// Translation of a 32-bit `Txs` address: all windows of one size (user guide 683411, "Avalon-MM
/// to PCI Express address translation").
#[derive(Debug, Clone, Default)]
struct Windows {
    shift: u32,
    bases: Vec<u64>,
}

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
    windows: Windows,
    backpressure: crate::config::Backpressure,
    checker: Checker,
    rng: Rng,
    /// What the design was told at the last edge.
    wait: bool,
    valid: bool,
    data: [u8; 64],
    /// A request is being held, so a new one has not begun.
    holding: bool,
    in_burst: bool,
    pub(crate) stats: TxsStats,
    /// Addresses whose first request is looked for.
    pub(crate) watch: Range<u64>,
}

impl Txs {
    /// The port, if the design has one.
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
            windows: Windows::default(),
            backpressure: config.txs.backpressure,
            checker: Checker::new(Rules {
                name: "txs",
                clock: Clock::Pcie,
                width,
                max_burst: config.txs.max_burst,
                enables: Enables::Txs(config.txs.write_granularity),
                forbid_4k: config.txs.forbid_4k_crossing,
            }),
            rng: Rng::new(config.seed, 2),
            wait: true,
            valid: false,
            data: [0; 64],
            holding: false,
            in_burst: false,
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
        self.windows = Windows { shift, bases };
    }

    pub(crate) fn set_backpressure(&mut self, backpressure: crate::config::Backpressure) {
        self.backpressure = backpressure;
    }

    pub(crate) fn reset(&mut self) {
        self.checker.reset();
        self.wait = true;
        self.valid = false;
        self.holding = false;
        self.in_burst = false;
    }

    /// The bus address of a `Txs` address.
    fn translate(&self, address: u64) -> Option<u64> {
        if self.address_bits > 32 {
            return Some(address);
        }
        let windows = &self.windows;
        let base = windows.bases.get((address >> windows.shift) as usize)?;
        Some(base | (address & ((1 << windows.shift) - 1)))
    }

    /// Looks at the port at a clock edge, before the edge changes it, and decides what the
    /// design is told next.
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
        if active || self.holding {
            self.request(model, (read, write), now, cycle, pcie, bus, log);
        }
        self.wait = pcie.full() || self.backpressure.holds(cycle, &mut self.rng);
        self.valid = match pcie.deliver(now) {
            Some(word) => {
                self.data[..word.len()].copy_from_slice(word);
                self.stats.read_words += 1;
                true
            }
            None => false,
        };
    }

    #[expect(clippy::too_many_arguments, reason = "one call, all of it different")]
    fn request(
        &mut self,
        model: &Model,
        (read, write): (bool, bool),
        now: u64,
        cycle: u64,
        pcie: &mut Pcie,
        bus: &mut Bus,
        log: &mut Log,
    ) {
        // The port of a 64-bit design is narrower than what `words` gives.
        let narrow = model.get(self.writedata);
        let narrow = [narrow as u32, (narrow >> 32) as u32];
        let words = model.words(self.writedata);
        let data = if words.is_empty() { &narrow[..] } else { words };
        let request = Request {
            read,
            write,
            address: model.get(self.address),
            burst: model.get(self.burstcount) as u32,
            enable: model.get(self.byteenable),
            data,
            wait: self.wait,
        };
        if read || write {
            if !self.holding && !self.in_burst {
                self.stats.last_request_cycle = cycle;
                if self.watch.contains(&request.address) {
                    self.stats.first_request_cycle.get_or_insert(cycle);
                }
            }
            if self.wait {
                self.stats.wait_cycles += 1;
                if read && pcie.reads_full() {
                    self.stats.wait_reads += 1;
                }
            }
        }
        self.holding = (read || write) && self.wait;
        match self.checker.step(cycle, &request, log) {
            Event::None => {}
            Event::Read {
                address,
                burst,
                enable,
            } => {
                self.stats.read_bursts += 1;
                if let Some(bus_address) = self.located(address, cycle, log) {
                    pcie.read(now, bus_address, burst, enable, bus);
                    self.stats.most_reads = self.stats.most_reads.max(pcie.outstanding() as u32);
                }
            }
            Event::Write {
                address,
                enable,
                first,
                last,
            } => {
                self.stats.write_words += 1;
                self.stats.write_bursts += u64::from(first);
                self.in_burst = !last;
                if let Some(bus_address) = self.located(address, cycle, log) {
                    pcie.write_beat(now, bus_address, enable, data, last, bus);
                }
            }
        }
    }

    fn located(&self, address: u64, cycle: u64, log: &mut Log) -> Option<u64> {
        let found = self.translate(address);
        if found.is_none() {
            log.add(
                Clock::Pcie,
                cycle,
                "txs_address",
                Rule::OutOfRange,
                format!("{address:#x} is in none of the windows"),
            );
        }
        found
    }

    /// Drives the port after the edge.
    pub(crate) fn drive(&self, model: &mut Model) {
        model.set(self.waitrequest, u64::from(self.wait));
        model.set(self.readdatavalid, u64::from(self.valid));
        if self.valid {
            model.set_bytes(self.readdata, &self.data[..self.width as usize]);
        }
    }

    /// With all reads outstanding that there may be, `waitrequest` depends on whether the design
    /// asks for another: `true` when the design has to be settled again.
    pub(crate) fn hold_reads(&mut self, model: &mut Model, pcie: &Pcie) -> bool {
        if self.wait || !pcie.reads_full() || model.get(self.read) == 0 {
            return false;
        }
        self.wait = true;
        model.set(self.waitrequest, 1);
        true
    }
}
