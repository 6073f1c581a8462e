//! Copies in windows, where the board's table is small, and where a window fails.

use crate::common::{MIB, open, registered};
use crate::fake::Config;
use peerlane_host::{
    CopyOptions, Device, Direction, Error, Memory, MemoryKind, Permissions, Queue,
};
use std::time::Duration;

/// 256 entries: 1 MiB in pages of 4 KiB.
fn small() -> Config {
    Config {
        att_log2: 8,
        ..Config::default()
    }
}

fn memory(device: &Device, length: u64) -> Memory {
    device.memory(MemoryKind::Host, length as usize).unwrap()
}

fn copy(
    queue: &Queue,
    direction: Direction,
    memory: &Memory,
    limit: Option<Duration>,
) -> Result<(), Error> {
    let (place, options) = (
        (memory.address(), memory.length() as u64),
        CopyOptions::default(),
    );
    // SAFETY: the memory outlives the call, and is looked at after it.
    unsafe { queue.begin_copy(direction, place, 0, options)? }.wait(limit)
}

#[test]
fn a_copy_finds_windows_that_fit() {
    let (fake, _driver, device, queue) = open(small());
    let whole = memory(&device, 5 * MIB);
    let error = device.register_all(&whole, Permissions::Read).unwrap_err();
    let Error::TooLarge { entries, most, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!((entries, most), (1280, 256));
    // All but 24 entries are somebody's: windows of 64 KiB, one at a time.
    for taken in [0, 232] {
        let other = (taken > 0)
            .then(|| registered(&device, MemoryKind::Host, taken * 4096, Permissions::Read));
        let data: Vec<u8> = (0..whole.length())
            .map(|at| (at / 7) as u8 ^ taken as u8)
            .collect();
        whole.write(0, &data).unwrap();
        copy(&queue, Direction::Read, &whole, None).unwrap();
        whole.write(0, &vec![0; whole.length()]).unwrap();
        copy(&queue, Direction::Write, &whole, None).unwrap();
        let mut back = vec![0; whole.length()];
        whole.read(0, &mut back).unwrap();
        assert!(back == data, "{taken} entries are taken");
        assert_eq!(fake.lock().valid_entries() as u64, taken);
        drop(other);
    }
}

#[test]
fn a_copy_without_room_leaves_nothing_behind() {
    let (fake, _driver, device, queue) = open(small());
    let _other = registered(&device, MemoryKind::Host, 245 * 4096, Permissions::Read);
    let whole = memory(&device, 5 * MIB);
    let error = copy(&queue, Direction::Read, &whole, None).unwrap_err();
    assert!(matches!(error, Error::AttFull(_)), "{error:?}");
    assert_eq!(fake.lock().valid_entries(), 245);
}

#[test]
fn when_a_window_fails_the_board_forgets_all() {
    let (fake, _driver, device, queue) = open(small());
    let whole = memory(&device, 5 * MIB);
    for direction in Direction::BOTH {
        fake.lock().tricks.fault = Some((direction as usize, 4, 3, 4096));
        let error = copy(&queue, direction, &whole, None).unwrap_err();
        assert!(matches!(error, Error::Fault { .. }), "{error:?}");
        assert_eq!((fake.lock().valid_entries(), queue.under_way()), (0, 0));
        copy(&queue, direction, &whole, None).unwrap();
    }
}

#[test]
fn a_copy_ends_at_its_limit() {
    let (fake, _driver, device, queue) = open(small());
    let whole = memory(&device, 5 * MIB);
    fake.lock().tricks.stuck = true;
    let error = copy(
        &queue,
        Direction::Write,
        &whole,
        Some(Duration::from_millis(20)),
    )
    .unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    assert_eq!((fake.lock().valid_entries(), queue.under_way()), (0, 0));
}
