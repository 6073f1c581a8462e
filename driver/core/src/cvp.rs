// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of the FPGA over PCIe (CvP), by the hard IP of Stratix V, Arria V and Cyclone V.
//!
//! The hard IP and all other periphery stay as they are. The core, which is all logic, is configured again. So the
//! link stays up, and the function's configuration space answers throughout.
//!
//! Sources, cited by their numbers:
//! - 683889, *Configuration via Protocol (CvP) Implementation in V-series FPGA Devices User Guide*: "CvP Driver
//!   Flow" has the sequence, "VSEC Registers for CvP" the registers.
//! - 683093, *Stratix V Avalon-ST Interface for PCIe Solutions User Guide*, 6.6 "CvP Registers": the registers'
//!   fields.
//! - The driver that 683889 describes ("Installing Open Source CvP Driver in Linux System"; Altera's `altera_cvp.c`
//!   of 2012), and the driver of OpenCL BSPs (Altera's `aclpci_cvp.c` of 2016), which are public: for questions that
//!   the guides leave open. Only facts are taken from them.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use core::fmt;

/// The function on which the sequence is carried out.
pub trait HardIp {
    /// Reason why an access was not made.
    type Error;

    /// Reads a dword of the function's configuration space.
    fn read(&mut self, offset: u16) -> Result<u32, Self::Error>;

    /// Writes a dword of the function's configuration space.
    fn write(&mut self, offset: u16, value: u32) -> Result<(), Self::Error>;

    /// Writes dwords to the data register, by writes to memory: in CvP mode any address of any memory BAR of the
    /// function is that register (683889, "CvP Data Registers"; the drivers take the first address of a BAR). The
    /// dwords arrive before a later read of the configuration space is answered.
    fn send(&mut self, words: impl Iterator<Item = u32>) -> Result<(), Self::Error>;

    /// Waits for a time.
    fn pause(&mut self, microseconds: u32);
}

/// Packing of an image, which determines the number of clocks that the hard IP takes for a dword of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As the status register reports: bits 16 (encrypted) and 17 (compressed), which the guides call reserved, and
    /// which both of Altera's drivers use.
    AsTold,
    /// Neither compressed nor encrypted.
    Plain,
    /// Encrypted, not compressed.
    Encrypted,
    /// Compressed.
    Compressed,
}

/// Reasons why the FPGA was not configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure<E> {
    /// An access was not made.
    Access(E),
    /// The function does not answer: everything reads as ones.
    Gone,
    /// The FPGA's present configuration does not permit it.
    Disabled,
    /// The hard IP does not enter CvP mode.
    NoMode,
    /// The FPGA's control block does not become ready for an image.
    NotReady,
    /// The control block has found an error, after at most so many bytes of the image.
    Refused(usize),
    /// The control block does not end the transfer.
    Stuck,
    /// The image is loaded, but the FPGA does not start with it.
    Down,
}

impl<E> From<E> for Failure<E> {
    fn from(error: E) -> Self {
        Self::Access(error)
    }
}

impl<E: fmt::Debug> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access(error) => write!(f, "an access failed: {error:?}"),
            Self::Gone => f.write_str("the function does not answer (its registers read as ones)"),
            Self::Disabled => f.write_str("the FPGA's present configuration does not allow it (CVP_EN is 0)"),
            Self::NoMode => f.write_str("the hard IP does not go into CvP mode"),
            Self::NotReady => f.write_str("the FPGA does not get ready for it (CVP_CONFIG_READY stays 0)"),
            Self::Refused(bytes) => write!(
                f,
                "the FPGA has found an error in the first {bytes} bytes of the image (CVP_CONFIG_ERROR): it is damaged, or its periphery is not the one that the FPGA has"
            ),
            Self::Stuck => f.write_str("the FPGA does not end the transfer (CVP_CONFIG_READY stays 1)"),
            Self::Down => f.write_str("the image is loaded, and the FPGA does not come up with it (USERMODE or PLD_CLK_IN_USE stays 0)"),
        }
    }
}

/// Where the list of extended capabilities begins, and where the space ends (PCI Express Base Specification 3.0,
/// 7.9.1).
const FIRST: u16 = 0x100;
const END: u16 = 0x1000;
/// The largest number of capabilities that it has room for.
const MOST: u16 = (END - FIRST) / 4;
/// Vendor-Specific Extended Capability, and how its header's second dword has the length (7.19).
const VENDOR_SPECIFIC: u32 = 0x000b;
const LENGTH_LSB: u32 = 20;
/// Bytes up to the end of the last register that is needed here.
const LEAST: u32 = 0x38;

/// Registers, from the first byte of the capability on (683889, "VSEC Registers for CvP").
const STATUS: u16 = 0x1c;
const MODE: u16 = 0x20;
const PROGRAM: u16 = 0x2c;
const INTERNAL_ERROR: u16 = 0x34;

