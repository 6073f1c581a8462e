//! Queues and transfers.

use crate::error::{invalid, late, told, told_of_end, told_of_transfer};
use crate::fpga::{FpgaMemory, Place};
use crate::region::{Region, Registered};
use peerlane_host::{Direction, Error, Request, Terms};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a wait goes on before signals are looked at.
const SLICE: Duration = Duration::from_millis(100);

/// A transfer with the memory that it moves. The queue has it until it has ended: a handle that is dropped must not free
/// memory that the board still writes.
struct Moving {
    /// Dropped before the memory.
    transfer: Arc<peerlane_host::Transfer>,
    memory: Py<Registered>,
}

impl Moving {
    /// Whether the board has it no more. A queue that fails has not ended it.
    fn has_ended(&self) -> bool {
        // Takes note of what the board has told.
        let _ = self.transfer.poll();
        self.transfer.has_ended()
    }
}

/// The queue of a device's channel.
#[pyclass(frozen, weakref, module = "peerlane")]
pub(crate) struct Queue {
    queue: peerlane_host::Queue,
    moving: Mutex<Vec<Moving>>,
}

impl Drop for Queue {
    fn drop(&mut self) {
        // All handles of its transfers are gone: they have the queue.
        self.stop();
    }
}

impl Queue {
    pub(crate) fn new(queue: peerlane_host::Queue) -> Self {
        Self {
            queue,
            moving: Mutex::default(),
        }
    }

    fn moving(&self) -> MutexGuard<'_, Vec<Moving>> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops what is under way and nobody waits for, and lets go of its memory: none is freed under the board.
    fn stop(&self) {
        // A child of a fork has the object, and none of the transfers.
        let goes_on = self.queue.is_inherited()
            || self.queue.under_way() > 0 && self.queue.restart().is_err();
        let moving = std::mem::take(&mut *self.moving());
        if goes_on {
            std::mem::forget(moving);
        }
    }

    /// Lets go of the memory of transfers that have ended.
    fn sweep(&self) {
        let ended = {
            let mut moving = self.moving();
            let (ended, keep): (Vec<_>, Vec<_>) = moving.drain(..).partition(Moving::has_ended);
            *moving = keep;
            ended
        };
        drop(ended);
    }

    fn submit(
        slf: &Bound<'_, Self>,
        direction: Direction,
        region: &Bound<'_, Region>,
        fpga_address: u64,
        (offset, length): (u64, Option<u64>),
        terms: Terms,
    ) -> PyResult<Transfer> {
        let py = slf.py();
        let memory = region.get().get(py)?;
        let registered = memory.get();
        let length = match length {
            Some(length) => length,
            None => registered.length.saturating_sub(offset),
        };
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > registered.length) {
            let text = format!(
                "{length} bytes at {offset} do not lie in a region of {} bytes",
                registered.length
            );
            return Err(invalid(py, &text, "Name bytes inside of the region."));
        }
        let queue = slf.get();
        queue.sweep();
        let request = Request {
            direction,
            region: &registered.region,
            offset: registered.offset + offset,
            fpga_address,
            length,
            piece: None,
        };
        let transfer = Arc::new(told_of_transfer(
            py,
            queue.queue.submit_with(&request, terms),
        )?);
        queue.moving().push(Moving {
            transfer: Arc::clone(&transfer),
            memory,
        });
        Ok(Transfer {
            transfer,
            queue: slf.clone().unbind(),
        })
    }
}

fn terms(after_writes: bool, after_reads: bool, urgent: bool) -> Terms {
    Terms {
        after_writes,
        after_reads,
        urgent,
        no_flush: false,
    }
}

/// A limit in seconds. As with Python's own: less than none is refused, and infinity, or more than any time, is none.
fn limit(py: Python<'_>, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    match seconds {
        None => Ok(None),
        Some(seconds) if seconds >= 0.0 => Ok(Duration::try_from_secs_f64(seconds).ok()),
        Some(seconds) => {
            let text = format!("{seconds} s is no time to wait");
            let remedy = "Give 0 or more, or None to wait for as long as it takes.";
            Err(invalid(py, &text, remedy))
        }
    }
}

