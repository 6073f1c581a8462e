//! Calls of the library to a context, and their times: with concurrent threads, and in a child after a fork.

mod least;

use least::Least;
use peerlane_host::{
    Context, Course, Device, Direction, Errno, Error, Fault, Memory, MemoryKind, Permissions,
    Queue, Region, Request, Terms, TransferList,
};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// Longer than another thread needs for its possible steps.
const WHILE: Duration = Duration::from_millis(200);

/// Runs `f` in a child of this process, as a fork makes it. Fails with the number that it returns, unless that is 0.
fn in_a_child(mut f: impl FnMut() -> i32 + Send + Sync + 'static) {
    let mut command = Command::new("true");
    // SAFETY: the closure calls nothing but the allocator, whose state the C library handles across a fork, and locks
    // that no other thread knows.
    unsafe {
        command.pre_exec(move || match f() {
            0 => Ok(()),
            number => Err(std::io::Error::from_raw_os_error(number)),
        });
    }
    let status = command.status().unwrap();
    assert!(status.success());
}

/// Makes a request for the first 64 bytes of a region.
fn request(direction: Direction, region: &Region) -> Request<'_> {
    Request {
        direction,
        region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    }
}

/// Makes the minimal driver, a device over it, and a page that the board may read and write.
fn with_a_region() -> (Least, Device, Region) {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::ReadWrite);
    (least, device, region.unwrap())
}

#[test]
fn what_a_child_drops_the_parent_keeps() {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let fpga_memory = device.allocate(1 << 20).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device
        .register_all(&memory, Permissions::ReadWrite)
        .unwrap();
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
    let calls = least.count();
    let seen = least.clone();
    let mut copies = Some((transfer, queue, fpga_memory, region, device));
    in_a_child(move || {
        copies.take();
        (seen.count() - calls) as i32
    });
    // The closure's own values went with it: the transfer was stopped, its region flushed, and memory and region
    // released.
    assert_eq!(least.count(), calls + 4);
}

/// The open file belongs to both processes: a stop would end the parent's transfers.
#[test]
fn a_child_ends_nothing() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
    let (calls, seen) = (least.count(), least.clone());
    let (copy, device) = (queue.clone(), device.clone());
    in_a_child(move || {
        let refused = [
            copy.restart(),
            transfer.stop(Duration::ZERO).map(drop),
            device.stop(Duration::ZERO).map(drop),
        ];
        let mut refused = refused.iter();
        let all = refused.all(|refused| matches!(refused, Err(Error::Inherited)));
        i32::from(!all || !copy.is_inherited() || seen.count() != calls)
    });
    assert!(!queue.is_inherited());
}

/// A child of a fork has no page and no ring, and perhaps a lock that no thread unlocks: the calls use none of them.
#[test]
fn a_child_uses_nothing_of_its_parents_queue() {
    let (least, device, region) = with_a_region();
    let fpga_memory = device.allocate(1 << 20).unwrap();
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
    let all = Arc::new((transfer, queue, region, Mutex::new(Some(fpga_memory))));
    let (copies, seen) = (Arc::clone(&all), least.clone());
    // A thread has the queue locked while the process forks.
    *least.in_post.lock().unwrap() = Some(Box::new(move || {
        let calls = seen.count();
        in_a_child(move || {
            let (transfer, queue, region, fpga_memory) = &*copies;
            let fpga_memory = fpga_memory.lock().unwrap().take().unwrap();
            let refused = [
                transfer.poll().map(drop),
                transfer.wait(WHILE).map(drop),
                queue.from_fpga(0, region.part(0..64)).map(drop),
                queue.turn(),
                queue.drain(WHILE),
                queue.mark().map(drop),
                queue.device().query().map(drop),
                region.clone().forget(),
                fpga_memory.free(),
            ];
            transfer.call_off();
            queue.set_piece(1);
            queue.set_spin(WHILE);
            let idle = !transfer.has_ended()
                && queue.under_way() == 0
                && queue.statistics() == Default::default()
                && queue.next_turn() > Duration::ZERO;
            let mut refused = refused.iter();
            let all = refused.all(|refused| matches!(refused, Err(Error::Inherited)));
            i32::from(!all || !idle || seen.count() != calls)
        });
    }));
    let (_, queue, region, _) = &*all;
    drop(queue.to_fpga(region.part(0..64), 0).unwrap());
}

