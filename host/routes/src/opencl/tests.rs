//! Copies by a mock of OpenCL whose device has been lost, and the drop of OpenCL's objects in the child of a fork.

use super::*;
use std::cell::{Cell, RefCell};
use std::ffi::c_char;
use std::os::unix::process::CommandExt;

thread_local! {
    /// Calls that a platform gets when objects are dropped.
    static CALLS: Cell<i32> = const { Cell::new(0) };
    /// Requests for contexts.
    static CONTEXTS: Cell<i32> = const { Cell::new(0) };
    /// Status that `clGetEventInfo` reports for every command.
    static STATUS: Cell<i32> = const { Cell::new(SUBMITTED) };
    /// Result of `clSetEventCallback`.
    static CALLBACK: Cell<i32> = const { Cell::new(CL_SUCCESS) };
    /// Result of `clWaitForEvents` and `clFinish`.
    static WAITED: Cell<i32> = const { Cell::new(CL_SUCCESS) };
    /// Memory that buffers are mapped to.
    static MAPPED: RefCell<Vec<u64>> = RefCell::new(vec![0; 512]);
}

/// `CL_SUBMITTED` and `CL_OUT_OF_RESOURCES` of CL/cl.h.
const SUBMITTED: i32 = 2;
const OUT_OF_RESOURCES: i32 = -5;

fn some() -> Handle {
    std::ptr::without_provenance_mut(8)
}

/// A platform whose devices cannot be listed; one with a device of another program's, and one that is free.
const BROKEN: usize = 16;
const GOOD: usize = 24;
const BUSY: usize = 32;
const FREE: usize = 40;

/// `CL_DEVICE_NOT_AVAILABLE` of CL/cl.h.
const NOT_AVAILABLE: i32 = -2;

unsafe extern "C" fn info(
    of: Handle,
    _: u32,
    room: usize,
    to: *mut c_void,
    size: *mut usize,
) -> i32 {
    // The board of another program does not report its name.
    if of.addr() == BUSY {
        return NOT_AVAILABLE;
    }
    let text = b"it\0";
    // SAFETY: either place may be missing.
    unsafe {
        match size.as_mut() {
            Some(size) => *size = text.len(),
            None => std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), room.min(text.len())),
        }
    }
    CL_SUCCESS
}

/// Lists two handles.
unsafe fn list_both(both: [usize; 2], to: *mut Handle, count: *mut u32) -> i32 {
    // SAFETY: the caller has places for them, or none, and for the count.
    unsafe {
        *count = 2;
        for (index, one) in both.into_iter().enumerate().filter(|_| !to.is_null()) {
            *to.add(index) = std::ptr::without_provenance_mut(one);
        }
    }
    CL_SUCCESS
}
unsafe extern "C" fn listed(_: u32, to: *mut Handle, count: *mut u32) -> i32 {
    // SAFETY: the caller's places.
    unsafe { list_both([BROKEN, GOOD], to, count) }
}
unsafe extern "C" fn listed_of(
    platform: Handle,
    _: u64,
    _: u32,
    to: *mut Handle,
    count: *mut u32,
) -> i32 {
    match platform.addr() {
        BROKEN => OUT_OF_RESOURCES,
        // SAFETY: the caller's places.
        _ => unsafe { list_both([BUSY, FREE], to, count) },
    }
}
unsafe extern "C" fn context(
    _: *const isize,
    _: u32,
    devices: *const Handle,
    _: Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>,
    _: *mut c_void,
    code: *mut i32,
) -> Handle {
    CONTEXTS.set(CONTEXTS.get() + 1);
    // SAFETY: one device, and a place for the code.
    unsafe {
        match (*devices).addr() {
            BUSY => {
                *code = NOT_AVAILABLE;
                null_mut()
            }
            _ => {
                *code = CL_SUCCESS;
                some()
            }
        }
    }
}
unsafe extern "C" fn release(_: Handle) -> i32 {
    CALLS.set(CALLS.get() + 1);
    CL_SUCCESS
}
unsafe extern "C" fn flush(_: Handle) -> i32 {
    CL_SUCCESS
}
unsafe extern "C" fn finish(_: Handle) -> i32 {
    CALLS.set(CALLS.get() + 1);
    WAITED.get()
}
unsafe extern "C" fn queue(_: Handle, _: Handle, _: u64, _: *mut i32) -> Handle {
    some()
}
unsafe extern "C" fn buffer(_: Handle, _: u64, _: usize, _: *mut c_void, _: *mut i32) -> Handle {
    some()
}
unsafe extern "C" fn enqueue(
    _: Handle,
    _: Handle,
    _: u32,
    _: usize,
    _: usize,
    _: *mut c_void,
    _: u32,
    _: *const Handle,
    event: *mut Handle,
) -> i32 {
    // SAFETY: the library has a place for the event.
    unsafe { event.write(some()) };
    CL_SUCCESS
}
unsafe extern "C" fn write(
    _: Handle,
    _: Handle,
    _: u32,
    _: usize,
    _: usize,
    _: *const c_void,
    _: u32,
    _: *const Handle,
    event: *mut Handle,
) -> i32 {
    // SAFETY: the library has a place for the event.
    unsafe { event.write(some()) };
    CL_SUCCESS
}
unsafe extern "C" fn map(
    _: Handle,
    _: Handle,
    _: u32,
    _: u64,
    _: usize,
    length: usize,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
    _: *mut i32,
) -> *mut c_void {
    MAPPED.with_borrow_mut(|words| {
        assert!(length <= size_of_val(&words[..]));
        words.as_mut_ptr().cast()
    })
}
unsafe extern "C" fn unmap(
    _: Handle,
    _: Handle,
    _: *mut c_void,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
) -> i32 {
    CALLS.set(CALLS.get() + 1);
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
unsafe extern "C" fn event_info(
    _: Handle,
    _: u32,
    _: usize,
    value: *mut c_void,
    _: *mut usize,
) -> i32 {
    CALLS.set(CALLS.get() + 1);
    // SAFETY: the library has a place for a `cl_int`.
    unsafe { value.cast::<i32>().write(STATUS.get()) };
    CL_SUCCESS
}
unsafe extern "C" fn wait(_: u32, _: *const Handle) -> i32 {
    WAITED.get()
}

static API: Api = Api {
    platforms: listed,
    platform_info: info,
    devices: listed_of,
    device_info: info,
    context,
    retain_context: release,
    release_context: release,
    queue,
    release_queue: release,
    buffer,
    retain_memory: release,
    release_memory: release,
    read: enqueue,
    write,
    map,
    unmap,
    flush,
    finish,
    callback,
    event_info,
    wait,
    release_event: release,
};

const LENGTH: u64 = 4096;

/// Returns memory of the mock's, and memory of this process to copy to.
fn both() -> (ClMemory, Memory) {
    let device = ClDevice(Arc::new(Context {
        api: &API,
        context: Mutex::new(Some(some())),
        device: some(),
        name: "a mock".into(),
        owner: Process::current(),
    }));
    let memory = device.memory(LENGTH).unwrap();
    (memory, Memory::new(LENGTH as usize).unwrap())
}

fn begun(memory: &ClMemory, staging: &Memory) -> Box<dyn Pending> {
    let piece = Piece {
        way: Way::Out,
        staged: 0,
        at: 0,
        length: LENGTH,
    };
    let mut engine = memory.attach(staging).unwrap();
    engine.begin(piece).unwrap()
}

/// A lost device refuses every call with one code, and the command stays where it is.
#[test]
fn a_copy_of_whose_end_nobody_can_be_told_has_not_ended_well() {
    let (memory, staging) = both();
    CALLBACK.set(OUT_OF_RESOURCES);
    WAITED.set(OUT_OF_RESOURCES);
    let mut copy = begun(&memory, &staging);
    let error = copy.wait(Duration::ZERO).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("clSetEventCallback failed with {OUT_OF_RESOURCES}")
    );
    let grace = Duration::from_millis(5);
    assert!(!copy.end(grace), "the command may still run");
    assert_eq!(Arc::strong_count(&memory.0), 2, "the copy uses it");
    drop(copy);
    assert_eq!(Arc::strong_count(&memory.0), 2, "the end is not known");

    let mut copy = begun(&memory, &staging);
    STATUS.set(CL_COMPLETE);
    WAITED.set(CL_SUCCESS);
    assert!(copy.end(grace), "the command says that it has ended");
    drop(copy);
    assert_eq!(Arc::strong_count(&memory.0), 2, "but for the one before");
}

