//! Copies in windows, where the board's table is small, and where a window fails.

use crate::common::{MIB, SECOND, open, registered};
use crate::fake::Config;
use peerlane_host::{
    CopyOptions, Device, Direction, Error, Memory, MemoryKind, Permissions, Queue,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Makes an address table of 256 entries: 1 MiB in pages of 4 KiB.
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
    // SAFETY: the memory outlives the call, and is read after it.
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
    // All but 24 entries are taken: windows of 64 KiB, one at a time.
    for taken in [0, 232] {
        let other = (taken > 0)
            .then(|| registered(&device, MemoryKind::Host, taken * 4096, Permissions::Read));
        let data: Vec<u8> = (0..whole.length())
            .map(|at| (at / 7) as u8 ^ taken as u8)
            .collect();
        whole.write(0, &data).unwrap();
        copy(&queue, Direction::ToFpga, &whole, None).unwrap();
        whole.write(0, &vec![0; whole.length()]).unwrap();
        copy(&queue, Direction::FromFpga, &whole, None).unwrap();
        let mut back = vec![0; whole.length()];
        whole.read(0, &mut back).unwrap();
        assert!(back == data, "{taken} entries are taken");
        assert_eq!(fake.lock().valid_entries() as u64, taken);
        drop(other);
    }
}

/// By VFIO: the copy has one window at a time, of the bytes that may be locked.
#[test]
fn a_copy_keeps_to_the_limit_of_locked_memory() {
    let (fake, _driver, device, queue) = open(Config::default());
    let whole = memory(&device, 5 * MIB);
    let data: Vec<u8> = (0..whole.length()).map(|at| (at / 7) as u8).collect();
    whole.write(0, &data).unwrap();
    for limit in [4 * MIB, 300 << 10] {
        fake.lock().tricks.lock_limit = Some(limit);
        copy(&queue, Direction::ToFpga, &whole, None).unwrap();
    }
    let mut found = vec![0; whole.length()];
    fake.fpga_read(0, &mut found);
    assert!(found == data);
    // Less than the smallest window.
    fake.lock().tricks.lock_limit = Some(4096);
    let error = copy(&queue, Direction::ToFpga, &whole, None).unwrap_err();
    assert!(matches!(error, Error::Backend(_)), "{error:?}");
}

#[test]
fn a_copy_without_room_leaves_nothing_behind() {
    let (fake, _driver, device, queue) = open(small());
    let _other = registered(&device, MemoryKind::Host, 245 * 4096, Permissions::Read);
    let whole = memory(&device, 5 * MIB);
    let error = copy(&queue, Direction::ToFpga, &whole, None).unwrap_err();
    assert!(matches!(error, Error::AttFull(_)), "{error:?}");
    // The limit holds where not even the first window has room.
    let limit = Some(Duration::from_millis(20));
    let error = copy(&queue, Direction::ToFpga, &whole, limit).unwrap_err();
    assert!(
        matches!(error, Error::Timeout { bytes_done: 0, .. }),
        "{error:?}"
    );
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
        Direction::FromFpga,
        &whole,
        Some(Duration::from_millis(20)),
    )
    .unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    assert_eq!((fake.lock().valid_entries(), queue.under_way()), (0, 0));
}

/// Entries of earlier windows stay reserved as long as other descriptors of the channel are under way.
#[test]
fn a_copy_goes_on_beside_other_transfers() {
    let (_fake, _driver, device, queue) = open(small());
    let (_memory, region) = registered(&device, MemoryKind::Host, 8192, Permissions::ReadWrite);
    let whole = memory(&device, 5 * MIB);
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let next = || queue.from_fpga(0, region.part(0..4096)).unwrap();
            let mut under_way = next();
            while !ends.load(Ordering::Relaxed) {
                // The channel is never idle.
                let following = next();
                under_way.wait(SECOND).unwrap();
                under_way = following;
            }
            under_way.wait(SECOND).unwrap();
        });
        let copied: Vec<_> = Direction::BOTH
            .map(|direction| copy(&queue, direction, &whole, None))
            .into();
        ends.store(true, Ordering::Relaxed);
        for copied in copied {
            copied.unwrap();
        }
    });
}

/// A window that was handed to the board is unregistered even if the caller's thread panics there.
#[test]
fn a_copy_that_panics_leaves_nothing_with_the_board() {
    let (fake, _driver, device, queue) = open(small());
    let whole = memory(&device, 5 * MIB);
    fake.lock().tricks.panics = true;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        copy(&queue, Direction::FromFpga, &whole, None)
    }));
    assert!(panicked.is_err());
    assert_eq!(fake.lock().valid_entries(), 0);
}

