//! Opening, regions, data, errors.

use crate::common::{MIB, SECOND, open};
use crate::fake::{BUILD_ID, Config, Fake};
use peerlane_core::regs::MAP_ID;
use peerlane_host::{
    Device, Direction, Error, Fault, Link, MemoryKind, Options, PageSize, Permissions,
};
use std::time::Duration;

const KIB: u64 = 1 << 10;

/// Bytes that differ at every place and for every seed.
fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ seed)
        .collect()
}

#[test]
fn another_map_is_refused_with_both_values() {
    let fake = Fake::new(Config {
        map_id: 0x0bad_0bad,
        ..Config::default()
    });
    let error = Device::open(fake.clone(), &Options::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Identity(_)));
    assert!(text.contains("0x0bad0bad") && text.contains(&format!("{MAP_ID:#010x}")));
    assert_eq!(fake.lock().seen.writes, 0, "hardware was touched");
}

#[test]
fn another_build_is_refused_if_one_is_named() {
    let options = Options {
        build_id: Some(7),
        ..Options::default()
    };
    let error = Device::open(Fake::new(Config::default()), &options).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("0x00000007") && text.contains("0xb01d0001"));
    let options = Options {
        build_id: Some(BUILD_ID),
        ..Options::default()
    };
    assert!(Device::open(Fake::new(Config::default()), &options).is_ok());
}

#[test]
fn a_missing_device_is_noticed_at_open() {
    let fake = Fake::new(Config::default());
    fake.lock().tricks.gone = true;
    let error = Device::open(fake, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("does not answer"));
}

#[test]
fn options_reach_the_block() {
    let options = Options {
        port_timeout_cycles: Some(1234),
        ..Options::default()
    };
    let fake = Fake::new(Config::default());
    let device = Device::open(fake.clone(), &options).unwrap();
    assert_eq!(fake.lock().port_timeout(), 1234);
    assert_eq!(device.capabilities().queue_depth(), 512);
    assert_eq!(device.build_id(), BUILD_ID);
    let options = Options {
        piece: 0,
        ..Options::default()
    };
    let refused = Device::open(Fake::new(Config::default()), &options);
    assert!(matches!(refused, Err(Error::Option { .. })));
}

#[test]
fn the_block_is_told_of_the_link() {
    let link = |bytes_per_second| Link {
        bytes_per_second,
        clock: 125_000_000,
    };
    // Gen2 x4 at 125 MHz: 16 bytes a cycle, in 256ths, less one part in 64.
    for (link, pace) in [(Some(link(2_000_000_000)), 4032), (None, 0)] {
        let (fake, _device) = open(Config {
            link,
            ..Config::default()
        });
        assert_eq!(fake.lock().port_pace(), pace);
    }
}

/// Moves `length` bytes with guards around them, and checks every byte.
fn round(device: &Device, direction: Direction, kind: MemoryKind, range: (u64, u64, u64)) {
    let (offset, fpga, length) = range;
    let size = offset + length + 64;
    let memory = device.allocate(kind, size).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let peer = pattern(1, size as usize);
    let board = pattern(2, (length + 128) as usize);
    memory.write(0, &peer).unwrap();
    device
        .fpga_memory_backdoor_write(fpga - 64, &board)
        .unwrap();
    let queue = device.queue();
    let transfer = match direction {
        Direction::Write => queue.write(fpga, &region, offset, length),
        Direction::Read => queue.read(&region, offset, fpga, length),
    };
    assert_eq!(transfer.unwrap().wait(SECOND).unwrap(), length);

    let (mut peer_now, mut board_now) = (peer.clone(), board.clone());
    memory.read(0, &mut peer_now).unwrap();
    device
        .fpga_memory_backdoor_read(fpga - 64, &mut board_now)
        .unwrap();
    let (mut peer_wanted, mut board_wanted) = (peer, board);
    let peer_part = offset as usize..(offset + length) as usize;
    let board_part = 64..64 + length as usize;
    match direction {
        Direction::Write => peer_wanted[peer_part].copy_from_slice(&board_wanted[board_part]),
        Direction::Read => board_wanted[board_part].copy_from_slice(&peer_wanted[peer_part]),
    }
    assert!(
        peer_now == peer_wanted,
        "{direction} {kind:?} {range:?}: peer"
    );
    assert!(
        board_now == board_wanted,
        "{direction} {kind:?} {range:?}: board"
    );
}

#[test]
fn data_arrives_both_ways_and_nothing_else_changes() {
    let (_, device) = open(Config::default());
    for direction in Direction::BOTH {
        for kind in [MemoryKind::Host, MemoryKind::Gpu] {
            for range in [
                (0, 64, 1),
                (0, 4096, 4096),
                (1, 65, 4095),
                (4095, 127, 2),
                (0, 1 << 30, 64 * KIB),
                (12345, 54321, 3 * MIB + 7),
            ] {
                round(&device, direction, kind, range);
            }
        }
    }
}

