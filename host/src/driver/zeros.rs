//! FPGA memory is filled with zeros before somebody gets it.

use super::Inner;
use crate::error::Result;
use peerlane_core::att::Permissions;
use peerlane_core::descriptor::Direction;
use std::ops::Range;

/// Bytes of zeros in host memory, which the board reads again and again.
const ZEROS: u64 = 256 << 10;

impl Inner {
    /// Fills FPGA memory in a channel's range with zeros, by the channel itself, which must be at rest
    /// and nobody's. It is started anew after that.
    pub(super) fn fill(&mut self, number: u32, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        self.by_itself(number, (ZEROS, Permissions::Read), |own| {
            for local in range.clone().step_by(ZEROS as usize) {
                let length = ZEROS.min(range.end - local);
                own.transfer(Direction::ToFpga, own.peer, local, length)?;
            }
            Ok(())
        })
    }
}
