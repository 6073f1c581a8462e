//! Documentation in Rust, as comments in C.

use std::collections::BTreeMap;

/// The header's names of the items that the documentation links to.
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    /// Collects the names of a source's constants, modules, structures and members.
    pub(crate) fn new(file: &syn::File) -> Self {
        let mut names = BTreeMap::new();
        let mut add = |rust: String, c: String| names.insert(rust, c);
        for item in &file.items {
            match item {
                syn::Item::Const(item) => {
                    let is_ioctl =
                        matches!(&*item.ty, syn::Type::Path(path) if path.path.is_ident("Ioctl"));
                    let infix = if is_ioctl { "IOC_" } else { "" };
                    add(
                        item.ident.to_string(),
                        format!("PEERLANE_{infix}{}", item.ident),
                    );
                }
                syn::Item::Mod(module) => {
                    let name = module.ident.to_string();
                    let prefix = format!("PEERLANE_{}_", name.to_ascii_uppercase());
                    for item in module.content.iter().flat_map(|(_, items)| items) {
                        if let syn::Item::Const(item) = item {
                            add(
                                format!("{name}::{}", item.ident),
                                format!("{prefix}{}", item.ident),
                            );
                        }
                    }
                    add(name, format!("{prefix}*"));
                }
                syn::Item::Struct(item) => {
                    let name = item.ident.to_string();
                    let c = format!("peerlane_{}", name.to_ascii_lowercase());
                    for field in item.fields.iter().filter_map(|field| field.ident.as_ref()) {
                        add(format!("{name}::{field}"), format!("{c}.{field}"));
                    }
                    add(name, format!("struct {c}"));
                }
                _ => {}
            }
        }
        Self(names)
    }

    fn of(&self, path: &str) -> Option<&str> {
        let path = path.trim_start_matches("super::").trim_matches('`');
        self.0.get(path).map(String::as_str)
    }
}

/// Returns text with links replaced by their targets' names, and without the marks of code. A link to an unknown item
/// is the error.
pub(crate) fn resolve(text: &str, names: &Names) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        out.push_str(before);
        let Some((shown, after)) = link.split_once("`]") else {
            return Err(link.chars().take(20).collect());
        };
        // `[`shown`](target)`, or `[`target`]`.
        let (target, after) = match after
            .strip_prefix('(')
            .and_then(|after| after.split_once(')'))
        {
            Some((target, after)) => (target, after),
            None => (shown, after),
        };
        out.push_str(names.of(target).ok_or(target)?);
        rest = after;
    }
    out.push_str(rest);
    // A text must not end its own comment.
    Ok(out.replace('`', "").replace("*/", "* /").replace('→', "to"))
}

/// Columns of a comment.
const WIDTH: usize = 92;

/// Returns a comment with these paragraphs, to be placed before its item.
pub(crate) fn comment(paragraphs: &[String], indent: &str) -> String {
    let width = WIDTH - 4 * indent.len();
    let mut lines = Vec::new();
    for paragraph in paragraphs.iter().filter(|text| !text.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.len() + 1 + word.len() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    match lines.as_slice() {
        [] => String::new(),
        [one] => format!("{indent}/* {one} */\n"),
        many => {
            let mut text = format!("{indent}/*\n");
            for line in many {
                let line = format!("{indent} * {line}");
                text.push_str(line.trim_end());
                text.push('\n');
            }
            text.push_str(&format!("{indent} */\n"));
            text
        }
    }
}
