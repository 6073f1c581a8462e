//! The parts of one board, at their offsets in its BAR.

use serde::{Deserialize, Serialize};

use crate::clock::{ClockConfig, KernelClock};
use crate::cra::Cra;
use crate::interface::KernelInterface;
use crate::kernel::{KernelStats, Machine, Timing};
use crate::memory::Memory;
use crate::program::{Program, ProgramError};
use crate::words;

/// Bytes of a slave of one word.
const WORD_BYTES: u64 = 16;

/// The slave does not take the access in this cycle (`waitrequest`): let a cycle go by and try again. Who does not try
/// again takes the access back, which no master on a board can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait;

/// Where the parts lie in the BAR, in bytes. A part without an offset is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Offsets {
    /// The hard IP's `Cra`, 16 KiB.
    pub cra: Option<u64>,
    /// Kernel interface, 16 KiB.
    pub kernels: Option<u64>,
    /// Kernel clock, 2 KiB.
    pub clock: Option<u64>,
    /// Identity of the BSP, 16 bytes.
    pub version: Option<u64>,
    /// State of the memory's calibration, 16 bytes.
    pub status: Option<u64>,
    /// Temperature, 16 bytes.
    pub temperature: Option<u64>,
}

impl Offsets {
    /// As in the BSP of the DE5-Net of 13.1, whose parts are all behind BAR 0.
    pub const DE5_NET: Self = Self {
        cra: Some(0),
        kernels: Some(0x4000),
        clock: Some(0xC000),
        version: Some(0xCFC0),
        status: Some(0xCFE0),
        temperature: Some(0xCFF0),
    };

    /// First offset, bytes, and part, of what is there.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64, Part)> + use<> {
        let ranges = [
            (self.cra, Cra::BYTES, Part::Cra),
            (self.kernels, KernelInterface::BYTES, Part::Kernels),
            (self.clock, KernelClock::BYTES, Part::Clock),
            (self.version, WORD_BYTES, Part::Version),
            (self.status, WORD_BYTES, Part::Status),
            (self.temperature, WORD_BYTES, Part::Temperature),
        ];
        ranges
            .into_iter()
            .filter_map(|(base, bytes, part)| Some((base?, bytes, part)))
    }
}

/// A part of the OpenCL side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The hard IP's interrupt registers.
    Cra,
    /// The kernel interface.
    Kernels,
    /// The kernel clock.
    Clock,
    /// Identity of the BSP.
    Version,
    /// State of the memory's calibration.
    Status,
    /// Temperature.
    Temperature,
}

impl Part {
    const COUNT: usize = 6;
}

/// Accesses to a part, a dword each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Accesses {
    /// Dwords read.
    pub reads: u64,
    /// Dwords written, whole or in part.
    pub writes: u64,
}

/// The bits of a dword whose byte is enabled.
pub(crate) fn mask(lanes: u8) -> u32 {
    (0..4)
        .filter(|lane| lanes >> lane & 1 == 1)
        .fold(0, |mask, lane| mask | 0xFF << (8 * lane))
}

/// What a configuration of the FPGA does to the board's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// It stays: the memory controller goes on.
    Kept,
    /// It is lost.
    Lost,
}

/// What an OpenCL side is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where its parts are.
    pub offsets: Offsets,
    /// Identity of the BSP.
    pub version: u32,
    /// Temperature in degrees Celsius.
    pub celsius: i32,
    /// Cycles from each configuration of the FPGA until the board's memory is calibrated and answers; `None`: it never
    /// is.
    pub calibrates: Option<u64>,
    /// The kernel clock.
    pub clock: ClockConfig,
    /// How long kernels take.
    pub timing: Timing,
    /// The program that the board boots with. Without one there are no kernels, and the text is empty.
    pub program: Option<Program>,
}

impl Default for Config {
    /// No part has a place.
    fn default() -> Self {
        Self {
            offsets: Offsets::default(),
            version: words::VERSION,
            celsius: 45,
            calibrates: Some(0),
            clock: ClockConfig::default(),
            timing: Timing::default(),
            program: None,
        }
    }
}

