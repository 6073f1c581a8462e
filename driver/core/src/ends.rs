// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of a write that a port of whole dwords cannot write.

/// FPGA memory that is read for an end, and the bytes of it that are the end's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// First byte of the end, counted from the write's first.
    pub at: u32,
    /// Bytes of the end, 1 to 3.
    pub bytes: u32,
    /// FPGA address of the whole dwords that contain the end.
    pub local: u64,
    /// Bytes of these dwords.
    pub length: u32,
    /// Offset of the end in them.
    pub skip: u32,
}

/// A write, cut where the board can write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes of the first dword that it does not fill, then of the last.
    pub ends: [Option<End>; 2],
    /// The rest, between the ends: its first byte, counted from the write's first, and its length.
    pub rest: (u32, u32),
}

/// A dword on the bus.
const DWORD: u32 = 4;

impl Cut {
    /// Cuts a write of `length` bytes from FPGA address `local` to an address of the peer's, of which only the last
    /// bits count. A port that writes single bytes has `granularity` 1, and one of whole dwords 4.
    pub fn new(peer: u64, local: u64, length: u32, granularity: u32) -> Self {
        if granularity < DWORD {
            return Self {
                ends: [None; 2],
                rest: (0, length),
            };
        }
        let inside = peer as u32 % DWORD;
        let head = ((DWORD - inside) % DWORD).min(length);
        let tail = (length - head) % DWORD;
        let end = |at: u32, bytes: u32| {
            // An invalid address is refused when the descriptor is submitted.
            let first = local.wrapping_add(u64::from(at));
            let skip = (first % u64::from(DWORD)) as u32;
            (bytes > 0).then_some(End {
                at,
                bytes,
                local: first - u64::from(skip),
                length: (skip + bytes).next_multiple_of(DWORD),
                skip,
            })
        };
        Self {
            ends: [end(0, head), end(length - tail, tail)],
            rest: (head, length - head - tail),
        }
    }

    /// Whether the board can write all of it.
    pub fn is_whole(&self) -> bool {
        self.ends == [None; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every byte is in exactly one part. The rest has whole dwords at the peer. The memory that is read for an
        /// end has whole dwords of FPGA memory, and not more than needed.
        #[test]
        fn the_parts_are_the_write(peer: u64, local in 0u64..1 << 40, length in 1u32..100) {
            let Cut { ends, rest: (at, bytes) } = Cut::new(peer, local, length, 4);
            let mut next = 0;
            let rest = (bytes > 0).then_some((at, bytes));
            let parts = [ends[0].map(|end| (end.at, end.bytes)), rest, ends[1].map(|end| (end.at, end.bytes))];
            for (at, bytes) in parts.into_iter().flatten() {
                prop_assert_eq!(at, next);
                next = at + bytes;
            }
            prop_assert_eq!(next, length);
            prop_assert!(bytes == 0 || (peer.wrapping_add(u64::from(at))) % 4 == 0 && bytes % 4 == 0);
            for end in ends.into_iter().flatten() {
                prop_assert!((1..4).contains(&end.bytes));
                prop_assert!(end.local % 4 == 0 && end.length % 4 == 0 && end.skip < 4);
                prop_assert_eq!(end.local + u64::from(end.skip), local + u64::from(end.at));
                prop_assert!(end.skip + end.bytes <= end.length && end.length - end.skip - end.bytes < 4);
            }
        }
    }

    #[test]
    fn whole_dwords_stay_whole() {
        assert!(Cut::new(0x1004, 3, 8, 4).is_whole());
        assert!(Cut::new(0x1003, 3, 7, 1).is_whole());
        let cut = Cut::new(0x1001, 0x102, 2, 4);
        let end = End {
            at: 0,
            bytes: 2,
            local: 0x100,
            length: 4,
            skip: 2,
        };
        assert_eq!((cut.ends, cut.rest), ([Some(end), None], (2, 0)));
        assert!(!Cut::new(3, u64::MAX, u32::MAX, 4).is_whole());
        // Three bytes may lie in two dwords of FPGA memory.
        let end = Cut::new(0x1001, 0x102, 3, 4).ends[0];
        assert_eq!(end.map(|end| end.length), Some(8));
    }
}
