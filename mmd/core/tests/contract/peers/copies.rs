//! Copies: their bytes, their order, and the copies that are refused.

use super::*;
use peerlane_mmd_core::Lookup;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

#[test]
fn bytes_are_copied_both_ways_at_every_alignment() {
    let program = Program::new();
    let peer = program.peer(4096);
    for shift in 0..64 {
        // All differences of alignment occur.
        for other in [0, 1, 31, 63] {
            let (at, to, length) = (shift, (5 * shift + other) % 64, (37 * shift) % 190);
            let data = pattern((shift + other) as u8, length);
            program.set_board(0, &[0xee; 512]);
            program.set_board(at, &data);
            peer.memory.write(0, &[0xdd; 512]).unwrap();
            assert_eq!(
                program.copy(Direction::FromFpga, &peer, (at, to), length),
                0
            );
            let mut expected = [0xdd; 512];
            expected[to..to + length].copy_from_slice(&data);
            assert!(
                peer.bytes(0, 512) == expected,
                "{length} bytes, {at} to {to}"
            );
            program.set_board(0, &[0xee; 512]);
            assert_eq!(program.copy(Direction::ToFpga, &peer, (at, to), length), 0);
            let mut expected = [0xee; 512];
            expected[at..at + length].copy_from_slice(&data);
            assert!(
                program.on_board(0, 512) == expected,
                "{length} bytes, {to} to {at}"
            );
        }
    }
    program.runtime.close();
}

#[test]
fn all_sizes_are_copied_both_ways() {
    let program = Program::new();
    let peer = program.peer(MIB + 100);
    for length in [0, 1, 63, 64, 65, 4095, 4096, 65_537, 300_001, MIB - 1, MIB] {
        let data = pattern(length as u8, length);
        program.set_board(3, &data);
        assert_eq!(program.copy(Direction::FromFpga, &peer, (3, 7), length), 0);
        assert!(peer.bytes(7, length) == data, "{length} bytes");
        program.set_board(3, &vec![0; length]);
        assert_eq!(program.copy(Direction::ToFpga, &peer, (3, 7), length), 0);
        assert!(program.on_board(3, length) == data, "{length} bytes");
    }
    // A copy of no bytes is allowed, but its addresses are checked.
    assert_eq!(
        program.copy(Direction::ToFpga, &peer, (2 * MIB, MIB + 100), 0),
        0
    );
    assert_eq!(
        program.copy(Direction::ToFpga, &peer, (2 * MIB + 1, 0), 0),
        VALUE
    );
    assert_eq!(
        program.copy(Direction::ToFpga, &peer, (0, MIB + 101), 0),
        VALUE
    );
    program.runtime.close();
}

/// A board that writes whole dwords only cannot write other lengths to memory that only the board reaches.
#[test]
fn a_copy_that_the_board_cannot_write_is_refused_before_anything_is_moved() {
    let program = Program::over(&Toys::new(EMPTY));
    let peer = program.peer(4096);
    let data = pattern(3, 4096);
    program.set_board(0, &data);
    for (to, size) in [(1, 3), (0, 3), (2, 8), (5, 4091)] {
        assert_eq!(
            program.copy(Direction::FromFpga, &peer, (0, to), size),
            VALUE
        );
        let begun = program.begin(Direction::FromFpga, &peer, (0, to), size, &[]);
        assert_eq!(begun.err(), Some(VALUE), "no event remains");
    }
    assert!(peer.bytes(0, 4096) == [0; 4096]);
    // From any byte of the board's memory, and back from any byte of the peer's.
    assert_eq!(program.copy(Direction::FromFpga, &peer, (3, 8), 64), 0);
    assert!(peer.bytes(8, 64) == data[3..67]);
    assert_eq!(program.copy(Direction::ToFpga, &peer, (101, 9), 5), 0);
    assert!(program.on_board(101, 5) == data[4..9]);
    program.runtime.close();
}

