//! `cargo xtask book`: the documents of the tree, checked and made into one book by mdBook.
//!
//! The book's pages are documents of the tree, in any directory: `docs/SUMMARY.md` lists them. They are laid out for
//! mdBook under `target/book`, with their links changed to the pages' places there. Generated pages, the register map's
//! manual and the block's ports, are made again each time.

mod links;

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
};

use links::{Document, Link};
use miette::{IntoDiagnostic, WrapErr, bail, miette};
use peerlane_tools::Cache;

/// The book's table of contents, from the root.
const SUMMARY: &str = "docs/SUMMARY.md";
/// The directory of the table of contents. The book leaves it out of the names of pages.
const DOCS: &str = "docs";

/// A page that is made again each time.
struct Generated {
    /// The place at which the table of contents expects it, from the root.
    page: &'static str,
    /// Arguments of cargo that write it. No package is named, so that dependencies have the workspace's
    /// features, and are those of every other command.
    cargo: &'static [&'static str],
    /// The file that the program writes into the directory which is its last argument; without one the page is the
    /// program's output.
    file: Option<&'static str>,
}

const GENERATED: &[Generated] = &[
    Generated {
        page: "docs/registers.md",
        cargo: &[
            "run",
            "--quiet",
            "--bin",
            "peerlane-regmap",
            "--",
            "emit",
            "markdown",
            "--out",
        ],
        file: Some("peerlane.md"),
    },
    Generated {
        page: "docs/ports.md",
        cargo: &["run", "--quiet", "--example", "ports"],
        file: None,
    },
];

/// Checks the links of all documents, and builds the book. Returns whether no error was found.
pub(crate) fn run(root: &Path) -> miette::Result<bool> {
    let mut documents = BTreeMap::new();
    for path in tracked(root)? {
        let text = read(&root.join(&path))?;
        documents.insert(path, Document::new(text));
    }
    for generated in GENERATED {
        let text = generated.text(root)?;
        documents.insert(generated.page.into(), Document::new(text));
    }
    let wrong = wrong_links(root, &documents);
    for place in &wrong {
        println!("{place}");
    }
    let source = root.join("target/book/src");
    lay_out(root, &documents, &source)?;
    let built = build(root, &source)?;
    println!("{} documents, {} wrong links", documents.len(), wrong.len());
    Ok(wrong.is_empty() && built)
}

impl Generated {
    fn text(&self, root: &Path) -> miette::Result<String> {
        let directory = tempfile::tempdir().into_diagnostic()?;
        let mut command = crate::cargo(root);
        command.args(self.cargo).stderr(Stdio::inherit());
        if self.file.is_some() {
            command.arg(directory.path());
        }
        let output = command
            .output()
            .into_diagnostic()
            .wrap_err("cannot run cargo")?;
        if !output.status.success() {
            bail!("`cargo {}` failed", self.cargo.join(" "));
        }
        match self.file {
            Some(file) => read(&directory.path().join(file)),
            None => String::from_utf8(output.stdout).into_diagnostic(),
        }
    }
}

/// Returns the Markdown files of the tree, from its root: those that git knows or would add.
fn tracked(root: &Path) -> miette::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "*.md",
        ])
        .current_dir(root)
        .output()
        .into_diagnostic()
        .wrap_err("cannot run git")?;
    if !output.status.success() {
        bail!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let names = String::from_utf8(output.stdout).into_diagnostic()?;
    let paths = names.split_terminator('\0').map(PathBuf::from);
    // A file that was deleted and not committed is still listed.
    Ok(paths.filter(|path| root.join(path).is_file()).collect())
}

/// Returns links that lead nowhere, each as a line with its place.
fn wrong_links(root: &Path, documents: &BTreeMap<PathBuf, Document>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, document) in documents {
        for link in document.links() {
            if let Some(reason) = what_is_wrong(root, documents, path, &link) {
                let (path, line) = (path.display(), link.line);
                wrong.push(format!("{path}:{line}: `{}`: {reason}", link.target));
            }
        }
    }
    wrong
}

fn what_is_wrong(
    root: &Path,
    documents: &BTreeMap<PathBuf, Document>,
    path: &Path,
    link: &Link<'_>,
) -> Option<String> {
    if link.is_elsewhere() {
        return None;
    }
    let Some(target) = place(path, link.path()) else {
        return Some("leads outside the tree".to_owned());
    };
    match documents.get(&target) {
        None if root.join(&target).exists() => None,
        None => Some(format!("there is no {}", target.display())),
        Some(document) => match link.heading() {
            Some(name) if !document.has(name) => {
                Some(format!("{} has no heading of this name", target.display()))
            }
            _ => None,
        },
    }
}