#[test]
fn a_child_does_not_unmap_what_it_has_no_copy_of() {
    let both = ProtFlags::READ | ProtFlags::WRITE;
    let zero = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/zero");
    let file = zero.unwrap();
    // SAFETY: the file maps memory, which is used by copying alone.
    let device = unsafe { Memory::device(file, 4096) }.unwrap();
    let place = device.address() as *mut std::ffi::c_void;
    // SAFETY: the mapping exists. The kernel driver sets the same flag for its own.
    unsafe { madvise(place, 4096, Advice::LinuxDontFork) }.unwrap();
    let place = device.address();
    let mut copy = Some(device);
    in_a_child(move || {
        let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
        // SAFETY: there is no mapping at this place.
        let other = unsafe { mmap_anonymous(place as *mut _, 4096, both, flags) };
        let Ok(other) = other else { return 1 };
        copy.take();
        // SAFETY: it is mapped, and there are no other references to it.
        unsafe {
            other.cast::<u8>().write_volatile(7);
            i32::from(other.cast::<u8>().read_volatile() != 7)
        }
    });
}

/// Makes a device with a queue, and a page that the board may read and write.
fn with_queue() -> (Least, Region, Queue) {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    (least, region, queue)
}

/// The queue registers memory for ends of writes. If the driver refuses that, the reason and the hint are those of any
/// registration, and the queue remains usable.
#[test]
fn a_refused_registration_of_the_queues_own_says_why() {
    let least = Least::of_dwords();
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::ReadWrite);
    let (region, queue) = (region.unwrap(), device.queue().unwrap());
    for (source, part) in [(Errno::NOSPC, "register less"), (Errno::NOMEM, "ulimit -l")] {
        *least.refuse.lock().unwrap() = Some((source, 1));
        let error = queue.from_fpga(0, region.part(1..64)).unwrap_err();
        assert!(
            matches!(&error, Error::Call { call: "REGISTER", source: refused } if *refused == source),
            "{error}"
        );
        assert!(error.hint().contains(part), "{}", error.hint());
        assert!(!error.leaves_transfers_open());
    }
    // No part of a list is moved then, whichever part needs that memory.
    *least.refuse.lock().unwrap() = Some((Errno::NOSPC, 1));
    let parts =
        [0..64, 65..128].map(|part| Request::new(Direction::FromFpga, region.part(part), 0));
    assert!(queue.submit_list(&parts, Terms::default()).is_err());
    assert_eq!(queue.statistics().descriptors, 0);
    let list = queue.submit_list(&parts, Terms::default()).unwrap();
    assert_eq!(list.wait(Duration::from_secs(1)).unwrap(), 127);
    assert!(list.has_ended() && list.failed().is_none());
    // The failed part is known when it has failed.
    least.failing.store(true, Ordering::Relaxed);
    let list = queue.submit_list(&parts, Terms::default()).unwrap();
    assert!(list.wait(Duration::from_secs(1)).is_err());
    assert_eq!((list.has_ended(), list.failed()), (true, Some(0)));
}

#[test]
fn a_region_is_not_forgotten_in_the_middle_of_a_descriptor() {
    let (least, region, queue) = with_queue();
    let (stale, other) = (region.clone(), least.clone());
    let (early, given_back) = mpsc::channel();
    *least.in_post.lock().unwrap() = Some(Box::new(move || {
        // The queue has checked the region; the descriptor is not written yet.
        let forgetting = std::thread::spawn(move || region.forget());
        std::thread::sleep(WHILE);
        early
            .send((other.unregistered.load(Ordering::Relaxed), forgetting))
            .unwrap();
    }));
    let transfer = queue.from_fpga(0, stale.part(0..64)).unwrap();
    let (early, forgetting) = given_back.recv().unwrap();
    assert_eq!(early, 0, "its ATT entries may be another's");
    forgetting.join().unwrap().unwrap();
    assert_eq!(least.unregistered.load(Ordering::Relaxed), 1);
    assert_eq!(transfer.wait(None).unwrap(), 64);
}

