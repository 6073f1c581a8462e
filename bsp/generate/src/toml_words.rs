//! Words about a fault of a TOML file, for its author: from the text at the place.

use std::ops::Range;

/// Returns the message for a text that is not TOML: by the text itself if a fault that users make is there.
pub(crate) fn syntax(
    message: &str,
    text: &str,
    span: Option<Range<usize>>,
) -> (String, Option<String>) {
    let at = span.clone().unwrap_or_default().start;
    let (line, value) = text.split_at_checked(at).unwrap_or_default();
    let line = &line[line.rfind('\n').map_or(0, |at| at + 1)..];
    match line.split_once('=') {
        // A value without quotes.
        Some((_, before)) => {
            let is_word = value.starts_with(char::is_alphabetic);
            match before.trim().is_empty() && is_word {
                true => {
                    let what = "not a value: a number, or a word in quotes";
                    (of_key(text, span, what), None)
                }
                false => (message.into(), None),
            }
        }
        None => match twice(text, span) {
            Some((key, line)) => {
                let meant = match key.starts_with('[') {
                    true => "Write it once, with the keys of both below it.",
                    false => "Remove one of the two lines.",
                };
                (
                    format!("{key} is already in line {line}"),
                    Some(meant.into()),
                )
            }
            None => (message.into(), None),
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
    // A list has several sections of one name.
    let own = name(line).filter(|own| !own.starts_with("[["))?;
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
pub(crate) fn key_at(text: &str, span: Option<Range<usize>>) -> Option<&str> {
    let before = text.get(..span?.start)?;
    let line = &text[before.rfind('\n').map_or(0, |at| at + 1)..];
    let (key, _) = line.lines().next()?.split_once('=')?;
    let key = key.trim();
    (!key.is_empty() && !key.starts_with('#')).then_some(key)
}

/// Returns the message with the key of its line.
pub(crate) fn of_key(text: &str, span: Option<Range<usize>>, what: &str) -> String {
    match key_at(text, span) {
        Some(key) => format!("{key}: {what}"),
        None => what.into(),
    }
}

/// Returns the most similar word, if one is similar enough.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let best = known.min_by_key(|other| distance(word, other))?;
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
