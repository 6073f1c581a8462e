// SPDX-License-Identifier: GPL-2.0

//! One board: what its contexts share.
//!
//! # Locks, in the order in which they are taken
//! 1. the gate ([`crate::gate`]), which is no lock but is waited for by unbind;
//! 2. [`Board::recovery`], held while the block is reset or started;
//! 3. [`Board::users`], under which a context is made;
//! 4. a context's own state;
//! 5. [`Board::lending`], which a page fault takes, and tables of pages under it;
//! 6. the reservation of a dma-buf, which its owner may hold when it calls us;
//! 7. a [`Mapping`](crate::mapping::Mapping)'s state;
//! 8. [`Board::entries`];
//! 9. the registers ([`crate::hw`]);
//! 10. events ([`crate::events`]).
//!
//! No user memory is touched and no page of a process pinned under any of them: a page fault
//! takes locks that come before 6. Nothing is allocated under 7, 9 and 10.

use crate::{
    aperture::Lending,
    boards::Place,
    context::Context,
    ffi::{pci_dev, Text},
    gate::Gate,
    hw::{Failure, Hw},
    logic::{
        att::{AttAllocator, Entry, Run},
        capability::{Capabilities, Identity},
        channel,
        link::{self, Link},
        quota::Quota,
        steps::{self, Step},
        table::{self, Reach},
    },
    regs::csr::{PORT_TIMEOUT, QUARANTINE, STATUS},
    settings::Settings,
    trace,
};
use kernel::{
    bindings,
    device::{Bound, Device},
    impl_has_delayed_work, new_delayed_work, new_mutex,
    page::PAGE_SHIFT,
    pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
    time::{delay::fsleep, msecs_to_jiffies, Delta},
    workqueue::{self, DelayedWork, WorkItem},
};

/// Says something in the log that is of interest to who looks for it only. (The kernel crate's
/// `dev_dbg` is compiled out, and cannot be switched on.)
macro_rules! explain {
    ($board:expr, $($text:tt)*) => {
        if $board.settings.verbose {
            kernel::prelude::dev_info!($board.device(), $($text)*);
        }
    };
}
pub(crate) use explain;

/// A board.
#[pin_data]
pub(crate) struct Board {
    #[pin]
    pub(crate) gate: Gate,
    #[pin]
    pub(crate) hw: Hw,
    pub(crate) identity: Identity,
    pub(crate) capabilities: Capabilities,
    pub(crate) settings: Settings,
    /// The board must be started again before it may reach memory.
    cut_off: Atomic<bool>,
    /// It is being reset, or sleeps, and will be started again.
    resting: Atomic<bool>,
    /// Held while the block is reset or started.
    #[pin]
    recovery: Mutex<()>,
    /// The window into FPGA memory.
    #[pin]
    pub(crate) lending: Lending,
    /// The ATT's entries.
    #[pin]
    entries: Mutex<Entries>,
    /// By their channels.
    #[pin]
    users: Mutex<KVec<Option<Arc<Context>>>>,
    #[pin]
    watchdog: DelayedWork<Board>,
}

impl_has_delayed_work! {
    impl HasDelayedWork<Self> for Board { self.watchdog }
}

/// The ATT's entries: which are taken, and by whom.
struct Entries {
    allocator: AttAllocator<KVVec<u64>>,
    quota: Quota,
}

/// How often the watchdog looks, while there are contexts.
const WATCH_MS: u32 = 1000;

/// Looks at a read port that waits for answers, and the pause between them: 100 ms in all.
const QUARANTINE_LOOKS: u32 = 50;
const QUARANTINE_PAUSE: Delta = Delta::from_millis(2);

/// What is known of a board before it is started.
pub(crate) struct Found {
    pub(crate) bar: pci::DevresBar,
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    pub(crate) capabilities: Capabilities,
    pub(crate) settings: Settings,
}

