//! The tests that every board passes.

use crate::checks::{self, PLACE, pattern};
pub use crate::commands::{
    a_row_that_is_refused_is_no_end, an_operation_is_anothers_when_it_has_ended,
    host_memory_at_a_low_address_is_not_fpga_memory,
    host_memory_of_a_board_that_was_closed_is_there_too,
    host_memory_that_is_written_back_to_itself_is_there, the_rows_of_a_command_end_together,
};
use crate::runtime::Shared;
use crate::{Bench, Calls, Programming, Runtime, VERSIONS, Version, int};
use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than the period of calls of the interrupt handler without an interrupt.
const MORE_THAN_A_PERIOD: Duration = Duration::from_millis(400);

/// Bytes of the largest transfers.
fn most(bench: &dyn Bench) -> usize {
    if bench.is_slow() { 300_000 } else { 5 << 20 }
}

/// A context is created and released, with the queries that a runtime makes for a library of each version.
pub fn contexts_of_every_version_open(bench: &dyn Bench) {
    for version in VERSIONS {
        let mmd = bench.load();
        // Each query of a device without a context opens the device, makes all of these queries, and closes it.
        for _ in 0..if bench.is_slow() { 1 } else { 3 } {
            let (runtime, rom) = Runtime::open(mmd, bench.name(), version).unwrap();
            assert_eq!(rom, bench.text().as_bytes(), "{version:?}");
            let mut names = runtime.interfaces;
            names.sort_unstable();
            assert!(names[0] >= 0 && names[0] < names[1] && names[1] < names[2]);
            // One transfer each way, where the runtime asks for that.
            assert_eq!(runtime.duplex, if version < Version(18.1) { 1 } else { 2 });
            let data = pattern(1, 100);
            runtime.write_op(0x10, PLACE, &data);
            let mut found = vec![0; 100];
            runtime.read_op(0x20, PLACE, &mut found);
            assert!(found == data);
            let resets = bench.resets();
            runtime.close();
            assert!(bench.resets() > resets, "kernels continue after a close");
        }
    }
}

/// Every query has its answer, and nothing is written after the room for it.
pub fn every_field_is_answered_within_its_room(bench: &dyn Bench) {
    let mmd = bench.load();
    let (runtime, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    let handle = runtime.handle();
    // Returns the answer to a query, and whether there was one.
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
    let called = format!("{} (Peerlane)", bench.name());
    let texts = [
        (true, 0, "2024.2"),
        (true, 2, bench.name()),
        (true, 3, "Peerlane"),
        (false, 6, bench.bus()),
        (false, 7, called.as_str()),
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
        // Device memory (`AOCL_MMD_MEM_CAPABILITY_SUPPORTED` is bit 0): the board's own.
        (15, 1),
    ];
    let more = more.map(|(id, number)| (false, id, number));
    for (offline, id, number) in numbers.into_iter().chain(more) {
        let bytes = ask(offline, id, 4);
        assert_eq!(bytes, Some(i32::to_ne_bytes(number).to_vec()), "{id}");
    }
    assert_eq!(
        ask(false, 5, 4),
        Some(bench.degrees().to_ne_bytes().to_vec())
    );
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
    // The runtime also gives no place for the length.
    assert_eq!(int(mmd, handle, 4), runtime.interfaces[2]);
    runtime.close();
}

/// A launch, and two more that write only the changed arguments.
pub fn a_kernel_runs_and_launches_again_with_what_changed(bench: &dyn Bench) {
    let runtime = bench.open();
    checks::launches(&runtime);
    runtime.close();
}

/// The interrupt handler is called only while it is set.
pub fn nothing_is_called_before_a_handler_is_set_or_after_a_close(bench: &dyn Bench) {
    let mmd = bench.load();
    let name = CString::new(bench.name()).unwrap();
    // SAFETY: it is a string.
    let handle = unsafe { mmd.open(name.as_ptr()) };
    let runtime = Runtime::over(mmd, handle, Version(24.2));
    runtime.launch(1, [0x400, 0x400, 0x800]);
    std::thread::sleep(MORE_THAN_A_PERIOD);
    assert_eq!(runtime.shared.heard.lock().unwrap().interrupts, 0);
    runtime.set_interrupt();
    runtime.until_finished(1);
    let shared = runtime.close();
    let before = shared.heard.lock().unwrap().interrupts;
    std::thread::sleep(MORE_THAN_A_PERIOD);
    assert_eq!(shared.heard.lock().unwrap().interrupts, before);
    assert!(before > 0);
}

/// An interrupt handler that takes its time, with its results.
#[derive(Debug)]
struct AtWork {
    shared: Arc<Shared>,
    kernels: c_int,
    begun: AtomicBool,
    /// Result of a read of a register.
    read: Mutex<Option<c_int>>,
}

unsafe extern "C" fn at_work(_: c_int, user: *mut c_void) {
    // SAFETY: it was set with a pointer to this, which is never freed.
    let work = unsafe { &*user.cast::<AtWork>() };
    if work.begun.swap(true, Ordering::SeqCst) {
        return;
    }
    std::thread::sleep(Duration::from_millis(100));
    let read = work.shared.read(work.kernels, 0, &mut [0; 4]);
    *work.read.lock().unwrap() = Some(read);
}

/// The runtime's handler ends the process where it cannot read a register, and a board may be closed at any time.
pub fn a_handler_that_is_at_work_has_the_board_until_it_returns(bench: &dyn Bench) {
    let mmd = bench.load();
    let (runtime, _) = Runtime::open(mmd, bench.name(), VERSIONS[0]).unwrap();
    let work: &'static AtWork = Box::leak(Box::new(AtWork {
        shared: Arc::clone(&runtime.shared),
        kernels: runtime.interfaces[0],
        begun: AtomicBool::new(false),
        read: Mutex::new(None),
    }));
    let handle = runtime.handle();
    let user = std::ptr::from_ref(work).cast_mut().cast();
    // SAFETY: the handler takes this pointer.
    let set = unsafe { mmd.set_interrupt_handler(handle, Some(at_work), user) };
    assert_eq!(set, 0);
    let begin = Instant::now();
    while !work.begun.load(Ordering::SeqCst) {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "it is not called"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    runtime.close();
    assert_eq!(*work.read.lock().unwrap(), Some(0));
}

