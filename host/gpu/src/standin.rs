//! A mock of CUDA's driver: one GPU whose memory is only addresses, for tests of the library's treatment of results.
//! Each thread has a driver of its own.

use crate::cuda::{Driver, Gpu, UNHEARD};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::ops::Range;
use std::ptr::without_provenance_mut;

/// Calls of a function that fail, counted from 1.
#[derive(Clone)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) which: Range<u32>,
}

/// No call fails.
pub(crate) const NOTHING: Failure = Failure {
    call: "",
    which: 0..0,
};

thread_local! {
    static FAILURE: RefCell<Failure> = const { RefCell::new(NOTHING) };
    /// Calls of the function that fails, until now.
    static CALLS: Cell<u32> = const { Cell::new(0) };
    /// Ranges of host memory that are registered.
    static REGISTERED: Cell<usize> = const { Cell::new(0) };
    /// Allocations: address to size and identity.
    static MEMORY: RefCell<BTreeMap<u64, (usize, u64)>> = const { RefCell::new(BTreeMap::new()) };
    /// Mapped pieces: address to size, identity and handle.
    static MAPPED: RefCell<BTreeMap<u64, (usize, u64, u64)>> = const { RefCell::new(BTreeMap::new()) };
    /// Memory of `cuMemCreate`: handle to references and kind.
    static HANDLES: RefCell<BTreeMap<u64, (u32, u32)>> = const { RefCell::new(BTreeMap::new()) };
    /// A mapping has the identity that the last one at its address had.
    static KEEPS_IDENTITY: Cell<bool> = const { Cell::new(false) };
    /// The thread's contexts, the current one last.
    static CONTEXTS: RefCell<Vec<sys::CUcontext>> = const { RefCell::new(Vec::new()) };
    /// Addresses of memory whose copies are complete when their call returns.
    static ORDERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// Kernels that were launched, and events that were recorded.
    static LAUNCHED: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
    /// State of the capture by another thread.
    static CAPTURE: Cell<Capture> = const { Cell::new(Capture::None) };
    /// `CUstreamCaptureStatus` of streams that are not the default one.
    static STATUS: Cell<c_int> = const { Cell::new(0) };
    /// `CUstreamCaptureMode` of the thread.
    static MODE: Cell<c_int> = const { Cell::new(0) };
    /// Streams do nothing until a caller waits.
    static STALLED: Cell<bool> = const { Cell::new(false) };
    /// Function that the next wait for an event calls.
    static IN_WAIT: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// Places that were copied to, with the bytes.
    static COPIED: RefCell<Vec<(u64, usize)>> = const { RefCell::new(Vec::new()) };
    /// The last identity.
    static LAST: Cell<u64> = const { Cell::new(900) };
}

/// Makes calls fail, from now on.
pub(crate) fn fail(failure: Failure) {
    CALLS.set(0);
    FAILURE.set(failure);
}

/// Returns the places in the GPU's memory that were copied to since the last call, with the bytes.
pub(crate) fn copied() -> Vec<(u64, usize)> {
    COPIED.take()
}

/// Returns the number of ranges of host memory that are registered now.
pub(crate) fn registered() -> usize {
    REGISTERED.get()
}

/// Returns the number of allocations that there are now.
pub(crate) fn memory() -> usize {
    MEMORY.with_borrow(BTreeMap::len)
}

/// Returns the thread's current context.
pub(crate) fn current() -> Option<sys::CUcontext> {
    CONTEXTS.with_borrow(|contexts| contexts.last().copied())
}

/// Returns the number of steps that the thread has launched, and of events that it has recorded after them.
pub(crate) fn launched() -> (u32, u32) {
    LAUNCHED.get()
}

/// Makes a context of another GPU the thread's.
pub(crate) fn make_current(number: usize) {
    CONTEXTS.with_borrow_mut(|contexts| contexts.push(without_provenance_mut(number)));
}

/// Returns the addresses of memory whose copies are complete when their call returns, in the order of the requests.
pub(crate) fn ordered() -> Vec<u64> {
    ORDERED.with_borrow(Clone::clone)
}

