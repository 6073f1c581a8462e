//! A mock of OpenCL, as far as the extension calls it: objects with counts, and a lock that all functions take. A read
//! of a buffer makes the accesses to the board that the FPGA runtime makes, by the kind of the buffer
//! (`l_mem_transfer_buffer_explicitly`, `acl_mem.cpp` of intel/fpga-runtime-for-opencl v2025.0).
//!
//! Objects live as long as the process.

use peerlane_contract::{Runtime, Shared};
use peerlane_mmd_core::{Lookup, Mmd};
use std::ffi::{CStr, CString, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

type Pointer = *mut c_void;

/// Places of a buffer's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// They are on the board.
    Plain,
    /// On the host, and written to the board when they are needed.
    CopyHostPtr,
    /// On the host permanently.
    UseHostPtr,
    /// On the board, at the wrong place.
    SubBuffer,
    /// On the board, but OpenCL reads address 0, where no buffer is.
    ParentOfOne,
    Image,
    /// Read without an operation, as where the runtime saves memory.
    Saved,
}

/// A context with boards, and the runtime's lock.
pub struct Context {
    pub devices: Vec<&'static Device>,
    /// Addresses of the devices.
    handles: Vec<usize>,
    pub lock: Mutex<()>,
    pub count: AtomicI32,
}

pub struct Device {
    name: CString,
    shared: Arc<Shared>,
    memory: i32,
    ops: AtomicUsize,
}

pub struct Buffer {
    context: &'static Context,
    pub kind: Kind,
    /// The buffer's address now.
    pub address: AtomicUsize,
    size: usize,
    /// The device that has it.
    device: &'static Device,
    /// For a buffer of another OpenCL: the file that has its memory.
    pub file: Option<i32>,
    pub count: AtomicI32,
}

struct Queue {
    context: &'static Context,
}

pub struct Event {
    context: &'static Context,
    pub status: Mutex<i32>,
    ended: Condvar,
    pub count: AtomicI32,
    /// Function that is called, under the runtime's lock, when the event ends.
    pub then: Mutex<Option<Then>>,
}

type Then = Box<dyn FnOnce(i32) + Send>;

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub fn handle<T>(object: &'static T) -> Pointer {
    std::ptr::from_ref(object).cast_mut().cast()
}

/// # Safety
/// It was made by [`handle`] from such an object.
pub unsafe fn object<T>(handle: Pointer) -> &'static T {
    // SAFETY: objects live as long as the process.
    unsafe { &*handle.cast() }
}

