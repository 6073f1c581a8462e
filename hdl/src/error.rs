//! Errors of the generator.

use crate::params::{ParamError, TOP};
use peerlane_verilog::{EmitError, JoinError};

/// Why there is no Verilog.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The parameters cannot be built.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The back-end refused the design: a defect of this crate.
    #[error("the Verilog back-end cannot emit {TOP}: {0}")]
    Emit(#[from] EmitError),
    /// Engine and adapter do not fit: a defect of this crate.
    #[error("the parts of {TOP} do not fit: {0}")]
    Join(#[from] JoinError),
}
