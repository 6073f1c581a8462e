//! Memory, boards and processes that end during copies.

use super::*;
use crate::opencl::AWAKE;
use std::sync::Mutex;

/// The first cycle of a profile (`KERNEL_OFFSET_CSR_PROFILE_START_CYCLE` of `acl_hal_mmd.h`, 8 further since version
/// 5).
const PROFILE_START: u64 = 0x20;

#[test]
fn a_revoked_memory_is_told_and_can_be_registered_anew() {
    let program = Program::new();
    let mut peer = program.peer(4 * MIB);
    assert_eq!(program.copy(Direction::FromFpga, &peer, (0, 0), MIB), 0);
    // During a copy that waits for the board.
    program.toys.fake.lock().tricks.stuck = true;
    program.toys.fake.lock().tricks.frozen = true;
    let before = program.given();
    let copies = Direction::BOTH.map(|direction| {
        // The query for the address is answered: the board is stuck for copies alone.
        let (user, end) = listen();
        // SAFETY: the function is called once, with this.
        let begun = unsafe {
            let (to, told) = ((peer.handle(), 0), (Some(heard as _), user));
            (program.mmd).copy_address(direction, PLACE as u64, to, MIB, told)
        };
        assert_eq!(begun, 0);
        end
    });
    program.until_given(before + 2);
    program.toys.fake.revoke(&peer.memory);
    program.toys.fake.lock().tricks.stuck = false;
    program.toys.fake.lock().tricks.frozen = false;
    for copy in copies {
        assert_eq!(copy.recv_timeout(LIMIT).unwrap(), REVOKED);
    }
    assert_eq!(program.copy(Direction::ToFpga, &peer, (0, 0), 1), REVOKED);
    let hint = text(program.mmd, REVOKED);
    assert!(hint.contains("export the memory again"), "{hint}");
    assert_eq!(program.mmd.release_peer(peer.handle()), 0);
    let anew = program.by_pointer(0, peer.memory.address(), 4 * MIB);
    peer.number = anew.unwrap().addr();
    assert_eq!(program.copy(Direction::ToFpga, &peer, (0, 0), MIB), 0);
    program.runtime.close();
}

#[test]
fn a_fault_and_a_lost_board_are_codes() {
    let program = Program::new();
    let peer = program.peer(MIB);
    let address = |direction| {
        let none = (None, null_mut());
        // SAFETY: no callback is set.
        unsafe {
            (program.mmd).copy_address(direction, PLACE as u64, (peer.handle(), 0), 1000, none)
        }
    };
    // A read without an answer, and a write whose arrival cannot be confirmed.
    for (direction, side, fault) in [(Direction::ToFpga, 1, 7), (Direction::FromFpga, 0, 11)] {
        program.toys.fake.lock().tricks.fault = Some((side, 0, fault, 100));
        assert_eq!(address(direction), FAILED);
        assert_eq!(address(direction), 0, "it was one fault");
    }
    // A transfer that the queue's restart for another transfer has ended is made again.
    for (direction, side) in [(Direction::ToFpga, 1), (Direction::FromFpga, 0)] {
        program.toys.fake.lock().tricks.fault = Some((side, 0, 9, 100));
        assert_eq!(address(direction), 0);
    }
    // Another process starts the board again: FPGA memory may have lost its contents.
    program.toys.driver.reset().unwrap();
    assert_eq!(address(Direction::FromFpga), RESTARTED);
    assert_eq!(address(Direction::FromFpga), 0);
    // A board that is gone ends a program that waits for its kernels, but not this one.
    let toys = Toys::of_bytes();
    let mmd = toys.load();
    // SAFETY: it is a string.
    let board = unsafe { mmd.open(c"toy0".as_ptr()) };
    let gpu = toys.driver.open().unwrap();
    let memory = gpu.memory(MemoryKind::Gpu, 4096).unwrap();
    let pointer = std::ptr::without_provenance_mut(memory.address() as usize);
    let mut error = 77;
    let none = (None, null_mut());
    // SAFETY: there is room for an error, and no callback is set.
    let copied = unsafe {
        let peer = mmd.peer_from_pointer(null_mut(), 0, pointer, 64, 0, &raw mut error);
        toys.fake.lock().tricks.gone = true;
        mmd.copy_address(Direction::ToFpga, 0x400, (peer, 0), 64, none)
    };
    assert_eq!((error, copied), (0, LOST));
    assert_eq!(mmd.close(board), 0);
    program.runtime.close();
    for error in ERRORS {
        assert!(!text(program.mmd, error.value).is_empty());
    }
}

