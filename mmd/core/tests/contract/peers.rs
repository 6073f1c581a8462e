//! Copies between buffers and a GPU's memory: `peerlane_ext.h`, called as a program calls it.

use crate::opencl::{
    Buffer, Context, Event, Kind, Stub, handle, object, release_the_context, text,
};
use crate::{EMPTY, Loaded, Toys, in_a_process, pattern};
use peerlane_contract::{Runtime, Version};
use peerlane_host::{Device, Memory, MemoryKind};
use peerlane_mmd_core::{
    Boards, Direction, ERRORS, Events, Flavour, Found, Mmd, cl_peer_memory_peerlane,
};
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Errors as `peerlane_ext.h` and OpenCL number them.
const NO_ROOM: i32 = -4;
const EVENT_FAILED: i32 = -14;
const VALUE: i32 = -30;
const NO_DEVICE: i32 = -33;
const NO_BUFFER: i32 = -38;
const WAIT_LIST: i32 = -57;
const OPERATION: i32 = -59;
const NO_PEER: i32 = -10001;
const REVOKED: i32 = -10002;
const NOT_SUPPORTED: i32 = -10003;
const NO_ADDRESS: i32 = -10004;
const FAILED: i32 = -10005;
const LOST: i32 = -10007;
const CLOSED: i32 = -10008;
const RESTARTED: i32 = -10009;
const NO_OPENCL: i32 = -10010;

/// Longer than anything takes.
const LIMIT: Duration = Duration::from_secs(60);

const MIB: usize = 1 << 20;
/// Where the buffer of most tests lies.
const PLACE: usize = 0x10_0400;

/// A program with a board, a buffer and a GPU.
struct Program {
    toys: Toys,
    mmd: &'static Loaded,
    runtime: Runtime,
    context: &'static Context,
    buffer: &'static Buffer,
    /// Who allocates the GPU's memory.
    gpu: Device,
}

/// Memory of the GPU's that is registered.
struct Peer {
    memory: Memory,
    /// The handle, as a number.
    number: usize,
}

