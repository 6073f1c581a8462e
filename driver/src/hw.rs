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
    io::Io,
    new_mutex, pci,
    prelude::*,
    sync::{aref::ARef, Mutex, MutexGuard},
    time::{delay::fsleep, Delta},
};

/// Reasons why a sequence of accesses was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The board does not answer, or is not ours any more.
    Gone,
    /// It is being reset or started, or will be.
    Away,
    /// A read had no answer in this start. It will be started again.
    Silent,
    /// A register did not get the value that was waited for.
    Late(Register, u32),
    /// The port to PCIe is blocked.
    PortDead,
    /// The port was blocked and has gone on: records are lost.
    Reopened,
    /// The block was reset, but not by this driver.
    Forgotten,
    /// It is not the block that was found; its `BUILD_ID`.
    Other(u32),
    /// The OpenCL kernels cannot be reset.
    Kernels,
    /// The FPGA's core has no configuration.
    Empty,
    /// Reads are down: answers that are due have not come.
    Unanswered,
    /// A fence had no answer from a peer: writes to it may be on their way.
    Unflushed,
    /// The function may not read as much at once as its port needs.
    ReadRequest,
}

impl Failure {
    /// Returns the state of the board, for a tracer.
    pub(crate) fn state(&self) -> &'static CStr {
        match self {
            Self::Gone => c"gone",
            Self::Away => c"away",
            Self::Silent => c"silent",
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
            Failure::Away | Failure::Silent => EAGAIN,
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

impl From<Stopped<Failure>> for Failure {
    fn from(stopped: Stopped<Self>) -> Self {
        match stopped {
            Stopped::Bus(failure) => failure,
            Stopped::Late { register, value } => Self::Late(register, value),
            // Only a fence's read is checked.
            Stopped::Failed { .. } => Self::Unflushed,
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Away => Self::Away,
            Refused::Silent => Self::Silent,
            Refused::Gone => Self::Gone,
        }
    }
}

/// The block's registers, and the state that determines which accesses are allowed.
///
/// # Locking
/// The lock is taken last of all locks but those of [`crate::events`], and nothing is allocated under it: an owner
/// may invalidate memory at any time, also while the kernel looks for free memory.
#[pin_data]
pub(crate) struct Hw {
    bar: pci::DevresBar,
    device: ARef<pci::Device>,
    place: Place,
    /// Longest time for which a sequence may wait for the block.
    patience: Delta,
    /// Makes sequences that begin with `CHANNEL_SELECT` atomic. No register is accessed without it, so that no access
    /// is in progress when the state forbids it.
    #[pin]
    block: Mutex<Block>,
}

/// State of the block.
struct Block {
    life: Lifecycle,
    fences: Fences,
}

/// Time for which requests may still leave after Bus Master Enable was cleared. The hard IP answers the configuration
/// write by itself. It passes the bit to an application with its own transaction layer in turn with 15 other words,
/// eight cycles each (Stratix V Avalon-ST Interface for PCIe 683093, "Configuration Space Register Access"): 1 µs at
/// 125 MHz, and packets that the hard IP has already.
const STILL_LEAVES: Delta = Delta::from_micros(20);

/// The function's Bus Master Enable.
struct Master<'a>(&'a Hw);

impl Mastering for Master<'_> {
    fn set(&mut self) {
        // SAFETY: a valid device; the state makes sure that its block reaches only memory that is held.
        unsafe { bindings::pci_set_master(pci_dev(&self.0.device)) };
    }

    fn clear(&mut self) {
        if is_master(&self.0.device) {
            let bar = |bar: &pci::Bar<'_>| silence(bar, &self.0.place);
            // A board that is not there makes no messages.
            let _ = self.0.bar.try_access_with(bar);
        }
        // SAFETY: a valid device; clearing a bit of its configuration has no unsafe effect.
        unsafe { bindings::pci_clear_master(pci_dev(&self.0.device)) };
        fsleep(STILL_LEAVES);
    }
}

/// Whether a function is bus master, and answers in its memory. A function that is not there is neither.
fn is_master(device: &pci::Device) -> bool {
    const BOTH: u32 = bindings::PCI_COMMAND_MASTER | bindings::PCI_COMMAND_MEMORY;
    let mut command = 0;
    // SAFETY: a valid device, and a place for the answer.
    let failed = unsafe {
        bindings::pci_read_config_word(pci_dev(device), bindings::PCI_COMMAND as i32, &mut command)
    };
    failed == 0 && command != u16::MAX && u32::from(command) & BOTH == BOTH
}

