//! Callbacks: the vendor calls a function of ours, which calls the program's function with the program's handle.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire},
};

use parking_lot::Mutex;

use crate::objects::{self, Handle, Held, Kind, Need};
use crate::{copy, vendor};

/// A callback that the program has set.
pub(crate) struct Callback {
    function: usize,
    data: *mut c_void,
    kind: Kind,
    owner: Handle,
    /// Whether the call that set it makes the object.
    makes: bool,
    /// `None` if the object is not known yet, if the call that set the callback failed, or if the callback was called.
    /// If the callback has made the object known, it stays until that call has returned.
    need: Mutex<Option<Need>>,
    state: AtomicU32,
}

/// The vendor has not called it, and the call that set it has not returned.
const NEW: u32 = 0;
/// The vendor has called it, and the program's function has returned.
const CALLED: u32 = 1;
/// The call that set it has returned.
const SET: u32 = 2;

/// Ends the need of a callback. The vendor still has an event whose callback this was, and releases the event when the
/// callback returns.
fn end(need: Need) {
    copy::keep_a_while(need.end());
}

impl Callback {
    /// Makes it before the vendor gets it. For `function` 0 the result is null. `object` is the object that
    /// it will be called for, null if that is not made yet; the object is of `kind` and belongs to `owner`.
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
            makes: object.is_null(),
            need: Mutex::new(Need::of(object, outlives)),
            state: AtomicU32::new(NEW),
        }))
    }

    /// Returns the handle of the object that the call has made; null if it made none. A callback that has come before
    /// has given the program the same handle, and the reference with it.
    ///
    /// # Safety
    /// The call is before [`Self::set`], with the result of [`Self::new`] for such an object.
    pub(crate) unsafe fn made(
        callback: *mut Self,
        raw: Handle,
        kind: Kind,
        owner: Handle,
    ) -> Handle {
        let make = || objects::adopt(raw, kind, owner, Held::nothing());
        if raw.is_null() {
            return raw;
        }
        // SAFETY: the box lives until both the call and the callback are over.
        let Some(this) = (unsafe { callback.as_ref() }) else {
            return make();
        };
        let mut need = this.need.lock();
        match &*need {
            Some(early) if early.is_of(raw) => early.handle(),
            _ => {
                let made = make();
                *need = Need::of(made, false);
                made
            }
        }
    }

    /// Records that the call that set it has returned. `told`: whether it may come although the call failed.
    ///
    /// # Safety
    /// Once, with the result of [`Self::new`].
    pub(crate) unsafe fn set(callback: *mut Self, success: bool, told: bool) {
        // SAFETY: the box lives until both the call and the callback are over.
        let Some(this) = (unsafe { callback.as_ref() }) else {
            return;
        };
        if !success {
            // The object must not wait for a callback that may never come.
            let need = this.need.lock().take();
            if let Some(need) = need {
                end(need);
            }
        }
        // A callback that may still be called keeps its box: after a failed build it is not known whether it will be.
        let never = !success && !told;
        // The callback may free the box as soon as this is set.
        let called = this.state.fetch_or(SET, AcqRel) & CALLED != 0;
        if called || never {
            // SAFETY: no other code has it any more.
            unsafe { Self::over(callback) };
        }
    }

    /// Frees the callback: both the call and the callback are over.
    ///
    /// # Safety
    /// No other code has it any more.
    unsafe fn over(callback: *mut Self) {
        // SAFETY: the caller's promise.
        let this = unsafe { Box::from_raw(callback) };
        if let Some(need) = this.need.into_inner() {
            end(need);
        }
    }

    /// Calls the program's function and ends.
    ///
    /// # Safety
    /// Once, with the result of [`Self::new`].
    unsafe fn run(callback: *mut Self, raw: Handle, call: impl FnOnce(&Self, Handle)) {
        // SAFETY: the box lives until both the call and the callback are over.
        let this = unsafe { &*callback };
        let mut place = this.need.lock();
        let early = place.is_none() && this.makes && this.state.load(Acquire) & SET == 0;
        let need = match place.take() {
            None => Need::of_raw(raw, this.kind, this.owner, early),
            known => known,
        };
        let handle = need.as_ref().map_or(null_mut(), Need::handle);
        let need = match early {
            true => {
                *place = need;
                None
            }
            false => need,
        };
        drop(place);
        call(this, handle);
        if let Some(need) = need {
            end(need);
        }
        if this.state.fetch_or(CALLED, AcqRel) & SET != 0 {
            // SAFETY: the call that set it has returned.
            unsafe { Self::over(callback) };
        }
    }
}

