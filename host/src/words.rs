//! Copies of memory that may be written concurrently, by words of 64 bits.
//!
//! They are for memory that a type of another crate offers as [`Memory`](crate::Memory): the accesses are atomic, and
//! as fast as the words are wide.

use crate::lock_free::put;
use std::sync::atomic::{AtomicU64, Ordering};

const WORD: usize = size_of::<u64>();

/// Copies from the byte at `offset` on. Each word is read before or after a concurrent write to it.
///
/// # Panics
/// If `offset` lies a word or more after the end of the words. `bytes` that would lie after their end are left
/// unchanged.
pub fn load(words: &[AtomicU64], offset: usize, bytes: &mut [u8]) {
    let load = |word: &AtomicU64| word.load(Ordering::Relaxed).to_ne_bytes();
    let (skip, head) = head(offset, bytes.len());
    let mut words = &words[offset / WORD..];
    let (head, rest) = bytes.split_at_mut(head);
    if !head.is_empty()
        && let Some((word, others)) = words.split_first()
    {
        head.copy_from_slice(&load(word)[skip..skip + head.len()]);
        words = others;
    }
    let (middle, tail) = rest.as_chunks_mut();
    for (to, word) in middle.iter_mut().zip(words) {
        *to = load(word);
    }
    if !tail.is_empty()
        && let Some(word) = words.get(middle.len())
    {
        tail.copy_from_slice(&load(word)[..tail.len()]);
    }
}

/// Copies to the byte at `offset` and on. The neighbouring bytes in the first and the last word keep their values, also
/// under concurrent writes.
///
/// # Panics
/// If `offset` lies a word or more after the end of the words. Bytes that would lie after their end are dropped.
pub fn store(words: &[AtomicU64], offset: usize, bytes: &[u8]) {
    let (skip, head) = head(offset, bytes.len());
    let mut words = &words[offset / WORD..];
    let (head, rest) = bytes.split_at(head);
    if !head.is_empty()
        && let Some((word, others)) = words.split_first()
    {
        put(word, skip, head);
        words = others;
    }
    let (middle, tail) = rest.as_chunks();
    for (from, word) in middle.iter().zip(words) {
        word.store(u64::from_ne_bytes(*from), Ordering::Relaxed);
    }
    if !tail.is_empty()
        && let Some(word) = words.get(middle.len())
    {
        put(word, 0, tail);
    }
}

/// Returns the part of a range before its first whole word: its offset in its word, and its bytes.
fn head(offset: usize, length: usize) -> (usize, usize) {
    let skip = offset % WORD;
    (skip, ((WORD - skip) % WORD).min(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stretch_of_some_words_and_nothing_beside_it() {
        for offset in 0..24 {
            for length in 0..=24 - offset {
                let words: [AtomicU64; 3] = std::array::from_fn(|_| AtomicU64::new(u64::MAX));
                let bytes: Vec<u8> = (1..=length as u8).collect();
                store(&words, offset, &bytes);
                let all: Vec<u8> = (words.iter())
                    .flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes())
                    .collect();
                let mut expected = vec![0xff; 24];
                expected[offset..offset + length].copy_from_slice(&bytes);
                assert_eq!(all, expected, "{length} bytes at {offset}");
                let mut back = vec![0; length];
                load(&words, offset, &mut back);
                assert_eq!(back, bytes, "{length} bytes at {offset}");
            }
        }
    }
}