/// A file that can stand for a dma-buf.
fn file() -> File {
    // SAFETY: it is a string.
    let file = unsafe { libc::memfd_create(c"dma-buf".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(file >= 0);
    // SAFETY: it is new.
    unsafe { File::from_raw_fd(file) }
}

impl Program {
    fn new() -> Self {
        Self::over(&Toys::new(EMPTY))
    }

    fn over(toys: &Toys) -> Self {
        let mmd = toys.load();
        let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
        let context = Context::new(&[(&runtime, "toy0")]);
        Self {
            buffer: context.buffer(Kind::Plain, PLACE, 2 * MIB),
            gpu: toys.driver.open().unwrap(),
            toys: toys.clone(),
            mmd,
            runtime,
            context,
        }
    }

    fn device(&self) -> *mut c_void {
        handle(self.context.devices[0])
    }

    fn by_pointer(
        &self,
        flags: u64,
        pointer: u64,
        size: usize,
    ) -> Result<cl_peer_memory_peerlane, i32> {
        let mut error = 77;
        let pointer = std::ptr::without_provenance_mut(pointer as usize);
        // SAFETY: there is room for an error.
        let made = unsafe {
            let device = self.device();
            (self.mmd).peer_from_pointer(device, flags, pointer, size, 0, &raw mut error)
        };
        assert_eq!(made.is_null(), error != 0);
        if error == 0 { Ok(made) } else { Err(error) }
    }

    fn by_dma_buf(
        &self,
        file: i32,
        offset: usize,
        size: usize,
    ) -> Result<cl_peer_memory_peerlane, i32> {
        let mut error = 77;
        // SAFETY: there is room for an error.
        let made = unsafe {
            (self.mmd).peer_from_dma_buf(self.device(), 0, file, offset, size, &raw mut error)
        };
        assert_eq!(made.is_null(), error != 0);
        if error == 0 { Ok(made) } else { Err(error) }
    }

    /// New memory, registered by its pointer.
    fn peer_with(&self, flags: u64, size: usize) -> Peer {
        let memory = self.gpu.memory(MemoryKind::Gpu, size).unwrap();
        let handle = self.by_pointer(flags, memory.address(), size).unwrap();
        Peer {
            memory,
            number: handle.addr(),
        }
    }

    fn peer(&self, size: usize) -> Peer {
        self.peer_with(0, size)
    }

    /// A copy with all that can be said of it.
    #[allow(clippy::too_many_arguments, reason = "they are the call's")]
    fn call(
        &self,
        direction: Direction,
        buffer: (*mut c_void, usize),
        peer: (cl_peer_memory_peerlane, usize),
        size: usize,
        blocking: bool,
        list: &[*mut c_void],
        event: Option<&mut *mut c_void>,
    ) -> i32 {
        let events = Events {
            blocking: blocking.into(),
            count: list.len() as u32,
            list: if list.is_empty() {
                null()
            } else {
                list.as_ptr()
            },
            event: event.map_or(null_mut(), std::ptr::from_mut),
        };
        // SAFETY: buffer and events are the stub's.
        unsafe { (self.mmd).copy_buffer(direction, buffer, peer, size, events) }
    }

    /// A blocking copy.
    fn copy(&self, direction: Direction, peer: &Peer, at: (usize, usize), size: usize) -> i32 {
        let (buffer, peer) = ((handle(self.buffer), at.0), (peer.handle(), at.1));
        self.call(direction, buffer, peer, size, true, &[], None)
    }

    /// A copy that goes on behind the call.
    fn begin(
        &self,
        direction: Direction,
        peer: &Peer,
        at: (usize, usize),
        size: usize,
        list: &[*mut c_void],
    ) -> Result<&'static Event, i32> {
        let (buffer, peer) = ((handle(self.buffer), at.0), (peer.handle(), at.1));
        let mut event = null_mut();
        match self.call(direction, buffer, peer, size, false, list, Some(&mut event)) {
            // SAFETY: events are the stub's.
            0 => Ok(unsafe { object(event) }),
            error => {
                assert!(event.is_null());
                Err(error)
            }
        }
    }

    fn on_board(&self, offset: usize, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.toys
            .fake
            .fpga_read((PLACE + offset) as u64, &mut bytes);
        bytes
    }

    fn set_board(&self, offset: usize, bytes: &[u8]) {
        self.toys.fake.fpga_write((PLACE + offset) as u64, bytes);
    }

    /// Waits until the board was given so many descriptors.
    fn until_given(&self, more: usize) {
        let begin = Instant::now();
        while self.toys.fake.lock().seen.descriptors.len() < more {
            assert!(begin.elapsed() < LIMIT, "nothing was submitted");
            std::thread::yield_now();
        }
    }

    fn given(&self) -> usize {
        self.toys.fake.lock().seen.descriptors.len()
    }
}

impl Peer {
    fn handle(&self) -> cl_peer_memory_peerlane {
        std::ptr::without_provenance_mut(self.number)
    }

    fn bytes(&self, offset: usize, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.memory.read(offset, &mut bytes).unwrap();
        bytes
    }
}

/// Waits until an object has so many holders.
fn until_count(count: &AtomicI32, holders: i32) {
    let begin = Instant::now();
    while count.load(Ordering::SeqCst) != holders {
        assert!(begin.elapsed() < LIMIT, "{count:?} holders, not {holders}");
        std::thread::yield_now();
    }
}

unsafe extern "C" fn heard(status: i32, user: *mut c_void) {
    // SAFETY: it was made by `listen`, for one call.
    let heard = unsafe { Box::from_raw(user.cast::<Sender<i32>>()) };
    heard.send(status).unwrap();
}

/// Who is told of a copy's end.
fn listen() -> (*mut c_void, Receiver<i32>) {
    let (sender, receiver) = channel::<i32>();
    (Box::into_raw(Box::new(sender)).cast(), receiver)
}

#[test]
fn bytes_are_copied_both_ways_at_every_alignment() {
    let program = Program::new();
    let peer = program.peer(4096);
    for shift in 0..64 {
        // All differences of alignment come up.
        for other in [0, 1, 31, 63] {
            let (at, to, length) = (shift, (5 * shift + other) % 64, (37 * shift) % 190);
            let data = pattern((shift + other) as u8, length);
            program.set_board(0, &[0xee; 512]);
            program.set_board(at, &data);
            peer.memory.write(0, &[0xdd; 512]).unwrap();
            assert_eq!(program.copy(Direction::Write, &peer, (at, to), length), 0);
            let mut expected = [0xdd; 512];
            expected[to..to + length].copy_from_slice(&data);
            assert!(
                peer.bytes(0, 512) == expected,
                "{length} bytes, {at} to {to}"
            );
            program.set_board(0, &[0xee; 512]);
            assert_eq!(program.copy(Direction::Read, &peer, (at, to), length), 0);
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
        assert_eq!(program.copy(Direction::Write, &peer, (3, 7), length), 0);
        assert!(peer.bytes(7, length) == data, "{length} bytes");
        program.set_board(3, &vec![0; length]);
        assert_eq!(program.copy(Direction::Read, &peer, (3, 7), length), 0);
        assert!(program.on_board(3, length) == data, "{length} bytes");
    }
    // Nothing is to be copied, but from where there is something.
    assert_eq!(
        program.copy(Direction::Read, &peer, (2 * MIB, MIB + 100), 0),
        0
    );
    assert_eq!(
        program.copy(Direction::Read, &peer, (2 * MIB + 1, 0), 0),
        VALUE
    );
    assert_eq!(
        program.copy(Direction::Read, &peer, (0, MIB + 101), 0),
        VALUE
    );
    program.runtime.close();
}

#[test]
fn memory_is_registered_by_dma_buf_pointer_and_buffer() {
    let program = Program::new();
    let entries = program.toys.fake.lock().valid_entries();
    let memory = program.gpu.memory(MemoryKind::Gpu, 256 << 10).unwrap();
    let dmabuf = file();
    dmabuf.set_len(256 << 10).unwrap();
    program.toys.fake.set_dmabuf(&dmabuf, &memory);
    let data = pattern(1, 1000);
    memory.write(70_001, &data).unwrap();
    let by_file = program
        .by_dma_buf(dmabuf.as_raw_fd(), 65_536, 100_000)
        .unwrap();
    let by_pointer = program
        .by_pointer(0, memory.address() + 65_536, 100_000)
        .unwrap();
    // The same a second time: both work, and each is released by itself.
    let again = program
        .by_pointer(0, memory.address() + 65_536, 100_000)
        .unwrap();
    // Another OpenCL's buffer whose memory the file is; its size is rounded up there.
    let foreign = program
        .context
        .foreign(Some(dmabuf.as_raw_fd()), (256 << 10) - 4095);
    let mut error = 77;
    // SAFETY: the buffer is the stub's, and there is room for an error.
    let by_buffer = unsafe {
        (program.mmd).peer_from_mem_object(program.device(), 1, handle(foreign), &raw mut error)
    };
    assert_eq!(error, 0);
    drop(dmabuf);
    for (peer, offset) in [
        (by_file, 4465),
        (by_pointer, 4465),
        (again, 4465),
        (by_buffer, 70_001),
    ] {
        program.set_board(0, &[0; 1000]);
        let buffer = (handle(program.buffer), 0);
        let copied = program.call(
            Direction::Read,
            buffer,
            (peer, offset),
            1000,
            true,
            &[],
            None,
        );
        assert_eq!(copied, 0);
        assert!(program.on_board(0, 1000) == data);
        assert_eq!(program.mmd.release_peer(peer), 0);
        assert_eq!(program.mmd.release_peer(peer), NO_PEER);
    }
    assert_eq!(program.toys.fake.lock().valid_entries(), entries);
    program.runtime.close();
}

#[test]
fn what_cannot_be_registered_is_refused() {
    let program = Program::new();
    let memory = program.gpu.memory(MemoryKind::Gpu, MIB).unwrap();
    let address = memory.address();
    for (flags, address, size, error) in [
        (3, address, MIB, VALUE),
        (1 << 3, address, MIB, VALUE),
        (0, address, 0, VALUE),
        (0, 0, 4096, VALUE),
        (0, u64::MAX - 10, 4096, VALUE),
        (0, 0x1234_0000, 4096, VALUE),
        (0, address, MIB + 1, VALUE),
        (0, address, usize::MAX, VALUE),
    ] {
        assert_eq!(
            program.by_pointer(flags, address, size),
            Err(error),
            "{address:#x} {size}"
        );
    }
    let closed = file().as_raw_fd();
    let other = file();
    for (file, offset, size) in [
        (-1, 0, 1),
        (i32::MAX, 0, 1),
        (closed, 0, 1),
        (other.as_raw_fd(), 0, 1),
    ] {
        assert_eq!(program.by_dma_buf(file, offset, size), Err(VALUE), "{file}");
    }
    program.toys.fake.set_dmabuf(&other, &memory);
    for (offset, size) in [(0, 0), (0, MIB + 1), (MIB, 1), (usize::MAX, 2)] {
        let made = program.by_dma_buf(other.as_raw_fd(), offset, size);
        assert_eq!(made, Err(VALUE), "{offset} {size}");
    }
    // Buffers of other OpenCLs: one that exports nothing, and one that is a part of more memory.
    other.set_len(MIB as u64).unwrap();
    let none = program.context.foreign(None, 4096);
    let part = program.context.foreign(Some(other.as_raw_fd()), 4096);
    for (buffer, expected) in [
        (handle(none), NOT_SUPPORTED),
        (handle(part), NOT_SUPPORTED),
        (null_mut(), NO_BUFFER),
    ] {
        let mut error = 77;
        // SAFETY: the buffer is the stub's, and there is room for an error.
        let made = unsafe {
            (program.mmd).peer_from_mem_object(program.device(), 0, buffer, &raw mut error)
        };
        assert!(made.is_null() && error == expected, "{error}");
    }
    // Nobody asks for the error.
    // SAFETY: a NULL is allowed.
    let made = unsafe { (program.mmd).peer_from_dma_buf(null_mut(), 0, -1, 0, 1, null_mut()) };
    assert!(made.is_null());
    // The board's table is finite.
    let more = program.gpu.memory(MemoryKind::Gpu, 1 << 30).unwrap();
    let mut handles = Vec::new();
    let full = loop {
        match program.by_pointer(0, more.address(), 1 << 30) {
            Ok(handle) => handles.push(handle),
            Err(error) => break error,
        }
        assert!(handles.len() < 1000);
    };
    assert_eq!(full, NO_ROOM);
    for handle in handles {
        assert_eq!(program.mmd.release_peer(handle), 0);
    }
    assert!(program.by_pointer(0, more.address(), MIB).is_ok());
    program.runtime.close();
}

#[test]
fn what_cannot_be_copied_is_refused_and_nothing_written() {
    let program = Program::new();
    let peer = program.peer(4096);
    let own = (handle(program.buffer), 0);
    let call =
        |buffer, peer, size| program.call(Direction::Write, buffer, peer, size, true, &[], None);
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
    // A buffer that ends behind the memory that the program holds.
    let behind = program.context.buffer(Kind::Plain, (128 << 20) - 64, MIB);
    assert_eq!(call((handle(behind), 0), (peer.handle(), 0), 65), VALUE);
    // Directions.
    let only_read = program.peer_with(4, 4096);
    let only_written = program.peer_with(2, 4096);
    assert_eq!(
        program.copy(Direction::Write, &only_read, (0, 0), 1),
        OPERATION
    );
    assert_eq!(
        program.copy(Direction::Read, &only_written, (0, 0), 1),
        OPERATION
    );
    // A byte was read of a buffer for its address; but nothing goes to the peer.
    let words = program.toys.fake.lock().seen.descriptors[before..].to_vec();
    assert!(
        words.iter().all(|(_, _, words)| words[4] == 1),
        "{words:x?}"
    );
    assert_eq!(program.copy(Direction::Read, &only_read, (0, 0), 1), 0);
    assert_eq!(program.copy(Direction::Write, &only_written, (0, 0), 1), 0);
    // Lists that make no sense, and a copy that nobody would hear of.
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
            (program.mmd).copy_buffer(Direction::Write, own, (peer.handle(), 0), 1, events)
        };
        assert_eq!(copied, error);
    }
    program.runtime.close();
}

