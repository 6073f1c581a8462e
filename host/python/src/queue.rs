//! Queues and transfers.

use crate::error::{invalid, late, stopped_late, told, told_of_end, told_of_transfer, unsupported};
use crate::exit::{detached, drop_beside, is_exiting};
use crate::fpga::{FpgaMemory, Owner, Place};
use crate::region::{Region, Registered};
use crate::source::{Kind, Source};
use peerlane_host::{CopyOptions, Direction, Error, Request, Terms};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Length of a wait before signals are checked.
const SLICE: Duration = Duration::from_millis(100);

/// The most unreported failures that a queue keeps.
const FAILURES: usize = 16;

/// A transfer with the memory that it moves. The queue keeps it until it has ended: dropping a handle must not free
/// memory that the board still writes.
struct Moving {
    /// Dropped before the memory.
    transfer: Arc<peerlane_host::Transfer>,
    memory: Py<Registered>,
    /// The program knows its result.
    heard: Arc<AtomicBool>,
}

/// Transfers of a queue that are under way, and failures of others.
#[derive(Default)]
struct Transfers {
    /// In the order of submission, writes and reads: the board ends those of a direction in this order.
    moving: [VecDeque<Moving>; 2],
    /// Failures of transfers that have ended. A failure does not count if the program has got it from the transfer.
    failed: Vec<(Arc<AtomicBool>, Error)>,
}

impl Transfers {
    /// Takes out transfers that have ended. A queue that fails has not ended its transfers.
    fn take_ended(&mut self) -> Vec<Moving> {
        let mut ended = Vec::new();
        for moving in &mut self.moving {
            let is_ended = |first: &Moving| first.transfer.has_ended();
            while moving.front().is_some_and(is_ended) {
                ended.extend(moving.pop_front());
            }
        }
        ended
    }

    fn note_failures(&mut self, ended: &[Moving]) {
        for one in ended {
            match one.transfer.result() {
                None | Some(Ok(_)) => {}
                Some(Err(error)) if !one.heard.load(Ordering::Relaxed) => {
                    self.failed
                        .retain(|(heard, _)| !heard.load(Ordering::Relaxed));
                    if self.failed.len() < FAILURES {
                        self.failed.push((Arc::clone(&one.heard), error));
                    }
                }
                Some(Err(_)) => {}
            }
        }
    }

    /// Takes the first failure that the program does not know. Afterwards it knows this one and the others.
    fn take_failure(&mut self) -> Option<Error> {
        let mut failed = std::mem::take(&mut self.failed).into_iter();
        let (heard, error) = failed.find(|(heard, _)| !heard.load(Ordering::Relaxed))?;
        heard.store(true, Ordering::Relaxed);
        Some(error)
    }
}

/// The queue of a device's channel.
#[pyclass(frozen, weakref, module = "peerlane")]
pub(crate) struct Queue {
    queue: peerlane_host::Queue,
    owner: Owner,
    transfers: Mutex<Transfers>,
}

impl Drop for Queue {
    fn drop(&mut self) {
        // All handles of its transfers are gone, because they have references to the queue.
        Python::attach(|py| self.stop(py));
    }
}

impl Queue {
    pub(crate) fn new(queue: peerlane_host::Queue, owner: Owner) -> Self {
        Self {
            queue,
            owner,
            transfers: Mutex::default(),
        }
    }

    fn transfers(&self) -> MutexGuard<'_, Transfers> {
        self.transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops transfers under way that no caller waits for, and releases their memory: no memory is freed while the
    /// board may reach it. At the end of the process the channel is stopped by itself, and the memory is freed after
    /// that.
    fn stop(&self, py: Python<'_>) {
        // A child of a fork has the object, but not the transfers.
        let is_unknown = self.queue.is_inherited() || self.queue.under_way() > 0 && is_exiting();
        let goes_on = is_unknown
            || self.queue.under_way() > 0 && detached(py, || self.queue.restart()).is_err();
        let transfers = std::mem::take(&mut *self.transfers());
        if !goes_on {
            return;
        }
        for one in transfers.moving.into_iter().flatten() {
            // A board that is gone reaches no memory any more.
            let region = one.memory.get().region(py);
            let in_use = |region: &peerlane_host::Region| detached(py, || region.is_in_use());
            if is_unknown || region.is_ok_and(in_use) {
                std::mem::forget(one);
            }
        }
    }

