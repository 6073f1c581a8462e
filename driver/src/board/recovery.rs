// SPDX-License-Identifier: GPL-2.0

//! A board that does not do what it is told is cut off from memory, looked at, and started again;
//! so is one that loses what it knows, by a reset or a sleep.

use super::Board;
use crate::{
    ffi::pci_dev,
    hw::Failure,
    logic::{
        att::Entry,
        steps::{self, Step},
        table::{self, Reach},
    },
    regs::csr::{QUARANTINE, STATUS},
    trace,
};
use kernel::{
    bindings,
    prelude::*,
    sync::{atomic::ordering, Arc},
    time::{delay::fsleep, msecs_to_jiffies, Delta},
    workqueue::{self, DelayedWork, WorkItem},
};

/// How often the watchdog looks, while there are contexts.
const WATCH_MS: u32 = 1000;

/// Looks at a read port that waits for answers, and the pause between them: 100 ms in all.
const QUARANTINE_LOOKS: u32 = 50;
const QUARANTINE_PAUSE: Delta = Delta::from_millis(2);

impl Board {
    /// Makes sure that steps are carried out after which memory is let go. A board that does not
    /// carry them out is cut off from memory, and started again later.
    pub(crate) fn settle<S: IntoIterator<Item = Step>>(&self, steps: impl Fn() -> S) {
        while self.cut_off.load(ordering::Acquire) {
            // It reaches no memory now, and there is nothing to wait for. Whoever starts it again
            // must not find old entries, though.
            let steps = steps().into_iter();
            let _ = self
                .hw
                .run(steps.take_while(|step| matches!(step, Step::Write(..))));
            if self.cut_off.load(ordering::Acquire) {
                return;
            }
        }
        let settled = self.hw.run(steps()).and_then(|()| self.port_is_alive());
        if let Err(failure) = settled {
            self.cut_off(failure);
        }
    }

    /// A port that stands still may yet send what it was given.
    fn port_is_alive(&self) -> Result<(), Failure> {
        let status: STATUS = self.hw.look()?;
        match status.port_dead() {
            true => Err(Failure::PortDead),
            false => Ok(()),
        }
    }

    /// Takes the right to reach memory from the board: whatever it does, nothing of it arrives
    /// from now on (PCI Local Bus Specification, 6.2.2, Bus Master).
    fn cut_off(&self, failure: Failure) {
        if self.cut_off.xchg(true, ordering::Full) {
            return;
        }
        self.isolate();
        trace::board(self, failure.state());
        match failure {
            Failure::Gone => dev_err!(self.device(), "the board does not answer any more\n"),
            Failure::Late(register, value) => dev_err!(
                self.device(),
                "the block is stuck: {:?} reads {:#x}; it is cut off from memory\n",
                register,
                value
            ),
            Failure::PortDead => dev_err!(
                self.device(),
                "the PCIe port takes nothing any more; the board is cut off from memory\n"
            ),
        }
    }

    /// Whatever the board does, nothing of it arrives from now on.
    fn isolate(&self) {
        // SAFETY: a valid device; clearing a bit of its configuration harms nobody.
        unsafe { bindings::pci_clear_master(pci_dev(self.gate.device())) };
        self.cut_off.store(true, ordering::Release);
    }

    /// Has the watchdog look after a while.
    pub(super) fn watch(self: &Arc<Self>) {
        // It may be waiting already.
        let _ =
            workqueue::system_freezable().enqueue_delayed(self.clone(), msecs_to_jiffies(WATCH_MS));
    }

    /// Waits until the watchdog has run for the last time. The gate must be closed.
    pub(crate) fn stop_watchdog(self: &Arc<Self>) {
        // SAFETY: initialised, and alive as long as we hold it.
        unsafe {
            let work = DelayedWork::raw_as_work(&raw const self.watchdog);
            let work = workqueue::Work::raw_get(work);
            bindings::flush_delayed_work(kernel::container_of!(work, bindings::delayed_work, work));
        }
    }

    /// Stops the block: all that was accepted ends, nothing new is accepted.
    pub(crate) fn quiesce(&self) {
        let _guard = self.recovery.lock();
        self.settle(|| Iterator::chain(steps::reset().into_iter(), table::fence(Reach::Host)));
    }

    /// Takes board and memory apart until [`start`](Self::start): the device is about to lose
    /// what it knows.
    pub(crate) fn rest(&self) {
        self.resting.store(true, ordering::Release);
        self.quiesce();
        self.rest_window();
        self.isolate();
        self.hw.set_gone(true);
        trace::board(self, c"resting");
    }

    /// The board will not be started again.
    pub(crate) fn give_up(&self) {
        self.rest_window();
        trace::board(self, c"given_up");
        self.for_each_user(|user| user.events.gone());
    }

