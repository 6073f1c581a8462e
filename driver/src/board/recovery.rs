// SPDX-License-Identifier: GPL-2.0

//! How a board is stopped and started: at probe, around a reset or a sleep, and when it does not carry out its steps.
//! [`lifecycle`] defines in which state which thread may act.
//!
//! The configuration of the function that the kernel's PCI core restores was saved while the function was not bus
//! master: by [`crate::callbacks`] before each start, by the core itself after [`Board::rest`]. So the function is
//! not bus master between a restoration and the start that wipes its block.

use super::{Board, LONGEST_COMPLETION};
use crate::{
    ffi::{pci_dev, peerlane_queue_now, peerlane_wait_for_handlers},
    hw::Failure,
    logic::{
        capability::Identity,
        channel,
        counters::{self, LinkErrors},
        lifecycle::{self, Control, Epoch, Fabric, NotStarted, Starter, State, Watched},
        regs::csr,
        steps::{self, Register, Step},
        table::{self, Reach},
    },
    trace,
};
use kernel::{
    bindings,
    prelude::*,
    sync::{
        atomic::ordering,
        Arc, //
    },
    time::{delay::fsleep, msecs_to_jiffies, Delta, Instant, Monotonic},
    workqueue::{self, DelayedWork, WorkItem},
};

/// Interval at which the watchdog looks, while there are contexts.
const WATCH_MS: u32 = 1000;

/// The pause between two looks at a read port that waits for answers.
const ANSWER_PAUSE: Delta = Delta::from_millis(2);

impl Board {
    /// Makes sure that steps are carried out after which memory is released. A board that does not carry them out is
    /// cut off from memory, and started again later.
    pub(crate) fn settle<S: IntoIterator<Item = Step>>(&self, steps: impl Fn() -> S) {
        self.settle_by(|epoch| self.hw.upkeep(epoch, steps()));
    }

    /// Calls `attempt` until it succeeds or the board is cut off from memory, as [`settle`](Self::settle) does for
    /// steps.
    pub(crate) fn settle_by(&self, mut attempt: impl FnMut(Epoch) -> Result<(), Failure>) {
        let attempt = |epoch| {
            let done = attempt(epoch);
            // The state of the port may be the reason why a fence had no answer.
            if !matches!(done, Ok(()) | Err(Failure::Unflushed)) {
                return done;
            }
            self.port_is_alive(epoch).or_else(|failure| self.end_lost(epoch, failure))?;
            done?;
            // Steps that the block got while it was being reset are lost, and look as if they were done.
            match self.remembers_all() {
                // It is not running: the next start wipes it first.
                Err(Failure::Away) => Ok(()),
                remembers => remembers,
            }
        };
        if let Some(failure) = lifecycle::settle(&self.hw, attempt) {
            self.tell_cut_off(failure);
        }
    }

    /// Runs a fence on a board that runs. The caller gets an error if the fence was not reached; no memory depends on
    /// it.
    pub(crate) fn fence(&self, reach: table::Reach) -> Result<(), Failure> {
        let Some(epoch) = self.hw.live() else {
            return Err(self.hw.usable().err().unwrap_or(Failure::Away));
        };
        let fence = Iterator::chain(table::fence(reach), table::answered(reach));
        let fenced = self.hw.run(fence);
        if !matches!(fenced, Ok(()) | Err(Failure::Unflushed)) {
            return fenced;
        }
        self.port_is_alive(epoch)?;
        // The answer of a read that was sent is still due.
        if fenced.is_err() && !self.capabilities.tagged && self.waits_for_answers(epoch)? {
            return Err(Failure::Unanswered);
        }
        fenced?;
        // A block that was reset during the fence has lost it, with all its state.
        self.remembers_all()
    }

