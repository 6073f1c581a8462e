//! What engines have in common that copy between a device's memory and this process's.

use crate::error::{Error, Result};
use crate::side::{Pending, Piece, Way};
use peerlane_host::{Memory, MemoryKind};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Addresses from here on are no process's (the kernel's Documentation/arch/x86/x86_64/mm.rst): memory that a simulated
/// board has there is copied from and to.
const NO_PROCESS: u64 = 1 << 63;

/// Staging memory as an engine reaches it: itself where it lies in this process, or else memory beside it. Clones are the
/// same.
#[derive(Debug, Clone)]
pub struct Reached {
    memory: Memory,
    /// Where `memory` is not the staging memory.
    staging: Option<Memory>,
}

impl Reached {
    /// Of staging memory.
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

    /// Memory of this process, as long as the staging memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The place that a piece is copied from or to. It is as long as the piece, and its bytes are there where it is
    /// copied from.
    ///
    /// # Errors
    /// [`Error::Bounds`], and what the staging memory's owner says.
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

    /// What is left to do when the engine has copied a piece.
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
    /// Brings it there.
    ///
    /// # Errors
    /// What the staging memory's owner says.
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

/// The end of a copy, as a device's callback tells it, and how it has ended.
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

    /// Tells it.
    pub fn tell(&self, how: T) {
        *self.lock() = Some(how);
        self.told.notify_all();
    }

    /// How it has ended, if it has.
    pub fn told(&self) -> Option<T> {
        *self.lock()
    }

    /// Sleeps until it is told, for so long at most.
    pub fn wait(&self, limit: Duration) -> Option<T> {
        let told = (self.told).wait_timeout_while(self.lock(), limit, |how| how.is_none());
        *told.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Sleeps until it is told.
    pub fn wait_for_good(&self) {
        drop(self.told.wait_while(self.lock(), |how| how.is_none()));
    }

    /// A reference for a callback's argument, which [`from_user`](Self::from_user) gives back.
    pub fn to_user(self: &Arc<Self>) -> *mut c_void {
        Arc::into_raw(Arc::clone(self)).cast_mut().cast()
    }

    /// The reference of a callback's argument.
    ///
    /// # Safety
    /// `user` is of [`to_user`](Self::to_user) of a value of this type, and nobody else gives it back.
    pub unsafe fn from_user(user: *mut c_void) -> Arc<Self> {
        // SAFETY: the caller promises it.
        unsafe { Arc::from_raw(user.cast::<Self>().cast_const()) }
    }
}

/// A copy of a device's stream, whose end a callback tells. Where it is let go before its end, what the device uses stays
/// for good.
pub struct Streamed<U> {
    end: Arc<End<()>>,
    rest: Option<Rest>,
    /// Whether the streams have done all that they were given. Where they have failed, they call nobody back any more.
    rests: Box<dyn Fn() -> Result<bool> + Send>,
    /// Why nobody will be called back.
    untold: Option<Error>,
    used: Option<U>,
}

/// How long to sleep between two looks at streams that call nobody back.
const PAUSE: Duration = Duration::from_millis(1);

impl<U> Streamed<U> {
    /// A copy that was begun, and that uses these.
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

    /// A copy that was begun, and of whose end the streams will tell nobody. It fails with this error, and what it uses is
    /// the streams' until they have done it.
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
        // Streams that have failed do nothing more.
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
