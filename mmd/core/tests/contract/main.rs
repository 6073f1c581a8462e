//! The contract with the FPGA runtime for OpenCL: its calls in its order, with its values, from its threads,
//! against a board in memory.
//!
//! The runtime's calls are `peerlane_contract`'s.

mod board;
#[allow(dead_code, reason = "it is the host library's, which uses all of it")]
#[path = "../../../../host/tests/functional/fake/mod.rs"]
mod fake;
mod opencl;
mod peers;
#[allow(dead_code, reason = "as above")]
#[path = "../../../../host/tests/functional/store.rs"]
mod store;

use board::Side;
use fake::{Config, Fake};
use opencl::Stub;
use peerlane_contract::checks::{self, PLACE, pattern};
use peerlane_contract::{
    Calls, DeviceHandler, InterruptHandler, Runtime, StatusHandler, Version, int,
};
use peerlane_host::driver::{Driver, Options};
use peerlane_mmd_core::{Boards, Flavour, Found, Mmd, Programmer};
use std::ffi::{c_char, c_int, c_void};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Versions that an MMD may say, and what a runtime makes of them.
const VERSIONS: [Version; 6] = [
    Version(13.1),
    Version(14.0),
    Version(14.1),
    Version(18.1),
    Version(20.3),
    Version(24.2),
];

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
    programs: Arc<Mutex<Programs>>,
}

/// How programming goes.
#[derive(Default)]
struct Programs {
    keeps: bool,
    fails: bool,
    loaded: Vec<Vec<u8>>,
}

impl Toys {
    fn new(rom: &str) -> Self {
        let fake = Fake::new(Config {
            fpga_bytes: 128 << 20,
            ..Config::default()
        });
        let side = Side::new(&fake, rom);
        fake.lock().opencl = Some(Box::new(side.clone()));
        let driver = Driver::new(fake.clone(), &Options::default()).unwrap();
        Self {
            fake,
            side,
            driver,
            programs: Arc::default(),
        }
    }

    /// A library with this board. It lives as long as the process, as a library does.
    fn load(&self) -> &'static Loaded {
        let mmd = Mmd::with_lookup(Flavour::OPEN, self.clone(), Stub(true));
        Loaded::keep(mmd)
    }

    fn open_board(&self) -> Result<Found, String> {
        Ok(Found {
            device: self.driver.open().map_err(|error| error.to_string())?,
            programmer: Box::new(self.clone()),
            bus: "0000:00:00.0".into(),
            number: 0,
        })
    }

    fn open(&self) -> Runtime {
        Runtime::open(self.load(), "toy0", Version(24.2)).unwrap().0
    }
}

/// A library in the process, without symbols.
struct Loaded(Mmd);

impl Loaded {
    /// It lives as long as the process, as a library does.
    fn keep(mmd: Mmd) -> &'static Self {
        static KEPT: Mutex<Vec<&Loaded>> = Mutex::new(Vec::new());
        let loaded = Box::leak(Box::new(Self(mmd)));
        KEPT.lock().unwrap().push(loaded);
        loaded
    }
}

impl std::ops::Deref for Loaded {
    type Target = Mmd;

    fn deref(&self) -> &Mmd {
        &self.0
    }
}

// SAFETY of all calls: by the promise of the trait's functions.
#[allow(clippy::undocumented_unsafe_blocks, reason = "said above for all")]
impl Calls for Loaded {
    unsafe fn get_offline_info(
        &self,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        unsafe { self.0.get_offline_info(id, room, value, returned) }
    }

    unsafe fn get_info(
        &self,
        handle: c_int,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int {
        unsafe { self.0.get_info(handle, id, room, value, returned) }
    }

    unsafe fn open(&self, name: *const c_char) -> c_int {
        unsafe { self.0.open(name) }
    }

    fn close(&self, handle: c_int) -> c_int {
        self.0.close(handle)
    }

    unsafe fn set_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { self.0.set_interrupt_handler(handle, function, user) }
    }

