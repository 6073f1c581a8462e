//! The buffer protocol, for memory of any element type.

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_char, c_int, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};

/// `Py_buffer`. It and the functions below belong to the stable ABI from CPython 3.11 on, so PyO3 does not declare them
/// for 3.10. But 3.10 has the same ones: Include/cpython/object.h and abstract.h.
#[repr(C)]
struct View {
    buf: *mut c_void,
    obj: *mut ffi::PyObject,
    len: isize,
    itemsize: isize,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut isize,
    strides: *mut isize,
    suboffsets: *mut isize,
    internal: *mut c_void,
}

/// `PyBUF_FULL_RO`.
const FULL_RO: c_int = 0x11c;

unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut ffi::PyObject, view: *mut View, flags: c_int) -> c_int;
    fn PyBuffer_IsContiguous(view: *const View, order: c_char) -> c_int;
    fn PyBuffer_Release(view: *mut View);
}

/// Memory that an object has exported. The object keeps it in place until this is dropped.
pub(crate) struct Buffer {
    view: Box<View>,
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
        let mut view = Box::new(MaybeUninit::<View>::zeroed());
        // SAFETY: there is room for a view, and the object is one.
        let code = unsafe { PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), FULL_RO) };
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
        unsafe { PyBuffer_IsContiguous(&raw const *self.view, b'C' as c_char) != 0 }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the view is released once, with the lock.
        Python::attach(|_| unsafe { PyBuffer_Release(&raw mut *self.view) });
    }
}
