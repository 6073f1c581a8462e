//! The driver: opening, memory, errors.

use crate::common::{MIB, SECOND, drive, open, open_at, registered};
use crate::fake::{BUILD_ID, Config, Fake};
use peerlane_core::link::Link;
use peerlane_core::regs::MAP_ID;
use peerlane_host::driver::{Driver, Options};
use peerlane_host::{Error, Fault, MemoryKind, Permissions};
use std::time::Duration;

const KIB: u64 = 1 << 10;

#[test]
fn another_map_is_refused_with_both_values() {
    let fake = Fake::new(Config {
        map_id: 0x0bad_0bad,
        ..Config::default()
    });
    let error = Driver::new(fake.clone(), &Options::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Identity { .. }));
    assert!(text.contains("0x0bad0bad") && text.contains(&format!("{MAP_ID:#010x}")));
    assert_eq!(fake.lock().seen.writes, 0, "hardware was touched");
}

#[test]
fn another_build_is_refused_if_one_is_named() {
    let of = |build_id| Options {
        build_id: Some(build_id),
        ..Options::default()
    };
    let error = Driver::new(Fake::new(Config::default()), &of(7)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("0x00000007") && text.contains("0xb01d0001"));
    assert!(Driver::new(Fake::new(Config::default()), &of(BUILD_ID)).is_ok());
}

#[test]
fn a_missing_device_is_noticed_at_open() {
    let fake = Fake::new(Config::default());
    fake.lock().tricks.gone = true;
    let error = Driver::new(fake, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("does not answer"));
}

#[test]
fn options_reach_the_block() {
    let options = Options {
        port_timeout_cycles: Some(1234),
        ..Options::default()
    };
    let fake = Fake::new(Config::default());
    let driver = Driver::new(fake.clone(), &options).unwrap();
    assert_eq!(fake.lock().port_timeout(), 1234);
    assert_eq!(driver.capabilities().queue_depth(), 512);
    assert_eq!(driver.build_id(), BUILD_ID);
    assert_eq!(driver.open().unwrap().info().build_id, BUILD_ID);
}

#[test]
fn the_block_is_told_of_the_link() {
    let link = |bytes_per_second| Link {
        bytes_per_second,
        clock: 125_000_000,
    };
    // Gen2 x4 at 125 MHz: 16 bytes a cycle, in 256ths, less one part in 64.
    for (link, pace) in [(Some(link(2_000_000_000)), 4032), (None, 0)] {
        let (fake, _driver) = drive(Config {
            link,
            ..Config::default()
        });
        assert_eq!(fake.lock().port_pace(), pace);
    }
}

#[test]
fn page_sizes_follow_the_memory() {
    for (granule, entries) in [(4 * KIB, 1024), (64 * KIB, 64), (64 * MIB, 2)] {
        let (fake, _driver, device, _) = open(Config {
            gpu_granule: granule,
            ..Config::default()
        });
        let _region = registered(&device, MemoryKind::Gpu, 4 * MIB, Permissions::Read);
        assert_eq!(fake.lock().valid_entries(), entries);
    }
}

#[test]
fn a_full_att_says_so_and_recovers() {
    let (fake, _driver, device, _) = open(Config {
        att_log2: 8,
        ..Config::default()
    });
    let (memory, all) = registered(&device, MemoryKind::Host, MIB, Permissions::Read);
    assert_eq!(fake.lock().valid_entries(), 256);
    let error = device.register_all(&memory, Permissions::Read).unwrap_err();
    assert!(matches!(error, Error::AttFull(_)));
    assert!(error.to_string().contains("256"));
    let larger = device.memory(MemoryKind::Host, MIB as usize + 1).unwrap();
    let error = device.register_all(&larger, Permissions::Read).unwrap_err();
    assert!(
        matches!(
            error,
            Error::TooLarge {
                entries: 257,
                most: 256,
                ..
            }
        ),
        "{error:?}"
    );
    drop(all);
    assert_eq!(fake.lock().valid_entries(), 0);
    assert!(device.register_all(&memory, Permissions::Read).is_ok());
}

