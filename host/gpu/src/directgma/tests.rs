//! A mock of OpenCL with DirectGMA that refuses calls on demand, and the drop of its objects in the child of a fork.

use super::*;
use peerlane_routes::Push as _;
use std::cell::Cell;
use std::ffi::c_char;
use std::os::unix::process::CommandExt;

thread_local! {
    /// Calls that the platform gets when objects are dropped.
    static CALLS: Cell<i32> = const { Cell::new(0) };
    /// Result of `clSetEventCallback`.
    static CALLBACK: Cell<i32> = const { Cell::new(CL_SUCCESS) };
    /// Calls of `clFinish`. The next value is its result.
    static FINISHED: Cell<i32> = const { Cell::new(0) };
    static FINISH: Cell<i32> = const { Cell::new(CL_SUCCESS) };
    /// Windows that were dropped.
    static HIDDEN: Cell<i32> = const { Cell::new(0) };
    /// Result of `clFlush`.
    static FLUSH: Cell<i32> = const { Cell::new(CL_SUCCESS) };
}

/// `CL_OUT_OF_HOST_MEMORY` of CL/cl.h.
const OUT_OF_HOST_MEMORY: i32 = -6;
const LENGTH: u64 = 2 * PAGE;

fn some() -> Handle {
    std::ptr::without_provenance_mut(8)
}

unsafe extern "C" fn listed(_: u32, _: *mut Handle, _: *mut u32) -> i32 {
    unreachable!("no test asks for it here")
}
unsafe extern "C" fn listed_of(_: Handle, _: u64, _: u32, _: *mut Handle, _: *mut u32) -> i32 {
    unreachable!("no test asks for it here")
}
unsafe extern "C" fn extension(_: Handle, _: *const c_char) -> *mut c_void {
    unreachable!("no test asks for it here")
}
unsafe extern "C" fn context(
    _: *const isize,
    _: u32,
    _: *const Handle,
    _: Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>,
    _: *mut c_void,
    _: *mut i32,
) -> Handle {
    unreachable!("no test asks for it here")
}
unsafe extern "C" fn signal(
    _: Handle,
    _: Handle,
    _: u32,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
) -> i32 {
    unreachable!("no test asks for it here")
}
unsafe extern "C" fn write_signal(
    _: Handle,
    _: Handle,
    _: u32,
    _: u64,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
) -> i32 {
    unreachable!("no test asks for it here")
}
/// Each name and number of a device is these bytes.
unsafe extern "C" fn info(
    _: Handle,
    _: u32,
    size: usize,
    to: *mut c_void,
    length: *mut usize,
) -> i32 {
    const NAME: &[u8] = b"GPU\0";
    if !length.is_null() {
        // SAFETY: the library has a place there.
        unsafe { length.write(NAME.len()) };
    }
    if !to.is_null() {
        // SAFETY: the library's place is as long as it says.
        unsafe { std::ptr::copy_nonoverlapping(NAME.as_ptr(), to.cast(), size.min(NAME.len())) };
    }
    CL_SUCCESS
}
unsafe extern "C" fn give(_: Handle) -> i32 {
    CALLS.set(CALLS.get() + 1);
    CL_SUCCESS
}
unsafe extern "C" fn finish(_: Handle) -> i32 {
    CALLS.set(CALLS.get() + 1);
    FINISHED.set(FINISHED.get() + 1);
    FINISH.get()
}
unsafe extern "C" fn flush(_: Handle) -> i32 {
    FLUSH.get()
}
unsafe extern "C" fn queue(_: Handle, _: Handle, _: u64, _: *mut i32) -> Handle {
    some()
}
unsafe extern "C" fn buffer(_: Handle, _: u64, _: usize, _: *mut c_void, _: *mut i32) -> Handle {
    some()
}
unsafe extern "C" fn fill(
    _: Handle,
    _: Handle,
    _: *const c_void,
    _: usize,
    _: usize,
    _: usize,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
) -> i32 {
    CL_SUCCESS
}
unsafe extern "C" fn copy(
    _: Handle,
    _: Handle,
    _: Handle,
    _: usize,
    _: usize,
    _: usize,
    _: u32,
    _: *const Handle,
    event: *mut Handle,
) -> i32 {
    // SAFETY: the library has a place for the event.
    unsafe { event.write(some()) };
    CL_SUCCESS
}
unsafe extern "C" fn migrate(
    _: Handle,
    _: u32,
    _: *const Handle,
    _: u64,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
) -> i32 {
    CL_SUCCESS
}
unsafe extern "C" fn resident(
    _: Handle,
    _: u32,
    _: *const Handle,
    _: u32,
    place: *mut BusAddress,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
) -> i32 {
    let (surface, marker) = (PAGE, 4 * PAGE);
    // SAFETY: the library has a place for an address.
    unsafe { place.write(BusAddress { surface, marker }) };
    CL_SUCCESS
}
unsafe extern "C" fn callback(
    _: Handle,
    _: i32,
    _: Option<unsafe extern "C" fn(Handle, i32, *mut c_void)>,
    _: *mut c_void,
) -> i32 {
    CALLBACK.get()
}

static API: Api = Api {
    platforms: listed,
    devices: listed_of,
    device_info: info,
    extension,
    context,
    release_context: give,
    queue,
    release_queue: give,
    buffer,
    release_memory: give,
    fill,
    copy,
    migrate,
    flush,
    finish,
    callback,
    release_event: give,
};

