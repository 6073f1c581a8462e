//! A board in memory. It was written from the runtime's reads and writes (`acl_kernel_if.cpp`, `acl_pll.cpp` and
//! `acl_hal_mmd.cpp` of intel/fpga-runtime-for-opencl v2025.0) and from the vendor's `acl_kernel_interface`. It is
//! independent of the library under test.

use crate::fake::Fake;
use peerlane_contract::{ARGUMENTS, CSR, DONE, FINISH, PRINTF, STALLED, START, UNSTALL, WORK};
use peerlane_host::Area;
use peerlane_host::driver::{BackendError, BackendResult, Bar};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

pub struct Registers {
    /// Version of the kernel interface, which gives the place of the ROM.
    pub version: u32,
    pub rom: Vec<u8>,
    segment: u32,
    status: u32,
    finish: u32,
    printf: u32,
    /// Bytes that were written to the kernel's registers.
    csr: BTreeMap<u64, u8>,
    pll: BTreeMap<u64, u8>,
    running: bool,
    /// Time that a launch takes.
    pub takes: Duration,
    /// Number of stalls of the next launch on its buffer of printf.
    pub stalls: u32,
    /// The interrupt line is broken: no interrupt is ever seen.
    pub deaf: bool,
    /// Each access to a register fails from now on.
    pub unreached: bool,
    /// The segment register cannot be read.
    pub segment_unread: bool,
    /// Writes of the segment register.
    pub segments: u64,
    /// Writes of `sw_reset`.
    pub resets: u64,
    /// Values of registers of the kernels' clock, in place of the normal ones.
    pub clock: BTreeMap<u64, u32>,
    /// Value of `sw_reset`.
    pub out_of_reset: u32,
    /// Time at which the second memory is calibrated; `None`: it is calibrated.
    pub calibrated: Option<Instant>,
    /// The length of the text at the end of a long ROM, in place of the right one.
    pub digits: Option<&'static [u8; 8]>,
}

/// The OpenCL side. The kernel adds two arrays of ints: (a, b, c), as many as the first global size.
#[derive(Clone)]
pub struct Side {
    registers: Arc<Mutex<Registers>>,
    fake: Fake,
}

fn word(bytes: &BTreeMap<u64, u8>, at: u64) -> u32 {
    let byte = |at| bytes.get(&at).copied().unwrap_or(0);
    u32::from_le_bytes([byte(at), byte(at + 1), byte(at + 2), byte(at + 3)])
}

