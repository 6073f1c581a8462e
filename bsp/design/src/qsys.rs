//! A Platform Designer system (`.qsys`): instances, connections, exported interfaces, and the edits
//! that change them in place.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::roles::{NEW_DMA, OLD_DMA};
use peerlane_bsp_platform::xml::{Document, Edits, Element, escape};

/// One end of a connection: `instance.interface`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct End {
    /// Instance name; empty for an export that names none.
    pub instance: String,
    /// Interface of the instance.
    pub interface: String,
}

impl End {
    /// Makes an end from `instance` and `interface`.
    pub fn new(instance: &str, interface: &str) -> Self {
        Self {
            instance: instance.into(),
            interface: interface.into(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (instance, interface) = text.split_once('.')?;
        Some(Self::new(instance, interface))
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.instance, self.interface)
    }
}

/// An instance of a component.
#[derive(Debug, Clone)]
pub struct Module {
    /// Component kind, `altera_avalon_mm_bridge` for example.
    pub kind: String,
    /// Instance name.
    pub name: String,
    /// The element.
    pub element: Arc<Element>,
}

impl Module {
    /// Returns a parameter's value, from the attribute or the element's text.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let p = self
            .element
            .children("parameter")
            .find(|p| p.attribute("name") == Some(name))?;
        Some(p.attribute("value").unwrap_or(&p.text))
    }

    /// Reports whether Platform Designer generates it.
    pub fn is_enabled(&self) -> bool {
        !matches!(self.element.attribute("enabled"), Some("0" | "false"))
    }

    /// Returns a parameter that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        number(self.parameter(name)?)
    }
}

/// A connection between two instances.
#[derive(Debug, Clone)]
pub struct Connection {
    /// `avalon`, `clock`, `reset`, `interrupt`, `conduit`, …
    pub kind: String,
    /// Version attribute, which new connections next to it repeat.
    pub version: String,
    /// Master, or source.
    pub start: End,
    /// Slave, or sink.
    pub end: End,
    /// Base address of an `avalon` connection.
    pub base: Option<u64>,
    /// The element.
    pub element: Arc<Element>,
}

impl Connection {
    /// Returns the end that it joins to a given end, if that is one of its two.
    pub fn other_end(&self, end: &End) -> Option<&End> {
        match (self.start == *end, self.end == *end) {
            (true, _) => Some(&self.end),
            (_, true) => Some(&self.start),
            _ => None,
        }
    }
}

/// An interface of the whole system, passed on from an instance.
#[derive(Debug, Clone)]
pub struct Export {
    /// Name outside.
    pub name: String,
    /// Interface inside; Platform Designer leaves stale exports without an instance.
    pub internal: Option<End>,
    /// Whether it is left over from an interface that is gone: Platform Designer keeps such a line without a type.
    pub stale: bool,
}

/// A parsed system.
#[derive(Debug, Clone)]
pub struct System {
    /// The file.
    pub document: Document,
    /// The kind that this file defines: its name without `.qsys`.
    pub kind: String,
    /// Instances in file order.
    pub modules: Vec<Module>,
    /// Connections in file order.
    pub connections: Vec<Connection>,
    /// Exports in file order.
    pub exports: Vec<Export>,
    /// Connections of disabled instances.
    pub dormant: Vec<Connection>,
}

