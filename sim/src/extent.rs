//! The bytes of a packet.

/// Address and byte enables of a packet of dwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// First dword, counted from the packet's first beat.
    pub skip: u32,
    /// Dwords.
    pub dwords: u32,
    /// Byte enables of the first dword, and of the last one. A packet of one dword has no second ones.
    pub first: u32,
    pub last: u32,
}

impl Extent {
    /// Whether a byte, counted from the first one of the first dword, is written.
    fn enabled(&self, byte: u32) -> bool {
        let mask = match byte / 4 {
            0 => self.first,
            dword if dword + 1 == self.dwords => self.last,
            _ => 0xF,
        };
        mask >> (byte % 4) & 1 == 1
    }

    /// The next run of bytes that are written, from a byte on: its first byte and its length.
    pub fn bytes_from(&self, from: u32) -> Option<(u32, u32)> {
        let all = self.dwords * 4;
        if from == 0 && self.first == 0xF && (self.last == 0xF || self.dwords == 1) {
            return Some((0, all));
        }
        let begin = (from..all).find(|byte| self.enabled(*byte))?;
        let end = (begin..all).find(|byte| !self.enabled(*byte));
        Some((begin, end.unwrap_or(all) - begin))
    }
}
