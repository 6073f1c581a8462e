//! How contexts and regions end: stopped, dropped, invalidated, reset.

use crate::common::{
    MIB, SECOND, drive, fault_of, memory, open, open_at, open_with, registered, submit,
};
use crate::fake::{Config, Fake};
use peerlane_core::uapi::feature;
use peerlane_host::driver::{Backend, Driver};
use peerlane_host::{Direction, Error, Fault, MemoryKind, Permissions, Terms, Transfer};
use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

#[test]
fn a_stopped_channel_ends_its_work_if_it_is_given_the_time() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = memory(&device, MIB);
    let transfer = submit(&queue, Direction::FromFpga, &region, 4096, Terms::default());
    assert!(!device.stop(SECOND).unwrap());
    assert_eq!(fake.lock().channels[0].busy(), 0);
    assert_eq!(transfer.poll().unwrap(), Some(MIB));
    // It accepts again.
    assert_eq!(fake.lock().channels[0].control, 0b11);
    fake.lock().tricks.stuck = true;
    let stuck = queue.from_fpga(0, region.part(0..64)).unwrap();
    let (patience, start) = (Duration::from_millis(3), device.now());
    assert!(device.stop(patience).unwrap());
    let taken = device.now() - start;
    assert!(taken >= patience && taken < patience + Duration::from_millis(1));
    assert_eq!(fault_of(&stuck), Fault::Aborted);
    // A second is the longest wait.
    let _stuck = queue.from_fpga(0, region.part(0..64)).unwrap();
    let start = device.now();
    assert!(device.stop(10 * SECOND).unwrap());
    assert!(device.now() - start < SECOND + patience);
    fake.lock().tricks.stuck = false;
    let next = queue.from_fpga(0, region.part(0..64)).unwrap();
    assert_eq!(next.wait(SECOND).unwrap(), 64);
}

#[test]
fn a_restart_ends_one_channel_and_no_other() {
    let (fake, driver) = drive(Config {
        depth_log2: 2,
        ..Config::default()
    });
    let contexts = [open_with(&driver, MIB), open_with(&driver, MIB)];
    let [(one, queue, _), (two, others, _)] = &contexts;
    let (_memory, region) = memory(one, MIB);
    let (_theirs, of_theirs) = memory(two, MIB);
    fake.lock().tricks.stuck = true;
    // More than the queue holds: pieces that wait in the library end, too.
    let plain = Terms::default();
    let ended = Direction::BOTH.map(|direction| submit(queue, direction, &region, 65536, plain));
    let goes_on =
        Direction::BOTH.map(|direction| submit(others, direction, &of_theirs, 65536, plain));
    queue.restart().unwrap();
    for transfer in &ended {
        assert!(matches!(transfer.poll(), Err(Error::Stopped)));
    }
    fake.lock().tricks.stuck = false;
    for transfer in &goes_on {
        assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
    }
    let again = submit(queue, Direction::ToFpga, &region, 65536, plain);
    assert_eq!(again.wait(SECOND).unwrap(), MIB);
}

