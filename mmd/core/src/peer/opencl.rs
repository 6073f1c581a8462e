//! OpenCL's own functions, as far as the extension calls them. The library is not linked with an OpenCL: an OpenCL
//! runtime loads it, and the program's OpenCL may be another library that passes calls on.
//!
//! Types and numbers: the OpenCL Specification 3.0 and the OpenCL Registry's cl.xml.

#![allow(non_camel_case_types, reason = "they are OpenCL's names")]

use crate::code::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_MEM_OBJECT, CL_NO_OPENCL_PEERLANE,
    CL_SUCCESS,
};
use crate::end;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null, null_mut, with_exposed_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `int32_t`: an error, if it is negative.
pub type cl_int = c_int;
/// `uint32_t`.
pub type cl_uint = u32;
/// `uint64_t`.
pub type cl_ulong = u64;
/// 0 or 1.
pub type cl_bool = cl_uint;
/// Permitted accesses to memory.
pub type cl_mem_flags = cl_ulong;
/// A device.
pub type cl_device_id = *mut c_void;
/// A context.
pub type cl_context = *mut c_void;
/// A queue.
pub type cl_command_queue = *mut c_void;
/// A buffer or image.
pub type cl_mem = *mut c_void;
/// An event.
pub type cl_event = *mut c_void;
/// `cl_peer_memory_peerlane`: a number, which is never dereferenced.
pub type cl_peer_memory_peerlane = *mut c_void;
/// `pfn_notify` of a copy.
pub type Notify = unsafe extern "C" fn(cl_int, *mut c_void);
/// `pfn_find` of `clSetOpenCLPeerlane`: a function of OpenCL's by its name, or NULL.
pub type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Numbers of the queries about an object.
pub(crate) mod query {
    pub(crate) const CL_DEVICE_NAME: u32 = 0x102b;
    pub(crate) const CL_CONTEXT_DEVICES: u32 = 0x1081;
    pub(crate) const CL_EVENT_COMMAND_EXECUTION_STATUS: u32 = 0x11d3;
    pub(crate) const CL_MEM_TYPE: u32 = 0x1100;
    pub(crate) const CL_MEM_FLAGS: u32 = 0x1101;
    pub(crate) const CL_MEM_SIZE: u32 = 0x1102;
    pub(crate) const CL_MEM_CONTEXT: u32 = 0x1106;
    pub(crate) const CL_MEM_ASSOCIATED_MEMOBJECT: u32 = 0x1107;
    /// Intel's compute-runtime (opencl/extensions/public/cl_ext_private.h): a file descriptor of the buffer's memory,
    /// as 64 bits, which stays the runtime's.
    pub(crate) const CL_MEM_ALLOCATION_HANDLE_INTEL: u32 = 0x1_0050;
}

pub(crate) const CL_MEM_OBJECT_BUFFER: u32 = 0x10f0;
pub(crate) const CL_MEM_READ_WRITE: u64 = 1 << 0;
pub(crate) const CL_MEM_WRITE_ONLY: u64 = 1 << 1;
pub(crate) const CL_MEM_READ_ONLY: u64 = 1 << 2;
pub(crate) const CL_MEM_USE_HOST_PTR: u64 = 1 << 3;

/// Finds functions of OpenCL's, and of others whose memory a program registers.
///
/// # Safety
/// The result for a name is the function of that name in OpenCL's `CL/cl.h`, or in CUDA's `cuda.h`, and can be called
/// at any time from then on.
pub unsafe trait Lookup: Send + Sync {
    /// Finds the function of a name.
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>>;
}

/// The functions that the process has loaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct Process;

// SAFETY: no other library has functions of these names, and a library that is found by `RTLD_NOLOAD` is kept loaded by
// the handle, which is never closed.
unsafe impl Lookup for Process {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let library = match name.to_bytes().starts_with(b"cu") {
            true => &[c"libcuda.so.1"][..],
            // A program may have loaded them as local libraries.
            false => &[c"libOpenCL.so.1", c"libOpenCL.so", c"libalteracl.so"],
        };
        let loaded = library.iter().map(|name| {
            // SAFETY: with these flags nothing is loaded, and nothing runs (dlopen(3)).
            unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
        });
        let global = std::iter::once(libc::RTLD_DEFAULT);
        let places = global.chain(loaded.filter(|handle| !handle.is_null()));
        // SAFETY: the handles are good, and the name ends with a 0.
        let mut found = places.map(|place| unsafe { libc::dlsym(place, name.as_ptr()) });
        found.find_map(NonNull::new)
    }
}