/// "CvP Status Register".
const ENCRYPTED: u32 = 1 << 16;
const COMPRESSED: u32 = 1 << 17;
const READY: u32 = 1 << 18;
const ERROR: u32 = 1 << 19;
const ENABLED: u32 = 1 << 20;
const USER_MODE: u32 = 1 << 21;
const CLOCK_IN_USE: u32 = 1 << 24;

/// "CvP Mode Control Register".
const CVP_MODE: u32 = 1 << 0;
const INTERNAL_CLOCK: u32 = 1 << 1;
const CLOCKS_LSB: u32 = 8;
const CLOCKS_MASK: u32 = 0xff << CLOCKS_LSB;

/// "CvP Programming Control Register".
const CONFIG: u32 = 1 << 0;
const START: u32 = 1 << 1;

/// "Uncorrectable Internal Error Status Register": an error of a configuration, cleared by writing 1.
const LATCHED: u32 = 1 << 5;

/// Writes to the data register that give the control block enough clocks to change over to others (683889, "CvP Driver
/// Flow").
const DUMMIES: usize = 244;
/// Bytes between two looks for an error. A look also waits until earlier dwords have arrived.
const PIECE: usize = 4096;

/// Time for which the hard IP must be idle before and after its clock is changed, in microseconds (683093, table 54).
const IDLE: u32 = 10;
/// Pause between two looks at the status.
const LOOK: u32 = 1000;
/// Limit for the control block to become ready, or to end. The guide has 10 ms.
const CONTROL: u32 = 100_000;
/// Limit for the FPGA to start. No guide has a time.
const START_UP: u32 = 1_000_000;
/// Time for a new configuration to leave its reset, as in `aclpci_cvp.c`.
const SETTLE: u32 = 200_000;

/// The registers of a function.
#[derive(Debug)]
pub struct Cvp<'a, H> {
    hip: &'a mut H,
    base: u16,
}

