//! Ranges as the map file writes them.

use std::ops::Range;

/// Reads `"7"` or `"15:8"` as a half-open range of bits.
pub(crate) fn parse_bits(text: &str) -> Option<Range<u32>> {
    let (high, low) = text.split_once(':').unwrap_or((text, text));
    let (high, low) = (decimal(high)?, decimal(low)?);
    (low <= high).then_some(low..high + 1)
}

/// Reads `"0x18..0x20"` as a half-open range of bytes.
pub(crate) fn parse_bytes(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    let (start, end) = (number(start)?, number(end)?);
    (start < end).then_some(start..end)
}

/// Writes a half-open range of bits as the map file does.
pub(crate) fn show_bits(range: &Range<u32>) -> String {
    if range.len() == 1 {
        format!("bit {}", range.start)
    } else {
        format!("bits {}:{}", range.end - 1, range.start)
    }
}

/// Writes a half-open range of bytes as the map file does.
pub(crate) fn show_bytes(range: &Range<u64>) -> String {
    format!("bytes {:#04x}..{:#04x}", range.start, range.end)
}

fn decimal(text: &str) -> Option<u32> {
    // At most four digits: no register is that wide, and no sum overflows.
    let ok = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    ok.then(|| text.parse().ok()).flatten()
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
            u64::from_str_radix(hex, 16).ok()
        }
        None if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_ranges() {
        assert_eq!(parse_bits("0"), Some(0..1));
        assert_eq!(parse_bits("15:8"), Some(8..16));
        for bad in ["", "8:15", "a", "1:", ":1", "-1", "+1", "99999", "1:0:0"] {
            assert_eq!(parse_bits(bad), None, "{bad}");
        }
    }

    #[test]
    fn byte_ranges() {
        assert_eq!(parse_bytes("0x18..0x20"), Some(0x18..0x20));
        assert_eq!(parse_bytes("4..8"), Some(4..8));
        for bad in ["", "4", "8..4", "4..4", "x..y", "0x..1", "0x+1..8"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
    }
}
