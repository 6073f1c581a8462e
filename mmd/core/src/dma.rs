//! Transfers between the application's memory and the board's.

use crate::host::HostMemory;
use crate::messages::say;
use crate::resets::Resets;
use peerlane_host::cache::NoRoom as _;
use peerlane_host::{
    CopyOptions, Device, Direction, Error, Fault, Memory, MemoryKind, Part, Permissions, Queue,
    Region, Request, Result, Terms, Transfer,
};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Transfers of up to so many bytes are copied through memory that the board has already: to register memory takes
/// longer. To be measured with the driver and a board: registering is a call of the kernel's, which a board in the
/// process lacks.
const STAGED: usize = 16 << 10;

/// Bytes of a piece of the library's own memory.
const SLOT: usize = 256 << 10;

/// Most pieces.
const SLOTS: usize = 8;

/// Time that a thread spins for the end of a transfer before it sleeps: longer than a small transfer takes. To be
/// measured on a board.
const SPIN: Duration = Duration::from_micros(10);

/// The longest time of a copy to or from a peer, in the board's time: longer than it takes while the peer answers.
const LIMIT: Duration = Duration::from_secs(60);

/// The longest time of the runtime's own transfers, in the board's time. A copy to a peer that does not answer ends
/// after [`LIMIT`] by a restart of the queue, which also ends these transfers and may take ten seconds. They must not
/// be late before that: they are made again as others' restarts have ended them, and a late transfer is an error.
const OWN_LIMIT: Duration = Duration::from_secs(90);
const _: () = assert!(OWN_LIMIT.as_secs() >= LIMIT.as_secs() + 20);

/// Attempts of a transfer.
const ATTEMPTS: u32 = 5;

/// Attempts of a transfer that others' restarts have ended: each copy to a peer that takes no data ends by a restart,
/// and so many may be in a lane ([`Gate`](crate::board::Gate)).
const ATTEMPTS_BESIDE_OTHERS: u32 = 100;

/// Pause before a transfer is tried again; the second pause is twice as long.
const PAUSE: Duration = Duration::from_millis(10);

/// The channel of an open board, and memory that the board has already.
#[derive(Debug)]
pub(crate) struct Dma {
    device: Device,
    queue: Queue,
    /// Checked before each new attempt: after a reset of the board the transfer would succeed, with memory that does
    /// not have the program's data any more.
    resets: Arc<Resets>,
    slots: Mutex<Slots>,
    /// A slot was released.
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Slots {
    free: Vec<Slot>,
    made: usize,
}

/// Memory of the library's that the board has already.
#[derive(Debug)]
struct Slot {
    memory: Memory,
    region: Region,
}

/// Pieces in progress, with the slots that they use.
struct Pieces<'a> {
    dma: &'a Dma,
    under_way: VecDeque<Piece>,
}

struct Piece {
    slot: Slot,
    transfer: Transfer,
    /// First byte in the application's memory.
    offset: usize,
    length: usize,
}

