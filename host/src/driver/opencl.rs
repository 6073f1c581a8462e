//! The OpenCL side of a board that is driven from the process.

use super::BackendResult;
use super::Inner;
use super::backend::Bar;
use super::context::Hold;
use crate::error::{Error, Result};
use crate::opencl::{Area, OpenCl, check_area};
use crate::sys::is_readable;
use peerlane_core::capability::Identity;
use peerlane_core::shell;
use rustix::io::Errno;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Any write to this register of `acl_kernel_interface` resets the kernels (`sw_reset`).
const RESET: u64 = 0x30;

/// Time of the board that passes between two looks at the kernels' interrupt.
const STRETCH: Duration = Duration::from_micros(20);

/// The longest sleep of a thread that waits for idle kernels.
const SLEEP: Duration = Duration::from_millis(10);

/// The longest wait of a thread for the board while other threads have it.
const MOMENT: Duration = Duration::from_millis(5);

/// The OpenCL side, held by a context.
#[derive(Debug)]
pub(crate) struct Side {
    /// Keeps the context alive: kernels use its memory.
    hold: Arc<Hold>,
    /// [`Inner::resets`], without its lock.
    resets: Arc<AtomicU64>,
    signal: Mutex<Signal>,
    changed: Condvar,
}

/// State that a waiting thread looks at.
#[derive(Debug, Default)]
struct Signal {
    armed: bool,
    /// The board does not know yet that it was armed.
    is_new: bool,
    /// Number of resets when it was armed.
    resets: u64,
    woken: bool,
}