#[test]
fn a_region_is_given_back_while_others_use_the_queue() {
    let (least, region, queue) = with_queue();
    let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
    // The transfer has the last handle.
    drop(region);
    let (asked, answer) = mpsc::channel();
    let (told, free) = mpsc::channel();
    *least.in_unregister.lock().unwrap() = Some(Box::new(move || {
        std::thread::spawn(move || asked.send(queue.under_way()));
        told.send(answer.recv_timeout(50 * WHILE).is_ok()).unwrap();
    }));
    assert_eq!(transfer.poll().unwrap(), Some(64));
    assert_eq!(least.unregistered.load(Ordering::Relaxed), 1);
    assert!(free.recv().unwrap(), "the queue is locked");
}

#[test]
fn memory_that_is_allocated_while_other_is_freed_is_known() {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let old = device.allocate(1 << 20).unwrap();
    let (told, allocating) = mpsc::channel();
    let other = device.clone();
    *least.in_free.lock().unwrap() = Some(Box::new(move || {
        told.send(std::thread::spawn(move || other.allocate(2 << 20)))
            .unwrap();
        std::thread::sleep(WHILE);
    }));
    old.free().unwrap();
    let new = allocating.recv().unwrap().join().unwrap().unwrap();
    assert_eq!((new.range(), device.range()), (0..2 << 20, 0..2 << 20));
}

/// Checks a file whose first owner has taken `records` records, and has `under_way` descriptors under way. The next
/// owner of the file then gets no queue.
fn the_second_owner_of_a_file(records: usize, under_way: usize) {
    let (least, region, queue) = with_queue();
    for _ in 0..records {
        let transfer = queue.from_fpga(0, region.part(0..4096)).unwrap();
        assert_eq!(transfer.wait(None).unwrap(), 4096);
    }
    least.stuck.store(true, Ordering::Relaxed);
    for _ in 0..under_way {
        let _ = queue.to_fpga(region.part(0..4096), 0).unwrap();
    }
    let second = Device::over(least.clone()).unwrap();
    let calls = least.count();
    assert!(matches!(second.queue(), Err(Error::Taken)));
    // No query is among them.
    assert_eq!(least.count(), calls + 1);
}

#[test]
fn the_second_owner_of_a_file_on_the_first_lap() {
    the_second_owner_of_a_file(3, 0);
}

#[test]
fn the_second_owner_of_a_file_on_the_second_lap() {
    // The status of a write of channel 0 that ended well is 0.
    the_second_owner_of_a_file(33, 0);
}

#[test]
fn the_second_owner_of_a_file_before_the_first_record() {
    the_second_owner_of_a_file(0, 1);
}

#[test]
fn a_channel_that_was_handed_over_and_not_used_comes_back() {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    // There is no channel to take back yet, and none that could be handed over.
    assert!(matches!(device.take_back(), Err(Error::Taken)));
    device.hand_over().unwrap_err();
    least.mapped.store(true, Ordering::Relaxed);
    device.hand_over().unwrap();
    assert!(matches!(device.queue(), Err(Error::Taken)));
    device.take_back().unwrap();
    assert!(matches!(device.take_back(), Err(Error::Taken)));
    // The channel can be handed over again, as well as taken back.
    device.hand_over().unwrap();
    device.take_back().unwrap();
    let queue = device.queue().unwrap();
    assert!(matches!(device.take_back(), Err(Error::Taken)));
    // The end of a queue does not free it either.
    drop(queue);
    assert!(matches!(device.take_back(), Err(Error::Taken)));
}