/// Programming, as the runtime does it when memory is kept and when it is lost.
pub fn a_program_is_loaded_with_memory_kept_or_restored(bench: &dyn Bench) {
    let runtime = bench.open();
    let memory = runtime.interfaces[2];
    let data = pattern(3, 3000);
    runtime.write_op(1, PLACE, &data);
    bench.set_programming(Programming::Loses);
    // This memory cannot be kept: every buffer is read completely, and written back.
    assert!(!runtime.program(&mut bench.image(1), 1));
    assert_eq!(bench.programmed(), 0);
    let mut saved = vec![0; data.len()];
    assert_eq!(runtime.shared.read(memory, PLACE, &mut saved), 0);
    assert!(runtime.program(&mut bench.image(1), 0));
    assert_eq!(bench.programmed(), 1);
    let mut found = vec![0; data.len()];
    runtime.read_op(1, PLACE, &mut found);
    assert!(found != data);
    assert_eq!(runtime.shared.write(memory, PLACE, &saved), 0);
    runtime.read_op(1, PLACE, &mut found);
    assert!(found == data);
    runtime.launch(1, [0x400, 0x400, 0x8000]);
    runtime.until_finished(1);
    bench.set_programming(Programming::Keeps);
    assert!(runtime.program(&mut bench.image(2), 1));
    assert_eq!(bench.programmed(), 2);
    runtime.read_op(1, PLACE, &mut found);
    assert!(found == data);
    runtime.close();
    // The next context finds the text of the loaded program.
    let (runtime, rom) = Runtime::open(bench.load(), bench.name(), Version(24.2)).unwrap();
    assert_eq!(rom, bench.text().as_bytes());
    runtime.close();
}