#[test]
fn memory_out_of_reach_is_refused() {
    let (fake, driver) = drive(Config {
        txs_addr_bits: 32,
        ..Config::default()
    });
    let device = driver.open().unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    assert!(matches!(
        device.register_all(&memory, Permissions::Read),
        Err(Error::Unreachable { bits: 32, .. })
    ));
    // It is not kept because of that.
    let memories = fake.lock().memories();
    drop(memory);
    assert_eq!(fake.lock().memories(), memories - 1);
}

#[test]
fn regions_and_memory_live_as_long_as_a_transfer_needs_them() {
    let (fake, _driver, device, queue) = open(Config::default());
    let at_rest = fake.lock().memories();
    let (memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::Write);
    let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    drop(region);
    drop(memory);
    assert_eq!(fake.lock().valid_entries(), 16);
    assert_eq!(fake.lock().memories(), at_rest + 1);
    assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
    assert_eq!(fake.lock().valid_entries(), 0);
    assert_eq!(fake.lock().memories(), at_rest);
}

#[test]
fn closing_leaves_nothing_behind() {
    let (fake, driver, device, queue) = open(Config::default());
    let (memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::Write);
    fake.lock().tricks.stuck = true;
    let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    drop((driver, device, queue, memory, region));
    assert_eq!(
        fake.lock().valid_entries(),
        16,
        "the transfer still needs it"
    );
    drop(transfer);
    assert_eq!(fake.lock().valid_entries(), 0);
    assert_eq!(fake.lock().control(), 0);
    assert_eq!(fake.lock().memories(), 0);
    assert!(fake.lock().channels.iter().all(|c| c.ring[0] == 0));
}

#[test]
fn a_fault_names_code_place_and_bytes() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Gpu, 8 * MIB, Permissions::ReadWrite);
    // The third piece of the read: 2 MiB and 4096 bytes are moved.
    fake.lock().tricks.fault = Some((1, 2, 7, 4096));
    let read = queue.to_fpga(region.part(100..100 + 5 * MIB), 0).unwrap();
    let write = queue
        .from_fpga(0, region.part(6 * MIB..6 * MIB + MIB))
        .unwrap();
    let error = read.wait(SECOND).unwrap_err();
    // The first piece stops at 4 KiB of the peer.
    let done = 2 * MIB - 100 + 4096;
    assert!(
        matches!(
            error,
            Error::Fault {
                fault: Fault::ReadTimeout,
                bytes_done,
                length,
                offset: Some(offset),
                ..
            } if bytes_done == done && length == 5 * MIB && offset == done
        ),
        "{error}"
    );
    assert!(error.hint().contains("late answers"));
    // It stays failed, and others are not affected.
    assert!(read.poll().is_err());
    assert_eq!(write.wait(SECOND).unwrap(), MIB);
    let next = queue.to_fpga(region.part(0..MIB), 0).unwrap();
    assert_eq!(next.wait(SECOND).unwrap(), MIB);
}

#[test]
fn protection_errors_of_the_board_are_told() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::ReadWrite);
    // The third entry is overwritten.
    fake.lock().att[2].0 = 0;
    let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    assert!(matches!(
        transfer.wait(SECOND),
        Err(Error::Fault {
            fault: Fault::AttInvalid,
            bytes_done: 0x2_0000,
            offset: Some(0x2_0000),
            ..
        })
    ));
}

#[test]
fn a_stuck_board_times_out_and_a_reset_helps() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    let patience = Duration::from_millis(25);
    let start = device.now();
    let error = transfer.wait(patience).unwrap_err();
    assert!(matches!(error, Error::Timeout { waited, length: MIB, .. } if waited == patience));
    assert_eq!(device.now() - start, patience);
    // It was only slow: it can be waited for again.
    fake.lock().tricks.stuck = false;
    assert_eq!(transfer.wait(SECOND).unwrap(), MIB);

    fake.lock().tricks.stuck = true;
    let transfer = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    assert!(transfer.wait(patience).is_err());
    driver.reset().unwrap();
    fake.lock().tricks.stuck = false;
    // Lost, because the queue does not know of the restart either.
    let unknowing = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    for lost in [transfer, unknowing] {
        assert!(matches!(lost.wait(SECOND), Err(Error::Restarted)));
    }
    let again = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), MIB);
}

