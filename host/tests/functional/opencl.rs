//! The OpenCL side of a board that is driven from the process.

use crate::common::{MIB, SECOND, drive, open_at, registered};
use crate::fake::{Config, Fake};
use peerlane_host::driver::{BackendResult, Bar, Driver};
use peerlane_host::{Area, Errno, Error, MemoryKind, OpenCl, Permissions};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Accesses to the OpenCL side, and its interrupt line.
#[derive(Default)]
struct Wires {
    line: bool,
    /// The interrupt is a message that the board sends when the line rises.
    is_message: bool,
    /// A message has come.
    came: bool,
    /// Registers read as ones.
    ones: bool,
    writes: Vec<(Area, u64, Vec<u8>)>,
}

/// Registers that answer with their offsets.
struct Registers(Arc<Mutex<Wires>>);

impl Bar for Registers {
    fn bytes(&self, area: Area) -> u64 {
        match area {
            Area::Kernels => 0x4000,
            Area::Clock => 0x800,
            Area::Version => 4,
            Area::Temperature | Area::Status => 0,
        }
    }

    fn read(&mut self, _: Area, offset: u64, data: &mut [u8]) -> BackendResult<()> {
        let bytes = (offset..).map(|at| at as u8);
        data.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        if self.0.lock().unwrap().ones {
            data.fill(0xff);
        }
        Ok(())
    }

    fn write(&mut self, area: Area, offset: u64, data: &[u8]) -> BackendResult<()> {
        let write = (area, offset, data.to_vec());
        self.0.lock().unwrap().writes.push(write);
        Ok(())
    }

    fn arm(&mut self) -> BackendResult<()> {
        let mut wires = self.0.lock().unwrap();
        wires.came = wires.line;
        Ok(())
    }

    fn interrupt(&mut self) -> BackendResult<bool> {
        let wires = self.0.lock().unwrap();
        Ok(match wires.is_message {
            true => wires.came,
            false => wires.line,
        })
    }

    fn running(&self) -> bool {
        false
    }
}

/// Takes the OpenCL side, with a context that has all memory.
fn side_of(driver: &Driver) -> Box<dyn OpenCl> {
    let device = driver.open().unwrap();
    device.allocate_all(0).unwrap().keep();
    device.open_cl().unwrap()
}

fn board() -> (Fake, Driver, Arc<Mutex<Wires>>) {
    let (fake, driver) = drive(Config::default());
    let wires = Arc::default();
    fake.lock().opencl = Some(Box::new(Registers(Arc::clone(&wires))));
    (fake, driver, wires)
}

/// Longer than a notified thread takes to look.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn one_context_has_it_and_its_end_resets_the_kernels() {
    let (_fake, driver, wires) = board();
    let (device, other) = (driver.open().unwrap(), driver.open().unwrap());
    let error = device.open_cl().unwrap_err();
    assert!(error.hint().contains("Allocate all"), "{error}");
    device.allocate_all(0).unwrap().keep();
    let side = device.open_cl().unwrap();
    for device in [&device, &other] {
        let error = device.open_cl().unwrap_err();
        assert!(matches!(&error, Error::OpenCl { .. }), "{error}");
        assert!(error.hint().contains("One program at a time"), "{error}");
    }
    assert!(wires.lock().unwrap().writes.is_empty());
    // The side outlives its device.
    drop(device);
    assert!(other.open_cl().is_err() && other.allocate_all(0).is_err());
    drop(side);
    let [(area, offset, _)] = wires.lock().unwrap().writes[..] else {
        panic!("one write of sw_reset")
    };
    assert_eq!((area, offset), (Area::Kernels, 0x30));
    side_of(&driver);
}

#[test]
fn memory_of_kernels_is_not_freed() {
    let (_fake, driver, _wires) = board();
    let device = driver.open().unwrap();
    let memory = device.allocate_all(0).unwrap();
    let side = device.open_cl().unwrap();
    let error = memory.free().unwrap_err();
    assert!(
        matches!(
            error,
            Error::Memory {
                source: Errno::BUSY,
                ..
            }
        ),
        "{error}"
    );
    drop(side);
    drop(device);
    let next = driver.open().unwrap();
    drop(next.allocate_all(0).unwrap());
}

