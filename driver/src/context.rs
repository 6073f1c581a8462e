// SPDX-License-Identifier: GPL-2.0

//! A context: an open file with its channel, its completion ring and its regions.

use crate::{
    board::Board,
    dma::DmaPages,
    events::Events,
    ffi::peerlane_page_to_pfn,
    gate::Inside,
    hw::Failure,
    logic::{
        channel::{self, LocalRange, Moderation, Settings},
        queue::Occupancy,
        regs::Completion,
        table::{self, Reach},
        uapi::map,
        window::{self, Window, WindowError},
    },
    memory::nvidia,
    queue::Queue,
    regions::{Region, Regions},
    trace,
};
use core::ops::Range;
use kernel::{
    bindings, new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{Arc, Mutex},
    time::Delta,
};

/// Who writes the channel's descriptors.
pub(crate) enum Writer {
    /// Nobody yet.
    Nobody,
    /// The driver, for [`SUBMIT`](crate::logic::uapi::SUBMIT).
    Driver(Queue),
    /// The process, in the page that it has mapped.
    Process {
        /// It has not seen yet that the channel was started anew, and may not write until then.
        halted: bool,
    },
}

/// What belongs to an open file.
#[pin_data]
pub(crate) struct Context {
    pub(crate) board: Arc<Board>,
    pub(crate) channel: u32,
    pub(crate) events: Arc<Events>,
    /// FPGA memory that the channel may touch.
    #[pin]
    pub(crate) range: Mutex<LocalRange>,
    /// log2 of the ring's records.
    pub(crate) ring_log2: u32,
    /// `None` once the context has been closed.
    #[pin]
    ring: Mutex<Option<DmaPages>>,
    #[pin]
    moderation: Mutex<Moderation>,
    #[pin]
    pub(crate) writer: Mutex<Writer>,
    #[pin]
    pub(crate) regions: Mutex<Regions>,
    /// What processes have mapped of its file. Valid as long as the file is open, and so as long
    /// as the board knows the context.
    mapped: *mut bindings::address_space,
    /// Given to a process instead of what it had mapped when the device is gone.
    nothing: kernel::page::Page,
}

