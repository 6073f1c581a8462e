//! OpenCL's own functions, as far as the extension calls them. The library is not linked with an OpenCL: an OpenCL
//! runtime loads it, and the program's OpenCL may be another library that passes calls on.

#![allow(non_camel_case_types, reason = "they are OpenCL's names")]

use crate::code::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_MEM_OBJECT, CL_NO_OPENCL_PEERLANE,
    CL_SUCCESS,
};
use crate::end;
use peerlane_opencl_api::sys::{
    CL_CONTEXT_DEVICES, CL_DEVICE_NAME, CL_EVENT_COMMAND_EXECUTION_STATUS, cl_command_queue,
};
use peerlane_opencl_api::{Answer, bytes, check, handles, value};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, null, null_mut, with_exposed_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

pub use peerlane_opencl_api::sys::{
    cl_bool, cl_context, cl_device_id, cl_event, cl_int, cl_mem, cl_mem_flags, cl_uint, cl_ulong,
};
pub use peerlane_opencl_api::{Lookup, Process};

/// `cl_peer_memory_peerlane`: a number, which is never dereferenced.
pub type cl_peer_memory_peerlane = *mut c_void;
/// `pfn_notify` of a copy.
pub type Notify = unsafe extern "C" fn(cl_int, *mut c_void);
/// `pfn_find` of `clSetOpenCLPeerlane`: a function of OpenCL's by its name, or NULL.
pub type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// OpenCL, or the part of it that exists.
pub(crate) struct OpenCl {
    lookup: Box<dyn Lookup + Send + Sync>,
    /// A [`Find`] that is used in place of the process, or NULL.
    given: AtomicPtr<c_void>,
}

/// Finds a function by its type.
macro_rules! function {
    ($opencl:expr, $kind:ident) => {{
        let opencl: &OpenCl = $opencl;
        peerlane_opencl_api::function!(opencl, $kind).map_err(|_| CL_NO_OPENCL_PEERLANE)
    }};
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

// SAFETY: the two places that are searched have promised it.
unsafe impl Lookup for OpenCl {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
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
}

impl OpenCl {
    pub(crate) fn new(lookup: impl Lookup + Send + Sync + 'static) -> Arc<Self> {
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

    /// Returns one value of a memory object.
    ///
    /// # Safety
    /// It is a `cl_mem`.
    pub(crate) unsafe fn mem<T: Answer>(&self, mem: cl_mem, what: u32) -> Result<T, cl_int> {
        let info = function!(self, clGetMemObjectInfo_t)?;
        // SAFETY: by the promise, and there is so much room.
        let answer = value(|room, to, length| unsafe { info(mem, what, room, to, length) });
        answer?.ok_or(CL_INVALID_MEM_OBJECT)
    }

    /// Returns the name of a device.
    ///
    /// # Safety
    /// It is a `cl_device_id`.
    pub(crate) unsafe fn device_name(&self, device: cl_device_id) -> Result<String, cl_int> {
        let info = function!(self, clGetDeviceInfo_t)?;
        let bytes = bytes("clGetDeviceInfo", |room, to, length| {
            // SAFETY: by the promise, and there is so much room.
            unsafe { info(device, CL_DEVICE_NAME, room, to, length) }
        })?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Returns the devices of a context.
    ///
    /// # Safety
    /// It is a `cl_context`.
    pub(crate) unsafe fn devices(&self, context: cl_context) -> Result<Vec<cl_device_id>, cl_int> {
        let info = function!(self, clGetContextInfo_t)?;
        let bytes = bytes("clGetContextInfo", |room, to, length| {
            // SAFETY: by the promise, and there is so much room.
            unsafe { info(context, CL_CONTEXT_DEVICES, room, to, length) }
        })?;
        Ok(handles(&bytes))
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
        let queue =
            unsafe { function!(self, clCreateCommandQueue_t)?(context, device, 0, &raw mut error) };
        check("clCreateCommandQueue", error)?;
        // SAFETY: the owner of the result has the reference.
        Ok(self.kept(queue, |opencl, queue| unsafe {
            let _ = function!(opencl, clReleaseCommandQueue_t).map(|release| release(queue));
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
        let code = unsafe {
            function!(self, clEnqueueReadBuffer_t)?(queue, mem, 1, 0, 1, to, 0, null(), null_mut())
        };
        Ok(check("clEnqueueReadBuffer", code)?)
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
        let code = unsafe { function!(self, clWaitForEvents_t)?(count, events.as_ptr()) };
        check("clWaitForEvents", code)?;
        // OpenCL 1.0 does not report a failed event here.
        let what = CL_EVENT_COMMAND_EXECUTION_STATUS;
        let info = function!(self, clGetEventInfo_t);
        let failed = events.iter().any(|event| {
            let Ok(info) = info else { return false };
            // SAFETY: by the promise, and there is so much room.
            let ask = |room, to, length| unsafe { info(*event, what, room, to, length) };
            matches!(value::<i32>(ask), Ok(Some(..0)))
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
        let event = unsafe { function!(self, clCreateUserEvent_t)?(context, &raw mut error) };
        check("clCreateUserEvent", error)?;
        Ok(self.kept_event(event))
    }

    /// Completes such an event.
    pub(crate) fn complete(&self, event: &Kept, with: cl_int) {
        // SAFETY: it is an event that is kept; no other code completes it.
        end::call(false, || unsafe {
            let _ = function!(self, clSetUserEventStatus_t).map(|set| set(event.object(), with));
        });
    }

    /// # Safety
    /// It is a `cl_event`.
    pub(crate) unsafe fn keep_event(self: &Arc<Self>, event: cl_event) -> Result<Kept, cl_int> {
        // SAFETY: by the promise.
        check("clRetainEvent", unsafe {
            function!(self, clRetainEvent_t)?(event)
        })?;
        Ok(self.kept_event(event))
    }

    fn kept_event(self: &Arc<Self>, event: cl_event) -> Kept {
        // SAFETY: the owner of the result has the reference.
        self.kept(event, |opencl, event| unsafe {
            let _ = function!(opencl, clReleaseEvent_t).map(|release| release(event));
        })
    }

    /// # Safety
    /// It is a `cl_mem`.
    pub(crate) unsafe fn keep_mem(self: &Arc<Self>, mem: cl_mem) -> Result<Kept, cl_int> {
        // SAFETY: by the promise.
        check("clRetainMemObject", unsafe {
            function!(self, clRetainMemObject_t)?(mem)
        })?;
        // SAFETY: the owner of the result has the reference.
        Ok(self.kept(mem, |opencl, mem| unsafe {
            let _ = function!(opencl, clReleaseMemObject_t).map(|release| release(mem));
        }))
    }

    /// # Safety
    /// It is a `cl_context`.
    pub(crate) unsafe fn keep_context(
        self: &Arc<Self>,
        context: cl_context,
    ) -> Result<Kept, cl_int> {
        // SAFETY: by the promise.
        check("clRetainContext", unsafe {
            function!(self, clRetainContext_t)?(context)
        })?;
        // SAFETY: the owner of the result has the reference.
        Ok(self.kept(context, |opencl, context| unsafe {
            let _ = function!(opencl, clReleaseContext_t).map(|release| release(context));
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
