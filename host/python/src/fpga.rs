//! FPGA memory.

use crate::error::invalid;
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// An opened device's identity. It does not keep the device open.
#[derive(Clone, Default)]
pub(crate) struct Owner(Arc<()>);

/// FPGA memory of a device, for as long as the device is open.
#[pyclass(frozen, module = "peerlane")]
pub(crate) struct FpgaMemory(Range<u64>, Owner);

impl FpgaMemory {
    pub(crate) fn new(range: Range<u64>, owner: Owner) -> Self {
        Self(range, owner)
    }
}

#[pymethods]
impl FpgaMemory {
    #[getter]
    fn address(&self) -> u64 {
        self.0.start
    }

    pub(crate) fn __len__(&self) -> usize {
        (self.0.end - self.0.start) as usize
    }

    fn __repr__(&self) -> String {
        format!(
            "<peerlane.FpgaMemory {:#x}..{:#x}>",
            self.0.start, self.0.end
        )
    }
}

/// An address of FPGA memory: a number, or the first address of a memory.
#[derive(FromPyObject)]
pub(crate) enum Place<'py> {
    Memory(Bound<'py, FpgaMemory>),
    Address(u64),
}

impl Place<'_> {
    /// Returns the address, for a device, to which the memory must belong.
    pub(crate) fn address(&self, py: Python<'_>, owner: &Owner) -> PyResult<u64> {
        match self {
            Self::Memory(memory) if Arc::ptr_eq(&memory.get().1.0, &owner.0) => {
                Ok(memory.get().address())
            }
            Self::Memory(_) => {
                let hint = "Allocate it with the device that moves the data.";
                Err(invalid(py, "FPGA memory of another device", hint))
            }
            Self::Address(address) => Ok(*address),
        }
    }
}
