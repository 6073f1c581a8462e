//! GPU memory registered at a board.

use crate::cuda::{Gpu, GpuBuffer};
use crate::error::{Error, Result};
use peerlane_host::peerlane_core::uapi::feature;
use peerlane_host::{Device, Permissions, Region};
use std::ops::Range;

/// GPU memory registered at a board. It is registered in the GPU's own pages, so that it begins in the region
/// at [`offset`](Self::offset).
#[derive(Debug, Clone)]
pub struct GpuRegion {
    region: Region,
    offset: u64,
    length: u64,
}

impl GpuRegion {
    /// The region, for requests.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Where the memory begins in the region, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the memory.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl GpuBuffer {
    /// Registers a part of it at a board.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::Empty`], and as [`Gpu::register`].
    pub fn register(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let length = range.end.saturating_sub(range.start);
        let at = self.at(range.start, length)?;
        let gpu = self.gpu();
        gpu.register_in(device, at, length, &self.allocation(), permissions)
    }
}

impl Gpu {
    /// Registers GPU memory of the program's own, by its address.
    ///
    /// It goes as a dma-buf where GPU and driver have those, in pages as large as the allocation has room
    /// for: the board may then reach bytes of the same allocation around the range. Otherwise it goes by
    /// NVIDIA's interface for peers.
    ///
    /// # Safety
    /// The board may write the memory until the region is dropped and no transfer with it is under way,
    /// and other bytes of the same allocation are written only by transfers that name them.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Bounds`] if the range does not lie in one allocation, [`Error::NoPeers`],
    /// [`Error::Cuda`], and [`Error::Board`] as [`Device::register_dmabuf`].
    pub unsafe fn register(
        &self,
        device: &Device,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let allocation = self.allocation(address)?;
        self.register_in(device, address, length, &allocation, permissions)
    }

    fn register_in(
        &self,
        device: &Device,
        address: u64,
        length: u64,
        allocation: &Range<u64>,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        if !self.abilities().peers {
            return Err(Error::NoPeers {
                gpu: self.bus().into(),
            });
        }
        let (region, offset) = match self.abilities().dma_buf && device.has(feature::DMABUF) {
            true => {
                let dmabuf = self.export_in(address, length, allocation)?;
                let all = device.register_dmabuf(&dmabuf.file, 0, dmabuf.length, permissions)?;
                (all, dmabuf.offset)
            }
            false => {
                let identity = self.identity(address)?;
                let region = device.register_nvidia(address, length, identity, permissions)?;
                (region, 0)
            }
        };
        Ok(GpuRegion {
            region,
            offset,
            length,
        })
    }
}
