//! Common parts of engines that copy between a device's memory and this process's.

use crate::error::{Error, Result};
use crate::side::{Pending, Piece, Way};
use peerlane_host::{Memory, MemoryKind};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Addresses from here on do not belong to a process (the kernel's Documentation/arch/x86/x86_64/mm.rst). Memory that a
/// simulated board has there is copied from and to.
const NO_PROCESS: u64 = 1 << 63;

/// Staging memory as an engine reaches it: the memory itself if it lies in this process, and otherwise separate memory
/// of this process. Clones are the same memory.
#[derive(Debug, Clone)]
pub struct Reached {
    memory: Memory,
    /// The staging memory, where `memory` is separate from it.
    staging: Option<Memory>,
}

impl Reached {
    /// Makes it for staging memory.
    ///
    /// # Errors
    /// As [`Memory::new`].
    pub fn new(staging: &Memory) -> Result<Self> {
        let mapped = staging.kind() == MemoryKind::Host && staging.address() < NO_PROCESS;
        Ok(Self {
            memory: match mapped {
                true => staging.clone(),
                false => Memory::new(staging.length())?,
            },
            staging: (!mapped).then(|| staging.clone()),
        })
    }

    /// Returns memory of this process, as long as the staging memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the place that a piece is copied from or to. It is as long as the piece. For a piece that is copied from
    /// there, the bytes are in it.
    ///
    /// # Errors
    /// [`Error::Bounds`], and errors of the staging memory's owner.
    pub fn begin(&self, piece: &Piece) -> Result<*mut c_void> {
        let size = self.memory.length() as u64;
        let end = piece.staged.checked_add(piece.length);
        if end.is_none_or(|end| end > size) {
            return Err(Error::Bounds {
                side: "the staging memory".into(),
                offset: piece.staged,
                length: piece.length,
                size,
            });
        }
        if let (Way::In, Some(staging)) = (piece.way, &self.staging) {
            pass_on(staging, &self.memory, piece)?;
        }
        let place = self.memory.address() + piece.staged;
        Ok(std::ptr::with_exposed_provenance_mut(place as usize))
    }

    /// Returns the work that is left when the engine has copied a piece.
    pub fn rest(&self, piece: &Piece) -> Option<Rest> {
        match (piece.way, &self.staging) {
            (Way::Out, Some(staging)) => Some(Rest {
                from: self.memory.clone(),
                to: staging.clone(),
                piece: *piece,
            }),
            _ => None,
        }
    }
}

/// A piece that has come from the device, and is not in the staging memory yet.
#[derive(Debug)]
pub struct Rest {
    from: Memory,
    to: Memory,
    piece: Piece,
}

impl Rest {
    /// Copies the piece to the staging memory.
    ///
    /// # Errors
    /// Errors of the staging memory's owner.
    pub fn pass_on(self) -> Result<()> {
        pass_on(&self.from, &self.to, &self.piece)
    }
}

/// Copies a piece from one memory into another at the same place.
fn pass_on(from: &Memory, to: &Memory, piece: &Piece) -> Result<()> {
    let mut bytes = vec![0; piece.length as usize];
    from.read(piece.staged as usize, &mut bytes)?;
    Ok(to.write(piece.staged as usize, &bytes)?)
}

/// The end of a copy with its result, as a device's callback reports it.
#[derive(Debug)]
pub struct End<T> {
    how: Mutex<Option<T>>,
    told: Condvar,
}

impl<T> Default for End<T> {
    fn default() -> Self {
        Self {
            how: Mutex::new(None),
            told: Condvar::new(),
        }
    }
}

impl<T: Copy> End<T> {
    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.how.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports the end.
    pub fn tell(&self, how: T) {
        *self.lock() = Some(how);
        self.told.notify_all();
    }

    /// Returns the result, if the copy has ended.
    pub fn told(&self) -> Option<T> {
        *self.lock()
    }

    /// Sleeps until the end is reported, for at most `limit`.
    pub fn wait(&self, limit: Duration) -> Option<T> {
        let told = (self.told).wait_timeout_while(self.lock(), limit, |how| how.is_none());
        *told.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Sleeps until the end is reported.
    pub fn wait_for_good(&self) {
        drop(self.told.wait_while(self.lock(), |how| how.is_none()));
    }

    /// Makes a reference for a callback's argument, which [`from_user`](Self::from_user) takes back.
    pub fn to_user(self: &Arc<Self>) -> *mut c_void {
        Arc::into_raw(Arc::clone(self)).cast_mut().cast()
    }

    /// Takes the reference of a callback's argument.
    ///
    /// # Safety
    /// `user` is of [`to_user`](Self::to_user) of a value of this type, and no other code takes it.
    pub unsafe fn from_user(user: *mut c_void) -> Arc<Self> {
        // SAFETY: the caller promises it.
        unsafe { Arc::from_raw(user.cast::<Self>().cast_const()) }
    }
}

/// A copy of a device's stream, whose end a callback reports. If this is dropped before the copy's end, the objects
/// that the device uses are leaked.
pub struct Streamed<U> {
    end: Arc<End<()>>,
    rest: Option<Rest>,
    /// Whether the streams have done all of their work. Streams that have failed do not run callbacks any more.
    rests: Box<dyn Fn() -> Result<bool> + Send>,
    /// The reason why no callback will come.
    untold: Option<Error>,
    used: Option<U>,
}

/// Pause between two looks at streams that run no callback.
const PAUSE: Duration = Duration::from_millis(1);

impl<U> Streamed<U> {
    /// Makes the handle of a copy that was begun, and that uses these objects.
    pub fn new(
        end: Arc<End<()>>,
        rest: Option<Rest>,
        rests: impl Fn() -> Result<bool> + Send + 'static,
        used: U,
    ) -> Self {
        Self {
            end,
            rest,
            rests: Box::new(rests),
            untold: None,
            used: Some(used),
        }
    }

    /// Marks a copy that was begun, and whose end the streams will not report. It fails with this error, and the
    /// objects that it uses stay with the streams until they have made the copy.
    #[must_use]
    pub fn untold(mut self, error: Error) -> Self {
        self.untold = Some(error);
        self
    }
}

impl<U: Send> Pending for Streamed<U> {
    fn wait(&mut self, limit: Duration) -> Result<bool> {
        if let Some(error) = &self.untold {
            return Err(error.clone());
        }
        if self.end.wait(limit).is_none() {
            return match limit.is_zero() {
                true => Ok(false),
                false => (self.rests)().map(|_| self.end.told().is_some() && self.rest.is_none()),
            };
        }
        self.rest.take().map_or(Ok(()), Rest::pass_on)?;
        Ok(true)
    }

    fn end(&mut self, grace: Duration) -> bool {
        if self.untold.is_none() {
            return !matches!(self.wait(grace), Ok(false));
        }
        let begin = Instant::now();
        // Streams that have failed do no more work.
        while matches!((self.rests)(), Ok(false)) {
            let left = grace.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(left.min(PAUSE));
        }
        self.used = None;
        true
    }
}

impl<U> Drop for Streamed<U> {
    fn drop(&mut self) {
        if self.end.told().is_none() {
            std::mem::forget(self.used.take());
        }
    }
}
