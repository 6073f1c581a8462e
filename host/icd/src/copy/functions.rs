//! The functions of an object's platform, by the dispatch table with which the object begins (`cl_khr_icd`). All
//! handles here are those of programs, for our platform and for others.

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering::Acquire};

use peerlane_opencl_api::sys::{
    CL_CONTEXT_DEVICES, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_CONTEXT, CL_INVALID_MEM_OBJECT,
    CL_INVALID_OPERATION, CL_SUCCESS,
};
use peerlane_opencl_api::{Answer, loaded, value};

use crate::generated::slot;
use crate::objects::Handle;

/// The functions of a platform: its dispatch table.
#[derive(Clone, Copy)]
pub(super) struct Functions(NonNull<AtomicPtr<c_void>>);

/// Result of a call whose function the platform lacks.
trait Missing {
    const ANSWER: Self;
}

impl Missing for i32 {
    const ANSWER: Self = CL_INVALID_OPERATION;
}

impl Missing for Handle {
    const ANSWER: Self = null_mut();
}

impl Functions {
    /// Returns the functions of an object's platform.
    ///
    /// # Safety
    /// The handle is null or a live object of a platform that OpenCL's loader has loaded.
    pub(super) unsafe fn of(object: Handle) -> Option<Self> {
        // SAFETY: objects begin with the address of a table (cl_khr_icd, "ICD Loader Vendor Enumeration"),
        // and a driver's tables stay.
        let table = unsafe { object.cast::<*mut AtomicPtr<c_void>>().as_ref() }?;
        NonNull::new(*table).map(Self)
    }

    /// Returns the function of a slot. A driver for loaders of `cl_khr_icd` 2.0 may leave its table empty; then the
    /// loader's function of this name calls the driver's.
    fn find(self, slot: usize, name: &CStr) -> *mut c_void {
        // SAFETY: the functions asked for are of OpenCL 1.2 at most, before whose end no table ends.
        let found = unsafe { self.0.add(slot).as_ref().load(Acquire) };
        match found.is_null() {
            true => loaded(&[c"libOpenCL.so.1"], name).map_or(null_mut(), NonNull::as_ptr),
            false => found,
        }
    }
}

macro_rules! functions {
    ($($symbol:ident as $name:ident($first:ident: Handle $(, $argument:ident: $type:ty)*) -> $result:ty;)*) => {
        impl Functions {$(
            /// # Safety
            /// As the OpenCL specification has it of this function; objects are of this platform.
            #[allow(clippy::too_many_arguments, reason = "as OpenCL has them")]
            pub(super) unsafe fn $name(self, $first: Handle $(, $argument: $type)*) -> $result {
                const NAME: &CStr = match CStr::from_bytes_with_nul(
                    concat!(stringify!($symbol), "\0").as_bytes(),
                ) {
                    Ok(name) => name,
                    Err(_) => c"",
                };
                type Function = unsafe extern "C" fn(Handle $(, $type)*) -> $result;
                let found = self.find(slot::$symbol, NAME);
                // SAFETY: null, or the function of this name, whose type this is.
                match unsafe { transmute::<*mut c_void, Option<Function>>(found) } {
                    // SAFETY: the caller's promise.
                    Some(function) => unsafe { function($first $(, $argument)*) },
                    None => Missing::ANSWER,
                }
            }
        )*}

        /// OpenCL's functions for objects of any platform, as a loader has them.
        mod dispatching {
            use super::{Functions, Handle, Missing, c_void};

            $(
                #[allow(non_snake_case, reason = "the specification's names")]
                #[allow(clippy::too_many_arguments, reason = "as OpenCL has them")]
                unsafe extern "C" fn $symbol($first: Handle $(, $argument: $type)*) -> $result {
                    // SAFETY: the caller's promise.
                    unsafe {
                        match Functions::of($first) {
                            Some(functions) => functions.$name($first $(, $argument)*),
                            None => Missing::ANSWER,
                        }
                    }
                }
            )*

            pub(super) fn by_name(name: &[u8]) -> *mut c_void {
                $(if name == stringify!($symbol).as_bytes() {
                    return $symbol as *mut c_void;
                })*
                std::ptr::null_mut()
            }
        }
    };
}

