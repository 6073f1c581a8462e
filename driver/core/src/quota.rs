// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many of the ATT's entries each channel holds, and how many it may.

use super::regs::chan;
use core::fmt;

/// The channel would hold more entries than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// Entries that it holds.
    pub held: u32,
    /// Entries that it wants besides.
    pub wanted: u32,
    /// The most that it may hold.
    pub limit: u32,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            held,
            wanted,
            limit,
        } = self;
        write!(
            f,
            "{wanted} ATT entries besides the {held} that the channel holds are more than the {limit} that it may: register less at a time, or give regions back"
        )
    }
}

impl core::error::Error for Exceeded {}

/// The account of all channels.
#[derive(Debug, Clone)]
pub struct Quota {
    held: [u32; chan::COUNT],
    limit: u32,
}

impl Quota {
    /// Nobody holds anything, and nobody may hold more than `limit` entries.
    pub const fn new(limit: u32) -> Self {
        Self {
            held: [0; chan::COUNT],
            limit,
        }
    }

    /// Entries that a channel holds; none if no build has a channel of this number.
    pub fn held(&self, channel: u32) -> u32 {
        self.held.get(channel as usize).copied().unwrap_or(0)
    }

    /// Counts entries in, if the channel may have them.
    pub fn take(&mut self, channel: u32, wanted: u32) -> Result<(), Exceeded> {
        let held = self.held(channel);
        let exceeded = Exceeded {
            held,
            wanted,
            limit: self.limit,
        };
        let sum = held.checked_add(wanted).ok_or(exceeded)?;
        let place = self.held.get_mut(channel as usize).ok_or(exceeded)?;
        if sum > self.limit {
            return Err(exceeded);
        }
        *place = sum;
        Ok(())
    }

    /// Counts entries out that were counted in.
    pub fn give(&mut self, channel: u32, count: u32) {
        if let Some(place) = self.held.get_mut(channel as usize) {
            *place = place.saturating_sub(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_holds_no_more_than_it_may_and_others_do_not_matter() {
        let mut quota = Quota::new(10);
        assert_eq!(quota.take(3, 7), Ok(()));
        let exceeded = Exceeded {
            held: 7,
            wanted: 4,
            limit: 10,
        };
        assert_eq!(quota.take(3, 4), Err(exceeded));
        assert_eq!(quota.take(4, 10), Ok(()));
        assert_eq!(quota.take(3, 3), Ok(()));
        quota.give(3, 7);
        assert_eq!((quota.held(3), quota.held(4)), (3, 10));
        assert_eq!(quota.take(3, 7), Ok(()));
    }

    #[test]
    fn impossible_counts_and_channels_are_refused() {
        let mut quota = Quota::new(u32::MAX);
        assert_eq!(quota.take(0, u32::MAX), Ok(()));
        assert!(quota.take(0, 1).is_err());
        assert!(quota.take(chan::COUNT as u32, 1).is_err());
        quota.give(chan::COUNT as u32, 1);
        assert_eq!(quota.held(chan::COUNT as u32), 0);
    }
}
