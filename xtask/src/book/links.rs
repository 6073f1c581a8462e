//! The links and headings of a Markdown document.

use std::{collections::HashMap, ops::Range};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A Markdown document.
pub(super) struct Document {
    text: String,
    /// The names under which links find places in it.
    names: Vec<String>,
}

/// A link or a picture.
pub(super) struct Link<'a> {
    /// As it is written.
    pub(super) target: &'a str,
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    pub(super) is_picture: bool,
    /// Place of the whole link, in bytes.
    place: Range<usize>,
    /// Place of the text or picture that it shows.
    shown: Range<usize>,
}

impl Link<'_> {
    /// Reports whether it leads to another site.
    pub(super) fn is_elsewhere(&self) -> bool {
        let scheme = self.target.split(['/', '#', '?']).next();
        scheme.is_some_and(|scheme| scheme.contains(':'))
    }

    /// Returns the file, if it is not that of the document itself.
    pub(super) fn path(&self) -> &str {
        self.target.split('#').next().unwrap_or("")
    }

    /// Returns the heading.
    pub(super) fn heading(&self) -> Option<&str> {
        self.target.split_once('#').map(|(_, heading)| heading)
    }
}

impl Document {
    pub(super) fn new(text: String) -> Self {
        let names = names(&text);
        Self { text, names }
    }

    /// Reports whether links find a place in it under this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Returns the links that are written out in the text, in order; not those in code.
    pub(super) fn links(&self) -> impl Iterator<Item = Link<'_>> {
        let mut links: Vec<Link<'_>> = Vec::new();
        // The index of each open link.
        let mut open: Vec<usize> = Vec::new();
        for (event, place) in parser(&self.text).into_offset_iter() {
            // Text within an open link is the text that it shows.
            if let (Some(index), false) = (open.last(), is_end_of_link(&event)) {
                let shown = &mut links[*index].shown;
                *shown = shown.start.min(place.start)..shown.end.max(place.end);
            }
            match event {
                Event::Start(tag @ (Tag::Link { .. } | Tag::Image { .. })) => {
                    open.push(links.len());
                    let written = &self.text[place.clone()];
                    let target = written
                        .rfind("](")
                        .map_or("", |begin| written[begin + 2..].trim_end_matches(')'));
                    links.push(Link {
                        target: target.split(' ').next().unwrap_or(""),
                        line: self.text[..place.start].lines().count().max(1)
                            + usize::from(self.text[..place.start].ends_with('\n')),
                        is_picture: matches!(tag, Tag::Image { .. }),
                        shown: place.end..place.start,
                        place,
                    });
                }
                Event::End(TagEnd::Link | TagEnd::Image) => {
                    open.pop();
                }
                _ => {}
            }
        }
        // Links by reference and in angle brackets have no target of their own here.
        links.into_iter().filter(|link| !link.target.is_empty())
    }

    /// Returns the text with other targets; for a link without a new target, only the text that it shows stays.
    pub(super) fn with_links(&self, mut turn: impl FnMut(&Link<'_>) -> Option<String>) -> String {
        let mut text = self.text.clone();
        let links: Vec<_> = self.links().collect();
        // From the end, so that places stay valid.
        for link in links.iter().rev() {
            let shown = self.text.get(link.shown.clone()).unwrap_or("");
            let mark = if link.is_picture { "!" } else { "" };
            let written = match turn(link) {
                Some(target) => format!("{mark}[{shown}]({target})"),
                None => shown.to_owned(),
            };
            text.replace_range(link.place.clone(), &written);
        }
        text
    }
}

fn is_end_of_link(event: &Event<'_>) -> bool {
    matches!(event, Event::End(TagEnd::Link | TagEnd::Image))
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
}

/// Returns the names that are given outright, and those of all headings, as forges and mdBook make them: lower case,
/// without punctuation, hyphens for spaces, a number at the end of a repeated one.
fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut current: Option<String> = None;
    for event in parser(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => current = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(current) = &mut current {
                    current.push_str(&words);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let ids = html.split("id=\"").skip(1);
                names.extend(ids.filter_map(|id| id.split('"').next()).map(str::to_owned));
            }
            Event::End(TagEnd::Heading(_)) => {
                let mut name: String = current.take().unwrap_or_default().to_lowercase();
                name = name.trim().replace(' ', "-");
                name.retain(|c| c.is_alphanumeric() || c == '-' || c == '_');
                let before = seen.entry(name.clone()).or_default();
                names.push(match *before {
                    0 => name,
                    number => format!("{name}-{number}"),
                });
                *before += 1;
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<(String, usize, bool)> {
        let document = Document::new(text.to_owned());
        let links = document.links();
        links
            .map(|link| (link.target.to_owned(), link.line, link.is_picture))
            .collect()
    }

    #[test]
    fn links_are_found_where_they_are_links() {
        let text = "[a](x.md) and `[b](y.md)`\n\n```\n[c](z.md)\n```\n\n| [d](u.md#v) |\n| --- |\n\
                    | ![e](p.svg \"title\") |\n";
        assert_eq!(
            targets(text),
            [
                ("x.md".to_owned(), 1, false),
                ("u.md#v".to_owned(), 7, false),
                ("p.svg".to_owned(), 9, true),
            ]
        );
    }

    #[test]
    fn targets_are_turned() {
        let document =
            Document::new("A [*b* `c`](x.md#y), ![d](p.svg) and [e](z.rs).\n".to_owned());
        let text = document.with_links(|link| match link.path() {
            "z.rs" => None,
            path => Some(format!("up/{path}")),
        });
        assert_eq!(text, "A [*b* `c`](up/x.md), ![d](up/p.svg) and e.\n");
    }

    #[test]
    fn places_have_names() {
        let text = "# The block (`peerlane_dma`)\n\n## A, b: c\n\n## A, b: c\n\n\
                    ```\n# not one\n```\n\n\
                    <a id=\"named\"></a>\n\nand <span id=\"here\">here</span>\n";
        let document = Document::new(text.to_owned());
        assert_eq!(
            document.names,
            [
                "the-block-peerlane_dma",
                "a-b-c",
                "a-b-c-1",
                "named",
                "here"
            ]
        );
    }
}
