//! Sources of registrations: memory of other Python objects.

use crate::buffer::Buffer;
use crate::error;
use pyo3::exceptions::PyBufferError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use std::ffi::{c_int, c_void};

/// Owner of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Host,
    /// Memory of CUDA, of the GPU with this number; `None`: CUDA has to report the GPU.
    Cuda(Option<usize>),
    /// Memory of the AMD GPU with this number.
    Rocm(usize),
}

/// Reference that keeps memory in place. The memory may be freed when this is dropped.
pub(crate) enum Keep {
    Buffer(Buffer),
    Object(Py<PyAny>),
    /// A tensor: the capsule calls its deleter, because it was not consumed. The objects that the tensor keeps are
    /// unknown.
    Tensor(Py<PyCapsule>),
}

impl Keep {
    /// Shows the object to the garbage collector.
    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Buffer(buffer) => visit.call(buffer.exporter()),
            Self::Object(object) => visit.call(object),
            Self::Tensor(capsule) => visit.call(capsule),
        }
    }
}

/// Memory of another object.
pub(crate) struct Source {
    pub(crate) kind: Kind,
    pub(crate) address: u64,
    pub(crate) length: u64,
    pub(crate) keep: Keep,
}

// DLPack, `dlpack.h` of version 0.8: a device's type, and the tensor that a capsule "dltensor" has.
const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;
const ROCM: i32 = 10;
const CUDA_MANAGED: i32 = 13;

impl Kind {
    /// Returns the kind of DLPack's device.
    fn of(py: Python<'_>, device: (i32, usize)) -> PyResult<Self> {
        let (kind, number) = device;
        let (text, hint) = match kind {
            CPU | CUDA_HOST => return Ok(Self::Host),
            CUDA => return Ok(Self::Cuda(Some(number))),
            ROCM => return Ok(Self::Rocm(number)),
            CUDA_MANAGED => (
                "the tensor is in CUDA's managed memory, which moves between host and GPU".into(),
                "Copy it to memory that stays on the GPU or the host.",
            ),
            other => (
                format!("the tensor is on a device of DLPack's type {other}"),
                "Give a tensor of the host or of an NVIDIA or AMD GPU. Register other memory as a \
                 dma-buf that its driver exports: Device.register_dmabuf.",
            ),
        };
        Err(error::unsupported(py, &text, hint))
    }
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// Returns whether elements lie without gaps, the last dimension first.
fn is_compact(shape: &[i64], strides: Option<&[i64]>, unit: i64) -> bool {
    let Some(strides) = strides else {
        return true;
    };
    let mut expected = unit;
    shape.iter().zip(strides).rev().all(|(&length, &stride)| {
        let fits = length <= 1 || stride == expected;
        expected = expected.saturating_mul(length.max(1));
        fits
    })
}

/// Returns the bytes of all elements of this shape.
fn bytes(py: Python<'_>, shape: &[i64], element: u64) -> PyResult<u64> {
    let all = shape.iter().try_fold(element, |all, &length| {
        all.checked_mul(u64::try_from(length).ok()?)
    });
    all.ok_or_else(|| error::invalid(py, "an array of an impossible size", "Give another array."))
}

fn gaps(py: Python<'_>) -> PyErr {
    let text = "the array's elements are not contiguous";
    error::invalid(
        py,
        text,
        "Give a contiguous copy: numpy.ascontiguousarray, or contiguous().",
    )
}

fn read_only(py: Python<'_>) -> PyErr {
    let text = "the memory is read-only, and the board was to write it";
    error::invalid(
        py,
        text,
        "Register it with write=False, or give a writable object.",
    )
}

impl Source {
    /// Finds the memory of an object: by the buffer protocol, `__dlpack__` or `__cuda_array_interface__`.
    pub(crate) fn of(object: &Bound<'_, PyAny>, write: bool) -> PyResult<Self> {
        let py = object.py();
        if let Ok(buffer) = Buffer::of(object) {
            return Self::buffer(py, buffer, write);
        }
        // First the interface that keeps the memory, and not only the object: a tensor may get other memory while the
        // object lives.
        if object.hasattr("__dlpack__")? && object.hasattr("__dlpack_device__")? {
            return Self::dlpack(object, write);
        }
        if let Ok(interface) = object.getattr("__cuda_array_interface__") {
            return Self::cuda(object, &interface, write);
        }
        let kind = object.get_type().name()?;
        let text = format!("a {kind} has no memory that can be registered");
        let hint = "Give an object with the buffer protocol, __dlpack__ or \
                      __cuda_array_interface__: a bytearray, a NumPy array, a PyTorch tensor.";
        Err(error::invalid(py, &text, hint))
    }

    fn buffer(py: Python<'_>, buffer: Buffer, write: bool) -> PyResult<Self> {
        if !buffer.is_compact() {
            return Err(gaps(py));
        }
        if write && buffer.is_read_only() {
            return Err(read_only(py));
        }
        Ok(Self {
            kind: Kind::Host,
            address: buffer.address(),
            length: buffer.length(),
            keep: Keep::Buffer(buffer),
        })
    }

