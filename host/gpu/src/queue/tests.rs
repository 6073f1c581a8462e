//! A queue with a mock of CUDA's driver, whose calls fail on demand.

use super::*;
use crate::least::Least;
use crate::standin::{self, Failure};
use peerlane_host::{Error as BoardError, MemoryKind, Region};

pub(super) fn device() -> (Least, Device) {
    let least = Least::new();
    least
        .mapped
        .store(true, std::sync::atomic::Ordering::Relaxed);
    (least.clone(), Device::over(least).unwrap())
}

#[test]
fn a_queue_that_comes_to_be_has_the_channel() {
    let (_, device) = device();
    let gpu = standin::gpu();
    let queue = GpuQueue::new(&gpu, &device).unwrap();
    assert!(matches!(device.queue(), Err(BoardError::Taken)));
    assert_eq!(standin::registered(), 2);
    drop(queue);
    assert_eq!(standin::registered(), 0);
    assert_eq!(standin::memory(), 0);
}

/// After a failure at any point, the device has its channel, and CUDA has no objects left.
#[test]
fn a_queue_that_does_not_come_to_be_gives_the_channel_back() {
    // Both ways of mapping the page are refused, then those of the ring; their addresses; and the state's copy.
    let failures = [
        ("module_load", 1..2),
        ("module_function", 1..2),
        ("event_create", 1..2),
        ("allocate", 1..2),
        ("host_register", 1..3),
        ("host_register", 2..4),
        ("host_address", 1..2),
        ("host_address", 2..3),
        ("copy_in", 1..2),
    ];
    for (call, which) in failures {
        let (_, device) = device();
        let gpu = standin::gpu();
        standin::fail(Failure {
            call,
            which: which.clone(),
        });
        let error = GpuQueue::new(&gpu, &device).unwrap_err();
        assert!(
            matches!(error, Error::Cuda { code, .. } if code == crate::cuda::UNHEARD),
            "{call} {which:?}: {error}"
        );
        assert_eq!(standin::registered(), 0, "{call} {which:?}");
        assert_eq!(standin::memory(), 0, "{call} {which:?}");
        // Both a queue of the host's and a second attempt can take the channel.
        standin::fail(standin::NOTHING);
        drop(GpuQueue::new(&gpu, &device).unwrap_or_else(|error| {
            panic!("{call} {which:?}: {error}");
        }));
    }
}

#[test]
fn a_device_without_a_mapped_channel_keeps_its_queue() {
    let least = Least::new();
    let device = Device::over(least).unwrap();
    let error = GpuQueue::new(&standin::gpu(), &device).unwrap_err();
    assert!(
        matches!(error, Error::Board(BoardError::Map { .. })),
        "{error}"
    );
    device.queue().unwrap();
}

pub(super) fn request(region: &Region, direction: Direction) -> Request<'_> {
    Request {
        direction,
        region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    }
}

/// A step's region stays registered for as long as the queue may use it: otherwise its entries of the board's table
/// could become another region's. A region that is unregistered already is refused, and so is a write whose arrival the
/// board cannot prove.
#[test]
fn regions_of_steps_are_held() {
    let (least, device) = device();
    let queue = GpuQueue::new(&standin::gpu(), &device).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let register = |permissions| device.register_all(&memory, permissions).unwrap();
    let admit = |region: &Region, direction| {
        let admitted = queue.admit(&mut queue.lock(), &request(region, direction));
        admitted.map(drop)
    };
    let [written, read, forgotten] = [(); 3].map(|()| register(Permissions::ReadWrite));
    for direction in [Direction::ToFpga, Direction::FromFpga, Direction::ToFpga] {
        admit(&written, direction).unwrap();
    }
    admit(&read, Direction::ToFpga).unwrap();
    forgotten.clone().forget().unwrap();
    let refused = admit(&forgotten, Direction::ToFpga);
    assert!(
        matches!(refused, Err(Error::Board(BoardError::Forgotten))),
        "{refused:?}"
    );
    for region in [&written, &read] {
        let refused = region.clone().forget();
        assert!(
            matches!(refused, Err(BoardError::Call { .. })),
            "{refused:?}"
        );
    }
    let unread = register(Permissions::Write);
    let refused = admit(&unread, Direction::FromFpga);
    assert!(
        matches!(refused, Err(Error::Board(BoardError::Region(_)))),
        "{refused:?}"
    );
    unread.forget().unwrap();
    // The bytes that it wrote have arrived before the queue releases the region.
    drop(queue);
    assert_eq!(*least.flushed.lock().unwrap(), [written.handle()]);
    for region in [written, read] {
        region.forget().unwrap();
    }
}

/// The default stream is that of the thread's context: for a thread that never had one, and for one that has another
/// GPU's.
#[test]
fn a_step_goes_to_the_queues_context_from_any_thread() {
    let (_, device) = device();
    let queue = GpuQueue::new(&standin::gpu(), &device).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::Read).unwrap();
    let step = || {
        let (request, default) = (request(&region, Direction::ToFpga), std::ptr::null_mut());
        // SAFETY: null is the default stream.
        unsafe { queue.enqueue_on(default, &request, LONGEST) }
    };
    for other in [None, Some(64)] {
        std::thread::scope(|scope| {
            let fresh = scope.spawn(|| {
                if let Some(other) = other {
                    standin::make_current(other);
                }
                let before = standin::current();
                step().unwrap();
                assert_eq!(standin::launched(), (1, 1), "{other:?}");
                assert_eq!(standin::current(), before);
            });
            fresh.join().unwrap();
        });
    }
}

