//! Callbacks: the vendor calls a function of ours, which calls the program's with its handle.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel};

use parking_lot::Mutex;

use crate::objects::{Handle, Kind, Need};

/// A callback that the program has set.
pub(crate) struct Callback {
    function: usize,
    data: *mut c_void,
    kind: Kind,
    owner: Handle,
    /// `None` where the object is not known yet, the call that set it failed, or it has been called.
    need: Mutex<Option<Need>>,
    state: AtomicU32,
}

/// Neither has the vendor called it, nor has the call that set it returned.
const NEW: u32 = 0;
/// The vendor has called it, and the program's function is over.
const CALLED: u32 = 1;
/// The call that set it has returned.
const SET: u32 = 2;

impl Callback {
    /// Before the vendor is told of it. `function` 0 is none: null. `object` is the one that it will
    /// be called for, null if that is not made yet; it is of `kind` and belongs to `owner`.
    pub(crate) fn new(
        function: usize,
        data: *mut c_void,
        object: Handle,
        kind: Kind,
        owner: Handle,
        outlives: bool,
    ) -> *mut Self {
        if function == 0 {
            return null_mut();
        }
        Box::into_raw(Box::new(Self {
            function,
            data,
            kind,
            owner,
            need: Mutex::new(Need::of(object, outlives)),
            state: AtomicU32::new(NEW),
        }))
    }

    /// The call that set it has returned. `told`: whether it may come although the call failed.
    ///
    /// # Safety
    /// Once, with what [`Self::new`] gave.
    pub(crate) unsafe fn set(callback: *mut Self, success: bool, told: bool) {
        // SAFETY: the box lives until both the call and the callback are over.
        let Some(this) = (unsafe { callback.as_ref() }) else {
            return;
        };
        if !success {
            // The object must not wait for what may never come.
            let need = this.need.lock().take();
            if let Some(need) = need {
                need.end();
            }
        }
        // What may still be called keeps its box: of a failed build it is not known.
        let never = !success && !told;
        // The callback may free the box as soon as this is set.
        let called = this.state.fetch_or(SET, AcqRel) & CALLED != 0;
        if called || never {
            // SAFETY: nobody else has it any more.
            drop(unsafe { Box::from_raw(callback) });
        }
    }

    /// Calls the program's function and ends.
    ///
    /// # Safety
    /// Once, with what [`Self::new`] gave.
    unsafe fn run(callback: *mut Self, raw: Handle, call: impl FnOnce(&Self, Handle)) {
        // SAFETY: the box lives until both the call and the callback are over.
        let this = unsafe { &*callback };
        let known = this.need.lock().take();
        let need = known.or_else(|| Need::of_raw(raw, this.kind, this.owner));
        call(this, need.as_ref().map_or(null_mut(), Need::handle));
        if let Some(need) = need {
            need.end();
        }
        if this.state.fetch_or(CALLED, AcqRel) & SET != 0 {
            // SAFETY: the call that set it has returned.
            drop(unsafe { Box::from_raw(callback) });
        }
    }
}

/// Of a program's build and of the end of an object.
pub(crate) unsafe extern "C" fn object_called(raw: Handle, data: *mut c_void) {
    let call = |this: &Callback, handle| {
        // SAFETY: the program gave such a function.
        unsafe {
            let function: unsafe extern "C" fn(Handle, *mut c_void) = transmute(this.function);
            function(handle, this.data);
        }
    };
    // SAFETY: the vendor gives back what it got, once.
    unsafe { Callback::run(data.cast(), raw, call) }
}

/// Of an event's status.
pub(crate) unsafe extern "C" fn event_called(raw: Handle, status: i32, data: *mut c_void) {
    let call = |this: &Callback, handle| {
        // SAFETY: the program gave such a function.
        unsafe {
            let function: unsafe extern "C" fn(Handle, i32, *mut c_void) = transmute(this.function);
            function(handle, status, this.data);
        }
    };
    // SAFETY: the vendor gives back what it got, once.
    unsafe { Callback::run(data.cast(), raw, call) }
}

/// Of shared memory that a queue frees.
pub(crate) unsafe extern "C" fn svm_called(
    raw: Handle,
    count: u32,
    pointers: *mut *mut c_void,
    data: *mut c_void,
) {
    let call = |this: &Callback, handle| {
        // SAFETY: the program gave such a function.
        unsafe {
            type Function = unsafe extern "C" fn(Handle, u32, *mut *mut c_void, *mut c_void);
            let function: Function = transmute(this.function);
            function(handle, count, pointers, this.data);
        }
    };
    // SAFETY: the vendor gives back what it got, once.
    unsafe { Callback::run(data.cast(), raw, call) }
}