/// Waits in slices, without the interpreter's lock, so that signals are heard. The board's time may be another than ours, so
/// the slices are counted.
fn wait<T: Send>(
    py: Python<'_>,
    limit: Option<Duration>,
    step: impl Fn(Duration) -> peerlane_host::Result<T> + Send + Sync,
) -> PyResult<T> {
    let mut left = limit;
    loop {
        let slice = left.map_or(SLICE, |left| left.min(SLICE));
        let result = py.detach(|| step(slice));
        let goes_on = matches!(
            result,
            Err(Error::Timeout { .. } | Error::NotDrained { .. })
        );
        left = left.map(|left| left.saturating_sub(slice));
        match (goes_on, left) {
            (false, _) => return told_of_transfer(py, result),
            (true, Some(Duration::ZERO)) => return Err(late(py, limit.unwrap_or_default())),
            (true, _) => py.check_signals()?,
        }
    }
}

#[pymethods]
impl Queue {
    #[pyo3(signature = (region, fpga, *, offset = 0, length = None, after_writes = false, after_reads = false, urgent = false))]
    #[allow(clippy::too_many_arguments, reason = "most are given by name")]
    fn write(
        slf: &Bound<'_, Self>,
        region: &Bound<'_, Region>,
        fpga: Place<'_>,
        offset: u64,
        length: Option<u64>,
        after_writes: bool,
        after_reads: bool,
        urgent: bool,
    ) -> PyResult<Transfer> {
        let terms = terms(after_writes, after_reads, urgent);
        let direction = Direction::Write;
        Self::submit(
            slf,
            direction,
            region,
            fpga.address(),
            (offset, length),
            terms,
        )
    }

    #[pyo3(signature = (region, fpga, *, offset = 0, length = None, after_writes = false, after_reads = false, urgent = false))]
    #[allow(clippy::too_many_arguments, reason = "most are given by name")]
    fn read(
        slf: &Bound<'_, Self>,
        region: &Bound<'_, Region>,
        fpga: Place<'_>,
        offset: u64,
        length: Option<u64>,
        after_writes: bool,
        after_reads: bool,
        urgent: bool,
    ) -> PyResult<Transfer> {
        let terms = terms(after_writes, after_reads, urgent);
        let direction = Direction::Read;
        Self::submit(
            slf,
            direction,
            region,
            fpga.address(),
            (offset, length),
            terms,
        )
    }

    fn copy(
        slf: &Bound<'_, Self>,
        destination: &Bound<'_, PyAny>,
        source: &Bound<'_, PyAny>,
    ) -> PyResult<Transfer> {
        let (to, from) = (
            destination.cast::<FpgaMemory>(),
            source.cast::<FpgaMemory>(),
        );
        let (direction, fpga, region) = match (to, from) {
            (Ok(to), Err(_)) => (Direction::Read, to, source),
            (Err(_), Ok(from)) => (Direction::Write, from, destination),
            _ => {
                let text = "one of destination and source is FpgaMemory, and the other a Region";
                return Err(PyTypeError::new_err(text));
            }
        };
        let region = region.cast::<Region>()?;
        // FPGA memory is rounded up, so it may have more.
        let (length, room) = (region.len()?, fpga.get().__len__());
        if length > room {
            let text = format!("a region of {length} bytes, and {room} bytes of FPGA memory");
            let remedy =
                "Allocate as much, or name a part of the region by read() or write() with length.";
            return Err(invalid(slf.py(), &text, remedy));
        }
        let all = (0, Some(length as u64));
        let address = fpga.get().address();
        Self::submit(slf, direction, region, address, all, Terms::default())
    }