impl Side {
    /// Takes the board's OpenCL side, for a context that has all FPGA memory.
    pub(super) fn new(hold: &Arc<Hold>) -> Result<Self> {
        let mut inner = hold.shared.lock();
        inner.attend()?;
        if inner.board.backend.opencl().is_none() {
            return Err(Error::no_opencl());
        }
        if inner.opencl_holder.is_some() {
            return Err(Error::opencl(Errno::BUSY));
        }
        if !inner.fpga.holds_all(hold.number) {
            return Err(Error::opencl(Errno::PERM));
        }
        inner.opencl_holder = Some(hold.number);
        Ok(Self {
            hold: Arc::clone(hold),
            resets: Arc::clone(&inner.resets),
            signal: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn signal(&self) -> MutexGuard<'_, Signal> {
        self.signal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` with the board's OpenCL side.
    fn with<T>(&self, f: impl FnOnce(&mut dyn Bar) -> Result<T>) -> Result<T> {
        f(bar(&mut self.hold.shared.lock())?)
    }

    /// Returns whether the kernels' interrupt is high, or the board was reset since it was armed, so that no interrupt
    /// may come; `false` also where that cannot be read at the moment.
    fn is_high(&self) -> Result<bool> {
        match self.hold.shared.lock_within(MOMENT) {
            Some(mut inner) => {
                let bar = bar(&mut inner)?;
                let mut signal = self.signal();
                if std::mem::take(&mut signal.is_new) {
                    bar.arm()?;
                }
                let was_reset = signal.resets != self.resets.load(Ordering::Relaxed);
                Ok(bar.interrupt()? || was_reset)
            }
            None => Ok(false),
        }
    }

    /// Lets a stretch of the board's time pass, or waits for an interrupt for at most `most`. Returns `true` instead if
    /// the kernels are idle, or other threads have the board.
    fn pass(&self, most: Duration) -> Result<bool> {
        let Some(mut inner) = self.hold.shared.lock_within(MOMENT) else {
            return Ok(true);
        };
        let backend = &mut inner.board.backend;
        let Some(bar) = backend.opencl().filter(|bar| bar.running()) else {
            return Ok(true);
        };
        if let Some(file) = bar.interrupt_file() {
            drop(inner);
            is_readable(&*file, most);
            return Ok(false);
        }
        match backend.interrupt_file() {
            // Time passes by itself, so other threads can have the lock in the meantime.
            Some(_) => {
                drop(inner);
                std::thread::sleep(STRETCH);
            }
            None => {
                backend.pause(STRETCH)?;
                drop(inner);
                self.hold.shared.make_way();
            }
        }
        Ok(false)
    }
}

/// Returns the OpenCL side of a board that is present.
fn bar(inner: &mut Inner) -> Result<&mut dyn Bar> {
    inner.attend()?;
    inner.board.backend.opencl().ok_or_else(Error::no_opencl)
}

/// Writes bytes of a part. After each store to a reset, that register is read.
fn store(bar: &mut dyn Bar, area: Area, offset: u64, data: &[u8]) -> BackendResult<()> {
    let read_behind = |offset, bytes| area.of_core().read_behind(offset, bytes);
    let bytes = data.len() as u64;
    if read_behind(offset, bytes).is_none() {
        return bar.write(area, offset, data);
    }
    for (at, bytes) in shell::accesses(offset, bytes) {
        let from = (at - offset) as usize;
        bar.write(area, at, &data[from..from + bytes as usize])?;
        if let Some(reset) = read_behind(at, bytes) {
            bar.read(area, reset, &mut [0; 4])?;
        }
    }
    Ok(())
}

impl Drop for Side {
    fn drop(&mut self) {
        if self.hold.shared.is_inherited() {
            return;
        }
        // A board that does not answer has nothing to reset.
        let _ = self.write(Area::Kernels, RESET, &[0; 4]);
        self.hold.shared.lock().opencl_holder = None;
    }
}

impl OpenCl for Side {
    fn bytes(&self, area: Area) -> u64 {
        self.with(|bar| Ok(bar.bytes(area))).unwrap_or(0)
    }

    fn read(&self, area: Area, offset: u64, data: &mut [u8]) -> Result<()> {
        let mut inner = self.hold.shared.lock();
        let bar = bar(&mut inner)?;
        check_area(area, bar.bytes(area), offset, data.len())?;
        bar.read(area, offset, data)?;
        match shell::reads_as_ones(offset, data) {
            true => inner.board.check_present(),
            false => Ok(()),
        }
    }

    fn write(&self, area: Area, offset: u64, data: &[u8]) -> Result<()> {
        self.with(|bar| {
            check_area(area, bar.bytes(area), offset, data.len())?;
            Ok(store(bar, area, offset, data)?)
        })?;
        // The write may have started a kernel.
        self.changed.notify_all();
        Ok(())
    }

    fn arm(&self) -> Result<()> {
        let mut signal = self.signal();
        (signal.armed, signal.is_new) = (true, true);
        signal.resets = self.resets.load(Ordering::Relaxed);
        drop(signal);
        self.changed.notify_all();
        Ok(())
    }

    fn wait(&self, limit: Option<Duration>) -> Result<bool> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let high = self.is_high()?;
            let mut signal = self.signal();
            // An interrupt from before the line was armed again does not count.
            if high && !signal.is_new && std::mem::take(&mut signal.armed) {
                return Ok(true);
            }
            if std::mem::take(&mut signal.woken) {
                return Ok(false);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let still = !signal.armed;
            let nap = left.unwrap_or(SLEEP).min(SLEEP);
            drop(signal);
            if still || self.pass(nap)? {
                let signal = self.signal();
                if !signal.woken {
                    let _ = self.changed.wait_timeout(signal, nap);
                }
            }
        }
    }

    fn wake(&self) {
        self.signal().woken = true;
        self.changed.notify_all();
    }

    /// Does not look while another thread has the board, which programs it.
    fn resets(&self) -> Result<u64> {
        if let Some(mut inner) = self.hold.shared.lock_within(MOMENT) {
            inner.attend()?;
            inner.watch()?;
        }
        Ok(self.resets.load(Ordering::Relaxed))
    }

    fn reprogram(&self, keeps_memory: bool, image: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let mut inner = self.hold.shared.lock();
        inner.attend()?;
        self.signal().armed = false;
        inner.reprogram(keeps_memory, image)
    }
}

impl Inner {
    /// Makes the block idle, has the FPGA programmed, and starts the new block.
    fn reprogram(
        &mut self,
        keeps_memory: bool,
        image: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        self.stop()?;
        self.resets.fetch_add(1, Ordering::Relaxed);
        let programmed = image();
        let found = self.find(keeps_memory);
        if found.is_err() {
            // In any state of the FPGA.
            self.board.lose();
        }
        programmed.and(found)
    }

    /// Starts the new block, if it is the same as before.
    fn find(&mut self, keeps_memory: bool) -> Result<()> {
        let mut words = [0; Identity::OFFSETS.len()];
        for (word, offset) in words.iter_mut().zip(Identity::OFFSETS) {
            *word = self.board.backend.read32(super::Space::Csr, offset)?;
        }
        let checked =
            Identity::new(words).check(self.identity.map_id, Some(self.identity.build_id));
        checked.map_err(|source| Error::Identity {
            board: self.board.backend.name(),
            source,
        })?;
        // The registers of a new configuration hold their reset values.
        self.board.forget_selection();
        self.stop()?;
        self.renew(!keeps_memory)
    }
}
