// SPDX-License-Identifier: GPL-2.0

//! One board: the state that its contexts share.
//!
//! # Locks, in the order in which they are taken
//! 0. the device's own lock, which the PCI core or [`crate::reprogram`] holds, outside of the gate;
//! 1. [`Context::submission`], held while a descriptor is submitted, or a channel stopped;
//! 2. the gate ([`crate::gate`]), which is not a lock but unbind waits for it: a thread that waits for lock 1 inside
//!    waits for one stop at most, for the next ones are not let in;
//! 3. [`Board::recovery`], held while the board is stopped or started, or [`Board::leaving`], held while cached
//!    regions of a context are released: never both;
//! 4. [`Board::users`];
//! 5. a context's own state, or the holders of streams ([`crate::streams`]);
//! 6. [`Board::views`], then [`Board::lending`] or [`Board::holding`], never both, all of which a page fault
//!    takes; under them where a context's file is mapped, and tables of pages;
//! 7. the state of peers ([`crate::peers`]), or the reservation of a dma-buf, which its owner may hold when it calls
//!    us;
//! 8. a [`Mapping`](crate::mapping::Mapping)'s state;
//! 9. [`Board::lingering`], then [`Board::entries`], then [`Board::memory`];
//! 10. the board's state and its registers ([`crate::hw`]);
//! 11. events ([`crate::events`]).
//!
//! No user memory is touched and no page of a process pinned under any of them: a page fault
//! takes locks that come before 7. Nothing is allocated under 8, 10 and 11.

mod keepers;
mod lingering;
mod need;
pub(crate) mod others;
mod pinned;
mod recovery;
mod relief;

pub(crate) use keepers::Keeper;
pub(crate) use need::{Departures, Need};
pub(crate) use pinned::Pinned;
pub(crate) use relief::Shrinker;

use crate::{
    boards::Place,
    context::Context,
    ffi::{pci_dev, Text},
    fpga_memory::{self, BoardMemory},
    gate::Gate,
    hw::{Failure, Hw},
    logic::{
        att::{AttAllocator, EntrySet, Run},
        capability::{Capabilities, Identity},
        channel,
        fpga_memory::FpgaMemory,
        lifecycle::Epoch,
        link::{self, Link},
        quota::{Limits, Quota, User},
        regs::csr,
        steps::{Register, Step},
    },
    opencl::Holding,
    reprogram::Programming,
    settings::Settings,
    streams::Streams,
    views::Views,
    window::Lending,
};
use keepers::Keepers;
use kernel::{
    bindings,
    device::{Bound, Device},
    impl_has_delayed_work, impl_has_work, new_delayed_work, new_mutex, new_work,
    page::PAGE_SHIFT,
    pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex, SetOnce,
    },
    time::Delta,
    workqueue::{DelayedWork, Work},
};

/// Writes a message to the log that interests only users who look for it. (The kernel crate's `dev_dbg` is compiled
/// out, and cannot be switched on.)
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
    /// Held while the board is stopped or started, from beginning to end. Its state is protected by the registers'
    /// lock alone.
    #[pin]
    recovery: Mutex<()>,
    /// Held by a thread that releases cached regions of a context, its own or another's, from the removal from the
    /// cache until the board has invalidated them. The ATT entries are the channel's until then, so a thread that
    /// closes a context waits. A thread that has found too few regions also waits: the regions are released then.
    #[pin]
    leaving: Mutex<()>,
    needs: need::Needs,
    /// Processes' mappings of the BAR.
    #[pin]
    pub(crate) views: Views,
    /// The window into FPGA memory.
    #[pin]
    pub(crate) lending: Lending,
    /// The streams of the FPGA's logic.
    #[pin]
    pub(crate) streams: Streams,
    /// The OpenCL side.
    #[pin]
    pub(crate) holding: Holding,
    #[pin]
    pub(crate) programming: Programming,
    /// FPGA memory.
    #[pin]
    pub(crate) memory: BoardMemory,
    /// Times that more than the block was reset.
    resets: Atomic<u64>,
    /// Reads that the transaction layer has given up, as reported last.
    given_up_reads: Atomic<u32>,
    /// The link is being reset because reads are down. A start fails if they are still down.
    reset_for_reads: Atomic<bool>,
    /// Reads were down when the board was cut off: it is not started again before its link was reset.
    needs_link: Atomic<bool>,
    /// Times that reads were lost, and with them the trust in peers that had answered before.
    pub(crate) doubts: Atomic<u64>,
    /// The ATT's entries.
    #[pin]
    entries: Mutex<Entries>,
    /// The entries that are not free yet and belong to no channel.
    #[pin]
    lingering: lingering::Lingering,
    #[pin]
    users: Mutex<Users>,
    /// How much each context caches; set when the board has a shrinker.
    keepers: SetOnce<Arc<Keepers>>,
    #[pin]
    watchdog: DelayedWork<Board>,
    #[pin]
    relief: Work<Board, { relief::WORK }>,
    rounds: relief::Rounds,
}