#[test]
fn a_channel_that_was_used_does_not_come_back() {
    let least = Least::new();
    least.mapped.store(true, Ordering::Relaxed);
    let device = Device::over(least.clone()).unwrap();
    device.hand_over().unwrap();
    // The new owner rings a doorbell.
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::Read).unwrap();
    let request = Request {
        direction: Direction::ToFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    };
    let descriptor = device.describe(&request, 0).unwrap();
    least.post(Direction::ToFpga, &descriptor, 0);
    assert!(matches!(device.take_back(), Err(Error::Taken)));
    assert!(matches!(device.queue(), Err(Error::Taken)));
}

/// A queue that is dropped may have sent data of transfers under way before it ends them. The data have arrived before
/// the memory is released; each region is flushed once.
#[test]
fn a_queue_that_goes_flushes_what_it_had_under_way() {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let both = Permissions::ReadWrite;
    let [written, read, done] = [(); 3].map(|()| device.register_all(&memory, both).unwrap());
    let queue = device.queue().unwrap();
    queue
        .from_fpga(0, done.part(0..64))
        .unwrap()
        .wait(WHILE)
        .unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        drop(queue.from_fpga(0, written.part(0..64)).unwrap());
        drop(queue.to_fpga(read.part(0..64), 0).unwrap());
    }
    assert_eq!(*least.flushed.lock().unwrap(), []);
    drop(queue);
    assert_eq!(*least.flushed.lock().unwrap(), [written.handle()]);
}

/// A part leaves its flush to the next one, which is called off before the board has any of its descriptors.
#[test]
fn a_list_that_is_called_off_is_flushed() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    let part = |offset, length| Request {
        direction: Direction::FromFpga,
        region: &region,
        offset,
        fpga_address: 0,
        length,
        piece: Some(64),
    };
    // As many pieces as the ring has records, and one more.
    let parts = [part(0, 64 << least::RING_LOG2), part(0, 64)];
    let list = || queue.submit_list(&parts, Terms::default()).unwrap();
    let stopped = list().stop(WHILE);
    assert_eq!(queue.statistics().descriptors, 1 << least::RING_LOG2);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert!(least.flushed.lock().unwrap().contains(&region.handle()));
    // If the driver cannot flush, the call returns that error: data may be on their way.
    *least.refuse_flush.lock().unwrap() = Some((Errno::IO, u32::MAX));
    let stopped = list().stop(WHILE);
    let unproven = matches!(
        stopped,
        Err(Error::Call {
            source: Errno::IO,
            ..
        })
    );
    assert!(unproven, "{stopped:?}");
}

/// Makes a stuck board that has a list of reads. Its time advances while a thread waits.
fn a_stuck_list(parts: usize) -> (Least, Queue, TransferList) {
    let (least, device, region) = with_a_region();
    *least.clock.lock().unwrap() = Some(Duration::ZERO);
    least.stuck.store(true, Ordering::Relaxed);
    let queue = device.queue().unwrap();
    let part = request(Direction::ToFpga, &region);
    let list = queue.submit_list(&vec![part; parts], Terms::default());
    (least, queue, list.unwrap())
}

/// A queue that fails reports it once a second. No transfer has ended by that.
#[test]
fn a_list_whose_board_is_gone_is_not_said_to_have_ended() {
    for parts in [1, 2, 5] {
        let (least, _queue, list) = a_stuck_list(parts);
        assert_eq!(list.poll().unwrap(), None);
        least.gone.store(true, Ordering::Relaxed);
        for seconds in 1..10 {
            *least.clock.lock().unwrap() = Some(Duration::from_secs(2 * seconds));
            let polled = list.poll();
            assert!(matches!(polled, Err(Error::Gone)), "{parts}: {polled:?}");
            assert_eq!(list.poll().unwrap(), None);
        }
        assert!(!list.has_ended());
        assert!(matches!(list.wait(None), Err(Error::Gone)));
    }
}

