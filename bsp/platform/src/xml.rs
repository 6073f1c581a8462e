//! XML with the byte offset of everything, and edits by byte range.
//!
//! Platform Designer's files are rewritten by splicing whole elements or attribute values, so that
//! every byte which an edit does not name stays as it was: mixed line ends, odd spacing, comments.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::hint::Hint;
use crate::text::{self, BYTE_ORDER_MARK};

/// Deepest nesting of elements. Files of Platform Designer have four levels.
const MOST_DEPTH: usize = 64;
/// Most elements and attributes of a file. The largest systems of public BSPs have ten thousand.
const MOST_NODES: usize = 500_000;
/// Most attributes of an element. Files of Platform Designer have ten.
const MOST_ATTRIBUTES: usize = 256;

/// An attribute with the place of its value.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Value with entities resolved.
    pub value: String,
    /// Bytes of the raw value, without the quotes.
    pub span: Range<usize>,
}

/// An element with its place.
#[derive(Debug, Clone)]
pub struct Element {
    /// Tag name.
    pub name: String,
    /// Attributes in file order.
    pub attributes: Vec<Attribute>,
    /// Child elements in file order.
    pub children: Vec<Arc<Element>>,
    /// Own text and CDATA, concatenated.
    pub text: String,
    /// Bytes of the first CDATA section's content, if it has one.
    pub cdata: Option<Range<usize>>,
    /// Bytes from `<` of the start tag to `>` of the end tag.
    pub span: Range<usize>,
    /// Bytes between the start tag and the end tag; `None` for `<x />`.
    pub content: Option<Range<usize>>,
}

impl Element {
    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|a| a.name == name)
            .map(|a| a.value.as_str())
    }

    /// Returns an attribute with its place.
    pub fn attribute_at(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.name == name)
    }

    /// Iterates over the child elements of one tag name, for callers that store them.
    pub fn shared_children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Arc<Element>> {
        self.children.iter().filter(move |c| c.name == name)
    }

    /// Iterates over the child elements of one tag name.
    pub fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.shared_children(name).map(|c| &**c)
    }
}

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its path, for messages.
    pub path: PathBuf,
    /// The file as read.
    pub source: String,
    /// Its only outermost element.
    pub root: Element,
    /// Line ends before each block of the file.
    lines: Lines,
}

