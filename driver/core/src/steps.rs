// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequences of register accesses as data.
//!
//! This module and the modules that make [`Step`]s define which registers must be written in which order, and which
//! values must be waited for in between. The driver or the library around carries the steps out, with its own locks
//! and time limits.

use super::regs::{self, AttEntry, chan, csr};

/// Where a register is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Register {
    /// Byte offset in the CSR.
    Csr(usize),
    /// A CSR register of one channel, selected by `CHANNEL_SELECT`: code that accesses it writes the channel there
    /// first, and holds a lock from then to the access.
    Channel {
        /// The channel.
        channel: u32,
        /// Byte offset in the CSR.
        offset: usize,
    },
    /// A CSR register of one stream, selected by `STREAM_SELECT` in the same way.
    Stream {
        /// Value of `STREAM_SELECT`.
        select: u32,
        /// Byte offset in the CSR.
        offset: usize,
    },
    /// A register in the page of a channel.
    Page {
        /// The channel.
        channel: u32,
        /// Byte offset in the page.
        offset: usize,
    },
    /// Byte offset in the ATT.
    Att(usize),
}

impl Register {
    /// Returns the CSR register that selects this one, by its byte offset, and the value that it must hold for the
    /// access.
    pub const fn select(self) -> Option<(usize, u32)> {
        match self {
            Self::Channel { channel, .. } => Some((csr::CHANNEL_SELECT, channel)),
            Self::Stream { select, .. } => Some((csr::STREAM_SELECT, select)),
            Self::Csr(_) | Self::Page { .. } | Self::Att(_) => None,
        }
    }

    /// Returns the byte offset in the slave that contains the register.
    pub const fn offset(self) -> usize {
        match self {
            Self::Csr(offset)
            | Self::Channel { offset, .. }
            | Self::Stream { offset, .. }
            | Self::Att(offset) => offset,
            Self::Page { channel, offset } => channel as usize * chan::SIZE + offset,
        }
    }

    /// Returns the two words of ATT entry `index`, low one first.
    pub const fn entry(index: u32) -> [Self; 2] {
        let offset = index as usize * AttEntry::SIZE;
        [Self::Att(offset), Self::Att(offset + 4)]
    }
}

/// Reads a register; `None`: the board does not answer. A board that is not there reads as all ones (PCI Express Base
/// Specification, 2.3.2: the root complex's answer for an Unsupported Request), and so does a single read whose
/// answer was lost. `MAP_ID` never does. So ones are the register's value if it still reads as ones when `MAP_ID` has
/// answered.
pub fn answer<E>(
    register: Register,
    mut read: impl FnMut(Register) -> Result<u32, E>,
) -> Result<Option<u32>, E> {
    let value = read(register)?;
    if value != u32::MAX {
        return Ok(Some(value));
    }
    match read(Register::Csr(csr::MAP_ID))? == regs::MAP_ID {
        true => read(register).map(Some),
        false => Ok(None),
    }
}

/// One step of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Write a register.
    Write(Register, u32),
    /// Read a register until all bits of the mask are 0.
    Wait(Register, u32),
    /// Read a register once. The sequence fails if a bit of the mask is 1.
    Check(Register, u32),
}

/// Access to the registers, for [`run`].
pub trait Bus {
    /// Reason why an access failed.
    type Error;

    /// Writes a register; may be posted, as long as the order is kept.
    fn write(&mut self, register: Register, value: u32) -> Result<(), Self::Error>;

    /// Reads a register. All writes before have arrived when it returns.
    fn read(&mut self, register: Register) -> Result<u32, Self::Error>;

    /// Lets some time pass before the next look at a register that is busy. `false` means that the
    /// time is up.
    fn pause(&mut self, register: Register) -> Result<bool, Self::Error>;
}

/// Reasons why a sequence was not carried out to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped<E> {
    /// An access failed.
    Bus(E),
    /// The time was up.
    Late {
        /// The register that was waited for.
        register: Register,
        /// Its last value.
        value: u32,
    },
    /// A check has failed.
    Failed {
        /// The register.
        register: Register,
        /// Its value.
        value: u32,
    },
}

/// Carries a sequence out.
pub fn run<B: Bus>(
    bus: &mut B,
    steps: impl IntoIterator<Item = Step>,
) -> Result<(), Stopped<B::Error>> {
    for step in steps {
        match step {
            Step::Write(register, value) => bus.write(register, value).map_err(Stopped::Bus)?,
            Step::Wait(register, mask) => loop {
                let value = bus.read(register).map_err(Stopped::Bus)?;
                if value & mask == 0 {
                    break;
                }
                if !bus.pause(register).map_err(Stopped::Bus)? {
                    return Err(Stopped::Late { register, value });
                }
            },
            Step::Check(register, mask) => {
                let value = bus.read(register).map_err(Stopped::Bus)?;
                if value & mask != 0 {
                    return Err(Stopped::Failed { register, value });
                }
            }
        }
    }
    Ok(())
}

/// Stops the engines and ends all accepted descriptors as aborted. Done when nothing is in progress and the ATT can
/// be written. Interrupts are off then; the ATT, the rings and all other settings are kept.
pub const fn reset() -> [Step; 2] {
    let busy = csr::STATUS_WRITE_BUSY_MASK
        | csr::STATUS_READ_BUSY_MASK
        | csr::STATUS_COMPLETER_BUSY_MASK
        | csr::STATUS_ATT_SWEEP_MASK;
    [
        Step::Write(Register::Csr(csr::CONTROL), csr::CONTROL_RESET_MASK),
        Step::Wait(Register::Csr(csr::STATUS), busy),
    ]
}