#[test]
fn a_device_that_goes_is_noticed() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    let done = queue.to_fpga(region.part(0..MIB), 0).unwrap();
    done.wait(SECOND).unwrap();
    let transfer = queue.to_fpga(region.part(0..MIB), 0).unwrap();
    fake.lock().tricks.gone = true;
    assert!(matches!(transfer.wait(SECOND), Err(Error::Gone)));
    assert!(matches!(transfer.wait(None), Err(Error::Gone)));
    let next = queue.to_fpga(region.part(0..1), 0).unwrap();
    assert!(matches!(next.wait(SECOND), Err(Error::Gone)));
    assert!(matches!(driver.status(), Err(Error::Gone)));
    assert!(matches!(driver.reset(), Err(Error::Gone)));
    assert!(matches!(driver.open(), Err(Error::Gone)));
    // Ended transfers stay ended.
    assert_eq!(done.poll().unwrap(), Some(MIB));
}

#[test]
fn who_was_gone_is_gone_until_a_reset() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.gone = true;
    let lost = queue.from_fpga(0, region.part(0..64)).unwrap();
    let soon = Duration::from_millis(1);
    assert!(matches!(lost.wait(soon), Err(Error::Gone)));
    // It answers again, but writes in the meantime were lost.
    fake.lock().tricks.gone = false;
    let next = queue.from_fpga(0, region.part(0..64)).unwrap();
    for transfer in [&next, &lost] {
        assert!(matches!(transfer.wait(60 * SECOND), Err(Error::Gone)));
    }
    assert!(matches!(device.query(), Err(Error::Gone)));
    assert!(matches!(device.poll(None), Err(Error::Gone)));
    assert!(matches!(device.stop(SECOND), Err(Error::Gone)));
    assert!(matches!(driver.open(), Err(Error::Gone)));
    driver.reset().unwrap();
    for transfer in [&next, &lost] {
        assert!(matches!(transfer.wait(SECOND), Err(Error::Restarted)));
    }
    let again = queue.from_fpga(0, region.part(0..64)).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 64);
}

#[test]
fn all_who_wait_are_told_of_a_doorbell_that_failed() {
    let (fake, _driver, device, queue) = open(Config {
        depth_log2: 2,
        ..Config::default()
    });
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    for round in 0..20 {
        fake.lock().tricks.stuck = true;
        let before = queue.to_fpga(region.part(0..4096), 0).unwrap();
        fake.lock().tricks.fail_write = true;
        let failed = queue.from_fpga(0, region.part(0..4096)).unwrap();
        // No doorbell is rung after it: a later descriptor might be chained to the lost one.
        let behind = queue.from_fpga(0, region.part(0..4096)).unwrap();
        let (told, ends) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for transfer in [&failed, &behind] {
                let told = told.clone();
                scope.spawn(move || told.send(transfer.wait(None)).unwrap());
            }
            for _ in 0..2 {
                let end = ends.recv_timeout(Duration::from_secs(20));
                let error = end.expect("somebody waits for ever").unwrap_err();
                assert!(matches!(error, Error::Backend(_)), "round {round}: {error}");
            }
        });
        assert!(matches!(device.query(), Err(Error::Backend(_))));
        fake.lock().tricks.stuck = false;
        queue.restart().unwrap();
        assert!(before.poll().is_err());
        for transfer in [failed, behind] {
            assert!(matches!(transfer.poll(), Err(Error::Stopped)));
        }
        let again = queue.from_fpga(0, region.part(0..4096)).unwrap();
        assert_eq!(again.wait(SECOND).unwrap(), 4096);
    }
}