#[test]
fn what_cannot_be_copied_is_refused_and_nothing_written() {
    let program = Program::new();
    let peer = program.peer(4096);
    let own = (handle(program.buffer), 0);
    let call =
        |buffer, peer, size| program.call(Direction::FromFpga, buffer, peer, size, true, &[], None);
    let before = program.given();
    for (offset, to, size) in [
        (0, 0, 4097),
        (0, 4096, 1),
        (0, usize::MAX, 2),
        (2 * MIB, 0, 1),
        (usize::MAX, 0, 2),
        (0, 0, usize::MAX),
    ] {
        assert_eq!(
            call((own.0, offset), (peer.handle(), to), size),
            VALUE,
            "{offset} {to} {size}"
        );
    }
    for wrong in [0_usize, 1 << 40, usize::MAX] {
        let wrong = std::ptr::without_provenance_mut(wrong);
        assert_eq!(call(own, (wrong, 0), 1), NO_PEER);
        assert_eq!(program.mmd.release_peer(wrong), NO_PEER);
    }
    assert_eq!(call((null_mut(), 0), (peer.handle(), 0), 1), NO_BUFFER);
    // A buffer that ends after the memory that the program holds.
    let behind = program.context.buffer(Kind::Plain, (128 << 20) - 64, MIB);
    assert_eq!(call((handle(behind), 0), (peer.handle(), 0), 65), VALUE);
    // Directions.
    let only_read = program.peer_with(4, 4096);
    let only_written = program.peer_with(2, 4096);
    assert_eq!(
        program.copy(Direction::FromFpga, &only_read, (0, 0), 1),
        OPERATION
    );
    assert_eq!(
        program.copy(Direction::ToFpga, &only_written, (0, 0), 1),
        OPERATION
    );
    // A byte of a buffer was read for its address; but nothing goes to the peer.
    let words = program.toys.fake.lock().seen.descriptors[before..].to_vec();
    assert!(
        words.iter().all(|(_, _, words)| words[4] == 1),
        "{words:x?}"
    );
    assert_eq!(program.copy(Direction::ToFpga, &only_read, (0, 0), 1), 0);
    assert_eq!(
        program.copy(Direction::FromFpga, &only_written, (0, 0), 1),
        0
    );
    // Invalid lists, and a copy whose end would not be reported.
    let events = |blocking, count, list, event| Events {
        blocking,
        count,
        list,
        event,
    };
    let one = [null_mut()];
    for (events, error) in [
        (events(1, 1, null(), null_mut()), WAIT_LIST),
        (events(1, 0, one.as_ptr(), null_mut()), WAIT_LIST),
        (events(0, 0, null(), null_mut()), VALUE),
    ] {
        // SAFETY: the list is not looked into.
        let copied = unsafe {
            (program.mmd).copy_buffer(Direction::FromFpga, own, (peer.handle(), 0), 1, events)
        };
        assert_eq!(copied, error);
    }
    program.runtime.close();
}

#[test]
fn an_event_ends_when_the_bytes_are_there() {
    let program = Program::new();
    let peer = program.peer(MIB);
    let data = pattern(2, 300_000);
    // FPGA to GPU: a command that starts with the event finds the bytes in the GPU's memory.
    program.set_board(1, &data);
    let gate = program.context.event();
    let copy = program.begin(
        Direction::FromFpga,
        &peer,
        (1, 5),
        data.len(),
        &[handle(gate)],
    );
    let copy = copy.unwrap();
    let (sender, found) = channel();
    let memory = peer.memory.clone();
    *copy.then.lock().unwrap() = Some(Box::new(move |status| {
        let mut bytes = vec![0; 300_000];
        memory.read(5, &mut bytes).unwrap();
        sender.send((status, bytes)).unwrap();
    }));
    gate.set(0);
    let (status, bytes) = found.recv_timeout(LIMIT).unwrap();
    assert!(status == 0 && bytes == data);
    assert_eq!(copy.wait(), 0);
    // GPU to FPGA: the bytes are in the board's memory.
    program.set_board(1, &vec![0; data.len()]);
    let gate = program.context.event();
    let copy = program.begin(
        Direction::ToFpga,
        &peer,
        (1, 5),
        data.len(),
        &[handle(gate)],
    );
    let copy = copy.unwrap();
    let (sender, found) = channel();
    let fake = program.toys.fake.clone();
    *copy.then.lock().unwrap() = Some(Box::new(move |status| {
        let mut bytes = vec![0; 300_000];
        fake.fpga_read(PLACE as u64 + 1, &mut bytes);
        sender.send((status, bytes)).unwrap();
    }));
    gate.set(0);
    let (status, bytes) = found.recv_timeout(LIMIT).unwrap();
    assert!(status == 0 && bytes == data);
    // The program's own references are the only ones left.
    until_count(&copy.count, 1);
    until_count(&gate.count, 1);
    until_count(&program.buffer.count, 1);
    until_count(&program.context.count, 1);
    program.runtime.close();
}

