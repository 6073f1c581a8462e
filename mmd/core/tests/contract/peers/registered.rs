//! Registration of memory by its owner, and the places of buffers.

use super::*;
use crate::fake::Fake;
use crate::opencl::device_info;
use peerlane_mmd_core::Lookup;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::os::fd::IntoRawFd;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn memory_is_registered_by_dma_buf_pointer_and_buffer() {
    let program = Program::new();
    let entries = program.toys.fake.lock().valid_entries();
    let memory = program.gpu.memory(MemoryKind::Gpu, 256 << 10).unwrap();
    let dmabuf = file();
    dmabuf.set_len(256 << 10).unwrap();
    program.toys.fake.set_dmabuf(&dmabuf, &memory, 0);
    let data = pattern(1, 1000);
    memory.write(70_001, &data).unwrap();
    let by_file = program
        .by_dma_buf(dmabuf.as_raw_fd(), 65_536, 100_000)
        .unwrap();
    let by_pointer = program
        .by_pointer(0, memory.address() + 65_536, 100_000)
        .unwrap();
    // The same memory a second time: both work, and each is released by itself.
    let again = program
        .by_pointer(0, memory.address() + 65_536, 100_000)
        .unwrap();
    // Another OpenCL's buffer with the file as its memory; the file's size is rounded up.
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
            Direction::ToFpga,
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
    program.toys.fake.set_dmabuf(&other, &memory, 0);
    for (offset, size) in [(0, 0), (0, MIB + 1), (MIB, 1), (usize::MAX, 2)] {
        let made = program.by_dma_buf(other.as_raw_fd(), offset, size);
        assert_eq!(made, Err(VALUE), "{offset} {size}");
    }
    // Buffers of other OpenCLs: one without an export, and one that is a part of more memory.
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
    // Without a place for the error.
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
        // The runtime gives out no memory there.
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
    // A concurrent read of the program's own is not taken for the query.
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

/// Set when a program waits in `clGetDeviceInfo`, as for the runtime's lock; the next one lets it go on.
static WAITS: AtomicI32 = AtomicI32::new(0);
static GO: AtomicI32 = AtomicI32::new(0);

/// OpenCL whose `clGetDeviceInfo` waits.
struct Waiting;

extern "C" fn waiting(
    device: *mut c_void,
    what: u32,
    room: usize,
    to: *mut c_void,
    length: *mut usize,
) -> i32 {
    WAITS.store(1, Ordering::SeqCst);
    while GO.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    device_info(device, what, room, to, length)
}

// SAFETY: it has the type of OpenCL's.
unsafe impl Lookup for Waiting {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match name.to_bytes() {
            b"clGetDeviceInfo" => NonNull::new((waiting as *const ()).cast_mut().cast()),
            _ => Stub(true).find(name),
        }
    }
}

/// A call about one board, which waits for OpenCL, does not keep the others open.
#[test]
fn a_board_is_closed_and_opened_while_a_call_about_another_waits() {
    let both = [Toys::of_bytes(), Toys::of_bytes()];
    let mmd = Mmd::with_lookup(Flavour::OPEN, Two(both.clone()), Waiting);
    let mmd = InProcess::keep(mmd);
    let [first, second] =
        ["toy0", "toy1"].map(|name| Runtime::open(mmd, name, Version(24.2)).unwrap().0);
    let context = Context::new(&[(&first, "toy0"), (&second, "toy1")]);
    let gpu = both[1].driver.open().unwrap();
    let memory = gpu.memory(MemoryKind::Gpu, 4096).unwrap();
    let address = memory.address() as usize;
    let call = std::thread::spawn(move || {
        let mut error = 77;
        let pointer = std::ptr::without_provenance_mut(address);
        // SAFETY: the device is the stub's, and there is room for an error.
        unsafe {
            let device = handle(context.devices[1]);
            mmd.peer_from_pointer(device, 0, pointer, 4096, 0, &raw mut error)
        };
        error
    });
    while WAITS.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    first.close();
    let again = Runtime::open(mmd, "toy0", Version(24.2));
    GO.store(1, Ordering::SeqCst);
    assert_eq!(call.join().unwrap(), 0);
    again.expect("no program has the board").0.close();
    second.close();
}