/// OpenCL, or the part of it that exists.
pub(crate) struct OpenCl {
    lookup: Box<dyn Lookup>,
    /// A [`Find`] that is used in place of the process, or NULL.
    given: AtomicPtr<c_void>,
}

macro_rules! functions {
    ($($symbol:ident as $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl OpenCl {$(
            /// # Errors
            /// There is no such function.
            ///
            /// # Safety
            /// As the OpenCL Specification, or the CUDA driver's manual, has it of this function.
            #[allow(clippy::too_many_arguments, reason = "they are OpenCL's")]
            pub(crate) unsafe fn $name(&self, $($argument: $type),*) -> Result<$result, cl_int> {
                const NAME: &CStr = match CStr::from_bytes_with_nul(
                    concat!(stringify!($symbol), "\0").as_bytes(),
                ) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                };
                let found = self.find(NAME).ok_or(CL_NO_OPENCL_PEERLANE)?;
                type Function = unsafe extern "C" fn($($type),*) -> $result;
                // SAFETY: it is the function of this name, whose type this is.
                let function: Function = unsafe { std::mem::transmute(found.as_ptr()) };
                // SAFETY: by the caller's promise.
                Ok(unsafe { function($($argument),*) })
            }
        )*}
    };
}

functions! {
    clGetDeviceInfo as device_info(
        device: cl_device_id, what: cl_uint, room: usize, value: *mut c_void, length: *mut usize
    ) -> cl_int;
    clGetContextInfo as context_info(
        context: cl_context, what: cl_uint, room: usize, value: *mut c_void, length: *mut usize
    ) -> cl_int;
    clGetMemObjectInfo as mem_info(
        mem: cl_mem, what: cl_uint, room: usize, value: *mut c_void, length: *mut usize
    ) -> cl_int;
    clCreateCommandQueue as create_queue(
        context: cl_context, device: cl_device_id, properties: cl_ulong, error: *mut cl_int
    ) -> cl_command_queue;
    clReleaseCommandQueue as release_queue(queue: cl_command_queue) -> cl_int;
    clEnqueueReadBuffer as read_buffer(
        queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, offset: usize, size: usize,
        to: *mut c_void, events: cl_uint, list: *const cl_event, event: *mut cl_event
    ) -> cl_int;
    clWaitForEvents as wait_for_events(events: cl_uint, list: *const cl_event) -> cl_int;
    clGetEventInfo as event_info(
        event: cl_event, what: cl_uint, room: usize, value: *mut c_void, length: *mut usize
    ) -> cl_int;
    clCreateUserEvent as create_user_event(context: cl_context, error: *mut cl_int) -> cl_event;
    clSetUserEventStatus as set_user_event_status(event: cl_event, status: cl_int) -> cl_int;
    clRetainEvent as retain_event(event: cl_event) -> cl_int;
    clReleaseEvent as release_event(event: cl_event) -> cl_int;
    clRetainMemObject as retain_mem(mem: cl_mem) -> cl_int;
    clReleaseMemObject as release_mem(mem: cl_mem) -> cl_int;
    clRetainContext as retain_context(context: cl_context) -> cl_int;
    clReleaseContext as release_context(context: cl_context) -> cl_int;
}

/// Converts the status of a call, if there was a function to call.
fn status(called: Result<cl_int, cl_int>) -> Result<(), cl_int> {
    match called? {
        CL_SUCCESS => Ok(()),
        error => Err(error),
    }
}

/// A value that a query writes as bytes.
///
/// # Safety
/// Any bytes are a valid value.
pub(crate) unsafe trait Answer: Copy {}
// SAFETY: any bytes are a number, or an address that is only passed on.
unsafe impl Answer for u32 {}
// SAFETY: as above.
unsafe impl Answer for u64 {}
// SAFETY: as above.
unsafe impl Answer for usize {}
// SAFETY: as above.
unsafe impl Answer for *mut c_void {}

