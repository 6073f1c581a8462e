//! The contract with the FPGA runtime for OpenCL, against a board in memory: the tests that every board passes, and
//! those for which only such a board can be made to fail.

mod board;
mod ends;
#[allow(dead_code, reason = "it is the host library's, which uses all of it")]
#[path = "../../../../host/tests/functional/fake/mod.rs"]
mod fake;
mod opencl;
mod peers;
mod refused;
#[allow(dead_code, reason = "as above")]
#[path = "../../../../host/tests/functional/store.rs"]
mod store;
mod survived;

use board::Side;
use fake::{Config, Fake};
use opencl::Stub;
use peerlane_contract::checks::{PLACE, pattern};
use peerlane_contract::{Bench, Calls, InProcess, Programming, Runtime, Version};
use peerlane_host::driver::{Driver, Options};
use peerlane_mmd_core::{Boards, Flavour, Found, Mmd, OpenCl, Programmer};
use std::ffi::{c_int, c_void};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

peerlane_contract::tests!(bench);

fn bench() -> Toys {
    Toys::new(EMPTY)
}

/// A board without kernels, and one with a kernel, as text of version 23.
const EMPTY: &str = "23 24 0000000000000000000000000000000000000000 toy 0 1 10 DDR 2 1 2 0 \
    134217728 0 - 0 - 0 0 0 0 0 1 0 0 0 0";

/// As AOCL 14.1 would write it: one kernel.
const OLD: &str = "13 toy 0 0 1 0 134217728 0 1 \
    vecadd 4096 256 0 0 1 1 0 3 2 1 8 2 1 8 2 1 8 0 0 0 0 0 2147483647";

/// The boards of a test: one, by the name "toy0".
#[derive(Clone)]
struct Toys {
    fake: Fake,
    side: Side,
    driver: Driver,
    names: Arc<Mutex<Vec<&'static str>>>,
    programs: Arc<Mutex<Programs>>,
}

/// Behaviour of programmings.
struct Programs {
    how: Programming,
    loaded: u64,
    /// The next programming panics.
    panics: bool,
    /// Makes a fault in a board that was programmed.
    spoil: Option<fn(&mut board::Registers)>,
}

impl Toys {
    fn new(rom: &str) -> Self {
        Self::with_memory(rom, 128 << 20)
    }

    /// Makes a board with so many bytes of FPGA memory.
    fn with_memory(rom: &str, fpga_bytes: u64) -> Self {
        // The granularity of most boards.
        Self::with(rom, fpga_bytes, 4)
    }

    /// Makes a board that writes single bytes of a peer's memory.
    fn of_bytes() -> Self {
        Self::with(EMPTY, 128 << 20, 1)
    }

    fn with(rom: &str, fpga_bytes: u64, write_granularity: u32) -> Self {
        let fake = Fake::new(Config {
            fpga_bytes,
            write_granularity,
            ..Config::default()
        });
        let side = Side::new(&fake, rom);
        fake.lock().opencl = Some(Box::new(side.clone()));
        let driver = Driver::new(fake.clone(), &Options::default()).unwrap();
        Self {
            fake,
            side,
            driver,
            names: Arc::new(Mutex::new(vec!["toy0"])),
            programs: Arc::new(Mutex::new(Programs {
                how: Programming::Loses,
                loaded: 0,
                panics: false,
                spoil: None,
            })),
        }
    }

    fn open_board(&self) -> Result<Found, String> {
        Ok(Found {
            device: self.driver.open().map_err(|error| error.to_string())?,
            programmer: Box::new(self.clone()),
            bus: self.bus().into(),
            number: 0,
        })
    }
}

