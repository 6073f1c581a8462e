//! Conditions for which the open runtime ends the program when it opens a board. They are checked before, so that the
//! result is a refusal with a reason. The checks change nothing except the kernels' clock, where that is off; the
//! runtime resets it anyway.
//!
//! From `l_try_device` (`acl_hal_mmd.cpp`), `acl_pll_init` (`acl_pll.cpp`) and `acl_kernel_if_init`
//! (`acl_kernel_if.cpp`) of intel/fpga-runtime-for-opencl v2025.0; assertions are compiled into its releases, too. All
//! other answers of the library that it asserts are constant here: [`Online`](crate::info::Online).

use crate::info::Flavour;
use crate::registers::Registers;
use crate::rom::Kernels;
use peerlane_host::{Area, Error, OpenCl};
use peerlane_package::{PRO, present, version};
use std::ops::Range;
use std::time::{Duration, Instant};

/// `sw_reset` of the kernel interface: not 0 when the kernels are out of their reset.
const SW_RESET: u64 = 0x030;
/// Longer than the runtime waits for that register, and for the clock (`RESET_TIMEOUT`, `RECONFIG_TIMEOUT`).
const PATIENCE: Duration = Duration::from_secs(3);

/// Registers of `acl_kernel_clk`.
const VERSION: u64 = 0x000;
const RESET: u64 = 0x110;
const LOCK: u64 = 0x120;
const SETTINGS: u64 = 0x400;
/// Versions: FPGAs of 28 nm and of 20 nm. Only the first have settings of their own.
const OF_28_NM: u32 = 0xa0c0_0001;
const OF_20_NM: u32 = 0xa0c0_0002;
/// Words of a setting: kHz m n k c0 c1 r cp div.
const WORDS: u64 = 9;
/// Frequencies, in kHz, are below this (`MAX_POSSIBLE_FMAX`).
const FASTEST: u32 = 2_000_000;
/// Valid resistors and charge pumps (`acl_pll_reconfigure`).
const RESISTORS: [u32; 11] = [
    18_000, 16_000, 14_000, 12_000, 10_000, 8000, 6000, 4000, 2000, 1000, 500,
];
const PUMPS: [u32; 5] = [5, 10, 20, 30, 40];

/// Hint for all of them.
const HINT: &str = "The runtime would end the program. Program the FPGA with a package of this board (aocl program), \
                      or write such a package into the board's flash memory (aocl flash)";

/// Checks before a runtime gets a board, and again when the FPGA is configured again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// All conditions for which the open runtime would end the program, and the memory: that it works, and is the
    /// program's.
    All,
    /// The memory, and its owner as far as the text of the board is known.
    Memory,
    /// None: a program that programs the board takes it as it is.
    Nothing,
}

impl Looks {
    pub(crate) fn of(flavour: Flavour) -> Self {
        match (flavour.runtime, flavour.open_runtime) {
            (true, true) => Self::All,
            (true, false) => Self::Memory,
            (false, _) => Self::Nothing,
        }
    }

    /// Checks a board of which the process holds this FPGA memory. Returns a warning for the program, if there is one.
    ///
    /// # Errors
    /// The reason why a runtime must not have the board, in sentences.
    pub(crate) fn at(
        self,
        registers: &Registers,
        kernels: &Kernels,
        side: &dyn OpenCl,
        held: Range<u64>,
    ) -> Result<Option<String>, String> {
        if self != Self::Nothing && side.bytes(Area::Status) > 0 {
            check_calibration(registers)?;
        }
        let memories = match self {
            Self::All => {
                let clock = side.bytes(Area::Clock) > 0;
                check(registers, kernels, clock, held.clone())?
            }
            Self::Memory => {
                let text = kernels.known();
                let known = text.and_then(|text| present(&text).ok());
                known.map(|text| text.memories).unwrap_or_default()
            }
            Self::Nothing => return Ok(None),
        };
        check_memory(&memories, &held)
    }
}

/// The variable with which a program takes a board although it holds only a part of its FPGA memory.
const LESS: &str = "PEERLANE_ACCEPT_LESS_MEMORY";

/// Checks a board's registers, and returns the FPGA memory that the runtime gives out. Without `clock` the board has no
/// registers for the clock. `held` is the FPGA memory of the process.
///
/// # Errors
/// The condition for which the runtime would end the program, in sentences.
fn check(
    registers: &Registers,
    kernels: &Kernels,
    clock: bool,
    held: Range<u64>,
) -> Result<Vec<Range<u64>>, String> {
    let told = |error: Error| format!("{error}. {}", error.hint());
    let look = || -> peerlane_host::Result<Result<Vec<Range<u64>>, String>> {
        // The kernels' registers run by the kernels' clock.
        if clock && let Err(what) = check_clock(registers)? {
            return Ok(Err(what));
        }
        let text = match kernels.shown()? {
            Ok(text) => text,
            Err(what) => return Ok(Err(what)),
        };
        if !until(registers, Area::Kernels, SW_RESET, |value| value != 0)? {
            return Ok(Err("its kernels do not come out of their reset".into()));
        }
        Ok(check_text(&text, held.clone()))
    };
    look()
        .map_err(told)?
        .map_err(|what| format!("{what}. {HINT}"))
}