/// The status alone makes nothing visible (OpenCL API 3.0, "clGetEventInfo").
#[test]
fn a_copy_whose_bytes_nobody_can_wait_for_has_not_ended_well() {
    let (memory, staging) = both();
    STATUS.set(CL_COMPLETE);
    WAITED.set(OUT_OF_RESOURCES);
    let mut copy = begun(&memory, &staging);
    assert!(copy.wait(Duration::ZERO).is_err());
    assert!(copy.end(Duration::ZERO), "it has ended all the same");
}

/// A child of a fork has none of the platform's threads: `clFinish` would never return.
#[test]
fn what_a_child_drops_the_parent_keeps() {
    let (memory, staging) = both();
    let pinned = memory.staging(LENGTH as usize).unwrap().unwrap();
    let copy = begun(&memory, &staging);
    let calls = CALLS.get();
    let copies = std::mem::ManuallyDrop::new((memory, pinned, copy));
    let mut command = std::process::Command::new("true");
    let mut inherited = Some(Given(copies));
    // SAFETY: the closure calls nothing but the allocator, whose state the C library takes care of across a fork.
    unsafe {
        command.pre_exec(move || {
            let given = inherited.take().expect("once");
            drop(std::mem::ManuallyDrop::into_inner(given.0));
            match CALLS.get() - calls {
                0 => Ok(()),
                made => Err(std::io::Error::from_raw_os_error(made)),
            }
        });
    }
    assert!(command.status().unwrap().success());
    assert_eq!(CALLS.get(), calls, "the parent has dropped nothing");
}

/// Objects for the closure of a child: that child alone uses them.
struct Given(std::mem::ManuallyDrop<(ClMemory, Staging, Box<dyn Pending>)>);

// SAFETY: no other code has it; the closure runs in the thread that made it, of a copy of this process.
unsafe impl Send for Given {}
// SAFETY: as above.
unsafe impl Sync for Given {}

/// A board of another program, and a platform that fails, do not hide other devices.
#[test]
fn devices_that_cannot_be_used_hide_no_others() {
    let found = devices_of(&API).unwrap();
    let names: Vec<_> = found.iter().map(ClDevice::name).collect();
    assert_eq!(names, ["a device without a name (it)", "it (it)"]);
    assert_eq!(CONTEXTS.get(), 0, "listing used a device");
    assert!(found[0].memory(LENGTH).is_err());
    let memory = [(); 2].map(|()| found[1].memory(LENGTH).unwrap());
    assert_eq!(CONTEXTS.get(), 2);
    let before = CALLS.get();
    drop((found, memory));
    // Two buffers, and the context once.
    assert_eq!(CALLS.get(), before + 3);
}
