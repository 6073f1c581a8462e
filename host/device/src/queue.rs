//! The fast path: the channel's page and ring, used from here.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::flow::{Flow, Post, Request};
use crate::mapping::Mapping;
use crate::region::Region;
use peerlane_core::channel::queue_free;
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::record;
use peerlane_core::regs::{Completion, chan};
use peerlane_core::ring::Slots;
use peerlane_core::uapi::{Query, map, state};
use rustix::mm::ProtFlags;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Bytes that one descriptor moves at most, unless set otherwise: all that its length can say.
const PIECE: u32 = u32::MAX;

/// How long to sleep at a stretch while nothing under way will raise an interrupt.
const SILENT: Duration = Duration::from_micros(100);

/// How long the last records may take that belong to a channel at rest.
const RESTART: Duration = Duration::from_secs(1);

/// How often to look whether a doorbell was refused, which brings no record, while waiting for one.
const LOOK: Duration = Duration::from_secs(1);

/// Names a transfer of one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransferId(u64);

/// What a queue has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Descriptors given to the board.
    pub descriptors: u64,
    /// Writes to the channel's page.
    pub stores: u64,
    /// Records taken from the ring.
    pub records: u64,
    /// System calls made to wait.
    pub system_calls: u64,
}

/// A channel's queues and completion ring. Transfers are cut into descriptors; one that is
/// larger than the queue goes on while its caller waits.
#[derive(Debug)]
pub struct Queue {
    device: Device,
    page: Page,
    ring: Mapping,
    flow: Flow<Region>,
    generation: u32,
    /// Doorbells were refused since the last restart.
    refused: bool,
    /// When that was looked at last.
    looked: Instant,
    piece: u32,
    spin: Duration,
    records: u64,
    system_calls: u64,
}

/// The channel's page.
#[derive(Debug)]
struct Page {
    mapping: Mapping,
    descriptors: u64,
    stores: u64,
}

impl Page {
    /// Writes one naturally aligned word.
    fn store<T>(&mut self, offset: usize, value: T) {
        let place = self.mapping.base().as_ptr();
        assert!(
            offset + size_of::<T>() <= self.mapping.length()
                && offset.is_multiple_of(size_of::<T>())
        );
        // SAFETY: it lies in the mapping, which begins at a page boundary, and is aligned.
        unsafe { place.add(offset).cast::<T>().write_volatile(value) };
        self.stores += 1;
    }

    fn load(&self, offset: usize) -> u32 {
        // Volatile like the stores, in one access of 32 bits.
        self.mapping.dwords()[offset / 4].load(Ordering::Relaxed)
    }
}

impl Post for Page {
    /// 5 stores: the bus carries 64 bits in one packet. Stores to an uncached mapping leave in
    /// program order (Intel SDM, volume 3, 8.2.2), so the doorbell comes last.
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) {
        let (place, doorbell) = match direction {
            Direction::Write => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
            Direction::Read => (chan::READ_DESC, chan::READ_DOORBELL),
        };
        let (pairs, rest) = descriptor.as_chunks::<2>();
        for (index, [low, high]) in pairs.iter().enumerate() {
            self.store(place + 8 * index, u64::from(*high) << 32 | u64::from(*low));
        }
        for (index, dword) in rest.iter().enumerate() {
            self.store(place + 8 * pairs.len() + 4 * index, *dword);
        }
        self.store(doorbell, u32::from(freed));
        self.descriptors += 1;
    }
}

/// A completion ring in memory that the board writes.
pub(crate) struct RingMemory<'a>(pub(crate) &'a [AtomicU32]);

impl RingMemory<'_> {
    const DWORDS: usize = Completion::SIZE / 4;

    fn load(&self, index: usize, ordering: Ordering) -> u32 {
        // What lies behind the memory is no record: phase bit and all are those of a ring
        // that is not there.
        let dword = self.0.get(index).map_or(0, |dword| dword.load(ordering));
        u32::from_le(dword)
    }
}

impl Slots for RingMemory<'_> {
    fn status(&mut self, index: u32) -> u32 {
        self.load(
            index as usize * Self::DWORDS + record::STATUS,
            Ordering::Acquire,
        )
    }

    fn record(&mut self, index: u32) -> [u32; record::DWORDS] {
        let first = index as usize * Self::DWORDS;
        std::array::from_fn(|dword| self.load(first + dword, Ordering::Relaxed))
    }
}

