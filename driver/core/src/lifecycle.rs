// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a board, and the order in which it changes.
//!
//! A board may reach memory while it is bus master, and its ATT and its rings determine which memory. So memory may
//! be released in two cases. Either the block was instructed to drop it and has confirmed that nothing is in
//! progress ([`settle`]). Or the board is not bus master: before it becomes one again, [`start`] wipes everything
//! that the block knows, and restores only memory that is still held. The second case needs no confirmation by the
//! block: whether a reset of the function reaches the block is a matter of the board.
//!
//! One [`Lifecycle`] belongs to a board and is changed under one lock. Register accesses are made under the same
//! lock, so that none is in progress when the board may not be reached any more. Everything relies on this order:
//! *the right to be bus master is taken away first, and under that lock; only then can other threads see a state in
//! which memory may be released.*

/// States of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It is being reset, or sleeps. Only the caller that stopped it may start it again, and no other code may access
    /// it.
    Resting,
    /// Its block is wiped and gets the state that it must have. It becomes bus master during this.
    Starting,
    /// It is in normal operation.
    Running,
    /// It is being stopped, or released: no new work.
    Stopping,
    /// It did not carry out its steps and lost the right to be bus master. The watchdog starts it again.
    CutOff,
    /// It does not answer, or cannot be started again. Only a reset of the function that the driver is notified of
    /// brings it back.
    Gone,
    /// The driver has released it permanently.
    Removed,
}

/// Identity of one start of the board. Observations of an earlier start do not apply to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(u64);

/// Threads that can start a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starter {
    /// The caller that stopped it.
    Owner,
    /// The watchdog, for a board that was cut off.
    Watchdog,
}

/// Reasons why a board cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is being started, or will be: try again.
    Away,
    /// A read had no answer in this start. It will be started again.
    Silent,
    /// It will not come back by itself.
    Gone,
}

/// Results of an attempt to cut a board off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It is cut off now.
    Now,
    /// It was not bus master.
    Already,
    /// It was started again since then: the failure belongs to the board as it was before.
    Restarted,
}

/// The function's right to send requests: Bus Master Enable in its Command register (PCI Express
/// Base Specification, 7.5.1.1).
pub trait Mastering {
    /// Grants the right.
    fn set(&mut self);
    /// Takes the right away. When the call returns, no request leaves any more: the write is not posted, its
    /// completion passes no request that the function sent before (2.4.1), and the call waits for as long as the
    /// function may take to notice.
    fn clear(&mut self);
}

/// The state of a board.
#[derive(Debug)]
pub struct Lifecycle {
    state: State,
    epoch: u64,
    /// Whether a read had no answer since the last start has ended.
    silent: bool,
    /// Steps of the last start that were taken.
    progress: Progress,
}

/// Steps of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    Begun,
    Wiped,
    Master,
}

impl Lifecycle {
    /// Creates the state of a board that was not started yet.
    pub const fn new() -> Self {
        Self {
            state: State::Resting,
            epoch: 0,
            silent: false,
            progress: Progress::Begun,
        }
    }

    /// Returns the state.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns its present start if it can be used.
    pub const fn usable(&self) -> Result<Epoch, Refused> {
        match self.state {
            State::Running => Ok(Epoch(self.epoch)),
            State::Resting | State::Starting | State::Stopping | State::CutOff => {
                Err(Refused::Away)
            }
            State::Gone | State::Removed => Err(Refused::Gone),
        }
    }

    /// Returns its present start, if it may be, or become, bus master without being wiped first. Its registers can be
    /// accessed then.
    pub const fn live(&self) -> Option<Epoch> {
        match self.state {
            State::Starting | State::Running | State::Stopping => Some(Epoch(self.epoch)),
            State::Resting | State::CutOff | State::Gone | State::Removed => None,
        }
    }

    /// Whether this start is the present one, and its registers can be accessed.
    pub fn is_live(&self, epoch: Epoch) -> bool {
        self.live() == Some(epoch)
    }

    /// Notes that a read had no answer. The board does not take stores at such a time either, so nothing is known about
    /// the block until it is started again, also if it answers the next read.
    /// Returns whether it will be started again for that: a start ends with the read that fails.
    pub fn note_silence(&mut self) -> bool {
        let counts = matches!(self.state, State::Running | State::Stopping);
        self.silent |= counts;
        counts
    }

    /// Whether a read had no answer in the last start. A reset of the block does not bring back the stores that were
    /// lost to other parts of the FPGA at that time.
    pub const fn was_silent(&self) -> bool {
        self.silent
    }

