//! The hard IP's registers by which the FPGA's core is configured over PCIe (CvP), and the control block that they
//! drive.
//!
//! Sources: *Configuration via Protocol (CvP) Implementation in V-series FPGA Devices User Guide* (683889), "CvP
//! Driver Flow" and "VSEC Registers for CvP"; *Stratix V Avalon-ST Interface for PCIe Solutions User Guide* (683093),
//! 6.6 "CvP Registers".
//!
//! The model is strict: an action of software out of the guide's order is a violation, and has no effect.
//!
//! | rule | why |
//! | --- | --- |
//! | `HIP_CLK_SEL` before `CVP_MODE`, and cleared after it | the data register's clock is the internal one |
//! | 244 clocks of dummies, one a write, before `CVP_CONFIG`, `START_XFER`, and after both | to change state |
//! | no data but zeros outside of a transfer | they are dummies |
//! | `START_XFER` when `CVP_CONFIG_READY` is 1 only, and cleared before `CVP_CONFIG` | |
//! | whole dwords | 683889, "CvP Data Registers" |
//!
//! Assumptions, because no guide defines it: the core is lost when the control block becomes ready; a reset of the
//! function clears the mode and the control register and does not change the control block's state; a dword with
//! another number of clocks than the image needs is an error. Status bits 16 and 17, which the guides call reserved,
//! mean that an image must be encrypted or compressed: Altera's public drivers read them like this.
//!
//! Only the vendor knows the format of an FPGA's image. The model's images ([`image`]) have their number of dwords, the
//! periphery that they are for, and a sum at their end.

use serde::{Deserialize, Serialize};

/// Registers, from the first byte of the capability on.
const STATUS: u64 = 0x1C;
const MODE: u64 = 0x20;
const DATA: u64 = 0x28;
const PROGRAM: u64 = 0x2C;
const INTERNAL_ERROR: u64 = 0x34;

const CVP_MODE: u32 = 0x1;
const HIP_CLK_SEL: u32 = 0x2;
const FULL: u32 = 0x4;
const CONFIG: u32 = 0x1;
const START: u32 = 0x2;
/// `CVP_CONFIG_ERROR_LATCHED`.
const LATCHED: u32 = 0x20;

/// Clocks that the control block needs to change its state.
const CHANGE_OVER: u64 = 244;
/// Reads of the status until the control block, or the FPGA, advances.
const LOOKS: u32 = 3;

/// Properties of the FPGA's configuration that matter for CvP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CvpConfig {
    /// Whether the design allows this configuration of its core (`CVP_EN`).
    pub enabled: bool,
    /// The periphery that images must be for.
    pub periphery: u32,
    /// Whether images are encrypted.
    pub encrypted: bool,
    /// Whether images are compressed.
    pub compressed: bool,
}

impl Default for CvpConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            periphery: 0x5E71_F00D,
            encrypted: false,
            compressed: false,
        }
    }
}

/// Faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CvpFault {
    /// The control block does not become ready.
    NeverReady,
    /// The control block finds an error after so many dwords of the image.
    Error(usize),
    /// The control block does not end the transfer.
    StaysReady,
    /// The FPGA does not come up with the loaded image.
    NoUserMode,
    /// The registers read as ones.
    Gone,
}

/// Record of events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CvpRecord {
    /// Transfers that were begun.
    pub transfers: u64,
    /// Times that the FPGA came up with a new core.
    pub configured: u64,
    /// The image of the last transfer, as far as it arrived.
    pub words: Vec<u32>,
    /// Number of actions that software must not take.
    pub violations: u64,
    /// The first of these actions.
    pub first_violation: Option<String>,
}

/// State of the control block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    /// It was asked to become ready, and is ready after so many looks.
    Asked(u32),
    Ready,
    Loading,
    Loaded,
    /// It was asked to end.
    Ending,
}

/// The FPGA's core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Core {
    Empty,
    /// A whole image is loaded.
    Loaded,
    /// It is up after so many looks.
    ComingUp(u32),
    Up,
}

/// Registers and control block.
#[derive(Debug, Clone)]
pub struct Cvp {
    config: CvpConfig,
    fault: Option<CvpFault>,
    mode: u32,
    program: u32,
    /// Whether the error is latched. The model has no mask for it.
    latched: bool,
    error: bool,
    phase: Phase,
    core: Core,
    /// Clocks since the last change of the phase or mode.
    clocks: u64,
    record: CvpRecord,
}

