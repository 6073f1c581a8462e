//! Text helpers that emitters share.

/// Cuts a text into lines of at most `width` characters, broken at spaces. An empty line stays one.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Wraps a doc text for rustdoc, and escapes text that looks like a link or a tag.
pub(super) fn rustdoc(text: &str, width: usize) -> Vec<String> {
    let mut plain = String::new();
    let mut code = false;
    for c in text.chars() {
        code ^= c == '`';
        if !code && matches!(c, '[' | ']' | '<' | '*') {
            plain.push('\\');
        }
        plain.push(c);
    }
    wrap(&plain, width)
}

/// Returns `snake_case` or `UPPER_CASE` as `CamelCase`.
pub(super) fn camel(name: &str) -> String {
    name.split('_')
        .map(|part| {
            let mut chars = part.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase());
            first
                .into_iter()
                .chain(chars.map(|c| c.to_ascii_lowercase()))
                .collect::<String>()
        })
        .collect()
}

/// Returns the name of a field's port or constant: register and field joined, the register alone if the field is called
/// `value`.
pub(super) fn joined(register: &str, field: &str) -> String {
    let register = register.to_ascii_lowercase();
    match field {
        "value" => register,
        _ => format!("{register}_{field}"),
    }
}

/// Returns the bits of a range as `7` or `15:8`.
pub(super) fn bits(msb: u32, lsb: u32) -> String {
    if msb == lsb {
        lsb.to_string()
    } else {
        format!("{msb}:{lsb}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a\n\nb", 7), ["a", "", "b"]);
        assert_eq!(wrap("longword x", 4), ["longword", "x"]);
    }

    #[test]
    fn rustdoc_is_plain() {
        assert_eq!(
            rustdoc("a[0] `b[1]` x << y", 80),
            ["a\\[0\\] `b[1]` x \\<\\< y"]
        );
    }

    #[test]
    fn names() {
        assert_eq!(camel("status_code"), "StatusCode");
        assert_eq!(camel("KIB_64"), "Kib64");
        assert_eq!(joined("MAP_ID", "value"), "map_id");
        assert_eq!(joined("CONTROL", "enable"), "control_enable");
        assert_eq!(bits(7, 7), "7");
        assert_eq!(bits(15, 8), "15:8");
    }
}
