//! The BSP's list of components (`.ipx`).

use crate::hard_ip::HardIp;
use crate::step::{Change, Step, Written};
use peerlane_bsp_design::kinds::OWN_HIP;
use peerlane_bsp_generate::block::COMPONENT_VERSION;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{self, Layout, OWN_DIR};
use peerlane_bsp_platform::roles::NEW_DMA;
use peerlane_bsp_platform::xml::{Document, Edits};

/// A component of Peerlane's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Its kind, after which its file is named.
    pub kind: &'static str,
    title: &'static str,
    description: &'static str,
    connections: &'static str,
}

/// The block.
pub const BLOCK: Listed = Listed {
    kind: NEW_DMA,
    title: "Peerlane DMA",
    description: "Direct transfers between FPGA memory and PCIe peers",
    connections: "avalon,clock,interrupt,reset",
};
/// The hard IP for a TLP port, because Quartus's component lacks a function.
pub const HARD_IP: Listed = Listed {
    kind: OWN_HIP,
    title: "Hard IP for PCI Express, for Peerlane",
    description: "Stratix V hard IP for PCI Express with an Avalon-ST interface",
    connections: "avalon_streaming,clock,conduit",
};

/// Adds components before the end of the list.
///
/// # Errors
/// [`ErrorKind::BadXml`] if the file is not a list.
pub fn add(document: &Document, components: &[Listed]) -> Result<String> {
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
        // `<library/>` needs an end tag.
        let mut edits = Edits::default();
        let end = root.span.end;
        edits.replace(
            end - 2..end,
            format!(">{eol}{}</library>", entries(components, eol)),
        );
        return edits.apply(&document.path, &document.source);
    };
    let before = &document.source[content.clone()];
    let gap = if before.ends_with('\n') { "" } else { eol };
    let mut edits = Edits::default();
    edits.insert(content.end, format!("{gap}{}", entries(components, eol)));
    edits.apply(&document.path, &document.source)
}

/// Makes a list with only these components.
pub fn new_list(components: &[Listed]) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<library>\n{}</library>\n",
        entries(components, "\n")
    )
}

/// Adds the components to the BSP's list, or adds a list.
///
/// # Errors
/// Those of [`add`], and of finding and reading the list.
pub(crate) fn step(layout: &Layout, hip: Option<&HardIp>) -> Result<Step> {
    let mut step = Step::default();
    let mut components = vec![BLOCK];
    components.extend(hip.map(|_| HARD_IP));
    let lists = layout::with_extension(&layout.hardware_dir(), "ipx")?;
    let usual = (lists.iter()).find(|p| p.file_name().is_some_and(|n| n == "iface.ipx"));
    let Some(list) = usual.or(lists.first()) else {
        step.added.push(Written {
            path: "peerlane.ipx".into(),
            text: new_list(&components),
        });
        return Ok(step);
    };
    step.changes = (components.iter())
        .map(|component| Change {
            file: list.clone(),
            what: format!("component {} added", component.kind),
            why: "Platform Designer finds the component by this list".into(),
        })
        .collect();
    let text = add(&Document::read(list)?, &components)?;
    step.replace(layout, list, text)?;
    Ok(step)
}

fn entries(components: &[Listed], eol: &str) -> String {
    let entry = |one: &Listed| {
        let Listed {
            kind,
            title,
            description,
            connections,
        } = one;
        [
            " <component".to_string(),
            format!("   name=\"{kind}\""),
            format!("   file=\"{OWN_DIR}/{kind}_hw.tcl\""),
            format!("   displayName=\"{title}\""),
            format!("   version=\"{COMPONENT_VERSION}\""),
            format!("   description=\"{description}\""),
            format!("   tags=\"AUTHORSHIP=Peerlane /// CONNECTION_TYPES={connections}\""),
            "   categories=\"ACL BSP Components\"".into(),
            "   factory=\"TclModuleFactory\" />".into(),
        ]
        .map(|line| line + eol)
        .concat()
    };
    components.iter().map(entry).collect()
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
        let out = add(&d, &[BLOCK, HARD_IP]).unwrap();
        assert!(out.starts_with(
            "<?xml version=\"1.0\"?>\r\n<library>\r\n <component name=\"a\" />\r\n <comp"
        ));
        let back = Document::parse(Path::new("i.ipx"), out).unwrap();
        let files: Vec<_> = (back.root.children.iter())
            .map(|entry| entry.attribute("file"))
            .collect();
        let of = |kind: &str| format!("iface/peerlane/{kind}_hw.tcl");
        assert_eq!(
            files,
            [
                None,
                Some(of("peerlane_dma").as_str()),
                Some(of("peerlane_pcie_hip").as_str())
            ]
        );
        let new = Document::parse(Path::new("i.ipx"), new_list(&[BLOCK])).unwrap();
        assert_eq!(new.root.children.len(), 1);
        let empty = Document::parse(Path::new("i.ipx"), "<library/>\n".into()).unwrap();
        let filled = add(&empty, &[BLOCK]).unwrap();
        let filled = Document::parse(Path::new("i.ipx"), filled).unwrap();
        assert_eq!(filled.root.children.len(), 1);
        let wrong = Document::parse(Path::new("i.ipx"), "<x/>".into()).unwrap();
        assert!(add(&wrong, &[BLOCK]).is_err());
    }
}
