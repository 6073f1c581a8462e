//! A mistake is reported once: a user who reads two faults looks for two mistakes.

use std::collections::BTreeSet;
use std::fs;

use crate::common::faults::faults;
use crate::common::{Work, reference_net};

const STREAM: &str = "[port]\nkind = \"tlp\"\n";

/// Returns the connections of one kind: each whole, with its source.
fn connections<'a>(system: &'a str, kind: &str) -> Vec<(&'a str, &'a str)> {
    let kind = format!("kind=\"{kind}\"");
    let mut found = Vec::new();
    for (at, _) in system.match_indices(" <connection") {
        let rest = &system[at..];
        let head = &rest[..=rest.find('>').unwrap()];
        let end = "</connection>";
        let whole = match head.ends_with("/>") {
            true => head,
            false => &rest[..rest.find(end).unwrap() + end.len()],
        };
        let from = head.split("start=\"").nth(1).unwrap().split('"').next();
        if head.contains(&kind) {
            found.push((whole, from.unwrap()));
        }
    }
    found
}

#[test]
fn a_mistake_is_told_once() {
    let mut missed = Vec::new();
    for (work, file) in [
        (Work::new(), "acl_iface_system.qsys"),
        (Work::of(&reference_net()), "board.qsys"),
    ] {
        for config in ["", STREAM] {
            work.sound(config);
            let path = work.output(file);
            let whole = fs::read_to_string(&path).unwrap();
            for kind in ["clock", "reset", "interrupt"] {
                let all = connections(&whole, kind);
                assert!(!all.is_empty());
                for (wire, from) in &all {
                    let other = all.iter().find(|(_, other)| other != from);
                    let led = other.map(|(_, other)| wire.replace(from, other));
                    for new in [Some(String::new()), led].into_iter().flatten() {
                        fs::write(&path, whole.replacen(wire, &new, 1)).unwrap();
                        // A fault of a reset may come with the reason, which the test of resets reports.
                        let found = faults(&work);
                        let other = found.iter().filter(|(test, _)| *test != "resets");
                        let differing: BTreeSet<_> = found.iter().collect();
                        assert!(!found.is_empty(), "{config} {wire} → {new}");
                        if other.count() > 1 || differing.len() < found.len() {
                            missed.push(format!("{config} {wire} → {new}: {found:#?}"));
                        }
                    }
                }
            }
            fs::remove_dir_all(&work.out).unwrap();
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