/// Returns the result of a call, after the work of one that succeeds.
fn call(name: &str, does: impl FnOnce()) -> c_int {
    let fails = FAILURE.with_borrow(|failure| {
        let it = failure.call == name;
        CALLS.set(CALLS.get() + u32::from(it));
        it && failure.which.contains(&CALLS.get())
    });
    if fails {
        return UNHEARD;
    }
    let relaxed = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED as c_int;
    if CAPTURE.get() == Capture::Valid && MODE.get() != relaxed && UNSAFE.contains(&name) {
        CAPTURE.set(Capture::Invalid);
        // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
        return 900;
    }
    does();
    0
}

/// A graph that another thread captures in global mode, of a stream that is not `CU_STREAM_NON_BLOCKING`. The legacy
/// default stream may not be used in the meantime, in any mode of the thread (measured with driver 580).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    None,
    Valid,
    Invalid,
}

/// Calls that are prohibited during a capture, unless the thread has relaxed that ("Stream Management",
/// `cuThreadExchangeStreamCaptureMode`: calls that allocate are an example; the manual has no list).
const UNSAFE: [&str; 9] = [
    "allocate",
    "free",
    "host_register",
    "host_unregister",
    "module_load",
    "module_unload",
    "pointer_set",
    "event_query",
    "event_destroy",
];

/// Makes another thread capture, or not.
pub(crate) fn capture(capture: Capture) {
    CAPTURE.set(capture);
}

/// Returns the state of the graph, and the thread's capture mode: 0 is global, CUDA's default.
pub(crate) fn captured() -> (Capture, c_int) {
    (CAPTURE.get(), MODE.get())
}

/// Sets the capture state of streams: a `CUstreamCaptureStatus`.
pub(crate) fn capture_streams(status: c_int) {
    STATUS.set(status);
}

/// Returns how often a function was called since it was named as one that [fails](fail); its `which` can be empty.
pub(crate) fn calls() -> u32 {
    CALLS.get()
}

/// Drops all registrations, and lets streams run.
pub(crate) fn reset() {
    STALLED.set(false);
    REGISTERED.set(0);
}

/// Makes the next wait for an event call this.
pub(crate) fn in_wait(hook: impl FnOnce() + 'static) {
    IN_WAIT.set(Some(Box::new(hook)));
}

/// Makes streams do nothing from now on, until an event is waited for.
pub(crate) fn stall() {
    STALLED.set(true);
}

/// `CUDA_ERROR_INVALID_CONTEXT` and `CUDA_ERROR_INVALID_HANDLE` of cuda.h.
const INVALID_CONTEXT: c_int = 201;
/// As above.
const INVALID_HANDLE: c_int = 400;
/// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`.
const CAPTURE_IMPLICIT: c_int = 906;

/// Returns CUDA's result for a stream: null is the default stream of the thread's context, which is another stream
/// where another context is current.
fn of_stream(stream: sys::CUstream, does: impl FnOnce() -> c_int) -> c_int {
    match current() {
        None if stream.is_null() => INVALID_CONTEXT,
        // The legacy default stream would wait for the stream that is captured.
        Some(_) if stream.is_null() && CAPTURE.get() != Capture::None => {
            CAPTURE.set(Capture::Invalid);
            CAPTURE_IMPLICIT
        }
        Some(context) if stream.is_null() && context != handle() => INVALID_HANDLE,
        _ => does(),
    }
}

/// Writes a result.
fn put<T>(place: *mut T, value: T) {
    // SAFETY: the library gives places that may be written.
    unsafe { place.write(value) };
}

/// Makes a handle that names no object.
fn handle<T>() -> *mut T {
    without_provenance_mut(8)
}

