//! Direct routes, with a mock of the driver.

use super::*;
use crate::least::Least;
use crate::limits::{Clock, Limits};
use crate::side::Engine;
use peerlane_host::{Errno, Memory};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Memory of the process as a side.
struct Plain {
    memory: Memory,
    /// A driver with room for so many bytes.
    room: Option<(Least, AtomicU64)>,
    /// It cannot prove that data have arrived.
    blind: bool,
    /// Ranges that were registered, in order.
    ranges: Mutex<Vec<Range<u64>>>,
}

impl Plain {
    fn new(bytes: usize) -> Self {
        Self {
            memory: Memory::new(bytes).unwrap(),
            room: None,
            blind: false,
            ranges: Mutex::default(),
        }
    }

    /// Returns the bytes of all ranges that were registered since the last call.
    fn lengths(&self) -> Vec<u64> {
        let mut ranges = self.ranges.lock().unwrap();
        ranges
            .drain(..)
            .map(|range| range.end - range.start)
            .collect()
    }
}

impl Side for Plain {
    fn name(&self) -> String {
        "memory".into()
    }
    fn length(&self) -> u64 {
        self.memory.length() as u64
    }
    fn attach(&self, _: &Memory) -> Result<Box<dyn Engine>> {
        Err(Error::side(self.name(), "it has no engine"))
    }
    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        Ok(Box::new(Self::new(bytes as usize)))
    }
    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        if let Some((least, room)) = &self.room {
            let taken = least.regions.lock().unwrap();
            let taken: u64 = taken.values().map(|region| region.length).sum();
            if taken + (range.end - range.start) > room.load(Ordering::Relaxed) {
                return Err(peerlane_host::Error::Call {
                    call: "REGISTER",
                    source: Errno::NOSPC,
                }
                .into());
            }
        }
        self.ranges.lock().unwrap().push(range.clone());
        let range = range.start as usize..range.end as usize;
        Ok(Reach {
            region: device.register(&self.memory, range, permissions)?,
            offset: 0,
        })
    }
    fn arrived(&self) -> Result<()> {
        match self.blind {
            true => Err(Error::side(self.name(), "it cannot be asked")),
            false => Ok(()),
        }
    }
}

/// Events while a device stores.
#[derive(Clone, Copy, PartialEq)]
enum Meanwhile {
    Nothing,
    /// The board is reset and started again.
    Restart,
    /// The board is reset and started again, with its FPGA configured again.
    Reprogram,
    /// The board has begun to be reset, and its driver has notified no process yet.
    Outage,
    /// The device does not end stores that it has begun.
    Hang,
    /// The first part of a copy fails, and the board is reset.
    FailInRestart,
    /// A copy fails, and the device cannot be asked whether it has ended the stores that it has begun.
    Unknown,
    /// As with `Unknown`, and then the board is gone.
    UnknownAndGone,
}

struct Stores(Least, Meanwhile);

impl Push for Stores {
    fn window(&self) -> u64 {
        4096
    }
    fn place(&mut self, _: u64) -> Result<()> {
        Ok(())
    }
    fn push(&mut self, from: u64, _: u64, _: u64) -> Result<()> {
        let query = &mut *self.0.query.lock().unwrap();
        match self.1 {
            Meanwhile::Restart if from > 0 => query.generation += 1,
            Meanwhile::Reprogram if from > 0 => {
                query.generation += 1;
                query.resets += 1;
            }
            Meanwhile::FailInRestart => {
                query.generation += 1;
                return Err(Error::side("a device", "it fails"));
            }
            Meanwhile::Unknown | Meanwhile::UnknownAndGone => {
                return Err(Error::side("a device", "it fails"));
            }
            _ => {}
        }
        Ok(())
    }
    fn settle(&mut self, limit: Duration) -> Result<bool> {
        match self.1 {
            Meanwhile::Unknown => return Err(Error::side("a device", "it cannot be asked")),
            Meanwhile::UnknownAndGone => {
                self.0.gone.store(true, Ordering::Relaxed);
                return Err(Error::side("a device", "it cannot be asked"));
            }
            _ => {}
        }
        if self.1 == Meanwhile::Hang {
            std::thread::sleep(limit);
            return Ok(false);
        }
        Ok(true)
    }
    fn confirm(&mut self) -> Result<()> {
        match self.1 {
            Meanwhile::Outage => Err(peerlane_host::Error::Window {
                base: 0,
                source: Errno::AGAIN,
            }
            .into()),
            _ => Ok(()),
        }
    }
}