    unsafe fn set_device_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<DeviceHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { (self.0).set_device_interrupt_handler(handle, function, user) }
    }

    unsafe fn set_status_handler(
        &self,
        handle: c_int,
        function: Option<StatusHandler>,
        user: *mut c_void,
    ) -> c_int {
        unsafe { self.0.set_status_handler(handle, function, user) }
    }

    unsafe fn read(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        to: *mut c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        unsafe { self.0.read(handle, op, length, to, interface, offset) }
    }

    unsafe fn write(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        from: *const c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int {
        unsafe { self.0.write(handle, op, length, from, interface, offset) }
    }

    fn copy(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        interface: c_int,
        from: usize,
        to: usize,
    ) -> c_int {
        self.0.copy(handle, op, length, interface, from, to)
    }

    unsafe fn program(&self, handle: c_int, image: *mut c_void, size: usize, mode: c_int) -> c_int {
        unsafe { self.0.program(handle, image, size, mode) }
    }
}

impl Boards for Toys {
    fn names(&self) -> Vec<String> {
        vec!["toy0".into()]
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        if name != "toy0" {
            return Err(format!("\"{name}\" is no board"));
        }
        self.open_board()
    }
}

impl Programmer for Toys {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        self.programs.lock().unwrap().keeps
    }

    fn check(&self, image: &[u8]) -> Result<(), String> {
        match image.is_empty() {
            true => Err("it is empty".into()),
            false => Ok(()),
        }
    }

    fn program(&self, image: &[u8], _: Option<OwnedFd>) -> Result<(), String> {
        let mut programs = self.programs.lock().unwrap();
        if programs.fails {
            return Err("no cable".into());
        }
        programs.loaded.push(image.into());
        let mut registers = self.side.lock();
        registers.configure();
        registers.rom = image.into();
        drop(registers);
        if !programs.keeps {
            self.fake.fpga_write(0, &vec![0xee; 1 << 20]);
        }
        Ok(())
    }
}

#[test]
fn contexts_of_every_version_open() {
    for version in VERSIONS {
        let toys = Toys::new(EMPTY);
        let mmd = toys.load();
        // Each query of a device without a context is an open, all of this, and a close.
        for _ in 0..3 {
            let (runtime, rom) = Runtime::open(mmd, "toy0", version).unwrap();
            assert_eq!(rom, EMPTY.as_bytes(), "{version:?}");
            let mut names = runtime.interfaces;
            names.sort_unstable();
            assert!(names[0] >= 0 && names[0] < names[1] && names[1] < names[2]);
            // One transfer each way, where the runtime asks.
            assert_eq!(runtime.duplex, if version < Version(18.1) { 1 } else { 2 });
            // Counter C1: the last of two writes to the same register stays.
            assert_eq!(toys.side.lock().pll(0x214), 0x101 | 1 << 18);
            let data = pattern(1, 100);
            runtime.write_op(0x10, PLACE, &data);
            let mut found = vec![0; 100];
            runtime.read_op(0x20, PLACE, &mut found);
            assert!(found == data);
            let resets = toys.side.lock().resets;
            runtime.close();
            assert!(
                toys.side.lock().resets > resets,
                "kernels run on after a close"
            );
        }
    }
}

