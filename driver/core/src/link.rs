// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of the block for the PCIe link.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::regs::csr;
use super::steps::{Register, Step};

/// The link between board and host, as the block's PCIe port sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Bytes per second that the link carries in one direction, without the line coding but with headers and framing:
    /// 500 000 000 per lane at 5 GT/s.
    pub bytes_per_second: u64,
    /// Frequency of the port's clock in hertz.
    pub clock: u64,
}

impl Link {
    /// Returns the value of `PORT_PACE`: the bytes that the link carries in a cycle, less one part in 64 for packets
    /// that the block does not see.
    const fn pace(self) -> u32 {
        const LARGEST: u128 = csr::PORT_PACE_RATE_MASK as u128;
        // In units of a 256th of a byte: 256 * 63 / 64.
        let carried = (self.bytes_per_second as u128).saturating_mul(252);
        match carried.checked_div(self.clock as u128) {
            None => 0,
            Some(pace) if pace > LARGEST => LARGEST as u32,
            Some(pace) => pace as u32,
        }
    }
}

/// Returns the link of a function as it was trained, by its Link Status register (PCI Express Base Specification,
/// 7.5.3.8); `None` for a speed that is not known, or without lanes. `clock` is that of the block's port, in hertz.
pub const fn trained(status: u16, clock: u64) -> Option<Link> {
    // Coded 8b/10b, then 128b/130b.
    let lane = match status & 0xf {
        1 => 250_000_000,
        2 => 500_000_000,
        3 => 984_615_384,
        _ => return None,
    };
    match (status >> 4 & 0x3f) as u64 {
        0 => None,
        lanes => Some(Link {
            bytes_per_second: lanes.saturating_mul(lane),
            clock,
        }),
    }
}

/// Sets the speed of the link in the block, so that reads do not wait for writes in the queue of the port. `None`
/// where the speed is not known: writes then go as fast as the port takes them.
pub const fn set_pace(link: Option<Link>) -> Step {
    let pace = match link {
        Some(link) => link.pace(),
        None => 0,
    };
    Step::Write(Register::Csr(csr::PORT_PACE), pace)
}

/// The smallest Max Read Request Size, in bytes, with which the V-series hard IP's `Txs` port answers reads
/// correctly. Its bridge has places for the data of eight requests and issues 16 tags: the completions of two
/// requests that share a place destroy each other's data, unnoticed. With 512 bytes, its longest read, there are
/// never more than eight requests (RTL that Quartus 16.0 generates for `altera_pcie_sv_hip_avmm`: a place is the tag
/// modulo 8).
pub const LEAST_READ_REQUEST: i32 = 512;

/// Returns the longest time that a function should wait for the answer to a read, in milliseconds, by its Device
/// Control 2 register; `None`: for ever, or unknown (PCI Express Base Specification, 7.5.3.16, Completion Timeout
/// Value and Disable; 2.8).
///
/// The V-series hard IP's `Txs` port does not use it: neither bridge nor hard IP has a completion timeout, and a late
/// completion is taken for an answer. So the value only says how long an answer can be expected.
pub const fn completion_timeout(device_control_2: u16) -> Option<u32> {
    const DISABLE: u16 = 1 << 4;
    if device_control_2 & DISABLE != 0 {
        return None;
    }
    Some(match device_control_2 & 0xf {
        0b0000 => 50,
        0b0001 => 1,
        0b0010 => 10,
        0b0101 => 55,
        0b0110 => 210,
        0b1001 => 900,
        0b1010 => 3_500,
        0b1101 => 13_000,
        0b1110 => 64_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_given_up_when_its_range_says() {
        // Others' bits mean nothing here: ARI, IDO, LTR.
        assert_eq!(completion_timeout(0x0720), Some(50));
        let ranges = [1, 10, 55, 210, 900, 3500, 13_000, 64_000];
        let values = [0x1, 0x2, 0x5, 0x6, 0x9, 0xA, 0xD, 0xE];
        assert_eq!(values.map(completion_timeout), ranges.map(Some));
        for reserved in [0x3, 0x4, 0x7, 0x8, 0xB, 0xC, 0xF] {
            assert_eq!(completion_timeout(reserved), None);
        }
        assert_eq!(completion_timeout(0x10), None);
    }

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
    fn a_trained_link_has_its_lanes() {
        let rate = |status| trained(status, 250_000_000).map(|link| link.bytes_per_second);
        // Gen2 x8, with the slot's clock (bit 12).
        assert_eq!(rate(0x1082), Some(4_000_000_000));
        assert_eq!(rate(0x0013), Some(984_615_384));
        assert_eq!(rate(0x0011), Some(250_000_000));
        for unknown in [0, 0x0080, 0x0084, 0x0002, u16::MAX] {
            assert_eq!(rate(unknown), None, "{unknown:#x}");
        }
    }

    #[test]
    fn strange_links_give_no_strange_pace() {
        assert_eq!(pace(u64::MAX, 1), 0xffff);
        assert_eq!(pace(1, 0), 0);
        assert_eq!(set_pace(None), Step::Write(Register::Csr(0x24), 0));
    }
}
