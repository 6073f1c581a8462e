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
///
/// They hold from the call on: for the wait for others' copies, too, and for what the first copy has to find out. Who wants
/// a short deadline for that one, asks for [`Routes::choose`](crate::Routes::choose) before.
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
    /// Of the copy that this is a step of.
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

    /// A step of this copy, with limits of its own beside those of the whole.
    pub(crate) fn step<'b>(&'b self, limits: &'b Limits, length: u64) -> Watch<'b> {
        Watch {
            whole: Some(self),
            ..Watch::new(self.clock, limits, length)
        }
    }

    /// For a wait for others, whose time is none of a step's: the limits of the whole copy.
    pub(crate) fn whole(&self) -> &Watch<'a> {
        self.whole.unwrap_or(self)
    }

    /// The same when such a wait is over: the time of a step begins now.
    pub(crate) fn begun_now(&self) -> Watch<'a> {
        Watch {
            begin: self.whole.map_or(self.begin, |_| self.clock.now()),
            ..*self
        }
    }

    pub(crate) fn clock(&self) -> &'a Clock {
        self.clock
    }

    /// How long to wait at a stretch, when so much has arrived.
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