/// Returns the target of a relative link, from the root. `None`: out of the tree.
fn place(from: &Path, link: &str) -> Option<PathBuf> {
    if link.is_empty() {
        return Some(from.to_owned());
    }
    let mut place = from.parent().unwrap_or(Path::new("")).to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => {
                if !place.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            Component::Normal(name) => place.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(place)
}

/// Returns the place of a document in the book.
fn page(path: &Path) -> &Path {
    path.strip_prefix(DOCS).unwrap_or(path)
}

/// Copies the pages, with their links changed to the pages' places, and the pictures that they show.
fn lay_out(
    root: &Path,
    documents: &BTreeMap<PathBuf, Document>,
    source: &Path,
) -> miette::Result<()> {
    if source.exists() {
        fs::remove_dir_all(source).into_diagnostic()?;
    }
    let summary = Path::new(SUMMARY);
    let contents = documents
        .get(summary)
        .ok_or_else(|| miette!("there is no {SUMMARY}"))?;
    let mut pages: Vec<PathBuf> = contents
        .links()
        .filter_map(|link| place(summary, link.path()))
        .collect();
    pages.push(summary.to_owned());
    for path in &pages {
        let Some(document) = documents.get(path) else {
            // The check of links reports it.
            continue;
        };
        let mut pictures = Vec::new();
        let text = document.with_links(|link| {
            if link.is_elsewhere() || link.path().is_empty() {
                return Some(link.target.to_owned());
            }
            let target = place(path, link.path())?;
            let is_page = pages.contains(&target);
            if !is_page && !link.is_picture {
                // A file that the book does not have: only its name stays.
                return None;
            }
            let turned = relative(page(path), page(&target));
            if link.is_picture {
                pictures.push(target);
            }
            let heading = link
                .heading()
                .map_or(String::new(), |name| format!("#{name}"));
            Some(format!("{turned}{heading}"))
        });
        write(&source.join(page(path)), text.as_bytes())?;
        for picture in pictures {
            let bytes = fs::read(root.join(&picture)).into_diagnostic()?;
            write(&source.join(page(&picture)), &bytes)?;
        }
    }
    Ok(())
}

/// Returns the way from one page to another, with slashes.
fn relative(from: &Path, to: &Path) -> String {
    let up = from.components().count().saturating_sub(1);
    let mut way = "../".repeat(up);
    let names: Vec<_> = to.iter().map(|name| name.to_string_lossy()).collect();
    way.push_str(&names.join("/"));
    way
}

fn build(root: &Path, source: &Path) -> miette::Result<bool> {
    let book = root.join("target/book");
    fs::copy(root.join(DOCS).join("book.toml"), book.join("book.toml")).into_diagnostic()?;
    debug_assert_eq!(source, book.join("src"));
    let mdbook = Cache::open()
        .and_then(|cache| cache.mdbook())
        .map_err(crate::tools::report)?;
    let status = mdbook
        .command()
        .arg("build")
        .arg(&book)
        .env("RUST_LOG", "warn")
        .status()
        .into_diagnostic()
        .wrap_err("cannot run mdbook")?;
    if status.success() {
        println!("{}", book.join("html/index.html").display());
    }
    Ok(status.success())
}

fn read(path: &Path) -> miette::Result<String> {
    fs::read_to_string(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> miette::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(path, bytes))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_followed_from_where_it_stands() {
        let from = Path::new("driver/README.md");
        assert_eq!(place(from, ""), Some(from.into()));
        assert_eq!(
            place(from, "uapi/peerlane.h"),
            Some("driver/uapi/peerlane.h".into())
        );
        assert_eq!(
            place(from, "../docs/./design.md"),
            Some("docs/design.md".into())
        );
        assert_eq!(place(from, "../../etc/passwd"), None);
        assert_eq!(place(from, "/etc/passwd"), None);
    }

    #[test]
    fn pages_find_each_other() {
        let way = |from: &str, to: &str| relative(page(Path::new(from)), page(Path::new(to)));
        assert_eq!(
            way("docs/glossary.md", "driver/README.md"),
            "driver/README.md"
        );
        assert_eq!(way("driver/README.md", "docs/design.md"), "../design.md");
        assert_eq!(
            way("docs/design/block.md", "docs/picture.svg"),
            "../picture.svg"
        );
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("there.txt"), "").unwrap();
        let text = "# A\n\n[a](#a) [b](#b) [c](there.txt) [d](gone.md) [e](../out.md)\n\n[f](B.md#x)\n\
                    [g](https://example.com/gone)\n";
        let documents = BTreeMap::from([
            ("A.md".into(), Document::new(text.to_owned())),
            ("B.md".into(), Document::new("## X y\n".to_owned())),
        ]);
        assert_eq!(
            wrong_links(root.path(), &documents),
            [
                "A.md:3: `#b`: A.md has no heading of this name",
                "A.md:3: `gone.md`: there is no gone.md",
                "A.md:3: `../out.md`: leads outside the tree",
                "A.md:5: `B.md#x`: B.md has no heading of this name",
            ]
        );
    }
}
