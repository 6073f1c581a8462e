//! `cargo xtask semver`: public interfaces that users compile against, compared with those of an earlier commit.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use miette::{IntoDiagnostic, WrapErr, miette};
use peerlane_tools::Cache;

/// The packages with such an interface. The interface for C has a header, which its own test compares.
const PACKAGES: &[&str] = &["peerlane-host", "peerlane-routes", "peerlane-gpu"];

/// The file with the commit that is compared with.
const BASELINE: &str = "xtask/semver-baseline";

/// Returns the commit that a file names: its first line that is not a comment.
fn named(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Compares the interfaces. The baseline's tree is put next to the builds, from this repository: nothing is fetched for
/// it.
pub(crate) fn run(root: &Path, baseline: Option<&str>) -> miette::Result<bool> {
    let file = root.join(BASELINE);
    let text = fs::read_to_string(&file)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {}", file.display()))?;
    let baseline = baseline.or_else(|| named(&text));
    let baseline = baseline.ok_or_else(|| miette!("{BASELINE} does not name a commit"))?;
    let tree = lay(root, baseline)?;
    let program = Cache::open()
        .and_then(|cache| cache.semver_checks())
        .map_err(crate::tools::report)?;
    let mut command = program.command();
    command
        .current_dir(root)
        .args(["semver-checks", "check-release", "--baseline-root"])
        .arg(&tree)
        .args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    let status = command
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo-semver-checks")?;
    if !status.success() {
        println!(
            "compared with {baseline}. For an intended break, add a line to CHANGELOG.md and set {BASELINE} to its \
             commit."
        );
    }
    Ok(status.success())
}

/// Puts the tree of a commit into a directory of its own. The directory stays, with its builds.
fn lay(root: &Path, commit: &str) -> miette::Result<PathBuf> {
    let tree = crate::target(root).join("semver").join(commit);
    if tree.join("Cargo.toml").is_file() {
        return Ok(tree);
    }
    fs::create_dir_all(&tree)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot create {}", tree.display()))?;
    let archive = tree.join("tree.tar");
    let made = Command::new("git")
        .current_dir(root)
        .args(["archive", "--format=tar", "--output"])
        .arg(&archive)
        .arg(commit)
        .status()
        .into_diagnostic()
        .wrap_err("cannot run git")?;
    if !made.success() {
        let _ = fs::remove_dir_all(&tree);
        return Err(miette!(
            help = "a checkout of only the last commit has no others: run git fetch --unshallow",
            "this repository does not have the commit {commit}"
        ));
    }
    let unpacked = Command::new("tar")
        .current_dir(&tree)
        .args(["-xf", "tree.tar"])
        .status()
        .into_diagnostic()
        .wrap_err("cannot run tar")?;
    let _ = fs::remove_file(&archive);
    match unpacked.success() {
        true => Ok(tree),
        false => {
            let _ = fs::remove_dir_all(&tree);
            Err(miette!("tar cannot unpack the commit {commit}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_the_first_line_that_says_something() {
        assert_eq!(named("# why\n\n  abc123\nmore"), Some("abc123"));
        assert_eq!(named("# nothing\n"), None);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = fs::read_to_string(root.join(BASELINE)).unwrap();
        let commit = named(&text).unwrap();
        assert!(
            commit.len() >= 10 && commit.chars().all(|c| c.is_ascii_hexdigit()),
            "{commit}"
        );
    }
}