#[test]
fn a_queue_that_is_dropped_hands_the_memory_back_in_time() {
    let (fake, driver) = drive(Config::default());
    let at_rest = fake.lock().memories();
    let (device, queue) = open_at(&driver);
    let (held, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = true;
    drop(queue.to_fpga(region.part(0..MIB), 0).unwrap());
    let start = driver.now();
    drop((queue, device, region));
    assert!(driver.now() - start < Duration::from_millis(1));
    assert_eq!(fake.lock().channels[0].ring[0], 0);
    assert_eq!(fake.lock().valid_entries(), 0);
    drop(held);
    assert_eq!(fake.lock().memories(), at_rest);
}

#[test]
fn a_channel_that_does_not_end_keeps_its_ring_until_a_reset() {
    let (fake, driver) = drive(Config {
        channels: 2,
        ..Config::default()
    });
    let (device, queue, place) = open_with(&driver, MIB);
    let (other, others, mine) = open_with(&driver, MIB);
    assert!(mine + MIB <= place);
    let at_rest = fake.lock().memories();
    let (held, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.stubborn = true;
    drop(queue.from_fpga(place, region.part(0..MIB)).unwrap());
    drop((queue, device, region, held));
    // The board may still write records: the ring stays, and neither the channel nor its FPGA memory is assigned again.
    assert_eq!(fake.lock().memories(), at_rest);
    assert_eq!(fake.lock().valid_entries(), 0);
    let (device, queue) = (other, others);
    assert!(matches!(driver.open(), Err(Error::ChannelsTaken { .. })));
    // Nor does its descriptor find another context's memory where its own was.
    fake.fpga_write(place, &[7; MIB as usize]);
    let (held, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = false;
    for _ in 0..4 {
        let pause = queue.to_fpga(region.part(0..MIB), mine).unwrap();
        assert_eq!(pause.wait(SECOND).unwrap(), MIB);
    }
    let mut found = vec![1; MIB as usize];
    held.read(0, &mut found).unwrap();
    assert!(found.iter().all(|byte| *byte == 0));
    fake.lock().tricks.stubborn = false;
    driver.reset().unwrap();
    let next = driver.open().unwrap();
    assert_eq!(next.info().channel, 0);
    assert_eq!(next.allocate(MIB).unwrap().base(), place);
    let transfer = queue.to_fpga(region.part(0..MIB), mine);
    assert!(matches!(
        transfer.unwrap().wait(SECOND),
        Err(Error::Restarted)
    ));
    let transfer = queue.to_fpga(region.part(0..MIB), mine).unwrap();
    assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
}

#[test]
fn memory_goes_only_when_the_fence_is_reached() {
    for dead in [false, true] {
        let (fake, driver, device, _queue) = open(Config::default());
        let (held, region) = memory(&device, MIB);
        let memories = fake.lock().memories();
        fake.lock().tricks.no_fence = !dead;
        fake.lock().tricks.port_dead = dead;
        drop(region);
        drop(held);
        assert_eq!(fake.lock().valid_entries(), 0);
        assert_eq!(
            fake.lock().memories(),
            memories,
            "the board may still use it"
        );
        assert_eq!(driver.status().unwrap().port_dead, dead);
        fake.lock().tricks.no_fence = false;
        fake.lock().tricks.port_dead = false;
        driver.reset().unwrap();
        assert_eq!(fake.lock().memories(), memories - 1);
        assert_eq!(fake.lock().valid_entries(), 0);
    }
}

/// Memory that only its program keeps alive stays as long as the board may write it.
#[test]
fn memory_by_its_bus_address_is_kept_until_the_fence_is_reached() {
    for gone in [false, true] {
        let (fake, driver, device, queue) = open(Config::default());
        let memory = device.memory(MemoryKind::Gpu, MIB as usize).unwrap();
        let keep = Arc::new(());
        let register = || {
            let both = Permissions::ReadWrite;
            // SAFETY: the fake's memory, which stays.
            unsafe { device.register_bus(memory.address(), MIB, both, keep.clone()) }.unwrap()
        };
        drop(register());
        assert_eq!(Arc::strong_count(&keep), 1);
        let region = register();
        fake.lock().tricks.no_fence = !gone;
        fake.lock().tricks.gone = gone;
        fake.lock().tricks.no_cut_off = true;
        // A board that is not cut off may come back, so the region counts as used together with its transfers.
        let copy = region.clone();
        assert!(region.is_in_use());
        drop((region, copy));
        assert_eq!(Arc::strong_count(&keep), 2, "the board may still write it");
        fake.lock().tricks.no_fence = false;
        fake.lock().tricks.gone = false;
        driver.reset().unwrap();
        assert_eq!(Arc::strong_count(&keep), 1);
        // Without a driver the board is not reset.
        let region = register();
        fake.lock().tricks.no_fence = !gone;
        fake.lock().tricks.gone = gone;
        drop((region, queue, device, driver));
        assert_eq!(Arc::strong_count(&keep), 2, "the board may still write it");
    }
}

#[test]
fn a_board_that_is_not_cut_off_may_come_back_and_go_on() {
    let (fake, driver) = drive(Config::default());
    let at_rest = fake.lock().memories();
    let (device, queue) = open_at(&driver);
    let (held, region) = memory(&device, MIB);
    let memories = fake.lock().memories();
    fake.lock().tricks.stuck = true;
    drop(queue.from_fpga(0, region.part(0..MIB)).unwrap());
    let copy = region.clone();
    fake.lock().tricks.gone = true;
    fake.lock().tricks.no_cut_off = true;
    let error = copy.forget().unwrap_err();
    // Only a board that is gone moves nothing.
    assert!(matches!(error, Error::Broken { .. }), "{error}");
    drop((region, held, queue, device));
    // It has the descriptor, and entries, ring and memory.
    assert_eq!(fake.lock().memories(), memories);
    fake.lock().tricks.gone = false;
    fake.lock().tricks.stuck = false;
    // The fake checks that the board reaches no freed memory.
    assert!(matches!(driver.open(), Err(Error::Broken { .. })));
    fake.clone().pause(SECOND).unwrap();
    assert_eq!(fake.lock().seen.ended.len(), 1);
    driver.reset().unwrap();
    assert_eq!(fake.lock().memories(), at_rest);
    assert_eq!(fake.lock().valid_entries(), 0);
    assert_eq!(driver.open().unwrap().info().channel, 0);
}

/// The block is stopped first, which ends descriptors with records. Their transfers are not aborted by a fault.
#[test]
fn transfers_end_with_the_board_that_is_wanted_back() {
    for several in [false, true] {
        let (fake, driver, device, queue) = open(Config::default());
        let (_held, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
        fake.lock().tricks.stuck = true;
        let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
        fake.lock().tricks.wanted_back = true;
        if several {
            // Another context hears of it first.
            assert!(matches!(driver.open(), Err(Error::Gone)));
        }
        let ended = transfer.wait(SECOND);
        assert!(
            matches!(ended, Err(Error::Gone)),
            "several {several}: {ended:?}"
        );
    }
}

/// A board that is gone moves no bytes, whether it does not answer but goes on, or its owner has asked for it.
#[test]
fn a_board_that_is_gone_reaches_no_memory() {
    for wanted in [false, true] {
        let (fake, driver, device, queue) = open(Config::default());
        let (held, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
        fake.fpga_write(0, &[9; MIB as usize]);
        fake.lock().tricks.stuck = true;
        let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
        fake.lock().tricks.gone = !wanted;
        fake.lock().tricks.goes_on = true;
        fake.lock().tricks.wanted_back = wanted;
        let stopped = transfer.stop(Duration::from_millis(10));
        // A block that is stopped reports the end of its descriptors.
        assert!(
            matches!(stopped, Err(Error::Gone | Error::Stopped)),
            "{stopped:?}"
        );
        assert!(matches!(device.query(), Err(Error::Gone)));
        assert!(fake.lock().is_cut_off());
        assert_eq!(fake.lock().control() & 1, u32::from(!wanted));
        // The program uses its memory for another purpose.
        held.write(0, &[7; MIB as usize]).unwrap();
        fake.lock().tricks.stuck = false;
        fake.clone().pause(SECOND).unwrap();
        let mut found = vec![0; MIB as usize];
        held.read(0, &mut found).unwrap();
        assert!(found.iter().all(|byte| *byte == 7), "the board wrote it");
        assert!(!region.is_in_use());
        region.forget().unwrap();
        assert_ne!(fake.lock().valid_entries(), 0);
        fake.lock().tricks.gone = false;
        fake.lock().tricks.wanted_back = false;
        driver.reset().unwrap();
        assert_eq!(fake.lock().valid_entries(), 0);
        let (_held, region) = registered(&device, MemoryKind::Host, MIB, Permissions::Read);
        device.query().unwrap();
        let again = queue.to_fpga(region.part(0..MIB), 0).unwrap();
        assert_eq!(again.wait(SECOND).unwrap(), MIB);
    }
}

/// A reset of the whole board that others make is noticed by waiting threads, also if the board does not answer during
/// the reset, and for a while after the function answers.
#[test]
fn a_reset_by_others_ends_transfers_and_nothing_else() {
    let takes = |function, block| Some([function, block].map(Duration::from_millis));
    for in_reset in [None, takes(0, 0), takes(300, 200), takes(5000, 900)] {
        let (fake, _driver, device, queue) = open(Config::default());
        let (_memory, region) = memory(&device, MIB);
        let settings = fake.lock().channels[0].range;
        assert_eq!(device.query().unwrap().resets, 0);
        fake.lock().tricks.stuck = true;
        let lost = queue.to_fpga(region.part(0..MIB), 0).unwrap();
        let mut state = fake.lock();
        state.tricks.stuck = false;
        state.tricks.watched = true;
        state.tricks.in_reset = in_reset;
        match in_reset {
            Some(_) => state.tricks.gone = true,
            None => state.reset_function(),
        }
        drop(state);
        let waited = lost.wait(10 * SECOND);
        assert!(matches!(waited, Err(Error::Restarted)), "{waited:?}");
        assert_eq!(device.query().unwrap().resets, 1);
        assert_eq!(fake.lock().channels[0].range, settings);
        let again = queue.to_fpga(region.part(0..MIB), 0).unwrap();
        assert_eq!(again.wait(SECOND).unwrap(), MIB);
        assert_eq!(device.query().unwrap().resets, 1);
    }
}

/// A function is there, but its block does not answer any more.
#[test]
fn a_board_that_does_not_come_back_from_a_reset_is_gone() {
    let (fake, driver, device, _queue) = open(Config::default());
    fake.lock().tricks.gone = true;
    fake.lock().tricks.in_reset = Some([SECOND, 60 * SECOND]);
    let begin = device.now();
    assert!(matches!(driver.status(), Err(Error::Gone)));
    let waited = device.now() - begin;
    assert!((2 * SECOND..3 * SECOND).contains(&waited), "{waited:?}");
}

/// The kernel reports an error of the bus, and resets the link while the driver starts the board again.
#[test]
fn a_reset_during_the_restart_of_the_board_leaves_nothing_out() {
    for after in 0..150 {
        let (fake, _driver, device, queue) = open(Config::default());
        let (_memory, region) = memory(&device, MIB);
        fake.lock().tricks.stuck = true;
        let lost = queue.to_fpga(region.part(0..MIB), 0).unwrap();
        let mut state = fake.lock();
        state.tricks.stuck = false;
        state.tricks.watched = true;
        state.tricks.failed = true;
        state.tricks.reset_after = Some(after);
        drop(state);
        let waited = lost.wait(10 * SECOND);
        assert!(
            matches!(waited, Err(Error::Restarted)),
            "{after}: {waited:?}"
        );
        // A reset after that ends the next transfer.
        let moved = (0..3).map(|_| queue.to_fpga(region.part(0..MIB), 0)?.wait(SECOND));
        let moved: Vec<_> = moved.skip_while(Result::is_err).take(1).collect();
        assert!(matches!(moved[..], [Ok(MIB)]), "{after}: {moved:?}");
    }
}

/// A board that could not be cut off from memory is cut off as soon as that succeeds.
#[test]
fn a_cut_off_is_tried_again() {
    let (fake, driver) = drive(Config::default());
    let at_rest = fake.lock().memories();
    let (device, queue) = open_at(&driver);
    let (held, region) = memory(&device, MIB);
    fake.lock().tricks.gone = true;
    fake.lock().tricks.no_cut_off = true;
    assert!(matches!(device.query(), Ok(_) | Err(Error::Broken { .. })));
    assert!(matches!(driver.status(), Err(Error::Broken { .. })));
    assert!(matches!(device.query(), Err(Error::Broken { .. })));
    assert!(!fake.lock().is_cut_off());
    fake.lock().tricks.no_cut_off = false;
    assert!(matches!(device.query(), Err(Error::Gone)));
    assert!(fake.lock().is_cut_off());
    region.forget().unwrap();
    drop((held, queue, device, driver));
    assert_eq!(fake.lock().memories(), 0, "of {at_rest} before");
}

/// Other memory may lie at the addresses of memory that was kept. The board must not reach it when it is started.
#[test]
fn memory_that_was_kept_goes_when_the_board_is_cut_off() {
    let (fake, driver, device, _queue) = open(Config::default());
    let before = fake.lock().memories();
    let (held, region) = memory(&device, MIB);
    fake.lock().tricks.port_dead = true;
    drop((held, region));
    assert_eq!(fake.lock().memories(), before + 1);
    fake.lock().tricks.gone = true;
    assert!(matches!(driver.status(), Err(Error::Gone)));
    fake.lock().tricks.gone = false;
    // The port stays dead, so the region cannot be unregistered.
    driver.reset().unwrap();
    assert!(!fake.lock().is_cut_off());
    assert_eq!(fake.lock().memories(), before);
}

/// A region whose memory has gone does not keep a board from its start, and reaches no other memory.
#[test]
fn a_region_whose_memory_went_with_the_board_is_dead() {
    let (fake, driver, device, queue) = open(Config::default());
    let (went, dead) = memory(&device, MIB);
    let (_held, region) = memory(&device, MIB);
    fake.unmap(&went);
    fake.lock().tricks.gone = true;
    assert!(matches!(driver.status(), Err(Error::Gone)));
    fake.lock().tricks.gone = false;
    for _ in 0..2 {
        driver.reset().unwrap();
        device.query().unwrap();
        let transfer = queue.from_fpga(0, dead.part(0..64)).unwrap();
        assert_eq!(fault_of(&transfer), Fault::AttInvalid);
        let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
        assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
    }
    dead.forget().unwrap();
}

/// All memory of a board that was cut off is free at the end.
#[test]
fn a_driver_of_a_board_that_is_gone_frees_all() {
    let (fake, driver) = drive(Config::default());
    let (device, queue) = open_at(&driver);
    let (held, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.gone = true;
    drop(queue.from_fpga(0, region.part(0..MIB)).unwrap());
    drop((held, region, queue, device, driver));
    assert_eq!(fake.lock().memories(), 0);
}

#[test]
fn a_forgotten_region_gives_its_memory_back_and_keeps_its_entries() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (held, region) = memory(&device, MIB);
    let memories = fake.lock().memories();
    fake.lock().tricks.stuck = true;
    let transfer = queue.to_fpga(region.part(0..MIB), 0).unwrap();
    drop(held);
    region.forget().unwrap();
    assert_eq!(fake.lock().valid_entries(), 0);
    // The descriptor that the board has must not find other memory.
    let (_next, next) = self::memory(&device, MIB);
    fake.lock().tricks.stuck = false;
    assert_eq!(fault_of(&transfer), Fault::AttInvalid);
    let transfer = queue.to_fpga(next.part(0..MIB), 0).unwrap();
    assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
    assert_eq!(
        fake.lock().memories(),
        memories,
        "the old memory is still there"
    );
    drop(transfer);
    drop(next);
    // The entries are used again when the channel is idle: no more than these two fit, one after the other.
    for _ in 0..600 {
        registered(&device, MemoryKind::Gpu, MIB, Permissions::Read);
    }
}

#[test]
fn forget_is_not_ok_for_the_second_if_it_failed_for_the_first() {
    let (fake, _driver, device, _queue) = open(Config::default());
    let at_rest = fake.lock().memories();
    let (held, region) = memory(&device, MIB);
    let (second, third) = (region.clone(), region.clone());
    drop(held);
    fake.lock().tricks.no_fence = true;
    for region in [region, second] {
        let error = region.forget().unwrap_err();
        assert!(matches!(error, Error::NotReady { .. }), "{error}");
    }
    fake.lock().tricks.no_fence = false;
    let last = third.clone();
    third.forget().unwrap();
    last.forget().unwrap();
    assert_eq!(fake.lock().memories(), at_rest);
}

/// The driver has unregistered a region that could not be invalidated, by a reset. A second invalidation must not
/// unregister another region, which was registered since then.
#[test]
fn to_forget_a_region_again_takes_no_other_region() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_held, region) = memory(&device, MIB);
    fake.lock().tricks.no_fence = true;
    region.clone().forget().unwrap_err();
    fake.lock().tricks.no_fence = false;
    driver.reset().unwrap();
    device.query().unwrap();
    let (_other, other) = memory(&device, MIB);
    region.forget().unwrap();
    let (_third, third) = memory(&device, MIB);
    assert_ne!(other.att_address(), third.att_address());
    let write = queue.from_fpga(0, other.part(0..64)).unwrap();
    assert_eq!(write.wait(SECOND).unwrap(), 64);
}

#[test]
fn what_could_not_be_forgotten_is_tried_again() {
    for reset in [false, true] {
        let (fake, driver, device, _queue) = open(Config::default());
        let at_rest = fake.lock().memories();
        let (held, region) = memory(&device, MIB);
        let second = region.clone();
        drop(held);
        fake.lock().tricks.no_fence = true;
        region.forget().unwrap_err();
        assert_eq!(fake.lock().memories(), at_rest + 1);
        fake.lock().tricks.no_fence = false;
        match reset {
            // The driver does it by itself.
            true => {
                driver.reset().unwrap();
                second.forget().unwrap();
            }
            false => drop(second),
        }
        assert_eq!(fake.lock().memories(), at_rest);
    }
}

#[test]
fn a_dead_port_is_told() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = true;
    let transfer = queue.to_fpga(region.part(0..MIB), 0).unwrap();
    fake.lock().tricks.port_dead = true;
    let error = transfer.wait(Duration::from_millis(2)).unwrap_err();
    assert!(matches!(error, Error::PortDead), "{error}");
    assert!(error.hint().contains("reset inputs"));
}

#[test]
fn a_query_beside_a_queue_does_not_make_a_transfer_end_with_anothers_record() {
    let (fake, driver) = drive(Config::default());
    let (device, queue, place) = open_with(&driver, MIB);
    let (held, region) = memory(&device, MIB);
    fake.fpga_write(place, &[1; 64]);
    fake.fpga_write(place + 4096, &[2; 64]);
    fake.lock().tricks.stuck = true;
    let lost = queue.from_fpga(place, region.part(8192..8256)).unwrap();
    driver.reset().unwrap();
    // It admits the channel.
    assert_eq!(device.query().unwrap().generation, 1);
    assert!(matches!(lost.poll(), Err(Error::Restarted)));
    let first = queue.from_fpga(place, region.part(0..64)).unwrap();
    let soon = Duration::from_micros(1);
    assert!(matches!(first.wait(soon), Err(Error::Timeout { .. })));
    let second = queue
        .from_fpga(place + 4096, region.part(4096..4160))
        .unwrap();
    fake.lock().tricks.stuck = false;
    assert_eq!(second.wait(SECOND).unwrap(), 64);
    assert_eq!(first.wait(SECOND).unwrap(), 64);
    for (offset, byte) in [(0, 1), (4096, 2), (8192, 0)] {
        let mut found = [9; 64];
        held.read(offset, &mut found).unwrap();
        assert_eq!(found, [byte; 64]);
    }
}

#[test]
fn a_poll_sees_a_restart_and_an_end() {
    for spins in [false, true] {
        let (fake, driver) = drive(Config::default());
        let (device, queue, place) = open_with(&driver, MIB);
        let (_held, region) = memory(&device, MIB);
        let clock = driver.open().unwrap();
        // Time passes, whichever result the board returns.
        let pass = || {
            let _ = clock.query();
            let _ = clock.poll(Some(2 * SECOND));
        };
        // No record comes, so there is no event.
        let lost = |transfer: &Transfer| {
            if spins {
                return std::thread::scope(|scope| {
                    scope.spawn(pass);
                    transfer.wait(None).unwrap_err()
                });
            }
            assert_eq!(transfer.poll().unwrap(), None);
            pass();
            transfer.poll().unwrap_err()
        };
        queue.set_spin(if spins { Duration::MAX } else { Duration::ZERO });
        fake.lock().tricks.stuck = true;
        let transfer = queue.from_fpga(place, region.part(0..64)).unwrap();
        driver.reset().unwrap();
        assert!(matches!(lost(&transfer), Error::Restarted));
        let transfer = queue.from_fpga(place, region.part(0..64)).unwrap();
        fake.lock().tricks.gone = true;
        assert!(matches!(lost(&transfer), Error::Gone));
    }
}

#[test]
fn a_reset_keeps_contexts_regions_and_settings() {
    let (fake, driver) = drive(Config::default());
    let (device, queue, place) = open_with(&driver, MIB);
    let (_memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::Read);
    fake.lock().tricks.stuck = true;
    let transfer = queue.to_fpga(region.part(0..MIB), place).unwrap();
    let range = fake.lock().channels[0].range;
    driver.reset().unwrap();
    assert!(matches!(transfer.wait(SECOND), Err(Error::Restarted)));
    fake.lock().tricks.stuck = false;
    assert_eq!(fake.lock().channels[0].range, range);
    let again = queue.to_fpga(region.part(0..MIB), place).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), MIB);
}

