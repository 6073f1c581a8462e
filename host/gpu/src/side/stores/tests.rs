//! Pushes by a GPU whose stores to another device are posted: when the stream has done them they are on their way,
//! until a read of the GPU's pushes them ahead of itself.

use super::super::Functions;
use super::*;
use crate::standin;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{c_int, c_uint};
use std::os::unix::process::CommandExt;

/// Bytes of the window of these tests.
const WINDOW: u64 = 4096;

/// Returns the byte that the GPU's memory has at an address: a mix of the address's low bytes.
fn content(address: u64) -> u8 {
    (address ^ address >> 8) as u8
}

thread_local! {
    /// The window's address in this process.
    static ADDRESS: Cell<u64> = const { Cell::new(0) };
    /// The FPGA address that it shows.
    static BASE: Cell<u64> = const { Cell::new(0) };
    static FPGA: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// Stores that the stream has not done.
    static STREAM: RefCell<VecDeque<(u64, u64, usize)>> = const { RefCell::new(VecDeque::new()) };
    /// Stores that the GPU has sent: the place in the window, and the bytes.
    static POSTED: RefCell<VecDeque<(u64, Vec<u8>)>> = const { RefCell::new(VecDeque::new()) };
    /// A read is in the stream after the stores.
    static READS: Cell<bool> = const { Cell::new(false) };
    /// Number of windows that were released.
    static GIVEN_BACK: Cell<u32> = const { Cell::new(0) };
    /// The stream does nothing.
    static HANGS: Cell<bool> = const { Cell::new(false) };
}