/// Queries one value; `None`: the answer has another size.
fn one<T: Answer>(
    ask: impl FnOnce(usize, *mut c_void, *mut usize) -> Result<cl_int, cl_int>,
) -> Result<Option<T>, cl_int> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = 0;
    status(ask(
        size_of::<T>(),
        value.as_mut_ptr().cast(),
        &raw mut length,
    ))?;
    // SAFETY: any bytes are a value, and there were zeros.
    Ok((length == size_of::<T>()).then(|| unsafe { value.assume_init() }))
}

/// Queries many bytes.
fn many(
    ask: impl Fn(usize, *mut c_void, *mut usize) -> Result<cl_int, cl_int>,
) -> Result<Vec<u8>, cl_int> {
    let mut length = 0;
    status(ask(0, null_mut(), &raw mut length))?;
    let mut bytes = vec![0_u8; length];
    status(ask(length, bytes.as_mut_ptr().cast(), null_mut()))?;
    Ok(bytes)
}

/// A reference to an object of OpenCL's, by the address of its handle.
pub(crate) struct Kept {
    opencl: Arc<OpenCl>,
    object: usize,
    release: fn(&OpenCl, *mut c_void),
}

impl Kept {
    pub(crate) fn object(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.object)
    }

    /// Transfers the reference to the caller.
    pub(crate) fn hand_over(mut self) -> *mut c_void {
        let object = self.object();
        self.release = |_, _| {};
        object
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        end::call(false, || (self.release)(&self.opencl, self.object()));
    }
}

impl OpenCl {
    pub(crate) fn new(lookup: impl Lookup + 'static) -> Arc<Self> {
        Arc::new(Self {
            lookup: Box::new(lookup),
            given: AtomicPtr::new(null_mut()),
        })
    }

    /// Sets the functions of a driver around the runtime, which are OpenCL's functions from now on.
    pub(crate) fn set(&self, find: Option<Find>) {
        let find = find.map_or(null_mut(), |find| find as *mut c_void);
        self.given.store(find, Ordering::Release);
    }