impl Bench for Toys {
    fn load(&self) -> &'static InProcess {
        let mmd = Mmd::with_lookup(Flavour::OPEN, self.clone(), Stub(true));
        InProcess::keep(mmd)
    }

    fn name(&self) -> &str {
        "toy0"
    }

    fn bus(&self) -> &str {
        "0000:00:00.0"
    }

    fn degrees(&self) -> f32 {
        42.0
    }

    fn text(&self) -> String {
        String::from_utf8(self.side.lock().rom.clone()).unwrap()
    }

    fn memory_read(&self, address: u64, bytes: &mut [u8]) {
        self.fake.fpga_read(address, bytes);
    }

    fn memory_write(&self, address: u64, bytes: &[u8]) {
        self.fake.fpga_write(address, bytes);
    }

    fn resets(&self) -> u64 {
        self.side.lock().resets
    }

    fn image(&self, number: u8) -> Vec<u8> {
        let hash = format!("{number:040x}");
        EMPTY.replace(&"0".repeat(40), &hash).into_bytes()
    }

    fn set_programming(&self, how: Programming) {
        self.programs.lock().unwrap().how = how;
    }

    fn programmed(&self) -> u64 {
        self.programs.lock().unwrap().loaded
    }

    fn is_slow(&self) -> bool {
        false
    }
}

impl Boards for Toys {
    fn names(&self) -> Vec<String> {
        let names = self.names.lock().unwrap();
        names.iter().map(|name| name.to_string()).collect()
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        if !self.names.lock().unwrap().contains(&name) {
            return Err(format!("\"{name}\" is not a board"));
        }
        self.open_board()
    }
}

impl Programmer for Toys {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        let programs = self.programs.lock();
        programs.unwrap_or_else(PoisonError::into_inner).how == Programming::Keeps
    }

    fn check(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        match image.is_empty() {
            true => Err("it is empty".into()),
            false => Ok(()),
        }
    }

    fn program(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(!std::mem::take(&mut programs.panics), "planted");
        match programs.how {
            Programming::Fails => return Err("no cable".into()),
            Programming::Elsewhere => return Ok(()),
            Programming::Keeps | Programming::Loses => {}
        }
        programs.loaded += 1;
        let mut registers = self.side.lock();
        registers.configure();
        registers.rom = image.into();
        if let Some(spoil) = programs.spoil {
            spoil(&mut registers);
        }
        drop(registers);
        if programs.how == Programming::Loses {
            self.fake.fpga_write(0, &vec![0xee; 1 << 20]);
        }
        Ok(())
    }
}

#[test]
fn the_clock_gets_its_last_counter_and_yield_does_nothing() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    // Counter C1: the last of two writes to the same register stays.
    assert_eq!(toys.side.lock().pll(0x214), 0x101 | 1 << 18);
    assert_eq!(mmd.r#yield(runtime.handle()), 0);
    runtime.close();
}

/// The runtime's copy between two boards has a handler of its own as long as it lasts, which ends the process if it is
/// called for anything else (`acl_hal_mmd_copy_globalmem_to_globalmem`).
#[test]
fn a_transfer_is_told_to_the_handler_that_it_began_with() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    let (first, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let second = Runtime::over(mmd, first.handle(), Version(24.2));
    let data: &'static [u8] = Box::leak(pattern(8, 100_000).into_boxed_slice());
    let frozen = toys.fake.lock();
    first.begin_write(1, PLACE, data);
    second.set_status();
    drop(frozen);
    second.write_op(2, PLACE, data);
    first.until("a write", |heard| heard.ended.len() == 1);
    for (runtime, op) in [(&first, 1), (&second, 2)] {
        let heard = runtime.shared.heard.lock().unwrap();
        assert!(heard.ended.keys().eq(&[op]), "{:?}", heard.ended);
    }
    first.close();
}

