// SPDX-License-Identifier: GPL-2.0

//! Access to the block's registers.

use crate::{
    boards::Place,
    logic::{
        capability::{Capabilities, Identity, IdentityError},
        regs::{csr, MAP_ID},
        steps::{self, Bus, Register, Step, Stopped},
    },
};
use kernel::{
    io::{register::FixedRegister, Io},
    new_mutex, pci,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Mutex, MutexGuard,
    },
    time::{delay::fsleep, Delta, Instant, Monotonic},
};

/// Why a sequence of accesses was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The board does not answer, or is not ours any more.
    Gone,
    /// A register did not become what was waited for.
    Late(Register, u32),
    /// The port to PCIe stands still.
    PortDead,
}

impl Failure {
    /// The state of the board, for a tracer.
    pub(crate) fn state(&self) -> &'static CStr {
        match self {
            Self::Gone => c"gone",
            Self::Late(..) => c"stuck",
            Self::PortDead => c"port_dead",
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Gone => ENODEV,
            Failure::Late(..) | Failure::PortDead => EIO,
        }
    }
}

/// The block's registers.
///
/// # Locking
/// The lock is taken last of all locks but those of [`crate::events`], and nothing is allocated
/// under it: memory may be wanted back by its owner at any time, also while the kernel looks for
/// free memory.
#[pin_data]
pub(crate) struct Hw {
    bar: pci::DevresBar,
    place: Place,
    /// How long a sequence may wait for the block.
    patience: Delta,
    gone: Atomic<bool>,
    /// Holds `CHANNEL_SELECT` and the sequences together.
    #[pin]
    lock: Mutex<()>,
}

/// How long to sleep between two looks at a register: at first shortly, then longer, so that a
/// block that takes its time is not kept busy with being asked.
const PAUSES: [Delta; 2] = [Delta::from_micros(20), Delta::from_micros(500)];
/// Looks with the short pause.
const QUICK: u32 = 50;

/// What the block in a BAR is, checked against what this driver was made for.
pub(crate) fn identify(
    bar: &pci::Bar<'_>,
    place: &Place,
    build_id: Option<u32>,
) -> Result<(Identity, Capabilities), IdentityError> {
    let read = |offset| bar.try_read32(place.csr + offset).unwrap_or(u32::MAX);
    let identity = Identity::new(Identity::OFFSETS.map(read));
    let capabilities = identity.check(MAP_ID, build_id)?;
    Ok((identity, capabilities))
}

struct Access<'a> {
    hw: &'a Hw,
    patience: Delta,
    since: Instant<Monotonic>,
    looks: u32,
    /// `None` while sleeping between two looks: others go on meanwhile. What must not be torn
    /// apart, a selection and its access or the entries of one owner, has no look in between.
    guard: Option<MutexGuard<'a, ()>>,
}

impl Hw {
    /// The registers in a BAR.
    pub(crate) fn new(bar: pci::DevresBar, place: Place, patience: Delta) -> impl PinInit<Self> {
        pin_init!(Self {
            bar,
            place,
            patience,
            gone: Atomic::new(false),
            lock <- new_mutex!(()),
        })
    }