#[test]
fn only_buffers_whose_contents_are_on_the_board_have_an_address() {
    let program = Program::new();
    let context = program.context;
    let address = |buffer: &'static Buffer| {
        let mut address = 77;
        // SAFETY: the buffer is the stub's, and there is room.
        let status = unsafe {
            (program.mmd).buffer_address(program.device(), handle(buffer), &raw mut address)
        };
        if status == 0 {
            Ok(address)
        } else {
            Err(status)
        }
    };
    for (kind, place, expected) in [
        (Kind::Plain, 0x400, Ok(0x400)),
        (Kind::Plain, 0x12_3400, Ok(0x12_3400)),
        // The runtime hands out nothing there.
        (Kind::Plain, 0, Err(NO_ADDRESS)),
        (Kind::Plain, 0x3ff, Err(NO_ADDRESS)),
        (Kind::CopyHostPtr, 0x2000, Err(NO_ADDRESS)),
        (Kind::UseHostPtr, 0x2000, Err(NO_ADDRESS)),
        (Kind::ParentOfOne, 0x2000, Err(NO_ADDRESS)),
        (Kind::Saved, 0x2000, Err(NO_ADDRESS)),
        (Kind::SubBuffer, 0x2000, Err(NO_BUFFER)),
        (Kind::Image, 0x2000, Err(NO_BUFFER)),
    ] {
        assert_eq!(
            address(context.buffer(kind, place, 4096)),
            expected,
            "{kind:?} {place:#x}"
        );
    }
    // SAFETY: NULLs are allowed.
    unsafe {
        let mut address = 0;
        let mmd = program.mmd;
        let to = &raw mut address;
        assert_eq!(
            mmd.buffer_address(program.device(), null_mut(), to),
            NO_BUFFER
        );
        let buffer = handle(program.buffer);
        assert_eq!(
            mmd.buffer_address(program.device(), buffer, null_mut()),
            VALUE
        );
        assert_eq!(mmd.buffer_address(null_mut(), buffer, to), 0);
        assert_eq!(address, PLACE as u64);
    }
    // A read of the program's own beside it is not taken for the question.
    let stop = AtomicI32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut byte = [0];
            let mut op = 0x9000;
            while stop.load(Ordering::SeqCst) == 0 {
                program.runtime.read_op(op, 0x8000, &mut byte);
                op += 1;
            }
        });
        for _ in 0..50 {
            assert_eq!(address(program.buffer), Ok(PLACE as u64));
        }
        stop.store(1, Ordering::SeqCst);
    });
    program.runtime.close();
}