/// Makes an image with this content, for a periphery, as the model's FPGA takes it.
pub fn image(content: &[u8], periphery: u32) -> Vec<u8> {
    let mut words = vec![content.len().div_ceil(4) as u32 + 3, periphery];
    words.extend(content.chunks(4).map(|bytes| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    }));
    words.push(sum(&words));
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

impl Cvp {
    /// Bytes of the capability: its header and the registers that are modelled.
    pub const BYTES: u64 = 0x44;

    /// Makes the registers of a configured FPGA.
    pub fn new(config: CvpConfig) -> Self {
        Self {
            config,
            fault: None,
            mode: 0,
            program: 0,
            latched: false,
            error: false,
            phase: Phase::Idle,
            core: Core::Up,
            clocks: 0,
            record: CvpRecord::default(),
        }
    }

    /// Sets a fault from now on, or none.
    pub fn set_fault(&mut self, fault: Option<CvpFault>) {
        self.fault = fault;
    }

    /// Returns the record of events.
    pub fn record(&self) -> &CvpRecord {
        &self.record
    }

    /// Clears the record.
    pub fn clear_record(&mut self) {
        self.record = CvpRecord::default();
    }

    /// Returns whether memory writes go to the data register.
    pub fn takes_memory(&self) -> bool {
        self.mode & CVP_MODE != 0
    }

    /// Returns whether the FPGA's logic exists.
    pub fn has_core(&self) -> bool {
        self.core == Core::Up
    }

    /// Records an access to the FPGA's logic while it does not exist.
    pub fn touched(&mut self, how: &str) {
        self.violation(&format!("{how} while the FPGA's logic does not exist"));
    }

    /// Resets the function.
    pub fn reset(&mut self) {
        self.mode = 0;
        self.program = 0;
        self.clocks = 0;
    }

    /// Configures the whole FPGA, by JTAG or from flash memory.
    pub fn configure(&mut self) {
        let record = std::mem::take(&mut self.record);
        *self = Self {
            fault: self.fault,
            record,
            ..Self::new(self.config)
        };
    }

    fn violation(&mut self, what: &str) {
        self.record.violations += 1;
        let (phase, core, clocks) = (self.phase, self.core, self.clocks);
        let first = &mut self.record.first_violation;
        first.get_or_insert_with(|| format!("{what} ({phase:?}, {core:?}, {clocks} clocks)"));
    }

    /// Reads a dword of the capability after its header.
    pub fn read(&mut self, offset: u64) -> u32 {
        if self.fault == Some(CvpFault::Gone) {
            return u32::MAX;
        }
        match offset {
            STATUS => self.look(),
            MODE => self.mode,
            PROGRAM => self.program,
            INTERNAL_ERROR if self.latched => LATCHED,
            _ => 0,
        }
    }

    /// Returns whether the core is kept from coming up: it does not come up in CvP mode.
    fn is_held_down(&self) -> bool {
        self.takes_memory() || self.fault == Some(CvpFault::NoUserMode)
    }

    /// Reads the status, whose state advances with each look.
    fn look(&mut self) -> u32 {
        match self.phase {
            Phase::Asked(0) => {
                self.enter(Phase::Ready);
                self.core = Core::Empty;
            }
            Phase::Asked(looks) if self.fault != Some(CvpFault::NeverReady) => {
                self.phase = Phase::Asked(looks - 1);
            }
            Phase::Ending
                if self.clocks >= CHANGE_OVER && self.fault != Some(CvpFault::StaysReady) =>
            {
                self.enter(Phase::Idle);
            }
            _ => {}
        }
        match self.core {
            Core::ComingUp(0) if !self.is_held_down() => {
                self.core = Core::Up;
                self.record.configured += 1;
            }
            Core::ComingUp(looks) if !self.is_held_down() => {
                self.core = Core::ComingUp(looks - 1);
            }
            _ => {}
        }
        let ready = !matches!(self.phase, Phase::Idle | Phase::Asked(_));
        let up = self.has_core();
        let done = !matches!(self.core, Core::Empty);
        [
            (16, self.config.encrypted),
            (17, self.config.compressed),
            (18, ready),
            (19, self.error),
            (20, self.config.enabled),
            (21, up),
            (23, done),
            (24, up),
            (25, up),
        ]
        .into_iter()
        .fold(0, |status, (bit, set)| status | u32::from(set) << bit)
    }

