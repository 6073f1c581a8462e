//! Transfers in numbers: many at once, larger than the queue, with few interrupts and
//! register accesses.

use crate::common::{MIB, SECOND, memory, open, registered, submit};
use crate::fake::Config;
use peerlane_host::{
    Direction, Error, Fault, MemoryKind, Permissions, Queue, Request, Terms, Transfer,
};
use proptest::prelude::*;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

fn small_queue(depth_log2: u32) -> Config {
    Config {
        depth_log2,
        ..Config::default()
    }
}

#[test]
fn a_gibibyte_takes_one_interrupt_and_few_accesses() {
    let (fake, _driver, device, queue) = open(Config {
        // All that the queues of one direction can hold: 4096.
        channels: 4,
        depth_log2: 10,
        gpu_granule: 1 << 30,
        ..Config::default()
    });
    let (_memory, region) = registered(&device, MemoryKind::Gpu, 1 << 30, Permissions::ReadWrite);
    assert_eq!(fake.lock().valid_entries(), 512);
    for direction in Direction::BOTH {
        let before = {
            let state = fake.lock();
            (state.seen.reads, state.seen.writes, state.seen.interrupts)
        };
        let request = Request {
            direction,
            region: &region,
            offset: 0,
            fpga_address: 0,
            length: 1 << 30,
            piece: None,
        };
        let transfer = queue.submit_with(&request, Terms::default()).unwrap();
        assert_eq!(transfer.wait(10 * SECOND).unwrap(), 1 << 30);
        let state = fake.lock();
        assert_eq!(state.seen.interrupts - before.2, 1);
        // 1024 pieces of seven dwords and a doorbell; one acknowledgement.
        assert_eq!(state.seen.writes - before.1, 1024 * 8 + 1);
        assert_eq!(state.seen.reads - before.0, 1);
        assert_eq!(state.seen.flushes, 0, "the block does that by itself");
    }
}

#[test]
fn every_piece_leaves_a_record_and_the_last_an_interrupt() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Gpu, 4 * MIB, Permissions::ReadWrite);
    let transfer = queue.from_fpga(77, region.part(0..4 * MIB)).unwrap();
    transfer.wait(SECOND).unwrap();
    let state = fake.lock();
    let control: Vec<u32> = state
        .seen
        .descriptors
        .iter()
        .map(|(_, _, d)| d[5])
        .collect();
    // Record; no flush except after the last piece; interrupt.
    assert_eq!(control, [0b101, 0b101, 0b101, 0b011]);
    let local: Vec<u32> = state
        .seen
        .descriptors
        .iter()
        .map(|(_, _, d)| d[2])
        .collect();
    assert_eq!(local, [77, 0x10_004d, 0x20_004d, 0x30_004d]);
}

#[test]
fn what_the_block_cannot_flush_is_flushed_for_it() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (memory, closed) = registered(&device, MemoryKind::Gpu, MIB, Permissions::Write);
    let open = device
        .register_all(&memory, Permissions::ReadWrite)
        .unwrap();
    queue
        .from_fpga(0, open.part(0..64))
        .unwrap()
        .wait(SECOND)
        .unwrap();
    queue
        .to_fpga(open.part(0..64), 0)
        .unwrap()
        .wait(SECOND)
        .unwrap();
    assert_eq!(fake.lock().seen.flushes, 0);
    queue
        .from_fpga(0, closed.part(0..64))
        .unwrap()
        .wait(SECOND)
        .unwrap();
    assert_eq!(fake.lock().seen.flushes, 1);
    fake.lock().tricks.fault = Some((0, 0, 3, 0));
    assert!(
        queue
            .from_fpga(0, open.part(0..64))
            .unwrap()
            .wait(SECOND)
            .is_err()
    );
    assert_eq!(fake.lock().seen.flushes, 2);
}

#[test]
fn a_write_that_cannot_be_flushed_is_no_success() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, closed) = registered(&device, MemoryKind::Gpu, MIB, Permissions::Write);
    fake.lock().tricks.no_flush = true;
    let write = queue.from_fpga(0, closed.part(0..64)).unwrap();
    for _ in 0..2 {
        assert!(matches!(write.wait(SECOND), Err(Error::Backend(_))));
    }
    fake.lock().tricks.no_flush = false;
    let write = queue.from_fpga(0, closed.part(0..64)).unwrap();
    assert_eq!(write.wait(SECOND).unwrap(), 64);
}