#[test]
fn page_sizes_follow_the_memory() {
    for (granule, page_size, entries) in [
        (4 * KIB, PageSize::Kib4, 1024),
        (64 * KIB, PageSize::Kib64, 64),
        (64 * MIB, PageSize::Mib2, 2),
    ] {
        let (fake, device) = open(Config {
            gpu_granule: granule,
            ..Config::default()
        });
        let memory = device.allocate(MemoryKind::Gpu, 4 * MIB).unwrap();
        let region = device.register(&memory, Permissions::Read).unwrap();
        assert_eq!((region.page_size(), region.entries()), (page_size, entries));
        assert_eq!(fake.lock().valid_entries(), entries as usize);
    }
}

#[test]
fn ranges_of_a_memory_keep_their_offset() {
    let (_, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Host, MIB).unwrap();
    let range = 5000..5000 + 100 * KIB;
    let region = device
        .register_range(&memory, range, Permissions::ReadWrite)
        .unwrap();
    let data = pattern(9, 3000);
    device.fpga_memory_backdoor_write(0, &data).unwrap();
    let transfer = device.queue().write(0, &region, 7000, 3000).unwrap();
    transfer.wait(SECOND).unwrap();
    let mut found = vec![0; 3000];
    memory.read(12000, &mut found).unwrap();
    assert_eq!(found, data);
}

#[test]
fn what_is_out_of_bounds_is_refused_before_the_board_sees_it() {
    let (fake, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Host, 8192).unwrap();
    let region = device.register(&memory, Permissions::Read).unwrap();
    let queue = device.queue();
    let writes = fake.lock().seen.writes;
    let bounds = |result| matches!(result, Err(Error::Bounds { .. }));
    assert!(bounds(queue.read(&region, 8192, 0, 1).map(drop)));
    assert!(bounds(queue.read(&region, 1, 0, 8192).map(drop)));
    assert!(bounds(queue.read(&region, u64::MAX, 0, 2).map(drop)));
    assert!(bounds(memory.read(8190, &mut [0; 3])));
    assert!(bounds(memory.write(u64::MAX, &[0])));
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = device.register_range(&memory, 9..5, Permissions::Read);
    assert!(matches!(backwards, Err(Error::Empty)));
    assert!(bounds(
        device
            .register_range(&memory, 5..8193, Permissions::Read)
            .map(drop)
    ));
    assert!(matches!(queue.read(&region, 0, 0, 0), Err(Error::Empty)));
    assert!(matches!(
        queue.read(&region, 0, (1 << 40) - 1, 2),
        Err(Error::FpgaBounds { .. })
    ));
    assert!(matches!(
        queue.write(0, &region, 0, 1),
        Err(Error::Permission {
            direction: Direction::Write
        })
    ));
    assert_eq!(fake.lock().seen.writes, writes);
}

#[test]
fn handles_of_another_device_are_refused() {
    let (_, one) = open(Config::default());
    let (_, other) = open(Config::default());
    let memory = one.allocate(MemoryKind::Host, 4096).unwrap();
    let region = one.register(&memory, Permissions::Read).unwrap();
    assert!(matches!(
        other.register(&memory, Permissions::Read),
        Err(Error::Foreign { what: "memory" })
    ));
    assert!(matches!(
        other.queue().read(&region, 0, 0, 1),
        Err(Error::Foreign { what: "region" })
    ));
}

#[test]
fn a_full_att_says_so_and_recovers() {
    let (fake, device) = open(Config {
        att_log2: 8,
        ..Config::default()
    });
    let memory = device.allocate(MemoryKind::Host, MIB).unwrap();
    let all = device.register(&memory, Permissions::Read).unwrap();
    assert_eq!(all.entries(), 256);
    let error = device.register(&memory, Permissions::Read).unwrap_err();
    assert!(matches!(error, Error::AttFull(_)));
    assert!(error.to_string().contains("256"));
    drop(all);
    assert_eq!(fake.lock().valid_entries(), 0);
    assert!(device.register(&memory, Permissions::Read).is_ok());
}

#[test]
fn memory_out_of_reach_is_refused() {
    let (_, device) = open(Config {
        txs_addr_bits: 32,
        ..Config::default()
    });
    let memory = device.allocate(MemoryKind::Host, 4096).unwrap();
    assert!(matches!(
        device.register(&memory, Permissions::Read),
        Err(Error::Unreachable { bits: 32, .. })
    ));
}