    /// Releases the memory of transfers that have ended.
    fn sweep(&self) {
        let ended = {
            let mut transfers = self.transfers();
            let ended = transfers.take_ended();
            transfers.note_failures(&ended);
            ended
        };
        drop(ended);
    }

    /// Copies memory that is not registered, and returns when that is done. The object keeps its memory in the
    /// meantime.
    fn copy_memory(
        &self,
        direction: Direction,
        object: &Bound<'_, PyAny>,
        fpga: &Place<'_>,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let py = object.py();
        let fpga_address = fpga.address(py, &self.owner)?;
        let source = Source::of(object, direction == Direction::FromFpga)?;
        if source.kind != Kind::Host {
            let text = "a GPU's memory is not copied by way of windows";
            return Err(unsupported(py, text, "Register it: Device.register."));
        }
        let limit = limit(py, timeout)?;
        let (place, options) = ((source.address, source.length), CopyOptions::default());
        // SAFETY: the memory stays in place while `source` exists, which is dropped after the copy. Concurrent accesses
        // of other threads are as with any library of C.
        let begun = unsafe {
            self.queue
                .begin_copy(direction, place, fpga_address, options)
        };
        let copying = Mutex::new(told_of_transfer(py, begun)?);
        let step = |slice| (copying.lock().unwrap_or_else(PoisonError::into_inner)).wait(slice);
        let copied = wait(py, limit, step, stopped_late);
        if copied.is_err() {
            // Transfers that have not ended are stopped. The board may need time for that.
            let stop = move || {
                drop(copying);
                Ok(source)
            };
            drop(end(py, stop)?);
        }
        copied
    }

    fn submit(
        slf: &Bound<'_, Self>,
        direction: Direction,
        region: &Bound<'_, Region>,
        fpga: &Place<'_>,
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
            return Err(invalid(py, &text, "Name bytes inside the region."));
        }
        let queue = slf.get();
        let fpga_address = fpga.address(py, &queue.owner)?;
        queue.sweep();
        let request = Request {
            direction,
            region: registered.region(py)?,
            offset: registered.offset + offset,
            fpga_address,
            length,
            piece: None,
        };
        let submitted = detached(py, || queue.queue.submit_with(&request, terms));
        let transfer = Arc::new(told_of_transfer(py, submitted)?);
        let heard = Arc::default();
        queue.transfers().moving[direction as usize].push_back(Moving {
            transfer: Arc::clone(&transfer),
            memory,
            heard: Arc::clone(&heard),
        });
        Ok(Transfer {
            transfer,
            queue: slf.clone().unbind(),
            heard,
        })
    }
}

fn terms(after_from_fpga: bool, after_to_fpga: bool, urgent: bool) -> Terms {
    Terms {
        after_from_fpga,
        after_to_fpga,
        urgent,
        no_flush: false,
    }
}

/// Returns a limit in seconds. As in Python itself, negative numbers are refused, and infinity, or a number that is too
/// large, means no limit.
fn limit(py: Python<'_>, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    match seconds {
        None => Ok(None),
        Some(seconds) if seconds >= 0.0 => Ok(Duration::try_from_secs_f64(seconds).ok()),
        Some(seconds) => {
            let text = format!("{seconds} s is not a time to wait");
            let hint = "Give 0 or more, or None to wait for as long as it takes.";
            Err(invalid(py, &text, hint))
        }
    }
}

/// Waits in slices, without the interpreter's lock, so that signals are handled. The board's time may differ from ours,
/// so the time of the slices is counted.
fn wait<T: Send>(
    py: Python<'_>,
    limit: Option<Duration>,
    step: impl Fn(Duration) -> peerlane_host::Result<T> + Send + Sync,
    late: impl Fn(Python<'_>, Duration) -> PyErr,
) -> PyResult<T> {
    let mut left = limit;
    loop {
        let slice = left.map_or(SLICE, |left| left.min(SLICE));
        let waited = match detached(py, || step(slice)) {
            Err(Error::Timeout { waited, .. } | Error::NotDrained { waited, .. }) => waited,
            ended => return told_of_transfer(py, ended),
        };
        left = left.map(|left| left.saturating_sub(waited.max(slice)));
        match left {
            Some(Duration::ZERO) => return Err(late(py, limit.unwrap_or_default())),
            _ => py.check_signals()?,
        }
    }
}

/// Ends transfers, in a thread of its own, so that signals are handled: the driver may need ten seconds to start the
/// board. A signal ends the wait, and the thread goes on.
fn end<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> peerlane_host::Result<T> + Send + 'static,
) -> PyResult<peerlane_host::Result<T>> {
    let (send, ended) = mpsc::channel();
    thread::spawn(move || {
        // After a signal there is no receiver.
        if let Err(unheard) = send.send(work()) {
            drop_beside(unheard);
        }
    });
    // Called by one thread at a time: the thread that has the interpreter's lock.
    let ended = Mutex::new(ended);
    loop {
        let next = || {
            let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.recv_timeout(SLICE)
        };
        match detached(py, next) {
            Ok(ended) => return Ok(ended),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(Error::Broken {
                    reason: "the thread that ends transfers panicked".into(),
                }));
            }
        }
    }
}