/// The call waits only once for a board that is not restarted, and not for each part.
#[test]
fn a_list_that_cannot_be_stopped_is_given_up_once() {
    for parts in [1, 3, 20] {
        let (least, queue, list) = a_stuck_list(parts);
        *least.refuse_stop.lock().unwrap() = Some(Errno::AGAIN);
        let begin = queue.device().now();
        let stopped = list.stop(Duration::ZERO);
        assert!(matches!(stopped, Err(Error::Call { .. })), "{stopped:?}");
        let waited = queue.device().now() - begin;
        assert!(waited < Duration::from_secs(15), "{parts}: {waited:?}");
    }
}

/// A transfer ends while a thread queries the board's state. That acknowledges the event of the end.
#[test]
fn an_event_that_a_look_acknowledges_is_not_lost() {
    let (least, device, region) = with_a_region();
    least.real.store(true, Ordering::Relaxed);
    least.stuck.store(true, Ordering::Relaxed);
    let queue = device.queue().unwrap();
    for turns in [false, true] {
        let transfer = queue.to_fpga(region.part(0..64), 0).unwrap();
        // A check is due.
        std::thread::sleep(Duration::from_millis(1100));
        let board = least.clone();
        *least.in_refused.lock().unwrap() = Some(Box::new(move || board.end_held(true)));
        if turns {
            queue.turn().unwrap();
            assert!(transfer.has_ended());
        }
        let begin = Instant::now();
        assert_eq!(transfer.wait(Duration::from_secs(10)).unwrap(), 64);
        assert!(begin.elapsed() < WHILE, "{turns}: {:?}", begin.elapsed());
        assert!(least.in_refused.lock().unwrap().is_none());
    }
    assert_eq!(queue.statistics().late_records, 0);
}

/// A stop flushes a write without a flush also if the write has ended before.
#[test]
fn a_write_without_a_flush_has_arrived_when_it_is_stopped() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    let terms = Terms {
        no_flush: true,
        ..Terms::default()
    };
    for direction in Direction::BOTH {
        let request = request(direction, &region);
        let transfer = queue.submit_with(&request, terms).unwrap();
        assert_eq!(transfer.wait(WHILE).unwrap(), 64);
        assert_eq!(*least.flushed.lock().unwrap(), []);
        assert_eq!(transfer.stop(Duration::ZERO).unwrap(), 64);
        let flushed = std::mem::take(&mut *least.flushed.lock().unwrap());
        assert_eq!(flushed.len(), usize::from(direction == Direction::FromFpga));
    }
}

/// The driver may cache a region that is unregistered, and does not flush a cached region.
#[test]
fn a_write_without_a_flush_has_arrived_when_its_region_is_given_back() {
    for refuses in [false, true] {
        let (least, device, region) = with_a_region();
        let queue = device.queue().unwrap();
        let request = request(Direction::FromFpga, &region);
        let terms = Terms {
            no_flush: true,
            ..Terms::default()
        };
        let transfer = queue.submit_with(&request, terms).unwrap();
        assert_eq!(transfer.wait(WHILE).unwrap(), 64);
        let handle = region.handle();
        *least.refuse_flush.lock().unwrap() = refuses.then_some((Errno::AGAIN, 1));
        drop(region);
        let flushed = least.flushed.lock().unwrap().contains(&handle);
        assert_eq!(flushed, !refuses);
        assert_eq!(least.kept.load(Ordering::Relaxed), usize::from(flushed));
        assert_eq!(transfer.stop(Duration::ZERO).unwrap(), 64);
    }
}