/// Makes the posted stores arrive, in the FPGA memory that the window shows now.
fn arrive() {
    while let Some((place, bytes)) = POSTED.with_borrow_mut(VecDeque::pop_front) {
        let at = (BASE.get() + place) as usize;
        FPGA.with_borrow_mut(|fpga| fpga[at..at + bytes.len()].copy_from_slice(&bytes));
    }
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
    if HANGS.get() {
        return super::super::NOT_READY;
    }
    while let Some((place, at, length)) = STREAM.with_borrow_mut(VecDeque::pop_front) {
        let bytes = (at..at + length as u64).map(content).collect();
        POSTED.with_borrow_mut(|posted| posted.push_back((place, bytes)));
    }
    if READS.take() {
        arrive();
    }
    0
}
unsafe extern "C" fn copy_in(
    _: sys::CUdeviceptr,
    from: *const c_void,
    length: usize,
    _: sys::CUstream,
) -> c_int {
    let place = from.addr() as u64 - ADDRESS.get();
    assert!(place.is_multiple_of(4) && length == 4 && place < WINDOW);
    READS.set(true);
    0
}
unsafe extern "C" fn copy_out(
    to: *mut c_void,
    at: sys::CUdeviceptr,
    length: usize,
    _: sys::CUstream,
) -> c_int {
    let place = to.addr() as u64 - ADDRESS.get();
    STREAM.with_borrow_mut(|stream| stream.push_back((place, at, length)));
    0
}
unsafe extern "C" fn tell(
    _: sys::CUstream,
    _: super::super::functions::Tell,
    _: *mut c_void,
) -> c_int {
    unreachable!("a push has no callback")
}
unsafe extern "C" fn wait(_: sys::CUstream, _: sys::CUevent, _: c_uint) -> c_int {
    unreachable!("a push waits for no event")
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

/// A window of memory that no test reads: the bytes that the GPU stores go to `FPGA`.
struct Fake(Vec<u64>);

impl Drop for Fake {
    fn drop(&mut self) {
        GIVEN_BACK.set(GIVEN_BACK.get() + 1);
    }
}

impl Shown for Fake {
    fn address(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }
    fn length(&self) -> u64 {
        WINDOW
    }
    fn place(&mut self, fpga: u64) -> Result<()> {
        BASE.set(fpga);
        Ok(())
    }
    fn confirm(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Moves the window as another context would. That context stores nothing.
fn another_has_it() {
    BASE.set(8 * WINDOW);
    arrive();
}

fn stores() -> (Stores<Fake>, u64) {
    let buffer = Arc::new(standin::gpu().plain_buffer(2 * WINDOW).unwrap());
    let address = buffer.address();
    let memory = GpuMemory {
        buffer,
        functions: &FUNCTIONS,
    };
    FPGA.set(vec![0; 9 * WINDOW as usize]);
    let stores = Stores::new(&memory, Fake(vec![0; WINDOW as usize / 8])).unwrap();
    ADDRESS.set(stores.used.window.address());
    (stores, address)
}

fn check(place: u64, length: u64, from: u64) {
    FPGA.with_borrow(|fpga| {
        let found = &fpga[place as usize..(place + length) as usize];
        assert!(found.iter().copied().eq((from..from + length).map(content)));
    });
}

#[test]
fn stores_have_arrived_before_the_end_is_told() {
    let (mut stores, gpu) = stores();
    stores.place(WINDOW).unwrap();
    stores.push(0, 0, 100).unwrap();
    stores.push(100, 100, 901).unwrap();
    assert!(stores.settle(Duration::from_secs(1)).unwrap());
    check(WINDOW, 1001, gpu);
    // One read is enough.
    assert!(stores.settle(Duration::ZERO).unwrap() && !READS.get());
}

#[test]
fn the_window_does_not_move_under_stores() {
    let (mut stores, gpu) = stores();
    stores.place(0).unwrap();
    stores.push(7, 0, WINDOW).unwrap();
    // As after a copy that was cancelled.
    stores.place(2 * WINDOW).unwrap();
    arrive();
    check(0, WINDOW, gpu + 7);
    stores.push(9, 5, 20).unwrap();
    drop(stores);
    another_has_it();
    check(2 * WINDOW + 5, 20, gpu + 9);
}

#[test]
fn a_gpu_that_hangs_does_not_hold_its_program_up() {
    let (mut stores, _) = stores();
    HANGS.set(true);
    stores.push(0, 0, 64).unwrap();
    assert!(!stores.settle(Duration::from_millis(5)).unwrap());
    assert!(!stores.settle(Duration::ZERO).unwrap());
    stores.confirm().unwrap();
    let begin = Instant::now();
    let error = stores.place(0).unwrap_err();
    assert!(error.to_string().contains("have not ended"), "{error}");
    assert!(begin.elapsed() >= LAST);
    HANGS.set(false);
    stores.place(0).unwrap();
    let outside = [(0, WINDOW, 1), (2 * WINDOW, 0, 1), (0, u64::MAX, 2)];
    for (from, to, length) in outside {
        assert!(
            stores.push(from, to, length).is_err(),
            "{from} {to} {length}"
        );
    }
}

/// The window's next owner would have late stores in other FPGA memory.
#[test]
fn a_window_that_is_still_stored_to_is_nobody_elses() {
    let (stores, _) = stores();
    drop(stores);
    assert_eq!((GIVEN_BACK.get(), standin::registered()), (1, 0));
    let (mut stores, _) = self::stores();
    HANGS.set(true);
    stores.push(0, 0, 64).unwrap();
    drop(stores);
    assert_eq!((GIVEN_BACK.get(), standin::registered()), (1, 1));
    HANGS.set(false);
    standin::reset();
}

/// CUDA does not work in children of a fork.
#[test]
fn what_a_child_drops_the_parent_keeps() {
    let (mut stores, _) = stores();
    HANGS.set(true);
    stores.push(0, 0, 64).unwrap();
    standin::fail(standin::Failure {
        call: "context_push",
        which: 0..0,
    });
    let inherited = std::sync::Mutex::new(Some(ManuallyDrop::new(stores)));
    let mut command = std::process::Command::new("true");
    // SAFETY: the closure calls nothing but the allocator, whose state the C library takes care of across a fork, and a
    // lock that no other thread knows.
    unsafe {
        command.pre_exec(move || {
            let given = inherited.lock().expect("no other thread").take();
            drop(given.map(ManuallyDrop::into_inner));
            match (standin::calls(), standin::registered()) {
                (0, 1) => Ok(()),
                _ => Err(std::io::Error::from_raw_os_error(1)),
            }
        });
    }
    assert!(command.status().unwrap().success());
    standin::fail(standin::NOTHING);
    HANGS.set(false);
    standin::reset();
}
