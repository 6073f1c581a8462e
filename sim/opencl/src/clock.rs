//! The kernel clock (`acl_kernel_clk`): a PLL that software reconfigures.
//!
//! Source: the open runtime (intel/fpga-runtime-for-opencl), `acl_pll.cpp`, for the map and the sequence; AN 661
//! "Implementing Fractional PLL Reconfiguration with Altera PLL and Altera PLL Reconfig IP Cores" for the
//! registers of the reconfiguration controller; the *Stratix V Device Datasheet* for the frequencies that the
//! oscillator takes (600 to 1600 MHz). The version for 28 nm devices; 2 KiB:
//!
//! | offset | |
//! | --- | --- |
//! | 0x000 | version: 0xA0C00001 |
//! | 0x100 | cycles of the kernel clock since the last write here |
//! | 0x110 | reset of the PLL, 16 bytes: any write; lasts 1024 cycles, in which accesses to it wait; reads 1 |
//! | 0x120 | locked |
//! | 0x200 | mode of the controller: 1 polls, 0 waits |
//! | 0x204 | 1: the controller is ready |
//! | 0x208 | starts the reconfiguration |
//! | 0x20C, 0x210, 0x214, 0x21C | counters N, M, C (bits 22:18 say which) and fraction K |
//! | 0x220, 0x224, 0x270 | codes of bandwidth and charge pump, divider behind the oscillator (0: by 2) |
//! | 0x400 | ROM of settings, 9 dwords each, ended by a frequency of 0 |
//!
//! The PLL runs from the FPGA's configuration on. A reconfiguration applies the written settings. It ends the lock, and
//! so does a reset. The PLL locks again when the settings are sound: every counter's halves fit its odd bit, C0 is
//! twice C1, the codes exist, and the oscillator is in its range. A write of a register, or a start, while the
//! controller is working corrupts the setting until the next sound one. The times of the controller and of the lock are
//! assumptions. The reset is the same logic as that of the kernel interface: a store to it that waits for the end of a
//! reset restarts that reset in each cycle, and so waits without end.

use serde::{Deserialize, Serialize};

use crate::access::{Wait, mask};

/// Cycles of a reset of the PLL (as of the kernel interface).
const RESET_CYCLES: u64 = 1 << 10;
/// Cycles of a reconfiguration.
const CONFIGURE_CYCLES: u64 = 500;
/// Cycles from reset, or a new setting, to the lock.
const LOCK_CYCLES: u64 = 2000;
/// Range of the oscillator in kHz.
const OSCILLATOR: std::ops::RangeInclusive<u64> = 600_000..=1_600_000;

/// One setting in the ROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Frequency of the kernel clock.
    pub khz: u32,
    /// Multiplier, whole part.
    pub m: u32,
    /// Divider of the reference.
    pub n: u32,
    /// Multiplier, fraction, in units of 2^-32.
    pub k: u32,
    /// Divider of the kernel clock.
    pub c0: u32,
    /// Divider of the clock of twice its frequency.
    pub c1: u32,
    /// Bandwidth resistor in ohms.
    pub r: u32,
    /// Charge pump in microamperes.
    pub cp: u32,
    /// Divider after the oscillator, 1 or 2.
    pub div: u32,
}

/// Configuration of a kernel clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockConfig {
    /// Frequency of the reference.
    pub reference_khz: u32,
    /// The settings in the ROM. The FPGA is configured with the first one.
    pub settings: Vec<Setting>,
    /// Whether the PLL never locks.
    pub never_locks: bool,
    /// Whether software that checks that the controller is ready, or the PLL locked, always finds it so, after any
    /// number of cycles. The runtime gives up after a second of the computer's clock (`RECONFIG_TIMEOUT`,
    /// `acl_hal_mmd.h`), in which a simulator that is slowed down, for example by valgrind, makes no progress.
    pub at_first_look: bool,
}