#[test]
fn programming_ends_copies() {
    let program = Program::new();
    let peer = program.peer(MIB);
    program.toys.fake.lock().tricks.stuck = true;
    program.toys.fake.lock().tricks.frozen = true;
    let before = program.given();
    let (user, end) = listen();
    // SAFETY: the function is called once, with this.
    let begun = unsafe {
        let (to, told) = ((peer.handle(), 0), (Some(heard as _), user));
        (program.mmd).copy_address(Direction::FromFpga, PLACE as u64, to, MIB, told)
    };
    assert_eq!(begun, 0);
    program.until_given(before + 1);
    program.toys.fake.lock().tricks.frozen = false;
    let mut image = EMPTY.as_bytes().to_vec();
    program.runtime.program(&mut image, 0);
    assert_eq!(end.recv_timeout(LIMIT).unwrap(), RESTARTED);
    program.toys.fake.lock().tricks.stuck = false;
    // The memory is registered as before.
    assert_eq!(program.copy(Direction::FromFpga, &peer, (0, 0), MIB), 0);
    program.runtime.close();
}

/// The runtime holds its lock from the query whether the memory can be kept until all buffers are restored. Bytes that
/// are copied in that time are lost, or are overwritten.
#[test]
fn a_copy_while_buffers_are_saved_and_restored_is_no_success() {
    let program = Program::new();
    let peer = program.peer(4096);
    let memory = program.runtime.interfaces[2];
    let shared = &program.runtime.shared;
    let mut image = EMPTY.as_bytes().to_vec();
    let begin_address = |direction| {
        let (user, end) = listen();
        // SAFETY: the function is called once, with this.
        let begun = unsafe {
            let (to, told) = ((peer.handle(), 0), (Some(heard as _), user));
            (program.mmd).copy_address(direction, PLACE as u64, to, 100, told)
        };
        (begun, end)
    };
    let address = |direction| match begin_address(direction) {
        (0, end) => end.recv_timeout(LIMIT).unwrap(),
        (refused, _) => refused,
    };
    let (old, new) = (pattern(1, 100), pattern(2, 100));
    program.set_board(0, &old);
    peer.memory.write(0, &new).unwrap();
    let gates = [(); 2].map(|()| program.context.event());
    let copies = gates.map(|gate| {
        (program.begin(Direction::ToFpga, &peer, (0, 0), 100, &[handle(gate)])).unwrap()
    });
    // A copy in progress when the runtime asks, which ends after that.
    program.toys.fake.lock().tricks.stuck = true;
    program.toys.fake.lock().tricks.frozen = true;
    let before = program.given();
    let (begun, end) = begin_address(Direction::ToFpga);
    assert_eq!(begun, 0);
    program.until_given(before + 1);
    let lock = program.context.locked();
    assert!(!program.runtime.program(&mut image, 1));
    program.toys.fake.lock().tricks.stuck = false;
    program.toys.fake.lock().tricks.frozen = false;
    assert_eq!(end.recv_timeout(LIMIT).unwrap(), RESTARTED);
    program.set_board(0, &old);

    let mut saved = vec![0; 100];
    assert_eq!(shared.read(memory, PLACE, &mut saved), 0);
    // The query of the buffer's place waits for the lock.
    gates[0].set_within(0);
    assert_eq!(address(Direction::ToFpga), RESTARTED);
    assert!(program.runtime.program(&mut image, 0));
    // Before the buffers are restored.
    gates[1].set_within(0);
    assert_eq!(address(Direction::FromFpga), RESTARTED);
    assert_eq!(peer.bytes(0, 100), new);
    assert_eq!(shared.write(memory, PLACE, &saved), 0);
    assert_eq!(program.on_board(0, 100), old);
    drop(lock);
    for copy in copies {
        assert_eq!(copy.wait(), 0);
    }
    assert_eq!(program.on_board(0, 100), new);
    assert!(program.runtime.program(&mut image, 0));
    assert_eq!(address(Direction::FromFpga), RESTARTED);
    program.set_board(0, &old);

    // The query of a buffer's place waits for the runtime's lock.
    assert_eq!(program.copy(Direction::ToFpga, &peer, (0, 0), 100), 0);
    assert_eq!(program.on_board(0, 100), new);
    assert_eq!(address(Direction::FromFpga), 0);
    // A kernel also runs only after all buffers are restored.
    assert!(program.runtime.program(&mut image, 0));
    assert_eq!(address(Direction::FromFpga), RESTARTED);
    // The runtime sets a profile's registers while it programs, one by one, before it restores the buffers
    // (`ACL_PROFILE_START_CYCLE`).
    shared.set_csr(PROFILE_START, &1000_u64.to_le_bytes());
    shared.set_csr(PROFILE_START, &1_u32.to_le_bytes());
    assert_eq!(address(Direction::FromFpga), RESTARTED);
    program.runtime.launch(1, [0x400, 0x400, 0x8000]);
    assert_eq!(address(Direction::FromFpga), 0);
    program.runtime.until_finished(1);
    program.runtime.close();
}