/// Makes a file that represents a dma-buf.
fn file() -> std::fs::File {
    let file = rustix::fs::memfd_create("dma-buf", rustix::fs::MemfdFlags::CLOEXEC);
    std::fs::File::from(file.unwrap())
}

#[test]
fn memory_is_registered_by_a_dma_buf_until_its_owner_takes_it_back() {
    let (fake, _driver, device, queue) = open(Config::default());
    assert!(device.has(feature::DMABUF));
    let memory = device.memory(MemoryKind::Gpu, MIB as usize).unwrap();
    let dmabuf = file();
    fake.set_dmabuf(&dmabuf, &memory, 0);
    let both = Permissions::ReadWrite;
    let region = device
        .register_dmabuf(&dmabuf, 65_536, 100_000, both)
        .unwrap();
    // It remains when the file is closed.
    drop(dmabuf);
    memory.write(65_539, b"by a dma-buf").unwrap();
    let transfer = queue.to_fpga(region.part(3..15), 0x1001).unwrap();
    assert_eq!(transfer.wait(SECOND).unwrap(), 12);
    let mut found = [0; 12];
    fake.fpga_read(0x1001, &mut found);
    assert_eq!(&found, b"by a dma-buf");
    for (offset, length) in [(MIB, 1), (0, MIB + 1), (u64::MAX, 2)] {
        let dmabuf = file();
        fake.set_dmabuf(&dmabuf, &memory, 0);
        let error = device.register_dmabuf(&dmabuf, offset, length, both);
        assert!(matches!(error, Err(Error::Backend(_))), "{error:?}");
    }
    // Another file.
    let error = device.register_dmabuf(file(), 0, 1, both);
    assert!(matches!(error, Err(Error::Backend(_))), "{error:?}");
    fake.revoke(&memory);
    let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
    assert_eq!(fault_of(&transfer), Fault::AttInvalid);
}