#[test]
fn a_transfer_behind_others_is_called_off_without_ending_them() {
    for direction in Direction::BOTH {
        let (_fake, _driver, device, queue) = open(Config::default());
        let (_long_memory, long_region) = memory(&device, 32 * MIB);
        let (_memory, region) = memory(&device, MIB);
        // The board has all of both transfers; another user's take ten milliseconds before this one's piece.
        let long = submit(&queue, direction, &long_region, 1 << 20, Terms::default());
        let short = submit(&queue, direction, &region, 1 << 20, Terms::default());
        let begin = device.now();
        let ended = short.stop(Duration::from_millis(1));
        assert!(matches!(ended, Ok(MIB)), "{direction}: {ended:?}");
        assert!(device.now() - begin > Duration::from_millis(5));
        assert_eq!(long.wait(SECOND).unwrap(), 32 * MIB, "{direction}");
        assert_eq!(queue.under_way(), 0);
        // A transfer that is stuck itself is not waited for: no other transfers are before it.
        let alone = submit(&queue, direction, &long_region, 1 << 20, Terms::default());
        assert!(matches!(alone.stop(Duration::ZERO), Err(Error::Stopped)));
    }
}

#[test]
fn others_that_are_stuck_do_not_hold_a_transfer_up_for_good() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = true;
    let write = |after_to_fpga| {
        let terms = Terms {
            after_to_fpga,
            ..Terms::default()
        };
        submit(&queue, Direction::FromFpga, &region, 1 << 20, terms)
    };
    let read = submit(
        &queue,
        Direction::ToFpga,
        &region,
        1 << 20,
        Terms::default(),
    );
    let (first, second) = (write(false), write(true));
    let begin = device.now();
    let stopped = second.stop(Duration::from_millis(1));
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    // 2 MiB at 64 MiB a second, and the grace.
    let took = (device.now() - begin).as_millis();
    assert!((32..40).contains(&took), "{took}");
    for other in [first, read] {
        assert!(matches!(other.wait(SECOND), Err(Error::Stopped)));
    }
}

#[test]
fn a_drain_that_is_late_says_how_many_are_left() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    let _reads = [0, 64].map(|offset| queue.to_fpga(region.part(offset..offset + 64), 0).unwrap());
    let error = queue.drain(Duration::from_micros(5)).unwrap_err();
    assert_eq!(error.to_string(), "2 transfers have not ended after 5µs");
    fake.lock().tricks.stuck = false;
    queue.drain(SECOND).unwrap();
}

#[test]
fn a_transfer_larger_than_the_queue_goes_on() {
    let (fake, _driver, device, queue) = open(small_queue(4));
    let (_memory, region) = registered(&device, MemoryKind::Gpu, 4 * MIB, Permissions::ReadWrite);
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: 4 * MIB,
        piece: Some(4096),
    };
    let transfer = queue.submit_with(&request, Terms::default()).unwrap();
    assert_eq!(transfer.wait(SECOND).unwrap(), 4 * MIB);
    let state = fake.lock();
    assert_eq!(state.seen.descriptors.len(), 1024);
    assert!(state.seen.interrupts <= 1024 / 4 + 1);
}

#[test]
fn polling_alone_brings_a_transfer_to_its_end() {
    let (fake, _driver, device, queue) = open(small_queue(2));
    let (_memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::ReadWrite);
    let request = Request {
        direction: Direction::ToFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: MIB,
        piece: Some(65536),
    };
    let transfer = queue.submit_with(&request, Terms::default()).unwrap();
    let reads = fake.lock().seen.reads;
    let (_other, other) = registered(&device, MemoryKind::Host, 4096, Permissions::ReadWrite);
    let mut rounds = 0;
    while transfer.poll().unwrap().is_none() {
        rounds += 1;
        assert!(rounds < 100);
        // Time passes in the wait for another transfer.
        let pause = queue.from_fpga(0, other.part(0..1)).unwrap();
        pause.wait(SECOND).unwrap();
    }
    assert!(fake.lock().seen.reads - reads <= 2 * rounds);
}