#[test]
fn every_field_is_answered_within_its_room() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let handle = runtime.handle();
    // The answer to a question, and whether there was one.
    let ask = |offline: bool, id: c_int, room: usize| {
        let mut bytes = [0xcc_u8; 64];
        let mut length = 0;
        let to: *mut c_void = bytes.as_mut_ptr().cast();
        // SAFETY: there is more room than that.
        let status = unsafe {
            match offline {
                true => mmd.get_offline_info(id, room, to, &raw mut length),
                false => mmd.get_info(handle, id, room, to, &raw mut length),
            }
        };
        assert!(length <= room && bytes[length..].iter().all(|byte| *byte == 0xcc));
        (status == 0).then(|| bytes[..length].to_vec())
    };
    let texts = [
        (true, 0, "2024.2"),
        (true, 2, "toy0"),
        (true, 3, "Peerlane"),
        (false, 6, "0000:00:00.0"),
        (false, 7, "toy0 (Peerlane)"),
    ];
    for (offline, id, text) in texts {
        let bytes = ask(offline, id, 40).unwrap();
        assert_eq!(bytes, [text.as_bytes(), b"\0"].concat());
    }
    let numbers = [(true, 1, 1), (true, 4, 0x1172), (true, 5, 0), (true, 6, 1)];
    let more = [
        (1, 1),
        (8, 0),
        (9, 1),
        (10, 1),
        (11, 2),
        (13, 0),
        (14, 0),
        (15, 0),
    ];
    let more = more.map(|(id, number)| (false, id, number));
    for (offline, id, number) in numbers.into_iter().chain(more) {
        let bytes = ask(offline, id, 4);
        assert_eq!(bytes, Some(i32::to_ne_bytes(number).to_vec()), "{id}");
    }
    assert_eq!(ask(false, 5, 4), Some(42_f32.to_ne_bytes().to_vec()));
    for id in [12, 16, 17, 18] {
        assert_eq!(ask(false, id, 8).map(|bytes| bytes.len()), Some(8));
    }
    for (offline, id) in [
        (true, 7),
        (true, -1),
        (false, 0),
        (false, 19),
        (false, 4000),
    ] {
        assert_eq!(ask(offline, id, 8), None);
    }
    for room in 0..32 {
        (0..7).for_each(|id| drop(ask(true, id, room)));
        (1..19).for_each(|id| drop(ask(false, id, room)));
    }
    // The runtime asks so: it gives no place for the length.
    assert_eq!(int(mmd, handle, 4), runtime.interfaces[2]);
    runtime.close();
}

#[test]
fn a_kernel_runs_and_launches_again_with_what_changed() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    checks::launches(&runtime);
    runtime.close();
}

#[test]
fn an_interrupt_that_is_lost_does_not_hang_the_program() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    toys.side.lock().deaf = true;
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    runtime.close();
}

#[test]
fn a_kernel_that_stalls_on_printf_goes_on() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    toys.side.lock().stalls = true;
    let printed = pattern(9, 32);
    runtime.write_op(1, 0x8000, &printed);
    runtime.launch(1, [0x400, 0x400, 0x800]);
    assert!(runtime.serve_printf(0x8000) == printed);
    runtime.until_finished(1);
    runtime.close();
}

#[test]
fn nothing_is_called_before_a_handler_is_set_or_after_a_close() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    // SAFETY: it is a string.
    let handle = unsafe { mmd.open(c"toy0".as_ptr()) };
    let runtime = Runtime::over(mmd, handle, Version(24.2));
    runtime.launch(1, [0x400, 0x400, 0x800]);
    // Longer than the period of calls without an interrupt.
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(runtime.shared.heard.lock().unwrap().interrupts, 0);
    runtime.set_interrupt();
    runtime.until_finished(1);
    let shared = runtime.close();
    let before = shared.heard.lock().unwrap().interrupts;
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(shared.heard.lock().unwrap().interrupts, before);
    assert!(before > 0);
}

#[test]
fn a_program_is_loaded_with_memory_kept_or_restored() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    let data = pattern(3, 3000);
    runtime.write_op(1, PLACE, &data);
    let mut image = EMPTY.replace("0000000000", "1234567890").into_bytes();
    // This memory cannot be kept: every buffer is read whole, and written back.
    assert!(!runtime.program(&mut image, 1));
    assert!(toys.programs.lock().unwrap().loaded.is_empty());
    let mut saved = vec![0; data.len()];
    assert_eq!(
        runtime
            .shared
            .read(runtime.interfaces[2], PLACE, &mut saved),
        0
    );
    assert!(runtime.program(&mut image, 0));
    assert_eq!(toys.programs.lock().unwrap().loaded, [&image[..]]);
    assert_eq!(
        runtime.shared.write(runtime.interfaces[2], PLACE, &saved),
        0
    );
    let mut found = vec![0; data.len()];
    runtime.read_op(1, PLACE, &mut found);
    assert!(found == data);
    runtime.launch(1, [0x400, 0x400, 0x8000]);
    runtime.until_finished(1);
    toys.programs.lock().unwrap().keeps = true;
    assert!(runtime.program(&mut image, 1));
    runtime.read_op(1, PLACE, &mut found);
    assert!(found == data);
    runtime.close();
}

