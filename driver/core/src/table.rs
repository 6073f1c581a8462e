// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the ATT is written, and how a change of it is completed.

use super::att::{Entry, EntryError, Permissions, Run};
use super::layout::Page;
use super::owners::Owners;
use super::region::Region;
use super::regs::csr;
use super::steps::{Register, Step};

/// Names the owners of the entries that are written after it.
pub const fn set_owners(owners: Owners) -> [Step; 2] {
    let mask = owners.mask();
    [
        Step::Write(Register::Csr(csr::ATT_OWNER_LO), mask as u32),
        Step::Write(Register::Csr(csr::ATT_OWNER_HI), (mask >> 32) as u32),
    ]
}

/// Writes one entry. The high word stores both, so the old entry holds until then.
pub const fn write_entry(index: u32, raw: u64) -> [Step; 2] {
    let [low, high] = Register::entry(index);
    [
        Step::Write(low, raw as u32),
        Step::Write(high, (raw >> 32) as u32),
    ]
}

/// Writes the entries of a region, two steps each: its pages in their order. They belong to the channels that
/// [`set_owners`] named before, which should be the region's owners.
pub fn map(
    region: &Region,
    pages: impl Iterator<Item = Page>,
) -> impl Iterator<Item = Result<[Step; 2], EntryError>> {
    map_as(region, region.permissions(), pages)
}

/// Writes the entries of a region with other permissions.
pub fn map_as(
    region: &Region,
    permissions: Permissions,
    pages: impl Iterator<Item = Page>,
) -> impl Iterator<Item = Result<[Step; 2], EntryError>> {
    let entry = move |(index, page): (u32, Page)| {
        let entry = Entry {
            address: page.address,
            page_size: page.size,
            permissions,
        };
        entry.encode().map(|raw| write_entry(index, raw))
    };
    region.run().indices().zip(pages).map(entry)
}

/// Invalidates a run of entries. No request that leaves after the last write can use them; earlier requests end by
/// the [`fence`].
pub fn unmap(run: &Run) -> impl Iterator<Item = Step> + use<> {
    let entries = run.indices();
    entries.flat_map(|index| write_entry(index, Entry::INVALID))
}

/// Invalidates every entry of an ATT, written by any software. The block must be idle.
pub fn wipe(entries: u32) -> impl Iterator<Item = Step> {
    let none = set_owners(Owners::NONE).into_iter();
    none.chain((0..entries).flat_map(|index| write_entry(index, Entry::INVALID)))
}

/// Place of a region's memory, for the [`fence`] before the memory is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Memory of the host, at the root complex.
    Host,
    /// Memory of another device.
    Peer {
        /// A bus address there that the board may read.
        flush: Option<u64>,
    },
}

impl Reach {
    /// Makes the place of a region in another device, whose ATT pages are these in their order. A fence reads its
    /// first byte, if the region permits reads.
    pub fn peer(region: &Region, mut pages: impl Iterator<Item = Page>) -> Self {
        let page = pages.next().filter(|_| region.permissions().read());
        Self::Peer {
            flush: page.map(|page| page.address + region.layout().first_offset),
        }
    }
}

/// Number of looks at the block for a peer that may not be read, or does not answer.
const PEER_LOOKS: usize = 4;

/// Returns the steps of a fence. When it is done, every request that was translated by earlier contents of the ATT has
/// ended, and every earlier record has left the block; earlier writes within `reach` have arrived. Transfers go on
/// during the fence.
///
/// The answer of the read that sees the end pushes earlier writes to host memory (PCI Express Base Specification,
/// 2.4.1, the ordering rules). It does not push writes to a peer: those leave the switch by another port. So the
/// block itself reads from the peer, and the fence is reached when the answer has come.
///
/// Where the peer may not be read there is no proof, and a refused read cannot be distinguished from an answered one
/// everywhere. For both, time has to pass: the block is read a few times more, each a round trip of at least as long
/// as a write to a peer takes to leave the link.
pub fn fence(reach: Reach) -> impl Iterator<Item = Step> + Clone {
    let place = Register::Csr(csr::ATT_INVALIDATE);
    let idle = Step::Wait(place, csr::ATT_INVALIDATE_BUSY_MASK);
    let (flush, looks) = match reach {
        Reach::Host => (None, 0),
        Reach::Peer { flush } => (flush, PEER_LOOKS),
    };
    let target = flush.map(|address| {
        [
            Step::Write(Register::Csr(csr::ATT_FLUSH_LO), address as u32 & !63),
            Step::Write(Register::Csr(csr::ATT_FLUSH_HI), (address >> 32) as u32),
        ]
    });
    let start = match flush {
        Some(_) => csr::ATT_INVALIDATE_START_MASK | csr::ATT_INVALIDATE_FLUSH_MASK,
        None => csr::ATT_INVALIDATE_START_MASK,
    };
    let begin = Iterator::chain([idle].into_iter(), target.into_iter().flatten());
    let wait = Iterator::chain(begin, [Step::Write(place, start), idle]);
    Iterator::chain(wait, core::iter::repeat_n(Step::Wait(place, 0), looks))
}

/// Follows the [`fence`] of a peer that may be read, and fails if its read was not answered: then writes may still be
/// on their way.
pub fn answered(reach: Reach) -> Option<Step> {
    let Reach::Peer { flush } = reach else {
        return None;
    };
    let place = Register::Csr(csr::ATT_INVALIDATE);
    flush.map(|_| Step::Check(place, csr::ATT_INVALIDATE_FAILED_MASK))
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