impl System {
    /// Reads a `.qsys` file.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`] with the line, [`ErrorKind::Io`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_document(Document::read(path)?)
    }

    /// Converts a parsed document into a system.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`] if the outermost element is not a `<system>`, an instance or a connection lacks a name, or
    /// two instances have the same one.
    pub fn from_document(document: Document) -> Result<Self> {
        let root = &document.root;
        if root.name != "system" {
            return Err(Error::new(
                ErrorKind::BadXml,
                document.place(root),
                format!("the outermost element is <{}>, not <system>", root.name),
                "Take the .qsys file from the vendor's BSP package again.",
            ));
        }
        let need = |element: &Element, name: &str| -> Result<String> {
            element.attribute(name).map(str::to_string).ok_or_else(|| {
                Error::new(
                    ErrorKind::BadXml,
                    document.place(element),
                    format!("<{}> has no attribute \"{name}\"", element.name),
                    "Open and save the system in Platform Designer, or take it from the vendor's \
                     BSP package again.",
                )
            })
        };
        let end = |element: &Element, name: &str| -> Result<End> {
            let text = need(element, name)?;
            End::parse(&text).ok_or_else(|| {
                Error::new(
                    ErrorKind::BadXml,
                    document.place(element),
                    format!("{name}=\"{text}\" is not of the form instance.interface"),
                    "Open and save the system in Platform Designer, or take it from the vendor's \
                     BSP package again.",
                )
            })
        };
        let (mut modules, mut names) = (Vec::new(), BTreeSet::new());
        for element in root.shared_children("module") {
            let (kind, name) = (need(element, "kind")?, need(element, "name")?);
            if !names.insert(name.clone()) {
                return Err(Error::new(
                    ErrorKind::BadXml,
                    document.place(element),
                    format!("instance {name} exists twice"),
                    "Rename or remove one of the two in Platform Designer.",
                ));
            }
            modules.push(Module {
                kind,
                name,
                element: Arc::clone(element),
            });
        }
        let mut connections = Vec::new();
        for element in root.shared_children("connection") {
            let said = element
                .children("parameter")
                .find(|p| p.attribute("name") == Some("baseAddress"))
                .map(|p| p.attribute("value").unwrap_or(&p.text))
                .filter(|text| !text.trim().is_empty());
            let base = said.and_then(number);
            if let (Some(said), None) = (said, base) {
                return Err(Error::new(
                    ErrorKind::BadXml,
                    document.place(element),
                    format!("the base address \"{said}\" is not a number"),
                    "Write it as 0x and hexadecimal digits, in Platform Designer.",
                ));
            }
            connections.push(Connection {
                kind: need(element, "kind")?,
                version: element.attribute("version").unwrap_or("13.1").to_string(),
                start: end(element, "start")?,
                end: end(element, "end")?,
                base,
                element: Arc::clone(element),
            });
        }
        let mut exports = Vec::new();
        for element in root.children("interface") {
            let internal = element
                .attribute("internal")
                .and_then(End::parse)
                .filter(|end| !end.instance.is_empty());
            exports.push(Export {
                name: need(element, "name")?,
                internal,
                stale: element.attribute("type").is_none(),
            });
        }
        let kind = document
            .path
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned())
            .unwrap_or_default();
        Ok(Self {
            kind,
            modules,
            connections,
            exports,
            dormant: Vec::new(),
            document,
        })
    }

    /// Returns the system as Platform Designer generates it: without disabled instances, except those that `keep`
    /// selects.
    pub fn generated(mut self, keep: impl Fn(&Module) -> bool) -> Self {
        let off = |module: &Module| !module.is_enabled() && !keep(module);
        let (gone, stays): (Vec<_>, Vec<_>) = self.modules.into_iter().partition(off);
        let is_gone = |end: &End| gone.iter().any(|module| module.name == end.instance);
        let (dormant, connections) =
            (self.connections.into_iter()).partition(|c| is_gone(&c.start) || is_gone(&c.end));
        self.exports
            .retain(|e| !e.internal.as_ref().is_some_and(is_gone));
        (self.modules, self.connections, self.dormant) = (stays, connections, dormant);
        self
    }

    /// Reports whether it has a DMA block, the old one or the new one.
    pub fn has_dma(&self) -> bool {
        let kinds = [OLD_DMA, NEW_DMA];
        self.modules
            .iter()
            .any(|m| kinds.contains(&m.kind.as_str()))
    }

    /// Returns the instance of that name.
    pub fn module(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|m| m.name == name)
    }

    /// Iterates over the connections of one kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Connection> {
        self.connections.iter().filter(move |c| c.kind == kind)
    }

    /// Returns the place of an instance.
    pub fn place(&self, module: &Module) -> Place {
        self.document.place(&module.element)
    }

    /// Returns the export of an instance, or of one of its interfaces.
    pub fn exported(&self, instance: &str, interface: Option<&str>) -> Option<&Export> {
        self.exports.iter().find(|e| {
            e.internal.as_ref().is_some_and(|end| {
                end.instance == instance && interface.is_none_or(|i| end.interface == i)
            })
        })
    }

    /// Removes an element together with its lines.
    pub fn remove(&self, edits: &mut Edits, element: &Element) {
        edits.delete(self.document.whole_lines(&element.span));
    }

    /// Sets a parameter of an instance; adds it after the last one if the instance lacks it.
    pub fn set_parameter(&self, edits: &mut Edits, module: &Module, name: &str, value: &str) {
        let found = module
            .element
            .children("parameter")
            .find(|p| p.attribute("name") == Some(name));
        if let Some(parameter) = found {
            if let Some(attribute) = parameter.attribute_at("value") {
                edits.replace(attribute.span.clone(), escape(value));
            } else if let Some(content) = &parameter.content {
                edits.replace(content.clone(), escape(value));
            } else {
                let span = parameter.span.clone();
                edits.replace(span, parameter_text(name, value));
            }
        } else if let Some(last) = module.element.children.last() {
            let eol = self.document.line_end_after(last.span.end);
            edits.insert(
                last.span.end,
                format!("{eol}  {}", parameter_text(name, value)),
            );
        }
    }

    /// Returns the text of an instance without parameters that replaces another one.
    pub fn module_text(&self, at: &Element, kind: &str, version: &str, name: &str) -> String {
        let eol = self.document.line_end_after(at.span.start);
        let tag = Tag::new("module")
            .with("kind", kind)
            .with("version", version)
            .with("enabled", "1")
            .with("name", name);
        format!("{} />", tag.text(eol, " />".len()))
    }

    /// Returns the text of an instance with parameters that follows `at`, with the line end before it.
    pub fn instance_text(
        &self,
        at: &Element,
        kind: &str,
        version: &str,
        name: &str,
        parameters: &[(&str, String)],
    ) -> String {
        let eol = self.document.line_end_after(at.span.end);
        let tag = Tag::new("module")
            .with("kind", kind)
            .with("version", version)
            .with("enabled", "1")
            .with("name", name);
        let mut text = format!("{eol} {}>", tag.text(eol, 1));
        for (name, value) in parameters {
            text += &format!("{eol}  {}", parameter_text(name, value));
        }
        text + eol + " </module>"
    }

    /// Exports an interface of an instance, after the other exports.
    pub fn export(&self, edits: &mut Edits, name: &str, internal: &End, kind: &str, dir: &str) {
        let root = &self.document.root;
        let tag = Tag::new("interface")
            .with("name", name)
            .with("internal", &internal.to_string())
            .with("type", kind)
            .with("dir", dir);
        let (at, is_after) = match (
            root.children("interface").last(),
            root.children("module").next(),
        ) {
            (Some(last), _) => (last.span.end, true),
            (None, Some(first)) => (first.span.start, false),
            (None, None) => return,
        };
        let eol = self.document.line_end_after(at);
        let text = format!("{} />", tag.text(eol, " />".len()));
        match is_after {
            true => edits.insert(at, format!("{eol} {text}")),
            false => edits.insert(at, format!("{text}{eol} ")),
        }
    }

    /// Returns the text of a connection that follows `at`, with the line end before it.
    pub fn connection_text(&self, at: &Element, new: &NewConnection<'_>) -> String {
        let eol = self.document.line_end_after(at.span.end);
        let tag = Tag::new("connection")
            .with("kind", new.kind)
            .with("version", new.version)
            .with("start", &new.start.to_string())
            .with("end", &new.end.to_string());
        let parameters = new.parameters();
        if parameters.is_empty() {
            return format!("{eol} {} />", tag.text(eol, " />".len()));
        }
        let mut text = format!("{eol} {}>", tag.text(eol, 1));
        for (name, value) in parameters {
            text += &format!("{eol}  {}", parameter_text(name, &value));
        }
        text + eol + " </connection>"
    }
}