#[test]
fn a_copy_waits_for_all_its_events() {
    let program = Program::new();
    let peer = program.peer(4096);
    let [first, second] = [program.context.event(), program.context.event()];
    program.set_board(0, b"old");
    let list = [handle(first), handle(second)];
    // Two copies that wait, one of them for the other.
    let one = program
        .begin(Direction::FromFpga, &peer, (0, 0), 3, &list)
        .unwrap();
    let two = program
        .begin(Direction::FromFpga, &peer, (0, 100), 3, &[handle(one)])
        .unwrap();
    // A copy that waits for nothing overtakes them.
    let free = program
        .begin(Direction::FromFpga, &peer, (0, 200), 3, &[])
        .unwrap();
    assert_eq!(free.wait(), 0);
    assert_eq!(peer.bytes(200, 3), b"old");
    first.set(0);
    std::thread::sleep(Duration::from_millis(20));
    assert!(one.now() > 0 && two.now() > 0);
    program.set_board(0, b"new");
    second.set(0);
    assert_eq!((one.wait(), two.wait()), (0, 0));
    assert_eq!(
        (peer.bytes(0, 3), peer.bytes(100, 3)),
        (b"new".to_vec(), b"new".to_vec())
    );
    // A blocking copy with a list and an event, which has ended when the call returns.
    let third = program.context.event();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            third.set(0);
        });
        let mut event = null_mut();
        let (own, to) = ((handle(program.buffer), 0), (peer.handle(), 300));
        let list = [handle(third)];
        let copied = program.call(
            Direction::FromFpga,
            own,
            to,
            3,
            true,
            &list,
            Some(&mut event),
        );
        assert_eq!((copied, third.now()), (0, 0));
        // SAFETY: events are the stub's.
        let event: &Event = unsafe { object(event) };
        assert_eq!((event.now(), event.count.load(Ordering::SeqCst)), (0, 1));
    });
    // A copy whose event fails: nothing is copied.
    let [failed, other] = [program.context.event(), program.context.event()];
    failed.set(-7);
    let list = [handle(failed)];
    let copy = program
        .begin(Direction::FromFpga, &peer, (0, 400), 3, &list)
        .unwrap();
    assert_eq!(copy.wait(), EVENT_FAILED);
    let own = (handle(program.buffer), 0);
    let copied = program.call(
        Direction::FromFpga,
        own,
        (peer.handle(), 400),
        3,
        true,
        &list,
        None,
    );
    assert_eq!((copied, peer.bytes(400, 3)), (EVENT_FAILED, vec![0; 3]));
    // Too many copies at a time.
    let list = [handle(other)];
    let mut waiting = Vec::new();
    let refused = loop {
        match program.begin(Direction::FromFpga, &peer, (0, 0), 3, &list) {
            Ok(event) => waiting.push(event),
            Err(error) => break error,
        }
    };
    assert_eq!((refused, waiting.len()), (-5, 64));
    other.set(0);
    assert!(waiting.into_iter().all(|event| event.wait() == 0));
    program.runtime.close();
}

#[test]
fn threads_copy_both_ways_at_once() {
    let program = Program::new();
    let peers = [program.peer(MIB), program.peer(MIB)];
    std::thread::scope(|scope| {
        for (thread, peer) in peers.iter().enumerate() {
            let program = &program;
            scope.spawn(move || {
                for round in 0..40 {
                    let at = thread * MIB + round;
                    let length = [1, 700, 70_001, 400_000][round % 4];
                    let data = pattern((2 * round + thread) as u8, length);
                    program.set_board(at, &data);
                    let copied = match round % 2 {
                        0 => program.copy(Direction::FromFpga, peer, (at, round), length),
                        _ => {
                            let at = (at, round);
                            program
                                .begin(Direction::FromFpga, peer, at, length, &[])
                                .unwrap()
                                .wait()
                        }
                    };
                    assert!(copied == 0 && peer.bytes(round, length) == data);
                    program.set_board(at, &vec![0; length]);
                    let at_both = (at, round);
                    let back = program
                        .begin(Direction::ToFpga, peer, at_both, length, &[])
                        .unwrap();
                    assert!(back.wait() == 0 && program.on_board(at, length) == data);
                }
            });
        }
        // The runtime's own transfers go on concurrently.
        for round in 0..40 {
            let data = pattern(round, 50_000);
            program.runtime.write_op(1, 0x50_0000, &data);
            let mut found = vec![0; data.len()];
            program.runtime.read_op(2, 0x50_0000, &mut found);
            assert!(found == data);
        }
    });
    program.runtime.close();
}

#[test]
fn a_copy_too_many_is_refused_and_leaves_no_event_behind() {
    let program = Program::new();
    let peer = program.peer(4096);
    let gate = program.context.event();
    let wait = || program.begin(Direction::ToFpga, &peer, (0, 0), 1, &[handle(gate)]);
    let copies: Vec<_> = (0..64).map(|_| wait().unwrap()).collect();
    assert_eq!(wait().err(), Some(NO_RESOURCES));
    gate.set(0);
    for copy in copies {
        assert_eq!(copy.wait(), 0);
    }
    // Seats become free, and the refused copy holds nothing.
    until_count(&program.buffer.count, 1);
    assert_eq!(wait().unwrap().wait(), 0);
    program.runtime.close();
}

unsafe extern "C" fn functions(name: *const c_char) -> *mut c_void {
    // SAFETY: it is a name.
    let name = unsafe { CStr::from_ptr(name) };
    Stub(true).find(name).map_or(null_mut(), NonNull::as_ptr)
}