#[test]
fn a_program_that_cannot_be_loaded_leaves_the_board_in_use() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    toys.programs.lock().unwrap().fails = true;
    assert!(!runtime.program(&mut [1, 2, 3], 0));
    assert!(!runtime.program(&mut [], 0));
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    let data = pattern(4, 5000);
    runtime.write_op(1, PLACE, &data);
    let mut found = vec![0; data.len()];
    runtime.read_op(1, PLACE, &mut found);
    assert!(found == data);
    runtime.close();
}

#[test]
fn all_alignments_and_sizes() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    let memory = runtime.interfaces[2];
    let all = pattern(5, 4096);
    for shift in 0..64 {
        // 1 byte at 0x403 is one of them.
        let (offset, length) = (PLACE + shift, (shift * 37) % 130);
        let data = &all[shift..shift + length];
        toys.fake.fpga_write(PLACE as u64, &[0xee; 512]);
        if shift % 2 == 0 {
            runtime.write_op(7, offset, data);
        } else {
            assert_eq!(runtime.shared.write(memory, offset, data), 0);
        }
        let mut found = [0; 512];
        toys.fake.fpga_read(PLACE as u64, &mut found);
        let mut expected = [0xee; 512];
        expected[shift..shift + length].copy_from_slice(data);
        assert!(found == expected, "{length} bytes written at {offset:#x}");
        let mut found = vec![0xaa; length + 2];
        runtime.read_op(8, offset, &mut found[1..=length]);
        assert!(found[1..=length] == *data && (found[0], found[length + 1]) == (0xaa, 0xaa));
    }
    checks::sizes(&runtime, 5 << 20);
    runtime.close();
}

#[test]
fn memory_is_copied_on_the_board() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    checks::copies(&runtime, 1 << 20);
    runtime.close();
}

#[test]
fn eight_threads_share_a_board() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    checks::threads(&runtime, 8);
    runtime.close();
}

#[test]
fn a_fault_is_tried_again() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    let data = pattern(7, 300_000);
    // A read that was not answered, in the middle.
    toys.fake.lock().tricks.fault = Some((1, 1, 7, 100));
    runtime.write_op(1, PLACE, &data);
    toys.fake.lock().tricks.fault = Some((0, 0, 7, 0));
    let mut found = vec![0; data.len()];
    runtime.read_op(2, PLACE, &mut found);
    assert!(found == data);
    // The board is started anew by somebody else.
    toys.driver.reset().unwrap();
    runtime.read_op(2, PLACE, &mut found);
    assert!(found == data);
    runtime.close();
}

