//! Commands of several transfers, as the runtime makes them: all rows of a rectangle or of an image have the same
//! operation, and so have the migrations of a kernel's buffers.

use crate::checks::{PLACE, pattern};
use crate::{Bench, Calls, LIMIT, Runtime, Version};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const COMPLETE: c_int = 0;
const RUNNING: c_int = 1;
/// The command is over, and its event may be another command's.
const OVER: c_int = -7;

/// Longer than a thread takes between two rows.
const PREEMPTED: Duration = Duration::from_millis(3);

/// A command, whose address is the operation of its transfers.
#[derive(Debug)]
struct Command {
    status: AtomicI32,
    /// Calls of the status handler; the next field counts those after the command's end.
    told: AtomicUsize,
    late: AtomicUsize,
    /// Microseconds that the handler waits before it reports.
    delay: AtomicU64,
}

/// As `acl_hal_mmd_status_handler` (`acl_hal_mmd.cpp`): it stores a number, without the runtime's lock.
unsafe extern "C" fn status(_: c_int, _: *mut c_void, op: *mut c_void, status: c_int) {
    // SAFETY: every operation here is a command, which is never freed.
    let command = unsafe { &*op.cast::<Command>() };
    let delay = command.delay.load(Ordering::SeqCst);
    if delay > 0 {
        sleep(Duration::from_micros(delay));
    }
    assert_eq!(status, 0, "the runtime asserts it");
    command.told.fetch_add(1, Ordering::SeqCst);
    if command.status.swap(COMPLETE, Ordering::SeqCst) == OVER {
        command.late.fetch_add(1, Ordering::SeqCst);
    }
}

impl Command {
    /// Makes a command, which lives as long as the process.
    fn new(delay: Duration) -> &'static Self {
        Box::leak(Box::new(Self {
            status: AtomicI32::new(OVER),
            told: AtomicUsize::new(0),
            late: AtomicUsize::new(0),
            delay: AtomicU64::new(delay.as_micros() as u64),
        }))
    }

    fn op(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Hands a transfer over (`acl_hal_mmd_copy_hostmem_to_globalmem` and its neighbours).
    fn hand(&self, transfer: impl FnOnce(*mut c_void) -> c_int) -> c_int {
        self.status.store(RUNNING, Ordering::SeqCst);
        transfer(self.op())
    }

    /// Waits for the end. The runtime checks the status only after it has handed all transfers over: until then it has
    /// its lock.
    fn finish(&self) {
        let begin = Instant::now();
        while self.status.load(Ordering::SeqCst) != COMPLETE {
            assert!(begin.elapsed() < LIMIT, "the command never ends");
            std::thread::yield_now();
        }
        self.status.store(OVER, Ordering::SeqCst);
    }

    /// Checks that nothing was reported after an end.
    fn was_on_time(&self) {
        sleep(PREEMPTED * 2);
        assert_eq!(
            self.late.load(Ordering::SeqCst),
            0,
            "reported after the end"
        );
    }
}

