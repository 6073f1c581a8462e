//! FPGA memory on the block's three 512-bit Avalon-MM masters.
//!
//! A port accepts one command a cycle unless it has to wait. All three share the memory's bandwidth of one word a
//! cycle, reads and writes together. The latency, and that refresh and bank changes cost nothing, are assumptions
//! (`DdrConfig`); `Backpressure::Random` can model them.

use std::collections::VecDeque;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    avalon::{Checker, Enables, Event, Request, Rules},
    config::DdrConfig,
    memory::Memory,
    rng::Rng,
    stats::DdrPortStats,
    violation::{Clock, Log, Result, Rule},
};

/// Width of a port in bytes.
const WIDTH: usize = 64;

/// Words that the memory may owe or be owed, so that a burst is not interrupted for a single cycle.
const CREDIT: i32 = 8;

#[derive(Debug)]
struct Pending {
    due: u64,
    address: u64,
    left: u32,
}

/// A word that has been taken and is not yet in memory.
#[derive(Debug)]
struct Posted {
    due: u64,
    address: u64,
    enable: u64,
    data: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct ReadPorts {
    read: Port,
    readdata: Port,
    readdatavalid: Port,
}

#[derive(Debug, Clone, Copy)]
struct WritePorts {
    write: Port,
    writedata: Port,
    byteenable: Port,
}

#[derive(Debug)]
pub(crate) struct DdrPort {
    name: &'static str,
    address: Port,
    waitrequest: Port,
    burstcount: Option<Port>,
    reading: Option<ReadPorts>,
    writing: Option<WritePorts>,
    config: DdrConfig,
    checker: Checker,
    rng: Rng,
    pending: VecDeque<Pending>,
    posted: VecDeque<Posted>,
    last_due: u64,
    wait: bool,
    holding: bool,
    valid: bool,
    data: [u8; WIDTH],
    pub(crate) stats: DdrPortStats,
}

/// Words that may still move, shared by the ports. When they are scarce, reads and writes take turns.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    words: i32,
    scarce: bool,
    read_turn: bool,
}

impl Budget {
    /// Starts a new cycle of a memory that answers or does not.
    pub(crate) fn refill(&mut self, answers: bool) {
        self.words = match answers {
            true => (self.words + 1).min(CREDIT),
            // Less than any port needs to continue.
            false => -1,
        };
        self.scarce = self.words <= 1;
        self.read_turn = !self.read_turn;
    }

    /// Returns whether a read may be answered in this cycle.
    fn may_answer(&self) -> bool {
        self.words > 0 && (self.read_turn || !self.scarce)
    }

    /// Returns whether commands have to wait in the next cycle.
    fn holds_next(&self) -> bool {
        self.words < 0 || (self.words == 0 && !self.read_turn)
    }
}

impl DdrPort {
    /// Returns the port of this name, if the design has one.
    pub(crate) fn bind(
        library: &Library,
        name: &'static str,
        config: &DdrConfig,
        seed: u64,
        stream: u64,
    ) -> Result<Option<Self>> {
        let full = |suffix: &str| format!("{name}_{suffix}");
        let has = |suffix: &str| {
            let full = full(suffix);
            library.ports().iter().any(|port| port.name == full)
        };
        if !has("address") {
            return Ok(None);
        }
        let output = |suffix: &str, bits| library.port_as(&full(suffix), Direction::Output, bits);
        let input = |suffix: &str, bits| library.port_as(&full(suffix), Direction::Input, bits);
        let reading = if has("read") {
            Some(ReadPorts {
                read: output("read", 1)?,
                readdata: input("readdata", 512)?,
                readdatavalid: input("readdatavalid", 1)?,
            })
        } else {
            None
        };
        let writing = if has("write") {
            Some(WritePorts {
                write: output("write", 1)?,
                writedata: output("writedata", 512)?,
                byteenable: output("byteenable", 64)?,
            })
        } else {
            None
        };
        let burstcount = if has("burstcount") {
            Some(output("burstcount", 5)?)
        } else {
            None
        };
        let max_burst = if burstcount.is_some() {
            config.max_burst
        } else {
            1
        };
        Ok(Some(Self {
            name,
            address: output("address", 40)?,
            waitrequest: input("waitrequest", 1)?,
            burstcount,
            reading,
            writing,
            config: config.clone(),
            checker: Checker::new(Rules {
                name,
                clock: Clock::Memory,
                width: WIDTH as u32,
                max_burst: max_burst * WIDTH as u32,
                enables: Enables::Any,
                forbid_4k: false,
            }),
            rng: Rng::new(seed, stream),
            pending: VecDeque::with_capacity(config.max_reads as usize),
            posted: VecDeque::new(),
            last_due: 0,
            wait: true,
            holding: false,
            valid: false,
            data: [0; WIDTH],
            stats: DdrPortStats::default(),
        }))
    }

    pub(crate) fn set_backpressure(&mut self, backpressure: crate::config::Backpressure) {
        self.config.backpressure = backpressure;
    }

    pub(crate) fn reset(&mut self) {
        self.checker.reset();
        self.pending.clear();
        self.posted.clear();
        self.wait = true;
        self.holding = false;
        self.valid = false;
    }

