//! Waits for the board's interrupts.

use super::{Inner, Shared};
use crate::error::Result;
use crate::sys::is_readable;
use peerlane_core::regs::csr;
use peerlane_core::steps::{self, Register};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// The longest wait with the lock: other threads get their turn in between.
const STRETCH: Duration = Duration::from_millis(1);

/// The longest wait without it, for an event that has no interrupt, such as a reset by another thread.
const LOOK: Duration = Duration::from_millis(20);

/// Rounds in which the line is looked at before it is raised again: a process can make causes without pause.
const ROUNDS: u32 = 16;

impl Shared {
    /// Lets time pass until an event may have come, for at most `limit`, and acknowledges interrupts. A later record
    /// raises the interrupt again.
    pub(super) fn await_interrupt(
        &self,
        mut inner: MutexGuard<'_, Inner>,
        limit: Duration,
    ) -> Result<()> {
        let Some(file) = inner.board.backend.interrupt_file() else {
            return inner.take_interrupt(limit.min(STRETCH));
        };
        let limit = limit.min(LOOK);
        if inner.awaited {
            // One thread waits for the file, and reports to the others.
            let waited = self.events.wait_timeout(inner, limit);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            return Ok(());
        }
        inner.awaited = true;
        drop(inner);
        let ready = is_readable(&*file, limit);
        let mut inner = self.lock();
        inner.awaited = false;
        let taken = match ready {
            true => inner.take_interrupt(Duration::ZERO),
            false => Ok(()),
        };
        drop(inner);
        // Also without an event: another thread has to wait for the file now.
        self.events.notify_all();
        taken
    }
}

impl Inner {
    /// Lets time pass until an interrupt comes, for at most `limit`, and acknowledges it.
    pub(super) fn take_interrupt(&mut self, limit: Duration) -> Result<()> {
        if !self.board.backend.wait_interrupt(limit)? {
            return Ok(());
        }
        self.events += 1;
        let place = Register::Csr(csr::IRQ_STATUS);
        // A line that is seen as such shows a cause that comes now. A message is only made when the line rises, so the
        // line must have been low.
        let rounds = match self.board.backend.interrupt_file() {
            None => 1,
            Some(_) => ROUNDS,
        };
        for _ in 0..rounds {
            let causes = self.board.read(place)?;
            if causes == 0 {
                return Ok(());
            }
            self.board.write(place, causes)?;
        }
        match rounds {
            1 => Ok(()),
            // Makes an edge, if there are causes.
            _ => self.board.run("made an edge", steps::new_edge()),
        }
    }
}