/// Some extents of a transfer are under way when a later one is refused. The call returns when they have ended and
/// their data have arrived, because the program has no handle to wait for them.
#[test]
fn a_transfer_of_which_only_a_part_came_to_be_has_ended() {
    let least = Least::with(peerlane_core::uapi::feature::MIXED);
    *least.slow.lock().unwrap() = Some(1);
    least.second_extent.store(4096, Ordering::Relaxed);
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 3 * 4096).unwrap();
    let region = device.register_all(&memory, Permissions::ReadWrite);
    let region = region.unwrap();
    assert_eq!(region.extents().iter().count(), 2);
    let submit = || {
        let part = region.part(0..region.length());
        device.submit(Direction::FromFpga, part, 0, Terms::default())
    };
    assert!(!region.is_in_use());
    let refused = submit().map(drop);
    assert!(matches!(refused, Err(Error::Call { .. })), "{refused:?}");
    assert_eq!(least.waited.lock().unwrap().len(), 1);
    assert_eq!(*least.flushed.lock().unwrap(), [region.handle()]);
    // A transfer that was submitted completely uses the region as long as it can be waited for.
    *least.slow.lock().unwrap() = Some(2);
    let submitted = submit().unwrap();
    assert!(region.is_in_use());
    submitted.wait(None).unwrap();
    assert_eq!(least.waited.lock().unwrap().len(), 3);
    drop(submitted);
    assert!(!region.is_in_use());
}

/// A queue that is being dropped still has its transfers until it has stopped them.
#[test]
fn a_region_is_in_use_until_its_queue_has_stopped() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    assert!(!region.is_in_use());
    least.stuck.store(true, Ordering::Relaxed);
    drop(queue.from_fpga(0, region.part(0..64)).unwrap());
    let (named, (said, says)) = (region.clone(), mpsc::channel());
    let (board, forgets) = (least.clone(), region.clone());
    let (forgot, forgotten) = mpsc::channel();
    *least.in_stop.lock().unwrap() = Some(Box::new(move || {
        let is_in_use = named.is_in_use();
        // Another thread that invalidates it waits until the queue has stopped all transfers.
        std::thread::spawn(move || forgot.send(forgets.forget()).unwrap());
        std::thread::sleep(WHILE);
        let unregistered = board.unregistered.load(Ordering::Relaxed);
        said.send((is_in_use, unregistered)).unwrap();
    }));
    drop(queue);
    assert_eq!(least.stops.lock().unwrap().len(), 1);
    assert_eq!(says.recv(), Ok((true, 0)));
    forgotten.recv().unwrap().unwrap();
    assert!(!region.is_in_use());
}

/// A list of a few parts raises an interrupt for each direction, at its last part. A fault does not change that.
#[test]
fn a_list_raises_one_interrupt_for_each_direction() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    let part = |direction| request(direction, &region);
    use Direction::{FromFpga, ToFpga};
    for parts in [
        vec![FromFpga; 6],
        [ToFpga, FromFpga, FromFpga, ToFpga, ToFpga].to_vec(),
        vec![ToFpga],
    ] {
        let before = least.interrupts.load(Ordering::Relaxed);
        let requests: Vec<_> = parts.iter().map(|direction| part(*direction)).collect();
        let list = queue.submit_list(&requests, Terms::default()).unwrap();
        assert_eq!(list.wait(WHILE).unwrap(), 64 * parts.len() as u64);
        assert_eq!(list.poll().unwrap(), Some(64 * parts.len() as u64));
        let raised = least.interrupts.load(Ordering::Relaxed) - before;
        let directions = Direction::BOTH
            .iter()
            .filter(|of| parts.contains(of))
            .count();
        assert_eq!(raised, directions, "{parts:?}");
    }
}

/// A region that is held for the board cannot be invalidated, and an invalidated region is neither held nor described.
#[test]
fn a_region_that_is_held_is_not_forgotten() {
    let (least, device, region) = with_a_region();
    let request = Request {
        direction: Direction::ToFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    };
    device.describe(&request, 0).unwrap();
    let [first, second] = [(); 2].map(|()| region.hold().unwrap());
    drop(first);
    let refused = region.clone().forget();
    let busy = matches!(
        refused,
        Err(Error::Call {
            source: Errno::BUSY,
            ..
        })
    );
    assert!(busy, "{refused:?}");
    // Nothing has happened.
    assert_eq!(least.unregistered.load(Ordering::Relaxed), 0);
    device.describe(&request, 0).unwrap();
    drop(second);
    region.clone().forget().unwrap();
    assert!(matches!(region.hold(), Err(Error::Forgotten)));
    let described = device.describe(&request, 0);
    assert!(matches!(described, Err(Error::Forgotten)), "{described:?}");
    region.flush().unwrap();
    assert_eq!(*least.flushed.lock().unwrap(), []);
}

