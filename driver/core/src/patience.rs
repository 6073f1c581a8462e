// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the block is waited for.
//!
//! Time alone says nothing of the block: who waits may have been kept from the processor all the
//! while, and what is busy now may be another's business, begun just now. So a wait lasts for some
//! looks, too, and for the fence that it saw. How many of others' there can be before one's own,
//! [`fences`](super::fences) bounds.

use super::regs::csr;
use super::steps::Register;

/// Looks that a wait consists of, however long they take.
const LEAST_LOOKS: u32 = 16;

/// In nanoseconds: how long to sleep between two looks at a register: at first shortly, then longer,
/// so that a block that takes its time is not kept busy with being asked.
pub const SHORT: u64 = 20_000;
/// In nanoseconds: the longer sleep.
pub const LONG: u64 = 500_000;
/// Looks with the short one.
const QUICK: u32 = 50;

/// A wait for the block.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    limit: u64,
    since: u64,
    looks: u32,
    fences: u64,
}

impl Patience {
    /// One that ends after so many nanoseconds.
    pub const fn new(limit: u64) -> Self {
        Self {
            limit,
            since: 0,
            looks: 0,
            fences: 0,
        }
    }

    /// How long to sleep before the next look, in nanoseconds.
    pub const fn pause(&self) -> u64 {
        match self.looks > QUICK {
            true => LONG,
            false => SHORT,
        }
    }

    /// What was seen until now says nothing of the block.
    pub const fn begin_anew(&mut self) {
        self.looks = 0;
    }

    /// A register was found busy at this time, in nanoseconds, by when so many fences had been begun
    /// by anybody. Says whether to look again.
    pub fn looks_again(&mut self, register: Register, now: u64, fences: u64) -> bool {
        let is_fence = matches!(register, Register::Csr(csr::ATT_INVALIDATE));
        if is_fence && fences != self.fences {
            self.begin_anew();
        }
        if self.looks == 0 {
            (self.since, self.fences) = (now, fences);
        }
        self.looks += 1;
        self.looks < LEAST_LOOKS || now.saturating_sub(self.since) <= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FENCE: Register = Register::Csr(0x38);
    const STATUS: Register = Register::Csr(0x14);

    #[test]
    fn a_block_that_stays_busy_is_late() {
        let mut patience = Patience::new(1000);
        let late = (0..).position(|look| !patience.looks_again(STATUS, 50_000 + 20 * look, 0));
        assert_eq!(late, Some(51));
        let mut patience = Patience::new(1000);
        let late = (0..).position(|look| !patience.looks_again(FENCE, 50_000 + 20 * look, 7));
        assert_eq!(late, Some(51));
    }

    #[test]
    fn who_slept_for_too_long_looks_again() {
        let mut patience = Patience::new(1000);
        for look in 0..LEAST_LOOKS - 1 {
            let now = u64::from(look) * 1_000_000;
            assert!(patience.looks_again(STATUS, now, 0), "after {look} looks");
        }
        assert!(!patience.looks_again(STATUS, 20_000_000, 0));
    }

    #[test]
    fn the_fence_of_another_is_another_wait() {
        let mut patience = Patience::new(1000);
        for fence in 0..100 {
            assert!(patience.looks_again(FENCE, fence * 1_000_000, fence));
        }
        // What is begun elsewhere does not excuse a register that is busy all the time.
        let mut patience = Patience::new(1000);
        let late = (0..).position(|look| !patience.looks_again(STATUS, 100 * look, look));
        assert_eq!(late, Some(LEAST_LOOKS as usize - 1));
    }
}
