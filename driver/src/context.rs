// SPDX-License-Identifier: GPL-2.0

//! A context: an open file with its channel, its completion ring and its regions.

use crate::{
    board::Board,
    dma::{self, DmaPages},
    events::{Deadline, Events},
    ffi::{peerlane_page_address, peerlane_page_to_pfn},
    file::Area,
    fpga_memory::Share,
    gate::Inside,
    hw::Failure,
    logic::{
        att::Permissions,
        channel::{self, Moderation, Settings},
        events::{Admission, Seen},
        fpga_memory::Content,
        lifecycle::Epoch,
        queue::Occupancy,
        quota::User,
        regs::{chan, Completion},
        shell,
        steps::Step,
        table::{self, Reach},
        uapi::map,
        window::{self, Window, WindowError},
    },
    memory::nvidia,
    queue::Queue,
    regions::{Region, Regions},
    trace,
};
use core::ptr::NonNull;
use kernel::{
    bindings, current, new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
    task::Pid,
    time::Delta,
};

/// When a channel is opened.
#[derive(Clone, Copy)]
pub(crate) enum Opening {
    /// For a new context: the board runs.
    First,
    /// Because the board is started.
    Again(Epoch),
}

/// Longest wait of a new context for its channel: opening a device blocks all other callers of `open`. The context
/// before it has left the channel idle, or the board cut off.
const FIRST_PATIENCE: Delta = Delta::from_millis(1);

/// Writer of the channel's descriptors.
pub(crate) enum Writer {
    /// None yet.
    Nobody,
    /// The driver, for [`SUBMIT`](crate::logic::uapi::SUBMIT).
    Driver(Queue),
    /// The process, in the page that it has mapped.
    Process(Admission),
}

/// State of an open file.
#[pin_data]
pub(crate) struct Context {
    pub(crate) board: Arc<Board>,
    pub(crate) channel: u32,
    /// The user who has opened it, and whose quota it uses.
    pub(crate) user: User,
    /// The process that has opened it.
    pub(crate) opener: Pid,
    pub(crate) events: Arc<Events>,
    /// Its FPGA memory.
    #[pin]
    pub(crate) share: Mutex<Share>,
    /// log2 of the ring's records.
    pub(crate) ring_log2: u32,
    /// `None` once the context has been closed.
    #[pin]
    ring: Mutex<Option<DmaPages>>,
    #[pin]
    moderation: Mutex<Moderation>,
    #[pin]
    pub(crate) writer: Mutex<Writer>,
    /// Held while the driver submits a descriptor, and while the channel is stopped: a doorbell that is rung during a
    /// stop is refused, and leaves no record. It may be held as long as a stop takes, a second and the board's time
    /// limit, so code that must not wait so long does not take it.
    #[pin]
    pub(crate) submission: Mutex<()>,
    #[pin]
    pub(crate) regions: Mutex<Regions>,
    /// The mappings of its file in processes, as long as the file is open: the inode may be freed with it.
    #[pin]
    mapped: Mutex<Option<Pages>>,
    /// Pages that a process gets, by area of its file, when the page that it had mapped is gone.
    empty: [kernel::page::Page; Area::COUNT],
    /// Its file was not opened, so no call will close it.
    abandoned: Atomic<bool>,
}

/// The pages of a file, as long as that is open.
struct Pages(NonNull<bindings::address_space>);

// SAFETY: they belong to no thread.
unsafe impl Send for Pages {}

/// Allocates a page for each area: of zeros, or of the slots of an emptied ring.
fn empty_pages() -> Result<[kernel::page::Page; Area::COUNT]> {
    let page = || kernel::page::Page::alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
    let pages = [page()?, page()?, page()?, page()?];
    // SAFETY: a valid page that is always mapped, and not used by others yet.
    let ring = unsafe { peerlane_page_address(pages[Area::Ring as usize].as_ptr()) };
    // SAFETY: as above.
    unsafe { dma::empty_ring(ring.cast(), PAGE_SIZE) };
    Ok(pages)
}