/// Clears old causes of the interrupt, and lets the engines run.
pub const fn start() -> [Step; 2] {
    let run = csr::CONTROL_ENABLE_MASK | csr::CONTROL_IRQ_ENABLE_MASK;
    [
        Step::Write(Register::Csr(csr::IRQ_STATUS), u32::MAX),
        Step::Write(Register::Csr(csr::CONTROL), run),
    ]
}

/// Lowers the interrupt line and raises it again. Causes that are pending make a new rising edge, and so a new
/// message, if the last edge of the line was not handled.
pub const fn new_edge() -> [Step; 2] {
    let control = Register::Csr(csr::CONTROL);
    let run = csr::CONTROL_ENABLE_MASK | csr::CONTROL_IRQ_ENABLE_MASK;
    [
        Step::Write(control, csr::CONTROL_ENABLE_MASK),
        Step::Write(control, run),
    ]
}

/// Returns the value of `CONTROL` that ends interrupts and keeps the rest, from the value that was read. `None`: the
/// value is not a setting of a block that makes interrupts.
pub const fn quiet(control: u32) -> Option<u32> {
    const ENABLE: u32 = csr::CONTROL_ENABLE_MASK;
    const IRQ_ENABLE: u32 = csr::CONTROL_IRQ_ENABLE_MASK;
    const BOTH: u32 = ENABLE | IRQ_ENABLE;
    match control {
        BOTH => Some(ENABLE),
        IRQ_ENABLE => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    struct Scripted {
        reads: Vec<u32>,
        pauses: usize,
        seen: Vec<Step>,
    }

    impl Bus for Scripted {
        type Error = &'static str;
        fn write(&mut self, register: Register, value: u32) -> Result<(), Self::Error> {
            self.seen.push(Step::Write(register, value));
            Ok(())
        }
        fn read(&mut self, _: Register) -> Result<u32, Self::Error> {
            self.reads.pop().ok_or("no answer")
        }
        fn pause(&mut self, _: Register) -> Result<bool, Self::Error> {
            self.pauses = self.pauses.saturating_sub(1);
            Ok(self.pauses > 0)
        }
    }

    fn scripted(reads: &[u32], pauses: usize) -> Scripted {
        Scripted {
            reads: reads.iter().rev().copied().collect(),
            pauses,
            seen: Vec::new(),
        }
    }

    #[test]
    fn a_wait_ends_when_the_bits_are_clear() {
        let mut bus = scripted(&[0x9, 0x8, 0x6], 9);
        let place = Register::Csr(8);
        let steps = [Step::Wait(place, 1), Step::Write(place, 5)];
        assert_eq!(run(&mut bus, steps), Ok(()));
        assert_eq!(bus.reads, [6]);
        assert_eq!(bus.seen, [Step::Write(place, 5)]);
    }

    #[test]
    fn a_wait_says_what_it_waited_for() {
        let register = Register::Csr(8);
        let steps = || [Step::Wait(register, 6), Step::Write(register, 5)];
        let mut bus = scripted(&[2, 4, 2, 0], 3);
        let late = Stopped::Late { register, value: 2 };
        assert_eq!(run(&mut bus, steps()), Err(late));
        assert!(bus.seen.is_empty());
        let gone = run(&mut scripted(&[2], 9), steps());
        assert_eq!(gone, Err(Stopped::Bus("no answer")));
    }

    #[test]
    fn a_check_looks_once() {
        let register = Register::Csr(8);
        let steps = || [Step::Check(register, 6), Step::Write(register, 5)];
        assert_eq!(run(&mut scripted(&[9], 9), steps()), Ok(()));
        let mut bus = scripted(&[2, 0], 9);
        let failed = Stopped::Failed { register, value: 2 };
        assert_eq!(run(&mut bus, steps()), Err(failed));
        assert_eq!((bus.reads, bus.seen.len()), ([0].to_vec(), 0));
    }

    #[test]
    fn a_quiet_block_keeps_what_it_knows_and_nothing_else() {
        assert_eq!([0, 1, 2, 3].map(quiet), [None, None, Some(0), Some(1)]);
        assert_eq!([crate::regs::MAP_ID, 0x103].map(quiet), [None, None]);
    }

    #[test]
    fn places_of_registers() {
        let page = Register::Page {
            channel: 3,
            offset: 0x104,
        };
        assert_eq!((page.offset(), page.select()), (0x3104, None));
        let channel = Register::Channel {
            channel: 5,
            offset: 0x88,
        };
        assert_eq!(
            (channel.offset(), channel.select()),
            (0x88, Some((csr::CHANNEL_SELECT, 5)))
        );
        let entry = Register::entry(65535);
        assert_eq!(entry, [Register::Att(0x7_fff8), Register::Att(0x7_fffc)]);
    }

    #[test]
    fn a_reset_waits_for_engines_records_and_table() {
        let (control, status) = (Register::Csr(0x10), Register::Csr(0x14));
        let steps = [Step::Write(control, 0x100), Step::Wait(status, 0b1_1011)];
        assert_eq!(reset(), steps);
        let causes = Register::Csr(0x18);
        let steps = [Step::Write(causes, u32::MAX), Step::Write(control, 3)];
        assert_eq!(start(), steps);
        assert_eq!(
            new_edge(),
            [Step::Write(control, 1), Step::Write(control, 3)]
        );
    }
}
