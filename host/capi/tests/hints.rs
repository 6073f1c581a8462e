//! Hints for errors are read by programs in C, Python and Rust: they must not use names of only one of these.

use peerlane_core::descriptor::Direction;
use peerlane_core::fault::Fault;

const HEADER: &str = include_str!("../include/libpeerlane.h");
/// This document has the driver's parameters.
const DRIVER: &str = include_str!("../../../docs/operate/driver.md");

/// Returns the strings of a source, without its tests.
fn strings(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap();
    let mut found = Vec::new();
    let mut letters = source.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                letters.by_ref().find(|letter| *letter == '\n');
            }
            '"' => {
                let mut text = String::new();
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    match letter {
                        '\\' if letters.peek() == Some(&'\n') => {
                            while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
                        }
                        '\\' => text.extend(letters.next()),
                        letter => text.push(letter),
                    }
                }
                found.push(text);
            }
            _ => {}
        }
    }
    found
}

/// Returns a word of a text that only programs in Rust understand.
fn foreign(text: &str) -> Option<String> {
    if text.contains("::") || text.contains("()") {
        return Some(text.into());
    }
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let strange = |word: &&str| {
        let dropped = word.to_ascii_lowercase();
        let of_rust = dropped == "drop" || dropped == "drops" || dropped == "dropped";
        // A name of code: the header's, a parameter of the driver's, or one of OpenCL's, the kernel's or PyTorch's.
        let name = word.contains('_') && word.chars().all(|letter| !letter.is_ascii_uppercase());
        let known = HEADER.contains(*word) || DRIVER.contains(*word);
        let others = word.starts_with("cl_") || ["port_dead", "expandable_segments"].contains(word);
        of_rust || name && !known && !others
    };
    words
        .filter(|word| !word.is_empty())
        .find(strange)
        .map(str::to_owned)
}

#[test]
fn hints_of_faults_name_nothing_of_rust() {
    for fault in Fault::ALL {
        for direction in [Direction::FromFpga, Direction::ToFpga] {
            let hint = fault.hint(direction);
            assert_eq!(foreign(hint), None, "{fault:?}: {hint}");
        }
    }
}

#[test]
fn hints_of_errors_name_nothing_of_rust() {
    let sources = [
        (include_str!("../../src/error/hint.rs"), 70),
        (include_str!("../../gpu/src/error.rs"), 50),
        (include_str!("../../../driver/core/src/refusal.rs"), 4),
    ];
    for (source, least) in sources {
        let strings = strings(source);
        assert!(strings.len() > least, "{strings:?}");
        for text in strings {
            assert_eq!(foreign(&text), None, "{text}");
        }
    }
    // Texts that the check finds.
    for text in [
        "Use Queue::restart.",
        "Its drop gives it back.",
        "Call restart() again.",
        "By release_read_quarantine.",
    ] {
        assert!(foreign(text).is_some(), "{text}");
    }
    for text in [
        "Call pl_queue_restart.",
        "The driver's user_entries.",
        "A droplet.",
    ] {
        assert_eq!(foreign(text), None, "{text}");
    }
}
