//! The board's host bus: an Avalon-MM slave of 64 bits with memory, for the master that a design has for the host's
//! accesses (Avalon Interface Specifications, "Avalon Memory-Mapped Interfaces").
//!
//! The slave takes commands at any time, brings data in order and late, brings nothing, or takes nothing. Its rules are
//! checked on every edge: a command stays until it is taken, a burst is finished, none crosses 256 bytes, and a read of
//! several beats enables all their bytes.

use std::collections::{HashMap, HashSet, VecDeque};

use peerlane_verilated::{Direction, Library, Model, Port};

use super::{root::Root, rules::Breach};
use crate::{rng::Rng, violation::Result};

/// Configuration of the bus.
#[derive(Debug, Clone, Copy)]
pub struct BusConfig {
    /// Chance in percent of a cycle in which no command is taken.
    pub wait: u8,
    /// Cycles from the one in which a read is taken to its first data, at least 1.
    pub latency: u64,
    /// Random addition to `latency`: 0 to this many cycles.
    pub jitter: u64,
    /// Chance in percent of a cycle without data.
    pub gaps: u8,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for BusConfig {
    fn default() -> Self {
        Self {
            wait: 0,
            latency: 1,
            jitter: 0,
            gaps: 0,
            seed: 1,
        }
    }
}

#[derive(Debug)]
struct Ports {
    address: Port,
    burstcount: Port,
    read: Port,
    write: Port,
    writedata: Port,
    byteenable: Port,
    waitrequest: Port,
    readdata: Port,
    readdatavalid: Port,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Command {
    read: bool,
    address: u64,
    beats: u64,
    data: u64,
    enable: u64,
}

/// The bus, and memory.
#[derive(Debug)]
pub struct HostBus {
    /// The configuration from now on.
    pub config: BusConfig,
    /// Whether the bus brings no data; owed data come later.
    pub silent: bool,
    /// The number of beats after which it becomes silent.
    pub silent_after: Option<u64>,
    /// Whether it takes no commands.
    pub stuck: bool,
    /// Rules that were broken.
    pub breaches: Vec<Breach>,
    /// Bytes that were written.
    pub memory: HashMap<u64, u8>,
    /// Bytes that were read.
    pub looked_at: HashSet<u64>,
    /// Reads that were taken.
    pub reads: u64,
    /// Beats of writes that were taken.
    pub writes: u64,
    /// Those beats of writes without an enabled byte.
    pub empty_writes: u64,
    ports: Ports,
    cycle: u64,
    rng: Rng,
    waits: bool,
    stood: Option<Command>,
    /// Place of the burst in progress, and the number of its beats that are missing.
    burst: Option<(u64, u64)>,
    owed: VecDeque<(u64, u64)>,
    shown: Option<u64>,
}

impl HostBus {
    /// Connects to a design with the master's ports.
    ///
    /// # Errors
    /// If the design does not have them.
    pub fn bind(library: &Library, config: BusConfig) -> Result<Self> {
        let output = |name, bits| library.port_as(name, Direction::Output, bits);
        let input = |name, bits| library.port_as(name, Direction::Input, bits);
        Ok(Self {
            config,
            silent: false,
            silent_after: None,
            stuck: false,
            breaches: Vec::new(),
            memory: HashMap::new(),
            looked_at: HashSet::new(),
            reads: 0,
            writes: 0,
            empty_writes: 0,
            ports: Ports {
                address: output("host_address", 32)?,
                burstcount: output("host_burstcount", 6)?,
                read: output("host_read", 1)?,
                write: output("host_write", 1)?,
                writedata: output("host_writedata", 64)?,
                byteenable: output("host_byteenable", 8)?,
                waitrequest: input("host_waitrequest", 1)?,
                readdata: input("host_readdata", 64)?,
                readdatavalid: input("host_readdatavalid", 1)?,
            },
            cycle: 0,
            rng: Rng::new(config.seed, 22),
            waits: true,
            stood: None,
            burst: None,
            owed: VecDeque::new(),
            shown: None,
        })
    }

