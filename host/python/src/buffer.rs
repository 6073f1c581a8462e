//! The buffer protocol, for memory of any element type.

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_char;
use std::mem::{ManuallyDrop, MaybeUninit};

/// Memory that an object has exported. The object keeps it in place until this is dropped.
pub(crate) struct Buffer {
    view: Box<ffi::Py_buffer>,
    /// The view's own reference, which is released with the view.
    exporter: Option<ManuallyDrop<Py<PyAny>>>,
}

// SAFETY: a view may be released by any thread that has the interpreter's lock, which `drop` takes; the numbers in it
// do not change ("Buffer Protocol", Python/C API).
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Returns the memory of an object, if it has the buffer protocol.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(MaybeUninit::<ffi::Py_buffer>::zeroed());
        // SAFETY: there is room for a view, and the object is one.
        let code = unsafe {
            ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_FULL_RO)
        };
        if code != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: the call has filled it in.
        let view = unsafe { view.assume_init() };
        // SAFETY: `obj` is null or a reference to the object that exports the memory; it is dropped by the view alone.
        let exporter = unsafe { Py::from_owned_ptr_or_opt(object.py(), view.obj) };
        Ok(Self {
            view,
            exporter: exporter.map(ManuallyDrop::new),
        })
    }

    /// Returns the object that owns the memory.
    pub(crate) fn exporter(&self) -> Option<&Py<PyAny>> {
        self.exporter.as_deref()
    }

    pub(crate) fn address(&self) -> u64 {
        self.view.buf.expose_provenance() as u64
    }

    pub(crate) fn length(&self) -> u64 {
        self.view.len.unsigned_abs() as u64
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.view.readonly != 0
    }

    /// Returns whether its elements lie one after the other, the last dimension first.
    pub(crate) fn is_compact(&self) -> bool {
        // SAFETY: the view is valid.
        unsafe { ffi::PyBuffer_IsContiguous(&raw const *self.view, b'C' as c_char) != 0 }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the view is released once, with the lock.
        Python::attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.view) });
    }
}