    #[pyo3(signature = (timeout = None))]
    fn drain(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let limit = limit(py, timeout)?;
        let result = wait(py, limit, |slice| self.queue.drain(slice));
        self.sweep();
        result
    }

    fn restart(&self, py: Python<'_>) -> PyResult<()> {
        let restarted = py.detach(|| self.queue.restart());
        self.sweep();
        told_of_end(py, restarted)
    }

    #[getter]
    fn under_way(&self) -> usize {
        self.queue.under_way()
    }

    fn turn(&self, py: Python<'_>) -> PyResult<()> {
        let turned = self.queue.turn();
        self.sweep();
        told_of_transfer(py, turned)
    }

    #[getter]
    fn next_turn(&self) -> f64 {
        self.queue.next_turn().as_secs_f64()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// What was begun has come to an end behind the block: by itself, or stopped after an exception, which goes on.
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if self.queue.is_inherited() {
            return Ok(());
        }
        if kind.is_none() {
            return self.drain(py, None);
        }
        if self.queue.under_way() > 0 {
            // The exception says more than what becomes of the queue.
            let _ = self.restart(py);
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        let (name, under_way) = (self.queue.device().name(), self.queue.under_way());
        format!("<peerlane.Queue of {name}, {under_way} under way>")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What another thread is looking at is no garbage; nor is memory that the board may still reach.
        let Ok(moving) = self.moving.try_lock() else {
            return Ok(());
        };
        let mut ended = moving.iter().filter(|moving| moving.has_ended());
        ended.try_for_each(|moving| visit.call(&moving.memory))
    }

    fn __clear__(&self) {
        self.stop();
    }

    /// For `_asyncio.py`: what can be polled, where there is something.
    fn _fileno(&self) -> Option<i32> {
        self.queue.device().file().map(|file| file.as_raw_fd())
    }

    /// For `_asyncio.py`: waits for an event.
    fn _await_event(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let limit = limit(py, Some(seconds))?;
        told(py, py.detach(|| self.queue.device().poll(limit)))
    }
}

/// A transfer.
#[pyclass(frozen, weakref, module = "peerlane")]
pub(crate) struct Transfer {
    transfer: Arc<peerlane_host::Transfer>,
    /// It has the memory.
    queue: Py<Queue>,
}

#[pymethods]
impl Transfer {
    fn poll(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        told_of_transfer(py, self.transfer.poll())
    }

    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<u64> {
        let limit = limit(py, timeout)?;
        let moved = wait(py, limit, |slice| self.transfer.wait(slice));
        self.queue.get().sweep();
        moved
    }

    #[pyo3(signature = (grace = 0.0))]
    fn stop(&self, py: Python<'_>, grace: f64) -> PyResult<u64> {
        // Infinity is for who would wait without a limit.
        let grace = limit(py, Some(grace))?.unwrap_or(Duration::MAX);
        let stopped = py.detach(|| self.transfer.stop(grace));
        self.queue.get().sweep();
        match self.transfer.has_ended() {
            // Its data may be on their way, and to call it off once more proves no more.
            true => told_of_transfer(py, stopped),
            false => told_of_end(py, stopped),
        }
    }

    /// It has no `__clear__`: the queue it has is never another's.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.queue)
    }

    #[getter]
    fn queue(&self, py: Python<'_>) -> Py<Queue> {
        self.queue.clone_ref(py)
    }

    fn __len__(&self) -> usize {
        self.transfer.length() as usize
    }

    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("peerlane._asyncio")?;
        let ended = module.getattr("ended")?.call1((slf,))?;
        ended.call_method0("__await__")
    }

    fn __repr__(&self) -> String {
        let transfer = &self.transfer;
        let way = match transfer.direction() {
            Direction::Write => "from",
            Direction::Read => "to",
        };
        let bytes = transfer.length();
        let state = if transfer.has_ended() {
            "ended"
        } else {
            "under way"
        };
        format!("<peerlane.Transfer of {bytes} bytes {way} the FPGA, {state}>")
    }
}
