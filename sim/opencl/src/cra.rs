//! Interrupt registers of the PCIe hard IP's `Cra` slave.
//!
//! Sources: *Stratix V Avalon-MM Interface for PCIe Solutions User Guide* (683411), 5.7.1.1 "Avalon-MM to PCI
//! Express Interrupt Status Registers", 5.7.1.2 "Avalon-MM to PCI Express Interrupt Enable Registers" and 6
//! "Interrupts for Endpoints".
//!
//! - Status, bits 15:0: the level of each `RxmIrq` line at the moment of the read. Read only.
//! - Enable, bits 15:0: a line's interrupt is enabled. Read and write.
//!
//! The heading of table 45 (edition 15.1) places the status register at 0x0060, but table 47 places another register
//! there. The *IP Compiler for PCI Express User Guide* (UG-PCI10605), table 6-13, and the public drivers of OpenCL
//! boards have it at 0x0040, and so does the model. The rest of the 16 KiB is not modelled: mailboxes, the vector
//! register, the translation table. It reads 0.
//!
//! # Which transitions send a message
//! The user guide says that a bit of the status register generates an interrupt if it is enabled. It does not define
//! the behaviour when a second bit comes while the first one is set. The model sends the fewest messages that agree
//! with the text: the hard IP has one interrupt request, the OR of (status AND enable) over all lines, and sends one
//! message when that rises from 0 to 1.
//!
//! | before | event | message |
//! | --- | --- | --- |
//! | no enabled line is high | an enabled line rises | yes |
//! | no enabled line is high | the enable bit of a high line is set | yes |
//! | an enabled line is high | another enabled line rises, or another high line is enabled | no |
//! | an enabled line is high | a write of the same enable bits | no |
//! | two enabled lines are high | one falls, or is disabled | no |
//! | any | a line that is not enabled rises or falls | no |
//! | any | a reset of the hard IP | no |
//!
//! So a driver that leaves a high line enabled gets no further message, independent of the other lines. A driver that
//! writes 0 to the enable register, looks at the status and sets the bits again loses none.
//!
//! After a reset the enable register is 0. The user guide gives no reset value; the drivers of OpenCL boards
//! set the bits before they expect an interrupt.

/// The registers, and the interrupt request that they form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cra {
    lines: u16,
    enable: u16,
    request: bool,
    /// Messages that have not been taken.
    waiting: u32,
    messages: u64,
}

impl Cra {
    /// Bytes of the slave.
    pub const BYTES: u64 = 0x4000;
    /// Offset of the status register.
    pub const STATUS: u64 = 0x40;
    /// Offset of the enable register.
    pub const ENABLE: u64 = 0x50;
    /// Bit of the line that OpenCL BSPs connect to the kernels' interrupt.
    pub const KERNEL: u16 = 1 << 0;
    /// Bit of the line that OpenCL BSPs connect to the DMA's interrupt.
    pub const DMA: u16 = 1 << 1;

    /// Makes registers in their state after a reset, with all lines low.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a dword.
    pub fn read(&self, offset: u64) -> u32 {
        match offset {
            Self::STATUS => self.lines.into(),
            Self::ENABLE => self.enable.into(),
            _ => 0,
        }
    }

    /// Writes the bytes of a dword whose bit in `lanes` is set.
    pub fn write(&mut self, offset: u64, value: u32, lanes: u8) {
        if offset == Self::ENABLE {
            let mask = super::access::mask(lanes);
            self.enable = (u32::from(self.enable) & !mask | value & mask) as u16;
            self.update();
        }
    }

    /// Sets the levels of all `RxmIrq` lines.
    pub fn set_lines(&mut self, lines: u16) {
        self.lines = lines;
        self.update();
    }

    fn update(&mut self) {
        let request = self.lines & self.enable != 0;
        if request && !self.request {
            self.waiting += 1;
            self.messages += 1;
        }
        self.request = request;
    }

