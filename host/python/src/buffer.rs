//! The buffer protocol, for memory of any element type.

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_char;
use std::mem::MaybeUninit;

/// Memory that an object has given out. The object keeps it where it is until this is dropped.
pub(crate) struct Buffer(Box<ffi::Py_buffer>);

// SAFETY: a view may be released by any thread that has the interpreter's lock, which `drop` takes; the numbers in it do not
// change ("Buffer Protocol", Python/C API).
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// The memory of an object, if it has the buffer protocol.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(MaybeUninit::<ffi::Py_buffer>::zeroed());
        // SAFETY: there is room for a view, and the object is one.
        let code = unsafe {
            ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_FULL_RO)
        };
        match code {
            // SAFETY: the call has filled it in.
            0 => Ok(Self(unsafe { view.assume_init() })),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    pub(crate) fn address(&self) -> u64 {
        self.0.buf.expose_provenance() as u64
    }

    pub(crate) fn length(&self) -> u64 {
        self.0.len.unsigned_abs() as u64
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.0.readonly != 0
    }

    /// Whether its elements lie one behind the other, the last dimension first.
    pub(crate) fn is_compact(&self) -> bool {
        // SAFETY: the view is a good one.
        unsafe { ffi::PyBuffer_IsContiguous(&raw const *self.0, b'C' as c_char) != 0 }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the view is released once, with the lock.
        Python::attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.0) });
    }
}