impl_has_delayed_work! {
    impl HasDelayedWork<Self> for Board { self.watchdog }
}

impl_has_work! {
    impl HasWork<Self, { relief::WORK }> for Board { self.relief }
}

/// The ATT's entries: which are taken, and by which channel.
struct Entries {
    allocator: AttAllocator<KVVec<u64>>,
    quota: Quota,
}

/// Assignment of the channels.
struct Users {
    /// Channels that are taken, one bit each.
    taken: u64,
    /// Contexts by their channels; a channel that is taken may have no context yet.
    contexts: KVec<Option<Arc<Context>>>,
}

/// Makes the FPGA memory of a board that was found. Its stack space is released before more stack is used.
#[inline(never)]
pub(crate) fn fpga_memory(
    device: &pci::Device<Bound>,
    place: &Place,
    capabilities: &Capabilities,
    settings: &Settings,
) -> Result<KBox<FpgaMemory>> {
    let bytes = place.memory.min(capabilities.memory_bytes());
    let pool = settings.memory_pool;
    if let Some(pool) = pool.filter(|pool| *pool > bytes) {
        dev_warn!(
            device,
            "memory_pool_mib: {} MiB are more than the {} MiB of FPGA memory: the pool is all of it\n",
            pool >> 20,
            bytes >> 20
        );
    }
    Ok(KBox::new(FpgaMemory::new(bytes, pool), GFP_KERNEL)?)
}

/// Data of a board that is not started yet.
pub(crate) struct Found {
    pub(crate) bar: pci::DevresBar,
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    pub(crate) capabilities: Capabilities,
    pub(crate) settings: Settings,
    pub(crate) memory: KBox<FpgaMemory>,
}

/// The longest completion timeout that the driver leaves unchanged.
const LONGEST_COMPLETION: Delta = Delta::from_millis(1000);

impl Board {
    /// Makes a board that was found, with any content of its block. It works after its first [`start`](Self::start).
    pub(crate) fn new(device: &pci::Device<Bound>, found: Found) -> Result<Arc<Self>> {
        let Found {
            bar,
            place,
            identity,
            capabilities,
            settings,
            memory,
        } = found;
        let patience = Delta::from_millis(i64::from(settings.patience_ms));
        let pool = memory.pool();
        let memory = BoardMemory::new(device.as_ref(), &capabilities, memory)?;
        // The last entries are for the zeros.
        let count = capabilities.att_entries() - fpga_memory::ENTRIES;
        let limits = Limits::new(
            capabilities.channels,
            count,
            pool.end - pool.start,
            &settings.quotas,
        );
        let storage = KVVec::from_elem(0, AttAllocator::<KVVec<u64>>::words(count), GFP_KERNEL)?;
        let entries = Entries {
            allocator: AttAllocator::new(storage, count).map_err(|_| EINVAL)?,
            quota: Quota::new(limits),
        };
        let mut contexts = KVec::new();
        for _ in 0..capabilities.channels {
            contexts.push(None, GFP_KERNEL)?;
        }
        let users = Users { taken: 0, contexts };
        let reference: ARef<pci::Device> = ARef::from(&**device);
        Arc::pin_init(
            pin_init!(Self {
                hw <- Hw::new(bar, reference.clone(), place, patience),
                gate <- Gate::new(reference),
                identity,
                capabilities,
                settings,
                recovery <- new_mutex!(()),
                leaving <- new_mutex!(()),
                needs: need::Needs::none(),
                views <- Views::new(),
                lending <- Lending::new(),
                streams <- Streams::new(capabilities),
                holding <- Holding::new(),
                programming <- Programming::none(),
                memory <- memory,
                resets: Atomic::new(0),
                given_up_reads: Atomic::new(0),
                reset_for_reads: Atomic::new(false),
                needs_link: Atomic::new(false),
                doubts: Atomic::new(0),
                entries <- new_mutex!(entries),
                lingering <- lingering::Lingering::none(),
                users <- new_mutex!(users),
                keepers: SetOnce::new(),
                watchdog <- new_delayed_work!("peerlane::watchdog"),
                relief <- new_work!("peerlane::relief"),
                rounds: relief::Rounds::none(),
            }),
            GFP_KERNEL,
        )
    }