    /// Returns the error that a process gets for a failure. A board that did not answer is gone only when the driver
    /// has given it up: until then it is started again, or found gone.
    pub(crate) fn reported(&self, failure: Failure) -> Error {
        match (failure, self.hw.usable()) {
            (Failure::Gone | Failure::Silent, Ok(_) | Err(Failure::Away)) => EIO,
            (failure, _) => failure.into(),
        }
    }

    /// Returns the steps after which no access to memory is in progress. Where a refused read is never answered,
    /// waiting for its answer is part of that. A port with tags reports a refusal as a failure, too; there the
    /// fence's steps are enough.
    pub(crate) fn fence_of(&self, reach: Reach) -> impl Iterator<Item = Step> {
        let answered = table::answered(reach).filter(|_| !self.capabilities.tagged);
        Iterator::chain(table::fence(reach), answered)
    }

    /// Fails if the port is blocked or has lost something. A blocked port may still send its requests later. A port
    /// that was blocked has lost something.
    pub(crate) fn port_is_alive(&self, epoch: Epoch) -> Result<(), Failure> {
        let status = self.hw.read_in(epoch, Register::Csr(csr::STATUS))?;
        if status & csr::STATUS_PORT_DEAD_MASK != 0 {
            // The reset that follows clears the count.
            let _ = self.tell_given_up_reads(epoch);
            return Err(Failure::PortDead);
        }
        match status & csr::STATUS_PORT_LOST_MASK {
            0 => Ok(()),
            _ => Err(Failure::Reopened),
        }
    }

    /// Ends all transfers of a block whose port has gone on, before the block loses the right to be bus master:
    /// otherwise a request that was blocked would be blocked again. The block takes nothing new, but keeps its other
    /// state. Returns the failure.
    fn end_lost(&self, epoch: Epoch, failure: Failure) -> Result<(), Failure> {
        if failure == Failure::Reopened {
            let channels = || 0..self.capabilities.channels;
            let [_, idle] = steps::reset();
            // The block stays enabled: another thread that looks at it must not take this for a reset by another
            // program.
            let reset = csr::CONTROL_RESET_MASK | csr::CONTROL_ENABLE_MASK;
            let reset = [Step::Write(Register::Csr(csr::CONTROL), reset), idle];
            let stop = channels().map(channel::close_doorbells);
            self.hw.upkeep(epoch, Iterator::chain(stop, reset))?;
            self.hw.upkeep(epoch, channels().flat_map(channel::close))?;
            self.hw.upkeep(epoch, table::fence(Reach::Host))?;
        }
        Err(failure)
    }

    /// Waits for a port without tags that is blocked because Bus Master Enable was cleared by other software. The
    /// port goes on when the bit is set again. This waits as long as no memory depends on it. Records of that time
    /// are lost, so channels start again then.
    fn port_opens(&self, epoch: Epoch) -> Result<(), Failure> {
        match self.port_is_alive(epoch) {
            Err(Failure::PortDead) if !self.capabilities.tagged => {}
            Err(failure) => return self.end_lost(epoch, failure),
            Ok(()) => return Ok(()),
        }
        let open = Step::Wait(Register::Csr(csr::STATUS), csr::STATUS_PORT_DEAD_MASK);
        self.hw.upkeep(epoch, [open]).map_err(|failure| match failure {
            Failure::Late(..) => Failure::PortDead,
            failure => failure,
        })?;
        self.end_lost(epoch, Failure::Reopened)
    }

