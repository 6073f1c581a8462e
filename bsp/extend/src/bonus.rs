//! Platform Designer's `bonusData`: its own notes about instances, inside a CDATA section. Stale entries do no harm,
//! but an edited system should not name removed instances.

use std::ops::Range;

use peerlane_bsp_platform::xml::{Document, Edits};

/// An `element NAME { … }` block.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    name: String,
    /// From the start of its first line to the start of the line after it.
    lines: Range<usize>,
}

/// Finds the blocks in `text`, which starts at byte `offset` of the file. The result is empty if the braces do not
/// match: then the section is left as it is.
fn blocks(text: &str, offset: usize) -> Vec<Block> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut open: Option<(String, usize)> = None;
    let mut at = offset;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if depth == 1
            && open.is_none()
            && let Some(name) = words.strip_prefix("element ")
        {
            open = Some((name.to_string(), at));
        }
        match words {
            "{" => depth += 1,
            "}" => {
                let Some(less) = depth.checked_sub(1) else {
                    return Vec::new();
                };
                depth = less;
                if depth == 1
                    && let Some((name, start)) = open.take()
                {
                    let lines = start..at + line.len();
                    found.push(Block { name, lines });
                }
            }
            _ => {}
        }
        at += line.len();
    }
    if depth == 0 { found } else { Vec::new() }
}

/// A base address to note for a slave of an instance.
#[derive(Debug)]
pub struct Base {
    /// `instance.interface`.
    pub slave: String,
    /// Address.
    pub base: u64,
}

/// Drops the entries of removed instances and interfaces, and adds entries for new slaves after the first of `after`
/// whose entry stays. Returns whether there was a change.
pub fn update(
    document: &Document,
    edits: &mut Edits,
    removed: impl Fn(&str) -> bool,
    after: &[String],
    new: &[Base],
) -> bool {
    let Some(span) = document
        .root
        .children("parameter")
        .find(|p| p.attribute("name") == Some("bonusData"))
        .and_then(|p| p.cdata.clone())
    else {
        return false;
    };
    let found = blocks(&document.source[span.clone()], span.start);
    let mut changed = false;
    for block in &found {
        if removed(&block.name) {
            edits.delete(block.lines.clone());
            changed = true;
        }
    }
    let stays = |name: &String| found.iter().find(|b| b.name == *name && !removed(name));
    if let Some(block) = after.iter().find_map(stays) {
        let eol = document.line_end_after(block.lines.start);
        for Base { slave, base } in new {
            let lines = [
                format!("   element {slave}"),
                "   {".into(),
                "      datum baseAddress".into(),
                "      {".into(),
                format!("         value = \"{base}\";"),
                "         type = \"String\";".into(),
                "      }".into(),
                "   }".into(),
            ];
            let text: String = lines.iter().map(|l| format!("{l}{eol}")).collect();
            edits.insert(block.lines.end, text);
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TEXT: &str = "<s><parameter name=\"bonusData\"><![CDATA[bonusData \r\n{\r\n   \
        element a\r\n   {\r\n      datum x\r\n      {\r\n      }\r\n   }\r\n   element a.csr\r\n   \
        {\r\n   }\r\n   element b\r\n   {\r\n   }\r\n}\r\n]]></parameter></s>";

    #[test]
    fn drops_and_adds_whole_blocks() {
        let d = Document::parse(Path::new("x"), TEXT.into()).unwrap();
        let mut e = Edits::default();
        let new = [Base {
            slave: "a.chan".into(),
            base: 4096,
        }];
        assert!(update(
            &d,
            &mut e,
            |n| n == "b",
            &["b".into(), "a.csr".into()],
            &new
        ));
        let out = e.apply(Path::new("x"), TEXT).unwrap();
        assert!(!out.contains("element b"));
        assert!(!out.replace("\r\n", "").contains('\n'));
        let inner = Document::parse(Path::new("x"), out).unwrap();
        let span = inner.root.children[0].cdata.clone().unwrap();
        let names: Vec<_> = blocks(&inner.source[span.clone()], span.start)
            .into_iter()
            .map(|b| b.name)
            .collect();
        assert_eq!(names, ["a", "a.csr", "a.chan"]);
    }

    #[test]
    fn unmatched_braces_are_left_alone() {
        assert!(blocks("x\n{\n element a\n {\n", 0).is_empty());
        assert!(blocks("}\n", 0).is_empty());
    }
}