/// Waiting without end is a limit, too.
#[test]
fn no_limit_is_too_long() {
    let (least, _, region) = with_a_region();
    *least.clock.lock().unwrap() = Some(Duration::from_secs(1));
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let own = device.register_all(&memory, Permissions::ReadWrite);
    let queue = device.queue().unwrap();
    drop(region);
    let course = |region: &Region| Course {
        direction: Direction::ToFpga,
        region: region.clone(),
        offset: 0,
        slot: 1024,
        slots: 2,
        fpga: 0..4096,
        length: Some(1024),
    };
    let own = own.unwrap();
    for stop in [false, true] {
        let mut stream = queue.stream(course(&own)).unwrap();
        if let Some(slot) = stream.next(Duration::MAX).unwrap() {
            drop(slot);
        }
        let _ = match stop {
            false => stream.finish(Duration::MAX),
            true => stream.stop(Duration::MAX),
        };
    }
    queue
        .from_fpga(0, own.part(0..64))
        .unwrap()
        .finish(Duration::MAX, Duration::MAX)
        .unwrap();
    queue.drain(Duration::MAX).unwrap();
}

/// A stream with wrong settings begins nothing, with any numbers.
#[test]
fn a_stream_that_cannot_be_has_nothing_under_way() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    let course = Course {
        direction: Direction::FromFpga,
        region: region.clone(),
        offset: 1024,
        slot: 2048,
        slots: 2,
        fpga: 0..1 << 20,
        length: None,
    };
    let many = |slots| Course {
        slots,
        ..course.clone()
    };
    let outside = Course {
        offset: 0,
        fpga: 1 << 29..(1 << 30) + 2048,
        ..course.clone()
    };
    least.stuck.store(true, Ordering::Relaxed);
    for direction in Direction::BOTH {
        for course in [
            course.clone(),
            many(u64::MAX),
            many(1 << 40),
            outside.clone(),
        ] {
            let course = Course {
                direction,
                ..course
            };
            let refused = queue.stream(course.clone());
            let expected = matches!(refused, Err(Error::Region(_) | Error::Local { .. }));
            assert!(expected, "{course:?}: {refused:?}");
            assert_eq!(queue.under_way(), 0);
        }
    }
    // With a length that fits into its memory the stream is valid, with any number of slots.
    let short = Course {
        length: Some(2048),
        ..many(u64::MAX)
    };
    let stream = queue.stream(short).unwrap();
    assert_eq!(queue.under_way(), 1);
    // The board has all its descriptors, and goes on: it got no more.
    drop(stream);
    assert_eq!(queue.under_way(), 1);
}

/// Registrations by the value that risks no read have the flag, for drivers that know it.
#[test]
fn a_read_that_nobody_proved_is_risked_by_who_asks_for_it() {
    use peerlane_core::uapi::{feature, register};
    for (features, expected) in [(0, 0), (feature::PROVED_PEERS, register::PROVED_ONLY)] {
        let least = Least::with(features);
        let device = Device::over(least.clone()).unwrap();
        let both = Permissions::ReadWrite;
        let file = std::fs::File::open("/dev/null").unwrap();
        let region = device.register_dmabuf(&file, 0, 4096, both).unwrap();
        let careful = device.proved_only();
        let other = careful.register_dmabuf(&file, 0, 4096, both).unwrap();
        let flags = |region: &Region| least.regions.lock().unwrap()[&region.handle()].flags;
        assert_eq!((flags(&region), flags(&other)), (0, expected));
        // It is the same device.
        let queue = device.queue().unwrap();
        let write = queue.from_fpga(0, other.part(0..64)).unwrap();
        assert_eq!(write.wait(WHILE).unwrap(), 64);
    }
    let error = Error::Call {
        call: "REGISTER",
        source: Errno::XDEV,
    };
    assert!(error.hint().contains("writing alone"));
}