/// A driver around the runtime has OpenCL's functions, and the process has none.
#[test]
fn a_driver_around_the_runtime_gives_its_functions() {
    let toys = Toys::of_bytes();
    let mmd = Mmd::with_lookup(Flavour::OPEN, toys.clone(), Stub(false));
    let program = Program::with(&toys, InProcess::keep(mmd));
    assert_eq!(program.by_pointer(0, 0x1000, 1), Err(NO_OPENCL));
    // SAFETY: the functions are the stub's, as all objects are.
    assert_eq!(unsafe { program.mmd.set_opencl(Some(functions)) }, 0);
    let peer = program.peer(4096);
    peer.memory.write(0, &pattern(7, 4096)).unwrap();
    let copy = program.begin(Direction::ToFpga, &peer, (0, 0), 4096, &[]);
    assert_eq!(copy.unwrap().wait(), 0);
    assert!(program.on_board(0, 4096) == pattern(7, 4096));
    // SAFETY: no functions are set.
    assert_eq!(unsafe { program.mmd.set_opencl(None) }, 0);
    let copy = program.begin(Direction::ToFpga, &peer, (0, 0), 1, &[]);
    assert_eq!(copy.err(), Some(NO_OPENCL));
    program.runtime.close();
}

#[test]
fn copies_by_address_need_no_opencl() {
    let toys = Toys::of_bytes();
    let mmd = InProcess::keep(Mmd::with_lookup(Flavour::OPEN, toys.clone(), Stub(false)));
    let mut error = 77;
    // SAFETY: there is room for an error.
    unsafe {
        // No board is open yet.
        assert!(
            mmd.peer_from_dma_buf(null_mut(), 0, 0, 0, 1, &raw mut error)
                .is_null()
        );
        assert_eq!(error, NO_DEVICE);
    }
    let (runtime, _) = Runtime::open(mmd, "toy0", Version(14.0)).unwrap();
    let context = Context::new(&[(&runtime, "toy0")]);
    let gpu = toys.driver.open().unwrap();
    let memory = gpu.memory(MemoryKind::Gpu, MIB).unwrap();
    let pointer: *mut c_void = std::ptr::without_provenance_mut(memory.address() as usize);
    let device = handle(context.devices[0]);
    // SAFETY: there is room for an error, and the device is the stub's.
    let peer = unsafe {
        assert!(
            mmd.peer_from_pointer(device, 0, pointer, MIB, 5, &raw mut error)
                .is_null()
        );
        assert_eq!(error, NO_OPENCL);
        mmd.peer_from_pointer(null_mut(), 0, pointer, MIB, 5, &raw mut error)
    };
    assert_eq!(error, 0);
    let buffer = context.buffer(Kind::Plain, PLACE, MIB);
    let events = Events {
        blocking: 1,
        count: 0,
        list: null(),
        event: null_mut(),
    };
    // SAFETY: the buffer is the stub's.
    let copied = unsafe {
        mmd.copy_buffer(
            Direction::FromFpga,
            (handle(buffer), 0),
            (peer, 0),
            1,
            events,
        )
    };
    assert_eq!(copied, NO_OPENCL);
    let data = pattern(3, 100_000);
    toys.fake.fpga_write(0x401, &data);
    // With the runtime's bits of a device pointer.
    for bits in [0, 1 << 61, 3 << 62 | 1 << 61 | 0x7f << 54] {
        memory.write(0, &vec![0; data.len() + 9]).unwrap();
        let none = (None, null_mut());
        // SAFETY: no callback is set.
        let copied = unsafe {
            mmd.copy_address(
                Direction::FromFpga,
                0x401 | bits,
                (peer, 9),
                data.len(),
                none,
            )
        };
        let mut found = vec![0; data.len()];
        memory.read(9, &mut found).unwrap();
        assert!(copied == 0 && found == data);
    }
    let (user, end) = listen();
    // SAFETY: the function is called once, with this.
    let begun = unsafe {
        let told = (Some(heard as _), user);
        mmd.copy_address(Direction::ToFpga, 0x50_0000, (peer, 9), data.len(), told)
    };
    assert_eq!((begun, end.recv_timeout(LIMIT).unwrap()), (0, 0));
    let mut found = vec![0; data.len()];
    toys.fake.fpga_read(0x50_0000, &mut found);
    assert!(found == data);
    for (address, offset, size) in [
        (128 << 20, 0, 1),
        (0, MIB, 1),
        (u64::MAX, 0, 1),
        (0, 0, usize::MAX),
    ] {
        // SAFETY: no callback is set.
        let copied = unsafe {
            mmd.copy_address(
                Direction::ToFpga,
                address,
                (peer, offset),
                size,
                (None, null_mut()),
            )
        };
        assert_eq!(copied, VALUE, "{address:#x} {offset} {size}");
    }
    runtime.close();
}