unsafe extern "C" fn version(place: *mut c_int) -> c_int {
    call("version", || put(place, 13_000))
}
unsafe extern "C" fn device(place: *mut sys::CUdevice, _: c_int) -> c_int {
    call("device", || put(place, 0))
}
unsafe extern "C" fn attribute(place: *mut c_int, attribute: c_int, _: sys::CUdevice) -> c_int {
    // In order for the owner, of Hopper, and with all other abilities.
    let ordering = Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING as c_int;
    let major = Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as c_int;
    let value = match attribute {
        _ if attribute == ordering => 100,
        _ if attribute == major => 9,
        _ => 1,
    };
    call("device_attribute", || put(place, value))
}
unsafe extern "C" fn bus(place: *mut c_char, _: c_int, _: sys::CUdevice) -> c_int {
    call("device_bus", || put(place, 0))
}
unsafe extern "C" fn retain(place: *mut sys::CUcontext, _: sys::CUdevice) -> c_int {
    call("primary_retain", || put(place, handle()))
}
unsafe extern "C" fn give_up(_: sys::CUdevice) -> c_int {
    call("primary_release", || ())
}
unsafe extern "C" fn push(context: sys::CUcontext) -> c_int {
    call("context_push", || {
        CONTEXTS.with_borrow_mut(|contexts| contexts.push(context));
    })
}
unsafe extern "C" fn pop(place: *mut sys::CUcontext) -> c_int {
    let last = CONTEXTS.with_borrow_mut(Vec::pop);
    call("context_pop", || put(place, last.expect("a context")))
}
/// `cuThreadExchangeStreamCaptureMode`.
unsafe extern "C" fn exchange(mode: *mut c_int) -> c_int {
    call("exchange_capture_mode", || {
        // SAFETY: the library gives a place with a mode.
        put(mode, MODE.replace(unsafe { mode.read() }));
    })
}
unsafe extern "C" fn allocate(place: *mut sys::CUdeviceptr, size: usize) -> c_int {
    call("allocate", || {
        let address = MEMORY.with_borrow_mut(|memory| {
            let last = memory.last_key_value();
            let address = last.map_or(1 << 40, |(address, (size, _))| address + *size as u64);
            LAST.set(LAST.get() + 1);
            memory.insert(address, (size, LAST.get()));
            address
        });
        put(place, address);
    })
}
unsafe extern "C" fn free(address: sys::CUdeviceptr) -> c_int {
    call("free", || {
        let there = MEMORY.with_borrow_mut(|memory| memory.remove(&address));
        assert!(there.is_some(), "{address:#x} was not allocated");
    })
}
unsafe extern "C" fn fill(
    _: sys::CUdeviceptr,
    _: c_uchar,
    _: usize,
    stream: sys::CUstream,
) -> c_int {
    of_stream(stream, || call("fill", || ()))
}
unsafe extern "C" fn copy_in(
    to: sys::CUdeviceptr,
    _: *const c_void,
    length: usize,
    stream: sys::CUstream,
) -> c_int {
    let copied = || COPIED.with_borrow_mut(|copied| copied.push((to, length)));
    of_stream(stream, || call("copy_in", copied))
}
unsafe extern "C" fn copy_out(
    _: *mut c_void,
    _: sys::CUdeviceptr,
    _: usize,
    stream: sys::CUstream,
) -> c_int {
    of_stream(stream, || call("copy_out", || ()))
}
/// Streams of the library's own are not of the kind that the default stream waits for.
unsafe extern "C" fn stream_create(place: *mut sys::CUstream, flags: c_uint) -> c_int {
    assert_eq!(flags, sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint);
    call("stream_create", || put(place, handle()))
}
unsafe extern "C" fn stream_destroy(_: sys::CUstream) -> c_int {
    call("stream_destroy", || ())
}
/// Finds the allocation with an address: its address, size and identity, and its handle if it is mapped.
fn holder(address: u64) -> Option<(u64, (usize, u64), Option<u64>)> {
    let plain = MEMORY.with_borrow(|memory| {
        let (base, of) = memory.range(..=address).next_back()?;
        (address - base < of.0 as u64).then_some((*base, *of, None))
    });
    let mapped = || {
        MAPPED.with_borrow(|mapped| {
            let (base, (size, identity, handle)) = mapped.range(..=address).next_back()?;
            let it = (*base, (*size, *identity), Some(*handle));
            (address - base < *size as u64).then_some(it)
        })
    };
    plain.or_else(mapped)
}

/// Sets whether a new mapping has the identity of the last one at its address, or one of its own. NVIDIA's manual
/// promises neither.
pub(crate) fn keeps_identity(keeps: bool) {
    KEEPS_IDENTITY.set(keeps);
}

/// `cuMemCreate`, of a kind. The handle's number is unused now, and may have been another memory's.
pub(crate) fn create(kind: u32) -> u64 {
    HANDLES.with_borrow_mut(|handles| {
        let free = (1..).find(|handle| !handles.contains_key(handle));
        let handle = free.expect("there are enough");
        handles.insert(handle, (1, kind));
        handle
    })
}

