// SPDX-License-Identifier: GPL-2.0

//! Memory of others, made reachable for the board by the DMA API. Each kind is held as long as its value lives, and
//! released when the value is dropped.
//!
//! Allocations for a process are charged to its control group (`GFP_KERNEL_ACCOUNT`). Allocations that only serve a
//! release are not: a limit must not prevent a release.

pub(crate) mod bar;
pub(crate) mod dmabuf;
pub(crate) mod host;
pub(crate) mod nvidia;
pub(crate) mod space;

use crate::{
    ffi::Text,
    logic::{
        att::Permissions,
        layout::{Pieces, Segment},
        refusal::{self, Asked},
    },
};
use kernel::{bindings, device::Device, do_once_lite, prelude::*};

/// Memory that is held for the board.
pub(crate) enum Memory {
    /// Of a process.
    Host(host::Pages),
    /// Of a dma-buf.
    DmaBuf { import: Pin<KBox<dmabuf::Import>> },
    /// Of an NVIDIA GPU.
    Nvidia { pages: nvidia::Pages },
}

impl Memory {
    /// Whether another memory than this one may be at its place now.
    pub(crate) fn is_stale(&self) -> bool {
        match self {
            Self::Host(pages) => pages.is_stale(),
            // The name of a dma-buf always means the same memory, and a GPU's owner invalidates it.
            Self::DmaBuf { .. } | Self::Nvidia { .. } => false,
        }
    }

    /// Whether the calling process may still access it as the board does.
    pub(crate) fn is_accessible(&self) -> bool {
        match self {
            Self::Host(pages) => pages.is_accessible(),
            Self::DmaBuf { .. } | Self::Nvidia { .. } => true,
        }
    }

    /// Whether it may stay mapped when its region was unregistered. Huge pages of hugetlb return to a pool that their
    /// users count on: the next `mmap` would not find them there.
    pub(crate) fn may_stay(&self) -> bool {
        match self {
            Self::Host(pages) => !pages.are_of_hugetlb(),
            Self::DmaBuf { .. } | Self::Nvidia { .. } => true,
        }
    }

    /// Records that the region is cached, or is not any more. A cached region is evicted soon after its memory has
    /// become stale.
    pub(crate) fn note_kept(&self, kept: bool) {
        if let Self::Host(pages) = self {
            pages.note_kept(kept);
        }
    }

    /// Returns the dma-buf, if it is one.
    pub(crate) fn buffer(&self) -> Option<&dmabuf::Buffer> {
        match self {
            Self::DmaBuf { import } => Some(import.buffer()),
            Self::Host(_) | Self::Nvidia { .. } => None,
        }
    }

    /// Whether a payer could pin more memory if this was released.
    pub(crate) fn weighs_on(&self, payer: &host::Payer) -> bool {
        match self {
            Self::Host(pages) => pages.weighs_on(payer),
            Self::DmaBuf { .. } | Self::Nvidia { .. } => false,
        }
    }

    /// Whether it may occupy the same BAR as memory of this exporter, and its release frees the BAR. NVIDIA's pages
    /// by their address are released only for the process that has them.
    pub(crate) fn fills_the_bar_of(&self, exporter: Option<dmabuf::Exporter>) -> bool {
        match self {
            Self::DmaBuf { import } => exporter.is_none_or(|exporter| import.exporter() == exporter),
            Self::Host(_) | Self::Nvidia { .. } => false,
        }
    }
}

/// Translates an error of the memory's own driver to the error of `REGISTER`.
fn told(asked: Asked, error: Error) -> Error {
    Error::from_errno(-refusal::told(asked, -error.to_errno()))
}

/// Returns the direction of the data for the DMA API: the board's reads are "to device".
pub(crate) fn direction(permissions: Permissions) -> bindings::dma_data_direction {
    match permissions {
        Permissions::Read => bindings::dma_data_direction::DMA_TO_DEVICE,
        Permissions::Write => bindings::dma_data_direction::DMA_FROM_DEVICE,
        Permissions::ReadWrite => bindings::dma_data_direction::DMA_BIDIRECTIONAL,
    }
}

/// Returns the bus addresses of the first `length` bytes of a table that is mapped for the device, with neighbours
/// joined. `EPROTO`: the table is not valid.
///
/// # Safety
/// `table` is valid, mapped by the DMA API, and stays so during the call.
unsafe fn segments(
    device: &Device,
    table: *mut bindings::sg_table,
    length: u64,
) -> Result<KVVec<Segment>> {
    // SAFETY: by contract.
    let table = unsafe { kernel::scatterlist::SGTable::from_raw(table) };
    let mut segments: KVVec<Segment> = KVVec::new();
    let mut pieces = Pieces::new(length);
    for entry in table.iter() {
        let (address, length) = (entry.dma_address(), entry.dma_len());
        let complete = pieces.push(Segment { address, length }).map_err(|error| {
            // Once, as users can make it happen as often as they like.
            do_once_lite! {
                dev_err!(
                    device,
                    "the owner of memory gives a wrong list of addresses: {}\n",
                    Text(error)
                );
            }
            EPROTO
        })?;
        if let Some(segment) = complete {
            segments.push(segment, GFP_KERNEL_ACCOUNT)?;
        }
    }
    if let Some(segment) = pieces.finish() {
        segments.push(segment, GFP_KERNEL_ACCOUNT)?;
    }
    Ok(segments)
}
