//! An XML file as a tree that can be changed, and written in many spellings.

use super::random::Random;

/// An element.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Node>,
    pub text: String,
}

impl Node {
    pub fn new(name: &str, attributes: &[(&str, &str)]) -> Self {
        let attributes = attributes.iter();
        Self {
            name: name.into(),
            attributes: attributes
                .map(|(n, v)| (n.to_string(), v.to_string()))
                .collect(),
            ..Self::default()
        }
    }

    pub fn parse(text: &str) -> Self {
        let document = roxmltree::Document::parse(text).unwrap();
        Self::of(document.root_element())
    }

    fn of(node: roxmltree::Node<'_, '_>) -> Self {
        Self {
            name: node.tag_name().name().into(),
            attributes: (node.attributes())
                .map(|a| (a.name().to_string(), a.value().to_string()))
                .collect(),
            children: (node.children().filter(|n| n.is_element()))
                .map(Self::of)
                .collect(),
            text: (node
                .children()
                .filter_map(|n| n.is_text().then(|| n.text()).flatten()))
            .filter(|text| !text.trim().is_empty())
            .collect(),
        }
    }

    pub fn get(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub fn set(&mut self, name: &str, value: &str) {
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value.into(),
            None => self.attributes.push((name.into(), value.into())),
        }
    }

    /// Returns the value of a `<parameter>`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let all = self.children.iter().filter(|c| c.name == "parameter");
        let found = all.clone().find(|p| p.get("name") == name)?;
        Some(found.get("value")).filter(|v| !v.is_empty() || found.text.is_empty())
    }

    pub fn set_parameter(&mut self, name: &str, value: &str) {
        let mut all = self.children.iter_mut().filter(|c| c.name == "parameter");
        match all.find(|p| p.get("name") == name) {
            Some(parameter) => parameter.set("value", value),
            None => {
                let new = Node::new("parameter", &[("name", name), ("value", value)]);
                self.children.push(new);
            }
        }
    }
}

/// The spelling of a file. Options that are on are random.
#[derive(Clone)]
pub struct Style {
    pub seed: u64,
    pub comments: bool,
    pub foreign_bytes: bool,
    pub entities: bool,
    pub spaces: bool,
    pub attribute_order: bool,
    pub cdata: bool,
    pub one_line: bool,
}

impl Style {
    /// Returns the spelling of Platform Designer.
    pub fn plain() -> Self {
        Self {
            seed: 0,
            comments: false,
            foreign_bytes: false,
            entities: false,
            spaces: false,
            attribute_order: false,
            cdata: false,
            one_line: false,
        }
    }
}

/// Texts in comments, where they mean nothing.
const COMMENTS: [&str; 7] = [
    " moved in 2014 ",
    "",
    " <module kind=\"acl_dma\" version=\"1.0\" enabled=\"1\" name=\"dma_old\" /> ",
    " </system> ]]> ",
    " & < > \" ' ",
    "\n  more\n  than a line\n ",
    " <connection kind=\"avalon\" version=\"1\" start=\"a.m\" end=\"b.s\" /> ",
];

/// Writes a tree.
pub fn write(root: &Node, style: &Style) -> Vec<u8> {
    let mut writer = Writer {
        random: Random::new(style.seed),
        style,
        out: Vec::new(),
    };
    if style.spaces && writer.random.one_in(3) {
        writer.push("<?xml version='1.0' encoding=\"UTF-8\" ?>");
    } else {
        writer.push("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    }
    writer.line(0);
    writer.comment(0);
    writer.element(root, 0);
    writer.line(0);
    writer.out
}

struct Writer<'a> {
    random: Random,
    style: &'a Style,
    out: Vec<u8>,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn chance(&mut self, on: bool, n: usize) -> bool {
        on && self.random.one_in(n)
    }

    fn line(&mut self, depth: usize) {
        if self.style.one_line {
            return;
        }
        self.push("\n");
        let extra = match self.style.spaces {
            true => *self.random.pick(&["", "", " ", "\t", "    ", "\n"]),
            false => "",
        };
        self.push(&" ".repeat(depth));
        self.push(extra);
    }

    fn comment(&mut self, depth: usize) {
        if !self.chance(self.style.comments, 8) {
            return;
        }
        let words = *self.random.pick(&COMMENTS);
        self.push("<!--");
        self.push(words);
        if self.style.foreign_bytes {
            // "für" in ISO 8859-1, which is not UTF-8.
            self.out.extend_from_slice(b" f\xfcr ");
        }
        self.push("-->");
        if self.random.one_in(2) {
            self.line(depth);
        }
    }

    fn space(&mut self) -> &'static str {
        match self.style.spaces {
            true => [" ", "  ", "\n   ", "\t"][self.random.below(4)],
            false => " ",
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let gap = self.space();
        self.push(gap);
        self.push(name);
        let around = match self.style.spaces {
            true => *self.random.pick(&["=", "=", "=", " = ", "= "]),
            false => "=",
        };
        self.push(around);
        let quote = match self.chance(self.style.spaces, 3) {
            true => '\'',
            false => '"',
        };
        self.push(&quote.to_string());
        for c in value.chars() {
            let text = match c {
                '&' => "&amp;".into(),
                '<' => "&lt;".into(),
                '"' => "&quot;".into(),
                '\'' => "&apos;".into(),
                '\n' => "&#10;".into(),
                '>' if !self.random.one_in(2) => "&gt;".into(),
                c if self.chance(self.style.entities, 20) => match self.random.one_in(2) {
                    true => format!("&#{};", u32::from(c)),
                    false => format!("&#x{:x};", u32::from(c)),
                },
                c => c.to_string(),
            };
            self.push(&text);
        }
        self.push(&quote.to_string());
    }

    fn element(&mut self, node: &Node, depth: usize) {
        let mut node = node.clone();
        if self.style.attribute_order {
            self.random.shuffle(&mut node.attributes);
        }
        if node.name == "parameter"
            && !node.get("value").is_empty()
            && self.chance(self.style.cdata, 20)
        {
            // As Platform Designer writes long values.
            node.text = node.get("value").into();
            node.attributes.retain(|(name, _)| name != "value");
        }
        self.push("<");
        self.push(&node.name);
        for (name, value) in &node.attributes {
            self.attribute(name, value);
        }
        if node.children.is_empty() && node.text.is_empty() {
            let end = match self.chance(self.style.spaces, 4) {
                true => format!("></{}>", node.name),
                false => " />".into(),
            };
            return self.push(&end);
        }
        self.push(">");
        if !node.text.is_empty() {
            self.text(&node);
        }
        for child in &node.children {
            self.line(depth + 1);
            self.comment(depth + 1);
            self.element(child, depth + 1);
        }
        if !node.children.is_empty() {
            self.line(depth);
        }
        let end = match self.chance(self.style.spaces, 6) {
            true => " >",
            false => ">",
        };
        self.push(&format!("</{}{end}", node.name));
    }

    fn text(&mut self, node: &Node) {
        // Platform Designer's notes are in CDATA.
        let always = node.get("name") == "bonusData";
        if (always || self.chance(self.style.cdata, 2)) && !node.text.contains("]]>") {
            return self.push(&format!("<![CDATA[{}]]>", node.text));
        }
        let text = node.text.replace('&', "&amp;").replace('<', "&lt;");
        self.push(&text.replace('>', "&gt;"));
    }
}
