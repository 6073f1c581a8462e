//! The kernel crate that modules in Rust are built with: the one of a pinned release of Linux, changed by
//! `driver/crate/edits.toml` so that it builds for other kernels as well.
//!
//! The source is Debian's `linux-source` of [`LINUX_SERIES`]. It is not part of the project: the driver's packages
//! bring a copy that is made here.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{LINUX_SERIES, source};
use crate::{Cache, Error, Recipe, Result, debian::Debian, error::io_error};

/// SHA-256 of the files that are taken of the pinned release, 7.3.4, as [`digest`] computes it.
const PINNED: &str = "7823bdd13d996950736ca2728ef29466b510deb00ac201e48f828352e8a0a674";

/// Files of the kernel's source that are taken, as tar's patterns below its directory. A star is also for `/`.
const TAKEN: [&str; 4] = [
    "rust/*.rs",
    "rust/bindgen_parameters",
    "rust/helpers/*.c",
    "scripts/generate_rust_target.rs",
];

const EDITS: &str = include_str!("../../../driver/crate/edits.toml");
/// The list of the crate's parts.
const PARTS: &str = "kernel/lib.rs";

/// Changes of the source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edits {
    modules: Modules,
    edit: Vec<Edit>,
}

/// The crate's modules that stay.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Modules {
    keep: Vec<String>,
}

/// Replaces a text by another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: String,
    /// The beginning of the text, which the file has once.
    from: String,
    /// The text that follows it, and stays; empty: all of the rest is replaced. Default: `from` is the whole text.
    until: Option<String>,
    #[serde(default)]
    with: String,
}

impl Edit {
    /// Returns the file's text with the change.
    fn apply(&self, content: &str) -> Result<String, &'static str> {
        let mut places = content.match_indices(&self.from);
        let (start, end) = match (places.next(), places.next()) {
            (Some((start, found)), None) => (start, start + found.len()),
            (None, _) => return Err("the file does not have it"),
            (Some(_), Some(_)) => return Err("the file has it more than once"),
        };
        let end = match self.until.as_deref() {
            None => end,
            Some("") => content.len(),
            Some(until) => end + content[end..].find(until).ok_or("its end is not found")?,
        };
        Ok([&content[..start], &self.with, &content[end..]].concat())
    }
}

impl Cache {
    /// Returns the directory with the kernel crate's source, which the driver's build takes as `rust`.
    ///
    /// # Errors
    /// As [`Cache::qemu`]; [`Error::Hash`] when Debian's source of the series is not the pinned one.
    pub fn kernel_crate(&self) -> Result<PathBuf> {
        let tool = format!("the kernel crate of Linux {LINUX_SERIES}");
        let recipe = Recipe::new("kernel-crate", &tool)
            .part("1")
            .part(PINNED)
            .part(TAKEN.join("\n"))
            .part(EDITS)
            .requires(PARTS);
        self.install(&recipe, |home, progress| {
            let debian = Debian::open(self, &tool, progress)?;
            let work =
                tempfile::tempdir_in(home).map_err(io_error("create a directory in", home))?;
            let from = (tool.as_str(), progress);
            let unpacked = source::unpack_to(work.path(), &debian, LINUX_SERIES, &TAKEN, from)?;
            drop(debian);
            let mut files = BTreeMap::new();
            for directory in ["rust", "scripts"] {
                read(&unpacked.join(directory), "", &mut files)?;
            }
            let found = digest(&files);
            if found != PINNED {
                return Err(Error::Hash {
                    tool: format!("{tool} (Debian's package linux-source-{LINUX_SERIES})"),
                    detail: format!(
                        "its files have {found}, pinned are those of 7.3.4 with {PINNED}"
                    ),
                });
            }
            let files = edited(files).map_err(|detail| Error::Install {
                tool: tool.clone(),
                detail,
                hint: "driver/crate/edits.toml is not for this source".to_owned(),
            })?;
            for (name, content) in files {
                let path = home.join(&name);
                if let Some(directory) = path.parent() {
                    fs::create_dir_all(directory).map_err(io_error("create", directory))?;
                }
                fs::write(&path, content).map_err(io_error("write", &path))?;
            }
            Ok(())
        })
    }
}