impl Board {
    /// A board that was found, its block at rest and with nothing in it.
    pub(crate) fn new(device: &pci::Device<Bound>, found: Found) -> Result<Arc<Self>> {
        let Found {
            bar,
            place,
            identity,
            capabilities,
            settings,
        } = found;
        let patience = Delta::from_millis(i64::from(settings.patience_ms));
        let count = capabilities.att_entries();
        let storage = KVVec::from_elem(0, AttAllocator::<KVVec<u64>>::words(count), GFP_KERNEL)?;
        let entries = Entries {
            allocator: AttAllocator::new(storage, count).map_err(|_| EINVAL)?,
            quota: Quota::new(settings.context_entries.unwrap_or(u32::MAX)),
        };
        let mut users = KVec::new();
        for _ in 0..capabilities.channels {
            users.push(None, GFP_KERNEL)?;
        }
        let reference: ARef<pci::Device> = ARef::from(&**device);
        let board = Arc::pin_init(
            pin_init!(Self {
                gate <- Gate::new(reference),
                hw <- Hw::new(bar, place, patience),
                identity,
                capabilities,
                settings,
                cut_off: Atomic::new(false),
                resting: Atomic::new(false),
                recovery <- new_mutex!(()),
                lending <- Lending::new(),
                entries <- new_mutex!(entries),
                users <- new_mutex!(users),
                watchdog <- new_delayed_work!("peerlane::watchdog"),
            }),
            GFP_KERNEL,
        )?;
        board.hw.run(steps::reset())?;
        board.close_channels()?;
        board.configure()?;
        board.hw.run(steps::start())?;
        Ok(board)
    }

    /// The device, for messages.
    pub(crate) fn device(&self) -> &Device {
        self.gate.device().as_ref()
    }

    fn close_channels(&self) -> Result<(), Failure> {
        (0..self.capabilities.channels).try_for_each(|number| self.hw.run(channel::close(number)))
    }

    /// Tells the block what it must know and forgets in a reset of the device.
    fn configure(&self) -> Result<(), Failure> {
        if let Some(cycles) = self.settings.port_timeout {
            self.hw.set(PORT_TIMEOUT::from_raw(cycles))?;
        }
        self.hw.run([link::set_pace(self.link())])
    }

    /// The link as it was trained (PCI Express Base Specification, 7.5.3.8, Link Status).
    fn link(&self) -> Option<Link> {
        let mut status = 0;
        // SAFETY: a valid device, and a place for the answer.
        let failed = unsafe {
            bindings::pcie_capability_read_word(
                pci_dev(self.gate.device()),
                bindings::PCI_EXP_LNKSTA as i32,
                &mut status,
            )
        };
        let lanes = u64::from(status >> 4 & 0x3f);
        // Coded 8b/10b, then 128b/130b.
        let lane = match status & 0xf {
            1 => 250_000_000,
            2 => 500_000_000,
            3 => 984_615_384,
            _ => return None,
        };
        (failed == 0 && lanes > 0).then_some(Link {
            bytes_per_second: lanes * lane,
            clock: self.hw.place().clock,
        })
    }

    /// The frame at an offset of the block's BAR.
    pub(crate) fn bar_pfn(&self, offset: usize) -> Option<usize> {
        let bar = self.hw.place().bar;
        let start = self.gate.device().resource_start(bar).ok()?;
        Some((start as usize + offset) >> PAGE_SHIFT)
    }

    /// The frame of a channel's page.
    pub(crate) fn page_pfn(&self, number: u32) -> Option<usize> {
        self.bar_pfn(self.hw.place().chan + channel::page(number, 0).offset())
    }

    /// Reserves ATT entries for a channel, one after the other. `EDQUOT`: it may not have so many;
    /// `ENOSPC`: there are not so many.
    pub(crate) fn take_entries(&self, channel: u32, count: u32) -> Result<Run> {
        let mut entries = self.entries.lock();
        entries.quota.take(channel, count).map_err(|error| {
            explain!(self, "channel {}: {}\n", channel, Text(error));
            EDQUOT
        })?;
        entries.allocator.allocate(count).map_err(|error| {
            entries.quota.give(channel, count);
            explain!(self, "{}\n", Text(error));
            ENOSPC
        })
    }

    /// Gives a channel's ATT entries back, which the board must not have any more.
    pub(crate) fn give_entries(&self, channel: u32, run: Run) {
        let mut entries = self.entries.lock();
        entries.quota.give(channel, run.count());
        if let Err(error) = entries.allocator.free(run) {
            dev_err!(self.device(), "{}\n", Text(error));
        }
    }