/// Another thread's graph stays valid while objects are made and released, and no memory stays allocated.
#[test]
fn what_is_made_and_given_back_beside_a_capture_leaves_it_alone() {
    let gpu = standin::gpu();
    let before = gpu.plain_buffer(1 << 20).unwrap();
    let (_, another) = device();
    let (_, device) = device();
    let queue = GpuQueue::new(&gpu, &device).unwrap();
    standin::capture(standin::Capture::Valid);
    let meanwhile = gpu.plain_buffer(1 << 20).unwrap();
    meanwhile.write(0, &[1; 8]).unwrap();
    meanwhile.read(0, &mut [0; 8]).unwrap();
    queue.outcome().unwrap();
    drop((
        before,
        queue,
        meanwhile,
        GpuQueue::new(&gpu, &another).unwrap(),
    ));
    // The thread's capture mode is as before.
    assert_eq!(standin::captured(), (standin::Capture::Valid, 0));
    assert_eq!((standin::memory(), standin::registered()), (0, 0));
    // The mock does prohibit the call.
    // SAFETY: the driver is the mock.
    let code = unsafe { (gpu.driver().free)(0) };
    assert_eq!(
        (code, standin::captured().0),
        (900, standin::Capture::Invalid)
    );
    let implicit = |call: &dyn Fn() -> i32| {
        standin::capture(standin::Capture::Valid);
        (call(), standin::captured().0)
    };
    let bound = gpu.bind().unwrap();
    // SAFETY: as above.
    let code = implicit(&|| unsafe { (gpu.driver().stream_synchronize)(std::ptr::null_mut()) });
    assert_eq!(code, (906, standin::Capture::Invalid));
    drop(bound);
    standin::capture(standin::Capture::None);
}

/// A step that cannot be waited for may still run: it keeps the objects that it uses.
#[test]
fn a_queue_waits_for_its_own_steps() {
    for (call, stays) in [("", 0), ("event_synchronize", 2), ("event_record", 2)] {
        let gpu = standin::gpu();
        let (_, device) = device();
        let queue = GpuQueue::new(&gpu, &device).unwrap();
        let memory = device.memory(MemoryKind::Host, 4096).unwrap();
        let region = device.register_all(&memory, Permissions::Read).unwrap();
        let step = |which: &str| {
            // The first call goes on; no event is reached until it is waited for.
            standin::stall();
            let request = request(&region, Direction::ToFpga);
            // SAFETY: null is the default stream, and the mock runs nothing.
            let done = unsafe { queue.enqueue_on(std::ptr::null_mut(), &request, LONGEST) };
            assert_eq!(done.is_err(), which == "event_record", "{which}");
        };
        step("");
        standin::fail(Failure { call, which: 1..9 });
        step(call);
        drop(queue);
        standin::fail(standin::NOTHING);
        assert_eq!(standin::registered(), stays, "{call}");
        standin::reset();
    }
}

/// A step on a stream that is not captured would run at once, without an event after it that the queue's drop waits
/// for.
#[test]
fn a_step_is_captured_by_a_stream_that_captures_and_by_no_other() {
    let (_, device) = device();
    let queue = GpuQueue::new(&standin::gpu(), &device).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::Read).unwrap();
    let stream = std::ptr::without_provenance_mut(16);
    let before = standin::launched();
    // CU_STREAM_CAPTURE_STATUS_NONE, _ACTIVE and _INVALIDATED of cuda.h.
    for (status, launched) in [(0, 0), (1, 1), (2, 1)] {
        standin::capture_streams(status);
        let request = request(&region, Direction::ToFpga);
        // SAFETY: the mock runs nothing.
        let captured = unsafe { queue.capture_on(stream, &request, LONGEST) };
        match status {
            1 => captured.unwrap(),
            _ => assert!(matches!(captured, Err(Error::NotCapturing)), "{status}"),
        }
        assert_eq!(
            standin::launched(),
            (before.0 + launched, before.1),
            "{status}"
        );
    }
    standin::capture_streams(0);
}

/// Another thread ends a step that hangs, while one thread waits for it.
#[test]
fn a_queue_is_not_locked_while_a_step_is_waited_for() {
    let (_, device) = device();
    let queue = Arc::new(GpuQueue::new(&standin::gpu(), &device).unwrap());
    let (other, (said, says)) = (Arc::clone(&queue), std::sync::mpsc::channel());
    standin::in_wait(move || said.send(other.last.try_lock().is_ok()).unwrap());
    queue.outcome().unwrap();
    assert_eq!(says.try_recv(), Ok(true));
}

/// Streams end in any order: all steps have ended when the outcome is reported.
#[test]
fn an_outcome_waits_for_all_steps() {
    let (_, device) = device();
    let queue = GpuQueue::new(&standin::gpu(), &device).unwrap();
    let memory = device.memory(MemoryKind::Host, 4096).unwrap();
    let region = device.register_all(&memory, Permissions::Read).unwrap();
    standin::stall();
    for _ in 0..3 {
        let request = request(&region, Direction::ToFpga);
        // SAFETY: null is the default stream, and the mock runs nothing.
        unsafe { queue.enqueue_on(std::ptr::null_mut(), &request, LONGEST) }.unwrap();
    }
    let events = queue.lock().behind.len();
    standin::fail(Failure {
        call: "event_synchronize",
        which: 1000..1001,
    });
    queue.outcome().unwrap();
    assert_eq!(standin::calls() as usize, events);
    assert!(events >= 3);
    standin::fail(standin::NOTHING);
    drop(queue);
    standin::reset();
}