impl Queue {
    /// Maps the channel's page and ring. From now on the device has no slow path.
    ///
    /// # Errors
    /// [`Error::Map`] with `EBUSY` once the slow path was used; [`Error::Taken`] if the device has, or
    /// had, a queue.
    pub fn new(device: &Device) -> Result<Self> {
        if device.0.has_queue.swap(true, Ordering::Relaxed) {
            return Err(Error::Taken);
        }
        // Nothing was rung by a queue that did not come to be.
        Self::map(device).inspect_err(|_| device.0.has_queue.store(false, Ordering::Relaxed))
    }

    fn map(device: &Device) -> Result<Self> {
        let info = device.info();
        let both = ProtFlags::READ | ProtFlags::WRITE;
        let page = device
            .0
            .map("the channel's page", map::PAGE, info.page_bytes, both)?;
        let ring = device.0.map(
            "the completion ring",
            map::RING,
            info.ring_bytes,
            ProtFlags::READ,
        )?;
        let page = Page {
            mapping: page,
            descriptors: 0,
            stores: 0,
        };
        let mut queue = Self {
            // A channel that was never used: its ring is at the first slot.
            flow: Flow::new(1, info.ring_log2, info.channel)?,
            device: device.clone(),
            page,
            ring,
            generation: 0,
            refused: false,
            looked: Instant::now(),
            piece: PIECE,
            spin: Duration::ZERO,
            records: 0,
            system_calls: 0,
        };
        queue.generation = queue.query()?.generation;
        // While the channel is being stopped, or the board started, the page does not say it. After a
        // start it is asked for again.
        let slots = match queue.slots() {
            0 => device.capabilities().queue_depth(),
            slots => slots,
        };
        queue.flow.renew(slots)?;
        Ok(queue)
    }

