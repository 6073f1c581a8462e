//! The rate that a board's link can carry.

use crate::Machine;

/// A link as it was trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    /// Transfers a second of a lane, in 10^9.
    pub speed: f64,
    pub lanes: u32,
    /// Largest payload of a packet, in bytes; `None`: only the administrator can read it.
    pub payload: Option<u32>,
}

/// Payload that is assumed if it is not known: the hard IP's largest one, in bytes.
const PAYLOAD: u32 = 256;

impl Link {
    /// Returns the link of a board.
    pub(crate) fn of(machine: &Machine, board: &str) -> Option<Self> {
        let speed = machine.says(board, "link_speed")?;
        let lanes = machine.says(board, "link_width")?.parse().ok()?;
        let configuration = machine.configuration(board);
        Some(Self {
            speed: speed.strip_suffix("GT/s")?.trim().parse().ok()?,
            lanes,
            payload: configuration.and_then(|bytes| payload(&bytes)),
        })
    }

    /// Computes the bytes a second to the host and to the board that packets of the largest payload can carry.
    ///
    /// PCI Express Base Specification 3.0: 10 bits a byte up to 5 GT/s, then 130 bits for 128 (4.2); around a packet 8
    /// bytes of framing, sequence number and LCRC (4.2); headers of 16 bytes, and of 12 for completions of reads
    /// (2.2.1).
    pub(crate) fn ceilings(&self) -> [f64; 2] {
        let code = if self.speed > 5.0 { 128.0 / 130.0 } else { 0.8 };
        let raw = self.speed * 1e9 * code / 8.0 * f64::from(self.lanes);
        let payload = f64::from(self.payload.unwrap_or(PAYLOAD));
        [16.0, 12.0].map(|header| raw * payload / (payload + header + 8.0))
    }
}

/// Returns the largest payload that a function may send: bits 7:5 of Device Control, in the PCI Express capability,
/// whose ID is 0x10 (PCI Express Base Specification 3.0, 7.8.4; the list of capabilities begins at 0x34: PCI Local Bus
/// Specification 3.0, 6.7).
fn payload(configuration: &[u8]) -> Option<u32> {
    const MOST: usize = 48;
    let mut at = usize::from(*configuration.get(0x34)?);
    for _ in 0..MOST {
        let [id, next] = *configuration.get(at..at + 2)? else {
            return None;
        };
        if at < 0x40 {
            return None;
        }
        if id == 0x10 {
            let control = configuration.get(at + 8)?;
            return Some(128 << (control >> 5).min(5));
        }
        at = usize::from(next);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-3 * other
    }

    /// By hand: 4 GB/s with 256 of 280 and of 276 bytes; 7.877 GB/s likewise; 2 GB/s with 128 of 152.
    #[test]
    fn ceilings_by_hand() {
        for (speed, lanes, payload, [write, read]) in [
            (5.0, 8, None, [3.657e9, 3.710e9]),
            (8.0, 8, Some(256), [7.202e9, 7.306e9]),
            (5.0, 4, Some(128), [1.684e9, 1.730e9]),
        ] {
            let link = Link {
                speed,
                lanes,
                payload,
            };
            let [a, b] = link.ceilings();
            assert!(near(a, write) && near(b, read), "{a} {b}");
        }
    }

    #[test]
    fn the_payload_stands_in_the_capability() {
        let mut configuration = [0; 256];
        configuration[0x34] = 0x50;
        configuration[0x50..0x52].copy_from_slice(&[5, 0x80]);
        configuration[0x80] = 0x10;
        for (bits, bytes) in [(0, 128), (1, 256), (2, 512)] {
            configuration[0x88] = bits << 5 | 0x1f;
            assert_eq!(payload(&configuration), Some(bytes));
        }
        // The bytes that a user may read, a list that ends, and a circular list.
        assert_eq!(payload(&configuration[..64]), None);
        configuration[0x80] = 5;
        assert_eq!(payload(&configuration), None);
        configuration[0x81] = 0x50;
        assert_eq!(payload(&configuration), None);
        assert_eq!(payload(&[]), None);
    }
}
