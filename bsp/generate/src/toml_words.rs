//! Messages of the TOML reader, in words for the author of the file.

use std::ops::Range;

use peerlane_bsp_platform::text::either;

/// Converts the message of an error, and adds a suggestion; `span` is the place in the text.
pub fn words(message: &str, text: &str, span: Option<Range<usize>>) -> (String, Option<String>) {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, [key, known @ ..]) = (message.starts_with("unknown field"), quoted.as_slice()) {
        let meant = nearest(key, known).map(|meant| format!("Did you mean {meant}?"));
        return (format!("there is no key {key} here"), meant);
    }
    if let (true, [word, known @ ..]) = (message.starts_with("unknown variant"), quoted.as_slice())
    {
        let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
        let what = format!("`{word}` is not possible: it may be {}", either(&known));
        return (of_key(text, span, &what), None);
    }
    if let (true, [key]) = (message.starts_with("missing field"), quoted.as_slice()) {
        return (format!("the key {key} is missing"), None);
    }
    if message == "integer number overflowed" || message.ends_with("any valid TOML value") {
        let what = "not a number, or too large";
        return (of_key(text, span, what), None);
    }
    if message.starts_with("string values must be quoted") {
        let what = "not a value: a number, or a word in quotes";
        return (of_key(text, span, what), None);
    }
    if let (true, Some((key, line))) = (message == "duplicate key", twice(text, span.clone())) {
        let meant = match key.starts_with('[') {
            true => "Write it once, with the keys of both below it.",
            false => "Remove one of the two lines.",
        };
        return (
            format!("{key} is already in line {line}"),
            Some(meant.into()),
        );
    }
    if let Some((found, wanted)) = mistyped(&message) {
        let section = wanted_in_words(wanted) == "a section";
        let meant = key_at(text, span.clone()).filter(|_| section);
        let meant = meant.map(|key| {
            format!("Write [{key}] in a line of its own, and its keys with their values below it.")
        });
        let what = format!(
            "{} is expected, not {}",
            wanted_in_words(wanted),
            found_in_words(found)
        );
        return (of_key(text, span, &what), meant);
    }
    (message, None)
}

/// Splits `invalid type: string "x", expected i64` into the value that was found and the expected type.
fn mistyped(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("invalid type: ");
    let rest = rest.or_else(|| message.strip_prefix("invalid value: "))?;
    rest.rsplit_once(", expected ")
}

fn wanted_in_words(wanted: &str) -> &str {
    match wanted {
        "i64" | "u64" | "i32" | "u32" => "a whole number",
        "f64" => "a number",
        "a string" => "a word in quotes",
        "a sequence" => "a list",
        wanted if wanted.starts_with("struct ") || wanted == "a map" => "a section",
        wanted => wanted,
    }
}

fn found_in_words(found: &str) -> String {
    match found {
        "map" => "a section".into(),
        "sequence" => "a list".into(),
        found => match found.split_once(' ') {
            Some(("string", text)) => format!("the word {text}"),
            Some(("floating", _) | ("integer", _) | ("boolean", _)) => {
                let value = found.split('`').nth(1).unwrap_or(found);
                value.into()
            }
            _ => found.into(),
        },
    }
}

/// Returns the key or the section that is at these bytes and also in a line above, and that line.
fn twice(text: &str, span: Option<Range<usize>>) -> Option<(String, usize)> {
    let (above, rest) = text.split_at_checked(span?.start)?;
    let begin = above.rfind('\n').map_or(0, |at| at + 1);
    let name = |line: &str| {
        let line = line.trim();
        match line.starts_with('[') {
            true => line.split(']').next().map(|name| format!("{name}]")),
            false => line.split_once('=').map(|(key, _)| key.trim().to_string()),
        }
    };
    let line = &text[begin..above.len() + rest.find('\n').unwrap_or(rest.len())];
    let own = name(line)?;
    let mut found = None;
    for (n, line) in text[..begin].lines().enumerate() {
        // The same key in another section is another key.
        if line.trim_start().starts_with('[') && !own.starts_with('[') {
            found = None;
        }
        if name(line).as_deref() == Some(&own) {
            found = found.or(Some(n + 1));
        }
    }
    Some((own, found?))
}

/// Returns the key of the line with these bytes.
fn key_at(text: &str, span: Option<Range<usize>>) -> Option<&str> {
    let before = text.get(..span?.start)?;
    let line = &text[before.rfind('\n').map_or(0, |at| at + 1)..];
    let (key, _) = line.lines().next()?.split_once('=')?;
    let key = key.trim();
    (!key.is_empty() && !key.starts_with('#')).then_some(key)
}

/// Returns the message with the key of its line.
fn of_key(text: &str, span: Option<Range<usize>>, what: &str) -> String {
    match key_at(text, span) {
        Some(key) => format!("{key}: {what}"),
        None => what.into(),
    }
}

/// Returns the most similar word, if one is similar enough.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let best = known
        .iter()
        .copied()
        .min_by_key(|other| distance(word, other))?;
    (distance(word, best) <= 1 + word.len() / 4).then_some(best)
}

/// Returns the number of letters to add, remove or change to make one word from the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_apart() {
        for (a, b, far) in [
            ("", "", 0),
            ("", "abc", 3),
            ("chanels", "channels", 1),
            ("att_entrys", "att_entries", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), far, "{a} {b}");
            assert_eq!(distance(b, a), far, "{b} {a}");
        }
    }
}
