//! Answers of the vendor's that hold handles: the vendor's handles become the program's.

use std::ffi::c_void;

use crate::arguments::{CONTEXT_PLATFORM, DEVICE_LISTS};
use crate::objects::{self, Handle, Kind};

/// Returns the elements of a list of handles.
///
/// # Safety
/// The list has `count` elements, and no other code uses them as long as the result lives.
pub(crate) unsafe fn list<'a>(handles: *mut Handle, count: u32) -> &'a mut [Handle] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(handles, count as usize) }
}

/// Changes each word of an answer, which may be at any address.
///
/// # Safety
/// The answer has `size` bytes.
unsafe fn each(value: *mut c_void, size: usize, mut change: impl FnMut(usize, usize) -> usize) {
    for index in 0..size / size_of::<usize>() {
        // SAFETY: within the answer.
        unsafe {
            let word = value.cast::<usize>().add(index);
            word.write_unaligned(change(index, word.read_unaligned()));
        }
    }
}

/// Translates an answer that is a handle or a list of them.
///
/// # Safety
/// The answer has `size` bytes.
pub(crate) unsafe fn handles(value: *mut c_void, size: usize, kind: Kind, asked: Handle) {
    // SAFETY: the caller's promise.
    unsafe {
        each(value, size, |_, raw| {
            objects::named(raw as Handle, kind, asked) as usize
        });
    }
}

/// Translates an answer that is the properties of a context: pairs, and a 0.
///
/// # Safety
/// The answer has `size` bytes.
pub(crate) unsafe fn context_properties(value: *mut c_void, size: usize, asked: Handle) {
    let mut name = 0;
    let change = |index: usize, word: usize| {
        if index.is_multiple_of(2) {
            name = word;
        } else if name == CONTEXT_PLATFORM {
            return objects::named(word as Handle, Kind::Platform, asked) as usize;
        }
        word
    };
    // SAFETY: the caller's promise.
    unsafe { each(value, size, change) };
}

/// Translates an answer that is properties with lists of devices among them.
///
/// # Safety
/// The answer has `size` bytes.
pub(crate) unsafe fn device_lists(value: *mut c_void, size: usize, asked: Handle) {
    let mut next = Next::Name;
    let change = |_, word: usize| {
        let (then, word) = match (next, word) {
            (Next::Name, name) if DEVICE_LISTS.contains(&name) => (Next::Device, word),
            (Next::Name, _) => (Next::Value, word),
            (Next::Value, _) | (Next::Device, 0) => (Next::Name, word),
            (Next::Device, raw) => {
                let device = objects::named(raw as Handle, Kind::Device, asked);
                (Next::Device, device as usize)
            }
        };
        next = then;
        word
    };
    // SAFETY: the caller's promise.
    unsafe { each(value, size, change) };
}

/// Meaning of the next word of a list of properties.
#[derive(Clone, Copy)]
enum Next {
    Name,
    Value,
    Device,
}
