//! Limits of a copy.

use crate::error::{Error, Result};
use peerlane_host::Device;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest wait until the next check for a cancellation.
const LOOK: Duration = Duration::from_millis(5);

/// Time that copies in progress get to end by themselves, once the whole copy has failed or was cancelled.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// Cancels copies, from any thread. Clones cancel the same copies.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels the copies.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the copies are cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Limits of a copy. By default it ends when all is copied.
///
/// They hold from the call on. So they include the wait for other copies, and the probe and measurements of the first
/// copy. For a short deadline of the first copy, call [`Routes::choose`](crate::Routes::choose) before.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Longest time that it may take, in the board's time where a board takes part.
    pub deadline: Option<Duration>,
    /// Handle that may cancel it.
    pub cancel: Option<Cancel>,
}

impl Limits {
    /// Makes the default, with a deadline.
    pub fn within(deadline: Duration) -> Self {
        Self {
            deadline: Some(deadline),
            cancel: None,
        }
    }
}

/// A clock.
#[derive(Debug, Clone)]
pub(crate) enum Clock {
    Process(Instant),
    Board(Device),
}

impl Clock {
    pub(crate) fn now(&self) -> Duration {
        match self {
            Self::Process(begin) => begin.elapsed(),
            Self::Board(device) => device.now(),
        }
    }
}

/// A copy's limits, from its beginning on.
pub(crate) struct Watch<'a> {
    clock: &'a Clock,
    begin: Duration,
    limits: &'a Limits,
    length: u64,
    /// The copy that this is a step of.
    whole: Option<&'a Watch<'a>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(clock: &'a Clock, limits: &'a Limits, length: u64) -> Self {
        Self {
            clock,
            begin: clock.now(),
            limits,
            length,
            whole: None,
        }
    }

    /// Makes the watch of a step of this copy, with limits of its own in addition to those of the whole copy.
    pub(crate) fn step<'b>(&'b self, limits: &'b Limits, length: u64) -> Watch<'b> {
        Watch {
            whole: Some(self),
            ..Watch::new(self.clock, limits, length)
        }
    }

    /// Returns the limits of the whole copy: for a wait for other copies, whose time does not count for a step.
    pub(crate) fn whole(&self) -> &Watch<'a> {
        self.whole.unwrap_or(self)
    }

    /// Returns this watch for the time after such a wait: the time of a step begins now.
    pub(crate) fn begun_now(&self) -> Watch<'a> {
        Watch {
            begin: self.whole.map_or(self.begin, |_| self.clock.now()),
            ..*self
        }
    }

    pub(crate) fn clock(&self) -> &'a Clock {
        self.clock
    }

    /// Returns how long to wait without another check, when so many bytes have arrived.
    ///
    /// # Errors
    /// [`Error::Deadline`] and [`Error::Cancelled`], of the whole copy before those of the step.
    pub(crate) fn stretch(&self, done: u64) -> Result<Duration> {
        let length = self.length;
        let most = self.whole.map_or(Ok(LOOK), |whole| whole.stretch(0))?;
        if self
            .limits
            .cancel
            .as_ref()
            .is_some_and(Cancel::is_cancelled)
        {
            return Err(Error::Cancelled { done, length });
        }
        let Some(limit) = self.limits.deadline else {
            return Ok(most);
        };
        match limit.checked_sub(self.clock.now().saturating_sub(self.begin)) {
            Some(left) if !left.is_zero() => Ok(left.min(most)),
            _ => Err(Error::Deadline {
                done,
                length,
                limit,
            }),
        }
    }
}
