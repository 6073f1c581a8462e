//! Data of writes have arrived before the library reports that memory is free.

mod least;

use least::Least;
use peerlane_host::{
    Course, Device, Direction, Errno, Error, MemoryKind, Patch, Permissions, Region, Request,
    Result, Terms,
};
use std::future::Future as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// The time that a transfer of the least driver has.
const WHILE: Duration = Duration::from_millis(200);

const NO_FLUSH: Terms = Terms {
    no_flush: true,
    after_from_fpga: false,
    after_to_fpga: false,
    urgent: false,
};

/// A device over the least driver, and a page of host memory.
fn with_a_region() -> (Least, Device, Region) {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::ReadWrite);
    (least, device, region.unwrap())
}

/// A page of another device's memory.
fn peer(device: &Device, permissions: Permissions) -> Region {
    let file = std::fs::File::open("/dev/null").unwrap();
    device.register_dmabuf(&file, 0, 4096, permissions).unwrap()
}

fn refuse_flushes(least: &Least) {
    *least.refuse_flush.lock().unwrap() = Some((Errno::IO, u32::MAX));
}

fn is_unproven<T>(result: &Result<T>) -> bool {
    matches!(
        result,
        Err(Error::Call {
            call: "FLUSH",
            source: Errno::IO
        })
    )
}

/// A peer refuses reads: the write fails, and so does its flush. Its data may be on their way.
#[test]
fn a_stop_reports_a_failed_flush_of_a_failed_write() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    least.failing.store(true, Ordering::Relaxed);
    let submit = || queue.from_fpga(0, region.part(0..64)).unwrap();
    let stopped = submit().stop(Duration::ZERO);
    assert!(matches!(stopped, Err(Error::Fault { .. })), "{stopped:?}");
    refuse_flushes(&least);
    let transfer = submit();
    let waited = transfer.wait(WHILE);
    assert!(matches!(waited, Err(Error::Fault { .. })), "{waited:?}");
    let stopped = transfer.stop(Duration::ZERO);
    assert!(is_unproven(&stopped), "{stopped:?}");
}

/// The driver must not cache a region whose memory may still be written.
#[test]
fn a_region_whose_flush_failed_is_not_cached() {
    for flushes in [true, false] {
        let (least, device, region) = with_a_region();
        let queue = device.queue().unwrap();
        least.failing.store(true, Ordering::Relaxed);
        if !flushes {
            refuse_flushes(&least);
        }
        let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
        transfer.wait(WHILE).unwrap_err();
        drop(region);
        assert_eq!(least.kept.load(Ordering::Relaxed), usize::from(flushes));
    }
}

/// The same where the write is still in progress when its queue is dropped.
#[test]
fn a_region_of_a_dropped_queue_is_not_cached_after_a_failure() {
    for (refuses_flush, refuses_stop) in [(false, false), (true, false), (false, true)] {
        let (least, device, region) = with_a_region();
        let queue = device.queue().unwrap();
        least.stuck.store(true, Ordering::Relaxed);
        drop(queue.from_fpga(0, region.part(0..64)).unwrap());
        if refuses_flush {
            refuse_flushes(&least);
        }
        *least.refuse_stop.lock().unwrap() = refuses_stop.then_some(Errno::AGAIN);
        drop((queue, region));
        let is_cached = !refuses_flush && !refuses_stop;
        let kept = least.kept.load(Ordering::Relaxed);
        assert_eq!(
            kept,
            usize::from(is_cached),
            "{refuses_flush} {refuses_stop}"
        );
    }
}

#[test]
fn a_write_by_the_slow_path_is_flushed_before_its_region_is_cached() {
    for terms in [Terms::default(), NO_FLUSH] {
        let (least, device, region) = with_a_region();
        *least.slow.lock().unwrap() = Some(1);
        let submitted = device.submit(Direction::FromFpga, region.part(0..64), 0, terms);
        submitted.unwrap().wait(None).unwrap();
        drop(region);
        let flushed = least.flushed.lock().unwrap().len();
        assert_eq!(flushed, usize::from(terms.no_flush));
        assert_eq!(least.kept.load(Ordering::Relaxed), 1);
    }
}

/// No read proves that data have arrived in memory that the board may only write: the flush gives it time.
#[test]
fn memory_that_is_only_written_is_flushed_at_a_stop_and_before_it_is_cached() {
    for (permissions, flushes) in [(Permissions::Write, 1), (Permissions::ReadWrite, 0)] {
        let (least, device, _) = with_a_region();
        let region = peer(&device, permissions);
        let queue = device.queue().unwrap();
        let transfer = queue.from_fpga(0, region.part(0..64)).unwrap();
        transfer.wait(WHILE).unwrap();
        let flushed = || std::mem::take(&mut *least.flushed.lock().unwrap()).len();
        // The end of the write itself.
        let _ = flushed();
        transfer.stop(Duration::ZERO).unwrap();
        assert_eq!(flushed(), flushes);
        drop(region);
        assert_eq!(flushed(), flushes);
    }
}

