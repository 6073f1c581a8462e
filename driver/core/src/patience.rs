// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time limits of waits for the block.
//!
//! Time alone says nothing about the block: the thread that waits may have had no processor all the time, and a
//! register that is busy now may be busy with work of another thread that has just begun. So a wait has a minimum
//! number of looks, too, and restarts for each fence that it sees. [`fences`](super::fences) limits the number of
//! other threads' fences before the thread's own.

use super::regs::csr;
use super::steps::Register;

/// Minimum number of looks of a wait, even if they take long.
const LEAST_LOOKS: u32 = 16;

/// Pause between two looks at a register, in nanoseconds: at first this short one, then a longer one, so that a slow
/// block is not kept busy by reads.
pub const SHORT: u64 = 20_000;
/// The longer pause, in nanoseconds.
pub const LONG: u64 = 500_000;
/// Number of looks with the short pause.
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
    /// Makes a wait that ends after so many nanoseconds.
    pub const fn new(limit: u64) -> Self {
        Self {
            limit,
            since: 0,
            looks: 0,
            fences: 0,
        }
    }

    /// Returns the pause before the next look, in nanoseconds.
    pub const fn pause(&self) -> u64 {
        match self.looks > QUICK {
            true => LONG,
            false => SHORT,
        }
    }

    /// Starts the count of looks again: earlier looks say nothing about the block.
    pub const fn begin_anew(&mut self) {
        self.looks = 0;
    }

    /// Records that a register was found busy at time `now`, in nanoseconds, when all threads had begun `fences`
    /// fences. Returns whether to look again.
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
        // Fences of other threads do not extend the wait for a register that is busy all the time.
        let mut patience = Patience::new(1000);
        let late = (0..).position(|look| !patience.looks_again(STATUS, 100 * look, look));
        assert_eq!(late, Some(LEAST_LOOKS as usize - 1));
    }
}
