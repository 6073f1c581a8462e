// SPDX-License-Identifier: GPL-2.0

//! Access to the block's registers, as the board's state allows it.

use crate::{
    boards::Place,
    events,
    ffi::pci_dev,
    logic::{
        fences::{Fences, Turn},
        lifecycle::{Control, Epoch, Lifecycle, Mastering, Refused, State},
        patience::Patience,
        regs::{csr, MAP_ID},
        steps::{self, Bus, Register, Step, Stopped},
    },
};
use kernel::{
    bindings,
    io::{register::FixedRegister, Io},
    new_mutex, pci,
    prelude::*,
    sync::{aref::ARef, Mutex, MutexGuard},
    time::{delay::fsleep, Delta},
};

/// Why a sequence of accesses was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The board does not answer, or is not ours any more.
    Gone,
    /// It is being reset or started, or will be.
    Away,
    /// A register did not become what was waited for.
    Late(Register, u32),
    /// The port to PCIe stands still.
    PortDead,
    /// It stood still and has gone on: records are lost.
    Reopened,
    /// The block was reset, and not by us.
    Forgotten,
    /// It is another block than the one that was found: its `BUILD_ID`.
    Other(u32),
    /// The OpenCL kernels cannot be reset.
    Kernels,
    /// The FPGA's core has no configuration.
    Empty,
    /// Reads are down: answers that are owed have not come.
    Unanswered,
    /// A fence had no answer from a peer: writes to it may be on their way.
    Unflushed,
    /// The function may not read as much at once as its port needs.
    ReadRequest,
}

impl Failure {
    /// The state of the board, for a tracer.
    pub(crate) fn state(&self) -> &'static CStr {
        match self {
            Self::Gone => c"gone",
            Self::Away => c"away",
            Self::Late(..) => c"stuck",
            Self::PortDead => c"port_dead",
            Self::Reopened => c"reopened",
            Self::Forgotten => c"forgotten",
            Self::Other(_) => c"another",
            Self::Kernels => c"kernels",
            Self::Empty => c"empty",
            Self::Unanswered => c"unanswered",
            Self::Unflushed => c"unflushed",
            Self::ReadRequest => c"read_request",
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Gone => ENODEV,
            Failure::Away => EAGAIN,
            Failure::Late(..)
            | Failure::PortDead
            | Failure::Reopened
            | Failure::Forgotten
            | Failure::Other(_)
            | Failure::Kernels
            | Failure::Empty
            | Failure::Unanswered
            | Failure::Unflushed
            | Failure::ReadRequest => EIO,
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Away => Self::Away,
            Refused::Gone => Self::Gone,
        }
    }
}

/// The block's registers, and the state that says who may access them.
///
/// # Locking
/// The lock is taken last of all locks but those of [`crate::events`], and nothing is allocated
/// under it: memory may be wanted back by its owner at any time, also while the kernel looks for
/// free memory.
#[pin_data]
pub(crate) struct Hw {
    bar: pci::DevresBar,
    device: ARef<pci::Device>,
    place: Place,
    /// How long a sequence may wait for the block.
    patience: Delta,
    /// Holds `CHANNEL_SELECT` and the sequences together. No register is accessed without it, so
    /// that none is being accessed when the state forbids it.
    #[pin]
    block: Mutex<Block>,
}

/// What is known of the block.
struct Block {
    life: Lifecycle,
    fences: Fences,
}

/// How long requests may still leave after Bus Master Enable was cleared. The hard IP answers the configuration write by
/// itself, and tells an application with its own transaction layer of the bit in turn with 15 other words, eight cycles each
/// (Stratix V Avalon-ST Interface for PCIe 683093, "Configuration Space Register Access"): 1 µs at 125 MHz, and packets that
/// the hard IP has already.
const STILL_LEAVES: Delta = Delta::from_micros(20);

/// The function's Bus Master Enable.
struct Master<'a>(&'a Hw);