#[test]
fn each_of_two_boards_has_its_own() {
    let both = [Toys::of_bytes(), Toys::of_bytes()];
    let mmd = Mmd::with_lookup(Flavour::OPEN, Two(both.clone()), Stub(true));
    let mmd = InProcess::keep(mmd);
    let runtimes = ["toy0", "toy1"].map(|name| Runtime::open(mmd, name, Version(24.2)).unwrap().0);
    let context = Context::new(&[(&runtimes[0], "toy0"), (&runtimes[1], "toy1")]);
    let gpu = both[1].driver.open().unwrap();
    let memory = gpu.memory(MemoryKind::Gpu, 4096).unwrap();
    let pointer = std::ptr::without_provenance_mut(memory.address() as usize);
    let mut error = 77;
    // SAFETY: devices are the stub's, and there is room for an error.
    let peer = unsafe {
        // Two boards are open, so NULL is ambiguous.
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
        unsafe {
            mmd.copy_buffer(
                Direction::FromFpga,
                (handle(buffer), 0),
                (peer, 0),
                5,
                events,
            )
        }
    };
    assert_eq!(copy(context.elsewhere(1, 0x2000, 4096)), 0);
    let mut found = [0; 5];
    memory.read(0, &mut found).unwrap();
    assert_eq!(&found, b"other");
    // A buffer whose contents the other board has.
    assert_eq!(copy(context.elsewhere(0, 0x2000, 4096)), NO_ADDRESS);
    // A context without the memory's board.
    let without = Context::new(&[(&runtimes[0], "toy0")]);
    assert_eq!(copy(without.elsewhere(0, 0x2000, 4096)), NO_DEVICE);
    let [first, second] = runtimes;
    first.close();
    assert_eq!(copy(context.elsewhere(1, 0x2000, 4096)), 0);
    second.close();
}

/// CUDA in a process that has it: allocations by their addresses, with the files of their memory.
struct Cuda;

/// Bytes of an allocation, its memory, and the board that reaches it.
type Allocation = (usize, Memory, Fake);

/// The memory's context, a number; and those of the thread, the current one last.
const CONTEXT: usize = 64;

