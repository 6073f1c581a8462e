// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of the completion ring.

use super::*;
use crate::descriptor::Direction;
use std::vec;
use std::vec::Vec;

struct Memory(Vec<[u32; 8]>);

impl Slots for Memory {
    fn status(&mut self, index: u32) -> u32 {
        self.0[index as usize][1]
    }
    fn record(&mut self, index: u32) -> [u32; 8] {
        self.0[index as usize]
    }
}

impl Memory {
    /// Writes record `sequence` as the board does, in a ring of 4.
    fn write(&mut self, sequence: u32) {
        let record = Record {
            cookie: sequence + 100,
            direction: Direction::FromFpga,
            channel: 0,
            phase: sequence / 4 % 2 == 0,
            outcome: Ok(()),
            bytes_done: sequence % 3,
            sequence,
            fault_address: None,
            header: 0,
        };
        self.0[sequence as usize % 4] = record.encode();
    }
}

#[test]
fn laps_are_followed_by_the_phase() {
    let mut memory = Memory(vec![[0; 8]; 4]);
    let mut ring = Ring::new(2, 0).unwrap();
    assert_eq!(ring.bytes(), 128);
    for sequence in 0..21 {
        assert_eq!(ring.poll(&mut memory), Ok(None), "before {sequence}");
        memory.write(sequence);
        let record = ring.poll(&mut memory).unwrap().unwrap();
        assert_eq!(record.cookie, sequence + 100);
    }
    // A full lap at once.
    (21..25).for_each(|sequence| memory.write(sequence));
    for sequence in 21..25 {
        assert_eq!(ring.poll(&mut memory).unwrap().unwrap().sequence, sequence);
    }
    assert_eq!(ring.poll(&mut memory), Ok(None));
}

/// Memory into which a record is written while it is read: the first `early` dwords of it, and the others after so
/// many loads.
struct Slow {
    ring: Memory,
    sequence: u32,
    loads: u32,
    early: usize,
    late: u32,
}

impl Slow {
    fn load(&mut self, index: u32, dword: usize) -> u32 {
        self.loads += 1;
        let slot = self.sequence as usize % 4;
        let before = self.ring.0[slot];
        self.ring.write(self.sequence);
        let there = if self.loads > self.late {
            8
        } else {
            self.early
        };
        self.ring.0[slot][there..].copy_from_slice(&before[there..]);
        self.ring.0[index as usize][dword]
    }
}

impl Slots for Slow {
    fn status(&mut self, index: u32) -> u32 {
        self.load(index, 1)
    }
    fn record(&mut self, index: u32) -> [u32; 8] {
        core::array::from_fn(|dword| self.load(index, dword))
    }
}

/// The dwords of a packet may become visible in ascending order, at any time during the reads.
#[test]
fn a_record_that_is_still_coming_is_waited_for() {
    for (early, late) in (0..8).flat_map(|early| (0..40).map(move |late| (early, late))) {
        let mut slow = Slow {
            ring: Memory(vec![[u32::MAX; 8]; 4]),
            sequence: 0,
            loads: 0,
            early,
            late,
        };
        let mut ring = Ring::new(2, 0).unwrap();
        for slot in &mut slow.ring.0 {
            slot[1] = crate::record::empty();
        }
        for sequence in 0..12 {
            (slow.sequence, slow.loads) = (sequence, 0);
            let record = loop {
                if let Some(record) = ring.poll(&mut slow).unwrap() {
                    break record;
                }
            };
            let found = (record.cookie, record.bytes_done, record.sequence);
            let whole = (sequence + 100, sequence % 3, sequence);
            assert_eq!(
                found, whole,
                "{early} dwords first, the others after {late} loads"
            );
        }
    }
}

