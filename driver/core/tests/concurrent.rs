// SPDX-License-Identifier: MIT OR Apache-2.0
//! A completion ring under all orders of a board that writes and a processor that reads (loom).

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use peerlane_core::descriptor::Direction;
use peerlane_core::record::{DWORDS, Record, STATUS};
use peerlane_core::ring::{Ring, Slots};

const SIZE_LOG2: u32 = 1;
const SLOTS: usize = 1 << SIZE_LOG2;

/// Memory that both sides share.
struct Shared {
    dwords: [[AtomicU32; DWORDS]; SLOTS],
    /// Records that the processor has taken: the board has no descriptor, and so no record, for a slot that was not
    /// taken.
    taken: AtomicU32,
}

impl Shared {
    fn new() -> Self {
        Self {
            dwords: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU32::new(0))),
            taken: AtomicU32::new(0),
        }
    }

    fn expected(sequence: u32) -> Record {
        Record {
            cookie: 1000 + sequence,
            direction: Direction::ToFpga,
            channel: 3,
            phase: sequence as usize / SLOTS % 2 == 0,
            outcome: Ok(()),
            bytes_done: 5000 + sequence,
            sequence,
            fault_address: None,
            header: 0,
        }
    }

    /// Writes a record as the board does, on a host that takes an aligned packet at once: a processor may see parts
    /// in any order but the last, and all parts are complete when the status is visible. The unit tests have hosts
    /// that only keep to the order of addresses.
    fn write(&self, sequence: u32) {
        let record = Self::expected(sequence).encode();
        let slot = &self.dwords[sequence as usize % SLOTS];
        for (index, (place, dword)) in slot.iter().zip(record).enumerate() {
            if index != STATUS {
                place.store(dword, Ordering::Relaxed);
            }
        }
        slot[STATUS].store(record[STATUS], Ordering::Release);
    }
}

/// The processor's side, with an ordering of the status' load.
struct View<'a>(&'a Shared, Ordering);

impl Slots for View<'_> {
    fn status(&mut self, index: u32) -> u32 {
        self.0.dwords[index as usize][STATUS].load(self.1)
    }

    fn record(&mut self, index: u32) -> [u32; DWORDS] {
        std::array::from_fn(|dword| self.0.dwords[index as usize][dword].load(Ordering::Relaxed))
    }
}

/// The board writes one record more than the ring has slots.
fn one_lap_and_more(status: Ordering) {
    loom::model(move || {
        let shared = Arc::new(Shared::new());
        let board = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                for sequence in 0..=SLOTS as u32 {
                    while shared.taken.load(Ordering::Acquire) + (SLOTS as u32) <= sequence {
                        thread::yield_now();
                    }
                    shared.write(sequence);
                }
            }
        });
        let mut ring = Ring::new(SIZE_LOG2, 3).unwrap();
        for sequence in 0..=SLOTS as u32 {
            let record = loop {
                match ring.poll(&mut View(&shared, status)).unwrap() {
                    Some(record) => break record,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(record, Shared::expected(sequence));
            shared.taken.store(sequence + 1, Ordering::Release);
        }
        board.join().unwrap();
    });
}

#[test]
fn records_are_whole() {
    one_lap_and_more(Ordering::Acquire);
}

#[test]
#[should_panic]
fn a_status_that_orders_nothing_gives_torn_records() {
    one_lap_and_more(Ordering::Relaxed);
}