impl Side {
    pub fn new(fake: &Fake, rom: &str) -> Self {
        let mut registers = Registers {
            version: 0xa0c0_0001,
            rom: rom.into(),
            segment: 0,
            status: 0,
            finish: 0,
            printf: 0,
            csr: BTreeMap::new(),
            pll: BTreeMap::new(),
            running: false,
            takes: Duration::from_micros(200),
            stalls: 0,
            deaf: false,
            unreached: false,
            segment_unread: false,
            segments: 0,
            resets: 0,
            clock: BTreeMap::new(),
            out_of_reset: 1,
            calibrated: None,
            digits: None,
        };
        registers.configure();
        Self {
            registers: Arc::new(Mutex::new(registers)),
            fake: fake.clone(),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Registers> {
        self.registers.lock().unwrap()
    }

    /// Runs a launch concurrently with the host.
    fn launch(&self) {
        let side = self.clone();
        std::thread::spawn(move || {
            let takes = side.lock().takes;
            std::thread::sleep(takes);
            let mut registers = side.lock();
            if registers.stalls > 0 {
                registers.stalls -= 1;
                registers.printf = 32;
                registers.status |= STALLED;
                return;
            }
            let argument = |index: u64| {
                let at = ARGUMENTS + 8 * index;
                let low = u64::from(word(&registers.csr, at));
                let high = u64::from(word(&registers.csr, at + 4));
                // The runtime's own bits are the upper ones.
                (high << 32 | low) & ((1 << 54) - 1)
            };
            let count = word(&registers.csr, WORK + 8) as usize;
            let [a, b, c] = [0, 1, 2].map(argument);
            // The memory is another part of the board, with its own lock.
            drop(registers);
            let ints = |address| {
                let mut bytes = vec![0; 4 * count];
                side.fake.fpga_read(address, &mut bytes);
                let words = bytes.as_chunks().0.to_vec();
                words.into_iter().map(u32::from_le_bytes)
            };
            let sums = ints(a).zip(ints(b)).map(|(a, b)| a.wrapping_add(b));
            let bytes: Vec<u8> = sums.flat_map(u32::to_le_bytes).collect();
            side.fake.fpga_write(c, &bytes);
            let mut registers = side.lock();
            registers.status |= DONE;
            registers.finish += 1;
            registers.running = false;
        });
    }
}

impl Registers {
    /// Returns the value that was written last to a register of the kernels' clock.
    pub fn pll(&self, offset: u64) -> u32 {
        word(&self.pll, offset)
    }

    /// Sets the registers' values after configuration: ones for the work's dimensions and sizes, zeros elsewhere.
    pub fn configure(&mut self) {
        self.csr.clear();
        for at in (WORK..WORK + 44).step_by(4) {
            self.csr.insert(at, 1);
        }
        self.segment = 0;
        (self.status, self.finish, self.printf, self.running) = (0, 0, 0, false);
    }

    fn reach(&self) -> BackendResult<()> {
        match self.unreached {
            true => Err(BackendError::Other("no completion has come".into())),
            false => Ok(()),
        }
    }

    /// Returns a byte in the kernels' address space.
    fn space(&self, address: u64) -> u8 {
        let length = self.rom.len() as u64;
        let size = 1 << ((length + 8).ilog2() + 1);
        if self.version == 0xa0c0_0002 && address >= 0x4000_0000 - size {
            let at = address - (0x4000_0000 - size);
            return match at.checked_sub(size - 8) {
                Some(digit) => match self.digits {
                    Some(digits) => digits[digit as usize],
                    None => format!("{length:08X}").as_bytes()[digit as usize],
                },
                None => self.rom.get(at as usize).copied().unwrap_or(b' '),
            };
        }
        let Some(at) = address.checked_sub(u64::from(CSR)) else {
            return 0xee;
        };
        match at {
            0..4 => (5 << 16 | self.status).to_le_bytes()[at as usize],
            PRINTF..0x10 => self.printf.to_le_bytes()[(at - PRINTF) as usize],
            FINISH..0x34 => self.finish.to_le_bytes()[(at - FINISH) as usize],
            at => self.csr.get(&at).copied().unwrap_or(0),
        }
    }

    fn kernels_read(&mut self, offset: u64, data: &mut [u8]) {
        for (place, to) in (offset..).zip(data.iter_mut()) {
            *to = match place {
                0..4 => self.version.to_le_bytes()[place as usize],
                0x20..0x24 if !self.segment_unread => {
                    self.segment.to_le_bytes()[place as usize - 0x20]
                }
                0x30 => self.out_of_reset as u8,
                0x1000..0x2000 => self.space(u64::from(self.segment) + place - 0x1000),
                0x2000..0x3000 => self.rom.get(place as usize - 0x2000).copied().unwrap_or(0),
                _ => 0,
            };
        }
        // Reading the counter clears it.
        let counter = u64::from(CSR.wrapping_sub(self.segment)) + 0x1000 + FINISH;
        if (offset..offset + data.len() as u64).contains(&counter) {
            self.finish = 0;
            self.status &= !DONE;
        }
    }

    /// Writes registers; returns whether the kernel is started.
    fn kernels_write(&mut self, offset: u64, data: &[u8]) -> bool {
        let value = data
            .iter()
            .rev()
            .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        match offset {
            0x20 => {
                self.segments += 1;
                self.segment = value as u32;
            }
            0x30 => {
                self.resets += 1;
                (self.status, self.finish) = (0, 0);
            }
            0x1000..0x2000 => {
                let address = u64::from(self.segment) + offset - 0x1000;
                // Addresses below have no registers.
                let at = address.checked_sub(u64::from(CSR));
                return at.is_some_and(|at| self.csr_write(at, data, value));
            }
            _ => {}
        }
        false
    }

    fn csr_write(&mut self, at: u64, data: &[u8], value: u64) -> bool {
        if at == 0 {
            let stalled = self.status & STALLED;
            self.status = self.status & !STALLED | value as u32 & STALLED;
            // A stalled kernel goes on when its buffer was read.
            return stalled == 0 && value as u32 & UNSTALL != 0 && self.running;
        }
        for (place, byte) in (at..).zip(data) {
            self.csr.insert(place, *byte);
        }
        let start = at == START && value & 1 == 1;
        self.running |= start;
        start
    }

    fn pll_read(&self, offset: u64) -> u32 {
        // kHz m n k c0 c1 r cp div, and the end.
        const SETTINGS: [u32; 10] = [250_000, 8, 1, 0, 4, 2, 4000, 20, 2, 0];
        if let Some(value) = self.clock.get(&offset) {
            return *value;
        }
        match offset {
            0 => 0xa0c0_0001,
            0x110 | 0x120 | 0x204 => 1,
            0x400..0x428 => SETTINGS[(offset as usize - 0x400) / 4],
            _ => word(&self.pll, offset),
        }
    }
}

impl Bar for Side {
    fn bytes(&self, area: Area) -> u64 {
        match area {
            Area::Kernels => 0x4000,
            Area::Clock => 0x800,
            Area::Version | Area::Temperature | Area::Status => 4,
        }
    }

    fn read(&mut self, area: Area, offset: u64, data: &mut [u8]) -> BackendResult<()> {
        let mut registers = self.lock();
        registers.reach()?;
        let register = match area {
            Area::Kernels => {
                registers.kernels_read(offset, data);
                return Ok(());
            }
            Area::Clock => registers.pll_read(offset),
            Area::Version => 0xa0c7_c1e0,
            // 42 degrees.
            Area::Temperature => 170,
            // A bit for each memory that is not calibrated.
            Area::Status => {
                let calibrated = (registers.calibrated).is_none_or(|then| Instant::now() >= then);
                if calibrated { 0 } else { 2 }
            }
        };
        data.copy_from_slice(&register.to_le_bytes()[..data.len()]);
        Ok(())
    }

    fn write(&mut self, area: Area, offset: u64, data: &[u8]) -> BackendResult<()> {
        let mut registers = self.lock();
        registers.reach()?;
        let starts = match area {
            Area::Kernels => registers.kernels_write(offset, data),
            _ => {
                for (place, byte) in (offset..).zip(data) {
                    registers.pll.insert(place, *byte);
                }
                false
            }
        };
        drop(registers);
        if starts {
            self.launch();
        }
        Ok(())
    }

    fn interrupt(&mut self) -> BackendResult<bool> {
        let registers = self.lock();
        Ok(registers.status & (DONE | STALLED) != 0 && !registers.deaf)
    }

    fn running(&self) -> bool {
        self.lock().running
    }
}