functions! {
    clGetDeviceInfo as device_info(
        device: Handle, what: u32, room: usize, value: *mut c_void, length: *mut usize
    ) -> i32;
    clGetContextInfo as context_info(
        context: Handle, what: u32, room: usize, value: *mut c_void, length: *mut usize
    ) -> i32;
    clGetCommandQueueInfo as queue_info(
        queue: Handle, what: u32, room: usize, value: *mut c_void, length: *mut usize
    ) -> i32;
    clGetMemObjectInfo as mem_info(
        mem: Handle, what: u32, room: usize, value: *mut c_void, length: *mut usize
    ) -> i32;
    clGetEventInfo as event_info(
        event: Handle, what: u32, room: usize, value: *mut c_void, length: *mut usize
    ) -> i32;
    clCreateCommandQueue as create_queue(
        context: Handle, device: Handle, properties: u64, error: *mut i32
    ) -> Handle;
    clCreateBuffer as create_buffer(
        context: Handle, flags: u64, size: usize, host: *mut c_void, error: *mut i32
    ) -> Handle;
    clCreateUserEvent as create_user_event(context: Handle, error: *mut i32) -> Handle;
    clRetainContext as retain_context(context: Handle) -> i32;
    clRetainCommandQueue as retain_queue(queue: Handle) -> i32;
    clRetainMemObject as retain_mem(mem: Handle) -> i32;
    clRetainEvent as retain_event(event: Handle) -> i32;
    clReleaseContext as release_context(context: Handle) -> i32;
    clReleaseCommandQueue as release_queue(queue: Handle) -> i32;
    clReleaseMemObject as release_mem(mem: Handle) -> i32;
    clReleaseEvent as release_event(event: Handle) -> i32;
    clEnqueueReadBuffer as read_buffer(
        queue: Handle, buffer: Handle, blocking: u32, offset: usize, size: usize, to: *mut c_void,
        events: u32, list: *const Handle, event: *mut Handle
    ) -> i32;
    clEnqueueWriteBuffer as write_buffer(
        queue: Handle, buffer: Handle, blocking: u32, offset: usize, size: usize,
        from: *const c_void, events: u32, list: *const Handle, event: *mut Handle
    ) -> i32;
    clEnqueueMapBuffer as map_buffer(
        queue: Handle, buffer: Handle, blocking: u32, flags: u64, offset: usize, size: usize,
        events: u32, list: *const Handle, event: *mut Handle, error: *mut i32
    ) -> *mut c_void;
    clEnqueueUnmapMemObject as unmap(
        queue: Handle, mem: Handle, address: *mut c_void, events: u32, list: *const Handle,
        event: *mut Handle
    ) -> i32;
    clEnqueueMarker as marker(queue: Handle, event: *mut Handle) -> i32;
    clEnqueueMarkerWithWaitList as marker_behind(
        queue: Handle, events: u32, list: *const Handle, event: *mut Handle
    ) -> i32;
    clEnqueueWaitForEvents as hold_up(queue: Handle, events: u32, list: *const Handle) -> i32;
    clFinish as finish(queue: Handle) -> i32;
    clFlush as flush(queue: Handle) -> i32;
    clSetUserEventStatus as set_user_event_status(event: Handle, status: i32) -> i32;
    clSetMemObjectDestructorCallback as at_the_end_of_mem(
        mem: Handle, notify: unsafe extern "C" fn(Handle, *mut c_void), user: *mut c_void
    ) -> i32;
}

type WaitForEvents = unsafe extern "C" fn(u32, *const Handle) -> i32;

/// `clWaitForEvents`, whose objects are in a list.
unsafe extern "C" fn wait_for_events(count: u32, list: *const Handle) -> i32 {
    // SAFETY: the caller's promise: a list of live events of one platform, if it is not empty.
    unsafe {
        let first = if count == 0 { None } else { list.as_ref() };
        match first.and_then(|first| Functions::of(*first)) {
            Some(functions) => functions.wait_for_events(count, list),
            None => CL_INVALID_OPERATION,
        }
    }
}

/// Returns OpenCL's function of a name, for objects of any platform; null if the board's library does not call it.
pub(super) fn for_all_platforms(name: &[u8]) -> *mut c_void {
    match name {
        b"clWaitForEvents" => wait_for_events as *mut c_void,
        name => dispatching::by_name(name),
    }
}

/// Queries one value.
fn one<T: Answer>(ask: impl FnOnce(usize, *mut c_void, *mut usize) -> i32) -> Result<T, i32> {
    value(ask)?.ok_or(CL_INVALID_OPERATION)
}