    /// Finds memory by Numba's "CUDA Array Interface (Version 3)".
    fn cuda(
        object: &Bound<'_, PyAny>,
        interface: &Bound<'_, PyAny>,
        write: bool,
    ) -> PyResult<Self> {
        let py = object.py();
        let interface = interface.cast::<PyDict>()?;
        let get = |name: &str| -> PyResult<Bound<'_, PyAny>> {
            let text = format!("__cuda_array_interface__ has no {name}");
            let found = interface.get_item(name)?;
            found.ok_or_else(|| error::invalid(py, &text, "See Numba's documentation of it."))
        };
        let (address, fixed): (u64, bool) = get("data")?.extract()?;
        let shape: Vec<i64> = get("shape")?.extract()?;
        let elements: String = get("typestr")?.extract()?;
        // "<f4": the byte order, the kind, the bytes of an element.
        let element = elements
            .get(2..)
            .and_then(|digits| digits.parse::<u64>().ok());
        let element = element.ok_or_else(|| {
            let text = format!("the type {elements:?} of __cuda_array_interface__ is not valid");
            error::invalid(py, &text, "See Numba's documentation of it.")
        })?;
        let strides = match interface.get_item("strides")? {
            Some(strides) if !strides.is_none() => Some(strides.extract::<Vec<i64>>()?),
            _ => None,
        };
        if !is_compact(&shape, strides.as_deref(), element as i64) {
            return Err(gaps(py));
        }
        if write && fixed {
            return Err(read_only(py));
        }
        // Where only this interface exists, the device names the owner of the memory: packages for AMD have the
        // interface, too.
        let kind = match object.hasattr("__dlpack_device__")? {
            true => Kind::of(py, object.call_method0("__dlpack_device__")?.extract()?)?,
            false => Kind::Cuda(None),
        };
        Ok(Self {
            kind,
            address,
            length: bytes(py, &shape, element)?,
            keep: Keep::Object(object.clone().unbind()),
        })
    }

    fn dlpack(object: &Bound<'_, PyAny>, write: bool) -> PyResult<Self> {
        let py = object.py();
        // A capsule of this version does not have this flag.
        let fixed = || -> PyResult<bool> {
            let interface = object.getattr_opt("__cuda_array_interface__")?;
            let data = interface.map(|interface| interface.get_item("data"));
            let data = data.transpose()?.map(|data| data.extract::<(u64, bool)>());
            Ok(data.transpose()?.is_some_and(|(_, fixed)| fixed))
        };
        if write && fixed().unwrap_or(false) {
            return Err(read_only(py));
        }
        let device = object.call_method0("__dlpack_device__")?;
        let device = device.cast::<PyTuple>()?;
        let kind = Kind::of(py, device.extract()?)?;
        let capsule = object.call_method0("__dlpack__").map_err(|refused| {
            // An object that cannot be exported raises this (DLPack's "Python Specification").
            if !refused.is_instance_of::<PyBufferError>(py) {
                return refused;
            }
            let text = format!(
                "__dlpack__ does not give the tensor's memory: {}",
                refused.value(py)
            );
            let hint = "Give a tensor that can be exported: writable, without gradient \
                          (detach()), and not a lazy view.";
            let error = error::invalid(py, &text, hint);
            error.set_cause(py, Some(refused));
            error
        })?;
        let capsule = capsule.cast_into::<PyCapsule>()?;
        let found = capsule.pointer_checked(Some(c"dltensor"))?;
        // SAFETY: a capsule of this name has such a tensor (DLPack's "Python Specification"), for as long as it lives.
        let tensor = unsafe { found.cast::<Tensor>().as_ref() };
        let dimensions = usize::try_from(tensor.dimensions as c_int).unwrap_or(0);
        // SAFETY: shape and strides have `dimensions` numbers; either may be null if it has no numbers.
        let numbers = |at: *const i64| unsafe {
            (!at.is_null()).then(|| std::slice::from_raw_parts(at, dimensions))
        };
        let shape = numbers(tensor.shape).unwrap_or_default();
        let element = element(tensor.bits, tensor.lanes).ok_or_else(|| {
            let text = format!(
                "the tensor's elements have {} times {} bits, and these are not whole bytes",
                tensor.lanes, tensor.bits
            );
            error::unsupported(py, &text, "Give a view of its bytes (dtype uint8).")
        })?;
        if !is_compact(shape, numbers(tensor.strides), 1) {
            return Err(gaps(py));
        }
        let first = tensor.data.expose_provenance() as u64;
        Ok(Self {
            kind,
            address: first + tensor.byte_offset,
            length: bytes(py, shape, element)?,
            keep: Keep::Tensor(capsule.unbind()),
        })
    }
}

/// Returns the bytes of an element of whole bytes: `(bits * lanes + 7) / 8` (dlpack.h, `DLDataType`). Only versions
/// from 1.1 on define the padding of elements of other sizes.
fn element(bits: u8, lanes: u16) -> Option<u64> {
    let all = u64::from(bits) * u64::from(lanes);
    all.is_multiple_of(8).then_some(all / 8)
}