/// Reads a register of 4 bytes.
fn dword(registers: &Registers, area: Area, offset: u64) -> peerlane_host::Result<u32> {
    let mut bytes = [0; 4];
    registers.read(area, offset, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Whether a register gets a wanted value in time.
fn until(
    registers: &Registers,
    area: Area,
    offset: u64,
    so: impl Fn(u32) -> bool,
) -> peerlane_host::Result<bool> {
    let begin = Instant::now();
    loop {
        // One more look after the limit, in case that the thread did not run for long.
        let over = begin.elapsed() >= PATIENCE;
        if so(dword(registers, area, offset)?) {
            return Ok(true);
        }
        if over {
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Checks the kernels' clock.
fn check_clock(registers: &Registers) -> peerlane_host::Result<Result<(), String>> {
    let read = |offset| dword(registers, Area::Clock, offset);
    match read(VERSION)? {
        OF_28_NM => {
            let mut setting = [0; WORDS as usize];
            for (at, word) in (0..).zip(&mut setting) {
                *word = read(SETTINGS + 4 * at)?;
            }
            let [khz, m, _, _, c0, c1, r, cp, _] = setting;
            let good = (1..FASTEST).contains(&khz)
                && m != 0
                && c1.checked_mul(2) == Some(c0)
                && RESISTORS.contains(&r)
                && PUMPS.contains(&cp);
            if !good {
                let what = format!("the setting of its kernels' clock is not valid: {setting:?}");
                return Ok(Err(what));
            }
            // The runtime reads all settings, and treats a clock with two as one without (`acl_pll_is_valid`).
            if read(SETTINGS + 4 * WORDS)? != 0 {
                return Ok(Err("its kernels' clock has two settings".into()));
            }
        }
        OF_20_NM => {}
        other => {
            let what =
                format!("its kernels' clock reports version {other:#010x}, which is not known");
            return Ok(Err(what));
        }
    }
    if read(LOCK)? != 1 {
        registers.write(Area::Clock, RESET, &[0; 4])?;
        if !until(registers, Area::Clock, LOCK, |value| value == 1)? {
            return Ok(Err("its kernels' clock does not lock".into()));
        }
    }
    Ok(Ok(()))
}

/// Checks the text that the runtime gets; returns the memories in it.
fn check_text(text: &str, held: Range<u64>) -> Result<Vec<Range<u64>>, String> {
    let read = present(text).map_err(|error| {
        let begin: String = text.chars().take(40).collect();
        let begin = begin.escape_debug();
        let edition = match version(text) {
            Some(PRO) => ". It is a text of AOCL's Pro Edition, whose boards are not supported",
            _ => "",
        };
        format!(
            "its ROM has the text \"{begin}\"..., which the runtime does not read: {error}{edition}"
        )
    })?;
    for memory in &read.memories {
        if memory.start < held.start || memory.start >= held.end {
            return Err(format!(
                "its ROM has FPGA memory from {:#x} on, but the board has {:#x} to {:#x} for OpenCL",
                memory.start, held.start, held.end
            ));
        }
    }
    Ok(read.memories)
}

/// Waits until the board's memory is calibrated, as Altera's library does (`wait_for_uniphy` of `acl_pcie_device.cpp`).
/// It is calibrated soon after power-up and after each configuration of the FPGA. Until then memory does not answer,
/// and all transfers wait. A board without the register has no such memory, or does not report its state.
///
/// # Errors
/// It is not calibrated; a sentence.
fn check_calibration(registers: &Registers) -> Result<(), String> {
    let told = |error: Error| format!("{error}. {}", error.hint());
    let calibrated = until(registers, Area::Status, 0, |value| value == 0).map_err(told)?;
    if calibrated {
        return Ok(());
    }
    let status = dword(registers, Area::Status, 0).map_err(told)?;
    Err(format!(
        "its memory is not calibrated (status {status:#x}, expected 0): transfers and kernels would get no answer. \
         Turn the computer off and on, program the FPGA with another package (aocl program), or check the board's \
         memory modules"
    ))
}

/// Checks whether all the memory that the runtime gives out is the process's. The runtime does not know of other
/// programs: it would put buffers into their memory, which kernels then write, and no call of this library shows that.
///
/// Returns the warning for a program that accepts less memory.
///
/// # Errors
/// A sentence for a program that does not accept it.
fn check_memory(memories: &[Range<u64>], held: &Range<u64>) -> Result<Option<String>, String> {
    let mib = |bytes: u64| bytes >> 20;
    let end = memories.iter().map(|memory| memory.end).max().unwrap_or(0);
    if end <= held.end {
        return Ok(None);
    }
    let has = format!(
        "OpenCL allocates from the first {} MiB of its memory, but this program has only the first {} MiB: the other \
         {} MiB are held by other programs, or reserved for them by the driver's parameter memory_pool_mib",
        mib(end),
        mib(held.end),
        mib(end - held.end)
    );
    match std::env::var_os(LESS).unwrap_or_default().to_str() {
        Some("" | "0") => Err(format!(
            "{has}. OpenCL does not detect this, and its kernels would overwrite that memory. End those programs, or \
             load the driver without a pool. Or set {LESS}=1, and make sure that no buffer lies there: OpenCL \
             allocates addresses from 0 on, and from the middle on with CL_CHANNEL_2_INTELFPGA"
        )),
        Some("1") => Ok(Some(format!("{has}. {LESS} accepts that"))),
        _ => Err(format!("{LESS} is neither 0 nor 1")),
    }
}
