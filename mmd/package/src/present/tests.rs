//! Texts made by hand, with all parts of the form.

use super::*;
use crate::upgrade;

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

/// Makes the text of a board without kernels from the memory's words and the words after them.
fn board(rest: &str) -> String {
    let rest: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The hash, the name, the order of bytes and the words, without the last: the number of kernels.
    format!("23 {} {HASH} toy 0 {}", 3 + rest.len() - 1, rest.join(" "))
}

const MEMORY: &str = "1 10 DDR 2 1 2 0 134217728 0 - 0 -";
const NOTHING: &str = "0 0 0 0 0 1 0 0 0";

/// A kernel with a pointer, a value that is streamed, a local memory and a pipe; printf and local memories.
const ARGUMENTS: &str = "8 2 1 8 1024 1 DDR 0 0  8 0 0 4 1 0 0 1 stream  9 1 1 4 1 0 16 4096 0 0 \
    9 2 1 8 1024 0 8 1 channel 0";

/// Makes a kernel with all words that a kernel has after its arguments, and one of a later version.
fn kernel() -> String {
    let words = format!(
        "vecadd 4096 256 1 0 0 1 0 1 0 4 {ARGUMENTS} 1 2 0 text 1 2 16 4096 0 0 0 3 64 1 1 3 0 0 1 go done later"
    );
    let count = words.split_ascii_whitespace().count();
    format!("{count} {words}")
}

fn full() -> String {
    let globals = "2 6 one 0x400 64 2 0 0 two 0x800 64 0 1 1";
    let pipes = "1 5 pipe 1 0 32 8";
    let mappings = "1 10 outer inner 0 0x40 1 0 32 8 0 1";
    let sideband = "1 outer 2 3 0 0 8 1 8 8";
    let memories = "2 10 DDR 2 1 2 0 134217728 0 - 0 - 10 USM 0 1 2 0 134217728 0 - 0 -";
    let board = board(&format!(
        "{memories} {pipes} 0 {globals} 1 {mappings} {sideband} 1"
    ));
    format!("{board} {}", kernel())
}

#[test]
fn what_the_library_writes_itself_is_taken() {
    let read = present(&board(&format!("{MEMORY} {NOTHING} 0"))).unwrap();
    let wanted = Present {
        board: "toy".into(),
        memories: std::iter::once(0..128 << 20).collect(),
        first_kernel: None,
    };
    assert_eq!(read, wanted);
    let old = "14 toy2 acc 0 2 1024 0 1073741824 1073741824 2147483648 0 1 \
        red 4096 512 0 0 0 4 1 2 1 1 4 0 1024 0 0 4 1 0 one\\20two 1 0 2048 64 1 1 4294967295 2";
    let read = present(&upgrade(old).unwrap()).unwrap();
    // Two banks are one memory.
    assert_eq!(read.memories, std::slice::from_ref(&(0..2 << 30)));
    assert_eq!(read.first_kernel, Some(4096));
}

#[test]
fn all_that_the_form_has_is_read() {
    let read = present(&full()).unwrap();
    // The host's memory is not the board's.
    assert_eq!(read.memories, std::slice::from_ref(&(0..128 << 20)));
    assert_eq!(read.first_kernel, Some(4096));
    // Without a ring the registers cannot be reached.
    let without = full().replace("0 1 1 1 1 10 outer", "0 1 1 0 1 10 outer");
    assert_ne!(without, full());
    assert_eq!(present(&without).unwrap().first_kernel, None);
}

#[test]
fn a_text_that_ends_early_is_refused_wherever_it_ends() {
    let text = full();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    for length in 0..words.len() {
        let error = present(&words[..length].join(" ")).unwrap_err();
        // A count may say that words are missing.
        assert!(error.place <= length + 1, "{length}: {error}");
    }
    assert!(present("").unwrap_err().to_string().contains("word 1: "));
}

#[test]
fn what_ends_the_program_is_named() {
    let of = |from: &str, to: &str| {
        let text = full();
        assert!(text.contains(from), "{from}");
        present(&text.replacen(from, to, 1))
            .unwrap_err()
            .to_string()
    };
    for (from, to, what) in [
        ("23 ", "24 ", "the version is 24, not 23"),
        ("23 ", "14 ", "the version is 14, not 23"),
        ("toy 0 2 10", "toy 2 2 10", "order of bytes"),
        ("toy 0 2 10", "toy 0 0 10", "0 memories"),
        ("toy 0 2 10", "toy 0 33 10", "33 memories"),
        ("toy 0 2 10", "toy 0 -1 10", "number of memories is -1"),
        ("DDR 2 1 2", "DDR 3 1 2", "a memory of kind 3"),
        ("DDR 2 1 2", "DDR 2 0 2", "a memory without banks"),
        ("DDR 2 1 2", "DDR 2 99999 2", "number of banks is 99999"),
        ("2 0 134217728", "2 0 134217729", "to 0x8000001"),
        ("2 0 134217728", "2 134217728 0", "from 0x8000000 to 0x0"),
        ("0x400", "xyz", "\"xyz\" is not a number"),
        ("64 2 0 0 two", "64 4 0 0 two", "access 4"),
        ("0 0 two", "0 0 one", "two device globals \"one\""),
        ("outer 2 3", "outer 1 3", "1 sideband signals"),
        ("0 0 1 0 1 0 4", "0 0 0 1 1 0 4", "varies by group"),
        ("8 2 1 8 1024 1 DDR", "8 4 1 8 1024 1 DDR", "of space 4"),
        ("8 2 1 8 1024 1 DDR", "8 2 3 8 1024 1 DDR", "category 3"),
        ("8 2 1 8 1024 1 DDR", "8 2 1 0 1024 1 DDR", "0 bytes"),
        ("9 1 1 4 1 0 16", "9 1 1 2 1 0 16", "2 bytes"),
        ("3 64 1 1 3", "4 64 1 1 3", "4 sizes"),
        (
            "4096 256 1",
            "9999999999 256 1",
            "\"9999999999\" is not a number",
        ),
    ] {
        let error = of(from, to);
        assert!(error.contains(what), "{what:?}: {error}");
    }
}

#[test]
fn a_group_that_says_too_little_is_refused_where_the_runtime_asserts_it() {
    // The kernel's words end before its argument's: the argument has one more to skip then.
    let words = "3 vecadd 4096 256 1 0 0 1 0 1 0 1 9 2 1 8 1024 0 0 0 later 0";
    let with_kernel = board(&format!("{MEMORY} {NOTHING} 1"));
    let error = present(&format!("{with_kernel} {words}")).unwrap_err();
    assert!(
        error.to_string().contains("more words than its count"),
        "{error}"
    );
    // A mapping with a count of no words; the runtime reads its words nevertheless.
    let mapping = "0 0 0 0 0 1 1 0 outer inner 0 0x40 1 0 32 8 0";
    let error = present(&board(&format!("{MEMORY} {mapping} 0"))).unwrap_err();
    assert!(
        error.to_string().contains("more words than its count"),
        "{error}"
    );
    // A count of the board's words that is too small does not matter where nothing is skipped.
    let few = board(&format!("{MEMORY} {NOTHING} 0")).replacen("23 24", "23 8", 1);
    assert!(few.starts_with("23 8 "));
    let without = few.replacen(" 0 0 0 0 0 1 0 0 0 0", " 0 0 0", 1);
    assert!(present(&without).is_ok(), "{:?}", present(&without));
}
