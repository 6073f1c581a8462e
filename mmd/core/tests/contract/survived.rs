//! Conditions that a library in another program has to survive: errors of its own, forks at any time, and inputs of
//! almost no bytes.

use crate::{ABORT, EMPTY, Toys, in_a_process};
use peerlane_contract::checks::{PLACE, pattern};
use peerlane_contract::{Bench, Calls, InProcess, Programming, Runtime, Version};
use peerlane_mmd_core::{Boards, Flavour, Found, Mmd};
use std::ffi::c_int;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Checks the end of a process by an error of the library's, and its message.
fn ends_by_an_error(name: &str, body: fn()) {
    let Some(output) = in_a_process(name, body) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORT), "{said}");
    for words in [
        "planted",
        "Peerlane MMD: An error of this library",
        "so the program ends here",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
}

/// A transfer's thread would never report its end, and the program would wait for ever.
#[test]
fn a_panic_in_a_transfers_thread_ends_the_process_with_a_message() {
    ends_by_an_error(
        "survived::a_panic_in_a_transfers_thread_ends_the_process_with_a_message",
        || {
            let toys = Toys::new(EMPTY);
            let runtime = Bench::open(&toys);
            toys.fake.lock().tricks.panics = true;
            // Too many bytes to be moved in the caller's thread.
            runtime.write_op(1, PLACE, &pattern(1, 100_000));
        },
    );
}

/// The runtime would assume that the read or write was made.
#[test]
fn a_panic_in_a_blocking_transfer_ends_the_process_with_a_message() {
    ends_by_an_error(
        "survived::a_panic_in_a_blocking_transfer_ends_the_process_with_a_message",
        || {
            let toys = Toys::new(EMPTY);
            let runtime = Bench::open(&toys);
            toys.fake.lock().tricks.panics = true;
            let status = runtime
                .shared
                .write(runtime.interfaces[2], PLACE, &[1; 100]);
            println!("the call has returned {status}");
            std::process::exit(8);
        },
    );
}

/// The board goes on as before: interrupts come, and it can be programmed again.
#[test]
fn a_programmer_that_panics_is_one_that_fails() {
    let toys = Toys::new(EMPTY);
    let runtime = Bench::open(&toys);
    toys.set_programming(Programming::Keeps);
    toys.programs.lock().unwrap().panics = true;
    assert!(!runtime.program(&mut toys.image(1), 1));
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    runtime.write_op(1, PLACE, &[1, 2, 3]);
    assert!(runtime.program(&mut toys.image(1), 1));
    // If memory was not to be kept, the board is closed afterwards.
    let loses = |toys: &Toys| {
        let mut programs = toys
            .programs
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        (programs.how, programs.panics) = (Programming::Loses, true);
    };
    loses(&toys);
    assert!(!runtime.program(&mut toys.image(2), 0));
    assert_eq!(runtime.handle(), -1);
    let (again, _) = Runtime::open(toys.load(), "toy0", Version(24.2)).unwrap();
    again.close();
}

/// Boards whose open waits for the test.
#[derive(Clone)]
struct Slow(Toys);

static INSIDE: AtomicBool = AtomicBool::new(false);
static GO: AtomicBool = AtomicBool::new(false);

fn slowly() {
    INSIDE.store(true, Ordering::SeqCst);
    while !GO.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
}

impl Boards for Slow {
    fn names(&self) -> Vec<String> {
        if !INSIDE.load(Ordering::SeqCst) {
            slowly();
        }
        self.0.names()
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        slowly();
        Boards::open(&self.0, name)
    }
}