impl Context {
    /// Makes a context of open boards, with their devices' names.
    pub fn new(boards: &[(&Runtime, &str)]) -> &'static Self {
        let device = |(runtime, name): &(&Runtime, &str)| {
            leak(Device {
                name: CString::new(format!("toy : {name} (Peerlane)")).unwrap(),
                shared: Arc::clone(&runtime.shared),
                memory: runtime.interfaces[2],
                ops: AtomicUsize::new(0x7000),
            }) as &_
        };
        let devices: Vec<&'static Device> = boards.iter().map(device).collect();
        leak(Self {
            handles: (devices.iter())
                .map(|device| handle(*device).expose_provenance())
                .collect(),
            devices,
            lock: Mutex::default(),
            count: AtomicI32::new(1),
        })
    }

    pub fn buffer(&'static self, kind: Kind, address: usize, size: usize) -> &'static Buffer {
        leak(Buffer {
            context: self,
            kind,
            address: AtomicUsize::new(address),
            size,
            device: self.devices[0],
            file: None,
            count: AtomicI32::new(1),
        })
    }

    /// Makes a buffer that another device has.
    pub fn elsewhere(&'static self, device: usize, address: usize, size: usize) -> &'static Buffer {
        leak(Buffer {
            context: self,
            kind: Kind::Plain,
            address: AtomicUsize::new(address),
            size,
            device: self.devices[device],
            file: None,
            count: AtomicI32::new(1),
        })
    }

    /// Makes a buffer of another OpenCL.
    pub fn foreign(&'static self, file: Option<i32>, size: usize) -> &'static Buffer {
        leak(Buffer {
            context: self,
            kind: Kind::Plain,
            address: AtomicUsize::new(0),
            size,
            device: self.devices[0],
            file,
            count: AtomicI32::new(1),
        })
    }

    pub fn event(&'static self) -> &'static Event {
        leak(Event {
            context: self,
            status: Mutex::new(2),
            ended: Condvar::new(),
            count: AtomicI32::new(1),
            then: Mutex::default(),
        })
    }
}

impl Buffer {
    fn place(&self) -> usize {
        self.address.load(Ordering::SeqCst)
    }
}

impl Context {
    /// Takes the runtime's lock. A thread that programs holds it until all buffers are restored.
    pub fn locked(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap()
    }
}

impl Event {
    /// Ends the event although a thread has the runtime's lock, as a kernel's end does.
    pub fn set_within(&self, status: i32) {
        *self.status.lock().unwrap() = status;
        self.ended.notify_all();
    }

    pub fn set(&'static self, status: i32) {
        assert_eq!(set_user_event_status(handle(self), status), 0);
    }

    pub fn wait(&self) -> i32 {
        let status = self.status.lock().unwrap();
        *self.ended.wait_while(status, |status| *status > 0).unwrap()
    }

    pub fn now(&self) -> i32 {
        *self.status.lock().unwrap()
    }
}

impl Device {
    /// Reads the board's memory as the runtime does.
    fn read(&self, queued: bool, address: usize, data: &mut [u8]) {
        if !queued {
            assert_eq!(self.shared.read(self.memory, address, data), 0);
            return;
        }
        let op = self.ops.fetch_add(1, Ordering::SeqCst);
        self.shared.read_op(self.memory, op, address, data);
    }
}

unsafe fn answer(value: &[u8], room: usize, to: Pointer, length: *mut usize) -> i32 {
    // SAFETY: the caller has so much room.
    unsafe {
        if !length.is_null() {
            length.write(value.len());
        }
        if !to.is_null() {
            if room < value.len() {
                return -30;
            }
            to.cast::<u8>()
                .copy_from_nonoverlapping(value.as_ptr(), value.len());
        }
    }
    0
}

pub extern "C" fn device_info(
    device: Pointer,
    what: u32,
    room: usize,
    to: Pointer,
    length: *mut usize,
) -> i32 {
    assert_eq!(what, 0x102b);
    // SAFETY: it is one of ours, and there is so much room.
    unsafe {
        let device = object::<Device>(device);
        answer(device.name.as_bytes_with_nul(), room, to, length)
    }
}

extern "C" fn context_info(
    context: Pointer,
    what: u32,
    room: usize,
    to: Pointer,
    length: *mut usize,
) -> i32 {
    assert_eq!(what, 0x1081);
    // SAFETY: as above.
    unsafe {
        let context = object::<Context>(context);
        let _lock = context.lock.lock().unwrap();
        let bytes: Vec<u8> = (context.handles.iter())
            .flat_map(|device| device.to_ne_bytes())
            .collect();
        answer(&bytes, room, to, length)
    }
}

extern "C" fn mem_info(
    mem: Pointer,
    what: u32,
    room: usize,
    to: Pointer,
    length: *mut usize,
) -> i32 {
    // SAFETY: as above.
    let buffer = unsafe { object::<Buffer>(mem) };
    let parent = match buffer.kind {
        Kind::SubBuffer => handle(buffer).addr(),
        _ => 0,
    };
    let bytes = match (what, buffer.file) {
        (0x1100, _) if buffer.kind == Kind::Image => 0x10f1_u32.to_ne_bytes().to_vec(),
        (0x1100, _) => 0x10f0_u32.to_ne_bytes().to_vec(),
        (0x1101, _) => match buffer.kind {
            Kind::UseHostPtr => 1 | 1 << 3,
            Kind::CopyHostPtr => 1 | 1 << 5,
            _ => 1_u64,
        }
        .to_ne_bytes()
        .to_vec(),
        (0x1102, _) => buffer.size.to_ne_bytes().to_vec(),
        (0x1106, _) => handle(buffer.context).addr().to_ne_bytes().to_vec(),
        (0x1107, _) => parent.to_ne_bytes().to_vec(),
        (0x10050, Some(file)) => (file as u64).to_ne_bytes().to_vec(),
        _ => return -30,
    };
    // SAFETY: as above.
    unsafe { answer(&bytes, room, to, length) }
}

extern "C" fn create_queue(context: Pointer, _: Pointer, _: u64, error: *mut i32) -> Pointer {
    // SAFETY: as above.
    let context = unsafe { object::<Context>(context) };
    // SAFETY: there is room.
    unsafe { error.write(0) };
    handle(leak(Queue { context }))
}

extern "C" fn read_buffer(
    queue: Pointer,
    mem: Pointer,
    blocking: u32,
    offset: usize,
    size: usize,
    to: Pointer,
    events: u32,
    list: *const Pointer,
    event: *mut Pointer,
) -> i32 {
    assert!(blocking == 1 && events == 0 && list.is_null() && event.is_null());
    // SAFETY: as above; there is so much room.
    let (queue, buffer, data) = unsafe {
        let data = std::slice::from_raw_parts_mut(to.cast::<u8>(), size);
        (object::<Queue>(queue), object::<Buffer>(mem), data)
    };
    let _lock = queue.context.lock.lock().unwrap();
    let device = buffer.device;
    match buffer.kind {
        Kind::Plain | Kind::SubBuffer => device.read(true, buffer.place() + offset, data),
        Kind::CopyHostPtr => {
            let all = vec![7; buffer.size];
            assert_eq!(device.shared.write(device.memory, buffer.place(), &all), 0);
        }
        Kind::UseHostPtr | Kind::Image => {}
        Kind::ParentOfOne => device.read(true, offset, data),
        Kind::Saved => device.read(false, buffer.place() + offset, data),
    }
    0
}

extern "C" fn wait_for_events(count: u32, list: *const Pointer) -> i32 {
    // SAFETY: there are so many, of ours.
    let events = unsafe { std::slice::from_raw_parts(list, count as usize) };
    for event in events {
        // SAFETY: as above.
        unsafe { object::<Event>(*event) }.wait();
    }
    // As in OpenCL 1.0: errors are only in the events' status.
    0
}

extern "C" fn event_info(
    event: Pointer,
    what: u32,
    room: usize,
    to: Pointer,
    length: *mut usize,
) -> i32 {
    assert_eq!(what, 0x11d3);
    // SAFETY: as above.
    unsafe {
        let status = object::<Event>(event).now();
        answer(&status.to_ne_bytes(), room, to, length)
    }
}

extern "C" fn create_user_event(context: Pointer, error: *mut i32) -> Pointer {
    // SAFETY: as above.
    let context = unsafe { object::<Context>(context) };
    // SAFETY: there is room.
    unsafe { error.write(0) };
    handle(context.event())
}

extern "C" fn set_user_event_status(event: Pointer, status: i32) -> i32 {
    // SAFETY: as above.
    let event = unsafe { object::<Event>(event) };
    let _lock = event.context.lock.lock().unwrap();
    let mut now = event.status.lock().unwrap();
    assert!(*now > 0, "an event ends once");
    // Commands that wait for the event start before another thread sees its end.
    if let Some(then) = event.then.lock().unwrap().take() {
        then(status);
    }
    *now = status;
    event.ended.notify_all();
    wake();
    0
}

/// Threads that a report has woken, and that do not wait again yet.
pub static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// Wakes the threads that wait for other events for a moment: all of them wait for one condition
/// (`acl_signal_device_update`, `acl_event.cpp`).
fn wake() {
    AWAKE.fetch_add(1, Ordering::SeqCst);
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(5));
        AWAKE.fetch_sub(1, Ordering::SeqCst);
    });
}