/// Counts the handles that name memory.
pub(crate) fn handles() -> usize {
    HANDLES.with_borrow(BTreeMap::len)
}

/// `cuMemMap`.
pub(crate) fn map(address: u64, size: usize, handle: u64) {
    let identity = match KEEPS_IDENTITY.get() {
        true => address >> 12,
        false => {
            LAST.set(LAST.get() + 1);
            LAST.get()
        }
    };
    count(handle, 1).expect("the handle names memory");
    let before = MAPPED.with_borrow_mut(|all| all.insert(address, (size, identity, handle)));
    assert!(before.is_none(), "{address:#x} is mapped already");
}

/// `cuMemUnmap`.
pub(crate) fn unmap(address: u64) {
    let mapped = MAPPED.with_borrow_mut(|all| all.remove(&address));
    let (_, _, handle) = mapped.expect("it is mapped");
    count(handle, -1).expect("the handle names memory");
}

/// `cuMemRelease`.
pub(crate) fn forget(handle: u64) {
    count(handle, -1).expect("the handle names memory");
}

/// Counts references. The memory is freed with the last one.
fn count(handle: u64, more: i32) -> Option<()> {
    HANDLES.with_borrow_mut(|handles| {
        let (references, _) = handles.get_mut(&handle)?;
        *references = references.checked_add_signed(more)?;
        if *references == 0 {
            handles.remove(&handle);
        }
        Some(())
    })
}

unsafe extern "C" fn retain_handle(place: *mut c_ulonglong, address: *mut c_void) -> c_int {
    match holder(address.addr() as u64) {
        Some((_, _, Some(handle))) => call("retain", || {
            count(handle, 1).expect("mapped memory exists");
            put(place, handle);
        }),
        Some((_, _, None)) => unreachable!("the handle of memory of cuMemAlloc"),
        // CUDA_ERROR_INVALID_VALUE.
        None => 1,
    }
}
unsafe extern "C" fn release(handle: c_ulonglong) -> c_int {
    call("release", || forget(handle))
}
/// Exports a dma-buf of a range that is backed and mapped, by memory of one kind ("Memory Management",
/// `cuMemGetHandleForAddressRange`). It refuses two allocations of `cuMemAlloc`.
unsafe extern "C" fn range_handle(
    place: *mut c_void,
    address: sys::CUdeviceptr,
    size: usize,
    _: c_int,
    _: c_ulonglong,
) -> c_int {
    let (mut at, end, mut first) = (address, address + size as u64, None);
    while at < end {
        let Some((base, (length, _), handle)) = holder(at) else {
            return 1;
        };
        let kind = HANDLES.with_borrow(|handles| Some(handles.get(&handle?)?.1));
        let kind = (kind, kind.is_none().then_some(base));
        if *first.get_or_insert(kind) != kind {
            return 1;
        }
        at = base + length as u64;
    }
    call("range_handle", || {
        let file = std::fs::File::open("/dev/null").expect("it is there");
        put(place.cast(), std::os::fd::IntoRawFd::into_raw_fd(file));
    })
}
/// The GPU's number among those of CUDA.
pub(crate) const NUMBER: usize = 3;