impl Mastering for Master<'_> {
    fn set(&mut self) {
        // SAFETY: a valid device; what its block may reach, its state answers for.
        unsafe { bindings::pci_set_master(pci_dev(&self.0.device)) };
    }

    fn clear(&mut self) {
        if is_master(&self.0.device) {
            let bar = |bar: &pci::Bar<'_>| silence(bar, &self.0.place);
            // A board that is not there makes no messages.
            let _ = self.0.bar.try_access_with(bar);
        }
        // SAFETY: a valid device; clearing a bit of its configuration harms nobody.
        unsafe { bindings::pci_clear_master(pci_dev(&self.0.device)) };
        fsleep(STILL_LEAVES);
    }
}

/// Whether a function is bus master, and answers in its memory. One that is not there is neither.
fn is_master(device: &pci::Device) -> bool {
    const BOTH: u32 = bindings::PCI_COMMAND_MASTER | bindings::PCI_COMMAND_MEMORY;
    let mut command = 0;
    // SAFETY: a valid device, and a place for the answer.
    let failed = unsafe {
        bindings::pci_read_config_word(pci_dev(device), bindings::PCI_COMMAND as i32, &mut command)
    };
    failed == 0 && command != u16::MAX && u32::from(command) & BOTH == BOTH
}

/// Ends the interrupts of a block whose function is bus master still. A message that waits for the right to be sent holds up
/// all answers to the processor (RTL that Quartus 16.0 generates for `altera_pcie_sv_hip_avmm`: its command machine takes the
/// message first, and sends none without Bus Master Enable). The answer to the last look has passed it.
pub(crate) fn silence(bar: &pci::Bar<'_>, place: &Place) {
    let control = place.csr + csr::CONTROL;
    // A block under reset repeats the value of the last read: `MAP_ID`, which is no setting.
    let is_ours = matches!(bar.try_read32(place.csr + csr::MAP_ID), Ok(MAP_ID));
    let Ok(before) = bar.try_read32(control) else { return };
    if before == u32::MAX {
        return;
    }
    // The places were compared with the BAR before the block was used. If the FPGA has another block now, nothing is written
    // to it.
    if let Some(after) = steps::quiet(before).filter(|_| is_ours) {
        let _ = bar.try_write32(after, control);
    }
    if let Some(enable) = place.line.as_ref().map(|line| line.enable()) {
        if matches!(bar.try_read32(enable), Ok(enabled) if enabled != 0) {
            let _ = bar.try_write32(0, enable);
        }
    }
    let _ = bar.try_read32(control);
}

impl Control for Hw {
    type Failure = Failure;

    fn with<R>(&self, run: impl FnOnce(&mut Lifecycle, &mut dyn Mastering) -> R) -> R {
        run(&mut self.block.lock().life, &mut Master(self))
    }
}

/// On whose behalf registers are accessed.
#[derive(Clone, Copy)]
enum Right {
    /// A user's, who needs a board that runs.
    Use,
    /// The driver's, who brings the board from one state to another: in this start of it.
    Upkeep(Epoch),
}

struct Access<'a> {
    hw: &'a Hw,
    right: Right,
    patience: Patience,
    turn: Turn,
    /// `None` while sleeping between two looks: others go on meanwhile. What must not be torn
    /// apart, a selection and its access or the entries of one owner, has no look in between.
    guard: Option<MutexGuard<'a, Block>>,
}

