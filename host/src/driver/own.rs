//! Transfers that the driver makes itself, on a channel that no context has yet.

use super::backend::MemoryId;
use super::board::POLL;
use super::context::doorbell;
use super::{Inner, Locked};
use crate::error::{Error, Result};
use crate::flow::{Flow, Keep, Order, Post};
use crate::memory::{Memory, MemoryKind};
use crate::terms::Terms;
use peerlane_core::att::{AttAddress, Permissions};
use peerlane_core::channel;
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::extent::Extents;
use peerlane_core::record;
use peerlane_core::regs::Completion;
use peerlane_core::ring::Slots;
use std::time::Duration;

/// The longest time that such a transfer may take: far longer than it does.
const PATIENCE: Duration = Duration::from_secs(5);

/// Doorbells of a channel.
struct Page<'a>(&'a mut Inner, u32, Result<()>);

impl Post for Page<'_> {
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) {
        let rung = doorbell(
            &mut self.0.board,
            self.1,
            direction,
            Some(descriptor),
            freed,
        );
        if self.2.is_ok() {
            self.2 = rung;
        }
    }
}

/// A channel's ring, in the backend's memory. Bytes that cannot be read count as no record.
pub(super) struct Records<'a>(pub(super) &'a mut Inner, pub(super) MemoryId);

impl Records<'_> {
    fn read<const N: usize>(&mut self, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        let backend = &mut self.0.board.backend;
        match backend.read_memory(self.1, offset as u64, &mut bytes) {
            Ok(()) => bytes,
            Err(_) => [0; N],
        }
    }
}

impl Slots for Records<'_> {
    fn status(&mut self, index: u32) -> u32 {
        let offset = index as usize * Completion::SIZE + 4 * record::STATUS;
        u32::from_le_bytes(self.read(offset))
    }

    fn record(&mut self, index: u32) -> [u32; record::DWORDS] {
        let bytes: [u8; Completion::SIZE] = self.read(index as usize * Completion::SIZE);
        let mut dwords = [0; record::DWORDS];
        for (dword, bytes) in dwords.iter_mut().zip(bytes.as_chunks().0) {
            *dword = u32::from_le_bytes(*bytes);
        }
        dwords
    }
}

/// Region of the driver's transfers: the driver keeps it until they are done.
#[derive(Clone)]
struct Kept;

impl Keep for Kept {
    fn stands(&self) -> bool {
        true
    }
}

/// A channel that the driver uses itself, with host memory of the driver's own.
pub(super) struct Own<'a, 'b> {
    locked: &'a mut Locked<'b>,
    number: u32,
    /// The channel's generation.
    generation: u32,
    flow: Flow<Kept>,
    /// The memory. Its region keeps it if the board does not release it.
    pub(super) memory: Memory,
    /// ATT address of its first byte.
    pub(super) peer: AttAddress,
}

impl Own<'_, '_> {
    /// Moves data, and waits for the end.
    pub(super) fn transfer(
        &mut self,
        direction: Direction,
        peer: AttAddress,
        local: u64,
        length: u64,
    ) -> Result<()> {
        let order = Order {
            direction,
            peer: Extents::one(peer, length),
            local,
            length,
            piece: u32::MAX,
            terms: Terms::default(),
            unreadable: false,
            followed: false,
            ends: None,
        };
        let id = self.flow.submit(order, Kept);
        self.run_out()?;
        match self.flow.result(id) {
            Some(result) => result.map(drop)?,
            None => {
                return Err(Error::Timeout {
                    direction,
                    bytes_done: 0,
                    length,
                    waited: PATIENCE,
                });
            }
        }
        self.flow.release(id);
        Ok(())
    }

    /// Lets other threads have the board.
    pub(super) fn make_way(&mut self) -> Result<()> {
        self.locked.release();
        let inner = self.locked.get();
        inner.attend()?;
        // A reset has ended all moves.
        match inner.channel(self.number)?.generation == self.generation {
            true => Ok(()),
            false => Err(Error::Restarted),
        }
    }

    /// Runs until no transfer is under way, or until the timeout.
    fn run_out(&mut self) -> Result<()> {
        let Self {
            locked,
            number,
            flow,
            ..
        } = self;
        let inner = locked.get();
        let ring = inner.channel(*number)?.ring.id;
        let begin = inner.board.backend.now();
        loop {
            let mut page = Page(inner, *number, Ok(()));
            flow.pump(&mut page);
            page.2?;
            match inner.board.backend.interrupt_file() {
                // The interrupt is for threads that wait for it.
                Some(_) => inner.board.backend.pause(POLL)?,
                None => inner.take_interrupt(Duration::from_micros(100))?,
            }
            flow.drain(&mut Records(inner, ring))?;
            let waited = inner.board.backend.now().saturating_sub(begin);
            if flow.under_way() == 0 || waited > PATIENCE {
                return Ok(());
            }
        }
    }
}

impl Locked<'_> {
    /// Calls `work` with a channel, which must be idle and not in use, and with `bytes` of host memory. The channel is
    /// restarted afterwards.
    pub(super) fn by_itself<T>(
        &mut self,
        number: u32,
        (bytes, permissions): (u64, Permissions),
        work: impl FnOnce(&mut Own<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let done = self.work(number, (bytes, permissions), work);
        self.get().restart(number)?;
        done
    }

    fn work<T>(
        &mut self,
        number: u32,
        (bytes, permissions): (u64, Permissions),
        work: impl FnOnce(&mut Own<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let kind = MemoryKind::Host;
        let inner = self.get();
        let generation = inner.channel(number)?.generation;
        let memory = inner.board.backend.memory(kind, bytes as usize)?;
        let pinned = (inner.board.backend).pin(kind, memory.address(), bytes, permissions)?;
        let Inner {
            regions,
            board,
            caps,
            ..
        } = inner;
        let of_board = (kind, pinned, bytes);
        let (name, region) =
            regions.register(board, caps, number, of_board, (permissions, false))?;
        let peer = region.att_address(0).map_err(Error::Region);
        let started = board.run("started a channel", [channel::resume(number)]);
        let (depth, ring_log2) = (inner.caps.queue_depth(), inner.ring_log2());
        let done = started.and(peer).and_then(|peer| {
            let flow = Flow::new(depth, ring_log2, number)?;
            work(&mut Own {
                locked: self,
                number,
                generation,
                flow,
                memory,
                peer,
            })
        });
        let Inner { board, regions, .. } = self.get();
        let aborted = match done {
            Ok(_) => Ok(()),
            Err(_) => board.run("aborted a channel", channel::abort(number)),
        };
        let stopped = board.run("stopped a channel", [channel::halt(number)]);
        // Also after an error: a region that cannot be unregistered yet is kept for a reset.
        let unregistered = regions.unregister(board, name);
        aborted.and(unregistered)?;
        let done = done?;
        stopped.map(|()| done)
    }
}
