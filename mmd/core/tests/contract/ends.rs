//! Programs that use their board while the process ends: a destructor of a global object, or a function of `atexit`,
//! that is older than the first `aocl_mmd_open` runs after the library's own function. The runtime is there then, and
//! waits.

use crate::{EMPTY, Toys, in_a_process};
use peerlane_contract::checks::{PLACE, pattern};
use peerlane_contract::{Bench, Runtime};
use std::process::Output;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Limit in seconds: longer than a destructor takes, so that the test does not hang.
const LIMIT: u32 = 30;

/// The program's board for the destructor, with a function that uses it.
type Left = (Runtime, fn(&Runtime));

static LEFT: Mutex<Option<Left>> = Mutex::new(None);

/// Exit status of a process whose destructor has finished.
const DONE: i32 = 9;

extern "C" fn destructor() {
    // SAFETY: it ends a process that hangs.
    unsafe { libc::alarm(LIMIT) };
    let (runtime, uses) = (LEFT.lock().unwrap_or_else(PoisonError::into_inner).take()).unwrap();
    uses(&runtime);
    runtime.close();
    // SAFETY: the test checks the status.
    unsafe { libc::_exit(DONE) };
}

/// Makes the destructor call `uses`, after `before`.
fn leaves(toys: &Toys, before: fn(&Toys, &Runtime), uses: fn(&Runtime)) {
    // SAFETY: it is a function of this program.
    assert_eq!(unsafe { libc::atexit(destructor) }, 0);
    let runtime = Bench::open(toys);
    before(toys, &runtime);
    *LEFT.lock().unwrap() = Some((runtime, uses));
}

fn ended(output: Option<Output>) {
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(DONE),
        "{:?}: {said}",
        output.status
    );
}

#[test]
fn a_destructor_moves_bytes_of_any_size() {
    ended(in_a_process(
        "ends::a_destructor_moves_bytes_of_any_size",
        || {
            let uses = |runtime: &Runtime| {
                for length in [3, 4096, 300_000] {
                    let data = pattern(5, length);
                    let mut found = vec![0; length];
                    runtime.write_op(1, PLACE, &data);
                    runtime.read_op(2, PLACE, &mut found);
                    assert!(found == data);
                    runtime.copy_op(3, PLACE, PLACE + length, length);
                }
            };
            leaves(&Toys::new(EMPTY), |_, _| {}, uses);
        },
    ));
}

#[test]
fn a_destructor_runs_kernels() {
    ended(in_a_process("ends::a_destructor_runs_kernels", || {
        let uses = |runtime: &Runtime| {
            for launch in 1..4 {
                runtime.launch(1, [0x400, 0x400, 0x800]);
                runtime.until_finished(launch);
            }
        };
        leaves(&Toys::new(EMPTY), |_, _| {}, uses);
    }));
}

/// The kernel ends while the process ends. A runtime that looks at the board gets its end.
#[test]
fn a_destructor_waits_for_a_kernel_that_was_launched_before() {
    ended(in_a_process(
        "ends::a_destructor_waits_for_a_kernel_that_was_launched_before",
        || {
            let before = |toys: &Toys, runtime: &Runtime| {
                toys.side.lock().takes = Duration::from_millis(300);
                runtime.launch(1, [0x400, 0x400, 0x800]);
            };
            let uses = |runtime: &Runtime| {
                runtime.read_op(1, PLACE, &mut [0; 8]);
                runtime.until_finished(1);
            };
            leaves(&Toys::new(EMPTY), before, uses);
        },
    ));
}

/// The end of a transfer that was begun before the process's end is reported, to any thread that waits.
#[test]
fn the_end_of_a_transfer_is_told_that_the_process_ends_in() {
    ended(in_a_process(
        "ends::the_end_of_a_transfer_is_told_that_the_process_ends_in",
        || {
            let before = |toys: &Toys, runtime: &Runtime| {
                let data = Box::leak(vec![7; 100_000].into_boxed_slice());
                // The transfer goes on for a while, in a thread of the library's.
                let fake = toys.fake.clone();
                let (has, had) = channel();
                std::thread::spawn(move || {
                    let board = fake.lock();
                    has.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(300));
                    drop(board);
                });
                had.recv().unwrap();
                runtime.begin_write(1, PLACE, data);
            };
            let uses = |runtime: &Runtime| {
                runtime.until("a write that was begun", |heard| {
                    heard.ended.contains_key(&1)
                });
            };
            leaves(&Toys::new(EMPTY), before, uses);
        },
    ));
}

/// No handler is called for a runtime that makes no calls any more: it may be gone.
#[test]
fn nobody_is_called_who_does_not_call() {
    let output = in_a_process("ends::nobody_is_called_who_does_not_call", || {
        let before = |toys: &Toys, runtime: &Runtime| {
            toys.side.lock().takes = Duration::from_millis(100);
            runtime.launch(1, [0x400, 0x400, 0x800]);
        };
        let uses = |runtime: &Runtime| {
            let calls = || runtime.shared.heard.lock().unwrap().interrupts;
            let before = calls();
            std::thread::sleep(Duration::from_millis(1500));
            assert_eq!(calls(), before);
        };
        leaves(&Toys::new(EMPTY), before, uses);
    });
    ended(output);
}