#[test]
fn closing_the_board_ends_copies_and_gives_memory_back() {
    let program = Program::new();
    let fake = program.toys.fake.clone();
    let peer = program.peer(MIB);
    let gate = program.context.event();
    let waits = program
        .begin(Direction::FromFpga, &peer, (0, 0), 100, &[handle(gate)])
        .unwrap();
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.frozen = true;
    let before = program.given();
    // One copy in progress in each direction, and one waiting.
    let copies: Vec<_> = [Direction::FromFpga, Direction::ToFpga, Direction::FromFpga]
        .into_iter()
        .map(|direction| {
            let (user, end) = listen();
            // SAFETY: the function is called once, with this.
            let begun = unsafe {
                let (to, told) = ((peer.handle(), 0), (Some(heard as _), user));
                (program.mmd).copy_address(direction, PLACE as u64, to, MIB, told)
            };
            assert_eq!(begun, 0);
            end
        })
        .collect();
    program.until_given(before + 2);
    // Released by the program, but in use.
    assert_eq!(program.mmd.release_peer(peer.handle()), 0);
    let other = program.peer(MIB);
    let begin = Instant::now();
    program.runtime.close();
    assert!(begin.elapsed() < LIMIT / 2);
    for copy in copies {
        assert_eq!(copy.recv_timeout(LIMIT).unwrap(), CLOSED);
    }
    assert_eq!(fake.lock().valid_entries(), 0, "memory is still mapped");
    assert_eq!(program.mmd.release_peer(other.handle()), NO_PEER);
    // The board can be opened again while a copy still waits for its event.
    fake.lock().tricks.stuck = false;
    fake.lock().tricks.frozen = false;
    let again = Program {
        gpu: program.gpu,
        ..Program::over(&program.toys)
    };
    let own = (handle(again.buffer), 0);
    for handle in [peer.handle(), other.handle()] {
        let copied = again.call(Direction::FromFpga, own, (handle, 0), 1, true, &[], None);
        assert_eq!(copied, NO_PEER);
    }
    gate.set(0);
    assert_eq!(waits.wait(), CLOSED);
    let peer = again.peer(MIB);
    assert_eq!(again.copy(Direction::FromFpga, &peer, (0, 0), MIB), 0);
    again.runtime.close();
}

