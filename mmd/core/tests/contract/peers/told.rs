//! Messages about refused calls. The codes are few, so a line on standard error has the cause.

use super::*;

/// A call, with its code and a part of the line about it.
type Refused = (fn(&Program, &Peer) -> i32, i32, &'static str);

/// A blocking copy to the peer's memory.
fn copies(program: &Program, buffer: *mut c_void, memory: *mut c_void, size: usize) -> i32 {
    let (from, to) = ((buffer, 0), (memory, 0));
    program.call(Direction::FromFpga, from, to, size, true, &[], None)
}

fn with_events(program: &Program, peer: &Peer, events: Events) -> i32 {
    let (from, to) = ((handle(program.buffer), 0), (peer.handle(), 0));
    // SAFETY: the list is not read.
    unsafe { (program.mmd).copy_buffer(Direction::FromFpga, from, to, 1, events) }
}

fn error<T>(made: Result<T, i32>) -> i32 {
    made.err().unwrap_or(0)
}

fn events(blocking: u32, count: u32) -> Events {
    Events {
        blocking,
        count,
        list: null(),
        event: null_mut(),
    }
}

const REFUSED: &[Refused] = &[
    (
        |program, _| program.mmd.release_peer(null_mut()),
        NO_PEER,
        "PEER_MEMORY_PEERLANE: the memory is NULL",
    ),
    (
        |program, _| {
            program
                .mmd
                .release_peer(std::ptr::without_provenance_mut(77))
        },
        NO_PEER,
        "no peer memory 0x4d",
    ),
    (
        |program, _| error(program.by_pointer(7, 1 << 40, 64)),
        VALUE,
        "VALUE: flags of 0x7",
    ),
    (
        |program, _| error(program.by_pointer(0, 1 << 40, 0)),
        VALUE,
        "memory of 0 bytes",
    ),
    (
        |program, _| error(program.by_pointer(0, 0, 64)),
        VALUE,
        "64 bytes at 0x0 are not memory",
    ),
    (
        |program, _| error(program.by_dma_buf(-1, 0, 64)),
        VALUE,
        "no open file -1",
    ),
    (
        |program, peer| copies(program, handle(program.buffer), peer.handle(), 4097),
        VALUE,
        "4097 bytes at offset 0 are not all in the peer memory, of 4096 bytes",
    ),
    (
        |program, peer| copies(program, null_mut(), peer.handle(), 1),
        NO_BUFFER,
        "the buffer is NULL",
    ),
    (
        |program, peer| {
            let image = program.context.buffer(Kind::Image, PLACE, MIB);
            copies(program, handle(image), peer.handle(), 1)
        },
        NO_BUFFER,
        "it is an image",
    ),
    (
        |program, peer| {
            let part = program.context.buffer(Kind::SubBuffer, PLACE, MIB);
            copies(program, handle(part), peer.handle(), 1)
        },
        NO_BUFFER,
        "it is a sub-buffer",
    ),
    (
        |program, peer| {
            let host = program.context.buffer(Kind::UseHostPtr, PLACE, MIB);
            copies(program, handle(host), peer.handle(), 1)
        },
        NO_ADDRESS,
        "made with CL_MEM_USE_HOST_PTR",
    ),
    (
        |program, _| {
            let written = program.peer_with(2, 4096);
            program.copy(Direction::ToFpga, &written, (0, 0), 1)
        },
        OPERATION,
        "for writes by the board only",
    ),
    (
        |program, peer| with_events(program, peer, events(1, 1)),
        WAIT_LIST,
        "1 events, and a list that is NULL",
    ),
    (
        |program, peer| with_events(program, peer, events(0, 0)),
        VALUE,
        "no place for an event",
    ),
    (
        // SAFETY: nothing is written.
        |program, _| unsafe {
            (program.mmd).buffer_address(program.device(), null_mut(), null_mut())
        },
        VALUE,
        "address is NULL",
    ),
    (
        |program, _| {
            let mut address = 0;
            let (none, buffer) = (
                Mmd::new(Flavour::OPEN, program.toys.clone()),
                handle(program.buffer),
            );
            // SAFETY: there is room for an address.
            unsafe { none.buffer_address(null_mut(), buffer, &raw mut address) }
        },
        NO_DEVICE,
        "the process has no board open, or several",
    ),
];

#[test]
fn a_call_that_is_refused_says_its_cause() {
    let output = in_a_process("peers::told::a_call_that_is_refused_says_its_cause", || {
        let program = Program::new();
        let peer = program.peer(4096);
        for (call, code, says) in REFUSED {
            eprintln!("wanted {says}");
            assert_eq!(call(&program, &peer), *code, "{says}");
        }
        eprintln!("wanted no more");
        program.runtime.close();
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    for (_, code, says) in REFUSED {
        let begin = said
            .lines()
            .skip_while(|line| *line != format!("wanted {says}"));
        let lines: Vec<&str> = begin
            .skip(1)
            .take_while(|line| !line.starts_with("wanted "))
            .collect();
        let name = ERRORS
            .iter()
            .find(|error| error.value == *code)
            .unwrap()
            .name;
        let [line] = lines[..] else {
            panic!("{says}: {lines:?}");
        };
        assert!(
            line.starts_with(&format!("Peerlane MMD: {name}: ")),
            "{line}"
        );
        assert!(line.contains(says), "no {says:?} in {line}");
    }
}