    /// Returns the number of beats that it owes.
    pub fn owed(&self) -> usize {
        self.owed.len() + usize::from(self.shown.is_some())
    }

    /// Resets the bus: it owes nothing. Memory stays.
    pub fn reset(&mut self) {
        self.stood = None;
        self.burst = None;
        self.owed.clear();
        self.shown = None;
    }

    fn breach(&mut self, what: String) {
        let cycle = self.cycle;
        self.breaches.push(Breach { cycle, what });
    }

    /// Reads the pins before an edge.
    pub fn sample(&mut self, model: &Model) {
        self.cycle += 1;
        let ports = &self.ports;
        let (read, write) = (model.get(ports.read) != 0, model.get(ports.write) != 0);
        let command = (read || write).then(|| Command {
            read,
            address: model.get(ports.address),
            beats: model.get(ports.burstcount),
            data: if read { 0 } else { model.get(ports.writedata) },
            enable: model.get(ports.byteenable),
        });
        if read && write {
            self.breach("read and write at once".to_owned());
        }
        if let Some(stood) = self.stood
            && command != Some(stood)
        {
            self.breach(format!(
                "the waiting command {stood:x?} changed to {command:x?}"
            ));
        }
        self.stood = None;
        if let Some(command) = command {
            if self.waits {
                self.stood = Some(command);
            } else {
                self.take(command);
            }
        }
        self.waits = self.stuck || self.rng.chance(self.config.wait);
        self.shown = None;
        if let Some(0) = self.silent_after {
            self.silent = true;
            self.silent_after = None;
        }
        if !self.silent
            && self.owed.front().is_some_and(|(at, _)| *at <= self.cycle)
            && !self.rng.chance(self.config.gaps)
            && let Some((_, data)) = self.owed.pop_front()
        {
            self.shown = Some(data);
            if let Some(left) = &mut self.silent_after {
                *left -= 1;
            }
        }
    }

    fn take(&mut self, command: Command) {
        let Command {
            read,
            address,
            beats,
            data,
            enable,
        } = command;
        if self.burst.is_none()
            && (address % 8 != 0 || beats == 0 || address % 256 + beats * 8 > 256)
        {
            self.breach(format!("a burst of {command:x?}"));
        }
        if read {
            if let Some(burst) = self.burst {
                self.breach(format!("a read inside the write burst {burst:x?}"));
            }
            if enable == 0 || beats > 1 && enable != 0xFF {
                self.breach(format!("bytes of {command:x?}"));
            }
            self.reads += 1;
            let first =
                self.cycle + self.config.latency.max(1) - 1 + self.rng.up_to(self.config.jitter);
            for beat in 0..beats {
                let mut word = 0;
                for byte in 0..8 {
                    let at = address + beat * 8 + byte;
                    // Bytes that were not asked for are rubbish.
                    let mut value = (self.rng.next() & 0xFF) as u8;
                    if enable >> byte & 1 == 1 {
                        value = self.byte(at);
                        self.looked_at.insert(at);
                    }
                    word |= u64::from(value) << (8 * byte);
                }
                self.owed.push_back((first + beat, word));
            }
        } else {
            let (at, left) = self.burst.unwrap_or((address, beats));
            self.writes += 1;
            self.empty_writes += u64::from(enable == 0);
            for byte in 0..8 {
                if enable >> byte & 1 == 1 {
                    self.memory.insert(at + byte, (data >> (8 * byte)) as u8);
                }
            }
            self.burst = (left > 1).then_some((at + 8, left - 1));
        }
    }

    /// Returns a byte of memory.
    pub fn byte(&self, address: u64) -> u8 {
        match self.memory.get(&address) {
            Some(byte) => *byte,
            None => Root::untouched(address),
        }
    }

    /// Drives the pins after an edge.
    pub fn drive(&mut self, model: &mut Model) {
        let ports = &self.ports;
        model.set(ports.waitrequest, self.waits.into());
        model.set(ports.readdatavalid, self.shown.is_some().into());
        model.set(ports.readdata, self.shown.unwrap_or(0x0BAD_F00D_5EED_BEEF));
    }
}
