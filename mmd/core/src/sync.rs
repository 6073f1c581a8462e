//! The locks and threads of what `tests/concurrent.rs` tries in every order: there they are loom's.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::{ThreadId, current};