#[test]
fn a_board_is_closed_under_the_runtimes_lock_while_ends_are_told() {
    for round in 0..20 {
        let program = Program::new();
        let peer = program.peer(MIB);
        let copies: Vec<_> = (0..10)
            .map(|index| {
                let direction = Direction::BOTH[index % 2];
                let at = (index * 1000, index * 1000);
                program
                    .begin(direction, &peer, at, 1000 * (round % 3), &[])
                    .unwrap()
            })
            .collect();
        // The program's own reference is released; the last copy's reference may be the one that closes the board, in a
        // thread of the library's.
        release_the_context(program.context);
        for copy in copies {
            assert_eq!(copy.wait(), 0);
        }
        until_count(&program.context.count, 0);
        // Once the lock is free, the close has returned.
        drop(program.context.lock.lock().unwrap());
        assert_eq!(program.toys.fake.lock().valid_entries(), 0);
    }
    // The program closes the board, with copies that hold no context.
    for _ in 0..20 {
        let program = Program::new();
        let peer = program.peer(MIB);
        let ends: Vec<_> = (0..10)
            .map(|index| {
                let (user, end) = listen();
                // SAFETY: the function is called once, with this.
                let begun = unsafe {
                    let (to, told) = ((peer.handle(), 0), (Some(heard as _), user));
                    let direction = Direction::BOTH[index % 2];
                    (program.mmd).copy_address(direction, PLACE as u64, to, MIB, told)
                };
                assert_eq!(begun, 0);
                end
            })
            .collect();
        release_the_context(program.context);
        for end in ends {
            let status = end.recv_timeout(LIMIT).unwrap();
            assert!(status == 0 || status == CLOSED, "{status}");
        }
    }
}