    fn tell_cut_off(&self, failure: Failure) {
        trace::board(self, failure.state());
        match failure {
            Failure::Gone | Failure::Silent => {
                dev_err!(self.device(), "the board does not answer any more\n")
            }
            // Not reached: a start that has ended cuts nothing off.
            Failure::Away => {}
            Failure::Late(register, value) => dev_err!(
                self.device(),
                "the block is stuck: {:?} reads {:#x}; it is cut off from memory, reset and started again\n",
                register,
                value
            ),
            Failure::PortDead => dev_err!(
                self.device(),
                "the PCIe port is dead: it accepts no more requests, has lost data, or waits for peers that do not answer; the board is cut off from memory, reset and started again\n"
            ),
            Failure::Reopened => dev_err!(
                self.device(),
                "the PCIe port was stopped for a while, as it is without Bus Master Enable; transfers in progress are lost\n"
            ),
            Failure::Forgotten => dev_err!(
                self.device(),
                "the block was reset, and not by this driver; transfers in progress are lost\n"
            ),
            Failure::Kernels => dev_err!(
                self.device(),
                "the kernels in the FPGA are not reset, and may write into memory that others get; the board is cut off and started again\n"
            ),
            Failure::Unanswered => dev_err!(
                self.device(),
                "a peer has not answered a read, and no other read is answered until the link is reset: writes were ended, and the board is reset by its link\n"
            ),
            Failure::Unflushed => dev_err!(
                self.device(),
                "a peer has not answered the read that shows that writes have arrived; the board is cut off from memory, reset and started again\n"
            ),
            // Not reached: only a start looks for them.
            Failure::Other(_) | Failure::Empty | Failure::ReadRequest => {}
        }
    }

    /// Schedules the watchdog after an interval.
    pub(crate) fn watch(self: &Arc<Self>) {
        // It may be scheduled already.
        let _ =
            workqueue::system_freezable().enqueue_delayed(self.clone(), msecs_to_jiffies(WATCH_MS));
    }

    /// Schedules the watchdog without delay.
    pub(crate) fn watch_now(self: &Arc<Self>) {
        // After a failure no thread waits for the watchdog.
        let Ok(_inside) = self.gate.enter() else {
            return;
        };
        let work = self.clone();
        // SAFETY: initialised, and alive as long as we hold it.
        let waited = unsafe { peerlane_queue_now(self.raw_watchdog()) };
        // If the work was already queued it has its reference, else it takes this one.
        if !waited {
            let _ = Arc::into_raw(work);
        }
    }

    fn raw_watchdog(&self) -> *mut bindings::delayed_work {
        // SAFETY: initialised, as part of a board.
        unsafe {
            let work = DelayedWork::raw_as_work(&raw const self.watchdog);
            let work = workqueue::Work::raw_get(work);
            kernel::container_of!(work, bindings::delayed_work, work)
        }
    }

    /// Waits until the watchdog has run for the last time. The gate must be closed.
    pub(crate) fn stop_watchdog(self: &Arc<Self>) {
        // Not flushed: while tasks are frozen a queued work does not run, and the device may be unbound at that time.
        // SAFETY: initialised, and alive as long as we hold it.
        let waited = unsafe { bindings::cancel_delayed_work_sync(self.raw_watchdog()) };
        if waited {
            // SAFETY: `enqueue_delayed` has made a pointer of a reference for the work, which will not make a
            // reference of it any more.
            drop(unsafe { Arc::from_raw(Arc::as_ptr(self)) });
        }
    }

    /// Ends all transfers of the block, if it carries out its steps. It takes no new work from now on.
    fn stop_block(&self) {
        let live = self.hw.with(|life, _| life.begin_stop());
        self.hide_views();
        if live {
            self.settle(|| Iterator::chain(steps::reset().into_iter(), table::fence(Reach::Host)));
        }
        if let Some(epoch) = self.hw.live() {
            self.close_lines(epoch);
        }
        self.mask_kernels();
        // Handlers mask vectors, too, and unmask them.
        // SAFETY: a valid device that is bound, so its vectors stay.
        unsafe { peerlane_wait_for_handlers(pci_dev(self.gate.device())) };
    }

    /// Separates board and memory until [`start`](Self::start): the device is about to lose its state. No thread
    /// accesses it from now on.
    pub(crate) fn rest(&self) {
        let _guard = self.recovery.lock();
        self.stop_block();
        self.hw.with(|life, bus| life.rest(bus));
        trace::board(self, c"resting");
    }