#[pymethods]
impl Queue {
    #[pyo3(signature = (fpga, region, *, offset = 0, length = None, after_from_fpga = false, after_to_fpga = false, urgent = false))]
    #[allow(clippy::too_many_arguments, reason = "most are given by name")]
    fn from_fpga(
        slf: &Bound<'_, Self>,
        fpga: Place<'_>,
        region: &Bound<'_, Region>,
        offset: u64,
        length: Option<u64>,
        after_from_fpga: bool,
        after_to_fpga: bool,
        urgent: bool,
    ) -> PyResult<Transfer> {
        let terms = terms(after_from_fpga, after_to_fpga, urgent);
        let direction = Direction::FromFpga;
        Self::submit(slf, direction, region, &fpga, (offset, length), terms)
    }

    #[pyo3(signature = (region, fpga, *, offset = 0, length = None, after_from_fpga = false, after_to_fpga = false, urgent = false))]
    #[allow(clippy::too_many_arguments, reason = "most are given by name")]
    fn to_fpga(
        slf: &Bound<'_, Self>,
        region: &Bound<'_, Region>,
        fpga: Place<'_>,
        offset: u64,
        length: Option<u64>,
        after_from_fpga: bool,
        after_to_fpga: bool,
        urgent: bool,
    ) -> PyResult<Transfer> {
        let terms = terms(after_from_fpga, after_to_fpga, urgent);
        let direction = Direction::ToFpga;
        Self::submit(slf, direction, region, &fpga, (offset, length), terms)
    }

    #[pyo3(signature = (source, fpga, timeout = None))]
    fn copy_to_fpga(
        &self,
        source: &Bound<'_, PyAny>,
        fpga: Place<'_>,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        self.copy_memory(Direction::ToFpga, source, &fpga, timeout)
    }