    /// Returns its present start if its block may know memory that is released now: a start that has not wiped it yet
    /// will do so before the board is bus master, and restores only memory that is still held.
    pub fn knows_memory(&self) -> Option<Epoch> {
        let unwiped = self.state == State::Starting && self.progress == Progress::Begun;
        self.live().filter(|_| !unwiped)
    }

    /// Whether requests of this start can be in progress.
    pub fn may_request(&self, epoch: Epoch) -> bool {
        let before = self.state == State::Starting && self.progress < Progress::Master;
        self.is_live(epoch) && !before
    }

    /// Notes that a start has wiped the block.
    pub fn note_wiped(&mut self, epoch: Epoch) {
        if self.is_live(epoch) && self.progress == Progress::Begun {
            self.progress = Progress::Wiped;
        }
    }

    /// Checks that a user may access the registers.
    pub const fn permits_use(&self) -> Result<(), Refused> {
        match self.usable() {
            Ok(_) if self.silent => Err(Refused::Silent),
            Ok(_) => Ok(()),
            Err(refused) => Err(refused),
        }
    }

    /// Checks that the driver may access the registers in this start, to bring the board from one state to another.
    pub fn permits_upkeep(&self, epoch: Epoch) -> Result<(), Refused> {
        match self.is_live(epoch) {
            true if self.silent => Err(Refused::Silent),
            true => Ok(()),
            false => Err(Refused::Away),
        }
    }

    /// Begins to start it, if the starter may do so in this state. The board is not bus master afterwards, whichever
    /// configuration of the function was restored.
    pub fn begin_start(&mut self, who: Starter, bus: &mut dyn Mastering) -> Option<Epoch> {
        match (who, self.state) {
            (Starter::Owner, State::Resting) | (Starter::Watchdog, State::CutOff) => {}
            _ => return None,
        }
        bus.clear();
        self.epoch += 1;
        self.silent = false;
        self.progress = Progress::Begun;
        self.state = State::Starting;
        Some(Epoch(self.epoch))
    }

    /// Makes it bus master, unless it was cut off since its start began.
    pub fn allow(&mut self, epoch: Epoch, bus: &mut dyn Mastering) -> bool {
        let starting = self.state == State::Starting && self.is_live(epoch);
        if starting {
            bus.set();
            self.progress = Progress::Master;
        }
        starting
    }

    /// Marks it as running, unless it was cut off since its start began.
    pub fn run(&mut self, epoch: Epoch) -> bool {
        let starting = self.state == State::Starting && self.is_live(epoch);
        if starting {
            self.state = State::Running;
        }
        starting
    }

    /// Cuts off a board with which something failed since this start.
    pub fn cut_off(&mut self, epoch: Epoch, bus: &mut dyn Mastering) -> Cut {
        match self.live() {
            None => Cut::Already,
            Some(live) if live != epoch => Cut::Restarted,
            Some(_) => {
                bus.clear();
                self.state = State::CutOff;
                Cut::Now
            }
        }
    }

    /// Refuses new work from now on. Returns whether its registers can be accessed to stop it.
    pub fn begin_stop(&mut self) -> bool {
        if self.live().is_some() {
            self.state = State::Stopping;
        }
        self.live().is_some()
    }

    /// Marks it as stopped, until the caller starts it again.
    pub fn rest(&mut self, bus: &mut dyn Mastering) {
        bus.clear();
        if self.state != State::Removed {
            self.state = State::Resting;
        }
    }

    /// Gives up a board that was cut off, or one that its owner cannot start. Returns whether it is gone: if not,
    /// another thread has stopped or started it since.
    pub fn give_up(&mut self, who: Starter) -> bool {
        match (who, self.state) {
            (_, State::CutOff) | (Starter::Owner, State::Resting) => self.state = State::Gone,
            _ => {}
        }
        self.state == State::Gone
    }

    /// Whether the watchdog has to look at it again: as long as a context has it open, and after it was cut off, also
    /// for the next context. A thread that opens it, or finds that it cannot be used yet, also schedules the
    /// watchdog.
    ///
    /// The caller must determine `has_users` before this: the last user may cut the board off while it leaves.
    pub const fn is_watched(&self, has_users: bool) -> bool {
        match self.state {
            State::CutOff => true,
            State::Resting | State::Starting | State::Running | State::Stopping => has_users,
            State::Gone | State::Removed => false,
        }
    }

    /// Marks it as released by the driver.
    pub fn remove(&mut self, bus: &mut dyn Mastering) {
        bus.clear();
        self.state = State::Removed;
    }
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self::new()
    }
}

