//! Copies by a mock of CUDA's streams: it copies on demand, into a memory of its own.

use super::*;
use crate::standin;
use peerlane_host::MemoryKind;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{c_int, c_uint};
use std::sync::Mutex;
use std::time::Duration;

/// Work in a stream.
enum Work {
    Out(usize, u64, usize),
    In(u64, usize, usize),
    Tell(functions::Tell, usize),
}

thread_local! {
    /// The mock's GPU memory: from the address of its first buffer on.
    static VRAM: RefCell<Vec<u8>> = RefCell::new(vec![0; 1 << 20]);
    static BASE: Cell<u64> = const { Cell::new(0) };
    static WORK: RefCell<VecDeque<Work>> = const { RefCell::new(VecDeque::new()) };
    static FAILED: Cell<c_int> = const { Cell::new(0) };
    /// No callback is run.
    static UNTOLD: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn create(place: *mut sys::CUstream, _: c_uint) -> c_int {
    // SAFETY: the library gives a place.
    unsafe { place.write(std::ptr::without_provenance_mut(8)) };
    0
}
unsafe extern "C" fn destroy(_: sys::CUstream) -> c_int {
    0
}
unsafe extern "C" fn query(_: sys::CUstream) -> c_int {
    match FAILED.get() {
        0 if WORK.with_borrow(VecDeque::is_empty) => 0,
        0 => NOT_READY,
        code => code,
    }
}
unsafe extern "C" fn copy_in(
    at: sys::CUdeviceptr,
    from: *const c_void,
    length: usize,
    _: sys::CUstream,
) -> c_int {
    let work = Work::In(at, from.expose_provenance(), length);
    WORK.with_borrow_mut(|all| all.push_back(work));
    0
}
unsafe extern "C" fn copy_out(
    to: *mut c_void,
    at: sys::CUdeviceptr,
    length: usize,
    _: sys::CUstream,
) -> c_int {
    let work = Work::Out(to.expose_provenance(), at, length);
    WORK.with_borrow_mut(|all| all.push_back(work));
    0
}
unsafe extern "C" fn tell(_: sys::CUstream, to: functions::Tell, user: *mut c_void) -> c_int {
    if UNTOLD.get() {
        // CUDA_ERROR_OUT_OF_MEMORY.
        return 2;
    }
    let work = Work::Tell(to, user.expose_provenance());
    WORK.with_borrow_mut(|all| all.push_back(work));
    0
}

unsafe extern "C" fn wait(_: sys::CUstream, _: sys::CUevent, _: c_uint) -> c_int {
    // All work is in one queue here.
    0
}

/// Makes the streams do their work.
fn work() {
    while let Some(work) = WORK.with_borrow_mut(VecDeque::pop_front) {
        let range = |at: u64, length: usize| {
            let start = (at - BASE.get()) as usize;
            start..start + length
        };
        match work {
            Work::Out(to, at, length) => VRAM.with_borrow(|vram| {
                let from = vram[range(at, length)].as_ptr();
                let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
                // SAFETY: the test's staging memory is mapped, and no other code uses it in the meantime.
                unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
            }),
            Work::In(at, from, length) => VRAM.with_borrow_mut(|vram| {
                let to = vram[range(at, length)].as_mut_ptr();
                let from = std::ptr::with_exposed_provenance::<u8>(from);
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
            }),
            // SAFETY: the library gave both for this.
            Work::Tell(to, user) => unsafe { to(std::ptr::with_exposed_provenance_mut(user)) },
        }
    }
}

static FUNCTIONS: Functions = Functions {
    create,
    destroy,
    query,
    copy_in,
    copy_out,
    tell,
    wait,
};

fn memory(length: u64) -> GpuMemory {
    let buffer = standin::gpu().plain_buffer(length).unwrap();
    BASE.set(buffer.address());
    GpuMemory {
        buffer: Arc::new(buffer),
        functions: &FUNCTIONS,
    }
}

/// Memory like that of a simulated board: at addresses that no process has.
#[derive(Debug)]
struct Elsewhere(Mutex<Vec<u8>>);

// SAFETY: no process has memory at such an address.
unsafe impl peerlane_host::Place for Elsewhere {
    fn kind(&self) -> MemoryKind {
        MemoryKind::Host
    }
    fn address(&self) -> u64 {
        // Not a process's address: the kernel's Documentation/arch/x86/x86_64/mm.rst.
        1 << 63
    }
    fn length(&self) -> usize {
        self.0.lock().unwrap().len()
    }
    fn read(&self, offset: usize, bytes: &mut [u8]) -> peerlane_host::Result<()> {
        bytes.copy_from_slice(&self.0.lock().unwrap()[offset..offset + bytes.len()]);
        Ok(())
    }
    fn write(&self, offset: usize, bytes: &[u8]) -> peerlane_host::Result<()> {
        self.0.lock().unwrap()[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

fn there_and_back(staging: &Memory) {
    let gpu = memory(64 << 10);
    let mut engine = gpu.attach(staging).unwrap();
    staging.write(100, b"some data").unwrap();
    let piece = |way, staged| Piece {
        way,
        at: 4095,
        staged,
        length: 9,
    };
    let mut first = engine.begin(piece(Way::In, 100)).unwrap();
    assert!(!first.wait(Duration::ZERO).unwrap());
    assert!(!first.wait(Duration::from_millis(2)).unwrap());
    work();
    assert!(first.wait(Duration::from_millis(2)).unwrap() && first.wait(Duration::ZERO).unwrap());
    VRAM.with_borrow(|vram| assert_eq!(&vram[4095..4104], b"some data"));
    let mut second = engine.begin(piece(Way::Out, 2000)).unwrap();
    work();
    assert!(second.wait(Duration::from_millis(2)).unwrap());
    let mut found = [0; 9];
    staging.read(2000, &mut found).unwrap();
    assert_eq!(&found, b"some data");
}

#[test]
fn copies_go_there_and_back() {
    let before = standin::registered();
    let staging = Memory::new(4096).unwrap();
    there_and_back(&staging);
    assert_eq!(
        standin::registered(),
        before,
        "the staging memory is unpinned"
    );
    let elsewhere = Memory::over(Elsewhere(Mutex::new(vec![0; 4096])));
    there_and_back(&elsewhere);
}

const FIRST: Piece = Piece {
    way: Way::In,
    at: 0,
    staged: 0,
    length: 64,
};

#[test]
fn a_stream_that_fails_is_told_of() {
    let gpu = memory(4096);
    let staging = Memory::new(4096).unwrap();
    let mut engine = gpu.attach(&staging).unwrap();
    let mut copying = engine.begin(FIRST).unwrap();
    // CUDA_ERROR_ILLEGAL_ADDRESS.
    FAILED.set(700);
    let error = copying.wait(Duration::from_millis(1)).unwrap_err();
    assert!(error.to_string().contains("cuStreamQuery"), "{error}");
    FAILED.set(0);
    let outside = [
        Piece { at: 4033, ..FIRST },
        Piece {
            staged: 4033,
            ..FIRST
        },
    ];
    for piece in outside {
        assert!(engine.begin(piece).is_err(), "{piece:?}");
    }
}

/// The copy has begun: its memory must not be used before it has ended, though no callback will report that.
#[test]
fn a_copy_whose_end_nobody_tells_is_waited_for() {
    let gpu = memory(4096);
    let staging = Memory::new(4096).unwrap();
    let mut engine = gpu.attach(&staging).unwrap();
    UNTOLD.set(true);
    let mut copying = engine.begin(FIRST).expect("it has begun");
    let error = copying.wait(Duration::from_secs(1)).unwrap_err();
    assert!(error.to_string().contains("cuLaunchHostFunc"), "{error}");
    assert!(!copying.end(Duration::from_millis(3)));
    work();
    assert!(copying.end(Duration::ZERO));
    drop(copying);
    drop((engine, gpu));
    assert_eq!(standin::memory(), 0, "nothing is kept for good");
    UNTOLD.set(false);
}
