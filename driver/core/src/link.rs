// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the block is told of the PCIe link.

use super::regs::csr;
use super::steps::{Register, Step};

/// The link between board and host, as the block's PCIe port sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Bytes a second that the link carries one way, line coding taken off, headers and
    /// framing not: 500 000 000 a lane at 5 GT/s.
    pub bytes_per_second: u64,
    /// Frequency of the port's clock in hertz.
    pub clock: u64,
}

impl Link {
    /// The value of `PORT_PACE`: what the link carries in a cycle, less one part in 64 for
    /// packets that the block does not see.
    const fn pace(self) -> u32 {
        const LARGEST: u128 = csr::PORT_PACE_RATE_MASK as u128;
        if self.clock == 0 {
            return 0;
        }
        // In units of a 256th of a byte: 256 * 63 / 64.
        let pace = self.bytes_per_second as u128 * 252 / self.clock as u128;
        if pace > LARGEST {
            LARGEST as u32
        } else {
            pace as u32
        }
    }
}

/// Tells the block how fast the link is, so that reads do not queue behind writes in the
/// port. `None` where that is not known: writes then go as fast as the port takes them.
pub const fn set_pace(link: Option<Link>) -> Step {
    let pace = match link {
        Some(link) => link.pace(),
        None => 0,
    };
    Step::Write(Register::Csr(csr::PORT_PACE), pace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(bytes_per_second: u64, clock: u64) -> u32 {
        let link = Link {
            bytes_per_second,
            clock,
        };
        match set_pace(Some(link)) {
            Step::Write(Register::Csr(0x24), pace) => pace,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_pace_is_a_little_less_than_the_link() {
        // Gen2 x8 at 250 MHz carries 16 bytes a cycle: 4096, less 64.
        assert_eq!(pace(4_000_000_000, 250_000_000), 4032);
        // Gen1 x1 at 62.5 MHz: 4 bytes.
        assert_eq!(pace(250_000_000, 62_500_000), 1008);
    }

    #[test]
    fn strange_links_give_no_strange_pace() {
        assert_eq!(pace(u64::MAX, 1), 0xffff);
        assert_eq!(pace(1, 0), 0);
        assert_eq!(set_pace(None), Step::Write(Register::Csr(0x24), 0));
    }
}
