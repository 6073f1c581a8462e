//! The atomics of what `tests/concurrent.rs` tries in every order: there they are loom's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