/// Ends the interrupts of a block whose function is still bus master. A message that waits for the right to be sent
/// blocks all answers to the processor (RTL that Quartus 16.0 generates for `altera_pcie_sv_hip_avmm`: its command
/// machine takes the message first, and sends none without Bus Master Enable). The answer to the last look has passed
/// it.
pub(crate) fn silence(bar: &pci::Bar<'_>, place: &Place) {
    let control = place.csr + csr::CONTROL;
    // A block under reset repeats the value of the last read: `MAP_ID`, which is not a setting.
    let is_ours = matches!(bar.try_read32(place.csr + csr::MAP_ID), Ok(MAP_ID));
    let Ok(before) = bar.try_read32(control) else { return };
    if before == u32::MAX {
        return;
    }
    // The addresses were compared with the BAR before the block was used. If the FPGA has another block now, nothing
    // is written to it.
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

/// Rights by which registers are accessed.
#[derive(Clone, Copy)]
enum Right {
    /// That of a user, for a board that runs.
    Use,
    /// That of the driver, which brings the board from one state to another, in this start of the board.
    Upkeep(Epoch),
}

struct Access<'a> {
    hw: &'a Hw,
    right: Right,
    patience: Patience,
    turn: Turn,
    /// Stores since the last read that was answered.
    unseen: u32,
    /// `None` while sleeping between two looks: other threads go on during that. Sequences that must be atomic, a
    /// selection and its access or the entries of one owner, have no look in between.
    guard: Option<MutexGuard<'a, Block>>,
}

impl Hw {
    /// Makes the registers in a BAR of a device that was not started yet.
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

