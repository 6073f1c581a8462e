// SPDX-License-Identifier: GPL-2.0

//! A page of the driver for data that the board writes for a context.

use crate::{
    board::Board,
    context::Context,
    dma::DmaPages,
    gate::Inside,
    logic::{att::Permissions, kept::Kind, layout::Segment},
    mapping::Mapping,
};
use kernel::{page::PAGE_SIZE, prelude::*, sync::Arc};

/// The page, as long as this lives. The channel owns its entry, too, and descriptors of the process do not reach it:
/// once the driver has submitted one, it alone writes the channel's descriptors, and those of `SUBMIT` name regions
/// with a handle. A descriptor that a process writes itself just before that reaches a page without meaning.
pub(crate) struct Scratch {
    board: Arc<Board>,
    mapping: Arc<Mapping>,
    // After the mapping, which must be gone first.
    pages: DmaPages,
}

impl Scratch {
    /// Makes a page for a context. A restart of the board does not find it, but ends the transfer.
    pub(crate) fn new(inside: &Inside<'_>, context: &Context) -> Result<Self> {
        let (board, events) = (context.board.clone(), context.events.clone());
        let scratch = Self {
            mapping: Mapping::new(board.clone(), events, context.channel, Kind::Host)?,
            board,
            pages: DmaPages::new(inside.device(), PAGE_SIZE, Permissions::ReadWrite)?,
        };
        let length = PAGE_SIZE as u64;
        let mut segments = KVVec::new();
        let segment = Segment {
            address: scratch.pages.address(),
            length,
        };
        segments.push(segment, GFP_KERNEL)?;
        let layout = scratch.mapping.lay_out(&segments, 0, length, None)?.map_err(|_| EINVAL)?;
        scratch.mapping.place(&mut segments, 0, &layout, Permissions::Write)?;
        scratch.mapping.publish()?;
        Ok(scratch)
    }

    /// Returns the board's entry for it.
    pub(crate) fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Reads bytes that the board has written there.
    pub(crate) fn read<const BYTES: usize>(&self, at: usize) -> [u8; BYTES] {
        core::array::from_fn(|index| {
            let place = (at + index) % PAGE_SIZE;
            // SAFETY: a byte of the page, which stays as long as this lives.
            unsafe { self.pages.start().cast::<u8>().add(place).read_volatile() }
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        Mapping::retire(&self.board, core::iter::once(&self.mapping));
    }
}
