// SPDX-License-Identifier: Apache-2.0
// From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit.

//! The vendor's functions, and places in the dispatch table.

pub(crate) mod slot;
pub(crate) mod vendor;
