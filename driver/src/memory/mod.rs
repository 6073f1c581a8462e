// SPDX-License-Identifier: GPL-2.0

//! Memory of others, made reachable for the board by the DMA API. Each kind is held as long as
//! its value lives, and let go when it is dropped.

pub(crate) mod dmabuf;
pub(crate) mod host;
pub(crate) mod nvidia;

use crate::logic::{att::Permissions, layout::Segment};
use kernel::{bindings, prelude::*};

/// Memory that is held for the board.
pub(crate) enum Memory {
    /// Of a process.
    Host(host::Pages),
    /// Of a dma-buf.
    DmaBuf { _import: Pin<KBox<dmabuf::Import>> },
    /// Of an NVIDIA GPU.
    Nvidia { _pages: nvidia::Pages },
}

impl Memory {
    /// Whether what is found at its place now may be other memory than this.
    pub(crate) fn is_stale(&self) -> bool {
        match self {
            Self::Host(pages) => pages.is_stale(),
            // Who names the dma-buf names the memory, and a GPU's owner takes it back.
            Self::DmaBuf { .. } | Self::Nvidia { .. } => false,
        }
    }
}

/// Which way data goes, for the DMA API: the board's reads are "to device".
pub(crate) fn direction(permissions: Permissions) -> bindings::dma_data_direction {
    match permissions {
        Permissions::Read => bindings::dma_data_direction::DMA_TO_DEVICE,
        Permissions::Write => bindings::dma_data_direction::DMA_FROM_DEVICE,
        Permissions::ReadWrite => bindings::dma_data_direction::DMA_BIDIRECTIONAL,
    }
}

/// The bus addresses of a table that is mapped for the device, neighbours joined.
///
/// # Safety
/// `table` is valid, mapped by the DMA API, and stays so during the call.
unsafe fn segments(table: *mut bindings::sg_table) -> Result<KVVec<Segment>> {
    // SAFETY: by contract.
    let table = unsafe { kernel::scatterlist::SGTable::from_raw(table) };
    let mut segments: KVVec<Segment> = KVVec::new();
    for entry in table.iter() {
        let (address, length) = (entry.dma_address(), entry.dma_len());
        match segments.last_mut() {
            Some(last) if last.address.checked_add(last.length) == Some(address) => {
                last.length += length;
            }
            _ => segments.push(Segment { address, length }, GFP_KERNEL)?,
        }
    }
    Ok(segments)
}
