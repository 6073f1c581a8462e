//! Memory that the board reaches.

use crate::error::{closed, invalid, told, told_of_gpu};
use crate::fpga::Place;
use crate::source::{Keep, Kind, Source};
use peerlane_gpu::Gpu;
use peerlane_gpu::amd::AmdGpu;
use peerlane_host::peerlane_core::uapi::PROBE_BYTES;
use peerlane_host::{Device, Permissions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// A region, and what keeps its memory. Whoever moves data with it has it, too.
pub(crate) struct Registered {
    pub(crate) region: peerlane_host::Region,
    /// Where the memory begins in the region.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// After the region: until then the board may reach it. A dma-buf is kept by the driver.
    _keep: Option<Keep>,
}

/// Memory of another object that the board reaches.
#[pyclass(frozen, weakref, module = "peerlane")]
pub(crate) struct Region {
    registered: Mutex<Option<Arc<Registered>>>,
    length: u64,
    is_gpu: bool,
}

impl Region {
    pub(crate) fn new(
        py: Python<'_>,
        device: &Device,
        source: Source,
        permissions: Permissions,
    ) -> PyResult<Self> {
        let (address, length) = (source.address, source.length);
        let (region, offset) = match source.kind {
            Kind::Host => {
                // SAFETY: the memory stays where it is while `keep` is there, which is dropped after the region and after
                // the transfers with it. What other threads do with it meanwhile is as with any library of C's.
                let register = || unsafe { device.register_address(address, length, permissions) };
                (told(py, py.detach(register))?, 0)
            }
            Kind::Cuda(number) => {
                let open = || Gpu::open(number.map_or_else(|| Gpu::number_of(address), Ok)?);
                let gpu = told_of_gpu(py, py.detach(open))?;
                // SAFETY: as above; other bytes of the allocation are written by nobody.
                let register = || unsafe { gpu.register(device, address, length, permissions) };
                let region = told_of_gpu(py, py.detach(register))?;
                (region.region().clone(), region.offset())
            }
            Kind::Rocm(number) => {
                let gpu = told_of_gpu(py, py.detach(|| AmdGpu::open(number)))?;
                // SAFETY: as above.
                let register = || unsafe { gpu.register(device, address, length, permissions) };
                let region = told_of_gpu(py, py.detach(register))?;
                (region.region().clone(), region.offset())
            }
        };
        Ok(Self {
            registered: Mutex::new(Some(Arc::new(Registered {
                region,
                offset,
                length,
                _keep: Some(source.keep),
            }))),
            length,
            is_gpu: source.kind != Kind::Host,
        })
    }

    /// A part of a dma-buf, whose descriptor nobody closes meanwhile.
    pub(crate) fn of_dmabuf(
        py: Python<'_>,
        device: &Device,
        (file, offset, length): (BorrowedFd<'_>, u64, u64),
        permissions: Permissions,
    ) -> PyResult<Self> {
        let register = || device.register_dmabuf(file, offset, length, permissions);
        let region = told(py, py.detach(register))?;
        Ok(Self {
            registered: Mutex::new(Some(Arc::new(Registered {
                region,
                offset: 0,
                length,
                _keep: None,
            }))),
            length,
            is_gpu: true,
        })
    }

    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<Arc<Registered>> {
        let registered = self
            .registered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        registered.clone().ok_or_else(|| closed(py, "the region"))
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
        let local = fpga.address();
        // A GPU's region has whole pages around the memory.
        let end = offset.checked_add(PROBE_BYTES as u64);
        if end.is_none_or(|end| end > registered.length) {
            let text = format!(
                "{PROBE_BYTES} bytes at {offset} do not lie in a region of {} bytes",
                registered.length
            );
            return Err(invalid(py, &text, "Name bytes inside of the region."));
        }
        let at = registered.offset + offset;
        let found = told(py, py.detach(|| registered.region.probe(at, local)))?;
        Ok(PyBytes::new(py, &found))
    }

    fn close(&self) {
        let mut registered = self
            .registered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let registered = registered.take();
        drop(registered);
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