    /// Takes one message that is to be sent, if there is one. Returns whether there was one.
    pub fn take_message(&mut self) -> bool {
        let some = self.waiting > 0;
        self.waiting -= u32::from(some);
        some
    }

    /// Returns the number of messages since the model was made.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Resets the hard IP. The lines are inputs and stay; messages that were not yet taken are lost.
    pub fn reset(&mut self) {
        self.enable = 0;
        self.request = false;
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes all waiting messages, and returns their number.
    fn taken(cra: &mut Cra) -> u32 {
        let mut count = 0;
        while cra.take_message() {
            count += 1;
        }
        count
    }

    fn enable(cra: &mut Cra, lines: u32) -> u32 {
        cra.write(0x50, lines, 15);
        taken(cra)
    }

    fn lines(cra: &mut Cra, lines: u16) -> u32 {
        cra.set_lines(lines);
        taken(cra)
    }

    #[test]
    fn nothing_comes_before_it_is_enabled() {
        let mut cra = Cra::new();
        assert_eq!(cra.read(0x50), 0);
        assert_eq!(lines(&mut cra, 2), 0);
        assert_eq!(cra.read(0x40), 2);
        assert_eq!(enable(&mut cra, 1), 0);
        assert_eq!(enable(&mut cra, 3), 1);
        assert_eq!(cra.read(0x50), 3);
    }

    #[test]
    fn the_or_of_the_enabled_lines_has_an_edge() {
        let mut cra = Cra::new();
        assert_eq!(enable(&mut cra, 3), 0);
        // The first line, the second one in addition, the first one gone: one message.
        assert_eq!(lines(&mut cra, 1), 1);
        assert_eq!(lines(&mut cra, 3), 0);
        assert_eq!(lines(&mut cra, 2), 0);
        assert_eq!(enable(&mut cra, 3), 0);
        // Both lines gone, then one again.
        assert_eq!(lines(&mut cra, 0), 0);
        assert_eq!(lines(&mut cra, 2), 1);
        // A line that is not enabled.
        assert_eq!(lines(&mut cra, 6), 0);
        assert_eq!(lines(&mut cra, 4), 0);
        assert_eq!(cra.read(0x40), 4);
        assert_eq!(cra.messages(), 2);
    }

    #[test]
    fn a_line_that_stays_high_is_told_again_when_enabled_again() {
        let mut cra = Cra::new();
        enable(&mut cra, 3);
        assert_eq!(lines(&mut cra, 1), 1);
        assert_eq!(enable(&mut cra, 0), 0);
        assert_eq!(enable(&mut cra, 3), 1);
        // The kernel's line is masked while it is high: the DMA's causes a message.
        assert_eq!(enable(&mut cra, 2), 0);
        assert_eq!(lines(&mut cra, 3), 1);
    }

    #[test]
    fn a_reset_disables() {
        let mut cra = Cra::new();
        enable(&mut cra, 3);
        cra.set_lines(2);
        cra.reset();
        assert_eq!((taken(&mut cra), cra.read(0x50), cra.read(0x40)), (0, 0, 2));
        assert_eq!(lines(&mut cra, 0), 0);
        assert_eq!(lines(&mut cra, 2), 0);
        assert_eq!(enable(&mut cra, 2), 1);
    }

    #[test]
    fn bytes_are_written_alone_and_other_registers_hold_nothing() {
        let mut cra = Cra::new();
        cra.write(0x50, 0xFFFF_0102, 0b0001);
        assert_eq!(cra.read(0x50), 0x0002);
        cra.write(0x50, 0xFFFF_0300, 0b1110);
        assert_eq!(cra.read(0x50), 0x0302);
        // The status is read only; 0x60, and the translation table at 0x1000, are not modelled.
        for offset in [0x40, 0x60, 0x1000] {
            cra.write(offset, u32::MAX, 15);
            assert_eq!(cra.read(offset), 0);
        }
    }
}
