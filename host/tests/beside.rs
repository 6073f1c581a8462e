//! Threads that use a queue while another thread restarts it or flushes a write: each call keeps its own limit.

mod least;

use least::Least;
use peerlane_host::{
    Device, Direction, Errno, Error, MemoryKind, Permissions, Queue, Region, Request, Terms,
    Transfer,
};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Time that a call may take in addition to its own limit, on a busy machine.
const SLACK: Duration = Duration::from_millis(300);

/// Time that the other thread takes: longer than any call may.
const LONG: Duration = Duration::from_millis(1200);

fn with_queue() -> (Least, Region, Queue) {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::ReadWrite);
    let queue = device.queue().unwrap();
    least.real.store(true, Ordering::Relaxed);
    (least, region.unwrap(), queue)
}

/// Returns a write that the board has ended and not flushed. It must be flushed before it has ended.
fn called_off(queue: &Queue, region: &Region) -> Transfer {
    let request = Request {
        direction: Direction::FromFpga,
        region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    };
    let terms = Terms {
        no_flush: true,
        ..Terms::default()
    };
    let transfer = queue.submit_with(&request, terms).unwrap();
    transfer.call_off();
    transfer
}

/// Calls each of a queue's functions, and fails for one that takes longer than its limit.
fn all_keep_their_limits(queue: &Queue, region: &Region, transfer: &Transfer) {
    const LIMIT: Duration = Duration::from_millis(50);
    type Call<'a> = (&'a str, Duration, Box<dyn Fn() + 'a>);
    let ended = || {
        let mut ended = pin!(transfer.ended());
        let waits = ended.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(waits.is_pending());
    };
    let is_late = |result: peerlane_host::Result<u64>| {
        assert!(matches!(result, Err(Error::Timeout { .. })), "{result:?}");
    };
    let calls: [Call<'_>; 11] = [
        (
            "poll",
            Duration::ZERO,
            Box::new(|| assert_eq!(transfer.poll().unwrap(), None)),
        ),
        (
            "has_ended",
            Duration::ZERO,
            Box::new(|| assert!(!transfer.has_ended())),
        ),
        ("wait", LIMIT, Box::new(|| is_late(transfer.wait(LIMIT)))),
        ("ended", Duration::ZERO, Box::new(ended)),
        ("turn", Duration::ZERO, Box::new(|| queue.turn().unwrap())),
        (
            "next_turn",
            Duration::ZERO,
            Box::new(|| _ = queue.next_turn()),
        ),
        (
            "under_way",
            Duration::ZERO,
            Box::new(|| assert!(queue.under_way() > 0)),
        ),
        (
            "statistics",
            Duration::ZERO,
            Box::new(|| _ = queue.statistics()),
        ),
        (
            "query",
            Duration::ZERO,
            Box::new(|| _ = queue.device().query().unwrap()),
        ),
        (
            "drain",
            LIMIT,
            Box::new(|| assert!(matches!(queue.drain(LIMIT), Err(Error::NotDrained { .. })))),
        ),
        (
            "submit",
            Duration::ZERO,
            Box::new(|| drop(queue.to_fpga(region.part(0..64), 0).unwrap())),
        ),
    ];
    for (name, limit, call) in calls {
        let begin = Instant::now();
        call();
        let took = begin.elapsed();
        assert!(took < limit + SLACK, "{name}: {took:?}");
    }
}

#[test]
fn a_restart_holds_nobody_up() {
    let (least, region, queue) = with_queue();
    least.stuck.store(true, Ordering::Relaxed);
    let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
    *least.refuse_stop.lock().unwrap() = Some(Errno::AGAIN);
    thread::scope(|scope| {
        let restarting = scope.spawn(|| queue.restart());
        while least.stops.lock().unwrap().is_empty() {
            thread::yield_now();
        }
        all_keep_their_limits(&queue, &region, &transfer);
        assert!(!restarting.is_finished());
        // The driver has started the board.
        *least.refuse_stop.lock().unwrap() = None;
        least.start_again();
        restarting.join().unwrap().unwrap();
    });
    let ended = transfer.wait(Duration::ZERO);
    assert!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
}

