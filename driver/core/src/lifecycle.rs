// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a board, and the order in which it changes.
//!
//! A board may reach memory while it is bus master, and what it reaches is what its ATT and its
//! rings say. So memory may be let go when the block was told to forget it and has confirmed that
//! nothing is under way ([`settle`]), or when the board is not bus master: before it is one again,
//! [`start`] wipes everything that the block knows, and restores only what is still held. The
//! block's own word is needed for neither: whether a reset of the function reaches the block is a
//! matter of the board.
//!
//! One [`Lifecycle`] belongs to a board and is changed under one lock. Register accesses are made
//! under the same lock, so that none is under way when the board may not be reached any more. The
//! order that everything rests on: *the right to be bus master is taken away first, and under that
//! lock; only then does anybody see a state in which memory may be let go.*

/// How a board stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It is being reset, or sleeps. Who put it to rest starts it again; nobody else may, and
    /// nobody may touch it.
    Resting,
    /// Its block is wiped and told what it must know. It becomes bus master on the way.
    Starting,
    /// It does what it is for.
    Running,
    /// It is being put to rest, or let go: no new work.
    Stopping,
    /// It did not do what it was told and lost the right to be bus master. The watchdog starts it
    /// again.
    CutOff,
    /// It does not answer, or cannot be started again. Only a reset of the function that the
    /// driver is told of brings it back.
    Gone,
    /// The driver has let it go, for good.
    Removed,
}

/// Names one start of the board. What was seen of an earlier one says nothing of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(u64);

/// Who starts a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starter {
    /// Who put it to rest.
    Owner,
    /// The watchdog, a board that was cut off.
    Watchdog,
}

/// Why a board cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is being started, or will be: try again.
    Away,
    /// It will not come back by itself.
    Gone,
}

/// What became of an attempt to cut a board off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It is cut off now.
    Now,
    /// It was no bus master.
    Already,
    /// It was started again since: what failed, failed with the board as it was before.
    Restarted,
}

/// The function's right to send requests: Bus Master Enable in its Command register (PCI Express
/// Base Specification, 7.5.1.1).
pub trait Mastering {
    /// Gives the right.
    fn set(&mut self);
    /// Takes it. When the call returns, no request leaves any more: the write is not posted, its
    /// completion passes no request that the function sent before (2.4.1), and the call waits for
    /// as long as the function may take to notice.
    fn clear(&mut self);
}

/// The state of a board.
#[derive(Debug)]
pub struct Lifecycle {
    state: State,
    epoch: u64,
}

impl Lifecycle {
    /// A board that nobody has started yet.
    pub const fn new() -> Self {
        Self {
            state: State::Resting,
            epoch: 0,
        }
    }

    /// How it stands.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether it can be used: its present start, if so.
    pub const fn usable(&self) -> Result<Epoch, Refused> {
        match self.state {
            State::Running => Ok(Epoch(self.epoch)),
            State::Resting | State::Starting | State::Stopping | State::CutOff => {
                Err(Refused::Away)
            }
            State::Gone | State::Removed => Err(Refused::Gone),
        }
    }

    /// Its present start, if it may be, or become, bus master without being wiped first. Its
    /// registers can be accessed then.
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

    /// Begins to start it, if that is the starter's business. Whatever the function's
    /// configuration was restored to, it is no bus master now.
    pub fn begin_start(&mut self, who: Starter, bus: &mut dyn Mastering) -> Option<Epoch> {
        match (who, self.state) {
            (Starter::Owner, State::Resting) | (Starter::Watchdog, State::CutOff) => {}
            _ => return None,
        }
        bus.clear();
        self.epoch += 1;
        self.state = State::Starting;
        Some(Epoch(self.epoch))
    }

    /// Makes it bus master, unless it was cut off since its start began.
    pub fn allow(&mut self, epoch: Epoch, bus: &mut dyn Mastering) -> bool {
        let starting = self.state == State::Starting && self.is_live(epoch);
        if starting {
            bus.set();
        }
        starting
    }

    /// It is started, unless it was cut off since its start began.
    pub fn run(&mut self, epoch: Epoch) -> bool {
        let starting = self.state == State::Starting && self.is_live(epoch);
        if starting {
            self.state = State::Running;
        }
        starting
    }

    /// Cuts a board off with which something failed since this start.
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

