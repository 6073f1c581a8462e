//! Memory that the board reaches.

use crate::Open;
use crate::error::{closed, invalid, told, told_of_gpu};
use crate::exit::detached;
use crate::fpga::{Owner, Place};
use crate::source::{Keep, Kind, Source};
use peerlane_gpu::Gpu;
use peerlane_gpu::amd::AmdGpu;
use peerlane_host::Permissions;
use peerlane_host::peerlane_core::uapi::PROBE_BYTES;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::btree_map::Entry;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, PoisonError};

/// A region, and the object that keeps its memory. All code that moves data with it has a reference. It is a Python
/// object, so that the garbage collector counts these references.
#[pyclass(frozen, module = "peerlane")]
pub(crate) struct Registered {
    /// `None` while this is dropped.
    region: Option<peerlane_host::Region>,
    /// Offset of the memory in the region.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    owner: Owner,
    /// The GPU, for memory of an AMD GPU: data that the board writes there must be flushed.
    amd: Option<AmdGpu>,
    /// Dropped after the region: until then the board may reach the memory. The driver keeps a dma-buf itself.
    keep: Option<Keep>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        // The driver may wait for the board.
        let region = self.region.take();
        Python::attach(|py| detached(py, || drop(region)));
    }
}

impl Registered {
    /// Returns the region at the board.
    pub(crate) fn region(&self, py: Python<'_>) -> PyResult<&peerlane_host::Region> {
        self.region.as_ref().ok_or_else(|| closed(py, "the region"))
    }
}

/// There is no `__clear__`, because it would release the memory before the region. The owners of this break cycles.
#[pymethods]
impl Registered {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.keep.as_ref().map_or(Ok(()), |keep| keep.visit(&visit))
    }
}

/// Memory of another object that the board reaches.
#[pyclass(frozen, weakref, module = "peerlane")]
pub(crate) struct Region {
    registered: Mutex<Option<Py<Registered>>>,
    length: u64,
    is_gpu: bool,
}

impl Region {
    pub(crate) fn new(
        py: Python<'_>,
        open: &Open,
        source: Source,
        permissions: Permissions,
    ) -> PyResult<Self> {
        let device = &open.device;
        let (address, length) = (source.address, source.length);
        let mut amd = None;
        let (region, offset) = match source.kind {
            Kind::Host => {
                // SAFETY: the memory stays in place while `keep` exists, which is dropped after the region and after
                // the transfers with it. Concurrent accesses of other threads are as with any library of C.
                let register = || unsafe { device.register_address(address, length, permissions) };
                (told(py, detached(py, register))?, 0)
            }
            Kind::Cuda(number) => {
                let find = || {
                    let number = number.map_or_else(|| Gpu::number_of(address), Ok)?;
                    let mut gpus = open.gpus.lock().unwrap_or_else(PoisonError::into_inner);
                    Ok(match gpus.entry(number) {
                        Entry::Occupied(known) => known.get().clone(),
                        Entry::Vacant(place) => place.insert(Gpu::open(number)?).clone(),
                    })
                };
                let gpu = told_of_gpu(py, detached(py, find))?;
                // SAFETY: as above; the board writes no other bytes of the allocation.
                let register = || unsafe { gpu.register(device, address, length, permissions) };
                let region = told_of_gpu(py, detached(py, register))?;
                (region.pages().clone(), region.offset())
            }
            Kind::Rocm(number) => {
                let gpu = told_of_gpu(py, detached(py, || AmdGpu::open(number)))?;
                // SAFETY: as above.
                let register = || unsafe { gpu.register(device, address, length, permissions) };
                let region = told_of_gpu(py, detached(py, register))?;
                amd = Some(gpu);
                (region.pages().clone(), region.offset())
            }
        };
        let registered = Registered {
            region: Some(region),
            offset,
            length,
            owner: open.owner.clone(),
            amd,
            keep: Some(source.keep),
        };
        Self::over(py, registered, source.kind != Kind::Host)
    }

    /// Registers a part of a dma-buf, whose descriptor stays open during the call.
    pub(crate) fn of_dmabuf(
        py: Python<'_>,
        open: &Open,
        (file, offset, length): (BorrowedFd<'_>, u64, u64),
        permissions: Permissions,
    ) -> PyResult<Self> {
        let register = || (open.device).register_dmabuf(file, offset, length, permissions);
        let region = told(py, detached(py, register))?;
        let registered = Registered {
            region: Some(region),
            offset: 0,
            length,
            owner: open.owner.clone(),
            amd: None,
            keep: None,
        };
        Self::over(py, registered, true)
    }

    fn over(py: Python<'_>, registered: Registered, is_gpu: bool) -> PyResult<Self> {
        let length = registered.length;
        Ok(Self {
            registered: Mutex::new(Some(Py::new(py, registered)?)),
            length,
            is_gpu,
        })
    }

    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<Py<Registered>> {
        let registered = self
            .registered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let registered = registered.as_ref().map(|held| held.clone_ref(py));
        registered.ok_or_else(|| closed(py, "the region"))
    }
}

#[pymethods]
impl Region {
    fn __len__(&self) -> usize {
        self.length as usize
    }

    #[getter]
    fn is_gpu(&self) -> bool {
        self.is_gpu
    }

    #[pyo3(signature = (fpga, *, offset = 0))]
    fn probe<'py>(
        &self,
        py: Python<'py>,
        fpga: Place<'_>,
        offset: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let registered = self.get(py)?;
        let registered = registered.get();
        let local = fpga.address(py, &registered.owner)?;
        // A GPU's region has whole pages around the memory.
        let end = offset.checked_add(PROBE_BYTES as u64);
        if end.is_none_or(|end| end > registered.length) {
            let text = format!(
                "{PROBE_BYTES} bytes at {offset} do not lie in a region of {} bytes",
                registered.length
            );
            return Err(invalid(py, &text, "Name bytes inside the region."));
        }
        let at = registered.offset + offset;
        let region = registered.region(py)?;
        let found = told(py, detached(py, || region.probe(at, local)))?;
        Ok(PyBytes::new(py, &found))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let registered = self.get(py)?;
        match &registered.get().amd {
            Some(gpu) => told_of_gpu(py, detached(py, || gpu.flush())),
            None => Ok(()),
        }
    }

    fn close(&self) {
        let registered = (self.registered.lock())
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // Without the lock: the drop of the object runs code of its own, which may call this again.
        drop(registered);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // An object in use by another thread is not garbage.
        let held = self.registered.try_lock();
        held.map_or(Ok(()), |held| visit.call(held.as_ref()))
    }

    fn __clear__(&self) {
        self.close();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        _type: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let whose = if self.is_gpu { "a GPU" } else { "the host" };
        format!("<peerlane.Region of {} bytes of {whose}>", self.length)
    }
}