/// A programming that has failed leaves a board without a handle: no handler is called for it any more, and it can be
/// opened again. If memory was to be kept, the board goes on.
pub fn a_program_that_cannot_be_loaded_closes_the_board(bench: &dyn Bench) {
    let mmd = bench.load();
    bench.set_programming(Programming::Fails);
    let data = pattern(4, 5000);
    // The programmer fails, or refuses the image.
    for mut image in [bench.image(1), Vec::new()] {
        let (runtime, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
        assert!(!runtime.program(&mut image, 1));
        runtime.launch(1, [0x400, 0x400, 0x800]);
        runtime.until_finished(1);
        runtime.write_op(1, PLACE, &data);
        assert!(!runtime.program(&mut image, 0));
        assert_eq!(runtime.handle(), -1);
        let memory = runtime.interfaces[2];
        assert_eq!(runtime.shared.write(memory, PLACE, &data), -1);
        std::thread::sleep(MORE_THAN_A_PERIOD);
        assert_eq!(runtime.shared.heard.lock().unwrap().strange, 0);
        runtime.close();
    }
    let (runtime, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    let mut found = vec![0; data.len()];
    runtime.write_op(1, PLACE, &data);
    runtime.read_op(1, PLACE, &mut found);
    assert!(found == data);
    runtime.close();
}

/// The programmer has succeeded, but at another board: this one's FPGA has its old configuration, so the programming
/// has failed.
pub fn a_program_that_another_board_got_is_none(bench: &dyn Bench) {
    let mmd = bench.load();
    bench.set_programming(Programming::Elsewhere);
    let (runtime, rom) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    assert!(!runtime.program(&mut bench.image(1), 0));
    assert_eq!((runtime.handle(), bench.programmed()), (-1, 0));
    runtime.close();
    // The next context has the old kernels, and can program the board.
    bench.set_programming(Programming::Loses);
    let (runtime, same) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    assert_eq!(same, rom);
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(1);
    assert!(runtime.program(&mut bench.image(1), 0));
    assert_eq!(bench.programmed(), 1);
    runtime.launch(1, [0x400, 0x400, 0x800]);
    runtime.until_finished(2);
    runtime.close();
}

/// Transfers of all alignments modulo 64 and of many lengths; no other memory changes.
pub fn all_alignments_and_sizes(bench: &dyn Bench) {
    let runtime = bench.open();
    let memory = runtime.interfaces[2];
    let all = pattern(5, 4096);
    for shift in 0..64 {
        // 1 byte at 0x403 is one of them.
        let (offset, length) = (PLACE + shift, (shift * 37) % 130);
        let data = &all[shift..shift + length];
        bench.memory_write(PLACE as u64, &[0xee; 512]);
        if shift % 2 == 0 {
            runtime.write_op(7, offset, data);
        } else {
            assert_eq!(runtime.shared.write(memory, offset, data), 0);
        }
        let mut found = [0; 512];
        bench.memory_read(PLACE as u64, &mut found);
        let mut expected = [0xee; 512];
        expected[shift..shift + length].copy_from_slice(data);
        assert!(found == expected, "{length} bytes written at {offset:#x}");
        let mut found = vec![0xaa; length + 2];
        runtime.read_op(8, offset, &mut found[1..=length]);
        assert!(found[1..=length] == *data && (found[0], found[length + 1]) == (0xaa, 0xaa));
    }
    checks::sizes(&runtime, most(bench));
    runtime.close();
}

/// Copies in the board's memory, also where source and destination overlap.
pub fn memory_is_copied_on_the_board(bench: &dyn Bench) {
    let runtime = bench.open();
    checks::copies(&runtime, most(bench) / 5);
    runtime.close();
}

/// Eight threads with transfers of their own.
pub fn eight_threads_share_a_board(bench: &dyn Bench) {
    let runtime = bench.open();
    checks::threads(&runtime, 8, most(bench));
    runtime.close();
}

/// A second user is refused, and so are invalid handles, places and lengths.
pub fn a_board_has_one_user_and_handles_are_its_own(bench: &dyn Bench) {
    let runtime = bench.open();
    let mmd = bench.load();
    assert!(Runtime::open(mmd, bench.name(), Version(24.2)).is_none());
    assert!(Runtime::open(mmd, "another", Version(24.2)).is_none());
    let handle = runtime.handle();
    runtime.close();
    let (again, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
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
            mmd.read(handle, none, 1, to, 1, 1 << 40),
            -1,
            "after the end of the memory"
        );
        assert_eq!(mmd.read(handle, none, 1, to, 1, usize::MAX), -1);
        assert_eq!(
            mmd.read(handle, none, 1, to, 0, 0x4000),
            -1,
            "after the end of the registers"
        );
        assert_eq!(mmd.read(handle, none, 1, none, 1, PLACE), -1);
    }
    assert_eq!(byte, [0x55]);
    again.close();
}

/// The library's threads take no signals except those of their own faults, which have to end the process.
pub fn signals_are_the_applications(bench: &dyn Bench) {
    let runtime = bench.open();
    let begin = Instant::now();
    // A thread takes its name when it begins to run.
    while threads_without_signals() < 3 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
    runtime.close();
}

/// A transfer's end is reported to the handler that was set when the transfer began.
pub fn the_status_handler_of_the_beginning_is_called(bench: &dyn Bench) {
    let mmd = bench.load();
    let (first, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    let data = pattern(8, 100_000);
    first.write_op(1, PLACE, &data);
    // As in a copy between two boards.
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

/// Counts the threads of the library. All of them block all signals that a program handles.
fn threads_without_signals() -> usize {
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
            // Signals 1 to 31 except SIGKILL and SIGSTOP, which cannot be blocked, and SIGILL, SIGTRAP, SIGBUS, SIGFPE,
            // SIGSEGV and SIGSYS: a fault of a thread that blocks its signal ends the process without its handlers.
            assert_eq!(blocked & 0x7fff_ffff, 0x3ffb_fa27, "{name}");
            ours += 1;
        }
    }
    ours
}