#[test]
fn a_board_without_it_says_so() {
    let (_fake, driver) = drive(Config::default());
    let error = driver.open().unwrap().open_cl().unwrap_err();
    assert!(matches!(&error, Error::OpenCl { .. }), "{error}");
    let (_fake, driver, _) = board();
    let side = side_of(&driver);
    assert_eq!(side.bytes(Area::Temperature), 0);
    let error = side.read(Area::Temperature, 0, &mut [0; 4]).unwrap_err();
    assert!(matches!(&error, Error::OpenCl { .. }), "{error}");
}

#[test]
fn accesses_keep_to_their_part() {
    let (_fake, driver, wires) = board();
    let side = side_of(&driver);
    let mut bytes = [0; 3];
    side.read(Area::Clock, 0x7fd, &mut bytes).unwrap();
    assert_eq!(bytes, [0xfd, 0xfe, 0xff]);
    side.write(Area::Kernels, 0x1001, &[1, 2, 3]).unwrap();
    for (area, offset) in [
        (Area::Clock, 0x7fe),
        (Area::Version, 2),
        (Area::Kernels, u64::MAX),
    ] {
        let error = side.write(area, offset, &[0; 3]).unwrap_err();
        assert!(error.to_string().contains(area.name()), "{error}");
        assert!(side.read(area, offset, &mut bytes).is_err());
    }
    let writes = &wires.lock().unwrap().writes;
    assert_eq!(writes[..], [(Area::Kernels, 0x1001, vec![1, 2, 3])]);
}

/// A register of a finished kernel reads as ones, too.
#[test]
fn a_board_that_is_not_there_has_no_register_that_reads_as_ones() {
    let (fake, driver, wires) = board();
    let side = side_of(&driver);
    let mut bytes = [0; 4];
    wires.lock().unwrap().ones = true;
    side.read(Area::Kernels, 0x1000, &mut bytes).unwrap();
    assert_eq!(bytes, [0xff; 4]);
    fake.lock().tricks.gone = true;
    let error = side.read(Area::Kernels, 0x1000, &mut bytes).unwrap_err();
    assert!(matches!(error, Error::Gone), "{error}");
}

#[test]
fn an_interrupt_comes_once_for_each_time_it_is_armed() {
    let (_fake, driver, wires) = board();
    let side = side_of(&driver);
    let moment = Some(Duration::from_millis(1));
    wires.lock().unwrap().line = true;
    assert!(!side.wait(moment).unwrap(), "nobody has armed it");
    side.arm().unwrap();
    assert!(side.wait(None).unwrap());
    assert!(!side.wait(moment).unwrap(), "it is masked");
    wires.lock().unwrap().line = false;
    side.arm().unwrap();
    assert!(!side.wait(moment).unwrap(), "the line is low");
    wires.lock().unwrap().line = true;
    assert!(side.wait(None).unwrap());
}

/// A message is sent once for each rise of the line.
#[test]
fn a_line_that_is_high_when_it_is_armed_interrupts_at_once() {
    let (_fake, driver, wires) = board();
    let side = side_of(&driver);
    let moment = Some(Duration::from_millis(1));
    wires.lock().unwrap().is_message = true;
    // It rises once, and its user leaves it high: two kernels have ended.
    wires.lock().unwrap().line = true;
    wires.lock().unwrap().came = true;
    for _ in 0..2 {
        side.arm().unwrap();
        assert!(side.wait(moment).unwrap());
        assert!(!side.wait(moment).unwrap(), "it is masked");
    }
    // A rise that its user has handled before it was armed.
    wires.lock().unwrap().came = true;
    wires.lock().unwrap().line = false;
    side.arm().unwrap();
    assert!(!side.wait(moment).unwrap(), "the line is low");
}

#[test]
fn a_reset_by_others_is_counted() {
    let (fake, driver, _) = board();
    let side = side_of(&driver);
    assert_eq!(side.resets().unwrap(), 0);
    // A reset of the block alone.
    driver.reset().unwrap();
    assert_eq!(side.resets().unwrap(), 0);
    fake.lock().reset_function();
    assert_eq!(side.resets().unwrap(), 1);
    assert_eq!(side.resets().unwrap(), 1);
    side.reprogram(true, &mut || Ok(())).unwrap();
    assert_eq!(side.resets().unwrap(), 2);
}

/// Kernels that were reset make no interrupt.
#[test]
fn a_reset_by_others_ends_a_wait() {
    let (fake, driver, _) = board();
    let side: Arc<dyn OpenCl> = side_of(&driver).into();
    fake.lock().tricks.watched = true;
    side.arm().unwrap();
    let waiting = Arc::clone(&side);
    let (sent, ended) = std::sync::mpsc::channel();
    // It may never end.
    std::thread::spawn(move || sent.send(waiting.wait(None)));
    fake.lock().reset_function();
    assert!(ended.recv_timeout(SOON).unwrap().unwrap());
    side.arm().unwrap();
    let moment = Some(Duration::from_millis(1));
    assert!(!side.wait(moment).unwrap(), "it is known");
}