thread_local! {
    static CONTEXTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn is_current() -> bool {
    CONTEXTS.with_borrow(|contexts| contexts.last() == Some(&CONTEXT))
}

extern "C" fn push(context: *mut c_void) -> i32 {
    CONTEXTS.with_borrow_mut(|contexts| contexts.push(context.addr()));
    0
}

extern "C" fn pop(to: *mut *mut c_void) -> i32 {
    let last = CONTEXTS.with_borrow_mut(Vec::pop);
    // SAFETY: there is room.
    unsafe { to.write(std::ptr::without_provenance_mut(last.expect("a context"))) };
    0
}

extern "C" fn attribute(to: *mut c_void, attribute: i32, address: u64) -> i32 {
    let allocations = ALLOCATIONS.lock().unwrap();
    let below = allocations.range(..=address).next_back();
    let known = below.is_some_and(|(base, (size, ..))| address < *base + *size as u64);
    let identity = match below.map(|(base, _)| *base) {
        Some(REUSED) => IDENTITY.load(Ordering::SeqCst),
        // Each piece is a buffer of its own.
        Some(IN_PIECES) => address / (2 * MIB as u64),
        base => base.unwrap_or(0),
    };
    // CU_POINTER_ATTRIBUTE_BUFFER_ID of cuda.h.
    if attribute == 7 && known {
        // SAFETY: there is room for 64 bits.
        unsafe { to.cast::<u64>().write(identity) };
        return 0;
    }
    // CU_POINTER_ATTRIBUTE_CONTEXT of cuda.h.
    if attribute != 1 || !known {
        return 1;
    }
    // SAFETY: there is room for a pointer.
    unsafe { to.cast::<usize>().write(CONTEXT) };
    0
}

/// An address that CUDA gives to several buffers, one after the other, and the identity of the present one.
const REUSED: u64 = 0x7f55_0000_0000;
static IDENTITY: AtomicU64 = AtomicU64::new(1);

static ALLOCATIONS: Mutex<BTreeMap<u64, Allocation>> = Mutex::new(BTreeMap::new());

extern "C" fn address_range(base: *mut u64, size: *mut usize, address: u64) -> i32 {
    // CUDA_ERROR_INVALID_CONTEXT.
    if !is_current() {
        return 201;
    }
    let allocations = ALLOCATIONS.lock().unwrap();
    let below = allocations.range(..=address).next_back();
    let found = below.filter(|(base, (size, ..))| address < *base + *size as u64);
    let Some((first, (bytes, ..))) = found else {
        return 1;
    };
    let (first, bytes) = match *first {
        IN_PIECES => {
            let piece = (2 * MIB) as u64;
            (first + (address - first) / piece * piece, 2 * MIB)
        }
        first => (first, *bytes),
    };
    // SAFETY: there is room.
    unsafe {
        base.write(first);
        size.write(bytes);
    }
    0
}

/// An allocation that begins here consists of several to CUDA, of 2 MiB each, which are mapped side by side.
const IN_PIECES: u64 = 0x7f56_0000_0000;

/// The only stream that is used: it waits for nothing of the program's.
const STREAM: usize = 77;

extern "C" fn stream_create(to: *mut *mut c_void, flags: u32) -> i32 {
    if !is_current() {
        return 201;
    }
    // CU_STREAM_NON_BLOCKING of cuda.h.
    assert_eq!(flags, 1);
    // SAFETY: there is room.
    unsafe { to.write(std::ptr::without_provenance_mut(STREAM)) };
    0
}

extern "C" fn of_stream(stream: *mut c_void) -> i32 {
    assert!(is_current() && stream.addr() == STREAM);
    0
}

extern "C" fn copy_in(at: u64, from: *const c_void, bytes: usize, stream: *mut c_void) -> i32 {
    of_stream(stream);
    let allocations = ALLOCATIONS.lock().unwrap();
    let (base, (_, memory, _)) = allocations.range(..=at).next_back().unwrap();
    // SAFETY: the caller has so many bytes.
    let from = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) };
    memory.write((at - base) as usize, from).map_or(1, |()| 0)
}

/// Refuses ranges that are not whole pages of the host, as CUDA does.
extern "C" fn handle_for_range(
    to: *mut c_void,
    first: u64,
    size: usize,
    kind: i32,
    flags: u64,
) -> i32 {
    if !is_current() {
        return 201;
    }
    if kind != 1 || flags != 0 || !(first | size as u64).is_multiple_of(4096) {
        return 1;
    }
    let allocations = ALLOCATIONS.lock().unwrap();
    let (base, (bytes, memory, fake)) = allocations.range(..=first).next_back().unwrap();
    assert!(first + size as u64 <= *base + *bytes as u64);
    let dmabuf = file();
    fake.set_dmabuf(&dmabuf, memory, first - base);
    // SAFETY: there is room.
    unsafe { to.cast::<i32>().write(dmabuf.into_raw_fd()) };
    0
}

