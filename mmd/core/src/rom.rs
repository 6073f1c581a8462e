//! The kernel interface as the runtime is to see it: unchanged, except that the autodiscovery text is one that the
//! runtime can read.
//!
//! The board's text is in a ROM, in one of two forms; the version of `acl_kernel_interface` says which one. The
//! runtime's reads of both are in its `acl_hal_mmd.cpp` and `acl_kernel_if.cpp`.

use crate::messages::say;
use crate::registers::Registers;
use peerlane_host::{Area, Result};
use peerlane_package::{upgrade, version};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The register with the place of the ROM.
const VERSION: u64 = 0x000;
/// The ROM is a part of the kernel interface, at [`ROM`].
const SHORT_ROM: u32 = 0xa0c0_0001;
/// The ROM ends where the kernels' address space ends, at [`SPACE`].
const LONG_ROM: u32 = 0xa0c0_0002;

/// The address that the window shows: a register of 4 bytes.
const SEGMENT: u64 = 0x020;
/// Value of the segment while the FPGA is configured: an address that no kernel has to be at, of the 30 bits of the
/// kernels' address space, in steps of the window's 4 KiB.
const MARK: u32 = 0x1a5a_5000;
/// The window into the kernels' address space.
pub(crate) const WINDOW: Range<u64> = 0x1000..0x2000;
/// The short ROM.
const ROM: Range<u64> = 0x2000..0x3000;
/// Bytes of the kernels' address space.
const SPACE: u64 = 0x4000_0000;
/// At the end of a long ROM: the length of its text, in hexadecimal digits.
const DIGITS: u64 = 8;
/// Most bytes of a long ROM.
const LONGEST: u64 = 16 << 20;

/// Returns the bytes of a long ROM with a text of this length: a power of 2 that has room for both.
fn long_space(length: u64) -> u64 {
    1 << ((length + DIGITS).ilog2() + 1)
}

/// The kernel interface of a board.
#[derive(Debug)]
pub(crate) struct Kernels {
    registers: Arc<Registers>,
    /// Whether text of old versions is rewritten for the runtime.
    rewrites: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Value that the runtime has written to the segment register.
    segment: u32,
    rom: Rom,
}

#[derive(Debug, Clone)]
enum Rom {
    /// The ROM was not read yet.
    Unknown,
    /// The runtime can read the board's own text, or the text is not understood here.
    Own,
    /// Other text takes its place.
    Instead(Arc<Text>),
}

#[derive(Debug)]
struct Text {
    bytes: Vec<u8>,
    /// Value of the version register.
    version: u32,
}

impl Text {
    /// Returns a byte of the short ROM.
    fn short(&self, at: u64) -> u8 {
        let byte = usize::try_from(at).ok().and_then(|at| self.bytes.get(at));
        byte.copied().unwrap_or(0)
    }

    /// Returns a byte of the long ROM, by its address in the kernels' space; `None`: the address is not in the ROM.
    fn long(&self, address: u64) -> Option<u8> {
        let at = address.checked_sub(SPACE - long_space(self.bytes.len() as u64))?;
        let left = SPACE.checked_sub(address + 1)?;
        if left < DIGITS {
            let digit = self.bytes.len() >> (4 * left) & 0xf;
            return char::from_digit(digit as u32, 16)
                .map(|digit| digit.to_ascii_uppercase() as u8);
        }
        let byte = usize::try_from(at).ok().and_then(|at| self.bytes.get(at));
        Some(byte.copied().unwrap_or(b' '))
    }
}