    /// Where the block is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    fn offset(&self, register: Register) -> usize {
        let base = match register {
            Register::Csr(_) | Register::Channel { .. } => self.place.csr,
            Register::Page { .. } => self.place.chan,
            Register::Att(_) => self.place.att,
        };
        base + register.offset()
    }

    fn read32(&self, register: Register) -> Result<u32, Failure> {
        let read = |bar: &pci::Bar<'_>| bar.try_read32(self.offset(register)).ok();
        self.bar
            .try_access_with(read)
            .flatten()
            .ok_or(Failure::Gone)
    }

    fn write32(&self, register: Register, value: u32) -> Result<(), Failure> {
        let write = |bar: &pci::Bar<'_>| bar.try_write32(value, self.offset(register)).ok();
        self.bar
            .try_access_with(write)
            .flatten()
            .ok_or(Failure::Gone)
    }

    /// Loads something from the window into FPGA memory: what was stored there before has arrived
    /// then. A board that does not answer takes no stores either.
    pub(crate) fn load_from_window(&self) {
        let Some(window) = self.place.window.filter(|_| !self.is_gone()) else {
            return;
        };
        self.bar
            .try_access_with(|bar| bar.try_read32(window).is_ok());
    }

    /// Whether the board has been found not to answer.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(ordering::Acquire)
    }

    /// From now on the board counts as one that does not answer.
    pub(crate) fn set_gone(&self, gone: bool) {
        self.gone.store(gone, ordering::Release);
    }

    /// A board that is not there reads as all ones (PCI Express Base Specification, 2.3.2:
    /// what the root complex makes of an Unsupported Request). `MAP_ID` never does.
    fn check(&self, value: u32) -> Result<u32, Failure> {
        if value == u32::MAX && self.read32(Register::Csr(csr::MAP_ID))? != MAP_ID {
            self.set_gone(true);
            return Err(Failure::Gone);
        }
        Ok(value)
    }

    /// Looks at one register.
    pub(crate) fn read(&self, register: Register) -> Result<u32, Failure> {
        self.access(self.patience).read(register)
    }

    /// Looks at a register of the CSR.
    pub(crate) fn look<R>(&self) -> Result<R, Failure>
    where
        R: FixedRegister<Storage = u32> + From<u32>,
    {
        self.read(Register::Csr(R::OFFSET)).map(Into::into)
    }

    /// Writes a register of the CSR.
    pub(crate) fn set<R>(&self, value: R) -> Result<(), Failure>
    where
        R: FixedRegister<Storage = u32>,
        u32: From<R>,
    {
        self.run([Step::Write(Register::Csr(R::OFFSET), value.into())])
    }

    /// Carries steps out, all of them or up to the first that fails.
    pub(crate) fn run(&self, steps: impl IntoIterator<Item = Step>) -> Result<(), Failure> {
        self.run_within(self.patience, steps)
    }

    /// The same with another patience.
    pub(crate) fn run_within(
        &self,
        patience: Delta,
        steps: impl IntoIterator<Item = Step>,
    ) -> Result<(), Failure> {
        steps::run(&mut self.access(patience), steps).map_err(|stopped| match stopped {
            Stopped::Bus(failure) => failure,
            Stopped::Late { register, value } => Failure::Late(register, value),
        })
    }

    fn access(&self, patience: Delta) -> Access<'_> {
        Access {
            hw: self,
            patience,
            since: Instant::now(),
            looks: 0,
            guard: Some(self.lock.lock()),
        }
    }
}

impl Access<'_> {
    fn select(&self, register: Register) -> Result<(), Failure> {
        if self.hw.is_gone() {
            return Err(Failure::Gone);
        }
        match register.select() {
            Some(channel) => self.hw.write32(Register::Csr(csr::CHANNEL_SELECT), channel),
            None => Ok(()),
        }
    }
}

impl Bus for Access<'_> {
    type Error = Failure;

    fn write(&mut self, register: Register, value: u32) -> Result<(), Failure> {
        self.select(register)?;
        self.hw.write32(register, value)
    }

    fn read(&mut self, register: Register) -> Result<u32, Failure> {
        self.select(register)?;
        self.hw.check(self.hw.read32(register)?)
    }

    fn pause(&mut self) -> Result<bool, Failure> {
        if self.looks == 0 {
            self.since = Instant::now();
        }
        self.looks += 1;
        if self.since.elapsed() > self.patience {
            return Ok(false);
        }
        self.guard = None;
        fsleep(PAUSES[usize::from(self.looks > QUICK)]);
        self.guard = Some(self.hw.lock.lock());
        Ok(true)
    }
}
