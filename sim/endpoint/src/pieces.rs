//! Accesses of several dwords.

/// Splits an access into pieces: each begins at `at`, within one dword, and has `bytes` bytes.
pub(crate) fn pieces(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let lane = (at % 4) as usize;
        let take = (4 - lane).min(bytes - done);
        let from = done;
        done += take;
        (take > 0).then_some((at, from, take))
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn an_access_is_cut_at_dwords() {
        let cut = |offset, bytes| pieces(offset, bytes).collect::<Vec<_>>();
        assert_eq!(cut(8, 8), [(8, 0, 4), (12, 4, 4)]);
        assert_eq!(cut(3, 2), [(3, 0, 1), (4, 1, 1)]);
        assert_eq!(cut(6, 1), [(6, 0, 1)]);
        assert_eq!(cut(5, 8), [(5, 0, 3), (8, 3, 4), (12, 7, 1)]);
        assert_eq!(cut(4, 0), []);
    }
}
