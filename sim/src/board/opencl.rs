//! The OpenCL side of the board, and the host's way to it.

use peerlane_sim_opencl::OpenClSide;

use crate::{
    board::Board,
    violation::{Error, Result},
};

impl Board {
    /// Gives the board an OpenCL side, in place of the one that it may have.
    ///
    /// If the side has the hard IP's interrupt registers, only these make messages of `dma_irq` and of the
    /// kernels' interrupt. For a design with an MSI-X table, whose messages are its own, all lines are low.
    pub fn attach_opencl(&mut self, side: OpenClSide) {
        self.opencl = Some(side);
    }

    /// The OpenCL side.
    pub fn opencl(&self) -> Option<&OpenClSide> {
        self.opencl.as_ref()
    }

    /// The OpenCL side, to change it.
    pub fn opencl_mut(&mut self) -> Option<&mut OpenClSide> {
        self.opencl.as_mut()
    }

    /// Registers of the hard IP are as after its reset; the block is not. A reset of the block's PCIe side
    /// does this, too.
    pub fn reset_hard_ip(&mut self) {
        if let Some(side) = &mut self.opencl {
            side.reset_hard_ip();
        }
    }

    /// Runs until host accesses before this one have been taken, and this one has come across.
    fn arrive(&mut self, offset: u64, write: bool) -> Result<()> {
        if !offset.is_multiple_of(4) {
            return Err(Error::HostAccess {
                offset,
                message: "not a multiple of 4".to_owned(),
            });
        }
        if self.opencl.is_none() {
            return Err(Error::HostAccess {
                offset,
                message: "the board has no OpenCL side".to_owned(),
            });
        }
        self.drain_host()?;
        let crossed = match write {
            true => self.pcie.host_write(self.now, 1),
            false => self.pcie.host_read(self.now),
        };
        self.run_until_time(crossed + self.mmio_latency())
    }

    /// Writes the bytes of a dword of the OpenCL side whose bit in `lanes` (0 to 15) is set, at an offset of
    /// the BAR as the side knows it. Runs the board until the side has taken it.
    ///
    /// # Errors
    /// When the offset is no multiple of 4 or there is no OpenCL side, and as [`Board::run`].
    pub fn opencl_write(&mut self, offset: u64, value: u32, lanes: u8) -> Result<()> {
        self.arrive(offset, true)?;
        if let Some(side) = &mut self.opencl {
            side.write(offset, value, lanes);
        }
        Ok(())
    }

    /// Reads a dword of the OpenCL side. Runs the board until the answer has come back.
    ///
    /// # Errors
    /// As [`Board::opencl_write`].
    pub fn opencl_read(&mut self, offset: u64) -> Result<u32> {
        self.arrive(offset, false)?;
        let value = self
            .opencl
            .as_mut()
            .map_or(u32::MAX, |side| side.read(offset));
        let back = self.pcie.host_answer(self.now) + self.mmio_latency();
        self.run_until_time(back)?;
        Ok(value)
    }
}