impl Dma {
    /// Takes the channel of a device that has FPGA memory.
    pub(crate) fn new(device: Device, resets: Arc<Resets>) -> Result<Self> {
        let queue = device.queue()?;
        queue.set_spin(SPIN);
        let dma = Self {
            device,
            queue,
            resets,
            slots: Mutex::default(),
            freed: Condvar::new(),
        };
        // If not even one slot can be had, the application gets the error now.
        let slot = dma.new_slot()?;
        dma.lock().made = 1;
        dma.give(slot);
        Ok(dma)
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Checks that bytes lie in the FPGA memory that the board has for OpenCL.
    pub(crate) fn check(&self, fpga: u64, length: usize) -> Result<()> {
        let range = self.device.range();
        match fpga.checked_add(length as u64) {
            Some(end) if fpga >= range.start && end <= range.end => Ok(()),
            _ => Err(Error::Local {
                address: fpga,
                length: length as u64,
                base: range.start,
                end: range.end,
            }),
        }
    }

    /// Moves bytes between the application's memory and the board's. They have arrived when this returns successfully.
    /// With `last`, it begins after all earlier transfers have ended.
    ///
    /// # Errors
    /// The error that stays after several attempts.
    pub(crate) fn run(&self, host: &mut HostMemory, fpga: u64, last: bool) -> Result<()> {
        self.insist(|| self.attempt(host, fpga, last))
    }

    /// Copies board memory to board memory. Where the two overlap, the destination gets the bytes that the
    /// source had.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn copy(&self, from: u64, to: u64, length: usize) -> Result<()> {
        let pieces = length.div_ceil(SLOT);
        let slot = self.take()?;
        let copied = (0..pieces).try_for_each(|count| {
            // Bytes that are still to be read are not overwritten before.
            let index = if to > from { pieces - 1 - count } else { count };
            let offset = index * SLOT;
            let bytes = (length - offset).min(SLOT);
            let offset = offset as u64;
            // Each attempt by itself: once the second transfer has begun, the source may be overwritten.
            self.insist(|| self.whole(Direction::FromFpga, &slot, from + offset, bytes))?;
            self.insist(|| self.whole(Direction::ToFpga, &slot, to + offset, bytes))
        });
        match copied.is_ok() {
            true => self.give(slot),
            false => self.discard(slot),
        }
        copied
    }

    /// Checks a copy by [`peer`](Self::peer).
    pub(crate) fn check_peer(&self, request: &Request<'_>) -> Result<()> {
        self.queue.check(request)
    }

    /// Moves bytes between another device's memory and the board's, as a request has it. They have arrived when this
    /// returns successfully: in FPGA memory, or in the other device's if the region may be read as well as written. A
    /// transfer that the queue's restart for another transfer has ended is made again, unless `goes_on` returns `false`.
    ///
    /// # Errors
    /// Those of the host library for the transfer.
    pub(crate) fn peer(&self, request: &Request<'_>, goes_on: impl Fn() -> bool) -> Result<()> {
        let end = self.device.now().saturating_add(LIMIT);
        let mut ended_by_others = 0;
        loop {
            let transfer = self.queue.submit_with(request, Terms::default());
            let left = end.saturating_sub(self.device.now());
            let ended = transfer.and_then(|transfer| Self::wait_within(&transfer, left));
            if ended.is_err() {
                self.resets.look();
            }
            match ended {
                Err(
                    Error::Stopped
                    | Error::Fault {
                        fault: Fault::Aborted,
                        ..
                    },
                ) if ended_by_others < ATTEMPTS_BESIDE_OTHERS && goes_on() => {
                    if self.device.now() >= end {
                        // Another attempt would only restart the queue once more.
                        return Err(Error::Timeout {
                            direction: request.direction,
                            bytes_done: 0,
                            length: request.length,
                            waited: LIMIT,
                        });
                    }
                    ended_by_others += 1;
                    std::thread::sleep(PAUSE);
                }
                ended => return ended,
            }
        }
    }

    /// Ends all transfers in progress. The runtime's own transfers are made again by the threads that wait for them.
    pub(crate) fn stop(&self) {
        // If even this fails, the board is gone, and no transfer is in progress.
        let _ = self.queue.restart();
        // The queue may have noticed a reset.
        self.resets.look();
    }

    /// Moves bytes between a slot and the board's memory.
    fn whole(&self, direction: Direction, slot: &Slot, fpga: u64, length: usize) -> Result<()> {
        let transfer = self.submit(direction, slot.region.part(0..length as u64), fpga, false)?;
        self.wait(&transfer)
    }

    /// Calls a function until it succeeds, unless it never will.
    fn insist(&self, mut attempt: impl FnMut() -> Result<()>) -> Result<()> {
        let (mut tried, mut ended_by_others) = (1, 0);
        loop {
            let Err(error) = attempt() else {
                return Ok(());
            };
            self.resets.look();
            let again = match &error {
                Error::Restarted | Error::Stopped if ended_by_others < ATTEMPTS_BESIDE_OTHERS => {
                    ended_by_others += 1;
                    std::thread::sleep(PAUSE);
                    continue;
                }
                // A late transfer was stopped by the wait for it.
                Error::Fault { .. } | Error::Timeout { .. } => true,
                Error::Broken { .. } => self.queue.restart().is_ok(),
                _ => false,
            };
            if !again || tried == ATTEMPTS {
                return Err(error);
            }
            std::thread::sleep(PAUSE * tried);
            tried += 1;
        }
    }