    /// Returns the device, for messages.
    pub(crate) fn device(&self) -> &Device {
        self.gate.device().as_ref()
    }

    /// Returns the number of times that more than the block was reset, or may have been: FPGA memory, the OpenCL
    /// side.
    pub(crate) fn resets(&self) -> u64 {
        self.resets.load(ordering::Acquire)
    }

    /// Returns the number of times that reads were lost.
    pub(crate) fn doubts(&self) -> u64 {
        self.doubts.load(ordering::Acquire)
    }

    /// Counts such a reset, before the board is started: before any process is notified of the new generation.
    pub(crate) fn note_reset(&self) {
        self.resets.fetch_add(1, ordering::Release);
        self.given_up_reads.store(0, ordering::Relaxed);
    }

    /// Whether the function that the driver was bound to answers, according to its configuration space.
    pub(crate) fn is_there(&self) -> bool {
        let device = pci_dev(self.gate.device());
        // SAFETY: a valid device; its IDs do not change.
        let expected = unsafe { u32::from((*device).device) << 16 | u32::from((*device).vendor) };
        let mut found = 0;
        // SAFETY: a valid device, and a place for the answer.
        let failed = unsafe {
            bindings::pci_read_config_dword(device, bindings::PCI_VENDOR_ID as i32, &mut found)
        };
        failed == 0 && found == expected
    }

    /// Writes the block's settings, and registers that may have another driver's setting.
    fn configure(&self, epoch: Epoch) -> Result<(), Failure> {
        let settings = [self.port_timeout(), link::set_pace(self.link())];
        self.hw.upkeep(epoch, settings)
    }

    /// Returns the cycles to which `PORT_TIMEOUT` is set, except for moments.
    pub(crate) fn port_timeout_cycles(&self) -> u32 {
        let cycles = self.settings.port_timeout;
        cycles.unwrap_or(csr::PORT_TIMEOUT_RESET)
    }

    fn port_timeout(&self) -> Step {
        let register = Register::Csr(csr::PORT_TIMEOUT);
        Step::Write(register, self.port_timeout_cycles())
    }

    /// Reads a register of the function's PCI Express capability, if the board answers.
    fn pcie_capability(&self, register: u32) -> Option<u16> {
        let mut word = 0;
        // SAFETY: a valid device, and a place for the answer.
        let failed = unsafe {
            bindings::pcie_capability_read_word(
                pci_dev(self.gate.device()),
                register as i32,
                &mut word,
            )
        };
        (failed == 0).then_some(word)
    }

    /// Returns the longest time that the hard IP waits for the answer to a read; `None`: for ever.
    fn completion_timeout(&self) -> Option<Delta> {
        let control = self.pcie_capability(bindings::PCI_EXP_DEVCTL2)?;
        let longest = link::completion_timeout(control)?;
        Some(Delta::from_millis(longest.into()))
    }

