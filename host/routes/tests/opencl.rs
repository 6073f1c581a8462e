//! Copies between any two OpenCL devices, tried with two of PoCL's. Each test runs in a process of its own, in which the
//! loader finds PoCL.

use peerlane_routes::opencl::{ClDevice, devices};
use peerlane_routes::{Cancel, Copy, Error, Limits, Pair, Route, Side};
use peerlane_tools::Cache;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "../../../examples/05-two-platforms/two_platforms.rs"]
mod two_platforms;

/// Set in the processes with PoCL.
const INSIDE: &str = "PEERLANE_ROUTES_INSIDE";

/// Runs this test again where the loader finds two devices of PoCL's, unless that is here; says whether it is.
fn inside(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let cache = Cache::open().expect("the cache of tools");
    let opencl = cache.opencl().expect("PoCL");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    opencl.set(&mut command);
    command
        .env("POCL_DEVICES", "basic pthread")
        .env(INSIDE, "1")
        .args([
            "--ignored",
            "--exact",
            name,
            "--nocapture",
            "--test-threads=1",
        ]);
    let status = command.status().expect("this program starts");
    assert!(status.success(), "{name}: {status}");
    false
}

fn two() -> [ClDevice; 2] {
    let mut found = devices().unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    let second = found.pop().unwrap();
    [found.pop().unwrap(), second]
}

fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ seed)
        .collect()
}

const MIB: u64 = 1 << 20;

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn all_sizes_arrive_and_nothing_else_changes() {
    if !inside("all_sizes_arrive_and_nothing_else_changes") {
        return;
    }
    let size = 9 * MIB;
    let memories = two().map(|device| device.memory(size).unwrap());
    let sides: Vec<Arc<dyn Side>> = (memories.iter())
        .map(|memory| Arc::new(memory.clone()) as Arc<dyn Side>)
        .collect();
    let pair = Pair::new(Arc::clone(&sides[0]), Arc::clone(&sides[1]), 2 << 20);
    for from in [0, 1] {
        for route in [Route::Sequential, Route::Concurrent, Route::Auto] {
            for (at, to, length) in [
                (0, 0, 1),
                (3, 4095, 4099),
                (65_537, 1, 1_000_003),
                (MIB - 1, 7, 8 * MIB + 1),
            ] {
                let data = pattern(1, size as usize);
                let mut expected = pattern(2, size as usize);
                memories[from].write(0, &data).unwrap();
                memories[1 - from].write(0, &expected).unwrap();
                let copy = Copy {
                    from,
                    at,
                    to,
                    length,
                    route,
                    chunk: None,
                };
                assert_eq!(pair.copy(&copy, &Limits::default()).unwrap(), length);
                expected[to as usize..(to + length) as usize]
                    .copy_from_slice(&data[at as usize..(at + length) as usize]);
                let mut found = vec![0; size as usize];
                memories[1 - from].read(0, &mut found).unwrap();
                assert!(found == expected, "{copy:?}");
                memories[from].read(0, &mut found).unwrap();
                assert!(found == data, "{copy:?}: the source");
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_wait_sleeps_and_a_deadline_ends_it() {
    if !inside("a_wait_sleeps_and_a_deadline_ends_it") {
        return;
    }
    let size = 64 * MIB;
    let [one, other] = two().map(|device| device.memory(size).unwrap());
    let data = pattern(4, size as usize);
    one.write(0, &data).unwrap();
    let pair = Pair::new(Arc::new(one), Arc::new(other.clone()), 1 << 20);
    let copy = Copy {
        from: 0,
        at: 0,
        to: 0,
        length: size,
        route: Route::Concurrent,
        chunk: Some(64 << 10),
    };
    let soon = Limits::within(Duration::from_micros(200));
    let begin = Instant::now();
    let late = pair.copy(&copy, &soon);
    assert!(
        matches!(late, Err(Error::Deadline { done, length, .. }) if done < length),
        "{late:?}"
    );
    assert!(begin.elapsed() < Duration::from_secs(60));
    let cancel = Cancel::default();
    let limits = Limits {
        cancel: Some(cancel.clone()),
        ..Limits::default()
    };
    let again = Copy {
        chunk: Some(4096),
        ..copy
    };
    let called_off = std::thread::scope(|scope| {
        let copying = scope.spawn(|| pair.copy(&again, &limits));
        std::thread::sleep(Duration::from_millis(2));
        cancel.cancel();
        copying.join().unwrap()
    });
    assert!(
        matches!(called_off, Err(Error::Cancelled { .. })),
        "{called_off:?}"
    );
    // And it can be used on.
    assert_eq!(pair.copy(&copy, &Limits::default()).unwrap(), size);
    let mut found = vec![0; size as usize];
    other.read(0, &mut found).unwrap();
    assert!(found == data);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn what_cannot_be_is_refused() {
    if !inside("what_cannot_be_is_refused") {
        return;
    }
    let [one, other] = two().map(|device| device.memory(4096).unwrap());
    let pair = Pair::new(Arc::new(one), Arc::new(other), 1 << 20);
    let copy = Copy {
        from: 0,
        at: 1,
        to: 0,
        length: 4096,
        route: Route::Sequential,
        chunk: None,
    };
    let outside = pair.copy(&copy, &Limits::default());
    assert!(matches!(outside, Err(Error::Bounds { .. })), "{outside:?}");
    let direct = Copy {
        at: 0,
        route: Route::DirectWrite,
        ..copy
    };
    let refused = pair.copy(&direct, &Limits::default());
    assert!(
        matches!(&refused, Err(Error::Refused { why, .. }) if why.contains("board")),
        "{refused:?}"
    );
    assert!(!refused.unwrap_err().hint().is_empty());
}

#[test]
fn the_example_tells_the_librarys_hint() {
    let reason = "no device has it".into();
    let error = Error::NoOpenCl { reason };
    let told = format!("{:?}", two_platforms::with_hint(error.clone().into()));
    assert!(
        told.starts_with(&error.hint()) && told.contains("no device has it"),
        "{told}"
    );
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn the_example_with_two_platforms() {
    if inside("the_example_with_two_platforms") {
        two_platforms::run().unwrap();
    }
}
