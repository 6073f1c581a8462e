//! `libpeerlane.so`: `peerlane-host` for C. The documentation of each function goes into `include/libpeerlane.h`.

#![allow(
    non_camel_case_types,
    reason = "types have the names that C programs see"
)]

mod error;
mod handles;
mod transfer;

pub use error::*;
pub use handles::*;
pub use transfer::*;

/// Version of this interface: 1. A program compares it with `PL_VERSION` of its header; functions and error
/// numbers are only added under one version.
pub const PL_VERSION: u32 = 1;

/// Returns the library's version of this interface. Thread-safe; cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn pl_version() -> u32 {
    PL_VERSION
}
