// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that release memory, stop a board, watch it and start it, in all orders (loom). The wrong variants must
//! fail.

use loom::sync::{Arc, Mutex};
use loom::thread;
use peerlane_core::lifecycle::{
    Control, Cut, Epoch, Fabric, Lifecycle, Mastering, NotStarted, Starter, State, Watched, settle,
    start, watch,
};

/// Faults of a model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// A state is seen before the right to be bus master is taken away.
    PublishedFirst,
    /// A start makes the board bus master without checking whether it was cut off in the meantime.
    BlindStart,
    /// The block is not wiped before it is made bus master.
    Unwiped,
    /// The watchdog decides by its observation, although the board may have changed since.
    StaleLook,
    /// The watchdog starts every board that does not run.
    EagerWatchdog,
    /// A thread that cannot open the board does not schedule the watchdog.
    UnwatchedRefusal,
    /// A thread that has opened the board does not schedule the watchdog.
    UnwatchedOpen,
    /// The watchdog looks again only if a thread has the board open.
    ForUsersOnly,
    /// The watchdog reads whether the board was cut off before it reads whether a thread has it open.
    StateBeforeUsers,
}

/// The board as it really is.
struct Hardware {
    master: bool,
    /// Memory that it reaches: by an entry, or by a request in progress.
    reaches: [bool; 2],
    /// Memory that is still there for it.
    held: [bool; 2],
    /// The block carries out only a reset.
    stuck: bool,
    /// No thread may access it.
    asleep: bool,
}

impl Hardware {
    fn check(&self) {
        for (reached, held) in self.reaches.iter().zip(self.held) {
            assert!(!self.master || !reached || held, "memory that was released");
        }
    }
}

struct World {
    wrong: Wrong,
    life: Mutex<Lifecycle>,
    hardware: Mutex<Hardware>,
    /// Whether a region's entries are to be there; held while it is taken from the board.
    known: [Mutex<bool>; 2],
    people: Mutex<People>,
}

/// Threads that have the board open, or want to.
#[derive(Default)]
struct People {
    users: u32,
    /// A thread was asked to try again.
    waits: bool,
    /// The watchdog will look.
    armed: bool,
}

struct Bus<'a> {
    world: &'a World,
    owed: bool,
}

impl Mastering for Bus<'_> {
    fn set(&mut self) {
        self.world.change(|hardware| hardware.master = true);
    }
    fn clear(&mut self) {
        if self.world.wrong == Wrong::PublishedFirst {
            self.owed = true;
        } else {
            self.world.change(|hardware| hardware.master = false);
        }
    }
}

impl Control for World {
    type Failure = ();

    fn with<R>(&self, run: impl FnOnce(&mut Lifecycle, &mut dyn Mastering) -> R) -> R {
        let mut bus = Bus {
            world: self,
            owed: false,
        };
        let mut life = self.life.lock().unwrap();
        let result = run(&mut life, &mut bus);
        drop(life);
        if bus.owed {
            self.change(|hardware| hardware.master = false);
        }
        result
    }
}

impl World {
    /// A board that runs, with two regions.
    fn new(wrong: Wrong, stuck: bool) -> Arc<Self> {
        let world = Self {
            wrong,
            life: Mutex::new(Lifecycle::new()),
            hardware: Mutex::new(Hardware {
                master: false,
                reaches: [false; 2],
                held: [true; 2],
                stuck: false,
                asleep: false,
            }),
            known: [Mutex::new(true), Mutex::new(true)],
            people: Mutex::default(),
        };
        assert!(start(&world, Starter::Owner, &mut Start(&world)).is_ok());
        world.change(|hardware| hardware.stuck = stuck);
        Arc::new(world)
    }

    fn change<R>(&self, change: impl FnOnce(&mut Hardware) -> R) -> R {
        let mut hardware = self.hardware.lock().unwrap();
        let result = change(&mut hardware);
        hardware.check();
        result
    }

    /// One register access.
    fn access<R>(&self, epoch: Epoch, access: impl FnOnce(&mut Hardware) -> R) -> Result<R, ()> {
        let life = self.life.lock().unwrap();
        if !life.is_live(epoch) {
            return Err(());
        }
        self.change(|hardware| {
            assert!(!hardware.asleep, "touched while it is reset");
            Ok(access(hardware))
        })
    }

    /// Invalidates a region for its owner.
    fn let_go(&self, region: usize) {
        let mut known = self.known[region].lock().unwrap();
        *known = false;
        let failed = settle(self, |epoch| {
            let done = self.access(epoch, |hardware| {
                hardware.reaches[region] &= hardware.stuck;
                !hardware.stuck
            })?;
            if done { Ok(()) } else { Err(()) }
        });
        let _ = failed;
        self.change(|hardware| hardware.held[region] = false);
    }

    /// Resets the function but not the block.
    fn reset_function(&self) {
        let live = self.life.lock().unwrap().begin_stop();
        let _ = live;
        self.with(|life, bus| life.rest(bus));
        self.change(|hardware| hardware.asleep = true);
        thread::yield_now();
        self.change(|hardware| hardware.asleep = false);
        let started = start(self, Starter::Owner, &mut Start(self));
        assert!(started != Err(NotStarted::NotYours), "started by another");
    }

