//! FPGA memory is filled with zeros before somebody gets it.

use super::Inner;
use super::backend::MemoryId;
use super::context::doorbell;
use crate::error::{Error, Result};
use crate::flow::{Flow, Keep, Order, Post};
use crate::memory::MemoryKind;
use crate::transfer::Terms;
use peerlane_core::att::Permissions;
use peerlane_core::channel;
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::record;
use peerlane_core::regs::Completion;
use peerlane_core::ring::Slots;
use std::ops::Range;
use std::time::Duration;

/// Bytes of zeros in host memory, which the board reads again and again.
const ZEROS: u64 = 256 << 10;

/// How long one of these reads may take: far longer than it does.
const PATIENCE: Duration = Duration::from_secs(1);

/// Doorbells of a channel.
struct Page<'a>(&'a mut Inner, u32, Result<()>);

impl Post for Page<'_> {
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) {
        let rung = doorbell(&mut self.0.board, self.1, direction, descriptor, freed);
        if self.2.is_ok() {
            self.2 = rung;
        }
    }
}

/// A channel's ring, in the backend's memory. What cannot be read is no record.
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

/// The driver's own region stays until it is done.
struct Kept;

impl Keep for Kept {
    fn stands(&self) -> bool {
        true
    }
}

impl Inner {
    /// Fills FPGA memory in a channel's range with zeros, by the channel itself, which must be at rest
    /// and nobody's. It is started anew after that.
    pub(super) fn fill(&mut self, number: u32, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let filled = self.fill_by(number, range);
        self.restart(number)?;
        filled
    }

    fn fill_by(&mut self, number: u32, range: Range<u64>) -> Result<()> {
        let kind = MemoryKind::Host;
        // The region keeps it, where the board does not let go.
        let zeros = self.board.backend.memory(kind, ZEROS as usize)?;
        let pinned = (self.board.backend).pin(kind, zeros.address(), ZEROS)?;
        let Self { regions, board, .. } = self;
        let memory = (kind, pinned, ZEROS);
        let (name, region) =
            regions.register(board, &self.caps, number, memory, Permissions::Read)?;
        let peer = region.att_address(0).map_err(Error::Region);
        board.run("started a channel", [channel::resume(number)])?;
        let filled = peer.and_then(|peer| {
            let mut flow = Flow::new(self.caps.queue_depth(), self.ring_log2(), number)?;
            for local in range.clone().step_by(ZEROS as usize) {
                let order = Order {
                    direction: Direction::Read,
                    peer,
                    local,
                    length: ZEROS.min(range.end - local),
                    piece: u32::MAX,
                    terms: Terms::default(),
                    unreadable: false,
                };
                let id = flow.submit(order, Kept);
                self.run_out(number, &mut flow)?;
                match flow.result(id) {
                    Some(result) => result.map(drop)?,
                    None => {
                        return Err(Error::Timeout {
                            direction: Direction::Read,
                            bytes_done: 0,
                            length: order.length,
                            waited: PATIENCE,
                        });
                    }
                }
                flow.release(id);
            }
            Ok(())
        });
        if filled.is_err() {
            self.board
                .run("aborted a channel", channel::abort(number))?;
        }
        let stopped = self.board.run("stopped a channel", [channel::halt(number)]);
        self.regions.unregister(&mut self.board, name)?;
        filled.and(stopped)
    }

    /// Works on until nothing is under way, or for so long.
    fn run_out(&mut self, number: u32, flow: &mut Flow<Kept>) -> Result<()> {
        let ring = self.channel(number)?.ring.id;
        let begin = self.board.backend.now();
        loop {
            let mut page = Page(self, number, Ok(()));
            flow.pump(&mut page);
            page.2?;
            self.await_interrupt(Duration::from_micros(100))?;
            flow.drain(&mut Records(self, ring))?;
            let waited = self.board.backend.now().saturating_sub(begin);
            if flow.under_way() == 0 || waited > PATIENCE {
                return Ok(());
            }
        }
    }
}