/// A new connection.
#[derive(Debug, Clone)]
pub struct NewConnection<'a> {
    /// Kind.
    pub kind: &'a str,
    /// Version attribute.
    pub version: &'a str,
    /// Master or source.
    pub start: End,
    /// Slave or sink.
    pub end: End,
    /// Base address, for `avalon`.
    pub base: Option<u64>,
}

impl NewConnection<'_> {
    /// Returns the parameters that Platform Designer writes for a connection of this kind, with their defaults.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        match (self.kind, self.base) {
            ("avalon", Some(base)) => vec![
                ("arbitrationPriority", "1".into()),
                ("baseAddress", address(base)),
                ("defaultConnection", "false".into()),
            ],
            ("interrupt", _) => vec![("irqNumber", "0".into())],
            // All wires of each conduit.
            ("conduit", _) => vec![
                ("endPort", String::new()),
                ("endPortLSB", "0".into()),
                ("startPort", String::new()),
                ("startPortLSB", "0".into()),
                ("width", "0".into()),
            ],
            _ => Vec::new(),
        }
    }
}

/// Formats an address as Platform Designer writes it.
fn address(base: u64) -> String {
    if base > u64::from(u32::MAX) {
        format!("0x{base:016x}")
    } else if base > 0xffff {
        format!("0x{base:08x}")
    } else {
        format!("0x{base:04x}")
    }
}

fn parameter_text(name: &str, value: &str) -> String {
    format!(
        "<parameter name=\"{}\" value=\"{}\" />",
        escape(name),
        escape(value)
    )
}

/// A start tag in Platform Designer's layout: on one line if it fits in 80 columns, else with one attribute in each
/// line.
struct Tag {
    name: &'static str,
    attributes: Vec<String>,
}

impl Tag {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: Vec::new(),
        }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.attributes
            .push(format!("{name}=\"{}\"", escape(value)));
        self
    }

    fn text(&self, eol: &str, closing: usize) -> String {
        let line = format!("<{} {}", self.name, self.attributes.join(" "));
        if line.len() + 1 + closing <= 80 {
            line
        } else {
            let gap = format!("{eol}   ");
            format!("<{}{gap}{}", self.name, self.attributes.join(&gap))
        }
    }
}