#[test]
fn a_stop_refuses_doorbells_meanwhile() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.still = true;
    let first = queue.to_fpga(region.part(0..4096), 0).unwrap();
    let refused = std::thread::scope(|scope| {
        let stop = scope.spawn(|| device.stop(SECOND));
        while fake.lock().channels[0].control != 0b10 {
            std::thread::yield_now();
        }
        let refused = queue.to_fpga(region.part(0..4096), 0).unwrap();
        fake.lock().tricks.stuck = false;
        fake.lock().tricks.still = false;
        let aborted = stop.join().unwrap().unwrap();
        assert!(!aborted, "there was time enough");
        refused
    });
    assert_eq!(first.wait(SECOND).unwrap(), 4096);
    let error = refused.wait(10 * SECOND).unwrap_err();
    assert!(error.to_string().contains("refused a doorbell"), "{error}");
    queue.restart().unwrap();
    assert!(matches!(refused.poll(), Err(Error::Stopped)));
    let again = queue.to_fpga(region.part(0..4096), 0).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 4096);
}

#[test]
fn a_reset_in_the_middle_of_a_stop_ends_the_stop() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.still = true;
    let lost = queue.to_fpga(region.part(0..4096), 0).unwrap();
    std::thread::scope(|scope| {
        let stop = scope.spawn(|| device.stop(SECOND));
        while fake.lock().channels[0].control != 0b10 {
            std::thread::yield_now();
        }
        driver.reset().unwrap();
        assert!(!stop.join().unwrap().unwrap());
    });
    fake.lock().tricks.stuck = false;
    fake.lock().tricks.still = false;
    assert!(matches!(lost.wait(SECOND), Err(Error::Restarted)));
    let again = queue.to_fpga(region.part(0..4096), 0).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 4096);
}

#[test]
fn entries_that_cannot_be_collected_are_not_lost() {
    let (fake, driver, device, queue) = open(Config {
        att_log2: 8,
        ..Config::default()
    });
    let kib = |kib: u64| kib * KIB;
    let (memory, _region) = registered(&device, MemoryKind::Host, kib(64), Permissions::Read);
    fake.lock().tricks.stuck = true;
    let regions = [(); 2].map(|()| {
        let region = device.register_all(&memory, Permissions::Read).unwrap();
        drop(queue.to_fpga(region.part(0..64), 0).unwrap());
        region
    });
    // The channel is busy: the entries stay reserved.
    for region in regions {
        region.forget().unwrap();
    }
    fake.lock().tricks.gone = true;
    let error = device.register_all(&memory, Permissions::Read).unwrap_err();
    assert!(matches!(error, Error::Gone), "{error}");
    fake.lock().tricks.gone = false;
    fake.lock().tricks.stuck = false;
    driver.reset().unwrap();
    // All 256 entries, less the 16 that are in use.
    let (_rest, _all) = registered(&device, MemoryKind::Host, kib(960), Permissions::Read);
    assert_eq!(fake.lock().valid_entries(), 256);
}

#[test]
fn lost_and_repeated_records_are_noticed() {
    for lose in [true, false] {
        let (fake, _driver, device, queue) = open(Config::default());
        let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
        fake.lock().tricks.lose_record = lose;
        fake.lock().tricks.repeat_record = !lose;
        let first = queue.to_fpga(region.part(0..4096), 0).unwrap();
        let second = queue.to_fpga(region.part(0..4096), 0).unwrap();
        assert!(matches!(second.wait(SECOND), Err(Error::Broken { .. })));
        assert!(first.poll().is_err() == lose);
    }
}

#[test]
fn a_short_record_is_no_success() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.fault = Some((0, 0, 0, 10));
    let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
    let short = |found: Result<u64, Error>| {
        let error = found.unwrap_err();
        assert!(error.to_string().contains("after 10"), "{error}");
    };
    short(transfer.wait(SECOND));
    short(transfer.wait(10 * SECOND));
    queue.restart().unwrap();
    short(transfer.wait(SECOND));
    let next = queue.from_fpga(0, region.part(0..64)).unwrap();
    assert_eq!(next.wait(SECOND).unwrap(), 64);
}