#[test]
fn a_board_that_goes_or_comes_does_not_shift_the_others() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    let names = || {
        let mut bytes = [0_u8; 64];
        let mut length = 0;
        let to = bytes.as_mut_ptr().cast();
        // SAFETY: there is so much room.
        let told = unsafe { mmd.get_offline_info(2, 64, to, &raw mut length) };
        assert_eq!(told, 0);
        String::from_utf8(bytes[..length - 1].to_vec()).unwrap()
    };
    *toys.names.lock().unwrap() = vec!["toy0", "toy1"];
    assert_eq!(names(), "toy0;toy1");
    *toys.names.lock().unwrap() = vec!["toy1", "toy2"];
    assert_eq!(names(), "toy0;toy1");
    assert!(Runtime::open(mmd, "toy0", Version(24.2)).is_none());
    let (runtime, _) = Runtime::open(mmd, "toy1", Version(24.2)).unwrap();
    runtime.close();
}

#[test]
fn an_interrupt_that_is_lost_does_not_hang_the_program() {
    let toys = Toys::new(EMPTY);
    let runtime = Bench::open(&toys);
    toys.side.lock().deaf = true;
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    runtime.close();
}

#[test]
fn a_kernel_that_stalls_on_printf_goes_on() {
    let toys = Toys::new(EMPTY);
    let runtime = Bench::open(&toys);
    toys.side.lock().stalls = 3;
    let printed = pattern(9, 32);
    runtime.write_op(1, 0x8000, &printed);
    runtime.launch(1, [0x400, 0x400, 0x800]);
    for _ in 0..3 {
        assert!(runtime.serve_printf(0x8000) == printed);
    }
    runtime.until_finished(1);
    runtime.close();
}

#[test]
fn a_fault_is_tried_again() {
    let toys = Toys::new(EMPTY);
    let runtime = Bench::open(&toys);
    let data = pattern(7, 300_000);
    // A read that was not answered, in the middle.
    toys.fake.lock().tricks.fault = Some((1, 1, 7, 100));
    runtime.write_op(1, PLACE, &data);
    toys.fake.lock().tricks.fault = Some((0, 0, 7, 0));
    let mut found = vec![0; data.len()];
    runtime.read_op(2, PLACE, &mut found);
    assert!(found == data);
    // Another process starts the board again.
    toys.driver.reset().unwrap();
    runtime.read_op(2, PLACE, &mut found);
    assert!(found == data);
    runtime.close();
}

#[test]
fn old_text_is_presented_as_new() {
    let toys = Toys::new(OLD);
    let mmd = toys.load();
    let (runtime, rom) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let new = peerlane_package::upgrade(OLD).unwrap();
    assert_eq!(String::from_utf8(rom).unwrap(), new);
    // The kernels' registers are the board's own, with any text in the ROM's place.
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    // Another program with another text: a long text does not fit the short ROM.
    let kernels: Vec<String> = (0..60)
        .map(|i| {
            format!(
                "kernel{i} {} 256 0 0 1 1 0 0 0 0 0 0 0 2147483647",
                4096 * i
            )
        })
        .collect();
    let long = format!("14 toy 0 0 1 0 134217728 0 60 {} 3", kernels.join(" 3 "));
    runtime.program(&mut long.clone().into_bytes(), 0);
    runtime.close();
    let new = peerlane_package::upgrade(&long).unwrap();
    assert!(new.len() > 4096 && long.len() < 4096);
    let (runtime, rom) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    assert_eq!(String::from_utf8(rom).unwrap(), new);
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    runtime.close();
    // A board whose own ROM is long.
    toys.side.lock().version = 0xa0c0_0002;
    for text in [OLD, EMPTY] {
        toys.side.lock().rom = text.into();
        let (runtime, rom) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
        let new = peerlane_package::upgrade(text).unwrap_or(text.into());
        assert_eq!(String::from_utf8(rom).unwrap(), new);
        runtime.close();
    }
}