#[test]
fn a_board_has_one_user_and_handles_are_its_own() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    let mmd = toys.load();
    assert!(Runtime::open(mmd, "toy0", Version(24.2)).is_none());
    assert!(Runtime::open(mmd, "toy1", Version(24.2)).is_none());
    let handle = runtime.handle();
    runtime.close();
    let (again, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let mut byte = [0x55_u8];
    let to: *mut c_void = byte.as_mut_ptr().cast();
    let none = std::ptr::null_mut();
    for wrong in [handle + 1000, -1, i32::MAX] {
        assert_eq!(mmd.close(wrong), -1);
        assert_eq!(mmd.copy(wrong, none, 1, 1, 0, 0), -1);
        assert_eq!(int(mmd, wrong, 2), -1, "an answer is always there");
        // SAFETY: there is room for a byte.
        unsafe {
            assert_eq!(mmd.read(wrong, none, 1, to, 1, PLACE), -1);
            assert_eq!(mmd.write(wrong, none, 1, to, 1, PLACE), -1);
            assert_eq!(mmd.program(wrong, to, 1, 0), -1);
            assert_eq!(mmd.set_interrupt_handler(wrong, None, none), -1);
            assert_eq!(mmd.set_status_handler(wrong, None, none), -1);
        }
    }
    let handle = again.handle();
    // SAFETY: as above.
    unsafe {
        assert_eq!(
            mmd.read(handle, none, 1, to, 3, PLACE),
            -1,
            "no such interface"
        );
        assert_eq!(
            mmd.read(handle, none, 1, to, 1, 128 << 20),
            -1,
            "behind the memory"
        );
        assert_eq!(mmd.read(handle, none, 1, to, 1, usize::MAX), -1);
        assert_eq!(
            mmd.read(handle, none, 1, to, 0, 0x4000),
            -1,
            "behind the registers"
        );
        assert_eq!(mmd.read(handle, none, 1, none, 1, PLACE), -1);
    }
    assert_eq!(byte, [0x55]);
    assert_eq!(mmd.r#yield(handle), 0);
    again.close();
}

#[test]
fn old_text_is_presented_as_new() {
    let toys = Toys::new(OLD);
    let mmd = toys.load();
    let (runtime, rom) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let new = peerlane_package::upgrade(OLD).unwrap();
    assert_eq!(String::from_utf8(rom).unwrap(), new);
    // The kernels' registers are the board's own, whatever stands in the ROM's place.
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    // Another program, another text: a long one does not fit the short ROM.
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

/// Runs the body of a test in a process of its own; its status and what it said.
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
        let runtime = toys.open();
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
            let runtime = toys.open();
            toys.fake.lock().tricks.fault = Some((1, 0, 7, 0));
            toys.fake.lock().tricks.fault_stays = true;
            runtime.write_op(1, 0x403, &[1; 300]);
        },
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORT), "{said}");
    assert!(said.contains("300 bytes to FPGA address 0x403"), "{said}");
    assert!(said.contains("did not answer a read"), "{said}");
}

#[test]
fn a_process_may_end_without_a_close() {
    let begin = Instant::now();
    let output = in_a_process("a_process_may_end_without_a_close", || {
        let toys = Toys::new(EMPTY);
        let runtime = toys.open();
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
            // SAFETY: the child calls what it is tried with, and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: the byte is there.
                let read = unsafe { mmd.read(handle, none, 1, to, 1, PLACE) };
                // SAFETY: it is a string.
                let open = unsafe { mmd.open(c"toy0".as_ptr()) };
                let all = read == -1 && open == -1 && mmd.close(handle) == -1;
                // SAFETY: nothing of the parent's is to be undone.
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

/// How many threads of the library there are. All of them block all signals.
fn threads_that_block_all_signals() -> usize {
    let mut ours = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let read = |name: &str| std::fs::read_to_string(task.path().join(name));
        // Threads of other tests come and go.
        let (Ok(name), Ok(status)) = (read("comm"), read("status")) else {
            continue;
        };
        if name.starts_with("peerlane-") {
            let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
            let blocked = u64::from_str_radix(line.unwrap().trim(), 16).unwrap();
            // Signals 1 to 31 but SIGKILL and SIGSTOP, which nobody can block.
            assert_eq!(blocked & 0x7fff_ffff, 0x7ffb_feff, "{name}");
            ours += 1;
        }
    }
    ours
}

#[test]
fn signals_are_the_applications() {
    let toys = Toys::new(EMPTY);
    let runtime = toys.open();
    let begin = Instant::now();
    // A thread takes its name when it begins to run.
    while threads_that_block_all_signals() < 3 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
    runtime.close();
}

#[test]
fn the_status_handler_of_the_moment_is_called() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    let (first, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let data = pattern(8, 100_000);
    first.write_op(1, PLACE, &data);
    // As a copy between two boards does it.
    let second = Runtime::over(mmd, first.handle(), Version(24.2));
    second.set_status();
    let mut found = vec![0; data.len()];
    second.read_op(2, PLACE, &mut found);
    assert!(found == data);
    first.set_status();
    first.read_op(3, PLACE, &mut found);
    let heard = |runtime: &Runtime| {
        let heard = runtime.shared.heard.lock().unwrap();
        heard
            .ended
            .iter()
            .map(|(op, times)| (*op, *times))
            .collect::<Vec<_>>()
    };
    assert_eq!(heard(&first), [(1, 1), (3, 1)]);
    assert_eq!(heard(&second), [(2, 1)]);
    first.close();
}