/// The board has ended the transfer, and its record is in the ring.
#[test]
fn a_stop_without_grace_takes_an_end_that_has_come() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    };
    least.stuck.store(true, Ordering::Relaxed);
    let other = queue.to_fpga(region.part(0..64), 0).unwrap();
    least.stuck.store(false, Ordering::Relaxed);
    least.failing.store(true, Ordering::Relaxed);
    let transfer = queue.submit_with(&request, Terms::default()).unwrap();
    let stopped = transfer.stop(Duration::ZERO);
    assert!(matches!(stopped, Err(Error::Fault { .. })), "{stopped:?}");
    assert_eq!(*least.stops.lock().unwrap(), []);
    assert!(!other.has_ended());
}

#[test]
fn a_list_is_flushed_once_a_region() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    let part = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    };
    let list = queue.submit_list(&[part; 20], Terms::default()).unwrap();
    list.wait(WHILE).unwrap();
    least.flushed.lock().unwrap().clear();
    list.stop(Duration::ZERO).unwrap();
    assert_eq!(*least.flushed.lock().unwrap(), [region.handle()]);
}

/// A turn that is leaked submits nothing. The slot before it may still be read by the board.
#[test]
fn a_stream_never_hands_out_a_slot_in_progress() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let course = Course {
        direction: Direction::ToFpga,
        region,
        offset: 0,
        slot: 64,
        slots: 2,
        fpga: 0..4096,
        length: None,
    };
    let mut stream = queue.stream(course).unwrap();
    drop(stream.next(Duration::ZERO).unwrap());
    std::mem::forget(stream.next(Duration::ZERO).unwrap());
    let third = stream
        .next(Duration::ZERO)
        .map(|turn| turn.map(|turn| turn.offset()));
    assert!(matches!(third, Err(Error::Timeout { .. })), "{third:?}");
}

/// The kernel flushes a region when it is unregistered, and does not know its handle afterwards.
#[test]
fn a_write_to_a_region_that_was_invalidated_is_stopped() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    queue.set_piece(64);
    least.stuck.store(true, Ordering::Relaxed);
    let write = queue.from_fpga(0, region.part(0..4096)).unwrap();
    region.clone().forget().unwrap();
    write.call_off();
    least.end_held(true);
    let ended = write.wait(WHILE);
    assert!(matches!(ended, Err(Error::Stopped)), "{ended:?}");
    let stopped = write.stop(Duration::ZERO);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
}

/// Two threads stop transfers that take no data. The restart of one ends both, and a transfer that was submitted in the
/// meantime goes on.
#[test]
fn a_stop_does_not_restart_the_queue_once_more() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    least.real.store(true, Ordering::Relaxed);
    least.stuck.store(true, Ordering::Relaxed);
    let one = queue.from_fpga(0, region.part(0..64)).unwrap();
    let two = queue.to_fpga(region.part(0..64), 0).unwrap();
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let board = least.clone();
    *least.in_stop.lock().unwrap() = Some(Box::new(move || {
        begun.send(()).unwrap();
        ends.recv().unwrap();
        board.end_held(true);
    }));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| one.stop(Duration::ZERO));
        begins.recv().unwrap();
        let second = scope.spawn(|| two.stop(Duration::ZERO));
        // The second thread waits for the first one's restart.
        std::thread::sleep(Duration::from_millis(300));
        let three = queue.from_fpga(0, region.part(0..64)).unwrap();
        end.send(()).unwrap();
        assert_eq!(first.join().unwrap().unwrap(), 64);
        assert_eq!(second.join().unwrap().unwrap(), 64);
        assert_eq!(least.stops.lock().unwrap().len(), 1);
        assert_eq!(three.result().map(drop), None);
        least.end_held(true);
        assert_eq!(three.wait(WHILE).unwrap(), 64);
    });
}

/// A function for the ends of writes.
struct Ends<F>(F);

impl<F> std::fmt::Debug for Ends<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ends")
    }
}

impl<F: Fn() -> Result<()> + Send + Sync> Patch for Ends<F> {
    fn patch(&self, _: u64, _: &[u8]) -> Result<()> {
        (self.0)()
    }
}

