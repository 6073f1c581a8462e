//! Fills FPGA memory with zeros before a context gets it.

use super::Locked;
use crate::error::Result;
use peerlane_core::att::Permissions;
use peerlane_core::descriptor::Direction;
use std::ops::Range;

/// Bytes of zeros in host memory, which the board reads repeatedly.
const ZEROS: u64 = 256 << 10;

impl Locked<'_> {
    /// Fills FPGA memory in a channel's range with zeros, with the channel itself, which must be idle and not in use.
    /// The channel is restarted afterwards. Other threads have the board between two pieces.
    pub(super) fn fill(&mut self, number: u32, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        self.by_itself(number, (ZEROS, Permissions::Read), |own| {
            for local in range.clone().step_by(ZEROS as usize) {
                let length = ZEROS.min(range.end - local);
                own.transfer(Direction::ToFpga, own.peer, local, length)?;
                own.make_way()?;
            }
            Ok(())
        })
    }
}