// SAFETY: `mapped` is used as it says; all else may be shared.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// A context with a channel of its own.
    pub(crate) fn open(
        board: &Arc<Board>,
        inside: &Inside<'_>,
        mapped: *mut bindings::address_space,
    ) -> Result<Arc<Self>> {
        if board.is_resting() {
            return Err(EAGAIN);
        }
        if board.hw.is_gone() {
            return Err(ENODEV);
        }
        board.admit(|channel| {
            let capabilities = &board.capabilities;
            let ring_log2 = Occupancy::ring_log2(capabilities.queue_depth());
            let bytes = Completion::SIZE << ring_log2;
            let memory = capabilities.memory_bytes();
            let all = LocalRange::new(0..memory, memory).map_err(|_| EINVAL)?;
            let ring = DmaPages::new(inside, bytes.next_multiple_of(PAGE_SIZE))?;
            let context = Arc::pin_init(
                pin_init!(Self {
                    board: board.clone(),
                    channel,
                    mapped,
                    events: Arc::pin_init(Events::new(), GFP_KERNEL)?,
                    range <- new_mutex!(all),
                    ring_log2,
                    ring <- new_mutex!(Some(ring)),
                    moderation <- new_mutex!(Moderation::default()),
                    writer <- new_mutex!(Writer::Nobody),
                    regions <- new_mutex!(Regions::new(board.settings.kept)),
                    nothing: kernel::page::Page::alloc_page(GFP_KERNEL | __GFP_ZERO)?,
                }? Error),
                GFP_KERNEL,
            )?;
            context.open_channel()?;
            trace::opened(board, channel);
            Ok(context)
        })
    }

    /// Starts the channel at the first slot of its ring.
    pub(crate) fn open_channel(&self) -> Result<(), Failure> {
        let mut writer = self.writer.lock();
        let ring = self.ring.lock();
        let Some(ring) = &*ring else { return Ok(()) };
        let moderation = *self.moderation.lock();
        self.board.hw.run(channel::close(self.channel))?;
        ring.clear();
        let resume = match &mut *writer {
            Writer::Nobody => true,
            Writer::Driver(queue) => {
                queue.restart();
                true
            }
            Writer::Process { halted } => {
                *halted = true;
                false
            }
        };
        let settings = Settings {
            ring: ring.address(),
            ring_log2: self.ring_log2,
            range: *self.range.lock(),
            moderation,
        };
        let resume = resume.then_some(channel::resume(self.channel));
        let steps = channel::prepare(self.channel, &settings);
        self.board
            .hw
            .run(Iterator::chain(steps.into_iter(), resume))
    }

    /// Writes the entries of all regions once more.
    pub(crate) fn restore_regions(&self) -> Result<(), Failure> {
        self.regions.lock().restore()
    }

    /// Has the channel end what it has accepted, and aborts what has not ended after so long.
    /// Says whether something was aborted.
    pub(crate) fn stop(&self, drain: Delta) -> Result<bool> {
        let hw = &self.board.hw;
        let late = match hw.run_within(drain, channel::drain(self.channel)) {
            Ok(()) => false,
            Err(Failure::Late(..)) => true,
            Err(failure) => return Err(failure.into()),
        };
        if late {
            hw.run(channel::abort(self.channel))?;
        }
        // With the fence the records of what has ended are in the ring.
        hw.run(Iterator::chain(
            table::fence(Reach::Host),
            [channel::resume(self.channel)],
        ))?;
        Ok(late)
    }

    /// Changes how interrupts are held back.
    pub(crate) fn moderate(&self, moderation: Moderation) -> Result {
        let mut current = self.moderation.lock();
        *current = moderation;
        Ok(self
            .board
            .hw
            .run([channel::moderate(self.channel, moderation)])?)
    }

    /// Lets the channel touch less FPGA memory than before.
    pub(crate) fn narrow(&self, wanted: Range<u64>) -> Result {
        let writer = self.writer.lock();
        let Writer::Nobody = *writer else {
            return Err(EBUSY);
        };
        let mut range = self.range.lock();
        let all = range.bytes();
        if wanted.start < all.start || wanted.end > all.end {
            return Err(EPERM);
        }
        let narrowed = LocalRange::new(wanted, all.end).map_err(|_| EINVAL)?;
        let held = self.board.window_of(self.channel);
        if held.is_some_and(|held| !narrowed.contains(held.base(), window::BYTES)) {
            return Err(EBUSY);
        }
        *range = narrowed;
        Ok(self
            .board
            .hw
            .run(channel::set_range(self.channel, &range))?)
    }

    /// Takes the board's window into FPGA memory, or moves it.
    pub(crate) fn hold_window(&self, base: u64) -> Result {
        // It stays as wide until the window is lent.
        let range = self.range.lock();
        let window = Window::new(base, &range).map_err(|error| match error {
            WindowError::Unaligned { .. } => EINVAL,
            WindowError::Outside { .. } => EPERM,
        })?;
        self.board.lend_window(self, window)
    }

    /// The process knows now that its channel was started anew.
    pub(crate) fn resume(&self) -> Result {
        let mut writer = self.writer.lock();
        if let Writer::Process {
            halted: halted @ true,
        } = &mut *writer
        {
            self.board.hw.run([channel::resume(self.channel)])?;
            *halted = false;
        }
        Ok(())
    }

    /// The frame behind a page of the ring.
    pub(crate) fn ring_pfn(&self, index: usize) -> Option<usize> {
        self.ring.lock().as_ref()?.pfn(index)
    }

    /// Looks at the ring, as long as there is one.
    pub(crate) fn with_ring<R>(&self, f: impl FnOnce(&DmaPages) -> R) -> Result<R> {
        self.ring.lock().as_ref().map(f).ok_or(ENODEV)
    }

    /// The frame of an empty page.
    pub(crate) fn nothing_pfn(&self) -> usize {
        // SAFETY: a valid page.
        unsafe { peerlane_page_to_pfn(self.nothing.as_ptr()) as usize }
    }

    /// Takes away what processes have mapped. The gate must be closed, so that nothing real is
    /// mapped again, and the context known to the board.
    pub(crate) fn unmap(&self) {
        // SAFETY: valid, as `mapped` says.
        unsafe { bindings::unmap_mapping_range(self.mapped, 0, 0, 1) };
    }

    /// The same for what they have mapped of the board's window, however much that is.
    pub(crate) fn unmap_window(&self) {
        // SAFETY: as above.
        unsafe {
            bindings::unmap_mapping_range(
                self.mapped,
                map::WINDOW as bindings::loff_t,
                window::BYTES as bindings::loff_t,
                1,
            )
        };
    }

    /// Takes everything from the board, then gives everything back. The device must be bound.
    pub(crate) fn close(&self) {
        // It may not have the window.
        let _ = self.board.return_window(self);
        // From here on the channel is not started any more.
        let ring = self.ring.lock().take();
        self.board.settle(|| channel::abort(self.channel));
        self.board.settle(|| channel::close(self.channel));
        let regions = self.regions.lock().take();
        Region::retire(&self.board, regions);
        nvidia::settle_lost();
        // After the fence in `retire` no record is under way either.
        drop(ring);
        trace::closed(&self.board, self.channel);
    }
}
