//! Work that takes long does not keep other contexts from the board.

use crate::common::{MIB, SECOND, drive, open_at, registered};
use crate::fake::Config;
use peerlane_host::{Direction, Error, MemoryKind, Permissions};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Far longer than a call of another context takes.
const LONG: Duration = Duration::from_millis(300);

#[test]
fn memory_is_filled_while_others_have_the_board() {
    let (fake, driver) = drive(Config::default());
    let (device, other) = (driver.open().unwrap(), driver.open().unwrap());
    let small = other.allocate(MIB).unwrap();
    fake.lock().tricks.takes = Duration::from_millis(2);
    let begin = Instant::now();
    let filling =
        std::thread::spawn(move || device.allocate(128 * MIB).map(|memory| memory.keep()));
    let mut longest = Duration::ZERO;
    while !filling.is_finished() {
        let call = Instant::now();
        let came = other.poll(Some(Duration::from_millis(10)));
        assert!(came.is_ok(), "{came:?}");
        longest = longest.max(call.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    filling.join().unwrap().unwrap();
    assert!(
        begin.elapsed() > 2 * LONG,
        "the fill is too short to see it"
    );
    assert!(longest < LONG, "a call took {longest:?}");
    drop(small);
}

/// The rest of the memory is not filled by a board that was reset.
#[test]
fn a_reset_while_memory_is_filled_is_reported() {
    let (fake, driver) = drive(Config::default());
    let device = driver.open().unwrap();
    fake.lock().tricks.takes = Duration::from_millis(2);
    let filling = std::thread::spawn(move || {
        let refused = device.allocate(128 * MIB).unwrap_err();
        (refused, device)
    });
    while fake.lock().seen.ended.is_empty() {
        std::thread::yield_now();
    }
    driver.reset().unwrap();
    let (refused, device) = filling.join().unwrap();
    assert!(matches!(refused, Error::Restarted), "{refused}");
    fake.lock().tricks.takes = Duration::ZERO;
    drop(device.allocate(MIB).unwrap());
}

#[test]
fn memory_is_pinned_while_others_have_the_board() {
    for gone in [false, true] {
        let (fake, driver) = drive(Config::default());
        let (device, queue) = open_at(&driver);
        let memory = device.memory(MemoryKind::Host, MIB as usize).unwrap();
        let before = fake.lock().memories();
        let (sent, messages) = channel();
        fake.lock().tricks.slow_pin = Some(messages);
        let region = std::thread::scope(|scope| {
            let pinning = scope.spawn(|| device.register_all(&memory, Permissions::Read));
            while fake.lock().tricks.slow_pin.is_some() {
                std::thread::yield_now();
            }
            // It does not wait for the other thread.
            assert!(driver.status().is_ok());
            let (_other, region) = registered(&device, MemoryKind::Host, MIB, Permissions::Read);
            let moved = queue.to_fpga(region.part(0..MIB), 0).unwrap();
            assert_eq!(moved.wait(SECOND).unwrap(), MIB);
            if gone {
                fake.lock().tricks.gone = true;
                assert!(driver.status().is_err());
            }
            sent.send(()).unwrap();
            pinning.join().unwrap()
        });
        match gone {
            false => {
                let moved = queue.to_fpga(region.unwrap().part(0..MIB), 0).unwrap();
                assert_eq!(moved.wait(SECOND).unwrap(), MIB);
            }
            true => assert!(matches!(region, Err(Error::Gone)), "{region:?}"),
        }
        drop((memory, queue, device, driver));
        assert!(before > 0 && fake.lock().memories() == 0);
    }
}

#[test]
fn memory_that_cannot_be_pinned_is_forgotten() {
    let (fake, driver) = drive(Config::default());
    let (device, queue) = open_at(&driver);
    let memory = device.memory(MemoryKind::Host, MIB as usize).unwrap();
    let (sent, messages) = channel();
    drop(sent);
    fake.lock().tricks.slow_pin = Some(messages);
    let refused = device.register_all(&memory, Permissions::Read).unwrap_err();
    assert!(matches!(refused, Error::Backend(_)), "{refused}");
    let region = device.register_all(&memory, Permissions::Read).unwrap();
    let request = queue.to_fpga(region.part(0..64), 0).unwrap();
    assert_eq!(request.direction(), Direction::ToFpga);
    assert_eq!(request.wait(SECOND).unwrap(), 64);
}