impl Default for ClockConfig {
    /// Returns the setting that a DE5-Net's BSP of 13.1 has in its ROM.
    fn default() -> Self {
        Self {
            reference_khz: 50_000,
            settings: vec![Setting {
                khz: 304_869,
                m: 12,
                n: 1,
                k: 0x31DE_6981,
                c0: 2,
                c1: 1,
                r: 2000,
                cp: 30,
                div: 1,
            }],
            never_locks: false,
            at_first_look: false,
        }
    }
}

/// The registers of the controller, as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Registers {
    m: u32,
    n: u32,
    c: [u32; 2],
    k: u32,
    r: u32,
    cp: u32,
    div: u32,
}

/// Encodes a counter's register: bypassed, or an odd bit and the cycles that the output is high and low.
fn encode(value: u32) -> u32 {
    match value {
        0 | 1 => 1 << 16,
        _ => (value % 2) << 17 | value.div_ceil(2) << 8 | (value / 2),
    }
}

/// Decodes a counter's register, if it is sound.
fn decode(register: u32) -> Option<u64> {
    if register >> 16 & 1 == 1 {
        return Some(1);
    }
    let (high, low, odd) = (register >> 8 & 0xFF, register & 0xFF, register >> 17 & 1);
    (low > 0 && high == low + odd).then_some(u64::from(high + low))
}

/// Returns the code for a value.
fn code(codes: &[u32], value: u32) -> u32 {
    let found = codes.iter().position(|code| *code == value);
    found.map_or(u32::MAX, |index| index as u32)
}

/// Bandwidth in ohms and charge pump in microamperes, by their codes.
const R: [u32; 11] = [
    18_000, 16_000, 14_000, 12_000, 10_000, 8000, 6000, 4000, 2000, 1000, 500,
];
const CP: [u32; 5] = [5, 10, 20, 30, 40];

impl Registers {
    fn of(setting: &Setting) -> Self {
        Self {
            m: encode(setting.m),
            n: encode(setting.n),
            c: [encode(setting.c0), encode(setting.c1)],
            k: setting.k,
            r: code(&R, setting.r),
            cp: code(&CP, setting.cp),
            div: u32::from(setting.div != 2),
        }
    }

    /// Returns the frequency of the kernel clock in kHz, if the settings are sound.
    fn khz(&self, reference: u32) -> Option<u32> {
        let (m, n) = (decode(self.m)?, decode(self.n)?);
        let (c0, c1) = (decode(self.c[0])?, decode(self.c[1])?);
        let codes = (self.r as usize) < R.len() && (self.cp as usize) < CP.len() && self.div <= 1;
        let times = u128::from(m) << 32 | u128::from(self.k);
        let output = u64::try_from((u128::from(reference) * times / u128::from(n)) >> 32).ok()?;
        let oscillator = output * if self.div == 1 { 1 } else { 2 };
        let sound = codes && c0 == 2 * c1 && OSCILLATOR.contains(&oscillator);
        sound.then_some((output / c0) as u32)
    }
}

/// The PLL and its registers.
#[derive(Debug, Clone)]
pub(crate) struct KernelClock {
    config: ClockConfig,
    written: Registers,
    /// Frequency by the setting that is in use, if it is sound.
    khz: Option<u32>,
    /// Whether a register was written at the wrong time.
    spoilt: bool,
    polls: bool,
    configure_left: u64,
    reset_left: u64,
    lock_left: u64,
    cycles: u32,
    pub(crate) resets: u64,
}

impl KernelClock {
    /// Bytes of the slave.
    pub(crate) const BYTES: u64 = 0x800;

    /// Makes the PLL in its state some time after the FPGA's configuration.
    pub(crate) fn new(config: ClockConfig) -> Self {
        let first = config.settings.first().map(Registers::of);
        let written = first.unwrap_or_default();
        Self {
            khz: written.khz(config.reference_khz),
            config,
            written,
            spoilt: false,
            polls: false,
            configure_left: 0,
            reset_left: 0,
            lock_left: 0,
            cycles: 0,
            resets: 0,
        }
    }

    pub(crate) fn set_never_locks(&mut self, never: bool) {
        self.config.never_locks = never;
    }