    /// Descriptors that each direction takes while nothing is under way; 0 while doorbells are refused,
    /// and on a page with nothing in it, which stands for a board that is being started.
    fn slots(&self) -> u32 {
        let [writes, reads] = queue_free(self.page.load(chan::QUEUE_FREE));
        writes.min(reads)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Sets how many bytes one descriptor moves at most; 0 counts as 1. Smaller pieces let
    /// the end of a long transfer be seen earlier, larger ones cost fewer stores.
    pub fn set_piece(&mut self, bytes: u32) {
        self.piece = bytes.max(1);
    }

    /// Sets how long [`wait`](Self::wait) looks at the ring before it sleeps. None by default.
    pub fn set_spin(&mut self, spin: Duration) {
        self.spin = spin;
    }

    /// What has been done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            descriptors: self.page.descriptors,
            stores: self.page.stores,
            records: self.records,
            system_calls: self.system_calls,
        }
    }

    /// Transfers that have not ended.
    pub fn under_way(&self) -> usize {
        self.flow.under_way()
    }

    /// Begins to move `length` bytes between `offset` of the region and the FPGA address
    /// `local`. No system call is made.
    pub fn submit(
        &mut self,
        direction: Direction,
        region: &Region,
        offset: u64,
        local: u64,
        length: u64,
    ) -> Result<TransferId> {
        self.device.0.check_local(local, length)?;
        region.check(direction, offset, length)?;
        let peer = region.att_address().checked_add(offset);
        let request = Request {
            direction,
            peer: peer.ok_or_else(|| Error::Broken {
                reason: format!("offset {offset:#x} of a region has no ATT address"),
            })?,
            local,
            length,
            piece: self.piece,
        };
        let id = self.flow.submit(request, region.clone());
        self.service()?;
        Ok(TransferId(id))
    }

    /// Looks whether a transfer has ended; the bytes moved, once. No system call is made,
    /// unless something is found to be wrong.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn poll(&mut self, transfer: TransferId) -> Result<Option<u64>> {
        self.service()?;
        let taken = self.flow.take(transfer.0)?;
        if taken.is_none() && self.looked.elapsed() >= LOOK {
            self.check_refused()?;
        }
        Ok(taken)
    }

    /// Waits for a transfer to end, and returns the bytes moved; `None`: for as long as it
    /// takes.
    ///
    /// # Errors
    /// [`Error::Timeout`]: it goes on, wait again. [`Error::Fault`], [`Error::Restarted`]:
    /// it has ended, the queue can be used on. [`Error::Gone`], [`Error::Broken`]: see
    /// [`restart`](Self::restart).
    pub fn wait(&mut self, transfer: TransferId, limit: Option<Duration>) -> Result<u64> {
        let begin = Instant::now();
        loop {
            if let Some(bytes) = self.poll(transfer)? {
                return Ok(bytes);
            }
            let waited = begin.elapsed();
            if waited < self.spin {
                std::hint::spin_loop();
                continue;
            }
            let left = limit.map_or(LOOK, |limit| limit.saturating_sub(waited));
            if left.is_zero() {
                self.check_refused()?;
                return Err(Error::Timeout { waited });
            }
            self.sleep(left.min(LOOK))?;
        }
    }

    /// Ends what is under way, and leaves an empty queue. Transfers that had not ended fail with
    /// [`Error::Stopped`], or as the board says.
    ///
    /// # Errors
    /// [`Error::Broken`] if board and queue do not agree even so: open the device anew.
    pub fn restart(&mut self) -> Result<()> {
        self.device.stop(Duration::ZERO)?;
        let begin = Instant::now();
        while !self.notice()? {
            self.note_refused();
            // The channel is at rest, and the driver has read so from the board: its records are in
            // memory, for they went the same way before (PCI Express Base Specification 4.0, 2.4.1).
            let ring = &mut RingMemory(self.ring.dwords());
            let records = if self.refused {
                self.flow.salvage(ring)
            } else {
                self.flow.abandon();
                self.flow.drain(ring)
            };
            match records {
                Ok(records) => self.records += records,
                // The board may have been started meanwhile, which empties the ring.
                Err(error) => return self.notice()?.then_some(()).ok_or(error),
            }
            if self.flow.under_way() == 0 {
                break;
            }
            if begin.elapsed() > RESTART {
                return Err(Error::Broken {
                    reason: "descriptors ended without a record".into(),
                });
            }
            self.device.poll(Some(SILENT))?;
        }
        self.refused = false;
        Ok(())
    }

    /// Takes the records that have come, and gives the board what it has room for.
    fn service(&mut self) -> Result<()> {
        match self.flow.drain(&mut RingMemory(self.ring.dwords())) {
            Ok(records) => self.records += records,
            // After a reset the ring starts anew, and after an unbind it is a page of zeros.
            Err(error) => return self.notice()?.then_some(()).ok_or(error),
        }
        self.flow.pump(&mut self.page)
    }

    /// Sleeps until something has happened, and takes note of what the driver says.
    fn sleep(&mut self, limit: Duration) -> Result<()> {
        let limit = if self.flow.will_interrupt() {
            limit
        } else {
            limit.min(SILENT)
        };
        self.system_calls += 1;
        if self.device.poll(Some(limit))? {
            self.notice()?;
        }
        Ok(())
    }

    /// The state of the context, whose events are acknowledged by that.
    fn query(&mut self) -> Result<Query> {
        self.system_calls += 1;
        let query = self.device.query()?;
        if query.state & state::GONE != 0 {
            return Err(Error::Gone);
        }
        Ok(query)
    }

    /// Takes note of what the driver says; whether the block was reset. Then the ring starts at
    /// its first slot, and doorbells were refused from the reset to this question.
    fn notice(&mut self) -> Result<bool> {
        let generation = self.query()?.generation;
        let restarted = generation != self.generation;
        if restarted {
            self.generation = generation;
            // The board may be on its way through another restart.
            let slots = match self.slots() {
                0 => self.flow.slots(),
                slots => slots,
            };
            self.flow.renew(slots)?;
            // What was refused is lost with the rest.
            self.note_refused();
            self.refused = false;
        }
        Ok(restarted)
    }

    /// A doorbell that was refused leaves no record.
    fn check_refused(&mut self) -> Result<()> {
        self.note_refused();
        // A reset refuses doorbells too, until its notice is taken; they are lost with the rest.
        match self.refused && !self.notice()? {
            false => Ok(()),
            true => Err(Error::Broken {
                reason:
                    "the board refused a doorbell: the channel was stopped, or its queue was full"
                        .into(),
            }),
        }
    }

    /// Looks whether doorbells were refused, and takes the note off the board. A board that does not
    /// answer has refused nothing.
    fn note_refused(&mut self) {
        self.looked = Instant::now();
        let refused = self.page.load(chan::REFUSED);
        if refused != 0 && refused != u32::MAX {
            self.page.store(chan::REFUSED, refused);
            self.refused = true;
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.flow.under_way() > 0 {
            // Before the regions of what is under way are given back. A board that is gone
            // has nothing under way.
            let _ = self.device.stop(Duration::ZERO);
        }
    }
}