#[test]
fn a_thread_that_waits_is_woken() {
    let (fake, driver, wires) = board();
    let side: Arc<dyn OpenCl> = side_of(&driver).into();
    let wait = || {
        let side = Arc::clone(&side);
        std::thread::spawn(move || side.wait(None))
    };
    let begin = Instant::now();
    side.wake();
    assert!(!side.wait(None).unwrap(), "woken before it waited");
    let thread = wait();
    side.wake();
    assert!(!thread.join().unwrap().unwrap());
    side.arm().unwrap();
    let thread = wait();
    wires.lock().unwrap().line = true;
    assert!(thread.join().unwrap().unwrap());
    let thread = wait();
    fake.lock().tricks.gone = true;
    // The driver notices at the next access to the block.
    assert!(driver.status().is_err());
    assert!(matches!(thread.join().unwrap(), Err(Error::Gone)));
    assert!(begin.elapsed() < SOON);
}

/// Also when another thread has the board for a long time.
#[test]
fn a_wait_ends_in_real_time_while_the_board_is_programmed() {
    let (_fake, driver, _) = board();
    let side: Arc<dyn OpenCl> = side_of(&driver).into();
    let (begun, programming) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = {
        let side = Arc::clone(&side);
        std::thread::spawn(move || {
            side.reprogram(true, &mut || {
                begun.send(()).unwrap();
                // Until no thread waits any more.
                ended.recv_timeout(SOON).unwrap();
                Ok(())
            })
        })
    };
    programming.recv().unwrap();
    side.arm().unwrap();
    let begin = Instant::now();
    assert!(!side.wait(Some(Duration::from_millis(50))).unwrap());
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(50) && took < SOON, "{took:?}");
    let waiting = {
        let side = Arc::clone(&side);
        std::thread::spawn(move || side.wait(None))
    };
    side.wake();
    assert!(!waiting.join().unwrap().unwrap());
    end.send(()).unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
fn contexts_live_through_a_programming() {
    let (fake, driver, _) = board();
    let (device, queue) = open_at(&driver);
    let (memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    let side = device.open_cl().unwrap();
    fake.lock().tricks.stuck = true;
    let lost = queue.from_fpga(0, region.part(0..MIB)).unwrap();
    side.arm().unwrap();
    let mut times = 0;
    let image = &mut || {
        times += 1;
        let mut state = fake.lock();
        state.tricks.stuck = false;
        assert!(state.channels.iter().all(|channel| channel.busy() == 0));
        assert_eq!(state.control() & 1, 0, "the block works");
        // A new configuration knows nothing.
        state.att.fill((0, 0));
        state.fpga.write(0, b"new");
        Ok(())
    };
    side.reprogram(false, image).unwrap();
    assert_eq!(times, 1);
    assert!(matches!(lost.wait(SECOND), Err(Error::Restarted)));
    let moved = queue
        .from_fpga(0, region.part(0..MIB))
        .unwrap()
        .wait(SECOND);
    assert_eq!(moved.unwrap(), MIB);
    let mut bytes = [0; 3];
    memory.read(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"new");
}

#[test]
fn a_programming_that_fails_leaves_a_board_that_works() {
    let (fake, driver, _) = board();
    let (device, queue) = open_at(&driver);
    let (_memory, region) = registered(&device, MemoryKind::Host, MIB, Permissions::ReadWrite);
    let side = device.open_cl().unwrap();
    let refuse = &mut || {
        Err(Error::Program {
            reason: "no cable".into(),
        })
    };
    let error = side.reprogram(true, refuse).unwrap_err();
    assert!(error.to_string().contains("no cable"), "{error}");
    // The queue learns of the restart.
    device.query().unwrap();
    queue
        .from_fpga(0, region.part(0..MIB))
        .unwrap()
        .wait(SECOND)
        .unwrap();
    // The loaded design is not a board of ours.
    let spoil = &mut || {
        fake.lock().tricks.gone = true;
        Ok(())
    };
    let error = side.reprogram(true, spoil).unwrap_err();
    assert!(matches!(&error, Error::Identity { .. }), "{error}");
    assert!(matches!(side.arm().and(side.wait(None)), Err(Error::Gone)));
}