/// A device that writes whole dwords only, and memory of a peer whose ends a function writes.
fn with_ends(ends: impl Fn() -> Result<()> + Send + Sync + 'static) -> (Least, Device, Region) {
    let least = Least::of_dwords();
    let device = Device::over(least.clone()).unwrap();
    let region = peer(&device, Permissions::ReadWrite);
    region.set_patch(Arc::new(Ends(ends)));
    (least, device, region)
}

#[test]
fn a_stream_is_stopped_as_a_whole_after_an_error_of_a_slot() {
    let board: Arc<Mutex<Option<Least>>> = Arc::default();
    let of_ends = Arc::clone(&board);
    let (least, device, region) = with_ends(move || {
        // The board has the other slots.
        if let Some(least) = &*of_ends.lock().unwrap() {
            least.stuck.store(true, Ordering::Relaxed);
        }
        let reason = "not copied".into();
        Err(Error::Ends { reason })
    });
    *board.lock().unwrap() = Some(least.clone());
    let queue = device.queue().unwrap();
    let course = Course {
        direction: Direction::FromFpga,
        region,
        offset: 0,
        slot: 6,
        slots: 3,
        fpga: 0..24,
        length: None,
    };
    let mut stream = queue.stream(course).unwrap();
    let next = stream.next(Duration::ZERO).map(drop);
    assert!(matches!(next, Err(Error::Ends { .. })), "{next:?}");
    // As the board does.
    let of_stop = least.clone();
    *least.in_stop.lock().unwrap() = Some(Box::new(move || of_stop.end_held(true)));
    let stopped = stream.stop(Duration::ZERO);
    assert!(matches!(stopped, Err(Error::Ends { .. })), "{stopped:?}");
    assert_eq!(queue.under_way(), 0);
    assert_eq!(least.stops.lock().unwrap().len(), 1);
}

/// A board that is gone writes nothing, but another thread may still write the ends of a write.
#[test]
fn memory_of_a_board_that_is_gone_is_in_use_until_its_ends_are_written() {
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let (begun, ends) = (Mutex::new(begun), Mutex::new(ends));
    let (least, device, region) = with_ends(move || {
        begun.lock().unwrap().send(()).unwrap();
        ends.lock().unwrap().recv().unwrap();
        Ok(())
    });
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let write = queue.from_fpga(0, region.part(1..3)).unwrap();
    least.end_held(true);
    let free = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| write.wait(Duration::from_secs(5)));
        begins.recv().unwrap();
        least.gone.store(true, Ordering::Relaxed);
        let in_use = scope.spawn(|| {
            let in_use = region.is_in_use();
            free.fetch_add(1, Ordering::SeqCst);
            in_use
        });
        let stopped = scope.spawn(|| {
            let stopped = write.stop(Duration::ZERO);
            free.fetch_add(1, Ordering::SeqCst);
            stopped
        });
        std::thread::sleep(WHILE);
        assert_eq!(free.load(Ordering::SeqCst), 0);
        end.send(()).unwrap();
        assert!(!in_use.join().unwrap());
        assert_eq!(waits.join().unwrap().unwrap(), 2);
        let _ = stopped.join().unwrap();
    });
}

/// A program that knows that the board is gone uses its memory for another purpose.
#[test]
fn no_end_is_written_after_a_restart_has_reported_that_the_board_is_gone() {
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let (least, device, region) = with_ends(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let write = queue.from_fpga(0, region.part(1..3)).unwrap();
    least.end_held(false);
    least.gone.store(true, Ordering::Relaxed);
    *least.refuse_stop.lock().unwrap() = Some(Errno::NODEV);
    let restarted = queue.restart();
    assert!(restarted.is_err(), "{restarted:?}");
    let before = written.load(Ordering::SeqCst);
    // The board had ended it.
    assert_eq!((before, write.wait(Duration::ZERO).unwrap()), (1, 2));
    drop((region, write, queue));
    assert_eq!(written.load(Ordering::SeqCst), before);
}

/// A stop finds no board, and a query later finds one: the rest that another thread has begun ends first.
#[test]
fn a_restart_that_finds_no_board_returns_when_no_end_is_being_written() {
    let (waiting, begins, end) = waiting_ends();
    let (least, device, region) = with_ends(waiting);
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let write = queue.from_fpga(0, region.part(1..3)).unwrap();
    least.end_held(true);
    *least.refuse_stop.lock().unwrap() = Some(Errno::NODEV);
    let queue = &queue;
    // After a failure the end is dropped, and no thread waits for it.
    std::thread::scope(move |scope| {
        let waits = scope.spawn(move || write.wait(Duration::from_secs(5)));
        begins.recv().unwrap();
        let restarts = scope.spawn(move || queue.restart());
        std::thread::sleep(WHILE);
        assert!(!restarts.is_finished());
        end.send(()).unwrap();
        let restarted = restarts.join().unwrap();
        assert!(matches!(restarted, Err(Error::Gone)), "{restarted:?}");
        assert_eq!(waits.join().unwrap().unwrap(), 2);
    });
}

/// The driver removes a region's handle before the board has stopped using the region.
#[test]
fn a_stop_waits_for_an_unregistration_of_another_thread() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    queue.set_piece(64);
    least.stuck.store(true, Ordering::Relaxed);
    let write = queue.from_fpga(0, region.part(0..4096)).unwrap();
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    *least.in_unregister.lock().unwrap() = Some(Box::new(move || {
        begun.send(()).unwrap();
        ends.recv().unwrap();
    }));
    std::thread::scope(|scope| {
        let copy = region.clone();
        let forgets = scope.spawn(move || copy.forget());
        begins.recv().unwrap();
        least.end_held(true);
        let stops = scope.spawn(|| write.stop(Duration::ZERO));
        std::thread::sleep(WHILE);
        assert!(!stops.is_finished());
        end.send(()).unwrap();
        let stopped = stops.join().unwrap();
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        forgets.join().unwrap().unwrap();
    });
}