    /// Separates board and memory for a device that has already lost its state.
    pub(crate) fn rest_after_loss(&self) {
        let _guard = self.recovery.lock();
        self.hw.with(|life, bus| life.rest(bus));
        self.hide_views();
        trace::board(self, c"resting");
    }

    /// Gives the board up for this starter. Returns whether it is gone: another thread may have started it, or be
    /// about to.
    pub(crate) fn give_up(&self, who: Starter) -> bool {
        let _guard = self.recovery.lock();
        let gone = self.hw.with(|life, _| life.give_up(who));
        if gone {
            self.tell_given_up();
        }
        gone
    }

    fn tell_given_up(&self) {
        self.hide_views();
        trace::board(self, c"given_up");
        self.for_each_user(|user| user.events.gone());
    }

    /// Gives up a board that an error of the bus has stopped, if the error was not recovered in time: a process that
    /// waits for it would wait for ever. The kernel notifies a driver of a failed recovery, but not in all cases: not
    /// where the firmware does it. A reset that comes later brings the board back.
    fn give_up_unmended(&self) {
        if !self.core_has_it() {
            return;
        }
        let _guard = self.recovery.lock();
        // At the end of a configuration the board is started if it is there.
        if !self.core_is_late() || self.is_reprogrammed() {
            return;
        }
        let gone = self.hw.with(|life, _| life.state() == State::Resting && life.give_up(Starter::Owner));
        if gone {
            self.tell_given_up();
            dev_err!(
                self.device(),
                "an error of the bus was not corrected within {} s: the board is given up; reset the function, or remove and rescan it\n",
                self.settings.recovery_s
            );
        }
    }

    /// Starts the board with all contexts' channels and regions, independent of the state of its block, or leaves it
    /// cut off from memory.
    pub(crate) fn start(&self, who: Starter) -> Result<(), NotStarted<Failure>> {
        let _guard = self.recovery.lock();
        let started = lifecycle::start(&self.hw, who, &mut Restart { board: self, who });
        match &started {
            Ok(()) => {
                self.needs_link.store(false, ordering::Relaxed);
                trace::board(self, c"started");
                // Handlers of the line's interrupts were sent away until now. If this fails, the board is not the one
                // that was started.
                let _ = self.hw.run(steps::new_edge());
                self.new_edge();
                self.wake_holder();
            }
            Err(NotStarted::NotYours) => {}
            Err(_) => self.hide_views(),
        }
        started
    }

    /// Releases the board before the device is unbound. After it no thread reaches the board, and the board reaches
    /// no memory. The resources of contexts are released, though their files stay open.
    pub(crate) fn retire(self: &Arc<Self>) {
        // Before anything reports the end of the board: calls that report it wait until the board is stopped.
        self.gate.shut();
        // Threads that wait inside of the gate have to leave it.
        self.for_each_user(|user| user.events.gone());
        self.gate.empty();
        self.abandon_reprogramming();
        self.stop_watchdog();
        // The watchdog may have revived it in the meantime; it is not started again any more.
        self.for_each_user(|user| user.events.gone());
        self.for_each_user(|user| user.unmap());
        self.remove();
        self.for_each_user(|user| user.close());
        self.memory.retire();
        for channel in 0..self.capabilities.channels {
            self.dismiss(channel);
        }
        self.gate.end();
    }

    /// Stops the board permanently, once.
    pub(crate) fn remove(&self) {
        let _guard = self.recovery.lock();
        if self.hw.with(|life, _| life.state()) == State::Removed {
            return;
        }
        self.stop_block();
        self.hw.with(|life, bus| life.remove(bus));
        trace::board(self, c"removed");
    }

    /// Stops the board permanently, although processes go on. No reset and no process starts it again, and the next
    /// kernel finds the original settings of the link. The device's own lock is held.
    pub(crate) fn shut_down(&self) {
        self.remove();
        self.abandon_reprogramming();
        self.tell_given_up();
    }

