//! Copies between buffers and a GPU's memory: `peerlane_ext.h`, called as a program calls it.

use crate::opencl::{
    Buffer, Context, Event, Kind, Stub, handle, object, release_the_context, text,
};
use crate::{EMPTY, Toys, in_a_process};
use peerlane_contract::checks::pattern;
use peerlane_contract::{Bench, InProcess, Runtime, Version};
use peerlane_host::{Device, Memory, MemoryKind};
use peerlane_mmd_core::{
    Boards, Direction, ERRORS, Events, Flavour, Found, Mmd, cl_peer_memory_peerlane,
};
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

mod copies;
mod ends;
mod registered;
mod told;

/// Errors with the numbers of `peerlane_ext.h` and OpenCL.
const NO_ROOM: i32 = -4;
const NO_RESOURCES: i32 = -5;
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
const TIMEOUT: i32 = -10006;
const LOST: i32 = -10007;
const CLOSED: i32 = -10008;
const RESTARTED: i32 = -10009;
const NO_OPENCL: i32 = -10010;

/// Limit of all waits.
const LIMIT: Duration = Duration::from_secs(60);

const MIB: usize = 1 << 20;
/// Place of the buffer in most tests.
const PLACE: usize = 0x10_0400;

/// A program with a board, a buffer and a GPU.
struct Program {
    toys: Toys,
    mmd: &'static InProcess,
    runtime: Runtime,
    context: &'static Context,
    buffer: &'static Buffer,
    /// Device that allocates the GPU's memory.
    gpu: Device,
}

/// Memory of the GPU's that is registered.
struct Peer {
    memory: Memory,
    /// The handle, as a number.
    number: usize,
}

/// Makes a file in place of a dma-buf.
fn file() -> File {
    // SAFETY: it is a string.
    let file = unsafe { libc::memfd_create(c"dma-buf".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(file >= 0);
    // SAFETY: it is new.
    unsafe { File::from_raw_fd(file) }
}

impl Program {
    fn new() -> Self {
        Self::over(&Toys::of_bytes())
    }

    fn over(toys: &Toys) -> Self {
        Self::with(toys, toys.load())
    }

    fn with(toys: &Toys, mmd: &'static InProcess) -> Self {
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

    /// Allocates memory and registers it by its pointer.
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

    /// Makes a copy with all of its arguments.
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

    /// Makes a blocking copy.
    fn copy(&self, direction: Direction, peer: &Peer, at: (usize, usize), size: usize) -> i32 {
        let (buffer, peer) = ((handle(self.buffer), at.0), (peer.handle(), at.1));
        self.call(direction, buffer, peer, size, true, &[], None)
    }

    /// Begins a copy that goes on after the call.
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

    /// Waits until the board has got so many descriptors.
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

/// Makes the receiver of a copy's end.
fn listen() -> (*mut c_void, Receiver<i32>) {
    let (sender, receiver) = channel::<i32>();
    (Box::into_raw(Box::new(sender)).cast(), receiver)
}