#[test]
fn after_a_fault_the_silent_rest_is_not_waited_for_in_vain() {
    // 100 pieces, 16 on the board: the interrupt of the last is never submitted.
    let (fake, _driver, device, queue) = open(small_queue(4));
    let (_memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::ReadWrite);
    for after in 0..40 {
        fake.lock().tricks.fault = Some((0, after, 2, 0));
        let request = Request {
            direction: Direction::FromFpga,
            region: &region,
            offset: 0,
            fpga_address: 0,
            length: 409_600,
            piece: Some(4096),
        };
        let transfer = queue.submit_with(&request, Terms::default()).unwrap();
        let start = device.now();
        let error = transfer.wait(SECOND).unwrap_err();
        let done = after as u64 * 4096;
        assert!(matches!(
            error,
            Error::Fault { fault: Fault::AttBounds, bytes_done, .. } if bytes_done == done
        ));
        assert!(device.now() - start < Duration::from_millis(1));
    }
}

#[test]
fn dropped_handles_do_not_stop_transfers() {
    let (fake, _driver, device, queue) = open(small_queue(3));
    let (memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::ReadWrite);
    fake.fpga_write(0, &[7; 65536]);
    for i in 0..16 {
        drop(
            queue
                .from_fpga(0, region.part(i * 65536..i * 65536 + 65536))
                .unwrap(),
        );
    }
    let last = queue.from_fpga(0, region.part(0..1)).unwrap();
    last.wait(SECOND).unwrap();
    assert_eq!(fake.lock().seen.descriptors.len(), 17);
    let mut bytes = vec![0; MIB as usize];
    memory.read(0, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 7));
}

#[derive(Debug, Clone)]
struct Order {
    direction: Direction,
    offset: u64,
    length: u64,
    piece: u32,
    wait: bool,
}

fn orders() -> impl Strategy<Value = Vec<Order>> {
    let order = (
        prop::sample::select(Direction::BOTH.to_vec()),
        0u64..200_000,
        1u64..50_000,
        prop_oneof![500u32..4096, 4096u32..40_000],
        prop::bool::weighted(0.2),
    );
    let order = order.prop_map(|(direction, offset, length, piece, wait)| Order {
        direction,
        offset,
        length,
        piece,
        wait,
    });
    prop::collection::vec(order, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random transfers in both directions through a small queue, several under way at once: the memories have the same
    /// content as after single copies.
    #[test]
    fn random_transfers_are_exact(orders in orders(), depth_log2 in 1u32..5) {
        let (fake, _driver, device, queue) = open(small_queue(depth_log2));
        // Writes go from FPGA address 0 to `to`; reads from `from` to FPGA address 1 MiB.
        let size = 256 << 10;
        let (to, to_region) = registered(&device, MemoryKind::Host, size, Permissions::Write);
        let (from, from_region) = registered(&device, MemoryKind::Gpu, size, Permissions::Read);
        let data: Vec<u8> = (0..size).map(|i| ((i * i) >> 7) as u8 | 1).collect();
        fake.fpga_write(0, &data);
        from.write(0, &data).unwrap();
        let mut wanted = [vec![0; size as usize], vec![0; size as usize]];
            let mut open: Vec<Transfer> = Vec::new();
        for order in orders {
            let Order { direction, offset, length, piece, wait } = order;
            let (side, region, fpga_address) = match direction {
                Direction::FromFpga => (0, &to_region, offset),
                Direction::ToFpga => (1, &from_region, MIB + offset),
            };
            let range = offset as usize..(offset + length) as usize;
            wanted[side][range.clone()].copy_from_slice(&data[range]);
            let piece = Some(piece);
            let request = Request { direction, region, offset, fpga_address, length, piece };
            open.push(queue.submit_with(&request, Terms::default()).unwrap());
            if wait {
                let transfer = open.remove(open.len() / 2);
                prop_assert_eq!(transfer.wait(SECOND).unwrap(), transfer.length());
            }
        }
        // Last first.
        for transfer in open.iter().rev() {
            prop_assert_eq!(transfer.wait(SECOND).unwrap(), transfer.length());
        }
        let mut found = vec![0; size as usize];
        to.read(0, &mut found).unwrap();
        prop_assert!(found == wanted[0]);
        fake.fpga_read(MIB, &mut found);
        prop_assert!(found == wanted[1]);
    }
}

/// A board that does nothing wakes no thread: a restart of the queue does, and the wakers of tasks may look at the
/// queue themselves.
#[test]
fn a_restart_wakes_tasks() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    let transfers: Vec<_> = (0..2)
        .map(|_| queue.from_fpga(0, region.part(0..4096)).unwrap())
        .collect();
    let stopped = |end: &Result<u64, Error>| matches!(end, Err(Error::Stopped));
    // A waker that looks at once, when it is woken.
    struct Looks(Queue, AtomicUsize);
    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            self.1.fetch_add(self.0.under_way() + 1, Ordering::Relaxed);
        }
    }
    let looks = Arc::new(Looks(queue.clone(), AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&looks));
    let mut context = Context::from_waker(&waker);
    assert!(pin!(transfers[0].ended()).poll(&mut context).is_pending());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| queue.block_on(transfers[1].ended()));
        std::thread::sleep(Duration::from_millis(20));
        queue.restart().unwrap();
        let end = waits.join().unwrap();
        assert!(stopped(&end), "{end:?}");
    });
    assert!(looks.1.load(Ordering::Relaxed) > 0, "nobody woke the task");
    let mut ended = pin!(transfers[0].ended());
    let result = ended.as_mut().poll(&mut context);
    let Poll::Ready(end) = result else {
        panic!("it was ended");
    };
    assert!(stopped(&end), "{end:?}");
}