#[test]
fn a_forked_child_gets_codes() {
    let output = in_a_process("peers::ends::a_forked_child_gets_codes", || {
        let program = Program::new();
        let peer = program.peer(4096);
        // SAFETY: the child makes the calls under test, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let refused = program.by_pointer(0, peer.memory.address(), 64) == Err(OPERATION)
                && program.copy(Direction::FromFpga, &peer, (0, 0), 1) == OPERATION
                && program.mmd.release_peer(peer.handle()) == OPERATION;
            // SAFETY: none of the parent's state is to be cleaned up.
            unsafe { libc::_exit(i32::from(!refused)) };
        }
        let mut status = 77;
        // SAFETY: it writes the status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(program.copy(Direction::FromFpga, &peer, (0, 0), 1), 0);
        program.runtime.close();
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
}

/// Set when the callback of a copy has begun; the next one when it has ended.
static BEGUN: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn slow(_: i32, _: *mut c_void) {
    BEGUN.store(true, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(500));
    ENDED.store(true, Ordering::SeqCst);
}

/// Like the destructor of the runtime, which was loaded before.
extern "C" fn destructor() {
    if !ENDED.load(Ordering::SeqCst) {
        // SAFETY: the test checks the status.
        unsafe { libc::_exit(99) };
    }
}

unsafe extern "C" fn ends(_: i32, _: *mut c_void) {
    std::process::exit(8);
}

/// Makes a thread of the library's call a callback.
fn call_back(callback: unsafe extern "C" fn(i32, *mut c_void)) {
    let program = Program::new();
    let peer = program.peer(4096);
    // SAFETY: the function can be called with anything.
    let begun = unsafe {
        let (to, told) = ((peer.handle(), 0), (Some(callback as _), null_mut()));
        (program.mmd).copy_address(Direction::FromFpga, PLACE as u64, to, 64, told)
    };
    assert_eq!(begun, 0);
}

#[test]
fn the_process_ends_behind_a_callback_that_runs() {
    let output = in_a_process(
        "peers::ends::the_process_ends_behind_a_callback_that_runs",
        || {
            // SAFETY: it is a function of this program.
            assert_eq!(unsafe { libc::atexit(destructor) }, 0);
            call_back(slow);
            while !BEGUN.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        },
    );
    assert_eq!(output.unwrap().status.code(), Some(7));
}

#[test]
fn a_callback_may_end_the_process() {
    // A process that waits for something waits five seconds each time; a busy machine is not always that slow.
    let mut took = Vec::new();
    for _ in 0..3 {
        let begin = Instant::now();
        let output = in_a_process("peers::ends::a_callback_may_end_the_process", || {
            call_back(ends);
            std::thread::sleep(LIMIT);
        });
        let Some(output) = output else { return };
        assert_eq!(output.status.code(), Some(8));
        took.push(begin.elapsed());
        if took.iter().any(|took| *took < Duration::from_secs(4)) {
            return;
        }
    }
    panic!("{took:?}");
}

/// A buffer may move to another place while a copy waits for events: the copy uses the place that the buffer has then.
#[test]
fn a_copy_behind_events_finds_where_its_buffer_is_then() {
    let program = Program::new();
    let peer = program.peer(4096);
    let new = pattern(2, 100);
    peer.memory.write(0, &new).unwrap();
    let before = program.on_board(0, 100);
    let gate = program.context.event();
    let copy = program
        .begin(Direction::ToFpga, &peer, (0, 0), 100, &[handle(gate)])
        .unwrap();
    let moved = 4 * MIB;
    (program.buffer.address).store(PLACE + moved, Ordering::SeqCst);
    gate.set(0);
    assert_eq!(copy.wait(), 0);
    assert_eq!(
        program.on_board(0, 100),
        before,
        "another buffer may be there"
    );
    assert_eq!(program.on_board(moved, 100), new);
    program.runtime.close();
}

/// The event that a destructor waits for.
static COPIED: Mutex<Option<(&'static Event, &'static Program)>> = Mutex::new(None);

/// Like a destructor of an object that is older than the board: it runs after the library's own function.
extern "C" fn waits_for_a_copy() {
    // SAFETY: it ends a process that hangs.
    unsafe { libc::alarm(30) };
    let (copied, program) = COPIED.lock().unwrap().take().unwrap();
    // The context exists as long as a copy waits.
    assert!(program.context.count.load(Ordering::SeqCst) > 0);
    // The runtime uses the board, and so still exists.
    let read = (program.runtime.shared).read(program.runtime.interfaces[2], PLACE, &mut [0]);
    let status = match copied.wait() {
        _ if read != 0 => 12,
        0 => 10,
        _ => 11,
    };
    // SAFETY: the test checks the status.
    unsafe { libc::_exit(status) };
}

/// The process ends while a copy waits for an event, or while its bytes are moved, and then the event comes.
fn ends_with_a_copy(moves: bool) {
    // SAFETY: it is a function of this program.
    assert_eq!(unsafe { libc::atexit(waits_for_a_copy) }, 0);
    let program = Box::leak(Box::new(Program::new()));
    let peer = Box::leak(Box::new(program.peer(4096)));
    let gate = program.context.event();
    let copied = program.begin(Direction::FromFpga, peer, (0, 0), 64, &[handle(gate)]);
    *COPIED.lock().unwrap() = Some((copied.unwrap(), program));
    if moves {
        let before = program.given();
        program.toys.fake.lock().tricks.stuck = true;
        program.toys.fake.lock().tricks.frozen = true;
        // The copy asks for the buffer's place now.
        gate.set(0);
        program.until_given(before + 1);
    }
    let toys = program.toys.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        toys.fake.lock().tricks.stuck = false;
        toys.fake.lock().tricks.frozen = false;
        if !moves {
            gate.set(0);
        }
    });
}

#[test]
fn a_copy_that_waits_fails_when_the_process_ends() {
    let output = in_a_process(
        "peers::ends::a_copy_that_waits_fails_when_the_process_ends",
        || ends_with_a_copy(false),
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(11),
        "{:?}: {said}",
        output.status
    );
}

/// Like the destructors of the runtime, which end the process if one of its threads is not in a wait.
extern "C" fn ends_what_is_awake() {
    if AWAKE.load(Ordering::SeqCst) != 0 {
        // SAFETY: the test checks the status.
        unsafe { libc::_exit(13) };
    }
}

