//! Lock-free code of the library, under all orders of its threads (loom). The wrong variants fail.

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use peerlane_core::descriptor::Direction;
use peerlane_core::record::{DWORDS, Record, STATUS};
use peerlane_core::ring;
use sync::{AtomicU32, AtomicU64, Ordering};

/// Here loom replaces the library's atomics.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
}

#[path = "../src/lock_free.rs"]
mod lock_free;

use lock_free::{Flag, Ring, Seat, put};

const SIZE_LOG2: u32 = 1;
const SLOTS: usize = 1 << SIZE_LOG2;

fn expected(sequence: u32) -> Record {
    Record {
        cookie: 1000 + sequence,
        direction: Direction::FromFpga,
        channel: 3,
        phase: (sequence as usize / SLOTS).is_multiple_of(2),
        outcome: Ok(()),
        bytes_done: 5000 + sequence,
        sequence,
        fault_address: None,
        header: 0,
    }
}

/// Writes a record as the board: the status last, with this ordering, and the rest in any order.
fn write(ring: &[AtomicU32], sequence: u32, last: Ordering) {
    let record = expected(sequence).encode();
    let slot = &ring[sequence as usize % SLOTS * DWORDS..][..DWORDS];
    for (index, (place, dword)) in slot.iter().zip(record).enumerate() {
        if index != STATUS {
            place.store(dword, Ordering::Relaxed);
        }
    }
    slot[STATUS].store(record[STATUS], last);
}

/// Checks that the library's view of the ring finds each record whole.
fn records(last: Ordering) {
    loom::model(move || {
        let memory: Vec<AtomicU32> = (0..SLOTS * DWORDS).map(|_| AtomicU32::new(0)).collect();
        let memory = Arc::new(memory);
        let board = thread::spawn({
            let memory = Arc::clone(&memory);
            move || (0..SLOTS as u32).for_each(|sequence| write(&memory, sequence, last))
        });
        let mut ring = ring::Ring::new(SIZE_LOG2, 3).unwrap();
        for sequence in 0..SLOTS as u32 {
            let record = loop {
                match ring.poll(&mut Ring(&memory)).unwrap() {
                    Some(record) => break record,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(record, expected(sequence));
        }
        board.join().unwrap();
    });
}

#[test]
fn a_record_of_the_ring_is_whole() {
    records(Ordering::Release);
}

#[test]
#[should_panic]
fn a_board_that_keeps_no_order_is_found() {
    records(Ordering::Relaxed);
}

/// Checks two threads that write parts of one word, as copies do that end and begin in it.
fn neighbours(write: fn(&AtomicU64, usize, &[u8])) {
    loom::model(move || {
        let word = Arc::new(AtomicU64::new(u64::from_ne_bytes([9; 8])));
        let other = thread::spawn({
            let word = Arc::clone(&word);
            move || write(&word, 0, &[1, 2, 3])
        });
        write(&word, 3, &[4, 5]);
        other.join().unwrap();
        let found = word.load(Ordering::Relaxed).to_ne_bytes();
        assert_eq!(found, [1, 2, 3, 4, 5, 9, 9, 9]);
    });
}

#[test]
fn copies_that_share_a_word_lose_no_byte() {
    neighbours(put);
}

#[test]
#[should_panic]
fn a_word_that_is_read_and_stored_loses_bytes() {
    neighbours(|word, at, bytes| {
        let mut new = word.load(Ordering::Relaxed).to_ne_bytes();
        new[at..at + bytes.len()].copy_from_slice(bytes);
        word.store(u64::from_ne_bytes(new), Ordering::Relaxed);
    });
}

/// The holder of the window has it alone, and sees the accesses of the previous holder.
#[test]
fn one_at_a_time_has_the_window() {
    loom::model(|| {
        let shared = Arc::new((Seat::default(), UnsafeCell::new(0)));
        let use_it = |(seat, place): &(Seat, UnsafeCell<u32>)| {
            let has = seat.take();
            if has {
                // SAFETY: loom fails the test if another thread uses it concurrently, or does not see earlier accesses.
                place.with_mut(|value| unsafe { *value += 1 });
                seat.leave();
            }
            u32::from(has)
        };
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || use_it(&shared)
        });
        let times = use_it(&shared) + other.join().unwrap();
        assert!((1..=2).contains(&times), "{times}");
        assert!(shared.0.take(), "it was given back");
        // SAFETY: as above.
        shared.1.with(|value| assert_eq!(unsafe { *value }, times));
    });
}

/// Checks that a task that looks, and waits for its flag, notices events in between.
fn wakes(look: fn(&Flag, &Mutex<bool>) -> bool) {
    loom::model(move || {
        let shared = Arc::new((Flag::default(), Mutex::new(false)));
        let waker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                *shared.1.lock().unwrap() = true;
                shared.0.raise();
            }
        });
        let (flag, happened) = &*shared;
        // It looks once, and once more when it was woken: never in vain.
        if !look(flag, happened) {
            while !flag.is_raised() {
                thread::yield_now();
            }
            assert!(look(flag, happened));
        }
        waker.join().unwrap();
    });
}

#[test]
fn a_task_misses_nothing() {
    wakes(|flag, happened| {
        flag.lower();
        *happened.lock().unwrap()
    });
}

#[test]
#[should_panic]
fn a_task_that_lowers_its_flag_when_it_has_looked_misses_it() {
    wakes(|flag, happened| {
        let found = *happened.lock().unwrap();
        flag.lower();
        found
    });
}
