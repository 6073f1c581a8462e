// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels that may use an ATT entry.

use super::regs::chan;

/// A set of channels: those that may use an ATT entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Owners(u64);

impl Owners {
    /// No channel.
    pub const NONE: Self = Self(0);

    /// Every channel, those of today's build and all others.
    pub const ALL: Self = Self(u64::MAX);

    /// Makes a set of one channel; empty if no build has a channel of this number.
    pub const fn channel(channel: u32) -> Self {
        if channel < chan::COUNT as u32 {
            Self(1 << channel)
        } else {
            Self::NONE
        }
    }

    /// Makes the set of a mask, one bit a channel.
    pub const fn from_mask(mask: u64) -> Self {
        Self(mask)
    }

    /// Returns one bit a channel, as in `ATT_OWNER`.
    pub const fn mask(self) -> u64 {
        self.0
    }

    /// Whether a channel is in it.
    pub const fn contains(self, channel: u32) -> bool {
        self.0 & Self::channel(channel).0 != 0
    }

    /// Whether no channel is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the channels of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the channels that are not in the other set.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_a_channel() {
        assert_eq!(Owners::channel(0).mask(), 1);
        assert_eq!(Owners::channel(63).mask(), 1 << 63);
        assert!(Owners::channel(64).is_empty() && Owners::channel(u32::MAX).is_empty());
        let both = Owners::channel(3).with(Owners::channel(40));
        assert_eq!(both.mask(), 0x100_0000_0008);
        assert!(both.contains(40) && !both.contains(4) && !both.contains(67));
        assert_eq!(both.without(Owners::channel(3)), Owners::channel(40));
        assert!((0..64).all(|channel| Owners::ALL.contains(channel)));
    }
}
