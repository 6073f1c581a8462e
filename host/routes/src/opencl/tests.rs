//! Copies by a stand-in for OpenCL whose device has been lost, and what the child of a fork does with OpenCL's objects.

use super::*;
use std::cell::{Cell, RefCell};
use std::os::unix::process::CommandExt;

thread_local! {
    /// Calls that a platform gets when objects go.
    static CALLS: Cell<i32> = const { Cell::new(0) };
    /// What `clGetEventInfo` says of every command.
    static STATUS: Cell<i32> = const { Cell::new(SUBMITTED) };
    /// What `clSetEventCallback` answers.
    static CALLBACK: Cell<i32> = const { Cell::new(CL_SUCCESS) };
    /// What `clWaitForEvents` and `clFinish` answer.
    static WAITED: Cell<i32> = const { Cell::new(CL_SUCCESS) };
    /// What buffers are mapped to.
    static MAPPED: RefCell<Vec<u64>> = RefCell::new(vec![0; 512]);
}

/// `CL_SUBMITTED` and `CL_OUT_OF_RESOURCES` of CL/cl.h.
const SUBMITTED: i32 = 2;
const OUT_OF_RESOURCES: i32 = -5;

fn some() -> Handle {
    std::ptr::without_provenance_mut(8)
}

unsafe extern "C" fn info(_: Handle, _: u32, _: usize, _: *mut c_void, _: *mut usize) -> i32 {
    unreachable!("nobody asks for it here")
}
unsafe extern "C" fn listed(_: u32, _: *mut Handle, _: *mut u32) -> i32 {
    unreachable!("nobody asks for it here")
}
unsafe extern "C" fn listed_of(_: Handle, _: u64, _: u32, _: *mut Handle, _: *mut u32) -> i32 {
    unreachable!("nobody asks for it here")
}
unsafe extern "C" fn context(
    _: *const isize,
    _: u32,
    _: *const Handle,
    _: *const c_void,
    _: *mut c_void,
    _: *mut i32,
) -> Handle {
    unreachable!("nobody asks for it here")
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
unsafe extern "C" fn callback(_: Handle, _: i32, _: api::Notify, _: *mut c_void) -> i32 {
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
    write: enqueue,
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

/// Memory of the stand-in's, and memory of this process to copy to.
fn both() -> (ClMemory, Memory) {
    let device = ClDevice(Arc::new(Context {
        api: &API,
        context: some(),
        device: some(),
        name: "a stand-in".into(),
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

/// As a device that is lost refuses: every call with one code, and the command stays where it is.
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
    assert_eq!(
        Arc::strong_count(&memory.0),
        2,
        "nobody knows that it has ended"
    );

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

/// What the closure of a child has: it is used by that child alone.
struct Given(std::mem::ManuallyDrop<(ClMemory, Staging, Box<dyn Pending>)>);

// SAFETY: nobody else has it; the closure runs in the thread that made it, of a copy of this process.
unsafe impl Send for Given {}
// SAFETY: as above.
unsafe impl Sync for Given {}