/// The driver restarts the board after the stop, before a write was flushed. That takes longer than records do.
#[test]
fn a_restart_waits_for_a_board_that_goes_away_behind_its_stop() {
    let (least, region, queue) = with_queue();
    *least.refuse_flush.lock().unwrap() = Some((Errno::AGAIN, u32::MAX));
    let transfer = called_off(&queue, &region);
    thread::scope(|scope| {
        let restarting = scope.spawn(|| queue.restart());
        thread::sleep(LONG + SLACK);
        assert!(!restarting.is_finished(), "{:?}", restarting.join());
        *least.refuse_flush.lock().unwrap() = None;
        least.start_again();
        restarting.join().unwrap().unwrap();
    });
    let ended = transfer.wait(Duration::ZERO);
    assert!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
}

/// A thread that waits without a limit goes on when the restart has ended.
#[test]
fn a_restart_wakes_who_waits_for_it() {
    let (least, region, queue) = with_queue();
    least.stuck.store(true, Ordering::Relaxed);
    let before = queue.from_fpga(0, region.part(0..64)).unwrap();
    *least.refuse_stop.lock().unwrap() = Some(Errno::AGAIN);
    thread::scope(|scope| {
        let restarting = scope.spawn(|| queue.restart());
        while least.stops.lock().unwrap().is_empty() {
            thread::yield_now();
        }
        let waits = scope.spawn(|| before.wait(None));
        let second = scope.spawn(|| queue.restart());
        thread::sleep(SLACK);
        *least.refuse_stop.lock().unwrap() = None;
        least.start_again();
        restarting.join().unwrap().unwrap();
        assert!(matches!(waits.join().unwrap(), Err(Error::Restarted)));
        second.join().unwrap().unwrap();
    });
    least.stuck.store(false, Ordering::Relaxed);
    let after = queue.from_fpga(0, region.part(0..64)).unwrap();
    assert_eq!(after.wait(LONG).unwrap(), 64);
}

#[test]
fn a_flush_holds_nobody_up() {
    let (least, region, queue) = with_queue();
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    *least.in_flush.lock().unwrap() = Some(Box::new(move || {
        begun.send(()).unwrap();
        let _ = ends.recv();
    }));
    least.stuck.store(true, Ordering::Relaxed);
    let transfer = queue.to_fpga(region.part(0..64), 0).unwrap();
    least.stuck.store(false, Ordering::Relaxed);
    let flushed = called_off(&queue, &region);
    least.stuck.store(true, Ordering::Relaxed);
    thread::scope(|scope| {
        // Dropped if this fails, so that the thread ends.
        let end = end;
        let flushing = scope.spawn(|| flushed.wait(None));
        begins.recv().unwrap();
        all_keep_their_limits(&queue, &region, &transfer);
        // A write that is not flushed has not ended, and its region does not belong to another user.
        assert_eq!(flushed.poll().unwrap(), None);
        let forgetting = scope.spawn(|| region.clone().forget());
        thread::sleep(SLACK);
        assert_eq!(least.unregistered.load(Ordering::Relaxed), 0);
        end.send(()).unwrap();
        assert_eq!(flushing.join().unwrap().unwrap(), 64);
        forgetting.join().unwrap().unwrap();
    });
}