fn device() -> GmaDevice {
    GmaDevice(Arc::new(Context {
        api: &API,
        extension: Extension {
            wait_signal: signal,
            write_signal,
            make_resident: resident,
        },
        context: some(),
        device: some(),
        name: "a mock".into(),
        bus: None,
        owner: Process::current(),
    }))
}

/// A window that is always there, and counts its drops.
struct Shown;

impl Drop for Shown {
    fn drop(&mut self) {
        HIDDEN.set(HIDDEN.get() + 1);
    }
}

impl Aperture for Shown {
    fn bus_address(&self) -> u64 {
        16 * PAGE
    }
    fn length(&self) -> u64 {
        LENGTH
    }
    fn place(&mut self, _: u64) -> peerlane_routes::Result<()> {
        Ok(())
    }
    fn settle(&mut self) -> peerlane_routes::Result<()> {
        Ok(())
    }
}

/// The copy has no event, or its queue cannot be flushed: the copy is in the queue nevertheless.
#[test]
fn a_copy_of_whose_end_nobody_is_told_may_be_under_way() {
    let device = device();
    let mut stores = side::Stores::over(&device.buffer(LENGTH).unwrap(), Box::new(Shown)).unwrap();
    stores.place(0).unwrap();
    for refused in [&CALLBACK, &FLUSH] {
        refused.set(OUT_OF_HOST_MEMORY);
        assert!(stores.push(0, 0, PAGE).is_err());
        refused.set(CL_SUCCESS);
        let rests = stores.settle(Duration::ZERO).unwrap();
        assert!(!rests, "the GPU may still read the buffer");
        // The next caller has the window when the queue has ended all of its commands.
        stores.place(0).unwrap();
        assert!(stores.settle(Duration::ZERO).unwrap());
    }
    // A copy that was not even enqueued stores nothing.
    assert!(stores.push(0, LENGTH, PAGE).is_err());
    assert!(stores.settle(Duration::ZERO).unwrap());
}

/// A copy that a GPU never ends: the window stays where it is, and its user gets an error.
#[test]
fn a_window_is_not_moved_under_a_copy() {
    let device = device();
    let mut stores = side::Stores::over(&device.buffer(LENGTH).unwrap(), Box::new(Shown)).unwrap();
    stores.push(0, 0, PAGE).unwrap();
    let error = stores.place(0).unwrap_err();
    assert!(error.to_string().contains("have not ended"), "{error}");
    assert!(!stores.settle(Duration::ZERO).unwrap());
}

/// A remote memory is dropped after all stores to it. A window that the GPU may still store to is kept.
#[test]
fn a_window_is_given_back_behind_all_stores() {
    let device = device();
    let buffer = device.buffer(LENGTH).unwrap();
    // SAFETY: the mock stores nothing.
    let remote = unsafe { device.remote(16 * PAGE, 16 * PAGE, LENGTH) }.unwrap();
    remote.push(&buffer, 0, 0, PAGE).unwrap();
    let before = FINISHED.get();
    drop(remote);
    assert_eq!(FINISHED.get(), before + 1);
    for (answer, hidden) in [(CL_SUCCESS, 1), (OUT_OF_HOST_MEMORY, 0)] {
        let mut stores = side::Stores::over(&buffer, Box::new(Shown)).unwrap();
        stores.push(0, 0, PAGE).unwrap();
        FINISH.set(answer);
        let before = HIDDEN.get();
        drop(stores);
        assert_eq!(HIDDEN.get() - before, hidden);
        FINISH.set(CL_SUCCESS);
    }
}

/// A child of a fork has none of the runtime's threads: `clFinish` would never return.
#[test]
fn what_a_child_drops_the_parent_keeps() {
    let device = device();
    let buffer = device.buffer(LENGTH).unwrap();
    let stores = side::Stores::over(&buffer, Box::new(Shown)).unwrap();
    let signal = Signal::new(&device, some()).unwrap();
    let calls = CALLS.get();
    let given = std::mem::ManuallyDrop::new((device, buffer, stores, signal));
    let inherited = Mutex::new(Some(given));
    let mut command = std::process::Command::new("true");
    // SAFETY: the closure calls nothing but the allocator, whose state the C library takes care of across a fork, and a
    // lock that no other thread knows.
    unsafe {
        command.pre_exec(move || {
            let given = inherited.lock().expect("no other thread").take();
            drop(given.map(std::mem::ManuallyDrop::into_inner));
            match CALLS.get() - calls {
                0 => Ok(()),
                made => Err(std::io::Error::from_raw_os_error(made)),
            }
        });
    }
    assert!(command.status().unwrap().success());
    assert_eq!(CALLS.get(), calls, "the parent has dropped nothing");
}

#[test]
fn a_device_says_where_it_is() {
    // cl_device_topology_amd: a type of 32 bits, 17 bytes of nothing, bus, device, function.
    let mut topology = [0_u8; 24];
    topology[..4].copy_from_slice(&1_u32.to_ne_bytes());
    topology[21..].copy_from_slice(&[0x3b, 0x1f, 1]);
    assert_eq!(slot(&topology).unwrap(), "0000:3b:1f.1");
    assert!(slot(&topology[..23]).is_none() && slot(&[]).is_none());
    topology[0] = 0;
    assert!(slot(&topology).is_none(), "no PCIe device");
}
