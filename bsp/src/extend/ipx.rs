//! The BSP's list of components (`.ipx`).

use crate::block::COMPONENT_VERSION;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::system::library::NEW_DMA;
use crate::system::xml::{Document, Edits};

/// Adds the block's component before the end of the list.
///
/// # Errors
/// [`ErrorKind::BadXml`] if the file is no list.
pub fn add(document: &Document, hw_tcl: &str) -> Result<String> {
    let root = &document.root;
    if root.name != "library" {
        return Err(Error::new(
            ErrorKind::BadXml,
            Place::file(&document.path),
            "not a list of components (<library>)",
            "Take the .ipx file from the vendor's BSP package again.",
        ));
    }
    let eol = document.line_end_after(0);
    let Some(content) = &root.content else {
        // `<library/>`: it gets an end of its own.
        let mut edits = Edits::default();
        let end = root.span.end;
        edits.replace(
            end - 2..end,
            format!(">{eol}{}</library>", entry(hw_tcl, eol)),
        );
        return edits.apply(&document.path, &document.source);
    };
    let before = &document.source[content.clone()];
    let gap = if before.ends_with('\n') { "" } else { eol };
    let mut edits = Edits::default();
    edits.insert(content.end, format!("{gap}{}", entry(hw_tcl, eol)));
    edits.apply(&document.path, &document.source)
}

/// A list with the block's component only.
pub fn new_list(hw_tcl: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<library>\n{}</library>\n",
        entry(hw_tcl, "\n")
    )
}

fn entry(hw_tcl: &str, eol: &str) -> String {
    [
        " <component".to_string(),
        format!("   name=\"{NEW_DMA}\""),
        format!("   file=\"{hw_tcl}\""),
        "   displayName=\"Peerlane DMA\"".into(),
        format!("   version=\"{COMPONENT_VERSION}\""),
        "   description=\"Direct transfers between FPGA memory and PCIe peers\"".into(),
        "   tags=\"AUTHORSHIP=Peerlane /// CONNECTION_TYPES=avalon,clock,interrupt,reset\"".into(),
        "   categories=\"ACL BSP Components\"".into(),
        "   factory=\"TclModuleFactory\" />".into(),
    ]
    .map(|line| line + eol)
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_entry_is_added_and_the_rest_stays() {
        let text =
            "<?xml version=\"1.0\"?>\r\n<library>\r\n <component name=\"a\" />\r\n</library>\r\n";
        let d = Document::parse(Path::new("i.ipx"), text.into()).unwrap();
        let out = add(&d, "iface/peerlane/x_hw.tcl").unwrap();
        assert!(out.starts_with(
            "<?xml version=\"1.0\"?>\r\n<library>\r\n <component name=\"a\" />\r\n <comp"
        ));
        let back = Document::parse(Path::new("i.ipx"), out).unwrap();
        assert_eq!(back.root.children.len(), 2);
        assert_eq!(
            back.root.children[1].attribute("file"),
            Some("iface/peerlane/x_hw.tcl")
        );
        let new = Document::parse(Path::new("i.ipx"), new_list("f")).unwrap();
        assert_eq!(new.root.children.len(), 1);
        let empty = Document::parse(Path::new("i.ipx"), "<library/>\n".into()).unwrap();
        let filled = add(&empty, "f").unwrap();
        let filled = Document::parse(Path::new("i.ipx"), filled).unwrap();
        assert_eq!(filled.root.children.len(), 1);
        let wrong = Document::parse(Path::new("i.ipx"), "<x/>".into()).unwrap();
        assert!(add(&wrong, "f").is_err());
    }
}