/// Runs a child; returns the status of its body, or `None` if it does not end in time.
fn fork(body: impl FnOnce() -> c_int) -> Option<c_int> {
    // SAFETY: the child makes the calls under test, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: it ends a child that hangs.
        unsafe { libc::alarm(20) };
        let status = body();
        // SAFETY: none of the parent's state is to be cleaned up.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: it writes the status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

fn while_it_is_slow(
    mmd: &'static InProcess,
    slow: fn(&InProcess) -> c_int,
    child: fn(&InProcess) -> c_int,
) {
    INSIDE.store(false, Ordering::SeqCst);
    GO.store(false, Ordering::SeqCst);
    let thread = std::thread::spawn(move || slow(mmd));
    while !INSIDE.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let status = fork(|| child(mmd));
    GO.store(true, Ordering::SeqCst);
    assert!(thread.join().unwrap() >= 0);
    assert_eq!(
        status,
        Some(0),
        "a child of a fork waits for a thread of its parent's"
    );
}

fn open(mmd: &InProcess) -> c_int {
    // SAFETY: it is a string.
    unsafe { mmd.open(c"toy0".as_ptr()) }
}

fn names(mmd: &InProcess) -> c_int {
    let mut names = [0_u8; 64];
    // SAFETY: there is so much room.
    unsafe { mmd.get_offline_info(2, 64, names.as_mut_ptr().cast(), std::ptr::null_mut()) }
}

#[test]
fn a_fork_while_another_thread_opens_a_board_leaves_a_child_that_is_told_so() {
    let name = "survived::a_fork_while_another_thread_opens_a_board_leaves_a_child_that_is_told_so";
    let output = in_a_process(name, || {
        let slow = Slow(Toys::new(EMPTY));
        let mmd = InProcess::keep(Mmd::new(Flavour::OPEN, slow.clone()));
        // Names are queried before.
        while_it_is_slow(mmd, names, |mmd| names(mmd).abs());
        while_it_is_slow(mmd, open, |mmd| {
            let mut byte = [0_u8];
            let (to, none) = (byte.as_mut_ptr().cast(), std::ptr::null_mut());
            // SAFETY: the byte is there.
            let read = unsafe { mmd.read(0, none, 1, to, 1, PLACE) };
            let opened = open(mmd);
            let closed = mmd.close(0);
            let refused = [read, opened, closed] == [-1; 3];
            c_int::from(!refused)
        });
        assert_eq!(mmd.close(0), 0);
        // After a close no process owns the board, and a child may open it.
        assert_eq!(fork(|| c_int::from(open(mmd) < 0)), Some(0));
        // An open that fails does not keep the board from children either.
        // SAFETY: it is a string.
        assert_eq!(unsafe { mmd.open(c"toy7".as_ptr()) }, -1);
        assert_eq!(fork(|| c_int::from(open(mmd) < 0)), Some(0));
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(said.contains("a forked process"), "{said}");
}

/// Two boards; the open of the second one waits for the test.
struct OneSlow([Toys; 2]);

/// Set when the second board is being opened; the next one lets the open go on.
static OPENS: AtomicBool = AtomicBool::new(false);
static GOES_ON: AtomicBool = AtomicBool::new(false);

impl Boards for OneSlow {
    fn names(&self) -> Vec<String> {
        vec!["toy0".into(), "toy1".into()]
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        if name == "toy0" {
            return self.0[0].open_board();
        }
        OPENS.store(true, Ordering::SeqCst);
        while !GOES_ON.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.0[1].open_board()
    }
}

/// The handler does not hold the runtime's lock when it reads the kernel's registers.
#[test]
fn a_board_that_is_opened_slowly_does_not_hold_up_anothers_kernels() {
    let boards = OneSlow([Toys::new(EMPTY), Toys::new(EMPTY)]);
    let mmd = InProcess::keep(Mmd::new(Flavour::OPEN, boards));
    let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let slow = std::thread::spawn(move || {
        // SAFETY: it is a string.
        unsafe { mmd.open(c"toy1".as_ptr()) }
    });
    while !OPENS.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let (done, is_done) = std::sync::mpsc::channel();
    let kernel = std::thread::spawn(move || {
        runtime.launch(1, [0x400, 0x400, 0x800]);
        runtime.until_finished(1);
        done.send(()).unwrap();
        runtime.close();
    });
    let finished = is_done.recv_timeout(Duration::from_secs(20));
    GOES_ON.store(true, Ordering::SeqCst);
    let handle = slow.join().unwrap();
    kernel.join().unwrap();
    assert!(finished.is_ok(), "the kernel waits for the other board");
    assert!(handle >= 0 && mmd.close(handle) == 0);
}

/// No bytes, and one byte, of each kind of access and in each direction; the neighbouring bytes stay.
#[test]
fn nothing_and_one_byte_are_moved() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
    let handle = runtime.handle();
    let memory = runtime.interfaces[2];
    let last = (128 << 20) - 1;
    for place in [0, 1, PLACE, PLACE + 63, last] {
        let around = place.saturating_sub(1)..(place + 2).min(last + 1);
        toys.memory_write(around.start as u64, &vec![0x11; around.len()]);
        runtime.write_op(1, place, &[]);
        runtime.write_op(2, place, &[0x77]);
        let mut found = [0; 1];
        runtime.read_op(3, place, &mut []);
        runtime.read_op(4, place, &mut found);
        assert_eq!(found, [0x77]);
        assert_eq!(runtime.shared.write(memory, place, &[0x78]), 0);
        assert_eq!(runtime.shared.read(memory, place, &mut found), 0);
        assert_eq!(found, [0x78]);
        let mut bytes = vec![0; around.len()];
        toys.memory_read(around.start as u64, &mut bytes);
        for (at, byte) in around.zip(bytes) {
            assert_eq!(byte, if at == place { 0x78 } else { 0x11 }, "{at:#x}");
        }
        runtime.copy_op(5, place, PLACE * 2, 0);
        runtime.copy_op(6, place, PLACE * 2, 1);
        runtime.read_op(7, PLACE * 2, &mut found);
        assert_eq!(found, [0x78]);
    }
    // Also for the kernels' registers; and no access after the board's memory.
    assert_eq!(runtime.shared.write(0, 0x20, &[]), 0);
    assert_eq!(runtime.shared.read(0, 0x2000, &mut []), 0);
    let mut byte = [0; 1];
    assert_eq!(runtime.shared.read(0, 0x2000, &mut byte), 0);
    assert_eq!(byte, EMPTY.as_bytes()[..1]);
    assert_eq!(runtime.shared.read(memory, last + 1, &mut byte), -1);
    // With a null pointer nothing can be moved, and nothing is.
    let none = std::ptr::null_mut();
    // SAFETY: no byte is used.
    unsafe {
        assert_eq!(mmd.read(handle, none, 0, none, memory, PLACE), 0);
        assert_eq!(mmd.write(handle, none, 0, none, memory, PLACE), 0);
        assert_eq!(mmd.read(handle, none, 1, none, memory, PLACE), -1);
        assert_eq!(mmd.program(handle, none, 0, 1), -1);
    }
    runtime.close();
}

/// More than any buffer of the library's, and more than a board's table has room for in small pages.
#[test]
fn a_gibibyte_is_moved_both_ways() {
    const LENGTH: usize = 1 << 30;
    let toys = Toys::with_memory(EMPTY, 2 << 30);
    let runtime = Bench::open(&toys);
    // Each 8 bytes differ, so that a piece in a wrong place is detected.
    let word = |at: usize| {
        (at as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .to_le_bytes()
    };
    let mut data = vec![0; LENGTH];
    for (at, bytes) in data.as_chunks_mut().0.iter_mut().enumerate() {
        *bytes = word(at);
    }
    runtime.write_op(1, PLACE + 3, &data);
    data.fill(0);
    runtime.read_op(2, PLACE + 3, &mut data);
    let wrong = (data.as_chunks().0.iter().enumerate()).find(|(at, bytes)| **bytes != word(*at));
    assert_eq!(wrong, None);
    runtime.close();
}