#[test]
fn regions_and_memory_live_as_long_as_a_transfer_needs_them() {
    let (fake, device) = open(Config::default());
    let channel = device.channel().unwrap();
    let at_rest = fake.lock().memories();
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = device.register(&memory, Permissions::Write).unwrap();
    let data = pattern(3, MIB as usize);
    device.fpga_memory_backdoor_write(0, &data).unwrap();
    let transfer = channel.queue().write(0, &region, 0, MIB).unwrap();
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
    let (fake, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = device.register(&memory, Permissions::Write).unwrap();
    fake.lock().tricks.stuck = true;
    let transfer = device.queue().write(0, &region, 0, MIB).unwrap();
    drop((device, memory, region));
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
    let (fake, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Gpu, 8 * MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let queue = device.queue();
    // The third piece of the read: 2 MiB and 4096 bytes are moved.
    fake.lock().tricks.fault = Some((1, 2, 7, 4096));
    let read = queue.read(&region, 100, 0, 5 * MIB).unwrap();
    let write = queue.write(0, &region, 6 * MIB, MIB).unwrap();
    let error = read.wait(SECOND).unwrap_err();
    // The first piece stops at 4 KiB of the peer.
    let done = 2 * MIB - 100 + 4096;
    assert!(
        matches!(
            error,
            Error::Fault {
                direction: Direction::Read,
                fault: Fault::ReadTimeout,
                bytes_done,
                length,
                region_offset: Some(offset),
            } if bytes_done == done && length == 5 * MIB && offset == 100 + done
        ),
        "{error}"
    );
    assert!(error.remedy().contains("late answers"));
    // It stays so, and others are not touched.
    assert!(read.poll().is_err());
    assert_eq!(write.wait(SECOND).unwrap(), MIB);
    let next = queue.read(&region, 0, 0, MIB).unwrap();
    assert_eq!(next.wait(SECOND).unwrap(), MIB);
}

#[test]
fn protection_errors_of_the_board_are_told() {
    let (fake, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    // Somebody else overwrites the third entry.
    fake.lock().att[2].0 = 0;
    let transfer = device.queue().write(0, &region, 0, MIB).unwrap();
    assert!(matches!(
        transfer.wait(SECOND),
        Err(Error::Fault {
            fault: Fault::AttInvalid,
            bytes_done: 0x2_0000,
            region_offset: Some(0x2_0000),
            ..
        })
    ));
}

#[test]
fn a_stuck_board_times_out_and_a_reset_helps() {
    let (fake, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Host, MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let queue = device.queue();
    fake.lock().tricks.stuck = true;
    let transfer = queue.write(0, &region, 0, MIB).unwrap();
    let patience = Duration::from_millis(25);
    let start = device.now();
    let error = transfer.wait(patience).unwrap_err();
    assert!(matches!(error, Error::Timeout { waited, length: MIB, .. } if waited == patience));
    assert_eq!(device.now() - start, patience);
    // Only slow: it can be waited for again.
    fake.lock().tricks.stuck = false;
    assert_eq!(transfer.wait(SECOND).unwrap(), MIB);

    fake.lock().tricks.stuck = true;
    let transfer = queue.write(0, &region, 0, MIB).unwrap();
    assert!(transfer.wait(patience).is_err());
    device.reset().unwrap();
    fake.lock().tricks.stuck = false;
    assert!(matches!(
        transfer.wait(SECOND),
        Err(Error::Fault {
            fault: Fault::Aborted,
            bytes_done: 0,
            ..
        })
    ));
    let again = queue.write(0, &region, 0, MIB).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), MIB);
}

#[test]
fn a_device_that_goes_is_noticed() {
    let (fake, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Host, MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let queue = device.queue();
    let done = queue.read(&region, 0, 0, MIB).unwrap();
    done.wait(SECOND).unwrap();
    let transfer = queue.read(&region, 0, 0, MIB).unwrap();
    fake.lock().tricks.gone = true;
    assert!(matches!(transfer.wait(SECOND), Err(Error::Gone)));
    assert!(matches!(transfer.poll(), Err(Error::Gone)));
    assert!(matches!(queue.read(&region, 0, 0, 1), Err(Error::Gone)));
    assert!(matches!(device.status(), Err(Error::Gone)));
    assert!(matches!(device.reset(), Err(Error::Gone)));
    // What had ended has ended.
    assert_eq!(done.poll().unwrap(), Some(MIB));
}

#[test]
fn lost_and_repeated_records_are_noticed() {
    for lose in [true, false] {
        let (fake, device) = open(Config::default());
        let memory = device.allocate(MemoryKind::Host, MIB).unwrap();
        let region = device.register(&memory, Permissions::ReadWrite).unwrap();
        let queue = device.queue();
        fake.lock().tricks.lose_record = lose;
        fake.lock().tricks.repeat_record = !lose;
        let first = queue.read(&region, 0, 0, 4096).unwrap();
        let second = queue.read(&region, 0, 0, 4096).unwrap();
        assert!(matches!(second.wait(SECOND), Err(Error::Broken { .. })));
        assert!(first.poll().is_err() == lose);
        device.reset().unwrap();
        assert!(
            queue
                .read(&region, 0, 0, 4096)
                .unwrap()
                .wait(SECOND)
                .is_ok()
        );
    }
}

#[test]
fn a_refused_doorbell_is_noticed() {
    let (fake, device) = open(Config::default());
    let memory = device.allocate(MemoryKind::Host, MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    fake.lock().tricks.refuse_at = Some(0);
    let transfer = device.queue().read(&region, 0, 0, 4096).unwrap();
    let error = transfer.wait(SECOND).unwrap_err();
    assert!(error.to_string().contains("refused a doorbell"));
}
