//! Texts in the forms of AOCL 14.1 to 18.1, made by hand.

use super::*;

/// One bank, one kernel with three pointers.
const OLD_13: &str = "13 toy 0 0 1 0 134217728 0 1 \
    vecadd 0 256 0 0 1 1 0 3 2 1 8 2 1 8 2 1 8 0 0 0 0 0 2147483647";
const NEW_13: &str = "toy 0 1 10 DDR 2 1 2 0 134217728 0 - 0 - 0 0 0 0 0 1 0 0 0 1 48 \
    vecadd 0 256 0 0 0 1 0 1 0 3 7 2 1 8 1024 0 0 0 7 2 1 8 1024 0 0 0 7 2 1 8 1024 0 0 0 \
    0 2 0 2 0 0 0 1 2147483647 3 0 0 0";

/// Two banks; a local memory, a value, a format of printf, a size that does not fit an int.
const OLD_14: &str = "14 toy2 acc 0 2 1024 0 1073741824 1073741824 2147483648 0 1 \
    red 4096 512 0 0 0 4 1 2 1 1 4 0 1024 0 0 4 1 0 one\\20two 1 0 2048 64 1 1 4294967295 2";
const NEW_14: &str = "toy2 0 1 14 DDR 2 2 24 1 2 0 1073741824 1073741824 2147483648 0 - 0 - \
    0 0 0 0 0 1 0 0 0 1 46 \
    red 4096 512 0 0 0 0 0 4 1 2 9 1 1 4 1 0 0 1024 0 0 7 0 0 4 1 0 0 0 \
    1 2 0 one\\20two 1 2 0 2048 64 1 1 1 2147483647 2 0 0 0";

/// Splits off the three words that begin a text: version, count, hash.
fn rest(text: &str) -> (&str, &str, &str) {
    let mut parts = text.splitn(4, ' ');
    assert_eq!(parts.next(), Some("23"));
    let [count, hash, rest] = std::array::from_fn(|_| parts.next().unwrap());
    (count, hash, rest)
}

#[test]
fn known_texts_are_rewritten() {
    let new = upgrade(OLD_13).unwrap();
    let (count, hash, words) = rest(&new);
    assert_eq!((count, words), ("24", NEW_13));
    assert!(hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let new = upgrade(OLD_14).unwrap();
    let (count, other, words) = rest(&new);
    assert_eq!((count, words), ("28", NEW_14));
    assert_ne!(hash, other);
    // Banks that are not interleaved stay so.
    let apart = upgrade(&OLD_14.replace(" 2 1024 ", " 2 0 ")).unwrap();
    assert_eq!(rest(&apart).2, NEW_14.replace(" 24 1 ", " 24 0 "));
}

#[test]
fn a_board_without_kernels_is_as_a_new_one() {
    let new = upgrade("14 toy 0 0 1 0 134217728 0 0").unwrap();
    let (count, _, words) = rest(&new);
    let empty = "toy 0 1 10 DDR 2 1 2 0 134217728 0 - 0 - 0 0 0 0 0 1 0 0 0 0";
    assert_eq!((count, words), ("24", empty));
}

#[test]
fn blanks_around_it_change_nothing() {
    let padded = format!("{OLD_13} \n");
    assert_eq!(upgrade(&padded), upgrade(OLD_13));
}

#[test]
fn what_cannot_be_rewritten_is_named() {
    let of = |text: &str| upgrade(text).unwrap_err().to_string();
    assert!(of("23 24").contains("version \"23\" is neither 13 nor 14"));
    assert!(of("17 0 x").contains("version \"17\" is neither 13 nor 14, but the Pro Edition's"));
    assert!(of("").contains("ends after 0 words, before the version"));
    assert!(of("13 toy 0 0 one").contains("word 5 (\"one\") is not a number: the number of banks"));
    let long = format!("{OLD_13} 1");
    let place = long.split_ascii_whitespace().count();
    assert!(of(&long).contains(&format!("word {place} and later words")));
    let words: Vec<&str> = OLD_14.split_ascii_whitespace().collect();
    for length in 0..words.len() {
        assert!(
            upgrade(&words[..length].join(" ")).is_err(),
            "{length} words"
        );
    }
}

#[test]
fn counts_that_lie_end_soon() {
    let many = u64::MAX;
    for text in [
        format!("13 toy 0 0 {many} 0 1"),
        format!("13 toy 0 0 1 0 1 0 {many}"),
        format!("13 toy 0 0 1 0 1 0 1 k 0 1 0 0 0 1 0 {many} 1 1"),
    ] {
        assert!(matches!(upgrade(&text), Err(UpgradeError::Short { .. })));
    }
}