/// Reads a number as Platform Designer writes it: decimal or `0x…`.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(text: &str) -> System {
        System::from_document(Document::parse(Path::new("s.qsys"), text.into()).unwrap()).unwrap()
    }

    const TEXT: &str = "<system name=\"s\">\r\n <interface name=\"old\" internal=\".x\" />\r\n \
        <module kind=\"k\" version=\"1\" enabled=\"1\" name=\"m\">\r\n  \
        <parameter name=\"A\" value=\"0x10\" />\r\n  <parameter name=\"B\">12</parameter>\r\n \
        </module>\r\n <connection kind=\"avalon\" version=\"13.1\" start=\"m.a\" end=\"m.b\">\r\n  \
        <parameter name=\"baseAddress\" value=\"0x0000000200000000\" />\r\n \
        </connection>\r\n</system>\r\n";

    #[test]
    fn reads_instances_connections_and_parameters() {
        let s = system(TEXT);
        assert_eq!(s.kind, "s");
        let m = s.module("m").unwrap();
        assert_eq!(
            (m.number("A"), m.number("B"), m.number("C")),
            (Some(16), Some(12), None)
        );
        assert_eq!(s.connections[0].base, Some(0x2_0000_0000));
        assert_eq!(s.connections[0].end, End::new("m", "b"));
        assert!(s.exports[0].internal.is_none());
    }

    #[test]
    fn sets_parameters_in_each_spelling_and_adds_missing_ones() {
        let s = system(TEXT);
        let m = s.module("m").unwrap();
        let mut e = Edits::default();
        s.set_parameter(&mut e, m, "A", "1");
        s.set_parameter(&mut e, m, "B", "2");
        s.set_parameter(&mut e, m, "C", "3");
        let changed = e.apply(Path::new("s"), TEXT).unwrap();
        let m = system(&changed);
        let m = m.module("m").unwrap();
        assert_eq!(
            (m.number("A"), m.number("B"), m.number("C")),
            (Some(1), Some(2), Some(3))
        );
        assert!(
            !changed.replace("\r\n", "").contains('\n'),
            "line ends are kept"
        );
    }

    #[test]
    fn long_connections_are_wrapped_as_platform_designer_does() {
        let s = system(TEXT);
        let new = NewConnection {
            kind: "avalon",
            version: "13.1",
            start: End::new("dma_0", "mem_rd"),
            end: End::new("acl_memory_bank_divider_0", "s"),
            base: Some(0x4_0000),
        };
        let text = s.connection_text(&s.connections[0].element, &new);
        let want = "\r\n <connection\r\n   kind=\"avalon\"\r\n   version=\"13.1\"\r\n   \
                    start=\"dma_0.mem_rd\"\r\n   end=\"acl_memory_bank_divider_0.s\">\r\n  \
                    <parameter name=\"arbitrationPriority\" value=\"1\" />\r\n  \
                    <parameter name=\"baseAddress\" value=\"0x00040000\" />\r\n  \
                    <parameter name=\"defaultConnection\" value=\"false\" />\r\n </connection>";
        assert_eq!(text, want);
    }

    #[test]
    fn each_kind_of_connection_has_its_parameters() {
        let s = system(TEXT);
        let text = |kind: &'static str| {
            let new = NewConnection {
                kind,
                version: "13.1",
                start: End::new("m", "a"),
                end: End::new("n", "b"),
                base: None,
            };
            s.connection_text(&s.connections[0].element, &new)
        };
        let head = |kind: &str| {
            format!("\r\n <connection kind=\"{kind}\" version=\"13.1\" start=\"m.a\" end=\"n.b\"")
        };
        assert_eq!(text("clock"), head("clock") + " />");
        let irq = ">\r\n  <parameter name=\"irqNumber\" value=\"0\" />\r\n </connection>";
        assert_eq!(text("interrupt"), head("interrupt") + irq);
        // As in a system of Quartus 13.1.
        let whole = ">\r\n  <parameter name=\"endPort\" value=\"\" />\r\n  \
                     <parameter name=\"endPortLSB\" value=\"0\" />\r\n  \
                     <parameter name=\"startPort\" value=\"\" />\r\n  \
                     <parameter name=\"startPortLSB\" value=\"0\" />\r\n  \
                     <parameter name=\"width\" value=\"0\" />\r\n </connection>";
        assert_eq!(text("conduit"), head("conduit") + whole);
    }

    #[test]
    fn a_file_that_is_no_system_is_refused() {
        let d = Document::parse(Path::new("s.qsys"), "<library />".into()).unwrap();
        assert_eq!(
            System::from_document(d).unwrap_err().kind,
            ErrorKind::BadXml
        );
    }
}