    /// Reads the port's signals at an edge of `clk` and decides the next inputs of the design.
    pub(crate) fn sample(
        &mut self,
        model: &Model,
        cycle: u64,
        memory: &mut Memory,
        budget: &mut Budget,
        log: &mut Log,
    ) {
        let due = self.posted.partition_point(|word| word.due <= cycle);
        for word in self.posted.drain(..due) {
            if let Some(target) = memory.slice_mut(word.address, WIDTH) {
                store(target, &word.data, word.enable);
            }
        }
        let read = self.reading.is_some_and(|ports| model.get(ports.read) != 0);
        let write = self
            .writing
            .is_some_and(|ports| model.get(ports.write) != 0);
        if read || write || self.holding {
            self.request(model, (read, write), cycle, memory, budget, log);
        }
        self.holding = (read || write) && self.wait;
        self.stats.wait_cycles += u64::from(self.holding);
        self.valid = self.answer(cycle, memory, budget);
        self.wait = self.pending.len() >= self.config.max_reads as usize
            || budget.holds_next()
            || self.config.backpressure.holds(cycle, &mut self.rng);
    }

    fn request(
        &mut self,
        model: &Model,
        (read, write): (bool, bool),
        cycle: u64,
        memory: &mut Memory,
        budget: &mut Budget,
        log: &mut Log,
    ) {
        let data = self
            .writing
            .map_or(&[][..], |ports| model.words(ports.writedata));
        let request = Request {
            read,
            write,
            address: model.get(self.address),
            burst: self.burstcount.map_or(1, |port| model.get(port) as u32),
            enable: self
                .writing
                .map_or(u64::MAX, |ports| model.get(ports.byteenable)),
            data,
            wait: self.wait,
        };
        match self.checker.step(cycle, &request, log) {
            Event::None => {}
            Event::Read { address, burst, .. } => {
                let jitter = self.rng.up_to(u64::from(self.config.jitter));
                let due = cycle + u64::from(self.config.latency) + jitter;
                self.last_due = self.last_due.max(due);
                let bytes = burst as usize * WIDTH;
                if memory.slice(address, bytes).is_none() {
                    self.out_of_range(address, bytes, cycle, log);
                }
                self.pending.push_back(Pending {
                    due: self.last_due,
                    address,
                    left: burst.max(1),
                });
            }
            Event::Write {
                address, enable, ..
            } => {
                budget.words -= 1;
                self.stats.words_written += 1;
                match memory.slice_mut(address, WIDTH) {
                    // A port that also reads sees its own writes.
                    Some(_) if self.config.posted != 0 && self.reading.is_none() => {
                        self.posted.push_back(Posted {
                            due: cycle + u64::from(self.config.posted),
                            address,
                            enable,
                            data: data.to_vec(),
                        });
                    }
                    Some(target) => store(target, data, enable),
                    None => self.out_of_range(address, WIDTH, cycle, log),
                }
            }
        }
    }

    #[cold]
    fn out_of_range(&self, address: u64, bytes: usize, cycle: u64, log: &mut Log) {
        log.add(
            Clock::Memory,
            cycle,
            format!("{}_address", self.name),
            Rule::OutOfRange,
            format!(
                "{bytes} bytes at {address:#x}; the memory ends at {:#x}",
                self.config.bytes
            ),
        );
    }

    /// Passes on the next word of the oldest read that is due.
    fn answer(&mut self, cycle: u64, memory: &Memory, budget: &mut Budget) -> bool {
        let Some(pending) = self.pending.front_mut() else {
            return false;
        };
        if pending.due > cycle || !budget.may_answer() {
            return false;
        }
        budget.words -= 1;
        match memory.slice(pending.address, WIDTH) {
            Some(word) => self.data.copy_from_slice(word),
            None => self.data.fill(0xFF),
        }
        pending.address = pending.address.wrapping_add(WIDTH as u64);
        pending.left -= 1;
        if pending.left == 0 {
            self.pending.pop_front();
        }
        self.stats.words_read += 1;
        true
    }

    /// Drives the port after the edge.
    pub(crate) fn drive(&self, model: &mut Model) {
        model.set(self.waitrequest, u64::from(self.wait));
        if let Some(ports) = self.reading {
            model.set(ports.readdatavalid, u64::from(self.valid));
            if self.valid {
                model.set_bytes(ports.readdata, &self.data);
            }
        }
    }
}

/// Writes the enabled bytes of a word.
fn store(target: &mut [u8], data: &[u32], enable: u64) {
    for (index, (chunk, word)) in target.chunks_exact_mut(4).zip(data).enumerate() {
        let bytes = word.to_le_bytes();
        match enable >> (index * 4) & 15 {
            0 => {}
            15 => chunk.copy_from_slice(&bytes),
            mask => {
                for (lane, (byte, new)) in chunk.iter_mut().zip(bytes).enumerate() {
                    if mask >> lane & 1 == 1 {
                        *byte = new;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_enables_choose_bytes() {
        let mut target = [0xAA; 64];
        let data: Vec<u32> = (0..16).map(|n| 0x0101_0101 * n).collect();
        store(&mut target, &data, 1 << 63 | 0b0110 << 4 | 0b1111 << 8);
        let mut expected = [0xAA; 64];
        expected[63] = 15;
        expected[5] = 1;
        expected[6] = 1;
        expected[8..12].fill(2);
        assert_eq!(target, expected);
    }
}
