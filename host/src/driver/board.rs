//! Access to a board through its backend: single registers, and sequences of accesses.

use super::backend::{Backend, Space};
use crate::error::{Error, Result};
use peerlane_core::regs::{MAP_ID, csr};
use peerlane_core::steps::{self, Bus, Register, Step, Stopped};
use std::time::Duration;

/// Time between two looks at a register that is waited for.
pub(crate) const POLL: Duration = Duration::from_micros(10);

/// The longest time from the end of a reset of the board's function until the block answers, and the time between two
/// looks.
pub(crate) const RETURN: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);

/// One cycle of the slowest clock that a PCIe hard IP gives to its user: 62.5 MHz.
const SLOWEST_CYCLE: Duration = Duration::from_nanos(16);

/// Time that the block takes in addition to waits for the link: records on their way, and the ATT's sweep of one entry
/// a cycle.
const SETTLE: Duration = Duration::from_millis(100);

/// Access to a board.
pub(crate) struct Board {
    pub(crate) backend: Box<dyn Backend>,
    /// The register that selects others which was written last, and its value, if they are known.
    selected: Option<(usize, u32)>,
    /// The error of all calls since the board was lost. [`Error::Gone`]: it is cut off from memory.
    lost: Option<Error>,
    /// The longest time of operations that the block promises to end in bounded time.
    patience: Duration,
}

fn space(register: Register) -> Space {
    match register {
        Register::Csr(_) | Register::Channel { .. } | Register::Stream { .. } => Space::Csr,
        Register::Page { .. } => Space::Chan,
        Register::Att(_) => Space::Att,
    }
}

impl Board {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Self {
        Self {
            backend,
            selected: None,
            lost: None,
            patience: SETTLE,
        }
    }

    /// Notes the block's own timeout for the link, in cycles of its clock.
    pub(crate) fn set_patience(&mut self, port_timeout: u32) {
        // An operation waits for the link at most three times in a row: for reads under way, for data that the port
        // does not take, and for the read that flushes.
        self.patience = SETTLE + SLOWEST_CYCLE * port_timeout * 3;
    }

    /// Notes that the block's registers may have changed by themselves.
    pub(crate) fn forget_selection(&mut self) {
        self.selected = None;
    }

    /// Selects the channel or the stream of a register that has one.
    fn select(&mut self, register: Register) -> Result<()> {
        if let Some(selection) = register.select()
            && self.selected != Some(selection)
        {
            self.selected = None;
            let (place, value) = selection;
            self.backend.write32(Space::Csr, place, value)?;
            self.selected = Some(selection);
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, register: Register, value: u32) -> Result<()> {
        self.select(register)?;
        let offset = register.offset();
        Ok(self.backend.write32(space(register), offset, value)?)
    }

    /// Writes neighbouring registers, in one packet where that is possible.
    pub(crate) fn write_block(&mut self, first: Register, values: &[u32]) -> Result<()> {
        let offset = first.offset();
        Ok(self.backend.write_block(space(first), offset, values)?)
    }

    pub(crate) fn read(&mut self, register: Register) -> Result<u32> {
        self.select(register)?;
        let value = self.backend.read32(space(register), register.offset())?;
        if value != u32::MAX {
            return Ok(value);
        }
        self.check_present()?;
        // The value, or the first after a reset.
        Ok(self.backend.read32(space(register), register.offset())?)
    }

    /// Fails if the board was lost since it was started. It may answer again, but writes in the meantime were lost: it
    /// stays lost until it is reset.
    pub(crate) fn check_there(&self) -> Result<()> {
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// Returns whether the board was lost, and can reach no memory.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self.lost, Some(Error::Gone))
    }

    /// Gives the board up, and cuts it off from memory: once more if that has failed before. Returns the error of all
    /// calls from now on.
    pub(crate) fn lose(&mut self) -> Error {
        if self.is_cut_off() {
            return Error::Gone;
        }
        let error = match self.backend.cut_off() {
            Ok(()) => Error::Gone,
            Err(error) => Error::Broken {
                reason: format!("the board is gone, and could not be cut off from memory: {error}"),
            },
        };
        self.lost.insert(error).clone()
    }

    /// Notes that the board answers, and is idle.
    pub(crate) fn find(&mut self) {
        self.lost = None;
    }

    /// Returns whether a channel has transfers under way.
    pub(crate) fn busy(&mut self, channel: u32) -> Result<bool> {
        let offset = csr::CHANNEL_STATUS;
        let status = self.read(Register::Channel { channel, offset })?;
        let busy = csr::CHANNEL_STATUS_WRITE_BUSY_MASK | csr::CHANNEL_STATUS_READ_BUSY_MASK;
        Ok(status & busy != 0)
    }

    /// Checks whether the block still answers. A board whose function is being reset is waited for.
    pub(crate) fn check_present(&mut self) -> Result<()> {
        let mut back: Option<Duration> = None;
        while self.backend.read32(Space::Csr, csr::MAP_ID)? != MAP_ID {
            // The time counts from the end of the reset, however long that takes. Each answer is followed by a look.
            let late = back.is_some_and(|back| self.backend.now().saturating_sub(back) >= RETURN);
            if late || self.lost.is_some() || !self.backend.is_coming_back() {
                return Err(self.lose());
            }
            back.get_or_insert(self.backend.now());
            self.backend.pause(LOOK)?;
        }
        Ok(())
    }

    /// Checks whether the PCIe port still takes packets. Where it does not, it is unknown which packets it holds, and
    /// no memory may be freed.
    pub(crate) fn check_port(&mut self) -> Result<()> {
        let status = self.read(Register::Csr(csr::STATUS))?;
        if status & csr::STATUS_PORT_DEAD_MASK != 0 {
            return Err(Error::PortDead);
        }
        Ok(())
    }

    /// Executes a sequence that the block promises to end in bounded time. `what` is for the error, after "the block
    /// has not".
    pub(crate) fn run(
        &mut self,
        what: &'static str,
        steps: impl IntoIterator<Item = Step>,
    ) -> Result<()> {
        let start = self.backend.now();
        let mut walk = Walk { board: self, start };
        steps::run(&mut walk, steps).map_err(|stopped| match stopped {
            Stopped::Bus(error) => error,
            Stopped::Late { register, value } | Stopped::Failed { register, value } => {
                Error::NotReady {
                    what,
                    waited: self.backend.now().saturating_sub(start),
                    register: register.offset(),
                    value,
                }
            }
        })
    }
}

/// A sequence in progress.
struct Walk<'a> {
    board: &'a mut Board,
    start: Duration,
}

impl Bus for Walk<'_> {
    type Error = Error;

    fn write(&mut self, register: Register, value: u32) -> Result<()> {
        self.board.write(register, value)
    }

    fn read(&mut self, register: Register) -> Result<u32> {
        self.board.read(register)
    }

    fn pause(&mut self, _: Register) -> Result<bool> {
        let backend = &mut self.board.backend;
        if backend.now().saturating_sub(self.start) >= self.board.patience {
            return Ok(false);
        }
        backend.pause(POLL)?;
        Ok(true)
    }
}