/// The lock around a [`Lifecycle`].
pub trait Control {
    /// Reason why the block did not carry out a step.
    type Failure;

    /// Calls `run` with the lock held.
    fn with<R>(&self, run: impl FnOnce(&mut Lifecycle, &mut dyn Mastering) -> R) -> R;
}

/// Makes sure of a condition after which memory is released: either the block carries out the attempt, or the board
/// is not bus master any more and will be wiped before it is again. Returns the failure for which this call cut it
/// off, if it did.
///
/// The caller first marks everything that must not be restored.
pub fn settle<C: Control>(
    control: &C,
    mut attempt: impl FnMut(Epoch) -> Result<(), C::Failure>,
) -> Option<C::Failure> {
    loop {
        let epoch = control.with(|life, _| life.knows_memory())?;
        let Err(failure) = attempt(epoch) else {
            return None;
        };
        match control.with(|life, bus| life.cut_off(epoch, bus)) {
            Cut::Now => return Some(failure),
            Cut::Already => return None,
            Cut::Restarted => {}
        }
    }
}

/// Steps of a start.
pub trait Fabric<F> {
    /// Stops the block, and wipes its state about memory: its ATT and its rings.
    fn wipe(&mut self, epoch: Epoch) -> Result<(), F>;
    /// Writes the ATT entries of the memory that is held again.
    fn restore(&mut self, epoch: Epoch) -> Result<(), F>;
    /// Lets it work, as bus master.
    fn open(&mut self, epoch: Epoch) -> Result<(), F>;
}

/// Reasons why a board was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotStarted<F> {
    /// Another thread is to start it, or none.
    NotYours,
    /// The block did not carry out a step. The board is cut off.
    Failed(F),
    /// Another thread cut it off during the start.
    CutOff,
}

/// Starts a board: takes the right to be bus master, wipes the block, restores the regions that are held, makes it
/// bus master, and lets it work.
pub fn start<C: Control>(
    control: &C,
    who: Starter,
    fabric: &mut impl Fabric<C::Failure>,
) -> Result<(), NotStarted<C::Failure>> {
    let epoch = control.with(|life, bus| life.begin_start(who, bus));
    let epoch = epoch.ok_or(NotStarted::NotYours)?;
    let prepared = fabric.wipe(epoch).and_then(|()| {
        control.with(|life, _| life.note_wiped(epoch));
        fabric.restore(epoch)
    });
    let opened = match prepared {
        Ok(()) if control.with(|life, bus| life.allow(epoch, bus)) => fabric.open(epoch),
        Ok(()) => return Err(NotStarted::CutOff),
        Err(failure) => Err(failure),
    };
    match opened {
        Ok(()) if control.with(|life, _| life.run(epoch)) => Ok(()),
        Ok(()) => Err(NotStarted::CutOff),
        Err(failure) => {
            control.with(|life, bus| life.cut_off(epoch, bus));
            Err(NotStarted::Failed(failure))
        }
    }
}

/// Tasks of the watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched<F> {
    /// Nothing: the board is well, or another thread handles it, or it is not used any more.
    Nothing,
    /// Start it again.
    Revive {
        /// The failure for which it was cut off just now; `None`: it was cut off before.
        failure: Option<F>,
        /// Whether a read had no answer, of this thread or of another one.
        silent: bool,
    },
}

/// Lets the watchdog look at a board. The result counts only if the board was not stopped or started in between.
pub fn watch<C: Control>(
    control: &C,
    look: impl FnOnce(Epoch) -> Result<(), C::Failure>,
) -> Watched<C::Failure> {
    let (state, usable, silent) =
        control.with(|life, _| (life.state(), life.usable(), life.was_silent()));
    let epoch = match (state, usable) {
        (_, Ok(epoch)) => epoch,
        (State::CutOff, _) => {
            return Watched::Revive {
                failure: None,
                silent,
            };
        }
        _ => return Watched::Nothing,
    };
    let Err(failure) = look(epoch) else {
        return Watched::Nothing;
    };
    // Another thread may have noticed a silence after the look.
    let (cut, silent) = control.with(|life, bus| match life.usable() {
        Ok(now) if now == epoch => (life.cut_off(epoch, bus), life.was_silent()),
        _ => (Cut::Restarted, false),
    });
    match cut {
        Cut::Now => Watched::Revive {
            failure: Some(failure),
            silent,
        },
        Cut::Already | Cut::Restarted => Watched::Nothing,
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