fn pushed(meanwhile: Meanwhile) -> Result<u64> {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let clock = Clock::Process(Instant::now());
    let limits = Limits::within(Duration::from_millis(200));
    let watch = Watch::new(&clock, &limits, 10_000);
    let side = Plain::new(16 << 10);
    let mut stores = Stores(least, meanwhile);
    let job = PushJob {
        at: 0,
        fpga: 0,
        length: 10_000,
    };
    by_push(&mut stores, (&device, &side), job, &watch)
}

#[test]
fn stores_to_a_board_that_is_reset_are_not_told_to_have_arrived() {
    assert_eq!(pushed(Meanwhile::Nothing).unwrap(), 10_000);
    for (meanwhile, lost) in [
        (Meanwhile::Restart, false),
        (Meanwhile::Reprogram, true),
        (Meanwhile::Outage, false),
        (Meanwhile::FailInRestart, false),
    ] {
        let error = pushed(meanwhile).unwrap_err();
        let Error::Lost { length, memory, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((length, memory), (10_000, lost));
    }
}

#[test]
fn a_device_that_does_not_end_its_stores_is_told_of() {
    let error = pushed(Meanwhile::Hang).unwrap_err();
    assert!(matches!(error, Error::UnderWay { .. }), "{error}");
    assert!(error.to_string().contains("when the deadline"), "{error}");
}

/// It is unknown whether its stores have ended, so they may go on.
#[test]
fn a_device_that_cannot_be_asked_may_store_on() {
    for meanwhile in [Meanwhile::Unknown, Meanwhile::UnknownAndGone] {
        let error = pushed(meanwhile).unwrap_err();
        assert!(matches!(error, Error::UnderWay { .. }), "{error}");
        assert!(error.to_string().contains("it fails"), "{error}");
    }
}

/// Returns a board that ends everything at once, and memory of six windows with room for some bytes of it.
fn with_room(bytes: u64) -> (Board, Plain) {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let queue = device.queue().unwrap();
    let board = Board::over(queue, 0..1 << 29, 1 << 29..(1 << 29) + (1 << 20)).unwrap();
    let side = Plain {
        room: Some((least, bytes.into())),
        ..Plain::new(6 * WINDOW as usize)
    };
    (board, side)
}

fn copy(ends: (&Board, &Plain), reached: &mut Reached, at: u64, length: u64) -> Result<u64> {
    let job = Job {
        direction: Direction::FromFpga,
        fpga: 0,
        at,
        length,
        permissions: Permissions::ReadWrite,
    };
    let clock = Clock::Process(Instant::now());
    let limits = Limits::default();
    let watch = Watch::new(&clock, &limits, length);
    by_board(ends.0, ends.1, reached, &job, &watch)
}

fn copied(ends: (&Board, &Plain), reached: &mut Reached, at: u64, length: u64) {
    assert_eq!(copy(ends, reached, at, length).unwrap(), length);
}

#[test]
fn ranges_of_what_is_under_way_do_not_make_the_next_one_smaller() {
    // The next range finds room when the one before is done.
    let (board, side) = with_room(WINDOW);
    let mut reached = Reached::default();
    copied((&board, &side), &mut reached, 0, 4 * WINDOW);
    assert_eq!(side.lengths(), [WINDOW; 4]);
    assert_eq!(reached.ranges.len(), 1);
}

#[test]
fn nothing_is_let_go_while_something_is_under_way() {
    let (board, side) = with_room(2 * WINDOW);
    let mut reached = Reached::default();
    let mut at = |place, under_way| {
        let found = reached.at((&board, &side), place, Permissions::Write, under_way);
        (found.map(|(range, _)| range), reached.ranges.len())
    };
    assert_eq!(at(0, false).0.unwrap(), 0..WINDOW);
    assert_eq!(at(WINDOW, true).0.unwrap(), WINDOW..2 * WINDOW);
    let (refused, kept) = at(2 * WINDOW, true);
    assert!(refused.unwrap_err().lacks_room() && kept == 2);
    let (found, kept) = at(2 * WINDOW, false);
    assert_eq!((found.unwrap(), kept), (2 * WINDOW..3 * WINDOW, 2));
}

#[test]
fn a_shortage_is_over_when_there_is_room_again() {
    let (board, side) = with_room(WINDOW / 4);
    let mut reached = Reached::default();
    let ends = (&board, &side);
    copied(ends, &mut reached, 0, WINDOW);
    assert_eq!(side.lengths(), [WINDOW / 4; 4]);
    // Other users have freed room.
    let room = &side.room.as_ref().unwrap().1;
    room.store(6 * WINDOW, Ordering::Relaxed);
    copied(ends, &mut reached, WINDOW, 2 * WINDOW);
    assert_eq!(side.lengths(), [WINDOW / 2, WINDOW, WINDOW]);
    // A side that refuses for good is not asked for a shorter range.
    let least = &side.room.as_ref().unwrap().0;
    *least.refuse.lock().unwrap() = Some((Errno::OPNOTSUPP, 1));
    let refused = reached.at((&board, &side), 4 * WINDOW, Permissions::Write, false);
    assert!(!refused.unwrap_err().lacks_room());
    assert_eq!((reached.window, side.lengths()), (WINDOW, vec![WINDOW]));
}

#[test]
fn a_copy_of_which_only_the_sight_is_missing_says_so() {
    let (board, side) = with_room(WINDOW);
    let side = Plain {
        blind: true,
        ..side
    };
    let mut reached = Reached::default();
    let error = copy((&board, &side), &mut reached, 0, 4096).unwrap_err();
    assert!(
        matches!(&error, Error::Unseen { length: 4096, why, .. } if why == "it cannot be asked"),
        "{error}"
    );
    assert!(error.hint().contains("begins after this"));
}

/// A queue that cannot read its board's records any more has ended no transfer: its transfers count as in progress.
#[test]
fn what_a_broken_queue_has_is_under_way() {
    let (board, side) = with_room(WINDOW);
    let least = &side.room.as_ref().unwrap().0;
    least.odd.store(true, Ordering::Relaxed);
    let mut reached = Reached::default();
    let error = copy((&board, &side), &mut reached, 0, 4096).unwrap_err();
    assert!(matches!(error, Error::UnderWay { .. }), "{error}");
    assert!(error.to_string().contains("inconsistent"), "{error}");
    let region = (board.device()).register_all(&side.memory, Permissions::Write);
    let transfer = board.queue().from_fpga(0, region.unwrap().part(0..64));
    assert!(transfer.is_err(), "no transfer uses it on");
}

/// Bytes that a board has written, and that nothing proves to have arrived, may still come: they may overwrite memory
/// that is used again.
#[test]
fn a_write_whose_flush_fails_is_under_way() {
    let flushes = |refused: Option<(Errno, u32)>| {
        let (board, side) = with_room(WINDOW);
        let least = side.room.as_ref().unwrap().0.clone();
        *least.refuse_flush.lock().unwrap() = refused;
        // Cancelled when the board has the first transfer, which ends while the copy is being stopped.
        let cancel = crate::limits::Cancel::default();
        let off = cancel.clone();
        *least.in_post.lock().unwrap() = Some(Box::new(move || off.cancel()));
        let limits = Limits {
            deadline: None,
            cancel: Some(cancel),
        };
        let job = Job {
            direction: Direction::FromFpga,
            fpga: 0,
            at: 0,
            length: 4096,
            permissions: Permissions::Write,
        };
        let clock = Clock::Process(Instant::now());
        let watch = Watch::new(&clock, &limits, job.length);
        by_board(&board, &side, &mut Reached::default(), &job, &watch).unwrap_err()
    };
    let error = flushes(None);
    assert!(matches!(error, Error::Cancelled { .. }), "{error}");
    let error = flushes(Some((Errno::IO, u32::MAX)));
    assert!(matches!(error, Error::UnderWay { .. }), "{error}");
    assert!(error.to_string().contains("cancelled"), "{error}");
}

/// A piece that records its calls.
struct Recording(char, Arc<Mutex<String>>);

impl Pending for Recording {
    fn wait(&mut self, _: Duration) -> Result<bool> {
        Ok(false)
    }
    fn call_off(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
    fn end(&mut self, _: Duration) -> bool {
        self.1.lock().unwrap().push(self.0.to_ascii_uppercase());
        true
    }
}

#[test]
fn all_of_a_copy_is_called_off_before_the_first_is_waited_for() {
    let done = Arc::<Mutex<String>>::default();
    let parts = ['a', 'b', 'c'].map(|name| (Recording(name, Arc::clone(&done)), 1));
    let error = Flight(parts.into()).end(Error::side("a device", "it fails"));
    assert!(matches!(error, Error::Side { .. }), "{error}");
    assert_eq!(*done.lock().unwrap(), "abcABC");
}