/// The OpenCL side of a board.
#[derive(Debug, Clone)]
pub struct OpenClSide {
    config: Config,
    cra: Cra,
    kernels: KernelInterface,
    clock: KernelClock,
    /// Cycles until the memory is calibrated.
    calibration_left: Option<u64>,
    reprogrammed: u64,
    counts: [Accesses; Part::COUNT],
}

fn interface(program: Option<&Program>, timing: Timing) -> KernelInterface {
    let Some(program) = program else {
        return KernelInterface::new(Default::default(), "", Vec::new());
    };
    let kernels = program.kernels.iter().cloned();
    let kernels = kernels.map(|kernel| Machine::new(kernel, program.csr, timing));
    KernelInterface::new(program.rom, &program.text(), kernels.collect())
}

impl OpenClSide {
    /// A side with the parts that have an offset, as after power-up.
    ///
    /// # Errors
    /// [`ProgramError`] when the program cannot be.
    pub fn new(config: Config) -> Result<Self, ProgramError> {
        if let Some(program) = &config.program {
            program.check()?;
        }
        Ok(Self {
            cra: Cra::new(),
            kernels: interface(config.program.as_ref(), config.timing),
            clock: KernelClock::new(config.clock.clone()),
            calibration_left: config.calibrates,
            reprogrammed: 0,
            counts: Default::default(),
            config,
        })
    }

    /// What it is made of, with the present program.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the parts are.
    pub fn offsets(&self) -> &Offsets {
        &self.config.offsets
    }

    /// The part at an offset of the BAR, and the offset in it.
    pub fn part(&self, offset: u64) -> Option<(Part, u64)> {
        self.offsets().ranges().find_map(|(base, bytes, part)| {
            let at = offset.checked_sub(base)?;
            (at < bytes).then_some((part, at))
        })
    }

    /// Reads the dword at an offset of the BAR, a multiple of 4. Where no part is, it is 0, as of an Avalon
    /// interconnect without a slave there.
    ///
    /// # Errors
    /// [`Wait`] when the part holds the access.
    pub fn read(&mut self, offset: u64) -> Result<u32, Wait> {
        let Some((part, at)) = self.part(offset) else {
            return Ok(0);
        };
        let value = match part {
            Part::Cra => self.cra.read(at),
            Part::Kernels => self.kernels.read(at, self.clock.locked())?,
            Part::Clock => self.clock.read(at)?,
            Part::Version if at == 0 => self.config.version,
            Part::Status if at == 0 => words::calibration(self.calibrated()),
            Part::Temperature if at == 0 => words::temperature(self.config.celsius),
            Part::Version | Part::Status | Part::Temperature => 0,
        };
        self.counts[part as usize].reads += 1;
        Ok(value)
    }

    /// Writes the bytes of a dword whose bit in `lanes` (0 to 15) is set. Where no part is, nothing happens.
    ///
    /// # Errors
    /// As [`OpenClSide::read`].
    pub fn write(&mut self, offset: u64, value: u32, lanes: u8) -> Result<(), Wait> {
        let Some((part, at)) = self.part(offset) else {
            return Ok(());
        };
        match part {
            Part::Cra => self.cra.write(at, value, lanes),
            Part::Kernels => {
                let clocked = self.clock.locked();
                self.kernels.write(at, value, lanes, clocked)?;
            }
            Part::Clock => self.clock.write(at, value, lanes)?,
            Part::Version | Part::Status | Part::Temperature => {}
        }
        self.counts[part as usize].writes += 1;
        Ok(())
    }

    /// Lets so many cycles go by. Kernels run one cycle of theirs in each, while the kernel clock is locked and the
    /// board's memory answers.
    pub fn tick(&mut self, cycles: u64, memory: &mut dyn Memory) {
        for _ in 0..cycles {
            self.clock.tick();
            self.kernels.tick(self.runs(), memory);
            if let Some(left) = &mut self.calibration_left {
                *left = left.saturating_sub(1);
            }
        }
    }

