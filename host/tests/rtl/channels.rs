//! Channels on the real RTL.

use crate::{KIB, MIB, SECOND, open, open_on, pattern};
use peerlane_host::{
    Channel, ChannelOptions, Device, Direction, Error, Fault, Memory, MemoryKind, Options,
    Permissions, Request, SimBoard, Terms, Transfer,
};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits};
use std::ops::Range;
use std::time::Duration;

fn with_range(device: &Device, range: Range<u64>) -> Channel {
    let options = ChannelOptions {
        range: Some(range),
        ..ChannelOptions::default()
    };
    device.channel_with(&options).unwrap()
}

#[track_caller]
fn fault_of(transfer: &Transfer) -> (Fault, u64) {
    match transfer.wait(SECOND) {
        Err(Error::Fault {
            fault, bytes_done, ..
        }) => (fault, bytes_done),
        other => panic!("no fault: {other:?}"),
    }
}

fn fpga(device: &Device, address: u64, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    device
        .fpga_memory_backdoor_read(address, &mut bytes)
        .unwrap();
    bytes
}

fn peer(memory: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; memory.length() as usize];
    memory.read(0, &mut bytes).unwrap();
    bytes
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn two_channels_at_once() {
    let (_, device) = open(&Options {
        piece: 4096,
        ..Options::default()
    });
    let length = MIB;
    let mut work = Vec::new();
    for index in 0..2u64 {
        let base = index * 16 * MIB;
        let channel = with_range(&device, base..base + 8 * MIB);
        let (out, into) = (
            pattern(3 + index as u8, MIB as usize),
            pattern(7, MIB as usize),
        );
        device.fpga_memory_backdoor_write(base, &out).unwrap();
        let to = device.allocate(MemoryKind::Gpu, length).unwrap();
        let from = device.allocate(MemoryKind::Host, length).unwrap();
        from.write(0, &into).unwrap();
        let to_region = channel.register(&to, Permissions::Write).unwrap();
        let from_region = channel.register(&from, Permissions::Read).unwrap();
        work.push((channel, base, out, into, to, to_region, from_region));
    }
    let mut transfers = Vec::new();
    for (channel, base, _, _, _, to_region, from_region) in &work {
        let queue = channel.queue();
        transfers.push(queue.write(*base, to_region, 0, length).unwrap());
        transfers.push(queue.read(from_region, 0, base + 4 * MIB, length).unwrap());
    }
    // Each has its share: nobody waits for the other's whole transfer.
    let start = device.now();
    transfers[0].wait(SECOND).unwrap();
    let first = device.now() - start;
    transfers[2].wait(SECOND).unwrap();
    let second = device.now() - start;
    assert!(second < first * 5 / 4, "{first:?}, {second:?}");
    for transfer in &transfers {
        assert_eq!(transfer.wait(SECOND).unwrap(), length);
    }
    for (_, base, out, into, to, _, _) in &work {
        assert!(peer(to) == *out);
        assert!(fpga(&device, base + 4 * MIB, length) == *into);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_board_keeps_channels_apart() {
    let (_, device) = open(&Options::default());
    let one = with_range(&device, MIB..2 * MIB);
    let two = with_range(&device, 4 * MIB..8 * MIB);
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let before = pattern(9, MIB as usize);
    memory.write(0, &before).unwrap();
    let ones = one.register(&memory, Permissions::ReadWrite).unwrap();
    let both = device
        .register_for(&memory, 0..MIB, Permissions::ReadWrite, &[&one, &two])
        .unwrap();
    let queue = two.queue();
    let write = queue.write(4 * MIB, &ones, 0, 64 * KIB).unwrap();
    let read = queue.read(&ones, 0, 4 * MIB, 64 * KIB).unwrap();
    for transfer in [&write, &read] {
        assert_eq!(fault_of(transfer), (Fault::AttOwner, 0));
    }
    // Outside of its range, inside of the other's.
    for (start, length) in [(MIB, 64), (4 * MIB - 1, 64), (8 * MIB - 63, 64), (0, 1)] {
        let write = queue.write(start, &both, 0, length).unwrap();
        let read = queue.read(&both, 0, start, length).unwrap();
        for transfer in [&write, &read] {
            assert_eq!(fault_of(transfer), (Fault::LocalRange, 0), "{start:#x}");
        }
    }
    assert!(peer(&memory) == before);
    assert!(fpga(&device, 0, 9 * MIB).iter().all(|byte| *byte == 0));
    // The same where it may, up to the last byte.
    let read = queue.read(&both, 5, 8 * MIB - 63, 63).unwrap();
    assert_eq!(read.wait(SECOND).unwrap(), 63);
    assert!(fpga(&device, 8 * MIB - 63, 63) == before[5..68]);
    let read = one.queue().read(&ones, 0, MIB, MIB).unwrap();
    assert_eq!(read.wait(SECOND).unwrap(), MIB);
    assert!(fpga(&device, MIB, MIB) == before);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn chained_transfers_hand_data_on() {
    let (_, device) = open(&Options {
        piece: 4096,
        ..Options::default()
    });
    let length = 256 * KIB;
    let queue = device.channel().unwrap().queue();
    let from = device.allocate(MemoryKind::Host, length).unwrap();
    let to = device.allocate(MemoryKind::Gpu, length).unwrap();
    let data = pattern(5, length as usize);
    from.write(0, &data).unwrap();
    let from_region = device.register(&from, Permissions::Read).unwrap();
    let to_region = device.register(&to, Permissions::ReadWrite).unwrap();
    let submit = |direction, region, fpga, (from, to): (u64, u64), terms| {
        let request = Request {
            direction,
            region,
            offset: from,
            fpga_address: fpga + from,
            length: to - from,
            piece: None,
        };
        queue.submit_with(&request, terms).unwrap()
    };
    let after_reads = Terms {
        after_reads: true,
        ..Terms::default()
    };
    let after_writes = Terms {
        after_writes: true,
        ..Terms::default()
    };
    let plain = Terms::default();
    // In, out to the GPU, and in again from there: 64 pieces each, through queues of 32, and
    // each begins with what the one before does last. Only the order makes the data right;
    // all are submitted before the first has begun.
    let tail = (length - 4 * KIB, length);
    let rest = (0, length - 4 * KIB);
    let middle = (length - 8 * KIB, length - 4 * KIB);
    let transfers = [
        submit(Direction::Read, &from_region, 0, (0, length), plain),
        submit(Direction::Write, &to_region, 0, tail, after_reads),
        submit(Direction::Write, &to_region, 0, rest, plain),
        submit(Direction::Read, &to_region, MIB, middle, after_writes),
        submit(
            Direction::Read,
            &to_region,
            MIB,
            (0, length - 8 * KIB),
            plain,
        ),
        submit(Direction::Read, &to_region, MIB, tail, plain),
    ];
    for transfer in &transfers {
        assert_eq!(transfer.wait(SECOND).unwrap(), transfer.length());
    }
    assert!(peer(&to) == data, "out");
    assert!(fpga(&device, MIB, length) == data, "in again");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_drained_channel_is_at_rest_and_goes_on() {
    let (_, device) = open(&Options::default());
    let channel = device.channel().unwrap();
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = channel.register(&memory, Permissions::ReadWrite).unwrap();
    let queue = channel.queue();
    for round in 0..2 {
        let transfers = [
            queue.write(0, &region, 0, MIB / 2).unwrap(),
            queue.read(&region, MIB / 2, MIB, MIB / 2).unwrap(),
        ];
        let soon = Duration::from_micros(20);
        assert!(matches!(channel.drain(soon), Err(Error::NotDrained { .. })));
        channel.drain(SECOND).unwrap();
        let status = device.status().unwrap();
        assert!(!status.write_busy && !status.read_busy, "round {round}");
        for transfer in &transfers {
            assert_eq!(transfer.poll().unwrap(), Some(MIB / 2));
        }
    }
}

/// A board whose GPU never answers reads of one place.
fn with_a_hole() -> (SimBoard, Device) {
    let (board, device) = open(&Options {
        // 40 us at 250 MHz.
        port_timeout_cycles: Some(10_000),
        ..Options::default()
    });
    let bar = board.with(|board| board.gpu().bar_base());
    let hits = Hits::Addresses(bar..bar + 64);
    let answer = Answer::Never;
    board.with(|board| board.bus_mut().inject(FaultRule { hits, answer }));
    (board, device)
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_abort_ends_one_channel_in_bounded_time() {
    let (_, device) = open(&Options {
        piece: 16 << 10,
        ..Options::default()
    });
    let (one, two) = (device.channel().unwrap(), device.channel().unwrap());
    let memory = device.allocate(MemoryKind::Gpu, 8 * MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let both = |channel: &Channel| {
        let queue = channel.queue();
        [
            queue.write(0, &region, 0, 2 * MIB).unwrap(),
            queue.read(&region, 4 * MIB, 16 * MIB, 2 * MIB).unwrap(),
        ]
    };
    let (aborted, others) = (both(&one), both(&two));
    assert!(matches!(
        aborted[0].wait(Duration::from_micros(30)),
        Err(Error::Timeout { .. })
    ));
    let start = device.now();
    one.abort().unwrap();
    // What was on the way at most, and a few register accesses.
    assert!(device.now() - start < Duration::from_micros(100));
    for transfer in &aborted {
        assert!(matches!(
            transfer.poll(),
            Err(Error::Fault {
                fault: Fault::Aborted,
                bytes_done: 1..,
                ..
            })
        ));
    }
    for transfer in &others {
        assert_eq!(transfer.wait(SECOND).unwrap(), 2 * MIB);
    }
    for transfer in both(&one) {
        assert_eq!(transfer.wait(SECOND).unwrap(), 2 * MIB);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_abort_does_not_wait_for_the_link() {
    let (board, device) = with_a_hole();
    let (one, two) = (device.channel().unwrap(), device.channel().unwrap());
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let read = one.queue().read(&region, 0, 0, MIB).unwrap();
    let write = two.queue().write(0, &region, 64 * KIB, 64 * KIB).unwrap();
    let start = device.now();
    one.abort().unwrap();
    // The block gives the read up after 40 us.
    assert!(device.now() - start < Duration::from_micros(120));
    assert!(matches!(read.poll(), Err(Error::Fault { .. })));
    // The GPU does not answer the flush either while the port is in quarantine; the data
    // have gone.
    assert!(write.wait(SECOND).is_ok() || fault_of(&write).1 == 64 * KIB);
    board.with(|board| {
        board.bus_mut().clear_faults();
        board.link_reset();
    });
    device.release_read_quarantine().unwrap();
    let read = one.queue().read(&region, 0, 0, MIB).unwrap();
    assert_eq!(read.wait(SECOND).unwrap(), MIB);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_channel_comes_back_when_its_last_handle_goes() {
    // The simulated board counts every access to memory that was given back as an error.
    let (_, device) = open(&Options::default());
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = device.register(&memory, Permissions::ReadWrite).unwrap();
    let data = pattern(1, MIB as usize);
    device.fpga_memory_backdoor_write(0, &data).unwrap();
    let channels: Vec<_> = (0..8).map(|_| device.channel().unwrap()).collect();
    assert!(matches!(
        device.channel(),
        Err(Error::ChannelsTaken { channels: 8 })
    ));
    for (channel, offset) in channels.iter().zip((0..).step_by(128 << 10)) {
        let queue = channel.queue();
        drop(queue.write(offset, &region, offset, 128 * KIB).unwrap());
    }
    drop(channels);
    assert!(peer(&memory) == data, "dropped channels ended their work");
    for round in 0..3 {
        let options = ChannelOptions {
            drain: Duration::from_micros(10),
            ..ChannelOptions::default()
        };
        let channel = device.channel_with(&options).unwrap();
        assert_eq!(channel.number(), 0, "round {round}");
        let scratch = device.allocate(MemoryKind::Gpu, 4 * MIB).unwrap();
        let region = channel.register(&scratch, Permissions::ReadWrite).unwrap();
        let queue = channel.queue();
        drop(queue.write(0, &region, 0, 4 * MIB).unwrap());
        drop(queue.read(&region, 0, 8 * MIB, 4 * MIB).unwrap());
        drop(region);
        drop(scratch);
        // Too much for 10 us: the rest is aborted, and the memory goes at once.
        let start = device.now();
        drop((channel, queue));
        assert!(device.now() - start < Duration::from_micros(200));
    }
    let channel = device.channel().unwrap();
    let read = channel.queue().read(&region, 0, 32 * MIB, MIB).unwrap();
    assert_eq!(read.wait(SECOND).unwrap(), MIB);
    assert!(fpga(&device, 32 * MIB, MIB) == data);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_region_goes_while_others_are_used() {
    let (_, device) = open(&Options {
        piece: 4096,
        ..Options::default()
    });
    let channel = device.channel().unwrap();
    let busy = device.allocate(MemoryKind::Gpu, 2 * MIB).unwrap();
    let region = device.register(&busy, Permissions::ReadWrite).unwrap();
    let queue = channel.queue();
    let transfers = [
        queue.write(0, &region, 0, MIB).unwrap(),
        queue.read(&region, MIB, 4 * MIB, MIB).unwrap(),
    ];
    for _ in 0..16 {
        let other = device.allocate(MemoryKind::Host, 256 * KIB).unwrap();
        let other = device.register(&other, Permissions::ReadWrite).unwrap();
        let transfer = channel.queue().write(0, &other, 0, 64).unwrap();
        drop(other);
        drop(transfer);
    }
    for transfer in &transfers {
        assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
    }
    channel.drain(SECOND).unwrap();
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_revoked_region_is_not_touched_any_more() {
    // The simulated board counts every access to memory that was given back as an error, as
    // it arrives. So slow a GPU that a lot is on the way.
    let mut config = BoardConfig::default();
    config.gpu.read_round_trip_ns = 3000;
    let (board, device) = open_on(&Options::default(), config);
    board.with(|board| board.set_txs_backpressure(Backpressure::Random(40)));
    let channel = device.channel().unwrap();
    let other = device.allocate(MemoryKind::Host, MIB).unwrap();
    let others = device.register(&other, Permissions::ReadWrite).unwrap();
    for round in 0..12u64 {
        let memory = device.allocate(MemoryKind::Gpu, 2 * MIB).unwrap();
        let region = channel.register(&memory, Permissions::ReadWrite).unwrap();
        let queue = channel.queue();
        let ended = [
            queue.write(0, &region, 0, 2 * MIB).unwrap(),
            queue.read(&region, 0, 8 * MIB, 2 * MIB).unwrap(),
        ];
        let goes_on = queue.write(0, &others, 0, 64 * KIB).unwrap();
        let soon = Duration::from_nanos(20_000 + 137 * round);
        assert!(matches!(ended[0].wait(soon), Err(Error::Timeout { .. })));
        region.revoke().unwrap();
        drop(memory);
        for transfer in &ended {
            let (fault, bytes) = fault_of(transfer);
            assert_eq!(fault, Fault::AttInvalid);
            assert!(bytes < 2 * MIB, "{bytes}");
        }
        assert_eq!(goes_on.wait(SECOND).unwrap(), 64 * KIB);
        assert!(matches!(queue.write(0, &region, 0, 1), Err(Error::Revoked)));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn counters_count_what_was_moved() {
    let (_, device) = open_on(&Options::default(), BoardConfig::default());
    let (one, two) = (device.channel().unwrap(), device.channel().unwrap());
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = one.register(&memory, Permissions::ReadWrite).unwrap();
    let before = device.counters().unwrap();
    let write = one.queue().write(0, &region, 0, 64 * KIB).unwrap();
    let read = one.queue().read(&region, 0, MIB, 32 * KIB).unwrap();
    write.wait(SECOND).unwrap();
    read.wait(SECOND).unwrap();
    let refused = two.queue().read(&region, 0, MIB, 64).unwrap();
    assert_eq!(fault_of(&refused).0, Fault::AttOwner);
    let after = device.counters().unwrap();
    let [mine, others] = [0, 1].map(|n| (before.channels[n], after.channels[n]));
    assert_eq!(mine.1.write.bytes - mine.0.write.bytes, 64 << 10);
    assert_eq!(mine.1.read.bytes - mine.0.read.bytes, 32 << 10);
    assert_eq!(mine.1.write.descriptors - mine.0.write.descriptors, 1);
    // 512 bytes a request.
    assert_eq!(mine.1.read.requests - mine.0.read.requests, 64);
    assert_eq!(others.1.read.descriptors - others.0.read.descriptors, 1);
    assert_eq!(others.1.read.att_faults - others.0.read.att_faults, 1);
    assert_eq!(others.1.read.bytes, others.0.read.bytes);
    assert_eq!(after.block.records - before.block.records, 3);
    assert!(after.block.write_busy > before.block.write_busy);
    assert_eq!(one.counters().unwrap(), mine.1);
}
