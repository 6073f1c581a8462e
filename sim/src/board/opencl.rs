//! The OpenCL side of the board, and the host's accesses to it.

use peerlane_sim_opencl::{Contents, OpenClSide, Program, Wait};

use crate::{
    board::{Board, host_access::PATIENCE},
    memory::Memory,
    violation::{Error, Result},
};

/// FPGA memory as the kernels see it. Accesses outside of it are counted; reads return ones and writes have no effect.
struct Kernels<'a> {
    memory: &'a mut Memory,
    strays: &'a mut u64,
}

impl peerlane_sim_opencl::Memory for Kernels<'_> {
    fn read(&mut self, address: u64, data: &mut [u8]) {
        if self.memory.read(address, data).is_err() {
            *self.strays += 1;
            data.fill(0xFF);
        }
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        *self.strays += u64::from(self.memory.write(address, data).is_err());
    }

    fn lose(&mut self) {
        self.memory.clear();
    }
}

impl Board {
    /// Gives the board an OpenCL side, in place of the one that it may have. Its kernels work on FPGA memory, one of
    /// their cycles in each cycle of `clk`.
    ///
    /// If the side has the hard IP's interrupt registers, only these make messages of `dma_irq` and of the kernels'
    /// interrupt. For a design with an MSI-X table, which sends its own messages, all lines are low; its `kernel_irq`
    /// is driven.
    pub fn attach_opencl(&mut self, side: OpenClSide) {
        self.opencl = Some(side);
    }

    /// Returns the OpenCL side.
    pub fn opencl(&self) -> Option<&OpenClSide> {
        self.opencl.as_ref()
    }

    /// Returns the OpenCL side, to change it.
    pub fn opencl_mut(&mut self) -> Option<&mut OpenClSide> {
        self.opencl.as_mut()
    }

    /// Returns the number of accesses of kernels outside of FPGA memory.
    pub fn kernel_strays(&self) -> u64 {
        self.kernel_strays
    }

    /// Sets the registers of the hard IP to their state after its reset; the block is not reset. A reset of the block's
    /// PCIe side includes this.
    pub fn reset_hard_ip(&mut self) {
        if let Some(side) = &mut self.opencl {
            side.reset_hard_ip();
        }
    }

    /// Gives the OpenCL side another program; FPGA memory keeps its contents or becomes all zero. The block is not
    /// changed, as when only the kernels' region of the FPGA is configured.
    ///
    /// # Errors
    /// [`Error::Program`] if the program is not possible, and [`Error::HostAccess`] without an OpenCL side.
    pub fn reprogram(&mut self, program: Program, contents: Contents) -> Result<()> {
        let Some(side) = &mut self.opencl else {
            return Err(missing(0));
        };
        let mut memory = Kernels {
            memory: &mut self.ddr,
            strays: &mut self.kernel_strays,
        };
        Ok(side.reprogram(program, contents, &mut memory)?)
    }

    /// Advances the OpenCL side by a cycle.
    pub(super) fn tick_opencl(&mut self) {
        if let Some(side) = &mut self.opencl {
            let mut memory = Kernels {
                memory: &mut self.ddr,
                strays: &mut self.kernel_strays,
            };
            side.tick(1, &mut memory);
        }
    }

    fn check_side(&self, offset: u64) -> Result<()> {
        if !offset.is_multiple_of(4) {
            return Err(Error::HostAccess {
                offset,
                message: "not a multiple of 4".to_owned(),
            });
        }
        match self.opencl {
            Some(_) => Ok(()),
            None => Err(missing(offset)),
        }
    }

    /// Makes an access to the OpenCL side once it has crossed the link, after the host's earlier accesses.
    fn opencl_access<R>(
        &mut self,
        offset: u64,
        write: bool,
        mut access: impl FnMut(&mut OpenClSide) -> std::result::Result<R, Wait>,
    ) -> Result<R> {
        self.check_side(offset)?;
        self.drain_host()?;
        let crossed = match write {
            true => self.pcie.host_write(self.now, 1),
            false => self.pcie.host_read(self.now),
        };
        self.run_until_time(crossed + self.mmio_latency())?;
        for _ in 0..PATIENCE {
            if let Some(Ok(value)) = self.opencl.as_mut().map(&mut access) {
                return Ok(value);
            }
            self.run(1)?;
        }
        Err(Error::Timeout {
            what: format!("an access to the OpenCL side at {offset:#x}"),
            cycles: PATIENCE,
        })
    }

    /// Writes the bytes of a dword of the OpenCL side whose bit in `lanes` (0 to 15) is set, at an offset of
    /// the BAR as the side knows it. Runs the board until the side has taken it.
    ///
    /// # Errors
    /// If the offset is not a multiple of 4 or there is no OpenCL side, and as [`Board::run`].
    pub fn opencl_write(&mut self, offset: u64, value: u32, lanes: u8) -> Result<()> {
        if self.is_across() {
            self.check_side(offset)?;
            return self.write_across(offset, value, lanes & 15);
        }
        self.opencl_access(offset, true, |side| side.write(offset, value, lanes))
    }

    /// Reads a dword of the OpenCL side. Runs the board until the answer has come back.
    ///
    /// # Errors
    /// As [`Board::opencl_write`].
    pub fn opencl_read(&mut self, offset: u64) -> Result<u32> {
        if self.is_across() {
            self.check_side(offset)?;
            return self.read_across(offset);
        }
        let value = self.opencl_access(offset, false, |side| side.read(offset))?;
        self.answer_host()?;
        Ok(value)
    }
}

/// Returns the error of a board without an OpenCL side.
#[cold]
fn missing(offset: u64) -> Error {
    Error::HostAccess {
        offset,
        message: "the board has no OpenCL side".to_owned(),
    }
}