/// Two tasks wait for one transfer, and both are woken.
#[test]
fn two_tasks_may_wait_for_one_transfer() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    let transfer = queue.from_fpga(0, region.part(0..4096)).unwrap();
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let counts = [0, 1].map(|_| Arc::new(Count(AtomicUsize::new(0))));
    for count in &counts {
        let waker = Waker::from(Arc::clone(count));
        let mut context = Context::from_waker(&waker);
        assert!(pin!(transfer.ended()).poll(&mut context).is_pending());
        // A second poll does not add it twice.
        assert!(pin!(transfer.ended()).poll(&mut context).is_pending());
    }
    fake.lock().tricks.stuck = false;
    assert_eq!(queue.block_on(transfer.ended()).unwrap(), 4096);
    for count in &counts {
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}

/// A task that only its waker keeps alive, and that has the transfer, is dropped when no task waits for it any more.
#[test]
fn a_waker_may_be_the_last_that_has_a_transfer() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    let kept = queue.from_fpga(0, region.part(0..4096)).unwrap();
    struct Keeps(#[expect(dead_code, reason = "kept until the waker goes")] Transfer);
    impl Wake for Keeps {
        fn wake(self: Arc<Self>) {}
    }
    let other = queue.from_fpga(0, region.part(0..4096)).unwrap();
    let waker = Waker::from(Arc::new(Keeps(kept)));
    let mut context = Context::from_waker(&waker);
    assert!(pin!(other.ended()).poll(&mut context).is_pending());
    drop(waker);
    drop(other);
    fake.lock().tricks.stuck = false;
    queue.drain(SECOND).unwrap();
}

/// All tasks get the error of a board that fails, and later tasks do, too.
#[test]
fn tasks_hear_of_a_board_that_is_gone() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    fake.lock().tricks.stuck = true;
    let transfers = [0, 1].map(|_| queue.from_fpga(0, region.part(0..4096)).unwrap());
    fake.lock().tricks.gone = true;
    let (sent, ends) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for transfer in &transfers {
            let (sent, queue) = (sent.clone(), &queue);
            scope.spawn(move || sent.send(queue.block_on(transfer.ended())).unwrap());
        }
        for _ in &transfers {
            let end = ends.recv_timeout(Duration::from_secs(20));
            let end = end.expect("a task waits for ever");
            assert!(matches!(end, Err(Error::Gone)), "{end:?}");
        }
    });
}

/// Several threads with a task each do not wait for each other's seconds.
#[test]
fn many_threads_block_on_tasks() {
    let (_fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let transfer = queue.from_fpga(0, region.part(0..4096)).unwrap();
                    assert_eq!(queue.block_on(transfer.ended()).unwrap(), 4096);
                }
            });
        }
    });
}