/// Reads all files below a directory, by their names below it.
fn read(directory: &Path, name: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(directory)
        .map_err(io_error("read", directory))?
        .flatten()
    {
        let path = entry.path();
        let inner = format!("{name}{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            read(&path, &format!("{inner}/"), files)?;
        } else {
            let content = fs::read_to_string(&path).map_err(io_error("read", &path))?;
            files.insert(inner, content);
        }
    }
    Ok(())
}

/// Returns the hash of files with their names.
fn digest(files: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    for (name, content) in files {
        for part in [name, content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    crate::cache::hex(&hash.finalize())
}

/// Returns the files with all changes; a text for a person if one cannot be made.
fn edited(mut files: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    let edits: Edits = toml::from_str(EDITS).map_err(|error| error.to_string())?;
    let parts = files.get(PARTS).ok_or("the source has no kernel/lib.rs")?;
    let (parts, dropped) = kept(parts, &edits.modules.keep);
    files.insert(PARTS.to_owned(), parts);
    for name in dropped {
        let (file, directory) = (format!("kernel/{name}.rs"), format!("kernel/{name}/"));
        files.retain(|path, _| *path != file && !path.starts_with(&directory));
    }
    for edit in &edits.edit {
        let failed = |reason| format!("{}: {:?}: {reason}", edit.file, edit.from);
        let content = files
            .get_mut(&edit.file)
            .ok_or_else(|| failed("there is no such file"))?;
        *content = edit.apply(content).map_err(failed)?;
    }
    Ok(files)
}

/// Returns the list of modules with those of `keep` alone, and the names of the others.
fn kept(parts: &str, keep: &[String]) -> (String, Vec<String>) {
    let (mut text, mut dropped, mut attributes) = (String::new(), Vec::new(), String::new());
    for line in parts.split_inclusive('\n') {
        let module = line
            .trim_end()
            .strip_prefix("pub mod ")
            .and_then(|name| name.strip_suffix(';'));
        match module {
            // Attributes are of the line after them.
            None if line.starts_with("#[") => attributes.push_str(line),
            Some(name) if !keep.iter().any(|kept| kept == name) => {
                dropped.push(name.to_owned());
                attributes.clear();
            }
            _ => {
                text.push_str(&std::mem::take(&mut attributes));
                text.push_str(line);
            }
        }
    }
    (text, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_where_its_text_is_found_once() {
        let edit = |from: &str, until: Option<&str>| Edit {
            file: String::new(),
            from: from.to_owned(),
            until: until.map(str::to_owned),
            with: "X".to_owned(),
        };
        let content = "one two one three\n";
        assert_eq!(
            edit("two ", None).apply(content).unwrap(),
            "one Xone three\n"
        );
        assert_eq!(
            edit("two", Some("three")).apply(content).unwrap(),
            "one Xthree\n"
        );
        assert_eq!(edit("two", Some("")).apply(content).unwrap(), "one X");
        assert!(
            edit("one", None)
                .apply(content)
                .unwrap_err()
                .contains("more than once")
        );
        assert!(
            edit("four", None)
                .apply(content)
                .unwrap_err()
                .contains("does not have")
        );
        assert!(
            edit("two", Some("four"))
                .apply(content)
                .unwrap_err()
                .contains("end")
        );
    }

    #[test]
    fn modules_go_with_their_attributes() {
        let parts = "use x;\n#[cfg(A)]\npub mod a;\npub mod b;\n#[doc(hidden)]\npub mod c;\n#[macro]\nfn f() {}\n";
        let (text, dropped) = kept(parts, &["b".to_owned()]);
        assert_eq!(text, "use x;\npub mod b;\n#[macro]\nfn f() {}\n");
        assert_eq!(dropped, ["a", "c"]);
    }

    #[test]
    fn each_change_is_for_a_file_that_stays() {
        let edits: Edits = toml::from_str(EDITS).unwrap();
        assert!(edits.edit.len() > 20);
        for edit in &edits.edit {
            let module = edit
                .file
                .strip_prefix("kernel/")
                .and_then(|file| file.split(['/', '.']).next());
            let stays =
                module.is_none_or(|module| edits.modules.keep.iter().any(|kept| kept == module));
            assert!(stays, "{}", edit.file);
        }
    }
}
