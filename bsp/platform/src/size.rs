//! Sizes in words.

/// Formats a size in words.
pub fn size(bytes: u64) -> String {
    for (unit, name) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact() {
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(1 << 31), "2 GiB");
        assert_eq!(size(32), "32 B");
        assert_eq!(size(1536), "1536 B");
    }
}