    /// Makes sure that a read ends that is never answered: an unlimited wait is for people who look for errors, and
    /// no function has to wait longer than that.
    pub(crate) fn bound_completions(&self) {
        let longest = self.completion_timeout();
        if longest.is_some_and(|longest| longest <= LONGEST_COMPLETION) {
            return;
        }
        let mask = bindings::PCI_EXP_DEVCTL2_COMP_TIMEOUT | bindings::PCI_EXP_DEVCTL2_COMP_TMOUT_DIS;
        // SAFETY: a valid device. All functions have the range of value 0, which is 50 ms at most.
        unsafe {
            bindings::pcie_capability_clear_and_set_word_locked(
                pci_dev(self.gate.device()),
                bindings::PCI_EXP_DEVCTL2 as i32,
                mask as u16,
                0,
            )
        };
        dev_info!(
            self.device(),
            "Device Control 2 is set to the default range of completion timeouts; it had more than a second, or none\n"
        );
    }

    /// Makes sure that the function may read as much at once as a port without tags needs
    /// ([`link::LEAST_READ_REQUEST`]). An earlier driver or the firmware may have set another value, and a reset may
    /// have restored one.
    fn ask_for_enough(&self) -> Result<(), Failure> {
        if self.capabilities.tagged {
            return Ok(());
        }
        let device = pci_dev(self.gate.device());
        // SAFETY: a valid device. A failure of the call is seen by the check after it.
        let bytes = unsafe {
            if bindings::pcie_get_readrq(device) < link::LEAST_READ_REQUEST {
                bindings::pcie_set_readrq(device, link::LEAST_READ_REQUEST);
            }
            bindings::pcie_get_readrq(device)
        };
        if bytes >= link::LEAST_READ_REQUEST {
            return Ok(());
        }
        dev_err!(
            self.device(),
            "its Max Read Request Size stays at {} bytes, with which reads give wrong data, and the kernel does not let it be 512: boot without pci=pcie_bus_perf; if that is not set, the host bridge is the reason, and another slot or computer helps\n",
            bytes
        );
        Err(Failure::ReadRequest)
    }

    /// Returns the link as it was trained: the code of its speed, and its lanes (PCI Express Base Specification,
    /// 7.5.3.8, Link Status). Zeros if the board does not answer.
    pub(crate) fn link_status(&self) -> (u32, u32) {
        let status = self.pcie_capability(bindings::PCI_EXP_LNKSTA);
        let status = status.map_or(0, u32::from);
        (status & 0xf, status >> 4 & 0x3f)
    }

    fn link(&self) -> Option<Link> {
        let status = self.pcie_capability(bindings::PCI_EXP_LNKSTA)?;
        link::trained(status, self.hw.place().clock)
    }

    /// Returns the frame at an offset of the block's BAR.
    pub(crate) fn bar_pfn(&self, offset: usize) -> Option<usize> {
        let bar = self.hw.place().bar;
        let start = self.gate.device().resource_start(bar).ok()?;
        Some((start as usize + offset) >> PAGE_SHIFT)
    }

    /// Returns the frame of a channel's page.
    pub(crate) fn page_pfn(&self, number: u32) -> Option<usize> {
        self.bar_pfn(self.hw.place().chan + channel::page(number, 0).offset())
    }