    /// Writes the bytes of a dword whose bit in `lanes` is set.
    pub fn write(&mut self, offset: u64, value: u32, lanes: u8) {
        let merged = |old: u32| {
            let mask = super::access::mask(lanes);
            old & !mask | value & mask
        };
        match offset {
            MODE => self.set_mode(merged(self.mode) & 0xFF07),
            PROGRAM => self.set_program(merged(self.program) & 0x3),
            INTERNAL_ERROR if merged(0) & LATCHED != 0 => self.latched = false,
            DATA => self.data(value, lanes),
            _ => {}
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.clocks = 0;
    }

    fn set_mode(&mut self, mut value: u32) {
        let old = self.mode;
        if !self.config.enabled {
            value &= !CVP_MODE;
        }
        let rises = |bit| value & !old & bit != 0;
        let falls = |bit| old & !value & bit != 0;
        let (begins, ends) = (rises(CVP_MODE), falls(CVP_MODE));
        self.mode = value;
        if rises(FULL) {
            self.violation("a configuration of the whole FPGA was requested");
        }
        if begins && old & HIP_CLK_SEL == 0 {
            self.violation("CVP_MODE was set before HIP_CLK_SEL");
        }
        if falls(HIP_CLK_SEL) && old & CVP_MODE != 0 {
            self.violation("HIP_CLK_SEL was cleared before CVP_MODE");
        }
        if ends && self.phase != Phase::Idle {
            self.violation("CVP_MODE was cleared in a transfer");
        }
        if begins || ends {
            self.clocks = 0;
        }
        let left = value & (CVP_MODE | HIP_CLK_SEL) == 0;
        if left && self.core == Core::Loaded && self.phase == Phase::Idle {
            self.core = Core::ComingUp(LOOKS);
        }
    }

    fn set_program(&mut self, value: u32) {
        let old = std::mem::replace(&mut self.program, value);
        let changed = self.clocks >= CHANGE_OVER;
        if value & !old & CONFIG != 0 {
            match self.phase {
                Phase::Idle if self.takes_memory() && changed => self.enter(Phase::Asked(LOOKS)),
                _ => self.violation("CVP_CONFIG was set out of turn"),
            }
        }
        if value & !old & START != 0 {
            match self.phase {
                Phase::Ready if changed => {
                    self.enter(Phase::Loading);
                    self.record.transfers += 1;
                    self.record.words.clear();
                }
                _ => self.violation("START_XFER was set out of turn"),
            }
        }
        if old & !value & START != 0 && self.phase == Phase::Loading {
            self.enter(Phase::Loaded);
        }
        if old & !value & CONFIG != 0 {
            if old & START != 0 {
                self.violation("CVP_CONFIG was cleared before START_XFER");
            }
            self.end();
        }
        // A transfer that was cut short by a reset of the function has nothing to clear.
        if old | value == 0 && !matches!(self.phase, Phase::Idle | Phase::Ending) {
            self.end();
        }
    }

    fn end(&mut self) {
        self.error = false;
        self.enter(Phase::Ending);
    }

    /// Writes the data register.
    pub fn data(&mut self, value: u32, lanes: u8) {
        if !self.takes_memory() {
            self.violation("data outside CvP mode");
            return;
        }
        if lanes != 0xF {
            self.violation("data that are not a whole dword");
        }
        let clocks = match self.mode >> 8 {
            0 => 64,
            clocks => clocks,
        };
        self.clocks += u64::from(clocks);
        if self.phase == Phase::Loading {
            return self.load(value, clocks);
        }
        if clocks != 1 {
            self.violation("dummy writes of more than one clock");
        }
        if value != 0 {
            self.violation("data outside a transfer");
        }
    }

    /// Takes a dword of an image.
    fn load(&mut self, value: u32, clocks: u32) {
        let needed = match (self.config.compressed, self.config.encrypted) {
            (true, _) => 8,
            (false, true) => 4,
            (false, false) => 1,
        };
        self.record.words.push(value);
        let words = &self.record.words;
        let (count, whole) = (words.len(), words[0].max(3) as usize);
        let wrong = clocks != needed
            || self.fault == Some(CvpFault::Error(count))
            || count == 2 && value != self.config.periphery
            || count == whole && value != sum(&words[..count - 1]);
        if wrong {
            self.error = true;
            self.latched = true;
        } else if count == whole && !self.error {
            self.core = Core::Loaded;
        }
    }
}