    pub(crate) fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let given = self.given.load(Ordering::Acquire);
        // A driver around the runtime does not wrap CUDA.
        if given.is_null() || name.to_bytes().starts_with(b"cu") {
            return self.lookup.find(name);
        }
        // SAFETY: `set` has stored such a function, whose caller has promised that it can be called.
        let found = unsafe {
            let find: Find = std::mem::transmute(given);
            find(name.as_ptr())
        };
        NonNull::new(found)
    }

    /// Returns one value of a memory object.
    ///
    /// # Safety
    /// It is a `cl_mem`.
    pub(crate) unsafe fn mem<T: Answer>(&self, mem: cl_mem, what: u32) -> Result<T, cl_int> {
        // SAFETY: by the promise, and there is so much room.
        let answer = one(|room, to, length| unsafe { self.mem_info(mem, what, room, to, length) });
        answer?.ok_or(CL_INVALID_MEM_OBJECT)
    }

    /// Returns the name of a device.
    ///
    /// # Safety
    /// It is a `cl_device_id`.
    pub(crate) unsafe fn device_name(&self, device: cl_device_id) -> Result<String, cl_int> {
        let what = query::CL_DEVICE_NAME;
        // SAFETY: by the promise, and there is so much room.
        let ask = |room, to, length| unsafe { self.device_info(device, what, room, to, length) };
        let bytes = many(ask)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Returns the devices of a context.
    ///
    /// # Safety
    /// It is a `cl_context`.
    pub(crate) unsafe fn devices(&self, context: cl_context) -> Result<Vec<cl_device_id>, cl_int> {
        let what = query::CL_CONTEXT_DEVICES;
        // SAFETY: by the promise, and there is so much room.
        let ask = |room, to, length| unsafe { self.context_info(context, what, room, to, length) };
        let bytes = many(ask)?;
        let (words, _) = bytes.as_chunks();
        let address = |word: &[u8; 8]| usize::from_ne_bytes(*word);
        Ok(words
            .iter()
            .map(|word| with_exposed_provenance_mut(address(word)))
            .collect())
    }

    /// Makes a queue of the library's own.
    ///
    /// # Safety
    /// They are a `cl_context` and a device of it.
    pub(crate) unsafe fn queue(
        self: &Arc<Self>,
        context: cl_context,
        device: cl_device_id,
    ) -> Result<Kept, cl_int> {
        let mut error = CL_SUCCESS;
        // SAFETY: by the promise, and there is room for the error.
        let queue = unsafe { self.create_queue(context, device, 0, &raw mut error) }?;
        status(Ok(error))?;
        // SAFETY: the owner of the result has the reference.
        Ok(self.kept(queue, |opencl, queue| unsafe {
            let _ = opencl.release_queue(queue);
        }))
    }

    /// Reads one byte of a buffer; returns when the byte was read.
    ///
    /// # Safety
    /// They are a `cl_command_queue` and a `cl_mem`.
    pub(crate) unsafe fn read_byte(
        &self,
        queue: cl_command_queue,
        mem: cl_mem,
        byte: &mut u8,
    ) -> Result<(), cl_int> {
        let to = std::ptr::from_mut(byte).cast();
        // SAFETY: by the promise; the call blocks, so the byte is there for as long.
        status(unsafe { self.read_buffer(queue, mem, 1, 0, 1, to, 0, null(), null_mut()) })
    }

    /// Waits for events; an empty list is complete already.
    ///
    /// # Errors
    /// Also if one of them has failed.
    ///
    /// # Safety
    /// They are `cl_event`s.
    pub(crate) unsafe fn wait(&self, events: &[cl_event]) -> Result<(), cl_int> {
        let Ok(count @ 1..) = u32::try_from(events.len()) else {
            return Ok(());
        };
        // SAFETY: by the promise, and there are so many.
        status(unsafe { self.wait_for_events(count, events.as_ptr()) })?;
        // OpenCL 1.0 does not report a failed event here.
        let what = query::CL_EVENT_COMMAND_EXECUTION_STATUS;
        let failed = events.iter().any(|event| {
            // SAFETY: by the promise, and there is so much room.
            let ask = |room, to, length| unsafe { self.event_info(*event, what, room, to, length) };
            matches!(one::<u32>(ask), Ok(Some(status)) if status.cast_signed() < 0)
        });
        match failed {
            true => Err(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
            false => Ok(()),
        }
    }

    /// Makes an event, which the caller has to complete.
    ///
    /// # Safety
    /// It is a `cl_context`.
    pub(crate) unsafe fn user_event(self: &Arc<Self>, context: cl_context) -> Result<Kept, cl_int> {
        let mut error = CL_SUCCESS;
        // SAFETY: by the promise, and there is room for the error.
        let event = unsafe { self.create_user_event(context, &raw mut error) }?;
        status(Ok(error))?;
        Ok(self.kept_event(event))
    }

    /// Completes such an event.
    pub(crate) fn complete(&self, event: &Kept, with: cl_int) {
        // SAFETY: it is an event that is kept; no other code completes it.
        end::call(false, || unsafe {
            let _ = self.set_user_event_status(event.object(), with);
        });
    }

    /// # Safety
    /// It is a `cl_event`.
    pub(crate) unsafe fn keep_event(self: &Arc<Self>, event: cl_event) -> Result<Kept, cl_int> {
        // SAFETY: by the promise.
        status(unsafe { self.retain_event(event) })?;
        Ok(self.kept_event(event))
    }

    fn kept_event(self: &Arc<Self>, event: cl_event) -> Kept {
        // SAFETY: the owner of the result has the reference.
        self.kept(event, |opencl, event| unsafe {
            let _ = opencl.release_event(event);
        })
    }

    /// # Safety
    /// It is a `cl_mem`.
    pub(crate) unsafe fn keep_mem(self: &Arc<Self>, mem: cl_mem) -> Result<Kept, cl_int> {
        // SAFETY: by the promise.
        status(unsafe { self.retain_mem(mem) })?;
        // SAFETY: the owner of the result has the reference.
        Ok(self.kept(mem, |opencl, mem| unsafe {
            let _ = opencl.release_mem(mem);
        }))
    }

    /// # Safety
    /// It is a `cl_context`.
    pub(crate) unsafe fn keep_context(
        self: &Arc<Self>,
        context: cl_context,
    ) -> Result<Kept, cl_int> {
        // SAFETY: by the promise.
        status(unsafe { self.retain_context(context) })?;
        // SAFETY: the owner of the result has the reference.
        Ok(self.kept(context, |opencl, context| unsafe {
            let _ = opencl.release_context(context);
        }))
    }

    fn kept(self: &Arc<Self>, object: *mut c_void, release: fn(&Self, *mut c_void)) -> Kept {
        Kept {
            opencl: Arc::clone(self),
            object: object.expose_provenance(),
            release,
        }
    }
}