/// Converts a call's status.
pub(super) fn status(called: i32) -> Result<(), i32> {
    match called {
        CL_SUCCESS => Ok(()),
        error => Err(error),
    }
}

impl Functions {
    /// # Safety
    /// The events are live ones of this platform.
    unsafe fn wait_for_events(self, count: u32, list: *const Handle) -> i32 {
        let found = self.find(slot::clWaitForEvents, c"clWaitForEvents");
        // SAFETY: null, or the function of this name; the caller's promise.
        match unsafe { transmute::<*mut c_void, Option<WaitForEvents>>(found) } {
            // SAFETY: as above.
            Some(function) => unsafe { function(count, list) },
            None => CL_INVALID_OPERATION,
        }
    }

    /// Waits for one event.
    ///
    /// # Errors
    /// The status of an event that has failed.
    ///
    /// # Safety
    /// It is a live event of this platform.
    pub(super) unsafe fn wait(self, event: Handle) -> Result<(), i32> {
        // SAFETY: the caller's promise.
        unsafe {
            let waited = self.wait_for_events(1, &raw const event);
            // OpenCL 1.0 does not report here that an event has failed, and no version reports its error.
            match self.event::<i32>(event, CL_EVENT_COMMAND_EXECUTION_STATUS) {
                Ok(failed @ ..0) => Err(failed),
                _ => status(waited),
            }
        }
    }

    /// # Safety
    /// It is a live event of this platform.
    pub(super) unsafe fn event<T: Answer>(self, event: Handle, what: u32) -> Result<T, i32> {
        // SAFETY: the caller's promise, and there is so much room.
        one(|room, to, length| unsafe { self.event_info(event, what, room, to, length) })
    }

    /// # Safety
    /// It is a live event of this platform.
    pub(super) unsafe fn context_of_event(self, event: Handle) -> Result<Handle, i32> {
        // SAFETY: the caller's promise.
        unsafe { self.event(event, CL_EVENT_CONTEXT) }
    }

    /// # Safety
    /// It is a live memory object of this platform.
    pub(super) unsafe fn mem<T: Answer>(self, mem: Handle, what: u32) -> Result<T, i32> {
        // SAFETY: the caller's promise, and there is so much room.
        let asked = one(|room, to, length| unsafe { self.mem_info(mem, what, room, to, length) });
        asked.map_err(|_| CL_INVALID_MEM_OBJECT)
    }

    /// # Safety
    /// It is a live queue of this platform.
    pub(super) unsafe fn queue<T: Answer>(self, queue: Handle, what: u32) -> Result<T, i32> {
        // SAFETY: the caller's promise, and there is so much room.
        one(|room, to, length| unsafe { self.queue_info(queue, what, room, to, length) })
    }

    /// Returns the first device of a context.
    ///
    /// # Safety
    /// It is a live context of this platform.
    pub(super) unsafe fn first_device(self, context: Handle) -> Result<Handle, i32> {
        // SAFETY: the caller's promise; so much room is asked for.
        unsafe {
            let mut size = 0;
            let what = CL_CONTEXT_DEVICES;
            status(self.context_info(context, what, 0, null_mut(), &raw mut size))?;
            let mut devices = vec![null_mut::<c_void>(); size.div_ceil(size_of::<Handle>())];
            let to = devices.as_mut_ptr().cast();
            status(self.context_info(context, what, size, to, null_mut()))?;
            devices.first().copied().ok_or(CL_INVALID_OPERATION)
        }
    }
}

/// A reference to an object, which is released on drop.
pub(super) struct Kept {
    functions: Functions,
    /// The handle, exposed.
    object: usize,
    release: Release,
}

type Release = unsafe fn(Functions, Handle) -> i32;

impl Kept {
    fn new(functions: Functions, object: Handle, release: Release) -> Self {
        Self {
            functions,
            object: object.expose_provenance(),
            release,
        }
    }

    pub(super) fn functions(&self) -> Functions {
        self.functions
    }

    pub(super) fn object(&self) -> Handle {
        std::ptr::with_exposed_provenance_mut(self.object)
    }

    /// Transfers the reference to the caller.
    pub(super) fn hand_over(self) -> Handle {
        let object = self.object();
        std::mem::forget(self);
        object
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: a reference that the maker of this value had.
        unsafe { (self.release)(self.functions, self.object()) };
    }
}