    /// Whether it is being reset, or sleeps, and will be started again.
    pub(crate) fn is_resting(&self) -> bool {
        self.resting.load(ordering::Acquire)
    }

    /// ATT entries in all, and those that are free.
    pub(crate) fn entries(&self) -> (u32, u32) {
        let entries = self.entries.lock();
        let allocator = &entries.allocator;
        (allocator.entries(), allocator.free_entries())
    }

    /// Makes sure that steps are carried out after which memory is let go. A board that does not
    /// carry them out is cut off from memory, and started again later.
    pub(crate) fn settle<S: IntoIterator<Item = Step>>(&self, steps: impl Fn() -> S) {
        while self.cut_off.load(ordering::Acquire) {
            // It reaches no memory now. Whoever starts it again must not find old entries, though.
            let _ = self.hw.run(steps());
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

    /// Takes a channel for a context that `make` makes of its number.
    pub(crate) fn admit(
        self: &Arc<Self>,
        make: impl FnOnce(u32) -> Result<Arc<Context>>,
    ) -> Result<Arc<Context>> {
        let mut users = self.users.lock();
        let number = users.iter().position(Option::is_none).ok_or(EBUSY)?;
        let context = make(number as u32)?;
        users[number] = Some(context.clone());
        drop(users);
        self.watch();
        Ok(context)
    }

    /// Gives a channel back.
    pub(crate) fn dismiss(&self, channel: u32) {
        let user = self
            .users
            .lock()
            .get_mut(channel as usize)
            .and_then(Option::take);
        drop(user);
    }

    /// Does something to the context of a channel, if it has one.
    pub(crate) fn with_user(&self, channel: u32, f: impl FnOnce(&Arc<Context>)) {
        let user = self.users.lock().get(channel as usize).cloned().flatten();
        if let Some(user) = user {
            f(&user);
        }
    }

    /// Does something to each context, in the order of their channels.
    pub(crate) fn for_each_user(&self, mut f: impl FnMut(&Arc<Context>)) {
        for channel in 0..self.capabilities.channels {
            self.with_user(channel, &mut f);
        }
    }

    /// The same for what may fail. It is done to all; the first failure is told.
    fn try_for_each_user(
        &self,
        mut f: impl FnMut(&Arc<Context>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut first = Ok(());
        self.for_each_user(|user| first = first.and(f(user)));
        first
    }

    fn has_users(&self) -> bool {
        self.users.lock().iter().any(Option::is_some)
    }

    /// Has the watchdog look after a while.
    fn watch(self: &Arc<Self>) {
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
        self.rest_aperture();
        self.isolate();
        self.hw.set_gone(true);
        trace::board(self, c"resting");
    }

    /// The board will not be started again.
    pub(crate) fn give_up(&self) {
        self.rest_aperture();
        trace::board(self, c"given_up");
        self.for_each_user(|user| user.events.gone());
    }

    /// Starts the block and everybody's channel, or leaves the board cut off from memory. After a
    /// reset of the device it has forgotten everything (`lost`); after one of the block alone its
    /// ATT and settings are as before.
    pub(crate) fn start(&self, lost: bool) -> Result {
        let _guard = self.recovery.lock();
        self.rest_aperture();
        let started = self.try_start(lost);
        if started.is_err() {
            self.rest_aperture();
            self.isolate();
            self.hw.set_gone(true);
        } else {
            trace::board(self, c"started");
        }
        self.resting.store(false, ordering::Release);
        Ok(started?)
    }

    fn try_start(&self, lost: bool) -> Result<(), Failure> {
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
        self.try_for_each_user(|user| user.restore_regions())?;
        self.port_is_alive()?;
        // SAFETY: a valid device, and nothing in its block that could reach memory yet.
        unsafe { bindings::pci_set_master(pci_dev(self.gate.device())) };
        self.cut_off.store(false, ordering::Release);
        self.wake_aperture()?;
        self.hw.run(steps::start())?;
        self.try_for_each_user(|user| {
            let opened = user.open_channel();
            user.events.restarted();
            opened
        })
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