    /// Checks that the board is there and its block works.
    fn look(&self, epoch: Epoch) -> Result<(), Failure> {
        self.port_opens(epoch)?;
        Self::remembers(|register| self.hw.read_in(epoch, register))?;
        self.is_answered(epoch)?;
        self.tell_given_up_reads(epoch)
    }

    /// Reports how many reads were given up. While their answers are due, the block goes on without their tags and
    /// their room, more slowly, and all transfers have ended: nothing else would report the reason.
    fn tell_given_up_reads(&self, epoch: Epoch) -> Result<(), Failure> {
        if !self.capabilities.tlp {
            return Ok(());
        }
        let losses = self.hw.read_in(epoch, Register::Csr(csr::LINK_LOSSES))?;
        let expired = LinkErrors::expired_in(losses);
        // Threads that look at the same time may report it twice.
        let before = self.given_up_reads.load(ordering::Relaxed);
        let (tells, told) = counters::given_up(expired, before);
        self.given_up_reads.store(told, ordering::Relaxed);
        if tells {
            dev_warn!(
                self.device(),
                "reads given up since the reset of the link: {}; those that are not answered since keep their tags and their room, and reads are slower\n",
                expired
            );
        }
        Ok(())
    }

    /// Checks, by reads through `look`, that a block that runs still has its settings. A reset of its side of FPGA
    /// memory, or of the whole FPGA, leaves it as after power-up, which looks like a block without work. While it is
    /// being reset, a read returns the value of the read before: that of `MAP_ID`, which is not a setting of
    /// `CONTROL`.
    fn remembers(look: impl Fn(Register) -> Result<u32, Failure>) -> Result<(), Failure> {
        look(Register::Csr(csr::MAP_ID))?;
        let control = look(Register::Csr(csr::CONTROL))?;
        match control & !csr::CONTROL_IRQ_ENABLE_MASK {
            csr::CONTROL_ENABLE_MASK => Ok(()),
            _ => Err(Failure::Forgotten),
        }
    }

    /// Checks that the block of a board that runs still has its settings.
    pub(crate) fn remembers_all(&self) -> Result<(), Failure> {
        Self::remembers(|register| self.hw.read(register))
    }

    /// Checks that the FPGA still has the block that was found at probe. Another block has its slaves at other
    /// addresses, or other numbers of things, and processes have pages of the block that was found.
    fn is_the_one_found(&self, epoch: Epoch) -> Result<(), Failure> {
        let mut words = [0; Identity::OFFSETS.len()];
        for (word, offset) in words.iter_mut().zip(Identity::OFFSETS) {
            *word = self.hw.read_in(epoch, Register::Csr(offset))?;
        }
        let found = Identity::new(words);
        if found == self.identity {
            return Ok(());
        }
        dev_err!(
            self.device(),
            "its FPGA has another block: BUILD_ID {:#010x} instead of {:#010x}; unbind the driver, and bind it again\n",
            found.build_id,
            self.identity.build_id
        );
        Err(Failure::Other(found.build_id))
    }

    /// Fails where reads are down permanently. Where answers come in order, the port issues no read while an answer
    /// is due, and the answer of a refused read never comes. Only the hard IP's reset, which comes with a reset of
    /// the link, clears a lost tag. Late answers are waited for, as long as the function should wait. Where reads
    /// have tags, only the lost tag is out of use.
    fn is_answered(&self, epoch: Epoch) -> Result<(), Failure> {
        if !self.reads_are_lost(epoch)? {
            return Ok(());
        }
        // Writes that end in time arrive. The other writes are lost, as reads are.
        let channels = || 0..self.capabilities.channels;
        let stop = channels().map(channel::close_doorbells);
        let drain = Iterator::chain(stop, channels().flat_map(channel::drain));
        let _ = self.hw.upkeep(epoch, drain);
        Err(Failure::Unanswered)
    }

