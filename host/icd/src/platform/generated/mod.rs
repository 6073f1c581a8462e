// SPDX-License-Identifier: Apache-2.0
// From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit.

//! The dispatch table, and the functions in it.

pub(crate) mod extensions;
pub(crate) mod functions;
pub(crate) mod table;
