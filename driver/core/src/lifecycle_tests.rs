// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of a board's states; `tests/lifecycle.rs` has the threads.

use super::*;
use core::cell::RefCell;
use std::vec::Vec;

#[derive(Default)]
struct Bus(Vec<bool>);

impl Mastering for Bus {
    fn set(&mut self) {
        self.0.push(true);
    }
    fn clear(&mut self) {
        self.0.push(false);
    }
}

fn running() -> (Lifecycle, Bus, Epoch) {
    let (mut life, mut bus) = (Lifecycle::new(), Bus::default());
    let epoch = life.begin_start(Starter::Owner, &mut bus).unwrap();
    assert!(life.allow(epoch, &mut bus) && life.run(epoch));
    bus.0.clear();
    (life, bus, epoch)
}

#[test]
fn it_is_bus_master_from_the_middle_of_its_start() {
    let (mut life, mut bus) = (Lifecycle::new(), Bus::default());
    assert_eq!(life.usable(), Err(Refused::Away));
    assert_eq!(life.live(), None);
    let epoch = life.begin_start(Starter::Owner, &mut bus).unwrap();
    // The right is taken away from any earlier state.
    assert_eq!(bus.0, [false]);
    assert_eq!(life.usable(), Err(Refused::Away));
    assert!(life.is_live(epoch));
    assert!(life.allow(epoch, &mut bus));
    assert_eq!(bus.0, [false, true]);
    assert!(life.run(epoch));
    assert_eq!(life.usable(), Ok(epoch));
}

#[test]
fn each_starts_what_is_its_own() {
    let (mut life, mut bus, epoch) = running();
    for who in [Starter::Owner, Starter::Watchdog] {
        assert_eq!(life.begin_start(who, &mut bus), None);
    }
    assert_eq!(life.cut_off(epoch, &mut bus), Cut::Now);
    assert_eq!(life.begin_start(Starter::Owner, &mut bus), None);
    assert!(life.begin_start(Starter::Watchdog, &mut bus).is_some());
    life.rest(&mut bus);
    assert_eq!(life.begin_start(Starter::Watchdog, &mut bus), None);
    assert!(life.begin_start(Starter::Owner, &mut bus).is_some());
}

#[test]
fn a_start_that_was_cut_off_ends_there() {
    let (mut life, mut bus) = (Lifecycle::new(), Bus::default());
    let epoch = life.begin_start(Starter::Owner, &mut bus).unwrap();
    assert_eq!(life.cut_off(epoch, &mut bus), Cut::Now);
    bus.0.clear();
    assert!(!life.allow(epoch, &mut bus) && !life.run(epoch));
    assert_eq!((life.state(), bus.0.len()), (State::CutOff, 0));
    // Nor does it go on in a later one.
    let later = life.begin_start(Starter::Watchdog, &mut bus).unwrap();
    assert!(!life.allow(epoch, &mut bus) && life.allow(later, &mut bus));
}

#[test]
fn what_failed_before_a_start_cuts_nothing_off() {
    let (mut life, mut bus, old) = running();
    life.rest(&mut bus);
    assert_eq!(life.cut_off(old, &mut bus), Cut::Already);
    let new = life.begin_start(Starter::Owner, &mut bus).unwrap();
    bus.0.clear();
    assert_eq!(life.cut_off(old, &mut bus), Cut::Restarted);
    assert!(bus.0.is_empty() && life.is_live(new));
}

#[test]
fn a_board_that_was_given_up_can_be_reset() {
    let (mut life, mut bus, epoch) = running();
    assert!(!life.give_up(Starter::Watchdog), "it runs");
    life.cut_off(epoch, &mut bus);
    assert!(life.give_up(Starter::Watchdog));
    assert_eq!(life.usable(), Err(Refused::Gone));
    assert_eq!(life.begin_start(Starter::Watchdog, &mut bus), None);
    life.rest(&mut bus);
    assert!(!life.give_up(Starter::Watchdog), "it is being reset");
    let epoch = life.begin_start(Starter::Owner, &mut bus).unwrap();
    assert!(life.allow(epoch, &mut bus) && life.run(epoch));
    assert_eq!(life.usable(), Ok(epoch));
}

