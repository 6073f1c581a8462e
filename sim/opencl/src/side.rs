//! The parts of one board, at their offsets in its BAR.

use serde::{Deserialize, Serialize};

use crate::access::Wait;
use crate::clock::{ClockConfig, KernelClock};
use crate::cra::Cra;
use crate::interface::KernelInterface;
use crate::kernel::{KernelStats, Machine, Timing};
use crate::memory::Memory;
use crate::program::{Program, ProgramError};
use crate::words;

/// Bytes of a slave of one word.
const WORD_BYTES: u64 = 16;

/// Places of the parts in the BAR, in bytes. A part without an offset does not exist.
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
    /// As in the BSP of the DE5-Net of 13.1, whose parts are all in BAR 0.
    pub const DE5_NET: Self = Self {
        cra: Some(0),
        kernels: Some(0x4000),
        clock: Some(0xC000),
        version: Some(0xCFC0),
        status: Some(0xCFE0),
        temperature: Some(0xCFF0),
    };

    /// Returns first offset, bytes, and part, for all parts that exist.
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

/// Effect of a configuration of the FPGA on the board's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// The memory stays: its controller continues.
    Kept,
    /// The memory is lost.
    Lost,
}

/// Configuration of an OpenCL side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Places of its parts.
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
    /// Duration of kernels.
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
    /// Makes a side with the parts that have an offset, in its state after power-up.
    ///
    /// # Errors
    /// [`ProgramError`] if the program is not possible.
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

    /// Returns the configuration, with the present program.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the places of the parts.
    pub fn offsets(&self) -> &Offsets {
        &self.config.offsets
    }

    /// Returns the part at an offset of the BAR, and the offset in it.
    pub fn part(&self, offset: u64) -> Option<(Part, u64)> {
        self.offsets().ranges().find_map(|(base, bytes, part)| {
            let at = offset.checked_sub(base)?;
            (at < bytes).then_some((part, at))
        })
    }

    /// Reads the dword at an offset of the BAR, a multiple of 4. It is 0 where no part is, as from an Avalon
    /// interconnect without a slave there.
    ///
    /// # Errors
    /// [`Wait`] if the part holds the access.
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

    /// Writes the bytes of a dword whose bit in `lanes` (0 to 15) is set. Nothing happens where no part is.
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

    /// Advances by so many cycles. Kernels run one cycle of theirs in each, while the kernel clock is locked and the
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

    /// Returns whether kernels run.
    fn runs(&self) -> bool {
        self.clock.locked() && self.calibrated()
    }

    /// Returns whether the board's memory is calibrated. If not, accesses to it are not taken.
    pub fn calibrated(&self) -> bool {
        self.calibration_left == Some(0)
    }

    /// Sets [`Config::calibrates`]. It applies from now on, as after a configuration of the FPGA, and again after each
    /// one.
    pub fn set_calibrates(&mut self, calibrates: Option<u64>) {
        self.config.calibrates = calibrates;
        self.calibration_left = calibrates;
    }

    /// Returns whether something happens by itself: a kernel at work, a reset, a clock that will lock, a memory that
    /// will be calibrated.
    pub fn busy(&self) -> bool {
        let calibrates = self.calibration_left.is_some_and(|left| left > 0);
        calibrates || self.clock.busy() || self.kernels.busy(self.runs())
    }

    /// Returns the level of the kernels' interrupt.
    pub fn kernel_irq(&self) -> bool {
        self.kernels.irq()
    }

    /// Returns the hard IP's interrupt registers, if the side has them.
    pub fn cra_mut(&mut self) -> Option<&mut Cra> {
        self.config.offsets.cra.map(|_| &mut self.cra)
    }

    /// Resets the PCIe hard IP.
    pub fn reset_hard_ip(&mut self) {
        self.cra.reset();
    }

    /// Returns the present program.
    pub fn program(&self) -> Option<&Program> {
        self.config.program.as_ref()
    }

    /// Gives the FPGA another program, as a whole: kernels, text, kernel interface and clock are then as after
    /// power-up. Kernels at work end at once. The hard IP is not changed.
    ///
    /// # Errors
    /// [`ProgramError`] if the program is not possible; the old one stays.
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

    /// Sets kernels, kernel interface, clock and the memory's calibration to their state after power-up, with the same
    /// program.
    pub fn power_up(&mut self) {
        self.calibration_left = self.config.calibrates;
        self.kernels = interface(self.config.program.as_ref(), self.config.timing);
        self.clock = KernelClock::new(self.config.clock.clone());
    }

    /// Sets the duration of kernels from now on. A run that has begun keeps its start-up time.
    pub fn set_timing(&mut self, timing: Timing) {
        self.config.timing = timing;
        for kernel in self.kernels.kernels_mut() {
            kernel.set_timing(timing);
        }
    }

    /// Makes the kernel clock never lock from now on, or lock again.
    pub fn set_never_locks(&mut self, never: bool) {
        self.config.clock.never_locks = never;
        self.clock.set_never_locks(never);
    }

    /// Returns the frequency of the kernel clock in kHz; `None` while it is not locked.
    pub fn kernel_khz(&self) -> Option<u32> {
        self.clock.khz()
    }

    /// Returns the number of software resets of the kernels since power-up.
    pub fn kernel_resets(&self) -> u64 {
        self.kernels.resets
    }

    /// Returns the number of resets of the kernel clock since power-up.
    pub fn clock_resets(&self) -> u64 {
        self.clock.resets
    }

    /// Returns the number of programs since the side was made, without the first.
    pub fn reprogrammed(&self) -> u64 {
        self.reprogrammed
    }

    /// Returns the counters of a kernel of the present program.
    pub fn kernel_stats(&self, name: &str) -> Option<KernelStats> {
        let mut kernels = self.kernels.kernels().iter();
        let found = kernels.find(|kernel| kernel.kernel().name == name);
        found.map(|kernel| kernel.stats)
    }

    /// Returns the accesses to a part.
    pub fn accesses(&self, part: Part) -> Accesses {
        self.counts[part as usize]
    }

    /// Sets the counters of accesses to 0.
    pub fn clear_accesses(&mut self) {
        self.counts = Default::default();
    }
}