    /// Schedules the watchdog.
    fn arm(&self) {
        self.people.lock().unwrap().armed = true;
    }

    /// Opens the board, and tries again if that is necessary.
    fn open(&self) {
        let usable = self.with(|life, _| life.usable());
        let mut opened = Err(());
        if let Ok(epoch) = usable {
            self.people.lock().unwrap().users += 1;
            opened = self.access(epoch, |hardware| hardware.stuck);
            if opened != Ok(false) {
                self.close();
            }
        }
        let waits = opened != Ok(false);
        self.people.lock().unwrap().waits |= waits;
        let forgets = match waits {
            true => Wrong::UnwatchedRefusal,
            false => Wrong::UnwatchedOpen,
        };
        if self.wrong != forgets {
            self.arm();
        }
    }

    /// Closes the board.
    fn close(&self) {
        self.let_go(0);
        self.people.lock().unwrap().users -= 1;
    }

    /// Runs the watchdog as often as it was scheduled.
    fn watchdog(&self) {
        for _ in 0..3 {
            let armed = std::mem::take(&mut self.people.lock().unwrap().armed);
            if !armed {
                return;
            }
            self.watch();
            let has_users = || self.people.lock().unwrap().users > 0;
            let again = match self.wrong {
                Wrong::ForUsersOnly => has_users(),
                Wrong::StateBeforeUsers => {
                    let cut_off = self.with(|life, _| life.is_watched(false));
                    cut_off || has_users()
                }
                _ => {
                    let users = has_users();
                    self.with(|life, _| life.is_watched(users))
                }
            };
            if again {
                self.arm();
            }
        }
    }

    /// Runs the watchdog once.
    fn watch(&self) {
        let look = |epoch| match self.access(epoch, |hardware| hardware.stuck) {
            Ok(false) => Ok(()),
            Ok(true) | Err(()) => Err(()),
        };
        let watched = match self.wrong {
            Wrong::StaleLook => {
                let epoch = self.with(|life, _| life.live());
                let Some(epoch) = epoch else { return };
                if look(epoch).is_ok() {
                    return;
                }
                self.with(|life, bus| {
                    let Some(now) = life.live() else { return };
                    assert_eq!(life.cut_off(now, bus), Cut::Now);
                    self.change(|hardware| assert!(hardware.stuck, "a healthy board"));
                });
                return;
            }
            _ => watch(self, look),
        };
        if let Watched::Revive { .. } = watched {
            let _ = match self.wrong {
                Wrong::EagerWatchdog => {
                    self.with(|life, bus| life.rest(bus));
                    start(self, Starter::Owner, &mut Start(self))
                }
                _ => start(self, Starter::Watchdog, &mut Start(self)),
            };
        }
    }
}

struct Start<'a>(&'a World);

impl Fabric<()> for Start<'_> {
    fn wipe(&mut self, epoch: Epoch) -> Result<(), ()> {
        self.0.access(epoch, |hardware| {
            hardware.stuck = false;
            if self.0.wrong != Wrong::Unwiped {
                hardware.reaches = [false; 2];
            }
        })
    }

    fn restore(&mut self, epoch: Epoch) -> Result<(), ()> {
        for (region, known) in self.0.known.iter().enumerate() {
            let known = known.lock().unwrap();
            if *known {
                self.0
                    .access(epoch, |hardware| hardware.reaches[region] = true)?;
            }
        }
        if self.0.wrong == Wrong::BlindStart {
            self.0.change(|hardware| hardware.master = true);
        }
        Ok(())
    }

    fn open(&mut self, epoch: Epoch) -> Result<(), ()> {
        self.0.access(epoch, |_| ())
    }
}

type Part = fn(&World);

/// Runs the parts at once, on a board whose block is stuck or not; gives how it ended.
fn at_once(wrong: Wrong, stuck: bool, parts: &'static [Part], end: fn(&World)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let world = World::new(wrong, stuck);
        let (last, others) = parts.split_last().unwrap();
        let threads: Vec<_> = others
            .iter()
            .map(|part| {
                let world = Arc::clone(&world);
                thread::spawn(move || part(&world))
            })
            .collect();
        last(&world);
        for thread in threads {
            thread.join().unwrap();
        }
        end(&world);
    });
}

fn anyhow_it_ends(_: &World) {}

fn runs(world: &World) {
    assert_eq!(world.life.lock().unwrap().state(), State::Running);
}

/// Checks that the watchdog looks at the board if a thread has it open or waits for it.
fn somebody_looks(world: &World) {
    let state = world.life.lock().unwrap().state();
    let People {
        users,
        waits,
        armed,
    } = *world.people.lock().unwrap();
    let owed = users > 0 || waits && state != State::Running;
    assert!(armed || !owed, "no thread will ever look: {state:?}");
}

/// Checks that the next thread will find the board watched, too.
fn ready_for_the_next(world: &World) {
    somebody_looks(world);
    let state = world.life.lock().unwrap().state();
    let armed = world.people.lock().unwrap().armed;
    assert!(
        armed || state == State::Running,
        "the next will wait: {state:?}"
    );
}