impl Functions {
    /// # Safety
    /// It is a live event of this platform.
    pub(super) unsafe fn keep_event(self, event: Handle) -> Result<Kept, i32> {
        // SAFETY: the caller's promise.
        status(unsafe { self.retain_event(event) })?;
        Ok(self.kept_event(event))
    }

    /// Takes over one reference of the caller's.
    pub(super) fn kept_event(self, event: Handle) -> Kept {
        Kept::new(self, event, Self::release_event)
    }

    /// # Safety
    /// It is a live memory object of this platform.
    pub(super) unsafe fn keep_mem(self, mem: Handle) -> Result<Kept, i32> {
        // SAFETY: the caller's promise.
        status(unsafe { self.retain_mem(mem) })?;
        Ok(Kept::new(self, mem, Self::release_mem))
    }

    /// # Safety
    /// It is a live queue of this platform.
    pub(super) unsafe fn keep_queue(self, queue: Handle) -> Result<Kept, i32> {
        // SAFETY: the caller's promise.
        status(unsafe { self.retain_queue(queue) })?;
        Ok(Kept::new(self, queue, Self::release_queue))
    }

    /// # Safety
    /// It is a live context of this platform.
    pub(super) unsafe fn keep_context(self, context: Handle) -> Result<Kept, i32> {
        // SAFETY: the caller's promise.
        status(unsafe { self.retain_context(context) })?;
        Ok(Kept::new(self, context, Self::release_context))
    }

    /// Makes a user event, with one reference.
    ///
    /// # Safety
    /// It is a live context of this platform.
    pub(super) unsafe fn user_event(self, context: Handle) -> Result<Kept, i32> {
        let mut error = CL_SUCCESS;
        // SAFETY: the caller's promise, and there is room for the error.
        let event = unsafe { self.create_user_event(context, &raw mut error) };
        made(event, error).map(|event| self.kept_event(event))
    }

    /// Makes a queue in order.
    ///
    /// # Safety
    /// They are a live context of this platform and a device of it.
    pub(super) unsafe fn new_queue(self, context: Handle, device: Handle) -> Result<Kept, i32> {
        let mut error = CL_SUCCESS;
        // SAFETY: the caller's promise, and there is room for the error.
        let queue = unsafe { self.create_queue(context, device, 0, &raw mut error) };
        made(queue, error).map(|queue| Kept::new(self, queue, Self::release_queue))
    }

    /// Makes a buffer.
    ///
    /// # Safety
    /// It is a live context of this platform.
    pub(super) unsafe fn new_buffer(
        self,
        context: Handle,
        flags: u64,
        size: usize,
    ) -> Result<Kept, i32> {
        let mut error = CL_SUCCESS;
        // SAFETY: the caller's promise, and there is room for the error.
        let mem = unsafe { self.create_buffer(context, flags, size, null_mut(), &raw mut error) };
        made(mem, error).map(|mem| Kept::new(self, mem, Self::release_mem))
    }

    /// Enqueues a marker after events, and returns the event that it completes with.
    ///
    /// # Safety
    /// They are a live queue and live events of this platform.
    pub(super) unsafe fn behind(self, queue: Handle, events: &[Handle]) -> Result<Kept, i32> {
        let mut event = null_mut();
        // SAFETY: the caller's promise.
        unsafe {
            status(self.marker_behind(queue, events.len() as u32, list(events), &raw mut event))?;
        }
        made(event, CL_SUCCESS).map(|event| self.kept_event(event))
    }

    /// Enqueues a marker after all earlier commands.
    ///
    /// # Safety
    /// It is a live queue of this platform.
    pub(super) unsafe fn behind_all(self, queue: Handle) -> Result<Kept, i32> {
        let mut event = null_mut();
        // SAFETY: the caller's promise.
        status(unsafe { self.marker(queue, &raw mut event) })?;
        made(event, CL_SUCCESS).map(|event| self.kept_event(event))
    }
}

fn made(object: Handle, error: i32) -> Result<Handle, i32> {
    match (object.is_null(), error) {
        (false, _) => Ok(object),
        (true, CL_SUCCESS) => Err(CL_INVALID_OPERATION),
        (true, error) => Err(error),
    }
}

fn list(events: &[Handle]) -> *const Handle {
    match events.is_empty() {
        true => null(),
        false => events.as_ptr(),
    }
}