    /// No new work from now on; says whether its registers can be accessed to bring it to rest.
    pub fn begin_stop(&mut self) -> bool {
        if self.live().is_some() {
            self.state = State::Stopping;
        }
        self.live().is_some()
    }

    /// It rests, until who calls this starts it again.
    pub fn rest(&mut self, bus: &mut dyn Mastering) {
        bus.clear();
        if self.state != State::Removed {
            self.state = State::Resting;
        }
    }

    /// Gives up a board that was cut off, or one that its owner cannot start. Says whether it is
    /// gone: if not, somebody has put it to rest or started it since.
    pub fn give_up(&mut self, who: Starter) -> bool {
        match (who, self.state) {
            (_, State::CutOff) | (Starter::Owner, State::Resting) => self.state = State::Gone,
            _ => {}
        }
        self.state == State::Gone
    }

    /// Whether the watchdog has to look at it again: as long as somebody has it, and if it was cut off,
    /// also for the next. Whoever opens it, or finds that it cannot be used yet, has it looked at, too.
    ///
    /// Whether somebody has it must be found out before: the last one may cut it off as he goes.
    pub const fn is_watched(&self, has_users: bool) -> bool {
        match self.state {
            State::CutOff => true,
            State::Resting | State::Starting | State::Running | State::Stopping => has_users,
            State::Gone | State::Removed => false,
        }
    }

    /// The driver lets it go.
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
    /// Why something that the block was told was not done.
    type Failure;

    /// Runs with the lock held.
    fn with<R>(&self, run: impl FnOnce(&mut Lifecycle, &mut dyn Mastering) -> R) -> R;
}

/// Makes sure of something after which memory is let go: the block does it, or the board is not
/// bus master any more and will be wiped before it is again. Gives the failure for which it was
/// cut off, if it was by this call.
///
/// What is not to be restored must be marked so before.
pub fn settle<C: Control>(
    control: &C,
    mut attempt: impl FnMut(Epoch) -> Result<(), C::Failure>,
) -> Option<C::Failure> {
    loop {
        let epoch = control.with(|life, _| life.live())?;
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

/// What a start consists of.
pub trait Fabric<F> {
    /// Brings the block to rest, and wipes what it knows of memory: its ATT and its rings.
    fn wipe(&mut self, epoch: Epoch) -> Result<(), F>;
    /// Gives it the ATT entries again of the memory that is held.
    fn restore(&mut self, epoch: Epoch) -> Result<(), F>;
    /// Lets it work, as bus master.
    fn open(&mut self, epoch: Epoch) -> Result<(), F>;
}

/// Why a board was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotStarted<F> {
    /// Another is to start it, or nobody.
    NotYours,
    /// The block did not do what it was told. The board is cut off.
    Failed(F),
    /// It was cut off by another meanwhile.
    CutOff,
}

/// Starts a board: no bus master, wiped, told what is held, bus master, at work.
pub fn start<C: Control>(
    control: &C,
    who: Starter,
    fabric: &mut impl Fabric<C::Failure>,
) -> Result<(), NotStarted<C::Failure>> {
    let epoch = control.with(|life, bus| life.begin_start(who, bus));
    let epoch = epoch.ok_or(NotStarted::NotYours)?;
    let prepared = fabric.wipe(epoch).and_then(|()| fabric.restore(epoch));
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

/// What the watchdog has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched<F> {
    /// Nothing: it is well, or another's business, or nobody's any more.
    Nothing,
    /// Start it again. It was cut off just now, for this, or before.
    Revive(Option<F>),
}

/// The watchdog looks at a board. What it saw counts only if the board was not stopped or started
/// meanwhile.
pub fn watch<C: Control>(
    control: &C,
    look: impl FnOnce(Epoch) -> Result<(), C::Failure>,
) -> Watched<C::Failure> {
    let (state, usable) = control.with(|life, _| (life.state(), life.usable()));
    let epoch = match (state, usable) {
        (_, Ok(epoch)) => epoch,
        (State::CutOff, _) => return Watched::Revive(None),
        _ => return Watched::Nothing,
    };
    let Err(failure) = look(epoch) else {
        return Watched::Nothing;
    };
    let cut = control.with(|life, bus| match life.usable() {
        Ok(now) if now == epoch => life.cut_off(epoch, bus),
        _ => Cut::Restarted,
    });
    match cut {
        Cut::Now => Watched::Revive(Some(failure)),
        Cut::Already | Cut::Restarted => Watched::Nothing,
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