extern "C" fn retain_event(event: Pointer) -> i32 {
    // SAFETY: as above.
    retain(&unsafe { object::<Event>(event) }.count)
}

/// The open runtime keeps an event that has not ended in its queue although no code holds it any more, and ends the
/// program at the release of its context (`clReleaseEventIntelFPGA` in `acl_event.cpp`, `l_release_context` in
/// `acl_context.cpp`).
extern "C" fn release_event(event: Pointer) -> i32 {
    // SAFETY: as above.
    let event = unsafe { object::<Event>(event) };
    let released = release(&event.count);
    let forgotten = event.count.load(Ordering::SeqCst) == 0 && event.now() > 0;
    assert!(!forgotten, "an event without a reference has not ended");
    released
}

extern "C" fn retain_mem(mem: Pointer) -> i32 {
    // SAFETY: as above.
    retain(&unsafe { object::<Buffer>(mem) }.count)
}

extern "C" fn release_mem(mem: Pointer) -> i32 {
    // SAFETY: as above.
    release(&unsafe { object::<Buffer>(mem) }.count)
}

extern "C" fn retain_context(context: Pointer) -> i32 {
    // SAFETY: as above.
    retain(&unsafe { object::<Context>(context) }.count)
}

/// The last release closes the boards, under the lock.
extern "C" fn release_context(context: Pointer) -> i32 {
    // SAFETY: as above.
    let context = unsafe { object::<Context>(context) };
    let _lock = context.lock.lock().unwrap();
    release(&context.count);
    if context.count.load(Ordering::SeqCst) == 0 {
        for device in &context.devices {
            device.shared.close();
        }
    }
    0
}

