//! A kernel of the OpenCL program, with its control and status registers.
//!
//! A kernel works on the board's memory over many cycles: first a start-up time, then a number of bytes of each operand
//! in each cycle. So events on the board can happen while a kernel is working.
//!
//! Assumptions, where the software that drives such registers defines nothing:
//! - A start that finds no room in the queue is lost, and counted.
//! - The arguments have their values at the start.
//! - In versions 4 and 5 software cannot set `done` and `stalled` by a write, and only clear `stalled`.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::csr::{Csr, status};
use crate::memory::Memory;

/// Bytes of a kernel's registers.
pub(crate) const BYTES: u32 = 256;
/// Bytes of a record in the printf buffer: the format's number, the values, padding (open runtime,
/// `acl_printf.cpp`: records of multiples of 32 bytes).
const RECORD: u32 = 32;
/// The bits of a pointer that are an address. The open runtime uses the bits above for itself.
const ADDRESS: u64 = (1 << 54) - 1;

/// Computation of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// `(global const int *a, global const int *b, global int *c)`: `c[i] = a[i] + b[i]`, in one dimension.
    VectorAdd,
    /// `(global const int *from, global int *to)`: `to[i] = from[i]`, in one dimension, `i` ascending.
    Copy,
    /// `(int times)`: prints `times` lines, the line's number in each. Two hidden arguments follow: the printf buffer's
    /// address, and its bytes (an `int`).
    Printf,
}

/// One kernel of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its computation.
    pub work: Work,
    /// Address of its registers in the 30-bit CRA space: a multiple of 256.
    pub csr: u32,
    /// Starts that can wait in hardware in addition to the one that runs. Not used in version 3, which has no queue.
    pub depth: u32,
}

/// Duration of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// Cycles from the start to the first word.
    pub start: u64,
    /// Bytes of each operand a cycle, a multiple of 4.
    pub bytes: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            start: 100,
            bytes: 64,
        }
    }
}

/// Counters of a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KernelStats {
    /// Starts that were accepted.
    pub starts: u64,
    /// Starts that found no room.
    pub lost_starts: u64,
    /// Runs that ended by themselves.
    pub finished: u64,
    /// Runs that a reset ended, queued ones included.
    pub killed: u64,
    /// Times that the printf buffer was full.
    pub stalls: u64,
}

type Registers = [u8; BYTES as usize];

/// A run in progress.
#[derive(Debug, Clone)]
struct Run {
    registers: Box<Registers>,
    wait: u64,
    item: u64,
}

/// A kernel in the FPGA.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    kernel: Kernel,
    version: Csr,
    timing: Timing,
    registers: Box<Registers>,
    done: bool,
    stalled: bool,
    /// Whether the printf buffer is full, and software has not reported yet that it was emptied.
    full: bool,
    finish: u32,
    printf: u32,
    run: Option<Run>,
    queue: VecDeque<Box<Registers>>,
    pub(crate) stats: KernelStats,
}

fn word(registers: &Registers, at: u32) -> u32 {
    let at = at as usize;
    registers.get(at..at + 4).map_or(0, |bytes| {
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    })
}

fn qword(registers: &Registers, at: u32) -> u64 {
    u64::from(word(registers, at)) | u64::from(word(registers, at + 4)) << 32
}

impl Machine {
    /// Makes the kernel in its state after the FPGA's configuration. In versions 4 and 5 the dimensions are then ones
    /// (the open runtime only writes values that differ from that), and the global offset is 0; in version 3 all is 0.
    pub(crate) fn new(kernel: Kernel, version: Csr, timing: Timing) -> Self {
        let mut registers = Box::new([0; BYTES as usize]);
        if version != Csr::V3 {
            let work = version.work() as usize;
            for dword in registers[work..work + 44].chunks_exact_mut(4) {
                dword[0] = 1;
            }
        }
        Self {
            kernel,
            version,
            timing,
            registers,
            done: false,
            stalled: false,
            full: false,
            finish: 0,
            printf: 0,
            run: None,
            queue: VecDeque::new(),
            stats: KernelStats::default(),
        }
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(crate) fn set_timing(&mut self, timing: Timing) {
        self.timing = timing;
    }

    /// Returns the level of the interrupt.
    pub(crate) fn irq(&self) -> bool {
        self.done || self.stalled
    }

    pub(crate) fn busy(&self) -> bool {
        self.run.is_some() && !self.full
    }

    /// Resets the kernel system: every run ends at once. In versions 4 and 5 dimensions and arguments stay (the open
    /// runtime relies on that); the logic of version 3 clears them.
    pub(crate) fn reset(&mut self) {
        self.stats.killed += u64::from(self.run.is_some()) + self.queue.len() as u64;
        self.run = None;
        self.queue.clear();
        (self.done, self.stalled, self.full) = (false, false, false);
        (self.finish, self.printf) = (0, 0);
        if self.version == Csr::V3 {
            self.registers.fill(0);
        }
    }

    fn status(&self) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        self.version.version() << status::VERSION
            | flag(self.done, status::DONE)
            | flag(self.stalled, status::STALLED)
            | flag(self.run.is_some(), status::BUSY | status::RUNNING)
    }

