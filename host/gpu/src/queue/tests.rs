//! A queue with a stand-in for CUDA's driver, which fails where it is told to.

use super::*;
use crate::least::Least;
use crate::standin::{self, Failure};
use peerlane_host::Error as BoardError;

fn device() -> (Least, Device) {
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

/// Whatever fails on the way, the device has its channel afterwards, and CUDA has nothing.
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
        // Both a queue of the host's and a second attempt can have it.
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