#[test]
fn an_event_ends_when_the_bytes_are_there() {
    let program = Program::new();
    let peer = program.peer(MIB);
    let data = pattern(2, 300_000);
    // FPGA to GPU: what starts with the event finds the bytes in the GPU's memory.
    program.set_board(1, &data);
    let gate = program.context.event();
    let copy = program.begin(Direction::Write, &peer, (1, 5), data.len(), &[handle(gate)]);
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
    // GPU to FPGA: in the board's memory.
    program.set_board(1, &vec![0; data.len()]);
    let gate = program.context.event();
    let copy = program.begin(Direction::Read, &peer, (1, 5), data.len(), &[handle(gate)]);
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
    // Nobody holds anything any more but the program its own.
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
    // Two that wait, one of them for the other.
    let one = program
        .begin(Direction::Write, &peer, (0, 0), 3, &list)
        .unwrap();
    let two = program
        .begin(Direction::Write, &peer, (0, 100), 3, &[handle(one)])
        .unwrap();
    // One that waits for nothing overtakes them.
    let free = program
        .begin(Direction::Write, &peer, (0, 200), 3, &[])
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
    // A blocking one with a list and an event, which has ended then.
    let third = program.context.event();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            third.set(0);
        });
        let mut event = null_mut();
        let (own, to) = ((handle(program.buffer), 0), (peer.handle(), 300));
        let list = [handle(third)];
        let copied = program.call(Direction::Write, own, to, 3, true, &list, Some(&mut event));
        assert_eq!((copied, third.now()), (0, 0));
        // SAFETY: events are the stub's.
        let event: &Event = unsafe { object(event) };
        assert_eq!((event.now(), event.count.load(Ordering::SeqCst)), (0, 1));
    });
    // One that fails: nothing is copied.
    let [failed, other] = [program.context.event(), program.context.event()];
    failed.set(-7);
    let list = [handle(failed)];
    let copy = program
        .begin(Direction::Write, &peer, (0, 400), 3, &list)
        .unwrap();
    assert_eq!(copy.wait(), EVENT_FAILED);
    let own = (handle(program.buffer), 0);
    let copied = program.call(
        Direction::Write,
        own,
        (peer.handle(), 400),
        3,
        true,
        &list,
        None,
    );
    assert_eq!((copied, peer.bytes(400, 3)), (EVENT_FAILED, vec![0; 3]));
    // Too many at a time.
    let list = [handle(other)];
    let mut waiting = Vec::new();
    let refused = loop {
        match program.begin(Direction::Write, &peer, (0, 0), 3, &list) {
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
                        0 => program.copy(Direction::Write, peer, (at, round), length),
                        _ => {
                            let at = (at, round);
                            program
                                .begin(Direction::Write, peer, at, length, &[])
                                .unwrap()
                                .wait()
                        }
                    };
                    assert!(copied == 0 && peer.bytes(round, length) == data);
                    program.set_board(at, &vec![0; length]);
                    let at_both = (at, round);
                    let back = program
                        .begin(Direction::Read, peer, at_both, length, &[])
                        .unwrap();
                    assert!(back.wait() == 0 && program.on_board(at, length) == data);
                }
            });
        }
        // The runtime's own transfers go on beside.
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
fn copies_by_address_need_no_opencl() {
    let toys = Toys::new(EMPTY);
    let mmd = Loaded::keep(Mmd::with_lookup(Flavour::OPEN, toys.clone(), Stub(false)));
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
    let copied =
        unsafe { mmd.copy_buffer(Direction::Write, (handle(buffer), 0), (peer, 0), 1, events) };
    assert_eq!(copied, NO_OPENCL);
    let data = pattern(3, 100_000);
    toys.fake.fpga_write(0x401, &data);
    // With the runtime's bits of a device pointer.
    for bits in [0, 1 << 61, 3 << 62 | 1 << 61 | 0x7f << 54] {
        memory.write(0, &vec![0; data.len() + 9]).unwrap();
        let none = (None, null_mut());
        // SAFETY: nobody is called.
        let copied = unsafe {
            mmd.copy_address(Direction::Write, 0x401 | bits, (peer, 9), data.len(), none)
        };
        let mut found = vec![0; data.len()];
        memory.read(9, &mut found).unwrap();
        assert!(copied == 0 && found == data);
    }
    let (user, end) = listen();
    // SAFETY: the function is called once, with this.
    let begun = unsafe {
        let told = (Some(heard as _), user);
        mmd.copy_address(Direction::Read, 0x50_0000, (peer, 9), data.len(), told)
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
        // SAFETY: nobody is called.
        let copied = unsafe {
            mmd.copy_address(
                Direction::Read,
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

#[test]
fn a_revoked_memory_is_told_and_can_be_registered_anew() {
    let program = Program::new();
    let mut peer = program.peer(4 * MIB);
    assert_eq!(program.copy(Direction::Write, &peer, (0, 0), MIB), 0);
    // Under a copy that waits for the board.
    program.toys.fake.lock().tricks.stuck = true;
    program.toys.fake.lock().tricks.frozen = true;
    let before = program.given();
    let copies = Direction::BOTH.map(|direction| {
        // The question for the address is answered: the board is stuck for copies alone.
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
    assert_eq!(program.copy(Direction::Read, &peer, (0, 0), 1), REVOKED);
    let remedy = text(program.mmd, REVOKED);
    assert!(remedy.contains("export the memory anew"), "{remedy}");
    assert_eq!(program.mmd.release_peer(peer.handle()), 0);
    let anew = program.by_pointer(0, peer.memory.address(), 4 * MIB);
    peer.number = anew.unwrap().addr();
    assert_eq!(program.copy(Direction::Read, &peer, (0, 0), MIB), 0);
    program.runtime.close();
}

#[test]
fn a_fault_and_a_lost_board_are_codes() {
    let program = Program::new();
    let peer = program.peer(MIB);
    let address = |direction| {
        let none = (None, null_mut());
        // SAFETY: nobody is called.
        unsafe {
            (program.mmd).copy_address(direction, PLACE as u64, (peer.handle(), 0), 1000, none)
        }
    };
    // A read that nobody answers, and a write whose arrival cannot be confirmed.
    for (direction, side, fault) in [(Direction::Read, 1, 7), (Direction::Write, 0, 11)] {
        program.toys.fake.lock().tricks.fault = Some((side, 0, fault, 100));
        assert_eq!(address(direction), FAILED);
        assert_eq!(address(direction), 0, "it was one fault");
    }
    // Somebody else has the board started anew: FPGA memory may have lost its contents.
    program.toys.driver.reset().unwrap();
    assert_eq!(address(Direction::Write), RESTARTED);
    assert_eq!(address(Direction::Write), 0);
    // One that is gone ends a program that waits for its kernels, but not this one.
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    // SAFETY: it is a string.
    let board = unsafe { mmd.open(c"toy0".as_ptr()) };
    let gpu = toys.driver.open().unwrap();
    let memory = gpu.memory(MemoryKind::Gpu, 4096).unwrap();
    let pointer = std::ptr::without_provenance_mut(memory.address() as usize);
    let mut error = 77;
    let none = (None, null_mut());
    // SAFETY: there is room for an error, and nobody is called.
    let copied = unsafe {
        let peer = mmd.peer_from_pointer(null_mut(), 0, pointer, 64, 0, &raw mut error);
        toys.fake.lock().tricks.gone = true;
        mmd.copy_address(Direction::Read, 0x400, (peer, 0), 64, none)
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
        (program.mmd).copy_address(Direction::Write, PLACE as u64, to, MIB, told)
    };
    assert_eq!(begun, 0);
    program.until_given(before + 1);
    program.toys.fake.lock().tricks.frozen = false;
    let mut image = EMPTY.as_bytes().to_vec();
    program.runtime.program(&mut image, 0);
    assert_eq!(end.recv_timeout(LIMIT).unwrap(), RESTARTED);
    program.toys.fake.lock().tricks.stuck = false;
    // The memory is registered as before.
    assert_eq!(program.copy(Direction::Write, &peer, (0, 0), MIB), 0);
    program.runtime.close();
}

#[test]
fn closing_the_board_ends_copies_and_gives_memory_back() {
    let program = Program::new();
    let fake = program.toys.fake.clone();
    let peer = program.peer(MIB);
    let gate = program.context.event();
    let waits = program
        .begin(Direction::Write, &peer, (0, 0), 100, &[handle(gate)])
        .unwrap();
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.frozen = true;
    let before = program.given();
    // One under way each way, and one behind.
    let copies: Vec<_> = [Direction::Write, Direction::Read, Direction::Write]
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
        let copied = again.call(Direction::Write, own, (handle, 0), 1, true, &[], None);
        assert_eq!(copied, NO_PEER);
    }
    gate.set(0);
    assert_eq!(waits.wait(), CLOSED);
    let peer = again.peer(MIB);
    assert_eq!(again.copy(Direction::Write, &peer, (0, 0), MIB), 0);
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
        // The program's own hold goes; the last copy's may be the one that closes the board, in a thread
        // of the library's.
        release_the_context(program.context);
        for copy in copies {
            assert_eq!(copy.wait(), 0);
        }
        until_count(&program.context.count, 0);
        // Under the lock, the close has returned.
        drop(program.context.lock.lock().unwrap());
        assert_eq!(program.toys.fake.lock().valid_entries(), 0);
    }
    // By the program, with copies that hold no context.
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

/// Two boards of one process.
struct Two([Toys; 2]);

impl Boards for Two {
    fn names(&self) -> Vec<String> {
        vec!["toy0".into(), "toy1".into()]
    }

    fn open(&self, name: &str) -> Result<Found, String> {
        let index = self.names().iter().position(|other| other == name);
        self.0[index.ok_or("no board")?].open_board()
    }
}

#[test]
fn each_of_two_boards_has_its_own() {
    let both = [Toys::new(EMPTY), Toys::new(EMPTY)];
    let mmd = Mmd::with_lookup(Flavour::OPEN, Two(both.clone()), Stub(true));
    let mmd = Loaded::keep(mmd);
    let runtimes = ["toy0", "toy1"].map(|name| Runtime::open(mmd, name, Version(24.2)).unwrap().0);
    let context = Context::new(&[(&runtimes[0], "toy0"), (&runtimes[1], "toy1")]);
    let gpu = both[1].driver.open().unwrap();
    let memory = gpu.memory(MemoryKind::Gpu, 4096).unwrap();
    let pointer = std::ptr::without_provenance_mut(memory.address() as usize);
    let mut error = 77;
    // SAFETY: devices are the stub's, and there is room for an error.
    let peer = unsafe {
        // Which of the two?
        assert!(
            mmd.peer_from_pointer(null_mut(), 0, pointer, 4096, 0, &raw mut error)
                .is_null()
        );
        assert_eq!(error, NO_DEVICE);
        let device = handle(context.devices[1]);
        mmd.peer_from_pointer(device, 0, pointer, 4096, 0, &raw mut error)
    };
    assert_eq!(error, 0);
    for toys in &both {
        toys.fake.fpga_write(0x2000, b"first");
    }
    both[1].fake.fpga_write(0x2000, b"other");
    let copy = |buffer: &'static Buffer| {
        let events = Events {
            blocking: 1,
            count: 0,
            list: null(),
            event: null_mut(),
        };
        // SAFETY: the buffer is the stub's.
        unsafe { mmd.copy_buffer(Direction::Write, (handle(buffer), 0), (peer, 0), 5, events) }
    };
    assert_eq!(copy(context.elsewhere(1, 0x2000, 4096)), 0);
    let mut found = [0; 5];
    memory.read(0, &mut found).unwrap();
    assert_eq!(&found, b"other");
    // A buffer whose contents the other board has.
    assert_eq!(copy(context.elsewhere(0, 0x2000, 4096)), NO_ADDRESS);
    let [first, second] = runtimes;
    first.close();
    assert_eq!(copy(context.elsewhere(1, 0x2000, 4096)), 0);
    second.close();
}

#[test]
fn a_forked_child_gets_codes() {
    let output = in_a_process("peers::a_forked_child_gets_codes", || {
        let program = Program::new();
        let peer = program.peer(4096);
        // SAFETY: the child calls what it is tried with, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let refused = program.by_pointer(0, peer.memory.address(), 64) == Err(OPERATION)
                && program.copy(Direction::Write, &peer, (0, 0), 1) == OPERATION
                && program.mmd.release_peer(peer.handle()) == OPERATION;
            // SAFETY: nothing of the parent's is to be undone.
            unsafe { libc::_exit(i32::from(!refused)) };
        }
        let mut status = 77;
        // SAFETY: it writes the status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(program.copy(Direction::Write, &peer, (0, 0), 1), 0);
        program.runtime.close();
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
}