    fn attempt(&self, host: &mut HostMemory, fpga: u64, last: bool) -> Result<()> {
        if host.length() <= STAGED {
            return self.staged(host, fpga, last);
        }
        match host.register(&self.device) {
            Ok((region, offset)) => {
                let (direction, length) = (host.direction(), host.length());
                let moved = self
                    .submit(
                        direction,
                        region.part(offset..offset + length as u64),
                        fpga,
                        last,
                    )
                    .and_then(|transfer| self.wait(&transfer));
                if moved.is_err() {
                    // The driver's state of this memory may be the cause. If the region cannot be unregistered now, the
                    // driver does it when the transfer has ended.
                    let _ = region.forget();
                }
                moved
            }
            Err(Error::Gone) => Err(Error::Gone),
            // The board's table has no room for all of it at a time.
            Err(error) if matches!(error, Error::TooLarge { .. }) || error.no_room() => {
                match self.windows(host, fpga, last) {
                    // There is no room for a part of it either, or memory of this kind cannot be pinned at all.
                    Err(
                        Error::Call { .. }
                        | Error::AttFull(_)
                        | Error::TooLarge { .. }
                        | Error::Backend(_),
                    ) => self.staged(host, fpga, last),
                    moved => moved,
                }
            }
            // Memory that cannot be pinned.
            Err(_) => self.staged(host, fpga, last),
        }
    }

    /// Moves bytes through windows into the application's memory, two at a time.
    fn windows(&self, host: &HostMemory, fpga: u64, last: bool) -> Result<()> {
        let place = (host.address(), host.length() as u64);
        let mut options = CopyOptions::default();
        options.terms = Terms {
            after_from_fpga: last,
            after_to_fpga: last,
            ..Terms::default()
        };
        // SAFETY: the memory is this value's alone, for longer than the copy.
        let copying = unsafe {
            self.queue
                .begin_copy(host.direction(), place, fpga, options)
        };
        let (mut copying, mut before) = (copying?, 0);
        loop {
            match copying.wait(OWN_LIMIT) {
                // It goes on as long as bytes are moved.
                Err(Error::Timeout { bytes_done, .. }) if bytes_done > before => {
                    before = bytes_done;
                }
                moved => return moved,
            }
        }
    }

    /// Moves bytes through memory that the board has already, two pieces at a time.
    fn staged(&self, host: &mut HostMemory, fpga: u64, last: bool) -> Result<()> {
        let mut pieces = Pieces {
            dma: self,
            under_way: VecDeque::new(),
        };
        let mut done = 0;
        while done < host.length() {
            let slot = pieces.slot(host)?;
            let length = (host.length() - done).min(SLOT);
            let place = fpga + done as u64;
            let direction = host.direction();
            let submitted = match direction {
                Direction::ToFpga => slot.memory.write(0, host.bytes(done..done + length)),
                Direction::FromFpga => Ok(()),
            }
            .and_then(|()| {
                let first = last && done == 0;
                self.submit(direction, slot.region.part(0..length as u64), place, first)
            });
            match submitted {
                Ok(transfer) => pieces.under_way.push_back(Piece {
                    slot,
                    transfer,
                    offset: done,
                    length,
                }),
                Err(error) => {
                    self.give(slot);
                    return Err(error);
                }
            }
            done += length;
        }
        while pieces.end_one(host)? {}
        Ok(())
    }

    /// Begins a transfer; with `last`, after all that was submitted before.
    fn submit(
        &self,
        direction: Direction,
        part: Part<'_>,
        fpga_address: u64,
        last: bool,
    ) -> Result<Transfer> {
        let request = Request::new(direction, part, fpga_address);
        let terms = Terms {
            after_from_fpga: last,
            after_to_fpga: last,
            ..Terms::default()
        };
        self.queue.submit_with(&request, terms)
    }