    /// Starts the block and everybody's channel, or leaves the board cut off from memory. After a
    /// reset of the device it has forgotten everything (`lost`); after one of the block alone its
    /// ATT and settings are as before.
    pub(crate) fn start(&self, lost: bool) -> Result {
        let _guard = self.recovery.lock();
        self.rest_window();
        let started = self.try_start(lost);
        if started.is_err() {
            self.rest_window();
            self.isolate();
            self.hw.set_gone(true);
        } else {
            trace::board(self, c"started");
        }
        self.resting.store(false, ordering::Release);
        Ok(started?)
    }

    fn try_start(&self, lost: bool) -> Result<(), Failure> {
        self.memory.forget();
        self.hw.set_gone(false);
        self.hw.run(steps::reset())?;
        if lost {
            self.close_channels()?;
            self.configure()?;
        } else {
            // What was to be invalidated while the block was stuck may not have been.
            let entries = 0..self.capabilities.att_entries();
            self.hw
                .run(entries.flat_map(|index| table::write_entry(index, Entry::INVALID)))?;
        }
        self.write_zeros()?;
        self.try_for_each_user(|user| user.restore_regions())?;
        self.port_is_alive()?;
        // SAFETY: a valid device, and nothing in its block that could reach memory yet.
        unsafe { bindings::pci_set_master(pci_dev(self.gate.device())) };
        self.cut_off.store(false, ordering::Release);
        self.wake_window()?;
        self.hw.run(steps::start())?;
        self.try_for_each_user(|user| user.restart_channel())
    }

    /// The last thing before the device is unbound. Nobody reaches the board after it, nor the
    /// board any memory; what contexts hold is given back, though their files stay open.
    pub(crate) fn retire(self: &Arc<Self>) {
        self.give_up();
        self.gate.close();
        self.stop_watchdog();
        self.for_each_user(|user| user.unmap());
        self.quiesce();
        self.isolate();
        self.for_each_user(|user| user.close());
        self.memory.retire();
        for channel in 0..self.capabilities.channels {
            self.dismiss(channel);
        }
        trace::board(self, c"removed");
    }

    /// Whether the board is there and its block well.
    fn look(&self) -> Result<(), Failure> {
        if self.cut_off.load(ordering::Acquire) {
            return Err(Failure::PortDead);
        }
        self.port_is_alive()?;
        self.end_quarantine()
    }

    /// Opens a read port again that waits for answers which will not come: those of requests that
    /// their requester has given up. It does after 50 ms unless it was told otherwise (PCI Express
    /// Base Specification, 7.5.3.16, Completion Timeout Value). A port that is seen waiting again
    /// and again has waited all the time: to wait anew it needs `PORT_TIMEOUT`, which is longer
    /// than the pause between two looks. Where reads have tags, only a lost one's is out of use.
    fn end_quarantine(&self) -> Result<(), Failure> {
        if self.capabilities.tagged {
            return Ok(());
        }
        for _ in 0..QUARANTINE_LOOKS {
            let status: STATUS = self.hw.look()?;
            if !status.read_quarantine() {
                return Ok(());
            }
            fsleep(QUARANTINE_PAUSE);
        }
        self.hw.set(QUARANTINE::zeroed().with_drop_owed(true))?;
        dev_warn!(
            self.device(),
            "reads were never answered; they are given up\n"
        );
        Ok(())
    }

    /// Starts a board again whose block is stuck: by a reset of the block, or of the function.
    fn revive(&self) -> bool {
        if self.start(false).is_ok() {
            dev_warn!(self.device(), "the block was reset and started again\n");
            return true;
        }
        // SAFETY: a valid device, and no lock is held. Unbind holds the device's own lock, which
        // is only tried here. The rest is the callbacks' work.
        let reset = unsafe { bindings::pci_try_reset_function(pci_dev(self.gate.device())) };
        if reset == 0 && !self.cut_off.load(ordering::Acquire) {
            dev_warn!(self.device(), "the function was reset and started again\n");
            return true;
        }
        dev_err!(
            self.device(),
            "the board cannot be started again: configure its FPGA anew, then reset or rescan it\n"
        );
        self.give_up();
        false
    }
}

impl WorkItem for Board {
    type Pointer = Arc<Board>;

    /// Looks whether the board is well, and starts it again if it is not.
    fn run(board: Arc<Board>) {
        let Ok(_inside) = board.gate.enter() else {
            return;
        };
        let well = match board.look() {
            _ if board.is_resting() => true,
            Ok(()) => true,
            Err(Failure::Gone) => {
                board.cut_off(Failure::Gone);
                board.give_up();
                false
            }
            Err(failure) => {
                board.cut_off(failure);
                board.revive()
            }
        };
        if well && board.has_users() {
            board.watch();
        }
    }
}