/// A write whose flush is under way when the board is restarted ends, once, after its flush.
#[test]
fn a_write_that_is_flushed_across_a_reset_has_not_arrived() {
    let (least, region, queue) = with_queue();
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    *least.in_flush.lock().unwrap() = Some(Box::new(move || {
        begun.send(()).unwrap();
        let _ = ends.recv();
    }));
    least.stuck.store(true, Ordering::Relaxed);
    let other = queue.to_fpga(region.part(0..64), 0).unwrap();
    least.stuck.store(false, Ordering::Relaxed);
    let flushed = called_off(&queue, &region);
    thread::scope(|scope| {
        // Dropped if this fails, so that the thread ends.
        let end = end;
        let flushing = scope.spawn(|| flushed.wait(None));
        begins.recv().unwrap();
        least.start_again();
        queue.device().query().unwrap();
        assert!(matches!(other.poll(), Err(Error::Restarted)));
        assert_eq!((flushed.poll().unwrap(), queue.under_way()), (None, 1));
        end.send(()).unwrap();
        assert!(matches!(flushing.join().unwrap(), Err(Error::Restarted)));
    });
    assert_eq!(queue.under_way(), 0);
}

/// Only tasks whose transfers have ended look again.
#[test]
fn a_record_wakes_its_own_task() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    struct Count(AtomicUsize);
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (least, region, queue) = with_queue();
    least.stuck.store(true, Ordering::Relaxed);
    let waits: Vec<_> = (0..20)
        .map(|_| queue.to_fpga(region.part(0..64), 0).unwrap())
        .collect();
    let counts: Vec<_> = waits
        .iter()
        .map(|_| Arc::new(Count(AtomicUsize::new(0))))
        .collect();
    for (transfer, count) in waits.iter().zip(&counts) {
        let waker = Waker::from(Arc::clone(count));
        let polled = pin!(transfer.ended()).poll(&mut Context::from_waker(&waker));
        assert!(matches!(polled, Poll::Pending));
    }
    least.stuck.store(false, Ordering::Relaxed);
    for _ in 0..8 {
        drop(queue.from_fpga(0, region.part(0..64)).unwrap());
        queue.turn().unwrap();
    }
    let woken = |count: &Arc<Count>| count.0.load(Ordering::Relaxed);
    assert_eq!(counts.iter().map(woken).sum::<usize>(), 0);
    // An end without a record wakes them all the same.
    least.start_again();
    queue.turn().unwrap();
    assert!(counts.iter().all(|count| woken(count) == 1));
}

/// A thread that queries the state of the device takes no event from one that waits for it.
#[test]
fn a_question_acknowledges_no_event_of_a_wait() {
    for features in [0, peerlane_core::uapi::feature::PEEK] {
        let least = Least::with(features);
        let device = Device::over(least.clone()).unwrap();
        let memory = device.memory(MemoryKind::Host, 4096).unwrap();
        let region = device.register_all(&memory, Permissions::ReadWrite);
        let (queue, region) = (device.queue().unwrap(), region.unwrap());
        least.real.store(true, Ordering::Relaxed);
        // No thread waits: as before.
        least.events.store(1, Ordering::Relaxed);
        device.query().unwrap();
        assert_eq!(least.events.load(Ordering::Relaxed), 0);
        least.stuck.store(true, Ordering::Relaxed);
        let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| transfer.wait(None));
            thread::sleep(SLACK);
            let asked = least.count();
            device.query().unwrap();
            assert_eq!(least.count() - asked, usize::from(features == 0));
            // The queue has to know of a restarted board.
            least.start_again();
            assert_eq!(device.query().unwrap().generation, 1);
            assert!(matches!(waits.join().unwrap(), Err(Error::Restarted)));
        });
    }
}

/// Waits that end by a look at the ring, and not by the interrupt that was due, are counted.
#[test]
fn a_lost_interrupt_is_counted() {
    for lost in [false, true] {
        let (least, region, queue) = with_queue();
        least.stuck.store(true, Ordering::Relaxed);
        let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| transfer.wait(None));
            thread::sleep(SLACK);
            least.end_held(!lost);
            assert_eq!(waits.join().unwrap().unwrap(), 64);
        });
        assert_eq!(queue.statistics().late_records, u64::from(lost));
    }
}
