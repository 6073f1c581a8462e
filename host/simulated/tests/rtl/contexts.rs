//! Contexts on the real RTL.

use crate::{KIB, MIB, SECOND, gpu, link_goes_down, open, open_all, open_on, pattern, registered};
use peerlane_host::driver::{Driver, Options};
use peerlane_host::{
    Device, Direction, Error, Fault, Memory, MemoryKind, Permissions, Queue, Region, Request,
    Terms, Transfer,
};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits};
use peerlane_simulated::SimBoard;
use std::time::Duration;

/// Opens a context with some FPGA memory; returns its first byte.
fn open_with(driver: &Driver, bytes: u64) -> (Device, Queue, u64) {
    let device = driver.open().unwrap();
    let start = device.allocate(bytes).unwrap().keep().start;
    let queue = device.queue().unwrap();
    (device, queue, start)
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

fn fpga(board: &SimBoard, address: u64, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    board.fpga_read(address, &mut bytes).unwrap();
    bytes
}

fn peer(memory: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; memory.length()];
    memory.read(0, &mut bytes).unwrap();
    bytes
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn two_contexts_at_once() {
    let (board, driver) = open(&Options::default());
    let length = MIB;
    let mut work = Vec::new();
    for index in 0..2u8 {
        let (device, queue, base) = open_with(&driver, 2 * MIB);
        // All of it goes to the board at once: a wait for one queue gives the board no descriptors of another.
        queue.set_piece(64 << 10);
        let (out, into) = (pattern(3 + index, MIB as usize), pattern(7, MIB as usize));
        board.fpga_write(base, &out).unwrap();
        let to = registered(&device, MemoryKind::Gpu, length, Permissions::Write);
        let from = registered(&device, MemoryKind::Host, length, Permissions::Read);
        from.0.write(0, &into).unwrap();
        work.push((queue, base, out, into, to, from));
    }
    let mut transfers = Vec::new();
    let start = driver.now();
    for (queue, base, _, _, (_, to), (_, from)) in &work {
        transfers.push(queue.from_fpga(*base, to.part(0..length)).unwrap());
        transfers.push(queue.to_fpga(from.part(0..length), base + MIB).unwrap());
    }
    // Each has its share: neither waits for the other's whole transfer.
    transfers[0].wait(SECOND).unwrap();
    let first = driver.now() - start;
    transfers[2].wait(SECOND).unwrap();
    let second = driver.now() - start;
    assert!(second < first * 5 / 4, "{first:?}, {second:?}");
    for transfer in &transfers {
        assert_eq!(transfer.wait(SECOND).unwrap(), length);
    }
    for (_, base, out, into, (to, _), _) in &work {
        assert!(peer(to) == *out);
        assert!(fpga(&board, base + MIB, length) == *into);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn chained_transfers_hand_data_on() {
    let (board, driver) = open(&Options::default());
    let (device, queue) = open_all(&driver);
    let length = 256 * KIB;
    let (from, from_region) = registered(&device, MemoryKind::Host, length, Permissions::Read);
    let (to, to_region) = gpu(&device, length);
    let data = pattern(5, length as usize);
    from.write(0, &data).unwrap();
    let submit = |direction, region: &Region, fpga, (from, to): (u64, u64), terms| {
        let request = Request {
            direction,
            region,
            offset: from,
            fpga_address: fpga + from,
            length: to - from,
            piece: Some(4096),
        };
        queue.submit_with(&request, terms).unwrap()
    };
    let after_to_fpga = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let after_from_fpga = Terms {
        after_from_fpga: true,
        ..Terms::default()
    };
    let plain = Terms::default();
    // In, out to the GPU, and in again from there: 64 pieces each, through queues of 32, and each transfer begins with
    // the bytes that the one before moves last. Only the order makes the data right. All are submitted before the first
    // has begun.
    let tail = (length - 4 * KIB, length);
    let rest = (0, length - 4 * KIB);
    let middle = (length - 8 * KIB, length - 4 * KIB);
    let head = (0, length - 8 * KIB);
    let transfers = [
        submit(Direction::ToFpga, &from_region, 0, (0, length), plain),
        submit(Direction::FromFpga, &to_region, 0, tail, after_to_fpga),
        submit(Direction::FromFpga, &to_region, 0, rest, plain),
        submit(Direction::ToFpga, &to_region, MIB, middle, after_from_fpga),
        submit(Direction::ToFpga, &to_region, MIB, head, plain),
        submit(Direction::ToFpga, &to_region, MIB, tail, plain),
    ];
    for transfer in &transfers {
        assert_eq!(transfer.wait(SECOND).unwrap(), transfer.length());
    }
    assert!(peer(&to) == data, "out");
    assert!(fpga(&board, MIB, length) == data, "in again");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_stopped_channel_is_at_rest_and_goes_on() {
    let (_, driver) = open(&Options::default());
    let (device, queue) = open_all(&driver);
    let (_memory, region) = gpu(&device, MIB);
    for round in 0..2 {
        let transfers = [
            queue.from_fpga(0, region.part(0..MIB / 2)).unwrap(),
            queue
                .to_fpga(region.part(MIB / 2..MIB / 2 + MIB / 2), MIB)
                .unwrap(),
        ];
        let soon = Duration::from_micros(20);
        assert!(matches!(queue.drain(soon), Err(Error::NotDrained { .. })));
        assert!(!device.stop(SECOND).unwrap(), "round {round}");
        let status = driver.status().unwrap();
        assert!(!status.write_busy && !status.read_busy, "round {round}");
        for transfer in &transfers {
            assert_eq!(transfer.poll().unwrap(), Some(MIB / 2));
        }
    }
}

/// Opens a board whose GPU never answers reads of one place.
fn with_a_hole() -> (SimBoard, Driver) {
    let (board, driver) = open(&Options {
        // 40 us at 250 MHz.
        port_timeout_cycles: Some(10_000),
        ..Options::default()
    });
    let bar = board.with(|board| board.gpu().bar_base());
    let hits = Hits::Addresses(bar..bar + 64);
    let answer = Answer::Never;
    board.with(|board| board.bus_mut().inject(FaultRule { hits, answer }));
    (board, driver)
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_restart_ends_one_context_in_bounded_time() {
    let (_, driver) = open(&Options::default());
    let contexts = [open_with(&driver, 4 * MIB), open_with(&driver, 4 * MIB)];
    let buffers = [gpu(&contexts[0].0, 8 * MIB), gpu(&contexts[1].0, 8 * MIB)];
    let both = |index: usize| {
        let (_, queue, place) = &contexts[index];
        let (_, region) = &buffers[index];
        queue.set_piece(16 << 10);
        [
            queue.from_fpga(*place, region.part(0..2 * MIB)).unwrap(),
            queue
                .to_fpga(region.part(4 * MIB..4 * MIB + 2 * MIB), place + 2 * MIB)
                .unwrap(),
        ]
    };
    let (ended, others) = (both(0), both(1));
    assert!(matches!(
        ended[0].wait(Duration::from_micros(30)),
        Err(Error::Timeout { .. })
    ));
    let start = driver.now();
    contexts[0].1.restart().unwrap();
    // At most the time for requests that were on the way, and a few register accesses.
    assert!(driver.now() - start < Duration::from_micros(100));
    for transfer in &ended {
        assert!(matches!(transfer.poll(), Err(Error::Stopped)));
    }
    for transfer in &others {
        assert_eq!(transfer.wait(SECOND).unwrap(), 2 * MIB);
    }
    for transfer in both(0) {
        assert_eq!(transfer.wait(SECOND).unwrap(), 2 * MIB);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_stop_does_not_wait_for_the_link() {
    let (board, driver) = with_a_hole();
    // Zeroing would read from the host, not from the hole.
    let (one, queue, place) = open_with(&driver, MIB);
    let (two, others, theirs) = open_with(&driver, MIB);
    let (_memory, region) = gpu(&one, MIB);
    let (_theirs, of_theirs) = gpu(&two, MIB);
    let read = queue.to_fpga(region.part(0..MIB), place).unwrap();
    let write = others
        .from_fpga(theirs, of_theirs.part(64 * KIB..64 * KIB + 64 * KIB))
        .unwrap();
    let start = driver.now();
    queue.restart().unwrap();
    // The block gives up the read after 40 us.
    assert!(driver.now() - start < Duration::from_micros(120));
    assert!(read.poll().is_err());
    // The GPU does not answer the flush either while the port is in quarantine; the data have left.
    assert!(write.wait(SECOND).is_ok() || fault_of(&write).1 == 64 * KIB);
    link_goes_down(&board, &driver);
    one.query().unwrap();
    let read = queue.to_fpga(region.part(0..MIB), place).unwrap();
    assert_eq!(read.wait(SECOND).unwrap(), MIB);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_channel_comes_back_when_its_last_handle_goes() {
    // The simulated board counts every access to freed memory as an error.
    let (_, driver) = open(&Options::default());
    let others: Vec<_> = (0..7).map(|_| driver.open().unwrap()).collect();
    for round in 0..3 {
        let (device, queue) = open_all(&driver);
        assert_eq!(device.info().channel, 7, "round {round}");
        assert!(matches!(
            driver.open(),
            Err(Error::ChannelsTaken { channels: 8 })
        ));
        let (scratch, region) = gpu(&device, 4 * MIB);
        drop(queue.from_fpga(0, region.part(0..4 * MIB)).unwrap());
        drop(queue.to_fpga(region.part(0..4 * MIB), 8 * MIB).unwrap());
        drop(region);
        drop(scratch);
        // Transfers under way are aborted, and the memory is freed at once.
        let start = driver.now();
        drop((device, queue));
        assert!(driver.now() - start < Duration::from_micros(200));
    }
    drop(others);
    let (device, queue) = open_all(&driver);
    let (memory, region) = gpu(&device, MIB);
    let data = pattern(1, MIB as usize);
    memory.write(0, &data).unwrap();
    let read = queue.to_fpga(region.part(0..MIB), 32 * MIB).unwrap();
    assert_eq!(read.wait(SECOND).unwrap(), MIB);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_region_goes_while_others_are_used() {
    let (_, driver) = open(&Options::default());
    let (device, queue) = open_all(&driver);
    queue.set_piece(4096);
    let (_busy, region) = gpu(&device, 2 * MIB);
    let transfers = [
        queue.from_fpga(0, region.part(0..MIB)).unwrap(),
        queue.to_fpga(region.part(MIB..MIB + MIB), 4 * MIB).unwrap(),
    ];
    for _ in 0..16 {
        let both = Permissions::ReadWrite;
        let (memory, other) = registered(&device, MemoryKind::Host, 256 * KIB, both);
        drop(memory);
        let transfer = queue.from_fpga(0, other.part(0..64)).unwrap();
        drop(other);
        drop(transfer);
    }
    for transfer in &transfers {
        assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
    }
    queue.drain(SECOND).unwrap();
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_forgotten_region_is_not_touched_any_more() {
    // The simulated board counts every access to freed memory as an error, when it arrives. The GPU is so slow that
    // many requests are on the way.
    let mut config = BoardConfig::default();
    config.gpu.read_round_trip_ns = 3000;
    let (board, driver) = open_on(&Options::default(), config);
    board.with(|board| board.set_txs_backpressure(Backpressure::Random(40)));
    let (device, queue) = open_all(&driver);
    let both = Permissions::ReadWrite;
    let (_other, others) = registered(&device, MemoryKind::Host, MIB, both);
    for round in 0..12u64 {
        let (memory, region) = gpu(&device, 2 * MIB);
        let ended = [
            queue.from_fpga(0, region.part(0..2 * MIB)).unwrap(),
            queue.to_fpga(region.part(0..2 * MIB), 8 * MIB).unwrap(),
        ];
        let goes_on = queue.from_fpga(0, others.part(0..64 * KIB)).unwrap();
        let soon = Duration::from_nanos(20_000 + 137 * round);
        assert!(matches!(ended[0].wait(soon), Err(Error::Timeout { .. })));
        region.forget().unwrap();
        drop(memory);
        for transfer in &ended {
            let (fault, bytes) = fault_of(transfer);
            assert_eq!(fault, Fault::AttInvalid);
            assert!(bytes < 2 * MIB, "{bytes}");
        }
        assert_eq!(goes_on.wait(SECOND).unwrap(), 64 * KIB);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn counters_count_what_was_moved() {
    let (_, driver) = open(&Options::default());
    let (device, queue) = open_all(&driver);
    let (_memory, region) = gpu(&device, MIB);
    let before = driver.counters().unwrap();
    let write = queue.from_fpga(0, region.part(0..64 * KIB)).unwrap();
    let read = queue.to_fpga(region.part(0..32 * KIB), MIB).unwrap();
    write.wait(SECOND).unwrap();
    read.wait(SECOND).unwrap();
    // A transfer that the board refuses in the middle.
    let cut = queue
        .to_fpga(region.part(64 * KIB..64 * KIB + 512 * KIB), MIB)
        .unwrap();
    let soon = Duration::from_micros(20);
    assert!(matches!(cut.wait(soon), Err(Error::Timeout { .. })));
    region.forget().unwrap();
    let (fault, cut) = fault_of(&cut);
    assert_eq!(fault, Fault::AttInvalid);
    let after = driver.counters().unwrap();
    let [was, is] = [before.channels[0], after.channels[0]];
    assert_eq!(is.write.bytes - was.write.bytes, 64 << 10);
    // Answers to earlier requests may have come after a gap.
    let read = is.read.bytes - was.read.bytes;
    assert!((32 * KIB + cut..544 * KIB).contains(&read), "{read}, {cut}");
    assert_eq!(is.write.descriptors - was.write.descriptors, 1);
    assert_eq!(is.read.descriptors - was.read.descriptors, 2);
    assert_eq!(is.read.att_faults - was.read.att_faults, 1);
    assert_eq!(after.block.records - before.block.records, 3);
    assert!(after.block.write_busy > before.block.write_busy);
}