    #[pyo3(signature = (fpga, destination, timeout = None))]
    fn copy_from_fpga(
        &self,
        fpga: Place<'_>,
        destination: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        self.copy_memory(Direction::FromFpga, destination, &fpga, timeout)
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
            (Ok(to), Err(_)) => (Direction::ToFpga, to, source),
            (Err(_), Ok(from)) => (Direction::FromFpga, from, destination),
            _ => {
                let text = "destination and source must be one FpgaMemory and one Region";
                return Err(PyTypeError::new_err(text));
            }
        };
        let region = region.cast::<Region>()?;
        // FPGA memory is rounded up, so it may be larger.
        let (length, room) = (region.len()?, fpga.get().__len__());
        if length > room {
            let text = format!("a region of {length} bytes, and {room} bytes of FPGA memory");
            let hint = "Allocate as much, or name a part of the region by to_fpga() or from_fpga() with length.";
            return Err(invalid(slf.py(), &text, hint));
        }
        let all = (0, Some(length as u64));
        let fpga = Place::Memory(fpga.clone());
        Self::submit(slf, direction, region, &fpga, all, Terms::default())
    }

    #[pyo3(signature = (timeout = None))]
    fn drain(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let limit = limit(py, timeout)?;
        // One mark for all slices: transfers that other threads submit in the meantime are not waited for.
        let mark = told_of_transfer(py, self.queue.mark())?;
        let drained = wait(py, limit, |slice| self.queue.drain_to(mark, slice), late);
        self.sweep();
        drained?;
        let failed = self.transfers().take_failure();
        told_of_transfer(py, failed.map_or(Ok(()), Err))
    }

    fn restart(&self, py: Python<'_>) -> PyResult<()> {
        let queue = self.queue.clone();
        let restarted = end(py, move || queue.restart())?;
        self.sweep();
        // The program has ended the transfers under way, well or not.
        self.transfers().failed.clear();
        told_of_end(py, restarted)
    }

    #[getter]
    fn under_way(&self) -> usize {
        self.queue.under_way()
    }

    #[getter]
    fn statistics(&self) -> Statistics {
        let now = self.queue.statistics();
        Statistics {
            descriptors: now.descriptors,
            stores: now.stores,
            records: now.records,
            system_calls: now.system_calls,
            late_records: now.late_records,
        }
    }

    fn turn(&self, py: Python<'_>) -> PyResult<()> {
        let turned = detached(py, || self.queue.turn());
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

    /// Waits for the transfers of the block, or stops them after an exception, which is then raised.
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
            // The exception is more important than an error of the restart.
            let _ = self.restart(py);
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        let (name, under_way) = (self.queue.device().name(), self.queue.under_way());
        format!("<peerlane.Queue of {name}, {under_way} under way>")
    }

    /// Shows the objects to the garbage collector. It does not call the driver. A child of a fork does not have the
    /// ring of its parent.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if self.queue.is_inherited() {
            return Ok(());
        }
        // An object in use by another thread is not garbage; nor is memory that the board may still reach.
        let Ok(transfers) = self.transfers.try_lock() else {
            return Ok(());
        };
        self.queue.take_note();
        let all = transfers.moving.iter().flatten();
        let mut ended = all.filter(|moving| moving.transfer.has_ended());
        ended.try_for_each(|moving| visit.call(&moving.memory))
    }

    fn __clear__(&self, py: Python<'_>) {
        self.stop(py);
    }

    /// Returns the file that can be polled, where there is one. For `_asyncio.py`.
    fn _fileno(&self) -> Option<i32> {
        self.queue.device().file().map(|file| file.as_raw_fd())
    }

    /// Waits for an event. For `_asyncio.py`.
    fn _await_event(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let limit = limit(py, Some(seconds))?;
        told(py, detached(py, || self.queue.device().poll(limit)))
    }
}

/// Counters of a queue.
#[pyclass(frozen, get_all, module = "peerlane")]
pub(crate) struct Statistics {
    descriptors: u64,
    stores: u64,
    records: u64,
    system_calls: u64,
    late_records: u64,
}

#[pymethods]
impl Statistics {
    fn __repr__(&self) -> String {
        format!(
            "<peerlane.Statistics: {} descriptors, {} stores, {} records, {} system calls, {} late records>",
            self.descriptors, self.stores, self.records, self.system_calls, self.late_records
        )
    }
}

/// A transfer.
#[pyclass(frozen, weakref, module = "peerlane")]
pub(crate) struct Transfer {
    transfer: Arc<peerlane_host::Transfer>,
    /// It keeps the memory.
    queue: Py<Queue>,
    /// The program knows its result.
    heard: Arc<AtomicBool>,
}

impl Transfer {
    /// Notes that the program knows the result of the transfer, if it has ended.
    fn hear(&self) {
        if self.transfer.has_ended() {
            self.heard.store(true, Ordering::Relaxed);
        }
        self.queue.get().sweep();
    }
}

#[pymethods]
impl Transfer {
    fn poll(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let moved = detached(py, || self.transfer.poll());
        self.hear();
        told_of_transfer(py, moved)
    }

    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<u64> {
        let limit = limit(py, timeout)?;
        let moved = wait(py, limit, |slice| self.transfer.wait(slice), late);
        self.hear();
        moved
    }

    #[pyo3(signature = (grace = 0.0))]
    fn stop(&self, py: Python<'_>, grace: f64) -> PyResult<u64> {
        // Infinity means a wait without a limit.
        let grace = limit(py, Some(grace))?.unwrap_or(Duration::MAX);
        let transfer = Arc::clone(&self.transfer);
        // The program ends it itself, also where a signal ends the wait.
        self.heard.store(true, Ordering::Relaxed);
        let stopped = end(py, move || transfer.stop(grace))?;
        self.hear();
        match self.transfer.has_ended() {
            // Its data may be on their way, and calling it off once more proves no more.
            true => told_of_transfer(py, stopped),
            false => told_of_end(py, stopped),
        }
    }

    /// Shows the queue to the garbage collector. There is no `__clear__`, because a transfer's queue never changes.
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
            Direction::FromFpga => "from",
            Direction::ToFpga => "to",
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