    /// Waits for the end of a transfer. When this returns, also with an error, no part of the transfer is in progress.
    fn wait(&self, transfer: &Transfer) -> Result<()> {
        Self::wait_within(transfer, OWN_LIMIT)
    }

    /// Waits as [`wait`](Self::wait), with another limit.
    fn wait_within(transfer: &Transfer, limit: Duration) -> Result<()> {
        let ended = transfer.wait(limit);
        if ended.is_err() && !transfer.has_ended() {
            // The board may still use the memory: the time is over, or the queue fails. If that takes a restart, other
            // threads make their transfers again after it.
            let stopped = transfer.stop(Duration::ZERO);
            if !transfer.has_ended() {
                return stopped.map(drop);
            }
            if let Err(error @ Error::Call { .. }) = stopped {
                say(format_args!(
                    "a transfer was stopped, and it cannot be checked whether its bytes have arrived: {error}"
                ));
            }
        }
        ended.map(drop)
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new_slot(&self) -> Result<Slot> {
        let memory = self.device.memory(MemoryKind::Host, SLOT)?;
        let region = self.device.register_all(&memory, Permissions::ReadWrite)?;
        Ok(Slot { memory, region })
    }

    /// Returns a slot, if one is free or can be made.
    fn try_take(&self) -> Result<Option<Slot>> {
        let mut slots = self.lock();
        if let Some(slot) = slots.free.pop() {
            return Ok(Some(slot));
        }
        if slots.made == SLOTS {
            return Ok(None);
        }
        match self.new_slot() {
            Ok(slot) => {
                slots.made += 1;
                Ok(Some(slot))
            }
            Err(Error::Gone) => Err(Error::Gone),
            // Another thread has a slot now.
            Err(_) if slots.made > 0 => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits for a slot. The caller has none, so the threads that have slots release them in time.
    fn take(&self) -> Result<Slot> {
        loop {
            if let Some(slot) = self.try_take()? {
                return Ok(slot);
            }
            let slots = self.lock();
            if slots.free.is_empty() {
                // With a limit: a slot that could not be made may be possible later.
                let _ = self.freed.wait_timeout(slots, PAUSE);
            }
        }
    }

    fn give(&self, slot: Slot) {
        self.lock().free.push(slot);
        self.freed.notify_one();
    }

    /// Gives a slot of a transfer back.
    fn give_after(&self, slot: Slot, transfer: &Transfer) {
        match transfer.has_ended() {
            true => self.give(slot),
            false => self.discard(slot),
        }
    }

    /// Leaves a slot to the board, which may still use it: the transfer keeps the slot's region, and the region its
    /// memory. Another slot may be made.
    fn discard(&self, slot: Slot) {
        drop(slot);
        self.lock().made -= 1;
        self.freed.notify_one();
    }
}

impl Pieces<'_> {
    /// Returns a slot for one more piece.
    fn slot(&mut self, host: &mut HostMemory) -> Result<Slot> {
        loop {
            if self.under_way.is_empty() {
                return self.dma.take();
            }
            if self.under_way.len() < 2
                && let Some(slot) = self.dma.try_take()?
            {
                return Ok(slot);
            }
            self.end_one(host)?;
        }
    }

    /// Waits for the oldest piece; returns whether there was one.
    fn end_one(&mut self, host: &mut HostMemory) -> Result<bool> {
        let Some(piece) = self.under_way.pop_front() else {
            return Ok(false);
        };
        let ended = self.dma.wait(&piece.transfer).and_then(|()| {
            let range = piece.offset..piece.offset + piece.length;
            match host.direction() {
                Direction::FromFpga => piece.slot.memory.read(0, host.bytes_mut(range)),
                Direction::ToFpga => Ok(()),
            }
        });
        self.dma.give_after(piece.slot, &piece.transfer);
        ended.map(|()| true)
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        // After an error: a slot is released when no transfer uses it.
        for piece in self.under_way.drain(..) {
            let _ = self.dma.wait(&piece.transfer);
            self.dma.give_after(piece.slot, &piece.transfer);
        }
    }
}