unsafe extern "C" fn pointer_get(
    place: *mut c_void,
    attribute: c_int,
    at: sys::CUdeviceptr,
) -> c_int {
    if current().is_none() {
        return INVALID_CONTEXT;
    }
    let ordinal = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL as c_int;
    let legacy = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE as c_int;
    match holder(at) {
        Some((_, _, handle)) if attribute == legacy => call("pointer_get", || {
            put(place.cast(), c_int::from(handle.is_none()))
        }),
        Some(_) if attribute == ordinal => {
            call("pointer_get", || put(place.cast(), NUMBER as c_int))
        }
        Some((_, (_, identity), _)) => call("pointer_get", || put(place.cast(), identity)),
        None => UNHEARD,
    }
}
unsafe extern "C" fn address_range(
    base: *mut sys::CUdeviceptr,
    size: *mut usize,
    at: sys::CUdeviceptr,
) -> c_int {
    match holder(at) {
        Some((begin, (length, _), _)) => call("address_range", || {
            put(base, begin);
            put(size, length);
        }),
        None => UNHEARD,
    }
}
unsafe extern "C" fn pointer_set(
    _: *const c_void,
    attribute: c_int,
    at: sys::CUdeviceptr,
) -> c_int {
    let wanted = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS as c_int;
    assert_eq!(attribute, wanted);
    call("pointer_set", || {
        ORDERED.with_borrow_mut(|ordered| ordered.push(at));
    })
}
unsafe extern "C" fn stream_synchronize(stream: sys::CUstream) -> c_int {
    of_stream(stream, || call("stream_synchronize", || ()))
}
unsafe extern "C" fn host_register(_: *mut c_void, _: usize, _: c_uint) -> c_int {
    call("host_register", || REGISTERED.set(REGISTERED.get() + 1))
}
unsafe extern "C" fn host_address(
    place: *mut sys::CUdeviceptr,
    host: *mut c_void,
    _: c_uint,
) -> c_int {
    call("host_address", || put(place, host.addr() as u64))
}
unsafe extern "C" fn host_unregister(_: *mut c_void) -> c_int {
    assert!(!STALLED.get(), "a step may still use it");
    call("host_unregister", || REGISTERED.set(REGISTERED.get() - 1))
}
unsafe extern "C" fn module_load(place: *mut sys::CUmodule, _: *const c_void) -> c_int {
    call("module_load", || put(place, handle()))
}
unsafe extern "C" fn module_unload(_: sys::CUmodule) -> c_int {
    call("module_unload", || ())
}
unsafe extern "C" fn module_function(
    place: *mut sys::CUfunction,
    _: sys::CUmodule,
    _: *const c_char,
) -> c_int {
    call("module_function", || put(place, handle()))
}
unsafe extern "C" fn event_create(place: *mut sys::CUevent, _: c_uint) -> c_int {
    call("event_create", || put(place, handle()))
}
unsafe extern "C" fn event_record(_: sys::CUevent, stream: sys::CUstream) -> c_int {
    let (steps, events) = LAUNCHED.get();
    let does = || LAUNCHED.set((steps, events + 1));
    of_stream(stream, || call("event_record", does))
}
unsafe extern "C" fn stream_capture(stream: sys::CUstream, place: *mut c_int) -> c_int {
    // The call only asks, and so invalidates nothing ("Stream Management", `cuStreamIsCapturing`).
    if stream.is_null() && CAPTURE.get() != Capture::None {
        return CAPTURE_IMPLICIT;
    }
    let status = if stream.is_null() { 0 } else { STATUS.get() };
    of_stream(stream, || call("stream_capture", || put(place, status)))
}
unsafe extern "C" fn launch(
    _: sys::CUfunction,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    stream: sys::CUstream,
    _: *mut *mut c_void,
    _: *mut *mut c_void,
) -> c_int {
    let (steps, events) = LAUNCHED.get();
    let does = || LAUNCHED.set((steps + 1, events));
    of_stream(stream, || call("launch", does))
}
unsafe extern "C" fn event_query(_: sys::CUevent) -> c_int {
    match call("event_query", || ()) {
        // CUDA_ERROR_NOT_READY.
        0 if STALLED.get() => 600,
        code => code,
    }
}
unsafe extern "C" fn event_synchronize(_: sys::CUevent) -> c_int {
    call("event_synchronize", || {
        STALLED.set(false);
        if let Some(hook) = IN_WAIT.take() {
            hook();
        }
    })
}
unsafe extern "C" fn event_destroy(_: sys::CUevent) -> c_int {
    call("event_destroy", || ())
}

/// Makes the mock's GPU.
pub(crate) fn gpu() -> Gpu {
    let driver = Driver {
        version,
        device,
        device_attribute: attribute,
        device_bus: bus,
        primary_retain: retain,
        primary_release: give_up,
        context_push: push,
        context_pop: pop,
        exchange_capture_mode: exchange,
        allocate,
        free,
        fill,
        copy_in,
        copy_out,
        stream_create,
        stream_destroy,
        pointer_set,
        pointer_get,
        address_range,
        range_handle,
        retain: retain_handle,
        release,
        stream_synchronize,
        host_register,
        host_address,
        host_unregister,
        module_load,
        module_unload,
        module_function,
        event_create,
        event_record,
        stream_capture,
        launch,
        event_query,
        event_synchronize,
        event_destroy,
        ..Driver::refusing()
    };
    fail(NOTHING);
    Gpu::open_with(Box::leak(Box::new(driver)), 0).expect("the mock opens")
}