/// A program may have no time to wait, and other work between two calls.
#[test]
fn a_copy_goes_on_in_calls_without_time() {
    let (fake, _driver, device, queue) = open(small());
    let whole = memory(&device, 5 * MIB);
    let (place, options) = (
        (whole.address(), whole.length() as u64),
        CopyOptions::default(),
    );
    // SAFETY: the memory outlives the copy, and is not accessed during it.
    let begun = unsafe { queue.begin_copy(Direction::ToFpga, place, 0, options) };
    let mut copying = begun.unwrap();
    let ended = (0..100).any(|_| match copying.wait(Duration::ZERO) {
        Ok(()) => true,
        Err(Error::Timeout { .. }) => {
            device.poll(Some(Duration::from_millis(1))).unwrap();
            false
        }
        Err(error) => panic!("{error:?}"),
    });
    assert!(ended, "{:?}", copying.wait(Duration::ZERO));
    drop(copying);
    assert_eq!((fake.lock().valid_entries(), queue.under_way()), (0, 0));
}

/// Earlier transfers of others do not delay a copy that has no time left.
#[test]
fn a_copy_behind_others_ends_at_its_limit() {
    let (fake, _driver, device, queue) = open(Config {
        gpu_granule: 2 * MIB,
        ..Config::default()
    });
    queue.set_piece(u32::MAX);
    let (_memory, region) = registered(&device, MemoryKind::Gpu, 1024 * MIB, Permissions::Read);
    let whole = memory(&device, 16 * MIB);
    fake.lock().tricks.stuck = true;
    let other = queue.to_fpga(&region, 0).unwrap();
    let begin = device.now();
    let limit = Some(Duration::from_millis(20));
    let error = copy(&queue, Direction::ToFpga, &whole, limit).unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    let took = device.now() - begin;
    assert!(took < Duration::from_millis(2500), "{took:?}");
    assert!(matches!(other.wait(SECOND), Err(Error::Stopped)));
    assert_eq!(queue.under_way(), 0);
}

/// Memory for the ends of a write finds room before the windows take all of it.
#[test]
fn a_copy_leaves_room_for_its_ends() {
    let (_fake, _driver, device, queue) = open(Config {
        write_granularity: 4,
        ..small()
    });
    let whole = memory(&device, 2 * MIB);
    let place = (whole.address(), whole.length() as u64 - 1);
    let options = CopyOptions::default();
    // SAFETY: the memory outlives the call, and is read after it.
    let begun = unsafe { queue.begin_copy(Direction::FromFpga, place, 0, options) };
    let copied = begun.unwrap().wait(None);
    // The fake's memory has no address at which the last bytes could be stored.
    let Err(Error::Fault { bytes_done, .. }) = copied else {
        panic!("{copied:?}");
    };
    assert_eq!(bytes_done, 2 * MIB - 4);
}

/// Also within its limit: the driver cuts such a board off from memory.
#[test]
fn a_copy_on_a_board_that_is_gone_returns() {
    let (fake, _driver, device, queue) = open(small());
    let whole = memory(&device, 5 * MIB);
    fake.lock().tricks.gone = true;
    let (sent, ended) = std::sync::mpsc::channel();
    // It may never end.
    std::thread::spawn(move || sent.send(copy(&queue, Direction::FromFpga, &whole, Some(SECOND))));
    let copied = ended.recv_timeout(20 * SECOND).expect("the copy returns");
    assert!(matches!(copied, Err(Error::Gone)), "{copied:?}");
}

/// A port that is dead, or a fence that is never reached, does not keep a copy from its end: the driver cuts the board
/// off from memory, and a reset brings it back.
#[test]
fn a_copy_on_a_board_that_releases_nothing_returns() {
    for dead in [false, true] {
        let (fake, driver, device, queue) = open(small());
        let at_rest = fake.lock().memories();
        let whole = memory(&device, 5 * MIB);
        fake.lock().tricks.stuck = true;
        fake.lock().tricks.port_dead = dead;
        fake.lock().tricks.no_fence = !dead;
        let (sent, ended) = std::sync::mpsc::channel();
        let copier = queue.clone();
        // It may never end.
        std::thread::spawn(move || {
            let copied = copy(&copier, Direction::FromFpga, &whole, Some(SECOND));
            sent.send((copied, whole))
        });
        let (copied, whole) = ended.recv_timeout(20 * SECOND).expect("the copy returns");
        assert!(copied.is_err(), "dead {dead}: {copied:?}");
        assert!(fake.lock().is_cut_off());
        assert!(matches!(device.query(), Err(Error::Gone)));
        drop(whole);
        assert_eq!(fake.lock().memories(), at_rest, "dead {dead}");
        let mut tricks = fake.lock();
        (
            tricks.tricks.stuck,
            tricks.tricks.port_dead,
            tricks.tricks.no_fence,
        ) = Default::default();
        drop(tricks);
        driver.reset().unwrap();
        let _ = device.query().unwrap();
        let whole = memory(&device, 5 * MIB);
        copy(&queue, Direction::FromFpga, &whole, None).unwrap();
    }
}
