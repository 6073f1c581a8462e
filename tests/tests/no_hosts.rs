//! Checks that committed files name no registry, no mirror and no path of the machine they were made on.

use std::{fs, path::Path};

use peerlane_tests::tree;

/// Returns texts that a committed file must not contain, in pieces so that this file passes, too.
fn forbidden() -> Vec<(String, &'static str)> {
    let join = |parts: &[&str]| parts.concat();
    vec![
        (join(&["pypi", ".org"]), "a package registry"),
        (join(&["files.", "pythonhosted"]), "a package registry"),
        (join(&["crates", ".io"]), "a package registry"),
        (join(&["registry", ".npmjs"]), "a package registry"),
        (join(&["deb.", "debian.org"]), "a package mirror"),
        (join(&["security.", "debian.org"]), "a package mirror"),
        (join(&["archive.", "ubuntu.com"]), "a package mirror"),
        (join(&["--", "index-url"]), "a package index"),
        (join(&["/ho", "me/"]), "a path of one machine"),
        (join(&["/ro", "ot/"]), "a path of one machine"),
        (join(&["/wo", "rk/"]), "a path of one machine"),
        (join(&["/Us", "ers/"]), "a path of one machine"),
    ]
}

/// Returns the directory next to the project with material that does not belong to the project.
fn beside() -> String {
    ["sha", "red/"].concat()
}

/// The one file that looks for the fixture in that directory.
const FIXTURE_HELPER: &str = "bsp/tests/it/common/fixtures.rs";

/// Returns whether a file is an exception: its content is written by another program.
fn exempt(path: &Path) -> bool {
    // cargo writes the name of its own default registry.
    path == Path::new("Cargo.lock")
}

#[test]
fn committed_files_name_no_registry_and_no_place_of_this_machine() {
    let mut found = Vec::new();
    let files = tree::files().unwrap();
    assert!(files.iter().any(|path| path == Path::new("Cargo.toml")));
    for path in files.iter().filter(|path| !exempt(path)) {
        let bytes = fs::read(tree::root().join(path)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            for (pattern, what) in forbidden() {
                if line.contains(&pattern) {
                    found.push(format!("{}:{}: {what}", path.display(), number + 1));
                }
            }
            if line.contains(&beside()) && path != Path::new(FIXTURE_HELPER) {
                found.push(format!(
                    "{}:{}: names the directory beside the project",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