    /// Reserves ATT entries for a channel, one after the other. `EDQUOT`: it may not have so many; `ENOSPC`: so many
    /// are not free.
    pub(crate) fn take_entries(&self, channel: u32, count: u32) -> Result<Run> {
        self.collect_entries(None);
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

    /// Frees a channel's ATT entries, which the board must not have any more, and no descriptor name.
    pub(crate) fn give_entries(&self, channel: u32, run: Run) {
        let mut entries = self.entries.lock();
        entries.quota.give(channel, run.count());
        if let Err(error) = entries.allocator.free(run) {
            dev_err!(self.device(), "{}\n", Text(error));
        }
    }

    /// Returns the most entries that a channel can ever hold.
    pub(crate) fn most_entries(&self, channel: u32) -> u32 {
        let entries = self.entries.lock();
        entries.quota.most(channel).min(entries.allocator.entries())
    }

    /// Returns the entries that are taken, in this storage.
    pub(crate) fn entries_taken(&self, storage: KVVec<u64>) -> EntrySet<KVVec<u64>> {
        self.entries.lock().allocator.taken(storage)
    }

    /// Calls `f` with the users' quota, which no thread changes during this.
    pub(crate) fn with_quota<R>(&self, f: impl FnOnce(&Quota) -> R) -> R {
        f(&self.entries.lock().quota)
    }

    /// Releases cached regions of contexts by `let_go`, while no other thread does so.
    pub(crate) fn let_go<R>(&self, let_go: impl FnOnce() -> R) -> R {
        let _leaving = self.leaving.lock();
        let_go()
    }

    /// Returns the number of channels that no context has.
    pub(crate) fn free_channels(&self) -> u32 {
        self.capabilities.channels - self.users.lock().taken.count_ones()
    }

    /// Returns the number of ATT entries that a channel holds.
    pub(crate) fn entries_of(&self, channel: u32) -> u32 {
        self.entries.lock().quota.held(channel)
    }

    /// Returns the number of ATT entries in all, and of those that are free.
    pub(crate) fn entries(&self) -> (u32, u32) {
        let entries = self.entries.lock();
        let allocator = &entries.allocator;
        (allocator.entries(), allocator.free_entries())
    }

    /// Takes a channel for a user's context, which `make` makes for its number, and opens it. `EBUSY`: no channel is
    /// free; `EDQUOT`: the user has as many as one may.
    ///
    /// The kernel lets one process at a time open any device of its kind. So no process waits here for a block that
    /// is slow: a context whose channel does not open is left to the watchdog.
    pub(crate) fn admit(
        self: &Arc<Self>,
        user: User,
        make: impl FnOnce(u32) -> Result<Arc<Context>>,
    ) -> Result<Arc<Context>> {
        let number = self.take_channel(user)?;
        let made = make(number).map(|context| {
            // From here on a start of the board opens its channel, too.
            let mut users = self.users.lock();
            users.contexts[number as usize] = Some(context.clone());
            drop(users);
            let opened = context.open_channel();
            if opened.is_err() {
                // The kernel does not call `release` for a file that was not opened.
                context.forget_file();
                context.abandon();
                self.watch_now();
            }
            (context, opened)
        });
        match made {
            Ok((context, opened)) => {
                opened.map_err(|failure| self.reported(failure))?;
                Ok(context)
            }
            Err(error) => {
                self.dismiss(number);
                Err(error)
            }
        }
    }

    /// Closes contexts that were abandoned. Called by the watchdog.
    fn close_abandoned(&self) {
        self.for_each_user(|user| {
            if user.is_abandoned() {
                user.close();
                self.dismiss(user.channel);
            }
        });
    }

    fn take_channel(&self, user: User) -> Result<u32> {
        let mut users = self.users.lock();
        let number = users.taken.trailing_ones();
        if number >= self.capabilities.channels {
            return Err(EBUSY);
        }
        let taken = self.entries.lock().quota.open(number, user);
        taken.map_err(|error| {
            explain!(self, "{}\n", Text(error));
            EDQUOT
        })?;
        users.taken |= 1 << number;
        Ok(number)
    }

    /// Frees a channel.
    pub(crate) fn dismiss(&self, channel: u32) {
        let mut users = self.users.lock();
        let user = users
            .contexts
            .get_mut(channel as usize)
            .and_then(Option::take);
        users.taken &= !(1 << channel);
        self.entries.lock().quota.close(channel);
        drop(users);
        drop(user);
    }

    /// Calls `f` with the context of a channel, if it has one.
    pub(crate) fn with_user(&self, channel: u32, f: impl FnOnce(&Arc<Context>)) {
        let users = self.users.lock();
        let user = users.contexts.get(channel as usize).cloned().flatten();
        drop(users);
        if let Some(user) = user {
            f(&user);
        }
    }

    /// Calls `f` with each context, in the order of their channels.
    pub(crate) fn for_each_user(&self, mut f: impl FnMut(&Arc<Context>)) {
        for channel in 0..self.capabilities.channels {
            self.with_user(channel, &mut f);
        }
    }

    /// Calls a function that may fail with each context, in the order of their channels. All are called; the first
    /// failure is returned.
    fn try_for_each_user(
        &self,
        mut f: impl FnMut(&Arc<Context>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut first = Ok(());
        self.for_each_user(|user| first = first.and(f(user)));
        first
    }

    fn has_users(&self) -> bool {
        self.users.lock().taken != 0
    }
}