    /// Returns the addresses of the block.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    fn offset(&self, register: Register) -> usize {
        let base = match register {
            Register::Csr(_) | Register::Channel { .. } | Register::Stream { .. } => self.place.csr,
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

    /// Accesses the vendor's part of the board, while a user may, under the registers' lock as for steps.
    pub(crate) fn with_shell<R>(
        &self,
        access: impl FnOnce(&pci::Bar<'_>) -> Option<R>,
    ) -> Result<R, Failure> {
        let block = self.block.lock();
        block.life.usable()?;
        self.shell(access)
    }

    /// Accesses the vendor's part also while the board is started or stopped, as long as it is this start.
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

    /// Accesses the vendor's part as [`with_shell`](Self::with_shell), where the board may not answer: `access`
    /// returns whether a read has returned all ones, as all reads do of a board that is not there.
    pub(crate) fn with_shell_that_answers(
        &self,
        access: impl FnOnce(&pci::Bar<'_>) -> Option<bool>,
    ) -> Result<(), Failure> {
        let mut block = self.block.lock();
        block.life.usable()?;
        match self.shell(access)? {
            // If this read fails, too, no board answers, and that may be the reason for all ones.
            true if self.read32(Register::Csr(csr::MAP_ID))? != MAP_ID => {
                block.life.note_silence();
                Err(Failure::Gone)
            }
            _ => Ok(()),
        }
    }

    fn shell<R>(&self, access: impl FnOnce(&pci::Bar<'_>) -> Option<R>) -> Result<R, Failure> {
        let done = self.bar.try_access_with(access).flatten();
        done.ok_or(Failure::Gone)
    }

    /// Writes dwords to the first address of the BAR, of a stopped board whose hard IP takes them for a
    /// configuration.
    pub(crate) fn send(&self, mut words: impl Iterator<Item = u32>) -> Result<(), Failure> {
        let block = self.block.lock();
        match block.life.state() {
            State::Resting => {
                self.shell(|bar| words.try_for_each(|word| bar.try_write32(word, 0).ok()))
            }
            _ => Err(Failure::Away),
        }
    }

    /// Whether requests of this start can be in progress.
    pub(crate) fn may_request(&self, epoch: Epoch) -> bool {
        self.block.lock().life.may_request(epoch)
    }

    /// Returns the present start of the board, if its registers can be accessed.
    pub(crate) fn live(&self) -> Option<Epoch> {
        self.block.lock().life.live()
    }

    /// Returns the name of the board's state.
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

    /// Loads something from the window into FPGA memory: then earlier stores to it have arrived. A board that may not
    /// be accessed takes no stores either.
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

    /// Reads one register.
    pub(crate) fn read(&self, register: Register) -> Result<u32, Failure> {
        self.access(Right::Use, self.patience).read(register)
    }

    /// Carries out steps, all of them or up to the first that fails, on a board that runs.
    pub(crate) fn run(&self, steps: impl IntoIterator<Item = Step>) -> Result<(), Failure> {
        self.run_within(self.patience, steps)
    }

    /// Carries out steps on a board that runs, with another time limit.
    pub(crate) fn run_within(
        &self,
        patience: Delta,
        steps: impl IntoIterator<Item = Step>,
    ) -> Result<(), Failure> {
        carry_out(&mut self.access(Right::Use, patience), steps)
    }

    /// Carries out fewer stores than are looked after, the last of which starts something, on a board that runs.
    /// Succeeds when that is stored, although the board may not have got it: then it is noted as silent, and the start
    /// that follows ends the work.
    pub(crate) fn ring(&self, stores: impl IntoIterator<Item = Step>) -> Result<(), Failure> {
        let mut access = self.access(Right::Use, self.patience);
        steps::run(&mut access, stores)?;
        let _ = access.see();
        Ok(())
    }

    /// Carries out steps also while the board is started or stopped, as long as it is this start.
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

    /// Returns how many fences were begun, by all threads.
    pub(crate) fn fences_begun(&self) -> u64 {
        self.block.lock().fences.begun()
    }

    /// Reads one register in this start of the board.
    pub(crate) fn read_in(&self, epoch: Epoch, register: Register) -> Result<u32, Failure> {
        self.access(Right::Upkeep(epoch), self.patience)
            .read(register)
    }

    fn access(&self, right: Right, patience: Delta) -> Access<'_> {
        Access {
            hw: self,
            right,
            patience: Patience::new(patience.as_nanos() as u64),
            turn: Turn::default(),
            unseen: 0,
            guard: Some(self.block.lock()),
        }
    }
}

fn carry_out(
    access: &mut Access<'_>,
    steps: impl IntoIterator<Item = Step>,
) -> Result<(), Failure> {
    steps::run(access, steps)?;
    match access.unseen {
        // A single store, such as an acknowledgement in a handler of an interrupt, is made again if it was lost.
        0 | 1 => Ok(()),
        _ => access.see(),
    }
}

/// Number of stores after which a read shows that the board answers: stores to a board that does not are lost without
/// a sign. A moment without an answer that is shorter than such a group is not noticed.
const UNSEEN: u32 = 32;

impl Access<'_> {
    /// Checks the state, which may have changed while the lock was released.
    fn permitted(&self) -> Result<(), Failure> {
        let block = self.guard.as_ref().ok_or(Failure::Gone)?;
        match self.right {
            Right::Use => Ok(block.life.permits_use()?),
            Right::Upkeep(epoch) => Ok(block.life.permits_upkeep(epoch)?),
        }
    }

    /// Checks that the board answers.
    fn see(&mut self) -> Result<(), Failure> {
        self.read(Register::Csr(csr::MAP_ID)).map(drop)
    }

    fn select(&self, register: Register) -> Result<(), Failure> {
        self.permitted()?;
        match register.select() {
            Some((place, value)) => self.hw.write32(Register::Csr(place), value),
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

/// Returns the time, in nanoseconds.
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
        self.hw.write32(register, value)?;
        self.unseen += 1;
        match self.unseen {
            UNSEEN.. => self.see(),
            _ => Ok(()),
        }
    }

    /// Reads a register. `ATT_INVALIDATE` reads busy only for a thread that has to wait, and its failure bit is that
    /// of the thread's own fence.
    fn read(&mut self, register: Register) -> Result<u32, Failure> {
        self.select(register)?;
        let mut answer = self.hw.answer(register);
        if let (Err(Failure::Gone), Some(block)) = (answer, &mut self.guard) {
            // The driver gives a board up only when it does not come back.
            if block.life.note_silence() {
                answer = Err(Failure::Silent);
            }
        }
        let value = answer?;
        self.unseen = 0;
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
