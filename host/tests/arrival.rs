//! Data of writes have arrived before the library reports that memory is free.

mod least;

use least::Least;
use peerlane_host::{
    Course, Device, Direction, Errno, Error, MemoryKind, Permissions, Region, Request, Result,
    Terms,
};
use std::sync::atomic::Ordering;
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