/// Runs the body of a test in a process of its own; returns its status and its output.
fn in_a_process(name: &str, body: fn()) -> Option<std::process::Output> {
    const INNER: &str = "PEERLANE_CONTRACT_INNER";
    if std::env::var_os(INNER).is_some() {
        body();
        std::process::exit(7);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(INNER, "1")
        .output();
    Some(output.unwrap())
}

/// `SIGABRT`.
const ABORT: i32 = 6;

#[test]
fn a_lost_board_ends_the_process_with_a_message() {
    let output = in_a_process("a_lost_board_ends_the_process_with_a_message", || {
        let toys = Toys::new(EMPTY);
        let runtime = Bench::open(&toys);
        toys.fake.lock().tricks.gone = true;
        let mut bytes = vec![0; 100_000];
        runtime.read_op(1, PLACE, &mut bytes);
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORT), "{said}");
    assert!(said.contains("Peerlane MMD: toy0: "), "{said}");
    assert!(said.contains("so the program ends here"), "{said}");
}

#[test]
fn a_transfer_that_always_fails_ends_the_process_with_a_message() {
    let output = in_a_process(
        "a_transfer_that_always_fails_ends_the_process_with_a_message",
        || {
            let toys = Toys::new(EMPTY);
            let runtime = Bench::open(&toys);
            toys.fake.lock().tricks.fault = Some((1, 0, 7, 0));
            toys.fake.lock().tricks.fault_stays = true;
            runtime.write_op(1, 0x403, &[1; 300]);
        },
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORT), "{said}");
    assert!(said.contains("300 bytes to FPGA address 0x403"), "{said}");
    assert!(said.contains("a read was not answered"), "{said}");
}

#[test]
fn a_register_that_is_not_reached_ends_the_process_with_a_message() {
    let name = "a_register_that_is_not_reached_ends_the_process_with_a_message";
    let output = in_a_process(name, || {
        let toys = Toys::new(EMPTY);
        let runtime = Bench::open(&toys);
        toys.side.lock().unreached = true;
        // A write of the segment, whose status the runtime does not check.
        let segment = 0x5000_u32.to_le_bytes();
        runtime.shared.write(0, 0x20, &segment);
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORT), "{said}");
    assert!(said.contains("interface 0, offset 0x"), "{said}");
    assert!(said.contains("no completion has come"), "{said}");
}

