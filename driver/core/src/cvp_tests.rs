// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of the accesses of the sequence. A model of a hard IP checks whether it accepts them:
//! `sim/opencl/tests/cvp.rs`.

use super::*;
use std::collections::BTreeMap;
use std::string::ToString;
use std::vec::Vec;

/// Registers that accept all writes, and a record of the writes.
#[derive(Default)]
struct Registers {
    values: BTreeMap<u16, u32>,
    /// The status when `CVP_CONFIG` is 0, and the bits that are added when it is 1.
    status: [u32; 2],
    written: Vec<(u16, u32)>,
    /// Runs of dwords: the number of earlier writes to registers, and the dwords.
    sent: Vec<(usize, Vec<u32>)>,
    paused: u32,
}

/// Offset of the capability in these tests: not the one that every hard IP has.
const BASE: u16 = 0x240;

impl HardIp for Registers {
    type Error = ();

    fn read(&mut self, offset: u16) -> Result<u32, ()> {
        if offset == BASE + 0x1c {
            let config = self
                .values
                .get(&(BASE + 0x2c))
                .is_some_and(|value| value & 1 != 0);
            return Ok(self.status[0] | if config { self.status[1] } else { 0 });
        }
        Ok(self.values.get(&offset).copied().unwrap_or(0))
    }

    fn write(&mut self, offset: u16, value: u32) -> Result<(), ()> {
        self.values.insert(offset, value);
        self.written.push((offset - BASE, value));
        Ok(())
    }

    fn send(&mut self, words: impl Iterator<Item = u32>) -> Result<(), ()> {
        self.sent.push((self.written.len(), words.collect()));
        Ok(())
    }

    fn pause(&mut self, microseconds: u32) {
        self.paused += microseconds;
    }
}

/// Makes a function with the capability after another one, and an FPGA that accepts everything.
fn registers() -> Registers {
    Registers {
        values: BTreeMap::from([
            (0x100, 0x2400_0003 | 1 << 16),
            (BASE, 0x0001_000b),
            (BASE + 4, 0x0440_1172),
        ]),
        // Enabled, in user mode, with its clock in use; ready when it is asked.
        status: [0x0130_0000, 0x0004_0000],
        ..Registers::default()
    }
}

fn configure(registers: &mut Registers, image: &[u8], packing: Packing) -> Result<(), Failure<()>> {
    let found = Cvp::find(registers).unwrap();
    found.unwrap().configure(image, packing)
}

/// The order of 683889, "CvP Driver Flow", register by register.
#[test]
fn the_sequence_is_the_guides() {
    let mut registers = registers();
    assert_eq!(
        configure(&mut registers, &[1, 2, 3, 4, 5, 6], Packing::Plain),
        Ok(())
    );
    assert_eq!(
        registers.written,
        [
            // HIP_CLK_SEL, then CVP_MODE.
            (0x20, 0x002),
            (0x20, 0x003),
            // One clock a dword for the dummies, then CVP_CONFIG.
            (0x20, 0x103),
            (0x2c, 0x1),
            (0x20, 0x103),
            // START_XFER, and the clocks of the image.
            (0x2c, 0x3),
            (0x20, 0x103),
            // In the reverse order.
            (0x2c, 0x1),
            (0x2c, 0x0),
            (0x20, 0x103),
            (0x20, 0x102),
            (0x20, 0x100),
        ]
    );
    let dummies = [0; 244].to_vec();
    let image = [0x0403_0201, 0x0605].to_vec();
    assert_eq!(
        registers.sent,
        [
            (3, dummies.clone()),
            (5, dummies.clone()),
            (7, image),
            (10, dummies)
        ]
    );
}

#[test]
fn clocks_are_those_of_the_image() {
    let cases = [
        (Packing::Plain, 0x0003_0000, 0x103),
        (Packing::Encrypted, 0, 0x403),
        (Packing::Compressed, 0, 0x803),
        (Packing::AsTold, 0, 0x103),
        (Packing::AsTold, 0x0001_0000, 0x403),
        (Packing::AsTold, 0x0002_0000, 0x803),
        (Packing::AsTold, 0x0003_0000, 0x803),
    ];
    for (packing, told, mode) in cases {
        let mut registers = registers();
        registers.status[0] |= told;
        configure(&mut registers, &[0; 8], packing).unwrap();
        assert_eq!(registers.written[6], (0x20, mode), "{packing:?}, {told:#x}");
    }
}