impl Document {
    /// Reads and parses a file.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`] if it is not well-formed XML, with the line; those of [`text::read`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, text::read_as(path, ErrorKind::BadXml)?)
    }

    /// Parses text that came from `path`.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`], with the line.
    pub fn parse(path: &Path, source: String) -> Result<Self> {
        let lines = Lines::of(&source);
        let root = Parser::new(path, &source, &lines).run()?;
        Ok(Self {
            path: path.to_path_buf(),
            source,
            root,
            lines,
        })
    }

    /// Returns the line of a byte offset, counted from 1.
    pub fn line_of(&self, offset: usize) -> usize {
        self.lines.at(&self.source, offset)
    }

    /// Returns the place of an element.
    pub fn place(&self, element: &Element) -> Place {
        Place::line(&self.path, self.line_of(element.span.start))
    }

    /// Returns the line end in use just after `offset`.
    pub fn line_end_after(&self, offset: usize) -> &'static str {
        match self.source[offset..].find('\n') {
            Some(at) if self.source[..offset + at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// Returns the span of an element together with its indentation and line end, if it has its lines to itself.
    pub fn whole_lines(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.source[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.source[span.end..]
            .find('\n')
            .map_or(self.source.len(), |at| span.end + at + 1);
        let alone = |part: &str| part.chars().all(char::is_whitespace);
        if alone(&self.source[start..span.start]) && alone(&self.source[span.end..end]) {
            start..end
        } else {
            span.clone()
        }
    }
}

/// Finds the line of a byte without counting from the start of the file.
#[derive(Debug, Clone)]
struct Lines(Vec<usize>);

impl Lines {
    const BLOCK: usize = 4096;

    fn of(source: &str) -> Self {
        let mut count = 0;
        let before = source.as_bytes().chunks(Self::BLOCK).map(|block| {
            let before = count;
            count += line_ends(block);
            before
        });
        Self(before.collect())
    }

    fn at(&self, source: &str, offset: usize) -> usize {
        let offset = offset.min(source.len());
        let block = (offset / Self::BLOCK).min(self.0.len().saturating_sub(1));
        let before = self.0.get(block).copied().unwrap_or(0);
        before + line_ends(&source.as_bytes()[block * Self::BLOCK..offset]) + 1
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}

fn bad(path: &Path, line: Option<usize>, what: String) -> Error {
    Error::new(
        ErrorKind::BadXml,
        Place {
            path: path.to_path_buf(),
            line,
        },
        what,
        Hint::of_input(path),
    )
}

/// State of reading a file.
struct Parser<'a> {
    path: &'a Path,
    source: &'a str,
    lines: &'a Lines,
    /// Elements that are not closed yet.
    open: Vec<Element>,
    root: Option<Element>,
    nodes: usize,
}

impl<'a> Parser<'a> {
    fn new(path: &'a Path, source: &'a str, lines: &'a Lines) -> Self {
        Self {
            path,
            source,
            lines,
            open: Vec::new(),
            root: None,
            nodes: 0,
        }
    }

    fn fail(&self, at: usize, what: impl Into<String>) -> Error {
        let line = self.lines.at(self.source, at);
        bad(self.path, Some(line), what.into())
    }

    fn run(mut self) -> Result<Element> {
        // The reader would skip a byte order mark, and count from the byte after it.
        let text = self.source.trim_start_matches(BYTE_ORDER_MARK);
        let skipped = self.source.len() - text.len();
        let offset = |position: u64| skipped + offset(position);
        let mut reader = Reader::from_str(text);
        loop {
            let start = offset(reader.buffer_position());
            let event = reader.read_event().map_err(|e| {
                self.fail(
                    offset(reader.error_position()),
                    format!("not well-formed XML ({e})"),
                )
            })?;
            let end = offset(reader.buffer_position());
            match event {
                Event::Start(tag) => {
                    let mut element = self.element(&tag, start..end)?;
                    element.content = Some(end..end);
                    self.open.push(element);
                }
                Event::Empty(tag) => {
                    let element = self.element(&tag, start..end)?;
                    self.close(element)?;
                }
                Event::End(_) => {
                    let Some(mut element) = self.open.pop() else {
                        return Err(self.fail(start, "an end tag without a start"));
                    };
                    element.span.end = end;
                    element.content = element.content.map(|c| c.start..start);
                    self.close(element)?;
                }
                Event::Text(text) => {
                    let text = text.decode().map_err(|e| self.fail(start, e.to_string()))?;
                    match self.open.last_mut() {
                        Some(element) => element.text.push_str(&text),
                        None if text.trim().is_empty() => {}
                        None => return Err(self.fail(start, "text outside any XML element")),
                    }
                }
                Event::CData(data) => {
                    let span = within(self.source, &data);
                    let Some(element) = self.open.last_mut() else {
                        return Err(self.fail(start, "CDATA outside any XML element"));
                    };
                    element.text.push_str(&self.source[span.clone()]);
                    element.cdata.get_or_insert(span);
                }
                Event::GeneralRef(name) => {
                    let resolved = match name.resolve_char_ref() {
                        Ok(Some(c)) => c.to_string(),
                        _ => quick_xml::escape::resolve_predefined_entity(
                            &String::from_utf8_lossy(&name),
                        )
                        .ok_or_else(|| self.fail(start, "an unknown entity"))?
                        .to_string(),
                    };
                    if let Some(element) = self.open.last_mut() {
                        element.text.push_str(&resolved);
                    }
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Eof => break,
            }
        }
        if let Some(element) = self.open.last() {
            let what = format!(
                "the file ends inside <{}> (opened in line {}): it is truncated",
                element.name,
                self.lines.at(self.source, element.span.start)
            );
            return Err(self.fail(self.source.len(), what));
        }
        self.root
            .ok_or_else(|| bad(self.path, None, "no XML element in the file".into()))
    }

    /// Adds a finished element to the innermost open one.
    fn close(&mut self, mut element: Element) -> Result<()> {
        element.children.shrink_to_fit();
        element.text.shrink_to_fit();
        match self.open.last_mut() {
            Some(parent) => parent.children.push(Arc::new(element)),
            None if self.root.is_some() => {
                return Err(self.fail(element.span.start, "a second outermost element"));
            }
            None => self.root = Some(element),
        }
        Ok(())
    }

    fn element(&mut self, tag: &BytesStart<'_>, span: Range<usize>) -> Result<Element> {
        let wrong = |what: String| self.fail(span.start, what);
        if self.open.len() >= MOST_DEPTH {
            return Err(wrong(format!("more than {MOST_DEPTH} nested elements")));
        }
        let mut attributes = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|e| wrong(format!("bad attribute ({e})")))?;
            let value = attribute
                .unescape_value()
                .map_err(|e| wrong(format!("bad attribute value ({e})")))?;
            if attributes.len() >= MOST_ATTRIBUTES {
                return Err(wrong(format!("more than {MOST_ATTRIBUTES} attributes")));
            }
            attributes.push(Attribute {
                name: String::from_utf8_lossy(attribute.key.as_ref()).into_owned(),
                value: value.into_owned(),
                span: within(self.source, &attribute.value),
            });
        }
        attributes.shrink_to_fit();
        self.nodes += 1 + attributes.len();
        if self.nodes > MOST_NODES {
            return Err(self.fail(
                span.start,
                format!("more than {MOST_NODES} elements and attributes in the file"),
            ));
        }
        Ok(Element {
            name: String::from_utf8_lossy(tag.name().as_ref()).into_owned(),
            attributes,
            children: Vec::new(),
            text: String::new(),
            cdata: None,
            span,
            content: None,
        })
    }
}

/// Returns the range in `source` of a slice that the reader borrowed from it.
fn within(source: &str, part: &[u8]) -> Range<usize> {
    let start = part.as_ptr() as usize - source.as_ptr() as usize;
    debug_assert!(start + part.len() <= source.len());
    start..start + part.len()
}

fn offset(position: u64) -> usize {
    usize::try_from(position).expect("a file that is in memory has offsets of usize")
}

/// Changes to one file, stored as byte ranges and applied at once.
#[derive(Debug, Default, Clone)]
pub struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Replaces the bytes of `span` by `text`.
    pub fn replace(&mut self, span: Range<usize>, text: impl Into<String>) {
        self.0.push((span, text.into()));
    }

    /// Removes the bytes of `span`.
    pub fn delete(&mut self, span: Range<usize>) {
        self.replace(span, "");
    }

    /// Inserts `text` before the byte at `at`.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Reports whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the changed text of a file. Insertions at one place keep their order.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], with the line, if two edits want the same bytes.
    pub fn apply(mut self, path: &Path, source: &str) -> Result<String> {
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let mut out = String::with_capacity(source.len() + 4096);
        let mut at = 0;
        for (span, text) in &self.0 {
            if span.start < at {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    Place::line(path, 1 + line_ends(&source.as_bytes()[..span.start])),
                    "two changes of the extension overlap in the element that begins here",
                    "Open the file in Platform Designer and save it; if that does not help, report the error with the \
                     BSP.",
                ));
            }
            out.push_str(&source[at..span.start]);
            out.push_str(text);
            at = span.end;
        }
        out.push_str(&source[at..]);
        Ok(out)
    }
}