#[test]
fn a_stop_by_a_restart_reports_a_failed_flush() {
    let (least, device, region) = with_a_region();
    let queue = device.queue().unwrap();
    least.stuck.store(true, Ordering::Relaxed);
    let write = queue.from_fpga(0, region.part(0..64)).unwrap();
    refuse_flushes(&least);
    let board = least.clone();
    *least.in_stop.lock().unwrap() = Some(Box::new(move || {
        board.failing.store(true, Ordering::Relaxed);
        board.end_held(true);
    }));
    let stopped = write.stop(Duration::ZERO);
    assert!(is_unproven(&stopped), "{stopped:?}");
    assert_eq!(least.stops.lock().unwrap().len(), 1);
}

/// Functions for the ends of a write that wait: the receiver gets a message when they begin, and they end with one.
fn waiting_ends() -> (
    impl Fn() -> Result<()> + Send + Sync,
    mpsc::Receiver<()>,
    mpsc::Sender<()>,
) {
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let (begun, ends) = (Mutex::new(begun), Mutex::new(ends));
    let waits = move || {
        begun.lock().unwrap().send(()).unwrap();
        ends.lock().unwrap().recv().unwrap();
        Ok(())
    };
    (waits, begins, end)
}

/// The board is done with the write, so a restart would end others' transfers for nothing.
#[test]
fn a_stop_of_a_write_with_a_rest_waits_for_the_rest_and_flushes() {
    let (ends, begins, end) = waiting_ends();
    let (least, device, region) = with_ends(ends);
    least.real.store(true, Ordering::Relaxed);
    let queue = device.queue().unwrap();
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: 66,
        piece: None,
    };
    let write = queue.submit_with(&request, NO_FLUSH).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| write.wait(Duration::from_secs(5)));
        begins.recv().unwrap();
        least.stuck.store(true, Ordering::Relaxed);
        let other = queue.to_fpga(region.part(0..64), 0).unwrap();
        let board = least.clone();
        *least.in_stop.lock().unwrap() = Some(Box::new(move || board.end_held(true)));
        let stops = scope.spawn(|| write.stop(Duration::ZERO));
        std::thread::sleep(WHILE);
        end.send(()).unwrap();
        assert_eq!(waits.join().unwrap().unwrap(), 66);
        assert_eq!(stops.join().unwrap().unwrap(), 66);
        assert!(least.stops.lock().unwrap().is_empty());
        assert!(other.result().is_none());
        least.end_held(true);
        assert_eq!(other.wait(WHILE).unwrap(), 64);
    });
    assert!(least.flushed.lock().unwrap().contains(&region.handle()));
}

#[test]
fn a_future_reports_a_board_that_is_gone_after_the_ends_of_its_write() {
    let (ends, begins, end) = waiting_ends();
    let (least, device, region) = with_ends(ends);
    let queue = device.queue().unwrap();
    let write = queue.from_fpga(0, region.part(1..3)).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| write.wait(Duration::from_secs(5)));
        begins.recv().unwrap();
        least.gone.store(true, Ordering::Relaxed);
        let polls = scope.spawn(|| {
            let _ = queue.turn();
            let mut ended = std::pin::pin!(write.ended());
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            ended.as_mut().poll(&mut context).is_ready()
        });
        std::thread::sleep(WHILE);
        let reported_early = polls.is_finished();
        end.send(()).unwrap();
        // It has not ended, or it has waited for the other thread.
        assert!(!(polls.join().unwrap() && reported_early));
        assert_eq!(waits.join().unwrap().unwrap(), 2);
    });
}