/// The program's own release.
pub fn release_the_context(context: &'static Context) {
    release_context(handle(context));
}

extern "C" fn release_queue(_: Pointer) -> i32 {
    0
}

fn retain(count: &AtomicI32) -> i32 {
    assert!(count.fetch_add(1, Ordering::SeqCst) > 0);
    0
}

fn release(count: &AtomicI32) -> i32 {
    assert!(count.fetch_sub(1, Ordering::SeqCst) > 0);
    0
}

/// OpenCL's functions, or no functions.
pub struct Stub(pub bool);

macro_rules! table {
    ($name:expr; $($symbol:literal => $function:ident as $type:ty,)*) => {
        match $name {
            $($symbol => ($function as $type) as Pointer,)*
            _ => null_mut(),
        }
    };
}

type Info = extern "C" fn(Pointer, u32, usize, Pointer, *mut usize) -> i32;
type One = extern "C" fn(Pointer) -> i32;
type Read = extern "C" fn(
    Pointer,
    Pointer,
    u32,
    usize,
    usize,
    Pointer,
    u32,
    *const Pointer,
    *mut Pointer,
) -> i32;

// SAFETY: they have the types of OpenCL's. There is no CUDA.
unsafe impl Lookup for Stub {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        if !self.0 {
            return None;
        }
        NonNull::new(table! { name.to_bytes();
            b"clGetDeviceInfo" => device_info as Info,
            b"clGetContextInfo" => context_info as Info,
            b"clGetMemObjectInfo" => mem_info as Info,
            b"clGetEventInfo" => event_info as Info,
            b"clCreateCommandQueue" =>
                create_queue as extern "C" fn(Pointer, Pointer, u64, *mut i32) -> Pointer,
            b"clReleaseCommandQueue" => release_queue as One,
            b"clEnqueueReadBuffer" => read_buffer as Read,
            b"clWaitForEvents" => wait_for_events as extern "C" fn(u32, *const Pointer) -> i32,
            b"clCreateUserEvent" =>
                create_user_event as extern "C" fn(Pointer, *mut i32) -> Pointer,
            b"clSetUserEventStatus" =>
                set_user_event_status as extern "C" fn(Pointer, i32) -> i32,
            b"clRetainEvent" => retain_event as One,
            b"clReleaseEvent" => release_event as One,
            b"clRetainMemObject" => retain_mem as One,
            b"clReleaseMemObject" => release_mem as One,
            b"clRetainContext" => retain_context as One,
            b"clReleaseContext" => release_context as One,
        })
    }
}

/// Returns the text of an error.
pub fn text(mmd: &Mmd, error: i32) -> String {
    // SAFETY: it is a text that stays.
    let text = unsafe { CStr::from_ptr(mmd.error_text(error)) };
    text.to_str().unwrap().into()
}