/// Escapes text for an attribute value.
pub fn escape(value: &str) -> String {
    quick_xml::escape::escape(value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document> {
        Document::parse(Path::new("x.qsys"), text.into())
    }

    #[test]
    fn spans_name_the_bytes_they_should() {
        let text = "<?xml version=\"1.0\"?>\r\n<a>\r\n <b k='1 &lt; 2' j=\"x\"/>\n \
                    <c><![CDATA[t{\r\n}]]></c>é</a>\n";
        let d = parse(text).unwrap();
        let b = &d.root.children[0];
        assert_eq!(&text[b.span.clone()], "<b k='1 &lt; 2' j=\"x\"/>");
        assert_eq!(b.attribute("k"), Some("1 < 2"));
        assert_eq!(&text[b.attribute_at("k").unwrap().span.clone()], "1 &lt; 2");
        assert_eq!(
            &text[d.whole_lines(&b.span)],
            " <b k='1 &lt; 2' j=\"x\"/>\n"
        );
        let c = &d.root.children[1];
        assert_eq!(&text[c.cdata.clone().unwrap()], "t{\r\n}");
        assert_eq!(&text[c.content.clone().unwrap()], "<![CDATA[t{\r\n}]]>");
        assert_eq!(d.line_of(c.span.start), 4);
        assert_eq!(d.line_end_after(b.span.start), "\n");
        assert_eq!(d.line_end_after(0), "\r\n");
    }

    #[test]
    fn bad_xml_is_refused_with_a_line() {
        for (text, line) in [
            ("<a>\n<b>\n", Some(3)),
            ("<a>\n</b>\n</a>", Some(2)),
            ("plain words\n", Some(1)),
            ("", None),
            ("<a/>\n<b/>", Some(2)),
            ("<a>\n<b k=></b></a>", Some(2)),
            ("<a>\n<b k=\"", Some(2)),
        ] {
            let e = parse(text).expect_err(text);
            assert_eq!(e.kind, ErrorKind::BadXml, "{text}");
            assert_eq!(e.place.line, line, "{text}: {e}");
        }
    }

    #[test]
    fn edits_leave_the_rest_alone() {
        let mut e = Edits::default();
        e.insert(5, "B");
        e.delete(1..3);
        e.insert(5, "C");
        assert_eq!(e.apply(Path::new("x"), "01234567").unwrap(), "034BC567");
        assert!(Edits::default().is_empty());
    }

    #[test]
    fn edits_that_meet_are_an_error_with_the_line() {
        let mut e = Edits::default();
        e.delete(2..6);
        e.replace(4..5, "x");
        let e = e.apply(Path::new("x"), "0\n2\n4567").unwrap_err();
        assert_eq!((e.kind, e.place.line), (ErrorKind::Unsupported, Some(3)));
    }

    #[test]
    fn what_no_platform_designer_writes_is_refused_with_its_line() {
        let deep = |n: usize| format!("\n{}{}", "<a>".repeat(n), "</a>".repeat(n));
        assert!(parse(&deep(MOST_DEPTH)).is_ok());
        let attributes: String = (0..300).map(|n| format!(" a{n}=\"\"")).collect();
        for (text, words) in [
            (deep(MOST_DEPTH + 1), "nested elements"),
            (deep(1_000_000), "nested elements"),
            (format!("\n<a{attributes}/>"), "256 attributes"),
            (
                format!("\n<a>{}</a>", "<b/>".repeat(MOST_NODES)),
                "elements and attributes",
            ),
        ] {
            let e = parse(&text).unwrap_err();
            assert_eq!((e.kind, e.place.line), (ErrorKind::BadXml, Some(2)), "{e}");
            assert!(e.what.to_string().contains(words), "{e}");
        }
    }

    #[test]
    fn lines_are_counted_across_blocks() {
        let text = format!("<a>{}<b/></a>", "12345\n".repeat(3000));
        let d = parse(&text).unwrap();
        assert_eq!(d.line_of(d.root.children[0].span.start), 3001);
        assert_eq!((d.line_of(3), d.line_of(text.len() + 9)), (1, 3001));
    }

    proptest::proptest! {
        /// Deleting any element leaves exactly the bytes before and after it.
        #[test]
        fn splice_is_exact(names in proptest::collection::vec("[a-z]{1,6}", 1..8), pick in 0usize..8,
                           crlf in proptest::bool::ANY) {
            let eol = if crlf { "\r\n" } else { "\n" };
            let body: String = names.iter().map(|n| format!("  <{n} v=\"{n}\"/>{eol}")).collect();
            let text = format!("<r>{eol}{body}</r>{eol}");
            let d = parse(&text).unwrap();
            let pick = pick % names.len();
            let mut edits = Edits::default();
            edits.delete(d.whole_lines(&d.root.children[pick].span));
            let want: String = names.iter().enumerate().filter(|(i, _)| *i != pick)
                .map(|(_, n)| format!("  <{n} v=\"{n}\"/>{eol}")).collect();
            proptest::prop_assert_eq!(edits.apply(Path::new("x"), &text).unwrap(), format!("<r>{eol}{want}</r>{eol}"));
        }
    }
}