// SAFETY: they have the types of CUDA's.
unsafe impl Lookup for Cuda {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        type Range = extern "C" fn(*mut u64, *mut usize, u64) -> i32;
        type Handle = extern "C" fn(*mut c_void, u64, usize, i32, u64) -> i32;
        type Push = extern "C" fn(*mut c_void) -> i32;
        type Pop = extern "C" fn(*mut *mut c_void) -> i32;
        type Attribute = extern "C" fn(*mut c_void, i32, u64) -> i32;
        type Create = extern "C" fn(*mut *mut c_void, u32) -> i32;
        type OfStream = extern "C" fn(*mut c_void) -> i32;
        type CopyIn = extern "C" fn(u64, *const c_void, usize, *mut c_void) -> i32;
        match name.to_bytes() {
            b"cuCtxPushCurrent_v2" => NonNull::new((push as Push) as *mut c_void),
            b"cuCtxPopCurrent_v2" => NonNull::new((pop as Pop) as *mut c_void),
            b"cuPointerGetAttribute" => NonNull::new((attribute as Attribute) as *mut c_void),
            b"cuStreamCreate" => NonNull::new((stream_create as Create) as *mut c_void),
            b"cuStreamSynchronize" | b"cuStreamDestroy_v2" => {
                NonNull::new((of_stream as OfStream) as *mut c_void)
            }
            b"cuMemcpyHtoDAsync_v2" => NonNull::new((copy_in as CopyIn) as *mut c_void),
            b"cuMemGetAddressRange_v2" => NonNull::new((address_range as Range) as *mut c_void),
            b"cuMemGetHandleForAddressRange" => {
                NonNull::new((handle_for_range as Handle) as *mut c_void)
            }
            _ => Stub(true).find(name),
        }
    }
}

#[test]
fn a_pointer_of_cudas_is_registered_by_its_dma_buf() {
    // CUDA copies the ends of the board's writes.
    let toys = Toys::new(EMPTY);
    let mmd = Mmd::with_lookup(Flavour::OPEN, toys.clone(), Cuda);
    let program = Program::with(&toys, InProcess::keep(mmd));
    let memory = program.gpu.memory(MemoryKind::Gpu, 5 * MIB).unwrap();
    let base = 0x7f12_3400_0000;
    let allocation = (5 * MIB, memory.clone(), toys.fake.clone());
    ALLOCATIONS.lock().unwrap().insert(base, allocation);
    let before = toys.fake.lock().valid_entries();
    // The thread has another GPU's context, and keeps it.
    CONTEXTS.with_borrow_mut(|contexts| contexts.push(1));
    // In the allocation's second page of 2 MiB.
    let at = 2 * MIB + 70_001;
    let peer = program.by_pointer(0, base + at as u64, 1000).unwrap();
    // All of that page, in the fake GPU's pieces of 64 KiB: a real GPU's page is one entry.
    assert_eq!(toys.fake.lock().valid_entries() - before, 32);
    let data = pattern(4, 1000);
    program.set_board(0, &data);
    let own = (handle(program.buffer), 0);
    let call = |direction, offset, size| {
        program.call(direction, own, (peer, offset), size, true, &[], None)
    };
    assert_eq!(call(Direction::FromFpga, 0, 1000), 0);
    let mut found = vec![9; 1002];
    memory.read(at - 1, &mut found).unwrap();
    assert!(found[1..1001] == data && (found[0], found[1001]) == (0, 0));
    // The board may reach the rest of the page, but no copy does so.
    assert_eq!(call(Direction::FromFpga, 1, 1000), VALUE);
    program.set_board(0, &[0; 1000]);
    assert_eq!(call(Direction::ToFpga, 10, 990), 0);
    assert!(program.on_board(0, 990) == data[10..]);
    assert_eq!(program.mmd.release_peer(peer), 0);
    // The queue keeps its memory for ends.
    assert_eq!(toys.fake.lock().valid_entries(), before + 1);
    // Other memory than CUDA's is registered by the driver, and so is memory past an allocation's end, for which CUDA
    // fails.
    let other = program.peer(4096);
    assert_eq!(program.copy(Direction::FromFpga, &other, (0, 0), 100), 0);
    assert_eq!(
        program.copy(Direction::FromFpga, &other, (0, 0), 99),
        FAILED
    );
    let past = base + 5 * MIB as u64 - 10;
    assert_eq!(program.by_pointer(0, past, 11), Err(VALUE));
    assert_eq!(CONTEXTS.take(), [1]);
    program.runtime.close();
}