impl<'a, H: HardIp> Cvp<'a, H> {
    /// Looks for the registers; `None`: the function does not have them.
    pub fn find(hip: &'a mut H) -> Result<Option<Self>, Failure<H::Error>> {
        let mut offset = FIRST;
        for _ in 0..MOST {
            let header = hip.read(offset)?;
            let id = header & 0xffff;
            // A program that passes a function to a virtual machine may still know the list of a function that is
            // gone.
            if id == 0xffff {
                return Err(Failure::Gone);
            }
            if id == VENDOR_SPECIFIC {
                let length = hip.read(offset.saturating_add(4))? >> LENGTH_LSB;
                if length >= LEAST && u32::from(offset).saturating_add(length) <= u32::from(END) {
                    return Ok(Some(Self { hip, base: offset }));
                }
            }
            offset = (header >> 20) as u16 & !3;
            if offset < FIRST {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the offset of a register: all of the capability is in the configuration space.
    const fn at(&self, register: u16) -> u16 {
        self.base.saturating_add(register)
    }

    fn read(&mut self, register: u16) -> Result<u32, Failure<H::Error>> {
        match self.hip.read(self.at(register))? {
            // No register can read as all ones.
            u32::MAX => Err(Failure::Gone),
            value => Ok(value),
        }
    }

    fn change(&mut self, register: u16, clear: u32, set: u32) -> Result<(), Failure<H::Error>> {
        let value = self.read(register)? & !clear | set;
        Ok(self.hip.write(self.at(register), value)?)
    }

    /// Whether the FPGA's present configuration permits loading another one this way.
    pub fn is_enabled(&mut self) -> Result<bool, Failure<H::Error>> {
        Ok(self.read(STATUS)? & ENABLED != 0)
    }

    /// Whether the FPGA has no configuration of its core. Nothing after the hard IP answers then. An FPGA that cannot
    /// be configured this way gives no information here.
    pub fn is_empty(&mut self) -> Result<bool, Failure<H::Error>> {
        Ok(self.read(STATUS)? & (ENABLED | USER_MODE) == ENABLED)
    }

    /// Waits until bits of the status have a value; `false`: they did not get it in time.
    fn wait(&mut self, bits: u32, value: u32, limit: u32) -> Result<bool, Failure<H::Error>> {
        for _ in 0..limit / LOOK {
            if self.read(STATUS)? & bits == value {
                return Ok(true);
            }
            self.hip.pause(LOOK);
        }
        Ok(self.read(STATUS)? & bits == value)
    }

    fn set_clocks(&mut self, clocks: u32) -> Result<(), Failure<H::Error>> {
        self.change(MODE, CLOCKS_MASK, clocks << CLOCKS_LSB)
    }

    /// Lets the control block change from one clock to the other.
    fn switch_clock(&mut self) -> Result<(), Failure<H::Error>> {
        self.set_clocks(1)?;
        Ok(self.hip.send(core::iter::repeat_n(0, DUMMIES))?)
    }

    /// Enters CvP mode: from now on memory writes are writes to the data register.
    fn enter_mode(&mut self) -> Result<(), Failure<H::Error>> {
        self.hip.pause(IDLE);
        self.change(MODE, 0, INTERNAL_CLOCK)?;
        self.hip.pause(IDLE);
        self.change(MODE, 0, CVP_MODE)?;
        let both = CVP_MODE | INTERNAL_CLOCK;
        match self.read(MODE)? & both == both {
            true => Ok(()),
            // The dwords would reach the FPGA's logic.
            false => Err(Failure::NoMode),
        }
    }

    /// Returns to normal mode. Without a configuration of the core the hard IP keeps its internal clock by itself
    /// (683093, table 54: the selection counts with `USERMODE` and `PLD_CORE_READY`).
    fn leave_mode(&mut self) -> Result<(), Failure<H::Error>> {
        self.change(MODE, CVP_MODE, 0)?;
        self.hip.pause(IDLE);
        self.change(MODE, INTERNAL_CLOCK, 0)?;
        self.hip.pause(IDLE);
        Ok(())
    }

    /// Ends a transfer at any stage.
    fn end_transfer(&mut self) -> Result<(), Failure<H::Error>> {
        self.change(PROGRAM, START, 0)?;
        self.change(PROGRAM, CONFIG, 0)?;
        self.switch_clock()?;
        match self.wait(READY, 0, CONTROL)? {
            true => Ok(()),
            false => Err(Failure::Stuck),
        }
    }

    /// Clears the latched error. Returns whether there was one.
    fn take_error(&mut self) -> Result<bool, Failure<H::Error>> {
        let latched = self.read(INTERNAL_ERROR)? & LATCHED;
        if latched != 0 {
            // Other errors must not be cleared here.
            self.hip.write(self.at(INTERNAL_ERROR), latched)?;
        }
        Ok(latched != 0)
    }

    /// Returns the clocks for a dword: 1, 4 if it is encrypted, 8 if it is compressed (683889, "CvP Mode Control
    /// Register").
    fn clocks(&mut self, packing: Packing) -> Result<u32, Failure<H::Error>> {
        let status = match packing {
            Packing::AsTold => self.read(STATUS)?,
            Packing::Plain => 0,
            Packing::Encrypted => ENCRYPTED,
            Packing::Compressed => COMPRESSED,
        };
        Ok(match (status & COMPRESSED != 0, status & ENCRYPTED != 0) {
            (true, _) => 8,
            (false, true) => 4,
            (false, false) => 1,
        })
    }

    /// Sends an image, up to the end of it or the first error.
    fn transfer(&mut self, image: &[u8], packing: Packing) -> Result<(), Failure<H::Error>> {
        // An earlier transfer may have been cut short, for example by a reset of the machine.
        if self.read(STATUS)? & READY != 0 {
            self.end_transfer()?;
        }
        self.take_error()?;
        self.switch_clock()?;
        self.change(PROGRAM, 0, CONFIG)?;
        if !self.wait(READY, READY, CONTROL)? {
            return Err(Failure::NotReady);
        }
        self.switch_clock()?;
        self.change(PROGRAM, 0, START)?;
        let clocks = self.clocks(packing)?;
        self.set_clocks(clocks)?;
        let mut sent = 0;
        for piece in image.chunks(PIECE) {
            self.hip.send(piece.chunks(4).map(word))?;
            sent = piece.len().saturating_add(sent);
            if self.read(STATUS)? & ERROR != 0 {
                return Err(Failure::Refused(sent));
            }
        }
        Ok(())
    }

    /// Ends the transfer and CvP mode. Returns whether an error was found.
    fn finish(&mut self) -> Result<bool, Failure<H::Error>> {
        // If the control block does not end the transfer, it still has the data register.
        self.end_transfer()?;
        let error = self.take_error()?;
        self.leave_mode()?;
        Ok(error)
    }

    /// Configures the FPGA's core, to the end. Nothing else may access the function, and it may not be bus master.
    /// After an error the core may be [empty](Self::is_empty); the configuration can be tried again.
    pub fn configure(&mut self, image: &[u8], packing: Packing) -> Result<(), Failure<H::Error>> {
        if !self.is_enabled()? {
            return Err(Failure::Disabled);
        }
        if let Err(failure) = self.enter_mode() {
            // The first failure is the one to report.
            let _ = self.leave_mode();
            return Err(failure);
        }
        let sent = self.transfer(image, packing);
        let finished = self.finish();
        sent?;
        if finished? {
            return Err(Failure::Refused(image.len()));
        }
        let up = USER_MODE | CLOCK_IN_USE;
        if !self.wait(up, up, START_UP)? {
            return Err(Failure::Down);
        }
        self.hip.pause(SETTLE);
        Ok(())
    }
}

/// Returns a dword of an image, the last of which may have fewer bytes.
fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
    u32::from_le_bytes(word)
}

#[cfg(test)]
#[path = "cvp_tests.rs"]
mod tests;
