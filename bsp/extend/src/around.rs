//! The platform around a board's directory that is extended alone. The extension reads its `board_env.xml` and looks
//! for its libraries and its other boards, so they belong to the record.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::platform::{self, ENVIRONMENT};
use peerlane_bsp_platform::error::{Error, Result};
use peerlane_bsp_platform::kept::{Around, name, path_of};
use peerlane_bsp_platform::layout::{Layout, write_below};
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::Document;

/// Reads the facts about the platform around a board's directory, if there is one.
///
/// # Errors
/// Those of reading its `board_env.xml`.
pub(crate) fn read(layout: &Layout) -> Result<Option<Around>> {
    let root = match layout.hardware.as_os_str().is_empty() {
        true => platform::around(&layout.root),
        false => None,
    };
    let Some(root) = root else {
        return Ok(None);
    };
    let hardware = layout.root.strip_prefix(&root).unwrap_or(&layout.root);
    let environment = Document::read(&root.join(ENVIRONMENT))?;
    let inside = Layout {
        root: root.clone(),
        hardware: hardware.to_path_buf(),
    };
    let boards = inside.other_boards();
    let boards = boards.iter().filter_map(|board| board.file_name());
    Ok(Some(Around {
        hardware: name(hardware),
        boards: boards.map(|board| name(Path::new(board))).collect(),
        libraries: libraries(&root, &environment),
        environment: environment.source,
    }))
}

/// Returns the libraries in the directories that a description names for the linker, and these directories.
fn libraries(root: &Path, environment: &Document) -> Vec<String> {
    let all = environment.root.children("platform");
    let flags = all.flat_map(|platform| platform.children("linkflags"));
    let words = flags.flat_map(|flags| flags.text.split_whitespace());
    let dirs: BTreeSet<PathBuf> = words
        .filter_map(|word| platform::below(word.strip_prefix("-L")?))
        .filter(|dir| root.join(dir).is_dir())
        .collect();
    let mut found = Vec::new();
    for dir in dirs {
        let entries = fs::read_dir(root.join(&dir))
            .into_iter()
            .flatten()
            .flatten();
        let mut files: Vec<PathBuf> = entries
            .map(|entry| dir.join(entry.file_name()))
            .filter(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("lib") && (name.ends_with(".so") || name.ends_with(".a"))
            })
            .collect();
        files.sort();
        found.push(name(&dir) + "/");
        found.extend(files.iter().map(|file| name(file)));
    }
    found
}

/// Makes a platform with these facts in a directory. Returns the place of the board's directory, which does not exist
/// yet.
///
/// # Errors
/// [`peerlane_bsp_platform::error::ErrorKind::Inconsistent`] for a path that leaves the directory;
/// [`peerlane_bsp_platform::error::ErrorKind::Io`].
pub(crate) fn put(around: &Around, root: &Path) -> Result<PathBuf> {
    let path = |name: &str| path_of(name).unwrap_or_default();
    let write = |file: &Path, text: &str| write_below(root, file, &text::encode(text));
    write(Path::new(ENVIRONMENT), &around.environment)?;
    let hardware = path(&around.hardware);
    let boards = hardware.parent().unwrap_or(Path::new(""));
    // The least that makes a directory one of a board, or a file a library.
    for board in &around.boards {
        for file in ["board_spec.xml", "board.qsys"] {
            write(&boards.join(path(board)).join(file), "")?;
        }
    }
    for library in &around.libraries {
        match library.strip_suffix('/') {
            Some(dir) => write(&path(dir).join(".directory"), "")?,
            None => write(&path(library), "")?,
        }
    }
    let made = root.join(boards);
    fs::create_dir_all(&made).map_err(|e| Error::io(&made, "make the directory", &e))?;
    Ok(root.join(hardware))
}
