//! An OpenCL side for unit tests, with configurable answers.

use peerlane_host::{Area, Errno, Error, OpenCl, Result};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Answers of a side: those of the next calls first, and afterwards it does its work.
#[derive(Debug, Default)]
pub(crate) struct Stub {
    /// Answers of `arm`.
    pub(crate) arms: Answers,
    /// Answers of `wait`.
    pub(crate) waits: Answers,
    /// Answers of `read` and `write`.
    pub(crate) accesses: Answers,
    /// There is always an interrupt.
    pub(crate) interrupts: bool,
    /// The wait for an interrupt returns at once.
    pub(crate) at_once: bool,
    /// Bytes that were written last.
    pub(crate) written: Mutex<Vec<u8>>,
    /// Times that the board was reset.
    pub(crate) resets: AtomicU64,
}

/// Answers to come, and the number of calls.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<(VecDeque<Error>, usize)>);

impl Answers {
    /// Makes the next calls fail with these errors.
    pub(crate) fn of(errors: impl IntoIterator<Item = Error>) -> Self {
        Self(Mutex::new((errors.into_iter().collect(), 0)))
    }

    fn next(&self) -> Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 += 1;
        state.0.pop_front().map_or(Ok(()), Err)
    }

    /// Returns the number of calls.
    pub(crate) fn asked(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// Makes the error of the kernel's driver with this number.
pub(crate) fn refused(source: Errno) -> Error {
    let call = "the stub";
    Error::Call { call, source }
}

impl OpenCl for Stub {
    fn bytes(&self, _: Area) -> u64 {
        0x4000
    }

    fn read(&self, _: Area, _: u64, data: &mut [u8]) -> Result<()> {
        self.accesses.next()?;
        data.fill(0x5a);
        Ok(())
    }

    fn write(&self, _: Area, _: u64, data: &[u8]) -> Result<()> {
        self.accesses.next()?;
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = data.to_vec();
        Ok(())
    }

    fn arm(&self) -> Result<()> {
        self.arms.next()
    }

    /// Waits only a millisecond.
    fn wait(&self, _: Option<Duration>) -> Result<bool> {
        self.waits.next()?;
        if !self.at_once {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(self.interrupts)
    }

    fn wake(&self) {}

    fn reprogram(&self, _: bool, image: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        image()
    }

    fn resets(&self) -> Result<u64> {
        Ok(self.resets.load(Ordering::SeqCst))
    }
}
