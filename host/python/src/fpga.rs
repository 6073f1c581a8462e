//! FPGA memory.

use pyo3::prelude::*;
use std::ops::Range;

/// FPGA memory of a device's, for as long as that is open.
#[pyclass(frozen, module = "peerlane")]
pub(crate) struct FpgaMemory(Range<u64>);

impl FpgaMemory {
    pub(crate) fn new(range: Range<u64>) -> Self {
        Self(range)
    }
}

#[pymethods]
impl FpgaMemory {
    #[getter]
    pub(crate) fn address(&self) -> u64 {
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

/// An address of FPGA memory: a number, or memory's first.
#[derive(FromPyObject)]
pub(crate) enum Place<'py> {
    Memory(Bound<'py, FpgaMemory>),
    Address(u64),
}

impl Place<'_> {
    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::Memory(memory) => memory.get().address(),
            Self::Address(address) => *address,
        }
    }
}