impl Context {
    /// Makes a context with a channel of its own.
    pub(crate) fn open(
        board: &Arc<Board>,
        inside: &Inside<'_>,
        mapped: *mut bindings::address_space,
        user: User,
    ) -> Result<Arc<Self>> {
        board.hw.usable()?;
        board.admit(user, |channel| {
            let capabilities = &board.capabilities;
            let ring_log2 = Occupancy::ring_log2(capabilities.queue_depth());
            let bytes = Completion::SIZE << ring_log2;
            let ring = DmaPages::new(
                inside.device(),
                bytes.next_multiple_of(PAGE_SIZE),
                Permissions::ReadWrite,
            )?;
            let context = Arc::pin_init(
                pin_init!(Self {
                    board: board.clone(),
                    channel,
                    user,
                    opener: current!().tgid(),
                    mapped <- new_mutex!(NonNull::new(mapped).map(Pages)),
                    events: Arc::pin_init(Events::new(), GFP_KERNEL_ACCOUNT)?,
                    share <- new_mutex!(Share::NONE),
                    ring_log2,
                    ring <- new_mutex!(Some(ring)),
                    moderation <- new_mutex!(Moderation::default()),
                    writer <- new_mutex!(Writer::Nobody),
                    submission <- new_mutex!(()),
                    regions <- new_mutex!(Regions::new(board.settings.kept, board.keeper()?)),
                    empty: empty_pages()?,
                    abandoned: Atomic::new(false),
                }? Error),
                GFP_KERNEL_ACCOUNT,
            )?;
            trace::opened(board, channel);
            Ok(context)
        })
    }

    /// Whether another context is of the same user.
    pub(crate) fn has_user_of(&self, other: &Self) -> bool {
        self.user.id == other.user.id
    }