    /// Reads a dword. A read of the finish counter clears it, and `done` with it.
    pub(crate) fn read(&mut self, at: u32) -> u32 {
        if at == 0 {
            return self.status();
        }
        if at == self.version.printf() {
            return self.printf;
        }
        if Some(at) == self.version.finish() {
            self.done = false;
            return std::mem::take(&mut self.finish);
        }
        if Some(at) == self.version.start() {
            return 0;
        }
        word(&self.registers, at)
    }

    /// Writes the bytes of a dword whose bit in `lanes` is set.
    pub(crate) fn write(&mut self, at: u32, value: u32, lanes: u8) {
        let low = lanes & 1 == 1;
        if at == 0 {
            if low {
                self.write_status(value);
            }
        } else if Some(at) == self.version.start() {
            if low && value & 1 == 1 {
                self.start();
            }
        } else if at != self.version.printf() && Some(at) != self.version.finish() {
            let bytes = value.to_le_bytes();
            for (lane, byte) in bytes.into_iter().enumerate() {
                if lanes >> lane & 1 == 1
                    && let Some(register) = self.registers.get_mut(at as usize + lane)
                {
                    *register = byte;
                }
            }
        }
    }

    /// Writes the low byte of the status register.
    fn write_status(&mut self, value: u32) {
        let stalled = value & status::STALLED != 0;
        if self.version == Csr::V3 {
            // A plain register: software clears `done` here, and could set it.
            self.done = value & status::DONE != 0;
            self.stalled = stalled;
        } else {
            self.stalled &= stalled;
        }
        if value & status::UNSTALL != 0 && self.full {
            (self.full, self.stalled) = (false, false);
            self.printf = 0;
        }
        if value & status::START != 0 && self.version != Csr::V5 {
            self.start();
        }
    }

    fn start(&mut self) {
        let depth = match self.version {
            Csr::V3 => 0,
            Csr::V4 | Csr::V5 => self.kernel.depth as usize,
        };
        if self.run.is_some() && self.queue.len() >= depth {
            self.stats.lost_starts += 1;
            return;
        }
        self.stats.starts += 1;
        self.queue.push_back(self.registers.clone());
        self.next();
    }

    /// Begins the next run, if none is in progress.
    fn next(&mut self) {
        if self.run.is_none()
            && let Some(registers) = self.queue.pop_front()
        {
            self.printf = 0;
            self.run = Some(Run {
                registers,
                wait: self.timing.start,
                item: 0,
            });
        }
    }

    /// Advances by a cycle of the kernel clock.
    pub(crate) fn tick(&mut self, memory: &mut dyn Memory) {
        if self.full {
            return;
        }
        let Some(run) = &mut self.run else {
            return;
        };
        if run.wait > 0 {
            run.wait -= 1;
            return;
        }
        let argument = self.version.arguments();
        let items = match self.kernel.work {
            Work::VectorAdd | Work::Copy => word(&run.registers, self.version.work() + 8).into(),
            Work::Printf => u64::from(word(&run.registers, argument)),
        };
        let left = items.saturating_sub(run.item);
        let now = match self.kernel.work {
            Work::VectorAdd | Work::Copy => left.min(u64::from(self.timing.bytes / 4).max(1)),
            Work::Printf => left.min(1),
        };
        match self.kernel.work {
            Work::VectorAdd => add(run, self.version, now, memory),
            Work::Copy => copy(run, self.version, now, memory),
            Work::Printf if now > 0 => {
                let registers = &run.registers;
                let bytes = word(registers, argument + 12);
                if self.printf + RECORD > bytes {
                    (self.full, self.stalled) = (true, true);
                    self.stats.stalls += 1;
                    return;
                }
                let mut record = [0; RECORD as usize];
                record[4..8].copy_from_slice(&(run.item as u32).to_le_bytes());
                let buffer = qword(registers, argument + 4) & ADDRESS;
                memory.write(buffer.wrapping_add(self.printf.into()), &record);
                self.printf += RECORD;
            }
            Work::Printf => {}
        }
        run.item += now;
        if run.item >= items {
            self.run = None;
            self.done = true;
            self.finish = self.finish.saturating_add(1);
            self.stats.finished += 1;
            self.next();
        }
    }
}

/// Returns the address of a pointer argument for the run's next item.
fn pointer(run: &Run, version: Csr, index: u32) -> u64 {
    let offset = match version {
        Csr::V3 => word(&run.registers, version.global_offset()).into(),
        Csr::V4 | Csr::V5 => qword(&run.registers, version.global_offset()),
    };
    let base = qword(&run.registers, version.arguments() + 8 * index);
    let item = run.item.wrapping_add(offset);
    base.wrapping_add(item.wrapping_mul(4)) & ADDRESS
}

fn add(run: &Run, version: Csr, items: u64, memory: &mut dyn Memory) {
    let bytes = items as usize * 4;
    let (mut a, mut b) = (vec![0; bytes], vec![0; bytes]);
    memory.read(pointer(run, version, 0), &mut a);
    memory.read(pointer(run, version, 1), &mut b);
    for (a, b) in a.chunks_exact_mut(4).zip(b.chunks_exact(4)) {
        let value = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let sum = value(a).wrapping_add(value(b));
        a.copy_from_slice(&sum.to_le_bytes());
    }
    memory.write(pointer(run, version, 2), &a);
}

fn copy(run: &Run, version: Csr, items: u64, memory: &mut dyn Memory) {
    let mut data = vec![0; items as usize * 4];
    memory.read(pointer(run, version, 0), &mut data);
    memory.write(pointer(run, version, 1), &data);
}
