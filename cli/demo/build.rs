//! Passes the commit to the program that is built from it.

use std::path::Path;
use std::process::Command;

/// Returns the output of git; `None` without git or a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The build script for targets that need nothing else.
pub fn main() {
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=PEERLANE_COMMIT={commit}");
    // Another commit changes the log of HEAD. A watched file that does not exist would cause a rebuild each time.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    match log.filter(|log| Path::new(log).exists()) {
        Some(log) => println!("cargo::rerun-if-changed={log}"),
        None => println!("cargo::rerun-if-changed=Cargo.toml"),
    }
}
