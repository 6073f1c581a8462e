//! Files of a BSP as text, byte for byte.
//!
//! The files are UTF-8 except for old comments, which may be in any code page. A byte that is not UTF-8 becomes a
//! character that no file has, and becomes that byte again when the text is written.

use std::fs;
use std::path::Path;

use askama::Template;

use crate::error::{Error, ErrorKind, Place, Result};
use crate::hint::Hint;

/// Most bytes of a file that is read. The largest in public BSPs, a settings file or a system of Platform Designer, has
/// 600 KiB.
pub const MOST_BYTES: u64 = 8 << 20;

/// The character of byte 0. Supplementary Private Use Area-B ends with the 256 characters from here on (The Unicode
/// Standard, 23.5); those for bytes above 0x7f are used.
const FOREIGN: u32 = 0x10_fe00;

/// The character that some editors put at the beginning of a file in UTF-8.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a file as bytes.
///
/// # Errors
/// [`ErrorKind::Link`] if it is not a plain file: a read of a named pipe would wait, a device may never end.
/// [`ErrorKind::Unsupported`] if it is larger than [`MOST_BYTES`]; [`ErrorKind::Io`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let hint = "Remove it from the BSP, or replace it by the file that it represents.";
    read_at_most(path, MOST_BYTES, hint)
}

fn read_at_most(path: &Path, most: u64, hint: &str) -> Result<Vec<u8>> {
    let about = fs::metadata(path).map_err(|e| Error::io(path, "read the file", &e))?;
    if !about.is_file() {
        return Err(Error::new(
            ErrorKind::Link,
            Place::file(path),
            "not a plain file or a link to one",
            hint,
        ));
    }
    if about.len() > most {
        return Err(Error::new(
            ErrorKind::Unsupported,
            Place::file(path),
            format!("{} bytes; this file can have {most} at most", about.len()),
            "Put the right file there.",
        ));
    }
    fs::read(path).map_err(|e| Error::io(path, "read the file", &e))
}

/// Reads a file that a user writes, as text: up to 1 MiB.
///
/// # Errors
/// Those of [`read`].
pub fn read_small(path: &Path) -> Result<String> {
    let bytes = read_at_most(path, 1 << 20, "Give the name of a file.")?;
    text(path, bytes)
}

/// Reads a file as text.
///
/// # Errors
/// Those of [`read_bytes`], and [`ErrorKind::Unsupported`] with the line if the file has a byte 0, or one of the
/// characters that stand for foreign bytes.
pub fn read(path: &Path) -> Result<String> {
    read_as(path, ErrorKind::Unsupported)
}

/// Reads a file as text; `kind` is the kind of the error for a byte 0.
///
/// # Errors
/// Those of [`read`].
pub fn read_as(path: &Path, kind: ErrorKind) -> Result<String> {
    let bytes = read_bytes(path)?;
    // A file with a byte 0 is UTF-16, or not one that Quartus reads. Faults in a file that is not read would not be
    // found.
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        let lines = bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
        return Err(Error::new(
            kind,
            Place::line(path, 1 + lines),
            "a byte 0: the file is in UTF-16, or is not text",
            Hint::of_input(path),
        ));
    }
    text(path, bytes)
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String> {
    decode(bytes).map_err(|line| {
        Error::new(
            ErrorKind::Unsupported,
            Place::line(path, line),
            "a character that is reserved for bytes that are not UTF-8 (U+10FE80 to U+10FEFF)",
            "Remove the character, which only a comment can have.",
        )
    })
}

/// Converts bytes to text.
///
/// # Errors
/// The line with a reserved character.
pub fn decode(bytes: Vec<u8>) -> std::result::Result<String, usize> {
    let mut text = String::new();
    let mut line = 1;
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        if let Some((at, _)) = valid.char_indices().find(|(_, c)| byte(*c).is_some()) {
            return Err(line + valid[..at].matches('\n').count());
        }
        line += valid.matches('\n').count();
        if valid.len() == bytes.len() {
            break;
        }
        text.push_str(valid);
        text.extend(chunk.invalid().iter().map(|&b| character(b)));
    }
    // Nearly always all of it is UTF-8, and nothing is copied.
    Ok(String::from_utf8(bytes).unwrap_or(text))
}

fn character(byte: u8) -> char {
    char::from_u32(FOREIGN + u32::from(byte)).expect("all of them are characters")
}

fn byte(character: char) -> Option<u8> {
    let byte = u32::from(character).checked_sub(FOREIGN)?;
    u8::try_from(byte).ok().filter(|&b| b >= 0x80)
}

/// Converts text to the bytes that it was read from.
pub fn encode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// Formats lines; consecutive ones become a range.
pub fn ranges(lines: &[usize]) -> Vec<String> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 >= line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    let text = |(first, last)| match first == last {
        true => format!("{first}"),
        false => format!("{first}–{last}"),
    };
    ranges.into_iter().map(text).collect()
}

/// Formats alternatives: `a, b or c`.
pub fn either<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        words => words.concat(),
    }
}

/// Renders a template. Templates are checked when this crate is compiled, and writing to a string does not fail. The
/// template engine drops the last line end of a file.
pub fn render(template: &impl Template) -> String {
    let mut text = template
        .render()
        .expect("a compiled template renders into a string");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_follow_each_other_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), ["1–3", "5", "7–8"]);
        assert!(ranges(&[]).is_empty());
    }

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).chain(*b"plain \xc3\xa9\xff\xc3").collect();
        let text = decode(bytes.clone()).unwrap();
        assert!(text.contains("plain é"));
        assert_eq!(encode(&text), bytes);
        assert_eq!(decode(b"a\n\xc3\xa9".to_vec()).unwrap(), "a\né");
    }

    #[test]
    fn what_could_be_mistaken_for_a_foreign_byte_is_refused() {
        for before in ["a\n\n", "\u{10fe7f}\n\n"] {
            let text = format!("{before}b{}", character(0xe4));
            assert_eq!(decode(text.clone().into_bytes()), Err(3));
            let mixed = [b"\xff".to_vec(), text.into_bytes()].concat();
            assert_eq!(decode(mixed), Err(3));
        }
    }

    #[test]
    fn only_plain_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("endless");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert_eq!(read(&link).unwrap_err().kind, ErrorKind::Link);
        let large = dir.path().join("large");
        fs::File::create(&large)
            .unwrap()
            .set_len(MOST_BYTES + 1)
            .unwrap();
        assert_eq!(read(&large).unwrap_err().kind, ErrorKind::Unsupported);
    }
}
