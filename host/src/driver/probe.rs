//! Probes whether the board can read a peer's memory, as the kernel's driver does it (`driver/src/probe.rs`).

use super::Locked;
use super::context::Held;
use crate::context::SlowPath;
use crate::error::{Error, Result};
use peerlane_core::att::Permissions;
use peerlane_core::descriptor::Direction;
use peerlane_core::uapi::{self, PROBE_BYTES};
use rustix::io::Errno;

const LENGTH: u64 = PROBE_BYTES as u64;

fn refused(source: Errno) -> Error {
    Error::call("PROBE", source)
}

/// Only for probes: the library writes all other descriptors.
impl SlowPath for Held {
    fn submit(&self, _: &mut uapi::Submit) -> Result<()> {
        Err(Error::call("SUBMIT", Errno::OPNOTSUPP))
    }

    fn wait(&self, _: &mut uapi::Wait) -> Result<bool> {
        Err(Error::call("WAIT", Errno::OPNOTSUPP))
    }

    /// Takes the channel for the driver from now on. The kernel's driver does the same, so programs see no difference.
    fn probe(&self, probe: &mut uapi::Probe) -> Result<()> {
        let _turn = self.turn();
        let mut locked = Locked::new(self.shared());
        let inner = locked.get();
        inner.attend()?;
        let channel = inner.channel(self.number())?;
        if channel.handed_out {
            return Err(refused(Errno::BUSY));
        }
        channel.probed = true;
        locked.probe(self.number(), probe)
    }
}

impl Locked<'_> {
    /// Reads a little of a region into FPGA memory, and from there into memory of the driver.
    fn probe(&mut self, number: u32, probe: &mut uapi::Probe) -> Result<()> {
        let region = self.get().regions.of(number, probe.handle);
        let region = region.ok_or_else(|| refused(Errno::NOENT))?;
        let checked = region.check(Direction::ToFpga, probe.offset, LENGTH);
        checked.map_err(|_| refused(Errno::INVAL))?;
        let peer = region.att_address(probe.offset);
        let peer = peer.map_err(|_| refused(Errno::INVAL))?;
        let local = probe.local;
        let mut data = [0; PROBE_BYTES];
        let read = self.by_itself(number, (LENGTH, Permissions::ReadWrite), |own| {
            own.transfer(Direction::ToFpga, peer, local, LENGTH)?;
            own.transfer(Direction::FromFpga, own.peer, local, LENGTH)?;
            own.memory.read(0, &mut data)
        });
        match read {
            Ok(()) => (probe.status, probe.data) = (0, data),
            Err(Error::Fault {
                direction: Direction::ToFpga,
                fault,
                ..
            }) => probe.status = fault.code().raw(),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
