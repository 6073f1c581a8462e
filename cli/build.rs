//! Tells the program the commit that it is built from.

use std::path::Path;
use std::process::Command;

/// What git says; `None` where there is no git or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The build script of who needs no more.
pub fn main() {
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=PEERLANE_COMMIT={commit}");
    // Another commit changes the log of HEAD. A file that is not there would have it built each time.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    match log.filter(|log| Path::new(log).exists()) {
        Some(log) => println!("cargo::rerun-if-changed={log}"),
        None => println!("cargo::rerun-if-changed=Cargo.toml"),
    }
}