/// A waker that resets a board which is gone, once.
struct Mends(Fake, Driver);

impl Wake for Mends {
    fn wake(self: Arc<Self>) {
        if std::mem::take(&mut self.0.lock().tricks.gone) {
            self.1.reset().unwrap();
        }
    }
}

#[test]
fn a_board_that_comes_back_while_its_end_is_reported() {
    let (fake, driver, device, queue) = open(Config::default());
    let (held, region) = memory(&device, 4096);
    // The ring's position is not that of a new one.
    for _ in 0..3 {
        let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
        assert_eq!(transfer.wait(SECOND).unwrap(), 64);
    }
    fake.lock().tricks.stuck = true;
    let lost = queue.from_fpga(0, region.part(0..64)).unwrap();
    let other = queue.from_fpga(0, region.part(0..64)).unwrap();
    // Woken between the driver's report and the library's next question.
    let waker = Waker::from(Arc::new(Mends(fake.clone(), driver.clone())));
    let mut ended = pin!(other.ended());
    let pending = ended.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(pending.is_pending());
    fake.lock().tricks.gone = true;
    assert!(matches!(lost.wait(SECOND), Err(Error::Restarted)));
    assert!(!fake.lock().tricks.gone, "the waker was called");
    // The board takes this transfer, so that no error may be reported for it.
    fake.fpga_write(0, &[7; 64]);
    let next = queue.from_fpga(0, region.part(0..64)).unwrap();
    let waited = next.wait(Duration::from_millis(1));
    assert!(matches!(waited, Err(Error::Timeout { .. })), "{waited:?}");
    fake.lock().tricks.stuck = false;
    assert_eq!(next.wait(SECOND).unwrap(), 64);
    let mut bytes = [0; 64];
    held.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [7; 64]);
    queue.restart().unwrap();
    let last = queue.to_fpga(region.part(0..64), 0).unwrap();
    assert_eq!(last.wait(SECOND).unwrap(), 64);
}

#[test]
fn a_board_whose_reset_has_failed_is_gone() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_held, region) = memory(&device, 4096);
    let before = queue.from_fpga(0, region.part(0..64)).unwrap();
    assert_eq!(before.wait(SECOND).unwrap(), 64);
    // A context that could not be closed keeps the driver from starting the block.
    let other = driver.open().unwrap();
    fake.lock().tricks.port_dead = true;
    drop(other);
    assert!(driver.reset().is_err());
    // A record of an earlier transfer, in a ring that was not emptied, is no result.
    let next = queue.from_fpga(0, region.part(0..64));
    let moved = next.and_then(|transfer| transfer.wait(SECOND));
    assert!(matches!(moved, Err(Error::Gone)), "{moved:?}");
    fake.lock().tricks.port_dead = false;
    driver.reset().unwrap();
    let _ = device.query().unwrap();
    let again = queue.from_fpga(0, region.part(0..64)).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 64);
}
