//! The header that the bridge makes of a packet's byte enables.
//!
//! It looks at the enables of a burst's first beat and at those of a packet's last one, and compares them with a list:
//! the runs of whole dwords. Enables that are not in the list count as the default, and the header then says something
//! else than the enables (RTL that Quartus 16.0 generates for the Stratix V Avalon-MM bridge, 128 bits).

use crate::extent::Extent;

/// The beats of a packet of writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beats {
    pub count: u32,
    /// Enables of the burst's first beat; all in a later packet of the burst.
    pub first: u64,
    /// Enables of the packet's last beat.
    pub last: u64,
    /// The burst has one beat.
    pub single: bool,
    /// It is a later packet of the burst.
    pub later: bool,
}

/// First dword and number of dwords, if the enables are one run of whole dwords.
fn run(mask: u64, dwords: u32) -> Option<(u32, u32)> {
    let skip = mask.trailing_zeros() / 4;
    let count = mask.count_ones() / 4;
    let whole = (0..count).fold(0, |all, n| all | 0xF << ((skip + n) * 4));
    (mask != 0 && mask == whole && skip + count <= dwords).then_some((skip, count))
}

/// Enables of a whole beat.
pub(crate) fn all(width: u32) -> u64 {
    (1 << width) - 1
}

fn nibble(mask: u64, dword: u32) -> u32 {
    (mask >> (dword * 4) & 0xF) as u32
}

/// The header of a packet, from beats of so many dwords.
///
/// Where the first beat is of the list and the last one is not, the length that the bridge writes is too large by the
/// dwords that the first beat leaves out. Here such a packet ends with its last beat.
pub(crate) fn extent(beats: &Beats, dwords: u32) -> Extent {
    let all = beats.count * dwords;
    let (first, last) = (run(beats.first, dwords), run(beats.last, dwords));
    let to_top = first.filter(|(skip, count)| skip + count == dwords);
    let from_bottom = last.filter(|(skip, _)| *skip == 0);
    let left_out = if beats.single || beats.count == 1 && !beats.later {
        first.map_or(0, |(_, count)| dwords - count)
    } else {
        match (to_top, from_bottom) {
            (Some((_, first)), Some((_, last))) => 2 * dwords - first - last,
            _ => 0,
        }
    };
    let skip = first.map_or(0, |(skip, _)| skip);
    let one = |run: Option<(u32, u32)>| run.is_some_and(|(_, count)| count == 1);
    let one_dword = beats.single && one(first) || beats.count == 1 && one(last);
    // Of a run of one dword that is not the lowest the bridge looks at the wrong one.
    let end = last.map_or(
        0,
        |(skip, count)| if count > 1 { skip + count - 1 } else { 0 },
    );
    Extent {
        skip,
        dwords: (all - left_out).min(all - skip),
        first: nibble(beats.first, skip),
        last: if one_dword {
            0
        } else {
            nibble(beats.last, end)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of 16-byte beats that a packet writes, one bit each.
    fn written(count: u32, first: u64, last: u64) -> u128 {
        let beats = Beats {
            count,
            first,
            last,
            single: count == 1,
            later: false,
        };
        let extent = extent(&beats, 4);
        let (mut bits, mut from) = (0, 0);
        while let Some((begin, len)) = extent.bytes_from(from) {
            from = begin + len;
            bits |= ((1 << len) - 1) << (extent.skip * 4 + begin);
        }
        bits
    }

    #[test]
    fn runs_of_whole_dwords_of_one_beat_are_right() {
        for mask in [
            0x000F, 0x00F0, 0x0F00, 0xF000, 0x00FF, 0x0FF0, 0xFF00, 0x0FFF, 0xFFF0, 0xFFFF,
        ] {
            assert_eq!(written(1, mask, mask), mask.into(), "{mask:#x}");
        }
    }

    #[test]
    fn other_beats_write_both_ends_by_their_lowest_lanes() {
        for (mask, expected) in [
            (0x0001, 0x1FF1),
            (0x0008, 0x8FF8),
            (0xFFFE, 0xEFFE),
            (0x3FFF, 0xFFFF),
            (0x8000, 0x0FF0),
            (0x0000, 0x0FF0),
            (0x0FF1, 0x1FF1),
            // Whole dwords with a hole.
            (0xF00F, 0xFFFF),
        ] {
            assert_eq!(written(1, mask, mask), expected, "{mask:#x}");
        }
    }

    #[test]
    fn ends_of_bursts_may_be_whole_dwords() {
        for first in [0xFFFF_u64, 0xFFF0, 0xFF00, 0xF000] {
            for last in [0xFFFF_u64, 0x0FFF, 0x00FF, 0x000F] {
                let expected = u128::from(first) | 0xFFFF << 16 | u128::from(last) << 32;
                assert_eq!(written(3, first, last), expected, "{first:#x} {last:#x}");
            }
        }
    }

    #[test]
    fn other_ends_of_bursts_write_what_nobody_enabled() {
        for (first, last, expected) in [
            // The accident: right only before a last beat that is whole.
            (0xFFFE, 0xFFFF, 0xFFFF_FFFE),
            (0xFFFC, 0xFFFF, 0xFFFF_FFFC),
            (0xFFF8, 0xFFFF, 0xFFFF_FFF8),
            (0xFFFE, 0x00FF, 0xFFFF_FFFE),
            (0xFFE0, 0xFFFF, 0xFFFF_FFF0),
            (0x8000, 0xFFFF, 0xFFFF_FFF0),
            (0xFFFF, 0x7FFF, 0xFFFF_FFFF),
            (0xFFFF, 0x0001, 0x1FFF_FFFF),
            (0xFFFF, 0x0000, 0x0FFF_FFFF),
            (0xFF00, 0x0007, 0x7FFF_FF00),
        ] {
            assert_eq!(written(2, first, last), expected, "{first:#x} {last:#x}");
        }
    }
}