/// The case in which each slot held a record of the same number before the channel was started again.
#[test]
fn a_record_of_before_is_not_taken_for_the_rest_of_one_that_is_coming() {
    for (early, late) in (2..8).flat_map(|early| (0..40).map(move |late| (early, late))) {
        let mut slow = Slow {
            ring: Memory(vec![[0; 8]; 4]),
            sequence: 0,
            loads: 0,
            early,
            late,
        };
        for (slot, dwords) in slow.ring.0.iter_mut().enumerate() {
            *dwords = [0xdead, 0, 0xbad, slot as u32, 0, 0, 0, 0];
            for (dword, value) in crate::record::emptied(slot as u32) {
                dwords[dword] = value;
            }
        }
        let mut ring = Ring::new(2, 0).unwrap();
        for sequence in 0..4 {
            (slow.sequence, slow.loads) = (sequence, 0);
            let record = loop {
                if let Some(record) = ring.poll(&mut slow).unwrap() {
                    break record;
                }
            };
            let found = (record.cookie, record.bytes_done);
            let whole = (sequence + 100, sequence % 3);
            assert_eq!(
                found, whole,
                "{early} dwords first, the others after {late} loads"
            );
        }
    }
}

/// A ring that was emptied beneath its reader holds no records: not on a lap whose records have
/// phase 1, and not on one whose records have the phase that an empty slot has, too.
#[test]
fn an_emptied_ring_holds_no_record() {
    for sequence in 0..16 {
        let mut memory = Memory(vec![[0, crate::record::empty(), 0, 0, 0, 0, 0, 0]; 4]);
        let mut ring = Ring::new(2, 0).unwrap();
        for sequence in 0..sequence {
            memory.write(sequence);
            ring.poll(&mut memory).unwrap().unwrap();
        }
        for (slot, dwords) in memory.0.iter_mut().enumerate() {
            for (dword, value) in crate::record::emptied(slot as u32) {
                dwords[dword] = value;
            }
        }
        let slot = sequence % 4;
        let expected = match sequence / 4 % 2 {
            0 => Ok(None),
            _ => Err(RingError::Emptied { slot }),
        };
        assert_eq!(ring.poll(&mut memory), expected, "after {sequence} records");
        ring.restart();
        assert_eq!(ring.poll(&mut memory), Ok(None));
        memory.write(0);
        assert_eq!(ring.poll(&mut memory).unwrap().unwrap().sequence, 0);
    }
}

#[test]
fn overrun_is_noticed_and_stays() {
    let mut memory = Memory(vec![[0; 8]; 4]);
    let mut ring = Ring::new(2, 0).unwrap();
    // Two laps and one record: slot 0 has the right phase but is two laps ahead.
    (0..9).for_each(|sequence| memory.write(sequence));
    let lost = RingError::Lost {
        expected: 0,
        found: 8,
    };
    assert_eq!(ring.poll(&mut memory), Err(lost));
    memory.write(0);
    assert_eq!(ring.poll(&mut memory), Err(lost));
}

#[test]
fn a_repeated_record_is_noticed() {
    let mut memory = Memory(vec![[0; 8]; 4]);
    let mut ring = Ring::new(2, 0).unwrap();
    memory.write(0);
    memory.0[1] = memory.0[0];
    assert!(ring.poll(&mut memory).unwrap().is_some());
    assert_eq!(
        ring.poll(&mut memory),
        Err(RingError::Duplicate {
            expected: 1,
            found: 0
        })
    );
}

#[test]
fn foreign_and_broken_records_are_refused() {
    let mut memory = Memory(vec![[u32::MAX; 8]; 4]);
    assert!(matches!(
        Ring::new(2, 0).unwrap().poll(&mut memory),
        Err(RingError::Record { slot: 0, .. })
    ));
    memory.write(0);
    assert_eq!(
        Ring::new(2, 3).unwrap().poll(&mut memory),
        Err(RingError::Channel {
            expected: 3,
            found: 0
        })
    );
    assert!(Ring::new(15, 0).is_ok());
    assert_eq!(
        Ring::new(16, 0).unwrap_err(),
        RingError::Size { size_log2: 16 }
    );
}