/// Opens the board and closes it.
fn open_and_close(world: &World) {
    world.open();
    let has_it = world.people.lock().unwrap().users > 0;
    if has_it {
        world.close();
    }
}

fn let_first_go(world: &World) {
    world.let_go(0);
}

fn let_second_go(world: &World) {
    world.let_go(1);
}

#[test]
fn two_let_memory_of_a_stuck_board_go() {
    let parts: &[Part] = &[let_first_go, let_second_go];
    at_once(Wrong::Nothing, true, parts, |world| {
        assert_eq!(world.life.lock().unwrap().state(), State::CutOff);
    });
}

#[test]
#[should_panic(expected = "memory that was released")]
fn a_cut_that_is_seen_too_early() {
    let parts: &[Part] = &[let_first_go, let_second_go];
    at_once(Wrong::PublishedFirst, true, parts, anyhow_it_ends);
}

#[test]
fn memory_is_let_go_while_the_watchdog_revives() {
    let parts: &[Part] = &[let_first_go, World::watch];
    at_once(Wrong::Nothing, true, parts, anyhow_it_ends);
}

#[test]
fn memory_is_let_go_while_the_function_is_reset() {
    let parts: &[Part] = &[let_first_go, World::reset_function];
    at_once(Wrong::Nothing, false, parts, runs);
    at_once(Wrong::Nothing, true, parts, anyhow_it_ends);
}

#[test]
#[should_panic(expected = "memory that was released")]
fn a_start_that_wipes_nothing() {
    let parts: &[Part] = &[let_first_go, World::reset_function];
    at_once(Wrong::Unwiped, true, parts, anyhow_it_ends);
}

/// The block gets stuck again while it is being started.
fn sticks(world: &World) {
    world.change(|hardware| hardware.stuck = true);
}

#[test]
fn a_start_that_is_cut_off() {
    let parts: &[Part] = &[let_first_go, sticks, World::reset_function];
    at_once(Wrong::Nothing, false, parts, anyhow_it_ends);
}

#[test]
#[should_panic(expected = "memory that was released")]
fn a_start_that_does_not_look() {
    let parts: &[Part] = &[let_first_go, sticks, World::reset_function];
    at_once(Wrong::BlindStart, false, parts, anyhow_it_ends);
}

#[test]
fn the_watchdog_keeps_off_a_function_that_is_reset() {
    let parts: &[Part] = &[World::watch, World::reset_function];
    at_once(Wrong::Nothing, true, parts, runs);
}

#[test]
#[should_panic(expected = "a healthy board")]
fn a_watchdog_that_believes_an_old_look() {
    let parts: &[Part] = &[World::watch, World::reset_function];
    at_once(Wrong::StaleLook, true, parts, anyhow_it_ends);
}

#[test]
#[should_panic(expected = "while it is reset")]
fn a_watchdog_that_starts_what_rests() {
    let parts: &[Part] = &[World::watch, World::reset_function];
    at_once(Wrong::EagerWatchdog, true, parts, anyhow_it_ends);
}

#[test]
fn all_at_once() {
    let parts: &[Part] = &[let_first_go, World::watch, World::reset_function];
    at_once(Wrong::Nothing, true, parts, anyhow_it_ends);
}

#[test]
fn whoever_opens_is_looked_after() {
    for stuck in [false, true] {
        at_once(Wrong::Nothing, stuck, &[World::open], somebody_looks);
        let parts: &[Part] = &[World::open, World::watchdog];
        at_once(Wrong::Nothing, stuck, parts, somebody_looks);
    }
}

#[test]
#[should_panic(expected = "no thread will ever look: CutOff")]
fn a_board_that_was_cut_off_while_nobody_had_it() {
    at_once(
        Wrong::UnwatchedRefusal,
        true,
        &[World::open],
        somebody_looks,
    );
}

#[test]
#[should_panic(expected = "no thread will ever look: Running")]
fn an_open_that_arms_nothing() {
    at_once(Wrong::UnwatchedOpen, false, &[World::open], somebody_looks);
}

#[test]
fn who_goes_leaves_a_board_for_the_next() {
    let parts: &[Part] = &[open_and_close, World::watchdog];
    for stuck in [false, true] {
        at_once(Wrong::Nothing, stuck, parts, ready_for_the_next);
    }
    let parts: &[Part] = &[World::watchdog, sticks, open_and_close];
    at_once(Wrong::Nothing, false, parts, ready_for_the_next);
}

#[test]
#[should_panic(expected = "the next will wait: CutOff")]
fn a_watchdog_for_users_only() {
    let parts: &[Part] = &[World::watchdog, sticks, open_and_close];
    at_once(Wrong::ForUsersOnly, false, parts, ready_for_the_next);
}

#[test]
#[should_panic(expected = "the next will wait: CutOff")]
fn a_watchdog_that_asks_for_the_state_first() {
    let parts: &[Part] = &[World::watchdog, sticks, open_and_close];
    at_once(Wrong::StateBeforeUsers, false, parts, ready_for_the_next);
}