impl Hw {
    /// The registers in a BAR of a device, which nobody has started yet.
    pub(crate) fn new(
        bar: pci::DevresBar,
        device: ARef<pci::Device>,
        place: Place,
        patience: Delta,
    ) -> impl PinInit<Self> {
        pin_init!(Self {
            bar,
            device,
            place,
            patience,
            block <- new_mutex!(Block { life: Lifecycle::new(), fences: Fences::new() }),
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

    /// Accesses the vendor's part of the board, while a user may: as steps do, under the registers' lock.
    pub(crate) fn with_shell<R>(
        &self,
        access: impl FnOnce(&pci::Bar<'_>) -> Option<R>,
    ) -> Result<R, Failure> {
        let block = self.block.lock();
        block.life.usable()?;
        self.shell(access)
    }

    /// The same while the board is started or brought to rest, too, as long as it is this start.
    pub(crate) fn with_shell_in<R>(
        &self,
        epoch: Epoch,
        access: impl FnOnce(&pci::Bar<'_>) -> Option<R>,
    ) -> Result<R, Failure> {
        let block = self.block.lock();
        match block.life.is_live(epoch) {
            true => self.shell(access),
            false => Err(Failure::Away),
        }
    }

    /// As [`with_shell`](Self::with_shell), for accesses that may find that nobody answers: they say whether something
    /// has read as all ones, as everything does of a board that is not there.
    pub(crate) fn with_shell_that_answers(
        &self,
        access: impl FnOnce(&pci::Bar<'_>) -> Option<bool>,
    ) -> Result<(), Failure> {
        let block = self.block.lock();
        block.life.usable()?;
        match self.shell(access)? {
            // It reads so when nobody is there, and then all ones may have been that.
            true if self.read32(Register::Csr(csr::MAP_ID))? != MAP_ID => Err(Failure::Gone),
            _ => Ok(()),
        }
    }

    fn shell<R>(&self, access: impl FnOnce(&pci::Bar<'_>) -> Option<R>) -> Result<R, Failure> {
        let done = self.bar.try_access_with(access).flatten();
        done.ok_or(Failure::Gone)
    }

    /// Writes dwords to the first of the BAR, of a board at rest whose hard IP takes them for a configuration.
    pub(crate) fn send(&self, mut words: impl Iterator<Item = u32>) -> Result<(), Failure> {
        let block = self.block.lock();
        match block.life.state() {
            State::Resting => {
                self.shell(|bar| words.try_for_each(|word| bar.try_write32(word, 0).ok()))
            }
            _ => Err(Failure::Away),
        }
    }

    /// The present start of the board, if its registers can be accessed.
    pub(crate) fn live(&self) -> Option<Epoch> {
        self.block.lock().life.live()
    }

    /// How the board stands, in a word.
    pub(crate) fn state(&self) -> &'static CStr {
        match self.block.lock().life.state() {
            State::Resting => c"resting",
            State::Starting => c"starting",
            State::Running => c"ready",
            State::Stopping => c"stopping",
            State::CutOff => c"cut_off",
            State::Gone => c"gone",
            State::Removed => c"removed",
        }
    }

    /// Whether the board can be used.
    pub(crate) fn usable(&self) -> Result<Epoch, Failure> {
        Ok(self.block.lock().life.usable()?)
    }

    /// Loads something from the window into FPGA memory: what was stored there before has arrived
    /// then. A board that may not be touched takes no stores either.
    pub(crate) fn load_from_window(&self) {
        let Some(window) = self.place.window else {
            return;
        };
        let block = self.block.lock();
        if block.life.live().is_some() {
            self.bar
                .try_access_with(|bar| bar.try_read32(window).is_ok());
        }
    }

    fn answer(&self, register: Register) -> Result<u32, Failure> {
        let answer = steps::answer(register, |register| self.read32(register))?;
        answer.ok_or(Failure::Gone)
    }

    /// Looks at one register.
    pub(crate) fn read(&self, register: Register) -> Result<u32, Failure> {
        self.access(Right::Use, self.patience).read(register)
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
        self.run([write(value)])
    }

    /// Carries steps out, all of them or up to the first that fails, on a board that runs.
    pub(crate) fn run(&self, steps: impl IntoIterator<Item = Step>) -> Result<(), Failure> {
        self.run_within(self.patience, steps)
    }

    /// The same with another patience.
    pub(crate) fn run_within(
        &self,
        patience: Delta,
        steps: impl IntoIterator<Item = Step>,
    ) -> Result<(), Failure> {
        carry_out(&mut self.access(Right::Use, patience), steps)
    }

    /// The same while the board is started or brought to rest, too, as long as it is this start.
    pub(crate) fn upkeep(
        &self,
        epoch: Epoch,
        steps: impl IntoIterator<Item = Step>,
    ) -> Result<(), Failure> {
        carry_out(
            &mut self.access(Right::Upkeep(epoch), self.patience),
            steps,
        )
    }

    /// How many fences were begun, by anybody.
    pub(crate) fn fences_begun(&self) -> u64 {
        self.block.lock().fences.begun()
    }

    /// Looks at one register in this start of the board.
    pub(crate) fn read_in(&self, epoch: Epoch, register: Register) -> Result<u32, Failure> {
        self.access(Right::Upkeep(epoch), self.patience)
            .read(register)
    }

    /// Looks at a register of the CSR in this start of the board.
    pub(crate) fn look_in<R>(&self, epoch: Epoch) -> Result<R, Failure>
    where
        R: FixedRegister<Storage = u32> + From<u32>,
    {
        self.read_in(epoch, Register::Csr(R::OFFSET))
            .map(Into::into)
    }

    fn access(&self, right: Right, patience: Delta) -> Access<'_> {
        Access {
            hw: self,
            right,
            patience: Patience::new(patience.as_nanos() as u64),
            turn: Turn::default(),
            guard: Some(self.block.lock()),
        }
    }
}

/// A step that writes a register of the CSR.
pub(crate) fn write<R>(value: R) -> Step
where
    R: FixedRegister<Storage = u32>,
    u32: From<R>,
{
    Step::Write(Register::Csr(R::OFFSET), value.into())
}

fn carry_out(
    access: &mut Access<'_>,
    steps: impl IntoIterator<Item = Step>,
) -> Result<(), Failure> {
    steps::run(access, steps).map_err(|stopped| match stopped {
        Stopped::Bus(failure) => failure,
        Stopped::Late { register, value } => Failure::Late(register, value),
        // Nothing else is checked than a fence's read.
        Stopped::Failed { .. } => Failure::Unflushed,
    })
}

impl Access<'_> {
    /// The state may have changed while the lock was let go.
    fn permitted(&self) -> Result<(), Failure> {
        let life = &self.guard.as_ref().ok_or(Failure::Gone)?.life;
        match self.right {
            Right::Use => Ok(life.usable().map(|_| ())?),
            Right::Upkeep(epoch) if life.is_live(epoch) => Ok(()),
            Right::Upkeep(_) => Err(Failure::Away),
        }
    }

    fn select(&self, register: Register) -> Result<(), Failure> {
        self.permitted()?;
        match register.select() {
            Some(channel) => self.hw.write32(Register::Csr(csr::CHANNEL_SELECT), channel),
            None => Ok(()),
        }
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        if let Some(block) = &mut self.guard {
            block.fences.leave(&mut self.turn);
        }
    }
}

/// The time, in nanoseconds.
fn now() -> u64 {
    events::now() as u64
}

impl Bus for Access<'_> {
    type Error = Failure;

    fn write(&mut self, register: Register, value: u32) -> Result<(), Failure> {
        self.select(register)?;
        if let (Register::Csr(csr::ATT_INVALIDATE), Some(block)) = (register, &mut self.guard) {
            block.fences.begin(&mut self.turn);
        }
        self.hw.write32(register, value)
    }

    /// `ATT_INVALIDATE` reads busy for who has to wait, and for nobody else, and says of its own fence whether it has failed.
    fn read(&mut self, register: Register) -> Result<u32, Failure> {
        self.select(register)?;
        let value = self.hw.answer(register)?;
        match (register, &mut self.guard) {
            (Register::Csr(csr::ATT_INVALIDATE), Some(block)) => {
                let busy = value & csr::ATT_INVALIDATE_BUSY_MASK != 0;
                if !busy {
                    let failed = value & csr::ATT_INVALIDATE_FAILED_MASK != 0;
                    block.fences.hear(failed);
                }
                let waits = block.fences.waits(&mut self.turn, busy, now());
                let failed = block.fences.has_failed(&self.turn);
                Ok(u32::from(waits) << csr::ATT_INVALIDATE_BUSY_LSB
                    | u32::from(failed) << csr::ATT_INVALIDATE_FAILED_LSB)
            }
            _ => Ok(value),
        }
    }

    fn pause(&mut self, register: Register) -> Result<bool, Failure> {
        let Some(block) = &mut self.guard else {
            return Err(Failure::Gone);
        };
        let fences = &mut block.fences;
        if register == Register::Csr(csr::ATT_INVALIDATE) {
            fences.will_look_again(&mut self.turn);
        }
        if self.turn.was_held_off() {
            self.patience.begin_anew();
        }
        let again = self.patience.looks_again(register, now(), fences.begun());
        if again {
            let pause = fences.pause(&self.turn, self.patience.pause());
            self.guard = None;
            fsleep(Delta::from_nanos(pause as i64));
            self.guard = Some(self.hw.block.lock());
        }
        Ok(again)
    }
}
