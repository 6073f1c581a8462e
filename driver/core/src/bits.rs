// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranges of bits in a slice of words. Positions beyond the slice read as 0 and
//! are ignored when written.

const WORD: u32 = u64::BITS;

/// Returns a mask of the bits `from..to` of one word (`from <= to <= 64`).
fn mask(from: u32, to: u32) -> u64 {
    let upper = if to >= WORD { u64::MAX } else { (1 << to) - 1 };
    let lower = if from >= WORD {
        u64::MAX
    } else {
        (1 << from) - 1
    };
    upper & !lower
}

/// Calls `f(word index, mask)` for each word that `first..first + count` touches.
fn each_word(first: u32, count: u32, mut f: impl FnMut(usize, u64)) {
    let end = u64::from(first) + u64::from(count);
    let mut at = u64::from(first);
    while at < end {
        let word = at / u64::from(WORD);
        let base = word * u64::from(WORD);
        let stop = end.min(base + u64::from(WORD));
        f(
            word as usize,
            mask((at - base) as u32, (stop - base) as u32),
        );
        at = stop;
    }
}

/// Sets (`value`) or clears the bits `first..first + count`.
pub(super) fn fill(words: &mut [u64], first: u32, count: u32, value: bool) {
    each_word(first, count, |index, mask| {
        if let Some(word) = words.get_mut(index) {
            if value {
                *word |= mask;
            } else {
                *word &= !mask;
            }
        }
    });
}

/// Whether bit `at` is set.
pub(super) fn get(words: &[u64], at: u32) -> bool {
    words
        .get((at / WORD) as usize)
        .is_some_and(|word| word >> (at % WORD) & 1 == 1)
}

/// Returns the first position in `from..end` whose bit equals `value`, or `end`.
pub(super) fn find(words: &[u64], from: u32, end: u32, value: bool) -> u32 {
    let mut at = from;
    while at < end {
        let word = words.get((at / WORD) as usize).copied().unwrap_or(0);
        let wanted = if value { word } else { !word };
        let rest = wanted & mask(at % WORD, WORD);
        if rest != 0 {
            return ((at / WORD) * WORD + rest.trailing_zeros()).min(end);
        }
        match (at / WORD + 1).checked_mul(WORD) {
            Some(next) => at = next,
            None => break,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_across_words() {
        let mut words = [0u64; 3];
        fill(&mut words, 60, 70, true);
        assert_eq!(words, [0xf << 60, u64::MAX, 0b11]);
        assert_eq!(find(&words, 0, 192, true), 60);
        assert_eq!(find(&words, 60, 192, false), 130);
        assert_eq!(find(&words, 130, 192, true), 192);
        assert!(get(&words, 129) && !get(&words, 130));
        fill(&mut words, 64, 64, false);
        assert_eq!(words, [0xf << 60, 0, 0b11]);
    }

    #[test]
    fn the_end_is_kept_and_the_outside_ignored() {
        let mut words = [0u64; 1];
        fill(&mut words, 0, 200, true);
        assert_eq!(find(&words, 0, 10, false), 10);
        assert_eq!(find(&words, 64, 100, true), 100);
        assert!(!get(&words, 64));
    }
}