impl Kernels {
    /// Makes the interface. With `rewrites`, text of versions that the open runtime does not read is rewritten to one
    /// that it reads.
    pub(crate) fn new(registers: Arc<Registers>, rewrites: bool) -> Self {
        let state = State {
            segment: 0,
            rom: Rom::Unknown,
        };
        Self {
            registers,
            rewrites,
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the FPGA has another configuration now, with registers as after power-up. This restores the value of
    /// the segment: the runtime writes it only to change it (`acl_kernel_cra_set_segment` of `acl_kernel_if.cpp`), and
    /// does not know that it was lost.
    pub(crate) fn changed(&self) -> Result<()> {
        let mut state = self.lock();
        state.rom = Rom::Unknown;
        let segment = state.segment.to_le_bytes();
        self.registers.write(Area::Kernels, SEGMENT, &segment)
    }

    /// Marks the FPGA's configuration: the segment register keeps the mark until the FPGA is configured again. It is
    /// the register of an Address Span Extender, which is 0 after its reset (`MASTER_ADDRESS_DEF` in Altera's
    /// `acl_kernel_interface`), and is reset with the PCIe side of the board, not by the kernels' reset at 0x030. So a
    /// reset of the hard IP, by a link that is down or reset, clears the mark too: its absence proves nothing, but its
    /// presence proves that this FPGA was not configured. [`changed`](Self::changed) removes the mark.
    ///
    /// `false`: this board's register cannot be read back, so there is no mark.
    pub(crate) fn mark(&self) -> Result<bool> {
        let mark = MARK.to_le_bytes();
        self.registers.write(Area::Kernels, SEGMENT, &mark)?;
        self.is_marked()
    }

    /// Whether the mark is there.
    pub(crate) fn is_marked(&self) -> Result<bool> {
        Ok(self.dword(SEGMENT)? == MARK)
    }

    /// Reads registers as the runtime is to see them.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> Result<()> {
        let length = data.len() as u64;
        let Some(end) = offset.checked_add(length) else {
            // This access reports the error.
            return self.registers.read(Area::Kernels, offset, data);
        };
        let looks = offset < VERSION + 4 || offset < ROM.end && end > ROM.start;
        let mut state = self.lock();
        // The address that the window shows there.
        let through = WINDOW.contains(&offset) && end <= WINDOW.end;
        let shown = through.then(|| u64::from(state.segment) + offset - WINDOW.start);
        let high = shown.is_some_and(|address| address >= SPACE - LONGEST);
        if (looks || high) && self.rewrites && matches!(state.rom, Rom::Unknown) {
            state.rom = match self.text(state.segment)? {
                Ok(bytes) => instead(&bytes),
                // The runtime refuses such a ROM.
                Err(_) => Rom::Own,
            };
        }
        let Rom::Instead(text) = state.rom.clone() else {
            drop(state);
            return self.registers.read(Area::Kernels, offset, data);
        };
        drop(state);
        if let Some(address) = shown {
            let byte = |at: usize| text.long(address + at as u64);
            if text.version == LONG_ROM && byte(0).is_some() {
                for (at, to) in data.iter_mut().enumerate() {
                    *to = byte(at).unwrap_or(0);
                }
                return Ok(());
            }
            return self.registers.read(Area::Kernels, offset, data);
        }
        if ROM.contains(&offset) && end <= ROM.end && text.version == SHORT_ROM {
            for (at, to) in (offset - ROM.start..).zip(data) {
                *to = text.short(at);
            }
            return Ok(());
        }
        self.registers.read(Area::Kernels, offset, data)?;
        let places = (offset..end).zip(data);
        for (place, to) in places.filter(|(place, _)| *place < VERSION + 4) {
            *to = text.version.to_le_bytes()[(place - VERSION) as usize];
        }
        Ok(())
    }

    /// Writes registers, and notes the segment.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        let end = offset.saturating_add(data.len() as u64);
        if offset >= SEGMENT + 4 || end <= SEGMENT {
            return self.registers.write(Area::Kernels, offset, data);
        }
        // The noted segment and the register change together.
        let mut state = self.lock();
        self.registers.write(Area::Kernels, offset, data)?;
        let mut segment = state.segment.to_le_bytes();
        for (place, from) in (offset..end).zip(data) {
            if (SEGMENT..SEGMENT + 4).contains(&place) {
                segment[(place - SEGMENT) as usize] = *from;
            }
        }
        state.segment = u32::from_le_bytes(segment);
        Ok(())
    }

