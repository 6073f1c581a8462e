//! One function for each format that is read, for fuzzers: any bytes give a result or an error.
//!
//! They read no files. `fuzz_targets` has a target of cargo-fuzz for each; `bsp/tests/it/fuzz.rs` includes this file,
//! and calls them with changed files of the reference BSP.

use std::collections::BTreeSet;
use std::path::Path;

use peerlane_bsp::config::{Config, Irq};
use peerlane_bsp::extend::logic::Ends;
use peerlane_bsp::extend::regions::{Hip, Moved, NewBridge, Way};
use peerlane_bsp::extend::{ipx, migration, resources, rewrite, settings};
use peerlane_bsp::kept::Record;
use peerlane_bsp::memory_blocks::Blocks;
use peerlane_bsp::system::library::Library;
use peerlane_bsp::system::project::{Project, Role, Source};
use peerlane_bsp::system::qsys::System;
use peerlane_bsp::system::site::Site;
use peerlane_bsp::xml::{Document, Edits};
use peerlane_bsp::{text, verilog};
use peerlane_bsp_check::read;
use peerlane_bsp_check::read::design::Design;

fn document(data: &[u8]) -> Option<Document> {
    let source = text::decode(data.to_vec()).ok()?;
    assert_eq!(
        text::encode(&source),
        data,
        "text is written as it was read"
    );
    Document::parse(Path::new("fuzz"), source).ok()
}

/// Reads XML: every range lies in the file, at its element.
pub fn xml(data: &[u8]) {
    if let Ok(source) = text::decode(data.to_vec()) {
        let _ = read::parse(&source);
    }
    let Some(document) = document(data) else {
        return;
    };
    let mut open = vec![&document.root];
    while let Some(element) = open.pop() {
        let text = &document.source[element.span.clone()];
        assert!(text.starts_with('<') && text.ends_with('>'));
        assert!(document.place(element).line.is_some_and(|line| line > 0));
        let _ = &document.source[document.whole_lines(&element.span)];
        for attribute in &element.attributes {
            let _ = &document.source[attribute.span.clone()];
        }
        open.extend(element.children.iter().map(|child| &**child));
    }
}

/// Extends a system of Platform Designer in every way: the result is a system again.
pub fn qsys(data: &[u8]) {
    if let Ok(source) = text::decode(data.to_vec())
        && let Ok(root) = read::parse(&source)
        && let Ok(design) = Design::of(Path::new("fuzz"), &root)
    {
        for wire in &design.wires {
            let _ = design.clock(&wire.to);
        }
    }
    let Some(system) = document(data).and_then(|d| System::from_document(d).ok()) else {
        return;
    };
    let library = Library::of([system]);
    let Ok(site) = Site::find(&library, Path::new("fuzz")) else {
        return;
    };
    for irq in [Irq::Rxm, Irq::Msix] {
        let config = Config {
            irq,
            ..Config::default()
        };
        if let Ok(new) = rewrite::rewrite(&site, &config, &Ends::default()) {
            let after = Document::parse(Path::new("fuzz"), new.text);
            after
                .and_then(System::from_document)
                .expect("written text can be read");
        }
    }
}

/// Reads a settings file of Quartus, and a script of its flow.
pub fn qsf(data: &[u8]) {
    if let Ok(source) = text::decode(data.to_vec()) {
        let roles = [Role::Settings, Role::Flow, Role::Shell];
        let sources = roles.map(|role| {
            let revisions = BTreeSet::from(["fuzz".into()]);
            Source::new("fuzz.sh".into(), role, source.clone(), revisions)
        });
        let moved = Moved {
            ways: vec![Way {
                top: "system".into(),
                down: vec![("board".into(), "board".into())],
            }],
            dma: "copier".into(),
            entity: "peerlane_dma",
            gone: vec!["cross_to_endpoint".into()],
            inserted: vec![NewBridge {
                name: "peerlane_bar0".into(),
                kind: "altera_avalon_mm_bridge".into(),
                beside: "host_pipe".into(),
            }],
            hip: Some(Hip {
                name: "endpoint".into(),
                is_only: true,
            }),
        };
        let _ = settings::rewrite(&Project::of("fuzz".into(), sources.into()), &moved);
        let (commands, _) = read::tcl::read(Path::new("fuzz"), &source);
        let variables = read::tcl::Variables::new();
        let context = read::tcl::Context {
            project: Path::new("fuzz"),
            file: Path::new("fuzz"),
            variables: &variables,
        };
        for command in commands {
            let _ = command.assignment();
            for word in &command.words {
                let _ = context.value(word);
            }
        }
    }
}

/// Adds the block's entry to a list of components: the result is a list again.
pub fn ipx(data: &[u8]) {
    if let Some(document) = document(data)
        && let Ok(new) = ipx::add(&document, &[ipx::BLOCK, ipx::HARD_IP])
    {
        Document::parse(Path::new("fuzz"), new).expect("written text can be read");
    }
}

/// Reads a board's specification.
pub fn board_spec(data: &[u8]) {
    if let Some(document) = document(data) {
        let _ = resources::memory_bytes(&document);
        let _ = resources::memory_log2(&document);
        let add = resources::Resources {
            alms: 1,
            ffs: 1,
            rams: 1,
            memory: Blocks::M20k,
        };
        let _ = resources::raise(&document, add, &mut Edits::default());
        let mut edits = Edits::default();
        migration::tell(&document, Some("s5_net"), true, &mut edits);
        if let Ok(told) = edits.apply(&document.path, &document.source) {
            assert!(Document::parse(&document.path, told).is_ok());
        }
    }
}

/// Reads a configuration file.
pub fn toml(data: &[u8]) {
    if let Ok(source) = std::str::from_utf8(data) {
        let _ = Config::parse(Path::new("fuzz"), source);
    }
}

/// Reads the header of a Verilog module.
pub fn verilog(data: &[u8]) {
    if let Ok(source) = std::str::from_utf8(data) {
        let _ = verilog::module(Path::new("fuzz"), source, "m");
    }
}

/// Reads a record of the stored files: with its hash it can be read again, unless an entry has no place.
pub fn record(data: &[u8]) {
    let _ = Record::parse(Path::new("fuzz"), data);
    if let Ok(record) = serde_json::from_slice::<Record>(data) {
        let sealed = record.clone().json();
        if let Ok(again) = Record::parse(Path::new("fuzz"), sealed.as_bytes()) {
            assert_eq!(again, record);
            assert!(again.hardware().is_relative() && again.vendor_hardware().is_relative());
        }
    }
}