    /// Returns the frequency of the kernel clock in kHz while the PLL is locked.
    pub(crate) fn khz(&self) -> Option<u32> {
        let idle = self.configure_left == 0 && self.reset_left == 0 && self.lock_left == 0;
        let sound = !self.spoilt && !self.config.never_locks;
        self.khz.filter(|_| idle && sound)
    }

    pub(crate) fn locked(&self) -> bool {
        self.khz().is_some()
    }

    pub(crate) fn busy(&self) -> bool {
        self.configure_left > 0 || self.reset_left > 0 || self.lock_left > 0
    }

    /// Advances by a cycle.
    pub(crate) fn tick(&mut self) {
        if self.locked() {
            self.cycles = self.cycles.wrapping_add(1);
            return;
        }
        if self.configure_left > 1 {
            self.configure_left -= 1;
        } else if self.configure_left > 0 {
            self.configured();
        } else if self.reset_left > 0 {
            self.reset_left -= 1;
        } else {
            self.lock_left = self.lock_left.saturating_sub(1);
        }
    }

    /// Applies the written settings: the controller is ready.
    fn configured(&mut self) {
        if self.configure_left > 0 {
            self.configure_left = 0;
            self.khz = self.written.khz(self.config.reference_khz);
        }
    }

    fn waits(&self, at: u64) -> bool {
        match at {
            0x110..0x120 => self.reset_left > 0,
            0x200..0x300 => !self.polls && self.configure_left > 0,
            _ => false,
        }
    }

    pub(crate) fn read(&mut self, at: u64) -> Result<u32, Wait> {
        if self.waits(at) {
            return Err(Wait);
        }
        if self.config.at_first_look && matches!(at, 0x120 | 0x204) {
            self.configured();
            (self.reset_left, self.lock_left) = (0, 0);
        }
        Ok(match at {
            0x000 => 0xA0C0_0001,
            0x100 => self.cycles,
            0x110 => 1,
            0x120 => self.locked().into(),
            0x200 => self.polls.into(),
            0x204 => u32::from(self.configure_left == 0),
            0x20C => self.written.n,
            0x210 => self.written.m,
            0x21C => self.written.k,
            0x220 => self.written.r,
            0x224 => self.written.cp,
            0x228 => self.written.c[0],
            0x22C => self.written.c[1],
            0x270 => self.written.div,
            0x400..0x800 => self.rom((at as usize - 0x400) / 4),
            _ => 0,
        })
    }

    fn rom(&self, dword: usize) -> u32 {
        self.config.settings.get(dword / 9).map_or(0, |setting| {
            let Setting {
                khz,
                m,
                n,
                k,
                c0,
                c1,
                r,
                cp,
                div,
            } = *setting;
            [khz, m, n, k, c0, c1, r, cp, div][dword % 9]
        })
    }

    /// Writes a dword. Software writes these registers whole; bytes that are not enabled count as 0.
    pub(crate) fn write(&mut self, at: u64, value: u32, lanes: u8) -> Result<(), Wait> {
        if self.waits(at) {
            if (0x110..0x120).contains(&at) {
                self.reset_left = RESET_CYCLES;
            }
            return Err(Wait);
        }
        let value = value & mask(lanes);
        match at {
            0x100 => self.cycles = 0,
            0x110..0x120 => {
                self.resets += 1;
                self.reset_left = RESET_CYCLES;
                self.lock_left = LOCK_CYCLES;
            }
            0x200..0x300 if self.configure_left > 0 => self.spoilt = true,
            0x200 => self.polls = value & 1 == 1,
            0x208 => {
                self.spoilt = false;
                self.configure_left = CONFIGURE_CYCLES;
                self.lock_left = LOCK_CYCLES;
            }
            0x20C => self.written.n = value,
            0x210 => self.written.m = value,
            0x214 => {
                if let Some(counter) = self.written.c.get_mut((value >> 18 & 31) as usize) {
                    *counter = value & 0x3FFFF;
                }
            }
            0x21C => self.written.k = value,
            0x220 => self.written.r = value,
            0x224 => self.written.cp = value,
            0x270 => self.written.div = value,
            _ => {}
        }
        Ok(())
    }
}
