//! When a copy ends at the latest.

use crate::error::{Error, Result};
use peerlane_host::Device;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a wait lasts at most before it is looked whether somebody has called the copy off.
const LOOK: Duration = Duration::from_millis(5);

/// How long what is under way may take to end by itself, once a copy has failed or was called off.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// Calls copies off, from any thread. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Calls them off.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether they are called off.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// When a copy ends at the latest. The default is when it has done all.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// How long it may take, in the board's time where a board takes part.
    pub deadline: Option<Duration>,
    /// Who may call it off.
    pub cancel: Option<Cancel>,
}

impl Limits {
    /// The default, with a deadline.
    pub fn within(deadline: Duration) -> Self {
        Self {
            deadline: Some(deadline),
            cancel: None,
        }
    }
}

/// What time it is.
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
}

impl<'a> Watch<'a> {
    pub(crate) fn new(clock: &'a Clock, limits: &'a Limits, length: u64) -> Self {
        Self {
            clock,
            begin: clock.now(),
            limits,
            length,
        }
    }

    /// How long to wait at a stretch, when so much has arrived.
    ///
    /// # Errors
    /// [`Error::Deadline`] and [`Error::Cancelled`].
    pub(crate) fn stretch(&self, done: u64) -> Result<Duration> {
        let length = self.length;
        if self
            .limits
            .cancel
            .as_ref()
            .is_some_and(Cancel::is_cancelled)
        {
            return Err(Error::Cancelled { done, length });
        }
        let Some(limit) = self.limits.deadline else {
            return Ok(LOOK);
        };
        match limit.checked_sub(self.clock.now().saturating_sub(self.begin)) {
            Some(left) if !left.is_zero() => Ok(left.min(LOOK)),
            _ => Err(Error::Deadline {
                done,
                length,
                limit,
            }),
        }
    }
}