    /// Whether kernels go on.
    fn runs(&self) -> bool {
        self.clock.locked() && self.calibrated()
    }

    /// Whether the board's memory is calibrated. If not, nobody's accesses to it are taken.
    pub fn calibrated(&self) -> bool {
        self.calibration_left == Some(0)
    }

    /// From now on the memory is as behind a configuration of the FPGA with this [`Config::calibrates`], and again
    /// after each one.
    pub fn set_calibrates(&mut self, calibrates: Option<u64>) {
        self.config.calibrates = calibrates;
        self.calibration_left = calibrates;
    }

    /// Whether something happens by itself: a kernel at work, a reset, a clock on its way to the lock, a memory on its
    /// way to its calibration.
    pub fn busy(&self) -> bool {
        let calibrates = self.calibration_left.is_some_and(|left| left > 0);
        calibrates || self.clock.busy() || self.kernels.busy(self.runs())
    }

    /// Level of the kernels' interrupt.
    pub fn kernel_irq(&self) -> bool {
        self.kernels.irq()
    }

    /// The hard IP's interrupt registers, of a side that has them.
    pub fn cra_mut(&mut self) -> Option<&mut Cra> {
        self.config.offsets.cra.map(|_| &mut self.cra)
    }

    /// A reset of the PCIe hard IP.
    pub fn reset_hard_ip(&mut self) {
        self.cra.reset();
    }

    /// The present program.
    pub fn program(&self) -> Option<&Program> {
        self.config.program.as_ref()
    }

    /// The FPGA gets another program, as a whole: kernels, text, kernel interface and clock are as after
    /// power-up. Kernels at work end where they are. The hard IP is not touched.
    ///
    /// # Errors
    /// [`ProgramError`] when the program cannot be; the old one stays.
    pub fn reprogram(
        &mut self,
        program: Program,
        contents: Contents,
        memory: &mut dyn Memory,
    ) -> Result<(), ProgramError> {
        program.check()?;
        self.config.program = Some(program);
        self.power_up();
        self.reprogrammed += 1;
        if contents == Contents::Lost {
            memory.lose();
        }
        Ok(())
    }

    /// Kernels, kernel interface, clock and memory's calibration are as after power-up, with the same program.
    pub fn power_up(&mut self) {
        self.calibration_left = self.config.calibrates;
        self.kernels = interface(self.config.program.as_ref(), self.config.timing);
        self.clock = KernelClock::new(self.config.clock.clone());
    }

    /// How long kernels take from now on. A run that has begun keeps its start-up time.
    pub fn set_timing(&mut self, timing: Timing) {
        self.config.timing = timing;
        for kernel in self.kernels.kernels_mut() {
            kernel.set_timing(timing);
        }
    }

    /// From now on the kernel clock never locks, or locks again.
    pub fn set_never_locks(&mut self, never: bool) {
        self.config.clock.never_locks = never;
        self.clock.set_never_locks(never);
    }

    /// Frequency of the kernel clock in kHz; `None` while it is not locked.
    pub fn kernel_khz(&self) -> Option<u32> {
        self.clock.khz()
    }

    /// Software resets of the kernels since power-up.
    pub fn kernel_resets(&self) -> u64 {
        self.kernels.resets
    }

    /// Resets of the kernel clock since power-up.
    pub fn clock_resets(&self) -> u64 {
        self.clock.resets
    }

    /// Programs since the side was made, without the first.
    pub fn reprogrammed(&self) -> u64 {
        self.reprogrammed
    }

    /// What a kernel of the present program has done.
    pub fn kernel_stats(&self, name: &str) -> Option<KernelStats> {
        let mut kernels = self.kernels.kernels().iter();
        let found = kernels.find(|kernel| kernel.kernel().name == name);
        found.map(|kernel| kernel.stats)
    }

    /// Accesses to a part.
    pub fn accesses(&self, part: Part) -> Accesses {
        self.counts[part as usize]
    }

    /// Sets the counters of accesses to 0.
    pub fn clear_accesses(&mut self) {
        self.counts = Default::default();
    }
}