fn open(bench: &dyn Bench) -> (Runtime, &'static dyn Calls) {
    let mmd: &'static dyn Calls = bench.load();
    let (runtime, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    // SAFETY: it needs no pointer.
    let set =
        unsafe { mmd.set_status_handler(runtime.handle(), Some(status), std::ptr::null_mut()) };
    assert_eq!(set, 0);
    (runtime, mmd)
}

/// All rows have arrived when the command ends, in each direction, with fast and slow rows, and with a slow handler.
pub fn the_rows_of_a_command_end_together(bench: &dyn Bench) {
    let (runtime, mmd) = open(bench);
    let (handle, memory) = (runtime.handle(), runtime.interfaces[2]);
    let rounds = if bench.is_slow() { 1 } else { 20 };
    for (length, rows, delay) in [
        (17, 5, 0),
        (17, 5, 1),
        (4096, 3, 0),
        (4097, 7, 0),
        (9000, 2, 0),
        (9000, 9, 0),
        (9000, 9, 1),
        (70_001, 3, 0),
        (70_001, 1, 1),
    ] {
        let pitch = length + 111;
        let bytes = rows * pitch;
        for round in 0..rounds {
            let what = format!("round {round}, {rows} rows of {length}, {delay} ms");
            let command = Command::new(PREEMPTED * delay / 3);
            let data = pattern(round, bytes);
            let place = |row: usize| PLACE + row * pitch;
            bench.memory_write(PLACE as u64, &vec![0xee; bytes]);
            for row in 0..rows {
                let from = data[row * pitch..].as_ptr().cast();
                // SAFETY: the bytes live until the command's end.
                let write = |op| unsafe { mmd.write(handle, op, length, from, memory, place(row)) };
                assert_eq!(command.hand(write), 0);
            }
            command.finish();
            let mut found = vec![0; bytes];
            bench.memory_read(PLACE as u64, &mut found);
            let mut expected = vec![0xee; bytes];
            for row in 0..rows {
                let row = row * pitch..row * pitch + length;
                expected[row.clone()].copy_from_slice(&data[row]);
            }
            assert!(found == expected, "written: {what}");

            let away = bytes + 0x1000;
            for row in 0..rows {
                let copy = |op| mmd.copy(handle, op, length, memory, place(row), place(row) + away);
                assert_eq!(command.hand(copy), 0);
            }
            command.finish();
            bench.memory_read((PLACE + away) as u64, &mut found);
            for row in 0..rows {
                let row = row * pitch..row * pitch + length;
                assert!(found[row.clone()] == data[row], "copied: {what}");
            }

            let mut back = vec![0xdd; bytes];
            let to = back.as_mut_ptr();
            for row in 0..rows {
                let to = to.wrapping_add(row * pitch).cast();
                // SAFETY: as above, and the bytes are not read before the end.
                let read = |op| unsafe { mmd.read(handle, op, length, to, memory, place(row)) };
                assert_eq!(command.hand(read), 0);
            }
            command.finish();
            let mut expected = vec![0xdd; bytes];
            for row in 0..rows {
                let row = row * pitch..row * pitch + length;
                expected[row.clone()].copy_from_slice(&data[row]);
            }
            assert!(back == expected, "read: {what}");
            command.was_on_time();
        }
    }
    runtime.close();
}

/// Buffers that move before a kernel, one after the other, have the kernel's operation; and an event that is over is
/// another command's, of any thread. Each end is reported.
pub fn an_operation_is_anothers_when_it_has_ended(bench: &dyn Bench) {
    let (runtime, mmd) = open(bench);
    let (handle, memory) = (runtime.handle(), runtime.interfaces[2]);
    let command = Command::new(Duration::ZERO);
    let rounds = if bench.is_slow() { 4 } else { 200 };
    let mut told = 0;
    for round in 0..rounds {
        // As long as the command's own thread makes no other call, the next transfer might be its next row.
        let length = [1, 5000, 4096, 70_000][round % 4];
        let data = pattern(round as u8, length);
        let from = data.as_ptr().addr();
        let once = || {
            let from = std::ptr::with_exposed_provenance(from);
            // SAFETY: the bytes live until the command's end.
            let write = |op| unsafe { mmd.write(handle, op, length, from, memory, PLACE) };
            assert_eq!(command.hand(write), 0);
            command.finish();
        };
        let _ = data.as_ptr().expose_provenance();
        match round % 3 {
            0 => once(),
            1 => scope(|scope| scope.spawn(once).join().unwrap()),
            _ => {
                // The query that the runtime makes before each command.
                let mut types: c_int = 0;
                let (to, none) = ((&raw mut types).cast(), std::ptr::null_mut());
                // SAFETY: there is room for a number.
                unsafe { mmd.get_offline_info(6, size_of::<c_int>(), to, none) };
                once();
            }
        }
        told += 1;
        assert_eq!(command.told.load(Ordering::SeqCst), told, "round {round}");
        let mut found = vec![0; length];
        bench.memory_read(PLACE as u64, &mut found);
        assert!(found == data, "round {round}");
    }
    command.was_on_time();
    runtime.close();
}

/// A row that is refused does not affect the others: their end is reported, the refusal is not, and the operation goes
/// on.
pub fn a_row_that_is_refused_is_no_end(bench: &dyn Bench) {
    let (runtime, mmd) = open(bench);
    let (handle, memory) = (runtime.handle(), runtime.interfaces[2]);
    let data = pattern(9, 9000);
    let from = data.as_ptr().cast();
    // SAFETY: the bytes live until the command's end.
    let write = |op, place| unsafe { mmd.write(handle, op, 9000, from, memory, place) };
    let alone = Command::new(Duration::ZERO);
    assert_eq!(alone.hand(|op| write(op, 1 << 40)), -1);
    sleep(PREEMPTED);
    assert_eq!(alone.told.load(Ordering::SeqCst), 0);
    let command = Command::new(Duration::ZERO);
    for place in [PLACE, PLACE + 10_000] {
        assert_eq!(command.hand(|op| write(op, place)), 0);
    }
    // The runtime would end the program here, and a library that reports errors the command.
    assert_eq!(command.hand(|op| write(op, 1 << 40)), -1);
    assert_eq!(command.hand(|op| write(op, PLACE + 20_000)), 0);
    command.finish();
    let mut found = vec![0; 29_000];
    bench.memory_read(PLACE as u64, &mut found);
    for place in [0, 10_000, 20_000] {
        assert!(found[place..place + 9000] == data);
    }
    command.was_on_time();
    runtime.close();
}

/// A buffer with `CL_MEM_USE_HOST_PTR` is unmapped: its memory is to be written to the FPGA address that equals its own
/// address. The same holds for parts of it, and for reads. Memory elsewhere is still refused.
pub fn host_memory_that_is_written_back_to_itself_is_there(bench: &dyn Bench) {
    let (runtime, mmd) = open(bench);
    let (handle, memory) = (runtime.handle(), runtime.interfaces[2]);
    let mut buffer = pattern(1, 70_000);
    let begin = buffer.as_mut_ptr();
    for (first, length) in [(0, 70_000), (64, 1), (4000, 9000)] {
        let place = begin.wrapping_add(first);
        let at = place.expose_provenance();
        let command = Command::new(Duration::ZERO);
        // SAFETY: the bytes live, and no other code uses them, until the command's end.
        let write = |op, at| unsafe { mmd.write(handle, op, length, place.cast(), memory, at) };
        // SAFETY: as above.
        let read = |op| unsafe { mmd.read(handle, op, length, place.cast(), memory, at) };
        assert_eq!(command.hand(|op| write(op, at)), 0);
        command.finish();
        assert_eq!(command.hand(read), 0);
        command.finish();
        assert_eq!(command.told.load(Ordering::SeqCst), 2);
        let none = std::ptr::null_mut();
        assert_eq!((write(none, at), read(none)), (0, 0));
        assert_eq!(write(none, at + 64), -1);
        command.was_on_time();
    }
    assert!(buffer == pattern(1, 70_000));
    runtime.close();
}

/// A low address of the process is also an address of FPGA memory, where another buffer lies: that buffer must not
/// change.
pub fn host_memory_at_a_low_address_is_not_fpga_memory(bench: &dyn Bench) {
    const LENGTH: usize = 70_000;
    let (runtime, mmd) = open(bench);
    let (handle, memory) = (runtime.handle(), runtime.interfaces[2]);
    let at = std::ptr::without_provenance_mut(0x20_0000);
    // SAFETY: a new mapping, which takes no other one's place.
    let place = unsafe {
        let (both, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
        );
        libc::mmap(at, LENGTH, both, flags, -1, 0)
    };
    assert_eq!(place, at, "the address is taken");
    let (theirs, ours) = (pattern(1, LENGTH), pattern(2, LENGTH));
    // SAFETY: mapped just now.
    unsafe { std::ptr::copy_nonoverlapping(ours.as_ptr(), place.cast(), LENGTH) };
    bench.memory_write(at.addr() as u64, &theirs);
    for length in [LENGTH, 64] {
        let command = Command::new(Duration::ZERO);
        // SAFETY: the bytes are mapped until the end of the test.
        let write = |op| unsafe { mmd.write(handle, op, length, place, memory, at.addr()) };
        assert_eq!(command.hand(write), 0);
        command.finish();
        assert_eq!(write(std::ptr::null_mut()), 0);
        command.was_on_time();
    }
    let mut found = vec![0; LENGTH];
    bench.memory_read(at.addr() as u64, &mut found);
    assert!(found == theirs, "another buffer was overwritten");
    // SAFETY: no command is under way, and there are no references into it.
    unsafe { libc::munmap(place, LENGTH) };
    runtime.close();
}

/// The runtime takes the board of such a buffer from bits of the host's address, so it may name a board that is not
/// open. An open board reports the end.
pub fn host_memory_of_a_board_that_was_closed_is_there_too(bench: &dyn Bench) {
    let mmd = bench.load();
    let (closed, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    let (stale, memory) = (closed.handle(), closed.interfaces[2]);
    closed.close();
    let data = pattern(1, 70_000);
    let at = data.as_ptr().expose_provenance();
    let write = |op, interface, at| {
        // SAFETY: the bytes live until the command's end.
        unsafe { mmd.write(stale, op, 70_000, data.as_ptr().cast(), interface, at) }
    };
    let command = Command::new(Duration::ZERO);
    assert_eq!(
        command.hand(|op| write(op, memory, at)),
        -1,
        "no handler for its end"
    );
    let (runtime, _) = Runtime::open(mmd, bench.name(), Version(24.2)).unwrap();
    // SAFETY: it needs no pointer.
    let set =
        unsafe { mmd.set_status_handler(runtime.handle(), Some(status), std::ptr::null_mut()) };
    assert!(set == 0 && runtime.handle() != stale);
    assert_eq!(command.hand(|op| write(op, memory, at)), 0);
    command.finish();
    assert_eq!(command.told.load(Ordering::SeqCst), 1);
    let none = std::ptr::null_mut();
    assert_eq!(write(none, memory, at), 0);
    assert_eq!(write(none, memory, at + 64), -1);
    assert_eq!(write(none, memory, PLACE), -1);
    assert_eq!(write(none, runtime.interfaces[0], at), -1);
    command.was_on_time();
    runtime.close();
}