/// Bits that others have set in a register stay.
#[test]
fn other_bits_stay() {
    let mut registers = registers();
    registers.values.insert(BASE + 0x20, 0x4);
    configure(&mut registers, &[0; 4], Packing::Plain).unwrap();
    let mut modes = registers
        .written
        .iter()
        .filter(|(register, _)| *register == 0x20);
    assert!(modes.all(|(_, value)| value & 0x4 != 0));
}

/// Nothing is sent where memory writes would reach the FPGA's logic.
#[test]
fn nothing_is_sent_outside_of_the_mode() {
    struct Deaf(Registers);
    impl HardIp for Deaf {
        type Error = ();
        fn read(&mut self, offset: u16) -> Result<u32, ()> {
            self.0.read(offset)
        }
        fn write(&mut self, offset: u16, value: u32) -> Result<(), ()> {
            // It accepts only the clock.
            self.0.write(offset, value & !1)
        }
        fn send(&mut self, words: impl Iterator<Item = u32>) -> Result<(), ()> {
            self.0.send(words)
        }
        fn pause(&mut self, _: u32) {}
    }
    let mut deaf = Deaf(registers());
    let mut found = Cvp::find(&mut deaf).unwrap().unwrap();
    assert_eq!(
        found.configure(&[0; 64], Packing::Plain),
        Err(Failure::NoMode)
    );
    assert!(deaf.0.sent.is_empty());
    assert_eq!(deaf.0.values[&(BASE + 0x20)], 0);
    let mut off = registers();
    off.status = [0x0120_0000, 0];
    assert_eq!(
        configure(&mut off, &[0; 64], Packing::Plain),
        Err(Failure::Disabled)
    );
    assert!(off.written.is_empty() && off.sent.is_empty());
}

/// Tests a list without the capability, one in which it is too short, and invalid lists.
#[test]
fn only_the_capability_is_taken() {
    let none = |values: &[(u16, u32)]| {
        let mut registers = Registers {
            values: values.iter().copied().collect(),
            ..Registers::default()
        };
        assert!(Cvp::find(&mut registers).unwrap().is_none(), "{values:x?}");
    };
    none(&[]);
    none(&[(0x100, 0x0001_0003)]);
    none(&[(0x100, 0x0001_000b), (0x104, 0x0201_0001)]);
    none(&[
        (0x100, 0xfe01_0003),
        (0xfe0, 0x0001_000b),
        (0xfe4, 0x0440_1172),
    ]);
    // To itself, and to before the list.
    none(&[(0x100, 0x1001_0003)]);
    none(&[
        (0x100, 0x0401_0003),
        (0x40, 0x0001_000b),
        (0x44, 0x0440_1172),
    ]);
    // As QEMU shows the list of a function that is gone, too.
    for gone in [u32::MAX, 0x100f_ffff] {
        let mut gone = Registers {
            values: [(0x100, gone)].into(),
            ..Registers::default()
        };
        assert!(matches!(Cvp::find(&mut gone), Err(Failure::Gone)));
    }
    // After a shorter one of another vendor.
    let mut registers = registers();
    registers.values.insert(0x100, 0x2001_000b);
    registers.values.insert(0x104, 0x0101_0001);
    registers.values.insert(0x200, 0x2401_0003);
    assert_eq!(configure(&mut registers, &[0; 4], Packing::Plain), Ok(()));
}

/// An FPGA without a configuration of its core must not be accessed. Other FPGAs are not recognised by this.
#[test]
fn an_empty_core_is_known() {
    for (status, empty) in [
        (0x0010_0000, true),
        (0x0030_0000, false),
        (0x0000_0000, false),
        (0x0110_0000, true),
    ] {
        let mut registers = registers();
        registers.status[0] = status;
        let mut found = Cvp::find(&mut registers).unwrap().unwrap();
        assert_eq!(found.is_empty(), Ok(empty), "{status:#x}");
    }
    let mut registers = registers();
    registers.status[0] = u32::MAX;
    let mut found = Cvp::find(&mut registers).unwrap().unwrap();
    assert_eq!(found.is_empty(), Err(Failure::Gone));
    assert!(Failure::<()>::Gone.to_string().contains("does not answer"));
}