#[test]
fn what_was_let_go_stays_so() {
    let (mut life, mut bus, epoch) = running();
    assert!(life.begin_stop());
    assert_eq!(life.usable(), Err(Refused::Away));
    assert!(life.is_live(epoch));
    life.remove(&mut bus);
    life.rest(&mut bus);
    assert!(!life.begin_stop() && !life.give_up(Starter::Owner));
    for who in [Starter::Owner, Starter::Watchdog] {
        assert_eq!(life.begin_start(who, &mut bus), None);
    }
    assert_eq!(life.usable(), Err(Refused::Gone));
    assert!(!bus.0.contains(&true));
}

#[test]
fn a_silent_board_is_not_used_until_its_next_start() {
    let (mut life, mut bus, epoch) = running();
    assert_eq!(life.permits_use(), Ok(()));
    assert!(life.note_silence());
    assert_eq!(life.permits_use(), Err(Refused::Silent));
    assert_eq!(life.permits_upkeep(epoch), Err(Refused::Silent));
    // The watchdog looks at it and cuts it off.
    assert_eq!(life.usable(), Ok(epoch));
    // Nor are steps of a stop trusted.
    assert!(life.begin_stop());
    assert_eq!(life.permits_use(), Err(Refused::Away));
    assert_eq!(life.permits_upkeep(epoch), Err(Refused::Silent));
    assert_eq!(life.cut_off(epoch, &mut bus), Cut::Now);
    assert_eq!(life.permits_upkeep(epoch), Err(Refused::Away));
    // The watchdog must know, also if another thread has cut the board off.
    assert!(life.was_silent());
    let next = life.begin_start(Starter::Watchdog, &mut bus).unwrap();
    assert!(!life.was_silent());
    assert_eq!(life.permits_upkeep(next), Ok(()));
    assert_eq!(life.permits_upkeep(epoch), Err(Refused::Away));
    assert!(life.allow(next, &mut bus) && life.run(next));
    assert_eq!(life.permits_use(), Ok(()));
}

#[test]
fn silence_counts_while_it_is_stopped_but_not_before_it_runs() {
    let (mut life, mut bus, epoch) = running();
    assert!(life.begin_stop());
    life.note_silence();
    assert_eq!(life.permits_upkeep(epoch), Err(Refused::Silent));
    life.rest(&mut bus);
    assert!(!life.note_silence());
    let next = life.begin_start(Starter::Owner, &mut bus).unwrap();
    // A start whose reads fail ends with their failure.
    assert!(!life.note_silence());
    assert_eq!(life.permits_upkeep(next), Ok(()));
}

/// A lock of one thread.
struct Locked(RefCell<(Lifecycle, Bus)>);

impl Control for Locked {
    type Failure = &'static str;

    fn with<R>(&self, run: impl FnOnce(&mut Lifecycle, &mut dyn Mastering) -> R) -> R {
        let (life, bus) = &mut *self.0.borrow_mut();
        run(life, bus)
    }
}

/// Stores that were lost in a silence are not made up for by a start of the block. The watchdog may have found
/// another failure.
#[test]
fn the_watchdog_knows_of_a_silence_that_another_thread_has_noticed() {
    for noticed in [false, true] {
        let (life, bus, _) = running();
        let board = Locked(RefCell::new((life, bus)));
        let watched = watch(&board, |_| {
            if noticed {
                board.with(|life, _| life.note_silence());
            }
            Err("the port is dead")
        });
        let failure = Some("the port is dead");
        let silent = noticed;
        assert_eq!(watched, Watched::Revive { failure, silent });
        // It also counts at the next look.
        let failure = None;
        assert_eq!(
            watch(&board, |_| Ok(())),
            Watched::Revive { failure, silent }
        );
    }
}

#[test]
fn a_start_has_no_request_in_progress_before_it_is_bus_master() {
    let (mut life, mut bus, old) = running();
    assert_eq!(life.knows_memory(), Some(old));
    assert!(life.may_request(old));
    life.rest(&mut bus);
    assert_eq!(life.knows_memory(), None);
    assert!(!life.may_request(old));
    let epoch = life.begin_start(Starter::Owner, &mut bus).unwrap();
    // Its knowledge is wiped later.
    assert_eq!(life.knows_memory(), None);
    life.note_wiped(old);
    assert_eq!(life.knows_memory(), None);
    life.note_wiped(epoch);
    assert_eq!(life.knows_memory(), Some(epoch));
    assert!(!life.may_request(epoch));
    assert!(life.allow(epoch, &mut bus));
    assert!(life.may_request(epoch) && !life.may_request(old));
    assert!(life.run(epoch));
    assert!(life.may_request(epoch));
    assert!(life.begin_stop());
    assert!(life.may_request(epoch));
}