    fn dword(&self, offset: u64) -> Result<u32> {
        let mut bytes = [0; 4];
        self.registers.read(Area::Kernels, offset, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Returns the text that the runtime gets; or the error of the ROM, in words.
    pub(crate) fn shown(&self) -> Result<std::result::Result<String, String>> {
        let mut state = self.lock();
        let bytes = match self.text(state.segment)? {
            Ok(bytes) => bytes,
            Err(what) => return Ok(Err(what)),
        };
        state.rom = instead(&bytes);
        let bytes = match &state.rom {
            Rom::Instead(text) => &text.bytes,
            Rom::Unknown | Rom::Own => &bytes,
        };
        Ok(Ok(String::from_utf8_lossy(until_zero(bytes)).into_owned()))
    }

    /// Returns the board's own text, rewritten if it is of an old version, if it can be read at all. The text that the
    /// runtime gets does not change.
    pub(crate) fn known(&self) -> Option<String> {
        let bytes = self.text(self.lock().segment).ok()?.ok()?;
        let text = std::str::from_utf8(until_zero(&bytes)).ok()?;
        Some(upgrade(text).unwrap_or_else(|_| text.into()))
    }

    /// Returns the text that the board has. The window is moved for the read, and then back to `segment`.
    fn text(&self, segment: u32) -> Result<std::result::Result<Vec<u8>, String>> {
        match self.dword(VERSION)? {
            SHORT_ROM => {
                let mut bytes = vec![0; (ROM.end - ROM.start) as usize];
                self.registers.read(Area::Kernels, ROM.start, &mut bytes)?;
                Ok(Ok(bytes))
            }
            LONG_ROM => {
                let bytes = self.long_text();
                let back = segment.to_le_bytes();
                self.registers.write(Area::Kernels, SEGMENT, &back)?;
                bytes
            }
            other => Ok(Err(format!(
                "its kernel interface reports version {other:#010x}, which is not known (known: {SHORT_ROM:#x} and \
                 {LONG_ROM:#x})"
            ))),
        }
    }

    /// Returns the text of a long ROM.
    fn long_text(&self) -> Result<std::result::Result<Vec<u8>, String>> {
        let mut digits = [0; DIGITS as usize];
        self.look_at(SPACE - DIGITS, &mut digits)?;
        let text = std::str::from_utf8(&digits).ok();
        let length = text.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let Some(length) = length.filter(|length| (1..LONGEST / 2).contains(length)) else {
            let found = digits.escape_ascii();
            return Ok(Err(format!(
                "its ROM has \"{found}\" in place of the length of its text"
            )));
        };
        let mut bytes = vec![0; length as usize];
        self.look_at(SPACE - long_space(length), &mut bytes)?;
        Ok(Ok(bytes))
    }

    /// Reads at an address of the kernels' space.
    fn look_at(&self, mut address: u64, mut data: &mut [u8]) -> Result<()> {
        let size = WINDOW.end - WINDOW.start;
        while !data.is_empty() {
            let segment = (address / size * size) as u32;
            self.registers
                .write(Area::Kernels, SEGMENT, &segment.to_le_bytes())?;
            let skip = address % size;
            let here = data.len().min((size - skip) as usize);
            let (now, later) = data.split_at_mut(here);
            self.registers
                .read(Area::Kernels, WINDOW.start + skip, now)?;
            address += here as u64;
            data = later;
        }
        Ok(())
    }
}

/// Returns the bytes before the first 0.
fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// Returns the text that takes the place of a ROM's text.
fn instead(bytes: &[u8]) -> Rom {
    let text = std::str::from_utf8(until_zero(bytes));
    let Some(text) = text
        .ok()
        .filter(|text| matches!(version(text), Some(13 | 14)))
    else {
        return Rom::Own;
    };
    match upgrade(text) {
        Ok(text) => {
            let bytes = text.into_bytes();
            let short = (bytes.len() as u64) < ROM.end - ROM.start;
            let version = if short { SHORT_ROM } else { LONG_ROM };
            Rom::Instead(Arc::new(Text { bytes, version }))
        }
        Err(error) => {
            say(format_args!(
                "the text of the board's ROM is not rewritten. {error}"
            ));
            Rom::Own
        }
    }
}