    /// Marks it as a context without a file. The watchdog closes it.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, ordering::Release);
    }

    /// Whether the watchdog is to close it.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(ordering::Acquire)
    }

    /// Opens the channel of a new context.
    pub(crate) fn open_channel(&self) -> Result<(), Failure> {
        let writer = self.writer.lock();
        self.start_channel(&writer, Opening::First)
    }

    /// Starts the channel as the board is started. Even if this fails, transfers that were in progress are lost, and
    /// the threads that wait for them are notified.
    pub(crate) fn restart_channel(&self, epoch: Epoch) -> Result<(), Failure> {
        let mut writer = self.writer.lock();
        let generation = self.events.restarted();
        match &mut *writer {
            Writer::Nobody => {}
            Writer::Driver(queue) => queue.restart(),
            Writer::Process(admission) => admission.restarted(generation),
        }
        self.start_channel(&writer, Opening::Again(epoch))
    }

    /// Starts the channel at the first slot of its ring.
    pub(crate) fn start_channel(&self, writer: &Writer, opening: Opening) -> Result<(), Failure> {
        let hw = &self.board.hw;
        let ring = self.ring.lock();
        let Some(ring) = &*ring else { return Ok(()) };
        // First of all: the generation is raised already, and even if a later step fails, the contents of the ring
        // are stale. A new context's board does not know the ring yet; a board that is started has been fenced, and
        // is not bus master.
        ring.empty_ring();
        // Neither changes until the board has it.
        let (moderation, share) = (self.moderation.lock(), self.share.lock());
        match opening {
            Opening::First => hw.run(channel::close(self.channel))?,
            Opening::Again(epoch) => hw.upkeep(epoch, channel::close(self.channel))?,
        }
        let settings = Settings {
            ring: ring.address(),
            ring_log2: self.ring_log2,
            range: share.channel(),
            moderation: *moderation,
        };
        let steps = channel::prepare(self.channel, &settings);
        let steps = Iterator::chain(steps.into_iter(), self.acceptance(writer));
        match opening {
            Opening::First => hw.run_within(FIRST_PATIENCE, steps),
            Opening::Again(epoch) => hw.upkeep(epoch, steps),
        }
    }

    /// Returns the step that has the channel accept doorbells. A process that does not know yet about a restart gets
    /// none.
    pub(crate) fn acceptance(&self, writer: &Writer) -> Option<Step> {
        match writer {
            Writer::Process(admission) if admission.is_halted() => None,
            _ => Some(channel::resume(self.channel)),
        }
    }

    /// Writes the entries of all regions again.
    pub(crate) fn restore_regions(&self, epoch: Epoch) -> Result<(), Failure> {
        self.regions.lock().restore(epoch)
    }

    /// Stops the channel: lets accepted descriptors end until the deadline, at most a second after the call, and
    /// aborts those that have not ended by then. Returns whether a descriptor was aborted.
    pub(crate) fn stop(&self, deadline: Deadline) -> Result<bool> {
        // Threads that wait for each other here, as many as a process likes, all wait at the same time: no thread has
        // its second only after the second of the thread before it. And none waits inside the gate.
        let latest = Deadline::after(Delta::from_secs(1));
        let _held = self.submission.lock();
        let _inside = self.board.gate.enter()?;
        let hw = &self.board.hw;
        let left = |deadline: Deadline| deadline.left().unwrap_or(Delta::ZERO);
        let drain = left(deadline).min(left(latest));
        let late = match hw.run_within(drain, channel::drain(self.channel)) {
            Ok(()) => false,
            Err(Failure::Away) => return Err(EAGAIN),
            // A board that has not answered is not used any more, below, until the watchdog has started it again.
            Err(_) => true,
        };
        let abort = late.then(|| channel::abort(self.channel));
        // With the fence the records of descriptors that have ended are in the ring.
        let steps = || Iterator::chain(abort.into_iter().flatten(), table::fence(Reach::Host));
        let epoch = hw.usable()?;
        let ended = hw.run(steps());
        // A board that was reset without the driver's knowledge has nothing to end, and no record of its earlier
        // descriptors. The same holds for one whose port was dead.
        let ended = ended.and_then(|()| self.board.port_is_alive(epoch));
        let mut ended = ended.and_then(|()| self.board.remembers_all());
        if !matches!(ended, Ok(()) | Err(Failure::Away)) {
            // A descriptor that an abort does not end never ends, and descriptors that the block has dropped end
            // without a record. So the board is started again, with the channel.
            self.board.settle(steps);
            if hw.live() == Some(epoch) {
                // The second attempt has succeeded.
                ended = Ok(());
            }
        }
        // The block has none of its descriptors any more. Those without a record were lost on the way to it.
        if ended.is_ok() && !self.has_all_records() {
            self.board.settle_by(|_| Err(Failure::Forgotten));
            ended = Err(Failure::Forgotten);
        }
        // The channel may have been started again in the meantime, and its process not know it.
        let accepting = {
            let writer = self.writer.lock();
            hw.run(self.acceptance(&writer))
        };
        // Interrupts may be moderated, and a thread that waits for one has not asked for this stop.
        self.events.interrupt();
        ended.and(accepting).map_err(|failure| self.board.reported(failure))?;
        Ok(late)
    }

    /// Changes how interrupts are moderated.
    pub(crate) fn moderate(&self, moderation: Moderation) -> Result {
        let mut current = self.moderation.lock();
        *current = moderation;
        Ok(self
            .board
            .hw
            .run([channel::moderate(self.channel, moderation)])?)
    }

    /// Takes the board's window into FPGA memory, or moves it.
    pub(crate) fn hold_window(&self, base: u64) -> Result {
        // It stays the context's until the window is lent.
        let share = self.share.lock();
        let window = Window::new(base, &share.process()).map_err(|error| match error {
            WindowError::Unaligned { .. } => EINVAL,
            WindowError::Outside { .. } => EPERM,
        })?;
        self.board.lend_window(self, window)
    }

    /// Records the events that the user has seen; the generation only if the answer was long enough. A process whose
    /// channel was started again may go on when it knows the new generation, and not before.
    pub(crate) fn told(&self, seen: &Seen, of_generation: bool) {
        self.events.told(seen);
        let waits = |writer: &Writer| match writer {
            Writer::Process(admission) => admission.waits_for(seen.generation),
            Writer::Nobody | Writer::Driver(_) => false,
        };
        if !of_generation || !waits(&self.writer.lock()) {
            return;
        }
        // A stop that is in progress ends first.
        let _held = self.submission.lock();
        let mut writer = self.writer.lock();
        if !waits(&writer) {
            return;
        }
        // The channel was started, though the start of the board may not be complete. A board that does not answer is
        // started once more, and the process is notified of that start.
        let hw = &self.board.hw;
        let resume = |epoch| hw.upkeep(epoch, [channel::resume(self.channel)]).is_ok();
        if hw.live().is_some_and(resume) {
            if let Writer::Process(admission) = &mut *writer {
                admission.admit();
            }
        }
    }

    /// Returns the frame of a page of the ring.
    pub(crate) fn ring_pfn(&self, index: usize) -> Option<usize> {
        self.ring.lock().as_ref()?.pfn(index)
    }

    /// Calls `f` with the ring, as long as it exists.
    pub(crate) fn with_ring<R>(&self, f: impl FnOnce(&DmaPages) -> R) -> Result<R> {
        self.ring.lock().as_ref().map(f).ok_or(ENODEV)
    }

    /// Returns the frame of an empty page, one for each area: bytes that a process stores into one area do not appear
    /// in another.
    pub(crate) fn empty_pfn(&self, area: Area) -> usize {
        // SAFETY: a valid page.
        unsafe { peerlane_page_to_pfn(self.empty[area as usize].as_ptr()) as usize }
    }

    /// Removes the reference to its file, which is being closed.
    pub(crate) fn forget_file(&self) {
        *self.mapped.lock() = None;
    }

    /// Removes processes' mappings of these ranges of the file; a length of 0: to its end.
    fn unmap_ranges(&self, ranges: &[(u64, u64)]) {
        let mapped = self.mapped.lock();
        let Some(mapped) = &*mapped else { return };
        for (start, bytes) in ranges {
            // SAFETY: the file is open until we let the lock go, and its mapping with it.
            unsafe {
                bindings::unmap_mapping_range(
                    mapped.0.as_ptr(),
                    *start as bindings::loff_t,
                    *bytes as bindings::loff_t,
                    1,
                )
            };
        }
    }

    /// Removes all mappings of processes. The gate must be closed, so that nothing real is mapped again.
    pub(crate) fn unmap(&self) {
        self.unmap_ranges(&[(0, 0)]);
    }

    /// Removes processes' mappings of the board's window.
    pub(crate) fn unmap_window(&self) {
        self.unmap_ranges(&[(map::WINDOW, window::BYTES)]);
    }

    /// Removes processes' mappings of the interface to the OpenCL kernels.
    pub(crate) fn unmap_kernels(&self) {
        self.unmap_ranges(&[(map::KERNELS, shell::KERNELS_BYTES)]);
    }

    /// Removes processes' mappings of the BAR.
    pub(crate) fn unmap_views(&self) {
        let page = (map::PAGE, chan::SIZE as u64);
        let kernels = (map::KERNELS, shell::KERNELS_BYTES);
        self.unmap_ranges(&[page, (map::WINDOW, window::BYTES), kernels]);
    }

    /// Takes everything from the board, then releases all resources. The device must be bound.
    pub(crate) fn close(&self) {
        // It may hold neither.
        let _ = self.board.return_opencl(self);
        let _ = self.board.return_window(self);
        // From here on the channel is not started any more.
        let ring = self.ring.lock().take();
        self.board.settle(|| channel::abort(self.channel));
        // Before the channel has another owner.
        self.close_streams();
        self.board.settle(|| channel::close(self.channel));
        // Regions of this context that other contexts are evicting are then gone, too.
        self.board.let_go(|| {
            let regions = self.take_regions();
            // Transfers of the channel in progress must end, even if it has no region.
            if regions.is_empty() {
                self.board.settle(|| table::fence(Reach::Host));
            }
            Region::retire(&self.board, regions);
        });
        self.board.collect_entries(Some(self.channel));
        *self.share.lock() = Share::NONE;
        self.board.memory.take_back(self.channel, Content::Unknown);
        nvidia::settle_lost();
        // After that fence no record is in progress either.
        drop(ring);
        trace::closed(&self.board, self.channel);
    }
}
