//! Arguments that hold handles: lists, structures, properties, and kernel arguments.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use peerlane_opencl_api::sys::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION,
    CL_OUT_OF_HOST_MEMORY,
};

use crate::objects::{self, Handle, Held, Kind};
use crate::vendor;

/// Writes an error to the caller's place for it, and returns a null handle.
///
/// # Safety
/// `place` is null or the caller's.
pub(crate) unsafe fn fail(place: *mut i32, error: i32) -> Handle {
    // SAFETY: the caller's promise.
    if let Some(place) = unsafe { place.as_mut() } {
        *place = error;
    }
    null_mut()
}

/// Returns a new handle, or writes the error for a lack of room for its object.
///
/// # Safety
/// `place` is null or the caller's.
pub(crate) unsafe fn made(handle: Handle, place: *mut i32) -> Handle {
    match handle.is_null() {
        // SAFETY: the caller's promise.
        true => unsafe { fail(place, CL_OUT_OF_HOST_MEMORY) },
        false => handle,
    }
}

/// Whether a call has enqueued its command, so that it has an event. After another failed call, the value in the
/// event's place is meaningless.
pub(crate) fn enqueued(result: i32) -> bool {
    // The second is of a blocking command that was enqueued, and has failed since.
    matches!(result, 0 | CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
}

/// Lists of up to this length need no memory of the heap.
const SHORT: usize = 16;

/// A list of handles that were translated to the vendor's.
pub(crate) struct List {
    short: [Handle; SHORT],
    long: Vec<Handle>,
    given: *const Handle,
    length: usize,
}

impl List {
    /// Translates a list.
    ///
    /// # Safety
    /// `handles` is null or has `count` elements.
    #[inline]
    pub(crate) unsafe fn new(count: u32, handles: *const Handle, kind: Kind) -> Self {
        let mut list = Self {
            short: [null_mut(); SHORT],
            long: Vec::new(),
            given: handles,
            length: 0,
        };
        if handles.is_null() {
            return list;
        }
        // SAFETY: the caller's promise.
        let handles = unsafe { std::slice::from_raw_parts(handles, count as usize) };
        list.length = handles.len();
        let raw = handles.iter().map(|handle| objects::raw(*handle, kind));
        if handles.len() > SHORT {
            list.long = raw.collect();
        } else {
            list.short
                .iter_mut()
                .zip(raw)
                .for_each(|(to, from)| *to = from);
        }
        list
    }

    fn raw(&self) -> &[Handle] {
        match self.length > SHORT {
            true => &self.long,
            false => &self.short[..self.length],
        }
    }

    /// Whether an element is not a live handle of the kind.
    pub(crate) fn has_null(&self) -> bool {
        self.raw().iter().any(|raw| raw.is_null())
    }

    /// Whether an element is neither null nor a live handle of the kind.
    ///
    /// # Safety
    /// The list from which this was made still exists.
    pub(crate) unsafe fn has_stranger(&self) -> bool {
        let stranger = |(index, raw): (usize, &Handle)| {
            // SAFETY: the caller's promise: as many were read before.
            raw.is_null() && unsafe { !(*self.given.add(index)).is_null() }
        };
        self.raw().iter().enumerate().any(stranger)
    }

    /// Returns the list for the vendor. An empty list is passed on, because null means something else.
    #[inline]
    pub(crate) fn pointer(&self) -> *const Handle {
        match self.length {
            0 => self.given,
            _ => self.raw().as_ptr(),
        }
    }
}

/// `cl_image_desc`: 72 bytes on 64-bit machines, and the last word is the buffer or image that
/// the image is made of (5.3.1.2).
const DESCRIPTION_WORDS: usize = 9;

/// `cl_image_desc` with the vendor's handle.
pub(crate) struct ImageDescription {
    words: [usize; DESCRIPTION_WORDS],
    of: Handle,
    null: bool,
}

impl ImageDescription {
    /// Translates one.
    ///
    /// # Safety
    /// `description` is null or the caller's `cl_image_desc`.
    pub(crate) unsafe fn new(description: *const [usize; DESCRIPTION_WORDS]) -> Self {
        // SAFETY: the caller's promise.
        let Some(words) = (unsafe { description.as_ref() }) else {
            return Self {
                words: [0; DESCRIPTION_WORDS],
                of: null_mut(),
                null: true,
            };
        };
        let mut words = *words;
        let last = &mut words[DESCRIPTION_WORDS - 1];
        let of = *last as Handle;
        *last = objects::raw(of, Kind::Mem) as usize;
        Self {
            words,
            of,
            null: false,
        }
    }

    /// Returns the description for the vendor.
    pub(crate) fn pointer(&self) -> *const c_void {
        match self.null {
            true => null(),
            false => self.words.as_ptr().cast(),
        }
    }

    /// Returns the object that the image keeps alive.
    pub(crate) fn held(&self) -> Held {
        // SAFETY: one element; null is not one of our handles.
        unsafe { Held::all(1, &self.of) }
    }
}

/// `CL_CONTEXT_PLATFORM`.
pub(crate) const CONTEXT_PLATFORM: usize = 0x1084;
/// `CL_MEM_DEVICE_HANDLE_LIST_KHR` and `CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR`: the devices follow,
/// and then a 0.
pub(crate) const DEVICE_LISTS: [usize; 2] = [0x2051, 0x2053];

/// Translates a list of properties to the vendor's handles, for a context or for other objects.
///
/// # Safety
/// `list` is null or a list that ends with 0, as the specification has it.
pub(crate) unsafe fn properties(list: *const usize, context: bool) -> Vec<usize> {
    let mut out = Vec::new();
    if list.is_null() {
        return out;
    }
    let mut next = list;
    let mut word = || {
        // SAFETY: nothing is read after the 0 that ends the list.
        unsafe {
            let word = *next;
            next = next.add(1);
            word
        }
    };
    loop {
        let name = word();
        out.push(name);
        match name {
            0 => return out,
            CONTEXT_PLATFORM if context => {
                out.push(objects::raw(word() as Handle, Kind::Platform) as usize);
            }
            name if !context && DEVICE_LISTS.contains(&name) => loop {
                let device = word();
                if device == 0 {
                    out.push(0);
                    break;
                }
                let raw = objects::raw(device as Handle, Kind::Device) as usize;
                // A 0 would end the list too early.
                out.push(if raw == 0 { usize::MAX } else { raw });
            },
            _ => out.push(word()),
        }
    }
}

/// Kinds that a kernel takes as an argument.
const KERNEL_TAKES: [Kind; 3] = [Kind::Mem, Kind::Sampler, Kind::Queue];

/// Sets a kernel's argument. A value of a handle's size that is the address of a live object that a kernel can take
/// counts as that object. The address of an object that is gone, or of another kind, is refused.
/// `docs/program/icd.md` says how rarely another number can be one by accident.
///
/// # Safety
/// As the specification has it.
pub(crate) unsafe extern "C" fn clSetKernelArg(
    kernel: Handle,
    index: u32,
    size: usize,
    value: *const c_void,
) -> i32 {
    let Some(vendor) = vendor::vendor().clSetKernelArg else {
        return CL_INVALID_OPERATION;
    };
    let kernel = objects::raw(kernel, Kind::Kernel);
    if size == size_of::<Handle>() && !value.is_null() {
        // SAFETY: the value has as many bytes, by the caller's promise.
        let handle = unsafe { value.cast::<Handle>().read_unaligned() };
        if let Some(raw) = objects::raw_of(handle, &KERNEL_TAKES) {
            // SAFETY: the value is a handle of the vendor's.
            return unsafe { vendor(kernel, index, size, (&raw const raw).cast()) };
        }
        if objects::was_ours(handle) {
            return CL_INVALID_MEM_OBJECT;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { vendor(kernel, index, size, value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_without_handles_stay_as_they_are() {
        // CL_QUEUE_SIZE, as an example of a property of another kind.
        let list = [0x1094, 17, 0x1093, 3, 0];
        // SAFETY: the list ends with 0.
        let out = unsafe { properties(list.as_ptr(), false) };
        assert_eq!(out, list);
        // SAFETY: null is allowed.
        assert!(unsafe { properties(null(), true) }.is_empty());
    }

    #[test]
    fn a_platform_that_is_none_becomes_null_and_the_rest_stays() {
        let list = [0x2008, 5, CONTEXT_PLATFORM, 0x1000, 0];
        // SAFETY: the list ends with 0.
        let out = unsafe { properties(list.as_ptr(), true) };
        assert_eq!(out, [0x2008, 5, CONTEXT_PLATFORM, 0, 0]);
    }

    #[test]
    fn a_device_that_is_none_does_not_end_the_list() {
        let list = [DEVICE_LISTS[0], 0x1000, 0, 7, 8, 0];
        // SAFETY: both lists end with 0.
        let out = unsafe { properties(list.as_ptr(), false) };
        assert_eq!(out, [DEVICE_LISTS[0], usize::MAX, 0, 7, 8, 0]);
    }

    #[test]
    fn lists_are_passed_on_empty_and_refuse_what_is_none() {
        let handles = [0x40 as Handle; 20];
        // SAFETY: the array has as many.
        let empty = unsafe { List::new(0, handles.as_ptr(), Kind::Event) };
        assert_eq!(empty.pointer(), handles.as_ptr());
        assert!(!empty.has_null());
        for count in [1, 20] {
            // SAFETY: the array has as many.
            let list = unsafe { List::new(count, handles.as_ptr(), Kind::Event) };
            // SAFETY: it is still there.
            assert!(list.has_null() && unsafe { list.has_stranger() });
        }
        let nulls = [null_mut(); 20];
        // SAFETY: the array has as many, and is still there.
        unsafe {
            let list = List::new(20, nulls.as_ptr(), Kind::Mem);
            assert!(list.has_null() && !list.has_stranger());
        }
    }
}
