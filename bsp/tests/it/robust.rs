//! Rewriting a system with missing or duplicate elements gives an error or a correct system, never a panic.

use std::path::{Path, PathBuf};

use crate::common;
use peerlane_bsp::config::{Config, Irq};
use peerlane_bsp::extend::logic::Ends;
use peerlane_bsp::extend::rewrite::rewrite;
use peerlane_bsp::layout::Layout;
use peerlane_bsp::system::library::Library;
use peerlane_bsp::system::qsys::System;
use peerlane_bsp::system::site::Site;
use peerlane_bsp::xml::{Document, Edits};

/// Rewrites a changed system with each kind of interrupt; returns the number of successes.
fn attempt(path: &Path, text: String) -> usize {
    let irqs = [Irq::Rxm, Irq::Msix].into_iter();
    irqs.map(|irq| attempt_with(path, text.clone(), irq)).sum()
}

fn attempt_with(path: &Path, text: String, irq: Irq) -> usize {
    let Ok(system) = Document::parse(path, text).and_then(System::from_document) else {
        return 0;
    };
    let library = Library::of([system]);
    let Ok(site) = Site::find(&library, path) else {
        return 0;
    };
    let config = Config {
        irq,
        ..Config::default()
    };
    let Ok(new) = rewrite(&site, &config, &Ends::default()) else {
        return 0;
    };
    let document = Document::parse(path, new.text).unwrap();
    let after = System::from_document(document).unwrap();
    let dma = &new.instance;
    assert_eq!(after.module(dma).unwrap().kind, "peerlane_dma");
    for connection in &after.connections {
        let end = [&connection.start, &connection.end]
            .into_iter()
            .find(|e| e.instance == *dma && e.interface == "m");
        assert!(end.is_none(), "the old master is still connected");
    }
    1
}

/// Removes and doubles every element; removes every parameter too if `children` is true.
fn every_element_of(bsp: &Path, children: bool) {
    let path: PathBuf = Layout::find(bsp)
        .unwrap()
        .qsys_files()
        .unwrap()
        .into_iter()
        .find(|p| p.ends_with("acl_iface_system.qsys"))
        .unwrap();
    let document = Document::read(&path).unwrap();
    let mut extended = 0;
    for element in &document.root.children {
        let lines = document.whole_lines(&element.span);
        let mut without = Edits::default();
        without.delete(lines.clone());
        extended += attempt(&path, without.apply(&path, &document.source).unwrap());
        let mut twice = Edits::default();
        twice.insert(lines.end, &document.source[lines]);
        extended += attempt(&path, twice.apply(&path, &document.source).unwrap());
        for child in element.children.iter().filter(|_| children) {
            let mut without = Edits::default();
            without.delete(child.span.clone());
            extended += attempt(&path, without.apply(&path, &document.source).unwrap());
        }
    }
    assert!(
        extended > 2 * document.root.children.len(),
        "{extended} of them were extended"
    );
}

#[test]
fn the_reference_bsp() {
    every_element_of(&common::reference(), true);
}

#[test]
fn the_vendor_bsp() {
    if let Some(bsp) = common::vendor_bsp() {
        every_element_of(&bsp, false);
    }
}
