//! Reads the files of an extended BSP, for the check alone.
//!
//! These readers share nothing with the readers of the extension: a misunderstanding there must not be repeated here.
//! They are small because they change nothing.

pub mod component;
pub mod design;
pub mod search;
pub mod settings;
pub mod tcl;
pub mod vendor;

use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::text;

/// Deepest nesting of elements.
const MOST_DEPTH: usize = 32;
/// Most elements of a file.
const MOST_ELEMENTS: usize = 300_000;
/// Most attributes of an element: the names are compared with each other.
const MOST_ATTRIBUTES: usize = 200;

/// An element of an XML file.
#[derive(Debug, Default)]
pub struct Node {
    /// Tag.
    pub tag: String,
    /// Names and values of its attributes.
    attributes: Vec<(String, String)>,
    /// Elements inside.
    pub inside: Vec<Node>,
    /// Text inside.
    text: String,
    /// Line of its start tag, counted from 1.
    pub line: usize,
}

impl Node {
    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Iterates over the names of its attributes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the text inside, without spaces around it.
    pub fn text(&self) -> &str {
        self.text.trim()
    }

    /// Iterates over the elements inside that have a tag.
    pub fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Node> {
        self.inside.iter().filter(move |node| node.tag == tag)
    }

    /// Iterates over names and values of `<parameter>` elements, in either spelling.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all("parameter").filter_map(|node| {
            let value = node.get("value").unwrap_or(node.text.trim());
            Some((node.get("name")?, value))
        })
    }
}

/// Reads an XML file.
///
/// # Errors
/// [`ErrorKind::BadXml`] with the line; those of [`text::read`].
pub fn xml(path: &Path) -> Result<Node> {
    parse(&text::read_as(path, ErrorKind::BadXml)?).map_err(|(line, what)| {
        Error::new(
            ErrorKind::BadXml,
            Place::line(path, line),
            what,
            Hint::of_result(path),
        )
    })
}

/// Parses the text of an XML file; on failure returns the line and the fault there.
pub fn parse(source: &str) -> std::result::Result<Node, (usize, String)> {
    // The reader skips a byte order mark, but does not count it.
    let source = source.trim_start_matches('\u{feff}');
    let mut reader = Reader::from_str(source);
    // The outermost element becomes a child of this one.
    let mut open = vec![Node::default()];
    let (mut line, mut counted, mut elements) = (1, 0, 0);
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(source.len());
        line += source[counted..at].matches('\n').count();
        counted = at;
        let fail =
            |what: &dyn std::fmt::Display| Err((line, format!("not well-formed XML ({what})")));
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(e) => return fail(&e),
        };
        let innermost = open.len() - 1;
        match event {
            Event::Start(tag) | Event::Empty(tag)
                if innermost >= MOST_DEPTH || elements >= MOST_ELEMENTS =>
            {
                return fail(&format!(
                    "too much of <{}>",
                    String::from_utf8_lossy(tag.name().0)
                ));
            }
            Event::Start(tag) => {
                elements += 1;
                open.push(node(&tag, line).or_else(|e| fail(&e))?);
            }
            Event::Empty(tag) => {
                elements += 1;
                let node = node(&tag, line).or_else(|e| fail(&e))?;
                open[innermost].inside.push(node);
            }
            Event::End(_) => {
                let Some(node) = open.pop() else {
                    return fail(&"an end without a start");
                };
                let Some(outer) = open.last_mut() else {
                    return fail(&"an end without a start");
                };
                outer.inside.push(node);
            }
            Event::Text(text) => match text.decode() {
                Ok(text) => open[innermost].text.push_str(&text),
                Err(e) => return fail(&e),
            },
            Event::CData(text) => match text.decode() {
                Ok(text) => open[innermost].text.push_str(&text),
                Err(e) => return fail(&e),
            },
            Event::GeneralRef(reference) => match character(&reference) {
                Some(c) => open[innermost].text.push(c),
                None => return fail(&"a reference to an unknown entity"),
            },
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    let mut open = open.into_iter();
    match (open.next(), open.next()) {
        (Some(mut all), None) if all.inside.len() == 1 => {
            Ok(all.inside.pop().expect("there is one"))
        }
        (_, Some(node)) => Err((line, format!("the file ends inside <{}>", node.tag))),
        _ => Err((line, "the number of outermost elements is not one".into())),
    }
}

/// Returns the character of a reference: one of XML's five names, or a number.
fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Some(c) = reference.resolve_char_ref().ok()? {
        return Some(c);
    }
    match reference.decode().ok()?.as_ref() {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

fn node(tag: &BytesStart<'_>, line: usize) -> std::result::Result<Node, String> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        let value = attribute.unescape_value().map_err(|e| e.to_string())?;
        let name = String::from_utf8_lossy(attribute.key.0).into_owned();
        attributes.push((name, value.into_owned()));
        if attributes.len() > MOST_ATTRIBUTES {
            return Err("too many attributes".into());
        }
    }
    attributes.shrink_to_fit();
    Ok(Node {
        tag: String::from_utf8_lossy(tag.name().0).into_owned(),
        attributes,
        line,
        ..Node::default()
    })
}

/// Reads a number as Platform Designer writes it.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.get(..2) {
        Some("0x" | "0X") => u64::from_str_radix(&text[2..], 16).ok(),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_their_lines() {
        let root = parse("<?xml version=\"1.0\"?>\n<a>\n<b k='1&amp;'/> <!-- \n -->\n<c\n x=''>\n<parameter name='p'> 3\n</parameter></c></a>\n").unwrap();
        let lines: Vec<_> = root
            .inside
            .iter()
            .map(|n| (n.tag.as_str(), n.line))
            .collect();
        assert_eq!((root.line, lines), (2, vec![("b", 3), ("c", 5)]));
        assert_eq!(root.inside[0].get("k"), Some("1&"));
        assert_eq!(
            root.inside[1].parameters().collect::<Vec<_>>(),
            [("p", "3")]
        );
    }

    #[test]
    fn text_in_any_spelling() {
        let root = parse("<a><parameter name='p'><![CDATA[0x1]]>0&#48;&#x30;&lt;</parameter></a>")
            .unwrap();
        assert_eq!(root.parameters().collect::<Vec<_>>(), [("p", "0x1000<")]);
        assert!(parse("<a>&what;</a>").is_err());
    }

    #[test]
    fn what_is_not_xml_is_refused() {
        let deep = "<a>".repeat(1_000_000);
        for (text, line) in [
            ("", 1),
            ("<a>\n<b></a>", 2),
            ("<a>\n", 2),
            ("<a/>\n<b/>\n", 3),
            (&deep, 1),
            ("</a>", 1),
        ] {
            assert_eq!(
                parse(text).unwrap_err().0,
                line,
                "{}",
                &text[..text.len().min(20)]
            );
        }
    }
}