    /// Whether answers are due that do not come any more, where that ends all reads.
    fn reads_are_lost(&self, epoch: Epoch) -> Result<bool, Failure> {
        if self.capabilities.tagged || !self.waits_for_answers(epoch)? {
            return Ok(false);
        }
        // The timeout may have been disabled after the probe, for debugging. Reads are needed all the same.
        let longest = self.completion_timeout().unwrap_or(LONGEST_COMPLETION);
        // Twice: it may begin to count when its request leaves.
        self.keeps_waiting(epoch, longest + longest)
    }

    /// Whether reads are down because answers are due.
    pub(crate) fn waits_for_answers(&self, epoch: Epoch) -> Result<bool, Failure> {
        let status = self.hw.read_in(epoch, Register::Csr(csr::STATUS))?;
        Ok(status & csr::STATUS_READ_QUARANTINE_MASK != 0)
    }

    /// Whether reads are down at each look for the time `long`.
    fn keeps_waiting(&self, epoch: Epoch, long: Delta) -> Result<bool, Failure> {
        let begin = Instant::<Monotonic>::now();
        while begin.elapsed() < long {
            fsleep(ANSWER_PAUSE);
            if !self.waits_for_answers(epoch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Starts a board again that was cut off, just now for this failure: by a reset of the block, or of the function.
    /// A reset of the function is tried once: its owner starts the board then, or gives it up permanently. A board that
    /// was silent needs one, also after another failure.
    fn revive(&self, failure: Option<Failure>, silent: bool) {
        let started = match failure {
            Some(Failure::Unanswered) => Err(NotStarted::Failed(Failure::Unanswered)),
            Some(Failure::Gone) => Err(NotStarted::Failed(Failure::Gone)),
            _ if silent => Err(NotStarted::Failed(Failure::Gone)),
            // A reset of the block alone does not bring reads back.
            _ if self.needs_link.load(ordering::Relaxed) => Err(NotStarted::CutOff),
            _ => self.start(Starter::Watchdog),
        };
        if let Err(NotStarted::Failed(Failure::Unanswered)) = started {
            self.needs_link.store(true, ordering::Relaxed);
            self.doubt_peers();
        }
        match started {
            Ok(()) => {
                dev_warn!(self.device(), "the block was reset and started again\n");
                return;
            }
            Err(NotStarted::NotYours) => return,
            Err(NotStarted::Failed(Failure::Other(_) | Failure::Empty | Failure::ReadRequest)) => {
                self.give_up(Starter::Watchdog);
                return;
            }
            // A function that is not there takes long to be found not resettable. If the function answers but its BAR
            // does not, an access to the OpenCL side may be blocked in it without an answer.
            Err(NotStarted::Failed(Failure::Gone)) if !self.is_there() => {
                if self.give_up(Starter::Watchdog) {
                    dev_err!(
                        self.device(),
                        "nor does its function: reset it, or configure its FPGA and rescan it\n"
                    );
                }
                return;
            }
            Err(NotStarted::Failed(_) | NotStarted::CutOff) => {}
        }
        let for_reads = self.needs_link.load(ordering::Relaxed);
        self.reset_for_reads.store(for_reads, ordering::Relaxed);
        // SAFETY: a valid device, and no lock is held. Unbind holds the device's own lock, which is only tried here.
        // The callbacks do the rest.
        let reset = unsafe { bindings::pci_try_reset_function(pci_dev(self.gate.device())) };
        self.reset_for_reads.store(false, ordering::Relaxed);
        if reset == 0 && self.hw.usable().is_ok() {
            dev_warn!(self.device(), "the function was reset and started again\n");
            return;
        }
        // Another thread has its lock, and resets it, puts it to sleep or unbinds it: later.
        if reset == EAGAIN.to_errno() || !self.give_up(Starter::Watchdog) {
            return;
        }
        dev_err!(
            self.device(),
            "the board cannot be started again: configure its FPGA again, then reset or rescan it\n"
        );
    }
}

/// A board that is being started.
struct Restart<'a> {
    board: &'a Board,
    who: Starter,
}

impl Fabric<Failure> for Restart<'_> {
    /// Wipes the block. Which part of its state survives a reset of the function is a matter of the board, and before
    /// a probe another driver may have used it.
    fn wipe(&mut self, epoch: Epoch) -> Result<(), Failure> {
        let Self { board, who } = self;
        board.memory.forget();
        board.unmap_views();
        if board.has_empty_core() {
            dev_err!(
                board.device(),
                "its FPGA has no configuration: configure it, then reset the function\n"
            );
            return Err(Failure::Empty);
        }
        board.is_the_one_found(epoch)?;
        board.hw.load_from_window();
        if *who == Starter::Watchdog {
            // The board may have been cut off for another reason. A reset of the function would hide lost reads.
            if board.reads_are_lost(epoch)? {
                return Err(Failure::Unanswered);
            }
            match Board::remembers(|register| board.hw.read_in(epoch, register)) {
                // The reset may have been one of all of the FPGA. The table of vectors is lost, too, and only the PCI
                // core writes it again: after a reset of the function, which is counted there.
                Err(Failure::Forgotten) if !board.capabilities.msix => board.note_reset(),
                remembers => remembers?,
            }
        }
        let channels = 0..board.capabilities.channels;
        let run = |steps: &mut dyn Iterator<Item = Step>| board.hw.upkeep(epoch, steps);
        run(&mut steps::reset().into_iter())?;
        run(&mut table::wipe(board.capabilities.att_entries()))?;
        run(&mut channels.flat_map(channel::close))?;
        run(&mut table::fence(Reach::Host))?;
        board.stop_orphans(epoch)?;
        board.configure(epoch)
    }

    fn restore(&mut self, epoch: Epoch) -> Result<(), Failure> {
        let board = self.board;
        board.write_zeros(epoch)?;
        board.try_for_each_user(|user| user.restore_regions(epoch))?;
        board.ask_for_enough()?;
        if board.reset_for_reads.load(ordering::Relaxed) && board.waits_for_answers(epoch)? {
            return Err(Failure::Unanswered);
        }
        // A port that waits for the right to be bus master may hold a write to memory that was released since. A port
        // that has gone on since the block was reset has lost nothing that a process waits for.
        let alive = board.port_is_alive(epoch);
        match alive.or_else(|failure| board.end_lost(epoch, failure)) {
            Err(Failure::Reopened) => board.port_is_alive(epoch),
            alive => alive,
        }
    }

    /// Lets the block work. Processes see their pages before they are notified that their channels were started, so
    /// they then read the board's data there.
    fn open(&mut self, epoch: Epoch) -> Result<(), Failure> {
        let board = self.board;
        board.hw.upkeep(epoch, steps::start())?;
        board.open_lines(epoch)?;
        board.show_views(epoch)?;
        board.try_for_each_user(|user| user.restart_channel(epoch))
    }
}

impl WorkItem for Board {
    type Pointer = Arc<Board>;

    /// Checks whether the board works, and starts it again if not.
    fn run(board: Arc<Board>) {
        let Ok(_inside) = board.gate.enter() else {
            return;
        };
        board.close_abandoned();
        board.give_up_unmended();
        board.end_overdue_reprogramming();
        let has_buffers = board.look_for_orphans();
        let watched = lifecycle::watch(&board.hw, |epoch| board.look(epoch));
        if let Watched::Revive { failure, silent } = watched {
            if let Some(failure) = failure {
                board.tell_cut_off(failure);
            }
            board.revive(failure, silent);
        }
        let has_users = board.has_users();
        if has_buffers || board.is_reprogrammed() || board.hw.with(|life, _| life.is_watched(has_users)) {
            board.watch();
        }
    }
}