#[test]
fn what_was_refused_is_not_made() {
    let (fake, driver, device, queue) = open(Config::default());
    let (memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    let clock = driver.open().unwrap();
    fake.fpga_write(0, &[7; 64]);
    fake.lock().tricks.fault = Some((0, 0, 0, 10));
    let _short = queue.from_fpga(0, region.part(0..64)).unwrap();
    clock.query().unwrap();
    assert!(clock.poll(Some(SECOND)).unwrap());
    // The submission finds the record.
    let refused = queue.from_fpga(0, region.part(8192..8256));
    assert!(matches!(refused, Err(Error::Broken { .. })), "{refused:?}");
    queue.restart().unwrap();
    let next = queue.from_fpga(0, region.part(4096..4160)).unwrap();
    assert_eq!(next.wait(SECOND).unwrap(), 64);
    for (offset, byte) in [(4096, 7), (8192, 0)] {
        let mut found = [9; 64];
        memory.read(offset, &mut found).unwrap();
        assert_eq!(found, [byte; 64]);
    }
}

#[test]
fn a_transfer_of_a_broken_queue_is_under_way_until_it_is_stopped() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.refuse_at = Some(0);
    let transfer = queue.to_fpga(region.part(0..4096), 0).unwrap();
    let error = transfer.wait(10 * SECOND).unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
    assert!(!transfer.has_ended());
    fake.lock().tricks.refuse_at = None;
    // The board may have descriptors that the queue does not know any more.
    let stopped = transfer.stop(Duration::ZERO);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert!(transfer.has_ended());
    let again = queue.to_fpga(region.part(0..4096), 0).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 4096);
}

#[test]
fn after_a_reset_a_broken_queue_is_as_new() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.lose_record = true;
    let lost = queue.to_fpga(region.part(0..4096), 0).unwrap();
    let next = queue.to_fpga(region.part(0..4096), 0).unwrap();
    let error = next.wait(SECOND).unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
    assert!(error.hint().contains("Restart the queue"));
    driver.reset().unwrap();
    assert!(matches!(lost.wait(SECOND), Err(Error::Restarted)));
    let again = queue.to_fpga(region.part(0..4096), 0).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 4096);
}

#[test]
fn a_doorbell_refused_by_a_reset_that_the_driver_finds_later_is_lost_with_the_rest() {
    let (fake, driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.refuse_at = Some(0);
    let transfer = queue.to_fpga(region.part(0..4096), 0).unwrap();
    fake.lock().tricks.refuse_at = None;
    // The queue was checked before, as by a wait.
    assert!(matches!(
        transfer.wait(SECOND + SECOND / 2),
        Err(Error::Timeout { .. })
    ));
    driver.reset().unwrap();
    assert!(matches!(transfer.wait(SECOND), Err(Error::Restarted)));
    let again = queue.to_fpga(region.part(0..4096), 0).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 4096);
}

#[test]
fn a_refused_doorbell_is_noticed_and_the_queue_restarted() {
    let (fake, driver) = drive(Config::default());
    let (device, queue) = open_at(&driver);
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.refuse_at = Some(0);
    let transfer = queue.to_fpga(region.part(0..4096), 0).unwrap();
    let error = transfer.wait(10 * SECOND).unwrap_err();
    assert!(error.to_string().contains("refused a doorbell"), "{error}");
    fake.lock().tricks.refuse_at = None;
    queue.restart().unwrap();
    assert!(matches!(transfer.poll(), Err(Error::Stopped)));
    let again = queue.to_fpga(region.part(0..4096), 0).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 4096);
}

/// Also writes whose data the library flushes, or whose ends it copies.
#[test]
fn a_board_that_is_there_again_writes_as_before() {
    for (granularity, permissions, range) in [
        (1, Permissions::ReadWrite, 0..64),
        (1, Permissions::Write, 0..64),
        (4, Permissions::ReadWrite, 1..67),
    ] {
        let (fake, driver, device, queue) = open(Config {
            write_granularity: granularity,
            ..Config::default()
        });
        let (_memory, region) = registered(&device, MemoryKind::Host, MIB, permissions);
        fake.lock().tricks.gone = true;
        let lost = queue.from_fpga(0, region.part(range.clone())).unwrap();
        let error = lost.wait(SECOND).unwrap_err();
        assert!(matches!(error, Error::Gone), "{error}");
        fake.lock().tricks.gone = false;
        driver.reset().unwrap();
        let _ = lost.wait(SECOND);
        let again = queue.from_fpga(0, region.part(range.clone())).unwrap();
        assert_eq!(again.wait(SECOND).unwrap(), range.end - range.start);
    }
}