#[test]
fn threads_that_a_report_at_the_end_has_woken_wait_again() {
    let output = in_a_process(
        "peers::ends::threads_that_a_report_at_the_end_has_woken_wait_again",
        || {
            // SAFETY: it is a function of this program.
            assert_eq!(unsafe { libc::atexit(ends_what_is_awake) }, 0);
            let program = Box::leak(Box::new(Program::new()));
            let peer = Box::leak(Box::new(program.peer(4096)));
            let gate = program.context.event();
            program
                .begin(Direction::FromFpga, peer, (0, 0), 64, &[handle(gate)])
                .unwrap();
        },
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{:?}: {said}", output.status);
}

/// A record that is wrong makes the queue fail. Copies that the board still has end at the board before they end for the
/// program, which may use the memory then.
#[test]
fn a_copy_of_a_queue_that_fails_ends_at_the_board_first() {
    let program = Program::new();
    let peer = program.peer(MIB);
    {
        let mut fake = program.toys.fake.lock();
        fake.tricks.stuck_side = Some(0);
        // The end of too few bytes, without a fault.
        fake.tricks.fault = Some((1, 0, 0, 10));
    }
    let copies = Direction::BOTH.map(|direction| {
        let (user, end) = listen();
        // SAFETY: the function is called once, with this.
        let begun = unsafe {
            let (to, told) = ((peer.handle(), 0), (Some(heard as _), user));
            (program.mmd).copy_address(direction, PLACE as u64, to, MIB, told)
        };
        assert_eq!(begun, 0);
        end
    });
    let ends = copies.map(|copy| copy.recv_timeout(LIMIT).unwrap());
    assert!(ends.contains(&FAILED), "{ends:?}");
    let mut fake = program.toys.fake.lock();
    assert_eq!(fake.seen.ended.len(), fake.seen.descriptors.len());
    fake.tricks.stuck_side = None;
    drop(fake);
    for direction in Direction::BOTH {
        assert_eq!(program.copy(direction, &peer, (0, 0), MIB), 0);
    }
    program.runtime.close();
}

#[test]
fn a_copy_behind_events_that_moves_bytes_ends_before_the_process() {
    let output = in_a_process(
        "peers::ends::a_copy_behind_events_that_moves_bytes_ends_before_the_process",
        || ends_with_a_copy(true),
    );
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(10),
        "{:?}: {said}",
        output.status
    );
}

/// Copies to a peer that takes no data end within their minute, by the code for that, also when other threads restart
/// the queue.
#[test]
fn copies_to_a_peer_that_takes_nothing_end_within_a_minute() {
    let program = Program::new();
    let peer = program.peer(MIB);
    program.toys.fake.lock().tricks.stuck_side = Some(0);
    let clock = program.toys.driver.open().unwrap();
    let ends: Vec<_> = std::thread::scope(|scope| {
        let copy = || {
            let begin = clock.now();
            let none = (None, null_mut());
            let (to, mmd) = ((peer.handle(), 0), program.mmd);
            // SAFETY: no callback is set.
            let status =
                unsafe { mmd.copy_address(Direction::FromFpga, PLACE as u64, to, 64, none) };
            (status, clock.now() - begin)
        };
        let copies: Vec<_> = (0..8).map(|_| scope.spawn(copy)).collect();
        copies
            .into_iter()
            .map(|copy| copy.join().unwrap())
            .collect()
    });
    // The board's time goes on while any thread waits, also for a thread that a busy computer does not run.
    for (status, took) in &ends {
        assert_eq!(*status, TIMEOUT, "{ends:?}");
        assert!(*took < Duration::from_secs(180), "{ends:?}");
    }
    program.toys.fake.lock().tricks.stuck_side = None;
    assert_eq!(program.copy(Direction::FromFpga, &peer, (0, 0), MIB), 0);
    program.runtime.close();
}