/// Ends of writes to memory of the process. The board of this test writes zeros.
#[test]
fn ends_of_memory_that_is_not_there_any_more_go_nowhere() {
    const PAGE: usize = 4096;
    let least = Least::of_dwords();
    let device = Device::over(least.clone()).unwrap();
    let queue = device.queue().unwrap();
    let (anywhere, both) = (std::ptr::null_mut(), ProtFlags::READ | ProtFlags::WRITE);
    // SAFETY: a new mapping.
    let base = unsafe { mmap_anonymous(anywhere, PAGE, both, MapFlags::PRIVATE) }.unwrap();
    // SAFETY: it has this many bytes, and there are no other references to it.
    let bytes = unsafe { std::slice::from_raw_parts_mut(base.cast::<u8>(), PAGE) };
    bytes.fill(7);
    let address = base.expose_provenance() as u64;
    // SAFETY: there are no references when there is a transfer.
    let region = unsafe { device.register_address(address, PAGE as u64, Permissions::Write) };
    let region = region.unwrap();
    // Without room for the memory of the ends, no transfer begins.
    *least.refuse.lock().unwrap() = Some((Errno::NOSPC, 1));
    let refused = queue.from_fpga(0, region.part(1..3));
    assert!(matches!(
        refused,
        Err(Error::Call {
            call: "REGISTER",
            source: Errno::NOSPC
        })
    ));
    assert_eq!(queue.statistics().descriptors, 0);
    let write = queue.from_fpga(0, region.part(2..11)).unwrap();
    assert_eq!(write.wait(WHILE).unwrap(), 9);
    // SAFETY: as above.
    let found = unsafe { std::slice::from_raw_parts(base.cast::<u8>(), 16) };
    assert_eq!(found, [7, 7, 0, 0, 7, 7, 7, 7, 0, 0, 0, 7, 7, 7, 7, 7]);
    let write = queue.from_fpga(0, region.part(2..11)).unwrap();
    // As if it was unmapped, but so that no other thread gets its place.
    // SAFETY: there are no references to it.
    unsafe { rustix::mm::mprotect(base, PAGE, rustix::mm::MprotectFlags::empty()) }.unwrap();
    match write.wait(WHILE) {
        Err(Error::Fault {
            fault: Fault::AttInvalid,
            bytes_done: 0,
            length: 9,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
}

/// After lost reads the driver lets the board only write memory whose device was proved before. The library does not
/// take a write to it as arrived, and reads nothing from it.
#[test]
fn a_region_whose_proof_has_ended_is_only_written() {
    let least = Least::new();
    let doubts = |doubts| least.query.lock().unwrap().doubts = doubts;
    doubts(6);
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let host = device
        .register_all(&memory, Permissions::ReadWrite)
        .unwrap();
    least.proof.store(7, Ordering::Relaxed);
    let peer = device
        .register_all(&memory, Permissions::ReadWrite)
        .unwrap();
    let queue = device.queue().unwrap();
    assert!(!host.is_doubted() && !peer.is_doubted());
    queue
        .to_fpga(peer.part(0..64), 0)
        .unwrap()
        .wait(WHILE)
        .unwrap();
    doubts(7);
    device.query().unwrap();
    assert!(!host.is_doubted() && peer.is_doubted());
    let read = queue.to_fpga(peer.part(0..64), 0);
    assert!(matches!(read, Err(Error::Doubted)), "{read:?}");
    // A write's descriptor is the same as before.
    let request = Request {
        direction: Direction::FromFpga,
        region: &peer,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    };
    device.describe(&request, 0).unwrap();
    queue
        .from_fpga(0, peer.part(0..64))
        .unwrap()
        .wait(WHILE)
        .unwrap();
    // It is registered again.
    least.proof.store(8, Ordering::Relaxed);
    let again = device
        .register_all(&memory, Permissions::ReadWrite)
        .unwrap();
    queue
        .to_fpga(again.part(0..64), 0)
        .unwrap()
        .wait(WHILE)
        .unwrap();
}