/// CUDA may give the address of memory that was freed to other memory.
#[test]
fn ends_of_a_write_do_not_reach_another_buffer_at_the_same_address() {
    let toys = Toys::new(EMPTY);
    let mmd = Mmd::with_lookup(Flavour::OPEN, toys.clone(), Cuda);
    let program = Program::with(&toys, InProcess::keep(mmd));
    let memory = program.gpu.memory(MemoryKind::Gpu, 2 * MIB).unwrap();
    let allocation = (2 * MIB, memory.clone(), toys.fake.clone());
    ALLOCATIONS.lock().unwrap().insert(REUSED, allocation);
    let peer = program.by_pointer(0, REUSED, 4096).unwrap();
    program.set_board(0, &[7; 4096]);
    let own = (handle(program.buffer), 0);
    let copy = || program.call(Direction::FromFpga, own, (peer, 1), 3, true, &[], None);
    assert_eq!(copy(), 0);
    memory.write(0, &[0; 16]).unwrap();
    IDENTITY.fetch_add(1, Ordering::SeqCst);
    // CL_PEER_MEMORY_REVOKED_PEERLANE
    assert_eq!(copy(), -10002);
    let mut found = [9; 16];
    memory.read(0, &mut found).unwrap();
    assert_eq!(found, [0; 16]);
    assert_eq!(program.mmd.release_peer(peer), 0);
    program.runtime.close();
}

/// Memory that PyTorch maps piece by piece (`expandable_segments`): a range over two pieces is registered as one.
#[test]
fn memory_of_several_pieces_is_registered_by_one_dma_buf() {
    let toys = Toys::new(EMPTY);
    let mmd = Mmd::with_lookup(Flavour::OPEN, toys.clone(), Cuda);
    let program = Program::with(&toys, InProcess::keep(mmd));
    let memory = program.gpu.memory(MemoryKind::Gpu, 6 * MIB).unwrap();
    let allocation = (6 * MIB, memory.clone(), toys.fake.clone());
    ALLOCATIONS.lock().unwrap().insert(IN_PIECES, allocation);
    let data = pattern(6, 4096);
    program.set_board(0, &data);
    let own = (handle(program.buffer), 0);
    // Over one edge, and from the first piece to the last.
    for (at, bytes) in [(2 * MIB - 100, 4096), (MIB, 4 * MIB + 4096)] {
        let peer = program.by_pointer(0, IN_PIECES + at as u64, bytes);
        let peer = peer.expect("the memory is registered");
        let call = |direction, offset, size| {
            program.call(direction, own, (peer, offset), size, true, &[], None)
        };
        let offset = bytes - 4096;
        // The library copies the ends of the second one: both lie in other pieces than the region's first byte.
        assert_eq!(call(Direction::FromFpga, offset, 4096), 0);
        let own = (handle(program.buffer), offset % 4);
        let ragged = program.call(
            Direction::FromFpga,
            own,
            (peer, offset + 1),
            3,
            true,
            &[],
            None,
        );
        assert_eq!(ragged, 0);
        program.set_board(0, &data);
        assert_eq!(call(Direction::FromFpga, offset, 4096), 0);
        let mut found = vec![0; 4096];
        memory.read(at + offset, &mut found).unwrap();
        assert!(found == data);
        assert_eq!(program.mmd.release_peer(peer), 0);
    }
    // After the last piece nothing is mapped.
    let past = IN_PIECES + 6 * MIB as u64 - 10;
    assert!(program.by_pointer(0, past, 20).is_err());
    program.runtime.close();
}
