//! The locks and threads of the code that `tests/concurrent.rs` runs in every order: there they are loom's.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::{ThreadId, current};