#[test]
fn a_process_may_end_without_a_close() {
    let begin = Instant::now();
    let output = in_a_process("a_process_may_end_without_a_close", || {
        let toys = Toys::new(EMPTY);
        let runtime = Bench::open(&toys);
        toys.side.lock().takes = Duration::from_secs(3600);
        runtime.launch(1, [0x400, 0x400, 0x800]);
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_child_of_a_fork_gets_errors_and_the_parent_goes_on() {
    let output = in_a_process(
        "a_child_of_a_fork_gets_errors_and_the_parent_goes_on",
        || {
            let toys = Toys::new(EMPTY);
            let mmd = toys.load();
            let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
            let handle = runtime.handle();
            let mut byte = [0x55_u8];
            let to: *mut c_void = byte.as_mut_ptr().cast();
            let none = std::ptr::null_mut();
            // SAFETY: the child makes the calls under test, and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: the byte is there.
                let read = unsafe { mmd.read(handle, none, 1, to, 1, PLACE) };
                // SAFETY: it is a string.
                let open = unsafe { mmd.open(c"toy0".as_ptr()) };
                let all = read == -1 && open == -1 && mmd.close(handle) == -1;
                // SAFETY: none of the parent's state is to be cleaned up.
                unsafe { libc::_exit(if all { 0 } else { 1 }) };
            }
            let mut status = 77;
            // SAFETY: it writes the status.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0);
            runtime.write_op(1, PLACE, &[1, 2, 3]);
            runtime.launch(1, [0x400, 0x400, 0x800]);
            runtime.until_finished(1);
            runtime.close();
        },
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(said.contains("a forked process"), "{said}");
}

#[test]
fn who_programs_another_board_is_told_how_to_name_this_one() {
    let output = in_a_process(
        "who_programs_another_board_is_told_how_to_name_this_one",
        || {
            let toys = Toys::new(EMPTY);
            let runtime = Bench::open(&toys);
            toys.set_programming(Programming::Elsewhere);
            assert!(!runtime.program(&mut toys.image(1), 0));
        },
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    for words in [
        "toy0: programming: ",
        "has configured another FPGA",
        "ACL_PCIE_JTAG_CABLE_toy0 and ACL_PCIE_JTAG_DEVICE_INDEX_toy0",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
}

/// A runtime reports only that there is no device.
#[test]
fn where_there_is_no_board_the_program_is_told_so_once() {
    let name = "where_there_is_no_board_the_program_is_told_so_once";
    let output = in_a_process(name, || {
        let toys = Toys::new(EMPTY);
        toys.names.lock().unwrap().clear();
        let mmd = toys.load();
        for id in [2, 1, 2] {
            let mut names = [0xcc_u8; 64];
            let to = names.as_mut_ptr().cast();
            // SAFETY: there is so much room.
            let told = unsafe { mmd.get_offline_info(id, 64, to, std::ptr::null_mut()) };
            assert_eq!((told, names[0]), (0, 0));
        }
        // A runtime goes on with a name that no board has.
        // SAFETY: it is a string.
        assert_eq!(unsafe { mmd.open(c"".as_ptr()) }, -1);
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("Peerlane MMD: "))
        .collect();
    let [none, open] = lines[..] else {
        panic!("{said}");
    };
    for words in ["there is no board", "/dev/peerlane0", "peerlane doctor"] {
        assert!(none.contains(words), "{none}");
    }
    assert_eq!(
        open,
        "Peerlane MMD: a board without a name cannot be opened: \"\" is not a board"
    );
}

/// A board that was not programmed may not come back: each access to it would wait for that.
#[test]
fn nothing_is_written_to_a_board_whose_programming_has_failed() {
    let toys = Toys::new(EMPTY);
    let runtime = Bench::open(&toys);
    toys.set_programming(Programming::Fails);
    let before = toys.side.lock().segments;
    assert!(!runtime.program(&mut toys.image(1), 0));
    // The mark that identifies the FPGA's configuration is written before.
    assert_eq!(toys.side.lock().segments, before + 1);
    runtime.close();
}

/// If the register with the mark cannot be read back, the programmer's success is trusted.
#[test]
fn a_board_without_a_mark_is_programmed() {
    let toys = Toys::new(EMPTY);
    toys.side.lock().segment_unread = true;
    let runtime = Bench::open(&toys);
    assert!(runtime.program(&mut toys.image(1), 0));
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    runtime.close();
}

/// A child has none of its parent's threads, so its end does not wait for any.
#[test]
fn a_child_of_a_fork_does_not_wait_for_its_parents_handlers() {
    /// Sleeps until the test is over, after it has reported that it runs.
    unsafe extern "C" fn busy(_: c_int, running: *mut c_void) {
        // SAFETY: it was set with a pointer to this.
        let running = unsafe { &*running.cast::<AtomicBool>() };
        running.store(true, Ordering::SeqCst);
        while running.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let output = in_a_process(
        "a_child_of_a_fork_does_not_wait_for_its_parents_handlers",
        || {
            static RUNNING: AtomicBool = AtomicBool::new(false);
            let toys = Toys::new(EMPTY);
            let mmd = toys.load();
            let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
            let running = (&raw const RUNNING).cast_mut().cast();
            // SAFETY: the handler takes this pointer, which is always good.
            let set = unsafe { mmd.set_interrupt_handler(runtime.handle(), Some(busy), running) };
            assert_eq!(set, 0);
            while !RUNNING.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            let begin = Instant::now();
            // SAFETY: the child ends at once.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: like any program that forks, it runs the functions that were registered for the end of the
                // process.
                unsafe { libc::exit(5) };
            }
            let mut status = 77;
            // SAFETY: it writes the status.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            let took = begin.elapsed();
            assert_eq!(libc::WEXITSTATUS(status), 5);
            // The parent's end would wait five seconds.
            assert!(took < Duration::from_millis(4500), "{took:?}");
            RUNNING.store(false, Ordering::SeqCst);
            runtime.close();
        },
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
}
