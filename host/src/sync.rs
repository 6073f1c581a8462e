//! The atomics of the code that `tests/concurrent.rs` runs in every order: there they are loom's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