/// Called by the vendor for a program's build and for the end of an object.
pub(crate) unsafe extern "C" fn object_called(raw: Handle, data: *mut c_void) {
    let call = |this: &Callback, handle| {
        // SAFETY: the program gave such a function.
        unsafe {
            let function: unsafe extern "C" fn(Handle, *mut c_void) = transmute(this.function);
            function(handle, this.data);
        }
    };
    // SAFETY: the vendor passes the pointer that it got, once.
    unsafe { Callback::run(data.cast(), raw, call) }
}

/// Called by the vendor for an event's status.
pub(crate) unsafe extern "C" fn event_called(raw: Handle, status: i32, data: *mut c_void) {
    let call = |this: &Callback, handle| {
        // SAFETY: the program gave such a function.
        unsafe {
            let function: unsafe extern "C" fn(Handle, i32, *mut c_void) = transmute(this.function);
            function(handle, status, this.data);
        }
    };
    // SAFETY: the vendor passes the pointer that it got, once.
    unsafe { Callback::run(data.cast(), raw, call) }
}

/// The function that `clReportLiveObjects*` calls for each object.
type Report = unsafe extern "C" fn(*mut c_void, Handle, *const c_char, u32);

/// A program's function with its argument.
struct Reported {
    function: Report,
    data: *mut c_void,
}

/// Called for an object that lives at the vendor's. Objects that the vendor has made for itself have no handle of ours;
/// the program gets null for these.
unsafe extern "C" fn live_called(
    data: *mut c_void,
    raw: Handle,
    type_name: *const c_char,
    references: u32,
) {
    // SAFETY: the pointer that [`report`] gave the vendor, and `report` has not returned yet.
    let Some(of) = (unsafe { data.cast::<Reported>().as_ref() }) else {
        return;
    };
    let name = match type_name.is_null() {
        true => &b""[..],
        // SAFETY: a name of the vendor's.
        false => unsafe { CStr::from_ptr(type_name) }.to_bytes(),
    };
    let handle = Kind::of_type(name).map_or(null_mut(), |kind| objects::known(raw, kind));
    // SAFETY: the program gave such a function.
    unsafe { (of.function)(of.data, handle, type_name, references) }
}

/// # Safety
/// As the specification of `cl_intelfpga_live_object_tracking` has it.
unsafe fn report(
    vendor: Option<unsafe extern "C" fn(Handle, Option<Report>, *mut c_void)>,
    platform: Handle,
    function: Option<Report>,
    data: *mut c_void,
) {
    let Some(vendor) = vendor else { return };
    let platform = objects::raw(platform, Kind::Platform);
    // SAFETY: the caller's promise. The vendor calls back before it returns (`acl_platform.cpp` of the open runtime).
    unsafe {
        match function {
            Some(function) => {
                let mut reported = Reported { function, data };
                vendor(platform, Some(live_called), (&raw mut reported).cast());
            }
            None => vendor(platform, None, data),
        }
    }
}

/// Reports the live objects to a program.
///
/// # Safety
/// As the specification of `cl_intelfpga_live_object_tracking` has it.
pub(crate) unsafe extern "C" fn clReportLiveObjectsIntelFPGA(
    platform: Handle,
    report_fn: Option<Report>,
    user_data: *mut c_void,
) {
    let vendor = vendor::vendor().clReportLiveObjectsIntelFPGA;
    // SAFETY: the caller's promise.
    unsafe { report(vendor, platform, report_fn, user_data) }
}

/// Does the work of [`clReportLiveObjectsIntelFPGA`] under the name that the function had until 16.1.
///
/// # Safety
/// As of [`clReportLiveObjectsIntelFPGA`].
pub(crate) unsafe extern "C" fn clReportLiveObjectsAltera(
    platform: Handle,
    report_fn: Option<Report>,
    user_data: *mut c_void,
) {
    let vendor = vendor::vendor().clReportLiveObjectsAltera;
    // SAFETY: the caller's promise.
    unsafe { report(vendor, platform, report_fn, user_data) }
}

/// Called by the vendor for shared memory that a queue frees.
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
    // SAFETY: the vendor passes the pointer that it got, once.
    unsafe { Callback::run(data.cast(), raw, call) }
}
