//! The pipeline with mocks of engines.

mod pace;

use super::*;
use crate::error::Error;
use crate::limits::{Cancel, Clock, Limits};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The calls of both engines, in order: name of the engine, call, place in staging memory.
#[derive(Debug, Default)]
struct Record {
    lines: Vec<(char, &'static str, u64)>,
    under_way: [u64; 2],
    /// Number of moments with both at work.
    both: u64,
    ended_by_force: u64,
    called_off: u64,
    /// Cancelled copies among them whose cancellation came after the end of others.
    late_calls: u64,
}

type Shared = Arc<Mutex<Record>>;

/// An engine whose copies end when they are waited for, but not when they are only polled.
struct Told {
    name: char,
    record: Shared,
    /// The copy with this number fails.
    fails: Option<u64>,
    begun: u64,
    never: bool,
    /// Copies that it has begun go on, also when they are cancelled.
    stubborn: bool,
}

struct Copying {
    name: char,
    record: Shared,
    staged: u64,
    fails: bool,
    never: bool,
    stubborn: bool,
    ended: bool,
}

fn number(name: char) -> usize {
    usize::from(name == 'b')
}

impl Engine for Told {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        let mut record = self.record.lock().unwrap();
        record.lines.push((self.name, "begins", piece.staged));
        record.under_way[number(self.name)] += 1;
        record.both += u64::from(record.under_way.iter().all(|count| *count > 0));
        self.begun += 1;
        Ok(Box::new(Copying {
            name: self.name,
            record: Arc::clone(&self.record),
            staged: piece.staged,
            fails: self.fails == Some(self.begun),
            never: self.never,
            stubborn: self.stubborn,
            ended: false,
        }))
    }
}

impl Pending for Copying {
    fn wait(&mut self, limit: Duration) -> Result<bool> {
        if self.ended {
            return Ok(true);
        }
        if limit.is_zero() || self.never {
            std::thread::sleep(limit);
            return Ok(false);
        }
        self.ended = true;
        let mut record = self.record.lock().unwrap();
        record.under_way[number(self.name)] -= 1;
        record.lines.push((self.name, "ends", self.staged));
        match self.fails {
            true => Err(Error::side("an engine", "it fails on purpose")),
            false => Ok(true),
        }
    }

    fn call_off(&mut self) {
        let mut record = self.record.lock().unwrap();
        record.called_off += u64::from(!self.ended);
        record.late_calls += u64::from(record.ended_by_force > 0);
    }

    fn end(&mut self, _: Duration) -> bool {
        if self.stubborn {
            return self.ended;
        }
        if !self.ended {
            self.ended = true;
            let mut record = self.record.lock().unwrap();
            record.under_way[number(self.name)] -= 1;
            record.ended_by_force += 1;
        }
        true
    }
}

fn engines(fails: [Option<u64>; 2], never: [bool; 2]) -> (Shared, [Told; 2]) {
    let record = Shared::default();
    let engine = |name: char| Told {
        name,
        record: Arc::clone(&record),
        fails: fails[number(name)],
        begun: 0,
        never: never[number(name)],
        stubborn: false,
    };
    let engines = [engine('a'), engine('b')];
    (record, engines)
}

fn run(engines: &mut [Told; 2], plan: &Plan, limits: &Limits) -> Result<u64> {
    let clock = Clock::Process(Instant::now());
    let watch = Watch::new(&clock, limits, plan.length);
    let [from, to] = engines;
    copy(from, to, plan, &watch)
}

const PLAN: Plan = Plan {
    from: 0,
    to: 0,
    length: 1000,
    chunk: 100,
    slots: 4,
};

#[test]
fn both_engines_have_work_and_no_place_is_used_twice_at_once() {
    let (record, mut engines) = engines([None; 2], [false; 2]);
    assert_eq!(run(&mut engines, &PLAN, &Limits::default()).unwrap(), 1000);
    let record = record.lock().unwrap();
    assert_eq!(record.under_way, [0, 0]);
    assert!(record.both > 5, "{record:?}");
    // A place belongs to one copy from the beginning of its read to the end of its write.
    for slot in 0..4 {
        let of = |line: &&(char, &str, u64)| line.2 == slot * 100;
        let lines: Vec<_> = record.lines.iter().filter(of).collect();
        for four in lines.chunks(4) {
            let steps: Vec<_> = four.iter().map(|line| (line.0, line.1)).collect();
            let expected = [
                ('a', "begins"),
                ('a', "ends"),
                ('b', "begins"),
                ('b', "ends"),
            ];
            assert_eq!(steps, expected, "{lines:?}");
        }
    }
}

#[test]
fn with_one_place_they_take_turns() {
    let (record, mut engines) = engines([None; 2], [false; 2]);
    let plan = Plan { slots: 1, ..PLAN };
    assert_eq!(run(&mut engines, &plan, &Limits::default()).unwrap(), 1000);
    assert_eq!(record.lock().unwrap().both, 0);
}

#[test]
fn after_a_failure_nothing_is_under_way() {
    for (fails, never) in [
        ([Some(3), None], [false; 2]),
        ([None, Some(2)], [false; 2]),
        ([None, Some(1)], [false; 2]),
    ] {
        let (record, mut engines) = engines(fails, never);
        let error = run(&mut engines, &PLAN, &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("fails on purpose"), "{error}");
        assert_eq!(record.lock().unwrap().under_way, [0, 0], "{fails:?}");
    }
}

#[test]
fn an_engine_that_never_ends_meets_the_deadline_or_who_calls_it_off() {
    for never in [[true, false], [false, true]] {
        let (record, mut engines) = engines([None; 2], never);
        let limits = Limits::within(Duration::from_millis(20));
        let error = run(&mut engines, &PLAN, &limits).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Deadline {
                    done: 0,
                    length: 1000,
                    ..
                }
            ),
            "{error}"
        );
        let record = record.lock().unwrap();
        assert_eq!(record.under_way, [0, 0]);
        assert!(record.ended_by_force > 0);
        assert_eq!(
            (record.called_off, record.late_calls),
            (record.ended_by_force, 0)
        );
    }
    let (record, mut engines) = engines([None; 2], [true, false]);
    let cancel = Cancel::default();
    let limits = Limits {
        deadline: None,
        cancel: Some(cancel.clone()),
    };
    std::thread::scope(|scope| {
        let copying = scope.spawn(|| run(&mut engines, &PLAN, &limits));
        std::thread::sleep(Duration::from_millis(20));
        cancel.cancel();
        let error = copying.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{error}");
    });
    assert_eq!(record.lock().unwrap().under_way, [0, 0]);
}

#[test]
fn an_engine_that_goes_on_is_told_of() {
    for name in 0..2 {
        let (record, mut engines) = engines([None; 2], [name == 0, name == 1]);
        engines[name].stubborn = true;
        let limits = Limits::within(Duration::from_millis(20));
        let error = run(&mut engines, &PLAN, &limits).unwrap_err();
        assert!(matches!(error, Error::UnderWay { .. }), "{error}");
        assert!(error.to_string().contains("when the deadline"), "{error}");
        assert!(record.lock().unwrap().under_way[name] > 0);
    }
}
